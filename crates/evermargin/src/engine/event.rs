//! Events that the engine processes, and their effects: plain data.

use super::label_sources::Source;
use super::params::Budget;
use super::rejected::RejectedRow;
use crate::active::Stopped;
use crate::data::Matrix;
use serde::{Deserialize, Serialize};

/// Event in the life of a stream. Equal events give bit-identical states.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// Samples arrived, some of them possibly with a label. Their numbers continue those of the previous batch.
    Batch {
        /// One sample per row, before scaling. Unusable rows are rejected, the others are used.
        x: Matrix,
        /// Class name of each row; `None` for unlabeled rows.
        labels: Vec<Option<String>>,
    },
    /// An annotator answered a query.
    Answer {
        /// The queried sample.
        sample: u64,
        /// Class name.
        label: String,
    },
    /// An annotator skipped a query.
    Skip {
        /// The queried sample.
        sample: u64,
    },
    /// An annotator corrected a label.
    Correct {
        /// The labeled sample.
        sample: u64,
        /// Class name.
        label: String,
    },
    /// An annotator withdrew a label.
    Withdraw {
        /// The labeled sample.
        sample: u64,
    },
    /// An annotator stated that two samples are of the same class (must-link) or of different classes (cannot-link).
    /// This answers a query that compares the two.
    Related {
        /// A sample that has a pending query or a label, or belongs to the latest batch.
        a: u64,
        /// Another such sample.
        b: u64,
        /// Whether the classes are the same.
        same: bool,
    },
    /// An annotator cannot name the class of a queried sample, but can compare it with another: the query becomes a
    /// comparison with a labeled sample. A query that follows the answer "different" counts again for the budget.
    Compare {
        /// The queried sample.
        sample: u64,
    },
    /// Labels of these rows of the latest batch will arrive later, by [`Event::Labels`]. The rows are kept until then.
    Await {
        /// Numbers of rows in the batch.
        rows: Vec<usize>,
    },
    /// Delayed labels of rows that were kept by [`Event::Await`]. They count as labels that no query strategy chose,
    /// and are compared with the predictions made on arrival of the rows. Labels of rows that were dropped meanwhile
    /// are ignored.
    Labels {
        /// Samples with their class names.
        labels: Vec<(u64, String)>,
    },
    /// An annotator requests queries.
    Ask {
        /// Number of queries, as far as the budget allows, in addition to the pending ones of the current round.
        count: usize,
    },
    /// The limits on the number of queries change. Pending queries stay.
    SetBudget {
        /// The new limits; earlier queries count against them.
        budget: Budget,
    },
    /// The class shares among unlabeled rows change. For a caller whose order of classes differs from that of the
    /// engine.
    SetRatio {
        /// One share per class, in the engine's order of classes; they add up to 1.
        shares: Vec<f64>,
    },
    /// Closes the batch: no further answers are expected. Time may have passed.
    Tick {
        /// Seconds since a fixed time that the caller chooses; must not decrease.
        now: u64,
    },
}

/// Query about a sample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// The sample.
    pub sample: u64,
    /// Number of its row in its batch.
    pub row: usize,
    /// Reason for the query.
    pub why: QueryReason,
    /// Predicted class, if there is a prediction.
    pub guess: Option<String>,
    /// Distance of the sample from the boundary; the margin is at 1.
    pub closeness: Option<f64>,
    /// Labeled sample to compare the sample with; `None` if the query is about the class. A comparison is answered by
    /// [`Event::Related`], or with the class name by [`Event::Answer`].
    #[serde(default)]
    pub reference: Option<Reference>,
}

/// Labeled sample with which another one is compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    /// The sample.
    pub sample: u64,
    /// Class name of the sample.
    pub class: String,
}

/// Label implied by pairwise constraints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImpliedLabel {
    /// The sample.
    pub sample: u64,
    /// Class name; `None` if the label is no longer implied.
    pub label: Option<String>,
}

/// Reason for a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueryReason {
    /// The sample represents many others; used while there is no boundary yet.
    Representative,
    /// The query strategy chose the sample.
    Informative,
    /// The sample represents rows unlike all earlier ones, possibly of a new class.
    Novel,
    /// The sample was drawn at random, so that accuracy and drift can be measured without selection bias.
    RandomCheck,
}

/// Source of the label of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowSource {
    /// The true label: it came with the row or later, was given by an annotator, or is implied by pairwise constraints.
    Given,
    /// The classifier.
    Model,
    /// SUBMOD-S3VM over the pool.
    Transduction,
    /// A transductive SVM over the pool.
    Tsvm,
    /// Label propagation over the pool.
    Graph,
    /// Several sources, weighted by their results on held-out labels.
    Combined,
}

impl From<Source> for RowSource {
    fn from(source: Source) -> Self {
        match source {
            Source::Model => Self::Model,
            Source::Transduction => Self::Transduction,
            Source::Tsvm => Self::Tsvm,
            Source::Graph => Self::Graph,
        }
    }
}

impl RowSource {
    /// Name in files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::Model => "model",
            Self::Transduction => "transduction",
            Self::Tsvm => "tsvm",
            Self::Graph => "graph",
            Self::Combined => "combined",
        }
    }
}

/// Label that the engine gives to a row of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct InferredLabel {
    /// Number of the class in [`super::Engine::classes`]; `None` while fewer than two classes have labels.
    pub class: Option<u32>,
    /// Estimated probability that the label is correct. For a row with a true label, it refers to the label that was
    /// inferred.
    pub confidence: f64,
    /// Source of the label; `None` if there is no label.
    pub source: Option<RowSource>,
}

impl InferredLabel {
    /// A row without a label.
    pub const NONE: Self = Self { class: None, confidence: 0.0, source: None };
}

/// Effects of an event.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Effects {
    /// Labels of the rows of the batch: on arrival, predictions made before any answer about the batch; when the batch
    /// is closed, its final labels.
    pub labels: Vec<InferredLabel>,
    /// Queries to ask. A query about a sample with a pending query replaces the pending one.
    pub questions: Vec<Question>,
    /// Labels that pairwise constraints imply, or no longer imply, as of this event.
    #[serde(default)]
    pub implied: Vec<ImpliedLabel>,
    /// Version of the model, if one was published.
    pub published: Option<u64>,
    /// Detected change of the stream.
    pub drift: Option<Drift>,
    /// Reason why further queries are not worthwhile.
    pub advice: Option<Stopped>,
    /// Rows of the batch that were rejected, and rows whose label was rejected, ascending.
    #[serde(default)]
    pub rejected: Vec<RejectedRow>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// Detected change of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// Statistic in which the change was detected.
    pub sign: DriftSign,
    /// Value of the statistic before the change.
    pub before: f64,
    /// Value of the statistic after the change.
    pub now: f64,
}

/// Statistic in which drift is detected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DriftSign {
    /// Error rate on labels that no query strategy chose.
    Errors,
    /// Share of rows within the margin.
    Margin,
}
