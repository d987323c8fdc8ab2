//! Sums of kernel values, f = Σ uⱼK(xⱼ, ·), from which the cut of SUBMOD-S3VM is computed.
//!
//! Linear kernel, without a kernel matrix: f is one dense vector v = Σ uⱼxⱼ; adding a row costs O(its nonzeros), and so
//! does a value (Emara 2012, algorithm 5). Centered on a mean μ, sparse rows stay sparse: with β = Σ uⱼ,
//! f(x) = ⟨x − μ, v − βμ⟩ = ⟨x, v⟩ − β⟨x, μ⟩ − ⟨μ, v⟩ + β|μ|².
//!
//! Any other kernel: f is its values at all rows. A row is added by one row of kernel values, which comes from a cache
//! under a byte limit: O(n) numbers, never n².

use crate::data::MatrixView;
use crate::kernel::gram::Gram;
use crate::math::blas1::{add, dot};
use crate::math::products::Design;
use crate::solver::{Progress, Watch};
use rayon::prelude::*;

/// Number of rows that a thread processes at a time.
const ROWS_PER_TASK: usize = 4096;

/// Number of rows below which rows are added one by one, because a partial sum is as long as a dense row.
const MIN_PARALLEL_ROWS: usize = 256;

/// Number of kernel rows between two checks whether to continue.
const CHECK_EVERY: usize = 256;

/// A kernel on the rows of the data, with sums of kernel functions.
pub enum Space<'a> {
    /// ⟨x − μ, z − μ⟩
    Linear(LinearSpace<'a>),
    /// Rows of a Gram matrix.
    Kernel(Box<dyn Gram + 'a>),
}

/// A linear kernel, centered or not.
#[derive(Debug)]
pub struct LinearSpace<'a> {
    all: Design<'a>,
    mean: Vec<f64>,
    mean_square: f64,
    /// ⟨xᵢ, μ⟩ of every row; empty if nothing is subtracted.
    dot_mean: Vec<f64>,
}

/// f = Σ uⱼK(xⱼ, ·).
#[derive(Debug, Clone)]
pub struct Sum {
    /// v, or the values at all rows.
    values: Vec<f64>,
    /// β.
    count: f64,
    /// ⟨μ, v⟩.
    cross: f64,
}

impl<'a> LinearSpace<'a> {
    /// The rows of `x`, minus their weighted mean if weights `center` are given (one per row, 0 for a row that takes no
    /// part).
    pub fn new(x: MatrixView<'a>, center: Option<&[f64]>) -> Self {
        let all = Design::new(x, (0..x.rows() as u32).collect(), false);
        let (mut mean, mut dot_mean) = (vec![0.0; x.cols()], Vec::new());
        if let Some(weight) = center {
            let rows: Vec<u32> = (0..x.rows() as u32).filter(|&i| weight[i as usize] > 0.0).collect();
            let total: f64 = rows.iter().map(|&i| weight[i as usize]).sum();
            all.add_transposed(&rows, |i| weight[i] / total, &mut mean);
            dot_mean.resize(x.rows(), 0.0);
            all.mul(&mean, &mut dot_mean);
        }
        let mean_square = dot(&mean, &mean);
        Self { all, mean, mean_square, dot_mean }
    }

    /// ⟨xᵢ, μ⟩
    fn dot_mean(&self, i: usize) -> f64 {
        self.dot_mean.get(i).copied().unwrap_or(0.0)
    }

    /// Weights w and constant b of f(x) = w·x + b.
    pub fn function(&self, f: &Sum) -> (Vec<f64>, f64) {
        let mut w = f.values.clone();
        if !self.dot_mean.is_empty() {
            add(-f.count, &self.mean, &mut w);
        }
        let offset = dot(&self.mean, &w);
        (w, -offset)
    }
}

/// Processes rows in blocks and calls the watch before each; returns false if the caller asked to stop.
fn for_blocks(rows: &[u32], size: usize, watch: &dyn Watch, mut each: impl FnMut(&[usize])) -> bool {
    let mut block = Vec::with_capacity(size);
    for (k, part) in rows.chunks(size).enumerate() {
        let progress = Progress { steps: (k * size) as u64, violation: 1.0, tolerance: 0.0 };
        if rows.len() > 1 && !watch.proceed(&progress) {
            return false;
        }
        block.clear();
        block.extend(part.iter().map(|&i| i as usize));
        each(&block);
    }
    true
}

/// max |kⱼ|·wⱼ in eight lanes.
fn largest_product(kernel: &[f32], weight: &[f64]) -> f64 {
    let mut largest = [0.0f64; 8];
    for (k, w) in kernel.chunks(8).zip(weight.chunks(8)) {
        for ((m, k), w) in largest.iter_mut().zip(k).zip(w) {
            let product = f64::from(k.abs()) * w;
            *m = if product > *m { product } else { *m };
        }
    }
    largest.into_iter().fold(0.0, f64::max)
}

