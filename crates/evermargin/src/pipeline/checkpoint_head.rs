//! The part that checkpoints of all learners share: the learner, its classes, and how rows become samples.

use crate::model::{Classifier, InputSpec, LearnerInfo, Model, Scaling};
use crate::pipeline::online_checkpoint::among_met;
use serde::{Deserialize, Serialize};

/// The learner of a checkpoint, and how rows become its samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckpointHead {
    /// The learner and its classes.
    pub learner: LearnerInfo,
    /// Applied to features first.
    pub scaling: Scaling,
    /// How a file becomes features and labels.
    pub input: InputSpec,
    /// Labeled rows of each class so far.
    pub counts: Vec<usize>,
}

impl CheckpointHead {
    /// The classifier around a model of this learner. It answers no class of which there were no rows.
    pub fn classifier(&self, model: Model) -> Classifier {
        let model = among_met(model, self.learner.scheme, &self.counts);
        Classifier::new(self.learner.clone(), model, self.scaling.clone(), self.input.clone())
    }
}
