//! The recursion over points: the posterior in terms of its kernel instead of features (equation 3 of Hou & Hero 2018). It
//! serves small data, comparisons, and [`super::spectral`].
//!
//! A deformed kernel is k(x, z) − k(x, P)Wk(P, z) with points P. A batch X with 2βL = BBᵀ changes it to
//!
//! ```text
//! k'(x, z) = k(x, z) − k(x, X)·U·k(X, z),   U = B(I + BᵀkB)⁻¹Bᵀ,   k = k(X, X) of the previous kernel,
//! ```
//!
//! that is P' = [P; X] and W' = [W 0; 0 0] + ZᵀUZ, Z = [−k(X, P)W, I]. The source has ((2βL)⁻¹ + k)⁻¹ for U, but L is
//! singular. Here B holds the eigenvectors of 2βL with nonzero eigenvalues, times the square roots of these eigenvalues, and
//! I + BᵀkB is positive definite.
//!
//! Functions are expansions Σ aᵢk'(xᵢ, ·) over the labeled rows of all batches. Memory is limited only by [`MAX_POINTS`].

use super::spectral::Averages;
use super::state::BatchEvaluation;
use crate::data::{Matrix, MatrixView};
use crate::error::{Error, Result};
use crate::estimators::manifold::penalty::Penalty;
use crate::kernel::Kernel;
use crate::kernel::gram::cross_matrix;
use crate::math::blas1::dot;
use crate::math::linalg::{
    Cholesky, cross_products, eigen, subtract_products, symmetric_product, transposed_product,
};
use crate::model::Model;
use serde::{Deserialize, Serialize};

/// Maximum number of points of a deformed kernel, of rows of a batch that deforms it, and of labeled rows of an expansion.
pub const MAX_POINTS: usize = 10_000;
/// Fraction of the largest eigenvalue of a Laplacian up to which an eigenvalue counts as 0.
const MIN_EIGENVALUE: f64 = 1e-12;

/// A deformed kernel k(x, z) − k(x, P)Wk(P, z).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Deformed {
    pub(crate) kernel: Kernel,
    pub(crate) points: Matrix,
    /// W, row-major, symmetric.
    pub(crate) inner: Vec<f64>,
}

impl Deformed {
    /// The kernel without deformation, for samples like those of `x`.
    pub fn new(kernel: Kernel, x: MatrixView<'_>) -> Self {
        let points = Matrix::empty(x.cols(), matches!(x, MatrixView::Csr { .. }));
        Self { kernel, points, inner: Vec::new() }
    }

    /// Kernel values of each row of `a` with each row of `b`, row-major.
    pub fn block(&self, a: MatrixView<'_>, b: MatrixView<'_>) -> Vec<f64> {
        let p = self.points.rows();
        let mut out = cross_matrix(a, b, self.kernel);
        if p > 0 {
            let of_a = cross_matrix(a, self.points.view(), self.kernel);
            subtract_products(&of_a, p, &self.weighted_kernel(b), p, &mut out);
        }
        out
    }

    /// Kernel value of each row with itself.
    pub fn own(&self, x: MatrixView<'_>) -> Vec<f64> {
        let p = self.points.rows();
        let plain = (0..x.rows()).map(|i| self.kernel.eval(x.row(i), x.row(i)));
        if p == 0 {
            return plain.collect();
        }
        let (near, folded) = (cross_matrix(x, self.points.view(), self.kernel), self.weighted_kernel(x));
        let lost = near.chunks_exact(p).zip(folded.chunks_exact(p)).map(|(a, b)| dot(a, b));
        plain.zip(lost).map(|(k, lost)| (k - lost).max(0.0)).collect()
    }

    /// k(x, P)W, row-major.
    fn weighted_kernel(&self, x: MatrixView<'_>) -> Vec<f64> {
        let p = self.points.rows();
        let near = cross_matrix(x, self.points.view(), self.kernel);
        let mut out = vec![0.0; x.rows() * p];
        cross_products(&self.inner, p, &near, x.rows(), p, &mut out);
        out
    }

