//! The engine for endless streams, as a state machine: [`Engine::apply`] takes an [`Event`] and returns [`Effects`].
//!
//! Problem: samples arrive in an endless sequence of batches, few of them with labels. The engine labels each batch,
//! queries an annotator for the labels of the few samples that are worth it, and keeps a classifier up to date, in
//! memory that the parameters bound. Source: Emara 2012 (digest section 12; the source implies this loop but never
//! states it), and Ertekin 2009 for the classifier and the queries.
//!
//! A batch is labeled on arrival, before any label of it is used: by the classifier and by methods that also use
//! unlabeled rows, weighted by their results on held-out labels ([`label_sources`]). Their pool holds the batch, the
//! previous batch and exemplars of all older ones ([`transduction`]). Then samples are queried in rounds. Every answer
//! is learned at once, and the updated classifier chooses the next round. When the batch is closed (by a tick or by the
//! next batch), the classifier reviews remembered labels and is optimized, the batch is labeled again with everything
//! that is known by then, the past is summarized, and a new version of the model is published.
//!
//! Departures: the source leaves open which labels, in addition to true ones, the classifier learns. The published
//! classifier also learns inferred labels, each at the cost C* times its confidence, unless C* is 0. The classifier is
//! rebuilt from the remembered labels if a label is corrected or withdrawn, and if a new class appears.
//!
//! Accuracy and drift are measured only on labels that no query strategy chose: labels that came with their rows or
//! later by themselves, and answers to queries drawn at random. Chosen samples lie near the boundary, where about half
//! of the predictions are wrong.
//!
//! An event is planned, which can fail and changes nothing, and then committed, which cannot fail (`plan.rs`). Rows
//! that cannot be used are rejected one by one, and the rest of their batch applies (`prepare_batch.rs`).
//!
//! Invariants: equal events give equal states and effects, whatever the number of threads; a refused event changes
//! nothing; a saved state resumes with bit-identical results; the labels of a batch are never used before the batch was
//! labeled (prequential evaluation). There is no clock and no ambient randomness: ticks carry the time, and every draw
//! follows from the seed and the number of the draw.

mod classes;
mod classifier;
mod comparisons;
mod constant_columns;
mod delayed_labels;
pub mod drift;
mod event;
mod evicted_centroids;
mod failures;
mod feature_space;
mod label_choice;
mod label_memory;
pub mod label_sources;
mod labeling;
mod load;
mod monitor;
mod new_columns;
mod novelty;
mod on_batch;
mod on_feedback;
mod on_tick;
mod outliers;
mod pairwise_closure;
mod pairwise_constraints;
mod params;
mod plan;
mod prepare_batch;
mod priced_queries;
mod query;
mod query_context;
mod query_state;
mod rejected;
pub mod spec;
mod state;
pub mod transduction;
mod validate;

pub use classes::Classes;
pub use drift::DriftMethod;
pub use event::{
    Drift, DriftSign, Effects, Event, ImpliedLabel, InferredLabel, QueryReason, Question, Reference,
    RowSource,
};
pub use feature_space::MAX_SCALED_LENGTH;
pub use label_choice::LabelChoice;
pub use label_memory::{LabelMemory, LabeledSample};
pub use label_sources::{LabelSources, Source, SourceWeight};
pub use monitor::{PairedComparison, Rate, StreamMetrics};
pub use params::{
    Budget, ClassifierChoice, EngineParams, Forgetting, KernelChoice, LabelSource, PairwiseQueries,
    QueryStrategy, SubmodWeights, parse_loss,
};
pub use plan::Plan;
pub use priced_queries::LearningCurve;
pub use query_context::BudgetUsage;
pub use rejected::{RejectReason, RejectedRow};
pub use spec::{ENGINE_PARAMS, ParamGroup, engine_param_specs};

use crate::error::Result;
use crate::estimators::online::lasvm::LasvmVariant;
use crate::model::{Classifier, InputSpec};
use crate::params::ParamValues;
use crate::solver::Watch;
use crate::summary::ExemplarParams;
use classifier::StreamClassifier;
use failures::Failures;
use label_sources::Stopwatch;
use new_columns::ColumnGrowth;
use plan::Identity;
use query_state::QueryState;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};
use state::StreamState;
use transduction::{SummaryReport, Transduction};

/// Maximum of any counter in a saved state, so that further counting does not overflow.
const MAX_COUNT: u64 = 1 << 53;

