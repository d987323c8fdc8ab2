//! `lasvm` and its relatives: support vector machines that learn one sample at a time.
//!
//! Problem: that of [`crate::estimators::supervised::svc`], approached along a stream. Each sample is met once; it becomes a point of the
//! expansion if a step on it improves the dual objective (PROCESS), a step among the points follows (REPROCESS), and
//! points that no step will move are dropped. FINISHING solves the problem of the points that are left.
//! Sources: Bordes, Ertekin, Weston & Bottou 2005; Ertekin 2009, chapters 3 and 6.
//!
//! The gap family has no bias and moves one coefficient at a time, while the duality gap is larger than the losses
//! scatter: `lasvm-g` (hinge loss), `full-svm` (never drops a point), `lasvm-nc` (ramp loss: a sample that comes with
//! y·f < s gets bounds on the other side of 0, so it cannot pull), `lasvm-i` (a sample outside s ≤ y·f ≤ 1 is passed
//! over).
//!
//! `local-svc` keeps every sample and lets only the neighbors of a candidate move: its own page is `local.rs`.
//!
//! Departures from the errata of the source: the gap is right for any bounds, steps stop at the nearer of optimum and
//! bound, cleaning keeps the points nearest to taking part, warm-up also for `lasvm-i`, finishing ends when no pair
//! violates. Our own: several outputs share points and kernel rows, a point stays while one of them needs it; a cap on
//! the points; in the gap family steps of two coefficients after sixteen of one on the same sample, the largest cost
//! in place of C in the threshold; finishing drops every point that is no support vector, and that of the ramp loss decides
//! anew, until nothing changes, which points lie beyond the ramp (the concave-convex procedure on the points there are).

mod checkpoint;
mod eviction;
mod local;
pub mod spec;
mod state;

pub use checkpoint::Saved;
pub use local::{Mode, Neighborhood};
pub(crate) use state::SCORED;
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

/// Which of the family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LasvmVariant {
    /// `lasvm`: hinge loss with bias.
    Hinge,
    /// `lasvm-g`: hinge loss, steps by the duality gap.
    Gap,
    /// `lasvm-nc`: ramp loss.
    Ramp,
    /// `lasvm-i`: hinge loss on the samples the ramp lets through.
    Filter,
    /// `full-svm`: hinge loss, no point is dropped.
    Full,
    /// `local-svc`: hinge loss with bias, every sample is kept, steps among the neighbors of a candidate.
    Local,
}

impl LasvmVariant {
    /// The variant of an estimator by its name.
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

    /// Whether the decision function has a constant.
    pub fn has_bias(self) -> bool {
        matches!(self, Self::Hinge | Self::Local)
    }
}

/// Parameters of the family.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LasvmParams {
    /// Which of the family.
    pub variant: LasvmVariant,
    /// The kernel.
    pub kernel: Kernel,
    /// Cost of a margin violation, times the weight of the example.
    pub c: f64,
    /// Largest violation of the optimality conditions.
    pub tolerance: f64,
    /// Passes over the data.
    pub epochs: usize,
    /// Whether to solve the problem of the points at the end.
    pub finish: bool,
    /// `lasvm`: step on while the extremes are further apart than this; 0 = one step a sample.
    pub delta_max: f64,
    /// Where the ramp ends: samples with y·f below it are taken for mislabeled.
    pub s: f64,
    /// Support vectors before the ramp is trusted.
    pub warm_up: usize,
    /// The gap family: samples between cleanings; 0 = none.
    pub clean_every: u64,
    /// Points that are no support vectors and survive a cleaning; 0 = the larger of 100 and a tenth of the support
    /// vectors.
    pub clean_keep: usize,
    /// Most points of the expansion.
    pub max_points: usize,
    /// Bytes for cached kernel rows.
    pub cache_bytes: usize,
    /// Seed of the order in which samples come.
    pub seed: u64,
    /// How the next sample is chosen.
    pub select: Strategy,
    /// Samples among which `active` and `gradient` choose; 0 = all.
    pub pool: usize,
    /// Most labels to look at; 0 = no limit.
    pub labels: usize,
    /// When to stop choosing.
    pub stop: StopRule,
    /// Whether to keep models along the way.
    pub curve: bool,
    /// `lasvm`: whether to drop no point and solve their problem after every sample, to compare with.
    pub retrain: bool,
    /// Virtual points for each positive that becomes a support vector (VIRTUAL); 0 = none.
    #[serde(rename = "virtual")]
    pub virtual_points: usize,
    /// Nearest positives among which VIRTUAL draws.
    pub n_neighbors: usize,
    /// `local-svc`: who moves when a sample comes.
    pub local: Neighborhood,
}

/// A model along the way.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// Labels looked at.
    pub labels: usize,
    /// Samples learned from, virtual ones included.
    pub learned: usize,
    /// Support vectors.
    pub support: usize,
    /// The model, finished.
    pub model: Model,
}

