//! Calibration: monotone maps from decision values to probabilities, fitted after training. Fit them on decision values
//! of samples that the model was not trained on (cross-validation); otherwise the probabilities are too extreme.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// A monotone map from a decision value to the probability of the positive class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Calibration {
    /// 1 / (1 + exp(a·f + b)), a ≤ 0 (Platt; Lin, Lin & Weng 2007).
    Sigmoid {
        /// Slope.
        a: f64,
        /// Offset.
        b: f64,
    },
    /// Piecewise linear through the points of an isotonic (pool-adjacent-violators) fit.
    Isotonic {
        /// Decision values, ascending.
        at: Vec<f64>,
        /// Probabilities in ascending order.
        probability: Vec<f64>,
    },
}

/// Calibrations that users can choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CalibrationKind {
    /// A sigmoid with two parameters; suits few samples.
    Sigmoid,
    /// A monotone function of any shape; suits a thousand samples or more.
    Isotonic,
}

impl Calibration {
    /// Fits a calibration to decision values, whether each sample is positive, and its weight (an empty slice: all 1).
    pub fn fit(
        kind: CalibrationKind,
        decisions: &[f64],
        positives: &[bool],
        weights: &[f64],
    ) -> Result<Self> {
        let samples = Samples::new(decisions, positives, weights)?;
        Ok(match kind {
            CalibrationKind::Sigmoid => sigmoid(&samples),
            CalibrationKind::Isotonic => isotonic(&samples),
        })
    }

    /// The probability of the positive class at decision value `f`.
    pub fn probability(&self, f: f64) -> f64 {
        match self {
            Self::Sigmoid { a, b } => logistic(-(a * f + b)),
            Self::Isotonic { at, probability } => {
                let right = at.partition_point(|x| *x <= f);
                match (right.checked_sub(1), probability.get(right)) {
                    (None, first) => first.copied().unwrap_or(0.5),
                    (Some(left), None) => probability[left],
                    (Some(left), Some(upper)) => {
                        let share = (f - at[left]) / (at[right] - at[left]);
                        let share = if share.is_finite() { share } else { 0.0 };
                        probability[left] + share * (upper - probability[left])
                    }
                }
            }
        }
    }
}

impl Calibration {
    /// Changes the calibration to that of −f and the other class: p(f) becomes 1 − p(−f).
    pub fn mirror(&mut self) {
        match self {
            Self::Sigmoid { b, .. } => *b = -*b,
            Self::Isotonic { at, probability } => {
                at.reverse();
                at.iter_mut().for_each(|f| *f = -*f);
                probability.reverse();
                probability.iter_mut().for_each(|p| *p = 1.0 - *p);
            }
        }
    }
}

/// Samples by ascending decision value, without those of weight 0.
struct Samples {
    decision: Vec<f64>,
    positive: Vec<bool>,
    weight: Vec<f64>,
}

impl Samples {
    fn new(decisions: &[f64], positives: &[bool], weights: &[f64]) -> Result<Self> {
        let n = decisions.len();
        for (what, found) in [("labels to calibrate on", positives.len()), ("weights", weights.len())] {
            if found != n && !(what == "weights" && found == 0) {
                return Err(Error::Shape { what, expected: n, found });
            }
        }
        let weight = |i: usize| weights.get(i).copied().unwrap_or(1.0);
        if (0..n).any(|i| !(decisions[i].is_finite() && weight(i).is_finite() && weight(i) >= 0.0)) {
            return Err(Error::Data(
                "calibration needs finite decision values and weights of 0 or more".into(),
            ));
        }
        let mut order: Vec<usize> = (0..n).filter(|&i| weight(i) > 0.0).collect();
        order.sort_by(|&i, &j| decisions[i].total_cmp(&decisions[j]));
        if !order.iter().any(|&i| positives[i]) || order.iter().all(|&i| positives[i]) {
            return Err(Error::Data("calibration needs samples of both classes".into()));
        }
        Ok(Self {
            decision: order.iter().map(|&i| decisions[i]).collect(),
            positive: order.iter().map(|&i| positives[i]).collect(),
            weight: order.iter().map(|&i| weight(i)).collect(),
        })
    }

    fn total(&self, positive: bool) -> f64 {
        (0..self.weight.len()).filter(|&i| self.positive[i] == positive).map(|i| self.weight[i]).sum()
    }
}

/// 1/(1 + e^(−z)) without overflow.
fn logistic(z: f64) -> f64 {
    if z >= 0.0 { 1.0 / (1.0 + (-z).exp()) } else { z.exp() / (1.0 + z.exp()) }
}

