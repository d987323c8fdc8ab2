//! Cross-validation of `svc` along a path of C.
//!
//! All folds, problems and costs share one kernel matrix. Held-out rows are variables with bounds of zero, so the gradient
//! gives their decisions without a prediction. If memory allows, each C starts from the rescaled solution of the previous
//! one (DeCoste & Wagstaff 2000). If the whole matrix fits into the cache, it is computed once, and problems and folds are
//! solved in parallel.

use crate::data::MatrixView;
use crate::error::{Error, Result};
use crate::estimators::Targets;
use crate::estimators::folds::PathTask;
use crate::estimators::registry::read;
use crate::estimators::supervised::svc::{SPEC, SvcParams};
use crate::kernel::Kernel;
use crate::kernel::gram::{Gram, MatrixGram, Packed};
use crate::solver::smo::Dual;
use crate::solver::{Exit, Watch};
use rayon::prelude::*;

/// Fold of rows that are never held out.
pub const NEVER: usize = usize::MAX;

/// Path of `svc` along C; see [`SvcParams::cross_validate`].
pub(crate) fn svc_path(task: &PathTask<'_>, watch: &dyn Watch) -> Result<Option<Vec<Vec<f64>>>> {
    let params = read::<SvcParams>(&SPEC, task.params)?;
    let folds: Vec<usize> = task.folds.iter().map(|f| f.map_or(NEVER, |f| f as usize)).collect();
    params.cross_validate(task.x, task.problems, &folds, task.values, watch).map(Some)
}

/// One problem without the rows of one fold.
struct Run {
    problem: usize,
    fold: usize,
    /// The last C and its dual solution.
    reached: Option<(f64, Dual)>,
}

impl SvcParams {
    /// Held-out decision values for each C of an ascending path: `result[c][row·problems + p]` is the decision value of
    /// problem p for a row, trained without the row's fold. Each C is finished before the next begins, so after an
    /// interruption the result holds the finished ones.
    pub fn cross_validate(
        &self,
        x: MatrixView<'_>,
        problems: &[Targets],
        fold_of: &[usize],
        costs: &[f64],
        watch: &dyn Watch,
    ) -> Result<Vec<Vec<f64>>> {
        self.check(x)?;
        problems.iter().try_for_each(|p| p.check(x.rows()))?;
        let usable = costs.iter().all(|c| *c > 0.0 && c.is_finite()) && costs.is_sorted();
        if !usable || costs.is_empty() {
            return Err(Error::parameter("c", format!("{costs:?}"), "positive numbers in rising order"));
        }
        if fold_of.len() != x.rows() {
            return Err(Error::Shape { what: "folds", expected: x.rows(), found: fold_of.len() });
        }
        let folds = fold_of.iter().filter(|f| **f != NEVER).max().map_or(0, |f| f + 1);
        let mut runs = Vec::with_capacity(problems.len() * folds);
        for (problem, targets) in problems.iter().enumerate() {
            for fold in 0..folds {
                targets.without(fold_of, fold).check(x.rows())?;
                runs.push(Run { problem, fold, reached: None });
            }
        }
        // a warm start stores five numbers per row and run
        let warm = runs.len().saturating_mul(x.rows()).saturating_mul(40) <= self.cache_bytes;
        let advance = |gram: &mut dyn Gram, run: &mut Run, c: f64| {
            let mut dual = match run.reached.take() {
                Some((last, mut dual)) => {
                    dual.rescale(c / last);
                    dual
                }
                None => Self { c, ..self.clone() }.dual(&problems[run.problem].without(fold_of, run.fold)),
            };
            let report = dual.run(gram, self.stop(x.rows()), watch);
            let f = dual.decisions();
            let held: Vec<f64> = (0..f.len()).filter(|&i| fold_of[i] == run.fold).map(|i| f[i]).collect();
            run.reached = warm.then_some((c, dual));
            (report.exit != Exit::Interrupted).then_some(held)
        };
        let matrix = self.whole_matrix(x)?;
        let mut gram = if matrix.is_none() { Some(self.gram(x)?) } else { None };
        let mut decisions = Vec::with_capacity(costs.len());
        for &c in costs {
            let solved: Option<Vec<Vec<f64>>> = match (&matrix, &mut gram) {
                (Some(matrix), _) => {
                    runs.par_iter_mut().map(|run| advance(&mut matrix.clone(), run, c)).collect()
                }
                (_, Some(gram)) => runs.iter_mut().map(|run| advance(gram.as_mut(), run, c)).collect(),
                _ => None,
            };
            let Some(solved) = solved else { break };
            let mut out = vec![0.0; x.rows() * problems.len()];
            for (run, held) in runs.iter().zip(solved) {
                let rows = (0..x.rows()).filter(|&i| fold_of[i] == run.fold);
                rows.zip(held).for_each(|(i, f)| out[i * problems.len() + run.problem] = f);
            }
            decisions.push(out);
        }
        Ok(decisions)
    }

    /// The whole kernel matrix, if it is precomputed or fits into the cache.
    fn whole_matrix(&self, x: MatrixView<'_>) -> Result<Option<MatrixGram>> {
        if self.kernel == Kernel::Precomputed {
            return MatrixGram::new(x).map(Some);
        }
        if x.rows().saturating_mul(x.rows()).saturating_mul(4) > self.cache_bytes {
            return Ok(None);
        }
        Ok(Some(MatrixGram::computed(&Packed::new(x, self.kernel)?)))
    }
}

impl Targets {
    /// The problem without the rows of a fold.
    fn without(&self, fold_of: &[usize], fold: usize) -> Self {
        let cost = self.cost.iter().zip(fold_of).map(|(&c, &f)| if f == fold { 0.0 } else { c }).collect();
        Self { y: self.y.clone(), cost }
    }
}
