//! Selection of the basis and fit, for each method.

use super::objective::{LabeledTargets, SparseObjective, transduce};
use super::restricted::{Restricted, RestrictedSolution};
use super::sigmoid::Squashed;
use super::{Method, SparseLapParams};
use crate::error::{Error, Result};
use crate::estimators::manifold::dictionary::{Atom, Dictionary};
use crate::estimators::manifold::penalty::Penalty;
use crate::estimators::manifold::sparse::matching_pursuit::{Candidates, Norm, Pursuit, PursuitCache};
use crate::math::blas1::dot;
use crate::math::linalg;
use crate::solver::lars::l1_path;
use crate::solver::newton_cg::newton;
use crate::solver::{Exit, Stop, Watch};
use rand::SeedableRng;
use rand::seq::SliceRandom;

/// Input of a fit: rows, labels, graph, and weights of the terms.
#[derive(Debug)]
pub(crate) struct SparseFit<'s> {
    pub params: &'s SparseLapParams,
    pub dictionary: Dictionary<'s>,
    pub known: LabeledTargets,
    pub penalty: Option<&'s Penalty>,
    pub gamma: [f64; 2],
    pub norm: Norm,
}

/// Outcome of a selection or a fit: exit, number of steps and computed columns of kernel values.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Done {
    pub exit: Exit,
    pub steps: u64,
    pub columns: usize,
}

/// Maximum number of rows for which all columns are cached if a pursuit scores them repeatedly: 64 MB, half as much
/// again during construction.
const CACHED_ROWS: usize = 2000;

type SparseSolution<'s> = (Restricted<'s>, RestrictedSolution, Done);

/// Stopping criteria for bounded outputs: relative gradient, and maximum number of rounds.
const STATIONARY: Stop = Stop { tolerance: 1e-5, max_steps: Some(200) };

