//! Reading and writing of models in the text format of LIBSVM (`svm_type c_svc`).
//!
//! LIBSVM has one decision function per pair i < j of the classes in its `label` line, positive for i. Its support vectors
//! are grouped by class, and each has one coefficient per other class. In evermargin the decision of a pair a < b is
//! positive for b. Two classes are therefore written in reverse order, which makes the decisions equal in both programs,
//! value for value, also at 0. More classes are written in the order of evermargin with all signs inverted, so that a tie
//! of votes goes to the same class, the first. Thus `svm-predict` returns the labels of evermargin. A model of `svm-train`
//! lists the classes in the order of their first appearance, and reading it sorts them; only then can a tie be resolved
//! differently.
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

/// Whether a file that begins with these bytes is a LIBSVM model.
pub fn is_libsvm_model(bytes: &[u8]) -> bool {
    bytes.starts_with(b"svm_type ")
}
