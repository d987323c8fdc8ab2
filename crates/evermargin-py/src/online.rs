//! An online learner that goes on, as a handle.

use crate::error::{of_core, of_format};
use crate::fit::Training;
use crate::rows::{Rows, classes, numbers};
use crate::settings::train_options;
use crate::work::{long, quick};
use evermargin::Labels;
use evermargin::pipeline::partial_fit::{OnlineCheckpoint, PartialFitOptions, partial_fit};
use evermargin_io::LoadOptions;
use evermargin_io::artifacts::state;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// What pickle calls to make the object again, and its arguments.
type Reduced<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>, bool));

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
        settings: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let options = train_options(learner, settings)?;
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
        let labels = Labels { classes: self.0.head.learner.classes.clone(), of: classes(&codes) };
        let weights = numbers(weights.as_ref());
        let how = PartialFitOptions { weights: weights.as_deref(), seed, ..PartialFitOptions::default() };
        let view = x.view()?;
        let name = verbose.then_some(self.0.head.learner.name.as_str());
        let gone = long(py, name, |watch| partial_fit(&self.0, view.to_matrix(), &labels, how, watch))?;
        gone.map(|(trained, next)| (trained.into(), Self(next))).map_err(|e| of_core(&e))
    }

    /// The bytes of a state file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = state::to_bytes(&self.0).map_err(|e| of_format(&e))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// A learner from the bytes of a state file. Refuses a state that was made at another CPU level, unless told not to.
    #[staticmethod]
    #[pyo3(signature = (bytes, allow_other_cpu = false))]
    fn from_bytes(bytes: &[u8], allow_other_cpu: bool) -> PyResult<Self> {
        let options = LoadOptions { allow_other_cpu, ..LoadOptions::default() };
        state::from_bytes_with("state", bytes, &options).map(Self).map_err(|e| of_format(&e))
    }

    /// A pickle is mostly made to predict elsewhere, so it opens at every CPU level.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        Ok((slf.get_type().getattr("from_bytes")?, (slf.get().to_bytes(slf.py())?, true)))
    }

    /// Labeled rows of each class so far.
    #[getter]
    fn counts(&self) -> Vec<usize> {
        self.0.head.counts.clone()
    }

    /// Points it keeps.
    #[getter]
    fn points(&self) -> usize {
        self.0.saved.points.rows()
    }
}
