//! Mapping from a file to features and labels: the facts about the training data that are needed to read new data alike.
//!
//! Every saved classifier contains an [`InputSpec`]. Readers produce it, front ends complete it, and nothing else
//! describes the input of a model.

use super::Column;
use serde::{Deserialize, Serialize};

/// Mapping from a file to features and labels.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct InputSpec {
    /// Mapping of table columns to features; empty when the data came as a matrix.
    pub columns: Vec<Column>,
    /// Number of last columns that a table may lack, because they appeared later in the training stream. Missing ones
    /// count as 0. Each later value of a category is a column of its own, with the name of the category.
    pub optional_columns: usize,
    /// The position of the label in a table.
    pub label: Option<LabelPosition>,
    /// The number of the first column in LIBSVM text (0 or 1).
    pub index_base: Option<u8>,
    /// The positive class of a problem of one class against all others.
    pub positive: Option<String>,
    /// Whether rows of a kernel matrix begin with their row number, as in LIBSVM's files.
    pub serial_column: bool,
    /// The files whose columns were joined, if there were several.
    pub files: Vec<ViewFile>,
}

impl InputSpec {
    /// Creates the description of one file from the columns, the label position and the index base that its reader
    /// found.
    pub fn new(columns: Vec<Column>, label: Option<LabelPosition>, index_base: Option<u8>) -> Self {
        Self { columns, label, index_base, ..Self::default() }
    }

    /// Sets the number of last columns that a table may lack.
    #[must_use]
    pub fn with_optional_columns(self, optional_columns: usize) -> Self {
        Self { optional_columns, ..self }
    }

    /// Sets the positive class of a problem of one class against all others.
    #[must_use]
    pub fn with_positive(self, positive: Option<String>) -> Self {
        Self { positive, ..self }
    }

    /// Sets whether rows of a kernel matrix begin with their row number.
    #[must_use]
    pub fn with_serial_column(self, serial_column: bool) -> Self {
        Self { serial_column, ..self }
    }

    /// Sets the files whose columns were joined.
    #[must_use]
    pub fn with_files(self, files: Vec<ViewFile>) -> Self {
        Self { files, ..self }
    }
}

/// The position of the label in a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabelPosition {
    /// Name of the column, if the table has a header.
    pub name: Option<String>,
    /// Position of the column, counted from 1.
    pub index: usize,
}

/// One of several files whose columns are joined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ViewFile {
    /// Number of features of the file.
    pub features: usize,
    /// Number of table columns of the file.
    pub columns: usize,
    /// The number of the first column in LIBSVM text (0 or 1).
    pub index_base: Option<u8>,
    /// The position of the label in a table; `None` if the file has no label column.
    pub label: Option<LabelPosition>,
}
