//! Manifold regularization with few basis functions: tables 5.2 to 5.5.
//!
//! Rows are divided 3 : 1 into training and validation rows once, 5 % of the training rows keep their label (two moons: one a
//! class), drawn anew each repetition. Settings are those of the least error on the validation rows in the first draws; what
//! counts is the error on the unlabelled training rows (of supervised machines, on the validation rows).

use super::many::{Draw, Pool, mean};
use super::warped::Plane;
use super::{asked, asked_method, draws_of, median_distance2, repetitions};
use crate::data::existing;
use crate::failure::{Failure, Result};
use crate::few::Rows;
use crate::found::Found;
use crate::run::{Bench, seed_of};
use evermargin::generate::{GenerateParams, generate};
use evermargin::graph::Metric;
use evermargin::learn::learner;
use evermargin::learn::manifold::atoms::{Atom, Dictionary};
use evermargin::learn::manifold::lap::Loss;
use evermargin::learn::manifold::penalty::{Penalty, PenaltyParams};
use evermargin::learn::manifold::sparse::aim::{Aim, Known};
use evermargin::learn::manifold::sparse::greedy::{Backfit, Norm, Pursuit};
use evermargin::learn::manifold::sparse::restricted::Restricted;
use evermargin::learn::manifold::sparse::sigmoid::Squashed;
use evermargin::solve::Stop;
use evermargin::solve::newton::newton;
use evermargin::{Kernel, Labels, Matrix, Model};
use evermargin_io::{ReadOptions, read};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A data set: rows to train on and to validate with, labels, basis functions, neighbours and power of the graph.
#[derive(Debug)]
struct Set {
    name: &'static str,
    rows: &'static str,
    train: usize,
    validation: usize,
    labeled: usize,
    basis: usize,
    neighbours: usize,
    power: usize,
    metric: Metric,
}

const fn set(
    name: &'static str,
    rows: &'static str,
    sizes: [usize; 4],
    graph: [usize; 2],
    metric: Metric,
) -> Set {
    let [train, validation, labeled, basis] = sizes;
    Set { name, rows, train, validation, labeled, basis, neighbours: graph[0], power: graph[1], metric }
}

const SETS: [Set; 6] = [
    set("2moons", "two-moons", [450, 150, 2, 15], [6, 1], Metric::Euclidean),
    set("g50c", "g50c", [412, 138, 21, 42], [50, 5], Metric::Euclidean),
    set("coil20bin", "coil20", [1080, 360, 54, 108], [2, 1], Metric::Euclidean),
    set("usps2vs5", "ssl:USPS", [1125, 375, 57, 113], [10, 2], Metric::Euclidean),
    set("mnist3vs8", "mnist", [1500, 500, 75, 150], [20, 3], Metric::Euclidean),
    set("pcmac", "text1", [1459, 487, 73, 146], [50, 2], Metric::Cosine),
];

/// Noise of two moons; the source does not print it, but its machine with all labels makes no error.
const NOISE: f64 = 0.05;

/// Methods that are run together, since one needs what another found.
const GROUPS: [&[&str]; 6] = [
    &["RLS (l)", "RLS (n)"],
    &["LapRLS", "GREEDY fixed"],
    &["GREEDY", "RANDOM", "UNIFORM", "GREEDY ridge", "GREEDY multi-scale", "LASSO", "LARS"],
    &["SUP", "Sigmoid", "RLS (n, d_max)"],
    &["SLACK", "GREEDY+SLACK"],
    &["decoupled"],
];

/// Training and validation rows, their graph, and draws of labels.
struct Ground {
    train: Pool,
    validation: Pool,
    graph: PenaltyParams,
    penalty: Penalty,
    draws: Vec<Draw>,
    median2: f64,
}

/// Width of the kernel in median distances, γ_A, γ_I/γ_A, ν.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Setting {
    width: f64,
    gamma_a: f64,
    ratio: f64,
    nu: f64,
}

