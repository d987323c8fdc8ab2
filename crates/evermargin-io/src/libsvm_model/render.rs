//! Writer of LIBSVM models.

use crate::artifacts::validate::check;
use crate::error::{Error, Result};
use crate::formats::number;
use crate::formats::pairwise::{ClassVector, by_class, pair};
use crate::remedy::{Message, Remedy};
use evermargin::data::Row;
use evermargin::kernel::Kernel;
use evermargin::model::{Calibration, Classifier, Model, MulticlassScheme, Scaling};
use evermargin::params::{ParamValue, ParamValues};

/// Support vector of a LIBSVM model: its class, numbered as in the classifier, its coefficient against each class, and
/// the text of its features.
struct Vector {
    class: usize,
    coef: Vec<f64>,
    features: Vec<u8>,
}

/// Writes the classifier as the text of a LIBSVM model.
pub fn to_text(classifier: &Classifier) -> Result<String> {
    check(classifier).map_err(Error::inexpressible)?;
    if classifier.scheme == MulticlassScheme::OneVsRest {
        return Err(Error::inexpressible(Message::new(
            "LIBSVM models have one decision function per pair of classes",
            Remedy::TrainOneVsOne,
        )));
    }
    let classes = &classifier.classes;
    if let Some(name) = classes.iter().find(|c| c.parse::<i32>().is_err()) {
        return Err(Error::inexpressible(format!(
            "class '{name}' is not a whole number, and LIBSVM models allow no other names; rename the classes in the data"
        )));
    }
    let (kernel, vectors, bias) = vectors(classifier)?;
    let n = classes.len();
    let order = order(n);

    let mut out = Vec::new();
    header(&mut out, kernel, n, vectors.len());
    line(&mut out, "rho", pairs(&order).map(|(p, sign)| -sign * bias[p]));
    let labels: Vec<&str> = order.iter().map(|c| classes[*c].as_str()).collect();
    out.extend_from_slice(format!("label {}\n", labels.join(" ")).as_bytes());
    if !classifier.calibration.is_empty() {
        let mut sigmoids = Vec::with_capacity(classifier.calibration.len());
        for calibration in &classifier.calibration {
            let Calibration::Sigmoid { a, b } = calibration else {
                return Err(Error::inexpressible(
                    "LIBSVM models support only sigmoid calibrations; calibrate with a sigmoid or not at all",
                ));
            };
            sigmoids.push((*a, *b));
        }
        line(&mut out, "probA", pairs(&order).map(|(p, _)| sigmoids[p].0));
        line(&mut out, "probB", pairs(&order).map(|(p, sign)| sign * sigmoids[p].1));
    }
    let count = |class| vectors.iter().filter(|v| v.class == class).count() as f64;
    line(&mut out, "nr_sv", order.iter().map(|c| count(*c)));
    out.extend_from_slice(b"SV\n");
    let sign = sign(&order);
    for &class in &order {
        for vector in vectors.iter().filter(|v| v.class == class) {
            for &other in order.iter().filter(|o| **o != class) {
                number::write(&mut out, sign * vector.coef[other] + 0.0); // no −0
                out.push(b' ');
            }
            out.extend_from_slice(&vector.features);
            out.push(b'\n');
        }
    }
    String::from_utf8(out).map_err(|e| Error::inexpressible(e.to_string()))
}

/// Classes in the order of the file: two classes in reverse, more in their own order (see the module).
fn order(n: usize) -> Vec<usize> {
    if n == 2 { vec![1, 0] } else { (0..n).collect() }
}

/// Factor between decisions of the classifier, which are positive for the later class of a pair, and decisions of LIBSVM,
/// which are positive for the class listed first.
fn sign(order: &[usize]) -> f64 {
    if order[0] > order[1] { 1.0 } else { -1.0 }
}

/// Numbers of the pairs of classes in the classifier, in the order of LIBSVM, with the sign that converts the decisions.
fn pairs(order: &[usize]) -> impl Iterator<Item = (usize, f64)> {
    let (n, sign) = (order.len(), sign(order));
    (0..n)
        .flat_map(move |i| (i + 1..n).map(move |j| (order[i].min(order[j]), order[i].max(order[j]))))
        .map(move |(a, b)| (pair(a, b, n), sign))
}

fn header(out: &mut Vec<u8>, kernel: Kernel, classes: usize, vectors: usize) {
    let name = match kernel {
        Kernel::Poly { .. } => "polynomial",
        other => other.name(),
    };
    out.extend_from_slice(format!("svm_type c_svc\nkernel_type {name}\n").as_bytes());
    if let Kernel::Poly { degree, .. } = kernel {
        line(out, "degree", [f64::from(degree)].into_iter());
    }
    if let Kernel::Rbf { gamma } | Kernel::Poly { gamma, .. } | Kernel::Sigmoid { gamma, .. } = kernel {
        line(out, "gamma", [gamma].into_iter());
    }
    if let Kernel::Poly { coef0, .. } | Kernel::Sigmoid { coef0, .. } = kernel {
        line(out, "coef0", [coef0].into_iter());
    }
    out.extend_from_slice(format!("nr_class {classes}\ntotal_sv {vectors}\n").as_bytes());
}

