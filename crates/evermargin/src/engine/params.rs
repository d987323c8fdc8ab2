//! Parameters of the engine: plain data with defaults, checked once.

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

/// Strategy for choosing the samples to query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueryStrategy {
    /// The sample nearest to the boundary in a small random pool of the batch.
    SmallPool,
    /// The sample nearest to the boundary in the whole batch.
    Margin,
    /// Samples near the boundary and unlike each other.
    Diverse,
    /// SUBMOD-ACTV: samples that are ambiguous or far from all labels, and unlike each other; [`SubmodWeights`] weights
    /// density.
    Submod,
    /// A bandit that chooses among random, small pool, diverse and SUBMOD-ACTV by the fraction of answers that
    /// contradict the classifier.
    Bandit,
    /// Samples drawn at random.
    Random,
    /// No queries.
    None,
}

impl QueryStrategy {
    /// All values.
    pub const ALL: [Self; 7] =
        [Self::SmallPool, Self::Margin, Self::Diverse, Self::Submod, Self::Bandit, Self::Random, Self::None];

    /// Name in parameters and files.
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
    /// All values.
    pub const ALL: [Self; 3] = [Self::Dense, Self::Outliers, Self::Learned];

    /// Name in parameters and files.
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

/// Rule for comparing a sample with a labeled one instead of asking for its class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PairwiseQueries {
    /// Only on request, by [`super::Event::Compare`].
    OnRequest,
    /// Also when a query about the class is skipped, once new classes are rare.
    AfterSkip,
    /// Instead of the query about the class, once new classes are rare. After two "different" answers the class is
    /// asked for.
    Always,
}

impl PairwiseQueries {
    /// All values.
    pub const ALL: [Self; 3] = [Self::OnRequest, Self::AfterSkip, Self::Always];

    /// Name in parameters and files.
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

/// Finds the value with a given name; the error lists all names.
pub(super) fn named<T: Copy>(parameter: &'static str, text: &str, all: &[(&'static str, T)]) -> Result<T> {
    let found = all.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
    let names = || all.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    found.ok_or_else(|| Error::parameter(parameter, text, format!("one of {}", names())))
}

/// Limits on the number of queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    /// Maximum number of queries per batch.
    pub per_batch: usize,
    /// Maximum number of queries in total; `None` = no limit.
    pub total: Option<u64>,
    /// Maximum number of queries in a span of time: (queries, seconds).
    pub per_time: Option<(u64, u64)>,
    /// Number of queries in a round, which are chosen without the answers to each other. 0 = no queries except those
    /// that [`super::Event::Ask`] requests.
    pub queries_per_round: usize,
    /// Whether rounds start only on [`super::Event::Ask`], and not by themselves.
    pub rounds_on_request: bool,
}

impl Default for Budget {
    fn default() -> Self {
        Self { per_batch: 10, total: None, per_time: None, queries_per_round: 1, rounds_on_request: false }
    }
}

/// Source of the labels that a batch is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabelSource {
    /// All sources, weighted by their results on held-out labels ([`super::LabelSources`]).
    Auto,
    /// The classifier trained on true labels.
    Model,
    /// SUBMOD-S3VM over the pool.
    Transduction,
    /// A transductive SVM over the pool.
    Tsvm,
    /// Label propagation over the pool.
    Graph,
}

impl LabelSource {
    /// All values.
    pub const ALL: [Self; 5] = [Self::Auto, Self::Model, Self::Transduction, Self::Tsvm, Self::Graph];

    /// Name in parameters and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Model => "model",
            Self::Transduction => "transduction",
            Self::Tsvm => "tsvm",
            Self::Graph => "graph",
        }
    }

    /// The single source; `None` if all sources are weighted.
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

/// Rule for forgetting labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Forgetting {
    /// Labels are forgotten only if they exceed the maximum number.
    Nothing,
    /// All but the latest N labels.
    Window(usize),
    /// The weight of a label is halved every N batches.
    HalfLife(u64),
    /// After drift, labels that are N batches old or older.
    OnDrift(u64),
}

/// Formats the rule as in the parameter `forget`.
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

/// Kernel of the classifier.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KernelChoice {
    /// Linear for sparse samples with many columns, else radial with gamma = 1/(d·Var X) of the first batch.
    Auto,
    /// Radial. Its width is a number, or computed from the first batch.
    Rbf(Gamma),
    /// Polynomial. Its width is a number, or computed from the first batch.
    Poly {
        /// Width.
        gamma: Gamma,
        /// Power.
        degree: u32,
        /// Constant term.
        coef0: f64,
    },
    /// The given kernel.
    Fixed(Kernel),
}

/// Online learner that serves as the classifier of the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClassifierChoice {
    /// LASVM, which keeps the points that its steps need.
    Lasvm,
    /// The local incremental SVM, which keeps every label up to the maximum; a new label changes the coefficients in
    /// its neighborhood.
    Local,
    /// Sequential Laplacian maximum entropy discrimination, which also learns the unlabeled rows of every batch.
    SeqLapmed,
}

