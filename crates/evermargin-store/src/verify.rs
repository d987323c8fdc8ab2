//! Verification of a store before it is used. Nothing is written here, whatever the result.
//!
//! The checks in their order: the bytes of the header, the tables, the pages (`quick_check`: every page is used once,
//! every row is readable), the chain of all events with every body, the snapshots, the digest of the contents, and the
//! seal.

use crate::chain::{Contents, SnapshotEntry};
use crate::database::{self, OpenMode, SCHEMA};
use crate::error::{Error, Result};
use crate::seal::SealRecord;
use crate::{events, snapshots};
use blake3::Hash;
use rusqlite::Connection;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Path of the file that SQLite keeps next to the database with this suffix.
pub(crate) fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(file);
    name.push(suffix);
    PathBuf::from(name)
}

/// Verifies everything and returns the contents of the database.
pub(crate) fn verify(file: &Path, sealed: &SealRecord) -> Result<Contents> {
    database::check_header(file)?;
    if with_suffix(file, "-journal").exists() {
        let what = "a rollback journal that the store did not write; SQLite would apply it to the database";
        return Err(Error::damaged(&with_suffix(file, "-journal"), None, what));
    }
    let mode = if with_suffix(file, "-wal").exists() { OpenMode::Exclusive } else { OpenMode::Immutable };
    let contents = match read(file, mode, sealed) {
        // Another program reads the database at the moment, so the shared index exists already.
        Err(error) if error.is_busy() => read(file, OpenMode::Shared, sealed),
        other => other,
    }?;
    check_seal(file, &contents, sealed)?;
    Ok(contents)
}

fn read(file: &Path, mode: OpenMode, sealed: &SealRecord) -> Result<Contents> {
    let connection = database::connect(file, mode).map_err(Error::reading(file, None))?;
    check_tables(file, &connection)?;
    check_pages(file, &connection)?;
    let (mut contents, digest) = read_metadata(file, &connection)?;
    if contents.instance != sealed.instance {
        return Err(Error::damaged(file, None, "belongs to another store than the seal next to it"));
    }
    check_chain(file, &connection, &mut contents, sealed)?;
    snapshots::check(file, &connection, &contents)?;
    if contents.digest() != digest {
        let what = "the digest of the store does not match its contents";
        return Err(Error::damaged(file, contents.count.checked_sub(1), what));
    }
    Ok(contents)
}

fn check_tables(file: &Path, connection: &Connection) -> Result<()> {
    let mut statements = Vec::with_capacity(SCHEMA.len());
    for_each_row(file, connection, "SELECT sql FROM sqlite_schema ORDER BY rowid", |row| {
        statements.push(row.get::<_, Option<String>>(0)?.unwrap_or_default());
        Ok(())
    })?;
    if statements != SCHEMA {
        return Err(Error::damaged(file, None, "the tables are not those of a store"));
    }
    Ok(())
}

fn check_pages(file: &Path, connection: &Connection) -> Result<()> {
    let result: String = connection
        .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
        .map_err(Error::reading(file, None))?;
    if result == "ok" { Ok(()) } else { Err(Error::damaged(file, None, result.replace('\n', " "))) }
}

/// Reads everything except the events, and the digest that the contents must have.
fn read_metadata(file: &Path, connection: &Connection) -> Result<(Contents, Hash)> {
    let mut found = Vec::new();
    for_each_row(file, connection, "SELECT instance, generation, digest FROM store", |row| {
        let instance = row.get_ref(0)?.as_blob().ok().and_then(|bytes| bytes.try_into().ok());
        found.push((instance, row.get::<_, i64>(1)?, events::parse_hash(row.get_ref(2)?)));
        Ok(())
    })?;
    let &[(Some(instance), generation, Some(digest))] = &found[..] else {
        return Err(Error::damaged(
            file,
            None,
            "the row that describes the store differs from the one that was written",
        ));
    };
    let mut contents = Contents { generation: generation as u64, ..Contents::empty(instance) };
    for_each_row(file, connection, "SELECT kind, before FROM forgotten", |row| {
        contents.forgotten.insert(row.get(0)?, row.get::<_, i64>(1)? as u64);
        Ok(())
    })?;
    for_each_row(file, connection, "SELECT seq, length, hash FROM snapshots ORDER BY seq", |row| {
        let (seq, length) = (row.get::<_, i64>(0)? as u64, row.get::<_, i64>(1)? as u64);
        let hash = events::parse_hash(row.get_ref(2)?).ok_or(rusqlite::Error::InvalidQuery)?;
        contents.snapshots.push(SnapshotEntry { seq, length, hash });
        Ok(())
    })?;
    Ok((contents, digest))
}

/// Verifies the chain from the first event to the last. It must contain the last acknowledged event.
fn check_chain(
    file: &Path,
    connection: &Connection,
    contents: &mut Contents,
    sealed: &SealRecord,
) -> Result<()> {
    let mut statement = connection.prepare(events::SELECT_ALL).map_err(Error::reading(file, None))?;
    let mut rows = statement.query([]).map_err(Error::reading(file, None))?;
    loop {
        let seq = contents.count;
        if seq == sealed.count && contents.head != sealed.head {
            return Err(Error::damaged(file, seq.checked_sub(1), "is not the event that was acknowledged"));
        }
        let Some(row) = rows.next().map_err(Error::reading(file, Some(seq)))? else { return Ok(()) };
        contents.head = events::VerifiedRow::read(row, contents, &contents.head, seq, file)?.hash;
        contents.count += 1;
    }
}

/// Checks that the database is in the sealed state or exactly one transaction ahead of it.
fn check_seal(file: &Path, contents: &Contents, sealed: &SealRecord) -> Result<()> {
    let Contents { generation, count, .. } = contents;
    let damaged = |seq: Option<u64>, what: String| Err(Error::damaged(file, seq, what));
    if *generation < sealed.generation || *count < sealed.count {
        let lost = format!(
            "holds {count} events and {generation} writes, but {} events and {} writes were acknowledged: the database or \
             its log (the file ending in -wal) was cut, damaged, removed or replaced by an older copy",
            sealed.count, sealed.generation
        );
        return damaged(Some(*count), lost);
    }
    if *generation == sealed.generation && contents.digest() != sealed.digest {
        return damaged(
            count.checked_sub(1),
            "holds other events or snapshots than were acknowledged".to_string(),
        );
    }
    if *generation > sealed.generation + 1 {
        let what = format!(
            "{generation} writes, but the seal records {}: the seal is an older copy",
            sealed.generation
        );
        return damaged(None, what);
    }
    Ok(())
}

fn for_each_row(
    file: &Path,
    connection: &Connection,
    sql: &str,
    mut visit: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<()>,
) -> Result<()> {
    let mut visit_all = || {
        let mut statement = connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            visit(row)?;
        }
        Ok(())
    };
    visit_all().map_err(Error::reading(file, None))
}
