//! Class shares among unlabeled rows, estimated from the counts of few labels.
//!
//! Problem: the counts of few labels are a bad estimate of class shares. With 30 labels of ten classes they are wrong
//! by 18 % of the rows, equal shares by 6 % (total variation distance, mean over the image and text sets of
//! `research/few_labels`). An estimator that enforces such shares gives these rows to a wrong class, and held-out
//! labels, which come from the same sample, do not reveal it.
//!
//! Method: the shares have a symmetric Dirichlet prior of unknown concentration α. Its posterior mean (nₖ + α)/(n + Kα)
//! is averaged over a grid of α, weighted by the likelihood of the counts (Dirichlet-multinomial). Counts that differ
//! no more than those of a random sample of equal classes move far towards equal shares; counts that differ more stay
//! almost unchanged, and so do those of many labels.

/// Concentrations in the average.
const CONCENTRATIONS: [f64; 7] = [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0];

/// Number of labels above which counts are not smoothed.
const MAX_SMOOTHED_LABELS: usize = 100_000;

/// Half width of the interval in standard deviations: 90 % of a normal distribution.
const DEVIATIONS: f64 = 1.645;

/// Share of each class from its number of labels. The shares add up to 1 and are above 0.
pub(crate) fn smoothed_shares(counts: &[usize]) -> Vec<f64> {
    let (n, classes) = (counts.iter().sum::<usize>(), counts.len() as f64);
    let share = |count: usize, alpha: f64| (count as f64 + alpha) / (n as f64 + classes * alpha);
    if n > MAX_SMOOTHED_LABELS {
        return counts.iter().map(|&count| share(count, CONCENTRATIONS[0])).collect();
    }
    let rising = |from: f64, steps: usize| (0..steps).map(|t| (from + t as f64).ln()).sum::<f64>();
    let log_likelihood =
        |a: f64| counts.iter().map(|&count| rising(a, count)).sum::<f64>() - rising(classes * a, n);
    let weight = CONCENTRATIONS.map(log_likelihood);
    let largest = weight.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weight = weight.map(|w| (w - largest).exp());
    let total: f64 = weight.iter().sum();
    let mean = |&count: &usize| {
        let sum = CONCENTRATIONS.iter().zip(&weight).map(|(&a, w)| w * share(count, a)).sum::<f64>();
        sum / total
    };
    counts.iter().map(mean).collect()
}

/// Maximum number of labels per class that count as evidence about the shares if the label counts of all classes are
/// (almost) equal.
const BALANCED_LABELS: f64 = 2.0;

/// Number of labels that count as evidence about the shares. If the label counts of all classes differ by at most one,
/// the user most likely chose balanced labels, which carry almost no information about the shares.
pub(crate) fn evidence_of_counts(counts: &[usize]) -> f64 {
    let n = counts.iter().sum::<usize>() as f64;
    let (least, greatest) = (counts.iter().min().copied(), counts.iter().max().copied());
    let balanced = least.zip(greatest).is_some_and(|(least, greatest)| greatest - least <= 1);
    if balanced { n.min(BALANCED_LABELS * counts.len() as f64) } else { n }
}

/// Wilson score interval of a share observed in `n` trials.
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

    fn distance(a: &[f64], b: &[f64]) -> f64 {
        0.5 * a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum::<f64>()
    }

    /// Mean distance from the true shares, of smoothed shares and of counts.
    fn errors(truth: &[f64], labels: usize) -> [f64; 2] {
        let mut rng = Pcg64::seed_from_u64(1);
        let mut sums = [0.0; 2];
        for _ in 0..200 {
            let mut counts = vec![0; truth.len()];
            for _ in 0..labels {
                let mut u: f64 = rng.random();
                let class = truth.iter().position(|p| {
                    u -= p;
                    u < 0.0
                });
                counts[class.unwrap_or(0)] += 1;
            }
            let counted: Vec<f64> = counts.iter().map(|&c| c as f64 / labels as f64).collect();
            sums[0] += distance(&smoothed_shares(&counts), truth) / 200.0;
            sums[1] += distance(&counted, truth) / 200.0;
        }
        sums
    }

    #[test]
    fn smoothed_shares_are_closer_to_the_truth_than_counts() {
        let [equal, counted] = errors(&[0.1; 10], 30);
        assert!(equal < 0.5 * counted, "{equal} {counted}");
        let unequal = [0.4, 0.2, 0.1, 0.1, 0.1, 0.05, 0.05];
        let [smoothed, counted] = errors(&unequal, 30);
        assert!(smoothed < counted, "{smoothed} {counted}");
        // one class has nearly all rows: smoothing neither helps nor harms much
        let [smoothed, counted] = errors(&[0.96, 0.02, 0.01, 0.01], 40);
        assert!(smoothed < counted + 0.02, "{smoothed} {counted}");
    }

    #[test]
    fn balanced_counts_are_little_evidence() {
        assert_eq!(
            [evidence_of_counts(&[10, 10]), evidence_of_counts(&[11, 10]), evidence_of_counts(&[1, 1])],
            [4.0, 4.0, 2.0]
        );
        assert_eq!(
            [evidence_of_counts(&[12, 10]), evidence_of_counts(&[3, 3, 5]), evidence_of_counts(&[])],
            [22.0, 11.0, 0.0]
        );
    }

    #[test]
    fn many_labels_determine_the_shares_and_shares_add_up_to_1() {
        for counts in [vec![0, 0], vec![5, 0, 1], vec![700, 200, 100], vec![400_000, 1, 0]] {
            let shares = smoothed_shares(&counts);
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert!(shares.iter().all(|s| *s > 0.0 && *s < 1.0), "{shares:?}");
        }
        let shares = smoothed_shares(&[700, 200, 100]);
        assert!(distance(&shares, &[0.7, 0.2, 0.1]) < 0.005, "{shares:?}");
        assert_eq!(smoothed_shares(&[3, 3]), [0.5, 0.5]);
    }

    #[test]
    fn wilson_interval_ends_where_the_score_test_just_rejects() {
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
