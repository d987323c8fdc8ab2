//! Online steps of the dual problem: the same variables and steps as [`super::smo`], one sample at a time and on all
//! variables instead of working sets.
//!
//! PROCESS and REPROCESS of LASVM (Bordes, Ertekin, Weston & Bottou 2005) for problems with a bias, which move pairs of
//! variables; those of LASVM-G (Ertekin 2009, ch. 6) for problems without a bias, which move one variable. Departures
//! from the printed forms: a step is the smaller of the optimal step and the distance to the bound; gradient bounds and
//! violation are computed from the current variables; and the duality gap has the form that is correct for any bounds,
//! Σ max(lo·g, hi·g) − αg.
//!
//! Invariants: `gradient = target − Kα`; α is within its bounds, and equal to a bound when a step ends there; with a
//! bias, Σα does not change.

use super::smo::{Dual, Free, GradientBounds, best_of_pair, best_of_two, snapped};
use crate::kernel::gram::Gram;
use crate::math::simd::{self, TINY};

/// Gradients whose relative difference is smaller count as equal, so that rounding does not decide between them.
const TIE: f64 = 1e-13;

impl Dual {
    /// Number of variables.
    pub fn len(&self) -> usize {
        self.alpha.len()
    }

    /// Whether there are no variables.
    pub fn is_empty(&self) -> bool {
        self.alpha.is_empty()
    }

    /// The bounds of variable `i`.
    pub fn bounds(&self, i: usize) -> (f64, f64) {
        (self.lo[i], self.hi[i])
    }

    /// The targets.
    pub fn target(&self) -> &[f64] {
        &self.target
    }

    /// Appends a variable with α = 0 and the given gradient.
    pub fn push(&mut self, target: f64, (lo, hi): (f64, f64), gradient: f64) {
        self.alpha.push(0.0);
        self.lo.push(lo);
        self.hi.push(hi);
        self.target.push(target);
        self.gradient.push(gradient);
    }

    /// Keeps the given variables (ascending); α of the others must be 0.
    pub fn keep(&mut self, keep: &[usize]) {
        for v in [&mut self.alpha, &mut self.lo, &mut self.hi, &mut self.target, &mut self.gradient] {
            keep.iter().enumerate().for_each(|(to, &from)| v[to] = v[from]);
            v.truncate(keep.len());
        }
    }

    /// Restores a problem from its saved parts: α, lower and upper bounds, targets, gradient. [`Dual::is_sound`] checks
    /// that they are consistent.
    pub fn from_parts([alpha, lo, hi, target, gradient]: [Vec<f64>; 5], bias: bool) -> Self {
        Self { alpha, lo, hi, target, gradient, bias }
    }

    /// Whether there are `n` variables, all finite and within their bounds, and the problem has a bias exactly if
    /// `bias` is set.
    pub fn is_sound(&self, n: usize, bias: bool) -> bool {
        let all = [&self.alpha, &self.lo, &self.hi, &self.target, &self.gradient];
        self.bias == bias
            && all.iter().all(|v| v.len() == n && v.iter().all(|x| x.is_finite()))
            && (0..n).all(|i| self.lo[i] <= self.alpha[i] && self.alpha[i] <= self.hi[i])
    }

    /// Indices of the variables with α = 0.
    pub fn zeros(&self) -> impl Iterator<Item = usize> {
        let blocks = self.alpha.chunks(64).enumerate();
        let some = blocks.filter(|(_, block)| block.contains(&0.0));
        some.flat_map(|(b, block)| {
            block.iter().enumerate().filter(|(_, a)| **a == 0.0).map(move |(l, _)| b * 64 + l)
        })
    }

    /// Number of variables with α ≠ 0.
    pub fn support(&self) -> usize {
        self.alpha.iter().filter(|a| **a != 0.0).count()
    }

    /// First step of candidate `k`, whose α is 0: with the partner of largest violation, or alone if there is no bias.
    /// `e` are the gradient bounds of the other variables. Returns whether α changed.
    pub fn process(&mut self, gram: &mut dyn Gram, k: usize, e: GradientBounds, tolerance: f64) -> bool {
        if !self.bias {
            let g = self.gradient[k];
            return (if g < 0.0 { self.lo[k] < 0.0 } else { self.hi[k] > 0.0 }) && self.step_one(gram, k);
        }
        let g = self.gradient[k];
        if self.hi[k] > 0.0 && g - e.min_down > tolerance {
            return self.falling(e.min_down).is_some_and(|j| self.step_pair(gram, k, j));
        }
        if self.lo[k] < 0.0 && e.max_up - g > tolerance {
            return self.rising(e.max_up).is_some_and(|i| self.step_pair(gram, i, k));
        }
        false
    }

