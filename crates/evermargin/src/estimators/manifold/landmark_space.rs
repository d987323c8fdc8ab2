//! Functions in the span of the kernel functions of some rows, the landmarks.
//!
//! K ≈ RRᵀ with R = K_{·P}L⁻ᵀ, P the landmarks and K_PP = LLᵀ. A function f = Σ αₚK(xₚ, ·) is f = Rv on the rows, with
//! v = Lᵀα and |f|² = |v|².
//!
//! Landmarks are chosen by a Cholesky factorization of K with random pivots: a row is drawn with a probability in
//! proportion to what of K(x, x) is still missing at it (Chen, Epperly, Tropp & Webber 2022). Departures: rows are drawn a
//! block at a time, so that the work is matrix products, and those of a block that its other rows already explain are
//! dropped; a row of which less than 1e-9 of the largest K(x, x) is missing is not drawn. If the limit is not
//! reached, RRᵀ = K to that precision, and the space holds every function a representer theorem speaks of.
//!
//! A linear kernel of few columns needs no landmarks: R is the data.

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

/// Share of the largest K(x, x) that counts as nothing.
const EXPLAINED: f64 = 1e-9;
/// Rows drawn together.
const BLOCK: usize = 64;
/// Of a block, a row is dropped if its other rows leave less of it than this share of the block's largest.
const NEW: f64 = 0.01;
/// Rows a thread takes at a time.
const ROWS: usize = 256;
/// Most bytes of a space.
const MAX_BYTES: usize = 8 << 30;

/// A space of functions and the rows in it.
#[derive(Debug, Clone)]
pub struct LandmarkSpace {
    kernel: Kernel,
    /// n × m, row-major.
    features: Vec<f64>,
    rows: usize,
    /// Landmarks among the rows, and L; none if the features are the columns of the data.
    basis: Option<(Vec<usize>, Lower)>,
}

impl LandmarkSpace {
    /// The space of at most `max_landmarks` landmarks of all rows of `x`.
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
        let mut draw = Draw::new(x, kernel, max_landmarks.min(x.rows()), seed)?;
        // one block at least: no landmark, no function
        while draw.wants_more() {
            draw.block();
            let steps = draw.landmarks.len() as u64;
            let violation = draw.missing.iter().sum::<f64>() / draw.whole;
            if !watch.proceed(&Progress { steps, violation, tolerance: EXPLAINED }) {
                break;
            }
        }
        Ok(draw.finish())
    }

    /// The space of these landmarks; those the ones before them explain are left out.
    pub fn of(x: MatrixView<'_>, kernel: Kernel, landmarks: &[usize]) -> Result<Self> {
        let mut draw = Draw::new(x, kernel, landmarks.len(), 0)?;
        for block in landmarks.chunks(BLOCK) {
            draw.add_rows(block, 0.0);
        }
        Ok(draw.finish())
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

    /// The landmarks, if the features are not the columns of the data.
    pub fn landmarks(&self) -> Option<&[usize]> {
        self.basis.as_ref().map(|(landmarks, _)| landmarks.as_slice())
    }

    /// f = Rv on the rows.
    pub fn outputs(&self, v: &[f64]) -> Vec<f64> {
        let m = self.dim().max(1);
        self.features.par_chunks(m).map(|row| dot(row, v)).collect()
    }

    /// α = L⁻ᵀv over the landmarks; v itself without any.
    pub fn coefficients(&self, v: &[f64]) -> Vec<f64> {
        let mut alpha = v.to_vec();
        if let Some((_, factor)) = &self.basis {
            factor.solve_transposed(&mut alpha);
        }
        alpha
    }

    /// The model of functions v and their constants. `x` are the rows the space was made of.
    pub fn model(&self, x: MatrixView<'_>, functions: &[Vec<f64>], bias: Vec<f64>) -> Model {
        let coef: Vec<Vec<f64>> = functions.iter().map(|v| self.coefficients(v)).collect();
        match &self.basis {
            None => Model::Linear { weights: coef, bias },
            Some((landmarks, _)) => expansion(x, self.kernel, landmarks, coef, bias),
        }
    }
}

/// The model of coefficients of the kernel functions of some rows; of a linear or precomputed kernel, the weights.
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

/// A factorization under way.
struct Draw<'a> {
    atoms: Dictionary<'a>,
    max_landmarks: usize,
    /// n rows of `max_landmarks` values, the first `landmarks.len()` of them set.
    features: Vec<f64>,
    landmarks: Vec<usize>,
    /// What of K(x, x) is missing at each row, and how much of it is nothing.
    missing: Vec<f64>,
    nothing: f64,
    /// Σ K(x, x).
    whole: f64,
    /// Whether the last block brought a landmark.
    stuck: bool,
    rng: rand_pcg::Pcg64,
}

