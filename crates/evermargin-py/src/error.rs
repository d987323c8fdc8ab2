//! Errors of the core as exceptions, with their text.

use pyo3::PyErr;
use pyo3::exceptions::{PyOSError, PyValueError};

/// Of the core.
pub fn of_core(error: &evermargin::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Of the formats: what the operating system refused is an `OSError`.
pub fn of_format(error: &evermargin_io::Error) -> PyErr {
    match error {
        evermargin_io::Error::Io { .. } => PyOSError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// Of JSON that Python wrote.
pub fn of_json(error: &serde_json::Error) -> PyErr {
    PyValueError::new_err(format!("settings: {error}"))
}
