//! `svc`: the C-support vector machine with any kernel, solved in the dual.
//!
//! Problem: min ½|f|² + C Σ wᵢ max(0, 1 − yᵢ(f(xᵢ) + b)), solved as
//! min ½αᵀKα − yᵀα, α in [0, Cwᵢ] (positive class) or [−Cwᵢ, 0] (negative), Σα = 0; f = Σ αᵢK(xᵢ, ·).
//!
//! Problems of up to 200 rows are solved beyond the tolerance to 1e-11, with at most 100,000 further steps (some
//! milliseconds). The result then does not depend on the order of the rows, and a row of weight k equals k copies of it.

use super::svc_path::svc_path;
use crate::data::{Label, MatrixView};
use crate::error::{Error, Result};
use crate::estimators::registry::{EstimatorSpec, Parameters};
use crate::estimators::{Fit, Fitted, Targets};
use crate::kernel::Kernel;
use crate::kernel::gram::{Gram, KernelGram, MatrixGram, Packed};
use crate::model::Model;
use crate::model::MulticlassScheme;
use crate::params::shared::{
    C, CACHE_BYTES, COEF0, DEGREE, FIT_INTERCEPT, GAMMA, KERNEL, MAX_STEPS, TOLERANCE,
};
use crate::solver::smo::Dual;
use crate::solver::{Exit, Report, Stop, Watch};
use serde::{Deserialize, Serialize};

/// The specification of `svc`.
pub static SPEC: EstimatorSpec = EstimatorSpec {
    multiclass: MulticlassScheme::OneVsOne,
    ..EstimatorSpec::supervised(
        "svc",
        "support vector machine with any kernel (dual solver)",
        &[KERNEL, GAMMA, DEGREE, COEF0, C, TOLERANCE, FIT_INTERCEPT, MAX_STEPS, CACHE_BYTES],
    )
    .with_path(&["c"], svc_path)
};

impl Parameters for SvcParams {}

/// Parameters of [`svc`](self).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SvcParams {
    /// The kernel.
    pub kernel: Kernel,
    /// Cost of a margin violation, times the weight of the example.
    pub c: f64,
    /// Largest violation of the optimality conditions (LIBSVM's epsilon).
    pub tolerance: f64,
    /// Whether to learn an intercept.
    pub fit_intercept: bool,
    /// Maximum number of pair steps; `None` means the larger of 10 million and 100 per row.
    #[serde(with = "crate::params::step_limit")]
    pub max_steps: Option<u64>,
    /// Memory limit for cached kernel rows, in bytes.
    pub cache_bytes: usize,
}

impl Default for SvcParams {
    fn default() -> Self {
        Self {
            kernel: Kernel::Rbf { gamma: 1.0 },
            c: 1.0,
            tolerance: 1e-3,
            fit_intercept: true,
            max_steps: None,
            cache_bytes: 1 << 30,
        }
    }
}

/// Maximum number of rows of a problem that is solved beyond the tolerance, to [`TIGHT`].
const FEW_ROWS: usize = 200;

/// Tolerance of the further steps for small problems.
const TIGHT: f64 = 1e-11;
/// Maximum number of these further steps.
const MAX_FURTHER: u64 = 100_000;

/// The solution of one two-class problem: coefficients of all rows, and the intercept.
pub(crate) struct Solution {
    pub alpha: Vec<f64>,
    pub bias: f64,
    pub report: Report,
}

impl SvcParams {
    pub(crate) fn check(&self, x: MatrixView<'_>) -> Result<()> {
        self.kernel.check()?;
        if !(self.c > 0.0 && self.c <= 1e15) {
            return Err(Error::parameter("c", self.c, "a number above 0, at most 1e15"));
        }
        if !(self.tolerance > 0.0 && self.tolerance.is_finite()) {
            return Err(Error::parameter("tolerance", self.tolerance, "a positive number"));
        }
        if self.kernel == Kernel::Precomputed && x.rows() != x.cols() {
            return Err(Error::Shape {
                what: "columns of a precomputed kernel matrix",
                expected: x.rows(),
                found: x.cols(),
            });
        }
        Ok(())
    }

