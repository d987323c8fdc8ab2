//! Export of classifiers as ONNX models, which other programs can use for prediction. ONNX models are not read.
//!
//! The input `X` has rows × features unscaled values in single precision; the graph contains the scaling. Outputs:
//!
//! - `label`: whole numbers if every class name is one, else texts;
//! - `scores`: for two classes −f and f, where f > 0 predicts `classes[1]`; for one-vs-one, one decision per pair of classes
//!   in the order of evermargin, positive for the later class; for one-vs-rest, one decision per class;
//! - `probabilities`, one per class, if the classifier has a sigmoid calibration that ONNX can express
//!   ([`holds_probabilities`]).
//!
//! Labels and scores are those of [`Classifier::predict`] up to single precision; ties are resolved in the same way.
//! Operators are those of `ai.onnx` 13 and `ai.onnx.ml` 1 with IR version 7 (2020), so that old programs can read them, too.

mod graph;
mod machine;
pub mod message;
mod probability;
mod scale;

use crate::artifacts::validate::check;
use crate::error::{Error, Result};
use crate::output::write_atomic;
use evermargin::model::{Classifier, MulticlassScheme};
use graph::{Graph, ML, Names, TENSORS};
use message::{DataType, ModelProto, OperatorSetIdProto};
use prost::Message;
use std::path::Path;

/// Writes an ONNX model; `-` is standard output.
pub fn save(path: impl AsRef<Path>, classifier: &Classifier) -> Result<()> {
    write_atomic(path, &to_onnx(classifier)?)
}

/// Encodes the classifier as an ONNX model.
pub fn to_onnx(classifier: &Classifier) -> Result<Vec<u8>> {
    check(classifier).map_err(Error::inexpressible)?;
    if classifier.features() == 0 {
        return Err(Error::inexpressible("the model has no columns; an ONNX classifier has at least one"));
    }
    let mut graph = Graph::default();
    let x = scale::write(&classifier.scaling, &mut graph, "X");
    machine::write(classifier, &mut graph, x)?;
    let calibrated = probability::write(classifier, &mut graph);

    let (classes, outputs) = (classifier.classes.len(), classifier.model.outputs());
    graph.output("label", Names::of(&classifier.classes).data_type(), None, "class".into());
    let columns = if classifier.scheme == MulticlassScheme::Binary { 2 } else { outputs };
    graph.output("scores", DataType::Float, Some(columns), meaning(classifier));
    if calibrated {
        let order = format!("of {}", classifier.classes.join(", "));
        graph.output("probabilities", DataType::Float, Some(classes), order);
    }
    let set = |domain: &str, version| OperatorSetIdProto { domain: domain.into(), version };
    let model = ModelProto {
        ir_version: 7,
        producer_name: "evermargin".into(),
        producer_version: env!("CARGO_PKG_VERSION").into(),
        graph: Some(graph.finish("X", classifier.features())),
        opset_import: vec![set(TENSORS, 13), set(ML, 1)],
    };
    let bytes = model.encoded_len();
    if bytes > machine::MAX_BYTES {
        return Err(machine::too_large(bytes));
    }
    Ok(model.encode_to_vec())
}

/// Whether [`to_onnx`] writes probabilities: for two classes or one-vs-rest, calibrated with sigmoids.
pub fn holds_probabilities(classifier: &Classifier) -> bool {
    probability::expressible(classifier)
}

/// Whether bytes begin like an ONNX model of most programs: with the version and the name of the program.
pub fn is_onnx(bytes: &[u8]) -> bool {
    matches!(bytes, [0x08, 3..=32, 0x12, ..])
}

/// Description of the columns of `scores`.
fn meaning(classifier: &Classifier) -> String {
    let positive = classifier.scheme.output_names(&classifier.classes).join(", ");
    match classifier.scheme {
        MulticlassScheme::Binary => format!("-f, f; f is positive for {positive}"),
        MulticlassScheme::OneVsRest | MulticlassScheme::OneVsOne => format!("positive for {positive}"),
    }
}
