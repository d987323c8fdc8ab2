//! One file per command: argument checks and glue around the library.

pub(crate) mod ask;
pub(crate) mod ask_batch;
pub(crate) mod convert;
pub(crate) mod curve;
pub(crate) mod demo;
pub(crate) mod embed;
pub(crate) mod fit;
pub(crate) mod generate;
pub(crate) mod inspect;
pub(crate) mod label;
pub(crate) mod learners;
pub(crate) mod merge;
pub(crate) mod predict;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod summarize;
pub(crate) mod suspects;
pub(crate) mod tune;
