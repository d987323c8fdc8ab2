//! Cross-validation of `svc` along a path of C.
//!
//! One kernel matrix serves all folds, problems and costs. Held-out rows ride along with bounds of zero, so that
//! their decisions come with the gradient and without a prediction; each C starts from the solution of the one
//! before, scaled (DeCoste & Wagstaff 2000). Where the whole matrix fits into the cache budget it is computed
//! once and problems and folds run side by side.

use super::Targets;
use super::svc::SvcParams;
use crate::data::MatrixView;
use crate::error::{Error, Result};
use crate::gram::{Gram, MatrixGram, Packed};
use crate::kernel::Kernel;
use crate::solve::Watch;
use rayon::prelude::*;

impl SvcParams {
    /// Decision values of all rows when the rows of each fold are held out in turn, for each C of a rising
    /// path: `result[c][row·problems + p]` is the decision of problem p on a row that its training did not see.
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
        let folds = fold_of.iter().max().map_or(0, |f| f + 1);
        let runs: Vec<(usize, usize)> =
            (0..problems.len()).flat_map(|p| (0..folds).map(move |fold| (p, fold))).collect();
        let path = |gram: &mut dyn Gram, &(p, fold): &(usize, usize)| {
            self.path(gram, &problems[p].without(fold_of, fold), costs, watch)
        };
        let paths: Vec<Vec<Vec<f64>>> = if let Some(matrix) = self.whole_matrix(x)? {
            runs.par_iter().map(|run| path(&mut matrix.clone(), run)).collect::<Result<_>>()?
        } else {
            let mut gram = self.gram(x)?;
            runs.iter().map(|run| path(gram.as_mut(), run)).collect::<Result<_>>()?
        };
        let mut decisions = vec![vec![0.0; x.rows() * problems.len()]; costs.len()];
        for ((p, fold), path) in runs.into_iter().zip(paths) {
            for (out, f) in decisions.iter_mut().zip(path) {
                let held = (0..f.len()).filter(|&i| fold_of[i] == fold);
                held.for_each(|i| out[i * problems.len() + p] = f[i]);
            }
        }
        Ok(decisions)
    }

    /// Decisions of all rows for each cost.
    fn path(
        &self,
        gram: &mut dyn Gram,
        training: &Targets,
        costs: &[f64],
        watch: &dyn Watch,
    ) -> Result<Vec<Vec<f64>>> {
        training.check(gram.len())?;
        let mut at = costs[0];
        let mut dual = Self { c: at, ..self.clone() }.dual(training);
        let solve = |&c: &f64| {
            dual.rescale(c / at);
            at = c;
            dual.run(gram, self.stop(training.y.len()), watch);
            dual.decisions()
        };
        Ok(costs.iter().map(solve).collect())
    }

    /// The whole kernel matrix, if it is given or fits into the cache budget.
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
