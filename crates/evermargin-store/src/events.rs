//! Events as database rows. Each is checked against its hash when it is read.

use crate::chain::{self, Contents};
use crate::error::{Error, Result};
use crate::{BODY_LIMIT, KIND_LIMIT};
use blake3::Hash;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Row};
use std::path::Path;

/// Event to be appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event<'a> {
    /// Name of the type of event: 1 to 255 bytes without NUL.
    pub kind: &'a str,
    /// Arbitrary bytes, at most [`BODY_LIMIT`] of them.
    pub body: &'a [u8],
}

/// Event that was read from a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Number of the event. Numbers start at 0 and have no gaps.
    pub seq: u64,
    /// Kind of the event.
    pub kind: String,
    /// Body of the event, or `None` if it was forgotten.
    pub body: Option<Vec<u8>>,
}

impl Event<'_> {
    pub(crate) fn check(&self) -> Result<()> {
        let Self { kind, body } = self;
        if kind.is_empty() || kind.len() > KIND_LIMIT || kind.contains('\0') {
            return Err(Error::argument(format!(
                "kind {kind:?}: must have 1 to {KIND_LIMIT} bytes, none of them NUL"
            )));
        }
        if body.len() > BODY_LIMIT {
            let length = body.len();
            let what = format!("body of {kind:?}: has {length} bytes, the maximum is {BODY_LIMIT}; split it");
            return Err(Error::argument(what));
        }
        Ok(())
    }
}

/// Inserts the row of an event and updates number and hash in `contents`.
pub(crate) fn insert(
    connection: &Connection,
    contents: &mut Contents,
    event: &Event,
) -> rusqlite::Result<()> {
    let Event { kind, body } = *event;
    let (seq, length, body_hash) = (contents.count, body.len() as u64, blake3::hash(body));
    let hash = chain::event_hash(&contents.head, seq, kind, length, &body_hash);
    let sql = "INSERT INTO events (seq, kind, length, body_hash, hash, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let numbers = (seq as i64, length as i64);
    let parameters =
        rusqlite::params![numbers.0, kind, numbers.1, body_hash.as_bytes(), hash.as_bytes(), as_column(body)];
    connection.prepare_cached(sql)?.execute(parameters)?;
    (contents.count, contents.head) = (seq + 1, hash);
    Ok(())
}

/// Column value of a body: text if it is UTF-8 without NUL, which every SQL tool shows unchanged, else bytes.
fn as_column(body: &[u8]) -> ToSqlOutput<'_> {
    let readable = std::str::from_utf8(body).is_ok() && !body.contains(&0);
    ToSqlOutput::Borrowed(if readable { ValueRef::Text(body) } else { ValueRef::Blob(body) })
}

/// Query of all events in order, with the columns that [`VerifiedRow::read`] expects.
pub(crate) const SELECT_ALL: &str =
    "SELECT seq, kind, length, body_hash, hash, body FROM events ORDER BY seq";

/// Query of one event with the same columns.
const SELECT_ONE: &str = "SELECT seq, kind, length, body_hash, hash, body FROM events WHERE seq = ?1";

/// Row of an event whose hash and body were verified.
pub(crate) struct VerifiedRow<'a> {
    pub kind: &'a str,
    pub body: Option<&'a [u8]>,
    pub hash: Hash,
}

impl<'a> VerifiedRow<'a> {
    /// Reads and verifies a row that must be event `seq`; `before` is the hash of the event before it.
    pub fn read(row: &'a Row<'_>, contents: &Contents, before: &Hash, seq: u64, file: &Path) -> Result<Self> {
        let damaged = |what: &str| Error::damaged(file, Some(seq), what);
        let reading = |error| Error::reading(file, Some(seq))(error);
        let column = |index: usize| row.get_ref(index).map_err(reading);
        if column(0)? != ValueRef::Integer(seq as i64) {
            return Err(damaged("missing, though later events are there"));
        }
        let kind = column(1)?.as_str().map_err(|_| damaged("its kind is not text"))?;
        let length = column(2)?.as_i64().map_err(|_| damaged("its length is not a number"))? as u64;
        let body_hash = parse_hash(column(3)?).ok_or_else(|| damaged("its body hash is not a hash"))?;
        let stored_hash = parse_hash(column(4)?).ok_or_else(|| damaged("its hash is not a hash"))?;
        if stored_hash != chain::event_hash(before, seq, kind, length, &body_hash) {
            return Err(damaged("its hash does not follow from the events up to it"));
        }
        let body = match column(5)? {
            ValueRef::Null => None,
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(bytes),
            _ => return Err(damaged("its body is neither text nor bytes")),
        };
        if body.is_none() != contents.is_forgotten(seq, kind) {
            return Err(damaged("its body is missing, or is there although it was forgotten"));
        }
        if body.is_some_and(|body| body.len() as u64 != length || blake3::hash(body) != body_hash) {
            return Err(damaged("its body is not what was written"));
        }
        Ok(Self { kind, body, hash: stored_hash })
    }
}

/// Hash in a column, or `None` if the column is not one.
pub(crate) fn parse_hash(column: ValueRef<'_>) -> Option<Hash> {
    column.as_blob().ok()?.try_into().ok().map(Hash::from_bytes)
}

/// Iterator over events in order. One event is in memory at a time, and each is verified as it is read.
#[derive(Debug)]
pub struct Events<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) contents: &'a Contents,
    pub(crate) file: &'a Path,
    pub(crate) next: u64,
    /// Hash of the event before `next`, if it was read already.
    pub(crate) before: Option<Hash>,
}

impl Events<'_> {
    fn read(&mut self) -> Result<Record> {
        let seq = self.next;
        let before = match self.before {
            Some(hash) => hash,
            None => self.hash_before(seq)?,
        };
        let reading = |error| Error::reading(self.file, Some(seq))(error);
        let mut statement = self.connection.prepare_cached(SELECT_ONE).map_err(reading)?;
        let mut rows = statement.query([seq as i64]).map_err(reading)?;
        let row = rows.next().map_err(reading)?;
        let row = row.ok_or_else(|| Error::damaged(self.file, Some(seq), "missing"))?;
        let row = VerifiedRow::read(row, self.contents, &before, seq, self.file)?;
        self.before = Some(row.hash);
        self.next += 1;
        Ok(Record { seq, kind: row.kind.to_string(), body: row.body.map(<[u8]>::to_vec) })
    }

    fn hash_before(&self, seq: u64) -> Result<Hash> {
        let Some(last) = seq.checked_sub(1) else { return Ok(chain::initial_hash(&self.contents.instance)) };
        let sql = "SELECT hash FROM events WHERE seq = ?1";
        let found = self.connection.query_row(sql, [last as i64], |row| Ok(parse_hash(row.get_ref(0)?)));
        let found = found.map_err(Error::reading(self.file, Some(last)))?;
        found.ok_or_else(|| Error::damaged(self.file, Some(last), "its hash is not a hash"))
    }
}

impl Iterator for Events<'_> {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next >= self.contents.count {
            return None;
        }
        let record = self.read();
        if record.is_err() {
            self.next = self.contents.count;
        }
        Some(record)
    }
}
