//! Section of a table in the HTML page: a grid of published and measured values per measure, curves, explanations, protocol.

use super::chart::{escaped, svg};
use super::{html, markdown, text};
use crate::judge::{Judged, Verdict};
use crate::run::Report;
use crate::tables::{Kind, Table};
use crate::work::duration;
use std::fmt::Write;

/// Appends the section of a table or statement.
pub(super) fn page(report: &Report, out: &mut String) {
    let _ = writeln!(
        out,
        "<section id=\"{}\">\n<p class=\"back\"><a href=\"#summary\">all tables</a></p>\n<h2>{}</h2>\n<p>{}</p>",
        escaped(&report.id),
        escaped(&report.id),
        escaped(&report.title)
    );
    if let Some(table) = &report.table {
        source(table, out);
        let _ = writeln!(out, "<p>{} {}</p>", html::bar(&report.counts), duration(report.counts.seconds));
        for metric in metrics(table) {
            grid(table, &report.cells, metric, out);
        }
        let ranks = markdown::ranks_of(table, &report.cells);
        if !ranks.is_empty() {
            let _ = writeln!(out, "<div class=\"notes scroll\">{}</div>", rendered(&ranks));
        }
        reasons(table, &report.cells, out);
        remarks(&report.cells, out);
    }
    for figure in &report.figures {
        let _ = writeln!(
            out,
            "<figure>{}<figcaption>{}</figcaption></figure>",
            svg(figure),
            escaped(&figure.title)
        );
    }
    if !report.notes.is_empty() {
        let _ = writeln!(out, "<div class=\"notes scroll\">{}</div>", rendered(&report.notes));
    }
    if let Some(table) = &report.table {
        protocol(table, &report.cells, out);
    }
    out.push_str("</section>\n");
}

fn source(table: &Table, out: &mut String) {
    let kind = match table.kind {
        Kind::Published => "",
        Kind::Prototype => " The numbers are those of an independent prototype; the work prints none.",
        Kind::Statement => {
            " The work says it in words or figures; the numbers here put its words into figures."
        }
    };
    let place = match table.source.lines {
        [0, 0] => String::new(),
        [first, last] if first == last => format!(", line {first} of its text"),
        [first, last] => format!(", lines {first} to {last} of its text"),
    };
    let _ = writeln!(out, "<p class=\"source\">{}{place}.{kind}</p>", escaped(&table.source.work));
}

fn metrics(table: &Table) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    for column in &table.columns {
        if !found.contains(&column.metric.as_str()) {
            found.push(&column.metric);
        }
    }
    found
}

