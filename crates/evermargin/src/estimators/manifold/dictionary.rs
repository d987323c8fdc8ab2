//! The functions that an expansion may use: K(xⱼ, ·) of any row, at one of several widths, and their values on all
//! rows.
//!
//! Columns of kernel values are computed in blocks: one matrix product for dense data, one pass over the stored values
//! for wide sparse data. No n × n matrix is stored.

use crate::data::{Matrix, MatrixView};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::math::linalg;
use rayon::prelude::*;

/// A kernel function: the row on which it is centered, and the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Atom {
    /// The row.
    pub row: usize,
    /// Index of the kernel among those of the dictionary.
    pub scale: usize,
}

/// All atoms over the rows of a matrix.
#[derive(Debug)]
pub struct Dictionary<'a> {
    x: MatrixView<'a>,
    kernels: Vec<Kernel>,
    dense: Option<Matrix>,
    norms: Vec<f64>,
}

/// Sparse data with more columns than this is not converted to dense form.
const WIDE: usize = 4096;
/// Number of rows that a thread processes at a time.
const ROWS_PER_TASK: usize = 256;
/// Maximum number of values in the dense form of selected sparse rows.
const MAX_DENSE_VALUES: usize = 1 << 22;

impl<'a> Dictionary<'a> {
    /// The kernel functions of every row, one for each kernel.
    pub fn new(x: MatrixView<'a>, kernels: Vec<Kernel>) -> Result<Self> {
        kernels.iter().try_for_each(Kernel::check)?;
        let precomputed = kernels.contains(&Kernel::Precomputed);
        if precomputed && x.rows() != x.cols() {
            return Err(Error::Shape {
                what: "columns of a precomputed kernel matrix",
                expected: x.rows(),
                found: x.cols(),
            });
        }
        if precomputed {
            check_symmetric(x)?;
        }
        let wide = precomputed || (x.cols() > WIDE && matches!(x, MatrixView::Csr { .. }));
        let dense = (!wide).then(|| x.to_dense());
        let norms = (0..x.rows()).map(|i| x.row(i).norm2()).collect();
        let this = Self { x, kernels, dense, norms };
        if (0..this.len()).any(|k| !(this.own(this.atom(k)) >= 0.0 && this.own(this.atom(k)).is_finite())) {
            return Err(Error::Data(
                "K(x, x) is negative or not finite for some row; choose a kernel that is positive definite, such \
                 as rbf, or scale the data"
                    .into(),
            ));
        }
        Ok(this)
    }

    /// The same kernel at widths 2^i times its own, i = −3 … 3 (Sindhwani 2007, section 5.2.3). Such a dictionary has
    /// no common kernel norm, and needs a ridge instead.
    pub fn multi_scale(x: MatrixView<'a>, kernel: Kernel) -> Result<Self> {
        let Kernel::Rbf { gamma } = kernel else {
            return Err(Error::parameter("kernel", kernel.name(), "rbf for several widths"));
        };
        Self::new(x, (-3..=3).map(|i| Kernel::Rbf { gamma: gamma * 4f64.powi(-i) }).collect())
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.x.rows()
    }

