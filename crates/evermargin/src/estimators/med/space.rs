//! Feature space: the columns of the data, or kernel features of landmarks.
//!
//! With landmarks Z and k(Z, Z) = EEᵀ the features are ϕ(x) = E⁻¹k(Z, x). Functions lie in the span of the kernel functions
//! of Z, and |f|² is the norm of the kernel. New landmarks add rows to E, so existing features do not change; the posterior
//! gets new coordinates with the prior N(0, 1).
//!
//! Landmarks are drawn from each batch by a Cholesky factorization, with random pivots, of the part of the kernel matrix that
//! the existing landmarks do not explain. ([`crate::estimators::manifold::landmark_space`] does the same for a whole table,
//! but cannot start with existing landmarks.) A batch adds at most half of the number that is still allowed, so later
//! batches can add some, too.
//!
//! The part of the kernel outside the span is left out of the dual, because a solution there could not be stored. It is
//! included in the variance.

use super::MAX_FEATURES;
use crate::data::{Matrix, MatrixView};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::kernel::gram::{cross_matrix, gram_matrix};
use crate::math::blas1::dot;
use crate::math::linalg::{self, Lower};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

/// Minimum unexplained part of K(x, x) of a new landmark, as a fraction of the largest K(x, x) of the batch.
const MIN_UNEXPLAINED: f64 = 1e-9;
/// Maximum number of rows of a batch that are candidates for landmarks.
const MAX_CANDIDATES: usize = 1000;

/// A map from samples to features.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Space {
    /// The columns of the data.
    Columns {
        /// Number of columns.
        cols: usize,
    },
    /// Kernel features E⁻¹k(Z, x) of landmarks.
    Landmarks {
        /// The kernel.
        kernel: Kernel,
        /// Landmarks Z.
        points: Matrix,
        /// Cholesky factor E of k(Z, Z).
        factor: Lower,
    },
}

impl Space {
    /// The space for data like `x`. A linear kernel uses the columns, unless a precision matrix is needed and there are too
    /// many columns for it.
    pub fn new(x: MatrixView<'_>, kernel: Kernel, precision: bool, landmarks: usize) -> Self {
        let few = !precision || x.cols() <= landmarks.clamp(1000, MAX_FEATURES);
        if kernel == Kernel::Linear && few {
            return Self::Columns { cols: x.cols() };
        }
        let points = Matrix::empty(x.cols(), matches!(x, MatrixView::Csr { .. }));
        Self::Landmarks { kernel, points, factor: Lower::new(Vec::new(), 0) }
    }

    /// Number of features.
    pub fn dim(&self) -> usize {
        match self {
            Self::Columns { cols } => *cols,
            Self::Landmarks { factor, .. } => factor.len(),
        }
    }

    /// The landmarks; `None` if the features are columns.
    pub fn landmarks(&self) -> Option<&Matrix> {
        match self {
            Self::Columns { .. } => None,
            Self::Landmarks { points, .. } => Some(points),
        }
    }

    /// Number of columns of a sample.
    pub fn cols(&self) -> usize {
        match self {
            Self::Columns { cols } => *cols,
            Self::Landmarks { points, .. } => points.cols(),
        }
    }

    /// Features of samples, one row per sample; columns of sparse data stay sparse.
    pub fn features(&self, x: MatrixView<'_>) -> Matrix {
        match self {
            Self::Columns { .. } => x.to_matrix(),
            Self::Landmarks { kernel, points, factor } => {
                let mut values = cross_matrix(x, points.view(), *kernel);
                factor.solve_rows(&mut values);
                Matrix::Dense { values, rows: x.rows(), cols: factor.len() }
            }
        }
    }

    /// The part of K(x, x) of each row that the features do not explain.
    pub fn missing(&self, x: MatrixView<'_>, features: &Matrix) -> Vec<f64> {
        let Self::Landmarks { kernel, .. } = self else { return vec![0.0; x.rows()] };
        let own = |i: usize| kernel.eval(x.row(i), x.row(i)) - features.view().row(i).norm2();
        (0..x.rows()).map(|i| own(i).max(0.0)).collect()
    }

