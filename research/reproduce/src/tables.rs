//! Published tables as data: one JSON file a table, under `tables/`.

use crate::data::Scaling;
use crate::failure::{Failure, Result};
use serde::{Deserialize, Serialize};

/// A table of a work: columns are a method and what was measured, rows are data sets with their protocol.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Unique name, such as `ertekin-6.3`.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// Whose numbers they are.
    pub kind: Kind,
    /// Where it stands.
    pub source: Source,
    /// With few labels: every draw of them counts, the share of positives is that of the labels, and all is left at its
    /// default.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub honest: bool,
    /// How it was measured, in words, where the rows' own protocols do not say it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub protocol: String,
    /// Method and measure of each column.
    pub columns: Vec<Column>,
    /// What holds for the whole table.
    pub remarks: Vec<String>,
    /// One a data set.
    pub rows: Vec<Row>,
}

/// Whose numbers a table holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The authors'.
    Published,
    /// Those of an independent prototype, where the work gives none.
    Prototype,
    /// The work says it in words; the numbers put them into figures.
    Statement,
}

/// Where a table stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Author, title, place, year.
    pub work: String,
    /// First and last line in the text of the work.
    pub lines: [usize; 2],
}

/// What a column holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Name of the method, as [`crate::methods::Method`] knows it.
    pub method: String,
    /// What was measured, as [`crate::methods::Outcome::get`] knows it.
    pub metric: String,
    /// Unit of the printed number.
    pub unit: Unit,
    /// Which direction is good.
    pub better: Better,
    /// Whether a difference means anything (seconds on unknown hardware do not).
    pub judged: bool,
}

/// Unit of a printed number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Hundredths.
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
    /// One number over another.
    Ratio,
}

/// Which direction is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// It describes; it is neither good nor bad.
    Neither,
}

/// A data set with its protocol and its numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Name in the table.
    pub name: String,
    /// Name of the data, as [`crate::data::Origin::open`] knows it; empty where a statement's code opens them.
    #[serde(default)]
    pub data_set: String,
    /// Whether anybody can have the data.
    #[serde(default)]
    pub data: Availability,
    /// How it was measured.
    #[serde(default, skip_serializing_if = "Protocol::is_empty")]
    pub protocol: Protocol,
    /// What holds for the row.
    pub remarks: Vec<String>,
    /// The numbers; a column without a number has no cell.
    pub cells: Vec<Cell>,
}

/// Whether the data of a row exists anywhere we can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Availability {
    /// Public.
    #[default]
    Available,
    /// Private, lost, or not at hand in full.
    Missing,
}

/// How a row was measured.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protocol {
    /// Training rows, before thinning.
    pub train: usize,
    /// Test rows, if known.
    pub test: Option<usize>,
    /// How rows are divided.
    pub split: SplitRecipe,
    /// Name of the kernel.
    pub kernel: String,
    /// Cost of a margin violation.
    pub c: f64,
    /// Kernel width.
    pub gamma: f64,
    /// Tolerance of the solver.
    pub tolerance: f64,
    /// What is done to the features.
    pub scaling: Scaling,
    /// Runs whose mean was printed (or that we take, where the work is silent).
    pub repetitions: usize,
    /// Share of training labels flipped.
    pub noise: f64,
    /// Negatives a positive in the training set, by thinning the positives; none: as they are.
    pub imbalance: Option<f64>,
    /// When active learning stops: margin, plateau or never; none: margin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<String>,
    /// Negatives a positive that undersampling leaves; none: as among the support vectors of our active learning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undersampling: Option<f64>,
    /// For tables about few labels: how many there are and what is known beside them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub few: Option<Few>,
}

