//! `lasvm` and its variants: support vector machines that learn one sample at a time.
//!
//! Problem: that of [`crate::estimators::supervised::svc`], solved approximately along a stream. Each sample is processed
//! once. It becomes a point of the expansion if a step on its coefficient improves the dual objective (PROCESS). Then one
//! step among all points follows (REPROCESS), and points that no step will move are evicted. FINISHING solves the problem of
//! the remaining points.
//! Sources: Bordes, Ertekin, Weston & Bottou 2005; Ertekin 2009, chapters 3 and 6.
//!
//! Four variants control the duality gap. They have no intercept and move one coefficient at a time, while the duality
//! gap is larger than the expected deviation of the sum of losses: `lasvm-g` (hinge loss), `full-svm` (never evicts a
//! point), `lasvm-nc` (ramp loss: a sample that arrives with y·f < s gets bounds on the other side of 0, so it cannot
//! pull the boundary toward its label), `lasvm-i` (skips samples outside s ≤ y·f ≤ 1).
//!
//! `local-svc` keeps every sample and moves only the coefficients of a candidate's neighbors; see `local.rs`.
//!
//! Corrections of errors in the source: the duality gap holds for any bounds; a step stops at the optimum or the bound,
//! whichever is nearer; cleaning keeps the points nearest to becoming support vectors; `lasvm-i` has a warm-up, too;
//! finishing ends when no pair violates the optimality conditions.
//!
//! Further departures: several outputs share points and kernel rows, and a point stays while one output needs it. The
//! number of points is limited. In the variants that control the duality gap, steps of two coefficients follow after
//! sixteen steps of one coefficient on the same sample, and the threshold uses the largest cost instead of C. Finishing
//! evicts every point that is not a support vector. With ramp loss, finishing also decides again which points lie
//! beyond the ramp, until none changes (the concave-convex procedure on the remaining points).

mod checkpoint;
mod eviction;
mod local;
pub mod spec;
mod state;

pub use checkpoint::Saved;
pub use local::{Mode, Neighborhood};
pub(crate) use state::SCORE_BLOCK;
pub use state::{Counts, Lasvm, Ramp};

use crate::active::{POOL, StopRule, Stopped, Strategy};
use crate::data::{Label, Matrix, MatrixView};
use crate::error::{Error, Result};
use crate::estimators::online::active::{self, ActiveReport};
use crate::estimators::{Fit, Fitted, Targets};
use crate::kernel::Kernel;
use crate::model::Model;
use crate::solver::{Exit, Report, Watch};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

/// Member of the LASVM family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LasvmVariant {
    /// `lasvm`: hinge loss with intercept.
    Hinge,
    /// `lasvm-g`: hinge loss, steps until the duality gap is below a threshold.
    Gap,
    /// `lasvm-nc`: ramp loss.
    Ramp,
    /// `lasvm-i`: hinge loss on the samples with s ≤ y·f ≤ 1 on arrival.
    Filter,
    /// `full-svm`: hinge loss, no point is evicted.
    Full,
    /// `local-svc`: hinge loss with intercept, every sample is kept, steps among the neighbors of a candidate.
    Local,
}

impl LasvmVariant {
    /// The variant of the estimator with this name.
    pub fn of(name: &str) -> Option<Self> {
        Some(match name {
            "lasvm" => Self::Hinge,
            "lasvm-g" => Self::Gap,
            "lasvm-nc" => Self::Ramp,
            "lasvm-i" => Self::Filter,
            "full-svm" => Self::Full,
            "local-svc" => Self::Local,
            _ => return None,
        })
    }

    /// Whether the decision function has an intercept.
    pub fn has_bias(self) -> bool {
        matches!(self, Self::Hinge | Self::Local)
    }
}

