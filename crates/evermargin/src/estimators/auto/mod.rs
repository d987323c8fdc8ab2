//! `auto`: combines several learners, weighted by their results on held-out labels and by label-free evidence.
//!
//! Problem: no learner that uses unlabeled rows is best on all data. Accuracies differ by up to 30 points, and each of
//! these learners is worse than labels alone on some data. With few labels the best learner cannot be identified, but
//! the learners can be weighted.
//!
//! Method:
//! 1. **Candidates** (`candidates.rs`): labels alone (linear and kernel SVM), label propagation and Poisson learning on
//!    one graph, LapRLS, TSVM, linear deterministic annealing, SUBMOD-S3VM.
//! 2. **Evidence** (`evidence.rs`): each candidate is fitted without some of the labels, with all unlabeled rows, and
//!    scores the rows with held-out labels. A slope fitted to these scores converts scores to probabilities.
//! 3. **Shares** (`shares.rs`): with few labels, a classifier often assigns nearly all rows to one class. The counts of
//!    the labels bound the share of each class; scores are shifted as far as the bounds require.
//! 4. **Label-free evidence** (`label_free.rs`): stability when labels are held out, agreement with the other families
//!    and the cut of the graph. It dominates with one or two labels per class, where held-out labels carry little
//!    information.
//! 5. **Combination** (`weights.rs`): probabilities are averaged with weights from the held-out loss, the label-free
//!    evidence and a prior.
//! 6. **Model** (`model.rs`): one exportable classifier is trained on given and inferred labels; the cost of an
//!    inferred label is proportional to its confidence.
//!
//! The evidence uses at most [`EVIDENCE_ROWS`] unlabeled rows, so that its cost does not grow with the data.
//!
//! The rates, the priors and the level of the bounds were chosen on every second data set of the list in
//! `research/few_labels`.

mod budget;
mod candidates;
mod evidence;
mod label_free;
mod model;
mod pooled;
mod shares;
mod weights;

pub(crate) use evidence::DEFAULT_SLOPE;
pub(crate) use pooled::{nearest_graph, standardize_rows};
pub(crate) use shares::ShareBounds;

use crate::data::{Label, MatrixView};
use crate::error::{Error, Result};
use crate::estimators::registry::{EstimatorSpec, Parameters};
use crate::estimators::transductive::{
    Ratio, SupervisedAnswer, Transduced, check_shares, counted_labels, estimate_ratio_on,
    smoothed_label_shares, with_labels,
};
use crate::estimators::{Fit, Fitted, Targets};
use crate::graph::{Graph, GraphParams, Weights};
use crate::kernel::Kernel;
use crate::params::shared::{COEF0, DEGREE, GAMMA, N_NEIGHBORS, RATIO, SEED};
use crate::params::{FloatRange, ParamSpec, ParamValue, ParamValues};
use crate::solver::{Exit, Progress, Watch};
use budget::{CandidateBudget, Completing};
use candidates::{Candidate, Shares};
use evidence::{Evidence, HeldOutLabels};
use label_free::LabelFree;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Maximum number of unlabeled rows used for the evidence.
pub const EVIDENCE_ROWS: usize = 1000;

/// Maximum number of unlabeled rows used for the evidence of expensive candidates if there are more than two classes.
const FEW_EVIDENCE_ROWS: usize = 300;

/// Maximum number of unlabeled rows from which the share of positives is estimated.
const RATIO_ROWS: usize = 400;

/// Specification of `auto`.
pub static SPEC: EstimatorSpec = EstimatorSpec::semi_supervised(
    "auto",
    "compares supervised, graph-based, transductive and manifold learners on held-out labels and combines them",
    &[
        ParamSpec::choice(
            "kernel",
            &["linear", "rbf", "poly", "sigmoid"],
            "rbf",
            "kernel of the candidates that have one: linear, rbf, poly or sigmoid",
        ),
        GAMMA,
        DEGREE,
        COEF0,
        RATIO.default_of("auto"),
        N_NEIGHBORS.default_of("10").help_of("number of nearest neighbors of each row in the graph"),
        ParamSpec::count("folds", 2, "5", "number of folds of the labels; each fold is held out once"),
        ParamSpec::float(
            "inferred_weight",
            FloatRange::closed(0.0, 1e6),
            "1",
            "weight of an inferred label of full confidence relative to a given one, in the classifier for new rows",
        ),
        SEED,
    ],
);

