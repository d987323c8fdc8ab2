//! Report as sections of a Markdown file, one per table. Each section is between two comments, so that it can be replaced
//! without changing the others.

use crate::failure::{Failure, Result};
use crate::judge::{Counts, Judged};
use crate::run::Report;
use crate::show::{Around, text};
use crate::tables::{Better, Protocol, Row, Table};
use evermargin::metrics::{mean_ranks, ranks, wilcoxon};
use std::fmt::Write;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Minimum numbers of methods and rows for a comparison by ranks.
const RANKED: (usize, usize) = (3, 10);

/// Maximum difference of results that counts as equal.
const EQUAL: f64 = 1e-9;

/// Text of a section: the command, all cells, ranks if methods are compared on many rows, remarks.
pub fn section(name: &str, report: &Report, around: &Around) -> String {
    let mut out = format!("## {name}\n\n{}.\n\n", report.title);
    let command = around.command_for(&report.id);
    let _ =
        writeln!(out, "`{command}`, seed {}, {}, {:.0} s.\n", around.seed, around.day, report.counts.seconds);
    if let Some(table) = &report.table {
        cells(table, &report.cells, &report.counts, &mut out);
    }
    out.push_str(&report.notes);
    out
}

fn cells(table: &Table, judged: &[Judged], counts: &Counts, out: &mut String) {
    let _ = writeln!(out, "**{}.**\n", text::tally(counts));
    if !table.protocol.is_empty() {
        let _ = writeln!(out, "{}\n", table.protocol);
    }
    let rows: Vec<&Row> =
        table.rows.iter().filter(|row| judged.iter().any(|j| j.data_set == row.name)).collect();
    if rows.iter().any(|row| !row.protocol.is_empty() || !row.remarks.is_empty()) {
        out.push_str("| data set | protocol | remarks |\n|---|---|---|\n");
        for row in &rows {
            let how = protocol(&row.protocol);
            let _ = writeln!(out, "| {} | {how} | {} |", row.name, row.remarks.join("; "));
        }
    }
    out.push_str(
        "\n| data set | method | measure | published | ours | runs | difference | verdict | remark |\n",
    );
    out.push_str("|---|---|---|--:|--:|--:|--:|---|---|\n");
    for j in judged {
        let [data_set, method, measure, published, ours, difference, verdict, remark] = text::line(j);
        let runs = j.ours.len();
        let _ = writeln!(
            out,
            "| {data_set} | {method} | {measure} | {published} | {ours} | {runs} | {difference} | {verdict} | {remark} |"
        );
    }
    out.push('\n');
    for remark in &table.remarks {
        let _ = writeln!(out, "- {remark}");
    }
    compare(table, &rows, judged, out);
}

fn scaling_name(p: &Protocol) -> String {
    let name = serde_json::to_value(p.scaling).ok().and_then(|v| v.as_str().map(String::from));
    name.unwrap_or_default()
}

/// Short text of the protocol of a row.
pub(crate) fn protocol(p: &Protocol) -> String {
    if p.is_empty() {
        return String::new();
    }
    let split = serde_json::to_value(p.split).ok().and_then(|v| v.as_str().map(String::from));
    let scaling = scaling_name(p);
    let test = p.test.map_or_else(|| "?".into(), |n| n.to_string());
    let mut text = format!(
        "{}/{test} {}, scaling {}, C {}, γ {}, τ {}",
        p.train,
        split.unwrap_or_default(),
        scaling,
        p.c,
        p.gamma,
        p.tolerance
    );
    if let Some(few) = &p.few {
        text = format!("{} of {} labeled, {} kernel", few.labeled, p.train, p.kernel);
        match few.kappa {
            Some(kappa) => {
                let _ = write!(text, ", C {}, C*/C {kappa:e}, scaling {}", p.c, scaling_name(p));
                if let Some(rho) = few.rho {
                    let _ = write!(text, ", polished with ρ {rho}");
                }
                if few.center == Some(false) {
                    text.push_str(", not centered");
                }
            }
            None => {
                let _ = write!(text, ", λ {}, λ' {}", few.lambda.unwrap_or(0.0), few.lambda_u);
            }
        }
    }
    if p.noise > 0.0 {
        let _ = write!(text, ", {} % of the labels wrong", 100.0 * p.noise);
    }
    if let Some(ratio) = p.imbalance {
        let _ = write!(text, ", positives thinned to 1:{ratio}");
    }
    text
}

