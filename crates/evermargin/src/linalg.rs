//! Dense linear algebra; the only file that names the linear-algebra crate.
//! Every routine is sequential: callers split work into fixed pieces, so bits never depend on thread counts.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// `out[j·m + i] = a_i · b_j` for m rows a and n rows b of d values, all row-major: out is n × m, row-major.
pub fn cross_products(a: &[f32], m: usize, b: &[f32], n: usize, d: usize, out: &mut [f32]) {
    matmul(
        MatMut::from_column_major_slice_mut(&mut out[..m * n], m, n),
        Accum::Replace,
        MatRef::from_row_major_slice(&a[..m * d], m, d),
        MatRef::from_column_major_slice(&b[..n * d], d, n),
        1.0,
        Par::Seq,
    );
}

/// [`cross_products`] in double precision.
pub fn cross_products_f64(a: &[f64], m: usize, b: &[f64], n: usize, d: usize, out: &mut [f64]) {
    matmul(
        MatMut::from_column_major_slice_mut(&mut out[..m * n], m, n),
        Accum::Replace,
        MatRef::from_row_major_slice(&a[..m * d], m, d),
        MatRef::from_column_major_slice(&b[..n * d], d, n),
        1.0,
        Par::Seq,
    );
}
