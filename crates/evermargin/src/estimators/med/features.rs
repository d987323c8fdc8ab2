//! The posterior over features: θ ~ N(G⁻¹h, G⁻¹), with one h per output and a shared G.
//!
//! G = CCᵀ is factored after each batch that changes it, in O(D³/3). Until the first graph G = I and is not stored, so
//! `seq-med` with a linear kernel stores only its weights.

use super::space::Space;
use super::state::BatchEvaluation;
use crate::data::{Matrix, MatrixView};
use crate::error::Result;
use crate::estimators::manifold::penalty::Penalty;
use crate::kernel::Kernel;
use crate::kernel::gram::gram_matrix;
use crate::math::linalg::{Cholesky, Lower, symmetric_product};
use crate::model::Model;
use serde::{Deserialize, Serialize};

/// A posterior over features.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Features {
    pub(crate) space: Space,
    /// Precision G, row-major; `None` while it is I.
    pub(crate) precision: Option<Vec<f64>>,
    /// Information vector h of each output.
    pub(crate) information: Vec<Vec<f64>>,
    /// Cholesky factor C of G.
    #[serde(skip)]
    factor: Option<Lower>,
    /// Means G⁻¹h of each output; empty while G is I.
    #[serde(skip)]
    means: Vec<Vec<f64>>,
}

impl Features {
    pub(crate) fn new(space: Space, outputs: usize) -> Self {
        let information = vec![vec![0.0; space.dim()]; outputs];
        Self { space, precision: None, information, factor: None, means: Vec::new() }
    }

    /// The feature space.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// Precision G, row-major; `None` while it is I.
    pub fn precision(&self) -> Option<&[f64]> {
        self.precision.as_deref()
    }

    /// Information vector h of each output.
    pub fn information(&self) -> &[Vec<f64>] {
        &self.information
    }

    /// Mean G⁻¹h of each output.
    pub fn means(&self) -> &[Vec<f64>] {
        if self.factor.is_some() { &self.means } else { &self.information }
    }

    /// Resets h to 0 for `outputs` outputs and keeps the precision.
    pub(crate) fn clear(&mut self, outputs: usize) {
        self.information = vec![vec![0.0; self.space.dim()]; outputs];
        self.find_means();
    }

    /// Adds landmarks from a batch; new features have the prior N(0, 1).
    pub(crate) fn grow(&mut self, x: MatrixView<'_>, max: usize, seed: u64) -> Result<()> {
        let before = self.space.dim();
        self.space.grow(x, max, seed)?;
        let dim = self.space.dim();
        self.information.iter_mut().for_each(|h| h.resize(dim, 0.0));
        if let Some(old) = self.precision.take() {
            let mut wide = unit(dim);
            for i in 0..before {
                wide[i * dim..i * dim + before].copy_from_slice(&old[i * before..(i + 1) * before]);
            }
            self.precision = Some(wide);
        }
        self.refresh()
    }

    /// Forgets: G becomes ρG + (1 − ρ)I and h becomes ρh, with ρ = `share`.
    pub(crate) fn forget(&mut self, share: f64) -> Result<()> {
        let dim = self.space.dim();
        if let Some(g) = &mut self.precision {
            g.iter_mut().for_each(|v| *v *= share);
            (0..dim).for_each(|i| g[i * dim + i] += 1.0 - share);
        }
        self.information.iter_mut().flatten().for_each(|h| *h *= share);
        self.refresh()
    }

    /// Adds the graph of a batch: G += weight·ΦᵀL^pΦ.
    pub(crate) fn deform(&mut self, x: MatrixView<'_>, penalty: &Penalty, weight: f64) -> Result<()> {
        let dim = self.space.dim();
        let features = self.space.features(x).view().to_dense();
        let Matrix::Dense { values, .. } = features else { return Ok(()) };
        let varied = penalty.apply_columns(values.clone(), dim);
        let form = symmetric_product(&values, &varied, dim);
        let precision = self.precision.get_or_insert_with(|| unit(dim));
        precision.iter_mut().zip(&form).for_each(|(g, v)| *g += weight * v);
        self.refresh()
    }

