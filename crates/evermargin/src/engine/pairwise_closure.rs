//! Closure of pairwise constraints: the labels that they imply, and the classes that they exclude.
//!
//! Problem: given must-links, cannot-links, the true classes of some samples and the number of classes, find the
//! samples whose class is determined. Must-links are an equivalence relation, so they divide the samples into groups.
//! The members of a group with a known class have that class, and it is excluded for every group connected by a
//! cannot-link. A group for which all classes but one are excluded has the remaining class. This is repeated until
//! nothing changes.
//!
//! Departures: this is unit propagation. It is sound. It is complete for two classes, and also if the class of one side
//! of every cannot-link is known, which holds for comparisons with labeled samples. In general, completeness would
//! require solving graph coloring (NP-hard). Statements that contradict each other imply nothing within their group.

use std::collections::BTreeSet;

/// Classes that pairs imply and exclude.
pub(super) struct Implications {
    /// Samples of pairs, ascending.
    samples: Vec<u64>,
    /// Group of each sample, connected by must-links.
    group: Vec<usize>,
    /// Component of each sample, connected by pairs of any kind.
    component: Vec<usize>,
    /// Class of each group, and a sample from whose label it follows.
    class: Vec<Option<(u32, u64)>>,
    /// Classes of each group that cannot-links exclude.
    excluded: Vec<BTreeSet<u32>>,
    /// Whether each group contains a contradiction: a cannot-link within the group, or two known classes.
    contradicted: Vec<bool>,
}

impl Implications {
    /// Computes the closure. `known` holds the true class of some samples, `classes` is the number of classes.
    pub fn new(pairs: &[(u64, u64, bool)], known: &[(u64, u32)], classes: usize) -> Self {
        let mut samples: Vec<u64> = pairs.iter().flat_map(|p| [p.0, p.1]).collect();
        samples.sort_unstable();
        samples.dedup();
        let at = |sample: u64| samples.binary_search(&sample).unwrap_or(0);
        let pairs: Vec<(usize, usize, bool)> = pairs.iter().map(|p| (at(p.0), at(p.1), p.2)).collect();
        let group = roots(samples.len(), pairs.iter().filter(|p| p.2));
        let component = roots(samples.len(), pairs.iter());
        let excluded = vec![BTreeSet::new(); samples.len()];
        let class = vec![None; samples.len()];
        let contradicted = vec![false; samples.len()];
        let mut found = Self { samples, group, component, class, excluded, contradicted };
        found.set_known_classes(known, &pairs);
        found.propagate(&pairs, classes);
        found
    }

    /// Sets the known class of each group without a contradiction.
    fn set_known_classes(&mut self, known: &[(u64, u32)], pairs: &[(usize, usize, bool)]) {
        for &(sample, class) in known {
            let Ok(at) = self.samples.binary_search(&sample) else { continue };
            let group = self.group[at];
            match self.class[group] {
                Some((other, _)) if other != class => self.contradicted[group] = true,
                Some(_) => {}
                None => self.class[group] = Some((class, sample)),
            }
        }
        let within = |p: &&(usize, usize, bool)| !p.2 && self.group[p.0] == self.group[p.1];
        for &(a, ..) in pairs.iter().filter(within) {
            self.contradicted[self.group[a]] = true;
        }
        for (class, _) in self.class.iter_mut().zip(&self.contradicted).filter(|(_, c)| **c) {
            *class = None;
        }
    }

