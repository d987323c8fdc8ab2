//! Work without the interpreter's lock: the thread pool of this process, Ctrl-C, and progress messages.
//!
//! A forked process inherits the memory of the pool but not its threads. Therefore a pool is stored with the id of the
//! process that created it, and a child process creates its own. The global pool of rayon is not used.

use evermargin::solver::{Progress, Watch};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time between two checks for signals.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);
/// Time between two progress messages.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// Process id of the creator of the pool, requested number of threads (0 = every core), and the pool.
static POOL: Mutex<(u32, usize, Option<Arc<ThreadPool>>)> = Mutex::new((0, 0, None));

fn pool() -> PyResult<Arc<ThreadPool>> {
    let mut held = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if held.0 != process {
        std::mem::forget(held.2.take()); // its threads exist only in the parent process
        held.0 = process;
    }
    if let Some(pool) = &held.2 {
        return Ok(pool.clone());
    }
    let pool = ThreadPoolBuilder::new().num_threads(held.1).build();
    let pool = Arc::new(pool.map_err(|e| PyRuntimeError::new_err(format!("cannot start threads: {e}")))?);
    held.2 = Some(pool.clone());
    Ok(pool)
}

/// Sets the number of threads; 0 means one per core. Results do not depend on it.
#[pyfunction]
pub fn set_threads(count: usize) -> PyResult<()> {
    if count > 4096 {
        return Err(PyValueError::new_err(format!("{count} threads: must be at most 4096")));
    }
    let mut held = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    if held.0 == std::process::id() {
        held.2 = None;
    }
    held.1 = count;
    Ok(())
}

/// Does short work on the pool, without the interpreter's lock.
pub fn run_short<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let pool = pool()?;
    Ok(py.detach(|| pool.install(work)))
}

/// Does short work on the pool with exclusive access to a value. The lock is acquired outside the pool, because a thread of
/// the pool that waits for a lock could be the one that has to release it.
pub fn exclusive<S: Send, T: Send>(
    py: Python<'_>,
    held: &Mutex<S>,
    work: impl FnOnce(&mut S) -> T + Send,
) -> PyResult<T> {
    let pool = pool()?;
    Ok(py.detach(|| {
        let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
        let held: &mut S = &mut held;
        pool.install(|| work(held))
    }))
}

/// Like [`exclusive`], for long work. Ctrl-C stops the work through the watch. If the work fails then, this raises
/// `KeyboardInterrupt`. If it succeeds nevertheless, this returns its result and interrupts the main thread afterward.
pub fn exclusive_long<S: Send, T: Send, E: Send>(
    py: Python<'_>,
    held: &Mutex<S>,
    work: impl FnOnce(&mut S, &dyn Watch) -> Result<T, E> + Send,
) -> PyResult<Result<T, E>> {
    let pool = pool()?;
    py.detach(|| {
        let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
        let held: &mut S = &mut held;
        let (done, interrupt) = watched(&pool, None, |watch| work(held, watch))?;
        match (done, interrupt) {
            (Err(_), Some(interrupt)) => Err(interrupt),
            (done, Some(_)) => {
                Python::attach(|py| py.import("_thread")?.call_method0("interrupt_main").map(|_| ()))?;
                Ok(done)
            }
            (done, None) => Ok(done),
        }
    })
}

/// Watch of long work: it stops the work after a signal and stores its progress.
pub struct Watcher {
    stop: AtomicBool,
    progress: Mutex<Option<Progress>>,
    reports_progress: bool,
    started: Instant,
}

impl Default for Watcher {
    fn default() -> Self {
        Self {
            stop: AtomicBool::new(false),
            progress: Mutex::new(None),
            reports_progress: false,
            started: Instant::now(),
        }
    }
}

impl Watch for Watcher {
    fn proceed(&self, progress: &Progress) -> bool {
        if self.reports_progress
            && let Ok(mut at) = self.progress.try_lock()
        {
            *at = Some(*progress);
        }
        !self.stop.load(Ordering::Relaxed)
    }

    fn seconds(&self) -> Option<f64> {
        Some(self.started.elapsed().as_secs_f64())
    }
}

/// Does long work on the pool, without the interpreter's lock. Ctrl-C ends it with `KeyboardInterrupt`; with a `name`,
/// progress is printed every second.
pub fn run_long<T: Send>(
    py: Python<'_>,
    name: Option<&str>,
    work: impl FnOnce(&dyn Watch) -> T + Send,
) -> PyResult<T> {
    let pool = pool()?;
    let (answer, interrupt) = py.detach(|| watched(&pool, name, work))?;
    interrupt.map_or(Ok(answer), Err)
}

/// Does work on the pool and checks for signals meanwhile. Returns the result and the exception of the first signal.
fn watched<T: Send>(
    pool: &ThreadPool,
    name: Option<&str>,
    work: impl FnOnce(&dyn Watch) -> T + Send,
) -> PyResult<(T, Option<PyErr>)> {
    let watch = Watcher { reports_progress: name.is_some(), ..Watcher::default() };
    let started = Instant::now();
    std::thread::scope(|scope| {
        let (sender, receiver) = channel();
        let watch = &watch;
        scope.spawn(move || {
            let _ = sender.send(pool.install(|| work(watch)));
        });
        let mut last_report = started;
        let mut interrupt = None;
        loop {
            match receiver.recv_timeout(SIGNAL_INTERVAL) {
                Ok(answer) => return Ok((answer, interrupt)),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(PyRuntimeError::new_err("internal error: the work ended without a result"));
                }
                Err(RecvTimeoutError::Timeout) if interrupt.is_some() => {}
                Err(RecvTimeoutError::Timeout) => {
                    let checked = Python::attach(|py| {
                        py.check_signals()?;
                        if last_report.elapsed() >= PROGRESS_INTERVAL {
                            last_report = Instant::now();
                            print_progress(py, name, started, watch)?;
                        }
                        Ok(())
                    });
                    if let Err(error) = checked {
                        watch.stop.store(true, Ordering::Relaxed);
                        interrupt = Some(error);
                    }
                }
            }
        }
    })
}

/// Prints the progress of the work with the `print` function of Python.
fn print_progress(py: Python<'_>, name: Option<&str>, started: Instant, watch: &Watcher) -> PyResult<()> {
    let at = *watch.progress.lock().unwrap_or_else(PoisonError::into_inner);
    let (Some(name), Some(at)) = (name, at) else { return Ok(()) };
    let line = format!(
        "[evermargin {name}] {:.0} s, step {}, violation {:.2e} (ends at {:.0e})",
        started.elapsed().as_secs_f64(),
        at.steps,
        at.violation,
        at.tolerance
    );
    py.import("builtins")?.getattr("print")?.call1((line,)).map(|_| ())
}
