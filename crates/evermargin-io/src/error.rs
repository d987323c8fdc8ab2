//! The error type of the formats: it names the file, the place in it, the reason and the remedy.

use crate::remedy::{Message, Remedy};
use evermargin::cpu::CpuLevel;
use std::fmt;
use std::io;

/// Error in reading or writing a file.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// An operation of the operating system failed.
    Io {
        /// The file as the user named it.
        file: String,
        /// The operation, which completes "cannot …".
        action: &'static str,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file was read, but its contents cannot be used.
    Content {
        /// The file as the user named it.
        file: String,
        /// The place in the file.
        place: Place,
        /// The reason and the remedy.
        message: Message,
    },
    /// A state was computed on another CPU feature level than the one on which learning would continue.
    OtherCpu {
        /// The file as the user named it.
        file: String,
        /// The level of the machine that wrote the state.
        made: CpuLevel,
        /// The level on which learning would continue.
        here: CpuLevel,
    },
    /// The requested format cannot represent the classifier or data set.
    Inexpressible {
        /// The reason and the remedy.
        message: Message,
    },
}

/// Place in a text; 0 means not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Place {
    /// Line, counted from 1.
    pub line: u64,
    /// Byte within the line, counted from 1.
    pub column: u64,
}

/// Result with the [`Error`] of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Whether the reader of the output closed the pipe (`evermargin … | head`), which is no failure.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::BrokenPipe)
    }

    pub(crate) fn read(file: &str, source: io::Error) -> Self {
        Self::Io { file: file.to_string(), action: "read", source }
    }

    pub(crate) fn write(file: &str, source: io::Error) -> Self {
        Self::Io { file: file.to_string(), action: "write", source }
    }

    pub(crate) fn content(file: &str, what: impl Into<Message>) -> Self {
        Self::Content { file: file.to_string(), place: Place::default(), message: what.into() }
    }

    pub(crate) fn line(file: &str, line: u64, what: impl Into<Message>) -> Self {
        Self::Content { file: file.to_string(), place: Place { line, column: 0 }, message: what.into() }
    }

    /// Adds to the line of the error the number of lines of the file before the text that was parsed.
    pub(crate) fn after(mut self, lines: u64) -> Self {
        if let Self::Content { place, .. } = &mut self
            && place.line > 0
        {
            place.line += lines;
        }
        self
    }

    pub(crate) fn inexpressible(what: impl Into<Message>) -> Self {
        Self::Inexpressible { message: what.into() }
    }
}

/// Error in a text without the name of the file.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) place: Place,
    pub(crate) what: Message,
    /// The column and its value, if a single value is the cause.
    pub(crate) cell: Option<(String, String)>,
}

impl Fault {
    pub(crate) fn new(line: u64, column: usize, what: impl Into<Message>) -> Self {
        Self { place: Place { line, column: column as u64 }, what: what.into(), cell: None }
    }

    pub(crate) fn within(self, file: &str) -> Error {
        Error::Content { file: file.to_string(), place: self.place, message: self.what }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.worded(|remedy| remedy.to_string()))
    }
}

impl Error {
    /// Stable name of the kind of error, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Io { .. } => "io",
            Self::Content { .. } => "content",
            Self::OtherCpu { .. } => "other-cpu",
            Self::Inexpressible { .. } => "inexpressible",
        }
    }

    /// The remedy, if it is one of the known ones.
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Content { message, .. } | Self::Inexpressible { message } => message.remedy,
            Self::Io { .. } | Self::OtherCpu { .. } => None,
        }
    }

    /// The message with the text that `words` gives for its remedy.
    pub fn worded(&self, words: impl Fn(Remedy) -> String) -> String {
        match self {
            Self::Io { file, action, source } => format!("{file}: cannot {action}: {source}"),
            Self::Content { file, place, message } => {
                let message = message.worded(words);
                match (place.line, place.column) {
                    (0, _) => format!("{file}: {message}"),
                    (line, 0) => format!("{file}:{line}: {message}"),
                    (line, column) => format!("{file}:{line}:{column}: {message}"),
                }
            }
            Self::OtherCpu { file, made, here } => format!(
                "{file}: made at CPU level {made}, but this machine computes at level {here}: results would diverge from \
                 those of the first machine in the last bits; continue on a machine of that level, or allow another level"
            ),
            Self::Inexpressible { message } => message.worded(words),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Content { .. } | Self::OtherCpu { .. } | Self::Inexpressible { .. } => None,
        }
    }
}

/// Part of a file for an error message: at most 40 characters, with control characters escaped.
pub(crate) fn excerpt(token: &[u8]) -> String {
    let text = String::from_utf8_lossy(token.get(..160).unwrap_or(token));
    let mut out: String = text.chars().take(40).flat_map(escaped).collect();
    if text.chars().nth(40).is_some() {
        out.push('…');
    }
    out
}

fn escaped(c: char) -> Vec<char> {
    if c.is_control() { c.escape_default().collect() } else { vec![c] }
}
