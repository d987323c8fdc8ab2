//! Figures IV.19 to IV.35: accuracy and cost of labeling a stream with bounded memory, compared with storing all rows. Figures
//! IV.19 to IV.30 use the defaults of `evermargin run`, except for the settings that a figure compares.

use super::curves::{binned, figure};
use super::engine_walk::{Flags, Setup};
use super::growth::slope;
use super::shelf::{CONNECTIONS, Look, PLANS, Plan, Run, Shelf, Track, chosen, looks, repetitions};
use super::walk::Way;
use super::{mean, params};
use crate::failure::{Failure, Result};
use crate::findings::{Findings, Series};
use crate::run::Bench;
use crate::show::markdown::spread;
use evermargin::engine::transduction::TransductionParams;
use std::fmt::Write;

/// Maximum number of repetitions of a run of the engine.
const MAX_REPETITIONS: usize = 3;

/// Maximum number of batches of network connections.
const MAX_CONNECTION_BATCHES: usize = 30;

/// A setting: flags of `evermargin run`, and whether the share of positives is given. One run has both modes; with the name `None`
/// the mode is left out.
struct Line {
    incremental: &'static str,
    online: Option<&'static str>,
    flags: Flags,
    given_ratio: bool,
}

const STRICT: Flags = &[("tolerance", "0")];
const TRANSDUCTION: Flags = &[("label_source", "transduction")];
const FEW_EXEMPLARS: Flags = &[("exemplars", "10")];
const LABELS_ALONE: Flags = &[("label_source", "model"), ("c_inferred", "0")];

const fn line(
    incremental: &'static str,
    online: Option<&'static str>,
    flags: Flags,
    given_ratio: bool,
) -> Line {
    Line { incremental, online, flags, given_ratio }
}

static LINES: [Line; 7] = [
    line("incremental tolerant", Some("online tolerant"), &[], false),
    line("incremental tolerant, ratio given", Some("online tolerant, ratio given"), &[], true),
    line("incremental strict", Some("online strict"), STRICT, false),
    line("10 exemplars", None, FEW_EXEMPLARS, false),
    line("transduction alone", None, TRANSDUCTION, false),
    line("transduction alone, ratio given", None, TRANSDUCTION, true),
    line("labels alone", None, LABELS_ALONE, false),
];

impl Line {
    fn setup(&self, repetition: usize) -> Setup {
        let setup = Setup::of(self.flags, repetition as u64 + 1);
        Setup { given_ratio: self.given_ratio, ..setup }
    }

    fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.incremental).chain(self.online)
    }
}

/// A piece of work: a run of the engine, or batch learning at one batch.
enum Piece {
    Walk(&'static Line),
    Look(usize),
}

/// Result of a piece of work.
enum Part {
    Walk(&'static Line, Box<[Track; 2]>),
    Look(Look),
}

/// Runs of a repetition, and the evaluations of batch learning.
#[derive(Default)]
struct Together {
    tracks: Vec<(&'static str, Track)>,
    looks: Vec<Look>,
}

impl Together {
    fn track(&self, name: &str) -> Option<&Track> {
        self.tracks.iter().find(|(n, _)| *n == name).map(|(_, t)| t)
    }

