//! The subproblem of a working set, solved by second-order pairs.

use super::{Dual, Free, best_of_pair, best_of_two, snapped};
use crate::kernel::gram::Gram;
use crate::math::simd;
use rayon::prelude::*;

/// A problem of a few variables with all of its kernel values in memory.
#[derive(Debug, Default)]
pub(super) struct WorkingSet {
    pub rows: Vec<usize>,
    bias: bool,
    pub alpha: Vec<f64>,
    lo: Vec<f64>,
    hi: Vec<f64>,
    diag: Vec<f64>,
    /// Gradient where the variable may rise, −∞ elsewhere.
    up: Vec<f64>,
    /// Gradient where the variable may fall, +∞ elsewhere.
    down: Vec<f64>,
    /// Kernel values, row-major.
    k: Vec<f32>,
    /// Memory of the previous `k`, reused for the next.
    spare: Vec<f32>,
}

/// Minimum number of kernel values that one thread copies: starting another thread costs more than copying fewer.
const VALUES_PER_TASK: usize = 1 << 15;

impl WorkingSet {
    /// Loads the variables of these rows (ascending).
    pub fn load(&mut self, dual: &Dual, gram: &dyn Gram, rows: Vec<usize>) {
        let pick = |v: &[f64]| rows.iter().map(|&i| v[i]).collect::<Vec<f64>>();
        self.bias = dual.bias;
        (self.alpha, self.lo, self.hi) = (pick(&dual.alpha), pick(&dual.lo), pick(&dual.hi));
        self.diag = rows.iter().map(|&i| gram.diag(i)).collect();
        (self.up, self.down) = (pick(&dual.gradient), pick(&dual.gradient));
        self.load_kernel(gram, rows);
        (0..self.rows.len()).for_each(|i| self.mark(i));
    }

    /// Gathers the kernel values; values between samples of the previous set are copied from there.
    fn load_kernel(&mut self, gram: &dyn Gram, rows: Vec<usize>) {
        let (q, before) = (rows.len(), self.rows.len());
        let kept: Vec<Option<usize>> = rows.iter().map(|r| self.rows.binary_search(r).ok()).collect();
        let (old, mut k) = (std::mem::take(&mut self.k), std::mem::take(&mut self.spare));
        k.resize(q * q, 0.0);
        let rows_per_task = VALUES_PER_TASK / q.max(1) + 1;
        let filled = k.par_chunks_mut(q).zip(&rows).zip(&kept).with_min_len(rows_per_task);
        filled.for_each(|((out, &i), &was)| {
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

    /// Hides the gradient of `i` in the direction in which a bound blocks it.
    fn mark(&mut self, i: usize) {
        let g = if self.up[i].is_finite() { self.up[i] } else { self.down[i] };
        self.up[i] = if self.alpha[i] < self.hi[i] { g } else { f64::NEG_INFINITY };
        self.down[i] = if self.alpha[i] > self.lo[i] { g } else { f64::INFINITY };
    }

    /// Takes steps until the violation inside the set is at most `goal`; returns their number.
    pub fn optimize(&mut self, goal: f64, max_steps: u64) -> u64 {
        if self.bias { self.optimize_pairs(goal, max_steps) } else { self.optimize_freely(goal, max_steps) }
    }

    /// Without bias: moves the variable with the largest gradient that may increase, and its best partner in a pair
    /// step (as with a bias), to their joint optimum.
    fn optimize_freely(&mut self, goal: f64, max_steps: u64) -> u64 {
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

    /// Moves variable `k` and updates the gradients.
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
    fn optimize_pairs(&mut self, goal: f64, max_steps: u64) -> u64 {
        let q = self.rows.len();
        let mut steps = 0;
        while steps < max_steps.min(100 * q as u64) {
            let (i, max_up) = simd::argmax(&self.up);
            if max_up == f64::NEG_INFINITY {
                break;
            }
            let row = &self.k[i * q..(i + 1) * q];
            let partner = simd::second_order(&self.down, max_up, row, &self.diag, self.diag[i]);
            if max_up - partner.min_down <= goal || partner.gain <= 0.0 {
                break;
            }
            self.step(i, partner.index);
            steps += 1;
        }
        steps
    }

    /// Takes the optimal step of the pair: increases α_i, decreases α_j.
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
