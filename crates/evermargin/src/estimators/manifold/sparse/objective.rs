//! Objectives in terms of outputs: for each problem ½oᵀQo − rᵀo + c over the rows, in addition to ½a|f|².
//!
//! All methods of this folder minimize such a form over a basis, f = Σ βⱼK(xⱼ, ·), with o its values on all rows. With
//! M = L^p of the graph, W the weights of labeled rows and γ_A, γ_I as in (5.1) of Sindhwani 2007, chapter 5:
//!
//! - **plain**: Q = γ_I M + W, r = Wy, the restricted problem (5.2);
//! - **slack** (5.6): outputs may differ from free values f, to which the graph and label terms apply, at the cost ½ν|f
//!   − o|². For a given o the best f solves (A = γ_I M + W + νI) f = Wy + νo; inserting it gives Q = νA⁻¹(γ_I M + W), r
//!   = νA⁻¹Wy for o. This is the direct solution of the slack problem, in a form without the difference νI − ν²A⁻¹. ν →
//!   ∞ gives the plain case;
//! - **decoupled** (section 5.3.3): f alone first, (γ_I M + W)f = Wy, then least squares on all rows: Q = I, r = f,
//!   with γ_A/ν instead of γ_A. It is slack for ν → 0 with constant γ_A/ν.
//!
//! Departure: the source alternates between f and β. The systems with A are solved by conjugate gradients
//! (`solver/newton_cg.rs` on a quadratic); with slack, where every function of a basis requires a solution, A is
//! factored if there are few rows.

use crate::data::Label;
use crate::error::{Error, Result};
use crate::estimators::Targets;
use crate::estimators::manifold::penalty::Penalty;
use crate::math::blas1::{add, dot};
use crate::math::linalg::Cholesky;
use crate::solver::newton_cg::{Objective, newton};
use crate::solver::{Exit, Progress, Stop, Watch};
use rayon::prelude::*;
use std::sync::Arc;

/// Labels and weights of the rows; the weights are shared by all problems.
#[derive(Debug, Clone)]
pub struct LabeledTargets {
    /// Weight of each row; 0 without a label.
    pub weight: Vec<f64>,
    /// −1, 1, or 0 without a label: one vector per problem.
    pub y: Vec<Vec<f64>>,
}

impl LabeledTargets {
    /// The targets of problems that have the same labeled rows with the same weights.
    pub fn of(problems: &[Targets]) -> Result<Self> {
        let weight = |p: &Targets| -> Vec<f64> {
            p.y.iter().zip(&p.cost).map(|(y, c)| if *y == Label::Unknown { 0.0 } else { *c }).collect()
        };
        let weights = problems.first().map(weight).unwrap_or_default();
        if problems.iter().any(|p| weight(p) != weights) {
            return Err(Error::Data(
                "problems that share a basis must have the same labeled rows with the same weights".into(),
            ));
        }
        let sign = |p: &Targets| {
            (0..p.y.len()).map(|i| if weights[i] > 0.0 { p.y[i].sign() } else { 0.0 }).collect()
        };
        let y = problems.iter().map(sign).collect();
        Ok(Self { weight: weights, y })
    }

    /// Wy of each problem.
    fn pull(&self) -> Vec<Vec<f64>> {
        self.y.iter().map(|y| y.iter().zip(&self.weight).map(|(y, w)| w * y).collect()).collect()
    }

    /// ½yᵀWy of each problem.
    fn constant(&self) -> Vec<f64> {
        self.y.iter().zip(self.pull()).map(|(y, wy)| 0.5 * dot(y, &wy)).collect()
    }
}

/// γ_I M + W, and ν if outputs have slack.
#[derive(Debug, Clone)]
pub struct Curvature<'a> {
    weight: Vec<f64>,
    graph: Option<(f64, &'a Penalty)>,
    slack: Option<f64>,
    /// Factorization of A, if it is stored.
    factor: Option<Arc<Cholesky>>,
}

