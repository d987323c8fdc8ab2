//! A classifier prepared once for many predictions of few rows.

use crate::classifier::PyClassifier;
use crate::error::of_core;
use crate::rows::{Rows, table};
use crate::work::quick;
use evermargin::model::{Classifier, Ready};
use pyo3::prelude::*;

/// A classifier that is ready. It is not kept: whoever wants one makes it of a classifier.
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
        let said = quick(py, || self.classifier.predict_by(&self.ready, view))?.map_err(|e| of_core(&e))?;
        table(py, said.decision, self.classifier.model.outputs())
    }
}
