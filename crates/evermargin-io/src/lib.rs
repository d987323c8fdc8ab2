//! Formats for evermargin: data files in, model files in and out.
//!
//! [`read`] gives a [`Dataset`] from LIBSVM text, tables (CSV, TSV, blanks, JSON lines), NumPy and IDX arrays, compressed or
//! not, and [`Stream`] in batches, also of what does not end; [`model_file`] keeps a classifier, [`state_file`] an online
//! learner that will go on; [`libsvm_model`] exchanges it with LIBSVM; [`onnx`] gives it to other programs; [`json`]
//! shows it.
//! Every error names the file, the line where there is one, what is wrong and what to do. Nothing here trusts a
//! count that a file declares: memory is bounded by the bytes really there and by [`Limits`].

mod edges;
mod error;
mod format;
mod idx;
mod jsonl;
mod kept;
mod labels;
mod libsvm;
mod limits;
mod npy;
mod npz;
mod number;
mod open;
mod output;
mod pairwise;
mod parts;
mod read;
mod soundness;
mod stream;
mod table;
mod table_code;
mod table_rows;
mod table_survey;
mod tensors;
mod text;
mod write;

pub mod engine_file;
pub mod json;
pub mod libsvm_model;
pub mod model_file;
pub mod onnx;
pub mod state_file;
pub mod summary_file;

pub use edges::{edges_from_bytes, read_edges};
pub use error::{Error, Place, Result};
pub use format::Format;
pub use kept::{Kept, read_kept};
pub use limits::Limits;
pub use open::{decompress, open, read_whole};
pub use output::write_atomic;
pub use read::{Dataset, LabelAt, LabelColumn, ReadOptions, read, read_bytes};
pub use soundness::check;
pub use stream::{Chunk, Position, Schema, Source, Stream, StreamOptions};
pub use write::{write_csv, write_libsvm};

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
