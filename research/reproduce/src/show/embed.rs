//! Short tables for the pages of the book, between `<!-- begin ID -->` and `<!-- end ID -->`: published and measured values, one column per method.

use super::{Around, text};
use crate::failure::{Failure, Result};
use crate::judge::{Judged, Verdict};
use crate::run::Report;
use crate::tables::{self, Column, Kind, Table};
use std::fmt::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Updates the tables of all pages of a folder that have markers for them.
pub fn write(folder: &Path, reports: &[Report], around: &Around) -> Result<()> {
    let fault = |path: &Path, e: std::io::Error| Failure::Content(format!("{}: {e}", path.display()));
    let entries = std::fs::read_dir(folder).map_err(|e| fault(folder, e))?;
    let mut pages: Vec<PathBuf> = entries.filter_map(|e| e.ok().map(|e| e.path())).collect();
    pages.retain(|p| p.extension().is_some_and(|e| e == "md"));
    pages.sort();
    let known: Vec<String> = tables::all()?.into_iter().map(|table| table.id).collect();
    for page in pages {
        let old = std::fs::read_to_string(&page).map_err(|e| fault(&page, e))?;
        let one = |page: String, report: &Report| updated(&page, &report.id, &short(report, around));
        let new = reports.iter().fold(old.clone(), one);
        let new = updated(&new, "summary", &summary(&new, reports, &known));
        if new != old {
            std::fs::write(&page, new).map_err(|e| fault(&page, e))?;
        }
    }
    Ok(())
}

/// Range of the content between the markers of a name.
fn place(page: &str, name: &str) -> Option<Range<usize>> {
    let begin = format!("<!-- begin {name} -->\n");
    let start = page.find(&begin)? + begin.len();
    let length = page[start..].find(&format!("<!-- end {name} -->"))?;
    Some(start..start + length)
}

/// The page with new content between the markers of a name.
fn updated(page: &str, name: &str, content: &str) -> String {
    let Some(old) = place(page, name) else { return page.to_string() };
    format!("{}{content}{}", &page[..old.start], &page[old.end..])
}

const HEAD: &str = "\nEach line is from the last run of its table; the page of the table has the command.\n\n\
    | table | run | reproduced | better | worse | different | not judged | missing | not run | rates met | of rates | unexplained |\n\
    |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n";

/// Verdict counts of all tables, one line per table; lines of tables that are not among the reports do not change.
fn summary(page: &str, reports: &[Report], known: &[String]) -> String {
    let mut lines = place(page, "summary").map(|old| counted(&page[old])).unwrap_or_default();
    lines.retain(|(id, _)| known.contains(id));
    for report in reports.iter().filter(|r| r.table.is_some()) {
        let c = &report.counts;
        let counts = [
            c.cells_run,
            c.cells_reproduced,
            c.cells_better,
            c.cells_worse,
            c.cells_different,
            c.cells_not_judged,
            c.cells_missing,
            c.cells_not_run,
            c.accuracy_met,
            c.accuracy_cells,
            c.accuracy_unexplained,
        ];
        match lines.iter_mut().find(|(id, _)| *id == report.id) {
            Some((_, old)) => *old = counts,
            None => lines.push((report.id.clone(), counts)),
        }
    }
    let mut out = String::from(HEAD);
    let mut all = [0; COUNTS];
    for (id, counts) in &lines {
        line(&format!("`{id}`"), counts, &mut out);
        all.iter_mut().zip(counts).for_each(|(sum, c)| *sum += c);
    }
    line("**all**", &all, &mut out);
    let [.., met, rates, unexplained] = all;
    let share = 100.0 * met as f64 / rates.max(1) as f64;
    let others = rates.saturating_sub(met);
    let _ = writeln!(
        out,
        "\n{met} of {rates} published rates are met, {share:.1} %; {unexplained} of the other {others} have no explanation.\n"
    );
    out
}

const COUNTS: usize = 11;

/// Lines of an earlier summary.
fn counted(summary: &str) -> Vec<(String, [usize; COUNTS])> {
    let one = |line: &str| {
        let (id, counts) = line.strip_prefix("| `")?.split_once("` | ")?;
        let counts: Option<Vec<usize>> =
            counts.strip_suffix(" |")?.split(" | ").map(|c| c.parse().ok()).collect();
        Some((id.to_string(), counts?.try_into().ok()?))
    };
    summary.lines().filter_map(one).collect()
}

