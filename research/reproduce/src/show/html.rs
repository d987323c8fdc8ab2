//! Report as one self-contained HTML page: a summary, and a section per table that opens in place of the summary. Without newer
//! CSS selectors, and on paper, all sections are shown one after the other.

use super::chart::escaped;
use super::{Around, page};
use crate::failure::{Failure, Result};
use crate::judge::Counts;
use crate::keep::{code, processor};
use crate::run::Report;
use crate::work::duration;
use std::fmt::Write;
use std::path::Path;

const STYLE: &str = include_str!("report.css");

/// Checks before the work that the page can be written.
pub fn check(file: &Path) -> Result<()> {
    let folder = file.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (file.is_dir(), folder.is_dir()) {
        (true, _) => Err(Failure::Unknown(format!("--report {}: this is a folder", file.display()))),
        (_, false) => {
            Err(Failure::Unknown(format!("--report {}: the folder does not exist", file.display())))
        }
        (false, true) => Ok(()),
    }
}

/// Writes the page atomically.
pub fn write(file: &Path, reports: &[Report], sum: &Counts, around: &Around) -> Result<()> {
    Ok(evermargin_io::write_atomic(file, document(reports, sum, around).as_bytes())?)
}

/// Text of the page.
pub fn document(reports: &[Report], sum: &Counts, around: &Around) -> String {
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>evermargin: published tables, reproduced</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n"
    );
    summary(reports, sum, around, &mut out);
    for report in reports {
        page::page(report, &mut out);
    }
    out.push_str("</body>\n</html>\n");
    out
}

fn summary(reports: &[Report], sum: &Counts, around: &Around, out: &mut String) {
    out.push_str("<section id=\"summary\">\n<h1>Published tables, reproduced</h1>\n<div class=\"tiles\">\n");
    for (class, word, count) in shares(sum) {
        let _ = writeln!(out, "<div class=\"tile {class}\"><b>{count}</b> {word}</div>");
    }
    out.push_str("</div>\n");
    if sum.accuracy_cells > 0 {
        let share = 100.0 * sum.accuracy_met as f64 / sum.accuracy_cells as f64;
        let _ = writeln!(
            out,
            "<p class=\"headline\"><b>{share:.1} %</b> of the published rates that were run ({} of {}) are at print or above, less the \
             tolerance of the cell: one point or one printed standard deviation.{}</p>",
            sum.accuracy_met,
            sum.accuracy_cells,
            rest(sum)
        );
    }
    let _ = writeln!(
        out,
        "<p class=\"around\">evermargin {} (code {}), {}, {}. <code>{}</code>, seed {}; {} in all; pieces finished before are \
         taken as they were kept.</p>",
        env!("CARGO_PKG_VERSION"),
        code(),
        escaped(&around.day),
        escaped(&machine()),
        escaped(&around.command()),
        around.seed,
        duration(sum.seconds)
    );
    out.push_str(
        "<div class=\"scroll\"><table class=\"list\">\n<thead><tr><th>table</th><th>cells</th><th>rates met</th><th>shows</th></tr></thead>\n",
    );
    for report in reports {
        let rates = match report.counts.accuracy_cells {
            0 => String::new(),
            all => format!("{} of {all}", report.counts.accuracy_met),
        };
        let _ = writeln!(
            out,
            "<tr><th><a href=\"#{0}\">{0}</a></th><td>{1}</td><td>{rates}</td><td class=\"words\">{2}</td></tr>",
            escaped(&report.id),
            bar(&report.counts),
            escaped(&report.title)
        );
    }
    out.push_str("</table></div>\n");
    out.push_str(
        "<p class=\"legend\"><b>= reproduced</b>: our mean lies within the tolerance of print. <b>▲ better</b>, <b>▼ worse</b>: outside, on \
         that side. <b>≠ different</b>: outside, where no side is good. <b>∅ missing</b>: the data cannot be had. <b>– not run</b>: left \
         out, with the reason. <b>· not judged</b>: measured, but a difference means nothing (seconds on other hardware, substitutes for \
         methods that are not built).</p>\n</section>\n",
    );
}

fn rest(sum: &Counts) -> String {
    match (sum.accuracy_cells - sum.accuracy_met, sum.accuracy_unexplained) {
        (0, _) => String::new(),
        (others, 0) => {
            format!(" Each of the other {others} has a written explanation on the page of its table.")
        }
        (others, without) => {
            format!(
                " Of the other {others}, {} have a written explanation, {without} have none.",
                others - without
            )
        }
    }
}

