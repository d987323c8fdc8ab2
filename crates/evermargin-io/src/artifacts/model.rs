//! The model file: a safetensors container, which can be read from Python without evermargin and cannot run code.
//!
//! [`crate::artifacts::container`] describes the container and its checksum; `description` is JSON of everything that is
//! small. Tensors: `bias` `[k]`; `weights` `[k, d]` of a linear model; `coef` `[k, m]` and the points of an expansion, either
//! `points.values` `[m, d]` or `points.indptr` `[m + 1]`, `points.indices`, `points.values` `[n]`; `scaling.shift`,
//! `scaling.factor` or `scaling.idf` `[d]`; `calibration.knots` `[k]`, and `calibration.at` and `calibration.probability` of
//! all isotonic calibrations, concatenated. Values are f64; points are f32 if that loses no precision. In a sum of models of
//! views, the names of each part have the prefixes `views.0.`, `views.1.`, …. The same classifier always gives the same bytes.

use crate::artifacts::container::{self, Kind};
use crate::artifacts::head::Head;
use crate::artifacts::tensor_parts::{self, Restored, rows};
use crate::artifacts::tensors::{Bundle, Loaded};
use crate::artifacts::validate::check;
use crate::decompress::{display_name, read_whole};
use crate::error::{Error, Result};
use crate::limits::{Limits, over};
use crate::output::write_atomic;
use crate::remedy::Limit;
use crate::{json, libsvm_model};
use evermargin::kernel::Kernel;
use evermargin::model::{Calibration, Classifier, Columns, LearnerInfo, Model, Part};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Body of the description of a model.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelBody {
    learner: LearnerInfo,
    model: ModelHead,
    calibration: Vec<CalibrationHead>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum ModelHead {
    Linear,
    Expansion { kernel: Kernel, cols: usize, sparse: bool },
    Views { cols: usize, parts: Vec<PartHead> },
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct PartHead {
    columns: Columns,
    model: ModelHead,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum CalibrationHead {
    Sigmoid { a: f64, b: f64 },
    Isotonic,
}

/// Writes a model file atomically; `-` is standard output.
pub fn save(path: impl AsRef<Path>, classifier: &Classifier) -> Result<()> {
    write_atomic(path, &to_bytes(classifier)?)
}

/// Reads and checks a model file; `-` is standard input.
pub fn load(path: impl AsRef<Path>) -> Result<Classifier> {
    load_within(path, &Limits::default())
}

/// Reads and checks a model file of at most `limits.max_bytes`.
pub fn load_within(path: impl AsRef<Path>, limits: &Limits) -> Result<Classifier> {
    let path = path.as_ref();
    let bytes = tensor_parts::read_raw(path, limits)?;
    from_bytes_within(&display_name(path), &bytes, limits)
}

/// Reads a classifier from a model file, a LIBSVM model or JSON; `-` is standard input.
pub fn import(path: impl AsRef<Path>, limits: &Limits) -> Result<Classifier> {
    let path = path.as_ref();
    import_bytes(&display_name(path), &read_whole(path, limits)?, limits)
}

/// Like [`import`], from the bytes of a file; `name` is the name of the file in error messages.
pub(crate) fn import_bytes(name: &str, bytes: &[u8], limits: &Limits) -> Result<Classifier> {
    if libsvm_model::is_libsvm_model(bytes) {
        libsvm_model::from_text(name, bytes, limits)
    } else if bytes.trim_ascii_start().starts_with(b"{") {
        json::from_json(name, bytes)
    } else {
        from_bytes_within(name, bytes, limits)
    }
}

/// Encodes a classifier as a model file.
pub fn to_bytes(classifier: &Classifier) -> Result<Vec<u8>> {
    check(classifier).map_err(Error::inexpressible)?;
    let mut bundle = Bundle::default();
    let model = save_model(&classifier.model, "", &mut bundle);
    let learner = classifier.learner_info();
    let scaling = tensor_parts::save_scaling(&classifier.scaling, &mut bundle);
    let calibration = save_calibration(&classifier.calibration, &mut bundle);
    Head::new(&classifier.input, scaling, ModelBody { learner, model, calibration })
        .write(Kind::Model, bundle)
}

/// Decodes the bytes of a model file; `name` is the name of the file in error messages.
pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Classifier> {
    from_bytes_within(name, bytes, &Limits::default())
}

fn from_bytes_within(name: &str, bytes: &[u8], limits: &Limits) -> Result<Classifier> {
    restore(bytes, limits).map_err(|what| Error::content(name, what))
}

fn restore(bytes: &[u8], limits: &Limits) -> Restored<Classifier> {
    let mut tensors = container::open(Kind::Model, bytes)?;
    let Head { input, scaling, body, .. }: Head<ModelBody> = tensors.description()?;
    let model = load_model(body.model, "", &mut tensors)?;
    let scaling = tensor_parts::load_scaling(scaling, &mut tensors)?;
    let calibration = load_calibration(&body.calibration, &mut tensors)?;
    tensors.refuse_unused()?;
    let classifier = Classifier { calibration, ..Classifier::new(body.learner, model, scaling, input) };
    let (cols, cap) = (classifier.features(), limits.columns());
    if cols > cap {
        return Err(over(cols, "columns", cap, Limit::Columns));
    }
    check(&classifier)?;
    Ok(classifier)
}

/// Adds the arrays of a model under names with `prefix`; the views of a sum have the prefixes `views.0.`, `views.1.`, ….
fn save_model(model: &Model, prefix: &str, bundle: &mut Bundle) -> ModelHead {
    bundle.f64(&format!("{prefix}bias"), &[model.outputs()], model.bias());
    match model {
        Model::Linear { weights, .. } => {
            let shape = [weights.len(), model.cols()];
            bundle.f64(&format!("{prefix}weights"), &shape, weights.iter().flatten());
            ModelHead::Linear
        }
        Model::Expansion { kernel, points, coef, .. } => {
            bundle.f64(&format!("{prefix}coef"), &[coef.len(), points.rows()], coef.iter().flatten());
            let sparse = tensor_parts::save_points(points, prefix, bundle);
            ModelHead::Expansion { kernel: *kernel, cols: points.cols(), sparse }
        }
        Model::Views { parts, cols, .. } => {
            let mut save = |(v, part): (usize, &Part)| PartHead {
                columns: part.columns.clone(),
                model: save_model(&part.model, &format!("views.{v}."), bundle),
            };
            ModelHead::Views { cols: *cols, parts: parts.iter().enumerate().map(&mut save).collect() }
        }
    }
}

fn load_model(head: ModelHead, prefix: &str, tensors: &mut Loaded<'_>) -> Restored<Model> {
    let bias = tensors.f64(&format!("{prefix}bias"), 1)?.1;
    Ok(match head {
        ModelHead::Linear => {
            let (shape, values) = tensors.f64(&format!("{prefix}weights"), 2)?;
            Model::Linear { weights: rows(&values, shape[0], shape[1]), bias }
        }
        ModelHead::Expansion { kernel, cols, sparse } => {
            let points = tensor_parts::load_points(cols, sparse, prefix, tensors)?;
            let (shape, coef) = tensors.f64(&format!("{prefix}coef"), 2)?;
            if shape[1] != points.rows() {
                return Err(format!("{} coefficients for {} points", shape[1], points.rows()).into());
            }
            Model::Expansion { kernel, points, coef: rows(&coef, shape[0], shape[1]), bias }
        }
        ModelHead::Views { .. } if !prefix.is_empty() => return Err("a view must not contain views".into()),
        ModelHead::Views { cols, parts } => {
            let mut load = |(v, part): (usize, PartHead)| {
                let model = load_model(part.model, &format!("views.{v}."), tensors)?;
                Ok(Part { columns: part.columns, model })
            };
            let parts = parts.into_iter().enumerate().map(&mut load).collect::<Restored<_>>()?;
            Model::Views { parts, cols, bias }
        }
    })
}

fn save_calibration(calibration: &[Calibration], bundle: &mut Bundle) -> Vec<CalibrationHead> {
    let (mut knots, mut all_at, mut all_probability) = (Vec::new(), Vec::new(), Vec::new());
    let heads = calibration
        .iter()
        .map(|c| match c {
            Calibration::Sigmoid { a, b } => CalibrationHead::Sigmoid { a: *a, b: *b },
            Calibration::Isotonic { at, probability } => {
                knots.push(at.len());
                all_at.extend_from_slice(at);
                all_probability.extend_from_slice(probability);
                CalibrationHead::Isotonic
            }
        })
        .collect();
    if !knots.is_empty() {
        bundle.u64("calibration.knots", &[knots.len()], &knots);
        bundle.f64("calibration.at", &[all_at.len()], &all_at);
        bundle.f64("calibration.probability", &[all_probability.len()], &all_probability);
    }
    heads
}

fn load_calibration(heads: &[CalibrationHead], tensors: &mut Loaded<'_>) -> Restored<Vec<Calibration>> {
    let isotonic = heads.iter().any(|h| matches!(h, CalibrationHead::Isotonic));
    let (knots, at, probability) = if isotonic {
        (
            tensors.u64("calibration.knots")?,
            tensors.f64("calibration.at", 1)?.1,
            tensors.f64("calibration.probability", 1)?.1,
        )
    } else {
        (Vec::new(), Vec::new(), Vec::new())
    };
    let mut knots = knots.into_iter();
    let mut start = 0usize;
    let mut loaded = Vec::with_capacity(heads.len());
    for head in heads {
        loaded.push(match head {
            CalibrationHead::Sigmoid { a, b } => Calibration::Sigmoid { a: *a, b: *b },
            CalibrationHead::Isotonic => {
                let short = "calibration: fewer knots than declared";
                let end = knots.next().and_then(|n| start.checked_add(n)).ok_or(short)?;
                let span = start..end;
                start = end;
                Calibration::Isotonic {
                    at: at.get(span.clone()).ok_or(short)?.to_vec(),
                    probability: probability.get(span).ok_or(short)?.to_vec(),
                }
            }
        });
    }
    if knots.next().is_some() || start != at.len() || start != probability.len() {
        return Err("calibration: more knots than declared".into());
    }
    Ok(loaded)
}

/// Description of a known file type that is no model file, for error messages.
pub(crate) fn foreign(bytes: &[u8]) -> Option<&'static str> {
    // The length of a header can begin with any bytes, including those of a pickle or of gzip.
    if bytes.get(4..9) == Some(b"\0\0\0\0{") {
        return None;
    }
    let json = bytes.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'{');
    match bytes {
        [] => Some("an empty file"),
        [0x80, 2..=5, ..] => Some("a Python pickle (which could run code)"),
        [b'P', b'K', 3, 4, ..] => Some("a zip archive"),
        [0x1f, 0x8b, ..] => Some("a gzip file (decompress it first)"),
        [0xfd, b'7', b'z', b'X', b'Z', ..] => Some("an xz file (decompress it first)"),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some("a zstd file (decompress it first)"),
        _ if bytes.starts_with(b"svm_type ") => {
            Some("a LIBSVM model in text form (import it with `evermargin convert`)")
        }
        _ if bytes.starts_with(b"solver_type ") => Some("a LIBLINEAR model in text form"),
        _ if crate::onnx::is_onnx(bytes) => Some("an ONNX model (which can be written but not read)"),
        _ if bytes.starts_with(b"\x93NUMPY") => Some("a NumPy array"),
        _ if json => Some("a JSON text (import it with `evermargin convert`)"),
        _ => None,
    }
}
