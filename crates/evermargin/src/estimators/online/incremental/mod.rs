//! The exact incremental and decremental support vector machine: samples are added, removed and relabeled.
//!
//! Problem: that of [`crate::estimators::supervised::svc`] on the current samples, solved up to rounding (not to a
//! tolerance) after every change. With Qᵢⱼ = yᵢyⱼKᵢⱼ and gᵢ = Σ Qᵢⱼαⱼ + yᵢb − 1 each sample is in one of three sets: margin
//! (0 < α < C, g = 0), error (α = C, g ≤ 0), rest (α = 0, g ≥ 0). To add a sample c, α_c rises from 0; to remove it, α_c
//! falls to 0. All other samples stay optimal meanwhile (`active_set.rs`), so a sample that was added and removed leaves no
//! trace.
//! Source: Cauwenberghs & Poggio 2001; sensitivities as in Emara 2012, VI.2; the bookkeeping is the standard completion.
//!
//! Reason for a separate solver: `solver/smo` approaches an optimum with one kernel row at a time in single precision. This
//! one never leaves the optimum and uses double precision, which makes a removal exact. It costs n·|margin| operations per
//! event and memory for the kernel rows of the margin, so the number of samples is limited.
//!
//! Departures: every Kᵢᵢ is raised by 1e-10·(1 + Kᵢᵢ). The solution is then unique, even with duplicates and contradicting
//! labels of the same point, every curvature is positive, and the steps do not cycle. As a consequence y·f of a margin
//! sample is 1 − 1e-10(1 + K)α. If all samples are of one class, α = 0, b = ±1 and there is no model; without samples
//! b = 0.
//!
//! [`ExactSvm::optimize`] makes the state a function of the samples and their sets alone, independent of the history: α of
//! the error and rest sets are assigned, and α of the margin are solved for in the order of the ids. Two histories with the
//! same samples then give bit-identical states, unless rounding decides to which of two sets a sample belongs.

mod active_set;
mod checkpoint;
mod inverse;
pub mod locality;

pub use inverse::Inverse;

use crate::data::{Label, Matrix, MatrixView, Row};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::model::Model;
use checkpoint::Saved;
use serde::{Deserialize, Serialize};

/// Ridge on the diagonal of the kernel matrix: Kᵢᵢ is raised by this times 1 + Kᵢᵢ.
const RIDGE: f64 = 1e-10;

/// Largest K(x, x) that is accepted; it bounds all kernel values.
const MAX_DIAGONAL: f64 = 1e100;

/// Parameters of [`ExactSvm`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ExactParams {
    /// The kernel, positive semi-definite.
    pub kernel: Kernel,
    /// Cost of a margin violation, times the weight of the sample.
    pub c: f64,
    /// Maximum number of samples.
    pub max_points: usize,
}

impl Default for ExactParams {
    fn default() -> Self {
        Self { kernel: Kernel::Rbf { gamma: 1.0 }, c: 1.0, max_points: 5000 }
    }
}

impl ExactParams {
    fn check(&self) -> Result<()> {
        self.kernel.check_of_samples()?;
        if matches!(self.kernel, Kernel::Sigmoid { .. }) {
            return Err(Error::parameter("kernel", "sigmoid", "linear, rbf or poly: positive semi-definite"));
        }
        if let Kernel::Poly { coef0, .. } = self.kernel
            && coef0 < 0.0
        {
            return Err(Error::parameter("coef0", coef0, "0 or more, for a positive semi-definite kernel"));
        }
        if !(self.c > 0.0 && self.c <= 1e15) {
            return Err(Error::parameter("c", self.c, "a number above 0, at most 1e15"));
        }
        if !(2..=1 << 20).contains(&self.max_points) {
            return Err(Error::parameter("max_points", self.max_points, "from 2 to 1048576"));
        }
        Ok(())
    }
}

/// Set that a sample belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Place {
    /// None yet or none any more: the sample is being added or removed.
    Absent,
    /// 0 < α < C, on the margin.
    Margin,
    /// α = C.
    Error,
    /// α = 0.
    Rest,
}

/// The solution: coefficients, gradients, the set of each sample, and R, the inverse of the bordered kernel matrix of
/// the margin samples.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Solution {
    alpha: Vec<f64>,
    g: Vec<f64>,
    place: Vec<Place>,
    b: f64,
    /// Indices of the margin samples, in the order of the rows of R after the first.
    margin: Vec<usize>,
    inverse: Inverse,
    /// Number of samples that joined the margin since R was last recomputed.
    changes: usize,
}

