//! `svc`: the C-support-vector machine with any kernel, on the dual solver.
//!
//! Problem: min ½|f|² + C Σ wᵢ max(0, 1 − yᵢ(f(xᵢ) + b)), solved as
//! min ½αᵀKα − yᵀα, α in [0, Cwᵢ] (positive class) or [−Cwᵢ, 0] (negative), Σα = 0; f = Σ αᵢK(xᵢ, ·).

use super::{Fit, Fitted, Targets};
use crate::data::{Label, MatrixView};
use crate::error::{Error, Result};
use crate::gram::{Gram, KernelGram, MatrixGram};
use crate::kernel::Kernel;
use crate::model::Model;
use crate::solve::smo::Dual;
use crate::solve::{Report, Stop, Watch};
use serde::{Deserialize, Serialize};

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
    /// Most pair steps; 0 means as many as it takes.
    pub max_steps: u64,
    /// Bytes for cached kernel rows.
    pub cache_bytes: usize,
}

impl Default for SvcParams {
    fn default() -> Self {
        Self { kernel: Kernel::Rbf { gamma: 1.0 }, c: 1.0, tolerance: 1e-3, max_steps: 0, cache_bytes: 1 << 30 }
    }
}

/// The solution of one two-class problem: variables of all rows, and the constant.
struct Solution {
    alpha: Vec<f64>,
    bias: f64,
    report: Report,
}

impl SvcParams {
    fn check(&self, x: MatrixView<'_>) -> Result<()> {
        self.kernel.check()?;
        if !(self.c > 0.0 && self.c.is_finite()) {
            return Err(Error::parameter("c", self.c, "a positive number"));
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

    fn gram(&self, x: MatrixView<'_>) -> Box<dyn Gram> {
        match self.kernel {
            Kernel::Precomputed => Box::new(MatrixGram::new(x)),
            kernel => Box::new(KernelGram::new(x, kernel, self.cache_bytes)),
        }
    }

    fn stop(&self) -> Stop {
        let max_steps = if self.max_steps == 0 { u64::MAX } else { self.max_steps };
        Stop { tolerance: self.tolerance, max_steps }
    }

    /// Bounds of each row: [0, C·w] or [−C·w, 0]; rows without label or weight are held at 0.
    fn dual(&self, targets: &Targets) -> Dual {
        let sign = targets.y.iter().map(|y| y.sign());
        let bound: Vec<f64> = sign.clone().zip(&targets.cost).map(|(s, w)| s * w * self.c).collect();
        let lo = bound.iter().map(|b| b.min(0.0)).collect();
        let hi = bound.iter().map(|b| b.max(0.0)).collect();
        Dual::new(sign.collect(), lo, hi)
    }

    fn solve(&self, gram: &mut dyn Gram, targets: &Targets, watch: &dyn Watch) -> Solution {
        let mut dual = self.dual(targets);
        let report = dual.run(gram, self.stop(), watch);
        Solution { alpha: dual.alpha().to_vec(), bias: dual.bias(), report }
    }
}

impl Fit for SvcParams {
    fn fit(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        self.check(x)?;
        problems.iter().try_for_each(|p| p.check(x.rows()))?;
        let mut gram = self.gram(x);
        let solutions: Vec<Solution> = problems
            .iter()
            .map(|targets| {
                let used = used_rows(targets);
                if used.len() == x.rows() {
                    self.solve(gram.as_mut(), targets, watch)
                } else {
                    let part = self.solve(gram.subset(&used).as_mut(), &targets.select(&used), watch);
                    Solution { alpha: spread(&part.alpha, &used, x.rows()), ..part }
                }
            })
            .collect();
        drop(gram);
        Ok(Fitted {
            model: self.model(x, &solutions),
            reports: solutions.into_iter().map(|s| s.report).collect(),
        })
    }
}

impl SvcParams {
    fn model(&self, x: MatrixView<'_>, solutions: &[Solution]) -> Model {
        let bias = solutions.iter().map(|s| s.bias).collect();
        if self.kernel == Kernel::Precomputed {
            return Model::Linear { weights: solutions.iter().map(|s| s.alpha.clone()).collect(), bias };
        }
        let support: Vec<usize> =
            (0..x.rows()).filter(|&i| solutions.iter().any(|s| s.alpha[i] != 0.0)).collect();
        let coef = solutions.iter().map(|s| support.iter().map(|&i| s.alpha[i]).collect()).collect();
        Model::Expansion { kernel: self.kernel, points: x.select(&support), coef, bias }
    }
}

/// Rows that take part: labelled, with weight.
fn used_rows(targets: &Targets) -> Vec<usize> {
    (0..targets.y.len()).filter(|&i| targets.y[i] != Label::Unknown && targets.cost[i] > 0.0).collect()
}

fn spread(values: &[f64], at: &[usize], len: usize) -> Vec<f64> {
    let mut out = vec![0.0; len];
    at.iter().zip(values).for_each(|(&i, &v)| out[i] = v);
    out
}
