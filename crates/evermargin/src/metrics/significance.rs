//! Significance tests on paired results of two methods, and ranks of methods over tables.

/// Result of Wilcoxon's signed-rank test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignedRanks {
    /// Number of pairs that differ.
    pub pairs: usize,
    /// Sum of the ranks of the pairs where the first is larger.
    pub positive: f64,
    /// Sum of the ranks of the pairs where the second is larger.
    pub negative: f64,
    /// Two-tailed p-value.
    pub p: f64,
    /// Whether `p` comes from the exact distribution.
    pub exact: bool,
}

/// Maximum number of pairs for the exact distribution.
const MAX_EXACT_PAIRS: usize = 25;

/// Wilcoxon's signed-rank test of paired results, two-tailed: the probability of rank sums at least as uneven as these
/// if both signs are equally likely (Wilcoxon 1945).
///
/// Differences up to `tolerance` are dropped as zeros; absolute differences within `tolerance` of the smallest of their
/// group share the mean of their ranks. Up to 25 pairs the distribution is exact, given those ranks; above 25 it is
/// normal, with corrections for ties and continuity. `None` if there are no pairs, the lengths differ, or a value or
/// the tolerance is not a number.
pub fn wilcoxon(first: &[f64], second: &[f64], tolerance: f64) -> Option<SignedRanks> {
    let fits = !first.is_empty() && first.len() == second.len() && tolerance >= 0.0;
    if !fits || first.iter().chain(second).any(|v| !v.is_finite()) {
        return None;
    }
    let difference = first.iter().zip(second).map(|(a, b)| a - b);
    let mut signed: Vec<f64> = difference.filter(|d| d.abs() > tolerance).collect();
    signed.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let size: Vec<f64> = signed.iter().map(|d| d.abs()).collect();
    let groups = groups(&size, tolerance);

    // Twice the mean rank of positions s+1 … e is s+1+e, an integer.
    let doubled: Vec<usize> = groups.iter().flat_map(|g| vec![g.start + 1 + g.end; g.len()]).collect();
    let positive: usize = doubled.iter().zip(&signed).filter(|(_, d)| **d > 0.0).map(|(r, _)| *r).sum();
    let total: usize = doubled.iter().sum();
    let smaller = positive.min(total - positive);
    let exact = signed.len() <= MAX_EXACT_PAIRS;
    let p = if exact { exact_tail(&doubled, smaller) } else { normal_tail(&groups, smaller) };
    Some(SignedRanks {
        pairs: signed.len(),
        positive: 0.5 * positive as f64,
        negative: 0.5 * (total - positive) as f64,
        p: p.min(1.0),
        exact,
    })
}

/// 2·P(S ≤ s) for the sum S of a random subset of the doubled ranks, by counting subsets for every sum.
fn exact_tail(doubled: &[usize], s: usize) -> f64 {
    let mut subsets = vec![0.0; doubled.iter().sum::<usize>() + 1];
    subsets[0] = 1.0;
    for &rank in doubled {
        for sum in (rank..subsets.len()).rev() {
            subsets[sum] += subsets[sum - rank];
        }
    }
    2.0 * subsets[..=s].iter().sum::<f64>() / 2.0_f64.powi(doubled.len() as i32)
}

/// 2·P(S ≤ s) by the normal distribution with mean n(n+1)/4 and variance n(n+1)(2n+1)/24 − Σ(t³ − t)/48 over groups of t
/// ties.
fn normal_tail(groups: &[std::ops::Range<usize>], doubled_sum: usize) -> f64 {
    let n = groups.last().map_or(0, |g| g.end) as f64;
    let ties: f64 = groups.iter().map(|g| (g.len() as f64).powi(3) - g.len() as f64).sum();
    let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - ties / 48.0;
    let away = (n * (n + 1.0) / 4.0 - 0.5 * doubled_sum as f64 - 0.5).max(0.0);
    erfc(away / (2.0 * variance).sqrt())
}

