//! Figures of Hou & Hero: sequential learning of the batches of a stream, compared with training on the current batch only and
//! on all batches so far. The figures have no numbers, so the statements of the text are judged: from the third batch on the
//! sequential learner is better than training on the current batch, and it is near training on all batches.

use crate::data::existing;
use crate::failure::{Failure, Result};
use crate::findings::{Findings, Series};
use crate::run::{Bench, seed_of};
use evermargin::data::Label;
use evermargin::datasets::{GenerateParams, generate};
use evermargin::estimators::Targets;
use evermargin::estimators::manifold::penalty::PenaltyParams;
use evermargin::estimators::med::{Form, Intercept, Loss, MedParams, SeqMed};
use evermargin::{Kernel, Labels, Matrix};
use evermargin_io::{LabelColumn, ReadOptions, read};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::fmt::Write;
use std::slice::from_ref;

/// Batches with the labels that may be used, and test rows.
struct Stream {
    batches: Vec<(Matrix, Targets)>,
    test: Matrix,
    truth: Vec<Label>,
}

/// Data that a learner uses at each batch.
#[derive(Debug, Clone, Copy, PartialEq)]
enum UsedData {
    /// The current batch only.
    Current,
    /// The current batch, with the posterior so far as the prior.
    Sequential,
    /// All batches so far, trained from the start.
    All,
}

/// A line of a figure: its name, the data it uses, and candidate parameters.
struct Line {
    name: &'static str,
    used: UsedData,
    grid: Vec<MedParams>,
}

/// Plan of a figure: its name, the number of validation streams and the batches for the choice of parameters, the number of
/// test streams and the batches that are shown.
struct Plan<'p> {
    id: &'static str,
    validation: usize,
    judged: &'p [usize],
    tests: usize,
    shown: &'p [usize],
}

/// Number of the first validation stream.
const FIRST_VALIDATION_STREAM: usize = 500;

/// Number of batches in a `--quick` run.
const QUICK_BATCHES: usize = 3;

fn accuracy(state: &SeqMed, stream: &Stream) -> Result<f64> {
    let f = state.decisions(stream.test.view())?;
    let right = f.iter().zip(&stream.truth).filter(|(f, y)| (**f > 0.0) == (**y == Label::Pos)).count();
    Ok(right as f64 / f.len() as f64)
}

fn trained_from_start(params: &MedParams, x: &Matrix, t: &Targets) -> Result<SeqMed> {
    let mut state = SeqMed::new(params, x.view(), 1)?;
    state.learn(x.view(), from_ref(t), &())?;
    Ok(state)
}

