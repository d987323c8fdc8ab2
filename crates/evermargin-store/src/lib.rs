//! Events, durable. This crate knows bytes, not learners.
//!
//! A [`Store`] is a directory of two files: `events.db`, an SQLite database that anybody can read, and `seal`, which
//! says how far the database had come when a write was last acknowledged. [`Store::append`] returns after its events
//! are on the disk and sealed. Each event carries the hash of all before it, so a store that was damaged, cut short,
//! mixed with another or edited is refused on opening, with the file and the number of the event; opening never
//! repairs and never deletes.
//!
//! ```
//! use evermargin_store::{Event, Open, Store};
//! let home = tempfile::tempdir()?;
//! let directory = home.path().join("state");
//! let mut store = Store::open(&directory, Open::Create)?;
//! store.append(&[Event { kind: "begin", body: br#"{"seed":1}"# }, Event { kind: "batch", body: b"\x00\x01" }])?;
//! drop(store);
//! let store = Store::open(&directory, Open::Existing)?;
//! for record in store.events(1) {
//!     assert_eq!(record?.body.as_deref(), Some(&b"\x00\x01"[..]));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! To which configuration a store belongs is told by its first event: what it says is under the hash of every later one.

mod chain;
mod create;
mod database;
mod error;
mod events;
mod seal;
mod snapshots;
mod store;
mod verify;

pub use error::{Error, Result};
pub use events::{Event, Events, Record};
pub use snapshots::Snapshot;
pub use store::{Open, Store};

/// The format written here, and the only one read.
pub const FORMAT: u32 = 1;

/// The largest body of an event, in bytes.
pub const BODY_LIMIT: usize = 256 << 20;

/// The longest kind of an event, in bytes.
pub const KIND_LIMIT: usize = 255;

/// The page of the book, so that its Rust is compiled and run.
#[cfg(doctest)]
mod book {
    #[doc = include_str!("../../../docs/store.md")]
    struct Page;
}
