//! Scaling of features, fitted on training data and stored with the model.

use serde::{Deserialize, Serialize};

/// How features are scaled before the model sees them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Scaling {
    /// As they are.
    #[default]
    None,
    /// Column c becomes (x − shift[c])·factor[c]; `shift` is empty when nothing is shifted (sparse data).
    Affine {
        /// `minmax` or `standard`.
        name: String,
        /// Subtracted first.
        shift: Vec<f64>,
        /// Multiplied then.
        factor: Vec<f64>,
    },
    /// Each row divided by its length.
    Unit,
    /// Each column multiplied by its inverse document frequency, then each row divided by its length.
    Tfidf {
        /// One factor a column.
        idf: Vec<f64>,
    },
}
