//! `one-class`: where rows lie, learned from rows of one class alone (Schölkopf, Platt, Shawe-Taylor, Smola & Williamson
//! 2001, "Estimating the support of a high-dimensional distribution").
//!
//! Problem: min ½|f|² − νWρ + Σ wᵢ max(0, ρ − f(xᵢ)), W = Σw, solved as min ½αᵀKα, 0 ≤ αᵢ ≤ wᵢ, Σα = νW; f = Σ αᵢK(xᵢ, ·), and
//! x is inside where f(x) − ρ > 0. Rows outside weigh at most νW, support vectors at least.
//!
//! Scaling: the paper's α (Σα = 1) times νW, as in LIBSVM and scikit-learn. With K(x, x) = 1 and K ≥ 0 the row of the largest α
//! has f ≥ ν·(mean weight), so ρ is at least that however narrow the kernel; in the paper's scaling ρ can be 1/n, below any
//! tolerance. The tolerance is a share of ν·(mean weight)·(mean |K(x, x)|) for the same reason: LIBSVM's is absolute and stops
//! at once where νn is small.
//!
//! Departures: ρ is the least f of the rows that are not at their bound (LIBSVM: the mean over those inside their bounds, which
//! differs by the tolerance), so that no other row is outside however early the solver stops; it is let out by a millionth, so
//! that a row on the boundary is inside in single precision too. With ν = 1 all rows are at their bound, and ρ is the largest f
//! (LIBSVM: infinite).

use crate::data::{Label, MatrixView};
use crate::error::{Error, Result};
use crate::estimators::registry::{EstimatorSpec, Parameters};
use crate::estimators::supervised::svc::{Solution, SvcParams, spread};
use crate::estimators::{Fit, Fitted, Targets};
use crate::kernel::Kernel;
use crate::kernel::gram::Gram;
use crate::params::shared::{CACHE_BYTES, COEF0, DEGREE, GAMMA, KERNEL, MAX_STEPS, TOLERANCE};
use crate::params::{FloatRange, ParamSpec};
use crate::solver::smo::Dual;
use crate::solver::{Exit, Watch};
use serde::{Deserialize, Serialize};

/// The specification of `one-class`.
pub static SPEC: EstimatorSpec = EstimatorSpec {
    one_class: true,
    ..EstimatorSpec::supervised(
        "one-class",
        "where rows of one class lie, without labels: inside or outside (any kernel)",
        &[
            KERNEL,
            GAMMA,
            DEGREE,
            COEF0,
            ParamSpec::float(
                "nu",
                FloatRange::above(0.0, 1.0),
                "0.5",
                "upper bound on the fraction of outliers and lower bound on the fraction of support vectors",
            ),
            TOLERANCE.help_of(
                "largest violation of the optimality conditions, a share of nu times the mean of K(x,x)",
            ),
            MAX_STEPS,
            CACHE_BYTES,
        ],
    )
};

impl Parameters for OneClassParams {}

/// Parameters of [`one-class`](self).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OneClassParams {
    /// The kernel.
    pub kernel: Kernel,
    /// ν: at most this share of the rows is outside, at least this share are support vectors.
    pub nu: f64,
    /// Largest violation of the optimality conditions, a share of ν times the mean of K(x, x).
    pub tolerance: f64,
    /// Most pair steps; 0 means the larger of ten million and a hundred a row.
    #[serde(with = "crate::params::step_limit")]
    pub max_steps: Option<u64>,
    /// Bytes for cached kernel rows.
    pub cache_bytes: usize,
}

impl Default for OneClassParams {
    fn default() -> Self {
        Self {
            kernel: Kernel::Rbf { gamma: 1.0 },
            nu: 0.5,
            tolerance: 1e-3,
            max_steps: None,
            cache_bytes: 1 << 30,
        }
    }
}

/// How far the boundary is let out, a share of ρ.
const EASE: f64 = 1e-6;

/// Share of its bound below which a variable of the start is 0, and above the rest of which it is at the bound: νW is rounded.
const ROUNDED: f64 = 1e-9;

