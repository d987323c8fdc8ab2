//! What is shown while a run goes on, and at its end; and what is measured about the program itself.

use super::args::RunArgs;
use super::record::Oracle;
use super::session::Session;
use crate::args::Common;
use crate::output::console::{self, quoted, short};
use crate::output::progress::Watcher;
use evermargin::engine::Effects;
use std::fmt::Write;
use std::time::{Duration, Instant};

/// Batches whose times are kept before every other one is dropped.
const MOST: usize = 2000;

/// Time and memory a batch took, and the line that is shown.
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
    /// What was said, so as not to say it twice.
    said: Vec<String>,
}

/// Notes that are remembered.
const SAID: usize = 100;

impl<'w> ProgressLine<'w> {
    pub fn new(watch: &'w Watcher, common: &'w Common) -> Self {
        let (times, drifts) = (Vec::new(), Vec::new());
        Self { watch, common, spent: Duration::ZERO, every: 1, times, drifts, batch: 0, said: Vec::new() }
    }

    /// Says where an earlier run is taken up.
    pub fn resumed(&mut self, session: &Session) {
        let (rows, labels) = (session.engine.rows(), session.engine.spent().total);
        self.batch = session.engine.batches();
        if rows > 0 {
            console::note(self.common, &[format!("going on after {rows} rows and {labels} questions")]);
        }
    }

    /// Says what came of an event.
    pub fn tell(&mut self, effects: &Effects) {
        if effects.drift.is_some() {
            self.drifts.push(self.batch + 1);
        }
        let mut heard = super::heard(effects);
        heard.retain(|what| !self.said.contains(what));
        self.said.extend(heard.iter().take(SAID.saturating_sub(self.said.len())).cloned());
        if !heard.is_empty() {
            self.watch.suspend(|| console::note(self.common, &heard));
        }
    }

    /// A batch is over that began then.
    pub fn batch(&mut self, session: &Session, began: Instant) {
        let took = began.elapsed();
        self.spent += took;
        self.batch = session.engine.batches();
        if self.batch.is_multiple_of(self.every) {
            self.times.push((self.batch, took.as_secs_f64(), memory().unwrap_or(0.0)));
        }
        if self.times.len() > MOST {
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

/// The line that is shown after every batch.
fn line(session: &Session, took: Duration) -> String {
    let (tally, engine) = (&session.tally, &session.engine);
    let mut out = format!("batch {}", engine.batches());
    let right = tally.accuracy_after().or_else(|| tally.accuracy()).or_else(|| engine.meter().given.share());
    if let Some(right) = right {
        let _ = write!(out, "  {:.1} % right", 100.0 * right);
    }
    let _ = write!(
        out,
        "  {} labels  {} exemplars  {} support vectors  {:.0} MB  {:.0} ms a batch",
        engine.spent().total,
        tally.now.exemplars,
        engine.support_count(),
        memory().unwrap_or(0.0),
        1e3 * took.as_secs_f64()
    );
    out
}

/// What is said at the end.
pub fn summary(args: &RunArgs, session: &Session, live: &ProgressLine<'_>) -> String {
    let (tally, engine) = (&session.tally, &session.engine);
    let percent = |share: Option<f64>| share.map_or("unknown".into(), |s| format!("{} %", short(100.0 * s)));
    let mut out = format!(
        "{} rows in {} batches, {} questions, {} classes ({})\n",
        engine.rows(),
        engine.batches(),
        engine.spent().total,
        engine.classes().len(),
        engine.classes().names().join(", "),
    );
    if tally.now.judged > 0 {
        let _ = writeln!(
            out,
            "right on arrival: {}; in the second half of the stream: {}; after its questions: {}",
            percent(tally.accuracy()),
            percent(tally.accuracy_of_last_half()),
            percent(tally.accuracy_after()),
        );
    }
    if session.random.now.judged > 0 {
        let _ = writeln!(
            out,
            "asking at random, with the same budget: {}; in the second half {}",
            percent(session.random.accuracy()),
            percent(session.random.accuracy_of_last_half()),
        );
    }
    let _ = write!(
        out,
        "remembered: {} labels, {} exemplars, {} support vectors; {:.0} MB at most; {} s",
        engine.memory().map_or(0, evermargin::engine::Memory::len),
        tally.now.exemplars,
        engine.support_count(),
        peak_memory().unwrap_or(0.0),
        short(live.seconds())
    );
    for (what, path) in [("labels", &args.output), ("model", &args.model), ("report", &args.report)] {
        if let Some(path) = path.as_deref().filter(|_| what != "model" || engine.classifier().is_some()) {
            let _ = write!(out, "\n{what}: {}", path.display());
        }
    }
    if session.begin.oracle == Oracle::Terminal
        && let Some(state) = &args.state
    {
        let _ = write!(out, "\nto go on, say the same again; everything is in {}", quoted(state));
    }
    out
}

/// Megabytes in use now.
fn memory() -> Option<f64> {
    status("VmRSS:")
}

/// Most megabytes that were in use.
pub fn peak_memory() -> Option<f64> {
    status("VmHWM:")
}

fn status(what: &str) -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|l| l.starts_with(what))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kb| kb * 1.024e-3)
}
