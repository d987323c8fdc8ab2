//! `grad-tsvm`: low-density separation by descent on a smooth objective (∇TSVM, Chapelle & Zien 2005).
//!
//! Problem: min (λ/2)|f|² + (1/l) Σ ½max(0, 1 − yᵢfᵢ)² + (λᵤ/u) Σ ½exp(−3fⱼ²) subject to mean f of the unlabeled rows =
//! 2r − 1. The constraint is enforced by centering the feature space on the mean of the unlabeled rows and fixing the
//! constant at 2r − 1 (`kernel_features`; without unlabeled rows, on the mean of the labeled ones).
//!
//! Method: λᵤ grows to its value in ten doublings, each started at the previous solution. The objective is not convex.
//! Newton's method uses the positive part of its curvature (that of exp(−3f²) is negative near the boundary), so that
//! every direction is a descent direction, and halves steps until the objective decreases enough: it ends at a
//! stationary point. The authors use conjugate gradients on the same objective.

use super::kernel_features::{Centered, Space, whole_matrix};
use super::s3vm::{self, Function, Problem, Problems};
use super::{Ratio, default_lambda};
use crate::data::MatrixView;
use crate::error::Result;
use crate::estimators::registry::{EstimatorSpec, Parameters};
use crate::estimators::supervised::risk::{Loss, Risk};
use crate::estimators::{Fit, Fitted, Targets};
use crate::kernel::Kernel;
use crate::math::products::Design;
use crate::params::shared::{
    COEF0, DEGREE, GAMMA, KERNEL, KERNEL_LAMBDA, LAMBDA_U, RATIO, RELATIVE_TOLERANCE,
};
use crate::solver::newton_cg::{Objective, newton};
use crate::solver::{Exit, Report, Stop, Watch};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The specification of `grad-tsvm`.
pub static SPEC: EstimatorSpec = EstimatorSpec::semi_supervised(
    "grad-tsvm",
    "low-density separation by descent on a smooth objective (any kernel)",
    &[
        KERNEL,
        GAMMA,
        DEGREE,
        COEF0,
        KERNEL_LAMBDA,
        LAMBDA_U,
        RATIO,
        RELATIVE_TOLERANCE.help_of("relative gradient that counts as stationary"),
    ],
);

impl Parameters for GradTsvmParams {}

/// Parameters of [`grad-tsvm`](self).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GradTsvmParams {
    /// The kernel.
    pub kernel: Kernel,
    /// Weight of |f|²; 0 means 0.01 times the mean of K(x, x).
    pub lambda: f64,
    /// Weight of the loss of the unlabeled rows relative to that of the labeled ones; 0 leaves them out.
    pub lambda_u: f64,
    /// Share of positives among the unlabeled rows.
    pub ratio: Ratio,
    /// Relative gradient that counts as stationary.
    pub tolerance: f64,
}

impl Default for GradTsvmParams {
    fn default() -> Self {
        Self {
            kernel: Kernel::Rbf { gamma: 1.0 },
            lambda: 0.0,
            lambda_u: 1.0,
            ratio: Ratio::Labels,
            tolerance: 1e-3,
        }
    }
}

/// Number of doublings of λᵤ.
const DOUBLINGS: i32 = 10;
/// Factor by which the tolerance is larger before the last λᵤ.
const TOLERANCE_FACTOR: f64 = 30.0;
/// Maximum number of rounds at each λᵤ.
const MAX_ROUNDS: u64 = 300;

/// Half the squared hinge of labeled outputs, half exp(−3o²) of the others; outputs do not include the constant.
struct Density<'p> {
    problem: &'p Problem,
    constant: f64,
    /// Fraction of λᵤ.
    share: f64,
}

impl Density<'_> {
    /// The loss, its slope and its curvature.
    fn derivatives(&self, i: usize, output: f64) -> [f64; 3] {
        let (y, c, o) = (self.problem.y[i], self.problem.cost[i], output + self.constant);
        if y == 0.0 {
            let e = self.share * c * (-3.0 * o * o).exp();
            return [0.5 * e, -3.0 * o * e, (18.0 * o * o - 3.0) * e];
        }
        let slack = (1.0 - y * o).max(0.0);
        [0.5 * c * slack * slack, -c * y * slack, if slack > 0.0 { c } else { 0.0 }]
    }
}

impl Loss for Density<'_> {
    fn at(&self, i: usize, output: f64) -> [f64; 3] {
        let [value, slope, curvature] = self.derivatives(i, output);
        [value, slope, curvature.max(0.0)]
    }
}

/// A risk that is not convex, and therefore has no exact line search.
struct Descent<'a, L>(Risk<'a, L>);