impl<'a> Draw<'a> {
    fn new(x: MatrixView<'a>, kernel: Kernel, max_landmarks: usize, seed: u64) -> Result<Self> {
        let n = x.rows();
        let bytes = n.saturating_mul(max_landmarks).saturating_mul(size_of::<f64>());
        if bytes > MAX_BYTES {
            let fits = MAX_BYTES / size_of::<f64>() / n.max(1);
            let allowed = format!("at most {fits} for {n} rows ({} GB)", MAX_BYTES >> 30);
            return Err(Error::parameter("n_landmarks", max_landmarks, allowed));
        }
        let atoms = Dictionary::new(x, vec![kernel])?;
        let missing: Vec<f64> = (0..n).map(|i| atoms.own(atoms.atom(i))).collect();
        Ok(Self {
            nothing: EXPLAINED * missing.iter().fold(0.0, |a: f64, k| a.max(*k)),
            whole: missing.iter().sum::<f64>().max(f64::MIN_POSITIVE),
            features: vec![0.0; n * max_landmarks],
            landmarks: Vec::new(),
            stuck: false,
            rng: rand_pcg::Pcg64::seed_from_u64(seed),
            atoms,
            max_landmarks,
            missing,
        })
    }

    fn wants_more(&self) -> bool {
        !self.stuck
            && self.landmarks.len() < self.max_landmarks
            && self.missing.iter().any(|m| *m > self.nothing)
    }

    /// Draws a block of rows and takes those that are new.
    fn block(&mut self) {
        let mut open: Vec<f64> =
            self.missing.iter().map(|m| if *m > self.nothing { *m } else { 0.0 }).collect();
        let mut drawn = Vec::with_capacity(BLOCK);
        let mut sums = vec![0.0; open.len()];
        for _ in 0..BLOCK.min(self.max_landmarks - self.landmarks.len()) {
            let mut total = 0.0;
            for (sum, weight) in sums.iter_mut().zip(&open) {
                total += weight;
                *sum = total;
            }
            if total <= 0.0 {
                break;
            }
            let at = self.rng.random::<f64>() * total;
            let row = sums.partition_point(|s| *s <= at).min(open.len() - 1);
            let row = if open[row] > 0.0 { row } else { largest(&open) };
            open[row] = 0.0;
            drawn.push(row);
        }
        self.stuck = self.add_rows(&drawn, NEW) == 0;
    }

    /// Adds rows of which more is missing than `share` of the most that is missing at one of them; how many.
    fn add_rows(&mut self, rows: &[usize], share: f64) -> usize {
        let (m, width) = (self.landmarks.len(), rows.len());
        let chosen: Vec<Atom> = rows.iter().map(|&row| Atom { row, scale: 0 }).collect();
        let mut columns = self.atoms.block(&chosen);
        let own: Vec<f64> =
            rows.iter().flat_map(|&r| self.features[r * self.max_landmarks..][..m].to_vec()).collect();
        let (features, max_landmarks) = (&self.features, self.max_landmarks);
        columns.par_chunks_mut(ROWS * width).enumerate().for_each(|(block, part)| {
            linalg::subtract_products(
                &features[block * ROWS * max_landmarks..],
                max_landmarks,
                &own,
                m,
                part,
            );
        });
        let small: Vec<f64> =
            rows.iter().flat_map(|&r| columns[r * width..(r + 1) * width].to_vec()).collect();
        let (order, factor) = pivoted(&small, width, share, self.nothing);
        let taken = order.len();
        let max_landmarks = self.max_landmarks;
        self.features.par_chunks_mut(ROWS * max_landmarks).zip(columns.par_chunks(ROWS * width)).for_each(
            |(features, columns)| {
                let mut new: Vec<f64> =
                    columns.chunks_exact(width).flat_map(|c| order.iter().map(|&k| c[k])).collect();
                factor.solve_rows(&mut new);
                for (row, new) in features.chunks_exact_mut(max_landmarks).zip(new.chunks_exact(taken.max(1)))
                {
                    row[m..m + taken].copy_from_slice(new);
                }
            },
        );
        self.landmarks.extend(order.iter().map(|&k| rows[k]));
        for (missing, row) in self.missing.iter_mut().zip(self.features.chunks_exact(max_landmarks.max(1))) {
            *missing -= row[m..m + taken].iter().map(|v| v * v).sum::<f64>();
        }
        for &k in &order {
            self.missing[rows[k]] = 0.0;
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

/// The place of the largest, the first of equals.
fn largest(values: &[f64]) -> usize {
    let better = |best: usize, i: usize| if values[i] > values[best] { i } else { best };
    (1..values.len()).fold(0, better)
}

/// Cholesky of a small matrix with the largest remaining diagonal first, until less remains than `share` of the first or
/// than `nothing`: the order of the rows taken, and L in that order.
fn pivoted(a: &[f64], n: usize, share: f64, nothing: f64) -> (Vec<usize>, Lower) {
    let mut remains: Vec<f64> = (0..n).map(|i| a[i * n + i]).collect();
    let least = (share * remains.iter().fold(0.0, |x: f64, d| x.max(*d))).max(nothing);
    let (mut order, mut l) = (Vec::new(), vec![0.0; n * n]);
    for step in 0..n {
        let next = largest(&remains);
        if remains[next].is_nan() || remains[next] <= least {
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
