//! The classifier as a node of `ai.onnx.ml`, which computes labels and decisions, and the nodes that bring these into the
//! conventions of evermargin.
//!
//! **LinearClassifier** predicts the class of the largest of k scores, the first of equal ones, which is one-vs-rest. From a
//! single score f it computes [1 − f, f] instead of [−f, f], so two classes are written with two scores, −f and f.
//!
//! **SVMClassifier** has the decisions of LIBSVM: one decision s per pair i < j of its classes, where s > 0 is a vote for i,
//! else for j. The class with most votes wins, the first of equal ones. `rho` is added, not subtracted. Vectors are grouped
//! by class. For a vector of class i, row j − 1 of the coefficients belongs to the pair with j; for a vector of class j, row
//! i belongs to the pair with i. With two classes its scores are [−s, s].
//!
//! - Two classes are listed in reverse with s = f. Thus f = 0 predicts `classes[0]`, and the scores are [−f, f], as in
//!   evermargin.
//! - One-vs-one has s = −f, followed by `Neg`. Thus f = 0 votes for the later class, and ties go to the first, as in
//!   evermargin.
//! - For one-vs-rest, an additional last class stands for the rest, and all vectors belong to it. Row j of the coefficients
//!   is then that of class j, the decision of the pair (j, rest) is that of class j, and the other pairs are empty.
//!   `Gather` selects the k decisions and `ArgMax` the largest. The points are stored, and kernel values computed, once for
//!   all classes.
//!
//! A class without vectors gets a zero vector with coefficients 0, because ONNX runtimes read the first vector of each class.

use super::graph::{Graph, ML, Names, TENSORS, floats, int, ints, string};
use crate::error::{Error, Result};
use crate::formats::pairwise::{ClassVector, by_class, pair};
use evermargin::data::{Matrix, Row};
use evermargin::kernel::Kernel;
use evermargin::model::{Classifier, Model, MulticlassScheme};

/// Maximum number of bytes of a protobuf message.
pub(super) const MAX_BYTES: usize = i32::MAX as usize;

/// Kernel, points and biases of decision functions f = Σ coefficient·K(point, x) + bias.
struct KernelPoints<'a> {
    kernel: Kernel,
    points: &'a Matrix,
    bias: &'a [f64],
}

/// Adds the nodes from the scaled samples `x` to `label` and `scores`.
pub(super) fn write(classifier: &Classifier, graph: &mut Graph, x: &str) -> Result<()> {
    let (names, scheme, n) = (Names::of(&classifier.classes), classifier.scheme, classifier.classes.len());
    if scheme == MulticlassScheme::OneVsOne && n == 2 {
        return Err(Error::inexpressible(
            "one-vs-one over two classes has one score, but an ONNX classifier of two classes has two; train it again",
        ));
    }
    match &classifier.model {
        Model::Views { .. } => Err(Error::inexpressible(
            "an ONNX classifier has one kernel over all columns; this model is a sum over views",
        )),
        Model::Linear { weights, bias } => match scheme {
            MulticlassScheme::Binary => {
                let negated = |v: &[f64]| v.iter().map(|v| -v).collect::<Vec<f64>>();
                let both = [negated(&weights[0]), weights[0].clone()];
                linear(&both, &[-bias[0], bias[0]], &names, graph, x)
            }
            MulticlassScheme::OneVsRest => linear(weights, bias, &names, graph, x),
            MulticlassScheme::OneVsOne => {
                let points = Matrix::dense(weights.concat(), weights.len(), classifier.model.cols())
                    .map_err(|e| Error::inexpressible(format!("weights: {e}")))?;
                let source = KernelPoints { kernel: Kernel::Linear, points: &points, bias };
                voting(&source, &one_vector_per_pair(n), names, graph, x)
            }
        },
        Model::Expansion { kernel, points, coef, bias } => {
            let source = KernelPoints { kernel: *kernel, points, bias };
            if scheme == MulticlassScheme::OneVsRest {
                against_rest(&source, coef, names, graph, x)
            } else {
                voting(&source, &by_class(coef, n), names, graph, x)
            }
        }
    }
}

