//! `evermargin tune`: cross-validation over a grid of the cost (or the parameter with its role), the kernel width, and any
//! other parameters. Rows without a label take part in training and are never scored.

use crate::args::help::examples;
use crate::args::semi::UnlabeledArgs;
use crate::args::values::{Grid, six_digits};
use crate::args::{Common, DataArgs, HideArgs, LearnArgs};
use crate::commands::fit::default_model;
use crate::failure::Failure;
use crate::input;
use crate::input::views::{self, ViewArgs};
use crate::output::console::{self, count, exact, quoted, short};
use crate::output::files::Files;
use crate::output::heatmap::{self, Heatmap};
use crate::output::progress::Watcher;
use evermargin::Labels;
use evermargin::estimators::EstimatorSpec;
use evermargin::model::MulticlassScheme;
use evermargin::params::ParamSpec;
use evermargin::pipeline::cross_validation::{PathTask, stratified_folds};
use evermargin::pipeline::preprocess::{Prepared, prepare};
use evermargin::pipeline::train::{Gamma, TrainOptions, along_warped_path, fit_prepared};
use evermargin_io::artifacts::model;
use evermargin_io::write_atomic;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Instant;

/// Search for good parameters by cross-validation
#[derive(Debug, clap::Args)]
#[command(after_help = examples(
    "The highest mean accuracy wins; among equals the point with the best neighbors in the grid, then the smaller C, then \
     the smaller gamma.",
    &["evermargin generate two-moons -o moons.csv"],
    [
        ("Search C and gamma, and train the winner on all rows", "evermargin tune moons.csv --c 0.1..100 --gamma 0.1,1,10 --grid 4 -o moons.evm"),
        ("Search other parameters of a learner", "evermargin tune moons.csv --learner linear --over c=0.1,1,10 --folds 3"),
    ],
))]
pub struct TuneArgs {
    /// Data with labels, in any format of `fit`; - is standard input
    pub data: PathBuf,
    /// Values of C: FROM..TO (evenly spaced on a log scale) or A,B,… [default: 0.1..1000]
    #[arg(long, value_name = "GRID", value_parser = crate::args::values::grid, help_heading = "Search")]
    pub c: Option<Grid>,
    /// Values of gamma, in the same form [default: 1/64 to 64 times that of `fit --gamma scale`]
    #[arg(long, value_name = "GRID", value_parser = crate::args::values::grid, help_heading = "Search")]
    pub gamma: Option<Grid>,
    /// Values of another parameter of the learner (repeatable)
    ///
    /// Without this option, learners without C are tuned over gamma_i or lambda.
    #[arg(long, value_name = "NAME=GRID", value_parser = crate::args::values::axis, help_heading = "Search")]
    pub over: Vec<(String, Grid)>,
    /// Number of values per range FROM..TO
    #[arg(long, value_name = "N", default_value_t = 7, help_heading = "Search", value_parser = crate::args::values::whole::<usize>(1, 100))]
    pub grid: usize,
    /// Number of cross-validation folds, stratified by class
    #[arg(long, value_name = "K", default_value_t = 5, help_heading = "Search", value_parser = crate::args::values::whole::<usize>(2, u64::MAX))]
    pub folds: usize,
    /// Draw a heat map of the accuracies: an .svg or .html file
    #[arg(long, value_name = "FILE", help_heading = "Search")]
    pub plot: Option<PathBuf>,
    /// Train with the best parameters on all rows and write the model to this file [default: print the command]
    #[arg(long, short, value_name = "MODEL")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub learn: LearnArgs,
    #[command(flatten)]
    pub unlabeled: UnlabeledArgs,
    #[command(flatten)]
    pub views: ViewArgs,
    #[command(flatten)]
    pub input: DataArgs,
    #[command(flatten)]
    pub hide: HideArgs,
}

/// One point of the grid.
#[derive(Debug, Clone, Copy)]
struct Point {
    /// Value of the parameter that varies along a path.
    cost: f64,
    gamma: Option<f64>,
    /// Index of the combination of the other parameters.
    other: usize,
    accuracy: f64,
    error: f64,
}

/// Maximum number of points of a grid.
const MAX_POINTS: f64 = 1e5;

