//! Penalty on the variation of a function along the data: ½·weight·fᵀL^p f, L the Laplacian of a graph or the mean of
//! several.
//!
//! Sindhwani 2007, section 2.5: iterated Laplacians as the penalty M; section 4.3: the Laplacians of several graphs
//! (one per view) are averaged first, then raised to the power. L^p is applied, but never computed as a matrix.

use super::landmark_space::LandmarkSpace;
use crate::data::{Label, MatrixView};
use crate::error::{Error, Result};
use crate::estimators::Targets;
use crate::graph::{Graph, GraphParams, Metric, Search, Weights};
use crate::math::blas1::{add, dot};
use crate::math::linalg;
use crate::solver::Watch;
use crate::solver::kernel_cg::QuadraticPenalty;
use serde::{Deserialize, Serialize};

/// Parameters of the graph, its Laplacian and the power.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PenaltyParams {
    /// Number of nearest neighbors that each row is connected to; 0 chooses by the number of rows and columns.
    pub n_neighbors: usize,
    /// Connects rows up to this distance instead of nearest neighbors; 0 disables this.
    pub radius: f64,
    /// Search method for nearest neighbors.
    pub search: Search,
    /// Distance.
    pub metric: Metric,
    /// Edge weights.
    pub edge_weights: Weights,
    /// Width of heat weights; 0 is the mean edge length.
    pub width: f64,
    /// Whether the Laplacian is I − D^(−½)WD^(−½) rather than D − W.
    pub normalized: bool,
    /// Power of the Laplacian.
    pub power: usize,
    /// Whether the graph connects only labeled rows of the same class.
    pub class_wise: bool,
}

impl Default for PenaltyParams {
    fn default() -> Self {
        Self {
            n_neighbors: 0,
            radius: 0.0,
            search: Search::Exact,
            metric: Metric::Euclidean,
            edge_weights: Weights::Heat,
            width: 0.0,
            normalized: true,
            power: 1,
            class_wise: false,
        }
    }
}

/// Largest power: for higher ones, powers of [0, 2] are not distinguishable in floating point.
const MAX_POWER: usize = 16;
/// Number of neighbors for data with many columns.
const MIN_NEIGHBORS: f64 = 6.0;

impl PenaltyParams {
    /// Refuses parameters that do not define a graph.
    pub fn check(&self) -> Result<()> {
        if !(1..=MAX_POWER).contains(&self.power) {
            return Err(Error::parameter(
                "power",
                self.power,
                format!("a whole number from 1 to {MAX_POWER}"),
            ));
        }
        check_radius(self.radius)?;
        if !(self.width >= 0.0 && self.width.is_finite()) {
            return Err(Error::parameter(
                "width",
                self.width,
                "0 (mean length of an edge) or a positive number",
            ));
        }
        Ok(())
    }

    /// The given number of neighbors, or max(6, ½n^(2/(d+2))): on a d-dimensional sheet neighborhoods must grow with n,
    /// so that differences along edges stay above the noise, and more slowly the more columns there are.
    pub fn neighbors_of(&self, x: MatrixView<'_>) -> usize {
        if self.n_neighbors > 0 {
            return self.n_neighbors;
        }
        let grown = 0.5 * (x.rows() as f64).powf(2.0 / (x.cols() as f64 + 2.0));
        grown.max(MIN_NEIGHBORS) as usize
    }

    fn graph_params(&self, x: MatrixView<'_>) -> GraphParams {
        GraphParams {
            n_neighbors: self.neighbors_of(x),
            metric: self.metric,
            weights: self.edge_weights,
            width: (self.width > 0.0).then_some(self.width),
            search: self.search,
            radius: (self.radius > 0.0).then_some(self.radius),
        }
    }

    /// The graph of all rows; `None` if `watch` ends the search.
    pub fn graph(&self, x: MatrixView<'_>, watch: &dyn Watch) -> Result<Option<Graph>> {
        self.check()?;
        Graph::nearest(x, &self.graph_params(x), watch)
    }

    /// The penalty of the graph of all rows; `None` if `watch` ends the search.
    pub fn penalty(&self, x: MatrixView<'_>, watch: &dyn Watch) -> Result<Option<Penalty>> {
        let graph = self.graph(x, watch)?;
        Ok(graph.map(|graph| self.of_graphs(vec![(1.0, graph)])))
    }

    /// The penalty of a given graph of `rows` rows.
    pub fn given(&self, graph: &Graph, rows: usize) -> Result<Penalty> {
        graph.check_rows(rows)?;
        Ok(self.of_graphs(vec![(1.0, graph.clone())]))
    }

