//! All of the engine that depends on what samples look like.

use super::classifier::{FeatureSpace, StreamClassifier};
use super::pairwise_constraints::PairwiseConstraints;
use super::query_context::Selection;
use super::transduction::Transduction;
use super::{Classes, LabelMemory, QueryReason, Question};
use crate::data::Matrix;
use crate::model::Scaling;
use serde::{Deserialize, Serialize};

/// What was said about a sample when it arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct RowPrediction {
    pub(super) given: Option<u32>,
    pub(super) model: Option<u32>,
    pub(super) transduction: Option<u32>,
}

impl RowPrediction {
    pub(super) fn renumber(&mut self, now: &[u32]) {
        for predictions in [&mut self.given, &mut self.model, &mut self.transduction] {
            *predictions = predictions.map(|c| now[c as usize]);
        }
    }
}

/// The batch that is being asked about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct CurrentBatch {
    /// Number of its first sample.
    pub(super) base: u64,
    pub(super) x: Matrix,
    /// Classes of the rows that are known.
    pub(super) truth: Vec<Option<u32>>,
    pub(super) asked: Vec<bool>,
    /// What was said about the rows when they arrived.
    pub(super) predictions: Vec<RowPrediction>,
    pub(super) closed: bool,
    /// Whether a label came since it was labeled.
    pub(super) has_new_labels: bool,
}

/// Questions that wait for an answer: each with a copy of its sample, which may be forgotten meanwhile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct PendingQueries {
    pub(super) rows: Matrix,
    pub(super) of: Vec<PendingQuery>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PendingQuery {
    pub(super) sample: u64,
    pub(super) why: QueryReason,
    pub(super) predictions: RowPrediction,
    /// Whether it is one of the batch that is being asked about.
    pub(super) in_round: bool,
}

impl PendingQueries {
    pub(super) fn find(&self, sample: u64) -> Option<usize> {
        self.of.iter().position(|q| q.sample == sample)
    }

    pub(super) fn remove(&mut self, at: usize) -> (PendingQuery, Matrix) {
        let row = self.rows.view().select(&[at]);
        let keep: Vec<usize> = (0..self.of.len()).filter(|&i| i != at).collect();
        self.rows = self.rows.view().select(&keep);
        (self.of.remove(at), row)
    }

    /// Only the newest stay open.
    pub(super) fn cap(&mut self, most: usize) {
        if self.of.len() > most {
            let keep: Vec<usize> = (self.of.len() - most..self.of.len()).collect();
            self.rows = self.rows.view().select(&keep);
            self.of.drain(..self.of.len() - most);
        }
    }
}

/// All that depends on what samples look like, fixed by the first batch.
#[derive(Debug)]
pub(super) struct StreamState {
    pub(super) scaling: Scaling,
    pub(super) frame: FeatureSpace,
    pub(super) memory: LabelMemory,
    pub(super) inductive: Option<StreamClassifier>,
    pub(super) transduction: Option<Transduction>,
    pub(super) current: CurrentBatch,
    pub(super) open: PendingQueries,
    pub(super) relations: PairwiseConstraints,
}

impl CurrentBatch {
    pub(super) fn row_of(&self, sample: u64) -> Option<usize> {
        sample.checked_sub(self.base).map(|r| r as usize).filter(|r| *r < self.truth.len())
    }
}

impl StreamState {
    /// Whether a sample is at hand.
    pub(super) fn holds(&self, sample: u64) -> bool {
        self.memory.find(sample).is_some()
            || self.open.find(sample).is_some()
            || self.current.row_of(sample).is_some()
    }

    /// Labels that followed from that of a sample are known no more.
    pub(super) fn withdraw_implied_labels(&mut self, sample: u64) {
        self.current.has_new_labels = true;
        for other in self.memory.remove_implied(sample) {
            if let Some(row) = self.current.row_of(other) {
                self.current.truth[row] = None;
            }
        }
    }

    /// The row of a sample that has no label yet.
    pub(super) fn sample(&self, sample: u64) -> Option<Matrix> {
        if let Some(at) = self.open.find(sample) {
            return Some(self.open.rows.view().select(&[at]));
        }
        self.current.row_of(sample).map(|row| self.current.x.view().select(&[row]))
    }

    pub(super) fn renumber(&mut self, now: &[u32]) {
        self.memory.renumber(now);
        self.transduction.iter_mut().for_each(|t| t.renumber(now));
        self.open.of.iter_mut().for_each(|q| q.predictions.renumber(now));
        self.current.truth.iter_mut().for_each(|t| *t = t.map(|c| now[c as usize]));
        self.current.predictions.iter_mut().for_each(|s| s.renumber(now));
        if let Some(machine) = &mut self.inductive
            && !machine.renumber(now)
        {
            self.inductive = None; // its outputs are in another order; it is made anew with the label that comes
        }
    }

    /// Opens a question.
    pub(super) fn question(&mut self, chosen: Selection, classes: &Classes) -> Question {
        let Selection { row, why, closeness } = chosen;
        let (sample, predictions) = (self.current.base + row as u64, self.current.predictions[row]);
        self.current.asked[row] = true;
        self.open.rows.push(self.current.x.view().row(row));
        self.open.of.push(PendingQuery { sample, why, predictions, in_round: true });
        let guess = predictions.given.map(|c| classes.names()[c as usize].clone());
        Question { sample, row, why, guess, closeness }
    }
}
