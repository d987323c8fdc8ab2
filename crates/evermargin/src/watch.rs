//! Progress of a long computation, and the caller's permission to continue.

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

    /// Called when learning is done and what follows only tells about it.
    fn learned(&self) {}
}

/// Never stops.
impl Watch for () {
    fn proceed(&self, _: &Progress) -> bool {
        true
    }
}
