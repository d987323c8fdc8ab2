//! The one error type of the core: what is wrong, and what would be right.

/// Everything that can go wrong in the core. Files and lines are added by `evermargin-io`.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter is outside its range.
    #[error("parameter {name} = {value}: must be {allowed}")]
    Parameter {
        /// Name of the parameter as the user writes it.
        name: &'static str,
        /// The value given.
        value: String,
        /// What is allowed, as the end of the sentence "must be …".
        allowed: String,
    },
    /// Rows, columns, labels or weights that do not fit together.
    #[error("{what}: expected {expected}, found {found}")]
    Shape {
        /// What was counted.
        what: &'static str,
        /// The count that fits.
        expected: usize,
        /// The count given.
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
        /// What to do about it.
        remedy: &'static str,
    },
    /// Data on which the task has no answer (no rows, one class, no labels …).
    #[error("{0}")]
    Data(String),
    /// A model whose parts contradict each other.
    #[error("model: {0}")]
    Model(String),
    /// The caller's watch ended the work; nothing was changed.
    #[error("interrupted")]
    Interrupted,
    /// A saved learner whose parts contradict each other.
    #[error("the state is damaged: {0}")]
    State(String),
}

impl Error {
    /// A parameter error; `allowed` completes "must be …".
    #[allow(clippy::needless_pass_by_value)]
    pub fn parameter(name: &'static str, value: impl ToString, allowed: impl Into<String>) -> Self {
        Self::Parameter { name, value: value.to_string(), allowed: allowed.into() }
    }
}

/// The core's result.
pub type Result<T> = std::result::Result<T, Error>;
