//! Four data sets in and out of sample (tables 2.6 and 2.9), and letters of Isolet (2.3).
//!
//! Kernel widths, neighbors and powers of the Laplacian are those that Melacci & Belkin (2011) published for the same data sets.

use super::many::{Draw, Pool, Scores, mean};
use super::paths;
use super::transducer::{Transducer, VECTORS, WEIGHT};
use super::warped::{KernelSpace, LOSSES};
use super::{asked, asked_method, best, draws_of, folds, repetitions};
use crate::data::existing;
use crate::failure::{Failure, Result};
use crate::few::Rows;
use crate::findings::Findings;
use crate::run::{Bench, seed_of};
use crate::values::make;
use evermargin::estimators::manifold::penalty::{Penalty, PenaltyParams};
use evermargin::{Kernel, Labels, Matrix};
use evermargin_io::{LabelColumn, ReadOptions, read};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A data set: its name in the tables and on disk, number of labels and minimum per class, kernel width, neighbors and power of
/// the graph.
#[derive(Debug)]
struct Set {
    name: &'static str,
    rows: &'static str,
    labeled: usize,
    each: usize,
    sigma: f64,
    n_neighbors: usize,
    power: usize,
}

const SETS: [Set; 4] = [
    Set { name: "g50c", rows: "g50c", labeled: 50, each: 1, sigma: 9.0, n_neighbors: 50, power: 5 },
    Set { name: "Coil20", rows: "coil20", labeled: 40, each: 2, sigma: 2.0, n_neighbors: 2, power: 1 },
    Set { name: "Uspst", rows: "uspst", labeled: 50, each: 1, sigma: 9.4, n_neighbors: 10, power: 2 },
    Set { name: "mac-win", rows: "text1", labeled: 50, each: 1, sigma: 2.7, n_neighbors: 50, power: 5 },
];

impl Set {
    /// Number of draws of labels: ten are published, but none for Coil20, for which fast methods use more draws of our own.
    fn runs(&self, bench: &Bench<'_>, method: &str) -> usize {
        let slow = method.ends_with("TSVM") || method == "LDS";
        repetitions(bench, if self.name == "Coil20" && !slow { 40 } else { 10 })
    }

    fn kernel(&self, times: f64) -> Kernel {
        let sigma = self.sigma * times;
        Kernel::Rbf { gamma: 0.5 / (sigma * sigma) }
    }

    fn penalty(&self, pool: &Pool) -> Result<Penalty> {
        let (neighbors, power, width) = (self.n_neighbors, self.power, self.sigma);
        let params = PenaltyParams { n_neighbors: neighbors, power, width, ..PenaltyParams::default() };
        params.penalty(pool.x.view(), &())?.ok_or_else(|| Failure::Content("no graph".into()))
    }
}

/// Methods of table 2.6; the first also runs LapRLS in the same space.
const METHODS: [&str; 8] =
    ["LapSVM", "SVM", "RLS", "TSVM", "gradTSVM", "label-propagation", "SVM (n)", "RLS (n)"];
/// Methods that are not learners of the library.
const RIVALS: [&str; 3] = ["Graph-Trans", "Graph-density", "LDS"];

/// Values of ρ of distances along dense regions for LDS and for Graph-density, and the share of the variance that LDS drops.
const PATHS: [f64; 5] = [0.0, 1.0, 4.0, 16.0, 64.0];
const DENSE: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 12.0, 16.0, 32.0, 64.0];
const LEFT: f64 = 0.1;

fn rbf(gamma: Kernel, mut params: Value) -> Value {
    if let Kernel::Rbf { gamma } = gamma {
        params["kernel"] = json!("rbf");
        params["gamma"] = json!(gamma);
    }
    params
}

