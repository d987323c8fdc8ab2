//! Learning by asking: an online machine chooses the samples whose labels it wants.
//!
//! Active learning with LASVM (Ertekin 2009, 3.3 and 4.2) and VIRTUAL (ch. 5), which adds points between a positive
//! support vector and its nearest positives, as candidates like any other. In a simulation all labels are known; the
//! learner sees only those it asks for, and they are counted.
//!
//! Departures: the labels looked at while a few samples of each class are sought, and those that the `gradient`
//! strategy or VIRTUAL reads without choosing, count as asked; with a budget VIRTUAL knows only the positives that were
//! asked about.

use super::PoolScores;
use crate::active::{AUTO_POOL, StopRule, Stopped, Stopping, Strategy, best_of, closeness, draw_pool};
use crate::data::{Label, Labels, Matrix};
use crate::error::{Error, Result};
use crate::estimators::folds::stratified_folds;
use crate::estimators::online::lasvm::{Checkpoint, Lasvm, LasvmParams, SCORED, SEEDS};
use crate::estimators::{Fit, Targets};
use crate::resampling::{SyntheticRows, neighbors};
use crate::solver::Watch;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Labels used, the reason for the end and the learning curve of an active search.
#[derive(Debug, Clone, PartialEq)]
pub struct ActiveReport {
    /// Labels that were looked at.
    pub labels: usize,
    /// Why it ended.
    pub stopped: Stopped,
    /// The model after so many labels, each finished.
    pub curve: Vec<Checkpoint>,
    /// Virtual points made, if any.
    pub made: Option<Matrix>,
}

/// The first checkpoint of a learning curve, in samples learned; the next ones grow by half.
const FIRST_CHECKPOINT: usize = 10;

/// Kernel rows of the pool that a full search keeps: bytes.
const POOL_BYTES: usize = 512 << 20;

/// A search under way.
struct Search<'a> {
    params: &'a LasvmParams,
    x: Cow<'a, Matrix>,
    problems: Cow<'a, [Targets]>,
    /// Rows that are not virtual.
    real: usize,
    unseen: Vec<usize>,
    /// Rows whose labels were looked at.
    known: Vec<bool>,
    labels: usize,
    learned: usize,
    stopping: Stopping,
    scores: Option<PoolScores>,
    next_checkpoint: usize,
    /// Most samples to learn from.
    max: Option<usize>,
    curve: Vec<Checkpoint>,
    rng: Pcg64,
}

/// Candidates whose kernel values are at hand, and the one chosen.
struct Choice {
    /// Place among the candidates.
    candidate: usize,
    /// Whether its scores were asked for.
    scored: bool,
    /// Place among the unseen.
    place: usize,
    closeness: f64,
}

/// Whether the problems are one, or each class against the rest: a row is then labeled in all of them or in none.
pub fn are_classes(problems: &[Targets]) -> bool {
    let labeled = |p: &Targets, i: usize| p.y[i] != Label::Unknown;
    problems.first().is_none_or(|first| {
        (0..first.y.len()).all(|i| problems.iter().all(|p| labeled(p, i) == labeled(first, i)))
    })
}

/// Learns by asking until a rule, the budget, the watch or the samples end it, or `max` samples are learned.
pub fn learn(
    state: &mut Lasvm,
    x: &Matrix,
    problems: &[Targets],
    max: Option<usize>,
    watch: &dyn Watch,
) -> Result<ActiveReport> {
    let params = state.params().clone();
    let mut search = Search::new(&params, x, problems)?;
    search.max = max;
    if max.is_some() {
        (0..x.rows()).for_each(|i| search.look(i)); // all were looked at to find the number
    }
    let stopped = search.run(state, watch)?;
    if params.curve {
        search.checkpoint(state)?;
    }
    let virtual_rows: Vec<usize> = (search.real..search.x.rows()).collect();
    let made = (search.created() > 0).then(|| search.x.view().select(&virtual_rows));
    Ok(ActiveReport { labels: search.labels, stopped, curve: search.curve, made })
}

