//! Samples and labels: a row-major matrix that is dense or compressed by rows (CSR), and class labels.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Largest absolute value accepted: its square still sums over many columns without overflow.
pub const MAX_ABS: f64 = 1e100;

/// An owned matrix, one sample a row. Built by [`Matrix::dense`] or [`Matrix::csr`], which check it.
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

/// A borrowed [`Matrix`]; what learners and models take.
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

/// One sample.
#[derive(Debug, Clone, Copy)]
pub enum Row<'a> {
    /// Every column.
    Dense(&'a [f64]),
    /// The columns that are not zero, ascending.
    Sparse(&'a [u32], &'a [f64]),
}

impl Matrix {
    /// A dense matrix; checks the shape and that every value is finite.
    pub fn dense(values: Vec<f64>, rows: usize, cols: usize) -> Result<Self> {
        MatrixView::dense(&values, rows, cols)?;
        Ok(Self::Dense { values, rows, cols })
    }

    /// A sparse matrix; checks offsets, column order and that every value is finite.
    pub fn csr(indptr: Vec<usize>, indices: Vec<u32>, values: Vec<f64>, cols: usize) -> Result<Self> {
        MatrixView::csr(&indptr, &indices, &values, cols)?;
        Ok(Self::Csr { indptr, indices, values, cols })
    }

    /// Borrow.
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

    /// The same rows with zeros in some columns.
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

    /// The same rows in a space of `cols` columns: new columns are zero, columns past the end are dropped.
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

    /// The layout that suits the data: dense from 20 % non-zero values on, compressed rows below.
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
    /// No rows, `cols` columns, dense or sparse.
    pub fn empty(cols: usize, sparse: bool) -> Self {
        if sparse {
            Self::Csr { indptr: vec![0], indices: Vec::new(), values: Vec::new(), cols }
        } else {
            Self::Dense { values: Vec::new(), rows: 0, cols }
        }
    }

    /// Matrices below each other, in the layout of the first; all must have its columns.
    pub fn stacked(parts: &[MatrixView<'_>]) -> Self {
        let sparse = matches!(parts.first(), Some(MatrixView::Csr { .. }));
        let mut out = Self::empty(parts.first().map_or(0, MatrixView::cols), sparse);
        out.reserve(parts.iter().map(MatrixView::rows).sum(), parts.iter().map(MatrixView::nonzeros).sum());
        for part in parts {
            (0..part.rows()).for_each(|i| out.push(part.row(i)));
        }
        out
    }

    /// Matrices beside each other, all with the same rows: dense if all are, else sparse.
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

    /// Appends a row made of rows beside each other, each with the number of its columns.
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

    /// The checks of the constructors, for a matrix that was filled without them (read from a file).
    pub fn recheck(&self) -> Result<()> {
        match self {
            Self::Dense { values, rows, cols } => MatrixView::dense(values, *rows, *cols).map(|_| ()),
            Self::Csr { indptr, indices, values, cols } => {
                MatrixView::csr(indptr, indices, values, *cols).map(|_| ())
            }
        }
    }

    /// Makes room for so many more rows with so many values.
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

    /// Appends a row, which must have as many columns (columns beyond are dropped, missing ones are 0).
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

impl<'a> MatrixView<'a> {
    /// A dense view; checks the shape and that every value is finite.
    pub fn dense(values: &'a [f64], rows: usize, cols: usize) -> Result<Self> {
        if rows.checked_mul(cols) != Some(values.len()) {
            return Err(Error::Shape {
                what: "values of a dense matrix",
                expected: rows.saturating_mul(cols),
                found: values.len(),
            });
        }
        if let Some(at) = values.iter().position(|v| !usable(*v)) {
            return Err(bad_value(at / cols, at % cols, values[at]));
        }
        Ok(Self::Dense { values, rows, cols })
    }

    /// A sparse view; checks offsets, column order and that every value is finite.
    pub fn csr(indptr: &'a [usize], indices: &'a [u32], values: &'a [f64], cols: usize) -> Result<Self> {
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
                "sparse matrix: row offsets must rise from 0 to the number of values".into(),
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
            if let Some(at) = (w[0]..w[1]).find(|&k| !usable(values[k])) {
                return Err(bad_value(row, indices[at] as usize, values[at]));
            }
        }
        Ok(Self::Csr { indptr, indices, values, cols })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Self::Dense { rows, .. } => *rows,
            Self::Csr { indptr, .. } => indptr.len() - 1,
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

    /// The rows named, in that order.
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

/// The label of a sample in a two-class problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[repr(i8)]
pub enum Label {
    /// The first class.
    Neg = -1,
    /// Not labeled.
    Unknown = 0,
    /// The second class.
    Pos = 1,
}

impl Label {
    /// −1, 0 or +1.
    pub fn sign(self) -> f64 {
        f64::from(self as i8)
    }
}

/// Class labels of a data set: sorted class names, and for each row the number of its class, if it is known.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Labels {
    /// Class names: ascending by value when all are numbers, by bytes otherwise.
    pub classes: Vec<String>,
    /// Class of each row.
    pub of: Vec<Option<u32>>,
}

impl Labels {
    /// Labels from tokens; `None`, `?` and the empty token are unlabeled. Numbers that are equal are one
    /// class (`+1` and `1`), named as first written without a leading `+`.
    pub fn from_tokens<'t>(tokens: impl Iterator<Item = Option<&'t str>>) -> Self {
        let tokens: Vec<Option<&str>> =
            tokens.map(|t| t.map(str::trim).filter(|t| !t.is_empty() && *t != "?")).collect();
        let mut names: Vec<&str> = tokens.iter().flatten().copied().collect();
        let number = |t: &str| t.parse::<f64>().ok().filter(|v| v.is_finite());
        if names.iter().all(|t| number(t).is_some()) {
            let value = |t: &str| number(t).unwrap_or(0.0) + 0.0;
            names.sort_by(|a, b| value(a).total_cmp(&value(b)));
            names.dedup_by(|a, b| value(a) == value(b));
            let find = |t: &str| names.partition_point(|n| value(n) < value(t)) as u32;
            let of = tokens.iter().map(|t| t.map(find)).collect();
            let classes = names.iter().map(|n| n.trim_start_matches('+').to_string()).collect();
            Self { classes, of }
        } else {
            names.sort_unstable();
            names.dedup();
            let find = |t: &str| names.partition_point(|n| *n < t) as u32;
            let of = tokens.iter().map(|t| t.map(find)).collect();
            Self { classes: names.iter().map(ToString::to_string).collect(), of }
        }
    }

    /// Number of rows with a label.
    pub fn labeled(&self) -> usize {
        self.of.iter().flatten().count()
    }

    /// Rows of each class.
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.classes.len()];
        for &class in self.of.iter().flatten() {
            counts[class as usize] += 1;
        }
        counts
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_stand_beside_each_other_and_sparse_stays_sparse() {
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
