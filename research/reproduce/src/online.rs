//! Online methods of the tables: a pass of a learner of the LASVM family, active learning, and the methods for imbalanced
//! classes that the thesis combines with a pass.

use crate::clock::Clock;
use crate::data::Sample;
use crate::failure::{Failure, Result};
use crate::methods::{Outcome, Task, score, support_ratio};
use evermargin::active::{StopRule, Stopped, Strategy, plateau_choices};
use evermargin::estimators::online::lasvm::{Lasvm, LasvmParams, LasvmVariant};
use evermargin::estimators::{Fit, Targets};
use evermargin::metrics::{Criterion, best_threshold};
use evermargin::pipeline::cross_validation::stratified_folds;
use evermargin::resampling::{smote, undersample};
use evermargin::{Label, Labels, Matrix, Model};
use rand::SeedableRng;
use rand_pcg::Pcg64;
use std::collections::BTreeMap;

/// Number of nearest positives among which one is drawn for a synthetic positive.
const NEIGHBORS: usize = 5;

/// Number of folds whose held-out decision values determine a threshold.
const FOLDS: usize = 5;

/// Result of a pass over a sample.
struct Pass {
    model: Model,
    /// Model before finishing, if the pass was finished.
    before: Option<Model>,
    evaluations: u64,
    seconds: f64,
    finishing: f64,
    extra: BTreeMap<String, f64>,
}

/// Parameters of a task, with the seed of the order of examples.
pub fn params(task: &Task, seed: u64) -> LasvmParams {
    LasvmParams {
        kernel: task.kernel,
        c: task.c,
        tolerance: task.tolerance,
        seed,
        stop: task.open.stop.unwrap_or(StopRule::Margin),
        warm_up: task.open.warm_up,
        s: task.open.s,
        clean_keep: task.open.keep,
        n_neighbors: NEIGHBORS,
        ..LasvmParams::default()
    }
}

/// Relative costs of the examples: `weight` for positives, 1 for negatives.
fn costs(y: &[Label], weight: f64) -> Vec<f64> {
    y.iter().map(|y| if *y == Label::Pos { weight } else { 1.0 }).collect()
}

/// Runs LASVM in random order with finishing; positives cost `weight` times as much. Records the changes by finishing.
pub fn lasvm(task: &Task, weight: f64, seed: u64) -> Result<Outcome> {
    let train = &task.split.train;
    let mut pass = pass(&params(task, seed), train, weight, train.rows())?;
    let before = pass.before.take();
    let mut outcome = end(pass, task)?;
    if let Some(model) = before {
        let coarse = score(&model, task, 0, 0.0)?;
        let change = |after: f64, before: f64| if before == after { 0.0 } else { after / before - 1.0 };
        let mut put = |name: &str, value: f64| outcome.extra.insert(name.into(), value);
        put("finishing_error", change(outcome.error, coarse.error));
        put("finishing_support", change(outcome.support_count as f64, coarse.support_count as f64));
    }
    Ok(outcome)
}

/// Runs a learner without intercept. LASVM-NC is finished, as in the library. The thesis does not finish the others; from these,
/// points without coefficient are removed at the end, except from FULL SVM.
pub fn gap(task: &Task, loss: LasvmVariant, seed: u64) -> Result<Outcome> {
    let train = &task.split.train;
    let params = LasvmParams {
        variant: loss,
        finish: task.open.finish.unwrap_or(loss == LasvmVariant::Ramp),
        epochs: task.open.epochs,
        ..params(task, seed)
    };
    end(pass(&params, train, 1.0, train.rows())?, task)
}

