//! Training rows with few labels, validation rows for the choice of settings, and the kernel matrices of both.
//!
//! Chapter 5 compares many widths, graphs and weights on the same rows. Distances are computed once; each width then needs one
//! exponential per pair, and learners get kernel values instead of rows.

use super::many::{Draw, Pool, mean};
use super::six_sets::Set;
use super::{draws_of, median_distance2};
use crate::failure::{Failure, Result};
use crate::run::{Bench, seed_of};
use evermargin::estimators::manifold::dictionary::Dictionary;
use evermargin::estimators::manifold::penalty::{Penalty, PenaltyParams};
use evermargin::estimators::manifold::sparse::objective::LabeledTargets;
use evermargin::{Kernel, Matrix, Model};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

/// Neighbors and power of the graph, kernel width in median distances, γ_A, γ_I/γ_A.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Setting {
    pub graph: [usize; 2],
    pub width: f64,
    pub gamma_a: f64,
    pub ratio: f64,
}

impl Setting {
    /// γ_A and γ_I.
    pub fn gamma(&self) -> [f64; 2] {
        [self.gamma_a, self.ratio * self.gamma_a]
    }
}

/// Errors on unlabeled training rows and on validation rows.
pub(super) type Errors = [f64; 2];

/// Number of draws if there are many rows, since each takes long.
const FEW: usize = 3;
/// Maximum number of training rows that counts as few.
const SMALL: usize = 500;

/// Mean error on validation rows.
pub(super) fn validated(errors: &[Errors]) -> f64 {
    mean(&errors.iter().map(|e| e[1]).collect::<Vec<_>>())
}

/// Training and validation rows, draws of labels, squared distances.
pub(super) struct Ground {
    pub train: Pool,
    pub validation: Pool,
    pub draws: Vec<Draw>,
    median2: f64,
    near: Vec<f64>,
    far: Vec<f64>,
}

/// Kernel values of the training rows, and between validation and training rows.
pub(super) struct Gram {
    pub inside: Matrix,
    pub outside: Matrix,
}

impl Gram {
    pub fn dictionary(&self) -> Result<Dictionary<'_>> {
        Ok(Dictionary::new(self.inside.view(), vec![Kernel::Precomputed])?)
    }
}

impl Ground {
    pub fn new(bench: &Bench<'_>, set: &Set, runs: usize) -> Result<Self> {
        let (all, seed) = (set.open(bench)?, bench.options.seed);
        if all.class.len() <= set.train {
            let (found, name) = (all.class.len(), set.name);
            return Err(Failure::Content(format!("{name} has {found} rows, so its file is incomplete")));
        }
        let mut order: Vec<usize> = (0..all.class.len()).collect();
        order.shuffle(&mut Pcg64::seed_from_u64(seed_of(seed, 500)));
        let end = (set.train + set.validation).min(order.len());
        let (train, validation) = (all.part(&order[..set.train]), all.part(&order[set.train..end]));
        let draws = draws_of(&train.class, 2, set.labeled, 1, seed, runs)?;
        let median2 = median_distance2(&train.x);
        let (near, far) = (distances2(&train.x, &train.x), distances2(&validation.x, &train.x));
        Ok(Self { train, validation, draws, median2, near, far })
    }

    pub fn is_small(&self) -> bool {
        self.train.class.len() <= SMALL
    }

    /// The first draws if there are many rows, otherwise all draws.
    pub fn some(&self) -> &[Draw] {
        let count = if self.is_small() { self.draws.len() } else { FEW };
        &self.draws[..count.min(self.draws.len())]
    }

    pub fn kernel(&self, width: f64) -> Kernel {
        Kernel::Rbf { gamma: 0.5 / (self.median2 * width * width) }
    }

    pub fn gram(&self, width: f64) -> Result<Gram> {
        let scale = -0.5 / (self.median2 * width * width);
        let columns = self.train.class.len();
        let of = |distances: &[f64]| {
            let values = distances.iter().map(|d| (scale * d).exp()).collect();
            Matrix::dense(values, distances.len() / columns, columns)
        };
        Ok(Gram { inside: of(&self.near)?, outside: of(&self.far)? })
    }

    pub fn penalty(&self, [neighbors, power]: [usize; 2]) -> Result<Penalty> {
        let params = PenaltyParams { n_neighbors: neighbors, power, ..PenaltyParams::default() };
        let penalty = params.penalty(self.train.x.view(), &())?;
        penalty.ok_or_else(|| Failure::Content("no graph".into()))
    }

    pub fn known(&self, draw: &Draw) -> Result<LabeledTargets> {
        Ok(LabeledTargets::of(&self.train.problems(std::slice::from_ref(draw)))?)
    }

    /// A draw with all training rows labeled.
    pub fn full(&self) -> Draw {
        Draw::of((0..self.train.class.len()).collect())
    }

    pub fn errors(&self, draw: &Draw, inside: &[f64], outside: &[f64]) -> Errors {
        let wrong = |scores: &[f64], class: &[u32], rows: &[usize]| {
            let off = rows.iter().filter(|&&i| u32::from(scores[i] > 0.0) != class[i]).count();
            off as f64 / rows.len().max(1) as f64
        };
        let rows: Vec<usize> = (0..self.validation.class.len()).collect();
        let within = wrong(inside, &self.train.class, &self.train.open(draw));
        [within, wrong(outside, &self.validation.class, &rows)]
    }

    /// Errors of a model on kernel values.
    pub fn score(&self, draw: &Draw, gram: &Gram, model: &Model) -> Result<Errors> {
        let (inside, outside) = (model.decision(gram.inside.view())?, model.decision(gram.outside.view())?);
        Ok(self.errors(draw, &inside, &outside))
    }
}

/// Squared distances between the rows of two matrices, row-major.
fn distances2(a: &Matrix, b: &Matrix) -> Vec<f64> {
    let (a, b) = (a.view(), b.view());
    let norms: Vec<f64> = (0..b.rows()).map(|j| b.row(j).norm2()).collect();
    let mut out = Vec::with_capacity(a.rows() * b.rows());
    for i in 0..a.rows() {
        let own = a.row(i).norm2();
        let to = |(j, norm): (usize, &f64)| (own + norm - 2.0 * a.row(i).dot(b.row(j))).max(0.0);
        out.extend(norms.iter().enumerate().map(to));
    }
    out
}
