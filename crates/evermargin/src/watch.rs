//! Progress of a long computation, and the caller's permission to continue.

/// Progress of a loop.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// Number of steps so far.
    pub steps: u64,
    /// Current violation of the optimality conditions.
    pub violation: f64,
    /// Violation at which the loop ends.
    pub tolerance: f64,
}

/// Receives progress and decides whether to continue. The core has no clock and no signals; time limits, progress bars
/// and Ctrl-C are handled by the caller.
pub trait Watch: Sync {
    /// Called between pieces of work; `false` ends the loop, which reports that it was interrupted.
    fn proceed(&self, progress: &Progress) -> bool;

    /// Seconds by the caller's clock, if it has one.
    fn seconds(&self) -> Option<f64> {
        None
    }

    /// Seconds by the same clock at which [`proceed`](Self::proceed) will return `false`, if there is a time limit.
    fn limit(&self) -> Option<f64> {
        None
    }

    /// Called when learning is done and only additional results are still computed.
    fn learned(&self) {}
}

/// Never ends the work.
impl Watch for () {
    fn proceed(&self, _: &Progress) -> bool {
        true
    }
}
