//! The leading directions of the data, as a picture that shortens distances.
//!
//! With orthonormal directions Q and the rest r = |x − QQᵀx|, the point (Qᵀx, r) is nowhere farther from another such point
//! than x from the other: |x − z|² = |Qᵀ(x − z)|² + |(I − QQᵀ)(x − z)|², and the latter is at least (r − r')². With few
//! directions that hold most of the variance it is nearly as far, and a product costs a fraction.
//!
//! Q comes from subspace iteration on the covariance of some rows, spread over the data. How good it is decides the time,
//! not the answer; only that it is orthonormal matters. Then |Qᵀx|² is off by a few hundred units of double precision at
//! most, r by the root ρ|x| of that, and squared distances by (4ρ + 2ρ²)(nᵢ + nⱼ) < 5ρ(nᵢ + nⱼ).

use super::pairs::{Centre, Picture};
use crate::linalg;
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;

/// Directions, with the rest as one more column.
const DIRECTIONS: usize = 127;
/// Rows the directions are learnt from, and steps.
const SAMPLE: usize = 1000;
const STEPS: usize = 4;
/// With fewer rows or columns the whole is as quick.
const FEWEST_ROWS: usize = 1000;
const FEWEST_COLUMNS: usize = 3 * (DIRECTIONS + 1);
/// Share of the squared lengths that the directions must hold.
const SHARE: f64 = 0.6;
/// Rows projected at a time.
const BLOCK: usize = 256;

/// The picture, if it promises to pay.
pub(super) fn picture(x: &[f64], cols: usize, centre: &Centre) -> Option<Picture> {
    let rows = x.len() / cols;
    if rows < FEWEST_ROWS || cols < FEWEST_COLUMNS {
        return None;
    }
    let q = directions(x, cols, centre)?;
    let width = DIRECTIONS + 1;
    let mut values = vec![0.0f32; rows * width];
    let blocks = values.par_chunks_mut(BLOCK * width).zip(x.par_chunks(BLOCK * cols));
    let measured: Vec<Vec<(f64, f64)>> = blocks
        .map(|(out, x)| {
            let centred: Vec<f64> = x.chunks_exact(cols).flat_map(|row| centre.of(row)).collect();
            let mut along = vec![0.0; centred.len() / cols * DIRECTIONS];
            linalg::cross_products(&q, DIRECTIONS, &centred, centred.len() / cols, cols, &mut along);
            let rows = centred.chunks_exact(cols).zip(along.chunks_exact(DIRECTIONS));
            let place = |(out, (row, along)): (&mut [f32], (&[f64], &[f64]))| {
                let (norm, held) = (dot(row, row), dot(along, along));
                out.iter_mut().zip(along).for_each(|(out, v)| *out = *v as f32);
                out[DIRECTIONS] = (norm - held).max(0.0).sqrt() as f32;
                (norm, held)
            };
            out.chunks_exact_mut(width).zip(rows).map(place).collect()
        })
        .collect();
    let norms: Vec<f64> = measured.iter().flatten().map(|m| m.0).collect();
    let held: f64 = measured.iter().flatten().map(|m| m.1).sum();
    let rho = ((cols + DIRECTIONS + 10) as f64 * f64::EPSILON).sqrt();
    (held >= SHARE * norms.iter().sum::<f64>())
        .then(|| Picture::new(values, width, &norms, 5.0 * rho, centre.scale()))
}

/// Orthonormal rows near the leading eigenvectors of the covariance.
fn directions(x: &[f64], cols: usize, centre: &Centre) -> Option<Vec<f64>> {
    let rows = x.len() / cols;
    let count = SAMPLE.min(rows);
    // columns of the sample as rows, so that the covariance is a table of products
    let mut sample = vec![0.0f32; count * cols];
    for s in 0..count {
        let i = s * rows / count;
        let row = centre.of(&x[i * cols..(i + 1) * cols]);
        row.enumerate().for_each(|(c, v)| sample[c * count + s] = v as f32);
    }
    let mut covariance = vec![0.0f32; cols * cols];
    linalg::cross_products(&sample, cols, &sample, cols, count, &mut covariance);
    let mut rng = rand_pcg::Pcg64::seed_from_u64(0);
    let mut q: Vec<f32> = (0..DIRECTIONS * cols).map(|_| rng.random::<f32>() - 0.5).collect();
    let mut image = vec![0.0f32; q.len()];
    let mut exact = Vec::new();
    for _ in 0..STEPS {
        linalg::cross_products(&covariance, cols, &q, DIRECTIONS, cols, &mut image);
        exact = image.iter().map(|v| f64::from(*v)).collect();
        orthonormalise(&mut exact, cols)?;
        q.iter_mut().zip(&exact).for_each(|(q, e)| *q = *e as f32);
    }
    Some(exact)
}

/// Gram and Schmidt, twice, which is enough (Kahan and Parlett); none if a row depends on those before it.
fn orthonormalise(q: &mut [f64], cols: usize) -> Option<()> {
    for at in 0..q.len() / cols {
        let (before, rest) = q.split_at_mut(at * cols);
        let own = &mut rest[..cols];
        for _ in 0..2 {
            let length = dot(own, own).sqrt();
            for other in before.chunks_exact(cols) {
                let along = dot(own, other);
                own.iter_mut().zip(other).for_each(|(v, o)| *v -= along * o);
            }
            let left = dot(own, own).sqrt();
            if !(left > 1e-8 * length) {
                return None;
            }
            own.iter_mut().for_each(|v| *v /= left);
        }
    }
    Some(())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    for (a, b) in a.iter().zip(b) {
        for l in 0..8 {
            sums[l] += a[l] * b[l];
        }
    }
    sums.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f64>()
}
