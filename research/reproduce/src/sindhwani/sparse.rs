//! Manifold regularization with few basis functions: tables 5.2 to 5.5.
//!
//! Rows are split 3 : 1 into training and validation rows once. In each repetition, a random 5 % of the training rows are labeled
//! (two moons: one per class). As in the source, all settings, including those of the graph, minimize the error on the validation
//! rows; results are errors on the unlabeled training rows (for learners with all labels, on the validation rows). The source does
//! not describe its grid.
//!
//! The source uses the settings of GREEDY for table 5.3 and SUP, and the basis, graph and width of GREEDY for SLACK.

use super::ground::{Errors, Gram, Ground, Setting, validated};
use super::many::{Draw, Pool, mean};
use super::six_sets::{SETS, Set};
use super::warped::KernelSpace;
use super::{asked, asked_method, best, repetitions};
use crate::failure::{Failure, Result};
use crate::findings::Findings;
use crate::run::Bench;
use crate::values::make;
use evermargin::Kernel;
use evermargin::estimators::manifold::dictionary::{Atom, Dictionary};
use evermargin::estimators::manifold::lap::Loss;
use evermargin::estimators::manifold::penalty::Penalty;
use evermargin::estimators::manifold::sparse::matching_pursuit::{
    Backfit, Candidates, Norm, Pursuit, PursuitCache,
};
use evermargin::estimators::manifold::sparse::objective::{SparseObjective, transduce};
use evermargin::estimators::manifold::sparse::restricted::Restricted;
use evermargin::estimators::manifold::sparse::sigmoid::Squashed;
use evermargin::solver::Stop;
use evermargin::solver::newton_cg::newton;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::Arc;

/// Methods that are run together, because some need results of others.
const GROUPS: [&[&str]; 6] = [
    &["RLS (l)", "RLS (n)"],
    &["LapRLS", "GREEDY fixed"],
    &["GREEDY", "RANDOM", "UNIFORM", "GREEDY ridge", "GREEDY multi-scale", "LASSO", "LARS"],
    &["SUP", "Sigmoid", "RLS (n, d_max)"],
    &["SLACK", "GREEDY+SLACK"],
    &["decoupled"],
];

const NEIGHBORS: [usize; 6] = [3, 5, 10, 20, 50, 100];
const POWERS: [usize; 3] = [1, 2, 5];
/// Grids of kernel widths: of full solutions, and of few basis functions, for which the source found larger widths.
const NARROW: [f64; 6] = [0.125, 0.25, 0.5, 1.0, 2.0, 4.0];
const WIDE: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];
const GAMMAS: [f64; 3] = [1e-6, 1e-4, 1e-2];
const RATIOS: [f64; 5] = [1.0, 10.0, 1e2, 1e3, 1e4];
/// Number of graphs for few basis functions on many rows, to save time: those with the smallest validation error of the full
/// solution, averaged over widths. With few rows, all graphs are used.
const GRAPHS: usize = 3;
/// Number of settings for few basis functions on many rows that are evaluated with all draws, to save time: the best on a few
/// draws.
const FINALISTS: usize = 12;
/// Grids of γ_I and ν of SLACK, and of γ_I of the targets of `decoupled`.
const FREE: [f64; 2] = [1e-2, 1.0];
/// γ_A/ν of SLACK.
const FIRM: f64 = 1e-3;
/// Stopping rule of Sigmoid. A step is a Newton step with a line search. To save time the limit is 30 steps, which do not always
/// reach a stationary point; the remaining influence of the start favors Sigmoid (the source used a strict stopping rule).
const STATIONARY: Stop = Stop { tolerance: 1e-5, max_steps: Some(30) };

/// Results that other methods need: the settings of LapRLS and GREEDY, selected graphs, errors of LapRLS.
#[derive(Debug, Serialize, Deserialize)]
struct Scout {
    full: Setting,
    greedy: Setting,
    graphs: Vec<[usize; 2]>,
    errors: Vec<f64>,
}

/// Methods with their errors.
type LabeledSample = Vec<(String, Vec<f64>)>;

