//! The set function of SUBMOD-S3VM and QP-S3VM.
//!
//! Emara 2012, chapter III. A set A of the n unlabeled rows U is labeled positive. With the weights cᵢ of the rows,
//! aₘ = cₘ Σ_L cᵢyᵢK(xᵢ, xₘ) and K'ₘⱼ = cₘcⱼK(xₘ, xⱼ) on U,
//!
//! D(A) / (C·C*) = Σ_A aₘ − (κ/2) Σ_{j∈A, j'∉A} K'ⱼⱼ',   κ = C*/C:
//!
//! that is, the similarity to labeled rows of the same label, minus the weight of the cut between the classes. This
//! remains of the source's D, S and UB(p) when constants and all terms that depend on |A| alone are dropped; the
//! diagonal cancels.
//!
//! With tₘ = Σ_U K'ₘⱼ and rₘ = Σ_A K'ₘⱼ all solvers use two numbers per row: the score sₘ = aₘ − (κ/2)tₘ + κrₘ, which
//! is the slope of D in the relaxed problem, and the gain of adding m, sₘ + (κ/2)K'ₘₘ. D = ½ Σ_A (s(∅) + s(A)).

use super::space::{Space, Sum};
use crate::solver::Watch;
use crate::solver::lazy_greedy::SetFunction;

/// Labeled and unlabeled rows with their weights.
#[derive(Debug, Clone)]
pub struct Seeds {
    /// Rows with a label.
    pub labeled: Vec<u32>,
    /// cᵢyᵢ of every row of the data, 0 where there is no label.
    pub pull: Vec<f64>,
    /// Rows without a label.
    pub unlabeled: Vec<u32>,
    /// cᵢ of every row of the data.
    pub weight: Vec<f64>,
}

/// D(A)/(C·C*) and the selected set A. If interrupted while kernel rows are summed, it becomes the pull of the labels
/// alone.
pub struct Cut<'s, 'a> {
    space: &'s mut Space<'a>,
    seeds: &'s Seeds,
    /// The unlabeled rows taken into account: U or a subset.
    rows: Vec<u32>,
    kappa: f64,
    labels: Sum,
    current: Sum,
    pull: Vec<f64>,
    unselected: Vec<f64>,
    diagonal: Vec<f64>,
    /// Largest |K'ᵢⱼ|.
    largest: f64,
    selected: Vec<bool>,
    /// Rows of K' computed so far, see [`Cut::line`].
    lines: Vec<Vec<f64>>,
    watch: &'s dyn Watch,
    stopped: bool,
}

/// Maximum number of rows for which all computed rows of K' are kept: 8 MB.
const MAX_CACHED_ROWS: usize = 1024;

impl<'s, 'a> Cut<'s, 'a> {
    /// A cut with no rows selected.
    pub fn new(space: &'s mut Space<'a>, seeds: &'s Seeds, kappa: f64) -> Self {
        Self::watched(space, seeds, kappa, &())
    }

    /// A cut with no rows selected; calls the watch once per block of kernel rows.
    pub fn watched(space: &'s mut Space<'a>, seeds: &'s Seeds, kappa: f64, watch: &'s dyn Watch) -> Self {
        let mut labels = space.zero();
        space.add(&seeds.labeled, 1.0, &seeds.pull, &mut labels);
        Self::of(space, seeds, seeds.unlabeled.clone(), kappa, labels, watch)
    }

