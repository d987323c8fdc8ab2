//! Functions in the span of the kernel functions of selected rows, the landmarks.
//!
//! K ≈ RRᵀ with R = K_{·P}L⁻ᵀ, P the landmarks and K_PP = LLᵀ. A function f = Σ αₚK(xₚ, ·) is f = Rv on the rows, with
//! v = Lᵀα and |f|² = |v|².
//!
//! Landmarks are selected by a Cholesky factorization of K with random pivots: each row is drawn with a probability
//! proportional to its residual, the diagonal element of K − RRᵀ (Chen, Epperly, Tropp & Webber 2022). Departures: rows
//! are drawn in blocks, because matrix products are fast. A row of a block is dropped if the other rows of the block
//! reduce its residual to less than 1 % of the largest one. Rows whose residual is below 1e-9 of the largest K(x, x)
//! are not drawn. If the maximum number of landmarks is not reached, RRᵀ = K to that precision, and the space contains
//! every function of the representer theorem.
//!
//! A linear kernel with few columns needs no landmarks: R is the data.

use super::dictionary::{Atom, Dictionary};
use crate::data::{Matrix, MatrixView};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::math::blas1::dot;
use crate::math::linalg::{self, Lower};
use crate::model::Model;
use crate::solver::{Progress, Watch};
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;

/// Residuals below this fraction of the largest K(x, x) count as 0.
const TOLERANCE: f64 = 1e-9;
/// Number of rows drawn at a time.
const BLOCK: usize = 64;
/// A row of a block is dropped if its residual, given the rows of the block that are already landmarks, is less than
/// this fraction of the largest residual in the block.
const MIN_NEW_FRACTION: f64 = 0.01;
/// Number of rows that a thread processes at a time.
const ROWS_PER_TASK: usize = 256;
/// Maximum size of a space in bytes.
const MAX_BYTES: usize = 8 << 30;

/// A space of functions, with the rows as points in it.
#[derive(Debug, Clone)]
pub struct LandmarkSpace {
    kernel: Kernel,
    /// n × m, row-major.
    features: Vec<f64>,
    rows: usize,
    /// Landmarks among the rows, and L; `None` if the features are the columns of the data.
    basis: Option<(Vec<usize>, Lower)>,
}

impl LandmarkSpace {
    /// The space of at most `max_landmarks` landmarks drawn from all rows of `x`.
    pub fn new(
        x: MatrixView<'_>,
        kernel: Kernel,
        max_landmarks: usize,
        seed: u64,
        watch: &dyn Watch,
    ) -> Result<Self> {
        if kernel == Kernel::Linear && x.cols() <= max_landmarks.min(x.rows()) {
            return Ok(Self::of_columns(x));
        }
        let mut sampler = LandmarkSampler::new(x, kernel, max_landmarks.min(x.rows()), seed)?;
        // at least one block, because there is no function without a landmark
        while sampler.wants_more() {
            sampler.draw_block();
            let steps = sampler.landmarks.len() as u64;
            let violation = sampler.unexplained.iter().sum::<f64>() / sampler.trace;
            if !watch.proceed(&Progress { steps, violation, tolerance: TOLERANCE }) {
                break;
            }
        }
        Ok(sampler.finish())
    }

    /// The space of these landmarks; landmarks in the span of earlier ones are left out.
    pub fn of(x: MatrixView<'_>, kernel: Kernel, landmarks: &[usize]) -> Result<Self> {
        let mut sampler = LandmarkSampler::new(x, kernel, landmarks.len(), 0)?;
        for block in landmarks.chunks(BLOCK) {
            sampler.add_rows(block, 0.0);
        }
        Ok(sampler.finish())
    }

