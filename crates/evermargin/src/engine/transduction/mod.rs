//! Transduction for the batches of a stream: SUBMOD-S3VM over the batch and a bounded memory of the past.
//!
//! Problem: label the unlabeled samples of a batch Bₜ from few labels and from the structure of all samples, when the
//! stream does not fit into memory. Source: Emara 2012, chapter IV (digest section 8). At each step all stored rows are
//! labeled again, so that early mistakes do not persist: the batch, the previous batch, and exemplars E of everything
//! older, whose labels are not stored. Then E and the previous batch are summarized by [`crate::summary`]: the number
//! of exemplars grows by tenths until the labels of the batch are the same as with all of these rows, except for a
//! share `tolerance` (0 is the strict procedure of the source, 0.05 its tolerant one), and it never exceeds |B|. Memory
//! therefore holds three batches and the labels. The density of the batch counts in the choice of exemplars
//! (`next_batch_weight`, the inter-batch dependence of the source). With a linear kernel, the mean of the evicted
//! samples of each class is stored, too (`evicted_centroids.rs`), to compensate for the little structure in three small
//! batches.
//!
//! Departures:
//! - κ = 2ρl/n for each pool, because with a fixed κ the cut dominates the labels as pools grow.
//! - Exemplars are chosen once, up to the maximum, and their prefixes are the smaller summaries.
//! - Every exemplar carries the number of samples it represents, but counts as one row in the share of positives; with
//!   `weigh` that number counts in the cut.
//! - The mean of evicted samples counts in the cut as half κ for each of them, as the samples themselves would. It has
//!   the same weight in the center of the rows, and does not count in the share of positives.
//! - Unless two classes have labels, nothing is labeled, and only the summary is updated.

mod params;
mod pool;
mod summarize;
#[cfg(test)]
mod tests;

pub use params::{MemoryPolicy, TransductionParams};

use super::MAX_COUNT;
use super::evicted_centroids::EvictedCentroids;
use super::feature_space::FeatureSpace;
use super::label_sources::evenly;
use crate::data::{Matrix, MatrixView};
use crate::error::{Error, Result};
use crate::estimators::Fit;
use crate::kernel::Kernel;
use crate::solver::Watch;
use pool::{compact, problems, shares};
use serde::{Deserialize, Serialize};

/// Known labels.
#[derive(Debug, Clone, Copy)]
pub struct LabeledRows<'a> {
    /// Labeled samples.
    pub x: MatrixView<'a>,
    /// Class number of each sample.
    pub class: &'a [u32],
    /// Number of classes.
    pub classes: usize,
    /// Share of each class among unlabeled samples; empty = as among the labels.
    pub shares: &'a [f64],
}

/// Label inferred by transduction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TransductiveLabel {
    /// Number of the class.
    pub class: u32,
    /// Distance from the threshold; 1 is the mean distance.
    pub confidence: f64,
}

/// Result of summarizing the past.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct SummaryReport {
    /// Number of exemplars.
    pub exemplars: usize,
    /// Cost of summarization: share of the labels of the batch that differ if the past is replaced by its summary.
    pub cost: f64,
    /// Number of summary sizes that were tried.
    pub rounds: usize,
}

/// Bounded memory of unlabeled samples, and transduction over it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Transduction {
    params: TransductionParams,
    exemplars: Matrix,
    /// Number of samples that each exemplar represents.
    weight: Vec<f64>,
    previous: Matrix,
    /// Number of batches so far.
    batches: u64,
    /// Number of rows of the largest batch so far.
    largest: usize,
    #[serde(default)]
    evicted: EvictedCentroids,
}

impl Transduction {
    /// An empty memory.
    pub fn new(params: &TransductionParams, cols: usize, sparse: bool) -> Result<Self> {
        params.check()?;
        let none = Matrix::empty(cols, sparse);
        let (exemplars, previous) = (none.clone(), none);
        let (params, weight, evicted) = (params.clone(), Vec::new(), EvictedCentroids::new(cols, sparse));
        Ok(Self { params, exemplars, weight, previous, batches: 0, largest: 0, evicted })
    }

    /// Exemplars of all batches except the latest.
    pub fn exemplars(&self) -> &Matrix {
        &self.exemplars
    }

    /// Number of samples that each exemplar represents.
    pub fn weights(&self) -> &[f64] {
        &self.weight
    }

    /// Number of stored exemplars and rows of the latest batch, without the means of evicted samples.
    pub fn len(&self) -> usize {
        self.exemplars.rows() + self.previous.rows()
    }

    /// Whether no samples are stored.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Labels for the rows of a batch; `None` unless at least two classes have labels.
    pub fn label(
        &self,
        known: LabeledRows<'_>,
        batch: MatrixView<'_>,
        watch: &dyn Watch,
    ) -> Result<Option<Vec<TransductiveLabel>>> {
        self.label_with_share(known, batch, 1.0, watch)
    }

    /// As [`Transduction::label`], with only a share of the stored rows, evenly spaced, to save time.
    pub(in crate::engine) fn label_with_share(
        &self,
        known: LabeledRows<'_>,
        batch: MatrixView<'_>,
        share: f64,
        watch: &dyn Watch,
    ) -> Result<Option<Vec<TransductiveLabel>>> {
        let max = (share * self.len() as f64) as usize;
        let some = |x: &Matrix| evenly(x.rows(), max, self.len());
        let (newest, older) = (some(&self.previous), some(&self.exemplars));
        let weight: Vec<f64> = older.iter().map(|&i| self.weight[i]).collect();
        let (newest, older) = (self.previous.view().select(&newest), self.exemplars.view().select(&older));
        let past = [(newest.view(), None), (older.view(), Some(weight.as_slice()))];
        self.label_among(known, batch, &past, (&self.evicted, self.trust(known).unwrap_or(0.0)), watch)
    }

