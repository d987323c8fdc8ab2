//! The sequential learner: prediction, and the update by one batch.

use super::checkpoint::{Posterior, Saved};
use super::features::Features;
use super::recursion::Recursion;
use super::space::Space;
use super::{Form, Intercept, MedParams};
use crate::data::{Label, Matrix, MatrixView};
use crate::error::{Error, Result};
use crate::estimators::Targets;
use crate::estimators::manifold::penalty::Penalty;
use crate::model::Model;
use crate::solver::log_barrier::{Problem, Rows};
use crate::solver::{Exit, Report, Watch};

/// Prediction of the posterior for the labeled rows of a batch.
pub(crate) struct BatchEvaluation {
    /// Kernel matrix K of the rows, row-major.
    pub kernel: Vec<f64>,
    /// Scores of each output, without the intercept.
    pub scores: Vec<Vec<f64>>,
    /// Features of the rows; `None` if the posterior is in terms of points.
    pub features: Option<Matrix>,
}

/// A sequential learner with one or more outputs.
#[derive(Debug, Clone, PartialEq)]
pub struct SeqMed {
    saved: Saved,
}

impl SeqMed {
    /// Creates an untrained learner for samples with the columns of `first`.
    pub fn new(params: &MedParams, first: MatrixView<'_>, outputs: usize) -> Result<Self> {
        params.check()?;
        if outputs == 0 {
            return Err(Error::Shape { what: "outputs", expected: 1, found: 0 });
        }
        let own = |i: usize| params.kernel.eval(first.row(i), first.row(i));
        let mean = (0..first.rows()).map(own).sum::<f64>() / first.rows().max(1) as f64;
        let intercept_variance = match (params.intercept, params.intercept_variance) {
            (Intercept::Prior, 0.0) if mean > 0.0 && mean.is_finite() => mean,
            (Intercept::Prior, 0.0) => 1.0,
            (Intercept::Prior, given) => given,
            _ => 0.0,
        };
        let known = match params.form {
            Form::Bounded => {
                let space = Space::new(first, params.kernel, params.uses_graph(), params.n_landmarks);
                Posterior::Features(Features::new(space, outputs))
            }
            form => Posterior::Points(Recursion::new(params.kernel, first, outputs, form == Form::Spectral)),
        };
        let (cols, bias) = (first.cols(), vec![0.0; outputs]);
        Ok(Self {
            saved: Saved {
                params: params.clone(),
                cols,
                intercept_variance,
                bias,
                batches: 0,
                rows: 0,
                known,
            },
        })
    }

    /// Learns a batch: one problem per output, on the same rows. Rows with a weight but no label are part of the graph. An
    /// error, or an interruption before the dual is solved, leaves the learner unchanged. Returns one report per output.
    pub fn learn(
        &mut self,
        x: MatrixView<'_>,
        problems: &[Targets],
        watch: &dyn Watch,
    ) -> Result<Vec<Report>> {
        self.learn_rows(x, problems, true, watch)
    }

    /// [`SeqMed::learn`] without the graph: unlabeled rows are not used, the precision does not change, and no batch is
    /// counted.
    pub fn learn_labels(
        &mut self,
        x: MatrixView<'_>,
        problems: &[Targets],
        watch: &dyn Watch,
    ) -> Result<Vec<Report>> {
        self.learn_rows(x, problems, false, watch)
    }

    fn learn_rows(
        &mut self,
        x: MatrixView<'_>,
        problems: &[Targets],
        with_graph: bool,
        watch: &dyn Watch,
    ) -> Result<Vec<Report>> {
        self.check(x, problems)?;
        let params = &self.saved.params;
        let present = |i: &usize| problems.iter().any(|p| p.cost[*i] > 0.0);
        let has_label = |i: &usize| problems.iter().any(|p| p.cost[*i] > 0.0 && p.y[*i] != Label::Unknown);
        let rows: Vec<usize> = (0..x.rows()).filter(present).collect();
        let labeled: Vec<usize> = rows.iter().copied().filter(has_label).collect();
        let weight = params.smoothness(rows.len().max(1), self.saved.batches);
        let graph = with_graph && weight > 0.0 && rows.len() > 1;
        let seen = x.select(if graph { &rows } else { &labeled });
        let penalty = if graph { params.penalty.penalty(seen.view(), watch)? } else { None };
        if graph && penalty.is_none() {
            return Ok(vec![empty_report(Exit::Interrupted); problems.len()]);
        }
        let mut next = self.clone();
        next.saved.deform(seen.view(), penalty.as_ref().map(|p| (p, weight)))?;
        let part = x.select(&labeled);
        let targets: Vec<Targets> = problems.iter().map(|p| p.select(&labeled)).collect();
        let reports = next.saved.update(part.view(), &targets, watch)?;
        next.saved.batches += u64::from(with_graph && !rows.is_empty());
        next.saved.rows += rows.len() as u64;
        if next.saved.check().is_err() {
            return Err(Error::Data(
                "the posterior is out of range of floating-point numbers; scale the rows".into(),
            ));
        }
        *self = next;
        Ok(reports)
    }