impl Parameters for AutoParams {}

/// Parameters of [`auto`](self).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AutoParams {
    /// Kernel of the candidates that have one.
    pub kernel: Kernel,
    /// Share of positives among the unlabeled rows.
    pub ratio: Ratio,
    /// Number of nearest neighbors of each row in the graph.
    pub n_neighbors: usize,
    /// Number of folds of the labels.
    pub folds: usize,
    /// Weight of an inferred label of full confidence in the classifier.
    pub inferred_weight: f64,
    /// Seed of the folds and of the rows of the evidence.
    pub seed: u64,
    /// Graph of the rows; replaces the graph of nearest neighbors.
    #[serde(skip)]
    pub graph: Option<Arc<Graph>>,
}

impl Default for AutoParams {
    fn default() -> Self {
        Self {
            kernel: Kernel::Rbf { gamma: 1.0 },
            ratio: Ratio::Auto,
            n_neighbors: 10,
            folds: 5,
            inferred_weight: 1.0,
            seed: 1,
            graph: None,
        }
    }
}

/// One score per row and class, row major.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scores {
    values: Vec<f64>,
    classes: usize,
}

impl Scores {
    pub(crate) fn rows(&self) -> std::slice::ChunksExact<'_, f64> {
        self.values.chunks_exact(self.classes)
    }

    pub(crate) fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.classes..(i + 1) * self.classes]
    }

    /// Scores from one vector per problem; a single problem has two classes with opposite scores.
    pub(crate) fn of_problems(scores: &[Vec<f64>]) -> Self {
        match scores {
            [f] => Self { values: f.iter().flat_map(|f| [-f, *f]).collect(), classes: 2 },
            several => {
                let (rows, classes) = (several[0].len(), several.len());
                let values = (0..rows).flat_map(|i| several.iter().map(move |f| f[i])).collect();
                Self { values, classes }
            }
        }
    }

    /// Class with the largest score; of equal scores the first.
    fn class(&self, i: usize) -> usize {
        largest(self.row(i))
    }
}

pub(crate) fn largest(scores: &[f64]) -> usize {
    (1..scores.len()).fold(0, |best, c| if scores[c] > scores[best] { c } else { best })
}

/// Softmax of the scores times the slope.
pub(crate) fn softmax(scores: &[f64], slope: f64) -> Vec<f64> {
    let max = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers: Vec<f64> = scores.iter().map(|s| (slope * (s - max)).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.into_iter().map(|p| p / sum).collect()
}

/// Labels of one or several problems as classes, and the unlabeled rows.
#[derive(Debug, Clone)]
struct GivenLabels {
    rows: Vec<usize>,
    class: Vec<usize>,
    classes: usize,
    unlabeled: Vec<usize>,
}

impl GivenLabels {
    fn of(problems: &[Targets]) -> Self {
        let rows = problems[0].used();
        let class = |&i: &usize| match problems {
            [one] => usize::from(one.y[i] == Label::Pos),
            several => several.iter().position(|p| p.y[i] == Label::Pos).unwrap_or(0),
        };
        let open = |&i: &usize| problems[0].y[i] == Label::Unknown && problems[0].cost[i] > 0.0;
        Self {
            class: rows.iter().map(class).collect(),
            classes: problems.len().max(2),
            unlabeled: (0..problems[0].y.len()).filter(open).collect(),
            rows,
        }
    }

    fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.classes];
        self.class.iter().for_each(|&c| counts[c] += 1);
        counts
    }
}

/// Candidate with its scores, evidence and weight.
#[derive(Debug, Clone)]
struct Judged {
    candidate: Candidate,
    evidence: Option<Evidence>,
    label_free: LabelFree,
    /// Scores of all rows, scaled, and shifted so that the class shares are within their bounds.
    scores: Scores,
    /// For a candidate that uses labels alone, the scores before the shift, and their evidence.
    unshifted: Option<(Scores, Option<Evidence>)>,
    /// Seconds by the caller's clock, if it has one.
    seconds: Option<f64>,
    weight: f64,
}

/// Progress reported between candidates.
const BETWEEN: Progress = Progress { steps: 0, violation: 1.0, tolerance: 0.0 };