/// Runs of ascending values within `tolerance` of the first value of the run.
fn groups(ascending: &[f64], tolerance: f64) -> Vec<std::ops::Range<usize>> {
    let mut groups = Vec::new();
    let mut start = 0;
    for end in 1..=ascending.len() {
        if end == ascending.len() || ascending[end] - ascending[start] > tolerance {
            groups.push(start..end);
            start = end;
        }
    }
    groups
}

/// 1 − erf(x) for x ≥ 0: the series Σ 2ⁿx²ⁿ⁺¹/(2n+1)!! below 2, Laplace's continued fraction above.
fn erfc(x: f64) -> f64 {
    let bell = (-x * x).exp() / std::f64::consts::PI.sqrt();
    if x < 2.0 {
        let (mut term, mut sum, mut n) = (x, x, 0.0);
        while term > 1e-17 * sum {
            n += 1.0;
            term *= 2.0 * x * x / (2.0 * n + 1.0);
            sum += term;
        }
        1.0 - 2.0 * bell * sum
    } else {
        bell / (1..=100).rev().fold(x, |below, k| x + 0.5 * f64::from(k) / below)
    }
}

/// Standard normal distribution function at x.
pub fn normal_cdf(x: f64) -> f64 {
    let beyond = 0.5 * erfc(x.abs() * std::f64::consts::FRAC_1_SQRT_2);
    if x < 0.0 { beyond } else { 1.0 - beyond }
}

/// Result of Student's t-test on paired results.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedT {
    /// Mean of the differences first − second.
    pub mean: f64,
    /// The mean divided by its standard error.
    pub t: f64,
    /// Degrees of freedom: pairs − 1.
    pub degrees: usize,
    /// Two-tailed p-value.
    pub p: f64,
    /// One-tailed p-value, for the alternative that the first is larger.
    pub larger: f64,
}

/// Student's t-test of paired results. `None` for fewer than two pairs, different lengths, values that are not finite, or
/// differences that are all equal.
pub fn paired_t(first: &[f64], second: &[f64]) -> Option<PairedT> {
    let n = first.len();
    if n < 2 || n != second.len() {
        return None;
    }
    let difference: Vec<f64> = first.iter().zip(second).map(|(a, b)| a - b).collect();
    let mean = difference.iter().sum::<f64>() / n as f64;
    let variance = difference.iter().map(|d| (d - mean) * (d - mean)).sum::<f64>() / (n - 1) as f64;
    let t = mean / (variance / n as f64).sqrt();
    if !t.is_finite() {
        return None;
    }
    let p = (1.0 - student(t.abs(), n - 1)).max(0.0);
    Some(PairedT { mean, t, degrees: n - 1, p, larger: if t > 0.0 { 0.5 * p } else { 1.0 - 0.5 * p } })
}

/// P(|T| ≤ t) of Student's distribution for t ≥ 0, by the finite series in θ = atan(t/√ν) (Abramowitz & Stegun
/// 26.7.3 for odd ν, 26.7.4 for even).
fn student(t: f64, degrees: usize) -> f64 {
    let angle = (t / (degrees as f64).sqrt()).atan();
    let (sine, cosine) = angle.sin_cos();
    let odd = degrees % 2 == 1;
    let (mut term, mut sum) = if odd { (cosine, 0.0) } else { (1.0, 0.0) };
    let mut k = usize::from(odd);
    while k + 2 <= degrees {
        sum += term;
        term *= cosine * cosine * (k + 1) as f64 / (k + 2) as f64;
        k += 2;
    }
    if odd { (angle + sine * sum) * std::f64::consts::FRAC_2_PI } else { sine * sum }
}

/// Rows on which exactly one of two classifiers is correct, and McNemar's test on them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Disagreement {
    /// Number of rows that only the first predicts correctly.
    pub only_first: usize,
    /// Number of rows that only the second predicts correctly.
    pub only_second: usize,
    /// Two-tailed p-value.
    pub p: f64,
    /// Whether `p` comes from the exact distribution.
    pub exact: bool,
}

