//! Probabilities as nodes after the scores, for sigmoid calibrations: p = σ(−(a·f + b)).
//!
//! Two classes: σ(−a·[−f, f] + [b, −b]), for σ(−z) = 1 − σ(z). One class against the rest: p divided by the sum of all p,
//! which is softmax of ln p = −softplus(a·f + b), and is a number also where every p underflows. Isotonic calibrations
//! and the coupling of pairs (an iteration) have no such form. The exponent is computed in double precision, for where
//! decisions lie close together slopes are steep and a·f and b nearly cancel.

use super::graph::{Graph, TENSORS, cast};
use super::message::DataType;
use evermargin::model::{Calibration, Classifier, MulticlassScheme};

/// Whether the probabilities of a classifier can be written.
pub(super) fn expressible(classifier: &Classifier) -> bool {
    sigmoids(classifier).is_some()
}

/// Slopes and offsets, if there are any and the scheme can use them.
fn sigmoids(classifier: &Classifier) -> Option<Vec<(f64, f64)>> {
    let sigmoid = |c: &Calibration| match c {
        Calibration::Sigmoid { a, b } => Some((*a, *b)),
        Calibration::Isotonic { .. } => None,
    };
    let simple = classifier.scheme != MulticlassScheme::OneVsOne && !classifier.calibration.is_empty();
    if simple { classifier.calibration.iter().map(sigmoid).collect() } else { None }
}

/// Adds the nodes from `scores` to `probabilities`; false if there is nothing to add.
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