fn inside(errors: &[Errors]) -> Vec<f64> {
    errors.iter().map(|e| e[0]).collect()
}

fn unsolved() -> Failure {
    Failure::Content("a linear system was not solved".into())
}

/// As in the source, 50 new candidates before each step.
const CANDIDATES: Candidates = Candidates { number: 50, exchanged: 50, backfit: Backfit::Post, seed: 1 };

/// Basis of a pursuit.
fn pursued(mut pursuit: Pursuit<'_>, basis: usize) -> Vec<Atom> {
    pursuit.run(basis, &());
    pursuit.atoms().to_vec()
}

/// Kernel and data set for pursuits and fits.
struct Stage<'s> {
    set: &'s Set,
    ground: &'s Ground,
    gram: &'s Gram,
    dictionary: Dictionary<'s>,
}

impl<'s> Stage<'s> {
    fn new(set: &'s Set, ground: &'s Ground, gram: &'s Gram) -> Result<Self> {
        Ok(Self { set, ground, gram, dictionary: gram.dictionary()? })
    }

    /// Basis of a pursuit that reuses cached columns.
    fn basis(&self, aim: &SparseObjective<'_>, held: Option<&PursuitCache<'_>>) -> Vec<Atom> {
        let pursuit = Pursuit::new(aim, &self.dictionary, Norm::Kernel, CANDIDATES);
        match held {
            Some(held) => pursued(pursuit.with(held), self.set.basis),
            None => pursued(pursuit, self.set.basis),
        }
    }

    /// Errors of the optimal function of a basis.
    fn fitted(&self, draw: &Draw, atoms: &[Atom], aim: &SparseObjective<'_>) -> Result<Errors> {
        let space = Restricted::of(&self.dictionary, atoms, Norm::Kernel)?;
        let solved = space.solve(aim, &())?.ok_or_else(unsolved)?;
        self.ground.score(draw, self.gram, &space.model(&solved.functions)?)
    }

    fn pursued(&self, draw: &Draw, aim: &SparseObjective<'_>) -> Result<Errors> {
        self.fitted(draw, &self.basis(aim, None), aim)
    }

    /// Runs GREEDY on some draws; `held` is the cache of the graph of the setting.
    fn pursuits(
        &self,
        s: Setting,
        penalty: &Penalty,
        held: &PursuitCache<'_>,
        draws: &[Draw],
    ) -> Result<Vec<Errors>> {
        let one = |d: &Draw| {
            let aim = SparseObjective::plain(s.gamma(), &self.ground.known(d)?, Some(penalty));
            self.fitted(d, &self.basis(&aim, Some(held)), &aim)
        };
        draws.iter().map(one).collect()
    }
}

/// Errors of supervised least squares for each draw.
fn alone(ground: &Ground, gram: &Gram, gamma_a: f64, draws: &[Draw]) -> Result<Vec<Errors>> {
    let params = json!({ "kernel": "precomputed", "c": 1.0 / gamma_a, "fit_intercept": false });
    let rows = Pool { x: gram.inside.clone(), class: ground.train.class.clone(), classes: 2 };
    let learned = rows.learn(make("rls", &params)?.as_ref(), draws)?;
    let outside = learned.outside(&gram.outside)?;
    let one = |(k, d): (usize, &Draw)| ground.errors(d, &learned.inside.of[k], &outside.of[k]);
    Ok(draws.iter().enumerate().map(one).collect())
}

fn supervised(ground: &Ground) -> Result<LabeledSample> {
    let (mut few, mut all) = (Vec::new(), Vec::new());
    let full = [ground.full()];
    for power in -3..=4 {
        let gram = ground.gram(2f64.powi(power))?;
        for gamma_a in [1e-6, 1e-3, 1e-1, 1.0] {
            few.push(alone(ground, &gram, gamma_a, &ground.draws)?);
            all.push(alone(ground, &gram, gamma_a, &full)?);
        }
    }
    let (few, all) = (best(few, |e| validated(e))?, best(all, |e| validated(e))?);
    Ok(vec![("RLS (l)".into(), inside(&few)), ("RLS (n)".into(), vec![all[0][1]])])
}

