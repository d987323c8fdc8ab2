//! The probability step of deterministic annealing (Sindhwani 2007, sections 3.3 and 6.4).
//!
//! min over p of (1/u) Σ pⱼgⱼ + (T/u) Σ [pⱼ log pⱼ + (1−pⱼ) log(1−pⱼ)] subject to mean p = r has the solution
//! pⱼ = 1/(1 + exp((gⱼ − ν)/T)), ν the root of mean p(ν) = r. Between min g and max g, both shifted by T·log(r/(1−r)),
//! mean p goes from at most r to at least r: Newton's steps are kept inside that bracket.

/// Mean p that counts as the ratio.
const EXACT: f64 = 1e-10;

/// Writes the probabilities for the costs `g` at temperature `t` > 0 with mean `ratio`, and returns ν.
pub fn probabilities(g: &[f64], t: f64, ratio: f64, p: &mut [f64]) -> f64 {
    if g.is_empty() {
        return 0.0;
    }
    let shift = t * (ratio / (1.0 - ratio)).ln();
    let mut low = g.iter().copied().fold(f64::INFINITY, f64::min) + shift;
    let mut high = g.iter().copied().fold(f64::NEG_INFINITY, f64::max) + shift;
    let mut nu = 0.5 * (low + high);
    loop {
        let (mut sum, mut slope) = (0.0, 0.0);
        for (p, g) in p.iter_mut().zip(g) {
            *p = logistic((nu - g) / t);
            sum += *p;
            slope += *p * (1.0 - *p);
        }
        let n = g.len() as f64;
        let excess = sum / n - ratio;
        if excess.abs() <= EXACT {
            return nu;
        }
        if excess < 0.0 {
            low = nu;
        } else {
            high = nu;
        }
        let mut next = nu - excess * n * t / slope;
        if !(next > low && next < high) {
            next = 0.5 * (low + high);
        }
        if next == nu || next <= low || next >= high {
            return nu;
        }
        nu = next;
    }
}

/// 1/(1 + e⁻ᶻ) without overflow.
fn logistic(z: f64) -> f64 {
    if z >= 0.0 {
        1.0 / (1.0 + (-z).exp())
    } else {
        let e = z.exp();
        e / (1.0 + e)
    }
}

/// The mean divergence of p from q, both probabilities of a label.
pub fn mean_kl(p: &[f64], q: &[f64]) -> f64 {
    let part = |p: f64, q: f64| if p > 0.0 { p * (p / q.max(f64::MIN_POSITIVE)).ln() } else { 0.0 };
    let sum: f64 = p.iter().zip(q).map(|(&p, &q)| part(p, q) + part(1.0 - p, 1.0 - q)).sum();
    sum / p.len().max(1) as f64
}

/// The mean entropy of p, in nats.
pub fn mean_entropy(p: &[f64]) -> f64 {
    let part = |p: f64| if p > 0.0 { -p * p.ln() } else { 0.0 };
    p.iter().map(|&p| part(p) + part(1.0 - p)).sum::<f64>() / p.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{GenerateParams, generate};

    fn costs() -> Vec<f64> {
        let (x, _) = generate("g50c", &GenerateParams { rows: 40, seed: 7, ..Default::default() }).unwrap();
        let crate::Matrix::Dense { values, .. } = x.view().to_dense() else { unreachable!() };
        values[..200].iter().map(|v| 3.0 * v).collect()
    }

    #[test]
    fn the_mean_is_the_ratio_and_higher_costs_are_less_likely() {
        let g = costs();
        let mut p = vec![0.0; g.len()];
        for t in [1e3, 10.0, 1.0, 0.1, 1e-2, 1e-3] {
            for ratio in [0.01, 0.3, 0.5, 0.97] {
                probabilities(&g, t, ratio, &mut p);
                let mean = p.iter().sum::<f64>() / p.len() as f64;
                assert!((mean - ratio).abs() <= 1e-10, "{t} {ratio}: {mean}");
                assert!(p.iter().all(|p| (0.0..=1.0).contains(p)));
                for (i, j) in [(0, 1), (5, 90), (17, 150), (199, 3)] {
                    assert!(g[i] >= g[j] || p[i] >= p[j], "{t} {ratio}");
                }
            }
        }
    }

    #[test]
    fn hot_is_the_ratio_and_cold_is_a_ranking() {
        let g = costs();
        let mut p = vec![0.0; g.len()];
        probabilities(&g, 1e9, 0.3, &mut p);
        assert!(p.iter().all(|p| (p - 0.3).abs() < 1e-6));
        assert!(mean_kl(&p, &vec![0.3; g.len()]) < 1e-12);
        probabilities(&g, 1e-6, 0.3, &mut p);
        let mut sorted = g.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        for (p, g) in p.iter().zip(&g) {
            let hard = f64::from(u8::from(*g < sorted[60]));
            assert!((p - hard).abs() < 1e-6, "{p} {g}");
        }
        assert!(mean_entropy(&p) < 1e-6);
        probabilities(&[2.0; 5], 1e-6, 0.2, &mut p[..5]);
        assert!(p[..5].iter().all(|p| (p - 0.2).abs() < 1e-9), "equal costs share alike");
        assert_eq!(probabilities(&[], 1.0, 0.5, &mut []), 0.0);
    }

    #[test]
    fn entropy_and_divergence_of_known_values() {
        assert!((mean_entropy(&[0.5, 0.0, 1.0]) - 2.0f64.ln() / 3.0).abs() < 1e-15);
        assert!((mean_kl(&[1.0], &[0.25]) - 4.0f64.ln()).abs() < 1e-15);
        assert_eq!(mean_kl(&[0.3], &[0.3]), 0.0);
    }
}
