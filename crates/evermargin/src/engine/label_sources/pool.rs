//! The rows among which a batch is labeled, and the scores of each source for them.

use super::Source;
use crate::data::{Label, Matrix, MatrixView};
use crate::engine::transduction::{LabeledRows, Transduction};
use crate::error::Result;
use crate::estimators::auto::{Scores, ShareBounds, nearest_graph, standardize_rows};
use crate::estimators::supervised::svc::SvcParams;
use crate::estimators::transductive::label_propagation::{LabelPropagationParams, Method};
use crate::estimators::transductive::tsvm::TsvmParams;
use crate::estimators::transductive::{Ratio, estimate_ratio};
use crate::estimators::{Fit, Targets};
use crate::graph::Graph;
use crate::kernel::Kernel;
use crate::solver::Watch;
use std::ops::Range;
use std::sync::Arc;

/// Neighbors that each row of the pool is joined with.
const NEIGHBORS: usize = 10;

/// Largest violation of the optimality conditions of the transductive SVM: its labels are settled long before its
/// coefficients.
const TSVM_TOLERANCE: f64 = 1e-2;

/// Number of labels up to which each makes the bounds of the class shares narrower. More labels make them wider again: the
/// boundary is known then, and the shares of one batch may differ from those of all labels.
const BOUND_LABELS: f64 = 20.0;

/// Steps of a solver per row, and in a small pool.
const MAX_STEPS_PER_ROW: u64 = 100;
const MIN_STEPS: u64 = 20_000;

/// Labels as which the classes that the classifier gives count in the shares of classes.
const VOTES: f64 = 4.0;

/// Rows × outputs beyond which the transductive SVM, whose cost grows with the square of the rows, is left out.
const MAX_TSVM_WORK: usize = 6000;

/// Labels first, then rows without one.
pub(in crate::engine) struct Pool<'a> {
    pub(super) x: Matrix,
    /// Place among the present classes of each label.
    pub(super) class: Vec<usize>,
    /// How far each label represents the stream.
    pub(super) weight: Vec<f64>,
    /// Numbers of the classes that have labels.
    pub(super) present: Vec<u32>,
    /// Rows of the batch.
    batch: Range<usize>,
    transduction: Option<&'a Transduction>,
    /// Labels with the numbers of their classes.
    number: Vec<u32>,
    classes: usize,
    kernel: Kernel,
    c: f64,
    /// Share of each class, by its number; empty = as among the labels.
    shares: Vec<f64>,
    pub(super) bounds: ShareBounds,
    /// Labels of each present class that say how large it is.
    counts: Vec<f64>,
    graph: Option<Arc<Graph>>,
}

/// What a pool is made of.
pub(in crate::engine) struct PoolParts<'a> {
    pub(in crate::engine) labels: MatrixView<'a>,
    pub(in crate::engine) number: Vec<u32>,
    /// How far each label represents the stream.
    pub(in crate::engine) weight: Vec<f64>,
    /// Whether each label came by itself or at random, so that it says how large its class is.
    pub(in crate::engine) unchosen: Vec<bool>,
    pub(in crate::engine) classes: usize,
    pub(in crate::engine) batch: MatrixView<'a>,
    pub(in crate::engine) transduction: Option<&'a Transduction>,
    pub(in crate::engine) kernel: Kernel,
    pub(in crate::engine) c: f64,
    pub(in crate::engine) shares: Vec<f64>,
    /// Whether the shares were given by the user.
    pub(in crate::engine) exact: bool,
}