/// Ranks of methods on the rows that were run, as Markdown; empty if there are too few methods or rows.
pub(crate) fn ranks_of(table: &Table, judged: &[Judged]) -> String {
    let rows: Vec<&Row> =
        table.rows.iter().filter(|row| judged.iter().any(|j| j.data_set == row.name)).collect();
    let mut out = String::new();
    compare(table, &rows, judged, &mut out);
    out
}

/// Published and measured ranks of methods by each measure, and tests of the last method against the others, on the rows that
/// have both.
fn compare(table: &Table, rows: &[&Row], judged: &[Judged], out: &mut String) {
    let mut metrics: Vec<&str> = Vec::new();
    for column in table.columns.iter().filter(|c| c.judged && c.better == Better::Higher) {
        if !metrics.contains(&column.metric.as_str()) {
            metrics.push(&column.metric);
        }
    }
    for metric in metrics {
        let columns: Vec<usize> =
            (0..table.columns.len()).filter(|&c| table.columns[c].metric == metric).collect();
        let mut compared: Vec<(&str, Vec<f64>, Vec<f64>)> = Vec::new();
        for row in rows {
            let cells = columns
                .iter()
                .map(|&c| judged.iter().find(|j| j.data_set == row.name && j.column == table.columns[c]));
            let Some(cells) = cells.collect::<Option<Vec<_>>>() else { continue };
            let published = cells.iter().map(|j| j.cell.target()).collect();
            let ours: Option<Vec<f64>> = cells.iter().map(|j| j.summary().map(|s| s.0)).collect();
            compared.extend(ours.map(|ours| (row.name.as_str(), published, ours)));
        }
        if columns.len() >= RANKED.0 && compared.len() >= RANKED.1 {
            let methods: Vec<&str> = columns.iter().map(|&c| table.columns[c].method.as_str()).collect();
            ranked(metric, &methods, &compared, out);
        }
    }
}

fn ranked(metric: &str, methods: &[&str], rows: &[(&str, Vec<f64>, Vec<f64>)], out: &mut String) {
    let _ = writeln!(out, "\n### Ranks by {metric}, {} data sets (published → ours)\n", rows.len());
    let _ = writeln!(out, "| data set | {} |\n|---|{}", methods.join(" | "), "--:|".repeat(methods.len()));
    let line = |name: &str, cells: Vec<String>| format!("| {name} | {} |\n", cells.join(" | "));
    for (name, published, ours) in rows {
        if let (Some(a), Some(b)) = (ranks(published, EQUAL), ranks(ours, EQUAL)) {
            out.push_str(&line(name, a.iter().zip(&b).map(|(a, b)| format!("{a} → {b}")).collect()));
        }
    }
    let published: Vec<&[f64]> = rows.iter().map(|r| r.1.as_slice()).collect();
    let ours: Vec<&[f64]> = rows.iter().map(|r| r.2.as_slice()).collect();
    if let (Some(a), Some(b)) = (mean_ranks(&published, EQUAL), mean_ranks(&ours, EQUAL)) {
        let cells = a.iter().zip(&b).map(|(a, b)| format!("**{a:.2} → {b:.2}**"));
        out.push_str(&line("mean rank", cells.collect()));
    }
    let mean = |of: &[&[f64]], m: usize| of.iter().map(|r| r[m]).sum::<f64>() / of.len() as f64;
    let means = (0..methods.len()).map(|m| format!("{:.2} → {:.2}", mean(&published, m), mean(&ours, m)));
    out.push_str(&line(&format!("mean {metric}"), means.collect()));
    let last = methods.len() - 1;
    let p = |of: &[&[f64]], m: usize| {
        let side = |m: usize| of.iter().map(|r| r[m]).collect::<Vec<_>>();
        wilcoxon(&side(last), &side(m), EQUAL).map_or_else(|| "-".into(), |t| format!("{:.4}", t.p))
    };
    let tests = (0..last).map(|m| format!("{} → {}", p(&published, m), p(&ours, m)));
    let tests: Vec<String> = tests.chain([String::new()]).collect();
    out.push_str(&line(&format!("Wilcoxon p, {} against it", methods[last]), tests));
}

