//! Labels for the batches of a stream from structure: SUBMOD-S3VM over what is remembered of it.
//!
//! Problem: label the unlabelled samples of a batch Bₜ by the few labels there are and by how all samples lie, when the
//! stream does not fit into memory. Source: Emara 2012, chapter IV (digest section 8). All that is at hand is labelled
//! anew at each step, so that early mistakes do not last: the batch, the batch before it, and exemplars E of everything
//! older, whose labels are not kept. Afterwards E and the batch before it are summarised by [`crate::summary`]: their
//! number grows by tenths until the labels of the batch come out as they did with all of them, but for a share
//! `tolerance` (0 is the source's strict procedure, 0.05 its tolerant one), and never beyond |B|. So memory is three
//! batches and the labels. The batch lends its density to what is remembered (`beyond`, the source's inter-batch
//! dependence).
//!
//! Departures: κ = 2ρl/n of each pool, because a fixed one drowns the labels as pools grow; exemplars are chosen once, to
//! the cap, and their prefixes are the smaller summaries; every exemplar carries the number of samples it stands for, but
//! counts as one row in the share of positives (`weigh` lets it count in the cut). Without labels of two classes nothing
//! is labelled, and summaries go on.

use crate::data::{Label, Matrix, MatrixView};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::learn::Targets;
use crate::learn::semi::Ratio;
use crate::learn::semi::submod::{SubmodParams, Variant};
use crate::solve::Watch;
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
    /// Share of the labels of a batch that may change when the past is summarised.
    pub tolerance: f64,
    /// Most exemplars; 0 = as many as the largest batch has samples.
    pub exemplars: usize,
    /// How much the samples of the batch count as density for what is remembered of those before.
    pub beyond: f64,
    /// Whether an exemplar weighs as many samples as it stands for.
    pub weigh: bool,
    /// What is remembered: exemplars, or any samples, to compare with.
    pub remember: Remember,
}

/// What is remembered of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Remember {
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
            beyond: 1.0,
            weigh: false,
            remember: Remember::Exemplars,
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
        for (name, value) in [("rho", self.rho), ("beyond", self.beyond)] {
            if !(0.0..=1e15).contains(&value) {
                return Err(Error::parameter(name, value, "a number from 0 to 1e15"));
            }
        }
        if self.exemplars > 1 << 24 {
            return Err(Error::parameter("exemplars", self.exemplars, "at most 16777216"));
        }
        Ok(())
    }

    fn submod(&self, shares: &[f64]) -> SubmodParams {
        let ratio = if shares.is_empty() { Ratio::Labels } else { Ratio::Given(shares.to_vec()) };
        SubmodParams {
            kernel: self.kernel,
            rho: self.rho,
            variant: self.variant,
            ratio,
            ..Default::default()
        }
    }
}

/// The labels there are.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
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
pub struct Given {
    /// Number of the class.
    pub class: u32,
    /// How sure: 1 is the mean distance from the threshold.
    pub confidence: f64,
}

/// What summarising told.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Absorbed {
    /// Exemplars now.
    pub exemplars: usize,
    /// Share of the labels of the batch that would have come out otherwise with the summary: the cost of summarisation.
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
}

impl Transduction {
    /// Nothing seen yet.
    pub fn new(params: &TransductionParams, cols: usize, sparse: bool) -> Result<Self> {
        params.check()?;
        let none = Matrix::empty(cols, sparse);
        let (exemplars, previous) = (none.clone(), none);
        Ok(Self { params: params.clone(), exemplars, weight: Vec::new(), previous, batches: 0, largest: 0 })
    }

    /// Exemplars of all but the last batch.
    pub fn exemplars(&self) -> &Matrix {
        &self.exemplars
    }

    /// Samples each exemplar stands for.
    pub fn weights(&self) -> &[f64] {
        &self.weight
    }

