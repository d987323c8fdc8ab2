//! How a command fails: bad usage (exit 2), failure (exit 1), or a reader that went away (no failure).

use crate::output::console::exact;

/// Why a command ends early. The text says what, where, and what to do.
#[derive(Debug)]
pub enum Failure {
    /// The command was not written right.
    Usage(String),
    /// The command could not be done.
    Failed(String),
    /// Nobody reads our output any more.
    BrokenPipe,
}

impl From<evermargin::Error> for Failure {
    fn from(error: evermargin::Error) -> Self {
        match error {
            evermargin::Error::Parameter { name, value, allowed } => {
                // A number as a user would write it, not with three hundred zeros.
                let value = if value.len() > 20 { value.parse().map_or(value, exact) } else { value };
                Self::Usage(evermargin::Error::parameter(name, value, allowed).to_string())
            }
            evermargin::Error::Value { row, column, value, remedy } => Self::Failed(format!(
                "row {row}, column {column}: value {} is not usable; {remedy}",
                exact(value)
            )),
            _ => Self::Failed(error.to_string()),
        }
    }
}

impl From<evermargin_io::Error> for Failure {
    fn from(error: evermargin_io::Error) -> Self {
        if error.is_broken_pipe() { Self::BrokenPipe } else { Self::Failed(error.to_string()) }
    }
}

impl From<evermargin_store::Error> for Failure {
    fn from(error: evermargin_store::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

impl Failure {
    /// A failure of learning, with the file it is about.
    pub fn about(file: &std::path::Path, error: evermargin::Error) -> Self {
        match Self::from(error) {
            Self::Failed(what) => Self::Failed(format!("{}: {what}", file.display())),
            other => other,
        }
    }

    /// The same failure, told as bad usage.
    pub fn usage(error: impl std::fmt::Display) -> Self {
        Self::Usage(error.to_string())
    }

    /// A failure to read or write `what`.
    pub fn io(what: &str, error: &std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::BrokenPipe,
            _ => Self::Failed(format!("{what}: {error}")),
        }
    }
}
