//! The sources of the labels of a batch: the classifier, and methods that also use rows without a label.
//!
//! Problem: on some streams transduction is 16 points better than the classifier trained on labels alone, on others 24
//! points worse, and it is not known beforehand on which. Sources:
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
//! The comparison uses at most `EVIDENCE_ROWS` rows without a label, evenly from the pool. It is repeated at once when these
//! rows have doubled, and, as far as counted work affords it (`work.rs`), when the labels have grown by half, after drift, and
//! otherwise after four batches; growth and interval double while its outcome stays the same. Sources of little weight are
//! computed as far as counted work affords them. Beyond `max_labels` the classifier labels alone.

mod evidence;
mod pool;
#[cfg(test)]
mod tests;
mod work;

use evidence::FOLDS;
pub(super) use pool::{Pool, PoolParts, evenly};
use work::Credit;
pub(super) use work::{PoolSize, ordinary};

use super::MAX_COUNT;
use crate::error::{Error, Result};
use crate::estimators::auto::softmax;
use crate::solver::Watch;
use serde::{Deserialize, Serialize};

/// Labels per class beyond which the classifier labels alone, and the bounds of their sum.
const MAX_LABELS_PER_CLASS: usize = 200;
const MAX_LABELS: (usize, usize) = (400, 1000);

/// Labels beyond which the classifier labels alone.
pub(super) fn max_labels(classes: usize) -> usize {
    (MAX_LABELS_PER_CLASS * classes).clamp(MAX_LABELS.0, MAX_LABELS.1)
}

/// The maximum number of unlabeled rows of a comparison, whose cost grows with their square.
pub(super) const EVIDENCE_ROWS: usize = 200;

/// η: how fast the weight of a source falls with its loss.
const EVIDENCE_RATE: f64 = 0.3;

/// Labels beyond this number sharpen the weights no more.
const MAX_COUNTED_LABELS: f64 = 100.0;

/// Chosen labels that add the prior weight of the classifier once more: they were chosen where it was in doubt, so that it is
/// better than its answers to them.
const CHOSEN_PER_PRIOR: f64 = 8.0;

/// Weight below which a source is not computed.
const MIN_WEIGHT: f64 = 0.1;

/// Weight from which a source is computed whatever it costs.
const CLEAR_WEIGHT: f64 = 0.3;

/// Weight of the sources other than the classifier from which the published classifier learns their labels, and the share of it
/// below which these labels are forgotten.
const ENOUGH_TO_TEACH: f64 = 0.3;
const KEEPING: f64 = 1.0 / 3.0;

/// Growth of the number of labels after which sources are compared again: at first, and at most. Its logarithm doubles with the
/// interval.
const GROWTH: (f64, f64) = (1.5, 4.0);

/// Batches between two comparisons without new labels: the first and the largest interval.
const INTERVALS: (u64, u64) = (4, 256);

/// Factor by which each label reduces the recorded differences.
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

    /// The name in files and reports.
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

/// Weight and evidence of a source.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SourceWeight {
    /// The source.
    pub source: Source,
    /// Its weight among all sources.
    pub weight: f64,
    /// Share of held-out labels that it got right, each as far as it represents the stream; none where no label could be held
    /// out.
    pub accuracy: Option<f64>,
    /// Number of held-out labels of the last comparison.
    pub held_out: u64,
    /// Those of them that it got right.
    pub correct: u64,
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
    /// Unlabeled rows of the last comparison.
    rows: usize,
    /// Batch of the last comparison.
    batch: u64,
    /// Batches from the last comparison to the next.
    interval: u64,
    /// Work that comparisons and sources of little weight may cost.
    pub(super) credit: Credit,
    /// Share of every class, by which transduction labels; empty = unknown.
    pub(super) shares: Vec<f64>,
}

impl LabelSources {
    /// The sources with their weights; empty before the first comparison.
    pub fn weights(&self) -> &[SourceWeight] {
        &self.weights
    }

    /// Labels at the last comparison that a query strategy chose. They count less, because they lie where the classifier is in
    /// doubt.
    pub fn chosen_labels(&self) -> usize {
        self.chosen
    }

    /// Remembered labels at the last comparison.
    pub fn compared_labels(&self) -> usize {
        self.labels
    }

    /// Whether to compare now, a pool of this size, if that can be afforded.
    pub(super) fn is_due(&self, size: PoolSize, batch: u64, drifted: bool) -> bool {
        let (labels, doubled) = (size.labels, size.rows - size.labels >= 2 * self.rows.max(1));
        let due = self.weights.is_empty()
            || drifted
            || labels as f64 >= self.growth() * self.labels as f64
            || labels < self.labels
            || batch >= self.batch.saturating_add(self.interval);
        doubled || (due && self.credit.affords(size.comparison(FOLDS)))
    }

    /// Whether the shares of the classes are to be estimated anew: labels have changed, or the stream has.
    pub(super) fn wants_shares(&self, labels: usize, drifted: bool) -> bool {
        self.shares.is_empty() || self.labels != labels || drifted
    }

    fn growth(&self) -> f64 {
        let doublings = (self.interval.max(1) / INTERVALS.0).max(1).ilog2();
        (0..doublings).fold(GROWTH.0, |growth, _| (growth * growth).min(GROWTH.1))
    }

