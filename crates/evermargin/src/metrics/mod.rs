//! Quality measures of predictions. An undefined value (no rows, a class without rows, vectors of different lengths,
//! values that are not numbers) is `None`, never NaN. An empty slice of weights means that all weights are 1.

mod prequential;
mod ranking;
mod significance;

pub use prequential::{ClassScores, FADING, RecentAccuracy, WINDOW, chance_corrected, class_scores};
pub use ranking::{
    Criterion, Cut, Threshold, auc, auc_macro, average_precision, best_threshold, curve, prbep,
};
pub use significance::{
    Disagreement, PairedT, SignedRanks, mcnemar, mean_ranks, normal_cdf, paired_t, ranks, wilcoxon,
};

/// Weighted counts of true class (row) against predicted class (column).
#[derive(Debug, Clone, PartialEq)]
pub struct Confusion {
    counts: Vec<f64>,
    classes: usize,
}

impl Confusion {
    /// Counts the rows by true and predicted class; `None` if the lengths differ, a class is out of range or a weight
    /// is not a finite number ≥ 0.
    pub fn new(truth: &[u32], predicted: &[u32], weights: &[f64], classes: usize) -> Option<Self> {
        if truth.len() != predicted.len() {
            return None;
        }
        let weight = weights_or_ones(weights, truth.len())?;
        let mut counts = vec![0.0; classes * classes];
        for (i, (&t, &p)) in truth.iter().zip(predicted).enumerate() {
            if t as usize >= classes || p as usize >= classes {
                return None;
            }
            counts[t as usize * classes + p as usize] += weight(i);
        }
        Some(Self { counts, classes })
    }

    /// Creates the matrix of two classes from the weights of true and false negatives and positives.
    fn two_classes(tn: f64, fp: f64, fn_: f64, tp: f64) -> Self {
        Self { counts: vec![tn, fp, fn_, tp], classes: 2 }
    }