    /// Decision values of the rows of `x` in double precision, row-major, one value per output.
    pub fn decisions(&self, x: MatrixView<'_>) -> Result<Vec<f64>> {
        self.same_columns(x)?;
        let scores = match &self.saved.known {
            Posterior::Features(f) => f.decisions(x),
            Posterior::Points(r) => r.decisions(x),
        };
        let row = |i: usize| scores.iter().zip(&self.saved.bias).map(move |(s, b)| s[i] + b);
        Ok((0..x.rows()).flat_map(row).collect())
    }

    /// Variance ϕᵀG⁻¹ϕ of the decision value of each row, without that of the intercept. It is the same for all outputs. The
    /// graphs of batches reduce it; labels do not change it.
    pub fn variance(&self, x: MatrixView<'_>) -> Result<Vec<f64>> {
        self.same_columns(x)?;
        Ok(match &self.saved.known {
            Posterior::Features(f) => f.variance(x),
            Posterior::Points(r) => r.variance(x),
        })
    }

    /// The decision functions.
    pub fn model(&self) -> Model {
        let bias = self.saved.bias.clone();
        let empty = match &self.saved.known {
            Posterior::Features(f) => f.space.dim() == 0,
            Posterior::Points(r) => r.points.rows() == 0,
        };
        match &self.saved.known {
            // nothing learned yet: an expansion needs at least one point, so the model has weights 0 instead
            _ if empty => Model::Linear { weights: vec![vec![0.0; self.saved.cols]; bias.len()], bias },
            Posterior::Features(f) => f.model(bias),
            Posterior::Points(r) => r.model(bias),
        }
    }

    /// A learner with the same landmarks and precision, which do not depend on labels, and `outputs` outputs that have
    /// learned no labels.
    #[must_use]
    pub fn without_labels(&self, outputs: usize) -> Self {
        let mut saved = self.saved.clone();
        saved.bias = vec![0.0; outputs];
        match &mut saved.known {
            Posterior::Features(f) => f.clear(outputs),
            Posterior::Points(r) => {
                r.points = Matrix::empty(r.points.cols(), matches!(r.points, Matrix::Csr { .. }));
                r.coef = vec![Vec::new(); outputs];
            }
        }
        Self { saved }
    }

    /// The landmarks, or the labeled points of the exact recursion; `None` if the features are columns.
    pub fn landmarks(&self) -> Option<&Matrix> {
        match &self.saved.known {
            Posterior::Features(f) => f.space.landmarks(),
            Posterior::Points(r) => Some(&r.points),
        }
    }

    /// Number of landmarks.
    pub fn landmark_count(&self) -> usize {
        self.landmarks().map_or(0, Matrix::rows)
    }

    /// Intercept of each output.
    pub fn bias(&self) -> &[f64] {
        &self.saved.bias
    }

    /// The posterior.
    pub fn known(&self) -> &Posterior {
        &self.saved.known
    }

    /// Parameters.
    pub fn params(&self) -> &MedParams {
        &self.saved.params
    }

    /// Number of columns of a sample.
    pub fn cols(&self) -> usize {
        self.saved.cols
    }

    /// Number of batches learned so far.
    pub fn batches(&self) -> u64 {
        self.saved.batches
    }

    /// A checkpoint of the current state.
    pub fn save(&self) -> Saved {
        self.saved.clone()
    }

    /// Restores a learner from a checkpoint; inconsistent parts are an error.
    pub fn resume(saved: &Saved) -> Result<Self> {
        saved.check()?;
        let mut saved = saved.clone();
        if let Posterior::Features(f) = &mut saved.known {
            f.refresh()?;
        }
        Ok(Self { saved })
    }

