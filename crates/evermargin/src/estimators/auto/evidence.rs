//! Evidence about a candidate from held-out labels.
//!
//! The labels are split into folds, twice if they are few; a class with one label keeps it. A candidate is fitted
//! without the labels of a fold, with all unlabeled rows, and scores the held-out rows. A slope, fitted by maximum
//! likelihood with a weak prior, converts the scores of a row to probabilities.

use super::candidates::{Candidate, Shares};
use super::shares::{ShareBounds, interval};
use super::{AutoParams, GivenLabels, Scores, scores_of, softmax};
use crate::data::{Label, Matrix, MatrixView};
use crate::error::Result;
use crate::estimators::{Fit, Targets};
use crate::graph::Graph;
use crate::kernel::Kernel;
use crate::solver::Watch;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use rayon::prelude::*;
use std::sync::Arc;

/// Slope for candidates without held-out labels.
pub(crate) const DEFAULT_SLOPE: f64 = 2.0;

/// Maximum number of labels that are split into folds twice.
const FEW: usize = 60;

/// Maximum absolute value of scaled scores.
const MAX_SCORE: f64 = 8.0;

/// Scaling of raw scores.
#[derive(Debug, Clone)]
pub(super) struct Transform {
    scale: f64,
}

impl Transform {
    /// Centers the scores of each row over the classes, scales them, and limits them to ±[`MAX_SCORE`].
    pub(super) fn apply(&self, raw: &Scores) -> Scores {
        let mut values = Vec::with_capacity(raw.values.len());
        for row in raw.rows() {
            let mean = row.iter().sum::<f64>() / row.len() as f64;
            values.extend(row.iter().map(|s| ((s - mean) / self.scale).clamp(-MAX_SCORE, MAX_SCORE)));
        }
        Scores { values, classes: raw.classes }
    }
}

/// Scales the scores of all rows by the median of their absolute values, and shifts them so that class shares are
/// within bounds.
pub(super) fn standardize(raw: &Scores, given: &GivenLabels, bounds: &ShareBounds) -> (Scores, Transform) {
    standardize_on(raw, if given.unlabeled.is_empty() { &given.rows } else { &given.unlabeled }, bounds)
}

/// As [`standardize`], with the median and the shares of the given rows.
pub(super) fn standardize_on(raw: &Scores, rows: &[usize], bounds: &ShareBounds) -> (Scores, Transform) {
    let mut size: Vec<f64> = Vec::with_capacity(rows.len() * raw.classes);
    for &i in rows {
        let row = raw.row(i);
        let mean = row.iter().sum::<f64>() / row.len() as f64;
        size.extend(row.iter().map(|s| (s - mean).abs()));
    }
    if size.is_empty() {
        return (raw.clone(), Transform { scale: 1.0 });
    }
    let mean = size.iter().sum::<f64>() / size.len() as f64;
    let middle = size.len() / 2;
    let (_, &mut median, _) = size.select_nth_unstable_by(middle, f64::total_cmp);
    let transform = Transform { scale: (1.5 * median + 0.01 * mean).max(f64::MIN_POSITIVE) };
    let mut scores = transform.apply(raw);
    hold_shares(&mut scores, bounds, rows);
    (scores, transform)
}

/// Shifts the scores so that the class shares among `rows` are within their bounds.
fn hold_shares(scores: &mut Scores, bounds: &ShareBounds, rows: &[usize]) {
    let shift = bounds.shifts(scores, rows);
    let classes = scores.classes;
    scores.values.chunks_exact_mut(classes).for_each(|row| {
        row.iter_mut().zip(&shift).for_each(|(s, b)| *s += b);
    });
}

/// Results of one candidate on held-out labels.
#[derive(Debug, Clone)]
pub(super) struct Evidence {
    /// Slope: probabilities are the softmax of the scores times this factor.
    pub(super) slope: f64,
    pub(super) log_loss: f64,
    /// Share of held-out labels predicted wrongly.
    pub(super) error: f64,
    /// Number of held-out labels, each counted once.
    labels: usize,
    /// Classes and predicted probabilities of the held-out labels, in the order of the splits.
    held: Vec<(usize, Vec<f64>)>,
    /// Share of unlabeled rows whose predicted class is the same when labels are held out; mean over the folds.
    pub(super) stability: f64,
}

impl Evidence {
    /// Classes and predicted probabilities of the held-out labels, in the order of the splits.
    pub(super) fn held(&self) -> &[(usize, Vec<f64>)] {
        &self.held
    }

