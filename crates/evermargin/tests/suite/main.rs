//! All integration tests of the crate in one binary, so that they are linked once and share one copy of the
//! dependencies.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_types,
    clippy::format_push_string,
    clippy::default_trait_access,
    clippy::unreadable_literal
)]

mod active;
mod auto;
mod batch_query;
mod bnb;
mod common;
mod coreg;
mod engine;
mod engine_classifiers;
mod engine_columns;
mod engine_comparisons;
mod engine_events;
mod engine_novelty;
mod engine_queries;
mod engine_rejections;
mod engine_states;
mod incremental;
mod label_propagation;
mod lasvm;
mod lasvm_gap;
mod lasvm_traces;
mod layers;
mod linear;
mod linear_s3vm;
mod local;
mod manifold;
mod med;
mod med_stream;
mod one_class;
mod params;
mod partial_fit;
mod perceptron;
mod qp_s3vm;
mod resampling;
mod rls;
mod s3vm_kernel;
mod sparse_lap;
mod spectral;
mod steps;
mod submod;
mod summary;
mod svc;
mod svc_extremes;
mod threshold;
mod train;
