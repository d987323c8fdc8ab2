//! Neighborhoods of a radius instead of a number of neighbors.
//!
//! Rows i and j are joined if |i − j|² ≤ radius², with distances as computed by the search. The number of edges is not
//! known in advance: a parameter limits it, and exceeding the limit is an error, so memory cannot run out. Rows far from all
//! others have no edges, or, on request, are joined to their nearest row (in both directions, whatever the radius).
//!
//! Cost: with few columns, about one visit per leaf of the tree within reach; with many columns, all pairs, each until its
//! distance exceeds the radius.

use super::build::{check_weights, drop_dissimilar};
use super::search::{Finder, NeighborList, each, filled};
use super::{Graph, Metric, Weights};
use crate::data::{Matrix, MatrixView};
use crate::error::{Error, Result};
use crate::watch::Watch;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Parameters of a graph that joins rows within a radius.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ball {
    /// Maximum distance of neighbors.
    pub radius: f64,
    /// Distance between rows.
    pub metric: Metric,
    /// Weights of edges.
    pub weights: Weights,
    /// σ of heat weights; `None` is the mean length of an edge.
    pub width: Option<f64>,
    /// Maximum number of edges.
    pub max_edges: usize,
    /// Join rows without neighbors to their nearest row.
    pub join: bool,
}

impl Default for Ball {
    fn default() -> Self {
        let (metric, weights) = (Metric::default(), Weights::default());
        Self { radius: 1.0, metric, weights, width: None, max_edges: 50_000_000, join: false }
    }
}

impl Graph {
    /// The graph that joins rows within a radius; `None` if `watch` ends the search.
    pub fn within(x: MatrixView<'_>, ball: &Ball, watch: &dyn Watch) -> Result<Option<Self>> {
        let reach = ball.radius * ball.radius;
        if !(ball.radius > 0.0 && reach.is_finite()) {
            return Err(Error::parameter("radius", ball.radius, "a positive number"));
        }
        check_weights(ball.metric, ball.weights, ball.width)?;
        let unit = ball.metric.unit_rows(x);
        let x = unit.as_ref().map_or(x, Matrix::view);
        let filled = filled(x);
        let finder = Finder::new(filled.as_ref().map_or(x, Matrix::view));
        let ends = AtomicUsize::new(0);
        let max_ends = ball.max_edges.saturating_mul(2);
        let find = |i: usize, scratch: &mut Vec<f64>| -> NeighborList {
            let left = max_ends.saturating_sub(ends.load(Ordering::Relaxed));
            let found = finder.within(i, reach, left, scratch);
            let all = ends.fetch_add(found.len(), Ordering::Relaxed) + found.len();
            match found {
                _ if all > max_ends => Vec::new(),
                found if found.is_empty() && ball.join && x.rows() > 1 => finder.nearest(i, 1, scratch),
                found => found,
            }
        };
        let found = each(x.rows(), watch, find);
        if ends.into_inner() > max_ends {
            let edges = ball.max_edges;
            return Err(Error::parameter(
                "radius",
                ball.radius,
                format!("smaller: it gives more than {edges} edges"),
            ));
        }
        Ok(found.map(|mut found| {
            if ball.metric == Metric::Cosine {
                drop_dissimilar(x, &mut found);
            }
            Self::from_neighbors(found, ball.weights, ball.width)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datasets::{GenerateParams, generate};

    fn moons() -> Matrix {
        let params = GenerateParams { rows: 200, noise: Some(0.1), seed: 3, ..Default::default() };
        generate("two-moons", &params).unwrap().0
    }

    #[test]
    fn joins_exactly_those_within_the_radius() {
        let dense = moons();
        for x in [&dense, &dense.view().to_csr().with_cols(40)] {
            for radius in [0.01, 0.1, 0.5, 100.0] {
                let graph =
                    Graph::within(x.view(), &Ball { radius, ..Default::default() }, &()).unwrap().unwrap();
                for i in 0..200 {
                    let near = |j: &usize| {
                        let (a, b) = (dense.view().row(i), dense.view().row(*j));
                        *j != i && (a.norm2() + b.norm2() - 2.0 * a.dot(b)).sqrt() <= radius
                    };
                    assert!((0..200).filter(near).eq(graph.row(i).map(|(j, _)| j)), "{radius} {i}");
                }
            }
        }
    }

    #[test]
    fn rows_exactly_at_the_radius_and_copies_are_joined() {
        let x = Matrix::dense(vec![0.0, 0.0, 2.0, 5.0], 4, 1).unwrap();
        let ball = Ball { radius: 2.0, weights: Weights::Heat, width: Some(1.0), ..Default::default() };
        let graph = Graph::within(x.view(), &ball, &()).unwrap().unwrap();
        let e = (-2.0f64).exp();
        assert_eq!(graph.row(0).collect::<Vec<_>>(), [(1, 1.0), (2, e)]);
        assert_eq!(graph.row(3).count(), 0);
        assert_eq!(graph.components(), [0, 0, 0, 1]);
        let joined = Graph::within(x.view(), &Ball { join: true, ..ball }, &()).unwrap().unwrap();
        assert_eq!(joined.row(3).map(|(j, _)| j).collect::<Vec<_>>(), [2]);
        assert_eq!(joined.row(2).map(|(j, _)| j).collect::<Vec<_>>(), [0, 1, 3]);
        let one = Matrix::dense(vec![1.0], 1, 1).unwrap();
        let alone = Graph::within(one.view(), &Ball { join: true, ..ball }, &()).unwrap().unwrap();
        assert_eq!(alone.edges(), 0);
    }

    #[test]
    fn rows_without_positive_cosine_are_not_joined_at_any_radius() {
        let x = Matrix::dense(vec![1.0, 0.0, 0.0, 1.0, 2.0, 1.0, 0.0, 0.0], 4, 2).unwrap();
        let ball = Ball { radius: 2.0, metric: Metric::Cosine, weights: Weights::Cosine, ..Ball::default() };
        let graph = Graph::within(x.view(), &ball, &()).unwrap().unwrap();
        let edges: Vec<Vec<usize>> = (0..4).map(|i| graph.row(i).map(|(j, _)| j).collect()).collect();
        assert_eq!(edges, [vec![2], vec![2], vec![0, 1], vec![]]);
        let wrong = Ball { metric: Metric::Euclidean, ..ball };
        let error = Graph::within(x.view(), &wrong, &()).unwrap_err().to_string();
        assert_eq!(error, "parameter weights = cosine: must be used with metric cosine");
    }

    #[test]
    fn refuses_more_than_max_edges_and_bad_radii() {
        let x = moons();
        let ball = |radius, max_edges| {
            Graph::within(x.view(), &Ball { radius, max_edges, ..Default::default() }, &())
                .map(Option::unwrap)
        };
        let edges = ball(0.3, usize::MAX).unwrap().edges();
        assert_eq!(ball(0.3, edges).unwrap().edges(), edges);
        let error = ball(0.3, edges - 1).unwrap_err().to_string();
        let expected =
            format!("parameter radius = 0.3: must be smaller: it gives more than {} edges", edges - 1);
        assert_eq!(error, expected);
        assert!(ball(100.0, 0).is_err());
        for radius in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e200] {
            assert!(ball(radius, 10).unwrap_err().to_string().contains("radius"));
        }
    }
}