    /// Kernel matrix and scores of the labeled rows.
    pub(crate) fn evaluate(&self, x: MatrixView<'_>) -> BatchEvaluation {
        let features = self.space.features(x);
        let scores = self.scores(&features);
        let kernel =
            gram_matrix(self.whitened(&features).as_ref().unwrap_or(&features).view(), Kernel::Linear);
        BatchEvaluation { kernel, scores, features: Some(features) }
    }

    /// Adds the labels of a batch: h += Φᵀα for each output.
    pub(crate) fn learn(&mut self, features: &Matrix, alphas: &[Vec<f64>]) {
        for (h, alpha) in self.information.iter_mut().zip(alphas) {
            for (i, a) in alpha.iter().enumerate().filter(|(_, a)| **a != 0.0) {
                features.view().row(i).for_each(|c, v| h[c] += a * v);
            }
        }
        self.find_means();
    }

    /// Decision values without the intercept, one vector per output.
    pub(crate) fn decisions(&self, x: MatrixView<'_>) -> Vec<Vec<f64>> {
        self.scores(&self.space.features(x))
    }

    /// Variance: ϕᵀG⁻¹ϕ plus the part of K(x, x) outside the span of the features.
    pub(crate) fn variance(&self, x: MatrixView<'_>) -> Vec<f64> {
        let features = self.space.features(x);
        let whitened = self.whitened(&features);
        let inside = whitened.as_ref().unwrap_or(&features).view();
        let missing = self.space.missing(x, &features);
        missing.iter().enumerate().map(|(i, m)| m + inside.row(i).norm2()).collect()
    }

    pub(crate) fn model(&self, bias: Vec<f64>) -> Model {
        match &self.space {
            Space::Columns { .. } => Model::Linear { weights: self.means().to_vec(), bias },
            Space::Landmarks { kernel, points, factor } => {
                let unfolded = |w: &Vec<f64>| {
                    let mut coef = w.clone();
                    factor.solve_transposed(&mut coef);
                    coef
                };
                let coef = self.means().iter().map(unfolded).collect();
                super::recursion::expansion(*kernel, points.clone(), coef, bias)
            }
        }
    }

    /// Recomputes what is not serialized: the factor of G and the means.
    pub(crate) fn refresh(&mut self) -> Result<()> {
        let dim = self.space.dim();
        self.factor = match &self.precision {
            Some(g) => Some(Cholesky::new(g.clone(), dim)?.lower()),
            None => None,
        };
        self.find_means();
        Ok(())
    }

    fn find_means(&mut self) {
        let Some(factor) = &self.factor else { return };
        self.means.clone_from(&self.information);
        for mean in &mut self.means {
            factor.solve_rows(mean);
            factor.solve_transposed(mean);
        }
    }

    fn scores(&self, features: &Matrix) -> Vec<Vec<f64>> {
        let score = |w: &Vec<f64>, i: usize| {
            let mut sum = 0.0;
            features.view().row(i).for_each(|c, v| sum += w[c] * v);
            sum
        };
        self.means().iter().map(|w| (0..features.rows()).map(|i| score(w, i)).collect()).collect()
    }

    /// C⁻¹ϕ of each row; `None` while C is I.
    fn whitened(&self, features: &Matrix) -> Option<Matrix> {
        let factor = self.factor.as_ref()?;
        let mut dense = features.view().to_dense();
        if let Matrix::Dense { values, .. } = &mut dense {
            factor.solve_rows(values);
        }
        Some(dense)
    }
}

fn unit(n: usize) -> Vec<f64> {
    let mut out = vec![0.0; n * n];
    (0..n).for_each(|i| out[i * n + i] = 1.0);
    out
}
