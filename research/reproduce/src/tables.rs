//! Published tables as data, with one JSON file per table under `tables/`.

use crate::data::Scaling;
use crate::failure::{Failure, Result};
use serde::{Deserialize, Serialize};

/// A published table. A column is a method with a measure, a row is a data set with its protocol.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Unique name, such as `ertekin-6.3`.
    pub id: String,
    /// Title.
    pub title: String,
    /// Origin of the numbers.
    pub kind: Kind,
    /// Place in the work.
    pub source: Source,
    /// For tables about few labels: all draws count, the share of positives is estimated from the labels, and all parameters have
    /// their defaults.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub honest: bool,
    /// Description of the measurement, as far as the protocols of the rows do not contain it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub protocol: String,
    /// Method and measure of each column.
    pub columns: Vec<Column>,
    /// Remarks on the whole table.
    pub remarks: Vec<String>,
    /// One row per data set.
    pub rows: Vec<Row>,
}

/// Origin of the numbers of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Published by the authors.
    Published,
    /// Computed by an independent prototype, because the work has none.
    Prototype,
    /// A statement of the work in words, expressed by numbers.
    Statement,
}

/// Place of a table in a work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Author, title, place, year.
    pub work: String,
    /// First and last line in the text of the work.
    pub lines: [usize; 2],
}

/// Content of a column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Name of the method in [`crate::methods::METHODS`].
    pub method: String,
    /// Name of the measure in [`crate::methods::Outcome::get`].
    pub metric: String,
    /// Unit of the printed number.
    pub unit: Unit,
    /// Direction of improvement.
    pub better: Better,
    /// Whether differences are judged (seconds on unknown hardware are not).
    pub judged: bool,
}

/// Unit of a printed number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Percent.
    #[serde(rename = "%")]
    Percent,
    /// A number from 0 to 1.
    Fraction,
    /// A whole number.
    Count,
    /// Millions.
    #[serde(rename = "M")]
    Millions,
    /// Seconds.
    #[serde(rename = "s")]
    Seconds,
    /// Ratio of two numbers.
    Ratio,
}

/// Direction of improvement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Higher values are better.
    Higher,
    /// Lower values are better.
    Lower,
    /// The measure is descriptive, neither good nor bad.
    Neither,
}

/// A data set with its protocol and its numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Name in the table.
    pub name: String,
    /// Name of the data in [`crate::data::Origin::open`]; empty if the code of a statement opens them.
    #[serde(default)]
    pub data_set: String,
    /// Whether the data are available.
    #[serde(default)]
    pub data: Availability,
    /// Protocol of the measurement.
    #[serde(default, skip_serializing_if = "Protocol::is_empty")]
    pub protocol: Protocol,
    /// Remarks on the row.
    pub remarks: Vec<String>,
    /// Cells with numbers; columns without a number have none.
    pub cells: Vec<Cell>,
}

/// Whether the data of a row are available.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Availability {
    /// Public.
    #[default]
    Available,
    /// Private, lost or incomplete.
    Missing,
}

/// Protocol of the measurement of a row.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protocol {
    /// Number of training rows, before thinning.
    pub train: usize,
    /// Number of test rows, if known.
    pub test: Option<usize>,
    /// Method of splitting the rows.
    pub split: SplitRecipe,
    /// Name of the kernel.
    pub kernel: String,
    /// Cost of a margin violation.
    pub c: f64,
    /// Kernel width.
    pub gamma: f64,
    /// Tolerance of the solver.
    pub tolerance: f64,
    /// Scaling of the features.
    pub scaling: Scaling,
    /// Number of runs whose mean was published (or of our runs, if the work does not state it).
    pub repetitions: usize,
    /// Share of flipped training labels.
    pub noise: f64,
    /// Negatives per positive in the training set, reached by thinning the positives; `None`: unchanged.
    pub imbalance: Option<f64>,
    /// Stopping rule of active learning: margin, plateau or never; `None`: margin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<String>,
    /// Negatives per positive after undersampling; `None`: as among the support vectors of our active learning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undersampling: Option<f64>,
    /// For tables about few labels: their number and other known quantities.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub few: Option<Few>,
}

