//! The SQLite database: its tables, the constant bytes of its header, and the modes in which it is opened.

use crate::error::{Error, Result};
use crate::{BODY_LIMIT, FORMAT};
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

/// First SQLite version in which a checkpoint that races with a write cannot lose pages permanently.
const MIN_SQLITE_VERSION: i32 = 3_051_003;

/// "EvMg", by which the command `file` and this crate recognize the database of a store.
const APPLICATION_ID: u32 = 0x4576_4d67;

const PAGE_SIZE: u16 = 4096;

/// All tables in the order of their creation. `body` is stored as text where it is valid text, so that SQL queries can
/// read it. There is no view: if a view comes first in SQLite's list of tables, `quick_check` checks neither the list of
/// free pages nor searches for lost pages.
pub(crate) const SCHEMA: [&str; 5] = [
    "CREATE TABLE store (one INTEGER PRIMARY KEY, instance BLOB NOT NULL, generation INTEGER NOT NULL, digest BLOB NOT NULL) STRICT",
    "CREATE TABLE events (seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, length INTEGER NOT NULL, body_hash BLOB NOT NULL, hash BLOB NOT NULL, body ANY) STRICT",
    "CREATE TABLE forgotten (kind TEXT NOT NULL, before INTEGER NOT NULL) STRICT",
    "CREATE TABLE snapshots (seq INTEGER PRIMARY KEY, length INTEGER NOT NULL, hash BLOB NOT NULL) STRICT",
    "CREATE TABLE pieces (id INTEGER PRIMARY KEY, snapshot INTEGER NOT NULL, body BLOB NOT NULL) STRICT",
];

/// Refuses SQLite versions that are known to lose data.
pub(crate) fn check_version() -> Result<()> {
    if rusqlite::version_number() >= MIN_SQLITE_VERSION {
        return Ok(());
    }
    let found = rusqlite::version();
    Err(Error::argument(format!("SQLite {found} may lose data; build with 3.51.3 or newer")))
}

/// Creates the tables in a new file and closes it without a write-ahead log. The caller syncs the file.
pub(crate) fn create(path: &Path, fill: impl FnOnce(&Connection) -> rusqlite::Result<()>) -> Result<()> {
    let make = || -> rusqlite::Result<()> {
        let connection = Connection::open(path)?;
        connection.pragma_update(None, "synchronous", "OFF")?;
        connection.pragma_update(None, "journal_mode", "MEMORY")?;
        connection.pragma_update(None, "page_size", PAGE_SIZE)?;
        connection.pragma_update(None, "application_id", APPLICATION_ID)?;
        connection.pragma_update(None, "user_version", FORMAT)?;
        SCHEMA.iter().try_for_each(|statement| connection.execute_batch(statement))?;
        fill(&connection)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.close().map_err(|(_, error)| error)
    };
    make().map_err(Error::database("create", path))
}

/// Checks the header without SQLite, which would modify some damaged files (it removes the log of an empty database). The
/// bytes compared here never change after the file was created.
pub(crate) fn check_header(path: &Path) -> Result<()> {
    let mut header = Vec::with_capacity(100);
    let file = File::open(path).map_err(Error::io("open", path))?;
    let length = file.metadata().map_err(Error::io("read", path))?.len();
    file.take(100).read_to_end(&mut header).map_err(Error::io("read", path))?;
    let damaged = |what: &str| Err(Error::damaged(path, None, what));
    let word = |at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    if length < u64::from(PAGE_SIZE) || header.len() < 100 {
        return damaged("too short for a database: it was cut off");
    }
    let start = [b"SQLite format 3\0", &PAGE_SIZE.to_be_bytes()[..], &[2, 2, 0, 64, 32, 32]].concat();
    if header[..24] != start || word(68) != APPLICATION_ID {
        return damaged("does not begin like the database of a store");
    }
    if word(60) != FORMAT {
        return Err(Error::Version { file: path.to_path_buf(), found: word(60) });
    }
    let rest = [(44, 4), (48, 0), (52, 0), (56, 1), (64, 0)];
    if rest.iter().any(|&(at, value)| word(at) != value) || header[72..92].iter().any(|&byte| byte != 0) {
        return damaged("the header differs from the one that was written");
    }
    Ok(())
}

/// Mode in which the database is opened: whether other programs may use it, and whether opening it changes files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OpenMode {
    /// For a database without a log: nothing is locked, created or changed.
    Immutable,
    /// For a database with a log: the log is read in place with its index in memory; nothing is created or changed.
    Exclusive,
    /// The usual mode of SQLite: other programs may read at the same time. Creates the shared index of the log.
    Shared,
}

/// Opens the database. Closing merges the log into the database only after a call of [`merge_on_close`].
pub(crate) fn connect(path: &Path, mode: OpenMode) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = if mode == OpenMode::Immutable {
        let flags = flags | OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        Connection::open_with_flags(immutable_uri(path), flags)?
    } else {
        Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_READ_WRITE)?
    };
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, BODY_LIMIT as i32 + 4096)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.busy_timeout(Duration::from_secs(if mode == OpenMode::Exclusive { 0 } else { 10 }))?;
    if mode == OpenMode::Exclusive {
        connection.pragma_update_and_check(None, "locking_mode", "EXCLUSIVE", |_| Ok(()))?;
    }
    Ok(connection)
}

/// Makes commits durable and turns automatic checkpoints off, because SQLite does not report when one of them fails.
pub(crate) fn prepare_writing(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update_and_check(None, "wal_autocheckpoint", 0, |_| Ok(()))?;
    connection.pragma_update_and_check(None, "journal_size_limit", 64 << 20, |_| Ok(()))
}

/// Copies the log into the database up to the part that a reader still needs, and syncs both.
pub(crate) fn checkpoint(connection: &Connection) -> rusqlite::Result<()> {
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
}

/// Merges the log into the database when the connection is closed, so that no log remains.
pub(crate) fn merge_on_close(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false).map(|_| ())
}

/// URI by which SQLite opens the file as immutable.
fn immutable_uri(path: &Path) -> String {
    let unescaped = |byte: u8| byte.is_ascii_alphanumeric() || b"/.-_".contains(&byte);
    let bytes = path.as_os_str().as_encoded_bytes().iter();
    let path: String = bytes
        .map(|&byte| if unescaped(byte) { char::from(byte).to_string() } else { format!("%{byte:02x}") })
        .collect();
    format!("file:{path}?immutable=1")
}