/// Accuracies at the batches `shown`, counted from 1.
fn accuracies_along(
    used: UsedData,
    params: &MedParams,
    stream: &Stream,
    shown: &[usize],
) -> Result<Vec<f64>> {
    let first = stream.batches.first().ok_or_else(|| Failure::Content("no batch".into()))?;
    let mut state = SeqMed::new(params, first.0.view(), 1)?;
    let (mut out, mut all) = (Vec::new(), (first.0.view().select(&[]), Targets { y: vec![], cost: vec![] }));
    for (t, (x, targets)) in stream.batches.iter().enumerate() {
        let asked = shown.contains(&(t + 1));
        match used {
            UsedData::Sequential => {
                state.learn(x.view(), from_ref(targets), &())?;
            }
            UsedData::Current if asked => state = trained_from_start(params, x, targets)?,
            UsedData::Current => {}
            UsedData::All => {
                (0..x.rows()).for_each(|i| all.0.push(x.view().row(i)));
                all.1.y.extend(&targets.y);
                all.1.cost.extend(&targets.cost);
                if asked {
                    state = trained_from_start(params, &all.0, &all.1)?;
                }
            }
        }
        if asked {
            out.push(accuracy(&state, stream)?);
        }
    }
    Ok(out)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Cached accuracies of one line with some parameters on the stream with a number.
fn piece(
    bench: &Bench<'_>,
    (plan, line, params): (&Plan<'_>, &Line, &MedParams),
    number: usize,
    make: &(impl Fn(usize) -> Result<Stream> + Sync),
) -> Result<Vec<f64>> {
    let shown = within(bench, if number < FIRST_VALIDATION_STREAM { plan.shown } else { plan.judged });
    let seed = bench.options.seed;
    let key = format!("{} {:?} {params:?} {number} {shown:?} {seed}", plan.id, line.used);
    bench.cached(&key, || {
        let mut stream = make(number)?;
        stream.batches.truncate(shown.last().copied().unwrap_or(0));
        accuracies_along(line.used, params, &stream, &shown)
    })
}

/// Batches that are evaluated, shortened in a `--quick` run.
fn within(bench: &Bench<'_>, shown: &[usize]) -> Vec<usize> {
    let short: Vec<usize> = shown.iter().copied().filter(|t| *t <= QUICK_BATCHES).collect();
    match (bench.options.quick, short.is_empty()) {
        (true, false) => short,
        (true, true) => vec![QUICK_BATCHES],
        (false, _) => shown.to_vec(),
    }
}

/// For each line, the parameters with the highest mean accuracy on the validation streams.
fn chosen<'l>(
    bench: &Bench<'_>,
    plan: &Plan<'_>,
    lines: &'l [Line],
    make: &(impl Fn(usize) -> Result<Stream> + Sync),
) -> Result<Vec<&'l MedParams>> {
    let streams = if bench.options.quick { 1 } else { plan.validation };
    let mut pieces = Vec::new();
    for line in lines.iter().filter(|l| l.grid.len() > 1) {
        pieces.extend(
            line.grid.iter().flat_map(|p| (0..streams).map(move |k| (line, p, FIRST_VALIDATION_STREAM + k))),
        );
    }
    let rates =
        bench.each(&pieces, |(line, params, number)| piece(bench, (plan, line, params), *number, make));
    let rates = rates.into_iter().collect::<Result<Vec<_>>>()?;
    let mut scores = rates.chunks(streams).map(|c| mean(&c.iter().map(|r| mean(r)).collect::<Vec<_>>()));
    let mut best = Vec::new();
    for line in lines {
        let mut found: Option<(f64, &MedParams)> = None;
        for params in &line.grid {
            let score = if line.grid.len() > 1 { scores.next().unwrap_or(0.0) } else { 0.0 };
            if found.is_none_or(|(highest, _)| score > highest) {
                found = Some((score, params));
            }
        }
        best.push(found.ok_or_else(|| Failure::Content("no parameters".into()))?.1);
    }
    Ok(best)
}

/// Runs the lines of a figure. The first is the current batch alone, the second the sequential learner, the last all batches
/// again.
fn figure(
    bench: &Bench<'_>,
    plan: &Plan<'_>,
    lines: &[Line],
    make: &(impl Fn(usize) -> Result<Stream> + Sync),
) -> Result<Findings> {
    let best = chosen(bench, plan, lines, make)?;
    let tests = if bench.options.quick { 1 } else { plan.tests };
    let pairs = || lines.iter().zip(&best);
    let pieces: Vec<_> = pairs().flat_map(|(l, p)| (0..tests).map(move |k| (l, *p, k))).collect();
    let rates =
        bench.each(&pieces, |(line, params, number)| piece(bench, (plan, line, params), *number, make));
    let rates = rates.into_iter().collect::<Result<Vec<_>>>()?;
    let curves: Vec<&[Vec<f64>]> = rates.chunks(tests).collect();
    let mut found = line_findings(&within(bench, plan.shown), lines, &curves);
    for (line, params) in pairs() {
        let _ = writeln!(found.notes, "- {}: C {}, 2β {}.", line.name, params.c, 2.0 * params.beta);
    }
    Ok(found)
}

/// Cells and curves from the accuracies of each line and stream at the shown batches.
fn line_findings(shown: &[usize], lines: &[Line], curves: &[&[Vec<f64>]]) -> Findings {
    let mut found = Findings::default();
    let at = |c: usize, k: usize| curves[c].iter().map(|r| r[k]).collect::<Vec<f64>>();
    let mut series = Vec::new();
    for (c, line) in lines.iter().enumerate() {
        for (k, t) in shown.iter().enumerate() {
            found.add(&format!("t = {t}"), line.name, "accuracy", at(c, k));
        }
        let points = shown.iter().enumerate().map(|(k, t)| [*t as f64, 100.0 * mean(&at(c, k))]).collect();
        series.push(Series { name: line.name.into(), points });
    }
    let over = |k: usize| mean(&at(1, k)) - mean(&at(0, k));
    let smallest = (0..shown.len()).filter(|k| shown[*k] > 2).map(over).reduce(f64::min);
    found.add("after two batches", lines[1].name, "over_current", smallest.into_iter().collect());
    let (end, last) = (shown.len() - 1, lines.len() - 1);
    let behind = at(last, end).iter().zip(at(1, end)).map(|(all, ours)| all - ours).collect();
    found.add("at the end", lines[1].name, "behind", behind);
    found.figures.push(crate::stream::curves::figure("Test rows right", ("batch", "accuracy %"), series));
    found
}

