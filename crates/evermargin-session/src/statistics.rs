//! Statistics along a stream: prequential accuracy and kappas, scores per class, accuracy after queries, and counts. The
//! length of the history is bounded: when it becomes too long, every other batch is removed.

use crate::commit::rejected_count;
use crate::source_weights::SourceWeightHistory;
use crate::stream_scores::StreamScores;
use evermargin::engine::{Classes, Effects, Engine, InferredLabel};
use evermargin::metrics::{ClassScores, chance_corrected, class_scores};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Number of points of the history above which every other one is removed.
const MAX_POINTS: usize = 2000;

/// Maximum number of classes that are counted; later classes are not.
const MAX_CLASSES: usize = 1000;

/// Maximum of any count in a snapshot, so that further counting does not overflow.
const MAX_COUNT: u64 = 1 << 53;

/// Cumulative counts at the end of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatisticsPoint {
    /// Number of the batch, counted from 1.
    pub batch: u64,
    /// Rows that were used: predicted on arrival, and learned where they have a label. Rejected rows are not included.
    pub rows: u64,
    /// Used rows of closed batches.
    pub closed_rows: u64,
    /// Rows that the reader or the engine rejected.
    pub rejected_rows: u64,
    /// Rows with a prediction on arrival and a reference label.
    pub scored: u64,
    /// Scored rows that were predicted correctly on arrival.
    pub correct: u64,
    /// Rows scored again when their batch was closed, without those whose label the engine was given.
    pub scored_after: u64,
    /// Rows predicted correctly when their batch was closed.
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

impl StatisticsPoint {
    /// Number of used and rejected rows of the stream.
    pub fn stream_rows(&self) -> u64 {
        self.rows + self.rejected_rows
    }

    /// Returns an error for counts that contradict each other.
    fn check(&self) -> Result<(), String> {
        for (name, count) in self.counts() {
            if count > MAX_COUNT {
                return Err(format!("statistics of batch {}: {name} = {count} is too large", self.batch));
            }
        }
        let parts = [
            ("correct", self.correct, "scored", self.scored),
            ("scored", self.scored, "rows", self.rows),
            ("correct_after", self.correct_after, "scored_after", self.scored_after),
            ("scored_after", self.scored_after, "closed_rows", self.closed_rows),
            ("closed_rows", self.closed_rows, "rows", self.rows),
        ];
        for (part, count, whole, total) in parts {
            if count > total {
                return Err(format!(
                    "statistics of batch {}: {part} = {count} exceeds {whole} = {total}",
                    self.batch
                ));
            }
        }
        if !self.summary_cost.is_finite() || self.summary_cost < 0.0 {
            return Err(format!(
                "statistics of batch {}: summary_cost = {} is invalid",
                self.batch, self.summary_cost
            ));
        }
        Ok(())
    }

    /// All counts, those that never decrease first.
    fn counts(&self) -> [(&'static str, u64); 13] {
        [
            ("batch", self.batch),
            ("rows", self.rows),
            ("closed_rows", self.closed_rows),
            ("rejected_rows", self.rejected_rows),
            ("scored", self.scored),
            ("correct", self.correct),
            ("scored_after", self.scored_after),
            ("correct_after", self.correct_after),
            ("queries", self.queries),
            ("drifts", self.drifts),
            ("remembered_labels", self.remembered_labels),
            ("exemplars", self.exemplars),
            ("support_vectors", self.support_vectors),
        ]
    }

    /// Returns an error if a cumulative count is lower than in an earlier batch.
    fn check_after(&self, earlier: &Self) -> Result<(), String> {
        for ((name, now), (_, before)) in self.counts().into_iter().zip(earlier.counts()).take(10) {
            if now < before {
                let (batch, from) = (self.batch, earlier.batch);
                return Err(format!(
                    "statistics: {name} falls from {before} in batch {from} to {now} in {batch}"
                ));
            }
        }
        Ok(())
    }
}

/// Counts of a class among scored rows and rows of closed batches.
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
    /// Rows of this class that were predicted as this class.
    pub correct: u64,
    /// Rows that arrived with this reference label, scored or not.
    pub seen: u64,
}

