//! Durable event store. Events are bytes; this crate has no knowledge of learners.
//!
//! A [`Store`] is a directory of two files: `events.db`, an SQLite database that any SQLite tool can read, and `seal`,
//! which records the state of the database at the last acknowledged write. [`Store::append`] returns after its events
//! are on the disk and sealed. The hash of each event depends on all events before it. Therefore a store that was
//! damaged, truncated, mixed with another or edited is refused when it is opened, and the error names the file and the
//! number of the event. Opening a store never repairs and never deletes anything.
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
//! The first event of a store describes its configuration. The hash of every later event covers it.

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

/// Version of the format that this crate writes, which is the only one that it reads.
pub const FORMAT: u32 = 1;

/// Maximum length of the body of an event, in bytes.
pub const BODY_LIMIT: usize = 256 << 20;

/// Maximum length of the kind of an event, in bytes.
pub const KIND_LIMIT: usize = 255;

/// Includes the page of the book, so that its Rust examples are compiled and run as tests.
#[cfg(doctest)]
mod book {
    #[doc = include_str!("../../../docs/store.md")]
    struct Page;
}
