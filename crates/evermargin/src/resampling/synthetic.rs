//! Synthetic rows between rows: nearest neighbors in the feature space of a kernel, points on the segment between two
//! rows, and SMOTE (Chawla et al. 2002), which combines both.
//!
//! Departures from Chawla et al.: neighbors are nearest in feature space, |Φ(s) − Φ(m)|² = K_ss − 2K_sm + K_mm, and a
//! synthetic row lies on the segment between two rows (one λ for all columns), as in Ertekin 2009, section 5. For the
//! RBF kernel, feature space and input space give the same order of neighbors, and distances in input space are used,
//! because they do not underflow.

use crate::data::{Matrix, MatrixView, Row};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::math::linalg;
use rand::RngExt;
use rand_pcg::Pcg64;
use rayon::prelude::*;

/// Number of rows whose neighbors are searched together.
const BLOCK: usize = 64;
/// Maximum number of columns for which sparse data are expanded to dense rows for matrix products.
const WIDE: usize = 4096;

/// Exact nearest-neighbor search among some rows of a matrix, by distance in feature space, then by position.
#[derive(Debug)]
pub struct Neighbors {
    points: Matrix,
    kernel: Kernel,
    /// |x|² of each point.
    norm2: Vec<f64>,
}

impl Neighbors {
    /// A search among `rows` of `x`.
    pub fn new(x: MatrixView<'_>, rows: &[usize], kernel: Kernel) -> Result<Self> {
        kernel.check()?;
        if kernel == Kernel::Precomputed {
            return Err(Error::parameter(
                "kernel",
                "precomputed",
                "a kernel of samples: rows are compared and interpolated",
            ));
        }
        if let Some(&row) = rows.iter().find(|&&i| i >= x.rows()) {
            return Err(Error::parameter("row", row, format!("below {}", x.rows())));
        }
        let points = x.select(rows);
        let norm2 = (0..points.rows()).map(|i| points.view().row(i).norm2()).collect();
        Ok(Self { points, kernel, norm2 })
    }

    /// Positions (in the `rows` given to [`Neighbors::new`]) of the `k` points nearest to the row at position `of`,
    /// without itself; fewer if there are fewer points, none for a position past the end.
    pub fn of(&self, of: usize, k: usize) -> Vec<usize> {
        if of >= self.points.rows() {
            return Vec::new();
        }
        self.nearest(of, (0..self.points.rows()).filter(|&j| j != of).collect(), k)
    }

    /// The same for every point. If the order is that of input space, blocks of inner products select the few candidates
    /// whose distances are computed.
    pub fn all(&self, k: usize) -> Vec<Vec<usize>> {
        let n = self.points.rows();
        if !self.in_input_space() {
            return (0..n).into_par_iter().map(|place| self.of(place, k)).collect();
        }
        let products = Products::new(&self.points);
        let blocks: Vec<usize> = (0..n).step_by(BLOCK).collect();
        let search = |&first: &usize| -> Vec<Vec<usize>> {
            let dots = products.block(&self.points, first, BLOCK.min(n - first));
            let places = (first..n).zip(dots.chunks_exact(n));
            places.map(|(i, dots)| self.nearest(i, self.candidates(i, dots, k), k)).collect()
        };
        blocks.par_iter().flat_map_iter(search).collect()
    }

    /// The `k` nearest of some positions, each distance computed separately, ordered by distance, then position.
    fn nearest(&self, of: usize, places: Vec<usize>, k: usize) -> Vec<usize> {
        let mut found: Vec<(f64, usize)> = places.into_iter().map(|j| (self.distance(of, j), j)).collect();
        let nearer = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        if k < found.len() {
            found.select_nth_unstable_by(k, nearer);
            found.truncate(k);
        }
        found.sort_unstable_by(nearer);
        found.into_iter().map(|(_, j)| j).collect()
    }

    /// All positions that may be among the `k` nearest in input space, from inner products whose rounding may depend on
    /// the block.
    fn candidates(&self, of: usize, dots: &[f64], k: usize) -> Vec<usize> {
        let key = |j: usize| self.norm2[of] - 2.0 * dots[j] + self.norm2[j];
        let mut places: Vec<usize> = (0..dots.len()).filter(|&j| j != of).collect();
        if k == 0 || k >= places.len() {
            return places;
        }
        let mut keys: Vec<f64> = places.iter().map(|&j| key(j)).collect();
        let bound = *keys.select_nth_unstable_by(k - 1, f64::total_cmp).1;
        let largest = self.norm2.iter().copied().fold(0.0, f64::max);
        let rounding = 8.0 * (self.points.cols() + 8) as f64 * f64::EPSILON * largest;
        places.retain(|&j| key(j) <= bound + rounding);
        places
    }

