//! Course pages of WebKB by their words, with twelve labels: table 2.4.

use super::bayes;
use super::many::{Draw, Pool, mean};
use super::pages::even;
use super::transducer::{Transducer, VECTORS, WEIGHT};
use super::warped::{KernelSpace, LOSSES};
use super::{best, repetitions};
use crate::data::webkb::{Reading, WebKb};
use crate::failure::Result;
use crate::findings::Findings;
use crate::run::{Bench, seed_of};
use crate::values::make;
use evermargin::estimators::manifold::penalty::PenaltyParams;
use evermargin::graph::{Metric, Weights};
use evermargin::{Kernel, Matrix};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use serde_json::json;

/// Pages by their words, shuffled because ties between equally distant neighbors are broken by order; and the word counts of pages
/// and links.
fn pages(bench: &Bench<'_>) -> Result<(Pool, [Matrix; 2])> {
    let data = WebKb::open(&bench.options.folder, Reading::Apart)?;
    let mut order: Vec<usize> = (0..data.positive.len()).collect();
    order.shuffle(&mut Pcg64::seed_from_u64(bench.options.seed));
    let class = order.iter().map(|&i| u32::from(data.positive[i])).collect();
    let counts = data.counts.map(|x| x.view().select(&order));
    Ok((Pool { x: data.views[1].view().select(&order), class, classes: 2 }, counts))
}

/// Draws three course pages and nine others as labeled.
fn draw(pool: &Pool, seed: u64) -> Draw {
    let mut order: Vec<usize> = (0..pool.class.len()).collect();
    order.shuffle(&mut Pcg64::seed_from_u64(seed));
    let some =
        |class: u32, count: usize| order.iter().copied().filter(move |&i| pool.class[i] == class).take(count);
    Draw::of(some(1, 3).chain(some(0, 9)).collect())
}

/// Break-even points of scores, one per draw.
fn evens<'s>(pool: &Pool, draws: &[Draw], scores: impl Iterator<Item = &'s Vec<f64>>) -> Vec<f64> {
    draws.iter().zip(scores).filter_map(|(d, s)| even(s, &pool.class, &pool.open(d))).collect()
}

/// Similarity to the course pages among the k nearest labeled pages, minus that to the others.
fn neighbors(pool: &Pool, draw: &Draw, k: usize) -> Vec<f64> {
    let x = pool.x.view();
    let one = |i: usize| {
        let mut near: Vec<(f64, u32)> =
            draw.known.iter().map(|&j| (x.row(i).dot(x.row(j)), pool.class[j])).collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        near.iter().take(k).map(|(s, c)| if *c == 1 { *s } else { -s }).sum()
    };
    (0..x.rows()).map(one).collect()
}

/// Learners with the published graph and costs: SVM and LapSVM γ_A·l = 1, RLS and LapRLS 0.01, γ_I·l/n² = 100 γ_A·l.
fn machines(pool: &Pool, draws: &[Draw]) -> Result<Vec<(String, Vec<f64>)>> {
    let graph = PenaltyParams {
        n_neighbors: 15,
        power: 3,
        metric: Metric::Cosine,
        edge_weights: Weights::Cosine,
        ..PenaltyParams::default()
    };
    let penalty = graph.penalty(pool.x.view(), &())?;
    let space = KernelSpace::new(&pool.x, Kernel::Linear, penalty.as_ref())?;
    let mut out = Vec::new();
    for (ratio, names) in [(0.0, ["SVM", "RLS"]), (100.0, ["LapSVM", "LapRLS"])] {
        let deformed = space.deform(ratio, pool, draws)?;
        for ((loss, name), gamma_a) in LOSSES.into_iter().zip(names).zip([1.0, 0.01]) {
            let bias = name == "SVM"; // as in SVM programs of that time
            let scores = deformed.inside(&deformed.solve_but_constant(loss, gamma_a, bias)?);
            out.push((name.to_string(), evens(pool, draws, scores.of.iter())));
        }
    }
    Ok(out)
}

