//! Inner products in blocks whose values do not depend on the block shape; modes and means of columns for centering.

use crate::data::MatrixView;
use crate::math::linalg;
use std::ops::Range;

/// Minimum number of rows and queries in a matrix product: for smaller ones the library takes other code paths, which
/// round differently, and a kernel value must not depend on the block in which it is computed.
const MIN_ROWS: usize = 64;
const MIN_QUERIES: usize = 4;

/// Inner products of queries with rows.
pub(crate) struct Products<'a, T> {
    pub(crate) rows: &'a [T],
    pub(crate) cols: usize,
    pub(crate) queries: &'a [T],
    pub(crate) count: usize,
}

impl<T: linalg::Element> Products<'_, T> {
    /// Products of each query with the given rows, in reused memory.
    pub(crate) fn with<'s>(&self, rows: &Range<usize>, out: &'s mut Vec<T>) -> impl Iterator<Item = &'s [T]> {
        let (d, len) = (self.cols, rows.len());
        let start = rows.end.saturating_sub(MIN_ROWS).min(rows.start);
        let (m, n) = ((rows.end - start).max(MIN_ROWS), self.count.max(MIN_QUERIES));
        out.clear();
        out.resize(m * n, T::default());
        let padded = |v: &[T], want: usize| {
            let mut out = v.to_vec();
            out.resize(want * d, T::default());
            out
        };
        let a = &self.rows[start * d..rows.end * d];
        match (a.len() == m * d, self.count == n) {
            (true, true) => linalg::cross_products(a, m, self.queries, n, d, out),
            (true, false) => linalg::cross_products(a, m, &padded(self.queries, n), n, d, out),
            (false, true) => linalg::cross_products(&padded(a, m), m, self.queries, n, d, out),
            (false, false) => linalg::cross_products(&padded(a, m), m, &padded(self.queries, n), n, d, out),
        }
        let skip = rows.start - start;
        out.chunks_exact(m).take(self.count).map(move |k| &k[skip..skip + len])
    }
}

/// Mode (most frequent value) of each column, and the fraction of values that differ from it, both from a sample of rows
/// spread evenly over the data.
pub(crate) fn column_modes(x: MatrixView<'_>) -> (Vec<f64>, f64) {
    let sample = x.rows().min(1000);
    let dense = x.select(&(0..sample).map(|k| k * x.rows() / sample).collect::<Vec<_>>());
    let MatrixView::Dense { values, cols, .. } = dense.view() else { return (Vec::new(), 1.0) };
    let (mut modes, mut others) = (Vec::with_capacity(cols), 0);
    for c in 0..cols {
        let mut column: Vec<f64> = values.iter().skip(c).step_by(cols).copied().collect();
        column.sort_unstable_by(f64::total_cmp);
        let longest = column.chunk_by(|a, b| a == b).max_by_key(|run| run.len()).unwrap_or(&[0.0]);
        modes.push(longest[0]);
        others += column.len() - longest.len().min(column.len());
    }
    (modes, others as f64 / (sample * cols).max(1) as f64)
}

pub(crate) fn column_means(x: MatrixView<'_>) -> Vec<f64> {
    let mut sum = vec![0.0; x.cols()];
    for i in 0..x.rows() {
        x.row(i).for_each(|c, v| sum[c] += v);
    }
    sum.iter_mut().for_each(|s| *s /= x.rows().max(1) as f64);
    sum
}
