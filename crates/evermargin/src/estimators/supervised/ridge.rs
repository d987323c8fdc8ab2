//! Regularized least squares in the weights of a linear function, with an intercept that is not regularized.
//!
//! min ½|w|² + ½ Σᵢ cᵢ(yᵢ − w·xᵢ − b)². At the optimum b = ȳ − w·x̄ (means weighted by c), so what remains is least
//! squares on centered data: (I + Σ cᵢ(xᵢ − x̄)(xᵢ − x̄)ᵀ)w = Σ cᵢ(yᵢ − ȳ)(xᵢ − x̄). With few columns this is solved by a
//! Cholesky factorization that all targets share, with many columns by conjugate gradients (one round of
//! [`crate::solver::newton_cg`]). The data are never centered in memory, so sparse data stay sparse.

use crate::data::MatrixView;
use crate::error::Result;
use crate::estimators::supervised::rls::{Output, permitted};
use crate::math::blas1::{add, dot, norm};
use crate::math::linalg::Cholesky;
use crate::math::products::Design;
use crate::solver::newton_cg::{Objective, newton};
use crate::solver::{Exit, Report, Stop, Watch};
use rayon::prelude::*;

/// Maximum number of columns for which the normal equations are formed and factored.
const FEW_COLS: usize = 256;

/// A ridge regression problem on some rows of `x`.
pub(crate) struct Ridge<'a> {
    pub x: MatrixView<'a>,
    pub rows: Vec<u32>,
    pub cost: Vec<f64>,
    pub fit_intercept: bool,
    pub tolerance: f64,
}

impl Ridge<'_> {
    /// Solves for each vector of targets; one output each.
    pub fn solve(self, y: &[Vec<f64>], watch: &dyn Watch) -> Result<Vec<Output>> {
        let Self { x, rows, cost, fit_intercept: bias, tolerance } = self;
        let total: f64 = cost.iter().sum();
        let design = Design::new(x, rows, false);
        let all: Vec<u32> = (0..design.rows() as u32).collect();
        let mut mean = vec![0.0; x.cols()];
        if bias {
            design.add_transposed(&all, |i| cost[i] / total, &mut mean);
        }
        let shared = Shared { design, all, cost, mean, total };
        let center = |y: &Vec<f64>| if bias { dot(&shared.cost, y) / total } else { 0.0 };
        let factor = if x.cols() <= FEW_COLS {
            permitted(watch)?;
            Some(shared.normal_equations()?)
        } else {
            None
        };
        let solve = |y: &Vec<f64>| {
            let center = center(y);
            let target: Vec<f64> = y.iter().map(|y| y - center).collect();
            let mut objective = Centered { shared: &shared, target, outputs: vec![0.0; y.len()] };
            let mut w = vec![0.0; x.cols()];
            let report = match &factor {
                Some(factor) => objective.direct(factor, &mut w),
                None => newton(&mut objective, &mut w, Stop { tolerance, max_steps: Some(50) }, watch),
            };
            Output { bias: center - dot(&w, &shared.mean), vector: w, report }
        };
        Ok(y.par_iter().map(solve).collect())
    }
}

/// Data that all targets share.
struct Shared<'a> {
    design: Design<'a>,
    /// Indices of all rows of the design.
    all: Vec<u32>,
    cost: Vec<f64>,
    /// x̄; 0 without intercept.
    mean: Vec<f64>,
    /// Sum of the costs.
    total: f64,
}

impl Shared<'_> {
    /// Factorization of I + Σ cᵢ(xᵢ − x̄)(xᵢ − x̄)ᵀ. Sums over blocks of rows are added in order, so the result does not
    /// depend on the number of threads.
    fn normal_equations(&self) -> Result<Cholesky> {
        let d = self.mean.len();
        let piece = |rows: &[u32]| {
            let (mut sum, mut centered) = (vec![0.0; d * d], vec![0.0; d]);
            for &i in rows {
                self.mean.iter().zip(&mut centered).for_each(|(m, v)| *v = -m);
                self.design.row(i as usize).for_each(|c, v| centered[c] += v);
                for j in 0..d {
                    add(self.cost[i as usize] * centered[j], &centered[..=j], &mut sum[j * d..=j * d + j]);
                }
            }
            sum
        };
        let partial: Vec<Vec<f64>> =
            self.all.par_chunks(self.all.len().div_ceil(8).max(64)).map(piece).collect();
        let mut matrix = vec![0.0; d * d];
        for sum in &partial {
            add(1.0, sum, &mut matrix);
        }
        for j in 0..d {
            matrix[j * d + j] += 1.0;
            for i in 0..j {
                matrix[i * d + j] = matrix[j * d + i];
            }
        }
        Cholesky::new(matrix, d)
    }
}

