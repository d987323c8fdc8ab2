//! Probabilities as nodes after the scores, for sigmoid calibrations: p = σ(−(a·f + b)).
//!
//! Two classes: σ(−a·[−f, f] + [b, −b]), for σ(−z) = 1 − σ(z). One class against the rest: p divided by the sum of all p,
//! which is softmax of ln p = −softplus(a·f + b), and is a number also where every p underflows. Isotonic calibrations
//! and the coupling of pairs (an iteration) have no such form.

use super::graph::{Graph, TENSORS};
use super::machine::single;
use crate::error::Result;
use evermargin::model::{Calibration, Classifier, Scheme};

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
    let simple = classifier.scheme != Scheme::OneVsOne && !classifier.calibration.is_empty();
    if simple { classifier.calibration.iter().map(sigmoid).collect() } else { None }
}

/// Adds the nodes from `scores` to `probabilities`; false if there is nothing to add.
pub(super) fn write(classifier: &Classifier, graph: &mut Graph) -> Result<bool> {
    let Some(sigmoids) = sigmoids(classifier) else { return Ok(false) };
    let binary = classifier.scheme == Scheme::Binary;
    let (slope, offset): (Vec<f64>, Vec<f64>) = match sigmoids[..] {
        [(a, b)] if binary => (vec![-a, -a], vec![b, -b]),
        _ => sigmoids.into_iter().unzip(),
    };
    let add = |graph: &mut Graph, operator, inputs: &[&str], output| {
        graph.node((TENSORS, operator), inputs, &[output], Vec::new());
    };
    graph.floats("slope", single("calibration", slope)?);
    graph.floats("offset", single("calibration", offset)?);
    add(graph, "Mul", &["scores", "slope"], "sloped");
    add(graph, "Add", &["sloped", "offset"], "exponent");
    if binary {
        add(graph, "Sigmoid", &["exponent"], "probabilities");
    } else {
        add(graph, "Softplus", &["exponent"], "surprise");
        add(graph, "Neg", &["surprise"], "log_probability");
        add(graph, "Softmax", &["log_probability"], "probabilities");
    }
    Ok(true)
}
