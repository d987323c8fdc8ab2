//! Samples packed in single precision, for computing kernel values in blocks.
//!
//! Kernel values of dense rows are computed by a matrix product, those of sparse rows with [`LANES`] scattered queries
//! at a time. Distances do not change when all samples are translated, so dense data for the RBF kernel is centered: at
//! the most frequent value of each column if that leaves few nonzero values (standardized 0/1 columns become sparse),
//! otherwise at the mean, which keeps |x|² + |z|² − 2x·z accurate in single precision. Where single precision is still
//! not accurate enough (gamma·|x|² large), products are computed in double precision.

use super::products::{Products, column_means, column_modes};
use super::queries::{Compressed, Queries, scatter};
use crate::data::{MatrixView, Row};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::math::simd::{self, LANES};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Number of samples in a tile: the rows that a thread processes at a time.
pub const TILE: usize = 256;

/// Dense layout is faster than sparse if at least this fraction of the values is nonzero: a product by gathering costs
/// about as much as three in a matrix product (MNIST, one fifth nonzero, trains 1.7 times as fast sparse as dense).
const MIN_DENSE_FRACTION: f64 = 0.3;

/// Sparse data with more columns than this is packed with only the columns that occur.
const WIDE: usize = 1 << 16;

/// Maximum number of stored values that are packed in double precision for exact results.
const MAX_EXACT_VALUES: usize = 1 << 13;

/// Kernel values of this size and above may leave the range of single precision when they are summed.
pub(crate) const LARGEST_VALUE: f64 = 1e30;

/// Marker in `Packed::place` of a column that does not occur.
const ABSENT: u32 = u32::MAX;

/// Packed rows, ready for blocks of kernel values.
#[derive(Debug, Clone)]
pub struct Packed {
    kernel: Kernel,
    rows: usize,
    cols: usize,
    /// Number of columns of the packed rows: `cols`, or the number of columns that occur.
    width: usize,
    center: Vec<f64>,
    /// For very wide sparse data: the index of each column among those that occur, or `ABSENT`.
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
    Sparse(Compressed<f32>),
    SparseDouble(Compressed<f64>),
}

/// Layout of packed samples, sufficient to pack other samples in the same way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Packing {
    /// Number of columns of a sample.
    pub cols: usize,
    /// Value that is subtracted from each column; empty for none.
    pub center: Vec<f64>,
    /// Whether zeros are left out.
    pub sparse: bool,
    /// Whether values are in double precision.
    pub double: bool,
}

/// Working memory that a thread reuses for many tiles.
#[derive(Debug, Default)]
pub struct Scratch {
    tile: Vec<f32>,
    single: Vec<f32>,
    double: Vec<f64>,
    lanes: Vec<[f32; LANES]>,
}

/// Whether so many values are nonzero that zeros are best stored, too.
fn is_full(x: MatrixView<'_>) -> bool {
    x.nonzeros() as f64 >= MIN_DENSE_FRACTION * x.rows() as f64 * x.cols() as f64
}

impl Packed {
    /// Packs the rows of `x` for `kernel`; the layout depends on the data. Refuses kernels whose values are out of the
    /// range of single precision.
    pub fn new(x: MatrixView<'_>, kernel: Kernel) -> Result<Self> {
        Self::pack(x, kernel, false)
    }

    /// As [`Packed::new`], but in double precision for small data, where exact results cost nothing.
    pub fn exact_if_small(x: MatrixView<'_>, kernel: Kernel) -> Result<Self> {
        Self::pack(x, kernel, x.nonzeros() <= MAX_EXACT_VALUES)
    }

