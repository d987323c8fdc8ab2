//! Failures of a command: bad usage (exit code 2), failure (exit code 1), or a closed pipe (not a failure).

use crate::output::console::exact;
use crate::remedy;
use evermargin_session::SessionError;

/// Reason why a command ends early. The text names the problem, its place and a remedy.
#[derive(Debug)]
pub enum Failure {
    /// The command line is wrong.
    Usage(String),
    /// The command line is right, but the command failed.
    Failed(String),
    /// The reader of standard output has closed the pipe.
    BrokenPipe,
}

impl From<evermargin::Error> for Failure {
    fn from(error: evermargin::Error) -> Self {
        match error {
            evermargin::Error::Parameter { name, value, allowed } => {
                // Print a large number with an exponent instead of hundreds of zeros.
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
    /// A failure of the core, with the name of the file.
    pub fn about(file: &std::path::Path, error: evermargin::Error) -> Self {
        match Self::from(error) {
            Self::Failed(what) => Self::Failed(format!("{}: {what}", file.display())),
            other => other,
        }
    }

    /// The error as bad usage.
    pub fn usage(error: impl std::fmt::Display) -> Self {
        Self::Usage(error.to_string())
    }

    /// An error of reading or writing `what`.
    pub fn io(what: &str, error: &std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::BrokenPipe,
            _ => Self::Failed(format!("{what}: {error}")),
        }
    }
}