    /// Deforms the kernel by the quadratic form BBᵀ of the batch `x`; `roots` is Bᵀ, with one scaled eigenvector per row.
    pub fn deform(&mut self, x: MatrixView<'_>, roots: &[f64]) -> Result<()> {
        let (n, p) = (x.rows(), self.points.rows());
        let r = roots.len() / n.max(1);
        if r == 0 {
            return Ok(());
        }
        if n + p > MAX_POINTS {
            let allowed = format!("bounded for more than {MAX_POINTS} rows");
            return Err(Error::parameter("form", "exact", allowed));
        }
        let kernel = self.block(x, x);
        let mut half = vec![0.0; r * n];
        cross_products(&kernel, n, roots, r, n, &mut half);
        let mut form = vec![0.0; r * r];
        cross_products(&half, r, roots, r, n, &mut form);
        (0..r).for_each(|i| form[i * r + i] += 1.0);
        let factor = Cholesky::new(form, r)?.lower();
        let mut whitened = transposed(roots, r, n);
        factor.solve_rows(&mut whitened);
        let (wide, folded) = (p + n, self.weighted_kernel(x));
        let mut z = vec![0.0; n * wide];
        for i in 0..n {
            let (old, new) = z[i * wide..(i + 1) * wide].split_at_mut(p);
            old.iter_mut().zip(&folded[i * p..(i + 1) * p]).for_each(|(z, v)| *z = -v);
            new[i] = 1.0;
        }
        let q = transposed_product(&whitened, r, 0, &z, wide);
        let mut inner = symmetric_product(&q, &q, wide);
        for i in 0..p {
            let row = &mut inner[i * wide..i * wide + p];
            row.iter_mut().zip(&self.inner[i * p..(i + 1) * p]).for_each(|(w, v)| *w += v);
        }
        self.inner = inner;
        (0..n).for_each(|i| self.points.push(x.row(i)));
        Ok(())
    }
}

/// Bᵀ with weight·L^p = BBᵀ: one scaled eigenvector per row.
pub fn roots(penalty: &Penalty, weight: f64) -> Result<Vec<f64>> {
    let n = penalty.rows();
    if n > MAX_POINTS {
        return Err(Error::parameter("form", "exact", format!("bounded for more than {MAX_POINTS} rows")));
    }
    let mut unit = vec![0.0; n * n];
    (0..n).for_each(|i| unit[i * n + i] = 1.0);
    let (values, vectors) = eigen(&penalty.apply_columns(unit, n), n)?;
    let least = MIN_EIGENVALUE * values.last().copied().unwrap_or(0.0);
    let kept = (0..n).filter(|&k| values[k] > least && values[k] > 0.0);
    let scaled = |k: usize| {
        let root = (weight * values[k]).sqrt();
        vectors[k * n..(k + 1) * n].iter().map(move |v| root * v).collect::<Vec<f64>>()
    };
    Ok(kept.flat_map(scaled).collect())
}

/// The posterior in terms of points: expansions in a deformed kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recursion {
    pub(crate) deformed: Deformed,
    /// The labeled rows of all batches that have a nonzero coefficient.
    pub(crate) points: Matrix,
    /// Coefficients a of each output.
    pub(crate) coef: Vec<Vec<f64>>,
    /// Averages that replace past batches in the spectral approximation.
    pub(crate) averages: Option<Averages>,
}

impl Recursion {
    pub(crate) fn new(kernel: Kernel, x: MatrixView<'_>, outputs: usize, spectral: bool) -> Self {
        let deformed = Deformed::new(kernel, x);
        let averages = spectral.then(Averages::default);
        Self { points: deformed.points.clone(), deformed, coef: vec![Vec::new(); outputs], averages }
    }

