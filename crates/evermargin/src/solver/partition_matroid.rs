//! Greedy selection with at most k elements of each group.
//!
//! Problem: maximize F(A) over the sets A that contain at most k elements of every group of a partition, and at most
//! `count` in total. These sets are the independent sets of a partition matroid, truncated at `count` (Emara 2012 names
//! matroid constraints as future work).
//!
//! Method: greedy selection among the elements whose group is not full. For a monotone submodular F it reaches 1/2 of
//! the optimum (Fisher, Nemhauser & Wolsey 1978), and the optimum itself if F is a sum of one value per element. A full
//! group stays full, so the bounds of lazy greedy selection remain valid: `Partitioned` only restricts which elements
//! [`super::lazy_greedy`] may take.
//!
//! Invariant: no group exceeds its limit, whatever F is.

use super::lazy_greedy::SetFunction;
use crate::error::{Error, Result};

/// At most `max_per_group` elements of each group.
#[derive(Debug, Clone, Copy)]
pub struct GroupLimit<'a> {
    group: &'a [u32],
    max_per_group: usize,
}

impl<'a> GroupLimit<'a> {
    /// `group` is the number of the group of each element, below the number of elements.
    pub fn new(group: &'a [u32], max_per_group: usize) -> Result<Self> {
        if max_per_group == 0 {
            return Err(Error::parameter("max_per_group", 0, "1 or more"));
        }
        if let Some(number) = group.iter().find(|g| **g as usize >= group.len()) {
            return Err(Error::parameter("group", number, format!("numbers below {}", group.len())));
        }
        Ok(Self { group, max_per_group })
    }

    /// Refuses a limit for another number of elements.
    pub(crate) fn check(&self, elements: usize) -> Result<()> {
        if self.group.len() == elements {
            return Ok(());
        }
        Err(Error::Shape { what: "groups of rows", expected: elements, found: self.group.len() })
    }

    /// Counter of the elements taken from each group, initially 0.
    pub fn counter(&self) -> GroupCounter<'a> {
        GroupCounter { limit: *self, taken: vec![0; self.group.len()] }
    }
}

/// Number of elements taken from each group.
#[derive(Debug, Clone)]
pub struct GroupCounter<'a> {
    limit: GroupLimit<'a>,
    taken: Vec<usize>,
}

impl GroupCounter<'_> {
    /// Whether the group of an element has room.
    pub fn has_room(&self, element: usize) -> bool {
        self.taken[self.limit.group[element] as usize] < self.limit.max_per_group
    }

    /// Counts an element.
    pub fn add(&mut self, element: usize) {
        self.taken[self.limit.group[element] as usize] += 1;
    }

    /// Counts an element if its group has room, and returns whether it had.
    pub fn take(&mut self, element: usize) -> bool {
        let room = self.has_room(element);
        if room {
            self.add(element);
        }
        room
    }
}

/// A set function restricted to the sets that a [`GroupLimit`] allows.
pub(crate) struct Partitioned<'f, 'a> {
    inner: &'f mut dyn SetFunction,
    counter: GroupCounter<'a>,
    /// For a function of a subset of the elements: the element of the limit for each element of the function. `None` if
    /// they are the same.
    members: Option<&'f [usize]>,
}

impl<'f, 'a> Partitioned<'f, 'a> {
    pub(crate) fn new(inner: &'f mut dyn SetFunction, limit: &GroupLimit<'a>) -> Self {
        Self { inner, counter: limit.counter(), members: None }
    }

    /// The same for a function defined on the elements `members` only, in that order.
    pub(crate) fn of(inner: &'f mut dyn SetFunction, limit: &GroupLimit<'a>, members: &'f [usize]) -> Self {
        Self { inner, counter: limit.counter(), members: Some(members) }
    }

    fn member(&self, element: usize) -> usize {
        self.members.map_or(element, |members| members[element])
    }
}

