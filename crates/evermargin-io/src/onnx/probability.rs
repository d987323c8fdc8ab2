//! Nodes that compute probabilities from scores by a sigmoid calibration, p = σ(−(a·f + b)).
//!
//! Two classes: σ(−a·[−f, f] + [b, −b]), because σ(−z) = 1 − σ(z). One-vs-rest: p divided by the sum of all p, computed as
//! the softmax of ln p = −softplus(a·f + b), which is a number even where every p underflows. Isotonic calibrations and
//! pairwise coupling (an iteration) have no such form. The exponent is computed in double precision: where decisions are
//! close together, slopes are steep, and a·f and b nearly cancel.

use super::graph::{Graph, TENSORS, cast};
use super::message::DataType;
use evermargin::model::{Calibration, Classifier, MulticlassScheme};

/// Whether the probabilities of a classifier can be written.
pub(super) fn expressible(classifier: &Classifier) -> bool {
    sigmoids(classifier).is_some()
}

/// Slopes and offsets of the sigmoids, if the classifier has them and its scheme can use them.
fn sigmoids(classifier: &Classifier) -> Option<Vec<(f64, f64)>> {
    let sigmoid = |c: &Calibration| match c {
        Calibration::Sigmoid { a, b } => Some((*a, *b)),
        Calibration::Isotonic { .. } => None,
    };
    let simple = classifier.scheme != MulticlassScheme::OneVsOne && !classifier.calibration.is_empty();
    if simple { classifier.calibration.iter().map(sigmoid).collect() } else { None }
}

/// Adds the nodes from `scores` to `probabilities`; returns false if the probabilities cannot be expressed.
pub(super) fn write(classifier: &Classifier, graph: &mut Graph) -> bool {
    let Some(sigmoids) = sigmoids(classifier) else { return false };
    let binary = classifier.scheme == MulticlassScheme::Binary;
    let (slope, offset): (Vec<f64>, Vec<f64>) = match sigmoids[..] {
        [(a, b)] if binary => (vec![-a, -a], vec![b, -b]),
        _ => sigmoids.into_iter().unzip(),
    };
    graph.doubles("slope", &slope);
    graph.doubles("offset", &offset);
    graph.node((TENSORS, "Cast"), &["scores"], &["wide_scores"], cast(DataType::Double));
    graph.node((TENSORS, "Mul"), &["wide_scores", "slope"], &["sloped"], Vec::new());
    graph.node((TENSORS, "Add"), &["sloped", "offset"], &["wide_exponent"], Vec::new());
    graph.node((TENSORS, "Cast"), &["wide_exponent"], &["exponent"], cast(DataType::Float));
    if binary {
        graph.node((TENSORS, "Sigmoid"), &["exponent"], &["probabilities"], Vec::new());
    } else {
        graph.node((TENSORS, "Softplus"), &["exponent"], &["surprise"], Vec::new());
        graph.node((TENSORS, "Neg"), &["surprise"], &["log_probability"], Vec::new());
        graph.node((TENSORS, "Softmax"), &["log_probability"], &["probabilities"], Vec::new());
    }
    true
}
