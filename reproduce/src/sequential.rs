//! Hou & Hero's figures: batches of a stream, learnt one after the other, beside the current batch alone and all batches
//! again. The figures are pictures and the text has no numbers, so what is judged is what the text says of them: the sequential
//! learner is above the current batch alone from the third batch on, and near what learning everything again gives.

use crate::data::existing;
use crate::failure::{Failure, Result};
use crate::run::{Bench, seed_of};
use evermargin::data::Label;
use evermargin::generate::{GenerateParams, generate};
use evermargin::learn::Targets;
use evermargin::learn::manifold::penalty::PenaltyParams;
use evermargin::learn::med::{Bias, Form, Loss, MedParams, SeqMed};
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

/// What a learner sees at each batch.
#[derive(Clone, Copy, PartialEq)]
enum Sight {
    /// This batch and nothing else.
    Current,
    /// This batch and what it knows.
    Sequential,
    /// All batches so far, from nothing.
    All,
}

/// A line of a figure: its name, what it sees, the parameters to choose from.
struct Line {
    name: &'static str,
    sight: Sight,
    grid: Vec<MedParams>,
}

/// What a figure says of one line: mean accuracies in percent at the batches shown.
struct Curve {
    name: &'static str,
    params: MedParams,
    accuracy: Vec<f64>,
}

fn accuracy(state: &SeqMed, stream: &Stream) -> Result<f64> {
    let f = state.decisions(stream.test.view())?;
    let right = f.iter().zip(&stream.truth).filter(|(f, y)| (**f > 0.0) == (**y == Label::Pos)).count();
    Ok(100.0 * right as f64 / f.len() as f64)
}

fn fresh(params: &MedParams, x: &Matrix, t: &Targets) -> Result<SeqMed> {
    let mut state = SeqMed::new(params, x.view(), 1)?;
    state.learn(x.view(), from_ref(t), &())?;
    Ok(state)
}

