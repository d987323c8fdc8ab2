//! `svc`: the C-support-vector machine with any kernel, on the dual solver.

use crate::kernel::Kernel;
use serde::{Deserialize, Serialize};

/// Parameters of [`svc`](self).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SvcParams {
    /// The kernel.
    pub kernel: Kernel,
    /// Cost of a margin violation, times the weight of the example.
    pub c: f64,
    /// Largest violation of the optimality conditions (LIBSVM's epsilon).
    pub tolerance: f64,
    /// Most pair steps; 0 means as many as it takes.
    pub max_steps: u64,
    /// Bytes for cached kernel rows.
    pub cache_bytes: usize,
}

impl Default for SvcParams {
    fn default() -> Self {
        Self { kernel: Kernel::Rbf { gamma: 1.0 }, c: 1.0, tolerance: 1e-3, max_steps: 0, cache_bytes: 1 << 30 }
    }
}
