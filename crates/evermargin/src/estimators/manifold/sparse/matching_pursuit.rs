//! Kernel matching pursuit: a basis chosen one function at a time (Sindhwani 2007, section 5.2.1; Keerthi, Chapelle & DeCoste
//! 2006).
//!
//! Problem: over bases J of at most d functions, make min_β ½aβᵀGβ + Σₖ(½oₖᵀQoₖ − rₖᵀoₖ) small, oₖ = Φβₖ ([`SparseObjective`]); G is K_JJ,
//! or a multiple of I with a ridge. With g = aGβ − Φᵀ(r − Qo) the gradient and H = aG + ΦᵀQΦ, taking j lowers the objective by
//! gⱼ²/2Hⱼⱼ with the other coefficients kept (post-backfitting, the source), by gⱼ²/2sⱼ with all fitted anew
//! (pre-backfitting), sⱼ = Hⱼⱼ − H_jJ H_JJ⁻¹H_Jj; over several problems the sums. The best of a few candidates is taken, then
//! all coefficients are fitted.
//!
//! Bookkeeping, exact: H_JJ = LLᵀ grows by a row; βₖ moves along z = L⁻ᵀe_last by tₖ = −gⱼₖ/√sⱼ, the same direction for all
//! problems, so that a step costs two passes over the columns of J and one product with Q whatever their number: O(nd²)
//! in all, nothing of size n × n. |·| of a kernel space needs no columns: ⟨f, K(xⱼ, ·)⟩ = f(xⱼ).
//!
//! Departure: the source draws all candidates anew before each step. Here the worst of those not chosen are exchanged for
//! others; with a fifth of them a step computes a fifth of the columns the source does and still compares with the best of
//! those seen. Atoms come in turns: one that was put back comes again when all others have been seen. Atoms that the basis explains already (sⱼ ≤ 10⁻¹²Hⱼⱼ) are put away.
//!
//! Where a pursuit looks at atoms more than once, or several share a graph, columns and what the graph makes of them can be
//! [held](PursuitCache): O(n²) memory, and a candidate costs O(n).
//!
//! Why not [`crate::solver::lazy_greedy`]: it compares all elements; here each costs O(n), so a few are drawn.

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

/// What a candidate's score leaves free.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Backfit {
    /// Its own coefficient.
    #[default]
    Post,
    /// All coefficients.
    Pre,
}

/// G.
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

    /// The inner product of a function with an atom it does not use, from its values on the rows.
    fn with(self, values: &[f64], atom: Atom) -> f64 {
        match self {
            Self::Kernel => values[atom.row],
            Self::Ridge(_) => 0.0,
        }
    }
}

/// The atoms compared before one is taken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidates {
    /// How many.
    pub number: usize,
    /// How many of them are exchanged after a step.
    pub exchanged: usize,
    /// What their scores leave free.
    pub backfit: Backfit,
    /// Seed of their draw.
    pub seed: u64,
}

impl Candidates {
    /// So many, a fifth of them exchanged.
    pub fn of(number: usize, backfit: Backfit, seed: u64) -> Self {
        Self { number, exchanged: number / STAY, backfit, seed }
    }
}

/// Columns of all atoms, and L^p of each.
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
    /// Of a dictionary along a graph.
    pub fn new(dictionary: &'p Dictionary<'p>, penalty: &'p Penalty) -> Self {
        let (rows, width) = (dictionary.rows(), dictionary.len());
        let atoms: Vec<Atom> = (0..width).map(|k| dictionary.atom(k)).collect();
        let block = dictionary.block(&atoms);
        let columns = turned(&block, width);
        Self {
            dictionary,
            penalty,
            rows,
            columns,
            images: turned(&penalty.apply_columns(block, width), width),
        }
    }

    /// The column of an atom and L^p of it.
    fn of(&self, atom: Atom) -> [&[f64]; 2] {
        let first = (atom.scale * self.rows + atom.row) * self.rows;
        [&self.columns, &self.images].map(|of| &of[first..first + self.rows])
    }
}

/// The columns of a row-major matrix, one after the other.
fn turned(block: &[f64], columns: usize) -> Vec<f64> {
    let mut out = vec![0.0; block.len()];
    let rows = block.len() / columns.max(1);
    out.par_chunks_mut(rows.max(1)).enumerate().for_each(|(k, column)| {
        column.iter_mut().zip(block.iter().skip(k).step_by(columns)).for_each(|(c, v)| *c = *v);
    });
    out
}

/// An atom that may be taken.
#[derive(Debug)]
struct Candidate {
    atom: Atom,
    column: Vec<f64>,
    /// Q times it.
    image: Vec<f64>,
    /// Hⱼⱼ.
    own: f64,
    /// L⁻¹H_Jj and sⱼ, kept up where scores need them.
    along: Vec<f64>,
    left: f64,
}

