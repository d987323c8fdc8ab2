//! Cross-validation: folds, decisions of rows held out, and the same along a path of one parameter.
//!
//! A row held out is a row whose label the learner may not see ([`Label::Unknown`]), on the same matrix. So all
//! folds of all problems go to the learner in one call and share kernel rows. Scaling and `gamma = scale` come
//! from all rows before the folds are made; they use no label.

use crate::data::{Label, Labels, Matrix, MatrixView};
use crate::error::{Error, Result};
use crate::estimators::registry::{read, with_kernel};
use crate::estimators::supervised::linear::LinearParams;
use crate::estimators::supervised::svc::SvcParams;
use crate::estimators::supervised::svc_path::NEVER;
use crate::estimators::{Fit, Learner, Targets};
use crate::graph::Graph;
use crate::model::{Model, Part};
use crate::solver::{Exit, Progress, Report, Watch};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A question about held-out rows along a path of one parameter.
#[derive(Debug, Clone, Copy)]
pub struct PathTask<'a> {
    /// All other parameters.
    pub params: &'a Map<String, Value>,
    /// The parameter that varies, for example `c`.
    pub name: &'a str,
    /// Its values, ascending.
    pub values: &'a [f64],
    /// Samples, scaled.
    pub x: MatrixView<'a>,
    /// The two-class problems.
    pub problems: &'a [Targets],
    /// The fold that holds each row out; `None` rows are never held out.
    pub folds: &'a [Option<u32>],
    /// A graph of the rows, for learners along one.
    pub graph: Option<&'a Arc<Graph>>,
}

impl PathTask<'_> {
    /// The parameters at one value of the path.
    pub fn at(&self, value: f64) -> Map<String, Value> {
        let mut params = self.params.clone();
        params.insert(self.name.into(), number(self.name, value));
        params
    }
}

/// Parameters that count something.
const COUNTS: [&str; 10] =
    ["neighbors", "power", "basis", "candidates", "degree", "rounds", "switch", "grow", "view", "seed"];

/// Whether a parameter counts something.
pub fn is_count(name: &str) -> bool {
    COUNTS.contains(&name)
}

/// A number as the value of a parameter: whole where it counts something.
pub fn number(name: &str, value: f64) -> Value {
    if is_count(name) && value.fract() == 0.0 { (value as i64).into() } else { value.into() }
}

