//! Owned matrices, dense or compressed by rows.

use super::{MatrixView, Row};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// An owned matrix with one row per sample. Built by [`Matrix::dense`] or [`Matrix::csr`], which check it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Matrix {
    /// Row-major values.
    #[non_exhaustive]
    Dense {
        /// `rows * cols` values.
        values: Vec<f64>,
        /// Number of rows.
        rows: usize,
        /// Number of columns.
        cols: usize,
    },
    /// Compressed rows: row `i` is `indptr[i]..indptr[i + 1]` of `indices` (ascending, distinct) and `values`.
    #[non_exhaustive]
    Csr {
        /// `rows + 1` offsets.
        indptr: Vec<usize>,
        /// Columns.
        indices: Vec<u32>,
        /// Values.
        values: Vec<f64>,
        /// Number of columns.
        cols: usize,
    },
}

impl Matrix {
    /// A dense matrix; checks the shape and that every value is finite and not too large.
    pub fn dense(values: Vec<f64>, rows: usize, cols: usize) -> Result<Self> {
        MatrixView::dense(&values, rows, cols)?;
        Ok(Self::Dense { values, rows, cols })
    }

    /// A sparse matrix; checks offsets, column order and that every value is finite and not too large.
    pub fn csr(indptr: Vec<usize>, indices: Vec<u32>, values: Vec<f64>, cols: usize) -> Result<Self> {
        MatrixView::csr(&indptr, &indices, &values, cols)?;
        Ok(Self::Csr { indptr, indices, values, cols })
    }

    /// A dense matrix with only its shape checked: values may be NaN, infinite or too large. For
    /// [`Engine`](crate::engine::Engine), which rejects unusable rows one by one.
    pub fn dense_with_any_values(values: Vec<f64>, rows: usize, cols: usize) -> Result<Self> {
        MatrixView::check_dense_shape(&values, rows, cols)?;
        Ok(Self::Dense { values, rows, cols })
    }

    /// A sparse matrix with only its structure checked; see [`Matrix::dense_with_any_values`].
    pub fn csr_with_any_values(
        indptr: Vec<usize>,
        indices: Vec<u32>,
        values: Vec<f64>,
        cols: usize,
    ) -> Result<Self> {
        MatrixView::check_csr_structure(&indptr, &indices, &values, cols)?;
        Ok(Self::Csr { indptr, indices, values, cols })
    }

    /// A borrowed view.
    pub fn view(&self) -> MatrixView<'_> {
        match self {
            Self::Dense { values, rows, cols } => MatrixView::Dense { values, rows: *rows, cols: *cols },
            Self::Csr { indptr, indices, values, cols } => {
                MatrixView::Csr { indptr, indices, values, cols: *cols }
            }
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.view().rows()
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.view().cols()
    }

    /// The same rows with some columns set to zero.
    #[must_use]
    pub fn without(mut self, absent: &[Range<usize>]) -> Self {
        let is_absent = |c: usize| absent.iter().any(|range| range.contains(&c));
        match &mut self {
            _ if absent.is_empty() => {}
            Self::Dense { values, cols, .. } => {
                let columns: Vec<usize> = (0..*cols).filter(|c| is_absent(*c)).collect();
                for row in values.chunks_exact_mut((*cols).max(1)) {
                    columns.iter().for_each(|c| row[*c] = 0.0);
                }
            }
            Self::Csr { indices, values, .. } => {
                let stored = indices.iter().zip(values);
                stored.filter(|(c, _)| is_absent(**c as usize)).for_each(|(_, v)| *v = 0.0);
            }
        }
        self
    }

    /// The same rows with `cols` columns: new columns are zero, columns past the end are dropped.
    #[must_use]
    pub fn with_cols(self, cols: usize) -> Self {
        match self {
            Self::Dense { values, rows, cols: old } if old != cols => {
                let keep = old.min(cols);
                let mut wide = vec![0.0; rows * cols];
                for i in 0..rows {
                    wide[i * cols..i * cols + keep].copy_from_slice(&values[i * old..i * old + keep]);
                }
                Self::Dense { values: wide, rows, cols }
            }
            Self::Csr { indptr, indices, values, cols: old } if old > cols => {
                let (mut p, mut ix, mut v) = (vec![0], Vec::new(), Vec::new());
                for w in indptr.windows(2) {
                    let end = w[0] + indices[w[0]..w[1]].partition_point(|&c| (c as usize) < cols);
                    ix.extend_from_slice(&indices[w[0]..end]);
                    v.extend_from_slice(&values[w[0]..end]);
                    p.push(ix.len());
                }
                Self::Csr { indptr: p, indices: ix, values: v, cols }
            }
            Self::Csr { indptr, indices, values, .. } => Self::Csr { indptr, indices, values, cols },
            dense @ Self::Dense { .. } => dense,
        }
    }

    /// The matrix in the layout that suits its data: dense from 20 % non-zero values on, compressed rows below.
    #[must_use]
    pub fn into_natural_layout(self) -> Self {
        let view = self.view();
        let cells = view.rows().saturating_mul(view.cols());
        let full = view.nonzeros() as f64 >= 0.2 * cells as f64;
        match &self {
            Self::Dense { .. } if !full => self.view().to_csr(),
            Self::Csr { .. } if full => self.view().to_dense(),
            _ => self,
        }
    }
}

