//! What must hold before a store is used. Nothing is written here, whatever is found.
//!
//! In this order: the bytes of the header, the tables, the pages (`quick_check`: every page used once, every row
//! readable), the chain of events from the first to the last with every body, the snapshots, the digest of all, and last
//! the seal.

use crate::chain::{Contents, StoredLink};
use crate::database::{self, SCHEMA, Way};
use crate::error::{Error, Result};
use crate::seal::Mark;
use crate::{events, snapshots};
use blake3::Hash;
use rusqlite::Connection;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The file SQLite keeps beside the database under this ending.
pub(crate) fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(file);
    name.push(ending);
    PathBuf::from(name)
}

/// Verifies everything and gives what the database holds.
pub(crate) fn verify(file: &Path, mark: &Mark) -> Result<Contents> {
    database::check_header(file)?;
    if beside(file, "-journal").exists() {
        let what = "a rollback journal, which a store never has, and SQLite would apply it";
        return Err(Error::damaged(&beside(file, "-journal"), None, what));
    }
    let way = if beside(file, "-wal").exists() { Way::Alone } else { Way::Untouched };
    let contents = match read(file, way, mark) {
        // Another program reads the database now; it has made the shared index already.
        Err(error) if error.is_busy() => read(file, Way::Shared, mark),
        other => other,
    }?;
    check_seal(file, &contents, mark)?;
    Ok(contents)
}

fn read(file: &Path, way: Way, mark: &Mark) -> Result<Contents> {
    let connection = database::connect(file, way).map_err(Error::reading(file, None))?;
    check_tables(file, &connection)?;
    check_pages(file, &connection)?;
    let (mut contents, digest) = outline(file, &connection)?;
    if contents.instance != mark.instance {
        return Err(Error::damaged(file, None, "belongs to another store than the seal beside it"));
    }
    walk(file, &connection, &mut contents, mark)?;
    snapshots::check(file, &connection, &contents)?;
    if contents.digest() != digest {
        let what = "the digest of the store is not that of what it holds";
        return Err(Error::damaged(file, contents.count.checked_sub(1), what));
    }
    Ok(contents)
}

fn check_tables(file: &Path, connection: &Connection) -> Result<()> {
    let mut statements = Vec::with_capacity(SCHEMA.len());
    each(file, connection, "SELECT sql FROM sqlite_schema ORDER BY rowid", |row| {
        statements.push(row.get::<_, Option<String>>(0)?.unwrap_or_default());
        Ok(())
    })?;
    if statements != SCHEMA {
        return Err(Error::damaged(file, None, "the tables are not those of a store"));
    }
    Ok(())
}

fn check_pages(file: &Path, connection: &Connection) -> Result<()> {
    let said: String = connection
        .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
        .map_err(Error::reading(file, None))?;
    if said == "ok" { Ok(()) } else { Err(Error::damaged(file, None, said.replace('\n', " "))) }
}

/// Reads all but the events; and the digest that the whole must have.
fn outline(file: &Path, connection: &Connection) -> Result<(Contents, Hash)> {
    let mut found = Vec::new();
    each(file, connection, "SELECT instance, generation, digest FROM store", |row| {
        let instance = row.get_ref(0)?.as_blob().ok().and_then(|bytes| bytes.try_into().ok());
        found.push((instance, row.get::<_, i64>(1)?, events::hash(row.get_ref(2)?)));
        Ok(())
    })?;
    let &[(Some(instance), generation, Some(digest))] = &found[..] else {
        return Err(Error::damaged(file, None, "the row that describes the store is not as it was written"));
    };
    let mut contents = Contents { generation: generation as u64, ..Contents::empty(instance) };
    each(file, connection, "SELECT kind, before FROM forgotten", |row| {
        contents.forgotten.insert(row.get(0)?, row.get::<_, i64>(1)? as u64);
        Ok(())
    })?;
    each(file, connection, "SELECT seq, length, hash FROM snapshots ORDER BY seq", |row| {
        let (seq, length) = (row.get::<_, i64>(0)? as u64, row.get::<_, i64>(1)? as u64);
        let hash = events::hash(row.get_ref(2)?).ok_or(rusqlite::Error::InvalidQuery)?;
        contents.snapshots.push(StoredLink { seq, length, hash });
        Ok(())
    })?;
    Ok((contents, digest))
}

/// Follows the chain from the first event to the last; the last that was acknowledged must be on its way.
fn walk(file: &Path, connection: &Connection, contents: &mut Contents, mark: &Mark) -> Result<()> {
    let mut statement = connection.prepare(events::ALL).map_err(Error::reading(file, None))?;
    let mut rows = statement.query([]).map_err(Error::reading(file, None))?;
    loop {
        let seq = contents.count;
        if seq == mark.count && contents.head != mark.head {
            return Err(Error::damaged(file, seq.checked_sub(1), "is not the event that was acknowledged"));
        }
        let Some(row) = rows.next().map_err(Error::reading(file, Some(seq)))? else { return Ok(()) };
        contents.head = events::Link::read(row, contents, &contents.head, seq, file)?.hash;
        contents.count += 1;
    }
}

/// The database is what was sealed, or one whole transaction more.
fn check_seal(file: &Path, contents: &Contents, mark: &Mark) -> Result<()> {
    let Contents { generation, count, .. } = contents;
    let damaged = |seq: Option<u64>, what: String| Err(Error::damaged(file, seq, what));
    if *generation < mark.generation || *count < mark.count {
        let lost = format!(
            "holds {count} events and {generation} writes, but {} events and {} writes were acknowledged: the database or \
             its log (the file ending in -wal) was cut, damaged, removed or replaced by an older copy",
            mark.count, mark.generation
        );
        return damaged(Some(*count), lost);
    }
    if *generation == mark.generation && contents.digest() != mark.digest {
        return damaged(
            count.checked_sub(1),
            "holds other events or snapshots than were acknowledged".to_string(),
        );
    }
    if *generation > mark.generation + 1 {
        let what =
            format!("{generation} writes, but the seal knows {}: the seal is an older copy", mark.generation);
        return damaged(None, what);
    }
    Ok(())
}

fn each(
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