/// min over a, b of −Σ wᵢ(tᵢ ln pᵢ + (1 − tᵢ) ln(1 − pᵢ)), pᵢ = 1/(1 + exp(a·fᵢ + b)), with Platt's smoothed targets
/// t₊ = (N₊ + 1)/(N₊ + 2), t₋ = 1/(N₋ + 2): Newton with backtracking in the stable form of Lin, Lin & Weng
/// (2007). Departures: decision values are standardized internally, so that the ridge on the Hessian does not depend on
/// their scale; if the best slope decreases with f (a > 0: a model worse than chance), the result is the constant, a = 0.
fn sigmoid(samples: &Samples) -> Calibration {
    let (positives, negatives) = (samples.total(true), samples.total(false));
    let total = positives + negatives;
    let high = (positives + 1.0) / (positives + 2.0);
    let low = 1.0 / (negatives + 2.0);
    let target = |i: usize| if samples.positive[i] { high } else { low };
    let mean = |v: &dyn Fn(usize) -> f64| {
        (0..samples.weight.len()).map(|i| samples.weight[i] / total * v(i)).sum::<f64>()
    };
    let center = mean(&|i| samples.decision[i]);
    let spread = mean(&|i| (samples.decision[i] - center).powi(2)).sqrt();
    let spread = if spread.is_normal() { spread } else { 1.0 };
    let z: Vec<f64> = samples.decision.iter().map(|f| (f - center) / spread).collect();
    let loss = |a: f64, b: f64| {
        mean(&|i| {
            let s = a * z[i] + b;
            if s >= 0.0 {
                target(i) * s + (-s).exp().ln_1p()
            } else {
                (target(i) - 1.0) * s + s.exp().ln_1p()
            }
        })
    };
    let constant = {
        let t = mean(&target);
        ((1.0 - t) / t).ln()
    };
    let (mut a, mut b) = (0.0, constant);
    let mut value = loss(a, b);
    for _ in 0..200 {
        let (mut ga, mut gb, mut haa, mut hbb, mut hab) = (0.0, 0.0, 1e-12, 1e-12, 0.0);
        for i in 0..z.len() {
            let p = logistic(-(a * z[i] + b));
            let (d1, d2) =
                (samples.weight[i] / total * (target(i) - p), samples.weight[i] / total * p * (1.0 - p));
            ga += z[i] * d1;
            gb += d1;
            haa += z[i] * z[i] * d2;
            hbb += d2;
            hab += z[i] * d2;
        }
        if ga.abs() < 1e-10 && gb.abs() < 1e-10 {
            break;
        }
        let det = haa * hbb - hab * hab;
        let (da, db) = (-(hbb * ga - hab * gb) / det, -(haa * gb - hab * ga) / det);
        let slope = ga * da + gb * db;
        let mut step = 1.0;
        while step > 1e-10 && loss(a + step * da, b + step * db) > value + 1e-4 * step * slope {
            step *= 0.5;
        }
        if step <= 1e-10 {
            break;
        }
        (a, b) = (a + step * da, b + step * db);
        value = loss(a, b);
    }
    if a < 0.0 && a.is_finite() && b.is_finite() {
        Calibration::Sigmoid { a: a / spread, b: b - a * center / spread }
    } else {
        Calibration::Sigmoid { a: 0.0, b: constant }
    }
}

/// The ascending sequence nearest to the labels in weighted squares (pool adjacent violators; Ayer et al. 1955). Equal
/// decision values are one point. A block of equal probability is stored as its two ends.
fn isotonic(samples: &Samples) -> Calibration {
    struct Block {
        from: f64,
        to: f64,
        weight: f64,
        positive: f64,
    }
    let rate = |b: &Block| b.positive / b.weight;
    let mut blocks: Vec<Block> = Vec::new();
    let mut i = 0;
    while i < samples.decision.len() {
        let f = samples.decision[i];
        let mut block = Block { from: f, to: f, weight: 0.0, positive: 0.0 };
        while i < samples.decision.len() && samples.decision[i] == f {
            block.weight += samples.weight[i];
            block.positive += if samples.positive[i] { samples.weight[i] } else { 0.0 };
            i += 1;
        }
        while let Some(last) = blocks.pop_if(|last| rate(last) >= rate(&block)) {
            block = Block {
                from: last.from,
                to: block.to,
                weight: last.weight + block.weight,
                positive: last.positive + block.positive,
            };
        }
        blocks.push(block);
    }
    let (mut at, mut probability) = (Vec::new(), Vec::new());
    for block in &blocks {
        let p = rate(block).clamp(0.0, 1.0);
        at.push(block.from);
        probability.push(p);
        if block.to > block.from {
            at.push(block.to);
            probability.push(p);
        }
    }
    Calibration::Isotonic { at, probability }
}

#[cfg(test)]
mod tests {
    use super::*;
    use CalibrationKind::{Isotonic, Sigmoid};

    /// Overlapping classes, with decision values far from 0.
    fn example(n: usize) -> (Vec<f64>, Vec<bool>, Vec<f64>) {
        let noise = |i: usize, k: f64| ((i as f64 * k).sin() * 43_758.545).fract();
        let f: Vec<f64> = (0..n).map(|i| 30.0 + 7.0 * noise(i, 12.9898)).collect();
        let y = (0..n).map(|i| f[i] - 30.0 + 6.0 * noise(i, 78.233) > 0.5).collect();
        let w = (0..n).map(|i| 0.5 + noise(i, 3.7).abs()).collect();
        (f, y, w)
    }

