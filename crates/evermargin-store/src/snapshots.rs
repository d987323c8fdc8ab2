//! Snapshots: the state after so many events, in pieces that a row can hold. The two newest are kept.

use crate::chain::{Contents, StoredLink};
use crate::error::{Error, Result};
use blake3::Hasher;
use rusqlite::Connection;
use std::path::Path;

/// Bytes of a snapshot in one row.
const PIECE: usize = 64 << 20;

/// A state that was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// It is the state after all events before this one.
    pub seq: u64,
    /// Its bytes.
    pub body: Vec<u8>,
}

/// Adds a snapshot and drops what is older than the two newest.
pub(crate) fn insert(
    connection: &Connection,
    contents: &mut Contents,
    kept: StoredLink,
    body: &[u8],
) -> rusqlite::Result<()> {
    let row = "INSERT INTO snapshots (seq, length, hash) VALUES (?1, ?2, ?3)";
    connection.execute(row, (kept.seq as i64, kept.length as i64, kept.hash.as_bytes()))?;
    for piece in body.chunks(PIECE) {
        connection
            .execute("INSERT INTO pieces (snapshot, body) VALUES (?1, ?2)", (kept.seq as i64, piece))?;
    }
    contents.snapshots.push(kept);
    while contents.snapshots.len() > 2 {
        let oldest = contents.snapshots.remove(0).seq as i64;
        connection.execute("DELETE FROM pieces WHERE snapshot = ?1", [oldest])?;
        connection.execute("DELETE FROM snapshots WHERE seq = ?1", [oldest])?;
    }
    Ok(())
}

/// All snapshots are whole, in order and of events that are there, and no piece belongs to none.
pub(crate) fn check(file: &Path, connection: &Connection, contents: &Contents) -> Result<()> {
    let numbers: Vec<u64> = contents.snapshots.iter().map(|kept| kept.seq).collect();
    if numbers.len() > 2 || numbers.iter().any(|&seq| seq > contents.count) {
        return Err(Error::damaged(file, None, format!("snapshots before the events {numbers:?} cannot be")));
    }
    let mut pieces = 0;
    for kept in &contents.snapshots {
        pieces += read(file, connection, kept, |_| ())?;
    }
    let all = connection.query_row("SELECT count(*) FROM pieces", [], |row| row.get::<_, i64>(0));
    if all.map_err(Error::reading(file, None))? != pieces {
        return Err(Error::damaged(file, None, "there are pieces of no snapshot"));
    }
    Ok(())
}

/// Hands over the pieces of a snapshot in order, one in memory at a time, and checks its hash; gives their number.
pub(crate) fn read(
    file: &Path,
    connection: &Connection,
    kept: &StoredLink,
    mut take: impl FnMut(&[u8]),
) -> Result<i64> {
    let reading = |error| Error::reading(file, Some(kept.seq))(error);
    let sql = "SELECT body FROM pieces WHERE snapshot = ?1 ORDER BY id";
    let mut statement = connection.prepare_cached(sql).map_err(reading)?;
    let mut rows = statement.query([kept.seq as i64]).map_err(reading)?;
    let (mut hasher, mut length, mut pieces) = (Hasher::new(), 0, 0);
    while let Some(row) = rows.next().map_err(reading)? {
        let piece = row.get_ref(0).map_err(reading)?;
        let piece = piece.as_blob().map_err(|error| reading(error.into()))?;
        hasher.update(piece);
        length += piece.len() as u64;
        pieces += 1;
        take(piece);
    }
    if length != kept.length || hasher.finalize() != kept.hash {
        let what = "the snapshot before this event is not what was written";
        return Err(Error::damaged(file, Some(kept.seq), what));
    }
    Ok(pieces)
}
