//! What is counted along a stream whose labels are known: how often the engine was right before it knew anything about a
//! batch, and after its questions. Bounded: a history that grows too long is thinned to every other batch.

use evermargin::engine::{Classes, InferredLabel};
use serde::{Deserialize, Serialize};

/// Batches of a history before every other one is dropped.
const MOST: usize = 2000;

/// A batch, with everything counted up to its end.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Point {
    /// Number of the batch.
    pub batch: u64,
    pub rows: u64,
    /// Rows of batches that are done with.
    pub closed: u64,
    /// Rows that were given a label and whose truth is known.
    pub judged: u64,
    /// Those that were right on arrival.
    pub right: u64,
    /// Rows judged again when the batch was closed, without those that were asked about, and those right then.
    pub judged_after: u64,
    pub right_after: u64,
    /// Questions asked.
    pub labels: u64,
    /// True labels remembered.
    pub remembered: u64,
    pub exemplars: u64,
    pub support: u64,
    /// Share of the labels that summarizing changed in this batch.
    pub cost: f64,
    pub drifts: u64,
}

/// Counts along a stream.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Tally {
    pub now: Point,
    /// One batch in so many is kept.
    every: u64,
    pub history: Vec<Point>,
    /// Rows of each class by the labels given out, names and counts.
    pub classes: Vec<(String, u64)>,
}

impl Tally {
    /// Labels given on arrival.
    pub fn arrived(&mut self, labels: &[InferredLabel], classes: &Classes, truth: &[Option<String>]) {
        self.now.batch += 1;
        self.now.rows += labels.len() as u64;
        let (judged, right) = judge(labels, classes, truth, &[]);
        self.now.judged += judged;
        self.now.right += right;
    }

    /// Labels given in the end; `told` are the rows whose label the engine was told.
    pub fn closed(
        &mut self,
        labels: &[InferredLabel],
        classes: &Classes,
        truth: &[Option<String>],
        told: &[usize],
    ) {
        self.now.closed = self.now.rows;
        let (judged, right) = judge(labels, classes, truth, told);
        self.now.judged_after += judged;
        self.now.right_after += right;
        for class in labels.iter().filter_map(|l| l.class) {
            let Some(name) = classes.names().get(class as usize) else { continue };
            match self.classes.iter_mut().find(|(n, _)| n == name) {
                Some((_, n)) => *n += 1,
                None => self.classes.push((name.clone(), 1)),
            }
        }
        self.every = self.every.max(1);
        if self.now.batch.is_multiple_of(self.every) {
            self.history.push(self.now);
        }
        if self.history.len() > MOST {
            self.every *= 2;
            let every = self.every;
            self.history.retain(|p| p.batch.is_multiple_of(every));
        }
    }

    /// Share that was right on arrival.
    pub fn accuracy(&self) -> Option<f64> {
        share(self.now.right, self.now.judged)
    }

    /// Share that was right when the batches were closed.
    pub fn accuracy_after(&self) -> Option<f64> {
        share(self.now.right_after, self.now.judged_after)
    }

    /// Share that was right on arrival in the second half of the batches.
    pub fn accuracy_of_last_half(&self) -> Option<f64> {
        let half =
            self.history.iter().rev().find(|p| p.batch * 2 <= self.now.batch).copied().unwrap_or_default();
        share(self.now.right - half.right, self.now.judged - half.judged)
    }
}

/// Rows that have a label and a truth, and those where they agree.
fn judge(
    labels: &[InferredLabel],
    classes: &Classes,
    truth: &[Option<String>],
    told: &[usize],
) -> (u64, u64) {
    let (mut judged, mut right) = (0, 0);
    let mut open = vec![true; labels.len()];
    for &row in told {
        if let Some(open) = open.get_mut(row) {
            *open = false;
        }
    }
    for ((label, truth), _) in labels.iter().zip(truth).zip(&open).filter(|(_, open)| **open) {
        let (Some(class), Some(truth)) = (label.class, truth) else { continue };
        judged += 1;
        right += u64::from(classes.find(truth) == Some(class));
    }
    (judged, right)
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_stays_short_and_keeps_its_end() {
        let mut tally = Tally::default();
        for _ in 0..10 * MOST {
            tally.arrived(&[], &Classes::default(), &[]);
            tally.now.judged += 2;
            tally.now.right += u64::from(tally.now.batch > 5 * MOST as u64) + 1;
            tally.closed(&[], &Classes::default(), &[], &[]);
        }
        assert!(tally.history.len() <= MOST);
        assert_eq!(tally.now.batch, 10 * MOST as u64);
        assert_eq!(tally.accuracy(), Some(0.75));
        let last = tally.accuracy_of_last_half().unwrap();
        assert!((last - 1.0).abs() < 0.01, "{last}");
    }
}
