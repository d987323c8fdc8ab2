//! Sources of the labels of a batch: the classifier, and methods that also use unlabeled rows.
//!
//! Problem: on some streams transduction is 16 points better than the classifier trained on labels alone, on others 24
//! points worse, and it is not known in advance which case applies. Sources:
//!
//! - **model**: the classifier, trained on true labels alone;
//! - **transduction**: SUBMOD-S3VM over the pool (`transduction/`);
//! - **tsvm**: a transductive SVM over the pool, with the kernel of the classifier;
//! - **graph**: label propagation on the nearest-neighbor graph of the pool.
//!
//! The pool holds the remembered labels, the batch, the batch before it and the exemplars.
//!
//! Method, as in the estimator `auto`: each source predicts held-out labels, with all unlabeled rows kept
//! (`evidence.rs`). Its weight is prior·exp(−η·(n·loss + d)). n is the number of held-out labels, weighted by how well
//! they represent the stream (a label that a query strategy chose counts 1/8). The loss is log-loss plus error on these
//! labels. d compares the source with the classifier on labels that arrived after the comparison and that no query
//! strategy chose: it is twice the number that only the source got wrong, minus twice the number that only the
//! classifier got wrong, with fading. Probabilities are averaged with these weights. If the classifier has nearly all
//! of the weight, the other sources are not computed, and the labels are those of the classifier.
//!
//! The comparison uses at most `EVIDENCE_ROWS` unlabeled rows, evenly spaced in the pool. It is repeated at once when
//! the number of these rows has doubled. It is also repeated, if the counted work allows (`work.rs`), when the number
//! of labels has grown by half, after drift, and otherwise after four batches. As long as the best source stays the
//! same, the interval doubles and the required growth increases. Sources of low weight are computed as far as the
//! counted work allows. With more than `max_labels` labels, the classifier is the only source.

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

/// Number of labels per class above which the classifier is the only source.
const MAX_LABELS_PER_CLASS: usize = 200;

/// Bounds of the total number of labels above which the classifier is the only source.
const MAX_LABELS: (usize, usize) = (400, 1000);

/// Number of labels above which the classifier is the only source.
pub(super) fn max_labels(classes: usize) -> usize {
    (MAX_LABELS_PER_CLASS * classes).clamp(MAX_LABELS.0, MAX_LABELS.1)
}

/// Maximum number of unlabeled rows in a comparison, whose cost grows with their square.
pub(super) const EVIDENCE_ROWS: usize = 200;

/// η: rate at which the weight of a source decreases with its loss.
const EVIDENCE_RATE: f64 = 0.3;

/// Maximum number of labels that count in the weights.
const MAX_COUNTED_LABELS: f64 = 100.0;

/// Number of labels chosen by a query strategy that add the prior weight of the classifier once more. They were chosen
/// where its predictions are uncertain, so it is more accurate on the stream than on them.
const CHOSEN_PER_PRIOR: f64 = 8.0;

/// Weight below which a source is not computed.
const MIN_WEIGHT: f64 = 0.1;

/// Weight from which a source is computed whatever its cost.
const CLEAR_WEIGHT: f64 = 0.3;

/// Total weight of the sources other than the classifier from which the published classifier learns their labels.
const MIN_TEACHING_WEIGHT: f64 = 0.3;

/// Share of [`MIN_TEACHING_WEIGHT`] below which inferred labels that were learned are forgotten.
const KEPT_SHARE: f64 = 1.0 / 3.0;

/// Factor by which the number of labels must grow before sources are compared again: initial and maximum value. Its
/// logarithm doubles with the interval.
const GROWTH: (f64, f64) = (1.5, 4.0);

/// Number of batches between two comparisons without new labels: initial and maximum value.
const INTERVALS: (u64, u64) = (4, 256);

/// Factor by which each new label multiplies the recorded differences.
const FADE: f64 = 0.98;

/// Seconds by the clock of a watch. They are not part of the state: all stopwatches are equal.
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

/// Label source.
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
    /// All values; the classifier comes first.
    pub const ALL: [Self; 4] = [Self::Model, Self::Transduction, Self::Tsvm, Self::Graph];

    /// Name in files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Transduction => "transduction",
            Self::Tsvm => "tsvm",
            Self::Graph => "graph",
        }
    }

    /// Position in [`Source::ALL`].
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

/// Weight and evidence of a label source.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SourceWeight {
    /// The source.
    pub source: Source,
    /// Weight; the weights of all sources add up to 1.
    pub weight: f64,
    /// Share of held-out labels predicted correctly, weighted by how well they represent the stream; `None` if no label
    /// could be held out.
    pub accuracy: Option<f64>,
    /// Number of held-out labels in the latest comparison.
    pub held_out: u64,
    /// Number of held-out labels predicted correctly.
    pub correct: u64,
    /// Log-loss plus error on held-out labels.
    loss: f64,
    /// Slope: probabilities are the softmax of the scaled scores times this factor.
    slope: f64,
    /// d of the weight: difference from the classifier on labels that arrived since the comparison.
    since: f64,
}

/// Label sources with their weights, and the schedule of their comparisons.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct LabelSources {
    weights: Vec<SourceWeight>,
    /// Number of labels in the latest comparison, weighted by how well they represent the stream.
    counted: f64,
    /// Number of labels in the latest comparison that a query strategy chose.
    chosen: usize,
    /// Number of remembered labels at the latest comparison.
    labels: usize,
    /// Number of unlabeled rows in the latest comparison.
    rows: usize,
    /// Number of the batch of the latest comparison.
    batch: u64,
    /// Number of batches from the latest comparison to the next.
    interval: u64,
    /// Work that may be spent on comparisons and on sources of low weight.
    pub(super) credit: Credit,
    /// Share of each class among unlabeled rows, for the sources; empty = unknown.
    pub(super) shares: Vec<f64>,
}

