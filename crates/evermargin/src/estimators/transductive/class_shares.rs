//! Shares of the classes among unlabeled rows, from the scores of any classifier.
//!
//! Problem: the labels are few, and their counts say little about how common a class is. The scores of the unlabeled rows
//! say more, where the classifier separates the classes.
//!
//! Method: expectation-maximization on calibrated scores (Saerens, Latinne & Decaestecker 2002, "Adjusting the outputs of a
//! classifier to new a priori probabilities"). A slope and one intercept per class, fitted by maximum likelihood on labeled
//! rows, turn scores into posteriors P(c | x) under the shares π of the labels. The shares q maximize
//! Σ n_c·ln q_c + w·Σ_x ln Σ_c P(c | x)·q_c/π_c: the counts n of the labels, if they are a random sample, and the unlabeled
//! rows. Scores that separate nothing leave q at the counts.
//!
//! Departure: w is at most `UNLABELED_WEIGHT`·l/u for l labels and u unlabeled rows, because the calibration is no better
//! than the labels it was fitted on. Bounds are the Wilson interval of q for the weight of all rows that say something.

use crate::error::{Error, Result};

/// Weight of all unlabeled rows together, in labels per label.
const UNLABELED_WEIGHT: f64 = 1.0;

/// Standard deviations of the interval: 90 % of a normal distribution.
const DEVIATIONS: f64 = 1.645;

/// Slopes that calibration compares, in units of the median size of a score.
const SLOPES: [f64; 9] = [0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0];

/// Steps of the intercepts for one slope.
const MAX_INTERCEPT_STEPS: usize = 40;

/// Steps of expectation-maximization.
const MAX_EM_STEPS: usize = 300;

/// Largest change of a share at which expectation-maximization ends.
const EM_TOLERANCE: f64 = 1e-7;

/// Scores of labeled and unlabeled rows, row major, one per class.
#[derive(Debug, Clone, Copy)]
pub struct ShareEvidence<'a> {
    /// Number of classes, 2 or more.
    pub classes: usize,
    /// The class of each labeled row.
    pub labels: &'a [usize],
    /// Scores of the labeled rows, each by a classifier that did not see the label of that row.
    pub labeled: &'a [f64],
    /// Scores of the unlabeled rows.
    pub unlabeled: &'a [f64],
    /// Whether the labels are a random sample of the rows, so that their counts are evidence about the shares.
    pub random_labels: bool,
}

/// The share of each class with a 90 % interval.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassShares {
    /// The most likely shares; they add up to 1.
    pub share: Vec<f64>,
    /// Lower ends of the intervals.
    pub low: Vec<f64>,
    /// Upper ends of the intervals.
    pub high: Vec<f64>,
}

impl ClassShares {
    /// The shares of counted labels.
    pub fn of_counts(counts: &[usize]) -> Self {
        let n = counts.iter().sum::<usize>().max(1) as f64;
        Self::around(counts.iter().map(|&count| count as f64 / n).collect(), n)
    }

    fn around(share: Vec<f64>, n: f64) -> Self {
        let (low, high) = share.iter().map(|&s| wilson(s, n)).unzip();
        Self { share, low, high }
    }
}

/// Estimates the share of each class among the unlabeled rows.
pub fn class_shares(evidence: &ShareEvidence<'_>) -> Result<ClassShares> {
    evidence.check()?;
    let ShareEvidence { classes, labels, .. } = *evidence;
    let mut counts = vec![0usize; classes];
    labels.iter().for_each(|&c| counts[c] += 1);
    let unlabeled = evidence.unlabeled.len() / classes;
    if unlabeled == 0 || labels.is_empty() {
        return Ok(ClassShares::of_counts(&counts));
    }
    let calibration = Calibration::fit(evidence, &counts);
    let posterior: Vec<f64> =
        evidence.unlabeled.chunks_exact(classes).flat_map(|s| calibration.posterior(s)).collect();
    let l = labels.len() as f64;
    let prior: Vec<f64> = counts.iter().map(|&n| (n as f64 + 0.5) / (l + 0.5 * classes as f64)).collect();
    let weight = (UNLABELED_WEIGHT * l / unlabeled as f64).min(1.0);
    // half a label per class keeps the shares inside where the counts do not speak
    let known: Vec<f64> =
        counts.iter().map(|&n| if evidence.random_labels { n as f64 } else { 0.0 } + 0.5).collect();
    let total = known.iter().sum::<f64>() + weight * unlabeled as f64;
    let mut share = prior.clone();
    let mut responsibility = vec![0.0; classes];
    for _ in 0..MAX_EM_STEPS {
        let mut next = known.clone();
        for p in posterior.chunks_exact(classes) {
            for (c, r) in responsibility.iter_mut().enumerate() {
                *r = p[c] * share[c] / prior[c];
            }
            let sum: f64 = responsibility.iter().sum();
            if sum > 0.0 {
                next.iter_mut().zip(&responsibility).for_each(|(n, r)| *n += weight * r / sum);
            } else {
                next.iter_mut().zip(&share).for_each(|(n, q)| *n += weight * q);
            }
        }
        next.iter_mut().for_each(|q| *q /= total);
        let change = next.iter().zip(&share).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        share = next;
        if change < EM_TOLERANCE {
            break;
        }
    }
    let sum: f64 = share.iter().sum();
    share.iter_mut().for_each(|q| *q /= sum);
    let sharp = sharpness(&posterior, classes);
    let counted = if evidence.random_labels { l } else { 0.0 };
    Ok(ClassShares::around(share, (counted + sharp * weight * unlabeled as f64).max(1.0)))
}