/// Labels of generated rows; all except the first `known` rows are unlabeled.
fn targets(labels: &Labels, known: usize) -> Targets {
    let one = |(i, class): (usize, &Option<u32>)| match class {
        Some(0) if i < known => Label::Neg,
        Some(_) if i < known => Label::Pos,
        _ => Label::Unknown,
    };
    Targets { y: labels.of.iter().enumerate().map(one).collect(), cost: vec![1.0; labels.of.len()] }
}

/// A generated stream with batches of 97 to 103 rows, a share of each labeled, and 1000 test rows.
fn generated(name: &str, batches: usize, share: f64, seed: u64) -> Result<Stream> {
    let mut rng = Pcg64::seed_from_u64(seed);
    let draw =
        |rows: usize, seed: u64| generate(name, &GenerateParams { rows, seed, ..GenerateParams::default() });
    let mut out = Vec::new();
    for t in 0..batches {
        let rows: usize = rng.random_range(97..=103);
        let (x, labels) = draw(rows, seed_of(seed, t))?;
        out.push((x, targets(&labels, (share * rows as f64).round() as usize)));
    }
    let (test, labels) = draw(1000, seed_of(seed, batches))?;
    Ok(Stream { batches: out, test, truth: targets(&labels, 1000).y })
}

/// Seed of the stream with a number.
fn seed(bench: &Bench<'_>, number: usize) -> u64 {
    seed_of(bench.options.seed, 1000 * number + 7)
}

/// Weights (1 + ln v)·ln(n/df), with df from the first batch, and rows of unit length.
fn weighted(stream: Stream) -> Result<Stream> {
    let first = &stream.batches[0].0;
    let mut frequency = vec![0.0; first.cols()];
    for i in 0..first.rows() {
        first.view().row(i).for_each(|c, v| frequency[c] += f64::from(u8::from(v > 0.0)));
    }
    let n = first.rows() as f64;
    let weigh = |x: &Matrix| -> Result<Matrix> {
        let mut values = vec![0.0; x.rows() * x.cols()];
        for (i, row) in values.chunks_exact_mut(x.cols()).enumerate() {
            x.view().row(i).for_each(|c, v| {
                let rare = ((1.0 + n) / (1.0 + frequency[c])).ln();
                row[c] = if v > 0.0 { (1.0 + v.ln()) * rare } else { 0.0 };
            });
            let length = row.iter().map(|v| v * v).sum::<f64>().sqrt();
            row.iter_mut().for_each(|v| *v /= if length > 0.0 { length } else { 1.0 });
        }
        Ok(Matrix::dense(values, x.rows(), x.cols())?)
    };
    let batches = stream.batches.iter().map(|(x, t)| Ok((weigh(x)?, t.clone()))).collect::<Result<_>>()?;
    Ok(Stream { batches, test: weigh(&stream.test)?, truth: stream.truth })
}

/// Figure 1: categories, all rows labeled.
pub(crate) fn categories(bench: &Bench<'_>) -> Result<Findings> {
    const SHOWN: [usize; 7] = [1, 2, 3, 5, 10, 20, 30];
    let tests = bench.options.repetitions.unwrap_or(10).max(1);
    let make = |k| generated("categories", 30, 1.0, seed(bench, k)).and_then(weighted);
    let grid = |costs: &[f64], loss: Loss, intercept: Intercept| {
        let base = MedParams {
            kernel: Kernel::Linear,
            beta: 0.0,
            loss,
            intercept,
            tolerance: 1e-3,
            ..MedParams::default()
        };
        costs.iter().map(|&c| MedParams { c, intercept_variance: 0.1, ..base.clone() }).collect::<Vec<_>>()
    };
    let boxed = || grid(&[0.1, 0.3, 1.0, 3.0], Loss::Box, Intercept::Prior);
    let lines = [
        Line { name: "current batch alone", used: UsedData::Current, grid: boxed() },
        Line { name: "sequential", used: UsedData::Sequential, grid: boxed() },
        Line {
            name: "sequential, barrier, free constant",
            used: UsedData::Sequential,
            grid: grid(&[1.05, 1.5, 3.0, 10.0], Loss::Barrier, Intercept::Free),
        },
        Line { name: "all batches again", used: UsedData::All, grid: boxed() },
    ];
    let plan = Plan { id: "hou-hero-1", validation: 2, judged: &SHOWN, tests, shown: &SHOWN };
    figure(bench, &plan, &lines, &make)
}

