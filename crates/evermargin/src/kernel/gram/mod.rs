//! Gram matrices row by row: the interface through which the dual solver accesses the data.

mod cache;
mod full;
mod growing;
mod mirrored;
mod packed;
mod products;
mod queries;
mod summed;

pub use full::{cross_matrix, gram_matrix};
pub use growing::{Block, GrowingGram};
pub use mirrored::MirroredGram;
pub(crate) use packed::LARGEST_VALUE;
pub use packed::{Packed, Packing, Scratch, TILE};
pub use queries::Queries;

use crate::data::MatrixView;
use crate::error::{Error, Result};
use crate::math::simd;
use cache::RowCache;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Columns that a thread processes at a time when rows are summed: their f64 sums stay in the first-level cache.
const STRIP: usize = 2048;

/// A symmetric matrix of kernel values, by rows of `f32`.
pub trait Gram: Send + Sync {
    /// Number of rows and columns.
    fn len(&self) -> usize;

    /// Whether there are no rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Entry (i, i).
    fn diag(&self, i: usize) -> f64;

    /// Maximum number of rows that [`Gram::fetch`] can hold at once.
    fn capacity(&self) -> usize;

    /// Makes rows (distinct, at most [`Gram::capacity`]) available to [`Gram::row`]; missing rows are computed
    /// together.
    fn fetch(&mut self, rows: &[usize]);

    /// A row fetched before; empty if it is not cached.
    fn row(&self, i: usize) -> &[f32];

    /// `sum += Σ coef[k]·row(rows[k])`; rows that are not cached are computed.
    fn accumulate(&mut self, rows: &[usize], coef: &[f64], sum: &mut [f64]);

    /// The sub-matrix of the given rows and columns, including the values computed so far.
    fn subset(&mut self, keep: &[usize]) -> Result<Box<dyn Gram>>;

    /// Kernel values computed so far.
    fn evaluations(&self) -> u64;
}

/// A kernel matrix whose rows are computed when they are needed, and cached under a byte budget.
#[derive(Debug)]
pub struct KernelGram<'s> {
    packed: Packed,
    cache: RowCache,
    bytes: usize,
    queries: Queries,
    evaluations: u64,
    /// Blocks on the diagonal that are shared with other matrices: their first row here, and the matrix that computes
    /// them once for all. Either they cover all rows, or there are none.
    shared: Vec<(usize, &'s mut KernelGram<'static>)>,
}

/// Rows whose values take fewer operations than this cost about as much to recompute as to keep in freshly mapped
/// memory.
const CHEAP_ROW: usize = 64;

/// Maximum size of the cache for such rows in bytes (a9a, 14 values per row: 2.9 s with 1000 MB, 1.7 s with a quarter of
/// it, on a virtual machine where fresh memory is slow).
const CHEAP_CACHE: usize = 320 << 20;

/// Minimum number of rows in a cache, whatever its budget: a working set must fit.
const MIN_ROWS: usize = 64;

impl<'s> KernelGram<'s> {
    /// The Gram matrix of the packed rows, with at most `bytes` of rows cached: half of them here, the other half by
    /// nested sub-matrices.
    pub fn new(packed: Packed, bytes: usize) -> Result<Self> {
        let n = packed.rows();
        let bytes = if packed.values_a_row() < CHEAP_ROW { bytes.min(CHEAP_CACHE) } else { bytes };
        let cache = RowCache::new(n, n, bytes / 2, MIN_ROWS)?;
        Ok(Self { packed, cache, bytes, queries: Queries::default(), evaluations: 0, shared: Vec::new() })
    }

    /// The Gram matrix of `packed`, whose rows are those of `blocks` in sequence.
    pub fn of_blocks(packed: Packed, blocks: Vec<&'s mut KernelGram<'static>>, bytes: usize) -> Result<Self> {
        let mut start = 0;
        let mut gram = Self::new(packed, bytes)?;
        for block in blocks {
            let len = block.len();
            gram.shared.push((start, block));
            start += len;
        }
        Ok(gram)
    }

    /// Computes rows of one block (any rows, if nothing is shared), at most one pass of them. The columns of a shared
    /// block are taken from its own matrix.
    fn compute(&mut self, block: Option<usize>, rows: &[usize]) {
        self.packed.load_own(rows, &mut self.queries);
        let mut memory = self.cache.claim(rows);
        let inner = block.and_then(|b| self.shared.get_mut(b));
        let mut apart = 0..0;
        if let Some((start, inner)) = inner {
            apart = *start..*start + inner.len();
            let inside: Vec<usize> = rows.iter().map(|r| r - *start).collect();
            for (rows, memory) in inside.chunks(inner.capacity()).zip(memory.chunks_mut(inner.capacity())) {
                inner.fetch(rows);
                for (&r, memory) in rows.iter().zip(memory) {
                    memory[apart.clone()].copy_from_slice(inner.row(r));
                }
            }
        }
        for columns in [0..apart.start, apart.end..self.packed.rows()] {
            let mut part: Vec<&mut [f32]> = memory.iter_mut().map(|m| &mut m[columns.clone()]).collect();
            self.evaluations += (rows.len() * columns.len()) as u64;
            fill(&self.packed, &self.queries, columns, &mut part);
        }
    }