/// Weight vectors as support vectors: that of the pair (a, b) belongs to class b and has coefficient 1 against a.
fn one_vector_per_pair(n: usize) -> Vec<ClassVector> {
    let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
    let vector = |(a, b)| {
        let mut coef = vec![0.0; n];
        coef[a] = 1.0;
        ClassVector { class: b, point: pair(a, b, n), coef }
    };
    pairs.map(vector).collect()
}

fn linear(weights: &[Vec<f64>], bias: &[f64], names: &Names, graph: &mut Graph, x: &str) -> Result<()> {
    let attributes = vec![
        names.attribute(),
        floats("coefficients", single("weights", weights.iter().flatten().copied())?),
        floats("intercepts", single("intercepts", bias.iter().copied())?),
        int("multi_class", 0),
        string("post_transform", "NONE"),
    ];
    graph.node((ML, "LinearClassifier"), &[x], &["label", "scores"], attributes);
    Ok(())
}

/// Adds the node of a classifier of two classes or one-vs-one.
fn voting(
    source: &KernelPoints<'_>,
    class_vectors: &[ClassVector],
    names: Names,
    graph: &mut Graph,
    x: &str,
) -> Result<()> {
    let n = names.len();
    let (order, sign, names): (Vec<usize>, f64, _) =
        if n == 2 { (vec![1, 0], 1.0, names.reversed()) } else { ((0..n).collect(), -1.0, names) };
    check_size(class_vectors.len() + n, source.points.cols(), n - 1, source.bias.len())?;

    let (mut ordered, mut per_class) = (Vec::new(), Vec::with_capacity(n));
    for &class in &order {
        let before = ordered.len();
        ordered.extend(class_vectors.iter().filter(|v| v.class == class).map(|v| (class, Some(v))));
        if ordered.len() == before {
            ordered.push((class, None));
        }
        per_class.push((ordered.len() - before) as i64);
    }
    let coefficient = |r: usize, class: usize, vector: Option<&ClassVector>| {
        let other = if r < class { r } else { r + 1 };
        vector.map_or(0.0, |v| sign * v.coef[other] + 0.0) // no −0
    };
    let coefficients =
        (0..n - 1).flat_map(|r| ordered.iter().map(move |(class, vector)| coefficient(r, *class, *vector)));
    let node = SvmClassifier {
        names,
        kernel: source.kernel,
        coefficients: single("coefficients", coefficients)?,
        vectors: rows(source.points, ordered.iter().map(|(_, vector)| vector.map(|v| v.point)))?,
        per_class,
        rho: single("intercepts", source.bias.iter().map(|b| sign * b + 0.0))?,
    };
    if n == 2 {
        return node.write(graph, x, ["label", "scores"]);
    }
    node.write(graph, x, ["label", "turned"])?;
    graph.node((TENSORS, "Neg"), &["turned"], &["scores"], Vec::new());
    Ok(())
}

/// Adds the nodes of a one-vs-rest classifier.
fn against_rest(
    source: &KernelPoints<'_>,
    coef: &[Vec<f64>],
    names: Names,
    graph: &mut Graph,
    x: &str,
) -> Result<()> {
    let (k, m) = (source.bias.len(), source.points.rows());
    check_size(m.max(1), source.points.cols(), k, k.saturating_mul(k + 1) / 2)?;
    let counted: Vec<usize> = (0..k).map(|j| pair(j, k, k + 1)).collect();
    let mut rho = vec![0.0; k * (k + 1) / 2];
    counted.iter().zip(source.bias).for_each(|(p, b)| rho[*p] = *b);
    let mut per_class = vec![0; k + 1];
    per_class[k] = m.max(1) as i64;
    let (coefficients, vectors) = if m == 0 {
        (vec![0.0; k], vec![0.0; source.points.cols()])
    } else {
        (single("coefficients", coef.iter().flatten().copied())?, rows(source.points, (0..m).map(Some))?)
    };
    let node = SvmClassifier {
        names: Names::Whole((0..=k as i64).collect()),
        kernel: source.kernel,
        coefficients,
        vectors,
        per_class,
        rho: single("intercepts", rho)?,
    };
    node.write(graph, x, ["unused", "pairs"])?;
    graph.whole("counted", counted.into_iter().map(|p| p as i64).collect());
    graph.node((TENSORS, "Gather"), &["pairs", "counted"], &["scores"], vec![int("axis", 1)]);
    graph.node((TENSORS, "ArgMax"), &["scores"], &["largest"], vec![int("axis", 1), int("keepdims", 0)]);
    graph.names("classes", names);
    graph.node((TENSORS, "Gather"), &["classes", "largest"], &["label"], vec![int("axis", 0)]);
    Ok(())
}

