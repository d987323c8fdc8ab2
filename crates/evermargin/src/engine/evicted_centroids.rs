//! Class centroids of the rows evicted from the memory of a stream: one mean per class.
//!
//! Problem: three batches may have too few rows to show the structure of the classes, above all for texts, but memory
//! must stay bounded. With a linear kernel, the rows of a class influence other rows only by their sum. Therefore the
//! mean of the evicted rows, weighted by their number, contributes as much to the cut as all of them together. Their
//! labels are those at the time of eviction, against which the source (Emara 2012, IV.3) warns, because early mistakes
//! persist. Therefore old rows fade, all evicted rows together count as at most `max_count` samples, and their weight
//! is multiplied by the accuracy of a nearest-mean classifier on the labels known today, corrected for chance
//! ([`EvictedCentroids::trust`]).

use crate::data::{Matrix, MatrixView, Row};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// Maximum number of nonzero columns of a sparse mean; the largest values are kept.
const MAX_MEAN_COLUMNS: usize = 1 << 16;

/// Means of the evicted samples, one row per class, and the number of samples that each counts as.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct EvictedCentroids {
    mean: Matrix,
    count: Vec<f64>,
}

impl Default for EvictedCentroids {
    /// No evicted samples; also for saved states without this field.
    fn default() -> Self {
        Self::new(0, false)
    }
}

impl EvictedCentroids {
    /// No evicted samples.
    pub(super) fn new(cols: usize, sparse: bool) -> Self {
        Self { mean: Matrix::empty(cols, sparse), count: Vec::new() }
    }

    /// Class, mean and number of samples it counts as, for every class with evicted samples.
    pub(super) fn classes(&self) -> impl Iterator<Item = (u32, Row<'_>, f64)> {
        let some = self.count.iter().enumerate().filter(|(_, n)| **n > 0.0);
        some.map(|(c, &n)| (c as u32, self.mean.view().row(c), n))
    }

    /// Reliability of the means: 1 if the nearest mean predicts every label correctly, 0 if it is no better than
    /// chance. This is the mean recall over the classes, corrected for chance; classes without a label do not count.
    /// `None` if fewer than two classes can be compared.
    pub(super) fn trust(&self, x: MatrixView<'_>, class: &[u32]) -> Option<f64> {
        let mut values = vec![0.0; x.cols()];
        let mut nearest = vec![(f64::NEG_INFINITY, 0); x.rows()];
        for (c, mean, _) in self.classes().filter(|(c, ..)| class.contains(c)) {
            mean.for_each(|j, v| values[j] = v);
            let half = 0.5 * mean.norm2();
            for (i, best) in nearest.iter_mut().enumerate() {
                let mut near = -half;
                x.row(i).for_each(|j, v| near += v * values[j]);
                if near > best.0 {
                    *best = (near, c);
                }
            }
            mean.for_each(|j, _| values[j] = 0.0);
        }
        let recall = |c: u32| {
            let own = class.iter().zip(&nearest).filter(|(k, _)| **k == c);
            let (all, right) =
                own.fold((0, 0), |(n, r), (_, (_, predictions))| (n + 1, r + i32::from(*predictions == c)));
            (all > 0).then(|| f64::from(right) / f64::from(all))
        };
        let rates: Vec<f64> = self.classes().filter_map(|(c, ..)| recall(c)).collect();
        let chance = 1.0 / rates.len() as f64;
        let right = chance * rates.iter().sum::<f64>();
        (rates.len() > 1).then(|| ((right - chance) / (1.0 - chance)).max(0.0))
    }

    /// The centroids after the rows `leave`, given with their classes, are evicted, too. All counts are scaled so that
    /// they add up to at most `max_count`.
    #[must_use]
    pub(super) fn joined(&self, x: MatrixView<'_>, leave: &[(usize, u32)], max_count: f64) -> Self {
        let classes = leave.iter().map(|(_, c)| *c as usize + 1).max().unwrap_or(0).max(self.count.len());
        let mut out = Self::new(x.cols(), matches!(x, MatrixView::Csr { .. }));
        let mut sum = vec![0.0; x.cols()];
        for class in 0..classes {
            sum.fill(0.0);
            let mut count = self.count.get(class).copied().unwrap_or(0.0);
            if count > 0.0 {
                self.mean.view().row(class).for_each(|j, v| sum[j] = count * v);
            }
            for &(i, _) in leave.iter().filter(|(_, c)| *c as usize == class) {
                x.row(i).for_each(|j, v| sum[j] += v);
                count += 1.0;
            }
            sum.iter_mut().for_each(|v| *v /= count.max(1e-12));
            if matches!(x, MatrixView::Csr { .. }) {
                keep_largest(&mut sum, MAX_MEAN_COLUMNS);
            }
            out.mean.push(Row::Dense(&sum));
            out.count.push(count);
        }
        let faded = (max_count / out.count.iter().sum::<f64>().max(1e-12)).min(1.0);
        out.count.iter_mut().for_each(|n| *n *= faded);
        out
    }

    /// Changes the number of class c to `now[c]`.
    pub(super) fn renumber(&mut self, now: &[u32]) {
        if self.count.is_empty() {
            return;
        }
        let classes = now.iter().map(|c| *c as usize + 1).max().unwrap_or(0);
        let mut from = vec![None; classes];
        (0..self.count.len()).for_each(|c| from[now[c] as usize] = Some(c));
        let mut mean = Matrix::empty(self.mean.cols(), matches!(self.mean, Matrix::Csr { .. }));
        for row in &from {
            mean.push(row.map_or(Row::Sparse(&[], &[]), |c| self.mean.view().row(c)));
        }
        self.count = from.iter().map(|row| row.map_or(0.0, |c| self.count[c])).collect();
        self.mean = mean;
    }

