//! How the engine is set up: plain data with defaults, checked once.

use super::drift::DriftMethod;
use super::label_sources::Source;
use super::transduction::TransductionParams;
use crate::error::{Error, Result};
use crate::estimators::ClassWeight;
use crate::estimators::med::{MedParams, Schedule};
use crate::estimators::online::lasvm::{LasvmParams, LasvmVariant, Neighborhood};
use crate::estimators::transductive::Ratio;
use crate::estimators::transductive::submod::Variant;
use crate::kernel::Kernel;
use crate::model::ScalingName;
use crate::pipeline::options::Gamma;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How samples to ask about are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueryStrategy {
    /// The nearest to the boundary of a small random pool of the batch.
    SmallPool,
    /// The nearest to the boundary of the whole batch.
    Margin,
    /// Near the boundary and unlike each other.
    Diverse,
    /// SUBMOD-ACTV: ambiguous or far from all labels, unlike each other; [`SubmodWeights`] says how much density counts.
    Submod,
    /// A bandit chooses among random, small pool, diverse and SUBMOD-ACTV by how often answers contradict the classifier.
    Bandit,
    /// Any.
    Random,
    /// Nobody is asked.
    None,
}

impl QueryStrategy {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::SmallPool, Self::Margin, Self::Diverse, Self::Submod, Self::Bandit, Self::Random, Self::None];

    /// The name a user writes.
    pub fn name(self) -> &'static str {
        match self {
            Self::SmallPool => "small-pool",
            Self::Margin => "margin",
            Self::Diverse => "diverse",
            Self::Submod => "submod",
            Self::Bandit => "bandit",
            Self::Random => "random",
            Self::None => "none",
        }
    }
}

impl FromStr for QueryStrategy {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        named("strategy", text, &Self::ALL.map(|strategy| (strategy.name(), strategy)))
    }
}

/// Weights of the set function of SUBMOD-ACTV.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SubmodWeights {
    /// Rows like many others are preferred.
    Dense,
    /// Rows unlike most others are preferred, as in the source.
    Outliers,
    /// Learned from remembered labels, once per batch.
    Learned,
}

impl SubmodWeights {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Dense, Self::Outliers, Self::Learned];

    /// The name a user writes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dense => "dense",
            Self::Outliers => "outliers",
            Self::Learned => "learned",
        }
    }
}

impl FromStr for SubmodWeights {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        named("submod_weights", text, &Self::ALL.map(|weights| (weights.name(), weights)))
    }
}

/// When a sample is compared with a labeled one instead of asking for its class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PairwiseQueries {
    /// By [`super::Event::Compare`].
    OnRequest,
    /// Also when a question for the class is skipped, as soon as new classes are rare.
    AfterSkip,
    /// From the beginning, as soon as new classes are rare; after two classes that it is not, the class is asked for.
    Always,
}

impl PairwiseQueries {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::OnRequest, Self::AfterSkip, Self::Always];

    /// The name a user writes.
    pub fn name(self) -> &'static str {
        match self {
            Self::OnRequest => "on-request",
            Self::AfterSkip => "after-skip",
            Self::Always => "always",
        }
    }
}

impl FromStr for PairwiseQueries {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        named("pairwise_queries", text, &Self::ALL.map(|queries| (queries.name(), queries)))
    }
}

/// The value with a name; an error lists all names.
pub(super) fn named<T: Copy>(parameter: &'static str, text: &str, all: &[(&'static str, T)]) -> Result<T> {
    let found = all.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
    let names = || all.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    found.ok_or_else(|| Error::parameter(parameter, text, format!("one of {}", names())))
}

/// How many questions may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    /// A batch.
    pub per_batch: usize,
    /// In all; none = without end.
    pub total: Option<u64>,
    /// In so many seconds: questions, seconds.
    pub per_time: Option<(u64, u64)>,
    /// Questions that are open at a time; those of one round are chosen without knowing each other's answers. 0 = none
    /// is asked unless [`super::Event::Ask`] wants it.
    pub queries_per_round: usize,
    /// Whether no round begins by itself: questions are asked by [`super::Event::Ask`] alone.
    pub rounds_on_request: bool,
}

impl Default for Budget {
    fn default() -> Self {
        Self { per_batch: 10, total: None, per_time: None, queries_per_round: 1, rounds_on_request: false }
    }
}

/// Which labels a batch is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabelSource {
    /// Those of all sources, weighted by what held-out labels say about each ([`super::LabelSources`]).
    Auto,
    /// Those of the classifier trained on true labels.
    Model,
    /// Those of SUBMOD-S3VM over the pool.
    Transduction,
    /// Those of a transductive SVM over the pool.
    Tsvm,
    /// Those of label propagation over the pool.
    Graph,
}

