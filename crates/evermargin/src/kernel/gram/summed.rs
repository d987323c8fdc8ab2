//! Sums over whole rows of a kernel matrix, sᵢ = Σ wⱼK(xᵢ, xⱼ), from half of its entries.
//!
//! The matrix is symmetric: the rows of a block are multiplied with themselves and with later rows only, and every
//! value counts for both of its samples. If the byte limit allows the whole matrix, the values are kept, mirrored, and
//! no row is computed again; otherwise only the sums are kept, and rows are computed when they are requested.
//!
//! Blocks are the same in both cases, and sums are added in their order, so the sums are bit-identical for every limit.

use super::{Gram, KernelGram, MIN_ROWS, Packed, Queries, Scratch, TILE, add_strips, fill};
use crate::data::MatrixView;
use crate::error::{Error, Result};
use crate::kernel::gram::cache::RowCache;
use crate::math::simd;
use crate::watch::{Progress, Watch};
use rayon::prelude::*;

/// Side of the square blocks in which the matrix is mirrored: two of them fit into the first-level cache.
const SQUARE: usize = 64;

impl KernelGram<'static> {
    /// The Gram matrix of the packed rows, with at most `bytes` of rows cached, and the sums Σⱼ wⱼ·K(xᵢ, xⱼ) of every
    /// row i with the given weights; `None` if the caller asked to stop.
    pub fn summed(
        packed: Packed,
        weight: &[f64],
        bytes: usize,
        watch: &dyn Watch,
    ) -> Result<Option<(Self, Vec<f64>)>> {
        let n = packed.rows();
        let cache = RowCache::new(n, n, bytes, MIN_ROWS)?;
        let mut gram =
            Self { packed, cache, bytes, queries: Queries::default(), evaluations: 0, shared: Vec::new() };
        let mut sums = vec![0.0; n];
        let finished = gram.sum_blocks(weight, &mut sums, watch);
        Ok(finished.then_some((gram, sums)))
    }

    fn sum_blocks(&mut self, weight: &[f64], sums: &mut [f64], watch: &dyn Watch) -> bool {
        let (n, size) = (self.packed.rows(), self.packed.pass());
        let mut whole = self.cache.claim_all();
        let mut spare = if whole.is_some() { Vec::new() } else { vec![0.0; size.min(n) * n] };
        for start in (0..n).step_by(size) {
            let done =
                Progress { steps: start as u64, violation: 1.0 - start as f64 / n as f64, tolerance: 0.0 };
            if !watch.proceed(&done) {
                return false;
            }
            let end = (start + size).min(n);
            self.packed.load_own(&(start..end).collect::<Vec<_>>(), &mut self.queries);
            let memory = match whole.as_deref_mut() {
                Some(matrix) => &mut matrix[start * n..end * n],
                None => &mut spare[..(end - start) * n],
            };
            let mut rows: Vec<&mut [f32]> = memory.chunks_exact_mut(n).map(|row| &mut row[start..]).collect();
            fill(&self.packed, &self.queries, start..n, &mut rows);
            self.evaluations += ((end - start) * (n - start)) as u64;
            let own: Vec<f64> = rows.par_iter().map(|row| simd::dot(row, &weight[start..])).collect();
            sums[start..end].iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
            let after: Vec<&[f32]> = rows.iter().map(|row| &row[end - start..]).collect();
            add_strips(&after, &weight[start..end], &mut sums[end..]);
        }
        if let Some(matrix) = whole {
            mirror(matrix, n);
        }
        true
    }

    /// `sum += Σ coef[k]·K(zₖ, ·)` over other samples zₖ with the same columns.
    pub fn accumulate_others(&mut self, z: MatrixView<'_>, coef: &[f64], sum: &mut [f64]) -> Result<()> {
        let pass = self.packed.pass();
        for start in (0..z.rows()).step_by(pass) {
            let end = (start + pass).min(z.rows());
            self.packed.load(z, start..end, &mut self.queries);
            if let Some(far) = self.queries.overflowing().next() {
                let row = start + far + 1;
                return Err(Error::Data(format!(
                    "row {row} is of another order of magnitude than the others: scale the data"
                )));
            }
            self.evaluations += ((end - start) * self.packed.rows()) as u64;
            let (packed, queries, coef) = (&self.packed, &self.queries, &coef[start..end]);
            sum.par_chunks_mut(TILE).enumerate().for_each_init(Scratch::default, |scratch, (t, sum)| {
                let tile = packed.tile_in(queries, t * TILE..t * TILE + sum.len(), scratch);
                simd::add_rows(sum, &tile.chunks_exact(sum.len()).collect::<Vec<_>>(), coef);
            });
        }
        Ok(())
    }

    /// Whether the cache has room for every row.
    pub fn is_whole(&self) -> bool {
        self.capacity() >= self.len()
    }
}