/// The grid.
#[derive(Debug)]
struct Search {
    /// The parameter that varies along a path, and its values.
    name: String,
    costs: Vec<f64>,
    gammas: Vec<Option<f64>>,
    /// All combinations of values of the other parameters.
    others: Vec<Vec<(String, f64)>>,
    /// Names of the searched parameters that are whole numbers.
    integers: Vec<String>,
}

impl Search {
    /// The searched parameters except gamma.
    fn new(args: &TuneArgs, learner: &EstimatorSpec) -> Result<Self, Failure> {
        let mut axes: Vec<(String, Vec<f64>)> = Vec::new();
        for (name, grid) in
            args.c.iter().map(|c| ("c".to_string(), c)).chain(args.over.iter().map(|(n, g)| (n.clone(), g)))
        {
            let ratio = name == "ratio" && args.unlabeled.ratio.is_some();
            if name == "gamma" && args.gamma.is_none() && learner.takes("gamma") {
                continue; // the same as --gamma
            }
            if ratio || name == "gamma" || axes.iter().any(|(n, _)| *n == name) {
                return Err(Failure::Usage(format!(
                    "--over {name}: given twice, or also a flag; use --{name}"
                )));
            }
            if !learner.takes(&name) {
                let names: Vec<&str> = learner.params.iter().map(|p| p.name).collect();
                return Err(Failure::Usage(format!(
                    "learner {} has no parameter {name}; it has {}",
                    learner.name,
                    names.join(", ")
                )));
            }
            let values = numbers(learner.param(&name).map_err(Failure::usage)?, grid, args.grid)?;
            axes.push((name, values));
        }
        let own = learner.path.map_or(&[][..], |(names, _)| names);
        let first = learner.first_to_tune().filter(|(name, _)| axes.is_empty() || *name == "c");
        if let Some((name, [from, to])) = first.filter(|(name, _)| !axes.iter().any(|(n, _)| n == name)) {
            axes.insert(0, (name.into(), Grid::Range(from, to).values(args.grid)));
        }
        let along = axes.iter().position(|(n, _)| own.contains(&n.as_str())).unwrap_or(0);
        if axes.is_empty() {
            return Err(Failure::Usage(format!(
                "learner {} has neither c, gamma_i nor lambda; name the parameter to tune with --over NAME=GRID",
                learner.name
            )));
        }
        let points: f64 = axes.iter().map(|(_, values)| values.len() as f64).product();
        if points > MAX_POINTS {
            return Err(Failure::Usage(format!(
                "the grid has {points} points; at most {MAX_POINTS} are allowed"
            )));
        }
        let integer = |name: &str| learner.param(name).is_ok_and(|p| p.kind.is_integer());
        let integers = axes.iter().map(|(name, _)| name.clone()).filter(|name| integer(name)).collect();
        let (name, costs) = axes.remove(along);
        let mut others = vec![Vec::new()];
        for (name, values) in axes {
            others = others
                .iter()
                .flat_map(|o: &Vec<(String, f64)>| {
                    values.iter().map(|v| o.iter().cloned().chain([(name.clone(), *v)]).collect::<Vec<_>>())
                })
                .collect();
        }
        Ok(Self { name, costs, gammas: vec![None], others, integers })
    }

    /// Refuses a parameter that is both searched and given a single value.
    fn refuse_fixed(&self, args: &TuneArgs, options: &TrainOptions) -> Result<(), Failure> {
        let others = self.others.first().into_iter().flatten().map(|(name, _)| name);
        let fixed = |name: &&String| options.params.contains_key(*name);
        let gamma = (args.gamma().is_some() && options.gamma.is_some()).then(|| "gamma".to_string());
        match std::iter::once(&self.name).chain(others).find(fixed).cloned().or(gamma) {
            None => Ok(()),
            Some(name) => Err(Failure::Usage(format!(
                "parameter {name} is given twice: as one value and as values to try; for one value, use --over {name}=VALUE alone"
            ))),
        }
    }

    fn len(&self) -> usize {
        self.costs.len() * self.gammas.len() * self.others.len()
    }

    /// Printed name of the parameter that varies along a path.
    fn title(&self) -> &str {
        if self.name == "c" { "C" } else { &self.name }
    }