/// Setting and errors of a full solution.
type Whole = (Setting, Vec<Errors>);

/// Full solutions with one kernel width and graph, for all weights and draws in one space.
fn full_solutions(
    ground: &Ground,
    gram: &Gram,
    plane: &KernelSpace,
    graph: [usize; 2],
    width: f64,
) -> Result<Vec<Whole>> {
    let mut out = Vec::new();
    for ratio in RATIOS {
        let deformed = plane.deform(ratio, &ground.train, &ground.draws)?;
        for gamma_a in GAMMAS {
            let functions = deformed.solve(Loss::Square, gamma_a)?;
            let scores = deformed.inside(&functions);
            let outside = deformed.outside(&gram.inside, &functions, &gram.outside)?;
            let one = |(k, d): (usize, &Draw)| ground.errors(d, &scores.of[k], &outside.of[k]);
            let errors = ground.draws.iter().enumerate().map(one).collect();
            out.push((Setting { graph, width, gamma_a, ratio }, errors));
        }
    }
    Ok(out)
}

/// The best full solution, and the graphs that few basis functions use.
fn whole(ground: &Ground) -> Result<(Whole, Vec<[usize; 2]>)> {
    let graphs: Vec<[usize; 2]> =
        NEIGHBORS.into_iter().flat_map(|neighbors| POWERS.map(|power| [neighbors, power])).collect();
    let penalties = graphs.iter().map(|&g| ground.penalty(g)).collect::<Result<Vec<_>>>()?;
    let (mut leaders, mut ranks) = (Vec::new(), vec![0.0; graphs.len()]);
    for width in NARROW {
        let gram = ground.gram(width)?;
        let mut plane = KernelSpace::new(&gram.inside, Kernel::Precomputed, None)?;
        for ((&graph, penalty), rank) in graphs.iter().zip(&penalties).zip(&mut ranks) {
            plane.along(penalty);
            let leader = best(full_solutions(ground, &gram, &plane, graph, width)?, |(_, e)| validated(e))?;
            *rank += validated(&leader.1);
            leaders.push(leader);
        }
    }
    let mut order: Vec<usize> = (0..graphs.len()).collect();
    order.sort_by(|&a, &b| ranks[a].total_cmp(&ranks[b]).then(a.cmp(&b)));
    order.truncate(if ground.is_small() { graphs.len() } else { GRAPHS });
    let few = order.iter().map(|&k| graphs[k]).collect();
    Ok((best(leaders, |(_, e)| validated(e))?, few))
}

/// Settings with all weights for few basis functions, with one graph and kernel.
fn settings(graph: [usize; 2], width: f64) -> Vec<Setting> {
    let of = |gamma_a: f64| RATIOS.map(|ratio| Setting { graph, width, gamma_a, ratio });
    GAMMAS.into_iter().flat_map(of).collect()
}

/// A setting for few basis functions, with the number of its graph.
type Tried = (usize, Setting);

/// Each setting with the validation error of its GREEDY.
fn judged(
    set: &Set,
    ground: &Ground,
    penalties: &[Penalty],
    open: &[Tried],
    draws: &[Draw],
) -> Result<Vec<(Tried, f64)>> {
    let mut out = Vec::new();
    for width in WIDE {
        let gram = ground.gram(width)?;
        let stage = Stage::new(set, ground, &gram)?;
        for (g, penalty) in penalties.iter().enumerate() {
            let here: Vec<&Tried> = open.iter().filter(|(on, s)| *on == g && s.width == width).collect();
            if here.is_empty() {
                continue;
            }
            let held = PursuitCache::new(&stage.dictionary, penalty);
            for tried in here {
                out.push((*tried, validated(&stage.pursuits(tried.1, penalty, &held, draws)?)));
            }
        }
    }
    Ok(out)
}