    /// The penalty of given graphs with their weights.
    pub fn of_graphs(&self, graphs: Vec<(f64, Graph)>) -> Penalty {
        Penalty { graphs, normalized: self.normalized, power: self.power }
    }
}

/// Refuses invalid distances; 0 means none.
pub(crate) fn check_radius(radius: f64) -> Result<()> {
    if radius >= 0.0 && radius.is_finite() {
        return Ok(());
    }
    Err(Error::parameter("radius", radius, "0 (nearest neighbors) or a positive number"))
}

/// L^p with L = Σ weightₖLₖ.
#[derive(Debug, Clone)]
pub struct Penalty {
    graphs: Vec<(f64, Graph)>,
    normalized: bool,
    power: usize,
}

impl Penalty {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.graphs.first().map_or(0, |(_, g)| g.len())
    }

    /// The graphs.
    pub fn graphs(&self) -> impl Iterator<Item = &Graph> {
        self.graphs.iter().map(|(_, g)| g)
    }

    /// L^p f.
    pub fn apply(&self, f: &[f64]) -> Vec<f64> {
        self.powers(f.to_vec(), 1, self.power)
    }

    /// L^p of each column of a row-major matrix.
    pub fn apply_columns(&self, values: Vec<f64>, columns: usize) -> Vec<f64> {
        self.powers(values, columns, self.power)
    }

    /// Approximate diagonal of L^p: that of L, raised to the power.
    pub fn diagonal(&self) -> Vec<f64> {
        let mut sum = vec![0.0; self.rows()];
        for (weight, graph) in &self.graphs {
            for (s, d) in sum.iter_mut().zip(graph.degrees()) {
                *s += weight * laplacian_diagonal(*d, self.normalized);
            }
        }
        sum.iter().map(|s| s.powi(self.power as i32)).collect()
    }

    /// fᵀL^p f.
    pub fn of(&self, f: &[f64]) -> f64 {
        dot(f, &self.apply(f))
    }

    /// RᵀL^pR of the features of a space, m × m: each side gets half of the power.
    pub fn quadratic(&self, span: &LandmarkSpace) -> Vec<f64> {
        let m = span.dim();
        let half = self.powers(span.features().to_vec(), m, self.power / 2);
        if self.power.is_multiple_of(2) {
            return linalg::symmetric_product(&half, &half, m);
        }
        let more = self.powers(half.clone(), m, 1);
        linalg::symmetric_product(&half, &more, m)
    }

    /// L^times of each column of a row-major matrix.
    fn powers(&self, mut values: Vec<f64>, columns: usize, times: usize) -> Vec<f64> {
        if times == 0 {
            return values;
        }
        let mut out = vec![0.0; values.len()];
        let mut part = Vec::new();
        for _ in 0..times {
            match self.graphs.as_slice() {
                [(weight, graph)] if *weight == 1.0 => {
                    graph.laplacian_rows(&values, columns, self.normalized, &mut out);
                }
                graphs => {
                    part.resize(values.len(), 0.0);
                    out.fill(0.0);
                    for (weight, graph) in graphs {
                        graph.laplacian_rows(&values, columns, self.normalized, &mut part);
                        add(*weight, &part, &mut out);
                    }
                }
            }
            std::mem::swap(&mut values, &mut out);
        }
        values
    }
}

impl QuadraticPenalty for Penalty {
    fn apply(&self, f: &[f64]) -> Vec<f64> {
        self.apply(f)
    }
}

/// The diagonal of a Laplacian at a row with this degree.
fn laplacian_diagonal(degree: f64, normalized: bool) -> f64 {
    if normalized { f64::from(u8::from(degree > 0.0)) } else { degree }
}

/// The graph of labeled rows within their classes (Sindhwani 2007, section 2.10): no edge connects two classes, and
/// unlabeled rows have no edges.
pub fn class_wise(
    params: &PenaltyParams,
    x: MatrixView<'_>,
    problem: &Targets,
    watch: &dyn Watch,
) -> Result<Option<Penalty>> {
    params.check()?;
    let mut edges = Vec::new();
    for class in [Label::Neg, Label::Pos] {
        let rows: Vec<usize> = problem.used().into_iter().filter(|&i| problem.y[i] == class).collect();
        let part = x.select(&rows);
        let Some(graph) = Graph::nearest(part.view(), &params.graph_params(part.view()), watch)? else {
            return Ok(None);
        };
        for (k, &i) in rows.iter().enumerate() {
            edges.extend(graph.row(k).filter(|(j, _)| k < *j).map(|(j, w)| (i, rows[j], w)));
        }
    }
    let graph = Graph::from_edges(x.rows(), &edges)?;
    Ok(Some(params.of_graphs(vec![(1.0, graph)])))
}
