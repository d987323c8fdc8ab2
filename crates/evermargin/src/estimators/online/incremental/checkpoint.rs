//! Serialized form of the exact SVM: everything except the kernel rows, which are recomputed from the samples.

use super::{ExactParams, ExactSvm, Place, Solution};
use crate::data::{Matrix, MatrixView};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// Serialized form of [`ExactSvm`].
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Saved {
    params: ExactParams,
    points: Matrix,
    ids: Vec<u64>,
    y: Vec<f64>,
    cost: Vec<f64>,
    standing: Solution,
}

impl From<ExactSvm> for Saved {
    fn from(machine: ExactSvm) -> Self {
        let ExactSvm { params, points, ids, y, cost, standing, .. } = machine;
        Self { params, points, ids, y, cost, standing }
    }
}

impl TryFrom<Saved> for ExactSvm {
    type Error = Error;

    /// Restores a bit-identical state; inconsistent parts are an error.
    fn try_from(saved: Saved) -> Result<Self> {
        saved.check()?;
        let Saved { params, points, ids, y, cost, standing } = saved;
        let squares = (0..points.rows()).map(|i| points.view().row(i).norm2()).collect();
        let mut machine = Self { params, points, ids, y, cost, standing, squares, rows: Vec::new() };
        machine.restore_rows();
        Ok(machine)
    }
}

impl Saved {
    fn check(&self) -> Result<()> {
        self.params.check()?;
        match self.points.view() {
            MatrixView::Dense { values, rows, cols } => MatrixView::dense(values, rows, cols).map(|_| ())?,
            MatrixView::Csr { indptr, indices, values, cols } => {
                MatrixView::csr(indptr, indices, values, cols).map(|_| ())?;
            }
        }
        let (n, at) = (self.points.rows(), &self.standing);
        let wrong = |what: &str| Err(Error::State(what.into()));
        let lengths =
            [self.ids.len(), self.y.len(), self.cost.len(), at.alpha.len(), at.g.len(), at.place.len()];
        if lengths.iter().any(|&len| len != n) || n > self.params.max_points {
            return wrong("its samples and their coefficients differ in number");
        }
        let mut ids = self.ids.clone();
        ids.sort_unstable();
        if ids.windows(2).any(|pair| pair[0] == pair[1]) {
            return wrong("two samples have the same id");
        }
        let sound = |i: usize| {
            let (cost, alpha) = (self.cost[i], at.alpha[i]);
            let placed = match at.place[i] {
                Place::Absent => false,
                Place::Margin => (0.0..=cost).contains(&alpha),
                Place::Error => alpha == cost,
                Place::Rest => alpha == 0.0,
            };
            placed && self.y[i].abs() == 1.0 && cost > 0.0 && cost <= 1e15 && at.g[i].is_finite()
        };
        if !(at.b.is_finite() && (0..n).all(sound)) {
            return wrong("its coefficients do not fit its samples");
        }
        let mut margin = at.margin.clone();
        margin.sort_unstable();
        let placed: Vec<usize> = (0..n).filter(|&i| at.place[i] == Place::Margin).collect();
        let rows = if margin.is_empty() { 0 } else { margin.len() + 1 };
        if margin != placed || at.inverse.size() != rows || !at.inverse.is_sound() {
            return wrong("its margin and the inverse of its matrix differ");
        }
        Ok(())
    }
}