fn line(name: &str, counts: &[usize], out: &mut String) {
    let cells: Vec<String> = counts.iter().map(ToString::to_string).collect();
    let _ = writeln!(out, "| {name} | {} |", cells.join(" | "));
}

/// Rates of a table, or the notes of a statement.
fn short(report: &Report, around: &Around) -> String {
    let how = format!("from `{}`, seed {}, {}", around.command_for(&report.id), around.seed, around.day);
    let Some(table) = &report.table else {
        return format!("\n{}. {how}.\n\n{}\n\n", report.title, report.notes.trim());
    };
    let mut out =
        format!("\n**{}.** Published → ours; {how}: {}.\n\n", table.title, text::tally(&report.counts));
    for metric in shown(table, &report.cells) {
        grid(table, &report.cells, &metric, &mut out);
    }
    out
}

/// Rates of a published table if there are any, otherwise all measures.
fn shown(table: &Table, cells: &[Judged]) -> Vec<String> {
    let any = table.kind == Kind::Published && table.columns.iter().any(Column::is_accuracy);
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

/// Text such as `94.64 → 76.95 ▼`, with the sign if the measured value is worse.
fn cell(j: &Judged) -> String {
    let digits = text::digits_of(j);
    let ours = j.summary().map_or_else(|| "–".to_string(), |(mean, _)| format!("{mean:.digits$}"));
    let sign = if j.verdict == Verdict::Worse { " ▼" } else { "" };
    format!("{} → {ours}{sign}", j.cell.printed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::Counts;

    #[test]
    fn update_changes_only_the_text_between_markers() {
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
        let new = updated(page, "x", &short(&report, &around));
        assert!(
            new.starts_with("a\n<!-- begin x -->\n\nSo it is.")
                && new.ends_with("<!-- end x -->\nb\n<!-- begin y -->\n<!-- end y -->\n")
        );
        assert!(!new.contains("old") && new.contains("`evermargin-reproduce x --slow`"));
        assert_eq!(updated(&new, "x", &short(&report, &around)), new);
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("p.md"), page).unwrap();
        write(folder.path(), &[report], &around).unwrap();
        assert_eq!(std::fs::read_to_string(folder.path().join("p.md")).unwrap(), new);
    }

    #[test]
    fn statements_show_all_measures_and_published_tables_their_rates() {
        let of = |kind: Kind| {
            let table = Table { kind, ..tables::find("ertekin-nc-chosen").unwrap() };
            let cells = crate::judge::judge(&table, &crate::findings::Findings::default(), |_, _| true);
            shown(&table, &cells)
        };
        assert_eq!(of(Kind::Statement), ["accuracy", "support_count"]);
        assert_eq!(of(Kind::Published), ["accuracy"]);
    }

    #[test]
    fn summary_keeps_lines_of_tables_that_were_not_run() {
        let mut all = tables::all().unwrap();
        let known: Vec<String> = all.iter().map(|table| table.id.clone()).collect();
        let (table, other) = (all.remove(0), &known[1]);
        let id = table.id.clone();
        let counts = Counts { cells_run: 5, accuracy_cells: 4, accuracy_met: 3, ..Counts::default() };
        let report = Report {
            id: id.clone(),
            title: table.title.clone(),
            table: Some(table),
            cells: Vec::new(),
            figures: Vec::new(),
            notes: String::new(),
            counts,
        };
        let old = format!(
            "<!-- begin summary -->\n{HEAD}| `{other}` | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 1 |\n\
             | `{id}` | 9 | 9 | 9 | 9 | 9 | 9 | 9 | 9 | 9 | 9 | 9 |\n\
             | `gone` | 9 | 9 | 9 | 9 | 9 | 9 | 9 | 9 | 9 | 9 | 9 |\n<!-- end summary -->"
        );
        let new = updated(&old, "summary", &summary(&old, std::slice::from_ref(&report), &known));
        let kept = format!("| `{other}` | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 1 |");
        assert!(new.contains(&kept) && !new.contains("gone"), "{new}");
        assert!(new.contains(&format!("| `{id}` | 5 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 3 | 4 | 0 |")), "{new}");
        assert!(new.contains("| **all** | 6 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 12 | 14 | 1 |"), "{new}");
        assert!(new.contains("12 of 14 published rates are met, 85.7 %; 1 of the other 2 have no"), "{new}");
        assert_eq!(updated(&new, "summary", &summary(&new, &[report], &known)), new);
    }
}
