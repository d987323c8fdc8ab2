//! State of a stream: everything in the engine that depends on the feature space.

use super::classifier::StreamClassifier;
use super::feature_space::FeatureSpace;
use super::label_sources::Source;
use super::pairwise_constraints::PairwiseConstraints;
use super::query_context::Selection;
use super::query_state::ArmTrial;
use super::transduction::Transduction;
use super::{Classes, InferredLabel, LabelMemory, QueryReason, Question, Reference};
use crate::data::Matrix;
use serde::{Deserialize, Serialize};

/// Predictions for a sample, made on its arrival.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct RowPrediction {
    /// Class that the engine predicted.
    pub(super) given: Option<u32>,
    /// Estimated probability that this class is correct.
    pub(super) confidence: f64,
    /// Class predicted by each source that was computed, in the order of [`Source::ALL`].
    pub(super) by: [Option<u32>; 4],
}

impl RowPrediction {
    /// Class that a source predicted.
    pub(super) fn by(&self, source: Source) -> Option<u32> {
        self.by[source.index()]
    }

    pub(super) fn renumber(&mut self, now: &[u32]) {
        for class in self.by.iter_mut().chain([&mut self.given]) {
            *class = class.map(|c| now[c as usize]);
        }
    }
}

/// The current batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct CurrentBatch {
    /// Number of its first sample.
    pub(super) base: u64,
    /// Number of rows of the batch, including rejected ones.
    pub(super) rows: usize,
    /// Numbers of the rejected rows, ascending.
    pub(super) skipped: Vec<u32>,
    /// The other rows; the fields below concern these only.
    pub(super) x: Matrix,
    /// True class of each row, if known.
    pub(super) truth: Vec<Option<u32>>,
    pub(super) asked: Vec<bool>,
    /// Rows unlike all earlier ones for which queries are reserved, most important first.
    pub(super) novel: Vec<u32>,
    /// Predictions for the rows, made on arrival.
    pub(super) predictions: Vec<RowPrediction>,
    pub(super) closed: bool,
    /// Whether a true label arrived since the batch was labeled.
    pub(super) has_new_labels: bool,
    /// Labels given on arrival; `None` once something they depend on has changed.
    pub(super) on_arrival: Option<Vec<InferredLabel>>,
}

/// Queries without an answer, each with a copy of its sample, because the engine may evict the sample before the
/// answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct PendingQueries {
    pub(super) rows: Matrix,
    pub(super) of: Vec<PendingQuery>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct PendingQuery {
    pub(super) sample: u64,
    /// Number of its row in its batch.
    pub(super) row: u32,
    pub(super) why: QueryReason,
    /// Labeled sample with which the sample is compared; `None` if the query is about the class.
    pub(super) reference: Option<LabeledReference>,
    /// Number of answers "different" to comparisons of the sample.
    pub(super) compared: u32,
    pub(super) predictions: RowPrediction,
    /// Arm that chose the sample, if a bandit learns from the answer.
    pub(super) trial: Option<ArmTrial>,
    /// Whether the query belongs to the current batch and counts for its round.
    pub(super) in_round: bool,
}

/// Labeled sample and its class when the query was asked, because its label may be forgotten before the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LabeledReference {
    pub(super) sample: u64,
    pub(super) class: u32,
}

impl PendingQuery {
    pub(super) fn question(&self, closeness: Option<f64>, classes: &Classes) -> Question {
        let name = |class: u32| classes.names()[class as usize].clone();
        Question {
            sample: self.sample,
            row: self.row as usize,
            why: self.why,
            guess: self.predictions.given.map(name),
            closeness,
            reference: self.reference.map(|r| Reference { sample: r.sample, class: name(r.class) }),
        }
    }

    pub(super) fn renumber(&mut self, now: &[u32]) {
        self.predictions.renumber(now);
        self.trial.iter_mut().for_each(|t| t.class = now[t.class as usize]);
        self.reference.iter_mut().for_each(|r| r.class = now[r.class as usize]);
    }
}

impl PendingQueries {
    /// Position of the query that compares two samples.
    pub(super) fn find_comparison(&self, a: u64, b: u64) -> Option<usize> {
        let pair = |q: &PendingQuery| q.reference.map(|r| (q.sample, r.sample));
        self.of.iter().position(|q| pair(q) == Some((a, b)) || pair(q) == Some((b, a)))
    }

    pub(super) fn find(&self, sample: u64) -> Option<usize> {
        self.of.iter().position(|q| q.sample == sample)
    }

    pub(super) fn remove(&mut self, at: usize) -> (PendingQuery, Matrix) {
        let row = self.rows.view().select(&[at]);
        let keep: Vec<usize> = (0..self.of.len()).filter(|&i| i != at).collect();
        self.rows = self.rows.view().select(&keep);
        (self.of.remove(at), row)
    }

    /// Keeps the newest `max` queries.
    pub(super) fn cap(&mut self, max: usize) {
        if self.of.len() > max {
            let keep: Vec<usize> = (self.of.len() - max..self.of.len()).collect();
            self.keep(&keep);
        }
    }

    /// Keeps the queries at these positions.
    pub(super) fn keep(&mut self, keep: &[usize]) {
        self.rows = self.rows.view().select(keep);
        self.of = keep.iter().map(|&at| self.of[at]).collect();
    }
}

