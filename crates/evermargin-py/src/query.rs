//! Which rows are worth a label.

use crate::error::{of_core, of_json};
use crate::rows::{Rows, order};
use crate::work::long;
use evermargin::active;
use evermargin::model::{MulticlassScheme, Predictions};
use evermargin::solver::Stop;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rand::SeedableRng;
use rand_pcg::Pcg64;

/// Rows in the order of choice, and the gain of each.
type Picked<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>);

/// Rows, the share of each row of the pool, the objective.
type Relaxed<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>, f64);

/// How near each row is to the boundary, 1 at the margin. `decision` has a row for each sample, `codes` the class
/// predicted; `scheme` is binary, one-vs-rest or one-vs-one.
#[pyfunction]
pub fn closeness<'py>(
    py: Python<'py>,
    decision: PyReadonlyArray2<'py, f64>,
    codes: PyReadonlyArray1<'py, i64>,
    classes: usize,
    scheme: &str,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let scheme: MulticlassScheme = serde_json::from_value(scheme.into()).map_err(|e| of_json(&e))?;
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
            "decisions of {} rows and {} columns, {} classes predicted: expected {outputs} columns and a class a row",
            decision.nrows(),
            decision.ncols(),
            class.len()
        )));
    }
    let said = Predictions { class, decision: decision.iter().copied().collect(), probability: None };
    Ok(active::closeness_of(scheme, classes, &said).into_pyarray(py))
}

/// The nearest of a random pool, `count` times.
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

/// A batch of doubtful rows that speak for all doubtful rows. `kernel` is JSON.
#[pyfunction]
pub fn diverse_batch<'py>(
    py: Python<'py>,
    x: Rows<'py>,
    closeness: PyReadonlyArray1<'py, f64>,
    kernel: &str,
    count: usize,
) -> PyResult<Picked<'py>> {
    let kernel = serde_json::from_str(kernel).map_err(|e| of_json(&e))?;
    let (view, near) = (x.view()?, closeness.as_array().to_vec());
    let picks = long(py, None, |watch| active::diverse_batch(view, &near, kernel, count, watch))?;
    let picks = picks.map_err(|e| of_core(&e))?;
    Ok((order(py, &picks.order), picks.gains.into_pyarray(py)))
}

/// A batch of ambiguous rows unlike each other. `signs` are those of the labeled rows; `settings` is JSON.
#[pyfunction]
pub fn submod_batch<'py>(
    py: Python<'py>,
    x: Rows<'py>,
    labeled: Rows<'py>,
    signs: PyReadonlyArray1<'py, f64>,
    settings: &str,
    count: usize,
) -> PyResult<Picked<'py>> {
    let params: active::SubmodParams = serde_json::from_str(settings).map_err(|e| of_json(&e))?;
    let (view, labeled, signs) = (x.view()?, labeled.view()?, signs.as_array().to_vec());
    let picks = long(py, None, |watch| active::submod_batch(view, labeled, &signs, &params, count, watch))?;
    let picks = picks.map_err(|e| of_core(&e))?;
    Ok((order(py, &picks.order), picks.gains.into_pyarray(py)))
}

/// The convex relaxation of [`submod_batch`].
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
    let params: active::SubmodParams = serde_json::from_str(settings).map_err(|e| of_json(&e))?;
    let (view, labeled, signs) = (x.view()?, labeled.view()?, signs.as_array().to_vec());
    let stop = Stop { tolerance, max_steps };
    let relaxed =
        long(py, None, |watch| active::relaxed_batch(view, labeled, &signs, &params, count, stop, watch))?;
    let relaxed = relaxed.map_err(|e| of_core(&e))?;
    Ok((order(py, &relaxed.rows), relaxed.share.into_pyarray(py), relaxed.objective))
}