/// Parameters of the LASVM family.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LasvmParams {
    /// Member of the family.
    pub variant: LasvmVariant,
    /// The kernel.
    pub kernel: Kernel,
    /// Cost of a margin violation, times the weight of the example.
    pub c: f64,
    /// Largest violation of the optimality conditions.
    pub tolerance: f64,
    /// Number of passes over the data.
    pub epochs: usize,
    /// Whether to solve the problem of the remaining points at the end.
    pub finish: bool,
    /// `lasvm`: repeat REPROCESS while the spread of the gradient bounds is larger than this; 0 = one step per sample.
    pub delta_max: f64,
    /// End of the ramp: samples with y·f below it are treated as mislabeled.
    pub s: f64,
    /// Minimum number of support vectors before the ramp is applied.
    pub warm_up: usize,
    /// Number of samples between cleanings, which evict points that are not support vectors; 0 = never. Only the
    /// variants that control the duality gap use it.
    pub clean_every: u64,
    /// Maximum number of points other than support vectors that a cleaning keeps; 0 = the larger of 100 and a tenth of the
    /// number of support vectors.
    pub clean_keep: usize,
    /// Maximum number of points of the expansion.
    pub max_points: usize,
    /// Memory limit for cached kernel rows, in bytes.
    pub cache_bytes: usize,
    /// Seed of the order of the samples.
    pub seed: u64,
    /// Strategy that chooses the next sample.
    pub select: Strategy,
    /// Number of samples among which `active` and `gradient` choose; 0 = all.
    pub pool: usize,
    /// Maximum number of labels to read; 0 = no limit.
    pub labels: usize,
    /// Rule that ends the choosing of samples.
    pub stop: StopRule,
    /// Whether to save intermediate models (the learning curve).
    pub curve: bool,
    /// `lasvm`: whether to evict no point and solve the problem of all points after every sample, for comparison.
    pub retrain: bool,
    /// Number of virtual points for each positive that becomes a support vector (VIRTUAL); 0 = none.
    #[serde(rename = "virtual")]
    pub virtual_points: usize,
    /// Number of nearest positives from which VIRTUAL draws.
    pub n_neighbors: usize,
    /// `local-svc`: the coefficients that a new sample may move.
    pub local: Neighborhood,
}

/// An intermediate model of a learning curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// Number of labels read.
    pub labels: usize,
    /// Number of samples learned, including virtual ones.
    pub learned: usize,
    /// Number of support vectors.
    pub support: usize,
    /// The finished model.
    pub model: Model,
}

/// Results of an online learner in addition to its model.
#[derive(Debug, Clone, PartialEq)]
pub struct Online {
    /// Counts of samples, steps and kernel values.
    pub counts: Counts,
    /// Number of labels read.
    pub labels: usize,
    /// Reason why no more samples were chosen.
    pub stopped: Stopped,
    /// Intermediate models, if requested.
    pub curve: Vec<Checkpoint>,
    /// Numbers of support vectors of the first output with negative and with positive label.
    pub support: [usize; 2],
    /// Number of virtual points, and number of those that are support vectors.
    pub virtual_points: [usize; 2],
    /// The virtual points in the order in which they were made; `None` without VIRTUAL.
    pub made: Option<Matrix>,
    /// The state before finishing, from which learning can be resumed.
    pub saved: Saved,
}

impl Default for LasvmParams {
    fn default() -> Self {
        Self {
            variant: LasvmVariant::Hinge,
            kernel: Kernel::Rbf { gamma: 1.0 },
            c: 1.0,
            tolerance: 1e-3,
            epochs: 1,
            finish: true,
            delta_max: 0.0,
            s: -1.0,
            warm_up: 50,
            clean_every: 300,
            clean_keep: 0,
            max_points: 100_000,
            cache_bytes: 1 << 30,
            seed: 1,
            select: Strategy::Random,
            pool: POOL,
            labels: 0,
            stop: StopRule::Margin,
            curve: false,
            retrain: false,
            virtual_points: 0,
            n_neighbors: 5,
            local: Neighborhood::default(),
        }
    }
}

/// Maximum number of virtual points per positive.
const MAX_VIRTUAL: usize = 100;

/// Number of samples of each class that are learned first.
pub(crate) const SEEDS: usize = 5;