/// The engine. It is also its own saved state: a deserialized engine is checked (`load.rs`) and resumes with
/// bit-identical results. Cached kernel values are neither saved nor copied. See [`self`](crate::engine).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct Engine {
    params: EngineParams,
    classes: Classes,
    state: Option<StreamState>,
    metrics: StreamMetrics,
    budget_usage: BudgetUsage,
    query_state: QueryState,
    rows: u64,
    batches: u64,
    version: u64,
    draws: u64,
    misses: u32,
    /// Whether drift was detected since the last batch was closed.
    drifted: bool,
    now: u64,
    last_summary: SummaryReport,
    /// Number of labels of each class that no query strategy chose.
    unchosen: Vec<u64>,
    label_sources: LabelSources,
    /// Number of committed events.
    events: u64,
    rejected_rows: u64,
    rejected_labels: u64,
    /// Number of rows far outside the feature space, over the latest batches in which at least half of the rows are.
    outside: usize,
    growth: ColumnGrowth,
    #[serde(default, skip_serializing_if = "Failures::is_empty")]
    failures: Failures,
    #[serde(skip)]
    selection: Stopwatch,
    #[serde(skip)]
    identity: Identity,
}

impl Engine {
    /// An engine before its first event.
    pub fn new(params: &EngineParams) -> Result<Self> {
        params.check()?;
        Ok(Self {
            params: params.clone(),
            classes: Classes::default(),
            state: None,
            metrics: StreamMetrics::new(params.drift),
            budget_usage: BudgetUsage::default(),
            query_state: QueryState::new(params.query_strategy)?,
            rows: 0,
            batches: 0,
            version: 0,
            draws: 0,
            misses: 0,
            drifted: false,
            now: 0,
            last_summary: SummaryReport::default(),
            unchosen: Vec::new(),
            label_sources: LabelSources::default(),
            events: 0,
            rejected_rows: 0,
            rejected_labels: 0,
            outside: 0,
            growth: ColumnGrowth::default(),
            failures: Failures::default(),
            selection: Stopwatch::default(),
            identity: Identity::default(),
        })
    }

    /// Evicts remembered labels in excess of the maximum.
    fn evict_labels(&self, state: &mut StreamState, watch: &dyn Watch) {
        let exemplars = ExemplarParams { kernel: state.feature_space.kernel, ..Default::default() };
        state.memory.evict_excess(self.params.max_labels, self.classes.len(), &exemplars, watch);
    }

    fn publish(&mut self, effects: &mut Effects) {
        if self.state.as_ref().is_some_and(|b| b.classifier.is_some()) {
            self.version += 1;
            effects.published = Some(self.version);
        }
    }

    /// The current published classifier; `None` unless at least two classes have labels.
    pub fn classifier(&self) -> Option<Classifier> {
        let state = self.state.as_ref()?;
        let classifier = state.inferred.as_ref().or(state.classifier.as_ref())?;
        let params = ParamValues::from([
            ("kernel".into(), state.feature_space.kernel.name().into()),
            ("c".into(), self.params.c.into()),
            ("version".into(), self.version.into()),
            ("labels".into(), state.memory.len().into()),
            ("rows".into(), self.rows.into()),
        ]);
        Some(Classifier {
            learner: match (self.params.classifier, self.params.loss) {
                (ClassifierChoice::Lasvm, LasvmVariant::Ramp) => "lasvm-nc",
                (ClassifierChoice::Lasvm, _) => "lasvm",
                (ClassifierChoice::Local, _) => "local-svc",
                (ClassifierChoice::SeqLapmed, _) => "seq-lapmed",
            }
            .into(),
            params,
            classes: classifier.present().iter().map(|&c| self.classes.names()[c as usize].clone()).collect(),
            scheme: classifier.scheme(),
            model: classifier.model(),
            scaling: state.feature_space.scaling.clone(),
            input: InputSpec::default(),
            calibration: Vec::new(),
        })
    }

    /// Parameters.
    pub fn params(&self) -> &EngineParams {
        &self.params
    }

    /// Classes seen so far.
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// Accuracy and drift, measured on labels that no query strategy chose.
    pub fn metrics(&self) -> &StreamMetrics {
        &self.metrics
    }

    /// Label sources and their weights.
    pub fn label_sources(&self) -> &LabelSources {
        &self.label_sources
    }