/// A learner's own way along a path: for each value, the decisions of the held-out rows (rows × problems, row
/// major, 0 for rows never held out). Shorter than the values when interrupted. None: these parameters need refitting.
pub type Path = fn(&PathTask<'_>, &dyn Watch) -> Result<Option<Vec<Vec<f64>>>>;

/// Deals the labeled rows into `k` folds, each class spread as evenly as can be, in an order set by the seed.
pub fn stratified_folds(labels: &Labels, k: usize, seed: u64) -> Result<Vec<Option<u32>>> {
    if k < 2 {
        return Err(Error::parameter("folds", k, "2 or more"));
    }
    let counts = labels.counts();
    if let Some(class) = counts.iter().position(|n| *n < 2) {
        return Err(Error::Data(format!(
            "cross-validation needs 2 or more labeled rows of each class; class {} has {}",
            labels.classes[class], counts[class]
        )));
    }
    if labels.labeled() < k {
        return Err(Error::parameter("folds", k, format!("at most {}, the labeled rows", labels.labeled())));
    }
    let mut rng = rand_pcg::Pcg64::seed_from_u64(seed);
    let mut folds = vec![None; labels.of.len()];
    let mut next = 0;
    for class in 0..labels.classes.len() as u32 {
        let mut rows: Vec<usize> = (0..folds.len()).filter(|&i| labels.of[i] == Some(class)).collect();
        rows.shuffle(&mut rng);
        for i in rows {
            folds[i] = Some((next % k) as u32);
            next += 1;
        }
    }
    Ok(folds)
}

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

/// The problems without the rows of each fold: those of the first fold, then those of the second …
pub(crate) fn without_folds(problems: &[Targets], folds: &[Option<u32>]) -> Vec<Targets> {
    let k = folds.iter().flatten().max().map_or(0, |f| f + 1);
    let without = |fold: u32, problem: &Targets| {
        let mut targets = problem.clone();
        for (y, f) in targets.y.iter_mut().zip(folds) {
            if *f == Some(fold) {
                *y = Label::Unknown;
            }
        }
        targets
    };
    (0..k).flat_map(|fold| problems.iter().map(move |p| without(fold, p))).collect()
}

/// The decisions of the held-out rows by a model with the outputs of [`without_folds`].
fn held_decisions(model: &Model, x: MatrixView<'_>, width: usize, folds: &[Option<u32>]) -> Result<Vec<f64>> {
    let k = folds.iter().flatten().max().map_or(0, |f| *f as usize + 1);
    let mut out = vec![0.0; x.rows() * width];
    for fold in 0..k {
        let rows: Vec<usize> = (0..x.rows()).filter(|&i| folds[i] == Some(fold as u32)).collect();
        let part = outputs(model, fold * width, width);
        let decision = part.decision(x.select(&rows).view())?;
        for (row, values) in rows.iter().zip(decision.chunks(width)) {
            out[row * width..(row + 1) * width].copy_from_slice(values);
        }
    }
    Ok(out)
}

/// Held-out decisions for each value of the path: the learner's own way, or a refit for each value.
/// Interrupted, the values that are finished.
pub fn along_path(learner: &Learner, task: &PathTask<'_>, watch: &dyn Watch) -> Result<Vec<Vec<f64>>> {
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

/// The way of `svc`: one Gram matrix for all folds, problems and costs, each C started from the one before.
pub(crate) fn svc_path(task: &PathTask<'_>, watch: &dyn Watch) -> Result<Option<Vec<Vec<f64>>>> {
    let params = read::<SvcParams>("svc", &with_kernel(task.params)?)?;
    let folds: Vec<usize> = task.folds.iter().map(|f| f.map_or(NEVER, |f| f as usize)).collect();
    params.cross_validate(task.x, task.problems, &folds, task.values, watch).map(Some)
}

/// The way of `linear`: each C starts from the weights of the one before.
pub(crate) fn linear_path(task: &PathTask<'_>, watch: &dyn Watch) -> Result<Option<Vec<Vec<f64>>>> {
    let base = read::<LinearParams>("linear", task.params)?;
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

/// The model of `count` outputs from `first` on, without the points they do not use.
fn outputs(model: &Model, first: usize, count: usize) -> Model {
    let span = first..first + count;
    match model {
        Model::Linear { weights, bias } => {
            Model::Linear { weights: weights[span.clone()].to_vec(), bias: bias[span].to_vec() }
        }
        Model::Expansion { kernel, points, coef, bias } => {
            let used: Vec<usize> =
                (0..points.rows()).filter(|&p| coef[span.clone()].iter().any(|c| c[p] != 0.0)).collect();
            let points: Matrix = points.view().select(&used);
            let coef = coef[span.clone()].iter().map(|c| used.iter().map(|&p| c[p]).collect()).collect();
            Model::Expansion { kernel: *kernel, points, coef, bias: bias[span].to_vec() }
        }
        Model::Views { parts, cols, bias } => {
            let part = |p: &Part| Part { columns: p.columns.clone(), model: outputs(&p.model, first, count) };
            let parts = parts.iter().map(part).collect();
            Model::Views { parts, cols: *cols, bias: bias[span].to_vec() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_spread_every_class_and_follow_the_seed() {
        let names: Vec<String> = (0..103).map(|i| if i % 5 == 0 { "a" } else { "b" }.to_string()).collect();
        let labels = Labels::from_tokens(names.iter().map(|n| Some(n.as_str())).chain([None]));
        let folds = stratified_folds(&labels, 5, 1).unwrap();
        assert_eq!(folds, stratified_folds(&labels, 5, 1).unwrap());
        assert_ne!(folds, stratified_folds(&labels, 5, 2).unwrap());
        assert_eq!(folds[103], None);
        for class in 0..2 {
            let mut counts = [0usize; 5];
            for (f, c) in folds.iter().zip(&labels.of) {
                if let (Some(f), Some(c)) = (f, c)
                    && *c == class
                {
                    counts[*f as usize] += 1;
                }
            }
            let (low, high) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
            assert!(high - low <= 1, "{counts:?}");
        }
    }

    #[test]
    fn too_few_rows_are_refused() {
        let labels = Labels::from_tokens(["a", "a", "b"].into_iter().map(Some));
        let error = stratified_folds(&labels, 2, 1).unwrap_err().to_string();
        assert!(error.ends_with("class b has 1"), "{error}");
        let labels = Labels::from_tokens(["a", "a", "b", "b"].into_iter().map(Some));
        assert!(stratified_folds(&labels, 5, 1).is_err());
        assert!(stratified_folds(&labels, 1, 1).is_err());
    }
}
