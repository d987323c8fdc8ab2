//! Weights of SUBMOD-ACTV, learned from known labels.
//!
//! Problem: the set function of [`super::submod_batch`] has weights for ambiguity (λ₂) and density (λ₃, of either
//! sign), and the source gives none (Emara 2012 lists learning the function as future work). The best weights depend on
//! the stream.
//!
//! Method: queries are replayed on stored labels. In each of [`SPLITS`] random splits a third of the labels is held
//! out, one label per class is known, and the rest is a pool. Every weighting of a small grid chooses queries from the
//! pool, their labels are added, and a nearest-mean classifier in feature space predicts the held-out rows. The
//! weighting with the highest accuracy is returned if it exceeds the default by more than one standard error of the
//! paired differences; otherwise the default is returned.
//!
//! Limitation: labels that a strategy chose are not a random sample of the stream, so the replay measures accuracy on
//! rows like the queried ones, not on all rows. Work is bounded by [`MAX_JUDGED_LABELS`] labels, 12 weightings and
//! [`SPLITS`] splits.

use super::submod::{KnownLabels, Seek, SubmodParams, submod_batch_within, unit_rows};
use crate::data::{Matrix, MatrixView};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::solver::Watch;
use crate::summary::Lambda;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

/// Maximum number of labels used to compare weights: the most recent ones.
pub const MAX_JUDGED_LABELS: usize = 200;

/// Minimum number of labels.
const MIN_LABELS: usize = 24;

/// Number of splits into known, pool and held-out labels.
const SPLITS: usize = 8;

/// Factors of λ₂.
const LABELED: [f64; 3] = [1.0, 0.0, 4.0];

/// Factors of λ₃; negative values prefer dense regions.
const DENSITY: [f64; 4] = [-1.0, 1.0, 0.0, -4.0];

/// Factors of the default weights λ₂ = 1/l and λ₃ = 1/n.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeightFactors {
    /// Factor of λ₂, which prefers rows between labels or far from them.
    pub labeled: f64,
    /// Factor of λ₃; negative values prefer dense regions, positive values outliers.
    pub density: f64,
}

impl Default for WeightFactors {
    fn default() -> Self {
        Self { labeled: LABELED[0], density: DENSITY[0] }
    }
}

impl WeightFactors {
    /// Parameters for a pool of `rows` rows with `labels` labels.
    pub fn params(&self, kernel: Kernel, rows: usize, labels: usize) -> SubmodParams {
        SubmodParams {
            kernel,
            labeled: Lambda::Value(self.labeled / labels.max(1) as f64),
            density: Lambda::Value(self.density.abs() / rows.max(1) as f64),
            seek: if self.density < 0.0 { Seek::Dense } else { Seek::Outliers },
            ..SubmodParams::default()
        }
    }

    /// Returns an error for factors outside the grid (a file may hold anything).
    pub fn check(&self) -> Result<()> {
        let fits = LABELED.contains(&self.labeled) && DENSITY.contains(&self.density);
        if fits { Ok(()) } else { Err(Error::State("query weights are not on the grid".into())) }
    }
}

/// The weights for queries, learned from labeled rows, oldest first; the default if there are too few labels.
pub fn learn_weights(
    x: MatrixView<'_>,
    classes: &[u32],
    kernel: Kernel,
    count: usize,
    seed: u64,
    watch: &dyn Watch,
) -> Result<WeightFactors> {
    if classes.len() != x.rows() {
        return Err(Error::Shape { what: "classes of rows", expected: x.rows(), found: classes.len() });
    }
    let grid: Vec<WeightFactors> = LABELED
        .iter()
        .flat_map(|&labeled| DENSITY.iter().map(move |&density| WeightFactors { labeled, density }))
        .collect();
    let scores = replay(x, classes, &grid, kernel, count, seed, watch)?;
    let means: Vec<f64> = scores.iter().map(|s| s.iter().sum::<f64>() / s.len().max(1) as f64).collect();
    let best = (0..grid.len()).fold(0, |m, k| if means[k] > means[m] { k } else { m });
    let lead: Vec<f64> = scores[best].iter().zip(&scores[0]).map(|(a, b)| a - b).collect();
    let (n, mean) = (lead.len() as f64, means[best] - means[0]);
    let variance = lead.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    let significant = !lead.is_empty() && mean > (variance / n).sqrt();
    Ok(if significant { grid[best] } else { grid[0] })
}