    /// The Gram matrix of the rows of `x`, or `x` itself if the kernel is precomputed.
    pub(crate) fn gram(&self, x: MatrixView<'_>) -> Result<Box<dyn Gram>> {
        Ok(match self.kernel {
            Kernel::Precomputed => Box::new(MatrixGram::new(x)?),
            kernel => Box::new(KernelGram::new(Packed::exact_if_small(x, kernel)?, self.cache_bytes)?),
        })
    }

    /// Stop criterion of the dual solver for this many rows.
    pub(crate) fn stop(&self, rows: usize) -> Stop {
        let max = self.max_steps.unwrap_or((100 * rows as u64).max(10_000_000));
        Stop { tolerance: self.tolerance, max_steps: Some(max) }
    }

    /// The dual problem. The bounds of a row are [0, C·w] or [−C·w, 0]; rows without label or weight are fixed at 0.
    pub(crate) fn dual(&self, targets: &Targets) -> Dual {
        let sign = targets.y.iter().map(|y| y.sign());
        let bound: Vec<f64> = sign.clone().zip(&targets.cost).map(|(s, w)| s * w * self.c).collect();
        let lo = bound.iter().map(|b| b.min(0.0)).collect();
        let hi = bound.iter().map(|b| b.max(0.0)).collect();
        let dual = Dual::new(sign.collect(), lo, hi);
        if self.fit_intercept { dual } else { dual.without_bias() }
    }

    fn solve(&self, gram: &mut dyn Gram, targets: &Targets, watch: &dyn Watch) -> Solution {
        let mut dual = self.dual(targets);
        let report = self.run(&mut dual, gram, watch);
        Solution { alpha: dual.alpha().to_vec(), bias: dual.bias(), report }
    }

    /// Solves to the tolerance, and small problems to [`TIGHT`].
    pub(crate) fn run(&self, dual: &mut Dual, gram: &mut dyn Gram, watch: &dyn Watch) -> Report {
        let rows = dual.alpha().len();
        let stop = self.stop(rows);
        let mut report = dual.run(gram, stop, watch);
        if report.exit == Exit::Converged && rows <= FEW_ROWS && self.tolerance > TIGHT {
            let left = stop.max_steps.map_or(MAX_FURTHER, |max| max.saturating_sub(report.steps));
            let tight = Stop { tolerance: TIGHT, max_steps: Some(left.min(MAX_FURTHER)) };
            let further = dual.run(gram, tight, watch);
            report.steps += further.steps;
            report.kernel_evaluations += further.kernel_evaluations;
            (report.objective, report.gap) = (further.objective, further.gap);
        }
        report
    }
}

impl Fit for SvcParams {
    fn fit(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        self.check(x)?;
        problems.iter().try_for_each(|p| p.check(x.rows()))?;
        let groups = disjoint_groups(problems).filter(|_| self.kernel != Kernel::Precomputed);
        let solutions = match &groups {
            Some(groups) => self.solve_pairs(x, problems, groups, watch)?,
            None => self.solve_each(x, problems, watch)?,
        };
        let order = groups.map_or_else(|| (0..x.rows()).collect(), |g| g.rows.concat());
        Ok(Fitted {
            model: self.model(x, &order, &solutions),
            reports: solutions.into_iter().map(|s| s.report).collect(),
            online: None,
            transduced: None,
        })
    }
}

impl SvcParams {
    /// Solves the problems one after the other on one Gram matrix, so that later problems use the cached kernel rows.
    fn solve_each(
        &self,
        x: MatrixView<'_>,
        problems: &[Targets],
        watch: &dyn Watch,
    ) -> Result<Vec<Solution>> {
        let mut gram = self.gram(x)?;
        let solve = |targets: &Targets| {
            let used = targets.used();
            if used.len() == x.rows() {
                return Ok(self.solve(gram.as_mut(), targets, watch));
            }
            let part = self.solve(gram.subset(&used)?.as_mut(), &targets.select(&used), watch);
            Ok(Solution { alpha: spread(&part.alpha, &used, x.rows()), ..part })
        };
        problems.iter().map(solve).collect()
    }

