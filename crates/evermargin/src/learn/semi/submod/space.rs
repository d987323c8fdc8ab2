//! Sums of kernel values, f = Σ uⱼK(xⱼ, ·): all that the cut of SUBMOD-S3VM is made of.
//!
//! Linear kernel, no kernel matrix: f is one dense vector v = Σ uⱼxⱼ; a row is added in O(its non-zeros), and a value costs
//! as much (Emara 2012, algorithm 5). Centred on a mean μ, sparse rows stay sparse: with β = Σ uⱼ,
//! f(x) = ⟨x − μ, v − βμ⟩ = ⟨x, v⟩ − β⟨x, μ⟩ − ⟨μ, v⟩ + β|μ|².
//!
//! Any kernel: f is its values at all rows. A row is added by one row of kernel values, which comes from a cache under a
//! byte limit: O(n) numbers, never n².

use crate::data::MatrixView;
use crate::gram::Gram;
use crate::product::Design;
use crate::solve::newton::{add, dot};
use rayon::prelude::*;

/// Rows a thread takes at a time.
const GROUP: usize = 4096;

/// Fewer rows than this are added one by one: a partial sum is as long as a dense row.
const FEW: usize = 256;

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
    /// The rows of `x`, less their mean by the weights `centre` (one a row, 0 for a row without a part) if they are given.
    pub fn new(x: MatrixView<'a>, centre: Option<&[f64]>) -> Self {
        let all = Design::new(x, (0..x.rows() as u32).collect(), false);
        let (mut mean, mut along) = (vec![0.0; x.cols()], Vec::new());
        if let Some(weight) = centre {
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
            }
            Self::Kernel(gram) => {
                let coef: Vec<f64> = rows.iter().map(|&i| scale * weight[i as usize]).collect();
                let rows: Vec<usize> = rows.iter().map(|&i| i as usize).collect();
                gram.accumulate(&rows, &coef, &mut f.values);
            }
        }
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

    /// K(xᵢ, xⱼ).
    pub fn entry(&mut self, i: usize, j: usize) -> f64 {
        match self {
            Self::Linear(space) => {
                let raw = space.all.row(i).dot(space.all.row(j));
                raw - space.along(i) - space.along(j) + space.mean_square
            }
            Self::Kernel(gram) => {
                gram.fetch(&[i]);
                gram.row(i).get(j).map_or(0.0, |k| f64::from(*k))
            }
        }
    }
}
