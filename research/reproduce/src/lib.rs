//! The tables of the works evermargin builds on, as data, and the harness that runs them.
//!
//! [`tables`] holds what was published: values as printed, protocol, tolerance. [`data`] draws training and test
//! samples as a protocol says. [`methods`] runs a method by the name it has in a table ([`online`]: those that learn one
//! example at a time; [`few`]: those that use rows without a label). [`claims`] are statements and tables with a procedure of
//! their own; figures about streams of batches are in `sequential.rs` and in the folder `stream`. [`run`](mod@run) puts them
//! together, [`work`] on all processors, [`keep`] once; [`judge`](mod@judge) compares with print, [`explain`](mod@explain) says why not, [`show`] shows it.

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
