//! The spectral graph transducer (Joachims 2003), a method whose results the source quotes.
//!
//! Problem: over z in the span of the d smoothest eigenvectors of I − D⁻¹W of a graph (without the constant one), z = Vw,
//! min wᵀΔw + c(z − γ)ᵀC(z − γ) with |w|² = n. Δ is diagonal, k² for the k-th eigenvector in place of its eigenvalue; γ is
//! √(l₋/l₊) for positive labeled rows and −√(l₊/l₋) for negative ones; C gives both classes equal weight.
//!
//! The graph connects each row to its nearest neighbors by cosine; the weights of the edges of a row sum to 1, and the weights of the
//! two directions are added. Rows without edges are not in the graph and have z = 0.
//!
//! With G = Δ + cVᵀCV = QΛQᵀ and b = cVᵀCγ, the minimum is w = (G − λI)⁻¹b with the λ below all eigenvalues Λ for which |w|² = n.

use super::many::Draw;
use crate::failure::{Failure, Result};
use evermargin::MatrixView;
use evermargin::estimators::manifold::spectral::plain;
use evermargin::graph::{Graph, neighbors};
use evermargin::math::linalg;
use std::collections::BTreeMap;

/// Number of eigenvectors and weight of the labels, as chosen by the author.
pub(super) const VECTORS: usize = 80;
pub(super) const WEIGHT: f64 = 3200.0;
/// Number of bisection steps for λ, which reach machine precision.
const HALVINGS: usize = 200;

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(t: f64, x: &[f64], y: &mut [f64]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y += t * x);
}

/// The smoothest functions on a graph, with their rows.
pub(super) struct Transducer {
    vectors: Vec<Vec<f64>>,
    /// Rows in the graph.
    within: usize,
}

/// Graph of rows of length 1 with their nearest neighbors.
fn joined(x: MatrixView<'_>, count: usize) -> Result<Graph> {
    let near = neighbors(x, count, &()).ok_or_else(|| Failure::Content("no neighbors".into()))?;
    let mut weights = BTreeMap::<(usize, usize), f64>::new();
    for (i, near) in near.iter().enumerate() {
        let alike: Vec<f64> = near.iter().map(|&j| x.row(i).dot(x.row(j as usize)).max(0.0)).collect();
        let sum = alike.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        for (&j, alike) in near.iter().zip(alike) {
            let (j, weight) = (j as usize, alike / sum);
            *weights.entry((i.min(j), i.max(j))).or_default() += weight;
        }
    }
    let edges: Vec<(usize, usize, f64)> = weights.into_iter().map(|((i, j), w)| (i, j, w)).collect();
    Ok(Graph::from_edges(x.rows(), &edges)?)
}

impl Transducer {
    /// Computes at most `max` functions on a graph without isolated rows.
    pub fn new(graph: &Graph, max: usize) -> Result<Self> {
        let count = max.min(graph.len().saturating_sub(1));
        let mut vectors = plain(graph, count, true)?;
        for v in &mut vectors {
            v.iter_mut().zip(graph.degrees()).for_each(|(v, d)| *v /= d.max(f64::MIN_POSITIVE).sqrt());
            let length = dot(v, v).sqrt().max(f64::MIN_POSITIVE);
            v.iter_mut().for_each(|v| *v /= length);
        }
        Ok(Self { vectors, within: graph.len() })
    }

    /// Computes at most `max` functions on the neighborhood graph of rows of length 1.
    pub fn of(x: MatrixView<'_>, n_neighbors: usize, max: usize) -> Result<Self> {
        let all = joined(x, n_neighbors)?;
        let within: Vec<usize> = (0..x.rows()).filter(|&i| all.degrees()[i] > 0.0).collect();
        let part = Self::new(&joined(x.select(&within).view(), n_neighbors)?, max)?;
        let spread = |v: &Vec<f64>| {
            let mut out = vec![0.0; x.rows()];
            within.iter().zip(v).for_each(|(&i, v)| out[i] = *v);
            out
        };
        Ok(Self { vectors: part.vectors.iter().map(spread).collect(), ..part })
    }

    /// The transducer with the `count` smoothest functions.
    pub fn first(&self, count: usize) -> Self {
        Self { vectors: self.vectors.iter().take(count).cloned().collect(), within: self.within }
    }

