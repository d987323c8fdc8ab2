//! Statistics along a stream: prequential accuracy and kappa, accuracy after queries, counts. The history is bounded: when
//! it grows too long, every other batch is dropped from it.

use evermargin::engine::{Classes, Engine, InferredLabel};
use serde::{Deserialize, Serialize};

/// Points of a history before every other one is dropped.
const MAX_POINTS: usize = 2000;

/// Classes that are counted; of more, the later ones are not.
const MAX_CLASSES: usize = 1000;

/// Cumulative counts at the end of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatisticsPoint {
    /// Number of the batch, counted from 1.
    pub batch: u64,
    /// Rows that were predicted.
    pub rows: u64,
    /// Rows of closed batches.
    pub closed_rows: u64,
    /// Rows left out because they could not be used.
    pub rejected_rows: u64,
    /// Rows with a prediction on arrival and a reference label.
    pub scored: u64,
    /// Those predicted correctly on arrival.
    pub correct: u64,
    /// Rows scored again when their batch was closed, without those whose label the engine was given.
    pub scored_after: u64,
    /// Those predicted correctly then.
    pub correct_after: u64,
    /// Queries asked.
    pub queries: u64,
    /// Labels in memory.
    pub remembered_labels: u64,
    /// Exemplars in memory.
    pub exemplars: u64,
    /// Support vectors of the classifier.
    pub support_vectors: u64,
    /// Fraction of predictions of this batch that summarizing the past changed.
    pub summary_cost: f64,
    /// Changes of the stream that were detected.
    pub drifts: u64,
}

/// A class and how often it occurred among scored and closed rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassCounts {
    /// Name of the class.
    pub name: String,
    /// Rows of closed batches predicted as this class.
    pub assigned: u64,
    /// Rows scored on arrival that were predicted as this class.
    pub predicted: u64,
    /// Rows scored on arrival whose reference label is this class.
    pub actual: u64,
}

/// Statistics of a stream.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamStatistics {
    /// Counts so far.
    pub current: StatisticsPoint,
    /// One batch in this many is in the history.
    stride: u64,
    /// Earlier batches, oldest first.
    pub history: Vec<StatisticsPoint>,
    /// Counts per class, in the order of their first appearance.
    pub classes: Vec<ClassCounts>,
}

impl StreamStatistics {
    /// Scores predictions that were made when a batch arrived.
    pub(crate) fn record_arrival(
        &mut self,
        predictions: &[InferredLabel],
        classes: &Classes,
        reference: &[Option<String>],
    ) {
        self.current.batch += 1;
        self.current.rows += predictions.len() as u64;
        for (predicted, actual) in scored_rows(predictions, classes, reference, &[]) {
            self.current.scored += 1;
            self.current.correct += u64::from(predicted == actual);
            self.count_class(predicted, |counts| counts.predicted += 1);
            self.count_class(actual, |counts| counts.actual += 1);
        }
    }

    /// Scores the predictions of a closed batch. The labels of the `given` rows were given to the engine.
    pub(crate) fn record_close(
        &mut self,
        predictions: &[InferredLabel],
        engine: &Engine,
        reference: &[Option<String>],
        given: &[usize],
    ) {
        self.count_memory(engine);
        self.current.closed_rows = self.current.rows;
        for (predicted, actual) in scored_rows(predictions, engine.classes(), reference, given) {
            self.current.scored_after += 1;
            self.current.correct_after += u64::from(predicted == actual);
        }
        for class in predictions.iter().filter_map(|p| p.class) {
            if let Some(name) = engine.classes().names().get(class as usize) {
                self.count_class(name, |counts| counts.assigned += 1);
            }
        }
        self.push_history();
    }

    fn count_memory(&mut self, engine: &Engine) {
        let current = &mut self.current;
        current.queries = engine.budget_usage().total;
        current.remembered_labels = engine.memory().map_or(0, |m| m.len() as u64);
        current.exemplars = engine.transduction().map_or(0, |t| t.exemplars().rows() as u64);
        current.support_vectors = engine.support_count() as u64;
        current.summary_cost = engine.last_summary().cost;
        current.drifts = engine.metrics().drifts;
    }

    fn push_history(&mut self) {
        self.stride = self.stride.max(1);
        if self.current.batch.is_multiple_of(self.stride) {
            self.history.push(self.current);
        }
        if self.history.len() > MAX_POINTS {
            self.stride *= 2;
            let stride = self.stride;
            self.history.retain(|point| point.batch.is_multiple_of(stride));
        }
    }