impl<'a> Search<'a> {
    fn new(params: &'a LasvmParams, x: &'a Matrix, problems: &'a [Targets]) -> Result<Self> {
        let n = x.rows();
        if params.virtual_points > 0 && problems.len() != 1 {
            return Err(Error::parameter("virtual", params.virtual_points, "0 for more than two classes"));
        }
        let mut rng = Pcg64::seed_from_u64(params.seed);
        let used = |&i: &usize| problems.iter().any(|p| p.y[i] != Label::Unknown && p.cost[i] > 0.0);
        let mut unseen: Vec<usize> = (0..n).filter(used).collect();
        unseen.shuffle(&mut rng);
        Ok(Self {
            params,
            x: Cow::Borrowed(x),
            problems: Cow::Borrowed(problems),
            real: n,
            stopping: Stopping::new(rule(params), unseen.len()),
            unseen,
            known: vec![false; n],
            labels: 0,
            learned: 0,
            scores: None,
            next_checkpoint: FIRST_CHECKPOINT,
            max: None,
            curve: Vec::new(),
            rng,
        })
    }

    fn run(&mut self, state: &mut Lasvm, watch: &dyn Watch) -> Result<Stopped> {
        self.seed(state)?;
        if self.params.virtual_points > 0 && self.params.labels == 0 {
            (0..self.real).for_each(|i| self.look(i)); // neighbors are sought among all positives
        }
        loop {
            if !watch.proceed(&state.progress()) {
                return Ok(Stopped::Interrupted);
            }
            if self.params.curve && self.learned >= self.next_checkpoint {
                self.next_checkpoint += self.next_checkpoint / 2;
                self.checkpoint(state)?;
            }
            if self.max.is_some_and(|max| self.learned >= max) {
                return Ok(Stopped::CrossValidated);
            }
            if self.is_spent() {
                return Ok(Stopped::Budget);
            }
            let Some(choice) = self.choose(state)? else { return Ok(Stopped::Exhausted) };
            if let Some(stopped) = self.stopping.before(choice.closeness, 1.0 + 0.5 * state.admission_slack())
            {
                return Ok(stopped);
            }
            let row = self.unseen.swap_remove(choice.place);
            if !self.may_look(row) {
                return Ok(Stopped::Budget);
            }
            self.learn_from(state, choice.candidate, choice.scored, row)?;
            let became = state.is_support(row as u64);
            if let Some(stopped) = self.stopping.after(became, state.support_count()) {
                return Ok(stopped);
            }
        }
    }

    fn is_spent(&self) -> bool {
        !self.unseen.is_empty() && !self.unseen.iter().any(|&row| self.may_look(row))
    }

    /// A few samples of each class of each problem. Labels are looked at in random order until they are found. With a
    /// budget, one of each class is enough and every label looked at is learned from: it was paid for.
    fn seed(&mut self, state: &mut Lasvm) -> Result<()> {
        let budget = self.params.labels;
        let count = if budget > 0 { 1 } else { SEEDS };
        let mut need = vec![[count; 2]; self.problems.len()];
        let mut seeds = Vec::new();
        for place in 0..self.unseen.len() {
            if need.iter().flatten().all(|n| *n == 0) || (budget > 0 && self.labels >= budget) {
                break;
            }
            let row = self.unseen[place];
            self.look(row);
            let mut serves = budget > 0;
            for (need, p) in need.iter_mut().zip(self.problems.iter()) {
                let side = match p.y[row] {
                    Label::Neg => 0,
                    Label::Pos => 1,
                    Label::Unknown => continue,
                };
                serves |= need[side] > 0;
                need[side] = need[side].saturating_sub(1);
            }
            if serves {
                seeds.push(row);
            }
        }
        if need.iter().flatten().any(|n| *n == count) {
            return Err(Error::Data(format!(
                "the first {} labels have no sample of one class: raise the budget (labels)",
                self.labels
            )));
        }
        let chosen: BTreeSet<usize> = seeds.iter().copied().collect();
        self.unseen.retain(|row| !chosen.contains(row));
        for row in seeds {
            self.compute_kernel_block(state, &[row])?;
            self.learn_from(state, 0, false, row)?;
        }
        Ok(())
    }

