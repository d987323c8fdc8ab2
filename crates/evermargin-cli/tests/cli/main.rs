//! Tests of the command line program: its files, output and exit codes.

#![allow(clippy::expect_used, clippy::unwrap_used)]

mod ask;
mod book;
mod embed;
mod errors;
mod exchange;
mod growing_streams;
mod help;
mod hostile_streams;
mod imbalance;
mod input_spec;
mod label;
mod one_class;
mod online;
mod params;
mod run;
mod shell;
mod stopping;
mod summaries;
mod tables;
mod verbs;
mod views;
