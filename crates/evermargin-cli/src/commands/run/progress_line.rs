//! The progress line of a run, its summary at the end, and the memory use of the process.

use super::args::RunArgs;
use crate::args::Common;
use crate::output::console::{self, quoted, short};
use crate::output::progress::Watcher;
use evermargin::engine::Effects;
use evermargin_session::{Oracle, Session};
use std::fmt::Write;
use std::time::{Duration, Instant};

/// Maximum number of stored times; beyond it every other one is dropped.
const MAX_POINTS: usize = 2000;

/// Time and memory per batch, and the progress line.
pub struct ProgressLine<'w> {
    watch: &'w Watcher,
    common: &'w Common,
    spent: Duration,
    every: u64,
    /// Number, seconds and memory in megabytes of batches since the program started.
    pub times: Vec<(u64, f64, f64)>,
    /// Batches in which the stream changed, since the program started.
    pub drifts: Vec<u64>,
    batch: u64,
    /// Messages that were already printed and are not repeated.
    printed: Vec<String>,
}

/// Maximum number of stored messages.
const MAX_PRINTED: usize = 100;

impl<'w> ProgressLine<'w> {
    pub fn new(watch: &'w Watcher, common: &'w Common) -> Self {
        let (times, drifts) = (Vec::new(), Vec::new());
        Self { watch, common, spent: Duration::ZERO, every: 1, times, drifts, batch: 0, printed: Vec::new() }
    }

    /// Prints the position at which an earlier run is resumed.
    pub fn resumed(&mut self, session: &Session) {
        let (rows, labels) = (session.statistics().current.rows, session.engine().budget_usage().total);
        self.batch = session.engine().batches();
        if session.engine().rows() > 0 {
            console::note(self.common, &[format!("resuming after {rows} rows and {labels} queries")]);
        }
        if let Some(last) = session.rejected_events().last() {
            let events = console::count(session.rejected_event_count() as usize, "event");
            let text = format!(
                "{events} of the state could not be applied and were skipped, the last one is event {} ({}): {}",
                last.seq, last.kind, last.reason
            );
            console::note(self.common, &[text]);
        }
    }

    /// Prints the messages of an event.
    pub fn show_effects(&mut self, effects: &Effects) {
        if effects.drift.is_some() {
            self.drifts.push(self.batch + 1);
        }
        let mut messages = super::messages(effects);
        messages.retain(|message| !self.printed.contains(message));
        self.printed.extend(messages.iter().take(MAX_PRINTED.saturating_sub(self.printed.len())).cloned());
        if !messages.is_empty() {
            self.watch.suspend(|| console::note(self.common, &messages));
        }
    }

    /// Records and shows a finished batch.
    pub fn batch(&mut self, session: &Session, began: Instant) {
        let took = began.elapsed();
        self.spent += took;
        self.batch = session.engine().batches();
        if self.batch.is_multiple_of(self.every) {
            self.times.push((self.batch, took.as_secs_f64(), memory().unwrap_or(0.0)));
        }
        if self.times.len() > MAX_POINTS {
            self.every *= 2;
            self.times.retain(|t| t.0.is_multiple_of(self.every));
        }
        self.watch.show(&line(session, took));
    }

    /// Seconds of all batches since the program started.
    pub fn seconds(&self) -> f64 {
        self.spent.as_secs_f64()
    }
}

/// The line shown after every batch.
fn line(session: &Session, took: Duration) -> String {
    let (statistics, engine) = (session.statistics(), session.engine());
    let mut out = format!("batch {}", engine.batches());
    let accuracy = statistics
        .accuracy_after_queries()
        .or_else(|| statistics.accuracy())
        .or_else(|| engine.metrics().given.share());
    if let Some(accuracy) = accuracy {
        let _ = write!(out, "  {:.1} % correct", 100.0 * accuracy);
    }
    let _ = write!(
        out,
        "  {} labels  {} exemplars  {} support vectors  {:.0} MB  {:.0} ms per batch",
        engine.budget_usage().total,
        statistics.current.exemplars,
        engine.support_count(),
        memory().unwrap_or(0.0),
        1e3 * took.as_secs_f64()
    );
    out
}

/// The summary at the end.
pub fn summary(args: &RunArgs, session: &Session, progress: &ProgressLine<'_>) -> String {
    let (statistics, engine) = (session.statistics(), session.engine());
    let percent = |share: Option<f64>| share.map_or("unknown".into(), |s| format!("{} %", short(100.0 * s)));
    let mut out = format!(
        "{} rows in {} batches, {} queries, {} classes ({})\n",
        statistics.current.rows,
        engine.batches(),
        engine.budget_usage().total,
        engine.classes().len(),
        engine.classes().names().join(", "),
    );
    if statistics.current.scored > 0 {
        let _ = writeln!(
            out,
            "accuracy on arrival: {}; in the second half of the stream: {}; after the queries of a batch: {}",
            percent(statistics.accuracy()),
            percent(statistics.accuracy_of_last_half()),
            percent(statistics.accuracy_after_queries()),
        );
    }
    if let Some(random) = session.random_statistics().filter(|s| s.current.scored > 0) {
        let _ = writeln!(
            out,
            "random queries, same budget: {}; in the second half: {}",
            percent(random.accuracy()),
            percent(random.accuracy_of_last_half()),
        );
    }
    let _ = writeln!(out, "{}", super::label_sources::explanation(engine));
    if statistics.current.rejected_rows > 0 {
        let _ = writeln!(out, "{}", rejected(args, session));
    }
    let _ = write!(
        out,
        "remembered: {} labels, {} exemplars, {} support vectors; at most {:.0} MB; {} s",
        engine.memory().map_or(0, evermargin::engine::LabelMemory::len),
        statistics.current.exemplars,
        engine.support_count(),
        peak_memory().unwrap_or(0.0),
        short(progress.seconds())
    );
    let files = [
        ("labels", &args.output),
        ("model", &args.model),
        ("report", &args.report),
        ("rejects", &args.rejects),
    ];
    for (what, path) in files {
        if let Some(path) = path.as_deref().filter(|_| what != "model" || engine.classifier().is_some()) {
            let _ = write!(out, "\n{what}: {}", path.display());
        }
    }
    if session.oracle() == Oracle::Terminal
        && let Some(state) = &args.state
    {
        let _ = write!(out, "\nto resume, run the same command; the state is saved in {}", quoted(state));
    }
    out
}

/// Number of rejected rows, and where the reasons are.
fn rejected(args: &RunArgs, session: &Session) -> String {
    let rows = console::count(session.statistics().current.rejected_rows as usize, "row");
    let last = session.rejected_rows().last().filter(|_| args.rejects.is_none());
    match last {
        Some(last) => format!(
            "{rows} rejected, the last one at {}:{}: {} (--rejects FILE lists them)",
            last.file, last.line, last.reason
        ),
        None => format!("{rows} rejected"),
    }
}

/// Megabytes in use.
fn memory() -> Option<f64> {
    status("VmRSS:")
}

/// Maximum number of megabytes that were in use.
pub fn peak_memory() -> Option<f64> {
    status("VmHWM:")
}

fn status(what: &str) -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|l| l.starts_with(what))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kb| kb * 1.024e-3)
}
