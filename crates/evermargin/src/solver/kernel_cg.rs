//! Manifold regularization over all rows, without a basis: conjugate gradients on the coefficients with early stopping.
//!
//! Problem: manifold regularization over f = Σ αᵢK(xᵢ, ·), all n rows, with the squared loss or the squared hinge of
//! labeled rows, cost ½cᵢ each (Melacci & Belkin 2011: "Laplacian Support Vector Machines Trained in the Primal"; the
//! plain hinge of the dual has no curvature). F(α) = ½αᵀKα + ½Σ cᵢ(yᵢ − fᵢ)² + ½fᵀMf with f = Kα; for the hinge, the
//! sum includes only labeled rows that violate their margin.
//!
//! Method: ∇F = Ks, s = α + Mf + C(f − y). In the inner product ⟨a, b⟩ = aᵀKb the gradient is s itself and the Hessian
//! is A = I + (M + C)K, so conjugate gradients in it are those preconditioned by K, and each step costs one product
//! with K and one with M. This is a solver of its own because [`crate::solver::newton_cg`] measures gradients in the
//! plain inner product, where a step takes two products with K and the system has the condition number of K². If the
//! set of violating rows has changed after a solution, the next solve starts from it; the method ends when the set
//! stays the same (a finite Newton method).
//!
//! Stopping: the residual in the kernel's norm decreases to the tolerance, or no row has changed its label for
//! [`STABLE_STEPS`] consecutive steps (early stopping, the "stability" rule of the source, checked every step). Both
//! are reported as converged; the gap is the residual.
//!
//! Memory: kernel rows are kept in single precision as far as `bytes` allows and recomputed otherwise. A linear kernel
//! needs none: Kv = X(Xᵀv), so that a step on sparse data with a similarity graph costs time proportional to its
//! entries and edges (promised in section 6.7 of the source).

use crate::data::MatrixView;
use crate::error::Result;
use crate::kernel::Kernel;
use crate::kernel::gram::{Gram, KernelGram, MatrixGram, Packed};
use crate::math::blas1::{add, dot};
use crate::math::products::Design;
use crate::solver::{Exit, Progress, Report, Watch};

/// Products with the kernel matrix of all rows.
pub(crate) enum Products<'a> {
    Rows(Box<dyn Gram>),
    Linear(Design<'a>),
}

impl<'a> Products<'a> {
    /// Uses rows of the kernel matrix in at most `bytes`, or none for a linear kernel.
    pub fn new(x: MatrixView<'a>, kernel: Kernel, bytes: usize) -> Result<Self> {
        let whole = x.rows().saturating_mul(x.rows()).saturating_mul(size_of::<f32>());
        Ok(match kernel {
            Kernel::Linear => Self::Linear(Design::new(x, (0..x.rows() as u32).collect(), false)),
            Kernel::Precomputed => Self::Rows(Box::new(MatrixGram::new(x)?)),
            kernel if whole <= bytes => Self::Rows(Box::new(MatrixGram::computed(&Packed::new(x, kernel)?))),
            kernel => Self::Rows(Box::new(KernelGram::new(Packed::new(x, kernel)?, bytes)?)),
        })
    }

    /// K·v.
    fn times(&mut self, v: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; v.len()];
        match self {
            Self::Rows(gram) => {
                let rows: Vec<usize> = (0..v.len()).filter(|&i| v[i] != 0.0).collect();
                let coef: Vec<f64> = rows.iter().map(|&i| v[i]).collect();
                gram.accumulate(&rows, &coef, &mut out);
            }
            Self::Linear(design) => {
                let all: Vec<u32> = (0..v.len() as u32).collect();
                let mut w = vec![0.0; design.dim()];
                design.add_transposed(&all, |i| v[i], &mut w);
                design.mul(&w, &mut out);
            }
        }
        out
    }

    fn evaluations(&self) -> u64 {
        match self {
            Self::Rows(gram) => gram.evaluations(),
            Self::Linear(_) => 0,
        }
    }
}

/// Number of consecutive steps without a changed label that end the loop.
pub const STABLE_STEPS: u64 = 10;
/// Maximum number of changes of the violating set.
const MAX_ROUNDS: usize = 30;

/// The matrix M of a quadratic penalty ½fᵀMf, given by its products only.
pub(crate) trait QuadraticPenalty {
    /// M·f.
    fn apply(&self, f: &[f64]) -> Vec<f64>;

    /// fᵀMf.
    fn of(&self, f: &[f64]) -> f64 {
        dot(f, &self.apply(f))
    }
}

