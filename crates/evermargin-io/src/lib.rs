//! Formats for evermargin: data files in, model files in and out.
//!
//! [`read`] gives a [`Dataset`] from LIBSVM text, tables (CSV, TSV, blanks, JSON lines), NumPy and IDX arrays, compressed or
//! not, and [`Stream`] in batches, also of what does not end; [`artifacts::model`] keeps a classifier, [`artifacts::state`] an online
//! learner that will go on; [`libsvm_model`] exchanges it with LIBSVM; [`onnx`] gives it to other programs; [`json`]
//! shows it.
//! Every error names the file, the line where there is one, what is wrong and what to do. Nothing here trusts a
//! count that a file declares: memory is bounded by the bytes really there and by [`Limits`].

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

/// Pages of the book with Rust in them, so that it is compiled and run.
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
