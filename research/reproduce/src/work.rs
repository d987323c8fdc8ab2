//! Runs independent pieces of work on all processors, each on one thread, so that results do not depend on the number of
//! threads and the CPU time of a piece is that of its thread.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

thread_local! {
    static IS_WORKER: Cell<bool> = const { Cell::new(false) };
}

/// Progress of the work, which is printed with each message.
#[derive(Debug, Default)]
pub struct Progress {
    state: Mutex<State>,
}

#[derive(Debug, Default, Clone)]
struct State {
    name: String,
    done: usize,
    all: usize,
    start: Option<Instant>,
}

impl Progress {
    /// Starts a new table or statement.
    pub fn name(&self, name: &str) {
        *self.lock() = State { name: name.to_string(), ..State::default() };
    }

    fn begin(&self, all: usize) {
        let mut state = self.lock();
        (state.done, state.all, state.start) = (0, all, Some(Instant::now()));
    }

    fn step(&self) {
        self.lock().done += 1;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Text such as `[emara-III.2 3/14, about 2 min left]`.
    pub fn text(&self) -> String {
        let state = self.lock().clone();
        let left = match state.start {
            Some(start) if state.done > 0 && state.done < state.all => {
                let rest = (state.all - state.done) as f64 / state.done as f64;
                format!(", about {} left", duration(start.elapsed().as_secs_f64() * rest))
            }
            _ => String::new(),
        };
        let part = if state.all > 1 { format!(" {}/{}", state.done, state.all) } else { String::new() };
        format!("[{}{part}{left}]", state.name)
    }
}

/// Text of a duration in seconds, minutes or hours.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// Runs a piece of work per item on `threads` threads and returns the results in the order of the items. A nested call runs on
/// the thread of the outer piece.
pub fn each<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    progress: &Progress,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    if IS_WORKER.get() {
        return items.iter().map(work).collect();
    }
    progress.begin(items.len());
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(items.len())));
    let worker = || {
        while let Some((k, item)) = next_item(&next, items) {
            let result = single_threaded(|| work(item));
            progress.step();
            done.lock().unwrap_or_else(PoisonError::into_inner).push((k, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, items.len().max(1)) {
            scope.spawn(worker);
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(k, _)| *k);
    done.into_iter().map(|(_, result)| result).collect()
}

fn next_item<'i, T>(next: &AtomicUsize, items: &'i [T]) -> Option<(usize, &'i T)> {
    let k = next.fetch_add(1, Ordering::Relaxed);
    items.get(k).map(|item| (k, item))
}

/// Runs work in a thread pool with a single thread.
fn single_threaded<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    let marked = || {
        IS_WORKER.set(true);
        let result = work();
        IS_WORKER.set(false);
        result
    };
    match rayon::ThreadPoolBuilder::new().num_threads(1).build() {
        Ok(pool) => pool.install(marked),
        Err(_) => marked(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_for_any_number_of_threads() {
        let items: Vec<usize> = (0..40).collect();
        let progress = Progress::default();
        let squares = |threads| each(&items, threads, &progress, |i| i * i);
        assert_eq!(squares(1), squares(4));
        assert_eq!(squares(2)[7], 49);
        assert!(progress.text().contains("40/40"), "{}", progress.text());
        assert!(each(&[] as &[usize], 2, &progress, |i| *i).is_empty());
    }

    #[test]
    fn nested_pieces_run_on_the_same_thread() {
        let progress = Progress::default();
        let counts = each(&[(), ()], 2, &progress, |()| {
            let here = std::thread::current().id();
            let inner = each(&[(), ()], 2, &progress, |()| std::thread::current().id() == here);
            (rayon::current_num_threads(), inner)
        });
        assert_eq!(counts, vec![(1, vec![true, true]); 2]);
    }

    #[test]
    fn remaining_time_is_printed() {
        let progress = Progress::default();
        progress.name("t");
        progress.begin(4);
        assert_eq!(progress.text(), "[t 0/4]");
        progress.step();
        assert!(progress.text().starts_with("[t 1/4, about 0 s left"));
        assert_eq!([duration(45.0), duration(600.0), duration(7200.0)], ["45 s", "10 min", "2.0 h"]);
    }
}
