//! End of a batch: the classifier is optimized, the past is summarized, and old labels are forgotten.

use super::failures::Step;
use super::labeling::LabeledBatch;
use super::state::{RowPrediction, StreamState};
use super::transduction::TransductiveLabel;
use super::{Effects, Engine, Forgetting, LabeledSample, LearningCurve, RowSource, Source};
use crate::solver::Watch;

/// Number of the newest labels that stay after a change of the stream, whatever their age: a false alarm must not leave the
/// classifier without labels.
const MIN_KEPT_LABELS: usize = 50;

/// The same for the labels of each class.
const MIN_KEPT_PER_CLASS: usize = 10;

impl Engine {
    /// Closes the current batch if it is still open.
    pub(super) fn close(&mut self, effects: &mut Effects, watch: &dyn Watch) {
        let Some(mut state) = self.state.take() else { return };
        if !state.current.closed {
            self.finish_batch(&mut state, effects, watch);
        }
        self.state = Some(state);
    }

    pub(super) fn finish_batch(&mut self, state: &mut StreamState, effects: &mut Effects, watch: &dyn Watch) {
        state.current.closed = true;
        let drifted = std::mem::take(&mut self.drifted);
        self.forget(state, drifted, watch);
        if drifted {
            self.query_state.curve = LearningCurve::default();
        }
        if let Some(classifier) = &mut state.classifier
            && (state.current.has_new_labels || classifier.wants_unlabeled())
        {
            let current = &state.current;
            let open: Vec<usize> = (0..current.x.rows()).filter(|&i| current.truth[i].is_none()).collect();
            let unlabeled = classifier.wants_unlabeled().then(|| current.x.view().select(&open));
            let unlabeled = unlabeled.as_ref().unwrap_or(&current.x).view();
            let (now, classes) = (self.batches, &self.classes);
            let learned = classifier.close(&state.memory, unlabeled, now, classes, &self.params, watch);
            self.failures.ok(Step::Learning, learned);
            state.current.on_arrival = None;
        }
        if self.compare_sources(state, drifted, watch) {
            state.current.on_arrival = None;
        }
        let (predictions, mut labels) = if let Some(labels) = state.current.on_arrival.take() {
            (state.current.predictions.clone(), labels)
        } else {
            let excluded = state.excluded_classes();
            let LabeledBatch { predictions, labels, sources, .. } =
                self.label(state, &state.current.x, &excluded, watch);
            self.count_work(state, &state.current.x, &sources, false);
            (predictions, labels)
        };
        self.count_work(state, &state.current.x, &[], true);
        let learned = self.learn_inferred(state, &labels, watch);
        self.absorb(state, &predictions, watch);
        for (label, truth) in labels.iter_mut().zip(&state.current.truth) {
            if truth.is_some() {
                (label.class, label.source) = (*truth, Some(RowSource::Given));
            }
        }
        effects.labels = state.current.with_skipped(labels);
        if (learned || state.current.has_new_labels) && state.classifier.is_some() {
            self.version += 1;
            effects.published = Some(self.version);
        }
    }

    /// Summarizes the past; the unlabeled samples of this batch become the previous batch.
    pub(super) fn absorb(
        &mut self,
        state: &mut StreamState,
        predictions: &[RowPrediction],
        watch: &dyn Watch,
    ) {
        let Some(mut t) = state.transduction.take() else { return };
        let class: Vec<u32> = state.memory.labeled().iter().map(|t| t.class).collect();
        let shares = self.given_shares().unwrap_or_else(|| self.label_sources.shares.clone());
        let unlabeled: Vec<usize> =
            (0..state.current.x.rows()).filter(|&i| state.current.truth[i].is_none()).collect();
        // Without labels by transduction to compare against, the full summary is kept.
        let given: Option<Vec<TransductiveLabel>> = unlabeled
            .iter()
            .map(|&i| {
                predictions[i]
                    .by(Source::Transduction)
                    .map(|class| TransductiveLabel { class, confidence: 0.0 })
            })
            .collect();
        let batch = state.current.x.view().select(&unlabeled);
        let known = self.labeled_rows(state, &class, &shares);
        let (summary, kept) =
            t.absorb_or_keep_newest(known, batch, given.as_deref(), self.params.seed, watch);
        self.last_summary = summary;
        self.failures.ok(Step::Summary, kept);
        state.transduction = Some(t);
    }

    /// Forgets old labels according to the parameter `forget`, and rebuilds the classifier.
    pub(super) fn forget(&mut self, state: &mut StreamState, drifted: bool, watch: &dyn Watch) {
        let (n, labeled) = (state.memory.len(), state.memory.labeled());
        let keep: Vec<usize> = match self.params.forget {
            Forgetting::Window(max) if n > max => (n - max..n).collect(),
            Forgetting::OnDrift(batches) if drifted => {
                let is_recent = |i: usize| labeled[i].batch.saturating_add(batches) > self.batches;
                let newer_of_class = newer_of_class(labeled, self.classes.len());
                let is_kept = |i: usize| {
                    is_recent(i) || n - i <= MIN_KEPT_LABELS || newer_of_class[i] < MIN_KEPT_PER_CLASS
                };
                (0..n).filter(|&i| is_kept(i)).collect()
            }
            Forgetting::HalfLife(_) if n > 0 => (0..n).collect(),
            _ => return,
        };
        state.memory.keep(&keep);
        self.rebuild_classifier(state, watch);
    }
}

/// For each label, the number of newer labels of its class.
fn newer_of_class(labeled: &[LabeledSample], classes: usize) -> Vec<usize> {
    let mut seen = vec![0; classes];
    let mut newer = vec![0; labeled.len()];
    for (i, label) in labeled.iter().enumerate().rev() {
        newer[i] = seen[label.class as usize];
        seen[label.class as usize] += 1;
    }
    newer
}
