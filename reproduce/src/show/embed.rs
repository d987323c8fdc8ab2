//! Short tables for the pages of the book, between `<!-- begin ID -->` and `<!-- end ID -->`: print and ours, a column a method.

use super::{Around, text};
use crate::failure::{Failure, Result};
use crate::judge::{Counts, Judged, Verdict};
use crate::run::Report;
use crate::tables::{Column, Table};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Renews the tables of every page of a folder that has marks for them.
pub fn write(folder: &Path, reports: &[Report], sum: &Counts, around: &Around) -> Result<()> {
    let fault = |path: &Path, e: std::io::Error| Failure::Content(format!("{}: {e}", path.display()));
    let entries = std::fs::read_dir(folder).map_err(|e| fault(folder, e))?;
    let mut pages: Vec<PathBuf> = entries.filter_map(|e| e.ok().map(|e| e.path())).collect();
    pages.retain(|p| p.extension().is_some_and(|e| e == "md"));
    pages.sort();
    for page in pages {
        let old = std::fs::read_to_string(&page).map_err(|e| fault(&page, e))?;
        let one = |page: String, report: &Report| renewed(&page, &report.id, &short(report, around));
        let new = reports.iter().fold(old.clone(), one);
        let new = renewed(&new, "summary", &summary(reports, sum, around));
        if new != old {
            std::fs::write(&page, new).map_err(|e| fault(&page, e))?;
        }
    }
    Ok(())
}

/// The page with other content between the marks of a name.
fn renewed(page: &str, name: &str, content: &str) -> String {
    let (begin, end) = (format!("<!-- begin {name} -->\n"), format!("<!-- end {name} -->"));
    match (page.find(&begin), page.find(&end)) {
        (Some(a), Some(b)) if a < b => format!("{}{content}{}", &page[..a + begin.len()], &page[b..]),
        _ => page.to_string(),
    }
}

/// How the cells of every table came out, a line a table.
fn summary(reports: &[Report], sum: &Counts, around: &Around) -> String {
    let mut out = format!(
        "\n`{}`, seed {}, {}.\n\n| table | run | reproduced | better | worse | different | not judged | missing | not run | rates met |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
        around.command(),
        around.seed,
        around.day
    );
    for report in reports.iter().filter(|r| r.table.is_some()) {
        line(&format!("`{}`", report.id), &report.counts, &mut out);
    }
    line("**all**", sum, &mut out);
    out.push('\n');
    out
}

fn line(name: &str, c: &Counts, out: &mut String) {
    let rates = if c.accuracy_cells == 0 {
        String::new()
    } else {
        format!("{} of {}", c.accuracy_met, c.accuracy_cells)
    };
    let _ = writeln!(
        out,
        "| {name} | {} | {} | {} | {} | {} | {} | {} | {} | {rates} |",
        c.cells_run,
        c.cells_reproduced,
        c.cells_better,
        c.cells_worse,
        c.cells_different,
        c.cells_not_judged,
        c.cells_missing,
        c.cells_not_run
    );
}

/// Rates of a table, or what a statement says.
fn short(report: &Report, around: &Around) -> String {
    let how = format!("from `{}`, seed {}, {}", around.command_for(&report.id), around.seed, around.day);
    let Some(table) = &report.table else {
        return format!("\n{}. {how}.\n\n{}\n\n", report.title, report.notes.trim());
    };
    let mut out = format!("\n**{}.** Print → ours; {how}: {}.\n\n", table.title, text::tally(&report.counts));
    for metric in shown(table, &report.cells) {
        grid(table, &report.cells, &metric, &mut out);
    }
    out
}

/// The rates if there are any, else every measure.
fn shown(table: &Table, cells: &[Judged]) -> Vec<String> {
    let any = table.columns.iter().any(Column::is_accuracy);
    let mut found: Vec<String> = Vec::new();
    for column in table.columns.iter().filter(|c| !any || c.is_accuracy() || c.metric == "seconds") {
        if !found.contains(&column.metric) && cells.iter().any(|j| j.column == *column) {
            found.push(column.metric.clone());
        }
    }
    found
}

fn grid(table: &Table, cells: &[Judged], metric: &str, out: &mut String) {
    let columns: Vec<_> = table
        .columns
        .iter()
        .filter(|c| c.metric == metric && cells.iter().any(|j| j.column == **c))
        .collect();
    let Some(first) = columns.first() else { return };
    let names: Vec<&str> = columns.iter().map(|c| c.method.as_str()).collect();
    let _ = writeln!(
        out,
        "| {}{} | {} |\n|---|{}",
        metric.replace('_', " "),
        text::unit(first.unit),
        names.join(" | "),
        "--:|".repeat(names.len())
    );
    for row in &table.rows {
        let of = |column: &Column| cells.iter().find(|j| j.data_set == row.name && j.column == *column);
        if columns.iter().any(|c| of(c).is_some_and(|j| !j.ours.is_empty())) {
            let line: Vec<String> = columns.iter().map(|c| of(c).map_or_else(String::new, cell)).collect();
            let _ = writeln!(out, "| {} | {} |", row.name, line.join(" | "));
        }
    }
    out.push('\n');
}

/// `94.64 → 76.95 ▼`: the sign where ours is worse.
fn cell(j: &Judged) -> String {
    let digits = text::digits_of(j);
    let ours = j.summary().map_or_else(|| "–".to_string(), |(mean, _)| format!("{mean:.digits$}"));
    let sign = if j.verdict == Verdict::Worse { " ▼" } else { "" };
    format!("{} → {ours}{sign}", j.cell.printed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_renewed_between_their_marks_alone() {
        let report = Report {
            id: "x".into(),
            title: "So it is".into(),
            table: None,
            cells: Vec::new(),
            figures: Vec::new(),
            notes: "so\n".into(),
            counts: Counts::default(),
        };
        let around =
            Around { tables: Vec::new(), options: vec!["--slow".into()], seed: 1, day: "today".into() };
        let page = "a\n<!-- begin x -->\nold\n<!-- end x -->\nb\n<!-- begin y -->\n<!-- end y -->\n";
        let new = renewed(page, "x", &short(&report, &around));
        assert!(
            new.starts_with("a\n<!-- begin x -->\n\nSo it is.")
                && new.ends_with("<!-- end x -->\nb\n<!-- begin y -->\n<!-- end y -->\n")
        );
        assert!(!new.contains("old") && new.contains("`evermargin-reproduce x --slow`"));
        assert_eq!(renewed(&new, "x", &short(&report, &around)), new);
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("p.md"), page).unwrap();
        write(folder.path(), &[report], &Counts::default(), &around).unwrap();
        assert_eq!(std::fs::read_to_string(folder.path().join("p.md")).unwrap(), new);
    }
}
