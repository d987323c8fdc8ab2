//! The spectral approximation of past batches (section 3.2 of Hou & Hero 2018), corrected. It is a baseline for comparison
//! and not recommended.
//!
//! All graphs of a stream estimate the same operator, so the sum of their terms is replaced by B·Σᵢ s̄ᵢ²d̄ᵢv̄ᵢv̄ᵢᵀ with averages
//! over the batches: v̄ are right singular vectors and s̄² squared singular values of the batches X, d̄ are eigenvalues of
//! their Laplacians, and B = Σ2β. The prior kernel is k − k(·, V̄)(I + Σk(V̄, V̄))⁻¹Σk(V̄, ·), Σ = B·diag(s̄²d̄).
//!
//! Corrections: the running mean adds (new − mean)/t; there is no division by the eigenvalue 0; singular vectors are rotated
//! toward the mean by an orthogonal Procrustes rotation before they are averaged, and orthonormalized afterward; s²d of a
//! direction v is its Rayleigh quotient (Xv)ᵀL(Xv) instead of the product of two numbers of the same rank. One flaw remains:
//! v is a direction of the data and not of the features, so the approximation is correct for linear kernels only.

use super::recursion::{Deformed, transposed};
use crate::data::{Matrix, MatrixView};
use crate::error::{Error, Result};
use crate::estimators::manifold::penalty::Penalty;
use crate::kernel::Kernel;
use crate::math::blas1::{add, dot};
use crate::math::linalg::{cross_products, eigen, symmetric_product};
use serde::{Deserialize, Serialize};

/// Maximum of the smaller dimension (rows or columns) of a batch.
const MAX_SIDE: usize = 3_000;
/// Fraction of the largest eigenvalue up to which an eigenvalue counts as 0.
const MIN_EIGENVALUE: f64 = 1e-10;

/// Running averages over batches.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Averages {
    /// Number of batches so far.
    pub batches: u64,
    /// Number of columns of the data.
    pub cols: usize,
    /// Mean directions V̄, one per row.
    pub directions: Vec<f64>,
    /// s̄²d̄ of each direction.
    pub bends: Vec<f64>,
    /// B = Σ2β.
    pub weight: f64,
}

impl Averages {
    /// Updates the averages with a batch.
    pub fn absorb(&mut self, x: MatrixView<'_>, penalty: &Penalty, weight: f64) -> Result<()> {
        self.absorb_along(x, directions(x)?, penalty, weight)
    }

    /// [`Averages::absorb`] with given singular vectors of the batch, one per row; their signs do not matter.
    pub fn absorb_along(
        &mut self,
        x: MatrixView<'_>,
        mut along: Vec<f64>,
        penalty: &Penalty,
        weight: f64,
    ) -> Result<()> {
        let d = x.cols();
        if self.batches == 0 {
            self.cols = d;
            along.chunks_exact_mut(d.max(1)).for_each(fix_sign);
            self.directions.clone_from(&along);
            self.bends = vec![0.0; along.len() / d.max(1)];
        } else {
            // the number of directions is that of the first batch; missing ones are 0
            along.resize(self.directions.len(), 0.0);
            along = rotated_toward(&along, &self.directions, d)?;
        }
        self.batches += 1;
        self.weight += weight;
        let share = 1.0 / self.batches as f64;
        for (mean, new) in self.directions.iter_mut().zip(&along) {
            *mean += share * (new - *mean);
        }
        let (Matrix::Dense { values, .. }, r) = (x.to_dense(), self.bends.len()) else { return Ok(()) };
        let mut images = vec![0.0; x.rows() * r];
        cross_products(&along, r, &values, x.rows(), d, &mut images);
        let varied = penalty.apply_columns(images.clone(), r);
        for (k, mean) in self.bends.iter_mut().enumerate() {
            let pairs = images.iter().zip(&varied).skip(k).step_by(r.max(1));
            *mean += share * (pairs.map(|(a, b)| a * b).sum::<f64>().max(0.0) - *mean);
        }
        orthonormalize(&mut self.directions, d);
        Ok(())
    }

    /// The kernel deformed by the averages.
    pub fn kernel(&self, kernel: Kernel, like: MatrixView<'_>) -> Result<Deformed> {
        let d = self.cols;
        let kept: Vec<usize> =
            (0..self.bends.len()).filter(|&k| dot(self.direction(k), self.direction(k)) > 0.5).collect();
        let values = kept.iter().flat_map(|&k| self.direction(k).to_vec()).collect();
        let points = Matrix::Dense { values, rows: kept.len(), cols: d };
        let mut roots = vec![0.0; kept.len() * kept.len()];
        for (i, &k) in kept.iter().enumerate() {
            roots[i * kept.len() + i] = (self.weight * self.bends[k]).sqrt();
        }
        let mut deformed = Deformed::new(kernel, like);
        deformed.deform(points.view(), &roots)?;
        Ok(deformed)
    }

