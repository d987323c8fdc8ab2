//! Selection of the samples of a batch to query, and the budget of queries.

use super::MAX_COUNT;
use super::event::QueryReason;
use super::params::{Budget, QueryStrategy};
use crate::active::{KnownLabels, WeightFactors, closeness, diverse_batch, draw_pool, submod_batch_within};
use crate::data::{Matrix, MatrixView, Row};
use crate::error::{Error, Result};
use crate::solver::Watch;
use crate::summary::{ExemplarParams, Pool, choose};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

/// Number of exemplars of a batch, in addition to the number of queries, among which the first queries are chosen.
const REPRESENTATIVES: usize = 16;

/// Used part of the query budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BudgetUsage {
    /// Number of queries of this batch.
    pub batch: usize,
    /// Number of queries of this batch that were drawn at random.
    pub checks: usize,
    /// Number of queries in total.
    pub total: u64,
    /// Start of the current period of time, and number of queries in it.
    period: (u64, u64),
}

impl BudgetUsage {
    /// Number of queries that the budget still allows.
    pub(super) fn left(&mut self, budget: &Budget, now: u64) -> usize {
        let mut left = (budget.per_batch - self.batch.min(budget.per_batch)) as u64;
        if let Some(total) = budget.total {
            left = left.min(total.saturating_sub(self.total));
        }
        if let Some((questions, seconds)) = budget.per_time {
            if now >= self.period.0.saturating_add(seconds) {
                self.period = (now, 0);
            }
            left = left.min(questions.saturating_sub(self.period.1));
        }
        left as usize
    }

    /// Returns an error for counts that no run reaches (a file may hold anything).
    pub(super) fn check(&self) -> Result<()> {
        let counts = [self.batch as u64, self.checks as u64, self.total, self.period.1];
        if counts.iter().all(|n| *n <= MAX_COUNT) {
            Ok(())
        } else {
            Err(Error::State("its query counts are out of range".into()))
        }
    }

    pub(super) fn note(&mut self, questions: usize) {
        self.batch += questions;
        self.total += questions as u64;
        self.period.1 += questions as u64;
    }
}

/// Input of a query strategy.
pub(super) struct QueryContext<'a> {
    pub x: &'a Matrix,
    /// Rows that have no label and were not queried, ascending.
    pub free: Vec<usize>,
    /// Labeled samples and their classes.
    pub labeled: (MatrixView<'a>, &'a [u32]),
    /// Samples with pending queries.
    pub pending: MatrixView<'a>,
    pub kernel: crate::kernel::Kernel,
    pub pool: usize,
    /// Maximum distance from the boundary of samples to query.
    pub max_margin_distance: f64,
    pub watch: &'a dyn Watch,
}

/// Row chosen for a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Selection {
    pub row: usize,
    pub why: QueryReason,
    pub closeness: Option<f64>,
}

/// Decisions of some rows.
pub(super) type Decide<'d> = dyn FnMut(&[usize]) -> Vec<Vec<f64>> + 'd;

