//! Novelty detection: finds rows unlike all earlier ones without labels, as the first sign of a new class.
//!
//! Problem: a class that appears late can lie far from the boundary of the known classes, where no strategy queries.
//! The score of a row is the smallest squared distance, in the feature space of the kernel, to the rows remembered from
//! before the previous batch: exemplars and labeled rows, at most [`MAX_REFERENCES`] of each, evenly spaced. A row is
//! outside if its score exceeds the j-th largest of the N scores of the previous batch, where j is one percent of N. An
//! alarm is raised if the number of rows outside is improbable at the level [`LEVEL`].
//!
//! The share of rows outside is not exactly j/N: if the rows of both batches are exchangeable, it has the distribution
//! Beta(j, N − j + 1), so the number of rows outside among n is beta-binomial. For large N this is the binomial test,
//! and it keeps its level when N is small. The rows of the previous batch are scored again, against the same remembered
//! rows as the current batch: the number of exemplars changes from batch to batch, so stored scores would not be
//! comparable. Rows of one batch that resemble each other (bursts) violate the assumption and can cause an alarm.
//!
//! A permanent change causes one alarm, because the next batch is compared with a batch after the change. A batch is
//! not tested if the previous one has fewer than [`MIN_SCORES`] rows.
//!
//! Cost: at most 4 · `MAX_REFERENCES` kernel values per row. Only the rows with reserved queries are stored.

use super::state::{CurrentBatch, StreamState};
use super::{Effects, Engine, QueryStrategy};
use crate::data::{Matrix, MatrixView};
use crate::kernel::Kernel;
use crate::kernel::gram::cross_matrix;
use crate::solver::Watch;
use crate::summary::{ExemplarParams, Pool, choose};

/// Maximum number of remembered rows of each kind with which a row is compared.
const MAX_REFERENCES: usize = 128;

/// Maximum number of rows of the previous batch that are scored.
const MAX_SCORES: usize = 1000;

/// Minimum number of scores of the previous batch that a test requires.
const MIN_SCORES: usize = 50;

/// Number of scores of the previous batch per score above the threshold.
const SCORES_PER_EXCEEDANCE: usize = 100;

/// Probability of a false alarm.
const LEVEL: f64 = 1e-3;

/// Squared distances below this share of the squared lengths are rounding errors.
const ROUNDING: f64 = 1e-9;

/// Maximum number of rows outside among which representatives are chosen.
const MAX_CANDIDATES: usize = 256;

/// Maximum number of representatives of a batch.
const MAX_REPRESENTATIVES: usize = 64;

/// One in this many queries of a batch is reserved for novel rows.
const RESERVED: usize = 5;

/// Rows whose scores exceed those of the previous batch, if they are improbably many; otherwise no rows.
fn outside(batch: &[f64], mut previous: Vec<f64>) -> Vec<usize> {
    let count = previous.len();
    if count < MIN_SCORES {
        return Vec::new();
    }
    let rank = count.div_ceil(SCORES_PER_EXCEEDANCE);
    previous.sort_unstable_by(|a, b| b.total_cmp(a));
    let threshold = previous[rank - 1];
    let rows: Vec<usize> = (0..batch.len()).filter(|&i| batch[i] > threshold).collect();
    let is_improbable = tail(batch.len(), rows.len(), rank, count - rank + 1) < LEVEL;
    if is_improbable { rows } else { Vec::new() }
}

/// Probability that a beta-binomial variable of `n` trials with the parameters `a`, `b` is at least `k`.
fn tail(n: usize, k: usize, a: usize, b: usize) -> f64 {
    let (count, a, b) = (n as f64, a as f64, b as f64);
    let mut p: f64 = (0..n).map(|i| (b + i as f64) / (a + b + i as f64)).product();
    let mut below = 0.0;
    for x in (0..k).map(|x| x as f64) {
        below += p;
        p *= (count - x) / (x + 1.0) * (x + a) / (count - x - 1.0 + b);
    }
    1.0 - below
}

/// At most `max` of `n` positions, evenly spaced.
fn evenly_spaced(n: usize, max: usize) -> Vec<usize> {
    let count = n.min(max);
    (0..count).map(|i| i * n / count).collect()
}

