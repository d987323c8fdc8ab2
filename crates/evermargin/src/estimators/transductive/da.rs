//! `da`: deterministic annealing for the semi-supervised support vector machine with any kernel (Sindhwani, Keerthi &
//! Chapelle 2006; Sindhwani 2007, section 3.3).
//!
//! Problem: instead of labels, the unlabeled rows have probabilities p of the positive class. At temperature T minimize
//!
//! J(f, p) = (λ/2)|f|² + (1/l) Σ V(yᵢfᵢ) + (λᵤ/u) Σ [pⱼV(fⱼ) + (1−pⱼ)V(−fⱼ)] + (T/u) Σ [pⱼ log pⱼ + (1−pⱼ) log(1−pⱼ)]
//!
//! subject to mean p = r, in turn over p (closed form, [`super::annealing`]) and over f, until p converges; then
//! decrease T. V(t) is max(0, 1−t)²/2 (`l2`), (1−t)²/2 (`square`) or max(0, 1−t) (`l1`).
//!
//! The step over f: `l2` by finite Newton (`kernel_features`), each row once with its two losses; `square` by one
//! factorization of K + C⁻¹ for the whole annealing (only its targets 2p−1 change); `l1` with the dual solver, where an
//! unlabeled row has two variables in [0, cp] and [−c(1−p), 0] on one kernel row. All start at the previous solution.
//!
//! Departures (corrections of table 3.3 of Sindhwani 2007): p starts at r and f is solved for once; the means of KL
//! divergence and entropy are compared with 1e-6; the f with the lowest objective on the way is kept, not the last,
//! with labels by rank (the round(r·u) largest outputs are positive): under V(|f|) of the source a function that puts
//! all rows on one side has a low value when r is far from ½. T starts at 10·λᵤ, because the costs in p grow with λᵤ.
//! The constant is a feature 1 and is regularized (K + 1).

use super::annealing::{mean_divergence, mean_entropy, probabilities};
pub use super::annealing_step::Margin;
use super::annealing_step::{Hinge, LeastSquares, Minimum, Smooth};
use super::kernel_features::{Space, whole_matrix};
use super::s3vm::{self, Function, Problem, Problems};
use super::{Ratio, default_lambda, largest};
use crate::data::MatrixView;
use crate::error::{Error, Result};
use crate::estimators::registry::{EstimatorSpec, Parameters};
use crate::estimators::{Fit, Fitted, Targets};
use crate::kernel::Kernel;
use crate::math::linalg::Cholesky;
use crate::params::shared::{
    COEF0, DEGREE, FIT_INTERCEPT, GAMMA, KERNEL, KERNEL_LAMBDA, LAMBDA_U, RATE, RATIO, RELATIVE_TOLERANCE,
};
use crate::params::{End, FloatRange, ParamSpec};
use crate::solver::{Exit, Report, Watch};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The specification of `da`.
pub static SPEC: EstimatorSpec = EstimatorSpec::semi_supervised(
    "da",
    "semi-supervised support vector machine by deterministic annealing (any kernel)",
    &[
        KERNEL,
        GAMMA,
        DEGREE,
        COEF0,
        ParamSpec::choice("loss", &["l2", "l1", "square"], "l2", "l2 (squared hinge), l1 (hinge) or square"),
        KERNEL_LAMBDA,
        LAMBDA_U,
        RATIO,
        RATE.range_of(FloatRange::new(End::Open(1.0), End::Unbounded)),
        RELATIVE_TOLERANCE.help_of("tolerance of each minimization over the function"),
        FIT_INTERCEPT,
    ],
);

impl Parameters for DaParams {}

