//! The labels of a batch, from the sources that have weight.

use super::failures::Step;
use super::label_sources::{MAX_LABELS, Pool, PoolParts, probabilities};
use super::state::{RowPrediction, StreamState};
use super::{
    ClassifierChoice, Engine, InferredLabel, LabelSource, LabeledSample, QueryReason, RowSource, Source,
};
use crate::active::closeness;
use crate::data::{Matrix, MatrixView};
use crate::estimators::auto::{DEFAULT_SLOPE, largest};
use crate::estimators::transductive::Ratio;
use crate::solver::Watch;

/// How far a label that a strategy chose represents the stream.
const CHOSEN_WEIGHT: f64 = 0.125;

/// Weight of the sources other than the classifier from which the published classifier learns inferred labels.
const ENOUGH_TO_LEARN: f64 = 0.3;

/// The same below which it forgets them.
const TOO_LITTLE_TO_KEEP: f64 = 0.1;

/// The labels of a batch.
pub(super) struct LabeledBatch {
    pub(super) predictions: Vec<RowPrediction>,
    pub(super) labels: Vec<InferredLabel>,
    /// Rows within the margin of the classifier; none without one.
    pub(super) within: Option<u64>,
}

impl Engine {
    /// Labels the rows of a batch.
    pub(super) fn label(&self, state: &StreamState, x: &Matrix, watch: &dyn Watch) -> LabeledBatch {
        let rows = x.rows();
        let mut predictions = vec![RowPrediction::default(); rows];
        let mut labels = vec![InferredLabel::NONE; rows];
        let Some(classifier) = &state.classifier else {
            return LabeledBatch { predictions, labels, within: None };
        };
        let f = self.failures.ok(Step::Prediction, classifier.decisions(x.view()));
        let f = f.unwrap_or_else(|| vec![0.0; rows * classifier.outputs()]);
        let mut within = 0;
        for ((prediction, label), f) in
            predictions.iter_mut().zip(&mut labels).zip(f.chunks(classifier.outputs()))
        {
            let (class, near) = (classifier.vote(f), closeness(f));
            prediction.by[Source::Model.index()] = Some(class);
            within += u64::from(near < 1.0);
            let confidence = 1.0 / (1.0 + (-2.0 * near).exp());
            *label = InferredLabel { class: Some(class), confidence, source: Some(RowSource::Model) };
        }
        if let Some(combined) = self.combine(state, x.view(), &f, &mut predictions, watch) {
            labels = combined;
        }
        for (prediction, label) in predictions.iter_mut().zip(&labels) {
            prediction.given = label.class;
            let confidence = label.confidence;
            prediction.confidence = if confidence.is_nan() { 0.0 } else { confidence.clamp(0.0, 1.0) };
        }
        LabeledBatch { predictions, labels, within: Some(within) }
    }

    /// Labels by the weighted mean of the sources; none where the classifier labels alone.
    fn combine(
        &self,
        state: &StreamState,
        x: MatrixView<'_>,
        decisions: &[f64],
        predictions: &mut [RowPrediction],
        watch: &dyn Watch,
    ) -> Option<Vec<InferredLabel>> {
        let active = match self.params.label_source.only() {
            None => self.label_sources.active(),
            Some(Source::Model) => return None,
            Some(source) => vec![(source, 1.0, DEFAULT_SLOPE)],
        };
        if active.is_empty() {
            return None;
        }
        let mut pool = self.pool(state, x)?;
        let same_classes = state.classifier.as_ref().is_some_and(|c| c.present().len() == pool.present());
        let k = pool.present();
        let (mut mean, mut total) = (vec![0.0; x.rows() * k], 0.0);
        let from = if let [(source, ..)] = active[..] { source.into() } else { RowSource::Combined };
        for (source, weight, slope) in active {
            let decisions = Some(decisions).filter(|_| same_classes);
            let scores = self.failures.ok(Step::Source, pool.batch_scores(source, decisions, watch));
            let Some(scores) = scores.flatten() else { continue };
            total += weight;
            for (i, (mean, scores)) in mean.chunks_mut(k).zip(scores.rows()).enumerate() {
                if source != Source::Model {
                    predictions[i].by[source.index()] = Some(pool.class_at(largest(scores)));
                }
                let p = probabilities(scores, slope);
                mean.iter_mut().zip(p).for_each(|(m, p)| *m += weight * p);
            }
        }
        if total == 0.0 {
            return None;
        }
        let label = |p: &[f64]| {
            let best = largest(p);
            InferredLabel {
                class: Some(pool.class_at(best)),
                confidence: p[best] / total,
                source: Some(from),
            }
        };
        Some(mean.chunks(k).map(label).collect())
    }

    /// The pool of a batch.
    fn pool<'a>(&self, state: &'a StreamState, batch: MatrixView<'a>) -> Option<Pool<'a>> {
        let labeled = state.memory.labeled();
        if labeled.len() > MAX_LABELS {
            return None;
        }
        let exact = self.given_shares();
        let shares = exact.clone().unwrap_or_else(|| self.label_sources.shares.clone());
        Pool::new(PoolParts {
            labels: state.memory.rows(),
            number: labeled.iter().map(|l| l.class).collect(),
            weight: labeled.iter().map(represents).collect(),
            unchosen: labeled
                .iter()
                .map(|l| matches!(l.why, None | Some(QueryReason::RandomCheck)))
                .collect(),
            classes: self.classes.len(),
            batch,
            transduction: state.transduction.as_ref(),
            kernel: state.feature_space.kernel,
            c: self.params.c,
            shares,
            exact: exact.is_some(),
        })
    }