/// A pursuit under way.
#[derive(Debug)]
pub struct Pursuit<'p> {
    aim: &'p SparseObjective<'p>,
    dictionary: &'p Dictionary<'p>,
    norm: Norm,
    candidates: Candidates,
    held: Option<&'p PursuitCache<'p>>,
    /// Atoms to draw, the next last; and those drawn and put back.
    deck: Vec<usize>,
    aside: Vec<usize>,
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

/// An atom of which the basis leaves less than this share is explained by it.
const EXPLAINED: f64 = 1e-12;
/// A decrease below this share of the objective of 0 ends the pursuit.
const NEGLIGIBLE: f64 = 1e-13;
/// One in so many candidates is exchanged after a step, unless told.
const STAY: usize = 5;
/// Rows a thread takes at a time.
const ROWS: usize = 4096;

impl<'p> Pursuit<'p> {
    /// Starts with no basis.
    pub fn new(
        aim: &'p SparseObjective<'p>,
        dictionary: &'p Dictionary<'p>,
        norm: Norm,
        mut candidates: Candidates,
    ) -> Self {
        candidates.number = candidates.number.max(1);
        let mut rng = rand_pcg::Pcg64::seed_from_u64(candidates.seed);
        let mut deck: Vec<usize> = (0..dictionary.len()).collect();
        deck.shuffle(&mut rng);
        let problems = aim.right.len();
        Self {
            aim,
            dictionary,
            norm,
            candidates,
            held: None,
            deck,
            aside: Vec::new(),
            rng,
            pool: Vec::new(),
            atoms: Vec::new(),
            columns: Vec::new(),
            factor: GrowingCholesky::default(),
            beta: vec![Vec::new(); problems],
            outputs: vec![vec![0.0; dictionary.rows()]; problems],
            residual: aim.right.clone(),
            values: aim.constant.clone(),
            drawn: 0,
        }
    }

    /// With columns that are at hand. Those of another dictionary or graph, told by their places in memory, are not used.
    #[must_use]
    pub fn with(self, held: &'p PursuitCache<'p>) -> Self {
        let same = std::ptr::eq(self.dictionary, held.dictionary);
        let serves = same && self.aim.curvature.is_along(held.penalty);
        Self { held: serves.then_some(held), ..self }
    }

    /// Whether columns at hand are used.
    pub fn is_held(&self) -> bool {
        self.held.is_some()
    }

    /// The basis so far.
    pub fn atoms(&self) -> &[Atom] {
        &self.atoms
    }

    /// Its coefficients, one vector a problem.
    pub fn coefficients(&self) -> &[Vec<f64>] {
        &self.beta
    }

    /// The objective now, all problems together.
    pub fn value(&self) -> f64 {
        self.values.iter().sum()
    }

    /// Columns computed so far.
    pub fn drawn(&self) -> usize {
        self.drawn
    }