impl SparseFit<'_> {
    fn plain(&self) -> SparseObjective<'_> {
        SparseObjective::plain(self.gamma, &self.known, self.penalty)
    }

    /// The objective to which the basis is fitted; `None` if `watch` ends the solutions it needs.
    fn objective(&self, watch: &dyn Watch) -> Option<SparseObjective<'_>> {
        let ([a, i], nu) = (self.gamma, self.params.slack_weight);
        match (self.params.method, self.penalty) {
            (Method::Decoupled, Some(penalty)) => {
                Some(SparseObjective::decoupled(a / nu, transduce(i, &self.known, penalty, watch)?))
            }
            (Method::Slack | Method::GreedySlack, Some(penalty)) => {
                SparseObjective::slack(self.gamma, nu, &self.known, penalty, watch)
            }
            _ => Some(self.plain()),
        }
    }

    /// The basis and its functions; `None` if `watch` ended it before there was a basis.
    pub fn solve(&self, watch: &dyn Watch) -> Result<Option<SparseSolution<'_>>> {
        let Some(objective) = self.objective(watch) else { return Ok(None) };
        let (atoms, mut done) = self.choose(&objective, watch);
        if atoms.is_empty() {
            return Ok(None);
        }
        let space = Restricted::of(&self.dictionary, &atoms, self.norm)?;
        let mut solved = if let Some(solved) = space.solve(&objective, watch)? {
            solved
        } else {
            done.exit = Exit::Interrupted;
            self.without_slack(&space)?
        };
        if let (Method::Sigmoid, Some(penalty)) = (self.params.method, self.penalty) {
            self.squash(&space, penalty, &mut solved, &mut done, watch);
        }
        Ok(Some((space, solved, done)))
    }

    /// A model of the first labeled rows, if the selection was interrupted.
    pub fn first_rows(&self) -> Result<SparseSolution<'_>> {
        let labeled = (0..self.dictionary.rows()).filter(|&i| self.known.weight[i] > 0.0);
        let atoms: Vec<Atom> =
            labeled.take(self.params.n_landmarks).map(|row| Atom { row, scale: 0 }).collect();
        let space = Restricted::of(&self.dictionary, &atoms, self.norm)?;
        let solved = self.without_slack(&space)?;
        Ok((space, solved, Done { exit: Exit::Interrupted, steps: 0, columns: atoms.len() }))
    }

    fn without_slack(&self, space: &Restricted<'_>) -> Result<RestrictedSolution> {
        let solved = space.solve(&self.plain(), &())?;
        solved.ok_or_else(|| Error::Model("a solution without a watch was interrupted".into()))
    }

    fn choose(&self, objective: &SparseObjective<'_>, watch: &dyn Watch) -> (Vec<Atom>, Done) {
        let (n, max) = (self.dictionary.rows(), self.params.n_landmarks);
        let whole = |rows: Vec<usize>| {
            let atoms: Vec<Atom> = rows.into_iter().map(|row| Atom { row, scale: 0 }).collect();
            let done = Done { exit: Exit::Converged, steps: atoms.len() as u64, columns: atoms.len() };
            (atoms, done)
        };
        if n <= max {
            return whole((0..n).collect());
        }
        match (self.params.method, self.penalty) {
            (Method::Random, _) => {
                let mut rows: Vec<usize> = (0..n).collect();
                rows.shuffle(&mut rand_pcg::Pcg64::seed_from_u64(self.params.seed));
                rows.truncate(max);
                whole(rows)
            }
            (Method::Uniform, Some(penalty)) => {
                let fields = transduce(self.gamma[1], &self.known, penalty, watch);
                whole(fields.map_or(Vec::new(), |fields| self.spread(&fields)))
            }
            (Method::Lasso | Method::Lars, Some(_)) => self.along_path(objective, watch),
            (Method::Slack, Some(_)) => self.pursue(&self.plain(), watch),
            _ => self.pursue(objective, watch),
        }
    }

    fn pursue(&self, objective: &SparseObjective<'_>, watch: &dyn Watch) -> (Vec<Atom>, Done) {
        let p = self.params;
        let exchanged =
            ((p.exchange * p.candidates as f64).round() as usize).max(usize::from(p.exchange > 0.0));
        let candidates = Candidates { number: p.candidates, exchanged, backfit: p.backfit, seed: p.seed };
        let n = self.dictionary.rows();
        let often = n <= CACHED_ROWS && exchanged.saturating_mul(p.n_landmarks) > n;
        let cache = self
            .penalty
            .filter(|p| often && objective.curvature.is_along(p))
            .map(|penalty| PursuitCache::new(&self.dictionary, penalty));
        let mut pursuit = Pursuit::new(objective, &self.dictionary, self.norm, candidates);
        if let Some(cache) = &cache {
            pursuit = pursuit.with(cache);
        }
        let exit = pursuit.run(p.n_landmarks, watch);
        let steps = pursuit.atoms().len() as u64;
        (pursuit.atoms().to_vec(), Done { exit, steps, columns: pursuit.drawn() })
    }

    /// Every ⌊n/d⌋-th row in the order of its outputs; problems alternate.
    fn spread(&self, fields: &[Vec<f64>]) -> Vec<usize> {
        let share = (self.params.n_landmarks / fields.len().max(1)).max(1);
        let rows = |field: &Vec<f64>| {
            let mut order: Vec<usize> = (0..field.len()).collect();
            order.sort_by(|&a, &b| field[a].total_cmp(&field[b]).then(a.cmp(&b)));
            order.into_iter().step_by((field.len() / share).max(1)).take(share).collect()
        };
        self.in_turns(&fields.iter().map(rows).collect::<Vec<_>>())
    }

    /// The rows active at the end of the path of each problem; problems alternate.
    fn along_path(&self, objective: &SparseObjective<'_>, watch: &dyn Watch) -> (Vec<Atom>, Done) {
        let n = self.dictionary.rows();
        let (h, right) = self.quadratic(objective);
        let share = (self.params.n_landmarks / right.len().max(1)).max(1);
        let (mut rows, mut exit) = (Vec::new(), Exit::Converged);
        for c in &right {
            let (knots, end) = l1_path(&h, c, share, self.params.method == Method::Lasso, watch);
            rows.push(knots.last().map_or(Vec::new(), |k| k.active.iter().map(|(j, _)| *j).collect()));
            exit = if end == Exit::Interrupted { end } else { exit };
        }
        let atoms: Vec<Atom> = self.in_turns(&rows).into_iter().map(|row| Atom { row, scale: 0 }).collect();
        let done = Done { exit, steps: atoms.len() as u64, columns: n };
        (atoms, done)
    }

    /// H = aG + KQK, and Kr of each problem, over all rows.
    fn quadratic(&self, objective: &SparseObjective<'_>) -> (Vec<f64>, Vec<Vec<f64>>) {
        let n = self.dictionary.rows();
        let all: Vec<Atom> = (0..n).map(|row| Atom { row, scale: 0 }).collect();
        let k = self.dictionary.block(&all);
        let image = objective.curvature.apply(k.clone(), n, &()).unwrap_or_default();
        let mut h = linalg::symmetric_product(&k, &image, n);
        match self.norm {
            Norm::Kernel => h.iter_mut().zip(&k).for_each(|(h, k)| *h += objective.ambient * k),
            Norm::Ridge(scale) => (0..n).for_each(|i| h[i * n + i] += objective.ambient * scale),
        }
        let right =
            objective.right.iter().map(|r| k.chunks_exact(n).map(|row| dot(row, r)).collect()).collect();
        (h, right)
    }

    /// The first of each list, the second of each, …, without repeated rows, and at most as many as the basis may hold.
    fn in_turns(&self, lists: &[Vec<usize>]) -> Vec<usize> {
        let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
        let mut taken = vec![false; self.dictionary.rows()];
        let turns = (0..longest).flat_map(|at| lists.iter().filter_map(move |l| l.get(at)));
        let new = turns.copied().filter(|&row| !std::mem::replace(&mut taken[row], true));
        new.take(self.params.n_landmarks).collect()
    }

    /// Minimizes the objective with bounded outputs, starting at the solutions of the plain objective.
    fn squash(
        &self,
        space: &Restricted<'_>,
        penalty: &Penalty,
        solved: &mut RestrictedSolution,
        done: &mut Done,
        watch: &dyn Watch,
    ) {
        let each = solved.functions.iter_mut().zip(&mut solved.values).zip(&self.known.y);
        for ((v, value), y) in each {
            let mut objective = Squashed::new(self.gamma, space, penalty, &self.known.weight, y);
            let report = newton(&mut objective, v, STATIONARY, watch);
            *value = report.objective;
            done.steps += report.steps;
            done.exit = if report.exit == Exit::Converged { done.exit } else { report.exit };
        }
    }
}