    /// The squared distance in feature space, or in input space if the order is the same.
    fn distance(&self, i: usize, j: usize) -> f64 {
        let (a, b) = (self.points.view().row(i), self.points.view().row(j));
        if self.in_input_space() {
            return squared_distance(a, b);
        }
        let (a2, b2) = (self.norm2[i], self.norm2[j]);
        let k = |dot: f64| self.kernel.from_dot(dot, a2, b2);
        k(a2) - 2.0 * k(a.dot(b)) + k(b2)
    }

    fn in_input_space(&self) -> bool {
        matches!(self.kernel, Kernel::Linear | Kernel::Rbf { .. })
    }
}

/// Points prepared for inner products of each point with all points.
enum Products {
    /// Dense row-major values.
    Dense(Vec<f64>),
    /// For each column, the points that have a value there: column c is `start[c]..start[c + 1]`.
    Columns { start: Vec<usize>, entries: Vec<(u32, f64)> },
}

impl Products {
    fn new(points: &Matrix) -> Self {
        let (x, cols) = (points.view(), points.cols());
        if cols <= WIDE || matches!(points, Matrix::Dense { .. }) {
            let mut values = vec![0.0; x.rows() * cols];
            (0..x.rows()).for_each(|i| x.row(i).for_each(|c, v| values[i * cols + c] = v));
            return Self::Dense(values);
        }
        let mut start = vec![0; cols + 1];
        (0..x.rows()).for_each(|i| x.row(i).for_each(|c, _| start[c + 1] += 1));
        (0..cols).for_each(|c| start[c + 1] += start[c]);
        let mut next = start.clone();
        let mut entries = vec![(0, 0.0); start[cols]];
        for i in 0..x.rows() {
            x.row(i).for_each(|c, v| {
                entries[next[c]] = (i as u32, v);
                next[c] += 1;
            });
        }
        Self::Columns { start, entries }
    }

    /// Inner products of `count` points, starting at `first`, with all points, one row per point.
    fn block(&self, points: &Matrix, first: usize, count: usize) -> Vec<f64> {
        let (n, d) = (points.rows(), points.cols());
        let mut out = vec![0.0; count * n];
        match self {
            Self::Dense(values) => {
                linalg::cross_products(values, n, &values[first * d..], count, d, &mut out);
            }
            Self::Columns { start, entries } => {
                for (i, out) in out.chunks_exact_mut(n).enumerate() {
                    points.view().row(first + i).for_each(|c, v| {
                        entries[start[c]..start[c + 1]].iter().for_each(|(j, w)| out[*j as usize] += v * w);
                    });
                }
            }
        }
        out
    }
}

/// The `k` of `rows` nearest to row `of_row` of `x`, without itself, by distance in feature space, then by position.
pub fn neighbors(
    x: MatrixView<'_>,
    rows: &[usize],
    of_row: usize,
    kernel: Kernel,
    k: usize,
) -> Result<Vec<usize>> {
    let others: Vec<usize> = rows.iter().copied().filter(|&i| i != of_row).collect();
    let with_itself: Vec<usize> = others.iter().copied().chain([of_row]).collect();
    let found = Neighbors::new(x, &with_itself, kernel)?.of(others.len(), k);
    Ok(found.into_iter().map(|place| with_itself[place]).collect())
}