    fn same_columns(&self, x: MatrixView<'_>) -> Result<()> {
        if x.cols() == self.saved.cols {
            return Ok(());
        }
        Err(Error::Shape { what: "columns", expected: self.saved.cols, found: x.cols() })
    }

    fn check(&self, x: MatrixView<'_>, problems: &[Targets]) -> Result<()> {
        self.same_columns(x)?;
        let mut shapes = vec![("problems", self.saved.bias.len(), problems.len())];
        for p in problems {
            shapes.extend([("labels", x.rows(), p.y.len()), ("weights", x.rows(), p.cost.len())]);
        }
        for (what, expected, found) in shapes {
            if expected != found {
                return Err(Error::Shape { what, expected, found });
            }
        }
        for p in problems {
            if let Some(i) = p.cost.iter().position(|c| !(c.is_finite() && *c >= 0.0)) {
                return Err(Error::Data(format!(
                    "weight {} of row {}: must be a finite number, 0 or more",
                    p.cost[i],
                    i + 1
                )));
            }
        }
        Ok(())
    }
}

impl Saved {
    /// First part of a batch, which does not read labels: adds landmarks, forgets, and adds the graph to the precision.
    fn deform(&mut self, x: MatrixView<'_>, penalty: Option<(&Penalty, f64)>) -> Result<()> {
        let seed = self.params.seed.wrapping_add(self.batches.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        match &mut self.known {
            Posterior::Features(f) => {
                f.grow(x, self.params.n_landmarks, seed)?;
                if self.params.retention < 1.0 {
                    f.forget(self.params.retention)?;
                }
                penalty.map_or(Ok(()), |(p, weight)| f.deform(x, p, weight))
            }
            Posterior::Points(r) => penalty.map_or(Ok(()), |(p, weight)| r.deform(x, p, weight)),
        }
    }

    /// Second part of a batch: solves the dual of each output and adds the solution to the posterior.
    fn update(&mut self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Vec<Report>> {
        if x.rows() == 0 {
            return Ok(vec![empty_report(Exit::Converged); problems.len()]);
        }
        let mut evaluation = match &self.known {
            Posterior::Features(f) => f.evaluate(x),
            Posterior::Points(r) => r.evaluate(x),
        };
        evaluation.kernel.iter_mut().for_each(|k| *k += self.intercept_variance);
        let params = &self.params;
        let rows = Rows::new(evaluation.kernel, x.rows(), params.loss)?;
        let free = params.intercept == Intercept::Free;
        let (mut alphas, mut reports) = (Vec::new(), Vec::new());
        for ((problem, scores), bias) in problems.iter().zip(&evaluation.scores).zip(&mut self.bias) {
            let known = if free { 0.0 } else { *bias };
            let solved =
                rows.solve(dual_problem(params, problem, scores, known), free, params.tolerance, watch);
            if free {
                *bias = solved.bias.unwrap_or(*bias);
            } else {
                *bias += self.intercept_variance * solved.alpha.iter().sum::<f64>();
            }
            alphas.push(solved.alpha);
            reports.push(solved.report);
        }
        match (&mut self.known, &evaluation.features) {
            (Posterior::Features(f), Some(features)) => f.learn(features, &alphas),
            (Posterior::Points(r), _) => r.learn(x, &alphas)?,
            (Posterior::Features(_), None) => {}
        }
        Ok(reports)
    }
}

/// The dual problem of one output: the targets are y minus the old decision values, the costs are C times the weights.
fn dual_problem(params: &MedParams, problem: &Targets, scores: &[f64], bias: f64) -> Problem {
    let labeled: f64 = problem.used().iter().map(|&i| problem.cost[i]).sum();
    let c = params.cost(labeled.max(f64::MIN_POSITIVE));
    let y: Vec<f64> = problem.y.iter().map(|y| y.sign()).collect();
    let target = y.iter().zip(scores).map(|(y, s)| y - s - bias).collect();
    let cost = problem.cost.iter().map(|w| (c * w).min(1e15)).collect();
    Problem { y, target, cost }
}

/// Report of an output for which nothing was solved.
fn empty_report(exit: Exit) -> Report {
    Report { steps: 0, objective: 0.0, gap: 0.0, kernel_evaluations: 0, exit }
}