/// Parameters of [`da`](self).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DaParams {
    /// The kernel.
    pub kernel: Kernel,
    /// The loss.
    pub loss: Margin,
    /// Weight of |f|²; 0 means 0.01 times the mean of K(x, x).
    pub lambda: f64,
    /// Weight of the loss of the unlabeled rows relative to that of the labeled ones; 0 leaves them out.
    pub lambda_u: f64,
    /// Share of positives among the unlabeled rows.
    pub ratio: Ratio,
    /// Factor by which the temperature is divided.
    pub rate: f64,
    /// Tolerance of the solution for f: relative gradient for l2, largest violation for l1 (square is exact).
    pub tolerance: f64,
    /// Whether to fit an intercept, as the weight of a constant feature 1.
    pub fit_intercept: bool,
    /// A single temperature in units of λᵤ, without cooling, for experiments (Sindhwani 2007, table 3.7).
    #[serde(skip)]
    pub fixed: Option<f64>,
}

impl Default for DaParams {
    fn default() -> Self {
        Self {
            kernel: Kernel::Rbf { gamma: 1.0 },
            loss: Margin::L2,
            lambda: 0.0,
            lambda_u: 1.0,
            ratio: Ratio::Labels,
            rate: 1.5,
            tolerance: 1e-3,
            fit_intercept: true,
            fixed: None,
        }
    }
}

/// Initial temperature, in units of λᵤ.
const INITIAL_TEMPERATURE: f64 = 10.0;
/// Maximum number of temperatures, and of rounds at each.
const MAX_ITERATIONS: [usize; 2] = [100, 100];
/// Mean divergence at which p has converged, and mean entropy at which the labels are decided.
const CONVERGED: f64 = 1e-6;

/// Result of annealing for one problem.
struct Annealed {
    alpha: Vec<f64>,
    report: Report,
    temperatures: usize,
    rounds: usize,
    /// (T, J/λ) after every step over p and every step over f.
    #[cfg(test)]
    trace: Vec<(f64, f64)>,
}

