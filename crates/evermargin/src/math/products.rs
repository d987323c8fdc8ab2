//! Products with a data matrix X, which dominate the cost of learning a linear function: Xv, Xᵀu and XᵀDXv.
//!
//! Determinism: Xv has one independent sum per row. Sums over rows (Xᵀu) are cut into `pieces` runs of rows, each with
//! its own partial sum, and these are added in order; the number of pieces depends on the data alone, so the result
//! does not depend on the number of threads. A piece costs a vector of d numbers, so there are few pieces if rows are
//! short: a partial sum costs at most an eighth of the work it parallelizes.
//!
//! Centering. (X − 1μᵀ)v = Xv − (μ·v)1 and (X − 1μᵀ)ᵀu = Xᵀu − (Σu)μ: sparse rows stay sparse.

use super::blas1;
use crate::data::{MatrixView, Row};
use rayon::prelude::*;
use std::sync::Mutex;

/// Selected rows of a matrix, with an optional constant column of ones after the last.
#[derive(Debug)]
pub struct Design<'a> {
    x: MatrixView<'a>,
    rows: Vec<u32>,
    constant: bool,
    pieces: usize,
    /// Vector that is subtracted from every row.
    center: Option<Vec<f64>>,
    /// Partial sums, reused from one product to the next.
    partial: Mutex<Vec<Vec<f64>>>,
}

/// Minimum number of stored values for which threads pay off.
const MIN_PARALLEL: usize = 1 << 16;
const MAX_PIECES: usize = 32;

impl<'a> Design<'a> {
    /// The given rows of `x`; `constant` adds a column of ones.
    pub fn new(x: MatrixView<'a>, rows: Vec<u32>, constant: bool) -> Self {
        let stored: usize = rows.iter().map(|&i| stored(x.row(i as usize))).sum();
        let dim = x.cols() + usize::from(constant);
        let pieces = if stored < MIN_PARALLEL { 1 } else { (stored / (8 * dim).max(1)).clamp(1, MAX_PIECES) };
        Self { x, rows, constant, pieces, center: None, partial: Mutex::default() }
    }

    /// The same matrix with `center`, one number per column of `x`, subtracted from every row. (Products only:
    /// [`Self::row`], [`Self::norm2`] and [`Self::add_row`] still use `x`.)
    #[must_use]
    pub fn centered(self, center: Option<Vec<f64>>) -> Self {
        debug_assert!(center.as_ref().is_none_or(|c| c.len() == self.x.cols()));
        Self { center, ..self }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Number of columns, the constant included.
    pub fn dim(&self) -> usize {
        self.x.cols() + usize::from(self.constant)
    }

    /// Row `i` (without the constant).
    pub fn row(&self, i: usize) -> Row<'a> {
        self.x.row(self.rows[i] as usize)
    }

    /// xᵢ·v, the constant included.
    pub fn dot(&self, i: usize, v: &[f64]) -> f64 {
        let (weights, offset) = self.split(v);
        dot(self.row(i), weights) + offset
    }

    /// |xᵢ|², the constant included.
    pub fn norm2(&self, i: usize) -> f64 {
        self.row(i).norm2() + f64::from(u8::from(self.constant))
    }

    /// sum += u·xᵢ, the constant included.
    pub fn add_row(&self, i: usize, u: f64, sum: &mut [f64]) {
        axpy(u, self.row(i), sum);
        if let Some(constant) = sum.get_mut(self.x.cols()) {
            *constant += u;
        }
    }

    /// out = Xv
    pub fn mul(&self, v: &[f64], out: &mut [f64]) {
        let (weights, offset) = self.split(v);
        let length = out.len().div_ceil(self.pieces).max(1);
        let piece = |(k, part): (usize, &mut [f64])| {
            for (i, o) in part.iter_mut().enumerate() {
                *o = dot(self.row(k * length + i), weights) + offset;
            }
        };
        if self.pieces == 1 {
            out.chunks_mut(length).enumerate().for_each(piece);
        } else {
            out.par_chunks_mut(length).enumerate().for_each(piece);
        }
    }

    /// out += Σ over the active rows of uᵢ·xᵢ, where u = `weight(i)`.
    pub fn add_transposed(&self, active: &[u32], weight: impl Fn(usize) -> f64 + Sync, out: &mut [f64]) {
        self.sum_rows(active, out, |i, sum| {
            let u = weight(i);
            if u != 0.0 {
                self.add_row(i, u, sum);
            }
        });
    }

    /// out += Σ over the active rows of dᵢ·(xᵢ·v)·xᵢ; each row is read from memory once.
    pub fn add_gram(&self, active: &[u32], weight: &[f64], v: &[f64], out: &mut [f64]) {
        let (weights, offset) = self.split(v);
        self.sum_rows(active, out, |i, sum| {
            let q = dot(self.row(i), weights) + offset;
            self.add_row(i, weight[i] * q, sum);
        });
    }

