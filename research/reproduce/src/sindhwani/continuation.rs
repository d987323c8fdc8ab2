//! The continuation method (Chapelle, Chi & Zien 2006), a method of tables 3.1 and 3.2.
//!
//! Problem: (λ/2)|w|² + (1/l) Σ ½max(0, 1 − yᵢfᵢ)² + (λᵤ/u) Σ ½exp(−3fⱼ²), f = w·x + 2r − 1, x centered on the unlabeled rows.
//! Convolved with a Gaussian of variance γ/2 in each direction of w, it has one minimum for large γ; the minimum is followed as
//! γ decreases to 0. For each row f then has the variance v = γ|x|²/2, and the terms are
//!
//! - ½[(a² + v)Φ(a/√v) + a√v·φ(a/√v)] for a labeled row, with a = 1 − yf;
//! - ½(1 + 6v)^(−½) exp(−3f²/(1 + 6v)) for an unlabeled row.
//!
//! As in `grad-tsvm`, the Newton solver uses the positive part of the curvature.

use evermargin::metrics::normal_cdf;
use evermargin::solver::Stop;
use evermargin::solver::newton_cg::{Objective, newton};

/// First γ in units of 1/mean |x|², and the number of values of γ, each half of the one before; the last is 0.
const FIRST: f64 = 100.0;
const WIDTHS: i32 = 20;
const STOP: Stop = Stop { tolerance: 1e-5, max_steps: Some(200) };

/// Rows with targets: 1, −1, or 0 for unlabeled rows.
pub(super) struct Rows<'r> {
    pub x: &'r [f64],
    pub columns: usize,
    pub y: &'r [f64],
    pub share: f64,
    pub lambda: f64,
    pub lambda_u: f64,
}

struct Smoothed<'r> {
    rows: &'r Rows<'r>,
    x: &'r [f64],
    variance: Vec<f64>,
    weight: [f64; 2],
    f: Vec<f64>,
}

