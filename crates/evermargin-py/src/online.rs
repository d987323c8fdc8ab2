//! An online learner that goes on, as a handle.

use crate::error::{of_core, of_format, of_json};
use crate::fit::{Settings, Training};
use crate::rows::{Rows, classes, numbers};
use crate::work::{long, quick};
use evermargin::Labels;
use evermargin::estimators::online::partial_fit::{OnlineCheckpoint, PartialFitOptions, partial_fit};
use evermargin_io::artifacts::state;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// An online learner before finishing. Pickled through the bytes of a state file.
#[pyclass(module = "evermargin._core", frozen)]
pub struct Checkpoint(OnlineCheckpoint);

#[pymethods]
impl Checkpoint {
    /// A learner that has met nothing, for samples like the rows of `x`.
    #[staticmethod]
    fn begin(
        py: Python<'_>,
        learner: &str,
        x: Rows<'_>,
        classes: Vec<String>,
        settings: &str,
    ) -> PyResult<Self> {
        let settings: Settings = serde_json::from_str(settings).map_err(|e| of_json(&e))?;
        let options = settings.options(learner).map_err(|e| of_core(&e))?;
        let view = x.view()?;
        let begin = || {
            let first = view.to_matrix().into_natural_layout();
            OnlineCheckpoint::begin(&options, &classes, first.view())
        };
        let begun = quick(py, begin)?;
        begun.map(Self).map_err(|e| of_core(&e))
    }

    /// What a training by an online learner left to go on from; None for other learners.
    #[staticmethod]
    fn of(training: &Training) -> Option<Self> {
        let trained = &training.0;
        let online = trained.online.as_ref()?;
        Some(Self(OnlineCheckpoint::new(&trained.classifier, online, &trained.counts)))
    }

    /// Learns more rows: what it gave, and the state after it. This one stays as it is.
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
        let labels = Labels { classes: self.0.classes.clone(), of: classes(&codes) };
        let weights = numbers(weights.as_ref());
        let how = PartialFitOptions { weights: weights.as_deref(), seed, ..PartialFitOptions::default() };
        let view = x.view()?;
        let name = verbose.then_some(self.0.learner.as_str());
        let gone = long(py, name, |watch| partial_fit(&self.0, view.to_matrix(), &labels, how, watch))?;
        gone.map(|(trained, next)| (trained.into(), Self(next))).map_err(|e| of_core(&e))
    }

    /// The bytes of a state file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = state::to_bytes(&self.0).map_err(|e| of_format(&e))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// A learner from the bytes of a state file.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        state::from_bytes("state", bytes).map(Self).map_err(|e| of_format(&e))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((slf.get_type().getattr("from_bytes")?, (slf.get().to_bytes(slf.py())?,)))
    }

    /// Labeled rows of each class so far.
    #[getter]
    fn counts(&self) -> Vec<usize> {
        self.0.counts.clone()
    }

    /// Points it keeps.
    #[getter]
    fn points(&self) -> usize {
        self.0.saved.points.rows()
    }
}