/// Runs active learning from small pools until the stopping rule of the task applies, then finishes.
pub fn active(task: &Task, weight: f64, virtual_points: usize, seed: u64) -> Result<Outcome> {
    let params = LasvmParams { select: Strategy::Active, virtual_points, ..params(task, seed) };
    let train = &task.split.train;
    let targets = Targets { y: train.y.clone(), cost: costs(&train.y, weight) };
    let start = Clock::start();
    let fitted = params.fit(train.x.view(), &[targets], &())?;
    let seconds = start.seconds();
    let evaluations = fitted.reports.iter().map(|r| r.kernel_evaluations).sum();
    let mut outcome = score(&fitted.model, task, evaluations, seconds)?;
    let online =
        fitted.online.ok_or_else(|| Failure::Content("an online learner returned no statistics".into()))?;
    let [negative, positive] = online.support;
    let mut put = |name: &str, value: f64| outcome.extra.insert(name.into(), value);
    let rows = train.rows() as f64;
    put("sv_ratio", negative as f64 / positive.max(1) as f64);
    // the thesis counts examples until the number of support vectors is constant, without those that confirm it
    let rest = if online.stopped == Stopped::Plateau { plateau_choices(train.rows()) } else { 0 };
    put("data_efficiency", (online.counts.seen as f64 - rest as f64).max(0.0) / rows);
    put("label_share", online.labels as f64 / rows);
    put("stopped_early", f64::from(u8::from(online.stopped != Stopped::Exhausted)));
    let [made, used] = online.virtual_points;
    if made > 0 {
        put("virtual_yield", used as f64 / made as f64);
    }
    Ok(outcome)
}

/// Adds one synthetic positive per positive, then runs LASVM in random order with finishing.
pub fn synthetic(task: &Task, seed: u64) -> Result<Outcome> {
    let start = Clock::start();
    let mut train = task.split.train.clone();
    let real = train.rows();
    let positives: Vec<usize> = (0..real).filter(|&i| train.y[i] == Label::Pos).collect();
    let mut rng = Pcg64::seed_from_u64(seed);
    let made = smote(train.x.view(), &positives, task.kernel, NEIGHBORS, 1, &mut rng)?;
    append(&mut train, &made);
    let making = start.seconds();
    let mut pass = pass(&params(task, seed), &train, 1.0, real)?;
    pass.seconds += making;
    end(pass, task)
}

/// Undersamples negatives to `ratio` per positive, then runs LASVM in random order with finishing.
pub fn undersampled(task: &Task, ratio: f64, seed: u64) -> Result<Outcome> {
    let train = &task.split.train;
    let rows = undersample(&labels(&train.y), 0, ratio, &mut Pcg64::seed_from_u64(seed))?;
    let train = train.select(&rows);
    end(pass(&params(task, seed), &train, 1.0, train.rows())?, task)
}

/// Runs [`lasvm`] with the threshold of the best g-means on decision values of five-fold cross-validation in the training sample.
pub fn tuned(task: &Task, seed: u64) -> Result<Outcome> {
    let train = &task.split.train;
    let params = params(task, seed);
    let folds = stratified_folds(&labels(&train.y), FOLDS, seed)?;
    let (mut decision, mut positive) = (Vec::new(), Vec::new());
    for fold in 0..FOLDS as u32 {
        let (outside, inside): (Vec<usize>, Vec<usize>) =
            (0..train.rows()).partition(|&i| folds[i] == Some(fold));
        let part = train.select(&inside);
        let model = pass(&params, &part, 1.0, part.rows())?.model;
        let held_out = train.select(&outside);
        decision.extend(model.decision(held_out.x.view())?);
        positive.extend(held_out.y.iter().map(|y| *y == Label::Pos));
    }
    let cut = best_threshold(&decision, &positive, &[], Criterion::GMeans);
    let cut = cut.ok_or_else(|| Failure::Content("no threshold: a class has no examples".into()))?.value;
    let mut pass = pass(&params, train, 1.0, train.rows())?;
    if let Model::Expansion { bias, .. } = &mut pass.model {
        bias.iter_mut().for_each(|b| *b -= cut);
    }
    end(pass, task)
}

