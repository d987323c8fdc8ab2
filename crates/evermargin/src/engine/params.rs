//! How the engine is set up: plain data with defaults, checked once.

use super::transduction::TransductionParams;
use crate::error::{Error, Result};
use crate::estimators::ClassWeight;
use crate::estimators::online::lasvm::{LasvmParams, LasvmVariant};
use crate::kernel::Kernel;
use crate::model::ScalingName;
use serde::{Deserialize, Serialize};
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
    /// SUBMOD-ACTV: ambiguous or far from all labels, away from dense regions, unlike each other; of more than two classes
    /// as `Diverse`.
    Submod,
    /// Any.
    Random,
    /// Nobody is asked.
    None,
}

impl QueryStrategy {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::SmallPool, Self::Margin, Self::Diverse, Self::Submod, Self::Random, Self::None];

    /// The name a user writes.
    pub fn name(self) -> &'static str {
        match self {
            Self::SmallPool => "small-pool",
            Self::Margin => "margin",
            Self::Diverse => "diverse",
            Self::Submod => "submod",
            Self::Random => "random",
            Self::None => "none",
        }
    }
}

impl FromStr for QueryStrategy {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        named("query_strategy", text, &Self::ALL.map(|strategy| (strategy.name(), strategy)))
    }
}

/// The value with a name; an error lists all names.
fn named<T: Copy>(parameter: &'static str, text: &str, all: &[(&'static str, T)]) -> Result<T> {
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
}

impl Default for Budget {
    fn default() -> Self {
        Self { per_batch: 10, total: None, per_time: None, queries_per_round: 1 }
    }
}

/// Which labels a batch is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabelSource {
    /// Those of the classifier, or of transduction if that was right more often of late, by more than chance, on labels
    /// that were not chosen.
    Auto,
    /// Those of the classifier.
    Model,
    /// Those of transduction.
    Transduction,
}

impl FromStr for LabelSource {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let all = [("auto", Self::Auto), ("model", Self::Model), ("transduction", Self::Transduction)];
        named("label_source", text, &all)
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
    /// Radial with gamma = 1/(d·Var X) of the first batch.
    Rbf,
    /// This one.
    Fixed(Kernel),
}

/// The loss of an engine's classifier, by the name a user writes.
pub fn parse_loss(text: &str) -> Result<LasvmVariant> {
    named("loss", text, &[("hinge", LasvmVariant::Hinge), ("ramp", LasvmVariant::Ramp)])
}

/// Everything there is to say about an engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EngineParams {
    /// Loss of the classifier: hinge, or ramp where labels may be wrong.
    pub loss: LasvmVariant,
    /// Its kernel.
    pub kernel: KernelChoice,
    /// Scaling, fitted on the first batch; none = what suits it.
    pub scale: Option<ScalingName>,
    /// Cost of a true label.
    pub c: f64,
    /// Cost of an inferred label, C*; 0 = the classifier learns from true labels alone.
    pub c_inferred: f64,
    /// Least confidence of an inferred label that the classifier learns from.
    pub confidence: f64,
    /// Weights of classes, from their numbers of labels or by name. A name may be that of a class to come.
    pub class_weight: ClassWeight,
    /// Which labels a batch is given.
    pub label_source: LabelSource,
    /// Transduction over batches; none = off.
    pub transduction: Option<TransductionParams>,
    /// How samples to ask about are chosen.
    pub query_strategy: QueryStrategy,
    /// How many.
    pub budget: Budget,
    /// Samples in a small pool.
    pub pool: usize,
    /// Share of questions that are drawn at random.
    pub exploration_rate: f64,
    /// What a question is worth: samples further from the boundary than this are not asked about; 1 is the margin.
    pub max_margin_distance: f64,
    /// What is forgotten.
    pub forget: Forgetting,
    /// Whether to watch for changes of the stream.
    pub watch_drift: bool,
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
    /// Bytes for kernel rows.
    pub cache_bytes: usize,
    /// Seed of everything random.
    pub seed: u64,
}

impl Default for EngineParams {
    fn default() -> Self {
        Self {
            loss: LasvmVariant::Hinge,
            kernel: KernelChoice::Auto,
            scale: None,
            c: 3.0,
            c_inferred: 0.0,
            confidence: 1.0,
            class_weight: ClassWeight::None,
            label_source: LabelSource::Auto,
            transduction: Some(TransductionParams::default()),
            query_strategy: QueryStrategy::SmallPool,
            budget: Budget::default(),
            pool: crate::active::POOL,
            exploration_rate: 0.1,
            max_margin_distance: 1.0,
            forget: Forgetting::Nothing,
            watch_drift: true,
            max_labels: 4000,
            max_points: 4000,
            max_rows: 100_000,
            max_open: 1000,
            max_classes: 100,
            cache_bytes: 1 << 28,
            seed: 1,
        }
    }
}

/// Columns from which sparse samples get a linear kernel.
const MANY_COLUMNS: usize = 1000;

impl EngineParams {
    /// Refuses parameters that make no sense.
    pub fn check(&self) -> Result<()> {
        if !matches!(self.loss, LasvmVariant::Hinge | LasvmVariant::Ramp) {
            return Err(Error::parameter("loss", format!("{:?}", self.loss).to_lowercase(), "hinge or ramp"));
        }
        if !(0.0..=1e15).contains(&self.c_inferred) {
            return Err(Error::parameter("c_inferred", self.c_inferred, "a number from 0 to 1e15"));
        }
        for (name, value) in
            [("confidence", self.confidence), ("max_margin_distance", self.max_margin_distance)]
        {
            if value.is_nan() || value < 0.0 {
                return Err(Error::parameter(name, value, "0 or a positive number"));
            }
        }
        if !(0.0..=1.0).contains(&self.exploration_rate) {
            return Err(Error::parameter("exploration_rate", self.exploration_rate, "a share from 0 to 1"));
        }
        let counts = [
            ("max_labels", self.max_labels, 10),
            ("max_points", self.max_points, 10),
            ("max_rows", self.max_rows, 1),
            ("max_open", self.max_open, 1),
            ("max_classes", self.max_classes, 2),
            ("pool", self.pool, 1),
        ];
        for (name, value, min) in counts {
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
                "round",
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
        self.lasvm(Kernel::Linear).check()
    }

    /// The online machine of the classifier.
    pub(super) fn lasvm(&self, kernel: Kernel) -> LasvmParams {
        LasvmParams {
            variant: self.loss,
            kernel,
            c: self.c,
            max_points: self.max_points,
            cache_bytes: self.cache_bytes,
            seed: self.seed,
            ..Default::default()
        }
    }

    /// The kernel for samples like these, already scaled.
    pub(super) fn kernel_for(&self, x: crate::data::MatrixView<'_>) -> Result<Kernel> {
        let sparse = matches!(x, crate::data::MatrixView::Csr { .. });
        let kernel = match self.kernel {
            KernelChoice::Fixed(kernel) => kernel,
            KernelChoice::Auto if sparse && x.cols() >= MANY_COLUMNS => Kernel::Linear,
            KernelChoice::Auto | KernelChoice::Rbf => {
                Kernel::Rbf { gamma: crate::pipeline::options::Gamma::Scale.on(x) }
            }
        };
        kernel.check_of_samples()?;
        Ok(kernel)
    }
}