/// Smallest squared distance of each row to the references, in the feature space of a kernel.
fn scores(x: &Matrix, references: &Matrix, kernel: Kernel) -> Vec<f64> {
    let own = |row| kernel.eval(row, row);
    let (rows, points) = (x.view(), references.view());
    let lengths: Vec<f64> = (0..points.rows()).map(|j| own(points.row(j))).collect();
    let nearest = |i: usize, values: &[f64]| {
        let length = own(rows.row(i));
        let distance = |(value, other): (&f64, &f64)| {
            let scale = length.abs() + other.abs();
            let squared = length + other - 2.0 * value;
            if squared > ROUNDING * scale { squared } else { 0.0 }
        };
        let smallest = values.iter().zip(&lengths).map(distance).fold(f64::INFINITY, f64::min);
        if smallest.is_finite() { smallest } else { 0.0 }
    };
    if let (Matrix::Dense { .. }, Matrix::Dense { .. }) = (x, references) {
        let values = cross_matrix(rows, points, kernel);
        return values.chunks(points.rows()).enumerate().map(|(i, values)| nearest(i, values)).collect();
    }
    // One dense copy of a row is faster than merging it with every reference.
    let norms: Vec<f64> = (0..points.rows()).map(|j| points.row(j).norm2()).collect();
    let mut dense = vec![0.0; x.cols().max(references.cols())];
    let mut values = vec![0.0; points.rows()];
    let mut score = |i: usize| {
        let row = rows.row(i);
        row.for_each(|c, v| dense[c] = v);
        for (j, value) in values.iter_mut().enumerate() {
            let mut dot = 0.0;
            points.row(j).for_each(|c, v| dot += dense[c] * v);
            *value = kernel.from_dot(dot, row.norm2(), norms[j]);
        }
        row.for_each(|c, _| dense[c] = 0.0);
        nearest(i, &values)
    };
    (0..x.rows()).map(&mut score).collect()
}

impl Engine {
    /// Rows of a batch that are unlike all earlier ones, if they are improbably many; adds a note in that case.
    pub(super) fn novel_rows(&self, state: &StreamState, x: &Matrix, effects: &mut Effects) -> Vec<usize> {
        let previous = state.current.x.view();
        if !self.params.novelty || x.rows() == 0 || previous.rows() < MIN_SCORES {
            return Vec::new();
        }
        let labeled = state.memory.labeled();
        let old: Vec<usize> = (0..labeled.len()).filter(|&i| labeled[i].batch < self.batches).collect();
        let old: Vec<usize> = evenly_spaced(old.len(), MAX_REFERENCES).into_iter().map(|i| old[i]).collect();
        let labels = state.memory.rows().select(&old);
        let exemplars = state.transduction.iter().map(|t| t.exemplars().view());
        let exemplars = exemplars.map(|rows| rows.select(&evenly_spaced(rows.rows(), MAX_REFERENCES)));
        let parts: Vec<Matrix> = exemplars.chain([labels]).filter(|rows| rows.rows() > 0).collect();
        if parts.is_empty() {
            return Vec::new();
        }
        let parts: Vec<MatrixView<'_>> = parts.iter().map(Matrix::view).collect();
        let (references, kernel) = (Matrix::stacked(&parts), state.feature_space.kernel);
        let previous = previous.select(&evenly_spaced(previous.rows(), MAX_SCORES));
        let rows = outside(&scores(x, &references, kernel), scores(&previous, &references, kernel));
        if !rows.is_empty() {
            let count = rows.len();
            let note = format!("{count} rows of this batch are unlike all before: perhaps a new class");
            effects.notes.push(note);
        }
        rows
    }

