//! Parts of `auto` that the engine uses on the pools of a stream: scores, share bounds and scaling.

use super::evidence::standardize_on;
use super::shares::ShareBounds;
use super::{AutoParams, LEAST_SHARE, Scores};
use crate::data::MatrixView;
use crate::error::Result;
use crate::graph::Graph;
use crate::solver::Watch;
use std::ops::Range;
use std::sync::Arc;

impl Scores {
    /// Scores that are all 0.
    pub(crate) fn zeros(rows: usize, classes: usize) -> Self {
        Self { values: vec![0.0; rows * classes], classes }
    }

    pub(crate) fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.values[i * self.classes..(i + 1) * self.classes]
    }

    /// Scores of some rows.
    pub(crate) fn slice(&self, rows: Range<usize>) -> Self {
        let values = self.values[rows.start * self.classes..rows.end * self.classes].to_vec();
        Self { values, classes: self.classes }
    }

    /// Replaces the scores 2p − 1 of shares p by ln p.
    pub(crate) fn log_of_shares(&mut self) {
        self.values.iter_mut().for_each(|s| *s = (0.5 + 0.5 * *s).max(LEAST_SHARE).ln());
    }

    pub(crate) fn is_finite(&self) -> bool {
        self.values.iter().all(|s| s.is_finite())
    }
}

/// Scales the scores of all rows by those of `rows`, and shifts them so that the class shares among `rows` are within
/// their bounds.
pub(crate) fn standardize_rows(raw: &Scores, rows: &[usize], bounds: &ShareBounds) -> Scores {
    standardize_on(raw, rows, bounds).0
}

/// Graph of nearest neighbors as `auto` uses it.
pub(crate) fn nearest_graph(
    x: MatrixView<'_>,
    n_neighbors: usize,
    watch: &dyn Watch,
) -> Result<Option<Arc<Graph>>> {
    AutoParams { n_neighbors, ..AutoParams::default() }.graph_of(x, watch)
}