impl AutoParams {
    /// Combination of the candidates that use labels alone. It does not use unlabeled rows: scores are not shifted to
    /// the bounds of the shares, and label-free evidence does not count. Its accuracy on held-out labels is estimated
    /// like `held`, the accuracy of the combination of all candidates.
    fn labels_alone(
        &self,
        judged: &[Judged],
        given: &GivenLabels,
        held: Option<f64>,
    ) -> Option<SupervisedAnswer> {
        let alone = |j: &Judged| {
            let (scores, evidence) = j.unshifted.clone()?;
            let evidence = evidence.map(Evidence::without_stability);
            let label_free = LabelFree::default();
            Some(Judged { scores, evidence, label_free, unshifted: None, ..j.clone() })
        };
        let mut alone: Vec<Judged> = judged.iter().filter_map(alone).collect();
        if alone.is_empty() {
            return None;
        }
        weights::weigh(&mut alone, given.rows.len(), given.classes);
        let without = weights::expected_accuracy(&alone, given.rows.len(), given.classes);
        Some(SupervisedAnswer {
            scores: as_problem_scores(&combine(&alone)),
            cross_validated: without.zip(held).map(|(without, with)| [without, with]),
            folds: self.folds,
        })
    }

    fn check(&self) -> Result<()> {
        self.kernel.check()?;
        if self.kernel == Kernel::Precomputed {
            return Err(Error::parameter(
                "kernel",
                "precomputed",
                "a kernel of samples: neighbors are found from them",
            ));
        }
        Ok(())
    }

    fn graph_of(&self, x: MatrixView<'_>, watch: &dyn Watch) -> Result<Option<Arc<Graph>>> {
        if let Some(graph) = self.graph.as_ref().filter(|g| g.len() == x.rows()) {
            return Ok(Some(Arc::clone(graph)));
        }
        let params =
            GraphParams { n_neighbors: self.n_neighbors, weights: Weights::Local, ..GraphParams::default() };
        let filled: Vec<usize> = (0..x.rows()).filter(|&i| x.row(i).norm2() > 0.0).collect();
        if matches!(x, MatrixView::Dense { .. }) || filled.len() == x.rows() {
            return Ok(Graph::nearest(x, &params, watch)?.map(Arc::new));
        }
        // a document without words is equally far from all others; as a neighbor of all of them it would connect the
        // classes
        let Some(graph) = Graph::nearest(x.select(&filled).view(), &params, watch)? else { return Ok(None) };
        let edges: Vec<(usize, usize, f64)> = (0..filled.len())
            .flat_map(|i| graph.row(i).filter(move |(j, _)| i < *j).map(move |(j, w)| (i, j, w)))
            .map(|(i, j, w)| (filled[i], filled[j], w))
            .collect();
        Graph::from_edges(x.rows(), &edges).map(|graph| Some(Arc::new(graph)))
    }

    /// Share of each class, estimated from the labels alone unless it is given.
    fn label_shares(&self, problems: &[Targets]) -> Ratio {
        match &self.ratio {
            Ratio::Auto => Ratio::Given(smoothed_label_shares(problems)),
            other => other.clone(),
        }
    }

