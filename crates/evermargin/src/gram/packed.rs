//! Samples packed in single precision for computing kernel values in blocks.
//!
//! Dense rows go through a matrix product; sparse rows are met by [`LANES`] scattered queries at a time.
//! Distances do not change when all samples move together, so dense data for the RBF kernel is moved: to the
//! most frequent value of each column where that leaves few values (standardised 0/1 columns become sparse),
//! else to the mean, which keeps |x|² + |z|² − 2x·z accurate in single precision. Where it still would not be
//! (gamma·|x|² large), products are taken in double precision.

use crate::data::{MatrixView, Row};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::linalg;
use crate::simd::{self, LANES};
use std::ops::Range;

/// Samples of one tile: the rows a thread takes at a time.
pub const TILE: usize = 256;

/// Dense is faster than sparse from this share of non-zero values on: a gathered product costs about as much
/// as three in a matrix product (MNIST, one fifth full, trains 1.7 times as fast sparse as dense).
const DENSE_FROM: f64 = 0.3;

/// Sparse data with more columns than this keeps only those that occur.
const WIDE: usize = 1 << 16;

/// No place among the columns that occur.
const ABSENT: u32 = u32::MAX;

/// Most values packed in double precision.
const DOUBLE_UP_TO: usize = 1 << 28;

/// Packed rows, ready for blocks of kernel values.
#[derive(Debug, Clone)]
pub struct Packed {
    kernel: Kernel,
    rows: usize,
    cols: usize,
    /// Columns of the packed rows: `cols`, or those that occur.
    width: usize,
    center: Vec<f64>,
    /// For very wide sparse data: the place of each column among those that occur, or `ABSENT`.
    place: Vec<u32>,
    layout: Layout,
    norms: Vec<f32>,
    /// Squared lengths of the packed rows.
    exact_norms: Vec<f64>,
}

#[derive(Debug, Clone)]
enum Layout {
    Dense(Vec<f32>),
    Double(Vec<f64>),
    Sparse { indptr: Vec<usize>, indices: Vec<u32>, values: Vec<f32> },
}

/// A group of query rows in the form that suits the packed data they will meet.
#[derive(Debug, Default)]
pub struct Queries {
    count: usize,
    dense: Vec<f32>,
    double: Vec<f64>,
    lanes: Vec<[f32; LANES]>,
    /// Columns of `lanes` that are not zero.
    touched: Vec<u32>,
    norms: Vec<f32>,
    exact_norms: Vec<f64>,
}

/// Memory a thread reuses from tile to tile.
#[derive(Debug, Default)]
pub struct Scratch {
    tile: Vec<f32>,
    single: Vec<f32>,
    double: Vec<f64>,
    lanes: Vec<[f32; LANES]>,
}