/// Copies the upper triangle to the lower one.
fn mirror(matrix: &mut [f32], n: usize) {
    for first in (0..n).step_by(SQUARE) {
        let last = (first + SQUARE).min(n);
        let (above, below) = matrix.split_at_mut(first * n);
        for left in (0..first).step_by(SQUARE) {
            for i in first..last {
                let row = &mut below[(i - first) * n..(i - first) * n + n];
                for j in left..left + SQUARE {
                    row[j] = above[j * n + i];
                }
            }
        }
        for i in first..last {
            for j in first..i {
                below[(i - first) * n + j] = below[(j - first) * n + i];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Matrix;
    use crate::kernel::Kernel;

    fn samples(n: usize, d: usize, sparse: bool) -> Matrix {
        let value = |k: usize| {
            if sparse && !k.is_multiple_of(5) { 0.0 } else { ((k * 37) % 101) as f64 / 50.0 - 0.7 }
        };
        Matrix::dense((0..n * d).map(value).collect(), n, d).unwrap()
    }

    #[test]
    fn sums_and_rows_match_the_definition_for_every_byte_limit() {
        for (n, sparse) in [(1, false), (63, true), (300, false), (700, true), (530, false)] {
            let (x, kernel) = (samples(n, 11, sparse), Kernel::Rbf { gamma: 0.2 });
            let weight: Vec<f64> = (0..n).map(|i| 0.5 + (i % 4) as f64).collect();
            let of = |bytes| {
                let packed = Packed::new(x.view(), kernel).unwrap();
                KernelGram::summed(packed, &weight, bytes, &()).unwrap().unwrap()
            };
            let ((mut whole, sums), (mut none, same)) = (of(usize::MAX / 8 / n), of(0));
            assert!(whole.is_whole() && (n <= MIN_ROWS || !none.is_whole()));
            assert_eq!(sums, same);
            for i in 0..n {
                let view = x.view();
                let exact = |j: usize| kernel.eval(view.row(i), view.row(j));
                let sum: f64 = (0..n).map(|j| weight[j] * exact(j)).sum();
                assert!((sums[i] - sum).abs() < 1e-6 * sum, "{} is not {sum}", sums[i]);
                whole.fetch(&[i]);
                none.fetch(&[i]);
                assert_eq!(whole.row(i), none.row(i), "row {i} of {n}");
                assert!(
                    whole.row(i).iter().enumerate().all(|(j, &k)| (f64::from(k) - exact(j)).abs() < 1e-6)
                );
            }
        }
    }

    #[test]
    fn sums_over_other_samples_match_the_definition() {
        for sparse in [false, true] {
            let (x, z, kernel) =
                (samples(300, 9, sparse), samples(290, 9, false), Kernel::Rbf { gamma: 0.3 });
            let packed = Packed::new(x.view(), kernel).unwrap();
            let (mut gram, _) = KernelGram::summed(packed, &[1.0; 300], 0, &()).unwrap().unwrap();
            let coef: Vec<f64> = (0..290).map(|k| f64::from(k % 3) - 1.0).collect();
            let mut sum = vec![1.0; 300];
            gram.accumulate_others(z.view(), &coef, &mut sum).unwrap();
            for i in 0..300 {
                let of = |k: usize| coef[k] * kernel.eval(x.view().row(i), z.view().row(k));
                let exact = 1.0 + (0..290).map(of).sum::<f64>();
                assert!((sum[i] - exact).abs() < 1e-4, "{} is not {exact}", sum[i]);
            }
        }
    }
}
