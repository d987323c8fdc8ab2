//! Cross-validation: decision values of held-out rows for one estimator, and along a path of one parameter.
//!
//! A held-out row is a row whose label is hidden from the learner ([`Label::Unknown`](crate::data::Label::Unknown)), on
//! the same matrix. All folds of all problems therefore go to the learner in one call and share kernel rows. Scaling and
//! `gamma = scale` are computed from all rows before the folds are made; they use no label.

pub use crate::estimators::folds::{Path, PathTask, stratified_folds};

use crate::data::MatrixView;
use crate::error::Result;
use crate::estimators::folds::{held_decisions, without_folds};
use crate::estimators::registry::EstimatorSpec;
use crate::estimators::{Fit, Targets};
use crate::solver::{Progress, Report, Watch};
use std::sync::atomic::{AtomicBool, Ordering};

/// The decision values of each row (rows × problems, row-major) by models trained without its label, and one report per
/// fold and problem. Rows that are never held out have decision values 0.
pub fn held_out(
    fit: &dyn Fit,
    x: MatrixView<'_>,
    problems: &[Targets],
    folds: &[Option<u32>],
    watch: &dyn Watch,
) -> Result<(Vec<f64>, Vec<Report>)> {
    if fit.supervised().is_some() {
        return held_out_by_fold(fit, x, problems, folds, watch);
    }
    let fitted = fit.fit(x, &without_folds(problems, folds), watch)?;
    Ok((held_decisions(&fitted.model, x, problems.len(), folds)?, fitted.reports))
}

/// The same, one fold at a time: a semi-supervised learner treats the problems of one call as one labeling, in which
/// held-out rows are unlabeled, or as functions on one basis.
pub(crate) fn held_out_by_fold(
    fit: &dyn Fit,
    x: MatrixView<'_>,
    problems: &[Targets],
    folds: &[Option<u32>],
    watch: &dyn Watch,
) -> Result<(Vec<f64>, Vec<Report>)> {
    let (width, mut reports) = (problems.len(), Vec::new());
    let mut out = vec![0.0; x.rows() * width];
    for (fold, group) in without_folds(problems, folds).chunks(width).enumerate() {
        let fitted = fit.fit(x, group, watch)?;
        let rows: Vec<usize> = (0..x.rows()).filter(|&i| folds[i] == Some(fold as u32)).collect();
        let decision = fitted.model.decision(x.select(&rows).view())?;
        for (row, values) in rows.iter().zip(decision.chunks(width)) {
            out[row * width..(row + 1) * width].copy_from_slice(values);
        }
        reports.extend(fitted.reports);
    }
    Ok((out, reports))
}

/// Held-out decision values for each value of the path, by the path solver of the learner or by a refit for each value.
/// After an interruption, only the finished values.
pub fn along_path(learner: &EstimatorSpec, task: &PathTask<'_>, watch: &dyn Watch) -> Result<Vec<Vec<f64>>> {
    learner.make_along(task.params, task.graph)?; // path solvers do not check the graph
    if let Some((_, path)) = learner.path.filter(|(names, _)| names.contains(&task.name))
        && let Some(found) = path(task, watch)?
    {
        return Ok(found);
    }
    let watch = RecordingWatch { watch, stopped: AtomicBool::new(false) };
    let mut out = Vec::with_capacity(task.values.len());
    for &value in task.values {
        let fit = learner.make_along(&task.at(value), task.graph)?;
        let held = held_out(fit.as_ref(), task.x, task.problems, task.folds, &watch);
        if watch.stopped.load(Ordering::Relaxed) {
            break; // also where an interruption is an error, as for learners without a partial result
        }
        out.push(held?.0);
    }
    Ok(out)
}

/// A watch that forwards to another one and records whether it ended the work.
struct RecordingWatch<'a> {
    watch: &'a dyn Watch,
    stopped: AtomicBool,
}

impl Watch for RecordingWatch<'_> {
    fn proceed(&self, progress: &Progress) -> bool {
        let go = self.watch.proceed(progress);
        if !go {
            self.stopped.store(true, Ordering::Relaxed);
        }
        go
    }

    fn learned(&self) {
        self.watch.learned();
    }
}