impl Packed {
    /// Packs the rows of `x` for `kernel`; the layout follows from the data. Refuses values whose squares
    /// single precision cannot hold where double precision would take too much memory.
    pub fn new(x: MatrixView<'_>, kernel: Kernel) -> Result<Self> {
        let (rows, cols) = (x.rows(), x.cols());
        let mut packed = Self {
            kernel,
            rows,
            cols,
            width: cols,
            center: Vec::new(),
            place: Vec::new(),
            layout: Layout::Dense(Vec::new()),
            norms: Vec::new(),
            exact_norms: Vec::new(),
        };
        let movable = matches!(kernel, Kernel::Rbf { .. }) && matches!(x, MatrixView::Dense { .. });
        let (modes, fill) = if movable { column_modes(x) } else { (Vec::new(), 1.0) };
        if (x.nonzeros() as f64) < DENSE_FROM * (rows * cols) as f64 {
            packed.layout = packed.pack_sparse(x);
            packed.drop_absent_columns();
        } else if fill < DENSE_FROM {
            packed.center = modes;
            packed.layout = packed.pack_sparse(x);
        } else {
            if movable {
                packed.center = column_means(x);
            }
            packed.layout = Layout::Dense(packed.pack_dense(x, |v| v as f32));
        }
        packed.measure();
        let fits = rows.saturating_mul(cols) <= DOUBLE_UP_TO;
        if fits && (packed.overflows() || packed.is_inexact()) {
            packed.layout = Layout::Double(packed.pack_dense(x, |v| v));
            packed.measure();
        } else if packed.overflows() {
            return Err(Error::Data("values beyond 1e15 in so large a matrix: scale the data first".into()));
        }
        let steepest = (0..rows).map(|i| packed.diag(i).abs()).fold(0.0, f64::max);
        if steepest.is_nan() || steepest >= 1e30 {
            return Err(Error::Data(format!(
                "the {} kernel reaches {steepest:.0e} on this data: scale the data or lower gamma",
                kernel.name()
            )));
        }
        Ok(packed)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The kernel of row `i` with itself.
    pub fn diag(&self, i: usize) -> f64 {
        let n = self.exact_norms[i];
        self.kernel.from_dot(n, n, n)
    }

    /// Most queries that meet the data in one pass.
    pub fn pass(&self) -> usize {
        match self.layout {
            Layout::Dense(_) | Layout::Double(_) => 256,
            Layout::Sparse { .. } => LANES,
        }
    }

    /// The rows named, packed alike.
    #[must_use]
    pub fn select(&self, keep: &[usize]) -> Self {
        let layout = match &self.layout {
            Layout::Dense(v) => Layout::Dense(gather_rows(v, self.cols, keep)),
            Layout::Double(v) => Layout::Double(gather_rows(v, self.cols, keep)),
            Layout::Sparse { indptr, indices, values } => {
                let (mut p, mut ix, mut v) = (vec![0], Vec::new(), Vec::new());
                for &i in keep {
                    ix.extend_from_slice(&indices[indptr[i]..indptr[i + 1]]);
                    v.extend_from_slice(&values[indptr[i]..indptr[i + 1]]);
                    p.push(ix.len());
                }
                Layout::Sparse { indptr: p, indices: ix, values: v }
            }
        };
        Self {
            kernel: self.kernel,
            rows: keep.len(),
            cols: self.cols,
            width: self.width,
            center: self.center.clone(),
            place: self.place.clone(),
            layout,
            norms: keep.iter().map(|&i| self.norms[i]).collect(),
            exact_norms: keep.iter().map(|&i| self.exact_norms[i]).collect(),
        }
    }

    /// Loads rows of this very data as queries (at most [`Packed::pass`]).
    pub fn load_own(&self, rows: &[usize], q: &mut Queries) {
        q.clear(rows.len());
        match &self.layout {
            Layout::Dense(v) => q.dense.extend(rows.iter().flat_map(|&i| &v[i * self.cols..][..self.cols])),
            Layout::Double(v) => q.double.extend(rows.iter().flat_map(|&i| &v[i * self.cols..][..self.cols])),
            Layout::Sparse { indptr, indices, values } => {
                for (l, &i) in rows.iter().enumerate() {
                    let span = indptr[i]..indptr[i + 1];
                    q.scatter(l, self.width, &indices[span.clone()], &values[span]);
                }
            }
        }
        q.norms.extend(rows.iter().map(|&i| self.norms[i]));
        q.exact_norms.extend(rows.iter().map(|&i| self.exact_norms[i]));
    }

    /// Loads rows of other samples with the same columns as queries (at most [`Packed::pass`]).
    pub fn load(&self, x: MatrixView<'_>, rows: Range<usize>, q: &mut Queries) {
        q.clear(rows.len());
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        for (l, i) in rows.enumerate() {
            let mut norm = 0.0;
            match &self.layout {
                Layout::Dense(_) => {
                    self.centred(x.row(i), |v| {
                        let v = v as f32;
                        norm += f64::from(v) * f64::from(v);
                        q.dense.push(v);
                    });
                }
                Layout::Double(_) => {
                    self.centred(x.row(i), |v| {
                        norm += v * v;
                        q.double.push(v);
                    });
                }
                Layout::Sparse { .. } => {
                    indices.clear();
                    values.clear();
                    self.nonzeros(x.row(i), |c, v| {
                        indices.push(c as u32);
                        values.push(v as f32);
                    });
                    norm = values.iter().map(|&v| f64::from(v) * f64::from(v)).sum();
                    self.keep_present(&mut indices, &mut values);
                    q.scatter(l, self.width, &indices, &values);
                }
            }
            q.norms.push(norm as f32);
            q.exact_norms.push(norm);
        }
    }

    /// Kernel values of the queries with `rows` (at most [`TILE`]): one run of `rows.len()` values a query,
    /// written to `out`.
    pub fn tile(&self, q: &Queries, rows: Range<usize>, scratch: &mut Scratch, out: &mut [&mut [f32]]) {
        let (len, count) = (rows.len(), q.count);
        match &self.layout {
            Layout::Dense(v) => {
                let a = &v[rows.start * self.cols..rows.end * self.cols];
                scratch.single.resize(count * len, 0.0);
                linalg::cross_products(a, len, &q.dense, count, self.cols, &mut scratch.single);
                for ((k, out), &norm) in scratch.single.chunks_exact(len).zip(out).zip(&q.norms) {
                    out.copy_from_slice(k);
                    self.finish(out, &self.norms[rows.clone()], norm);
                }
            }
            Layout::Double(v) => {
                let a = &v[rows.start * self.cols..rows.end * self.cols];
                scratch.double.resize(count * len, 0.0);
                linalg::cross_products_f64(a, len, &q.double, count, self.cols, &mut scratch.double);
                for ((dots, out), &norm) in scratch.double.chunks_exact(len).zip(out).zip(&q.exact_norms) {
                    for ((k, &dot), &n) in out.iter_mut().zip(dots).zip(&self.exact_norms[rows.clone()]) {
                        *k = self.kernel.from_dot(dot, norm, n) as f32;
                    }
                }
            }
            Layout::Sparse { indptr, indices, values } => {
                scratch.lanes.resize(len, [0.0; LANES]);
                let lanes = &mut scratch.lanes[..len];
                simd::sparse_dots(&indptr[rows.start..=rows.end], indices, values, &q.lanes, lanes);
                self.finish_lanes(lanes, &self.norms[rows], &q.norms);
                simd::transpose(lanes, out);
            }
        }
    }

    /// As [`Packed::tile`], into memory of the scratch: `rows.len()` values a query.
    pub fn tile_in<'s>(&self, q: &Queries, rows: Range<usize>, scratch: &'s mut Scratch) -> &'s [f32] {
        let mut values = std::mem::take(&mut scratch.tile);
        values.resize(q.count * rows.len(), 0.0);
        let mut out: Vec<&mut [f32]> = values.chunks_exact_mut(rows.len()).collect();
        self.tile(q, rows, scratch, &mut out);
        scratch.tile = values;
        &scratch.tile
    }

    /// Inner products to kernel values, many rows against one query.
    fn finish(&self, k: &mut [f32], norms: &[f32], norm: f32) {
        match self.kernel {
            Kernel::Linear | Kernel::Precomputed => {}
            Kernel::Rbf { gamma } => simd::rbf(k, norms, norm, gamma as f32),
            Kernel::Poly { .. } | Kernel::Sigmoid { .. } => {
                k.iter_mut().for_each(|k| *k = self.kernel.from_dot(f64::from(*k), 0.0, 0.0) as f32);
            }
        }
    }

    /// Inner products to kernel values, many rows against a lane of queries.
    fn finish_lanes(&self, lanes: &mut [[f32; LANES]], norms: &[f32], queries: &[f32]) {
        if let Kernel::Rbf { gamma } = self.kernel {
            let mut lane = [0.0; LANES];
            lane[..queries.len()].copy_from_slice(queries);
            simd::rbf_lanes(lanes, norms, &lane, gamma as f32);
        } else {
            lanes.iter_mut().for_each(|k| self.finish(&mut k[..queries.len()], &[], 0.0));
        }
    }

    fn centred(&self, row: Row<'_>, mut f: impl FnMut(f64)) {
        let center = |c: usize| self.center.get(c).copied().unwrap_or(0.0);
        match row {
            Row::Dense(v) => v.iter().enumerate().for_each(|(c, v)| f(v - center(c))),
            Row::Sparse(indices, values) => {
                let mut entries = indices.iter().zip(values).peekable();
                for c in 0..self.cols {
                    let v = entries.next_if(|(i, _)| **i as usize == c).map_or(0.0, |(_, v)| *v);
                    f(v - center(c));
                }
            }
        }
    }

    /// Calls `f(column, value)` for every value of a row that is not zero after centring.
    fn nonzeros(&self, row: Row<'_>, mut f: impl FnMut(usize, f64)) {
        if self.center.is_empty() {
            return row.for_each(f);
        }
        let mut c = 0;
        self.centred(row, |v| {
            if v != 0.0 {
                f(c, v);
            }
            c += 1;
        });
    }

    fn pack_sparse(&self, x: MatrixView<'_>) -> Layout {
        let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for i in 0..x.rows() {
            self.nonzeros(x.row(i), |c, v| {
                indices.push(c as u32);
                values.push(v as f32);
            });
            indptr.push(indices.len());
        }
        Layout::Sparse { indptr, indices, values }
    }

    /// Numbers the columns that occur, so that queries need memory for these alone.
    fn drop_absent_columns(&mut self) {
        let Layout::Sparse { indices, .. } = &mut self.layout else { return };
        if self.cols <= WIDE {
            return;
        }
        let mut present = indices.clone();
        present.sort_unstable();
        present.dedup();
        self.width = present.len();
        self.place = vec![ABSENT; self.cols];
        present.iter().zip(0..).for_each(|(&c, place)| self.place[c as usize] = place);
        indices.iter_mut().for_each(|c| *c = self.place[*c as usize]);
    }

    /// The columns of a query among those that occur here.
    fn keep_present(&self, indices: &mut Vec<u32>, values: &mut Vec<f32>) {
        if self.place.is_empty() {
            return;
        }
        let place = |c: u32| self.place[c as usize];
        let kept = indices.iter().zip(values.iter()).filter(|(c, _)| place(**c) != ABSENT);
        (*indices, *values) = kept.map(|(&c, &v)| (place(c), v)).unzip();
    }

    fn pack_dense<T>(&self, x: MatrixView<'_>, cast: impl Fn(f64) -> T) -> Vec<T> {
        let mut out = Vec::with_capacity(self.rows * self.cols);
        for i in 0..self.rows {
            self.centred(x.row(i), |v| out.push(cast(v)));
        }
        out
    }

    fn measure(&mut self) {
        let square = |v: &[f32]| v.iter().map(|&v| f64::from(v) * f64::from(v)).sum();
        let dense = self.cols.max(1);
        self.exact_norms = match &self.layout {
            Layout::Dense(v) if self.cols > 0 => v.chunks_exact(dense).map(square).collect(),
            Layout::Double(v) if self.cols > 0 => {
                v.chunks_exact(dense).map(|r| r.iter().map(|v| v * v).sum()).collect()
            }
            Layout::Sparse { indptr, values, .. } => {
                indptr.windows(2).map(|w| square(&values[w[0]..w[1]])).collect()
            }
            _ => vec![0.0; self.rows],
        };
        self.norms = self.exact_norms.iter().map(|&n| n as f32).collect();
    }

    /// Whether single precision cannot hold the squared lengths.
    fn overflows(&self) -> bool {
        !self.exact_norms.iter().all(|n| *n < 1e30)
    }

    /// Single precision leaves an error of about gamma·|x|²·2⁻²² in an RBF value: too much when that is large.
    fn is_inexact(&self) -> bool {
        let Kernel::Rbf { gamma } = self.kernel else { return false };
        let largest = self.exact_norms.iter().copied().fold(0.0, f64::max);
        let mean = self.exact_norms.iter().sum::<f64>() / self.rows.max(1) as f64;
        gamma * mean > 500.0 || gamma * largest > 20_000.0
    }
}