/// Learners and parameters of a method of table 2.6; the setting with the best mean counts.
fn settings(set: &Set, method: &str) -> Vec<(&'static str, Value)> {
    let linear = matches!(set.name, "g50c" | "mac-win");
    let mut out = Vec::new();
    match method {
        "SVM (n)" | "RLS (n)" => {
            let name = if method == "SVM (n)" { "svc" } else { "rls" };
            out.extend([1.0, 0.5, 2.0].map(|times| (name, rbf(set.kernel(times), json!({ "c": 100 })))));
        }
        "SVM" | "RLS" => {
            let name = if method == "SVM" { "svc" } else { "rls" };
            for times in [0.5, 1.0, 2.0, 4.0] {
                for c in [1, 10, 100] {
                    for bias in [false, true] {
                        out.push((name, rbf(set.kernel(times), json!({ "c": c, "fit_intercept": bias }))));
                    }
                }
            }
        }
        "TSVM" if linear => {
            out.extend(
                [1e-3, 1e-2, 1e-1, 1.0, 10.0].map(|lambda| ("linear-tsvm", json!({ "lambda": lambda }))),
            );
        }
        "TSVM" => {
            for (times, lambda) in [(0.5, 1e-2), (1.0, 1e-2)] {
                out.push(("tsvm", rbf(set.kernel(times), json!({ "lambda": lambda }))));
            }
        }
        "gradTSVM" if linear => {
            for lambda in [1e-3, 1e-2, 1e-1, 1.0, 10.0] {
                out.push(("grad-tsvm", json!({ "kernel": "linear", "lambda": lambda })));
            }
        }
        "gradTSVM" => {
            let narrow = [(0.5, 1e-3), (1.0, 1e-3), (0.5, 1e-2), (1.0, 1e-2), (1.0, 1e-1), (2.0, 1e-3)];
            let wide = [(4.0, 3e-4), (4.0, 1e-4), (8.0, 1e-4)];
            for (times, lambda) in narrow.into_iter().chain(wide) {
                out.push(("grad-tsvm", rbf(set.kernel(times), json!({ "lambda": lambda }))));
            }
        }
        "label-propagation" => {
            out.push(("label-propagation", json!({})));
            out.extend([5, 10].map(|k| ("label-propagation", json!({ "n_neighbors": k }))));
        }
        _ => {}
    }
    out
}

/// Whether a learner gets the true class shares.
fn uses_true_shares(name: &str) -> bool {
    name.ends_with("tsvm")
}

/// Error of each draw.
fn errors(name: &str, params: &Value, pool: &Pool, draws: &[Draw]) -> Result<Vec<f64>> {
    let of = |scores: &Scores, draws: &[Draw]| -> Vec<f64> {
        draws.iter().enumerate().map(|(k, d)| scores.error(k, &pool.class, &pool.open(d))).collect()
    };
    if !uses_true_shares(name) && name != "label-propagation" {
        return Ok(of(&pool.learn(make(name, params)?.as_ref(), draws)?.inside, draws));
    }
    let mut out = Vec::new();
    for draw in draws.chunks(1) {
        let mut params = params.clone();
        if uses_true_shares(name) {
            let shares = pool.shares(&draw[0]);
            params["ratio"] = if shares.len() == 1 { json!(shares[0]) } else { json!(shares) };
        }
        out.extend(of(&pool.learn(make(name, &params)?.as_ref(), draw)?.inside, draw));
    }
    Ok(out)
}

fn open(bench: &Bench<'_>, set: &Set) -> Result<(Pool, Vec<Vec<usize>>)> {
    let rows = Rows::open(set.rows, &bench.options.folder)?;
    Ok((Pool::new(rows.x, &rows.labels), rows.splits))
}

/// Errors of the gradient TSVM on coordinates along dense regions, for all settings.
fn low_density(pool: &Pool, draws: &[Draw]) -> Result<Vec<Vec<f64>>> {
    let mut all = Vec::new();
    for rho in PATHS {
        let x = paths::coordinates(&paths::squared(&pool.x, rho), pool.class.len(), LEFT)?;
        let pool = Pool { x, ..pool.clone() };
        for lambda in [1e-3, 1e-2, 1e-1] {
            all.push(errors("grad-tsvm", &json!({ "kernel": "linear", "lambda": lambda }), &pool, draws)?);
        }
    }
    Ok(all)
}

