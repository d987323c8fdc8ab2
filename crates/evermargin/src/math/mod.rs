//! Numerical building blocks: vector operations, dense linear algebra, SIMD kernels, products with a data matrix.

pub(crate) mod blas1;
pub mod growing_cholesky;
pub mod linalg;
pub mod products;
pub(crate) mod simd;