fn settings(widths: &[f64], gammas: &[f64], ratios: &[f64], nus: &[f64]) -> Vec<Setting> {
    let mut out = Vec::new();
    for &width in widths {
        for &gamma_a in gammas {
            for &ratio in ratios {
                out.extend(nus.iter().map(|&nu| Setting { width, gamma_a, ratio, nu }));
            }
        }
    }
    out
}

/// Errors on unlabelled training rows and on validation rows.
type Errors = [f64; 2];

/// Stationary enough for squashed outputs.
const STATIONARY: Stop = Stop { tolerance: 1e-5, max_steps: 200 };

impl Ground {
    fn new(bench: &Bench<'_>, set: &Set, runs: usize) -> Result<Self> {
        let seed = bench.options.seed;
        let all = open(bench, set)?;
        let mut order: Vec<usize> = (0..all.class.len()).collect();
        order.shuffle(&mut Pcg64::seed_from_u64(seed_of(seed, 500)));
        let end = (set.train + set.validation).min(order.len());
        let (train, validation) = (all.part(&order[..set.train]), all.part(&order[set.train..end]));
        let graph = PenaltyParams {
            neighbours: set.neighbours,
            power: set.power,
            metric: set.metric,
            ..PenaltyParams::default()
        };
        let penalty = graph.penalty(train.x.view(), &())?;
        let penalty = penalty.ok_or_else(|| Failure::Content("no graph".into()))?;
        let draws = draws_of(&train.class, 2, set.labeled, 1, seed, runs)?;
        let median2 = median_distance2(&train.x);
        Ok(Self { train, validation, graph, penalty, draws, median2 })
    }

    fn kernel(&self, s: Setting) -> Kernel {
        Kernel::Rbf { gamma: 0.5 / (self.median2 * s.width * s.width) }
    }

    fn known(&self, draw: &Draw) -> Result<Known> {
        Ok(Known::of(&self.train.problems(std::slice::from_ref(draw)))?)
    }

    /// All training rows labelled.
    fn full(&self) -> Draw {
        Draw::of((0..self.train.class.len()).collect())
    }

    fn errors(&self, draw: &Draw, inside: &[f64], outside: &[f64]) -> Errors {
        let wrong = |scores: &[f64], class: &[u32], rows: &[usize]| {
            let off = rows.iter().filter(|&&i| u32::from(scores[i] > 0.0) != class[i]).count();
            off as f64 / rows.len().max(1) as f64
        };
        let rows: Vec<usize> = (0..self.validation.class.len()).collect();
        let within = wrong(inside, &self.train.class, &self.train.open(draw));
        [within, wrong(outside, &self.validation.class, &rows)]
    }

    /// The mean error on validation rows of a way of `sparse-lap` in the first draws: three of few rows, one of more.
    fn validated(&self, set: &Set, method: &str, s: Setting) -> Result<f64> {
        let count = if set.train <= SMALL { 3 } else { 1 };
        let some = self.draws.iter().take(count);
        Ok(first(&some.map(|d| self.learn(set, method, s, d)).collect::<Result<Vec<_>>>()?))
    }

    fn score(&self, draw: &Draw, model: &Model) -> Result<Errors> {
        let (inside, outside) =
            (model.decision(self.train.x.view())?, model.decision(self.validation.x.view())?);
        Ok(self.errors(draw, &inside, &outside))
    }