impl Matrix {
    /// A matrix without rows, with `cols` columns, dense or sparse.
    pub fn empty(cols: usize, sparse: bool) -> Self {
        if sparse {
            Self::Csr { indptr: vec![0], indices: Vec::new(), values: Vec::new(), cols }
        } else {
            Self::Dense { values: Vec::new(), rows: 0, cols }
        }
    }

    /// Vertical concatenation, in the layout of the first matrix; all must have its number of columns.
    pub fn stacked(parts: &[MatrixView<'_>]) -> Self {
        let sparse = matches!(parts.first(), Some(MatrixView::Csr { .. }));
        let mut out = Self::empty(parts.first().map_or(0, MatrixView::cols), sparse);
        out.reserve(parts.iter().map(MatrixView::rows).sum(), parts.iter().map(MatrixView::nonzeros).sum());
        for part in parts {
            (0..part.rows()).for_each(|i| out.push(part.row(i)));
        }
        out
    }

    /// Horizontal concatenation of matrices with equally many rows: dense if all are dense, else sparse.
    pub fn beside(parts: &[MatrixView<'_>]) -> Result<Self> {
        let rows = parts.first().map_or(0, MatrixView::rows);
        if let Some(other) = parts.iter().find(|p| p.rows() != rows) {
            return Err(Error::Shape { what: "rows", expected: rows, found: other.rows() });
        }
        let cols = parts.iter().try_fold(0u32, |sum, p| sum.checked_add(u32::try_from(p.cols()).ok()?));
        let cols = cols.ok_or_else(|| Error::Data("too many columns: 4294967295 at most".into()))? as usize;
        let sparse = parts.iter().any(|p| matches!(p, MatrixView::Csr { .. }));
        let mut out = Self::empty(cols, sparse);
        out.reserve(rows, parts.iter().map(MatrixView::nonzeros).sum());
        for i in 0..rows {
            out.push_beside(parts.iter().map(|p| (p.row(i), p.cols())));
        }
        Ok(out)
    }

    /// Appends the concatenation of rows, each given with its number of columns.
    fn push_beside<'r>(&mut self, parts: impl Iterator<Item = (Row<'r>, usize)>) {
        let mut first = 0;
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        for (row, cols) in parts {
            row.for_each(|c, v| {
                indices.push((first + c) as u32);
                values.push(v);
            });
            first += cols;
        }
        self.push(Row::Sparse(&indices, &values));
    }

    /// The checks of the constructors, for a matrix that was deserialized.
    pub fn recheck(&self) -> Result<()> {
        match self {
            Self::Dense { values, rows, cols } => MatrixView::dense(values, *rows, *cols).map(|_| ()),
            Self::Csr { indptr, indices, values, cols } => {
                MatrixView::csr(indptr, indices, values, *cols).map(|_| ())
            }
        }
    }

    /// The checks of the constructors except those of the values.
    pub fn check_structure(&self) -> Result<()> {
        match self {
            Self::Dense { values, rows, cols } => MatrixView::check_dense_shape(values, *rows, *cols),
            Self::Csr { indptr, indices, values, cols } => {
                MatrixView::check_csr_structure(indptr, indices, values, *cols)
            }
        }
    }

    /// Reserves memory for this many additional rows and values.
    pub fn reserve(&mut self, rows: usize, nonzeros: usize) {
        match self {
            Self::Dense { values, cols, .. } => values.reserve(rows.saturating_mul(*cols)),
            Self::Csr { indptr, indices, values, .. } => {
                indptr.reserve(rows);
                indices.reserve(nonzeros);
                values.reserve(nonzeros);
            }
        }
    }

    /// Appends a row (columns past the end are dropped, missing ones are 0).
    pub fn push(&mut self, row: Row<'_>) {
        match self {
            Self::Dense { values, rows, cols } => {
                let start = values.len();
                values.resize(start + *cols, 0.0);
                row.for_each(|c, v| {
                    if let Some(cell) = values[start..].get_mut(c) {
                        *cell = v;
                    }
                });
                *rows += 1;
            }
            Self::Csr { indptr, indices, values, cols } => {
                row.for_each(|c, v| {
                    if c < *cols && v != 0.0 {
                        indices.push(c as u32);
                        values.push(v);
                    }
                });
                indptr.push(values.len());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beside_concatenates_columns_and_keeps_sparse_data_sparse() {
        let dense = Matrix::dense(vec![1.0, 0.0, 0.0, 2.0], 2, 2).unwrap();
        let sparse = Matrix::csr(vec![0, 1, 1], vec![2], vec![3.0], 3).unwrap();
        let wide = Matrix::dense(vec![1.0, 0.0, 1.0, 0.0, 0.0, 2.0, 0.0, 2.0], 2, 4).unwrap();
        assert_eq!(Matrix::beside(&[dense.view(), dense.view()]).unwrap(), wide);
        let mixed = Matrix::csr(vec![0, 2, 3], vec![0, 4, 1], vec![1.0, 3.0, 2.0], 5).unwrap();
        assert_eq!(Matrix::beside(&[dense.view(), sparse.view()]).unwrap(), mixed);
        let short = Matrix::dense(vec![1.0], 1, 1).unwrap();
        let error = Matrix::beside(&[dense.view(), short.view()]).unwrap_err().to_string();
        assert_eq!(error, "rows: expected 2, found 1");
        let vast = Matrix::csr(vec![0, 0, 0], vec![], vec![], u32::MAX as usize).unwrap();
        assert!(Matrix::beside(&[vast.view(), dense.view()]).is_err());
    }
}
