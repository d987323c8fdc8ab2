//! Pool of rows in which a batch is labeled, and the scores of each source for them.

use super::Source;
use crate::data::{Label, Matrix, MatrixView};
use crate::engine::transduction::{LabeledRows, Transduction};
use crate::error::Result;
use crate::estimators::auto::{Scores, ShareBounds, nearest_graph, standardize_rows};
use crate::estimators::supervised::svc::SvcParams;
use crate::estimators::transductive::Ratio;
use crate::estimators::transductive::class_shares::evidence_of_counts;
use crate::estimators::transductive::label_propagation::{LabelPropagationParams, Method};
use crate::estimators::transductive::ratio::{Effort, estimate_ratio_within};
use crate::estimators::transductive::tsvm::TsvmParams;
use crate::estimators::{Fit, Targets};
use crate::graph::Graph;
use crate::kernel::Kernel;
use crate::kernel::gram::{Gram, MatrixGram, Packed};
use crate::solver::Watch;
use std::ops::Range;
use std::sync::Arc;

/// Number of nearest neighbors of each row in the graph of the pool.
const NEIGHBORS: usize = 10;

/// Tolerance of the transductive SVM: its labels converge long before its coefficients.
const TSVM_TOLERANCE: f64 = 1e-2;

/// Number of labels up to which each label makes the bounds of the class shares narrower. More labels make them wider
/// again, because the boundary is known then, and the shares of one batch may differ from those of all labels.
const BOUND_LABELS: f64 = 20.0;

/// Maximum number of solver steps per row.
const MAX_STEPS_PER_ROW: u64 = 100;

/// Lower bound of the maximum number of solver steps, for small pools.
const MIN_STEPS: u64 = 20_000;

/// Weight, in labels, of the predictions of the classifier in the estimate of the class shares.
const VOTES: f64 = 4.0;

/// Maximum of rows × outputs for the transductive SVM, whose cost grows with the square of the rows; larger pools omit
/// it.
const MAX_TSVM_WORK: usize = 6000;

/// Tolerance of the fits from which the shares of two classes are estimated: relevant minima are deeper than this
/// error.
const SHARE_TOLERANCE: f64 = 0.1;

/// Maximum number of stored values in the rows from which the shares of two classes are estimated.
const MAX_SHARE_VALUES: f64 = 40_000.0;

/// Minimum and maximum number of rows from which the shares of two classes are estimated.
const SHARE_ROWS: (usize, usize) = (50, 200);

/// Evenly spaced positions among `rows` rows, in proportion max/`count`; all positions if `count` ≤ `max`. A pool of
/// `count` rows in several parts is thus reduced to about `max` rows.
pub(in crate::engine) fn evenly(rows: usize, max: usize, count: usize) -> Vec<usize> {
    if count <= max {
        return (0..rows).collect();
    }
    (0..rows).filter(|i| (i + 1) * max / count > i * max / count).collect()
}

/// Number of labels of each class that no query strategy chose, weighted as evidence about the class shares: balanced
/// counts have little weight, because the user most likely chose them that way.
fn representative_counts(class: &[usize], unchosen: &[bool], classes: usize) -> Vec<f64> {
    let mut counts = vec![0; classes];
    class.iter().zip(unchosen).filter(|(_, unchosen)| **unchosen).for_each(|(&c, _)| counts[c] += 1);
    let evidence = evidence_of_counts(&counts) / counts.iter().sum::<usize>().max(1) as f64;
    counts.iter().map(|&count| evidence * count as f64).collect()
}

/// Pool of rows: labeled rows first, then unlabeled ones.
pub(in crate::engine) struct Pool<'a> {
    pub(super) x: Matrix,
    /// Class of each label, as a position in `present`.
    pub(super) class: Vec<usize>,
    /// Weight of each label as evidence about the stream.
    pub(super) weight: Vec<f64>,
    /// Numbers of the classes that have labels.
    pub(super) present: Vec<u32>,
    /// Positions of the rows of the batch.
    batch: Range<usize>,
    transduction: Option<&'a Transduction>,
    /// Share of the unlabeled rows that are in the pool.
    share: f64,
    /// Class number of each label.
    number: Vec<u32>,
    classes: usize,
    kernel: Kernel,
    c: f64,
    /// Share of each class, by class number; empty = as among the labels.
    shares: Vec<f64>,
    /// Bounds of the shares of the present classes.
    pub(super) bounds: ShareBounds,
    /// Evidence about the share of each present class, as a number of labels.
    counts: Vec<f64>,
    graph: Option<Arc<Graph>>,
    /// Kernel values of all pairs of rows, where several fits share them.
    pub(super) kernel_values: Option<Matrix>,
}

