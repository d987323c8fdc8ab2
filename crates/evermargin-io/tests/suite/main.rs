//! All integration tests of the crate in one binary, so that they are linked once and share one copy of the
//! dependencies.

#![allow(
    clippy::unwrap_used,
    clippy::format_push_string,
    clippy::default_trait_access,
    clippy::unreadable_literal
)]

mod containers;
mod edges;
mod golden_libsvm;
mod growing_streams;
mod hostile;
mod libsvm_models;
mod memory;
mod mutations;
mod onnx;
mod reading;
mod real_data;
mod rejected_rows;
mod round_trips;
mod samples;
mod sealed;
mod states;
mod streams;
mod writing;
