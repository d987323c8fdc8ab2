//! The joint space of several views with a quadratic form that couples their functions.
//!
//! On the rows fᵥ = Rᵥwᵥ ([`LandmarkSpace`]), |fᵥ|² = |wᵥ|². With the weights stacked as w = (w₁, w₂, …), all regularizers of
//! chapter 4 of Sindhwani 2007 have the form wᵀDw:
//!
//! wᵀDw = Σᵥ (ρᵥ|fᵥ|² + wᵥᵀQᵥwᵥ) + κ Σ_{u<v} Σᵢ cᵢ(f_u(xᵢ) − fᵥ(xᵢ))²,
//!
//! where Qᵥ is a quadratic form of view v and cᵢ the weight of row i. The disagreement is the sum over all pairs of views.
//! With D = CCᵀ, fᵥ(xᵢ) is the inner product of C⁻¹(0, …, rᵥ(xᵢ), …, 0) with Cᵀw, and Σᵥ fᵥ(xᵢ) that of
//! C⁻¹(r₁(xᵢ), r₂(xᵢ), …) with Cᵀw. This leaves a supervised problem on the kernel matrix of these vectors. For the sum
//! of two views that matrix is the co-regularization kernel (4.3); no matrix is inverted explicitly.
//!
//! With centering (section 4.2, as HKH), the weighted mean r̄ᵥ is subtracted from rᵥ(x), so that the outputs of every view
//! have mean 0; fᵥ then has the intercept −r̄ᵥ·wᵥ.

use crate::data::Matrix;
use crate::error::Result;
use crate::estimators::manifold::deformed_kernel::products;
use crate::estimators::manifold::landmark_space::LandmarkSpace;
use crate::math::blas1::{add, dot};
use crate::math::linalg::{Cholesky, Lower, symmetric_product};

/// The rows in the joint space of all views.
#[derive(Debug)]
pub struct CoupledViews {
    /// Features of the rows, n × m, row-major, with the views one after the other.
    features: Vec<f64>,
    rows: usize,
    /// First column of each view, and m.
    start: Vec<usize>,
    /// r̄ of all views; 0 without centering.
    mean: Vec<f64>,
}

/// A row in one view, or in the sum of all views.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// Index of the row.
    pub row: usize,
    /// Index of the view; `None` for the sum.
    pub view: Option<usize>,
}

/// Terms of the quadratic form D.
#[derive(Debug)]
pub struct Form<'a> {
    /// ρᵥ, the weight of |fᵥ|².
    pub ridge: Vec<f64>,
    /// Qᵥ (mᵥ × mᵥ, row-major) with a factor; `None` means 0.
    pub along: Vec<Option<(f64, Vec<f64>)>>,
    /// κ, the weight of the disagreement.
    pub agreement: f64,
    /// cᵢ, the weights of the rows.
    pub cost: &'a [f64],
}

impl CoupledViews {
    /// The joint space of spaces over the same rows. `center` holds the weights of the mean that is subtracted.
    pub fn new(spans: &[LandmarkSpace], center: Option<&[f64]>) -> Self {
        let rows = spans.first().map_or(0, LandmarkSpace::rows);
        let mut start = vec![0];
        spans.iter().for_each(|s| start.push(start[start.len() - 1] + s.dim()));
        let m = start[spans.len()];
        let mut features = Vec::with_capacity(rows * m);
        (0..rows).for_each(|i| spans.iter().for_each(|s| features.extend_from_slice(s.row(i))));
        let mut mean = vec![0.0; m];
        if let Some(weight) = center {
            let total: f64 = weight.iter().sum();
            for (row, weight) in features.chunks_exact(m.max(1)).zip(weight) {
                add(weight / total, row, &mut mean);
            }
            features.chunks_exact_mut(m.max(1)).for_each(|row| add(-1.0, &mean, row));
        }
        Self { features, rows, start, mean }
    }

    /// Total dimension m of all spaces.
    pub fn dim(&self) -> usize {
        self.mean.len()
    }