/// What an online learner tells beside its model.
#[derive(Debug, Clone, PartialEq)]
pub struct Online {
    /// What was counted.
    pub counts: Counts,
    /// Labels looked at.
    pub labels: usize,
    /// Why it stopped choosing samples.
    pub stopped: Stopped,
    /// Models along the way, if asked for.
    pub curve: Vec<Checkpoint>,
    /// Support vectors of the first output with negative and positive label.
    pub support: [usize; 2],
    /// Virtual points made, and those of them that are support vectors.
    pub virtual_points: [usize; 2],
    /// The virtual points made, in the order of their making; none for other learners.
    pub made: Option<Matrix>,
    /// The state before finishing, from which learning can go on.
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

/// Most virtual points a positive may get.
const MAX_VIRTUAL: usize = 100;

/// Samples of each class that come first.
pub(crate) const SEEDS: usize = 5;

impl LasvmParams {
    /// Refuses parameters that make no sense.
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
        if self.epochs > 1 && self.asks() {
            return Err(Error::parameter(
                "epochs",
                self.epochs,
                "1 where samples are chosen, counted or followed",
            ));
        }
        if self.labels > 0 && self.stop == StopRule::CrossValidated {
            return Err(Error::parameter(
                "labels",
                self.labels,
                "0 with stop = cross-validated, which reads them all",
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

    fn allowance(&self, support: usize) -> usize {
        if self.clean_keep > 0 { self.clean_keep } else { 100.max(support / 10) }
    }
}

impl Fit for LasvmParams {
    fn fit(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        problems.iter().try_for_each(|p| p.check(x.rows()))?;
        self.check()?;
        if self.asks() && !active::are_classes(problems) {
            return self.fit_each(x, problems, watch);
        }
        let mut most = None;
        if self.asks() && self.stop == StopRule::CrossValidated {
            most = Some(active::cross_validated_count(self, &x.to_matrix(), problems, watch)?);
        }
        let mut state = Lasvm::new(self, x, problems.len())?;
        let asked = if self.asks() {
            active::learn(&mut state, &x.to_matrix(), problems, most, watch)?
        } else {
            self.pass(&mut state, x, problems, watch)?
        };
        Ok(self.end(state, asked, x.rows(), watch))
    }
}

impl LasvmParams {
    /// All epochs; each in an order of its own, a few samples of each class first.
    fn pass(
        &self,
        state: &mut Lasvm,
        x: MatrixView<'_>,
        problems: &[Targets],
        watch: &dyn Watch,
    ) -> Result<ActiveReport> {
        let mut asked =
            ActiveReport { labels: x.rows(), stopped: Stopped::Exhausted, curve: Vec::new(), made: None };
        let mut rng = Pcg64::seed_from_u64(self.seed);
        for epoch in 0..self.epochs {
            let order = self.order(problems, epoch, &mut rng);
            if !state.learn(x, &order, 0, problems, watch)? {
                asked.labels = state.counts().seen as usize;
                asked.stopped = Stopped::Interrupted;
                break;
            }
        }
        Ok(asked)
    }

    /// Each problem by a machine of its own: pairs of classes and folds are not asked about together.
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

    /// The order of the rows in an epoch: random, in the first one with a few of each class at the front if there are
    /// pairs to be found, for which both are needed.
    pub fn order(&self, problems: &[Targets], epoch: usize, rng: &mut Pcg64) -> Vec<usize> {
        let mut order: Vec<usize> = (0..problems.first().map_or(0, |p| p.y.len())).collect();
        order.shuffle(rng);
        if epoch == 0 && self.variant.has_bias() {
            seeds_first(&mut order, problems, SEEDS);
        }
        order
    }

    /// Whether samples are chosen rather than taken as they come.
    fn asks(&self) -> bool {
        self.select != Strategy::Random || self.labels > 0 || self.curve || self.virtual_points > 0
    }

    /// Finishing, and one report an output; the first carries the counts of all.
    pub(crate) fn end(
        &self,
        mut state: Lasvm,
        asked: ActiveReport,
        real: usize,
        watch: &dyn Watch,
    ) -> Fitted {
        let saved = state.save();
        let exit = if asked.stopped == Stopped::Interrupted { Exit::Interrupted } else { Exit::Converged };
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
            labels: asked.labels,
            stopped: asked.stopped,
            curve: asked.curve,
            support: [side(-1.0), side(1.0)],
            virtual_points: [
                asked.made.as_ref().map_or(0, Matrix::rows),
                state.ids().filter(|p| made(*p)).count(),
            ],
            made: asked.made,
            saved,
        };
        Fitted { online: Some(online), ..Fitted::new(state.model(), reports) }
    }
}

/// Moves the first `count` rows of each class of each problem to the front, keeping the order otherwise.
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
