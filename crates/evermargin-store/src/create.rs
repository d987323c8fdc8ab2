//! A new store appears whole or not at all: it is made beside its place, synced, and moved there.

use crate::chain::Contents;
use crate::database;
use crate::error::{Error, Result};
use crate::seal::Seal;
use crate::store::{DATABASE, SEAL};
use rusqlite::Connection;
use std::fs::{self, File};
use std::path::Path;

/// Makes a store at a place where there is nothing, or an empty directory.
pub(crate) fn create(directory: &Path) -> Result<()> {
    let parent = above(directory);
    let missing: Vec<&Path> = parent.ancestors().take_while(|path| !path.exists()).collect();
    fs::create_dir_all(parent).map_err(Error::io("create", parent))?;
    missing.iter().try_for_each(|path| sync(above(path)))?;
    let draft = tempfile::Builder::new()
        .prefix(".evermargin-")
        .tempdir_in(parent)
        .map_err(Error::io("create a directory in", parent))?;
    restrict(draft.path(), 0o700)?;
    let contents = Contents::empty(draw()?);
    fill(draft.path(), &contents)?;
    sync(draft.path())?;
    fs::rename(draft.path(), directory).map_err(Error::io("move a new store to", directory))?;
    // Moved: there is nothing left to remove.
    let _ = draft.keep();
    sync(parent)
}

fn above(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn fill(draft: &Path, contents: &Contents) -> Result<()> {
    let file = draft.join(DATABASE);
    database::create(&file, |connection| {
        let row = "INSERT INTO store (one, instance, generation, digest) VALUES (1, ?1, 0, ?2)";
        connection.execute(row, (contents.instance, contents.digest().as_bytes())).map(|_| ())
    })?;
    restrict(&file, 0o600)?;
    File::open(&file).and_then(|opened| opened.sync_all()).map_err(Error::io("sync", &file))?;
    let seal = draft.join(SEAL);
    Seal::create(&seal, contents)?;
    restrict(&seal, 0o600)
}

/// Gives access to the owner alone, whatever the umask. SQLite creates the log and its index with the mode of the
/// database.
#[cfg(unix)]
fn restrict(path: &Path, mode: u32) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).map_err(Error::io("set permissions of", path))
}

#[cfg(not(unix))]
fn restrict(_: &Path, _: u32) -> Result<()> {
    Ok(())
}

/// Takes away access that others were given to an existing store. Files of another owner stay as they are: only the owner
/// may change them.
pub(crate) fn tighten(directory: &Path) {
    let log = [format!("{DATABASE}-wal"), format!("{DATABASE}-shm")].map(|name| directory.join(name));
    let files = [directory.join(DATABASE), directory.join(SEAL)].into_iter().chain(log);
    let _ = restrict(directory, 0o700);
    files.filter(|file| file.exists()).for_each(|file| drop(restrict(&file, 0o600)));
}

/// The name of a store, from SQLite's generator, which the system seeds.
fn draw() -> Result<[u8; 16]> {
    let drawn = Connection::open_in_memory()
        .and_then(|connection| connection.query_row("SELECT randomblob(16)", [], |row| row.get(0)));
    drawn.map_err(Error::database("draw a name for", Path::new(DATABASE)))
}

/// A name is durable when its directory is.
fn sync(directory: &Path) -> Result<()> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    File::open(directory).and_then(|opened| opened.sync_all()).map_err(Error::io("sync", directory))
}
