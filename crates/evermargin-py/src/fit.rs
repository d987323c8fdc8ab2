//! Training by a learner of the registry.

use crate::classifier::PyClassifier;
use crate::error::of_core;
use crate::rows::{Rows, numbers};
use crate::settings::train_options;
use crate::work::long;
use evermargin::Labels;
use evermargin::pipeline::train::{Trained, train};
use evermargin::solver::{Exit, Watch};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};

/// What a training gave.
#[pyclass(module = "evermargin._core", frozen)]
pub struct Training(pub Trained);

impl From<Trained> for Training {
    fn from(trained: Trained) -> Self {
        Self(trained)
    }
}

/// Numbers of classes, scores, confidences, and whether the label was given.
type Transduction<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<bool>>,
);

#[pymethods]
impl Training {
    /// The classifier.
    #[getter]
    fn classifier(&self) -> PyClassifier {
        PyClassifier(self.0.classifier.clone())
    }

    /// What was chosen or left out, for people.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.0.notes.clone()
    }

    /// Steps, objectives, reasons of the ends, and what a semi-supervised or online learner tells beside, as JSON.
    #[getter]
    fn report(&self) -> String {
        let mut report = json!({
            "outputs": self.0.reports,
            "steps": self.0.reports.iter().map(|r| r.steps).sum::<u64>(),
            "kernel_evaluations": self.0.reports.iter().map(|r| r.kernel_evaluations).sum::<u64>(),
            "exit": worst(&self.0),
        });
        if let (Value::Object(map), Some(semi)) = (&mut report, &self.0.semi) {
            let base = semi.baseline.as_ref();
            map.insert("ratio".into(), json!(semi.ratio));
            map.insert("facts".into(), json!(semi.facts));
            map.insert("agreement".into(), json!(base.map(|b| b.agreement)));
            map.insert("cross_validated".into(), json!(base.and_then(|b| b.cross_validated)));
        }
        if let (Value::Object(map), Some(online)) = (&mut report, &self.0.online) {
            map.insert("labels".into(), json!(online.labels));
            map.insert("stopped".into(), json!(online.stopped.why()));
            map.insert("support".into(), json!(online.support));
        }
        report.to_string()
    }

    /// The labels a semi-supervised learner gave to the rows; None for others.
    fn transduction<'py>(&self, py: Python<'py>) -> Option<Transduction<'py>> {
        let semi = self.0.semi.as_ref()?;
        let class: Vec<i64> = semi.class.iter().map(|&c| i64::from(c)).collect();
        Some((
            class.into_pyarray(py),
            PyArray1::from_slice(py, &semi.score),
            PyArray1::from_slice(py, &semi.confidence),
            PyArray1::from_slice(py, &semi.given),
        ))
    }
}

/// The least satisfying end of all outputs.
fn worst(trained: &Trained) -> Exit {
    let order = [Exit::Interrupted, Exit::Limit, Exit::Stalled];
    let found = order.into_iter().find(|e| trained.reports.iter().any(|r| r.exit == *e));
    found.unwrap_or(Exit::Converged)
}

/// Trains a learner of the registry. `codes` has the number of the class of each row, or -1 for none.
#[pyfunction]
#[pyo3(signature = (learner, x, codes, classes, settings, weights=None, verbose=false))]
pub fn fit(
    py: Python<'_>,
    learner: &str,
    x: Rows<'_>,
    codes: PyReadonlyArray1<'_, i64>,
    classes: Vec<String>,
    settings: &Bound<'_, PyDict>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    verbose: bool,
) -> PyResult<Training> {
    let mut options = train_options(learner, settings)?;
    options.weights = numbers(weights.as_ref());
    let labels = Labels { classes, of: crate::rows::classes(&codes) };
    let view = x.view()?;
    let name = verbose.then_some(learner);
    // The layout follows from the values, as when a file is read: zeros that are stored change nothing.
    let learn = |watch: &dyn Watch| train(view.to_matrix().into_natural_layout(), &labels, &options, watch);
    let trained = long(py, name, learn)?;
    trained.map(Training).map_err(|e| of_core(&e))
}