/// Errors of an SVM with the Gaussian kernel of distances along dense regions, for all settings. The kernel is that of the authors
/// and not always positive definite.
fn dense_paths(pool: &Pool, draws: &[Draw]) -> Result<Vec<Vec<f64>>> {
    let n = pool.class.len();
    let mut all = Vec::new();
    for rho in DENSE {
        let squared = paths::squared(&pool.x, rho);
        let mut others: Vec<f64> = squared.iter().copied().filter(|d| *d > 0.0).collect();
        let middle = others.len() / 2;
        let median = *others.select_nth_unstable_by(middle, f64::total_cmp).1;
        for width in [0.5, 1.0, 2.0] {
            let kernel = squared.iter().map(|d| (-0.5 * d / (width * width * median)).exp()).collect();
            let pool = Pool { x: Matrix::dense(kernel, n, n)?, ..pool.clone() };
            for c in [1, 10, 100] {
                all.push(errors("svc", &json!({ "kernel": "precomputed", "c": c }), &pool, draws)?);
            }
        }
    }
    Ok(all)
}

/// Errors of the spectral graph transducer, one-vs-rest, for all numbers of neighbors.
fn transduced(pool: &Pool, draws: &[Draw]) -> Result<Vec<Vec<f64>>> {
    let mut all = Vec::new();
    for neighbors in [3, 5, 10, 20, 50, 100] {
        let graph =
            PenaltyParams { n_neighbors: neighbors, ..PenaltyParams::default() }.graph(pool.x.view(), &())?;
        let transducer =
            Transducer::new(&graph.ok_or_else(|| Failure::Content("no graph".into()))?, VECTORS)?;
        let classes = if pool.classes == 2 { 1..2 } else { 0..pool.classes as u32 };
        let mut scores = Scores { width: pool.width(), of: Vec::new() };
        for draw in draws {
            for class in classes.clone() {
                scores.of.push(transducer.scores(draw, &pool.class, class, WEIGHT)?);
            }
        }
        let one = |(k, d): (usize, &Draw)| scores.error(k, &pool.class, &pool.open(d));
        all.push(draws.iter().enumerate().map(one).collect());
    }
    Ok(all)
}

/// Errors of a method of table 2.6 on its draws, by the names of its columns.
fn transductive(
    bench: &Bench<'_>,
    set: &Set,
    method: &'static str,
    runs: usize,
) -> Result<Vec<(String, Vec<f64>)>> {
    let (pool, splits) = open(bench, set)?;
    let mut draws: Vec<Draw> = splits.into_iter().map(Draw::of).collect();
    if draws.is_empty() {
        draws = draws_of(&pool.class, pool.classes, set.labeled, set.each, bench.options.seed, runs)?;
    }
    draws.truncate(runs);
    if method == "LapSVM" {
        let space = KernelSpace::new(&pool.x, set.kernel(1.0), Some(&set.penalty(&pool)?))?;
        let deformed = space.deform(1e4, &pool, &draws)?;
        let mut out = Vec::new();
        for (loss, name) in LOSSES.into_iter().zip(["LapSVM", "LapRLS"]) {
            let scores = deformed.inside(&deformed.solve(loss, 1e-6)?);
            let one = |(k, d): (usize, &Draw)| scores.error(k, &pool.class, &pool.open(d));
            out.push((name.to_string(), draws.iter().enumerate().map(one).collect()));
        }
        return Ok(out);
    }
    if method.ends_with("(n)") {
        draws = folds(pool.class.len(), 10, bench.options.seed);
    }
    if RIVALS.contains(&method) {
        let all = match method {
            "Graph-Trans" => transduced(&pool, &draws)?,
            "LDS" => low_density(&pool, &draws)?,
            _ => dense_paths(&pool, &draws)?,
        };
        let means: Vec<String> = all.iter().map(|e| format!("{:.3}", mean(e))).collect();
        bench.say(&format!("{} {method}: {}", set.name, means.join(" ")));
        return Ok(vec![(method.to_string(), best(all, |e| mean(e))?)]);
    }
    let mut all = Vec::new();
    let hurry = bench.options.quick && method.ends_with("(n)");
    for (name, params) in settings(set, method).into_iter().take(if hurry { 1 } else { usize::MAX }) {
        let found = errors(name, &params, &pool, &draws)?;
        bench.say(&format!("{} {method} {name} {params}: {:.3}", set.name, mean(&found)));
        all.push(found);
    }
    Ok(vec![(method.to_string(), best(all, |e| mean(e))?)])
}