/// Maximum number of rows with exactly one correct prediction for the exact distribution; 2⁻¹⁰⁰⁰ does not underflow.
const MAX_EXACT_ROWS: usize = 1000;

/// McNemar's test (1947), two-tailed: among rows where exactly one of two classifiers is correct, the probability of a
/// split at least as uneven as this if both are equally good. Exact (binomial) up to 1000 such rows, normal with
/// continuity correction above. `None` without rows or if the lengths differ.
pub fn mcnemar(truth: &[u32], first: &[u32], second: &[u32]) -> Option<Disagreement> {
    if truth.is_empty() || first.len() != truth.len() || second.len() != truth.len() {
        return None;
    }
    let only = |right: &[u32], wrong: &[u32]| {
        truth.iter().zip(right).zip(wrong).filter(|((t, r), w)| t == r && t != w).count()
    };
    let (only_first, only_second) = (only(first, second), only(second, first));
    let (n, fewer) = (only_first + only_second, only_first.min(only_second));
    let exact = n <= MAX_EXACT_ROWS;
    let p = if exact {
        let mut term = 0.5_f64.powi(n as i32);
        let mut sum = term;
        for k in 0..fewer {
            term *= (n - k) as f64 / (k + 1) as f64;
            sum += term;
        }
        2.0 * sum
    } else {
        let away = ((n - 2 * fewer) as f64 - 1.0).max(0.0);
        erfc(away / (2.0 * n as f64).sqrt())
    };
    Some(Disagreement { only_first, only_second, p: p.min(1.0), exact })
}

/// The rank of each score, highest first; scores within `tolerance` of the best of their group share its rank and use up
/// the ranks after it ("1, 1, 3"). `None` if a score or the tolerance is not a number.
pub fn ranks(scores: &[f64], tolerance: f64) -> Option<Vec<usize>> {
    if scores.iter().any(|s| !s.is_finite()) || tolerance.is_nan() || tolerance < 0.0 {
        return None;
    }
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&i, &j| scores[j].total_cmp(&scores[i]));
    let lost: Vec<f64> = order.iter().map(|&i| scores[order[0]] - scores[i]).collect();
    let mut ranks = vec![0; scores.len()];
    for group in groups(&lost, tolerance) {
        order[group.clone()].iter().for_each(|&i| ranks[i] = group.start + 1);
    }
    Some(ranks)
}

