//! Rows that are probably mislabeled: the model contradicts their label.

use crate::commands::predict::{cell, truth};
use crate::failure::Failure;
use crate::output::console::exact;
use evermargin::Labels;
use evermargin::active::margin_toward;
use evermargin::data::Matrix;
use evermargin::model::Classifier;
use evermargin::params::ParamValue;
use std::fmt::Write;

/// Left end of the ramp loss for learners without one.
const DEFAULT_END: f64 = -1.0;

/// The suspects as text, the worst first, and their number. A suspect is a labeled row whose margin toward its label is
/// below the left end of the ramp loss. `numbers` are the numbers of the rows in their file.
pub fn table(
    classifier: &Classifier,
    x: Matrix,
    labels: &Labels,
    numbers: &[usize],
) -> Result<(String, usize), Failure> {
    let (classes, outputs) = (classifier.classes.len(), classifier.model.outputs());
    let end = classifier.params.get("s").and_then(ParamValue::as_f64).unwrap_or(DEFAULT_END);
    let truth = truth(classifier, labels);
    let predictions = classifier.predict(x)?;
    let mut suspects: Vec<(f64, usize)> = Vec::new();
    for (i, f) in predictions.decision.chunks(outputs).enumerate() {
        let Some(class) = truth[i].filter(|c| (*c as usize) < classes) else { continue };
        let z = margin_toward(classifier.scheme, classes, f, class as usize);
        if z < end {
            suspects.push((z, i));
        }
    }
    suspects.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut out = String::from("row\tlabel\tpredicted\tmargin\n");
    let name = |class: u32| classifier.classes.get(class as usize).map(|c| cell(c, '\t')).unwrap_or_default();
    for (z, i) in &suspects {
        let label = truth[*i].map(name).unwrap_or_default();
        let _ = writeln!(out, "{}\t{label}\t{}\t{}", numbers[*i], name(predictions.class[*i]), exact(*z));
    }
    Ok((out, suspects.len()))
}
