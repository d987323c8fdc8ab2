//! The book in `docs/` and the README: nothing in them may be out of date without a test that says so.

mod commands;
mod formats;
mod links;
mod markdown;
mod methods;
mod parameters;
