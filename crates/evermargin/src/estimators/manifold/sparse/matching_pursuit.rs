//! Kernel matching pursuit: a basis selected one function at a time (Sindhwani 2007, section 5.2.1; Keerthi, Chapelle &
//! DeCoste 2006).
//!
//! Problem: find a basis J of at most d functions with small min_β ½aβᵀGβ + Σₖ(½oₖᵀQoₖ − rₖᵀoₖ), oₖ = Φβₖ
//! ([`SparseObjective`]); G is K_JJ, or a multiple of I with a ridge. With the gradient g = aGβ − Φᵀ(r − Qo) and
//! H = aG + ΦᵀQΦ, adding j decreases the objective by gⱼ²/2Hⱼⱼ if the other coefficients are fixed (post-backfitting, the
//! source), and by gⱼ²/2sⱼ if all are refitted (pre-backfitting), sⱼ = Hⱼⱼ − H_jJ H_JJ⁻¹H_Jj; for several problems by
//! the sums. The best of a few candidates is added, then all coefficients are refitted.
//!
//! Updates are exact: H_JJ = LLᵀ grows by a row; βₖ moves along z = L⁻ᵀe_last by tₖ = −gⱼₖ/√sⱼ, the same direction for
//! all problems, so that a step costs two passes over the columns of J and one product with Q, whatever the number of
//! problems: O(nd²) in total, without any n × n matrix. Inner products in a kernel space need no columns:
//! ⟨f, K(xⱼ, ·)⟩ = f(xⱼ).
//!
//! Departure: the source draws all candidates again before each step. Here the worst of those not selected are
//! replaced; if a fifth of them is replaced, a step computes a fifth of the columns of the source and still compares
//! with the best candidates seen. Atoms are drawn in turns: one that was returned is drawn again when all others have
//! been drawn. Atoms that the basis already explains (sⱼ ≤ 10⁻¹²Hⱼⱼ) are discarded.
//!
//! If a pursuit scores atoms repeatedly, or several pursuits share a graph, columns and their products with L^p can be
//! [cached](PursuitCache): O(n²) memory, and a candidate costs O(n).
//!
//! [`crate::solver::lazy_greedy`] is not used because it compares all elements; here each costs O(n), so only a few are
//! drawn.

use super::objective::SparseObjective;
use crate::estimators::manifold::dictionary::{Atom, Dictionary};
use crate::estimators::manifold::penalty::Penalty;
use crate::math::blas1::{add, dot};
use crate::math::growing_cholesky::GrowingCholesky;
use crate::solver::{Exit, Progress, Watch};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Coefficients that are refitted in the score of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Backfit {
    /// The coefficient of the candidate.
    #[default]
    Post,
    /// All coefficients.
    Pre,
}

/// The matrix G of the norm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Norm {
    /// K_JJ: the norm of the kernel space.
    Kernel,
    /// This multiple of I.
    Ridge(f64),
}

impl Norm {
    /// Gⱼⱼ.
    fn own(self, dictionary: &Dictionary<'_>, atom: Atom) -> f64 {
        match self {
            Self::Kernel => dictionary.own(atom),
            Self::Ridge(scale) => scale,
        }
    }

    /// Inner product of a function with an atom that it does not use, from its values on the rows.
    fn with(self, values: &[f64], atom: Atom) -> f64 {
        match self {
            Self::Kernel => values[atom.row],
            Self::Ridge(_) => 0.0,
        }
    }
}

/// Parameters of the candidates compared in each step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidates {
    /// Number of candidates.
    pub number: usize,
    /// Number of candidates that are replaced after a step.
    pub exchanged: usize,
    /// Coefficients that are refitted in their scores.
    pub backfit: Backfit,
    /// Random seed of the draws.
    pub seed: u64,
}

impl Candidates {
    /// Uses `number` candidates, a fifth of which is replaced after each step.
    pub fn of(number: usize, backfit: Backfit, seed: u64) -> Self {
        Self { number, exchanged: number / REPLACED_ONE_IN, backfit, seed }
    }
}

/// Columns of all atoms, and L^p times each.
#[derive(Debug)]
pub struct PursuitCache<'p> {
    dictionary: &'p Dictionary<'p>,
    penalty: &'p Penalty,
    rows: usize,
    /// One atom after the other.
    columns: Vec<f64>,
    images: Vec<f64>,
}

