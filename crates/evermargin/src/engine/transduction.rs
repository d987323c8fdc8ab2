//! Labels for the batches of a stream from structure: SUBMOD-S3VM over what is remembered of it.
//!
//! Problem: label the unlabeled samples of a batch Bₜ by the few labels there are and by how all samples lie, when the
//! stream does not fit into memory. Source: Emara 2012, chapter IV (digest section 8). All that is at hand is labeled
//! anew at each step, so that early mistakes do not last: the batch, the batch before it, and exemplars E of everything
//! older, whose labels are not kept. Afterwards E and the batch before it are summarized by [`crate::summary`]: their
//! number grows by tenths until the labels of the batch come out as they did with all of them, but for a share
//! `tolerance` (0 is the source's strict procedure, 0.05 its tolerant one), and never beyond |B|. So memory is three
//! batches and the labels. The batch lends its density to what is remembered (`beyond`, the source's inter-batch
//! dependence). With a linear kernel one more sample a class is kept, the mean of those that are remembered no more
//! (`gone.rs`), which makes up for what three small batches cannot show.
//!
//! Departures: κ = 2ρl/n of each pool, because a fixed one drowns the labels as pools grow; exemplars are chosen once, to
//! the cap, and their prefixes are the smaller summaries; every exemplar carries the number of samples it stands for, but
//! counts as one row in the share of positives (`weigh` lets it count in the cut); the mean of a class that left counts in the
//! cut as half κ for each of its samples, as these would, in the center of the rows with the same weight, and not in the share. Without labels of two classes nothing
//! is labeled, and summaries go on.

use super::MAX_COUNT;
use super::evicted_centroids::EvictedCentroids;
use super::feature_space::FeatureSpace;
use crate::data::{Label, Matrix, MatrixView};
use crate::error::{Error, Result};
use crate::estimators::{Fit, Targets};
use crate::estimators::transductive::Ratio;
use crate::estimators::transductive::submod::{SubmodParams, Variant};
use crate::kernel::Kernel;
use crate::solver::Watch;
use crate::summary::{ExemplarParams, Pool, carry_weights, choose};
use serde::{Deserialize, Serialize};

/// Parameters of [`Transduction`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TransductionParams {
    /// The kernel.
    pub kernel: Kernel,
    /// Weight of the cut over that of the labels, κn/2l.
    pub rho: f64,
    /// How the positives are chosen.
    pub variant: Variant,
    /// Share of the labels of a batch that may change when the past is summarized.
    pub tolerance: f64,
    /// Most exemplars; 0 = as many as the largest batch has samples.
    pub exemplars: usize,
    /// How much the samples of the batch count as density for what is remembered of those before.
    pub next_batch_weight: f64,
    /// Whether an exemplar weighs as many samples as it stands for.
    pub weigh: bool,
    /// What is remembered: exemplars, or any samples, to compare with.
    pub remember: MemoryPolicy,
    /// Batches as which the samples that left memory count at the most; 0 = they are forgotten, as the source has it. Only
    /// with a linear kernel, and where exemplars do not weigh.
    pub evicted_weight: f64,
}

/// What is remembered of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryPolicy {
    /// Exemplars.
    Exemplars,
    /// As many samples at random.
    Random,
    /// The batch before, nothing else.
    Nothing,
    /// Everything: batch learning, without bound.
    Everything,
}

impl Default for TransductionParams {
    fn default() -> Self {
        Self {
            kernel: Kernel::Linear,
            rho: 10.0,
            variant: Variant::Polished,
            tolerance: 0.05,
            exemplars: 0,
            next_batch_weight: 1.0,
            weigh: false,
            remember: MemoryPolicy::Exemplars,
            evicted_weight: 0.0,
        }
    }
}

/// Share of E and the batch before by which a summary grows.
const STEP: f64 = 0.1;

impl TransductionParams {
    /// Refuses parameters that make no sense.
    pub fn check(&self) -> Result<()> {
        self.kernel.check_of_samples()?;
        if !(0.0..=1.0).contains(&self.tolerance) {
            return Err(Error::parameter("tolerance", self.tolerance, "a share from 0 to 1"));
        }
        for (name, value) in [
            ("rho", self.rho),
            ("next_batch_weight", self.next_batch_weight),
            ("evicted_weight", self.evicted_weight),
        ] {
            if !(0.0..=1e15).contains(&value) {
                return Err(Error::parameter(name, value, "a number from 0 to 1e15"));
            }
        }
        if self.exemplars > 1 << 24 {
            return Err(Error::parameter("exemplars", self.exemplars, "at most 16777216"));
        }
        Ok(())
    }

