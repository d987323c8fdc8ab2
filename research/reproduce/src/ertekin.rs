//! Statements of Ertekin (2009) about figures and about several cells at once.

use crate::failure::{Failure, Result};
use crate::findings::{Findings, Series};
use crate::judge::Verdict;
use crate::methods::{Method, Outcome, ProtocolChoices, Task, run, score};
use crate::online;
use crate::run::{Bench, LARGE, Options, seed_of};
use crate::stream::curves::figure;
use crate::tables::{self, Row};
use evermargin::Kernel;
use evermargin::active::{StopRule, Strategy};
use evermargin::estimators::online::lasvm::LasvmParams;
use evermargin::estimators::supervised::svc::SvcParams;
use evermargin::estimators::{Fit, Targets};
use serde::{Deserialize, Serialize};

fn row(table: &str, name: &str) -> Result<Row> {
    let found = tables::find(table)?.rows.into_iter().find(|r| r.name == name);
    found.ok_or_else(|| Failure::Unknown(format!("table {table} has no data set {name}")))
}

/// Runs of some methods on some rows, by row and method. A row that cannot be run is `None`, and the reason is added to
/// `found`.
fn runs(
    bench: &Bench<'_>,
    rows: &[Row],
    methods: &[Method],
    found: &mut Findings,
) -> Vec<Option<Vec<Vec<Outcome>>>> {
    let pieces: Vec<(&Row, Method)> =
        rows.iter().flat_map(|row| methods.iter().map(move |method| (row, *method))).collect();
    let done = bench.each(&pieces, |(row, method)| bench.runs(row, *method));
    let whole = |(row, runs): (&Row, &[crate::run::Runs])| {
        let mut all = Vec::new();
        for runs in runs {
            match runs {
                Ok(outcomes) => all.push(outcomes.clone()),
                Err(why) => {
                    add_failure(found, &row.name, why);
                    return None;
                }
            }
        }
        Some(all)
    };
    rows.iter().zip(done.chunks(methods.len())).map(whole).collect()
}

fn add_failure(found: &mut Findings, row: &str, (verdict, why): &(Verdict, String)) {
    match verdict {
        Verdict::Missing => found.missing(row, why),
        _ => found.left_out(row, "", why),
    }
}

