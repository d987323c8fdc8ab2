//! Multi-class probabilities from the probabilities of two-class decisions.

/// One-vs-rest: the probabilities divided by their sum; all equal if all are zero.
pub fn normalize(probabilities: &[f64]) -> Vec<f64> {
    let clean: Vec<f64> =
        probabilities.iter().map(|p| if p.is_finite() { p.max(0.0) } else { 0.0 }).collect();
    let total: f64 = clean.iter().sum();
    if total > 0.0 && total.is_finite() {
        clean.iter().map(|p| p / total).collect()
    } else {
        vec![1.0 / clean.len().max(1) as f64; clean.len()]
    }
}

/// One-vs-one coupling. `pairwise[i·k + j]` is the probability of class i given that the class is i or j; the diagonal
/// and the lower triangle are not read (r_ji = 1 − r_ij).
///
/// min over p ≥ 0, Σp = 1 of Σᵢ Σ_{j≠i} (r_ji·pᵢ − r_ij·pⱼ)²: the second method of Wu, Lin & Weng (2004), by their
/// fixed-point algorithm 2. Departures: r is kept within [1e-7, 1 − 1e-7] as in LIBSVM and NaN counts as ½, so that the
/// minimum exists and is unique; the loop ends at a violation of 1e-12.
pub fn couple(pairwise: &[f64], classes: usize) -> Vec<f64> {
    let k = classes;
    if k == 0 || pairwise.len() < k * k {
        return vec![1.0 / k.max(1) as f64; k];
    }
    let r = |i: usize, j: usize| {
        let upper = pairwise[i.min(j) * k + i.max(j)];
        let upper = if upper.is_nan() { 0.5 } else { upper.clamp(1e-7, 1.0 - 1e-7) };
        if i < j { upper } else { 1.0 - upper }
    };
    let mut q = vec![0.0; k * k];
    for t in 0..k {
        for j in (0..k).filter(|&j| j != t) {
            q[t * k + t] += r(j, t) * r(j, t);
            q[t * k + j] = -r(j, t) * r(t, j);
        }
    }
    let mut p = vec![1.0 / k as f64; k];
    for _ in 0..1000.max(100 * k) {
        let qp: Vec<f64> = (0..k).map(|t| (0..k).map(|j| q[t * k + j] * p[j]).sum()).collect();
        let pqp: f64 = p.iter().zip(&qp).map(|(a, b)| a * b).sum();
        if qp.iter().all(|v| (v - pqp).abs() < 1e-12) {
            break;
        }
        for t in 0..k {
            let image: Vec<f64> = (0..k).map(|s| (0..k).map(|j| q[s * k + j] * p[j]).sum()).collect();
            let now: f64 = p.iter().zip(&image).map(|(a, b)| a * b).sum();
            if q[t * k + t] > 0.0 {
                p[t] += (now - image[t]) / q[t * k + t];
                p = normalize(&p);
            }
        }
    }
    normalize(&p)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn consistent(p: &[f64]) -> Vec<f64> {
        let k = p.len();
        (0..k * k).map(|e| p[e / k] / (p[e / k] + p[e % k])).collect()
    }

    #[test]
    fn coupling_recovers_consistent_probabilities() {
        for p in
            [vec![0.3, 0.7], vec![0.2, 0.5, 0.3], vec![0.1, 0.2, 0.3, 0.4], vec![0.01, 0.9, 0.05, 0.03, 0.01]]
        {
            let q = couple(&consistent(&p), p.len());
            assert!(p.iter().zip(&q).all(|(a, b)| (a - b).abs() < 1e-6), "{p:?} {q:?}");
        }
    }

    #[test]
    fn coupling_minimizes_its_objective_on_a_grid() {
        let k = 3;
        let r = [0.5, 0.9, 0.3, 0.1, 0.5, 0.6, 0.7, 0.4, 0.5];
        let cost = |p: &[f64]| -> f64 {
            let pairs = (0..k * k).filter(|e| e / k != e % k);
            pairs.map(|e| (r[(e % k) * k + e / k] * p[e / k] - r[e] * p[e % k]).powi(2)).sum()
        };
        let best = couple(&r, k);
        for i in 0..=200 {
            for j in 0..=200 - i {
                let p = [f64::from(i) / 200.0, f64::from(j) / 200.0, f64::from(200 - i - j) / 200.0];
                assert!(cost(&best) <= cost(&p) + 1e-9);
            }
        }
    }

    #[test]
    fn degenerate_input_gives_valid_probabilities() {
        for value in [0.0, 1.0, 0.5, f64::NAN] {
            for k in 1..5 {
                let p = couple(&vec![value; k * k], k);
                assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-9 && p.iter().all(|v| *v >= 0.0));
            }
        }
        assert!(couple(&[], 0).is_empty());
        assert_eq!(normalize(&[0.0, 0.0]), [0.5, 0.5]);
        assert_eq!(normalize(&[f64::NAN, 1.0]), [0.0, 1.0]);
        assert_eq!(normalize(&[1.0, 3.0]), [0.25, 0.75]);
    }
}