impl<'a> Pool<'a> {
    /// None unless two classes have labels and there are rows without one.
    pub(in crate::engine) fn new(parts: PoolParts<'a>) -> Option<Self> {
        let present: Vec<u32> = (0..parts.classes as u32).filter(|c| parts.number.contains(c)).collect();
        if present.len() < 2 || parts.batch.rows() == 0 {
            return None;
        }
        let class: Vec<usize> =
            parts.number.iter().map(|c| present.binary_search(c).unwrap_or_default()).collect();
        let mut rows = vec![parts.labels, parts.batch];
        rows.extend(parts.transduction.iter().flat_map(|t| t.rows()));
        let x = Matrix::stacked(&rows);
        let l = parts.labels.rows();
        let mut counts = vec![0.0; present.len()];
        class.iter().zip(&parts.unchosen).for_each(|(&c, u)| counts[c] += f64::from(u8::from(*u)));
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
            batch: l..l + parts.batch.rows(),
            transduction: parts.transduction,
            number: parts.number,
            classes: parts.classes,
            kernel: parts.kernel,
            c: parts.c,
            shares: parts.shares,
            bounds,
            counts,
            graph: None,
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

    /// Makes what a source needs for all its fits.
    pub(in crate::engine) fn prepare(&mut self, source: Source, watch: &dyn Watch) -> Result<()> {
        if source == Source::Graph && self.graph.is_none() {
            self.graph = nearest_graph(self.x.view(), NEIGHBORS, watch)?;
        }
        Ok(())
    }

    /// Estimates the share of each class: of two classes as the learners of one file do; else, or where that is not clear,
    /// from the labels that were not chosen and the classes the classifier gives (`votes`, the number of each class), which
    /// count as [`VOTES`] labels.
    pub(in crate::engine) fn estimate_shares(
        &self,
        ratio: &Ratio,
        votes: &[usize],
        watch: &dyn Watch,
    ) -> Vec<f64> {
        let mut shares = vec![0.0; self.classes];
        if *ratio == Ratio::Auto
            && self.present.len() == 2
            && let Ok(estimated) = estimate_ratio(self.x.view(), &self.problems(&[])[0], watch)
            && let Some(share) = estimated.share.filter(|s| *s > 0.0 && *s < 1.0)
        {
            shares[self.present[0] as usize] = 1.0 - share;
            shares[self.present[1] as usize] = share;
            return shares;
        }
        let all = votes.iter().sum::<usize>().max(1) as f64;
        let n: f64 = self.counts.iter().sum();
        for (&class, count) in self.present.iter().zip(&self.counts) {
            let voted = (votes[class as usize] as f64 + 1.0) / (all + self.present.len() as f64);
            shares[class as usize] = (count + VOTES * voted) / (n + VOTES);
        }
        shares
    }

    pub(in crate::engine) fn set_shares(&mut self, shares: Vec<f64>) {
        self.shares = shares;
    }

    /// The problems in which some labels are hidden.
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

    /// Steps after which a solver ends: far more than rows of one size take.
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

    /// Scores of all rows by a source that does not know the hidden labels; none where it has no answer. Rows that
    /// transduction keeps but does not label have scores of 0.
    pub(super) fn scores(
        &self,
        source: Source,
        hidden: &[usize],
        watch: &dyn Watch,
    ) -> Result<Option<Scores>> {
        let learner: Box<dyn Fit> = match source {
            Source::Transduction => return self.transduced(hidden, watch),
            Source::Model => {
                let (kernel, c, max_steps) = (self.kernel, self.c, Some(self.max_steps()));
                Box::new(SvcParams { kernel, c, max_steps, ..SvcParams::default() })
            }
            Source::Tsvm => {
                let (kernel, ratio, tolerance) = (self.kernel, self.ratio(), TSVM_TOLERANCE);
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
        let transduced = learner.transduce(self.x.view(), &self.problems(hidden), watch)?;
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
        let Some(given) = transduction.label(known, rows.view(), watch)? else { return Ok(None) };
        let mut scores = Scores::zeros(self.x.rows(), self.present.len());
        for (&row, label) in wanted.iter().zip(&given) {
            let Ok(class) = self.present.binary_search(&label.class) else { return Ok(None) };
            scores.row_mut(row).iter_mut().for_each(|s| *s = -label.confidence);
            scores.row_mut(row)[class] = label.confidence;
        }
        Ok(Some(scores))
    }

    /// Scales scores and shifts them so that the classes of the rows without a label keep their bounds.
    pub(super) fn standardized(&self, source: Source, scores: &Scores, hidden: &[usize]) -> Scores {
        let end = if source == Source::Transduction { self.batch.end } else { self.x.rows() };
        let rows: Vec<usize> = hidden.iter().copied().chain(self.batch.start..end).collect();
        standardize_rows(scores, &rows, &self.bounds)
    }

    /// Scaled scores of the rows of the batch; those of the classifier may be given.
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

    /// The number of the class at a place.
    pub(in crate::engine) fn class_at(&self, place: usize) -> u32 {
        self.present[place]
    }

    /// Number of classes that have labels.
    pub(in crate::engine) fn present(&self) -> usize {
        self.present.len()
    }
}
