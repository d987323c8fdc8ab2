//! Whole kernel matrices in double precision, for estimators that factor them.

use super::TILE;
use crate::data::{Matrix, MatrixView};
use crate::kernel::Kernel;
use crate::math::linalg;
use rayon::prelude::*;

/// Kernel values of every pair of rows, row-major. Data with few columns is computed by matrix products, wide sparse
/// data row by row.
pub fn gram_matrix(x: MatrixView<'_>, kernel: Kernel) -> Vec<f64> {
    let n = x.rows();
    let mut matrix = vec![0.0; n * n];
    let wide = x.cols() > 4096 && matches!(x, MatrixView::Csr { .. });
    let dense = if wide { x.select(&[]) } else { x.to_dense() };
    let values: &[f64] = if let Matrix::Dense { values, .. } = &dense { values } else { &[] };
    let norms: Vec<f64> = (0..n).map(|i| x.row(i).norm2()).collect();
    matrix.par_chunks_mut(TILE * n.max(1)).enumerate().for_each(|(tile, rows)| {
        let (first, count) = (tile * TILE, rows.len() / n);
        if wide {
            for (i, row) in rows.chunks_exact_mut(n).enumerate() {
                row.iter_mut().enumerate().for_each(|(j, k)| *k = x.row(first + i).dot(x.row(j)));
            }
        } else {
            let d = x.cols();
            linalg::cross_products(values, n, &values[first * d..], count, d, rows);
        }
        for (i, row) in rows.chunks_exact_mut(n).enumerate() {
            let norm = norms[first + i];
            row.iter_mut().zip(&norms).for_each(|(k, &n)| *k = kernel.from_dot(*k, norm, n));
        }
    });
    symmetrize(&mut matrix, n);
    matrix
}

/// Kernel values of every row of `x` with every point: one row of values per row of `x`. They are in double precision
/// because the result is factored.
pub fn cross_matrix(x: MatrixView<'_>, points: MatrixView<'_>, kernel: Kernel) -> Vec<f64> {
    let (n, m, d) = (x.rows(), points.rows(), x.cols());
    let sparse = |v: &MatrixView<'_>| matches!(v, MatrixView::Csr { .. });
    let wide = d > 4096 && (sparse(&x) || sparse(&points));
    let dense = |v: MatrixView<'_>| if wide { v.select(&[]) } else { v.to_dense() };
    let (of_rows, of_points) = (dense(x), dense(points));
    let (Matrix::Dense { values: rows, .. }, Matrix::Dense { values: centers, .. }) = (&of_rows, &of_points)
    else {
        return pairs(x, points, kernel);
    };
    let norms: Vec<f64> = (0..m).map(|j| points.row(j).norm2()).collect();
    let mut out = vec![0.0; n * m];
    out.par_chunks_mut(TILE * m.max(1)).enumerate().for_each(|(tile, out)| {
        let (first, count) = (tile * TILE, out.len() / m);
        linalg::cross_products(centers, m, &rows[first * d..], count, d, out);
        for (i, row) in out.chunks_exact_mut(m).enumerate() {
            let norm = x.row(first + i).norm2();
            row.iter_mut().zip(&norms).for_each(|(k, &n)| *k = kernel.from_dot(*k, norm, n));
        }
    });
    out
}

fn pairs(x: MatrixView<'_>, points: MatrixView<'_>, kernel: Kernel) -> Vec<f64> {
    let mut out = vec![0.0; x.rows() * points.rows()];
    out.par_chunks_mut(points.rows().max(1)).enumerate().for_each(|(i, out)| {
        out.iter_mut().enumerate().for_each(|(j, k)| *k = kernel.eval(x.row(i), points.row(j)));
    });
    out
}

/// Copies the lower triangle to the upper, so that rounding cannot make the two differ.
fn symmetrize(matrix: &mut [f64], n: usize) {
    for i in 0..n {
        for j in 0..i {
            matrix[j * n + i] = matrix[i * n + j];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_equal_pairs_for_dense_and_wide_sparse_data() {
        let values: Vec<f64> = (0..300 * 7).map(|k| ((k * 37) % 101) as f64 / 50.0 - 1.0).collect();
        let narrow = Matrix::dense(values, 300, 7).unwrap();
        let wide = narrow.view().to_csr().with_cols(5000);
        for kernel in [Kernel::Linear, Kernel::Rbf { gamma: 0.4 }] {
            for x in [&narrow, &wide] {
                let k = gram_matrix(x.view(), kernel);
                for (i, j) in [(0, 0), (3, 299), (299, 3), (257, 12), (100, 200)] {
                    let plain = kernel.eval(x.view().row(i), x.view().row(j));
                    assert!((k[i * 300 + j] - plain).abs() < 1e-12);
                }
                let points = x.view().select(&[3, 12, 299]);
                let k = cross_matrix(x.view(), points.view(), kernel);
                for (i, j) in [(0, 0), (299, 1), (12, 2), (257, 0)] {
                    let plain = kernel.eval(x.view().row(i), points.view().row(j));
                    assert!((k[i * 3 + j] - plain).abs() < 1e-12);
                }
            }
        }
    }
}
