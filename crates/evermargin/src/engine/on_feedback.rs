//! What people say: answers, corrections, labels taken back, pairs.

use super::state::StreamState;
use super::{Effects, Engine, LabeledSample, QueryReason};
use crate::data::Row;
use crate::solver::Watch;

impl Engine {
    pub(super) fn answer(&mut self, sample: u64, label: &str, effects: &mut Effects, watch: &dyn Watch) {
        let Some(mut body) = self.body.take() else { return };
        self.store_answer(&mut body, sample, label, effects, watch);
        self.body = Some(body);
        self.ask(effects, watch);
    }

    pub(super) fn store_answer(
        &mut self,
        body: &mut StreamState,
        sample: u64,
        label: &str,
        effects: &mut Effects,
        watch: &dyn Watch,
    ) {
        let class = self.class(body, label, effects);
        let Some(at) = body.open.find(sample) else { return };
        let (asked, row) = body.open.remove(at);
        if asked.why == QueryReason::RandomCheck {
            effects.drift = self.record_outcome(asked.predictions, class).or(effects.drift);
        }
        self.remember_label(body, sample, row.view().row(0), class, (Some(asked.why), None), watch);
        self.propagate_constraints(body, sample, watch);
        self.thin(body, watch);
    }

    /// Remembers a label and learns it.
    pub(super) fn remember_label(
        &mut self,
        body: &mut StreamState,
        sample: u64,
        row: Row<'_>,
        class: u32,
        (why, follows): (Option<QueryReason>, Option<u64>),
        watch: &dyn Watch,
    ) {
        body.memory.push(row, LabeledSample { sample, class, batch: self.batches, why, follows });
        if let Some(row) = body.current.row_of(sample) {
            body.current.truth[row] = Some(class);
        }
        self.learn_recent(body, 1, watch);
    }

    pub(super) fn skip(&mut self, sample: u64, effects: &mut Effects, watch: &dyn Watch) {
        if let Some(body) = &mut self.body
            && let Some(at) = body.open.find(sample)
        {
            body.open.remove(at);
        }
        self.ask(effects, watch);
    }

    pub(super) fn correct(&mut self, sample: u64, label: &str, effects: &mut Effects, watch: &dyn Watch) {
        let Some(mut body) = self.body.take() else { return };
        let class = self.class(&mut body, label, effects);
        if let Some(at) = body.memory.find(sample) {
            body.memory.relabel(at, class);
        }
        if let Some(row) = body.current.row_of(sample) {
            body.current.truth[row] = Some(class);
        }
        body.withdraw_implied_labels(sample);
        self.rebuild_classifier(&mut body, watch);
        self.propagate_constraints(&mut body, sample, watch);
        self.thin(&mut body, watch);
        self.body = Some(body);
        self.publish(effects);
    }

    pub(super) fn withdraw(&mut self, sample: u64, effects: &mut Effects, watch: &dyn Watch) {
        let Some(mut body) = self.body.take() else { return };
        if let Some(at) = body.memory.find(sample) {
            body.memory.remove(at);
        }
        body.withdraw_implied_labels(sample);
        body.relations.forget(sample);
        if let Some(row) = body.current.row_of(sample) {
            body.current.truth[row] = None;
        }
        self.rebuild_classifier(&mut body, watch);
        self.body = Some(body);
        self.publish(effects);
    }

    pub(super) fn relate(&mut self, a: u64, b: u64, same: bool, effects: &mut Effects, watch: &dyn Watch) {
        let Some(mut body) = self.body.take() else { return };
        body.relations.add(a, b, same);
        for sample in [a, b] {
            if body.memory.find(sample).is_some() {
                self.propagate_constraints(&mut body, sample, watch);
            }
        }
        self.thin(&mut body, watch);
        self.body = Some(body);
        self.ask(effects, watch);
    }

    /// Labels that follow from that of a sample through what was said of pairs. Of two classes "different" says which.
    pub(super) fn propagate_constraints(&mut self, body: &mut StreamState, sample: u64, watch: &dyn Watch) {
        let mut waiting = vec![sample];
        while let Some(known) = waiting.pop() {
            let Some(class) = body.memory.find(known).map(|at| body.memory.labeled()[at].class) else {
                continue;
            };
            for (other, same) in body.relations.of(known) {
                let implied = match (same, self.classes.len()) {
                    (true, _) => class,
                    (false, 2) => 1 - class,
                    (false, _) => continue,
                };
                if body.memory.find(other).is_some() {
                    continue;
                }
                let Some(row) = body.sample(other) else { continue };
                if let Some(at) = body.open.find(other) {
                    body.open.remove(at);
                }
                self.remember_label(body, other, row.view().row(0), implied, (None, Some(known)), watch);
                waiting.push(other);
            }
        }
    }
}
