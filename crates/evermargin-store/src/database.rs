//! The SQLite database: its tables, the bytes of its header that never change, and the ways to open it.

use crate::error::{Error, Result};
use crate::{BODY_LIMIT, FORMAT};
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

/// Before this version a checkpoint that raced with a write could lose pages for good.
const OLDEST_SQLITE: i32 = 3_051_003;

/// "EvMg", so that `file` and we can tell the database from others.
const APPLICATION: u32 = 0x4576_4d67;

const PAGE: u16 = 4096;

/// Everything in the database, in the order of its making. `body` is text where it is readable as such, so that SQL can
/// look into it. No view: where one comes first in SQLite's list of tables, `quick_check` looks neither at the list of free
/// pages nor for lost ones.
pub(crate) const SCHEMA: [&str; 5] = [
    "CREATE TABLE store (one INTEGER PRIMARY KEY, instance BLOB NOT NULL, generation INTEGER NOT NULL, digest BLOB NOT NULL) STRICT",
    "CREATE TABLE events (seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, length INTEGER NOT NULL, body_hash BLOB NOT NULL, hash BLOB NOT NULL, body ANY) STRICT",
    "CREATE TABLE forgotten (kind TEXT NOT NULL, before INTEGER NOT NULL) STRICT",
    "CREATE TABLE snapshots (seq INTEGER PRIMARY KEY, length INTEGER NOT NULL, hash BLOB NOT NULL) STRICT",
    "CREATE TABLE pieces (id INTEGER PRIMARY KEY, snapshot INTEGER NOT NULL, body BLOB NOT NULL) STRICT",
];

/// Refuses an SQLite that is known to lose data.
pub(crate) fn check_version() -> Result<()> {
    if rusqlite::version_number() >= OLDEST_SQLITE {
        return Ok(());
    }
    let found = rusqlite::version();
    Err(Error::argument(format!("SQLite {found} may lose data; build with 3.51.3 or newer")))
}

/// Makes the tables in a new file, and leaves it closed, in one piece, and for the caller to sync.
pub(crate) fn create(path: &Path, fill: impl FnOnce(&Connection) -> rusqlite::Result<()>) -> Result<()> {
    let make = || -> rusqlite::Result<()> {
        let connection = Connection::open(path)?;
        connection.pragma_update(None, "synchronous", "OFF")?;
        connection.pragma_update(None, "journal_mode", "MEMORY")?;
        connection.pragma_update(None, "page_size", PAGE)?;
        connection.pragma_update(None, "application_id", APPLICATION)?;
        connection.pragma_update(None, "user_version", FORMAT)?;
        SCHEMA.iter().try_for_each(|statement| connection.execute_batch(statement))?;
        fill(&connection)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.close().map_err(|(_, error)| error)
    };
    make().map_err(Error::database("create", path))
}

/// Looks at the header without SQLite, which would act on some damage (it removes the log of an empty database). The
/// bytes compared here are the same from the making of the file on, whatever is written later.
pub(crate) fn check_header(path: &Path) -> Result<()> {
    let mut header = Vec::with_capacity(100);
    let file = File::open(path).map_err(Error::io("open", path))?;
    let length = file.metadata().map_err(Error::io("read", path))?.len();
    file.take(100).read_to_end(&mut header).map_err(Error::io("read", path))?;
    let damaged = |what: &str| Err(Error::damaged(path, None, what));
    let word = |at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    if length < u64::from(PAGE) || header.len() < 100 {
        return damaged("too short for a database: it was cut off");
    }
    let start = [b"SQLite format 3\0", &PAGE.to_be_bytes()[..], &[2, 2, 0, 64, 32, 32]].concat();
    if header[..24] != start || word(68) != APPLICATION {
        return damaged("does not begin as the database of a store does");
    }
    if word(60) != FORMAT {
        return Err(Error::Version { file: path.to_path_buf(), found: word(60) });
    }
    let rest = [(44, 4), (48, 0), (52, 0), (56, 1), (64, 0)];
    if rest.iter().any(|&(at, value)| word(at) != value) || header[72..92].iter().any(|&byte| byte != 0) {
        return damaged("the header is not as it was written");
    }
    Ok(())
}

/// Who else may use the file, and what is left on the disk after a look at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// There is no log: nothing is locked, made or changed.
    Untouched,
    /// There is a log: it is read where it is, its index in memory; nothing is made or changed.
    Alone,
    /// As other programs open it: they may read along. Makes the shared index beside it.
    Shared,
}

/// Opens the database. Closing never merges the log, unless asked for by [`merge_on_close`].
pub(crate) fn connect(path: &Path, way: Way) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = if way == Way::Untouched {
        let flags = flags | OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        Connection::open_with_flags(unchanging(path), flags)?
    } else {
        Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_READ_WRITE)?
    };
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, BODY_LIMIT as i32 + 4096)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.busy_timeout(Duration::from_secs(if way == Way::Alone { 0 } else { 10 }))?;
    if way == Way::Alone {
        connection.pragma_update_and_check(None, "locking_mode", "EXCLUSIVE", |_| Ok(()))?;
    }
    Ok(connection)
}

/// Durable commits; and no checkpoint behind our back, since SQLite would not tell that one failed.
pub(crate) fn prepare_writing(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update_and_check(None, "wal_autocheckpoint", 0, |_| Ok(()))?;
    connection.pragma_update_and_check(None, "journal_size_limit", 64 << 20, |_| Ok(()))
}

/// Moves the log into the database, as far as no reader needs it. Both are synced.
pub(crate) fn checkpoint(connection: &Connection) -> rusqlite::Result<()> {
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
}

/// A store that closes in order leaves no log.
pub(crate) fn merge_on_close(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false).map(|_| ())
}

/// The address that makes SQLite take the file for unchanging.
fn unchanging(path: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/.-_".contains(&byte);
    let bytes = path.as_os_str().as_encoded_bytes().iter();
    let path: String = bytes
        .map(|&byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02x}") })
        .collect();
    format!("file:{path}?immutable=1")
}
