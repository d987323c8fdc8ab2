//! What the engine knows about itself: how often it was right, and whether that has changed.
//!
//! A label that came by itself, or was asked for at random, is held against what was said about the sample when it
//! arrived, however late the label comes. Labels of samples chosen near the boundary are not counted: of those half are
//! expected to be wrong.
//!
//! A change is told by two rates: errors among these labels, and samples within the margin among all (margin density,
//! Sethi & Kantardzic 2017), which needs no label. Each is compared, over a window, with its mean since the last change; a
//! change is one that chance gives once in about 1,000 windows.

use super::MAX_COUNT;
use super::event::{Drift, DriftSign};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// A share that is followed: of all, and of late.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Rate {
    /// Trials.
    pub of: u64,
    /// Times it was so.
    pub yes: u64,
    /// Share of late: each trial counts 2 % less than the one after it.
    pub ema: f64,
    /// What the trials of late weigh.
    weight: f64,
}

/// What a trial weighs after the next one.
const FADE: f64 = 0.98;

impl Rate {
    /// One more trial.
    pub fn add(&mut self, yes: bool) {
        (self.of, self.yes) = (self.of + 1, self.yes + u64::from(yes));
        self.weight = self.weight * FADE + 1.0;
        self.ema += (f64::from(u8::from(yes)) - self.ema) / self.weight;
    }

    /// The share of all; none without a trial.
    pub fn share(&self) -> Option<f64> {
        (self.of > 0).then(|| self.yes as f64 / self.of as f64)
    }
}

/// Two ways to label, held against each other where one was right and the other wrong; what is old counts less.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct PairedComparison {
    won: f64,
    lost: f64,
}

impl PairedComparison {
    /// One more sample: whether the first way was right, and the second.
    pub fn add(&mut self, first: bool, second: bool) {
        (self.won, self.lost) = (FADE * self.won, FADE * self.lost);
        self.won += f64::from(u8::from(first && !second));
        self.lost += f64::from(u8::from(second && !first));
    }

    /// By how many standard deviations of chance the first way is ahead.
    pub fn z_score(&self) -> f64 {
        (self.won - self.lost) / (self.won + self.lost + 1.0).sqrt()
    }
}

/// Trials of a window.
const WINDOW: u64 = 50;

/// Windows before a change is believed.
const WARM: u64 = 4;

/// Standard deviations that chance exceeds once in about 1,000 times.
const CHANCE: f64 = 3.1;

/// Follows a rate and tells when it rises.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Detector {
    windows: u64,
    mean: f64,
    /// Sum of squared differences of the windows from their mean.
    spread: f64,
    trials: u64,
    yes: u64,
}

impl Detector {
    /// More trials; at the end of a window, the rates before and in it if it has risen. Then all begins anew.
    pub fn add(&mut self, yes: u64, trials: u64) -> Option<(f64, f64)> {
        (self.yes, self.trials) = (self.yes + yes, self.trials + trials);
        if self.trials < WINDOW {
            return None;
        }
        let (rate, n) = (self.yes as f64 / self.trials as f64, self.trials as f64);
        (self.yes, self.trials) = (0, 0);
        let mean = self.mean;
        // what the windows scatter by, and what so many trials do by chance
        let chance = mean.max(1.0 / n) * (1.0 - mean).max(1.0 / n) / n;
        let seen = if self.windows > 1 { self.spread / (self.windows - 1) as f64 } else { 0.0 };
        if self.windows >= WARM && rate > mean + CHANCE * chance.max(seen).sqrt() {
            *self = Self::default();
            return Some((mean, rate));
        }
        self.windows += 1;
        let step = rate - self.mean;
        self.mean += step / self.windows as f64;
        self.spread += step * (rate - self.mean);
        None
    }
}

/// All that is followed.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct StreamMetrics {
    /// Right, of the labels that were given out.
    pub given: Rate,
    /// Right, of what the classifier said.
    pub model: Rate,
    /// Right, of what transduction said.
    pub transduction: Rate,
    /// Transduction against the classifier.
    pub paired: PairedComparison,
    errors: Detector,
    margin: Detector,
    /// Changes of the stream so far.
    pub drifts: u64,
}

