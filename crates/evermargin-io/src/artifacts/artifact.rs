//! What a file keeps of a learner: a model to use, or a state to go on from.

use crate::artifacts::container::{self, Kind, LoadOptions};
use crate::artifacts::{model, state};
use crate::decompress::{display_name, read_whole};
use crate::error::Result;
use crate::limits::Limits;
use evermargin::model::Classifier;
use evermargin::pipeline::partial_fit::OnlineCheckpoint;
use std::path::Path;

/// A model in any form we know, or a state.
#[derive(Debug, Clone, PartialEq)]
pub enum Artifact {
    /// A classifier.
    Model(Box<Classifier>),
    /// An online learner that will go on.
    State(Box<OnlineCheckpoint>),
}

/// Reads whichever of the two a file is, told by its bytes; `-` is standard input.
pub fn read_kept(path: impl AsRef<Path>, limits: &Limits) -> Result<Artifact> {
    let path = path.as_ref();
    let (name, bytes) = (display_name(path), read_whole(path, limits)?);
    if container::kind_of(&bytes) == Some(Kind::State) {
        // Only shown, never continued.
        let options = LoadOptions { allow_other_cpu: true, ..LoadOptions::within(limits) };
        return Ok(Artifact::State(Box::new(state::from_bytes_with(&name, &bytes, &options)?)));
    }
    Ok(Artifact::Model(Box::new(model::import_bytes(&name, &bytes, limits)?)))
}
