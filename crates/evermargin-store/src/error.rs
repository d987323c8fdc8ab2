//! The error type of the store: it names the file, the event, the reason and the remedy.

use std::io;
use std::path::{Path, PathBuf};

/// Result with the [`Error`] of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Reason why a store was not opened or a write was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An operation of the operating system failed.
    #[error("cannot {action} {}: {source}", file.display())]
    Io {
        /// The file or directory.
        file: PathBuf,
        /// The operation, which completes "cannot …".
        action: &'static str,
        /// The error of the operating system.
        source: io::Error,
    },
    /// An operation of SQLite failed for a reason other than damage.
    #[error("cannot {action} {}: {source}", file.display())]
    Database {
        /// The database.
        file: PathBuf,
        /// The operation, which completes "cannot …".
        action: &'static str,
        /// The error of SQLite.
        source: rusqlite::Error,
    },
    /// The files of the store differ from the ones that were written.
    #[error(
        "{}{}: {what}; nothing was changed: restore the whole directory from a copy, or keep it unchanged and ask for help",
        file.display(), at(*seq)
    )]
    Damaged {
        /// The file.
        file: PathBuf,
        /// The number of the event, if it is known.
        seq: Option<u64>,
        /// Description of the damage.
        what: String,
    },
    /// The store has a format that this program does not know.
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
    /// The directory has no store where one is required, or has one where none is allowed.
    #[error("{}: {what}", directory.display())]
    Directory {
        /// The requested directory.
        directory: PathBuf,
        /// The contents of the directory and the remedy.
        what: &'static str,
    },
    /// An argument is invalid; nothing was written and the store remains usable.
    #[error("{what}")]
    Argument {
        /// The reason and the remedy.
        what: String,
    },
    /// An earlier write failed; the contents on the disk are unknown until the store is opened again.
    #[error("{}: an earlier write failed ({reason}); open the store again to continue", directory.display())]
    Failed {
        /// The store.
        directory: PathBuf,
        /// The error message of the earlier write.
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

    /// Converts an SQLite error in the use of a database that was verified before.
    pub(crate) fn database(action: &'static str, file: &Path) -> impl FnOnce(rusqlite::Error) -> Self {
        move |source| Self::Database { file: file.to_path_buf(), action, source }
    }

    /// Converts an SQLite error in the verification of a store: damage, unless the reason lies outside the file.
    pub(crate) fn reading(file: &Path, seq: Option<u64>) -> impl FnOnce(rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::{
            CannotOpen, DatabaseBusy, DatabaseLocked, OutOfMemory, PermissionDenied, ReadOnly,
        };
        move |source| match source.sqlite_error_code() {
            Some(CannotOpen | DatabaseBusy | DatabaseLocked | OutOfMemory | PermissionDenied | ReadOnly) => {
                Self::Database { file: file.to_path_buf(), action: "read", source }
            }
            _ => Self::damaged(file, seq, format!("SQLite reports: {source}")),
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