impl StreamMetrics {
    /// A label that was not chosen, and whether what was said was right: given out, by the classifier, by transduction.
    pub fn label(&mut self, given: bool, model: Option<bool>, transduction: Option<bool>) -> Option<Drift> {
        self.given.add(given);
        model.into_iter().for_each(|right| self.model.add(right));
        transduction.into_iter().for_each(|right| self.transduction.add(right));
        if let (Some(model), Some(transduction)) = (model, transduction) {
            self.paired.add(transduction, model);
        }
        let risen = self.errors.add(u64::from(!given), 1);
        self.changed(DriftSign::Errors, risen)
    }

    /// How many samples of a batch lie within the margin.
    pub fn margin(&mut self, within: u64, rows: u64) -> Option<Drift> {
        let risen = self.margin.add(within, rows);
        self.changed(DriftSign::Margin, risen)
    }

    /// Refuses numbers that no stream leads to (a file may say anything).
    pub(super) fn check(&self) -> Result<()> {
        let share = |v: f64| (0.0..=1.0 + 1e-9).contains(&v);
        let bounded = |v: f64| (0.0..=1e18).contains(&v);
        let rate = |r: &Rate| {
            r.yes <= r.of && r.of <= MAX_COUNT && (-1e-9..=1.0 + 1e-9).contains(&r.ema) && bounded(r.weight)
        };
        let detector = |d: &Detector| {
            d.windows <= MAX_COUNT
                && share(d.mean)
                && bounded(d.spread)
                && d.trials < WINDOW
                && d.yes <= d.trials
        };
        let fits = [&self.given, &self.model, &self.transduction].into_iter().all(rate)
            && [&self.errors, &self.margin].into_iter().all(detector)
            && bounded(self.paired.won)
            && bounded(self.paired.lost)
            && self.drifts <= MAX_COUNT;
        if fits { Ok(()) } else { Err(Error::State("its rates are not rates".into())) }
    }

    fn changed(&mut self, sign: DriftSign, risen: Option<(f64, f64)>) -> Option<Drift> {
        let (before, now) = risen?;
        self.drifts += 1;
        (self.errors, self.margin) = (Detector::default(), Detector::default());
        Some(Drift { sign, before, now })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn a_rate_that_rises_is_told_and_one_that_stays_is_not() {
        let mut rng = rand_pcg::Pcg64::seed_from_u64(5);
        let (mut found, mut wrong) = (0, 0);
        for _ in 0..200 {
            let mut d = Detector::default();
            wrong += (0..2000).filter(|_| d.add(u64::from(rng.random::<f64>() < 0.1), 1).is_some()).count();
            let after = (0..200).position(|_| d.add(u64::from(rng.random::<f64>() < 0.5), 1).is_some());
            found += usize::from(after.is_some());
        }
        assert!(found >= 195, "{found} of 200 changes from 10 to 50 % within 200 labels");
        // 200 streams of 40 windows
        assert!(wrong <= 60, "{wrong} of 8000 windows");
    }

    #[test]
    fn a_duel_is_won_by_more_than_chance() {
        let mut paired = PairedComparison::default();
        assert_eq!(paired.z_score(), 0.0);
        (0..5).for_each(|_| paired.add(true, true));
        assert_eq!(paired.z_score(), 0.0, "where both are right nothing is told");
        (0..4).for_each(|_| paired.add(true, false));
        assert!(paired.z_score() > 1.0);
        (0..200).for_each(|_| paired.add(false, true));
        assert!(paired.z_score() < -5.0);
    }

    #[test]
    fn rates_of_late_follow() {
        let mut r = Rate::default();
        assert_eq!(r.share(), None);
        (0..100).for_each(|_| r.add(true));
        (0..100).for_each(|_| r.add(false));
        assert_eq!(r.share(), Some(0.5));
        assert!(r.ema < 0.15, "{}", r.ema);
    }
}
