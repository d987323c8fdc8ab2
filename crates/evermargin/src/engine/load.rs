//! Checks of a loaded state. Deserializing an [`Engine`] runs them, so every deserialized engine is usable, whatever
//! the file contains.

use super::state::{CurrentBatch, PendingQuery, RowPrediction, StreamState};
use super::transduction::Transduction;
use super::{Engine, MAX_COUNT};
use crate::error::{Error, Result};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

impl Serialize for Engine {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Engine {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let engine = Self::deserialize(deserializer)?;
        engine.check().map_err(D::Error::custom)?;
        Ok(engine)
    }
}

fn wrong(what: &str) -> Error {
    Error::State(what.into())
}

impl Engine {
    fn check(&self) -> Result<()> {
        self.params.check()?;
        self.classes.check(self.params.max_classes)?;
        self.metrics.check(self.params.drift)?;
        self.budget_usage.check()?;
        self.growth.check()?;
        self.query_state.check(self.params.query_strategy)?;
        let counts = [self.rows, self.batches, self.version, self.draws, self.events];
        let rejected = [self.rejected_rows, self.rejected_labels, self.outside as u64, self.misses.into()];
        let counted = counts.iter().chain(&rejected).chain(&self.unchosen).all(|n| *n <= MAX_COUNT)
            && self.misses <= u32::MAX / 2
            && self.rejected_rows <= self.rows
            && self.rejected_labels <= self.rows
            && self.unchosen.iter().try_fold(0u64, |sum, n| sum.checked_add(*n)).is_some()
            && (0.0..=1.0).contains(&self.last_summary.cost);
        if !counted {
            return Err(wrong("its counts of rows, batches or events are out of range"));
        }
        self.label_sources.check(self.classes.len())?;
        if self.unchosen.len() != self.classes.len() {
            return Err(wrong("its classes do not match their label counts"));
        }
        match &self.state {
            Some(state) => self.check_state(state),
            None if self.classes.is_empty() => Ok(()),
            None => Err(wrong("it has classes but no rows")),
        }
    }

    fn check_state(&self, state: &StreamState) -> Result<()> {
        let (params, classes) = (&self.params, self.classes.len());
        state.feature_space.check()?;
        state.memory.check(&state.feature_space, classes, self.rows, self.batches)?;
        state.constraints.check(self.rows, classes)?;
        self.check_current(state, &state.current)?;
        self.check_pending(state)?;
        match (&state.transduction, &params.transduction) {
            (Some(t), Some(p)) => Transduction::check(t, &state.feature_space, p, classes, params.max_rows)?,
            (None, None) => {}
            _ => return Err(wrong("its transduction does not match its parameters")),
        }
        if state.memory.len() > params.max_labels {
            return Err(wrong("it has more labels than its parameters allow"));
        }
        if state.classifier.is_none() && state.inferred.is_some() {
            return Err(wrong("it has a classifier with inferred labels but none with true labels"));
        }
        let mut both = state.classifier.iter().chain(&state.inferred);
        both.try_for_each(|c| c.check(classes, &state.feature_space, params))
    }

    fn check_current(&self, state: &StreamState, current: &CurrentBatch) -> Result<()> {
        state.feature_space.check_rows(&current.x)?;
        let rows = current.x.rows();
        let fits = [current.truth.len(), current.asked.len(), current.predictions.len()] == [rows; 3]
            && current.rows <= self.params.max_rows
            && current.novel.len() <= rows
            && current.novel.iter().all(|row| (*row as usize) < rows)
            && rows + current.skipped.len() == current.rows
            && current.skipped.is_sorted_by(|a, b| a < b)
            && current.skipped.last().is_none_or(|&s| (s as usize) < current.rows)
            && current.base.checked_add(current.rows as u64) == Some(self.rows)
            && current.predictions.iter().all(|s| self.has_classes_of(s))
            && current.truth.iter().flatten().all(|c| (*c as usize) < self.classes.len())
            && current.on_arrival.as_ref().is_none_or(|labels| {
                labels.len() == rows
                    && labels.iter().all(|l| {
                        l.class.is_none_or(|c| (c as usize) < self.classes.len())
                            && (0.0..=1.0 + 1e-9).contains(&l.confidence)
                    })
            });
        if fits {
            Ok(())
        } else {
            Err(wrong("its batch does not match the labels and predictions of the batch"))
        }
    }

    fn check_pending(&self, state: &StreamState) -> Result<()> {
        let lists = [(&state.pending, self.params.max_open), (&state.awaited, self.params.max_rows)];
        for (waiting, max) in lists {
            state.feature_space.check_rows(&waiting.rows)?;
            let fits = waiting.rows.rows() == waiting.of.len()
                && waiting.of.len() <= max
                && waiting.of.iter().all(|q| q.sample < self.rows && self.has_classes_of(&q.predictions))
                && waiting.of.iter().filter_map(|q| q.trial).all(|t| (t.class as usize) < self.classes.len())
                && waiting
                    .of
                    .iter()
                    .all(|q| (q.row as usize) < self.params.max_rows && q.compared <= 1 << 24)
                && waiting.of.iter().all(|q| self.allows(q));
            if !fits {
                return Err(wrong("its pending queries do not match their samples"));
            }
        }
        Ok(())
    }

    /// Whether a query has no reference, or compares with another sample of an existing class.
    fn allows(&self, query: &PendingQuery) -> bool {
        query.reference.is_none_or(|r| {
            r.sample < self.rows && r.sample != query.sample && (r.class as usize) < self.classes.len()
        })
    }

    fn has_classes_of(&self, predictions: &RowPrediction) -> bool {
        let classes = predictions.by.iter().chain([&predictions.given]);
        (0.0..=1.0).contains(&predictions.confidence)
            && classes.flatten().all(|c| (*c as usize) < self.classes.len())
    }
}
