//! Scores of predictions on arrival in comparison with two reference classifiers that use only labels (the previous label,
//! the majority class up to then), and scores of recent predictions.

use evermargin::metrics::RecentAccuracy;
use serde::{Deserialize, Serialize};

/// Counts in addition to the prequential accuracy. Reference classifiers are scored on the same rows as the engine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamScores {
    /// Scored rows whose label equals that of the previous labeled row.
    pub no_change_correct: u64,
    /// Scored rows whose label is the most frequent one of the earlier rows. Among equally frequent labels, the one that
    /// appeared first counts.
    pub majority_correct: u64,
    /// Label of the last labeled row.
    pub(crate) previous: Option<String>,
    /// Accuracy of recent predictions.
    pub recent: RecentAccuracy,
}

impl StreamScores {
    /// Returns an error for scores that cannot result from a stream with so many scored rows.
    pub(crate) fn check(&self, scored: u64) -> Result<(), String> {
        self.recent.check().map_err(|what| format!("statistics: {what}"))?;
        for (name, count) in [("no_change", self.no_change_correct), ("majority", self.majority_correct)] {
            if count > scored {
                return Err(format!("statistics: {name} is correct {count} times of {scored}"));
            }
        }
        if scored == 0 && self.recent != RecentAccuracy::default() {
            return Err("statistics: recent predictions without scored rows".into());
        }
        Ok(())
    }
}
