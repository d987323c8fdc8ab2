//! The Page-Hinkley test for a rise of the mean.
//!
//! Source: Page, Continuous inspection schemes, Biometrika 1954; Hinkley 1971; in the form of Gama et al., A survey on
//! concept drift adaptation, 2014. With the mean x̄ₜ of the first t values, mₜ = Σ (xᵢ − x̄ᵢ − δ) over i ≤ t; the mean
//! has risen if mₜ − min mᵢ > λ. δ = 0.005, λ = 50 and at least 30 values. After a change the test is restarted.
//!
//! With λ = 50 a change requires more than 50 errors in excess of the earlier rate: the test suits streams with many
//! labels.

use super::super::MAX_COUNT;
use super::{Change, refuse_unless};
use crate::error::Result;
use serde::{Deserialize, Serialize};

/// Tolerated rise, δ.
pub(super) const DELTA: f64 = 0.005;

/// Threshold, λ.
pub(super) const LAMBDA: f64 = 50.0;

/// Minimum number of values.
pub(super) const MIN_VALUES: u64 = 30;

/// Number and sum of values.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Total {
    n: u64,
    sum: f64,
}

impl Total {
    fn fits(&self) -> bool {
        self.n <= MAX_COUNT && (0.0..=self.n as f64 * (1.0 + 1e-9)).contains(&self.sum)
    }
}

/// State of the Page-Hinkley test. See the module.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageHinkley {
    all: Total,
    /// mₜ.
    cumulative: f64,
    /// min mᵢ.
    minimum: f64,
    /// Values up to the minimum.
    before: Total,
}

impl PageHinkley {
    /// Adds a value in [0, 1]. Returns the change if the mean has risen.
    pub fn add(&mut self, value: f64) -> Option<Change> {
        self.all = Total { n: self.all.n + 1, sum: self.all.sum + value };
        self.cumulative += value - self.all.sum / self.all.n as f64 - DELTA;
        if self.cumulative <= self.minimum {
            (self.minimum, self.before) = (self.cumulative, self.all);
        }
        if self.all.n < MIN_VALUES || self.statistic() <= LAMBDA {
            return None;
        }
        let (all, old) = (self.all, self.before);
        *self = Self::default();
        let mean = |n: u64, sum: f64| sum / n.max(1) as f64;
        Some(Change { before: mean(old.n, old.sum), now: mean(all.n - old.n, all.sum - old.sum) })
    }

    /// mₜ − min mᵢ.
    pub fn statistic(&self) -> f64 {
        self.cumulative - self.minimum
    }

    /// Returns an error for a state that no sequence produces.
    pub fn check(&self) -> Result<()> {
        refuse_unless(
            self.all.fits()
                && self.before.fits()
                && self.before.n <= self.all.n
                && self.before.sum <= self.all.sum
                && self.cumulative.abs() <= 1e18
                && self.minimum.abs() <= 1e18
                && self.statistic() >= 0.0
                && self.statistic() <= LAMBDA + 2.0 * MIN_VALUES as f64,
        )
    }
}
