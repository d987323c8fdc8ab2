//! `ramp-svc`: batch support vector machine with ramp loss, solved by the concave-convex procedure.
//!
//! Problem: min ½|f|² + C Σ wᵢ R(yᵢf(xᵢ)) with R(z) = min(1 − s, max(0, 1 − z)). The loss of a sample is constant for
//! y·f < s, so outliers do not become support vectors (Collobert, Sinz, Weston & Bottou 2006; Ertekin 2009, 6.3). R is the
//! hinge at 1 minus the hinge at s. Each round replaces the second hinge by its tangent, which shifts the bounds of the
//! samples with y·f < s by −Cy, and solves the remaining convex problem. The first round is the hinge solution. The
//! objective never rises, and the rounds end when no sample changes its side of s. The result is a local optimum.
//!
//! There is no intercept by default, as in the source. With an intercept the same properties hold.

use crate::data::MatrixView;
use crate::error::{Error, Result};
use crate::estimators::registry::{EstimatorSpec, Parameters};
use crate::estimators::supervised::svc::SvcParams;
use crate::estimators::{Fit, Fitted, Targets};
use crate::kernel::Kernel;
use crate::kernel::gram::Gram;
use crate::model::Model;
use crate::params::shared::{C, CACHE_BYTES, COEF0, DEGREE, FIT_INTERCEPT, GAMMA, KERNEL, TOLERANCE};
use crate::params::{End, FloatRange, ParamSpec};
use crate::solver::smo::Dual;
use crate::solver::{Exit, Report, Watch};
use serde::{Deserialize, Serialize};

/// The specification of `ramp-svc`.
pub static SPEC: EstimatorSpec = EstimatorSpec::supervised(
    "ramp-svc",
    "batch support vector machine with ramp loss, robust to outliers (any kernel)",
    &[
        KERNEL,
        GAMMA,
        DEGREE,
        COEF0,
        C,
        ParamSpec::float(
            "s",
            FloatRange::new(End::Unbounded, End::Open(1.0)),
            "-1",
            "end of the ramp: the loss is constant for samples with y·f below it",
        ),
        TOLERANCE,
        FIT_INTERCEPT.default_of("false"),
        ParamSpec::count("rounds", 1, "100", "maximum number of rounds of the concave-convex procedure"),
        CACHE_BYTES,
    ],
);

impl Parameters for RampParams {}

/// Parameters of [`ramp-svc`](self).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RampParams {
    /// The kernel.
    pub kernel: Kernel,
    /// Cost of a margin violation, times the weight of the example.
    pub c: f64,
    /// End of the ramp: the loss is constant for y·f < s.
    pub s: f64,
    /// Largest violation of the optimality conditions in each round.
    pub tolerance: f64,
    /// Whether to learn an intercept.
    pub fit_intercept: bool,
    /// Maximum number of rounds of the concave-convex procedure.
    pub rounds: usize,
    /// Memory limit for cached kernel rows, in bytes.
    pub cache_bytes: usize,
}

impl Default for RampParams {
    fn default() -> Self {
        Self {
            kernel: Kernel::Rbf { gamma: 1.0 },
            c: 1.0,
            s: -1.0,
            tolerance: 1e-3,
            fit_intercept: false,
            rounds: 100,
            cache_bytes: 1 << 30,
        }
    }
}

/// Solution of a problem with ramp loss.
#[derive(Debug)]
pub struct RampSolution {
    /// The convex problem of the last round.
    pub dual: Dual,
    /// Objective ½|f|² + C Σ wᵢ R(yᵢf(xᵢ)) after each round; it never rises.
    pub objectives: Vec<f64>,
    /// Report over all rounds.
    pub report: Report,
}

impl RampParams {
    fn svc(&self) -> SvcParams {
        SvcParams {
            kernel: self.kernel,
            c: self.c,
            tolerance: self.tolerance,
            fit_intercept: self.fit_intercept,
            cache_bytes: self.cache_bytes,
            ..Default::default()
        }
    }

