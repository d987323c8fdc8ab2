//! The part shared by checkpoints of all learners: the learner, its classes, and the mapping of rows to samples.

use crate::model::{Classifier, InputSpec, LearnerInfo, Model, Scaling};
use crate::pipeline::online_checkpoint::restricted_to_seen;
use serde::{Deserialize, Serialize};

/// The learner of a checkpoint, and the mapping of rows to its samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckpointHead {
    /// The learner and its classes.
    pub learner: LearnerInfo,
    /// Scaling applied to features.
    pub scaling: Scaling,
    /// Mapping from a file to features and labels.
    pub input: InputSpec,
    /// Number of labeled rows of each class so far.
    pub counts: Vec<usize>,
}

impl CheckpointHead {
    /// The classifier with a model of this learner. It never predicts a class without rows so far.
    pub fn classifier(&self, model: Model) -> Classifier {
        let model = restricted_to_seen(model, self.learner.scheme, &self.counts);
        Classifier::new(self.learner.clone(), model, self.scaling.clone(), self.input.clone())
    }
}
