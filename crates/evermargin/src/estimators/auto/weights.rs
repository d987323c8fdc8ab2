//! Weights of the candidates, and the expected accuracy of their combination.
//!
//! weight ∝ prior/members · exp(−η·l·loss + φ·(stability, agreement and cut)), where members is the number of
//! candidates in the family, l the number of labels, loss the mean of log-loss plus error on held-out labels, and φ =
//! min(1, 3k/l)² for k classes. With one or two labels per class, held-out labels hardly show which candidate is best
//! (their correlation with the true accuracy was −0.1 on the data sets on which the settings were chosen; that of the
//! cut −0.35, of agreement 0.24), so label-free evidence and the priors decide. Both fade as the number of labels
//! grows: each prior changes from its value for few labels to that for many as priorᶠᵉʷ^φ · priorᵐᵃⁿʸ^(1−φ).

use super::Judged;

/// η: rate at which the weight of a candidate decreases with its loss, per label.
pub(super) const EVIDENCE_RATE: f64 = 0.5;

/// Maximum number of labels that count in the weights.
const MAX_COUNTED_LABELS: usize = 100;

/// Number of labels per class up to which label-free evidence counts in full.
const FEW_PER_CLASS: f64 = 3.0;

/// Rate at which the weight increases with stability, with few labels.
const STABILITY_RATE: f64 = 9.0;

/// Rate at which the weight increases with agreement, with few labels.
const AGREEMENT_RATE: f64 = 5.0;

/// Rate at which the weight decreases with the cut, with few labels.
const CUT_RATE: f64 = 15.0;

/// φ: influence of label-free evidence, 1 for few labels per class and near 0 for many.
pub(super) fn fading(labels: usize, classes: usize) -> f64 {
    (FEW_PER_CLASS * classes as f64 / labels.max(1) as f64).min(1.0).powi(2)
}

/// Sets the weights of the candidates; they add up to 1.
pub(super) fn weigh(judged: &mut [Judged], labels: usize, classes: usize) {
    let losses: Vec<Option<f64>> =
        judged.iter().map(|j| j.evidence.as_ref().map(|e| e.log_loss + e.error)).collect();
    let weights = weights(judged, &losses, labels, classes);
    judged.iter_mut().zip(weights).for_each(|(j, w)| j.weight = w);
}

/// Weights for given losses. A candidate without a loss has that of the worst candidate, if any candidate has a loss.
fn weights(judged: &[Judged], losses: &[Option<f64>], labels: usize, classes: usize) -> Vec<f64> {
    let fading = fading(labels, classes);
    let lowest = losses.iter().flatten().copied().fold(f64::INFINITY, f64::min);
    let worst = losses.iter().flatten().copied().fold(lowest, f64::max);
    let any = losses.iter().any(Option::is_some);
    let rate = EVIDENCE_RATE * labels.min(MAX_COUNTED_LABELS) as f64;
    let stability = |j: &Judged| j.evidence.as_ref().map(|e| e.stability);
    let highest = judged.iter().filter_map(stability).fold(0.0, f64::max);
    let least_stable = judged.iter().filter_map(stability).fold(highest, f64::min);
    let exponent = |(j, loss): (&Judged, &Option<f64>)| {
        let label_free = STABILITY_RATE * (stability(j).unwrap_or(least_stable) - highest)
            + AGREEMENT_RATE * j.label_free.agreement
            - CUT_RATE * j.label_free.cut;
        let loss = if any { loss.unwrap_or(worst) - lowest } else { 0.0 };
        -rate * loss + fading * label_free
    };
    let exponents: Vec<f64> = judged.iter().zip(losses).map(exponent).collect();
    let largest = exponents.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let members = |family: &str| judged.iter().filter(|j| j.candidate.family == family).count() as f64;
    let raw: Vec<f64> = judged
        .iter()
        .zip(&exponents)
        .map(|(j, e)| j.candidate.prior.at(fading) / members(j.candidate.family) * (e - largest).exp())
        .collect();
    let sum: f64 = raw.iter().sum();
    raw.into_iter().map(|w| w / sum).collect()
}

/// Expected accuracy of the combination. Each held-out label is predicted with weights that were computed without it,
/// because otherwise the estimate is optimistic by 3 to 6 points with 20 labels. Half a correct and half a wrong label
/// are added, so that the estimate from few labels is never 100 %.
pub(super) fn expected_accuracy(judged: &[Judged], labels: usize, classes: usize) -> Option<f64> {
    // only the first split is common to all candidates; candidates without held-out labels are omitted
    let with = || judged.iter().filter_map(|j| j.evidence.as_ref());
    let length = with().map(|e| e.held().len()).min()?;
    let loss = |(class, p): &(usize, Vec<f64>)| {
        -p[*class].max(1e-9).ln() + f64::from(u8::from(super::largest(p) != *class))
    };
    let sums: Vec<Option<f64>> = judged
        .iter()
        .map(|j| j.evidence.as_ref().map(|e| e.held()[..length].iter().map(loss).sum()))
        .collect();
    let others = length.saturating_sub(1).max(1) as f64;
    let right = |k: &usize| {
        let losses: Vec<Option<f64>> = judged
            .iter()
            .zip(&sums)
            .map(|(j, sum)| {
                j.evidence.as_ref().zip(*sum).map(|(e, sum)| (sum - loss(&e.held()[*k])) / others)
            })
            .collect();
        let weights = weights(judged, &losses, labels, classes);
        let mut mean: Vec<f64> = Vec::new();
        let mut class = 0;
        for (j, w) in judged.iter().zip(weights) {
            let Some(e) = &j.evidence else { continue };
            let (c, p) = &e.held()[*k];
            class = *c;
            mean.resize(p.len(), 0.0);
            mean.iter_mut().zip(p).for_each(|(m, p)| *m += w * p);
        }
        super::largest(&mean) == class
    };
    let count = (0..length).filter(right).count();
    Some((count as f64 + 0.5) / (length as f64 + 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_free_evidence_fades_as_labels_grow() {
        assert_eq!([fading(4, 2), fading(6, 2), fading(20, 20)], [1.0; 3]);
        assert!((fading(20, 2) - 0.09).abs() < 1e-12);
        assert!(fading(1000, 2) < 0.01);
    }
}