impl LabelSource {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Auto, Self::Model, Self::Transduction, Self::Tsvm, Self::Graph];

    /// The name a user writes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Model => "model",
            Self::Transduction => "transduction",
            Self::Tsvm => "tsvm",
            Self::Graph => "graph",
        }
    }

    /// The only source; none where sources are weighted.
    pub(super) fn only(self) -> Option<Source> {
        match self {
            Self::Auto => None,
            Self::Model => Some(Source::Model),
            Self::Transduction => Some(Source::Transduction),
            Self::Tsvm => Some(Source::Tsvm),
            Self::Graph => Some(Source::Graph),
        }
    }
}

impl FromStr for LabelSource {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        named("label_source", text, &Self::ALL.map(|source| (source.name(), source)))
    }
}

/// What is forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Forgetting {
    /// Nothing but what exceeds the caps.
    Nothing,
    /// Labels before the last so many.
    Window(usize),
    /// A label counts half after so many batches.
    HalfLife(u64),
    /// When the stream has changed, labels of batches before the last so many.
    OnDrift(u64),
}

/// As a user writes it.
impl fmt::Display for Forgetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("nothing"),
            Self::Window(n) => write!(f, "window={n}"),
            Self::HalfLife(n) => write!(f, "half-life={n}"),
            Self::OnDrift(n) => write!(f, "on-drift={n}"),
        }
    }
}

impl FromStr for Forgetting {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || Error::parameter("forget", text, "nothing, window=N, half-life=N or on-drift=N");
        if text == "nothing" {
            return Ok(Self::Nothing);
        }
        let (name, n) = text.split_once('=').ok_or_else(wrong)?;
        let n: u64 = n.parse().ok().filter(|n| *n > 0).ok_or_else(wrong)?;
        match name {
            "window" => Ok(Self::Window(n as usize)),
            "half-life" => Ok(Self::HalfLife(n)),
            "on-drift" => Ok(Self::OnDrift(n)),
            _ => Err(wrong()),
        }
    }
}

/// The kernel of the classifier.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KernelChoice {
    /// Linear for sparse samples of many columns, else radial with gamma = 1/(d·Var X) of the first batch.
    Auto,
    /// Radial, with its width computed from the first batch where it is not a number.
    Rbf(Gamma),
    /// Polynomial, with its width computed from the first batch where it is not a number.
    Poly {
        /// Width.
        gamma: Gamma,
        /// Power.
        degree: u32,
        /// Constant.
        coef0: f64,
    },
    /// This one.
    Fixed(Kernel),
}

/// The online machine that is the loop's classifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClassifierChoice {
    /// LASVM: keeps the points that its steps need.
    Lasvm,
    /// The local incremental SVM: keeps every label up to the cap; a new one moves its neighborhood.
    Local,
    /// Sequential Laplacian maximum entropy discrimination: also learns the unlabeled rows of every batch.
    SeqLapmed,
}

impl ClassifierChoice {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Lasvm, Self::Local, Self::SeqLapmed];

    /// The name a user writes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lasvm => "lasvm",
            Self::Local => "local",
            Self::SeqLapmed => "seq-lapmed",
        }
    }
}

impl FromStr for ClassifierChoice {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        named("classifier", text, &Self::ALL.map(|choice| (choice.name(), choice)))
    }
}

/// The loss of an engine's classifier, by the name a user writes.
pub fn parse_loss(text: &str) -> Result<LasvmVariant> {
    named("loss", text, &[("hinge", LasvmVariant::Hinge), ("ramp", LasvmVariant::Ramp)])
}

