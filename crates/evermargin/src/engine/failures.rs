//! Failed steps of a commit. A commit cannot fail (`plan.rs`), so a simpler step replaces a failed one. There is one
//! note per kind of step in the life of an engine.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Step that can fail on usable rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Step {
    Prediction,
    QueryScores,
    Learning,
    Source,
    Summary,
}

impl Step {
    /// Description of the failure and of the replacement.
    fn text(self) -> &'static str {
        match self {
            Self::Prediction => {
                "the classifier could not predict the rows of a batch; their predictions count as undecided"
            }
            Self::QueryScores => {
                "the classifier could not score rows for queries; they count as on the boundary"
            }
            Self::Learning => "the classifier could not learn some labels; they stay in memory",
            Self::Source => {
                "a label source could not label the rows of a batch; the other sources label them"
            }
            Self::Summary => "no exemplars could be chosen; the newest rows are kept instead",
        }
    }
}

/// Failures in the current event, and the steps for which there was a note in earlier events.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Failures {
    noted: BTreeSet<Step>,
    #[serde(skip)]
    pending: Mutex<BTreeMap<Step, String>>,
}

impl Failures {
    /// Value of a step; `None` if it failed or was interrupted. A failure is recorded, an interruption is not.
    pub fn ok<T>(&self, step: Step, done: Result<T>) -> Option<T> {
        match done {
            Ok(value) => Some(value),
            Err(Error::Interrupted) => None,
            Err(error) => {
                if !self.noted.contains(&step) {
                    self.pending().entry(step).or_insert_with(|| error.to_string());
                }
                None
            }
        }
    }

    /// Returns one note per step that failed for the first time.
    pub fn take_notes(&mut self) -> Vec<String> {
        let failed = std::mem::take(&mut *self.pending());
        self.noted.extend(failed.keys());
        let note = |(step, error): (Step, String)| {
            format!("{} ({error}); further failures of this kind are not noted", step.text())
        };
        failed.into_iter().map(note).collect()
    }

    /// Whether there was no note so far.
    pub fn is_empty(&self) -> bool {
        self.noted.is_empty()
    }

    fn pending(&self) -> MutexGuard<'_, BTreeMap<Step, String>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clone for Failures {
    fn clone(&self) -> Self {
        Self { noted: self.noted.clone(), pending: Mutex::default() }
    }
}

impl PartialEq for Failures {
    fn eq(&self, other: &Self) -> bool {
        self.noted == other.noted
    }
}

#[cfg(test)]
mod tests {
    use super::{Error, Failures, Step};

    #[test]
    fn each_kind_of_failure_is_noted_once() {
        let steps = [Step::Prediction, Step::QueryScores, Step::Learning, Step::Source, Step::Summary];
        let mut failures = Failures::default();
        for round in 0..3 {
            for step in steps {
                assert_eq!(failures.ok(step, Ok(1)), Some(1));
                assert_eq!(failures.ok::<u32>(step, Err(Error::Interrupted)), None);
                for _ in 0..10 {
                    assert_eq!(failures.ok::<u32>(step, Err(Error::State("too large".into()))), None);
                }
            }
            let notes = failures.take_notes();
            assert_eq!(notes.len(), if round == 0 { steps.len() } else { 0 });
            assert!(notes.iter().all(|note| note.contains("too large")), "{notes:?}");
            failures = rmp_serde::from_slice(&rmp_serde::to_vec_named(&failures).unwrap()).unwrap();
        }
    }
}