/// Table 2.6.
pub(crate) fn four_sets(bench: &Bench<'_>) -> Result<Findings> {
    let mut items = Vec::new();
    for set in SETS.iter().filter(|s| asked(bench, s.name) && !(bench.options.quick && s.name == "Uspst")) {
        // shortest paths, eigenvectors and gradTSVM with many classes are the slowest
        let hurry = bench.options.quick && set.name != "g50c";
        let rivals = if hurry { &[][..] } else { &RIVALS };
        let many = hurry && set.name == "Coil20";
        let methods = METHODS.iter().filter(|m| !(many && **m == "gradTSVM")).chain(rivals);
        items.extend(methods.filter(|m| asked_method(bench, m) || m.starts_with("Lap")).map(|m| (set, *m)));
    }
    let work = |(set, method): &(&Set, &'static str)| {
        let key = format!(
            "sindhwani 2.6 {} {method} {} {} {}",
            set.name,
            bench.options.seed,
            set.runs(bench, method),
            bench.options.quick
        );
        bench.cached(&key, || transductive(bench, set, method, set.runs(bench, method)))
    };
    let mut found = Findings::default();
    for ((set, _), values) in items.iter().zip(bench.each(&items, work)) {
        match values {
            Err(missing @ Failure::Missing { .. }) => found.missing(set.name, &missing.to_string()),
            values => values?.into_iter().for_each(|(m, runs)| found.add(set.name, &m, "error", runs)),
        }
    }
    Ok(found)
}

/// Errors of a setting on unlabeled and on test rows of each draw.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Point {
    method: String,
    setting: String,
    open: Vec<f64>,
    test: Vec<f64>,
}

/// Merges the draws of equal settings.
fn join(all: &mut Vec<Point>, more: Vec<Point>) {
    if all.is_empty() {
        *all = more;
        return;
    }
    for (all, one) in all.iter_mut().zip(more) {
        all.open.extend(one.open);
        all.test.extend(one.test);
    }
}

/// Rows in random order, with every fourth row held out.
fn divided(mut rows: Vec<usize>, held: usize, seed: u64) -> [Vec<usize>; 2] {
    rows.shuffle(&mut Pcg64::seed_from_u64(seed));
    let (test, train): (Vec<_>, Vec<_>) = rows.into_iter().enumerate().partition(|(i, _)| i % 4 == held);
    [train, test].map(|part| part.into_iter().map(|(_, row)| row).collect())
}

/// Results with one of four chunks of the unlabeled rows held out; the labels are "as before" (the source).
fn chunk(bench: &Bench<'_>, set: &Set, held: usize, runs: usize) -> Result<Vec<Point>> {
    let (all, mut splits) = open(bench, set)?;
    let seed = |number: usize| seed_of(bench.options.seed, number);
    if splits.is_empty() {
        let drawn = draws_of(&all.class, all.classes, set.labeled, set.each, bench.options.seed, runs)?;
        splits = drawn.into_iter().map(|draw| draw.known).collect();
    }
    let mut out = Vec::new();
    for (k, known) in splits.into_iter().take(runs).enumerate() {
        let others = (0..all.class.len()).filter(|row| !known.contains(row)).collect();
        let [train, test] = divided(others, held, seed(1001 + k));
        let draw = Draw::of((0..known.len()).collect());
        let pool = all.part(&[known, train].concat());
        join(&mut out, points(set, &pool, &all.part(&test), &[draw])?);
    }
    Ok(out)
}