    fn of_columns(x: MatrixView<'_>) -> Self {
        let features = match x.to_dense() {
            Matrix::Dense { values, .. } => values,
            Matrix::Csr { .. } => Vec::new(),
        };
        Self { kernel: Kernel::Linear, features, rows: x.rows(), basis: None }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Dimension of the space.
    pub fn dim(&self) -> usize {
        self.features.len() / self.rows.max(1)
    }

    /// R, row-major.
    pub fn features(&self) -> &[f64] {
        &self.features
    }

    /// One row of R.
    pub fn row(&self, i: usize) -> &[f64] {
        let m = self.dim();
        &self.features[i * m..(i + 1) * m]
    }

    /// The landmarks, unless the features are the columns of the data.
    pub fn landmarks(&self) -> Option<&[usize]> {
        self.basis.as_ref().map(|(landmarks, _)| landmarks.as_slice())
    }

    /// f = Rv on the rows.
    pub fn outputs(&self, v: &[f64]) -> Vec<f64> {
        let m = self.dim().max(1);
        self.features.par_chunks(m).map(|row| dot(row, v)).collect()
    }

    /// α = L⁻ᵀv over the landmarks; v itself if there are none.
    pub fn coefficients(&self, v: &[f64]) -> Vec<f64> {
        let mut alpha = v.to_vec();
        if let Some((_, factor)) = &self.basis {
            factor.solve_transposed(&mut alpha);
        }
        alpha
    }

    /// Model of functions v with their constants. `x` are the rows from which the space was built.
    pub fn model(&self, x: MatrixView<'_>, functions: &[Vec<f64>], bias: Vec<f64>) -> Model {
        let coef: Vec<Vec<f64>> = functions.iter().map(|v| self.coefficients(v)).collect();
        match &self.basis {
            None => Model::Linear { weights: coef, bias },
            Some((landmarks, _)) => expansion(x, self.kernel, landmarks, coef, bias),
        }
    }
}

/// Model of an expansion over the kernel functions of some rows; for a linear or precomputed kernel, its weights.
pub(crate) fn expansion(
    x: MatrixView<'_>,
    kernel: Kernel,
    landmarks: &[usize],
    coef: Vec<Vec<f64>>,
    bias: Vec<f64>,
) -> Model {
    let spread = |alpha: &Vec<f64>| {
        let mut w = vec![0.0; x.cols()];
        for (&p, a) in landmarks.iter().zip(alpha) {
            match kernel {
                Kernel::Precomputed => w[p] += a,
                _ => x.row(p).for_each(|c, v| w[c] += a * v),
            }
        }
        w
    };
    match kernel {
        Kernel::Linear | Kernel::Precomputed => {
            Model::Linear { weights: coef.iter().map(spread).collect(), bias }
        }
        kernel => Model::Expansion { kernel, points: x.select(landmarks), coef, bias },
    }
}

/// State of a random-pivot factorization.
struct LandmarkSampler<'a> {
    atoms: Dictionary<'a>,
    max_landmarks: usize,
    /// n rows of `max_landmarks` values, the first `landmarks.len()` of them set.
    features: Vec<f64>,
    landmarks: Vec<usize>,
    /// Residual of each row, the diagonal of K − RRᵀ, and the threshold below which it counts as 0.
    unexplained: Vec<f64>,
    threshold: f64,
    /// Σ K(x, x), the trace of K.
    trace: f64,
    /// Whether the last block added no landmark.
    stuck: bool,
    rng: rand_pcg::Pcg64,
}

impl<'a> LandmarkSampler<'a> {
    fn new(x: MatrixView<'a>, kernel: Kernel, max_landmarks: usize, seed: u64) -> Result<Self> {
        let n = x.rows();
        let bytes = n.saturating_mul(max_landmarks).saturating_mul(size_of::<f64>());
        if bytes > MAX_BYTES {
            let fits = MAX_BYTES / size_of::<f64>() / n.max(1);
            let allowed = format!("at most {fits} for {n} rows ({} GB)", MAX_BYTES >> 30);
            return Err(Error::parameter("n_landmarks", max_landmarks, allowed));
        }
        let atoms = Dictionary::new(x, vec![kernel])?;
        let unexplained: Vec<f64> = (0..n).map(|i| atoms.own(atoms.atom(i))).collect();
        Ok(Self {
            threshold: TOLERANCE * unexplained.iter().fold(0.0, |a: f64, k| a.max(*k)),
            trace: unexplained.iter().sum::<f64>().max(f64::MIN_POSITIVE),
            features: vec![0.0; n * max_landmarks],
            landmarks: Vec::new(),
            stuck: false,
            rng: rand_pcg::Pcg64::seed_from_u64(seed),
            atoms,
            max_landmarks,
            unexplained,
        })
    }

    fn wants_more(&self) -> bool {
        !self.stuck
            && self.landmarks.len() < self.max_landmarks
            && self.unexplained.iter().any(|m| *m > self.threshold)
    }

    /// Draws a block of rows and adds those whose residual is not negligible.
    fn draw_block(&mut self) {
        let mut weights: Vec<f64> =
            self.unexplained.iter().map(|m| if *m > self.threshold { *m } else { 0.0 }).collect();
        let mut drawn = Vec::with_capacity(BLOCK);
        let mut sums = vec![0.0; weights.len()];
        for _ in 0..BLOCK.min(self.max_landmarks - self.landmarks.len()) {
            let mut total = 0.0;
            for (sum, weight) in sums.iter_mut().zip(&weights) {
                total += weight;
                *sum = total;
            }
            if total <= 0.0 {
                break;
            }
            let at = self.rng.random::<f64>() * total;
            let row = sums.partition_point(|s| *s <= at).min(weights.len() - 1);
            let row = if weights[row] > 0.0 { row } else { largest(&weights) };
            weights[row] = 0.0;
            drawn.push(row);
        }
        self.stuck = self.add_rows(&drawn, MIN_NEW_FRACTION) == 0;
    }

