//! A Gram matrix to which points are added and from which points are removed, for online learners.
//!
//! Points are appended and removed; their order stays the same. The cache stores a prefix of each row, under a byte
//! limit (three quarters of it; the rest is for sub-matrices): a row is as long as the matrix was when it was last
//! used, and later entries are read from the rows of the newer points, because the matrix is symmetric (Bordes et al.
//! 2005; the cache of LASVM). Kernel values of new points with the others are computed in blocks.
//!
//! Invariant: a kernel value depends only on its two samples, not on the block in which it was computed or on the
//! contents of the cache; so results do not depend on the cache, and a saved learner resumes with bit-identical
//! results.

use super::cache::RowCache;
use super::{Gram, MIN_ROWS, Packed, Packing, Queries, add_strips, copy_rows, fill};
use crate::data::{Matrix, MatrixView, Row};
use crate::error::Result;
use crate::kernel::Kernel;
use std::ops::Range;

/// Maximum number of rows that are completed one by one, where values from other rows are looked up individually.
const MAX_SINGLE: usize = 4;

/// Missing values closer together than this are computed in one run, including the values between them.
const MAX_GAP: usize = 32;

/// Points of an online learner, and the kernel values between them.
#[derive(Debug)]
pub struct GrowingGram {
    packed: Packed,
    points: Matrix,
    cache: RowCache,
    bytes: usize,
    max: usize,
    queries: Queries,
    computed: u64,
    evaluations: u64,
}

/// Kernel values of candidates with the points and with each other.
#[derive(Debug, Default)]
pub struct Block {
    candidates: Option<Packed>,
    /// Values, one row per candidate: first with the points at that time, then with the candidates.
    values: Vec<f32>,
    width: usize,
    /// Number of points when the candidates were added.
    before: usize,
    /// Column in `values` of each current point.
    columns: Vec<u32>,
}

impl GrowingGram {
    /// A matrix without points, for dense or `sparse` ones, with at most `bytes` of cached rows and `max` expected
    /// points.
    pub fn new(kernel: Kernel, packing: &Packing, sparse: bool, bytes: usize, max: usize) -> Self {
        Self {
            packed: Packed::empty(kernel, packing),
            points: Matrix::empty(packing.cols, sparse),
            cache: RowCache::growing(bytes / 4 * 3, MIN_ROWS),
            bytes,
            max,
            queries: Queries::default(),
            computed: 0,
            evaluations: 0,
        }
    }

    /// A copy with the same points and without kernel values.
    pub(crate) fn copy(&self) -> Self {
        let mut cache = RowCache::growing(self.bytes / 4 * 3, MIN_ROWS);
        // if memory is not available, rows are computed when they are needed
        let _ = cache.grow(self.packed.rows(), self.max);
        Self {
            packed: self.packed.clone(),
            points: self.points.clone(),
            cache,
            queries: Queries::default(),
            ..*self
        }
    }

    /// The original, unpacked points.
    pub fn points(&self) -> &Matrix {
        &self.points
    }

    /// The packed samples.
    pub fn packed(&self) -> &Packed {
        &self.packed
    }

    /// Number of kernel values that were computed in blocks and never read.
    pub fn spare(&self) -> u64 {
        self.computed - self.evaluations
    }

    /// Computes the kernel values of the given rows of `x` with every point and with each other.
    pub fn compute_kernel_block(
        &mut self,
        x: MatrixView<'_>,
        rows: &[usize],
        block: &mut Block,
    ) -> Result<()> {
        let mut candidates = self.packed.select(&[]);
        candidates.append(x, rows)?;
        let (m, n) = (rows.len(), self.len());
        let width = n + m;
        block.values.resize(m * width, 0.0);
        let own: Vec<usize> = (0..m).collect();
        let pass = self.packed.pass();
        for (own, values) in own.chunks(pass).zip(block.values.chunks_mut(pass * width.max(1))) {
            candidates.load_own(own, &mut self.queries);
            let (mut old, mut new): (Vec<_>, Vec<_>) =
                values.chunks_exact_mut(width).map(|row| row.split_at_mut(n)).unzip();
            fill(&self.packed, &self.queries, 0..n, &mut old);
            fill(&candidates, &self.queries, 0..m, &mut new);
        }
        self.computed += (m * width) as u64;
        (block.candidates, block.width, block.before) = (Some(candidates), width, n);
        block.columns.clear();
        block.columns.extend(0..n as u32);
        Ok(())
    }