    /// Whether the published classifier learns inferred labels; `already` if it has learned some. Labels that a strategy chose
    /// are no evidence for it: they lie where the classifier is in doubt, so that other sources look better.
    pub(super) fn teach(&self, already: bool) -> bool {
        let enough = if already { KEEPING * ENOUGH_TO_TEACH } else { ENOUGH_TO_TEACH };
        2 * self.chosen <= self.labels && self.inferred_weight() >= enough
    }

    /// Weight of all sources but the classifier.
    fn inferred_weight(&self) -> f64 {
        self.weights.iter().filter(|w| w.source != Source::Model).map(|w| w.weight).sum()
    }

    /// Sources worth computing with their weights and slopes; empty where the classifier labels alone.
    pub(super) fn active(&self) -> Vec<(Source, f64, f64)> {
        if self.inferred_weight() < MIN_WEIGHT {
            return Vec::new();
        }
        let min = if self.credit.affords_doubtful() { MIN_WEIGHT } else { CLEAR_WEIGHT };
        let kept = self.weights.iter().filter(|w| w.source == Source::Model || w.weight >= min);
        let kept: Vec<_> = kept.map(|w| (w.source, w.weight, w.slope)).collect();
        if kept.iter().all(|(source, ..)| *source == Source::Model) { Vec::new() } else { kept }
    }

    /// Counts a batch: its ordinary work, and that of the sources it was labeled by, with their weights.
    pub(super) fn count_batch(&mut self, ordinary: f64, sources: &[(Source, f64)], size: PoolSize) {
        let work = |(source, _): &(Source, f64)| size.source(*source);
        let doubtful = sources.iter().filter(|(_, weight)| *weight < CLEAR_WEIGHT).map(work).sum();
        self.credit.earn(ordinary, sources.iter().map(work).sum());
        self.credit.spend_doubtful(doubtful);
    }

    /// Replaces the comparison.
    pub(super) fn set(
        &mut self,
        evidence: &[evidence::Evidence],
        (counted, chosen): (f64, usize),
        size: PoolSize,
        batch: u64,
    ) {
        let since =
            |source: Source| self.weights.iter().find(|w| w.source == source).map_or(0.0, |w| w.since);
        let before = self.leader();
        let found = |e: &evidence::Evidence| SourceWeight {
            source: e.source,
            weight: 0.0,
            accuracy: e.accuracy,
            held_out: e.held_out,
            correct: e.correct,
            loss: e.loss,
            slope: e.slope,
            since: since(e.source),
        };
        self.weights = evidence.iter().map(found).collect();
        (self.counted, self.chosen, self.labels, self.batch) = (counted, chosen, size.labels, batch);
        self.weigh();
        let same = before.is_some() && before == self.leader();
        self.interval = if same { (2 * self.interval).min(INTERVALS.1) } else { INTERVALS.0 };
    }

    /// Counts the work of a comparison.
    pub(super) fn count_comparison(&mut self, size: PoolSize) {
        self.rows = size.rows - size.labels;
        self.credit.spend(size.comparison(FOLDS));
    }

    /// The classifier labels alone, and nothing is known about the others.
    pub(super) fn clear(&mut self) {
        let shares = std::mem::take(&mut self.shares);
        *self = Self { shares, credit: self.credit, rows: self.rows, ..Self::default() };
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

    /// Forgets the labels since the last comparison, and shortens the interval to the next: the stream has changed.
    pub(super) fn forget(&mut self) {
        self.weights.iter_mut().for_each(|w| w.since = 0.0);
        self.interval = self.interval.min(INTERVALS.0);
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

    /// A class is new: the shares of the classes are unknown until they are estimated again, and sources are compared at once.
    pub(super) fn forget_shares(&mut self) {
        self.shares.clear();
        self.rows = 0;
    }

    /// Refuses numbers that no comparison leads to (a file may hold any).
    pub(super) fn check(&self, classes: usize) -> Result<()> {
        let number = |v: f64| (-1e18..=1e18).contains(&v);
        let share = |v: f64| (0.0..=1.0 + 1e-9).contains(&v);
        let fits = self.weights.len() <= Source::ALL.len()
            && self.weights.windows(2).all(|w| w[0].source < w[1].source)
            && self.weights.iter().all(|w| {
                share(w.weight)
                    && w.accuracy.is_none_or(share)
                    && w.correct <= w.held_out
                    && w.held_out <= MAX_COUNT
                    && number(w.loss)
                    && number(w.since)
                    && (0.0..=1e6).contains(&w.slope)
            })
            && (0.0..=1e18).contains(&self.counted)
            && self.chosen.max(self.labels).max(self.rows) as u64 <= MAX_COUNT
            && self.batch <= MAX_COUNT
            && self.interval <= INTERVALS.1
            && self.credit.is_possible()
            && (self.shares.is_empty() || self.shares.len() == classes)
            && self.shares.iter().all(|s| share(*s));
        if fits { Ok(()) } else { Err(Error::State("its label sources have no such weights".into())) }
    }
}

/// Probabilities of the classes from scaled scores.
pub(super) fn probabilities(scores: &[f64], slope: f64) -> Vec<f64> {
    softmax(scores, slope)
}