    /// Whether the label of a row is known or may still be bought.
    fn may_look(&self, row: usize) -> bool {
        self.params.labels == 0 || self.known[row] || self.labels < self.params.labels
    }

    fn look(&mut self, row: usize) {
        if row < self.real && !self.known[row] {
            self.known[row] = true;
            self.labels += 1;
        }
    }

    fn compute_kernel_block(&self, state: &mut Lasvm, rows: &[usize]) -> Result<()> {
        state.compute_kernel_block(self.x.view(), rows)
    }

    fn learn_from(&mut self, state: &mut Lasvm, candidate: usize, scored: bool, row: usize) -> Result<()> {
        self.look(row);
        self.learned += 1;
        state.process(candidate, scored, self.x.view(), row, row as u64, &self.problems)?;
        if self.params.virtual_points > 0 && row < self.real {
            self.multiply(state, row)?;
        }
        Ok(())
    }

    /// Chooses the next sample; `None` when there is none.
    fn choose(&mut self, state: &mut Lasvm) -> Result<Option<Choice>> {
        if self.unseen.is_empty() {
            return Ok(None);
        }
        let searching = matches!(self.params.select, Strategy::Active | Strategy::Gradient);
        if searching && self.params.pool == 0 {
            return self.choose_of_all(state).map(Some);
        }
        let size = match self.params.select {
            Strategy::Random => 1,
            Strategy::AutoActive => AUTO_POOL,
            Strategy::Active | Strategy::Gradient => self.params.pool,
        };
        let size = draw_pool(&mut self.unseen, size, &mut self.rng);
        let pool: Vec<usize> = self.unseen[..size].to_vec();
        self.choose_of_pool(state, &pool).map(Some)
    }

    /// The best of a pool, scored in pieces; the kernel values of the last piece are at hand.
    fn choose_of_pool(&mut self, state: &mut Lasvm, pool: &[usize]) -> Result<Choice> {
        let (bias, margin) = (state.biases(), 1.0 + 0.5 * state.admission_slack());
        let select = self.params.select;
        let (mut met, mut failed) = (0..0, None);
        let best = best_of(select, pool.len(), margin, |c| {
            if !met.contains(&c) {
                met = c..(c + SCORED).min(pool.len());
                failed = self.compute_kernel_block(state, &pool[met.clone()]).err();
            }
            if failed.is_some() {
                return (f64::INFINITY, f64::INFINITY);
            }
            let f = state.scores(c - met.start, &bias);
            let near = closeness(&f);
            (if select == Strategy::Gradient { self.wrongness(pool[c], &f) } else { near }, near)
        });
        if let Some(error) = failed {
            return Err(error);
        }
        let (place, closeness) = (best.candidate, best.closeness);
        if met.contains(&place) {
            return Ok(Choice { candidate: place - met.start, scored: true, place, closeness });
        }
        self.compute_kernel_block(state, &[pool[place]])?;
        Ok(Choice { candidate: 0, scored: false, place, closeness })
    }

    /// The smallest y·f; the label counts as looked at, and is not when the budget is spent.
    fn wrongness(&mut self, row: usize, f: &[f64]) -> f64 {
        if !self.may_look(row) {
            return f64::MAX;
        }
        self.look(row);
        self.problems.iter().zip(f).map(|(p, f)| p.y[row].sign() * f).fold(f64::INFINITY, f64::min)
    }

