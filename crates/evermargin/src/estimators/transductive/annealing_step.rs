//! The step over f of deterministic annealing, for each loss: the minimum of ½|f|² + Σ cᵢ[pᵢV(fᵢ) + (1−pᵢ)V(−fᵢ)] for
//! given probabilities p, started from the previous minimum.

use super::s3vm::Problem;
use crate::estimators::supervised::risk::{Loss, Risk};
use crate::kernel::gram::MirroredGram;
use crate::math::blas1::dot;
use crate::math::linalg::Cholesky;
use crate::math::products::Design;
use crate::solver::newton_cg::newton;
use crate::solver::smo::Dual;
use crate::solver::{Exit, Progress, Report, Stop, Watch};
use serde::{Deserialize, Serialize};

/// The loss V of a margin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Margin {
    /// max(0, 1−t)
    L1,
    /// max(0, 1−t)²/2
    L2,
    /// (1−t)²/2
    Square,
}

impl Margin {
    /// V(t), V'(t) and V''(t).
    pub fn at(self, t: f64) -> [f64; 3] {
        let slack = 1.0 - t;
        match self {
            Self::Square => [0.5 * slack * slack, -slack, 1.0],
            _ if slack <= 0.0 => [0.0; 3],
            Self::L1 => [slack, -1.0, 0.0],
            Self::L2 => [0.5 * slack * slack, -slack, 1.0],
        }
    }
}

/// c[pV(o) + (1−p)V(−o)]; given labels have probability 0 or 1.
pub(crate) struct Mixture<'m> {
    pub margin: Margin,
    pub cost: &'m [f64],
    pub p: &'m [f64],
}

impl Loss for Mixture<'_> {
    fn at(&self, i: usize, o: f64) -> [f64; 3] {
        let (c, p) = (self.cost[i], self.p[i]);
        let ([a, da, dda], [b, db, ddb]) = (self.margin.at(o), self.margin.at(-o));
        let q = 1.0 - p;
        // 0·∞ cannot occur: losses of finite outputs are finite
        [c * (p * a + q * b), c * (p * da - q * db), c * (p * dda + q * ddb)]
    }
}

/// Minimization over f for given probabilities of all rows, started from the previous minimum.
pub(crate) trait Minimum {
    fn minimize(&mut self, p: &[f64], watch: &dyn Watch) -> Report;
    /// f of all rows.
    fn outputs(&self) -> &[f64];
    /// |f|²
    fn norm2(&self) -> f64;
    /// Coefficients of all rows.
    fn alpha(&self) -> Vec<f64>;
}

/// Minimization for `l2`, and for `square` with a linear kernel.
pub(crate) struct Smooth<'s> {
    design: Design<'s>,
    margin: Margin,
    cost: &'s [f64],
    stop: Stop,
    w: Vec<f64>,
    outputs: Vec<f64>,
    alpha: Vec<f64>,
}

impl<'s> Smooth<'s> {
    pub fn new(design: Design<'s>, margin: Margin, cost: &'s [f64], tolerance: f64) -> Self {
        let (w, n) = (vec![0.0; design.dim()], cost.len());
        let stop = Stop { tolerance, max_steps: None };
        Self { design, margin, cost, stop, w, outputs: vec![0.0; n], alpha: vec![0.0; n] }
    }
}

impl Minimum for Smooth<'_> {
    fn minimize(&mut self, p: &[f64], watch: &dyn Watch) -> Report {
        let loss = Mixture { margin: self.margin, cost: self.cost, p };
        let mut risk = Risk::new(&self.design, &loss);
        let report = newton(&mut risk, &mut self.w, self.stop, watch);
        self.outputs.copy_from_slice(risk.outputs());
        for (i, (a, o)) in self.alpha.iter_mut().zip(&self.outputs).enumerate() {
            *a = -loss.at(i, *o)[1];
        }
        report
    }

    fn outputs(&self) -> &[f64] {
        &self.outputs
    }

    fn norm2(&self) -> f64 {
        dot(&self.w, &self.w)
    }

    fn alpha(&self) -> Vec<f64> {
        self.alpha.clone()
    }
}

/// Minimization for `square`: (K + C⁻¹)α = t, o = t − C⁻¹α.
pub(crate) struct LeastSquares<'s> {
    system: &'s Cholesky,
    cost: &'s [f64],
    outputs: Vec<f64>,
    alpha: Vec<f64>,
}

