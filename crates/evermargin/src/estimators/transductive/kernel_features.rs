//! Samples as points in a space where the kernel is an inner product, for objectives minimized by Newton's method.
//!
//! F(w) = ½|w|² + Σ ℓᵢ(w·zᵢ) with zᵢ·zⱼ = K(xᵢ, xⱼ). For a linear kernel z is x itself, sparse or not, and no n × n
//! matrix is computed. For any other, z are the rows of L in K + εI = LLᵀ, ε = 1e-10 of the mean diagonal (more if
//! rounding requires it, up to the loss from storing six decimals; a kernel that is not positive definite is refused):
//! n² numbers computed once, and two passes over them per product with the Hessian. At the minimum w = −Σ ℓᵢ'(oᵢ)·zᵢ,
//! so −ℓᵢ'(oᵢ) are the coefficients of the function; rows with slope 0 have none.
//!
//! An optional constant is a feature 1 and regularized like the others (K + 1). Alternatively the balance of the
//! classes fixes it: with z − m, m the mean of the unlabeled points, the mean output of these points is the constant
//! itself (Chapelle & Zien 2005).

use super::s3vm::Function;
use crate::data::{Matrix, MatrixView};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::kernel::gram::gram_matrix;
use crate::math::linalg::Cholesky;
use crate::math::products::Design;

/// Maximum number of rows for which a whole kernel matrix is computed: 3.2 GB, twice that while it is factored.
pub(crate) const MAX_ROWS: usize = 20_000;

/// Points whose inner products are the kernel values.
#[derive(Debug)]
pub(crate) struct Space<'a> {
    x: MatrixView<'a>,
    /// Rows of `x`.
    rows: Vec<u32>,
    /// Replaces `x`: one row for each of `rows`.
    features: Option<Matrix>,
    constant: bool,
}

impl<'a> Space<'a> {
    /// Computes the points, with a feature 1 if `constant` is set.
    pub fn new(x: MatrixView<'a>, rows: &[usize], kernel: Kernel, constant: bool) -> Result<Self> {
        let features = match kernel {
            Kernel::Linear => None,
            _ => Some(factor(whole_matrix(x, rows, kernel)?, rows.len())?),
        };
        Ok(Self { x, rows: rows.iter().map(|&i| i as u32).collect(), features, constant })
    }

    /// Computes points from a kernel matrix.
    pub fn of_matrix(x: MatrixView<'a>, rows: &[usize], k: Vec<f64>) -> Result<Self> {
        Ok(Self::of_features(x, rows, factor(k, rows.len())?))
    }

    /// Uses the given points.
    pub fn of_features(x: MatrixView<'a>, rows: &[usize], features: Matrix) -> Self {
        let rows = rows.iter().map(|&i| i as u32).collect();
        Self { x, rows, features: Some(features), constant: false }
    }

    /// The points as a matrix for products.
    pub fn design(&self) -> Design<'_> {
        match &self.features {
            Some(z) => Design::new(z.view(), (0..self.rows.len() as u32).collect(), self.constant),
            None => Design::new(self.x, self.rows.clone(), self.constant),
        }
    }
}

/// Kernel values of every pair of the given rows, in double precision.
pub(crate) fn whole_matrix(x: MatrixView<'_>, rows: &[usize], kernel: Kernel) -> Result<Vec<f64>> {
    let n = rows.len();
    if n > MAX_ROWS {
        return Err(Error::Data(format!(
            "{n} rows need a kernel matrix of {:.0} GB; use at most {MAX_ROWS} rows, kernel linear, or learner tsvm",
            (n as f64).powi(2) * 8e-9
        )));
    }
    if kernel != Kernel::Precomputed {
        return Ok(gram_matrix(x.select(rows).view(), kernel));
    }
    let mut k = Vec::with_capacity(n * n);
    let mut whole = vec![0.0; x.cols()];
    for &i in rows {
        whole.fill(0.0);
        x.row(i).for_each(|c, v| whole[c] = v);
        k.extend(rows.iter().map(|&j| whole[j]));
    }
    for i in 0..n {
        for j in 0..i {
            let (a, b) = (k[i * n + j], k[j * n + i]);
            if (a - b).abs() > 1e-6 * (a.abs() + b.abs()) {
                return Err(Error::Data(format!(
                    "kernel matrix: row {}, column {} is {a} but row {}, column {} is {b}; it must be symmetric",
                    rows[i] + 1,
                    rows[j] + 1,
                    rows[j] + 1,
                    rows[i] + 1
                )));
            }
        }
    }
    Ok(k)
}

/// Rows of L in K + εI = LLᵀ. Entries rounded to six decimals have errors of up to 5e-7 each and eigenvalues of about
/// 6e-7·√n, which the largest ε compensates.
fn factor(mut k: Vec<f64>, n: usize) -> Result<Matrix> {
    let mean = (0..n).map(|i| k[i * n + i].abs()).sum::<f64>() / n.max(1) as f64;
    let mut added = 0.0;
    for share in [1e-10, 1e-8, 1e-6, 1e-6 * (n as f64).sqrt()] {
        let ridge = share * mean.max(f64::MIN_POSITIVE);
        (0..n).for_each(|i| k[i * n + i] += ridge - added);
        added = ridge;
        if let Ok(cholesky) = Cholesky::new(k.clone(), n) {
            drop(k);
            return Matrix::dense(cholesky.factor_rows(), n, n);
        }
    }
    Err(Error::Data(
        "the kernel matrix is not positive definite; choose a kernel that is, such as rbf".into(),
    ))
}