fn scouted(bench: &Bench<'_>, set: &Set, runs: usize) -> Result<Scout> {
    let ground = Ground::new(bench, set, runs)?;
    let ((full, errors), mut graphs) = whole(&ground)?;
    if bench.options.quick {
        graphs.truncate(GRAPHS);
    }
    bench.say(&format!("{}: LapRLS {full:?} {:.4}; graphs {graphs:?}", set.name, mean(&inside(&errors))));
    let penalties = graphs.iter().map(|&g| ground.penalty(g)).collect::<Result<Vec<_>>>()?;
    // as in the source, few functions need wider kernels; try the narrowest only if it is cheap
    let widths = if ground.is_small() { &WIDE[..] } else { &WIDE[1..] };
    let on = |g: usize, width: f64| settings(graphs[g], width).into_iter().map(move |s| (g, s));
    let pairs = widths.iter().flat_map(|&width| (0..graphs.len()).map(move |g| (g, width)));
    let mut open: Vec<Tried> = pairs.flat_map(|(g, width)| on(g, width)).collect();
    if !ground.is_small() {
        let mut first = judged(set, &ground, &penalties, &open, ground.some())?;
        first.sort_by(|a, b| a.1.total_cmp(&b.1));
        open = first.into_iter().take(FINALISTS).map(|(s, _)| s).collect();
    }
    let ((_, greedy), _) =
        best(judged(set, &ground, &penalties, &open, &ground.draws)?, |(_, error)| *error)?;
    bench.say(&format!("{}: GREEDY {greedy:?}", set.name));
    Ok(Scout { full, greedy, graphs, errors: inside(&errors) })
}

fn fixed(set: &Set, ground: &Ground, scout: &Scout) -> Result<LabeledSample> {
    let (gram, penalty) = (ground.gram(scout.full.width)?, ground.penalty(scout.full.graph)?);
    let stage = Stage::new(set, ground, &gram)?;
    let held = PursuitCache::new(&stage.dictionary, &penalty);
    let errors = stage.pursuits(scout.full, &penalty, &held, &ground.draws)?;
    Ok(vec![("LapRLS".into(), scout.errors.clone()), ("GREEDY fixed".into(), inside(&errors))])
}

/// Runs one of the methods of `sparse-lap`.
fn learned(set: &Set, ground: &Ground, method: &str, s: Setting, draw: &Draw) -> Result<Errors> {
    let Kernel::Rbf { gamma } = ground.kernel(s.width) else { return Err(Failure::Unknown(method.into())) };
    let ridge = method == "greedy ridge";
    let [gamma_a, gamma_i] = s.gamma();
    let params = json!({
        "kernel": "rbf", "gamma": gamma, "gamma_a": gamma_a, "gamma_i": gamma_i, "n_landmarks": set.basis,
        "method": if ridge { "greedy" } else { method }, "ridge": ridge, "exchange": 1,
        "n_neighbors": s.graph[0], "power": s.graph[1],
    });
    let problems = ground.train.problems(std::slice::from_ref(draw));
    let model = make("sparse-lap", &params)?.fit(ground.train.x.view(), &problems, &())?.model;
    let (inside, outside) =
        (model.decision(ground.train.x.view())?, model.decision(ground.validation.x.view())?);
    Ok(ground.errors(draw, &inside, &outside))
}

/// Runs the pursuit over seven kernel widths. A model has a single kernel, so the rows are scored here.
fn multi_scale(set: &Set, ground: &Ground, s: Setting, draw: &Draw) -> Result<Errors> {
    let (known, penalty) = (ground.known(draw)?, ground.penalty(s.graph)?);
    let aim = SparseObjective::plain(s.gamma(), &known, Some(&penalty));
    let dictionary = Dictionary::multi_scale(ground.train.x.view(), ground.kernel(s.width))?;
    let norm = Norm::Ridge(1.0);
    let atoms = pursued(Pursuit::new(&aim, &dictionary, norm, CANDIDATES), set.basis);
    let space = Restricted::of(&dictionary, &atoms, norm)?;
    let solved = space.solve(&aim, &())?.ok_or_else(unsolved)?;
    Ok(ground.errors(draw, &space.outputs(&solved.functions[0]), &vec![0.0; ground.validation.class.len()]))
}