/// Labels as two classes, of which class 1 is positive.
fn labels(y: &[Label]) -> Labels {
    let of = y.iter().map(|y| Some(u32::from(*y == Label::Pos))).collect();
    Labels { classes: vec!["-".into(), "+".into()], of }
}

fn append(train: &mut Sample, made: &Matrix) {
    for i in 0..made.rows() {
        train.x.push(made.view().row(i));
        train.y.push(Label::Pos);
    }
}

/// Runs the passes over a sample; rows from `real` on are synthetic.
fn pass(params: &LasvmParams, train: &Sample, weight: f64, real: usize) -> Result<Pass> {
    let targets = [Targets { y: train.y.clone(), cost: costs(&train.y, weight) }];
    let start = Clock::start();
    let mut state = Lasvm::new(params, train.x.view(), 1)?;
    let mut rng = Pcg64::seed_from_u64(params.seed);
    for epoch in 0..params.epochs {
        let order = params.order(&targets, epoch, &mut rng);
        state.learn(train.x.view(), &order, 0, &targets, &())?;
    }
    let learning = start.seconds();
    let before = params.finish.then(|| state.model());
    let start = Clock::start();
    if params.finish {
        state.finish(&());
    } else if params.variant != LasvmVariant::Full {
        state.clean(0);
    }
    let finishing = start.seconds();
    let extra = counted(&state, real, train.rows());
    let evaluations = state.counts().evaluations;
    Ok(Pass { model: state.model(), before, evaluations, seconds: learning + finishing, finishing, extra })
}

/// Counts of a learner that the tables contain.
fn counted(state: &Lasvm, real: usize, rows: usize) -> BTreeMap<String, f64> {
    let (counts, dual) = (state.counts(), state.output(0));
    let support: Vec<(usize, u64)> = state.ids().filter(|(s, _)| dual.alpha()[*s] != 0.0).collect();
    let side = |y: f64| support.iter().filter(|(s, _)| dual.target()[*s] == y).count() as f64;
    let all = |of: &[u64; 3]| of.iter().sum::<u64>() as f64;
    let mut found = vec![
        ("sv_ratio", side(-1.0) / side(1.0).max(1.0)),
        ("nonsupport_count", (state.len() - support.len()) as f64),
        ("admitted", all(&counts.admitted)),
        ("admitted_left", counts.admitted[0] as f64),
        ("admitted_right", counts.admitted[2] as f64),
        ("cleaned", all(&counts.dropped)),
        ("cleaned_left", counts.dropped[0] as f64),
        ("cleaned_right", counts.dropped[2] as f64),
    ];
    if real < rows {
        let used = support.iter().filter(|(_, id)| *id >= real as u64).count();
        found.push(("virtual_yield", used as f64 / (rows - real) as f64));
    }
    found.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
}

fn end(pass: Pass, task: &Task) -> Result<Outcome> {
    let mut outcome = score(&pass.model, task, pass.evaluations, pass.seconds)?;
    outcome.extra.extend(pass.extra);
    let learning = pass.seconds - pass.finishing;
    outcome.extra.insert("finishing_seconds".into(), pass.finishing / learning.max(1e-9));
    Ok(outcome)
}

/// Number of negatives per positive among the support vectors of an outcome.
pub fn ratio_of(outcome: &Outcome) -> Result<f64> {
    support_ratio(outcome).ok_or_else(|| Failure::Content("active learning found no support vectors".into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods::tests::task;

    #[test]
    fn pass_equals_fit_of_the_library() {
        let task = task();
        let params = params(&task, 3);
        let train = &task.split.train;
        let ours = pass(&params, train, 1.0, train.rows()).unwrap();
        let targets = Targets { y: train.y.clone(), cost: vec![1.0; train.rows()] };
        let theirs = params.fit(train.x.view(), &[targets], &()).unwrap();
        assert_eq!(ours.model, theirs.model);
        assert_eq!(ours.evaluations, theirs.online.unwrap().counts.evaluations);
    }
}
