//! Folds for cross-validation: assignment of labeled rows, problems without the rows of one fold, and decisions for the
//! held-out rows.
//!
//! An estimator with a fast path along a parameter ([`Path`]) computes the held-out decisions for all values at once.

use super::Targets;
use crate::data::{Label, Labels, Matrix, MatrixView};
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::model::{Model, Part};
use crate::params::ParamValues;
use crate::solver::Watch;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use std::sync::Arc;

/// Cross-validation along a path of one parameter.
#[derive(Debug, Clone, Copy)]
pub struct PathTask<'a> {
    /// All other parameters.
    pub params: &'a ParamValues,
    /// The parameter that varies, for example `c`.
    pub name: &'a str,
    /// Its values, ascending.
    pub values: &'a [f64],
    /// Samples, scaled.
    pub x: MatrixView<'a>,
    /// The two-class problems.
    pub problems: &'a [Targets],
    /// The fold in which each row is held out; `None` for rows that are never held out.
    pub folds: &'a [Option<u32>],
    /// A graph of the rows, for learners that use one.
    pub graph: Option<&'a Arc<Graph>>,
}

impl PathTask<'_> {
    /// All parameters at one value of the path.
    pub fn at(&self, value: f64) -> ParamValues {
        let mut params = self.params.clone();
        params.insert(self.name.into(), value.into());
        params
    }
}

/// A learner's own evaluation of a path: for each value the decisions of the held-out rows (rows × problems, row-major,
/// 0 for rows that are never held out). The result is shorter than the list of values after an interruption. `None` means
/// that these parameters have no fast path and each value needs its own fit.
pub type Path = fn(&PathTask<'_>, &dyn Watch) -> Result<Option<Vec<Vec<f64>>>>;

/// Assigns the labeled rows to `k` folds. Each class is spread as evenly as possible, in a random order set by the seed.
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

/// The problems without the rows of one fold, for each fold in turn: all problems without the first fold, then all
/// without the second, and so on.
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

/// Decisions of the held-out rows, by a model with one output for each problem of [`without_folds`].
pub(crate) fn held_decisions(
    model: &Model,
    x: MatrixView<'_>,
    width: usize,
    folds: &[Option<u32>],
) -> Result<Vec<f64>> {
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

/// The model of `count` outputs starting at `first`, without the points that these outputs do not use.
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
    fn folds_are_stratified_and_follow_the_seed() {
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
    fn refuses_too_few_rows_or_folds() {
        let labels = Labels::from_tokens(["a", "a", "b"].into_iter().map(Some));
        let error = stratified_folds(&labels, 2, 1).unwrap_err().to_string();
        assert!(error.ends_with("class b has 1"), "{error}");
        let labels = Labels::from_tokens(["a", "a", "b", "b"].into_iter().map(Some));
        assert!(stratified_folds(&labels, 5, 1).is_err());
        assert!(stratified_folds(&labels, 1, 1).is_err());
    }
}
