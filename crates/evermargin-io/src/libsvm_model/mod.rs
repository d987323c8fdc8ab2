//! Models in LIBSVM's text form (`svm_type c_svc`), both ways.
//!
//! LIBSVM has one decision for each pair i < j of the classes in its `label` line, positive for i; the support
//! vectors stand class by class, each with one coefficient for each other class. Our decision for a pair a < b is
//! positive for b. Two classes are written in reverse order, which makes the two the same, value for value, also at
//! 0. Many are written in our order with every sign turned, so that a tie of votes goes to the same class: the first.
//! So `svm-predict` gives our labels. A model of `svm-train` lists the classes as it met them, and we sort them: there,
//! and only there, a tie may fall otherwise.
//!
//! Numbers are written as the shortest decimals that read back to the same double.

mod parse;
mod render;

pub use parse::from_text;
pub use render::to_text;

use crate::decompress::{display_name, read_whole};
use crate::error::Result;
use crate::limits::Limits;
use crate::output::write_atomic;
use evermargin::model::Classifier;
use std::path::Path;

/// Writes a LIBSVM model; `-` is standard output.
pub fn save(path: impl AsRef<Path>, classifier: &Classifier) -> Result<()> {
    write_atomic(path, to_text(classifier)?.as_bytes())
}

/// Reads a LIBSVM model, compressed or not; `-` is standard input.
pub fn load(path: impl AsRef<Path>, limits: &Limits) -> Result<Classifier> {
    let path = path.as_ref();
    from_text(&display_name(path), &read_whole(path, limits)?, limits)
}

/// True for the first bytes of a LIBSVM model.
pub fn is_libsvm_model(bytes: &[u8]) -> bool {
    bytes.starts_with(b"svm_type ")
}
