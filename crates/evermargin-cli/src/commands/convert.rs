//! `evermargin convert`: conversion of a model or a data set to another format.

use crate::args::help::examples;
use crate::args::{Common, DataArgs};
use crate::failure::Failure;
use crate::input;
use crate::output::console::{self, count};
use crate::output::files::Files;
use evermargin::model::{Classifier, Column};
use evermargin_io::artifacts::model;
use evermargin_io::{Limits, ReadOptions, Table, json, libsvm_model, onnx, write_atomic, write_data};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Convert a model or a data set to another format
#[derive(Debug, clap::Args)]
#[command(after_help = examples(
    "",
    &["evermargin generate two-moons -o moons.csv", "evermargin fit moons.csv"],
    [
        ("Convert a model to ONNX", "evermargin convert moons.evm moons.onnx"),
        ("Convert a table to NumPy arrays", "evermargin convert moons.csv moons.npz"),
    ],
))]
pub struct ConvertArgs {
    /// Model (a model file, a LIBSVM model or JSON) or data; - is standard input
    pub model: PathBuf,
    /// File to write, in the format of its ending or of --to; - is standard output
    ///
    /// Models: .evm, .onnx, .json or .model. Data: .svm, .libsvm, .txt, .csv, .tsv, .jsonl, .npy or .npz; an additional .gz, .xz or
    /// .zst compresses the file.
    pub output: PathBuf,
    /// Format of the written model: libsvm, onnx, json or evermargin [default: by the ending of OUTPUT]
    #[arg(long, value_name = "FORMAT", value_parser = target)]
    pub to: Option<Target>,
    #[command(flatten)]
    pub input: DataArgs,
}

/// A model format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    Libsvm,
    Onnx,
    Json,
    Evermargin,
}

impl Target {
    /// The model format of a file name, if its ending is that of one.
    fn of_name(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_lowercase().as_str() {
            "evm" => Some(Self::Evermargin),
            "onnx" => Some(Self::Onnx),
            "json" => Some(Self::Json),
            "model" => Some(Self::Libsvm),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Libsvm => "libsvm",
            Self::Onnx => "onnx",
            Self::Json => "json",
            Self::Evermargin => "evermargin",
        }
    }
}

fn target(text: &str) -> Result<Target, String> {
    [Target::Libsvm, Target::Onnx, Target::Json, Target::Evermargin]
        .into_iter()
        .find(|t| t.name() == text)
        .ok_or_else(|| "must be libsvm, onnx, json or evermargin".into())
}

/// Runs the command.
pub fn run(args: &ConvertArgs, common: &Common, started: Instant) -> Result<(), Failure> {
    let piped = args.output == Path::new("-");
    if piped && common.json {
        return Err(Failure::Usage("OUT - and --json both need standard output; write OUT to a file".into()));
    }
    Files::default()
        .reads(&args.model)
        .reads_data(&args.input, None)
        .writes_or_prints("OUT", &args.output)
        .check()?;
    let Some(to) = args.to.or_else(|| Target::of_name(&args.output)) else {
        return convert_data(args, common, started);
    };
    let classifier = read_model(&args.model)?;
    let bytes = match to {
        Target::Libsvm => libsvm_model::to_text(&classifier)?.into_bytes(),
        Target::Onnx => onnx::to_onnx(&classifier)?,
        Target::Json => json::to_json(&classifier)?.into_bytes(),
        Target::Evermargin => model::to_bytes(&classifier)?,
    };
    write_atomic(&args.output, &bytes)?;
    if to == Target::Onnx {
        console::note(common, &left_out(&classifier));
    }
    if piped {
        return Ok(());
    }
    let size = bytes.len() as u64;
    let text = format!("{}: {} ({})", args.output.display(), to.name(), console::bytes(size));
    let json = json!({
        "model": args.output.display().to_string(), "format": to.name(), "bytes": size,
        "total_seconds": started.elapsed().as_secs_f64(),
    });
    console::answer(common, &json, &text)
}

/// Writes a data set in the format of the output name.
fn convert_data(args: &ConvertArgs, common: &Common, started: Instant) -> Result<(), Failure> {
    let input::Input { data, .. } = input::load(&args.model, &args.input, None, ReadOptions::default())?;
    console::note(common, &data.notes);
    let labels: Vec<Option<&str>> =
        data.labels.of.iter().map(|c| c.map(|c| data.labels.classes[c as usize].as_str())).collect();
    let names = feature_names(&data.columns);
    let table = Table { x: data.x.view(), labels: &labels, names: &names };
    let written = write_data(&args.output, &table)?;
    console::note(common, &written.notes);
    if args.output == Path::new("-") {
        return Ok(());
    }
    let beside = written.labels.as_ref().map(|path| path.display().to_string());
    let text = format!(
        "{}: {}, {}, {}{}",
        args.output.display(),
        written.format.name(),
        count(data.x.rows(), "row"),
        count(data.x.cols(), "feature"),
        beside.as_ref().map(|path| format!("; labels in {path}")).unwrap_or_default(),
    );
    let json = json!({
        "output": args.output.display().to_string(), "format": written.format.name(), "rows": data.x.rows(),
        "features": data.x.cols(), "labels": beside, "total_seconds": started.elapsed().as_secs_f64(),
    });
    console::answer(common, &json, &text)
}

/// Names of the features: `column=value` for categories, `column#number` for words.
fn feature_names(columns: &[Column]) -> Vec<String> {
    let names = |column: &Column| match column {
        Column::Number { name } => vec![name.clone()],
        Column::Category { name, values } => values.iter().map(|value| format!("{name}={value}")).collect(),
        Column::Text { name, .. } => (1..=column.features()).map(|word| format!("{name}#{word}")).collect(),
    };
    columns.iter().flat_map(names).collect()
}

/// Notes about the parts of a classifier that its ONNX model lacks.
fn left_out(classifier: &Classifier) -> Vec<String> {
    let mut notes = Vec::new();
    if !classifier.calibration.is_empty() && !onnx::holds_probabilities(classifier) {
        notes.push(
            "probabilities were left out: ONNX has no operator for isotonic calibration or for pairs of classes".into(),
        );
    }
    if classifier.input.columns.iter().any(|c| !matches!(c, Column::Number { .. })) {
        notes.push(format!(
            "X holds the {} encoded features; the ONNX model does not encode categories and words",
            classifier.features()
        ));
    }
    notes
}

/// Reads a model; its first bytes determine the format.
pub fn read_model(path: &Path) -> Result<Classifier, Failure> {
    Ok(model::import(path, &Limits::default())?)
}
