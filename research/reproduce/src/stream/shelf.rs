//! Plans of streams, and a cache of data, streams and results of runs.

use super::data::Set;
use super::engine_walk::{Setup, go};
use super::walk::{Step, Way, all_at_once, walk};
use super::{Stream, generator};
use crate::failure::Result;
use crate::run::Bench;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex, PoisonError};

/// A stream: its name, data set, rows per batch, labels, repetitions, and the number of batches at which batch learning is
/// evaluated.
#[derive(Debug)]
pub(super) struct Plan {
    pub name: &'static str,
    pub set: &'static str,
    pub batch: usize,
    pub labels: usize,
    pub repetitions: usize,
    pub looks: usize,
}

const fn plan(name: &'static str, set: &'static str, batch: usize, labels: usize) -> Plan {
    Plan { name, set, batch, labels, repetitions: 10, looks: 16 }
}

/// Numbers of labels as in table IV.1: 50 for newsgroups, 30 for news wires, 9 for connections; its data sets are not available.
/// Texts have batches of 1000, as there, and small ones, so that there are a hundred batches.
pub(super) const PLANS: [Plan; 5] = [
    plan("newsgroups", "news-comp-rec", 80, 50),
    Plan { looks: 8, ..plan("newsgroups-1000", "news-comp-rec", 1000, 50) },
    plan("reuters", "reuters-earn", 100, 30),
    Plan { looks: 10, ..plan("reuters-1000", "reuters-earn", 1000, 30) },
    Plan { repetitions: 3, looks: 12, ..plan("mnist", "mnist-odd", 500, 50) },
];

/// Figure IV.25: the same connections in batches of three sizes.
pub(super) const CONNECTIONS: [Plan; 3] = [
    Plan { repetitions: 3, looks: 6, ..plan("kdd-2000", "kdd99", 2000, 9) },
    Plan { repetitions: 3, looks: 6, ..plan("kdd-4000", "kdd99", 4000, 9) },
    Plan { repetitions: 3, looks: 6, ..plan("kdd-8000", "kdd99", 8000, 9) },
];

/// Number of batches in a `--quick` run.
const FEW: usize = 6;

/// The most recent entries, one per thread.
struct Latest<T>(Mutex<Vec<(String, Arc<T>)>>);

impl<T> Default for Latest<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Latest<T> {
    fn get(&self, name: &str, make: impl FnOnce() -> Result<T>) -> Result<Arc<T>> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, found)) = open.iter().find(|(known, _)| known == name) {
            return Ok(Arc::clone(found));
        }
        let made = Arc::new(make()?);
        open.insert(0, (name.to_string(), Arc::clone(&made)));
        open.truncate(2);
        Ok(made)
    }
}

/// Data sets and streams that stay in memory.
#[derive(Default)]
pub(super) struct Shelf {
    sets: Latest<Set>,
    streams: Latest<Stream>,
}

/// A repetition of a plan with at most `max` batches (0 is all).
#[derive(Debug, Clone, Copy)]
pub(super) struct Run<'p> {
    pub plan: &'p Plan,
    pub repetition: usize,
    pub max: usize,
}

impl<'p> Run<'p> {
    /// A run over all batches.
    pub(super) fn of(plan: &'p Plan, repetition: usize) -> Self {
        Self { plan, repetition, max: 0 }
    }
}

impl Shelf {
    /// A data set.
    pub(super) fn set(&self, bench: &Bench<'_>, name: &str) -> Result<Arc<Set>> {
        self.sets.get(name, || Set::open(name, &bench.options.folder))
    }

    /// The stream of a repetition.
    fn stream(&self, bench: &Bench<'_>, run: Run<'_>) -> Result<Arc<Stream>> {
        let plan = run.plan;
        self.streams.get(&key(bench, run), || {
            let sizes = (plan.batch, batches(bench, run.max), plan.labels);
            Stream::of(&*self.set(bench, plan.set)?, sizes, &mut generator(bench, run.repetition))
        })
    }

    /// Result of a run of the transduction.
    pub(super) fn track(&self, bench: &Bench<'_>, run: Run<'_>, way: &Way) -> Result<Track> {
        bench.cached(&format!("{} walk {way:?}", key(bench, run)), || {
            let stream = self.stream(bench, run)?;
            let track = Track::of(&walk(&stream, way)?, &stream);
            bench.say(&format!("{} {}: {:.2}", run.plan.name, run.repetition + 1, 100.0 * track.late()));
            Ok(track)
        })
    }

    /// Results of a run of the engine, for the modes incremental and online.
    pub(super) fn run(&self, bench: &Bench<'_>, run: Run<'_>, setup: &Setup) -> Result<[Track; 2]> {
        bench.cached(&format!("{} run {setup:?}", key(bench, run)), || {
            let stream = self.stream(bench, run)?;
            let steps = go(&stream, setup)?;
            let tracks = [Track::of(&steps.incremental, &stream), Track::of(&steps.online, &stream)];
            let late = 100.0 * tracks[0].late();
            bench.say(&format!("{} {} {:?}: {late:.2}", run.plan.name, run.repetition + 1, setup.flags));
            Ok(tracks)
        })
    }