/// An SVM whose solution stays exact while samples are added, removed and relabeled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "Saved", try_from = "Saved")]
pub struct ExactSvm {
    params: ExactParams,
    points: Matrix,
    ids: Vec<u64>,
    y: Vec<f64>,
    cost: Vec<f64>,
    standing: Solution,
    /// |x|² of every sample.
    squares: Vec<f64>,
    /// Kernel rows of the margin samples, in the order of `Solution::margin`.
    rows: Vec<Vec<f64>>,
}

impl ExactSvm {
    /// An SVM without samples, for samples with `cols` columns, dense or `sparse`.
    pub fn new(params: &ExactParams, cols: usize, sparse: bool) -> Result<Self> {
        params.check()?;
        Ok(Self {
            params: params.clone(),
            points: Matrix::empty(cols, sparse),
            ids: Vec::new(),
            y: Vec::new(),
            cost: Vec::new(),
            standing: Solution::default(),
            squares: Vec::new(),
            rows: Vec::new(),
        })
    }

    /// Adds row `r` of `x` with a label, a weight that multiplies C, and a unique id. An error leaves the state unchanged.
    pub fn add(&mut self, x: MatrixView<'_>, r: usize, label: Label, weight: f64, id: u64) -> Result<()> {
        if x.cols() != self.points.cols() {
            return Err(Error::Shape { what: "columns", expected: self.points.cols(), found: x.cols() });
        }
        if r >= x.rows() {
            return Err(Error::Shape { what: "rows", expected: r + 1, found: x.rows() });
        }
        if self.ids.contains(&id) {
            return Err(Error::Data(format!("sample {id} is there already; relabel it, or remove it first")));
        }
        if label == Label::Unknown {
            return Err(Error::Data(format!("sample {id} has no label")));
        }
        let cost = self.params.c * weight;
        if !(cost > 0.0 && cost <= 1e15) {
            return Err(Error::Data(format!("sample {id}: weight {weight} must be above 0")));
        }
        let square = x.row(r).norm2();
        let own = self.params.kernel.from_dot(square, square, square);
        if own.is_nan() || own > MAX_DIAGONAL {
            return Err(Error::Data(format!(
                "sample {id}: its kernel value with itself is {own:.0e}, too large to be exact with; scale the samples"
            )));
        }
        if self.len() >= self.params.max_points {
            return Err(Error::Data(format!(
                "the machine holds {} samples, as many as max_points allows: remove some, raise max_points (time and \
                 memory grow with the samples times those on the margin), or use local-svc, which evicts samples",
                self.len()
            )));
        }
        let before = self.standing.clone();
        self.push(x.row(r), label.sign(), cost, id);
        let c = self.len() - 1;
        self.insert(c).inspect_err(|_| {
            self.truncate(c);
            self.standing = before;
            self.restore_rows();
        })
    }

    /// Removes a sample, as if it had never been added. An error leaves the state unchanged.
    pub fn remove(&mut self, id: u64) -> Result<()> {
        let c = self.position(id)?;
        let before = self.standing.clone();
        self.withdraw(c).inspect_err(|_| {
            self.standing = before;
            self.restore_rows();
        })?;
        let keep: Vec<usize> = (0..self.len()).filter(|&i| i != c).collect();
        self.reorder(&keep);
        Ok(())
    }

    /// Changes the label of a sample. An error leaves the state unchanged.
    pub fn relabel(&mut self, id: u64, label: Label) -> Result<()> {
        let c = self.position(id)?;
        if label == Label::Unknown {
            return Err(Error::Data(format!(
                "sample {id}: a label cannot become unknown; remove the sample"
            )));
        }
        if label.sign() == self.y[c] {
            return Ok(());
        }
        let (before, y) = (self.standing.clone(), self.y[c]);
        let mut moved = self.withdraw(c);
        if moved.is_ok() {
            self.y[c] = -y;
            moved = self.insert(c);
        }
        moved.inspect_err(|_| {
            (self.standing, self.y[c]) = (before, y);
            self.restore_rows();
        })
    }

