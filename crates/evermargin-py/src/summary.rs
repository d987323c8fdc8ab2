//! What to remember of the data: exemplars, and how many samples each stands for.

use crate::error::{of_core, of_json};
use crate::rows::{Rows, order, to_python};
use crate::work::long;
use evermargin::solver::Stop;
use evermargin::summary::{self, ExemplarParams, Pool, Summary};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

/// Rows chosen, samples each stands for, the objective.
type SelectedExemplars<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>, f64);

/// Exemplars, samples each stands for, samples seen.
type StoredExemplars<'py> = (Bound<'py, PyAny>, Bound<'py, PyArray1<f64>>, u64);

fn params(settings: &str) -> PyResult<ExemplarParams> {
    serde_json::from_str(settings).map_err(|e| of_json(&e))
}

/// Chooses `count` rows, the most important first. `settings` is JSON.
#[pyfunction]
pub fn choose_exemplars<'py>(
    py: Python<'py>,
    x: Rows<'py>,
    settings: &str,
    count: usize,
) -> PyResult<SelectedExemplars<'py>> {
    let (params, view) = (params(settings)?, x.view()?);
    let chosen = long(py, None, |watch| {
        let pool = Pool::of(view);
        let (picks, score) = summary::choose_and_score(&params, &pool, count, watch)?;
        let carried = summary::carry_weights(view, &[], &picks.order, params.kernel)?;
        Ok((picks.order, carried, score))
    })?;
    let (rows, carried, score) = chosen.map_err(|e: evermargin::Error| of_core(&e))?;
    Ok((order(py, &rows), carried.into_pyarray(py), score))
}

/// The convex relaxation of choosing `count` rows, rounded to the rows of largest share.
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
    let chosen = long(py, None, |watch| {
        let pool = Pool::of(view);
        let relaxed = summary::relax(&params, &pool, count, stop, watch)?;
        let carried = summary::carry_weights(view, &[], &relaxed.rows, params.kernel)?;
        let score = summary::objective(&params, &pool, &relaxed.rows)?;
        Ok((relaxed.rows, carried, score))
    })?;
    let (rows, carried, score) = chosen.map_err(|e: evermargin::Error| of_core(&e))?;
    Ok((order(py, &rows), carried.into_pyarray(py), score))
}

/// A summary as Python holds it.
#[derive(FromPyObject)]
pub struct Parts<'py>(Rows<'py>, PyReadonlyArray1<'py, f64>, u64);

impl Parts<'_> {
    fn summary(&self, params: ExemplarParams, cap: usize) -> PyResult<Summary> {
        let (rows, weights) = (self.0.view()?.to_matrix(), self.1.as_array().to_vec());
        Summary::of(params, cap, rows, weights, self.2).map_err(|e| of_core(&e))
    }
}

fn held<'py>(py: Python<'py>, summary: &Summary) -> PyResult<StoredExemplars<'py>> {
    let weights = PyArray1::from_slice(py, summary.weights());
    Ok((to_python(py, summary.exemplars())?, weights, summary.seen()))
}

/// A summary `(exemplars, weights, seen)` of at most `cap` rows after it took `x` in.
#[pyfunction]
pub fn absorb<'py>(
    py: Python<'py>,
    summary: Parts<'py>,
    settings: &str,
    cap: usize,
    x: Rows<'py>,
) -> PyResult<StoredExemplars<'py>> {
    let (mut summary, view) = (summary.summary(params(settings)?, cap)?, x.view()?);
    long(py, None, |watch| summary.absorb(view, watch))?.map_err(|e| of_core(&e))?;
    held(py, &summary)
}

/// Two summaries `(exemplars, weights, seen)` as one of at most `cap` rows.
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
    long(py, None, |watch| one.merge(&other, watch))?.map_err(|e| of_core(&e))?;
    held(py, &one)
}
