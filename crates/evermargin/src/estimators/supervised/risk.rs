//! The regularized risk of a linear function, as an objective for [`crate::solver::newton_cg`].
//!
//! F(w) = ½|w|² + Σᵢ ℓᵢ(w·xᵢ), where each ℓᵢ is convex, differentiable, and piecewise twice differentiable.
//!
//! A Newton round costs one product Xd (line search), one Xᵀu (gradient), one diagonal of XᵀDX (preconditioner) and one
//! product XᵀDXv per inner step, over rows with nonzero slope or curvature only. The outputs o = Xw are stored and updated
//! together with w. They do not depend on the losses, so the losses may change between runs at no cost ([`Risk::change`]).

use crate::math::blas1::{add, dot};
use crate::math::products::Design;
use crate::solver::newton_cg::{Objective, increasing_root};

/// A loss of each example as a function of its output. The implementation holds the target and cost of each example.
pub trait Loss: Sync {
    /// ℓᵢ(o), ℓᵢ'(o) and ℓᵢ''(o).
    fn at(&self, i: usize, output: f64) -> [f64; 3];
}

impl<L: Loss> Loss for &L {
    fn at(&self, i: usize, output: f64) -> [f64; 3] {
        (**self).at(i, output)
    }
}

/// Squared hinge loss c·max(0, 1 − y·o)².
#[derive(Debug, Clone)]
pub struct SquaredHinge {
    /// −1 or 1 for each example.
    pub target: Vec<f64>,
    /// Cost of each example.
    pub cost: Vec<f64>,
}

impl Loss for SquaredHinge {
    fn at(&self, i: usize, output: f64) -> [f64; 3] {
        let (y, c) = (self.target[i], self.cost[i]);
        let slack = 1.0 - y * output;
        if slack > 0.0 { [c * slack * slack, -2.0 * c * y * slack, 2.0 * c] } else { [0.0; 3] }
    }
}

/// Two-sided squared hinge u·max(0, 1 − o)² + d·max(0, 1 + o)²: each example is a positive one with cost u and a negative
/// one with cost d. With a certain label one of the costs is 0; a label probability distributes the cost over both.
#[derive(Debug, Clone)]
pub struct TwoSided {
    /// Cost u of each example as a positive one.
    pub up: Vec<f64>,
    /// Cost d of each example as a negative one.
    pub down: Vec<f64>,
}

impl Loss for TwoSided {
    fn at(&self, i: usize, output: f64) -> [f64; 3] {
        let (below, above) = ((1.0 - output).max(0.0), (1.0 + output).max(0.0));
        let up = if below > 0.0 { self.up[i] } else { 0.0 };
        let down = if above > 0.0 { self.down[i] } else { 0.0 };
        [up * below * below + down * above * above, 2.0 * (down * above - up * below), 2.0 * (up + down)]
    }
}

/// The risk: ½|w|² plus the loss of each output.
#[derive(Debug)]
pub struct Risk<'a, L> {
    design: &'a Design<'a>,
    loss: L,
    outputs: Vec<f64>,
    /// Change of the outputs along the current search direction.
    shift: Vec<f64>,
    slope: Vec<f64>,
    curvature: Vec<f64>,
    /// Rows with nonzero slope.
    sloped: Vec<u32>,
    /// Rows with nonzero curvature.
    curved: Vec<u32>,
}

impl<'a, L: Loss> Risk<'a, L> {
    /// The risk of `loss` on the rows of `design`.
    pub fn new(design: &'a Design<'a>, loss: L) -> Self {
        let zero = || vec![0.0; design.rows()];
        let (outputs, shift, slope, curvature) = (zero(), zero(), zero(), zero());
        Self { design, loss, outputs, shift, slope, curvature, sloped: Vec::new(), curved: Vec::new() }
    }

    /// Outputs at the current point.
    pub fn outputs(&self) -> &[f64] {
        &self.outputs
    }

    /// Changes the losses at the current point `w` and returns the new risk, without a product with the data.
    pub fn change(&mut self, w: &[f64], how: impl FnOnce(&mut L, &[f64])) -> f64 {
        how(&mut self.loss, &self.outputs);
        0.5 * dot(w, w) + self.refresh()
    }

    /// The losses.
    pub fn loss(&self) -> &L {
        &self.loss
    }

    /// Updates slopes, curvatures and active rows at the current outputs; returns the sum of the losses.
    fn refresh(&mut self) -> f64 {
        self.sloped.clear();
        self.curved.clear();
        let mut total = 0.0;
        for (i, &o) in self.outputs.iter().enumerate() {
            let [value, slope, curvature] = self.loss.at(i, o);
            total += value;
            self.slope[i] = slope;
            self.curvature[i] = curvature;
            if slope != 0.0 {
                self.sloped.push(i as u32);
            }
            if curvature != 0.0 {
                self.curved.push(i as u32);
            }
        }
        total
    }
}

impl<L: Loss> Objective for Risk<'_, L> {
    fn dim(&self) -> usize {
        self.design.dim()
    }

    fn value(&mut self, w: &[f64]) -> f64 {
        self.design.mul(w, &mut self.outputs);
        0.5 * dot(w, w) + self.refresh()
    }

    fn gradient(&mut self, w: &[f64], out: &mut [f64]) {
        out.copy_from_slice(w);
        self.design.add_transposed(&self.sloped, |i| self.slope[i], out);
    }

    fn hess_vec(&mut self, v: &[f64], out: &mut [f64]) {
        out.copy_from_slice(v);
        self.design.add_gram(&self.curved, &self.curvature, v, out);
    }

    /// The diagonal of H, shrunk toward the identity (Hsia, Chiang & Lin 2018). On text the plain diagonal needs more steps
    /// than no preconditioner; on badly scaled columns no preconditioner needs far more steps than the diagonal.
    fn precond(&mut self, diagonal: &mut [f64]) {
        const SHARE: f64 = 0.01;
        diagonal.fill(0.0);
        self.design.add_squares(&self.curved, &self.curvature, diagonal);
        for d in diagonal {
            *d = 1.0 + SHARE * *d;
        }
    }

    fn modulus(&self) -> f64 {
        1.0
    }

    /// Exact line search on φ'(t) = w·d + t·|d|² + Σ sᵢ·ℓᵢ'(oᵢ + t·sᵢ) with s = Xd.
    fn line_search(&mut self, w: &mut [f64], direction: &[f64], _: f64, _: f64) -> Option<f64> {
        self.design.mul(direction, &mut self.shift);
        let (wd, dd) = (dot(w, direction), dot(direction, direction));
        let step = increasing_root(|t| {
            let (mut slope, mut curvature) = (wd + t * dd, dd);
            for (i, (o, s)) in self.outputs.iter().zip(&self.shift).enumerate() {
                let [_, first, second] = self.loss.at(i, o + t * s);
                slope += s * first;
                curvature += s * s * second;
            }
            (slope, curvature)
        });
        add(step, direction, w);
        add(step, &self.shift, &mut self.outputs);
        Some(0.5 * dot(w, w) + self.refresh())
    }
}