/// Maximum number of rows for which A is factored: 72 MB, twice that during the factorization.
const FACTORED_ROWS: usize = 3000;
/// Number of columns that a thread solves for at a time.
const COLUMNS_PER_TASK: usize = 32;
/// Relative residual to which sparse systems are solved.
const TOLERANCE: f64 = 1e-10;
/// Maximum number of rounds of conjugate gradients on a graph: high powers of a Laplacian are too ill-conditioned for
/// more to help.
const MAX_ROUNDS: u64 = 5;

impl<'a> Curvature<'a> {
    /// The curvature for weighted rows and the variation along a graph; with ν, for outputs with slack.
    pub fn new(weight: Vec<f64>, graph: Option<(f64, &'a Penalty)>, slack: Option<f64>) -> Self {
        let mut out = Self { weight, graph, slack, factor: None };
        if let (Some(nu), true) = (slack, out.weight.len() <= FACTORED_ROWS) {
            out.factor = out.factored(nu).map(Arc::new);
        }
        out
    }

    /// Factorization of S + νI; `None` if rounding makes it indefinite.
    fn factored(&self, nu: f64) -> Option<Cholesky> {
        let n = self.weight.len();
        let mut identity = vec![0.0; n * n];
        identity.iter_mut().step_by(n + 1).for_each(|v| *v = 1.0);
        let mut a = self.smooth(identity, n);
        a.iter_mut().step_by(n + 1).for_each(|v| *v += nu);
        Cholesky::new(a, n).ok()
    }

    /// Q times each column of a row-major matrix; `None` if `watch` ends it.
    pub fn apply(&self, block: Vec<f64>, columns: usize, watch: &dyn Watch) -> Option<Vec<f64>> {
        let Some(nu) = self.slack else { return Some(self.smooth(block, columns)) };
        let mut out = self.smooth(block.clone(), columns);
        let column = |of: &[f64], k: usize| of.iter().skip(k).step_by(columns).copied().collect::<Vec<f64>>();
        if let Some(factor) = &self.factor {
            return watch
                .proceed(&Progress { steps: 0, violation: 1.0, tolerance: TOLERANCE })
                .then(|| direct(factor, &out, columns, nu));
        }
        let solve = |k: usize| {
            let right: Vec<f64> = column(&out, k).iter().map(|v| nu * v).collect();
            // bᵀA⁻¹b ≤ φᵀb for b = νSφ, A = S + νI
            let bound = 0.5 * dot(&column(&block, k), &right);
            self.solve(right, bound, watch)
        };
        let solved: Option<Vec<Vec<f64>>> = (0..columns).into_par_iter().map(solve).collect();
        for (k, solved) in solved?.iter().enumerate() {
            out.iter_mut().skip(k).step_by(columns).zip(solved).for_each(|(o, v)| *o = *v);
        }
        Some(out)
    }

    /// Whether Q is γ_I M + W with the M of this graph instance.
    pub fn is_along(&self, penalty: &Penalty) -> bool {
        self.slack.is_none() && self.graph.is_some_and(|(_, own)| std::ptr::eq(own, penalty))
    }

    /// γ_I Mφ + Wφ of a column whose Mφ is given.
    pub fn with(&self, column: &[f64], image: &[f64]) -> Vec<f64> {
        let intrinsic = self.graph.map_or(0.0, |(i, _)| i);
        let one = |((v, m), w): ((&f64, &f64), &f64)| intrinsic * m + w * v;
        column.iter().zip(image).zip(&self.weight).map(one).collect()
    }

    /// S = γ_I M + W times each column.
    fn smooth(&self, block: Vec<f64>, columns: usize) -> Vec<f64> {
        let columns = columns.max(1);
        let Some((intrinsic, penalty)) = self.graph else {
            let mut out = block;
            for (row, w) in out.chunks_exact_mut(columns).zip(&self.weight) {
                row.iter_mut().for_each(|v| *v *= w);
            }
            return out;
        };
        let mut out = penalty.apply_columns(block.clone(), columns);
        for ((out, given), w) in
            out.chunks_exact_mut(columns).zip(block.chunks_exact(columns)).zip(&self.weight)
        {
            out.iter_mut().zip(given).for_each(|(o, v)| *o = intrinsic * *o + w * v);
        }
        out
    }

    /// A⁻¹b by conjugate gradients; without slack A = S, with b in its range. `bound` ≥ ½bᵀA⁻¹b. `None` if `watch` ends
    /// it.
    fn solve(&self, right: Vec<f64>, bound: f64, watch: &dyn Watch) -> Option<Vec<f64>> {
        if let Some(factor) = &self.factor {
            let mut f = right;
            factor.solve(&mut f);
            return Some(f);
        }
        let n = right.len();
        let shift = self.slack.unwrap_or(0.0);
        let graph = self.graph.map_or(vec![0.0; n], |(i, p)| p.diagonal().iter().map(|d| i * d).collect());
        let sum = |(d, w): (&f64, &f64)| Some(d + w + shift).filter(|s| *s > 0.0).unwrap_or(1.0);
        let scale: Vec<f64> = graph.iter().zip(&self.weight).map(sum).collect();
        let size = scale.iter().fold(f64::MIN_POSITIVE, |a, s| a.max(*s));
        let constant = bound + 0.5 * dot(&right, &right) / size;
        let mut field = Field { curvature: self, shift, right, constant, scale, size };
        let mut f = vec![0.0; n];
        let report =
            newton(&mut field, &mut f, Stop { tolerance: TOLERANCE, max_steps: Some(MAX_ROUNDS) }, watch);
        (report.exit != Exit::Interrupted).then_some(f)
    }
}

/// νA⁻¹ times each column of a row-major matrix.
fn direct(factor: &Cholesky, block: &[f64], columns: usize, nu: f64) -> Vec<f64> {
    let n = block.len() / columns.max(1);
    let mut transposed: Vec<f64> =
        (0..columns).flat_map(|k| block.iter().skip(k).step_by(columns).map(|v| nu * v)).collect();
    transposed.par_chunks_mut((COLUMNS_PER_TASK * n).max(1)).for_each(|some| factor.solve(some));
    (0..n).flat_map(|i| transposed.iter().skip(i).step_by(n)).copied().collect()
}

/// ½fᵀAf − bᵀf + constant. Because its modulus is `size`, of the order of A, the gap of the solver is a relative
/// residual.
struct Field<'c> {
    curvature: &'c Curvature<'c>,
    shift: f64,
    right: Vec<f64>,
    constant: f64,
    scale: Vec<f64>,
    size: f64,
}

