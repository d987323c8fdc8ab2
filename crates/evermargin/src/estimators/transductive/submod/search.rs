//! Starting labelings for [`polish`], and the best of the polished results.
//!
//! The starts are greedy, greedy of the other class, and the k rows most similar to the labels (Parzen), each polished;
//! a single start can end with the classes exchanged. Greedy selection computes many gains per row (Emara 2012 reports
//! up to 147 n gains), so with more than [`GREEDY_ROWS`] rows it runs on 512 rows, drawn with a fixed seed, with κ
//! scaled so that the cut has the same weight; the labels of these rows, propagated to all rows by one pass, are the
//! start.

use super::cut::Cut;
use super::polish::{Labeling, exchange, polish};
use crate::estimators::transductive::largest;
use crate::solver::lazy_greedy::{SetFunction, lazy, plain};
use crate::solver::{Exit, Watch};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Maximum number of rows for greedy selection on all rows.
pub const GREEDY_ROWS: usize = 4096;

/// Number of sampled rows for greedy selection if there are more; its result is only a start, and is polished.
const SAMPLED_ROWS: usize = 512;

/// Number of changing rows below which polishing a start ends: with many rows, one in 64 of the smaller class. Only the
/// best start is polished until no row changes.
fn max_changed(rows: usize, positives: usize) -> usize {
    if rows > GREEDY_ROWS { positives.min(rows - positives) / 64 } else { 0 }
}

/// Maximum number of rows for which exchanges are tried by default.
pub const EXCHANGE_ROWS: usize = 300;

/// Parameters of the search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Search {
    /// Maximum number of sweeps of top-k from each start.
    pub sweeps: u64,
    /// Whether greedy, and greedy of the other class, are starts in addition to Parzen.
    pub greedy: bool,
    /// Maximum number of exchanges of two rows at the end of each start.
    pub exchanges: u64,
    /// Number of random starts in addition to the others.
    pub random: usize,
    /// Seed of the random starts.
    pub seed: u64,
}

/// The best labels found, and how they were found.
#[derive(Debug, Clone)]
pub struct SearchResult {
    /// The labels.
    pub labeling: Labeling,
    /// Name of the start that led to them.
    pub start: &'static str,
    /// D of every polished start.
    pub objectives: Vec<(&'static str, f64)>,
    /// Total number of sweeps of all starts.
    pub sweeps: u64,
    /// Number of gains computed by greedy selection.
    pub evaluations: u64,
    /// Number of gains that greedy selection would have computed on the same rows without lazy evaluation.
    pub full: u64,
}

/// Rows selected by greedy selection.
#[derive(Debug, Clone)]
pub struct GreedySelection {
    /// Whether each row is positive.
    pub positive: Vec<bool>,
    /// Number of gains computed, and of gains without lazy evaluation.
    pub evaluations: [u64; 2],
    /// Whether the caller asked to stop; the rows are then those most similar to the labels.
    pub interrupted: bool,
}

/// Greedy selection with k picks; with `negatives` it selects the n − k others.
pub fn greedy(
    cut: &mut Cut<'_, '_>,
    k: usize,
    negatives: bool,
    every_gain: bool,
    watch: &dyn Watch,
) -> GreedySelection {
    let n = cut.elements();
    cut.select(&vec![false; n]);
    let choose = if every_gain { plain } else { lazy };
    let count = if negatives { n - k } else { k };
    let picks = if negatives { choose(&mut cut.negated(), count, watch) } else { choose(cut, count, watch) };
    let mut positive = marked(&picks.order, n);
    if negatives {
        positive.iter_mut().for_each(|m| *m = !*m);
    }
    let interrupted = picks.exit == Exit::Interrupted;
    if interrupted {
        positive = largest(cut.pull(), k);
    }
    let all = (count * n - count * count.saturating_sub(1) / 2) as u64;
    GreedySelection { positive, evaluations: [picks.evaluations, all], interrupted }
}

impl Search {
    /// Runs all starts and returns the best result.
    pub fn run(&self, cut: &mut Cut<'_, '_>, k: usize, watch: &dyn Watch) -> SearchResult {
        let n = cut.elements();
        let mut found = None;
        let (mut evaluations, mut full) = (0, 0);
        let parzen = largest(cut.pull(), k);
        self.try_start(cut, "parzen", parzen, &mut found, watch);
        let trivial = k == 0 || k == n || cut.kappa() == 0.0;
        if !self.greedy {
            // Parzen is the only start
        } else if n <= GREEDY_ROWS {
            for (name, negatives) in [("greedy", false), ("reverse greedy", true)] {
                if trivial || found.as_ref().is_some_and(|f: &SearchResult| f.labeling.interrupted) {
                    break;
                }
                let chosen = greedy(cut, k, negatives, false, watch);
                evaluations += chosen.evaluations[0];
                full += chosen.evaluations[1];
                self.try_start(cut, name, chosen.positive, &mut found, watch);
            }
        } else if !trivial {
            let (marks, sampled) = self.start_from_sample(cut, k, watch);
            (evaluations, full) = (sampled.evaluations, sampled.full);
            self.try_start(cut, sampled.start, marks, &mut found, watch);
        }
        let mut rng = Pcg64::seed_from_u64(self.seed);
        for _ in 0..if trivial { 0 } else { self.random } {
            let mut order: Vec<usize> = (0..n).collect();
            order.shuffle(&mut rng);
            self.try_start(cut, "random", marked(&order[..k], n), &mut found, watch);
        }
        let nothing = || SearchResult {
            labeling: Labeling { positive: vec![false; n], objective: 0.0, sweeps: 0, interrupted: true },
            start: "parzen",
            objectives: Vec::new(),
            sweeps: 0,
            evaluations: 0,
            full: 0,
        };
        let mut found = found.unwrap_or_else(nothing);
        (found.evaluations, found.full) = (evaluations, full);
        if max_changed(n, k) > 0 && !found.labeling.interrupted {
            let labeling = polish(cut, found.labeling.positive.clone(), self.sweeps, 0, watch);
            found.sweeps += labeling.sweeps;
            if labeling.objective >= found.labeling.objective {
                found.labeling = labeling;
            }
        }
        cut.select(&found.labeling.positive);
        found
    }

