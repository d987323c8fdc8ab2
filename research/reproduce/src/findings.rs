//! Results of running a table or a statement, before the comparison with published values.

use crate::judge::Verdict;
use serde::{Deserialize, Serialize};

/// Measured values, figures and remarks.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Findings {
    /// One entry per row, method and measure.
    pub values: Vec<Values>,
    /// Figures to draw.
    pub figures: Vec<Figure>,
    /// Remarks in Markdown.
    pub notes: String,
}

/// The values of one cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Values {
    /// Name of the row in its table.
    pub row: String,
    /// Name of the method; empty: all methods of the row.
    pub method: String,
    /// Name of the measure; empty: all measures of the method.
    pub metric: String,
    /// One value per repetition, rates as fractions; or the reason why there are none.
    pub runs: Result<Vec<f64>, (Verdict, String)>,
}

/// A figure with several curves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Title.
    pub title: String,
    /// Label of the horizontal axis.
    pub x: String,
    /// Label of the vertical axis.
    pub y: String,
    /// Whether the horizontal axis is logarithmic.
    pub log_x: bool,
    /// Whether the vertical axis is logarithmic.
    pub log_y: bool,
    /// The curves.
    pub series: Vec<Series>,
}

/// One curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Name.
    pub name: String,
    /// Points from left to right.
    pub points: Vec<[f64; 2]>,
}

impl Findings {
    /// Findings that have only remarks.
    pub fn notes(notes: String) -> Self {
        Self { notes, ..Self::default() }
    }

    /// Adds the values of a cell.
    pub fn add(&mut self, row: &str, method: &str, metric: &str, runs: Vec<f64>) {
        self.put(row, method, metric, Ok(runs));
    }

    /// Marks a row whose data are not available.
    pub fn missing(&mut self, row: &str, why: &str) {
        self.put(row, "", "", Err((Verdict::Missing, why.to_string())));
    }

    /// Marks a method that is left out of a row, or of all rows if `row` is empty.
    pub fn left_out(&mut self, row: &str, method: &str, why: &str) {
        self.put(row, method, "", Err((Verdict::NotRun, why.to_string())));
    }

    fn put(&mut self, row: &str, method: &str, metric: &str, runs: Result<Vec<f64>, (Verdict, String)>) {
        let [row, method, metric] = [row, method, metric].map(ToString::to_string);
        self.values.push(Values { row, method, metric, runs });
    }

    /// Values of a cell if there are any, otherwise the reason why there are none.
    pub fn of(&self, row: &str, method: &str, metric: &str) -> Option<&Values> {
        let fits = |own: &str, wanted: &str| own.is_empty() || own == wanted;
        let all = || {
            self.values
                .iter()
                .filter(|v| fits(&v.row, row) && fits(&v.method, method) && fits(&v.metric, metric))
        };
        all().find(|v| v.runs.is_ok()).or_else(|| all().next())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lookup_prefers_values_to_reasons() {
        let mut found = Findings::default();
        found.left_out("", "magic", "not built");
        found.add("a", "magic", "error", vec![0.5]);
        found.missing("b", "no file");
        assert_eq!(found.of("a", "magic", "error").unwrap().runs, Ok(vec![0.5]));
        assert!(matches!(&found.of("a", "magic", "auc").unwrap().runs, Err((Verdict::NotRun, _))));
        assert!(matches!(&found.of("b", "svm", "auc").unwrap().runs, Err((Verdict::Missing, _))));
        assert!(found.of("a", "svm", "error").is_none());
    }
}