impl Objective for Field<'_> {
    fn dim(&self) -> usize {
        self.right.len()
    }

    fn value(&mut self, f: &[f64]) -> f64 {
        let mut image = vec![0.0; f.len()];
        self.hess_vec(f, &mut image);
        0.5 * dot(f, &image) - dot(&self.right, f) + self.constant
    }

    fn gradient(&mut self, f: &[f64], out: &mut [f64]) {
        self.hess_vec(f, out);
        out.iter_mut().zip(&self.right).for_each(|(o, b)| *o -= b);
    }

    fn hess_vec(&mut self, v: &[f64], out: &mut [f64]) {
        out.copy_from_slice(&self.curvature.smooth(v.to_vec(), 1));
        add(self.shift, v, out);
    }

    fn precond(&mut self, diagonal: &mut [f64]) {
        diagonal.copy_from_slice(&self.scale);
    }

    fn modulus(&self) -> f64 {
        self.size
    }

    fn is_quadratic(&self) -> bool {
        true
    }
}

/// The whole objective: ½a|f|² + ½oᵀQo − rᵀo + c, summed over problems.
#[derive(Debug, Clone)]
pub struct SparseObjective<'a> {
    /// Weight a of the norm.
    pub ambient: f64,
    /// Q.
    pub curvature: Curvature<'a>,
    /// r, one vector per problem.
    pub right: Vec<Vec<f64>>,
    /// c, one per problem: the objective of the function 0.
    pub constant: Vec<f64>,
}

