//! `ratio = auto`: how many of the unlabeled rows are positive.
//!
//! Emara 2012 (end of chapter III): greedy gives a nested chain of labelings, one for each number of positives k; fit a
//! support vector machine to each and take the k with the widest margin. Both ends of the chain are degenerate (one class),
//! so only a minimum inside counts, and |w|² alone has several: here the whole objective ½|w|² + C Σξ² is used, which has a
//! cleaner one. The curve is smoothed over three steps of the grid; of the minima inside the one with the largest
//! prominence is taken, how far the curve rises on both sides before it falls lower, as a share of the lower of the two
//! heights; if none stands out (`CLEAR`), the share of the labels stays.
//!
//! Departures: a grid of k instead of every k, each fit started from the last ([`LinearParams::fit_from`]); at most
//! [`CHAIN_ROWS`] unlabeled rows, drawn with a fixed seed; always the linear kernel, whatever the learner's.

use super::submod::cut::{Cut, Seeds};
use super::submod::search::sample;
use super::submod::space::{LinearSpace, Space};
use crate::data::{Label, MatrixView};
use crate::error::Result;
use crate::estimators::Targets;
use crate::estimators::supervised::linear::LinearParams;
use crate::model::Model;
use crate::solver::lazy_greedy::lazy;
use crate::solver::{Exit, Watch};

/// Most unlabeled rows of the chain.
pub const CHAIN_ROWS: usize = 2000;

/// Steps of the grid of shares, and of its refinement between two of them.
const GRID: usize = 50;
const FINER: usize = 4;

/// The limits of the cost of an estimate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    /// Maximum number of unlabeled rows.
    pub(crate) rows: usize,
    /// Relative tolerance of each fit.
    pub(crate) tolerance: f64,
}

impl Effort {
    /// The effort of the learners of one file.
    pub(crate) const FULL: Self = Self { rows: CHAIN_ROWS, tolerance: 3e-3 };
}

/// Prominence from which a minimum is believed. Groups that lie apart reach 0.6 and more; below 0.4 the minima of
/// overlapping classes (diabetes, svmguide1) are further from the truth than the share of eight labels.
const CLEAR: f64 = 0.5;

/// Weight of the cut when the chain is made.
const RHO: f64 = 10.0;

/// What the chain says.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// Share of positives; `None` if no minimum stands out.
    pub share: Option<f64>,
    /// Prominence of the best minimum: 0 if there is none, toward 1 if it is a deep valley.
    pub confidence: f64,
    /// The objective for each share tried.
    pub curve: Vec<(f64, f64)>,
}

impl Estimate {
    fn none(curve: Vec<(f64, f64)>) -> Self {
        Self { share: None, confidence: 0.0, curve }
    }
}

/// Estimates the share of positives among the unlabeled rows of a problem. Interrupted, there is none.
pub fn estimate_ratio(x: MatrixView<'_>, targets: &Targets, watch: &dyn Watch) -> Result<Estimate> {
    estimate_ratio_within(x, targets, Effort::FULL, watch)
}

/// The same from at most `max_rows` unlabeled rows.
pub fn estimate_ratio_on(
    x: MatrixView<'_>,
    targets: &Targets,
    max_rows: usize,
    watch: &dyn Watch,
) -> Result<Estimate> {
    estimate_ratio_within(x, targets, Effort { rows: max_rows, ..Effort::FULL }, watch)
}

/// The same with less effort.
pub(crate) fn estimate_ratio_within(
    x: MatrixView<'_>,
    targets: &Targets,
    effort: Effort,
    watch: &dyn Watch,
) -> Result<Estimate> {
    let labeled: Vec<u32> = targets.used().into_iter().map(|i| i as u32).collect();
    let open = |i: &usize| targets.y[*i] == Label::Unknown && targets.cost[*i] > 0.0;
    let all: Vec<u32> = (0..x.rows()).filter(open).map(|i| i as u32).collect();
    let unlabeled: Vec<u32> = sample(all.len(), effort.rows).into_iter().map(|m| all[m]).collect();
    let n = unlabeled.len();
    if n < 4 {
        return Ok(Estimate::none(Vec::new()));
    }
    let Some(chain) = chain(x, targets, &labeled, &unlabeled, watch) else {
        return Ok(Estimate::none(Vec::new()));
    };
    let mut fits = Fits::new(x, targets, &unlabeled, chain, effort.tolerance);
    let mut curve = Vec::with_capacity(GRID);
    for step in 1..GRID {
        let k = (step * n) / GRID;
        if k >= 1 && k < n && curve.last().is_none_or(|(last, _)| *last < k) {
            let Some(value) = fits.objective(k, watch)? else { return Ok(Estimate::none(shares(&curve, n))) };
            curve.push((k, value));
        }
    }
    let Some((at, confidence)) = prominent(&smooth(&curve)) else {
        return Ok(Estimate::none(shares(&curve, n)));
    };
    let mut best = curve[at];
    if confidence >= CLEAR {
        let (from, to) = (curve[at - 1].0, curve[at + 1].0);
        let step = ((to - from) / (2 * FINER)).max(1);
        for k in (from + step..to).step_by(step).filter(|k| *k != best.0).collect::<Vec<_>>() {
            let Some(value) = fits.objective(k, watch)? else { return Ok(Estimate::none(shares(&curve, n))) };
            if value < best.1 {
                best = (k, value);
            }
        }
    }
    let share = (confidence >= CLEAR).then_some(best.0 as f64 / n as f64);
    Ok(Estimate { share, confidence, curve: shares(&curve, n) })
}

fn shares(curve: &[(usize, f64)], n: usize) -> Vec<(f64, f64)> {
    curve.iter().map(|(k, value)| (*k as f64 / n as f64, *value)).collect()
}

