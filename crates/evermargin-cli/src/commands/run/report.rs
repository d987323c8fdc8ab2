//! The page about a run: a self-contained file with curves and numbers.

use super::chart::{Chart, Curve};
use super::label_sources;
use super::progress_line::{ProgressLine, peak_memory};
use crate::output::console::short;
use crate::output::heatmap::{escaped, page};
use evermargin_session::{Session, StatisticsPoint, StreamStatistics};
use std::fmt::Write;

const OWN: &str = "#1f6fb4";
const OTHER: &str = "#e08214";
const THIRD: &str = "#4d9221";

/// Maximum number of batches that are averaged in a point of a curve.
const WINDOW: usize = 10;

/// The page; `more` is inserted after the summary in words.
pub fn page_of(session: &Session, progress: &ProgressLine<'_>, more: &str) -> String {
    let mut body = String::from("<h1>evermargin run</h1>\n");
    let _ = writeln!(body, "<p>{}</p>", escaped(&in_words(session)));
    let _ = writeln!(body, "<p>{}.</p>", escaped(&label_sources::explanation(session.engine())));
    body.push_str(more);
    let drifts: Vec<f64> = progress.drifts.iter().map(|b| *b as f64).collect();
    for chart in [
        against_labels(session),
        over_batches(session, &drifts),
        label_sources::chart(session),
        remembered(session, &drifts),
        times(progress),
        memory(progress),
        cost(session),
    ] {
        let _ = writeln!(body, "<figure style=\"display:inline-block;margin:8px\">{}</figure>", chart.svg());
    }
    body.push_str(&scores(session.statistics()));
    body.push_str(&classes(session));
    page("evermargin run", &body)
}

/// The curve of the accuracy on arrival.
pub fn accuracy(session: &Session) -> String {
    over_batches(session, &[]).svg()
}

fn in_words(session: &Session) -> String {
    let (engine, statistics) = (session.engine(), session.statistics());
    let percent = |s: Option<f64>| s.map_or("unknown".into(), |s| format!("{} %", short(100.0 * s)));
    let mut out = format!(
        "{} rows in {} batches; {} queries; accuracy on arrival {}, in the second half {}; at most {} MB.",
        engine.rows() - engine.rejected_rows(),
        engine.batches(),
        engine.budget_usage().total,
        percent(statistics.accuracy()),
        percent(statistics.accuracy_of_last_half()),
        peak_memory().map_or("?".into(), |m| short(m.round())),
    );
    if let Some(random) = random_baseline(session) {
        let _ = write!(
            out,
            " Random queries with the same budget: {}, in the second half {}.",
            percent(random.accuracy()),
            percent(random.accuracy_of_last_half())
        );
    }
    out
}

/// Accuracy between points of the history a few batches apart, against the value of `over`.
fn shares(history: &[StatisticsPoint], over: impl Fn(&StatisticsPoint) -> f64) -> Vec<(f64, f64)> {
    let step = (history.len() / 60).clamp(1, WINDOW);
    let ends: Vec<&StatisticsPoint> = history.iter().step_by(step).collect();
    let mut before = StatisticsPoint::default();
    let mut out = Vec::new();
    for p in ends {
        if p.scored > before.scored {
            let accuracy = (p.correct - before.correct) as f64 / (p.scored - before.scored) as f64;
            out.push((over(p), 100.0 * accuracy));
        }
        before = *p;
    }
    out
}

fn both<'a>(session: &Session, over: impl Fn(&StatisticsPoint) -> f64 + Copy) -> Vec<Curve<'a>> {
    let curve = |name, color, statistics: &StreamStatistics| Curve {
        name,
        color,
        points: shares(&statistics.history, over),
    };
    let mut curves = vec![curve("query strategy", OWN, session.statistics())];
    if let Some(random) = random_baseline(session) {
        curves.push(curve("random queries", OTHER, random));
    }
    curves
}

/// Statistics of the random baseline, if it has any.
fn random_baseline(session: &Session) -> Option<&StreamStatistics> {
    session.random_statistics().filter(|statistics| statistics.current.scored > 0)
}

fn against_labels<'a>(session: &Session) -> Chart<'a> {
    Chart {
        title: "accuracy on arrival against labels",
        across: "labels",
        up: "%",
        curves: both(session, |p| p.queries as f64),
        marks: Vec::new(),
        range: None,
    }
}

fn over_batches<'a>(session: &Session, drifts: &[f64]) -> Chart<'a> {
    Chart {
        title: "accuracy on arrival (dashed: a change was detected)",
        across: "batch",
        up: "%",
        curves: both(session, |p| p.batch as f64),
        marks: drifts.to_vec(),
        range: None,
    }
}

