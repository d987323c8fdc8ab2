//! Builds graphs from neighbor lists or from edge lists.

use super::search::{self, NeighborList};
use super::{Ball, Graph, GraphParams, Metric, Search, Weights};
use crate::data::{MAX_ABS, Matrix, MatrixView};
use crate::error::{Error, Result};
use crate::watch::Watch;
use rayon::prelude::*;

/// Weights below this are dropped: dividing by a degree this small would overflow.
const NO_WEIGHT: f64 = 1e-150;

/// Local weights are exp(−4) at the farthest neighbor, as in graphlearning (Python).
const LOCAL_RATE: f64 = 4.0;

impl Graph {
    /// The graph of the rows of `x`, by nearest neighbors or by a radius; `None` if `watch` ends the search, which it is
    /// asked once per block of rows.
    pub fn nearest(x: MatrixView<'_>, params: &GraphParams, watch: &dyn Watch) -> Result<Option<Self>> {
        let GraphParams { metric, weights, width, .. } = *params;
        match params.radius {
            Some(_) if params.search == Search::Approximate => {
                return Err(Error::parameter("search", "approximate", "exact with a radius"));
            }
            Some(radius) => {
                let ball = Ball { radius, metric, weights, width, ..Ball::default() };
                return Self::within(x, &ball, watch);
            }
            None if params.n_neighbors == 0 => return Err(Error::parameter("n_neighbors", 0, "1 or more")),
            None => check_weights(metric, weights, width)?,
        }
        let unit = params.metric.unit_rows(x);
        let x = unit.as_ref().map_or(x, Matrix::view);
        let found = match params.search {
            Search::Exact => search::nearest(x, params.n_neighbors, watch),
            Search::Approximate => approximate_neighbors(x, params.n_neighbors, watch)?,
        };
        Ok(found.map(|mut found| {
            if params.metric == Metric::Cosine {
                drop_dissimilar(x, &mut found);
            }
            Self::from_neighbors(found, params.weights, params.width)
        }))
    }

    /// The graph of `n` rows without edges.
    pub fn without_edges(n: usize) -> Self {
        Self::from_lists(&vec![Vec::new(); n], 1.0)
    }

    /// The graph of `n` rows with these edges: two row numbers, counted from 0, and a weight. Directions are ignored. A pair
    /// that occurs several times, in either direction, is one edge with the largest of its weights; loops and weights of 0
    /// are dropped.
    pub fn from_edges(n: usize, edges: &[(usize, usize, f64)]) -> Result<Self> {
        let mut lists: Vec<Vec<(u32, f64)>> = vec![Vec::new(); n];
        for (at, &(i, j, w)) in edges.iter().enumerate() {
            if i.max(j) >= n || u32::try_from(n - 1).is_err() {
                let high = i.max(j).saturating_add(1);
                return Err(Error::Data(format!("edge {}: there is no row {high}; there are {n}", at + 1)));
            }
            if !(0.0..=MAX_ABS).contains(&w) {
                return Err(Error::Data(format!(
                    "edge {}: weight {w} is not usable; weights are finite and not negative",
                    at + 1
                )));
            }
            if i != j && w >= NO_WEIGHT {
                lists[i].push((j as u32, w));
                lists[j].push((i as u32, w));
            }
        }
        for list in &mut lists {
            list.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
            list.dedup_by_key(|e| e.0);
        }
        Ok(Self::from_lists(&lists, 1.0))
    }

    /// Joins two rows if either is a neighbor of the other.
    pub(super) fn from_neighbors(found: Vec<NeighborList>, weights: Weights, width: Option<f64>) -> Self {
        if weights == Weights::Local {
            return Self::with_local_weights(&found);
        }
        let mut joined: Vec<Vec<(u32, f64)>> =
            found.iter().map(|list| list.iter().map(|&(d, j)| (j, d)).collect()).collect();
        for (i, list) in found.into_iter().enumerate() {
            list.into_iter().for_each(|(d, j)| joined[j as usize].push((i as u32, d)));
        }
        joined.par_iter_mut().for_each(|list| {
            list.sort_unstable_by_key(|e| e.0);
            list.dedup_by_key(|e| e.0);
        });
        let (ends, total) =
            joined.iter().flatten().fold((0usize, 0.0), |(ends, total), (_, d)| (ends + 1, total + d.sqrt()));
        let mean = if total > 0.0 { total / ends as f64 } else { 1.0 };
        let width = width.unwrap_or(mean);
        joined.par_iter_mut().for_each(|list| {
            list.iter_mut().for_each(|(_, d)| *d = weights.of(*d, width));
            list.retain(|(_, w)| *w >= NO_WEIGHT);
        });
        Self::from_lists(&joined, width)
    }

