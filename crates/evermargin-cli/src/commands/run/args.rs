//! What a user can say about a run, and the engine it makes.

use super::engine_args::EngineArgs;
use crate::args::{Common, DataArgs};
use crate::failure::Failure;
use evermargin::engine::EngineParams;
use evermargin_session::{LabelProtocol, Oracle};
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
    /// File for the labels of all rows, tab separated, with a header, a batch at a time: row (its number in the stream), id,
    /// label, confidence, source. Confidence is the estimated probability that the label is right; it is empty for given
    /// labels. Source is given (the true label), model, transduction, tsvm, graph or combined (several, weighted). A
    /// rejected row has the label ? and no source. A resumed run continues the file; one that is first named then begins
    /// with the last finished batch
    #[arg(long, short, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Column of a table that names its rows, by name or by number counted from 1: it is carried to --output and is no
    /// feature
    #[arg(long, value_name = "NAME|INDEX")]
    pub id: Option<String>,
    /// Evaluation protocol: labels of the data, or answers from them, arrive N batches later. What was predicted when a
    /// row arrived is compared with its label then
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = crate::args::values::whole::<u64>(0, evermargin_session::MAX_DELAY))]
    pub label_delay: u64,
    /// Evaluation protocol: the label of a row is available with this probability, by the seed. Queries about other rows
    /// are skipped (--oracle truth); other rows arrive without a label (--oracle none)
    #[arg(long, value_name = "SHARE", default_value_t = 1.0, value_parser = crate::args::values::number)]
    pub label_rate: f64,
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
    pub engine: EngineArgs,
    #[command(flatten)]
    pub input: DataArgs,
}

fn named<T: Copy>(text: &str, all: &[(&str, T)]) -> Result<T, String> {
    let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
    let found = all.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
    found.ok_or_else(|| format!("must be one of {}", names.join(", ")))
}

fn oracle(text: &str) -> Result<Oracle, String> {
    named(text, &[("truth", Oracle::Truth), ("terminal", Oracle::Terminal), ("none", Oracle::None)])
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
        out.extend(named("id", &self.id));
        out
    }

    /// Which labels of the data are used, and when.
    pub fn label_protocol(&self) -> Result<LabelProtocol, Failure> {
        let protocol = LabelProtocol { delay: self.label_delay, rate: self.label_rate };
        protocol.check().map_err(Failure::Usage)?;
        if self.oracle == Oracle::Terminal && protocol != LabelProtocol::default() {
            let what = "--label-delay and --label-rate: a person answers; use --oracle truth or none";
            return Err(Failure::Usage(what.into()));
        }
        Ok(protocol)
    }

    /// The engine that was asked for, with room for the rows that wait for delayed labels.
    pub fn params_of_protocol(&self, common: &Common) -> Result<EngineParams, Failure> {
        let mut params = self.params(common)?;
        let batches = usize::try_from(self.label_delay).unwrap_or(usize::MAX).saturating_add(1);
        if batches > 1 {
            let queries = params.budget.per_batch.saturating_mul(batches);
            params.max_open = params.max_open.max(queries);
            params.max_rows = params.max_rows.max((self.batch as usize).saturating_mul(batches));
            params.check().map_err(Failure::usage)?;
        }
        Ok(params)
    }

    /// The engine that was asked for.
    pub fn params(&self, common: &Common) -> Result<EngineParams, Failure> {
        let params = self.engine.params(common.seed)?;
        let max_rows = params.max_rows.max(self.batch as usize);
        Ok(EngineParams { max_rows, ..params })
    }
}
