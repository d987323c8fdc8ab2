//! Arrival of a batch: it is labeled, and only then the labels that came with it are used.

use super::classes::Place;
use super::classifier::StreamClassifier;
use super::failures::Step;
use super::feature_space::FeatureSpace;
use super::labeling::{ExcludedClasses, LabeledBatch};
use super::monitor::Outcome;
use super::pairwise_constraints::PairwiseConstraints;
use super::prepare_batch::PreparedBatch;
use super::state::{CurrentBatch, PendingQueries, RowPrediction, StreamState};
use super::transduction::{LabeledRows, Transduction};
use super::{Drift, Effects, Engine, InferredLabel, LabelMemory, LabeledSample, Source};
use crate::data::Matrix;
use crate::solver::Watch;

impl Engine {
    pub(super) fn on_batch(&mut self, batch: PreparedBatch, effects: &mut Effects, watch: &dyn Watch) {
        self.close(effects, watch);
        *effects =
            Effects { notes: std::mem::take(&mut effects.notes), drift: effects.drift, ..Default::default() };
        let labels = batch.rejected.iter().filter(|r| r.reason.concerns_label()).count();
        self.rejected_labels += labels as u64;
        self.rejected_rows += batch.skipped.len() as u64;
        self.outside = batch.outside;
        match (self.state.take(), batch.feature_space.clone()) {
            (None, None) => self.count_unusable_batch(&batch, effects),
            (None, Some(feature_space)) => {
                let mut state = self.empty_state(feature_space);
                self.label_and_store(&mut state, batch, effects, watch);
                self.state = Some(state);
            }
            (Some(mut state), feature_space) => {
                if let Some(grown) = batch.grown_space.clone() {
                    self.grow_space(&mut state, grown, effects, watch);
                }
                let max = self.params.column_cap(state.feature_space.sparse);
                self.growth.drop_columns(batch.dropped_columns, max, effects);
                if let Some(feature_space) = feature_space {
                    self.change_feature_space(&mut state, &feature_space, effects, watch);
                }
                self.label_and_store(&mut state, batch, effects, watch);
                self.state = Some(state);
            }
        }
        self.ask(effects, watch);
    }

    /// Counts a batch without usable rows that arrives before the first usable row.
    fn count_unusable_batch(&mut self, batch: &PreparedBatch, effects: &mut Effects) {
        self.rows += batch.rows as u64;
        self.batches += 1;
        (self.budget_usage.batch, self.budget_usage.checks) = (0, 0);
        effects.labels = vec![InferredLabel::NONE; batch.rows];
        effects.rejected.clone_from(&batch.rejected);
    }

    /// State without stored samples.
    fn empty_state(&self, feature_space: FeatureSpace) -> StreamState {
        let (cols, sparse) = (feature_space.cols(), feature_space.sparse);
        let transduction = self.params.transduction.as_ref();
        StreamState {
            memory: LabelMemory::new(cols, sparse),
            classifier: None,
            inferred: None,
            transduction: transduction
                .and_then(|p| Transduction::new(&p.with_kernel(feature_space.kernel), cols, sparse).ok()),
            current: CurrentBatch::none(self.rows, cols, sparse),
            pending: PendingQueries { rows: Matrix::empty(cols, sparse), of: Vec::new() },
            awaited: PendingQueries { rows: Matrix::empty(cols, sparse), of: Vec::new() },
            constraints: PairwiseConstraints::default(),
            feature_space,
        }
    }

    /// Moves all stored rows to another feature space and rebuilds the classifier there.
    fn change_feature_space(
        &mut self,
        state: &mut StreamState,
        feature_space: &FeatureSpace,
        effects: &mut Effects,
        watch: &dyn Watch,
    ) {
        let note = if state.feature_space.degenerate {
            "the first rows were all alike: scaling and kernel width are estimated again"
        } else {
            "the range of the values has changed: scaling and kernel width are estimated again"
        };
        effects.notes.push(note.into());
        state.move_to(feature_space);
        state.classifier = None; // its parameters do not apply in another space
        self.rebuild_classifier(state, watch);
        if state.classifier.is_some() {
            self.version += 1;
            effects.published = Some(self.version);
        }
    }

