//! Remedies in terms of flags. The libraries return a remedy as a value, and the command line prints the flag for it.

use evermargin_io::{Limit, Message, Remedy};

/// Text of a remedy of the core.
pub fn of_core(remedy: &evermargin::Remedy) -> String {
    use evermargin::Remedy as R;
    match remedy {
        R::LabelRows => {
            "name the label column with --label, or give labels in a file of their own with --labels".into()
        }
        R::ChooseClass { such_as } => {
            format!("name it with --positive (such as {such_as}), or leave the labels out with --label none")
        }
        R::OneVsRest => "train each class against the rest with --multi one-vs-rest".into(),
        other => other.to_string(),
    }
}

/// Text of a remedy of the format readers.
pub fn of_format(remedy: Remedy) -> String {
    match remedy {
        Remedy::Raise(limit) => format!("if it is right, raise {}", flag(limit)),
        Remedy::UseLessMemory => {
            "stream it with `evermargin run`, convert it to a smaller form, or raise --max-memory".into()
        }
        Remedy::NameLabelColumn => "if the label is in another column, name the column with --label".into(),
        Remedy::NameOrOmitLabel => {
            "name the label column with --label, or leave the label out with --label none".into()
        }
        Remedy::AddLabelKey => "give it under the key 'label', or name the label column with --label".into(),
        Remedy::Header(false) => "if it is data, pass --header no".into(),
        Remedy::Header(true) => "if it is a header, pass --header yes".into(),
        Remedy::IndexBaseZero => "if they are counted from 0, pass --index-base 0".into(),
        Remedy::TrainOneVsOne => "train with --multi one-vs-one".into(),
        Remedy::TrainWithoutScaling => "train with --scale none, or scale the file first".into(),
        other => other.to_string(),
    }
}

fn flag(limit: Limit) -> &'static str {
    match limit {
        Limit::Bytes => "--max-bytes",
        Limit::Line => "--max-line",
        Limit::Columns => "--max-columns",
        Limit::Rows => "--max-rows",
        Limit::Cells => "--max-cells",
        Limit::Memory => "--max-memory",
    }
}

/// A note that can be printed on the command line.
pub trait Worded {
    /// Text of the note, with flags in its remedy.
    fn worded(&self) -> String;
}

impl Worded for String {
    fn worded(&self) -> String {
        self.clone()
    }
}

impl Worded for Message {
    fn worded(&self) -> String {
        self.worded(of_format)
    }
}
