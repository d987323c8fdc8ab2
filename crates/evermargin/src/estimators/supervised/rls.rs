//! `rls`: regularized least squares on the labels ±1 (ridge regression used as a classifier; LS-SVM).
//!
//! min ½|f|² + (C/2) Σᵢ cᵢ(yᵢ − f(xᵢ) − b)²,   b not regularized (or absent)
//!
//! Sindhwani's form (1/l) Σ(y − f)² + γ|f|² (section 1.3) has the same minimum at γl = 1/C.
//! The solution is f = Σ αᵢK(xᵢ, ·) with (K + diag(1/(C·cᵢ)))α + b·1 = y and 1ᵀα = 0. It takes one Cholesky factorization,
//! which all problems with the same rows and weights share, and two solves. With a linear kernel the weights are solved for
//! instead (`ridge.rs`), unless there are few rows. If example i is left out, its residual becomes αᵢ/[A⁻¹]ᵢᵢ, where A is
//! the bordered matrix of the system above.

use crate::data::{Matrix, MatrixView};
use crate::error::{Error, Result};
use crate::estimators::registry::{EstimatorSpec, Parameters};
use crate::estimators::supervised::ridge;
use crate::estimators::{Fit, Fitted, Targets};
use crate::kernel::Kernel;
use crate::kernel::gram::gram_matrix;
use crate::math::blas1::norm;
use crate::math::linalg::Cholesky;
use crate::model::Model;
use crate::params::shared::{C, COEF0, DEGREE, FIT_INTERCEPT, GAMMA, KERNEL, RELATIVE_TOLERANCE};
use crate::solver::{Exit, Progress, Report, Watch};
use serde::{Deserialize, Serialize};

/// The specification of `rls`.
pub static SPEC: EstimatorSpec = EstimatorSpec::supervised(
    "rls",
    "regularized least squares with any kernel (one factorization, up to 20 000 rows)",
    &[
        KERNEL,
        GAMMA,
        DEGREE,
        COEF0,
        C.help_of("cost of a squared residual, times the weight of the example"),
        FIT_INTERCEPT,
        RELATIVE_TOLERANCE
            .default_of("0.000001")
            .help_of("relative gradient at which the iterative solver of a linear kernel stops"),
    ],
);

impl Parameters for RlsParams {}

/// Parameters of [`rls`](self).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RlsParams {
    /// The kernel.
    pub kernel: Kernel,
    /// Cost of a squared residual, times the weight of the example; 1/(γl) of the source.
    pub c: f64,
    /// Whether to learn an intercept, which is not regularized.
    pub fit_intercept: bool,
    /// For a linear kernel with many columns, which is solved iteratively: |∇F|/√(2F) at which the solver stops.
    pub tolerance: f64,
}

impl Default for RlsParams {
    fn default() -> Self {
        Self { kernel: Kernel::Rbf { gamma: 1.0 }, c: 1.0, fit_intercept: true, tolerance: 1e-6 }
    }
}

/// Maximum number of labeled rows with a kernel other than linear: 3.2 GB and some minutes.
pub const MAX_ROWS: usize = 20_000;
/// Maximum number of rows for which a linear problem with at least as many columns is solved in the dual, which is cheaper
/// then.
const FEW_ROWS: usize = 1_000;

impl Fit for RlsParams {
    fn fit(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        self.check(x)?;
        problems.iter().try_for_each(|p| p.check(x.rows()))?;
        let mut outputs: Vec<Option<Output>> = problems.iter().map(|_| None).collect();
        for members in groups(problems) {
            let rows = used_rows(&problems[members[0]]);
            let cost: Vec<f64> =
                rows.iter().map(|&i| self.c * problems[members[0]].cost[i as usize]).collect();
            let y: Vec<Vec<f64>> = members.iter().map(|&p| signs(&problems[p], &rows)).collect();
            let primal = self.kernel == Kernel::Linear && (rows.len() > x.cols() || rows.len() > FEW_ROWS);
            let solved = if primal {
                let ridge = ridge::Ridge {
                    x,
                    rows,
                    cost,
                    fit_intercept: self.fit_intercept,
                    tolerance: self.tolerance,
                };
                ridge.solve(&y, watch)?
            } else {
                self.solve_dual(x, &rows, &cost, &y, watch)?
            };
            members.iter().zip(solved).for_each(|(&p, output)| outputs[p] = Some(output));
        }
        let (mut vectors, mut bias, mut reports) = (Vec::new(), Vec::new(), Vec::new());
        for output in outputs.into_iter().flatten() {
            vectors.push(output.vector);
            bias.push(output.bias);
            reports.push(output.report);
        }
        Ok(Fitted::new(self.model(x, vectors, bias), reports))
    }
}