impl ShareEvidence<'_> {
    fn check(&self) -> Result<()> {
        let Self { classes, labels, labeled, unlabeled, .. } = *self;
        if classes < 2 {
            return Err(Error::Data(format!("shares need 2 or more classes, not {classes}")));
        }
        if labels.iter().any(|c| *c >= classes) {
            return Err(Error::Data(format!("a label is beyond the {classes} classes")));
        }
        if labeled.len() != labels.len() * classes || unlabeled.len() % classes != 0 {
            return Err(Error::Data(format!("scores need {classes} values per row")));
        }
        if labeled.iter().chain(unlabeled).any(|s| !s.is_finite()) {
            return Err(Error::Data("scores must be finite".into()));
        }
        Ok(())
    }
}

/// Softmax of slope·score + intercept.
struct Calibration {
    slope: f64,
    intercept: Vec<f64>,
}

impl Calibration {
    /// The slope and intercepts with the lowest penalized log-loss on labeled rows. The penalty is that of a normal
    /// distribution of the logarithm of the slope, and of half a label of each class.
    fn fit(evidence: &ShareEvidence<'_>, counts: &[usize]) -> Self {
        let scale = median_size(evidence.unlabeled, evidence.classes);
        let rows = || evidence.labeled.chunks_exact(evidence.classes);
        let mut best: Option<(f64, Self)> = None;
        for slope in SLOPES {
            let mut fit = Self { slope: slope / scale, intercept: vec![0.0; evidence.classes] };
            for _ in 0..MAX_INTERCEPT_STEPS {
                let mut mass = vec![0.5; evidence.classes];
                rows().for_each(|s| {
                    mass.iter_mut().zip(fit.posterior(s)).for_each(|(m, p)| *m += p);
                });
                let steps = counts.iter().zip(&mass).map(|(&n, m)| ((n as f64 + 0.5) / m).ln());
                fit.intercept.iter_mut().zip(steps).for_each(|(b, step)| *b += step);
            }
            let loss: f64 =
                rows().zip(evidence.labels).map(|(s, &c)| -fit.posterior(s)[c].max(1e-9).ln()).sum();
            let penalized = loss + 0.5 * slope.ln().powi(2);
            if best.as_ref().is_none_or(|(lowest, _)| penalized < *lowest) {
                best = Some((penalized, fit));
            }
        }
        best.map_or_else(|| Self { slope: 1.0, intercept: vec![0.0; evidence.classes] }, |(_, fit)| fit)
    }

    fn posterior(&self, scores: &[f64]) -> Vec<f64> {
        let z = |(s, b): (&f64, &f64)| self.slope * s + b;
        let max = scores.iter().zip(&self.intercept).map(z).fold(f64::NEG_INFINITY, f64::max);
        let power: Vec<f64> = scores.iter().zip(&self.intercept).map(|pair| (z(pair) - max).exp()).collect();
        let sum: f64 = power.iter().sum();
        power.into_iter().map(|p| p / sum).collect()
    }
}

/// Median distance of a score from the mean of its row; 1 where all are equal.
fn median_size(scores: &[f64], classes: usize) -> f64 {
    let mut sizes: Vec<f64> = Vec::with_capacity(scores.len());
    for row in scores.chunks_exact(classes) {
        let mean = row.iter().sum::<f64>() / classes as f64;
        sizes.extend(row.iter().map(|s| (s - mean).abs()));
    }
    let middle = sizes.len() / 2;
    let (_, &mut median, _) = sizes.select_nth_unstable_by(middle, f64::total_cmp);
    if median > 0.0 && median.is_finite() { median } else { 1.0 }
}

/// How sure the posteriors are: 1 − mean Gini impurity over that of equal shares, 0 to 1.
fn sharpness(posterior: &[f64], classes: usize) -> f64 {
    let rows = (posterior.len() / classes) as f64;
    let impurity = 1.0 - posterior.iter().map(|p| p * p).sum::<f64>() / rows;
    (1.0 - impurity / (1.0 - 1.0 / classes as f64)).clamp(0.0, 1.0)
}