/// The objective ½|w|² + ½ Σ cᵢ(tᵢ − w·(xᵢ − x̄))².
struct Centered<'a> {
    shared: &'a Shared<'a>,
    target: Vec<f64>,
    outputs: Vec<f64>,
}

impl Centered<'_> {
    fn loss(&self) -> f64 {
        let square = |(i, o): (usize, &f64)| self.shared.cost[i] * (self.target[i] - o).powi(2);
        0.5 * self.outputs.iter().enumerate().map(square).sum::<f64>()
    }

    /// Solves with the factored normal equations, starting at w = 0.
    fn direct(&mut self, factor: &Cholesky, w: &mut [f64]) -> Report {
        self.value(w);
        let mut gradient = vec![0.0; w.len()];
        self.gradient(w, &mut gradient);
        gradient.iter().zip(w.iter_mut()).for_each(|(g, w)| *w = -g);
        factor.solve(w);
        let objective = self.value(w);
        self.gradient(w, &mut gradient);
        let length = norm(&gradient);
        let gap = if length == 0.0 { 0.0 } else { length / (2.0 * objective).sqrt() };
        let exit = if gap <= 1e-3 { Exit::Converged } else { Exit::Stalled };
        Report { steps: 1, objective, gap, kernel_evaluations: 0, exit }
    }
}

impl Objective for Centered<'_> {
    fn dim(&self) -> usize {
        self.shared.mean.len()
    }

    fn value(&mut self, w: &[f64]) -> f64 {
        self.shared.design.mul(w, &mut self.outputs);
        let offset = dot(w, &self.shared.mean);
        for o in &mut self.outputs {
            *o -= offset;
        }
        0.5 * dot(w, w) + self.loss()
    }

    fn gradient(&mut self, w: &[f64], out: &mut [f64]) {
        let shared = self.shared;
        let slope = |i: usize| shared.cost[i] * (self.outputs[i] - self.target[i]);
        let total: f64 = (0..self.outputs.len()).map(slope).sum();
        out.copy_from_slice(w);
        shared.design.add_transposed(&shared.all, slope, out);
        add(-total, &shared.mean, out);
    }

    fn hess_vec(&mut self, v: &[f64], out: &mut [f64]) {
        let shared = self.shared;
        out.copy_from_slice(v);
        shared.design.add_gram(&shared.all, &shared.cost, v, out);
        add(-shared.total * dot(v, &shared.mean), &shared.mean, out);
    }

    fn precond(&mut self, diagonal: &mut [f64]) {
        let shared = self.shared;
        diagonal.fill(1.0);
        shared.design.add_squares(&shared.all, &shared.cost, diagonal);
        for (d, m) in diagonal.iter_mut().zip(&shared.mean) {
            *d = (*d - shared.total * m * m).max(1.0);
        }
    }

    fn modulus(&self) -> f64 {
        1.0
    }

    fn is_quadratic(&self) -> bool {
        true
    }

    /// Exact line search: the curvature along d is |d|² + Σ cᵢ(d·(xᵢ − x̄))².
    fn line_search(&mut self, w: &mut [f64], direction: &[f64], _: f64, slope: f64) -> Option<f64> {
        let shared = self.shared;
        let mut shift = vec![0.0; self.outputs.len()];
        shared.design.mul(direction, &mut shift);
        let offset = dot(direction, &shared.mean);
        let mut curvature = dot(direction, direction);
        for (s, c) in shift.iter_mut().zip(&shared.cost) {
            *s -= offset;
            curvature += c * *s * *s;
        }
        let step = -slope / curvature;
        add(step, direction, w);
        add(step, &shift, &mut self.outputs);
        Some(0.5 * dot(w, w) + self.loss())
    }
}
