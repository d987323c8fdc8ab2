//! Sequential minimal optimization of the dual problem.
//!
//! Problem: minimize ½αᵀKα − tᵀα subject to loᵢ ≤ αᵢ ≤ hiᵢ and, with a bias, Σα = constant, for a symmetric K with
//! non-negative curvature. α is signed (Bottou's LASVM): a sample of the positive class has bounds [0, C], one of the
//! negative class [−C, 0], and the target is ±1. Cost per example, ramp loss and shifted targets are therefore only
//! different bounds and targets.
//!
//! Method: sequential minimal optimization with second-order pairs (Fan, Chen & Lin 2005) inside working sets (Joachims
//! 1999). The pairs of largest violation are gathered, their kernel rows are computed as one block, the small problem
//! is solved, and the whole gradient is updated once. Shrinking: when many variables are at a bound and far from
//! leaving it, the problem of the others is solved on a compact sub-matrix; then the gradient is updated and all
//! variables are checked again, so the result is that of the whole problem.
//!
//! Departure: positions are never swapped (LIBSVM, LASVM): a compact sub-matrix replaces the active prefix.
//!
//! Invariant: `gradient[i] = target[i] − (Kα)ᵢ` between working sets.

mod pair_step;
mod working_set;

pub(crate) use pair_step::{Free, best_of_pair, best_of_two, snapped};

use super::{Exit, Progress, Report, Stop, Watch};
use crate::error::Result;
use crate::kernel::gram::Gram;
use crate::math::simd;
use serde::{Deserialize, Serialize};
use working_set::WorkingSet;

/// Maximum number of samples in a working set.
const WORKING_SET: usize = 384;

/// Maximum number of variables that are solved without a sub-matrix; every matrix can hold this many rows.
const MAX_DIRECT: usize = 64;

/// A working set is solved until its violation is this fraction of the violation of the whole problem: kernel rows cost
/// far more than steps, so each set is solved precisely.
const INNER_FRACTION: f64 = 0.01;

/// A dual problem and its current solution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dual {
    pub(crate) alpha: Vec<f64>,
    pub(crate) lo: Vec<f64>,
    pub(crate) hi: Vec<f64>,
    pub(crate) target: Vec<f64>,
    pub(crate) gradient: Vec<f64>,
    /// Whether Σα is constant, as required by a constant b in f = Kα + b.
    pub(crate) bias: bool,
}

/// Largest gradient of a variable that may increase, and smallest of one that may decrease. The solution is optimal if
/// `max_up` ≤ `min_down` with a bias, or `max_up` ≤ 0 ≤ `min_down` without.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GradientBounds {
    /// −∞ if no variable may increase.
    pub max_up: f64,
    /// +∞ if no variable may decrease.
    pub min_down: f64,
}

/// Result of [`Dual::run_among`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Among {
    /// Steps taken.
    pub steps: u64,
    /// Kernel values computed in addition to those that the matrix counts itself.
    pub kernel_evaluations: u64,
    /// Why it ended.
    pub exit: Exit,
}

impl Dual {
    /// A problem at α = 0; bounds must contain 0.
    pub fn new(target: Vec<f64>, lo: Vec<f64>, hi: Vec<f64>) -> Self {
        Self { alpha: vec![0.0; target.len()], gradient: target.clone(), lo, hi, target, bias: true }
    }

    /// The same problem without the constant b: Σα is free, and steps move one variable.
    #[must_use]
    pub fn without_bias(self) -> Self {
        Self { bias: false, ..self }
    }

    /// Moves to another feasible point and updates the gradient.
    pub fn set_alpha(&mut self, gram: &mut dyn Gram, alpha: &[f64]) {
        let changed: Vec<usize> = (0..alpha.len()).filter(|&i| alpha[i] != self.alpha[i]).collect();
        let delta: Vec<f64> = changed.iter().map(|&i| self.alpha[i] - alpha[i]).collect();
        self.alpha.copy_from_slice(alpha);
        gram.accumulate(&changed, &delta, &mut self.gradient);
    }

