//! Stopping criteria, and the report that every solver returns.

use serde::{Deserialize, Serialize};

/// Stopping criteria of a solver.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stop {
    /// Largest violation of the optimality conditions that counts as solved.
    pub tolerance: f64,
    /// Maximum number of steps; `None` is no limit.
    pub max_steps: Option<u64>,
}

/// Reason why a solver ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Exit {
    /// The optimality conditions hold to the tolerance.
    Converged,
    /// The step limit came first.
    Limit,
    /// The caller asked to stop ([`Watch::proceed`](crate::watch::Watch::proceed) returned false); the model is valid,
    /// but not optimal.
    Interrupted,
    /// No step improves the objective further in floating point.
    Stalled,
}

/// Summary of a solver run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Steps taken (pair updates, Newton steps …).
    pub steps: u64,
    /// Objective at the end, in the form stated on the page of each estimator (for the dual solver: the dual objective
    /// to be minimized, as LIBSVM prints it).
    pub objective: f64,
    /// Duality gap where there is a dual; norm of the gradient otherwise.
    pub gap: f64,
    /// Kernel values computed.
    pub kernel_evaluations: u64,
    /// Why the run ended.
    pub exit: Exit,
}
