//! Comparison of measured with published values.

use crate::findings::Findings;
use crate::tables::{Better, Cell, Column, Kind, Row, Table, Unit};
use serde::{Deserialize, Serialize};

/// Verdict on a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Within the tolerance.
    Reproduced,
    /// Outside the tolerance, better than published.
    Better,
    /// Outside the tolerance, worse than published.
    Worse,
    /// Outside the tolerance, for a measure that is neither good nor bad.
    Different,
    /// The data do not exist any more, or a file is missing.
    Missing,
    /// Left out by an option, or rejected by the library.
    NotRun,
    /// Measured, but not comparable.
    NotJudged,
}

/// A cell with its measured values.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// Name of the row.
    pub data_set: String,
    /// Column of the cell.
    pub column: Column,
    /// Published cell.
    pub cell: Cell,
    /// Measured values of the runs, in the unit of the column; empty if there are none.
    pub ours: Vec<f64>,
    /// Verdict.
    pub verdict: Verdict,
    /// Remark.
    pub remark: String,
    /// Known reason of a worse result, or empty.
    pub explanation: String,
}

impl Judged {
    /// Mean and standard deviation of the runs.
    pub fn summary(&self) -> Option<(f64, f64)> {
        let n = self.ours.len() as f64;
        if self.ours.is_empty() {
            return None;
        }
        let mean = self.ours.iter().sum::<f64>() / n;
        let squares: f64 = self.ours.iter().map(|v| (v - mean).powi(2)).sum();
        Some((mean, if n > 1.0 { (squares / (n - 1.0)).sqrt() } else { 0.0 }))
    }

    /// Difference by which the mean is worse than the published value, in the unit of the column; negative if it is better.
    pub fn behind(&self) -> Option<f64> {
        let difference = self.summary()?.0 - self.cell.target();
        match self.column.better {
            Better::Higher => Some(-difference),
            Better::Lower => Some(difference),
            Better::Neither => None,
        }
    }

    /// Whether there is an explanation; a text that contains "not explained" is none.
    pub fn is_explained(&self) -> bool {
        !self.explanation.is_empty() && !self.explanation.to_lowercase().contains("not explained")
    }

    /// Whether it is a judged and measured rate of correct or wrong predictions.
    pub fn is_accuracy(&self) -> bool {
        self.column.judged && self.column.is_accuracy() && !self.ours.is_empty()
    }
}

/// Judges all cells of the wanted rows and methods by the findings.
pub fn judge(table: &Table, found: &Findings, wanted: impl Fn(&Row, &Column) -> bool) -> Vec<Judged> {
    let mut judged = Vec::new();
    for row in &table.rows {
        for cell in &row.cells {
            let column = &table.columns[cell.column];
            if wanted(row, column) {
                judged.push(one(row, column, cell, found));
            }
        }
    }
    judged
}

fn one(row: &Row, column: &Column, cell: &Cell, found: &Findings) -> Judged {
    let mut judged = Judged {
        data_set: row.name.clone(),
        column: column.clone(),
        cell: cell.clone(),
        ours: Vec::new(),
        verdict: Verdict::NotRun,
        remark: cell.remark.clone().unwrap_or_default(),
        explanation: String::new(),
    };
    match found.of(&row.name, &column.method, &column.metric).map(|v| &v.runs) {
        None => {}
        Some(Err((verdict, why))) => {
            judged.verdict = *verdict;
            judged.remark = [why.as_str(), &judged.remark].map(str::trim).join(" ").trim().to_string();
        }
        Some(Ok(runs)) => {
            judged.ours = runs.iter().map(|v| in_unit(*v, column.unit)).collect();
            if let Some((mean, _)) = judged.summary() {
                judged.verdict = verdict(column, cell, mean);
            }
        }
    }
    judged
}

fn in_unit(value: f64, unit: Unit) -> f64 {
    match unit {
        Unit::Percent => 100.0 * value,
        Unit::Millions => value / 1e6,
        Unit::Fraction | Unit::Count | Unit::Seconds | Unit::Ratio => value,
    }
}

fn verdict(column: &Column, cell: &Cell, mean: f64) -> Verdict {
    let difference = mean - cell.target();
    match column.better {
        _ if !column.judged => Verdict::NotJudged,
        _ if difference.abs() <= cell.tolerance => Verdict::Reproduced,
        Better::Higher if difference > 0.0 => Verdict::Better,
        Better::Lower if difference < 0.0 => Verdict::Better,
        Better::Neither => Verdict::Different,
        Better::Higher | Better::Lower => Verdict::Worse,
    }
}