    /// Predicts the labels of a batch, stores it, and then learns the labels that came with it.
    fn label_and_store(
        &mut self,
        state: &mut StreamState,
        batch: PreparedBatch,
        effects: &mut Effects,
        watch: &dyn Watch,
    ) {
        let PreparedBatch { x, rows, skipped, labels, rejected, .. } = batch;
        let usable = x.rows();
        let LabeledBatch { predictions, labels: given, within, sources } =
            self.label(state, &x, &ExcludedClasses::new(), watch);
        self.count_work(state, &x, &sources, false);
        if let Some(within) = within {
            effects.drift = self.metrics.margin(within, usable as u64);
        }
        let novel = self.novel_rows(state, &x, effects);
        self.metrics.novelty_alarms += u64::from(!novel.is_empty());
        let base = self.rows;
        self.rows += rows as u64;
        self.batches += 1;
        (self.budget_usage.batch, self.budget_usage.checks) = (0, 0);
        state.pending.of.iter_mut().for_each(|q| q.in_round = false);
        let (truth, asked) = (vec![None; usable], vec![false; usable]);
        state.current = CurrentBatch {
            base,
            rows,
            skipped,
            x,
            truth,
            asked,
            novel: Vec::new(),
            predictions,
            closed: false,
            has_new_labels: false,
            on_arrival: Some(given.clone()),
        };
        effects.labels = state.current.with_skipped(given);
        effects.rejected = rejected;
        let mut labeled_rows = Vec::new();
        for (row, name) in labels.iter().enumerate() {
            let Some(name) = name else { continue };
            let class = self.class(state, name, effects);
            if let Some(drift) = self.record_outcome(state.current.predictions[row], class) {
                effects.drift = Some(drift);
            }
            labeled_rows.push(row);
        }
        // a new class may have changed the numbers of the others
        for (row, name) in labels.iter().enumerate() {
            state.current.truth[row] = name.as_deref().and_then(|n| self.classes.find(n));
        }
        state.current.novel = self.reserve_queries(&state.current, &novel, state.feature_space.kernel, watch);
        for &row in &labeled_rows {
            let Some(class) = state.current.truth[row] else { continue };
            let sample = state.current.sample_of(row);
            let labeled = LabeledSample { sample, class, batch: self.batches, why: None, follows: None };
            state.memory.push(state.current.x.view().row(row), labeled);
            self.query_state.curve.add_label();
        }
        self.learn_recent(state, labeled_rows.len(), watch);
        self.infer_from_pairs(state, &[], effects, watch);
        self.evict_labels(state, watch);
    }

    pub(super) fn labeled_rows<'a>(
        &self,
        state: &'a StreamState,
        class: &'a [u32],
        shares: &'a [f64],
    ) -> LabeledRows<'a> {
        LabeledRows { x: state.memory.rows(), class, classes: self.classes.len(), shares }
    }

    /// Number of a class, which is added if it is new.
    pub(super) fn class(&mut self, state: &mut StreamState, name: &str, effects: &mut Effects) -> u32 {
        match self.classes.place(name) {
            Place::Existing(class) => class,
            Place::New(class, now) => {
                if now.len() >= 2 {
                    effects.notes.push(format!("class {} is new", self.classes.names()[class as usize]));
                }
                let mut unchosen = vec![0; self.classes.len()];
                now.iter().zip(&self.unchosen).for_each(|(&c, &n)| unchosen[c as usize] = n);
                self.unchosen = unchosen;
                for label in &mut effects.labels {
                    label.class = label.class.map(|c| now[c as usize]);
                }
                self.label_sources.forget_shares();
                state.renumber(&now);
                class
            }
        }
    }

    /// Compares a label that no query strategy chose with the predictions for its row. Returns the drift it reveals, if
    /// any.
    pub(super) fn record_outcome(&mut self, predictions: RowPrediction, class: u32) -> Option<Drift> {
        self.unchosen[class as usize] += 1;
        let given = predictions.given?;
        let right = |predictions: Option<u32>| predictions.map(|c| c == class);
        self.label_sources.record(&predictions.by, class);
        let by = |source| right(predictions.by(source));
        let outcome = Outcome {
            given: given == class,
            confidence: predictions.confidence,
            model: by(Source::Model),
            transduction: by(Source::Transduction),
        };
        let drift = self.metrics.label(outcome, self.params.seed);
        self.query_state.curve.add_outcome(given != class);
        drift
    }

    /// Learns the latest `count` labels, or rebuilds the classifier if the set of classes with labels has changed.
    pub(super) fn learn_recent(&mut self, state: &mut StreamState, count: usize, watch: &dyn Watch) {
        if count == 0 {
            return;
        }
        state.current.has_new_labels = true;
        state.current.on_arrival = None;
        let n = state.memory.len();
        let matches = |c: &StreamClassifier| c.matches_classes(&state.memory, self.classes.len());
        if !state.classifier.as_ref().is_some_and(matches) {
            return self.rebuild_classifier(state, watch);
        }
        let rows: Vec<usize> = (n - count..n).collect();
        let (now, classes) = (self.batches, &self.classes);
        for classifier in state.classifier.iter_mut().chain(&mut state.inferred) {
            let learned = classifier.learn(&state.memory, &rows, now, classes, &self.params, watch);
            self.failures.ok(Step::Learning, learned);
        }
    }

    /// Rebuilds the classifier after remembered labels were changed; the published classifier keeps its inferred
    /// labels.
    pub(super) fn replace_labels(&self, state: &mut StreamState, watch: &dyn Watch) {
        let inferred = state.inferred.take();
        self.rebuild_classifier(state, watch);
        let matches = |c: &StreamClassifier| c.matches_classes(&state.memory, self.classes.len());
        if let Some(mut inferred) = inferred.filter(matches) {
            let (now, classes) = (self.batches, &self.classes);
            let learned = inferred.replace_labels(&state.memory, now, classes, &self.params, watch);
            self.failures.ok(Step::Learning, learned);
            state.inferred = Some(inferred);
        }
    }

    pub(super) fn rebuild_classifier(&self, state: &mut StreamState, watch: &dyn Watch) {
        let (classes, params) = (&self.classes, &self.params);
        state.inferred = None;
        state.current.on_arrival = None;
        let old = state.classifier.take();
        let made = StreamClassifier::of(
            &state.memory,
            classes,
            self.batches,
            &state.feature_space,
            params,
            old.as_ref(),
            watch,
        );
        state.classifier = made.map(|(classifier, learned)| {
            self.failures.ok(Step::Learning, learned);
            classifier
        });
    }
}
