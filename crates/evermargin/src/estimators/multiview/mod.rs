//! Estimators that use several views of the same rows.

pub mod colap;
pub mod coreg;
pub mod coupled_views;
pub mod views;
