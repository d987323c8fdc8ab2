//! Events as rows: written, read again one by one, each checked against its hash.

use crate::chain::{self, Contents};
use crate::error::{Error, Result};
use crate::{BODY_LIMIT, KIND_LIMIT};
use blake3::Hash;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Row};
use std::path::Path;

/// What happened, to be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event<'a> {
    /// A name for what the body is: 1 to 255 bytes, no NUL.
    pub kind: &'a str,
    /// Any bytes, at most [`BODY_LIMIT`].
    pub body: &'a [u8],
}

/// An event as it was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its number; the first is 0, and there are no gaps.
    pub seq: u64,
    /// Its kind.
    pub kind: String,
    /// Its body, or nothing if that was forgotten.
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
            let what = format!("body of {kind:?}: has {length} bytes, allowed are {BODY_LIMIT}; split it");
            return Err(Error::argument(what));
        }
        Ok(())
    }
}

/// Adds a row, and the event to the contents.
pub(crate) fn insert(
    connection: &Connection,
    contents: &mut Contents,
    event: &Event,
) -> rusqlite::Result<()> {
    let Event { kind, body } = *event;
    let (seq, length, body_hash) = (contents.count, body.len() as u64, blake3::hash(body));
    let hash = chain::link(&contents.head, seq, kind, length, &body_hash);
    let sql = "INSERT INTO events (seq, kind, length, body_hash, hash, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let numbers = (seq as i64, length as i64);
    let parameters =
        rusqlite::params![numbers.0, kind, numbers.1, body_hash.as_bytes(), hash.as_bytes(), as_column(body)];
    connection.prepare_cached(sql)?.execute(parameters)?;
    (contents.count, contents.head) = (seq + 1, hash);
    Ok(())
}

/// Text where every SQL tool would show the same text, else bytes.
fn as_column(body: &[u8]) -> ToSqlOutput<'_> {
    let readable = std::str::from_utf8(body).is_ok() && !body.contains(&0);
    ToSqlOutput::Borrowed(if readable { ValueRef::Text(body) } else { ValueRef::Blob(body) })
}

/// All events in order, with the columns of a [`Link`].
pub(crate) const ALL: &str = "SELECT seq, kind, length, body_hash, hash, body FROM events ORDER BY seq";

/// One event.
const ONE: &str = "SELECT seq, kind, length, body_hash, hash, body FROM events WHERE seq = ?1";

/// A row that agrees with the hash before it and with itself.
pub(crate) struct Link<'a> {
    pub kind: &'a str,
    pub body: Option<&'a [u8]>,
    pub hash: Hash,
}

impl<'a> Link<'a> {
    /// Reads the row that must be event `seq`.
    pub fn read(row: &'a Row<'_>, contents: &Contents, before: &Hash, seq: u64, file: &Path) -> Result<Self> {
        let damaged = |what: &str| Error::damaged(file, Some(seq), what);
        let reading = |error| Error::reading(file, Some(seq))(error);
        let column = |index: usize| row.get_ref(index).map_err(reading);
        if column(0)? != ValueRef::Integer(seq as i64) {
            return Err(damaged("missing, though later events are there"));
        }
        let kind = column(1)?.as_str().map_err(|_| damaged("its kind is not text"))?;
        let length = column(2)?.as_i64().map_err(|_| damaged("its length is not a number"))? as u64;
        let body_hash = hash(column(3)?).ok_or_else(|| damaged("its body hash is not a hash"))?;
        let said = hash(column(4)?).ok_or_else(|| damaged("its hash is not a hash"))?;
        if said != chain::link(before, seq, kind, length, &body_hash) {
            return Err(damaged("its hash does not follow from the events up to it"));
        }
        let body = match column(5)? {
            ValueRef::Null => None,
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(bytes),
            _ => return Err(damaged("its body is neither text nor bytes")),
        };
        if body.is_none() != contents.forgets(seq, kind) {
            return Err(damaged("its body is missing, or there though forgotten"));
        }
        if body.is_some_and(|body| body.len() as u64 != length || blake3::hash(body) != body_hash) {
            return Err(damaged("its body is not what was written"));
        }
        Ok(Self { kind, body, hash: said })
    }
}

/// A column that must be a hash.
pub(crate) fn hash(column: ValueRef<'_>) -> Option<Hash> {
    column.as_blob().ok()?.try_into().ok().map(Hash::from_bytes)
}

/// Events in order, one in memory at a time; each is checked again as it is read.
#[derive(Debug)]
pub struct Events<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) contents: &'a Contents,
    pub(crate) file: &'a Path,
    pub(crate) next: u64,
    /// The hash of the event before `next`, once it is known.
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
        let mut statement = self.connection.prepare_cached(ONE).map_err(reading)?;
        let mut rows = statement.query([seq as i64]).map_err(reading)?;
        let row = rows.next().map_err(reading)?;
        let row = row.ok_or_else(|| Error::damaged(self.file, Some(seq), "missing"))?;
        let link = Link::read(row, self.contents, &before, seq, self.file)?;
        self.before = Some(link.hash);
        self.next += 1;
        Ok(Record { seq, kind: link.kind.to_string(), body: link.body.map(<[u8]>::to_vec) })
    }

    fn hash_before(&self, seq: u64) -> Result<Hash> {
        let Some(last) = seq.checked_sub(1) else { return Ok(chain::origin(&self.contents.instance)) };
        let sql = "SELECT hash FROM events WHERE seq = ?1";
        let found = self.connection.query_row(sql, [last as i64], |row| Ok(hash(row.get_ref(0)?)));
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