fn values(outcomes: &[Outcome], metric: &str) -> Vec<f64> {
    outcomes.iter().filter_map(|o| o.get(metric)).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Adult: one pass of LASVM against the exact solution.
pub(crate) fn one_pass(bench: &Bench<'_>) -> Result<Findings> {
    let mut found = Findings::default();
    let rows = [row("ertekin-3.2", "Adult")?];
    let done = runs(bench, &rows, &[Method::Libsvm, Method::Lasvm], &mut found);
    for (row, runs) in rows.iter().zip(done.iter().flatten()) {
        let exact = |metric: &str| mean(&values(&runs[0], metric));
        let share = |metric: &str| values(&runs[1], metric).iter().map(|v| v / exact(metric)).collect();
        let behind = values(&runs[1], "error").iter().map(|e| e - exact("error")).collect();
        found.add(&row.name, "LASVM", "behind", behind);
        found.add(&row.name, "LASVM", "kernel_share", share("kernel_evaluations"));
        found.add(&row.name, "LASVM", "support_share", share("support_count"));
    }
    Ok(found)
}

/// Noisy labels: LASVM-NC and LASVM-I against the exact solution.
pub(crate) fn sparse(bench: &Bench<'_>) -> Result<Findings> {
    let mut found = Findings::default();
    let rows = [row("ertekin-6.3", "Adult")?, row("ertekin-6.3", "USPS+N")?, row("ertekin-6.3", "Banana")?];
    let methods = [Method::Libsvm, Method::LasvmNc, Method::LasvmI];
    let done = runs(bench, &rows, &methods, &mut found);
    for (row, runs) in rows.iter().zip(&done) {
        let Some(runs) = runs else { continue };
        for (method, outcomes) in methods.iter().zip(runs).skip(1) {
            let exact = |metric: &str| mean(&values(&runs[0], metric));
            let share =
                values(outcomes, "support_count").iter().map(|v| v / exact("support_count")).collect();
            let over = values(outcomes, "accuracy").iter().map(|v| v - exact("accuracy")).collect();
            found.add(&row.name, method.name(), "support_share", share);
            found.add(&row.name, method.name(), "over_exact", over);
        }
    }
    Ok(found)
}

/// Values of s, the end of the ramp, that are compared.
const ENDS: [f64; 9] = [0.5, 0.0, -0.5, -0.75, -1.0, -1.1, -1.25, -1.5, -2.0];

/// Learners for which the values of s are compared.
const RAMPS: [(&str, Method, Option<bool>); 3] = [
    ("LASVM-NC", Method::LasvmNc, None),
    ("LASVM-NC not finished", Method::LasvmNc, Some(false)),
    ("LASVM-I", Method::LasvmI, None),
];

/// Figure 6.5: a sweep of s on fixed samples.
pub(crate) fn ramp_end(bench: &Bench<'_>) -> Result<Findings> {
    let options = bench.options;
    let mut pieces = Vec::new();
    let wanted = |name: &&str| {
        options.data_sets.is_empty() || options.data_sets.iter().any(|s| s.eq_ignore_ascii_case(name))
    };
    let mut found = Findings::default();
    let mut rows = Vec::new();
    for name in ["Banana", "USPS+N", "Adult"].into_iter().filter(wanted) {
        let row = row("ertekin-6.3", name)?;
        let large = row.protocol.train > LARGE;
        if large && !options.slow {
            found.left_out(name, "", "takes minutes: left out without --slow");
            continue;
        }
        let usual = if options.quick || large { 1 } else { 5 };
        rows.push((row, options.repetitions.unwrap_or(usual).max(1)));
    }
    for (row, repetitions) in &rows {
        for repetition in 0..*repetitions {
            pieces.extend((0..RAMPS.len()).map(|way| (row, repetition, way)));
        }
    }
    let done = bench.each(&pieces, |(row, repetition, way)| -> Result<Vec<[f64; 2]>> {
        let key = format!(
            "ramp end {} {:?} {repetition} {} {:?} {:?}",
            row.data_set, row.protocol, options.seed, RAMPS[*way], options.open
        );
        bench.cached(&key, || swept(bench, row, *repetition, *way))
    });
    let mut done = done.into_iter();
    for (row, repetitions) in &rows {
        let sweeps: Vec<Result<Vec<[f64; 2]>>> = done.by_ref().take(repetitions * RAMPS.len()).collect();
        match sweeps.into_iter().collect::<Result<Vec<_>>>() {
            Ok(sweeps) => record_ramp_ends(&row.name, &sweeps, &mut found),
            Err(missing @ Failure::Missing { .. }) => found.missing(&row.name, &missing.to_string()),
            Err(failure) => return Err(failure),
        }
    }
    Ok(found)
}

/// Accuracy and number of support vectors for each s.
fn swept(bench: &Bench<'_>, row: &Row, repetition: usize, way: usize) -> Result<Vec<[f64; 2]>> {
    let mut task = bench.task(row, repetition)?;
    let (_, method, finish) = RAMPS[way];
    let one = |s: f64| {
        (task.open.s, task.open.finish) = (s, finish);
        let outcome = run(method, &task, seed_of(bench.options.seed, repetition))?;
        Ok([outcome.accuracy, outcome.support_count as f64])
    };
    ENDS.into_iter().map(one).collect()
}

/// Records the sweeps, which are ordered by repetition, then by learner.
fn record_ramp_ends(row: &str, sweeps: &[Vec<[f64; 2]>], found: &mut Findings) {
    let of = |way: usize| sweeps.iter().skip(way).step_by(RAMPS.len());
    let at = |way: usize, end: usize, c: usize| mean(&of(way).map(|s| s[end][c]).collect::<Vec<_>>());
    let minus_one = ENDS.iter().position(|s| *s == -1.0).unwrap_or(0);
    let mut series = Vec::new();
    for (way, (name, ..)) in RAMPS.iter().enumerate() {
        let best = (0..ENDS.len()).map(|e| at(way, e, 0)).fold(0.0, f64::max);
        found.add(row, name, "behind_best", vec![best - at(way, minus_one, 0)]);
        found.add(row, name, "over_half", of(way).map(|s| s[minus_one][0] - s[0][0]).collect());
        let fewer = of(way).map(|s| s[minus_one][1] / s[ENDS.len() - 1][1].max(1.0)).collect();
        found.add(row, name, "support_share", fewer);
        let over = sweeps.chunks(RAMPS.len()).map(|c| {
            let gaps = c[way].iter().zip(&c[RAMPS.len() - 1]).map(|(a, b)| a[0] - b[0]);
            mean(&gaps.collect::<Vec<_>>())
        });
        found.add(row, name, "over_i", over.collect());
        let points = (0..ENDS.len()).map(|e| [at(way, e, 1), 100.0 * at(way, e, 0)]).collect();
        series.push(Series { name: (*name).into(), points });
    }
    let title = format!("{row}: s from {} to {}", ENDS[0], ENDS[ENDS.len() - 1]);
    found.figures.push(figure(&title, ("support vectors", "accuracy %"), series));
}

/// An intermediate model: number of examples learned, of labels and of support vectors, and test accuracy.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct IntermediateModel {
    learned: usize,
    labels: usize,
    support: usize,
    accuracy: f64,
}

