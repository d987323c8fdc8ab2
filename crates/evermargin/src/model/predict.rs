//! Decision values of many samples: blocked, threaded, single precision inside.

use super::Model;
use crate::data::MatrixView;
use crate::error::{Error, Result};
use crate::gram::{Packed, Queries, Scratch, TILE};
use crate::simd;
use rayon::prelude::*;

impl Model {
    /// Decision values of the rows of `x`, row by row ([`Model::outputs`] values each).
    pub fn decision(&self, x: MatrixView<'_>) -> Result<Vec<f64>> {
        if x.cols() != self.cols() {
            return Err(Error::Shape { what: "columns", expected: self.cols(), found: x.cols() });
        }
        let mut out = vec![0.0; x.rows() * self.outputs()];
        match self {
            Self::Linear { weights, bias } => linear(weights, bias, x, &mut out),
            Self::Expansion { kernel, points, coef, bias } => {
                expansion(&Packed::new(points.view(), *kernel)?, coef, bias, x, &mut out);
                self.repair_extremes(x, &mut out);
            }
        }
        Ok(out)
    }

    /// Samples too large for single precision, computed plainly.
    fn repair_extremes(&self, x: MatrixView<'_>, out: &mut [f64]) {
        let Self::Expansion { kernel, points, coef, bias } = self else { return };
        for (i, f) in out.chunks_exact_mut(bias.len()).enumerate() {
            let row = x.row(i);
            if row.norm2() < 1e30 {
                continue;
            }
            f.copy_from_slice(bias);
            for j in 0..points.rows() {
                let k = kernel.eval(points.view().row(j), row);
                f.iter_mut().zip(coef).for_each(|(f, coef)| *f += coef[j] * k);
            }
        }
    }
}

fn linear(weights: &[Vec<f64>], bias: &[f64], x: MatrixView<'_>, out: &mut [f64]) {
    out.par_chunks_mut(bias.len()).enumerate().with_min_len(256).for_each(|(i, f)| {
        f.copy_from_slice(bias);
        for (f, w) in f.iter_mut().zip(weights) {
            x.row(i).for_each(|c, v| *f += v * w[c]);
        }
    });
}

/// Threads take groups of samples; each group meets the points tile by tile.
fn expansion(points: &Packed, coef: &[Vec<f64>], bias: &[f64], x: MatrixView<'_>, out: &mut [f64]) {
    let (group, outputs) = (points.pass().min(128), bias.len());
    let state = || (Queries::default(), Scratch::default());
    out.par_chunks_mut(group * outputs).enumerate().for_each_init(state, |(queries, scratch), (g, out)| {
        let rows = g * group..g * group + out.len() / outputs;
        points.load(x, rows, queries);
        out.chunks_exact_mut(outputs).for_each(|f| f.copy_from_slice(bias));
        for start in (0..points.rows()).step_by(TILE) {
            let end = (start + TILE).min(points.rows());
            let tile = points.tile_in(queries, start..end, scratch);
            for (k, f) in tile.chunks_exact(end - start).zip(out.chunks_exact_mut(outputs)) {
                for (f, coef) in f.iter_mut().zip(coef) {
                    *f += simd::dot(k, &coef[start..end]);
                }
            }
        }
    });
}
