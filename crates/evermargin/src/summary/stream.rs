//! A summary of a stream with a fixed number of rows, which can be merged with summaries of other parts of the stream.
//!
//! Absorbing a batch chooses again among the current exemplars and the new rows. A dropped row passes its weight to the
//! exemplar most similar to it, so density is preserved and the weights always add up to the number of samples seen.
//! Batches are processed in pieces of a few times the cap: time per sample and memory do not depend on the batch size.
//!
//! Merging is the second round of GreeDi (Mirzasoleiman, Karbasi, Sarkar & Krause 2013): choose from the union of both
//! summaries, and keep the exemplars of one of them if they represent the union better, so that the result is never worse
//! than either. The guarantee holds for any partition; the result depends on the order of merging, not on threads.

use super::carry::carry_weights;
use super::exemplars::{ExemplarParams, Objective, Pool, choose, objective};
use crate::data::{Matrix, MatrixView};
use crate::error::{Error, Result};
use crate::solver::{Exit, Watch};
use serde::{Deserialize, Serialize};

/// Number of rows per piece, as a multiple of the cap.
const PIECE: usize = 4;

/// Minimum number of rows per piece.
const MIN_PIECE: usize = 256;

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
    /// An empty summary of samples with `cols` columns, with at most `cap` rows.
    pub fn new(params: ExemplarParams, cap: usize, cols: usize, sparse: bool) -> Result<Self> {
        Self::of(params, cap, Matrix::empty(cols, sparse), Vec::new(), 0)
    }

    /// A summary from exemplars chosen before, most important first, and the number of the `seen` samples that each
    /// represents.
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

    /// Adds samples. Returns false if `watch` ends the work; then the samples of the interrupted piece and of later
    /// ones are not included.
    pub fn absorb(&mut self, x: MatrixView<'_>, watch: &dyn Watch) -> Result<bool> {
        self.check_columns(x.cols())?;
        let piece = self.cap.saturating_mul(PIECE).max(MIN_PIECE);
        for start in (0..x.rows()).step_by(piece) {
            let new_rows: Vec<usize> = (start..(start + piece).min(x.rows())).collect();
            let union = Matrix::stacked(&[self.rows.view(), x.select(&new_rows).view()]);
            let mut weight = self.weights.clone();
            weight.resize(union.rows(), 1.0);
            let Some(order) = self.choose_rows(union.view(), &weight, watch)? else { return Ok(false) };
            self.keep(union.view(), &weight, &order)?;
            self.seen = self.seen.saturating_add(new_rows.len() as u64);
        }
        Ok(true)
    }

    /// Merges the summary of another part of the stream; the parameters and the cap of `self` are kept. Returns the
    /// rows of the union (those of `self` first) that are the exemplars now; `None` if interrupted, and then nothing
    /// has changed.
    pub fn merge(&mut self, other: &Self, watch: &dyn Watch) -> Result<Option<Vec<usize>>> {
        self.check_columns(other.rows.cols())?;
        if self.params.kernel != other.params.kernel || self.params.objective != other.params.objective {
            return Err(Error::Data(
                "the two summaries were made with different kernels or objectives; summarize the data of one of them again"
                    .into(),
            ));
        }
        let union = Matrix::stacked(&[self.rows.view(), other.rows.view()]);
        let weight = [self.weights.as_slice(), &other.weights].concat();
        let Some(mut order) = self.choose_rows(union.view(), &weight, watch)? else { return Ok(None) };
        let parts = [0..self.rows.rows(), self.rows.rows()..union.rows()];
        let mut best_value = self.normalized_objective(union.view(), &weight, &order)?;
        for part in parts.into_iter().filter(|p| !p.is_empty()) {
            let own: Vec<usize> = part.take(self.cap).collect();
            let normalized_objective = self.normalized_objective(union.view(), &weight, &own)?;
            if normalized_objective > best_value {
                (order, best_value) = (own, normalized_objective);
            }
        }
        self.keep(union.view(), &weight, &order)?;
        self.seen = self.seen.saturating_add(other.seen);
        Ok(Some(order))
    }

    /// The rows of a union to keep; `None` if interrupted.
    fn choose_rows(
        &self,
        x: MatrixView<'_>,
        weight: &[f64],
        watch: &dyn Watch,
    ) -> Result<Option<Vec<usize>>> {
        let pool = Pool { weight, ..Pool::of(x) };
        let picks = choose(&self.params, &pool, self.cap, watch)?;
        Ok((picks.exit != Exit::Interrupted).then_some(picks.order))
    }

    /// The objective of rows of a union, normalized so that sets of different size are comparable.
    fn normalized_objective(&self, x: MatrixView<'_>, weight: &[f64], rows: &[usize]) -> Result<f64> {
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

    /// Maximum number of exemplars.
    pub fn cap(&self) -> usize {
        self.cap
    }

    /// Parameters of exemplar selection.
    pub fn params(&self) -> &ExemplarParams {
        &self.params
    }

    /// Exemplars, most important first; the first rows are the smaller summary.
    pub fn exemplars(&self) -> &Matrix {
        &self.rows
    }

    /// Number of samples that each exemplar represents.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Number of samples seen.
    pub fn seen(&self) -> u64 {
        self.seen
    }
}
