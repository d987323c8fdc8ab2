//! A space deformed by a penalty: the data-dependent kernel.
//!
//! With the inner product ⟨f, g⟩ + fᵀMg the kernel is K̃ = (K⁻¹ + M)⁻¹ on the rows and K̃(x, z) = K(x, z) − k_xᵀ(I +
//! MK)⁻¹Mk_z elsewhere (Sindhwani 2007, equation 2.22). Here K = RRᵀ ([`Span`]), so K̃ = R(I + RᵀMR)⁻¹Rᵀ: one Cholesky
//! factorisation I + RᵀMR = CCᵀ, nothing inverted, no difference of nearly equal numbers (the digest's stable form with
//! its roles exchanged: K is factored instead of M). Rows are ϕ = C⁻¹r, K̃ their inner products, and a linear function w·ϕ
//! is f = Rv with v = C⁻ᵀw, that is an expansion over the landmarks: prediction needs neither M nor the other rows.

use super::span::Span;
use crate::data::Matrix;
use crate::error::Result;
use crate::linalg::{Cholesky, Lower, cross_products};

/// A space and the factor of its quadratic form.
#[derive(Debug)]
pub struct Warp<'s> {
    span: &'s Span,
    factor: Lower,
}

impl<'s> Warp<'s> {
    /// Deforms by `ratio` times the quadratic form RᵀL^pR (m × m, row-major).
    pub fn new(span: &'s Span, quadratic: &[f64], ratio: f64) -> Result<Self> {
        let m = span.dim();
        let mut form: Vec<f64> = quadratic.iter().map(|q| ratio * q).collect();
        (0..m).for_each(|i| form[i * m + i] += 1.0);
        Self::of_form(span, form)
    }

    /// Deforms so that |f|² is vᵀAv, A = `form` positive definite.
    pub fn of_form(span: &'s Span, form: Vec<f64>) -> Result<Self> {
        Ok(Self { span, factor: Cholesky::new(form, span.dim())?.lower() })
    }

    /// ϕ of some rows, row-major.
    pub fn features(&self, rows: impl Iterator<Item = usize>) -> Vec<f64> {
        let mut out: Vec<f64> = rows.flat_map(|i| self.span.row(i).iter().copied()).collect();
        self.factor.solve_rows(&mut out);
        out
    }

    /// ϕ of all rows, as data for a learner with a linear kernel.
    pub fn matrix(&self) -> Result<Matrix> {
        Matrix::dense(self.features(0..self.span.rows()), self.span.rows(), self.span.dim())
    }

    /// K̃ among some rows.
    pub fn gram(&self, rows: &[usize]) -> Result<Matrix> {
        let (l, m) = (rows.len(), self.span.dim());
        let features = self.features(rows.iter().copied());
        products(&features, l, m)
    }

    /// v of the function Σ aₖK̃(x_rows[k], ·).
    pub fn function(&self, rows: &[usize], a: &[f64]) -> Vec<f64> {
        let m = self.span.dim();
        let mut sum = vec![0.0; m];
        for (&i, a) in rows.iter().zip(a).filter(|(_, a)| **a != 0.0) {
            crate::solve::newton::add(*a, self.span.row(i), &mut sum);
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

/// Inner products among `l` rows of `m` values.
pub(super) fn products(features: &[f64], l: usize, m: usize) -> Result<Matrix> {
    let mut gram = vec![0.0; l * l];
    cross_products(features, l, features, l, m, &mut gram);
    for i in 0..l {
        (0..i).for_each(|j| gram[j * l + i] = gram[i * l + j]);
    }
    Matrix::dense(gram, l, l)
}