    /// Number of views.
    pub fn views(&self) -> usize {
        self.start.len() - 1
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns of a view.
    fn block(&self, view: usize) -> std::ops::Range<usize> {
        self.start[view]..self.start[view + 1]
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.features[i * self.dim()..(i + 1) * self.dim()]
    }

    /// The matrix D, row-major.
    pub fn form(&self, form: &Form<'_>) -> Vec<f64> {
        let m = self.dim();
        let mut d =
            if form.agreement > 0.0 && self.views() > 1 { self.disagreement(form) } else { vec![0.0; m * m] };
        for (view, along) in form.along.iter().enumerate() {
            let block = self.block(view);
            if let Some((factor, q)) = along {
                for (i, q) in block.clone().zip(q.chunks_exact(block.len().max(1))) {
                    add(*factor, q, &mut d[i * m + block.start..i * m + block.end]);
                }
            }
            block.for_each(|i| d[i * m + i] += form.ridge[view]);
        }
        d
    }

    /// κ Σ_{u<v} (R_u, −R_v)ᵀdiag(c)(R_u, −R_v): products of all pairs of views, with the sign changed outside the diagonal
    /// blocks.
    fn disagreement(&self, form: &Form<'_>) -> Vec<f64> {
        let m = self.dim();
        let mut weighted = self.features.clone();
        for (row, cost) in weighted.chunks_exact_mut(m.max(1)).zip(form.cost) {
            let root = cost.sqrt();
            row.iter_mut().for_each(|v| *v *= root);
        }
        let mut d = symmetric_product(&weighted, &weighted, m);
        let others = form.agreement * (self.views() - 1) as f64;
        for view in 0..self.views() {
            let block = self.block(view);
            for i in block.clone() {
                for (j, v) in d[i * m..(i + 1) * m].iter_mut().enumerate() {
                    *v *= if block.contains(&j) { others } else { -form.agreement };
                }
            }
        }
        d
    }

    /// The joint space with the inner product of D.
    pub fn coupled(&self, form: &Form<'_>) -> Result<Coupled<'_>> {
        let factor = Cholesky::new(self.form(form), self.dim())?.lower();
        Ok(Coupled { stack: self, factor })
    }

    /// Adds `a` times the features of a sample.
    fn add_sample(&self, sample: Sample, a: f64, out: &mut [f64]) {
        let block = sample.view.map_or(0..self.dim(), |v| self.block(v));
        add(a, &self.row(sample.row)[block.clone()], &mut out[block]);
    }

    /// wᵥ of each view, and the intercepts −r̄ᵥ·wᵥ that result from centering.
    pub fn parts(&self, w: &[f64]) -> (Vec<Vec<f64>>, Vec<f64>) {
        let part = |v: usize| (w[self.block(v)].to_vec(), -dot(&self.mean[self.block(v)], &w[self.block(v)]));
        (0..self.views()).map(part).unzip()
    }

    /// Outputs of one view on all rows.
    pub fn outputs(&self, view: usize, w: &[f64]) -> Vec<f64> {
        let block = self.block(view);
        (0..self.rows).map(|i| dot(&self.row(i)[block.clone()], &w[block.clone()])).collect()
    }
}

/// The joint space with the inner product of D.
#[derive(Debug)]
pub struct Coupled<'s> {
    stack: &'s CoupledViews,
    factor: Lower,
}

impl Coupled<'_> {
    /// Kernel matrix of the given samples.
    pub fn gram(&self, samples: &[Sample]) -> Result<Matrix> {
        let m = self.stack.dim();
        let mut features = vec![0.0; samples.len() * m];
        for (sample, out) in samples.iter().zip(features.chunks_exact_mut(m.max(1))) {
            self.stack.add_sample(*sample, 1.0, out);
        }
        self.factor.solve_rows(&mut features);
        products(&features, samples.len(), m)
    }

    /// Weights w of the function Σ aₖK(sample k, ·).
    pub fn function(&self, samples: &[Sample], a: &[f64]) -> Vec<f64> {
        let mut w = vec![0.0; self.stack.dim()];
        for (sample, a) in samples.iter().zip(a).filter(|(_, a)| **a != 0.0) {
            self.stack.add_sample(*sample, *a, &mut w);
        }
        self.factor.solve_rows(&mut w);
        self.factor.solve_transposed(&mut w);
        w
    }
}
