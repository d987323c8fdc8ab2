//! Scores of all rows in addition to a model, and a threshold that gives the required share of positives.

use crate::data::MatrixView;
use crate::error::Result;
use crate::estimators::Fitted;
use crate::estimators::transductive::{FewLabels, Transduced, largest, middle};
use crate::params::ParamValues;

/// Adds the scores of all rows; with `balance`, shifts the constants first.
pub(crate) fn with_scores(
    mut fitted: Fitted,
    mut scores: Vec<Vec<f64>>,
    few: &[FewLabels],
    balance: bool,
    mut facts: ParamValues,
) -> Fitted {
    if balance {
        for ((bias, scores), few) in fitted.model.bias_mut().iter_mut().zip(&mut scores).zip(few) {
            let threshold = threshold(scores, few);
            *bias -= threshold;
            scores.iter_mut().for_each(|s| *s -= threshold);
        }
        facts.extend(few.iter().flat_map(FewLabels::facts));
    }
    let target = |(f, s): (&FewLabels, &Vec<f64>)| if balance { f.ratio } else { share(s, f) };
    let ratio = few.iter().zip(&scores).map(target).collect();
    fitted.transduced = Some(Transduced { scores, ratio, facts, alone: None });
    fitted
}

/// As [`with_scores`], with the decisions of the model as scores.
pub(crate) fn told_by_model(
    fitted: Fitted,
    x: MatrixView<'_>,
    few: &[FewLabels],
    balance: bool,
    facts: ParamValues,
) -> Result<Fitted> {
    let scores = columns(&fitted.model.decision(x)?, few.len());
    Ok(with_scores(fitted, scores, few, balance, facts))
}

/// Midpoint between the lowest output of the unlabeled rows to be positive and the highest of the others.
fn threshold(scores: &[f64], few: &FewLabels) -> f64 {
    let open: Vec<f64> = few.unlabeled.iter().map(|&i| scores[i]).collect();
    if open.is_empty() {
        return 0.0;
    }
    middle(open.iter().copied(), &largest(&open, few.positives))
}

/// Share of the unlabeled rows that are predicted positive.
fn share(scores: &[f64], few: &FewLabels) -> f64 {
    let positive = few.unlabeled.iter().filter(|&&i| scores[i] > 0.0).count();
    if few.unlabeled.is_empty() { few.ratio } else { positive as f64 / few.unlabeled.len() as f64 }
}

/// The rows of `n` that are not among the ascending `rows`.
pub(crate) fn absent(n: usize, rows: &[usize]) -> Vec<usize> {
    (0..n).filter(|i| rows.binary_search(i).is_err()).collect()
}

/// One value per row: `inside` for `rows`, `outside` for the others in order.
pub(crate) fn merged(n: usize, rows: &[usize], inside: &[f64], outside: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; n];
    rows.iter().zip(inside).for_each(|(&i, v)| out[i] = *v);
    absent(n, rows).iter().zip(outside).for_each(|(&i, v)| out[i] = *v);
    out
}

/// Columns of a row-major matrix.
pub(crate) fn columns(values: &[f64], width: usize) -> Vec<Vec<f64>> {
    (0..width).map(|j| values.iter().skip(j).step_by(width).copied().collect()).collect()
}
