//! Report as plain text.

use crate::claims::CLAIMS;
use crate::judge::{Counts, Judged, Verdict};
use crate::tables::{Description, Kind, Table, Unit};
use std::fmt::Write;

/// List of tables and statements.
pub fn list(tables: &[Table], descriptions: &[Description]) -> String {
    let mut out = String::new();
    for table in tables {
        let cells: usize = table.rows.iter().map(|r| r.cells.len()).sum();
        let kind = match table.kind {
            Kind::Published => "",
            Kind::Prototype => " (prototype, not published)",
            Kind::Statement => " (said in words)",
        };
        let _ = writeln!(out, "{:<28} {cells:>4} cells  {}{kind}", table.id, table.title);
    }
    for claim in CLAIMS.iter().filter(|c| !tables.iter().any(|t| t.id == c.id)) {
        let _ = writeln!(out, "{:<28} {:>10}  {}", claim.id, "statement", claim.title);
    }
    for other in descriptions {
        let _ = writeln!(out, "{:<28} {:>10}  {}: {}", other.id, "describes", other.title, other.held_by);
    }
    out
}

/// One line per cell: data set, method, measure, published, ours, difference, verdict, remark.
pub fn cells(table: &Table, judged: &[Judged]) -> String {
    let mut lines = vec![
        ["data set", "method", "measure", "published", "ours", "difference", "verdict", "remark"]
            .map(str::to_string),
    ];
    lines.extend(judged.iter().map(line));
    let mut out = format!("{}: {}\n", table.id, table.title);
    let width = |c: usize| lines.iter().map(|l| l[c].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..8).map(width).collect();
    for line in &lines {
        let mut text = String::new();
        for (c, (field, width)) in line.iter().zip(&widths).enumerate() {
            let pad = " ".repeat(width - field.chars().count());
            let right = (3..=5).contains(&c);
            let _ = if right { write!(text, "{pad}{field}  ") } else { write!(text, "{field}{pad}  ") };
        }
        let _ = writeln!(out, "{}", text.trim_end());
    }
    for remark in remarks(table, judged) {
        let _ = writeln!(out, "- {remark}");
    }
    out
}

fn remarks<'t>(table: &'t Table, judged: &'t [Judged]) -> impl Iterator<Item = String> + 't {
    let rows = table.rows.iter().filter(|row| judged.iter().any(|j| j.data_set == row.name));
    let of_rows = rows.flat_map(|row| row.remarks.iter().map(|r| format!("{}: {r}", row.name)));
    table.remarks.iter().cloned().chain(of_rows)
}

/// Text of the counts of verdicts.
pub fn tally(counts: &Counts) -> String {
    let mut text = format!(
        "{} cells run: {} reproduced, {} better, {} worse, {} different, {} not judged; {} missing, {} not run",
        counts.cells_run,
        counts.cells_reproduced,
        counts.cells_better,
        counts.cells_worse,
        counts.cells_different,
        counts.cells_not_judged,
        counts.cells_missing,
        counts.cells_not_run
    );
    if counts.accuracy_cells > 0 {
        let _ = write!(
            text,
            "; {} of {} rates at print or above, less the tolerance ({:.1} %), {} without explanation",
            counts.accuracy_met,
            counts.accuracy_cells,
            100.0 * counts.accuracy_met as f64 / counts.accuracy_cells as f64,
            counts.accuracy_unexplained
        );
    }
    text
}

pub(crate) fn line(j: &Judged) -> [String; 8] {
    let summary = j.summary();
    let digits = digits_of(j);
    let published = match j.cell.corrected {
        Some(value) => format!("{} (printed {})", value, j.cell.printed),
        None => j.cell.printed.clone(),
    };
    [
        j.data_set.clone(),
        j.column.method.clone(),
        format!("{}{}", j.column.metric, unit(j.column.unit)),
        published,
        summary.map_or_else(
            || "-".into(),
            |(m, sd)| {
                if j.ours.len() > 1 {
                    format!("{m:.digits$} ± {sd:.digits$}")
                } else {
                    format!("{m:.digits$}")
                }
            },
        ),
        summary.map_or_else(String::new, |(m, _)| format!("{:+.digits$}", m - j.cell.target())),
        word(j.verdict).to_string(),
        [j.remark.as_str(), &j.explanation].join(" ").trim().to_string(),
    ]
}

/// Number of decimals: that of the unit, and more for times below ten seconds.
pub(crate) fn digits_of(j: &Judged) -> usize {
    match (j.column.unit, j.summary()) {
        (Unit::Seconds, Some((mean, _))) if mean < 0.1 => 4,
        (Unit::Seconds, Some((mean, _))) if mean < 10.0 => 2,
        (unit, _) => digits(unit),
    }
}

fn digits(unit: Unit) -> usize {
    match unit {
        Unit::Percent | Unit::Ratio | Unit::Millions => 2,
        Unit::Fraction => 4,
        Unit::Count => 0,
        Unit::Seconds => 1,
    }
}

pub(crate) fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Percent => " %",
        Unit::Millions => " M",
        Unit::Seconds => " s",
        Unit::Fraction | Unit::Count | Unit::Ratio => "",
    }
}

pub(crate) fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Reproduced => "reproduced",
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Different => "different",
        Verdict::Missing => "missing",
        Verdict::NotRun => "not run",
        Verdict::NotJudged => "not judged",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::{all, descriptions, find};

    #[test]
    fn lists_and_cells_have_the_expected_columns() {
        assert!(list(&all().unwrap(), &descriptions().unwrap()).contains("ertekin-6.3"));
        let table = find("ertekin-6.3").unwrap();
        let row = &table.rows[0];
        let judged = Judged {
            data_set: row.name.clone(),
            column: table.columns[0].clone(),
            cell: row.cells[0].clone(),
            ours: vec![84.0, 86.0],
            verdict: Verdict::Reproduced,
            remark: String::new(),
            explanation: String::new(),
        };
        let text = cells(&table, &[judged]);
        assert!(text.contains("85.00 ± 1.41") && text.contains("+0.13"), "{text}");
        assert!(text.contains("Adult: the thesis counts"), "{text}");
    }
}