impl Protocol {
    /// Whether the protocol is in the code of a statement instead.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Protocol part of few labels: the other rows are unlabeled, and their inferred labels are scored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Few {
    /// Number of labeled rows.
    pub labeled: usize,
    /// Number of draws of the labeled rows.
    pub draws: usize,
    /// Number of draws that count, those with the worst accuracy of a supervised SVM; 0: all draws.
    pub worst: usize,
    /// Share of positives in the rows, if they are drawn from a larger set.
    pub ratio: Option<f64>,
    /// Ratio of the costs of an unlabeled and a labeled row (QP-S3VM and SUBMOD-S3VM).
    pub kappa: Option<f64>,
    /// The same as a ratio of the two terms of the objective, for the polished search; `None`: `kappa`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rho: Option<f64>,
    /// Whether the linear kernel uses centered rows; `None`: the default of the learner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub center: Option<bool>,
    /// Weight of the norm in the other learners; `None`: their default, 0: the best of a grid.
    pub lambda: Option<f64>,
    /// Weight of the unlabeled rows in the other learners.
    pub lambda_u: f64,
}

/// Method of splitting rows into training and test rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SplitRecipe {
    /// The data have fixed training and test parts.
    Fixed,
    /// A random split per repetition.
    Random,
    /// A stratified random split per repetition.
    Stratified,
    /// Newly generated rows per repetition.
    Generated,
    /// Unknown (missing data) or defined by a statement.
    #[default]
    Unknown,
}

/// One published number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// Index of the column, from 0.
    pub column: usize,
    /// Published text.
    pub printed: String,
    /// Published number.
    pub value: f64,
    /// Correct number, if the published one is an error.
    pub corrected: Option<f64>,
    /// Reason of the correction, or another remark.
    pub remark: Option<String>,
    /// Maximum difference that counts as reproduced.
    pub tolerance: f64,
    /// Published standard deviation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sd: Option<f64>,
}

impl Column {
    /// Whether the measure is a rate of correct or wrong predictions or the quality of a ranking.
    pub fn is_accuracy(&self) -> bool {
        const RATES: [&str; 7] =
            ["accuracy", "error", "g_means", "auc", "prbep", "sensitivity", "specificity"];
        let rate = RATES.iter().any(|rate| {
            self.metric.strip_prefix(rate).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
        });
        rate && self.better != Better::Neither
    }
}

impl Cell {
    /// Number to compare with: the corrected or the published one.
    pub fn target(&self) -> f64 {
        self.corrected.unwrap_or(self.value)
    }
}

const FILES: &[&str] = include!(concat!(env!("OUT_DIR"), "/tables.rs"));

impl Table {
    /// Whether the table is about few labels.
    pub fn has_few_labels(&self) -> bool {
        self.rows.iter().any(|r| r.protocol.few.is_some())
    }
}

/// All tables.
pub fn all() -> Result<Vec<Table>> {
    let parse = |text: &&str| {
        serde_json::from_str(text).map_err(|e| Failure::Content(format!("a table is not valid: {e}")))
    };
    let mut tables: Vec<Table> = FILES.iter().map(parse).collect::<Result<_>>()?;
    let worst =
        |table: &&Table| table.rows.iter().any(|r| r.protocol.few.as_ref().is_some_and(|f| f.worst > 0));
    let twins: Vec<Table> = tables.iter().filter(worst).map(honest).collect();
    tables.extend(twins);
    Ok(tables)
}

