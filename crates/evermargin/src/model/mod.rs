//! What learning leaves behind: decision functions ([`Model`]), and the [`Classifier`] around them.

mod calibration;
mod classifier;
pub mod coupling;
mod predict;
mod scaling;

pub use calibration::{Calibration, CalibrationKind};
pub use classifier::{Classifier, Column, Predictions, Scheme};
pub use scaling::{Scaling, ScalingName};

use crate::data::Matrix;
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use serde::{Deserialize, Serialize};

/// k decision functions over the same features: linear, or expansions over the same points.
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
        /// k vectors of m coefficients; coefficient > 0 came from a sample of the positive class.
        coef: Vec<Vec<f64>>,
        /// k constants.
        bias: Vec<f64>,
    },
}

impl Model {
    /// Number of decision functions.
    pub fn outputs(&self) -> usize {
        match self {
            Self::Linear { bias, .. } | Self::Expansion { bias, .. } => bias.len(),
        }
    }

    /// Number of columns a sample has.
    pub fn cols(&self) -> usize {
        match self {
            Self::Linear { weights, .. } => weights.first().map_or(0, Vec::len),
            Self::Expansion { points, .. } => points.cols(),
        }
    }

    /// Number of points an expansion rests on, or of weights that are not zero.
    pub fn support_count(&self) -> usize {
        match self {
            Self::Linear { weights, .. } => {
                (0..self.cols()).filter(|&c| weights.iter().any(|w| w[c] != 0.0)).count()
            }
            Self::Expansion { points, .. } => points.rows(),
        }
    }

    /// Adds `by` to every decision.
    pub fn shift(&mut self, by: f64) {
        let (Self::Linear { bias, .. } | Self::Expansion { bias, .. }) = self;
        bias.iter_mut().for_each(|b| *b += by);
    }

    /// Refuses a model whose parts do not fit together or are not finite (a file may say anything).
    pub fn check(&self) -> Result<()> {
        let (rows, width, what) = match self {
            Self::Linear { weights, .. } => (weights, self.cols(), "weights"),
            Self::Expansion { coef, points, kernel, .. } => {
                kernel.check()?;
                (coef, points.rows(), "coefficients")
            }
        };
        let bias = match self {
            Self::Linear { bias, .. } | Self::Expansion { bias, .. } => bias,
        };
        if rows.len() != bias.len() || bias.is_empty() {
            return Err(Error::Model(format!(
                "{} vectors of {what} but {} constants",
                rows.len(),
                bias.len()
            )));
        }
        if rows.iter().any(|r| r.len() != width) {
            return Err(Error::Model(format!("each vector of {what} must have {width} values")));
        }
        if rows.iter().flatten().chain(bias).any(|v| !v.is_finite()) {
            return Err(Error::Model(format!("{what} and constants must be finite")));
        }
        Ok(())
    }
}
