//! Distances along dense regions (Chapelle & Zien 2005), for methods whose results the source quotes.
//!
//! The edge between two rows has length exp(ρd) − 1, where d is their distance in median distances. With the shortest path p
//! between two rows, their squared distance is (log(1 + p)/ρ)². For large ρ this is the longest edge of the path whose longest
//! edge is shortest; for ρ → 0 it is the plain distance. Rows get coordinates with these distances, as far as they exist.

use super::median_distance2;
use crate::failure::Result;
use evermargin::Matrix;
use evermargin::math::linalg;

/// Maximum exponent, so that sums of a few edge lengths stay finite.
const FAR: f64 = 600.0;

/// Squared distances of all pairs of rows, row-major, in squared median distances.
pub(super) fn squared(x: &Matrix, rho: f64) -> Vec<f64> {
    let (view, median2) = (x.view(), median_distance2(x));
    let n = view.rows();
    let norms: Vec<f64> = (0..n).map(|i| view.row(i).norm2()).collect();
    let plain = |(i, j): (usize, usize)| {
        (norms[i] + norms[j] - 2.0 * view.row(i).dot(view.row(j))).max(0.0) / median2
    };
    let mut d: Vec<f64> = (0..n * n).map(|at| plain((at / n, at % n))).collect();
    if rho == 0.0 {
        return d;
    }
    // limit the lengths of edges between distant rows
    d.iter_mut().for_each(|d| *d = (rho * d.sqrt()).min(FAR).exp_m1());
    shorten(&mut d, n);
    d.iter_mut().for_each(|d| *d = (d.ln_1p() / rho).powi(2));
    d
}

/// Replaces edge lengths by the lengths of shortest paths (Floyd & Warshall).
fn shorten(d: &mut [f64], n: usize) {
    for k in 0..n {
        let through = d[k * n..(k + 1) * n].to_vec();
        for row in d.chunks_exact_mut(n) {
            let first = row[k];
            row.iter_mut().zip(&through).for_each(|(d, rest)| *d = d.min(first + rest));
        }
    }
}

/// Coordinates with the given squared distances: the directions of largest variance that keep all variance except the share `left`,
/// without directions whose variance is less than that share of the first.
pub(super) fn coordinates(squared: &[f64], n: usize, left: f64) -> Result<Matrix> {
    let means: Vec<f64> = squared.chunks_exact(n).map(|row| row.iter().sum::<f64>() / n as f64).collect();
    let mean = means.iter().sum::<f64>() / n as f64;
    let centered = |at: usize| -0.5 * (squared[at] - means[at / n] - means[at % n] + mean);
    let products: Vec<f64> = (0..n * n).map(centered).collect();
    let (roots, vectors) = linalg::eigen(&products, n)?;
    let spread: f64 = roots.iter().map(|r| r.max(0.0)).sum();
    let most = roots.last().copied().unwrap_or(0.0);
    let (mut kept, mut sum) = (0, 0.0);
    for root in roots.iter().rev().take_while(|r| **r > 1e-9 * most) {
        if sum >= (1.0 - left) * spread && *root <= left * most {
            break;
        }
        sum += root;
        kept += 1;
    }
    let axes: Vec<(f64, &[f64])> =
        roots.iter().copied().zip(vectors.chunks_exact(n)).rev().take(kept).collect();
    let values = (0..n).flat_map(|i| axes.iter().map(move |(root, axis)| root.sqrt() * axis[i]));
    Ok(Matrix::dense(values.collect(), n, kept)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line() -> Matrix {
        Matrix::dense(vec![0.0, 1.0, 2.0, 3.0, 7.0, 8.0], 6, 1).unwrap()
    }

    #[test]
    fn paths_prefer_short_edges() {
        let x = line();
        let median = median_distance2(&x).sqrt();
        let plain = squared(&x, 0.0);
        assert!((plain[3] - (3.0 / median).powi(2)).abs() < 1e-12);
        let far = squared(&x, 60.0);
        // the longest edge of the path, plus a small term per edge
        assert!((far[3].sqrt() - 1.0 / median).abs() < 0.1 / median);
        assert!((far[4].sqrt() - 4.0 / median).abs() < 0.1 / median);
        assert!((squared(&x, 1e-6)[4].sqrt() - plain[4].sqrt()).abs() < 1e-5);
        assert!((0..36).all(|at| far[at] <= plain[at] + 1e-12 && far[at] == far[at % 6 * 6 + at / 6]));
    }

    #[test]
    fn coordinates_have_the_distances() {
        let x = Matrix::dense((0..24).map(|i| f64::from(i * i % 17)).collect(), 8, 3).unwrap();
        let d = squared(&x, 0.0);
        let found = coordinates(&d, 8, 0.0).unwrap();
        assert_eq!(found.view().cols(), 3);
        let again = squared(&found, 0.0);
        assert!(d.iter().zip(&again).all(|(a, b)| (a - b).abs() < 1e-9));
        assert_eq!(coordinates(&d, 8, 0.9).unwrap().view().cols(), 1);
    }
}