    /// Solves problems that are pairs of disjoint groups of rows (one-vs-one). Kernel values within a group are computed
    /// once for all its pairs.
    fn solve_pairs(
        &self,
        x: MatrixView<'_>,
        problems: &[Targets],
        groups: &Groups,
        watch: &dyn Watch,
    ) -> Result<Vec<Solution>> {
        let packed = Packed::exact_if_small(x, self.kernel)?;
        let share = self.cache_bytes / 2 / groups.rows.len();
        let mut within: Vec<KernelGram<'static>> = groups
            .rows
            .iter()
            .map(|rows| KernelGram::new(packed.select(rows), share))
            .collect::<Result<_>>()?;
        let solve = |(targets, &[a, b]): (&Targets, &[usize; 2])| {
            let rows = [groups.rows[a].as_slice(), &groups.rows[b]].concat();
            let before = within[a].evaluations() + within[b].evaluations();
            let blocks = within.get_disjoint_mut([a, b]).map_or_else(|_| Vec::new(), Vec::from);
            let mut gram = KernelGram::of_blocks(packed.select(&rows), blocks, self.cache_bytes / 2)?;
            let mut part = self.solve(&mut gram, &targets.select(&rows), watch);
            part.report.kernel_evaluations += within[a].evaluations() + within[b].evaluations() - before;
            Ok(Solution { alpha: spread(&part.alpha, &rows, x.rows()), ..part })
        };
        problems.iter().zip(&groups.pairs).map(solve).collect()
    }

    /// The model over the support vectors, in the given order. Ordered by group, prediction can skip the pairs that a group
    /// is not part of.
    pub(crate) fn model(&self, x: MatrixView<'_>, order: &[usize], solutions: &[Solution]) -> Model {
        let bias = solutions.iter().map(|s| s.bias).collect();
        if self.kernel == Kernel::Precomputed {
            return Model::Linear { weights: solutions.iter().map(|s| s.alpha.clone()).collect(), bias };
        }
        let is_support = |i: &usize| solutions.iter().any(|s| s.alpha[*i] != 0.0);
        let support: Vec<usize> = order.iter().copied().filter(is_support).collect();
        let coef = solutions.iter().map(|s| support.iter().map(|&i| s.alpha[i]).collect()).collect();
        Model::Expansion { kernel: self.kernel, points: x.select(&support), coef, bias }
    }
}

/// Disjoint groups of rows such that each problem is a pair of groups.
struct Groups {
    rows: Vec<Vec<usize>>,
    /// Groups of the negative and the positive rows of each problem.
    pairs: Vec<[usize; 2]>,
}

/// Finds [`Groups`] if there are several problems and any two sets of positive or negative rows are equal or disjoint.
fn disjoint_groups(problems: &[Targets]) -> Option<Groups> {
    if problems.len() < 2 {
        return None;
    }
    let mut group_of: Vec<Option<usize>> = vec![None; problems[0].y.len()];
    let mut groups = Groups { rows: Vec::new(), pairs: Vec::new() };
    for targets in problems {
        let mut pair = [0; 2];
        for (side, class) in [Label::Neg, Label::Pos].into_iter().enumerate() {
            let used = targets.used().into_iter().filter(|&i| targets.y[i] == class);
            let rows: Vec<usize> = used.collect();
            pair[side] = match group_of[rows[0]] {
                Some(g) => g,
                None => groups.rows.len(),
            };
            if pair[side] == groups.rows.len() {
                if rows.iter().any(|&i| group_of[i].is_some()) {
                    return None;
                }
                rows.iter().for_each(|&i| group_of[i] = Some(pair[side]));
                groups.rows.push(rows);
            } else if groups.rows[pair[side]] != rows {
                return None;
            }
        }
        groups.pairs.push(pair);
    }
    Some(groups)
}

/// A vector of length `len` with the given values at the indices `at` and 0 elsewhere.
pub(crate) fn spread(values: &[f64], at: &[usize], len: usize) -> Vec<f64> {
    let mut out = vec![0.0; len];
    at.iter().zip(values).for_each(|(&i, &v)| out[i] = v);
    out
}
