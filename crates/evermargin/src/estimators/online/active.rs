//! Active learning: an online SVM chooses the samples whose labels are queried.
//!
//! Active learning with LASVM (Ertekin 2009, 3.3 and 4.2) and VIRTUAL (ch. 5). VIRTUAL adds virtual points between a
//! positive support vector and its nearest positives; they become candidates like any other sample. This is a
//! simulation: all labels are given, the learner reads only those it queries, and the labels it has read are counted.
//!
//! Departures: labels that are read to find the first few samples of each class count as queried, and so do those that
//! the `gradient` strategy or VIRTUAL reads without choosing the sample. With a label budget VIRTUAL uses only positives
//! whose labels were queried.

use super::PoolScores;
use crate::active::{AUTO_POOL, StopRule, Stopped, Stopping, Strategy, best_of, closeness, draw_pool};
use crate::data::{Label, Labels, Matrix};
use crate::error::{Error, Result};
use crate::estimators::folds::stratified_folds;
use crate::estimators::online::lasvm::{Checkpoint, Lasvm, LasvmParams, SCORE_BLOCK, SEEDS};
use crate::estimators::{Fit, Targets};
use crate::resampling::{SyntheticRows, neighbors};
use crate::solver::Watch;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Number of labels used, reason for stopping and learning curve of active learning.
#[derive(Debug, Clone, PartialEq)]
pub struct ActiveReport {
    /// Number of labels that were read.
    pub labels: usize,
    /// Reason for stopping.
    pub stopped: Stopped,
    /// Finished models at increasing numbers of labels.
    pub curve: Vec<Checkpoint>,
    /// Virtual points, if any were made.
    pub made: Option<Matrix>,
}

/// Number of learned samples at the first checkpoint of a learning curve. It grows by a factor of 1.5 per checkpoint.
const FIRST_CHECKPOINT: usize = 10;

/// Memory limit, in bytes, for cached kernel rows between expansion points and the pool when all samples are searched.
const POOL_BYTES: usize = 512 << 20;

/// State of active learning on one data set.
struct Search<'a> {
    params: &'a LasvmParams,
    /// The samples, followed by the virtual points.
    x: Cow<'a, Matrix>,
    problems: Cow<'a, [Targets]>,
    /// Number of rows that are not virtual.
    real: usize,
    /// Rows that were not learned yet.
    unseen: Vec<usize>,
    /// Whether the label of each row was read.
    revealed: Vec<bool>,
    labels: usize,
    learned: usize,
    stopping: Stopping,
    scores: Option<PoolScores>,
    next_checkpoint: usize,
    /// Maximum number of samples to learn from.
    max: Option<usize>,
    curve: Vec<Checkpoint>,
    rng: Pcg64,
}

/// The sample chosen next.
struct Choice {
    /// Index among the candidates whose kernel values were computed last.
    candidate: usize,
    /// Whether its scores were computed.
    scored: bool,
    /// Index in [`Search::unseen`].
    place: usize,
    closeness: f64,
}

/// Whether each row is labeled in all problems or in none, as with a single problem or with each class against the rest.
pub fn are_classes(problems: &[Targets]) -> bool {
    let labeled = |p: &Targets, i: usize| p.y[i] != Label::Unknown;
    problems.first().is_none_or(|first| {
        (0..first.y.len()).all(|i| problems.iter().all(|p| labeled(p, i) == labeled(first, i)))
    })
}

