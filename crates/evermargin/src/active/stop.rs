//! Stopping rules of active learning.
//!
//! The margin is exhausted when even the nearest samples of several pools lie outside it: then no remaining sample would
//! change the model much. This rule is robust to wrong labels. The number of support vectors, which the other rule uses,
//! never settles under noise (Ertekin 2009, 4.2 and 5.4; the source gives no numbers, these are ours).

use serde::{Deserialize, Serialize};

/// Stopping rule of active learning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopRule {
    /// When the samples or the budget run out.
    Never,
    /// When the nearest samples of three pools in a row lie so far outside the margin that none would be admitted.
    Margin,
    /// When the number of support vectors settles.
    Plateau,
    /// At the number of labels that was best in three-fold cross-validation (needs all labels).
    CrossValidated,
}

/// Reason why queries ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stopped {
    /// All samples were used.
    Exhausted,
    /// The budget is spent.
    Budget,
    /// No sample is left within the margin.
    Margin,
    /// The number of support vectors settled.
    Plateau,
    /// The number of labels chosen by cross-validation was reached.
    CrossValidated,
    /// A label is expected to save less than it costs.
    Price,
    /// The caller ended the work.
    Interrupted,
}

impl Stopped {
    /// Description for display.
    pub fn why(self) -> &'static str {
        match self {
            Self::Exhausted => "every sample was used",
            Self::Budget => "the budget of labels is spent",
            Self::Margin => "no sample is left within the margin",
            Self::Plateau => "the number of support vectors settled",
            Self::CrossValidated => "the number of labels that cross-validation found was reached",
            Self::Price => "a label is expected to save less than it costs",
            Self::Interrupted => "interrupted",
        }
    }
}

/// Number of consecutive pools without a sample inside the margin that ends the search.
const MAX_MISSES: u32 = 3;

/// Number of consecutive windows with a settled number of support vectors that ends the search. After one or two of
/// them a region of a class may still be unexplored (in one of five runs on letters).
const SETTLED_WINDOWS: u32 = 3;

/// Number of choices per window.
fn window(samples: usize) -> usize {
    100.max(samples / 50)
}

/// Number of choices with a settled number of support vectors before [`StopRule::Plateau`] ends the search; the plateau
/// began this many choices before the end.
pub fn plateau_choices(samples: usize) -> usize {
    SETTLED_WINDOWS as usize * window(samples)
}

/// Monitors the choices and decides when to stop.
#[derive(Debug, Clone, PartialEq)]
pub struct Stopping {
    rule: StopRule,
    misses: u32,
    window: usize,
    choices: usize,
    became_support: usize,
    support_before: usize,
    settled_windows: u32,
}

impl Stopping {
    /// State for a search among `samples` samples.
    pub fn new(rule: StopRule, samples: usize) -> Self {
        let window = window(samples);
        Self { rule, misses: 0, window, choices: 0, became_support: 0, support_before: 0, settled_windows: 0 }
    }

    /// Called before a query, with the closeness of the sample and the closeness below which a sample would still be
    /// admitted (1 + δ/2 for an SVM whose gradient bounds differ by δ). `Some` means that the query must not be
    /// asked.
    pub fn before(&mut self, closeness: f64, margin: f64) -> Option<Stopped> {
        self.misses = if closeness >= margin { self.misses + 1 } else { 0 };
        (self.rule == StopRule::Margin && self.misses >= MAX_MISSES).then_some(Stopped::Margin)
    }

    /// Called after a sample was learned, with whether it became a support vector and the number of support vectors.
    pub fn after(&mut self, became_support: bool, support: usize) -> Option<Stopped> {
        self.choices += 1;
        self.became_support += usize::from(became_support);
        if self.choices < self.window {
            return None;
        }
        let change = support.abs_diff(self.support_before) as f64;
        let settled =
            change < 0.01 * support as f64 && (self.became_support as f64) < 0.05 * self.window as f64;
        (self.choices, self.became_support, self.support_before) = (0, 0, support);
        self.settled_windows = if settled { self.settled_windows + 1 } else { 0 };
        (self.rule == StopRule::Plateau && self.settled_windows >= SETTLED_WINDOWS)
            .then_some(Stopped::Plateau)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn margin_rule_needs_consecutive_misses() {
        let mut s = Stopping::new(StopRule::Margin, 1000);
        for f in [1.2, 1.3, 0.9, 1.0, 1.1] {
            assert_eq!(s.before(f, 1.0), None, "{f}");
        }
        assert_eq!(s.before(2.0, 1.0), Some(Stopped::Margin));
        let mut never = Stopping::new(StopRule::Never, 1000);
        assert!((0..10).all(|_| never.before(2.0, 1.0).is_none()));
    }

    #[test]
    fn plateau_rule_needs_consecutive_settled_windows() {
        let mut s = Stopping::new(StopRule::Plateau, 1000);
        let mut window = |every: usize, support: &dyn Fn(usize) -> usize| {
            (1..=100).filter_map(|k| s.after(k % every == 0, support(k))).collect::<Vec<_>>()
        };
        assert!(window(1, &|k| k).is_empty());
        assert!(window(10, &|_| 100).is_empty(), "ten of a hundred became support vectors");
        assert!(
            window(50, &|_| 100).is_empty() && window(50, &|_| 100).is_empty(),
            "two windows are not enough"
        );
        assert!(window(10, &|_| 100).is_empty(), "a window with changes resets the count");
        assert!(window(50, &|_| 100).is_empty() && window(50, &|_| 100).is_empty());
        assert_eq!(window(50, &|_| 100), [Stopped::Plateau]);
        assert_eq!((plateau_choices(1000), plateau_choices(10_000)), (300, 600));
    }
}
