//! A function space deformed by a penalty: the data-dependent kernel.
//!
//! With the inner product ⟨f, g⟩ + fᵀMg the kernel is K̃ = (K⁻¹ + M)⁻¹ on the rows and K̃(x, z) = K(x, z) − k_xᵀ(I +
//! MK)⁻¹Mk_z elsewhere (Sindhwani 2007, equation 2.22). Here K = RRᵀ ([`LandmarkSpace`]), so K̃ = R(I + RᵀMR)⁻¹Rᵀ. This
//! takes one Cholesky factorization I + RᵀMR = CCᵀ, without inverses or differences of nearly equal numbers; K is
//! factored instead of M. Rows are ϕ = C⁻¹r, K̃ their inner products, and a linear function w·ϕ is f = Rv with v =
//! C⁻ᵀw, which is an expansion over the landmarks: prediction needs neither M nor the other rows.

use super::landmark_space::LandmarkSpace;
use super::penalty::PenaltyParams;
use crate::data::{Matrix, MatrixView};
use crate::error::{Error, Result};
use crate::graph::{Graph, Search};
use crate::kernel::Kernel;
use crate::math::blas1::add;
use crate::math::linalg::{Cholesky, Lower, cross_products};
use crate::model::Model;
use crate::params::shared::{N_LANDMARKS, N_NEIGHBORS, NORMALIZED, POWER, RADIUS, SEARCH};
use crate::params::structs::from_values;
use crate::params::{FloatRange, ParamSpec, ParamValue, ParamValues, one_of};
use crate::solver::Watch;
use serde::{Deserialize, Serialize};

/// A function space and the Cholesky factor of its quadratic form.
#[derive(Debug)]
pub struct DeformedKernel<'s> {
    span: &'s LandmarkSpace,
    factor: Lower,
}

impl<'s> DeformedKernel<'s> {
    /// Deforms by `ratio` times the quadratic form RᵀL^pR (m × m, row-major).
    pub fn new(span: &'s LandmarkSpace, quadratic: &[f64], ratio: f64) -> Result<Self> {
        let m = span.dim();
        let mut form: Vec<f64> = quadratic.iter().map(|q| ratio * q).collect();
        (0..m).for_each(|i| form[i * m + i] += 1.0);
        Self::of_form(span, form)
    }

    /// Deforms so that |f|² is vᵀAv, with A = `form` positive definite.
    pub fn of_form(span: &'s LandmarkSpace, form: Vec<f64>) -> Result<Self> {
        Ok(Self { span, factor: Cholesky::new(form, span.dim())?.lower() })
    }

    /// ϕ of some rows, row-major.
    pub fn features(&self, rows: impl Iterator<Item = usize>) -> Vec<f64> {
        let mut out: Vec<f64> = rows.flat_map(|i| self.span.row(i).iter().copied()).collect();
        self.factor.solve_rows(&mut out);
        out
    }

    /// ϕ of all rows, as data for an estimator with a linear kernel.
    pub fn matrix(&self) -> Result<Matrix> {
        Matrix::dense(self.features(0..self.span.rows()), self.span.rows(), self.span.dim())
    }

    /// K̃ between the given rows.
    pub fn gram(&self, rows: &[usize]) -> Result<Matrix> {
        let (l, m) = (rows.len(), self.span.dim());
        let features = self.features(rows.iter().copied());
        products(&features, l, m)
    }

    /// v of the function Σ aₖK̃(xₖ, ·). The points xₖ are `rows`.
    pub fn function(&self, rows: &[usize], a: &[f64]) -> Vec<f64> {
        let m = self.span.dim();
        let mut sum = vec![0.0; m];
        for (&i, a) in rows.iter().zip(a).filter(|(_, a)| **a != 0.0) {
            add(*a, self.span.row(i), &mut sum);
        }
        self.factor.solve_rows(&mut sum);
        self.unfold(&sum)
    }

    /// v = C⁻ᵀw of a linear function of ϕ.
    pub fn unfold(&self, w: &[f64]) -> Vec<f64> {
        let mut v = w.to_vec();
        self.factor.solve_transposed(&mut v);
        v
    }
}

/// Parameters of a deformation for any kernel estimator: the estimator is trained on the rows ϕ with a linear kernel,
/// and its result is converted to an expansion in the original kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DeformedKernelParams {
    /// γ_I/γ_A: weight of the variation along the graph relative to |f|².
    pub ratio: f64,
    /// Number of nearest neighbors that each row is connected to; 0 chooses by the number of rows and columns.
    pub n_neighbors: usize,
    /// Connects rows up to this distance instead of nearest neighbors; 0 disables this.
    pub radius: f64,
    /// Search method for nearest neighbors.
    pub search: Search,
    /// Power of the Laplacian.
    pub power: usize,
    /// Whether the Laplacian is divided by the degrees.
    pub normalized: bool,
    /// Maximum number of landmarks; 0 as for `lapsvm`.
    pub n_landmarks: usize,
}

