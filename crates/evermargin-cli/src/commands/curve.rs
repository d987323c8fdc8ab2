//! The learning curve: scores of the model against the number of labels.

use crate::commands::predict::{scores, truth};
use crate::failure::Failure;
use crate::output::console::exact;
use evermargin::Labels;
use evermargin::data::Matrix;
use evermargin::estimators::online::lasvm::Checkpoint;
use evermargin::model::Classifier;
use serde_json::Value;
use std::fmt::Write;

/// The curve as text, scored on labeled rows.
pub fn table(
    classifier: &Classifier,
    curve: &[Checkpoint],
    x: &Matrix,
    labels: &Labels,
) -> Result<String, Failure> {
    let truth = truth(classifier, labels);
    let rows: Vec<usize> = (0..truth.len()).filter(|&i| truth[i].is_some()).collect();
    let truth: Vec<Option<u32>> = rows.iter().map(|&i| truth[i]).collect();
    let x = x.view().select(&rows);
    let mut out = String::from("labels\tlearned\tsupport_count\taccuracy\tg_means\n");
    for point in curve {
        let model = point.model.clone();
        let then = Classifier { model, calibration: Vec::new(), ..classifier.clone() };
        let scores = scores(&then, &then.predict(x.clone())?, &truth);
        let number = |name: &str| scores.get(name).and_then(Value::as_f64).map(exact).unwrap_or_default();
        let (accuracy, g_means) = (number("accuracy"), number("g_means"));
        let _ =
            writeln!(out, "{}\t{}\t{}\t{accuracy}\t{g_means}", point.labels, point.learned, point.support);
    }
    Ok(out)
}