    /// Joins rows with weights that decrease with the distance relative to that of the farthest neighbor. An edge has the
    /// mean of the weights from its two rows; a row that does not have the other as a neighbor contributes 0.
    fn with_local_weights(found: &[NeighborList]) -> Self {
        let mut joined: Vec<Vec<(u32, f64)>> = vec![Vec::new(); found.len()];
        let (mut ends, mut total) = (0usize, 0.0);
        for (i, list) in found.iter().enumerate() {
            let farthest = list.last().map_or(0.0, |(d, _)| *d);
            for &(d, j) in list {
                // a copy of a row has relative distance 0, also if all neighbors are copies
                let relative = if farthest > 0.0 { d / farthest } else { 0.0 };
                let half = 0.5 * (-LOCAL_RATE * relative).exp();
                joined[i].push((j, half));
                joined[j as usize].push((i as u32, half));
                (ends, total) = (ends + 1, total + d.sqrt());
            }
        }
        joined.par_iter_mut().for_each(|list| {
            list.sort_by_key(|e| e.0);
            list.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                if same {
                    kept.1 += next.1;
                }
                same
            });
        });
        Self::from_lists(&joined, if total > 0.0 { total / ends as f64 } else { 1.0 })
    }

    /// A graph from the neighbors of each row with weights, in ascending order; each edge is in the lists of both its rows.
    fn from_lists(lists: &[Vec<(u32, f64)>], width: f64) -> Self {
        let ends = lists.iter().map(Vec::len).sum();
        let (mut indices, mut weights) = (Vec::with_capacity(ends), Vec::with_capacity(ends));
        let mut indptr = Vec::with_capacity(lists.len() + 1);
        indptr.push(0);
        for list in lists {
            indices.extend(list.iter().map(|e| e.0));
            weights.extend(list.iter().map(|e| e.1));
            indptr.push(indices.len());
        }
        let degree: Vec<f64> =
            lists.iter().map(|list| list.iter().map(|e| e.1).fold(0.0, |a, b| a + b)).collect();
        let root = degree.iter().map(|&d| if d > 0.0 { d.sqrt().recip() } else { 0.0 }).collect();
        Self { indptr, indices, weights, degree, root, width }
    }
}

/// Removes neighbors at right angles or beyond, and all neighbors of zero rows; rows have length 1 or 0. Texts without a
/// common word are all equally far apart, so which of them the search found is arbitrary.
pub(super) fn drop_dissimilar(unit: MatrixView<'_>, found: &mut [NeighborList]) {
    const RIGHT_ANGLE: f64 = 2.0 - 1e-9;
    let empty: Vec<bool> = (0..unit.rows()).map(|i| unit.row(i).norm2() == 0.0).collect();
    for (i, list) in found.iter_mut().enumerate() {
        list.retain(|&(d, j)| d < RIGHT_ANGLE && !empty[i] && !empty[j as usize]);
    }
}

impl Weights {
    /// The weight of an edge with squared length `d`.
    fn of(self, d: f64, width: f64) -> f64 {
        match self {
            // local weights need more than the length of an edge: see `with_local_weights`
            Self::Binary | Self::Local => 1.0,
            Self::Heat => (-d / (2.0 * width * width)).exp(),
            Self::Cosine => 1.0 - 0.5 * d,
        }
    }
}

impl Metric {
    /// The rows scaled to length 1 if the metric is the cosine; their Euclidean distances rank as cosines do. Zero rows
    /// stay 0.
    pub(super) fn unit_rows(self, x: MatrixView<'_>) -> Option<Matrix> {
        let scale = |row: &mut [f64], norm: f64| {
            let length = if norm > 0.0 { norm.sqrt() } else { 1.0 };
            row.iter_mut().for_each(|v| *v /= length);
        };
        (self == Self::Cosine).then(|| {
            let mut out = x.to_matrix();
            let norms: Vec<f64> = (0..x.rows()).map(|i| x.row(i).norm2()).collect();
            match &mut out {
                Matrix::Dense { values, cols, .. } => {
                    let rows = values.chunks_exact_mut((*cols).max(1));
                    rows.zip(norms).for_each(|(row, norm)| scale(row, norm));
                }
                Matrix::Csr { indptr, values, .. } => {
                    let spans = indptr.windows(2).zip(norms);
                    spans.for_each(|(span, norm)| scale(&mut values[span[0]..span[1]], norm));
                }
            }
            out
        })
    }
}

/// Returns an error for a width that is not positive, and for cosine weights with another metric.
pub(super) fn check_weights(metric: Metric, weights: Weights, width: Option<f64>) -> Result<()> {
    match width {
        Some(width) if !(width > 0.0 && width.is_finite()) => {
            Err(Error::parameter("width", width, "a positive number"))
        }
        _ if weights == Weights::Cosine && metric != Metric::Cosine => {
            Err(Error::parameter("weights", "cosine", "used with metric cosine"))
        }
        _ => Ok(()),
    }
}

#[cfg(feature = "approximate")]
#[allow(clippy::unnecessary_wraps)]
fn approximate_neighbors(
    x: MatrixView<'_>,
    k: usize,
    watch: &dyn Watch,
) -> Result<Option<Vec<NeighborList>>> {
    Ok(super::approximate::nearest(x, k, watch))
}

#[cfg(not(feature = "approximate"))]
fn approximate_neighbors(_: MatrixView<'_>, _: usize, _: &dyn Watch) -> Result<Option<Vec<NeighborList>>> {
    Err(Error::parameter(
        "search",
        "approximate",
        "exact: this build has no approximate search (feature `approximate`)",
    ))
}
