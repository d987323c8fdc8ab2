//! Synthetic rows for small classes.

use crate::error::{core_error, json_error};
use crate::rows::{Rows, indices, to_python};
use crate::work::{run_long, run_short};
use evermargin::Label;
use evermargin::estimators::online::lasvm::LasvmParams;
use evermargin::estimators::{Fit, Targets};
use evermargin::resampling;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use rand::SeedableRng;
use rand_pcg::Pcg64;

/// SMOTE: for each of the `rows`, `per_row` points between it and one of its `k` nearest neighbors among the `rows`.
/// `kernel` is JSON.
#[pyfunction]
pub fn smote<'py>(
    py: Python<'py>,
    x: Rows<'py>,
    rows: PyReadonlyArray1<'py, i64>,
    kernel: &str,
    k: usize,
    per_row: usize,
    seed: u64,
) -> PyResult<Bound<'py, PyAny>> {
    let kernel = serde_json::from_str(kernel).map_err(|e| json_error(&e))?;
    let view = x.view()?;
    let rows = indices(&rows, view.rows())?.into_owned();
    let mut rng = Pcg64::seed_from_u64(seed);
    let synthetic = run_short(py, || resampling::smote(view, &rows, kernel, k, per_row, &mut rng))?;
    to_python(py, &synthetic.map_err(|e| core_error(&e))?)
}

/// VIRTUAL: the points that an active learner generated between positive support vectors; None if it generated none.
/// `settings` is JSON with the parameters of the online learner.
#[pyfunction]
pub fn virtual_points<'py>(
    py: Python<'py>,
    x: Rows<'py>,
    positive: PyReadonlyArray1<'py, bool>,
    settings: &str,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let params: LasvmParams = serde_json::from_str(settings).map_err(|e| json_error(&e))?;
    let view = x.view()?;
    let y = positive.as_array().iter().map(|&p| if p { Label::Pos } else { Label::Neg }).collect();
    let problem = Targets { y, cost: vec![1.0; positive.as_array().len()] };
    let fitted = run_long(py, None, |watch| params.fit(view, &[problem], watch))?;
    let points = fitted.map_err(|e| core_error(&e))?.online.and_then(|online| online.made);
    points.map(|rows| to_python(py, &rows)).transpose()
}