    /// Step of largest violation among all variables, whose gradient bounds are `e`; returns whether α changed.
    pub fn reprocess(&mut self, gram: &mut dyn Gram, e: GradientBounds, tolerance: f64) -> bool {
        let violation = self.violation_at(e);
        if !(violation.is_finite() && violation > tolerance) {
            return false;
        }
        if self.bias {
            let (i, j) = (self.rising(e.max_up), self.falling(e.min_down));
            return i.zip(j).is_some_and(|(i, j)| self.step_pair(gram, i, j));
        }
        let k = if e.max_up >= -e.min_down { self.rising(e.max_up) } else { self.falling(e.min_down) };
        k.is_some_and(|k| self.step_one(gram, k))
    }

    /// First variable that may increase and whose gradient equals `max_up` up to rounding.
    fn rising(&self, max_up: f64) -> Option<usize> {
        let min_gradient = max_up - TIE * max_up.abs();
        let s = simd::first_rising(&self.alpha, &self.hi, &self.gradient, min_gradient);
        (s < self.len()).then_some(s)
    }

    /// First variable that may decrease and whose gradient equals `min_down` up to rounding.
    fn falling(&self, min_down: f64) -> Option<usize> {
        let max_gradient = min_down + TIE * min_down.abs();
        let s = simd::first_falling(&self.alpha, &self.lo, &self.gradient, max_gradient);
        (s < self.len()).then_some(s)
    }

    /// Increases α_i and decreases α_j by the optimal amount within the bounds.
    fn step_pair(&mut self, gram: &mut dyn Gram, i: usize, j: usize) -> bool {
        gram.fetch(&[i, j]);
        let (row_i, row_j) = (gram.row(i), gram.row(j));
        let kernel = [gram.diag(i), gram.diag(j), f64::from(row_i[j])];
        let slope = self.gradient[i] - self.gradient[j];
        let (up, down) = ((self.alpha[i], self.hi[i]), (self.alpha[j], self.lo[j]));
        let step = best_of_pair(slope, kernel, up, down);
        (self.alpha[i], self.alpha[j]) = (step.up, step.down);
        simd::pair_step(&mut self.gradient, row_i, row_j, step.size);
        step.size > 0.0
    }

    /// Moves α_k to its optimum within the bounds.
    fn step_one(&mut self, gram: &mut dyn Gram, k: usize) -> bool {
        let best = self.alpha[k] + self.gradient[k] / gram.diag(k).max(TINY);
        self.move_to(gram, k, best.clamp(self.lo[k], self.hi[k]))
    }

    /// For problems without bias: moves the two variables of largest violation, one in each direction, to their joint
    /// optimum. If all kernel values share a large constant (all near 1), steps of single variables undo each other for
    /// a long time; joint steps do not.
    pub fn reprocess_two(&mut self, gram: &mut dyn Gram, e: GradientBounds, tolerance: f64) -> bool {
        let violation = self.violation_at(e);
        let (i, j) = (self.rising(e.max_up), self.falling(e.min_down));
        let (false, Some((i, j))) = (violation <= tolerance, i.zip(j)) else {
            return self.reprocess(gram, e, tolerance);
        };
        gram.fetch(&[i, j]);
        let free = |k: usize| Free {
            g: self.gradient[k],
            room: [self.lo[k] - self.alpha[k], self.hi[k] - self.alpha[k]],
            curve: gram.diag(k),
        };
        let (a, b) = best_of_two(free(i), free(j), f64::from(gram.row(i)[j]), i == j);
        for (k, step) in [(i, a), (j, b)] {
            if step != 0.0 {
                self.alpha[k] = snapped(self.alpha[k] + step, self.lo[k], self.hi[k]);
            }
        }
        simd::add_rows(&mut self.gradient, &[gram.row(i), gram.row(j)], &[-a, -b]);
        a != 0.0 || b != 0.0
    }

    /// Sets α_k to a value and updates the gradient.
    fn move_to(&mut self, gram: &mut dyn Gram, k: usize, to: f64) -> bool {
        let step = to - self.alpha[k];
        if step == 0.0 {
            return false;
        }
        gram.fetch(&[k]);
        self.alpha[k] = to;
        simd::add_rows(&mut self.gradient, &[gram.row(k)], &[-step]);
        true
    }

