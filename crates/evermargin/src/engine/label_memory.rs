//! True labels: the samples people spoke about, up to a cap.

use super::event::QueryReason;
use super::feature_space::FeatureSpace;
use crate::data::{Matrix, MatrixView, Row};
use crate::error::{Error, Result};
use crate::solver::Watch;
use crate::summary::{ExemplarParams, Pool, choose};
use serde::{Deserialize, Serialize};

/// A sample with a label, beside its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabeledSample {
    /// Number of the sample in the stream.
    pub sample: u64,
    /// Number of its class.
    pub class: u32,
    /// Number of the batch in which the label came.
    pub batch: u64,
    /// Why it was asked about; none if it came with its label or follows from another.
    pub why: Option<QueryReason>,
    /// Set where the label follows from pairs of samples: a sample whose label it follows from.
    pub follows: Option<u64>,
}

/// Samples with labels, in the order in which these came.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LabelMemory {
    rows: Matrix,
    labeled: Vec<LabeledSample>,
}

impl LabelMemory {
    /// Nothing is known.
    pub fn new(cols: usize, sparse: bool) -> Self {
        Self { rows: Matrix::empty(cols, sparse), labeled: Vec::new() }
    }

    /// The samples.
    pub fn rows(&self) -> MatrixView<'_> {
        self.rows.view()
    }

    /// What is known about them.
    pub fn labeled(&self) -> &[LabeledSample] {
        &self.labeled
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.labeled.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.labeled.is_empty()
    }

    /// Labels of each class.
    pub fn counts(&self, classes: usize) -> Vec<usize> {
        let mut counts = vec![0; classes];
        self.labeled.iter().for_each(|t| counts[t.class as usize] += 1);
        counts
    }

    /// Where a sample is.
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

    /// Keeps the samples named, in their order.
    pub(super) fn keep(&mut self, keep: &[usize]) {
        if keep.len() < self.len() {
            self.rows = self.rows.view().select(keep);
            self.labeled = keep.iter().map(|&i| self.labeled[i]).collect();
        }
    }

    /// Renumbers the classes.
    pub(super) fn renumber(&mut self, now: &[u32]) {
        self.labeled.iter_mut().for_each(|t| t.class = now[t.class as usize]);
    }

    /// When there are more than `max`: four fifths of that stay, of every class its share, but of none less than an
    /// equal part; of each class those that stand for the others best. Says whether any went.
    pub(super) fn thin(
        &mut self,
        max: usize,
        classes: usize,
        how: &ExemplarParams,
        watch: &dyn Watch,
    ) -> bool {
        if self.len() <= max {
            return false;
        }
        let rooms = rooms(&self.counts(classes), max * 4 / 5);
        let mut keep = Vec::with_capacity(max);
        for (class, &room) in rooms.iter().enumerate() {
            let own: Vec<usize> =
                (0..self.len()).filter(|&i| self.labeled[i].class as usize == class).collect();
            if own.len() <= room {
                keep.extend(own);
                continue;
            }
            let rows = self.rows.view().select(&own);
            let picks = choose(how, &Pool::of(rows.view()), room, watch);
            // a kernel that cannot compare these rows: the newest stay
            let picks = picks.map_or_else(|_| (own.len() - room..own.len()).collect(), |p| p.order);
            keep.extend(picks.iter().map(|&p| own[p]));
        }
        keep.sort_unstable();
        self.keep(&keep);
        true
    }

    /// Changes all rows together.
    pub(super) fn map_rows(&mut self, change: impl Fn(&mut Matrix)) {
        change(&mut self.rows);
    }

    /// Refuses parts that do not fit together (a file may say anything).
    pub(super) fn check(&self, frame: &FeatureSpace, classes: usize, rows: u64, batches: u64) -> Result<()> {
        frame.check_rows(&self.rows)?;
        let mut samples: Vec<u64> = self.labeled.iter().map(|t| t.sample).collect();
        samples.sort_unstable();
        let fits = self.rows.rows() == self.labeled.len()
            && self.labeled.iter().all(|t| (t.class as usize) < classes && t.batch <= batches)
            && samples.windows(2).all(|s| s[0] < s[1])
            && samples.last().is_none_or(|s| *s < rows);
        if fits { Ok(()) } else { Err(Error::State("its labels and their samples differ".into())) }
    }
}

/// How many of each class stay of `max`: small classes whole, what they leave goes to the larger ones.
fn rooms(counts: &[usize], max: usize) -> Vec<usize> {
    let mut rooms = vec![0; counts.len()];
    let mut order: Vec<usize> = (0..counts.len()).collect();
    order.sort_by_key(|&c| (counts[c], c));
    let mut left = max;
    for (k, &c) in order.iter().enumerate() {
        let equal = left / (order.len() - k);
        rooms[c] = counts[c].min(equal);
        left -= rooms[c];
    }
    rooms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_classes_stay_whole() {
        assert_eq!(rooms(&[100, 3, 50], 60), [29, 3, 28]);
        assert_eq!(rooms(&[100, 0], 60), [60, 0]);
        assert_eq!(rooms(&[10, 10], 60), [10, 10]);
        assert_eq!(rooms(&[], 60), [0usize; 0]);
    }
}
