//! What people say: answers, corrections, labels taken back, pairs.

use super::state::StreamState;
use super::{Effects, Engine, LabeledSample, QueryReason};
use crate::data::Row;
use crate::solver::Watch;

impl Engine {
    pub(super) fn answer(&mut self, sample: u64, label: &str, effects: &mut Effects, watch: &dyn Watch) {
        let Some(mut state) = self.state.take() else { return };
        self.store_answer(&mut state, sample, label, effects, watch);
        self.state = Some(state);
        self.ask(effects, watch);
    }

    pub(super) fn store_answer(
        &mut self,
        state: &mut StreamState,
        sample: u64,
        label: &str,
        effects: &mut Effects,
        watch: &dyn Watch,
    ) {
        let class = self.class(state, label, effects);
        let Some(at) = state.pending.find(sample) else { return };
        let (asked, row) = state.pending.remove(at);
        if asked.why == QueryReason::RandomCheck {
            effects.drift = self.record_outcome(asked.predictions, class).or(effects.drift);
        }
        if let (Some(trial), Some(bandit)) = (asked.trial, &mut self.query_state.bandit) {
            bandit.record(trial.arm.into(), trial.class != class);
        }
        self.remember_label(state, sample, row.view().row(0), class, (Some(asked.why), None), watch);
        self.propagate_constraints(state, sample, watch);
        self.thin(state, watch);
    }

    /// Remembers a label and learns it.
    pub(super) fn remember_label(
        &mut self,
        state: &mut StreamState,
        sample: u64,
        row: Row<'_>,
        class: u32,
        (why, follows): (Option<QueryReason>, Option<u64>),
        watch: &dyn Watch,
    ) {
        self.query_state.curve.add_label();
        state.memory.push(row, LabeledSample { sample, class, batch: self.batches, why, follows });
        if let Some(row) = state.current.row_of(sample) {
            state.current.truth[row] = Some(class);
        }
        self.learn_recent(state, 1, watch);
    }

    pub(super) fn skip(&mut self, sample: u64, effects: &mut Effects, watch: &dyn Watch) {
        if let Some(state) = &mut self.state
            && let Some(at) = state.pending.find(sample)
        {
            state.pending.remove(at);
        }
        self.ask(effects, watch);
    }

    pub(super) fn correct(&mut self, sample: u64, label: &str, effects: &mut Effects, watch: &dyn Watch) {
        let Some(mut state) = self.state.take() else { return };
        let class = self.class(&mut state, label, effects);
        if let Some(at) = state.memory.find(sample) {
            state.memory.relabel(at, class);
        }
        if let Some(row) = state.current.row_of(sample) {
            state.current.truth[row] = Some(class);
        }
        state.withdraw_implied_labels(sample);
        self.rebuild_classifier(&mut state, watch);
        self.propagate_constraints(&mut state, sample, watch);
        self.thin(&mut state, watch);
        self.state = Some(state);
        self.publish(effects);
    }

    pub(super) fn withdraw(&mut self, sample: u64, effects: &mut Effects, watch: &dyn Watch) {
        let Some(mut state) = self.state.take() else { return };
        if let Some(at) = state.memory.find(sample) {
            state.memory.remove(at);
        }
        state.withdraw_implied_labels(sample);
        state.constraints.forget(sample);
        if let Some(row) = state.current.row_of(sample) {
            state.current.truth[row] = None;
        }
        self.rebuild_classifier(&mut state, watch);
        self.state = Some(state);
        self.publish(effects);
    }

    pub(super) fn relate(&mut self, a: u64, b: u64, same: bool, effects: &mut Effects, watch: &dyn Watch) {
        let Some(mut state) = self.state.take() else { return };
        state.constraints.add(a, b, same);
        for sample in [a, b] {
            if state.memory.find(sample).is_some() {
                self.propagate_constraints(&mut state, sample, watch);
            }
        }
        self.thin(&mut state, watch);
        self.state = Some(state);
        self.ask(effects, watch);
    }

    /// Labels that follow from that of a sample through what was said of pairs. Of two classes "different" says which.
    pub(super) fn propagate_constraints(&mut self, state: &mut StreamState, sample: u64, watch: &dyn Watch) {
        let mut waiting = vec![sample];
        while let Some(known) = waiting.pop() {
            let Some(class) = state.memory.find(known).map(|at| state.memory.labeled()[at].class) else {
                continue;
            };
            for (other, same) in state.constraints.of(known) {
                let implied = match (same, self.classes.len()) {
                    (true, _) => class,
                    (false, 2) => 1 - class,
                    (false, _) => continue,
                };
                if state.memory.find(other).is_some() {
                    continue;
                }
                let Some(row) = state.sample(other) else { continue };
                if let Some(at) = state.pending.find(other) {
                    state.pending.remove(at);
                }
                self.remember_label(state, other, row.view().row(0), implied, (None, Some(known)), watch);
                waiting.push(other);
            }
        }
    }
}