    fn likelihood(a: f64, b: f64, f: &[f64], y: &[bool], w: &[f64]) -> f64 {
        let total = |side: bool| (0..f.len()).filter(|&i| y[i] == side).map(|i| w[i]).sum::<f64>();
        let (high, low) = ((total(true) + 1.0) / (total(true) + 2.0), 1.0 / (total(false) + 2.0));
        (0..f.len())
            .map(|i| {
                let t = if y[i] { high } else { low };
                let p = 1.0 / (1.0 + (a * f[i] + b).exp());
                -w[i] * (t * p.ln() + (1.0 - t) * (1.0 - p).ln())
            })
            .sum()
    }

    #[test]
    fn sigmoid_maximizes_the_likelihood_on_a_grid() {
        let (f, y, w) = example(200);
        let Calibration::Sigmoid { a, b } = Calibration::fit(Sigmoid, &f, &y, &w).unwrap() else {
            unreachable!()
        };
        assert!(a < 0.0);
        let best = likelihood(a, b, &f, &y, &w);
        // Brute force: a fine grid around the result, varying the slope and the value at the mean decision separately.
        for i in -50..=50 {
            for j in -50..=50 {
                let slope = a * (1.0 + f64::from(i) / 100.0);
                let offset = b + (a - slope) * 30.0 + f64::from(j) / 100.0;
                assert!(best <= likelihood(slope, offset, &f, &y, &w) + 1e-9);
            }
        }
    }

    #[test]
    fn weight_two_equals_two_copies() {
        let (f, y, _) = example(100);
        let twice: Vec<f64> = f.iter().chain(&f).copied().collect();
        let both: Vec<bool> = y.iter().chain(&y).copied().collect();
        for kind in [Sigmoid, Isotonic] {
            let a = Calibration::fit(kind, &f, &y, &[2.0; 100]).unwrap();
            let b = Calibration::fit(kind, &twice, &both, &[]).unwrap();
            for t in [20.0, 28.0, 30.0, 31.5, 40.0] {
                assert!((a.probability(t) - b.probability(t)).abs() < 1e-7);
            }
        }
    }

    /// The isotonic fit at i: max over starts ≤ i of min over ends ≥ i of the mean between them.
    fn isotonic_by_brute_force(y: &[bool], w: &[f64]) -> Vec<f64> {
        let mean = |s: usize, e: usize| {
            let total: f64 = w[s..=e].iter().sum();
            (s..=e).filter(|&i| y[i]).map(|i| w[i]).sum::<f64>() / total
        };
        let lowest = |s: usize, i: usize| (i..y.len()).map(|e| mean(s, e)).fold(f64::INFINITY, f64::min);
        (0..y.len()).map(|i| (0..=i).map(|s| lowest(s, i)).fold(0.0, f64::max)).collect()
    }

    #[test]
    fn isotonic_fit_equals_brute_force() {
        for n in [2, 5, 17, 40] {
            let (_, mut y, w) = example(n);
            (y[0], y[1]) = (true, false);
            let f: Vec<f64> = (0..n).map(|i| i as f64).collect();
            let fitted = Calibration::fit(Isotonic, &f, &y, &w).unwrap();
            for (i, p) in isotonic_by_brute_force(&y, &w).into_iter().enumerate() {
                assert!((fitted.probability(i as f64) - p).abs() < 1e-12, "{n} {i}");
            }
        }
    }

    #[test]
    fn probabilities_are_monotone_and_within_bounds() {
        let (f, mut y, w) = example(150);
        for _ in 0..2 {
            for kind in [Sigmoid, Isotonic] {
                let fitted = Calibration::fit(kind, &f, &y, &w).unwrap();
                let mut last = 0.0;
                for k in -2000..2000 {
                    let p = fitted.probability(f64::from(k) * 0.1);
                    assert!((0.0..=1.0).contains(&p) && p >= last);
                    last = p;
                }
                for extreme in [f64::MAX, f64::MIN] {
                    assert!((0.0..=1.0).contains(&fitted.probability(extreme)));
                }
            }
            y = y.iter().map(|y| !y).collect();
        }
    }

    #[test]
    fn handles_separated_and_constant_data_and_refuses_invalid_data() {
        let f = [-1e-3, -2e-3, 1e-3, 3e-3];
        let y = [false, false, true, true];
        for kind in [Sigmoid, Isotonic] {
            let fitted = Calibration::fit(kind, &f, &y, &[]).unwrap();
            assert!(fitted.probability(3e-3) > 0.6 && fitted.probability(-2e-3) < 0.4, "{fitted:?}");
            let flat = Calibration::fit(kind, &[5.0; 4], &y, &[]).unwrap();
            assert!((flat.probability(5.0) - 0.5).abs() < 1e-9);
            assert!(Calibration::fit(kind, &f, &[true; 4], &[]).is_err());
            assert!(Calibration::fit(kind, &f, &y, &[1.0, 1.0, 0.0, 0.0]).is_err());
            assert!(Calibration::fit(kind, &[f64::NAN, 0.0], &[true, false], &[]).is_err());
            assert!(Calibration::fit(kind, &f, &[true, false], &[]).is_err());
            assert!(Calibration::fit(kind, &[], &[], &[]).is_err());
        }
    }
}