    /// Adds rows whose residual exceeds `share` of the largest residual among them; returns their number.
    fn add_rows(&mut self, rows: &[usize], share: f64) -> usize {
        let (m, width) = (self.landmarks.len(), rows.len());
        let chosen: Vec<Atom> = rows.iter().map(|&row| Atom { row, scale: 0 }).collect();
        let mut columns = self.atoms.block(&chosen);
        let own: Vec<f64> =
            rows.iter().flat_map(|&r| self.features[r * self.max_landmarks..][..m].to_vec()).collect();
        let (features, max_landmarks) = (&self.features, self.max_landmarks);
        columns.par_chunks_mut(ROWS_PER_TASK * width).enumerate().for_each(|(block, part)| {
            linalg::subtract_products(
                &features[block * ROWS_PER_TASK * max_landmarks..],
                max_landmarks,
                &own,
                m,
                part,
            );
        });
        let small: Vec<f64> =
            rows.iter().flat_map(|&r| columns[r * width..(r + 1) * width].to_vec()).collect();
        let (order, factor) = pivoted(&small, width, share, self.threshold);
        let taken = order.len();
        let max_landmarks = self.max_landmarks;
        self.features
            .par_chunks_mut(ROWS_PER_TASK * max_landmarks)
            .zip(columns.par_chunks(ROWS_PER_TASK * width))
            .for_each(|(features, columns)| {
                let mut new: Vec<f64> =
                    columns.chunks_exact(width).flat_map(|c| order.iter().map(|&k| c[k])).collect();
                factor.solve_rows(&mut new);
                for (row, new) in features.chunks_exact_mut(max_landmarks).zip(new.chunks_exact(taken.max(1)))
                {
                    row[m..m + taken].copy_from_slice(new);
                }
            });
        self.landmarks.extend(order.iter().map(|&k| rows[k]));
        for (unexplained, row) in
            self.unexplained.iter_mut().zip(self.features.chunks_exact(max_landmarks.max(1)))
        {
            *unexplained -= row[m..m + taken].iter().map(|v| v * v).sum::<f64>();
        }
        for &k in &order {
            self.unexplained[rows[k]] = 0.0;
        }
        taken
    }

    fn finish(self) -> LandmarkSpace {
        let (n, m, max_landmarks) = (self.atoms.rows(), self.landmarks.len(), self.max_landmarks);
        let mut features = self.features;
        if m < max_landmarks {
            for i in 0..n {
                features.copy_within(i * max_landmarks..i * max_landmarks + m, i * m);
            }
            features.truncate(n * m);
        }
        let factor: Vec<f64> =
            self.landmarks.iter().flat_map(|&p| features[p * m..(p + 1) * m].to_vec()).collect();
        let basis = Some((self.landmarks, Lower::new(factor, m)));
        LandmarkSpace { kernel: self.atoms.kernels()[0], features, rows: n, basis }
    }
}

/// Index of the largest value, the first in ties.
fn largest(values: &[f64]) -> usize {
    let better = |best: usize, i: usize| if values[i] > values[best] { i } else { best };
    (1..values.len()).fold(0, better)
}

/// Cholesky factorization of a small matrix that takes the largest remaining diagonal first, until less remains than
/// `share` of the first or than `threshold`. Returns the order of the rows taken, and L in that order.
fn pivoted(a: &[f64], n: usize, share: f64, threshold: f64) -> (Vec<usize>, Lower) {
    let mut remains: Vec<f64> = (0..n).map(|i| a[i * n + i]).collect();
    let min = (share * remains.iter().fold(0.0, |x: f64, d| x.max(*d))).max(threshold);
    let (mut order, mut l) = (Vec::new(), vec![0.0; n * n]);
    for step in 0..n {
        let next = largest(&remains);
        if remains[next].is_nan() || remains[next] <= min {
            break;
        }
        let (root, pivot) = (remains[next].sqrt(), l[next * n..next * n + step].to_vec());
        for i in (0..n).filter(|i| !order.contains(i)) {
            let row = &mut l[i * n..(i + 1) * n];
            let value = if i == next { root } else { (a[i * n + next] - dot(&row[..step], &pivot)) / root };
            row[step] = value;
            remains[i] -= value * value;
        }
        remains[next] = f64::NEG_INFINITY;
        order.push(next);
    }
    let m = order.len();
    let factor = order.iter().flat_map(|&row| l[row * n..row * n + m].to_vec()).collect();
    (order, Lower::new(factor, m))
}