    /// One of the ways of `sparse-lap`, on the graph at hand.
    fn learn(&self, set: &Set, method: &str, s: Setting, draw: &Draw) -> Result<Errors> {
        let Kernel::Rbf { gamma } = self.kernel(s) else { return Err(Failure::Unknown(method.into())) };
        let ridge = method == "greedy ridge";
        let params = json!({
            "kernel": "rbf", "gamma": gamma, "gamma_a": s.gamma_a, "gamma_i": s.ratio * s.gamma_a, "nu": s.nu,
            "basis": set.basis, "method": if ridge { "greedy" } else { method }, "ridge": ridge,
            "neighbours": self.graph.neighbours, "power": self.graph.power, "metric": self.graph.metric,
        });
        let Value::Object(params) = params else { return Err(Failure::Unknown(method.into())) };
        let problems = self.train.problems(std::slice::from_ref(draw));
        let fitted = learner("sparse-lap")?.make(&params)?.fit(self.train.x.view(), &problems, &())?;
        self.score(draw, &fitted.model)
    }

    /// Least squares on labels alone, of all draws; errors of each.
    fn alone(&self, s: Setting, draws: &[Draw]) -> Result<Vec<Errors>> {
        let Kernel::Rbf { gamma } = self.kernel(s) else { return Err(Failure::Unknown("rls".into())) };
        let params = json!({ "kernel": "rbf", "gamma": gamma, "c": 1.0 / s.gamma_a, "bias": false });
        let Value::Object(params) = params else { return Err(Failure::Unknown("rls".into())) };
        let learnt = self.train.learn(learner("rls")?.make(&params)?.as_ref(), draws)?;
        let outside = learnt.outside(&self.validation.x)?;
        let one = |(k, d): (usize, &Draw)| self.errors(d, &learnt.inside.of[k], &outside.of[k]);
        Ok(draws.iter().enumerate().map(one).collect())
    }

    /// The pursuit over seven widths: a model of one kernel cannot hold its answer, so the rows are scored here.
    fn multi_scale(&self, set: &Set, s: Setting, draw: &Draw) -> Result<Errors> {
        let known = self.known(draw)?;
        let aim = Aim::plain([s.gamma_a, s.ratio * s.gamma_a], &known, Some(&self.penalty));
        let dictionary = Dictionary::multi_scale(self.train.x.view(), self.kernel(s))?;
        let norm = Norm::Ridge(1.0);
        let mut pursuit = Pursuit::new(&aim, &dictionary, norm, Backfit::Post, 50, 1);
        pursuit.run(set.basis, &());
        let space = Restricted::of(&dictionary, pursuit.atoms(), norm)?;
        let solved = space.solve(&aim, &())?.ok_or_else(|| Failure::Content("no solution".into()))?;
        Ok(self.errors(draw, &space.outputs(&solved.functions[0]), &vec![0.0; self.validation.class.len()]))
    }

    /// The basis of a pursuit that has all labels.
    fn oracle(&self, set: &Set, s: Setting, dictionary: &Dictionary<'_>) -> Result<Vec<Atom>> {
        let known = self.known(&self.full())?;
        let aim = Aim::plain([s.gamma_a, 0.0], &known, None);
        let mut pursuit = Pursuit::new(&aim, dictionary, Norm::Kernel, Backfit::Post, 50, 1);
        pursuit.run(set.basis, &());
        Ok(pursuit.atoms().to_vec())
    }
}

/// Each method with its errors and how they were had.
type Told = Vec<(String, Vec<f64>)>;

/// The setting with the least error on the validation rows, the first of equals.
fn tuned(grid: &[Setting], error: impl Fn(Setting) -> Result<f64>) -> Result<Setting> {
    let mut best: Option<(f64, Setting)> = None;
    for &s in grid {
        let found = error(s)?;
        if best.is_none_or(|(least, _)| found < least) {
            best = Some((found, s));
        }
    }
    best.map(|(_, s)| s).ok_or_else(|| Failure::Content("an empty grid".into()))
}

/// Training rows up to which ten draws are made, and three of more.
const SMALL: usize = 500;
const WIDTHS: [f64; 4] = [0.125, 0.25, 0.5, 1.0];
const RATIOS: [f64; 3] = [1.0, 1e2, 1e4];

fn first(errors: &[Errors]) -> f64 {
    mean(&errors.iter().map(|e| e[1]).collect::<Vec<_>>())
}

