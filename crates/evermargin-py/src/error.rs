//! Errors of the core as exceptions, with their text.

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

/// Of a session, by its type.
pub fn of_session(error: &evermargin_session::SessionError) -> PyErr {
    use evermargin_session::SessionError as E;
    let text = error.to_string();
    match error {
        E::Rejected(error) => Rejected::new_err(error.worded(words)),
        E::Interrupted => PyKeyboardInterrupt::new_err(text),
        E::StorageFull(_) => StorageFull::new_err(text),
        E::Storage(_) => StorageError::new_err(text),
        E::Corrupt { .. } | E::Format(_) => Corrupt::new_err(text),
        E::OtherCpu { .. } => OtherCpu::new_err(text),
        _ => SessionError::new_err(text),
    }
}

/// Of the core.
pub fn of_core(error: &evermargin::Error) -> PyErr {
    match error {
        evermargin::Error::Parameter { name, value, allowed } => parameter_error(name, value, allowed),
        _ => PyValueError::new_err(error.worded(words)),
    }
}

/// A remedy as a Python user applies it.
fn words(remedy: &evermargin::Remedy) -> String {
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

/// Of a parameter; `allowed` completes "must be …".
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