/// Figure 2: the center and the shell of a ball, a tenth of the rows labeled.
pub(crate) fn ball(bench: &Bench<'_>) -> Result<Findings> {
    const SHOWN: [usize; 8] = [1, 2, 3, 4, 6, 8, 10, 12];
    let tests = bench.options.repetitions.unwrap_or(20).max(1);
    let make = |k| generated("ball", 12, 0.1, seed(bench, k));
    // exp(−d²/4t), t = 0.01, is a width of √(2t)
    let penalty = PenaltyParams { n_neighbors: 20, width: 0.02f64.sqrt(), ..PenaltyParams::default() };
    let base =
        MedParams { kernel: Kernel::Rbf { gamma: 0.5 }, penalty, n_landmarks: 100, ..MedParams::default() };
    let grid = |form: Form, betas: &[f64], landmarks: usize| {
        let pairs = [5.0, 50.0, 500.0].into_iter().flat_map(|c| betas.iter().map(move |b| (c, *b)));
        pairs
            .map(|(c, beta)| MedParams { c, beta, form, n_landmarks: landmarks, ..base.clone() })
            .collect::<Vec<_>>()
    };
    let betas = [0.005, 0.05, 0.5, 5.0];
    let lines = [
        Line { name: "current batch alone", used: UsedData::Current, grid: grid(Form::Bounded, &betas, 100) },
        Line { name: "sequential", used: UsedData::Sequential, grid: grid(Form::Bounded, &betas, 100) },
        Line { name: "sequential, exact", used: UsedData::Sequential, grid: grid(Form::Exact, &betas, 100) },
        Line {
            name: "sequential, spectral",
            used: UsedData::Sequential,
            grid: grid(Form::Spectral, &betas, 100),
        },
        Line {
            name: "sequential, labels alone",
            used: UsedData::Sequential,
            grid: grid(Form::Bounded, &[0.0], 100),
        },
        Line { name: "all, labels alone", used: UsedData::All, grid: grid(Form::Bounded, &[0.0], 400) },
        Line { name: "all batches again", used: UsedData::All, grid: grid(Form::Bounded, &betas, 400) },
    ];
    let plan = Plan { id: "hou-hero-2", validation: 3, judged: &SHOWN, tests, shown: &SHOWN };
    figure(bench, &plan, &lines, &make)
}

/// Validation stream: the first batches of a stream, with the labeled rows of the other batches as test rows.
fn held_out(batches: &[(Matrix, Targets)], keep: usize) -> Stream {
    let (first, rest) = batches.split_at(keep.min(batches.len()));
    let cols = batches.first().map_or(0, |(x, _)| x.cols());
    let (mut test, mut truth) = (Matrix::empty(cols, false), Vec::new());
    for (x, t) in rest {
        for i in t.used() {
            test.push(x.view().row(i));
            truth.push(t.y[i]);
        }
    }
    Stream { batches: first.to_vec(), test, truth }
}

