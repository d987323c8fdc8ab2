//! The tables of the works evermargin builds on, as data, and the harness that runs them.
//!
//! [`tables`] holds what was published: values as printed, protocol, tolerance. [`data`] draws training and test
//! samples as a protocol says. [`methods`] runs a method by the name it has in a table ([`online`]: those that learn one
//! example at a time; [`few`]: those that use rows without a label). [`run`](mod@run) puts them
//! together and judges each cell; [`report`] and [`markdown`] show the verdicts. [`claims`] are statements that no
//! single cell holds; figures about streams of batches are in `sequential.rs` and in the folder
//! `stream`.

pub mod claims;
pub mod data;
pub mod failure;
pub mod few;
mod local;
pub mod markdown;
pub mod methods;
pub mod online;
pub mod report;
pub mod run;
mod sequential;
mod stream;
pub mod tables;

pub use failure::{Failure, Result};
