//! Truncated Newton method: minimizes a convex, once differentiable F with a (generalized) Hessian.
//!
//! Each round solves H d = −∇F(w) by preconditioned conjugate gradients, to a precision that grows as the optimum is
//! approached, then minimizes F along d exactly. For the piecewise quadratic objectives of the squared hinge this is
//! the modified finite Newton method of Keerthi & DeCoste (2005; Sindhwani 2007, section 6.2): once the set of active
//! examples is correct, one round reaches the optimum. Departures: the inner solver is preconditioned and stops by a
//! forcing rule instead of a fixed cap and tolerance; the line search finds the root of φ' by safeguarded Newton steps,
//! which are finitely many on piecewise linear φ' and cost O(n) each, instead of sorting the break points; the loop
//! ends on a bound on the objective instead of a small change of it.
//!
//! Stopping rule: if F − (m/2)|w|² is convex, then F(w) − min F ≤ |∇F(w)|²/(2m). The reported gap is
//! |∇F(w)|/√(2m·F(w)): its square bounds the relative error of the objective (F ≥ 0 is assumed).

use super::{Exit, Progress, Report, Stop, Watch};
use crate::math::blas1::{add, dot, norm};

/// A function to minimize. It keeps its own state (outputs, active examples) at one point, set by
/// [`value`](Self::value) and moved by [`line_search`](Self::line_search); `gradient`, `hess_vec` and `precond` are
/// evaluated at that point.
pub trait Objective {
    /// Number of unknowns.
    fn dim(&self) -> usize;

    /// Moves to `w` and returns F(w) ≥ 0.
    fn value(&mut self, w: &[f64]) -> f64;

    /// Writes ∇F.
    fn gradient(&mut self, w: &[f64], out: &mut [f64]);

    /// Writes H·v.
    fn hess_vec(&mut self, v: &[f64], out: &mut [f64]);

    /// Writes a positive approximation of the diagonal of H.
    fn precond(&mut self, diagonal: &mut [f64]) {
        diagonal.fill(1.0);
    }

    /// The largest known m for which F − (m/2)|w|² is convex.
    fn modulus(&self) -> f64;

    /// Whether F is quadratic, so that one exact round solves it.
    fn is_quadratic(&self) -> bool {
        false
    }

    /// Moves `w` along `direction`, a descent direction with the given negative `slope`, to a lower F and returns that
    /// F; `None` if floating point yields no lower value. The default halves the step until F decreases enough
    /// (Armijo).
    fn line_search(&mut self, w: &mut [f64], direction: &[f64], value: f64, slope: f64) -> Option<f64> {
        let from = w.to_vec();
        let mut step = 1.0;
        for _ in 0..50 {
            for (x, (a, d)) in w.iter_mut().zip(from.iter().zip(direction)) {
                *x = a + step * d;
            }
            let now = self.value(w);
            if now <= value + 1e-4 * step * slope && now < value {
                return Some(now);
            }
            step *= 0.5;
        }
        w.copy_from_slice(&from);
        self.value(w);
        None
    }
}

/// Maximum number of conjugate gradient steps per round; an inexact direction is still a descent direction.
const MAX_INNER: usize = 2000;

/// A run has stalled if its objective decreases by less than the fraction `STALL_DECREASE` over `STALL_ROUNDS` rounds:
/// with columns of very large values the active set changes in every round, and each round then changes only the last
/// digits.
const STALL_ROUNDS: u64 = 100;
const STALL_DECREASE: f64 = 1e-3;

/// Minimizes `f` from `w`. `stop.max_steps` and `Report::steps` count rounds.
pub fn newton(f: &mut dyn Objective, w: &mut [f64], stop: Stop, watch: &dyn Watch) -> Report {
    let value = f.value(w);
    Newton::new(f.dim()).run(f, w, value, stop, watch)
}

/// The solver with its working vectors, for many runs that each start where the last one ended.
#[derive(Debug)]
pub struct Newton {
    solver: Inner,
    gradient: Vec<f64>,
}

impl Newton {
    /// For `dim` unknowns.
    pub fn new(dim: usize) -> Self {
        Self { solver: Inner::new(dim), gradient: vec![0.0; dim] }
    }

