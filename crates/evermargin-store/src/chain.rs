//! The hashes that make damage visible.
//!
//! Every event is linked to all before it, with numbers as eight bytes, lowest first:
//!
//! ```text
//! hash_{-1} = BLAKE3("evermargin store" || format || instance)
//! hash_i    = BLAKE3(hash_{i-1} || i || |kind| || kind || |body| || BLAKE3(body))
//! ```
//!
//! The link holds BLAKE3(body), not the body, so a body may be forgotten and the chain is still verified to its end.
//! What is not an event (which snapshots there are, which bodies were forgotten) is small and goes, with the head of the
//! chain, into one digest; each write transaction has a number, the generation, and a digest. Equal generation and
//! digest mean an equal store.

use blake3::{Hash, Hasher};
use std::collections::BTreeMap;

/// What a store holds, but for the bodies: all of it is under [`Contents::digest`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Contents {
    /// Drawn when the store was made.
    pub instance: [u8; 16],
    /// Write transactions so far.
    pub generation: u64,
    /// Events so far, which is the number of the next.
    pub count: u64,
    /// The hash of the last event.
    pub head: Hash,
    /// At most two, oldest first.
    pub snapshots: Vec<StoredLink>,
    /// Bodies of this kind before this number were forgotten.
    pub forgotten: BTreeMap<String, u64>,
}

/// A snapshot, but for its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoredLink {
    /// The state after all events before this one.
    pub seq: u64,
    /// Bytes.
    pub length: u64,
    /// Of the bytes.
    pub hash: Hash,
}

impl Contents {
    /// A store without events.
    pub fn empty(instance: [u8; 16]) -> Self {
        let (snapshots, forgotten) = (Vec::new(), BTreeMap::new());
        Self { instance, generation: 0, count: 0, head: origin(&instance), snapshots, forgotten }
    }

    /// The hash of everything in here.
    pub fn digest(&self) -> Hash {
        let mut hasher = Hasher::new();
        hasher.update(&self.instance);
        number(&mut hasher, self.generation);
        number(&mut hasher, self.count);
        hasher.update(self.head.as_bytes());
        number(&mut hasher, self.snapshots.len() as u64);
        for snapshot in &self.snapshots {
            number(&mut hasher, snapshot.seq);
            number(&mut hasher, snapshot.length);
            hasher.update(snapshot.hash.as_bytes());
        }
        for (kind, &before) in &self.forgotten {
            text(&mut hasher, kind);
            number(&mut hasher, before);
        }
        hasher.finalize()
    }

    /// Whether the body of this event was forgotten.
    pub fn forgets(&self, seq: u64, kind: &str) -> bool {
        self.forgotten.get(kind).is_some_and(|&before| seq < before)
    }

    /// Bodies before this event may be forgotten: the older of two snapshots stands in for them.
    pub fn covered(&self) -> u64 {
        if self.snapshots.len() < 2 { 0 } else { self.snapshots[0].seq }
    }
}

/// The hash before the first event.
pub(crate) fn origin(instance: &[u8; 16]) -> Hash {
    let mut hasher = Hasher::new();
    hasher.update(b"evermargin store");
    number(&mut hasher, u64::from(crate::FORMAT));
    hasher.update(instance);
    hasher.finalize()
}

/// The hash of event `seq`, given the hash of the one before.
pub(crate) fn link(before: &Hash, seq: u64, kind: &str, length: u64, body: &Hash) -> Hash {
    let mut hasher = Hasher::new();
    hasher.update(before.as_bytes());
    number(&mut hasher, seq);
    text(&mut hasher, kind);
    number(&mut hasher, length);
    hasher.update(body.as_bytes());
    hasher.finalize()
}

fn number(hasher: &mut Hasher, number: u64) {
    hasher.update(&number.to_le_bytes());
}

fn text(hasher: &mut Hasher, text: &str) {
    number(hasher, text.len() as u64);
    hasher.update(text.as_bytes());
}
