//! Summaries of data: exemplars, and the number of samples that each represents.

use crate::error::{core_error, json_error};
use crate::rows::{Rows, order, to_python};
use crate::work::run_long;
use evermargin::solver::Stop;
use evermargin::summary::{self, ExemplarParams, Pool, Summary};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

/// Selected rows, the number of samples that each represents, and the objective.
type SelectedExemplars<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>, f64);

/// Exemplars, the number of samples that each represents, and the number of samples seen.
type StoredExemplars<'py> = (Bound<'py, PyAny>, Bound<'py, PyArray1<f64>>, u64);

fn params(settings: &str) -> PyResult<ExemplarParams> {
    serde_json::from_str(settings).map_err(|e| json_error(&e))
}

/// Selects `count` rows, the most important first. `settings` is JSON.
#[pyfunction]
pub fn choose_exemplars<'py>(
    py: Python<'py>,
    x: Rows<'py>,
    settings: &str,
    count: usize,
) -> PyResult<SelectedExemplars<'py>> {
    let (params, view) = (params(settings)?, x.view()?);
    let chosen = run_long(py, None, |watch| {
        let pool = Pool::of(view);
        let (picks, score) = summary::choose_and_score(&params, &pool, count, watch)?;
        let carried = summary::carry_weights(view, &[], &picks.order, params.kernel)?;
        Ok((picks.order, carried, score))
    })?;
    let (rows, carried, score) = chosen.map_err(|e: evermargin::Error| core_error(&e))?;
    Ok((order(py, &rows), carried.into_pyarray(py), score))
}

/// Selects `count` rows by a convex relaxation, which is rounded to the rows with the largest fractional selection.
#[pyfunction]
pub fn relax_exemplars<'py>(
    py: Python<'py>,
    x: Rows<'py>,
    settings: &str,
    count: usize,
    tolerance: f64,
    max_steps: Option<u64>,
) -> PyResult<SelectedExemplars<'py>> {
    let (params, view) = (params(settings)?, x.view()?);
    let stop = Stop { tolerance, max_steps };
    let chosen = run_long(py, None, |watch| {
        let pool = Pool::of(view);
        let relaxed = summary::relax(&params, &pool, count, stop, watch)?;
        let carried = summary::carry_weights(view, &[], &relaxed.rows, params.kernel)?;
        let score = summary::objective(&params, &pool, &relaxed.rows)?;
        Ok((relaxed.rows, carried, score))
    })?;
    let (rows, carried, score) = chosen.map_err(|e: evermargin::Error| core_error(&e))?;
    Ok((order(py, &rows), carried.into_pyarray(py), score))
}

/// A summary as a Python tuple: exemplars, weights, and the number of samples seen.
#[derive(FromPyObject)]
pub struct Parts<'py>(Rows<'py>, PyReadonlyArray1<'py, f64>, u64);

impl Parts<'_> {
    fn summary(&self, params: ExemplarParams, cap: usize) -> PyResult<Summary> {
        let (rows, weights) = (self.0.view()?.to_matrix(), self.1.as_array().to_vec());
        Summary::of(params, cap, rows, weights, self.2).map_err(|e| core_error(&e))
    }
}

fn to_tuple<'py>(py: Python<'py>, summary: &Summary) -> PyResult<StoredExemplars<'py>> {
    let weights = PyArray1::from_slice(py, summary.weights());
    Ok((to_python(py, summary.exemplars())?, weights, summary.seen()))
}

/// Adds the rows of `x` to a summary `(exemplars, weights, seen)`, which then has at most `cap` rows.
#[pyfunction]
pub fn absorb<'py>(
    py: Python<'py>,
    summary: Parts<'py>,
    settings: &str,
    cap: usize,
    x: Rows<'py>,
) -> PyResult<StoredExemplars<'py>> {
    let (mut summary, view) = (summary.summary(params(settings)?, cap)?, x.view()?);
    run_long(py, None, |watch| summary.absorb(view, watch))?.map_err(|e| core_error(&e))?;
    to_tuple(py, &summary)
}

/// Merges two summaries `(exemplars, weights, seen)` into one of at most `cap` rows.
#[pyfunction]
pub fn merge_summaries<'py>(
    py: Python<'py>,
    one: Parts<'py>,
    other: Parts<'py>,
    settings: &str,
    cap: usize,
) -> PyResult<StoredExemplars<'py>> {
    let params = params(settings)?;
    let larger = other.1.as_array().len().max(1);
    let (mut one, other) = (one.summary(params.clone(), cap)?, other.summary(params, larger)?);
    run_long(py, None, |watch| one.merge(&other, watch))?.map_err(|e| core_error(&e))?;
    to_tuple(py, &one)
}
