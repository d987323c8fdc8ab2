//! Labels of a batch, combined from the label sources by their weights.

use super::failures::Step;
use super::label_sources::{EVIDENCE_ROWS, Pool, PoolParts, PoolSize, max_labels, ordinary, probabilities};
use super::state::{RowPrediction, StreamState};
use super::transduction::Transduction;
use super::{
    ClassifierChoice, Engine, InferredLabel, LabelSource, LabeledSample, QueryReason, RowSource, Source,
};
use crate::active::closeness;
use crate::data::{Matrix, MatrixView};
use crate::estimators::auto::{DEFAULT_SLOPE, largest};
use crate::estimators::transductive::Ratio;
use crate::kernel::Kernel;
use crate::solver::Watch;
use std::collections::{BTreeMap, BTreeSet};

/// Weight, as evidence about the stream, of a label that a query strategy chose; other labels have weight 1.
const CHOSEN_WEIGHT: f64 = 0.125;

/// Sources that were computed, with their weights.
type UsedSources = Vec<(Source, f64)>;

/// Excluded classes by row of a batch.
pub(super) type ExcludedClasses = BTreeMap<usize, BTreeSet<u32>>;

/// Labels of a batch, with the predictions from which they were computed.
pub(super) struct LabeledBatch {
    pub(super) predictions: Vec<RowPrediction>,
    pub(super) labels: Vec<InferredLabel>,
    /// Number of rows within the margin of the classifier; `None` without a classifier.
    pub(super) within: Option<u64>,
    pub(super) sources: UsedSources,
}

impl Engine {
    /// Labels the rows of a batch, without the classes in `excluded`.
    pub(super) fn label(
        &self,
        state: &StreamState,
        x: &Matrix,
        excluded: &ExcludedClasses,
        watch: &dyn Watch,
    ) -> LabeledBatch {
        let rows = x.rows();
        let mut predictions = vec![RowPrediction::default(); rows];
        let mut labels = vec![InferredLabel::NONE; rows];
        let Some(classifier) = &state.classifier else {
            return LabeledBatch { predictions, labels, within: None, sources: Vec::new() };
        };
        let f = self.failures.ok(Step::Prediction, classifier.decisions(x.view()));
        let f = f.unwrap_or_else(|| vec![0.0; rows * classifier.outputs()]);
        let mut within = 0;
        for (row, ((prediction, label), f)) in
            predictions.iter_mut().zip(&mut labels).zip(f.chunks(classifier.outputs())).enumerate()
        {
            let allowed = |class: &u32| !excluded.get(&row).is_some_and(|e| e.contains(class));
            let left = excluded.get(&row).and_then(|_| classifier.ranking(f).into_iter().find(allowed));
            let (class, near) = (left.unwrap_or_else(|| classifier.vote(f)), closeness(f));
            prediction.by[Source::Model.index()] = Some(class);
            within += u64::from(near < 1.0);
            let confidence = 1.0 / (1.0 + (-2.0 * near).exp());
            *label = InferredLabel { class: Some(class), confidence, source: Some(RowSource::Model) };
        }
        let mut sources = Vec::new();
        if let Some((combined, used)) = self.combine(state, x.view(), &f, &mut predictions, excluded, watch) {
            (labels, sources) = (combined, used);
        }
        for (prediction, label) in predictions.iter_mut().zip(&labels) {
            prediction.given = label.class;
            let confidence = label.confidence;
            prediction.confidence = if confidence.is_nan() { 0.0 } else { confidence.clamp(0.0, 1.0) };
        }
        LabeledBatch { predictions, labels, within: Some(within), sources }
    }