/// The mean rank of each method over the rows of a table with one score per method; `None` for a table without rows or
/// with rows of different lengths.
pub fn mean_ranks<R: AsRef<[f64]>>(table: &[R], tolerance: f64) -> Option<Vec<f64>> {
    let methods = table.first()?.as_ref().len();
    let mut sum = vec![0; methods];
    for row in table {
        let ranks = ranks(row.as_ref(), tolerance).filter(|r| r.len() == methods)?;
        sum.iter_mut().zip(ranks).for_each(|(s, r)| *s += r);
    }
    Some(sum.into_iter().map(|s| s as f64 / table.len() as f64).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Published quantiles of the normal distribution, on both sides of 2, where `erfc` changes its method.
    #[test]
    fn normal_cdf_matches_published_quantiles() {
        for (x, below) in [(0.0, 0.5), (1.0, 0.841_344_746), (1.96, 0.975_002_105), (3.0, 0.998_650_102)] {
            assert!((normal_cdf(x) - below).abs() < 1e-9, "{x}");
            assert!((normal_cdf(-x) - (1.0 - below)).abs() < 1e-9, "-{x}");
        }
        assert_eq!((normal_cdf(40.0), normal_cdf(-40.0)), (1.0, 0.0));
    }

    /// Published quantiles of Student's distribution, and scipy's result for one pair of samples.
    #[test]
    fn t_test_matches_published_quantiles_and_scipy() {
        for (t, degrees, inside) in [
            (12.7062, 1, 0.95),
            (4.30265, 2, 0.95),
            (3.18245, 3, 0.95),
            (2.228_138_9, 10, 0.95),
            (2.8453, 20, 0.99),
            (1.9842, 99, 0.95),
        ] {
            assert!((student(t, degrees) - inside).abs() < 2e-5, "{degrees}: {}", student(t, degrees));
        }
        assert_eq!(student(0.0, 7), 0.0);
        let test = paired_t(&[3.0, 5.0, 4.0, 8.0], &[2.0, 5.0, 1.0, 6.0]).unwrap();
        assert!((test.t - 2.323_790_007_724_45).abs() < 1e-12 && test.degrees == 3, "{test:?}");
        assert!(
            (test.p - 0.102_728_078_858_398_99).abs() < 1e-12 && (test.larger - 0.5 * test.p).abs() < 1e-15,
            "{test:?}"
        );
        assert!(paired_t(&[1.0], &[2.0]).is_none() && paired_t(&[1.0, 2.0], &[0.0, 1.0]).is_none());
    }

    use proptest::prelude::*;

    /// Ertekin (2009), Table 4.4, PRBEP of Batch, US, SMOTE, DC, AL; and the ranks of Table 4.5.
    #[rustfmt::skip]
    const PRBEP: [([f64; 5], [usize; 5]); 18] = [
        ([91.07, 78.57, 91.07, 89.28, 89.29], [1, 5, 1, 4, 3]),
        ([87.83, 85.70, 87.83, 87.83, 87.83], [1, 5, 1, 1, 1]),
        ([92.62, 89.93, 91.44, 91.94, 91.94], [1, 5, 4, 2, 2]),
        ([76.33, 74.04, 77.86, 75.57, 75.57], [2, 5, 1, 3, 3]),
        ([73.74, 74.30, 75.42, 75.42, 76.54], [5, 4, 2, 2, 1]),
        ([86.52, 86.50, 88.76, 89.89, 89.89], [4, 5, 3, 1, 1]),
        ([77.77, 76.92, 77.77, 77.78, 78.63], [3, 5, 3, 2, 1]),
        ([84.51, 81.61, 84.51, 84.51, 85.92], [2, 5, 2, 2, 1]),
        ([78.80, 80.68, 78.99, 78.79, 79.17], [4, 1, 3, 5, 2]),
        ([86.59, 86.76, 86.59, 86.59, 86.77], [3, 2, 3, 3, 1]),
        ([97.89, 97.47, 97.89, 97.89, 97.89], [1, 5, 1, 1, 1]),
        ([86.36, 86.61, 86.98, 86.36, 86.36], [3, 2, 1, 3, 3]),
        ([84.07, 83.19, 84.07, 84.07, 84.07], [1, 5, 1, 1, 1]),
        ([100.0, 100.0, 100.0, 100.0, 100.0], [1, 1, 1, 1, 1]),
        ([99.48, 96.45, 99.24, 99.35, 99.35], [1, 5, 4, 2, 2]),
        ([73.46, 68.72, 73.46, 73.93, 73.93], [3, 5, 3, 1, 1]),
        ([98.44, 98.44, 98.13, 98.44, 98.75], [2, 2, 5, 2, 1]),
        ([97.63, 97.02, 97.74, 97.63, 97.74], [3, 5, 1, 3, 1]),
    ];

    /// Table 5.3, g-means of SMOTE and VIRTUAL.
    const VIRTUAL: [[f64; 2]; 14] = [
        [96.21, 96.54],
        [89.62, 90.60],
        [91.21, 91.74],
        [98.97, 98.97],
        [92.29, 93.00],
        [83.96, 84.75],
        [83.70, 85.61],
        [78.55, 81.34],
        [84.52, 85.48],
        [89.50, 90.27],
        [100.0, 100.0],
        [97.52, 98.84],
        [99.42, 99.54],
        [82.61, 82.92],
    ];

    #[test]
    fn ranks_match_published_ranks() {
        for (scores, expected) in PRBEP {
            assert_eq!(ranks(&scores, 0.0).unwrap(), expected);
        }
        let scores = PRBEP.map(|(scores, _)| scores);
        let means = mean_ranks(&scores, 0.0).unwrap();
        for (mean, printed) in means.iter().zip([2.28, 4.00, 2.22, 2.17, 1.50]) {
            assert!((mean - printed).abs() < 0.005, "{means:?}");
        }
        // For corn, 89.28 and 89.29 are the same count of documents, 50 of 56.
        assert_eq!(ranks(&PRBEP[0].0, 0.0101).unwrap(), [1, 5, 1, 3, 3]);
    }

    /// The exact values are from an enumeration outside this program. The thesis has 0.0015 for AL against US, from the
    /// normal distribution with continuity correction. Without the correction the three are 0.0014, 0.22 and 0.33; no
    /// conclusion changes.
    #[test]
    fn wilcoxon_test_matches_published_comparisons() {
        let column = |k: usize| PRBEP.map(|(scores, _)| scores[k]);
        let test = |a: [f64; 18], b: [f64; 18]| wilcoxon(&a, &b, 1e-9).unwrap();
        let (batch, us, smote, dc, al) = (column(0), column(1), column(2), column(3), column(4));
        for (other, pairs, negative, p) in [
            (us, 17, 9.0, 0.000_503_540_039_062_5),
            (batch, 13, 28.0, 0.243_896_484_375),
            (smote, 13, 31.5, 0.347_656_25),
        ] {
            let t = test(al, other);
            assert_eq!((t.pairs, t.negative, t.p, t.exact), (pairs, negative, p, true));
        }
        let untied: Vec<_> = (0..17).map(|i| i..i + 1).collect();
        assert!((normal_tail(&untied, 18) - 0.0015).abs() < 0.000_05);
        // Without the difference of 0.01, which is only rounding, seven pairs remain, all positive.
        let against_dc = wilcoxon(&al, &dc, 0.0101).unwrap();
        assert_eq!((against_dc.pairs, against_dc.negative, against_dc.p), (7, 0.0, 2.0 / 128.0));
        let (smote, ours) = (VIRTUAL.map(|r| r[0]), VIRTUAL.map(|r| r[1]));
        let t = wilcoxon(&ours, &smote, 1e-9).unwrap();
        assert_eq!((t.pairs, t.positive, t.p, t.exact), (12, 78.0, 2.0 / 4096.0, true));
    }

    /// Two-tailed p-value from an enumeration of all 2ⁿ signs.
    fn wilcoxon_by_brute_force(differences: &[f64]) -> f64 {
        let d: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
        let rank = |v: f64| {
            let below = d.iter().filter(|w| w.abs() < v.abs()).count() as f64;
            let equal = d.iter().filter(|w| w.abs() == v.abs()).count() as f64;
            below + 0.5 * (equal + 1.0)
        };
        let ranks: Vec<f64> = d.iter().map(|v| rank(*v)).collect();
        let middle = 0.5 * ranks.iter().sum::<f64>();
        let away = |positive: &dyn Fn(usize) -> bool| {
            let sum: f64 = (0..d.len()).filter(|&i| positive(i)).map(|i| ranks[i]).sum();
            (sum - middle).abs()
        };
        let seen = away(&|i| d[i] > 0.0);
        let as_far = (0..1_u32 << d.len()).filter(|s| away(&|i| s >> i & 1 == 1) >= seen - 1e-9).count();
        as_far as f64 / f64::from(1_u32 << d.len())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn exact_wilcoxon_test_equals_enumeration_of_signs(d in proptest::collection::vec(-4..5_i32, 1..11)) {
            let d: Vec<f64> = d.into_iter().map(f64::from).collect();
            let t = wilcoxon(&d, &vec![0.0; d.len()], 0.0).unwrap();
            prop_assert!((t.p - wilcoxon_by_brute_force(&d).min(1.0)).abs() < 1e-12);
            let back = wilcoxon(&vec![0.0; d.len()], &d, 0.0).unwrap();
            prop_assert_eq!((t.p, t.positive), (back.p, back.negative));
        }
    }

    #[test]
    fn normal_approximation_is_close_to_the_exact_distribution() {
        let d: Vec<f64> = (1..=25).map(|i| f64::from(i) * if i % 3 == 0 { -1.0 } else { 1.0 }).collect();
        let exact = wilcoxon(&d, &[0.0; 25], 0.0).unwrap();
        let groups: Vec<_> = (0..25).map(|i| i..i + 1).collect();
        let normal = normal_tail(&groups, (2.0 * exact.positive.min(exact.negative)) as usize);
        assert!(exact.exact && (normal - exact.p).abs() < 0.003, "{} {normal}", exact.p);
        // 26 pairs, all of size 1, 20 positive: variance 26·27·53/24 − (26³ − 26)/48 = 1184.625
        let d: Vec<f64> = (0..26).map(|i| if i < 20 { 1.0 } else { -1.0 }).collect();
        let t = wilcoxon(&d, &[0.0; 26], 0.0).unwrap();
        assert!(!t.exact && t.negative == 81.0);
        assert!((t.p - erfc((175.5 - 81.0 - 0.5) / (2.0 * 1184.625_f64).sqrt())).abs() < 1e-12);
    }

    #[test]
    fn erfc_matches_reference_values() {
        // reference values from a C library
        for (x, value) in [
            (0.0, 1.0),
            (0.5, 0.479_500_122_186_953_5),
            (1.0, 0.157_299_207_050_285_13),
            (1.999_999, 0.004_677_755_648_073_953),
            (2.0, 0.004_677_734_981_047_266),
            (3.0, 2.209_049_699_858_544e-5),
            (5.0, 1.537_459_794_428_035e-12),
        ] {
            assert!((erfc(x) / value - 1.0).abs() < 1e-10, "{x}: {}", erfc(x));
        }
    }

    #[test]
    fn mcnemar_test_matches_manual_values() {
        let test = |first: usize, second: usize, both: usize| {
            let n = first + second + both;
            let mark =
                |right: &dyn Fn(usize) -> bool| (0..n).map(|i| u32::from(right(i))).collect::<Vec<_>>();
            let a = mark(&|i| i < first || i >= first + second);
            let b = mark(&|i| i >= first);
            mcnemar(&vec![1; n], &a, &b).unwrap()
        };
        // 2·(1 + 10 + 45)/2¹⁰
        let t = test(8, 2, 50);
        assert_eq!((t.only_first, t.only_second, t.p, t.exact), (8, 2, 112.0 / 1024.0, true));
        assert_eq!((test(5, 5, 0).p, test(0, 0, 7).p), (1.0, 1.0));
        let (exact, normal) = (test(540, 460, 0), test(541, 460, 0));
        assert!(exact.exact && !normal.exact && (exact.p - normal.p).abs() < 0.001);
        assert!((exact.p - 0.0124).abs() < 0.001, "{}", exact.p);
    }

    #[test]
    fn undefined_results_are_none() {
        assert_eq!(wilcoxon(&[], &[], 0.0), None);
        assert_eq!(wilcoxon(&[1.0], &[], 0.0), None);
        assert_eq!(wilcoxon(&[f64::NAN], &[1.0], 0.0), None);
        assert_eq!(wilcoxon(&[1.0], &[2.0], f64::NAN), None);
        assert_eq!(wilcoxon(&[1.0, 2.0], &[1.0, 2.0], 0.0).unwrap().p, 1.0);
        assert_eq!(mcnemar(&[], &[], &[]), None);
        assert_eq!(mcnemar(&[1], &[1], &[]), None);
        assert_eq!(ranks(&[1.0, f64::NAN], 0.0), None);
        assert_eq!(ranks(&[], 0.0), Some(vec![]));
        assert_eq!(mean_ranks(&[vec![1.0], vec![1.0, 2.0]], 0.0), None);
        assert_eq!(mean_ranks::<[f64; 2]>(&[], 0.0), None);
    }
}