fn inside(errors: Vec<Errors>) -> Vec<f64> {
    errors.into_iter().map(|e| e[0]).collect()
}

fn supervised(ground: &Ground) -> Result<Told> {
    let grid = settings(&[0.125, 0.25, 0.5, 1.0, 2.0], &[1e-3, 1e-1], &[0.0], &[1.0]);
    let few = tuned(&grid, |s| Ok(first(&ground.alone(s, &ground.draws)?)))?;
    let full = [ground.full()];
    let all = tuned(&grid, |s| Ok(first(&ground.alone(s, &full)?)))?;
    let outside = ground.alone(all, &full)?.iter().map(|e| e[1]).collect();
    Ok(vec![("RLS (l)".into(), inside(ground.alone(few, &ground.draws)?)), ("RLS (n)".into(), outside)])
}

/// The full solution: all weights and draws on one space a width.
fn whole(set: &Set, ground: &Ground) -> Result<Told> {
    let mut best: Option<(f64, Setting, Vec<Errors>)> = None;
    // of many rows the widths between: each costs a space of all of them
    let widths = if set.train <= SMALL { &WIDTHS[..] } else { &WIDTHS[1..3] };
    for &width in widths {
        let s = Setting { width, gamma_a: 1.0, ratio: 1.0, nu: 1.0 };
        let plane = Plane::new(&ground.train.x, ground.kernel(s), Some(&ground.penalty))?;
        for ratio in RATIOS {
            let bent = plane.bend(ratio, &ground.train, &ground.draws)?;
            for gamma_a in [1e-6, 1e-4, 1e-2] {
                let functions = bent.solve(Loss::Square, gamma_a)?;
                let scores = bent.inside(&functions);
                let outside = bent.outside(&ground.train.x, &functions, &ground.validation.x)?;
                let one = |(k, d): (usize, &Draw)| ground.errors(d, &scores.of[k], &outside.of[k]);
                let errors: Vec<Errors> = ground.draws.iter().enumerate().map(one).collect();
                let found = first(&errors);
                if best.as_ref().is_none_or(|(least, ..)| found < *least) {
                    best = Some((found, Setting { width, gamma_a, ratio, nu: 1.0 }, errors));
                }
            }
        }
    }
    let (_, s, errors) = best.ok_or_else(|| Failure::Content("an empty grid".into()))?;
    let fixed = ground.draws.iter().map(|d| ground.learn(set, "greedy", s, d)).collect::<Result<Vec<_>>>()?;
    Ok(vec![("LapRLS".into(), inside(errors)), ("GREEDY fixed".into(), inside(fixed))])
}

fn grid_of_greedy() -> Vec<Setting> {
    settings(&[0.25, 0.5, 1.0], &[1e-3], &RATIOS, &[1.0])
}

fn greedy_setting(set: &Set, ground: &Ground) -> Result<Setting> {
    tuned(&grid_of_greedy(), |s| ground.validated(set, "greedy", s))
}

fn chosen(set: &Set, ground: &Ground) -> Result<Told> {
    let s = greedy_setting(set, ground)?;
    let mut out = Vec::new();
    for name in GROUPS[2] {
        let one = |d: &Draw| match *name {
            "GREEDY multi-scale" => ground.multi_scale(set, s, d),
            name => ground.learn(set, &name.to_lowercase(), s, d),
        };
        let errors = ground.draws.iter().map(one).collect::<Result<Vec<_>>>()?;
        out.push(((*name).to_string(), inside(errors)));
    }
    Ok(out)
}

