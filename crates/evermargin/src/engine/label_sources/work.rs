//! Counted work, by which comparisons and sources of little weight are limited.
//!
//! Problem: comparing the sources, and computing sources of little weight, may take only a share of the time of a run, and no
//! clock may decide it, because the same events must give the same state.
//!
//! Method: work is estimated from numbers of rows, values, points and outputs, in units of about a nanosecond of one core. All
//! work but comparisons earns credit for comparisons, [`SELECTION_SHARE`] of it, and the ordinary work of a batch, which labels
//! alone would take too, earns [`DOUBTFUL_SHARE`] of it for sources of little weight. Comparisons of a pool that has doubled are
//! made on credit, the first among them: labels that are all in the first batch need one at once, and a pool of few rows
//! misleads.
//!
//! Invariant: the estimates are sums over batches of bounded size, and credit is capped, so that all numbers stay finite.

use super::Source;
use serde::{Deserialize, Serialize};

/// Credit for comparisons that a unit of other work earns.
const SELECTION_SHARE: f64 = 0.15;

/// Credit for sources of little weight that a unit of ordinary work earns.
const DOUBTFUL_SHARE: f64 = 4.0;

/// Maximum credit, about a minute: a long stream without changes needs no more for the comparisons after a change.
const MAX_CREDIT: f64 = 6e10;

/// The size of a pool, from which its work is estimated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::engine) struct PoolSize {
    pub(in crate::engine) rows: usize,
    pub(in crate::engine) labels: usize,
    /// Stored values per row.
    pub(in crate::engine) values: f64,
    /// Problems of two classes: one, or one per class.
    pub(in crate::engine) outputs: usize,
    pub(in crate::engine) linear: bool,
}

impl PoolSize {
    /// Work of one fit of a source; the classifier has labeled the batch already.
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

    /// Work of comparing sources: fits of all sources without each fold, which share kernel values and graph, and the
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

/// Credit for work that a run can do without.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::engine) struct Credit {
    selection: f64,
    doubtful: f64,
}

impl Credit {
    /// Counts the ordinary work of a batch and that of its sources.
    pub(in crate::engine) fn earn(&mut self, ordinary: f64, sources: f64) {
        self.selection = (self.selection + SELECTION_SHARE * (ordinary + sources)).min(MAX_CREDIT);
        self.doubtful = (self.doubtful + DOUBTFUL_SHARE * ordinary).min(MAX_CREDIT);
    }

    /// Whether a comparison of this cost can be made.
    pub(in crate::engine) fn affords(&self, comparison: f64) -> bool {
        self.selection >= comparison
    }

    pub(in crate::engine) fn spend(&mut self, comparison: f64) {
        self.selection -= comparison.min(MAX_CREDIT);
    }

    /// Whether sources of little weight can be computed.
    pub(in crate::engine) fn affords_doubtful(&self) -> bool {
        self.doubtful >= 0.0
    }

    pub(in crate::engine) fn spend_doubtful(&mut self, work: f64) {
        self.doubtful -= work.min(MAX_CREDIT);
    }

    /// Whether the numbers can follow from counting.
    pub(in crate::engine) fn is_possible(&self) -> bool {
        [self.selection, self.doubtful].iter().all(|c| (-1e18..=MAX_CREDIT).contains(c))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: PoolSize = PoolSize { rows: 230, labels: 30, values: 12.0, outputs: 1, linear: false };

    #[test]
    fn comparisons_take_no_more_than_their_share() {
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
    fn a_comparison_on_credit_is_paid_back_first() {
        let cost = SIZE.comparison(5);
        let mut credit = Credit::default();
        credit.spend(cost);
        credit.earn(1.9 * cost / SELECTION_SHARE, 0.0);
        assert!(!credit.affords(cost));
        credit.earn(0.2 * cost / SELECTION_SHARE, 0.0);
        assert!(credit.affords(cost));
    }

    #[test]
    fn sources_of_little_weight_cost_a_multiple_of_the_ordinary_work() {
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
