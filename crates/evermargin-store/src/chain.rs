//! The hash chain by which damage is detected.
//!
//! The hash of an event depends on all events before it. Numbers are hashed as eight bytes in little-endian order:
//!
//! ```text
//! hash_{-1} = BLAKE3("evermargin store" || format || instance)
//! hash_i    = BLAKE3(hash_{i-1} || i || |kind| || kind || |body| || BLAKE3(body))
//! ```
//!
//! The chain contains BLAKE3(body), not the body, so the chain can still be verified to its end after a body was
//! forgotten. Everything else (the list of snapshots, the ranges of forgotten bodies) is small; one digest covers it
//! together with the head of the chain. Each write transaction has a number, the generation, and a digest. Two stores
//! with the same generation and digest are equal.

use blake3::{Hash, Hasher};
use std::collections::BTreeMap;

/// Contents of a store without the bodies of events and snapshots; [`Contents::digest`] covers all fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Contents {
    /// Random identifier of the store, drawn when it was created.
    pub instance: [u8; 16],
    /// Number of write transactions.
    pub generation: u64,
    /// Number of events, which is also the number of the next event.
    pub count: u64,
    /// Hash of the last event.
    pub head: Hash,
    /// At most two snapshots, oldest first.
    pub snapshots: Vec<SnapshotEntry>,
    /// For each kind, the number of the event before which all bodies were forgotten.
    pub forgotten: BTreeMap<String, u64>,
}

/// Description of a snapshot without its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SnapshotEntry {
    /// Number of the first event that the snapshot does not include.
    pub seq: u64,
    /// Length in bytes.
    pub length: u64,
    /// Hash of the bytes.
    pub hash: Hash,
}

impl Contents {
    /// Contents of a store without events.
    pub fn empty(instance: [u8; 16]) -> Self {
        let (snapshots, forgotten) = (Vec::new(), BTreeMap::new());
        Self { instance, generation: 0, count: 0, head: initial_hash(&instance), snapshots, forgotten }
    }

    /// Hash of all fields.
    pub fn digest(&self) -> Hash {
        let mut hasher = Hasher::new();
        hasher.update(&self.instance);
        hash_number(&mut hasher, self.generation);
        hash_number(&mut hasher, self.count);
        hasher.update(self.head.as_bytes());
        hash_number(&mut hasher, self.snapshots.len() as u64);
        for snapshot in &self.snapshots {
            hash_number(&mut hasher, snapshot.seq);
            hash_number(&mut hasher, snapshot.length);
            hasher.update(snapshot.hash.as_bytes());
        }
        for (kind, &before) in &self.forgotten {
            hash_text(&mut hasher, kind);
            hash_number(&mut hasher, before);
        }
        hasher.finalize()
    }

    /// Whether the body of this event was forgotten.
    pub fn is_forgotten(&self, seq: u64, kind: &str) -> bool {
        self.forgotten.get(kind).is_some_and(|&before| seq < before)
    }

    /// Number of the event before which bodies may be forgotten, because the older of two snapshots includes them; 0 with
    /// fewer than two snapshots.
    pub fn covered(&self) -> u64 {
        if self.snapshots.len() < 2 { 0 } else { self.snapshots[0].seq }
    }
}

/// Start of the hash chain, before the first event.
pub(crate) fn initial_hash(instance: &[u8; 16]) -> Hash {
    let mut hasher = Hasher::new();
    hasher.update(b"evermargin store");
    hash_number(&mut hasher, u64::from(crate::FORMAT));
    hasher.update(instance);
    hasher.finalize()
}

/// Hash of event `seq`, given the hash of the event before it and the hash of its body.
pub(crate) fn event_hash(before: &Hash, seq: u64, kind: &str, length: u64, body: &Hash) -> Hash {
    let mut hasher = Hasher::new();
    hasher.update(before.as_bytes());
    hash_number(&mut hasher, seq);
    hash_text(&mut hasher, kind);
    hash_number(&mut hasher, length);
    hasher.update(body.as_bytes());
    hasher.finalize()
}

fn hash_number(hasher: &mut Hasher, number: u64) {
    hasher.update(&number.to_le_bytes());
}

fn hash_text(hasher: &mut Hasher, text: &str) {
    hash_number(hasher, text.len() as u64);
    hasher.update(text.as_bytes());
}
