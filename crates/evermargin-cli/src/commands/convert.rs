//! `evermargin convert`: a model in another format.

use crate::args::Common;
use crate::commands::fit::check_output;
use crate::failure::Failure;
use crate::output::console;
use evermargin::model::{Classifier, Column};
use evermargin_io::artifacts::model;
use evermargin_io::{Limits, json, libsvm_model, onnx, write_atomic};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Write a model in another format
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  evermargin convert species.evm species.model --to libsvm")]
pub struct ConvertArgs {
    /// Model: a model file, a LIBSVM model or JSON; - is standard input
    pub model: PathBuf,
    /// File to write; - is standard output
    pub output: PathBuf,
    /// Format to write: libsvm, onnx, json or evermargin
    #[arg(long, value_name = "FORMAT", value_parser = target)]
    pub to: Target,
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

/// Runs the verb.
pub fn run(args: &ConvertArgs, common: &Common, started: Instant) -> Result<(), Failure> {
    let piped = args.output == Path::new("-");
    if piped && common.json {
        return Err(Failure::Usage("OUT - and --json both want standard output; give OUT a file".into()));
    }
    check_output(&args.model, &args.output)?;
    let classifier = read_model(&args.model)?;
    let bytes = match args.to {
        Target::Libsvm => libsvm_model::to_text(&classifier)?.into_bytes(),
        Target::Onnx => onnx::to_onnx(&classifier)?,
        Target::Json => json::to_json(&classifier)?.into_bytes(),
        Target::Evermargin => model::to_bytes(&classifier)?,
    };
    write_atomic(&args.output, &bytes)?;
    if args.to == Target::Onnx {
        console::note(common, &left_out(&classifier));
    }
    if piped {
        return Ok(());
    }
    let size = bytes.len() as u64;
    let text = format!("{}: {} ({})", args.output.display(), args.to.name(), console::bytes(size));
    let json = json!({
        "model": args.output.display().to_string(), "format": args.to.name(), "bytes": size,
        "total_seconds": started.elapsed().as_secs_f64(),
    });
    console::answer(common, &json, &text)
}

/// What an ONNX model does not say of a classifier.
fn left_out(classifier: &Classifier) -> Vec<String> {
    let mut notes = Vec::new();
    if !classifier.calibration.is_empty() && !onnx::holds_probabilities(classifier) {
        notes.push(
            "probabilities were left out: ONNX has no operator for isotonic calibration or for pairs of classes".into(),
        );
    }
    if classifier.columns.iter().any(|c| !matches!(c, Column::Number { .. })) {
        notes.push(format!(
            "X is the {} features that the columns become; categories and words are not encoded by the ONNX model",
            classifier.features()
        ));
    }
    notes
}

/// Reads a model in any format there is, told apart by its first bytes.
pub fn read_model(path: &Path) -> Result<Classifier, Failure> {
    Ok(model::import(path, &Limits::default())?)
}