    /// Copies the kernel values of candidate `c` with the current points to `out`; the caller reports by
    /// [`GrowingGram::read`] how many it used.
    pub fn candidate(&self, block: &Block, c: usize, out: &mut Vec<f32>) {
        let row = &block.values[c * block.width..(c + 1) * block.width];
        out.clear();
        out.extend(block.columns.iter().map(|&k| row[k as usize]));
    }

    /// Counts kernel values that were computed elsewhere for this matrix.
    pub fn count(&mut self, evaluations: u64) {
        self.computed += evaluations;
        self.evaluations += evaluations;
    }

    /// Counts values of a block as used.
    pub fn read(&mut self, values: usize) {
        self.evaluations += values as u64;
    }

    /// Appends candidate `c`, which is `sample`, as the last point; `row` are its kernel values with the current
    /// points.
    pub fn admit(&mut self, block: &mut Block, c: usize, sample: Row<'_>, row: &[f32]) -> Result<()> {
        let n = self.len();
        self.cache.grow(n + 1, self.max)?;
        if let Some(candidates) = &block.candidates {
            self.packed.append_packed(candidates, c);
        }
        self.points.push(sample);
        self.cache.touch(&[]);
        let own = block.before + c;
        for memory in self.cache.claim(&[n]) {
            memory[..n].copy_from_slice(row);
            memory[n] = block.values[c * block.width + own];
        }
        self.cache.set_filled(n, n + 1);
        block.columns.push(own as u32);
        Ok(())
    }

    /// Appends points without computing kernel values: rows are computed when they are needed.
    pub fn restore(&mut self, points: MatrixView<'_>) -> Result<()> {
        let rows: Vec<usize> = (0..points.rows()).collect();
        self.packed.append(points, &rows)?;
        rows.iter().for_each(|&i| self.points.push(points.row(i)));
        self.cache.grow(self.packed.rows(), self.max)
    }

    /// Keeps the given points (ascending) and removes the others.
    pub fn keep(&mut self, keep: &[usize], block: &mut Block) {
        self.packed = self.packed.select(keep);
        self.points = self.points.view().select(keep);
        self.cache.keep(keep);
        if block.columns.len() >= keep.len() {
            block.columns = keep.iter().filter_map(|&k| block.columns.get(k).copied()).collect();
        }
    }

    /// Resizes the cache for the current number of points, so that subsequent solver steps depend only on the points,
    /// not on how they were added.
    pub fn fit(&mut self) -> Result<()> {
        self.cache.fit()
    }

    /// Completes rows that are cached in part: values are copied from the cached rows of other points where available,
    /// and the rest is computed, for a few rows individually, for many rows together.
    fn complete(&mut self, rows: &[usize]) {
        if rows.len() <= MAX_SINGLE {
            return rows.iter().for_each(|&r| self.complete_one(r));
        }
        let n = self.len();
        let mut unknown = Vec::new();
        for &r in rows {
            let from = self.cache.get(r).map_or(n, <[f32]>::len);
            let known = (from..n).map_while(|k| self.cache.get(k).and_then(|row| row.get(r)).copied());
            let known: Vec<f32> = known.collect();
            self.cache.extend(r, &known);
            if from + known.len() < n {
                unknown.push((r, from + known.len()));
            }
        }
        let Some(start) = unknown.iter().map(|(_, k)| *k).min() else { return };
        let own: Vec<usize> = unknown.iter().map(|(r, _)| *r).collect();
        self.packed.load_own(&own, &mut self.queries);
        let mut values = vec![0.0; own.len() * (n - start)];
        let mut parts: Vec<&mut [f32]> = values.chunks_exact_mut(n - start).collect();
        fill(&self.packed, &self.queries, start..n, &mut parts);
        self.computed += values.len() as u64;
        for (&(r, from), row) in unknown.iter().zip(values.chunks_exact(n - start)) {
            self.evaluations += (n - from) as u64;
            self.cache.extend(r, &row[from - start..]);
        }
    }

