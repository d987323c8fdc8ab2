//! Files that evermargin writes for itself: models, online states, engine states and summaries.

pub(crate) mod artifact;
pub mod container;
pub mod engine;
pub(crate) mod head;
pub mod model;
pub mod state;
pub mod summary;
pub(crate) mod tensor_parts;
pub(crate) mod tensors;
pub(crate) mod validate;