    /// Propagates exclusions and eliminations in rounds, so that the order of the pairs does not matter.
    fn propagate(&mut self, pairs: &[(usize, usize, bool)], classes: usize) {
        let apart: Vec<(usize, usize)> =
            pairs.iter().filter(|p| !p.2).map(|p| (self.group[p.0], self.group[p.1])).collect();
        let mut neighbors: Vec<Vec<usize>> = vec![Vec::new(); self.samples.len()];
        for &(a, b) in &apart {
            neighbors[a].push(b);
            neighbors[b].push(a);
        }
        let mut new: Vec<usize> = (0..self.samples.len()).filter(|&g| self.class[g].is_some()).collect();
        while !new.is_empty() {
            let mut touched: Vec<(usize, u64)> = Vec::new();
            for &group in &new {
                let Some((class, from)) = self.class[group] else { continue };
                for &other in &neighbors[group] {
                    if self.excluded[other].insert(class) {
                        touched.push((other, from));
                    }
                }
            }
            new.clear();
            for (group, from) in touched {
                let open = self.class[group].is_none() && !self.contradicted[group];
                if open && self.excluded[group].len() + 1 == classes {
                    let left = (0..classes as u32).find(|c| !self.excluded[group].contains(c));
                    self.class[group] = left.map(|class| (class, from));
                    new.push(group);
                }
            }
        }
    }

    /// Samples of pairs, ascending.
    pub fn samples(&self) -> &[u64] {
        &self.samples
    }

    fn at(&self, sample: u64) -> Option<usize> {
        self.samples.binary_search(&sample).ok()
    }

    /// Implied class of a sample, and a sample from whose label it follows.
    pub fn class(&self, sample: u64) -> Option<(u32, u64)> {
        self.class[self.group[self.at(sample)?]]
    }

    /// Classes that a sample cannot have.
    pub fn excluded(&self, sample: u64) -> BTreeSet<u32> {
        self.at(sample).map_or_else(BTreeSet::new, |at| self.excluded[self.group[at]].clone())
    }

    /// Whether the group of a sample contains a contradiction, or has a class that a cannot-link excludes.
    pub fn contradicts(&self, sample: u64) -> bool {
        let Some(group) = self.at(sample).map(|at| self.group[at]) else { return false };
        self.contradicted[group] || self.class[group].is_some_and(|c| self.excluded[group].contains(&c.0))
    }

    /// Whether pairs of any kind connect two samples. A sample is connected to itself.
    pub fn connects(&self, a: u64, b: u64) -> bool {
        let component = |sample| self.at(sample).map(|at| self.component[at]);
        a == b || component(a).is_some_and(|c| component(b) == Some(c))
    }
}