    /// Weight of the rows of class `truth` predicted as `predicted`.
    pub fn count(&self, truth: usize, predicted: usize) -> f64 {
        self.counts[truth * self.classes + predicted]
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    fn correct(&self) -> f64 {
        (0..self.classes).map(|c| self.count(c, c)).sum()
    }

    fn true_total(&self, class: usize) -> f64 {
        (0..self.classes).map(|p| self.count(class, p)).sum()
    }

    fn predicted_total(&self, class: usize) -> f64 {
        (0..self.classes).map(|t| self.count(t, class)).sum()
    }

    /// Fraction of correctly predicted rows.
    pub fn accuracy(&self) -> Option<f64> {
        ratio(self.correct(), self.counts.iter().sum())
    }

    /// Fraction of wrongly predicted rows.
    pub fn error(&self) -> Option<f64> {
        let total: f64 = self.counts.iter().sum();
        ratio(total - self.correct(), total)
    }

    /// Fraction of the rows of a class that are predicted as that class (sensitivity of class 1, specificity of
    /// class 0).
    pub fn recall(&self, class: usize) -> Option<f64> {
        ratio(self.count(class, class), self.true_total(class))
    }

    /// Fraction of the predictions of a class that are correct.
    pub fn precision(&self, class: usize) -> Option<f64> {
        ratio(self.count(class, class), self.predicted_total(class))
    }

    /// Harmonic mean of precision and recall of a class: 2·correct/(predicted + true).
    pub fn f1(&self, class: usize) -> Option<f64> {
        ratio(2.0 * self.count(class, class), self.predicted_total(class) + self.true_total(class))
    }

    /// Mean recall of the classes; every class needs rows.
    pub fn recall_macro(&self) -> Option<f64> {
        self.mean(|c| self.recall(c))
    }

    /// Mean precision of the classes; a class never predicted counts as 0.
    pub fn precision_macro(&self) -> Option<f64> {
        self.mean(|c| self.recall(c).map(|_| self.precision(c).unwrap_or(0.0)))
    }

    /// Mean F1 of the classes; every class needs rows.
    pub fn f1_macro(&self) -> Option<f64> {
        self.mean(|c| self.recall(c).and_then(|_| self.f1(c)))
    }

    /// Geometric mean of the recalls; every class needs rows.
    pub fn g_means(&self) -> Option<f64> {
        let product = (0..self.classes).try_fold(1.0, |p, c| self.recall(c).map(|r| p * r))?;
        (self.classes > 0).then(|| product.powf(1.0 / self.classes as f64))
    }

    /// Matthews correlation coefficient for any number of classes (Gorodkin 2004); undefined if only one class
    /// occurs or only one is predicted.
    pub fn mcc(&self) -> Option<f64> {
        let total: f64 = self.counts.iter().sum();
        let sum = |f: &dyn Fn(usize) -> f64| (0..self.classes).map(f).sum::<f64>();
        let both = sum(&|c| self.true_total(c) * self.predicted_total(c));
        let truth = total * total - sum(&|c| self.true_total(c).powi(2));
        let predicted = total * total - sum(&|c| self.predicted_total(c).powi(2));
        let rounding = 1e-12 * total * total;
        if truth <= rounding || predicted <= rounding {
            return None;
        }
        ratio(self.correct() * total - both, (truth * predicted).sqrt())
    }

    fn mean(&self, of: impl Fn(usize) -> Option<f64>) -> Option<f64> {
        let total = (0..self.classes).try_fold(0.0, |sum, c| of(c).map(|v| sum + v))?;
        ratio(total, self.classes as f64)
    }
}

/// Mean squared difference between probability and outcome, from `probability[i·classes + c]`. With two classes this
/// is twice the common two-class form ([`brier`]).
pub fn brier_multi(probability: &[f64], truth: &[u32], classes: usize) -> Option<f64> {
    let score = |row: &[f64], t: usize| {
        (0..classes).map(|c| (row[c] - f64::from(u8::from(c == t))).powi(2)).sum::<f64>()
    };
    mean_over_rows(probability, truth, classes, score)
}

/// Mean of −ln p, where p is the predicted probability of the true class, at least 1e-15.
pub fn log_loss_multi(probability: &[f64], truth: &[u32], classes: usize) -> Option<f64> {
    mean_over_rows(probability, truth, classes, |row, t| -row[t].clamp(1e-15, 1.0).ln())
}

/// Brier score of the probability of the positive class.
pub fn brier(probability: &[f64], positive: &[bool]) -> Option<f64> {
    brier_multi(&both_classes(probability), &as_classes(positive), 2).map(|b| 0.5 * b)
}

/// Log loss of the probability of the positive class.
pub fn log_loss(probability: &[f64], positive: &[bool]) -> Option<f64> {
    log_loss_multi(&both_classes(probability), &as_classes(positive), 2)
}

fn both_classes(probability: &[f64]) -> Vec<f64> {
    probability.iter().flat_map(|p| [1.0 - p, *p]).collect()
}

fn as_classes(positive: &[bool]) -> Vec<u32> {
    positive.iter().map(|p| u32::from(*p)).collect()
}

fn mean_over_rows(
    probability: &[f64],
    truth: &[u32],
    classes: usize,
    score: impl Fn(&[f64], usize) -> f64,
) -> Option<f64> {
    let fits = classes > 0
        && probability.len() == truth.len() * classes
        && truth.iter().all(|t| (*t as usize) < classes)
        && probability.iter().all(|p| (-1e-9..=1.0 + 1e-9).contains(p));
    if !fits {
        return None;
    }
    let total: f64 = probability.chunks_exact(classes).zip(truth).map(|(p, t)| score(p, *t as usize)).sum();
    ratio(total, truth.len() as f64)
}

fn weights_or_ones(weights: &[f64], rows: usize) -> Option<impl Fn(usize) -> f64> {
    let fits =
        (weights.is_empty() || weights.len() == rows) && weights.iter().all(|w| w.is_finite() && *w >= 0.0);
    fits.then_some(|i: usize| if weights.is_empty() { 1.0 } else { weights[i] })
}

fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole).filter(|r| r.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(value: Option<f64>, expected: f64) -> bool {
        value.is_some_and(|v| (v - expected).abs() < 1e-12)
    }

    #[test]
    fn two_class_measures_match_manual_counts() {
        // 3 true negatives, 1 false positive, 2 false negatives, 4 true positives.
        let truth = [0, 0, 0, 0, 1, 1, 1, 1, 1, 1];
        let guess = [0, 0, 0, 1, 0, 0, 1, 1, 1, 1];
        let c = Confusion::new(&truth, &guess, &[], 2).unwrap();
        assert!(near(c.accuracy(), 0.7) && near(c.error(), 0.3));
        assert!(near(c.recall(1), 4.0 / 6.0) && near(c.recall(0), 0.75));
        assert!(near(c.precision(1), 0.8) && near(c.precision(0), 0.6));
        assert!(near(c.f1(1), 8.0 / 11.0) && near(c.f1_macro(), 4.0 / 11.0 + 3.0 / 9.0));
        assert!(near(c.g_means(), 0.5_f64.sqrt()));
        assert!(near(c.mcc(), (4.0 * 3.0 - 1.0 * 2.0) / (5.0_f64 * 6.0 * 4.0 * 5.0).sqrt()));
    }

    #[test]
    fn three_class_measures_match_manual_counts() {
        let c = Confusion::new(&[0, 0, 1, 1, 2, 2], &[0, 1, 1, 1, 2, 0], &[], 3).unwrap();
        assert!(near(c.accuracy(), 4.0 / 6.0) && near(c.recall_macro(), 2.0 / 3.0));
        assert!(near(c.precision_macro(), (0.5 + 2.0 / 3.0 + 1.0) / 3.0));
        assert!(near(c.g_means(), 0.25_f64.cbrt()));
        // (4·6 − (2·2 + 3·2 + 1·2)) / √((36 − 14)(36 − 12))
        assert!(near(c.mcc(), 12.0 / (22.0_f64 * 24.0).sqrt()));
        let weighted = Confusion::new(&[0, 1], &[0, 0], &[3.0, 1.0], 2).unwrap();
        assert!(near(weighted.accuracy(), 0.75));
    }

    #[test]
    fn probability_scores_match_manual_values() {
        assert!(near(brier(&[0.8, 0.3], &[true, false]), 0.065));
        assert!(near(log_loss(&[0.8, 0.3], &[true, false]), -(0.8_f64.ln() + 0.7_f64.ln()) / 2.0));
        assert!(near(log_loss_multi(&[0.2, 0.3, 0.5], &[2], 3), -(0.5_f64.ln())));
        assert!(near(brier_multi(&[0.2, 0.3, 0.5], &[2], 3), 0.04 + 0.09 + 0.25));
        assert!(log_loss(&[0.0], &[true]).is_some_and(f64::is_finite));
    }

    #[test]
    fn undefined_measures_are_none() {
        let c = Confusion::new(&[1, 1], &[1, 1], &[], 2).unwrap();
        assert!(near(c.accuracy(), 1.0));
        assert_eq!([c.mcc(), c.g_means(), c.recall(0), c.precision(0), c.f1_macro()], [None; 5]);
        assert_eq!(Confusion::new(&[], &[], &[], 2).unwrap().accuracy(), None);
        assert_eq!(Confusion::new(&[0], &[0, 1], &[], 2), None);
        assert_eq!(Confusion::new(&[0], &[2], &[], 2), None);
        assert_eq!(Confusion::new(&[0], &[1], &[-1.0], 2), None);
        assert_eq!(auc(&[1.0, 2.0], &[true, true], &[]), None);
        assert_eq!(auc(&[f64::NAN, 2.0], &[true, false], &[]), None);
        assert_eq!(
            [prbep(&[1.0], &[false]), prbep(&[], &[]), brier(&[], &[]), brier(&[2.0], &[true])],
            [None; 4]
        );
        assert_eq!(auc_macro(&[], &[], 0, &[]), None);
    }

    #[test]
    fn g_means_of_a_constant_prediction_is_zero() {
        for answer in [0, 1] {
            let confusion = Confusion::new(&[0, 1, 1, 0, 1], &[answer; 5], &[], 2).unwrap();
            assert_eq!(confusion.g_means(), Some(0.0));
        }
    }
}