/// Everything there is to say about an engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EngineParams {
    /// The online machine.
    pub classifier: ClassifierChoice,
    /// Weight of the variation along the graph of the first batch in seq-lapmed; batch t counts 1/t of it. 0 = labels
    /// alone.
    pub graph_weight: f64,
    /// Loss of the classifier: hinge, or ramp where labels may be wrong.
    pub loss: LasvmVariant,
    /// Its kernel.
    pub kernel: KernelChoice,
    /// Scaling, fitted on the first batch; none = what suits it.
    pub scale: Option<ScalingName>,
    /// Cost of a true label.
    pub c: f64,
    /// Cost of an inferred label of full confidence, C*; 0 = the published classifier learns from true labels alone.
    pub c_inferred: f64,
    /// Share of the second class, or of each class, among the rows without a label.
    pub ratio: Ratio,
    /// Weights of classes, from their numbers of labels or by name. A name may be that of a class to come.
    pub class_weight: ClassWeight,
    /// Which labels a batch is given.
    pub label_source: LabelSource,
    /// Transduction over batches; none = off.
    pub transduction: Option<TransductionParams>,
    /// How samples to ask about are chosen.
    pub query_strategy: QueryStrategy,
    /// Weights of SUBMOD-ACTV, for the strategy `Submod`.
    pub submod_weights: SubmodWeights,
    /// When samples are compared with labeled ones instead of asking for their class.
    pub pairwise_queries: PairwiseQueries,
    /// Price of a label; none = labels are asked for as far as the budget goes. Given together with `error_price`.
    pub label_price: Option<f64>,
    /// Price of a wrong label given out.
    pub error_price: Option<f64>,
    /// Rows that a label serves; none = as many as were seen so far.
    pub price_horizon: Option<u64>,
    /// How many.
    pub budget: Budget,
    /// Samples in a small pool.
    pub pool: usize,
    /// Share of questions that are drawn at random.
    pub exploration_rate: f64,
    /// What a question is worth: samples further from the boundary than this are not asked about; 1 is the margin.
    pub max_margin_distance: f64,
    /// Whether rows unlike all earlier ones are noticed and asked about.
    pub novelty: bool,
    /// What is forgotten.
    pub forget: Forgetting,
    /// How drift is detected.
    pub drift: DriftMethod,
    /// Most true labels remembered.
    pub max_labels: usize,
    /// Most points of the classifier.
    pub max_points: usize,
    /// Most samples of a batch; larger ones are refused.
    pub max_rows: usize,
    /// Most questions that stay open; older ones lapse.
    pub max_open: usize,
    /// Most classes.
    pub max_classes: usize,
    /// Maximum number of columns that a stream grows to; columns past it that appear later are left out. None: 1,048,576
    /// where rows are sparse, 4,096 where they are dense. A first batch may have more.
    pub max_features: Option<usize>,
    /// Bytes for kernel rows.
    pub cache_bytes: usize,
    /// Seed of everything random.
    pub seed: u64,
}

impl Default for EngineParams {
    fn default() -> Self {
        Self {
            classifier: ClassifierChoice::Lasvm,
            graph_weight: 0.5,
            loss: LasvmVariant::Hinge,
            kernel: KernelChoice::Auto,
            scale: None,
            c: 3.0,
            c_inferred: 3.0,
            ratio: Ratio::Auto,
            class_weight: ClassWeight::None,
            label_source: LabelSource::Auto,
            transduction: Some(Self::default_transduction()),
            query_strategy: QueryStrategy::SmallPool,
            submod_weights: SubmodWeights::Dense,
            pairwise_queries: PairwiseQueries::OnRequest,
            label_price: None,
            error_price: None,
            price_horizon: None,
            budget: Budget::default(),
            pool: crate::active::POOL,
            exploration_rate: 0.1,
            max_margin_distance: 1.0,
            novelty: false,
            forget: Forgetting::OnDrift(5),
            drift: DriftMethod::Windowed,
            max_labels: 4000,
            max_points: 4000,
            max_rows: 100_000,
            max_open: 1000,
            max_classes: 100,
            max_features: None,
            cache_bytes: 1 << 28,
            seed: 1,
        }
    }
}

/// Steps of a local machine in the neighborhood of one label; the end of the batch solves what they leave.
const MAX_LOCAL_STEPS: u64 = 500;

/// Columns from which sparse samples get a linear kernel.
const MANY_COLUMNS: usize = 1000;

impl EngineParams {
    /// Transduction of an engine: the fast variant, with a fixed number of exemplars.
    pub(super) fn default_transduction() -> TransductionParams {
        TransductionParams { variant: Variant::Swift, exemplars: 200, ..Default::default() }
    }