    /// Multiplies α and all bounds by a factor, to start at another C. The gradient is updated without kernel values.
    pub fn rescale(&mut self, factor: f64) {
        for v in [&mut self.alpha, &mut self.lo, &mut self.hi] {
            v.iter_mut().for_each(|v| *v *= factor);
        }
        for (g, t) in self.gradient.iter_mut().zip(&self.target) {
            *g = t - factor * (t - *g);
        }
    }

    /// f(xᵢ) = (Kα)ᵢ + b of every row.
    pub fn decisions(&self) -> Vec<f64> {
        let b = self.bias();
        self.target.iter().zip(&self.gradient).map(|(t, g)| t - g + b).collect()
    }

    /// Gives all variables new bounds, which must contain 0, and moves those outside to the nearest bound. With a bias,
    /// other variables then compensate, in order, so that Σα stays the same.
    pub fn move_bounds(&mut self, gram: &mut dyn Gram, bounds: &[(f64, f64)]) {
        let clamped = |(a, (lo, hi)): (&f64, &(f64, f64))| a.clamp(*lo, *hi);
        let mut alpha: Vec<f64> = self.alpha.iter().zip(bounds).map(clamped).collect();
        if self.bias {
            let mut excess: f64 = alpha.iter().sum::<f64>() - self.alpha.iter().sum::<f64>();
            for (a, (lo, hi)) in alpha.iter_mut().zip(bounds) {
                let to = (*a - excess).clamp(*lo, *hi);
                // a move toward 0 is always possible, and such moves always suffice
                let to = if excess > 0.0 { to.max(a.min(0.0)) } else { to.min(a.max(0.0)) };
                excess += to - *a;
                *a = to;
            }
        }
        (self.lo, self.hi) = bounds.iter().copied().unzip();
        self.set_alpha(gram, &alpha);
    }

    /// Gives all variables new targets; α stays the same.
    pub fn retarget(&mut self, target: &[f64]) {
        for ((t, g), new) in self.target.iter_mut().zip(&mut self.gradient).zip(target) {
            *g += new - *t;
            *t = *new;
        }
    }

    /// Sets the bounds of variable `i`; its α must lie within them.
    pub fn set_bounds(&mut self, i: usize, lo: f64, hi: f64) {
        debug_assert!(lo <= self.alpha[i] && self.alpha[i] <= hi);
        (self.lo[i], self.hi[i]) = (lo, hi);
    }

    /// The coefficients α.
    pub fn alpha(&self) -> &[f64] {
        &self.alpha
    }

    /// target − Kα.
    pub fn gradient(&self) -> &[f64] {
        &self.gradient
    }

    /// Violation of the optimality conditions: the gradient along the best pair step; ≤ 0 at the optimum.
    pub fn violation(&self) -> f64 {
        self.violation_at(self.gradient_bounds())
    }

    pub(crate) fn violation_at(&self, e: GradientBounds) -> f64 {
        if self.bias { e.max_up - e.min_down } else { e.max_up.max(-e.min_down) }
    }

    /// Value that a gradient is compared with: the gradient of the best partner of a pair, or 0.
    fn partners(&self, e: GradientBounds) -> GradientBounds {
        if self.bias { e } else { GradientBounds { max_up: 0.0, min_down: 0.0 } }
    }

    /// The constant b of f = Kα + b: the mean gradient of the variables inside their bounds, or the middle of
    /// the values the optimality conditions allow.
    pub fn bias(&self) -> f64 {
        if !self.bias {
            return 0.0;
        }
        let (mut sum, mut count) = (0.0, 0.0);
        for i in 0..self.alpha.len() {
            if self.lo[i] < self.alpha[i] && self.alpha[i] < self.hi[i] {
                sum += self.gradient[i];
                count += 1.0;
            }
        }
        let GradientBounds { max_up, min_down } = self.gradient_bounds();
        match (count > 0.0, max_up.is_finite(), min_down.is_finite()) {
            (true, ..) => sum / count,
            (_, true, true) => f64::midpoint(max_up, min_down),
            (_, true, false) => max_up,
            (_, false, true) => min_down,
            _ => 0.0,
        }
    }

    /// ½αᵀKα − tᵀα.
    pub fn objective(&self) -> f64 {
        let pairs = self.alpha.iter().zip(&self.target).zip(&self.gradient);
        -0.5 * pairs.map(|((a, t), g)| a * (t + g)).sum::<f64>()
    }

