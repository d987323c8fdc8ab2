//! Neighbourhood graphs: who is near whom, how near, and the Laplacians that measure smoothness along the data.
//!
//! i and j are joined if one is among the k nearest others of the other (Belkin & Niyogi's OR; Sindhwani 2007, section 2.5).
//! Weights W are 1 or exp(−d²/2σ²), σ by default the mean length of an edge. D is the diagonal of degrees, L = D − W,
//! normalised I − D^(−½)WD^(−½); a row without edges has a zero row in both. Σᵢⱼ Wᵢⱼ(fᵢ − fⱼ)² = 2fᵀLf over ordered pairs.
//!
//! The search is exact and blocked: distances to a tile of rows come from one matrix product (dense data) or from lists of
//! the rows of each column (sparse data), and of each row only the k nearest are kept, ties to the lower row. Memory is
//! O(nk) beside the data. Threads take tiles of rows; no sum depends on their number.

use crate::data::{Matrix, MatrixView, Row};
use crate::error::{Error, Result};
use crate::linalg;
use crate::solve::{Progress, Watch};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How far two samples are apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    /// |x − z|
    #[default]
    Euclidean,
    /// |x/|x| − z/|z||, which ranks as the cosine does; a zero row is 1 from every other and 0 from another zero row.
    Cosine,
}

/// Weights of edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Weights {
    /// 1
    #[default]
    Binary,
    /// exp(−d²/2σ²)
    Heat,
}

/// What graph to make.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GraphParams {
    /// Nearest others of each row.
    pub neighbours: usize,
    /// Distance.
    pub metric: Metric,
    /// Weights of edges.
    pub weights: Weights,
    /// σ of heat weights; `None` is the mean length of an edge.
    pub width: Option<f64>,
}

/// A symmetric weighted graph without loops, by rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    indptr: Vec<usize>,
    indices: Vec<u32>,
    weights: Vec<f64>,
    degree: Vec<f64>,
    width: f64,
}

/// Rows whose neighbours are searched together, and rows they are compared with at a time.
const QUERIES: usize = 64;
const TILE: usize = 512;
/// Weights below this are no edge: their degrees could not be divided by.
const NO_WEIGHT: f64 = 1e-150;
/// Squared distances below this share of the squared lengths are rounding, and 0.
const SAME: f64 = 1e-13;

impl Graph {
    /// The graph of the rows of `x`, or none if `watch` ends the search; it is asked once a block of rows.
    pub fn nearest(x: MatrixView<'_>, params: &GraphParams, watch: &dyn Watch) -> Result<Option<Self>> {
        if params.neighbours == 0 {
            return Err(Error::parameter("neighbours", 0, "1 or more"));
        }
        if let Some(width) = params.width
            && !(width > 0.0 && width.is_finite())
        {
            return Err(Error::parameter("width", width, "a positive number"));
        }
        let unit;
        let x = match params.metric {
            Metric::Euclidean => x,
            Metric::Cosine => {
                unit = normalised(x);
                unit.view()
            }
        };
        Ok(neighbours(x, params.neighbours, watch).map(|near| Self::of_edges(x, &near, params)))
    }

    /// The graph of `n` rows none of which are joined.
    pub fn without_edges(n: usize) -> Self {
        let (indptr, degree) = (vec![0; n + 1], vec![0.0; n]);
        Self { indptr, indices: vec![], weights: vec![], degree, width: 1.0 }
    }

    /// The graph of these edges (two different rows and a weight), each named once.
    pub fn from_edges(n: usize, edges: &[(usize, usize, f64)]) -> Result<Self> {
        let mut rows: Vec<Vec<(u32, f64)>> = vec![Vec::new(); n];
        for &(i, j, w) in edges {
            rows[i].push((j as u32, w));
            rows[j].push((i as u32, w));
        }
        let mut graph = Self::without_edges(0);
        for row in &mut rows {
            row.sort_unstable_by_key(|e| e.0);
            graph.indices.extend(row.iter().map(|e| e.0));
            graph.weights.extend(row.iter().map(|e| e.1));
            graph.indptr.push(graph.indices.len());
            graph.degree.push(row.iter().map(|e| e.1).sum());
        }
        Ok(graph)
    }

