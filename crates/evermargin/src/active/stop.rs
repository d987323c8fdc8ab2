//! When to stop asking.
//!
//! The margin is exhausted when even the nearest samples of several pools lie outside it: then nothing is left that
//! would change the model much. This rule survives wrong labels; the number of support vectors, on which the other
//! rule looks, never settles under noise (Ertekin 2009, 4.2 and 5.4; the source gives no numbers, these are ours).

use serde::{Deserialize, Serialize};

/// A rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopRule {
    /// Until the samples or the budget run out.
    Never,
    /// When the nearest samples of three pools in a row lie so far outside the margin that none would be admitted.
    Margin,
    /// When the number of support vectors settles.
    Plateau,
    /// At the number of labels that was best in three-fold cross-validation (needs all labels).
    CrossValidated,
}

/// Why asking ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stopped {
    /// No sample is left.
    Exhausted,
    /// The budget is spent.
    Budget,
    /// No sample is left within the margin.
    Margin,
    /// The number of support vectors settled.
    Plateau,
    /// The number of labels that cross-validation found was reached.
    CrossValidated,
    /// A label is expected to save less than it costs.
    Price,
    /// The caller said stop.
    Interrupted,
}

impl Stopped {
    /// For people.
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

/// Pools in a row without a sample in the margin that end the search.
const MISSES: u32 = 3;

/// Windows in a row in which the number of support vectors rests that end the search: after one or two of them a class
/// may still have a part nobody looked into (letters, one run in five).
const QUIET: u32 = 3;

/// Choices in a window, of so many samples.
fn window(samples: usize) -> usize {
    100.max(samples / 50)
}

/// Choices in which the number of support vectors rests before [`StopRule::Plateau`] stops: the plateau began so many
/// choices before the end.
pub fn plateau_choices(samples: usize) -> usize {
    QUIET as usize * window(samples)
}

/// Watches the choices and says when to stop.
#[derive(Debug, Clone, PartialEq)]
pub struct Stopping {
    rule: StopRule,
    misses: u32,
    window: usize,
    choices: usize,
    became_support: usize,
    support_before: usize,
    quiet: u32,
}

impl Stopping {
    /// For a search among `samples` samples.
    pub fn new(rule: StopRule, samples: usize) -> Self {
        let window = window(samples);
        Self { rule, misses: 0, window, choices: 0, became_support: 0, support_before: 0, quiet: 0 }
    }

    /// Before a sample is asked about: its closeness, and that up to which a sample would still be admitted (1 + δ/2
    /// for a machine whose extremes are δ apart). `Some` means do not ask.
    pub fn before(&mut self, closeness: f64, margin: f64) -> Option<Stopped> {
        self.misses = if closeness >= margin { self.misses + 1 } else { 0 };
        (self.rule == StopRule::Margin && self.misses >= MISSES).then_some(Stopped::Margin)
    }

    /// After a sample was learned: whether it became a support vector, and how many there are.
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
        self.quiet = if settled { self.quiet + 1 } else { 0 };
        (self.rule == StopRule::Plateau && self.quiet >= QUIET).then_some(Stopped::Plateau)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_margin_rule_needs_misses_in_a_row() {
        let mut s = Stopping::new(StopRule::Margin, 1000);
        for f in [1.2, 1.3, 0.9, 1.0, 1.1] {
            assert_eq!(s.before(f, 1.0), None, "{f}");
        }
        assert_eq!(s.before(2.0, 1.0), Some(Stopped::Margin));
        let mut never = Stopping::new(StopRule::Never, 1000);
        assert!((0..10).all(|_| never.before(2.0, 1.0).is_none()));
    }

    #[test]
    fn the_plateau_rule_needs_windows_in_a_row_in_which_little_happens() {
        let mut s = Stopping::new(StopRule::Plateau, 1000);
        let mut window = |every: usize, support: &dyn Fn(usize) -> usize| {
            (1..=100).filter_map(|k| s.after(k % every == 0, support(k))).collect::<Vec<_>>()
        };
        assert!(window(1, &|k| k).is_empty());
        assert!(window(10, &|_| 100).is_empty(), "ten of a hundred became support vectors");
        assert!(window(50, &|_| 100).is_empty() && window(50, &|_| 100).is_empty(), "two are not enough");
        assert!(window(10, &|_| 100).is_empty(), "begins anew");
        assert!(window(50, &|_| 100).is_empty() && window(50, &|_| 100).is_empty());
        assert_eq!(window(50, &|_| 100), [Stopped::Plateau]);
        assert_eq!((plateau_choices(1000), plateau_choices(10_000)), (300, 600));
    }
}