/// Mean and standard deviation with the given number of decimals.
pub fn spread(values: &[f64], decimals: usize) -> String {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let sd = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0)).sqrt();
    if values.len() > 1 {
        format!("{mean:.decimals$} ± {sd:.decimals$}")
    } else {
        format!("{mean:.decimals$}")
    }
}

/// Writes a section into a file: replaces the section with this name, or appends it.
pub fn write(path: &Path, name: &str, section: &str) -> Result<()> {
    let fault = |e: std::io::Error| Failure::Content(format!("{}: {e}", path.display()));
    let old = if path.exists() { std::fs::read_to_string(path).map_err(fault)? } else { String::new() };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(fault)?;
    }
    std::fs::write(path, replaced(&old, name, section)).map_err(fault)
}

fn replaced(old: &str, name: &str, section: &str) -> String {
    let (begin, end) = (format!("<!-- begin {name} -->\n"), format!("<!-- end {name} -->\n"));
    let section = format!("{begin}{}\n{end}", section.trim_end().to_string() + "\n");
    match (old.find(&begin), old.find(&end)) {
        (Some(a), Some(b)) if a < b => format!("{}{section}{}", &old[..a], &old[b + end.len()..]),
        _ if old.is_empty() => section,
        _ => format!("{}\n\n{section}", old.trim_end()),
    }
}

/// Current date as year-month-day (Howard Hinnant's algorithm for civil dates).
pub fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let days = (seconds / 86_400) as i64 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let (day, month) =
        (of_year - (153 * shifted + 2) / 5 + 1, if shifted < 10 { shifted + 3 } else { shifted - 9 });
    format!("{:04}-{month:02}-{day:02}", year + 400 * era + i64::from(month <= 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn section_has_the_command_and_all_cells() {
        let mut wanted = crate::tables::find("ertekin-waveform-imbalance").unwrap();
        wanted.rows.truncate(1);
        wanted.rows[0].protocol.train = 300;
        let options = crate::run::Options { repetitions: Some(2), ..Default::default() };
        let judged = crate::run::run(&wanted, &options, &|_| ()).unwrap();
        let report = Report {
            id: wanted.id.clone(),
            title: wanted.title.clone(),
            counts: Counts::of(wanted.kind, &judged, 1.0),
            table: Some(wanted),
            cells: judged,
            figures: Vec::new(),
            notes: "And so on.\n".into(),
        };
        let options = vec!["--slow".to_string()];
        let around = Around { tables: Vec::new(), options, seed: 7, day: "today".into() };
        let text = section("here", &report, &around);
        let command = format!("`evermargin-reproduce {} --slow`, seed 7, today", report.id);
        assert!(text.starts_with("## here") && text.contains(&command), "{text}");
        assert_eq!(text.lines().filter(|l| l.contains("g_means %")).count(), 5);
        assert!(text.contains("positives thinned to 1:2"), "{text}");
    }

    #[test]
    fn ranks_count_wins() {
        let row = |name, a, b| (name, vec![a, b], vec![b, a]);
        let rows = [row("x", 1.0, 2.0), row("y", 3.0, 5.0)];
        let mut out = String::new();
        ranked("prbep", &["A", "B"], &rows, &mut out);
        assert!(out.contains("| x | 2 → 1 | 1 → 2 |"), "{out}");
        assert!(out.contains("| mean rank | **2.00 → 1.00** | **1.00 → 2.00** |"), "{out}");
    }

    #[test]
    fn sections_are_replaced_in_place() {
        let one = replaced("", "a", "first");
        let two = replaced(&one, "b", "second");
        let three = replaced(&two, "a", "changed");
        assert!(three.contains("changed") && three.contains("second") && !three.contains("first"));
        assert!(three.find("changed") < three.find("second"));
        assert_eq!(replaced(&three, "a", "changed"), three);
    }

    #[test]
    fn date_has_the_form_year_month_day() {
        let day = today();
        assert_eq!(day.len(), 10);
        assert!(day.as_str() > "2020-01-01");
        assert_eq!(spread(&[1.0, 3.0], 1), "2.0 ± 1.4");
    }
}