impl<'p> PursuitCache<'p> {
    /// The columns of a dictionary and their products along a graph.
    pub fn new(dictionary: &'p Dictionary<'p>, penalty: &'p Penalty) -> Self {
        let (rows, width) = (dictionary.rows(), dictionary.len());
        let atoms: Vec<Atom> = (0..width).map(|k| dictionary.atom(k)).collect();
        let block = dictionary.block(&atoms);
        let columns = columns_of(&block, width);
        Self {
            dictionary,
            penalty,
            rows,
            columns,
            images: columns_of(&penalty.apply_columns(block, width), width),
        }
    }

    /// The column of an atom and L^p times it.
    fn of(&self, atom: Atom) -> [&[f64]; 2] {
        let first = (atom.scale * self.rows + atom.row) * self.rows;
        [&self.columns, &self.images].map(|of| &of[first..first + self.rows])
    }
}

/// The columns of a row-major matrix, one after the other.
fn columns_of(block: &[f64], columns: usize) -> Vec<f64> {
    let mut out = vec![0.0; block.len()];
    let rows = block.len() / columns.max(1);
    out.par_chunks_mut(rows.max(1)).enumerate().for_each(|(k, column)| {
        column.iter_mut().zip(block.iter().skip(k).step_by(columns)).for_each(|(c, v)| *c = *v);
    });
    out
}

/// An atom that may be selected.
#[derive(Debug)]
struct Candidate {
    atom: Atom,
    column: Vec<f64>,
    /// Q times the column.
    image: Vec<f64>,
    /// Hⱼⱼ.
    own: f64,
    /// L⁻¹H_Jj and sⱼ, updated if scores need them.
    projection: Vec<f64>,
    remaining: f64,
}

/// State of a pursuit.
#[derive(Debug)]
pub struct Pursuit<'p> {
    objective: &'p SparseObjective<'p>,
    dictionary: &'p Dictionary<'p>,
    norm: Norm,
    candidates: Candidates,
    cache: Option<&'p PursuitCache<'p>>,
    /// Atoms to draw, the next one last; and those drawn and returned.
    deck: Vec<usize>,
    returned: Vec<usize>,
    rng: rand_pcg::Pcg64,
    pool: Vec<Candidate>,
    atoms: Vec<Atom>,
    columns: Vec<Vec<f64>>,
    factor: GrowingCholesky,
    beta: Vec<Vec<f64>>,
    outputs: Vec<Vec<f64>>,
    /// r − Qo.
    residual: Vec<Vec<f64>>,
    values: Vec<f64>,
    drawn: usize,
}

/// An atom is explained by the basis if less than this fraction of Hⱼⱼ remains.
const MIN_REMAINING: f64 = 1e-12;
/// A decrease below this fraction of the objective of 0 ends the pursuit.
const MIN_DECREASE: f64 = 1e-13;
/// By default, one in this many candidates is replaced after a step.
const REPLACED_ONE_IN: usize = 5;
/// Number of rows that a thread processes at a time.
const ROWS_PER_TASK: usize = 4096;

impl<'p> Pursuit<'p> {
    /// Starts with an empty basis.
    pub fn new(
        objective: &'p SparseObjective<'p>,
        dictionary: &'p Dictionary<'p>,
        norm: Norm,
        mut candidates: Candidates,
    ) -> Self {
        candidates.number = candidates.number.max(1);
        let mut rng = rand_pcg::Pcg64::seed_from_u64(candidates.seed);
        let mut deck: Vec<usize> = (0..dictionary.len()).collect();
        deck.shuffle(&mut rng);
        let problems = objective.right.len();
        Self {
            objective,
            dictionary,
            norm,
            candidates,
            cache: None,
            deck,
            returned: Vec::new(),
            rng,
            pool: Vec::new(),
            atoms: Vec::new(),
            columns: Vec::new(),
            factor: GrowingCholesky::default(),
            beta: vec![Vec::new(); problems],
            outputs: vec![vec![0.0; dictionary.rows()]; problems],
            residual: objective.right.clone(),
            values: objective.constant.clone(),
            drawn: 0,
        }
    }

    /// Uses cached columns, unless they belong to another dictionary or graph (compared by address).
    #[must_use]
    pub fn with(self, cache: &'p PursuitCache<'p>) -> Self {
        let same = std::ptr::eq(self.dictionary, cache.dictionary);
        let serves = same && self.objective.curvature.is_along(cache.penalty);
        Self { cache: serves.then_some(cache), ..self }
    }

