//! Counted work, which limits comparisons of sources and sources of low weight.
//!
//! Problem: comparing the sources, and computing sources of low weight, may take only a share of the time of a run. A
//! clock must not decide this, because equal events must give equal states.
//!
//! Method: work is estimated from numbers of rows, values, points and outputs, in units of about one nanosecond on one
//! core. All work except comparisons earns credit for comparisons, [`SELECTION_SHARE`] of it. The ordinary work of a
//! batch, which is also needed with labels alone, earns [`DOUBTFUL_SHARE`] times as much credit for sources of low
//! weight. Comparisons of a pool that has doubled, including the first comparison, are made on credit: if all labels
//! are in the first batch, a comparison is needed at once, and results on a pool of few rows are misleading.
//!
//! Invariant: the estimates are sums over batches of bounded size, and credit is capped, so all numbers stay finite.

use super::Source;
use serde::{Deserialize, Serialize};

/// Credit for comparisons per unit of other work.
const SELECTION_SHARE: f64 = 0.15;

/// Credit for sources of low weight per unit of ordinary work.
const DOUBTFUL_SHARE: f64 = 4.0;

/// Maximum credit, about a minute, which is enough for the comparisons after a change in a long stream.
const MAX_CREDIT: f64 = 6e10;

/// Size of a pool, from which its work is estimated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::engine) struct PoolSize {
    pub(in crate::engine) rows: usize,
    pub(in crate::engine) labels: usize,
    /// Stored values per row.
    pub(in crate::engine) values: f64,
    /// Number of two-class problems: one, or one per class.
    pub(in crate::engine) outputs: usize,
    pub(in crate::engine) linear: bool,
}

impl PoolSize {
    /// Work of one fit of a source; 0 for the classifier, which has labeled the batch already.
    pub(in crate::engine) fn source(&self, source: Source) -> f64 {
        let (n, outputs) = (self.rows as f64, self.outputs as f64);
        match source {
            Source::Model => 0.0,
            Source::Tsvm => n * n * (0.125 * self.values + self.tsvm_per_pair()),
            Source::Graph => n * n * (10.0 + self.values / 16.0) + n * 2e3 * outputs,
            Source::Transduction if self.linear => n * outputs * (500.0 + 20.0 * self.values),
            Source::Transduction => n * n * (12.0 + self.values / 12.0 + 2.0 * outputs),
        }
    }

    fn tsvm_per_pair(&self) -> f64 {
        4.0 + 8.0 * self.outputs as f64
    }

    /// Work of comparing the sources: one fit of each source per fold, with shared kernel values and graph, and the
    /// estimate of the shares of two classes.
    pub(in crate::engine) fn comparison(&self, folds: usize) -> f64 {
        let (n, labels, folds) = (self.rows as f64, self.labels as f64, folds as f64);
        let outputs = self.outputs as f64;
        let kernel = n * n * (2.0 + 0.125 * self.values);
        let model = folds * outputs * labels * (labels + n);
        let tsvm = folds * n * n * self.tsvm_per_pair();
        let graph = self.source(Source::Graph) + folds * n * 2e3 * outputs;
        let shares = if self.outputs == 1 { 400.0 * n * self.values } else { 0.0 };
        kernel + model + tsvm + graph + folds * self.source(Source::Transduction) + shares
    }
}

/// Ordinary work of a batch: reading and labeling it, and summarizing the past.
pub(in crate::engine) fn ordinary(batch: usize, remembered: usize, values: f64, points: usize) -> f64 {
    let (rows, pool) = (batch as f64, (batch + remembered) as f64);
    rows * (3e3 + 150.0 * values)
        + rows * points as f64 * (2.0 + 0.125 * values)
        + pool * pool * (5.0 + values / 12.0)
}

/// Credit for optional work.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::engine) struct Credit {
    selection: f64,
    doubtful: f64,
}

impl Credit {
    /// Adds credit for the ordinary work of a batch and for that of its sources.
    pub(in crate::engine) fn earn(&mut self, ordinary: f64, sources: f64) {
        self.selection = (self.selection + SELECTION_SHARE * (ordinary + sources)).min(MAX_CREDIT);
        self.doubtful = (self.doubtful + DOUBTFUL_SHARE * ordinary).min(MAX_CREDIT);
    }

    /// Whether the credit covers a comparison of this cost.
    pub(in crate::engine) fn affords(&self, comparison: f64) -> bool {
        self.selection >= comparison
    }

    pub(in crate::engine) fn spend(&mut self, comparison: f64) {
        self.selection -= comparison.min(MAX_CREDIT);
    }

    /// Whether there is credit for sources of low weight.
    pub(in crate::engine) fn affords_doubtful(&self) -> bool {
        self.doubtful >= 0.0
    }

    pub(in crate::engine) fn spend_doubtful(&mut self, work: f64) {
        self.doubtful -= work.min(MAX_CREDIT);
    }

    /// Whether the numbers are in the range that counting can reach.
    pub(in crate::engine) fn is_possible(&self) -> bool {
        [self.selection, self.doubtful].iter().all(|c| (-1e18..=MAX_CREDIT).contains(c))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: PoolSize = PoolSize { rows: 230, labels: 30, values: 12.0, outputs: 1, linear: false };

    #[test]
    fn comparisons_take_at_most_their_share() {
        let (cost, batch) = (SIZE.comparison(5), ordinary(500, 700, 12.0, 80));
        let sources = SIZE.source(Source::Tsvm);
        let (mut credit, mut spent, mut other) = (Credit::default(), 0.0, 0.0);
        for _ in 0..1000 {
            if credit.affords(cost) {
                credit.spend(cost);
                spent += cost;
            }
            credit.earn(batch, sources);
            other += batch + sources;
        }
        assert!(spent <= SELECTION_SHARE * other);
        assert!(spent + cost > 0.99 * SELECTION_SHARE * other, "credit is used: {spent} of {other}");
    }

    #[test]
    fn a_comparison_on_credit_delays_the_next_one() {
        let cost = SIZE.comparison(5);
        let mut credit = Credit::default();
        credit.spend(cost);
        credit.earn(1.9 * cost / SELECTION_SHARE, 0.0);
        assert!(!credit.affords(cost));
        credit.earn(0.2 * cost / SELECTION_SHARE, 0.0);
        assert!(credit.affords(cost));
    }

    #[test]
    fn sources_of_low_weight_take_their_multiple_of_the_ordinary_work() {
        let (mut credit, mut spent) = (Credit::default(), 0.0);
        for _ in 0..1000 {
            if credit.affords_doubtful() {
                credit.spend_doubtful(100.0);
                spent += 100.0;
            }
            credit.earn(1.0, 0.0);
        }
        assert!((spent - 1000.0 * DOUBTFUL_SHARE).abs() <= 100.0, "{spent}");
    }

    #[test]
    fn credit_is_capped() {
        let mut credit = Credit::default();
        credit.earn(f64::MAX, 0.0);
        assert!(credit.is_possible());
        credit.spend(f64::MAX);
        assert!(credit.is_possible());
        assert!(!Credit { selection: f64::NAN, ..credit }.is_possible());
        assert!(!Credit { doubtful: f64::INFINITY, ..credit }.is_possible());
    }
}