/// Class, word and count of each verdict.
fn shares(counts: &Counts) -> [(&'static str, &'static str, usize); 7] {
    [
        ("reproduced", "reproduced", counts.cells_reproduced),
        ("better", "better", counts.cells_better),
        ("worse", "worse", counts.cells_worse),
        ("different", "different", counts.cells_different),
        ("not-judged", "not judged", counts.cells_not_judged),
        ("missing", "missing", counts.cells_missing),
        ("not-run", "not run", counts.cells_not_run),
    ]
}

/// A bar divided by verdicts.
pub(super) fn bar(counts: &Counts) -> String {
    let all: usize = shares(counts).iter().map(|s| s.2).sum();
    if all == 0 {
        return "<span class=\"words\">statement</span>".into();
    }
    let mut out = String::from("<span class=\"bar\">");
    for (class, word, count) in shares(counts).into_iter().filter(|s| s.2 > 0) {
        let _ = write!(
            out,
            "<i class=\"{class}\" style=\"flex-grow:{count}\" title=\"{count} {word}\">{count}</i>"
        );
    }
    out.push_str("</span>");
    out
}

/// Name of the processor, if the system provides it, and the number of its threads.
fn machine() -> String {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{}, {threads} threads, {}", processor(), std::env::consts::OS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::{Figure, Series};
    use crate::run::{Bench, Options};
    use crate::tables::find;

    fn report() -> Report {
        let mut table = find("ertekin-waveform-imbalance").unwrap();
        table.rows.truncate(2);
        table.rows.iter_mut().for_each(|r| r.protocol.train = 300);
        table.remarks.push("1 < 2 & \"so on\"".into());
        let options = Options { repetitions: Some(1), ..Options::default() };
        let cells = Bench::new(&options, &|_| ()).table(&table).unwrap();
        let series = vec![Series { name: "x".into(), points: vec![[1.0, 2.0], [2.0, 3.0]] }];
        let [x, y, title] = ["rows", "s", "Growth"].map(String::from);
        Report {
            id: table.id.clone(),
            title: table.title.clone(),
            counts: Counts::of(table.kind, &cells, 1.0),
            cells,
            figures: vec![Figure { title, x, y, log_x: false, log_y: false, series }],
            notes: "A **note**.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n".into(),
            table: Some(table),
        }
    }

    fn around() -> Around {
        Around { tables: vec!["<x>".into()], options: Vec::new(), seed: 1, day: "2026-01-01".into() }
    }

    #[test]
    fn page_is_complete_and_needs_no_network() {
        let report = report();
        let text = document(std::slice::from_ref(&report), &report.counts, &around());
        for part in [
            "<!DOCTYPE html>",
            "viewport",
            "<svg",
            "<strong>note</strong>",
            "id=\"ertekin-waveform-imbalance\"",
            "@media print",
        ] {
            assert!(text.contains(part), "{part}");
        }
        assert!(text.contains("1 &lt; 2 &amp; &quot;so on&quot;") && text.contains("&lt;x&gt;"));
        let own = text.replace("http://www.w3.org/2000/svg", "");
        assert!(
            !own.contains("http://")
                && !own.contains("https://")
                && !own.contains("<script")
                && !own.contains("@import")
        );
        for tag in ["section", "table", "div", "svg", "tr", "td", "th", "span", "details"] {
            let (open, close) = (format!("<{tag}"), format!("</{tag}>"));
            let opened =
                text.match_indices(&open).filter(|(i, _)| text[i + open.len()..].starts_with([' ', '>']));
            assert_eq!(opened.count(), text.matches(&close).count(), "{tag}");
        }
        assert_eq!(text, document(std::slice::from_ref(&report), &report.counts, &around()));
    }

    #[test]
    fn page_is_written_or_the_path_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("out.html");
        check(&file).unwrap();
        write(&file, &[], &Counts::default(), &around()).unwrap();
        assert!(std::fs::read_to_string(&file).unwrap().contains("</html>"));
        assert!(check(folder.path()).is_err() && check(&folder.path().join("deep/out.html")).is_err());
        assert!(write(folder.path(), &[], &Counts::default(), &around()).is_err());
    }
}
