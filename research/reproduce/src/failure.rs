//! Errors of a reproduction.

/// Error of a reproduction.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Data that is not available.
    #[error("{what} is missing; {origin}")]
    Missing {
        /// The file or data set.
        what: String,
        /// The source of the data.
        origin: String,
    },
    /// Unknown name or invalid number, from the user or from a table.
    #[error("{0}")]
    Unknown(String),
    /// Invalid content of a data file.
    #[error("{0}")]
    Content(String),
    /// Error of the library.
    #[error(transparent)]
    Learn(#[from] evermargin::Error),
    /// Error in reading a file.
    #[error(transparent)]
    Read(#[from] evermargin_io::Error),
}

/// Result with a [`Failure`].
pub type Result<T> = std::result::Result<T, Failure>;