    /// Sets variable `k` to 0 and fixes it there. With a bias, its α is transferred to the variables that lose least
    /// objective.
    pub fn remove_variable(&mut self, gram: &mut dyn Gram, k: usize) {
        if self.bias {
            while self.alpha[k] != 0.0 {
                let Some((j, step)) = self.best_receiver(gram, k) else { break };
                let done = step.abs() >= self.alpha[k].abs();
                self.alpha[k] = if done { 0.0 } else { self.alpha[k] - step };
                let to = self.alpha[j] + step;
                self.alpha[j] = to.clamp(self.lo[j], self.hi[j]);
                gram.fetch(&[j, k]);
                simd::pair_step(&mut self.gradient, gram.row(j), gram.row(k), step);
            }
        }
        self.move_to(gram, k, 0.0);
        (self.lo[k], self.hi[k]) = (0.0, 0.0);
    }

    /// The variable that can take over part of α_k at the best objective per unit, and the signed amount, as large as
    /// its bounds allow.
    fn best_receiver(&self, gram: &mut dyn Gram, k: usize) -> Option<(usize, f64)> {
        gram.fetch(&[k]);
        let (row, sign) = (gram.row(k), self.alpha[k].signum());
        let mut best: Option<(f64, usize, f64)> = None;
        for j in (0..self.len()).filter(|&j| j != k) {
            let room = if sign > 0.0 { self.hi[j] - self.alpha[j] } else { self.alpha[j] - self.lo[j] };
            let step = sign * room.min(self.alpha[k].abs());
            if room <= 0.0 {
                continue;
            }
            let curve = gram.diag(j) + gram.diag(k) - 2.0 * f64::from(row[j]);
            let gain = step * (self.gradient[j] - self.gradient[k]) - 0.5 * step * step * curve;
            // compare per unit transferred: otherwise many small transfers would win over one large one
            let rate = gain / step.abs();
            if best.is_none_or(|(max_rate, ..)| rate > max_rate) {
                best = Some((rate, j, step));
            }
        }
        best.map(|(_, j, step)| (j, step))
    }

    /// Duality gap of a problem without bias over all its variables, and the expected deviation of the sum of its
    /// losses: √(Σh² − (Σh)²/l) over the l variables with α ≠ 0 (Ertekin 2009, 6.3, as corrected).
    pub fn gap_and_target(&self) -> (f64, f64) {
        let (gap, target, ..) = self.standing();
        (gap, target)
    }

    /// Largest cost of a variable, which is the width of its bounds.
    pub fn largest_cost(&self) -> f64 {
        self.lo.iter().zip(&self.hi).fold(0.0, |largest, (lo, hi)| f64::max(largest, hi - lo))
    }

    /// [`Dual::gap_and_target`] and the gradient bounds, in one pass.
    pub fn standing(&self) -> (f64, f64, GradientBounds) {
        let sums = simd::gap(&self.alpha, &self.lo, &self.hi, &self.gradient);
        let spread = sums.squares - sums.loss * sums.loss / sums.count.max(1.0);
        (sums.gap, spread.max(0.0).sqrt(), GradientBounds { max_up: sums.max_up, min_down: sums.min_down })
    }

    /// Distance of the gradient of variable `s`, with α = 0, from violating its optimality condition; negative if it
    /// violates it now. The gradient is measured relative to the constant `bias`.
    pub fn slack(&self, s: usize, bias: f64) -> f64 {
        let g = self.gradient[s] - bias;
        match (self.lo[s] < 0.0, self.hi[s] > 0.0) {
            (true, false) => g,
            (false, true) => -g,
            (true, true) => -g.abs(),
            (false, false) => f64::INFINITY,
        }
    }

    /// Whether variable `s` has α = 0 and its gradient is outside the gradient bounds, so that no pair step can move it
    /// in the current state.
    pub fn is_idle(&self, s: usize, e: GradientBounds) -> bool {
        let g = self.gradient[s];
        self.alpha[s] == 0.0
            && match (self.lo[s] < 0.0, self.hi[s] > 0.0) {
                (true, false) => g >= e.max_up,
                (false, true) => g <= e.min_down,
                (true, true) => false,
                (false, false) => true,
            }
    }
}
