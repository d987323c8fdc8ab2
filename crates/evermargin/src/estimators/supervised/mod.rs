//! Estimators that learn from labeled rows only.

pub mod linear;
pub mod one_class;
pub mod ramp;
pub(crate) mod ridge;
pub mod risk;
pub mod rls;
pub mod svc;
pub(crate) mod svc_path;