    /// Solves one problem by rounds of the concave-convex procedure on a Gram matrix.
    pub fn solve(&self, gram: &mut dyn Gram, targets: &Targets, watch: &dyn Watch) -> RampSolution {
        let (svc, n) = (self.svc(), targets.y.len());
        let bound: Vec<f64> = (0..n).map(|i| targets.y[i].sign() * self.c * targets.cost[i]).collect();
        let mut dual = svc.dual(targets);
        let mut beyond = vec![false; n];
        let mut objectives = Vec::new();
        let mut report =
            Report { steps: 0, objective: 0.0, gap: 0.0, kernel_evaluations: 0, exit: Exit::Limit };
        for _ in 0..self.rounds {
            let round = svc.run(&mut dual, gram, watch);
            report.steps += round.steps;
            report.kernel_evaluations += round.kernel_evaluations;
            report.gap = round.gap;
            let f = dual.decisions();
            objectives.push(self.objective(&dual, &f, targets));
            let now: Vec<bool> = (0..n).map(|i| targets.y[i].sign() * f[i] < self.s).collect();
            if round.exit != Exit::Converged || now == beyond {
                report.exit = round.exit;
                break;
            }
            beyond = now;
            let shift = |i: usize| if beyond[i] { -bound[i] } else { 0.0 };
            let bounds: Vec<(f64, f64)> =
                (0..n).map(|i| (bound[i].min(0.0) + shift(i), bound[i].max(0.0) + shift(i))).collect();
            dual.move_bounds(gram, &bounds);
        }
        report.objective = objectives.last().copied().unwrap_or(0.0);
        RampSolution { dual, objectives, report }
    }

    fn objective(&self, dual: &Dual, f: &[f64], targets: &Targets) -> f64 {
        let b = dual.bias();
        let norm: f64 = dual.alpha().iter().zip(f).map(|(a, f)| a * (f - b)).sum();
        let loss = |i: usize| (1.0 - targets.y[i].sign() * f[i]).clamp(0.0, 1.0 - self.s);
        0.5 * norm + (0..f.len()).map(|i| self.c * targets.cost[i] * loss(i)).sum::<f64>()
    }
}

impl Fit for RampParams {
    fn fit(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        if self.s.is_nan() || self.s >= 1.0 {
            return Err(Error::parameter("s", self.s, "a number below 1"));
        }
        if self.rounds == 0 {
            return Err(Error::parameter("rounds", self.rounds, "1 or more"));
        }
        let svc = self.svc();
        svc.check(x)?;
        problems.iter().try_for_each(|p| p.check(x.rows()))?;
        let mut gram = svc.gram(x)?;
        let (mut coef, mut bias, mut reports) = (Vec::new(), Vec::new(), Vec::new());
        for targets in problems {
            let used = targets.used();
            let mut alpha = vec![0.0; x.rows()];
            let solution = if used.len() == x.rows() {
                self.solve(gram.as_mut(), targets, watch)
            } else {
                self.solve(gram.subset(&used)?.as_mut(), &targets.select(&used), watch)
            };
            used.iter().zip(solution.dual.alpha()).for_each(|(&i, a)| alpha[i] = *a);
            coef.push(alpha);
            bias.push(solution.dual.bias());
            reports.push(solution.report);
        }
        if self.kernel == Kernel::Precomputed {
            return Ok(Fitted::new(Model::Linear { weights: coef, bias }, reports));
        }
        let support: Vec<usize> = (0..x.rows()).filter(|&i| coef.iter().any(|c| c[i] != 0.0)).collect();
        let coef = coef.iter().map(|c| support.iter().map(|&i| c[i]).collect()).collect();
        let model = Model::Expansion { kernel: self.kernel, points: x.select(&support), coef, bias };
        Ok(Fitted::new(model, reports))
    }
}