    fn pack(x: MatrixView<'_>, kernel: Kernel, exact: bool) -> Result<Self> {
        if matches!(x, MatrixView::Csr { .. }) && is_full(x) {
            // Stored sparsely although it has few zeros: packed as dense data, with bit-identical results.
            return Self::pack(x.to_dense().view(), kernel, exact);
        }
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
        let centerable = matches!(kernel, Kernel::Rbf { .. }) && matches!(x, MatrixView::Dense { .. });
        let (modes, fill) = if centerable { column_modes(x) } else { (Vec::new(), 1.0) };
        let mut sparse = true;
        if !is_full(x) {
            packed.number_columns(x);
        } else if fill < MIN_DENSE_FRACTION {
            packed.center = modes;
        } else {
            sparse = false;
            packed.center = if centerable { column_means(x) } else { Vec::new() };
        }
        packed.layout = if sparse {
            Layout::Sparse(packed.pack_sparse(x, |v| v as f32))
        } else {
            Layout::Dense(packed.pack_dense(x, |v| v as f32))
        };
        packed.measure(0);
        if exact || packed.is_inexact() {
            packed.layout = if sparse {
                Layout::SparseDouble(packed.pack_sparse(x, |v| v))
            } else {
                Layout::Double(packed.pack_dense(x, |v| v))
            };
            packed.measure(0);
        }
        packed.check_range()?;
        Ok(packed)
    }

    /// A container without rows, to which samples are appended in the layout `packing`.
    pub fn empty(kernel: Kernel, packing: &Packing) -> Self {
        let (sparse, double) = (packing.sparse, packing.double);
        let wide = sparse && packing.center.is_empty() && packing.cols > WIDE;
        Self {
            kernel,
            rows: 0,
            cols: packing.cols,
            width: if wide { 0 } else { packing.cols },
            center: packing.center.clone(),
            place: if wide { vec![ABSENT; packing.cols] } else { Vec::new() },
            layout: match (sparse, double) {
                (false, false) => Layout::Dense(Vec::new()),
                (false, true) => Layout::Double(Vec::new()),
                (true, false) => Layout::Sparse(Compressed::default()),
                (true, true) => Layout::SparseDouble(Compressed::default()),
            },
            norms: Vec::new(),
            exact_norms: Vec::new(),
        }
    }

    /// Layout of the packed samples.
    pub fn packing(&self) -> Packing {
        Packing {
            cols: self.cols,
            center: self.center.clone(),
            sparse: matches!(self.layout, Layout::Sparse(_) | Layout::SparseDouble(_)),
            double: matches!(self.layout, Layout::Double(_) | Layout::SparseDouble(_)),
        }
    }

    /// The kernel.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns of a sample.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// The kernel of row `i` with itself.
    pub fn diag(&self, i: usize) -> f64 {
        let n = self.exact_norms[i];
        self.kernel.from_dot(n, n, n)
    }

    /// Number of stored values in a row on average, which is the cost of one kernel value.
    pub fn values_a_row(&self) -> usize {
        match &self.layout {
            Layout::Dense(_) | Layout::Double(_) => self.cols,
            Layout::Sparse(c) => c.values.len() / self.rows.max(1),
            Layout::SparseDouble(c) => c.values.len() / self.rows.max(1),
        }
    }

    /// Maximum number of queries in one pass over the data.
    pub fn pass(&self) -> usize {
        match self.layout {
            Layout::Dense(_) | Layout::Double(_) => 256,
            Layout::Sparse(_) | Layout::SparseDouble(_) => LANES,
        }
    }

