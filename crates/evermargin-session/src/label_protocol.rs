//! The evaluation protocol for labels, fixed when a session begins: which labels of the data the session may use, and when
//! they arrive.
//!
//! Each label is available with the same probability. A hash of the seed and the sample number decides, so that the choice
//! is the same after a resume and in the random baseline. Labels may arrive some batches after their rows. Predictions are
//! scored on all labels of the data, including those that the engine is not given.

use evermargin::engine::{Engine, Event, Question};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Maximum number of batches by which labels are delayed.
pub const MAX_DELAY: u64 = 10_000;

/// Maximum number of delayed labels in the queue.
const MAX_WAITING: usize = 1_000_000;

/// Delay of labels, and the fraction of them that is available.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabelProtocol {
    /// Number of batches after which the label of a row arrives. With 0 it arrives with the row or as the answer to a
    /// query.
    pub delay: u64,
    /// Probability that a label of the data is available.
    pub rate: f64,
}

impl Default for LabelProtocol {
    fn default() -> Self {
        Self { delay: 0, rate: 1.0 }
    }
}

impl LabelProtocol {
    /// Returns an error for values out of range.
    pub fn check(&self) -> Result<(), String> {
        if self.delay > MAX_DELAY {
            return Err(format!("label delay {}: must be at most {MAX_DELAY} batches", self.delay));
        }
        if !(0.0..=1.0).contains(&self.rate) {
            return Err(format!("label rate {}: must be a fraction from 0 to 1", self.rate));
        }
        Ok(())
    }

    /// Answer of a simulated annotator to a query about a row with this label. The annotator names classes only where the
    /// label is available, and compares any rows that have a label.
    pub(crate) fn answer(&self, query: &Question, label: Option<String>, engine: &Engine) -> Option<Event> {
        let (sample, label) = (query.sample, label?);
        if let Some(reference) = &query.reference {
            let classes = engine.classes();
            let same = classes.find(&label).is_some_and(|c| classes.names()[c as usize] == reference.class);
            return Some(Event::Related { a: sample, b: reference.sample, same });
        }
        self.is_available(engine.params().seed, sample).then_some(Event::Answer { sample, label })
    }

    /// Whether the label of a sample is available.
    pub(crate) fn is_available(&self, seed: u64, sample: u64) -> bool {
        // SplitMix64 (Steele, Lea and Flood 2014): the upper 53 bits are uniform in [0, 1).
        let mut z = seed.wrapping_mul(0xd1b5_4a32_d192_ed03).wrapping_add(sample).wrapping_add(1);
        z = z.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        ((z >> 11) as f64) / ((1u64 << 53) as f64) < self.rate
    }
}

/// Queue of labels that have not arrived yet, in the order of their arrival.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DelayedLabels {
    batches: VecDeque<DelayedBatch>,
    /// Number of labels that have arrived.
    pub(crate) arrived: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DelayedBatch {
    /// Number of the batch at whose end the labels arrive.
    due: u64,
    /// Samples and the names of their classes.
    labels: Vec<(u64, String)>,
    /// Answers to comparisons: two samples, and whether they belong to the same class.
    pairs: Vec<(u64, u64, bool)>,
}

impl DelayedBatch {
    fn count(&self) -> usize {
        self.labels.len() + self.pairs.len()
    }
}

/// Labels and answers that arrive at the end of a batch.
#[derive(Debug, Default)]
pub(crate) struct ArrivingLabels {
    pub(crate) labels: Vec<(u64, String)>,
    pub(crate) pairs: Vec<(u64, u64, bool)>,
}

impl DelayedLabels {
    /// Queues labels that arrive at the end of batch `due`. Beyond the maximum number of labels the oldest are dropped.
    pub(crate) fn send(&mut self, due: u64, labels: Vec<(u64, String)>) {
        self.send_batch(DelayedBatch { due, labels, pairs: Vec::new() });
    }

    /// Queues answers to queries that arrive at the end of batch `due`.
    pub(crate) fn send_answers(&mut self, due: u64, answers: Vec<Event>) {
        let mut batch = DelayedBatch { due, labels: Vec::new(), pairs: Vec::new() };
        for answer in answers {
            match answer {
                Event::Answer { sample, label } => batch.labels.push((sample, label)),
                Event::Related { a, b, same } => batch.pairs.push((a, b, same)),
                _ => {}
            }
        }
        self.send_batch(batch);
    }

    fn send_batch(&mut self, batch: DelayedBatch) {
        if batch.count() > 0 {
            self.batches.push_back(batch);
        }
        while self.waiting() > MAX_WAITING && self.batches.len() > 1 {
            self.batches.pop_front();
        }
    }

    /// Number of labels and answers that have not arrived yet.
    pub(crate) fn waiting(&self) -> usize {
        self.batches.iter().map(DelayedBatch::count).sum()
    }

    /// Removes and returns the labels that arrive at the end of a batch.
    pub(crate) fn arriving(&mut self, batch: u64) -> ArrivingLabels {
        let mut out = ArrivingLabels::default();
        while self.batches.front().is_some_and(|first| first.due <= batch) {
            let Some(batch) = self.batches.pop_front() else { break };
            self.arrived += batch.count() as u64;
            out.labels.extend(batch.labels);
            out.pairs.extend(batch.pairs);
        }
        out
    }

    /// Returns an error for a queue that no session can have after so many batches.
    pub(crate) fn check(&self, batches: u64) -> Result<(), String> {
        let in_order = self.batches.iter().zip(self.batches.iter().skip(1)).all(|(a, b)| a.due <= b.due);
        let bounded =
            self.batches.iter().all(|b| b.due <= batches.saturating_add(MAX_DELAY) && b.count() > 0);
        if in_order && bounded && self.arrived <= 1 << 53 {
            Ok(())
        } else {
            Err("delayed labels are out of order, empty or too late".into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{DelayedLabels, LabelProtocol, MAX_WAITING};
    use evermargin::engine::Event;

    #[test]
    fn fraction_of_available_labels_equals_rate() {
        for rate in [0.0, 0.02, 0.5, 1.0] {
            for seed in [1, 2, 77] {
                let protocol = LabelProtocol { delay: 0, rate };
                let count = (0..20_000).filter(|&s| protocol.is_available(seed, s)).count() as f64;
                let deviation = (rate * (1.0 - rate) * 20_000.0f64).sqrt();
                assert!((count - rate * 20_000.0).abs() <= 4.0 * deviation, "{rate} {seed}: {count}");
            }
        }
    }

    #[test]
    fn delivers_labels_in_order_and_bounds_their_number() {
        let mut labels = DelayedLabels::default();
        labels.send(3, vec![(1, "a".into())]);
        labels.send(4, vec![(2, "b".into()), (3, "a".into())]);
        labels.check(1).unwrap();
        labels.send_answers(4, vec![Event::Related { a: 7, b: 1, same: true }]);
        labels.send_answers(4, Vec::new());
        labels.check(1).unwrap();
        assert!(labels.arriving(2).labels.is_empty());
        assert_eq!(labels.arriving(3).labels, [(1, "a".to_string())]);
        let last = labels.arriving(9);
        assert_eq!((last.labels.len(), last.pairs), (2, vec![(7, 1, true)]));
        assert_eq!((labels.waiting(), labels.arrived), (0, 4));
        for due in 0..5 {
            labels.send(due, vec![(0, String::new()); MAX_WAITING / 2]);
            assert!(labels.waiting() <= MAX_WAITING);
        }
    }
}