impl<'s> LeastSquares<'s> {
    /// `system` is K + C⁻¹.
    pub fn new(system: &'s Cholesky, cost: &'s [f64]) -> Self {
        Self { system, cost, outputs: vec![0.0; cost.len()], alpha: vec![0.0; cost.len()] }
    }
}

impl Minimum for LeastSquares<'_> {
    fn minimize(&mut self, p: &[f64], watch: &dyn Watch) -> Report {
        for ((a, p), c) in self.alpha.iter_mut().zip(p).zip(self.cost) {
            *a = if *c > 0.0 { 2.0 * p - 1.0 } else { 0.0 };
        }
        self.system.solve(&mut self.alpha);
        for (((o, a), p), c) in self.outputs.iter_mut().zip(&mut self.alpha).zip(p).zip(self.cost) {
            *a = if *c > 0.0 { *a } else { 0.0 };
            *o = if *c > 0.0 { 2.0 * p - 1.0 - *a / c } else { 0.0 };
        }
        let proceed = watch.proceed(&Progress { steps: 1, violation: 0.0, tolerance: 0.0 });
        let exit = if proceed { Exit::Converged } else { Exit::Interrupted };
        Report { steps: 1, objective: 0.0, gap: 0.0, kernel_evaluations: 0, exit }
    }

    fn outputs(&self) -> &[f64] {
        &self.outputs
    }

    fn norm2(&self) -> f64 {
        dot(&self.alpha, &self.outputs)
    }

    fn alpha(&self) -> Vec<f64> {
        self.alpha.clone()
    }
}

/// Minimization for `l1`: one variable per labeled row, two per unlabeled row.
pub(crate) struct Hinge<'s> {
    gram: MirroredGram,
    dual: Dual,
    /// Sample and label of each variable.
    variables: Vec<(usize, f64)>,
    cost: &'s [f64],
    stop: Stop,
    outputs: Vec<f64>,
}

/// Sample and label of the variables of a problem in which unlabeled rows have both labels.
pub(crate) fn both_sides(problem: &Problem) -> Vec<(usize, f64)> {
    let known = (0..problem.y.len()).filter(|&i| problem.y[i] != 0.0).map(|i| (i, problem.y[i]));
    let open = problem.open.iter().flat_map(|&i| [(i, 1.0), (i, -1.0)]);
    known.chain(open).collect()
}

impl<'s> Hinge<'s> {
    pub fn new(k: &[f64], problem: &'s Problem, tolerance: f64) -> Self {
        let variables = both_sides(problem);
        let of: Vec<usize> = variables.iter().map(|v| v.0).collect();
        let zero = vec![0.0; of.len()];
        let target = variables.iter().map(|v| v.1).collect();
        Self {
            gram: MirroredGram::new(k, problem.y.len(), of),
            dual: Dual::new(target, zero.clone(), zero).without_bias(),
            variables,
            cost: &problem.cost,
            stop: Stop { tolerance, max_steps: Some(10_000_000) },
            outputs: vec![0.0; problem.y.len()],
        }
    }
}

impl Minimum for Hinge<'_> {
    fn minimize(&mut self, p: &[f64], watch: &dyn Watch) -> Report {
        let bound = |&(i, side): &(usize, f64)| {
            if side > 0.0 { (0.0, self.cost[i] * p[i]) } else { (-self.cost[i] * (1.0 - p[i]), 0.0) }
        };
        let bounds: Vec<(f64, f64)> = self.variables.iter().map(bound).collect();
        self.dual.move_bounds(&mut self.gram, &bounds);
        let report = self.dual.run(&mut self.gram, self.stop, watch);
        for (&(i, _), o) in self.variables.iter().zip(self.dual.decisions()) {
            self.outputs[i] = o;
        }
        report
    }

    fn outputs(&self) -> &[f64] {
        &self.outputs
    }

    fn norm2(&self) -> f64 {
        self.variables.iter().zip(self.dual.alpha()).map(|(v, a)| a * self.outputs[v.0]).sum()
    }

    fn alpha(&self) -> Vec<f64> {
        let mut alpha = vec![0.0; self.outputs.len()];
        self.variables.iter().zip(self.dual.alpha()).for_each(|(v, a)| alpha[v.0] += a);
        alpha
    }
}