/// One decision function: weights of the columns (linear or precomputed kernel) or coefficients of all rows.
pub(crate) struct Output {
    pub vector: Vec<f64>,
    pub bias: f64,
    pub report: Report,
}

impl RlsParams {
    /// Leave-one-out residuals: y − f(x) of each labeled row if it were left out of the fit, `None` for rows that take no
    /// part. The result is exact and costs one factorization and one inverse.
    pub fn leave_one_out(&self, x: MatrixView<'_>, targets: &Targets) -> Result<Vec<Option<f64>>> {
        self.check(x)?;
        targets.check(x.rows())?;
        let rows = used_rows(targets);
        let cost: Vec<f64> = rows.iter().map(|&i| self.c * targets.cost[i as usize]).collect();
        let system = self.factor(x, &rows, &cost, &())?;
        let (alpha, _) = self.coefficients(&system, &signs(targets, &rows));
        let mut inverse = system.cholesky.inverse_diagonal();
        if self.fit_intercept {
            let total: f64 = system.ones.iter().sum();
            inverse.iter_mut().zip(&system.ones).for_each(|(v, e)| *v -= e * e / total);
        }
        let mut residuals = vec![None; x.rows()];
        for (k, &i) in rows.iter().enumerate() {
            residuals[i as usize] = Some(alpha[k] / inverse[k]).filter(|e| e.is_finite());
        }
        Ok(residuals)
    }

    fn check(&self, x: MatrixView<'_>) -> Result<()> {
        self.kernel.check()?;
        if !(self.c > 0.0 && self.c <= 1e15) {
            return Err(Error::parameter("c", self.c, "a number above 0, at most 1e15"));
        }
        if !(self.tolerance > 0.0 && self.tolerance < 1.0) {
            return Err(Error::parameter("tolerance", self.tolerance, "a number between 0 and 1"));
        }
        if self.kernel == Kernel::Precomputed && x.rows() != x.cols() {
            return Err(Error::Shape {
                what: "columns of a kernel matrix",
                expected: x.rows(),
                found: x.cols(),
            });
        }
        Ok(())
    }

    /// Factors the system of the labeled rows.
    fn factor(&self, x: MatrixView<'_>, rows: &[u32], cost: &[f64], watch: &dyn Watch) -> Result<System> {
        let n = rows.len();
        if n > MAX_ROWS {
            let gigabytes = (n as f64).powi(2) * 8e-9;
            return Err(Error::Data(format!(
                "rls with kernel {} solves a dense system: {n} labeled rows need {gigabytes:.0} GB; use at most \
                 {MAX_ROWS} rows, kernel linear, or learner svc",
                self.kernel.name()
            )));
        }
        // The kernel matrix and its factorization are the two long pieces of work.
        permitted(watch)?;
        let mut matrix = if self.kernel == Kernel::Precomputed {
            submatrix(x, rows)?
        } else {
            gram_matrix(x.select(&rows.iter().map(|&i| i as usize).collect::<Vec<_>>()).view(), self.kernel)
        };
        for (i, c) in cost.iter().enumerate() {
            matrix[i * n + i] += 1.0 / c;
        }
        permitted(watch)?;
        let cholesky = Cholesky::new(matrix, n)?;
        let mut ones = vec![1.0; n];
        cholesky.solve(&mut ones);
        Ok(System { cholesky, ones })
    }

    /// α and b for the targets `y`.
    fn coefficients(&self, system: &System, y: &[f64]) -> (Vec<f64>, f64) {
        let mut alpha = y.to_vec();
        system.cholesky.solve(&mut alpha);
        let bias = if self.fit_intercept {
            alpha.iter().sum::<f64>() / system.ones.iter().sum::<f64>()
        } else {
            0.0
        };
        alpha.iter_mut().zip(&system.ones).for_each(|(a, e)| *a -= bias * e);
        (alpha, bias)
    }

    fn solve_dual(
        &self,
        x: MatrixView<'_>,
        rows: &[u32],
        cost: &[f64],
        y: &[Vec<f64>],
        watch: &dyn Watch,
    ) -> Result<Vec<Output>> {
        let system = self.factor(x, rows, cost, watch)?;
        let solve = |y: &Vec<f64>| {
            let (alpha, bias) = self.coefficients(&system, y);
            let report = dual_report(&system, &alpha, bias, cost, y);
            Output { vector: self.spread(x, rows, &alpha), bias, report }
        };
        Ok(y.iter().map(solve).collect())
    }