    /// Labels from the weighted mean of the sources, and the sources with their weights; `None` if the classifier
    /// labels alone.
    fn combine(
        &self,
        state: &StreamState,
        x: MatrixView<'_>,
        decisions: &[f64],
        predictions: &mut [RowPrediction],
        excluded: &ExcludedClasses,
        watch: &dyn Watch,
    ) -> Option<(Vec<InferredLabel>, UsedSources)> {
        let active = match self.params.label_source.only() {
            None => self.label_sources.active(),
            Some(Source::Model) => return None,
            Some(source) => vec![(source, 1.0, DEFAULT_SLOPE)],
        };
        if active.is_empty() {
            return None;
        }
        let mut pool = self.pool(state, x, usize::MAX)?;
        let same_classes = state.classifier.as_ref().is_some_and(|c| c.present().len() == pool.present());
        let k = pool.present();
        let (mut mean, mut total) = (vec![0.0; x.rows() * k], 0.0);
        let from = if let [(source, ..)] = active[..] { source.into() } else { RowSource::Combined };
        let used = active.iter().map(|(source, weight, _)| (*source, *weight)).collect();
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
        for (row, classes) in excluded.range(..x.rows()) {
            let p = &mut mean[row * k..(row + 1) * k];
            let left: f64 = (0..k).filter(|&i| !classes.contains(&pool.class_at(i))).map(|i| p[i]).sum();
            if left > 0.0 {
                let is_left = |i: usize| f64::from(u8::from(!classes.contains(&pool.class_at(i))));
                p.iter_mut().enumerate().for_each(|(i, p)| *p *= is_left(i) * total / left);
            }
        }
        let label = |p: &[f64]| {
            let best = largest(p);
            InferredLabel {
                class: Some(pool.class_at(best)),
                confidence: p[best] / total,
                source: Some(from),
            }
        };
        Some((mean.chunks(k).map(label).collect(), used))
    }

