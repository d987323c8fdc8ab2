//! A batch arrives: it is labeled, then its own labels are looked at.

use super::classes::Place;
use super::classifier::StreamClassifier;
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
        match (self.body.take(), batch.frame.clone()) {
            (None, None) => self.pass_over(&batch, effects),
            (None, Some(frame)) => {
                let mut body = self.begin(frame);
                self.label_and_store(&mut body, batch, effects, watch);
                self.body = Some(body);
            }
            (Some(mut body), frame) => {
                if let Some(frame) = frame {
                    self.change_frame(&mut body, frame, effects, watch);
                }
                self.label_and_store(&mut body, batch, effects, watch);
                self.body = Some(body);
            }
        }
        self.ask(effects, watch);
    }

    /// Counts a batch of which no row is usable, before any was.
    fn pass_over(&mut self, batch: &PreparedBatch, effects: &mut Effects) {
        self.rows += batch.rows as u64;
        self.batches += 1;
        (self.spent.batch, self.spent.checks) = (0, 0);
        effects.labels = vec![InferredLabel { class: None, confidence: 0.0 }; batch.rows];
        effects.rejected.clone_from(&batch.rejected);
    }

    /// Nothing stored yet.
    fn begin(&self, frame: FeatureSpace) -> StreamState {
        let (cols, sparse) = (frame.cols(), frame.sparse);
        let transduction = self.params.transduction.as_ref();
        StreamState {
            memory: LabelMemory::new(cols, sparse),
            inductive: None,
            transduction: transduction.and_then(|p| Transduction::new(p, cols, sparse).ok()),
            current: CurrentBatch::none(self.rows, cols, sparse),
            open: PendingQueries { rows: Matrix::empty(cols, sparse), of: Vec::new() },
            relations: PairwiseConstraints::default(),
            frame,
        }
    }

    /// Moves what is stored into another feature space, where the classifier is made anew.
    fn change_frame(
        &mut self,
        body: &mut StreamState,
        frame: FeatureSpace,
        effects: &mut Effects,
        watch: &dyn Watch,
    ) {
        let note = if body.frame.degenerate {
            "the first rows were all alike: scaling and kernel width are estimated again"
        } else {
            "the range of the values has changed: scaling and kernel width are estimated again"
        };
        effects.notes.push(note.into());
        body.move_to(frame);
        self.rebuild_classifier(body, watch);
        if body.inductive.is_some() {
            self.version += 1;
            effects.published = Some(self.version);
        }
    }

    /// A batch is labeled, then its own labels are looked at.
    fn label_and_store(
        &mut self,
        body: &mut StreamState,
        batch: PreparedBatch,
        effects: &mut Effects,
        watch: &dyn Watch,
    ) {
        let PreparedBatch { x, rows, skipped, labels, rejected, .. } = batch;
        let usable = x.rows();
        let (predictions, given, within) = self.label(body, &x, watch);
        if self.params.watch_drift
            && let Some(within) = within
        {
            effects.drift = self.meter.margin(within, usable as u64);
        }
        let base = self.rows;
        self.rows += rows as u64;
        self.batches += 1;
        (self.spent.batch, self.spent.checks) = (0, 0);
        body.open.of.iter_mut().for_each(|q| q.in_round = false);
        let (truth, asked) = (vec![None; usable], vec![false; usable]);
        body.current = CurrentBatch {
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
        effects.labels = body.current.with_skipped(given);
        effects.rejected = rejected;
        let mut fresh = Vec::new();
        for (row, name) in labels.iter().enumerate() {
            let Some(name) = name else { continue };
            let class = self.class(body, name, effects);
            if let Some(drift) = self.record_outcome(body.current.predictions[row], class) {
                effects.drift = Some(drift);
            }
            fresh.push(row);
        }
        // numbers of classes may have changed while names came in
        for (row, name) in labels.iter().enumerate() {
            body.current.truth[row] = name.as_deref().and_then(|n| self.classes.find(n));
        }
        for &row in &fresh {
            let Some(class) = body.current.truth[row] else { continue };
            let sample = body.current.sample_of(row);
            let labeled = LabeledSample { sample, class, batch: self.batches, why: None, follows: None };
            body.memory.push(body.current.x.view().row(row), labeled);
        }
        self.learn_recent(body, fresh.len(), watch);
        self.thin(body, watch);
    }

    /// What is said about the rows of a batch, the labels given out, and how many lie within the margin.
    pub(super) fn label(
        &self,
        body: &StreamState,
        x: &Matrix,
        watch: &dyn Watch,
    ) -> (Vec<RowPrediction>, Vec<InferredLabel>, Option<u64>) {
        let rows = x.rows();
        let mut predictions = vec![RowPrediction::default(); rows];
        let mut near = vec![0.0; rows];
        let mut within = None;
        if let Some(machine) = &body.inductive {
            let f = machine.decisions(x.view());
            for ((predictions, near), f) in
                predictions.iter_mut().zip(&mut near).zip(f.chunks(machine.outputs()))
            {
                predictions.model = Some(machine.vote(f));
                *near = closeness(f);
            }
            within = Some(near.iter().filter(|c| **c < 1.0).count() as u64);
        }
        let transduced = self.transduce(body, x.view(), &predictions, watch);
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
            LabelSource::Auto => self.meter.paired.z_score() < AHEAD,
        }
    }

    pub(super) fn transduce(
        &self,
        body: &StreamState,
        x: MatrixView<'_>,
        predictions: &[RowPrediction],
        watch: &dyn Watch,
    ) -> Option<Vec<TransductiveLabel>> {
        let t = body.transduction.as_ref().filter(|_| self.wants_transduction())?;
        let class: Vec<u32> = body.memory.labeled().iter().map(|t| t.class).collect();
        let shares = self.shares(predictions);
        // where its kernel vanishes on all rows it has nothing to say
        t.label(self.known(body, &class, &shares), x, watch).ok().flatten()
    }

    /// Whether transduction is of use: always if asked for; else unless it is clearly behind the classifier, and then
    /// now and again, for that may change.
    pub(super) fn wants_transduction(&self) -> bool {
        match self.params.label_source {
            LabelSource::Transduction => true,
            LabelSource::Model => self.params.c_inferred > 0.0,
            LabelSource::Auto => {
                self.meter.paired.z_score() > -AHEAD
                    || self.params.c_inferred > 0.0
                    || self.batches.is_multiple_of(TRY_EVERY)
            }
        }
    }

    pub(super) fn known<'a>(
        &self,
        body: &'a StreamState,
        class: &'a [u32],
        shares: &'a [f64],
    ) -> LabeledRows<'a> {
        LabeledRows { x: body.memory.rows(), class, classes: self.classes.len(), shares }
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
    pub(super) fn class(&mut self, body: &mut StreamState, name: &str, effects: &mut Effects) -> u32 {
        match self.classes.place(name) {
            Place::LabeledRows(class) => class,
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
                body.renumber(&now);
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
            self.meter.label(given == class, right(predictions.model), right(predictions.transduction));
        drift.filter(|_| self.params.watch_drift)
    }

    /// Learns the last `count` labels, or makes the machine anew if the classes have changed.
    pub(super) fn learn_recent(&mut self, body: &mut StreamState, count: usize, watch: &dyn Watch) {
        if count == 0 {
            return;
        }
        body.current.has_new_labels = true;
        let n = body.memory.len();
        match &mut body.inductive {
            Some(machine) if machine.knows(&body.memory, self.classes.len()) => {
                let rows: Vec<usize> = (n - count..n).collect();
                machine.learn(&body.memory, &rows, self.batches, &self.classes, &self.params, watch);
            }
            _ => self.rebuild_classifier(body, watch),
        }
    }

    pub(super) fn rebuild_classifier(&self, body: &mut StreamState, watch: &dyn Watch) {
        let (classes, params) = (&self.classes, &self.params);
        body.inductive =
            StreamClassifier::of(&body.memory, classes, self.batches, &body.frame, params, watch);
    }
}