/// Chooses and learns samples until the stop rule, the label budget or the watch ends it, no sample is left, or `max`
/// samples are learned.
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
        (0..x.rows()).for_each(|i| search.reveal(i)); // cross-validation read all labels to find `max`
    }
    let stopped = search.run(state, watch)?;
    if params.curve {
        search.checkpoint(state)?;
    }
    let virtual_rows: Vec<usize> = (search.real..search.x.rows()).collect();
    let made = (search.virtual_count() > 0).then(|| search.x.view().select(&virtual_rows));
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
            stopping: Stopping::new(stop_rule(params), unseen.len()),
            unseen,
            revealed: vec![false; n],
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
            (0..self.real).for_each(|i| self.reveal(i)); // VIRTUAL searches neighbors among all positives
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
            if self.is_budget_spent() {
                return Ok(Stopped::Budget);
            }
            let Some(choice) = self.choose(state)? else { return Ok(Stopped::Exhausted) };
            if let Some(stopped) = self.stopping.before(choice.closeness, 1.0 + 0.5 * state.admission_slack())
            {
                return Ok(stopped);
            }
            let row = self.unseen.swap_remove(choice.place);
            if !self.may_reveal(row) {
                return Ok(Stopped::Budget);
            }
            self.learn_from(state, choice.candidate, choice.scored, row)?;
            let became = state.is_support(row as u64);
            if let Some(stopped) = self.stopping.after(became, state.support_count()) {
                return Ok(stopped);
            }
        }
    }

    /// Whether samples are left but none whose label may be read.
    fn is_budget_spent(&self) -> bool {
        !self.unseen.is_empty() && !self.unseen.iter().any(|&row| self.may_reveal(row))
    }

    /// Learns a few samples of each class of each problem. Labels are read in random order until these samples are found.
    /// With a label budget, one sample of each class is enough, and every sample whose label was read is learned.
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
            self.reveal(row);
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
                "one class does not occur among the first {} labels; raise the budget (labels)",
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

    /// Whether the label of a row was read or the budget allows reading it.
    fn may_reveal(&self, row: usize) -> bool {
        self.params.labels == 0 || self.revealed[row] || self.labels < self.params.labels
    }

    /// Counts the label of a row as read. Virtual points have no label of their own.
    fn reveal(&mut self, row: usize) {
        if row < self.real && !self.revealed[row] {
            self.revealed[row] = true;
            self.labels += 1;
        }
    }

    fn compute_kernel_block(&self, state: &mut Lasvm, rows: &[usize]) -> Result<()> {
        state.compute_kernel_block(self.x.view(), rows)
    }

    fn learn_from(&mut self, state: &mut Lasvm, candidate: usize, scored: bool, row: usize) -> Result<()> {
        self.reveal(row);
        self.learned += 1;
        state.process(candidate, scored, self.x.view(), row, row as u64, &self.problems)?;
        if self.params.virtual_points > 0 && row < self.real {
            self.add_virtual_points(state, row)?;
        }
        Ok(())
    }

    /// Chooses the next sample; `None` if no sample is left.
    fn choose(&mut self, state: &mut Lasvm) -> Result<Option<Choice>> {
        if self.unseen.is_empty() {
            return Ok(None);
        }
        let searching = matches!(self.params.select, Strategy::Active | Strategy::Gradient);
        if searching && self.params.pool == 0 {
            return self.choose_from_all(state).map(Some);
        }
        let size = match self.params.select {
            Strategy::Random => 1,
            Strategy::AutoActive => AUTO_POOL,
            Strategy::Active | Strategy::Gradient => self.params.pool,
        };
        let size = draw_pool(&mut self.unseen, size, &mut self.rng);
        let pool: Vec<usize> = self.unseen[..size].to_vec();
        self.choose_from_pool(state, &pool).map(Some)
    }

    /// The best sample of a pool. Samples are scored in blocks; only the kernel values of the last block are kept.
    fn choose_from_pool(&mut self, state: &mut Lasvm, pool: &[usize]) -> Result<Choice> {
        let (bias, margin) = (state.biases(), 1.0 + 0.5 * state.admission_slack());
        let select = self.params.select;
        let (mut block, mut failed) = (0..0, None);
        let best = best_of(select, pool.len(), margin, |c| {
            if !block.contains(&c) {
                block = c..(c + SCORE_BLOCK).min(pool.len());
                failed = self.compute_kernel_block(state, &pool[block.clone()]).err();
            }
            if failed.is_some() {
                return (f64::INFINITY, f64::INFINITY);
            }
            let f = state.scores(c - block.start, &bias);
            let near = closeness(&f);
            (if select == Strategy::Gradient { self.smallest_margin(pool[c], &f) } else { near }, near)
        });
        if let Some(error) = failed {
            return Err(error);
        }
        let (place, closeness) = (best.candidate, best.closeness);
        if block.contains(&place) {
            return Ok(Choice { candidate: place - block.start, scored: true, place, closeness });
        }
        self.compute_kernel_block(state, &[pool[place]])?;
        Ok(Choice { candidate: 0, scored: false, place, closeness })
    }

    /// The smallest y·f over the problems. The label counts as read; `f64::MAX` if the budget does not allow reading it.
    fn smallest_margin(&mut self, row: usize, f: &[f64]) -> f64 {
        if !self.may_reveal(row) {
            return f64::MAX;
        }
        self.reveal(row);
        self.problems.iter().zip(f).map(|(p, f)| p.y[row].sign() * f).fold(f64::INFINITY, f64::min)
    }

    /// The best of all unseen samples, by scores that are updated incrementally.
    fn choose_from_all(&mut self, state: &mut Lasvm) -> Result<Choice> {
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
            (
                if select == Strategy::Gradient {
                    self.smallest_margin(self.unseen[place], &f)
                } else {
                    near
                },
                near,
            )
        });
        self.scores = Some(scores);
        self.compute_kernel_block(state, &[self.unseen[best.candidate]])?;
        Ok(Choice { candidate: 0, scored: false, place: best.candidate, closeness: best.closeness })
    }

    /// VIRTUAL: if the learned row is a positive that became a support vector, adds virtual points between it and its
    /// nearest positives.
    fn add_virtual_points(&mut self, state: &Lasvm, row: usize) -> Result<()> {
        let y = &self.problems[0].y;
        if y[row] != Label::Pos || !state.is_support(row as u64) {
            return Ok(());
        }
        let is_positive = |&i: &usize| y[i] == Label::Pos && self.revealed[i];
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
            self.revealed.push(true);
        }
        Ok(())
    }

    /// Number of virtual points made so far.
    fn virtual_count(&self) -> usize {
        self.x.rows() - self.real
    }

    /// Saves the model that would result if learning ended here. Finishing is done on a copy, so `state` does not change.
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