    /// The current kernel.
    pub fn kernel(&self) -> &Deformed {
        &self.deformed
    }

    /// Deforms the kernel by weight·L^p of a batch.
    pub(crate) fn deform(&mut self, x: MatrixView<'_>, penalty: &Penalty, weight: f64) -> Result<()> {
        if let Some(averages) = &mut self.averages {
            // with two or more past batches the averages replace the deformed kernel
            if averages.batches >= 2 {
                self.deformed = averages.kernel(self.deformed.kernel, x)?;
            }
            averages.absorb(x, penalty, weight)?;
        }
        self.deformed.deform(x, &roots(penalty, weight)?)
    }

    pub(crate) fn evaluate(&self, x: MatrixView<'_>) -> BatchEvaluation {
        BatchEvaluation { kernel: self.deformed.block(x, x), scores: self.decisions(x), features: None }
    }

    pub(crate) fn learn(&mut self, x: MatrixView<'_>, alphas: &[Vec<f64>]) -> Result<()> {
        for i in (0..x.rows()).filter(|&i| alphas.iter().any(|a| a[i] != 0.0)) {
            self.points.push(x.row(i));
            self.coef.iter_mut().zip(alphas).for_each(|(c, a)| c.push(a[i]));
        }
        if self.points.rows() > MAX_POINTS {
            let allowed = format!("bounded for more than {MAX_POINTS} labeled rows");
            return Err(Error::parameter("form", "exact", allowed));
        }
        Ok(())
    }

    pub(crate) fn decisions(&self, x: MatrixView<'_>) -> Vec<Vec<f64>> {
        let e = self.points.rows();
        if e == 0 {
            return vec![vec![0.0; x.rows()]; self.coef.len()];
        }
        let kernel = self.deformed.block(x, self.points.view());
        self.coef.iter().map(|a| kernel.chunks_exact(e).map(|k| dot(k, a)).collect()).collect()
    }

    pub(crate) fn variance(&self, x: MatrixView<'_>) -> Vec<f64> {
        self.deformed.own(x)
    }

    /// The expansion in the original kernel, with coefficients a for the labeled rows and −Wk(P, ·)a for P.
    pub(crate) fn model(&self, bias: Vec<f64>) -> Model {
        let p = self.deformed.points.rows();
        let folded = self.deformed.weighted_kernel(self.points.view());
        let mut points = self.points.clone();
        (0..p).for_each(|i| points.push(self.deformed.points.view().row(i)));
        let whole = |a: &Vec<f64>| {
            let mut coef = a.clone();
            coef.resize(a.len() + p, 0.0);
            for (a, row) in a.iter().zip(folded.chunks_exact(p.max(1))) {
                coef[self.points.rows()..].iter_mut().zip(row).for_each(|(c, v)| *c -= a * v);
            }
            coef
        };
        expansion(self.deformed.kernel, points, self.coef.iter().map(whole).collect(), bias)
    }
}

/// The model of an expansion; for a linear kernel the weights.
pub(crate) fn expansion(kernel: Kernel, points: Matrix, coef: Vec<Vec<f64>>, bias: Vec<f64>) -> Model {
    if kernel != Kernel::Linear {
        return Model::Expansion { kernel, points, coef, bias };
    }
    let sum = |coef: &Vec<f64>| {
        let mut w = vec![0.0; points.cols()];
        for (i, a) in coef.iter().enumerate() {
            points.view().row(i).for_each(|c, v| w[c] += a * v);
        }
        w
    };
    Model::Linear { weights: coef.iter().map(sum).collect(), bias }
}

/// The transpose of a row-major matrix of `rows` rows and `cols` columns.
pub(crate) fn transposed(values: &[f64], rows: usize, cols: usize) -> Vec<f64> {
    let mut out = vec![0.0; values.len()];
    for i in 0..rows {
        (0..cols).for_each(|j| out[j * rows + i] = values[i * cols + j]);
    }
    out
}