impl LabelSources {
    /// Sources with their weights; empty before the first comparison.
    pub fn weights(&self) -> &[SourceWeight] {
        &self.weights
    }

    /// Number of remembered labels that a query strategy chose. They count less, because the predictions
    /// of the classifier for such samples are uncertain.
    pub fn chosen_labels(&self) -> usize {
        self.chosen
    }

    /// Number of remembered labels at the latest comparison.
    pub fn compared_labels(&self) -> usize {
        self.labels
    }

    /// Whether to compare the sources now: a comparison of a pool of this size is due, and the counted work allows it.
    pub(super) fn is_due(&self, size: PoolSize, batch: u64, drifted: bool) -> bool {
        let (labels, doubled) = (size.labels, size.rows - size.labels >= 2 * self.rows.max(1));
        let due = self.weights.is_empty()
            || drifted
            || labels as f64 >= self.growth() * self.labels as f64
            || labels < self.labels
            || batch >= self.batch.saturating_add(self.interval);
        doubled || (due && self.credit.affords(size.comparison(FOLDS)))
    }

    /// Whether to estimate the class shares again: there are none, the number of labels has changed, or drift was
    /// detected.
    pub(super) fn wants_shares(&self, labels: usize, drifted: bool) -> bool {
        self.shares.is_empty() || self.labels != labels || drifted
    }

    fn growth(&self) -> f64 {
        let doublings = (self.interval.max(1) / INTERVALS.0).max(1).ilog2();
        (0..doublings).fold(GROWTH.0, |growth, _| (growth * growth).min(GROWTH.1))
    }

    /// Whether the published classifier learns inferred labels; `already` if it has learned some. It does not if a
    /// query strategy chose most of the labels: these lie where the predictions of the classifier are uncertain, which
    /// makes other sources look better than they are.
    pub(super) fn teach(&self, already: bool, labels: usize) -> bool {
        let min = if already { KEPT_SHARE * MIN_TEACHING_WEIGHT } else { MIN_TEACHING_WEIGHT };
        2 * self.chosen <= labels && self.inferred_weight() >= min
    }

    /// Total weight of all sources except the classifier.
    fn inferred_weight(&self) -> f64 {
        self.weights.iter().filter(|w| w.source != Source::Model).map(|w| w.weight).sum()
    }

    /// Sources to compute, with their weights and slopes; empty if the classifier is the only source.
    pub(super) fn active(&self) -> Vec<(Source, f64, f64)> {
        if self.inferred_weight() < MIN_WEIGHT {
            return Vec::new();
        }
        let min = if self.credit.affords_doubtful() { MIN_WEIGHT } else { CLEAR_WEIGHT };
        let kept = self.weights.iter().filter(|w| w.source == Source::Model || w.weight >= min);
        let kept: Vec<_> = kept.map(|w| (w.source, w.weight, w.slope)).collect();
        if kept.iter().all(|(source, ..)| *source == Source::Model) { Vec::new() } else { kept }
    }

    /// Counts the work of a batch: the ordinary work, and that of the sources that labeled it, given with their
    /// weights.
    pub(super) fn count_batch(&mut self, ordinary: f64, sources: &[(Source, f64)], size: PoolSize) {
        let work = |(source, _): &(Source, f64)| size.source(*source);
        let doubtful = sources.iter().filter(|(_, weight)| *weight < CLEAR_WEIGHT).map(work).sum();
        self.credit.earn(ordinary, sources.iter().map(work).sum());
        self.credit.spend_doubtful(doubtful);
    }

    /// Stores the result of a comparison.
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

    /// Removes all weights, so that the classifier is the only source.
    pub(super) fn clear(&mut self) {
        let shares = std::mem::take(&mut self.shares);
        *self = Self { shares, credit: self.credit, rows: self.rows, ..Self::default() };
    }

    /// Compares a label that no query strategy chose with the class that each source predicted, by [`Source::index`].
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

    /// After drift: forgets the differences since the latest comparison, and shortens the interval to the next.
    pub(super) fn forget(&mut self) {
        self.weights.iter_mut().for_each(|w| w.since = 0.0);
        self.interval = self.interval.min(INTERVALS.0);
    }

    fn leader(&self) -> Option<Source> {
        self.weights.iter().reduce(|best, w| if w.weight > best.weight { w } else { best }).map(|w| w.source)
    }

    /// Weighs the sources again when the number of labels that a query strategy chose has changed: a comparison made while
    /// labels were few does not outlive them.
    pub(super) fn count_chosen(&mut self, chosen: usize) {
        if chosen != self.chosen && !self.weights.is_empty() {
            self.chosen = chosen;
            self.weigh();
        }
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

    /// After a new class: removes the class shares until they are estimated again, and makes a comparison due at once.
    pub(super) fn forget_shares(&mut self) {
        self.shares.clear();
        self.rows = 0;
    }

    /// Returns an error for values that no comparison produces (a file may hold anything).
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
        if fits {
            Ok(())
        } else {
            Err(Error::State("the weights of its label sources are out of range".into()))
        }
    }
}

/// Class probabilities from scaled scores.
pub(super) fn probabilities(scores: &[f64], slope: f64) -> Vec<f64> {
    softmax(scores, slope)
}
