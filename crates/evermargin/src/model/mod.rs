//! Trained models: decision functions ([`Model`]) and the [`Classifier`] that contains them.

mod calibration;
mod classifier;
pub mod coupling;
mod input_spec;
mod predict;
mod scaling;
pub mod views;

pub use calibration::{Calibration, CalibrationKind};
pub use classifier::{Classifier, Column, LearnerInfo, MulticlassScheme, Predictions};
pub use input_spec::{InputSpec, LabelPosition, ViewFile};
pub use predict::Ready;
pub use scaling::{Scaling, ScalingName};
pub use views::{Columns, Part};

use crate::data::Matrix;
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use serde::{Deserialize, Serialize};

/// k decision functions over the same features: linear, expansions over the same points, or sums of these over views.
/// A model trained on a precomputed kernel is linear in the kernel row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Model {
    /// fⱼ(x) = wⱼ·x + bⱼ
    Linear {
        /// k vectors of d weights.
        weights: Vec<Vec<f64>>,
        /// k constants.
        bias: Vec<f64>,
    },
    /// fⱼ(x) = Σᵢ cⱼᵢ·K(pᵢ, x) + bⱼ
    Expansion {
        /// The kernel.
        kernel: Kernel,
        /// The m points pᵢ.
        points: Matrix,
        /// k vectors of m coefficients; coefficients > 0 belong to samples of the positive class.
        coef: Vec<Vec<f64>>,
        /// k constants.
        bias: Vec<f64>,
    },
    /// A sum of models, each over some of the columns ([`views`]).
    Views {
        /// The summands.
        parts: Vec<Part>,
        /// Number of columns of a sample.
        cols: usize,
        /// k constants.
        bias: Vec<f64>,
    },
}

impl Model {
    /// Changes the sign of all decision functions.
    pub fn negate(&mut self) {
        let (functions, bias) = match self {
            Self::Linear { weights, bias } => (weights.as_mut_slice(), bias),
            Self::Expansion { coef, bias, .. } => (coef.as_mut_slice(), bias),
            Self::Views { parts, bias, .. } => {
                parts.iter_mut().for_each(|part| part.model.negate());
                (&mut [][..], bias)
            }
        };
        functions.iter_mut().flatten().chain(bias).for_each(|v| *v = -*v);
    }

    /// Number of decision functions.
    pub fn outputs(&self) -> usize {
        self.bias().len()
    }

    /// The intercepts; for a sum of views, those outside its parts.
    pub fn bias(&self) -> &[f64] {
        let (Self::Linear { bias, .. } | Self::Expansion { bias, .. } | Self::Views { bias, .. }) = self;
        bias
    }

    /// The constants, mutable.
    pub fn bias_mut(&mut self) -> &mut [f64] {
        let (Self::Linear { bias, .. } | Self::Expansion { bias, .. } | Self::Views { bias, .. }) = self;
        bias
    }

    /// Number of columns a sample has.
    pub fn cols(&self) -> usize {
        match self {
            Self::Linear { weights, .. } => weights.first().map_or(0, Vec::len),
            Self::Expansion { points, .. } => points.cols(),
            Self::Views { cols, .. } => *cols,
        }
    }

    /// Number of points of an expansion, or of columns with a weight other than zero.
    pub fn support_count(&self) -> usize {
        match self {
            Self::Linear { weights, .. } => {
                (0..self.cols()).filter(|&c| weights.iter().any(|w| w[c] != 0.0)).count()
            }
            Self::Expansion { points, .. } => points.rows(),
            Self::Views { parts, .. } => parts.iter().map(|p| p.model.support_count()).sum(),
        }
    }

    /// Adds `by` to every decision value.
    pub fn shift(&mut self, by: f64) {
        self.bias_mut().iter_mut().for_each(|b| *b += by);
    }

    /// Returns an error if parts of the model do not fit together or are not finite (a file may hold anything).
    pub fn check(&self) -> Result<()> {
        let (rows, width, what) = match self {
            Self::Linear { weights, .. } => (weights, self.cols(), "weights"),
            Self::Expansion { coef, points, kernel, .. } => {
                kernel.check()?;
                (coef, points.rows(), "coefficients")
            }
            Self::Views { parts, cols, bias } => return views::check(parts, *cols, bias),
        };
        let bias = self.bias();
        if rows.len() != bias.len() || bias.is_empty() {
            return Err(Error::Model(format!(
                "{} vectors of {what} but {} intercepts",
                rows.len(),
                bias.len()
            )));
        }
        if rows.iter().any(|r| r.len() != width) {
            return Err(Error::Model(format!("each vector of {what} must have {width} values")));
        }
        if rows.iter().flatten().chain(bias).any(|v| !v.is_finite()) {
            return Err(Error::Model(format!("{what} and intercepts must be finite")));
        }
        Ok(())
    }
}
