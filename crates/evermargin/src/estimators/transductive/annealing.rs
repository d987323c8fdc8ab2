//! Label probabilities at a temperature: the step of deterministic annealing between two fits.
//!
//! Given the additional costs gⱼ of label + over label −, the temperature T of the entropy and the share r of
//! positives,
//!
//!   min over p of Σ pⱼgⱼ + T(pⱼ ln pⱼ + (1 − pⱼ) ln(1 − pⱼ))   with   mean p = r
//!
//! has the solution pⱼ = 1/(1 + exp((gⱼ − ν)/T)) (Sindhwani 2007, sections 3.3 and 6.4). The mean of p increases with
//! ν; ν lies between min g and max g, shifted by T·logit r. Newton's steps are taken on logit(mean p) − logit r, which
//! is nearly linear in ν where the mean itself is flat at both ends, and kept inside the bracket given by the signs
//! found so far.

/// Tolerance of |mean p − r| when ν is computed.
const TOLERANCE: f64 = 1e-11;

/// Writes p for the given costs and returns ν: the mean of p is `ratio`, 0 < ratio < 1, temperature `t` > 0.
pub fn probabilities(g: &[f64], t: f64, ratio: f64, p: &mut [f64]) -> f64 {
    let total = g.len() as f64;
    let (lowest, highest) =
        g.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &v| (a.min(v), b.max(v)));
    if !(lowest.is_finite() && highest.is_finite()) {
        p.fill(ratio);
        return 0.0;
    }
    let logit = (ratio / (1.0 - ratio)).ln();
    let (mut low, mut high) = (lowest + t * logit, highest + t * logit);
    let mut nu = 0.5 * (low + high);
    for _ in 0..200 {
        let (mut mean, mut slope) = (0.0, 0.0);
        for (p, g) in p.iter_mut().zip(g) {
            *p = logistic((nu - g) / t);
            mean += *p;
            slope += *p * (1.0 - *p);
        }
        (mean, slope) = (mean / total, slope / (total * t));
        if (mean - ratio).abs() <= TOLERANCE {
            break;
        }
        if mean < ratio {
            low = nu;
        } else {
            high = nu;
        }
        let spread = mean * (1.0 - mean);
        let mut next = nu - ((mean / (1.0 - mean)).ln() - logit) * spread / slope;
        if !(next > low && next < high) {
            next = 0.5 * (low + high);
        }
        if next <= low || next >= high {
            break;
        }
        nu = next;
    }
    nu
}

/// 1/(1 + e⁻ᶻ) without overflow.
fn logistic(z: f64) -> f64 {
    let e = (-z.abs()).exp();
    if z >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) }
}

/// Mean of −p ln p − (1 − p) ln(1 − p).
pub fn mean_entropy(p: &[f64]) -> f64 {
    p.iter().map(|&p| -(xlogx(p) + xlogx(1.0 - p))).sum::<f64>() / p.len().max(1) as f64
}

/// Mean of p ln(p/q) + (1 − p) ln((1 − p)/(1 − q)): the divergence of p from q. Infinite if q excludes what p allows.
pub fn mean_divergence(p: &[f64], q: &[f64]) -> f64 {
    let term = |p: f64, q: f64| if p == 0.0 || p == q { 0.0 } else { p * (p / q).ln() };
    let sum: f64 = p.iter().zip(q).map(|(&p, &q)| term(p, q) + term(1.0 - p, 1.0 - q)).sum();
    sum.max(0.0) / p.len().max(1) as f64
}

fn xlogx(x: f64) -> f64 {
    if x > 0.0 { x * x.ln() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costs(n: usize) -> Vec<f64> {
        (0..n).map(|i| ((i * 7919 + 13) % 1009) as f64 / 100.0 - 5.0).collect()
    }

    #[test]
    fn mean_probability_equals_the_ratio_at_every_temperature() {
        for n in [1, 2, 7, 1000] {
            let g = costs(n);
            let mut p = vec![0.0; n];
            for ratio in [1e-6, 0.03, 0.5, 0.77, 0.999] {
                for t in [1e4, 10.0, 0.3, 1e-3, 1e-5] {
                    let nu = probabilities(&g, t, ratio, &mut p);
                    let mean = p.iter().sum::<f64>() / n as f64;
                    assert!((mean - ratio).abs() <= 1e-10, "{n} {ratio} {t}: {mean}");
                    assert!(p.iter().all(|p| (0.0..=1.0).contains(p)));
                    for (p, g) in p.iter().zip(&g) {
                        let expected = 1.0 / (1.0 + ((g - nu) / t).exp());
                        assert!((p - expected).abs() < 1e-12);
                    }
                }
            }
        }
    }

    #[test]
    fn probabilities_decrease_with_cost_and_approach_the_ratio_or_a_ranking() {
        let g = costs(500);
        let mut p = vec![0.0; 500];
        probabilities(&g, 2.0, 0.3, &mut p);
        for i in 0..500 {
            for j in 0..500 {
                assert!(g[i] <= g[j] || p[i] <= p[j]);
            }
        }
        probabilities(&g, 1e9, 0.3, &mut p);
        assert!(p.iter().all(|p| (p - 0.3).abs() < 1e-8));
        assert!((mean_entropy(&p) - -(0.3 * 0.3f64.ln() + 0.7 * 0.7f64.ln())).abs() < 1e-8);
        probabilities(&g, 1e-6, 0.3, &mut p);
        let mut order: Vec<usize> = (0..500).collect();
        order.sort_by(|&a, &b| g[a].total_cmp(&g[b]));
        assert!(order[..150].iter().all(|&i| p[i] > 1.0 - 1e-9));
        assert!(order[150..].iter().all(|&i| p[i] < 1e-9));
        assert!(mean_entropy(&p) < 1e-6);
    }

    #[test]
    fn solution_is_the_minimum() {
        // moving probability between two rows never decreases the sum
        let (g, t) = (costs(9), 0.8);
        let mut p = vec![0.0; 9];
        probabilities(&g, t, 0.4, &mut p);
        let cost = |p: &[f64]| -> f64 {
            p.iter().zip(&g).map(|(p, g)| p * g + t * (xlogx(*p) + xlogx(1.0 - p))).sum()
        };
        let best = cost(&p);
        for i in 0..9 {
            for j in (0..9).filter(|&j| j != i) {
                let mut moved = p.clone();
                let by = 1e-4 * moved[j].min(1.0 - moved[i]);
                moved[i] += by;
                moved[j] -= by;
                assert!(cost(&moved) > best);
            }
        }
    }

    #[test]
    fn divergence_is_zero_only_without_change() {
        assert_eq!(mean_divergence(&[0.0, 1.0, 0.3], &[0.0, 1.0, 0.3]), 0.0);
        assert!((mean_divergence(&[0.5], &[0.25]) - 0.5 * (2.0f64.ln() + (2.0 / 3.0f64).ln())).abs() < 1e-15);
        assert!(mean_divergence(&[0.5], &[0.0]).is_infinite());
    }

    #[test]
    fn handles_empty_and_constant_costs() {
        assert_eq!(probabilities(&[], 1.0, 0.5, &mut []), 0.0);
        let mut p = vec![0.0; 3];
        probabilities(&[2.0; 3], 0.1, 0.25, &mut p);
        assert!(p.iter().all(|p| (p - 0.25).abs() < 1e-11));
    }
}
