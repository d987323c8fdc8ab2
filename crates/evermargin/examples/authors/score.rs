//! Quality of predictions about pairs and clusters of records.

use evermargin::metrics::Confusion;

/// Scores of one block, fractions in [0, 1].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Scores {
    /// Fraction of wrongly predicted pairs, before clustering.
    pub error: f64,
    /// F1 of "same author" over pairs, before clustering.
    pub f1: f64,
    /// F1 of "same cluster" over pairs, after clustering.
    pub cluster_f1: f64,
    /// B-cubed F1 of the clusters.
    pub b_cubed: f64,
}

impl Scores {
    /// The mean over several blocks with equal weights.
    pub fn mean(all: &[Self]) -> Self {
        let mean = |of: fn(&Self) -> f64| all.iter().map(of).sum::<f64>() / all.len().max(1) as f64;
        Self {
            error: mean(|s| s.error),
            f1: mean(|s| s.f1),
            cluster_f1: mean(|s| s.cluster_f1),
            b_cubed: mean(|s| s.b_cubed),
        }
    }
}

/// Whether the records of each pair have the same label, in the order (0,1), (0,2), …, (1,2), …
pub fn same(label: &[usize]) -> Vec<bool> {
    let n = label.len();
    (0..n).flat_map(|i| (i + 1..n).map(move |j| label[i] == label[j])).collect()
}

/// Error and F1 of predictions about pairs; F1 is 1 if there are no positive pairs and no positive predictions.
pub fn pairwise(truth: &[bool], predicted: &[bool]) -> (f64, f64) {
    let class = |pairs: &[bool]| pairs.iter().map(|&p| u32::from(p)).collect::<Vec<_>>();
    let confusion = Confusion::new(&class(truth), &class(predicted), &[], 2);
    let of = |f: fn(&Confusion) -> Option<f64>| confusion.as_ref().and_then(f);
    (of(Confusion::error).unwrap_or(0.0), of(|c| c.f1(1)).unwrap_or(1.0))
}

/// B-cubed F1 (Bagga & Baldwin 1998): for each record the fraction of its cluster that has its author, and the fraction
/// of its author's records that are in its cluster; the harmonic mean of the two means.
pub fn b_cubed(truth: &[usize], cluster: &[usize]) -> f64 {
    let n = truth.len();
    let (mut precision, mut recall) = (0.0, 0.0);
    for i in 0..n {
        let count = |of: &dyn Fn(usize) -> bool| (0..n).filter(|&j| of(j)).count() as f64;
        let both = count(&|j| truth[i] == truth[j] && cluster[i] == cluster[j]);
        precision += both / count(&|j| cluster[i] == cluster[j]);
        recall += both / count(&|j| truth[i] == truth[j]);
    }
    if n == 0 { 1.0 } else { 2.0 * precision * recall / (precision + recall) / n as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairwise_scores_match_manual_values() {
        let truth = same(&[0, 0, 0, 1]); // pairs 01 02 03 12 13 23
        assert_eq!(truth, [true, true, false, true, false, false]);
        let predicted = same(&[0, 0, 1, 1]);
        // one pair correct, one false positive (23), two missed: 3 of 6 wrong, F1 = 2·1/(2 + 3)
        assert_eq!(pairwise(&truth, &predicted), (0.5, 0.4));
        assert_eq!(pairwise(&same(&[0, 1]), &same(&[0, 1])), (0.0, 1.0));
    }

    #[test]
    fn b_cubed_matches_manual_values() {
        // precision: 1, 1, 1/2, 1/2; recall: 2/3, 2/3, 1/3, 1
        let (p, r) = (3.0 / 4.0, 8.0 / 12.0);
        assert!((b_cubed(&[0, 0, 0, 1], &[0, 0, 1, 1]) - 2.0 * p * r / (p + r)).abs() < 1e-12);
        assert_eq!(b_cubed(&[0, 0, 1], &[5, 5, 2]), 1.0);
        assert_eq!(b_cubed(&[], &[]), 1.0);
        // singletons: precision 1, recall 1/2
        assert!((b_cubed(&[0, 0], &[0, 1]) - 2.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn mean_weights_blocks_equally() {
        let a = Scores { error: 0.2, f1: 1.0, cluster_f1: 0.5, b_cubed: 0.0 };
        let b = Scores { error: 0.4, f1: 0.5, cluster_f1: 0.5, b_cubed: 1.0 };
        let m = Scores::mean(&[a, b]);
        assert!((m.error - 0.3).abs() < 1e-12 && m.f1 == 0.75 && m.cluster_f1 == 0.5 && m.b_cubed == 0.5);
    }
}