    /// The same evidence without stability, which depends on unlabeled rows.
    pub(super) fn without_stability(self) -> Self {
        Self { stability: 0.0, ..self }
    }

    /// 90 % interval of the accuracy.
    pub(super) fn interval(&self) -> (f64, f64) {
        interval(1.0 - self.error, self.labels as f64)
    }

    /// Evidence from the classes and scores of the held-out labels; `None` if there are none.
    fn of(held: Vec<(usize, Vec<f64>)>, labels: usize, stability: f64) -> Option<Self> {
        if held.is_empty() {
            return None;
        }
        let n = held.len() as f64;
        let log_loss =
            |slope: f64| held.iter().map(|(c, s)| -softmax(s, slope)[*c].max(1e-9).ln()).sum::<f64>() / n;
        // slopes from 1/4 to 16; the prior is a normal distribution of their logarithm around that of the default
        let slopes = (0..13).map(|k| 0.25 * (64f64).powf(f64::from(k) / 12.0));
        let penalized =
            |slope: f64| log_loss(slope) + 0.5 * (slope / DEFAULT_SLOPE).ln().powi(2) / labels.max(1) as f64;
        let (slope, _) = slopes
            .map(|slope| (slope, penalized(slope)))
            .reduce(|best, next| if next.1 < best.1 { next } else { best })?;
        let wrong = held.iter().filter(|(c, s)| super::largest(s) != *c).count();
        let log_loss = log_loss(slope);
        let held = held.into_iter().map(|(c, s)| (c, softmax(&s, slope))).collect();
        Some(Self { slope, log_loss, error: wrong as f64 / n, labels, held, stability })
    }
}

/// Rows on which candidates are evaluated: all labeled rows and a limited number of unlabeled ones, with folds of the
/// labels.
pub(super) struct HeldOutLabels {
    /// Numbers of these rows in the data.
    rows: Vec<usize>,
    pub(super) x: Matrix,
    pub(super) problems: Vec<Targets>,
    given: GivenLabels,
    graph: Option<Arc<Graph>>,
    /// For each split, the fold of each label; `None` for the only label of a class.
    folds: Vec<Vec<Option<usize>>>,
    number_of_folds: usize,
}

impl HeldOutLabels {
    pub(super) fn new(
        x: MatrixView<'_>,
        problems: &[Targets],
        given: &GivenLabels,
        params: &AutoParams,
        max_unlabeled: usize,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let mut rng = Pcg64::seed_from_u64(params.seed);
        let mut open = given.unlabeled.clone();
        open.shuffle(&mut rng);
        open.truncate(max_unlabeled);
        let mut rows: Vec<usize> = given.rows.iter().copied().chain(open).collect();
        rows.sort_unstable();
        let part = x.select(&rows);
        let problems: Vec<Targets> = problems.iter().map(|p| p.select(&rows)).collect();
        let inside = GivenLabels::of(&problems);
        // a given graph of all rows cannot be used for some of them, because it may connect them only through omitted
        // rows
        let graph =
            if rows.len() == x.rows() { params } else { &AutoParams { graph: None, ..params.clone() } };
        let graph = graph.graph_of(part.view(), watch)?;
        let times = if inside.rows.len() <= FEW { 2 } else { 1 };
        let folds = (0..times).map(|_| split_into_folds(&inside, params.folds, &mut rng)).collect();
        Ok(Self { rows, x: part, problems, given: inside, graph, folds, number_of_folds: params.folds })
    }