    fn submod(&self, shares: Vec<f64>, kappa: f64) -> SubmodParams {
        let (ratio, kernel, rho, variant) = (Ratio::Given(shares), self.kernel, self.rho, self.variant);
        SubmodParams { kernel, ratio, rho, kappa, variant, ..Default::default() }
    }

    /// Whether samples that left memory still count.
    fn uses_evicted_centroids(&self) -> bool {
        let bounded = matches!(self.remember, MemoryPolicy::Exemplars | MemoryPolicy::Random);
        self.evicted_weight > 0.0 && self.rho > 0.0 && bounded && self.kernel == Kernel::Linear && !self.weigh
    }
}

/// The labels there are.
#[derive(Debug, Clone, Copy)]
pub struct LabeledRows<'a> {
    /// Samples with a label.
    pub x: MatrixView<'a>,
    /// Number of the class of each.
    pub class: &'a [u32],
    /// Number of classes.
    pub classes: usize,
    /// Share of every class among samples without a label; empty = as among the labels.
    pub shares: &'a [f64],
}

/// A label given to a sample.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TransductiveLabel {
    /// Number of the class.
    pub class: u32,
    /// How sure: 1 is the mean distance from the threshold.
    pub confidence: f64,
}

/// What summarizing told.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct SummaryReport {
    /// Exemplars now.
    pub exemplars: usize,
    /// Share of the labels of the batch that would have come out otherwise with the summary: the cost of summarization.
    pub cost: f64,
    /// Sizes that were tried.
    pub rounds: usize,
}

/// What is remembered of the samples without a label.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Transduction {
    params: TransductionParams,
    exemplars: Matrix,
    /// Samples each exemplar stands for.
    weight: Vec<f64>,
    previous: Matrix,
    /// Batches so far.
    batches: u64,
    /// Samples of the largest batch so far.
    largest: usize,
    #[serde(default)]
    gone: EvictedCentroids,
}

impl Transduction {
    /// Nothing seen yet.
    pub fn new(params: &TransductionParams, cols: usize, sparse: bool) -> Result<Self> {
        params.check()?;
        let none = Matrix::empty(cols, sparse);
        let (exemplars, previous) = (none.clone(), none);
        let (params, weight, gone) = (params.clone(), Vec::new(), EvictedCentroids::new(cols, sparse));
        Ok(Self { params, exemplars, weight, previous, batches: 0, largest: 0, gone })
    }

    /// Exemplars of all but the last batch.
    pub fn exemplars(&self) -> &Matrix {
        &self.exemplars
    }

    /// Samples each exemplar stands for.
    pub fn weights(&self) -> &[f64] {
        &self.weight
    }

