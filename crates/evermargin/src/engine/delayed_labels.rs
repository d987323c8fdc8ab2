//! Delayed labels: labels that are announced to arrive later than their rows.
//!
//! Problem: in practice, and in evaluation with delayed labels, the class of a row becomes known some batches after its
//! arrival. The row is kept with the prediction made on arrival. When the label arrives, it is compared with that
//! prediction and learned like a label that came with its row.
//!
//! Invariant: at most `max_rows` rows wait; beyond that the oldest are dropped, and their labels are ignored.

use super::state::{PendingQuery, StreamState};
use super::{Effects, Engine, LabeledSample, QueryReason};
use crate::error::{Error, Result};
use crate::solver::Watch;

impl Engine {
    /// Returns an error for labels with unusable class names or too many classes.
    pub(super) fn validate_labels(&self, labels: &[(u64, String)]) -> Result<()> {
        let mut classes = self.classes.clone();
        for (_, name) in labels {
            self.validate_class_name(name)?;
            let _ = classes.place(name);
        }
        if classes.len() > self.params.max_classes { Err(self.too_many(classes.len())) } else { Ok(()) }
    }

    /// Returns an error for rows that the latest batch does not have.
    pub(super) fn validate_awaited(&self, rows: &[usize]) -> Result<()> {
        let count = self.state.as_ref().map_or(0, |state| state.current.rows);
        match rows.iter().find(|row| **row >= count) {
            Some(row) => Err(Error::Data(format!(
                "row {row} does not exist: the last batch has {count} rows, numbered from 0"
            ))),
            None => Ok(()),
        }
    }

    /// Keeps rows of the latest batch until their labels arrive. Rejected and labeled rows are skipped.
    pub(super) fn await_labels(&mut self, rows: &[usize]) {
        let Some(state) = &mut self.state else { return };
        for &number in rows {
            let sample = state.current.base + number as u64;
            let Some(row) = state.current.row_of(sample) else { continue };
            if state.awaited.find(sample).is_some() || state.current.truth[row].is_some() {
                continue;
            }
            let predictions = state.current.predictions[row];
            state.awaited.rows.push(state.current.x.view().row(row));
            state.awaited.of.push(PendingQuery {
                sample,
                row: number as u32,
                why: QueryReason::RandomCheck,
                reference: None,
                compared: 0,
                predictions,
                trial: None,
                in_round: false,
            });
        }
        state.awaited.cap(self.params.max_rows);
    }

    /// Learns delayed labels of rows that were kept. Labels of other rows are ignored.
    pub(super) fn late_labels(&mut self, labels: &[(u64, String)], effects: &mut Effects, watch: &dyn Watch) {
        let Some(mut state) = self.state.take() else { return };
        self.learn_late(&mut state, labels, effects, watch);
        self.state = Some(state);
    }

    fn learn_late(
        &mut self,
        state: &mut StreamState,
        labels: &[(u64, String)],
        effects: &mut Effects,
        watch: &dyn Watch,
    ) {
        let mut found: Vec<(usize, u64, &str)> = Vec::new();
        for (sample, name) in labels {
            let is_new =
                state.memory.find(*sample).is_none() && found.iter().all(|(_, other, _)| other != sample);
            let Some(at) = state.awaited.find(*sample).filter(|_| is_new) else { continue };
            let class = self.class(state, name, effects);
            let predictions = state.awaited.of[at].predictions;
            effects.drift = self.record_outcome(predictions, class).or(effects.drift);
            found.push((at, *sample, name));
        }
        // A new class may have changed the numbers of the others.
        for &(at, sample, name) in &found {
            let Some(class) = self.classes.find(name) else { continue };
            let labeled = LabeledSample { sample, class, batch: self.batches, why: None, follows: None };
            state.memory.push(state.awaited.rows.view().row(at), labeled);
            if let Some(row) = state.current.row_of(sample) {
                state.current.truth[row] = Some(class);
            }
            if let Some(at) = state.pending.find(sample) {
                state.pending.remove(at);
            }
        }
        let arrived: Vec<usize> = found.iter().map(|(at, ..)| *at).collect();
        let keep: Vec<usize> = (0..state.awaited.of.len()).filter(|at| !arrived.contains(at)).collect();
        state.awaited.keep(&keep);
        self.learn_recent(state, found.len(), watch);
        let samples: Vec<u64> = found.iter().map(|(_, sample, _)| *sample).collect();
        self.infer_from_pairs(state, &samples, effects, watch);
        self.evict_labels(state, watch);
    }
}
