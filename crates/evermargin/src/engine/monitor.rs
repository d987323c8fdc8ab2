//! Measured accuracy of the engine, and drift.
//!
//! A label that came by itself, or was asked for at random, is compared with what was predicted when its row arrived, however
//! late the label comes. Labels of chosen samples are not counted: near the boundary half of them are expected to be wrong.
//!
//! Drift is detected in two sequences: errors among these labels, by the detector that the user chooses (`drift/`), and the
//! share of rows within the margin (margin density, Sethi & Kantardzic 2017), which needs no label and always has the
//! windowed test. A change found in one sequence restarts the detector of the other.

use super::MAX_COUNT;
use super::drift::{Change, DriftMethod, ErrorDetector, WindowedTest};
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

/// Measured accuracy and the detectors of drift.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StreamMetrics {
    /// Right, of the labels that were given out.
    pub given: Rate,
    /// Right, of what the classifier said.
    pub model: Rate,
    /// Right, of what transduction said.
    pub transduction: Rate,
    /// Transduction against the classifier.
    pub paired: PairedComparison,
    errors: ErrorDetector,
    /// None without drift detection.
    margin: Option<WindowedTest>,
    /// Changes of the stream so far.
    pub drifts: u64,
    /// Batches with improbably many rows unlike all before.
    pub novelty_alarms: u64,
}

/// Whether the label given to a row was right, and the labels of the sources.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outcome {
    pub(super) given: bool,
    /// Estimated probability, from the arrival of the row, that the given label is right.
    pub(super) confidence: f64,
    pub(super) model: Option<bool>,
    pub(super) transduction: Option<bool>,
}

impl StreamMetrics {
    pub(super) fn new(method: DriftMethod) -> Self {
        Self {
            given: Rate::default(),
            model: Rate::default(),
            transduction: Rate::default(),
            paired: PairedComparison::default(),
            errors: ErrorDetector::new(method),
            margin: (method != DriftMethod::None).then(WindowedTest::default),
            drifts: 0,
            novelty_alarms: 0,
        }
    }

    /// Counts a label that was not chosen.
    pub(super) fn label(&mut self, outcome: Outcome, seed: u64) -> Option<Drift> {
        let Outcome { given, confidence, model, transduction } = outcome;
        self.given.add(given);
        model.into_iter().for_each(|right| self.model.add(right));
        transduction.into_iter().for_each(|right| self.transduction.add(right));
        if let (Some(model), Some(transduction)) = (model, transduction) {
            self.paired.add(transduction, model);
        }
        let doubt = if given { 1.0 - confidence } else { confidence };
        let change = self.errors.add(!given, doubt, seed)?;
        self.margin = self.margin.map(|_| WindowedTest::default());
        Some(self.changed(DriftSign::Errors, change))
    }

    /// Counts the rows of a batch that lie within the margin.
    pub(super) fn margin(&mut self, within: u64, rows: u64) -> Option<Drift> {
        let change = self.margin.as_mut()?.add(within, rows)?;
        self.errors = ErrorDetector::new(self.errors.method());
        Some(self.changed(DriftSign::Margin, change))
    }

    /// Refuses numbers that no stream leads to (a file may say anything).
    pub(super) fn check(&self, method: DriftMethod) -> Result<()> {
        let bounded = |v: f64| (0.0..=1e18).contains(&v);
        let rate = |r: &Rate| {
            r.yes <= r.of && r.of <= MAX_COUNT && (-1e-9..=1.0 + 1e-9).contains(&r.ema) && bounded(r.weight)
        };
        self.errors.check(method)?;
        self.margin.iter().try_for_each(WindowedTest::check)?;
        let fits = [&self.given, &self.model, &self.transduction].into_iter().all(rate)
            && self.margin.is_some() == (method != DriftMethod::None)
            && bounded(self.paired.won)
            && bounded(self.paired.lost)
            && self.drifts.max(self.novelty_alarms) <= MAX_COUNT;
        if fits { Ok(()) } else { Err(Error::State("its rates are not rates".into())) }
    }

    fn changed(&mut self, sign: DriftSign, change: Change) -> Drift {
        self.drifts += 1;
        Drift { sign, before: change.before, now: change.now }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
