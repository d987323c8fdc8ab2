//! Neighborhood graphs: neighbors, edge weights, and the Laplacians that measure smoothness along the data.
//!
//! Rows i and j are joined if one is among the k nearest neighbors of the other (the OR rule of Belkin & Niyogi;
//! Sindhwani 2007, section 2.5), if they are within a radius of each other ([`Graph::within`]), or if an edge list joins
//! them ([`Graph::from_edges`]). Weights W are 1, exp(−d²/2σ²), where σ is by default the mean length of an edge, or
//! relative to the distance of a row's farthest neighbor. D is the diagonal matrix of degrees, L = D − W, and the
//! normalized Laplacian is I − D^(−½)WD^(−½). Σᵢⱼ Wᵢⱼ(fᵢ − fⱼ)² = 2fᵀLf over ordered pairs.
//!
//! Special cases. A row without edges has a zero row in both Laplacians, so f is not constrained there. (The
//! author's code leaves 1 on the diagonal of the normalized one, which pulls f to 0.) A graph with several components is
//! valid; [`Graph::components`] returns them, and f may differ freely between them. Copies of a row have distance 0: they
//! are joined to each other first, with weight 1. When all edges have length 0, the mean length is taken as 1. There are no
//! loops.

mod ball;
mod build;
mod columns;
mod pairs;
mod projection;
mod search;
mod tree;

#[cfg(feature = "approximate")]
mod approximate;

pub use ball::Ball;
pub use search::neighbors;

use crate::error::{Error, Result};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Distance between two samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    /// |x − z|
    #[default]
    Euclidean,
    /// |x/|x| − z/|z||, which ranks pairs as the cosine does. Rows without a positive cosine and rows of zeros are not
    /// joined.
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
    /// The cosine of the angle between two rows; only for the cosine metric.
    Cosine,
    /// Mean of exp(−4d²/r²) over both rows, where r is the distance of a row's farthest neighbor. Dense and sparse regions
    /// get the same weights.
    Local,
}

/// Neighbor search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Search {
    /// Returns exactly the nearest neighbors.
    #[default]
    Exact,
    /// Returns nearly all of the nearest neighbors; meant for many rows. Needs the feature `approximate`.
    Approximate,
}

/// Parameters of a neighborhood graph.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GraphParams {
    /// Number of nearest neighbors per row.
    pub n_neighbors: usize,
    /// Distance between rows.
    pub metric: Metric,
    /// Weights of edges.
    pub weights: Weights,
    /// σ of heat weights; `None` is the mean length of an edge.
    pub width: Option<f64>,
    /// Exact or approximate neighbor search.
    pub search: Search,
    /// Joins all rows up to this distance, whatever their number, instead of nearest neighbors.
    pub radius: Option<f64>,
}

impl Default for GraphParams {
    fn default() -> Self {
        let (metric, weights, search) = (Metric::default(), Weights::default(), Search::default());
        Self { n_neighbors: 10, metric, weights, width: None, search, radius: None }
    }
}

/// A symmetric weighted graph without loops, stored by rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    indptr: Vec<usize>,
    indices: Vec<u32>,
    weights: Vec<f64>,
    degree: Vec<f64>,
    /// D^(−½), 0 for rows without edges.
    root: Vec<f64>,
    width: f64,
}

/// Minimum number of rows per thread.
const ROWS: usize = 1024;