    /// Samples kept, exemplars and last batch.
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
        known: Known<'_>,
        batch: MatrixView<'_>,
        watch: &dyn Watch,
    ) -> Result<Option<Vec<Given>>> {
        let past = [(self.previous.view(), None), (self.exemplars.view(), Some(self.weight.as_slice()))];
        self.label_among(known, batch, &past, watch)
    }

    /// Labels for the rows of a batch that follow from it, the labels, and samples of the past with their weights.
    fn label_among(
        &self,
        known: Known<'_>,
        batch: MatrixView<'_>,
        past: &[(MatrixView<'_>, Option<&[f64]>)],
        watch: &dyn Watch,
    ) -> Result<Option<Vec<Given>>> {
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
        let x = compact(Matrix::stacked(&parts));
        let problems = problems(known, &present, x.rows(), &cost);
        let shares = shares(known, &present);
        let scores = self.params.submod(&shares).transduce(x.view(), &problems, watch)?.scores;
        let of = |i: usize| match scores.as_slice() {
            [f] => Given { class: present[usize::from(f[i] > 0.0)], confidence: f[i].abs() },
            many => most(many, &present, i),
        };
        Ok(Some((l..l + batch.rows()).map(of).collect()))
    }

    /// Takes a batch in that was given these labels: what was known before it is summarised, it is the last batch now.
    pub fn absorb(
        &mut self,
        known: Known<'_>,
        batch: Matrix,
        given: Option<&[Given]>,
        seed: u64,
        watch: &dyn Watch,
    ) -> Result<Absorbed> {
        self.batches += 1;
        self.largest = self.largest.max(batch.rows());
        let all = Matrix::stacked(&[self.exemplars.view(), self.previous.view()]);
        let mut weight = self.weight.clone();
        weight.resize(all.rows(), 1.0);
        let told = self.summarise(&all, &weight, known, batch.view(), given, seed, watch)?;
        self.previous = batch;
        Ok(told)
    }

    fn summarise(
        &mut self,
        all: &Matrix,
        weight: &[f64],
        known: Known<'_>,
        batch: MatrixView<'_>,
        given: Option<&[Given]>,
        seed: u64,
        watch: &dyn Watch,
    ) -> Result<Absorbed> {
        let n = all.rows();
        let cap = if self.params.exemplars > 0 { self.params.exemplars } else { self.largest }.min(n);
        if n == 0 || self.params.remember == Remember::Everything {
            (self.exemplars, self.weight) = (all.clone(), weight.to_vec());
            return Ok(Absorbed { exemplars: n, ..Default::default() });
        }
        let order = self.order(all, weight, known, batch, cap, seed, watch)?;
        let step = ((STEP * n as f64).ceil() as usize).max(1);
        let (mut size, mut told) = (if given.is_some() { step } else { cap }, Absorbed::default());
        loop {
            size = size.min(order.len());
            told = Absorbed { exemplars: size, rounds: told.rounds + 1, ..told };
            let picks = &order[..size];
            let some = all.view().select(picks);
            let carried = carry_weights(all.view(), weight, picks, self.params.kernel)?;
            let Some(given) = given else {
                (self.exemplars, self.weight) = (some, carried);
                return Ok(told);
            };
            let past = [(some.view(), Some(carried.as_slice()))];
            let anew = self.label_among(known, batch, &past, watch)?.unwrap_or_default();
            let other = given.iter().zip(&anew).filter(|(a, b)| a.class != b.class).count();
            told.cost = other as f64 / batch.rows().max(1) as f64;
            if told.cost <= self.params.tolerance || size >= order.len() {
                (self.exemplars, self.weight) = (some, carried);
                return Ok(told);
            }
            size += step;
        }
    }

    /// Samples to remember, the most important first, up to the cap.
    fn order(
        &self,
        all: &Matrix,
        weight: &[f64],
        known: Known<'_>,
        batch: MatrixView<'_>,
        cap: usize,
        seed: u64,
        watch: &dyn Watch,
    ) -> Result<Vec<usize>> {
        match self.params.remember {
            Remember::Nothing => Ok(Vec::new()),
            Remember::Random => {
                let mut order: Vec<usize> = (0..all.rows()).collect();
                super::shuffle(&mut order, seed, self.batches);
                order.truncate(cap);
                Ok(order)
            }
            Remember::Exemplars | Remember::Everything => {
                let how = ExemplarParams { kernel: self.params.kernel, ..Default::default() };
                let pool = Pool {
                    weight,
                    labelled: (known.x.rows() > 0).then_some(known.x),
                    beyond: (self.params.beyond > 0.0).then_some((batch, self.params.beyond)),
                    ..Pool::of(all.view())
                };
                Ok(choose(&how, &pool, cap, watch)?.order)
            }
        }
    }

    /// Refuses parts that do not fit together (a file may say anything).
    pub(super) fn check(&self, cols: usize) -> Result<()> {
        self.params.check()?;
        let fits = self.exemplars.rows() == self.weight.len()
            && self.exemplars.cols() == cols
            && self.previous.cols() == cols
            && self.weight.iter().all(|w| w.is_finite() && *w >= 0.0);
        if fits { Ok(()) } else { Err(Error::State("its exemplars and their weights differ".into())) }
    }
}

/// The class with the largest score, and half its lead.
fn most(scores: &[Vec<f64>], present: &[u32], i: usize) -> Given {
    let (mut best, mut next) = ((0, f64::NEG_INFINITY), f64::NEG_INFINITY);
    for (&c, f) in present.iter().zip(scores) {
        if f[i] > best.1 {
            (next, best) = (best.1, (c, f[i]));
        } else {
            next = next.max(f[i]);
        }
    }
    Given { class: best.0, confidence: 0.5 * (best.1 - next) }
}

/// One problem for two classes, one a class for more; rows after the labelled ones have no label.
fn problems(known: Known<'_>, present: &[u32], rows: usize, cost: &[f64]) -> Vec<Targets> {
    let pose = |&positive: &u32| {
        let mut y = vec![Label::Unknown; rows];
        for (y, &c) in y.iter_mut().zip(known.class) {
            *y = if c == positive { Label::Pos } else { Label::Neg };
        }
        Targets { y, cost: cost.to_vec() }
    };
    if present.len() == 2 { vec![pose(&present[1])] } else { present.iter().map(pose).collect() }
}

/// The shares of the classes that have labels, kept off 0 and 1; empty if none are given.
fn shares(known: Known<'_>, present: &[u32]) -> Vec<f64> {
    if known.shares.len() != known.classes {
        return Vec::new();
    }
    let own: Vec<f64> = present.iter().map(|&c| known.shares[c as usize].max(1e-3)).collect();
    let all: f64 = own.iter().sum();
    if own.len() == 2 { vec![own[1] / all] } else { own.iter().map(|s| s / all).collect() }
}

/// The columns that occur, in their order: sums over columns cost what the samples hold, not what they might.
fn compact(x: Matrix) -> Matrix {
    let Matrix::Csr { indptr, mut indices, values, cols } = x else { return x };
    let mut place = vec![0u32; cols];
    indices.iter().for_each(|&c| place[c as usize] = 1);
    let mut used = 0;
    for p in &mut place {
        let occurs = *p;
        *p = used;
        used += occurs;
    }
    indices.iter_mut().for_each(|c| *c = place[*c as usize]);
    Matrix::Csr { indptr, indices, values, cols: (used as usize).max(1) }
}