    /// out += Σ over the active rows of dᵢ·xᵢ∘xᵢ: the diagonal of XᵀDX.
    pub fn add_squares(&self, active: &[u32], weight: &[f64], out: &mut [f64]) {
        self.sum_pieces(active, out, |i, sum| {
            let d = weight[i];
            self.row(i).for_each(|c, v| sum[c] += d * v * v);
            if let Some(constant) = sum.get_mut(self.x.cols()) {
                *constant += d;
            }
        });
        // Σd(x − μ)² = Σdx² − 2μ·Σd(x − μ) − μ²·Σd
        if let Some(center) = &self.center {
            let mut rest = vec![0.0; self.dim()];
            self.add_transposed(active, |i| weight[i], &mut rest);
            let mass: f64 = active.iter().map(|&i| weight[i as usize]).sum();
            for ((o, r), m) in out.iter_mut().zip(&rest).zip(center) {
                *o = (*o - m * (2.0 * r + m * mass)).max(0.0);
            }
        }
    }

    fn split<'v>(&self, v: &'v [f64]) -> (&'v [f64], f64) {
        let (weights, rest) = v.split_at(self.x.cols());
        let shift = self.center.as_ref().map_or(0.0, |m| blas1::dot(m, weights));
        (weights, rest.first().copied().unwrap_or(0.0) - shift)
    }

    /// Sums the contributions `add(i, sum)` of the active rows, then subtracts the center from each.
    fn sum_rows(&self, active: &[u32], out: &mut [f64], add: impl Fn(usize, &mut [f64]) + Sync) {
        let Some(center) = &self.center else { return self.sum_pieces(active, out, add) };
        let mut sum = vec![0.0; center.len() + 1];
        self.sum_pieces(active, &mut sum, add);
        let mass = sum[center.len()];
        for ((o, s), m) in out.iter_mut().zip(&sum).zip(center) {
            *o += s - mass * m;
        }
        if let Some(constant) = out.get_mut(center.len()) {
            *constant += mass;
        }
    }

    /// Sums the contributions `add(i, sum)` of the active rows, in pieces, in order.
    fn sum_pieces(&self, active: &[u32], out: &mut [f64], add: impl Fn(usize, &mut [f64]) + Sync) {
        if self.pieces == 1 {
            for &i in active {
                add(i as usize, out);
            }
            return;
        }
        let length = active.len().div_ceil(self.pieces).max(1);
        let mut partial = self.partial.lock().map(|mut kept| std::mem::take(&mut *kept)).unwrap_or_default();
        partial.resize_with(active.len().div_ceil(length), Vec::new);
        partial.par_iter_mut().zip(active.par_chunks(length)).for_each(|(sum, piece)| {
            sum.clear();
            sum.resize(out.len(), 0.0);
            for &i in piece {
                add(i as usize, sum);
            }
        });
        for sum in &partial {
            out.iter_mut().zip(sum).for_each(|(o, s)| *o += s);
        }
        if let Ok(mut kept) = self.partial.lock() {
            *kept = partial;
        }
    }
}

fn stored(row: Row<'_>) -> usize {
    match row {
        Row::Dense(v) | Row::Sparse(_, v) => v.len(),
    }
}

/// x·w with four partial sums, so that additions do not depend on each other.
fn dot(x: Row<'_>, w: &[f64]) -> f64 {
    let mut sum = [0.0; 4];
    match x {
        Row::Dense(x) => {
            let (a, b) = (x.chunks_exact(4), w.chunks_exact(4));
            let rest: f64 = a.remainder().iter().zip(b.remainder()).map(|(p, q)| p * q).sum();
            for (p, q) in a.zip(b) {
                (0..4).for_each(|k| sum[k] += p[k] * q[k]);
            }
            (sum[0] + sum[1]) + (sum[2] + sum[3]) + rest
        }
        Row::Sparse(indices, values) => {
            let ((a, a_rest), (b, b_rest)) = (indices.as_chunks::<4>(), values.as_chunks::<4>());
            for (c, v) in a.iter().zip(b) {
                (0..4).for_each(|k| sum[k] += v[k] * w[c[k] as usize]);
            }
            let rest: f64 = a_rest.iter().zip(b_rest).map(|(&c, v)| v * w[c as usize]).sum();
            (sum[0] + sum[1]) + (sum[2] + sum[3]) + rest
        }
    }
}

/// sum += u·x
fn axpy(u: f64, x: Row<'_>, sum: &mut [f64]) {
    match x {
        Row::Dense(x) => sum.iter_mut().zip(x).for_each(|(s, v)| *s += u * v),
        Row::Sparse(indices, values) => {
            indices.iter().zip(values).for_each(|(&c, v)| sum[c as usize] += u * v);
        }
    }
}