    /// Adds landmarks from a batch, up to `max` in total.
    pub fn grow(&mut self, x: MatrixView<'_>, max: usize, seed: u64) -> Result<()> {
        let Self::Landmarks { kernel, points, factor } = &*self else { return Ok(()) };
        let places = max.saturating_sub(points.rows()).div_ceil(2);
        if places == 0 || x.rows() == 0 {
            return Ok(());
        }
        // more rows are thinned evenly, because n² kernel values are computed
        let step = x.rows().div_ceil(MAX_CANDIDATES);
        let rows: Vec<usize> = (0..x.rows()).step_by(step).collect();
        let part = x.select(&rows);
        let (n, m) = (rows.len(), factor.len());
        let mut open = gram_matrix(part.view(), *kernel);
        let own = (0..n).map(|i| open[i * n + i]);
        let (largest, sound) =
            own.fold((0.0f64, true), |(a, s), k| (a.max(k), s && k >= 0.0 && k.is_finite()));
        if !sound {
            return Err(Error::Data(
                "K(x, x) is negative or not finite for some row; choose a kernel that is positive definite, \
                 such as rbf, or scale the data"
                    .into(),
            ));
        }
        let Matrix::Dense { values: old, .. } = self.features(part.view()) else { return Ok(()) };
        linalg::subtract_products(&old, m, &old, m, &mut open);
        let (chosen, new) = pivots(&open, n, places, MIN_UNEXPLAINED * largest, seed);
        let Self::Landmarks { points, factor, .. } = self else { return Ok(()) };
        let wide = m + chosen.len();
        let mut values = vec![0.0; wide * wide];
        for i in 0..m {
            values[i * wide..i * wide + m].copy_from_slice(&factor.values()[i * m..(i + 1) * m]);
        }
        for (k, &row) in chosen.iter().enumerate() {
            let out = &mut values[(m + k) * wide..(m + k + 1) * wide];
            out[..m].copy_from_slice(&old[row * m..(row + 1) * m]);
            out[m..=m + k].copy_from_slice(&new[row * places..=row * places + k]);
            points.push(part.view().row(row));
        }
        *factor = Lower::new(values, wide);
        Ok(())
    }
}

/// Cholesky factorization of the n × n matrix `a` with random pivots, drawn with probability proportional to the remaining
/// diagonal. There are at most `max` pivots, and none with a remaining diagonal of at most `min_diagonal`. Returns the pivot
/// rows in order and the factor, n × `max`.
fn pivots(a: &[f64], n: usize, max: usize, min_diagonal: f64, seed: u64) -> (Vec<usize>, Vec<f64>) {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut remains: Vec<f64> = (0..n).map(|i| a[i * n + i]).collect();
    let (mut factor, mut chosen) = (vec![0.0; n * max], Vec::new());
    while chosen.len() < max {
        remains.iter_mut().for_each(|r| *r = if *r > min_diagonal { *r } else { 0.0 });
        let total: f64 = remains.iter().sum();
        if total <= 0.0 {
            break;
        }
        let at = rng.random::<f64>() * total;
        let mut sum = 0.0;
        let passed = remains.iter().position(|r| {
            sum += r;
            *r > 0.0 && sum > at
        });
        let Some(pivot) = passed.or_else(|| remains.iter().rposition(|r| *r > 0.0)) else { break };
        let (k, root) = (chosen.len(), remains[pivot].sqrt());
        let own = factor[pivot * max..pivot * max + k].to_vec();
        for i in 0..n {
            let row = &mut factor[i * max..(i + 1) * max];
            let value = if i == pivot { root } else { (a[i * n + pivot] - dot(&row[..k], &own)) / root };
            row[k] = value;
            remains[i] -= value * value;
        }
        remains[pivot] = 0.0;
        chosen.push(pivot);
    }
    // remove rounding errors in rows that were pivots before
    for (k, &row) in chosen.iter().enumerate() {
        factor[row * max + k + 1..(row + 1) * max].fill(0.0);
    }
    (chosen, factor)
}
