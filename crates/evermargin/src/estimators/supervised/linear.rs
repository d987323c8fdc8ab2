//! `linear`: the linear support vector machine with squared hinge loss, for data with many columns or rows.
//!
//! min F(w, b) = ½(|w|² + b²) + C Σᵢ cᵢ·max(0, 1 − yᵢ(w·xᵢ + b))²
//!
//! This is LIBLINEAR's `-s 1`/`-s 2` with the same C and `-B 1` (a constant feature 1 that is regularized like the
//! others). Sindhwani's form (γ/2)|w|² + ½ Σ cᵢh² (equation 6.1) has the same minimum at γ = 1/(2C).
//! Dual coordinate descent ([`crate::solver::coordinate_descent`]) runs as long as it makes quick progress; modified finite
//! Newton ([`crate::solver::newton_cg`]) continues from there to the tolerance.

use crate::data::MatrixView;
use crate::error::{Error, Result};
use crate::estimators::folds::{PathTask, held_decisions, without_folds};
use crate::estimators::registry::{EstimatorSpec, Parameters, read};
use crate::estimators::supervised::risk::{Risk, SquaredHinge};
use crate::estimators::{Fit, Fitted, Targets};
use crate::math::products::Design;
use crate::model::Model;
use crate::params::shared::{C, FIT_INTERCEPT, MAX_STEPS, RELATIVE_TOLERANCE};
use crate::solver::coordinate_descent::{CoordinateDescent, Reached};
use crate::solver::newton_cg::{Objective, newton};
use crate::solver::{Exit, Progress, Report, Stop, Watch};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The specification of `linear`.
pub static SPEC: EstimatorSpec = EstimatorSpec::supervised(
    "linear",
    "linear support vector machine for many rows or columns (squared hinge loss)",
    &[
        C.help_of("cost of a squared margin violation, times the weight of the example"),
        FIT_INTERCEPT,
        RELATIVE_TOLERANCE,
        MAX_STEPS.help_of("maximum number of coordinate descent passes and Newton rounds; none = no limit"),
    ],
)
.with_path(&["c"], linear_path);

impl Parameters for LinearParams {}

/// Parameters of [`linear`](self).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LinearParams {
    /// Cost of a squared margin violation, times the weight of the example; LIBLINEAR's C.
    pub c: f64,
    /// Whether to learn an intercept, as the weight of a constant feature 1.
    pub fit_intercept: bool,
    /// The relative error of F is at most the square of this, as shown by the duality gap or by |∇F|²/2F.
    pub tolerance: f64,
    /// Maximum number of coordinate descent passes and Newton rounds together; `None` means no limit.
    #[serde(with = "crate::params::step_limit")]
    pub max_steps: Option<u64>,
}

impl Default for LinearParams {
    fn default() -> Self {
        Self { c: 1.0, fit_intercept: true, tolerance: 1e-3, max_steps: None }
    }
}

/// Maximum number of rows and of columns of a problem that is solved beyond the tolerance, to [`TIGHT`]. The result then
/// does not depend on the order of the rows, and a row of weight k equals k copies of it.
const FEW_ROWS: usize = 200;

/// Tolerance of the additional rounds for small problems.
const TIGHT: f64 = 1e-12;
/// Maximum number of these additional rounds.
const MAX_FURTHER: u64 = 100;

/// Number of rows per column from which Newton is used alone: it then needs fewer products than coordinate descent needs
/// passes, and it uses all threads.
const TALL: usize = 10;

impl Fit for LinearParams {
    fn fit(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        self.fit_from(x, problems, None, watch)
    }
}

impl LinearParams {
    /// Fits with a warm start from the weights of `start`, a linear model with the same numbers of columns and outputs.
    /// After a change of C or of a few labels the old solution is near the new one.
    pub fn fit_from(
        &self,
        x: MatrixView<'_>,
        problems: &[Targets],
        start: Option<&Model>,
        watch: &dyn Watch,
    ) -> Result<Fitted> {
        self.check()?;
        problems.iter().try_for_each(|p| p.check(x.rows()))?;
        let initial = self.initial_weights(x.cols(), problems.len(), start)?;
        let solved: Vec<(Vec<f64>, Report)> = problems
            .par_iter()
            .zip(initial)
            .map(|(targets, mut w)| {
                let report = self.solve(x, targets, &mut w, watch);
                (w, report)
            })
            .collect();
        let (mut weights, mut bias, mut reports) = (Vec::new(), Vec::new(), Vec::new());
        for (mut w, report) in solved {
            bias.push(if self.fit_intercept { w.pop().unwrap_or(0.0) } else { 0.0 });
            weights.push(w);
            reports.push(report);
        }
        Ok(Fitted::new(Model::Linear { weights, bias }, reports))
    }

    fn check(&self) -> Result<()> {
        if !(self.c > 0.0 && self.c <= 1e15) {
            return Err(Error::parameter("c", self.c, "a number above 0, at most 1e15"));
        }
        if !(self.tolerance > 0.0 && self.tolerance < 1.0) {
            return Err(Error::parameter("tolerance", self.tolerance, "a number between 0 and 1"));
        }
        Ok(())
    }

