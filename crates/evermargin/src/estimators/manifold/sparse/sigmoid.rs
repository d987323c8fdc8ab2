//! Smoothness of bounded outputs (Sindhwani 2007, equation 5.5): min ½a|v|² + (γ_I/2)tᵀMt + ½Σwᵢ(yᵢ − oᵢ)²,
//! o = Fv, t = tanh(ρo).
//!
//! A function of a small basis cannot be constant along each class, but its sign can. Departure: tanh replaces
//! 1/(1 + e^(−ρo)). With the latter and a normalized Laplacian, the classes are treated differently, because constants
//! are not in the null space. Departure: the greedy solution is the starting point.
//!
//! The objective is not convex. Newton's method (`solver/newton_cg.rs`) uses the part of its curvature that is never
//! negative, aI + Fᵀ(W + γ_I DMD)F with D = diag(ρ(1 − t²)), so that every direction descends, and ends at a stationary
//! point.

use super::restricted::Restricted;
use crate::estimators::manifold::penalty::Penalty;
use crate::math::blas1::{add, dot};
use crate::solver::newton_cg::Objective;

/// ρ: outputs of ±1 are mapped to ±0.96.
pub const SLOPE: f64 = 2.0;

/// The objective of one problem.
#[derive(Debug)]
pub struct Squashed<'a> {
    gamma: [f64; 2],
    space: &'a Restricted<'a>,
    penalty: &'a Penalty,
    weight: &'a [f64],
    y: &'a [f64],
    outputs: Vec<f64>,
    bounded: Vec<f64>,
    /// Mt.
    image: Vec<f64>,
}

impl<'a> Squashed<'a> {
    /// γ_A and γ_I, the functions, the graph, and weights and labels of the rows.
    pub fn new(
        gamma: [f64; 2],
        space: &'a Restricted<'a>,
        penalty: &'a Penalty,
        weight: &'a [f64],
        y: &'a [f64],
    ) -> Self {
        let zero = || vec![0.0; y.len()];
        Self { gamma, space, penalty, weight, y, outputs: zero(), bounded: zero(), image: zero() }
    }

    /// ρ(1 − t²) at each row.
    fn slopes(&self) -> impl Iterator<Item = f64> + '_ {
        self.bounded.iter().map(|t| SLOPE * (1.0 - t * t))
    }
}

impl Objective for Squashed<'_> {
    fn dim(&self) -> usize {
        self.space.dim()
    }

    fn value(&mut self, v: &[f64]) -> f64 {
        self.outputs = self.space.outputs(v);
        self.bounded = self.outputs.iter().map(|o| (SLOPE * o).tanh()).collect();
        self.image = self.penalty.apply(&self.bounded);
        let errors =
            self.outputs.iter().zip(self.y).zip(self.weight).map(|((o, y), w)| w * (y - o) * (y - o));
        let [a, i] = self.gamma;
        0.5 * (a * dot(v, v) + i * dot(&self.bounded, &self.image) + errors.sum::<f64>())
    }

    fn gradient(&mut self, v: &[f64], out: &mut [f64]) {
        let [a, i] = self.gamma;
        let pull = self.outputs.iter().zip(self.y).zip(self.weight).map(|((o, y), w)| w * (o - y));
        let each: Vec<f64> =
            self.slopes().zip(&self.image).zip(pull).map(|((d, m), pull)| i * d * m + pull).collect();
        out.copy_from_slice(&self.space.transposed(&each));
        add(a, v, out);
    }

    fn hess_vec(&mut self, v: &[f64], out: &mut [f64]) {
        let [a, i] = self.gamma;
        let moved = self.space.outputs(v);
        let scaled: Vec<f64> = self.slopes().zip(&moved).map(|(d, m)| d * m).collect();
        let image = self.penalty.apply(&scaled);
        let fitted = self.weight.iter().zip(&moved).map(|(w, m)| w * m);
        let each: Vec<f64> = self.slopes().zip(&image).zip(fitted).map(|((d, r), f)| i * d * r + f).collect();
        out.copy_from_slice(&self.space.transposed(&each));
        add(a, v, out);
    }

    fn modulus(&self) -> f64 {
        self.gamma[0]
    }
}