    /// Pool of a batch with at most `max_unlabeled` unlabeled rows; `None` if the classifier is the only source or a
    /// pool is impossible.
    fn pool<'a>(
        &self,
        state: &'a StreamState,
        batch: MatrixView<'a>,
        max_unlabeled: usize,
    ) -> Option<Pool<'a>> {
        let labeled = state.memory.labeled();
        if self.has_many_labels(labeled.len()) {
            return None;
        }
        let exact = self.given_shares();
        let shares = exact.clone().unwrap_or_else(|| self.label_sources.shares.clone());
        Pool::new(PoolParts {
            labels: state.memory.rows(),
            number: labeled.iter().map(|l| l.class).collect(),
            weight: labeled.iter().map(evidence_weight).collect(),
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
            max_unlabeled,
        })
    }

    /// Whether the classifier is the only source because there are many labels. A source that the parameters name is
    /// always used.
    pub(super) fn has_many_labels(&self, labels: usize) -> bool {
        self.params.label_source.only().is_none() && labels > max_labels(self.classes.len())
    }

    /// Counts the work of a batch and of the sources that labeled it.
    pub(super) fn count_work(
        &mut self,
        state: &StreamState,
        x: &Matrix,
        sources: &[(Source, f64)],
        closes: bool,
    ) {
        let size = pool_size(state, x, usize::MAX);
        let points = state.classifier.as_ref().map_or(0, super::StreamClassifier::len);
        let remembered = state.transduction.as_ref().map_or(0, Transduction::len);
        let ordinary = if closes { ordinary(x.rows(), remembered, size.values, points) } else { 0.0 };
        self.label_sources.count_batch(ordinary, sources, size);
    }

    /// Class shares given by the user; `None` if they do not match the number of classes so far.
    pub(super) fn given_shares(&self) -> Option<Vec<f64>> {
        let Ratio::Given(shares) = &self.params.ratio else { return None };
        match (shares.as_slice(), self.classes.len()) {
            ([second], 2) => Some(vec![1.0 - second, *second]),
            (several, n) if n >= 2 && several.len() == n => Some(several.to_vec()),
            _ => None,
        }
    }

    /// Note about a given ratio that does not match the number of classes after it has grown: once when there are two
    /// or more classes but too few, and once when there are too many.
    pub(super) fn note_ratio(&self, before: usize) -> Option<String> {
        let Ratio::Given(shares) = &self.params.ratio else { return None };
        let (given, now) = (shares.len().max(2), self.classes.len());
        if now > given && before <= given {
            Some(format!("the ratio is for {given} classes, and there are {now}: it is not used"))
        } else if now >= 2 && now < given && before < 2 {
            Some(format!(
                "the ratio is for {given} classes, and there are {now} so far: it is not used until there are {given}"
            ))
        } else {
            None
        }
    }

    /// Number of rows of the batch that the classifier predicts for each class.
    fn votes(&self, state: &StreamState) -> Vec<usize> {
        let mut votes = vec![0; self.classes.len()];
        if let Some(classifier) = &state.classifier
            && let Ok(f) = classifier.decisions(state.current.x.view())
        {
            f.chunks(classifier.outputs()).for_each(|f| votes[classifier.vote(f) as usize] += 1);
        }
        votes
    }

    /// Compares the sources on held-out labels, if a comparison is due. Returns whether the labels of the batch may
    /// change.
    pub(super) fn compare_sources(&mut self, state: &StreamState, drifted: bool, watch: &dyn Watch) -> bool {
        if self.params.label_source == LabelSource::Model || state.classifier.is_none() {
            return false;
        }
        if drifted {
            self.label_sources.forget();
        }
        let labels = state.memory.len();
        let chosen = state.memory.labeled().iter().filter(|l| is_chosen(l)).count();
        self.label_sources.count_chosen(chosen);
        if self.has_many_labels(labels) {
            let had_weights = !self.label_sources.weights().is_empty();
            self.label_sources.clear();
            return drifted || had_weights;
        }
        let size = pool_size(state, &state.current.x, EVIDENCE_ROWS);
        let compares = self.params.label_source == LabelSource::Auto;
        if compares && !self.label_sources.is_due(size, self.batches, drifted) {
            return drifted;
        }
        let start = watch.seconds();
        let Some(mut pool) = self.pool(state, state.current.x.view(), EVIDENCE_ROWS) else { return drifted };
        if self.given_shares().is_none() && self.label_sources.wants_shares(size.labels, drifted) {
            self.label_sources.shares = pool.estimate_shares(&self.params.ratio, &self.votes(state), watch);
            pool.set_shares(self.label_sources.shares.clone());
        }
        if compares {
            let failed = |error| {
                self.failures.ok::<()>(Step::Source, Err(error));
            };
            let (evidence, counted) = pool.compare(self.params.seed, &failed, watch);
            self.label_sources.set(&evidence, (counted, chosen), size, self.batches);
            self.label_sources.count_comparison(size);
        }
        self.selection.add_since(start, watch);
        true
    }

    /// Trains the published classifier on labels inferred by sources other than the classifier itself. Returns whether
    /// the published classifier has changed.
    pub(super) fn learn_inferred(
        &self,
        state: &mut StreamState,
        labels: &[InferredLabel],
        watch: &dyn Watch,
    ) -> bool {
        let learns = match self.params.label_source {
            _ if self.params.c_inferred == 0.0 || state.classifier.is_none() => false,
            // SEQ-LAPMED learns unlabeled rows through their graph.
            _ if self.params.classifier == ClassifierChoice::SeqLapmed => false,
            LabelSource::Auto => self.label_sources.teach(state.inferred.is_some(), state.memory.len()),
            LabelSource::Model => false,
            _ => true,
        };
        if !learns {
            return state.inferred.take().is_some();
        }
        let matches = |c: &super::StreamClassifier| c.matches_classes(&state.memory, self.classes.len());
        let is_new = !state.inferred.as_ref().is_some_and(matches);
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
            .filter(|(i, l)| state.current.truth[*i].is_none() && l.source != Some(RowSource::Model))
            .filter_map(|(i, l)| {
                let confidence = ((l.confidence - chance) / (1.0 - chance)).clamp(0.0, 1.0);
                Some((i, l.class?, confidence)).filter(|r| r.2 > 0.0)
            })
            .collect();
        inferred.remove_labeled(&state.memory);
        inferred.make_room(rows.len());
        let sample = |row: usize| state.current.sample_of(row);
        let learned = inferred.infer(state.current.x.view(), &rows, sample, &self.params, watch);
        self.failures.ok(Step::Learning, learned);
        true
    }
}

/// Size of the pool of a batch.
fn pool_size(state: &StreamState, batch: &Matrix, max_unlabeled: usize) -> PoolSize {
    let labels = state.memory.len();
    let remembered = state.transduction.as_ref().map_or(0, Transduction::len);
    let present = state.classifier.as_ref().map_or(2, |c| c.present().len());
    PoolSize {
        rows: labels + (batch.rows() + remembered).min(max_unlabeled),
        labels,
        values: values_per_row(batch),
        outputs: if present == 2 { 1 } else { present },
        linear: state.feature_space.kernel == Kernel::Linear,
    }
}

/// Weight of a label as evidence about the stream. Labels chosen by a query strategy are near the boundary or are
/// outliers.
fn evidence_weight(label: &LabeledSample) -> f64 {
    if is_chosen(label) { CHOSEN_WEIGHT } else { 1.0 }
}

fn is_chosen(label: &LabeledSample) -> bool {
    matches!(label.why, Some(QueryReason::Informative | QueryReason::Novel))
}

fn values_per_row(x: &Matrix) -> f64 {
    let (Matrix::Dense { values, .. } | Matrix::Csr { values, .. }) = x;
    values.len() as f64 / x.rows().max(1) as f64
}
