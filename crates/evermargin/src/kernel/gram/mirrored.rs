//! A kernel matrix in which one sample may stand for several variables, for example an unlabeled sample with both
//! labels.

use super::{Gram, MatrixGram, add_strips};
use crate::error::Result;

/// Kernel matrix of variables that share the rows of fewer samples.
#[derive(Debug)]
pub struct MirroredGram {
    /// Sample of each variable.
    of: Vec<usize>,
    /// One row per sample, one column per variable.
    values: Vec<f32>,
    diag: Vec<f64>,
}

impl MirroredGram {
    /// The variables with samples `of`, whose `n × n` kernel matrix is `k`.
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
        Ok(Box::new(MatrixGram::of_rows(keep, |i| self.row(i), diag)))
    }

    fn evaluations(&self) -> u64 {
        0
    }
}
