//! Which labels the rows of a batch are given: those of the classifier, or of sources that also use rows without a label.
//!
//! Problem: on some streams transduction is 16 points better than the classifier that knows the labels alone, on others 24
//! points worse, and nobody knows beforehand which it is. Sources:
//!
//! - **model**: the classifier, trained on true labels alone;
//! - **transduction**: SUBMOD-S3VM over the pool (`transduction/`);
//! - **tsvm**: a transductive SVM over the pool, with the kernel of the classifier;
//! - **graph**: label propagation on the nearest-neighbor graph of the pool.
//!
//! The pool holds the remembered labels, the batch, the batch before it and the exemplars.
//!
//! Method, that of the estimator `auto`: each source labels held-out labels, with all rows without a label kept
//! (`evidence.rs`). Its weight is prior·exp(−η·(n·loss + d)), where n is the number of labels as far as they represent the
//! stream (a label that a query strategy chose counts 1/8), loss the log-loss plus the error on them, and d twice the number
//! of labels that arrived since and that the source got wrong where the classifier was right, less the reverse, faded.
//! Probabilities are averaged with these weights. Where the classifier has nearly all of the weight, the others are not
//! computed, and the labels are those of the classifier.
//!
//! The comparison is repeated when the labels have grown by a quarter, after drift, and otherwise after four batches; growth and
//! interval double while its outcome stays the same. Beyond 1,000 labels the classifier labels alone.

mod evidence;
mod pool;

pub(super) use pool::{Pool, PoolParts};

use super::MAX_COUNT;
use crate::error::{Error, Result};
use crate::estimators::auto::softmax;
use crate::solver::Watch;
use serde::{Deserialize, Serialize};

/// Labels beyond which the classifier labels alone.
pub(super) const MAX_LABELS: usize = 1000;

/// η: how fast the weight of a source falls with its loss.
const EVIDENCE_RATE: f64 = 0.3;

/// Labels beyond this number sharpen the weights no more.
const MAX_COUNTED_LABELS: f64 = 100.0;

/// Chosen labels that add the prior weight of the classifier once more: they were chosen where it was in doubt, so that it is
/// better than its answers to them.
const CHOSEN_PER_PRIOR: f64 = 8.0;

/// Weight below which a source is not computed.
const MIN_WEIGHT: f64 = 0.1;

/// Growth of the number of labels after which sources are compared again: at first, and at most. Its logarithm doubles with the
/// interval.
const GROWTH: (f64, f64) = (1.25, 4.0);

/// Batches between two comparisons without new labels: the first and the largest interval.
const INTERVALS: (u64, u64) = (4, 256);

/// Part of the recorded differences that a label leaves behind.
const FADE: f64 = 0.98;

/// Seconds by the clock of a watch. They are no part of a state: two stopwatches are equal whatever they show.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Stopwatch {
    pub(super) seconds: f64,
}

impl Stopwatch {
    /// Adds the time since `start`, if there is a clock.
    pub(super) fn add_since(&mut self, start: Option<f64>, watch: &dyn Watch) {
        if let (Some(start), Some(now)) = (start, watch.seconds()) {
            self.seconds += now - start;
        }
    }
}

impl PartialEq for Stopwatch {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A source of labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The classifier trained on true labels.
    Model,
    /// SUBMOD-S3VM over the pool.
    Transduction,
    /// A transductive SVM over the pool.
    Tsvm,
    /// Label propagation over the pool.
    Graph,
}

impl Source {
    /// All of them; the classifier first.
    pub const ALL: [Self; 4] = [Self::Model, Self::Transduction, Self::Tsvm, Self::Graph];

    /// The name a user reads.
    pub fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Transduction => "transduction",
            Self::Tsvm => "tsvm",
            Self::Graph => "graph",
        }
    }

    /// Its place in [`Source::ALL`].
    pub(super) fn index(self) -> usize {
        self as usize
    }

    fn prior(self) -> f64 {
        match self {
            Self::Model => 4.0,
            Self::Transduction | Self::Tsvm | Self::Graph => 1.0,
        }
    }
}

/// What is known about a source.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SourceWeight {
    /// The source.
    pub source: Source,
    /// Its weight among all sources.
    pub weight: f64,
    /// Share of held-out labels that it got right; none where no label could be held out.
    pub accuracy: Option<f64>,
    /// Log-loss plus error on held-out labels.
    loss: f64,
    /// Factor of its scaled scores whose softmax is the probability.
    slope: f64,
    /// Twice the labels since then that it got wrong and the classifier right, less the reverse, faded.
    since: f64,
}

/// The sources with their weights.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct LabelSources {
    weights: Vec<SourceWeight>,
    /// Labels that the comparison rests on, as far as they represent the stream.
    counted: f64,
    /// Labels that a strategy chose for the classifier.
    chosen: usize,
    /// Remembered labels at the last comparison.
    labels: usize,
    /// Batch of the last comparison.
    batch: u64,
    /// Batches from the last comparison to the next.
    interval: u64,
    /// Share of every class, by which transduction labels; empty = unknown.
    pub(super) shares: Vec<f64>,
}

impl LabelSources {
    /// The sources with their weights; empty before the first comparison.
    pub fn weights(&self) -> &[SourceWeight] {
        &self.weights
    }

    /// Whether to compare now.
    pub(super) fn is_due(&self, labels: usize, batch: u64, drifted: bool) -> bool {
        labels <= MAX_LABELS
            && (self.weights.is_empty()
                || drifted
                || labels as f64 >= self.growth() * self.labels as f64
                || labels < self.labels
                || batch >= self.batch.saturating_add(self.interval))
    }

