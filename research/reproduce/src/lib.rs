//! Published tables of the works that evermargin implements, as data, and the harness that reproduces them.
//!
//! [`tables`] holds the published values, protocols and tolerances. [`data`] draws training and test samples according to a
//! protocol. [`methods`] runs a method by its name in a table ([`online`]: online learners; [`few`]: semi-supervised learners).
//! [`claims`] are statements and tables with their own procedures; figures about streams of batches are in `sequential.rs` and
//! in the folder `stream`. [`run`](mod@run) runs a table, [`work`] distributes the work over all processors, and [`keep`] caches
//! results. [`judge`](mod@judge) compares results with published values, [`explain`](mod@explain) adds known reasons of
//! differences, and [`show`] writes reports.

pub mod claims;
pub mod clock;
pub mod data;
mod ertekin;
pub mod explain;
pub mod failure;
pub mod few;
pub mod findings;
pub mod judge;
pub mod keep;
mod local;
pub mod methods;
pub mod online;
pub mod run;
mod sequential;
pub mod show;
mod sindhwani;
mod stream;
pub mod tables;
mod values;
pub mod work;

pub use failure::{Failure, Result};