    /// Initial weights of each problem: those of `start`, or 0.
    fn initial_weights(&self, cols: usize, problems: usize, start: Option<&Model>) -> Result<Vec<Vec<f64>>> {
        let Some(model) = start else {
            return Ok(vec![vec![0.0; cols + usize::from(self.fit_intercept)]; problems]);
        };
        let Model::Linear { weights, bias } = model else {
            return Err(Error::Model("a linear fit starts from a linear model".into()));
        };
        model.check()?;
        if model.cols() != cols {
            return Err(Error::Shape {
                what: "columns of the model to start from",
                expected: cols,
                found: model.cols(),
            });
        }
        if bias.len() != problems {
            return Err(Error::Shape {
                what: "outputs of the model to start from",
                expected: problems,
                found: bias.len(),
            });
        }
        let join =
            |(w, b): (&Vec<f64>, &f64)| w.iter().chain(self.fit_intercept.then_some(b)).copied().collect();
        Ok(weights.iter().zip(bias).map(join).collect())
    }

    fn solve(&self, x: MatrixView<'_>, targets: &Targets, w: &mut [f64], watch: &dyn Watch) -> Report {
        let rows: Vec<u32> = targets.used().into_iter().map(|i| i as u32).collect();
        let loss = SquaredHinge {
            target: rows.iter().map(|&i| targets.y[i as usize].sign()).collect(),
            cost: rows.iter().map(|&i| self.c * targets.cost[i as usize]).collect(),
        };
        let design = Design::new(x, rows, self.fit_intercept);
        let report = self.descend(&design, &loss, w, watch);
        let left = self.max_steps.map_or(MAX_FURTHER, |max| max.saturating_sub(report.steps));
        if report.exit != Exit::Converged || left == 0 || design.rows().max(design.dim()) > FEW_ROWS {
            return report;
        }
        let tight = Stop { tolerance: TIGHT, max_steps: Some(left.min(MAX_FURTHER)) };
        let further = newton(&mut Risk::new(&design, &loss), w, tight, watch);
        Report { steps: report.steps + further.steps, exit: Exit::Converged, ..further }
    }

    /// Coordinate descent if there are few rows per column, then Newton.
    fn descend(&self, design: &Design<'_>, loss: &SquaredHinge, w: &mut [f64], watch: &dyn Watch) -> Report {
        let mut passes = 0;
        if design.rows() < TALL * design.dim() {
            let (count, solved) = self.coordinate_descent(design, loss, w, watch);
            if let Some(report) = solved {
                return report;
            }
            passes = count;
        }
        // the rest of `max_steps` is above 0: otherwise coordinate descent would have returned a report
        let stop = Stop {
            tolerance: self.tolerance,
            max_steps: self.max_steps.map(|max| max.saturating_sub(passes)),
        };
        let report = newton(&mut Risk::new(design, loss), w, stop, watch);
        Report { steps: report.steps + passes, ..report }
    }

    /// Runs dual coordinate descent and returns the number of passes, and a report if the duality gap is small enough or
    /// the steps are used up. Slow progress ends it without a report. If it did not converge, `w` is the better of its
    /// result and the start.
    fn coordinate_descent(
        &self,
        design: &Design<'_>,
        loss: &SquaredHinge,
        w: &mut [f64],
        watch: &dyn Watch,
    ) -> (u64, Option<Report>) {
        let mut risk = Risk::new(design, loss);
        let warm = w.iter().any(|v| *v != 0.0);
        let start = w.to_vec();
        let start_value = if warm { risk.value(w) } else { loss.cost.iter().sum() };
        let mut coordinate_descent =
            CoordinateDescent::new(design, &loss.target, &loss.cost, risk.outputs(), w);
        let mut tolerance = 0.1;
        loop {
            let proceed = |steps, violation| watch.proceed(&Progress { steps, violation, tolerance });
            let reached = coordinate_descent.run(w, tolerance, self.max_steps, proceed);
            let steps = coordinate_descent.passes();
            let used_up = self.max_steps.is_some_and(|max| steps >= max);
            let value = risk.value(w);
            let gap = coordinate_descent.relative_gap(w, value);
            let report = |objective, gap, exit| Report { steps, objective, gap, kernel_evaluations: 0, exit };
            if gap <= self.tolerance {
                return (steps, Some(report(value, gap, Exit::Converged)));
            }
            if reached != Reached::Optimum || used_up {
                let objective = value.min(start_value);
                let gap = coordinate_descent.relative_gap(w, objective);
                if start_value < value {
                    w.copy_from_slice(&start);
                }
                return (steps, used_up.then(|| report(objective, gap, Exit::Limit)));
            }
            tolerance *= (0.5 * self.tolerance / gap).clamp(0.01, 0.5);
        }
    }
}

/// Path of `linear` along C; each C starts from the weights of the previous one.
fn linear_path(task: &PathTask<'_>, watch: &dyn Watch) -> Result<Option<Vec<Vec<f64>>>> {
    let base = read::<LinearParams>(&SPEC, task.params)?;
    let problems = without_folds(task.problems, task.folds);
    let mut out = Vec::with_capacity(task.values.len());
    let mut model = None;
    for &c in task.values {
        let params = LinearParams { c, ..base.clone() };
        let fitted = params.fit_from(task.x, &problems, model.as_ref(), watch)?;
        if fitted.reports.iter().any(|r| r.exit == Exit::Interrupted) {
            break;
        }
        out.push(held_decisions(&fitted.model, task.x, task.problems.len(), task.folds)?);
        model = Some(fitted.model);
    }
    Ok(Some(out))
}
