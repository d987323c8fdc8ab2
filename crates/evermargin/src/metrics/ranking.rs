//! Metrics of rankings by decision value: separation of positives from negatives, and choice of a threshold.

use super::{Confusion, ratio, weights_or_ones};

/// A cut of a ranking: rows whose decision value is at least `threshold` are predicted positive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cut {
    /// The lowest decision value predicted positive; infinite if no row is.
    pub threshold: f64,
    /// Weight of the positives predicted positive.
    pub true_positives: f64,
    /// Weight of the negatives predicted positive.
    pub false_positives: f64,
    /// Weight of all positives.
    pub positives: f64,
    /// Weight of all negatives.
    pub negatives: f64,
}

impl Cut {
    /// Fraction of the positives predicted positive: the recall, the ordinate of the ROC curve.
    pub fn true_positive_rate(&self) -> f64 {
        self.true_positives / self.positives
    }

    /// Fraction of the negatives predicted positive: the abscissa of the ROC curve.
    pub fn false_positive_rate(&self) -> f64 {
        self.false_positives / self.negatives
    }

    /// Fraction of the rows predicted positive that are positive; undefined if none is predicted positive.
    pub fn precision(&self) -> Option<f64> {
        ratio(self.true_positives, self.true_positives + self.false_positives)
    }

    /// The confusion matrix at this cut.
    pub fn confusion(&self) -> Confusion {
        let (tp, fp) = (self.true_positives, self.false_positives);
        Confusion::two_classes(self.negatives - fp, fp, self.positives - tp, tp)
    }
}

/// The cuts of a ranking from the strictest (no row is predicted positive) to the laxest (all rows are), one per distinct
/// decision value. The rates of the cuts form the ROC curve, their recall and precision the precision-recall curve. Both
/// classes need a positive weight.
pub fn curve(decision: &[f64], positive: &[bool], weights: &[f64]) -> Option<Vec<Cut>> {
    let weight = weights_or_ones(weights, decision.len())?;
    let order = descending(decision, positive.len())?;
    let total = |want: bool| {
        order.iter().filter(|&&i| positive[i] == want).map(|&i| weight(i)).fold(0.0, |sum, w| sum + w)
    };
    let (positives, negatives) = (total(true), total(false));
    if !(positives > 0.0 && negatives > 0.0) {
        return None;
    }
    let mut cut =
        Cut { threshold: f64::INFINITY, true_positives: 0.0, false_positives: 0.0, positives, negatives };
    let mut cuts = vec![cut];
    for tied in order.chunk_by(|&i, &j| decision[i] == decision[j]) {
        for &i in tied {
            let side = if positive[i] { &mut cut.true_positives } else { &mut cut.false_positives };
            *side += weight(i);
            cut.threshold = decision[i];
        }
        cuts.push(cut);
    }
    Some(cuts)
}

/// Area under the precision-recall curve, as the mean precision over the positives found: Σ (Rₖ − Rₖ₋₁)·Pₖ over the cuts.
/// Rows of equal decision value form one cut, so their order does not matter.
pub fn average_precision(decision: &[f64], positive: &[bool], weights: &[f64]) -> Option<f64> {
    let cuts = curve(decision, positive, weights)?;
    let step = |pair: &[Cut]| {
        let found = pair[1].true_positives - pair[0].true_positives;
        found * pair[1].precision().unwrap_or(0.0)
    };
    ratio(cuts.windows(2).map(step).sum(), cuts[0].positives).map(|area| area.min(1.0))
}

/// Criterion for choosing a threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Criterion {
    /// Largest accuracy.
    Accuracy,
    /// Largest geometric mean of the two recalls.
    GMeans,
    /// Largest F1 of the positive class.
    F1,
    /// Largest Matthews correlation.
    Mcc,
    /// As many rows predicted positive as there are positives, where precision equals recall.
    BreakEven,
    /// This fraction of the rows predicted positive.
    Rate(f64),
}

impl Criterion {
    /// Name of the criterion as written by users.
    pub fn name(self) -> String {
        match self {
            Self::Accuracy => "accuracy".into(),
            Self::GMeans => "g-means".into(),
            Self::F1 => "f1".into(),
            Self::Mcc => "mcc".into(),
            Self::BreakEven => "break-even".into(),
            Self::Rate(share) => format!("rate={share}"),
        }
    }

