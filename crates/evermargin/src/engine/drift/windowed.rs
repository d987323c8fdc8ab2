//! A one-sided z-test of the latest window against the mean of the windows since the last change.
//!
//! A window has at least 50 trials; the first four windows are never a change. The standard deviation is the larger one
//! of the binomial one for a window of this size and the empirical one of the windows. A change exceeds 3.1 standard
//! deviations, which happens by chance in about one of 1,000 windows. After a change the test is restarted.

use super::super::MAX_COUNT;
use super::{Change, refuse_unless};
use crate::error::Result;
use serde::{Deserialize, Serialize};

/// Minimum number of trials per window.
const WINDOW: u64 = 50;

/// Number of windows before the first window that can be a change.
const MIN_WINDOWS: u64 = 4;

/// Number of standard deviations that is exceeded by chance in about one of 1,000 windows.
const Z: f64 = 3.1;

/// State of the windowed test. See the module.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowedTest {
    windows: u64,
    mean: f64,
    /// Sum of squared differences of the windows from their mean.
    spread: f64,
    trials: u64,
    yes: u64,
}

impl WindowedTest {
    /// Adds trials. At the end of a window, returns the change if the rate has risen.
    pub fn add(&mut self, yes: u64, trials: u64) -> Option<Change> {
        (self.yes, self.trials) = (self.yes + yes, self.trials + trials);
        if self.trials < WINDOW {
            return None;
        }
        let (rate, n) = (self.yes as f64 / self.trials as f64, self.trials as f64);
        (self.yes, self.trials) = (0, 0);
        let mean = self.mean;
        let chance = mean.max(1.0 / n) * (1.0 - mean).max(1.0 / n) / n;
        let seen = if self.windows > 1 { self.spread / (self.windows - 1) as f64 } else { 0.0 };
        if self.windows >= MIN_WINDOWS && rate > mean + Z * chance.max(seen).sqrt() {
            *self = Self::default();
            return Some(Change { before: mean, now: rate });
        }
        self.windows += 1;
        let step = rate - self.mean;
        self.mean += step / self.windows as f64;
        self.spread += step * (rate - self.mean);
        None
    }

    /// Returns an error for a state that no sequence produces.
    pub fn check(&self) -> Result<()> {
        refuse_unless(
            self.windows <= MAX_COUNT
                && (0.0..=1.0 + 1e-9).contains(&self.mean)
                && (0.0..=1e18).contains(&self.spread)
                && self.trials < WINDOW
                && self.yes <= self.trials,
        )
    }
}
