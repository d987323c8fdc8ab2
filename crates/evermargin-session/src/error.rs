//! Errors of a session, one variant for each way in which a caller can react.

use std::path::PathBuf;

/// Reason why a session refused an event, could not store it, or was not opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The engine refused the event. Nothing changed and nothing was stored: send another event.
    #[error(transparent)]
    Rejected(evermargin::Error),
    /// The watch of the caller ended the work on an event. Nothing changed and nothing was stored.
    #[error("interrupted; the session was not changed")]
    Interrupted,
    /// There is no space left for the event, which was not applied: free some space, then
    /// [reopen the store](crate::Session::reopen_store).
    #[error("no space left for the state: {0}")]
    StorageFull(#[source] evermargin_store::Error),
    /// The store could not be opened, or a write, a seal or a sync failed. An event that failed to be stored was not
    /// applied.
    #[error(transparent)]
    Storage(evermargin_store::Error),
    /// The store is damaged, or its contents are not those of a session.
    #[error("{place}: {reason}")]
    Corrupt {
        /// The directory or file, and the event if it is known.
        place: String,
        /// The reason.
        reason: String,
    },
    /// A value could not be encoded or decoded in the format of the session.
    #[error(transparent)]
    Format(#[from] evermargin_io::Error),
    /// The session was computed on another CPU feature level and would continue with other rounding errors.
    #[error(
        "{}: computed with CPU features {stored}, but this machine has {current}; results would differ in their last bits",
        directory.display()
    )]
    OtherCpu {
        /// The directory of the session.
        directory: PathBuf,
        /// The level in the session.
        stored: String,
        /// The level of this process.
        current: String,
    },
    /// The parameters of a new session or the arguments of a call are invalid.
    #[error("{0}")]
    Config(String),
}

impl SessionError {
    pub(crate) fn corrupt(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Corrupt { place: place.into(), reason: reason.into() }
    }
}

impl From<evermargin::Error> for SessionError {
    fn from(error: evermargin::Error) -> Self {
        match error {
            evermargin::Error::Interrupted => Self::Interrupted,
            other => Self::Rejected(other),
        }
    }
}

impl From<evermargin_store::Error> for SessionError {
    fn from(error: evermargin_store::Error) -> Self {
        use evermargin_store::Error::Damaged;
        match error {
            _ if error.is_storage_full() => Self::StorageFull(error),
            Damaged { file, seq, what } => {
                let event = seq.map(|seq| format!(", event {seq}")).unwrap_or_default();
                let remedy = "nothing was changed: restore the whole directory from a copy";
                Self::corrupt(format!("{}{event}", file.display()), format!("{what}; {remedy}"))
            }
            other => Self::Storage(other),
        }
    }
}
