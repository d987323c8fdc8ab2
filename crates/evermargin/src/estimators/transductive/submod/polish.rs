//! Local optimization of D over sets of k rows: iterated top-k, then exchanges of two rows.
//!
//! D is convex in the relaxed labels p, so the k rows with the largest slope s have at least the same D, and a larger
//! one unless the slopes tie (Frank–Wolfe with unit step; Emara 2012 leaves the solver of QP-S3VM open). A fixed point
//! has min s over A ≥ max s outside. There the exchange of i ∈ A for j ∉ A still changes D by sⱼ − sᵢ + (κ/2)(K'ᵢᵢ +
//! K'ⱼⱼ − 2K'ᵢⱼ), which may be positive.

use super::cut::Cut;
use crate::estimators::transductive::largest;
use crate::solver::{Progress, Watch};

/// Labels of the unlabeled rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Labeling {
    /// Whether each row is positive.
    pub positive: Vec<bool>,
    /// D/(C·C*).
    pub objective: f64,
    /// Number of sweeps of top-k, and of exchanges.
    pub sweeps: u64,
    /// Whether the caller asked to stop.
    pub interrupted: bool,
}

/// Iterated top-k from `start` until at most `max_changed` rows change, with at most `max` sweeps; D never decreases.
/// The result is left selected in the cut.
pub fn polish(
    cut: &mut Cut<'_, '_>,
    start: Vec<bool>,
    max: u64,
    max_changed: usize,
    watch: &dyn Watch,
) -> Labeling {
    let k = start.iter().filter(|p| **p).count();
    let mut scores = vec![0.0; start.len()];
    cut.select(&start);
    cut.scores(&mut scores);
    let value = cut.value(&scores);
    let mut best = Labeling { positive: start, objective: value, sweeps: 0, interrupted: cut.stopped() };
    while best.sweeps < max {
        let next = largest(&scores, k);
        if next.iter().zip(&best.positive).filter(|(a, b)| a != b).count() <= max_changed {
            return best;
        }
        if !watch.proceed(&Progress { steps: best.sweeps, violation: 1.0, tolerance: 0.0 }) {
            best.interrupted = true;
            return best;
        }
        cut.select(&next);
        if cut.stopped() {
            best.interrupted = true;
            return best;
        }
        cut.scores(&mut scores);
        let value = cut.value(&scores);
        best.sweeps += 1;
        if value <= best.objective {
            // equal slopes, or equal up to rounding: no further improvement
            cut.select(&best.positive);
            return best;
        }
        (best.positive, best.objective) = (next, value);
    }
    best
}

/// Exchanges the best pair of rows while this increases D, at most `max` times; D is then optimal among its neighbors.
pub fn exchange(cut: &mut Cut<'_, '_>, from: Labeling, max: u64, watch: &dyn Watch) -> Labeling {
    let mut best = from;
    let mut scores = vec![0.0; best.positive.len()];
    cut.select(&best.positive);
    for _ in 0..max {
        if !watch.proceed(&Progress { steps: best.sweeps, violation: 1.0, tolerance: 0.0 }) {
            best.interrupted = true;
            break;
        }
        cut.scores(&mut scores);
        let Some((out, into)) = best_pair(cut, &scores, &best.positive) else { break };
        let mut next = best.positive.clone();
        (next[out], next[into]) = (false, true);
        cut.select(&next);
        cut.scores(&mut scores);
        let value = cut.value(&scores);
        if value <= best.objective {
            cut.select(&best.positive);
            break;
        }
        (best.positive, best.objective, best.sweeps) = (next, value, best.sweeps + 1);
    }
    best
}

/// The pair whose exchange increases D most, if any does. The bound K'ᵢᵢ + K'ⱼⱼ − 2K'ᵢⱼ ≤ 4 max K' ends the search
/// early.
fn best_pair(cut: &mut Cut<'_, '_>, scores: &[f64], positive: &[bool]) -> Option<(usize, usize)> {
    let side = |mark: bool| (0..scores.len()).filter(move |&m| positive[m] == mark);
    let (mut inside, mut outside): (Vec<usize>, Vec<usize>) = (side(true).collect(), side(false).collect());
    inside.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    outside.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let half = 0.5 * cut.kappa();
    let widest = 4.0 * half * cut.largest_entry();
    let size = scores.iter().fold(0.0f64, |s, v| s.max(v.abs())) + widest;
    let (mut best, mut gain) = (None, 16.0 * f64::EPSILON * size);
    let (diagonal, top) = (cut.diagonal().to_vec(), scores[*outside.first()?]);
    for &i in &inside {
        if top - scores[i] + widest <= gain {
            break;
        }
        let line = cut.line(i);
        for &j in &outside {
            let linear = scores[j] - scores[i];
            if linear + widest <= gain {
                break;
            }
            let distance = diagonal[i] + diagonal[j] - 2.0 * line[j];
            if linear + half * distance > gain {
                (best, gain) = (Some((i, j)), linear + half * distance);
            }
        }
    }
    best
}
