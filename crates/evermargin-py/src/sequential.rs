//! Python handle of a sequential learner that can be trained further.

use crate::classifier::PyClassifier;
use crate::error::{core_error, format_error};
use crate::rows::{Rows, classes, numbers};
use crate::settings::train_options;
use crate::work::{exclusive, run_long, run_short};
use evermargin::pipeline::sequential::MedStream;
use evermargin_io::LoadOptions;
use evermargin_io::artifacts::engine::{SEQUENTIAL, seal, unseal_with};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::json;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Function that pickle calls to restore the object, and its arguments.
type PickleParts<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>, bool));

/// A sequential learner. It is pickled as the bytes of `to_bytes`.
#[pyclass(module = "evermargin._core", frozen)]
pub struct Sequential(Mutex<MedStream>);

impl Sequential {
    fn lock_inner(&self) -> MutexGuard<'_, MedStream> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Sequential {
    /// Creates an untrained learner for samples with the columns of `x`. The rows of `x` are not learned.
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
        let begun = run_short(py, || MedStream::begin(&options, &classes, view))?;
        begun.map(|stream| Self(Mutex::new(stream))).map_err(|e| core_error(&e))
    }

    /// Learns rows in batches; -1 in `codes` stands for no label. Returns the reports of the solver as JSON.
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
        let mut next = self.lock_inner().clone();
        let done = run_long(py, name, |watch| next.learn(view.to_matrix(), &of, weights.as_deref(), watch))?;
        let reports = done.map_err(|e| core_error(&e))?.unwrap_or_default();
        *self.lock_inner() = next;
        let steps: u64 = reports.iter().map(|r| r.steps).sum();
        Ok(json!({ "outputs": reports, "steps": steps }).to_string())
    }

    /// The current classifier.
    fn classifier(&self) -> PyClassifier {
        PyClassifier(self.lock_inner().classifier())
    }

    /// The variance of the decision at each row.
    fn variance<'py>(&self, py: Python<'py>, x: Rows<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let view = x.view()?;
        let variance = exclusive(py, &self.0, |s| s.variance(view))?.map_err(|e| core_error(&e))?;
        Ok(variance.into_pyarray(py))
    }

    /// Number of labeled rows of each class.
    #[getter]
    fn counts(&self) -> Vec<usize> {
        self.lock_inner().counts().to_vec()
    }

    /// Number of batches learned.
    #[getter]
    fn batches(&self) -> u64 {
        self.lock_inner().batches()
    }

    /// The bytes of the learner.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let saved = self.lock_inner().save();
        Ok(PyBytes::new(py, &seal(SEQUENTIAL, &saved).map_err(|e| format_error(&e))?))
    }

    /// Restores a learner from its bytes. Refuses a state of another CPU feature level unless `allow_other_cpu` is set.
    #[staticmethod]
    #[pyo3(signature = (bytes, allow_other_cpu = false))]
    fn from_bytes(bytes: &[u8], allow_other_cpu: bool) -> PyResult<Self> {
        let options = LoadOptions { allow_other_cpu, ..LoadOptions::default() };
        let saved = unseal_with(SEQUENTIAL, "state", bytes, &options).map_err(|e| format_error(&e))?;
        MedStream::resume(saved).map(|stream| Self(Mutex::new(stream))).map_err(|e| core_error(&e))
    }

    /// Pickles are often used for prediction on another machine, so they open on every CPU feature level.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<PickleParts<'py>> {
        Ok((slf.get_type().getattr("from_bytes")?, (slf.get().to_bytes(slf.py())?, true)))
    }
}
