//! Curves along a stream.

use super::mean;
use crate::findings::{Figure, Series};

/// Maximum number of points per curve.
const POINTS: usize = 25;

/// Means over repetitions and neighboring batches; batches are numbered from 1.
pub(super) fn binned(runs: &[Vec<Option<f64>>]) -> Vec<[f64; 2]> {
    let length = runs.iter().map(Vec::len).min().unwrap_or(0);
    let bins = length.min(POINTS);
    let bin = |k: usize| {
        let range = length * k / bins..length * (k + 1) / bins;
        let values: Vec<f64> = runs.iter().flat_map(|r| r[range.clone()].iter().flatten().copied()).collect();
        let middle = (range.start + range.end + 1) as f64 / 2.0;
        (!values.is_empty()).then(|| [middle, mean(&values)])
    };
    (0..bins).filter_map(bin).collect()
}

/// A figure with linear axes.
pub(crate) fn figure(title: &str, (x, y): (&str, &str), series: Vec<Series>) -> Figure {
    let [title, x, y] = [title, x, y].map(ToString::to_string);
    Figure { title, x, y, log_x: false, log_y: false, series }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighboring_batches_are_averaged_without_missing_values() {
        let run = |from: f64| (0..50).map(|i| (i > 1).then_some(from + f64::from(i))).collect::<Vec<_>>();
        let points = binned(&[run(0.0), run(10.0)]);
        assert_eq!(points.len(), 24, "the first two batches have no value");
        assert_eq!(points[0], [3.5, 7.5]);
        assert_eq!(points[23], [49.5, 53.5]);
        assert!(binned(&[]).is_empty());
    }
}