    /// Representatives of the unlabeled novel rows, for which queries of the batch are reserved.
    pub(super) fn reserve_queries(
        &self,
        current: &CurrentBatch,
        novel: &[usize],
        kernel: Kernel,
        watch: &dyn Watch,
    ) -> Vec<u32> {
        let per_batch = self.params.budget.per_batch;
        let rows: Vec<usize> = novel.iter().copied().filter(|&row| current.truth[row].is_none()).collect();
        let asks = !matches!(self.params.query_strategy, QueryStrategy::None | QueryStrategy::Random);
        if rows.is_empty() || per_batch == 0 || !asks {
            return Vec::new();
        }
        let count = (per_batch / RESERVED).clamp(1, MAX_REPRESENTATIVES);
        let rows: Vec<usize> =
            evenly_spaced(rows.len(), MAX_CANDIDATES).into_iter().map(|i| rows[i]).collect();
        let x = current.x.view().select(&rows);
        let how = ExemplarParams { kernel, ..Default::default() };
        let picks = choose(&how, &Pool::of(x.view()), count, watch);
        // if the kernel cannot compare these rows, the first ones are chosen
        let picks = picks.map_or_else(|_| (0..rows.len()).collect(), |p| p.order);
        picks.into_iter().take(count).map(|p| rows[p] as u32).collect()
    }
}

impl CurrentBatch {
    /// Novel rows of the batch that were not queried yet and have no label.
    pub(super) fn reserved(&self) -> Vec<usize> {
        let open = |row: &usize| self.truth[*row].is_none() && !self.asked[*row];
        self.novel.iter().map(|&row| row as usize).filter(open).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    /// Compares the tail with the numeric integral of binomial tails over the beta density.
    #[test]
    fn tail_equals_the_integral_of_binomial_tails() {
        for (n, k, a, b) in [(20, 3, 2, 99), (50, 1, 1, 50), (100, 9, 10, 991), (5, 5, 3, 7), (30, 0, 1, 60)]
        {
            let steps = 20_000;
            let (mut total, mut weight) = (0.0, 0.0);
            for s in 0..steps {
                let p = (s as f64 + 0.5) / f64::from(steps);
                let density = ((a - 1) as f64 * p.ln() + (b - 1) as f64 * (1.0 - p).ln()).exp();
                let (mut term, mut below) = ((1.0 - p).powi(n), 0.0);
                for x in 0..k {
                    below += term;
                    term *= f64::from(n - x) / f64::from(x + 1) * p / (1.0 - p);
                }
                total += density * (1.0 - below);
                weight += density;
            }
            let found = tail(n as usize, k as usize, a as usize, b as usize);
            assert!((found - total / weight).abs() < 1e-5, "{n} {k} {a} {b}: {found} {}", total / weight);
        }
    }

    #[test]
    fn exchangeable_scores_cause_alarms_at_most_at_the_level() {
        let mut alarms = 0;
        for seed in 0..40 {
            let mut rng = Pcg64::seed_from_u64(seed);
            for _ in 0..100 {
                let mut batch = |rows: usize| (0..rows).map(|_| rng.random::<f64>()).collect::<Vec<f64>>();
                alarms += usize::from(!outside(&batch(60), batch(90)).is_empty());
            }
        }
        // 4,000 batches at a level of 1/1000; more than 11 have a probability of less than 1/1000
        assert!(alarms <= 11, "{alarms} alarms");
    }

    #[test]
    fn sparse_and_dense_rows_have_the_same_scores() {
        let mut rng = Pcg64::seed_from_u64(2);
        let mut rows = |n: usize| {
            let values = (0..n * 5).map(|_| if rng.random_bool(0.4) { rng.random::<f64>() } else { 0.0 });
            Matrix::dense(values.collect(), n, 5).unwrap()
        };
        let (x, references) = (rows(20), rows(30));
        let kernels = [Kernel::Linear, Kernel::Rbf { gamma: 0.7 }];
        for kernel in kernels {
            let dense = scores(&x, &references, kernel);
            let sparse = scores(&x.view().to_csr(), &references.view().to_csr(), kernel);
            for (i, (a, b)) in dense.iter().zip(&sparse).enumerate() {
                let exact = (0..30).map(|j| {
                    let (p, q) = (x.view().row(i), references.view().row(j));
                    kernel.eval(p, p) + kernel.eval(q, q) - 2.0 * kernel.eval(p, q)
                });
                let exact = exact.fold(f64::INFINITY, f64::min);
                assert!((a - b).abs() < 1e-9 && (a - exact).abs() < 1e-9, "{a} {b} {exact}");
            }
            let own = scores(&x, &x, kernel);
            assert!(own.iter().all(|v| *v == 0.0), "a remembered row has distance 0");
        }
    }
}
