//! Measured accuracy of the engine, and drift detection.
//!
//! Every label that no query strategy chose is compared with the prediction made on arrival of its row, however late
//! the label arrives. Labels of chosen samples are not counted: near the boundary half of the predictions are expected
//! to be wrong.
//!
//! Drift is detected in two sequences: in the errors on these labels, by the detector that the user chooses (`drift/`),
//! and in the share of rows within the margin (margin density, Sethi & Kantardzic 2017), which needs no label and
//! always uses the windowed test. A change detected in one sequence restarts the detector of the other.

use super::MAX_COUNT;
use super::drift::{Change, DriftMethod, ErrorDetector, WindowedTest};
use super::event::{Drift, DriftSign};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// Success rate: over all trials, and as an exponential moving average.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Rate {
    /// Number of trials.
    pub of: u64,
    /// Number of successes.
    pub yes: u64,
    /// Exponential moving average: each trial counts 2 % less than the next one.
    pub ema: f64,
    /// Total weight of the trials in the moving average.
    weight: f64,
}

/// Factor by which each trial multiplies the weight of the earlier ones.
const FADE: f64 = 0.98;

impl Rate {
    /// Adds a trial.
    pub fn add(&mut self, yes: bool) {
        (self.of, self.yes) = (self.of + 1, self.yes + u64::from(yes));
        self.weight = self.weight * FADE + 1.0;
        self.ema += (f64::from(u8::from(yes)) - self.ema) / self.weight;
    }

    /// Success rate over all trials; `None` without trials.
    pub fn share(&self) -> Option<f64> {
        (self.of > 0).then(|| self.yes as f64 / self.of as f64)
    }
}

/// Paired comparison of two predictors, on samples where only one of them was correct, with exponential fading.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct PairedComparison {
    won: f64,
    lost: f64,
}

impl PairedComparison {
    /// Adds a sample: whether the first and the second predictor were correct.
    pub fn add(&mut self, first: bool, second: bool) {
        (self.won, self.lost) = (FADE * self.won, FADE * self.lost);
        self.won += f64::from(u8::from(first && !second));
        self.lost += f64::from(u8::from(second && !first));
    }

    /// Lead of the first predictor, in standard deviations under chance.
    pub fn z_score(&self) -> f64 {
        (self.won - self.lost) / (self.won + self.lost + 1.0).sqrt()
    }
}

/// Measured accuracy, and the drift detectors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StreamMetrics {
    /// Accuracy of the labels in the output.
    pub given: Rate,
    /// Accuracy of the classifier.
    pub model: Rate,
    /// Accuracy of transduction.
    pub transduction: Rate,
    /// Transduction compared with the classifier.
    pub paired: PairedComparison,
    errors: ErrorDetector,
    /// Test of the share of rows within the margin; `None` without drift detection.
    margin: Option<WindowedTest>,
    /// Number of detected changes of the stream.
    pub drifts: u64,
    /// Number of batches with improbably many rows unlike all earlier ones.
    pub novelty_alarms: u64,
}

/// Correctness of the prediction for a row, and of those of the sources.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outcome {
    pub(super) given: bool,
    /// Probability that the predicted label is correct, estimated on arrival of the row.
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

    /// Counts a label that no query strategy chose.
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

    /// Returns an error for values that no stream produces (a file may hold anything).
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
        if fits { Ok(()) } else { Err(Error::State("its accuracy statistics are out of range".into())) }
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
    fn the_z_score_counts_only_samples_where_one_predictor_is_correct() {
        let mut paired = PairedComparison::default();
        assert_eq!(paired.z_score(), 0.0);
        (0..5).for_each(|_| paired.add(true, true));
        assert_eq!(paired.z_score(), 0.0, "samples where both are correct do not count");
        (0..4).for_each(|_| paired.add(true, false));
        assert!(paired.z_score() > 1.0);
        (0..200).for_each(|_| paired.add(false, true));
        assert!(paired.z_score() < -5.0);
    }

    #[test]
    fn the_moving_average_follows_recent_trials() {
        let mut r = Rate::default();
        assert_eq!(r.share(), None);
        (0..100).for_each(|_| r.add(true));
        (0..100).for_each(|_| r.add(false));
        assert_eq!(r.share(), Some(0.5));
        assert!(r.ema < 0.15, "{}", r.ema);
    }
}