/// Errors of all settings.
fn points(set: &Set, pool: &Pool, other: &Pool, draws: &[Draw]) -> Result<Vec<Point>> {
    let rows: Vec<usize> = (0..other.class.len()).collect();
    let mut out = Vec::new();
    let mut tell = |method: &str, setting: String, inside: &Scores, outside: &Scores| {
        let one = |(k, d): (usize, &Draw)| inside.error(k, &pool.class, &pool.open(d));
        let open = draws.iter().enumerate().map(one).collect();
        let test = (0..draws.len()).map(|k| outside.error(k, &other.class, &rows)).collect();
        out.push(Point { method: method.into(), setting, open, test });
    };
    for (method, name) in [("SVM", "svc"), ("RLS", "rls")] {
        for c in [1, 3, 10, 30, 100, 10_000] {
            let narrow = [0.5, 0.7, 1.0].map(|times| (times, false));
            let wide = [0.7, 1.0, 1.4, 2.0, 4.0, 8.0].map(|times| (times, true));
            for (times, bias) in narrow.into_iter().chain(wide) {
                let params = rbf(set.kernel(times), json!({ "c": c, "fit_intercept": bias }));
                let learned = pool.learn(make(name, &params)?.as_ref(), draws)?;
                tell(method, params.to_string(), &learned.inside, &learned.outside(&other.x)?);
            }
        }
    }
    let space = KernelSpace::new(&pool.x, set.kernel(1.0), Some(&set.penalty(pool)?))?;
    for ratio in [1.0, 10.0, 30.0, 1e2, 300.0, 1e3, 1e4, 1e5] {
        let deformed = space.deform(ratio, pool, draws)?;
        for (loss, method) in LOSSES.into_iter().zip(["LapSVM", "LapRLS"]) {
            for gamma_a in [1e-6, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 1e2] {
                let functions = deformed.solve(loss, gamma_a)?;
                let outside = deformed.outside(&pool.x, &functions, &other.x)?;
                tell(method, format!("{gamma_a} {ratio}"), &deformed.inside(&functions), &outside);
            }
        }
    }
    Ok(out)
}

/// Table 2.9.
pub(crate) fn out_of_sample(bench: &Bench<'_>) -> Result<Findings> {
    let sets: Vec<&Set> =
        SETS.iter().filter(|s| asked(bench, s.name) && !(bench.options.quick && s.name != "g50c")).collect();
    let items: Vec<(&Set, usize)> = sets.iter().flat_map(|s| (0..4).map(move |held| (*s, held))).collect();
    let work = |&(set, held): &(&Set, usize)| {
        let runs = set.runs(bench, "LapSVM");
        let key = format!("sindhwani 2.9 {} {held} {} {runs}", set.name, bench.options.seed);
        bench.cached(&key, || chunk(bench, set, held, runs))
    };
    let done = bench.each(&items, work);
    let mut found = Findings::default();
    for (set, chunks) in sets.iter().zip(done.chunks(4)) {
        let mut points: Vec<Point> = Vec::new();
        for chunk in chunks {
            match chunk {
                Err(missing @ Failure::Missing { .. }) => found.missing(set.name, &missing.to_string()),
                Err(other) => return Err(Failure::Content(other.to_string())),
                Ok(chunk) => join(&mut points, chunk.clone()),
            }
        }
        for method in ["SVM", "RLS", "LapSVM", "LapRLS"] {
            let of: Vec<Point> = points.iter().filter(|p| p.method == method).cloned().collect();
            let Ok(point) = best(of, |p| mean(&p.open) + mean(&p.test)) else { continue };
            bench.say(&format!("{} {method}: {}", set.name, point.setting));
            found.add(set.name, method, "error_unlabeled", point.open);
            found.add(set.name, method, "error_test", point.test);
        }
    }
    Ok(found)
}

/// Number of utterances of one speaker, and of all.
const SPEAKER: usize = 52;
const UTTERANCES: usize = 1560;

fn letters(bench: &Bench<'_>) -> Result<[Pool; 2]> {
    let open = |file: &str| -> Result<(Pool, Labels)> {
        let path = existing(&bench.options.folder, file, "the UCI repository (Isolet)")?;
        let label = Some(LabelColumn::Index(618));
        let set = read(&path, &ReadOptions { label, ..ReadOptions::default() })?;
        Ok((Pool::new(set.x, &set.labels), set.labels))
    };
    let ((first, names), (test, others)) =
        (open("isolet/isolet1+2+3+4.data.xz")?, open("isolet/isolet5.data.xz")?);
    if names.classes != others.classes {
        return Err(Failure::Content("isolet5 has other letters than isolet1".into()));
    }
    Ok([first.part(&(0..UTTERANCES).collect::<Vec<_>>()), test])
}