impl LasvmParams {
    /// Checks that all parameters are in range and consistent.
    pub fn check(&self) -> Result<()> {
        self.kernel.check_of_samples()?;
        self.local.check(self.kernel)?;
        if !(self.c > 0.0 && self.c <= 1e15) {
            return Err(Error::parameter("c", self.c, "a number above 0, at most 1e15"));
        }
        if !(self.tolerance > 0.0 && self.tolerance.is_finite()) {
            return Err(Error::parameter("tolerance", self.tolerance, "a positive number"));
        }
        if !(self.delta_max >= 0.0 && self.delta_max.is_finite()) {
            return Err(Error::parameter("delta_max", self.delta_max, "0 or a positive number"));
        }
        if self.s.is_nan() || self.s >= 1.0 {
            return Err(Error::parameter("s", self.s, "a number below 1"));
        }
        if !(2..=1 << 24).contains(&self.max_points) {
            return Err(Error::parameter("max_points", self.max_points, "from 2 to 16777216"));
        }
        if self.epochs == 0 {
            return Err(Error::parameter("epochs", self.epochs, "1 or more"));
        }
        if self.epochs > 1 && self.is_active() {
            return Err(Error::parameter("epochs", self.epochs, "1 with select, labels, curve or virtual"));
        }
        if self.labels > 0 && self.stop == StopRule::CrossValidated {
            return Err(Error::parameter(
                "labels",
                self.labels,
                "0 with stop = cross-validated, which reads all labels",
            ));
        }
        if self.virtual_points > MAX_VIRTUAL {
            return Err(Error::parameter("virtual", self.virtual_points, format!("at most {MAX_VIRTUAL}")));
        }
        if !(1..=1000).contains(&self.n_neighbors) {
            return Err(Error::parameter("n_neighbors", self.n_neighbors, "from 1 to 1000"));
        }
        Ok(())
    }

    /// Maximum number of points other than support vectors that a cleaning keeps.
    fn allowance(&self, support: usize) -> usize {
        if self.clean_keep > 0 { self.clean_keep } else { 100.max(support / 10) }
    }
}

impl Fit for LasvmParams {
    fn fit(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        problems.iter().try_for_each(|p| p.check(x.rows()))?;
        self.check()?;
        if self.is_active() && !active::are_classes(problems) {
            return self.fit_each(x, problems, watch);
        }
        let mut max_samples = None;
        if self.is_active() && self.stop == StopRule::CrossValidated {
            max_samples = Some(active::cross_validated_count(self, &x.to_matrix(), problems, watch)?);
        }
        let mut state = Lasvm::new(self, x, problems.len())?;
        let active_report = if self.is_active() {
            active::learn(&mut state, &x.to_matrix(), problems, max_samples, watch)?
        } else {
            self.pass(&mut state, x, problems, watch)?
        };
        Ok(self.end(state, active_report, x.rows(), watch))
    }
}

impl LasvmParams {
    /// Learns all samples in all epochs. Each epoch has its own order; the first starts with a few samples of each class.
    fn pass(
        &self,
        state: &mut Lasvm,
        x: MatrixView<'_>,
        problems: &[Targets],
        watch: &dyn Watch,
    ) -> Result<ActiveReport> {
        let mut active_report =
            ActiveReport { labels: x.rows(), stopped: Stopped::Exhausted, curve: Vec::new(), made: None };
        let mut rng = Pcg64::seed_from_u64(self.seed);
        for epoch in 0..self.epochs {
            let order = self.order(problems, epoch, &mut rng);
            if !state.learn(x, &order, 0, problems, watch)? {
                active_report.labels = state.counts().seen as usize;
                active_report.stopped = Stopped::Interrupted;
                break;
            }
        }
        Ok(active_report)
    }

