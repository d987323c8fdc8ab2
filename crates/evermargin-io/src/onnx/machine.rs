//! The classifier itself, as a node of `ai.onnx.ml` that makes labels and decisions, and what puts these in our order.
//!
//! **LinearClassifier** takes the class of the largest of k scores, the first of equals: one against the rest as it is. Of
//! one score it makes [1 − f, f], which is not ours; so two classes are written as two scores, −f and f.
//!
//! **SVMClassifier** is LIBSVM's machine: a decision s for each pair i < j of its classes, s > 0 a vote for i, else for j;
//! most votes win, the first of equals. `rho` is added, not subtracted. Vectors stand class by class; row j − 1 of the
//! coefficients is for the pair with j of a vector of i, row i for the pair with i of a vector of j. With two classes its
//! scores are [−s, s].
//!
//! - Two classes: listed in reverse, s = f. So f = 0 is `classes[0]`, and the scores are [−f, f], as ours.
//! - One against one: s = −f, then `Neg`. So f = 0 votes for the later class, and ties go to the first, as ours.
//! - One against the rest: the rest becomes a class of its own, the last, and all vectors are its. Row j of the coefficients
//!   is then that of class j, the pair (j, rest) is our decision, and the pairs without the rest are empty. `Gather` takes
//!   the k that count, `ArgMax` the largest. The points are kept, and the kernel computed, once for all classes.
//!
//! A class without a vector is given one of zeros with coefficients 0, because readers look at the first vector of each.

use super::graph::{Graph, ML, Names, TENSORS, floats, int, ints, string};
use crate::error::{Error, Result};
use crate::formats::pairwise::{Standing, by_class, pair};
use evermargin::data::{Matrix, Row};
use evermargin::kernel::Kernel;
use evermargin::model::{Classifier, Model, MulticlassScheme};

/// Bytes a protobuf message may have.
pub(super) const MAX_BYTES: usize = i32::MAX as usize;

/// What decisions rest on: f = Σ coefficient·K(point, x) + bias.
struct Ground<'a> {
    kernel: Kernel,
    points: &'a Matrix,
    bias: &'a [f64],
}

/// Adds the nodes from the scaled samples `x` to `label` and `scores`.
pub(super) fn write(classifier: &Classifier, graph: &mut Graph, x: &str) -> Result<()> {
    let (names, scheme, n) = (Names::of(&classifier.classes), classifier.scheme, classifier.classes.len());
    if scheme == MulticlassScheme::OneVsOne && n == 2 {
        return Err(Error::inexpressible(
            "one-vs-one over two classes has one score, and an ONNX classifier of two writes two; train it again",
        ));
    }
    match &classifier.model {
        Model::Views { .. } => Err(Error::inexpressible(
            "an ONNX classifier has one kernel over all columns; this model is a sum over views",
        )),
        Model::Linear { weights, bias } => match scheme {
            MulticlassScheme::Binary => {
                let turned = |v: &[f64]| v.iter().map(|v| -v).collect::<Vec<f64>>();
                let both = [turned(&weights[0]), weights[0].clone()];
                linear(&both, &[-bias[0], bias[0]], &names, graph, x)
            }
            MulticlassScheme::OneVsRest => linear(weights, bias, &names, graph, x),
            MulticlassScheme::OneVsOne => {
                let points = Matrix::dense(weights.concat(), weights.len(), classifier.model.cols())
                    .map_err(|e| Error::inexpressible(format!("weights: {e}")))?;
                let ground = Ground { kernel: Kernel::Linear, points: &points, bias };
                voting(&ground, &one_a_pair(n), names, graph, x)
            }
        },
        Model::Expansion { kernel, points, coef, bias } => {
            let ground = Ground { kernel: *kernel, points, bias };
            if scheme == MulticlassScheme::OneVsRest {
                against_rest(&ground, coef, names, graph, x)
            } else {
                voting(&ground, &by_class(coef, n), names, graph, x)
            }
        }
    }
}

/// Weights as vectors: that of the pair (a, b) stands in class b, with coefficient 1 against a.
fn one_a_pair(n: usize) -> Vec<Standing> {
    let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
    let stand = |(a, b)| {
        let mut coef = vec![0.0; n];
        coef[a] = 1.0;
        Standing { class: b, point: pair(a, b, n), coef }
    };
    pairs.map(stand).collect()
}

fn linear(weights: &[Vec<f64>], bias: &[f64], names: &Names, graph: &mut Graph, x: &str) -> Result<()> {
    let attributes = vec![
        names.attribute(),
        floats("coefficients", single("weights", weights.iter().flatten().copied())?),
        floats("intercepts", single("constants", bias.iter().copied())?),
        int("multi_class", 0),
        string("post_transform", "NONE"),
    ];
    graph.node((ML, "LinearClassifier"), &[x], &["label", "scores"], attributes);
    Ok(())
}