/// The unlabeled rows in the order in which greedy calls them positive.
fn chain(
    x: MatrixView<'_>,
    targets: &Targets,
    labeled: &[u32],
    unlabeled: &[u32],
    watch: &dyn Watch,
) -> Option<Vec<usize>> {
    let pull = targets.y.iter().zip(&targets.cost).map(|(y, c)| y.sign() * c).collect();
    let seeds = Seeds {
        labeled: labeled.to_vec(),
        pull,
        unlabeled: unlabeled.to_vec(),
        weight: targets.cost.clone(),
    };
    let mut part = vec![0.0; x.rows()];
    labeled.iter().chain(unlabeled).for_each(|&i| part[i as usize] = targets.cost[i as usize]);
    let mut space = Space::Linear(LinearSpace::new(x, Some(&part)));
    let weight = |rows: &[u32]| rows.iter().map(|&i| part[i as usize]).sum::<f64>();
    let kappa = 2.0 * RHO * weight(labeled) / weight(unlabeled);
    let picks = lazy(&mut Cut::new(&mut space, &seeds, kappa), unlabeled.len(), watch);
    (picks.exit != Exit::Interrupted).then_some(picks.order)
}

/// Support vector machines along the chain, each from the one before.
struct Fits<'a> {
    x: MatrixView<'a>,
    targets: Targets,
    unlabeled: Vec<usize>,
    chain: Vec<usize>,
    tolerance: f64,
    last: Option<Model>,
}

impl<'a> Fits<'a> {
    fn new(
        x: MatrixView<'a>,
        targets: &Targets,
        unlabeled: &[u32],
        chain: Vec<usize>,
        tolerance: f64,
    ) -> Self {
        let mut targets = targets.clone();
        let unlabeled: Vec<usize> = unlabeled.iter().map(|&i| i as usize).collect();
        unlabeled.iter().for_each(|&i| targets.y[i] = Label::Neg);
        Self { x, targets, unlabeled, chain, tolerance, last: None }
    }

    /// min ½|w|² + Σξ² with the first k of the chain positive; `None` if interrupted.
    fn objective(&mut self, k: usize, watch: &dyn Watch) -> Result<Option<f64>> {
        for (place, &m) in self.chain.iter().enumerate() {
            self.targets.y[self.unlabeled[m]] = if place < k { Label::Pos } else { Label::Neg };
        }
        let params = LinearParams { tolerance: self.tolerance, ..Default::default() };
        let problem = std::slice::from_ref(&self.targets);
        let fitted = params.fit_from(self.x, problem, self.last.as_ref(), watch)?;
        self.last = Some(fitted.model);
        let report = fitted.reports[0];
        Ok((report.exit != Exit::Interrupted).then_some(report.objective))
    }
}

/// Means of three neighbors; beyond the ends the curve goes on flat.
fn smooth(curve: &[(usize, f64)]) -> Vec<f64> {
    let last = curve.len().saturating_sub(1);
    let mean = |i: usize| (curve[i.saturating_sub(1)].1 + curve[i].1 + curve[(i + 1).min(last)].1) / 3.0;
    (0..curve.len()).map(mean).collect()
}

/// The minimum inside the curve (of values from 0 up) with the largest prominence, and that.
fn prominent(curve: &[f64]) -> Option<(usize, f64)> {
    let value = |i: usize| curve[i];
    // the highest point on the way to something lower, or to the end
    let wall = |at: usize, way: &mut dyn Iterator<Item = usize>| {
        let mut high = value(at);
        for i in way {
            if value(i) < value(at) {
                break;
            }
            high = high.max(value(i));
        }
        high
    };
    let mut best: Option<(usize, f64)> = None;
    for at in 1..curve.len().saturating_sub(1) {
        if value(at) > value(at - 1) || value(at) > value(at + 1) {
            continue;
        }
        let lower = wall(at, &mut (0..at).rev()).min(wall(at, &mut (at + 1..curve.len())));
        let prominence = (lower - value(at)) / lower.max(f64::MIN_POSITIVE);
        if prominence > best.map_or(0.0, |b| b.1) {
            best = Some((at, prominence));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_effort_finds_the_same_valley() {
        // 30 of 100 rows in one of two groups that lie apart, two labels
        let value = |i: usize| if i % 10 < 3 { 1.0 } else { -1.0 } + 0.02 * (i % 7) as f64;
        let x = crate::data::Matrix::dense((0..100).map(value).collect(), 100, 1).unwrap();
        let mut y = vec![Label::Unknown; 100];
        (y[0], y[5]) = (Label::Pos, Label::Neg);
        let targets = Targets { y, cost: vec![1.0; 100] };
        let quick = Effort { rows: 60, tolerance: 0.1 };
        for effort in [Effort::FULL, quick] {
            let share = estimate_ratio_within(x.view(), &targets, effort, &()).unwrap().share.unwrap();
            assert!((share - 0.3).abs() < 0.06, "{effort:?}: {share}");
        }
    }

    #[test]
    fn the_deepest_valley_inside_is_found() {
        let (at, height) = prominent(&[0.0, 5.0, 4.0, 6.0, 2.0, 7.0, 1.0]).unwrap();
        assert_eq!(at, 4);
        assert!((height - 4.0 / 6.0).abs() < 1e-12);
        assert_eq!(prominent(&[0.0, 1.0, 2.0, 1.0, 0.0]), None);
        assert_eq!(prominent(&[]), None);
        assert_eq!(smooth(&[(1, 3.0), (2, 6.0), (3, 0.0)]), [4.0, 3.0, 2.0]);
        assert!(smooth(&[]).is_empty());
    }
}