    /// The given rows, in the same layout.
    #[must_use]
    pub fn select(&self, keep: &[usize]) -> Self {
        let layout = match &self.layout {
            Layout::Dense(v) => Layout::Dense(gather_rows(v, self.cols, keep)),
            Layout::Double(v) => Layout::Double(gather_rows(v, self.cols, keep)),
            Layout::Sparse(c) => Layout::Sparse(c.select(keep)),
            Layout::SparseDouble(c) => Layout::SparseDouble(c.select(keep)),
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

    /// Appends samples with the same columns in the same layout; refuses samples out of the range of single precision.
    pub fn append(&mut self, x: MatrixView<'_>, rows: &[usize]) -> Result<()> {
        let start = self.rows;
        for &i in rows {
            let row = x.row(i);
            self.number_new_columns(row);
            let mut layout = std::mem::replace(&mut self.layout, Layout::Dense(Vec::new()));
            match &mut layout {
                Layout::Dense(v) => self.centered(row, |x| v.push(x as f32)),
                Layout::Double(v) => self.centered(row, |x| v.push(x)),
                Layout::Sparse(c) => self.compress(row, c, |v| v as f32),
                Layout::SparseDouble(c) => self.compress(row, c, |v| v),
            }
            self.layout = layout;
            self.rows += 1;
        }
        self.measure(start);
        let double = matches!(self.layout, Layout::Double(_) | Layout::SparseDouble(_));
        let representable = |n: &f64| n.is_finite() && (double || *n < 1e30);
        if let Some(far) = self.exact_norms[start..].iter().position(|n| !representable(n)) {
            return Err(Error::Data(format!(
                "sample {} is of another order of magnitude than the first ones: scale the data",
                far + 1
            )));
        }
        // values that are too small become 0, which does no harm
        if self.largest_value() < LARGEST_VALUE { Ok(()) } else { self.check_range() }
    }

    /// Appends row `i` of samples packed in the same layout.
    pub fn append_packed(&mut self, from: &Self, i: usize) {
        match (&mut self.layout, &from.layout) {
            (Layout::Dense(to), Layout::Dense(v)) => to.extend_from_slice(&v[i * self.cols..][..self.cols]),
            (Layout::Double(to), Layout::Double(v)) => to.extend_from_slice(&v[i * self.cols..][..self.cols]),
            (Layout::Sparse(to), Layout::Sparse(c)) => to.push(c.row(i)),
            (Layout::SparseDouble(to), Layout::SparseDouble(c)) => to.push(c.row(i)),
            _ => unreachable!("packed alike"),
        }
        if self.place.len() == from.place.len() && self.width < from.width {
            self.place.clone_from(&from.place);
            self.width = from.width;
        }
        self.norms.push(from.norms[i]);
        self.exact_norms.push(from.exact_norms[i]);
        self.rows += 1;
    }

    /// Loads rows of this data as queries (at most [`Packed::pass`]).
    pub fn load_own(&self, rows: &[usize], q: &mut Queries) {
        q.clear(rows.len());
        match &self.layout {
            Layout::Dense(v) => q.dense.extend(rows.iter().flat_map(|&i| &v[i * self.cols..][..self.cols])),
            Layout::Double(v) => q.double.extend(rows.iter().flat_map(|&i| &v[i * self.cols..][..self.cols])),
            Layout::Sparse(c) => {
                for (l, &i) in rows.iter().enumerate() {
                    let (indices, values) = c.row(i);
                    scatter(&mut q.lanes, &mut q.touched, l, self.width, indices, values);
                }
            }
            Layout::SparseDouble(c) => {
                for (l, &i) in rows.iter().enumerate() {
                    let (indices, values) = c.row(i);
                    scatter(&mut q.double_lanes, &mut q.touched, l, self.width, indices, values);
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
                    self.centered(x.row(i), |v| {
                        let v = v as f32;
                        norm += f64::from(v) * f64::from(v);
                        q.dense.push(v);
                    });
                }
                Layout::Double(_) => {
                    self.centered(x.row(i), |v| {
                        norm += v * v;
                        q.double.push(v);
                    });
                }
                Layout::Sparse(_) | Layout::SparseDouble(_) => {
                    indices.clear();
                    values.clear();
                    self.nonzeros(x.row(i), |c, v| {
                        indices.push(c as u32);
                        values.push(v);
                    });
                    norm = values.iter().map(|v| v * v).sum();
                    self.keep_present(&mut indices, &mut values);
                    if let Layout::SparseDouble(_) = self.layout {
                        scatter(&mut q.double_lanes, &mut q.touched, l, self.width, &indices, &values);
                    } else {
                        let single: Vec<f32> = values.iter().map(|&v| v as f32).collect();
                        norm += single
                            .iter()
                            .zip(&values)
                            .map(|(s, v)| f64::from(*s).powi(2) - v * v)
                            .sum::<f64>();
                        scatter(&mut q.lanes, &mut q.touched, l, self.width, &indices, &single);
                    }
                }
            }
            q.norms.push(norm as f32);
            q.exact_norms.push(norm);
        }
    }

    /// Computes kernel values of the queries with `rows` (at most [`TILE`]): `rows.len()` values per query, written to
    /// `out`.
    pub fn tile(&self, q: &Queries, rows: Range<usize>, scratch: &mut Scratch, out: &mut [&mut [f32]]) {
        let (len, count) = (rows.len(), q.count);
        match &self.layout {
            Layout::Dense(v) => {
                let products = Products { rows: v, cols: self.cols, queries: &q.dense, count };
                for ((k, out), &norm) in products.with(&rows, &mut scratch.single).zip(out).zip(&q.norms) {
                    out.copy_from_slice(k);
                    self.finish(out, &self.norms[rows.clone()], norm);
                }
            }
            Layout::Double(v) => {
                let products = Products { rows: v, cols: self.cols, queries: &q.double, count };
                let dots = products.with(&rows, &mut scratch.double);
                for ((dots, out), &norm) in dots.zip(out).zip(&q.exact_norms) {
                    for ((k, &dot), &n) in out.iter_mut().zip(dots).zip(&self.exact_norms[rows.clone()]) {
                        *k = self.kernel.from_dot(dot, norm, n) as f32;
                    }
                }
            }
            Layout::Sparse(c) => {
                scratch.lanes.resize(len, [0.0; LANES]);
                let lanes = &mut scratch.lanes[..len];
                simd::sparse_dots(&c.indptr[rows.start..=rows.end], &c.indices, &c.values, &q.lanes, lanes);
                self.finish_lanes(lanes, &self.norms[rows], &q.norms);
                simd::transpose(lanes, out);
            }
            Layout::SparseDouble(c) => {
                let mut dots = [0.0; LANES];
                for (r, i) in rows.enumerate() {
                    let (indices, values) = c.row(i);
                    simd::sparse_dot_f64(indices, values, &q.double_lanes, &mut dots);
                    for ((out, &dot), &norm) in out.iter_mut().zip(&dots).zip(&q.exact_norms) {
                        out[r] = self.kernel.from_dot(dot, norm, self.exact_norms[i]) as f32;
                    }
                }
            }
        }
    }

    /// As [`Packed::tile`], with the result in the scratch memory: `rows.len()` values per query.
    pub fn tile_in<'s>(&self, q: &Queries, rows: Range<usize>, scratch: &'s mut Scratch) -> &'s [f32] {
        let mut values = std::mem::take(&mut scratch.tile);
        values.resize(q.count * rows.len(), 0.0);
        let mut out: Vec<&mut [f32]> = values.chunks_exact_mut(rows.len()).collect();
        self.tile(q, rows, scratch, &mut out);
        scratch.tile = values;
        &scratch.tile
    }

