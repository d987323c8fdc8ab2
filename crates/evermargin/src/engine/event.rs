//! What can happen to the engine, and what comes of it: plain data.

use super::label_sources::Source;
use super::params::Budget;
use super::rejected::RejectedRow;
use crate::active::Stopped;
use crate::data::Matrix;
use serde::{Deserialize, Serialize};

/// Something that happened. The same events give the same state, bit by bit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// Samples arrived, some perhaps with the name of their class. They are numbered on from those before.
    Batch {
        /// One sample a row, before scaling. Unusable rows are rejected, the others are used.
        x: Matrix,
        /// Name of the class of each row, if it came with one.
        labels: Vec<Option<String>>,
    },
    /// A person answered a question.
    Answer {
        /// The sample asked about.
        sample: u64,
        /// Name of the class.
        label: String,
    },
    /// A person passed a question over.
    Skip {
        /// The sample asked about.
        sample: u64,
    },
    /// A person changed a label.
    Correct {
        /// The sample, which had one.
        sample: u64,
        /// Name of the class.
        label: String,
    },
    /// A person took a label back.
    Withdraw {
        /// The sample, which had one.
        sample: u64,
    },
    /// A person states that two samples are of one class (must-link) or of two (cannot-link). Answers a question that compares
    /// the two.
    Related {
        /// A sample that is asked about, has a label or is of the last batch.
        a: u64,
        /// Another.
        b: u64,
        /// Whether the classes are the same.
        same: bool,
    },
    /// A person cannot name the class of a sample that is asked about, but can compare it with another: the question becomes a
    /// comparison with a labeled sample. A question that follows a "different" counts again for the budget.
    Compare {
        /// The sample asked about.
        sample: u64,
    },
    /// Labels of these rows of the last batch will come later, by [`Event::Labels`]: the rows are kept until then.
    Await {
        /// Numbers of rows in the batch.
        rows: Vec<usize>,
    },
    /// Labels of rows that were kept for them. They count as labels that came by themselves; what was predicted when the
    /// rows arrived is held against them. Labels of rows that were dropped meanwhile are ignored.
    Labels {
        /// Samples, each with the name of its class.
        labels: Vec<(u64, String)>,
    },
    /// A person has time for questions.
    Ask {
        /// So many, as far as the budget goes; those of a round that is not over come on top.
        count: usize,
    },
    /// From now on other numbers of questions are allowed. Questions that are pending stay.
    SetBudget {
        /// The new limits; questions asked so far count.
        budget: Budget,
    },
    /// From now on the classes have other shares among the rows without a label, in the order of the classes. For a caller whose
    /// order of classes is another one.
    SetRatio {
        /// One share per class, with sum 1.
        shares: Vec<f64>,
    },
    /// The batch is done with: no more answers are waited for. Time may have passed.
    Tick {
        /// Seconds since some beginning, as the caller counts them; never less than before.
        now: u64,
    },
}

/// A sample worth a label.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// The sample.
    pub sample: u64,
    /// Number of its row in its batch.
    pub row: usize,
    /// Why it is asked about.
    pub why: QueryReason,
    /// Name of the class it is taken for, if there is one.
    pub guess: Option<String>,
    /// How near it is to the boundary; 1 is the margin.
    pub closeness: Option<f64>,
    /// The labeled sample to compare it with; none where the class is asked for. [`Event::Related`] answers a comparison, and so
    /// does the name of the class, by [`Event::Answer`].
    #[serde(default)]
    pub reference: Option<Reference>,
}

/// A labeled sample that another one is compared with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    /// The sample.
    pub sample: u64,
    /// Name of its class.
    pub class: String,
}

/// A label that follows from pairs of samples.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImpliedLabel {
    /// The sample.
    pub sample: u64,
    /// Name of the class; none where the label follows no longer.
    pub label: Option<String>,
}

/// Why a sample is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueryReason {
    /// It stands for many: there is no boundary yet.
    Representative,
    /// By the strategy.
    Informative,
    /// It stands for rows unlike all earlier ones, perhaps of a new class.
    Novel,
    /// Drawn at random, so that what is measured is not of chosen samples alone.
    RandomCheck,
}

/// Where the label of a row comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowSource {
    /// The true label: it came with the row or later, a person gave it, or it follows from related samples.
    Given,
    /// The classifier.
    Model,
    /// SUBMOD-S3VM over the batch and what is remembered of the past.
    Transduction,
    /// A transductive SVM over the same rows.
    Tsvm,
    /// Label propagation over the same rows.
    Graph,
    /// Several sources, weighted by held-out labels.
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
    /// The name in files and reports.
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

/// The label the engine gives a sample of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct InferredLabel {
    /// Number of the class in [`super::Engine::classes`]; none while fewer than two are known.
    pub class: Option<u32>,
    /// Estimated probability that the label is right. For a given label, the probability that the sources gave theirs.
    pub confidence: f64,
    /// Where the label comes from; none where there is no label.
    pub source: Option<RowSource>,
}

impl InferredLabel {
    /// A row without a label.
    pub const NONE: Self = Self { class: None, confidence: 0.0, source: None };
}

/// What comes of an event.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Effects {
    /// Labels of the rows of the batch, before any answer about it; after the batch was closed, the labels as they are
    /// then.
    pub labels: Vec<InferredLabel>,
    /// Questions to ask. One about a sample that is asked about already replaces the former.
    pub questions: Vec<Question>,
    /// Labels that follow from pairs of samples since this event.
    #[serde(default)]
    pub implied: Vec<ImpliedLabel>,
    /// A model was published: its version.
    pub published: Option<u64>,
    /// The stream has changed.
    pub drift: Option<Drift>,
    /// Asking brings nothing more.
    pub advice: Option<Stopped>,
    /// Rows of the batch that were rejected, and rows whose label was, ascending.
    #[serde(default)]
    pub rejected: Vec<RejectedRow>,
    /// What a person should know.
    pub notes: Vec<String>,
}

/// The stream has changed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// What gave it away.
    pub sign: DriftSign,
    /// The rate before.
    pub before: f64,
    /// The rate now.
    pub now: f64,
}

/// What gives a change of the stream away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DriftSign {
    /// Labels that were not chosen contradict the engine more often.
    Errors,
    /// More samples lie within the margin.
    Margin,
}
