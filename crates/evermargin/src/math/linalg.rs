//! The only file that uses the linear-algebra crate directly: safe helpers on plain slices. Each product or solve of
//! the crate is sequential, and threads process whole ones of fixed size, so that no result depends on the number of
//! threads.

use crate::error::{Error, Result};
use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{LltRegularization, cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::traits::{ComplexField, Conjugate};
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Cholesky factorization A = LLᵀ of a symmetric positive definite matrix, in the memory of the matrix.
#[derive(Debug, Clone)]
pub struct Cholesky {
    values: Vec<f64>,
    n: usize,
}

impl Cholesky {
    /// Factors the symmetric `n × n` matrix `values`.
    pub fn new(mut values: Vec<f64>, n: usize) -> Result<Self> {
        if n.checked_mul(n) != Some(values.len()) {
            return Err(Error::Shape {
                what: "values of a square matrix",
                expected: n * n,
                found: values.len(),
            });
        }
        let a = MatMut::from_column_major_slice_mut(&mut values, n, n);
        let mut memory = MemBuffer::new(cholesky_in_place_scratch::<f64>(n, Par::Seq, faer::Spec::default()));
        let stack = MemStack::new(&mut memory);
        let factored =
            cholesky_in_place(a, LltRegularization::default(), Par::Seq, stack, faer::Spec::default());
        let positive = factored.is_ok() && (0..n).all(|i| values[i * n + i].is_normal());
        if !positive {
            return Err(Error::Data(
                "the matrix of the linear system is not positive definite; lower C (regularize more), or choose a \
                 kernel that is positive definite, such as rbf"
                    .into(),
            ));
        }
        Ok(Self { values, n })
    }

    /// Replaces each column of `rhs` (column-major, n rows) by A⁻¹ times it.
    pub fn solve(&self, rhs: &mut [f64]) {
        let columns = rhs.len() / self.n.max(1);
        let mut x = MatMut::from_column_major_slice_mut(rhs, self.n, columns);
        solve_lower_triangular_in_place(self.factor(), x.as_mut(), Par::Seq);
        solve_upper_triangular_in_place(self.factor().transpose(), x.as_mut(), Par::Seq);
    }

    /// LLᵀ·x, which is A·x to the rounding of the factorization.
    pub fn multiply(&self, x: &[f64]) -> Vec<f64> {
        let n = self.n;
        let column = |j: usize| &self.values[j * n + j..(j + 1) * n];
        let upper: Vec<f64> =
            (0..n).map(|j| column(j).iter().zip(&x[j..]).map(|(l, x)| l * x).sum()).collect();
        let mut out = vec![0.0; n];
        for (j, u) in upper.iter().enumerate() {
            out[j..].iter_mut().zip(column(j)).for_each(|(o, l)| *o += l * u);
        }
        out
    }

    /// Diagonal of A⁻¹: squared lengths of the columns of L⁻¹, computed in blocks of columns.
    pub fn inverse_diagonal(&self) -> Vec<f64> {
        const BLOCK: usize = 64;
        let n = self.n;
        let mut diagonal = vec![0.0; n];
        for first in (0..n).step_by(BLOCK) {
            let (rows, width) = (n - first, BLOCK.min(n - first));
            let mut unit = vec![0.0; rows * width];
            (0..width).for_each(|j| unit[j * rows + j] = 1.0);
            let corner = self.factor().submatrix(first, first, rows, rows);
            let x = MatMut::from_column_major_slice_mut(&mut unit, rows, width);
            solve_lower_triangular_in_place(corner, x, Par::Seq);
            for (j, column) in unit.chunks_exact(rows).enumerate() {
                diagonal[first + j] = column.iter().map(|v| v * v).sum();
            }
        }
        diagonal
    }

    /// The factor L.
    pub fn lower(self) -> Lower {
        let n = self.n;
        Lower { values: self.factor_rows(), n }
    }

    /// The factor L row by row, zeros above the diagonal: n points whose inner products are A.
    pub fn factor_rows(&self) -> Vec<f64> {
        let n = self.n;
        let mut rows = vec![0.0; n * n];
        for (i, row) in rows.chunks_exact_mut(n.max(1)).enumerate() {
            row[..=i].iter_mut().enumerate().for_each(|(j, v)| *v = self.values[j * n + i]);
        }
        rows
    }

    fn factor(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(&self.values, self.n, self.n)
    }
}

/// Floating-point number in single or double precision.
pub trait Element: ComplexField + Conjugate<Canonical = Self> + Default + Copy {}
impl Element for f32 {}
impl Element for f64 {}

/// `out[j·m + i] = a_i · b_j` for m rows a and n rows b of d values, all row-major: out is n × m, row-major.
pub fn cross_products<T: Element>(a: &[T], m: usize, b: &[T], n: usize, d: usize, out: &mut [T]) {
    matmul(
        MatMut::from_column_major_slice_mut(&mut out[..m * n], m, n),
        Accum::Replace,
        MatRef::from_row_major_slice(&a[..m * d], m, d),
        MatRef::from_column_major_slice(&b[..n * d], d, n),
        T::one_impl(),
        Par::Seq,
    );
}

/// `out[i·n + j] −= a_i · b_j` for m rows a, `stride` apart, and n rows b of d values: out is m × n, row-major.
pub fn subtract_products(a: &[f64], stride: usize, b: &[f64], d: usize, out: &mut [f64]) {
    let n = b.len() / d.max(1);
    if n == 0 || d == 0 {
        return;
    }
    let m = out.len() / n;
    matmul(
        MatMut::from_row_major_slice_mut(out, m, n),
        Accum::Add,
        MatRef::from_row_major_slice_with_stride(&a[..(m - 1) * stride + d], m, d, stride),
        MatRef::from_column_major_slice(b, d, n),
        -1.0,
        Par::Seq,
    );
}

/// `AᵀB`, m × m row-major, of two row-major matrices of m columns whose AᵀB is symmetric. Threads process stripes of
/// columns; each is one product over all rows, so the sums do not depend on the number of threads.
pub fn symmetric_product(a: &[f64], b: &[f64], m: usize) -> Vec<f64> {
    const STRIPE: usize = 128;
    let n = a.len() / m.max(1);
    let (a, b) = (MatRef::from_row_major_slice(a, n, m), MatRef::from_row_major_slice(b, n, m));
    let mut out = vec![0.0; m * m];
    out.par_chunks_mut(STRIPE * m.max(1)).enumerate().for_each(|(stripe, rows)| {
        let (first, count) = (stripe * STRIPE, rows.len() / m);
        // columns up to the diagonal; the rest is mirrored
        let width = first + count;
        matmul(
            MatMut::from_row_major_slice_mut(rows, count, m).subcols_mut(0, width),
            Accum::Replace,
            a.subcols(first, count).transpose(),
            b.subcols(0, width),
            1.0,
            Par::Seq,
        );
    });
    for i in 0..m {
        for j in 0..i {
            out[j * m + i] = out[i * m + j];
        }
    }
    out
}

/// Rows from `first` on of `AᵀB`, (m − first) × w row-major, of row-major matrices of m and w columns. Threads process
/// stripes of the columns of A; each is one product over all rows.
pub fn transposed_product(a: &[f64], m: usize, first: usize, b: &[f64], w: usize) -> Vec<f64> {
    const STRIPE: usize = 128;
    let n = b.len() / w.max(1);
    let (a, b) = (MatRef::from_row_major_slice(a, n, m), MatRef::from_row_major_slice(b, n, w));
    let mut out = vec![0.0; (m - first) * w];
    out.par_chunks_mut(STRIPE * w.max(1)).enumerate().for_each(|(stripe, rows)| {
        let count = rows.len() / w;
        matmul(
            MatMut::from_row_major_slice_mut(rows, count, w),
            Accum::Replace,
            a.subcols(first + stripe * STRIPE, count).transpose(),
            b,
            1.0,
            Par::Seq,
        );
    });
    out
}

/// Eigenvalues in ascending order, and the eigenvectors one after the other, of the symmetric `n × n` matrix `values`.
pub fn eigen(values: &[f64], n: usize) -> Result<(Vec<f64>, Vec<f64>)> {
    if n.checked_mul(n) != Some(values.len()) {
        return Err(Error::Shape { what: "values of a square matrix", expected: n * n, found: values.len() });
    }
    let (mut roots, mut vectors) = (vec![0.0; n], vec![0.0; n * n]);
    if n == 0 {
        return Ok((roots, vectors));
    }
    let scratch =
        self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, Par::Seq, faer::Spec::default());
    let mut memory = MemBuffer::new(scratch);
    let found = self_adjoint_evd(
        MatRef::from_row_major_slice(values, n, n),
        DiagMut::from_slice_mut(&mut roots),
        Some(MatMut::from_column_major_slice_mut(&mut vectors, n, n)),
        Par::Seq,
        MemStack::new(&mut memory),
        faer::Spec::default(),
    );
    match found {
        Ok(()) if roots.iter().all(|v| v.is_finite()) => Ok((roots, vectors)),
        _ => Err(Error::Data("the eigenvalue decomposition of a matrix failed; scale the data".into())),
    }
}

