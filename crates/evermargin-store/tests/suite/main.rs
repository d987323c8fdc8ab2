//! All integration tests of the crate in one binary.

#![allow(clippy::unwrap_used, clippy::format_push_string, missing_docs)]

mod common;
mod crash_images;
mod damage;
mod full_disk;
mod hashes;
mod killed;
mod model;
mod opening;
mod permissions;
mod round_trips;
mod sync_errors;
