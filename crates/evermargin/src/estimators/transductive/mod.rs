//! Semi-supervised estimators, which learn from few labels and many unlabeled rows.
//!
//! A two-class problem is split into labeled and unlabeled rows ([`FewLabels`]); the share of positives among the
//! unlabeled rows is given, taken from the labels or estimated ([`Ratio`]). An estimator returns a model like every
//! other, and in addition a score for each training row ([`Transduced`]), which gives the inferred labels.

mod active_columns;
pub mod annealing;
mod annealing_step;
pub mod bnb;
pub mod cccp;
pub(crate) mod class_shares;
pub mod da;
mod default_lambda;
pub mod grad_tsvm;
mod kernel_features;
pub mod label_propagation;
pub mod linear;
pub mod linear_da;
pub mod linear_tsvm;
pub mod qp;
pub mod ratio;
pub(crate) mod s3vm;
pub mod submod;
pub mod tsvm;

pub use annealing_step::Margin;
pub use ratio::{Estimate, estimate_ratio, estimate_ratio_on};

use super::Targets;
use crate::data::{Label, MatrixView};
use crate::error::{Error, Result};
use crate::params::{ParamValue, ParamValues};
use crate::solver::Watch;
use class_shares::smoothed_shares;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The labels that an estimator inferred for its training rows.
#[derive(Debug, Clone, Default)]
pub struct Transduced {
    /// One vector per problem with one score per row: above 0 means [`Label::Pos`]. With several problems (one per
    /// class), the class with the largest score is predicted. 1 is the edge of the margin, as in a decision function.
    pub scores: Vec<Vec<f64>>,
    /// Target share of positives among the unlabeled rows, one per problem.
    pub ratio: Vec<f64>,
    /// Further results for reports and programs.
    pub facts: ParamValues,
    /// Result of the labels alone, if the estimator compared itself with it.
    pub alone: Option<SupervisedAnswer>,
}

/// Result of training on the labels alone, computed by an estimator that compares itself with it.
#[derive(Debug, Clone)]
pub struct SupervisedAnswer {
    /// Scores as in [`Transduced`].
    pub scores: Vec<Vec<f64>>,
    /// Fraction of held-out labels predicted correctly from labels alone, and with the unlabeled rows.
    pub cross_validated: Option<[f64; 2]>,
    /// Number of folds of that cross-validation.
    pub folds: usize,
}

/// Facts of all problems: those of a single problem as they are, those of several in a list.
pub(crate) fn facts_of(mut each: Vec<ParamValues>) -> ParamValues {
    match each.len() {
        1 => each.remove(0),
        _ => ParamValues::from_iter([(
            "problems".to_string(),
            ParamValue::List(each.into_iter().map(ParamValue::Map).collect()),
        )]),
    }
}

/// Share of positives among the unlabeled rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Ratio {
    /// Share among the labeled rows.
    #[default]
    Labels,
    /// Estimated from the data. For more than two classes, and if the data do not allow an estimate, from the smoothed
    /// counts of the labels.
    Auto,
    /// Given: one share for two classes, or one per class in order.
    Given(Vec<f64>),
}

impl Serialize for Ratio {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Self::Labels => serializer.serialize_str("labels"),
            Self::Auto => serializer.serialize_str("auto"),
            Self::Given(shares) if shares.len() == 1 => serializer.serialize_f64(shares[0]),
            Self::Given(shares) => shares.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Ratio {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            One(f64),
            Many(Vec<f64>),
            Word(String),
        }
        match Written::deserialize(deserializer) {
            Ok(Written::One(share)) => Ok(Self::Given(vec![share])),
            // of two classes that of the second says everything
            Ok(Written::Many(shares)) if shares.len() == 2 && (shares[0] + shares[1] - 1.0).abs() < 1e-6 => {
                Ok(Self::Given(vec![shares[1]]))
            }
            Ok(Written::Many(shares)) => Ok(Self::Given(shares)),
            Ok(Written::Word(word)) if word == "labels" => Ok(Self::Labels),
            Ok(Written::Word(word)) if word == "auto" => Ok(Self::Auto),
            _ => Err(serde::de::Error::custom(
                "ratio must be labels, auto, a share between 0 and 1, or one share for each class",
            )),
        }
    }
}

/// A two-class problem with its rows divided into labeled and unlabeled ones.
#[derive(Debug, Clone)]
pub struct FewLabels {
    /// Rows with a label and a positive weight.
    pub labeled: Vec<usize>,
    /// Their labels, −1 or 1.
    pub y: Vec<f64>,
    /// Rows without a label and with a positive weight.
    pub unlabeled: Vec<usize>,
    /// Share of positives among the unlabeled rows.
    pub ratio: f64,
    /// Number of positives among the unlabeled rows that follows from the ratio: at least one and not all if there are
    /// two or more rows.
    pub positives: usize,
    /// Origin of the share: `given`, `labels`, `smoothed labels` or `estimate`.
    pub ratio_from: &'static str,
    /// Prominence of the estimate, 0 to 1, if one was computed (see [`ratio`]); if it is low, the share of the labels
    /// is used.
    pub ratio_confidence: Option<f64>,
}