    /// Makes the state a function of the samples and their sets alone, and sorts the samples by id. Returns the largest
    /// violation of the optimality conditions, which is of the size of rounding errors.
    pub fn optimize(&mut self) -> Result<f64> {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_unstable_by_key(|&i| self.ids[i]);
        self.reorder(&order);
        self.standing.margin.sort_unstable();
        let mut h = vec![0.0; self.len()];
        loop {
            self.restore_rows();
            self.refresh()?;
            self.set_bound_coefficients(&mut h);
            if self.standing.margin.is_empty() {
                self.standing.b = self.bias_midpoint(&h);
                break;
            }
            self.solve_margin(&mut h);
            let Some((s, place)) = self.farthest_out_of_bounds() else { break };
            self.standing.margin.retain(|&m| m != s);
            self.standing.place[s] = place;
        }
        let at = &mut self.standing;
        for (i, h) in h.iter().enumerate() {
            let on = at.place[i] == Place::Margin;
            at.g[i] = if on { 0.0 } else { self.y[i] * (h + at.b) - 1.0 };
        }
        Ok(self.violation())
    }

    /// Sets α of the error set to C and of the rest set to 0; `h` becomes the weighted sum of the error set's kernel rows.
    fn set_bound_coefficients(&mut self, h: &mut [f64]) {
        h.fill(0.0);
        for j in 0..self.len() {
            let error = self.standing.place[j] == Place::Error;
            self.standing.alpha[j] = if error { self.cost[j] } else { 0.0 };
            if error {
                let by = self.y[j] * self.cost[j];
                h.iter_mut().zip(self.kernel_row(j)).for_each(|(h, k)| *h += by * k);
            }
        }
    }

