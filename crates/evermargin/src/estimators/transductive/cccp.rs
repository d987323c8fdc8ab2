//! `cccp-s3vm`: the semi-supervised support vector machine by the concave-convex procedure (Collobert, Sinz, Weston &
//! Bottou 2006).
//!
//! Problem: (λ/2)|f|² + (1/l) Σ h(yᵢfᵢ) + (λᵤ/u) Σ min(1 + s, h(|fⱼ|)) subject to mean f of the unlabeled rows = 2r −
//! 1; −1 < s ≤ 0 flattens the top of the loss. It is the ramp loss of [`crate::estimators::supervised::ramp`] on both
//! labels of an unlabeled row, minus a constant: R(fⱼ) + R(−fⱼ) = 1 − s + min(1 + s, h(|fⱼ|)).
//!
//! Method: start from the labels alone; each round replaces the concave part of the ramps by its tangent, which shifts
//! the bounds of the variables with y·f < s by −cy, and solves the remaining convex problem with the dual solver. The
//! objective never increases; the method ends when no variable changes sides. The result is a local optimum.
//!
//! Departure: the balance constraint is enforced by centering (`kernel_features`) instead of by a multiplier of its
//! own.

use super::annealing_step::both_sides;
use super::grad_tsvm::middle;
use super::kernel_features::{Centered, whole_matrix};
use super::s3vm::{self, Function, Problem, Problems};
use super::{Ratio, default_lambda};
use crate::data::MatrixView;
use crate::error::{Error, Result};
use crate::estimators::registry::{EstimatorSpec, Parameters};
use crate::estimators::{Fit, Fitted, Targets};
use crate::kernel::Kernel;
use crate::kernel::gram::MirroredGram;
use crate::params::shared::{COEF0, DEGREE, GAMMA, KERNEL, KERNEL_LAMBDA, LAMBDA_U, RATIO, TOLERANCE};
use crate::params::{FloatRange, ParamSpec};
use crate::solver::smo::Dual;
use crate::solver::{Exit, Report, Stop, Watch};
use serde::{Deserialize, Serialize};

/// The specification of `cccp-s3vm`.
pub static SPEC: EstimatorSpec = EstimatorSpec::semi_supervised(
    "cccp-s3vm",
    "semi-supervised support vector machine by the concave-convex procedure (any kernel)",
    &[
        KERNEL,
        GAMMA,
        DEGREE,
        COEF0,
        KERNEL_LAMBDA,
        LAMBDA_U,
        RATIO,
        ParamSpec::float(
            "s",
            FloatRange::above(-1.0, 0.0),
            "-0.3",
            "end of the ramp; the loss of an unlabeled row is at most 1 + s",
        ),
        TOLERANCE.range_of(FloatRange::UNIT_OPEN),
        ParamSpec::count("rounds", 1, "100", "maximum number of rounds of the concave-convex procedure"),
    ],
);

impl Parameters for CccpParams {}

/// Parameters of [`cccp-s3vm`](self).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CccpParams {
    /// The kernel.
    pub kernel: Kernel,
    /// Weight of |f|²; 0 means 0.01 times the mean of K(x, x).
    pub lambda: f64,
    /// Weight of the loss of the unlabeled rows relative to that of the labeled ones; 0 leaves them out.
    pub lambda_u: f64,
    /// Share of positives among the unlabeled rows.
    pub ratio: Ratio,
    /// End of the ramp.
    pub s: f64,
    /// Largest violation of the optimality conditions in each round.
    pub tolerance: f64,
    /// Maximum number of rounds.
    pub rounds: usize,
}

impl Default for CccpParams {
    fn default() -> Self {
        Self {
            kernel: Kernel::Rbf { gamma: 1.0 },
            lambda: 0.0,
            lambda_u: 1.0,
            ratio: Ratio::Labels,
            s: -0.3,
            tolerance: 1e-3,
            rounds: 100,
        }
    }
}

/// Result of the rounds.
struct CccpSolution {
    alpha: Vec<f64>,
    /// Objective (divided by λ) after each round with the unlabeled rows.
    objectives: Vec<f64>,
    report: Report,
}

