//! A summary of a stream in a fixed number of rows, which merges with summaries of other parts of it.
//!
//! Absorbing a batch chooses again from what is held and what came; a row that is dropped leaves its weight to the
//! exemplar most like it, so that density is remembered and the weights always add up to the samples seen. Batches are
//! taken in pieces of a few times the cap: time a sample and memory do not depend on how much comes at once.
//!
//! Merging is the second round of GreeDi (Mirzasoleiman, Karbasi, Sarkar & Krause 2013): choose from the union of both,
//! and keep one part's own exemplars should they represent the union better, so that merging never loses to either. Any
//! partition keeps the guarantee; the result depends on the order of merging, not on threads.

use super::carry::carry_weights;
use super::exemplars::{ExemplarParams, Objective, Pool, choose, objective};
use crate::data::{Matrix, MatrixView};
use crate::error::{Error, Result};
use crate::solver::{Exit, Watch};
use serde::{Deserialize, Serialize};

/// Rows taken at a time, as a multiple of the cap.
const PIECE: usize = 4;

/// Fewest rows taken at a time.
const LEAST_PIECE: usize = 256;

/// Exemplars of a stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    params: ExemplarParams,
    cap: usize,
    rows: Matrix,
    weights: Vec<f64>,
    seen: u64,
}

impl Summary {
    /// An empty summary of samples with `cols` columns, in at most `cap` rows.
    pub fn new(params: ExemplarParams, cap: usize, cols: usize, sparse: bool) -> Result<Self> {
        Self::of(params, cap, Matrix::empty(cols, sparse), Vec::new(), 0)
    }

    /// A summary of exemplars chosen before, most important first, and how many of the `seen` samples each stands for.
    pub fn of(
        params: ExemplarParams,
        cap: usize,
        rows: Matrix,
        weights: Vec<f64>,
        seen: u64,
    ) -> Result<Self> {
        params.check()?;
        if cap == 0 {
            return Err(Error::parameter("cap", cap, "at least 1"));
        }
        if rows.rows() > cap {
            return Err(Error::Shape { what: "exemplars", expected: cap, found: rows.rows() });
        }
        if weights.len() != rows.rows() {
            return Err(Error::Shape {
                what: "weights of exemplars",
                expected: rows.rows(),
                found: weights.len(),
            });
        }
        if let Some(w) = weights.iter().find(|w| !(**w >= 0.0 && **w <= 1e100)) {
            return Err(Error::parameter("weight", w, "a number from 0 to 1e100"));
        }
        Ok(Self { params, cap, rows, weights, seen })
    }

    /// Takes samples in. False if told to stop: then the samples from the piece it was at on are not in it.
    pub fn absorb(&mut self, x: MatrixView<'_>, watch: &dyn Watch) -> Result<bool> {
        self.check_columns(x.cols())?;
        let piece = self.cap.saturating_mul(PIECE).max(LEAST_PIECE);
        for start in (0..x.rows()).step_by(piece) {
            let came: Vec<usize> = (start..(start + piece).min(x.rows())).collect();
            let union = Matrix::stacked(&[self.rows.view(), x.select(&came).view()]);
            let mut weight = self.weights.clone();
            weight.resize(union.rows(), 1.0);
            let Some(order) = self.best(union.view(), &weight, watch)? else { return Ok(false) };
            self.keep(union.view(), &weight, &order)?;
            self.seen = self.seen.saturating_add(came.len() as u64);
        }
        Ok(true)
    }

    /// Takes the summary of another part of the stream in; the parameters and the cap stay this one's. Says which rows of
    /// both, this one's first, are its exemplars now; `None` if told to stop: then nothing has changed.
    pub fn merge(&mut self, other: &Self, watch: &dyn Watch) -> Result<Option<Vec<usize>>> {
        self.check_columns(other.rows.cols())?;
        if self.params.kernel != other.params.kernel || self.params.objective != other.params.objective {
            return Err(Error::Data(
                "the two summaries were made with different kernels or objectives; summarize the data of one of them anew"
                    .into(),
            ));
        }
        let union = Matrix::stacked(&[self.rows.view(), other.rows.view()]);
        let weight = [self.weights.as_slice(), &other.weights].concat();
        let Some(mut order) = self.best(union.view(), &weight, watch)? else { return Ok(None) };
        let parts = [0..self.rows.rows(), self.rows.rows()..union.rows()];
        let mut most = self.worth(union.view(), &weight, &order)?;
        for part in parts.into_iter().filter(|p| !p.is_empty()) {
            let own: Vec<usize> = part.take(self.cap).collect();
            let worth = self.worth(union.view(), &weight, &own)?;
            if worth > most {
                (order, most) = (own, worth);
            }
        }
        self.keep(union.view(), &weight, &order)?;
        self.seen = self.seen.saturating_add(other.seen);
        Ok(Some(order))
    }

    /// The rows of a union worth keeping; `None` if told to stop.
    fn best(&self, x: MatrixView<'_>, weight: &[f64], watch: &dyn Watch) -> Result<Option<Vec<usize>>> {
        let pool = Pool { weight, ..Pool::of(x) };
        let picks = choose(&self.params, &pool, self.cap, watch)?;
        Ok((picks.exit != Exit::Interrupted).then_some(picks.order))
    }

    /// The objective of rows of a union, comparable between sets of different size.
    fn worth(&self, x: MatrixView<'_>, weight: &[f64], rows: &[usize]) -> Result<f64> {
        let value = objective(&self.params, &Pool { weight, ..Pool::of(x) }, rows)?;
        // G of M rows is (N·M/2)(constant − MMD²)
        let size = if self.params.objective == Objective::Exemplars { rows.len().max(1) as f64 } else { 1.0 };
        Ok(value / size)
    }

    fn keep(&mut self, x: MatrixView<'_>, weight: &[f64], order: &[usize]) -> Result<()> {
        self.weights = carry_weights(x, weight, order, self.params.kernel)?;
        self.rows = x.select(order);
        Ok(())
    }

    fn check_columns(&self, cols: usize) -> Result<()> {
        if cols == self.rows.cols() {
            return Ok(());
        }
        Err(Error::Shape { what: "columns", expected: self.rows.cols(), found: cols })
    }

    /// Most exemplars.
    pub fn cap(&self) -> usize {
        self.cap
    }

    /// How exemplars are chosen.
    pub fn params(&self) -> &ExemplarParams {
        &self.params
    }

    /// Exemplars, most important first: the first rows are the smaller summary.
    pub fn exemplars(&self) -> &Matrix {
        &self.rows
    }

    /// Samples each exemplar stands for.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Samples taken in.
    pub fn seen(&self) -> u64 {
        self.seen
    }
}
