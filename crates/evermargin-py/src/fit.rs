//! Training of an estimator.

use crate::classifier::PyClassifier;
use crate::error::core_error;
use crate::rows::{Rows, numbers};
use crate::settings::train_options;
use crate::work::run_long;
use evermargin::Labels;
use evermargin::pipeline::train::{Trained, train};
use evermargin::solver::{Exit, Watch};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};

/// Result of a training.
#[pyclass(module = "evermargin._core", frozen)]
pub struct Training(pub Trained);

impl From<Trained> for Training {
    fn from(trained: Trained) -> Self {
        Self(trained)
    }
}

/// For each row the number of its class, its score, its confidence, and whether its label was given.
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

    /// Notes for the user about automatic choices and omissions.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.0.notes.clone()
    }

    /// Steps, objectives, stopping reasons, and the additional results of a semi-supervised or online learner, as JSON.
    #[getter]
    fn report(&self) -> String {
        let mut report = json!({
            "outputs": self.0.reports,
            "steps": self.0.reports.iter().map(|r| r.steps).sum::<u64>(),
            "kernel_evaluations": self.0.reports.iter().map(|r| r.kernel_evaluations).sum::<u64>(),
            "exit": worst_exit(&self.0),
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

    /// Labels that a semi-supervised learner assigned to the rows; None for other learners.
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

/// Worst of the stopping reasons of all outputs.
fn worst_exit(trained: &Trained) -> Exit {
    let order = [Exit::Interrupted, Exit::Limit, Exit::Stalled];
    let found = order.into_iter().find(|e| trained.reports.iter().any(|r| r.exit == *e));
    found.unwrap_or(Exit::Converged)
}

/// Trains the estimator with the name `learner`. `codes` has the class number of each row, or -1 for no label.
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
    // The layout depends only on the values, as for files; explicitly stored zeros have no effect.
    let learn = |watch: &dyn Watch| train(view.to_matrix().into_natural_layout(), &labels, &options, watch);
    let trained = run_long(py, name, learn)?;
    trained.map(Training).map_err(|e| core_error(&e))
}
