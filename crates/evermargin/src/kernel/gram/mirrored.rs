//! A kernel matrix some of whose samples stand for several variables, as an unlabeled sample that carries both labels.

use super::{Gram, MatrixGram, add_strips};
use crate::error::Result;

/// Variables that share the kernel rows of fewer samples.
#[derive(Debug)]
pub struct MirroredGram {
    /// The sample of each variable.
    of: Vec<usize>,
    /// A row a sample, a column a variable.
    values: Vec<f32>,
    diag: Vec<f64>,
}

impl MirroredGram {
    /// The variables `of` samples whose `n × n` kernel matrix is `k`.
    pub fn new(k: &[f64], n: usize, of: Vec<usize>) -> Self {
        let mut values = Vec::with_capacity(n * of.len());
        for row in k.chunks_exact(n.max(1)) {
            values.extend(of.iter().map(|&c| row[c] as f32));
        }
        let diag = of.iter().map(|&i| k[i * n + i]).collect();
        Self { of, values, diag }
    }
}

impl Gram for MirroredGram {
    fn len(&self) -> usize {
        self.of.len()
    }

    fn diag(&self, i: usize) -> f64 {
        self.diag[i]
    }

    fn capacity(&self) -> usize {
        self.of.len()
    }

    fn fetch(&mut self, _: &[usize]) {}

    fn row(&self, i: usize) -> &[f32] {
        let (sample, width) = (self.of[i], self.of.len());
        &self.values[sample * width..(sample + 1) * width]
    }

    fn accumulate(&mut self, rows: &[usize], coef: &[f64], sum: &mut [f64]) {
        let rows: Vec<&[f32]> = rows.iter().map(|&i| self.row(i)).collect();
        add_strips(&rows, coef, sum);
    }

    fn subset(&mut self, keep: &[usize]) -> Result<Box<dyn Gram>> {
        let diag = keep.iter().map(|&i| self.diag[i]).collect();
        Ok(Box::new(MatrixGram::gathered(keep, |i| self.row(i), diag)))
    }

    fn evaluations(&self) -> u64 {
        0
    }
}