    /// Applies a change to all rows.
    pub(super) fn map_rows(&mut self, change: impl Fn(&mut Matrix)) {
        if !self.count.is_empty() {
            change(&mut self.mean);
        }
    }

    /// Means, one row per class.
    pub(super) fn means(&self) -> &Matrix {
        &self.mean
    }

    /// Returns an error if parts do not fit together (a file may hold anything).
    pub(super) fn check(&self, cols: usize, classes: usize) -> Result<()> {
        self.mean.recheck()?;
        let fits = self.mean.rows() == self.count.len()
            && (self.count.is_empty() || self.mean.cols() == cols)
            && self.count.len() <= classes
            && self.count.iter().all(|n| (0.0..=1e18).contains(n));
        if fits {
            Ok(())
        } else {
            Err(Error::State("its means of evicted samples do not match their classes".into()))
        }
    }
}

/// Sets all but the `max` largest values to 0; of equal values the first ones are kept.
fn keep_largest(values: &mut [f64], max: usize) {
    if values.iter().filter(|v| **v != 0.0).count() <= max {
        return;
    }
    let mut sizes: Vec<f64> = values.iter().map(|v| v.abs()).collect();
    let (_, smallest, _) = sizes.select_nth_unstable_by(max, |a, b| b.total_cmp(a));
    let smallest = *smallest;
    let mut equal = max - values.iter().filter(|v| v.abs() > smallest).count();
    for v in values.iter_mut().filter(|v| v.abs() <= smallest) {
        let stays = v.abs() == smallest && equal > 0;
        equal -= usize::from(stays);
        *v = if stays { *v } else { 0.0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keep_largest_keeps_the_largest_values() {
        let mut values = [3.0, -1.0, 0.0, -5.0, 1.0, 2.0];
        keep_largest(&mut values, 6);
        assert_eq!(values, [3.0, -1.0, 0.0, -5.0, 1.0, 2.0]);
        keep_largest(&mut values, 4);
        assert_eq!(values, [3.0, -1.0, 0.0, -5.0, 0.0, 2.0]);
        keep_largest(&mut values, 1);
        assert_eq!(values, [0.0, 0.0, 0.0, -5.0, 0.0, 0.0]);
    }

    fn labeled(evicted: &EvictedCentroids) -> Vec<(u32, Vec<f64>, f64)> {
        let values = |r: Row<'_>| {
            let mut v = vec![0.0; 2];
            r.for_each(|j, x| v[j] = x);
            v
        };
        evicted.classes().map(|(c, r, n)| (c, values(r), n)).collect()
    }

    #[test]
    fn means_and_counts_cover_all_evicted_rows_and_fade_together() {
        let dense = Matrix::dense(vec![1.0, 0.0, 3.0, 0.0, 0.0, 8.0], 3, 2).unwrap();
        for x in [dense.clone(), dense.view().to_csr()] {
            let sparse = matches!(x, Matrix::Csr { .. });
            let one = EvictedCentroids::new(2, sparse).joined(x.view(), &[(0, 1), (2, 0)], 100.0);
            assert_eq!(labeled(&one), [(0, vec![0.0, 8.0], 1.0), (1, vec![1.0, 0.0], 1.0)]);
            let two = one.joined(x.view(), &[(1, 1)], 100.0);
            assert_eq!(labeled(&two), [(0, vec![0.0, 8.0], 1.0), (1, vec![2.0, 0.0], 2.0)]);
            let faded = two.joined(x.view(), &[], 1.5);
            assert_eq!(labeled(&faded), [(0, vec![0.0, 8.0], 0.5), (1, vec![2.0, 0.0], 1.0)]);
        }
    }

    #[test]
    fn trust_is_the_recall_of_the_nearest_mean_corrected_for_chance() {
        let x = Matrix::dense(vec![0.0, 1.0, 0.0, 2.0, 1.0, 0.0, 2.0, 0.0], 4, 2).unwrap();
        for x in [x.clone(), x.view().to_csr()] {
            let evicted = EvictedCentroids::new(2, matches!(x, Matrix::Csr { .. })).joined(
                x.view(),
                &[(0, 0), (2, 1)],
                9.0,
            );
            for (class, trust) in [([0, 0, 1, 1], 1.0), ([1, 1, 0, 0], 0.0), ([0, 0, 0, 1], 2.0 / 3.0)] {
                let found = evicted.trust(x.view(), &class).unwrap();
                assert!((found - trust).abs() < 1e-12, "{class:?}: {found}");
            }
            assert_eq!(evicted.trust(x.view(), &[0, 0, 0, 0]), None);
            assert_eq!(EvictedCentroids::new(2, false).trust(x.view(), &[0, 0, 1, 1]), None);
        }
    }

    #[test]
    fn renumber_changes_the_numbers_of_the_classes() {
        let x = Matrix::dense(vec![1.0, 2.0, 3.0, 4.0], 2, 2).unwrap();
        let mut evicted = EvictedCentroids::new(2, false).joined(x.view(), &[(0, 0), (1, 1)], 9.0);
        evicted.renumber(&[2, 0]);
        assert_eq!(labeled(&evicted), [(0, vec![3.0, 4.0], 1.0), (2, vec![1.0, 2.0], 1.0)]);
        assert!(evicted.check(2, 3).is_ok());
        assert!(evicted.check(2, 2).is_err() && evicted.check(3, 3).is_err());
        let mut none = EvictedCentroids::default();
        none.renumber(&[1, 0]);
        assert!(none.check(7, 0).is_ok());
    }
}