impl Queries {
    /// Queries too large for single precision, whose values are not to be used.
    pub fn overflowing(&self) -> impl Iterator<Item = usize> {
        self.exact_norms.iter().enumerate().filter(|(_, n)| n.is_nan() || **n >= 1e30).map(|(j, _)| j)
    }

    fn clear(&mut self, count: usize) {
        self.count = count;
        self.dense.clear();
        self.double.clear();
        self.norms.clear();
        self.exact_norms.clear();
        for c in self.touched.drain(..) {
            self.lanes[c as usize] = [0.0; LANES];
        }
    }

    fn scatter(&mut self, lane: usize, width: usize, indices: &[u32], values: &[f32]) {
        self.lanes.resize(width, [0.0; LANES]);
        for (&c, &v) in indices.iter().zip(values) {
            self.lanes[c as usize][lane] = v;
        }
        self.touched.extend_from_slice(indices);
    }
}

fn gather_rows<T: Copy>(values: &[T], cols: usize, keep: &[usize]) -> Vec<T> {
    let mut out = Vec::with_capacity(keep.len() * cols);
    keep.iter().for_each(|&i| out.extend_from_slice(&values[i * cols..(i + 1) * cols]));
    out
}

/// The most frequent value of each column, and the share of values that differ from it, both from a sample of
/// rows spread over the data.
fn column_modes(x: MatrixView<'_>) -> (Vec<f64>, f64) {
    let sample = x.rows().min(1000);
    let dense = x.select(&(0..sample).map(|k| k * x.rows() / sample).collect::<Vec<_>>());
    let MatrixView::Dense { values, cols, .. } = dense.view() else { return (Vec::new(), 1.0) };
    let (mut modes, mut others) = (Vec::with_capacity(cols), 0);
    for c in 0..cols {
        let mut column: Vec<f64> = values.iter().skip(c).step_by(cols).copied().collect();
        column.sort_unstable_by(f64::total_cmp);
        let longest = column.chunk_by(|a, b| a == b).max_by_key(|run| run.len()).unwrap_or(&[0.0]);
        modes.push(longest[0]);
        others += column.len() - longest.len().min(column.len());
    }
    (modes, others as f64 / (sample * cols).max(1) as f64)
}

fn column_means(x: MatrixView<'_>) -> Vec<f64> {
    let mut sum = vec![0.0; x.cols()];
    for i in 0..x.rows() {
        x.row(i).for_each(|c, v| sum[c] += v);
    }
    sum.iter_mut().for_each(|s| *s /= x.rows().max(1) as f64);
    sum
}
