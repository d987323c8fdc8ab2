//! Data formats: one reader per format, and detection of the format of a file.

pub(crate) mod csv;
pub(crate) mod detect;
pub(crate) mod edges;
pub(crate) mod idx;
pub(crate) mod jsonl;
pub(crate) mod labels;
pub(crate) mod libsvm;
pub(crate) mod npy;
pub(crate) mod npz;
pub(crate) mod number;
pub(crate) mod pairwise;
pub(crate) mod read;
pub(crate) mod text;
pub(crate) mod write;
