//! Division of a time limit between the candidates and the classifier for new rows.

use crate::watch::{Progress, Watch};
use std::sync::atomic::{AtomicBool, Ordering};

/// Share of the time limit after which no further candidate is fitted; the rest is for the classifier.
const CANDIDATE_SHARE: f64 = 0.6;

/// Watch that ends the work on candidates early, so that time is left for the classifier.
pub(super) struct CandidateBudget<'a> {
    watch: &'a dyn Watch,
    until: Option<f64>,
    ended: AtomicBool,
}

impl<'a> CandidateBudget<'a> {
    pub(super) fn new(watch: &'a dyn Watch) -> Self {
        Self { watch, until: watch.limit().map(|s| CANDIDATE_SHARE * s), ended: AtomicBool::new(false) }
    }

    /// Whether the work was ended.
    pub(super) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }
}

impl Watch for CandidateBudget<'_> {
    fn proceed(&self, progress: &Progress) -> bool {
        let late = self.until.zip(self.seconds()).is_some_and(|(until, now)| now >= until);
        if late || !self.watch.proceed(progress) {
            self.ended.store(true, Ordering::Relaxed);
        }
        !self.has_ended()
    }

    fn seconds(&self) -> Option<f64> {
        self.watch.seconds()
    }
}

/// Watch that never ends a cheap piece of work, whatever the limit.
pub(super) struct Completing<'a>(pub(super) &'a dyn Watch);

impl Watch for Completing<'_> {
    fn proceed(&self, progress: &Progress) -> bool {
        self.0.proceed(progress);
        true
    }

    fn seconds(&self) -> Option<f64> {
        self.0.seconds()
    }
}