    /// Mean difference by which a run is below batch learning, at the batches of the last half where batch learning was evaluated.
    fn behind(&self, track: &Track) -> Option<f64> {
        let half = track.accuracy.len() / 2;
        let gaps = self.looks.iter().filter(|l| l.at >= half);
        let gaps: Vec<f64> = gaps.filter_map(|l| Some(l.accuracy? - (*track.accuracy.get(l.at)?)?)).collect();
        (!gaps.is_empty()).then(|| mean(&gaps))
    }
}

/// Statement of figures IV.19 to IV.30.
pub(crate) fn streams(bench: &Bench<'_>) -> Result<Findings> {
    let mut found = Findings::default();
    let _ = writeln!(
        found.notes,
        "Accuracy in percent, mean of the last half of the batches. *Batch learning* is SUBMOD-S3VM over all rows so far with the \
         true share of positives; every other column is `evermargin run`. *Strict* is `--tolerance 0`, *10 exemplars* \
         `--exemplars 10`, *transduction alone* `--label-source transduction`, *labels alone* `--label-source model --c-inferred 0`; \
         *ratio given* is `--ratio` with the share of positives of the stream, elsewhere it is estimated.\n"
    );
    measure(bench, (&PLANS, 0), &LINES.each_ref(), &mut found)?;
    Ok(found)
}

/// Statement of figure IV.25.
pub(crate) fn connections(bench: &Bench<'_>) -> Result<Findings> {
    let mut found = Findings::default();
    let _ = writeln!(found.notes, "Accuracy in percent, mean of the last half of the batches.\n");
    let lines = [&LINES[0], &LINES[1], &LINES[6]];
    measure(bench, (&CONNECTIONS, MAX_CONNECTION_BATCHES), &lines, &mut found)?;
    Ok(found)
}

/// Number of repetitions of a plan.
fn runs_of(bench: &Bench<'_>, plan: &Plan) -> usize {
    bench.options.repetitions.unwrap_or(repetitions(bench, plan).min(MAX_REPETITIONS)).max(1)
}

/// Measures plans with at most `max` batches (0 is all).
fn measure(
    bench: &Bench<'_>,
    (plans, max): (&[Plan], usize),
    lines: &[&'static Line],
    found: &mut Findings,
) -> Result<()> {
    let names: Vec<&str> = lines.iter().flat_map(|line| line.names()).collect();
    let _ = writeln!(
        found.notes,
        "| stream | batch learning | {} |\n|---|--:|{}",
        names.join(" | "),
        "--:|".repeat(names.len())
    );
    let params = params(bench)?;
    let mut pieces = Vec::new();
    for plan in chosen(bench, plans) {
        for repetition in 0..runs_of(bench, plan) {
            let run = Run { plan, repetition, max };
            pieces.extend(lines.iter().map(|l| (run, Piece::Walk(l))));
            pieces.extend((0..looks(bench, plan)).map(|k| (run, Piece::Look(k))));
        }
    }
    let shelf = Shelf::default();
    let done = bench.each(&pieces, |(run, piece)| match piece {
        Piece::Walk(line) => shelf
            .run(bench, *run, &line.setup(run.repetition))
            .map(|tracks| Part::Walk(line, Box::new(tracks))),
        Piece::Look(k) => {
            let way = Way { params: params.clone(), seed: run.repetition as u64 };
            shelf.look(bench, *run, &way, *k).map(Part::Look)
        }
    });
    let mut done = pieces.iter().zip(done).collect::<Vec<_>>().into_iter().peekable();
    for plan in chosen(bench, plans) {
        let mut runs = Vec::new();
        let mut missing = None;
        for repetition in 0..runs_of(bench, plan) {
            let mut together = Together::default();
            let ours = |((run, _), _): &(&(Run<'_>, Piece), Result<Part>)| {
                run.plan.name == plan.name && run.repetition == repetition
            };
            while let Some((_, part)) = done.next_if(ours) {
                match part {
                    Ok(Part::Walk(line, tracks)) => together.tracks.extend(line.names().zip(*tracks)),
                    Ok(Part::Look(look)) => together.looks.push(look),
                    Err(why @ Failure::Missing { .. }) => missing = Some(why.to_string()),
                    Err(failure) => return Err(failure),
                }
            }
            runs.push(together);
        }
        match missing {
            Some(why) => found.missing(plan.name, &why),
            None => record(plan, lines, &runs, found),
        }
    }
    Ok(())
}

/// Records cells, curves and one line of the notes.
fn record(plan: &Plan, lines: &[&'static Line], runs: &[Together], found: &mut Findings) {
    let of = |name: &str| runs.iter().filter_map(|r| Some((r, r.track(name)?))).collect::<Vec<_>>();
    let late = |name: &str| of(name).iter().map(|(_, t)| t.late()).collect::<Vec<f64>>();
    let names: Vec<&str> = lines.iter().flat_map(|line| line.names()).collect();
    for name in &names {
        let mut add = |metric: &str, value: &dyn Fn(&Together, &Track) -> Option<f64>| {
            let values: Vec<f64> = of(name).iter().filter_map(|(r, t)| value(r, t)).collect();
            found.add(plan.name, name, metric, values);
        };
        add("behind", &|r, t| r.behind(t));
        add("cost", &|_, t| Some(mean(&t.cost)));
        add("cost_most", &|_, t| Some(max(&t.cost)));
        add("kept", &|_, t| Some(max(&t.kept)));
        add("growth", &|_, t| Some(growth(&t.seconds)));
        add("behind_strict", &|r, t| Some(r.track("incremental strict")?.late() - t.late()));
        add("behind_incremental", &|r, t| Some(r.track("incremental tolerant")?.late() - t.late()));
        add("exemplars_share", &|r, t| {
            let strict = &r.track("incremental strict")?.exemplars;
            Some(mean(&t.exemplars) / mean(strict).max(1.0))
        });
    }
    let percent = |values: Vec<f64>| spread(&values.iter().map(|v| 100.0 * v).collect::<Vec<_>>(), 2);
    let whole = |r: &Together| {
        let half = r.tracks.first().map_or(0, |(_, t)| t.accuracy.len() / 2);
        mean(&r.looks.iter().filter(|l| l.at >= half).filter_map(|l| l.accuracy).collect::<Vec<_>>())
    };
    let cells: Vec<String> = names.iter().map(|name| percent(late(name))).collect();
    let batch = percent(runs.iter().map(whole).collect());
    let _ = writeln!(found.notes, "| {} | {batch} | {} |", plan.name, cells.join(" | "));
    draw(plan, runs, found);
}

fn draw(plan: &Plan, runs: &[Together], found: &mut Findings) {
    let series = |names: &[&str], value: &dyn Fn(&Track) -> Vec<Option<f64>>| {
        let of = |name: &&str| {
            let all: Vec<Vec<Option<f64>>> = runs.iter().filter_map(|r| r.track(name)).map(value).collect();
            (!all.is_empty()).then(|| Series { name: (*name).to_string(), points: binned(&all) })
        };
        names.iter().filter_map(of).collect::<Vec<Series>>()
    };
    let some = |values: &[f64], factor: f64| values.iter().map(|v| Some(factor * v)).collect();
    let whole = |value: &dyn Fn(&Look) -> Option<f64>| {
        let mut points: Vec<[f64; 2]> = Vec::new();
        for look in runs.first().map_or(&[][..], |r| &r.looks) {
            let all = runs.iter().flat_map(|r| &r.looks).filter(|l| l.at == look.at).filter_map(value);
            let all: Vec<f64> = all.collect();
            if !all.is_empty() {
                points.push([look.at as f64 + 1.0, mean(&all)]);
            }
        }
        Series { name: "batch learning".into(), points }
    };
    let mut accuracy = series(
        &["incremental tolerant", "online tolerant", "incremental tolerant, ratio given", "labels alone"],
        &|t: &Track| t.accuracy.iter().map(|a| a.map(|a| 100.0 * a)).collect(),
    );
    accuracy.push(whole(&|l| l.accuracy.map(|a| 100.0 * a)));
    let title = |what: &str| format!("{}: {what}", plan.name);
    found.figures.push(figure(&title("accuracy"), ("batch", "accuracy %"), accuracy));
    let cost = series(&["incremental tolerant", "incremental strict"], &|t| some(&t.cost, 100.0));
    found.figures.push(figure(&title("cost of summarizing"), ("batch", "labels changed %"), cost));
    let mut seconds = series(&["incremental tolerant", "incremental strict", "online tolerant"], &|t| {
        some(&t.seconds, 1.0)
    });
    seconds.push(whole(&|l| Some(l.seconds)));
    let mut time = figure(&title("time of a batch"), ("batch", "processor seconds"), seconds);
    time.log_y = true;
    found.figures.push(time);
}

fn max(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

/// Change of the time per batch from the start to the end of the last half, relative to its mean.
fn growth(seconds: &[f64]) -> f64 {
    let half = &seconds[seconds.len() / 2..];
    slope(half).0 * half.len() as f64 / mean(half).max(1e-12)
}

/// Statement of figures IV.33 to IV.35: the density of the current batch is added to stored samples of earlier batches (η = 1), or
/// not.
pub(crate) fn dependence(bench: &Bench<'_>) -> Result<Findings> {
    let params = params(bench)?;
    let mut pieces = Vec::new();
    for plan in chosen(bench, &PLANS) {
        for repetition in 0..repetitions(bench, plan) {
            pieces.extend([1.0, 0.0].map(|beyond| (Run::of(plan, repetition), beyond)));
        }
    }
    let shelf = Shelf::default();
    let done = bench.each(&pieces, |(run, beyond)| {
        let params = TransductionParams { next_batch_weight: *beyond, ..params.clone() };
        shelf.track(bench, *run, &Way { params, seed: run.repetition as u64 })
    });
    let mut found = Findings::default();
    for plan in chosen(bench, &PLANS) {
        let (mut on, mut off) = (Vec::new(), Vec::new());
        for ((run, beyond), track) in pieces.iter().zip(&done).filter(|((r, _), _)| r.plan.name == plan.name)
        {
            match track {
                Ok(track) if *beyond > 0.0 => on.push(track),
                Ok(track) => off.push(track),
                Err(missing @ Failure::Missing { .. }) => found.missing(run.plan.name, &missing.to_string()),
                Err(failure) => return Err(Failure::Content(failure.to_string())),
            }
        }
        if on.is_empty() || on.len() != off.len() {
            continue;
        }
        let differences = on.iter().zip(&off).map(|(on, off)| off.late() - on.late()).collect();
        found.add(plan.name, "with dependence", "behind", differences);
        let costs = on.iter().zip(&off).map(|(on, off)| mean(&on.cost) - mean(&off.cost)).collect();
        found.add(plan.name, "with dependence", "cost_more", costs);
        let curve = |name: &str, tracks: &[&Track]| {
            let percent = |t: &&Track| t.accuracy.iter().map(|a| a.map(|a| 100.0 * a)).collect();
            Series { name: name.into(), points: binned(&tracks.iter().map(percent).collect::<Vec<_>>()) }
        };
        let series = vec![curve("with dependence", &on), curve("without", &off)];
        found.figures.push(figure(plan.name, ("batch", "accuracy %"), series));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_the_relative_change_over_the_last_half() {
        // from 2.0 in steps of 0.1 per batch, with ten batches in the last half
        let seconds: Vec<f64> =
            (0..20).map(|i| if i < 10 { 9.0 } else { 1.0 + 0.1 * f64::from(i) }).collect();
        assert!((growth(&seconds) - 1.0 / 2.45).abs() < 1e-9);
    }

    #[test]
    fn difference_is_measured_where_batch_learning_was_evaluated() {
        let track = Track { accuracy: vec![Some(0.1), None, Some(0.8), Some(0.9)], ..Track::default() };
        let look = |at, accuracy| Look { at, accuracy: Some(accuracy), seconds: 0.0 };
        let together =
            Together { looks: vec![look(0, 0.9), look(2, 0.9), look(3, 0.8)], ..Together::default() };
        assert!(together.behind(&track).unwrap().abs() < 1e-12);
        let early = Together { looks: vec![look(0, 0.9)], ..Together::default() };
        assert_eq!(early.behind(&track), None);
    }
}