    /// The shared block that contains a row.
    fn block_of(&self, row: usize) -> Option<usize> {
        self.shared.partition_point(|(start, _)| *start <= row).checked_sub(1)
    }
}

impl Gram for KernelGram<'_> {
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
        let missing = self.cache.touch(rows);
        let pass = self.packed.pass();
        for same in missing.chunk_by(|&a, &b| self.block_of(a) == self.block_of(b)).collect::<Vec<_>>() {
            let block = self.block_of(same[0]);
            same.chunks(pass).for_each(|rows| self.compute(block, rows));
        }
    }

    fn row(&self, i: usize) -> &[f32] {
        self.cache.get(i).unwrap_or_default()
    }

    fn accumulate(&mut self, rows: &[usize], coef: &[f64], sum: &mut [f64]) {
        let (mut held, mut held_coef, mut rest, mut rest_coef) = (vec![], vec![], vec![], vec![]);
        for (&row, &c) in rows.iter().zip(coef) {
            if let Some(values) = self.cache.get(row) {
                held.push(values);
                held_coef.push(c);
            } else {
                rest.push(row);
                rest_coef.push(c);
            }
        }
        add_strips(&held, &held_coef, sum);
        let pass = self.packed.pass();
        for (batch, coef) in rest.chunks(pass).zip(rest_coef.chunks(pass)) {
            self.packed.load_own(batch, &mut self.queries);
            self.evaluations += (batch.len() * self.packed.rows()) as u64;
            let (packed, queries) = (&self.packed, &self.queries);
            sum.par_chunks_mut(TILE).enumerate().for_each_init(Scratch::default, |scratch, (t, sum)| {
                let tile = packed.tile_in(queries, t * TILE..t * TILE + sum.len(), scratch);
                let rows: Vec<&[f32]> = tile.chunks_exact(sum.len()).collect();
                simd::add_rows(sum, &rows, coef);
            });
        }
    }

    fn subset(&mut self, keep: &[usize]) -> Result<Box<dyn Gram>> {
        let whole = keep.len().saturating_mul(keep.len()).saturating_mul(4);
        let mut part =
            KernelGram::new(self.packed.select(keep), whole.saturating_mul(2).min(self.bytes / 2))?;
        copy_rows(&self.cache, keep, &mut part.cache);
        Ok(Box::new(part))
    }

    fn evaluations(&self) -> u64 {
        self.evaluations
    }
}

/// A whole kernel matrix in memory; clones share it.
#[derive(Debug, Clone)]
pub struct MatrixGram {
    n: usize,
    values: Arc<Vec<f32>>,
    diag: Arc<Vec<f64>>,
}

impl MatrixGram {
    /// Takes the square matrix `k`; refuses one that is not symmetric or not representable in single precision.
    pub fn new(k: MatrixView<'_>) -> Result<Self> {
        let n = k.rows();
        let mut values = vec![0.0; n * n];
        let mut diag = vec![0.0; n];
        for i in 0..n {
            k.row(i).for_each(|c, v| {
                values[i * n + c] = v as f32;
                if c == i {
                    diag[i] = v;
                }
            });
        }
        for i in 0..n {
            for j in 0..i {
                let (a, b) = (values[i * n + j], values[j * n + i]);
                let difference = (a - b).abs();
                if difference.is_nan() || difference > 1e-4 * (a.abs() + b.abs() + 1e-2) {
                    return Err(Error::Data(format!(
                        "kernel matrix: entry ({}, {}) is {a} but ({}, {}) is {b}; it must be symmetric",
                        i + 1,
                        j + 1,
                        j + 1,
                        i + 1
                    )));
                }
            }
        }
        Ok(Self { n, values: Arc::new(values), diag: Arc::new(diag) })
    }

    /// Computes the matrix of the packed rows.
    pub fn computed(packed: &Packed) -> Self {
        let n = packed.rows();
        let (mut values, mut queries) = (vec![0.0; n * n], Queries::default());
        let all: Vec<usize> = (0..n).collect();
        let passes = values.chunks_mut(packed.pass() * n.max(1)).zip(all.chunks(packed.pass()));
        for (block, rows) in passes {
            packed.load_own(rows, &mut queries);
            fill(packed, &queries, 0..n, &mut block.chunks_exact_mut(n).collect::<Vec<_>>());
        }
        Self { n, values: Arc::new(values), diag: Arc::new((0..n).map(|i| packed.diag(i)).collect()) }
    }
}

