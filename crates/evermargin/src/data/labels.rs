//! Labels of a two-class problem, and class labels of a data set.

use serde::{Deserialize, Serialize};

/// The label of a sample in a two-class problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[repr(i8)]
pub enum Label {
    /// The first class (negative).
    Neg = -1,
    /// Not labeled.
    Unknown = 0,
    /// The second class (positive).
    Pos = 1,
}

impl Label {
    /// −1, 0 or +1.
    pub fn sign(self) -> f64 {
        f64::from(self as i8)
    }
}

/// Class labels of a data set: sorted class names, and the class index of each row, if known.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Labels {
    /// Class names: ascending by value when all are numbers, by bytes otherwise.
    pub classes: Vec<String>,
    /// Class index of each row; `None` for unlabeled rows.
    pub of: Vec<Option<u32>>,
}

impl Labels {
    /// Labels from tokens; `None`, `?` and the empty token are unlabeled. Equal numbers are one class (`+1` and `1`),
    /// named by the first spelling without a leading `+`.
    pub fn from_tokens<'t>(tokens: impl Iterator<Item = Option<&'t str>>) -> Self {
        let tokens: Vec<Option<&str>> =
            tokens.map(|t| t.map(str::trim).filter(|t| !t.is_empty() && *t != "?")).collect();
        let mut names: Vec<&str> = tokens.iter().flatten().copied().collect();
        let number = |t: &str| t.parse::<f64>().ok().filter(|v| v.is_finite());
        if names.iter().all(|t| number(t).is_some()) {
            let value = |t: &str| number(t).unwrap_or(0.0) + 0.0;
            names.sort_by(|a, b| value(a).total_cmp(&value(b)));
            names.dedup_by(|a, b| value(a) == value(b));
            let find = |t: &str| names.partition_point(|n| value(n) < value(t)) as u32;
            let of = tokens.iter().map(|t| t.map(find)).collect();
            let classes = names.iter().map(|n| n.trim_start_matches('+').to_string()).collect();
            Self { classes, of }
        } else {
            names.sort_unstable();
            names.dedup();
            let find = |t: &str| names.partition_point(|n| *n < t) as u32;
            let of = tokens.iter().map(|t| t.map(find)).collect();
            Self { classes: names.iter().map(ToString::to_string).collect(), of }
        }
    }

    /// Number of rows with a label.
    pub fn labeled(&self) -> usize {
        self.of.iter().flatten().count()
    }

    /// Number of rows of each class.
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.classes.len()];
        for &class in self.of.iter().flatten() {
            counts[class as usize] += 1;
        }
        counts
    }
}