    /// The rows.
    pub fn data(&self) -> MatrixView<'a> {
        self.x
    }

    /// The kernels.
    pub fn kernels(&self) -> &[Kernel] {
        &self.kernels
    }

    /// Number of atoms.
    pub fn len(&self) -> usize {
        self.x.rows() * self.kernels.len()
    }

    /// Whether there are no atoms.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The atom with the given number.
    pub fn atom(&self, number: usize) -> Atom {
        Atom { row: number % self.rows(), scale: number / self.rows() }
    }

    /// K(xⱼ, xⱼ).
    pub fn own(&self, atom: Atom) -> f64 {
        match self.kernels[atom.scale] {
            Kernel::Precomputed => {
                let mut found = 0.0;
                self.x.row(atom.row).for_each(|c, v| found += if c == atom.row { v } else { 0.0 });
                found
            }
            kernel => kernel.from_dot(self.norms[atom.row], self.norms[atom.row], self.norms[atom.row]),
        }
    }

    /// Mean of K(x, x) over the rows, for the first kernel.
    pub fn mean_own(&self) -> f64 {
        (0..self.rows()).map(|row| self.own(Atom { row, scale: 0 })).sum::<f64>() / self.rows().max(1) as f64
    }

    /// Values of the atoms on all rows: n × atoms, row-major.
    pub fn block(&self, atoms: &[Atom]) -> Vec<f64> {
        let width = atoms.len();
        let mut out = vec![0.0; self.rows() * width];
        if self.kernels.contains(&Kernel::Precomputed) {
            for (k, atom) in atoms.iter().enumerate() {
                self.x.row(atom.row).for_each(|c, v| out[c * width + k] = v);
            }
            return out;
        }
        let rows: Vec<usize> = atoms.iter().map(|a| a.row).collect();
        if let Some(Matrix::Dense { values, cols, .. }) = &self.dense {
            let chosen: Vec<f64> =
                rows.iter().flat_map(|&r| &values[r * cols..(r + 1) * cols]).copied().collect();
            out.par_chunks_mut(ROWS_PER_TASK * width.max(1)).enumerate().for_each(|(block, part)| {
                let count = part.len() / width;
                linalg::cross_products(
                    &chosen,
                    width,
                    &values[block * ROWS_PER_TASK * cols..],
                    count,
                    *cols,
                    part,
                );
                self.kernels_of(atoms, block * ROWS_PER_TASK, part);
            });
        } else {
            self.sparse_products(&rows, &mut out);
            out.par_chunks_mut(ROWS_PER_TASK * width.max(1)).enumerate().for_each(|(block, part)| {
                self.kernels_of(atoms, block * ROWS_PER_TASK, part);
            });
        }
        out
    }

    /// Converts inner products into kernel values, for rows from `first` on.
    fn kernels_of(&self, atoms: &[Atom], first: usize, part: &mut [f64]) {
        for (i, part) in part.chunks_exact_mut(atoms.len().max(1)).enumerate() {
            for (v, atom) in part.iter_mut().zip(atoms) {
                *v = self.kernels[atom.scale].from_dot(*v, self.norms[first + i], self.norms[atom.row]);
            }
        }
    }

    /// Inner products of all rows with some rows, which are converted to dense form a few at a time.
    fn sparse_products(&self, rows: &[usize], out: &mut [f64]) {
        let (cols, width) = (self.x.cols(), rows.len());
        let few = (MAX_DENSE_VALUES / cols.max(1)).clamp(1, 64);
        for (part, rows) in rows.chunks(few).enumerate() {
            let w = rows.len();
            let mut dense = vec![0.0; cols * w];
            for (k, &r) in rows.iter().enumerate() {
                self.x.row(r).for_each(|c, v| dense[c * w + k] = v);
            }
            out.par_chunks_mut(width).enumerate().with_min_len(64).for_each(|(i, out)| {
                let out = &mut out[part * few..part * few + w];
                self.x.row(i).for_each(|c, v| {
                    out.iter_mut().zip(&dense[c * w..(c + 1) * w]).for_each(|(o, s)| *o += v * s);
                });
            });
        }
    }
}

/// Refuses a kernel matrix that is not symmetric.
fn check_symmetric(k: MatrixView<'_>) -> Result<()> {
    let Matrix::Dense { values, rows: n, .. } = k.to_dense() else { return Ok(()) };
    for i in 0..n {
        for j in 0..i {
            let (a, b) = (values[i * n + j], values[j * n + i]);
            if (a - b).abs() > 1e-6 * (a.abs() + b.abs()) {
                return Err(Error::Data(format!(
                    "kernel matrix: row {}, column {} is {a} but row {}, column {} is {b}; it must be symmetric",
                    i + 1,
                    j + 1,
                    j + 1,
                    i + 1
                )));
            }
        }
    }
    Ok(())
}