/// Two classes, or one against one of many.
fn voting(own: &Ground<'_>, standing: &[Standing], names: Names, graph: &mut Graph, x: &str) -> Result<()> {
    let n = names.len();
    let (order, sign, names): (Vec<usize>, f64, _) =
        if n == 2 { (vec![1, 0], 1.0, names.reversed()) } else { ((0..n).collect(), -1.0, names) };
    check_size(standing.len() + n, own.points.cols(), n - 1, own.bias.len())?;

    let (mut ranks, mut per_class) = (Vec::new(), Vec::with_capacity(n));
    for &class in &order {
        let before = ranks.len();
        ranks.extend(standing.iter().filter(|s| s.class == class).map(|s| (class, Some(s))));
        if ranks.len() == before {
            ranks.push((class, None));
        }
        per_class.push((ranks.len() - before) as i64);
    }
    let coefficient = |r: usize, class: usize, vector: Option<&Standing>| {
        let other = if r < class { r } else { r + 1 };
        vector.map_or(0.0, |v| sign * v.coef[other] + 0.0) // no −0
    };
    let coefficients =
        (0..n - 1).flat_map(|r| ranks.iter().map(move |(class, vector)| coefficient(r, *class, *vector)));
    let machine = DecisionGraph {
        names,
        kernel: own.kernel,
        coefficients: single("coefficients", coefficients)?,
        vectors: rows(own.points, ranks.iter().map(|(_, vector)| vector.map(|v| v.point)))?,
        per_class,
        rho: single("constants", own.bias.iter().map(|b| sign * b + 0.0))?,
    };
    if n == 2 {
        return machine.write(graph, x, ["label", "scores"]);
    }
    machine.write(graph, x, ["label", "turned"])?;
    graph.node((TENSORS, "Neg"), &["turned"], &["scores"], Vec::new());
    Ok(())
}

/// One class against the rest.
fn against_rest(own: &Ground<'_>, coef: &[Vec<f64>], names: Names, graph: &mut Graph, x: &str) -> Result<()> {
    let (k, m) = (own.bias.len(), own.points.rows());
    check_size(m.max(1), own.points.cols(), k, k.saturating_mul(k + 1) / 2)?;
    let counted: Vec<usize> = (0..k).map(|j| pair(j, k, k + 1)).collect();
    let mut rho = vec![0.0; k * (k + 1) / 2];
    counted.iter().zip(own.bias).for_each(|(p, b)| rho[*p] = *b);
    let mut per_class = vec![0; k + 1];
    per_class[k] = m.max(1) as i64;
    let (coefficients, vectors) = if m == 0 {
        (vec![0.0; k], vec![0.0; own.points.cols()])
    } else {
        (single("coefficients", coef.iter().flatten().copied())?, rows(own.points, (0..m).map(Some))?)
    };
    let machine = DecisionGraph {
        names: Names::Whole((0..=k as i64).collect()),
        kernel: own.kernel,
        coefficients,
        vectors,
        per_class,
        rho: single("constants", rho)?,
    };
    machine.write(graph, x, ["unused", "pairs"])?;
    graph.whole("counted", counted.into_iter().map(|p| p as i64).collect());
    graph.node((TENSORS, "Gather"), &["pairs", "counted"], &["scores"], vec![int("axis", 1)]);
    graph.node((TENSORS, "ArgMax"), &["scores"], &["largest"], vec![int("axis", 1), int("keepdims", 0)]);
    graph.names("classes", names);
    graph.node((TENSORS, "Gather"), &["classes", "largest"], &["label"], vec![int("axis", 0)]);
    Ok(())
}

/// The attributes of SVMClassifier.
struct DecisionGraph {
    names: Names,
    kernel: Kernel,
    coefficients: Vec<f32>,
    vectors: Vec<f32>,
    per_class: Vec<i64>,
    rho: Vec<f32>,
}

impl DecisionGraph {
    fn write(self, graph: &mut Graph, x: &str, outputs: [&str; 2]) -> Result<()> {
        let (name, gamma, coef0, degree) = match self.kernel {
            Kernel::Linear => ("LINEAR", 1.0, 0.0, 1),
            Kernel::Rbf { gamma } => ("RBF", gamma, 0.0, 1),
            Kernel::Poly { gamma, coef0, degree } => ("POLY", gamma, coef0, degree),
            Kernel::Sigmoid { gamma, coef0 } => ("SIGMOID", gamma, coef0, 1),
            Kernel::Precomputed => {
                return Err(Error::inexpressible(
                    "a precomputed kernel has no points to write; this model has some",
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

/// Points one below the other, dense; zeros where there is none.
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

/// Values in single precision, the only one these nodes know.
fn single(what: &str, values: impl IntoIterator<Item = f64>) -> Result<Vec<f32>> {
    let narrow = |v: f64| {
        let narrow = v as f32;
        narrow.is_finite().then_some(narrow).ok_or_else(|| {
            Error::inexpressible(format!(
                "{what}: {v:e} is too large for single precision, and ONNX classifiers know no other; scale the data"
            ))
        })
    };
    values.into_iter().map(narrow).collect()
}

/// Refuses, before anything is allocated, what would outgrow a message: vectors are written dense.
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
        "as ONNX, which holds points dense, the model would take {size:.1} GB, and its files end at 2.1 GB; train a linear model or one of fewer points"
    ))
}