    /// Takes up to `max` atoms.
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
            let Some(best) = best.filter(|&k| scores[k] > NEGLIGIBLE * start) else { break };
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
                std::mem::swap(&mut self.deck, &mut self.aside);
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
            self.pool.extend(found.into_iter().filter(|c| c.own > 0.0 && c.left > EXPLAINED * c.own));
        }
        true
    }

    /// Some atoms as candidates; none if `watch` ends it.
    fn make_candidates(&self, atoms: &[Atom], watch: &dyn Watch) -> Option<Vec<Candidate>> {
        let candidate = |atom: Atom, column: Vec<f64>, image: Vec<f64>| {
            let own = self.aim.ambient * self.norm.own(self.dictionary, atom) + dot(&column, &image);
            Candidate { atom, column, image, own, along: Vec::new(), left: own }
        };
        let mut found: Vec<Candidate> = if let Some(held) = self.held {
            let of = |&atom: &Atom| {
                let [column, image] = held.of(atom);
                candidate(atom, column.to_vec(), self.aim.curvature.with(column, image))
            };
            atoms.par_iter().map(of).collect()
        } else {
            let (width, n) = (atoms.len(), self.dictionary.rows());
            let block = self.dictionary.block(atoms);
            let images = turned(&self.aim.curvature.apply(block.clone(), width, watch)?, width);
            let columns = turned(&block, width);
            let pairs = columns.par_chunks_exact(n).zip(images.par_chunks_exact(n));
            pairs.zip(atoms).map(|((c, i), &atom)| candidate(atom, c.to_vec(), i.to_vec())).collect()
        };
        if self.candidates.backfit == Backfit::Pre {
            found.par_iter_mut().for_each(|c| self.project(c));
        }
        Some(found)
    }

    /// Fills L⁻¹H_Jj and sⱼ.
    fn project(&self, c: &mut Candidate) {
        let entry = |(atom, column): (&Atom, &Vec<f64>)| {
            self.aim.ambient * self.norm.with(&c.column, *atom) + dot(column, &c.image)
        };
        let mut along: Vec<f64> = self.atoms.par_iter().zip(&self.columns).map(entry).collect();
        self.factor.lower(&mut along);
        c.left = c.own - dot(&along, &along);
        c.along = along;
    }

    /// gⱼ of each problem.
    fn gradient<'s>(&'s self, c: &'s Candidate) -> impl Iterator<Item = f64> + 's {
        self.outputs
            .iter()
            .zip(&self.residual)
            .map(|(o, e)| self.aim.ambient * self.norm.with(o, c.atom) - dot(&c.column, e))
    }

    fn scores(&self) -> Vec<f64> {
        let score = |c: &Candidate| {
            let free = if self.candidates.backfit == Backfit::Pre { c.left } else { c.own };
            let sum: f64 = self.gradient(c).map(|g| g * g).sum();
            if c.left > EXPLAINED * c.own { 0.5 * sum / free } else { 0.0 }
        };
        self.pool.par_iter().map(score).collect()
    }

    /// Takes a candidate, fits all coefficients and exchanges the worst of the others; false if `watch` ends it.
    pub fn select(&mut self, place: usize, watch: &dyn Watch) -> bool {
        let scores = self.scores();
        let mut c = self.pool.remove(place);
        if self.candidates.backfit == Backfit::Post {
            self.project(&mut c);
        }
        if c.left <= EXPLAINED * c.own {
            return true;
        }
        let gradient: Vec<f64> = self.gradient(&c).collect();
        self.factor.push(std::mem::take(&mut c.along), c.left);
        self.atoms.push(c.atom);
        self.columns.push(c.column);
        let mut z = vec![0.0; self.atoms.len()];
        z[self.atoms.len() - 1] = 1.0;
        self.factor.upper(&mut z);
        let direction = self.combine(&z);
        let Some(image) = self.aim.curvature.apply(direction.clone(), 1, watch) else {
            self.atoms.pop();
            self.columns.pop();
            self.factor.truncate(self.atoms.len());
            return false;
        };
        for (k, g) in gradient.iter().enumerate() {
            let t = -g / c.left.sqrt();
            self.beta[k].push(0.0);
            add(t, &z, &mut self.beta[k]);
            add(t, &direction, &mut self.outputs[k]);
            add(-t, &image, &mut self.residual[k]);
            self.values[k] -= 0.5 * t * t;
        }
        if self.candidates.backfit == Backfit::Pre {
            self.keep_up();
        }
        self.exchange(scores, place);
        true
    }

    /// Φz.
    fn combine(&self, z: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.dictionary.rows()];
        out.par_chunks_mut(ROWS).enumerate().for_each(|(block, out)| {
            let first = block * ROWS;
            for (column, z) in self.columns.iter().zip(z) {
                add(*z, &column[first..first + out.len()], out);
            }
        });
        out
    }

    /// One more entry of L⁻¹H_Jj for each candidate, after a row was added to L.
    fn keep_up(&mut self) {
        let (Some(atom), Some(column)) = (self.atoms.last(), self.columns.last()) else { return };
        let (row, before) = (self.factor.last(), self.atoms.len() - 1);
        let (ambient, norm) = (self.aim.ambient, self.norm);
        self.pool.par_iter_mut().for_each(|c| {
            let entry = ambient * norm.with(&c.column, *atom) + dot(column, &c.image);
            let new = (entry - dot(&row[..before], &c.along)) / row[before];
            c.along.push(new);
            c.left -= new * new;
        });
    }

    /// Puts back the candidates of the lowest scores (as they were before `taken` went).
    fn exchange(&mut self, mut scores: Vec<f64>, taken: usize) {
        scores.remove(taken);
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]).then(a.cmp(&b)));
        // all atoms are in the pool: nothing to exchange them for
        let waiting = self.deck.len() + self.aside.len();
        let mut worst = order[..self.candidates.exchanged.min(scores.len()).min(waiting)].to_vec();
        worst.sort_unstable_by(|a, b| b.cmp(a));
        for place in worst {
            let atom = self.pool.remove(place).atom;
            self.aside.push(atom.scale * self.dictionary.rows() + atom.row);
        }
    }
}

/// The place of the largest, the first of equals.
fn best(scores: &[f64]) -> Option<usize> {
    (0..scores.len()).reduce(|best, k| if scores[k] > scores[best] { k } else { best })
}