impl ClassCounts {
    fn new(name: &str) -> Self {
        Self { name: name.to_string(), assigned: 0, predicted: 0, actual: 0, correct: 0, seen: 0 }
    }

    /// Precision, recall and F1 on arrival.
    pub fn scores(&self) -> ClassScores {
        class_scores(self.predicted, self.actual, self.correct)
    }
}

/// Statistics of a stream.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamStatistics {
    /// Counts up to now.
    pub current: StatisticsPoint,
    /// The history contains batches whose number is a multiple of this.
    stride: u64,
    /// Counts at the ends of earlier batches, oldest first.
    pub history: Vec<StatisticsPoint>,
    /// Counts per class, in the order of their first appearance.
    pub classes: Vec<ClassCounts>,
    /// Scores of simple reference classifiers and of recent predictions.
    pub scores: StreamScores,
    /// Weights of the label sources.
    pub source_weights: SourceWeightHistory,
}

impl StreamStatistics {
    /// Scores predictions that were made when a batch arrived.
    pub(crate) fn record_arrival(
        &mut self,
        effects: &Effects,
        classes: &Classes,
        reference: &[Option<String>],
    ) {
        self.current.batch += 1;
        self.current.rows +=
            (effects.labels.len() - rejected_count(effects).min(effects.labels.len())) as u64;
        for (prediction, actual) in effects.labels.iter().zip(reference) {
            let Some(actual) = actual.as_deref() else { continue };
            let name = |class: u32| classes.names().get(class as usize).map(String::as_str);
            // Spellings of the same number are one class.
            let actual = classes.find(actual).and_then(name).unwrap_or(actual);
            if let Some(predicted) = prediction.class.and_then(name) {
                self.score(predicted, actual);
            }
            self.count_class(actual, |counts| counts.seen += 1);
            if self.scores.previous.as_deref() != Some(actual) {
                self.scores.previous = Some(actual.to_string());
            }
        }
    }

    /// Scores a prediction on arrival before its label is counted.
    fn score(&mut self, predicted: &str, actual: &str) {
        let correct = predicted == actual;
        self.current.scored += 1;
        self.current.correct += u64::from(correct);
        self.scores.recent.push(correct);
        self.scores.no_change_correct += u64::from(self.scores.previous.as_deref() == Some(actual));
        let frequent =
            self.classes.iter().rev().max_by_key(|class| class.seen).filter(|class| class.seen > 0);
        self.scores.majority_correct += u64::from(frequent.is_some_and(|class| class.name == actual));
        self.count_class(predicted, |counts| counts.predicted += 1);
        self.count_class(actual, |counts| {
            counts.actual += 1;
            counts.correct += u64::from(correct);
        });
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
        self.source_weights.record(self.current.batch, engine);
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

    /// Returns an error for statistics that cannot result from a stream.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.current.check()?;
        if self.history.len() > MAX_POINTS {
            return Err(format!("statistics: a history of {} batches", self.history.len()));
        }
        if !(self.stride == 0 && self.history.is_empty() || self.stride.is_power_of_two())
            || self.stride > MAX_COUNT
        {
            return Err(format!("statistics: the history has one in {} batches", self.stride));
        }
        let mut earlier: Option<&StatisticsPoint> = None;
        for point in &self.history {
            point.check()?;
            if earlier.is_some_and(|earlier| earlier.batch >= point.batch)
                || !point.batch.is_multiple_of(self.stride)
            {
                return Err(format!("statistics: batch {} cannot be in the history", point.batch));
            }
            earlier.map_or(Ok(()), |earlier| point.check_after(earlier))?;
            earlier = Some(point);
        }
        earlier.map_or(Ok(()), |earlier| self.current.check_after(earlier))?;
        self.source_weights.check(self.current.batch)?;
        self.check_classes()
    }

