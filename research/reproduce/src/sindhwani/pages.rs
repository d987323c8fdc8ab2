//! WebKB pages in two views: tables 2.7, 2.8, 4.1 and 4.2.
//!
//! The space of each view and the penalty of each graph are computed once for all weights and draws (file `warped.rs`). All rows
//! are shuffled once, because many pages have no word in common and ties between equally distant neighbors are broken by order.

use super::many::{Draw, Pool, mean};
use super::transducer::{Transducer, VECTORS, WEIGHT};
use super::warped::{KernelSpace, LOSSES};
use super::{asked, asked_method, best, draws_of, repetitions};
use crate::data::webkb::{Reading, UNIVERSITIES, WebKb};
use crate::failure::{Failure, Result};
use crate::findings::Findings;
use crate::run::Bench;
use crate::values::make;
use evermargin::estimators::manifold::lap::Loss;
use evermargin::estimators::manifold::penalty::{Penalty, PenaltyParams};
use evermargin::graph::{Graph, Metric, Weights};
use evermargin::metrics::prbep;
use evermargin::{Kernel, Matrix};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt::Write;

const LABELED: usize = 12;
/// Views of the tables.
const VIEWS: [&str; 3] = ["link", "page", "page+link"];
/// Grid of weights.
const NORM: [f64; 3] = [1e-4, 1e-2, 1.0];
const ALONG: [f64; 5] = [1.0, 10.0, 100.0, 1e3, 1e4];

/// Graphs of the Laplacian.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Joint {
    /// No graph: supervised learning.
    Alone,
    /// The graph of the view.
    Own,
    /// The mean of the graphs of link and page.
    Two,
    /// The mean of all three graphs.
    Three,
}

impl Joint {
    /// Names of the methods with these graphs.
    fn names(self) -> [&'static str; 2] {
        match self {
            Self::Alone => ["SVM", "RLS"],
            Self::Own => ["LapSVM", "LapRLS"],
            Self::Two => ["Co-LapSVM1", "Co-LapRLS1"],
            Self::Three => ["Co-LapSVM2", "Co-LapRLS2"],
        }
    }
}

/// Pages in three views, shuffled.
struct Web {
    views: Vec<Matrix>,
    course: Vec<bool>,
    university: Vec<usize>,
    /// Weights of edges: the cosine, or those of the source with `--set edge_weights=heat`.
    edges: Weights,
}

impl Web {
    fn open(bench: &Bench<'_>) -> Result<Self> {
        let data = WebKb::open(&bench.options.folder, Reading::Masked)?;
        let edges = bench.options.set.get("edge_weights").map(|w| serde_json::from_value(w.clone()));
        let edges = edges.transpose().map_err(|e| Failure::Content(format!("weights: {e}")))?;
        let mut order: Vec<usize> = (0..data.positive.len()).collect();
        order.shuffle(&mut Pcg64::seed_from_u64(bench.options.seed));
        Ok(Self {
            views: data.views.iter().map(|x| x.view().select(&order)).collect(),
            course: order.iter().map(|&i| data.positive[i]).collect(),
            university: order.iter().map(|&i| data.university[i]).collect(),
            edges: edges.unwrap_or(Weights::Cosine),
        })
    }

    fn pool(&self, view: usize, rows: &[usize]) -> Pool {
        let class = rows.iter().map(|&i| u32::from(self.course[i])).collect();
        Pool { x: self.views[view].view().select(rows), class, classes: 2 }
    }
}

/// Break-even points of a setting, on the unlabeled rows of each group and draw and on the test rows of each draw.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Point {
    square: bool,
    bias: bool,
    gamma_a: f64,
    ratio: f64,
    inside: Vec<Vec<f64>>,
    outside: Vec<f64>,
}

impl Point {
    /// Mean over all groups and draws, for the choice of a setting.
    fn mean(&self) -> f64 {
        let groups: Vec<f64> = self.inside.iter().map(|g| mean(g)).collect();
        if self.outside.is_empty() { mean(&groups) } else { mean(&[mean(&groups), mean(&self.outside)]) }
    }
}