/// Strategies of choosing examples, and whether the cost and the kernel width are also chosen.
const CHOOSING: [(&str, Strategy, bool); 3] = [
    ("auto-active", Strategy::AutoActive, false),
    ("active", Strategy::Active, false),
    ("auto-active, chosen C and γ", Strategy::AutoActive, true),
];

/// Candidate costs and kernel widths: the best values for few examples can differ from those for all.
const PAIRS: [(f64, f64); 5] = [(100.0, 0.005), (30.0, 0.005), (10.0, 0.01), (10.0, 0.02), (5.0, 0.02)];

/// Share of the training rows of a split on which cost and width are chosen.
const HELD_OUT: f64 = 0.25;

/// Results on one split of the data.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Division {
    /// Accuracy of the exact solution.
    exact: f64,
    /// Per strategy: intermediate models, and the largest model within [`SMALL`] support vectors.
    ways: Vec<(Vec<IntermediateModel>, Option<IntermediateModel>)>,
}

/// Number of random splits of the data; the source has 65.
const DIVISIONS: usize = 10;

/// Maximum number of support vectors in the statement.
const SMALL: usize = 2500;

/// Figures 3.8 and 3.9: accuracy against number of support vectors, by strategy of choosing examples. As in the source, each
/// repetition splits the data at random; the exact solution is computed on the same split.
pub(crate) fn auto_active(bench: &Bench<'_>) -> Result<Findings> {
    let mut found = Findings::default();
    let row = row("ertekin-3.2", "Adult")?;
    if bench.options.quick {
        found.left_out(&row.name, "", "left out by --quick");
        return Ok(found);
    }
    let options = Options { resplit: true, ..bench.options.clone() };
    let inner = Options { hold_out: Some(HELD_OUT), ..options.clone() };
    let say = |line: &str| bench.say(line);
    let (outer, within) = (Bench::new(&options, &say), Bench::new(&inner, &say));
    let pieces: Vec<usize> = (0..options.repetitions.unwrap_or(DIVISIONS).max(1)).collect();
    let done = outer.each(&pieces, |&k| {
        let key = format!("divisions {:?} {k} {} {CHOOSING:?} {PAIRS:?}", row.protocol, options.seed);
        outer.cached(&key, || {
            let tasks = [outer.task(&row, k)?, within.task(&row, k)?];
            division(&tasks, seed_of(options.seed, k))
        })
    });
    match done.into_iter().collect::<Result<Vec<_>>>() {
        Ok(divisions) => record_splits(&row.name, &divisions, &mut found),
        Err(missing @ Failure::Missing { .. }) => found.missing(&row.name, &missing.to_string()),
        Err(failure) => return Err(failure),
    }
    Ok(found)
}

/// Results on a split; `within` is a split of its training rows, on which cost and width are chosen.
fn division([task, within]: &[Task; 2], seed: u64) -> Result<Division> {
    let exact = run(Method::Libsvm, task, seed)?.accuracy;
    let usual = LasvmParams {
        pool: 50,
        labels: task.open.labels,
        stop: StopRule::Never,
        curve: true,
        ..online::params(task, seed)
    };
    let way = |&(_, select, choose): &(&str, Strategy, bool)| {
        let mut params = LasvmParams { select, ..usual.clone() };
        if choose {
            params = best_pair(within, &params)?;
        }
        let curve = intermediate_models(task, &params)?;
        let small = largest_small(task, &params, &curve)?;
        Ok((curve, small))
    };
    Ok(Division { exact, ways: CHOOSING.iter().map(way).collect::<Result<_>>()? })
}

