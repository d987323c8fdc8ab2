//! From a table with class names to a classifier: preprocessing, multiclass reduction, training, cross-validation,
//! comparison with the supervised baseline, and online and sequential learners of named classes.

pub mod checkpoint_head;
pub mod comparison;
pub mod cross_validation;
pub(crate) mod online_checkpoint;
pub mod options;
pub mod partial_fit;
pub mod preprocess;
pub mod sequential;
pub mod train;
mod typed;