/// Training rows with their groups, test rows, and draws of labels.
struct Stage {
    train: Vec<usize>,
    test: Vec<usize>,
    group: Vec<usize>,
    groups: usize,
    draws: Vec<Draw>,
}

impl Stage {
    /// A stage with all pages in one group.
    fn whole(web: &Web, seed: u64, draws: usize) -> Result<Self> {
        let train: Vec<usize> = (0..web.course.len()).collect();
        let group = vec![0; train.len()];
        let draws = draws_of(&web.pool(0, &train).class, 2, LABELED, 1, seed, draws)?;
        Ok(Self { train, test: Vec::new(), group, groups: 1, draws })
    }

    /// A stage with the labeled pages and the pages of all universities except one, which has the test rows; one group per university.
    fn without(web: &Web, held: usize, known: &[usize]) -> Self {
        let open = (0..web.course.len()).filter(|i| !known.contains(i));
        let (test, others): (Vec<usize>, Vec<usize>) = open.partition(|&i| web.university[i] == held);
        let train = [known, &others].concat();
        let group = train.iter().map(|&i| web.university[i]).collect();
        let draws = vec![Draw::of((0..known.len()).collect())];
        Self { train, test, group, groups: UNIVERSITIES.len(), draws }
    }

    /// Break-even points of the scores of the training rows, by group and draw; a group without rows has none.
    fn inside(&self, pool: &Pool, scores: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let one = |g: usize| {
            let of = self.draws.iter().zip(scores).filter_map(|(draw, scores)| {
                let rows = pool.open(draw).into_iter().filter(|&i| self.group[i] == g);
                even(scores, &pool.class, &rows.collect::<Vec<_>>())
            });
            of.collect()
        };
        (0..self.groups).map(one).filter(|g: &Vec<f64>| !g.is_empty()).collect()
    }
}

/// Break-even point of some rows; `None` without a course page.
pub(super) fn even(scores: &[f64], class: &[u32], rows: &[usize]) -> Option<f64> {
    let decisions: Vec<f64> = rows.iter().map(|&i| scores[i]).collect();
    let truth: Vec<bool> = rows.iter().map(|&i| class[i] == 1).collect();
    truth.contains(&true).then(|| prbep(&decisions, &truth)).flatten()
}

fn graph(x: &Matrix, weights: Weights) -> Result<Graph> {
    let params = PenaltyParams {
        n_neighbors: 200,
        metric: Metric::Cosine,
        edge_weights: weights,
        ..PenaltyParams::default()
    };
    params.graph(x.view(), &())?.ok_or_else(|| Failure::Content("no graph".into()))
}

fn penalty(web: &Web, rows: &[usize], view: usize, joint: Joint) -> Result<Option<Penalty>> {
    let of: &[usize] = match joint {
        Joint::Alone => return Ok(None),
        Joint::Own => &[view],
        Joint::Two => &[0, 1],
        Joint::Three => &[0, 1, 2],
    };
    let weight = 1.0 / of.len() as f64;
    let each = |&v: &usize| Ok((weight, graph(&web.views[v].view().select(rows), web.edges)?));
    let graphs = of.iter().map(each).collect::<Result<Vec<_>>>()?;
    Ok(Some(PenaltyParams { power: 5, ..PenaltyParams::default() }.of_graphs(graphs)))
}

/// Results of all weights and both losses.
fn points(web: &Web, stage: &Stage, view: usize, joint: Joint) -> Result<Vec<Point>> {
    let pool = web.pool(view, &stage.train);
    let penalty = penalty(web, &stage.train, view, joint)?;
    let space = KernelSpace::new(&pool.x, Kernel::Linear, penalty.as_ref())?;
    let other = web.pool(view, &stage.test);
    let rows: Vec<usize> = (0..other.class.len()).collect();
    let mut out = Vec::new();
    for &ratio in if joint == Joint::Alone { &[0.0][..] } else { &ALONG } {
        let deformed = space.deform(ratio, &pool, &stage.draws)?;
        for loss in LOSSES {
            for (gamma_a, bias) in NORM.map(|a| (a, false)).into_iter().chain(NORM.map(|a| (a, true))) {
                let functions = deformed.solve_but_constant(loss, gamma_a, bias)?;
                let inside = stage.inside(&pool, &deformed.inside(&functions).of);
                let outside = if rows.is_empty() {
                    Vec::new()
                } else {
                    let scores = deformed.outside(&pool.x, &functions, &other.x)?;
                    scores.of.iter().filter_map(|s| even(s, &other.class, &rows)).collect()
                };
                out.push(Point { square: loss == Loss::Square, bias, gamma_a, ratio, inside, outside });
            }
        }
    }
    Ok(out)
}