/// The Wilson score interval of a share seen in `n` trials.
pub(crate) fn wilson(share: f64, n: f64) -> (f64, f64) {
    let z2 = DEVIATIONS * DEVIATIONS;
    let center = (share + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = DEVIATIONS / (1.0 + z2 / n) * (share * (1.0 - share) / n + z2 / (4.0 * n * n)).sqrt();
    ((center - half).max(0.0), (center + half).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    /// Scores of rows of two classes, normal around ±1 with this deviation, `share` of them of the second class.
    fn normal_scores(rows: usize, share: f64, deviation: f64, rng: &mut Pcg64) -> (Vec<usize>, Vec<f64>) {
        let labels: Vec<usize> = (0..rows).map(|_| usize::from(rng.random::<f64>() < share)).collect();
        let mut normal = || {
            let (u, v): (f64, f64) = (rng.random::<f64>().max(1e-300), rng.random());
            (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
        };
        let scores = labels
            .iter()
            .flat_map(|&c| {
                let f = if c == 1 { 1.0 } else { -1.0 } + deviation * normal();
                [-f, f]
            })
            .collect();
        (labels, scores)
    }

    #[test]
    fn scores_move_the_shares_from_those_of_chosen_labels_to_the_true_ones() {
        let mut rng = Pcg64::seed_from_u64(1);
        for truth in [0.1, 0.3, 0.8] {
            let (labels, labeled) = normal_scores(60, 0.5, 0.5, &mut rng);
            let (_, unlabeled) = normal_scores(3000, truth, 0.5, &mut rng);
            let evidence = ShareEvidence {
                classes: 2,
                labels: &labels,
                labeled: &labeled,
                unlabeled: &unlabeled,
                random_labels: false,
            };
            let found = class_shares(&evidence).unwrap();
            assert!((found.share[1] - truth).abs() < 0.05, "{truth}: {found:?}");
            assert!(found.low[1] <= truth && truth <= found.high[1], "{truth}: {found:?}");
            assert!((found.share.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn random_labels_and_scores_are_nearer_to_the_truth_than_counts() {
        let mut rng = Pcg64::seed_from_u64(2);
        let (mut by_counts, mut by_scores) = (0.0, 0.0);
        for _ in 0..50 {
            let (labels, labeled) = normal_scores(20, 0.3, 0.8, &mut rng);
            let (_, unlabeled) = normal_scores(500, 0.3, 0.8, &mut rng);
            let evidence = ShareEvidence {
                classes: 2,
                labels: &labels,
                labeled: &labeled,
                unlabeled: &unlabeled,
                random_labels: true,
            };
            by_scores += (class_shares(&evidence).unwrap().share[1] - 0.3).abs();
            let positive = labels.iter().filter(|c| **c == 1).count();
            by_counts += (ClassShares::of_counts(&[20 - positive, positive]).share[1] - 0.3).abs();
        }
        assert!(by_scores < 0.8 * by_counts, "{by_scores} {by_counts}");
    }

    #[test]
    fn scores_that_separate_nothing_leave_the_counts() {
        let mut rng = Pcg64::seed_from_u64(3);
        let labels: Vec<usize> = (0..40).map(|i| usize::from(i % 4 == 0)).collect();
        let (_, labeled) = normal_scores(40, 0.5, 1.0, &mut rng);
        let (_, unlabeled) = normal_scores(1000, 0.5, 1.0, &mut rng);
        let evidence = ShareEvidence {
            classes: 2,
            labels: &labels,
            labeled: &labeled,
            unlabeled: &unlabeled,
            random_labels: true,
        };
        let found = class_shares(&evidence).unwrap();
        assert!((found.share[1] - 0.25).abs() < 0.06, "{found:?}");
    }

    #[test]
    fn refuses_scores_of_another_length_and_scores_that_are_not_finite() {
        let good = ShareEvidence {
            classes: 2,
            labels: &[0, 1],
            labeled: &[1.0, -1.0, -1.0, 1.0],
            unlabeled: &[0.5, -0.5],
            random_labels: true,
        };
        assert!(class_shares(&good).is_ok());
        assert!(class_shares(&ShareEvidence { labeled: &[1.0], ..good }).is_err());
        assert!(class_shares(&ShareEvidence { unlabeled: &[1.0], ..good }).is_err());
        assert!(class_shares(&ShareEvidence { labels: &[0, 2], ..good }).is_err());
        assert!(class_shares(&ShareEvidence { unlabeled: &[f64::NAN, 0.0], ..good }).is_err());
        assert!(class_shares(&ShareEvidence { classes: 1, ..good }).is_err());
        let counted = class_shares(&ShareEvidence { unlabeled: &[], ..good }).unwrap();
        assert_eq!(counted, ClassShares::of_counts(&[1, 1]));
    }

    #[test]
    fn the_ends_of_an_interval_are_where_the_score_test_just_rejects() {
        for (share, n) in [(0.4, 20.0), (0.0, 5.0), (0.9, 100.0)] {
            let (low, high) = wilson(share, n);
            assert!(low <= share && share <= high);
            for end in [low, high].into_iter().filter(|end| *end > 1e-9) {
                let z2 = (share - end).powi(2) / (end * (1.0 - end) / n);
                assert!((z2 - DEVIATIONS * DEVIATIONS).abs() < 1e-9, "{share} of {n}: {z2} at {end}");
            }
        }
    }
}