impl Smoothed<'_> {
    /// Value, slope and positive part of the curvature of the term of a row.
    fn term(&self, i: usize) -> [f64; 3] {
        let (f, y, v) = (self.f[i], self.rows.y[i], self.variance[i]);
        if y == 0.0 {
            let wide = 1.0 + 6.0 * v;
            let value = self.weight[1] * 0.5 * (-3.0 * f * f / wide).exp() / wide.sqrt();
            let slope = -6.0 * f / wide;
            return [value, value * slope, (value * (slope * slope - 6.0 / wide)).max(0.0)];
        }
        let (a, w) = (1.0 - y * f, self.weight[0]);
        if v == 0.0 {
            let hinge = a.max(0.0);
            return [0.5 * w * hinge * hinge, -w * y * hinge, if a > 0.0 { w } else { 0.0 }];
        }
        let sd = v.sqrt();
        let below = normal_cdf(a / sd);
        let density = (-0.5 * a * a / v).exp() / (2.0 * std::f64::consts::PI).sqrt();
        let first = a * below + sd * density;
        [0.5 * w * ((a * a + v) * below + a * sd * density), -w * y * first, w * below]
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.x[i * self.rows.columns..(i + 1) * self.rows.columns]
    }

    /// Σ scaleᵢxᵢ + λv.
    fn sum(&self, scale: impl Fn(usize) -> f64, v: &[f64], out: &mut [f64]) {
        out.iter_mut().zip(v).for_each(|(o, v)| *o = self.rows.lambda * v);
        for i in 0..self.f.len() {
            let scale = scale(i);
            out.iter_mut().zip(self.row(i)).for_each(|(o, x)| *o += scale * x);
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl Objective for Smoothed<'_> {
    fn dim(&self) -> usize {
        self.rows.columns
    }

    fn value(&mut self, w: &[f64]) -> f64 {
        let middle = 2.0 * self.rows.share - 1.0;
        self.f = (0..self.f.len()).map(|i| dot(self.row(i), w) + middle).collect();
        0.5 * self.rows.lambda * dot(w, w) + (0..self.f.len()).map(|i| self.term(i)[0]).sum::<f64>()
    }

    fn gradient(&mut self, w: &[f64], out: &mut [f64]) {
        self.sum(|i| self.term(i)[1], w, out);
    }

    fn hess_vec(&mut self, v: &[f64], out: &mut [f64]) {
        self.sum(|i| self.term(i)[2] * dot(self.row(i), v), v, out);
    }

    fn modulus(&self) -> f64 {
        self.rows.lambda
    }
}

/// Outputs of all rows and the objective at the end of the path.
pub(super) fn followed(rows: &Rows<'_>) -> (Vec<f64>, f64) {
    let (n, m) = (rows.y.len(), rows.columns);
    let count = rows.y.iter().filter(|y| **y == 0.0).count() as f64;
    let open = count.max(1.0);
    let mut middle = vec![0.0; m];
    for (row, _) in rows.x.chunks_exact(m).zip(rows.y).filter(|(_, y)| **y == 0.0) {
        middle.iter_mut().zip(row).for_each(|(m, x)| *m += x / open);
    }
    let x: Vec<f64> =
        rows.x.chunks_exact(m).flat_map(|row| row.iter().zip(&middle).map(|(x, m)| x - m)).collect();
    let size: Vec<f64> = x.chunks_exact(m).map(|row| dot(row, row)).collect();
    let mean = (size.iter().sum::<f64>() / n as f64).max(f64::MIN_POSITIVE);
    let known = (n as f64 - count).max(1.0);
    let mut w = vec![0.0; m];
    let mut objective = Smoothed {
        rows,
        x: &x,
        variance: Vec::new(),
        weight: [1.0 / known, rows.lambda_u / open],
        f: vec![0.0; n],
    };
    let mut lowest = 0.0;
    for step in 0..=WIDTHS {
        let gamma = if step == WIDTHS { 0.0 } else { FIRST / mean * 0.5_f64.powi(step) };
        objective.variance = size.iter().map(|s| 0.5 * gamma * s).collect();
        lowest = newton(&mut objective, &mut w, STOP, &()).objective;
    }
    objective.value(&w);
    (objective.f, lowest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line() -> (Vec<f64>, Vec<f64>) {
        let x = vec![-2.2, -2.0, -1.9, -1.6, 1.5, 1.8, 2.1, 2.3];
        (x, vec![-1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    }

    #[test]
    fn terms_are_gaussian_means_and_slopes_match_differences() {
        let (x, y) = line();
        let rows = Rows { x: &x, columns: 1, y: &y, share: 0.5, lambda: 0.1, lambda_u: 1.0 };
        let variance = vec![0.7; 8];
        let mut smooth = Smoothed { rows: &rows, x: &x, variance, weight: [1.0, 1.0], f: vec![0.4; 8] };
        for i in [0, 1] {
            // Simpson's rule over twelve standard deviations
            let (sd, steps) = (0.7_f64.sqrt(), 4000);
            let plain =
                |f: f64| if i == 0 { 0.5 * (1.0 + f).max(0.0).powi(2) } else { 0.5 * (-3.0 * f * f).exp() };
            let at = |k: i32| -6.0 * sd + 12.0 * sd * f64::from(k) / f64::from(steps);
            let density = |t: f64| (-0.5 * t * t / 0.7).exp() / (2.0 * std::f64::consts::PI * 0.7).sqrt();
            let part = |k: i32| [1.0, 4.0, 2.0][if k == 0 || k == steps { 0 } else { 2 - (k % 2) as usize }];
            let sum: f64 = (0..=steps).map(|k| part(k) * plain(0.4 + at(k)) * density(at(k))).sum();
            let mean = sum * 12.0 * sd / f64::from(steps) / 3.0;
            assert!((smooth.term(i)[0] - mean).abs() < 1e-6, "{i}: {} {mean}", smooth.term(i)[0]);
            let slope = smooth.term(i)[1];
            let mut at = |f: f64| {
                smooth.f[i] = f;
                smooth.term(i)[0]
            };
            let difference = (at(0.4 + 1e-5) - at(0.4 - 1e-5)) / 2e-5;
            assert!((slope - difference).abs() < 1e-6);
            smooth.f[i] = 0.4;
        }
    }

    #[test]
    fn boundary_lies_in_the_gap() {
        let (x, y) = line();
        let rows = Rows { x: &x, columns: 1, y: &y, share: 0.5, lambda: 0.1, lambda_u: 1.0 };
        let (f, objective) = followed(&rows);
        assert!(f[..4].iter().all(|f| *f < 0.0) && f[4..].iter().all(|f| *f > 0.0), "{f:?}");
        assert!(objective > 0.0 && objective < 0.5);
    }
}