/// Merges the draws of equal settings.
fn join(all: &mut Vec<Point>, more: Vec<Point>) {
    if all.is_empty() {
        *all = more;
        return;
    }
    for (all, one) in all.iter_mut().zip(more) {
        all.inside.iter_mut().zip(one.inside).for_each(|(all, one)| all.extend(one));
        all.outside.extend(one.outside);
    }
}

/// The setting with the best mean for a loss.
fn chosen(points: &[Point], square: bool) -> Result<&Point> {
    let of = points.iter().filter(|p| p.square == square);
    of.max_by(|a, b| a.mean().total_cmp(&b.mean())).ok_or_else(|| Failure::Content("an empty grid".into()))
}

/// A method that is not manifold regularization, with its learner and settings.
struct Other {
    name: &'static str,
    learner: &'static str,
    views: usize,
    draws: usize,
    settings: fn(usize) -> Vec<Value>,
}

const OTHERS: &[Other] = &[
    Other { name: "SGT", learner: "", views: 3, draws: 100, settings: |_| Vec::new() },
    Other { name: "TSVM", learner: "linear-tsvm", views: 3, draws: 10, settings: |_| switching() },
    Other {
        name: "co-trained RLS",
        learner: "cotraining",
        views: 2,
        draws: 10,
        settings: |v| greedy(v, "rls", &[(1.0, 30)]),
    },
    Other {
        name: "co-trained SVM",
        learner: "cotraining",
        views: 2,
        draws: 10,
        settings: |v| greedy(v, "svc", &[(1.0, 30), (0.1, 0)]),
    },
    Other { name: "Co-RLS", learner: "corls", views: 2, draws: 100, settings: agreeing },
    Other {
        name: "RLS (full)",
        learner: "rls",
        views: 3,
        draws: 10,
        settings: |_| supervised(&[1.0, 10.0, 100.0]),
    },
    Other { name: "SVM (full)", learner: "svc", views: 3, draws: 10, settings: |_| supervised(&[1.0, 10.0]) },
];

/// Break-even points of the transducer over a grid of neighbors, eigenvectors and weights of the labels.
fn connected(pool: &Pool, draws: &[Draw]) -> Result<Vec<Vec<f64>>> {
    let mut out = Vec::new();
    for neighbors in [25, 50, 100, 200] {
        let most = Transducer::of(pool.x.view(), neighbors, 2 * VECTORS)?;
        for transducer in [VECTORS / 2, VECTORS, 2 * VECTORS].map(|d| most.first(d)) {
            for c in [0.01, 0.1, 1.0, 10.0].map(|t| t * WEIGHT) {
                let mut runs = Vec::new();
                for draw in draws {
                    let scores = transducer.scores(draw, &pool.class, 1, c)?;
                    runs.extend(even(&scores, &pool.class, &pool.open(draw)));
                }
                out.push(runs);
            }
        }
    }
    Ok(out)
}

fn switching() -> Vec<Value> {
    [1e-3, 1e-2, 1e-1].map(|lambda| json!({ "lambda": lambda })).into()
}

fn supervised(costs: &[f64]) -> Vec<Value> {
    costs.iter().map(|c| json!({ "kernel": "linear", "c": c })).collect()
}

/// Costs and rounds of four pages per view: 30 rounds as in Blum & Mitchell 1998, or 0 for rounds until all pages are labeled.
fn greedy(view: usize, machine: &str, tried: &[(f64, usize)]) -> Vec<Value> {
    let one = |(c, rounds): &(f64, usize)| {
        let mut params = json!({ "kernel": "linear", "machine": machine, "grow": 4, "view": view + 1 });
        params["c"] = json!(c);
        params["rounds"] = json!(rounds);
        params
    };
    tried.iter().map(one).collect()
}