impl Graph {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.degree.len()
    }

    /// Returns an error if the graph does not have `rows` rows.
    pub fn check_rows(&self, rows: usize) -> Result<()> {
        let found = self.len();
        if found == rows {
            Ok(())
        } else {
            Err(Error::Shape { what: "rows of the graph", expected: rows, found })
        }
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

    /// Sum of the edge weights of each row.
    pub fn degrees(&self) -> &[f64] {
        &self.degree
    }

    /// Neighbors of a row in ascending order, with weights.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.indptr[i]..self.indptr[i + 1];
        self.indices[range.clone()].iter().map(|&j| j as usize).zip(self.weights[range].iter().copied())
    }

    /// out = Wf
    pub fn multiply(&self, f: &[f64], out: &mut [f64]) {
        out.par_iter_mut().enumerate().with_min_len(ROWS).for_each(|(i, o)| {
            *o = self.row(i).map(|(j, w)| w * f[j]).sum();
        });
    }

    /// out = Lf, or the same with the normalized Laplacian.
    pub fn laplacian(&self, f: &[f64], normalized: bool, out: &mut [f64]) {
        self.laplacian_rows(f, 1, normalized, out);
    }

    /// out = LF, or the same with the normalized Laplacian. F and `out` have `columns` columns and are row-major.
    pub fn laplacian_rows(&self, f: &[f64], columns: usize, normalized: bool, out: &mut [f64]) {
        if columns == 0 {
            return;
        }
        let of = |i: usize| &f[i * columns..(i + 1) * columns];
        out.par_chunks_exact_mut(columns).enumerate().with_min_len((ROWS / columns).max(1)).for_each(
            |(i, out)| {
                out.fill(0.0);
                for (j, w) in self.row(i) {
                    let w = if normalized { w * self.root[j] } else { w };
                    out.iter_mut().zip(of(j)).for_each(|(o, f)| *o += w * f);
                }
                let root = self.root[i];
                let (own, sum) =
                    if normalized { (f64::from(u8::from(root > 0.0)), root) } else { (self.degree[i], 1.0) };
                out.iter_mut().zip(of(i)).for_each(|(o, f)| *o = own * f - sum * *o);
            },
        );
    }

    /// The component of each row; components are numbered in the order of their first rows.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Matrix, MatrixView};
    use crate::datasets::{GenerateParams, generate};

    fn data(rows: usize, seed: u64) -> Matrix {
        let params = GenerateParams { rows, noise: Some(0.15), seed, ..Default::default() };
        generate("two-moons", &params).unwrap().0
    }

    fn distance(x: MatrixView<'_>, i: usize, j: usize) -> f64 {
        let (a, b) = (x.row(i), x.row(j));
        (a.norm2() + b.norm2() - 2.0 * a.dot(b)).sqrt()
    }

    fn params(n_neighbors: usize, weights: Weights) -> GraphParams {
        GraphParams { n_neighbors, weights, ..Default::default() }
    }

    #[test]
    fn graph_is_symmetric_and_joins_rows_if_either_is_a_neighbor() {
        let x = data(150, 1);
        let near = neighbors(x.view(), 5, &()).unwrap();
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
        let mean: f64 = lengths.map(|(i, j)| distance(x.view(), i, j)).sum::<f64>() / pairs as f64;
        assert!((graph.width() - mean).abs() < 1e-12);
    }

    #[test]
    fn local_weights_do_not_change_with_the_scale_of_a_region() {
        // the second half repeats the points, scaled by 100 and moved far away
        let near = data(60, 4);
        let values = (0..120).flat_map(|i| {
            let mut row = [0.0; 2];
            near.view().row(i % 60).for_each(|c, v| row[c] = if i < 60 { v } else { 1e4 + 100.0 * v });
            row
        });
        let x = Matrix::dense(values.collect(), 120, 2).unwrap();
        let found = neighbors(x.view(), 5, &()).unwrap();
        let graph = Graph::nearest(x.view(), &params(5, Weights::Local), &()).unwrap().unwrap();
        let half = |i: usize, j: usize| {
            let radius = distance(x.view(), i, *found[i].last().unwrap() as usize);
            let named = f64::from(u8::from(found[i].contains(&(j as u32))));
            0.5 * named * (-4.0 * (distance(x.view(), i, j) / radius).powi(2)).exp()
        };
        for i in 0..60 {
            assert_eq!(graph.row(i).count(), graph.row(i + 60).count());
            for ((j, w), (k, far)) in graph.row(i).zip(graph.row(i + 60)) {
                assert_eq!(j + 60, k);
                assert!((w - half(i, j) - half(j, i)).abs() < 1e-9);
                assert!((w - far).abs() < 1e-6, "{w} {far}");
                assert!(graph.row(j).any(|(l, v)| l == i && v == w));
            }
        }
        let same = Matrix::dense(vec![1.0; 8], 8, 1).unwrap();
        let graph = Graph::nearest(same.view(), &params(3, Weights::Local), &()).unwrap().unwrap();
        assert!((0..8).all(|i| graph.row(i).all(|(_, w)| w > 0.0 && w <= 1.0)));
    }

    #[test]
    fn laplacians_measure_differences() {
        for weights in [Weights::Binary, Weights::Heat, Weights::Local] {
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
    fn normalized_spectrum_is_within_0_and_2_and_counts_components() {
        // two groups far apart; a small k splits them further
        let mut values = Vec::new();
        for i in 0..40 {
            let far = if i % 2 == 0 { 0.0 } else { 100.0 };
            values.extend([far + (f64::from(i) * 1.3).sin(), (f64::from(i) * 0.9).cos()]);
        }
        let x = Matrix::dense(values, 40, 2).unwrap();
        for k in [1, 2, 6] {
            let graph = Graph::nearest(x.view(), &params(k, Weights::Heat), &()).unwrap().unwrap();
            let components = graph.components().into_iter().max().unwrap() as usize + 1;
            assert!(components >= 2);
            let mut matrix = Vec::new();
            for i in 0..40 {
                let (mut unit, mut column) = (vec![0.0; 40], vec![0.0; 40]);
                unit[i] = 1.0;
                graph.laplacian(&unit, true, &mut column);
                matrix.extend(column);
            }
            let spectrum = eigenvalues(matrix, 40);
            assert!(spectrum.iter().all(|v| (-1e-9..=2.0 + 1e-9).contains(v)), "{spectrum:?}");
            assert_eq!(spectrum.iter().filter(|v| v.abs() < 1e-9).count(), components, "{k}");
        }
    }

    #[test]
    fn cosine_metric_ignores_lengths_and_leaves_zero_rows_without_edges() {
        let x = Matrix::dense(vec![1.0, 0.0, 50.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.1, 9.0], 5, 2).unwrap();
        let near = |metric| {
            let p = GraphParams { metric, ..params(1, Weights::Binary) };
            Graph::nearest(x.view(), &p, &()).unwrap().unwrap()
        };
        let cosine = near(Metric::Cosine);
        assert!(cosine.row(0).any(|(j, _)| j == 1) && cosine.row(2).any(|(j, _)| j == 4));
        assert_eq!(neighbors(x.view(), 1, &()).unwrap()[0], [3]);
        let unit = Metric::Cosine.unit_rows(x.view()).unwrap();
        assert_eq!(neighbors(unit.view(), 1, &()).unwrap()[0], [1]);
        assert_eq!(cosine.degrees()[3], 0.0, "a row of zeros has no neighbor");
        // right angles are no edges, and cosine weights are cosines
        let p = GraphParams { metric: Metric::Cosine, ..params(4, Weights::Cosine) };
        let all = Graph::nearest(x.view(), &p, &()).unwrap().unwrap();
        for i in 0..5 {
            for (j, w) in all.row(i) {
                let (a, b) = (x.view().row(i), x.view().row(j));
                assert!((w - a.dot(b) / (a.norm2() * b.norm2()).sqrt()).abs() < 1e-12 && w > 0.0);
            }
        }
        assert!(!all.row(0).any(|(j, _)| j == 2));
        assert!(Graph::nearest(x.view(), &params(1, Weights::Cosine), &()).is_err());
    }

    #[test]
    fn builds_graphs_of_one_row_and_of_copies_and_refuses_bad_parameters() {
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
    fn result_is_bit_identical_for_any_number_of_threads() {
        let x = data(500, 5);
        let graph = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| Graph::nearest(x.view(), &params(7, Weights::Heat), &()).unwrap().unwrap())
        };
        assert_eq!(graph(1), graph(2));
        assert_eq!(graph(1), graph(4));
    }

    #[test]
    fn laplacian_of_several_columns_equals_one_column_at_a_time() {
        let x = data(300, 3);
        let graph = Graph::nearest(x.view(), &params(4, Weights::Heat), &()).unwrap().unwrap();
        for columns in [1, 3, 7] {
            let f: Vec<f64> = (0..300 * columns).map(|k| (k as f64 * 0.31).sin()).collect();
            for normalized in [false, true] {
                let mut all = vec![7.0; f.len()];
                graph.laplacian_rows(&f, columns, normalized, &mut all);
                for c in 0..columns {
                    let one: Vec<f64> = f.iter().skip(c).step_by(columns).copied().collect();
                    let mut alone = vec![0.0; 300];
                    graph.laplacian(&one, normalized, &mut alone);
                    let plain = |i: usize| -> f64 {
                        let d = |i: usize| if normalized { graph.degrees()[i].sqrt() } else { 1.0 };
                        graph.row(i).map(|(j, w)| w / d(i) * (one[i] / d(i) - one[j] / d(j))).sum()
                    };
                    for i in 0..300 {
                        assert_eq!(all[i * columns + c], alone[i]);
                        assert!((alone[i] - plain(i)).abs() < 1e-12, "{} {}", alone[i], plain(i));
                    }
                }
            }
        }
        graph.laplacian_rows(&[], 0, true, &mut []);
    }

    #[test]
    fn edge_lists_are_undirected_and_validated() {
        let edges = [(0, 1, 1.0), (1, 0, 3.0), (2, 2, 5.0), (1, 3, 0.0), (3, 0, 0.5), (0, 1, 2.0)];
        let graph = Graph::from_edges(5, &edges).unwrap();
        let row = |i| graph.row(i).collect::<Vec<_>>();
        assert_eq!((row(0), row(1)), (vec![(1, 3.0), (3, 0.5)], vec![(0, 3.0)]));
        assert_eq!((row(2), row(3), row(4)), (vec![], vec![(0, 0.5)], vec![]));
        assert_eq!((graph.edges(), graph.components()), (2, vec![0, 0, 1, 0, 2]));
        let turned: Vec<_> = edges.iter().rev().map(|&(i, j, w)| (j, i, w)).collect();
        assert_eq!(graph, Graph::from_edges(5, &turned).unwrap());
        let mut out = [7.0; 5];
        graph.laplacian(&[1.0; 5], true, &mut out);
        assert_eq!((out[2], out[4]), (0.0, 0.0));
        let error = |n, edge| Graph::from_edges(n, &[(0, 0, 1.0), edge]).unwrap_err().to_string();
        assert_eq!(error(5, (4, 5, 1.0)), "edge 2: there is no row 6; there are 5");
        assert_eq!(
            error(5, (usize::MAX, 0, 1.0)),
            "edge 2: there is no row 18446744073709551615; there are 5"
        );
        for weight in [-1.0, f64::NAN, f64::INFINITY, 1e101] {
            assert!(error(5, (1, 2, weight)).contains("weights are finite and not negative"));
        }
        assert!(Graph::from_edges(0, &[(0, 0, 1.0)]).is_err());
        assert!(Graph::from_edges(0, &[]).unwrap().is_empty());
        assert_eq!(Graph::from_edges(3, &[]).unwrap(), Graph::without_edges(3));
    }

    #[test]
    #[cfg(not(feature = "approximate"))]
    fn refuses_approximate_search_without_the_feature() {
        let p = GraphParams { search: Search::Approximate, ..params(3, Weights::Heat) };
        let error = Graph::nearest(data(20, 1).view(), &p, &()).unwrap_err().to_string();
        assert!(error.starts_with("parameter search = approximate: must be exact"), "{error}");
    }
}
