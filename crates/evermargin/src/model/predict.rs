//! Decision values of many samples: in blocks, threaded, in single precision.

use super::Model;
use crate::data::{MatrixView, Row};
use crate::error::{Error, Result};
use crate::kernel::gram::{Packed, Queries, Scratch, TILE};
use crate::math::simd;
use rayon::prelude::*;

/// Number of samples per thread and step.
const GROUP: usize = 128;

/// Data that a model prepares once for many predictions: the points of an expansion in packed form.
#[derive(Debug)]
pub struct Ready(Option<Packed>);

impl Model {
    /// Prepares the model for many predictions.
    pub fn ready(&self) -> Ready {
        match self {
            Self::Expansion { kernel, points, .. } => {
                Ready(Packed::exact_if_small(points.view(), *kernel).ok())
            }
            _ => Ready(None),
        }
    }

    /// Decision values of the rows of `x`, row by row ([`Model::outputs`] values each).
    pub fn decision(&self, x: MatrixView<'_>) -> Result<Vec<f64>> {
        self.decision_by(&self.ready(), x)
    }

    /// The same, bit-identical, with the result of [`Model::ready`] of this model.
    pub fn decision_by(&self, ready: &Ready, x: MatrixView<'_>) -> Result<Vec<f64>> {
        if x.cols() != self.cols() {
            return Err(Error::Shape { what: "columns", expected: self.cols(), found: x.cols() });
        }
        let mut out = vec![0.0; x.rows() * self.outputs()];
        match self {
            Self::Linear { weights, bias } => linear(weights, bias, x, &mut out),
            Self::Views { parts, bias, .. } => super::views::decision(parts, bias, x, &mut out)?,
            Self::Expansion { points, .. } => {
                if let Some(packed) = &ready.0 {
                    if (packed.rows(), packed.cols()) != (points.rows(), points.cols()) {
                        return Err(Error::Model("prepared for another model".into()));
                    }
                    self.expansion(packed, x, &mut out);
                } else {
                    let rows = out.par_chunks_mut(self.outputs()).enumerate();
                    rows.for_each(|(i, f)| self.decide_in_double_precision(x.row(i), f));
                }
            }
        }
        Ok(out)
    }

    /// Decision values of an expansion. Threads take groups of samples; each group is compared with the points tile by
    /// tile.
    fn expansion(&self, points: &Packed, x: MatrixView<'_>, out: &mut [f64]) {
        let Self::Expansion { coef, bias, .. } = self else { return };
        let (group, outputs) = (points.pass().min(GROUP), bias.len());
        let nonzero = nonzero_outputs(coef, points.rows());
        let state = || (Queries::default(), Scratch::default());
        out.par_chunks_mut(group * outputs).enumerate().for_each_init(
            state,
            |(queries, scratch), (g, out)| {
                let first = g * group;
                points.load(x, first..first + out.len() / outputs, queries);
                out.chunks_exact_mut(outputs).for_each(|f| f.copy_from_slice(bias));
                for (start, nonzero) in (0..points.rows()).step_by(TILE).zip(&nonzero) {
                    let end = (start + TILE).min(points.rows());
                    let tile = points.tile_in(queries, start..end, scratch);
                    for (k, f) in tile.chunks_exact(end - start).zip(out.chunks_exact_mut(outputs)) {
                        for &j in nonzero {
                            f[j] += simd::dot(k, &coef[j][start..end]);
                        }
                    }
                }
                for j in queries.overflowing() {
                    self.decide_in_double_precision(
                        x.row(first + j),
                        &mut out[j * outputs..(j + 1) * outputs],
                    );
                }
            },
        );
    }

    /// One sample in double precision, for values that single precision cannot hold.
    fn decide_in_double_precision(&self, row: Row<'_>, out: &mut [f64]) {
        let Self::Expansion { kernel, points, coef, bias } = self else { return };
        out.copy_from_slice(bias);
        for j in 0..points.rows() {
            let k = kernel.eval(points.view().row(j), row);
            out.iter_mut().zip(coef).for_each(|(f, coef)| *f += coef[j] * k);
        }
    }
}

/// For each tile of points, the outputs with a coefficient other than zero there: one-vs-one models are mostly zeros.
fn nonzero_outputs(coef: &[Vec<f64>], points: usize) -> Vec<Vec<usize>> {
    let nonzero =
        |start: usize, j: usize| coef[j][start..(start + TILE).min(points)].iter().any(|c| *c != 0.0);
    (0..points).step_by(TILE).map(|start| (0..coef.len()).filter(|&j| nonzero(start, j)).collect()).collect()
}

fn linear(weights: &[Vec<f64>], bias: &[f64], x: MatrixView<'_>, out: &mut [f64]) {
    out.par_chunks_mut(bias.len()).enumerate().with_min_len(256).for_each(|(i, f)| {
        f.copy_from_slice(bias);
        for (f, w) in f.iter_mut().zip(weights) {
            x.row(i).for_each(|c, v| *f += v * w[c]);
        }
    });
}