/// Counts of cells by verdict.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Counts {
    /// Cells with a measured number, judged or not.
    pub cells_run: usize,
    /// Within the tolerance.
    pub cells_reproduced: usize,
    /// Better than published, beyond the tolerance.
    pub cells_better: usize,
    /// Worse than published, beyond the tolerance.
    pub cells_worse: usize,
    /// Different from the published value, beyond the tolerance, for a measure that is neither good nor bad.
    pub cells_different: usize,
    /// Without data.
    pub cells_missing: usize,
    /// Not run.
    pub cells_not_run: usize,
    /// Measured, but not judged.
    pub cells_not_judged: usize,
    /// Published rates of correct or wrong predictions that were measured.
    pub accuracy_cells: usize,
    /// Rates at least as good as published, up to the tolerance.
    pub accuracy_met: usize,
    /// Other rates without an explanation.
    pub accuracy_unexplained: usize,
    /// Total time in seconds.
    pub seconds: f64,
}

impl Counts {
    /// Counts verdicts.
    pub fn of(kind: Kind, judged: &[Judged], seconds: f64) -> Self {
        let count = |v: Verdict| judged.iter().filter(|j| j.verdict == v).count();
        let rates: Vec<&Judged> =
            judged.iter().filter(|j| kind == Kind::Published && j.is_accuracy()).collect();
        let worse = rates.iter().filter(|j| j.verdict == Verdict::Worse);
        Self {
            cells_run: judged.iter().filter(|j| !j.ours.is_empty()).count(),
            cells_reproduced: count(Verdict::Reproduced),
            cells_better: count(Verdict::Better),
            cells_worse: count(Verdict::Worse),
            cells_different: count(Verdict::Different),
            cells_missing: count(Verdict::Missing),
            cells_not_run: count(Verdict::NotRun),
            cells_not_judged: count(Verdict::NotJudged),
            accuracy_cells: rates.len(),
            accuracy_met: rates.len() - worse.clone().count(),
            accuracy_unexplained: worse.filter(|j| !j.is_explained()).count(),
            seconds,
        }
    }

    /// Sum of the counts of two tables.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            cells_run: self.cells_run + other.cells_run,
            cells_reproduced: self.cells_reproduced + other.cells_reproduced,
            cells_better: self.cells_better + other.cells_better,
            cells_worse: self.cells_worse + other.cells_worse,
            cells_different: self.cells_different + other.cells_different,
            cells_missing: self.cells_missing + other.cells_missing,
            cells_not_run: self.cells_not_run + other.cells_not_run,
            cells_not_judged: self.cells_not_judged + other.cells_not_judged,
            accuracy_cells: self.accuracy_cells + other.accuracy_cells,
            accuracy_met: self.accuracy_met + other.accuracy_met,
            accuracy_unexplained: self.accuracy_unexplained + other.accuracy_unexplained,
            seconds: self.seconds + other.seconds,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::find;

    #[test]
    fn verdict_depends_on_the_direction_of_the_measure() {
        let table = find("ertekin-6.3").unwrap();
        let cell = &table.rows[0].cells[0];
        let column = &table.columns[cell.column];
        assert_eq!(verdict(column, cell, cell.value), Verdict::Reproduced);
        assert_eq!(verdict(column, cell, cell.value + 5.0), Verdict::Better);
        assert_eq!(verdict(column, cell, cell.value - 5.0), Verdict::Worse);
        let neither = Column { better: Better::Neither, ..column.clone() };
        assert_eq!(verdict(&neither, cell, cell.value + 5.0), Verdict::Different);
        let time = table.columns.iter().find(|c| c.metric == "seconds").unwrap();
        assert_eq!(verdict(time, cell, 0.0), Verdict::NotJudged);
    }

    #[test]
    fn cells_get_their_values_and_are_counted() {
        let table = find("ertekin-6.3").unwrap();
        let row = &table.rows[0];
        let column = &table.columns[row.cells[0].column];
        let mut found = Findings::default();
        found.add(&row.name, &column.method, &column.metric, vec![0.01, 0.03]);
        found.missing(&table.rows[1].name, "no file");
        let judged = judge(&table, &found, |_, _| true);
        assert_eq!(judged[0].ours, [1.0, 3.0]);
        assert!(judged[0].behind().unwrap() > 50.0);
        let counts = Counts::of(table.kind, &judged, 1.0);
        assert_eq!((counts.cells_run, counts.cells_worse), (1, 1));
        assert_eq!(counts.cells_missing, table.rows[1].cells.len());
        assert_eq!((counts.accuracy_cells, counts.accuracy_met, counts.accuracy_unexplained), (1, 0, 1));
        assert_eq!(counts.plus(counts).cells_run, 2);
        assert_eq!(Counts::of(Kind::Prototype, &judged, 1.0).accuracy_cells, 0);
    }
}
