//! Snapshots: the state of the caller after a number of events, split into pieces that fit into a database row. The store
//! keeps the two newest.

use crate::chain::{Contents, SnapshotEntry};
use crate::error::{Error, Result};
use blake3::Hasher;
use rusqlite::Connection;
use std::path::Path;

/// Maximum number of bytes of a snapshot in one row.
const PIECE_BYTES: usize = 64 << 20;

/// State of the caller that was stored with the events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Number of the first event that the state does not include.
    pub seq: u64,
    /// Bytes of the state.
    pub body: Vec<u8>,
}

/// Adds a snapshot and deletes all but the two newest.
pub(crate) fn insert(
    connection: &Connection,
    contents: &mut Contents,
    entry: SnapshotEntry,
    body: &[u8],
) -> rusqlite::Result<()> {
    let row = "INSERT INTO snapshots (seq, length, hash) VALUES (?1, ?2, ?3)";
    connection.execute(row, (entry.seq as i64, entry.length as i64, entry.hash.as_bytes()))?;
    for piece in body.chunks(PIECE_BYTES) {
        connection
            .execute("INSERT INTO pieces (snapshot, body) VALUES (?1, ?2)", (entry.seq as i64, piece))?;
    }
    contents.snapshots.push(entry);
    while contents.snapshots.len() > 2 {
        let oldest = contents.snapshots.remove(0).seq as i64;
        connection.execute("DELETE FROM pieces WHERE snapshot = ?1", [oldest])?;
        connection.execute("DELETE FROM snapshots WHERE seq = ?1", [oldest])?;
    }
    Ok(())
}

/// Checks that there are at most two snapshots, that they are complete and not ahead of the events, and that every piece
/// belongs to one of them.
pub(crate) fn check(file: &Path, connection: &Connection, contents: &Contents) -> Result<()> {
    let numbers: Vec<u64> = contents.snapshots.iter().map(|entry| entry.seq).collect();
    if numbers.len() > 2 || numbers.iter().any(|&seq| seq > contents.count) {
        return Err(Error::damaged(
            file,
            None,
            format!("snapshots before the events {numbers:?} are impossible"),
        ));
    }
    let mut pieces = 0;
    for entry in &contents.snapshots {
        pieces += read(file, connection, entry, |_| ())?;
    }
    let all = connection.query_row("SELECT count(*) FROM pieces", [], |row| row.get::<_, i64>(0));
    if all.map_err(Error::reading(file, None))? != pieces {
        return Err(Error::damaged(file, None, "has pieces that belong to no snapshot"));
    }
    Ok(())
}

/// Passes the pieces of a snapshot to `take` in order, with one in memory at a time, checks the hash of the snapshot and
/// returns the number of pieces.
pub(crate) fn read(
    file: &Path,
    connection: &Connection,
    entry: &SnapshotEntry,
    mut take: impl FnMut(&[u8]),
) -> Result<i64> {
    let reading = |error| Error::reading(file, Some(entry.seq))(error);
    let sql = "SELECT body FROM pieces WHERE snapshot = ?1 ORDER BY id";
    let mut statement = connection.prepare_cached(sql).map_err(reading)?;
    let mut rows = statement.query([entry.seq as i64]).map_err(reading)?;
    let (mut hasher, mut length, mut pieces) = (Hasher::new(), 0, 0);
    while let Some(row) = rows.next().map_err(reading)? {
        let piece = row.get_ref(0).map_err(reading)?;
        let piece = piece.as_blob().map_err(|error| reading(error.into()))?;
        hasher.update(piece);
        length += piece.len() as u64;
        pieces += 1;
        take(piece);
    }
    if length != entry.length || hasher.finalize() != entry.hash {
        let what = "the snapshot before this event is not what was written";
        return Err(Error::damaged(file, Some(entry.seq), what));
    }
    Ok(pieces)
}
