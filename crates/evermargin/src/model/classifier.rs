//! A model with everything needed to use it on raw data: class names, multi-class scheme, scaling, columns,
//! calibration. This is what a model file holds.

use super::{Calibration, Model, Scaling};
use serde::{Deserialize, Serialize};

/// How two-class decision functions make a multi-class answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheme {
    /// Two classes, one output: f > 0 means `classes[1]`.
    Binary,
    /// Output j: class j (positive) against all others. The largest output wins.
    OneVsRest,
    /// One output for each pair a < b, in the order (0,1), (0,2), …, (1,2), …: f > 0 votes for b, else for a.
    /// Most votes win; ties go to the larger summed decision, then to the first class.
    OneVsOne,
}

/// How a column of a table becomes features.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Column {
    /// One feature, the number itself.
    Number {
        /// Name in the header.
        name: String,
    },
    /// One 0/1 feature a value seen in training; values never seen are all zero.
    Category {
        /// Name in the header.
        name: String,
        /// Values, sorted.
        values: Vec<String>,
    },
}

/// A trained classifier.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Classifier {
    /// Name of the learner in the registry.
    pub learner: String,
    /// Its parameters as given and as chosen, for people to read.
    pub params: serde_json::Value,
    /// Class names, sorted; f > 0 of a binary model means `classes[1]`.
    pub classes: Vec<String>,
    /// How outputs make classes.
    pub scheme: Scheme,
    /// The decision functions.
    pub model: Model,
    /// Applied to features before the model.
    pub scaling: Scaling,
    /// How table columns become features; empty when the data came as a matrix.
    pub columns: Vec<Column>,
    /// One an output, or none.
    pub calibration: Vec<Calibration>,
}
