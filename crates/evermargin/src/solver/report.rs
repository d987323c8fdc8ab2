//! When a solver stops, and the report that every solver returns.

use serde::{Deserialize, Serialize};

/// When a loop ends by itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stop {
    /// Largest violation of the optimality conditions that counts as solved.
    pub tolerance: f64,
    /// Maximum number of steps; `None` is no limit.
    pub max_steps: Option<u64>,
}

/// Why a loop ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Exit {
    /// The optimality conditions hold to the tolerance.
    Converged,
    /// The step limit came first.
    Limit,
    /// The caller said stop ([`Watch::proceed`](crate::watch::Watch::proceed) returned false); the model is valid, only not optimal.
    Interrupted,
    /// No step improves any more in floating point.
    Stalled,
}

/// What a loop did.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Steps taken (pair updates, Newton steps …).
    pub steps: u64,
    /// The objective at the end, in the form each learner's page states (for the dual solver: the dual
    /// objective to be minimized, as LIBSVM prints it).
    pub objective: f64,
    /// Duality gap where there is a dual; norm of the gradient otherwise.
    pub gap: f64,
    /// Kernel values computed.
    pub kernel_evaluations: u64,
    /// Why it ended.
    pub exit: Exit,
}