    /// Whether cached columns are used.
    pub fn is_held(&self) -> bool {
        self.cache.is_some()
    }

    /// The basis so far.
    pub fn atoms(&self) -> &[Atom] {
        &self.atoms
    }

    /// Coefficients of the basis, one vector per problem.
    pub fn coefficients(&self) -> &[Vec<f64>] {
        &self.beta
    }

    /// Current objective, summed over all problems.
    pub fn value(&self) -> f64 {
        self.values.iter().sum()
    }

    /// Number of columns computed so far.
    pub fn drawn(&self) -> usize {
        self.drawn
    }

    /// Adds up to `max` atoms.
    pub fn run(&mut self, max: usize, watch: &dyn Watch) -> Exit {
        let start = self.value();
        while self.atoms.len() < max {
            let violation = if start > 0.0 { self.value() / start } else { 0.0 };
            let progress = Progress { steps: self.atoms.len() as u64, violation, tolerance: 0.0 };
            if !watch.proceed(&progress) || !self.fill(watch) {
                return Exit::Interrupted;
            }
            let scores = self.scores();
            let best = best(&scores);
            let Some(best) = best.filter(|&k| scores[k] > MIN_DECREASE * start) else { break };
            if !self.select(best, watch) {
                return Exit::Interrupted;
            }
        }
        Exit::Converged
    }

    /// The candidates with their scores.
    pub fn candidates(&self) -> Vec<(Atom, f64)> {
        self.pool.iter().map(|c| c.atom).zip(self.scores()).collect()
    }

    /// Draws candidates until the pool is full or no atom is left; false if `watch` ends it.
    pub fn fill(&mut self, watch: &dyn Watch) -> bool {
        while self.pool.len() < self.candidates.number {
            if self.deck.is_empty() {
                std::mem::swap(&mut self.deck, &mut self.returned);
                self.deck.shuffle(&mut self.rng);
            }
            let wanted = (self.candidates.number - self.pool.len()).min(self.deck.len());
            if wanted == 0 {
                break;
            }
            let numbers = self.deck.split_off(self.deck.len() - wanted);
            let atoms: Vec<Atom> = numbers.iter().map(|&k| self.dictionary.atom(k)).collect();
            let Some(found) = self.make_candidates(&atoms, watch) else { return false };
            self.drawn += wanted;
            self.pool
                .extend(found.into_iter().filter(|c| c.own > 0.0 && c.remaining > MIN_REMAINING * c.own));
        }
        true
    }

    /// Computes atoms as candidates; `None` if `watch` ends it.
    fn make_candidates(&self, atoms: &[Atom], watch: &dyn Watch) -> Option<Vec<Candidate>> {
        let candidate = |atom: Atom, column: Vec<f64>, image: Vec<f64>| {
            let own = self.objective.ambient * self.norm.own(self.dictionary, atom) + dot(&column, &image);
            Candidate { atom, column, image, own, projection: Vec::new(), remaining: own }
        };
        let mut found: Vec<Candidate> = if let Some(cache) = self.cache {
            let of = |&atom: &Atom| {
                let [column, image] = cache.of(atom);
                candidate(atom, column.to_vec(), self.objective.curvature.with(column, image))
            };
            atoms.par_iter().map(of).collect()
        } else {
            let (width, n) = (atoms.len(), self.dictionary.rows());
            let block = self.dictionary.block(atoms);
            let images = columns_of(&self.objective.curvature.apply(block.clone(), width, watch)?, width);
            let columns = columns_of(&block, width);
            let pairs = columns.par_chunks_exact(n).zip(images.par_chunks_exact(n));
            pairs.zip(atoms).map(|((c, i), &atom)| candidate(atom, c.to_vec(), i.to_vec())).collect()
        };
        if self.candidates.backfit == Backfit::Pre {
            found.par_iter_mut().for_each(|c| self.project(c));
        }
        Some(found)
    }

    /// Computes L⁻¹H_Jj and sⱼ.
    fn project(&self, c: &mut Candidate) {
        let entry = |(atom, column): (&Atom, &Vec<f64>)| {
            self.objective.ambient * self.norm.with(&c.column, *atom) + dot(column, &c.image)
        };
        let mut projection: Vec<f64> = self.atoms.par_iter().zip(&self.columns).map(entry).collect();
        self.factor.lower(&mut projection);
        c.remaining = c.own - dot(&projection, &projection);
        c.projection = projection;
    }