/// A copy of a table whose protocol chooses the worst draws and uses the true share of positives, with the conditions of a user
/// instead. Its cells are not judged.
fn honest(table: &Table) -> Table {
    const DRAWS: usize = 20;
    const LARGE_DRAWS: usize = 5;
    let mut twin = table.clone();
    twin.id.push_str("-honest");
    twin.title.push_str(", for a user: any draw, share of positives from the labels, every default");
    twin.honest = true;
    twin.columns.iter_mut().for_each(|c| c.judged = false);
    twin.remarks = vec![format!(
        "{DRAWS} random draws ({LARGE_DRAWS} above 10,000 rows, one above 100,000 with --large 1), no parameter, scaling or centering chosen for the data; \
         the share of positives is that of the labeled rows. Printed beside it: the numbers of {}, whose protocol is \
         another",
        table.id
    )];
    for row in &mut twin.rows {
        row.remarks.clear();
        row.cells.iter_mut().for_each(|c| c.remark = None);
        if let Some(few) = &mut row.protocol.few {
            let draws = if row.protocol.train > crate::run::LARGE { LARGE_DRAWS } else { DRAWS };
            (few.draws, few.worst) = (draws, 0);
        }
    }
    twin
}

/// A published table without results, which describes data or defines terms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// Name.
    pub id: String,
    /// Title.
    pub title: String,
    /// Place of its content in this project.
    pub held_by: String,
}

/// All published tables without results.
pub fn descriptions() -> Result<Vec<Description>> {
    serde_json::from_str(include_str!("../tables/descriptions.json"))
        .map_err(|e| Failure::Content(format!("descriptions.json: {e}")))
}