/// A kernel matrix centered on the weighted mean m of some of its points, with the terms needed to return to the
/// original kernel.
#[derive(Debug)]
pub(crate) struct Centered {
    /// (zᵢ − m)·(zⱼ − m)
    pub k: Vec<f64>,
    /// Weights of the points in m.
    share: Vec<f64>,
    /// zᵢ·m
    dot_mean: Vec<f64>,
    /// |m|²
    length: f64,
}

impl Centered {
    /// Centers `k`. `weight` need not add up to 1; if all weights are 0, nothing is centered.
    pub fn new(mut k: Vec<f64>, weight: &[f64]) -> Self {
        let n = weight.len();
        let total: f64 = weight.iter().sum();
        let share: Vec<f64> = weight.iter().map(|w| if total > 0.0 { w / total } else { 0.0 }).collect();
        let dot = |row: &[f64]| row.iter().zip(&share).map(|(k, s)| k * s).sum::<f64>();
        let dot_mean: Vec<f64> = k.chunks_exact(n.max(1)).map(dot).collect();
        let length = dot(&dot_mean);
        for (i, row) in k.chunks_exact_mut(n.max(1)).enumerate() {
            for (v, a) in row.iter_mut().zip(&dot_mean) {
                *v += length - a - dot_mean[i];
            }
        }
        Self { k, share, dot_mean, length }
    }

    /// As [`Centered::new`], for a linear kernel with few columns; returns xᵢ − m instead of the matrix.
    pub fn of_columns(x: MatrixView<'_>, rows: &[usize], weight: &[f64]) -> (Self, Matrix) {
        let (n, d) = (rows.len(), x.cols());
        let total: f64 = weight.iter().sum();
        let share: Vec<f64> = weight.iter().map(|w| if total > 0.0 { w / total } else { 0.0 }).collect();
        let mut mean = vec![0.0; d];
        for (&i, s) in rows.iter().zip(&share) {
            x.row(i).for_each(|c, v| mean[c] += s * v);
        }
        let mut values = vec![0.0; n * d];
        let mut dot_mean = vec![0.0; n];
        for (k, &i) in rows.iter().enumerate() {
            let out = &mut values[k * d..(k + 1) * d];
            out.iter_mut().zip(&mean).for_each(|(v, m)| *v = -m);
            x.row(i).for_each(|c, v| {
                out[c] += v;
                dot_mean[k] += v * mean[c];
            });
        }
        let length = mean.iter().map(|m| m * m).sum();
        (Self { k: Vec::new(), share, dot_mean, length }, Matrix::Dense { values, rows: n, cols: d })
    }

    /// Expresses Σ αᵢ(zᵢ − m)·(z − m) + b in terms of the original points.
    pub fn function(&self, mut alpha: Vec<f64>, b: f64) -> Function {
        let total: f64 = alpha.iter().sum();
        let offset: f64 = alpha.iter().zip(&self.dot_mean).map(|(a, k)| a * k).sum();
        alpha.iter_mut().zip(&self.share).for_each(|(a, s)| *a -= total * s);
        Function { alpha, bias: b - offset + total * self.length }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn function_of_centered_points_equals_that_of_the_original_points() {
        let values: Vec<f64> = (0..12 * 3).map(|k| ((k * 7) % 11) as f64 / 5.0 - 1.0).collect();
        let x = Matrix::dense(values, 12, 3).unwrap();
        let kernel = Kernel::Rbf { gamma: 0.5 };
        let all: Vec<usize> = (0..12).collect();
        let k = whole_matrix(x.view(), &all, kernel).unwrap();
        let weight: Vec<f64> = (0..12).map(|i| if i < 5 { 0.0 } else { 1.0 + i as f64 }).collect();
        let centered = Centered::new(k.clone(), &weight);
        let alpha: Vec<f64> = (0..12).map(|i| (i as f64).sin()).collect();
        let function = centered.function(alpha.clone(), 0.25);
        let (mut mean, total) = (0.0, weight.iter().sum::<f64>());
        for i in 0..12 {
            let inside: f64 = (0..12).map(|j| alpha[j] * centered.k[i * 12 + j]).sum::<f64>() + 0.25;
            let outside: f64 =
                (0..12).map(|j| function.alpha[j] * k[i * 12 + j]).sum::<f64>() + function.bias;
            assert!((inside - outside).abs() < 1e-12, "{inside} {outside}");
            mean += weight[i] / total * outside;
        }
        assert!((mean - 0.25).abs() < 1e-12, "mean output {mean}");
        let space = Space::of_matrix(x.view(), &all, centered.k.clone()).unwrap();
        let design = space.design();
        for (i, j) in [(0, 0), (3, 9), (11, 2)] {
            let mut z = vec![0.0; 12];
            design.add_row(j, 1.0, &mut z);
            assert!((design.dot(i, &z) - centered.k[i * 12 + j]).abs() < 1e-8);
        }
    }

    #[test]
    fn refuses_indefinite_and_asymmetric_kernel_matrices() {
        let x = Matrix::dense(vec![0.0, 1.0, 1.0, 0.0], 2, 2).unwrap();
        let error = Space::new(x.view(), &[0, 1], Kernel::Precomputed, false).unwrap_err();
        assert!(error.to_string().contains("positive definite"), "{error}");
        let x = Matrix::dense(vec![1.0, 1.001, 1.001, 1.0], 2, 2).unwrap();
        let error = Space::new(x.view(), &[0, 1], Kernel::Precomputed, false).unwrap_err();
        assert!(error.to_string().contains("positive definite"), "{error}");
        let x = Matrix::dense(vec![1.0, 1.0, 0.0, 1.0], 2, 2).unwrap();
        let error = Space::new(x.view(), &[0, 1], Kernel::Precomputed, false).unwrap_err();
        assert!(error.to_string().contains("must be symmetric"), "{error}");
    }
}
