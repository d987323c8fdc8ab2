//! `one-class`: novelty detection with a support vector machine that is trained on rows of one class (Schölkopf, Platt,
//! Shawe-Taylor, Smola & Williamson 2001, "Estimating the support of a high-dimensional distribution").
//!
//! Problem: min ½|f|² − νWρ + Σ wᵢ max(0, ρ − f(xᵢ)), W = Σw, solved as min ½αᵀKα, 0 ≤ αᵢ ≤ wᵢ, Σα = νW; f = Σ αᵢK(xᵢ, ·).
//! A point x is inside if f(x) − ρ > 0. The total weight of the rows outside is at most νW, that of the support vectors at
//! least νW.
//!
//! Scaling: α is the paper's (Σα = 1) times νW, as in LIBSVM and scikit-learn. With K(x, x) = 1 and K ≥ 0 the row with the
//! largest α has f ≥ ν·(mean weight), so ρ is at least that, however narrow the kernel is. In the paper's scaling ρ can be
//! 1/n, below any tolerance. For the same reason the tolerance is relative to ν·(mean weight)·(mean |K(x, x)|): LIBSVM's
//! absolute tolerance stops immediately if νn is small.
//!
//! Departures: ρ is the smallest f of the rows that are not at their upper bound (LIBSVM takes the mean over the rows inside
//! their bounds, which differs by the tolerance). No other row is then outside, however early the solver stops. The
//! boundary is relaxed by a millionth of ρ, so that a row on the boundary is also inside in single precision. With ν = 1
//! all rows are at their bound, and ρ is the largest f (LIBSVM: infinite).

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
        "novelty detection from rows of one class, without labels (any kernel)",
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
                "largest violation of the optimality conditions, relative to nu times the mean of K(x,x)",
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
    /// ν: upper bound on the fraction of outliers and lower bound on the fraction of support vectors.
    pub nu: f64,
    /// Largest violation of the optimality conditions, relative to ν times the mean of K(x, x).
    pub tolerance: f64,
    /// Maximum number of pair steps; `None` means the larger of 10 million and 100 per row.
    #[serde(with = "crate::params::step_limit")]
    pub max_steps: Option<u64>,
    /// Memory limit for cached kernel rows, in bytes.
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

/// Fraction of ρ by which the boundary is relaxed.
const BOUNDARY_SLACK: f64 = 1e-6;

/// Relative distance from a bound within which a coefficient of the initial point is set to that bound, because νW is
/// rounded.
const ROUNDING: f64 = 1e-9;

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
    /// Parameters of `svc`, whose Gram matrix, checks, solver run and model are used here, too.
    fn machine(&self) -> SvcParams {
        let Self { kernel, tolerance, max_steps, cache_bytes, .. } = *self;
        SvcParams { kernel, tolerance, max_steps, cache_bytes, ..SvcParams::default() }
    }

    fn solve(&self, gram: &mut dyn Gram, targets: &Targets, watch: &dyn Watch) -> Result<Solution> {
        let all = targets.y.len();
        let rows: Vec<usize> = targets.used().into_iter().filter(|&i| targets.y[i] == Label::Pos).collect();
        let weights: Vec<f64> = rows.iter().map(|&i| targets.cost[i]).collect();
        if rows.is_empty() {
            return Err(Error::Data(
                "no row to learn from: every row is labeled as an outlier or has weight 0".into(),
            ));
        }
        let found = match rows.len() {
            n if n == all => self.solve_all(gram, weights, watch)?,
            _ => self.solve_all(gram.subset(&rows)?.as_mut(), weights, watch)?,
        };
        Ok(Solution { alpha: spread(&found.alpha, &rows, all), ..found })
    }

    /// The solution with all rows of the Gram matrix.
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
                "the rows lie on all sides of the origin of the {} kernel, so inside and outside cannot be separated; use \
                 the rbf kernel or another scaling",
                self.kernel.name()
            )));
        }
        Ok(Solution { alpha: dual.alpha().to_vec(), bias: bias + BOUNDARY_SLACK * bias.abs(), report })
    }

    /// Initial point: the first rows are at their bounds, as many as are needed for Σα = νW.
    fn start(&self, weights: &[f64]) -> Vec<f64> {
        let mut left = self.nu * weights.iter().sum::<f64>();
        let place = |w: &f64| {
            let share = left / w;
            let alpha = match share {
                s if s >= 1.0 - ROUNDING => *w,
                s if s <= ROUNDING => 0.0,
                _ => left,
            };
            left = (left - alpha).max(0.0);
            alpha
        };
        weights.iter().map(place).collect()
    }

    /// ν·(mean weight)·(mean |K(x, x)|), the unit of the tolerance. It is a lower bound of ρ for a kernel without negative
    /// values.
    fn unit(&self, gram: &dyn Gram, weights: &[f64]) -> f64 {
        let n = weights.len() as f64;
        let diagonal = (0..weights.len()).map(|i| gram.diag(i).abs()).sum::<f64>() / n;
        self.nu * weights.iter().sum::<f64>() / n * diagonal
    }
}
