//! Outliers: rows far from all others, which must not influence the scaling of a stream.
//!
//! The spread of a column is the 90 % quantile of the distances of its values from their median, over the values that
//! differ from it. A row is an outlier if a value is more than [`FAR`] spreads from the median of its column. Heavy
//! tails stay within that distance: of log-normal values with σ = 2, whose spread is 13 times their median, 2 in 10,000
//! exceed it. For columns with heavier tails the factor is increased until at most a tenth of the rows are outliers. A
//! column that is 0 except for a few values (rare counts) has no spread and no outliers.
//!
//! Outliers are omitted only when a feature space is estimated: they are rejected or stored by the same rule as rows of
//! later batches.

use crate::data::MatrixView;

/// Distance from the median, in spreads, beyond which a value is an outlier.
const FAR: f64 = 100.0;

/// Values that differ from the median by less than this share of it count as equal to it.
const ROUNDING: f64 = 1e-9;

/// Minimum number of rows, and of values that differ from the median, for an estimate of the spread.
const ENOUGH: usize = 4;

/// Half of the rows must differ from the median for an estimate of the spread, or half of this number if there are more
/// rows.
const MANY: usize = 20;

/// Medians and spreads of the columns of some rows.
#[derive(Debug)]
pub(super) struct TypicalRange {
    median: Vec<f64>,
    /// Spread of each column; infinite if it cannot be estimated.
    spread: Vec<f64>,
}

impl TypicalRange {
    /// Measures the columns of finite rows.
    pub fn of(x: MatrixView<'_>) -> Self {
        let (rows, cols) = (x.rows(), x.cols());
        let mut values = vec![Vec::new(); cols];
        if rows >= ENOUGH {
            (0..rows).for_each(|i| x.row(i).for_each(|c, v| values[c].push(v)));
        }
        let (median, spread) = values.into_iter().map(|values| median_and_spread(values, rows)).unzip();
        Self { median, spread }
    }

    /// Numbers of the rows that are no outliers, ascending.
    pub fn inliers(&self, x: MatrixView<'_>) -> Vec<usize> {
        let distance: Vec<f64> = (0..x.rows()).map(|i| self.distance(x, i)).collect();
        let max_outliers = (x.rows() / 10).max(1);
        let mut far = FAR;
        while far.is_finite() && distance.iter().filter(|d| **d > far).count() > max_outliers {
            far *= FAR;
        }
        (0..x.rows()).filter(|&i| distance[i] <= far).collect()
    }

    /// Largest distance of a value of a row from the median of its column, in spreads. Values that a sparse row
    /// does not hold are 0, which is no outlier.
    fn distance(&self, x: MatrixView<'_>, row: usize) -> f64 {
        let mut largest = 0.0f64;
        x.row(row).for_each(|c, v| largest = largest.max((v - self.median[c]).abs() / self.spread[c]));
        largest
    }
}

/// Median and spread of a column of `rows` values; those that are missing are 0.
fn median_and_spread(mut values: Vec<f64>, rows: usize) -> (f64, f64) {
    let zeros = rows.saturating_sub(values.len());
    let median = if 2 * zeros >= rows {
        0.0
    } else {
        values.resize(rows, 0.0);
        values.sort_unstable_by(f64::total_cmp);
        values[rows / 2]
    };
    let differs = |d: &f64| *d > ROUNDING * median.abs();
    let mut distance: Vec<f64> = values.iter().map(|v| (v - median).abs()).filter(differs).collect();
    if distance.len() >= ENOUGH && 2 * distance.len() >= rows.min(MANY) {
        distance.sort_unstable_by(f64::total_cmp);
        (median, distance[9 * (distance.len() - 1) / 10])
    } else if median != 0.0 {
        (median, median.abs())
    } else {
        (median, f64::INFINITY)
    }
}

#[cfg(test)]
mod tests {
    use super::TypicalRange;
    use crate::data::Matrix;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    fn outliers(values: Vec<f64>, cols: usize) -> usize {
        let rows = values.len() / cols;
        let x = Matrix::dense(values, rows, cols).unwrap();
        let sparse = x.view().to_csr();
        let count = rows - TypicalRange::of(x.view()).inliers(x.view()).len();
        assert_eq!(rows - TypicalRange::of(sparse.view()).inliers(sparse.view()).len(), count);
        count
    }

    #[test]
    fn outliers_are_found_in_columns_of_any_unit() {
        for (middle, size) in [(0.0, 1.0), (300.0, 1.0), (0.0, 1e-9), (-1.7e9, 1e3)] {
            let values = |odd: f64| {
                (0..50).map(move |i| if i == 7 { odd } else { middle + size * (f64::from(i) - 24.0) })
            };
            assert_eq!(outliers(values(middle).collect(), 1), 0);
            assert_eq!(outliers(values(middle + 1e6 * size).collect(), 1), 1);
            assert_eq!(outliers(values(-1e99).collect(), 1), 1);
        }
        let constant = |odd: f64| (0..50).map(move |i| if i == 7 { odd } else { 5.0 });
        assert_eq!(outliers(constant(6.0).collect(), 1), 0);
        assert_eq!(outliers(constant(1e6).collect(), 1), 1);
        assert_eq!(outliers(vec![1.0, 2.0, 3.0, 1e6], 1), 1);
    }

    #[test]
    fn heavy_tails_are_no_outliers() {
        let mut rng = Pcg64::seed_from_u64(3);
        let mut normal = || (0..12).map(|_| rng.random_range(-0.5..0.5)).sum::<f64>();
        assert!(outliers((0..4000).map(|_| (2.0 * normal()).exp()).collect(), 2) <= 4);
        assert!(outliers((0..1000).map(|_| (30.0 * normal()).exp()).collect(), 1) <= 100);
        let mut counts = vec![0.0; 400];
        counts[100] = 5000.0;
        assert_eq!(outliers(counts, 2), 0);
        let two_sizes = (0..100).map(|i| if i % 2 == 0 { 1e-9 } else { 1e7 });
        assert_eq!(outliers(two_sizes.collect(), 1), 0);
    }
}
