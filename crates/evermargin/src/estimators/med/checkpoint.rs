//! Checkpoints of a sequential learner: everything needed to resume with bit-identical results, as plain data.

use super::features::Features;
use super::recursion::{MAX_POINTS, Recursion};
use super::space::Space;
use super::{Form, MAX_FEATURES, MedParams};
use crate::data::MatrixView;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// The Gaussian posterior over functions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Posterior {
    /// In terms of features ([`Form::Bounded`]).
    Features(Features),
    /// In terms of all points seen so far ([`Form::Exact`], [`Form::Spectral`]).
    Points(Recursion),
}

/// The state of a sequential learner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Saved {
    /// Parameters.
    pub params: MedParams,
    /// Number of columns of a sample.
    pub cols: usize,
    /// Prior variance σ² of the intercept.
    pub intercept_variance: f64,
    /// Intercept of each output.
    pub bias: Vec<f64>,
    /// Number of batches learned so far.
    pub batches: u64,
    /// Number of rows learned so far.
    pub rows: u64,
    /// The posterior.
    pub known: Posterior,
}

impl Saved {
    /// Checks that all parts are consistent, because a file may contain anything.
    pub fn check(&self) -> Result<()> {
        self.params.check()?;
        let sound = !self.bias.is_empty()
            && self.bias.iter().chain([&self.intercept_variance]).all(|v| v.is_finite())
            && self.intercept_variance >= 0.0;
        let fits = match &self.known {
            Posterior::Features(f) => self.params.form == Form::Bounded && self.features_fit(f),
            Posterior::Points(r) => self.params.form != Form::Bounded && self.points_fit(r),
        };
        if sound && fits { Ok(()) } else { Err(Error::State("its parts do not fit together".into())) }
    }

    fn features_fit(&self, f: &Features) -> bool {
        let dim = f.space.dim();
        let space = match &f.space {
            Space::Columns { cols } => *cols == self.cols,
            Space::Landmarks { kernel, points, factor } => {
                *kernel == self.params.kernel
                    && points.cols() == self.cols
                    && readable(points.view())
                    && points.rows() == dim
                    && dim <= MAX_FEATURES
                    && factor.values().len() == dim * dim
                    && factor.values().iter().all(|v| v.is_finite())
                    && (0..dim).all(|i| factor.values()[i * dim + i] > 0.0)
            }
        };
        let square = |g: &Vec<f64>| dim.checked_mul(dim) == Some(g.len()) && g.iter().all(|v| v.is_finite());
        space
            && f.information.len() == self.bias.len()
            && f.information.iter().all(|h| h.len() == dim && h.iter().all(|v| v.is_finite()))
            && f.precision.as_ref().is_none_or(square)
    }

    fn points_fit(&self, r: &Recursion) -> bool {
        let (p, e) = (r.deformed.points.rows(), r.points.rows());
        let averages = r.averages.as_ref().is_none_or(|a| {
            let finite = a.directions.iter().chain(&a.bends).chain([&a.weight]).all(|v| v.is_finite());
            let empty = a.batches == 0 && a.directions.is_empty() && a.bends.is_empty();
            finite && (empty || (a.cols == self.cols && a.bends.len() * a.cols == a.directions.len()))
        });
        averages
            && r.averages.is_some() == (self.params.form == Form::Spectral)
            && r.deformed.kernel == self.params.kernel
            && p.max(e) <= MAX_POINTS
            && r.deformed.points.cols() == self.cols
            && r.points.cols() == self.cols
            && readable(r.deformed.points.view())
            && readable(r.points.view())
            && r.deformed.inner.len() == p * p
            && r.deformed.inner.iter().all(|v| v.is_finite())
            && r.coef.len() == self.bias.len()
            && r.coef.iter().all(|c| c.len() == e && c.iter().all(|v| v.is_finite()))
    }
}

/// Whether the parts of a deserialized matrix match its shape.
fn readable(x: MatrixView<'_>) -> bool {
    match x {
        MatrixView::Dense { values, rows, cols } => MatrixView::dense(values, rows, cols).is_ok(),
        MatrixView::Csr { indptr, indices, values, cols } => {
            MatrixView::csr(indptr, indices, values, cols).is_ok()
        }
    }
}
