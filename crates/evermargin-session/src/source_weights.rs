//! Weights of the label sources along a stream. The length of the series is bounded: when it becomes too long, every other
//! point is removed.

use evermargin::engine::{Engine, Source};
use serde::{Deserialize, Serialize};

/// Number of points at which every other one is removed.
const MAX_POINTS: usize = 64;

/// Maximum deviation of the sum of the weights from 1.
const ROUNDING: f64 = 1e-9;

/// Weights of the label sources at the end of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceWeightsPoint {
    /// Number of the batch, counted from 1.
    pub batch: u64,
    /// Weights in the order of [`Source::ALL`]; 0 for a source that was not compared.
    pub weights: [f64; Source::ALL.len()],
}

impl SourceWeightsPoint {
    fn check(&self) -> Result<(), String> {
        let sum: f64 = self.weights.iter().sum();
        let is_distribution =
            self.weights.iter().all(|w| (0.0..=1.0 + ROUNDING).contains(w)) && (sum - 1.0).abs() <= ROUNDING;
        if is_distribution {
            Ok(())
        } else {
            Err(format!("statistics of batch {}: weights of label sources {:?}", self.batch, self.weights))
        }
    }
}

/// Weights of the label sources at the end of every `stride`-th batch, oldest first, and of the last batch.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceWeightHistory {
    /// The history contains batches whose number is a multiple of this.
    stride: u64,
    points: Vec<SourceWeightsPoint>,
    /// Weights at the end of the last batch; none before the first label.
    last: Option<SourceWeightsPoint>,
}

impl SourceWeightHistory {
    /// Records the current weights of an engine at the end of a batch.
    pub(crate) fn record(&mut self, batch: u64, engine: &Engine) {
        if let Some(weights) = engine.source_weights() {
            self.push(SourceWeightsPoint { batch, weights });
        }
    }

    fn push(&mut self, point: SourceWeightsPoint) {
        self.last = Some(point);
        self.stride = self.stride.max(1);
        if point.batch.is_multiple_of(self.stride) {
            self.points.push(point);
        }
        while self.points.len() >= MAX_POINTS {
            self.stride *= 2;
            let stride = self.stride;
            self.points.retain(|point| point.batch.is_multiple_of(stride));
        }
    }

    /// At most 64 points, oldest first; the last point describes the end of the last batch.
    pub fn points(&self) -> Vec<SourceWeightsPoint> {
        let is_new =
            |last: &SourceWeightsPoint| self.points.last().is_none_or(|point| point.batch < last.batch);
        self.points.iter().copied().chain(self.last.filter(is_new)).collect()
    }

    /// Returns an error for a series that cannot result from a stream of so many batches.
    pub(crate) fn check(&self, batches: u64) -> Result<(), String> {
        let is_stride = self.stride.is_power_of_two() || (self.stride == 0 && self.last.is_none());
        if self.points.len() >= MAX_POINTS || !is_stride || self.stride > batches.max(1) {
            let points = self.points.len();
            return Err(format!(
                "statistics: {points} weights of label sources, one batch in {}",
                self.stride
            ));
        }
        self.points.iter().chain(&self.last).try_for_each(SourceWeightsPoint::check)?;
        let is_ordered = self.points.is_sorted_by(|a, b| a.batch < b.batch)
            && self.points.iter().all(|point| point.batch > 0 && point.batch.is_multiple_of(self.stride));
        let end = self.last.map_or(0, |last| last.batch);
        if !is_ordered || end > batches || self.points.last().is_some_and(|point| point.batch > end) {
            return Err("statistics: weights of label sources are out of order".into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(batch: u64) -> SourceWeightsPoint {
        let model = 1.0 / batch as f64;
        SourceWeightsPoint { batch, weights: [model, 0.0, 0.0, 1.0 - model] }
    }

    fn history_of(batches: u64) -> SourceWeightHistory {
        let mut history = SourceWeightHistory::default();
        (1..=batches).for_each(|batch| history.push(point(batch)));
        history
    }

    #[test]
    fn keeps_series_short_and_ends_it_with_last_batch() {
        for batches in [1, 5, 63, 64, 65, 1000, 99_999] {
            let history = history_of(batches);
            let points = history.points();
            assert!(points.len() <= MAX_POINTS && points.len() as u64 >= batches.min(32), "{}", points.len());
            assert_eq!(points.last(), Some(&point(batches)));
            assert!(points.iter().all(|p| *p == point(p.batch)));
            // evenly spaced, except for the last one
            let gaps: Vec<u64> = points.windows(2).map(|w| w[1].batch - w[0].batch).collect();
            assert!(gaps.iter().rev().skip(1).all(|gap| *gap == gaps[0]), "{gaps:?}");
            history.check(batches).unwrap();
        }
    }

    #[test]
    fn refuses_inconsistent_series() {
        let history = history_of(70);
        history.check(70).unwrap();
        SourceWeightHistory::default().check(0).unwrap();
        let changed = |change: &dyn Fn(&mut SourceWeightHistory)| {
            let mut changed = history.clone();
            change(&mut changed);
            changed.check(70)
        };
        let hostile: [&dyn Fn(&mut SourceWeightHistory); 10] = [
            &|h| h.stride = 0,
            &|h| h.stride = 3,
            &|h| h.stride = 1 << 60,
            &|h| h.points[1].batch = 3,
            &|h| h.points[1].batch = h.points[0].batch,
            &|h| h.points.extend(vec![h.points[0]; MAX_POINTS]),
            &|h| h.points[0].weights[0] = f64::NAN,
            &|h| h.points[0].weights[0] = -1.0,
            &|h| h.points[0].weights = [1.0; 4],
            &|h| h.last = Some(point(u64::MAX)),
        ];
        for (number, change) in hostile.into_iter().enumerate() {
            assert!(changed(change).is_err(), "{number}");
        }
        assert!(changed(&|h| h.last = None).is_err(), "points after the end");
        assert!(history.check(69).is_err(), "a batch that did not happen");
    }
}
