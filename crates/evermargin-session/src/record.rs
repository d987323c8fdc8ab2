//! Records of the event log. Batches are MessagePack; everything else is JSON, readable with any SQL tool.

use crate::config::{FORMAT, SessionConfig};
use crate::error::SessionError;
use evermargin::data::Matrix;
use evermargin::engine::Event;
use evermargin::model::Column;
use evermargin_io::artifacts::engine::{pack, unpack};
use evermargin_io::{Position, RejectedRow, RowPlaces};
use serde::{Deserialize, Serialize};

/// Kinds of records whose bodies are dropped once two snapshots cover them.
pub(crate) const LARGE_KINDS: [&str; 1] = ["batch"];

/// Rows that arrived together, with everything that is needed to continue after them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Batch {
    /// One sample per row.
    pub x: Matrix,
    /// The class of each row, if the engine may see it.
    pub labels: Vec<Option<String>>,
    /// The class of each row that the engine does not see; empty if nothing is hidden.
    pub truth: Vec<Option<String>>,
    /// The text of each row for an annotator; empty if there is none.
    pub texts: Vec<String>,
    /// The name of each row; empty if rows have none.
    pub ids: Vec<String>,
    /// Columns of a table that appear in this batch for the first time, after those known.
    pub new_columns: Vec<Column>,
    /// The file and line of each row.
    pub places: RowPlaces,
    /// Rows between these that the reader could not use.
    pub rejected: Vec<RejectedRow>,
    /// The place in the stream after these rows.
    pub position: Position,
}

impl Batch {
    /// Rows that come from no file.
    pub fn new(x: Matrix, labels: Vec<Option<String>>) -> Self {
        Self {
            x,
            labels,
            truth: Vec::new(),
            texts: Vec::new(),
            ids: Vec::new(),
            new_columns: Vec::new(),
            places: RowPlaces::default(),
            rejected: Vec::new(),
            position: Position::default(),
        }
    }

    /// The same place in the stream, with every row rejected for one reason. `first_row` is the number of its first row in
    /// the stream.
    #[must_use]
    pub(crate) fn into_rejected(self, first_row: u64, reason: &str) -> Self {
        let cols = self.x.cols();
        let sparse = matches!(self.x, Matrix::Csr { .. });
        let count = (self.x.rows() + self.rejected.len()) as u64;
        let mut numbers =
            (first_row..first_row + count).filter(|n| self.rejected.iter().all(|r| r.row != *n));
        let whole = (0..self.x.rows())
            .map(|row| self.places.rejected(row, numbers.next().unwrap_or(0), None, None, reason));
        let mut rejected: Vec<RejectedRow> = self.rejected.iter().cloned().chain(whole).collect();
        rejected.sort_by_key(|row| row.row);
        let (position, new_columns) = (self.position, self.new_columns);
        Self { new_columns, rejected, position, ..Self::new(Matrix::empty(cols, sparse), Vec::new()) }
    }

    /// The labels that predictions are compared with.
    pub(crate) fn reference_labels(&self) -> &[Option<String>] {
        if self.truth.is_empty() { &self.labels } else { &self.truth }
    }
}

/// An entry of the event log.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Record {
    /// The first entry.
    Begin(Box<SessionConfig>),
    Batch(Box<Batch>),
    /// An event other than a batch.
    Event(Event),
    /// Rejected rows of the batch before. The state follows from the batch; this is for people.
    RejectedRows(Vec<RejectedRow>),
    /// The session continues on another CPU feature level.
    CpuLevel(String),
}

/// The first entry as it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Begin<C> {
    format: u32,
    config: C,
}

impl Record {
    /// The kind in the event log.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Begin(_) => "begin",
            Self::Batch(_) | Self::Event(Event::Batch { .. }) => "batch",
            Self::Event(Event::Answer { .. }) => "answer",
            Self::Event(Event::Skip { .. }) => "skip",
            Self::Event(Event::Correct { .. }) => "correct",
            Self::Event(Event::Withdraw { .. }) => "withdraw",
            Self::Event(Event::Related { .. }) => "related",
            Self::Event(Event::Compare { .. }) => "compare",
            Self::Event(Event::Await { .. }) => "await",
            Self::Event(Event::Labels { .. }) => "labels",
            Self::Event(Event::Ask { .. }) => "ask",
            Self::Event(Event::SetBudget { .. }) => "set-budget",
            Self::Event(Event::SetRatio { .. }) => "set-ratio",
            Self::Event(Event::Tick { .. }) => "tick",
            Self::RejectedRows(_) => "rejected-rows",
            Self::CpuLevel(_) => "cpu-level",
        }
    }

    /// The body in the event log.
    pub(crate) fn encode(&self) -> Result<Vec<u8>, SessionError> {
        let encoded = match self {
            Self::Begin(config) => serde_json::to_vec(&Begin { format: FORMAT, config }),
            Self::Batch(batch) => return Ok(pack(batch)?),
            Self::Event(event) => serde_json::to_vec(event),
            Self::RejectedRows(rows) => serde_json::to_vec(rows),
            Self::CpuLevel(level) => serde_json::to_vec(level),
        };
        encoded.map_err(|e| SessionError::corrupt("event", e.to_string()))
    }

    /// Reads an entry; `place` names it in messages.
    pub(crate) fn decode(kind: &str, body: &[u8], place: &str) -> Result<Self, SessionError> {
        let unreadable =
            |e: serde_json::Error| SessionError::corrupt(place, format!("unreadable event: {e}"));
        Ok(match kind {
            "begin" => {
                let format = serde_json::from_slice::<Version>(body).map_err(unreadable)?.format;
                if format != FORMAT {
                    let reason = format!("session format {format}; this program reads format {FORMAT}");
                    return Err(SessionError::corrupt(place, reason));
                }
                let begin: Begin<SessionConfig> = serde_json::from_slice(body).map_err(unreadable)?;
                Self::Begin(Box::new(begin.config))
            }
            "batch" => {
                let batch: Batch = unpack(place, body)?;
                batch.x.check_structure()?;
                Self::Batch(Box::new(batch))
            }
            "rejected-rows" => Self::RejectedRows(serde_json::from_slice(body).map_err(unreadable)?),
            "cpu-level" => Self::CpuLevel(serde_json::from_slice(body).map_err(unreadable)?),
            _ => Self::Event(serde_json::from_slice(body).map_err(unreadable)?),
        })
    }
}

/// The part of the first entry that every version has.
#[derive(Deserialize)]
struct Version {
    #[serde(alias = "form")]
    format: u32,
}
