//! Iterative optimization methods shared by the estimators. Each returns a [`Report`].

pub mod coordinate_descent;
pub(crate) mod kernel_cg;
pub mod lars;
pub mod lazy_greedy;
pub(crate) mod log_barrier;
pub mod newton_cg;
pub mod partition_matroid;
pub mod report;
pub mod smo;
mod smo_online;

pub use crate::watch::{Progress, Watch};
pub use report::{Exit, Report, Stop};