/// The oracle's basis with the settings of GREEDY, and the sigmoid on it, started from the oracle's function.
fn oracles(set: &Set, ground: &Ground) -> Result<Told> {
    let s = greedy_setting(set, ground)?;
    let dictionary = Dictionary::new(ground.train.x.view(), vec![ground.kernel(s)])?;
    let atoms = ground.oracle(set, s, &dictionary)?;
    let space = Restricted::of(&dictionary, &atoms, Norm::Kernel)?;
    let solve = |aim: &Aim<'_>| {
        let solved = space.solve(aim, &())?;
        Ok::<_, Failure>(solved.ok_or_else(|| Failure::Content("no solution".into()))?.functions)
    };
    let all = solve(&Aim::plain([s.gamma_a, 0.0], &ground.known(&ground.full())?, None))?;
    let best = ground.score(&ground.full(), &space.model(&all)?)?;
    let (mut plain, mut squashed) = (Vec::new(), vec![Vec::new(); RATIOS.len()]);
    for draw in &ground.draws {
        let known = ground.known(draw)?;
        let gamma = [s.gamma_a, s.ratio * s.gamma_a];
        let functions = solve(&Aim::plain(gamma, &known, Some(&ground.penalty)))?;
        plain.push(ground.score(draw, &space.model(&functions)?)?);
        for (ratio, out) in RATIOS.iter().zip(&mut squashed) {
            let mut v = all[0].clone();
            let gamma = [s.gamma_a, ratio * s.gamma_a];
            let mut objective = Squashed::new(gamma, &space, &ground.penalty, &known.weight, &known.y[0]);
            newton(&mut objective, &mut v, STATIONARY, &());
            out.push(ground.score(draw, &space.model(&[v])?)?);
        }
    }
    let squashed = super::best(squashed, |e| first(e))?;
    Ok(vec![
        ("SUP".into(), inside(plain)),
        ("Sigmoid".into(), inside(squashed)),
        ("RLS (n, d_max)".into(), vec![best[1]]),
    ])
}

fn slackened(set: &Set, ground: &Ground) -> Result<Told> {
    let grid = settings(&[0.25, 0.5, 1.0], &[1e-3], &[1e2], &[0.01, 1.0]);
    let s = tuned(&grid, |s| ground.validated(set, "slack", s))?;
    let of = |method: &str| {
        let all = ground.draws.iter().map(|d| ground.learn(set, method, s, d)).collect::<Result<Vec<_>>>();
        Ok::<_, Failure>(inside(all?))
    };
    Ok(vec![("SLACK".into(), of("slack")?), ("GREEDY+SLACK".into(), of("greedy-slack")?)])
}

fn decoupled(set: &Set, ground: &Ground) -> Result<Told> {
    let grid = settings(&[0.25, 0.5, 1.0], &[1e-3], &[1.0, 1e2], &[1.0]);
    let s = tuned(&grid, |s| ground.validated(set, "decoupled", s))?;
    let all =
        ground.draws.iter().map(|d| ground.learn(set, "decoupled", s, d)).collect::<Result<Vec<_>>>()?;
    Ok(vec![("decoupled".into(), inside(all))])
}

/// Values of the methods of a table.
fn table(bench: &Bench<'_>, methods: &[&str]) -> Result<Found> {
    let runs = |set: &Set| repetitions(bench, if set.train <= SMALL { 10 } else { 3 });
    let mut items = Vec::new();
    for set in SETS.iter().filter(|s| asked(bench, s.name) && !(bench.options.quick && s.train > 500)) {
        let wanted = |g: &&usize| GROUPS[**g].iter().any(|m| methods.contains(m) && asked_method(bench, m));
        items.extend((0..GROUPS.len()).collect::<Vec<_>>().iter().filter(wanted).map(|g| (set, *g)));
    }
    let work = |&(set, group): &(&Set, usize)| {
        let runs = runs(set);
        let key = format!("sindhwani 5 {} {group} {} {runs}", set.name, bench.options.seed);
        bench.cached(&key, || {
            let ground = Ground::new(bench, set, runs)?;
            match group {
                0 => supervised(&ground),
                1 => whole(set, &ground),
                2 => chosen(set, &ground),
                3 => oracles(set, &ground),
                4 => slackened(set, &ground),
                _ => decoupled(set, &ground),
            }
        })
    };
    let mut found = Found::default();
    for ((set, _), told) in items.iter().zip(bench.each(&items, work)) {
        match told {
            Err(missing @ Failure::Missing { .. }) => found.missing(set.name, &missing.to_string()),
            told => told?.into_iter().for_each(|(method, runs)| {
                bench.say(&format!("{}: {method} {:.3}", set.name, mean(&runs)));
                found.add(set.name, &method, "error", runs);
            }),
        }
    }
    Ok(found)
}