impl FewLabels {
    /// Splits the rows of every problem. `given` shares are checked against the problems.
    pub fn of(
        x: MatrixView<'_>,
        problems: &[Targets],
        ratio: &Ratio,
        watch: &dyn Watch,
    ) -> Result<Vec<Self>> {
        problems.iter().try_for_each(|p| p.check(x.rows()))?;
        if let Ratio::Given(shares) = ratio {
            check_shares(shares, problems.len())?;
        }
        // one against the rest, the estimate would find the same minimum for every class
        let estimate = match (ratio, problems) {
            (Ratio::Auto, [two]) => Some(estimate_ratio(x, two, watch)?),
            _ => None,
        };
        let of_labels = |y: &[f64]| y.iter().filter(|y| **y > 0.0).count() as f64 / y.len() as f64;
        let smoothed = smoothed_label_shares(problems);
        let found = estimate.as_ref().and_then(|e| Some((e.share?, e.confidence)));
        let share = |j: usize, y: &[f64]| match (ratio, found) {
            (Ratio::Given(shares), _) => (shares[j], "given"),
            (_, Some((share, confidence))) => {
                (with_labels(share, confidence, smoothed[j], counted_labels(&problems[j])), "estimate")
            }
            (Ratio::Auto, None) => (smoothed[j], "smoothed labels"),
            (Ratio::Labels, None) => (of_labels(y), "labels"),
        };
        let ratio_confidence = estimate.as_ref().map(|e| e.confidence);
        let one = |(j, targets): (usize, &Targets)| {
            let labeled = targets.used();
            let y: Vec<f64> = labeled.iter().map(|&i| targets.y[i].sign()).collect();
            let open = |&i: &usize| targets.y[i] == Label::Unknown && targets.cost[i] > 0.0;
            let unlabeled: Vec<usize> = (0..x.rows()).filter(open).collect();
            let (ratio, ratio_from) = share(j, &y);
            let positives = positives(ratio, unlabeled.len());
            Self { labeled, y, unlabeled, ratio, positives, ratio_from, ratio_confidence }
        };
        Ok(problems.iter().enumerate().map(one).collect())
    }

    /// Changes the share of positives.
    pub fn set_ratio(&mut self, ratio: f64) {
        self.ratio = ratio;
        self.positives = positives(ratio, self.unlabeled.len());
    }

    /// Origin of the share, for [`Transduced::facts`]; the same for all problems.
    pub fn facts(&self) -> ParamValues {
        let mut facts = ParamValues::from_iter([("ratio_from".to_string(), self.ratio_from.into())]);
        if let Some(confidence) = self.ratio_confidence {
            facts.insert("ratio_confidence".into(), confidence.into());
        }
        facts
    }
}

/// Number of labels that an estimate from the structure of the rows is worth, per c/(1 − c) of its confidence c. On the
/// two-class sets used to choose settings, the mean error is 5.4 points; it is 7.8 for the estimate alone and 5.9 for
/// the counts.
const ESTIMATE_LABELS: f64 = 10.0;

/// Combines an estimated share with that of `labels` labels: with few labels the estimate dominates, with many the
/// labels.
pub(crate) fn with_labels(estimate: f64, confidence: f64, share_of_labels: f64, labels: f64) -> f64 {
    if confidence >= 1.0 {
        return estimate;
    }
    let worth = ESTIMATE_LABELS * confidence / (1.0 - confidence);
    (labels * share_of_labels + worth * estimate) / (labels + worth)
}

/// Number of labels of a problem, as far as their counts are evidence about its share.
pub(crate) fn counted_labels(problem: &Targets) -> f64 {
    let used = problem.used();
    let positives = used.iter().filter(|&&i| problem.y[i] == Label::Pos).count();
    class_shares::evidence_of_counts(&[used.len() - positives, positives])
}

/// Share of positives of each problem from the smoothed counts of its labels: for classes against the rest, from the
/// positives of all problems together; otherwise from the two classes of the problem.
pub(crate) fn smoothed_label_shares(problems: &[Targets]) -> Vec<f64> {
    let used: Vec<Vec<usize>> = problems.iter().map(Targets::used).collect();
    let positives: Vec<usize> = problems
        .iter()
        .zip(&used)
        .map(|(p, used)| used.iter().filter(|&&i| p.y[i] == Label::Pos).count())
        .collect();
    let one_against_rest = problems.len() > 2
        && used.iter().all(|u| *u == used[0])
        && used[0].iter().all(|&i| problems.iter().filter(|p| p.y[i] == Label::Pos).count() == 1);
    if one_against_rest {
        return smoothed_shares(&positives);
    }
    positives.iter().zip(&used).map(|(&p, used)| smoothed_shares(&[used.len() - p, p])[1]).collect()
}

/// round(ratio·n), but at least one and not all of two or more.
fn positives(ratio: f64, n: usize) -> usize {
    let k = (ratio * n as f64 + 0.5).floor() as usize;
    if n >= 2 { k.clamp(1, n - 1) } else { k.min(n) }
}