    fn growth(&self) -> f64 {
        let doublings = (self.interval.max(1) / INTERVALS.0).max(1).ilog2();
        (0..doublings).fold(GROWTH.0, |growth, _| (growth * growth).min(GROWTH.1))
    }

    /// Weight of all sources but the classifier.
    pub(super) fn inferred_weight(&self) -> f64 {
        self.weights.iter().filter(|w| w.source != Source::Model).map(|w| w.weight).sum()
    }

    /// Sources worth computing with their weights and slopes; empty where the classifier labels alone.
    pub(super) fn active(&self) -> Vec<(Source, f64, f64)> {
        if self.inferred_weight() < MIN_WEIGHT {
            return Vec::new();
        }
        let kept = self.weights.iter().filter(|w| w.weight >= MIN_WEIGHT);
        kept.map(|w| (w.source, w.weight, w.slope)).collect()
    }

    /// Replaces the comparison.
    pub(super) fn set(
        &mut self,
        evidence: &[evidence::Evidence],
        (counted, chosen): (f64, usize),
        labels: usize,
        batch: u64,
    ) {
        let since =
            |source: Source| self.weights.iter().find(|w| w.source == source).map_or(0.0, |w| w.since);
        let before = self.leader();
        let found = |e: &evidence::Evidence| SourceWeight {
            source: e.source,
            weight: 0.0,
            accuracy: e.accuracy,
            loss: e.loss,
            slope: e.slope,
            since: since(e.source),
        };
        self.weights = evidence.iter().map(found).collect();
        (self.counted, self.chosen, self.labels, self.batch) = (counted, chosen, labels, batch);
        self.weigh();
        let same = before.is_some() && before == self.leader();
        self.interval = if same { (2 * self.interval).min(INTERVALS.1) } else { INTERVALS.0 };
    }

    /// The classifier labels alone, and nothing is known about the others.
    pub(super) fn clear(&mut self) {
        *self = Self { shares: std::mem::take(&mut self.shares), ..Self::default() };
    }

    /// Holds a label that no strategy chose against the sources: the class each gave, by [`Source::index`].
    pub(super) fn record(&mut self, given: &[Option<u32>; 4], class: u32) {
        let Some(model) = given[0] else { return };
        let wrong = |c: u32| f64::from(u8::from(c != class));
        for weight in &mut self.weights {
            weight.since *= FADE;
            if let Some(own) = given[weight.source.index()] {
                weight.since += 2.0 * (wrong(own) - wrong(model));
            }
        }
        self.weigh();
    }

    /// Forgets the labels since the last comparison: the stream has changed.
    pub(super) fn forget(&mut self) {
        self.weights.iter_mut().for_each(|w| w.since = 0.0);
    }

    fn leader(&self) -> Option<Source> {
        self.weights.iter().reduce(|best, w| if w.weight > best.weight { w } else { best }).map(|w| w.source)
    }

    fn weigh(&mut self) {
        let n = self.counted.min(MAX_COUNTED_LABELS);
        let exponent = |w: &SourceWeight| -EVIDENCE_RATE * (n * w.loss + w.since);
        let largest = self.weights.iter().map(exponent).fold(f64::NEG_INFINITY, f64::max);
        let chosen = 1.0 + self.chosen as f64 / CHOSEN_PER_PRIOR;
        let prior = |source: Source| source.prior() * if source == Source::Model { chosen } else { 1.0 };
        let raw: Vec<f64> =
            self.weights.iter().map(|w| prior(w.source) * (exponent(w) - largest).exp()).collect();
        let sum: f64 = raw.iter().sum();
        self.weights.iter_mut().zip(raw).for_each(|(w, r)| w.weight = r / sum);
    }

    /// Class c has the number `now[c]`.
    pub(super) fn renumber(&mut self, now: &[u32], classes: usize) {
        if self.shares.is_empty() {
            return;
        }
        let mut shares = vec![0.0; classes];
        self.shares.iter().zip(now).for_each(|(s, &c)| shares[c as usize] = *s);
        self.shares = shares;
    }

    /// Refuses numbers that no comparison leads to (a file may say anything).
    pub(super) fn check(&self, classes: usize) -> Result<()> {
        let number = |v: f64| (-1e18..=1e18).contains(&v);
        let share = |v: f64| (0.0..=1.0 + 1e-9).contains(&v);
        let fits = self.weights.len() <= Source::ALL.len()
            && self.weights.windows(2).all(|w| w[0].source < w[1].source)
            && self.weights.iter().all(|w| {
                share(w.weight)
                    && w.accuracy.is_none_or(share)
                    && number(w.loss)
                    && number(w.since)
                    && (0.0..=1e6).contains(&w.slope)
            })
            && (0.0..=1e18).contains(&self.counted)
            && self.chosen.max(self.labels) as u64 <= MAX_COUNT
            && self.batch <= MAX_COUNT
            && self.interval <= INTERVALS.1
            && (self.shares.is_empty() || self.shares.len() == classes)
            && self.shares.iter().all(|s| share(*s));
        if fits { Ok(()) } else { Err(Error::State("its label sources have no such weights".into())) }
    }
}

/// Probabilities of the classes from scaled scores.
pub(super) fn probabilities(scores: &[f64], slope: f64) -> Vec<f64> {
    softmax(scores, slope)
}