    /// Primal minus dual objective. The primal has the loss max(hi·r, lo·r) at the residual r = t − f, plus the term
    /// b·Σα, because Σα is a constant that need not be 0.
    pub fn duality_gap(&self) -> f64 {
        let b = self.bias();
        let mut primal = 0.0;
        for i in 0..self.alpha.len() {
            let residual = self.gradient[i] - b;
            primal += 0.5 * self.alpha[i] * (self.target[i] - self.gradient[i]);
            primal += (self.hi[i] * residual).max(self.lo[i] * residual) + b * self.alpha[i];
        }
        primal + self.objective()
    }

    /// Solves to the tolerance.
    pub fn run(&mut self, gram: &mut dyn Gram, stop: Stop, watch: &dyn Watch) -> Report {
        let before = gram.evaluations();
        let mut run = Run { stop, watch, steps: 0, evaluations: 0 };
        let exit = self.solve(gram, &mut run);
        Report {
            steps: run.steps,
            objective: self.objective(),
            gap: self.duality_gap(),
            kernel_evaluations: gram.evaluations() - before + run.evaluations,
            exit,
        }
    }

    fn solve(&mut self, gram: &mut dyn Gram, run: &mut Run<'_>) -> Exit {
        let mut set = WorkingSet::default();
        loop {
            let gradient_bounds = self.gradient_bounds();
            let violation = self.violation_at(gradient_bounds);
            let gradient_bounds = self.partners(gradient_bounds);
            if violation.is_nan() {
                return Exit::Stalled;
            }
            if violation <= run.stop.tolerance || violation.is_infinite() {
                return Exit::Converged;
            }
            if let Some(exit) = run.ended(violation) {
                return exit;
            }
            let active = |&i: &usize| self.is_active(i, gradient_bounds);
            if (0..self.alpha.len()).filter(active).count() * 2 < self.alpha.len() {
                let active: Vec<usize> = (0..self.alpha.len()).filter(active).collect();
                match self.solve_subset(gram, &active, run) {
                    Ok(Exit::Converged) => continue,
                    Ok(exit) => return exit,
                    Err(_) => {} // not enough memory for a sub-matrix
                }
            }
            let size = WORKING_SET.min(gram.capacity());
            let rows = self.pick(gradient_bounds, &set.rows, size);
            gram.fetch(&rows);
            set.load(self, gram, rows);
            let goal = (INNER_FRACTION * violation).max(run.stop.tolerance);
            let steps = set.optimize(goal, run.steps_left());
            run.steps += steps;
            if steps == 0 {
                return Exit::Stalled;
            }
            self.apply(gram, &set);
        }
    }

    /// Solves to the tolerance for the given variables (ascending), with the others fixed. Few variables form one
    /// working set; many need the memory of a sub-matrix.
    pub fn run_among(&mut self, gram: &mut dyn Gram, rows: &[usize], stop: Stop) -> Result<Among> {
        let mut run = Run { stop, watch: &(), steps: 0, evaluations: 0 };
        if rows.len() > MAX_DIRECT {
            let exit = self.solve_subset(gram, rows, &mut run)?;
            return Ok(Among { steps: run.steps, kernel_evaluations: run.evaluations, exit });
        }
        gram.fetch(rows);
        let mut set = WorkingSet::default();
        set.load(self, gram, rows.to_vec());
        let exit = loop {
            let steps = set.optimize(stop.tolerance, run.steps_left());
            run.steps += steps;
            if steps < 100 * rows.len() as u64 {
                break if run.steps_left() == 0 { Exit::Limit } else { Exit::Converged };
            }
        };
        self.apply(gram, &set);
        Ok(Among { steps: run.steps, kernel_evaluations: 0, exit })
    }

