//! What a file keeps of a learner: a model to use, or a state to go on from.

use crate::error::Result;
use crate::limits::Limits;
use crate::open::{display_name, read_whole};
use crate::{model_file, state_file};
use evermargin::learn::resume::OnlineCheckpoint;
use evermargin::model::Classifier;
use std::path::Path;

/// A model in any form we know, or a state.
#[derive(Debug, Clone, PartialEq)]
pub enum Kept {
    /// A classifier.
    Model(Box<Classifier>),
    /// An online learner that will go on.
    State(Box<OnlineCheckpoint>),
}

/// Reads whichever of the two a file is, told by its bytes; `-` is standard input.
pub fn read_kept(path: impl AsRef<Path>, limits: &Limits) -> Result<Kept> {
    let path = path.as_ref();
    let (name, bytes) = (display_name(path), read_whole(path, limits)?);
    if state_file::is_state(&bytes) {
        return Ok(Kept::State(Box::new(state_file::from_bytes_within(&name, &bytes, limits)?)));
    }
    Ok(Kept::Model(Box::new(model_file::import_bytes(&name, &bytes, limits)?)))
}
