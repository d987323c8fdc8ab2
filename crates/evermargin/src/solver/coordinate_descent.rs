//! Dual coordinate descent for the linear squared hinge, a fast way to the neighborhood of the optimum.
//!
//! min over α ≥ 0 of ½|w|² + Σᵢ αᵢ²/(4cᵢ) − Σᵢ αᵢ with w = Σᵢ αᵢyᵢxᵢ, the dual of ½|w|² + Σᵢ cᵢ·max(0, 1 − yᵢw·xᵢ)².
//! Hsieh, Chang, Lin, Keerthi & Sundararajan (2008), algorithm 3: one example at a time in random order, with
//! shrinking.
//!
//! This is a solver of its own because, without the equality constraint of a free constant, a step needs one example
//! instead of a pair, and since w is maintained, it costs the values of one row instead of a kernel row. On text it
//! reaches six digits in the time of twenty products with the matrix, where Newton's method needs a hundred. It is
//! sequential and slows down on ill-conditioned problems; it then returns [`Reached::Slow`], and Newton's method
//! continues from its w.

use crate::math::blas1::dot;
use crate::math::products::Design;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Solver state: α, w, and the examples that are not shrunk.
#[derive(Debug)]
pub struct CoordinateDescent<'a> {
    design: &'a Design<'a>,
    target: &'a [f64],
    cost: &'a [f64],
    alpha: Vec<f64>,
    curvature: Vec<f64>,
    order: Vec<u32>,
    n_active: usize,
    shrink_above: f64,
    rng: Pcg64,
    passes: u64,
}

/// Result of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reached {
    /// Every example satisfies its optimality condition to the tolerance.
    Optimum,
    /// Progress has become slow.
    Slow,
    /// The maximum number of passes is reached.
    Limit,
}

/// Number of passes over which the violation must decrease to a third.
const PATIENCE: usize = 10;

impl<'a> CoordinateDescent<'a> {
    /// Starts at the α that `w` and its outputs Xw imply (at 0 when w is 0), and sets `w` to match α.
    pub fn new(
        design: &'a Design<'a>,
        target: &'a [f64],
        cost: &'a [f64],
        outputs: &[f64],
        w: &mut [f64],
    ) -> Self {
        let n = design.rows();
        let implied = |i: usize| 2.0 * cost[i] * (1.0 - target[i] * outputs[i]).max(0.0);
        let cold = w.iter().all(|v| *v == 0.0);
        let alpha: Vec<f64> = if cold { vec![0.0; n] } else { (0..n).map(implied).collect() };
        w.fill(0.0);
        let order: Vec<u32> = (0..n as u32).collect();
        design.add_transposed(&order, |i| alpha[i] * target[i], w);
        let curvature = (0..n).map(|i| design.norm2(i) + 0.5 / cost[i]).collect();
        let rng = Pcg64::seed_from_u64(0x6d61_7267_696e);
        let shrink_above = f64::INFINITY;
        Self { design, target, cost, alpha, curvature, order, n_active: n, shrink_above, rng, passes: 0 }
    }

    /// Number of passes over the active examples so far.
    pub fn passes(&self) -> u64 {
        self.passes
    }

    /// √((P − D)/P) with the given primal value P and the dual value D at α: its square bounds the relative error of P.
    pub fn relative_gap(&self, w: &[f64], primal: f64) -> f64 {
        let linear: f64 = self.alpha.iter().zip(self.cost).map(|(a, c)| a - 0.25 * a * a / c).sum();
        let dual = linear - 0.5 * dot(w, w);
        ((primal - dual).max(0.0) / primal.max(f64::MIN_POSITIVE)).sqrt()
    }

    /// Continues until the optimality conditions of all examples hold to `tolerance` (in units of the margin).
    /// `proceed` is called after each pass; if it returns false, the run ends as [`Reached::Slow`]. `max_passes` limits
    /// the passes of all runs together.
    pub fn run(
        &mut self,
        w: &mut [f64],
        tolerance: f64,
        max_passes: Option<u64>,
        proceed: impl Fn(u64, f64) -> bool,
    ) -> Reached {
        let mut history: Vec<f64> = Vec::new();
        loop {
            if max_passes.is_some_and(|max| self.passes >= max) {
                return Reached::Limit;
            }
            let violation = self.pass(w);
            if violation <= tolerance {
                if self.n_active == self.order.len() {
                    return Reached::Optimum;
                }
                self.n_active = self.order.len();
                self.shrink_above = f64::INFINITY;
                continue;
            }
            history.push(violation);
            let now = history.len() - 1;
            let slow = now >= 2 * PATIENCE && violation > 0.33 * history[now - PATIENCE];
            if slow || !proceed(self.passes, violation) {
                return Reached::Slow;
            }
        }
    }

    /// One pass in random order; returns the range of the projected gradient.
    fn pass(&mut self, w: &mut [f64]) -> f64 {
        self.passes += 1;
        let (mut top, mut bottom) = (f64::NEG_INFINITY, f64::INFINITY);
        for i in (1..self.n_active).rev() {
            self.order.swap(i, self.rng.random_range(0..=i));
        }
        let mut s = 0;
        while s < self.n_active {
            let i = self.order[s] as usize;
            let (y, old) = (self.target[i], self.alpha[i]);
            let gradient = y * self.design.dot(i, w) - 1.0 + 0.5 * old / self.cost[i];
            if old == 0.0 && gradient > self.shrink_above {
                self.n_active -= 1;
                self.order.swap(s, self.n_active);
                continue;
            }
            let projected = if old == 0.0 { gradient.min(0.0) } else { gradient };
            top = top.max(projected);
            bottom = bottom.min(projected);
            if projected.abs() > 1e-12 {
                self.alpha[i] = (old - gradient / self.curvature[i]).max(0.0);
                self.design.add_row(i, (self.alpha[i] - old) * y, w);
            }
            s += 1;
        }
        self.shrink_above = if top > 0.0 { top } else { f64::INFINITY };
        (top - bottom).max(0.0)
    }
}