impl<L: Loss> Objective for Descent<'_, L> {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn value(&mut self, w: &[f64]) -> f64 {
        self.0.value(w)
    }

    fn gradient(&mut self, w: &[f64], out: &mut [f64]) {
        self.0.gradient(w, out);
    }

    fn hess_vec(&mut self, v: &[f64], out: &mut [f64]) {
        self.0.hess_vec(v, out);
    }

    fn precond(&mut self, diagonal: &mut [f64]) {
        self.0.precond(diagonal);
    }

    fn modulus(&self) -> f64 {
        self.0.modulus()
    }
}

impl GradTsvmParams {
    fn solve(&self, design: &Design<'_>, problem: &Problem, watch: &dyn Watch) -> (Vec<f64>, Report) {
        let constant = problem.mean_output();
        let mut w = vec![0.0; design.dim()];
        let mut loss = Density { problem, constant, share: 0.0 };
        let mut total: Option<Report> = None;
        let first = if problem.open.is_empty() { DOUBLINGS } else { 0 };
        let mut alpha = Vec::new();
        for doubling in first..=DOUBLINGS {
            loss.share = 0.5f64.powi(DOUBLINGS - doubling);
            let mut risk = Descent(Risk::new(design, &loss));
            let factor = if doubling < DOUBLINGS { TOLERANCE_FACTOR } else { 1.0 };
            let stop = Stop { tolerance: (factor * self.tolerance).min(0.1), max_steps: Some(MAX_ROUNDS) };
            let report = newton(&mut risk, &mut w, stop, watch);
            let steps = total.map_or(0, |t| t.steps) + report.steps;
            total = Some(Report { steps, objective: self.lambda * report.objective, ..report });
            alpha = risk.0.outputs().iter().enumerate().map(|(i, o)| -loss.at(i, *o)[1]).collect();
            if report.exit == Exit::Interrupted {
                break;
            }
        }
        let none =
            Report { steps: 0, objective: 0.0, gap: 0.0, kernel_evaluations: 0, exit: Exit::Interrupted };
        (alpha, total.unwrap_or(none))
    }
}

impl Fit for GradTsvmParams {
    fn fit(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        s3vm::check(x, self.kernel, self.lambda, self.lambda_u, self.tolerance)?;
        let this =
            Self { lambda: default_lambda::kernel(self.lambda, x, problems, self.kernel), ..self.clone() };
        let problems = Problems::new(x, problems, &this.ratio, this.lambda, this.lambda_u, watch)?;
        let rows = &problems.rows;
        // All problems have the same unlabeled rows, and therefore the same mean.
        let weight = middle(&problems.each[0]);
        let narrow = this.kernel == Kernel::Linear && x.cols() < rows.len();
        let (centered, space) = if narrow {
            let (centered, features) = Centered::of_columns(x, rows, &weight);
            (centered, Space::of_features(x, rows, features))
        } else {
            let centered = Centered::new(whole_matrix(x, rows, this.kernel)?, &weight);
            let space = Space::of_matrix(x, rows, centered.k.clone())?;
            (centered, space)
        };
        let solve = |problem: &Problem| {
            let (alpha, report) = this.solve(&space.design(), problem, watch);
            (centered.function(alpha, problem.mean_output()), report)
        };
        let solved: Vec<(Function, Report)> = problems.each.par_iter().map(solve).collect();
        let (functions, reports): (Vec<Function>, Vec<Report>) = solved.into_iter().unzip();
        let facts = reports.iter().map(|r| s3vm::facts(this.lambda, [("rounds", r.steps.into())])).collect();
        s3vm::fitted(x, this.kernel, &problems, &functions, None, (facts, reports))
    }

    fn supervised(&self) -> Option<Box<dyn Fit>> {
        Some(Box::new(Self { lambda_u: 0.0, ..self.clone() }))
    }
}

/// Weights of the rows whose mean is the center: the unlabeled ones, or all if there are none.
pub(crate) fn middle(problem: &Problem) -> Vec<f64> {
    let mut weight = vec![0.0; problem.y.len()];
    problem.open.iter().for_each(|&i| weight[i] = problem.cost[i]);
    if problem.open.is_empty() { problem.cost.clone() } else { weight }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_and_curvatures_equal_finite_differences() {
        let problem = Problem {
            y: vec![0.0, 1.0, -1.0],
            cost: vec![0.7, 1.3, 0.4],
            open: vec![0],
            ratio: 0.3,
            positives: 0,
        };
        let loss = Density { problem: &problem, constant: -0.4, share: 0.5 };
        for i in 0..3 {
            for o in [-1.7, -0.3, 0.1, 0.45, 1.9] {
                let h = 1e-5;
                let [_, slope, curvature] = loss.derivatives(i, o);
                let ([up, up1, _], [down, down1, _]) =
                    (loss.derivatives(i, o + h), loss.derivatives(i, o - h));
                assert!(((up - down) / (2.0 * h) - slope).abs() < 1e-8);
                assert!(((up1 - down1) / (2.0 * h) - curvature).abs() < 1e-6);
            }
        }
    }
}