/// Parameters with the cost and width whose model of at most [`SMALL`] support vectors is best.
fn best_pair(task: &Task, params: &LasvmParams) -> Result<LasvmParams> {
    let mut best: Option<(f64, LasvmParams)> = None;
    for (c, gamma) in PAIRS {
        let params = LasvmParams { c, kernel: Kernel::Rbf { gamma }, ..params.clone() };
        let small = largest_small(task, &params, &intermediate_models(task, &params)?)?;
        let accuracy = small.map_or(0.0, |s| s.accuracy);
        if best.as_ref().is_none_or(|(highest, _)| accuracy > *highest) {
            best = Some((accuracy, params));
        }
    }
    Ok(best.map_or_else(|| params.clone(), |(_, params)| params))
}

/// Scores of the finished intermediate models of one run.
fn intermediate_models(task: &Task, params: &LasvmParams) -> Result<Vec<IntermediateModel>> {
    let train = &task.split.train;
    let targets = Targets { y: train.y.clone(), cost: vec![1.0; train.rows()] };
    let online = params.fit(train.x.view(), &[targets], &())?.online;
    let stops = online.map(|o| o.curve).unwrap_or_default();
    let scored = stops.iter().filter(|c| c.learned >= 100).map(|c| {
        let accuracy = score(&c.model, task, 0, 0.0)?.accuracy;
        Ok(IntermediateModel { learned: c.learned, labels: c.labels, support: c.support, accuracy })
    });
    scored.collect()
}

/// The largest model with at most [`SMALL`] support vectors. Intermediate models are half an octave apart, so the run is
/// repeated with the interpolated number of examples, reduced by 2 % steps while the model is too large. Test rows are not
/// used.
fn largest_small(
    task: &Task,
    params: &LasvmParams,
    curve: &[IntermediateModel],
) -> Result<Option<IntermediateModel>> {
    let before = curve.iter().take_while(|s| s.support <= SMALL).last();
    let Some(between) = examples_for(SMALL, curve) else { return Ok(before.cloned()) };
    for part in [1.0, 0.98, 0.96, 0.94] {
        let params = LasvmParams { labels: (part * between) as usize, ..params.clone() };
        let last = intermediate_models(task, &params)?.pop();
        if last.as_ref().is_some_and(|s| s.support <= SMALL) {
            return Ok(last);
        }
    }
    Ok(before.cloned())
}

/// Number of examples at which a run has `support` support vectors, interpolated between two intermediate models; `None` if
/// no two models enclose that number.
fn examples_for(support: usize, curve: &[IntermediateModel]) -> Option<f64> {
    let pair = curve.windows(2).find(|w| w[0].support <= support && w[1].support > support)?;
    let (before, after) = (&pair[0], &pair[1]);
    let share = (support - before.support) as f64 / (after.support - before.support) as f64;
    Some(before.learned as f64 + share * (after.learned - before.learned) as f64)
}

fn record_splits(row: &str, divisions: &[Division], found: &mut Findings) {
    let mut series = Vec::new();
    let (mut first, mut last) = (f64::INFINITY, 0.0f64);
    for (way, (name, ..)) in CHOOSING.iter().enumerate() {
        let of = |value: &dyn Fn(&IntermediateModel, f64) -> f64| -> Vec<f64> {
            divisions.iter().filter_map(|d| d.ways[way].1.as_ref().map(|s| value(s, d.exact))).collect()
        };
        found.add(row, name, "behind", of(&|s, exact| exact - s.accuracy));
        found.add(row, name, "support_count", of(&|s, _| s.support as f64));
        found.add(row, name, "labels", of(&|s, _| s.labels as f64));
        let curves: Vec<&[IntermediateModel]> = divisions.iter().map(|d| d.ways[way].0.as_slice()).collect();
        let length = curves.iter().map(|c| c.len()).min().unwrap_or(0);
        let at = |k: usize, value: &dyn Fn(&IntermediateModel) -> f64| {
            mean(&curves.iter().map(|c| value(&c[k])).collect::<Vec<_>>())
        };
        let point = |k: usize| [at(k, &|s| s.support as f64), 100.0 * (1.0 - at(k, &|s| s.accuracy))];
        let points: Vec<[f64; 2]> = (0..length).map(point).collect();
        for p in &points {
            (first, last) = (first.min(p[0]), last.max(p[0]));
        }
        series.push(Series { name: (*name).into(), points });
    }
    let error = 100.0 * (1.0 - mean(&divisions.iter().map(|d| d.exact).collect::<Vec<_>>()));
    series.push(Series { name: "exact solution".into(), points: vec![[first, error], [last, error]] });
    let mut drawn = figure("Error against support vectors", ("support vectors", "error %"), series);
    drawn.log_x = true;
    found.figures.push(drawn);
}