/// Accuracies at the batches `shown`, counted from 1.
fn follow(sight: Sight, params: &MedParams, stream: &Stream, shown: &[usize]) -> Result<Vec<f64>> {
    let first = stream.batches.first().ok_or_else(|| Failure::Content("no batch".into()))?;
    let mut state = SeqMed::new(params, first.0.view(), 1)?;
    let (mut out, mut all) = (Vec::new(), (first.0.view().select(&[]), Targets { y: vec![], cost: vec![] }));
    for (t, (x, targets)) in stream.batches.iter().enumerate() {
        let asked = shown.contains(&(t + 1));
        match sight {
            Sight::Sequential => {
                state.learn(x.view(), from_ref(targets), &())?;
            }
            Sight::Current if asked => state = fresh(params, x, targets)?,
            Sight::Current => {}
            Sight::All => {
                (0..x.rows()).for_each(|i| all.0.push(x.view().row(i)));
                all.1.y.extend(&targets.y);
                all.1.cost.extend(&targets.cost);
                if asked {
                    state = fresh(params, &all.0, &all.1)?;
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

/// The parameters with the highest mean accuracy over the batches `judged` of validation streams, and with them the mean curve
/// over the test streams.
fn curve(
    bench: &Bench<'_>,
    line: &Line,
    (validation, judged): (&[Stream], &[usize]),
    tests: &[Stream],
    shown: &[usize],
) -> Result<Curve> {
    let mut best: Option<(f64, &MedParams)> = None;
    for params in &line.grid {
        let mut found = Vec::new();
        if line.grid.len() > 1 {
            for stream in validation {
                found.push(mean(&follow(line.sight, params, stream, judged)?));
            }
        }
        let score = mean(&found);
        if best.is_none_or(|(least, _)| score > least) {
            best = Some((score, params));
        }
    }
    let (_, params) = best.ok_or_else(|| Failure::Content("no parameters".into()))?;
    let mut sums = vec![0.0; shown.len()];
    for stream in tests {
        let found = follow(line.sight, params, stream, shown)?;
        sums.iter_mut().zip(&found).for_each(|(s, f)| *s += f / tests.len() as f64);
    }
    let text: Vec<String> = sums.iter().map(|s| format!("{s:.1}")).collect();
    bench.say(&format!("{}: {}", line.name, text.join(" ")));
    Ok(Curve { name: line.name, params: params.clone(), accuracy: sums })
}

/// Runs the lines of a figure: a table, the verdict, and the picture if one is asked for. The first line is the current batch
/// alone, the second the sequential learner, the last everything again.
fn figure(
    bench: &Bench<'_>,
    lines: &[Line],
    validation: (&[Stream], &[usize]),
    tests: &[Stream],
    shown: &[usize],
) -> Result<String> {
    let curves: Vec<Curve> =
        lines.iter().map(|l| curve(bench, l, validation, tests, shown)).collect::<Result<_>>()?;
    let heads: Vec<String> = shown.iter().map(|t| format!("t = {t}")).collect();
    let mut out = format!(
        "Test accuracy %, mean of {} streams.\n\n| | C | 2β | {} |\n|---|--:|--:|{}\n",
        tests.len(),
        heads.join(" | "),
        "--:|".repeat(shown.len())
    );
    for c in &curves {
        let cells: Vec<String> = c.accuracy.iter().map(|a| format!("{a:.1}")).collect();
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} |",
            c.name,
            c.params.c,
            2.0 * c.params.beta,
            cells.join(" | ")
        );
    }
    let (current, ours) = (&curves[0].accuracy, &curves[1].accuracy);
    let full = &curves[curves.len() - 1].accuracy;
    let later = (0..shown.len()).filter(|&k| shown[k] > 2);
    let above = later.clone().filter(|&k| ours[k] > current[k]).count();
    let gap = full.last().zip(ours.last()).map_or(0.0, |(f, o)| f - o);
    let _ = writeln!(
        out,
        "\nSequential above the current batch alone after two batches: {} of {} shown. Behind everything again at the end: {gap:.1} \
         points ({}).",
        above,
        later.count(),
        if gap <= 3.0 { "holds, 3 allowed" } else { "fails, 3 allowed" }
    );
    if let Some(file) = &bench.options.plot {
        std::fs::write(file, drawing(&curves, shown)).map_err(|e| Failure::Content(e.to_string()))?;
    }
    Ok(out)
}

/// The curves as SVG.
fn drawing(curves: &[Curve], shown: &[usize]) -> String {
    const COLOURS: [&str; 7] = ["#888888", "#1b6ca8", "#5a8f29", "#8e5aa8", "#d99a1c", "#4aa3a3", "#c7522a"];
    let (left, right, top, bottom) = (50.0, 470.0, 20.0, 320.0);
    let all = || curves.iter().flat_map(|c| c.accuracy.iter().copied());
    let low = (all().fold(100.0, f64::min) / 5.0).floor() * 5.0;
    let high = (all().fold(0.0, f64::max) / 5.0).ceil() * 5.0;
    let last = shown.last().copied().unwrap_or(1).max(2) as f64;
    let x = |t: usize| left + (t as f64 - 1.0) / (last - 1.0) * (right - left);
    let y = |a: f64| bottom - (a - low) / (high - low).max(1.0) * (bottom - top);
    let mut out = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 720 370\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"720\" height=\"370\" fill=\"white\"/>\n",
    );
    let mut level = low;
    while level <= high {
        let at = y(level);
        let _ = writeln!(
            out,
            "<line x1=\"{left}\" y1=\"{at:.1}\" x2=\"{right}\" y2=\"{at:.1}\" stroke=\"#ddd\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{level} %</text>",
            left - 6.0,
            at + 4.0
        );
        level += 5.0;
    }
    for &t in shown {
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{t}</text>",
            x(t),
            bottom + 20.0
        );
    }
    for (k, (c, colour)) in curves.iter().zip(COLOURS).enumerate() {
        let dots: Vec<String> =
            shown.iter().zip(&c.accuracy).map(|(&t, &a)| format!("{:.1},{:.1}", x(t), y(a))).collect();
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>\
             <text x=\"{}\" y=\"{}\" fill=\"{colour}\">{}</text>",
            dots.join(" "),
            right + 12.0,
            top + 20.0 * (k as f64 + 1.0),
            c.name
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">batch</text>\n</svg>",
        f64::midpoint(left, right),
        bottom + 40.0
    );
    out
}

/// The labels of generated rows; all but the first `known` rows hidden.
fn targets(labels: &Labels, known: usize) -> Targets {
    let one = |(i, class): (usize, &Option<u32>)| match class {
        Some(0) if i < known => Label::Neg,
        Some(_) if i < known => Label::Pos,
        _ => Label::Unknown,
    };
    Targets { y: labels.of.iter().enumerate().map(one).collect(), cost: vec![1.0; labels.of.len()] }
}

/// A stream of generated batches of 97 to 103 rows, a share of each labelled, and 1000 test rows.
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

/// Streams with the seeds from `first` on.
fn streams(
    bench: &Bench<'_>,
    first: usize,
    count: usize,
    one: impl Fn(u64) -> Result<Stream>,
) -> Result<Vec<Stream>> {
    (first..first + count).map(|k| one(seed_of(bench.options.seed, 1000 * k + 7))).collect()
}

/// (1 + ln v)·ln(n/df) with df of the first batch, rows of unit length.
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

/// Figure 1: categories, all rows labelled.
pub(crate) fn categories(bench: &Bench<'_>) -> Result<String> {
    const SHOWN: [usize; 7] = [1, 2, 3, 5, 10, 20, 30];
    let runs = bench.options.repetitions.unwrap_or(10).max(1);
    let one = |seed| generated("categories", 30, 1.0, seed).and_then(weighted);
    let (validation, tests) = (streams(bench, 500, 2, one)?, streams(bench, 0, runs, one)?);
    let grid = |costs: &[f64], loss: Loss, bias: Bias| {
        let base = MedParams {
            kernel: Kernel::Linear,
            beta: 0.0,
            loss,
            bias,
            tolerance: 1e-3,
            ..MedParams::default()
        };
        costs.iter().map(|&c| MedParams { c, bias_variance: 0.1, ..base.clone() }).collect::<Vec<_>>()
    };
    let boxed = || grid(&[0.1, 0.3, 1.0, 3.0], Loss::Box, Bias::Prior);
    let lines = [
        Line { name: "current batch alone", sight: Sight::Current, grid: boxed() },
        Line { name: "sequential", sight: Sight::Sequential, grid: boxed() },
        Line {
            name: "sequential, barrier, free constant",
            sight: Sight::Sequential,
            grid: grid(&[1.05, 1.5, 3.0, 10.0], Loss::Barrier, Bias::Free),
        },
        Line { name: "all batches again", sight: Sight::All, grid: boxed() },
    ];
    figure(bench, &lines, (&validation, &SHOWN), &tests, &SHOWN)
}

/// Figure 2: the centre and the shell of a ball, a tenth of the rows labelled.
pub(crate) fn ball(bench: &Bench<'_>) -> Result<String> {
    const SHOWN: [usize; 8] = [1, 2, 3, 4, 6, 8, 10, 12];
    let runs = bench.options.repetitions.unwrap_or(20).max(1);
    let one = |seed| generated("ball", 12, 0.1, seed);
    let (validation, tests) = (streams(bench, 500, 3, one)?, streams(bench, 0, runs, one)?);
    // exp(−d²/4t), t = 0.01, is a width of √(2t)
    let penalty = PenaltyParams { neighbours: 20, width: 0.02f64.sqrt(), ..PenaltyParams::default() };
    let base =
        MedParams { kernel: Kernel::Rbf { gamma: 0.5 }, penalty, landmarks: 100, ..MedParams::default() };
    let grid = |form: Form, betas: &[f64], landmarks: usize| {
        let pairs = [5.0, 50.0, 500.0].into_iter().flat_map(|c| betas.iter().map(move |b| (c, *b)));
        pairs.map(|(c, beta)| MedParams { c, beta, form, landmarks, ..base.clone() }).collect::<Vec<_>>()
    };
    let betas = [0.005, 0.05, 0.5, 5.0];
    let lines = [
        Line { name: "current batch alone", sight: Sight::Current, grid: grid(Form::Bounded, &betas, 100) },
        Line { name: "sequential", sight: Sight::Sequential, grid: grid(Form::Bounded, &betas, 100) },
        Line { name: "sequential, exact", sight: Sight::Sequential, grid: grid(Form::Exact, &betas, 100) },
        Line {
            name: "sequential, spectral",
            sight: Sight::Sequential,
            grid: grid(Form::Spectral, &betas, 100),
        },
        Line {
            name: "sequential, labels alone",
            sight: Sight::Sequential,
            grid: grid(Form::Bounded, &[0.0], 100),
        },
        Line { name: "all, labels alone", sight: Sight::All, grid: grid(Form::Bounded, &[0.0], 400) },
        Line { name: "all batches again", sight: Sight::All, grid: grid(Form::Bounded, &betas, 400) },
    ];
    figure(bench, &lines, (&validation, &SHOWN), &tests, &SHOWN)
}

/// The first batches of a stream, and the rows of the others that have a label to test on: what may be looked at when
/// parameters are chosen.
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

/// Figure 3: Isolet, five speakers a batch, the first of them labelled; the first against the second half of the alphabet.
pub(crate) fn letters(bench: &Bench<'_>) -> Result<String> {
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
    let validation = held_out(&batches, 20);
    let tests = [Stream { batches, test, truth }];
    // the source has γ_A·l = γ_I·l/n² = 0.005, that is C = 100 and 2β = 1, and σ = 10
    let penalty = PenaltyParams { neighbours: 10, ..PenaltyParams::default() };
    let kernel = Kernel::Rbf { gamma: 0.005 };
    let base = MedParams { kernel, penalty, ..MedParams::default() };
    let grid = |beta: f64, landmarks: usize, costs: &[f64]| {
        costs.iter().map(|&c| MedParams { c, beta, landmarks, ..base.clone() }).collect::<Vec<_>>()
    };
    let costs = [0.1, 1.0, 10.0, 100.0];
    let lines = [
        Line { name: "current batch alone", sight: Sight::Current, grid: grid(0.5, 1000, &costs) },
        Line { name: "sequential", sight: Sight::Sequential, grid: grid(0.5, 1000, &costs) },
        Line { name: "sequential, source's C", sight: Sight::Sequential, grid: grid(0.5, 1000, &[100.0]) },
        Line { name: "sequential, 300 landmarks", sight: Sight::Sequential, grid: grid(0.5, 300, &costs) },
        Line { name: "sequential, labels alone", sight: Sight::Sequential, grid: grid(0.0, 1000, &costs) },
        Line { name: "all, labels alone", sight: Sight::All, grid: grid(0.0, 2000, &costs) },
        Line { name: "all batches again", sight: Sight::All, grid: grid(0.5, 2000, &costs) },
    ];
    figure(bench, &lines, (from_ref(&validation), &[4, 12, 20]), &tests, &SHOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_drawn_where_they_belong() {
        let params = MedParams::default();
        let curve =
            |name, accuracy: [f64; 2]| Curve { name, params: params.clone(), accuracy: accuracy.to_vec() };
        let svg = drawing(&[curve("a", [80.0, 85.0]), curve("b", [80.0, 100.0])], &[1, 3]);
        assert!(svg.contains("50.0,320.0 470.0,245.0") && svg.contains("50.0,320.0 470.0,20.0"), "{svg}");
        assert!(svg.trim_end().ends_with("</svg>"));
    }

    #[test]
    fn what_is_seen_is_what_is_said() {
        let stream = generated("ball", 3, 0.5, 5).unwrap();
        assert!(stream.batches.iter().all(|(x, _)| (97..=103).contains(&x.rows())));
        let params = MedParams { kernel: Kernel::Rbf { gamma: 0.5 }, c: 5.0, ..MedParams::default() };
        let [current, ours, all] = [Sight::Current, Sight::Sequential, Sight::All]
            .map(|s| follow(s, &params, &stream, &[1, 2, 3]).unwrap());
        // of one batch all see the same
        assert!((current[0] - ours[0]).abs() < 1e-9 && (current[0] - all[0]).abs() < 1e-9);
        assert_ne!(ours, current);
        assert_eq!(follow(Sight::Current, &params, &stream, &[3]).unwrap(), current[2..]);
        let part = held_out(&stream.batches, 2);
        assert_eq!((part.batches.len(), part.truth.len()), (2, stream.batches[2].1.used().len()));
        assert_eq!(part.test.rows(), part.truth.len());
    }
}