impl ClassifierChoice {
    /// All values.
    pub const ALL: [Self; 3] = [Self::Lasvm, Self::Local, Self::SeqLapmed];

    /// Name in parameters and files.
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

/// Parses the loss of the classifier: `hinge` or `ramp`.
pub fn parse_loss(text: &str) -> Result<LasvmVariant> {
    named("loss", text, &[("hinge", LasvmVariant::Hinge), ("ramp", LasvmVariant::Ramp)])
}

/// Parameters of an engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EngineParams {
    /// Online learner.
    pub classifier: ClassifierChoice,
    /// Weight of the variation along the graph of the first batch in seq-lapmed; the weight of batch t is 1/t of it.
    /// 0 = no influence of unlabeled rows.
    pub graph_weight: f64,
    /// Loss of the classifier: hinge, or ramp if labels may be wrong.
    pub loss: LasvmVariant,
    /// Kernel of the classifier.
    pub kernel: KernelChoice,
    /// Scaling, fitted on the first batch; `None` = chosen from that batch.
    pub scale: Option<ScalingName>,
    /// Cost of a margin violation of a true label.
    pub c: f64,
    /// C*, the cost of a margin violation of an inferred label of full confidence; 0 = the published classifier learns
    /// from true labels alone.
    pub c_inferred: f64,
    /// Share of the second class, or of each class, among unlabeled rows.
    pub ratio: Ratio,
    /// Weights of classes, computed from their numbers of labels or given by name. A name may be that of a class that
    /// has not appeared yet.
    pub class_weight: ClassWeight,
    /// Source of the labels that a batch is given.
    pub label_source: LabelSource,
    /// Transduction over batches; `None` = off.
    pub transduction: Option<TransductionParams>,
    /// Strategy for choosing the samples to query.
    pub query_strategy: QueryStrategy,
    /// Weights of SUBMOD-ACTV, for the strategy `Submod`.
    pub submod_weights: SubmodWeights,
    /// Rule for comparing samples with labeled ones instead of asking for their class.
    pub pairwise_queries: PairwiseQueries,
    /// Price of a label; `None` = only the budget limits queries. Must be given together with `error_price`.
    pub label_price: Option<f64>,
    /// Price of a wrong label in the output.
    pub error_price: Option<f64>,
    /// Number of rows for which a label is useful; `None` = as many as were seen so far.
    pub price_horizon: Option<u64>,
    /// Limits on the number of queries.
    pub budget: Budget,
    /// Number of samples in a small pool.
    pub pool: usize,
    /// Fraction of queries that are drawn at random.
    pub exploration_rate: f64,
    /// Maximum distance from the boundary of samples that a strategy queries; the margin is at 1.
    pub max_margin_distance: f64,
    /// Whether rows unlike all earlier ones are reported and queried.
    pub novelty: bool,
    /// Rule for forgetting labels.
    pub forget: Forgetting,
    /// Drift detector.
    pub drift: DriftMethod,
    /// Maximum number of remembered true labels.
    pub max_labels: usize,
    /// Maximum number of points of the classifier.
    pub max_points: usize,
    /// Maximum number of rows per batch; larger batches are refused.
    pub max_rows: usize,
    /// Maximum number of pending queries; the oldest ones lapse.
    pub max_open: usize,
    /// Maximum number of classes.
    pub max_classes: usize,
    /// Maximum number of columns that a stream may grow to; further columns that appear later are left out. `None`:
    /// 1,048,576 for sparse rows, 4,096 for dense rows. The first batch may have more.
    pub max_features: Option<usize>,
    /// Memory for cached kernel rows, in bytes.
    pub cache_bytes: usize,
    /// Random seed.
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

/// Maximum number of steps of a local SVM in the neighborhood of one label; the remaining steps are made at the end of
/// the batch.
const MAX_LOCAL_STEPS: u64 = 500;

/// Number of columns from which sparse samples get a linear kernel.
const MANY_COLUMNS: usize = 1000;

impl EngineParams {
    /// Default parameters of transduction in an engine: the fast variant, with a fixed number of exemplars.
    pub(super) fn default_transduction() -> TransductionParams {
        TransductionParams { variant: Variant::Swift, exemplars: 200, ..Default::default() }
    }

    /// Returns an error for invalid parameters.
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
                "another source if transduction is off",
            ));
        }
        self.transduction.as_ref().map_or(Ok(()), TransductionParams::check)?;
        if self.classifier == ClassifierChoice::SeqLapmed {
            return self.seq_lapmed(Kernel::Linear).check();
        }
        self.lasvm(Kernel::Linear).check()
    }

    /// Parameters of the classifiers `lasvm` and `local`.
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

    /// Parameters of the classifier `seq-lapmed`.
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

    /// Kernel for scaled samples like `x`.
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