    /// Scores of all rows from the labels of a draw, which must contain the class and another one. The boundary, in the middle between
    /// the targets of the two sides, is 0.
    pub fn scores(&self, draw: &Draw, class: &[u32], positive: u32, c: f64) -> Result<Vec<f64>> {
        let count = draw.known.iter().filter(|&&i| class[i] == positive).count() as f64;
        let all = draw.known.len() as f64;
        if count == 0.0 || count == all {
            return Err(Failure::Content("labels of one class only".into()));
        }
        let target = [-(count / (all - count)).sqrt(), ((all - count) / count).sqrt()];
        let of = |i: usize| {
            let side = usize::from(class[i] == positive);
            (target[side], c * all / (2.0 * [all - count, count][side]))
        };
        let d = self.vectors.len();
        let (mut g, mut b) = (vec![0.0; d * d], vec![0.0; d]);
        (0..d).for_each(|k| g[k * d + k] = ((k + 1) * (k + 1)) as f64);
        for &i in &draw.known {
            let (target, weight) = of(i);
            let row: Vec<f64> = self.vectors.iter().map(|v| v[i]).collect();
            g.chunks_exact_mut(d).zip(&row).for_each(|(g, v)| add(weight * v, &row, g));
            add(weight * target, &row, &mut b);
        }
        let w = on_sphere(&g, &b, (self.within as f64).sqrt())?;
        let mut z = vec![-f64::midpoint(target[0], target[1]); class.len()];
        self.vectors.iter().zip(&w).for_each(|(v, w)| add(*w, v, &mut z));
        Ok(z)
    }
}

/// Minimum of wᵀGw − 2bᵀw over w of a given length.
fn on_sphere(g: &[f64], b: &[f64], length: f64) -> Result<Vec<f64>> {
    let d = b.len();
    if b.iter().all(|b| *b == 0.0) {
        return Ok(vec![0.0; d]);
    }
    let (roots, vectors) = linalg::eigen(g, d)?;
    let along: Vec<f64> = vectors.chunks_exact(d).map(|q| dot(q, b)).collect();
    let size =
        |lambda: f64| along.iter().zip(&roots).map(|(a, r)| (a / (r - lambda)).powi(2)).sum::<f64>().sqrt();
    // below the first root |w| grows from at most `length` to infinity
    let mut span = [roots[0] - dot(b, b).sqrt() / length, roots[0]];
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(span[0], span[1]);
        span[usize::from(size(middle) > length)] = middle;
    }
    let mut w = vec![0.0; d];
    let free = |r: &f64| *r > span[0];
    for ((a, r), q) in along.iter().zip(&roots).zip(vectors.chunks_exact(d)).filter(|((_, r), _)| free(r)) {
        add(a / (r - span[0]), q, &mut w);
    }
    Ok(w)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solution_is_the_minimum_on_the_sphere() {
        let g = [3.0, 1.0, 0.0, 1.0, 2.0, 0.5, 0.0, 0.5, 4.0];
        let b = [1.0, -2.0, 0.5];
        let value = |w: &[f64]| {
            let image: Vec<f64> = g.chunks_exact(3).map(|row| dot(row, w)).collect();
            dot(w, &image) - 2.0 * dot(&b, w)
        };
        for length in [0.1, 1.0, 7.0] {
            let w = on_sphere(&g, &b, length).unwrap();
            assert!((dot(&w, &w).sqrt() - length).abs() < 1e-9 * length);
            for i in 0..200 {
                for j in 0..100 {
                    let (long, lat) = (f64::from(i) * 0.0315, f64::from(j) * 0.0315);
                    let point = [lat.sin() * long.cos(), lat.sin() * long.sin(), lat.cos()];
                    assert!(value(&w) <= value(&point.map(|v| v * length)) + 1e-9);
                }
            }
        }
    }

    #[test]
    fn two_rings_with_one_label_each_are_separated() {
        let edges: Vec<(usize, usize, f64)> = (0..40)
            .map(|i| (i, if i % 20 == 19 { i - 19 } else { i + 1 }, 1.0))
            .chain([(3, 30, 0.01)])
            .collect();
        let transducer = Transducer::new(&Graph::from_edges(40, &edges).unwrap(), VECTORS).unwrap();
        let class: Vec<u32> = (0..40).map(|i| u32::from(i >= 20)).collect();
        let scores = transducer.scores(&Draw::of(vec![7, 25]), &class, 1, WEIGHT).unwrap();
        assert!(scores.iter().zip(&class).all(|(s, c)| (*s > 0.0) == (*c == 1)));
    }
}
