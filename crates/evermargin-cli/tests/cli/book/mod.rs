//! The book in `docs/` and the README: tests fail when their contents are out of date.

mod commands;
mod formats;
mod links;
mod markdown;
mod methods;
pub mod parameters;
