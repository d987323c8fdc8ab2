//! What people said of pairs of samples: the same class, or two. Bounded; the oldest go first.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// Most pairs.
const MAX_PAIRS: usize = 10_000;

/// Pairs, in the order in which they were told.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct PairwiseConstraints {
    pairs: Vec<(u64, u64, bool)>,
}

impl PairwiseConstraints {
    /// One more pair; what was said of it before is replaced.
    pub fn add(&mut self, a: u64, b: u64, same: bool) {
        let (a, b) = (a.min(b), a.max(b));
        self.pairs.retain(|p| (p.0, p.1) != (a, b));
        if self.pairs.len() == MAX_PAIRS {
            self.pairs.remove(0);
        }
        self.pairs.push((a, b, same));
    }

    /// Refuses pairs that nobody can have told (a file may say anything).
    pub fn check(&self, rows: u64) -> Result<()> {
        let fits = self.pairs.len() <= MAX_PAIRS && self.pairs.iter().all(|p| p.0 < p.1 && p.1 < rows);
        if fits { Ok(()) } else { Err(Error::State("its pairs are not of its samples".into())) }
    }

    /// The partners of a sample.
    pub fn of(&self, sample: u64) -> Vec<(u64, bool)> {
        let partner = |&(a, b, same): &(u64, u64, bool)| match sample {
            s if s == a => Some((b, same)),
            s if s == b => Some((a, same)),
            _ => None,
        };
        self.pairs.iter().filter_map(partner).collect()
    }

    /// Forgets what was said of a sample.
    pub fn forget(&mut self, sample: u64) {
        self.pairs.retain(|p| p.0 != sample && p.1 != sample);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_have_no_order_and_a_cap() {
        let mut r = PairwiseConstraints::default();
        r.add(5, 2, true);
        r.add(2, 5, false);
        assert_eq!((r.of(5), r.of(2), r.of(3)), (vec![(2, false)], vec![(5, false)], vec![]));
        (0..2 * MAX_PAIRS as u64).for_each(|k| r.add(k, k + 1, true));
        assert_eq!(r.pairs.len(), MAX_PAIRS);
        r.forget(2 * MAX_PAIRS as u64);
        assert_eq!(r.pairs.len(), MAX_PAIRS - 1);
    }
}