/// Table 5.2.
pub(crate) fn greedy(bench: &Bench<'_>) -> Result<Found> {
    table(bench, &["LapRLS", "GREEDY fixed", "GREEDY", "RLS (l)", "RLS (n, d_max)", "RLS (n)"])
}

/// Table 5.3.
pub(crate) fn choices(bench: &Bench<'_>) -> Result<Found> {
    table(bench, &["RLS (l)", "GREEDY", "SUP"])
}

/// Table 5.4.
pub(crate) fn oracle(bench: &Bench<'_>) -> Result<Found> {
    table(bench, &["SUP", "Sigmoid"])
}

/// Table 5.5.
pub(crate) fn slack(bench: &Bench<'_>) -> Result<Found> {
    table(bench, &["GREEDY", "SLACK", "GREEDY+SLACK", "LapRLS", "decoupled"])
}

/// Rows of two classes.
fn open(bench: &Bench<'_>, set: &Set) -> Result<Pool> {
    let two = |rows: Rows, positive: &dyn Fn(&str) -> bool| {
        let of =
            rows.labels.of.iter().map(|c| c.map(|c| u32::from(positive(&rows.labels.classes[c as usize]))));
        let classes = vec!["-".to_string(), "+".to_string()];
        Pool::new(rows.x, &Labels { classes, of: of.collect() })
    };
    match set.rows {
        "two-moons" => {
            let (rows, seed) = (set.train + set.validation, bench.options.seed);
            let wanted = GenerateParams { rows, noise: Some(NOISE), seed, ..GenerateParams::default() };
            let (x, labels) = generate("two-moons", &wanted)?;
            Ok(Pool::new(x, &labels))
        }
        "coil20" => {
            let rows = Rows::open("coil20", &bench.options.folder)?;
            Ok(two(rows, &|c| c.parse::<u32>().is_ok_and(|c| c > 10)))
        }
        "mnist" => digits(bench),
        name => {
            let rows = Rows::open(name, &bench.options.folder)?;
            Ok(Pool::new(rows.x, &rows.labels))
        }
    }
}

/// Threes and eights of MNIST, the means of 2 × 2 pixels: 196 columns.
fn digits(bench: &Bench<'_>) -> Result<Pool> {
    let file = |kind: &str| {
        existing(&bench.options.folder, &format!("images/train-{kind}-ubyte.xz"), "the MNIST database")
    };
    let options = ReadOptions { labels_file: Some(file("labels-idx1")?), ..ReadOptions::default() };
    let set = read(file("images-idx3")?, &options)?;
    let digit = |i: &usize| set.labels.of[*i].map_or("", |c| set.labels.classes[c as usize].as_str());
    let kept: Vec<usize> = (0..set.x.rows()).filter(|i| matches!(digit(i), "3" | "8")).take(4000).collect();
    let mut values = vec![0.0; 196 * kept.len()];
    for (row, &i) in values.chunks_exact_mut(196).zip(&kept) {
        set.x.view().row(i).for_each(|c, v| row[c / 56 * 14 + c % 28 / 2] += v / 1020.0);
    }
    let class = kept.iter().map(|i| u32::from(digit(i) == "8")).collect();
    Ok(Pool { x: Matrix::dense(values, kept.len(), 196)?, class, classes: 2 })
}