/// Waveform with 32 negatives per positive: final models of active learning with class costs, compared with all other methods.
pub(crate) fn imbalance(bench: &Bench<'_>) -> Result<Findings> {
    let methods = [
        Method::AlDc,
        Method::Batch,
        Method::BatchTuned,
        Method::Us,
        Method::UsEven,
        Method::Smote,
        Method::Al,
        Method::Virtual,
        Method::Dc,
    ];
    let open = ProtocolChoices { stop: Some(StopRule::Never), ..bench.options.open };
    let options = Options { open, ..bench.options.clone() };
    let say = |line: &str| bench.say(line);
    let to_the_end = Bench::new(&options, &say);
    let mut found = Findings::default();
    let rows = [row("ertekin-waveform-imbalance", "Waveform IR 32")?];
    for runs in runs(&to_the_end, &rows, &methods, &mut found).into_iter().flatten() {
        let best = values(&runs[0], "g_means");
        for (method, outcomes) in methods.iter().zip(&runs).skip(1) {
            let over = best.iter().zip(values(outcomes, "g_means")).map(|(a, b)| a - b).collect();
            found.add(&format!("against {}", method.name()), "AL+DC", "over", over);
        }
        found.add(&rows[0].name, "AL+DC", "g_means", best);
    }
    Ok(found)
}

/// Outputs of one of ten binary classifiers on the test digits.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct MachineOutputs {
    decisions: Vec<f64>,
    positive: Vec<bool>,
    seconds: f64,
}

/// Methods and their numbers of passes; 0 is the exact solution.
const PASSES: [(&str, usize); 3] = [("LIBSVM", 0), ("LASVM×1", 1), ("LASVM×2", 2)];

/// Figure 3.4: ten classifiers, one per digit; the largest decision value determines the predicted digit.
pub(crate) fn digits(bench: &Bench<'_>) -> Result<Findings> {
    let mut found = Findings::default();
    let like = row("ertekin-4.3", "MNIST-8")?;
    if !bench.options.slow {
        found.left_out("", "", "takes many minutes: left out without --slow");
        return Ok(found);
    }
    let pieces: Vec<(usize, usize)> =
        (0..10).flat_map(|digit| (0..PASSES.len()).map(move |way| (digit, way))).collect();
    let done = bench.each(&pieces, |(digit, way)| {
        let mut row = Row { data_set: format!("mnist:{digit}"), ..like.clone() };
        row.protocol.imbalance = None;
        let key = format!("digit {digit} {:?} {:?} {}", PASSES[*way], row.protocol, bench.options.seed);
        bench.cached(&key, || digit_outputs(bench, &row, PASSES[*way].1))
    });
    let outputs = done.into_iter().collect::<Result<Vec<_>>>()?;
    for (way, (name, _)) in PASSES.iter().enumerate() {
        let ten: Vec<&MachineOutputs> = outputs.iter().skip(way).step_by(PASSES.len()).collect();
        found.add("MNIST", name, "error", vec![wrong(&ten)]);
        found.add("MNIST", name, "seconds", vec![ten.iter().map(|s| s.seconds).sum()]);
    }
    Ok(found)
}

fn digit_outputs(bench: &Bench<'_>, row: &Row, passes: usize) -> Result<MachineOutputs> {
    let task = bench.task(row, 0)?;
    let train = &task.split.train;
    let targets = [Targets { y: train.y.clone(), cost: vec![1.0; train.rows()] }];
    let clock = crate::clock::Clock::start();
    let model = if passes == 0 {
        let (kernel, c, tolerance) = (task.kernel, task.c, task.tolerance);
        SvcParams { kernel, c, tolerance, ..SvcParams::default() }.fit(train.x.view(), &targets, &())?.model
    } else {
        let params = LasvmParams { epochs: passes, ..online::params(&task, seed_of(bench.options.seed, 0)) };
        params.fit(train.x.view(), &targets, &())?.model
    };
    let seconds = clock.seconds();
    bench.say(&format!("{} {passes}: {seconds:.1} s", row.data_set));
    let test = &task.split.test;
    let positive = test.y.iter().map(|y| *y == evermargin::Label::Pos).collect();
    Ok(MachineOutputs { decisions: model.decision(test.x.view())?, positive, seconds })
}