/// Finds a table by name.
pub fn find(id: &str) -> Result<Table> {
    let tables = all()?;
    let known: Vec<String> = tables.iter().map(|t| t.id.clone()).collect();
    if let Some(found) = tables.into_iter().find(|t| t.id == id) {
        return Ok(found);
    }
    let described = descriptions()?.into_iter().find(|d| d.id == id);
    Err(Failure::Unknown(match described {
        Some(d) => format!("{id} has no results to run. {}: {}", d.title, d.held_by),
        None => format!("no table {id}; there are {}", known.join(", ")),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::few::Way;
    use crate::methods::Method;
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn ids_are_unique_and_cells_are_counted() {
        let tables = all().unwrap();
        let ids: BTreeSet<&str> = tables.iter().map(|t| t.id.as_str()).collect();
        assert_eq!(ids.len(), tables.len());
        let expected = [
            ("ertekin-3.2", 64),
            ("ertekin-3.3", 24),
            ("ertekin-3.5", 32),
            ("ertekin-4.3", 126),
            ("ertekin-4.4", 126),
            ("ertekin-5.2", 84),
            ("ertekin-5.3", 98),
            ("ertekin-6.1", 10),
            ("ertekin-6.3", 90),
            ("ertekin-6.4", 96),
            ("ertekin-nc-chosen", 4),
            ("ertekin-waveform-imbalance", 27),
            ("emara-III.2", 110),
            ("emara-III.4", 122),
            ("emara-III.5", 82),
            ("emara-III.7", 55),
            ("emara-III.8", 94),
            ("emara-III.9", 33),
            ("emara-III.10", 50),
            ("sindhwani-2.3", 10),
            ("sindhwani-2.4", 16),
            ("sindhwani-2.6", 48),
            ("sindhwani-2.7", 30),
            ("sindhwani-2.8", 24),
            ("sindhwani-2.9", 32),
            ("sindhwani-3.1", 13),
            ("sindhwani-3.2", 13),
            ("sindhwani-3.4", 10),
            ("sindhwani-3.6", 80),
            ("sindhwani-3.7", 64),
            ("sindhwani-4.1", 42),
            ("sindhwani-4.2", 24),
            ("sindhwani-5.2", 36),
            ("sindhwani-5.3", 54),
            ("sindhwani-5.4", 12),
            ("sindhwani-5.5", 30),
            ("sindhwani-6", 63),
        ];
        let counted: BTreeMap<&str, usize> =
            tables.iter().map(|t| (t.id.as_str(), t.rows.iter().map(|r| r.cells.len()).sum())).collect();
        for (id, cells) in expected {
            assert_eq!(counted.get(id), Some(&cells), "{id}");
        }
    }

    #[test]
    fn cells_are_finite_unique_and_match_their_text() {
        for table in all().unwrap() {
            for row in &table.rows {
                let columns: BTreeSet<usize> = row.cells.iter().map(|c| c.column).collect();
                assert_eq!(columns.len(), row.cells.len(), "{} {}", table.id, row.name);
                for cell in &row.cells {
                    assert!(cell.column < table.columns.len());
                    assert!(cell.target().is_finite() && cell.value.is_finite());
                    assert!(cell.tolerance.is_finite() && cell.tolerance > 0.0, "{} {}", table.id, row.name);
                    if table.kind == Kind::Published && table.columns[cell.column].is_accuracy() {
                        let limit = cell.sd.unwrap_or(0.0).max(1.0);
                        assert!(cell.tolerance <= limit, "{} {}: one point or deviation", table.id, row.name);
                    }
                    let digits = |c: &char| c.is_ascii_digit() || "-.".contains(*c);
                    let number: String =
                        cell.printed.chars().filter(|c| !",+".contains(*c)).take_while(digits).collect();
                    assert_eq!(number.parse::<f64>().unwrap(), cell.value, "{} {}", table.id, row.name);
                    assert!(cell.corrected.is_none() || cell.remark.is_some());
                }
            }
        }
    }

    #[test]
    fn error_for_a_table_without_results_names_the_place_of_its_content() {
        let message = |id: &str| find(id).unwrap_err().to_string();
        assert!(message("sindhwani-2.5").contains("sindhwani-2.6"));
        assert!(message("sindhwani-2.55").contains("no table"));
    }

    #[test]
    fn methods_and_data_sets_of_all_tables_are_known() {
        for table in all().unwrap() {
            let rows: BTreeSet<&str> = table.rows.iter().map(|r| r.name.as_str()).collect();
            assert_eq!(rows.len(), table.rows.len());
            if crate::claims::CLAIMS.iter().any(|c| c.id == table.id) {
                continue;
            }
            if table.has_few_labels() {
                for column in &table.columns {
                    assert!(Way::by_name(&column.method).is_ok(), "{}", column.method);
                }
                for row in table.rows.iter().filter(|r| r.data == Availability::Available) {
                    assert!(
                        row.protocol.few.is_some() && crate::few::is_known(&row.data_set),
                        "{}",
                        row.data_set
                    );
                }
                continue;
            }
            for column in &table.columns {
                assert!(Method::by_name(&column.method).is_ok(), "{}", column.method);
            }
            for row in &table.rows {
                assert_eq!(row.protocol.kernel, "rbf");
                let missing = row.data == Availability::Missing;
                assert_eq!(missing, row.name.starts_with("CiteSeer") || row.name.starts_with("Forest"));
                assert!(missing || crate::data::is_known(&row.data_set), "{}", row.data_set);
            }
        }
    }

    #[test]
    fn undersampling_uses_the_published_ratio_of_active_learning() {
        let all = all().unwrap();
        let of = |id: &str| all.iter().find(|t| t.id == id).unwrap();
        let (ratios, table) = (of("ertekin-4.3"), of("ertekin-4.4"));
        let column = ratios.columns.iter().position(|c| c.method == "AL" && c.metric == "sv_ratio").unwrap();
        let mut seen = 0;
        for row in &table.rows {
            let Some(left) = row.protocol.undersampling else { continue };
            let same = ratios.rows.iter().find(|r| r.name == row.name).unwrap();
            let cell = same.cells.iter().find(|c| c.column == column).unwrap();
            assert_eq!(cell.target(), left, "{}", row.name);
            seen += 1;
        }
        assert_eq!(seen, 13);
    }

    #[test]
    fn corrected_cells_have_the_corrected_number() {
        let table = find("ertekin-6.3").unwrap();
        let row = table.rows.iter().find(|r| r.name == "USPS+N").unwrap();
        let cell = row.cells.iter().find(|c| c.printed == "98.43").unwrap();
        assert_eq!(cell.target(), 99.43);
        assert!(find("ertekin-9.9").is_err());
    }
}