fn chosen(set: &Set, ground: &Ground, scout: &Scout) -> Result<LabeledSample> {
    let s = scout.greedy;
    let mut out = Vec::new();
    for name in GROUPS[2] {
        let one = |d: &Draw| match *name {
            "GREEDY multi-scale" => multi_scale(set, ground, s, d),
            name => learned(set, ground, &name.to_lowercase(), s, d),
        };
        let errors = ground.draws.iter().map(one).collect::<Result<Vec<_>>>()?;
        out.push(((*name).to_string(), inside(&errors)));
    }
    Ok(out)
}

/// Smallest validation error of pursuits with all labels.
fn all_labels(set: &Set, ground: &Ground) -> Result<f64> {
    let (full, mut errors) = (ground.full(), Vec::new());
    let known = ground.known(&full)?;
    for width in WIDE {
        let gram = ground.gram(width)?;
        let stage = Stage::new(set, ground, &gram)?;
        for gamma_a in [1e-4, 1e-2, 1.0] {
            errors.push(stage.pursued(&full, &SparseObjective::plain([gamma_a, 0.0], &known, None))?[1]);
        }
    }
    best(errors, |e| *e)
}

/// γ_A of Sigmoid, and grids of its γ_I and of its slope ρ relative to that of the library.
const SOFT: f64 = 1e-6;
const SMOOTH: [f64; 6] = [1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0];
const STEEP: [f64; 3] = [1.0, 2.5, 5.0];

/// Errors of Sigmoid with the slope steep · ρ: with u = steep · v its objective is that of the library.
fn squashed(stage: &Stage<'_>, space: &Restricted<'_>, aim: &Signs<'_>, draw: &Draw) -> Result<Errors> {
    let known = stage.ground.known(draw)?;
    let (gamma_i, steep) = (aim.gamma_i, aim.steep);
    let mut u: Vec<f64> = aim.start.iter().map(|v| steep * v).collect();
    let weight: Vec<f64> = known.weight.iter().map(|w| w / (steep * steep)).collect();
    let y: Vec<f64> = known.y[0].iter().map(|y| steep * y).collect();
    let gamma = [SOFT / (steep * steep), gamma_i];
    newton(&mut Squashed::new(gamma, space, aim.penalty, &weight, &y), &mut u, STATIONARY, &());
    stage.ground.score(draw, stage.gram, &space.model(&[u])?)
}

/// Start, graph, weight and slope of Sigmoid.
struct Signs<'a> {
    start: &'a [f64],
    penalty: &'a Penalty,
    gamma_i: f64,
    steep: f64,
}

/// Runs the basis of the oracle with the settings of GREEDY, and Sigmoid on this basis, started from the function of the oracle.
fn oracles(set: &Set, ground: &Ground, scout: &Scout) -> Result<LabeledSample> {
    let s = scout.greedy;
    let (gram, penalty) = (ground.gram(s.width)?, ground.penalty(s.graph)?);
    let stage = Stage::new(set, ground, &gram)?;
    let all = ground.known(&ground.full())?;
    let aim = SparseObjective::plain([s.gamma_a, 0.0], &all, None);
    let atoms = stage.basis(&aim, None);
    let one = |d: &Draw| {
        stage.fitted(d, &atoms, &SparseObjective::plain(s.gamma(), &ground.known(d)?, Some(&penalty)))
    };
    let plain = ground.draws.iter().map(one).collect::<Result<Vec<_>>>()?;
    let space = Restricted::of(&stage.dictionary, &atoms, Norm::Kernel)?;
    let start = &space.solve(&aim, &())?.ok_or_else(unsolved)?.functions[0];
    let of = |(gamma_i, steep): (f64, f64), draws: &[Draw]| {
        let signs = Signs { start, penalty: &penalty, gamma_i, steep };
        draws.iter().map(|d| squashed(&stage, &space, &signs, d)).collect::<Result<Vec<_>>>()
    };
    let mut tried = Vec::new();
    for signs in SMOOTH.into_iter().flat_map(|i| STEEP.map(|steep| (i, steep))) {
        tried.push((signs, validated(&of(signs, ground.some())?)));
    }
    let (signs, _) = best(tried, |(_, error)| *error)?;
    Ok(vec![
        ("SUP".into(), inside(&plain)),
        ("Sigmoid".into(), inside(&of(signs, &ground.draws)?)),
        ("RLS (n, d_max)".into(), vec![all_labels(set, ground)?]),
    ])
}