impl DaParams {
    fn anneal(&self, minimum: &mut dyn Minimum, problem: &Problem, watch: &dyn Watch) -> Annealed {
        let mut all: Vec<f64> = problem.y.iter().map(|y| 0.5 * (1.0 + y)).collect();
        let mut p = vec![problem.ratio; problem.open.len()];
        let place = |all: &mut Vec<f64>, p: &[f64]| {
            problem.open.iter().zip(p).for_each(|(&i, p)| all[i] = *p);
        };
        place(&mut all, &p);
        let mut report = minimum.minimize(&all, watch);
        let mut best = (self.objective(minimum, problem), minimum.alpha());
        let mut done = Annealed {
            alpha: Vec::new(),
            report,
            temperatures: 0,
            rounds: 0,
            #[cfg(test)]
            trace: Vec::new(),
        };
        let mut t = self.fixed.unwrap_or(INITIAL_TEMPERATURE) * self.lambda_u;
        let mut g = vec![0.0; p.len()];
        'cooling: while done.temperatures < MAX_ITERATIONS[0] && !p.is_empty() {
            done.temperatures += 1;
            for _ in 0..MAX_ITERATIONS[1] {
                if report.exit == Exit::Interrupted {
                    break 'cooling;
                }
                let before = p.clone();
                for (g, &i) in g.iter_mut().zip(&problem.open) {
                    let o = minimum.outputs()[i];
                    let weight = p.len() as f64 * self.lambda * problem.cost[i];
                    *g = weight * (self.loss.at(o)[0] - self.loss.at(-o)[0]);
                }
                probabilities(&g, t, problem.ratio, &mut p);
                place(&mut all, &p);
                #[cfg(test)]
                done.trace.push((t, self.free_energy(minimum, problem, &all, t)));
                report = minimum.minimize(&all, watch);
                #[cfg(test)]
                done.trace.push((t, self.free_energy(minimum, problem, &all, t)));
                done.rounds += 1;
                done.report.steps += report.steps;
                done.report.kernel_evaluations += report.kernel_evaluations;
                done.report.gap = report.gap;
                done.report.exit = report.exit;
                let objective = self.objective(minimum, problem);
                if objective < best.0 {
                    best = (objective, minimum.alpha());
                }
                if mean_divergence(&p, &before) < CONVERGED {
                    break;
                }
            }
            if self.fixed.is_some() {
                best = (self.objective(minimum, problem), minimum.alpha()); // the result is the minimum at T
                break;
            }
            if mean_entropy(&p) < CONVERGED {
                break;
            }
            t /= self.rate;
        }
        done.report.objective = self.lambda * best.0;
        done.alpha = best.1;
        done
    }

    /// ½|f|² + Σ cV(yf) with the labels by rank, which is the final objective.
    fn objective(&self, minimum: &dyn Minimum, problem: &Problem) -> f64 {
        let outputs = minimum.outputs();
        let open: Vec<f64> = problem.open.iter().map(|&i| outputs[i]).collect();
        let mut y = problem.y.clone();
        for (&i, positive) in problem.open.iter().zip(largest(&open, problem.positives)) {
            y[i] = if positive { 1.0 } else { -1.0 };
        }
        let loss = |(i, &o): (usize, &f64)| problem.cost[i] * self.loss.at(y[i] * o)[0];
        0.5 * minimum.norm2() + outputs.iter().enumerate().map(loss).sum::<f64>()
    }

    /// J/λ for the probabilities of all rows at temperature `t`.
    #[cfg(test)]
    fn free_energy(&self, minimum: &dyn Minimum, problem: &Problem, p: &[f64], t: f64) -> f64 {
        use crate::estimators::supervised::risk::Loss;
        let loss = super::annealing_step::Mixture { margin: self.loss, cost: &problem.cost, p };
        let sum: f64 = minimum.outputs().iter().enumerate().map(|(i, o)| loss.at(i, *o)[0]).sum();
        let open: Vec<f64> = problem.open.iter().map(|&i| p[i]).collect();
        0.5 * minimum.norm2() + sum - t / self.lambda * mean_entropy(&open)
    }

    fn check(&self, x: MatrixView<'_>) -> Result<()> {
        s3vm::check(x, self.kernel, self.lambda, self.lambda_u, self.tolerance)?;
        if !(self.rate > 1.0 && self.rate.is_finite()) {
            return Err(Error::parameter("rate", self.rate, "a number above 1"));
        }
        Ok(())
    }

    /// Anneals all problems with one kernel matrix, or one factorization.
    fn solve(&self, x: MatrixView<'_>, problems: &Problems, watch: &dyn Watch) -> Result<Vec<Annealed>> {
        let n = problems.rows.len();
        let (each, rows) = (&problems.each, &problems.rows);
        if self.loss == Margin::L2 || (self.loss == Margin::Square && self.kernel == Kernel::Linear) {
            let space = Space::new(x, rows, self.kernel, self.fit_intercept)?;
            let one = |problem: &Problem| {
                let mut smooth = Smooth::new(space.design(), self.loss, &problem.cost, self.tolerance);
                self.anneal(&mut smooth, problem, watch)
            };
            return Ok(each.par_iter().map(one).collect());
        }
        let mut k = whole_matrix(x, rows, self.kernel)?;
        if self.fit_intercept {
            k.iter_mut().for_each(|k| *k += 1.0);
        }
        if self.loss == Margin::L1 {
            let one =
                |problem: &Problem| self.anneal(&mut Hinge::new(&k, problem, self.tolerance), problem, watch);
            return Ok(each.par_iter().map(one).collect());
        }
        let mut systems: Vec<(&[f64], Cholesky)> = Vec::new();
        for problem in each {
            if systems.iter().all(|s| s.0 != problem.cost.as_slice()) {
                let mut k = k.clone();
                for (i, c) in problem.cost.iter().enumerate() {
                    k[i * n + i] += 1.0 / c.max(1e-100);
                }
                systems.push((&problem.cost, Cholesky::new(k, n)?));
            }
        }
        let one = |problem: &Problem| {
            let system = systems.iter().find(|s| s.0 == problem.cost.as_slice()).map(|s| &s.1)?;
            let mut squares = LeastSquares::new(system, &problem.cost);
            Some(self.anneal(&mut squares, problem, watch))
        };
        Ok(each.par_iter().filter_map(one).collect())
    }
}

