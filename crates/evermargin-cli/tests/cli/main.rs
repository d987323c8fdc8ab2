//! The command line from outside: the built program, its files, its output, its exit codes.

#![allow(clippy::expect_used, clippy::unwrap_used)]

mod ask;
mod book;
mod embed;
mod errors;
mod exchange;
mod help;
mod imbalance;
mod label;
mod one_class;
mod online;
mod run;
mod shell;
mod stopping;
mod summaries;
mod tables;
mod verbs;
mod views;
