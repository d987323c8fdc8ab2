//! All integration tests of the crate in one binary.

#![allow(clippy::unwrap_used, missing_docs)]

mod common;
mod evaluation;
mod hostile_snapshots;
mod interruption;
mod replay;
mod storage_faults;
mod streams;