    /// The best labels of a sample of the rows, propagated to all rows.
    fn start_from_sample(
        &self,
        cut: &mut Cut<'_, '_>,
        k: usize,
        watch: &dyn Watch,
    ) -> (Vec<bool>, SearchResult) {
        let n = cut.elements();
        let keep = sample(n, SAMPLED_ROWS);
        let kappa = cut.kappa() * n as f64 / keep.len() as f64;
        let part = ((k * keep.len()) as f64 / n as f64 + 0.5).floor() as usize;
        let inner = Self { random: 0, ..*self };
        let mut found = inner.run(&mut cut.thinned(&keep, kappa), part.clamp(1, keep.len() - 1), watch);
        if found.labeling.interrupted {
            found.start = "parzen";
            return (largest(cut.pull(), k), found);
        }
        let scores = cut.spread(&keep, &found.labeling.positive, kappa);
        (largest(&scores, k), found)
    }

    fn try_start(
        &self,
        cut: &mut Cut<'_, '_>,
        name: &'static str,
        start: Vec<bool>,
        best: &mut Option<SearchResult>,
        watch: &dyn Watch,
    ) {
        if best.as_ref().is_some_and(|b| b.labeling.interrupted) {
            return;
        }
        let positives = start.iter().filter(|p| **p).count();
        let max_changed = max_changed(start.len(), positives);
        let mut labeling = polish(cut, start, self.sweeps, max_changed, watch);
        if self.exchanges > 0 && !labeling.interrupted {
            labeling = exchange(cut, labeling, self.exchanges, watch);
        }
        let (sweeps, value) = (labeling.sweeps, labeling.objective);
        let interrupted = labeling.interrupted;
        if let Some(b) = best {
            b.sweeps += sweeps;
            b.objectives.push((name, value));
            if value > b.labeling.objective {
                (b.labeling, b.start) = (labeling, name);
            }
            b.labeling.interrupted |= interrupted;
        } else {
            let objectives = vec![(name, value)];
            *best = Some(SearchResult { labeling, start: name, objectives, sweeps, evaluations: 0, full: 0 });
        }
    }
}

/// At most `max` of n rows, ascending: all rows, or rows drawn with a fixed seed. Rows at regular intervals would
/// depend on the order of the rows.
pub fn sample(n: usize, max: usize) -> Vec<usize> {
    if n <= max {
        return (0..n).collect();
    }
    let (mut rng, mut left) = (Pcg64::seed_from_u64(1), max);
    let mut chosen = |i: &usize| {
        let take = rng.random_range(0..n - i) < left;
        left -= usize::from(take);
        take
    };
    (0..n).filter(|i| chosen(i)).collect()
}

/// A vector of length `len` that is true at the given rows.
fn marked(rows: &[usize], len: usize) -> Vec<bool> {
    let mut marks = vec![false; len];
    rows.iter().for_each(|&i| marks[i] = true);
    marks
}
