//! `ratio = auto`: estimates the share of positives among the unlabeled rows.
//!
//! Emara 2012 (end of chapter III): greedy selection gives a nested chain of labelings, one for each number of
//! positives k; a support vector machine is fitted to each, and the k with the widest margin is taken. Both ends of the
//! chain are degenerate (one class), so only interior minima count, and |w|² alone has several: here the whole
//! objective ½|w|² + C Σξ² is used, which has a clearer one. The curve is smoothed over three grid steps. The
//! interior minimum with the largest prominence is taken: the rise of the curve on both sides before it falls
//! below the minimum, as a fraction of the lower of the two heights. If no minimum is prominent enough
//! (`MIN_PROMINENCE`), the share of the labels is used.
//!
//! Departures: a grid of k instead of every k, each fit started from the previous one ([`LinearParams::fit_from`]); at
//! most [`CHAIN_ROWS`] unlabeled rows, drawn with a fixed seed; always the linear kernel, whatever the kernel of the
//! estimator.

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

/// Maximum number of unlabeled rows in the chain.
pub const CHAIN_ROWS: usize = 2000;

/// Number of grid steps for shares, and of refinement steps between two of them.
const GRID: usize = 50;
const REFINEMENT: usize = 4;

/// Limits of the cost of an estimate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    /// Maximum number of unlabeled rows.
    pub(crate) rows: usize,
    /// Relative tolerance of each fit.
    pub(crate) tolerance: f64,
}

impl Effort {
    /// Effort for training on a single data set.
    pub(crate) const FULL: Self = Self { rows: CHAIN_ROWS, tolerance: 3e-3 };
}

/// Minimum prominence of a minimum. Well separated groups reach 0.6 and more; below 0.4 the minima of overlapping
/// classes (diabetes, svmguide1) are further from the truth than the share of eight labels.
const MIN_PROMINENCE: f64 = 0.5;

/// Weight of the cut when the chain is computed.
const RHO: f64 = 10.0;

/// Result of the estimate.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// Share of positives; `None` if no minimum is prominent enough.
    pub share: Option<f64>,
    /// Prominence of the best minimum: 0 if there is none, close to 1 for a deep one.
    pub confidence: f64,
    /// Objective for each share tried.
    pub curve: Vec<(f64, f64)>,
}

impl Estimate {
    fn none(curve: Vec<(f64, f64)>) -> Self {
        Self { share: None, confidence: 0.0, curve }
    }
}

/// Estimates the share of positives among the unlabeled rows of a problem. An interrupted estimate has no share.
pub fn estimate_ratio(x: MatrixView<'_>, targets: &Targets, watch: &dyn Watch) -> Result<Estimate> {
    estimate_ratio_within(x, targets, Effort::FULL, watch)
}

/// As [`estimate_ratio`], from at most `max_rows` unlabeled rows.
pub fn estimate_ratio_on(
    x: MatrixView<'_>,
    targets: &Targets,
    max_rows: usize,
    watch: &dyn Watch,
) -> Result<Estimate> {
    estimate_ratio_within(x, targets, Effort { rows: max_rows, ..Effort::FULL }, watch)
}

/// As [`estimate_ratio`], with limited effort.
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
    let mut fits = ChainFits::new(x, targets, &unlabeled, chain, effort.tolerance);
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
    if confidence >= MIN_PROMINENCE {
        let (from, to) = (curve[at - 1].0, curve[at + 1].0);
        let step = ((to - from) / (2 * REFINEMENT)).max(1);
        for k in (from + step..to).step_by(step).filter(|k| *k != best.0).collect::<Vec<_>>() {
            let Some(value) = fits.objective(k, watch)? else { return Ok(Estimate::none(shares(&curve, n))) };
            if value < best.1 {
                best = (k, value);
            }
        }
    }
    let share = (confidence >= MIN_PROMINENCE).then_some(best.0 as f64 / n as f64);
    Ok(Estimate { share, confidence, curve: shares(&curve, n) })
}

fn shares(curve: &[(usize, f64)], n: usize) -> Vec<(f64, f64)> {
    curve.iter().map(|(k, value)| (*k as f64 / n as f64, *value)).collect()
}

/// Unlabeled rows in the order in which greedy selection labels them positive.
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

/// Support vector machines along the chain, each started from the previous one.
struct ChainFits<'a> {
    x: MatrixView<'a>,
    targets: Targets,
    unlabeled: Vec<usize>,
    chain: Vec<usize>,
    tolerance: f64,
    last: Option<Model>,
}

impl<'a> ChainFits<'a> {
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

    /// min ½|w|² + Σξ² with the first k rows of the chain positive; `None` if interrupted.
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

/// Means of three neighbors; the end values are repeated beyond the ends.
fn smooth(curve: &[(usize, f64)]) -> Vec<f64> {
    let last = curve.len().saturating_sub(1);
    let mean = |i: usize| (curve[i.saturating_sub(1)].1 + curve[i].1 + curve[(i + 1).min(last)].1) / 3.0;
    (0..curve.len()).map(mean).collect()
}

/// Index and prominence of the most prominent interior minimum of a curve with nonnegative values.
fn prominent(curve: &[f64]) -> Option<(usize, f64)> {
    let value = |i: usize| curve[i];
    // maximum on the way to a lower value, or to the end
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
    fn limited_effort_finds_the_same_minimum() {
        // 30 of 100 rows in one of two separated groups, two labels
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
    fn finds_the_most_prominent_interior_minimum() {
        let (at, height) = prominent(&[0.0, 5.0, 4.0, 6.0, 2.0, 7.0, 1.0]).unwrap();
        assert_eq!(at, 4);
        assert!((height - 4.0 / 6.0).abs() < 1e-12);
        assert_eq!(prominent(&[0.0, 1.0, 2.0, 1.0, 0.0]), None);
        assert_eq!(prominent(&[]), None);
        assert_eq!(smooth(&[(1, 3.0), (2, 6.0), (3, 0.0)]), [4.0, 3.0, 2.0]);
        assert!(smooth(&[]).is_empty());
    }
}