    /// Joins rows with their neighbours, whichever named the other.
    fn of_edges(x: MatrixView<'_>, near: &[Vec<u32>], params: &GraphParams) -> Self {
        let n = near.len();
        let mut joined: Vec<Vec<u32>> = near.to_vec();
        for (i, list) in near.iter().enumerate() {
            list.iter().for_each(|&j| joined[j as usize].push(i as u32));
        }
        let lengths: Vec<Vec<f64>> = joined
            .par_iter_mut()
            .enumerate()
            .map(|(i, list)| {
                list.sort_unstable();
                list.dedup();
                let (low, high) = (|j: usize| x.row(i.min(j)), |j: usize| x.row(i.max(j)));
                list.iter().map(|&j| distance2(low(j as usize), high(j as usize))).collect()
            })
            .collect();
        let edges: usize = lengths.iter().map(Vec::len).sum();
        let total: f64 = lengths.iter().flatten().map(|d| d.sqrt()).sum();
        let mean = if total > 0.0 { total / edges as f64 } else { 1.0 };
        let width = params.width.unwrap_or(mean);
        let weight = |d: f64| match params.weights {
            Weights::Binary => 1.0,
            Weights::Heat => (-d / (2.0 * width * width)).exp(),
        };
        let mut graph =
            Self { indptr: vec![0], indices: vec![], weights: vec![], degree: Vec::with_capacity(n), width };
        for (list, lengths) in joined.iter().zip(&lengths) {
            let mut degree = 0.0;
            for (&j, &d) in list.iter().zip(lengths) {
                let w = weight(d);
                if w >= NO_WEIGHT {
                    graph.indices.push(j);
                    graph.weights.push(w);
                    degree += w;
                }
            }
            graph.indptr.push(graph.indices.len());
            graph.degree.push(degree);
        }
        graph
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.degree.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.degree.is_empty()
    }

    /// Number of edges, each counted once.
    pub fn edges(&self) -> usize {
        self.indices.len() / 2
    }

    /// σ of the heat weights.
    pub fn width(&self) -> f64 {
        self.width
    }

    /// Sum of the weights of each row.
    pub fn degrees(&self) -> &[f64] {
        &self.degree
    }

    /// Neighbours of a row, ascending, with weights.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.indptr[i]..self.indptr[i + 1];
        self.indices[range.clone()].iter().map(|&j| j as usize).zip(self.weights[range].iter().copied())
    }

    /// out = Wf
    pub fn multiply(&self, f: &[f64], out: &mut [f64]) {
        out.par_iter_mut().enumerate().with_min_len(1024).for_each(|(i, o)| {
            *o = self.row(i).map(|(j, w)| w * f[j]).sum();
        });
    }

    /// out = Lf, or of the normalised Laplacian.
    pub fn laplacian(&self, f: &[f64], normalised: bool, out: &mut [f64]) {
        let root = |i: usize| if self.degree[i] > 0.0 { self.degree[i].sqrt().recip() } else { 0.0 };
        out.par_iter_mut().enumerate().with_min_len(1024).for_each(|(i, o)| {
            *o = if normalised {
                let scale = root(i);
                let sum: f64 = self.row(i).map(|(j, w)| w * root(j) * f[j]).sum();
                if scale > 0.0 { f[i] - scale * sum } else { 0.0 }
            } else {
                self.degree[i] * f[i] - self.row(i).map(|(j, w)| w * f[j]).sum::<f64>()
            };
        });
    }

    /// The component of each row, numbered by their first rows.
    pub fn components(&self) -> Vec<u32> {
        let mut of = vec![u32::MAX; self.len()];
        let (mut count, mut stack) = (0, Vec::new());
        for first in 0..self.len() {
            if of[first] != u32::MAX {
                continue;
            }
            of[first] = count;
            stack.push(first);
            while let Some(i) = stack.pop() {
                for (j, _) in self.row(i) {
                    if of[j] == u32::MAX {
                        of[j] = count;
                        stack.push(j);
                    }
                }
            }
            count += 1;
        }
        of
    }
}

