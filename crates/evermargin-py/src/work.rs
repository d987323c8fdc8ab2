//! Work without the interpreter's lock: a pool of threads of this process, Ctrl-C, and progress.
//!
//! A process that forks takes the pool's memory with it but not its threads, so a pool is remembered with the process
//! that made it; a child makes its own. The global pool of rayon is never touched.

use evermargin::solver::{Progress, Watch};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often signals are looked at.
const GLANCE: Duration = Duration::from_millis(50);
/// How often progress is told.
const TELL: Duration = Duration::from_secs(1);

/// The pool, with the process that made it and the threads asked for (0 = every core).
static POOL: Mutex<(u32, usize, Option<Arc<ThreadPool>>)> = Mutex::new((0, 0, None));

fn pool() -> PyResult<Arc<ThreadPool>> {
    let mut held = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if held.0 != process {
        std::mem::forget(held.2.take()); // its threads stayed with the parent
        held.0 = process;
    }
    if let Some(pool) = &held.2 {
        return Ok(pool.clone());
    }
    let pool = ThreadPoolBuilder::new().num_threads(held.1).build();
    let pool = Arc::new(pool.map_err(|e| PyRuntimeError::new_err(format!("no threads: {e}")))?);
    held.2 = Some(pool.clone());
    Ok(pool)
}

/// Sets the number of threads; 0 is every core. The answer does not depend on it.
#[pyfunction]
pub fn set_threads(count: usize) -> PyResult<()> {
    if count > 4096 {
        return Err(PyValueError::new_err(format!("{count} threads: at most 4096")));
    }
    let mut held = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    if held.0 == std::process::id() {
        held.2 = None;
    }
    held.1 = count;
    Ok(())
}

/// Does short work on the pool, without the lock.
pub fn quick<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let pool = pool()?;
    Ok(py.detach(|| pool.install(work)))
}

/// The same on something that one may use at a time. It is waited for outside the pool: a thread of the pool that waits for
/// a lock might have to wait for itself.
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

/// [`exclusive`] for long work. Ctrl-C tells the watch to stop. Work that fails then raises `KeyboardInterrupt`; work
/// that was done all the same returns its result, and the interrupt follows.
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

/// What long work asks between its steps.
pub struct Watcher {
    stop: AtomicBool,
    at: Mutex<Option<Progress>>,
    telling: bool,
    started: Instant,
}

impl Default for Watcher {
    fn default() -> Self {
        Self { stop: AtomicBool::new(false), at: Mutex::new(None), telling: false, started: Instant::now() }
    }
}

impl Watch for Watcher {
    fn proceed(&self, progress: &Progress) -> bool {
        if self.telling
            && let Ok(mut at) = self.at.try_lock()
        {
            *at = Some(*progress);
        }
        !self.stop.load(Ordering::Relaxed)
    }

    fn seconds(&self) -> Option<f64> {
        Some(self.started.elapsed().as_secs_f64())
    }
}

/// Does long work on the pool, without the lock. Ctrl-C ends it with `KeyboardInterrupt`; with `name`, progress is
/// printed every second.
pub fn long<T: Send>(
    py: Python<'_>,
    name: Option<&str>,
    work: impl FnOnce(&dyn Watch) -> T + Send,
) -> PyResult<T> {
    let pool = pool()?;
    let (answer, interrupt) = py.detach(|| watched(&pool, name, work))?;
    interrupt.map_or(Ok(answer), Err)
}

/// Does work on the pool and looks at signals meanwhile. Returns the exception of the first signal beside the answer.
fn watched<T: Send>(
    pool: &ThreadPool,
    name: Option<&str>,
    work: impl FnOnce(&dyn Watch) -> T + Send,
) -> PyResult<(T, Option<PyErr>)> {
    let watch = Watcher { telling: name.is_some(), ..Watcher::default() };
    let started = Instant::now();
    std::thread::scope(|scope| {
        let (done, waiting) = channel();
        let watch = &watch;
        scope.spawn(move || {
            let _ = done.send(pool.install(|| work(watch)));
        });
        let mut told = started;
        let mut interrupt = None;
        loop {
            match waiting.recv_timeout(GLANCE) {
                Ok(answer) => return Ok((answer, interrupt)),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(PyRuntimeError::new_err("the work ended without an answer: a defect"));
                }
                Err(RecvTimeoutError::Timeout) if interrupt.is_some() => {}
                Err(RecvTimeoutError::Timeout) => {
                    let glance = Python::attach(|py| {
                        py.check_signals()?;
                        if told.elapsed() >= TELL {
                            told = Instant::now();
                            print_progress(py, name, started, watch)?;
                        }
                        Ok(())
                    });
                    if let Err(error) = glance {
                        watch.stop.store(true, Ordering::Relaxed);
                        interrupt = Some(error);
                    }
                }
            }
        }
    })
}

/// Prints where the work stands, as Python prints.
fn print_progress(py: Python<'_>, name: Option<&str>, started: Instant, watch: &Watcher) -> PyResult<()> {
    let at = *watch.at.lock().unwrap_or_else(PoisonError::into_inner);
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