/// A lower triangular matrix, row-major.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lower {
    values: Vec<f64>,
    n: usize,
}

impl Lower {
    /// Takes the `n × n` matrix; entries above its diagonal are not read.
    pub fn new(values: Vec<f64>, n: usize) -> Self {
        Self { values, n }
    }

    /// The matrix, row-major.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Number of rows and columns.
    pub fn len(&self) -> usize {
        self.n
    }

    /// Whether the matrix has no rows.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Replaces each row g of `rows` (row-major, n columns) by L⁻¹g; threads process blocks of rows.
    pub fn solve_rows(&self, rows: &mut [f64]) {
        const ROWS: usize = 128;
        let factor = MatRef::from_row_major_slice(&self.values, self.n, self.n);
        rows.par_chunks_mut(ROWS * self.n.max(1)).for_each(|block| {
            let count = block.len() / self.n;
            let x = MatMut::from_column_major_slice_mut(block, self.n, count);
            solve_lower_triangular_in_place(factor, x, Par::Seq);
        });
    }

    /// Replaces v by L⁻ᵀv.
    pub fn solve_transposed(&self, v: &mut [f64]) {
        let factor = MatRef::from_row_major_slice(&self.values, self.n, self.n);
        let x = MatMut::from_column_major_slice_mut(v, self.n, 1);
        solve_upper_triangular_in_place(factor.transpose(), x, Par::Seq);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Aᵢⱼ = exp(−|i − j|/3) + [i = j], positive definite.
    fn example(n: usize) -> Vec<f64> {
        let entry = |i: usize, j: usize| (-(i.abs_diff(j) as f64) / 3.0).exp() + f64::from(u8::from(i == j));
        (0..n * n).map(|k| entry(k / n, k % n)).collect()
    }

    #[test]
    fn solves_several_right_hand_sides() {
        for n in [1, 2, 5, 64, 65, 150] {
            let a = example(n);
            let x: Vec<f64> = (0..2 * n).map(|k| (k as f64).sin()).collect();
            let mut rhs = vec![0.0; 2 * n];
            for (k, out) in rhs.iter_mut().enumerate() {
                let (column, i) = (k / n, k % n);
                *out = (0..n).map(|j| a[i * n + j] * x[column * n + j]).sum();
            }
            let cholesky = Cholesky::new(a, n).unwrap();
            let image = cholesky.multiply(&x[..n]);
            assert!(image.iter().zip(&rhs).all(|(p, q)| (p - q).abs() < 1e-12), "{n}");
            cholesky.solve(&mut rhs);
            assert!(rhs.iter().zip(&x).all(|(p, q)| (p - q).abs() < 1e-12), "{n}");
        }
    }

    #[test]
    fn products_of_columns_equal_their_sums() {
        let (n, m, w) = (57, 140, 3);
        let a: Vec<f64> = (0..n * m).map(|k| (k as f64 * 0.37).sin()).collect();
        let b: Vec<f64> = (0..n * w).map(|k| (k as f64 * 0.91).cos()).collect();
        for first in [0, 5, 139] {
            let found = transposed_product(&a, m, first, &b, w);
            assert_eq!(found.len(), (m - first) * w);
            for (at, found) in found.iter().enumerate() {
                let (i, j) = (first + at / w, at % w);
                let sum: f64 = (0..n).map(|r| a[r * m + i] * b[r * w + j]).sum();
                assert!((found - sum).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn inverse_diagonal_equals_solved_unit_vectors() {
        let n = 130;
        let cholesky = Cholesky::new(example(n), n).unwrap();
        let diagonal = cholesky.inverse_diagonal();
        for i in [0, 1, 63, 64, 129] {
            let mut unit = vec![0.0; n];
            unit[i] = 1.0;
            cholesky.solve(&mut unit);
            assert!((unit[i] - diagonal[i]).abs() < 1e-12);
        }
    }

    #[test]
    fn eigenvectors_are_orthonormal_and_reproduce_the_matrix() {
        for n in [0, 1, 2, 7, 40, 90] {
            let a = example(n);
            let (roots, vectors) = eigen(&a, n).unwrap();
            assert!(roots.is_sorted());
            let v = |k: usize, i: usize| vectors[k * n + i];
            for i in 0..n {
                for j in 0..n {
                    let back: f64 = (0..n).map(|k| roots[k] * v(k, i) * v(k, j)).sum();
                    let unit: f64 = (0..n).map(|c| v(i, c) * v(j, c)).sum();
                    assert!((back - a[i * n + j]).abs() < 1e-12, "{n}");
                    assert!((unit - f64::from(u8::from(i == j))).abs() < 1e-12, "{n}");
                }
            }
        }
        assert!(eigen(&[1.0; 3], 2).is_err());
        assert!(eigen(&[f64::NAN; 4], 2).is_err());
    }

    #[test]
    fn refuses_matrices_that_are_not_positive_definite() {
        for bad in
            [vec![1.0, 2.0, 2.0, 1.0], vec![0.0; 4], vec![1.0, 1.0, 1.0, 1.0], vec![-1.0, 0.0, 0.0, 1.0]]
        {
            assert!(Cholesky::new(bad, 2).unwrap_err().to_string().contains("positive definite"));
        }
        assert!(Cholesky::new(vec![1.0; 3], 2).is_err());
        assert!(Cholesky::new(vec![], 0).is_ok());
    }
}
