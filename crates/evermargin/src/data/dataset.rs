//! Rows with class labels.

use super::{Labels, Matrix};
use crate::error::{Error, Result};

/// Rows and their class labels, some of which may be unknown.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// One sample per row.
    pub x: Matrix,
    /// The class of each row, if known.
    pub labels: Labels,
}

impl Dataset {
    /// A data set of these rows; the numbers of rows and labels must agree.
    pub fn new(x: Matrix, labels: Labels) -> Result<Self> {
        if x.rows() == labels.of.len() {
            return Ok(Self { x, labels });
        }
        Err(Error::Data(format!("{} rows, but {} labels", x.rows(), labels.of.len())))
    }

    /// A data set of dense rows with class names; an empty name or `?` is unlabeled.
    ///
    /// ```
    /// use evermargin::Dataset;
    ///
    /// let data = Dataset::from_rows(&[[1.0, 2.0], [2.0, 1.0]], &["cat", "?"])?;
    /// assert_eq!(data.labels.labeled(), 1);
    /// # Ok::<(), evermargin::Error>(())
    /// ```
    pub fn from_rows<R: AsRef<[f64]>, S: AsRef<str>>(rows: &[R], names: &[S]) -> Result<Self> {
        let labels = Labels::from_tokens(names.iter().map(|name| Some(name.as_ref())));
        let cols = rows.first().map_or(0, |row| row.as_ref().len());
        if let Some(i) = rows.iter().position(|row| row.as_ref().len() != cols) {
            let found = rows[i].as_ref().len();
            return Err(Error::Data(format!("row {} has {found} values, the first has {cols}", i + 1)));
        }
        let values = rows.iter().flat_map(|row| row.as_ref().iter().copied()).collect();
        Self::new(Matrix::dense(values, rows.len(), cols)?, labels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_numbers_of_rows_and_labels_that_differ() {
        let error = Dataset::from_rows(&[[1.0], [2.0]], &["a"]).unwrap_err();
        assert_eq!(error.to_string(), "2 rows, but 1 labels");
        let error = Dataset::from_rows(&[vec![1.0], vec![2.0, 3.0]], &["a", "b"]).unwrap_err();
        assert_eq!(error.to_string(), "row 2 has 2 values, the first has 1");
    }
}