    /// Converts inner products to kernel values, many rows with one query.
    fn finish(&self, k: &mut [f32], norms: &[f32], norm: f32) {
        match self.kernel {
            Kernel::Linear | Kernel::Precomputed => {}
            Kernel::Rbf { gamma } => simd::rbf(k, norms, norm, gamma as f32),
            Kernel::Poly { .. } | Kernel::Sigmoid { .. } => {
                k.iter_mut().for_each(|k| *k = self.kernel.from_dot(f64::from(*k), 0.0, 0.0) as f32);
            }
        }
    }

    /// Converts inner products to kernel values, many rows with a lane of queries.
    fn finish_lanes(&self, lanes: &mut [[f32; LANES]], norms: &[f32], queries: &[f32]) {
        if let Kernel::Rbf { gamma } = self.kernel {
            let mut lane = [0.0; LANES];
            lane[..queries.len()].copy_from_slice(queries);
            simd::rbf_lanes(lanes, norms, &lane, gamma as f32);
        } else {
            lanes.iter_mut().for_each(|k| self.finish(&mut k[..queries.len()], &[], 0.0));
        }
    }

    fn centered(&self, row: Row<'_>, mut f: impl FnMut(f64)) {
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

    /// Calls `f(column, value)` for every value of a row that is not zero after centering.
    fn nonzeros(&self, row: Row<'_>, mut f: impl FnMut(usize, f64)) {
        if self.center.is_empty() {
            return row.for_each(f);
        }
        let mut c = 0;
        self.centered(row, |v| {
            if v != 0.0 {
                f(c, v);
            }
            c += 1;
        });
    }

    fn pack_sparse<T>(&self, x: MatrixView<'_>, cast: impl Fn(f64) -> T) -> Compressed<T> {
        let mut out = Compressed::default();
        (0..x.rows()).for_each(|i| self.compress(x.row(i), &mut out, &cast));
        out
    }

    fn compress<T>(&self, row: Row<'_>, out: &mut Compressed<T>, cast: impl Fn(f64) -> T) {
        self.nonzeros(row, |c, v| {
            out.indices.push(if self.place.is_empty() { c as u32 } else { self.place[c] });
            out.values.push(cast(v));
        });
        out.indptr.push(out.indices.len());
    }

    /// Assigns the next indices to columns of a row that did not occur before.
    fn number_new_columns(&mut self, row: Row<'_>) {
        if self.place.is_empty() {
            return;
        }
        row.for_each(|c, _| {
            if self.place[c] == ABSENT {
                self.place[c] = self.width as u32;
                self.width += 1;
            }
        });
    }

    /// Assigns indices to the columns that occur, so that queries need memory only for these.
    fn number_columns(&mut self, x: MatrixView<'_>) {
        if self.cols <= WIDE {
            return;
        }
        self.place = vec![ABSENT; self.cols];
        for i in 0..x.rows() {
            x.row(i).for_each(|c, _| self.place[c] = 0);
        }
        let present = self.place.iter_mut().filter(|p| **p != ABSENT);
        self.width = present.zip(0..).map(|(place, number)| *place = number).count();
    }

    /// Maps the columns of a query to those that occur here, and drops the others.
    fn keep_present(&self, indices: &mut Vec<u32>, values: &mut Vec<f64>) {
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
            self.centered(x.row(i), |v| out.push(cast(v)));
        }
        out
    }

