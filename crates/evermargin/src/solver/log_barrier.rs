//! Dual problem of one batch and one output, with the hinge loss or with a log barrier.
//!
//! Problem: max tᵀα − ½αᵀKα over signed α, 0 ≤ yᵢαᵢ ≤ Cᵢ, where t = y − (output of the existing model). This is the
//! problem of [`crate::solver::smo`] with a shifted target, and is solved there. With the log barrier, Σ ln(1 −
//! yᵢαᵢ/Cᵢ) is added and the upper bound is dropped: corollary 1.2 of Hou & Hero 2018, whose primal loss is φ(d) = Cd −
//! 1 − ln(Cd) for Cd > 1, d = 1 − y·f, else 0.
//!
//! The barrier problem has its own solver because [`crate::solver::smo`] handles a quadratic in a box only. Here the
//! optimum of a single variable has a closed form (a root of a quadratic equation), and that of a pair along Σα = 0 has
//! none. So each variable is moved to its optimum in turn, and the multiplier of Σα = 0, which is the constant b, is
//! found by bisection: Σα decreases as b increases.

use crate::data::Matrix;
use crate::error::{Error, Result};
use crate::kernel::gram::MatrixGram;
use crate::math::blas1::dot;
use crate::solver::smo::Dual;
use crate::solver::{Exit, Progress, Report, Stop, Watch};
use serde::{Deserialize, Serialize};

/// Loss of a violated margin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Loss {
    /// C·max(0, 1 − yf): each multiplier is bounded by C.
    #[default]
    Box,
    /// Cd − 1 − ln(Cd) for d = 1 − yf ≥ 1/C: the prior on margins of Hou & Hero 2018. Samples with C ≤ 1 have no
    /// effect.
    Barrier,
}

/// Kernel matrix of the labeled rows of a batch, in the precision that the loss needs.
#[derive(Debug)]
pub(crate) struct Rows {
    n: usize,
    kernel: Vec<f64>,
    single: Option<MatrixGram>,
}

/// Problem of one output: labels y (−1, 0 for absent, 1), targets t and costs C.
#[derive(Debug)]
pub(crate) struct Problem {
    pub y: Vec<f64>,
    pub target: Vec<f64>,
    pub cost: Vec<f64>,
}

/// Signed α, and the constant b if it is free and the batch determines it.
#[derive(Debug)]
pub(crate) struct DualSolution {
    pub alpha: Vec<f64>,
    pub bias: Option<f64>,
    pub report: Report,
}

/// Largest absolute kernel value; larger ones leave the range of single precision.
const MAX_KERNEL: f64 = 1e30;
/// Maximum number of passes over the variables of a barrier problem.
const MAX_PASSES: u64 = 20_000;
/// Number of bisection steps for the constant b.
const BISECTION_STEPS: usize = 60;

impl Rows {
    /// Takes the n × n matrix K, to be used with one loss.
    pub fn new(kernel: Vec<f64>, n: usize, loss: Loss) -> Result<Self> {
        if kernel.iter().any(|k| k.is_nan() || k.abs() > MAX_KERNEL) {
            return Err(Error::Data("kernel values of a batch are too large; scale the data".into()));
        }
        let matrix = Matrix::Dense { values: kernel, rows: n, cols: n };
        let single = if loss == Loss::Box { Some(MatrixGram::new(matrix.view())?) } else { None };
        let Matrix::Dense { values: kernel, .. } = matrix else { return Err(Error::Data(String::new())) };
        Ok(Self { n, kernel, single })
    }

    /// Solves a problem; with `free`, the constant b is free and Σα = 0.
    pub fn solve(&self, problem: Problem, free: bool, tolerance: f64, watch: &dyn Watch) -> DualSolution {
        let has = |sign: f64| problem.y.iter().zip(&problem.cost).any(|(y, c)| y * sign > 0.0 && *c > 0.0);
        if free && !(has(1.0) && has(-1.0)) {
            // with a single class, Σα = 0 implies α = 0
            let report =
                Report { steps: 0, objective: 0.0, gap: 0.0, kernel_evaluations: 0, exit: Exit::Converged };
            return DualSolution { alpha: vec![0.0; self.n], bias: None, report };
        }
        match &self.single {
            Some(gram) => solve_box(gram.clone(), problem, free, tolerance, watch),
            None => BarrierSolver::new(self, &problem, tolerance, watch).solve(free),
        }
    }
}

fn solve_box(
    mut gram: MatrixGram,
    problem: Problem,
    free: bool,
    tolerance: f64,
    watch: &dyn Watch,
) -> DualSolution {
    let Problem { y, target, cost } = problem;
    let bounds = |sign: f64| -> Vec<f64> {
        y.iter().zip(&cost).map(|(y, c)| if y * sign > 0.0 { sign * c } else { 0.0 }).collect()
    };
    let dual = Dual::new(target, bounds(-1.0), bounds(1.0));
    let mut dual = if free { dual } else { dual.without_bias() };
    // far more than any scaled data needs
    let steps = 200_000.max(1000 * y.len() as u64);
    let report = dual.run(&mut gram, Stop { tolerance, max_steps: Some(steps) }, watch);
    DualSolution { alpha: dual.alpha().to_vec(), bias: free.then(|| dual.bias()), report }
}