    /// gⱼ for each problem.
    fn gradient<'s>(&'s self, c: &'s Candidate) -> impl Iterator<Item = f64> + 's {
        self.outputs
            .iter()
            .zip(&self.residual)
            .map(|(o, e)| self.objective.ambient * self.norm.with(o, c.atom) - dot(&c.column, e))
    }

    fn scores(&self) -> Vec<f64> {
        let score = |c: &Candidate| {
            let free = if self.candidates.backfit == Backfit::Pre { c.remaining } else { c.own };
            let sum: f64 = self.gradient(c).map(|g| g * g).sum();
            if c.remaining > MIN_REMAINING * c.own { 0.5 * sum / free } else { 0.0 }
        };
        self.pool.par_iter().map(score).collect()
    }

    /// Adds a candidate, refits all coefficients and replaces the worst of the others; false if `watch` ends it.
    pub fn select(&mut self, place: usize, watch: &dyn Watch) -> bool {
        let scores = self.scores();
        let mut c = self.pool.remove(place);
        if self.candidates.backfit == Backfit::Post {
            self.project(&mut c);
        }
        if c.remaining <= MIN_REMAINING * c.own {
            return true;
        }
        let gradient: Vec<f64> = self.gradient(&c).collect();
        self.factor.push(std::mem::take(&mut c.projection), c.remaining);
        self.atoms.push(c.atom);
        self.columns.push(c.column);
        let mut z = vec![0.0; self.atoms.len()];
        z[self.atoms.len() - 1] = 1.0;
        self.factor.upper(&mut z);
        let direction = self.combine(&z);
        let Some(image) = self.objective.curvature.apply(direction.clone(), 1, watch) else {
            self.atoms.pop();
            self.columns.pop();
            self.factor.truncate(self.atoms.len());
            return false;
        };
        for (k, g) in gradient.iter().enumerate() {
            let t = -g / c.remaining.sqrt();
            self.beta[k].push(0.0);
            add(t, &z, &mut self.beta[k]);
            add(t, &direction, &mut self.outputs[k]);
            add(-t, &image, &mut self.residual[k]);
            self.values[k] -= 0.5 * t * t;
        }
        if self.candidates.backfit == Backfit::Pre {
            self.update_projections();
        }
        self.exchange(scores, place);
        true
    }

    /// Φz.
    fn combine(&self, z: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.dictionary.rows()];
        out.par_chunks_mut(ROWS_PER_TASK).enumerate().for_each(|(block, out)| {
            let first = block * ROWS_PER_TASK;
            for (column, z) in self.columns.iter().zip(z) {
                add(*z, &column[first..first + out.len()], out);
            }
        });
        out
    }

    /// Appends an entry to L⁻¹H_Jj of each candidate, after a row was added to L.
    fn update_projections(&mut self) {
        let (Some(atom), Some(column)) = (self.atoms.last(), self.columns.last()) else { return };
        let (row, before) = (self.factor.last(), self.atoms.len() - 1);
        let (ambient, norm) = (self.objective.ambient, self.norm);
        self.pool.par_iter_mut().for_each(|c| {
            let entry = ambient * norm.with(&c.column, *atom) + dot(column, &c.image);
            let new = (entry - dot(&row[..before], &c.projection)) / row[before];
            c.projection.push(new);
            c.remaining -= new * new;
        });
    }

    /// Returns the candidates with the lowest scores, which are those before `taken` was removed.
    fn exchange(&mut self, mut scores: Vec<f64>, taken: usize) {
        scores.remove(taken);
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]).then(a.cmp(&b)));
        // if all atoms are in the pool, there are no replacements
        let waiting = self.deck.len() + self.returned.len();
        let mut worst = order[..self.candidates.exchanged.min(scores.len()).min(waiting)].to_vec();
        worst.sort_unstable_by(|a, b| b.cmp(a));
        for place in worst {
            let atom = self.pool.remove(place).atom;
            self.returned.push(atom.scale * self.dictionary.rows() + atom.row);
        }
    }
}

/// Index of the largest score, the first in ties.
fn best(scores: &[f64]) -> Option<usize> {
    (0..scores.len()).reduce(|best, k| if scores[k] > scores[best] { k } else { best })
}
