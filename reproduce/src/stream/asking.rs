//! Figures V.2 to V.4: questions at every batch of a stream. As the source has it: rows of the batch are chosen, their labels
//! join those known, then the batch is labelled. Rows that were asked about are not scored.

use super::memory::{PLANS, Plan, Shelf, repetitions};
use super::walk::{Ask, Mode, Way, walk};
use super::{mean, params, wanted};
use crate::failure::Result;
use crate::run::Bench;
use crate::show::markdown::spread;
use evermargin::engine::transduction::TransductionParams;
use evermargin::query::Seek;
use std::fmt::Write;

/// Shares of the rows asked about: the source's, and what a person would bear.
const SHARES: [f64; 4] = [0.25, 0.05, 0.01, 0.001];

const ASKS: [(&str, Ask); 4] = [
    ("random", Ask::Random),
    ("SUBMOD-ACTV", Ask::Submod(Seek::Outliers)),
    ("SUBMOD-ACTV, dense", Ask::Submod(Seek::Dense)),
    ("diverse", Ask::Diverse),
];

/// Most batches of a stream: a quarter of all labels is many, and all are kept, as in the source.
const MOST: usize = 30;

/// The claim.
pub(crate) fn streams(bench: &Bench<'_>) -> Result<String> {
    let params = params(bench)?;
    let mut out = format!(
        "Accuracy in percent of the rows not asked about, mean of the last half of the batches; in brackets the difference to \
         random asking, mean over the runs, and in how many of them it is above. Incremental, tolerant, true share, ρ = {}; \
         labels that come with the stream as in `emara-iv`.\n",
        params.rho
    );
    let mut shelf = Shelf::default();
    let small = |p: &&Plan| !matches!(p.name, "kdd-4000" | "kdd-8000" | "newsgroups-440");
    for plan in PLANS.iter().filter(small).filter(|p| wanted(bench, p.name)) {
        out.push_str(&stream(bench, plan, &params, &mut shelf)?);
    }
    Ok(out)
}

fn stream(bench: &Bench<'_>, plan: &Plan, params: &TransductionParams, shelf: &mut Shelf) -> Result<String> {
    let count = repetitions(bench, plan);
    let (mut none, mut batches) = (Vec::new(), 0);
    let mut found = vec![(0, vec![Vec::new(); ASKS.len()]); SHARES.len()];
    for repetition in 0..count {
        let most = if plan.batch < 500 { 0 } else { MOST };
        let Some(stream) = shelf.stream(bench, plan, repetition, most)? else {
            return Ok(format!("\n### {}\n\nThe data are missing.\n", plan.name));
        };
        batches = stream.batches();
        let late = |ask: Option<(Ask, f64)>| -> Result<(f64, usize)> {
            let seed = repetition as u64;
            let way = Way { mode: Mode::Incremental, params: params.clone(), true_share: true, ask, seed };
            let steps = walk(&stream, &way)?;
            let half = &steps[steps.len() / 2..];
            let rates: Vec<f64> = half.iter().filter_map(|s| s.accuracy(&stream.truth)).collect();
            Ok((100.0 * mean(&rates), steps.last().map_or(0, |s| s.known)))
        };
        none.push(late(None)?.0);
        for (share, (labels, found)) in SHARES.iter().zip(&mut found) {
            for ((name, ask), found) in ASKS.iter().zip(found.iter_mut()) {
                let (rate, known) = late(Some((*ask, *share)))?;
                found.push(rate);
                *labels = known;
                bench.say(&format!(
                    "{} {}/{count} {share} {name}: {:.2}",
                    plan.name,
                    repetition + 1,
                    mean(found)
                ));
            }
        }
    }
    Ok(table(plan, (batches, count), &none, &found))
}

fn table(
    plan: &Plan,
    (batches, count): (usize, usize),
    none: &[f64],
    found: &[(usize, Vec<Vec<f64>>)],
) -> String {
    let heads: Vec<&str> = ASKS.iter().map(|(name, _)| *name).collect();
    let mut out = format!(
        "\n### {}\n\n{batches} batches of {}, {} labels beside the questions, {count} runs; no questions: {}.\n\n| asked about | labels in the end | {} |\n|--:|--:|{}\n",
        plan.name,
        plan.batch,
        plan.labels,
        spread(none, 2),
        heads.join(" | "),
        "--:|".repeat(heads.len())
    );
    let mut below = Vec::new();
    for (share, (labels, ways)) in SHARES.iter().zip(found) {
        let cells = ways.iter().enumerate().map(|(k, rates)| {
            let over: Vec<f64> = rates.iter().zip(&ways[0]).map(|(a, b)| a - b).collect();
            if k == 0 {
                return spread(rates, 2);
            }
            let above = over.iter().filter(|d| **d > 0.0).count();
            format!("{} ({:+.2}, {above} of {count})", spread(rates, 2), mean(&over))
        });
        let _ =
            writeln!(out, "| {} % | {labels} | {} |", 100.0 * share, cells.collect::<Vec<_>>().join(" | "));
        if mean(&ways[1]) <= mean(&ways[0]) {
            below.push(format!("{} %", 100.0 * share));
        }
    }
    let at = if below.is_empty() {
        "above random asking at every share".into()
    } else {
        format!("not above random asking at {}", below.join(", "))
    };
    let _ = writeln!(out, "\nSUBMOD-ACTV is {at}.");
    out
}
