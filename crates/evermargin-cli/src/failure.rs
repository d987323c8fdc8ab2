//! How a command fails: bad usage (exit 2), failure (exit 1), or a reader that went away (no failure).

use crate::output::console::exact;
use crate::remedy;
use evermargin_session::SessionError;

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
            other => Self::Failed(other.worded(remedy::of_core)),
        }
    }
}

impl From<evermargin_io::Error> for Failure {
    fn from(error: evermargin_io::Error) -> Self {
        match error {
            error if error.is_broken_pipe() => Self::BrokenPipe,
            error @ evermargin_io::Error::OtherCpu { .. } => Self::Failed(format!("{error} (--force)")),
            error => Self::Failed(error.worded(remedy::of_format)),
        }
    }
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Rejected(error) => error.into(),
            SessionError::Format(error) => error.into(),
            SessionError::Config(what) => Self::Usage(what),
            SessionError::OtherCpu { .. } => {
                Self::Failed(format!("{error}; use that machine, or continue here with --force"))
            }
            other => Self::Failed(other.to_string()),
        }
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