/// Input from which a pool is built.
pub(in crate::engine) struct PoolParts<'a> {
    pub(in crate::engine) labels: MatrixView<'a>,
    pub(in crate::engine) number: Vec<u32>,
    /// Weight of each label as evidence about the stream.
    pub(in crate::engine) weight: Vec<f64>,
    /// Whether no query strategy chose the label, for each label. Only such labels are evidence about class shares.
    pub(in crate::engine) unchosen: Vec<bool>,
    pub(in crate::engine) classes: usize,
    pub(in crate::engine) batch: MatrixView<'a>,
    pub(in crate::engine) transduction: Option<&'a Transduction>,
    pub(in crate::engine) kernel: Kernel,
    pub(in crate::engine) c: f64,
    pub(in crate::engine) shares: Vec<f64>,
    /// Whether the shares were given by the user.
    pub(in crate::engine) exact: bool,
    /// Maximum number of unlabeled rows; more are thinned evenly.
    pub(in crate::engine) max_unlabeled: usize,
}

impl<'a> Pool<'a> {
    /// Builds a pool; `None` unless at least two classes have labels and the batch has rows.
    pub(in crate::engine) fn new(parts: PoolParts<'a>) -> Option<Self> {
        let present: Vec<u32> = (0..parts.classes as u32).filter(|c| parts.number.contains(c)).collect();
        if present.len() < 2 || parts.batch.rows() == 0 {
            return None;
        }
        let class: Vec<usize> =
            parts.number.iter().map(|c| present.binary_search(c).unwrap_or_default()).collect();
        let past = parts.transduction.iter().flat_map(|t| t.rows());
        let unlabeled: Vec<MatrixView<'_>> = std::iter::once(parts.batch).chain(past).collect();
        let count: usize = unlabeled.iter().map(MatrixView::rows).sum();
        // at least one row of the batch is kept, even if it is small compared with the exemplars
        let some = |(part, x): (usize, &MatrixView<'_>)| {
            let kept = evenly(x.rows(), parts.max_unlabeled, count);
            if part == 0 && kept.is_empty() { x.select(&[0]) } else { x.select(&kept) }
        };
        let kept: Vec<Matrix> = unlabeled.iter().enumerate().map(some).collect();
        let rows: Vec<MatrixView<'_>> =
            std::iter::once(parts.labels).chain(kept.iter().map(Matrix::view)).collect();
        let x = Matrix::stacked(&rows);
        let l = parts.labels.rows();
        let batch = l..l + kept[0].rows();
        let counts = representative_counts(&class, &parts.unchosen, present.len());
        let bounds = if parts.exact {
            let own: Vec<f64> = present.iter().map(|&c| parts.shares[c as usize]).collect();
            let all: f64 = own.iter().sum();
            ShareBounds::of_shares(&own.iter().map(|s| s / all).collect::<Vec<_>>(), f64::INFINITY)
        } else {
            let n: f64 = counts.iter().sum();
            let shares: Vec<f64> = counts.iter().map(|c| c / n.max(1.0)).collect();
            ShareBounds::of_shares(&shares, n.min(BOUND_LABELS * BOUND_LABELS / n.max(1.0)).max(0.1))
        };
        Some(Self {
            x,
            class,
            weight: parts.weight,
            present,
            batch,
            transduction: parts.transduction,
            share: (parts.max_unlabeled as f64 / count as f64).min(1.0),
            number: parts.number,
            classes: parts.classes,
            kernel: parts.kernel,
            c: parts.c,
            shares: parts.shares,
            bounds,
            counts,
            graph: None,
            kernel_values: None,
        })
    }

    pub(super) fn labels(&self) -> usize {
        self.class.len()
    }

    /// Sources that can label this pool.
    pub(in crate::engine) fn sources(&self) -> Vec<Source> {
        let outputs = if self.present.len() == 2 { 1 } else { self.present.len() };
        let can = |source: &Source| match source {
            Source::Transduction => self.transduction.is_some(),
            Source::Tsvm => self.x.rows() * outputs <= MAX_TSVM_WORK,
            Source::Model | Source::Graph => true,
        };
        Source::ALL.into_iter().filter(can).collect()
    }

    /// Computes whatever all fits of a source share.
    pub(in crate::engine) fn prepare(&mut self, source: Source, watch: &dyn Watch) -> Result<()> {
        if source == Source::Graph && self.graph.is_none() {
            self.graph = nearest_graph(self.x.view(), NEIGHBORS, watch)?;
        }
        Ok(())
    }

