//! Records of the event log. Batches are encoded as MessagePack, all other records as JSON, which any SQL tool can show.

use crate::config::{FORMAT, SessionConfig};
use crate::error::SessionError;
use evermargin::data::Matrix;
use evermargin::engine::Event;
use evermargin::model::Column;
use evermargin_io::artifacts::engine::{pack, unpack};
use evermargin_io::{Position, RejectedRow, RowPlaces};
use serde::{Deserialize, Serialize};

/// Kinds of records whose bodies are dropped when two snapshots cover them.
pub(crate) const LARGE_KINDS: [&str; 1] = ["batch"];

/// Rows that arrived together, with all data needed to continue after them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Batch {
    /// One sample per row.
    pub x: Matrix,
    /// The class of each row, where it is known and not hidden from the engine.
    pub labels: Vec<Option<String>>,
    /// The class of each row, hidden from the engine; empty if nothing is hidden.
    pub truth: Vec<Option<String>>,
    /// The text of each row, shown to an annotator; empty if rows have no text.
    pub texts: Vec<String>,
    /// The identifier of each row; empty if rows have none.
    pub ids: Vec<String>,
    /// Columns of a table that appear in this batch for the first time; their features follow the known ones.
    pub new_columns: Vec<Column>,
    /// The file and line of each row.
    pub places: RowPlaces,
    /// Rows in the range of this batch that the reader could not use.
    pub rejected: Vec<RejectedRow>,
    /// The place in the stream after these rows.
    pub position: Position,
}

impl Batch {
    /// Batch of rows that do not come from a file.
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

    /// Replaces the batch by one at the same position of the stream in which every row is rejected for this reason.
    /// `first_row` is the number of the first row in the stream.
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

    /// Labels with which predictions are compared.
    pub(crate) fn reference_labels(&self) -> &[Option<String>] {
        if self.truth.is_empty() { &self.labels } else { &self.truth }
    }
}

/// Entry of the event log.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Record {
    /// The first entry, with the parameters of the session.
    Begin(Box<SessionConfig>),
    /// A batch of rows.
    Batch(Box<Batch>),
    /// An event other than a batch.
    Event(Event),
    /// Rejected rows of the preceding batch. They follow from the batch and are recorded only for people who read the log.
    RejectedRows(Vec<RejectedRow>),
    /// The session continues on another CPU feature level.
    CpuLevel(String),
}

/// Encoding of the first entry.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Begin<C> {
    format: u32,
    config: C,
}

impl Record {
    /// Kind of the record in the event log.
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

    /// Encodes the body of the record for the event log.
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

    /// Decodes an entry; `place` names it in error messages.
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

/// Part of the first entry that is the same in every version of the format.
#[derive(Deserialize)]
struct Version {
    #[serde(alias = "form")]
    format: u32,
}