fn line(out: &mut Vec<u8>, key: &str, values: impl Iterator<Item = f64>) {
    out.extend_from_slice(key.as_bytes());
    for value in values {
        out.push(b' ');
        // Adding 0 turns -0 into 0.
        number::write(out, value + 0.0);
    }
    out.push(b'\n');
}

fn features(row: Row<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    row.for_each(|column, value| {
        out.extend_from_slice((column + 1).to_string().as_bytes());
        out.push(b':');
        number::write(&mut out, value);
        out.push(b' ');
    });
    out
}

/// Kernel, support vectors and biases of a classifier for unscaled features.
fn vectors(classifier: &Classifier) -> Result<(Kernel, Vec<Vector>, Vec<f64>)> {
    let n = classifier.classes.len();
    match &classifier.model {
        Model::Linear { weights, bias } if is_precomputed(&classifier.params) => {
            refuse_scaling(&classifier.scaling)?;
            let serial = |i: usize| format!("0:{} ", i + 1).into_bytes();
            Ok((Kernel::Precomputed, vectors_by_class(weights, n, serial), bias.clone()))
        }
        Model::Linear { weights, bias } => linear(weights, bias, &classifier.scaling, n),
        Model::Expansion { kernel: Kernel::Linear, points, coef, bias }
            if classifier.scaling != Scaling::None =>
        {
            let mut weights = vec![vec![0.0; points.cols()]; coef.len()];
            for (w, c) in weights.iter_mut().zip(coef) {
                for (i, c) in c.iter().enumerate() {
                    points.view().row(i).for_each(|column, value| w[column] += c * value);
                }
            }
            linear(&weights, bias, &classifier.scaling, n)
        }
        Model::Views { .. } => Err(Error::inexpressible(
            "a LIBSVM model has one kernel over all columns; this model is a sum over views",
        )),
        Model::Expansion { kernel, points, coef, bias } => {
            refuse_scaling(&classifier.scaling)?;
            if *kernel == Kernel::Precomputed {
                return Err(Error::inexpressible(
                    "a precomputed kernel has no points to write, but this model has points",
                ));
            }
            Ok((*kernel, vectors_by_class(coef, n, |i| features(points.view().row(i))), bias.clone()))
        }
    }
}

/// Support vectors grouped by class, each with the text of its features.
fn vectors_by_class(coef: &[Vec<f64>], n: usize, features: impl Fn(usize) -> Vec<u8>) -> Vec<Vector> {
    let vector = |s: ClassVector| Vector { class: s.class, coef: s.coef, features: features(s.point) };
    by_class(coef, n).into_iter().map(vector).collect()
}

/// Writes each weight vector as a support vector of a linear kernel with coefficient 1 in its pair and 0 in the others.
fn linear(
    weights: &[Vec<f64>],
    bias: &[f64],
    scaling: &Scaling,
    n: usize,
) -> Result<(Kernel, Vec<Vector>, Vec<f64>)> {
    let mut bias = bias.to_vec();
    let mut vectors = Vec::with_capacity(weights.len());
    for (a, b) in (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b))) {
        let p = pair(a, b, n);
        let mut w = weights[p].clone();
        match scaling {
            Scaling::None => {}
            Scaling::Affine { shift, factor, .. } => {
                for (c, w) in w.iter_mut().enumerate() {
                    *w *= factor[c];
                    bias[p] -= *w * shift.get(c).copied().unwrap_or(0.0);
                }
            }
            Scaling::Unit | Scaling::Tfidf { .. } => refuse_scaling(scaling)?,
        }
        let mut coef = vec![0.0; n];
        coef[a] = 1.0;
        vectors.push(Vector { class: b, coef, features: features(Row::Dense(&w)) });
    }
    Ok((Kernel::Linear, vectors, bias))
}

fn refuse_scaling(scaling: &Scaling) -> Result<()> {
    let name = match scaling {
        Scaling::None => return Ok(()),
        Scaling::Affine { name, .. } => name,
        Scaling::Unit => "unit",
        Scaling::Tfidf { .. } => "tfidf",
    };
    let what = format!("LIBSVM models cannot contain the {name} scaling of this model");
    Err(Error::inexpressible(Message::new(what, Remedy::TrainWithoutScaling)))
}

/// Whether a linear model was trained on a kernel matrix. Such a model is linear in the rows of the matrix, and only its
/// parameters distinguish it from other linear models.
fn is_precomputed(params: &ParamValues) -> bool {
    match params.get("kernel") {
        Some(ParamValue::Map(kernel)) => kernel.get("type") == Some(&"precomputed".into()),
        kernel => kernel == Some(&"precomputed".into()),
    }
}