impl SetFunction for Partitioned<'_, '_> {
    fn elements(&self) -> usize {
        self.inner.elements()
    }

    fn gain(&self, element: usize) -> f64 {
        self.inner.gain(element)
    }

    fn add(&mut self, element: usize) {
        let member = self.member(element);
        self.counter.add(member);
        self.inner.add(element);
    }

    fn rise(&self) -> f64 {
        self.inner.rise()
    }

    fn allowed(&self, element: usize) -> bool {
        self.counter.has_room(self.member(element)) && self.inner.allowed(element)
    }

    fn prefers_plain(&self) -> bool {
        self.inner.prefers_plain()
    }

    fn together(&self) -> usize {
        self.inner.together()
    }

    fn prepare(&self, elements: &[usize]) {
        self.inner.prepare(elements);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::lazy_greedy::{lazy, plain};
    use rand::{RngExt, SeedableRng};

    /// Weighted coverage: monotone and submodular.
    #[derive(Clone)]
    struct Coverage {
        covers: Vec<u32>,
        weight: Vec<f64>,
        covered: u32,
    }

    impl Coverage {
        fn value(&self, bits: u32) -> f64 {
            (0..32).filter(|b| bits >> b & 1 == 1).map(|b| self.weight[b]).sum()
        }
    }

    impl SetFunction for Coverage {
        fn elements(&self) -> usize {
            self.covers.len()
        }

        fn gain(&self, m: usize) -> f64 {
            self.value(self.covers[m] & !self.covered)
        }

        fn add(&mut self, m: usize) {
            self.covered |= self.covers[m];
        }

        fn rise(&self) -> f64 {
            0.0
        }
    }

    #[test]
    fn reaches_half_of_the_best_set_found_by_brute_force() {
        let mut rng = rand_pcg::Pcg64::seed_from_u64(4);
        let mut bound = 0;
        for _ in 0..60 {
            let (n, max, count) = (10, rng.random_range(1..3usize), rng.random_range(2..6usize));
            let covers: Vec<u32> = (0..n).map(|_| rng.random::<u32>() & rng.random::<u32>()).collect();
            let weight: Vec<f64> = (0..32).map(|_| rng.random::<f64>()).collect();
            let f = Coverage { covers, weight, covered: 0 };
            let group: Vec<u32> = (0..n).map(|_| rng.random_range(0..3)).collect();
            let limit = GroupLimit::new(&group, max).unwrap();
            let fits = |set: u32| {
                let mut counter = limit.counter();
                set.count_ones() as usize <= count
                    && (0..n).filter(|m| set >> m & 1 == 1).all(|m| counter.take(m))
            };
            let union = |set: u32| (0..n).filter(|m| set >> m & 1 == 1).fold(0, |u, m| u | f.covers[m]);
            let best = (0..1u32 << n).filter(|s| fits(*s)).map(|s| f.value(union(s))).fold(0.0, f64::max);
            let (mut one, mut two) = (f.clone(), f.clone());
            let found = lazy(&mut Partitioned::new(&mut one, &limit), count, &());
            let reference = plain(&mut Partitioned::new(&mut two, &limit), count, &());
            assert_eq!(found.order, reference.order);
            assert!(fits(found.order.iter().fold(0, |s, m| s | 1 << m)));
            let value: f64 = found.gains.iter().sum();
            assert!(value >= 0.5 * best && value <= best + 1e-12, "{value} of {best}");
            let mut free = f.clone();
            bound += usize::from(lazy(&mut free, count, &()).order != found.order);
        }
        assert!(bound > 20, "the limit changed the picks of only {bound} instances");
    }

    #[test]
    fn refuses_limits_that_allow_nothing_and_groups_out_of_range() {
        assert!(GroupLimit::new(&[0, 1], 0).is_err());
        assert!(GroupLimit::new(&[0, 2], 1).is_err());
        assert!(GroupLimit::new(&[0, 1], 1).unwrap().check(3).is_err());
    }
}