    /// Minimizes `f` from `w`, where `f` has already been evaluated and has that `value`.
    pub fn run(
        &mut self,
        f: &mut dyn Objective,
        w: &mut [f64],
        mut value: f64,
        stop: Stop,
        watch: &dyn Watch,
    ) -> Report {
        let Self { solver, gradient } = self;
        let mut steps = 0;
        let (mut last_value, mut last_gap) = (f64::INFINITY, f64::INFINITY);
        let mut checkpoint = f64::INFINITY;
        loop {
            f.gradient(w, gradient);
            let gap = relative_gap(norm(gradient), f.modulus(), value);
            let report = |exit| Report { steps, objective: value, gap, kernel_evaluations: 0, exit };
            if gap <= stop.tolerance {
                return report(Exit::Converged);
            }
            if stop.max_steps.is_some_and(|max| steps >= max) {
                return report(Exit::Limit);
            }
            if !gap.is_finite() || (value >= last_value && gap > 0.5 * last_gap) {
                return report(Exit::Stalled);
            }
            if steps > 0 && steps % STALL_ROUNDS == 0 {
                if value > checkpoint * (1.0 - STALL_DECREASE) {
                    return report(Exit::Stalled);
                }
                checkpoint = value;
            }
            (last_value, last_gap) = (value, gap);
            let exactness = forcing(f, gap, stop.tolerance);
            let progress = Progress { steps, violation: gap, tolerance: stop.tolerance };
            if !watch.proceed(&progress) || !solver.solve(f, gradient, exactness, &progress, watch) {
                return report(Exit::Interrupted);
            }
            let slope = dot(gradient, &solver.direction);
            let lower = if slope < 0.0 { f.line_search(w, &solver.direction, value, slope) } else { None };
            let Some(lower) = lower else { return report(Exit::Stalled) };
            value = lower;
            steps += 1;
        }
    }
}

/// Factor by which a round reduces its linear residual: moderate while the active set still changes, and not much below
/// what is needed to end the loop.
fn forcing(f: &dyn Objective, gap: f64, tolerance: f64) -> f64 {
    let enough = (0.3 * tolerance / gap).min(0.5);
    if f.is_quadratic() { enough } else { (0.5 * gap.sqrt()).min(0.1).max(enough) }
}

/// |∇F|/√(2mF)
pub(crate) fn relative_gap(gradient: f64, modulus: f64, value: f64) -> f64 {
    if gradient == 0.0 { 0.0 } else { gradient / (2.0 * modulus * value).sqrt() }
}

/// Preconditioned conjugate gradients for H d = −g.
#[derive(Debug)]
struct Inner {
    direction: Vec<f64>,
    residual: Vec<f64>,
    search: Vec<f64>,
    image: Vec<f64>,
    scale: Vec<f64>,
}

impl Inner {
    fn new(n: usize) -> Self {
        let zero = || vec![0.0; n];
        Self { direction: zero(), residual: zero(), search: zero(), image: zero(), scale: zero() }
    }

    /// Ends at |residual| ≤ forcing·|g|; returns false if the caller asked to stop.
    fn solve(
        &mut self,
        f: &mut dyn Objective,
        gradient: &[f64],
        forcing: f64,
        progress: &Progress,
        watch: &dyn Watch,
    ) -> bool {
        f.precond(&mut self.scale);
        self.direction.fill(0.0);
        for (r, g) in self.residual.iter_mut().zip(gradient) {
            *r = -g;
        }
        for ((p, r), m) in self.search.iter_mut().zip(&self.residual).zip(&self.scale) {
            *p = r / m;
        }
        let target = forcing * norm(gradient);
        let mut rho = dot(&self.residual, &self.search);
        for _ in 0..MAX_INNER {
            f.hess_vec(&self.search, &mut self.image);
            let curvature = dot(&self.search, &self.image);
            if !(curvature > 0.0 && rho > 0.0) {
                break;
            }
            let step = rho / curvature;
            add(step, &self.search, &mut self.direction);
            add(-step, &self.image, &mut self.residual);
            if norm(&self.residual) <= target {
                break;
            }
            if !watch.proceed(progress) {
                return false;
            }
            let next: f64 = self.residual.iter().zip(&self.scale).map(|(r, m)| r * r / m).sum();
            let keep = next / rho;
            for ((p, r), m) in self.search.iter_mut().zip(&self.residual).zip(&self.scale) {
                *p = r / m + keep * *p;
            }
            rho = next;
        }
        true
    }
}

/// Root of an increasing, continuous φ' with φ'(0) < 0, from `derivatives(t) = (φ'(t), φ''(t))`: Newton steps kept
/// inside the bracket given by the signs found so far. On piecewise linear φ' the steps end exactly at the root.
pub fn increasing_root(mut derivatives: impl FnMut(f64) -> (f64, f64)) -> f64 {
    let (mut low, mut high) = (0.0, f64::INFINITY);
    let mut t = 1.0;
    for _ in 0..200 {
        let (slope, curvature) = derivatives(t);
        if slope == 0.0 {
            return t;
        }
        if slope < 0.0 {
            low = t;
        } else {
            high = t;
        }
        let mut next = t - slope / curvature;
        if !(next > low && next < high) {
            next = if high.is_finite() { 0.5 * (low + high) } else { 2.0 * low };
        }
        if (next - t).abs() <= 4.0 * f64::EPSILON * t || next <= low || next >= high {
            return next;
        }
        t = next;
    }
    t
}
