//! R, the inverse of the margin's bordered matrix [0 yᵀ; y Q], updated as samples join and leave the margin.
//!
//! A row with sensitivities β and curvature γ joins by R ← [R 0; 0 0] + [β; 1][β; 1]ᵀ/γ. A row k leaves by
//! Rᵢⱼ ← Rᵢⱼ − RᵢₖRₖⱼ/Rₖₖ, after which row and column k are dropped (Cauwenberghs & Poggio 2001, section 3).
//!
//! To compute R from scratch: Q alone may be singular where the bordered matrix is not (a linear kernel), but
//! M = Q + τyyᵀ is not singular, and using it changes only b. With z = M⁻¹y and d = yᵀz,
//! R = [τ − 1/d, zᵀ/d; z/d, M⁻¹ − zzᵀ/d], so a Cholesky factorization of M is enough.

use crate::error::Result;
use crate::math::linalg::Cholesky;
use serde::{Deserialize, Serialize};

/// Factor by which values may shrink in an update before it counts as a loss of digits.
const MAX_SHRINKAGE: f64 = 1e4;

/// The symmetric matrix R, row-major; empty if the margin is empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Inverse {
    size: usize,
    values: Vec<f64>,
}

impl Inverse {
    /// The inverse of [0 yᵀ; y Q]; Q is row-major.
    pub fn new(q: &[f64], y: &[f64]) -> Result<Self> {
        let n = y.len();
        if n == 0 {
            return Ok(Self::default());
        }
        let tau = (0..n).map(|i| q[i * n + i]).sum::<f64>() / n as f64;
        let m = (0..n * n).map(|k| q[k] + tau * y[k / n] * y[k % n]).collect();
        let mut unit = vec![0.0; n * n];
        (0..n).for_each(|i| unit[i * n + i] = 1.0);
        let mut z = y.to_vec();
        let factor = Cholesky::new(m, n)?;
        factor.solve(&mut unit);
        factor.solve(&mut z);
        let d: f64 = z.iter().zip(y).map(|(z, y)| z * y).sum();
        let size = n + 1;
        let mut values = vec![0.0; size * size];
        values[0] = tau - 1.0 / d;
        for i in 0..n {
            for j in 0..=i {
                let value = unit[j * n + i] - z[i] * z[j] / d;
                (values[(i + 1) * size + j + 1], values[(j + 1) * size + i + 1]) = (value, value);
            }
            (values[i + 1], values[(i + 1) * size]) = (z[i] / d, z[i] / d);
        }
        Ok(Self { size, values })
    }

    /// The inverse for a margin of one sample with label `y` and diagonal entry `q`.
    pub fn one(q: f64, y: f64) -> Self {
        Self { size: 2, values: vec![-q, y, y, 0.0] }
    }

    /// Number of rows: the number of margin samples plus one, or 0 without samples.
    pub fn size(&self) -> usize {
        self.size
    }

    /// All values, row-major.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Whether the number of values matches the size and all are finite.
    pub fn is_sound(&self) -> bool {
        self.size.checked_mul(self.size) == Some(self.values.len())
            && self.values.iter().all(|v| v.is_finite())
    }

    /// `out −= R·v`.
    pub fn subtract_times(&self, v: &[f64], out: &mut [f64]) {
        for (out, row) in out.iter_mut().zip(self.values.chunks_exact(self.size.max(1))) {
            *out -= row.iter().zip(v).map(|(r, v)| r * v).sum::<f64>();
        }
    }

    /// Adds a sample as the last row, with its sensitivities `beta` and curvature `gamma`.
    pub fn join(&mut self, beta: &[f64], gamma: f64) {
        let (old, size) = (self.size, self.size + 1);
        self.values.resize(size * size, 0.0);
        for i in (0..old).rev() {
            self.values.copy_within(i * old..(i + 1) * old, i * size);
            self.values[i * size + old] = 0.0;
        }
        self.values[old * size..].fill(0.0);
        let at = |i: usize| if i < old { beta[i] } else { 1.0 };
        for i in 0..size {
            for (j, value) in self.values[i * size..(i + 1) * size].iter_mut().enumerate() {
                *value += at(i) * at(j) / gamma;
            }
        }
        self.size = size;
    }

    /// Removes the sample of row `k`, counted from 1. Returns whether digits were lost, that is whether the remaining values
    /// are much smaller than those that were subtracted, as after removing one of two duplicates.
    #[must_use]
    pub fn leave(&mut self, k: usize) -> bool {
        let size = self.size;
        if size <= 2 {
            *self = Self::default();
            return false;
        }
        let column: Vec<f64> = (0..size).map(|i| self.values[i * size + k]).collect();
        let (mut to, mut largest) = (0, 0.0f64);
        for i in (0..size).filter(|&i| i != k) {
            for j in (0..size).filter(|&j| j != k) {
                let value = self.values[i * size + j] - column[i] * column[j] / column[k];
                largest = largest.max(value.abs());
                self.values[to] = value;
                to += 1;
            }
        }
        self.values.truncate(to);
        self.size = size - 1;
        column.iter().any(|v| v.abs() > MAX_SHRINKAGE * largest)
    }
}