    /// The best of all unseen samples, by scores that are kept current.
    fn choose_of_all(&mut self, state: &mut Lasvm) -> Result<Choice> {
        let mut scores = match self.scores.take() {
            Some(scores) if scores.rows() == self.x.rows() => scores,
            _ => PoolScores::new(self.x.view(), state, POOL_BYTES)?.of_own_samples(),
        };
        let before = scores.evaluations();
        scores.refresh(state);
        state.count(scores.evaluations() - before);
        let bias = state.biases();
        let select = self.params.select;
        let best = best_of(select, self.unseen.len(), 0.0, |place| {
            let f = scores.decision(self.unseen[place], &bias);
            let near = closeness(&f);
            (if select == Strategy::Gradient { self.wrongness(self.unseen[place], &f) } else { near }, near)
        });
        self.scores = Some(scores);
        self.compute_kernel_block(state, &[self.unseen[best.candidate]])?;
        Ok(Choice { candidate: 0, scored: false, place: best.candidate, closeness: best.closeness })
    }

    /// VIRTUAL: a positive that became a support vector gets points between itself and its nearest positives.
    fn multiply(&mut self, state: &Lasvm, row: usize) -> Result<()> {
        let y = &self.problems[0].y;
        if y[row] != Label::Pos || !state.is_support(row as u64) {
            return Ok(());
        }
        let is_positive = |&i: &usize| y[i] == Label::Pos && self.known[i];
        let positives: Vec<usize> = (0..self.real).filter(is_positive).collect();
        let near = neighbors(self.x.view(), &positives, row, self.params.kernel, self.params.n_neighbors)?;
        if near.is_empty() {
            return Ok(());
        }
        let sparse = matches!(*self.x, Matrix::Csr { .. });
        let mut made = SyntheticRows::new(self.x.cols(), sparse);
        for _ in 0..self.params.virtual_points {
            let other = near[self.rng.random_range(0..near.len())];
            made.push(self.x.view().row(row), self.x.view().row(other), self.rng.random());
        }
        let made = made.finish()?;
        let cost = self.problems[0].cost[row];
        for k in 0..made.rows() {
            self.unseen.push(self.x.rows());
            self.x.to_mut().push(made.view().row(k));
            let problem = &mut self.problems.to_mut()[0];
            problem.y.push(Label::Pos);
            problem.cost.push(cost);
            self.known.push(true);
        }
        Ok(())
    }

    /// Virtual points made so far.
    fn created(&self) -> usize {
        self.x.rows() - self.real
    }

    /// Keeps the model as it would be if learning ended here: the state goes on unfinished.
    fn checkpoint(&mut self, state: &Lasvm) -> Result<()> {
        let mut copy = Lasvm::resume(&state.save())?;
        copy.finish(&());
        self.curve.push(Checkpoint {
            labels: self.labels,
            learned: self.learned,
            support: copy.support_count(),
            model: copy.model(),
        });
        Ok(())
    }
}

/// The rule that applies: what is exhausted is told by the nearest samples, which only these strategies look for.
fn rule(params: &LasvmParams) -> StopRule {
    match (params.select, params.stop) {
        (Strategy::Random | Strategy::Gradient, StopRule::Margin) => StopRule::Never,
        (_, rule) => rule,
    }
}

/// The number of samples learned from at which the error of three-fold cross-validation is lowest: the last checkpoint of the
/// stretch around the lowest mean error that stays within a twentieth of it (Ertekin 2009, 3.4: the end of the interval
/// nearest to where support vectors settle).
pub fn cross_validated_count(
    params: &LasvmParams,
    x: &Matrix,
    problems: &[Targets],
    watch: &dyn Watch,
) -> Result<usize> {
    let y = &problems[0].y;
    let of = y.iter().map(|y| match y {
        Label::Neg => Some(0),
        Label::Pos => Some(1),
        Label::Unknown => None,
    });
    let labels = Labels { classes: vec!["-".into(), "+".into()], of: of.collect() };
    let folds = stratified_folds(&labels, 3, params.seed)?;
    let inner = LasvmParams { stop: StopRule::Never, curve: true, ..params.clone() };
    let mut curves: Vec<Vec<(usize, f64)>> = Vec::new();
    for fold in 0..3 {
        let inside: Vec<usize> = (0..folds.len()).filter(|&i| folds[i].is_some_and(|f| f != fold)).collect();
        let outside: Vec<usize> = (0..folds.len()).filter(|&i| folds[i] == Some(fold)).collect();
        let part: Vec<Targets> = problems.iter().map(|p| p.select(&inside)).collect();
        let fitted = inner.fit(x.view().select(&inside).view(), &part, watch)?;
        let (test, truth) =
            (x.view().select(&outside), problems.iter().map(|p| p.select(&outside)).collect::<Vec<_>>());
        let curve = fitted.online.map(|o| o.curve).unwrap_or_default();
        let error = |c: &Checkpoint| Ok((c.learned, error_rate(&c.model.decision(test.view())?, &truth)));
        curves.push(curve.iter().map(error).collect::<Result<_>>()?);
    }
    Ok(best_count(&curves))
}

