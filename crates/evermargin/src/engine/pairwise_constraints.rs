//! Pairwise constraints: pairs of samples of one class (must-link) or of two classes (cannot-link), as annotators
//! stated them.
//!
//! Invariants: at most [`MAX_PAIRS`] pairs, beyond which the oldest are dropped; classes are stored only for samples of
//! pairs. Their implications are computed in `pairwise_closure.rs`.

use super::pairwise_closure::Implications;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Maximum number of pairs.
const MAX_PAIRS: usize = 10_000;

/// Pairs, and the classes that annotators gave their samples.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PairwiseConstraints {
    /// Pairs in the order in which they were stated: smaller sample, larger sample, whether their classes are the same.
    pairs: Vec<(u64, u64, bool)>,
    /// True classes of samples of pairs, by sample. They are kept even if the label memory forgets the label, for
    /// example of the reference of a comparison.
    known: Vec<(u64, u32)>,
    /// Number of classes when labels were last inferred: elimination depends on it.
    classes: usize,
}

impl PairwiseConstraints {
    /// Adds a pair; an earlier statement about the same pair is replaced.
    pub fn add(&mut self, a: u64, b: u64, same: bool) {
        let (a, b) = (a.min(b), a.max(b));
        self.pairs.retain(|p| (p.0, p.1) != (a, b));
        if self.pairs.len() == MAX_PAIRS {
            self.pairs.remove(0);
            self.forget_classes();
        }
        self.pairs.push((a, b, same));
    }

    /// Whether there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Whether the sample is part of a pair.
    pub fn names(&self, sample: u64) -> bool {
        self.pairs.iter().any(|p| p.0 == sample || p.1 == sample)
    }

    /// Stores the true class of a sample if it is part of a pair.
    pub fn set_class(&mut self, sample: u64, class: u32) {
        match self.known.binary_search_by_key(&sample, |k| k.0) {
            Ok(at) => self.known[at].1 = class,
            Err(at) if self.names(sample) => self.known.insert(at, (sample, class)),
            Err(_) => {}
        }
    }

    /// The true class of a sample of a pair.
    pub fn class(&self, sample: u64) -> Option<u32> {
        self.known.binary_search_by_key(&sample, |k| k.0).ok().map(|at| self.known[at].1)
    }

    /// Stores the number of classes; returns whether it has changed.
    pub fn set_class_count(&mut self, classes: usize) -> bool {
        std::mem::replace(&mut self.classes, classes) != classes
    }

    /// The implications of the pairs.
    pub fn implications(&self) -> Implications {
        Implications::new(&self.pairs, &self.known, self.classes)
    }

    /// Classes that a sample cannot have.
    pub fn excluded(&self, sample: u64) -> BTreeSet<u32> {
        if self.names(sample) { self.implications().excluded(sample) } else { BTreeSet::new() }
    }

    /// The partners of a sample, in ascending order.
    pub fn partners(&self, sample: u64) -> BTreeSet<u64> {
        let partner = |p: &(u64, u64, bool)| match sample {
            s if s == p.0 => Some(p.1),
            s if s == p.1 => Some(p.0),
            _ => None,
        };
        self.pairs.iter().filter_map(partner).collect()
    }

    /// Removes all pairs of a sample.
    pub fn remove(&mut self, sample: u64) {
        self.pairs.retain(|p| p.0 != sample && p.1 != sample);
        self.forget_classes();
    }

    /// Removes the classes of samples that are no longer part of a pair.
    fn forget_classes(&mut self) {
        let named: BTreeSet<u64> = self.pairs.iter().flat_map(|p| [p.0, p.1]).collect();
        self.known.retain(|(sample, _)| named.contains(sample));
    }

    /// Changes the number of class c to `now[c]`.
    pub fn renumber(&mut self, now: &[u32]) {
        self.known.iter_mut().for_each(|(_, class)| *class = now[*class as usize]);
    }

    /// Returns an error for pairs that cannot have been stated (a file may hold anything).
    pub fn check(&self, rows: u64, classes: usize) -> Result<()> {
        let pairs: BTreeSet<(u64, u64)> = self.pairs.iter().map(|p| (p.0, p.1)).collect();
        let named: BTreeSet<u64> = self.pairs.iter().flat_map(|p| [p.0, p.1]).collect();
        let fits = self.pairs.len() <= MAX_PAIRS
            && pairs.len() == self.pairs.len()
            && pairs.iter().all(|(a, b)| a < b && *b < rows)
            && self.known.is_sorted_by(|a, b| a.0 < b.0)
            && self.known.iter().all(|(sample, c)| named.contains(sample) && (*c as usize) < classes)
            && self.classes <= classes;
        if fits { Ok(()) } else { Err(Error::State("its pairs do not match its samples and classes".into())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_unordered_and_limited_in_number() {
        let mut r = PairwiseConstraints::default();
        r.add(5, 2, true);
        r.add(2, 5, false);
        assert_eq!(r.pairs, [(2, 5, false)]);
        r.set_class(2, 0);
        r.set_class(3, 0);
        assert_eq!((r.class(2), r.class(3)), (Some(0), None), "only samples of pairs have a stored class");
        (10..10 + 2 * MAX_PAIRS as u64).for_each(|k| r.add(k, k + 1, true));
        assert_eq!((r.pairs.len(), r.class(2)), (MAX_PAIRS, None));
        r.check(1 << 20, 1).unwrap();
        r.remove(9 + 2 * MAX_PAIRS as u64);
        assert_eq!(r.pairs.len(), MAX_PAIRS - 2);
    }

    #[test]
    fn check_refuses_pairs_that_cannot_have_been_stated() {
        let good = PairwiseConstraints {
            pairs: vec![(1, 4, true), (1, 2, false)],
            known: vec![(1, 0), (4, 1)],
            classes: 2,
        };
        good.check(5, 2).unwrap();
        let pairs =
            |pairs: &[(u64, u64, bool)]| PairwiseConstraints { pairs: pairs.to_vec(), ..good.clone() };
        let known = |known: &[(u64, u32)]| PairwiseConstraints { known: known.to_vec(), ..good.clone() };
        for bad in [
            pairs(&[(1, 4, true), (4, 1, true)]),
            pairs(&[(1, 4, true), (1, 4, false)]),
            pairs(&[(1, 4, true), (2, 2, true)]),
            pairs(&[(1, 4, true), (1, 5, true)]),
            known(&[(4, 1), (1, 0)]),
            known(&[(1, 0), (1, 1)]),
            known(&[(3, 0)]),
            known(&[(1, 2)]),
            PairwiseConstraints { classes: 3, ..good.clone() },
        ] {
            assert!(bad.check(5, 2).is_err(), "{bad:?}");
        }
    }
}
