//! What a user can say about a run, and the engine it makes.

use crate::args::{Common, DataArgs};
use crate::failure::Failure;
use evermargin::engine::transduction::TransductionParams;
use evermargin::engine::{Budget, EngineParams, Forgetting, KernelChoice, LabelSource, QueryStrategy};
use evermargin::estimators::ClassWeight;
use evermargin::estimators::online::lasvm::LasvmVariant;
use evermargin::estimators::transductive::submod::Variant;
use evermargin::kernel::Kernel;
use evermargin::pipeline::train::{Gamma, ScalingChoice};
use evermargin_session::Oracle;
use std::path::PathBuf;

/// Learn from a stream that need not end: label, ask, remember, keep a model current
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
    evermargin run mail.csv --label class --budget 200 --report mail.html     (simulated: the labels answer)\n  \
    evermargin run inbox/ --follow --text body --oracle terminal --state mail (a person answers; stop and go on)\n  \
    tail -f log.jsonl | evermargin run - --format jsonl --oracle none --model now.evm")]
pub struct RunArgs {
    /// Files, folders (their files in order of names), or - for standard input, one after the other
    #[arg(required = true, value_name = "STREAM")]
    pub streams: Vec<PathBuf>,
    /// Who answers: truth (the labels of the data, hidden otherwise), terminal (a person), none (labels of the data
    /// are given as they come)
    #[arg(long, value_name = "WHO", default_value = "truth", value_parser = oracle)]
    pub oracle: Oracle,
    /// Folder that keeps everything: with it a run can be stopped at any moment and goes on where it was
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,
    /// Rows of a batch
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = crate::args::values::from_one)]
    pub batch: u64,
    /// Keep waiting for files in a folder
    #[arg(long)]
    pub follow: bool,
    /// Stop after so many batches
    #[arg(long, value_name = "N", value_parser = crate::args::values::whole::<u64>(0, u64::MAX))]
    pub batches: Option<u64>,
    /// Number of features of LIBSVM text [default: that of the files; of standard input, of its first batch]
    #[arg(long, value_name = "N", value_parser = crate::args::values::whole::<usize>(0, u64::MAX))]
    pub features: Option<usize>,
    /// File for the model, written when the run ends and every 20 batches
    #[arg(long, value_name = "MODEL")]
    pub model: Option<PathBuf>,
    /// File for the labels of all rows, tab separated, a batch at a time: number of the row in the stream, label,
    /// confidence. A rejected row has the label ?. A resumed run continues the file; one that is first named then begins
    /// with the last finished batch
    #[arg(long, short, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// File for rows that could not be used, tab separated, a batch at a time: number of the row in the stream, file,
    /// line, column, value, reason. Resumed like --output
    #[arg(long, value_name = "FILE")]
    pub rejects: Option<PathBuf>,
    /// Continue a state that was computed on a CPU with other features; results may differ in their last bits
    #[arg(long)]
    pub force: bool,
    /// Page with curves: accuracy against labels (also of asking at random), time and memory, classes, changes
    #[arg(long, value_name = "HTML")]
    pub report: Option<PathBuf>,
    #[command(flatten)]
    pub query_strategy: QueryArgs,
    #[command(flatten)]
    pub learning: LearningArgs,
    #[command(flatten)]
    pub input: DataArgs,
}

/// Questions.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Asking")]
pub struct QueryArgs {
    /// Most questions in all [default: no limit]
    #[arg(long, value_name = "N", value_parser = crate::args::values::whole::<u64>(0, u64::MAX))]
    pub budget: Option<u64>,
    /// Most questions a batch
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = crate::args::values::whole::<usize>(0, u64::MAX))]
    pub queries_per_batch: usize,
    /// Most questions in some time: N/SECONDS
    #[arg(long, value_name = "N/S", value_parser = per_time)]
    pub per_time: Option<(u64, u64)>,
    /// Questions at a time; the next ones follow from the answers
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = crate::args::values::whole::<usize>(0, u64::MAX))]
    pub queries_per_round: usize,
    /// How samples are chosen: small-pool, margin, diverse, submod, random or none
    #[arg(long, value_name = "NAME", default_value = "small-pool", value_parser = asking)]
    pub strategy: QueryStrategy,
    /// Share of questions drawn at random, which tell how good the labels are
    #[arg(long, value_name = "SHARE", default_value_t = 0.1, value_parser = crate::args::values::number)]
    pub exploration_rate: f64,
    /// Ask only about samples no further from the boundary than this; 1 is the margin
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = crate::args::values::number)]
    pub max_margin_distance: f64,
}

