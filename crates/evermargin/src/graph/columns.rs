//! Distances of sparse rows through an index by columns: one row against all others costs only the values in shared columns.

use crate::data::{MatrixView, Row};

/// Squared distances below this fraction of the squared lengths are rounding errors and count as 0.
const SAME: f64 = 1e-13;

/// |a − b|² from the inner product and the squared lengths.
pub(super) fn squared_distance(dot: f64, a: f64, b: f64) -> f64 {
    let d = a + b - 2.0 * dot;
    if d <= SAME * (a + b) { 0.0 } else { d }
}

/// Sparse rows, and for each column the rows and values in it.
pub(super) struct Columns<'a> {
    x: MatrixView<'a>,
    indptr: Vec<usize>,
    rows: Vec<u32>,
    values: Vec<f64>,
    norms: Vec<f64>,
}

impl<'a> Columns<'a> {
    pub(super) fn new(x: MatrixView<'a>) -> Self {
        let mut indptr = vec![0; x.cols() + 1];
        for i in 0..x.rows() {
            x.row(i).for_each(|c, _| indptr[c + 1] += 1);
        }
        (0..x.cols()).for_each(|c| indptr[c + 1] += indptr[c]);
        let mut next = indptr.clone();
        let (mut rows, mut values) = (vec![0; indptr[x.cols()]], vec![0.0; indptr[x.cols()]]);
        for i in 0..x.rows() {
            x.row(i).for_each(|c, v| {
                rows[next[c]] = i as u32;
                values[next[c]] = v;
                next[c] += 1;
            });
        }
        let norms = (0..x.rows()).map(|i| x.row(i).norm2()).collect();
        Self { x, indptr, rows, values, norms }
    }

    /// Squared distances of row `i` to every row.
    pub(super) fn distances(&self, i: usize, out: &mut Vec<f64>) {
        out.clear();
        out.resize(self.norms.len(), 0.0);
        self.products(self.x.row(i), out);
        out.iter_mut().zip(&self.norms).for_each(|(o, norm)| *o = squared_distance(*o, self.norms[i], *norm));
    }

    fn products(&self, row: Row<'_>, out: &mut [f64]) {
        row.for_each(|c, v| {
            let range = self.indptr[c]..self.indptr[c + 1];
            for (&j, w) in self.rows[range.clone()].iter().zip(&self.values[range]) {
                out[j as usize] += v * w;
            }
        });
    }
}