/// State while solving a barrier problem. Invariant: `gradient` = t − b − Kα.
struct BarrierSolver<'a> {
    rows: &'a Rows,
    problem: &'a Problem,
    tolerance: f64,
    watch: &'a dyn Watch,
    alpha: Vec<f64>,
    gradient: Vec<f64>,
    bias: f64,
    passes: u64,
    exit: Exit,
}

impl<'a> BarrierSolver<'a> {
    fn new(rows: &'a Rows, problem: &'a Problem, tolerance: f64, watch: &'a dyn Watch) -> Self {
        let (alpha, gradient) = (vec![0.0; rows.n], problem.target.clone());
        Self { rows, problem, tolerance, watch, alpha, gradient, bias: 0.0, passes: 0, exit: Exit::Converged }
    }

    fn solve(mut self, free: bool) -> DualSolution {
        if free {
            let labeled = || self.problem.target.iter().zip(&self.problem.y).filter(|(_, y)| **y != 0.0);
            let mut low = labeled().fold(f64::INFINITY, |a, (t, _)| a.min(*t));
            let mut high = labeled().fold(f64::NEG_INFINITY, |a, (t, _)| a.max(*t));
            for _ in 0..BISECTION_STEPS {
                self.set_bias(f64::midpoint(low, high));
                self.run();
                if self.alpha.iter().sum::<f64>() > 0.0 { low = self.bias } else { high = self.bias }
            }
        } else {
            self.run();
        }
        let report = Report {
            steps: self.passes * self.rows.n as u64,
            objective: -self.value(),
            gap: self.loss() - self.value(),
            kernel_evaluations: 0,
            exit: self.exit,
        };
        let moved = self.alpha.iter().any(|a| *a != 0.0);
        DualSolution { bias: (free && moved).then_some(self.bias), alpha: self.alpha, report }
    }

    fn set_bias(&mut self, bias: f64) {
        let delta = self.bias - bias;
        self.gradient.iter_mut().for_each(|g| *g += delta);
        self.bias = bias;
    }

    /// Repeats passes over all variables until no gradient exceeds the tolerance.
    fn run(&mut self) {
        loop {
            let violation = self.pass();
            self.passes += 1;
            let progress = Progress { steps: self.passes, violation, tolerance: self.tolerance };
            self.exit = if violation <= self.tolerance {
                Exit::Converged
            } else if !self.watch.proceed(&progress) {
                Exit::Interrupted
            } else if self.passes >= MAX_PASSES {
                Exit::Limit
            } else {
                continue;
            };
            return;
        }
    }

    /// Moves each variable to its optimum; returns the largest violation found.
    fn pass(&mut self) -> f64 {
        let n = self.rows.n;
        let mut violation: f64 = 0.0;
        for i in (0..n).filter(|&i| self.problem.y[i] != 0.0 && self.problem.cost[i] > 0.0) {
            let (y, c, row) =
                (self.problem.y[i], self.problem.cost[i], &self.rows.kernel[i * n..(i + 1) * n]);
            let (old, slope) = (y * self.alpha[i], y * self.gradient[i]);
            let full = slope - 1.0 / (c - old);
            violation = violation.max(if old > 0.0 { full.abs() } else { full });
            let step = y * (optimum(slope + row[i] * old, row[i], c) - old);
            if step != 0.0 {
                self.alpha[i] += step;
                self.gradient.iter_mut().zip(row).for_each(|(g, k)| *g -= step * k);
            }
        }
        violation
    }

    /// ½αᵀKα.
    fn energy(&self) -> f64 {
        let outputs: Vec<f64> = (0..self.rows.n).map(|i| self.output(i)).collect();
        0.5 * dot(&self.alpha, &outputs)
    }

    /// (Kα)ᵢ
    fn output(&self, i: usize) -> f64 {
        self.problem.target[i] - self.bias - self.gradient[i]
    }

    /// Dual objective.
    fn value(&self) -> f64 {
        let parts = self.problem.y.iter().zip(&self.problem.cost).zip(&self.alpha);
        let logs: f64 = parts.filter(|((_, c), _)| **c > 0.0).map(|((y, c), a)| (-y * a / c).ln_1p()).sum();
        dot(&self.problem.target, &self.alpha) - self.energy() + logs
    }

    /// Primal objective.
    fn loss(&self) -> f64 {
        let parts = self.problem.y.iter().zip(&self.problem.cost).zip(&self.gradient);
        let loss = |((y, c), g): ((&f64, &f64), &f64)| {
            let scaled = c * y * g;
            if scaled > 1.0 { scaled - 1.0 - scaled.ln() } else { 0.0 }
        };
        self.energy() + parts.map(loss).sum::<f64>()
    }
}

/// Maximizer of a·d − ½κa² + ln(1 − a/C) over a ≥ 0: the smaller root of κa² − (d + κC)a + Cd − 1, in a form without
/// cancellation that allows κ = 0.
fn optimum(d: f64, kappa: f64, c: f64) -> f64 {
    if c * d <= 1.0 {
        return 0.0;
    }
    let (sum, difference) = (d + kappa * c, d - kappa * c);
    2.0 * (c * d - 1.0) / (sum + (difference * difference + 4.0 * kappa).sqrt())
}