fn remembered<'a>(session: &Session, drifts: &[f64]) -> Chart<'a> {
    let of = |value: fn(&StatisticsPoint) -> u64| {
        session.statistics().history.iter().map(|p| (p.batch as f64, value(p) as f64)).collect()
    };
    Chart {
        title: "remembered samples",
        across: "batch",
        up: "samples",
        curves: vec![
            Curve { name: "exemplars", color: OWN, points: of(|p| p.exemplars) },
            Curve { name: "support vectors", color: OTHER, points: of(|p| p.support_vectors) },
            Curve { name: "labels", color: THIRD, points: of(|p| p.remembered_labels) },
        ],
        marks: drifts.to_vec(),
        range: None,
    }
}

fn times<'a>(progress: &ProgressLine<'_>) -> Chart<'a> {
    let points = progress.times.iter().map(|t| (t.0 as f64, 1e3 * t.1)).collect();
    Chart {
        title: "time per batch, queries included",
        across: "batch",
        up: "milliseconds",
        curves: vec![Curve { name: "", color: OWN, points }],
        marks: Vec::new(),
        range: None,
    }
}

fn memory<'a>(progress: &ProgressLine<'_>) -> Chart<'a> {
    let points: Vec<(f64, f64)> = progress.times.iter().map(|t| (t.0 as f64, t.2)).collect();
    let max = points.iter().map(|p| p.1).fold(1.0, f64::max);
    Chart {
        title: "memory of the program",
        across: "batch",
        up: "MB",
        curves: vec![Curve { name: "", color: OWN, points }],
        marks: Vec::new(),
        range: Some((0.0, 1.1 * max)),
    }
}

fn cost<'a>(session: &Session) -> Chart<'a> {
    let points: Vec<(f64, f64)> =
        session.statistics().history.iter().map(|p| (p.batch as f64, 100.0 * p.summary_cost)).collect();
    let max = points.iter().map(|p| p.1).fold(5.0, f64::max);
    Chart {
        title: "labels changed by summarizing the past",
        across: "batch",
        up: "% of the batch",
        curves: vec![Curve { name: "", color: OWN, points }],
        marks: Vec::new(),
        range: Some((0.0, 1.1 * max)),
    }
}

/// Scores of predictions on arrival: of the stream, and of each class.
fn scores(statistics: &StreamStatistics) -> String {
    let percent = |s: Option<f64>| s.map_or("unknown".into(), |s| format!("{} %", short(100.0 * s)));
    let number = |s: Option<f64>| s.map_or("unknown".into(), |s| format!("{s:.3}"));
    let recent = &statistics.scores.recent;
    let rows = [
        ("accuracy", "all rows", percent(statistics.accuracy())),
        ("windowed accuracy", "the last 1,000 rows", percent(recent.windowed())),
        ("fading accuracy", "each row has 0.99 times the weight of the next", percent(recent.fading())),
        ("kappa", "beyond chance", number(statistics.kappa())),
        ("kappa-T", "beyond repeating the previous label", number(statistics.kappa_t())),
        ("kappa-M", "beyond the majority class so far", number(statistics.kappa_m())),
    ];
    let mut out = String::from("<h2>scores on arrival</h2>\n<table>\n");
    for (name, of, value) in rows {
        let _ =
            writeln!(out, "<tr><td>{name}</td><td>{of}</td><td style=\"text-align:right\">{value}</td></tr>");
    }
    out.push_str("</table>\n<table>\n<tr><th>class</th><th>rows</th><th>precision</th><th>recall</th><th>F1</th></tr>\n");
    for class in statistics.classes.iter().filter(|class| class.actual + class.predicted > 0) {
        let of = class.scores();
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td style=\"text-align:right\">{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escaped(&class.name),
            class.actual,
            percent(of.precision),
            percent(of.recall),
            percent(of.f1)
        );
    }
    out.push_str("</table>\n");
    out
}

fn classes(session: &Session) -> String {
    let all: u64 = session.statistics().classes.iter().map(|c| c.assigned).sum();
    let mut out = String::from("<h2>classes by assigned labels</h2>\n<table>\n");
    for class in session.statistics().classes.iter().filter(|class| class.assigned > 0) {
        let (name, n) = (&class.name, class.assigned);
        let share = 100.0 * n as f64 / all.max(1) as f64;
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td style=\"text-align:right\">{n}</td><td><div style=\"background:{OWN};height:12px;\
             width:{:.0}px\"></div></td><td>{} %</td></tr>",
            escaped(name),
            3.0 * share,
            short(share)
        );
    }
    out.push_str("</table>\n");
    out
}
