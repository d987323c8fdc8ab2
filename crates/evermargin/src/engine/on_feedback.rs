//! Feedback from annotators: answers, skipped queries, corrections and withdrawn labels.

use super::params::PairwiseQueries;
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
        self.infer_from_pairs(state, &[sample], effects, watch);
        self.replace_answered(state, effects);
        self.evict_labels(state, watch);
    }

    /// Stores a label and learns it.
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
        let Some(mut state) = self.state.take() else { return };
        if let Some(at) = state.pending.find(sample) {
            let asks_for_class = state.pending.of[at].reference.is_none();
            let becomes_comparison = asks_for_class
                && self.params.pairwise_queries == PairwiseQueries::AfterSkip
                && self.are_new_classes_rare(&state);
            if !becomes_comparison || !self.make_comparison(&mut state, at, effects) {
                state.pending.remove(at);
            }
        }
        self.state = Some(state);
        self.ask(effects, watch);
    }

    pub(super) fn correct(&mut self, sample: u64, label: &str, effects: &mut Effects, watch: &dyn Watch) {
        let Some(mut state) = self.state.take() else { return };
        let class = self.class(&mut state, label, effects);
        if let Some(at) = state.memory.find(sample) {
            state.memory.relabel(at, class, None);
        }
        if let Some(row) = state.current.row_of(sample) {
            state.current.truth[row] = Some(class);
        }
        state.current.has_new_labels = true;
        self.replace_labels(&mut state, watch);
        self.infer_from_pairs(&mut state, &[sample], effects, watch);
        self.replace_answered(&mut state, effects);
        self.evict_labels(&mut state, watch);
        self.state = Some(state);
        self.publish(effects);
    }

    pub(super) fn withdraw(&mut self, sample: u64, effects: &mut Effects, watch: &dyn Watch) {
        let Some(mut state) = self.state.take() else { return };
        if let Some(at) = state.memory.find(sample) {
            state.memory.remove(at);
        }
        state.current.has_new_labels = true;
        if let Some(row) = state.current.row_of(sample) {
            state.current.truth[row] = None;
        }
        let partners: Vec<u64> = state.constraints.partners(sample).into_iter().collect();
        state.constraints.remove(sample);
        self.replace_labels(&mut state, watch);
        self.infer_from_pairs(&mut state, &partners, effects, watch);
        self.drop_reference(&mut state, sample, effects);
        self.evict_labels(&mut state, watch);
        self.state = Some(state);
        self.publish(effects);
    }
}
