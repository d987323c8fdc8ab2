//! LOOP 1: dual steps.
//!
//! Problem: minimize ½αᵀKα − tᵀα subject to loᵢ ≤ αᵢ ≤ hiᵢ and, with a bias, Σα = constant, for a symmetric K
//! with non-negative curvature. Signed α (Bottou's LASVM): a sample of the positive class has bounds [0, C], one of
//! the negative class [−C, 0], target ±1; so cost per example, ramp loss and shifted targets are only other
//! bounds and targets.
//!
//! Method: sequential minimal optimization with second-order pairs (Fan, Chen & Lin 2005) inside working sets
//! (Joachims 1999). The pairs of largest violation are gathered, their kernel rows computed as one block, the
//! small problem solved, and the gradient of everything updated once. Shrinking: when many variables sit
//! firmly at a bound, the problem of the others is solved on a compact sub-matrix; then the gradient is
//! brought up to date and everything is checked again, so the result is that of the whole problem.
//!
//! Departures: positions are never swapped (LIBSVM, LASVM): a compact sub-matrix replaces the active prefix.
//!
//! Invariant: `gradient[i] = target[i] − (Kα)ᵢ` between working sets.

use super::{Exit, Progress, Report, Stop, Watch};
use crate::error::Result;
use crate::kernel::gram::Gram;
use crate::math::simd::{self, TINY};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Most samples of a working set.
const WORKING_SET: usize = 384;

/// Variables that are solved for without a sub-matrix; every matrix holds as many rows.
const FEW: usize = 64;

/// A working set is solved until its violation is this share of what it was for the whole: rows cost far more
/// than steps, so each set is solved well.
const INNER_SHARE: f64 = 0.01;

/// A dual problem and where its solution stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dual {
    pub(crate) alpha: Vec<f64>,
    pub(crate) lo: Vec<f64>,
    pub(crate) hi: Vec<f64>,
    pub(crate) target: Vec<f64>,
    pub(crate) gradient: Vec<f64>,
    /// Whether Σα is held, which is what a constant b in f = Kα + b asks for.
    pub(crate) bias: bool,
}

/// Largest gradient of a variable that may rise, smallest of one that may fall: optimal when top ≤ bottom with a
/// bias, when top ≤ 0 ≤ bottom without.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GradientBounds {
    /// −∞ when no variable may rise.
    pub max_up: f64,
    /// +∞ when no variable may fall.
    pub min_down: f64,
}