    /// Fits a separate SVM for each problem: problems with different labeled rows, such as pairs of classes and folds,
    /// cannot share queries.
    fn fit_each(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        let mut points = Matrix::empty(x.cols(), matches!(x, MatrixView::Csr { .. }));
        let (mut coef, mut bias, mut reports) = (Vec::new(), Vec::new(), Vec::new());
        for problem in problems {
            let used = problem.used();
            let alone = self.fit(x.select(&used).view(), &[problem.select(&used)], watch)?;
            reports.extend(alone.reports);
            if let Model::Expansion { points: own, coef: own_coef, bias: own_bias, .. } = alone.model {
                let mut padded = vec![0.0; points.rows()];
                padded.extend(own_coef.into_iter().flatten());
                (0..own.rows()).for_each(|i| points.push(own.view().row(i)));
                coef.push(padded);
                bias.extend(own_bias);
            }
        }
        coef.iter_mut().for_each(|c| c.resize(points.rows(), 0.0));
        Ok(Fitted {
            model: Model::Expansion { kernel: self.kernel, points, coef, bias },
            reports,
            online: None,
            transduced: None,
        })
    }

    /// Random order of the rows in an epoch. In the first epoch of a variant with intercept, a few samples of each class
    /// come first, because its pair steps need both classes.
    pub fn order(&self, problems: &[Targets], epoch: usize, rng: &mut Pcg64) -> Vec<usize> {
        let mut order: Vec<usize> = (0..problems.first().map_or(0, |p| p.y.len())).collect();
        order.shuffle(rng);
        if epoch == 0 && self.variant.has_bias() {
            seeds_first(&mut order, problems, SEEDS);
        }
        order
    }

    /// Whether the active-learning loop is used, because samples are chosen, labels limited, a curve requested or virtual
    /// points made.
    fn is_active(&self) -> bool {
        self.select != Strategy::Random || self.labels > 0 || self.curve || self.virtual_points > 0
    }

    /// Finishes the state and returns the result with one report per output; the first report carries the counts of all.
    pub(crate) fn end(
        &self,
        mut state: Lasvm,
        active_report: ActiveReport,
        real: usize,
        watch: &dyn Watch,
    ) -> Fitted {
        let saved = state.save();
        let exit =
            if active_report.stopped == Stopped::Interrupted { Exit::Interrupted } else { Exit::Converged };
        let mut reports: Vec<Report> = if self.finish && exit == Exit::Converged {
            state.finish(watch)
        } else {
            (0..state.outputs()).map(|j| state.report(j, exit)).collect()
        };
        let counts = state.counts();
        reports.iter_mut().for_each(|r| r.kernel_evaluations = 0);
        if let Some(first) = reports.first_mut() {
            first.steps += counts.process + counts.reprocess;
            first.kernel_evaluations = counts.evaluations;
        }
        let (target, alpha) = (state.output(0).target(), state.output(0).alpha());
        let side = |y: f64| alpha.iter().zip(target).filter(|(a, t)| **a != 0.0 && **t == y).count();
        let made = |(s, id): (usize, u64)| id >= real as u64 && alpha[s] != 0.0;
        let online = Online {
            counts,
            labels: active_report.labels,
            stopped: active_report.stopped,
            curve: active_report.curve,
            support: [side(-1.0), side(1.0)],
            virtual_points: [
                active_report.made.as_ref().map_or(0, Matrix::rows),
                state.ids().filter(|p| made(*p)).count(),
            ],
            made: active_report.made,
            saved,
        };
        Fitted { online: Some(online), ..Fitted::new(state.model(), reports) }
    }
}

/// Moves the first `count` rows of each class of each problem to the front; the order is otherwise kept.
pub(crate) fn seeds_first(order: &mut Vec<usize>, problems: &[Targets], count: usize) {
    let mut chosen = std::collections::BTreeSet::new();
    let mut front = Vec::new();
    for p in problems {
        for class in [Label::Neg, Label::Pos] {
            let rows = order.iter().copied().filter(|&i| p.y[i] == class && p.cost[i] > 0.0);
            front.extend(rows.take(count).filter(|&i| chosen.insert(i)));
        }
    }
    front.extend(order.iter().copied().filter(|i| !chosen.contains(i)));
    *order = front;
}