    /// All parameters of a point except gamma.
    fn chosen(&self, p: &Point) -> Vec<(String, f64)> {
        std::iter::once((self.name.clone(), p.cost)).chain(self.others[p.other].iter().cloned()).collect()
    }

    fn described(&self, p: &Point) -> Value {
        let mut out = serde_json::Map::new();
        let number = |name: &str, v: f64| {
            if self.integers.iter().any(|n| n == name) { json!(v as i64) } else { json!(v) }
        };
        out.extend(self.chosen(p).into_iter().map(|(name, v)| (name.clone(), number(&name, v))));
        out.insert("gamma".into(), p.gamma.into());
        out.insert("accuracy".into(), p.accuracy.into());
        out.insert("standard_error".into(), p.error.into());
        out.into()
    }
}

/// Runs the command.
pub fn run(args: &TuneArgs, common: &Common, started: Instant) -> Result<(), Failure> {
    let (learner, mut options) = args.learn.options(common)?;
    if learner.one_class {
        return Err(Failure::Usage(format!(
            "--learner {}: it learns from one class, and tune compares accuracies on held-out rows of two classes; choose nu, the \
             share of rows outside, and score rows with known labels with predict",
            learner.name
        )));
    }
    args.unlabeled.apply(learner, &mut options)?;
    args.views.check(learner)?;
    options.compare = false; // no comparison is printed
    let mut search = Search::new(args, learner)?;
    search.refuse_fixed(args, &options)?;
    if let Some(plot) = &args.plot {
        heatmap::check_name(plot)?;
    }
    Files::default()
        .reads(&args.data)
        .reads_all(&args.views.view)
        .reads_data(&args.input, Some(&args.hide))
        .reads(args.learn.weights.as_ref())
        .reads(args.unlabeled.graph.as_ref())
        .writes("--output", args.output.as_ref())
        .writes("--plot", args.plot.as_ref())
        .check()?;
    let source = views::load(&args.data, &args.views, &args.input, Some(&args.hide), Vec::new())?;
    options.weights = source.weights(args.learn.weights.as_deref())?;
    let mut data = source.data;
    views::number_views(&mut options, &data, &args.data)?;
    args.unlabeled.read_graph(data.x.rows(), &mut options)?;
    let precomputed = options.kernel(learner).as_deref() == Some("precomputed");
    if precomputed {
        input::drop_serial(&mut data)?;
    }
    console::note(common, &data.notes);
    let (rows, features, input_spec) = (data.x.rows(), data.x.cols(), data.input_spec());
    let mut prepared =
        prepare(data.x, &data.labels, learner, &options).map_err(|e| Failure::about(&args.data, e))?;
    console::note(common, &std::mem::take(&mut prepared.notes));
    search.gammas = gammas(args, learner, &options, &prepared)?;
    let folds = stratified_folds(&prepared.labels, args.folds, common.seed)
        .map_err(|e| Failure::about(&args.data, e))?;

    let watch = Watcher::start(common, args.learn.max_seconds)?;
    watch.bar(search.len() as u64);
    let searching = Instant::now();
    let mut points = Vec::new();
    'all: for (other, values) in search.others.iter().enumerate() {
        for &gamma in &search.gammas {
            let mut params = options.params.clone();
            if learner.takes("seed") {
                params.entry("seed".into()).or_insert_with(|| common.seed.into());
            }
            params.extend(values.iter().map(|(name, v)| (name.clone(), (*v).into())));
            params.extend(gamma.map(|g| ("gamma".to_string(), g.into())));
            let task = PathTask {
                params: &params,
                name: &search.name,
                values: &search.costs,
                x: prepared.x.view(),
                problems: &prepared.problems,
                folds: &folds,
                graph: options.graph.as_ref(),
            };
            let decisions = along_warped_path(learner, &task, &options, &watch)?;
            for (&cost, decision) in search.costs.iter().zip(&decisions) {
                let (accuracy, error) =
                    score(decision, &prepared.labels, prepared.scheme, &folds, args.folds);
                points.push(Point { cost, gamma, other, accuracy, error });
            }
            watch.advance(decisions.len() as u64, String::new());
            if watch.stopped() {
                break 'all;
            }
        }
    }
    let seconds = searching.elapsed().as_secs_f64();
    watch.finish();
    let Some(best) = best_of_all(&points, &search) else {
        return Err(Failure::Failed("stopped before any parameters were tried; allow more time".into()));
    };
    let interrupted = points.len() < search.len();
    if interrupted {
        console::note(common, &[format!("interrupted after {} of {} points", points.len(), search.len())]);
    }

    options.params.extend(search.chosen(&best).into_iter().map(|(name, v)| (name, v.into())));
    options.gamma = best.gamma.map(Gamma::Value);
    let written: Vec<String> = std::env::args().collect();
    let command = command(&written, args, &search, &best, prepared.scaling.name());
    let map = Heatmap {
        title: format!("{}: {}-fold accuracy of {}", args.data.display(), args.folds, learner.name),
        name: search.title().into(),
        costs: search.costs.clone(),
        gammas: search.gammas.clone(),
        cells: points
            .iter()
            .filter(|p| p.other == best.other)
            .map(|p| (p.cost, p.gamma, p.accuracy))
            .collect(),
        best: (best.cost, best.gamma),
    };
    if let Some(plot) = &args.plot {
        write_atomic(plot, map.render(plot).as_bytes())?;
    }
    let text = report(args, &map, &search, &best, &command, points.len(), seconds);
    let json = json!({
        "learner": learner.name,
        "kernel": options.kernel(learner).unwrap_or_else(|| "linear".into()),
        "rows": rows,
        "features": features,
        "labeled": prepared.labels.labeled(),
        "classes": prepared.labels.classes.len(),
        "folds": args.folds,
        "scaling": prepared.scaling.name(),
        "best": search.described(&best),
        "grid": points.iter().map(|p| search.described(p)).collect::<Vec<_>>(),
        "exit": if interrupted { "interrupted" } else { "converged" },
        "command": command,
        "plot": args.plot.as_ref().map(|p| p.display().to_string()),
        "model": args.output.as_ref().map(|p| p.display().to_string()),
        "threads": rayon::current_num_threads(),
        "seconds": seconds,
        "total_seconds": Value::Null,
    });
    if let Some(output) = &args.output {
        let mut trained = fit_prepared(prepared, learner, &options, &Watcher::again(common))?;
        trained.classifier.set_input(input_spec);
        write_atomic(output, &model::to_bytes(&trained.classifier)?)?;
    }
    let mut json = json;
    json["total_seconds"] = started.elapsed().as_secs_f64().into();
    console::answer(common, &json, &text)
}

