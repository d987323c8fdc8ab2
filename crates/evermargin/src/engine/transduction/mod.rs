//! Labels for the batches of a stream from structure: SUBMOD-S3VM over what is remembered of it.
//!
//! Problem: label the unlabeled samples of a batch Bₜ by the few labels there are and by how all samples lie, when the
//! stream does not fit into memory. Source: Emara 2012, chapter IV (digest section 8). All that is at hand is labeled
//! anew at each step, so that early mistakes do not last: the batch, the batch before it, and exemplars E of everything
//! older, whose labels are not kept. Afterward E and the batch before it are summarized by [`crate::summary`]: their
//! number grows by tenths until the labels of the batch come out as they did with all of them, but for a share
//! `tolerance` (0 is the source's strict procedure, 0.05 its tolerant one), and never beyond |B|. So memory is three
//! batches and the labels. The batch lends its density to what is remembered (`next_batch_weight`, the source's inter-batch
//! dependence). With a linear kernel one more sample per class is kept, the mean of those that are remembered no more
//! (`evicted_centroids.rs`), which makes up for what three small batches cannot show.
//!
//! Departures: κ = 2ρl/n of each pool, because a fixed one drowns the labels as pools grow; exemplars are chosen once, to
//! the cap, and their prefixes are the smaller summaries; every exemplar carries the number of samples it stands for, but
//! counts as one row in the share of positives (`weigh` lets it count in the cut); the mean of a class that left counts in the
//! cut as half κ for each of its samples, as these would, in the center of the rows with the same weight, and not in the share. Without labels of two classes nothing
//! is labeled, and summaries go on.

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

/// The labels there are.
#[derive(Debug, Clone, Copy)]
pub struct LabeledRows<'a> {
    /// Samples with a label.
    pub x: MatrixView<'a>,
    /// Number of the class of each.
    pub class: &'a [u32],
    /// Number of classes.
    pub classes: usize,
    /// Share of every class among samples without a label; empty = as among the labels.
    pub shares: &'a [f64],
}

/// A label given to a sample.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TransductiveLabel {
    /// Number of the class.
    pub class: u32,
    /// How sure: 1 is the mean distance from the threshold.
    pub confidence: f64,
}

/// What summarizing told.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct SummaryReport {
    /// Exemplars now.
    pub exemplars: usize,
    /// Share of the labels of the batch that would have come out otherwise with the summary: the cost of summarization.
    pub cost: f64,
    /// Sizes that were tried.
    pub rounds: usize,
}

/// What is remembered of the samples without a label.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Transduction {
    params: TransductionParams,
    exemplars: Matrix,
    /// Samples each exemplar stands for.
    weight: Vec<f64>,
    previous: Matrix,
    /// Batches so far.
    batches: u64,
    /// Samples of the largest batch so far.
    largest: usize,
    #[serde(default)]
    evicted: EvictedCentroids,
}

impl Transduction {
    /// Nothing seen yet.
    pub fn new(params: &TransductionParams, cols: usize, sparse: bool) -> Result<Self> {
        params.check()?;
        let none = Matrix::empty(cols, sparse);
        let (exemplars, previous) = (none.clone(), none);
        let (params, weight, evicted) = (params.clone(), Vec::new(), EvictedCentroids::new(cols, sparse));
        Ok(Self { params, exemplars, weight, previous, batches: 0, largest: 0, evicted })
    }

    /// Exemplars of all but the last batch.
    pub fn exemplars(&self) -> &Matrix {
        &self.exemplars
    }

    /// Samples each exemplar stands for.
    pub fn weights(&self) -> &[f64] {
        &self.weight
    }

    /// Samples kept, exemplars and last batch; beside them one mean a class.
    pub fn len(&self) -> usize {
        self.exemplars.rows() + self.previous.rows()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Labels for the rows of a batch; none unless labels of two classes are known.
    pub fn label(
        &self,
        known: LabeledRows<'_>,
        batch: MatrixView<'_>,
        watch: &dyn Watch,
    ) -> Result<Option<Vec<TransductiveLabel>>> {
        self.label_with_share(known, batch, 1.0, watch)
    }

    /// The same with a share of the remembered rows, evenly spaced, which costs less.
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

    /// Labels for the rows of a batch that follow from it, the labels, samples of the past with their weights, and those
    /// that left, as far as they are believed.
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

    /// The rows it keeps.
    pub(in crate::engine) fn rows(&self) -> [MatrixView<'_>; 2] {
        [self.exemplars.view(), self.previous.view()]
    }

    /// Compares rows by another kernel from now on.
    pub(in crate::engine) fn set_kernel(&mut self, kernel: Kernel) {
        self.params.kernel = kernel;
    }

    /// Changes all rows together.
    pub(in crate::engine) fn map_rows(&mut self, change: impl Fn(&mut Matrix) + Copy) {
        change(&mut self.exemplars);
        change(&mut self.previous);
        self.evicted.map_rows(change);
    }

    /// Class c has the number `now[c]`.
    pub(in crate::engine) fn renumber(&mut self, now: &[u32]) {
        self.evicted.renumber(now);
    }

    /// Refuses parts that do not fit together (a file may say anything).
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
        if fits { Ok(()) } else { Err(Error::State("its exemplars and their weights differ".into())) }
    }
}

/// The class with the largest score, and half its lead.
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
