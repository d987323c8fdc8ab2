//! The error type of the core: the problem, the allowed values, and a remedy.
//!
//! A remedy is a value ([`Remedy`]). The core words it without the names of a front end; each front end words it for its
//! users with [`Error::worded`].

use std::fmt;

/// All errors of the core. `evermargin-io` adds files and lines.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter is outside its range.
    #[error("parameter {name} = {value}: must be {allowed}")]
    Parameter {
        /// Name of the parameter as written by users.
        name: &'static str,
        /// The given value.
        value: String,
        /// The allowed values, as the end of the sentence "must be …".
        allowed: String,
    },
    /// Rows, columns, labels or weights that do not fit together.
    #[error("{what}: expected {expected}, found {found}")]
    Shape {
        /// The quantity that was counted.
        what: &'static str,
        /// The expected count.
        expected: usize,
        /// The actual count.
        found: usize,
    },
    /// A value that is NaN, infinite or too large.
    #[error("row {row}, column {column}: value {value} is not usable; {remedy}")]
    Value {
        /// Row, counted from 1.
        row: usize,
        /// Column, counted from 1.
        column: usize,
        /// The value.
        value: f64,
        /// The remedy.
        remedy: &'static str,
    },
    /// Data for which the task has no result (no rows, one class, no labels …).
    #[error("{0}")]
    Data(String),
    /// Data or options for which the task has no result, with a remedy.
    #[error("{what}; {remedy}")]
    Unsuitable {
        /// The problem.
        what: String,
        /// The remedy.
        remedy: Remedy,
    },
    /// A model whose parts do not fit together.
    #[error("model: {0}")]
    Model(String),
    /// The watch of the caller ended the work; nothing was changed.
    #[error("interrupted")]
    Interrupted,
    /// A saved learner whose parts do not fit together.
    #[error("the state is damaged: {0}")]
    State(String),
}

impl Error {
    /// A parameter error; `allowed` completes "must be …".
    #[allow(clippy::needless_pass_by_value)]
    pub fn parameter(name: &'static str, value: impl ToString, allowed: impl Into<String>) -> Self {
        Self::Parameter { name, value: value.to_string(), allowed: allowed.into() }
    }

    /// A stable name for the kind of error, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Parameter { .. } => "parameter",
            Self::Shape { .. } => "shape",
            Self::Value { .. } => "value",
            Self::Data(_) | Self::Unsuitable { .. } => "data",
            Self::Model(_) => "model",
            Self::Interrupted => "interrupted",
            Self::State(_) => "state",
        }
    }

    /// The message, with its remedy worded by a front end.
    pub fn worded(&self, words: impl Fn(&Remedy) -> String) -> String {
        match self {
            Self::Unsuitable { what, remedy } => format!("{what}; {}", words(remedy)),
            other => other.to_string(),
        }
    }
}

/// Remedy for an error.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Give labels for some rows.
    LabelRows,
    /// Name the one class to learn, or give no labels.
    ChooseClass {
        /// One of the classes.
        such_as: String,
    },
    /// Learn each class against the rest instead of each pair of classes.
    OneVsRest,
    /// Use fewer classes or rows.
    FewerClassesOrRows,
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LabelRows => f.write_str("give labels for some rows"),
            Self::ChooseClass { such_as } => {
                write!(f, "name it as the positive class (such as {such_as}), or leave the labels out")
            }
            Self::OneVsRest => f.write_str("train each class against the rest (one-vs-rest)"),
            Self::FewerClassesOrRows => f.write_str("use fewer classes or rows"),
        }
    }
}

/// Result type of the core.
pub type Result<T> = std::result::Result<T, Error>;
