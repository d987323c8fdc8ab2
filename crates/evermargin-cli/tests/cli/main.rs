//! The command line from outside: the built program, its files, its output, its exit codes.

#![allow(clippy::expect_used, clippy::unwrap_used)]

mod errors;
mod exchange;
mod help;
mod imbalance;
mod shell;
mod stopping;
mod tables;
mod verbs;