/// What [`Dual::run_among`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Among {
    /// Steps taken.
    pub steps: u64,
    /// Kernel values computed beside those the matrix counts itself.
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

    /// Moves to another feasible point, bringing the gradient along.
    pub fn set_alpha(&mut self, gram: &mut dyn Gram, alpha: &[f64]) {
        let changed: Vec<usize> = (0..alpha.len()).filter(|&i| alpha[i] != self.alpha[i]).collect();
        let delta: Vec<f64> = changed.iter().map(|&i| self.alpha[i] - alpha[i]).collect();
        self.alpha.copy_from_slice(alpha);
        gram.accumulate(&changed, &delta, &mut self.gradient);
    }

    /// Multiplies α and all bounds: the start for another C. The gradient follows without kernel values.
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

    /// Gives all variables new bounds, which must contain 0, and moves those outside to the nearest bound; with a bias
    /// the others then make up for it, so that Σα stays: first those that may, in order.
    pub fn move_bounds(&mut self, gram: &mut dyn Gram, bounds: &[(f64, f64)]) {
        let clamped = |(a, (lo, hi)): (&f64, &(f64, f64))| a.clamp(*lo, *hi);
        let mut alpha: Vec<f64> = self.alpha.iter().zip(bounds).map(clamped).collect();
        if self.bias {
            let mut excess: f64 = alpha.iter().sum::<f64>() - self.alpha.iter().sum::<f64>();
            for (a, (lo, hi)) in alpha.iter_mut().zip(bounds) {
                let to = (*a - excess).clamp(*lo, *hi);
                // towards 0 is always possible and always enough
                let to = if excess > 0.0 { to.max(a.min(0.0)) } else { to.min(a.max(0.0)) };
                excess += to - *a;
                *a = to;
            }
        }
        (self.lo, self.hi) = bounds.iter().copied().unzip();
        self.set_alpha(gram, &alpha);
    }

    /// Gives all variables new targets; α stays.
    pub fn retarget(&mut self, target: &[f64]) {
        for ((t, g), new) in self.target.iter_mut().zip(&mut self.gradient).zip(target) {
            *g += new - *t;
            *t = *new;
        }
    }

    /// Moves the bounds of variable `i`; its α must lie within them.
    pub fn set_bounds(&mut self, i: usize, lo: f64, hi: f64) {
        debug_assert!(lo <= self.alpha[i] && self.alpha[i] <= hi);
        (self.lo[i], self.hi[i]) = (lo, hi);
    }

    /// The variables.
    pub fn alpha(&self) -> &[f64] {
        &self.alpha
    }

    /// target − Kα.
    pub fn gradient(&self) -> &[f64] {
        &self.gradient
    }

    /// Violation of the optimality conditions: how far the best pair step is from flat; ≤ 0 when none is left.
    pub fn violation(&self) -> f64 {
        self.violation_at(self.gradient_bounds())
    }

    pub(crate) fn violation_at(&self, e: GradientBounds) -> f64 {
        if self.bias { e.max_up - e.min_down } else { e.max_up.max(-e.min_down) }
    }

    /// What a gradient is compared with: the best partner of a pair, or 0.
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

    /// Primal minus dual value, with the loss max(hi·r, lo·r) at the residual r = t − f, and b·Σα for the sum that is held.
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
                    Err(_) => {} // no memory for it
                }
            }
            let size = WORKING_SET.min(gram.capacity());
            let rows = self.pick(gradient_bounds, &set.rows, size);
            gram.fetch(&rows);
            set.load(self, gram, rows);
            let goal = (INNER_SHARE * violation).max(run.stop.tolerance);
            let steps = set.optimize(goal, run.steps_left());
            run.steps += steps;
            if steps == 0 {
                return Exit::Stalled;
            }
            self.take(gram, &set);
        }
    }

    /// Solves to the tolerance for the variables named (ascending), the others held. A few are one working set; many
    /// need the memory of a sub-matrix.
    pub fn run_among(&mut self, gram: &mut dyn Gram, rows: &[usize], stop: Stop) -> Result<Among> {
        let mut run = Run { stop, watch: &(), steps: 0, evaluations: 0 };
        if rows.len() > FEW {
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
        self.take(gram, &set);
        Ok(Among { steps: run.steps, kernel_evaluations: 0, exit })
    }

    /// Shrinking: solves for the variables named, the others held.
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

    /// The extremes now.
    pub fn gradient_bounds(&self) -> GradientBounds {
        let (max_up, min_down) = simd::gradient_bounds(&self.alpha, &self.lo, &self.hi, &self.gradient);
        GradientBounds { max_up, min_down }
    }

    /// Whether a variable is not held at a bound with room to spare.
    fn is_active(&self, i: usize, e: GradientBounds) -> bool {
        let (a, g) = (self.alpha[i], self.gradient[i]);
        (a < self.hi[i] && g >= e.min_down) || (a > self.lo[i] && g <= e.max_up)
    }

    /// A working set of at most `size`: those of the last one that are inside their bounds (half of the
    /// places at most), then the largest violators from both ends.
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

    /// Takes over what the working set found.
    fn take(&mut self, gram: &mut dyn Gram, set: &WorkingSet) {
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

/// The `want` candidates of largest key, ties to the smaller index.
fn largest(candidates: impl Iterator<Item = usize>, key: impl Fn(usize) -> f64, want: usize) -> Vec<usize> {
    let mut keyed: Vec<(f64, usize)> = candidates.map(|i| (key(i), i)).collect();
    if want < keyed.len() && want > 0 {
        keyed.select_nth_unstable_by(want - 1, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    }
    keyed.truncate(want);
    keyed.into_iter().map(|(_, i)| i).collect()
}

/// Limits and counts of one [`Dual::run`], shared by its nested problems.
struct Run<'w> {
    stop: Stop,
    watch: &'w dyn Watch,
    steps: u64,
    evaluations: u64,
}

impl Run<'_> {
    fn steps_left(&self) -> u64 {
        self.stop.max_steps.map_or(u64::MAX, |most| most.saturating_sub(self.steps))
    }

    fn ended(&self, violation: f64) -> Option<Exit> {
        let progress = Progress { steps: self.steps, violation, tolerance: self.stop.tolerance };
        if !self.watch.proceed(&progress) {
            return Some(Exit::Interrupted);
        }
        (self.steps_left() == 0).then_some(Exit::Limit)
    }
}

/// The small problem of a few variables, all of its kernel values at hand.
#[derive(Debug, Default)]
struct WorkingSet {
    rows: Vec<usize>,
    bias: bool,
    alpha: Vec<f64>,
    lo: Vec<f64>,
    hi: Vec<f64>,
    diag: Vec<f64>,
    /// Gradient where the variable may rise, −∞ elsewhere.
    up: Vec<f64>,
    /// Gradient where the variable may fall, +∞ elsewhere.
    down: Vec<f64>,
    /// Kernel values, row-major.
    k: Vec<f32>,
    /// Memory of the last `k`, to be used again.
    spare: Vec<f32>,
}

impl WorkingSet {
    fn load(&mut self, dual: &Dual, gram: &dyn Gram, rows: Vec<usize>) {
        let pick = |v: &[f64]| rows.iter().map(|&i| v[i]).collect::<Vec<f64>>();
        self.bias = dual.bias;
        (self.alpha, self.lo, self.hi) = (pick(&dual.alpha), pick(&dual.lo), pick(&dual.hi));
        self.diag = rows.iter().map(|&i| gram.diag(i)).collect();
        (self.up, self.down) = (pick(&dual.gradient), pick(&dual.gradient));
        self.load_kernel(gram, rows);
        (0..self.rows.len()).for_each(|i| self.mark(i));
    }

    /// Gathers the kernel values; those between samples that were in the last set are already here.
    fn load_kernel(&mut self, gram: &dyn Gram, rows: Vec<usize>) {
        let (q, before) = (rows.len(), self.rows.len());
        let kept: Vec<Option<usize>> = rows.iter().map(|r| self.rows.binary_search(r).ok()).collect();
        let (old, mut k) = (std::mem::take(&mut self.k), std::mem::take(&mut self.spare));
        k.resize(q * q, 0.0);
        k.par_chunks_mut(q).zip(&rows).zip(&kept).for_each(|((out, &i), &was)| {
            if let Some(was) = was {
                let old = &old[was * before..(was + 1) * before];
                out.iter_mut().zip(&kept).for_each(|(k, c)| *k = c.map_or(0.0, |c| old[c]));
            } else {
                let row = gram.row(i);
                out.iter_mut().zip(&rows).for_each(|(k, &c)| *k = row[c]);
            }
        });
        for (new, _) in kept.iter().enumerate().filter(|(_, was)| was.is_none()) {
            for (i, _) in kept.iter().enumerate().filter(|(_, was)| was.is_some()) {
                k[i * q + new] = k[new * q + i];
            }
        }
        (self.k, self.spare, self.rows) = (k, old, rows);
    }

    /// Hides the gradient of `i` on the side where a bound holds it.
    fn mark(&mut self, i: usize) {
        let g = if self.up[i].is_finite() { self.up[i] } else { self.down[i] };
        self.up[i] = if self.alpha[i] < self.hi[i] { g } else { f64::NEG_INFINITY };
        self.down[i] = if self.alpha[i] > self.lo[i] { g } else { f64::INFINITY };
    }

    /// Steps until the violation inside the set is at most `goal`; returns their number.
    fn optimize(&mut self, goal: f64, max_steps: u64) -> u64 {
        if self.bias { self.optimise_pairs(goal, max_steps) } else { self.optimise_freely(goal, max_steps) }
    }

    /// Without bias: the variable that most wants to rise and the partner of the best pair step, as with a bias, go
    /// to their common optimum.
    fn optimise_freely(&mut self, goal: f64, max_steps: u64) -> u64 {
        let q = self.rows.len();
        let mut steps = 0;
        while steps < max_steps.min(100 * q as u64) {
            let ((i, max_up), (j, low)) = (simd::argmax(&self.up), simd::argmin(&self.down));
            if max_up.max(-low) <= goal {
                break;
            }
            let partner =
                simd::second_order(&self.down, max_up, &self.k[i * q..(i + 1) * q], &self.diag, self.diag[i]);
            let j = if max_up.is_finite() && partner.gain > 0.0 { partner.index } else { j };
            let i = if max_up.is_finite() { i } else { j };
            let free = |k: usize| Free {
                g: self.gradient(k),
                room: [self.lo[k] - self.alpha[k], self.hi[k] - self.alpha[k]],
                curve: self.diag[k],
            };
            let (a, b) = best_of_two(free(i), free(j), f64::from(self.k[i * q + j]), i == j);
            if a == 0.0 && b == 0.0 {
                break;
            }
            self.shift(i, a);
            self.shift(j, b);
            steps += 1;
        }
        steps
    }

    fn gradient(&self, k: usize) -> f64 {
        if self.up[k].is_finite() { self.up[k] } else { self.down[k] }
    }

    /// Moves variable `k`, the gradients with it.
    fn shift(&mut self, k: usize, step: f64) {
        if step == 0.0 {
            return;
        }
        let q = self.rows.len();
        self.alpha[k] = snapped(self.alpha[k] + step, self.lo[k], self.hi[k]);
        let row = &self.k[k * q..(k + 1) * q];
        simd::add_rows(&mut self.up, &[row], &[-step]);
        simd::add_rows(&mut self.down, &[row], &[-step]);
        self.mark(k);
    }

    /// With bias: pairs of variables, chosen by the gain to second order.
    fn optimise_pairs(&mut self, goal: f64, max_steps: u64) -> u64 {
        let q = self.rows.len();
        let mut steps = 0;
        while steps < max_steps.min(100 * q as u64) {
            let (i, max_up) = simd::argmax(&self.up);
            if max_up == f64::NEG_INFINITY {
                break;
            }
            let row = &self.k[i * q..(i + 1) * q];
            let partner = simd::second_order(&self.down, max_up, row, &self.diag, self.diag[i]);
            if max_up - partner.least <= goal || partner.gain <= 0.0 {
                break;
            }
            self.step(i, partner.index);
            steps += 1;
        }
        steps
    }

    /// The best step of the pair: α_i up, α_j down.
    fn step(&mut self, i: usize, j: usize) {
        let q = self.rows.len();
        let (row_i, row_j) = (&self.k[i * q..(i + 1) * q], &self.k[j * q..(j + 1) * q]);
        let kernel = [self.diag[i], self.diag[j], f64::from(row_i[j])];
        let slope = self.up[i] - self.down[j];
        let (up, down) = ((self.alpha[i], self.hi[i]), (self.alpha[j], self.lo[j]));
        let step = best_of_pair(slope, kernel, up, down);
        (self.alpha[i], self.alpha[j]) = (step.up, step.down);
        simd::pair_update(&mut self.up, &mut self.down, row_i, row_j, step.size);
        self.mark(i);
        self.mark(j);
    }
}

/// What [`best_of_pair`] finds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PairStep {
    /// How far both go.
    pub size: f64,
    /// Where the one that rises ends.
    pub up: f64,
    /// Where the one that falls ends.
    pub down: f64,
}

