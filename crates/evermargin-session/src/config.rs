//! Everything that is fixed when a session begins.

use crate::label_protocol::LabelProtocol;
use evermargin::engine::EngineParams;
use evermargin_io::Schema;
use serde::{Deserialize, Serialize};

/// Version of the records and snapshots of a session.
pub const FORMAT: u32 = 6;

/// The parameters of a session: its first event. They do not change later, except for the budget, which
/// [`evermargin::engine::Event::SetBudget`] changes in the engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionConfig {
    /// Parameters of the engine, with its first budget.
    pub params: EngineParams,
    /// Whether a second engine with the same budget queries at random, as a baseline.
    pub random_baseline: bool,
    /// The source of answers to queries.
    pub oracle: Oracle,
    /// Rows per batch.
    pub batch_rows: usize,
    /// The sources and the options they are read with, as the user wrote them.
    pub input: Vec<String>,
    /// How rows of the sources become features, by the first batch.
    pub schema: Schema,
    /// Which labels of the data are used, and when.
    pub label_protocol: LabelProtocol,
    /// The class that is learned against all others together.
    pub positive: Option<String>,
    /// CPU feature level of the process that began the session, as the caller names it.
    pub cpu_level: String,
}

/// The source of answers to queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Oracle {
    /// The labels of the data, which are hidden from the engine otherwise.
    Truth,
    /// A person.
    Terminal,
    /// Nobody. Labels of the data are given to the engine with their rows.
    None,
}

impl Oracle {
    /// Whether labels of the data are hidden from the engine until it queries them.
    pub fn hides_labels(self) -> bool {
        self == Self::Truth
    }
}
