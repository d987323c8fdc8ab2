//! Figures V.2 to V.4: questions at every batch of a stream. As the source has it: rows of the batch are chosen, their labels
//! join those known, then the batch is labeled. Rows that were asked about are not scored.

use super::curves::{binned, figure};
use super::shelf::{CONNECTIONS, PLANS, Plan, Run, Shelf, Track, chosen, repetitions};
use super::walk::{Ask, Mode, Way};
use super::{mean, params};
use crate::failure::{Failure, Result};
use crate::findings::{Findings, Series};
use crate::run::Bench;
use evermargin::active::Seek;

/// Shares of the rows asked about: the source's, and what a person would bear.
const SHARES: [f64; 4] = [0.25, 0.05, 0.01, 0.001];

const ASKS: [(&str, Ask); 4] = [
    ("random", Ask::Random),
    ("SUBMOD-ACTV", Ask::Submod(Seek::Outliers)),
    ("SUBMOD-ACTV dense", Ask::Submod(Seek::Dense)),
    ("diverse", Ask::Diverse),
];

/// Most batches of a stream: a quarter of all labels is many, and all are kept, as in the source.
const MAX_QUERIES: usize = 30;

/// The walks of one repetition: without questions, and by share and way of asking.
struct Together {
    none: Track,
    asked: Vec<Vec<Track>>,
}

/// The claim.
pub(crate) fn streams(bench: &Bench<'_>) -> Result<Findings> {
    let params = params(bench)?;
    let mut plans = chosen(bench, &PLANS);
    plans.retain(|p| p.batch < 1000);
    plans.extend(chosen(bench, &CONNECTIONS[..1]));
    let shares = if bench.options.quick { &SHARES[..1] } else { &SHARES[..] };
    let asks = || shares.iter().flat_map(|share| ASKS.iter().map(|(_, ask)| Some((*ask, *share))));
    let mut pieces = Vec::new();
    for plan in &plans {
        for repetition in 0..repetitions(bench, plan) {
            let max = if plan.batch < 500 { 0 } else { MAX_QUERIES };
            let run = Run { plan, repetition, max };
            pieces.extend([None].into_iter().chain(asks()).map(|ask| (run, ask)));
        }
    }
    let shelf = Shelf::default();
    let done = bench.each(&pieces, |(run, ask)| {
        let (mode, seed) = (Mode::Incremental, run.repetition as u64);
        let way = Way { mode, params: params.clone(), true_share: true, ask: *ask, seed };
        shelf.track(bench, *run, &way)
    });
    let mut found = Findings::default();
    let mut done = done.into_iter();
    for plan in plans {
        let mut runs = Vec::new();
        for _ in 0..repetitions(bench, plan) {
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

/// The next repetition; all its walks are taken even where one failed.
fn together(done: &mut impl Iterator<Item = Result<Track>>, shares: usize) -> Result<Together> {
    let all: Vec<Result<Track>> = done.take(1 + shares * ASKS.len()).collect();
    let mut all = all.into_iter().collect::<Result<Vec<Track>>>()?.into_iter();
    let none = all.next().ok_or_else(|| Failure::Content("no walk".into()))?;
    let rest: Vec<Track> = all.collect();
    Ok(Together { none, asked: rest.chunks(ASKS.len()).map(<[Track]>::to_vec).collect() })
}

fn record(plan: &Plan, shares: &[f64], runs: &[Together], found: &mut Findings) {
    for (s, share) in shares.iter().enumerate() {
        let row = format!("{}, {} %", plan.name, 100.0 * share);
        for (k, (name, _)) in ASKS.iter().enumerate().skip(1) {
            let over = |base: &dyn Fn(&Together) -> f64| {
                runs.iter().map(|r| r.asked[s][k].late() - base(r)).collect::<Vec<f64>>()
            };
            found.add(&row, name, "over_random", over(&|r| r.asked[s][0].late()));
            found.add(&row, name, "over_none", over(&|r| r.none.late()));
        }
    }
    let curve = |name: &str, of: &dyn Fn(&Together) -> &Track| {
        let percent = |r: &Together| of(r).accuracy.iter().map(|a| a.map(|a| 100.0 * a)).collect();
        Series { name: name.into(), points: binned(&runs.iter().map(percent).collect::<Vec<_>>()) }
    };
    let mut series = vec![curve("no questions", &|r| &r.none)];
    series.extend(ASKS.iter().enumerate().map(|(k, (name, _))| curve(name, &|r| &r.asked[0][k])));
    let title = format!("{}: a quarter of each batch asked about", plan.name);
    found.figures.push(figure(&title, ("batch", "accuracy %"), series));
    if shares.len() > 1 {
        let late =
            |k: usize, s: usize| 100.0 * mean(&runs.iter().map(|r| r.asked[s][k].late()).collect::<Vec<_>>());
        let points = |k: usize| (0..shares.len()).rev().map(|s| [100.0 * shares[s], late(k, s)]).collect();
        let series =
            ASKS.iter().enumerate().map(|(k, (name, _))| Series { name: (*name).into(), points: points(k) });
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
    fn walks_are_compared_with_those_of_the_same_share() {
        let rates = [0.5, 0.6, 0.7, 0.8, 0.9, 0.1, 0.2, 0.3, 0.4];
        let mut done = rates.into_iter().map(|r| Ok(track(r)));
        let runs = [together(&mut done, 2).unwrap()];
        let mut found = Findings::default();
        record(&PLANS[0], &[0.25, 0.05], &runs, &mut found);
        let value = |row: &str, method: &str, metric: &str| {
            found.of(row, method, metric).unwrap().runs.clone().unwrap()[0]
        };
        assert!((value("newsgroups, 25 %", "diverse", "over_random") - 0.3).abs() < 1e-12);
        assert!((value("newsgroups, 5 %", "SUBMOD-ACTV", "over_none") + 0.3).abs() < 1e-12);
        assert_eq!(found.figures.len(), 2);
        assert_eq!(found.figures[1].series[3].points.len(), 2);
        let mut short = rates.into_iter().map(|r| Ok(track(r))).take(0);
        assert!(together(&mut short, 2).is_err());
    }
}
