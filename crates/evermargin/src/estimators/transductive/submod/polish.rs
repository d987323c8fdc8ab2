//! From a set to a local optimum of D with k rows: iterated top-k, then exchanges of two.
//!
//! D is convex in the relaxed labels p, so the k rows with the largest slope s give at least the same D, and more unless the
//! slopes tie (Frank–Wolfe with unit step; Emara 2012 leaves the solver of QP-S3VM open). A fixed point has min s over A ≥
//! max s outside. There the exchange of i ∈ A for j ∉ A still gains sⱼ − sᵢ + (κ/2)(K'ᵢᵢ + K'ⱼⱼ − 2K'ᵢⱼ), which may be
//! positive.

use super::cut::Cut;
use crate::estimators::transductive::largest;
use crate::solver::{Progress, Watch};

/// Labels of the unlabeled rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Labeling {
    /// Whether each is positive.
    pub positive: Vec<bool>,
    /// D/(C·C*).
    pub objective: f64,
    /// Sweeps of top-k, and exchanges.
    pub sweeps: u64,
    /// Whether the caller said stop.
    pub interrupted: bool,
}

/// Iterated top-k from `start` until no more than `rest` rows change, at most `max` sweeps; D never falls. The cut is left
/// at the answer.
pub fn polish(cut: &mut Cut<'_, '_>, start: Vec<bool>, max: u64, rest: usize, watch: &dyn Watch) -> Labeling {
    let k = start.iter().filter(|p| **p).count();
    let mut scores = vec![0.0; start.len()];
    cut.select(&start);
    cut.scores(&mut scores);
    let value = cut.value(&scores);
    let mut best = Labeling { positive: start, objective: value, sweeps: 0, interrupted: cut.stopped() };
    while best.sweeps < max {
        let next = largest(&scores, k);
        if next.iter().zip(&best.positive).filter(|(a, b)| a != b).count() <= rest {
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
            // equal slopes, or equal up to rounding: nothing more to gain
            cut.select(&best.positive);
            return best;
        }
        (best.positive, best.objective) = (next, value);
    }
    best
}

/// Best exchanges of two rows while one gains, at most `max`; then D is optimal among its neighbors.
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

/// The pair whose exchange gains most, if any gains. K'ᵢᵢ + K'ⱼⱼ − 2K'ᵢⱼ ≤ 4 max K' ends the search early.
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
            let apart = diagonal[i] + diagonal[j] - 2.0 * line[j];
            if linear + half * apart > gain {
                (best, gain) = (Some((i, j)), linear + half * apart);
            }
        }
    }
    best
}
