//! Options of `evermargin run`, and the engine parameters that follow from them.

use super::engine_args::EngineArgs;
use crate::args::help::examples;
use crate::args::{Common, DataArgs};
use crate::failure::Failure;
use evermargin::engine::EngineParams;
use evermargin_session::{LabelProtocol, Oracle};
use std::path::PathBuf;

/// Learn from a stream: label its rows, query an annotator, keep a model up to date
#[derive(Debug, clap::Args)]
#[command(after_help = examples(
    "To let a person answer the queries, use --oracle terminal and --state DIR. To follow a folder, use --follow.",
    &["evermargin generate drift --rows 3000 -o drift.csv"],
    [
        ("Simulate an annotator with the labels of the data, and write a page of curves", "evermargin run drift.csv --budget 100 --report drift.html"),
        ("Learn from all labels as they come, and keep a model up to date", "evermargin run drift.csv --oracle none --state drift-state --model drift.evm"),
    ],
))]
pub struct RunArgs {
    /// Files, folders (files in the order of their names) or - for standard input, one after the other
    #[arg(required = true, value_name = "STREAM")]
    pub streams: Vec<PathBuf>,
    /// Source of answers to queries: truth, terminal or none
    ///
    /// truth simulates an annotator: the labels of the data are hidden and answer the queries. terminal is a person. With none,
    /// queries remain unanswered, and the labels of the data are used as they come.
    #[arg(long, value_name = "SOURCE", default_value = "truth", value_parser = oracle)]
    pub oracle: Oracle,
    /// Save the state of the run in this folder; the same command resumes it at any time
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,
    /// Number of rows per batch
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = crate::args::values::from_one)]
    pub batch: u64,
    /// Wait for new files in the folders
    #[arg(long)]
    pub follow: bool,
    /// Stop after this number of batches [default: no limit]
    #[arg(long, value_name = "N", value_parser = crate::args::values::whole::<u64>(0, u64::MAX))]
    pub batches: Option<u64>,
    /// Number of features of LIBSVM text [default: from the files; for standard input from its first batch]
    #[arg(long, hide_short_help = true, value_name = "N", value_parser = crate::args::values::whole::<usize>(0, u64::MAX))]
    pub features: Option<usize>,
    /// Write the model to this file, at the end and every 20 batches
    #[arg(long, value_name = "MODEL")]
    pub model: Option<PathBuf>,
    /// Write the labels of all rows to this file, tab separated
    ///
    /// Columns: row (number in the stream), id, label, confidence, source. Confidence is the estimated probability that the label
    /// is correct; it is empty for given labels. Source is given (the true label), model, transduction, tsvm, graph or combined
    /// (several, weighted). A rejected row has the label ? and no source. Lines are written after each batch. A resumed run
    /// continues the file; a file that is new in a resumed run begins with the last finished batch.
    #[arg(long, short, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Column of row names, by name or number, which is copied to --output and is not a feature
    #[arg(long, hide_short_help = true, value_name = "NAME|INDEX")]
    pub id: Option<String>,
    /// Evaluation protocol: labels of the data arrive this number of batches after their rows
    ///
    /// The prediction made when a row arrived is then compared with its label.
    #[arg(long, hide_short_help = true, value_name = "N", default_value_t = 0, value_parser = crate::args::values::whole::<u64>(0, evermargin_session::MAX_DELAY))]
    pub label_delay: u64,
    /// Evaluation protocol: the label of a row is available with this probability
    ///
    /// With --oracle truth, queries about other rows are skipped; with --oracle none, other rows arrive without a label. The random
    /// choice depends on the seed.
    #[arg(long, hide_short_help = true, value_name = "SHARE", default_value_t = 1.0, value_parser = crate::args::values::number)]
    pub label_rate: f64,
    /// Write rejected rows to this file, tab separated
    ///
    /// Columns: row (number in the stream), file, line, column, value, reason. A resumed run continues the file.
    #[arg(long, value_name = "FILE")]
    pub rejects: Option<PathBuf>,
    /// Resume a state from a CPU with other features; results may differ in their last bits
    #[arg(long, hide_short_help = true)]
    pub force: bool,
    /// Write a page with curves of accuracy, labels, time and memory to this file
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
    /// The streams and the options for reading them, which must not change when a run is resumed.
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

    /// The protocol for the labels of the data: their delay and their rate.
    pub fn label_protocol(&self) -> Result<LabelProtocol, Failure> {
        let protocol = LabelProtocol { delay: self.label_delay, rate: self.label_rate };
        protocol.check().map_err(Failure::Usage)?;
        if self.oracle == Oracle::Terminal && protocol != LabelProtocol::default() {
            let message = "--label-delay and --label-rate: not possible with --oracle terminal; use --oracle truth or none";
            return Err(Failure::Usage(message.into()));
        }
        Ok(protocol)
    }

    /// The requested engine parameters, with limits large enough for the rows that wait for delayed labels.
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

    /// The requested engine parameters.
    pub fn params(&self, common: &Common) -> Result<EngineParams, Failure> {
        let params = self.engine.params(common.seed)?;
        let max_rows = params.max_rows.max(self.batch as usize);
        Ok(EngineParams { max_rows, ..params })
    }
}
