//! Measures of predictions along a stream, each made before the label of its row was known (prequential evaluation).
//!
//! Sources: Cohen 1960 (kappa); Žliobaitė, Bifet, Read, Pfahringer and Holmes 2015, "Evaluation methods and decision theory for
//! classification of streaming data with temporal dependence" (kappa-T, against the classifier that repeats the previous
//! label; kappa-M, against the one that predicts the majority class); Gama, Sebastião and Rodrigues 2013, "On evaluating
//! stream learning algorithms" (sliding windows and fading factors).

use serde::{Deserialize, Serialize};

/// Number of rows in the window of [`RecentAccuracy`].
pub const WINDOW: usize = 1000;

/// Factor by which the weight of a row decreases with every later row.
pub const FADING: f64 = 0.99;

/// Improvement of an accuracy over that of a reference classifier: 1 is perfect, 0 is no better, negative is worse;
/// `None` where the reference is never wrong.
pub fn chance_corrected(accuracy: f64, reference: f64) -> Option<f64> {
    (reference < 1.0).then(|| (accuracy - reference) / (1.0 - reference))
}

/// Precision, recall and F1 of one class from its counts: rows predicted as the class, rows of the class, and rows that
/// are both. Each is `None` where its denominator is 0.
pub fn class_scores(predicted: u64, actual: u64, correct: u64) -> ClassScores {
    let fraction = |whole: u64| (whole > 0).then(|| correct as f64 / whole as f64);
    let both = predicted + actual;
    let f1 = (both > 0).then(|| 2.0 * correct as f64 / both as f64);
    ClassScores { precision: fraction(predicted), recall: fraction(actual), f1 }
}

/// Measures of one class.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClassScores {
    /// The fraction of rows predicted as the class that belong to it.
    pub precision: Option<f64>,
    /// The fraction of rows of the class that were predicted as it.
    pub recall: Option<f64>,
    /// Harmonic mean of precision and recall.
    pub f1: Option<f64>,
}

/// Accuracy of the last [`WINDOW`] rows, and accuracy with weights that decrease by [`FADING`] per row.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecentAccuracy {
    /// One bit per row of the window, 64 to a word.
    window: Vec<u64>,
    /// Position of the next row in the window.
    next: usize,
    /// Number of rows in the window.
    rows: usize,
    /// Fading weights of correct rows and of all rows.
    correct: f64,
    all: f64,
}

impl RecentAccuracy {
    /// Counts a row.
    pub fn push(&mut self, correct: bool) {
        self.window.resize(WINDOW.div_ceil(64), 0);
        let (word, bit) = (self.next / 64, self.next % 64);
        self.window[word] = (self.window[word] & !(1 << bit)) | (u64::from(correct) << bit);
        self.next = (self.next + 1) % WINDOW;
        self.rows = (self.rows + 1).min(WINDOW);
        self.correct = FADING * self.correct + f64::from(u8::from(correct));
        self.all = FADING * self.all + 1.0;
    }

    /// The fraction of correct rows in the window.
    pub fn windowed(&self) -> Option<f64> {
        let correct: u32 = self.window.iter().map(|word| word.count_ones()).sum();
        (self.rows > 0).then(|| f64::from(correct) / self.rows as f64)
    }

    /// The fraction of correct rows, weighted with the fading factor.
    pub fn fading(&self) -> Option<f64> {
        (self.all > 0.0).then(|| self.correct / self.all)
    }

    /// Returns an error for values that no sequence of rows produces (a file may hold any value).
    pub fn check(&self) -> Result<(), String> {
        let begun = self.rows > 0;
        let words = if begun { WINDOW.div_ceil(64) } else { 0 };
        let beyond =
            |place: usize| self.window.get(place / 64).is_some_and(|word| (word >> (place % 64)) & 1 == 1);
        let fits = self.rows <= WINDOW
            && self.window.len() == words
            && (self.rows..64 * words).all(|place| !beyond(place))
            && (if self.rows < WINDOW { self.next == self.rows } else { self.next < WINDOW })
            && (0.0..=1.0 / (1.0 - FADING) + 1.0).contains(&self.all)
            && (0.0..=self.all).contains(&self.correct)
            && begun == (self.all > 0.0);
        if fits { Ok(()) } else { Err("the window of recent predictions".into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcomes(rows: usize) -> Vec<bool> {
        (0..rows).map(|i| i * 7919 % 13 > i * 31 % 7).collect()
    }

    #[test]
    fn recent_accuracies_equal_sums_over_all_rows() {
        for rows in [1, 63, 64, 999, 1000, 1001, 2500] {
            let outcomes = outcomes(rows);
            let mut recent = RecentAccuracy::default();
            outcomes.iter().for_each(|&correct| recent.push(correct));
            recent.check().unwrap();
            let last = &outcomes[rows.saturating_sub(WINDOW)..];
            let windowed = last.iter().filter(|c| **c).count() as f64 / last.len() as f64;
            assert_eq!(recent.windowed(), Some(windowed), "{rows}");
            let weight = |i: usize| FADING.powi((rows - 1 - i) as i32);
            let all: f64 = (0..rows).map(weight).sum();
            let correct: f64 = (0..rows).filter(|&i| outcomes[i]).map(weight).sum();
            assert!((recent.fading().unwrap() - correct / all).abs() < 1e-12, "{rows}");
        }
        assert_eq!((RecentAccuracy::default().windowed(), RecentAccuracy::default().fading()), (None, None));
    }

    #[test]
    fn class_scores_follow_from_counts() {
        let scores = class_scores(10, 8, 6);
        assert_eq!((scores.precision, scores.recall), (Some(0.6), Some(0.75)));
        let (p, r) = (0.6, 0.75);
        assert!((scores.f1.unwrap() - 2.0 * p * r / (p + r)).abs() < 1e-15);
        assert_eq!(class_scores(0, 0, 0), ClassScores { precision: None, recall: None, f1: None });
        assert_eq!(chance_corrected(0.75, 0.5), Some(0.5));
        assert_eq!(chance_corrected(1.0, 1.0), None);
    }
}
