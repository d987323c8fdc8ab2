//! A batch arrives: it is labeled, then its own labels are looked at.

use super::classes::Place;
use super::classifier::StreamClassifier;
use super::failures::Step;
use super::feature_space::FeatureSpace;
use super::pairwise_constraints::PairwiseConstraints;
use super::prepare_batch::PreparedBatch;
use super::state::{CurrentBatch, PendingQueries, RowPrediction, StreamState};
use super::transduction::{LabeledRows, Transduction, TransductiveLabel};
use super::{Drift, Effects, Engine, InferredLabel, LabelMemory, LabelSource, LabeledSample};
use crate::active::closeness;
use crate::data::{Matrix, MatrixView};
use crate::solver::Watch;

/// Labels that were not chosen before their shares are believed.
const ENOUGH: usize = 20;

/// Standard deviations of chance by which one way to label must be ahead of the other to be believed.
const AHEAD: f64 = 1.0;

/// Batches between two tries of a way to label that is behind.
const TRY_EVERY: u64 = 16;

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
            (None, None) => self.pass_over(&batch, effects),
            (None, Some(feature_space)) => {
                let mut state = self.begin(feature_space);
                self.label_and_store(&mut state, batch, effects, watch);
                self.state = Some(state);
            }
            (Some(mut state), feature_space) => {
                if let Some(feature_space) = feature_space {
                    self.change_feature_space(&mut state, feature_space, effects, watch);
                }
                self.label_and_store(&mut state, batch, effects, watch);
                self.state = Some(state);
            }
        }
        self.ask(effects, watch);
    }

    /// Counts a batch of which no row is usable, before any was.
    fn pass_over(&mut self, batch: &PreparedBatch, effects: &mut Effects) {
        self.rows += batch.rows as u64;
        self.batches += 1;
        (self.budget_usage.batch, self.budget_usage.checks) = (0, 0);
        effects.labels = vec![InferredLabel { class: None, confidence: 0.0 }; batch.rows];
        effects.rejected.clone_from(&batch.rejected);
    }

    /// Nothing stored yet.
    fn begin(&self, feature_space: FeatureSpace) -> StreamState {
        let (cols, sparse) = (feature_space.cols(), feature_space.sparse);
        let transduction = self.params.transduction.as_ref();
        StreamState {
            memory: LabelMemory::new(cols, sparse),
            classifier: None,
            transduction: transduction.and_then(|p| Transduction::new(p, cols, sparse).ok()),
            current: CurrentBatch::none(self.rows, cols, sparse),
            pending: PendingQueries { rows: Matrix::empty(cols, sparse), of: Vec::new() },
            constraints: PairwiseConstraints::default(),
            feature_space,
        }
    }

    /// Moves what is stored into another feature space, where the classifier is made anew.
    fn change_feature_space(
        &mut self,
        state: &mut StreamState,
        feature_space: FeatureSpace,
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
        self.rebuild_classifier(state, watch);
        if state.classifier.is_some() {
            self.version += 1;
            effects.published = Some(self.version);
        }
    }

    /// A batch is labeled, then its own labels are looked at.
    fn label_and_store(
        &mut self,
        state: &mut StreamState,
        batch: PreparedBatch,
        effects: &mut Effects,
        watch: &dyn Watch,
    ) {
        let PreparedBatch { x, rows, skipped, labels, rejected, .. } = batch;
        let usable = x.rows();
        let (predictions, given, within) = self.label(state, &x, watch);
        if self.params.watch_drift
            && let Some(within) = within
        {
            effects.drift = self.metrics.margin(within, usable as u64);
        }
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
            predictions,
            closed: false,
            has_new_labels: false,
        };
        effects.labels = state.current.with_skipped(given);
        effects.rejected = rejected;
        let mut fresh = Vec::new();
        for (row, name) in labels.iter().enumerate() {
            let Some(name) = name else { continue };
            let class = self.class(state, name, effects);
            if let Some(drift) = self.record_outcome(state.current.predictions[row], class) {
                effects.drift = Some(drift);
            }
            fresh.push(row);
        }
        // numbers of classes may have changed while names came in
        for (row, name) in labels.iter().enumerate() {
            state.current.truth[row] = name.as_deref().and_then(|n| self.classes.find(n));
        }
        for &row in &fresh {
            let Some(class) = state.current.truth[row] else { continue };
            let sample = state.current.sample_of(row);
            let labeled = LabeledSample { sample, class, batch: self.batches, why: None, follows: None };
            state.memory.push(state.current.x.view().row(row), labeled);
        }
        self.learn_recent(state, fresh.len(), watch);
        self.thin(state, watch);
    }

    /// What is said about the rows of a batch, the labels given out, and how many lie within the margin.
    pub(super) fn label(
        &self,
        state: &StreamState,
        x: &Matrix,
        watch: &dyn Watch,
    ) -> (Vec<RowPrediction>, Vec<InferredLabel>, Option<u64>) {
        let rows = x.rows();
        let mut predictions = vec![RowPrediction::default(); rows];
        let mut near = vec![0.0; rows];
        let mut within = None;
        if let Some(classifier) = &state.classifier {
            let f = self.failures.ok(Step::Prediction, classifier.decisions(x.view()));
            let f = f.unwrap_or_else(|| vec![0.0; rows * classifier.outputs()]);
            for ((predictions, near), f) in
                predictions.iter_mut().zip(&mut near).zip(f.chunks(classifier.outputs()))
            {
                predictions.model = Some(classifier.vote(f));
                *near = closeness(f);
            }
            within = Some(near.iter().filter(|c| **c < 1.0).count() as u64);
        }
        let transduced = self.transduce(state, x.view(), &predictions, watch);
        for (predictions, given) in predictions.iter_mut().zip(transduced.iter().flatten()) {
            predictions.transduction = Some(given.class);
        }
        let by_model = self.by_model(&predictions);
        let mut labels = Vec::with_capacity(rows);
        for (i, predictions) in predictions.iter_mut().enumerate() {
            let (class, confidence) = match (by_model, &transduced) {
                (false, Some(given)) => (predictions.transduction, given[i].confidence),
                _ => (predictions.model, near[i]),
            };
            predictions.given = class;
            labels.push(InferredLabel { class, confidence });
        }
        (predictions, labels, within)
    }

    /// Whether labels are given out by the classifier.
    pub(super) fn by_model(&self, predictions: &[RowPrediction]) -> bool {
        let both = predictions.first().is_some_and(|s| s.model.is_some() && s.transduction.is_some());
        match self.params.label_source {
            _ if !both => predictions.first().is_some_and(|s| s.model.is_some()),
            LabelSource::Model => true,
            LabelSource::Transduction => false,
            LabelSource::Auto => self.metrics.paired.z_score() < AHEAD,
        }
    }

    pub(super) fn transduce(
        &self,
        state: &StreamState,
        x: MatrixView<'_>,
        predictions: &[RowPrediction],
        watch: &dyn Watch,
    ) -> Option<Vec<TransductiveLabel>> {
        let t = state.transduction.as_ref().filter(|_| self.wants_transduction())?;
        let class: Vec<u32> = state.memory.labeled().iter().map(|t| t.class).collect();
        let shares = self.shares(predictions);
        let labeled = t.label(self.labeled_rows(state, &class, &shares), x, watch);
        self.failures.ok(Step::Transduction, labeled).flatten()
    }

    /// Whether transduction is of use: always if asked for; else unless it is clearly behind the classifier, and then
    /// now and again, for that may change.
    pub(super) fn wants_transduction(&self) -> bool {
        match self.params.label_source {
            LabelSource::Transduction => true,
            LabelSource::Model => self.params.c_inferred > 0.0,
            LabelSource::Auto => {
                self.metrics.paired.z_score() > -AHEAD
                    || self.params.c_inferred > 0.0
                    || self.batches.is_multiple_of(TRY_EVERY)
            }
        }
    }

    pub(super) fn labeled_rows<'a>(
        &self,
        state: &'a StreamState,
        class: &'a [u32],
        shares: &'a [f64],
    ) -> LabeledRows<'a> {
        LabeledRows { x: state.memory.rows(), class, classes: self.classes.len(), shares }
    }

    /// Shares of the classes: of labels that were not chosen if there are enough, else as the classifier sees them;
    /// empty if there is none.
    pub(super) fn shares(&self, predictions: &[RowPrediction]) -> Vec<f64> {
        let mut counts: Vec<f64> = vec![1.0; self.classes.len()];
        if self.unchosen.iter().sum::<u64>() >= ENOUGH as u64 {
            counts.iter_mut().zip(&self.unchosen).for_each(|(c, n)| *c += *n as f64);
        } else if predictions.iter().any(|s| s.model.is_some()) {
            predictions.iter().filter_map(|s| s.model).for_each(|c| counts[c as usize] += 1.0);
        } else {
            return Vec::new();
        }
        let all: f64 = counts.iter().sum();
        counts.iter().map(|c| c / all).collect()
    }

    /// The number of a class, new or not.
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
                state.renumber(&now);
                class
            }
        }
    }

    /// A label that was not chosen is held against what was said.
    pub(super) fn record_outcome(&mut self, predictions: RowPrediction, class: u32) -> Option<Drift> {
        self.unchosen[class as usize] += 1;
        let given = predictions.given?;
        let right = |predictions: Option<u32>| predictions.map(|c| c == class);
        let drift =
            self.metrics.label(given == class, right(predictions.model), right(predictions.transduction));
        drift.filter(|_| self.params.watch_drift)
    }

    /// Learns the last `count` labels, or rebuilds the classifier if the classes have changed.
    pub(super) fn learn_recent(&mut self, state: &mut StreamState, count: usize, watch: &dyn Watch) {
        if count == 0 {
            return;
        }
        state.current.has_new_labels = true;
        let n = state.memory.len();
        match &mut state.classifier {
            Some(classifier) if classifier.knows(&state.memory, self.classes.len()) => {
                let rows: Vec<usize> = (n - count..n).collect();
                let learned =
                    classifier.learn(&state.memory, &rows, self.batches, &self.classes, &self.params, watch);
                self.failures.ok(Step::Learning, learned);
            }
            _ => self.rebuild_classifier(state, watch),
        }
    }

    pub(super) fn rebuild_classifier(&self, state: &mut StreamState, watch: &dyn Watch) {
        let (classes, params) = (&self.classes, &self.params);
        let made =
            StreamClassifier::of(&state.memory, classes, self.batches, &state.feature_space, params, watch);
        state.classifier = made.map(|(classifier, learned)| {
            self.failures.ok(Step::Learning, learned);
            classifier
        });
    }
}