/// The classifier and what is remembered.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Learning")]
pub struct LearningArgs {
    /// Kernel: auto (linear for sparse rows of many columns, else rbf), rbf, linear or poly
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub kernel: String,
    /// Width of the kernel: a number or scale = 1/(d·Var X) of the first batch [default: scale]
    #[arg(long, value_name = "X", value_parser = crate::args::values::gamma)]
    pub gamma: Option<Gamma>,
    /// Power of the poly kernel
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = crate::args::values::whole::<u32>(0, u32::MAX.into()))]
    pub degree: u32,
    /// Cost of a label
    #[arg(long, value_name = "X", default_value_t = 3.0, value_parser = crate::args::values::number)]
    pub c: f64,
    /// Cost of a label the engine inferred itself; 0 = it does not learn from those
    #[arg(long, value_name = "X", default_value_t = 0.0, value_parser = crate::args::values::number)]
    pub c_inferred: f64,
    /// Loss: hinge, or ramp where labels may be wrong
    #[arg(long, value_name = "NAME", default_value = "hinge", value_parser = loss)]
    pub loss: LasvmVariant,
    /// Class weights: none, balanced (equal total weight per class), ratio (n_largest / n_class), or CLASS=WEIGHT,…
    #[arg(long, value_name = "WEIGHTS", default_value = "none", value_parser = crate::args::values::class_weight)]
    pub class_weight: ClassWeight,
    /// Scaling, from the first batch: minmax, standard, range, unit, tfidf or none [default: chosen from it]
    #[arg(long, value_name = "NAME", value_parser = crate::args::values::scaling)]
    pub scale: Option<ScalingChoice>,
    /// Which labels rows are given: model, transduction (from structure), or auto: of the model unless transduction was
    /// right more often of late
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = labeling)]
    pub label_source: LabelSource,
    /// Share of a batch's labels that may change when the past is summarized; 0 is strict
    #[arg(long, value_name = "SHARE", default_value_t = 0.05, value_parser = crate::args::values::number)]
    pub tolerance: f64,
    /// Most exemplars; 0 = as many as a batch has rows
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = crate::args::values::whole::<usize>(0, u64::MAX))]
    pub exemplars: usize,
    /// Batches as which rows that are remembered no more count in transduction, by the mean of their class; 0 = not at all
    #[arg(long, value_name = "N", default_value_t = 0.0, value_parser = crate::args::values::number)]
    pub evicted_weight: f64,
    /// What is forgotten: nothing, window=N labels, half-life=N batches, or on-drift=N: labels older than N batches
    /// when the stream has changed
    #[arg(long, value_name = "RULE", default_value = "nothing", value_parser = forget)]
    pub forget: Forgetting,
    /// Most labels remembered
    #[arg(long, value_name = "N", default_value_t = 4000, value_parser = crate::args::values::whole::<usize>(0, u64::MAX))]
    pub max_labels: usize,
    /// Most points of the classifier
    #[arg(long, value_name = "N", default_value_t = 4000, value_parser = crate::args::values::whole::<usize>(0, u64::MAX))]
    pub max_points: usize,
}

fn named<T: Copy>(text: &str, all: &[(&str, T)]) -> Result<T, String> {
    let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
    let found = all.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
    found.ok_or_else(|| format!("must be one of {}", names.join(", ")))
}

fn oracle(text: &str) -> Result<Oracle, String> {
    named(text, &[("truth", Oracle::Truth), ("terminal", Oracle::Terminal), ("none", Oracle::None)])
}

/// A value that the engine parses, with its words for what is allowed.
fn parsed<T>(value: evermargin::Result<T>) -> Result<T, String> {
    value.map_err(|error| match error {
        evermargin::Error::Parameter { allowed, .. } => format!("must be {allowed}"),
        other => other.to_string(),
    })
}

fn asking(text: &str) -> Result<QueryStrategy, String> {
    parsed(text.parse())
}

