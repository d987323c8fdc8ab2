//! Figures V.2 to V.4: queries at each batch of a stream with `evermargin run`. As in the source, rows of the batch are chosen, their
//! labels are added, then the batch is labeled. Queried rows are not scored.

use super::curves::{binned, figure};
use super::engine_walk::{Flags, Setup};
use super::mean;
use super::shelf::{CONNECTIONS, PLANS, Plan, Run, Shelf, Track, chosen, repetitions};
use crate::failure::{Failure, Result};
use crate::findings::{Findings, Series};
use crate::run::Bench;
use crate::show::markdown::spread;
use std::fmt::Write;

/// Maximum shares of queried rows: that of the source, and one that is realistic for an annotator.
const SHARES: [f64; 2] = [0.25, 0.05];

/// A query strategy: its name, flags of `evermargin run`, whether the share of positives is given.
type QueryStrategy = (&'static str, Flags, bool);

/// Query strategies; the others are compared with the first two, at the same setting of the ratio.
const STRATEGIES: [QueryStrategy; 6] = [
    ("random", &[("strategy", "random")], false),
    ("random, ratio given", &[("strategy", "random")], true),
    ("SUBMOD-ACTV", &[("strategy", "submod"), ("submod_weights", "outliers")], false),
    ("SUBMOD-ACTV, ratio given", &[("strategy", "submod"), ("submod_weights", "outliers")], true),
    ("SUBMOD-ACTV dense", &[("strategy", "submod")], false),
    ("small-pool", &[], false),
];

/// Maximum number of batches per stream, because a quarter of all labels is a large number.
const MAX_BATCHES: usize = 30;

/// Maximum number of repetitions of a run of the engine.
const MAX_REPETITIONS: usize = 3;

/// Runs of one repetition: without queries, and by share and query strategy.
struct Together {
    none: Track,
    asked: Vec<Vec<Track>>,
}

fn runs_of(bench: &Bench<'_>, plan: &Plan) -> usize {
    bench.options.repetitions.unwrap_or(repetitions(bench, plan).min(MAX_REPETITIONS)).max(1)
}

/// Statement `emara-v`: query strategies along streams.
pub(crate) fn streams(bench: &Bench<'_>) -> Result<Findings> {
    let mut plans = chosen(bench, &PLANS);
    plans.retain(|p| p.batch < 1000);
    plans.extend(chosen(bench, &CONNECTIONS[..1]));
    let shares = if bench.options.quick { &SHARES[..1] } else { &SHARES[..] };
    let mut pieces = Vec::new();
    for plan in &plans {
        for repetition in 0..runs_of(bench, plan) {
            let run = Run { plan, repetition, max: if plan.batch < 500 { 0 } else { MAX_BATCHES } };
            let seed = repetition as u64 + 1;
            pieces.push((run, Setup::of(&[], seed)));
            for ask in shares {
                let setup =
                    |given_ratio: bool, flags| Setup { given_ratio, ask: *ask, ..Setup::of(flags, seed) };
                pieces.extend(STRATEGIES.iter().map(|(_, flags, given)| (run, setup(*given, flags))));
            }
        }
    }
    let shelf = Shelf::default();
    let done = bench.each(&pieces, |(run, setup)| {
        let [incremental, _] = shelf.run(bench, *run, setup)?;
        Ok(incremental)
    });
    let mut found = Findings::default();
    let names: Vec<&str> = STRATEGIES.iter().map(|(name, ..)| *name).collect();
    let _ = writeln!(
        found.notes,
        "Accuracy in percent of the rows not asked about, mean of the last half of the batches; in parentheses the labels known at the \
         end. At most the named share of each batch is asked about.\n\n| stream | no questions | {} |\n|---|--:|{}",
        names.join(" | "),
        "--:|".repeat(names.len())
    );
    let mut done = done.into_iter();
    for plan in plans {
        let mut runs = Vec::new();
        for _ in 0..runs_of(bench, plan) {
            match together(&mut done, shares.len()) {
                Ok(together) => runs.push(together),
                Err(missing @ Failure::Missing { .. }) => found.missing(plan.name, &missing.to_string()),
                Err(failure) => return Err(failure),
            }
        }
        if !runs.is_empty() {
            record(plan, shares, &runs, &mut found);
        }
    }
    Ok(found)
}

/// The next repetition; all its runs are taken from the iterator even if one failed.
fn together(done: &mut impl Iterator<Item = Result<Track>>, shares: usize) -> Result<Together> {
    let all: Vec<Result<Track>> = done.take(1 + shares * STRATEGIES.len()).collect();
    let mut all = all.into_iter().collect::<Result<Vec<Track>>>()?.into_iter();
    let none = all.next().ok_or_else(|| Failure::Content("no walk".into()))?;
    let rest: Vec<Track> = all.collect();
    Ok(Together { none, asked: rest.chunks(STRATEGIES.len()).map(<[Track]>::to_vec).collect() })
}

fn record(plan: &Plan, shares: &[f64], runs: &[Together], found: &mut Findings) {
    for (s, share) in shares.iter().enumerate() {
        let row = format!("{}, {} %", plan.name, 100.0 * share);
        for (k, (name, _, given)) in STRATEGIES.iter().enumerate().skip(2) {
            let over = |base: &dyn Fn(&Together) -> f64| {
                runs.iter().map(|r| r.asked[s][k].late() - base(r)).collect::<Vec<f64>>()
            };
            found.add(&row, name, "over_random", over(&|r| r.asked[s][usize::from(*given)].late()));
            found.add(&row, name, "over_none", over(&|r| r.none.late()));
        }
    }
    for (s, share) in shares.iter().enumerate() {
        let cell = |of: &dyn Fn(&Together) -> &Track| {
            let late: Vec<f64> = runs.iter().map(|r| 100.0 * of(r).late()).collect();
            let known: Vec<f64> = runs.iter().map(|r| of(r).known.last().copied().unwrap_or(0.0)).collect();
            format!("{} ({:.0})", spread(&late, 2), mean(&known))
        };
        let cells: Vec<String> = (0..STRATEGIES.len()).map(|k| cell(&|r| &r.asked[s][k])).collect();
        let row = format!("{}, {} %", plan.name, 100.0 * share);
        let _ = writeln!(found.notes, "| {row} | {} | {} |", cell(&|r| &r.none), cells.join(" | "));
    }
    let curve = |name: &str, of: &dyn Fn(&Together) -> &Track| {
        let percent = |r: &Together| of(r).accuracy.iter().map(|a| a.map(|a| 100.0 * a)).collect();
        Series { name: name.into(), points: binned(&runs.iter().map(percent).collect::<Vec<_>>()) }
    };
    let mut series = vec![curve("no questions", &|r| &r.none)];
    series.extend(STRATEGIES.iter().enumerate().map(|(k, (name, ..))| curve(name, &|r| &r.asked[0][k])));
    let title = format!("{}: a quarter of each batch asked about", plan.name);
    found.figures.push(figure(&title, ("batch", "accuracy %"), series));
    if shares.len() > 1 {
        let late =
            |k: usize, s: usize| 100.0 * mean(&runs.iter().map(|r| r.asked[s][k].late()).collect::<Vec<_>>());
        let points = |k: usize| (0..shares.len()).rev().map(|s| [100.0 * shares[s], late(k, s)]).collect();
        let series = STRATEGIES
            .iter()
            .enumerate()
            .map(|(k, (name, ..))| Series { name: (*name).into(), points: points(k) });
        let title = format!("{}: accuracy of the last half against questions", plan.name);
        let mut drawn = figure(&title, ("rows asked about %", "accuracy %"), series.collect());
        drawn.log_x = true;
        found.figures.push(drawn);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn track(rate: f64) -> Track {
        Track { accuracy: vec![Some(rate); 4], ..Track::default() }
    }

    #[test]
    fn runs_are_compared_with_random_queries_of_the_same_share() {
        // without queries, then six strategies for each of two shares
        let rates = [0.5, 0.6, 0.7, 0.8, 0.9, 0.1, 0.2, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65];
        let mut done = rates.into_iter().map(|r| Ok(track(r)));
        let runs = [together(&mut done, 2).unwrap()];
        let mut found = Findings::default();
        record(&PLANS[0], &[0.25, 0.05], &runs, &mut found);
        let value = |row: &str, method: &str, metric: &str| {
            found.of(row, method, metric).unwrap().runs.clone().unwrap()[0]
        };
        let near =
            |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        near(value("newsgroups, 25 %", "SUBMOD-ACTV", "over_random"), 0.8 - 0.6);
        near(value("newsgroups, 25 %", "SUBMOD-ACTV, ratio given", "over_random"), 0.9 - 0.7);
        near(value("newsgroups, 5 %", "small-pool", "over_random"), 0.65 - 0.15);
        near(value("newsgroups, 5 %", "SUBMOD-ACTV", "over_none"), 0.35 - 0.5);
        assert_eq!(found.figures.len(), 2);
        assert_eq!(found.figures[1].series[3].points.len(), 2);
        let mut short = rates.into_iter().map(|r| Ok(track(r))).take(0);
        assert!(together(&mut short, 2).is_err());
    }
}
