//! Python exceptions for errors of the core, with their text.

use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PyOSError, PyValueError};
use pyo3::prelude::*;

pyo3::create_exception!(
    evermargin._core,
    ParameterError,
    PyValueError,
    "A parameter has a value that is not allowed. Attributes: name, value (as text) and allowed."
);

pyo3::create_exception!(
    evermargin._core,
    SessionError,
    PyException,
    "A session refused an event, could not store it, or was not opened."
);
pyo3::create_exception!(
    evermargin._core,
    Rejected,
    SessionError,
    "The event cannot be applied; nothing changed and nothing was stored."
);
pyo3::create_exception!(
    evermargin._core,
    StorageError,
    SessionError,
    "The store could not be opened or written. An event that could not be stored was not applied."
);
pyo3::create_exception!(
    evermargin._core,
    StorageFull,
    StorageError,
    "No space is left for the event, which was not applied: free some space, then call reopen_store."
);
pyo3::create_exception!(
    evermargin._core,
    Corrupt,
    SessionError,
    "The store is damaged, or its content does not form a session."
);
pyo3::create_exception!(
    evermargin._core,
    OtherCpu,
    SessionError,
    "The session was computed with other CPU features, so it would continue with other rounding."
);

/// Exception for an error of a session; its class follows from the variant of the error.
pub fn session_error(error: &evermargin_session::SessionError) -> PyErr {
    use evermargin_session::SessionError as E;
    let text = error.to_string();
    match error {
        E::Rejected(error) => Rejected::new_err(error.worded(remedy_text)),
        E::Interrupted => PyKeyboardInterrupt::new_err(text),
        E::StorageFull(_) => StorageFull::new_err(text),
        E::Storage(_) => StorageError::new_err(text),
        E::Corrupt { .. } | E::Format(_) => Corrupt::new_err(text),
        E::OtherCpu { .. } => OtherCpu::new_err(text),
        _ => SessionError::new_err(text),
    }
}

/// Exception for an error of the core.
pub fn core_error(error: &evermargin::Error) -> PyErr {
    match error {
        evermargin::Error::Parameter { name, value, allowed } => parameter_error(name, value, allowed),
        _ => PyValueError::new_err(error.worded(remedy_text)),
    }
}

/// Text of a remedy with the names of Python parameters.
fn remedy_text(remedy: &evermargin::Remedy) -> String {
    use evermargin::Remedy as R;
    match remedy {
        R::LabelRows => "y must hold labels of at least two classes".into(),
        R::ChooseClass { such_as } => {
            format!("fit on the rows of one class (such as {such_as}), or without y")
        }
        R::OneVsRest => "train each class against the rest with multi=\"one-vs-rest\"".into(),
        other => other.to_string(),
    }
}

/// Exception for an invalid parameter; `allowed` completes "must be …".
pub fn parameter_error(name: &str, value: &str, allowed: &str) -> PyErr {
    Python::attach(|py| {
        let exception = ParameterError::new_err(format!("parameter {name} = {value}: must be {allowed}"));
        let instance = exception.value(py);
        let attributes = [("name", name), ("value", value), ("allowed", allowed)];
        match attributes.iter().try_for_each(|(attribute, text)| instance.setattr(*attribute, *text)) {
            Ok(()) => exception,
            Err(error) => error,
        }
    })
}

/// Exception for an error of a file format; a failed operation of the operating system becomes an `OSError`.
pub fn format_error(error: &evermargin_io::Error) -> PyErr {
    match error {
        evermargin_io::Error::Io { .. } => PyOSError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// Exception for invalid JSON from the Python package.
pub fn json_error(error: &serde_json::Error) -> PyErr {
    PyValueError::new_err(format!("settings: {error}"))
}
