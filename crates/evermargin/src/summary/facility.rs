//! Facility location: the rows that together are most similar to all rows.
//!
//! Problem: choose E to maximize F(E) = Σᵢ wᵢ max_{e∈E} K(xᵢ, xₑ) for K ≥ 0, the weighted similarity of each row to its
//! most similar exemplar. F is monotone and submodular, so greedy selection reaches 1 − 1/e of the optimum (Nemhauser,
//! Wolsey & Fisher 1978), and lazy bounds need no correction.
//!
//! The gain of m is Σᵢ wᵢ max(0, Kᵢₘ − coverᵢ), one kernel row compared with the cover so far. Before the first pick it
//! is a row sum, and row sums need half of the matrix only ([`KernelGram::summed`]). If the matrix fits into the byte
//! limit, a gain reads its row; otherwise the rows of the next requested elements are computed together and kept while
//! there is room.
//!
//! Kernel values have single precision, everything computed from them double precision. Gains have the same bits
//! whatever is cached, because a kernel value does not depend on the block it is computed in. The limit therefore costs
//! time and changes no pick.

use crate::kernel::gram::{Gram, KernelGram};
use crate::math::simd;
use crate::solver::lazy_greedy::SetFunction;
use std::cell::RefCell;

/// Number of kernel rows computed together when the matrix is not cached.
const TOGETHER: usize = 32;

/// The set function F and the set E. Rows that are represented but cannot be chosen come after those that can.
pub(crate) struct Facility<'a> {
    gram: RefCell<KernelGram<'static>>,
    weight: &'a [f64],
    /// Gains before the first pick.
    alone: Vec<f64>,
    /// Similarity of each row to its most similar exemplar.
    cover: Vec<f32>,
    choosable: usize,
    taken: usize,
    rise: f64,
}

impl<'a> Facility<'a> {
    /// An empty set. `alone` are the row sums of `gram` weighted by `weight`; only the first `choosable` rows can be
    /// chosen.
    pub(crate) fn new(
        gram: KernelGram<'static>,
        alone: Vec<f64>,
        weight: &'a [f64],
        choosable: usize,
    ) -> Self {
        let n = gram.len();
        // Row sums and gains are added in different orders; gains among themselves never rise, rounding included.
        let rise = 4.0 * n as f64 * f64::EPSILON * alone.iter().copied().fold(0.0, f64::max);
        Self { gram: RefCell::new(gram), weight, alone, cover: vec![0.0; n], choosable, taken: 0, rise }
    }

    /// The kernel row of an element.
    fn with_row<T>(&self, m: usize, f: impl FnOnce(&[f32]) -> T) -> T {
        let mut gram = self.gram.borrow_mut();
        gram.fetch(&[m]);
        f(gram.row(m))
    }
}

impl SetFunction for Facility<'_> {
    fn elements(&self) -> usize {
        self.choosable
    }

    fn gain(&self, m: usize) -> f64 {
        if self.taken == 0 {
            return self.alone[m];
        }
        self.with_row(m, |row| simd::excess(row, &self.cover, self.weight))
    }

    fn add(&mut self, m: usize) {
        let mut cover = std::mem::take(&mut self.cover);
        self.with_row(m, |row| {
            cover.iter_mut().zip(row).for_each(|(c, &k)| *c = if k > *c { k } else { *c });
        });
        self.cover = cover;
        self.taken += 1;
    }

    fn rise(&self) -> f64 {
        self.rise
    }

    fn together(&self) -> usize {
        let gram = self.gram.borrow();
        if gram.is_whole() { 1 } else { TOGETHER.min(gram.capacity()) }
    }

    fn prepare(&self, elements: &[usize]) {
        if self.taken > 0 && elements.len() > 1 {
            self.gram.borrow_mut().fetch(elements);
        }
    }
}