    /// Fits the candidate without each fold and returns its evidence; `None` if no label can be held out or a fit
    /// fails. `full` are its scores with all labels. The second evidence is for scores that are not shifted to the
    /// bounds of the shares.
    pub(super) fn judge(
        &self,
        candidate: &Candidate,
        kernel: Kernel,
        shares: &Shares,
        (full, transform): (&Scores, &Transform),
        bounds: &ShareBounds,
        watch: &dyn Watch,
    ) -> (Option<Evidence>, Option<Evidence>) {
        let Some(fit) = candidate.make(self.x.view(), kernel, shares, self.graph.as_ref()) else {
            return (None, None);
        };
        // a second split is not worth the cost for expensive candidates
        let splits = if candidate.is_expensive() { 1 } else { self.folds.len() };
        let held_out: Vec<Vec<usize>> = (0..splits)
            .flat_map(|d| (0..self.number_of_folds).map(move |f| (d, f)))
            .map(|(d, f)| (0..self.given.rows.len()).filter(|&k| self.folds[d][k] == Some(f)).collect())
            .filter(|out: &Vec<usize>| !out.is_empty())
            .collect();
        let problems: Vec<Vec<Targets>> = held_out.iter().map(|out| self.without(out)).collect();
        let Some(raw) = self.fold_scores(candidate, fit.as_ref(), &problems, watch) else {
            return (None, None);
        };
        let (mut held, mut unshifted, mut stable) = (Vec::new(), Vec::new(), 0.0);
        for ((raw, problems), out) in raw.iter().zip(&problems).zip(&held_out) {
            let mut scores = transform.apply(raw);
            let of_held_out =
                |scores: &Scores, k: usize| (self.given.class[k], scores.row(self.given.rows[k]).to_vec());
            unshifted.extend(out.iter().map(|&k| of_held_out(&scores, k)));
            hold_shares(&mut scores, bounds, &GivenLabels::of(problems).unlabeled);
            held.extend(out.iter().map(|&k| of_held_out(&scores, k)));
            let same = |i: &&usize| scores.class(**i) == full.class(self.rows[**i]);
            let open = &self.given.unlabeled;
            stable += open.iter().filter(same).count() as f64 / open.len().max(1) as f64;
        }
        let labels = self.folds.first().map_or(0, |folds| folds.iter().flatten().count());
        let stability = stable / held_out.len() as f64;
        (Evidence::of(held, labels, stability), Evidence::of(unshifted, labels, stability))
    }

    /// Scores of all rows, fitted without the labels of each fold. If most of the work does not depend on the labels,
    /// all folds are problems of one fit.
    fn fold_scores(
        &self,
        candidate: &Candidate,
        fit: &dyn Fit,
        folds: &[Vec<Targets>],
        watch: &dyn Watch,
    ) -> Option<Vec<Scores>> {
        let x = self.x.view();
        if !candidate.shares_work() {
            return folds.par_iter().map(|fold| scores_of(candidate, fit, x, fold, watch).ok()).collect();
        }
        let together: Vec<Targets> = folds.iter().flatten().cloned().collect();
        if together.is_empty() {
            return Some(Vec::new());
        }
        let scores = fit.transduce(x, &together, watch).ok()?.scores;
        let scores: Vec<Scores> = scores.chunks(self.problems.len()).map(Scores::of_problems).collect();
        scores.iter().all(|s| s.values.iter().all(|v| v.is_finite())).then_some(scores)
    }

    /// Problems in which some labels are hidden.
    fn without(&self, labels: &[usize]) -> Vec<Targets> {
        let mut problems = self.problems.clone();
        for problem in &mut problems {
            labels.iter().for_each(|&k| problem.y[self.given.rows[k]] = Label::Unknown);
        }
        problems
    }
}

/// Splits the labels into folds, class by class; returns `None` for the only label of a class.
fn split_into_folds(given: &GivenLabels, folds: usize, rng: &mut Pcg64) -> Vec<Option<usize>> {
    let counts = given.counts();
    let mut out = vec![None; given.rows.len()];
    let mut next = 0;
    for (class, &count) in counts.iter().enumerate() {
        let mut labels: Vec<usize> = (0..out.len()).filter(|&k| given.class[k] == class).collect();
        labels.shuffle(rng);
        for k in labels.into_iter().filter(|_| count > 1) {
            out[k] = Some(next % folds);
            next += 1;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_with_one_label_keeps_it() {
        let given = GivenLabels {
            rows: (0..6).collect(),
            class: vec![0, 0, 0, 1, 2, 2],
            classes: 3,
            unlabeled: vec![],
        };
        let folds = split_into_folds(&given, 5, &mut Pcg64::seed_from_u64(1));
        assert_eq!(folds[3], None);
        assert!([0, 1, 2, 4, 5].iter().all(|&k| folds[k].is_some()));
        assert_ne!(folds[4], folds[5], "a fold must not hold out a whole class");
    }

    #[test]
    fn the_slope_reflects_the_reliability_of_the_scores() {
        let sure: Vec<_> = (0..100).map(|_| (1, vec![-1.0, 1.0])).collect();
        let unsure: Vec<_> = (0..100).map(|k| (k % 2, vec![-1.0, 1.0])).collect();
        let (sure, unsure) = (Evidence::of(sure, 100, 1.0).unwrap(), Evidence::of(unsure, 100, 1.0).unwrap());
        assert!(sure.slope > DEFAULT_SLOPE && unsure.slope < 0.5, "{} {}", sure.slope, unsure.slope);
        assert_eq!((sure.error, unsure.error), (0.0, 0.5));
        assert!(Evidence::of(Vec::new(), 0, 1.0).is_none());
    }
}