/// Runs SLACK on the basis of GREEDY and on its own basis.
fn slackened(set: &Set, ground: &Ground, scout: &Scout) -> Result<LabeledSample> {
    let s = scout.greedy;
    let (gram, penalty) = (ground.gram(s.width)?, ground.penalty(s.graph)?);
    let stage = Stage::new(set, ground, &gram)?;
    let held = PursuitCache::new(&stage.dictionary, &penalty);
    let basis = |d: &Draw| {
        let aim = SparseObjective::plain(s.gamma(), &ground.known(d)?, Some(&penalty));
        Ok(stage.basis(&aim, Some(&held)))
    };
    let bases = ground.draws.iter().map(basis).collect::<Result<Vec<_>>>()?;
    let aim = |d: &Draw, [gamma_i, nu]: [f64; 2]| {
        SparseObjective::slack([FIRM * nu, gamma_i], nu, &ground.known(d)?, &penalty, &())
            .ok_or_else(unsolved)
    };
    let mut tried = Vec::new();
    for weights in FREE.into_iter().flat_map(|gamma_i| FREE.map(|nu| [gamma_i, nu])) {
        let one = |(d, basis): (&Draw, &Vec<Atom>)| stage.fitted(d, basis, &aim(d, weights)?);
        let errors = ground.draws.iter().zip(&bases).map(one).collect::<Result<Vec<_>>>()?;
        tried.push((weights, errors));
    }
    let (weights, fitted) = best(tried, |(_, e)| validated(e))?;
    let own = ground.draws.iter().map(|d| stage.pursued(d, &aim(d, weights)?)).collect::<Result<Vec<_>>>()?;
    Ok(vec![("SLACK".into(), inside(&fitted)), ("GREEDY+SLACK".into(), inside(&own))])
}

/// Runs graph transduction, then a pursuit of the resulting function.
fn decoupled(set: &Set, ground: &Ground, scout: &Scout) -> Result<LabeledSample> {
    let mut fields = Vec::new();
    for &graph in &scout.graphs {
        let penalty = ground.penalty(graph)?;
        for gamma_i in FREE {
            let one = |d: &Draw| transduce(gamma_i, &ground.known(d)?, &penalty, &()).ok_or_else(unsolved);
            fields.push(ground.draws.iter().map(one).collect::<Result<Vec<_>>>()?);
        }
    }
    let of = |stage: &Stage<'_>, gamma_a: f64, fields: &[Vec<Vec<f64>>], draws: &[Draw]| {
        let one = |(d, field): (&Draw, &Vec<Vec<f64>>)| {
            stage.pursued(d, &SparseObjective::decoupled(gamma_a, field.clone()))
        };
        draws.iter().zip(fields).map(one).collect::<Result<Vec<Errors>>>()
    };
    let mut tried = Vec::new();
    for width in WIDE {
        let gram = ground.gram(width)?;
        let stage = Stage::new(set, ground, &gram)?;
        for fields in &fields {
            for gamma_a in GAMMAS {
                let error = validated(&of(&stage, gamma_a, fields, ground.some())?);
                tried.push((width, gamma_a, fields, error));
            }
        }
    }
    let (width, gamma_a, fields, _) = best(tried, |(.., error)| *error)?;
    let gram = ground.gram(width)?;
    let errors = of(&Stage::new(set, ground, &gram)?, gamma_a, fields, &ground.draws)?;
    Ok(vec![("decoupled".into(), inside(&errors))])
}