    /// The score of a cut; larger is better. An undefined correlation is 0. For break-even and rate it is 1 minus the
    /// distance of the fraction predicted positive from the wanted fraction.
    pub fn score(self, cut: &Cut) -> Option<f64> {
        let all = cut.positives + cut.negatives;
        let predicted = (cut.true_positives + cut.false_positives) / all;
        match self {
            Self::Accuracy => cut.confusion().accuracy(),
            Self::GMeans => cut.confusion().g_means(),
            Self::F1 => cut.confusion().f1(1),
            Self::Mcc => Some(cut.confusion().mcc().unwrap_or(0.0)),
            Self::BreakEven => Some(1.0 - (predicted - cut.positives / all).abs()),
            Self::Rate(share) => Some(1.0 - (predicted - share).abs()),
        }
    }
}

/// The best threshold of a ranking.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    /// Rows with a larger decision value are predicted positive. Finite.
    pub value: f64,
    /// The score at this threshold.
    pub score: f64,
}

/// The cut with the best score; ties go to the cut nearest to 0, the current threshold, and then to the lower one. The
/// threshold is the mean of the decision values on its two sides.
pub fn best_threshold(
    decision: &[f64],
    positive: &[bool],
    weights: &[f64],
    criterion: Criterion,
) -> Option<Threshold> {
    let cuts = curve(decision, positive, weights)?;
    let scored = cuts.iter().enumerate().filter_map(|(k, cut)| {
        let value = midpoint(&cuts, k);
        criterion.score(cut).filter(|_| value.is_finite()).map(|score| Threshold { value, score })
    });
    scored.reduce(|a, b| {
        let equal = (a.score - b.score).abs() <= 1e-12;
        let nearer = b.value.abs() <= a.value.abs();
        if (equal && nearer) || (!equal && b.score > a.score) { b } else { a }
    })
}

/// The mean of the decision values on both sides of cut k; beyond either end, 1 % of the spread away.
fn midpoint(cuts: &[Cut], k: usize) -> f64 {
    let (top, bottom) = (cuts[1].threshold, cuts[cuts.len() - 1].threshold);
    let beyond = if top > bottom { 0.01 * (top - bottom) } else { 0.01 * top.abs().max(1.0) };
    let above = if k == 0 { top + 2.0 * beyond } else { cuts[k].threshold };
    let below = cuts.get(k + 1).map_or(bottom - 2.0 * beyond, |c| c.threshold);
    0.5 * above + 0.5 * below
}

/// Area under the ROC curve: the probability that a positive has a higher decision value than a negative, where ties
/// count half.
pub fn auc(decision: &[f64], positive: &[bool], weights: &[f64]) -> Option<f64> {
    let weight = weights_or_ones(weights, decision.len())?;
    let order = descending(decision, positive.len())?;
    let (mut above, mut pairs, mut negatives) = (0.0, 0.0, 0.0);
    for tied in order.chunk_by(|&i, &j| decision[i] == decision[j]) {
        let side =
            |want: bool| tied.iter().filter(|&&i| positive[i] == want).map(|&i| weight(i)).sum::<f64>();
        let (p, n) = (side(true), side(false));
        pairs += n * (above + 0.5 * p);
        above += p;
        negatives += n;
    }
    ratio(pairs, above * negatives)
}

/// Mean over the classes of the AUC of each class against the rest; `scores[i·classes + c]` is the score of
/// class c for row i.
pub fn auc_macro(scores: &[f64], truth: &[u32], classes: usize, weights: &[f64]) -> Option<f64> {
    if scores.len() != truth.len() * classes {
        return None;
    }
    let of = |c: usize| {
        let score: Vec<f64> = scores.chunks_exact(classes).map(|s| s[c]).collect();
        let positive: Vec<bool> = truth.iter().map(|&t| t as usize == c).collect();
        auc(&score, &positive, weights)
    };
    let total = (0..classes).try_fold(0.0, |sum, c| of(c).map(|v| sum + v))?;
    ratio(total, classes as f64)
}

/// Precision-recall break-even point: the precision among as many top-ranked rows as there are positives, where it equals
/// the recall. Rows tied at the border count by their fraction.
pub fn prbep(decision: &[f64], positive: &[bool]) -> Option<f64> {
    let order = descending(decision, positive.len())?;
    let wanted = positive.iter().filter(|p| **p).count();
    let (mut taken, mut hits) = (0, 0.0);
    for tied in order.chunk_by(|&i, &j| decision[i] == decision[j]) {
        let take = tied.len().min(wanted - taken);
        let found = tied.iter().filter(|&&i| positive[i]).count();
        hits += found as f64 * take as f64 / tied.len() as f64;
        taken += take;
    }
    ratio(hits, wanted as f64)
}

