//! Semi-supervised, online and active large-margin learning: the core, without I/O, clock or ambient randomness.

pub mod active;
pub mod cpu;
pub mod data;
pub mod datasets;
pub mod engine;
pub mod error;
pub mod estimators;
pub mod graph;
pub mod kernel;
pub mod math;
pub mod metrics;
pub mod model;
pub mod params;
pub mod pipeline;
pub mod resampling;
pub mod solver;
pub mod summary;
pub mod watch;

pub use data::{Label, Labels, Matrix, MatrixView};
pub use error::{Error, Remedy, Result};
pub use kernel::Kernel;
pub use model::Model;
