//! Borrowed matrices and rows, and the validation of matrices.

use super::Matrix;
use crate::error::{Error, Result};

/// Largest accepted absolute value: sums of squares over many columns do not overflow.
pub const MAX_ABS: f64 = 1e100;

/// A borrowed [`Matrix`], the input of learners and models.
#[derive(Debug, Clone, Copy)]
pub enum MatrixView<'a> {
    /// Row-major values.
    #[non_exhaustive]
    Dense {
        /// `rows * cols` values.
        values: &'a [f64],
        /// Number of rows.
        rows: usize,
        /// Number of columns.
        cols: usize,
    },
    /// Compressed rows.
    #[non_exhaustive]
    Csr {
        /// `rows + 1` offsets.
        indptr: &'a [usize],
        /// Columns.
        indices: &'a [u32],
        /// Values.
        values: &'a [f64],
        /// Number of columns.
        cols: usize,
    },
}

/// One row of a matrix.
#[derive(Debug, Clone, Copy)]
pub enum Row<'a> {
    /// The values of all columns.
    Dense(&'a [f64]),
    /// Columns in ascending order, and their values; other columns are zero.
    Sparse(&'a [u32], &'a [f64]),
}

impl<'a> MatrixView<'a> {
    /// A dense view; checks the shape and that every value is finite and not too large.
    pub fn dense(values: &'a [f64], rows: usize, cols: usize) -> Result<Self> {
        Self::check_dense_shape(values, rows, cols)?;
        if let Some(at) = values.iter().position(|v| !usable(*v)) {
            return Err(bad_value(at / cols, at % cols, values[at]));
        }
        Ok(Self::Dense { values, rows, cols })
    }

    pub(super) fn check_dense_shape(values: &[f64], rows: usize, cols: usize) -> Result<()> {
        if rows.checked_mul(cols) == Some(values.len()) {
            return Ok(());
        }
        Err(Error::Shape {
            what: "values of a dense matrix",
            expected: rows.saturating_mul(cols),
            found: values.len(),
        })
    }

    /// A sparse view; checks offsets, column order and that every value is finite and not too large.
    pub fn csr(indptr: &'a [usize], indices: &'a [u32], values: &'a [f64], cols: usize) -> Result<Self> {
        Self::check_csr_structure(indptr, indices, values, cols)?;
        for (row, w) in indptr.windows(2).enumerate() {
            if let Some(at) = (w[0]..w[1]).find(|&k| !usable(values[k])) {
                return Err(bad_value(row, indices[at] as usize, values[at]));
            }
        }
        Ok(Self::Csr { indptr, indices, values, cols })
    }

