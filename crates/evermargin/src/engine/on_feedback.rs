//! What people say: answers, corrections, labels taken back, pairs.

use super::state::StreamState;
use super::{Effects, Engine, LabeledSample, QueryReason};
use crate::data::Row;
use crate::error::Result;

impl Engine {
    pub(super) fn answer(&mut self, sample: u64, label: &str, effects: &mut Effects) -> Result<()> {
        let Some(mut body) = self.body.take() else { return Ok(()) };
        let done = self.store_answer(&mut body, sample, label, effects);
        self.body = Some(body);
        done?;
        self.ask(effects)
    }

    pub(super) fn store_answer(
        &mut self,
        body: &mut StreamState,
        sample: u64,
        label: &str,
        effects: &mut Effects,
    ) -> Result<()> {
        let class = self.class(body, label, effects);
        let Some(at) = body.open.find(sample) else { return Ok(()) };
        let (asked, row) = body.open.remove(at);
        if asked.why == QueryReason::RandomCheck {
            effects.drift = self.record_outcome(asked.predictions, class).or(effects.drift);
        }
        self.remember_label(body, sample, row.view().row(0), class, Some(asked.why), None)?;
        self.propagate_constraints(body, sample)?;
        self.thin(body)
    }

    /// Remembers a label and learns it.
    pub(super) fn remember_label(
        &mut self,
        body: &mut StreamState,
        sample: u64,
        row: Row<'_>,
        class: u32,
        why: Option<QueryReason>,
        follows: Option<u64>,
    ) -> Result<()> {
        body.memory.push(row, LabeledSample { sample, class, batch: self.batches, why, follows });
        if let Some(row) = body.current.row_of(sample) {
            body.current.truth[row] = Some(class);
        }
        self.learn_recent(body, 1)
    }

    pub(super) fn skip(&mut self, sample: u64, effects: &mut Effects) -> Result<()> {
        if let Some(body) = &mut self.body
            && let Some(at) = body.open.find(sample)
        {
            body.open.remove(at);
        }
        self.ask(effects)
    }

    pub(super) fn correct(&mut self, sample: u64, label: &str, effects: &mut Effects) -> Result<()> {
        let Some(mut body) = self.body.take() else { return Ok(()) };
        let class = self.class(&mut body, label, effects);
        if let Some(at) = body.memory.find(sample) {
            body.memory.relabel(at, class);
        }
        if let Some(row) = body.current.row_of(sample) {
            body.current.truth[row] = Some(class);
        }
        body.withdraw_implied_labels(sample);
        let done =
            self.rebuild_classifier(&mut body).and_then(|()| self.propagate_constraints(&mut body, sample));
        self.body = Some(body);
        done?;
        self.publish(effects);
        Ok(())
    }

    pub(super) fn withdraw(&mut self, sample: u64, effects: &mut Effects) -> Result<()> {
        let Some(mut body) = self.body.take() else { return Ok(()) };
        if let Some(at) = body.memory.find(sample) {
            body.memory.remove(at);
        }
        body.withdraw_implied_labels(sample);
        body.relations.forget(sample);
        if let Some(row) = body.current.row_of(sample) {
            body.current.truth[row] = None;
        }
        let done = self.rebuild_classifier(&mut body);
        self.body = Some(body);
        done?;
        self.publish(effects);
        Ok(())
    }

    pub(super) fn relate(&mut self, a: u64, b: u64, same: bool, effects: &mut Effects) -> Result<()> {
        let Some(mut body) = self.body.take() else { return Ok(()) };
        body.relations.add(a, b, same);
        let mut done = Ok(());
        for sample in [a, b] {
            if done.is_ok() && body.memory.find(sample).is_some() {
                done = self.propagate_constraints(&mut body, sample);
            }
        }
        self.body = Some(body);
        done?;
        self.ask(effects)
    }

    /// Labels that follow from that of a sample through what was said of pairs. Of two classes "different" says which.
    pub(super) fn propagate_constraints(&mut self, body: &mut StreamState, sample: u64) -> Result<()> {
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
                self.remember_label(body, other, row.view().row(0), implied, None, Some(known))?;
                waiting.push(other);
            }
        }
        Ok(())
    }
}