impl<'a> SparseObjective<'a> {
    /// Outputs without slack, with γ_A and γ_I in `gamma`; without a graph, the labels alone.
    pub fn plain([a, i]: [f64; 2], known: &LabeledTargets, penalty: Option<&'a Penalty>) -> Self {
        let curvature = Curvature::new(known.weight.clone(), penalty.map(|p| (i, p)), None);
        Self { ambient: a, curvature, right: known.pull(), constant: known.constant() }
    }

    /// Outputs with slack; `None` if `watch` ends the solutions.
    pub fn slack(
        [a, i]: [f64; 2],
        nu: f64,
        known: &LabeledTargets,
        penalty: &'a Penalty,
        watch: &dyn Watch,
    ) -> Option<Self> {
        let curvature = Curvature::new(known.weight.clone(), Some((i, penalty)), Some(nu));
        let (mut right, mut constant) = (Vec::new(), Vec::new());
        for (pull, c) in known.pull().into_iter().zip(known.constant()) {
            // (Wy)ᵀA⁻¹Wy ≤ yᵀWy
            let field = curvature.solve(pull.clone(), c, watch)?;
            constant.push((c - 0.5 * dot(&pull, &field)).max(0.0));
            right.push(field.iter().map(|f| nu * f).collect());
        }
        Some(Self { ambient: a, curvature, right, constant })
    }

    /// Least squares on given outputs `fields`, with `ambient` = γ_A/ν.
    pub fn decoupled(ambient: f64, fields: Vec<Vec<f64>>) -> Self {
        let rows = fields.first().map_or(0, Vec::len);
        let constant = fields.iter().map(|f| 0.5 * dot(f, f)).collect();
        Self { ambient, curvature: Curvature::new(vec![1.0; rows], None, None), right: fields, constant }
    }
}

/// Graph transduction: (γ_I M + W)f = Wy of each problem; a component of the graph without a label gets 0. `None` if
/// `watch` ends it.
pub fn transduce(
    intrinsic: f64,
    known: &LabeledTargets,
    penalty: &Penalty,
    watch: &dyn Watch,
) -> Option<Vec<Vec<f64>>> {
    let curvature = Curvature::new(known.weight.clone(), Some((intrinsic, penalty)), None);
    known.pull().into_iter().zip(known.constant()).map(|(pull, c)| curvature.solve(pull, c, watch)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datasets::{GenerateParams, generate};
    use crate::estimators::manifold::penalty::PenaltyParams;

    /// More rows than [`FACTORED_ROWS`] are solved by conjugate gradients.
    #[test]
    fn factorization_and_conjugate_gradients_agree() {
        let (x, _) = generate("two-moons", &GenerateParams { rows: 60, ..Default::default() }).unwrap();
        let penalty =
            PenaltyParams { power: 2, ..Default::default() }.penalty(x.view(), &()).unwrap().unwrap();
        let weight: Vec<f64> = (0..60).map(|i| f64::from(u8::from(i % 7 == 0))).collect();
        let factored = Curvature::new(weight, Some((0.3, &penalty)), Some(0.05));
        assert!(factored.factor.is_some());
        let sparse = Curvature { factor: None, ..factored.clone() };
        let block: Vec<f64> = (0..120).map(|i| f64::from(i).sin()).collect();
        let [a, b] = [&factored, &sparse].map(|c| c.apply(block.clone(), 2, &()).unwrap());
        let size = a.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-8 * size), "{a:?} {b:?}");
        // νA⁻¹Sφ = ν(φ − νA⁻¹φ): the form with a difference
        let column: Vec<f64> = block.iter().step_by(2).copied().collect();
        let solved = factored.solve(column.clone(), 1.0, &()).unwrap();
        for (i, v) in a.iter().step_by(2).enumerate() {
            assert!((v - 0.05 * (column[i] - 0.05 * solved[i])).abs() < 1e-8 * size);
        }
    }
}
