//! Time limits, the progress bar and signals, which the core checks between pieces of work.

use crate::args::Common;
use crate::failure::Failure;
use evermargin::solver::{Progress, Watch};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::{Duration, Instant};

/// Set by the first signal that asks the program to end.
static STOP: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Ends training on Ctrl-C or at its time limit, and shows progress if standard error is a terminal.
#[derive(Debug)]
pub struct Watcher {
    started: Instant,
    learned: OnceLock<Duration>,
    deadline: Option<Instant>,
    late: AtomicBool,
    bar: ProgressBar,
}

impl Watcher {
    /// A watcher that measures time from now. The first Ctrl-C, SIGTERM or SIGHUP ends the work in an orderly way, the second
    /// one at once.
    pub fn start(common: &Common, max_seconds: Option<f64>) -> Result<Self, Failure> {
        let deadline = match max_seconds {
            None => None,
            Some(s) if s < 0.0 => {
                return Err(Failure::Usage(format!("--max-seconds {s}: must be 0 or more")));
            }
            Some(s) => Duration::try_from_secs_f64(s).ok().and_then(|d| Instant::now().checked_add(d)),
        };
        catch_signals().map_err(|e| Failure::Failed(format!("cannot catch signals: {e}")))?;
        Ok(Self::with_deadline(common, deadline))
    }

    /// A watcher for work after an interruption: without a time limit, and with an earlier Ctrl-C cleared.
    pub fn again(common: &Common) -> Self {
        STOP.store(false, Ordering::SeqCst);
        Self::with_deadline(common, None)
    }

    fn with_deadline(common: &Common, deadline: Option<Instant>) -> Self {
        let shown = std::io::stderr().is_terminal() && !common.quiet;
        let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {prefix}{msg}") {
            bar.set_style(style);
        }
        Self {
            started: Instant::now(),
            learned: OnceLock::new(),
            deadline,
            late: AtomicBool::new(false),
            bar,
        }
    }

    /// Seconds from the start until training ended, or until now.
    pub fn seconds(&self) -> f64 {
        self.learned.get().copied().unwrap_or_else(|| self.started.elapsed()).as_secs_f64()
    }

    /// Whether a signal or the time limit ended the work.
    pub fn stopped(&self) -> bool {
        self.late.load(Ordering::Relaxed) || STOP.load(Ordering::Relaxed)
    }

    /// The flag that a signal sets.
    pub fn stop_flag() -> Arc<AtomicBool> {
        Arc::clone(&STOP)
    }

    /// Turns the spinner into a bar of `len` steps.
    pub fn bar(&self, len: u64) {
        self.bar.set_length(len);
        if let Ok(style) = ProgressStyle::with_template("{elapsed} {wide_bar} {pos}/{len} {prefix}{msg}") {
            self.bar.set_style(style);
        }
    }

    /// Moves the bar.
    pub fn advance(&self, by: u64, what: String) {
        self.bar.set_prefix(what);
        self.bar.inc(by);
    }

    /// Shows a line in place of the bar.
    pub fn show(&self, line: &str) {
        self.bar.set_prefix(line.to_string());
        self.bar.tick();
    }

    /// Turns the spinner on.
    pub fn tick(&self) {
        if !self.bar.is_hidden() {
            self.bar.tick();
        }
    }

    /// Prints other lines above the bar.
    pub fn suspend(&self, print: impl FnOnce()) {
        self.bar.suspend(print);
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

fn catch_signals() -> std::io::Result<()> {
    for signal in ending_signals() {
        // In this order: the flag that the first signal sets makes the second end the process.
        signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, Watcher::stop_flag())?;
        signal_hook::flag::register(signal, Watcher::stop_flag())?;
    }
    Ok(())
}

/// The signals that end the program: Ctrl-C, and those of service managers and closing terminals. If SIGHUP is ignored, as
/// with nohup, it remains ignored.
#[cfg(unix)]
fn ending_signals() -> Vec<i32> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    let mut signals = vec![SIGINT, SIGTERM];
    if ignored & (1 << (SIGHUP - 1)) == 0 {
        signals.push(SIGHUP);
    }
    signals
}

#[cfg(not(unix))]
fn ending_signals() -> Vec<i32> {
    vec![signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM]
}

impl Watch for Watcher {
    fn proceed(&self, progress: &Progress) -> bool {
        if !self.bar.is_hidden() {
            self.bar.set_message(format!(
                "step {}, violation {:.2e} (stops at {:.0e})",
                progress.steps, progress.violation, progress.tolerance
            ));
            self.bar.tick();
        }
        if self.deadline.is_some_and(|d| Instant::now() >= d) {
            self.late.store(true, Ordering::Relaxed);
        }
        !self.stopped()
    }

    fn seconds(&self) -> Option<f64> {
        Some(self.started.elapsed().as_secs_f64())
    }

    fn limit(&self) -> Option<f64> {
        self.deadline.map(|d| d.saturating_duration_since(self.started).as_secs_f64())
    }

    fn learned(&self) {
        let _ = self.learned.set(self.started.elapsed());
        self.bar.set_prefix("comparing with the labels alone: ");
    }
}
