//! Large-margin learning that never ends: the core, without I/O, clock or ambient randomness.

pub mod data;
pub mod error;
pub mod gram;
pub mod generate;
pub mod kernel;
pub mod learn;
pub mod linalg;
pub mod model;
mod simd;
pub mod product;
pub mod solve;

pub use data::{Label, Labels, Matrix, MatrixView};
pub use error::{Error, Result};
pub use kernel::Kernel;
pub use model::Model;