fn descending(decision: &[f64], labels: usize) -> Option<Vec<usize>> {
    if decision.len() != labels || decision.iter().any(|d| d.is_nan()) {
        return None;
    }
    let mut order: Vec<usize> = (0..labels).collect();
    order.sort_by(|&i, &j| decision[j].total_cmp(&decision[i]));
    Some(order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn near(value: Option<f64>, expected: f64) -> bool {
        value.is_some_and(|v| (v - expected).abs() < 1e-12)
    }

    /// AUC from an enumeration of all pairs.
    fn auc_by_pairs(decision: &[f64], positive: &[bool], weight: &[f64]) -> f64 {
        let (mut sum, mut total) = (0.0, 0.0);
        for i in (0..decision.len()).filter(|&i| positive[i]) {
            for j in (0..decision.len()).filter(|&j| !positive[j]) {
                let w = weight[i] * weight[j];
                total += w;
                sum += w * f64::from(u8::from(decision[i] > decision[j]));
                sum += w * 0.5 * f64::from(u8::from(decision[i] == decision[j]));
            }
        }
        sum / total
    }

    #[test]
    fn auc_with_ties_and_weights_equals_enumeration_of_pairs() {
        let decision = [1.0, 2.0, 2.0, 3.0, -1.0, 2.0, 0.0, -0.0];
        let positive = [false, true, false, true, false, true, true, false];
        let weight = [1.0, 2.0, 0.5, 1.0, 3.0, 1.0, 0.25, 1.5];
        assert!(near(auc(&decision, &positive, &weight), auc_by_pairs(&decision, &positive, &weight)));
        assert!(near(auc(&decision, &positive, &[]), auc_by_pairs(&decision, &positive, &[1.0; 8])));
        assert!(near(auc(&[5.0; 8], &positive, &[]), 0.5));
        let scores = [0.9, 0.1, 0.0, 0.2, 0.7, 0.1, 0.1, 0.2, 0.7];
        assert!(near(auc_macro(&scores, &[0, 1, 2], 3, &[]), 1.0));
    }

    #[test]
    fn break_even_point_counts_ties_by_their_fraction() {
        assert!(near(prbep(&[4.0, 3.0, 2.0, 1.0], &[true, false, true, false]), 0.5));
        assert!(near(prbep(&[1.0; 4], &[true, false, true, false]), 0.5));
        assert!(near(prbep(&[2.0, 1.0, 1.0, 1.0], &[true, true, false, false]), 2.0 / 3.0));
    }

    #[test]
    fn curve_and_average_precision_match_manual_values() {
        // 3: +, 2: + and −, 1: −
        let cuts = curve(&[2.0, 3.0, 1.0, 2.0], &[true, true, false, false], &[]).unwrap();
        let point = |c: &Cut| (c.threshold, c.false_positive_rate(), c.true_positive_rate(), c.precision());
        let seen: Vec<_> = cuts.iter().map(point).collect();
        let expected = [
            (f64::INFINITY, 0.0, 0.0, None),
            (3.0, 0.0, 0.5, Some(1.0)),
            (2.0, 0.5, 1.0, Some(2.0 / 3.0)),
            (1.0, 1.0, 1.0, Some(0.5)),
        ];
        assert_eq!(seen, expected);
        // ½·1 + ½·⅔
        assert!(near(average_precision(&[2.0, 3.0, 1.0, 2.0], &[true, true, false, false], &[]), 5.0 / 6.0));
        assert!(near(average_precision(&[7.0; 4], &[true, false, false, false], &[]), 0.25));
        assert_eq!(curve(&[1.0, 2.0], &[true, true], &[]), None);
        assert_eq!(curve(&[1.0], &[true, false], &[]), None);
        assert_eq!(curve(&[], &[], &[]), None);
        assert_eq!(average_precision(&[1.0, f64::NAN], &[true, false], &[]), None);
        assert_eq!(best_threshold(&[1.0, 2.0], &[false, false], &[], Criterion::F1), None);
    }

    #[test]
    fn best_thresholds_match_manual_values() {
        let decision = [-3.0, -2.0, -1.5, -1.0, -0.5, 0.5];
        let positive = [false, false, true, false, true, true];
        let best = |criterion| best_threshold(&decision, &positive, &[], criterion).unwrap();
        // threshold −1.75: recalls 1 and ⅔, F1 6/7, 5 of 6 rows correct; threshold −0.75: recalls ⅔ and 1, 5 of 6 correct
        assert!(near(Some(best(Criterion::GMeans).score), (2.0_f64 / 3.0).sqrt()));
        assert_eq!(best(Criterion::GMeans).value, -0.75, "of equal scores the one nearer to 0");
        let higher = decision.map(|f| f + 4.0);
        let best_of_higher = best_threshold(&higher, &positive, &[], Criterion::GMeans).unwrap();
        assert_eq!(best_of_higher.value, 2.25, "after the shift the other one is nearer to 0");
        assert_eq!(best(Criterion::F1).value, -1.75);
        assert!(near(Some(best(Criterion::F1).score), 6.0 / 7.0));
        assert_eq!(best(Criterion::Accuracy).value, -0.75);
        assert_eq!(best(Criterion::BreakEven).value, -1.25);
        assert_eq!(best(Criterion::Rate(1.0 / 6.0)).value, 0.0);
        assert!(best(Criterion::Rate(0.0)).value > 0.5 && best(Criterion::Rate(1.0)).value < -3.0);
    }

    fn ranking() -> impl Strategy<Value = (Vec<f64>, Vec<bool>, Vec<f64>)> {
        proptest::collection::vec((-6..6_i32, any::<bool>(), 0..4_u8), 2..40).prop_map(|rows| {
            let decision = rows.iter().map(|r| f64::from(r.0) / 2.0).collect();
            let weight = rows.iter().map(|r| 0.5 + f64::from(r.2)).collect();
            (decision, rows.iter().map(|r| r.1).collect(), weight)
        })
    }

    proptest! {
        #[test]
        fn area_under_the_roc_curve_equals_auc((f, y, w) in ranking()) {
            prop_assert_eq!(curve(&f, &y, &w).is_some(), auc(&f, &y, &w).is_some());
            if let Some(cuts) = curve(&f, &y, &w) {
                let area: f64 = cuts.windows(2).map(|p| {
                    let width = p[1].false_positive_rate() - p[0].false_positive_rate();
                    width * 0.5 * (p[1].true_positive_rate() + p[0].true_positive_rate())
                }).sum();
                prop_assert!(near(auc(&f, &y, &w), area));
                for cut in &cuts {
                    prop_assert!((0.0..=1.0).contains(&cut.true_positive_rate()));
                    prop_assert!((0.0..=1.0).contains(&cut.false_positive_rate()));
                }
                let last = cuts.last().unwrap();
                prop_assert!((last.true_positive_rate(), last.false_positive_rate()) == (1.0, 1.0));
                prop_assert!((0.0..=1.0).contains(&average_precision(&f, &y, &w).unwrap()));
                prop_assert!((0.0..=1.0).contains(&prbep(&f, &y).unwrap()));
            }
        }

        #[test]
        fn ranking_metrics_are_invariant_under_monotone_maps((f, y, w) in ranking()) {
            let g: Vec<f64> = f.iter().map(|v| (0.3 * v).exp() - 5.0).collect();
            prop_assert_eq!(auc(&f, &y, &w), auc(&g, &y, &w));
            prop_assert_eq!(average_precision(&f, &y, &w), average_precision(&g, &y, &w));
            prop_assert_eq!(prbep(&f, &y), prbep(&g, &y));
        }

        #[test]
        fn best_threshold_is_not_exceeded_on_a_grid((f, y, w) in ranking()) {
            for criterion in [Criterion::Accuracy, Criterion::GMeans, Criterion::F1] {
                let score = |t: f64| {
                    let found: Vec<u32> = f.iter().map(|f| u32::from(*f > t)).collect();
                    let truth: Vec<u32> = y.iter().map(|y| u32::from(*y)).collect();
                    let c = Confusion::new(&truth, &found, &w, 2).unwrap();
                    match criterion {
                        Criterion::Accuracy => c.accuracy(),
                        Criterion::GMeans => c.g_means(),
                        _ => c.f1(1),
                    }
                };
                if let Some(best) = best_threshold(&f, &y, &w, criterion) {
                    prop_assert!(near(score(best.value), best.score), "{:?} {:?}", criterion, best);
                    for t in -16..16 {
                        prop_assert!(score(f64::from(t) / 4.0).unwrap() <= best.score + 1e-12);
                    }
                }
            }
        }
    }
}
