//! Parameters that are fixed when a session begins.

use crate::label_protocol::LabelProtocol;
use evermargin::engine::EngineParams;
use evermargin_io::Schema;
use serde::{Deserialize, Serialize};

/// Version of the records and snapshots of a session.
pub const FORMAT: u32 = 6;

/// Parameters of a session, stored as its first event. They do not change later, except for the budget, which
/// [`evermargin::engine::Event::SetBudget`] changes in the engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionConfig {
    /// Parameters of the engine, with its initial budget.
    pub params: EngineParams,
    /// Whether a second engine with the same budget queries at random, as a baseline.
    pub random_baseline: bool,
    /// The source of answers to queries.
    pub oracle: Oracle,
    /// Rows per batch.
    pub batch_rows: usize,
    /// The sources and the options for reading them, as the user wrote them.
    pub input: Vec<String>,
    /// Mapping of rows of the sources to features, determined from the first batch.
    pub schema: Schema,
    /// Fraction of the labels of the data that is used, and their delay.
    pub label_protocol: LabelProtocol,
    /// The class that is learned against the union of all others, if the problem is reduced to two classes.
    pub positive: Option<String>,
    /// CPU feature level of the process that began the session, as the caller names it.
    pub cpu_level: String,
}

/// The source of answers to queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Oracle {
    /// The labels of the data, which are otherwise hidden from the engine.
    Truth,
    /// A person.
    Terminal,
    /// No source. Labels of the data are given to the engine with their rows.
    None,
}

impl Oracle {
    /// Whether labels of the data are hidden from the engine until it queries them.
    pub fn hides_labels(self) -> bool {
        self == Self::Truth
    }
}
