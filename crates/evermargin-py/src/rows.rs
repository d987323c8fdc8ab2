//! Samples in the memory of Python: a C-ordered array of doubles, or the parts of a matrix in compressed sparse rows.
//! [`Rows::view`] does not copy values; column indices are copied only if they have 64 bits. Offsets are converted.

use crate::error::core_error;
use evermargin::{Matrix, MatrixView};
use numpy::{
    IntoPyArray, PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::borrow::Cow;

/// Samples, one per row.
pub enum Rows<'py> {
    Dense(PyReadonlyArray2<'py, f64>),
    Sparse { indptr: Vec<usize>, indices: Columns<'py>, values: PyReadonlyArray1<'py, f64>, cols: usize },
}

/// Column indices of the values of a sparse matrix.
pub enum Columns<'py> {
    Narrow(PyReadonlyArray1<'py, i32>),
    Wide(Vec<u32>),
}

impl<'py> FromPyObject<'_, 'py> for Rows<'py> {
    type Error = PyErr;

    /// Extracts an array or a tuple `(indptr, indices, data, columns)`.
    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(dense) = object.extract::<PyReadonlyArray2<'py, f64>>() {
            return Ok(Self::Dense(dense));
        }
        let Ok((indptr, indices, values, cols)) =
            object.extract::<(Bound<'py, PyAny>, Bound<'py, PyAny>, PyReadonlyArray1<'py, f64>, usize)>()
        else {
            return Err(PyTypeError::new_err(
                "rows must be a C-ordered float64 array or (indptr, indices, float64 data, columns)",
            ));
        };
        Ok(Self::Sparse { indptr: offsets(&indptr)?, indices: columns(&indices)?, values, cols })
    }
}

fn offsets(object: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    let negative = || PyValueError::new_err("sparse rows: an offset is negative");
    if let Ok(narrow) = object.extract::<PyReadonlyArray1<'_, i32>>() {
        return narrow.as_array().iter().map(|&v| usize::try_from(v).map_err(|_| negative())).collect();
    }
    let wide = object.extract::<PyReadonlyArray1<'_, i64>>()?;
    wide.as_array().iter().map(|&v| usize::try_from(v).map_err(|_| negative())).collect()
}

fn columns<'py>(object: &Bound<'py, PyAny>) -> PyResult<Columns<'py>> {
    if let Ok(narrow) = object.extract::<PyReadonlyArray1<'py, i32>>() {
        return Ok(Columns::Narrow(narrow));
    }
    let wide = object.extract::<PyReadonlyArray1<'py, i64>>()?;
    let out_of_range = || PyValueError::new_err("sparse rows: a column is negative or beyond 2^32");
    let narrow: PyResult<Vec<u32>> =
        wide.as_array().iter().map(|&v| u32::try_from(v).map_err(|_| out_of_range())).collect();
    Ok(Columns::Wide(narrow?))
}

impl Rows<'_> {
    /// A view of the samples without a copy. Returns an error for values and layouts that the core does not accept.
    pub fn view(&self) -> PyResult<MatrixView<'_>> {
        match self {
            Self::Dense(array) => {
                let (rows, cols) = (array.shape()[0], array.shape()[1]);
                let values = array.as_slice().map_err(|_| {
                    PyValueError::new_err("rows must be C-ordered; numpy.ascontiguousarray makes them so")
                })?;
                MatrixView::dense(values, rows, cols)
            }
            Self::Sparse { indptr, indices, values, cols } => {
                let not_contiguous = |_| PyValueError::new_err("sparse rows: arrays must be contiguous");
                // A negative column becomes a huge one, which is refused as out of range.
                let indices = match indices {
                    Columns::Narrow(array) => bytemuck::cast_slice(array.as_slice().map_err(not_contiguous)?),
                    Columns::Wide(list) => list.as_slice(),
                };
                MatrixView::csr(indptr, indices, values.as_slice().map_err(not_contiguous)?, *cols)
            }
        }
        .map_err(|e| core_error(&e))
    }
}

impl Rows<'_> {
    /// A copy of the samples in which every value is allowed, including NaN: for the engine, which rejects single rows.
    pub fn to_any_matrix(&self) -> PyResult<Matrix> {
        let not_contiguous = |_| PyValueError::new_err("rows must be C-ordered, sparse arrays contiguous");
        match self {
            Self::Dense(array) => {
                let (rows, cols) = (array.shape()[0], array.shape()[1]);
                Matrix::dense_with_any_values(array.as_slice().map_err(not_contiguous)?.to_vec(), rows, cols)
            }
            Self::Sparse { indptr, indices, values, cols } => {
                let indices: Vec<u32> = match indices {
                    Columns::Narrow(array) => {
                        bytemuck::cast_slice(array.as_slice().map_err(not_contiguous)?).to_vec()
                    }
                    Columns::Wide(list) => list.clone(),
                };
                let values = values.as_slice().map_err(not_contiguous)?.to_vec();
                Matrix::csr_with_any_values(indptr.clone(), indices, values, *cols)
            }
        }
        .map_err(|e| core_error(&e))
    }
}

/// Converts a matrix for Python: an array, or `(indptr, indices, data, columns)`.
pub fn to_python<'py>(py: Python<'py>, matrix: &Matrix) -> PyResult<Bound<'py, PyAny>> {
    match matrix.view() {
        MatrixView::Dense { values, rows, cols, .. } => {
            Ok(PyArray1::from_slice(py, values).reshape([rows, cols])?.into_any())
        }
        MatrixView::Csr { indptr, indices, values, cols, .. } => {
            let indptr: Vec<i64> = indptr.iter().map(|&v| v as i64).collect();
            let indices: Vec<i64> = indices.iter().map(|&v| i64::from(v)).collect();
            let parts =
                (indptr.into_pyarray(py), indices.into_pyarray(py), PyArray1::from_slice(py, values), cols);
            Ok(parts.into_pyobject(py)?.into_any())
        }
    }
}

/// Converts row-major values to an array of `cols` columns.
pub fn table(py: Python<'_>, values: Vec<f64>, cols: usize) -> PyResult<Bound<'_, PyAny>> {
    let rows = values.len().checked_div(cols).unwrap_or(0);
    Ok(values.into_pyarray(py).reshape([rows, cols])?.into_any())
}

/// Copies an optional array with one number per row, because the core takes ownership of it.
pub fn numbers(array: Option<&PyReadonlyArray1<'_, f64>>) -> Option<Vec<f64>> {
    array.map(|a| a.as_array().iter().copied().collect())
}

/// Converts class numbers for the core; a negative number stands for no label.
pub fn classes(codes: &PyReadonlyArray1<'_, i64>) -> Vec<Option<u32>> {
    codes.as_array().iter().map(|&c| u32::try_from(c).ok()).collect()
}

/// Converts row indices for the core. Returns an error for an index out of range.
pub fn indices<'a>(array: &'a PyReadonlyArray1<'_, i64>, rows: usize) -> PyResult<Cow<'a, [usize]>> {
    let index = |&v: &i64| match usize::try_from(v) {
        Ok(i) if i < rows => Ok(i),
        _ => Err(PyValueError::new_err(format!("row {v} does not exist: there are {rows}"))),
    };
    Ok(Cow::Owned(array.as_array().iter().map(index).collect::<PyResult<_>>()?))
}

/// Converts row indices for Python.
pub fn order<'py>(py: Python<'py>, rows: &[usize]) -> Bound<'py, PyArray1<i64>> {
    rows.iter().map(|&i| i as i64).collect::<Vec<_>>().into_pyarray(py)
}
