//! Queries with a price: a label is queried only while it is expected to save more than it costs.
//!
//! Problem (Ertekin 2009 names decision-theoretic active learning as future work): a label costs `label_price`, and a
//! wrong label in the output costs `error_price`. Labels are queried as long as
//!
//! error_price · H · (e(l) − e(l + 1)) > label_price,
//!
//! where e(l) is the error rate with l labels and H the number of rows for which a label is useful.
//!
//! Estimates: e(l) = a + b/√(l + 1), the sum of an irreducible error and a part that decreases with labels. a and b are
//! estimated from labels that no query strategy chose (each was predicted before its arrival, with l labels known), by
//! least squares with a normal prior. The expected gain is b·(1/√(l+1) − 1/√(l+2)) at the posterior mean of b, and 0 if
//! that is negative. The prior, a = 0.05 ± 0.2 and b = 0.5 ± 0.25 with a variance of 1/4 per outcome, dominates while
//! there are few outcomes. H is `price_horizon`, or the number of rows seen so far: a stream of unknown length is
//! expected to last as long again.
//!
//! Consequences: l grows with the power 2/3 of the number of rows, so queries pause and resume along the stream. Drift
//! restarts the curve, because old labels are then of little value.
//!
//! Invariant: the state is five sums and two counters.

use super::{Engine, MAX_COUNT};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// Prior of a and b: means and standard deviations.
const PRIOR: [(f64, f64); 2] = [(0.05, 0.2), (0.5, 0.25)];

/// Variance of one outcome.
const OUTCOME_VARIANCE: f64 = 0.25;

/// Error rate as a function of the number of labels.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LearningCurve {
    /// Number of labels learned since the curve was started.
    labels: u64,
    /// Number of outcomes.
    outcomes: u64,
    /// Number of outcomes that were errors.
    errors: u64,
    /// Sum of u = 1/√(l + 1) over the outcomes.
    u: f64,
    /// Sum of u² over the outcomes.
    uu: f64,
    /// Sum of u over the errors.
    u_errors: f64,
}

impl LearningCurve {
    /// Counts a learned label.
    pub(super) fn add_label(&mut self) {
        self.labels += 1;
    }

    /// Counts the outcome of a prediction for a row whose label no query strategy chose.
    pub(super) fn add_outcome(&mut self, wrong: bool) {
        let u = inverse_root(self.labels);
        self.outcomes += 1;
        self.errors += u64::from(wrong);
        self.u += u;
        self.uu += u * u;
        self.u_errors += if wrong { u } else { 0.0 };
    }

    /// Posterior means of a and b.
    pub fn coefficients(&self) -> (f64, f64) {
        let [(a, sa), (b, sb)] = PRIOR;
        let (wa, wb) = (OUTCOME_VARIANCE / (sa * sa), OUTCOME_VARIANCE / (sb * sb));
        let (p, q, r) = (self.outcomes as f64 + wa, self.u, self.uu + wb);
        let (s, t) = (self.errors as f64 + wa * a, self.u_errors + wb * b);
        // positive by Cauchy-Schwarz and the prior
        let determinant = p * r - q * q;
        ((r * s - q * t) / determinant, (p * t - q * s) / determinant)
    }

    /// Expected decrease of the error rate by the next label.
    pub fn gain(&self) -> f64 {
        let (_, b) = self.coefficients();
        b.max(0.0) * (inverse_root(self.labels) - inverse_root(self.labels + 1))
    }

    /// Returns an error for sums that no outcomes produce (a file may hold anything).
    pub(super) fn check(&self) -> Result<()> {
        let n = self.outcomes as f64 * (1.0 + 1e-9) + 1e-9;
        let sums = [(self.u, n), (self.uu, self.u + 1e-9), (self.u_errors, self.u + 1e-9)];
        let fits = self.labels <= MAX_COUNT
            && self.outcomes <= MAX_COUNT
            && self.errors <= self.outcomes
            && sums.iter().all(|(sum, max)| *sum >= 0.0 && sum <= max)
            && self.u * self.u <= self.uu * self.outcomes as f64 * (1.0 + 1e-6) + 1e-6;
        if fits {
            Ok(())
        } else {
            Err(Error::State("the sums of its learning curve are out of range".into()))
        }
    }
}

/// 1/√(l + 1); 1 is added so that the gain of the first label is defined.
fn inverse_root(labels: u64) -> f64 {
    1.0 / (labels as f64 + 1.0).sqrt()
}

impl Engine {
    /// Whether the next label is expected to save more than it costs; true without prices.
    pub(super) fn is_worth_its_price(&self) -> bool {
        let (Some(label), Some(error)) = (self.params.label_price, self.params.error_price) else {
            return true;
        };
        let horizon = self.params.price_horizon.unwrap_or(self.rows);
        error * horizon as f64 * self.query_state.curve.gain() > label
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn estimates_the_curve_from_which_the_outcomes_were_drawn() {
        let mut rng = rand_pcg::Pcg64::seed_from_u64(2);
        for (a, b) in [(0.1, 0.6), (0.3, 0.1), (0.02, 0.9)] {
            let mut curve = LearningCurve::default();
            for _ in 0..400 {
                curve.add_label();
                for _ in 0..40 {
                    curve.add_outcome(rng.random::<f64>() < a + b * inverse_root(curve.labels));
                }
            }
            curve.check().unwrap();
            let found = curve.coefficients();
            assert!((found.0 - a).abs() < 0.03 && (found.1 - b).abs() < 0.12, "{found:?} for {a} and {b}");
        }
    }

    #[test]
    fn the_gain_decreases_with_labels_and_vanishes_if_labels_do_not_help() {
        let mut curve = LearningCurve::default();
        let first = curve.gain();
        (0..50).for_each(|_| curve.add_label());
        assert!(first > 0.05 && curve.gain() < 0.01 * first, "{first} {}", curve.gain());
        let mut flat = LearningCurve::default();
        for k in 0..200 {
            flat.add_label();
            (0..40).for_each(|j| flat.add_outcome((k + j) % 2 == 0));
        }
        let mut falling = flat;
        (falling.u_errors, falling.errors) = (0.3 * falling.uu, (0.3 * falling.u) as u64);
        assert!(flat.gain() < 0.2 * falling.gain(), "{} {}", flat.gain(), falling.gain());
    }

    #[test]
    fn check_refuses_impossible_sums() {
        let mut curve = LearningCurve::default();
        curve.add_label();
        curve.add_outcome(true);
        curve.check().unwrap();
        assert!(LearningCurve { errors: 2, ..curve }.check().is_err());
        assert!(LearningCurve { u: f64::NAN, ..curve }.check().is_err());
        assert!(LearningCurve { uu: 1e300, ..curve }.check().is_err());
    }
}
