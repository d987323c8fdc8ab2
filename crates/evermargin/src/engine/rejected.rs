//! Unusable rows and labels of a batch. They are reported, counted and skipped; the rest of the batch is used.

use serde::{Deserialize, Serialize};

/// Reason why a row, or only its label, is rejected.
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
    /// The class is new, and there are already as many classes as allowed. The row is used without its label.
    TooManyClasses,
}

impl RejectReason {
    /// Whether only the label is rejected.
    pub fn concerns_label(self) -> bool {
        matches!(self, Self::EmptyClassName | Self::ClassNameTooLong | Self::TooManyClasses)
    }

    /// Description for display.
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

/// Row of a batch that was rejected, or whose label was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RejectedRow {
    /// Number of the row in its batch.
    pub row: usize,
    /// Reason for the rejection.
    pub reason: RejectReason,
    /// Number of the column with the unusable value; `None` if the label was rejected.
    pub column: Option<usize>,
    /// The unusable value before scaling; `None` for NaN or if the label was rejected.
    pub value: Option<f64>,
}
