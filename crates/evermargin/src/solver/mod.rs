//! The loops. Each returns a [`Report`].

pub mod coordinate_descent;
pub(crate) mod kernel_cg;
pub mod lars;
pub mod lazy_greedy;
pub(crate) mod log_barrier;
pub mod matching_pursuit;
pub mod newton_cg;
pub mod smo;
mod smo_online;

use serde::{Deserialize, Serialize};

/// When a loop ends by itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stop {
    /// Largest violation of the optimality conditions that counts as solved.
    pub tolerance: f64,
    /// Most steps.
    pub max_steps: u64,
}

/// Why a loop ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Exit {
    /// The optimality conditions hold to the tolerance.
    Converged,
    /// The step limit came first.
    Limit,
    /// The caller said stop ([`Watch::proceed`] returned false); the model is valid, only not optimal.
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

/// Where a loop stands.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// Steps so far.
    pub steps: u64,
    /// Violation of the optimality conditions now.
    pub violation: f64,
    /// Violation at which it ends.
    pub tolerance: f64,
}

/// Progress out, permission to go on in. The core has no clock and no signals; time limits, bars and Ctrl-C
/// live with the caller.
pub trait Watch: Sync {
    /// Called between pieces of work; `false` ends the loop with [`Exit::Interrupted`].
    fn proceed(&self, progress: &Progress) -> bool;

    /// Called when learning is done and what follows only tells about it.
    fn learned(&self) {}
}

/// Never stops.
impl Watch for () {
    fn proceed(&self, _: &Progress) -> bool {
        true
    }
}
