//! What running a table or a statement gave, before anybody compares it with print.

use crate::judge::Verdict;
use serde::{Deserialize, Serialize};

/// Measured values, figures and remarks.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Findings {
    /// One a row, method and measure.
    pub values: Vec<Values>,
    /// Curves to be drawn.
    pub figures: Vec<Figure>,
    /// What else a reader should see, as Markdown.
    pub notes: String,
}

/// The values of one cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Values {
    /// Name of the row in its table.
    pub row: String,
    /// Name of the method; empty: all of the row.
    pub method: String,
    /// Name of the measure; empty: all of the method.
    pub metric: String,
    /// One a repetition, rates as fractions; or why there are none.
    pub runs: Result<Vec<f64>, (Verdict, String)>,
}

/// Curves over one axis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// What it shows.
    pub title: String,
    /// What goes to the right.
    pub x: String,
    /// What goes up.
    pub y: String,
    /// Whether the axis to the right goes by powers of ten.
    pub log_x: bool,
    /// Whether the axis upwards does.
    pub log_y: bool,
    /// The curves.
    pub series: Vec<Series>,
}

/// One curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// Its points, from left to right.
    pub points: Vec<[f64; 2]>,
}

impl Findings {
    /// Remarks alone.
    pub fn notes(notes: String) -> Self {
        Self { notes, ..Self::default() }
    }

    /// The values of a cell.
    pub fn add(&mut self, row: &str, method: &str, metric: &str, runs: Vec<f64>) {
        self.put(row, method, metric, Ok(runs));
    }

    /// A row whose data are not at hand.
    pub fn missing(&mut self, row: &str, why: &str) {
        self.put(row, "", "", Err((Verdict::Missing, why.to_string())));
    }

    /// A method that is left out of a row (all rows if the row is empty).
    pub fn left_out(&mut self, row: &str, method: &str, why: &str) {
        self.put(row, method, "", Err((Verdict::NotRun, why.to_string())));
    }

    fn put(&mut self, row: &str, method: &str, metric: &str, runs: Result<Vec<f64>, (Verdict, String)>) {
        let [row, method, metric] = [row, method, metric].map(ToString::to_string);
        self.values.push(Values { row, method, metric, runs });
    }

    /// What there is for a cell: values first, reasons else.
    pub fn of(&self, row: &str, method: &str, metric: &str) -> Option<&Values> {
        let fits = |mine: &str, asked: &str| mine.is_empty() || mine == asked;
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
    fn values_come_before_reasons() {
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
