//! Classifier that is prepared once for many predictions of few rows.

use crate::classifier::PyClassifier;
use crate::error::core_error;
use crate::rows::{Rows, table};
use crate::work::run_short;
use evermargin::model::{Classifier, Ready};
use pyo3::prelude::*;

/// Classifier prepared for fast predictions. It cannot be pickled; it is built from a classifier when needed.
#[pyclass(module = "evermargin._core", frozen)]
pub struct Predictor {
    classifier: Classifier,
    ready: Ready,
}

#[pymethods]
impl Predictor {
    #[new]
    fn new(classifier: &PyClassifier) -> Self {
        Self { ready: classifier.0.model.ready(), classifier: classifier.0.clone() }
    }

    /// Decision values of few rows (rows by outputs).
    fn decision<'py>(&self, py: Python<'py>, x: Rows<'py>) -> PyResult<Bound<'py, PyAny>> {
        let view = x.view()?;
        let predictions =
            run_short(py, || self.classifier.predict_by(&self.ready, view))?.map_err(|e| core_error(&e))?;
        table(py, predictions.decision, self.classifier.model.outputs())
    }
}