/// The values to try for a parameter, checked against its range.
fn numbers(param: &ParamSpec, grid: &Grid, points: usize) -> Result<Vec<f64>, Failure> {
    if !param.kind.is_numeric() {
        return Err(Failure::Usage(format!(
            "--over {}: not a number, so there is no grid; must be {}",
            param.name, param.kind
        )));
    }
    let mut values = grid.values(points);
    if param.kind.is_integer() && matches!(grid, Grid::Range(..)) {
        values.iter_mut().for_each(|v| *v = v.round());
        values.dedup();
    }
    values.iter().try_for_each(|v| param.accept(&(*v).into()).map(|_| ()))?;
    Ok(values)
}

impl TuneArgs {
    /// The requested values of gamma.
    fn gamma(&self) -> Option<&Grid> {
        self.gamma.as_ref().or_else(|| self.over.iter().find(|(name, _)| name == "gamma").map(|(_, g)| g))
    }
}

/// The values of gamma; a single `None` if there is no gamma.
fn gammas(
    args: &TuneArgs,
    learner: &EstimatorSpec,
    options: &TrainOptions,
    prepared: &Prepared,
) -> Result<Vec<Option<f64>>, Failure> {
    let kernel = options.kernel(learner);
    if !matches!(kernel.as_deref(), Some("rbf" | "poly" | "sigmoid")) {
        return match args.gamma() {
            None => Ok(vec![None]),
            Some(_) => Err(Failure::Usage(format!(
                "--gamma: {} has no gamma; leave the option out",
                kernel.map_or_else(|| format!("learner {}", learner.name), |k| format!("the {k} kernel"))
            ))),
        };
    }
    let grid = match (args.gamma(), options.gamma) {
        (Some(grid), _) => grid.clone(),
        (None, Some(gamma)) => Grid::List(vec![prepared.gamma(gamma)]),
        (None, None) if learner.uses_unlabeled => Grid::List(vec![prepared.gamma(Gamma::Scale)]),
        (None, None) => {
            let scale = prepared.gamma(Gamma::Scale);
            Grid::Range(six_digits(scale / 64.0), six_digits(scale * 64.0))
        }
    };
    Ok(grid.values(args.grid).into_iter().map(Some).collect())
}