    fn check_classes(&self) -> Result<(), String> {
        if self.classes.len() > MAX_CLASSES {
            return Err(format!("statistics: {} classes", self.classes.len()));
        }
        let names: BTreeSet<&str> = self.classes.iter().map(|class| class.name.as_str()).collect();
        if names.len() < self.classes.len() {
            return Err("statistics: a class is counted twice".into());
        }
        let current = &self.current;
        let sum =
            |count: fn(&ClassCounts) -> u64| self.classes.iter().map(count).fold(0, u64::saturating_add);
        let parts = [
            ("assigned", sum(|class| class.assigned), current.closed_rows),
            ("predicted", sum(|class| class.predicted), current.scored),
            ("actual", sum(|class| class.actual), current.scored),
            ("correct", sum(|class| class.correct), current.correct),
        ];
        for (name, sum, total) in parts {
            // Classes beyond the maximum number are not counted.
            if sum > total || (sum < total && name != "assigned" && self.classes.len() < MAX_CLASSES) {
                return Err(format!("statistics: {name} rows of all classes are {sum} of {total}"));
            }
        }
        for class in &self.classes {
            let ordered = class.correct <= class.actual.min(class.predicted) && class.actual <= class.seen;
            if !ordered || class.seen > current.stream_rows() {
                return Err(format!("statistics: counts of class '{}'", class.name));
            }
        }
        self.scores.check(current.scored)
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
            let mut new = ClassCounts::new(name);
            count(&mut new);
            self.classes.push(new);
        }
    }

    /// Prequential accuracy: the fraction of rows predicted correctly on arrival.
    pub fn accuracy(&self) -> Option<f64> {
        fraction(self.current.correct, self.current.scored)
    }

    /// Prequential accuracy in the second half of the batches.
    pub fn accuracy_of_last_half(&self) -> Option<f64> {
        let in_first_half = |point: &&StatisticsPoint| point.batch * 2 <= self.current.batch;
        let half = self.history.iter().rev().find(in_first_half).copied().unwrap_or_default();
        fraction(self.current.correct - half.correct, self.current.scored - half.scored)
    }

    /// Fraction of rows predicted correctly when their batch was closed.
    pub fn accuracy_after_queries(&self) -> Option<f64> {
        fraction(self.current.correct_after, self.current.scored_after)
    }

    /// Cohen's kappa of predictions on arrival: agreement beyond chance. `None` if the expected agreement by chance is 1.
    pub fn kappa(&self) -> Option<f64> {
        let scored = self.current.scored as f64;
        let chance = |c: &ClassCounts| (c.predicted as f64 / scored) * (c.actual as f64 / scored);
        let expected: f64 = self.classes.iter().map(chance).sum();
        chance_corrected(self.accuracy()?, expected)
    }

    /// Kappa-T: accuracy relative to the classifier that repeats the previous label of the stream.
    pub fn kappa_t(&self) -> Option<f64> {
        chance_corrected(self.accuracy()?, fraction(self.scores.no_change_correct, self.current.scored)?)
    }

    /// Kappa-M: accuracy relative to the classifier that predicts the class that was most frequent up to then.
    pub fn kappa_m(&self) -> Option<f64> {
        chance_corrected(self.accuracy()?, fraction(self.scores.majority_correct, self.current.scored)?)
    }
}

