//! A batch is closed: the classifier is solved, the past summarized, what is old forgotten.

use super::state::{RowPrediction, StreamState};
use super::transduction::TransductiveLabel;
use super::{Effects, Engine, Forgetting, InferredLabel};
use crate::solver::Watch;

impl Engine {
    /// The batch is done with.
    pub(super) fn close(&mut self, effects: &mut Effects, watch: &dyn Watch) {
        let Some(mut body) = self.body.take() else { return };
        if !body.current.closed {
            self.finish_batch(&mut body, effects, watch);
        }
        self.body = Some(body);
    }

    pub(super) fn finish_batch(&mut self, body: &mut StreamState, effects: &mut Effects, watch: &dyn Watch) {
        body.current.closed = true;
        let drifted = std::mem::take(&mut self.drifted);
        self.forget(body, drifted, watch);
        if body.current.has_new_labels
            && let Some(machine) = &mut body.inductive
        {
            machine.review(&body.memory, self.batches, &self.classes, &self.params, watch);
        }
        let (predictions, mut labels, _) = self.label(body, &body.current.x, watch);
        self.infer(body, &predictions, &labels, watch);
        self.absorb(body, &predictions, watch);
        for (label, truth) in labels.iter_mut().zip(&body.current.truth) {
            label.class = truth.or(label.class);
        }
        effects.labels = body.current.with_skipped(labels);
        if body.current.has_new_labels && body.inductive.is_some() {
            self.version += 1;
            effects.published = Some(self.version);
        }
    }

    /// Feeds labels inferred with confidence to the classifier.
    pub(super) fn infer(
        &self,
        body: &mut StreamState,
        predictions: &[RowPrediction],
        labels: &[InferredLabel],
        watch: &dyn Watch,
    ) {
        let Some(machine) = body.inductive.as_mut().filter(|_| self.params.c_inferred > 0.0) else {
            return;
        };
        let sure = |i: &usize| {
            let (s, l) = (&predictions[*i], &labels[*i]);
            let agree = s.model == s.transduction || s.transduction.is_none() || s.model.is_none();
            body.current.truth[*i].is_none() && agree && l.confidence >= self.params.confidence
        };
        let chosen: Vec<(usize, u32)> =
            (0..predictions.len()).filter(sure).filter_map(|i| labels[i].class.map(|c| (i, c))).collect();
        if !chosen.is_empty() {
            let sample = |row: usize| body.current.sample_of(row);
            machine.infer(body.current.x.view(), &chosen, sample, &self.params, watch);
        }
    }

    /// Summarizes the past; the samples of the batch without a label are the last batch now.
    pub(super) fn absorb(
        &mut self,
        body: &mut StreamState,
        predictions: &[RowPrediction],
        watch: &dyn Watch,
    ) {
        let Some(mut t) = body.transduction.take() else { return };
        let class: Vec<u32> = body.memory.labeled().iter().map(|t| t.class).collect();
        let shares = self.shares(predictions);
        let open: Vec<usize> =
            (0..body.current.x.rows()).filter(|&i| body.current.truth[i].is_none()).collect();
        // without labels by transduction there is nothing to compare with, and the summary is as large as it may be
        let given: Option<Vec<TransductiveLabel>> = open
            .iter()
            .map(|&i| predictions[i].transduction.map(|class| TransductiveLabel { class, confidence: 0.0 }))
            .collect();
        let batch = body.current.x.view().select(&open);
        let known = self.known(body, &class, &shares);
        self.absorbed = t.absorb_or_keep_newest(known, batch, given.as_deref(), self.params.seed, watch);
        body.transduction = Some(t);
    }

    /// Drops labels that are to be forgotten.
    pub(super) fn forget(&mut self, body: &mut StreamState, drifted: bool, watch: &dyn Watch) {
        let (n, labeled) = (body.memory.len(), body.memory.labeled());
        let keep: Vec<usize> = match self.params.forget {
            Forgetting::Window(most) if n > most => (n - most..n).collect(),
            Forgetting::OnDrift(batches) if drifted => {
                (0..n).filter(|&i| labeled[i].batch.saturating_add(batches) > self.batches).collect()
            }
            Forgetting::HalfLife(_) if n > 0 => (0..n).collect(),
            _ => return,
        };
        body.memory.keep(&keep);
        self.rebuild_classifier(body, watch);
    }
}