/// Settings with links as the first view: weights of both functions, of their agreement, and μ, the weight of the loss of the pages.
fn agreeing(view: usize) -> Vec<Value> {
    let mut out = Vec::new();
    for (gamma_a, gamma_c) in [([0.01, 0.01], 1.0), ([0.1, 0.01], 0.1), ([0.1, 0.01], 1.0)] {
        for mu in [1.0, 0.1, 0.01, 0.001] {
            let mut params = json!({ "kernel": "linear", "gamma_a": gamma_a, "gamma_c": gamma_c });
            params["mu"] = json!([1.0, mu]);
            params["view"] = json!(view + 1);
            out.push(params);
        }
    }
    out
}

impl Other {
    /// Break-even points of all settings.
    fn run(&self, web: &Web, view: usize, seed: u64, draws: usize) -> Result<Vec<Vec<f64>>> {
        let mut stage = Stage::whole(web, seed, draws)?;
        let full = self.name.ends_with("(full)");
        let pool = if self.views == 3 { web.pool(view, &stage.train) } else { web.pool(2, &stage.train) };
        if full {
            stage.draws = super::folds(pool.class.len(), 10, seed);
        }
        if self.name == "SGT" {
            return connected(&pool, &stage.draws);
        }
        let pages = web.views[1].cols();
        let links = web.views[0].cols();
        let mut out = Vec::new();
        for mut params in (self.settings)(view) {
            if self.views == 2 {
                params["views"] = json!(format!("{}..{};1..{pages}", pages + 1, pages + links));
            }
            out.push(self.one(&params, &pool, &stage)?);
        }
        Ok(out)
    }

    fn one(&self, params: &Value, pool: &Pool, stage: &Stage) -> Result<Vec<f64>> {
        if matches!(self.learner, "linear-tsvm" | "cotraining") {
            let mut out = Vec::new();
            for draw in &stage.draws {
                let mut params = params.clone();
                params["ratio"] = json!(pool.shares(draw)[0]);
                let learned =
                    pool.learn(make(self.learner, &params)?.as_ref(), std::slice::from_ref(draw))?;
                let scores = learned.outside(&pool.x)?;
                out.extend(even(&scores.of[0], &pool.class, &pool.open(draw)));
            }
            return Ok(out);
        }
        let learned = pool.learn(make(self.learner, params)?.as_ref(), &stage.draws)?;
        let scores = learned.inside.of.iter().zip(&stage.draws);
        Ok(scores.filter_map(|(s, draw)| even(s, &pool.class, &pool.open(draw))).collect())
    }
}

