//! KSWIN: a two-sample Kolmogorov-Smirnov test of the newest values against older ones.
//!
//! Source: Raab, Heusinger & Schleif, Reactive soft prototype computing for concept drift streams, Neurocomputing 2020.
//! The newest r = 30 values of a window of 100 are compared with 30 drawn without replacement from the 70 before them.
//! The distributions differ if the largest distance of the empirical distribution functions exceeds √(−ln α / r), α =
//! 0.005. Then only the newest 30 values are kept.
//!
//! The draw follows from the seed and the number of the value, so that equal values give equal changes. Because the
//! test is made after every value, there are occasional false alarms on sequences without a change.

use super::super::{MAX_COUNT, draw};
use super::{Change, refuse_unless};
use crate::error::Result;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

/// Number of values in a full window.
pub(super) const WINDOW: usize = 100;

/// Number of newest values, r.
pub(super) const RECENT: usize = 30;

/// Significance level α.
pub(super) const ALPHA: f64 = 0.005;

/// State of KSWIN. See the module.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kswin {
    /// Oldest first.
    window: Vec<f64>,
    /// Number of values so far.
    values: u64,
}

impl Kswin {
    /// Adds a value in [0, 1]. Returns the change if the distribution has changed.
    pub fn add(&mut self, value: f64, seed: u64) -> Option<Change> {
        self.values += 1;
        if self.window.len() == WINDOW {
            self.window.remove(0);
        }
        self.window.push(value);
        if self.window.len() < WINDOW {
            return None;
        }
        let (old, recent) = self.window.split_at(WINDOW - RECENT);
        let mut shuffled = old.to_vec();
        let (drawn, _) = shuffled.partial_shuffle(&mut draw(seed, self.values), RECENT);
        let mut sorted = recent.to_vec();
        drawn.sort_unstable_by(f64::total_cmp);
        sorted.sort_unstable_by(f64::total_cmp);
        if distance(drawn, &sorted) <= (-ALPHA.ln() / RECENT as f64).sqrt() {
            return None;
        }
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let change = Change { before: mean(old), now: mean(recent) };
        self.window.drain(..WINDOW - RECENT);
        Some(change)
    }

    /// Number of values in the window.
    pub fn width(&self) -> usize {
        self.window.len()
    }

    /// Returns an error for a state that no sequence produces.
    pub fn check(&self) -> Result<()> {
        refuse_unless(
            self.window.len() <= WINDOW
                && self.values <= MAX_COUNT
                && self.window.iter().all(|v| (0.0..=1.0).contains(v)),
        )
    }
}

/// Largest distance between the empirical distribution functions of two ascending samples.
pub(super) fn distance(a: &[f64], b: &[f64]) -> f64 {
    let (mut i, mut j, mut largest) = (0, 0, 0.0f64);
    while i < a.len() && j < b.len() {
        let value = a[i].min(b[j]);
        while i < a.len() && a[i] <= value {
            i += 1;
        }
        while j < b.len() && b[j] <= value {
            j += 1;
        }
        largest = largest.max((i as f64 / a.len() as f64 - j as f64 / b.len() as f64).abs());
    }
    largest
}