/// Rows of length 1; zero rows stay.
fn normalised(x: MatrixView<'_>) -> Matrix {
    let mut out = x.to_matrix();
    let norms: Vec<f64> = (0..x.rows()).map(|i| x.row(i).norm2().sqrt()).collect();
    let divide = |v: &mut f64, norm: f64| *v /= if norm > 0.0 { norm } else { 1.0 };
    match &mut out {
        Matrix::Dense { values, cols, .. } => {
            for (row, norm) in values.chunks_exact_mut((*cols).max(1)).zip(&norms) {
                row.iter_mut().for_each(|v| divide(v, *norm));
            }
        }
        Matrix::Csr { indptr, values, .. } => {
            for (i, norm) in norms.iter().enumerate() {
                values[indptr[i]..indptr[i + 1]].iter_mut().for_each(|v| divide(v, *norm));
            }
        }
    }
    out
}

/// |a − b|², of dense rows without cancellation.
fn distance2(a: Row<'_>, b: Row<'_>) -> f64 {
    match (a, b) {
        (Row::Dense(a), Row::Dense(b)) => a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum(),
        _ => apart(a.dot(b), a.norm2(), b.norm2()),
    }
}

/// |a − b|² from the inner product and the squared lengths.
fn apart(dot: f64, a: f64, b: f64) -> f64 {
    let d = a + b - 2.0 * dot;
    if d <= SAME * (a + b) { 0.0 } else { d }
}

/// The k nearest others of every row (fewer if there are not so many), the nearest first, ties to the lower row; none if
/// `watch` ends the search.
pub fn neighbours(x: MatrixView<'_>, k: usize, watch: &dyn Watch) -> Option<Vec<Vec<u32>>> {
    let n = x.rows();
    let k = k.min(n.saturating_sub(1));
    let norms: Vec<f64> = (0..n).map(|i| x.row(i).norm2()).collect();
    let sparse = matches!(x, MatrixView::Csr { .. }) && x.nonzeros() < n * x.cols() / 8;
    let columns = sparse.then(|| Columns::new(x));
    let dense = if sparse { x.select(&[]) } else { x.to_dense() };
    let values: &[f64] = if let Matrix::Dense { values, .. } = &dense { values } else { &[] };
    let d = x.cols();
    let mut out = vec![Vec::new(); n];
    let (done, stopped) = (AtomicU64::new(0), AtomicBool::new(false));
    out.par_chunks_mut(QUERIES).enumerate().for_each_init(Vec::new, |dots, (chunk, out)| {
        let steps = done.fetch_add(out.len() as u64, Ordering::Relaxed);
        let progress = Progress { steps, violation: 1.0 - steps as f64 / n as f64, tolerance: 0.0 };
        if stopped.load(Ordering::Relaxed) || !watch.proceed(&progress) {
            stopped.store(true, Ordering::Relaxed);
            return;
        }
        let first = chunk * QUERIES;
        let mut lists: Vec<Nearest> = (0..out.len()).map(|_| Nearest::new(k)).collect();
        if let Some(columns) = &columns {
            dots.resize(n, 0.0);
            for (q, list) in lists.iter_mut().enumerate() {
                columns.products(x.row(first + q), dots);
                list.meet(first + q, 0, dots, &norms);
            }
        } else {
            for start in (0..n).step_by(TILE) {
                let m = TILE.min(n - start);
                dots.resize(m * out.len(), 0.0);
                let (a, b) = (&values[start * d..], &values[first * d..]);
                linalg::cross_products(a, m, b, out.len(), d, dots);
                for (q, (list, dots)) in lists.iter_mut().zip(dots.chunks_exact(m)).enumerate() {
                    list.meet(first + q, start, dots, &norms);
                }
            }
        }
        for (out, list) in out.iter_mut().zip(lists) {
            *out = list.found.into_iter().map(|(_, j)| j).collect();
        }
    });
    (!stopped.into_inner()).then_some(out)
}

