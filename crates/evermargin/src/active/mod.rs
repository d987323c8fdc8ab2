//! Active learning: query strategies and stopping rules.
//!
//! Source: Ertekin 2009, sections 3.3, 4.2 and 5.4. A sample near the decision boundary (small |f|) changes the model
//! most whatever its label is, so wrong labels elsewhere do no harm. It need not be the nearest of all: the best of a
//! small random pool is among the best few percent with a probability that does not depend on the number of samples.

mod bandit;
mod diverse;
mod learned_weights;
mod margin;
mod pool;
mod stop;
mod submod;

pub use bandit::{Arm, Bandit};
pub use diverse::{diverse_batch, diverse_batch_within};
pub use learned_weights::{MAX_JUDGED_LABELS, WeightFactors, learn_weights};
pub use margin::{closeness_of, margin_toward};
pub use pool::{POOL, draw_pool, pool_size, take_nearest};
pub use stop::{StopRule, Stopped, Stopping, plateau_choices};
pub use submod::{KnownLabels, Seek, SubmodParams, relaxed_batch, submod_batch, submod_batch_within};

use serde::{Deserialize, Serialize};

/// Strategy for choosing the next sample among the unlabeled ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// Any sample.
    Random,
    /// The sample with the worst prediction. It uses the labels of samples that it does not choose, and prefers
    /// mislabeled samples; for comparison only.
    Gradient,
    /// The sample nearest to the boundary.
    #[serde(alias = "margin")]
    Active,
    /// The sample nearest to the boundary in a pool that is drawn until five samples lie within the margin.
    AutoActive,
}

/// Maximum number of samples that [`Strategy::AutoActive`] draws.
pub const AUTO_POOL: usize = 100;

/// Number of samples within the margin at which [`Strategy::AutoActive`] stops drawing.
pub const AUTO_CLOSE: usize = 5;

/// Distance of a sample from the boundary: |f| for a single output; with one output per class, half the difference
/// between the largest and the second largest output, which is the same for two outputs f and −f.
pub fn closeness(f: &[f64]) -> f64 {
    if let [only] = f {
        return only.abs();
    }
    let mut sorted = f.to_vec();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    sorted.first().zip(sorted.get(1)).map_or(f64::INFINITY, |(a, b)| 0.5 * (a - b))
}

/// The candidate with the smallest key among those drawn, and the number drawn: all `size`, or with
/// [`Strategy::AutoActive`] until five have a closeness below `margin`. `score` returns key and closeness of a candidate.
pub fn best_of(
    strategy: Strategy,
    size: usize,
    margin: f64,
    mut score: impl FnMut(usize) -> (f64, f64),
) -> Best {
    let mut best = Best { candidate: 0, closeness: f64::INFINITY, drawn: 0 };
    let (mut least, mut close) = (f64::INFINITY, 0);
    for c in 0..size {
        let (key, closeness) = score(c);
        best.drawn += 1;
        if key < least {
            least = key;
            (best.candidate, best.closeness) = (c, closeness);
        }
        close += usize::from(closeness < margin);
        if strategy == Strategy::AutoActive && close == AUTO_CLOSE {
            break;
        }
    }
    best
}

/// Result of [`best_of`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Best {
    /// Index of the candidate.
    pub candidate: usize,
    /// Its closeness.
    pub closeness: f64,
    /// Number of candidates that were scored.
    pub drawn: usize,
}

/// Decides queries on a stream: it queries samples within the margin while the budget lasts. The label of a sample that
/// it does not query is never needed (Ertekin 2009, 6.4, with s = −1).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// Largest closeness that leads to a query.
    pub width: f64,
    /// Maximum number of queries.
    pub budget: u64,
    spent: u64,
}

impl Gate {
    /// A gate with the width of the margin, |f| ≤ 1.
    pub fn new(budget: u64) -> Self {
        Self { width: 1.0, budget, spent: 0 }
    }

    /// Whether to query the sample with these decision values; if so, the budget is reduced.
    pub fn ask(&mut self, f: &[f64]) -> bool {
        let ask = self.spent < self.budget && closeness(f) <= self.width;
        self.spent += u64::from(ask);
        ask
    }

    /// Number of queries so far.
    pub fn spent(&self) -> u64 {
        self.spent
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn auto_active_stops_drawing_at_the_fifth_sample_within_the_margin() {
        let mut rng = rand_pcg::Pcg64::seed_from_u64(11);
        for _ in 0..200 {
            let width = rng.random_range(0.5..30.0);
            let f: Vec<f64> = (0..AUTO_POOL).map(|_| width * rng.random::<f64>()).collect();
            let best = best_of(Strategy::AutoActive, AUTO_POOL, 1.2, |c| (f[c], f[c]));
            let fifth = (0..AUTO_POOL).filter(|&c| f[c] < 1.2).nth(4).map_or(AUTO_POOL, |c| c + 1);
            assert_eq!(best.drawn, fifth);
            let nearest = f[..fifth].iter().copied().fold(f64::INFINITY, f64::min);
            assert_eq!((best.closeness, f[best.candidate]), (nearest, nearest));
        }
        assert_eq!(best_of(Strategy::Active, 30, 9.0, |c| (c as f64, 0.0)).drawn, 30);
    }

    #[test]
    fn closeness_of_two_outputs_equals_that_of_one_output() {
        assert_eq!(closeness(&[-0.3]), 0.3);
        assert_eq!(closeness(&[0.3, -0.3]), 0.3);
        assert_eq!(closeness(&[1.0, 0.5, 0.9]), 0.5 * (1.0 - 0.9));
    }

    #[test]
    fn gate_respects_its_budget() {
        let mut rng = rand_pcg::Pcg64::seed_from_u64(3);
        let mut gate = Gate::new(100);
        let mut asked = 0;
        for _ in 0..10_000 {
            let f = rng.random_range(-3.0..3.0);
            if gate.ask(&[f]) {
                assert!(f.abs() <= 1.0);
                asked += 1;
            }
        }
        assert_eq!((asked, gate.spent()), (100, 100));
    }
}
