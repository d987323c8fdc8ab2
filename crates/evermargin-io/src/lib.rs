//! File formats of evermargin: reading and writing of data sets and models.
//!
//! [`read()`] reads a [`Dataset`] from LIBSVM text, tables (CSV, TSV, separated by blanks, JSON lines), NumPy and IDX arrays,
//! compressed or not. [`Stream`] reads the same formats in batches, also from sources without an end. [`artifacts::model`]
//! stores classifiers, [`artifacts::state`] online learners that can be trained further. [`libsvm_model`] exchanges models
//! with LIBSVM, [`onnx`] exports them to other programs, and [`json`] shows their contents.
//!
//! Every error names the file, the line if there is one, the reason and the remedy. Counts that a file declares are not
//! trusted: memory is bounded by the actual size of the file and by [`Limits`].

pub mod artifacts;
mod decompress;
mod error;
pub mod formats;
pub mod json;
pub mod libsvm_model;
mod limits;
mod memory;
pub mod onnx;
mod output;
mod remedy;
mod stream;
mod write_npy;

pub use artifacts::artifact::{Artifact, read_kept};
pub use artifacts::container::LoadOptions;
pub use artifacts::validate::check;
pub use decompress::{decompress, open, read_whole};
pub use error::{Error, Place, Result};
pub use formats::detect::Format;
pub use formats::edges::{edges_from_bytes, read_edges};
pub use formats::read::{Dataset, LabelColumn, ReadOptions, read, read_bytes};
pub use formats::write::{Table, Written, write_csv, write_data, write_libsvm};
pub use limits::Limits;
pub use output::write_atomic;
pub use remedy::{Limit, Message, Remedy};
pub use stream::{
    Chunk, ColumnCap, FileEnd, Position, RejectedRow, RowPlaces, Schema, Source, Stream, StreamOptions,
};

/// Includes the pages of the book with Rust examples, so that these are compiled and run as tests.
#[cfg(doctest)]
mod book {
    #[doc = include_str!("../../../README.md")]
    struct Readme;
    #[doc = include_str!("../../../docs/guide-rust.md")]
    struct Guide;
    #[doc = include_str!("../../../docs/local.md")]
    struct Local;
    #[doc = include_str!("../../../docs/streams.md")]
    struct Streams;
}