    /// Computes the kernel values of all pairs of rows for all later fits. Values that a matrix cannot hold are
    /// computed by each fit.
    pub(super) fn share_kernel_values(&mut self) {
        let Ok(packed) = Packed::new(self.x.view(), self.kernel) else { return };
        let gram = MatrixGram::computed(&packed);
        let n = gram.len();
        let value = |i: usize, j: usize| gram.row(i.max(j)).get(i.min(j)).map_or(f64::NAN, |v| f64::from(*v));
        let values = (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| value(i, j)).collect();
        self.kernel_values = Matrix::dense(values, n, n).ok();
    }

    /// Estimates the share of each class from the labels that no query strategy chose and from the predictions of the
    /// classifier (`votes`, the number of rows per class), which count as [`VOTES`] labels. For two classes, an
    /// estimate from the structure of the rows replaces this one if the structure is clear, because the labels of a
    /// batch are rarely a random sample.
    pub(in crate::engine) fn estimate_shares(
        &self,
        ratio: &Ratio,
        votes: &[usize],
        watch: &dyn Watch,
    ) -> Vec<f64> {
        let mut shares = vec![0.0; self.classes];
        let all = votes.iter().sum::<usize>().max(1) as f64;
        let n: f64 = self.counts.iter().sum();
        for (&class, count) in self.present.iter().zip(&self.counts) {
            let voted = (votes[class as usize] as f64 + 1.0) / (all + self.present.len() as f64);
            shares[class as usize] = (count + VOTES * voted) / (n + VOTES);
        }
        if *ratio == Ratio::Auto
            && let [first, second] = self.present[..]
            && let Ok(estimated) =
                estimate_ratio_within(self.x.view(), &self.problems(&[])[0], self.share_effort(), watch)
            && let Some(share) = estimated.share.filter(|s| *s > 0.0 && *s < 1.0)
        {
            shares[first as usize] = 1.0 - share;
            shares[second as usize] = share;
        }
        shares
    }

    fn share_effort(&self) -> Effort {
        let (Matrix::Dense { values, .. } | Matrix::Csr { values, .. }) = &self.x;
        let per_row = (values.len() as f64 / self.x.rows() as f64).max(1.0);
        let rows = ((MAX_SHARE_VALUES / per_row) as usize).clamp(SHARE_ROWS.0, SHARE_ROWS.1);
        Effort { rows, tolerance: SHARE_TOLERANCE }
    }

    pub(in crate::engine) fn set_shares(&mut self, shares: Vec<f64>) {
        self.shares = shares;
    }

    /// Problems in which some labels are hidden.
    fn problems(&self, hidden: &[usize]) -> Vec<Targets> {
        let mut of: Vec<Option<usize>> = self.class.iter().copied().map(Some).collect();
        of.resize(self.x.rows(), None);
        hidden.iter().for_each(|&i| of[i] = None);
        let pose = |positive: usize| Targets {
            y: of
                .iter()
                .map(|c| match c {
                    None => Label::Unknown,
                    Some(c) if *c == positive => Label::Pos,
                    Some(_) => Label::Neg,
                })
                .collect(),
            cost: vec![1.0; of.len()],
        };
        if self.present.len() == 2 { vec![pose(1)] } else { (0..self.present.len()).map(pose).collect() }
    }

    /// Maximum number of solver steps: far more than rows of similar length need.
    fn max_steps(&self) -> u64 {
        (MAX_STEPS_PER_ROW * self.x.rows() as u64).max(MIN_STEPS)
    }

    fn ratio(&self) -> Ratio {
        if self.shares.is_empty() {
            return Ratio::Labels;
        }
        let own: Vec<f64> = self.present.iter().map(|&c| self.shares[c as usize].max(1e-3)).collect();
        let all: f64 = own.iter().sum();
        match own.as_slice() {
            [_, second] => Ratio::Given(vec![second / all]),
            several => Ratio::Given(several.iter().map(|s| s / all).collect()),
        }
    }

    /// Scores of all rows by a source, computed without the hidden labels; `None` if the source returns no usable
    /// scores. The scores are 0 for rows that transduction uses but does not label.
    pub(super) fn scores(
        &self,
        source: Source,
        hidden: &[usize],
        watch: &dyn Watch,
    ) -> Result<Option<Scores>> {
        let shared = self.kernel_values.as_ref().filter(|_| source != Source::Graph);
        let (x, kernel) =
            shared.map_or((self.x.view(), self.kernel), |values| (values.view(), Kernel::Precomputed));
        let learner: Box<dyn Fit> = match source {
            Source::Transduction => return self.transduced(hidden, watch),
            Source::Model => {
                let (c, max_steps) = (self.c, Some(self.max_steps()));
                Box::new(SvcParams { kernel, c, max_steps, ..SvcParams::default() })
            }
            Source::Tsvm => {
                let (ratio, tolerance) = (self.ratio(), TSVM_TOLERANCE);
                let max_steps = Some(self.max_steps());
                let fast = true;
                Box::new(TsvmParams { kernel, ratio, tolerance, max_steps, fast, ..TsvmParams::default() })
            }
            Source::Graph => {
                let Some(graph) = &self.graph else { return Ok(None) };
                let (method, graph) = (Method::Harmonic, Some(Arc::clone(graph)));
                Box::new(LabelPropagationParams { method, graph, ..LabelPropagationParams::default() })
            }
        };
        let transduced = learner.transduce(x, &self.problems(hidden), watch)?;
        let mut scores = Scores::of_problems(&transduced.scores);
        if source == Source::Graph {
            scores.log_of_shares();
        }
        Ok(scores.is_finite().then_some(scores))
    }