/// Everything in the engine that depends on the feature space.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct StreamState {
    pub(super) feature_space: FeatureSpace,
    pub(super) memory: LabelMemory,
    /// Classifier trained on true labels alone.
    pub(super) classifier: Option<StreamClassifier>,
    /// Classifier trained on true and inferred labels, if sources other than the classifier label the rows.
    pub(super) inferred: Option<StreamClassifier>,
    pub(super) transduction: Option<Transduction>,
    pub(super) current: CurrentBatch,
    pub(super) pending: PendingQueries,
    /// Rows whose labels will come later.
    pub(super) awaited: PendingQueries,
    pub(super) constraints: PairwiseConstraints,
}

impl CurrentBatch {
    /// Closed batch without rows; the next sample has the number `base`.
    pub(super) fn none(base: u64, cols: usize, sparse: bool) -> Self {
        Self {
            base,
            rows: 0,
            skipped: Vec::new(),
            x: Matrix::empty(cols, sparse),
            truth: Vec::new(),
            asked: Vec::new(),
            novel: Vec::new(),
            predictions: Vec::new(),
            closed: true,
            has_new_labels: false,
            on_arrival: None,
        }
    }

    /// Position of a sample among the rows that are not rejected.
    pub(super) fn row_of(&self, sample: u64) -> Option<usize> {
        let row = sample.checked_sub(self.base).map(|r| r as usize).filter(|r| *r < self.rows)?;
        let before = self.skipped.binary_search(&(row as u32)).err()?;
        Some(row - before)
    }

    /// Number in the batch of the `row`-th row that is not rejected.
    pub(super) fn number_of(&self, row: usize) -> usize {
        self.skipped.iter().fold(row, |row, &skipped| row + usize::from(skipped as usize <= row))
    }

    /// Number in the stream of the `row`-th row that is not rejected.
    pub(super) fn sample_of(&self, row: usize) -> u64 {
        self.base + self.number_of(row) as u64
    }

    /// Labels of all rows of the batch, from those of the rows that are not rejected; rejected rows have no label.
    pub(super) fn with_skipped(&self, labels: Vec<InferredLabel>) -> Vec<InferredLabel> {
        if self.skipped.is_empty() {
            return labels;
        }
        let mut all = vec![InferredLabel::NONE; self.rows];
        labels.into_iter().enumerate().for_each(|(i, label)| all[self.number_of(i)] = label);
        all
    }
}

impl StreamState {
    /// Whether the row of a sample is stored as a labeled, pending or current sample.
    pub(super) fn holds(&self, sample: u64) -> bool {
        self.memory.find(sample).is_some()
            || self.pending.find(sample).is_some()
            || self.current.row_of(sample).is_some()
    }

    /// Moves all stored rows to another feature space. The caller must rebuild the classifier.
    pub(super) fn move_to(&mut self, feature_space: &FeatureSpace) {
        let old = std::mem::replace(&mut self.feature_space, feature_space.clone());
        self.map_rows(|x| *x = feature_space.adopt(&old, x));
        self.transduction.iter_mut().for_each(|t| t.set_kernel(feature_space.kernel));
    }

    /// Changes all stored rows except those of the classifier.
    pub(super) fn map_rows(&mut self, change: impl Fn(&mut Matrix) + Copy) {
        self.current.on_arrival = None;
        self.memory.map_rows(change);
        self.transduction.iter_mut().for_each(|t| t.map_rows(change));
        change(&mut self.current.x);
        change(&mut self.pending.rows);
        change(&mut self.awaited.rows);
    }

    /// Row of a sample that has no label yet.
    pub(super) fn sample(&self, sample: u64) -> Option<Matrix> {
        if let Some(at) = self.pending.find(sample) {
            return Some(self.pending.rows.view().select(&[at]));
        }
        self.current.row_of(sample).map(|row| self.current.x.view().select(&[row]))
    }

    pub(super) fn renumber(&mut self, now: &[u32]) {
        self.current.on_arrival = None;
        self.memory.renumber(now);
        self.transduction.iter_mut().for_each(|t| t.renumber(now));
        for query in self.pending.of.iter_mut().chain(&mut self.awaited.of) {
            query.renumber(now);
        }
        self.constraints.renumber(now);
        self.current.truth.iter_mut().for_each(|t| *t = t.map(|c| now[c as usize]));
        self.current.predictions.iter_mut().for_each(|s| s.renumber(now));
        if let Some(classifier) = &mut self.classifier
            && !classifier.renumber(now)
        {
            self.classifier = None; // the order of its outputs has changed; the new label rebuilds it
        }
        if let Some(inferred) = &mut self.inferred
            && !inferred.renumber(now)
        {
            self.inferred = None;
        }
    }

    /// Adds a pending query.
    pub(super) fn add_query(&mut self, chosen: Selection, trial: Option<ArmTrial>) {
        let Selection { row, why, .. } = chosen;
        self.current.asked[row] = true;
        self.pending.rows.push(self.current.x.view().row(row));
        self.pending.of.push(PendingQuery {
            sample: self.current.sample_of(row),
            row: self.current.number_of(row) as u32,
            why,
            reference: None,
            compared: 0,
            predictions: self.current.predictions[row],
            trial,
            in_round: true,
        });
    }
}
