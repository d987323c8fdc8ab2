//! A one-sided z-test of the last window against the mean of the windows since the last change.
//!
//! Windows have at least 50 trials; the first four are never a change. The standard deviation is the larger one of what
//! chance gives a window of this size and of what the windows scatter by. A change exceeds 3.1 of them, which chance does
//! once in about 1,000 windows. After a change the test begins anew.

use super::super::MAX_COUNT;
use super::{Change, refuse_unless};
use crate::error::Result;
use serde::{Deserialize, Serialize};

/// The minimum number of trials of a window.
const WINDOW: u64 = 50;

/// The number of windows before the first that can be a change.
const MIN_WINDOWS: u64 = 4;

/// Standard deviations that chance exceeds once in about 1,000 times.
const Z: f64 = 3.1;

/// The state of the windowed test. See the module.
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
    /// Adds trials; at the end of a window, the change if the rate has risen.
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

    /// Refuses a state that no sequence leads to.
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
