//! Summary of the past after a batch: exemplars, and the centroids of evicted samples.

use super::{EvictedCentroids, LabeledRows, MemoryPolicy, SummaryReport, Transduction, TransductiveLabel};
use crate::data::{Matrix, MatrixView};
use crate::error::Result;
use crate::solver::Watch;
use crate::summary::{ExemplarParams, Pool, carry_weights, choose};

/// Step by which the summary grows, as a share of the rows to summarize (exemplars and the previous batch).
const STEP: f64 = 0.1;

impl Transduction {
    /// Summarizes the past and stores a batch, which was given the labels `given`, as the latest one.
    pub fn absorb(
        &mut self,
        known: LabeledRows<'_>,
        batch: Matrix,
        given: Option<&[TransductiveLabel]>,
        seed: u64,
        watch: &dyn Watch,
    ) -> Result<SummaryReport> {
        let (all, weight) = self.begin_batch(&batch);
        let report = self.summarize(&all, &weight, known, batch.view(), given, seed, watch)?;
        self.previous = batch;
        Ok(report)
    }

    /// As [`Transduction::absorb`], but always succeeds: if summarizing fails, the newest rows are kept, and the error
    /// is returned in addition.
    pub(in crate::engine) fn absorb_or_keep_newest(
        &mut self,
        known: LabeledRows<'_>,
        batch: Matrix,
        given: Option<&[TransductiveLabel]>,
        seed: u64,
        watch: &dyn Watch,
    ) -> (SummaryReport, Result<()>) {
        let (all, weight) = self.begin_batch(&batch);
        let report = self.summarize(&all, &weight, known, batch.view(), given, seed, watch);
        self.previous = batch;
        match report {
            Ok(report) => (report, Ok(())),
            Err(error) => (self.keep_newest(&all), Err(error)),
        }
    }

    /// Counts a batch and returns the rows to summarize, with their weights.
    fn begin_batch(&mut self, batch: &Matrix) -> (Matrix, Vec<f64>) {
        self.batches += 1;
        self.largest = self.largest.max(batch.rows());
        let all = Matrix::stacked(&[self.exemplars.view(), self.previous.view()]);
        let mut weight = self.weight.clone();
        weight.resize(all.rows(), 1.0);
        (all, weight)
    }

    fn keep_newest(&mut self, all: &Matrix) -> SummaryReport {
        let n = all.rows();
        let count =
            if self.params.remember == MemoryPolicy::Nothing { 0 } else { self.max_exemplars().min(n) };
        self.exemplars = all.view().select(&(n - count..n).collect::<Vec<_>>());
        self.weight = vec![n as f64 / count.max(1) as f64; count];
        SummaryReport { exemplars: count, ..Default::default() }
    }

    pub(super) fn max_exemplars(&self) -> usize {
        if self.params.exemplars > 0 { self.params.exemplars } else { self.largest }
    }

    fn summarize(
        &mut self,
        all: &Matrix,
        weight: &[f64],
        known: LabeledRows<'_>,
        batch: MatrixView<'_>,
        given: Option<&[TransductiveLabel]>,
        seed: u64,
        watch: &dyn Watch,
    ) -> Result<SummaryReport> {
        let n = all.rows();
        let given = given.filter(|_| batch.rows() > 0); // without labels to compare against, keep the full summary
        let cap = self.max_exemplars().min(n);
        if n == 0 || self.params.remember == MemoryPolicy::Everything {
            (self.exemplars, self.weight) = (all.clone(), weight.to_vec());
            return Ok(SummaryReport { exemplars: n, ..Default::default() });
        }
        let order = self.order(all, weight, known, batch, cap, seed, watch)?;
        let trust = self.trust(known);
        if trust == Some(0.0) {
            self.evicted = EvictedCentroids::new(all.cols(), matches!(all, Matrix::Csr { .. }));
        }
        let trust = trust.unwrap_or(0.0);
        let past = self.classes_of(all, known, batch, given.is_some(), trust, watch)?;
        let step = ((STEP * n as f64).ceil() as usize).max(1);
        let (mut size, mut report) = (if given.is_some() { step } else { cap }, SummaryReport::default());
        loop {
            size = size.min(order.len());
            report = SummaryReport { exemplars: size, rounds: report.rounds + 1, ..report };
            let picks = &order[..size];
            let some = all.view().select(picks);
            let carried = carry_weights(all.view(), weight, picks, self.params.kernel)?;
            let evicted = self.evicted_except(all, picks, &past);
            if let Some(given) = given {
                let kept = [(some.view(), Some(carried.as_slice()))];
                let relabeled =
                    self.label_among(known, batch, &kept, (&evicted, trust), watch)?.unwrap_or_default();
                let changed = given.iter().zip(&relabeled).filter(|(a, b)| a.class != b.class).count();
                report.cost = changed as f64 / batch.rows() as f64;
            }
            if given.is_none() || report.cost <= self.params.tolerance || size >= order.len() {
                (self.exemplars, self.weight, self.evicted) = (some, carried, evicted);
                return Ok(report);
            }
            size += step;
        }
    }

    /// Inferred classes of the past samples; empty if evicted samples are not used or there are no labels.
    fn classes_of(
        &self,
        all: &Matrix,
        known: LabeledRows<'_>,
        batch: MatrixView<'_>,
        labeled: bool,
        trust: f64,
        watch: &dyn Watch,
    ) -> Result<Vec<u32>> {
        if !labeled || !self.params.uses_evicted_centroids() {
            return Ok(Vec::new());
        }
        let given = self.label_among(known, all.view(), &[(batch, None)], (&self.evicted, trust), watch)?;
        Ok(given.unwrap_or_default().iter().map(|g| g.class).collect())
    }

    /// Centroids after all samples except `picks` are evicted; samples without a class are not added.
    fn evicted_except(&self, all: &Matrix, picks: &[usize], class: &[u32]) -> EvictedCentroids {
        if class.is_empty() {
            return self.evicted.clone();
        }
        let mut stays = vec![false; all.rows()];
        picks.iter().for_each(|&i| stays[i] = true);
        let leave: Vec<(usize, u32)> =
            (0..all.rows()).zip(class.iter().copied()).filter(|(i, _)| !stays[*i]).collect();
        self.evicted.joined(all.view(), &leave, self.params.evicted_weight * self.largest as f64)
    }

    /// Samples to remember, the most important first, up to the maximum.
    fn order(
        &self,
        all: &Matrix,
        weight: &[f64],
        known: LabeledRows<'_>,
        batch: MatrixView<'_>,
        cap: usize,
        seed: u64,
        watch: &dyn Watch,
    ) -> Result<Vec<usize>> {
        match self.params.remember {
            MemoryPolicy::Nothing => Ok(Vec::new()),
            MemoryPolicy::Random => {
                let mut order: Vec<usize> = (0..all.rows()).collect();
                super::super::shuffle(&mut order, seed, self.batches);
                order.truncate(cap);
                Ok(order)
            }
            MemoryPolicy::Exemplars | MemoryPolicy::Everything => {
                let how = ExemplarParams { kernel: self.params.kernel, ..Default::default() };
                let pool = Pool {
                    weight,
                    labeled: (known.x.rows() > 0).then_some(known.x),
                    next_batch_weight: (self.params.next_batch_weight > 0.0)
                        .then_some((batch, self.params.next_batch_weight)),
                    ..Pool::of(all.view())
                };
                Ok(choose(&how, &pool, cap, watch)?.order)
            }
        }
    }
}