fn switching(pool: &Pool, draws: &[Draw]) -> Result<Vec<(String, Vec<f64>)>> {
    let mut all = Vec::new();
    for lambda in [1e-3, 1e-2, 1e-1] {
        let mut found = Vec::new();
        for draw in draws {
            let params = json!({ "lambda": lambda, "ratio": pool.shares(draw)[0] });
            let learned = pool.learn(make("linear-tsvm", &params)?.as_ref(), std::slice::from_ref(draw))?;
            let scores = learned.outside(&pool.x)?;
            found.extend(evens(pool, std::slice::from_ref(draw), scores.of.iter()));
        }
        all.push(found);
    }
    Ok(vec![("TSVM".into(), best(all, |e| -mean(e))?)])
}

fn nearest(pool: &Pool, draws: &[Draw]) -> Result<Vec<(String, Vec<f64>)>> {
    let of = |k: usize| {
        let scores: Vec<Vec<f64>> = draws.iter().map(|d| neighbors(pool, d, k)).collect();
        evens(pool, draws, scores.iter())
    };
    Ok(vec![("k-NN".into(), best([1, 3, 5, 7, 9].map(of).into(), |e| -mean(e))?)])
}

/// Results of the transducer with the best of four numbers of neighbors.
fn transduced(pool: &Pool, draws: &[Draw]) -> Result<Vec<(String, Vec<f64>)>> {
    let mut all = Vec::new();
    for neighbors in [25, 50, 100, 200] {
        let transducer = Transducer::of(pool.x.view(), neighbors, VECTORS)?;
        let scores =
            draws.iter().map(|d| transducer.scores(d, &pool.class, 1, WEIGHT)).collect::<Result<Vec<_>>>()?;
        all.push(evens(pool, draws, scores.iter()));
    }
    Ok(vec![("SGT".into(), best(all, |e| -mean(e))?)])
}

/// Table 2.4.
pub(crate) fn table(bench: &Bench<'_>) -> Result<Findings> {
    let (pool, counts) = pages(bench)?;
    let (seed, runs) = (bench.options.seed, repetitions(bench, 100));
    let draws: Vec<Draw> = (0..runs).map(|k| draw(&pool, seed_of(seed, k))).collect();
    let work = |&name: &&str| {
        bench.cached(&format!("sindhwani 2.4 {name} {seed} {runs}"), || match name {
            "machines" => machines(&pool, &draws),
            "TSVM" => switching(&pool, &draws[..runs.min(10)]),
            "SGT" => transduced(&pool, &draws),
            _ => nearest(&pool, &draws),
        })
    };
    let mut found = Findings::default();
    for values in bench.each(&["machines", "TSVM", "SGT", "k-NN"], work) {
        for (method, evens) in values? {
            // at the break-even point, false negatives and false positives are equally many
            let course = pool.class.iter().filter(|c| **c == 1).count() - 3;
            let share = course as f64 / (pool.class.len() - 12) as f64;
            found.add(
                "WebKB page",
                &method,
                "error",
                evens.iter().map(|e| 2.0 * share * (1.0 - e)).collect(),
            );
            found.add("WebKB page", &method, "prbep", evens);
        }
    }
    let views = [counts[0].view(), counts[1].view()];
    let wrong = |scores: &[f64], draw: &Draw| {
        let open = pool.open(draw);
        open.iter().filter(|&&i| u32::from(scores[i] > 0.0) != pool.class[i]).count() as f64
            / open.len() as f64
    };
    let alone = |d: &Draw| wrong(&bayes::alone(views[0], &pool.class, d), d);
    found.add("WebKB page", "naive Bayes", "error", draws.iter().map(alone).collect());
    let together =
        |(k, d): (usize, &Draw)| wrong(&bayes::together(views, &pool.class, d, seed_of(seed, k)), d);
    found.add("WebKB page", "co-training", "error", draws.iter().enumerate().map(together).collect());
    Ok(found)
}