/// The nearest so far, in order.
struct Nearest {
    found: Vec<(f64, u32)>,
    k: usize,
}

impl Nearest {
    fn new(k: usize) -> Self {
        Self { found: Vec::with_capacity(k + 1), k }
    }

    /// Meets the rows from `start`, in order, given their inner products with row `own`.
    fn meet(&mut self, own: usize, start: usize, dots: &[f64], norms: &[f64]) {
        if self.k == 0 {
            return;
        }
        for (j, dot) in (start..).zip(dots) {
            let d = apart(*dot, norms[own], norms[j]);
            let full = self.found.len() == self.k;
            if j == own || (full && self.found[self.k - 1].0 <= d) {
                continue;
            }
            if full {
                self.found.pop();
            }
            let place = self.found.partition_point(|(e, _)| *e <= d);
            self.found.insert(place, (d, j as u32));
        }
    }
}

/// Sparse data by columns.
struct Columns {
    indptr: Vec<usize>,
    rows: Vec<u32>,
    values: Vec<f64>,
}

impl Columns {
    fn new(x: MatrixView<'_>) -> Self {
        let mut indptr = vec![0; x.cols() + 1];
        for i in 0..x.rows() {
            x.row(i).for_each(|c, _| indptr[c + 1] += 1);
        }
        (0..x.cols()).for_each(|c| indptr[c + 1] += indptr[c]);
        let mut next = indptr.clone();
        let (mut rows, mut values) = (vec![0; x.nonzeros()], vec![0.0; x.nonzeros()]);
        for i in 0..x.rows() {
            x.row(i).for_each(|c, v| {
                rows[next[c]] = i as u32;
                values[next[c]] = v;
                next[c] += 1;
            });
        }
        Self { indptr, rows, values }
    }