/// The stop rule in effect. The margin rule needs the samples nearest to the boundary, which the random and gradient
/// strategies do not search for.
fn stop_rule(params: &LasvmParams) -> StopRule {
    match (params.select, params.stop) {
        (Strategy::Random | Strategy::Gradient, StopRule::Margin) => StopRule::Never,
        (_, rule) => rule,
    }
}

/// Number of learned samples at which the error of three-fold cross-validation is lowest. Starting from the checkpoint of
/// lowest mean error, this is the last of the consecutive checkpoints whose error exceeds the lowest by at most 5 %
/// (Ertekin 2009, 3.4: the end of the interval nearest to where the number of support vectors settles).
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

/// Fraction of decisions with the wrong sign.
fn error_rate(decision: &[f64], truth: &[Targets]) -> f64 {
    let k = truth.len();
    let wrong = |i: usize, j: usize| truth[j].y[i].sign() * decision[i * k + j] <= 0.0;
    let all = decision.len().max(1);
    (0..decision.len()).filter(|d| wrong(d / k, d % k)).count() as f64 / all as f64
}

/// See [`cross_validated_count`]; a curve holds the number of learned samples and the error at each checkpoint.
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
    fn best_count_is_the_last_checkpoint_within_five_percent_of_the_lowest_error() {
        let curve = |e: &[f64]| e.iter().enumerate().map(|(k, e)| (10 * (k + 1), *e)).collect::<Vec<_>>();
        let curves = [curve(&[0.5, 0.2, 0.1, 0.101, 0.2, 0.1]), curve(&[0.4, 0.2, 0.1, 0.102, 0.2, 0.3])];
        assert_eq!(best_count(&curves), 40);
        assert_eq!(best_count(&[]), 0);
    }

    /// Two overlapping clusters; a fraction `share` of the rows is positive.
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

    /// Row and closeness of every unseen sample.
    fn closeness_of_unseen(search: &Search<'_>, state: &mut Lasvm) -> Vec<(usize, f64)> {
        let f = state.decisions(search.x.view(), &search.unseen).unwrap();
        search.unseen.iter().zip(f).map(|(&row, f)| (row, closeness(&f))).collect()
    }

    /// With the pools that the search draws, the choice is among the nearest 5 % of the unseen samples in 95 % of the
    /// cases. It is the nearest of all if the pool holds all samples.
    #[test]
    fn choices_from_small_pools_are_among_the_nearest() {
        let (x, problems) = clouds(1500, 0.5, 4);
        let p = params(Strategy::Active);
        let mut state = Lasvm::new(&p, x.view(), 1).unwrap();
        let mut search = Search::new(&p, &x, &problems).unwrap();
        search.seed(&mut state).unwrap();
        let (trials, mut hits) = (600, 0);
        for _ in 0..trials {
            let mut near = closeness_of_unseen(&search, &mut state);
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
                let near = closeness_of_unseen(&search, &mut state);
                let least = near.iter().map(|n| n.1).fold(f64::INFINITY, f64::min);
                let choice = search.choose(&mut state).unwrap().unwrap();
                let row = search.unseen.swap_remove(choice.place);
                let own = near.iter().find(|n| n.0 == row).unwrap().1;
                // incrementally updated scores differ from recomputed ones in the last digits
                assert!(own <= least + 1e-6, "chose {own}, nearest is {least}");
                search.learn_from(&mut state, choice.candidate, choice.scored, row).unwrap();
            }
        }
    }

    /// Each real positive that becomes a support vector when it is learned yields v virtual points; virtual points yield
    /// none.
    #[test]
    fn virtual_points_are_made_for_real_positives_that_become_support_vectors() {
        for v in [1, 3] {
            let (x, problems) = clouds(400, 0.15, 6);
            let p = LasvmParams { virtual_points: v, stop: StopRule::Never, ..params(Strategy::Active) };
            let mut state = Lasvm::new(&p, x.view(), 1).unwrap();
            let mut search = Search::new(&p, &x, &problems).unwrap();
            (0..400).for_each(|i| search.reveal(i));
            let first =
                |label| (0..400).filter(|&i| problems[0].y[i] == label).take(SEEDS).collect::<Vec<_>>();
            let seeds = [first(Label::Neg), first(Label::Pos)].concat();
            search.unseen.retain(|row| !seeds.contains(row));
            let (mut became, mut virtual_support) = (0, 0);
            let mut after = |search: &Search<'_>, state: &Lasvm, row: usize, before: usize| {
                let support = state.is_support(row as u64);
                let spawns = row < 400 && problems[0].y[row] == Label::Pos && support;
                assert_eq!(search.virtual_count() - before, if spawns { v } else { 0 }, "row {row}");
                became += usize::from(spawns);
                virtual_support += usize::from(row >= 400 && support);
            };
            for row in seeds {
                let before = search.virtual_count();
                search.compute_kernel_block(&mut state, &[row]).unwrap();
                search.learn_from(&mut state, 0, false, row).unwrap();
                after(&search, &state, row, before);
            }
            while let Some(choice) = search.choose(&mut state).unwrap() {
                let before = search.virtual_count();
                let row = search.unseen.swap_remove(choice.place);
                search.learn_from(&mut state, choice.candidate, choice.scored, row).unwrap();
                after(&search, &state, row, before);
            }
            assert_eq!(search.virtual_count(), v * became);
            assert!(became > 10 && virtual_support > 0, "{became} {virtual_support}");
        }
    }
}
