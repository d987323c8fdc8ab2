//! The one error type of the store: which file, which event, what is wrong and what to do.

use std::io;
use std::path::{Path, PathBuf};

/// The result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a store was not opened, or a write refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", file.display())]
    Io {
        /// The file or directory.
        file: PathBuf,
        /// What was tried, as in "cannot …".
        action: &'static str,
        /// Its reason.
        source: io::Error,
    },
    /// SQLite refused for a reason other than damage.
    #[error("cannot {action} {}: {source}", file.display())]
    Database {
        /// The database.
        file: PathBuf,
        /// What was tried, as in "cannot …".
        action: &'static str,
        /// Its reason.
        source: rusqlite::Error,
    },
    /// What is on the disk is not what was written.
    #[error(
        "{}{}: {what}; nothing was changed: put the whole directory back from a copy, or ask for help with it as it is",
        file.display(), at(*seq)
    )]
    Damaged {
        /// The file.
        file: PathBuf,
        /// The event, where one is known.
        seq: Option<u64>,
        /// What was found.
        what: String,
    },
    /// A store of a version that this program does not know.
    #[error("{}: format {found}, but this program knows format {}; nothing was changed: use a newer program", file.display(), crate::FORMAT)]
    Version {
        /// The database.
        file: PathBuf,
        /// Its format.
        found: u32,
    },
    /// Another process has the store open.
    #[error("{}: in use by another process; stop it first, or name another directory", directory.display())]
    InUse {
        /// The store.
        directory: PathBuf,
    },
    /// There is no store, or there is one already.
    #[error("{}: {what}", directory.display())]
    Directory {
        /// The directory asked for.
        directory: PathBuf,
        /// What is there, and what to do.
        what: &'static str,
    },
    /// What was asked cannot be done; nothing was written and the store goes on.
    #[error("{what}")]
    Argument {
        /// What is wrong and the remedy.
        what: String,
    },
    /// An earlier write failed; what is on the disk is known only after opening again.
    #[error("{}: an earlier write failed ({reason}); open the store again to go on", directory.display())]
    Failed {
        /// The store.
        directory: PathBuf,
        /// What the earlier write said.
        reason: String,
    },
}

fn at(seq: Option<u64>) -> String {
    seq.map(|seq| format!(", event {seq}")).unwrap_or_default()
}

impl Error {
    pub(crate) fn io(action: &'static str, file: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { file: file.to_path_buf(), action, source }
    }

    pub(crate) fn damaged(file: &Path, seq: Option<u64>, what: impl Into<String>) -> Self {
        Self::Damaged { file: file.to_path_buf(), seq, what: what.into() }
    }

    pub(crate) fn argument(what: impl Into<String>) -> Self {
        Self::Argument { what: what.into() }
    }

    /// An SQLite error while something already known to be sound is used.
    pub(crate) fn database(action: &'static str, file: &Path) -> impl FnOnce(rusqlite::Error) -> Self {
        move |source| Self::Database { file: file.to_path_buf(), action, source }
    }

    /// An SQLite error while a store is verified: damage, unless the reason lies outside the file.
    pub(crate) fn reading(file: &Path, seq: Option<u64>) -> impl FnOnce(rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::{
            CannotOpen, DatabaseBusy, DatabaseLocked, OutOfMemory, PermissionDenied, ReadOnly,
        };
        move |source| match source.sqlite_error_code() {
            Some(CannotOpen | DatabaseBusy | DatabaseLocked | OutOfMemory | PermissionDenied | ReadOnly) => {
                Self::Database { file: file.to_path_buf(), action: "read", source }
            }
            _ => Self::damaged(file, seq, format!("SQLite says: {source}")),
        }
    }

    /// Whether a write failed because there is no space left on the device or in the quota.
    pub fn is_storage_full(&self) -> bool {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        match self {
            Self::Io { source, .. } => matches!(source.kind(), FileTooLarge | QuotaExceeded | StorageFull),
            Self::Database { source, .. } => {
                source.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull)
            }
            _ => false,
        }
    }

    pub(crate) fn is_busy(&self) -> bool {
        use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
        matches!(self, Self::Database { source, .. }
            if matches!(source.sqlite_error_code(), Some(DatabaseBusy | DatabaseLocked)))
    }
}