/// Accuracy on held-out labels per weighting and split; no splits if there are too few labels.
fn replay(
    x: MatrixView<'_>,
    classes: &[u32],
    grid: &[WeightFactors],
    kernel: Kernel,
    count: usize,
    seed: u64,
    watch: &dyn Watch,
) -> Result<Vec<Vec<f64>>> {
    let mut scores = vec![Vec::with_capacity(SPLITS); grid.len()];
    let recent: Vec<usize> = (classes.len().saturating_sub(MAX_JUDGED_LABELS)..classes.len()).collect();
    if recent.len() < MIN_LABELS {
        return Ok(scores);
    }
    let rows = unit_rows_if_linear(x.select(&recent), kernel);
    let classes: Vec<u32> = recent.iter().map(|&i| classes[i]).collect();
    let classifier = NearestMean { rows: &rows, classes: &classes, kernel };
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut order: Vec<usize> = (0..classes.len()).collect();
    for _ in 0..SPLITS {
        order.shuffle(&mut rng);
        let (held_out, rest) = order.split_at(classes.len() / 3);
        let (mut known, mut pool): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
        for &i in rest {
            let first = known.iter().all(|&k| classes[k] != classes[i]);
            if first { known.push(i) } else { pool.push(i) }
        }
        let count = count.clamp(1, (pool.len() / 2).max(1));
        let (candidates, labeled) = (rows.view().select(&pool), rows.view().select(&known));
        let labels: Vec<u32> = known.iter().map(|&k| classes[k]).collect();
        for (factors, scores) in grid.iter().zip(&mut scores) {
            let params = factors.params(kernel, pool.len(), known.len());
            let known_labels = KnownLabels::Classes(&labels);
            let picks = submod_batch_within(
                candidates.view(),
                labeled.view(),
                known_labels,
                &params,
                count,
                None,
                watch,
            )?;
            let train: Vec<usize> =
                known.iter().copied().chain(picks.order.iter().map(|&p| pool[p])).collect();
            scores.push(classifier.accuracy(&train, held_out));
        }
    }
    Ok(scores)
}

/// Rows whose inner products are the similarity of SUBMOD-ACTV: of unit length for the linear kernel.
fn unit_rows_if_linear(x: Matrix, kernel: Kernel) -> Matrix {
    if kernel == Kernel::Linear { unit_rows(x.view()) } else { x }
}

/// Nearest-mean classifier in feature space.
struct NearestMean<'a> {
    rows: &'a Matrix,
    classes: &'a [u32],
    kernel: Kernel,
}

