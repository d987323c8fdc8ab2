//! How a file becomes features and labels: the facts about the training data that are needed to read new data alike.
//!
//! Every saved classifier contains one. Readers produce it, front ends complete it, and nothing else describes the input
//! of a model.

use super::Column;
use serde::{Deserialize, Serialize};

/// How a file becomes features and labels.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct InputSpec {
    /// How table columns become features; empty when the data came as a matrix.
    pub columns: Vec<Column>,
    /// How many of the last columns a table may lack, because they appeared later in the training stream. They count as 0
    /// then. Values of a category that appeared later are a column of their own, with the name of the category.
    pub optional_columns: usize,
    /// The position of the label in a table.
    pub label: Option<LabelPosition>,
    /// The number of the first column in LIBSVM text (0 or 1).
    pub index_base: Option<u8>,
    /// The class that was learned against all others together.
    pub positive: Option<String>,
    /// Whether rows of a kernel matrix begin with their number, as in LIBSVM's files.
    pub serial_column: bool,
    /// The files whose columns stand side by side, if there were several.
    pub files: Vec<ViewFile>,
}

impl InputSpec {
    /// The description of one file, from what its reader found. What is known beyond that is added by the other functions.
    pub fn new(columns: Vec<Column>, label: Option<LabelPosition>, index_base: Option<u8>) -> Self {
        Self { columns, label, index_base, ..Self::default() }
    }

    /// The same with so many last columns that a table may lack.
    #[must_use]
    pub fn with_optional_columns(self, optional_columns: usize) -> Self {
        Self { optional_columns, ..self }
    }

    /// The same with the class that is learned against all others together.
    #[must_use]
    pub fn with_positive(self, positive: Option<String>) -> Self {
        Self { positive, ..self }
    }

    /// The same for a kernel matrix whose rows begin with their number, or do not.
    #[must_use]
    pub fn with_serial_column(self, serial_column: bool) -> Self {
        Self { serial_column, ..self }
    }

    /// The same for several files whose columns stand side by side.
    #[must_use]
    pub fn with_files(self, files: Vec<ViewFile>) -> Self {
        Self { files, ..self }
    }
}

/// The position of the label in a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabelPosition {
    /// Its name, when there was a header.
    pub name: Option<String>,
    /// Its position, counted from 1.
    pub index: usize,
}

/// One of several files whose columns stand side by side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ViewFile {
    /// Number of features it became.
    pub features: usize,
    /// Number of its columns among those of the input.
    pub columns: usize,
    /// The number of the first column in LIBSVM text (0 or 1).
    pub index_base: Option<u8>,
    /// The position of its label.
    pub label: Option<LabelPosition>,
}