    /// Inner products of a row with all rows.
    fn products(&self, row: Row<'_>, out: &mut [f64]) {
        out.fill(0.0);
        row.for_each(|c, v| {
            let range = self.indptr[c]..self.indptr[c + 1];
            for (&i, w) in self.rows[range.clone()].iter().zip(&self.values[range]) {
                out[i as usize] += v * w;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{GenerateParams, generate};

    fn data(rows: usize, seed: u64) -> Matrix {
        let params = GenerateParams { rows, noise: Some(0.15), seed, ..Default::default() };
        generate("two-moons", &params).unwrap().0
    }

    fn params(neighbours: usize, weights: Weights) -> GraphParams {
        GraphParams { neighbours, metric: Metric::Euclidean, weights, width: None }
    }

    /// All pairs sorted.
    fn plainly(x: MatrixView<'_>, k: usize) -> Vec<Vec<u32>> {
        (0..x.rows())
            .map(|i| {
                let mut others: Vec<(f64, u32)> = (0..x.rows())
                    .filter(|&j| j != i)
                    .map(|j| {
                        let (a, b) = (x.row(i), x.row(j));
                        (apart(a.dot(b), a.norm2(), b.norm2()), j as u32)
                    })
                    .collect();
                others.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                others.into_iter().take(k).map(|o| o.1).collect()
            })
            .collect()
    }

    #[test]
    fn the_search_is_exact_for_dense_and_sparse_rows() {
        // whole numbers: every product is exact, and ties and duplicates are many
        let values: Vec<f64> = (0..700 * 3).map(|k| ((k * k + k / 7) % 5) as f64).collect();
        let whole = Matrix::dense(values, 700, 3).unwrap();
        for k in [1, 4, 9] {
            assert_eq!(neighbours(whole.view(), k, &()).unwrap(), plainly(whole.view(), k));
        }
        let sparse: Vec<f64> =
            (0..200 * 40).map(|k| if k % 11 == 0 { (k % 7) as f64 } else { 0.0 }).collect();
        let sparse = Matrix::dense(sparse, 200, 40).unwrap();
        let csr = sparse.view().to_csr();
        assert!(csr.view().nonzeros() < 200 * 40 / 8);
        assert_eq!(neighbours(csr.view(), 6, &()).unwrap(), neighbours(sparse.view(), 6, &()).unwrap());
        assert_eq!(neighbours(csr.view(), 6, &()).unwrap(), plainly(sparse.view(), 6));
    }

    #[test]
    fn the_graph_is_symmetric_and_joins_whoever_names_the_other() {
        let x = data(150, 1);
        let near = neighbours(x.view(), 5, &()).unwrap();
        let graph = Graph::nearest(x.view(), &params(5, Weights::Heat), &()).unwrap().unwrap();
        let mut pairs = 0;
        for i in 0..150 {
            for (j, w) in graph.row(i) {
                pairs += 1;
                assert!(i != j && w > 0.0 && w <= 1.0);
                assert!(near[i].contains(&(j as u32)) || near[j].contains(&(i as u32)));
                assert!(graph.row(j).any(|(k, v)| k == i && v == w));
            }
            assert!(near[i].iter().all(|&j| graph.row(i).any(|(k, _)| k == j as usize)));
        }
        assert_eq!(pairs, 2 * graph.edges());
        let lengths = (0..150).flat_map(|i| graph.row(i).map(move |(j, _)| (i, j)));
        let mean: f64 = lengths.map(|(i, j)| distance2(x.view().row(i), x.view().row(j)).sqrt()).sum::<f64>()
            / pairs as f64;
        assert!((graph.width() - mean).abs() < 1e-12);
    }

    #[test]
    fn laplacians_measure_differences() {
        for weights in [Weights::Binary, Weights::Heat] {
            let x = data(120, 2);
            let graph = Graph::nearest(x.view(), &params(3, weights), &()).unwrap().unwrap();
            let f: Vec<f64> = (0..120).map(|i| (i as f64 * 0.7).sin()).collect();
            let mut lf = vec![0.0; 120];
            graph.laplacian(&f, false, &mut lf);
            let quadratic: f64 = f.iter().zip(&lf).map(|(a, b)| a * b).sum();
            let pairs: f64 = (0..120)
                .flat_map(|i| graph.row(i).map(move |(j, w)| (i, j, w)))
                .map(|(i, j, w)| w * (f[i] - f[j]).powi(2))
                .sum();
            assert!((pairs - 2.0 * quadratic).abs() < 1e-10 * pairs, "{pairs} {quadratic}");
            graph.laplacian(&[1.0; 120], false, &mut lf);
            assert!(lf.iter().all(|v| v.abs() < 1e-12));
            let root: Vec<f64> = graph.degrees().iter().map(|d| d.sqrt()).collect();
            graph.laplacian(&root, true, &mut lf);
            assert!(lf.iter().all(|v| v.abs() < 1e-12));
            let mut wf = vec![0.0; 120];
            graph.multiply(&[1.0; 120], &mut wf);
            assert!(wf.iter().zip(graph.degrees()).all(|(a, b)| (a - b).abs() < 1e-12));
        }
    }

    /// Eigenvalues of a symmetric matrix by Jacobi's rotations.
    fn eigenvalues(mut a: Vec<f64>, n: usize) -> Vec<f64> {
        for _ in 0..60 {
            for p in 0..n {
                for q in p + 1..n {
                    if a[p * n + q].abs() < 1e-14 {
                        continue;
                    }
                    let theta = 0.5 * (2.0 * a[p * n + q]).atan2(a[q * n + q] - a[p * n + p]);
                    let (s, c) = theta.sin_cos();
                    for k in 0..n {
                        let (u, v) = (a[k * n + p], a[k * n + q]);
                        (a[k * n + p], a[k * n + q]) = (c * u - s * v, s * u + c * v);
                    }
                    for k in 0..n {
                        let (u, v) = (a[p * n + k], a[q * n + k]);
                        (a[p * n + k], a[q * n + k]) = (c * u - s * v, s * u + c * v);
                    }
                }
            }
        }
        (0..n).map(|i| a[i * n + i]).collect()
    }

    #[test]
    fn the_spectrum_lies_in_zero_to_two_and_counts_the_components() {
        // two groups far apart, and k small enough for more pieces
        let mut values = Vec::new();
        for i in 0..40 {
            let far = if i % 2 == 0 { 0.0 } else { 100.0 };
            values.extend([far + (f64::from(i) * 1.3).sin(), (f64::from(i) * 0.9).cos()]);
        }
        let x = Matrix::dense(values, 40, 2).unwrap();
        for k in [1, 2, 6] {
            let graph = Graph::nearest(x.view(), &params(k, Weights::Heat), &()).unwrap().unwrap();
            let pieces = graph.components().into_iter().max().unwrap() as usize + 1;
            assert!(pieces >= 2);
            let mut matrix = Vec::new();
            for i in 0..40 {
                let (mut unit, mut column) = (vec![0.0; 40], vec![0.0; 40]);
                unit[i] = 1.0;
                graph.laplacian(&unit, true, &mut column);
                matrix.extend(column);
            }
            let spectrum = eigenvalues(matrix, 40);
            assert!(spectrum.iter().all(|v| (-1e-9..=2.0 + 1e-9).contains(v)), "{spectrum:?}");
            assert_eq!(spectrum.iter().filter(|v| v.abs() < 1e-9).count(), pieces, "{k}");
        }
    }

    #[test]
    fn cosine_is_blind_to_length_and_zero_rows_are_no_trouble() {
        let x = Matrix::dense(vec![1.0, 0.0, 50.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.1, 9.0], 5, 2).unwrap();
        let near = |metric| {
            let p = GraphParams { metric, ..params(1, Weights::Binary) };
            Graph::nearest(x.view(), &p, &()).unwrap().unwrap()
        };
        let cosine = near(Metric::Cosine);
        assert!(cosine.row(0).any(|(j, _)| j == 1) && cosine.row(2).any(|(j, _)| j == 4));
        assert_eq!(neighbours(x.view(), 1, &()).unwrap()[0], [3]);
        assert_eq!(neighbours(normalised(x.view()).view(), 1, &()).unwrap()[0], [1]);
        assert!(cosine.degrees().iter().all(|d| d.is_finite() && *d >= 1.0));
    }

    #[test]
    fn odd_inputs_have_graphs() {
        let one = Matrix::dense(vec![1.0, 2.0], 1, 2).unwrap();
        let graph = Graph::nearest(one.view(), &params(3, Weights::Heat), &()).unwrap().unwrap();
        assert_eq!((graph.len(), graph.edges(), graph.components()), (1, 0, vec![0]));
        let mut out = [7.0];
        graph.laplacian(&[3.0], true, &mut out);
        assert_eq!(out, [0.0]);
        let same = Matrix::dense(vec![0.5; 12], 6, 2).unwrap();
        let graph = Graph::nearest(same.view(), &params(2, Weights::Heat), &()).unwrap().unwrap();
        assert!(graph.degrees().iter().all(|d| *d >= 2.0));
        assert!(Graph::nearest(same.view(), &params(0, Weights::Heat), &()).is_err());
        let wide = GraphParams { width: Some(0.0), ..params(2, Weights::Heat) };
        assert!(Graph::nearest(same.view(), &wide, &()).is_err());
    }

    #[test]
    fn threads_change_no_bit() {
        let x = data(500, 5);
        let graph = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| Graph::nearest(x.view(), &params(7, Weights::Heat), &()).unwrap().unwrap())
        };
        assert_eq!(graph(1), graph(2));
        assert_eq!(graph(1), graph(4));
    }
}
