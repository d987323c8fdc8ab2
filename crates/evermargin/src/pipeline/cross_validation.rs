//! Cross-validation: decisions of held-out rows for one estimator, and along a path of one parameter.
//!
//! A row held out is a row whose label the learner may not see ([`Label::Unknown`](crate::data::Label::Unknown)), on the same matrix. So all
//! folds of all problems go to the learner in one call and share kernel rows. Scaling and `gamma = scale` come
//! from all rows before the folds are made; they use no label.

pub use crate::estimators::folds::{Path, PathTask, stratified_folds};

use crate::data::MatrixView;
use crate::error::Result;
use crate::estimators::folds::{held_decisions, without_folds};
use crate::estimators::registry::EstimatorSpec;
use crate::estimators::{Fit, Targets};
use crate::solver::{Progress, Report, Watch};
use std::sync::atomic::{AtomicBool, Ordering};

/// The decisions of each row (rows × problems, row major) by models that did not see its label, and a report a
/// fold and problem. Rows never held out have decisions 0.
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

/// The same, fold after fold: a semi-supervised learner takes the problems given together for one labeling, in which
/// held-out rows are unlabeled ones, or for functions on one basis.
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

/// Held-out decisions for each value of the path: the learner's own way, or a refit for each value.
/// Interrupted, the values that are finished.
pub fn along_path(learner: &EstimatorSpec, task: &PathTask<'_>, watch: &dyn Watch) -> Result<Vec<Vec<f64>>> {
    learner.make_along(task.params, task.graph)?; // a learner's own way does not refuse a graph
    if let Some((_, path)) = learner.path.filter(|(names, _)| names.contains(&task.name))
        && let Some(found) = path(task, watch)?
    {
        return Ok(found);
    }
    let watch = Noticing { watch, stopped: AtomicBool::new(false) };
    let mut out = Vec::with_capacity(task.values.len());
    for &value in task.values {
        let fit = learner.make_along(&task.at(value), task.graph)?;
        let held = held_out(fit.as_ref(), task.x, task.problems, task.folds, &watch);
        if watch.stopped.load(Ordering::Relaxed) {
            break; // also where stopping is an error, as for learners without a partial answer
        }
        out.push(held?.0);
    }
    Ok(out)
}

/// Passes on what a watch says, and remembers a no.
struct Noticing<'a> {
    watch: &'a dyn Watch,
    stopped: AtomicBool,
}

impl Watch for Noticing<'_> {
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