/// Attributes of an SVMClassifier node.
struct SvmClassifier {
    names: Names,
    kernel: Kernel,
    coefficients: Vec<f32>,
    vectors: Vec<f32>,
    per_class: Vec<i64>,
    rho: Vec<f32>,
}

impl SvmClassifier {
    fn write(self, graph: &mut Graph, x: &str, outputs: [&str; 2]) -> Result<()> {
        let (name, gamma, coef0, degree) = match self.kernel {
            Kernel::Linear => ("LINEAR", 1.0, 0.0, 1),
            Kernel::Rbf { gamma } => ("RBF", gamma, 0.0, 1),
            Kernel::Poly { gamma, coef0, degree } => ("POLY", gamma, coef0, degree),
            Kernel::Sigmoid { gamma, coef0 } => ("SIGMOID", gamma, coef0, 1),
            Kernel::Precomputed => {
                return Err(Error::inexpressible(
                    "a precomputed kernel has no points to write, but this model has points",
                ));
            }
        };
        let parameters = single("kernel parameters", [gamma, coef0, f64::from(degree)])?;
        if !parameters[0].is_normal() {
            return Err(Error::inexpressible(format!("gamma {gamma:e} is too small for single precision")));
        }
        let attributes = vec![
            self.names.attribute(),
            floats("coefficients", self.coefficients),
            floats("kernel_params", parameters),
            string("kernel_type", name),
            string("post_transform", "NONE"),
            floats("rho", self.rho),
            floats("support_vectors", self.vectors),
            ints("vectors_per_class", self.per_class),
        ];
        graph.node((ML, "SVMClassifier"), &[x], &outputs, attributes);
        Ok(())
    }
}

/// Values of the points, dense and row by row; zeros for `None`.
fn rows(points: &Matrix, which: impl Iterator<Item = Option<usize>>) -> Result<Vec<f32>> {
    let mut out = Vec::new();
    for point in which {
        let start = out.len();
        match point.map(|p| points.view().row(p)) {
            Some(Row::Dense(values)) => out.extend(single("points", values.iter().copied())?),
            Some(Row::Sparse(at, values)) => {
                let values = single("points", values.iter().copied())?;
                out.resize(start + points.cols(), 0.0);
                at.iter().zip(values).for_each(|(c, v)| out[start + *c as usize] = v);
            }
            None => out.resize(start + points.cols(), 0.0),
        }
    }
    Ok(out)
}

/// Converts values to single precision, which is the only one that these nodes support.
fn single(what: &str, values: impl IntoIterator<Item = f64>) -> Result<Vec<f32>> {
    let narrow = |v: f64| {
        let narrow = v as f32;
        narrow.is_finite().then_some(narrow).ok_or_else(|| {
            Error::inexpressible(format!(
                "{what}: {v:e} is too large for single precision, which ONNX classifiers require; scale the data"
            ))
        })
    };
    values.into_iter().map(narrow).collect()
}

/// Returns an error, before anything is allocated, if the message would become too large, because vectors are written dense.
fn check_size(vectors: usize, cols: usize, rows: usize, pairs: usize) -> Result<()> {
    let cells = vectors.saturating_mul(cols.saturating_add(rows)).saturating_add(pairs);
    let bytes = cells.saturating_mul(4);
    if bytes > MAX_BYTES {
        return Err(too_large(bytes));
    }
    Ok(())
}

pub(super) fn too_large(bytes: usize) -> Error {
    let size = bytes as f64 / 1e9;
    Error::inexpressible(format!(
        "the model would take {size:.1} GB as ONNX, which stores points dense, but ONNX files are limited to 2.1 GB; train a linear model or one with fewer points"
    ))
}