impl Space<'_> {
    /// f = 0.
    pub fn zero(&self) -> Sum {
        let length = match self {
            Self::Linear(space) => space.mean.len(),
            Self::Kernel(gram) => gram.len(),
        };
        Sum { values: vec![0.0; length], count: 0.0, cross: 0.0 }
    }

    /// f += scale·Σ weightᵢK(xᵢ, ·) over the given rows.
    pub fn add(&mut self, rows: &[u32], scale: f64, weight: &[f64], f: &mut Sum) {
        self.add_watched(rows, scale, weight, f, &());
    }

    /// As [`Space::add`]; returns false if the caller asked to stop, and f then contains a part of the sum.
    pub fn add_watched(
        &mut self,
        rows: &[u32],
        scale: f64,
        weight: &[f64],
        f: &mut Sum,
        watch: &dyn Watch,
    ) -> bool {
        match self {
            Self::Linear(space) => {
                if rows.len() < MIN_PARALLEL_ROWS {
                    let add = |&i: &u32| (i as usize, scale * weight[i as usize]);
                    rows.iter().map(add).for_each(|(i, u)| space.all.add_row(i, u, &mut f.values));
                } else {
                    space.all.add_transposed(rows, |i| scale * weight[i], &mut f.values);
                }
                let sum = |g: &dyn Fn(usize) -> f64| rows.iter().map(|&i| g(i as usize)).sum::<f64>();
                f.count += scale * sum(&|i| weight[i]);
                if !space.dot_mean.is_empty() {
                    f.cross += scale * sum(&|i| weight[i] * space.dot_mean[i]);
                }
                true
            }
            Self::Kernel(gram) => for_blocks(rows, CHECK_EVERY, watch, |block| {
                let coef: Vec<f64> = block.iter().map(|&i| scale * weight[i]).collect();
                gram.accumulate(block, &coef, &mut f.values);
            }),
        }
    }

    /// As [`Space::add`]; also returns the largest |weightᵢ·weightⱼ·K(xᵢ, xⱼ)| of the given rows. For kernels without
    /// negative eigenvalues, such as the linear one, it is on the diagonal (Cauchy–Schwarz); for others it is searched.
    /// `None` if the caller asked to stop.
    pub fn add_all(
        &mut self,
        rows: &[u32],
        scale: f64,
        weight: &[f64],
        f: &mut Sum,
        watch: &dyn Watch,
    ) -> Option<f64> {
        let Self::Kernel(gram) = self else {
            let square = |&i: &u32| weight[i as usize] * weight[i as usize] * self.square(i as usize);
            let largest = rows.iter().map(square).fold(0.0, f64::max);
            return self.add_watched(rows, scale, weight, f, watch).then_some(largest);
        };
        let mut part = vec![0.0; gram.len()];
        rows.iter().for_each(|&j| part[j as usize] = weight[j as usize]);
        let mut largest = 0.0f64;
        let all = for_blocks(rows, gram.capacity().clamp(1, CHECK_EVERY), watch, |block| {
            gram.fetch(block);
            let coef: Vec<f64> = block.iter().map(|&i| scale * weight[i]).collect();
            gram.accumulate(block, &coef, &mut f.values);
            for &i in block {
                largest = largest.max(part[i] * largest_product(gram.row(i), &part));
            }
        });
        all.then_some(largest)
    }

    /// f(xᵢ).
    pub fn at(&self, f: &Sum, i: usize) -> f64 {
        match self {
            Self::Linear(space) => {
                let raw = space.all.dot(i, &f.values);
                raw - f.count * space.dot_mean(i) - f.cross + f.count * space.mean_square
            }
            Self::Kernel(_) => f.values[i],
        }
    }

    /// f at the given rows, which may be many.
    pub fn values(&self, f: &Sum, rows: &[u32], out: &mut [f64]) {
        match self {
            Self::Linear(space) => {
                let (w, constant) = space.function(f);
                out.par_chunks_mut(ROWS_PER_TASK).zip(rows.par_chunks(ROWS_PER_TASK)).for_each(
                    |(out, rows)| {
                        out.iter_mut()
                            .zip(rows)
                            .for_each(|(o, &i)| *o = space.all.dot(i as usize, &w) + constant);
                    },
                );
            }
            Self::Kernel(_) => out.iter_mut().zip(rows).for_each(|(o, &i)| *o = f.values[i as usize]),
        }
    }

    /// K(xᵢ, xᵢ).
    pub fn square(&self, i: usize) -> f64 {
        match self {
            Self::Linear(space) => {
                (space.all.norm2(i) - 2.0 * space.dot_mean(i) + space.mean_square).max(0.0)
            }
            Self::Kernel(gram) => gram.diag(i),
        }
    }
}
