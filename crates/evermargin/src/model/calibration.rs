//! From decision values to probabilities, fitted after training, monotone in the decision value.

use serde::{Deserialize, Serialize};

/// A monotone map from a decision value to the probability of the positive class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Calibration {
    /// 1 / (1 + exp(a·f + b)), a ≤ 0 (Platt; Lin, Lin & Weng 2007).
    Sigmoid {
        /// Slope.
        a: f64,
        /// Offset.
        b: f64,
    },
    /// Piecewise linear through the points of an isotonic (pool-adjacent-violators) fit.
    Isotonic {
        /// Decision values, ascending.
        at: Vec<f64>,
        /// Probabilities, never falling.
        probability: Vec<f64>,
    },
}