    fn count_class(&mut self, name: &str, count: impl Fn(&mut ClassCounts)) {
        if let Some(known) = self.classes.iter_mut().find(|c| c.name == name) {
            count(known);
        } else if self.classes.len() < MAX_CLASSES {
            let mut new = ClassCounts { name: name.to_string(), assigned: 0, predicted: 0, actual: 0 };
            count(&mut new);
            self.classes.push(new);
        }
    }

    /// Prequential accuracy: the fraction predicted correctly on arrival.
    pub fn accuracy(&self) -> Option<f64> {
        fraction(self.current.correct, self.current.scored)
    }

    /// Prequential accuracy in the second half of the batches.
    pub fn accuracy_of_last_half(&self) -> Option<f64> {
        let in_first_half = |point: &&StatisticsPoint| point.batch * 2 <= self.current.batch;
        let half = self.history.iter().rev().find(in_first_half).copied().unwrap_or_default();
        fraction(self.current.correct - half.correct, self.current.scored - half.scored)
    }

    /// The fraction predicted correctly when batches were closed.
    pub fn accuracy_after_queries(&self) -> Option<f64> {
        fraction(self.current.correct_after, self.current.scored_after)
    }

    /// Cohen's kappa of predictions on arrival: agreement beyond chance. None where chance agrees always.
    pub fn kappa(&self) -> Option<f64> {
        let scored = self.current.scored as f64;
        let chance = |c: &ClassCounts| (c.predicted as f64 / scored) * (c.actual as f64 / scored);
        let expected: f64 = self.classes.iter().map(chance).sum();
        let observed = self.accuracy()?;
        (expected < 1.0).then(|| (observed - expected) / (1.0 - expected))
    }
}

/// Names of the predicted and the actual class of each row that has both, without the `given` rows.
fn scored_rows<'a>(
    predictions: &'a [InferredLabel],
    classes: &'a Classes,
    reference: &'a [Option<String>],
    given: &[usize],
) -> impl Iterator<Item = (&'a str, &'a str)> {
    let mut open = vec![true; predictions.len()];
    for &row in given {
        if let Some(open) = open.get_mut(row) {
            *open = false;
        }
    }
    let name = move |class: u32| classes.names().get(class as usize).map(String::as_str);
    let rows = predictions.iter().zip(reference).zip(open).filter(|(_, open)| *open);
    rows.filter_map(move |((prediction, actual), _)| {
        let (predicted, actual) = (name(prediction.class?)?, actual.as_deref()?);
        // Two spellings of a number are one class.
        Some((predicted, classes.find(actual).and_then(name).unwrap_or(actual)))
    })
}

fn fraction(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_stays_short_and_keeps_its_end() {
        let mut statistics = StreamStatistics::default();
        for _ in 0..10 * MAX_POINTS {
            statistics.record_arrival(&[], &Classes::default(), &[]);
            statistics.current.scored += 2;
            statistics.current.correct += u64::from(statistics.current.batch > 5 * MAX_POINTS as u64) + 1;
            statistics.push_history();
        }
        assert!(statistics.history.len() <= MAX_POINTS);
        assert_eq!(statistics.current.batch, 10 * MAX_POINTS as u64);
        assert_eq!(statistics.accuracy(), Some(0.75));
        let last = statistics.accuracy_of_last_half().unwrap();
        assert!((last - 1.0).abs() < 0.01, "{last}");
    }

    /// The example of Cohen 1960 in counts: 50 subjects, 20 and 15 agreements, kappa 0.4.
    #[test]
    fn kappa_is_agreement_beyond_chance() {
        let mut statistics = StreamStatistics::default();
        let counts =
            |name: &str, predicted, actual| ClassCounts { name: name.into(), assigned: 0, predicted, actual };
        statistics.classes = vec![counts("yes", 30, 25), counts("no", 20, 25)];
        (statistics.current.scored, statistics.current.correct) = (50, 35);
        assert!((statistics.kappa().unwrap() - 0.4).abs() < 1e-12);
        statistics.classes = vec![counts("yes", 50, 50)];
        assert_eq!(statistics.kappa(), None);
        assert_eq!(StreamStatistics::default().kappa(), None);
    }
}