/// One problem over all rows.
pub(crate) struct Iterate<'a, 'b> {
    pub products: &'a mut Products<'b>,
    pub penalty: &'a dyn QuadraticPenalty,
    /// γ_I/γ_A.
    pub ratio: f64,
    /// Label −1, 1 or 0 of each row, and its cost.
    pub y: &'a [f64],
    pub cost: &'a [f64],
    pub hinge: bool,
    pub tolerance: f64,
    pub max_steps: Option<u64>,
    /// Whether the loop ends when no label changes (early stopping).
    pub early: bool,
}

/// α, f = Kα and the report.
pub(crate) struct CgSolution {
    pub alpha: Vec<f64>,
    pub outputs: Vec<f64>,
    pub report: Report,
}

impl Iterate<'_, '_> {
    pub fn run(&mut self, watch: &dyn Watch) -> CgSolution {
        let n = self.y.len();
        let (mut alpha, mut f) = (vec![0.0; n], vec![0.0; n]);
        let before = self.products.evaluations();
        let (mut steps, mut exit, mut gap) = (0, Exit::Converged, 0.0);
        let mut active = self.violating(&f);
        for round in 0..MAX_ROUNDS {
            (exit, gap) = self.solve(&active, &mut alpha, &mut f, &mut steps, watch);
            let now = self.violating(&f);
            if exit != Exit::Converged || now == active {
                break;
            }
            if round + 1 == MAX_ROUNDS {
                exit = Exit::Stalled;
            }
            active = now;
        }
        let objective = self.value(&alpha, &f);
        let kernel_evaluations = self.products.evaluations() - before;
        CgSolution { alpha, outputs: f, report: Report { steps, objective, gap, kernel_evaluations, exit } }
    }

    /// Costs of the rows whose loss has curvature at f.
    fn violating(&self, f: &[f64]) -> Vec<f64> {
        let row = |i: usize| {
            if self.y[i] != 0.0 && (!self.hinge || self.y[i] * f[i] < 1.0) { self.cost[i] } else { 0.0 }
        };
        (0..f.len()).map(row).collect()
    }

    /// F(α).
    fn value(&self, alpha: &[f64], f: &[f64]) -> f64 {
        let loss: f64 =
            self.violating(f).iter().enumerate().map(|(i, c)| c * (self.y[i] - f[i]).powi(2)).sum();
        0.5 * (dot(alpha, f) + loss + self.ratio * self.penalty.of(f))
    }

    /// (M + C)·v.
    fn curvature(&self, active: &[f64], v: &[f64]) -> Vec<f64> {
        let mut out = self.penalty.apply(v);
        for ((o, c), v) in out.iter_mut().zip(active).zip(v) {
            *o = self.ratio * *o + c * v;
        }
        out
    }

    /// Solves for a fixed set of violating rows, starting at the given α; returns why it ended and the last relative
    /// residual.
    fn solve(
        &mut self,
        active: &[f64],
        alpha: &mut [f64],
        f: &mut [f64],
        steps: &mut u64,
        watch: &dyn Watch,
    ) -> (Exit, f64) {
        let mut residual = self.curvature(active, f);
        for (i, r) in residual.iter_mut().enumerate() {
            *r = active[i] * self.y[i] - *r - alpha[i];
        }
        let right: Vec<f64> = active.iter().zip(self.y).map(|(c, y)| c * y).collect();
        let length = dot(&right, &self.products.times(&right)).max(f64::MIN_POSITIVE).sqrt();
        let mut image = self.products.times(&residual);
        let mut rho = dot(&residual, &image);
        let (mut search, mut search_image) = (residual.clone(), image.clone());
        let mut stable = 0;
        loop {
            let gap = rho.max(0.0).sqrt() / length;
            if gap <= self.tolerance || (self.early && stable >= STABLE_STEPS) {
                return (Exit::Converged, gap);
            }
            if self.max_steps.is_some_and(|max| *steps >= max) {
                return (Exit::Limit, gap);
            }
            if !watch.proceed(&Progress { steps: *steps, violation: gap, tolerance: self.tolerance }) {
                return (Exit::Interrupted, gap);
            }
            let mut product = self.curvature(active, &search_image);
            add(1.0, &search, &mut product);
            let curvature = dot(&search_image, &product);
            if curvature.is_nan() || curvature <= 0.0 {
                return (Exit::Stalled, gap);
            }
            let step = rho / curvature;
            let signs: Vec<bool> = f.iter().map(|v| *v > 0.0).collect();
            add(step, &search, alpha);
            add(step, &search_image, f);
            add(-step, &product, &mut residual);
            stable = if signs.iter().zip(&*f).all(|(s, v)| *s == (*v > 0.0)) { stable + 1 } else { 0 };
            *steps += 1;
            image = self.products.times(&residual);
            let next = dot(&residual, &image);
            let keep = next / rho;
            for k in 0..search.len() {
                search[k] = residual[k] + keep * search[k];
                search_image[k] = image[k] + keep * search_image[k];
            }
            rho = next;
        }
    }
}