    fn transduced(&self, hidden: &[usize], watch: &dyn Watch) -> Result<Option<Scores>> {
        let l = self.labels();
        let kept: Vec<usize> = (0..l).filter(|i| !hidden.contains(i)).collect();
        let (x, number): (_, Vec<u32>) =
            (self.x.view().select(&kept), kept.iter().map(|&i| self.number[i]).collect());
        let known = LabeledRows { x: x.view(), class: &number, classes: self.classes, shares: &self.shares };
        let wanted: Vec<usize> = hidden.iter().copied().chain(self.batch.clone()).collect();
        let rows = self.x.view().select(&wanted);
        let Some(transduction) = self.transduction else { return Ok(None) };
        let given = transduction.label_with_share(known, rows.view(), self.share, watch)?;
        let Some(given) = given else { return Ok(None) };
        let mut scores = Scores::zeros(self.x.rows(), self.present.len());
        for (&row, label) in wanted.iter().zip(&given) {
            let Ok(class) = self.present.binary_search(&label.class) else { return Ok(None) };
            scores.row_mut(row).iter_mut().for_each(|s| *s = -label.confidence);
            scores.row_mut(row)[class] = label.confidence;
        }
        Ok(Some(scores))
    }

    /// Scales scores and shifts them so that the class shares among unlabeled rows stay within their bounds.
    pub(super) fn standardized(&self, source: Source, scores: &Scores, hidden: &[usize]) -> Scores {
        let end = if source == Source::Transduction { self.batch.end } else { self.x.rows() };
        let rows: Vec<usize> = hidden.iter().copied().chain(self.batch.start..end).collect();
        standardize_rows(scores, &rows, &self.bounds)
    }

    /// Scaled scores of the rows of the batch. `model` may hold the decisions of the classifier.
    pub(in crate::engine) fn batch_scores(
        &mut self,
        source: Source,
        model: Option<&[f64]>,
        watch: &dyn Watch,
    ) -> Result<Option<Scores>> {
        self.prepare(source, watch)?;
        let raw = match (source, model) {
            (Source::Model, Some(decisions)) => {
                let outputs = if self.present.len() == 2 { 1 } else { self.present.len() };
                let mut scores = Scores::zeros(self.x.rows(), self.present.len());
                for (row, f) in self.batch.clone().zip(decisions.chunks(outputs)) {
                    let own = scores.row_mut(row);
                    if let [f] = f { own.copy_from_slice(&[-f, *f]) } else { own.copy_from_slice(f) }
                }
                let rows: Vec<usize> = self.batch.clone().collect();
                return Ok(Some(self.of_batch(&standardize_rows(&scores, &rows, &self.bounds))));
            }
            _ => self.scores(source, &[], watch)?,
        };
        Ok(raw.map(|raw| self.of_batch(&self.standardized(source, &raw, &[]))))
    }

    fn of_batch(&self, scores: &Scores) -> Scores {
        scores.slice(self.batch.clone())
    }

    /// Number of the present class at a position.
    pub(in crate::engine) fn class_at(&self, place: usize) -> u32 {
        self.present[place]
    }

    /// Number of classes that have labels.
    pub(in crate::engine) fn present(&self) -> usize {
        self.present.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn balanced_and_chosen_labels_are_weak_evidence_about_the_class_shares() {
        let class: Vec<usize> = (0..20).map(|i| i % 2).collect();
        assert_eq!(representative_counts(&class, &[true; 20], 2), [2.0, 2.0]);
        let unbalanced: Vec<usize> = (0..20).map(|i| usize::from(i >= 15)).collect();
        assert_eq!(representative_counts(&unbalanced, &[true; 20], 2), [15.0, 5.0]);
        let unchosen: Vec<bool> = (0..20).map(|i| i < 17).collect();
        assert_eq!(representative_counts(&unbalanced, &unchosen, 2), [15.0, 2.0]);
        assert_eq!(representative_counts(&class, &[false; 20], 2), [0.0, 0.0]);
    }
}
