//! `evermargin._core`: the core for Python. This crate passes handles, arrays and bytes; the package `python/evermargin`
//! builds scikit-learn estimators on them.
//!
//! All work is done without the interpreter's lock, on a pool of threads that belongs to this process
//! ([`work`]). Errors of the core become `ValueError` with the same text, errors of parameters `ParameterError`.

#![allow(clippy::needless_pass_by_value)] // pyo3 passes arguments by value

mod balance;
mod classifier;
mod engine;
mod error;
mod fit;
mod online;
mod predictor;
mod query;
mod rows;
mod sequential;
mod session;
mod settings;
mod specs;
mod summary;
mod work;

use pyo3::prelude::*;

/// The Python module and its exports.
#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use super::classifier::PyClassifier;
    #[pymodule_export]
    use super::engine::PyEngine;
    #[pymodule_export]
    use super::error::{
        Corrupt, OtherCpu, ParameterError, Rejected, SessionError, StorageError, StorageFull,
    };
    #[pymodule_export]
    use super::fit::{Training, fit};
    #[pymodule_export]
    use super::online::Checkpoint;
    #[pymodule_export]
    use super::predictor::Predictor;
    #[pymodule_export]
    use super::sequential::Sequential;
    #[pymodule_export]
    use super::session::PySession;
    #[pymodule_export]
    use super::settings::resolved_params;
    #[pymodule_export]
    use super::specs::{engine_specs, specs};
    #[pymodule_export]
    use super::work::set_threads;

    #[pymodule_export]
    use super::balance::{smote, virtual_points};
    #[pymodule_export]
    use super::query::{closeness, diverse_batch, relaxed_batch, small_pool, submod_batch};
    #[pymodule_export]
    use super::summary::{absorb, choose_exemplars, merge_summaries, relax_exemplars};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(m: &Bound<'_, PyModule>) -> PyResult<()> {
        m.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
