//! Starts for [`polish`], and the best of what becomes of them.
//!
//! Greedy, greedy of the other class, and the k rows most similar to the labels (Parzen), each polished; a single start can
//! end with the classes exchanged. Greedy needs many looks at every row (Emara 2012 reports up to 147 n gains), so with more
//! than [`GREEDY_ROWS`] rows it runs on 512, drawn with a fixed seed, with κ scaled so that the cut weighs the same; the labels of these,
//! spread over all by one pass, are the start.

use super::cut::Cut;
use super::polish::{Labeling, exchange, polish};
use crate::estimators::transductive::largest;
use crate::solver::lazy_greedy::{SetFunction, lazy, plain};
use crate::solver::{Exit, Watch};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Most rows greedy looks at one by one.
pub const GREEDY_ROWS: usize = 4096;

/// Rows it looks at when there are more: a start for all of them, which are polished anyway.
const SOME: usize = 512;

/// Rows that may still change when a start has been polished: where rows are many, one in 64 of the smaller class. Only the
/// best start goes on until none does.
fn rest(rows: usize, positives: usize) -> usize {
    if rows > GREEDY_ROWS { positives.min(rows - positives) / 64 } else { 0 }
}

/// Most rows for which exchanges are tried unless asked for.
pub const EXCHANGE_ROWS: usize = 300;

/// What to try.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Search {
    /// Most sweeps of top-k from each start.
    pub sweeps: u64,
    /// Whether greedy, and greedy of the other class, are starts beside Parzen's.
    pub greedy: bool,
    /// Most exchanges of two rows at the end of each start.
    pub exchanges: u64,
    /// Random starts beside the others, with this seed.
    pub random: usize,
    /// Seed of the random starts.
    pub seed: u64,
}

/// The best labels found and how.
#[derive(Debug, Clone)]
pub struct SearchResult {
    /// The labels.
    pub labeling: Labeling,
    /// Name of the start that led there.
    pub start: &'static str,
    /// D of every start, polished.
    pub objectives: Vec<(&'static str, f64)>,
    /// Sweeps of all starts.
    pub sweeps: u64,
    /// Gains looked at by greedy.
    pub evaluations: u64,
    /// Gains that greedy would have looked at on the same rows, were it not lazy.
    pub full: u64,
}

/// Rows chosen by greedy.
#[derive(Debug, Clone)]
pub struct GreedySelection {
    /// Whether each row is positive.
    pub positive: Vec<bool>,
    /// Gains looked at, and all there were to look at.
    pub evaluations: [u64; 2],
    /// Whether the caller said stop; then the rows are those most similar to the labels.
    pub interrupted: bool,
}

/// Greedy with k picks; with `negatives` it selects the n − k others.
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
    /// All starts.
    pub fn run(&self, cut: &mut Cut<'_, '_>, k: usize, watch: &dyn Watch) -> SearchResult {
        let n = cut.elements();
        let mut found = None;
        let (mut evaluations, mut full) = (0, 0);
        let parzen = largest(cut.pull(), k);
        self.keep(cut, "parzen", parzen, &mut found, watch);
        let trivial = k == 0 || k == n || cut.kappa() == 0.0;
        if !self.greedy {
            // Parzen's is all
        } else if n <= GREEDY_ROWS {
            for (name, negatives) in [("greedy", false), ("reverse greedy", true)] {
                if trivial || found.as_ref().is_some_and(|f: &SearchResult| f.labeling.interrupted) {
                    break;
                }
                let chosen = greedy(cut, k, negatives, false, watch);
                evaluations += chosen.evaluations[0];
                full += chosen.evaluations[1];
                self.keep(cut, name, chosen.positive, &mut found, watch);
            }
        } else if !trivial {
            let (marks, some) = self.of_some(cut, k, watch);
            (evaluations, full) = (some.evaluations, some.full);
            self.keep(cut, some.start, marks, &mut found, watch);
        }
        let mut rng = Pcg64::seed_from_u64(self.seed);
        for _ in 0..if trivial { 0 } else { self.random } {
            let mut order: Vec<usize> = (0..n).collect();
            order.shuffle(&mut rng);
            self.keep(cut, "random", marked(&order[..k], n), &mut found, watch);
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
        if rest(n, k) > 0 && !found.labeling.interrupted {
            let labeling = polish(cut, found.labeling.positive.clone(), self.sweeps, 0, watch);
            found.sweeps += labeling.sweeps;
            if labeling.objective >= found.labeling.objective {
                found.labeling = labeling;
            }
        }
        cut.select(&found.labeling.positive);
        found
    }

    /// The best labels of a sample of the rows, spread over all.
    fn of_some(&self, cut: &mut Cut<'_, '_>, k: usize, watch: &dyn Watch) -> (Vec<bool>, SearchResult) {
        let n = cut.elements();
        let keep = sample(n, SOME);
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

    fn keep(
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
        let rest = rest(start.len(), positives);
        let mut labeling = polish(cut, start, self.sweeps, rest, watch);
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

/// At most `max` of n rows, ascending: all, or drawn with a fixed seed. Every so manieth would follow the order of the rows.
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

/// For each of `len` rows whether it is named.
fn marked(rows: &[usize], len: usize) -> Vec<bool> {
    let mut marks = vec![false; len];
    rows.iter().for_each(|&i| marks[i] = true);
    marks
}
