//! Python handle of an online learner that can be trained further.

use crate::error::{core_error, format_error};
use crate::fit::Training;
use crate::rows::{Rows, classes, numbers};
use crate::settings::train_options;
use crate::work::{run_long, run_short};
use evermargin::Labels;
use evermargin::pipeline::partial_fit::{OnlineCheckpoint, PartialFitOptions, partial_fit};
use evermargin_io::LoadOptions;
use evermargin_io::artifacts::state;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// Function that pickle calls to restore the object, and its arguments.
type PickleParts<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>, bool));

/// State of an online learner before finishing. It is pickled as the bytes of a state file.
#[pyclass(module = "evermargin._core", frozen)]
pub struct Checkpoint(OnlineCheckpoint);

#[pymethods]
impl Checkpoint {
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
        let begin = || {
            let first = view.to_matrix().into_natural_layout();
            OnlineCheckpoint::begin(&options, &classes, first.view())
        };
        let begun = run_short(py, begin)?;
        begun.map(Self).map_err(|e| core_error(&e))
    }

    /// The state after a training by an online learner; None for other learners.
    #[staticmethod]
    fn of(training: &Training) -> Option<Self> {
        let trained = &training.0;
        let online = trained.online.as_ref()?;
        Some(Self(OnlineCheckpoint::new(&trained.classifier, online, &trained.counts)))
    }

    /// Learns more rows. Returns the result and the state after it; this state is not changed.
    #[pyo3(signature = (x, codes, weights=None, seed=1, verbose=false))]
    fn partial_fit(
        &self,
        py: Python<'_>,
        x: Rows<'_>,
        codes: PyReadonlyArray1<'_, i64>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        seed: u64,
        verbose: bool,
    ) -> PyResult<(Training, Self)> {
        let labels = Labels { classes: self.0.head.learner.classes.clone(), of: classes(&codes) };
        let weights = numbers(weights.as_ref());
        let options = PartialFitOptions { weights: weights.as_deref(), seed, ..PartialFitOptions::default() };
        let view = x.view()?;
        let name = verbose.then_some(self.0.head.learner.name.as_str());
        let fitted =
            run_long(py, name, |watch| partial_fit(&self.0, view.to_matrix(), &labels, options, watch))?;
        fitted.map(|(trained, next)| (trained.into(), Self(next))).map_err(|e| core_error(&e))
    }

    /// The bytes of a state file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = state::to_bytes(&self.0).map_err(|e| format_error(&e))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Restores a learner from the bytes of a state file. Refuses a state of another CPU feature level unless
    /// `allow_other_cpu` is set.
    #[staticmethod]
    #[pyo3(signature = (bytes, allow_other_cpu = false))]
    fn from_bytes(bytes: &[u8], allow_other_cpu: bool) -> PyResult<Self> {
        let options = LoadOptions { allow_other_cpu, ..LoadOptions::default() };
        state::from_bytes_with("state", bytes, &options).map(Self).map_err(|e| format_error(&e))
    }

    /// Pickles are often used for prediction on another machine, so they open on every CPU feature level.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<PickleParts<'py>> {
        Ok((slf.get_type().getattr("from_bytes")?, (slf.get().to_bytes(slf.py())?, true)))
    }

    /// Number of labeled rows of each class.
    #[getter]
    fn counts(&self) -> Vec<usize> {
        self.0.head.counts.clone()
    }

    /// Number of stored points.
    #[getter]
    fn points(&self) -> usize {
        self.0.saved.points.rows()
    }
}
