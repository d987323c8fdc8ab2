//! A Cholesky factor H = LLᵀ to which rows are appended, for sets that grow by one element at a time.

use super::blas1::{add, dot};

/// The factor L, row by row.
#[derive(Debug, Clone, Default)]
pub struct GrowingCholesky {
    rows: Vec<Vec<f64>>,
}

impl GrowingCholesky {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Appends the factor of a new row of H: `projection` is L⁻¹ times the part left of the diagonal, and `residual` is
    /// the diagonal minus |projection|², above 0.
    pub fn push(&mut self, mut projection: Vec<f64>, residual: f64) {
        projection.push(residual.sqrt());
        self.rows.push(projection);
    }

    /// Removes the rows from `at` on.
    pub fn truncate(&mut self, at: usize) {
        self.rows.truncate(at);
    }

    /// The last row.
    pub fn last(&self) -> &[f64] {
        self.rows.last().map_or(&[], Vec::as_slice)
    }

    /// Replaces v by L⁻¹v.
    pub fn lower(&self, v: &mut [f64]) {
        for (i, row) in self.rows.iter().enumerate() {
            v[i] = (v[i] - dot(&row[..i], &v[..i])) / row[i];
        }
    }

    /// Replaces v by L⁻ᵀv.
    pub fn upper(&self, v: &mut [f64]) {
        for (i, row) in self.rows.iter().enumerate().rev() {
            v[i] /= row[i];
            let (before, at) = v.split_at_mut(i);
            add(-at[0], &row[..i], before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn appended_and_truncated_rows_form_the_factor_of_the_matrix() {
        let entry = |i: usize, j: usize| if i == j { 3.0 + i as f64 } else { 1.0 / (1 + i + j) as f64 };
        let mut factor = GrowingCholesky::default();
        let grow = |factor: &mut GrowingCholesky, i: usize| {
            let mut projection: Vec<f64> = (0..i).map(|j| entry(i, j)).collect();
            factor.lower(&mut projection);
            let residual = entry(i, i) - dot(&projection, &projection);
            factor.push(projection, residual);
        };
        (0..9).for_each(|i| grow(&mut factor, i));
        factor.truncate(4);
        (4..7).for_each(|i| grow(&mut factor, i));
        let x: Vec<f64> = (0..7).map(|i| (i as f64).sin()).collect();
        let mut b: Vec<f64> = (0..7).map(|i| (0..7).map(|j| entry(i, j) * x[j]).sum()).collect();
        factor.lower(&mut b);
        factor.upper(&mut b);
        assert!(b.iter().zip(&x).all(|(b, x)| (b - x).abs() < 1e-13));
        assert_eq!((factor.len(), factor.last().len()), (7, 7));
    }
}