    /// Shrinking: solves for the given variables with the others fixed.
    fn solve_subset(&mut self, gram: &mut dyn Gram, active: &[usize], run: &mut Run<'_>) -> Result<Exit> {
        let mut sub = gram.subset(active)?;
        let pick = |v: &[f64]| active.iter().map(|&i| v[i]).collect();
        let mut part = Self {
            alpha: pick(&self.alpha),
            lo: pick(&self.lo),
            hi: pick(&self.hi),
            target: pick(&self.target),
            gradient: pick(&self.gradient),
            bias: self.bias,
        };
        let exit = part.solve(sub.as_mut(), run);
        run.evaluations += sub.evaluations();
        drop(sub);
        let mut alpha = self.alpha.clone();
        for (&i, &a) in active.iter().zip(&part.alpha) {
            alpha[i] = a;
        }
        self.set_alpha(gram, &alpha);
        Ok(exit)
    }

    /// Current gradient bounds.
    pub fn gradient_bounds(&self) -> GradientBounds {
        let (max_up, min_down) = simd::gradient_bounds(&self.alpha, &self.lo, &self.hi, &self.gradient);
        GradientBounds { max_up, min_down }
    }

    /// Whether a variable may still move: false if it is at a bound and its gradient is clearly on the side that keeps
    /// it there.
    fn is_active(&self, i: usize, e: GradientBounds) -> bool {
        let (a, g) = (self.alpha[i], self.gradient[i]);
        (a < self.hi[i] && g >= e.min_down) || (a > self.lo[i] && g <= e.max_up)
    }

    /// Selects a working set of at most `size`: the variables of the last one that are inside their bounds (at most
    /// half of the places), then the largest violators in both directions.
    fn pick(&self, e: GradientBounds, last: &[usize], size: usize) -> Vec<usize> {
        let free = |i: &usize| self.lo[*i] < self.alpha[*i] && self.alpha[*i] < self.hi[*i];
        let mut rows: Vec<usize> = last.iter().copied().filter(free).take(size / 2).collect();
        let mut taken = vec![false; self.alpha.len()];
        rows.iter().for_each(|&i| taken[i] = true);
        let want = ((size - rows.len()) / 2).max(1);
        let up = (0..self.alpha.len())
            .filter(|&i| !taken[i] && self.alpha[i] < self.hi[i] && self.gradient[i] > e.min_down);
        let up = largest(up, |i| self.gradient[i], want);
        up.iter().for_each(|&i| taken[i] = true);
        rows.extend(up);
        let want = size - rows.len();
        let down = (0..self.alpha.len())
            .filter(|&i| !taken[i] && self.alpha[i] > self.lo[i] && self.gradient[i] < e.max_up);
        rows.extend(largest(down, |i| -self.gradient[i], want));
        rows.sort_unstable();
        rows
    }

    /// Applies the solution of the working set.
    fn apply(&mut self, gram: &mut dyn Gram, set: &WorkingSet) {
        let (mut changed, mut delta) = (Vec::new(), Vec::new());
        for (&i, &a) in set.rows.iter().zip(&set.alpha) {
            if a != self.alpha[i] {
                changed.push(i);
                delta.push(self.alpha[i] - a);
                self.alpha[i] = a;
            }
        }
        gram.accumulate(&changed, &delta, &mut self.gradient);
    }
}

/// The `want` candidates with the largest keys; ties go to the smaller index.
fn largest(candidates: impl Iterator<Item = usize>, key: impl Fn(usize) -> f64, want: usize) -> Vec<usize> {
    let mut keyed: Vec<(f64, usize)> = candidates.map(|i| (key(i), i)).collect();
    if want < keyed.len() && want > 0 {
        keyed.select_nth_unstable_by(want - 1, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    }
    keyed.truncate(want);
    keyed.into_iter().map(|(_, i)| i).collect()
}

/// Limits and counts of one [`Dual::run`], shared by its sub-problems.
struct Run<'w> {
    stop: Stop,
    watch: &'w dyn Watch,
    steps: u64,
    evaluations: u64,
}

impl Run<'_> {
    fn steps_left(&self) -> u64 {
        self.stop.max_steps.map_or(u64::MAX, |max| max.saturating_sub(self.steps))
    }

    fn ended(&self, violation: f64) -> Option<Exit> {
        let progress = Progress { steps: self.steps, violation, tolerance: self.stop.tolerance };
        if !self.watch.proceed(&progress) {
            return Some(Exit::Interrupted);
        }
        (self.steps_left() == 0).then_some(Exit::Limit)
    }
}