impl MatrixGram {
    /// The sub-matrix of the rows and columns `keep`.
    fn of_rows<'r>(keep: &[usize], row: impl Fn(usize) -> &'r [f32], diag: Vec<f64>) -> Self {
        let n = keep.len();
        let mut values = vec![0.0; n * n];
        for (out, &i) in values.chunks_exact_mut(n.max(1)).zip(keep) {
            gather(row(i), keep, out);
        }
        Self { n, values: Arc::new(values), diag: Arc::new(diag) }
    }
}

impl Gram for MatrixGram {
    fn len(&self) -> usize {
        self.n
    }

    fn diag(&self, i: usize) -> f64 {
        self.diag[i]
    }

    fn capacity(&self) -> usize {
        self.n
    }

    fn fetch(&mut self, _: &[usize]) {}

    fn row(&self, i: usize) -> &[f32] {
        &self.values[i * self.n..(i + 1) * self.n]
    }

    fn accumulate(&mut self, rows: &[usize], coef: &[f64], sum: &mut [f64]) {
        let rows: Vec<&[f32]> = rows.iter().map(|&i| self.row(i)).collect();
        add_strips(&rows, coef, sum);
    }

    fn subset(&mut self, keep: &[usize]) -> Result<Box<dyn Gram>> {
        let diag = keep.iter().map(|&i| self.diag[i]).collect();
        Ok(Box::new(Self::of_rows(keep, |i| self.row(i), diag)))
    }

    fn evaluations(&self) -> u64 {
        0
    }
}

/// Computes kernel values of the queries with `columns` of the data; threads process tiles of columns.
pub(crate) fn fill(packed: &Packed, queries: &Queries, columns: Range<usize>, rows: &mut [&mut [f32]]) {
    let tiles = columns.len().div_ceil(TILE);
    let mut parts: Vec<Vec<&mut [f32]>> = (0..tiles).map(|_| Vec::with_capacity(rows.len())).collect();
    for row in rows {
        for (part, piece) in parts.iter_mut().zip(row.chunks_mut(TILE)) {
            part.push(piece);
        }
    }
    parts.par_iter_mut().enumerate().for_each_init(Scratch::default, |scratch, (t, part)| {
        let start = columns.start + t * TILE;
        let len = part.first().map_or(0, |p| p.len());
        packed.tile(queries, start..start + len, scratch, part);
    });
}

/// `sum += Σ coef[k]·rows[k]`; threads process strips of columns, and rows are added in order.
pub(crate) fn add_strips(rows: &[&[f32]], coef: &[f64], sum: &mut [f64]) {
    sum.par_chunks_mut(STRIP).enumerate().for_each(|(s, sum)| {
        let strip: Vec<&[f32]> = rows.iter().map(|r| &r[s * STRIP..s * STRIP + sum.len()]).collect();
        simd::add_rows(sum, &strip, coef);
    });
}

/// Minimum number of kernel values that one thread copies: starting another thread costs more than copying fewer.
const VALUES_PER_TASK: usize = 1 << 15;

/// Copies the complete cached rows, the most recently used ones if not all fit, into the cache of the sub-matrix of
/// `keep`.
fn copy_rows(from: &RowCache, keep: &[usize], to: &mut RowCache) {
    let (n, inside) = (from.rows(), position_of(keep, from.rows()));
    let whole = |r: &usize| inside[*r] != u32::MAX && from.get(*r).is_some_and(|row| row.len() == n);
    let held: Vec<usize> = from.held().into_iter().filter(whole).collect();
    let newest = &held[held.len().saturating_sub(to.capacity())..];
    let places: Vec<usize> = newest.iter().map(|&r| inside[r] as usize).collect();
    let memory = to.claim(&places);
    let rows_per_task = VALUES_PER_TASK / keep.len().max(1) + 1;
    let copied = newest.par_iter().zip(memory).with_min_len(rows_per_task);
    copied.for_each(|(&r, out)| gather(from.get(r).unwrap_or_default(), keep, out));
}

fn gather(row: &[f32], keep: &[usize], out: &mut [f32]) {
    out.iter_mut().zip(keep).for_each(|(k, &c)| *k = row[c]);
}

/// Position in `keep` of each of `len` rows, or `u32::MAX`.
fn position_of(keep: &[usize], len: usize) -> Vec<u32> {
    let mut at = vec![u32::MAX; len];
    for (k, &i) in keep.iter().enumerate() {
        at[i] = k as u32;
    }
    at
}