impl QueryContext<'_> {
    /// Rows to query while there is no boundary: of the exemplars of the batch, those farthest from labeled and pending
    /// rows.
    pub fn representatives(&self, count: usize) -> Vec<Selection> {
        let how = ExemplarParams { kernel: self.kernel, ..Default::default() };
        let rows = self.x.view().select(&self.free);
        let picks = choose(&how, &Pool::of(rows.view()), REPRESENTATIVES + count, self.watch);
        // if the kernel cannot compare these rows, all are equally good
        let mut left = picks.map_or_else(|_| (0..rows.rows()).collect(), |p| p.order);
        let apart = |p: usize, row: Row<'_>| {
            let own = rows.view().row(p);
            self.kernel.eval(own, own) + self.kernel.eval(row, row) - 2.0 * self.kernel.eval(own, row)
        };
        let known = (0..self.labeled.0.rows()).map(|i| self.labeled.0.row(i));
        let known: Vec<Row<'_>> =
            known.chain((0..self.pending.rows()).map(|i| self.pending.row(i))).collect();
        let nearest = |p: usize| known.iter().map(|r| apart(p, *r)).fold(f64::INFINITY, f64::min);
        let mut distance: Vec<f64> = left.iter().map(|&p| nearest(p)).collect();
        let mut out = Vec::with_capacity(count);
        while out.len() < count && !left.is_empty() {
            // at equal distance, the more important exemplar
            let furthest = (0..left.len()).fold(0, |m, i| if distance[i] > distance[m] { i } else { m });
            distance.remove(furthest);
            let p = left.remove(furthest);
            let row = rows.view().row(p);
            distance.iter_mut().zip(&left).for_each(|(d, &other)| *d = d.min(apart(other, row)));
            out.push(Selection { row: self.free[p], why: QueryReason::Representative, closeness: None });
        }
        out
    }

    /// Rows drawn at random, as random checks.
    pub fn random_checks(&mut self, count: usize, rng: &mut Pcg64) -> Vec<Selection> {
        let count = count.min(self.free.len());
        if count > 0 {
            draw_pool(&mut self.free, count, rng);
        }
        let chosen = |row| Selection { row, why: QueryReason::RandomCheck, closeness: None };
        self.free.drain(..count).map(chosen).collect()
    }

    /// Rows chosen by the strategy; fewer than `count` if no more are worth a query.
    pub fn choose(
        &mut self,
        strategy: QueryStrategy,
        factors: WeightFactors,
        count: usize,
        rng: &mut Pcg64,
        decide: &mut Decide<'_>,
    ) -> Vec<Selection> {
        let count = count.min(self.free.len());
        match strategy {
            QueryStrategy::None | QueryStrategy::Bandit => Vec::new(),
            _ if count == 0 => Vec::new(),
            // rows left over by earlier queries are not a random sample, so these are not random checks
            QueryStrategy::Random => {
                let mut drawn = self.random_checks(count, rng);
                drawn.iter_mut().for_each(|s| s.why = QueryReason::Informative);
                drawn
            }
            QueryStrategy::SmallPool | QueryStrategy::Margin => self.nearest(strategy, count, rng, decide),
            QueryStrategy::Diverse => self.diverse(count, decide),
            QueryStrategy::Submod => self.submod(factors, count),
        }
    }

    fn nearest(
        &mut self,
        strategy: QueryStrategy,
        count: usize,
        rng: &mut Pcg64,
        decide: &mut Decide<'_>,
    ) -> Vec<Selection> {
        let mut out = Vec::with_capacity(count);
        if strategy == QueryStrategy::Margin {
            let mut near = near(&self.free, decide);
            near.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
            out.extend(near.into_iter().take(count));
        } else {
            for _ in 0..count {
                let drawn = draw_pool(&mut self.free, self.pool, rng);
                let near = near(&self.free[..drawn], decide);
                let at = (0..drawn)
                    .min_by(|&a, &b| near[a].1.total_cmp(&near[b].1).then(near[a].0.cmp(&near[b].0)));
                let Some(at) = at else { break };
                out.push(near[at]);
                self.free.swap_remove(at);
            }
        }
        let near_boundary = out.into_iter().filter(|(_, c)| *c <= self.max_margin_distance);
        near_boundary
            .map(|(row, c)| Selection { row, why: QueryReason::Informative, closeness: Some(c) })
            .collect()
    }

    fn diverse(&self, count: usize, decide: &mut Decide<'_>) -> Vec<Selection> {
        let near: Vec<(usize, f64)> =
            near(&self.free, decide).into_iter().filter(|(_, c)| *c <= self.max_margin_distance).collect();
        let rows: Vec<usize> = near.iter().map(|(row, _)| *row).collect();
        let close: Vec<f64> = near.iter().map(|(_, c)| *c).collect();
        let x = self.x.view().select(&rows);
        // if the kernel cannot compare these rows, the first ones are chosen
        let picks = diverse_batch(x.view(), &close, self.kernel, count, self.watch);
        let order = picks.map_or_else(|_| (0..count.min(rows.len())).collect(), |p| p.order);
        let chosen = |p: &usize| Selection {
            row: rows[*p],
            why: QueryReason::Informative,
            closeness: Some(close[*p]),
        };
        order.iter().map(chosen).collect()
    }

    fn submod(&self, factors: WeightFactors, count: usize) -> Vec<Selection> {
        let rows = self.x.view().select(&self.free);
        let (labeled, classes) = self.labeled;
        let how = factors.params(self.kernel, rows.rows(), labeled.rows());
        let known = KnownLabels::Classes(classes);
        let picks = submod_batch_within(rows.view(), labeled, known, &how, count, None, self.watch);
        let order = picks.map_or_else(|_| (0..count.min(rows.rows())).collect(), |p| p.order);
        let chosen =
            |p: &usize| Selection { row: self.free[*p], why: QueryReason::Informative, closeness: None };
        order.iter().map(chosen).collect()
    }
}

/// Rows with their distances from the boundary.
fn near(rows: &[usize], decide: &mut Decide<'_>) -> Vec<(usize, f64)> {
    let f = decide(rows);
    rows.iter().zip(&f).map(|(&row, f)| (row, closeness(f))).collect()
}