    /// The shares that the user gave, by class; none where they do not fit the classes so far.
    pub(super) fn given_shares(&self) -> Option<Vec<f64>> {
        let Ratio::Given(shares) = &self.params.ratio else { return None };
        match (shares.as_slice(), self.classes.len()) {
            ([second], 2) => Some(vec![1.0 - second, *second]),
            (several, n) if n >= 2 && several.len() == n => Some(several.to_vec()),
            _ => None,
        }
    }

    /// Rows of the batch that the classifier gives to each class.
    fn votes(&self, state: &StreamState) -> Vec<usize> {
        let mut votes = vec![0; self.classes.len()];
        if let Some(classifier) = &state.classifier
            && let Ok(f) = classifier.decisions(state.current.x.view())
        {
            f.chunks(classifier.outputs()).for_each(|f| votes[classifier.vote(f) as usize] += 1);
        }
        votes
    }

    /// Compares the sources on held-out labels, if that is due. Returns whether labels may have changed.
    pub(super) fn compare_sources(&mut self, state: &StreamState, drifted: bool, watch: &dyn Watch) -> bool {
        if self.params.label_source == LabelSource::Model || state.classifier.is_none() {
            return false;
        }
        if drifted {
            self.label_sources.forget();
        }
        let labels = state.memory.len();
        if labels > MAX_LABELS {
            self.label_sources.clear();
        }
        if !self.label_sources.is_due(labels, self.batches, drifted) {
            return drifted || labels > MAX_LABELS;
        }
        let start = watch.seconds();
        let Some(mut pool) = self.pool(state, state.current.x.view()) else { return drifted };
        if self.given_shares().is_none() {
            self.label_sources.shares = pool.estimate_shares(&self.params.ratio, &self.votes(state), watch);
            pool.set_shares(self.label_sources.shares.clone());
        }
        if self.params.label_source == LabelSource::Auto {
            let failed = |error| {
                self.failures.ok::<()>(Step::Source, Err(error));
            };
            let (evidence, counted) = pool.compare(self.params.seed, &failed, watch);
            let chosen = state.memory.labeled().iter().filter(|l| is_chosen(l));
            self.label_sources.set(&evidence, (counted, chosen.count()), labels, self.batches);
        }
        self.selection.add_since(start, watch);
        true
    }

    /// Teaches inferred labels to the classifier that is published, where sources other than the classifier have given
    /// them. Returns whether it has changed.
    pub(super) fn learn_inferred(
        &self,
        state: &mut StreamState,
        labels: &[InferredLabel],
        watch: &dyn Watch,
    ) -> bool {
        let weight = match self.params.label_source {
            _ if self.params.c_inferred == 0.0 || state.classifier.is_none() => 0.0,
            // It learns the rows without a label through their graph.
            _ if self.params.classifier == ClassifierChoice::SeqLapmed => 0.0,
            LabelSource::Auto => self.label_sources.inferred_weight(),
            LabelSource::Model => 0.0,
            _ => 1.0,
        };
        let keeps = state.inferred.is_some() && weight >= TOO_LITTLE_TO_KEEP;
        if weight < ENOUGH_TO_LEARN && !keeps {
            return state.inferred.take().is_some();
        }
        let knows = |c: &super::StreamClassifier| c.knows(&state.memory, self.classes.len());
        let is_new = !state.inferred.as_ref().is_some_and(knows);
        if is_new {
            state.inferred = state.classifier.clone();
        }
        let Some(inferred) = &mut state.inferred else { return false };
        if state.current.has_new_labels && !is_new {
            let (now, classes) = (self.batches, &self.classes);
            let none = state.current.x.view().select(&[]);
            let closed = inferred.close(&state.memory, none.view(), now, classes, &self.params, watch);
            self.failures.ok(Step::Learning, closed);
        }
        let chance = 1.0 / inferred.present().len() as f64;
        let rows: Vec<(usize, u32, f64)> = labels
            .iter()
            .enumerate()
            .filter(|(i, _)| state.current.truth[*i].is_none())
            .filter_map(|(i, l)| {
                let confidence = ((l.confidence - chance) / (1.0 - chance)).clamp(0.0, 1.0);
                Some((i, l.class?, confidence)).filter(|r| r.2 > 0.0)
            })
            .collect();
        let sample = |row: usize| state.current.sample_of(row);
        let learned = inferred.infer(state.current.x.view(), &rows, sample, &self.params, watch);
        self.failures.ok(Step::Learning, learned);
        true
    }
}

/// How far a label represents the stream: chosen ones lie where the classifier is in doubt, or outside.
fn represents(label: &LabeledSample) -> f64 {
    if is_chosen(label) { CHOSEN_WEIGHT } else { 1.0 }
}

fn is_chosen(label: &LabeledSample) -> bool {
    matches!(label.why, Some(QueryReason::Informative | QueryReason::Novel))
}
