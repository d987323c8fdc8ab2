//! Files of learners: a model for prediction, or a state from which training continues.

use crate::artifacts::container::{self, Kind, LoadOptions};
use crate::artifacts::{model, state};
use crate::decompress::{display_name, read_whole};
use crate::error::Result;
use crate::limits::Limits;
use evermargin::model::Classifier;
use evermargin::pipeline::partial_fit::OnlineCheckpoint;
use std::path::Path;

/// Classifier from a model file of any supported format, or state of an online learner.
#[derive(Debug, Clone, PartialEq)]
pub enum Artifact {
    /// A classifier.
    Model(Box<Classifier>),
    /// An online learner that can be trained further.
    State(Box<OnlineCheckpoint>),
}

/// Reads a model or a state, which is recognized by its bytes; `-` is standard input.
pub fn read_kept(path: impl AsRef<Path>, limits: &Limits) -> Result<Artifact> {
    let path = path.as_ref();
    let (name, bytes) = (display_name(path), read_whole(path, limits)?);
    if container::kind_of(&bytes) == Some(Kind::State) {
        // Callers only show the state and do not continue training from it, so the CPU level does not matter.
        let options = LoadOptions { allow_other_cpu: true, ..LoadOptions::within(limits) };
        return Ok(Artifact::State(Box::new(state::from_bytes_with(&name, &bytes, &options)?)));
    }
    Ok(Artifact::Model(Box::new(model::import_bytes(&name, &bytes, limits)?)))
}