/// Share of the rows whose largest decision value is not that of their own class.
fn wrong(ten: &[&MachineOutputs]) -> f64 {
    let rows = ten.iter().map(|s| s.decisions.len()).min().unwrap_or(0);
    let largest =
        |i: usize| ten.iter().reduce(|best, s| if s.decisions[i] > best.decisions[i] { s } else { best });
    let wrong = (0..rows).filter(|&i| largest(i).is_none_or(|s| !s.positive[i])).count();
    wrong as f64 / rows.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(found: &Findings, row: &str, method: &str, metric: &str) -> f64 {
        mean(found.of(row, method, metric).unwrap().runs.as_ref().unwrap())
    }

    #[test]
    fn number_of_examples_is_interpolated() {
        let model = |learned, support| IntermediateModel { learned, labels: learned, support, accuracy: 0.5 };
        let curve = [model(100, 90), model(200, 150), model(300, 250)];
        assert_eq!(examples_for(200, &curve), Some(250.0));
        assert_eq!(examples_for(150, &curve), Some(200.0));
        assert_eq!(examples_for(80, &curve), None, "all models are larger");
        assert_eq!(examples_for(250, &curve), None, "no model is larger");
    }

    #[test]
    fn small_models_are_compared_with_the_exact_solution_of_their_split() {
        let at = |support, accuracy| IntermediateModel { learned: 200, labels: 210, support, accuracy };
        let division = |exact, small: IntermediateModel| {
            let way = (vec![at(100, 0.86), at(2600, 0.8)], Some(small));
            Division { exact, ways: vec![way.clone(), way.clone(), way] }
        };
        let mut found = Findings::default();
        let divisions = [division(0.85, at(2400, 0.84)), division(0.87, at(2500, 0.88))];
        record_splits("Adult", &divisions, &mut found);
        assert!(value(&found, "Adult", "auto-active", "behind").abs() < 1e-12);
        assert_eq!(value(&found, "Adult", "active", "support_count"), 2450.0);
        let exact = &found.figures[0].series[3].points;
        assert!((exact[0][1] - 14.0).abs() < 1e-9 && exact[1][0] == 2600.0, "{exact:?}");
    }

    #[test]
    fn values_of_s_are_compared() {
        let sweep =
            |base: f64| (0..ENDS.len()).map(|e| [base + 0.01 * e as f64, 10.0 * (e + 1) as f64]).collect();
        let mut found = Findings::default();
        record_ramp_ends(
            "here",
            &[sweep(0.5), sweep(0.6), sweep(0.4), sweep(0.7), sweep(0.6), sweep(0.4)],
            &mut found,
        );
        assert!((value(&found, "here", "LASVM-NC", "behind_best") - 0.04).abs() < 1e-12);
        assert!((value(&found, "here", "LASVM-NC", "over_half") - 0.04).abs() < 1e-12);
        assert!((value(&found, "here", "LASVM-NC", "over_i") - 0.2).abs() < 1e-12);
        assert!((value(&found, "here", "LASVM-I", "support_share") - 5.0 / 9.0).abs() < 1e-12);
        assert_eq!(found.figures[0].series[0].points[0], [10.0, 60.0]);
    }

    #[test]
    fn largest_decision_value_determines_the_digit() {
        let outputs = |decisions: [f64; 3], positive: [bool; 3]| MachineOutputs {
            decisions: decisions.to_vec(),
            positive: positive.to_vec(),
            seconds: 0.0,
        };
        let (a, b) = (
            outputs([1.0, -2.0, 0.5], [true, false, false]),
            outputs([-1.0, -1.0, 0.4], [false, true, true]),
        );
        assert!((wrong(&[&a, &b]) - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn statements_without_data_have_missing_cells() {
        let options = Options { folder: "/nonexistent".into(), ..Options::default() };
        let bench = Bench::new(&options, &|_| ());
        for check in [one_pass, sparse, auto_active] {
            let found = check(&bench).unwrap();
            let missing = |v: &crate::findings::Values| matches!(v.runs, Err((Verdict::Missing, _)));
            assert!(found.values.iter().any(missing), "{found:?}");
        }
    }

    #[test]
    fn quick_runs_skip_large_data() {
        let options = Options { quick: true, folder: "/nonexistent".into(), ..Options::default() };
        let found = one_pass(&Bench::new(&options, &|_| ())).unwrap();
        assert!(matches!(found.values[0].runs, Err((Verdict::NotRun, _))));
    }
}