    /// Result of batch learning at the `look`-th batch where it is evaluated.
    pub(super) fn look(&self, bench: &Bench<'_>, run: Run<'_>, way: &Way, look: usize) -> Result<Look> {
        bench.cached(&format!("{} look {look} {way:?}", key(bench, run)), || {
            let stream = self.stream(bench, run)?;
            let at = looked_at(stream.batches(), looks(bench, run.plan));
            let at = at[look.min(at.len() - 1)];
            let steps = all_at_once(&stream, way, &[at])?;
            let rate = steps.first().and_then(|s| s.accuracy(&stream.truth));
            Ok(Look { at, accuracy: rate, seconds: steps.first().map_or(0.0, |s| s.seconds) })
        })
    }
}

/// Requested plans; a `--quick` run has one kind of text and no data sets that are slow to read.
pub(super) fn chosen<'p>(bench: &Bench<'_>, plans: &'p [Plan]) -> Vec<&'p Plan> {
    let quick = |p: &Plan| matches!(p.name, "newsgroups" | "reuters" | "kdd-2000");
    plans.iter().filter(|p| super::wanted(bench, p.name) && (!bench.options.quick || quick(p))).collect()
}

fn batches(bench: &Bench<'_>, max: usize) -> usize {
    if bench.options.quick { FEW } else { max }
}

fn key(bench: &Bench<'_>, run: Run<'_>) -> String {
    let Plan { set, batch, labels, looks, .. } = run.plan;
    let (max, seed) = (batches(bench, run.max), bench.options.seed);
    format!("stream {set} {batch} {labels} {looks} {max} {} {seed}", run.repetition)
}

/// Number of repetitions of a plan.
pub(super) fn repetitions(bench: &Bench<'_>, plan: &Plan) -> usize {
    let usual = if bench.options.quick { 1 } else { plan.repetitions };
    bench.options.repetitions.unwrap_or(usual).max(1)
}

/// Number of batches at which batch learning is evaluated.
pub(super) fn looks(bench: &Bench<'_>, plan: &Plan) -> usize {
    if bench.options.quick { 2 } else { plan.looks }
}

/// Batches at which batch learning is evaluated, evenly spaced up to the last batch.
fn looked_at(batches: usize, looks: usize) -> Vec<usize> {
    let looks = looks.min(batches).max(1);
    (1..=looks).map(|k| batches * k / looks - 1).collect()
}

/// Result of batch learning at one batch.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Look {
    pub at: usize,
    pub accuracy: Option<f64>,
    pub seconds: f64,
}

/// Stored results of a run, with one entry per batch.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Track {
    /// Accuracy on the scored rows; `None` before there are labels.
    pub accuracy: Vec<Option<f64>>,
    pub cost: Vec<f64>,
    pub kept: Vec<f64>,
    pub exemplars: Vec<f64>,
    pub seconds: Vec<f64>,
    /// Number of known labels.
    pub known: Vec<f64>,
}

impl Track {
    fn of(steps: &[Step], stream: &Stream) -> Self {
        let all = |value: fn(&Step) -> f64| steps.iter().map(value).collect();
        Self {
            accuracy: steps.iter().map(|s| s.accuracy(&stream.truth)).collect(),
            cost: all(|s| s.cost),
            kept: all(|s| s.kept),
            exemplars: all(|s| s.exemplars as f64),
            seconds: all(|s| s.seconds),
            known: all(|s| s.known as f64),
        }
    }

    /// Mean accuracy over the last half of the batches.
    pub(super) fn late(&self) -> f64 {
        let half: Vec<f64> = self.accuracy[self.accuracy.len() / 2..].iter().flatten().copied().collect();
        super::mean(&half)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batch_learning_is_evaluated_along_the_stream_and_at_its_end() {
        assert_eq!(looked_at(10, 2), [4, 9]);
        assert_eq!(looked_at(3, 99), [0, 1, 2]);
        let at = looked_at(247, 12);
        assert!(at[11] == 246 && at.windows(2).all(|w| w[0] < w[1]));
    }

    #[test]
    fn late_accuracy_is_the_mean_of_the_last_half() {
        let rates = [None, Some(0.1), Some(0.5), None, Some(0.7)];
        let track = Track { accuracy: rates.to_vec(), ..Track::default() };
        assert!((track.late() - 0.6).abs() < 1e-12);
    }

    #[test]
    fn recent_entries_are_computed_once() {
        let (latest, mut made) = (Latest::default(), 0);
        for name in ["a", "b", "a", "c", "b", "a"] {
            latest
                .get(name, || {
                    made += 1;
                    Ok(made)
                })
                .unwrap();
        }
        assert_eq!(made, 4, "a, b, c, and a again, which c had replaced");
    }
}
