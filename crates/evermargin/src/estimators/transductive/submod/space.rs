//! Sums of kernel values, f = Σ uⱼK(xⱼ, ·): all that the cut of SUBMOD-S3VM is made of.
//!
//! Linear kernel, no kernel matrix: f is one dense vector v = Σ uⱼxⱼ; a row is added in O(its non-zeros), and a value costs
//! as much (Emara 2012, algorithm 5). Centered on a mean μ, sparse rows stay sparse: with β = Σ uⱼ,
//! f(x) = ⟨x − μ, v − βμ⟩ = ⟨x, v⟩ − β⟨x, μ⟩ − ⟨μ, v⟩ + β|μ|².
//!
//! Any kernel: f is its values at all rows. A row is added by one row of kernel values, which comes from a cache under a
//! byte limit: O(n) numbers, never n².

use crate::data::MatrixView;
use crate::kernel::gram::Gram;
use crate::math::blas1::{add, dot};
use crate::math::products::Design;
use crate::solver::{Progress, Watch};
use rayon::prelude::*;

/// Rows a thread takes at a time.
const GROUP: usize = 4096;

/// Fewer rows than this are added one by one: a partial sum is as long as a dense row.
const FEW: usize = 256;

/// Kernel rows between two questions whether to go on.
const ASK_EVERY: usize = 256;

/// A kernel on the rows of the data, and sums of it.
pub enum Space<'a> {
    /// ⟨x − μ, z − μ⟩
    Linear(LinearSpace<'a>),
    /// Rows of a Gram matrix.
    Kernel(Box<dyn Gram + 'a>),
}

/// See [`Space`].
#[derive(Debug)]
pub struct LinearSpace<'a> {
    all: Design<'a>,
    mean: Vec<f64>,
    mean_square: f64,
    /// ⟨xᵢ, μ⟩ of every row; empty if nothing is subtracted.
    along: Vec<f64>,
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
    /// The rows of `x`, less their mean by the weights `center` (one a row, 0 for a row without a part) if they are given.
    pub fn new(x: MatrixView<'a>, center: Option<&[f64]>) -> Self {
        let all = Design::new(x, (0..x.rows() as u32).collect(), false);
        let (mut mean, mut along) = (vec![0.0; x.cols()], Vec::new());
        if let Some(weight) = center {
            let rows: Vec<u32> = (0..x.rows() as u32).filter(|&i| weight[i as usize] > 0.0).collect();
            let total: f64 = rows.iter().map(|&i| weight[i as usize]).sum();
            all.add_transposed(&rows, |i| weight[i] / total, &mut mean);
            along.resize(x.rows(), 0.0);
            all.mul(&mean, &mut along);
        }
        let mean_square = dot(&mean, &mean);
        Self { all, mean, mean_square, along }
    }

    /// ⟨xᵢ, μ⟩
    fn along(&self, i: usize) -> f64 {
        self.along.get(i).copied().unwrap_or(0.0)
    }

    /// The vector w and the constant b of f(x) = w·x + b.
    pub fn function(&self, f: &Sum) -> (Vec<f64>, f64) {
        let mut w = f.values.clone();
        if !self.along.is_empty() {
            add(-f.count, &self.mean, &mut w);
        }
        let offset = dot(&self.mean, &w);
        (w, -offset)
    }
}

/// Rows in blocks, with a question before each; false if told to stop.
fn blocks(rows: &[u32], size: usize, watch: &dyn Watch, mut each: impl FnMut(&[usize])) -> bool {
    let mut block = Vec::with_capacity(size);
    for (k, part) in rows.chunks(size).enumerate() {
        let asked = Progress { steps: (k * size) as u64, violation: 1.0, tolerance: 0.0 };
        if rows.len() > 1 && !watch.proceed(&asked) {
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
    let mut most = [0.0f64; 8];
    for (k, w) in kernel.chunks(8).zip(weight.chunks(8)) {
        for ((m, k), w) in most.iter_mut().zip(k).zip(w) {
            let product = f64::from(k.abs()) * w;
            *m = if product > *m { product } else { *m };
        }
    }
    most.into_iter().fold(0.0, f64::max)
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

    /// f += scale·Σ weightᵢK(xᵢ, ·) over the rows named.
    pub fn add(&mut self, rows: &[u32], scale: f64, weight: &[f64], f: &mut Sum) {
        self.add_watched(rows, scale, weight, f, &());
    }

    /// The same; false if it was told to stop, f being part of the sum then.
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
                if rows.len() < FEW {
                    let add = |&i: &u32| (i as usize, scale * weight[i as usize]);
                    rows.iter().map(add).for_each(|(i, u)| space.all.add_row(i, u, &mut f.values));
                } else {
                    space.all.add_transposed(rows, |i| scale * weight[i], &mut f.values);
                }
                let sum = |g: &dyn Fn(usize) -> f64| rows.iter().map(|&i| g(i as usize)).sum::<f64>();
                f.count += scale * sum(&|i| weight[i]);
                if !space.along.is_empty() {
                    f.cross += scale * sum(&|i| weight[i] * space.along[i]);
                }
                true
            }
            Self::Kernel(gram) => blocks(rows, ASK_EVERY, watch, |block| {
                let coef: Vec<f64> = block.iter().map(|&i| scale * weight[i]).collect();
                gram.accumulate(block, &coef, &mut f.values);
            }),
        }
    }

    /// The same, and the largest |weightᵢ·weightⱼ·K(xᵢ, xⱼ)| of the rows named: on the diagonal for kernels without
    /// negative eigenvalues (Cauchy and Schwarz), as the linear one; of others it is looked for. `None` if told to stop.
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
        let all = blocks(rows, gram.capacity().clamp(1, ASK_EVERY), watch, |block| {
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
                raw - f.count * space.along(i) - f.cross + f.count * space.mean_square
            }
            Self::Kernel(_) => f.values[i],
        }
    }

    /// f at the rows named, which may be many.
    pub fn values(&self, f: &Sum, rows: &[u32], out: &mut [f64]) {
        match self {
            Self::Linear(space) => {
                let (w, constant) = space.function(f);
                out.par_chunks_mut(GROUP).zip(rows.par_chunks(GROUP)).for_each(|(out, rows)| {
                    out.iter_mut()
                        .zip(rows)
                        .for_each(|(o, &i)| *o = space.all.dot(i as usize, &w) + constant);
                });
            }
            Self::Kernel(_) => out.iter_mut().zip(rows).for_each(|(o, &i)| *o = f.values[i as usize]),
        }
    }

    /// K(xᵢ, xᵢ).
    pub fn square(&self, i: usize) -> f64 {
        match self {
            Self::Linear(space) => (space.all.norm2(i) - 2.0 * space.along(i) + space.mean_square).max(0.0),
            Self::Kernel(gram) => gram.diag(i),
        }
    }
}
