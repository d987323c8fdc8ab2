//! `evermargin._core`: the core for Python. Handles, arrays and bytes go through here; what they mean to a user of
//! scikit-learn is said in `python/evermargin`.
//!
//! All work is done without the interpreter's lock, on a pool of threads that belongs to this process
//! ([`work`]). Errors of the core become `ValueError` with the same text.

mod classifier;
mod engine;
mod error;
mod fit;
mod online;
mod predictor;
mod rows;
mod sequential;
mod work;

use pyo3::prelude::*;

/// The module. Whoever has the interpreter sees what is exported here.
#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use super::classifier::PyClassifier;
    #[pymodule_export]
    use super::engine::PyEngine;
    #[pymodule_export]
    use super::fit::{Training, fit, learners};
    #[pymodule_export]
    use super::online::Checkpoint;
    #[pymodule_export]
    use super::predictor::Predictor;
    #[pymodule_export]
    use super::sequential::Sequential;
    #[pymodule_export]
    use super::work::set_threads;

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(m: &Bound<'_, PyModule>) -> PyResult<()> {
        m.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
