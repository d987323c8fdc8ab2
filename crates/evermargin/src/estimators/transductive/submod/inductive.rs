//! A model trained on given and inferred labels: cost C·weight for given ones, κC·weight for the others.

use super::{CutInput, exit_of};
use crate::data::{Label, MatrixView};
use crate::error::{Error, Result};
use crate::estimators::supervised::linear::LinearParams;
use crate::estimators::supervised::svc::SvcParams;
use crate::estimators::transductive::{FewLabels, Transduced};
use crate::estimators::{Fit, Fitted, Targets};
use crate::kernel::Kernel;
use crate::solver::Watch;

/// Parameters of the model.
#[derive(Debug, Clone, Copy)]
pub struct Inductive {
    pub kernel: Kernel,
    pub c: f64,
    pub tolerance: f64,
    pub cache_bytes: usize,
}

impl Inductive {
    pub fn check(&self) -> Result<()> {
        if !(self.tolerance > 0.0 && self.tolerance < 1.0) {
            return Err(Error::parameter("tolerance", self.tolerance, "a number between 0 and 1"));
        }
        Ok(())
    }

    fn linear(&self) -> LinearParams {
        LinearParams { c: self.c, tolerance: self.tolerance, ..Default::default() }
    }

    /// The estimator on the labels alone.
    pub fn supervised(&self) -> Box<dyn Fit> {
        let Self { kernel, c, tolerance, cache_bytes } = *self;
        match kernel {
            Kernel::Linear => Box::new(self.linear()),
            kernel => Box::new(SvcParams { kernel, c, tolerance, cache_bytes, ..Default::default() }),
        }
    }

    /// Fits the model if there are no unlabeled rows; the scores are its decisions.
    pub fn fit_without_unlabeled(
        &self,
        x: MatrixView<'_>,
        problems: &[Targets],
        few: &[FewLabels],
        watch: &dyn Watch,
    ) -> Result<Fitted> {
        let mut fitted = self.supervised().fit(x, problems, watch)?;
        let (decision, width) = (fitted.model.decision(x)?, problems.len());
        let scores = (0..width).map(|j| decision.iter().skip(j).step_by(width).copied().collect()).collect();
        let ratio = few.iter().map(|f| f.ratio).collect();
        let facts = few.iter().flat_map(FewLabels::facts).collect();
        fitted.transduced = Some(Transduced { scores, ratio, facts, alone: None });
        Ok(fitted)
    }

    /// Fits the model to all labels.
    pub fn fit(
        &self,
        x: MatrixView<'_>,
        problems: &[Targets],
        few: &[FewLabels],
        given: CutInput,
        watch: &dyn Watch,
    ) -> Result<Fitted> {
        let CutInput { labels: given, kappas, start } = given;
        let filled: Vec<Targets> = problems
            .iter()
            .zip(few)
            .enumerate()
            .map(|(j, (targets, few))| {
                let kappa = kappas[j.min(kappas.len() - 1)];
                let mut all = targets.clone();
                for &i in &few.unlabeled {
                    all.y[i] = if given.scores[j][i] > 0.0 { Label::Pos } else { Label::Neg };
                    all.cost[i] *= kappa;
                }
                all
            })
            .collect();
        let mut fitted = match self.kernel {
            Kernel::Linear => self.linear().fit_from(x, &filled, start.as_ref(), watch)?,
            _ => self.supervised().fit(x, &filled, watch)?,
        };
        for report in &mut fitted.reports {
            report.exit = exit_of(&given, report.exit, watch);
        }
        fitted.transduced = Some(given);
        Ok(fitted)
    }
}
