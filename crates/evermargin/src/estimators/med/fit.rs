//! Fitting of a whole table, in batches of consecutive rows.

use super::{MedParams, SeqMed};
use crate::data::{Label, MatrixView};
use crate::error::Result;
use crate::estimators::manifold::transduction::told_by_model;
use crate::estimators::transductive::{FewLabels, Ratio};
use crate::estimators::{Fit, Fitted, Targets};
use crate::params::ParamValues;
use crate::solver::{Exit, Progress, Report, Watch};
use serde::{Deserialize, Serialize};

impl MedParams {
    /// Learns the rows in batches. The watch can stop it after any batch, but not before the first one.
    fn pass(
        &self,
        x: MatrixView<'_>,
        problems: &[Targets],
        watch: &dyn Watch,
    ) -> Result<(SeqMed, Vec<Report>)> {
        self.check()?;
        problems.iter().try_for_each(|p| p.check(x.rows()))?;
        let graph = self.uses_graph();
        let counts = |p: &Targets, i: usize| p.cost[i] > 0.0 && (graph || p.y[i] != Label::Unknown);
        let rows: Vec<usize> = (0..x.rows()).filter(|&i| problems.iter().any(|p| counts(p, i))).collect();
        let first = x.select(&rows[..rows.len().min(self.batch)]);
        let mut state = SeqMed::new(self, first.view(), problems.len())?;
        let mut sums: Vec<Report> = Vec::new();
        for batch in rows.chunks(self.batch) {
            let part = x.select(batch);
            let targets: Vec<Targets> = problems.iter().map(|p| p.select(batch)).collect();
            let progress = Progress { steps: state.batches(), violation: 1.0, tolerance: 0.0 };
            let in_time = watch.proceed(&progress);
            if !in_time && state.batches() > 0 {
                sums.iter_mut().for_each(|r| r.exit = Exit::Interrupted);
                break;
            }
            // batches are small and are not interrupted, so every model is the result of whole batches
            let reports = state.learn(part.view(), &targets, &())?;
            sums = joined(sums, reports);
        }
        Ok((state, sums))
    }

    /// Fits `seq-med`: no graph, no unlabeled rows.
    fn fit_labels_only(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        let (state, reports) = self.labels_alone().pass(x, problems, watch)?;
        Ok(Fitted::new(state.model(), reports))
    }
}

/// Sums of steps, objectives and gaps over batches; the first exit that is not [`Exit::Converged`] is kept.
pub(crate) fn joined(sums: Vec<Report>, new: Vec<Report>) -> Vec<Report> {
    if sums.is_empty() {
        return new;
    }
    let add = |(a, b): (Report, Report)| Report {
        steps: a.steps + b.steps,
        objective: a.objective + b.objective,
        gap: a.gap + b.gap,
        kernel_evaluations: a.kernel_evaluations + b.kernel_evaluations,
        exit: if a.exit == Exit::Converged { b.exit } else { a.exit },
    };
    sums.into_iter().zip(new).map(add).collect()
}

/// Parameters of `seq-med`, which uses only labeled rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LabelsOnly(pub MedParams);

impl Fit for LabelsOnly {
    fn fit(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        self.0.fit_labels_only(x, problems, watch)
    }
}

/// `seq-lapmed`. Without unlabeled rows it is fitted as `seq-med`.
impl Fit for MedParams {
    fn fit(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        self.check()?;
        let few = FewLabels::of(x, problems, &Ratio::Labels, watch)?;
        let open = few.iter().any(|f| !f.unlabeled.is_empty());
        if !open || !self.uses_graph() {
            let fitted = self.fit_labels_only(x, problems, watch)?;
            return told_by_model(fitted, x, &few, false, ParamValues::new());
        }
        let (state, reports) = self.pass(x, problems, watch)?;
        let facts = ParamValues::from_iter([("batches".to_string(), state.batches().into())]);
        told_by_model(Fitted::new(state.model(), reports), x, &few, false, facts)
    }

    fn supervised(&self) -> Option<Box<dyn Fit>> {
        Some(Box::new(LabelsOnly(self.clone())))
    }
}