/// Errors of a method on unlabeled and on test rows, with one labeled speaker each.
fn speakers(bench: &Bench<'_>, method: &str, count: usize) -> Result<Vec<(String, [Vec<f64>; 2])>> {
    let [pool, test] = letters(bench)?;
    let speaker = |s: usize| Draw::of((SPEAKER * s..SPEAKER * (s + 1)).collect());
    let draws: Vec<Draw> = (0..count).map(speaker).collect();
    let rows: Vec<usize> = (0..test.class.len()).collect();
    let tell = |name: &str, inside: &Scores, outside: &Scores| {
        let one = |(k, d): (usize, &Draw)| inside.error(k, &pool.class, &pool.open(d));
        let open = draws.iter().enumerate().map(one).collect();
        (name.to_string(), [open, (0..count).map(|k| outside.error(k, &test.class, &rows)).collect()])
    };
    let kernel = Kernel::Rbf { gamma: 0.005 };
    if method == "TSVM" {
        let params = rbf(kernel, json!({ "lambda": 0.001, "ratio": pool.shares(&draws[0]) }));
        let learned = pool.learn(make("tsvm", &params)?.as_ref(), &draws)?;
        return Ok(vec![tell(method, &learned.inside, &learned.outside(&test.x)?)]);
    }
    let graph = PenaltyParams { n_neighbors: 10, ..PenaltyParams::default() };
    let penalty = graph.penalty(pool.x.view(), &())?;
    let space = KernelSpace::new(&pool.x, kernel, penalty.as_ref())?;
    let mut out = Vec::new();
    for (ratio, gamma_a, names) in [(0.0, 0.05, ["SVM", "RLS"]), (1.0, 0.005, ["LapSVM", "LapRLS"])] {
        let deformed = space.deform(ratio, &pool, &draws)?;
        for (loss, name) in LOSSES.into_iter().zip(names) {
            let functions = deformed.solve(loss, gamma_a)?;
            out.push(tell(
                name,
                &deformed.inside(&functions),
                &deformed.outside(&pool.x, &functions, &test.x)?,
            ));
        }
    }
    Ok(out)
}

/// Table 2.3.
pub(crate) fn isolet(bench: &Bench<'_>) -> Result<Findings> {
    let (all, some) = (repetitions(bench, 30).min(30), 1);
    let items: Vec<(&str, usize)> = [("Lap", all), ("TSVM", some)]
        .into_iter()
        .filter(|(m, _)| !(bench.options.quick && *m == "TSVM"))
        .collect();
    let work = |&(method, count): &(&str, usize)| {
        let key = format!("sindhwani 2.3 {method} {count}");
        bench.cached(&key, || speakers(bench, method, count))
    };
    let mut found = Findings::default();
    for values in bench.each(&items, work) {
        for (method, [open, test]) in values? {
            found.add("Isolet", &method, "error_unlabeled", open);
            found.add("Isolet", &method, "error_test", test);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_of_equal_settings_are_merged() {
        let point = |open: f64| Point {
            method: "SVM".into(),
            setting: "c".into(),
            open: vec![open],
            test: vec![1.0 - open],
        };
        let mut all = Vec::new();
        join(&mut all, vec![point(0.1), point(0.2)]);
        join(&mut all, vec![point(0.3), point(0.4)]);
        assert_eq!((&all[0].open, &all[1].test), (&vec![0.1, 0.3], &vec![0.8, 0.6]));
    }

    #[test]
    fn chunks_partition_all_unlabeled_rows() {
        let known = [3, 7, 8];
        let others: Vec<usize> = (0..23).filter(|row| !known.contains(row)).collect();
        let mut held = Vec::new();
        for chunk in 0..4 {
            let [train, test] = divided(others.clone(), chunk, 5);
            assert_eq!((train.len(), test.len()), (15, 5));
            assert!(test.iter().all(|row| !train.contains(row) && !known.contains(row)));
            held.extend(test);
        }
        held.sort_unstable();
        assert_eq!(held, others);
    }

    #[test]
    fn learners_accept_all_settings() {
        for set in &SETS {
            for method in &METHODS[1..] {
                let all = settings(set, method);
                assert!(!all.is_empty(), "{method}");
                for (name, params) in all {
                    make(name, &params).unwrap();
                }
            }
        }
    }
}
