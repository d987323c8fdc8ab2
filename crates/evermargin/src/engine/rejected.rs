//! Rows and labels of a batch that cannot be used. They are reported, counted and skipped; the rest of the batch applies.

use serde::{Deserialize, Serialize};

/// The reason why a row, or its label alone, is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RejectReason {
    /// A value is NaN.
    NotANumber,
    /// A value is infinite.
    Infinite,
    /// A value is larger than [`MAX_ABS`](crate::data::MAX_ABS), or the row is longer than
    /// [`MAX_SCALED_LENGTH`](super::MAX_SCALED_LENGTH) after scaling.
    TooLarge,
    /// The name of the class is empty. The row is used without its label.
    EmptyClassName,
    /// The name of the class is too long. The row is used without its label.
    ClassNameTooLong,
    /// The class is new and the maximum number of classes is reached. The row is used without its label.
    TooManyClasses,
}

impl RejectReason {
    /// Whether the label alone is rejected.
    pub fn concerns_label(self) -> bool {
        matches!(self, Self::EmptyClassName | Self::ClassNameTooLong | Self::TooManyClasses)
    }

    /// The reason in words.
    pub fn text(self) -> &'static str {
        match self {
            Self::NotANumber => "value is not a number",
            Self::Infinite => "value is infinite",
            Self::TooLarge => "value is too large",
            Self::EmptyClassName => "class name is empty",
            Self::ClassNameTooLong => "class name is too long",
            Self::TooManyClasses => "too many classes",
        }
    }
}

/// A row of a batch that was rejected, or whose label was.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RejectedRow {
    /// Number of the row in its batch.
    pub row: usize,
    /// The reason.
    pub reason: RejectReason,
    /// Number of the column with the unusable value; none if the label is at fault.
    pub column: Option<usize>,
    /// The value as it was given; none if it is NaN or the label is at fault.
    pub value: Option<f64>,
}
