//! The tables of the works evermargin builds on, as data, and the harness that runs them.
//!
//! [`tables`] holds what was published: values as printed, protocol, tolerance. [`data`] draws training and test
//! samples as a protocol says. [`methods`] runs a method by the name it has in a table. [`run`](mod@run) puts them
//! together and judges each cell; [`report`] shows the verdicts.

pub mod data;
pub mod failure;
pub mod methods;
pub mod report;
pub mod run;
pub mod tables;

pub use failure::{Failure, Result};
