//! What can stand between a table and its reproduction.

/// Everything that can go wrong here.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Data that is not at hand.
    #[error("{what} is missing; {origin}")]
    Missing {
        /// The file or data set.
        what: String,
        /// Where it comes from.
        origin: String,
    },
    /// A name or number that a user or a table gave and that does not exist.
    #[error("{0}")]
    Unknown(String),
    /// A data file whose content is not what it should be.
    #[error("{0}")]
    Content(String),
    /// The library refused.
    #[error(transparent)]
    Learn(#[from] evermargin::Error),
    /// A file could not be read.
    #[error(transparent)]
    Read(#[from] evermargin_io::Error),
}

/// The result of everything here.
pub type Result<T> = std::result::Result<T, Failure>;