    pub(super) fn check_csr_structure(
        indptr: &[usize],
        indices: &[u32],
        values: &[f64],
        cols: usize,
    ) -> Result<()> {
        if indices.len() != values.len() {
            return Err(Error::Shape {
                what: "values of a sparse matrix",
                expected: indices.len(),
                found: values.len(),
            });
        }
        let ordered = indptr.first() == Some(&0)
            && indptr.last() == Some(&values.len())
            && indptr.windows(2).all(|w| w[0] <= w[1]);
        if !ordered {
            return Err(Error::Data(
                "sparse matrix: row offsets must ascend from 0 to the number of values".into(),
            ));
        }
        for (row, w) in indptr.windows(2).enumerate() {
            let columns = &indices[w[0]..w[1]];
            if columns.windows(2).any(|c| c[0] >= c[1]) {
                return Err(Error::Data(format!("sparse matrix, row {}: columns must ascend", row + 1)));
            }
            if columns.last().is_some_and(|&c| c as usize >= cols) {
                return Err(Error::Data(format!("sparse matrix, row {}: column past the end", row + 1)));
            }
        }
        Ok(())
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Self::Dense { rows, .. } => *rows,
            Self::Csr { indptr, .. } => indptr.len().saturating_sub(1),
        }
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        match self {
            Self::Dense { cols, .. } | Self::Csr { cols, .. } => *cols,
        }
    }

    /// Number of values that are not zero.
    pub fn nonzeros(&self) -> usize {
        match self {
            Self::Dense { values, .. } | Self::Csr { values, .. } => {
                values.iter().filter(|v| **v != 0.0).count()
            }
        }
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> Row<'a> {
        match *self {
            Self::Dense { values, cols, .. } => Row::Dense(&values[i * cols..(i + 1) * cols]),
            Self::Csr { indptr, indices, values, .. } => {
                let span = indptr[i]..indptr[i + 1];
                Row::Sparse(&indices[span.clone()], &values[span])
            }
        }
    }

    /// The rows with these indices, in that order.
    pub fn select(&self, rows: &[usize]) -> Matrix {
        match *self {
            Self::Dense { values, cols, .. } => {
                let mut out = Vec::with_capacity(rows.len() * cols);
                for &i in rows {
                    out.extend_from_slice(&values[i * cols..(i + 1) * cols]);
                }
                Matrix::Dense { values: out, rows: rows.len(), cols }
            }
            Self::Csr { indptr, indices, values, cols } => {
                let (mut p, mut ix, mut v) = (vec![0], Vec::new(), Vec::new());
                for &i in rows {
                    ix.extend_from_slice(&indices[indptr[i]..indptr[i + 1]]);
                    v.extend_from_slice(&values[indptr[i]..indptr[i + 1]]);
                    p.push(ix.len());
                }
                Matrix::Csr { indptr: p, indices: ix, values: v, cols }
            }
        }
    }

    /// An owned copy.
    pub fn to_matrix(&self) -> Matrix {
        match *self {
            Self::Dense { values, rows, cols } => Matrix::Dense { values: values.to_vec(), rows, cols },
            Self::Csr { indptr, indices, values, cols } => Matrix::Csr {
                indptr: indptr.to_vec(),
                indices: indices.to_vec(),
                values: values.to_vec(),
                cols,
            },
        }
    }

    /// A dense copy.
    pub fn to_dense(&self) -> Matrix {
        let (rows, cols) = (self.rows(), self.cols());
        let mut out = vec![0.0; rows * cols];
        for i in 0..rows {
            self.row(i).for_each(|c, v| out[i * cols + c] = v);
        }
        Matrix::Dense { values: out, rows, cols }
    }

    /// A sparse copy without zeros.
    pub fn to_csr(&self) -> Matrix {
        let (mut p, mut ix, mut v) = (vec![0], Vec::new(), Vec::new());
        for i in 0..self.rows() {
            self.row(i).for_each(|c, value| {
                ix.push(c as u32);
                v.push(value);
            });
            p.push(ix.len());
        }
        Matrix::Csr { indptr: p, indices: ix, values: v, cols: self.cols() }
    }
}

impl Row<'_> {
    /// Calls `f(column, value)` for every value that is not zero, columns ascending.
    pub fn for_each(self, mut f: impl FnMut(usize, f64)) {
        match self {
            Self::Dense(values) => {
                values.iter().enumerate().filter(|(_, v)| **v != 0.0).for_each(|(c, v)| f(c, *v));
            }
            Self::Sparse(indices, values) => {
                indices.iter().zip(values).filter(|(_, v)| **v != 0.0).for_each(|(c, v)| f(*c as usize, *v));
            }
        }
    }

    /// Inner product.
    pub fn dot(self, other: Row<'_>) -> f64 {
        match (self, other) {
            (Row::Dense(a), Row::Dense(b)) => a.iter().zip(b).map(|(x, z)| x * z).sum(),
            (Row::Dense(a), sparse @ Row::Sparse(..)) | (sparse @ Row::Sparse(..), Row::Dense(a)) => {
                let mut sum = 0.0;
                sparse.for_each(|c, v| sum += v * a[c]);
                sum
            }
            (Row::Sparse(ia, va), Row::Sparse(ib, vb)) => {
                let (mut p, mut q, mut sum) = (0, 0, 0.0);
                while p < ia.len() && q < ib.len() {
                    match ia[p].cmp(&ib[q]) {
                        std::cmp::Ordering::Less => p += 1,
                        std::cmp::Ordering::Greater => q += 1,
                        std::cmp::Ordering::Equal => {
                            sum += va[p] * vb[q];
                            p += 1;
                            q += 1;
                        }
                    }
                }
                sum
            }
        }
    }

    /// Squared length.
    pub fn norm2(self) -> f64 {
        match self {
            Self::Dense(v) | Self::Sparse(_, v) => v.iter().map(|x| x * x).sum(),
        }
    }
}

fn usable(value: f64) -> bool {
    value.abs() <= MAX_ABS
}

fn bad_value(row: usize, column: usize, value: f64) -> Error {
    Error::Value {
        row: row + 1,
        column: column + 1,
        value,
        remedy: "replace missing values and keep magnitudes below 1e100",
    }
}
