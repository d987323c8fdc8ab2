//! A whole table, learned in batches of its rows as they stand.

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
    /// Goes through the rows in batches. The first batch is learned whatever the time; what comes after it may be left out.
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
            // a batch is small: it is solved whole, so that every model is that of whole batches
            let reports = state.learn(part.view(), &targets, &())?;
            sums = joined(sums, reports);
        }
        Ok((state, sums))
    }

    fn alone(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        let (state, reports) = self.labels_alone().pass(x, problems, watch)?;
        Ok(Fitted::new(state.model(), reports))
    }
}

/// Steps, values and gaps of batches add up; the worst end counts.
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

/// The labels alone: `seq-med`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LabelsOnly(pub MedParams);

impl Fit for LabelsOnly {
    fn fit(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        self.0.alone(x, problems, watch)
    }
}

/// `seq-lapmed`. Without any unlabeled row there is nothing for a graph to tell.
impl Fit for MedParams {
    fn fit(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        self.check()?;
        let few = FewLabels::of(x, problems, &Ratio::Labels, watch)?;
        let open = few.iter().any(|f| !f.unlabeled.is_empty());
        if !open || !self.uses_graph() {
            let fitted = self.alone(x, problems, watch)?;
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