/// Share of decisions whose sign is wrong.
fn error_rate(decision: &[f64], truth: &[Targets]) -> f64 {
    let k = truth.len();
    let wrong = |i: usize, j: usize| truth[j].y[i].sign() * decision[i * k + j] <= 0.0;
    let all = decision.len().max(1);
    (0..decision.len()).filter(|d| wrong(d / k, d % k)).count() as f64 / all as f64
}

fn best_count(curves: &[Vec<(usize, f64)>]) -> usize {
    let length = curves.iter().map(Vec::len).min().unwrap_or(0);
    let mean: Vec<f64> =
        (0..length).map(|k| curves.iter().map(|c| c[k].1).sum::<f64>() / curves.len() as f64).collect();
    let Some(lowest) = (0..length).min_by(|&a, &b| mean[a].total_cmp(&mean[b])) else { return 0 };
    let end = (lowest..length).take_while(|&k| mean[k] <= 1.05 * mean[lowest]).last().unwrap_or(lowest);
    curves[0][end].0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_the_best_stretch_is_taken() {
        let curve = |e: &[f64]| e.iter().enumerate().map(|(k, e)| (10 * (k + 1), *e)).collect::<Vec<_>>();
        let curves = [curve(&[0.5, 0.2, 0.1, 0.101, 0.2, 0.1]), curve(&[0.4, 0.2, 0.1, 0.102, 0.2, 0.3])];
        assert_eq!(best_count(&curves), 40);
        assert_eq!(best_count(&[]), 0);
    }

    /// Two overlapping clouds, `share` of the rows positive.
    fn clouds(n: usize, share: f64, seed: u64) -> (Matrix, Vec<Targets>) {
        let mut rng = Pcg64::seed_from_u64(seed);
        let (mut values, mut y) = (Vec::new(), Vec::new());
        for _ in 0..n {
            let positive = rng.random_bool(share);
            let middle = if positive { 0.6 } else { -0.6 };
            values.extend((0..2).map(|_| middle + rng.random_range(-1.5..1.5)));
            y.push(if positive { Label::Pos } else { Label::Neg });
        }
        (Matrix::dense(values, n, 2).unwrap(), vec![Targets { y, cost: vec![1.0; n] }])
    }

    fn params(select: Strategy) -> LasvmParams {
        LasvmParams { kernel: crate::Kernel::Rbf { gamma: 0.5 }, select, ..LasvmParams::default() }
    }

    /// How near every unseen sample is, by its row.
    fn nearness(search: &Search<'_>, state: &mut Lasvm) -> Vec<(usize, f64)> {
        let f = state.decisions(search.x.view(), &search.unseen).unwrap();
        search.unseen.iter().zip(f).map(|(&row, f)| (row, closeness(&f))).collect()
    }

    /// Invariant 26 on the pools the search draws itself: the choice is among the nearest 5 % of the unseen in 95 % of the
    /// cases, and it is the nearest of all when the pool holds all.
    #[test]
    fn choices_from_small_pools_are_among_the_nearest() {
        let (x, problems) = clouds(1500, 0.5, 4);
        let p = params(Strategy::Active);
        let mut state = Lasvm::new(&p, x.view(), 1).unwrap();
        let mut search = Search::new(&p, &x, &problems).unwrap();
        search.seed(&mut state).unwrap();
        let (trials, mut hits) = (600, 0);
        for _ in 0..trials {
            let mut near = nearness(&search, &mut state);
            near.sort_by(|a, b| a.1.total_cmp(&b.1));
            let choice = search.choose(&mut state).unwrap().unwrap();
            let row = search.unseen.swap_remove(choice.place);
            let best = near.len().div_ceil(20);
            hits += u32::from(near[..best].iter().any(|(r, _)| *r == row));
            search.learn_from(&mut state, choice.candidate, choice.scored, row).unwrap();
        }
        let deviation = (0.95f64 * 0.05 / f64::from(trials)).sqrt();
        assert!(f64::from(hits) / f64::from(trials) >= 0.95 - 3.0 * deviation, "{hits} of {trials}");

        for pool in [0, 300, 1000] {
            let (x, problems) = clouds(300, 0.5, 5);
            let p = LasvmParams { pool, ..params(Strategy::Active) };
            let mut state = Lasvm::new(&p, x.view(), 1).unwrap();
            let mut search = Search::new(&p, &x, &problems).unwrap();
            search.seed(&mut state).unwrap();
            while !search.unseen.is_empty() {
                let near = nearness(&search, &mut state);
                let least = near.iter().map(|n| n.1).fold(f64::INFINITY, f64::min);
                let choice = search.choose(&mut state).unwrap().unwrap();
                let row = search.unseen.swap_remove(choice.place);
                let own = near.iter().find(|n| n.0 == row).unwrap().1;
                // scores kept current differ from those computed anew in the last digits
                assert!(own <= least + 1e-6, "{own} though {least} was there");
                search.learn_from(&mut state, choice.candidate, choice.scored, row).unwrap();
            }
        }
    }

    /// Invariant 30: as many virtual points are made as real positives became support vectors when they were learned, times
    /// v; none by a virtual point.
    #[test]
    fn virtual_points_are_made_by_real_positives_that_become_support_vectors() {
        for v in [1, 3] {
            let (x, problems) = clouds(400, 0.15, 6);
            let p = LasvmParams { virtual_points: v, stop: StopRule::Never, ..params(Strategy::Active) };
            let mut state = Lasvm::new(&p, x.view(), 1).unwrap();
            let mut search = Search::new(&p, &x, &problems).unwrap();
            (0..400).for_each(|i| search.look(i));
            let first =
                |label| (0..400).filter(|&i| problems[0].y[i] == label).take(SEEDS).collect::<Vec<_>>();
            let seeds = [first(Label::Neg), first(Label::Pos)].concat();
            search.unseen.retain(|row| !seeds.contains(row));
            let (mut became, mut of_virtual) = (0, 0);
            let mut after = |search: &Search<'_>, state: &Lasvm, row: usize, before: usize| {
                let support = state.is_support(row as u64);
                let spawns = row < 400 && problems[0].y[row] == Label::Pos && support;
                assert_eq!(search.created() - before, if spawns { v } else { 0 }, "row {row}");
                became += usize::from(spawns);
                of_virtual += usize::from(row >= 400 && support);
            };
            for row in seeds {
                let before = search.created();
                search.compute_kernel_block(&mut state, &[row]).unwrap();
                search.learn_from(&mut state, 0, false, row).unwrap();
                after(&search, &state, row, before);
            }
            while let Some(choice) = search.choose(&mut state).unwrap() {
                let before = search.created();
                let row = search.unseen.swap_remove(choice.place);
                search.learn_from(&mut state, choice.candidate, choice.scored, row).unwrap();
                after(&search, &state, row, before);
            }
            assert_eq!(search.created(), v * became);
            assert!(became > 10 && of_virtual > 0, "{became} {of_virtual}");
        }
    }
}