impl NearestMean<'_> {
    fn similarity(&self, i: usize, j: usize) -> f64 {
        self.kernel.eval(self.rows.view().row(i), self.rows.view().row(j))
    }

    /// Fraction of the rows `test` that the class means of `train` predict correctly.
    fn accuracy(&self, train: &[usize], test: &[usize]) -> f64 {
        let mut present: Vec<u32> = train.iter().map(|&i| self.classes[i]).collect();
        present.sort_unstable();
        present.dedup();
        let members: Vec<Vec<usize>> = present
            .iter()
            .map(|c| train.iter().copied().filter(|&i| self.classes[i] == *c).collect())
            .collect();
        let mean_to = |i: usize, own: &[usize]| {
            own.iter().map(|&j| self.similarity(i, j)).sum::<f64>() / own.len() as f64
        };
        let lengths: Vec<f64> = members
            .iter()
            .map(|own| own.iter().map(|&i| mean_to(i, own)).sum::<f64>() / own.len() as f64)
            .collect();
        let correct = test.iter().filter(|&&i| {
            let score = |k: usize| mean_to(i, &members[k]) - 0.5 * lengths[k];
            let best = (0..present.len()).fold(0, |m, k| if score(k) > score(m) { k } else { m });
            present[best] == self.classes[i]
        });
        correct.count() as f64 / test.len().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;

    /// Two clusters per class, with a fraction `junk` of the rows far away and labeled at random.
    fn clusters(n: usize, junk: f64, seed: u64) -> (Matrix, Vec<u32>) {
        let mut rng = Pcg64::seed_from_u64(seed);
        let (mut values, mut classes) = (Vec::new(), Vec::new());
        for _ in 0..n {
            let (class, part) = (rng.random_range(0..2u32), f64::from(rng.random_range(0..2u32)));
            let spread = |rng: &mut Pcg64| rng.random_range(-0.3..0.3);
            let is_junk = rng.random::<f64>() < junk;
            let center = if is_junk {
                [rng.random_range(-9.0..9.0), 9.0]
            } else {
                [3.0 * part, 2.0 * f64::from(class)]
            };
            center.iter().for_each(|c| values.push(c + spread(&mut rng)));
            classes.push(class);
        }
        (Matrix::dense(values, n, 2).unwrap(), classes)
    }

    #[test]
    fn learns_to_avoid_randomly_labeled_outliers() {
        let kernel = Kernel::Rbf { gamma: 0.5 };
        let outliers = WeightFactors { labeled: 1.0, density: 1.0 };
        let mut lead = 0.0;
        for seed in 0..6 {
            let (x, classes) = clusters(90, 0.2, seed);
            let learned = learn_weights(x.view(), &classes, kernel, 8, seed, &()).unwrap();
            learned.check().unwrap();
            let scores = replay(x.view(), &classes, &[learned, outliers], kernel, 8, 99 + seed, &()).unwrap();
            lead += scores[0].iter().zip(&scores[1]).map(|(a, b)| a - b).sum::<f64>();
        }
        assert!(lead / (6 * SPLITS) as f64 > 0.02, "{lead}");
    }

    #[test]
    fn keeps_the_default_with_few_labels_and_is_reproducible() {
        let kernel = Kernel::Rbf { gamma: 0.5 };
        let (x, classes) = clusters(MIN_LABELS - 1, 0.2, 1);
        let learned = learn_weights(x.view(), &classes, kernel, 5, 1, &()).unwrap();
        assert_eq!(learned, WeightFactors::default());
        let (x, classes) = clusters(60, 0.2, 2);
        let again = || learn_weights(x.view(), &classes, kernel, 5, 7, &()).unwrap();
        assert_eq!(again(), again());
        assert!(learn_weights(x.view(), &classes[1..], kernel, 5, 1, &()).is_err());
        assert!(WeightFactors { labeled: f64::NAN, density: 1.0 }.check().is_err());
    }

    #[test]
    fn accuracy_is_that_of_the_nearest_mean() {
        let (x, classes) = clusters(40, 0.1, 3);
        let classifier = NearestMean { rows: &x, classes: &classes, kernel: Kernel::Linear };
        let (train, test): (Vec<usize>, Vec<usize>) = ((0..20).collect(), (20..40).collect());
        let mean = |class: u32| {
            let own: Vec<usize> = train.iter().copied().filter(|&i| classes[i] == class).collect();
            let mut sum = [0.0; 2];
            own.iter().for_each(|&i| x.view().row(i).for_each(|c, v| sum[c] += v / own.len() as f64));
            sum
        };
        let squared_distance = |i: usize, mean: [f64; 2]| {
            let mut d = 0.0;
            x.view().row(i).for_each(|c, v| d += (v - mean[c]).powi(2));
            d
        };
        let correct = test.iter().filter(|&&i| {
            u32::from(squared_distance(i, mean(1)) < squared_distance(i, mean(0))) == classes[i]
        });
        assert_eq!(classifier.accuracy(&train, &test), correct.count() as f64 / 20.0);
    }
}