    /// Computes the squared lengths of the rows from `start` on.
    fn measure(&mut self, start: usize) {
        fn squares<T: Copy + Into<f64>>(row: &[T]) -> f64 {
            row.iter().map(|&v| v.into() * v.into()).sum()
        }
        let d = self.cols;
        let norm = |i: usize| match &self.layout {
            Layout::Dense(v) => squares(&v[i * d..(i + 1) * d]),
            Layout::Double(v) => squares(&v[i * d..(i + 1) * d]),
            Layout::Sparse(c) => squares(c.row(i).1),
            Layout::SparseDouble(c) => squares(c.row(i).1),
        };
        let new: Vec<f64> = (start..self.rows).map(norm).collect();
        self.exact_norms.truncate(start);
        self.norms.truncate(start);
        self.norms.extend(new.iter().map(|&n| n as f32));
        self.exact_norms.extend(new);
    }

    /// Whether single precision is not accurate enough: squared lengths over- or underflow, or the error of an RBF
    /// value, about gamma·|x|²·2⁻²², is too large.
    fn is_inexact(&self) -> bool {
        let largest = self.exact_norms.iter().copied().fold(0.0, f64::max);
        let mean = self.exact_norms.iter().sum::<f64>() / self.rows.max(1) as f64;
        let steep = match self.kernel {
            Kernel::Rbf { gamma } => gamma > 1e30 || gamma * mean > 500.0 || gamma * largest > 20_000.0,
            _ => false,
        };
        let representable = |n: &f64| (1e-25..1e30).contains(n) || *n == 0.0;
        steep || !(representable(&largest) && self.exact_norms.iter().all(|n| n.is_finite()))
    }

    fn largest_value(&self) -> f64 {
        let length = self.exact_norms.iter().copied().fold(0.0, f64::max);
        match self.kernel {
            Kernel::Linear | Kernel::Precomputed => length,
            Kernel::Poly { gamma, coef0, degree } => (gamma * length + coef0.abs()).powi(degree as i32),
            Kernel::Rbf { .. } | Kernel::Sigmoid { .. } => 1.0,
        }
    }

    /// Refuses kernels whose values could leave the range of single precision, in which rows are stored.
    fn check_range(&self) -> Result<()> {
        let largest = self.largest_value();
        if largest == 0.0 || (1e-30..LARGEST_VALUE).contains(&largest) {
            return Ok(());
        }
        let remedy = if largest < 1.0 { "scale the data" } else { "scale the data or lower gamma" };
        let name = self.kernel.name();
        Err(Error::Data(format!("values of the {name} kernel reach {largest:.0e} on this data: {remedy}")))
    }
}

fn gather_rows<T: Copy>(values: &[T], cols: usize, keep: &[usize]) -> Vec<T> {
    let mut out = Vec::with_capacity(keep.len() * cols);
    keep.iter().for_each(|&i| out.extend_from_slice(&values[i * cols..(i + 1) * cols]));
    out
}
