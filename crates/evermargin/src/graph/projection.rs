//! Projection on the leading directions of the data, as an embedding that never increases a distance.
//!
//! With orthonormal directions Q and the residual r = |x − QQᵀx|, the point (Qᵀx, r) is not farther from another such
//! point than x is from the other row: |x − z|² = |Qᵀ(x − z)|² + |(I − QQᵀ)(x − z)|², and the latter is at least (r − r')².
//! If a few directions hold most of the variance, the distances are nearly equal and a product costs a fraction.
//!
//! Q comes from subspace iteration on the covariance of a sample of rows, spread over the data. Its quality affects the
//! time, not the result; only its deviation from orthonormality matters: δ ≥ |QQᵀ − I| for the rows of Q, measured. In
//! double precision Qᵀx has an error of at most (√p·γ + δ)|x| for p directions of d columns, γ = d·2⁻⁵³, and its square of
//! at most twice that. The error of r is at most the root ρ|x| of the latter, if nothing else is lost. The error of squared
//! distances is therefore at most (4ρ + 2ρ²)(nᵢ + nⱼ) < 5ρ(nᵢ + nⱼ).

use super::pairs::{Center, Embedding};
use crate::math::linalg;
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;

/// Number of directions; the residual is one more column.
const DIRECTIONS: usize = 127;
/// Number of rows in the sample, and number of subspace iterations.
const SAMPLE: usize = 1000;
const STEPS: usize = 4;
/// With fewer rows or columns, an embedding of all columns is as fast.
const MIN_ROWS: usize = 1000;
const MIN_COLUMNS: usize = 3 * (DIRECTIONS + 1);
/// Minimum fraction of the squared lengths that the directions must hold.
const SHARE: f64 = 0.6;
/// Rows projected at a time.
const BLOCK: usize = 256;

/// The embedding, or `None` if it would not save time.
pub(super) fn embedding(x: &[f64], cols: usize, center: &Center) -> Option<Embedding> {
    let rows = x.len() / cols;
    if rows < MIN_ROWS || cols < MIN_COLUMNS {
        return None;
    }
    let q = directions(x, cols, center)?;
    let width = DIRECTIONS + 1;
    let mut values = vec![0.0f32; rows * width];
    let blocks = values.par_chunks_mut(BLOCK * width).zip(x.par_chunks(BLOCK * cols));
    let measured: Vec<Vec<(f64, f64)>> = blocks
        .map_init(
            || (vec![0.0; BLOCK * cols], vec![0.0; BLOCK * DIRECTIONS]),
            |(centered, along), (out, x)| {
                let count = x.len() / cols;
                for (to, row) in centered.chunks_exact_mut(cols).zip(x.chunks_exact(cols)) {
                    to.iter_mut().zip(center.of(row)).for_each(|(to, v)| *to = v);
                }
                linalg::cross_products(&q, DIRECTIONS, centered, count, cols, along);
                let rows = centered.chunks_exact(cols).zip(along.chunks_exact(DIRECTIONS));
                let place = |(out, (row, along)): (&mut [f32], (&[f64], &[f64]))| {
                    let (norm, held) = (dot(row, row), dot(along, along));
                    out.iter_mut().zip(along).for_each(|(out, v)| *out = *v as f32);
                    out[DIRECTIONS] = (norm - held).max(0.0).sqrt() as f32;
                    (norm, held)
                };
                out.chunks_exact_mut(width).zip(rows).map(place).collect()
            },
        )
        .collect();
    let norms: Vec<f64> = measured.iter().flatten().map(|m| m.0).collect();
    let held: f64 = measured.iter().flatten().map(|m| m.1).sum();
    let rounding = (DIRECTIONS as f64).sqrt() * (cols + DIRECTIONS + 10) as f64 * f64::EPSILON;
    let rho = (2.0 * (rounding + defect(&q, cols))).sqrt();
    (held >= SHARE * norms.iter().sum::<f64>())
        .then(|| Embedding::new(values, width, &norms, 5.0 * rho, center.scale()))
}