    /// Seconds spent on comparing the label sources since the engine was created or loaded, by the clocks of the
    /// watches.
    pub fn selection_seconds(&self) -> f64 {
        self.selection.seconds
    }

    /// Number of queries counted against the budget.
    pub fn budget_usage(&self) -> BudgetUsage {
        self.budget_usage
    }

    /// Fraction of useful queries and number of answered queries of each arm of the bandit; empty for other strategies.
    pub fn query_arms(&self) -> Vec<(QueryStrategy, f64, u64)> {
        let arms = self.query_state.bandit.iter().flat_map(crate::active::Bandit::arms);
        let named = query_state::ARMS.iter().zip(arms);
        named.map(|((strategy, _), arm)| (*strategy, arm.usefulness(), arm.answers)).collect()
    }

    /// Error rate as a function of the number of labels, estimated from labels that no query strategy chose.
    pub fn learning_curve(&self) -> LearningCurve {
        self.query_state.curve
    }

    /// Number of events committed so far.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Number of rows rejected so far.
    pub fn rejected_rows(&self) -> u64 {
        self.rejected_rows
    }

    /// Number of labels rejected so far; their rows were used without them.
    pub fn rejected_labels(&self) -> u64 {
        self.rejected_labels
    }

    /// Number of columns of the stream so far; 0 before the first usable row.
    pub fn columns(&self) -> usize {
        self.state.as_ref().map_or(0, |b| b.feature_space.cols())
    }

    /// Maximum, over all batches, of the number of columns left out because of [`EngineParams::max_features`].
    pub fn dropped_columns(&self) -> usize {
        self.growth.dropped
    }

    /// Number of rows so far, including rejected ones.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Number of batches so far.
    pub fn batches(&self) -> u64 {
        self.batches
    }

    /// Time of the latest tick, in seconds.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Version of the published model.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Remembered true labels.
    pub fn memory(&self) -> Option<&LabelMemory> {
        self.state.as_ref().map(|b| &b.memory)
    }

    /// Size and cost of the last summary.
    pub fn last_summary(&self) -> SummaryReport {
        self.last_summary
    }

    /// Memory of unlabeled samples.
    pub fn transduction(&self) -> Option<&Transduction> {
        self.state.as_ref()?.transduction.as_ref()
    }

    /// Number of support vectors of the published classifier.
    pub fn support_count(&self) -> usize {
        let published = |b: &StreamState| {
            b.inferred.as_ref().or(b.classifier.as_ref()).map_or(0, StreamClassifier::support_count)
        };
        self.state.as_ref().map_or(0, published)
    }

    /// Number of stored samples: labels, exemplars, batches, pending queries, awaited labels and points of the
    /// classifier.
    pub fn stored_samples(&self) -> usize {
        self.state.as_ref().map_or(0, |b| {
            b.memory.len()
                + b.transduction.as_ref().map_or(0, Transduction::len)
                + b.current.x.rows()
                + b.pending.of.len()
                + b.awaited.of.len()
                + b.classifier.as_ref().map_or(0, StreamClassifier::len)
        })
    }

    /// Numbers of the samples with a pending query, oldest first.
    pub fn pending_queries(&self) -> Vec<u64> {
        self.state.as_ref().map_or_else(Vec::new, |b| b.pending.of.iter().map(|q| q.sample).collect())
    }

    /// Labeled sample with which a pending query compares its sample; `None` for a query about the class.
    pub fn reference_of(&self, sample: u64) -> Option<Reference> {
        let pending = &self.state.as_ref()?.pending;
        pending.of[pending.find(sample)?].question(None, &self.classes).reference
    }

    /// Whether [`Event::Compare`] can be applied to a sample.
    pub fn can_compare(&self, sample: u64) -> bool {
        self.validate_comparison(sample).is_ok()
    }

    /// Names of the classes that pairwise constraints exclude for a sample.
    pub fn excluded_classes(&self, sample: u64) -> Vec<&str> {
        let excluded =
            self.state.as_ref().map(|state| state.constraints.excluded(sample)).unwrap_or_default();
        excluded.into_iter().map(|class| self.classes.names()[class as usize].as_str()).collect()
    }
}

/// Random generator of draw number `draw`.
fn draw(seed: u64, draw: u64) -> Pcg64 {
    Pcg64::seed_from_u64(seed ^ draw.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

fn shuffle(order: &mut [usize], seed: u64, number: u64) {
    order.shuffle(&mut draw(seed, number));
}
