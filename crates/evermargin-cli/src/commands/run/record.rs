//! What `run` keeps: events as they are committed, and snapshots. Samples are packed bytes; what people said is JSON, to be
//! read with any SQL tool.

use super::session::Artifact;
use crate::failure::Failure;
use evermargin::data::Matrix;
use evermargin::engine::{EngineParams, Event};
use evermargin_io::artifacts::engine::{pack, unpack};
use evermargin_io::{Position, Schema};
use serde::{Deserialize, Serialize};

/// Number of the form in which all this is written.
pub const FORM: u32 = 1;

/// What a session is: fixed by its first event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Begin {
    pub form: u32,
    pub params: EngineParams,
    /// The engine that asks at random, to compare with.
    pub beside: bool,
    /// Who answers.
    pub oracle: Oracle,
    pub batch: usize,
    /// The streams and how they are read, as they were named.
    pub reading: Vec<String>,
    pub schema: Schema,
}

/// Who answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Oracle {
    /// The labels of the data, which the engine does not see otherwise.
    Truth,
    /// A person.
    Terminal,
    /// Nobody; labels of the data are given to the engine as they come.
    None,
}

/// Samples that arrived, with all that is needed to go on after them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Batch {
    pub x: Matrix,
    /// Labels the engine sees.
    pub labels: Vec<Option<String>>,
    /// Labels it does not see.
    pub truth: Vec<Option<String>>,
    /// What a person is shown of each row; empty if nobody is.
    pub shown: Vec<String>,
    pub position: Position,
}

/// Something to be kept.
#[derive(Debug, Clone, PartialEq)]
pub enum Record {
    Begin(Box<Begin>),
    Batch(Box<Batch>),
    /// Anything that is no batch.
    Said(Event),
}

/// Kinds of bodies that may be forgotten once a snapshot stands in for them.
pub const LARGE: [&str; 1] = ["batch"];

impl Record {
    /// The kind under which it is kept.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Begin(_) => "begin",
            Self::Batch(_) | Self::Said(Event::Batch { .. }) => "batch",
            Self::Said(Event::Answer { .. }) => "answer",
            Self::Said(Event::Skip { .. }) => "skip",
            Self::Said(Event::Correct { .. }) => "correct",
            Self::Said(Event::Withdraw { .. }) => "withdraw",
            Self::Said(Event::Related { .. }) => "related",
            Self::Said(Event::Ask { .. }) => "ask",
            Self::Said(Event::Tick { .. }) => "tick",
        }
    }

    /// Its bytes.
    pub fn body(&self) -> Result<Vec<u8>, Failure> {
        let json = |text: serde_json::Result<Vec<u8>>| text.map_err(|e| Failure::Failed(e.to_string()));
        match self {
            Self::Begin(begin) => json(serde_json::to_vec(begin)),
            Self::Batch(batch) => Ok(pack(batch)?),
            Self::Said(event) => json(serde_json::to_vec(event)),
        }
    }

    /// What was kept; `place` names it in messages.
    pub fn read(kind: &str, body: &[u8], place: &str) -> Result<Self, Failure> {
        let wrong =
            |e: serde_json::Error| Failure::Failed(format!("{place}: not an event of evermargin run: {e}"));
        Ok(match kind {
            "begin" => {
                let begin: Begin = serde_json::from_slice(body).map_err(wrong)?;
                if begin.form != FORM {
                    let form = begin.form;
                    return Err(Failure::Failed(format!(
                        "{place}: written in form {form}; this program reads {FORM}"
                    )));
                }
                Self::Begin(Box::new(begin))
            }
            "batch" => {
                let batch: Batch = unpack(place, body)?;
                batch.x.recheck()?;
                Self::Batch(Box::new(batch))
            }
            _ => Self::Said(serde_json::from_slice(body).map_err(wrong)?),
        })
    }
}

/// A snapshot as bytes.
pub fn pack_kept(kept: &Artifact) -> Result<Vec<u8>, Failure> {
    Ok(pack(kept)?)
}

/// A snapshot from bytes.
pub fn unpack_kept(body: &[u8], place: &str) -> Result<Artifact, Failure> {
    Ok(unpack(place, body)?)
}