    /// Class shares that the candidates enforce.
    fn shares_of(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Shares> {
        let of_labels = self.label_shares(problems);
        let aimed_at = match (&self.ratio, problems) {
            (Ratio::Auto, [two]) => {
                let found = estimate_ratio_on(x, two, RATIO_ROWS, watch)?;
                match found.share.filter(|share| *share > 0.0 && *share < 1.0) {
                    Some(share) => {
                        let labels = smoothed_label_shares(problems)[0];
                        let share = with_labels(share, found.confidence, labels, counted_labels(two));
                        Ratio::Given(vec![share])
                    }
                    None => of_labels.clone(),
                }
            }
            _ => of_labels.clone(),
        };
        Ok(Shares { of_labels, aimed_at })
    }

    /// Fits and evaluates the candidates one by one, cheap ones first; the watch may end this early.
    fn judge(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Vec<Judged>> {
        let given = GivenLabels::of(problems);
        let bounds = match &self.ratio {
            Ratio::Given(shares) => ShareBounds::exact(shares, given.classes),
            _ => ShareBounds::of_counts(&given.counts()),
        };
        let held = HeldOutLabels::new(x, problems, &given, self, EVIDENCE_ROWS, watch)?;
        let shares = self.shares_of(held.x.view(), &held.problems, watch)?;
        let few = match problems {
            [_] => None,
            _ => Some(HeldOutLabels::new(x, problems, &given, self, FEW_EVIDENCE_ROWS, watch)?),
        };
        let graph = self.graph_of(x, watch)?;
        let mut judged: Vec<Judged> = Vec::new();
        let budget = CandidateBudget::new(watch);
        for candidate in candidates::list(x, &given) {
            // the first candidate is cheap and is always completed
            let watch: &dyn Watch = if judged.is_empty() { &Completing(watch) } else { &budget };
            let start = watch.seconds();
            let Some(fit) = candidate.make(x, self.kernel, &shares, graph.as_ref()) else { continue };
            let Ok(raw) = scores_of(&candidate, fit.as_ref(), x, problems, watch) else { continue };
            let (scores, transform) = evidence::standardize(&raw, &given, &bounds);
            let held = few.as_ref().filter(|_| candidate.is_expensive()).unwrap_or(&held);
            let (evidence, unshifted) =
                held.judge(&candidate, self.kernel, &shares, (&scores, &transform), &bounds, watch);
            let unshifted = candidate.labels_alone().then(|| (transform.apply(&raw), unshifted));
            if budget.has_ended() {
                break; // the scores of an interrupted candidate are not meaningful
            }
            let seconds = start.zip(watch.seconds()).map(|(from, to)| to - from);
            judged.push(Judged {
                candidate,
                evidence,
                label_free: LabelFree::default(),
                scores,
                unshifted,
                seconds,
                weight: 0.0,
            });
            if !budget.proceed(&BETWEEN) {
                break;
            }
        }
        if judged.is_empty() {
            return Err(Error::Data("no candidate could be fitted to these labels".into()));
        }
        label_free::measure(&mut judged, graph.as_deref(), &given);
        weights::weigh(&mut judged, given.rows.len(), given.classes);
        Ok(judged)
    }
}

/// Scores of all rows by a fitted learner: its transductive scores, or else its decisions.
fn scores_of(
    candidate: &Candidate,
    fit: &dyn Fit,
    x: MatrixView<'_>,
    problems: &[Targets],
    watch: &dyn Watch,
) -> Result<Scores> {
    let transduced = fit.transduce(x, problems, watch)?;
    let mut scores = Scores::of_problems(&transduced.scores);
    if candidate.gives_shares() {
        scores.values.iter_mut().for_each(|s| *s = (0.5 + 0.5 * *s).max(LEAST_SHARE).ln());
    }
    if scores.values.iter().all(|s| s.is_finite()) { Ok(scores) } else { Err(Error::Interrupted) }
}

/// Lower bound of class shares before their logarithm is computed.
const LEAST_SHARE: f64 = 1e-4;

/// Weighted mean of the probabilities of the candidates.
fn combine(judged: &[Judged]) -> Scores {
    let mut mean =
        Scores { values: vec![0.0; judged[0].scores.values.len()], classes: judged[0].scores.classes };
    for j in judged {
        let slope = j.slope();
        for (out, scores) in mean.values.chunks_exact_mut(mean.classes).zip(j.scores.rows()) {
            out.iter_mut().zip(softmax(scores, slope)).for_each(|(o, p)| *o += j.weight * p);
        }
    }
    mean
}

/// Probabilities as scores of the problems: half the log-odds of each class against the others.
fn as_problem_scores(p: &Scores) -> Vec<Vec<f64>> {
    const MIN: f64 = 1e-12;
    let half_log_odds = |p: f64| 0.5 * (p.max(MIN) / (1.0 - p).max(MIN)).ln();
    let of_class = |c: usize| p.rows().map(|p| half_log_odds(p[c])).collect();
    if p.classes == 2 { vec![of_class(1)] } else { (0..p.classes).map(of_class).collect() }
}

/// Table of the candidates with their weights and evidence, for reports.
fn table(judged: &[Judged]) -> ParamValue {
    let row = |j: &Judged| {
        let mut row = ParamValues::from([
            ("candidate".into(), j.candidate.name.clone().into()),
            ("weight".into(), j.weight.into()),
            ("agreement".into(), j.label_free.agreement.into()),
            ("cut".into(), j.label_free.cut.into()),
        ]);
        if let Some(e) = &j.evidence {
            let (low, high) = e.interval();
            row.insert("accuracy".into(), (1.0 - e.error).into());
            row.insert("log_loss".into(), e.log_loss.into());
            row.insert("accuracy_low".into(), low.into());
            row.insert("accuracy_high".into(), high.into());
            row.insert("stability".into(), e.stability.into());
        }
        if let Some(seconds) = j.seconds {
            row.insert("seconds".into(), seconds.into());
        }
        ParamValue::Map(row)
    };
    ParamValue::List(judged.iter().map(row).collect())
}

impl Fit for AutoParams {
    fn fit(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        self.check()?;
        problems.iter().try_for_each(|p| p.check(x.rows()))?;
        if let Ratio::Given(shares) = &self.ratio {
            check_shares(shares, problems.len())?;
        }
        if let Some(graph) = &self.graph {
            graph.check_rows(x.rows())?;
        }
        let given = GivenLabels::of(problems);
        let judged = self.judge(x, problems, watch)?;
        let mut combined = combine(&judged);
        let held = weights::expected_accuracy(&judged, given.rows.len(), given.classes);
        given.rows.iter().zip(&given.class).for_each(|(&i, &c)| {
            let row = &mut combined.values[i * given.classes..(i + 1) * given.classes];
            row.iter_mut().enumerate().for_each(|(k, p)| *p = f64::from(u8::from(k == c)));
        });
        let mut fitted = model::fit(self, &judged, &combined, x, problems, &given, watch)?;
        let mut shares = vec![0.0; given.classes];
        given.unlabeled.iter().for_each(|&i| shares[combined.class(i)] += 1.0 / given.unlabeled.len() as f64);
        let mut facts = ParamValues::from([("candidates".into(), table(&judged))]);
        let fading = weights::fading(given.rows.len(), given.classes);
        let mut omitted = candidates::omitted(x, &given);
        let fitted_names = || judged.iter().map(|j| j.candidate.name.as_str());
        let unfinished = |c: &Candidate| !fitted_names().any(|name| name == c.name);
        let late = candidates::list(x, &given).into_iter().filter(unfinished);
        omitted.extend(late.map(|c| format!("{} (not completed)", c.name)));
        if !omitted.is_empty() {
            facts.insert("omitted".into(), ParamValue::List(omitted.into_iter().map(Into::into).collect()));
        }
        facts.insert("prior_of_labels_alone".into(), candidates::Prior::LABELS_ALONE.at(fading).into());
        facts.insert("evidence_rate".into(), weights::EVIDENCE_RATE.into());
        facts.insert("label_free_weight".into(), fading.into());
        facts.insert("model".into(), fitted.1.into());
        facts.insert("model_agreement".into(), fitted.2.into());
        if let Some(accuracy) = held {
            facts.insert("estimated_accuracy".into(), accuracy.into());
        }
        let alone = self.labels_alone(&judged, &given, held);
        let scores = as_problem_scores(&combined);
        let ratio = if problems.len() == 1 { vec![shares[1]] } else { shares };
        if !watch.proceed(&BETWEEN) {
            fitted.0.reports.iter_mut().for_each(|r| r.exit = Exit::Interrupted);
        }
        Ok(Fitted { transduced: Some(Transduced { scores, ratio, facts, alone }), ..fitted.0 })
    }

    fn supervised(&self) -> Option<Box<dyn Fit>> {
        Some(Box::new(candidates::linear(0.1)))
    }

    fn along(&self, graph: &Arc<Graph>) -> Option<Box<dyn Fit>> {
        Some(Box::new(Self { graph: Some(Arc::clone(graph)), ..self.clone() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_become_scores_with_the_same_confidence() {
        let p = Scores { values: vec![0.2, 0.8, 0.7, 0.3], classes: 2 };
        let f = &as_problem_scores(&p)[0];
        for (f, p) in f.iter().zip([0.8, 0.3]) {
            assert!((1.0 / (1.0 + (-2.0 * f).exp()) - p).abs() < 1e-12);
        }
    }

    #[test]
    fn softmax_of_large_scores_is_finite() {
        let p = softmax(&[1e300, -1e300, 0.0], 1.0);
        assert_eq!(p, [1.0, 0.0, 0.0]);
    }
}