impl Default for DeformedKernelParams {
    fn default() -> Self {
        let search = Search::Exact;
        Self { ratio: 100.0, n_neighbors: 0, radius: 0.0, search, power: 1, normalized: true, n_landmarks: 0 }
    }
}

/// The rows in a deformed space.
#[derive(Debug)]
pub struct DeformedSpace {
    span: LandmarkSpace,
    factor: Lower,
}

/// Parameters of the deformation.
pub static PARAMS: [ParamSpec; 7] = [
    ParamSpec::float(
        "ratio",
        FloatRange::closed(0.0, 1e15),
        "1",
        "weight of the variation along the graph relative to the norm",
    ),
    N_NEIGHBORS,
    RADIUS,
    SEARCH,
    POWER,
    NORMALIZED,
    N_LANDMARKS,
];

impl DeformedKernelParams {
    /// Parses the parameters of a deformation; values may be given as text.
    pub fn parse(values: &ParamValues) -> Result<Self> {
        let typed = |(name, value): (&String, &ParamValue)| {
            let Some(param) = PARAMS.iter().find(|p| p.name == name) else {
                let names: Vec<&str> = PARAMS.iter().map(|p| p.name).collect();
                return Err(Error::parameter("warp", name, one_of(name, &names)));
            };
            let value =
                if let ParamValue::Text(text) = value { param.parse(text)? } else { param.accept(value)? };
            Ok((name.clone(), value))
        };
        let typed: ParamValues = values.iter().map(typed).collect::<Result<_>>()?;
        from_values(&typed).map_err(|e| Error::parameter("warp", e, "a weight and parameters of the graph"))
    }

    /// Deforms the space of `kernel` along a graph of all rows: the given one, or a neighborhood graph. `None` if
    /// `watch` ends the search for neighbors.
    pub fn warp(
        &self,
        x: MatrixView<'_>,
        kernel: Kernel,
        graph: Option<&Graph>,
        seed: u64,
        watch: &dyn Watch,
    ) -> Result<Option<DeformedSpace>> {
        if !(0.0..=1e15).contains(&self.ratio) {
            return Err(Error::parameter("warp", self.ratio, "a number from 0 to 1e15"));
        }
        if kernel == Kernel::Precomputed {
            return Err(Error::parameter(
                "kernel",
                "precomputed",
                "a kernel of samples: the deformed space is built from them",
            ));
        }
        let Self { n_neighbors, radius, search, power, normalized, .. } = *self;
        let penalty =
            PenaltyParams { n_neighbors, radius, search, normalized, power, ..PenaltyParams::default() };
        let penalty = match graph {
            Some(graph) => Some(penalty.given(graph, x.rows())?),
            None => penalty.penalty(x, watch)?,
        };
        let Some(penalty) = penalty else { return Ok(None) };
        let span =
            LandmarkSpace::new(x, kernel, super::lap::landmarks(self.n_landmarks, x.rows()), seed, watch)?;
        let factor = DeformedKernel::new(&span, &penalty.quadratic(&span), self.ratio)?.factor;
        Ok(Some(DeformedSpace { span, factor }))
    }
}

impl DeformedSpace {
    /// ϕ of all rows.
    pub fn matrix(&self) -> Result<Matrix> {
        DeformedKernel { span: &self.span, factor: self.factor.clone() }.matrix()
    }

    /// Converts a model that is linear in ϕ to one of the samples `x`.
    pub fn unfold(&self, x: MatrixView<'_>, model: &Model) -> Result<Model> {
        let warp = DeformedKernel { span: &self.span, factor: self.factor.clone() };
        let functions: Vec<Vec<f64>> = linear_weights(model)?.iter().map(|w| warp.unfold(w)).collect();
        Ok(self.span.model(x, &functions, model.bias().to_vec()))
    }
}

/// Weights w of a model with a linear kernel.
pub(crate) fn linear_weights(model: &Model) -> Result<Vec<Vec<f64>>> {
    match model {
        Model::Linear { weights, .. } => Ok(weights.clone()),
        Model::Expansion { points, coef, kernel: Kernel::Linear, .. } => {
            let sum = |coef: &Vec<f64>| {
                let mut w = vec![0.0; points.cols()];
                for (i, c) in coef.iter().enumerate() {
                    points.view().row(i).for_each(|k, v| w[k] += c * v);
                }
                w
            };
            Ok(coef.iter().map(sum).collect())
        }
        _ => Err(Error::Model("only a model with a linear kernel has weights".into())),
    }
}

/// Inner products between `l` rows of `m` values.
pub(crate) fn products(features: &[f64], l: usize, m: usize) -> Result<Matrix> {
    let mut gram = vec![0.0; l * l];
    cross_products(features, l, features, l, m, &mut gram);
    for i in 0..l {
        (0..i).for_each(|j| gram[j * l + i] = gram[i * l + j]);
    }
    Matrix::dense(gram, l, l)
}
