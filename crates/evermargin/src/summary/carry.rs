//! Weights of exemplars: the weight of every row is added to the exemplar most similar to it.
//!
//! Similarity is measured by the distance in feature space, |φ(x) − φ(e)|² = Kₓₓ + Kₑₑ − 2Kₓₑ. For the RBF kernel that is the
//! largest K; for the linear kernel the largest K would favor long exemplars. Ties go to the exemplar chosen first.
//! (Emara gives no weights of exemplars; without weights sparse regions, which exemplars over-represent, would count as
//! much as dense ones.)

use super::quadratic::check_kernel;
use crate::data::MatrixView;
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::kernel::gram::{Packed, Queries, Scratch, TILE};
use rayon::prelude::*;

/// The weights of the rows `picks` of `x` (in that order) after each row's weight (`weight`, empty for 1 each) is added
/// to the pick most similar to it. Their sum equals the total weight.
pub fn carry_weights(x: MatrixView<'_>, weight: &[f64], picks: &[usize], kernel: Kernel) -> Result<Vec<f64>> {
    check_kernel(&kernel)?;
    let n = x.rows();
    if !weight.is_empty() && weight.len() != n {
        return Err(Error::Shape { what: "weights of rows", expected: n, found: weight.len() });
    }
    if let Some(&pick) = picks.iter().find(|p| **p >= n) {
        return Err(Error::Shape { what: "rows chosen from", expected: pick + 1, found: n });
    }
    let mut carried = vec![0.0; picks.len()];
    if picks.is_empty() {
        return Ok(carried);
    }
    let mut nearest = nearest_packed_rows(x, &Packed::new(x.select(picks).view(), kernel)?);
    (0..picks.len()).rev().for_each(|k| nearest[picks[k]] = k as u32);
    for (i, &k) in nearest.iter().enumerate() {
        carried[k as usize] += weight.get(i).copied().unwrap_or(1.0);
    }
    Ok(carried)
}

/// The index of the packed row most similar to each row of `x`.
fn nearest_packed_rows(x: MatrixView<'_>, packed: &Packed) -> Vec<u32> {
    let (pass, mut nearest) = (packed.pass(), vec![0; x.rows()]);
    nearest.par_chunks_mut(pass).enumerate().for_each_init(
        || (Queries::default(), Scratch::default(), Vec::new()),
        |(queries, scratch, best), (block, nearest)| {
            packed.load(x, block * pass..block * pass + nearest.len(), queries);
            best.clear();
            best.resize(nearest.len(), f64::INFINITY);
            for first in (0..packed.rows()).step_by(TILE) {
                let last = (first + TILE).min(packed.rows());
                let tile = packed.tile_in(queries, first..last, scratch);
                for ((row, nearest), best) in
                    tile.chunks_exact(last - first).zip(&mut *nearest).zip(&mut *best)
                {
                    for (e, &k) in (first..last).zip(row) {
                        let distance = packed.diag(e) - 2.0 * f64::from(k);
                        if distance < *best {
                            (*nearest, *best) = (e as u32, distance);
                        }
                    }
                }
            }
        },
    );
    nearest
}
