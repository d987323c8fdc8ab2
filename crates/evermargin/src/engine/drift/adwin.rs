//! ADWIN: an adaptive window, which grows while the mean of its values does not change.
//!
//! Source: Bifet & Gavalda, Learning from time-changing data with adaptive windowing, SDM 2007 (ADWIN2). The window W
//! of n values in [0, 1] is cut in two at every boundary of its buckets. With n₀ and n₁ values on the sides,
//! 1/m = 1/n₀ + 1/n₁, δ' = δ/ln n and the variance σ² of W, the means differ by more than chance if
//! |μ₀ − μ₁| > √(2/m · σ² · ln(2/δ')) + 2/(3m) · ln(2/δ'). The oldest bucket is dropped while any cut satisfies this.
//!
//! The window is an exponential histogram: a bucket holds the sum of 2^k values, and there are at most five buckets of
//! each size; when there is a sixth, the two oldest ones are merged into one of twice the size.
//!
//! Departures: the test is made after every value (implementations often test after every 32nd), both sides of a cut
//! have at least five values, and the number of sizes is limited; beyond it the oldest bucket is dropped.
//!
//! Invariants: buckets are sorted by size, the oldest and largest first; at most `MAX_SIZES` · 5 buckets.

use super::{Change, refuse_unless};
use crate::error::Result;
use serde::{Deserialize, Serialize};

/// Confidence parameter δ.
pub(super) const DELTA: f64 = 0.002;

/// Maximum number of buckets of one size, M.
const MAX_PER_SIZE: usize = 5;

/// Number of sizes, which allows windows of up to about five million values.
const MAX_SIZES: u8 = 20;

/// Minimum number of values on each side of a cut.
pub(super) const MIN_SIDE: u64 = 5;

/// Sum and sum of squares of 2^`size` successive values.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bucket {
    size: u8,
    sum: f64,
    squares: f64,
}

impl Bucket {
    fn len(&self) -> u64 {
        1 << self.size
    }
}

/// Number, sum and sum of squares of values.
#[derive(Debug, Clone, Copy, Default)]
struct Moments {
    n: u64,
    sum: f64,
    squares: f64,
}

impl Moments {
    fn plus(self, b: &Bucket) -> Self {
        Self { n: self.n + b.len(), sum: self.sum + b.sum, squares: self.squares + b.squares }
    }
}

/// Bound ε on the difference of the means on both sides of a cut, in a window of variance `variance`.
pub(super) fn epsilon(n0: u64, n1: u64, variance: f64) -> f64 {
    let inverse_m = 1.0 / n0 as f64 + 1.0 / n1 as f64;
    let log = (2.0 * ((n0 + n1) as f64).ln() / DELTA).ln();
    (2.0 * inverse_m * variance * log).sqrt() + 2.0 / 3.0 * inverse_m * log
}

/// State of ADWIN. See the module.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adwin {
    /// Oldest first.
    buckets: Vec<Bucket>,
}

impl Adwin {
    /// Adds a value in [0, 1]. If the window was cut, returns the change of the mean, which may be in either direction.
    pub fn add(&mut self, value: f64) -> Option<Change> {
        self.insert(value);
        let mut found = None;
        while let Some(change) = self.cut() {
            found.get_or_insert(change);
            self.buckets.remove(0);
        }
        found
    }

    /// Number of values in the window.
    pub fn width(&self) -> u64 {
        self.buckets.iter().map(Bucket::len).sum()
    }

    /// Number of buckets.
    pub fn buckets(&self) -> usize {
        self.buckets.len()
    }

    fn insert(&mut self, value: f64) {
        self.buckets.push(Bucket { size: 0, sum: value, squares: value * value });
        for size in 0..MAX_SIZES {
            let is_of_size = |b: &Bucket| b.size == size;
            if self.buckets.iter().filter(|b| is_of_size(b)).count() <= MAX_PER_SIZE {
                return;
            }
            let Some(oldest) = self.buckets.iter().position(is_of_size) else { return };
            let newer = self.buckets.remove(oldest + 1);
            if size + 1 == MAX_SIZES {
                self.buckets[oldest] = newer;
                return;
            }
            let bucket = &mut self.buckets[oldest];
            bucket.size += 1;
            bucket.sum += newer.sum;
            bucket.squares += newer.squares;
        }
    }

    /// First significant cut, starting at the oldest value.
    fn cut(&self) -> Option<Change> {
        let all = self.buckets.iter().fold(Moments::default(), Moments::plus);
        if all.n < 2 * MIN_SIDE {
            return None;
        }
        let mean = all.sum / all.n as f64;
        let variance = (all.squares / all.n as f64 - mean * mean).max(0.0);
        let mut old = Moments::default();
        for bucket in &self.buckets {
            old = old.plus(bucket);
            let (n0, n1) = (old.n, all.n - old.n);
            if n1 < MIN_SIDE {
                break;
            }
            let (before, now) = (old.sum / n0 as f64, (all.sum - old.sum) / n1 as f64);
            if n0 >= MIN_SIDE && (before - now).abs() > epsilon(n0, n1, variance) {
                return Some(Change { before, now });
            }
        }
        None
    }

    /// Returns an error for a state that no sequence produces.
    pub fn check(&self) -> Result<()> {
        let within = |v: f64, n: u64| (0.0..=n as f64 * (1.0 + 1e-9)).contains(&v);
        let count = |size| self.buckets.iter().filter(|b| b.size == size).count();
        refuse_unless(
            self.buckets.len() <= MAX_PER_SIZE * MAX_SIZES as usize
                && self.buckets.iter().all(|b| b.size < MAX_SIZES)
                && self.buckets.is_sorted_by(|a, b| a.size >= b.size)
                && self.buckets.iter().all(|b| within(b.sum, b.len()) && within(b.squares, b.len()))
                && (0..MAX_SIZES).all(|size| count(size) <= MAX_PER_SIZE),
        )
    }
}

#[cfg(test)]
impl Adwin {
    /// Number of values of each bucket, oldest first.
    pub(super) fn lengths(&self) -> Vec<u64> {
        self.buckets.iter().map(Bucket::len).collect()
    }

    /// Adds a value to the histogram without a cut.
    pub(super) fn insert_without_cut(&mut self, value: f64) {
        self.insert(value);
    }

    /// Sum of the values in the window.
    pub(super) fn sum(&self) -> f64 {
        self.buckets.iter().map(|b| b.sum).sum()
    }
}
