//! Numerical building blocks: vector operations, dense linear algebra, SIMD kernels, products with a data matrix.

pub mod linalg;
pub mod products;
pub(crate) mod simd;