    /// Refuses parameters that make no sense.
    pub fn check(&self) -> Result<()> {
        if !matches!(self.loss, LasvmVariant::Hinge | LasvmVariant::Ramp) {
            return Err(Error::parameter("loss", format!("{:?}", self.loss).to_lowercase(), "hinge or ramp"));
        }
        if self.classifier != ClassifierChoice::Lasvm && self.loss != LasvmVariant::Hinge {
            let allowed = format!("hinge with the classifier {}", self.classifier.name());
            return Err(Error::parameter("loss", "ramp", allowed));
        }
        if !(0.0..=1e6).contains(&self.graph_weight) {
            return Err(Error::parameter("graph_weight", self.graph_weight, "a number from 0 to 1e6"));
        }
        if !(0.0..=1e15).contains(&self.c_inferred) {
            return Err(Error::parameter("c_inferred", self.c_inferred, "a number from 0 to 1e15"));
        }
        if self.max_margin_distance.is_nan() || self.max_margin_distance < 0.0 {
            let allowed = "0 or a positive number";
            return Err(Error::parameter("max_margin_distance", self.max_margin_distance, allowed));
        }
        if let Ratio::Given(shares) = &self.ratio {
            let sum: f64 = shares.iter().sum();
            let inside = shares.iter().all(|s| *s > 0.0 && *s < 1.0) && shares.len() <= self.max_classes;
            if !inside || shares.is_empty() || (shares.len() > 1 && (sum - 1.0).abs() > 1e-6) {
                let allowed = "one number between 0 and 1, or one per class with sum 1";
                return Err(Error::parameter("ratio", format!("{shares:?}"), allowed));
            }
        }
        if !(0.0..=1.0).contains(&self.exploration_rate) {
            return Err(Error::parameter("exploration_rate", self.exploration_rate, "a share from 0 to 1"));
        }
        for (name, price) in [("label_price", self.label_price), ("error_price", self.error_price)] {
            if let Some(price) = price.filter(|p| !(0.0..=1e15).contains(p)) {
                return Err(Error::parameter(name, price, "a number from 0 to 1e15"));
            }
        }
        match (self.label_price, self.error_price) {
            (Some(price), None) => {
                return Err(Error::parameter("label_price", price, "given together with error_price"));
            }
            (None, Some(price)) => {
                return Err(Error::parameter("error_price", price, "given together with label_price"));
            }
            _ => {}
        }
        let counts = [
            ("max_labels", self.max_labels, 10),
            ("max_points", self.max_points, 10),
            ("max_rows", self.max_rows, 1),
            ("max_open", self.max_open, 1),
            ("max_classes", self.max_classes, 2),
            ("pool", self.pool, 1),
        ];
        let max_features = self.max_features.map(|max| ("max_features", max, 1));
        for (name, value, min) in counts.into_iter().chain(max_features) {
            if !(min..=1 << 24).contains(&value) {
                return Err(Error::parameter(name, value, format!("from {min} to 16777216")));
            }
        }
        if let ClassWeight::Explicit(weights) = &self.class_weight
            && let Some(w) = weights.values().find(|w| !(**w > 0.0 && **w <= 1e15))
        {
            return Err(Error::parameter("class_weight", w, "numbers above 0, at most 1e15"));
        }
        if self.budget.queries_per_round > self.max_open {
            return Err(Error::parameter(
                "queries_per_round",
                self.budget.queries_per_round,
                format!("at most {}", self.max_open),
            ));
        }
        if let Forgetting::Window(0) | Forgetting::HalfLife(0) | Forgetting::OnDrift(0) = self.forget {
            return Err(Error::parameter("forget", 0, "1 or more"));
        }
        if let Some((_, 0)) = self.budget.per_time {
            return Err(Error::parameter("per_time", 0, "1 second or more"));
        }
        if self.label_source == LabelSource::Transduction && self.transduction.is_none() {
            return Err(Error::parameter(
                "label_source",
                "transduction",
                "another where transduction is off",
            ));
        }
        self.transduction.as_ref().map_or(Ok(()), TransductionParams::check)?;
        if self.classifier == ClassifierChoice::SeqLapmed {
            return self.seq_lapmed(Kernel::Linear).check();
        }
        self.lasvm(Kernel::Linear).check()
    }

    /// The online machine of the classifier.
    pub(super) fn lasvm(&self, kernel: Kernel) -> LasvmParams {
        LasvmParams {
            variant: if self.classifier == ClassifierChoice::Local { LasvmVariant::Local } else { self.loss },
            kernel,
            c: self.c,
            max_points: self.max_points,
            cache_bytes: self.cache_bytes,
            seed: self.seed,
            local: Neighborhood { max_steps: MAX_LOCAL_STEPS, ..Default::default() },
            ..Default::default()
        }
    }

    /// The belief of the classifier.
    pub(super) fn seq_lapmed(&self, kernel: Kernel) -> MedParams {
        let defaults = MedParams::default();
        MedParams {
            kernel,
            c: self.c,
            beta: self.graph_weight,
            schedule: Schedule::Inverse,
            n_landmarks: defaults.n_landmarks.min(self.max_points / 3).max(1),
            seed: self.seed,
            ..defaults
        }
    }

    /// The kernel for samples like these, already scaled.
    pub(super) fn kernel_for(&self, x: crate::data::MatrixView<'_>) -> Result<Kernel> {
        let sparse = matches!(x, crate::data::MatrixView::Csr { .. });
        let kernel = match self.kernel {
            KernelChoice::Fixed(kernel) => kernel,
            KernelChoice::Auto if sparse && x.cols() >= MANY_COLUMNS => Kernel::Linear,
            KernelChoice::Auto => Kernel::Rbf { gamma: Gamma::Scale.on(x) },
            KernelChoice::Rbf(gamma) => Kernel::Rbf { gamma: gamma.on(x) },
            KernelChoice::Poly { gamma, degree, coef0 } => Kernel::Poly { gamma: gamma.on(x), coef0, degree },
        };
        kernel.check_of_samples()?;
        Ok(kernel)
    }
}