fn loss(text: &str) -> Result<LasvmVariant, String> {
    parsed(evermargin::engine::parse_loss(text))
}

fn labeling(text: &str) -> Result<LabelSource, String> {
    parsed(text.parse())
}

fn per_time(text: &str) -> Result<(u64, u64), String> {
    let parts = text.split_once('/').and_then(|(n, s)| Some((n.parse().ok()?, s.parse().ok()?)));
    parts.filter(|(_, s)| *s > 0).ok_or_else(|| "must be N/SECONDS, as in 20/3600".into())
}

fn forget(text: &str) -> Result<Forgetting, String> {
    parsed(text.parse())
}

impl RunArgs {
    /// The streams and how they are read: what must stay the same for a run to go on.
    pub fn reading(&self) -> Vec<String> {
        let input = &self.input;
        let mut out: Vec<String> = self.streams.iter().map(|s| s.display().to_string()).collect();
        let named = |name: &str, value: &Option<String>| value.as_ref().map(|v| format!("--{name} {v}"));
        out.extend(named("label", &input.label));
        out.extend(input.text.iter().map(|t| format!("--text {t}")));
        out.extend(named("columns", &input.columns.as_ref().map(|c| c.join(","))));
        out.extend(named("positive", &input.positive));
        out.extend(named("format", &input.format.map(|f| f.name().to_string())));
        out
    }

    /// The engine that was asked for.
    pub fn params(&self, common: &Common) -> Result<EngineParams, Failure> {
        let (asking, learning) = (&self.query_strategy, &self.learning);
        let scale = match learning.scale {
            None => None,
            Some(ScalingChoice::Named(name)) => Some(name),
            Some(ScalingChoice::Divide(_)) => {
                return Err(Failure::Usage("--scale divide=N: not for a stream; use another scaling".into()));
            }
        };
        if asking.queries_per_round == 0 {
            return Err(Failure::Usage(
                "--queries-per-round 0: must be 1 or more; --strategy none asks nobody".into(),
            ));
        }
        let defaults = EngineParams::default();
        let params = EngineParams {
            loss: learning.loss,
            kernel: learning.kernel()?,
            scale,
            c: learning.c,
            c_inferred: learning.c_inferred,
            class_weight: learning.class_weight.clone(),
            label_source: learning.label_source,
            transduction: Some(TransductionParams {
                variant: Variant::Swift,
                tolerance: learning.tolerance,
                exemplars: learning.exemplars,
                evicted_weight: learning.evicted_weight,
                ..Default::default()
            }),
            query_strategy: asking.strategy,
            budget: Budget {
                per_batch: asking.queries_per_batch,
                total: asking.budget,
                per_time: asking.per_time,
                queries_per_round: asking.queries_per_round,
            },
            exploration_rate: asking.exploration_rate,
            max_margin_distance: asking.max_margin_distance,
            forget: learning.forget,
            max_labels: learning.max_labels,
            max_points: learning.max_points,
            max_rows: (self.batch as usize).max(defaults.max_rows),
            seed: common.seed,
            ..defaults
        };
        params.check().map_err(Failure::usage)?;
        Ok(params)
    }
}

impl LearningArgs {
    fn kernel(&self) -> Result<KernelChoice, Failure> {
        let gamma = match self.gamma {
            Some(Gamma::Value(gamma)) => Some(gamma),
            Some(Gamma::Auto) => {
                return Err(Failure::Usage("--gamma auto: give a number, or scale".into()));
            }
            Some(Gamma::Scale) | None => None,
        };
        match (self.kernel.as_str(), gamma) {
            ("auto" | "rbf", Some(gamma)) => Ok(KernelChoice::Fixed(Kernel::Rbf { gamma })),
            ("auto", None) => Ok(KernelChoice::Auto),
            ("rbf", None) => Ok(KernelChoice::Rbf),
            ("linear", _) => Ok(KernelChoice::Fixed(Kernel::Linear)),
            ("poly", gamma) => {
                let (gamma, degree) = (gamma.unwrap_or(1.0), self.degree);
                Ok(KernelChoice::Fixed(Kernel::Poly { gamma, coef0: 1.0, degree }))
            }
            (other, _) => Err(Failure::Usage(format!("--kernel {other}: must be auto, rbf, linear or poly"))),
        }
    }
}