    fn of(
        space: &'s mut Space<'a>,
        seeds: &'s Seeds,
        rows: Vec<u32>,
        kappa: f64,
        labels: Sum,
        watch: &'s dyn Watch,
    ) -> Self {
        let n = rows.len();
        let mut current = labels.clone();
        let summed = space.add_all(&rows, -0.5 * kappa, &seeds.weight, &mut current, watch);
        let (largest, stopped) = (summed.unwrap_or(0.0), summed.is_none());
        let kappa = if stopped { 0.0 } else { kappa };
        if stopped {
            current.clone_from(&labels);
        }
        let weight = |m: usize| seeds.weight[rows[m] as usize];
        let values = |space: &Space<'_>, f: &Sum| {
            let mut out = vec![0.0; n];
            space.values(f, &rows, &mut out);
            out.iter_mut().enumerate().for_each(|(m, v)| *v *= weight(m));
            out
        };
        let (pull, unselected) = (values(space, &labels), values(space, &current));
        let diagonal = (0..n).map(|m| weight(m) * weight(m) * space.square(rows[m] as usize)).collect();
        Self {
            space,
            seeds,
            rows,
            kappa,
            labels,
            current,
            pull,
            unselected,
            diagonal,
            largest,
            selected: vec![false; n],
            lines: Vec::new(),
            watch,
            stopped,
        }
    }

    /// The same problem for a subset of the unlabeled rows, with another κ and no rows selected.
    pub fn thinned(&mut self, keep: &[usize], kappa: f64) -> Cut<'_, 'a> {
        let rows = keep.iter().map(|&m| self.rows[m]).collect();
        Cut::of(self.space, self.seeds, rows, kappa, self.labels.clone(), self.watch)
    }

    /// Scores of all rows that follow from labels of some rows: a + (κ/2) Σ ±K' over them.
    pub fn spread(&mut self, keep: &[usize], positive: &[bool], kappa: f64) -> Vec<f64> {
        let mut f = self.labels.clone();
        for (side, scale) in [(true, 0.5 * kappa), (false, -0.5 * kappa)] {
            let chosen = keep.iter().zip(positive).filter(|(_, p)| **p == side);
            let rows: Vec<u32> = chosen.map(|(&m, _)| self.rows[m]).collect();
            self.space.add(&rows, scale, &self.seeds.weight, &mut f);
        }
        let mut out = vec![0.0; self.rows.len()];
        self.space.values(&f, &self.rows, &mut out);
        out.iter_mut().enumerate().for_each(|(m, s)| *s *= self.weight(m));
        out
    }

    fn weight(&self, m: usize) -> f64 {
        self.seeds.weight[self.rows[m] as usize]
    }

    /// κ.
    pub fn kappa(&self) -> f64 {
        self.kappa
    }

    /// a: the pull of the labels on each unlabeled row.
    pub fn pull(&self) -> &[f64] {
        &self.pull
    }

    /// s(∅).
    pub fn unselected(&self) -> &[f64] {
        &self.unselected
    }

    /// The diagonal of K'.
    pub fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    /// The largest |K'ᵢⱼ|. The mean number of nonzeros, which the source uses, is not a bound.
    pub fn largest_entry(&self) -> f64 {
        self.largest
    }

    /// Whether the caller asked to stop.
    pub fn stopped(&self) -> bool {
        self.stopped
    }

    /// Row i of K', at the cost of one sum over all rows; cached if there are few rows.
    pub fn line(&mut self, i: usize) -> &[f64] {
        let n = self.rows.len();
        let (at, max) = if n <= MAX_CACHED_ROWS { (i, n) } else { (0, 1) };
        if self.lines.is_empty() {
            self.lines.resize(max, Vec::new());
        }
        if n > MAX_CACHED_ROWS || self.lines[at].is_empty() {
            let (mut f, mut line) = (self.space.zero(), std::mem::take(&mut self.lines[at]));
            self.space.add(&self.rows[i..=i], 1.0, &self.seeds.weight, &mut f);
            line.resize(n, 0.0);
            self.space.values(&f, &self.rows, &mut line);
            line.iter_mut().enumerate().for_each(|(m, k)| *k *= self.weight(m));
            self.lines[at] = line;
        }
        &self.lines[at]
    }

    /// Selects exactly the marked rows.
    pub fn select(&mut self, marks: &[bool]) {
        for (side, scale) in [(true, self.kappa), (false, -self.kappa)] {
            let changed = (0..marks.len()).filter(|&m| marks[m] == side && self.selected[m] != side);
            let rows: Vec<u32> = changed.map(|m| self.rows[m]).collect();
            let (weight, f) = (&self.seeds.weight, &mut self.current);
            if !self.space.add_watched(&rows, scale, weight, f, self.watch) {
                self.stop();
            }
        }
        self.selected.copy_from_slice(marks);
    }

    fn stop(&mut self) {
        (self.kappa, self.stopped) = (0.0, true);
        self.current.clone_from(&self.labels);
        self.unselected.clone_from(&self.pull);
    }

    /// s at the selected set.
    pub fn scores(&self, out: &mut [f64]) {
        self.space.values(&self.current, &self.rows, out);
        out.iter_mut().enumerate().for_each(|(m, s)| *s *= self.weight(m));
    }

    /// The function s, without the weight of the row.
    pub fn function(&self) -> &Sum {
        &self.current
    }

    /// D/(C·C*) = ½ Σ_A (s(∅) + s(A)), from the scores at A, summed in order.
    pub fn value(&self, scores: &[f64]) -> f64 {
        let rows = self.unselected.iter().zip(scores).zip(&self.selected);
        0.5 * rows.filter(|(_, m)| **m).map(|((u, s), _)| u + s).sum::<f64>()
    }

    /// The cut with all labels negated: the selected set is then the negative class.
    pub fn negated(&mut self) -> Negated<'_, 's, 'a> {
        Negated(self)
    }
}

impl SetFunction for Cut<'_, '_> {
    fn elements(&self) -> usize {
        self.rows.len()
    }

    fn gain(&self, m: usize) -> f64 {
        let f = self.space.at(&self.current, self.rows[m] as usize);
        self.weight(m) * f + 0.5 * self.kappa * self.diagonal[m]
    }

    fn add(&mut self, m: usize) {
        self.space.add(&[self.rows[m]], self.kappa, &self.seeds.weight, &mut self.current);
        self.selected[m] = true;
    }

    fn rise(&self) -> f64 {
        self.kappa * self.largest_entry()
    }
}

/// See [`Cut::negated`]: a changes its sign, the cut does not.
pub struct Negated<'n, 's, 'a>(&'n mut Cut<'s, 'a>);

impl SetFunction for Negated<'_, '_, '_> {
    fn elements(&self) -> usize {
        self.0.elements()
    }

    fn gain(&self, element: usize) -> f64 {
        self.0.gain(element) - 2.0 * self.0.pull[element]
    }

    fn add(&mut self, element: usize) {
        self.0.add(element);
    }

    fn rise(&self) -> f64 {
        self.0.rise()
    }
}
