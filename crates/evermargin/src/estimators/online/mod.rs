//! Estimators that learn one sample at a time in bounded memory, and their checkpoints.

pub mod active;
pub(crate) mod checkpoint;
pub mod incremental;
pub mod lasvm;
pub mod partial_fit;
