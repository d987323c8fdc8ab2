//! Rows that cannot be used, with their places in files. They are returned in addition to the usable rows of a batch.

use crate::error::{Error, Fault, Place, excerpt};
use crate::remedy::Message;
use serde::{Deserialize, Serialize};

/// Row that was not included in a batch, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RejectedRow {
    /// Number of the row in the stream, counted from 1; rejected rows are counted, too.
    pub row: u64,
    /// The file as the user named it.
    pub file: String,
    /// Line of a text or row of an array, counted from 1; 0 if the file could not be read at all.
    pub line: u64,
    /// The column, if it is known.
    pub column: Option<String>,
    /// The value in the column, shortened.
    pub value: Option<String>,
    /// The reason in one sentence.
    pub reason: String,
}

/// The file and line of each row of a batch.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowPlaces {
    /// Files in order, each with the number of its first row in the batch.
    files: Vec<(usize, String)>,
    lines: Vec<u64>,
}

impl RowPlaces {
    /// File and line of a row of the batch; line 0 if it is not known.
    pub fn of(&self, row: usize) -> (&str, u64) {
        let file = self.files.iter().rev().find(|(first, _)| *first <= row).map_or("", |(_, file)| file);
        (file, self.lines.get(row).copied().unwrap_or(0))
    }

    /// Creates the record of a rejected row: its file and line, its number in the stream, and the reason.
    pub fn rejected(
        &self,
        row: usize,
        number: u64,
        column: Option<String>,
        value: Option<String>,
        reason: impl Into<String>,
    ) -> RejectedRow {
        let (file, line) = self.of(row);
        RejectedRow { row: number, file: file.to_string(), line, column, value, reason: reason.into() }
    }

    pub(crate) fn extend(&mut self, file: &str, lines: &[u64]) {
        if !lines.is_empty() && self.files.last().is_none_or(|(_, last)| last != file) {
            self.files.push((self.lines.len(), file.to_string()));
        }
        self.lines.extend_from_slice(lines);
    }
}

/// Rejected row without its file; the line is counted from 1.
#[derive(Debug, Clone)]
pub(crate) struct BadRow {
    pub(crate) line: u64,
    pub(crate) column: Option<String>,
    pub(crate) value: Option<String>,
    pub(crate) reason: Message,
}

impl BadRow {
    pub(crate) fn new(line: u64, reason: impl Into<Message>) -> Self {
        Self { line, column: None, value: None, reason: reason.into() }
    }

    /// Row with an unusable value in a column.
    pub(crate) fn cell(line: u64, column: &str, value: &str, reason: impl Into<Message>) -> Self {
        let (column, value) = (Some(column.to_string()), Some(excerpt(value.as_bytes())));
        Self { line, column, value, reason: reason.into() }
    }

    /// Row that an error refers to; returns the error if it does not refer to a line.
    pub(crate) fn of_error(error: Error) -> Result<Self, Error> {
        match error {
            Error::Content { place: Place { line, .. }, message, .. } if line > 0 => {
                Ok(Self::new(line, message))
            }
            other => Err(other),
        }
    }

    /// Entry for a file that cannot be read, or not beyond some line, with the reason of the error.
    pub(crate) fn of_file(error: Error, file: &str) -> Self {
        Self::of_error(error).unwrap_or_else(|error| {
            let text = error.to_string();
            let reason = text.strip_prefix(file).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(&text);
            Self::new(0, reason)
        })
    }

    pub(crate) fn of_fault(fault: Fault) -> Self {
        let (column, value) = fault.cell.unzip();
        Self { line: fault.place.line, column, value, reason: fault.what }
    }

    /// Error for reading without rejection of bad rows.
    pub(crate) fn into_error(self, file: &str) -> Error {
        let what = match self.column {
            Some(column) => self.reason.about(&format!("column '{column}'")),
            None => self.reason,
        };
        Error::line(file, self.line, what)
    }

    /// Adds the file and the number of its lines before the text that was parsed. The number of the row is not known yet.
    pub(crate) fn within(self, file: &str, lines_before: u64) -> RejectedRow {
        let Self { line, column, value, reason } = self;
        let reason = reason.to_string();
        RejectedRow { row: 0, file: file.to_string(), line: line + lines_before, column, value, reason }
    }
}

#[cfg(test)]
mod tests {
    use super::RowPlaces;

    #[test]
    fn finds_file_and_line_of_rows() {
        let mut places = RowPlaces::default();
        places.extend("a", &[2, 3]);
        places.extend("a", &[9]);
        places.extend("empty", &[]);
        places.extend("b", &[1]);
        let found: Vec<(&str, u64)> = (0..5).map(|row| places.of(row)).collect();
        assert_eq!(found, [("a", 2), ("a", 3), ("a", 9), ("b", 1), ("b", 0)]);
    }
}