/// Break-even points of all requested methods in all views, by their names in the table.
fn transductive(bench: &Bench<'_>, name: fn(&str) -> &str) -> Result<Vec<(&'static str, usize, Vec<f64>)>> {
    let web = Web::open(bench)?;
    bench.say(&format!("{} words of links, {} of pages", web.views[0].cols(), web.views[1].cols()));
    let seed = bench.options.seed;
    let draws = repetitions(bench, 100);
    let mut items: Vec<(Option<Joint>, Option<&Other>, usize)> = Vec::new();
    let wanted = |method: &str| asked_method(bench, name(method));
    for view in (0..VIEWS.len()).filter(|v| asked(bench, VIEWS[*v]) || asked(bench, "webkb")) {
        let joints = [Joint::Alone, Joint::Own, Joint::Two, Joint::Three].into_iter();
        items.extend(joints.filter(|j| j.names().into_iter().any(wanted)).map(|j| (Some(j), None, view)));
        let others = OTHERS.iter().filter(|o| view < o.views && wanted(o.name));
        items.extend(others.map(|o| (None, Some(o), view)));
    }
    let work = |(joint, other, view): &(Option<Joint>, Option<&Other>, usize)| match (joint, other) {
        (Some(joint), _) => {
            let key = format!("sindhwani pages {joint:?} {view} {seed} {draws}");
            let points: Vec<Point> =
                bench.cached(&key, || points(&web, &Stage::whole(&web, seed, draws)?, *view, *joint))?;
            let mut out = Vec::new();
            for (name, square) in joint.names().into_iter().zip([false, true]) {
                let point = chosen(&points, square)?;
                bench.say(&format!(
                    "{name} {}: γ_A {}, γ_I/γ_A {}, constant {}: {:.3}",
                    VIEWS[*view],
                    point.gamma_a,
                    point.ratio,
                    point.bias,
                    point.mean()
                ));
                out.push((name, *view, point.inside[0].clone()));
            }
            Ok(out)
        }
        (_, Some(other)) => {
            let draws = draws.min(other.draws);
            let key = format!("sindhwani pages {} {view} {seed} {draws}", other.name);
            let settings: Vec<Vec<f64>> = bench.cached(&key, || other.run(&web, *view, seed, draws))?;
            let means: Vec<String> = settings.iter().map(|s| format!("{:.3}", mean(s))).collect();
            bench.say(&format!("{} {}: {}", other.name, VIEWS[*view], means.join(" ")));
            Ok(vec![(other.name, *view, best(settings, |s| -mean(s))?)])
        }
        _ => Ok(Vec::new()),
    };
    let found = bench.each(&items, work);
    Ok(found.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// Table 4.1.
pub(crate) fn two_views(bench: &Bench<'_>) -> Result<Findings> {
    let mut found = Findings::default();
    for (method, view, runs) in transductive(bench, |method| method)? {
        found.add(VIEWS[view], method, "prbep", runs);
    }
    Ok(found)
}

/// Name in table 2.7 of a method of table 4.1.
fn earlier(method: &str) -> &str {
    match method {
        "SVM (full)" => "SVM (n)",
        "RLS (full)" => "RLS (n)",
        "Co-LapSVM2" => "LapSVM joint",
        "Co-LapRLS2" => "LapRLS joint",
        "SGT" => "Graph-Trans",
        other => other,
    }
}

/// Table 2.7.
pub(crate) fn joint(bench: &Bench<'_>) -> Result<Findings> {
    let mut found = Findings::default();
    for (method, view, runs) in transductive(bench, earlier)? {
        found.add(VIEWS[view], earlier(method), "prbep_loss", runs.iter().map(|r| 1.0 - r).collect());
    }
    Ok(found)
}

/// Break-even point on one university of the best SVM with all labels of the other three: a reference for learners with twelve
/// labels.
fn all_labels(web: &Web, view: usize, held: usize) -> Result<f64> {
    let stage = Stage::without(web, held, &[]);
    let (pool, other) = (web.pool(view, &stage.train), web.pool(view, &stage.test));
    let rows: Vec<usize> = (0..other.class.len()).collect();
    let known = [Draw::of((0..pool.class.len()).collect())];
    let mut most = 0.0_f64;
    for params in supervised(&[0.1, 1.0, 10.0]) {
        let scores = pool.learn(make("svc", &params)?.as_ref(), &known)?.outside(&other.x)?;
        most = most.max(even(&scores.of[0], &other.class, &rows).unwrap_or(0.0));
    }
    Ok(most)
}

/// Rows of a table with their unlabeled and test values, and notes on the SVM with all labels.
type HeldOutRows = (Vec<(String, Vec<f64>, Vec<f64>)>, String);

/// Break-even points on unlabeled and test rows of each university and view, with the graph of the view or the mean of all.
fn held_out(bench: &Bench<'_>, joint: Joint) -> Result<HeldOutRows> {
    let web = Web::open(bench)?;
    let (seed, draws) = (bench.options.seed, repetitions(bench, 100));
    let items: Vec<(usize, usize)> =
        (0..VIEWS.len()).flat_map(|v| (0..UNIVERSITIES.len()).map(move |u| (v, u))).collect();
    let work = |&(view, held): &(usize, usize)| {
        let key = format!("sindhwani universities {joint:?} {view} {held} {seed} {draws}");
        bench.cached(&key, || {
            let mut all = Vec::new();
            for draw in &Stage::whole(&web, seed, draws)?.draws {
                join(&mut all, points(&web, &Stage::without(&web, held, &draw.known), view, joint)?);
            }
            Ok(all)
        })
    };
    let all = bench.each(&items, work).into_iter().collect::<Result<Vec<Vec<Point>>>>()?;
    let mut out = Vec::new();
    let mut notes = String::from(
        "The break-even point of the best support vector machine of all labels of the other three universities:\n\n",
    );
    for (view, name) in VIEWS.iter().enumerate() {
        let of = &all[view * UNIVERSITIES.len()..(view + 1) * UNIVERSITIES.len()];
        let hinge = |p: &usize| !of[0][*p].square;
        let total = |p: usize| of.iter().map(|held| held[p].mean()).sum::<f64>();
        let at = (0..of[0].len()).filter(hinge).max_by(|a, b| total(*a).total_cmp(&total(*b)));
        let at = at.ok_or_else(|| Failure::Content("an empty grid".into()))?;
        let Point { gamma_a, ratio, bias, .. } = of[0][at];
        bench.say(&format!("{name}: γ_A {gamma_a}, γ_I/γ_A {ratio}, constant {bias}"));
        let mut marks = Vec::new();
        for (held, (university, _)) in UNIVERSITIES.iter().enumerate() {
            let key = format!("sindhwani universities all labels {view} {held}");
            let most: f64 = bench.cached(&key, || all_labels(&web, view, held))?;
            marks.push(format!("{university} {:.1}", 100.0 * most));
        }
        let _ = writeln!(notes, "- {name}: {}", marks.join(", "));
        for (u, (university, _)) in UNIVERSITIES.iter().enumerate() {
            let others = (0..UNIVERSITIES.len()).filter(|h| *h != u);
            // skip the group of the held-out university, which is empty
            let open = others.flat_map(|h| of[h][at].inside[u - usize::from(h < u)].clone()).collect();
            out.push((format!("{university}, {name}"), open, of[u][at].outside.clone()));
        }
    }
    Ok((out, notes))
}

/// Table 2.8.
pub(crate) fn one_view_out(bench: &Bench<'_>) -> Result<Findings> {
    let (rows, notes) = held_out(bench, Joint::Own)?;
    let mut found = Findings::notes(notes);
    for (row, open, test) in rows {
        let loss = |v: Vec<f64>| v.iter().map(|r| 1.0 - r).collect();
        found.add(&row, "LapSVM", "prbep_loss_unlabeled", loss(open));
        found.add(&row, "LapSVM", "prbep_loss_test", loss(test));
    }
    Ok(found)
}

/// Table 4.2.
pub(crate) fn views_out(bench: &Bench<'_>) -> Result<Findings> {
    let (rows, notes) = held_out(bench, Joint::Three)?;
    let mut found = Findings::notes(notes);
    for (row, open, test) in rows {
        found.add(&row, "Co-LapSVM2", "prbep_unlabeled", open);
        found.add(&row, "Co-LapSVM2", "prbep_test", test);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_without_a_course_have_no_break_even_point() {
        assert_eq!(even(&[1.0, 0.0, 2.0], &[1, 0, 0], &[0, 1]), Some(1.0));
        assert_eq!(even(&[1.0, 0.0], &[0, 0], &[0, 1]), None);
    }

    #[test]
    fn held_out_university_has_no_group() {
        let web = Web {
            views: vec![Matrix::dense(vec![0.5; 400], 400, 1).unwrap(); 3],
            course: (0..400).map(|i| i % 3 == 0).collect(),
            university: (0..400).map(|i| i % 4).collect(),
            edges: Weights::Cosine,
        };
        let stage = Stage::without(&web, 1, &[0, 1, 2, 3]);
        assert_eq!(
            (stage.train.len(), stage.test.len()),
            (301, 99),
            "its labeled pages are also training rows"
        );
        assert_eq!(stage.train[..4], [0, 1, 2, 3]);
        assert!(stage.test.iter().all(|&i| web.university[i] == 1 && i != 1));
        let pool = web.pool(0, &stage.train);
        let scores: Vec<Vec<f64>> = vec![pool.class.iter().map(|c| f64::from(*c)).collect()];
        assert_eq!(stage.inside(&pool, &scores), vec![vec![1.0]; 3]);
    }
}
