//! Atomic creation of a store: it is written to a temporary directory next to its destination, synced and renamed, so
//! that an interruption leaves either a complete store or none.

use crate::chain::Contents;
use crate::database;
use crate::error::{Error, Result};
use crate::seal::Seal;
use crate::store::{DATABASE, SEAL};
use rusqlite::Connection;
use std::fs::{self, File};
use std::path::Path;

/// Creates a store at a path that does not exist or is an empty directory.
pub(crate) fn create(directory: &Path) -> Result<()> {
    let parent = parent_of(directory);
    let missing: Vec<&Path> = parent.ancestors().take_while(|path| !path.exists()).collect();
    fs::create_dir_all(parent).map_err(Error::io("create", parent))?;
    missing.iter().try_for_each(|path| sync(parent_of(path)))?;
    let temporary = tempfile::Builder::new()
        .prefix(".evermargin-")
        .tempdir_in(parent)
        .map_err(Error::io("create a directory in", parent))?;
    restrict(temporary.path(), 0o700)?;
    let contents = Contents::empty(random_id()?);
    write_files(temporary.path(), &contents)?;
    sync(temporary.path())?;
    fs::rename(temporary.path(), directory).map_err(Error::io("move a new store to", directory))?;
    // The directory was renamed, so there is no temporary directory to remove.
    let _ = temporary.keep();
    sync(parent)
}

fn parent_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn write_files(temporary: &Path, contents: &Contents) -> Result<()> {
    let file = temporary.join(DATABASE);
    database::create(&file, |connection| {
        let row = "INSERT INTO store (one, instance, generation, digest) VALUES (1, ?1, 0, ?2)";
        connection.execute(row, (contents.instance, contents.digest().as_bytes())).map(|_| ())
    })?;
    restrict(&file, 0o600)?;
    File::open(&file).and_then(|opened| opened.sync_all()).map_err(Error::io("sync", &file))?;
    let seal = temporary.join(SEAL);
    Seal::create(&seal, contents)?;
    restrict(&seal, 0o600)
}

/// Restricts access to the owner regardless of the umask. SQLite creates the write-ahead log and its index with the mode
/// of the database file.
#[cfg(unix)]
fn restrict(path: &Path, mode: u32) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).map_err(Error::io("set permissions of", path))
}

#[cfg(not(unix))]
fn restrict(_: &Path, _: u32) -> Result<()> {
    Ok(())
}

/// Restricts an existing store to its owner. Files of another owner stay as they are, because only the owner may change
/// their mode.
pub(crate) fn restrict_existing(directory: &Path) {
    let log = [format!("{DATABASE}-wal"), format!("{DATABASE}-shm")].map(|name| directory.join(name));
    let files = [directory.join(DATABASE), directory.join(SEAL)].into_iter().chain(log);
    let _ = restrict(directory, 0o700);
    files.filter(|file| file.exists()).for_each(|file| drop(restrict(&file, 0o600)));
}

/// Random identifier of a store, from SQLite's generator, which the operating system seeds.
fn random_id() -> Result<[u8; 16]> {
    let drawn = Connection::open_in_memory()
        .and_then(|connection| connection.query_row("SELECT randomblob(16)", [], |row| row.get(0)));
    drawn.map_err(Error::database("draw a random identifier for", Path::new(DATABASE)))
}

/// Syncs a directory. A new or renamed file is durable only after its directory was synced.
fn sync(directory: &Path) -> Result<()> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    File::open(directory).and_then(|opened| opened.sync_all()).map_err(Error::io("sync", directory))
}