/// Figure 3: Isolet with five speakers per batch, the first of them labeled; the first against the second half of the alphabet.
pub(crate) fn letters(bench: &Bench<'_>) -> Result<Findings> {
    const SHOWN: [usize; 10] = [1, 2, 3, 4, 6, 9, 12, 16, 20, 24];
    let open = |file: &str| -> Result<(Matrix, Vec<Label>)> {
        let path = existing(&bench.options.folder, file, "the UCI repository (Isolet)")?;
        let label = Some(LabelColumn::Index(618));
        let set = read(&path, &ReadOptions { label, ..ReadOptions::default() })?;
        let half = |c: &Option<u32>| if c.is_some_and(|c| c < 13) { Label::Neg } else { Label::Pos };
        Ok((set.x, set.labels.of.iter().map(half).collect()))
    };
    let (x, y) = open("isolet/isolet1+2+3+4.data.xz")?;
    let (test, truth) = open("isolet/isolet5.data.xz")?;
    let (mut batches, mut first) = (Vec::new(), 0);
    for t in 1..=24 {
        let count = if t == 21 || t == 23 { 259 } else { 260 };
        let rows: Vec<usize> = (first..(first + count).min(x.rows())).collect();
        first += count;
        let known = |k: usize, i: usize| if k < 52 { y[i] } else { Label::Unknown };
        let of = rows.iter().enumerate().map(|(k, &i)| known(k, i)).collect();
        batches.push((x.view().select(&rows), Targets { y: of, cost: vec![1.0; rows.len()] }));
    }
    let make = |k| match k {
        FIRST_VALIDATION_STREAM.. => Ok(held_out(&batches, 20)),
        _ => Ok(Stream { batches: batches.clone(), test: test.clone(), truth: truth.clone() }),
    };
    // the source has γ_A·l = γ_I·l/n² = 0.005, that is C = 100 and 2β = 1, and σ = 10
    let penalty = PenaltyParams { n_neighbors: 10, ..PenaltyParams::default() };
    let kernel = Kernel::Rbf { gamma: 0.005 };
    let base = MedParams { kernel, penalty, ..MedParams::default() };
    let grid = |beta: f64, landmarks: usize, costs: &[f64]| {
        costs
            .iter()
            .map(|&c| MedParams { c, beta, n_landmarks: landmarks, ..base.clone() })
            .collect::<Vec<_>>()
    };
    let costs = [0.1, 1.0, 10.0, 100.0];
    let lines = [
        Line { name: "current batch alone", used: UsedData::Current, grid: grid(0.5, 1000, &costs) },
        Line { name: "sequential", used: UsedData::Sequential, grid: grid(0.5, 1000, &costs) },
        Line { name: "sequential, source's C", used: UsedData::Sequential, grid: grid(0.5, 1000, &[100.0]) },
        Line { name: "sequential, 300 landmarks", used: UsedData::Sequential, grid: grid(0.5, 300, &costs) },
        Line { name: "sequential, labels alone", used: UsedData::Sequential, grid: grid(0.0, 1000, &costs) },
        Line { name: "all, labels alone", used: UsedData::All, grid: grid(0.0, 2000, &costs) },
        Line { name: "all batches again", used: UsedData::All, grid: grid(0.5, 2000, &costs) },
    ];
    let plan = Plan { id: "hou-hero-3", validation: 1, judged: &[4, 12, 20], tests: 1, shown: &SHOWN };
    figure(bench, &plan, &lines, &make)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequential_learner_is_compared_with_both_references() {
        let line = |name| Line { name, used: UsedData::All, grid: Vec::new() };
        let lines = [line("current batch alone"), line("sequential"), line("all batches again")];
        let runs =
            [vec![vec![0.5, 0.5, 0.6, 0.7]], vec![vec![0.5, 0.4, 0.7, 0.9]], vec![vec![0.5, 0.6, 0.8, 1.0]]];
        let curves: Vec<&[Vec<f64>]> = runs.iter().map(Vec::as_slice).collect();
        let found = line_findings(&[1, 2, 3, 6], &lines, &curves);
        let value =
            |row: &str, metric: &str| found.of(row, "sequential", metric).unwrap().runs.clone().unwrap()[0];
        assert!(
            (value("after two batches", "over_current") - 0.1).abs() < 1e-12,
            "the second batch does not count"
        );
        assert!((value("at the end", "behind") - 0.1).abs() < 1e-12);
        assert_eq!(value("t = 2", "accuracy"), 0.4);
        assert_eq!(found.figures[0].series[1].points[3], [6.0, 90.0]);
    }

    #[test]
    fn each_learner_uses_the_data_of_its_kind() {
        let stream = generated("ball", 3, 0.5, 5).unwrap();
        assert!(stream.batches.iter().all(|(x, _)| (97..=103).contains(&x.rows())));
        let params = MedParams { kernel: Kernel::Rbf { gamma: 0.5 }, c: 5.0, ..MedParams::default() };
        let [current, ours, all] = [UsedData::Current, UsedData::Sequential, UsedData::All]
            .map(|s| accuracies_along(s, &params, &stream, &[1, 2, 3]).unwrap());
        // with one batch all use the same data
        assert!((current[0] - ours[0]).abs() < 1e-9 && (current[0] - all[0]).abs() < 1e-9);
        assert_ne!(ours, current);
        assert_eq!(accuracies_along(UsedData::Current, &params, &stream, &[3]).unwrap(), current[2..]);
        let part = held_out(&stream.batches, 2);
        assert_eq!((part.batches.len(), part.truth.len()), (2, stream.batches[2].1.used().len()));
        assert_eq!(part.test.rows(), part.truth.len());
    }
}