/// Mean over folds of the accuracy, and its standard error.
fn score(
    decision: &[f64],
    labels: &Labels,
    scheme: MulticlassScheme,
    folds: &[Option<u32>],
    k: usize,
) -> (f64, f64) {
    let classes = labels.classes.len();
    let outputs = decision.len() / labels.of.len();
    let (mut right, mut all) = (vec![0.0; k], vec![0.0; k]);
    for ((f, class), fold) in decision.chunks(outputs).zip(&labels.of).zip(folds) {
        if let (Some(class), Some(fold)) = (class, fold) {
            all[*fold as usize] += 1.0;
            right[*fold as usize] += f64::from(u8::from(scheme.vote(classes, f) == *class));
        }
    }
    let rates: Vec<f64> = right.iter().zip(&all).filter(|(_, n)| **n > 0.0).map(|(r, n)| r / n).collect();
    let n = rates.len() as f64;
    let mean = rates.iter().sum::<f64>() / n;
    let variance = rates.iter().map(|r| (r - mean) * (r - mean)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

/// The best point over all combinations of the other parameters; the first of equals.
fn best_of_all(points: &[Point], search: &Search) -> Option<Point> {
    let each = points.chunk_by(|a, b| a.other == b.other).filter_map(|part| best(part, search.costs.len()));
    each.reduce(|a, b| if b.accuracy > a.accuracy + 1e-12 { b } else { a })
}

/// The point with the highest accuracy; among equals the one whose neighbors in the grid are best (the middle of a plateau
/// rather than its edge), then the smaller cost, then the smaller gamma. `points` are ordered by gamma, with `width` costs
/// per gamma.
fn best(points: &[Point], width: usize) -> Option<Point> {
    let near = |i: usize| {
        let (row, column) = (i / width, i % width);
        let around = (0..points.len())
            .filter(|&j| j != i && (j / width).abs_diff(row) <= 1 && (j % width).abs_diff(column) <= 1);
        let (sum, n) = around.fold((0.0, 0.0), |(sum, n), j| (sum + points[j].accuracy, n + 1.0));
        if n > 0.0 { sum / n } else { 0.0 }
    };
    let equal = |a: f64, b: f64| (a - b).abs() < 1e-12;
    let top = points.iter().map(|p| p.accuracy).fold(f64::NEG_INFINITY, f64::max);
    let tied = (0..points.len()).filter(|&i| equal(points[i].accuracy, top)).map(|i| (points[i], near(i)));
    let won = tied.reduce(|a, b| {
        let smaller = (b.0.cost, b.0.gamma.unwrap_or(0.0)) < (a.0.cost, a.0.gamma.unwrap_or(0.0));
        if (equal(a.1, b.1) && smaller) || (!equal(a.1, b.1) && b.1 > a.1) { b } else { a }
    });
    won.map(|(point, _)| point)
}

/// The command that trains with the best parameters: the command line without the options of the search.
fn command(written: &[String], args: &TuneArgs, search: &Search, best: &Point, scaling: &str) -> String {
    const SEARCH: [&str; 10] = [
        "--c",
        "--over",
        "--gamma",
        "--grid",
        "--folds",
        "--plot",
        "--output",
        "-o",
        "--scale",
        "--max-seconds",
    ];
    let mut out = String::from("evermargin fit");
    let verb = written.iter().position(|w| w == "tune").unwrap_or(0);
    let mut before = written[..verb].iter();
    while let Some(word) = before.next() {
        if word.starts_with("--seed=") {
            let _ = write!(out, " {word}");
        } else if word == "--seed" {
            let _ = write!(out, " --seed {}", before.next().map_or("", String::as_str));
        }
    }
    let mut words = written.iter().skip(verb + 1);
    while let Some(word) = words.next() {
        let name = word.split_once('=').map_or(word.as_str(), |(name, _)| name);
        if SEARCH.contains(&name) {
            if name == word {
                words.next();
            }
        } else if name == "--set" {
            // gamma is appended below as a number.
            let assigned = word.split_once('=').map(|(_, a)| a).or_else(|| words.next().map(String::as_str));
            if let Some(assigned) = assigned.filter(|a| a.split('=').next().map(str::trim) != Some("gamma")) {
                let _ = write!(out, " --set {}", quoted(assigned.as_ref()));
            }
        } else if !(["--json", "--quiet", "-q"].contains(&name) || word.starts_with("-o")) {
            let _ = write!(out, " {}", quoted(word.as_ref()));
        }
    }
    for (name, value) in search.chosen(best) {
        let flag = if name == "c" { "--c ".into() } else { format!("--set {name}=") };
        let _ = write!(out, " {flag}{}", exact(value));
    }
    if let Some(gamma) = best.gamma {
        let _ = write!(out, " --gamma {}", exact(gamma));
    }
    let model = args.output.clone().unwrap_or_else(|| default_model(&args.data));
    let _ = write!(out, " --scale {scaling} -o {}", quoted(&model));
    out
}

fn report(
    args: &TuneArgs,
    map: &Heatmap,
    search: &Search,
    best: &Point,
    command: &str,
    tried: usize,
    seconds: f64,
) -> String {
    let mut out = map.table();
    let _ = write!(out, "\nbest: {} {}", search.title(), short(best.cost));
    for (name, value) in &search.others[best.other] {
        let _ = write!(out, ", {name} {}", short(*value));
    }
    if let Some(gamma) = best.gamma {
        let _ = write!(out, ", gamma {}", short(gamma));
    }
    let _ = write!(
        out,
        ": accuracy {} ± {} (mean and standard error of {} folds)\n{} in {} s",
        short(best.accuracy),
        short(best.error),
        args.folds,
        count(tried, "point"),
        short(seconds)
    );
    match &args.plot {
        Some(plot) => {
            let _ = write!(out, "\nplot: {}", plot.display());
        }
        None => out.push_str("; add --plot tune.svg for a picture"),
    }
    match &args.output {
        Some(model) => {
            let _ = write!(out, "\nmodel: {}\nthe same by hand: {command}", model.display());
        }
        None => {
            let _ = write!(out, "\nnext: {command}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_are_won_by_the_middle_of_a_plateau() {
        let accuracies = [
            [0.9, 0.5, 0.5, 0.5, 0.5],
            [0.5, 0.5, 0.9, 0.9, 0.9],
            [0.5, 0.5, 0.9, 0.9, 0.9],
            [0.5, 0.5, 0.9, 0.9, 0.9],
            [0.5, 0.5, 0.5, 0.5, 0.5],
        ];
        let points: Vec<Point> = (0..25)
            .map(|i| Point {
                cost: (i % 5) as f64,
                gamma: Some((i / 5) as f64),
                other: 0,
                accuracy: accuracies[i / 5][i % 5],
                error: 0.0,
            })
            .collect();
        let found = best(&points, 5).unwrap();
        assert_eq!((found.cost, found.gamma), (3.0, Some(2.0)));
    }

    #[test]
    fn ties_are_won_by_the_smaller_cost_then_the_smaller_gamma() {
        let point =
            |cost, gamma, accuracy| Point { cost, gamma: Some(gamma), other: 0, accuracy, error: 0.0 };
        let points =
            [point(1.0, 1.0, 0.9), point(10.0, 1.0, 0.9), point(1.0, 2.0, 0.9), point(10.0, 2.0, 0.9)];
        let found = best(&points, 2).unwrap();
        assert_eq!((found.cost, found.gamma), (1.0, Some(1.0)));
        assert!(best(&[], 1).is_none());
    }

    #[test]
    fn the_standard_error_is_that_of_the_mean_of_folds() {
        let labels = Labels::from_tokens(["a", "b", "a", "b"].into_iter().map(Some));
        let folds = [Some(0), Some(0), Some(1), Some(1)];
        let (mean, error) = score(&[-1.0, 1.0, 1.0, 1.0], &labels, MulticlassScheme::Binary, &folds, 2);
        assert_eq!(mean, 0.75);
        assert!((error - 0.25).abs() < 1e-12);
    }
}