/// Collects rows on segments between rows into a matrix of the same layout.
#[derive(Debug)]
pub struct SyntheticRows {
    cols: usize,
    sparse: bool,
    indptr: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl SyntheticRows {
    /// An empty collection; compressed by rows if `sparse`.
    pub fn new(cols: usize, sparse: bool) -> Self {
        Self { cols, sparse, indptr: vec![0], indices: Vec::new(), values: Vec::new() }
    }

    /// Adds λa + (1 − λ)b; every value lies between those of a and b, whatever the rounding. Rows must not have more
    /// columns than the matrix.
    pub fn push(&mut self, a: Row<'_>, b: Row<'_>, lambda: f64) {
        let (sparse, cols, start) = (self.sparse, self.cols, self.values.len());
        if !sparse {
            self.values.resize(start + cols, 0.0);
        }
        merge(a, b, |c, p, q| {
            let mixed = (q + lambda * (p - q)).max(p.min(q)).min(p.max(q));
            if let Some(value) = self.values.get_mut(start + c).filter(|_| !sparse) {
                *value = mixed;
            } else if sparse && mixed != 0.0 {
                self.indices.push(c as u32);
                self.values.push(mixed);
            }
        });
        self.indptr.push(self.values.len());
    }

    /// The collected rows.
    pub fn finish(self) -> Result<Matrix> {
        if self.sparse {
            Matrix::csr(self.indptr, self.indices, self.values, self.cols)
        } else {
            Matrix::dense(self.values, self.indptr.len() - 1, self.cols)
        }
    }
}

/// The row λa + (1 − λ)b; compressed if both are.
pub fn between(a: Row<'_>, b: Row<'_>, lambda: f64, cols: usize) -> Result<Matrix> {
    if !(0.0..=1.0).contains(&lambda) {
        return Err(Error::parameter("lambda", lambda, "a number from 0 to 1"));
    }
    if width(a) > cols || width(b) > cols {
        return Err(Error::Shape { what: "columns", expected: cols, found: width(a).max(width(b)) });
    }
    let mut rows = SyntheticRows::new(cols, matches!((a, b), (Row::Sparse(..), Row::Sparse(..))));
    rows.push(a, b, lambda);
    rows.finish()
}

/// Synthetic rows of a class: for each of its rows `per_row` points, each at a uniformly drawn position on the segment to
/// one of its `k` nearest neighbors in the class (in the feature space of `kernel`), drawn uniformly. Rows are processed
/// in the order given. A class of one row has no neighbors: its synthetic rows are copies.
pub fn smote(
    x: MatrixView<'_>,
    minority_rows: &[usize],
    kernel: Kernel,
    k: usize,
    per_row: usize,
    rng: &mut Pcg64,
) -> Result<Matrix> {
    if k == 0 {
        return Err(Error::parameter("n_neighbors", k, "1 or more"));
    }
    if minority_rows.is_empty() {
        return Err(Error::Data("synthetic rows need rows of the class to start from".into()));
    }
    let near = Neighbors::new(x, minority_rows, kernel)?;
    let mut rows = SyntheticRows::new(x.cols(), matches!(x, MatrixView::Csr { .. }));
    if per_row == 0 {
        return rows.finish();
    }
    for (place, found) in near.all(k).into_iter().enumerate() {
        for _ in 0..per_row {
            let other = if found.is_empty() { place } else { found[rng.random_range(0..found.len())] };
            let lambda = rng.random::<f64>();
            rows.push(x.row(minority_rows[place]), x.row(minority_rows[other]), lambda);
        }
    }
    rows.finish()
}

/// |a − b|²
fn squared_distance(a: Row<'_>, b: Row<'_>) -> f64 {
    if let (Row::Dense(a), Row::Dense(b)) = (a, b) {
        return a.iter().zip(b).map(|(x, z)| (x - z) * (x - z)).sum();
    }
    let mut sum = 0.0;
    merge(a, b, |_, x, z| sum += (x - z) * (x - z));
    sum
}

/// Calls `f(column, value of a, value of b)` for the columns where either is stored, ascending.
fn merge(a: Row<'_>, b: Row<'_>, mut f: impl FnMut(usize, f64, f64)) {
    let (mut p, mut q) = (0, 0);
    loop {
        let (x, z) = (entry(a, p), entry(b, q));
        let Some(column) = x.iter().chain(&z).map(|e| e.0).min() else { return };
        let here = |e: Option<(usize, f64)>| e.filter(|e| e.0 == column).map(|e| e.1);
        let (x, z) = (here(x), here(z));
        f(column, x.unwrap_or(0.0), z.unwrap_or(0.0));
        p += usize::from(x.is_some());
        q += usize::from(z.is_some());
    }
}

/// The stored entry at a position: its column and value.
fn entry(row: Row<'_>, at: usize) -> Option<(usize, f64)> {
    match row {
        Row::Dense(values) => values.get(at).map(|v| (at, *v)),
        Row::Sparse(indices, values) => Some((*indices.get(at)? as usize, *values.get(at)?)),
    }
}

/// Number of columns that the row needs.
fn width(row: Row<'_>) -> usize {
    match row {
        Row::Dense(values) => values.len(),
        Row::Sparse(indices, _) => indices.last().map_or(0, |c| *c as usize + 1),
    }
}
