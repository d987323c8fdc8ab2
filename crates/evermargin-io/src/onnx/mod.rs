//! Classifiers as ONNX, for programs that know nothing of us: one way, out.
//!
//! Input `X`, single precision, rows × features, as they came (scaling is in the graph). Outputs:
//!
//! - `label`: whole numbers if every class name is one, else texts;
//! - `scores`: two classes: −f and f, f > 0 for `classes[1]`; one against one: a decision for each pair in our order,
//!   positive for the later class; one against the rest: one a class;
//! - `probabilities`, one a class, where a sigmoid calibration allows ([`holds_probabilities`]).
//!
//! Labels and scores are those of [`Classifier::predict`] up to single precision; ties are broken alike. Operators are of
//! `ai.onnx` 13 and `ai.onnx.ml` 1, IR version 7 (2020), so that old programs read it too.

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

/// The classifier as an ONNX model.
pub fn to_onnx(classifier: &Classifier) -> Result<Vec<u8>> {
    check(classifier).map_err(Error::inexpressible)?;
    if classifier.features() == 0 {
        return Err(Error::inexpressible("a model without columns; an ONNX classifier has at least one"));
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

/// Whether [`to_onnx`] writes probabilities: two classes or one against the rest, calibrated by sigmoids.
pub fn holds_probabilities(classifier: &Classifier) -> bool {
    probability::expressible(classifier)
}

/// True for the first bytes of an ONNX model as most programs write it: the version, then who wrote it.
pub fn is_onnx(bytes: &[u8]) -> bool {
    matches!(bytes, [0x08, 3..=32, 0x12, ..])
}

/// What the columns of `scores` are, for people.
fn meaning(classifier: &Classifier) -> String {
    let positive = classifier.scheme.output_names(&classifier.classes).join(", ");
    match classifier.scheme {
        MulticlassScheme::Binary => format!("-f, f; f is positive for {positive}"),
        MulticlassScheme::OneVsRest | MulticlassScheme::OneVsOne => format!("positive for {positive}"),
    }
}
