//! Optimal function in the span of a basis (Sindhwani 2007, equation 5.2).
//!
//! f = Fv on the rows, with |v|² the norm: F are the features of the kernel space of the basis ([`LandmarkSpace`]), or,
//! with a ridge of weight s, the columns Φ/√s with β = v/√s. Then (aI + FᵀQF)v = Fᵀr, one factorization for all
//! problems. F is n × d; Q is applied to blocks of its columns.

use super::objective::SparseObjective;
use crate::error::{Error, Result};
use crate::estimators::manifold::dictionary::{Atom, Dictionary};
use crate::estimators::manifold::landmark_space::{LandmarkSpace, expansion};
use crate::estimators::manifold::sparse::matching_pursuit::Norm;
use crate::math::blas1::dot;
use crate::math::linalg::{self, Cholesky};
use crate::model::Model;
use crate::solver::Watch;
use rayon::prelude::*;

/// The functions in the span of a basis.
#[derive(Debug)]
pub struct Restricted<'d> {
    dictionary: &'d Dictionary<'d>,
    kind: Kind,
    dim: usize,
}

#[derive(Debug)]
enum Kind {
    LandmarkSpace(LandmarkSpace),
    Columns { features: Vec<f64>, atoms: Vec<Atom>, scale: f64 },
}

/// Solutions, one per problem.
#[derive(Debug)]
pub struct RestrictedSolution {
    /// v.
    pub functions: Vec<Vec<f64>>,
    /// Values of the objective.
    pub values: Vec<f64>,
}

/// Number of columns to which Q is applied at a time.
const BLOCK: usize = 64;

impl<'d> Restricted<'d> {
    /// The functions in the span of these atoms.
    pub fn of(dictionary: &'d Dictionary<'d>, atoms: &[Atom], norm: Norm) -> Result<Self> {
        let kind = match norm {
            Norm::Kernel => {
                let rows: Vec<usize> = atoms.iter().map(|a| a.row).collect();
                Kind::LandmarkSpace(LandmarkSpace::of(dictionary.data(), dictionary.kernels()[0], &rows)?)
            }
            Norm::Ridge(scale) => {
                let mut features = dictionary.block(atoms);
                features.iter_mut().for_each(|v| *v /= scale.sqrt());
                Kind::Columns { features, atoms: atoms.to_vec(), scale }
            }
        };
        let dim = match &kind {
            Kind::LandmarkSpace(span) => span.dim(),
            Kind::Columns { atoms, .. } => atoms.len(),
        };
        Ok(Self { dictionary, kind, dim })
    }

    /// Dimension of v.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// F, row-major.
    pub fn features(&self) -> &[f64] {
        match &self.kind {
            Kind::LandmarkSpace(span) => span.features(),
            Kind::Columns { features, .. } => features,
        }
    }

    /// Fv.
    pub fn outputs(&self, v: &[f64]) -> Vec<f64> {
        self.features().par_chunks(self.dim.max(1)).map(|row| dot(row, v)).collect()
    }

    /// Fᵀe.
    pub fn transposed(&self, e: &[f64]) -> Vec<f64> {
        linalg::transposed_product(self.features(), self.dim, 0, e, 1)
    }

    /// aI + FᵀQF; `None` if `watch` ends it.
    fn form(&self, objective: &SparseObjective<'_>, watch: &dyn Watch) -> Option<Vec<f64>> {
        let (m, features) = (self.dim, self.features());
        let mut form = vec![0.0; m * m];
        for first in (0..m).step_by(BLOCK) {
            let width = BLOCK.min(m - first);
            let block: Vec<f64> =
                features.chunks_exact(m).flat_map(|row| &row[first..first + width]).copied().collect();
            let image = objective.curvature.apply(block, width, watch)?;
            let part = linalg::transposed_product(features, m, first, &image, width);
            for (i, row) in part.chunks_exact(width).enumerate() {
                form[(first + i) * m + first..][..width].copy_from_slice(row);
            }
        }
        for i in 0..m {
            (0..i).for_each(|j| form[j * m + i] = form[i * m + j]);
            form[i * m + i] += objective.ambient;
        }
        Some(form)
    }

    /// Minimizes the objective of each problem; `None` if `watch` ends it.
    pub fn solve(
        &self,
        objective: &SparseObjective<'_>,
        watch: &dyn Watch,
    ) -> Result<Option<RestrictedSolution>> {
        let Some(form) = self.form(objective, watch) else { return Ok(None) };
        let factor = Cholesky::new(form, self.dim)?;
        let (mut functions, mut values) = (Vec::new(), Vec::new());
        for (right, constant) in objective.right.iter().zip(&objective.constant) {
            let right = self.transposed(right);
            let mut v = right.clone();
            factor.solve(&mut v);
            values.push(constant - 0.5 * dot(&right, &v));
            functions.push(v);
        }
        Ok(Some(RestrictedSolution { functions, values }))
    }

    /// Model of functions v; refused for bases with several widths.
    pub fn model(&self, functions: &[Vec<f64>]) -> Result<Model> {
        let (x, kernels) = (self.dictionary.data(), self.dictionary.kernels());
        let bias = vec![0.0; functions.len()];
        match &self.kind {
            Kind::LandmarkSpace(span) => Ok(span.model(x, functions, bias)),
            Kind::Columns { .. } if kernels.len() > 1 => {
                Err(Error::Model("an expansion has one kernel; this basis has several".into()))
            }
            Kind::Columns { atoms, scale, .. } => {
                let rows: Vec<usize> = atoms.iter().map(|a| a.row).collect();
                let coef = functions.iter().map(|v| v.iter().map(|v| v / scale.sqrt()).collect()).collect();
                Ok(expansion(x, kernels[0], &rows, coef, bias))
            }
        }
    }
}
