//! From a table with class names to a classifier: preprocessing, multiclass reduction, training, cross-validation, comparison with labels alone.

pub mod comparison;
pub mod cross_validation;
pub mod preprocess;
pub mod train;
pub(crate) mod words;
