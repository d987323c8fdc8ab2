//! Nodes that scale samples before the classifier.
//!
//! They compute in double precision, because a column with mean 2000 and deviation 1 would lose three digits in single
//! precision. Thus scaling is the same as in evermargin, and only the input of the classifier is rounded.

use super::graph::{Graph, TENSORS, cast, int};
use super::message::DataType;
use evermargin::model::Scaling;

/// Adds the nodes and returns the name of the value with the scaled samples.
pub(super) fn write(scaling: &Scaling, graph: &mut Graph, input: &'static str) -> &'static str {
    let (shift, factor, unit): (&[f64], &[f64], bool) = match scaling {
        Scaling::None => return input,
        Scaling::Affine { shift, factor, .. } => (shift, factor, false),
        Scaling::Tfidf { idf } => (&[], idf, true),
        Scaling::Unit => (&[], &[], true),
    };
    graph.node((TENSORS, "Cast"), &[input], &["wide"], cast(DataType::Double));
    let mut last = "wide";
    for (operator, operand, values, result) in
        [("Sub", "shift", shift, "shifted"), ("Mul", "factor", factor, "multiplied")]
    {
        if !values.is_empty() {
            graph.doubles(operand, values);
            graph.node((TENSORS, operator), &[last, operand], &[result], Vec::new());
            last = result;
        }
    }
    if unit {
        let length = vec![int("axis", 1), int("p", 2)];
        graph.node((TENSORS, "LpNormalization"), &[last], &["unit"], length);
        last = "unit";
    }
    graph.node((TENSORS, "Cast"), &[last], &["scaled"], cast(DataType::Float));
    "scaled"
}