impl Protocol {
    /// Whether the code of a statement holds it instead.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Few labels: the other rows are unlabeled, and what is found for them is scored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Few {
    /// Rows with a label.
    pub labeled: usize,
    /// Draws of the labeled rows.
    pub draws: usize,
    /// Only so many draws count, the worst for a supervised machine; 0: all.
    pub worst: usize,
    /// Share of positives in the rows, where they are drawn from more.
    pub ratio: Option<f64>,
    /// Cost of an unlabeled row over that of a labeled one (QP-S3VM and SUBMOD-S3VM).
    pub kappa: Option<f64>,
    /// The same in terms of both terms, for the polished search; none: `kappa`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rho: Option<f64>,
    /// Whether the linear kernel is that of centered rows; none: what the learner does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub center: Option<bool>,
    /// Weight of the norm in the other machines; none: their default, 0: the best of a grid.
    pub lambda: Option<f64>,
    /// Weight of the unlabeled rows in them.
    pub lambda_u: f64,
}

/// How rows become training and test rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SplitRecipe {
    /// The data come divided.
    Fixed,
    /// A new random division a repetition.
    Random,
    /// The same, class by class in proportion.
    Stratified,
    /// New rows a repetition.
    Generated,
    /// Not known (data missing, or a statement's own).
    #[default]
    Unknown,
}

/// One published number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// Which column, counted from 0.
    pub column: usize,
    /// As printed.
    pub printed: String,
    /// The same as a number.
    pub value: f64,
    /// What must have been meant, where the print is wrong.
    pub corrected: Option<f64>,
    /// Why it was corrected, or what to know.
    pub remark: Option<String>,
    /// Largest difference that counts as reproduced.
    pub tolerance: f64,
    /// Printed standard deviation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sd: Option<f64>,
}

impl Column {
    /// Whether it is a rate of right or wrong answers, or of a ranking.
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
    /// The number to compare with.
    pub fn target(&self) -> f64 {
        self.corrected.unwrap_or(self.value)
    }
}

const FILES: &[&str] = include!(concat!(env!("OUT_DIR"), "/tables.rs"));

impl Table {
    /// Whether it is about few labels.
    pub fn has_few_labels(&self) -> bool {
        self.rows.iter().any(|r| r.protocol.few.is_some())
    }
}

/// Every table.
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

/// The twin of a table whose protocol chooses the worst draws and gives away the true share of positives: what a user of the
/// same data would get. Nothing is judged, the printed numbers stand beside it.
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

/// A printed table without results of its own: it describes data or defines terms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// Its name.
    pub id: String,
    /// What it holds.
    pub title: String,
    /// Where its content is here.
    pub held_by: String,
}

/// Every such table.
pub fn descriptions() -> Result<Vec<Description>> {
    serde_json::from_str(include_str!("../tables/descriptions.json"))
        .map_err(|e| Failure::Content(format!("descriptions.json: {e}")))
}

/// The table of that name.
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
    fn every_number_is_finite_and_has_its_place() {
        for table in all().unwrap() {
            for row in &table.rows {
                let columns: BTreeSet<usize> = row.cells.iter().map(|c| c.column).collect();
                assert_eq!(columns.len(), row.cells.len(), "{} {}", table.id, row.name);
                for cell in &row.cells {
                    assert!(cell.column < table.columns.len());
                    assert!(cell.target().is_finite() && cell.value.is_finite());
                    assert!(cell.tolerance.is_finite() && cell.tolerance > 0.0, "{} {}", table.id, row.name);
                    if table.kind == Kind::Published && table.columns[cell.column].is_accuracy() {
                        let most = cell.sd.unwrap_or(0.0).max(1.0);
                        assert!(cell.tolerance <= most, "{} {}: one point or deviation", table.id, row.name);
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
    fn a_table_without_results_says_where_its_content_is() {
        let told = |id: &str| find(id).unwrap_err().to_string();
        assert!(told("sindhwani-2.5").contains("sindhwani-2.6"));
        assert!(told("sindhwani-2.55").contains("no table"));
    }

    #[test]
    fn names_are_known() {
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
    fn undersampling_leaves_the_printed_ratio_of_active_learning() {
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
    fn the_corrections_of_the_digest_are_there() {
        let table = find("ertekin-6.3").unwrap();
        let row = table.rows.iter().find(|r| r.name == "USPS+N").unwrap();
        let cell = row.cells.iter().find(|c| c.printed == "98.43").unwrap();
        assert_eq!(cell.target(), 99.43);
        assert!(find("ertekin-9.9").is_err());
    }
}