    fn complete_one(&mut self, r: usize) {
        let (n, from) = (self.len(), self.cache.get(r).map_or(self.len(), <[f32]>::len));
        let mut more = Vec::with_capacity(n - from);
        let mut unknown: Vec<Range<usize>> = Vec::new();
        for k in from..n {
            let known = self.cache.get(k).and_then(|row| row.get(r)).copied();
            more.push(known.unwrap_or(0.0));
            if known.is_some() {
                continue;
            }
            self.evaluations += 1;
            match unknown.last_mut() {
                Some(run) if k < run.end + MAX_GAP => run.end = k + 1,
                _ => unknown.push(k..k + 1),
            }
        }
        if !unknown.is_empty() {
            self.packed.load_own(&[r], &mut self.queries);
        }
        for run in unknown {
            self.computed += run.len() as u64;
            fill(
                &self.packed,
                &self.queries,
                run.clone(),
                &mut [&mut more[run.start - from..run.end - from]],
            );
        }
        self.cache.extend(r, &more);
    }
}

impl Gram for GrowingGram {
    fn len(&self) -> usize {
        self.packed.rows()
    }

    fn diag(&self, i: usize) -> f64 {
        self.packed.diag(i)
    }

    fn capacity(&self) -> usize {
        self.cache.capacity()
    }

    fn fetch(&mut self, rows: &[usize]) {
        let n = self.len();
        let missing = self.cache.touch(rows);
        self.cache.claim(&missing);
        missing.iter().for_each(|&r| self.cache.set_filled(r, 0));
        let short = |r: &usize| self.cache.get(*r).is_some_and(|row| row.len() < n);
        let short: Vec<usize> = rows.iter().copied().filter(short).collect();
        short.chunks(self.packed.pass()).for_each(|rows| self.complete(rows));
    }

    fn row(&self, i: usize) -> &[f32] {
        self.cache.get(i).unwrap_or_default()
    }

    fn accumulate(&mut self, rows: &[usize], coef: &[f64], sum: &mut [f64]) {
        let max = self.packed.pass().min(self.capacity()).max(1);
        for (rows, coef) in rows.chunks(max).zip(coef.chunks(max)) {
            self.fetch(rows);
            let rows: Vec<&[f32]> = rows.iter().map(|&r| self.row(r)).collect();
            add_strips(&rows, coef, sum);
        }
    }

    /// The sub-matrix is of the same type, so that sums over rows do not depend on which rows were cached.
    fn subset(&mut self, keep: &[usize]) -> Result<Box<dyn Gram>> {
        let whole = keep.len().saturating_mul(keep.len()).saturating_mul(4);
        let bytes = whole.saturating_mul(2).min(self.bytes / 4);
        let mut part = Self {
            packed: self.packed.select(keep),
            points: Matrix::empty(self.packed.cols(), true),
            cache: RowCache::growing(bytes / 4 * 3, MIN_ROWS),
            bytes,
            max: keep.len(),
            queries: Queries::default(),
            computed: 0,
            evaluations: 0,
        };
        part.cache.grow(keep.len(), keep.len())?;
        part.cache.fit()?;
        copy_rows(&self.cache, keep, &mut part.cache);
        Ok(Box::new(part))
    }

