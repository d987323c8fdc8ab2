//! `lasvm` and its relatives: support vector machines that learn one sample at a time.
//!
//! Problem: that of [`super::svc`], approached along a stream. Each sample is met once; it becomes a point of the
//! expansion if a step on it improves the dual objective (PROCESS), a step among the points follows (REPROCESS), and
//! points that no step will move are dropped. FINISHING solves the problem of the points that are left.
//! Sources: Bordes, Ertekin, Weston & Bottou 2005; Ertekin 2009, chapters 3 and 6.
//!
//! The gap family has no bias and moves one coefficient at a time, while the duality gap is larger than the losses
//! scatter: `lasvm-g` (hinge loss), `full-svm` (never drops a point), `lasvm-nc` (ramp loss: a sample that comes with
//! y·f < s gets bounds on the other side of 0, so it cannot pull), `lasvm-i` (a sample outside s ≤ y·f ≤ 1 is passed
//! over).
//!
//! Departures, all from the errata of the source: the gap is right for any bounds, steps stop at the nearer of optimum
//! and bound, cleaning keeps the points nearest to taking part, warm-up also for `lasvm-i`, finishing ends when no pair
//! violates. Several outputs share points and kernel rows: a point stays while one of them needs it.

mod state;

pub use state::{Counts, Lasvm, Ramp, Saved};

use super::{Fit, Fitted, Targets};
use crate::data::{Label, MatrixView};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::solve::{Exit, Watch};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

/// Which of the family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
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
}

impl Loss {
    /// Whether the decision function has a constant.
    pub fn has_bias(self) -> bool {
        self == Self::Hinge
    }
}

/// Parameters of the family.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LasvmParams {
    /// Which of the family.
    pub loss: Loss,
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
    /// Where the ramp ends: samples with y·f below it are taken for mislabelled.
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
}

impl Default for LasvmParams {
    fn default() -> Self {
        Self {
            loss: Loss::Hinge,
            kernel: Kernel::Rbf { gamma: 1.0 },
            c: 1.0,
            tolerance: 1e-3,
            epochs: 1,
            finish: true,
            delta_max: 0.0,
            s: -1.0,
            warm_up: 100,
            clean_every: 300,
            clean_keep: 0,
            max_points: 100_000,
            cache_bytes: 1 << 30,
            seed: 1,
        }
    }
}

/// Samples of each class that come first.
const SEEDS: usize = 5;

impl LasvmParams {
    /// Refuses parameters that make no sense.
    pub fn check(&self) -> Result<()> {
        self.kernel.check()?;
        if self.kernel == Kernel::Precomputed {
            return Err(Error::parameter(
                "kernel",
                "precomputed",
                "a kernel of samples for an online learner",
            ));
        }
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
        Ok(())
    }

    fn allowance(&self, support: usize) -> usize {
        if self.clean_keep > 0 { self.clean_keep } else { 100.max(support / 10) }
    }
}

impl Fit for LasvmParams {
    fn fit(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        problems.iter().try_for_each(|p| p.check(x.rows()))?;
        let mut state = Lasvm::new(self, x, problems.len())?;
        let exit = self.pass(&mut state, x, problems, watch)?;
        let reports = self.end(&mut state, exit, watch);
        Ok(Fitted { model: state.model(), reports })
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
    ) -> Result<Exit> {
        let mut rng = rand_pcg::Pcg64::seed_from_u64(self.seed);
        for epoch in 0..self.epochs {
            let mut order: Vec<usize> = (0..x.rows()).collect();
            order.shuffle(&mut rng);
            if epoch == 0 {
                seeds_first(&mut order, problems, SEEDS);
            }
            if !state.learn(x, &order, 0, problems, watch)? {
                return Ok(Exit::Interrupted);
            }
        }
        Ok(Exit::Converged)
    }

    /// Finishing, and one report an output; the first carries the counts of all.
    pub(super) fn end(&self, state: &mut Lasvm, exit: Exit, watch: &dyn Watch) -> Vec<crate::solve::Report> {
        let mut reports = if self.finish && exit == Exit::Converged {
            state.finish(watch)
        } else {
            (0..state.outputs()).map(|j| state.report(j, exit)).collect()
        };
        let counts = state.counts();
        if let Some(first) = reports.first_mut() {
            first.steps += counts.process + counts.reprocess;
            first.kernel_evaluations = counts.evaluations;
        }
        reports.iter_mut().skip(1).for_each(|r| r.kernel_evaluations = 0);
        reports
    }
}

/// Moves the first `count` rows of each class of each problem to the front, keeping the order otherwise.
pub(super) fn seeds_first(order: &mut Vec<usize>, problems: &[Targets], count: usize) {
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