/// Smallest member of the connected set of each of `n` items, by union-find with path halving.
fn roots<'p>(n: usize, pairs: impl Iterator<Item = &'p (usize, usize, bool)>) -> Vec<usize> {
    fn root(parent: &mut [usize], mut item: usize) -> usize {
        while parent[item] != item {
            parent[item] = parent[parent[item]];
            item = parent[item];
        }
        item
    }
    let mut parent: Vec<usize> = (0..n).collect();
    for &(a, b, _) in pairs {
        let (a, b) = (root(&mut parent, a), root(&mut parent, b));
        parent[a.max(b)] = a.min(b);
    }
    (0..n).map(|item| root(&mut parent, item)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    /// All assignments of classes to samples that agree with the pairs and the known classes.
    fn solutions(n: usize, pairs: &[(u64, u64, bool)], known: &[(u64, u32)], classes: u32) -> Vec<Vec<u32>> {
        let assignment =
            |code: u32| (0..n).map(|i| code / classes.pow(i as u32) % classes).collect::<Vec<_>>();
        let agrees = |a: &Vec<u32>| {
            known.iter().all(|(s, c)| a[*s as usize] == *c)
                && pairs.iter().all(|(x, y, same)| (a[*x as usize] == a[*y as usize]) == *same)
        };
        (0..classes.pow(n as u32)).map(assignment).filter(agrees).collect()
    }

    /// Compares random consistent statements with all assignments of classes that satisfy them.
    #[test]
    fn a_label_follows_exactly_if_every_consistent_assignment_has_it() {
        let rng = &mut Pcg64::seed_from_u64(7);
        let mut counts = [0; 3];
        for round in 0..3000 {
            let classes: u32 = rng.random_range(2..5);
            let n = if classes == 4 { 5 } else { 6 };
            let truth: Vec<u32> = (0..n).map(|_| rng.random_range(0..classes)).collect();
            let named = rng.random_range(1..4);
            let known: Vec<(u64, u32)> = (0..named).map(|i| (i as u64, truth[i])).collect();
            let mut pairs = Vec::new();
            for _ in 0..rng.random_range(1..9) {
                let (a, b) = (rng.random_range(0..n), rng.random_range(0..n));
                let same = truth[a] == truth[b];
                // With more than two classes, one side of a cannot-link must have a known class.
                if a != b && (same || classes == 2 || a.min(b) < named) {
                    pairs.push((a.min(b) as u64, a.max(b) as u64, same));
                }
            }
            let implied = Implications::new(&pairs, &known, classes as usize);
            let all = solutions(n, &pairs, &known, classes);
            for sample in 0..n as u64 {
                if !implied.samples().contains(&sample) {
                    continue;
                }
                let possible: BTreeSet<u32> = all.iter().map(|a| a[sample as usize]).collect();
                let expected = possible.first().copied().filter(|_| possible.len() == 1);
                let found = implied.class(sample);
                assert_eq!(found.map(|f| f.0), expected, "{round}: {sample} in {pairs:?}, {known:?}");
                let excluded = implied.excluded(sample);
                assert!(excluded.is_disjoint(&possible), "{round}: {sample} in {pairs:?}, {known:?}");
                if found.is_none() {
                    // No other classes are excluded.
                    assert_eq!(
                        excluded.len() + possible.len(),
                        classes as usize,
                        "{round}: {sample} in {pairs:?}"
                    );
                }
                let is_known = known.iter().any(|k| k.0 == sample);
                counts[usize::from(expected.is_some()) + usize::from(expected.is_some() && !is_known)] += 1;
            }
        }
        assert!(counts.iter().all(|c| *c > 1000), "{counts:?} open, known, implied");
    }

    /// Soundness also where unit propagation is incomplete: every class it finds is the true one.
    #[test]
    fn every_implied_label_is_correct() {
        let rng = &mut Pcg64::seed_from_u64(8);
        for _ in 0..2000 {
            let classes: u32 = rng.random_range(2..4);
            let truth: Vec<u32> = (0..6).map(|_| rng.random_range(0..classes)).collect();
            let known: Vec<(u64, u32)> = (0..2).map(|i| (i as u64, truth[i])).collect();
            let pair = |rng: &mut Pcg64| {
                let (a, b) = (rng.random_range(0..5), rng.random_range(1..6));
                (a.min(b), a.max(b) + usize::from(a == b))
            };
            let drawn: Vec<(usize, usize)> = (0..7).map(|_| pair(rng)).filter(|p| p.1 < 6).collect();
            let pairs: Vec<(u64, u64, bool)> =
                drawn.iter().map(|&(a, b)| (a as u64, b as u64, truth[a] == truth[b])).collect();
            let implied = Implications::new(&pairs, &known, classes as usize);
            for &sample in implied.samples() {
                let right = truth[sample as usize];
                assert!(implied.class(sample).is_none_or(|(class, _)| class == right));
                assert!(!implied.excluded(sample).contains(&right));
            }
        }
    }

    #[test]
    fn contradictions_imply_nothing_in_their_group_and_propagation_ends() {
        let class = |pairs: &[(u64, u64, bool)], known: &[(u64, u32)], sample| {
            Implications::new(pairs, known, 2).class(sample).map(|f| f.0)
        };
        // One group with two classes, and a sample that depends on it.
        let chain = [(0, 1, true), (1, 2, true), (2, 3, false)];
        assert_eq!([1, 3].map(|s| class(&chain, &[(0, 0), (2, 1)], s)), [None, None]);
        // Two samples are stated to be of the same class and of different classes.
        let circle = [(0, 1, true), (1, 2, true), (0, 2, false)];
        assert_eq!(class(&circle, &[(0, 0)], 1), None);
        // All known classes are excluded: the class may be a new one.
        assert_eq!(class(&[(0, 2, false), (1, 2, false)], &[(0, 0), (1, 1)], 2), None);
        // Propagation along an odd cycle of cannot-links ends.
        let odd = [(0, 1, false), (1, 2, false), (0, 2, false)];
        assert!(class(&odd, &[(0, 0)], 1).is_some());
    }
}
