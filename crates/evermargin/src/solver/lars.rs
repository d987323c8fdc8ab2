//! Least angle regression: the path of min ½βᵀHβ − cᵀβ + λ|β|₁ from λ = max|c| down. LASSO removes functions from the
//! active set, LARS never does (Sindhwani 2007, section 5.2.2; Efron, Hastie, Johnstone & Tibshirani 2004).
//!
//! With ρ = c − Hβ the conditions are ρⱼ = λ·sign(βⱼ) on the active set J and |ρⱼ| ≤ λ elsewhere. Between break points
//! β moves along δ with H_JJδ = sign(ρ_J) as λ decreases, and ρ along −Hδ. A break point is where an inactive |ρⱼ|
//! reaches λ (j joins) or, for LASSO, an active βⱼ reaches 0 (j leaves). Functions that are linear combinations of J
//! are excluded permanently.
//!
//! This is a solver of its own because the answer is the whole path, piecewise linear between events that no descent
//! step detects. Each piece is exact, and nothing is iterated to a tolerance. H is n × n, so the number of rows is
//! limited ([`MAX_ROWS`]).

use crate::math::blas1::dot;
use crate::math::growing_cholesky::GrowingCholesky;
use crate::solver::{Exit, Progress, Watch};

/// Maximum number of rows: H and the matrices of its computation take 600 MB.
pub const MAX_ROWS: usize = 5_000;
/// A function counts as a linear combination of J if less than this fraction of Hⱼⱼ remains after projection on J.
const MIN_RESIDUAL: f64 = 1e-12;

/// A break point of the path.
#[derive(Debug, Clone, PartialEq)]
pub struct Knot {
    /// λ.
    pub lambda: f64,
    /// The active set in the order of joining, with coefficients, when the path reaches this point: a function that is
    /// about to leave is still included, one that is about to join is not.
    pub active: Vec<(usize, f64)>,
}

/// State of the path computation.
#[derive(Debug)]
struct Path<'h> {
    h: &'h [f64],
    n: usize,
    rho: Vec<f64>,
    lambda: f64,
    active: Vec<usize>,
    beta: Vec<f64>,
    excluded: Vec<bool>,
    factor: GrowingCholesky,
}

/// Event that ends a piece of the path.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Event {
    Join(usize),
    Leave(usize),
    End,
}

/// Break points until `max` functions are active or λ = 0. `drops` selects LASSO. `h` is n × n, row-major.
pub fn l1_path(h: &[f64], c: &[f64], max: usize, drops: bool, watch: &dyn Watch) -> (Vec<Knot>, Exit) {
    let n = c.len();
    let lambda = c.iter().fold(0.0, |a: f64, v| a.max(v.abs()));
    let mut path = Path {
        h,
        n,
        rho: c.to_vec(),
        lambda,
        active: Vec::new(),
        beta: Vec::new(),
        excluded: vec![false; n],
        factor: GrowingCholesky::default(),
    };
    let mut knots = vec![path.knot()];
    let first = (0..n).find(|&j| c[j].abs() == lambda).filter(|_| lambda > 0.0);
    let mut event = first.map_or(Event::End, Event::Join);
    loop {
        let mut left = None;
        match event {
            Event::Join(j) => path.join(j),
            Event::Leave(at) => left = Some(path.leave(at)),
            Event::End => return (knots, Exit::Converged),
        }
        let progress =
            Progress { steps: knots.len() as u64, violation: path.lambda / lambda, tolerance: 0.0 };
        if !watch.proceed(&progress) {
            return (knots, Exit::Interrupted);
        }
        event = path.advance(drops, left);
        knots.push(path.knot());
        if path.active.len() >= max && !matches!(event, Event::Leave(_)) {
            return (knots, Exit::Converged);
        }
    }
}

impl Path<'_> {
    fn knot(&self) -> Knot {
        let active = self.active.iter().copied().zip(self.beta.iter().copied()).collect();
        Knot { lambda: self.lambda, active }
    }

    fn entry(&self, i: usize, j: usize) -> f64 {
        self.h[i * self.n + j]
    }

    fn join(&mut self, j: usize) {
        let mut projection: Vec<f64> = self.active.iter().map(|&i| self.entry(j, i)).collect();
        self.factor.lower(&mut projection);
        let residual = self.entry(j, j) - dot(&projection, &projection);
        if residual <= MIN_RESIDUAL * self.entry(j, j) || residual.is_nan() {
            self.excluded[j] = true;
            return;
        }
        self.factor.push(projection, residual);
        self.active.push(j);
        self.beta.push(0.0);
    }

    /// Removes the active function at position `at`; the rows of the factor after it are recomputed.
    fn leave(&mut self, at: usize) -> usize {
        let (removed, after, beta) =
            (self.active[at], self.active[at + 1..].to_vec(), self.beta[at + 1..].to_vec());
        self.active.truncate(at);
        self.beta.truncate(at);
        self.factor.truncate(at);
        for (j, b) in after.into_iter().zip(beta) {
            let before = self.active.len();
            self.join(j);
            if self.active.len() > before {
                self.beta[before] = b;
            }
        }
        removed
    }

    /// Moves to the next break point. `left` has just left the active set, is at the bound and cannot reach it again on
    /// that side.
    fn advance(&mut self, drops: bool, left: Option<usize>) -> Event {
        let mut delta: Vec<f64> = self.active.iter().map(|&j| self.rho[j].signum()).collect();
        self.factor.lower(&mut delta);
        self.factor.upper(&mut delta);
        let rates: Vec<f64> = (0..self.n)
            .map(|i| self.active.iter().zip(&delta).map(|(&j, d)| self.entry(i, j) * d).sum())
            .collect();
        let (mut step, mut event) = (self.lambda, Event::End);
        let mut consider = |candidate: f64, rate: f64, what: Event| {
            let at = (candidate / rate).max(0.0);
            if rate > 0.0 && at < step {
                (step, event) = (at, what);
            }
        };
        let mut inactive = vec![true; self.n];
        self.active.iter().for_each(|&j| inactive[j] = false);
        for j in (0..self.n).filter(|&j| inactive[j] && !self.excluded[j]) {
            for side in [1.0, -1.0].into_iter().filter(|s| left != Some(j) || *s != self.rho[j].signum()) {
                consider(self.lambda - side * self.rho[j], 1.0 - side * rates[j], Event::Join(j));
            }
        }
        if drops {
            for (at, (b, d)) in self.beta.iter().zip(&delta).enumerate().filter(|(_, (b, _))| **b != 0.0) {
                consider(b.abs(), -d * b.signum(), Event::Leave(at));
            }
        }
        self.beta.iter_mut().zip(&delta).for_each(|(b, d)| *b += step * d);
        if let Event::Leave(at) = event {
            self.beta[at] = 0.0;
        }
        self.rho.iter_mut().zip(&rates).for_each(|(r, f)| *r -= step * f);
        self.lambda = if event == Event::End { 0.0 } else { self.lambda - step };
        event
    }
}