    fn direction(&self, k: usize) -> &[f64] {
        &self.directions[k * self.cols..(k + 1) * self.cols]
    }
}

/// Right singular vectors of `x`, one per row, in descending order of the singular values.
pub fn directions(x: MatrixView<'_>) -> Result<Vec<f64>> {
    let (n, d) = (x.rows(), x.cols());
    if n.min(d) > MAX_SIDE {
        return Err(Error::parameter(
            "form",
            "spectral",
            format!("bounded for batches of more than {MAX_SIDE} rows and columns"),
        ));
    }
    let Matrix::Dense { values, .. } = x.to_dense() else { return Ok(Vec::new()) };
    if d <= n {
        let (_, vectors) = eigen(&symmetric_product(&values, &values, d), d)?;
        return Ok(vectors.chunks_exact(d.max(1)).rev().flatten().copied().collect());
    }
    let mut gram = vec![0.0; n * n];
    cross_products(&values, n, &values, n, d, &mut gram);
    let (squares, left) = eigen(&gram, n)?;
    let least = MIN_EIGENVALUE * squares.last().copied().unwrap_or(0.0);
    let mut out = vec![0.0; n * d];
    for (k, out) in out.chunks_exact_mut(d).enumerate() {
        let from = n - 1 - k;
        if squares[from] > least {
            let root = squares[from].sqrt();
            for (i, u) in left[from * n..(from + 1) * n].iter().enumerate() {
                add(u / root, &values[i * d..(i + 1) * d], out);
            }
        }
    }
    Ok(out)
}

/// Changes the sign of a vector so that its entry of largest absolute value is positive.
fn fix_sign(v: &mut [f64]) {
    let largest = v.iter().fold(0.0f64, |a, b| if b.abs() > a.abs() { *b } else { a });
    if largest < 0.0 {
        v.iter_mut().for_each(|v| *v = -*v);
    }
}

/// RV with the orthogonal matrix R that minimizes the distance to the mean V̄: R = PQᵀ with V̄Vᵀ = PΣQᵀ.
fn rotated_toward(v: &[f64], mean: &[f64], d: usize) -> Result<Vec<f64>> {
    let r = v.len() / d.max(1);
    let mut m = vec![0.0; r * r];
    cross_products(v, r, mean, r, d, &mut m);
    // M = PΣQᵀ from MᵀM = QΣ²Qᵀ
    let (squares, right) = eigen(&symmetric_product(&m, &m, r), r)?;
    let least = MIN_EIGENVALUE * squares.last().copied().unwrap_or(0.0);
    let mut left = vec![0.0; r * r];
    for k in (0..r).filter(|&k| squares[k] > least) {
        let (q, root) = (&right[k * r..(k + 1) * r], squares[k].sqrt());
        for (i, row) in m.chunks_exact(r).enumerate() {
            left[k * r + i] = dot(row, q) / root;
        }
    }
    complete(&mut left, r);
    // R = Σₖ pₖqₖᵀ, so RV = Σₖ pₖ(qₖᵀV)
    let mut along = vec![0.0; r * d];
    cross_products(&transposed(v, r, d), d, &right, r, r, &mut along);
    let (p, mut out) = (transposed(&left, r, r), vec![0.0; r * d]);
    cross_products(&transposed(&along, r, d), d, &p, r, r, &mut out);
    Ok(out)
}

/// Replaces the zero rows of a square matrix, whose other rows are orthonormal, so that its rows form an orthonormal basis.
fn complete(rows: &mut [f64], n: usize) {
    let mut next = 0;
    for k in 0..n {
        while dot(&rows[k * n..(k + 1) * n], &rows[k * n..(k + 1) * n]) == 0.0 && next < n {
            let mut unit = vec![0.0; n];
            unit[next] = 1.0;
            next += 1;
            for row in rows.chunks_exact(n) {
                add(-dot(row, &unit), row, &mut unit);
            }
            let length = dot(&unit, &unit).sqrt();
            if length > 1e-6 {
                rows[k * n..(k + 1) * n].iter_mut().zip(&unit).for_each(|(r, u)| *r = u / length);
            }
        }
    }
}

/// Gram–Schmidt orthonormalization of the rows; a row in the span of the previous ones becomes 0.
fn orthonormalize(rows: &mut [f64], d: usize) {
    for k in 0..rows.len() / d.max(1) {
        let (before, rest) = rows.split_at_mut(k * d);
        let row = &mut rest[..d];
        for other in before.chunks_exact(d) {
            let along = dot(other, row);
            add(-along, other, row);
        }
        let length = dot(row, row).sqrt();
        row.iter_mut().for_each(|v| *v = if length > 1e-6 { *v / length } else { 0.0 });
    }
}