/// Checks the shares: one for two classes, one per class for more; between 0 and 1, and for several classes with sum 1.
pub(super) fn check_shares(shares: &[f64], problems: usize) -> Result<()> {
    let written = || shares.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
    if shares.iter().any(|r| !(*r > 0.0 && *r < 1.0)) {
        return Err(Error::parameter("ratio", written(), "between 0 and 1 (both excluded)"));
    }
    if shares.len() != problems {
        let what = if problems == 1 {
            "one share, of the second class,".into()
        } else {
            format!("{problems} shares")
        };
        return Err(Error::parameter(
            "ratio",
            written(),
            format!("labels, auto or {what} for these classes"),
        ));
    }
    if problems > 1 && (shares.iter().sum::<f64>() - 1.0).abs() > 1e-6 {
        return Err(Error::parameter("ratio", written(), "shares that add up to 1"));
    }
    Ok(())
}

/// Marks the rows with the `k` largest scores; ties go to the lower row.
pub fn largest(scores: &[f64], k: usize) -> Vec<bool> {
    if k == 0 || k >= scores.len() {
        return vec![k > 0; scores.len()];
    }
    let mut values = scores.to_vec();
    let (_, &mut least, _) = values.select_nth_unstable_by(k - 1, |a, b| b.total_cmp(a));
    let mut marks: Vec<bool> = scores.iter().map(|s| s.total_cmp(&least).is_gt()).collect();
    let left = k - marks.iter().filter(|m| **m).count();
    let ties = (0..scores.len()).filter(|&i| scores[i].total_cmp(&least).is_eq());
    ties.take(left).collect::<Vec<_>>().into_iter().for_each(|i| marks[i] = true);
    marks
}

/// Midpoint between the lowest score of a positive and the highest of a negative; if all are on one side, a value that
/// separates them from 0.
pub(crate) fn middle(scores: impl Iterator<Item = f64>, positive: &[bool]) -> f64 {
    let (mut lowest, mut highest) = (f64::INFINITY, f64::NEG_INFINITY);
    for (s, p) in scores.zip(positive) {
        if *p { lowest = lowest.min(s) } else { highest = highest.max(s) }
    }
    match (lowest.is_finite(), highest.is_finite()) {
        (true, true) => f64::midpoint(lowest, highest),
        (true, false) => lowest.min(0.0),
        (false, true) => highest.max(0.0),
        (false, false) => 0.0,
    }
}

/// Subtracts the midpoint between the lowest positive and the highest negative score, and gives every score the sign of
/// its mark.
pub fn center(scores: &mut [f64], positive: &[bool]) {
    let middle = middle(scores.iter().copied(), positive);
    for (s, p) in scores.iter_mut().zip(positive) {
        let shifted = *s - middle;
        *s = if *p { shifted.max(f64::MIN_POSITIVE) } else { shifted.min(0.0) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratio_is_read_from_words_numbers_and_lists() {
        let read = |value: ParamValue| Ratio::deserialize(value);
        assert_eq!(read("labels".into()).unwrap(), Ratio::Labels);
        assert_eq!(read("auto".into()).unwrap(), Ratio::Auto);
        assert_eq!(read(0.25.into()).unwrap(), Ratio::Given(vec![0.25]));
        assert_eq!(read(vec![0.25, 0.75].into()).unwrap(), Ratio::Given(vec![0.75]));
        assert_eq!(read(vec![0.2, 0.3, 0.5].into()).unwrap(), Ratio::Given(vec![0.2, 0.3, 0.5]));
        assert!(read("half".into()).unwrap_err().to_string().contains("labels, auto"));
    }

    #[test]
    fn checks_shares_against_the_number_of_classes() {
        assert!(check_shares(&[0.5], 1).is_ok());
        assert!(check_shares(&[0.2, 0.3, 0.5], 3).is_ok());
        for (shares, problems) in
            [(vec![0.0], 1), (vec![1.0], 1), (vec![f64::NAN], 1), (vec![0.5], 3), (vec![0.5; 3], 3)]
        {
            assert!(check_shares(&shares, problems).is_err(), "{shares:?}");
        }
    }

    #[test]
    fn number_of_positives_leaves_both_classes_nonempty() {
        assert_eq!(
            [positives(0.5, 0), positives(0.4, 1), positives(0.01, 10), positives(0.99, 10)],
            [0, 0, 1, 9]
        );
        assert_eq!(positives(0.25, 10), 3);
    }

    #[test]
    fn marks_the_largest_scores_and_centers_them_by_their_marks() {
        let mut scores = vec![1.0, 3.0, 3.0, 2.0, -1.0];
        let marks = largest(&scores, 2);
        assert_eq!(marks, [false, true, true, false, false]);
        assert_eq!(largest(&[1.0; 4], 2), [true, true, false, false]);
        assert_eq!(largest(&[1.0; 2], 5), [true, true]);
        center(&mut scores, &marks);
        assert_eq!(scores, [-1.5, 0.5, 0.5, -0.5, -3.5]);
        let mut tied = vec![1.0; 3];
        center(&mut tied, &[true, false, false]);
        assert!(tied[0] > 0.0 && tied[1] <= 0.0 && tied[2] <= 0.0);
    }
}