    fn trust(&self, known: LabeledRows<'_>) -> Option<f64> {
        self.params.uses_evicted_centroids().then(|| self.evicted.trust(known.x, known.class)).flatten()
    }

    /// Labels for the rows of a batch, from the batch, the known labels, samples of the past with their weights, and
    /// the means of evicted samples, whose weight is multiplied by `trust`.
    fn label_among(
        &self,
        known: LabeledRows<'_>,
        batch: MatrixView<'_>,
        past: &[(MatrixView<'_>, Option<&[f64]>)],
        (evicted, trust): (&EvictedCentroids, f64),
        watch: &dyn Watch,
    ) -> Result<Option<Vec<TransductiveLabel>>> {
        let l = known.x.rows();
        let present: Vec<u32> = (0..known.classes as u32).filter(|c| known.class.contains(c)).collect();
        if present.len() < 2 || batch.rows() == 0 {
            return Ok(None);
        }
        let mut cost = vec![1.0; l + batch.rows()];
        let mut parts = vec![known.x, batch];
        for &(rows, weight) in past {
            parts.push(rows);
            match weight.filter(|_| self.params.weigh) {
                Some(weight) => cost.extend_from_slice(weight),
                None => cost.resize(cost.len() + rows.rows(), 1.0),
            }
        }
        let mut x = Matrix::stacked(&parts);
        let left: Vec<_> = evicted.classes().filter(|(c, ..)| trust > 0.0 && present.contains(c)).collect();
        let n = cost[l..].iter().sum::<f64>() + trust * left.iter().map(|(.., count)| count).sum::<f64>();
        let kappa = 2.0 * self.params.rho * l as f64 / n;
        let (rows, mut class) = (x.rows(), known.class.iter().copied().map(Some).collect::<Vec<_>>());
        class.resize(rows, None);
        for (c, mean, count) in left {
            x.push(mean);
            class.push(Some(c));
            cost.push(0.5 * kappa * trust * count);
        }
        let x = compact(x, rows);
        let problems = problems(&class, &present, &cost);
        let params = self.params.submod(shares(known, &present), kappa);
        let scores = params.transduce(x.view(), &problems, watch)?.scores;
        let of = |i: usize| match scores.as_slice() {
            [f] => TransductiveLabel { class: present[usize::from(f[i] > 0.0)], confidence: f[i].abs() },
            many => largest_score(many, &present, i),
        };
        Ok(Some((l..l + batch.rows()).map(of).collect()))
    }

    /// Stored rows: exemplars and the latest batch.
    pub(in crate::engine) fn rows(&self) -> [MatrixView<'_>; 2] {
        [self.exemplars.view(), self.previous.view()]
    }

    /// Sets the kernel.
    pub(in crate::engine) fn set_kernel(&mut self, kernel: Kernel) {
        self.params.kernel = kernel;
    }

    /// Applies a change to all rows.
    pub(in crate::engine) fn map_rows(&mut self, change: impl Fn(&mut Matrix) + Copy) {
        change(&mut self.exemplars);
        change(&mut self.previous);
        self.evicted.map_rows(change);
    }

    /// Changes the number of class c to `now[c]`.
    pub(in crate::engine) fn renumber(&mut self, now: &[u32]) {
        self.evicted.renumber(now);
    }

    /// Returns an error if parts do not fit together (a file may hold anything).
    pub(in crate::engine) fn check(
        &self,
        feature_space: &FeatureSpace,
        params: &TransductionParams,
        classes: usize,
        max_rows: usize,
    ) -> Result<()> {
        self.evicted.check(feature_space.cols(), classes)?;
        [&self.exemplars, &self.previous].into_iter().try_for_each(|x| feature_space.check_rows(x))?;
        if self.evicted.classes().next().is_some() {
            feature_space.check_rows(self.evicted.means())?;
        }
        let bounded = self.params.remember != MemoryPolicy::Everything;
        let fits = self.params == params.with_kernel(feature_space.kernel)
            && self.largest <= max_rows
            && self.batches <= MAX_COUNT
            && self.previous.rows() <= max_rows
            && (!bounded || self.exemplars.rows() <= self.max_exemplars())
            && self.exemplars.rows() == self.weight.len()
            && self.weight.iter().all(|w| (0.0..=1e18).contains(w));
        if fits {
            Ok(())
        } else {
            Err(Error::State("its exemplars do not match their weights or its parameters".into()))
        }
    }
}

/// Class with the largest score, and half the difference from the second largest.
fn largest_score(scores: &[Vec<f64>], present: &[u32], i: usize) -> TransductiveLabel {
    let (mut best, mut next) = ((0, f64::NEG_INFINITY), f64::NEG_INFINITY);
    for (&c, f) in present.iter().zip(scores) {
        if f[i] > best.1 {
            (next, best) = (best.1, (c, f[i]));
        } else {
            next = next.max(f[i]);
        }
    }
    TransductiveLabel { class: best.0, confidence: 0.5 * (best.1 - next) }
}