/// Grid of rows and methods for one measure: measured value with its spread, published value, and colored difference.
fn grid(table: &Table, cells: &[Judged], metric: &str, out: &mut String) {
    let of: Vec<&Judged> = cells.iter().filter(|j| j.column.metric == metric).collect();
    let Some(first) = of.first() else { return };
    let mut methods: Vec<&str> = Vec::new();
    for column in table.columns.iter().filter(|c| c.metric == metric) {
        if of.iter().any(|j| j.column == *column) {
            methods.push(&column.method);
        }
    }
    let name = if metric == "seconds" { "processor time".into() } else { metric.replace('_', " ") };
    let _ = write!(
        out,
        "<div class=\"scroll\"><table class=\"grid\">\n<caption>{}{}</caption>\n<thead><tr><th></th>",
        escaped(&name),
        text::unit(first.column.unit)
    );
    for method in &methods {
        let _ = write!(out, "<th>{}</th>", escaped(method));
    }
    out.push_str("</tr></thead>\n");
    for row in table.rows.iter().filter(|r| of.iter().any(|j| j.data_set == r.name)) {
        let here: Vec<&Judged> = of.iter().copied().filter(|j| j.data_set == row.name).collect();
        let _ = write!(out, "<tr><th>{}</th>", escaped(&row.name));
        for method in &methods {
            match here.iter().find(|j| j.column.method == *method) {
                Some(cell) => one(cell, &here, table.kind, out),
                None => out.push_str("<td class=\"none\"></td>"),
            }
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table></div>\n");
}

fn one(cell: &Judged, row: &[&Judged], kind: Kind, out: &mut String) {
    let [_, _, _, published, ours, difference, ..] = text::line(cell);
    let (class, sign) = meaning(cell.verdict);
    let why = [cell.remark.as_str(), &cell.explanation].join(" ");
    let _ = write!(out, "<td class=\"{class}\"");
    if !why.trim().is_empty() {
        let _ = write!(out, " title=\"{}\"", escaped(why.trim()));
    }
    let ours = if cell.ours.is_empty() { "" } else { ours.as_str() };
    let _ = write!(
        out,
        "><b>{}</b> <span class=\"sign\">{sign}</span><br><small>{} {}",
        escaped(ours),
        whose(kind),
        escaped(&published)
    );
    if !difference.is_empty() {
        let _ = write!(out, ", {}", escaped(&difference));
    }
    if let Some(times) = times(cell, row) {
        let _ = write!(out, "<br>{times}");
    }
    out.push_str("</small></td>");
}

fn whose(kind: Kind) -> &'static str {
    match kind {
        Kind::Published => "print",
        Kind::Prototype => "prototype",
        Kind::Statement => "said",
    }
}

/// Ratio of a time to the smallest time of the row, measured and published, because ratios are more comparable between machines.
fn times(cell: &Judged, row: &[&Judged]) -> Option<String> {
    if cell.column.metric != "seconds" || row.len() < 2 {
        return None;
    }
    let both: Vec<(f64, f64)> = row
        .iter()
        .filter_map(|j| Some((j.summary()?.0, j.cell.target())))
        .filter(|b| b.0 > 0.0 && b.1 > 0.0)
        .collect();
    let least = both.iter().fold([f64::INFINITY; 2], |m, b| [m[0].min(b.0), m[1].min(b.1)]);
    let ours = cell.summary()?.0;
    (both.len() > 1 && ours > 0.0)
        .then(|| format!("{:.1} × the least, print {:.1} ×", ours / least[0], cell.cell.target() / least[1]))
}

fn meaning(verdict: Verdict) -> (&'static str, &'static str) {
    match verdict {
        Verdict::Reproduced => ("reproduced", "="),
        Verdict::Better => ("better", "▲"),
        Verdict::Worse => ("worse", "▼"),
        Verdict::Different => ("different", "≠"),
        Verdict::Missing => ("missing", "∅"),
        Verdict::NotRun => ("not-run", "–"),
        Verdict::NotJudged => ("not-judged", "·"),
    }
}

/// Explanations of worse cells; equal texts are merged.
fn reasons(table: &Table, cells: &[Judged], out: &mut String) {
    let counted = |c: &Judged| table.kind == Kind::Published && c.is_accuracy();
    let told = |c: &&Judged| c.verdict == Verdict::Worse && (counted(c) || !c.explanation.is_empty());
    let why = |c: &Judged| match c.explanation.as_str() {
        "" => "not explained".to_string(),
        known => known.to_string(),
    };
    together("Worse than print", cells.iter().filter(told).map(|c| (c, why(c))), out);
}

/// Remarks on cells.
fn remarks(cells: &[Judged], out: &mut String) {
    let told = cells.iter().filter(|c| !c.remark.is_empty()).map(|c| (c, c.remark.clone()));
    together("Remarks on cells", told, out);
}

/// A list of texts, each with its cells.
fn together<'c>(title: &str, told: impl Iterator<Item = (&'c Judged, String)>, out: &mut String) {
    let mut remarks: Vec<(String, Vec<String>)> = Vec::new();
    for (cell, text) in told {
        let name =
            format!("{} {} {}", cell.data_set, cell.column.method, cell.column.metric.replace('_', " "));
        match remarks.iter_mut().find(|(known, _)| *known == text) {
            Some((_, names)) => names.push(name),
            None => remarks.push((text, vec![name])),
        }
    }
    if remarks.is_empty() {
        return;
    }
    let _ = writeln!(out, "<h3>{title}</h3>\n<ul>");
    for (text, names) in remarks {
        let _ = writeln!(out, "<li><b>{}</b>: {}</li>", escaped(&names.join("; ")), escaped(&text));
    }
    out.push_str("</ul>\n");
}

fn protocol(table: &Table, cells: &[Judged], out: &mut String) {
    out.push_str("<details open><summary>Protocol and remarks</summary>\n");
    if !table.protocol.is_empty() {
        let _ = writeln!(out, "<p>{}</p>", escaped(&table.protocol));
    }
    if !table.remarks.is_empty() {
        let items: Vec<String> = table.remarks.iter().map(|r| format!("<li>{}</li>", escaped(r))).collect();
        let _ = writeln!(out, "<ul>{}</ul>", items.join(""));
    }
    let rows: Vec<_> = table
        .rows
        .iter()
        .filter(|r| cells.iter().any(|j| j.data_set == r.name))
        .filter(|r| !r.protocol.is_empty() || !r.remarks.is_empty())
        .collect();
    if !rows.is_empty() {
        out.push_str("<div class=\"scroll\"><table class=\"list\"><thead><tr><th>data set</th><th>how</th><th>remarks</th></tr></thead>\n");
        for row in rows {
            let _ = writeln!(
                out,
                "<tr><th>{}</th><td class=\"words\">{}</td><td class=\"words\">{}</td></tr>",
                escaped(&row.name),
                escaped(&markdown::protocol(&row.protocol)),
                escaped(&row.remarks.join("; "))
            );
        }
        out.push_str("</table></div>\n");
    }
    out.push_str("</details>\n");
}

/// Converts Markdown to HTML; HTML within it is escaped.
fn rendered(notes: &str) -> String {
    use pulldown_cmark::{Event, Options, Parser};
    let events = Parser::new_ext(notes, Options::ENABLE_TABLES).map(|event| match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        other => other,
    });
    let mut out = String::new();
    pulldown_cmark::html::push_html(&mut out, events);
    out
}