impl Fit for DaParams {
    fn fit(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        self.check(x)?;
        let this =
            Self { lambda: default_lambda::kernel(self.lambda, x, problems, self.kernel), ..self.clone() };
        let problems = Problems::new(x, problems, &this.ratio, this.lambda, this.lambda_u, watch)?;
        let solved = this.solve(x, &problems, watch)?;
        let record = |s: &Annealed| {
            s3vm::facts(this.lambda, [("temperatures", s.temperatures.into()), ("rounds", s.rounds.into())])
        };
        let facts = solved.iter().map(record).collect();
        let reports = solved.iter().map(|s| s.report).collect();
        let function = |s: Annealed| {
            let bias = if this.fit_intercept { s.alpha.iter().sum() } else { 0.0 };
            Function { alpha: s.alpha, bias }
        };
        let functions: Vec<Function> = solved.into_iter().map(function).collect();
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
    fn neither_step_increases_the_free_energy() {
        for (loss, kernel) in [
            (Margin::L2, Kernel::Rbf { gamma: 0.02 }),
            (Margin::L2, Kernel::Linear),
            (Margin::Square, Kernel::Rbf { gamma: 0.02 }),
            (Margin::Square, Kernel::Linear),
            (Margin::L1, Kernel::Rbf { gamma: 0.02 }),
        ] {
            let (x, labels) =
                generate("g50c", &GenerateParams { rows: 80, seed: 3, ..Default::default() }).unwrap();
            let y = |i: usize| match (i < 10, labels.of[i]) {
                (true, Some(1)) => Label::Pos,
                (true, _) => Label::Neg,
                _ => Label::Unknown,
            };
            let targets = Targets { y: (0..80).map(y).collect(), cost: vec![1.0; 80] };
            let params = DaParams { loss, kernel, tolerance: 1e-6, lambda: 0.01, ..Default::default() };
            let problems = Problems::new(x.view(), &[targets], &Ratio::Labels, 0.01, 1.0, &()).unwrap();
            let found = params.solve(x.view(), &problems, &()).unwrap().remove(0);
            assert!(found.temperatures > 5 && found.trace.len() > 20);
            let scale = found.trace.iter().map(|t| t.1.abs()).fold(0.0, f64::max);
            for pair in found.trace.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
                // the dual solver ends within its tolerance of the minimum, not necessarily below its start
                let slack = if loss == Margin::L1 { 1e-5 } else { 1e-9 };
                assert!(pair[1].1 <= pair[0].1 + slack * scale, "{loss:?} {kernel:?}: {pair:?}");
            }
        }
    }

    #[test]
    fn fixed_temperature_gives_the_first_rounds_of_cooling() {
        let (x, labels) =
            generate("g50c", &GenerateParams { rows: 60, seed: 5, ..Default::default() }).unwrap();
        let label = |c: Option<u32>| if c == Some(1) { Label::Pos } else { Label::Neg };
        let y = (0..60).map(|i| if i < 10 { label(labels.of[i]) } else { Label::Unknown }).collect();
        let targets = [Targets { y, cost: vec![1.0; 60] }];
        let run = |fixed: Option<f64>| {
            let kernel = Kernel::Rbf { gamma: 0.02 };
            let params = DaParams { kernel, lambda: 0.01, fixed, ..Default::default() };
            let problems = Problems::new(x.view(), &targets, &Ratio::Labels, 0.01, 1.0, &()).unwrap();
            params.solve(x.view(), &problems, &()).unwrap().remove(0)
        };
        let (cooled, hot, cold) = (run(None), run(Some(INITIAL_TEMPERATURE)), run(Some(1e-3)));
        assert_eq!((hot.temperatures, cold.temperatures), (1, 1));
        assert_eq!(cooled.trace[..hot.trace.len()], hot.trace[..]);
        assert!(cooled.trace[hot.trace.len()].0 < INITIAL_TEMPERATURE);
        assert_ne!(hot.alpha, cold.alpha);
    }
}
