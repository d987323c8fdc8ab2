//! Scores of predictions on arrival against two classifiers that know nothing but labels (the previous label, the majority
//! class so far), and of the recent past.

use evermargin::metrics::RecentAccuracy;
use serde::{Deserialize, Serialize};

/// Counts beside the prequential accuracy. Reference classifiers are scored on the rows on which the engine is scored.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamScores {
    /// Scored rows whose label is that of the previous row with a label.
    pub no_change_correct: u64,
    /// Scored rows whose label is the most frequent one of the rows before; of equally frequent ones, the first to appear.
    pub majority_correct: u64,
    /// The label of the last row that has one.
    pub(crate) previous: Option<String>,
    /// Recent predictions.
    pub recent: RecentAccuracy,
}

impl StreamScores {
    /// Refuses scores that no stream has.
    pub(crate) fn check(&self, scored: u64) -> Result<(), String> {
        self.recent.check().map_err(|what| format!("statistics: {what}"))?;
        for (name, count) in [("no_change", self.no_change_correct), ("majority", self.majority_correct)] {
            if count > scored {
                return Err(format!("statistics: {name} is right {count} times of {scored}"));
            }
        }
        if scored == 0 && self.recent != RecentAccuracy::default() {
            return Err("statistics: recent predictions of no rows".into());
        }
        Ok(())
    }
}