    /// Samples kept, exemplars and last batch; beside them one mean a class.
    pub fn len(&self) -> usize {
        self.exemplars.rows() + self.previous.rows()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Labels for the rows of a batch; none unless labels of two classes are known.
    pub fn label(
        &self,
        known: LabeledRows<'_>,
        batch: MatrixView<'_>,
        watch: &dyn Watch,
    ) -> Result<Option<Vec<TransductiveLabel>>> {
        let past = [(self.previous.view(), None), (self.exemplars.view(), Some(self.weight.as_slice()))];
        self.label_among(known, batch, &past, (&self.gone, self.trust(known).unwrap_or(0.0)), watch)
    }

    fn trust(&self, known: LabeledRows<'_>) -> Option<f64> {
        self.params.uses_evicted_centroids().then(|| self.gone.trust(known.x, known.class)).flatten()
    }

    /// Labels for the rows of a batch that follow from it, the labels, samples of the past with their weights, and those
    /// that left, as far as they are believed.
    fn label_among(
        &self,
        known: LabeledRows<'_>,
        batch: MatrixView<'_>,
        past: &[(MatrixView<'_>, Option<&[f64]>)],
        (gone, trust): (&EvictedCentroids, f64),
        watch: &dyn Watch,
    ) -> Result<Option<Vec<TransductiveLabel>>> {
        let l = known.x.rows();
        let present: Vec<u32> = (0..known.classes as u32).filter(|c| known.class.contains(c)).collect();
        if present.len() < 2 || batch.rows() == 0 {
            return Ok(None);
        }
        let mut cost = vec![1.0; l + batch.rows()];
        let mut parts = vec![known.x, batch];
        for &(rows, weight) in past {
            parts.push(rows);
            match weight.filter(|_| self.params.weigh) {
                Some(weight) => cost.extend_from_slice(weight),
                None => cost.resize(cost.len() + rows.rows(), 1.0),
            }
        }
        let mut x = Matrix::stacked(&parts);
        let left: Vec<_> = gone.classes().filter(|(c, ..)| trust > 0.0 && present.contains(c)).collect();
        let n = cost[l..].iter().sum::<f64>() + trust * left.iter().map(|(.., count)| count).sum::<f64>();
        let kappa = 2.0 * self.params.rho * l as f64 / n;
        let (rows, mut class) = (x.rows(), known.class.iter().copied().map(Some).collect::<Vec<_>>());
        class.resize(rows, None);
        for (c, mean, count) in left {
            x.push(mean);
            class.push(Some(c));
            cost.push(0.5 * kappa * trust * count);
        }
        let x = compact(x, rows);
        let problems = problems(&class, &present, &cost);
        let params = self.params.submod(shares(known, &present), kappa);
        let scores = params.transduce(x.view(), &problems, watch)?.scores;
        let of = |i: usize| match scores.as_slice() {
            [f] => TransductiveLabel { class: present[usize::from(f[i] > 0.0)], confidence: f[i].abs() },
            many => most(many, &present, i),
        };
        Ok(Some((l..l + batch.rows()).map(of).collect()))
    }

    /// Takes a batch in that was given these labels: what was known before it is summarized, it is the last batch now.
    pub fn absorb(
        &mut self,
        known: LabeledRows<'_>,
        batch: Matrix,
        given: Option<&[TransductiveLabel]>,
        seed: u64,
        watch: &dyn Watch,
    ) -> Result<SummaryReport> {
        let (all, weight) = self.begin_batch(&batch);
        let labeled = self.summarize(&all, &weight, known, batch.view(), given, seed, watch)?;
        self.previous = batch;
        Ok(labeled)
    }

    /// [`Transduction::absorb`] that always succeeds: where no summary can be made, the newest rows are kept.
    pub(super) fn absorb_or_keep_newest(
        &mut self,
        known: LabeledRows<'_>,
        batch: Matrix,
        given: Option<&[TransductiveLabel]>,
        seed: u64,
        watch: &dyn Watch,
    ) -> SummaryReport {
        let (all, weight) = self.begin_batch(&batch);
        let labeled = self.summarize(&all, &weight, known, batch.view(), given, seed, watch);
        self.previous = batch;
        labeled.unwrap_or_else(|_| self.keep_newest(&all))
    }

    /// Counts a batch and gives the rows to summarize, with their weights.
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

    fn max_exemplars(&self) -> usize {
        if self.params.exemplars > 0 { self.params.exemplars } else { self.largest }
    }

    /// The rows it keeps.
    pub(super) fn rows(&self) -> [MatrixView<'_>; 2] {
        [self.exemplars.view(), self.previous.view()]
    }

    /// Changes all rows together.
    pub(super) fn map_rows(&mut self, change: impl Fn(&mut Matrix) + Copy) {
        change(&mut self.exemplars);
        change(&mut self.previous);
        self.gone.map_rows(change);
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
        let given = given.filter(|_| batch.rows() > 0); // no label to compare is no leave to forget
        let cap = self.max_exemplars().min(n);
        if n == 0 || self.params.remember == MemoryPolicy::Everything {
            (self.exemplars, self.weight) = (all.clone(), weight.to_vec());
            return Ok(SummaryReport { exemplars: n, ..Default::default() });
        }
        let order = self.order(all, weight, known, batch, cap, seed, watch)?;
        let trust = self.trust(known);
        if trust == Some(0.0) {
            self.gone = EvictedCentroids::new(all.cols(), matches!(all, Matrix::Csr { .. }));
        }
        let trust = trust.unwrap_or(0.0);
        let past = self.classes_of(all, known, batch, given.is_some(), trust, watch)?;
        let step = ((STEP * n as f64).ceil() as usize).max(1);
        let (mut size, mut labeled) = (if given.is_some() { step } else { cap }, SummaryReport::default());
        loop {
            size = size.min(order.len());
            labeled = SummaryReport { exemplars: size, rounds: labeled.rounds + 1, ..labeled };
            let picks = &order[..size];
            let some = all.view().select(picks);
            let carried = carry_weights(all.view(), weight, picks, self.params.kernel)?;
            let gone = self.evicted_except(all, picks, &past);
            if let Some(given) = given {
                let kept = [(some.view(), Some(carried.as_slice()))];
                let anew = self.label_among(known, batch, &kept, (&gone, trust), watch)?.unwrap_or_default();
                let other = given.iter().zip(&anew).filter(|(a, b)| a.class != b.class).count();
                labeled.cost = other as f64 / batch.rows() as f64;
            }
            if given.is_none() || labeled.cost <= self.params.tolerance || size >= order.len() {
                (self.exemplars, self.weight, self.gone) = (some, carried, gone);
                return Ok(labeled);
            }
            size += step;
        }
    }

    /// Classes of the samples of the past, where those that leave are to be known by them.
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
        let given = self.label_among(known, all.view(), &[(batch, None)], (&self.gone, trust), watch)?;
        Ok(given.unwrap_or_default().iter().map(|g| g.class).collect())
    }

    /// Those that have left when all samples but `picks` do; those of unknown class leave no trace.
    fn evicted_except(&self, all: &Matrix, picks: &[usize], class: &[u32]) -> EvictedCentroids {
        if class.is_empty() {
            return self.gone.clone();
        }
        let mut stays = vec![false; all.rows()];
        picks.iter().for_each(|&i| stays[i] = true);
        let leave: Vec<(usize, u32)> =
            (0..all.rows()).zip(class.iter().copied()).filter(|(i, _)| !stays[*i]).collect();
        self.gone.joined(all.view(), &leave, self.params.evicted_weight * self.largest as f64)
    }

    /// Class c has the number `now[c]`.
    pub(super) fn renumber(&mut self, now: &[u32]) {
        self.gone.renumber(now);
    }

    /// Samples to remember, the most important first, up to the cap.
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
                super::shuffle(&mut order, seed, self.batches);
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

    /// Refuses parts that do not fit together (a file may say anything).
    pub(super) fn check(
        &self,
        frame: &FeatureSpace,
        params: &TransductionParams,
        classes: usize,
        max_rows: usize,
    ) -> Result<()> {
        self.gone.check(frame.cols(), classes)?;
        [&self.exemplars, &self.previous].into_iter().try_for_each(|x| frame.check_rows(x))?;
        if self.gone.classes().next().is_some() {
            frame.check_rows(self.gone.means())?;
        }
        let bounded = self.params.remember != MemoryPolicy::Everything;
        let fits = self.params == *params
            && self.largest <= max_rows
            && self.batches <= MAX_COUNT
            && self.previous.rows() <= max_rows
            && (!bounded || self.exemplars.rows() <= self.max_exemplars())
            && self.exemplars.rows() == self.weight.len()
            && self.weight.iter().all(|w| (0.0..=1e18).contains(w));
        if fits { Ok(()) } else { Err(Error::State("its exemplars and their weights differ".into())) }
    }
}

/// The class with the largest score, and half its lead.
fn most(scores: &[Vec<f64>], present: &[u32], i: usize) -> TransductiveLabel {
    let (mut best, mut next) = ((0, f64::NEG_INFINITY), f64::NEG_INFINITY);
    for (&c, f) in present.iter().zip(scores) {
        if f[i] > best.1 {
            (next, best) = (best.1, (c, f[i]));
        } else {
            next = next.max(f[i]);
        }
    }
    TransductiveLabel { class: best.0, confidence: 0.5 * (best.1 - next) }
}

/// One problem for two classes, one a class for more; rows without a class have no label.
fn problems(class: &[Option<u32>], present: &[u32], cost: &[f64]) -> Vec<Targets> {
    let pose = |&positive: &u32| {
        let label = |c: &Option<u32>| match c {
            None => Label::Unknown,
            Some(c) if *c == positive => Label::Pos,
            Some(_) => Label::Neg,
        };
        Targets { y: class.iter().map(label).collect(), cost: cost.to_vec() }
    };
    if present.len() == 2 { vec![pose(&present[1])] } else { present.iter().map(pose).collect() }
}

/// The shares of the classes that have labels: those given, kept off 0 and 1, or those of the labels.
fn shares(known: LabeledRows<'_>, present: &[u32]) -> Vec<f64> {
    let given = known.shares.len() == known.classes;
    let of_labels = |c: u32| known.class.iter().filter(|k| **k == c).count() as f64;
    let share = |&c: &u32| if given { known.shares[c as usize].max(1e-3) } else { of_labels(c) };
    let own: Vec<f64> = present.iter().map(share).collect();
    let all: f64 = own.iter().sum();
    if own.len() == 2 { vec![own[1] / all] } else { own.iter().map(|s| s / all).collect() }
}

/// The columns that occur in the first `rows` samples, in their order: sums over columns cost what these hold, not what they
/// might. What other samples have elsewhere moves all scores of the first alike, if it moves them at all.
fn compact(x: Matrix, rows: usize) -> Matrix {
    const NEVER: u32 = u32::MAX;
    let Matrix::Csr { indptr, indices, values, cols } = x else { return x };
    let mut place = vec![NEVER; cols];
    indices[..indptr[rows]].iter().for_each(|&c| place[c as usize] = 0);
    let mut used = 0;
    for p in place.iter_mut().filter(|p| **p != NEVER) {
        *p = used;
        used += 1;
    }
    let mut out = Matrix::empty((used as usize).max(1), true);
    out.reserve(indptr.len() - 1, indptr[rows]);
    let Matrix::Csr { indptr: ends, indices: columns, values: kept, .. } = &mut out else { return out };
    for row in indptr.windows(2) {
        for (c, v) in indices[row[0]..row[1]].iter().zip(&values[row[0]..row[1]]) {
            if place[*c as usize] != NEVER {
                columns.push(place[*c as usize]);
                kept.push(*v);
            }
        }
        ends.push(kept.len());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    /// Rows of two clouds that overlap, class 1 the first third.
    fn clouds(n: usize, cols: usize, seed: u64) -> (Matrix, Vec<u32>) {
        let mut rng = Pcg64::seed_from_u64(seed);
        let class: Vec<u32> = (0..n).map(|i| u32::from(i % 3 == 0)).collect();
        let mut values = Vec::new();
        for &c in &class {
            let side = if c == 1 { 0.4 } else { -0.4 };
            values.extend((0..cols).map(|j| rng.random_range(-1.0..1.0) + if j < 3 { side } else { 0.0 }));
        }
        (Matrix::dense(values, n, cols).unwrap(), class)
    }

    fn known<'a>(x: &'a Matrix, class: &'a [u32]) -> LabeledRows<'a> {
        LabeledRows { x: x.view(), class, classes: 2, shares: &[2.0 / 3.0, 1.0 / 3.0] }
    }

    /// The mean of the rows that left speaks as they would, had they stayed with the class they were given: the same
    /// confidence of every row, dense or sparse.
    #[test]
    fn a_mean_says_what_its_rows_would_say() {
        let (x, class) = clouds(60, 5, 1);
        let part = |rows: std::ops::Range<usize>| x.view().select(&rows.collect::<Vec<_>>());
        let (labeled, batch, left) = (part(0..6), part(6..30), part(30..60));
        let params =
            TransductionParams { variant: Variant::Swift, evicted_weight: 5.0, ..Default::default() };
        for sparse in [false, true] {
            let [labeled, batch, left] =
                [&labeled, &batch, &left].map(|m| if sparse { m.view().to_csr() } else { m.clone() });
            let memory = Transduction::new(&params, 5, sparse).unwrap();
            let leave: Vec<(usize, u32)> = (0..30).map(|i| (i, class[30 + i])).collect();
            let gone = memory.gone.joined(left.view(), &leave, 1e9);
            let by_mean =
                memory.label_among(known(&labeled, &class[..6]), batch.view(), &[], (&gone, 1.0), &());
            // one problem in which the rows that left have labels of weight κ/2
            let kappa = 2.0 * params.rho * 6.0 / 54.0;
            let all = Matrix::stacked(&[labeled.view(), batch.view(), left.view()]);
            let of = |i: usize| if (6..30).contains(&i) { None } else { Some(class[i]) };
            let weight: Vec<f64> = (0..60).map(|i| if i < 30 { 1.0 } else { 0.5 * kappa }).collect();
            let problem = problems(&(0..60).map(of).collect::<Vec<_>>(), &[0, 1], &weight);
            let scores =
                params.submod(vec![1.0 / 3.0], kappa).transduce(all.view(), &problem, &()).unwrap().scores;
            for (given, score) in by_mean.unwrap().unwrap().iter().zip(&scores[0][6..30]) {
                assert_eq!(given.class, u32::from(*score > 0.0));
                assert!((given.confidence - score.abs()).abs() < 1e-9, "{} {score}", given.confidence);
            }
        }
    }

    /// Batches of a dozen rows in 40 columns show little: with what left counting, more labels are right.
    #[test]
    fn what_left_helps_small_batches() {
        let right = |evicted_weight: f64| -> usize {
            let params = TransductionParams { variant: Variant::Swift, evicted_weight, ..Default::default() };
            (0..10)
                .map(|seed| {
                    let (x, class) = clouds(612, 40, seed);
                    let labeled = x.view().select(&(0..12).collect::<Vec<_>>());
                    let known = known(&labeled, &class[..12]);
                    let mut memory = Transduction::new(&params, 40, false).unwrap();
                    let mut right = 0;
                    for t in 1..51 {
                        let batch = x.view().select(&(12 * t..12 * (t + 1)).collect::<Vec<_>>());
                        let given = memory.label(known, batch.view(), &()).unwrap().unwrap();
                        let truth = &class[12 * t..];
                        right += given.iter().zip(truth).filter(|(g, c)| t > 25 && g.class == **c).count();
                        memory.absorb(known, batch, Some(&given), 1, &()).unwrap();
                        let left: f64 = memory.gone.classes().map(|(.., n)| n).sum();
                        assert!(memory.len() <= 24 && left <= 12.0 * evicted_weight + 1e-9);
                    }
                    right
                })
                .sum()
        };
        let (with, without) = (right(5.0), right(0.0));
        assert!(with > without + 100, "{with} of 3000 right, {without} without");
    }

    /// What was learned from labels that turn out to be exchanged is dropped, not defended.
    #[test]
    fn what_left_yields_to_labels() {
        let (x, class) = clouds(612, 5, 3);
        let labeled = x.view().select(&(0..12).collect::<Vec<_>>());
        let wrong: Vec<u32> = class[..12].iter().map(|c| 1 - c).collect();
        let params =
            TransductionParams { variant: Variant::Swift, evicted_weight: 5.0, ..Default::default() };
        let mut memory = Transduction::new(&params, 5, false).unwrap();
        let mut last = 0;
        for t in 1..51 {
            let known = known(&labeled, if t < 25 { &wrong } else { &class[..12] });
            let batch = x.view().select(&(12 * t..12 * (t + 1)).collect::<Vec<_>>());
            let given = memory.label(known, batch.view(), &()).unwrap().unwrap();
            last = given.iter().zip(&class[12 * t..]).filter(|(g, c)| g.class == **c).count();
            assert!(t != 24 || last <= 4, "{last} of 12 right by exchanged labels");
            memory.absorb(known, batch, Some(&given), 1, &()).unwrap();
        }
        assert!(last >= 8, "{last} of 12 right");
    }

    /// A batch whose rows all have labels has none to compare with: what is remembered is as much as may be.
    #[test]
    fn a_batch_that_is_labeled_whole_forgets_nothing() {
        let (x, class) = clouds(72, 5, 4);
        let part = |rows: std::ops::Range<usize>| x.view().select(&rows.collect::<Vec<_>>());
        let labeled = part(0..12);
        let known = known(&labeled, &class[..12]);
        let params = TransductionParams { exemplars: 20, ..Default::default() };
        let mut memory = Transduction::new(&params, 5, false).unwrap();
        for t in 1..5 {
            memory.absorb(known, part(12 * t..12 * (t + 1)), None, 1, &()).unwrap();
        }
        assert_eq!(memory.exemplars().rows(), 20);
        for _ in 0..3 {
            memory.absorb(known, part(0..0), Some(&[]), 1, &()).unwrap();
        }
        assert_eq!(memory.exemplars().rows(), 20);
    }

    /// Columns that only means have are left out; rows keep theirs.
    #[test]
    fn columns_that_occur_stay() {
        let x = Matrix::csr(vec![0, 1, 3, 6], vec![2, 2, 5, 0, 2, 5], vec![1.0, 2.0, 3.0, 9.0, 4.0, 5.0], 7)
            .unwrap();
        let expected =
            Matrix::csr(vec![0, 1, 3, 5], vec![0, 0, 1, 0, 1], vec![1.0, 2.0, 3.0, 4.0, 5.0], 2).unwrap();
        assert_eq!(compact(x, 2), expected);
    }
}