    fn evaluations(&self) -> u64 {
        self.evaluations
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(n: usize, d: usize, sparse: bool) -> Matrix {
        let value = |k: usize| ((k * 7919 + 31) % 1013) as f64 / 1013.0 - 0.4;
        let values = (0..n * d).map(|k| if sparse && k % 7 > 0 { 0.0 } else { value(k) }).collect();
        let x = Matrix::dense(values, n, d).unwrap();
        if sparse { x.view().to_csr() } else { x }
    }

    /// Kernel values of `queries` with `columns` of the data.
    fn block(packed: &Packed, queries: &[usize], columns: Range<usize>) -> Vec<f32> {
        let (mut q, width) = (Queries::default(), columns.len());
        packed.load_own(queries, &mut q);
        let mut out = vec![0.0; queries.len() * width];
        fill(packed, &q, columns, &mut out.chunks_exact_mut(width).collect::<Vec<_>>());
        out
    }

    #[test]
    fn kernel_values_do_not_depend_on_the_block_they_are_computed_in() {
        for (d, sparse) in
            (1..40).map(|d| (d, false)).chain([(123, false), (256, false), (784, false), (40, true)])
        {
            for kernel in [Kernel::Rbf { gamma: 0.3 / d as f64 }, Kernel::Linear, Kernel::Rbf { gamma: 1e4 }]
            {
                let x = rows(300, d, sparse);
                let packed = Packed::new(x.view(), kernel).unwrap();
                let n = packed.rows();
                let max = packed.pass().min(200);
                let all: Vec<usize> = (0..max).collect();
                let whole = block(&packed, &all, 0..n);
                for (count, columns) in
                    [(1, 0..n), (2, 5..n), (3, 0..7), (17, 40..41), (max, 250..n), (9, 60..200)]
                {
                    let part = block(&packed, &all[..count], columns.clone());
                    for q in 0..count {
                        for (k, c) in columns.clone().enumerate() {
                            let (a, b) = (part[q * columns.len() + k], whole[q * n + c]);
                            assert_eq!(
                                a.to_bits(),
                                b.to_bits(),
                                "d {d} {kernel:?} {count} {columns:?} ({q}, {c})"
                            );
                        }
                    }
                }
                for i in 0..max {
                    for j in 0..i {
                        assert_eq!(whole[i * n + j].to_bits(), whole[j * n + i].to_bits(), "symmetric");
                    }
                }
            }
        }
    }

    #[test]
    fn rows_stay_correct_while_points_are_added_and_removed() {
        let x = rows(200, 5, false);
        let kernel = Kernel::Rbf { gamma: 0.5 };
        let packing = Packed::new(x.view(), kernel).unwrap().packing();
        for bytes in [0, 1 << 14, 1 << 20] {
            let mut gram = GrowingGram::new(kernel, &packing, false, bytes, 100);
            let (mut block, mut row, mut ids) = (Block::default(), Vec::new(), Vec::new());
            for step in 0..600 {
                let r = step * 37 % 200;
                gram.compute_kernel_block(x.view(), &[r], &mut block).unwrap();
                gram.candidate(&block, 0, &mut row);
                let here = row.clone();
                gram.admit(&mut block, 0, x.view().row(r), &here).unwrap();
                ids.push(r);
                if ids.len() > 90 {
                    let keep: Vec<usize> = (0..ids.len()).filter(|i| (i * 5 + step) % 4 > 0).collect();
                    gram.keep(&keep, &mut block);
                    ids = keep.iter().map(|&i| ids[i]).collect();
                }
                let pair = [step % ids.len(), (step * 13) % ids.len()];
                gram.fetch(&pair[..=usize::from(pair[0] != pair[1])]);
                for i in [pair[0]] {
                    let got = gram.row(i);
                    assert_eq!(got.len(), ids.len());
                    for (k, &j) in ids.iter().enumerate() {
                        let exact = kernel.eval(x.view().row(ids[i]), x.view().row(j));
                        assert!((f64::from(got[k]) - exact).abs() < 1e-6, "step {step}");
                    }
                }
            }
        }
    }
}