    /// Coefficients of the labeled rows as the vector that the model stores.
    fn spread(&self, x: MatrixView<'_>, rows: &[u32], alpha: &[f64]) -> Vec<f64> {
        let linear = self.kernel == Kernel::Linear;
        let mut out = vec![0.0; if linear { x.cols() } else { x.rows() }];
        for (&i, a) in rows.iter().zip(alpha) {
            if linear {
                x.row(i as usize).for_each(|c, v| out[c] += a * v);
            } else {
                out[i as usize] = *a;
            }
        }
        out
    }

    fn model(&self, x: MatrixView<'_>, vectors: Vec<Vec<f64>>, bias: Vec<f64>) -> Model {
        if matches!(self.kernel, Kernel::Linear | Kernel::Precomputed) {
            return Model::Linear { weights: vectors, bias };
        }
        let used: Vec<usize> = (0..x.rows()).filter(|&i| vectors.iter().any(|v| v[i] != 0.0)).collect();
        let coef = vectors.iter().map(|v| used.iter().map(|&i| v[i]).collect()).collect();
        let points: Matrix = x.select(&used);
        Model::Expansion { kernel: self.kernel, points, coef, bias }
    }
}

/// An error if the watch stops the fit: before the factorization there is no model to return.
pub(crate) fn permitted(watch: &dyn Watch) -> Result<()> {
    if watch.proceed(&Progress { steps: 0, violation: 1.0, tolerance: 0.0 }) {
        return Ok(());
    }
    Err(Error::Data("interrupted before the factorization; there is no partial answer".into()))
}

/// The factored system K + diag(1/(C·cᵢ)).
struct System {
    cholesky: Cholesky,
    /// Solution for a right-hand side of ones.
    ones: Vec<f64>,
}

/// Report of a dual solution. The objective follows from yᵢ − fᵢ − b = αᵢ/(C·cᵢ); the gap is the residual of the linear
/// system relative to y.
fn dual_report(system: &System, alpha: &[f64], bias: f64, cost: &[f64], y: &[f64]) -> Report {
    let image = system.cholesky.multiply(alpha);
    let residual: Vec<f64> = y.iter().zip(&image).map(|(y, a)| y - bias - a).collect();
    let objective: f64 = (0..y.len())
        .map(|i| {
            let error = alpha[i] / cost[i];
            0.5 * alpha[i] * (image[i] - error) + 0.5 * cost[i] * error * error
        })
        .sum();
    let gap = norm(&residual) / norm(y).max(f64::MIN_POSITIVE);
    let evaluations = (y.len() * (y.len() + 1) / 2) as u64;
    let exit = if gap <= 1e-6 { Exit::Converged } else { Exit::Stalled };
    Report { steps: 1, objective, gap, kernel_evaluations: evaluations, exit }
}

fn signs(targets: &Targets, rows: &[u32]) -> Vec<f64> {
    rows.iter().map(|&i| targets.y[i as usize].sign()).collect()
}

/// Groups of problems with the same rows and weights, which share a factorization.
fn groups(problems: &[Targets]) -> Vec<Vec<usize>> {
    let same = |a: &Targets, b: &Targets| {
        let known = |t: &Targets, i: usize| t.y[i].sign() != 0.0 && t.cost[i] > 0.0;
        (0..a.y.len()).all(|i| known(a, i) == known(b, i) && (!known(a, i) || a.cost[i] == b.cost[i]))
    };
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (p, problem) in problems.iter().enumerate() {
        match groups.iter_mut().find(|g| same(&problems[g[0]], problem)) {
            Some(group) => group.push(p),
            None => groups.push(vec![p]),
        }
    }
    groups
}

/// The kernel matrix of the given rows, from the whole kernel matrix; an asymmetric one is an error.
fn submatrix(x: MatrixView<'_>, rows: &[u32]) -> Result<Vec<f64>> {
    let n = rows.len();
    let mut matrix = Vec::with_capacity(n * n);
    let mut whole = vec![0.0; x.cols()];
    for &i in rows {
        whole.fill(0.0);
        x.row(i as usize).for_each(|c, v| whole[c] = v);
        matrix.extend(rows.iter().map(|&j| whole[j as usize]));
    }
    for i in 0..n {
        for j in 0..i {
            let (a, b) = (matrix[i * n + j], matrix[j * n + i]);
            if (a - b).abs() > 1e-6 * (a.abs() + b.abs()) {
                return Err(Error::Data(format!(
                    "kernel matrix: row {}, column {} holds {a} but the mirrored place {b}; it must be symmetric",
                    rows[i] + 1,
                    rows[j] + 1
                )));
            }
            matrix[i * n + j] = b;
        }
    }
    Ok(matrix)
}

fn used_rows(targets: &Targets) -> Vec<u32> {
    targets.used().into_iter().map(|i| i as u32).collect()
}