/// The best step of a pair along Σα = constant: one rises from α to at most its upper bound (`up`), the other falls to
/// at least its lower bound (`down`). `slope` is the difference of their gradients, `kernel` their K_ii, K_jj, K_ij. A
/// variable that ends at a bound is equal to it.
#[inline]
pub(crate) fn best_of_pair(
    slope: f64,
    [ii, jj, ij]: [f64; 3],
    (rising, hi): (f64, f64),
    (falling, lo): (f64, f64),
) -> PairStep {
    let curve = (ii + jj - 2.0 * ij).max(TINY);
    let (room_up, room_down) = (hi - rising, falling - lo);
    let size = (slope / curve).min(room_up).min(room_down);
    PairStep {
        size,
        up: if size >= room_up { hi } else { rising + size },
        down: if size >= room_down { lo } else { falling - size },
    }
}

/// A variable that may move without another: gradient, room down (≤ 0) and up (≥ 0), diagonal of K.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Free {
    pub g: f64,
    pub room: [f64; 2],
    pub curve: f64,
}

impl Free {
    /// The best step when the gradient has changed by `shift`.
    fn best(&self, shift: f64) -> f64 {
        ((self.g + shift) / self.curve.max(TINY)).clamp(self.room[0], self.room[1])
    }
}

/// Steps (a, b) of two variables that maximize g·step − ½ stepᵀK step within their room; `k` is K of the two. The
/// optimum lies inside or on an edge, where one variable is at a bound and the other at its best.
pub(crate) fn best_of_two(i: Free, j: Free, k: f64, same: bool) -> (f64, f64) {
    if same {
        return (i.best(0.0), 0.0);
    }
    let gain = |(a, b): (f64, f64)| i.g * a + j.g * b - 0.5 * (i.curve * a * a + j.curve * b * b) - k * a * b;
    let det = i.curve * j.curve - k * k;
    if det > 1e-9 * i.curve * j.curve {
        let (a, b) = ((i.g * j.curve - j.g * k) / det, (j.g * i.curve - i.g * k) / det);
        if (i.room[0]..=i.room[1]).contains(&a) && (j.room[0]..=j.room[1]).contains(&b) {
            return (a, b);
        }
    }
    let edges = [0, 1].map(|side| (i.room[side], j.best(-k * i.room[side])));
    let others = [0, 1].map(|side| (i.best(-k * j.room[side]), j.room[side]));
    let alone = [(i.best(0.0), 0.0), (0.0, j.best(0.0))];
    let mut best = (0.0, 0.0);
    for step in edges.into_iter().chain(others).chain(alone) {
        if gain(step) > gain(best) {
            best = step;
        }
    }
    best
}

/// A value that is a bound when it is one to rounding.
pub(crate) fn snapped(value: f64, lo: f64, hi: f64) -> f64 {
    let near = 1e-14 * (hi - lo);
    if value >= hi - near {
        hi
    } else if value <= lo + near {
        lo
    } else if value.abs() <= near {
        0.0
    } else {
        value
    }
}
