//! A sequential learner that goes on, as a handle.

use crate::classifier::PyClassifier;
use crate::error::{of_core, of_format};
use crate::rows::{Rows, classes, numbers};
use crate::settings::train_options;
use crate::work::{exclusive, long, quick};
use evermargin::pipeline::sequential::MedStream;
use evermargin_io::LoadOptions;
use evermargin_io::artifacts::engine::{SEQUENTIAL, seal, unseal_with};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::json;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What pickle calls to make the object again, and its arguments.
type Reduced<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>, bool));

/// A sequential learner. Pickled through its own bytes.
#[pyclass(module = "evermargin._core", frozen)]
pub struct Sequential(Mutex<MedStream>);

impl Sequential {
    fn held(&self) -> MutexGuard<'_, MedStream> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Sequential {
    /// A learner that has met nothing, for samples like the rows of `x`.
    #[staticmethod]
    fn begin(
        py: Python<'_>,
        learner: &str,
        x: Rows<'_>,
        classes: Vec<String>,
        settings: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let options = train_options(learner, settings)?;
        let view = x.view()?;
        let begun = quick(py, || MedStream::begin(&options, &classes, view))?;
        begun.map(|stream| Self(Mutex::new(stream))).map_err(|e| of_core(&e))
    }

    /// Learns rows in batches; -1 in `codes` is no label. What it did, as JSON.
    #[pyo3(signature = (x, codes, weights=None, verbose=false))]
    fn learn(
        &self,
        py: Python<'_>,
        x: Rows<'_>,
        codes: PyReadonlyArray1<'_, i64>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        verbose: bool,
    ) -> PyResult<String> {
        let (of, weights, view) = (classes(&codes), numbers(weights.as_ref()), x.view()?);
        let name = verbose.then_some("sequential");
        let mut next = self.held().clone();
        let done = long(py, name, |watch| next.learn(view.to_matrix(), &of, weights.as_deref(), watch))?;
        let reports = done.map_err(|e| of_core(&e))?.unwrap_or_default();
        *self.held() = next;
        let steps: u64 = reports.iter().map(|r| r.steps).sum();
        Ok(json!({ "outputs": reports, "steps": steps }).to_string())
    }

    /// The classifier as it is.
    fn classifier(&self) -> PyClassifier {
        PyClassifier(self.held().classifier())
    }

    /// The variance of the decision at each row.
    fn variance<'py>(&self, py: Python<'py>, x: Rows<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let view = x.view()?;
        let variance = exclusive(py, &self.0, |s| s.variance(view))?.map_err(|e| of_core(&e))?;
        Ok(variance.into_pyarray(py))
    }

    /// Labeled rows of each class so far.
    #[getter]
    fn counts(&self) -> Vec<usize> {
        self.held().counts().to_vec()
    }

    /// Batches so far.
    #[getter]
    fn batches(&self) -> u64 {
        self.held().batches()
    }

    /// Its bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let kept = self.held().save();
        Ok(PyBytes::new(py, &seal(SEQUENTIAL, &kept).map_err(|e| of_format(&e))?))
    }

    /// A learner from its bytes. Refuses a state that was made at another CPU level, unless told not to.
    #[staticmethod]
    #[pyo3(signature = (bytes, allow_other_cpu = false))]
    fn from_bytes(bytes: &[u8], allow_other_cpu: bool) -> PyResult<Self> {
        let options = LoadOptions { allow_other_cpu, ..LoadOptions::default() };
        let kept = unseal_with(SEQUENTIAL, "state", bytes, &options).map_err(|e| of_format(&e))?;
        MedStream::resume(kept).map(|stream| Self(Mutex::new(stream))).map_err(|e| of_core(&e))
    }

    /// A pickle is mostly made to predict elsewhere, so it opens at every CPU level.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        Ok((slf.get_type().getattr("from_bytes")?, (slf.get().to_bytes(slf.py())?, true)))
    }
}