/// Names of the predicted and the actual class of each row that has both, except for the `given` rows.
fn scored_rows<'a>(
    predictions: &'a [InferredLabel],
    classes: &'a Classes,
    reference: &'a [Option<String>],
    given: &[usize],
) -> impl Iterator<Item = (&'a str, &'a str)> {
    let mut is_scored = vec![true; predictions.len()];
    for &row in given {
        if let Some(is_scored) = is_scored.get_mut(row) {
            *is_scored = false;
        }
    }
    let name = move |class: u32| classes.names().get(class as usize).map(String::as_str);
    let rows = predictions.iter().zip(reference).zip(is_scored).filter(|(_, is_scored)| *is_scored);
    rows.filter_map(move |((prediction, actual), _)| {
        let (predicted, actual) = (name(prediction.class?)?, actual.as_deref()?);
        // Spellings of the same number are one class.
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
    fn keeps_history_short_and_counts_current() {
        let mut statistics = StreamStatistics::default();
        for _ in 0..10 * MAX_POINTS {
            statistics.record_arrival(&Effects::default(), &Classes::default(), &[]);
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

    /// The example of Cohen (1960) as counts: 50 subjects, 20 and 15 agreements, kappa 0.4.
    #[test]
    fn computes_kappa_of_cohen_example() {
        let mut statistics = StreamStatistics::default();
        let counts =
            |name: &str, predicted, actual| ClassCounts { predicted, actual, ..ClassCounts::new(name) };
        statistics.classes = vec![counts("yes", 30, 25), counts("no", 20, 25)];
        (statistics.current.scored, statistics.current.correct) = (50, 35);
        assert!((statistics.kappa().unwrap() - 0.4).abs() < 1e-12);
        statistics.classes = vec![counts("yes", 50, 50)];
        assert_eq!(statistics.kappa(), None);
        assert_eq!(StreamStatistics::default().kappa(), None);
    }

    /// Compares with sums over all rows that follow the definitions directly.
    #[test]
    fn computes_kappas_and_class_scores_by_definition() {
        let names = ["a", "b", "c"];
        let x = evermargin::data::Matrix::dense(vec![0.0, 1.0, 2.0], 3, 1).unwrap();
        let labels = names.iter().map(|name| Some((*name).to_string())).collect();
        let mut engine = Engine::new(&evermargin::engine::EngineParams::default()).unwrap();
        engine.apply(evermargin::engine::Event::Batch { x, labels }).unwrap();
        let actual: Vec<Option<usize>> =
            (0..700).map(|i| (i % 11 != 3).then_some((i / 5 + i * i / 90) % 3)).collect();
        let predicted: Vec<Option<usize>> = (0..700)
            .map(|i| (i >= 40).then_some(if i % 4 == 0 { i % 3 } else { (i / 5 + i * i / 90) % 3 }))
            .collect();
        let mut statistics = StreamStatistics::default();
        for batch in 0..7 {
            let rows = 100 * batch..100 * (batch + 1);
            let label =
                |i: usize| InferredLabel { class: predicted[i].map(|c| c as u32), ..InferredLabel::NONE };
            let effects = Effects { labels: rows.clone().map(label).collect(), ..Effects::default() };
            let reference: Vec<Option<String>> =
                rows.map(|i| actual[i].map(|c| names[c].to_string())).collect();
            statistics.record_arrival(&effects, engine.classes(), &reference);
        }
        let scored: Vec<usize> =
            (0..700).filter(|&i| actual[i].is_some() && predicted[i].is_some()).collect();
        let fraction_of = |condition: &dyn Fn(usize) -> bool| {
            scored.iter().filter(|&&i| condition(i)).count() as f64 / scored.len() as f64
        };
        let accuracy = fraction_of(&|i| actual[i] == predicted[i]);
        let no_change = fraction_of(&|i| (0..i).rev().find_map(|j| actual[j]) == actual[i]);
        let majority = fraction_of(&|i| {
            let mut counts = [(0, 0); 3]; // number of occurrences, and the negative index of the first one
            (0..i).filter_map(|j| actual[j].map(|c| (j, c))).for_each(|(j, c)| {
                counts[c] = (counts[c].0 + 1, if counts[c].0 == 0 { -(j as i64) } else { counts[c].1 });
            });
            (0..3).max_by_key(|&c| counts[c]) == actual[i]
        });
        let near = |a: Option<f64>, b: f64| assert!((a.unwrap() - b).abs() < 1e-12, "{a:?} {b}");
        near(statistics.accuracy(), accuracy);
        near(statistics.kappa_t(), (accuracy - no_change) / (1.0 - no_change));
        near(statistics.kappa_m(), (accuracy - majority) / (1.0 - majority));
        for class in &statistics.classes {
            let c = names.iter().position(|name| *name == class.name);
            let count =
                |condition: &dyn Fn(usize) -> bool| scored.iter().filter(|&&i| condition(i)).count() as f64;
            let both = count(&|i| actual[i] == c && predicted[i] == c);
            near(class.scores().recall, both / count(&|i| actual[i] == c));
            near(class.scores().precision, both / count(&|i| predicted[i] == c));
        }
        statistics.check().unwrap();
    }

    /// JSON texts of the statistics in which one number was replaced by `change`, one text per number, with its path.
    fn mutants(
        statistics: &StreamStatistics,
        change: impl Fn(f64) -> serde_json::Value,
    ) -> Vec<(String, String)> {
        fn numbers(value: &serde_json::Value, path: &str, found: &mut Vec<String>) {
            match value {
                serde_json::Value::Object(fields) => {
                    fields.iter().for_each(|(name, v)| numbers(v, &format!("{path}/{name}"), found));
                }
                serde_json::Value::Array(items) => {
                    items.iter().enumerate().for_each(|(i, v)| numbers(v, &format!("{path}/{i}"), found));
                }
                serde_json::Value::Number(_) => found.push(path.to_string()),
                _ => {}
            }
        }
        let whole = serde_json::to_value(statistics).unwrap();
        let mut paths = Vec::new();
        numbers(&whole, "", &mut paths);
        let mutant = |path: String| {
            let mut changed = whole.clone();
            let number = changed.pointer_mut(&path).unwrap();
            *number = change(number.as_f64().unwrap());
            (path, changed.to_string())
        };
        paths.into_iter().map(mutant).collect()
    }

    fn example_statistics() -> StreamStatistics {
        let mut statistics = StreamStatistics { stride: 1, ..StreamStatistics::default() };
        for batch in 1..4 {
            let n = 10 * batch;
            statistics.current = StatisticsPoint {
                batch,
                rows: n,
                closed_rows: n,
                rejected_rows: n,
                scored: n,
                correct: n,
                scored_after: n,
                correct_after: n,
                queries: n,
                remembered_labels: n,
                exemplars: n,
                support_vectors: n,
                summary_cost: 0.5,
                drifts: batch,
            };
            statistics.push_history();
        }
        let counts = |name: &str, n| {
            let (assigned, predicted, actual, correct, seen) = (n, n, n, n, n);
            ClassCounts { name: name.into(), assigned, predicted, actual, correct, seen }
        };
        statistics.classes = vec![counts("a", 10), counts("b", 20)];
        (statistics.scores.no_change_correct, statistics.scores.majority_correct) = (12, 17);
        (0..30).for_each(|_| statistics.scores.recent.push(true));
        statistics
    }

    #[test]
    fn refuses_inconsistent_statistics() {
        let statistics = example_statistics();
        statistics.check().unwrap();
        let read = |text: &str| serde_json::from_str::<StreamStatistics>(text);
        let huge = mutants(&statistics, |_| u64::MAX.into());
        // four points, the stride, two classes, two references, the window (16 words and four numbers), and the stride of the
        // weights
        assert_eq!(huge.len(), 4 * 14 + 1 + 2 * 5 + 2 + 16 + 4 + 1);
        for (path, text) in huge {
            // The cost is the only fraction, and any finite value is allowed.
            assert!(path.ends_with("summary_cost") || read(&text).unwrap().check().is_err(), "{path}");
        }
        for (path, text) in mutants(&statistics, |_| (-1.0).into()) {
            assert!(read(&text).map_or(true, |s| s.check().is_err()), "{path}");
        }
        let shift = |by: f64| move |n: f64| serde_json::Value::from((n + by) as u64);
        for (path, text) in
            mutants(&statistics, shift(1.0)).into_iter().chain(mutants(&statistics, shift(-1.0)))
        {
            let Ok(mut odd) = read(&text) else { continue };
            if odd.check().is_ok() {
                assert!(odd.accuracy_of_last_half().is_some() && odd.accuracy().is_some(), "{path}");
                odd.record_arrival(&Effects::default(), &Classes::default(), &[]);
                odd.push_history();
            }
        }
        let mut odd = statistics.clone();
        odd.current.summary_cost = f64::NAN;
        assert!(odd.check().is_err());
        let mut twice = statistics.clone();
        twice.classes[1].name = "a".into();
        assert!(twice.check().is_err());
        let mut long = statistics;
        long.history = vec![long.history[0]; MAX_POINTS + 1];
        assert!(long.check().is_err());
    }
}