/// Orthonormal rows near the leading eigenvectors of the covariance.
fn directions(x: &[f64], cols: usize, center: &Center) -> Option<Vec<f64>> {
    let rows = x.len() / cols;
    let count = SAMPLE.min(rows);
    // the columns of the sample as rows, so that the covariance is a matrix of products
    let mut sample = vec![0.0f32; count * cols];
    for s in 0..count {
        let i = s * rows / count;
        let row = center.of(&x[i * cols..(i + 1) * cols]);
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
        orthonormalize(&mut exact, cols)?;
        q.iter_mut().zip(&exact).for_each(|(q, e)| *q = *e as f32);
    }
    Some(exact)
}

/// Gram–Schmidt with one reorthogonalization, which is enough (Kahan and Parlett); `None` if a row depends on earlier rows.
fn orthonormalize(q: &mut [f64], cols: usize) -> Option<()> {
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
            if left.is_nan() || left <= 1e-8 * length {
                return None;
            }
            own.iter_mut().for_each(|v| *v /= left);
        }
    }
    Some(())
}

/// δ: the largest row sum of |QQᵀ − I|, plus a bound on the rounding error of computing it.
fn defect(q: &[f64], cols: usize) -> f64 {
    let p = q.len() / cols;
    let mut products = vec![0.0; p * p];
    linalg::cross_products(q, p, q, p, cols, &mut products);
    (0..p).for_each(|i| products[i * p + i] -= 1.0);
    let sum = |row: &[f64]| row.iter().map(|v| v.abs()).sum::<f64>();
    products.chunks_exact(p).map(sum).fold(0.0, f64::max) + (p * cols) as f64 * f64::EPSILON
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows near a 30-dimensional subspace; the last hundred are copies of one row.
    fn data(rows: usize, cols: usize) -> Vec<f64> {
        let value = |i: usize, c: usize| {
            let i = i.min(rows - 100);
            (0..30)
                .map(|s| ((i * (s + 3) * 7 + s) as f64).sin() * ((c * (2 * s + 1)) as f64).cos())
                .sum::<f64>()
                + 0.05 * ((i * 31 + c * 17) as f64).sin()
        };
        (0..rows * cols).map(|at| value(at / cols, at % cols)).collect()
    }

    #[test]
    fn directions_are_orthonormal_and_hold_the_variance() {
        let (rows, cols) = (1100, MIN_COLUMNS);
        let x = data(rows, cols);
        let center = Center::new(&x, cols);
        let q = directions(&x, cols, &center).unwrap();
        assert!(defect(&q, cols) < 1e-10);
        let mut bent = q.clone();
        bent[cols..2 * cols].copy_from_slice(&q[..cols]);
        assert!(defect(&bent, cols) > 0.9);
        assert!(embedding(&x, cols, &center).is_some());
        // noise has no leading directions, and few rows are searched without a projection
        let noise: Vec<f64> = (0..rows * 800).map(|k| ((k * k % 10_007) as f64 * 1.7).sin()).collect();
        assert!(embedding(&noise, 800, &Center::new(&noise, 800)).is_none());
        assert!(embedding(&x[..500 * cols], cols, &center).is_none());
    }

    #[test]
    fn orthonormalize_refuses_dependent_rows() {
        let mut q = vec![1.0, 2.0, 2.0, 2.0, 4.0, 4.0];
        assert!(orthonormalize(&mut q, 3).is_none());
        assert!(orthonormalize(&mut [0.0; 6], 3).is_none());
        let mut q = vec![1.0, 2.0, 2.0, 2.0, 4.0, 4.001];
        orthonormalize(&mut q, 3).unwrap();
        assert!(dot(&q[..3], &q[3..]).abs() < 1e-15);
    }
}
