//! Memory of true labels, with a maximum size.

use super::event::QueryReason;
use super::feature_space::FeatureSpace;
use crate::data::{Matrix, MatrixView, Row};
use crate::error::{Error, Result};
use crate::solver::Watch;
use crate::summary::{ExemplarParams, Pool, choose};
use serde::{Deserialize, Serialize};

/// Labeled sample, without its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabeledSample {
    /// Number of the sample in the stream.
    pub sample: u64,
    /// Number of the class.
    pub class: u32,
    /// Number of the batch in which the label arrived.
    pub batch: u64,
    /// Reason for the query; `None` for a sample that arrived with its label or was never queried.
    pub why: Option<QueryReason>,
    /// For a label implied by pairwise constraints, a sample from whose label it follows.
    pub follows: Option<u64>,
}

/// Labeled samples with their rows, in the order in which the labels arrived.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LabelMemory {
    rows: Matrix,
    labeled: Vec<LabeledSample>,
}

impl LabelMemory {
    /// An empty memory.
    pub fn new(cols: usize, sparse: bool) -> Self {
        Self { rows: Matrix::empty(cols, sparse), labeled: Vec::new() }
    }

    /// Rows of the labeled samples.
    pub fn rows(&self) -> MatrixView<'_> {
        self.rows.view()
    }

    /// Labeled samples, one per row.
    pub fn labeled(&self) -> &[LabeledSample] {
        &self.labeled
    }

    /// Number of labels.
    pub fn len(&self) -> usize {
        self.labeled.len()
    }

    /// Whether there are no labels.
    pub fn is_empty(&self) -> bool {
        self.labeled.is_empty()
    }

    /// Number of labels of each class.
    pub fn counts(&self, classes: usize) -> Vec<usize> {
        let mut counts = vec![0; classes];
        self.labeled.iter().for_each(|t| counts[t.class as usize] += 1);
        counts
    }

    /// Position of a sample.
    pub fn find(&self, sample: u64) -> Option<usize> {
        self.labeled.iter().rposition(|t| t.sample == sample)
    }

    pub(super) fn push(&mut self, row: Row<'_>, labeled: LabeledSample) {
        self.rows.push(row);
        self.labeled.push(labeled);
    }

    /// Changes a label; `follows` as in [`LabeledSample`].
    pub(super) fn relabel(&mut self, at: usize, class: u32, follows: Option<u64>) {
        self.labeled[at].class = class;
        self.labeled[at].follows = follows;
    }

    pub(super) fn remove(&mut self, at: usize) {
        let keep: Vec<usize> = (0..self.len()).filter(|&i| i != at).collect();
        self.keep(&keep);
    }

    /// Keeps the samples at these positions, in this order.
    pub(super) fn keep(&mut self, keep: &[usize]) {
        if keep.len() < self.len() {
            self.rows = self.rows.view().select(keep);
            self.labeled = keep.iter().map(|&i| self.labeled[i]).collect();
        }
    }

    /// Changes the number of class c to `now[c]`.
    pub(super) fn renumber(&mut self, now: &[u32]) {
        self.labeled.iter_mut().for_each(|t| t.class = now[t.class as usize]);
    }

    /// If there are more than `max` labels, keeps four fifths of `max`, distributed over the classes by [`quotas`], and
    /// of each class the exemplars of its rows. Returns whether labels were evicted.
    pub(super) fn evict_excess(
        &mut self,
        max: usize,
        classes: usize,
        exemplars: &ExemplarParams,
        watch: &dyn Watch,
    ) -> bool {
        if self.len() <= max {
            return false;
        }
        let quotas = quotas(&self.counts(classes), max * 4 / 5);
        let mut keep = Vec::with_capacity(max);
        for (class, &quota) in quotas.iter().enumerate() {
            let own: Vec<usize> =
                (0..self.len()).filter(|&i| self.labeled[i].class as usize == class).collect();
            if own.len() <= quota {
                keep.extend(own);
                continue;
            }
            let rows = self.rows.view().select(&own);
            let picks = choose(exemplars, &Pool::of(rows.view()), quota, watch);
            // if the kernel cannot compare these rows, the newest stay
            let picks = picks.map_or_else(|_| (own.len() - quota..own.len()).collect(), |p| p.order);
            keep.extend(picks.iter().map(|&p| own[p]));
        }
        keep.sort_unstable();
        self.keep(&keep);
        true
    }

    /// Applies a change to all rows.
    pub(super) fn map_rows(&mut self, change: impl Fn(&mut Matrix)) {
        change(&mut self.rows);
    }

    /// Returns an error if parts do not fit together (a file may hold anything).
    pub(super) fn check(&self, space: &FeatureSpace, classes: usize, rows: u64, batches: u64) -> Result<()> {
        space.check_rows(&self.rows)?;
        let mut samples: Vec<u64> = self.labeled.iter().map(|t| t.sample).collect();
        samples.sort_unstable();
        let fits = self.rows.rows() == self.labeled.len()
            && self.labeled.iter().all(|t| (t.class as usize) < classes && t.batch <= batches)
            && samples.windows(2).all(|s| s[0] < s[1])
            && samples.last().is_none_or(|s| *s < rows);
        if fits { Ok(()) } else { Err(Error::State("its labels do not match their samples".into())) }
    }
}

/// Distributes `max` labels over the classes: equally, except that small classes are kept whole and their unused part
/// goes to the larger ones. Returns the number of labels to keep of each class.
fn quotas(counts: &[usize], max: usize) -> Vec<usize> {
    let mut quotas = vec![0; counts.len()];
    let mut order: Vec<usize> = (0..counts.len()).collect();
    order.sort_by_key(|&c| (counts[c], c));
    let mut left = max;
    for (k, &c) in order.iter().enumerate() {
        let equal = left / (order.len() - k);
        quotas[c] = counts[c].min(equal);
        left -= quotas[c];
    }
    quotas
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotas_keep_small_classes_whole() {
        assert_eq!(quotas(&[100, 3, 50], 60), [29, 3, 28]);
        assert_eq!(quotas(&[100, 0], 60), [60, 0]);
        assert_eq!(quotas(&[10, 10], 60), [10, 10]);
        assert_eq!(quotas(&[], 60), [0usize; 0]);
    }
}
