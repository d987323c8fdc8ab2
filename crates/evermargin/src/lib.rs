//! Large-margin learning that never ends: the core, without I/O, clock or ambient randomness.

pub mod balance;
pub mod data;
pub mod engine;
pub mod error;
pub mod generate;
pub mod gram;
pub mod graph;
pub mod kernel;
pub mod learn;
pub mod linalg;
pub mod metrics;
pub mod model;
pub mod product;
pub mod query;
mod simd;
pub mod solve;
pub mod summary;

pub use data::{Label, Labels, Matrix, MatrixView};
pub use error::{Error, Result};
pub use kernel::Kernel;
pub use model::Model;
