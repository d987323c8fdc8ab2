//! Remedies of errors in files, as values. This crate describes a remedy with the names of its own settings; each front end
//! describes it for its users through [`Error::worded`](crate::Error::worded) and [`Message::worded`].

use std::fmt;

/// A limit of [`Limits`](crate::Limits).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// Bytes of a file after decompression.
    Bytes,
    /// Bytes of a line.
    Line,
    /// Number of columns.
    Columns,
    /// Number of rows.
    Rows,
    /// Number of values of a dense array.
    Cells,
    /// Bytes of memory.
    Memory,
}

impl Limit {
    /// The name of the field in [`Limits`](crate::Limits).
    pub fn name(self) -> &'static str {
        match self {
            Self::Bytes => "max_bytes",
            Self::Line => "max_line",
            Self::Columns => "max_columns",
            Self::Rows => "max_rows",
            Self::Cells => "max_cells",
            Self::Memory => "max_memory",
        }
    }
}

/// Remedy of an error, or way to change a decision that a note reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Remedy {
    /// Raise a limit, if the file is correct.
    Raise(Limit),
    /// Read the file as a stream, make it smaller, or raise the memory limit.
    UseLessMemory,
    /// Name the label column, if another one was taken.
    NameLabelColumn,
    /// Name the label column, or read the table without a label.
    NameOrOmitLabel,
    /// Put the label under the key `label`, or name its key.
    AddLabelKey,
    /// Specify whether the first row is a header.
    Header(bool),
    /// Specify that columns of LIBSVM text are counted from 0.
    IndexBaseZero,
    /// Train one-vs-one.
    TrainOneVsOne,
    /// Train without scaling, or scale the file first.
    TrainWithoutScaling,
}

/// Uses the names of the settings of this crate.
impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Raise(limit) => write!(f, "if it is right, raise {}", limit.name()),
            Self::UseLessMemory => {
                f.write_str("stream it, convert it to a smaller form, or raise max_memory")
            }
            Self::NameLabelColumn => f.write_str("if the label is in another column, name the column"),
            Self::NameOrOmitLabel => f.write_str("name the label column, or leave the label out"),
            Self::AddLabelKey => f.write_str("give it under the key 'label', or name the label column"),
            Self::Header(false) => f.write_str("if it is data, set header = no"),
            Self::Header(true) => f.write_str("if it is a header, set header = yes"),
            Self::IndexBaseZero => f.write_str("if they are counted from 0, set index_base = 0"),
            Self::TrainOneVsOne => f.write_str("train with multi = one-vs-one"),
            Self::TrainWithoutScaling => f.write_str("train with scale = none, or scale the file first"),
        }
    }
}

/// Message about a file with an optional remedy.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Message {
    /// Text of the message.
    pub what: String,
    /// The remedy, if there is one.
    pub remedy: Option<Remedy>,
}

impl Message {
    pub(crate) fn new(what: impl Into<String>, remedy: Remedy) -> Self {
        Self { what: what.into(), remedy: Some(remedy) }
    }

    /// The message with the text that `words` gives for its remedy.
    pub fn worded(&self, words: impl Fn(Remedy) -> String) -> String {
        match self.remedy {
            Some(remedy) => format!("{}; {}", self.what, words(remedy)),
            None => self.what.clone(),
        }
    }

    /// Prefixes the message with a part of the file, such as a column.
    #[must_use]
    pub fn about(mut self, part: &str) -> Self {
        self.what = format!("{part}: {}", self.what);
        self
    }
}

/// Uses the names of the settings of this crate.
impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.worded(|remedy| remedy.to_string()))
    }
}

impl From<String> for Message {
    fn from(what: String) -> Self {
        Self { what, remedy: None }
    }
}

impl From<&str> for Message {
    fn from(what: &str) -> Self {
        what.to_string().into()
    }
}

/// Compares the printed text.
impl PartialEq<&str> for Message {
    fn eq(&self, other: &&str) -> bool {
        let text = self.worded(|remedy| remedy.to_string());
        text == *other
    }
}