/// Number of draws: twice as many as in the source, because errors differ by five points between draws, and more for two moons, where
/// they depend on the position of two labels. Settings are chosen on all draws (`decoupled` and Sigmoid with many rows: on the first
/// three).
fn runs(bench: &Bench<'_>, set: &Set) -> usize {
    repetitions(bench, if set.name == "2moons" { 100 } else { 20 })
}

fn group(bench: &Bench<'_>, set: &Set, group: usize, scout: Option<&Scout>) -> Result<LabeledSample> {
    let ground = Ground::new(bench, set, runs(bench, set))?;
    match (group, scout) {
        (0, _) => supervised(&ground),
        (1, Some(scout)) => fixed(set, &ground, scout),
        (2, Some(scout)) => chosen(set, &ground, scout),
        (3, Some(scout)) => oracles(set, &ground, scout),
        (4, Some(scout)) => slackened(set, &ground, scout),
        (_, Some(scout)) => decoupled(set, &ground, scout),
        (_, None) => Err(Failure::Content("a method has no settings".into())),
    }
}

/// Results of the methods of a table.
fn table(bench: &Bench<'_>, methods: &[&str]) -> Result<Findings> {
    let wanted = |g: &usize| GROUPS[*g].iter().any(|m| methods.contains(m) && asked_method(bench, m));
    let groups: Vec<usize> = (0..GROUPS.len()).filter(wanted).collect();
    if groups.is_empty() {
        return Ok(Findings::default());
    }
    let sets: Vec<&Set> =
        SETS.iter().filter(|s| asked(bench, s.name) && !(bench.options.quick && s.train > 500)).collect();
    let key = |what: &str, set: &Set| {
        let quick = if bench.options.quick { " quick" } else { "" };
        format!("sindhwani 5 {what} {} {} {}{quick}", set.name, bench.options.seed, runs(bench, set))
    };
    let scout = |set: &&Set| {
        let settings = || bench.cached(&key("settings", set), || scouted(bench, set, runs(bench, set)));
        if groups == [0] { Ok(None) } else { settings().map(Some) }
    };
    let mut found = Findings::default();
    let mut items = Vec::new();
    for (set, scout) in sets.iter().zip(bench.each(&sets, scout)) {
        match scout {
            Err(missing @ Failure::Missing { .. }) => found.missing(set.name, &missing.to_string()),
            scout => {
                let scout = Arc::new(scout?);
                items.extend(groups.iter().map(|g| (*set, Arc::clone(&scout), *g)));
            }
        }
    }
    let work = |(set, scout, g): &(&Set, Arc<Option<Scout>>, usize)| {
        bench.cached(&key(&g.to_string(), set), || group(bench, set, *g, scout.as_ref().as_ref()))
    };
    for ((set, ..), result) in items.iter().zip(bench.each(&items, work)) {
        match result {
            Err(missing @ Failure::Missing { .. }) => found.missing(set.name, &missing.to_string()),
            result => result?.into_iter().for_each(|(method, runs)| {
                bench.say(&format!("{}: {method} {:.3}", set.name, mean(&runs)));
                found.add(set.name, &method, "error", runs);
            }),
        }
    }
    Ok(found)
}

/// Table 5.2.
pub(crate) fn greedy(bench: &Bench<'_>) -> Result<Findings> {
    table(bench, &["LapRLS", "GREEDY fixed", "GREEDY", "RLS (l)", "RLS (n, d_max)", "RLS (n)"])
}

/// Table 5.3.
pub(crate) fn choices(bench: &Bench<'_>) -> Result<Findings> {
    let pursuits = GROUPS[2].iter().copied();
    table(bench, &["RLS (l)", "RLS (n)", "SUP"].into_iter().chain(pursuits).collect::<Vec<_>>())
}

/// Table 5.4.
pub(crate) fn oracle(bench: &Bench<'_>) -> Result<Findings> {
    table(bench, &["SUP", "Sigmoid"])
}

/// Table 5.5.
pub(crate) fn slack(bench: &Bench<'_>) -> Result<Findings> {
    table(bench, &["GREEDY", "SLACK", "GREEDY+SLACK", "LapRLS", "decoupled"])
}
