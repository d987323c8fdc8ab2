//! A Cholesky factor H = LLᵀ that grows by rows, for sets that grow by elements.

use super::blas1::{add, dot};

/// L, row by row.
#[derive(Debug, Clone, Default)]
pub struct GrowingCholesky {
    rows: Vec<Vec<f64>>,
}

impl GrowingCholesky {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds a row of H given as L⁻¹ of its part left of the diagonal, and what is `left` of its diagonal, above 0.
    pub fn push(&mut self, mut along: Vec<f64>, left: f64) {
        along.push(left.sqrt());
        self.rows.push(along);
    }

    /// Forgets the rows from `at`.
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
    fn grows_and_shrinks_to_the_factor_of_the_matrix() {
        let entry = |i: usize, j: usize| if i == j { 3.0 + i as f64 } else { 1.0 / (1 + i + j) as f64 };
        let mut factor = GrowingCholesky::default();
        let grow = |factor: &mut GrowingCholesky, i: usize| {
            let mut along: Vec<f64> = (0..i).map(|j| entry(i, j)).collect();
            factor.lower(&mut along);
            let left = entry(i, i) - dot(&along, &along);
            factor.push(along, left);
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