impl Fit for OneClassParams {
    /// Learns from the rows labeled positive.
    fn fit(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        let machine = self.machine();
        machine.check(x)?;
        if !(self.nu > 0.0 && self.nu <= 1.0) {
            return Err(Error::parameter("nu", self.nu, "a share above 0, at most 1"));
        }
        problems.iter().try_for_each(|p| p.check_rows(x.rows()))?;
        let mut gram = machine.gram(x)?;
        let solve = |targets: &Targets| self.solve(gram.as_mut(), targets, watch);
        let solutions = problems.iter().map(solve).collect::<Result<Vec<Solution>>>()?;
        let order: Vec<usize> = (0..x.rows()).collect();
        let model = machine.model(x, &order, &solutions);
        Ok(Fitted::new(model, solutions.into_iter().map(|s| s.report).collect()))
    }
}

impl OneClassParams {
    /// What it shares with `svc`: matrices, checks, the run to the last digits, the model.
    fn machine(&self) -> SvcParams {
        let Self { kernel, tolerance, max_steps, cache_bytes, .. } = *self;
        SvcParams { kernel, tolerance, max_steps, cache_bytes, ..SvcParams::default() }
    }

    fn solve(&self, gram: &mut dyn Gram, targets: &Targets, watch: &dyn Watch) -> Result<Solution> {
        let all = targets.y.len();
        let rows: Vec<usize> = targets.used().into_iter().filter(|&i| targets.y[i] == Label::Pos).collect();
        let weights: Vec<f64> = rows.iter().map(|&i| targets.cost[i]).collect();
        if rows.is_empty() {
            return Err(Error::Data("no row to learn from: all are known to be outside, or weigh 0".into()));
        }
        let found = match rows.len() {
            n if n == all => self.solve_all(gram, weights, watch)?,
            _ => self.solve_all(gram.subset(&rows)?.as_mut(), weights, watch)?,
        };
        Ok(Solution { alpha: spread(&found.alpha, &rows, all), ..found })
    }

    /// The solution over all rows of the matrix.
    fn solve_all(&self, gram: &mut dyn Gram, weights: Vec<f64>, watch: &dyn Watch) -> Result<Solution> {
        let before = gram.evaluations();
        let start = self.start(&weights);
        let unit = self.unit(gram, &weights);
        let zeros = vec![0.0; weights.len()];
        let mut dual = Dual::new(zeros.clone(), zeros, weights);
        dual.set_alpha(gram, &start);
        let placed = gram.evaluations() - before;
        let machine = SvcParams { tolerance: self.tolerance * unit, ..self.machine() };
        let mut report = machine.run(&mut dual, gram, watch);
        report.kernel_evaluations += placed;
        let bias = dual.bias().max(dual.gradient_bounds().max_up);
        if report.exit == Exit::Converged && -bias <= machine.tolerance {
            return Err(Error::Data(format!(
                "the rows lie on all sides of the origin of the {} kernel, so nothing tells inside from outside; use the \
                 rbf kernel or another scaling",
                self.kernel.name()
            )));
        }
        Ok(Solution { alpha: dual.alpha().to_vec(), bias: bias + EASE * bias.abs(), report })
    }

    /// The first rows at their bounds, as many as make νW.
    fn start(&self, weights: &[f64]) -> Vec<f64> {
        let mut left = self.nu * weights.iter().sum::<f64>();
        let place = |w: &f64| {
            let share = left / w;
            let alpha = match share {
                s if s >= 1.0 - ROUNDED => *w,
                s if s <= ROUNDED => 0.0,
                _ => left,
            };
            left = (left - alpha).max(0.0);
            alpha
        };
        weights.iter().map(place).collect()
    }

    /// ν·(mean weight)·(mean |K(x, x)|): what ρ is at least, for a kernel without negative values.
    fn unit(&self, gram: &dyn Gram, weights: &[f64]) -> f64 {
        let n = weights.len() as f64;
        let diagonal = (0..weights.len()).map(|i| gram.diag(i).abs()).sum::<f64>() / n;
        self.nu * weights.iter().sum::<f64>() / n * diagonal
    }
}