impl CccpParams {
    fn solve(&self, k: &[f64], problem: &Problem, watch: &dyn Watch) -> CccpSolution {
        let constant = problem.mean_output();
        let variables = both_sides(problem);
        let mut gram = MirroredGram::new(k, problem.y.len(), variables.iter().map(|v| v.0).collect());
        let is_open = |i: usize| problem.y[i] == 0.0;
        let bound = |i: usize, side: f64, shift: f64| {
            let c = side * problem.cost[i];
            (c.min(0.0) - shift * c, c.max(0.0) - shift * c)
        };
        let target = variables.iter().map(|v| v.1 - constant).collect();
        let known = variables.iter().map(|&(i, y)| if is_open(i) { (0.0, 0.0) } else { bound(i, y, 0.0) });
        let (lo, hi) = known.unzip();
        let mut dual = Dual::new(target, lo, hi).without_bias();
        let stop = Stop { tolerance: self.tolerance, max_steps: Some(10_000_000) };
        let mut report = dual.run(&mut gram, stop, watch);
        let mut objectives = Vec::new();
        let mut beyond: Option<Vec<bool>> = None;
        let mut f = outputs(&dual, constant);
        for _ in 0..self.rounds {
            if report.exit == Exit::Interrupted || problem.open.is_empty() {
                break;
            }
            let now: Vec<bool> =
                variables.iter().zip(&f).map(|(&(i, y), f)| is_open(i) && y * f < self.s).collect();
            if beyond.as_ref() == Some(&now) {
                report.exit = Exit::Converged;
                break;
            }
            let shifted = |(&(i, y), now): (&(usize, f64), &bool)| bound(i, y, f64::from(u8::from(*now)));
            dual.move_bounds(&mut gram, &variables.iter().zip(&now).map(shifted).collect::<Vec<_>>());
            let round = dual.run(&mut gram, stop, watch);
            report = Report { steps: report.steps + round.steps, ..round };
            f = outputs(&dual, constant);
            objectives.push(self.objective(&dual, &variables, &f, problem, constant));
            if report.exit == Exit::Converged {
                report.exit = Exit::Limit; // unless no variable changes sides in the next round
            }
            beyond = Some(now);
        }
        let mut alpha = vec![0.0; problem.y.len()];
        variables.iter().zip(dual.alpha()).for_each(|(v, a)| alpha[v.0] += a);
        let last = self.objective(&dual, &variables, &f, problem, constant);
        report.objective = self.lambda * last;
        report.gap *= self.lambda;
        CccpSolution { alpha, objectives, report }
    }

    fn objective(
        &self,
        dual: &Dual,
        variables: &[(usize, f64)],
        f: &[f64],
        problem: &Problem,
        constant: f64,
    ) -> f64 {
        let mut sum = 0.0;
        for ((&(i, y), f), a) in variables.iter().zip(f).zip(dual.alpha()) {
            sum += 0.5 * a * (f - constant);
            // half for each of the two variables of an unlabeled row
            let open = 0.5 * (1.0 - f.abs()).clamp(0.0, 1.0 + self.s);
            let known = (1.0 - y * f).max(0.0);
            sum += problem.cost[i] * if problem.y[i] == 0.0 { open } else { known };
        }
        sum
    }
}

/// Output f at the row of each variable.
fn outputs(dual: &Dual, constant: f64) -> Vec<f64> {
    dual.decisions().iter().map(|f| f + constant).collect()
}

impl Fit for CccpParams {
    fn fit(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        s3vm::check(x, self.kernel, self.lambda, self.lambda_u, self.tolerance)?;
        if !(self.s > -1.0 && self.s <= 0.0) {
            return Err(Error::parameter("s", self.s, "a number above -1, at most 0"));
        }
        if self.rounds == 0 {
            return Err(Error::parameter("rounds", self.rounds, "1 or more"));
        }
        let this =
            Self { lambda: default_lambda::kernel(self.lambda, x, problems, self.kernel), ..self.clone() };
        let problems = Problems::new(x, problems, &this.ratio, this.lambda, this.lambda_u, watch)?;
        let rows = &problems.rows;
        // All problems have the same unlabeled rows, and therefore the same mean.
        let centered = Centered::new(whole_matrix(x, rows, this.kernel)?, &middle(&problems.each[0]));
        let (mut functions, mut reports, mut facts) = (Vec::<Function>::new(), Vec::new(), Vec::new());
        for problem in &problems.each {
            let solved = this.solve(&centered.k, problem, watch);
            functions.push(centered.function(solved.alpha, problem.mean_output()));
            reports.push(solved.report);
            facts.push(s3vm::facts(this.lambda, [("rounds", solved.objectives.len().into())]));
        }
        s3vm::fitted(x, this.kernel, &problems, &functions, None, (facts, reports))
    }

    fn supervised(&self) -> Option<Box<dyn Fit>> {
        Some(Box::new(Self { lambda_u: 0.0, ..self.clone() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Label;
    use crate::datasets::{GenerateParams, generate};

    #[test]
    fn rounds_never_increase_the_objective() {
        let mut rounds = 0;
        for seed in 0..5 {
            let (x, labels) =
                generate("two-moons", &GenerateParams { rows: 60, seed, ..Default::default() }).unwrap();
            let y = |i: usize| match (i < 6, labels.of[i]) {
                (true, Some(1)) => Label::Pos,
                (true, _) => Label::Neg,
                _ => Label::Unknown,
            };
            let targets = Targets { y: (0..60).map(y).collect(), cost: vec![1.0; 60] };
            let params = CccpParams { lambda: 0.01, tolerance: 1e-7, ..Default::default() };
            let problems =
                Problems::new(x.view(), &[targets], &Ratio::Given(vec![0.5]), 0.01, 1.0, &()).unwrap();
            let k = whole_matrix(x.view(), &problems.rows, Kernel::Rbf { gamma: 2.0 }).unwrap();
            let centered = Centered::new(k, &middle(&problems.each[0]));
            let found = params.solve(&centered.k, &problems.each[0], &());
            assert_eq!(found.report.exit, Exit::Converged);
            for pair in found.objectives.windows(2) {
                assert!(pair[1] <= pair[0] + 1e-5 * pair[0], "{pair:?}");
            }
            rounds += found.objectives.len();
        }
        assert!(rounds > 8, "several rounds were needed: {rounds}");
    }
}