    /// The margin sample whose α is farthest outside its bounds, and the set it belongs to. There is one only if duplicates
    /// leave few significant digits in α.
    fn farthest_out_of_bounds(&self) -> Option<(usize, Place)> {
        let outside = |&s: &usize| {
            let (a, cost) = (self.standing.alpha[s], self.cost[s]);
            let far = (-a).max(a - cost);
            (far > 0.0).then_some((far, s, if a < 0.0 { Place::Rest } else { Place::Error }))
        };
        let some = self.standing.margin.iter().filter_map(outside);
        some.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))).map(|(_, s, place)| (s, place))
    }

    /// Solves for b and the α of the margin, given the α of the error set and the weighted sum `h` of its kernel rows. Adds
    /// the kernel rows of the margin to `h`.
    fn solve_margin(&mut self, h: &mut [f64]) {
        let margin = self.standing.margin.clone();
        let held: f64 = self.y.iter().zip(&self.standing.alpha).map(|(y, a)| y * a).sum();
        let mut found = vec![0.0; margin.len() + 1];
        let mut left = vec![0.0; margin.len() + 1];
        let whole = h.to_vec();
        // the first pass solves, the others correct rounding errors
        for _ in 0..active_set::MAX_CORRECTIONS {
            left[0] = held + margin.iter().zip(&found[1..]).map(|(&s, a)| self.y[s] * a).sum::<f64>();
            for (left, &s) in left[1..].iter_mut().zip(&margin) {
                *left = self.y[s] * (h[s] + found[0]) - 1.0;
            }
            self.standing.inverse.subtract_times(&left, &mut found);
            h.copy_from_slice(&whole);
            for ((&s, a), row) in margin.iter().zip(&found[1..]).zip(&self.rows) {
                let by = self.y[s] * a;
                h.iter_mut().zip(row).for_each(|(h, k)| *h += by * k);
            }
        }
        self.standing.b = found[0];
        for (&s, a) in margin.iter().zip(&found[1..]) {
            self.standing.alpha[s] = *a;
        }
    }

    /// Midpoint of the interval of b that the optimality conditions allow when the margin is empty; `h` is f − b.
    fn bias_midpoint(&self, h: &[f64]) -> f64 {
        let (mut least, mut most) = (f64::NEG_INFINITY, f64::INFINITY);
        for i in 0..self.len() {
            let b = self.y[i] - h[i];
            if (self.standing.place[i] == Place::Rest) == (self.y[i] > 0.0) {
                least = least.max(b);
            } else {
                most = most.min(b);
            }
        }
        match (least.is_finite(), most.is_finite()) {
            (true, true) => f64::midpoint(least, most),
            (true, false) => least,
            (false, true) => most,
            (false, false) => 0.0,
        }
    }

    /// Largest violation of the optimality conditions by the stored g.
    pub fn violation(&self) -> f64 {
        let at = &self.standing;
        let wrong = |i: usize| match at.place[i] {
            Place::Margin => at.g[i].abs(),
            Place::Error => at.g[i].max(0.0),
            Place::Rest | Place::Absent => (-at.g[i]).max(0.0),
        };
        (0..self.len()).map(wrong).fold(0.0, f64::max)
    }

    /// The model, with support vectors in the order of the samples; `None` while all samples are of one class.
    pub fn model(&self) -> Option<Model> {
        if !self.has(1.0) || !self.has(-1.0) {
            return None;
        }
        let support: Vec<usize> = (0..self.len()).filter(|&i| self.standing.alpha[i] > 0.0).collect();
        let coef = support.iter().map(|&i| self.y[i] * self.standing.alpha[i]).collect();
        Some(Model::Expansion {
            kernel: self.params.kernel,
            points: self.points.view().select(&support),
            coef: vec![coef],
            bias: vec![self.standing.b],
        })
    }

    /// Decision value f of every sample.
    pub fn decisions(&self) -> Vec<f64> {
        let at = &self.standing;
        let f = |i: usize| {
            self.y[i] * (at.g[i] + 1.0 - (self.diagonal(i) - self.unraised_diagonal(i)) * at.alpha[i])
        };
        (0..self.len()).map(f).collect()
    }

    /// Ids of the samples.
    pub fn ids(&self) -> &[u64] {
        &self.ids
    }

    /// Labels of the samples, ±1.
    pub fn labels(&self) -> &[f64] {
        &self.y
    }

    /// The samples.
    pub fn points(&self) -> &Matrix {
        &self.points
    }

    /// Unsigned α of every sample.
    pub fn alpha(&self) -> &[f64] {
        &self.standing.alpha
    }

    /// Cost of every sample: C times its weight.
    pub fn costs(&self) -> &[f64] {
        &self.cost
    }

    /// y·f − 1 of every sample.
    pub fn g(&self) -> &[f64] {
        &self.standing.g
    }

    /// The intercept b.
    pub fn bias(&self) -> f64 {
        self.standing.b
    }

    /// The set of every sample.
    pub fn places(&self) -> &[Place] {
        &self.standing.place
    }

    /// Indices of the margin samples in the order of R's rows, and R.
    pub fn inverse(&self) -> (&[usize], &Inverse) {
        (&self.standing.margin, &self.standing.inverse)
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// [β₀; β]: rates of change of b and of the margin's α, in the order of [`ExactSvm::inverse`], with the α of a new
    /// sample, row `r` of `x`.
    pub fn sensitivities(&self, x: MatrixView<'_>, r: usize, label: Label) -> Result<Vec<f64>> {
        if x.cols() != self.points.cols() {
            return Err(Error::Shape { what: "columns", expected: self.points.cols(), found: x.cols() });
        }
        if r >= x.rows() {
            return Err(Error::Shape { what: "rows", expected: r + 1, found: x.rows() });
        }
        let (y, margin) = (label.sign(), &self.standing.margin);
        let q = |&s: &usize| self.y[s] * y * self.params.kernel.eval(self.points.view().row(s), x.row(r));
        let against: Vec<f64> = std::iter::once(y).chain(margin.iter().map(q)).collect();
        let mut beta = vec![0.0; self.standing.inverse.size()];
        self.standing.inverse.subtract_times(&against, &mut beta);
        Ok(beta)
    }

    /// Entry of Q for two samples; diagonal entries include the ridge.
    pub fn q(&self, i: usize, j: usize) -> f64 {
        let k = if i == j { self.diagonal(i) } else { self.kernel_of(i, j) };
        self.y[i] * self.y[j] * k
    }

    fn position(&self, id: u64) -> Result<usize> {
        let at = self.ids.iter().position(|&i| i == id);
        at.ok_or_else(|| Error::Data(format!("sample {id} is not there")))
    }

    fn has(&self, y: f64) -> bool {
        (0..self.len()).any(|i| self.y[i] == y && self.standing.place[i] != Place::Absent)
    }

    /// Brings the absent sample c into the solution.
    fn insert(&mut self, c: usize) -> Result<()> {
        if !self.has(-self.y[c]) {
            self.standing.place[c] = Place::Rest;
            self.one_class(self.y[c]);
            return Ok(());
        }
        let row = self.kernel_row(c);
        let signed = self.y.iter().zip(&self.standing.alpha).zip(&row);
        let h: f64 = signed.map(|((y, a), k)| y * a * k).sum();
        self.standing.g[c] = self.y[c] * (h + self.standing.b) - 1.0;
        if self.standing.g[c] >= 0.0 {
            self.standing.place[c] = Place::Rest;
            return Ok(());
        }
        self.move_sample(c, 1.0, &row)?;
        self.refresh_if_due()
    }

    /// Takes sample c out of the solution.
    fn withdraw(&mut self, c: usize) -> Result<()> {
        self.leave(c);
        self.standing.place[c] = Place::Absent;
        match (self.has(1.0), self.has(-1.0)) {
            (true, true) if self.standing.alpha[c] > 0.0 => {
                let row = self.kernel_row(c);
                self.move_sample(c, -1.0, &row)?;
            }
            (true, true) => {}
            (positive, negative) => self.one_class(f64::from(positive) - f64::from(negative)),
        }
        self.standing.alpha[c] = 0.0;
        self.refresh_if_due()
    }

    /// The solution for samples of class `y` only, f = y, or for no samples, f = 0.
    fn one_class(&mut self, y: f64) {
        let at = &mut self.standing;
        at.alpha.fill(0.0);
        at.g.fill(0.0);
        at.b = y;
        at.margin.clear();
        at.inverse = Inverse::default();
        self.rows.clear();
        at.place.iter_mut().filter(|p| **p != Place::Absent).for_each(|p| *p = Place::Rest);
    }

    fn push(&mut self, row: Row<'_>, y: f64, cost: f64, id: u64) {
        self.points.push(row);
        self.ids.push(id);
        self.y.push(y);
        self.cost.push(cost);
        self.squares.push(row.norm2());
        let at = &mut self.standing;
        at.alpha.push(0.0);
        at.g.push(0.0);
        at.place.push(Place::Absent);
        let c = self.len() - 1;
        for slot in 0..self.rows.len() {
            let k = self.kernel_of(self.standing.margin[slot], c);
            self.rows[slot].push(k);
        }
    }

    /// Removes the samples from index `len` on; the caller restores the solution.
    fn truncate(&mut self, len: usize) {
        let keep: Vec<usize> = (0..len).collect();
        self.points = self.points.view().select(&keep);
        self.ids.truncate(len);
        self.y.truncate(len);
        self.cost.truncate(len);
        self.squares.truncate(len);
    }

    /// Keeps only the samples with the given indices, in this order.
    fn reorder(&mut self, order: &[usize]) {
        let mut to = vec![usize::MAX; self.len()];
        order.iter().enumerate().for_each(|(new, &old)| to[old] = new);
        self.points = self.points.view().select(order);
        self.ids = order.iter().map(|&i| self.ids[i]).collect();
        let at = &mut self.standing;
        for v in [&mut self.y, &mut self.cost, &mut self.squares, &mut at.alpha, &mut at.g] {
            *v = order.iter().map(|&i| v[i]).collect();
        }
        at.place = order.iter().map(|&i| at.place[i]).collect();
        at.margin.iter_mut().for_each(|s| *s = to[*s]);
        for row in &mut self.rows {
            *row = order.iter().map(|&i| row[i]).collect();
        }
    }

    /// Recomputes the kernel rows of the margin.
    fn restore_rows(&mut self) {
        self.rows = self.standing.margin.iter().map(|&s| self.kernel_row(s)).collect();
    }

    /// The inverse of the margin's bordered matrix, from its kernel rows.
    fn factored(&self) -> Result<Inverse> {
        let margin = &self.standing.margin;
        let y: Vec<f64> = margin.iter().map(|&s| self.y[s]).collect();
        let entry = |(row, &s): (&Vec<f64>, &usize)| -> Vec<f64> {
            margin.iter().map(|&t| self.y[s] * self.y[t] * row[t]).collect()
        };
        let q: Vec<f64> = self.rows.iter().zip(margin).flat_map(entry).collect();
        Inverse::new(&q, &y)
    }

    /// Kernel values of sample i with all samples, including the ridge on the diagonal.
    fn kernel_row(&self, i: usize) -> Vec<f64> {
        let of = |j: usize| if i == j { self.diagonal(i) } else { self.kernel_of(i, j) };
        (0..self.len()).map(of).collect()
    }

    fn kernel_of(&self, i: usize, j: usize) -> f64 {
        let x = self.points.view();
        self.params.kernel.from_dot(x.row(i).dot(x.row(j)), self.squares[i], self.squares[j])
    }

    fn unraised_diagonal(&self, i: usize) -> f64 {
        self.params.kernel.from_dot(self.squares[i], self.squares[i], self.squares[i])
    }

    fn diagonal(&self, i: usize) -> f64 {
        let k = self.unraised_diagonal(i);
        k + RIDGE * (1.0 + k)
    }
}
