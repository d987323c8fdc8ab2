//! Selection of rows to be labeled.

use crate::error::{core_error, json_error};
use crate::rows::{Rows, order};
use crate::work::run_long;
use evermargin::active;
use evermargin::model::{MulticlassScheme, Predictions};
use evermargin::solver::Stop;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rand::SeedableRng;
use rand_pcg::Pcg64;

/// Rows in the order of their selection, and the gain of each.
type Picked<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>);

/// Selected rows, the fractional selection of each row of the pool, and the objective.
type Relaxed<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>, f64);

/// Margin of each row toward its predicted class: 0 on the decision boundary, 1 at the margin. `decision` has one row per
/// sample, `codes` are the predicted classes; `scheme` is binary, one-vs-rest or one-vs-one.
#[pyfunction]
pub fn closeness<'py>(
    py: Python<'py>,
    decision: PyReadonlyArray2<'py, f64>,
    codes: PyReadonlyArray1<'py, i64>,
    classes: usize,
    scheme: &str,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let scheme: MulticlassScheme = serde_json::from_value(scheme.into()).map_err(|e| json_error(&e))?;
    let decision = decision.as_array();
    let outputs = match scheme {
        MulticlassScheme::Binary => 1,
        MulticlassScheme::OneVsRest => classes,
        MulticlassScheme::OneVsOne => classes * classes.saturating_sub(1) / 2,
    };
    let codes: Vec<Option<u32>> = crate::rows::classes(&codes);
    let class: Vec<u32> = codes.into_iter().flatten().filter(|c| (*c as usize) < classes).collect();
    if decision.ncols() != outputs || class.len() != decision.nrows() {
        return Err(PyValueError::new_err(format!(
            "decisions of {} rows and {} columns, {} classes predicted: expected {outputs} columns and one class per row",
            decision.nrows(),
            decision.ncols(),
            class.len()
        )));
    }
    let predictions = Predictions { class, decision: decision.iter().copied().collect(), probability: None };
    Ok(active::closeness_of(scheme, classes, &predictions).into_pyarray(py))
}

/// Selects `count` rows; each is the one nearest to the boundary in a random pool of `size` remaining rows.
#[pyfunction]
pub fn small_pool<'py>(
    py: Python<'py>,
    closeness: PyReadonlyArray1<'py, f64>,
    count: usize,
    size: usize,
    seed: u64,
) -> Bound<'py, PyArray1<i64>> {
    let near = closeness.as_array().to_vec();
    let mut left: Vec<usize> = (0..near.len()).collect();
    let mut rng = Pcg64::seed_from_u64(seed);
    let count = count.min(near.len());
    let taken: Vec<usize> =
        (0..count).map_while(|_| active::take_nearest(&mut left, size, &near, &mut rng)).collect();
    order(py, &taken)
}

/// Selects a batch of uncertain rows that represents all uncertain rows. `kernel` is JSON.
#[pyfunction]
pub fn diverse_batch<'py>(
    py: Python<'py>,
    x: Rows<'py>,
    closeness: PyReadonlyArray1<'py, f64>,
    kernel: &str,
    count: usize,
) -> PyResult<Picked<'py>> {
    let kernel = serde_json::from_str(kernel).map_err(|e| json_error(&e))?;
    let (view, near) = (x.view()?, closeness.as_array().to_vec());
    let picks = run_long(py, None, |watch| active::diverse_batch(view, &near, kernel, count, watch))?;
    let picks = picks.map_err(|e| core_error(&e))?;
    Ok((order(py, &picks.order), picks.gains.into_pyarray(py)))
}

/// Selects a batch of ambiguous and mutually dissimilar rows. `signs` are the labels of the labeled rows; `settings` is
/// JSON.
#[pyfunction]
pub fn submod_batch<'py>(
    py: Python<'py>,
    x: Rows<'py>,
    labeled: Rows<'py>,
    signs: PyReadonlyArray1<'py, f64>,
    settings: &str,
    count: usize,
) -> PyResult<Picked<'py>> {
    let params: active::SubmodParams = serde_json::from_str(settings).map_err(|e| json_error(&e))?;
    let (view, labeled, signs) = (x.view()?, labeled.view()?, signs.as_array().to_vec());
    let picks =
        run_long(py, None, |watch| active::submod_batch(view, labeled, &signs, &params, count, watch))?;
    let picks = picks.map_err(|e| core_error(&e))?;
    Ok((order(py, &picks.order), picks.gains.into_pyarray(py)))
}

/// Selects a batch by the convex relaxation of [`submod_batch`].
#[pyfunction]
pub fn relaxed_batch<'py>(
    py: Python<'py>,
    x: Rows<'py>,
    labeled: Rows<'py>,
    signs: PyReadonlyArray1<'py, f64>,
    settings: &str,
    count: usize,
    tolerance: f64,
    max_steps: Option<u64>,
) -> PyResult<Relaxed<'py>> {
    let params: active::SubmodParams = serde_json::from_str(settings).map_err(|e| json_error(&e))?;
    let (view, labeled, signs) = (x.view()?, labeled.view()?, signs.as_array().to_vec());
    let stop = Stop { tolerance, max_steps };
    let relaxed = run_long(py, None, |watch| {
        active::relaxed_batch(view, labeled, &signs, &params, count, stop, watch)
    })?;
    let relaxed = relaxed.map_err(|e| core_error(&e))?;
    Ok((order(py, &relaxed.rows), relaxed.share.into_pyarray(py), relaxed.objective))
}
