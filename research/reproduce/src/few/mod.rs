//! Tables about few labels: rows are drawn, a few keep their label, and the inferred labels of the others are scored.

pub(crate) mod claims;
mod data;
pub(crate) mod lines;
pub(crate) mod sparse;
mod ways;

pub use data::{Rows, is_known};
pub use ways::{WAYS, Way};

use crate::data::Scaling;
use crate::failure::{Failure, Result};
use crate::findings::Findings;
use crate::judge::Verdict;
use crate::methods::Outcome;
use crate::run::{Bench, LARGE, Runs, chosen_rows, put, seed_of, verdict_of};
use crate::tables::{Availability, Few, Protocol, Row, SplitRecipe, Table};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One draw of rows and of the labeled rows among them.
#[derive(Debug, Clone)]
pub struct Task {
    /// The rows, scaled, with all labels.
    pub rows: Arc<Rows>,
    /// Labeled rows, ascending.
    pub labeled: Vec<usize>,
    /// The protocol of the row.
    pub protocol: Protocol,
    /// Protocol part of few labels.
    pub few: Few,
    /// Whether the share of positives is that of the labels instead of the true one, and all parameters have their defaults.
    pub honest: bool,
    /// Additional parameters of the learner.
    pub set: serde_json::Map<String, serde_json::Value>,
    /// Kernel width in units of the median distance, if it is chosen from a grid.
    pub width: f64,
    /// Number of the draw, a part of the cache key, which must not depend on the other draws that count.
    pub draw: usize,
}

/// Grid of λ for tables that publish the best of a grid.
const LAMBDAS: [f64; 3] = [1e-3, 1e-2, 1e-1];
const WIDTHS: [f64; 3] = [0.5, 1.0, 2.0];
/// Grid of λ for rows with C*/C (Emara, who does not state the settings of the other learners), in addition to the default λ of the
/// learner; large sets use a part of it to save time.
const OF_PEERS: [f64; 13] = [1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0];
const OF_LARGE: [f64; 4] = [1e-3, 1e-2, 0.1, 1.0];

/// Number of rows above which a row is large if the worst of many draws count, or with the conditions of a user; ten draws of
/// smaller rows take seconds.
const LARGE_OF_WORST: usize = 100_000;

/// Runs the part of a table that the options select.
pub fn table(bench: &Bench<'_>, table: &Table) -> Result<Findings> {
    let ways = chosen_ways(bench, table)?;
    let rows = chosen_rows(table, bench.options)?;
    let has = |row: &Row, way: Way| row.cells.iter().any(|c| table.columns[c.column].method == way.name());
    let ran = bench.each(&rows, |row| {
        let wanted: Vec<Way> = ways.iter().copied().filter(|w| has(row, *w)).collect();
        runs(bench, row, &wanted, table.honest)
    });
    let mut found = Findings::default();
    for (row, runs) in rows.iter().zip(&ran) {
        runs.iter().for_each(|(way, runs)| put(&mut found, table, row, way.name(), runs));
    }
    Ok(found)
}

fn chosen_ways(bench: &Bench<'_>, table: &Table) -> Result<Vec<Way>> {
    let mut found: Vec<Way> = table.columns.iter().map(|c| Way::by_name(&c.method)).collect::<Result<_>>()?;
    found.sort_unstable();
    found.dedup();
    if bench.options.methods.is_empty() {
        return Ok(found);
    }
    let asked: Vec<Way> =
        bench.options.methods.iter().map(|name| Way::by_name(name)).collect::<Result<_>>()?;
    let known = found.clone();
    found.retain(|w| asked.contains(w));
    let unknown = asked.iter().find(|w| !known.contains(w));
    if let Some(way) = unknown.filter(|_| !bench.options.several || found.is_empty()) {
        return Err(Failure::Unknown(format!("table {} has no method {}", table.id, way.name())));
    }
    Ok(found)
}

/// Runs all methods on all draws of a row.
fn runs(bench: &Bench<'_>, row: &Row, ways: &[Way], honest: bool) -> BTreeMap<Way, Runs> {
    let same = |verdict, why: String| ways.iter().map(|w| (*w, Err((verdict, why.clone())))).collect();
    if row.data == Availability::Missing {
        return same(Verdict::Missing, String::new());
    }
    if bench.options.quick && row.protocol.train > LARGE {
        return same(Verdict::NotRun, "left out by --quick".into());
    }
    let tasks = match draws(bench, row, honest) {
        Ok(tasks) => tasks,
        Err(failure) => return same(verdict_of(&failure), failure.to_string()),
    };
    ways.iter().map(|way| (*way, all_draws(bench, row, *way, &tasks))).collect()
}

fn all_draws(bench: &Bench<'_>, row: &Row, way: Way, tasks: &[Task]) -> Runs {
    let mut best: Option<(f64, Vec<Outcome>)> = None;
    let fixed = bench.options.quick || tasks.iter().any(|t| t.honest || t.set.contains_key("lambda"));
    for (lambda, width) in grid(&row.protocol, way, fixed) {
        let mut outcomes = Vec::new();
        for (k, task) in tasks.iter().enumerate() {
            let few = Few { lambda, ..task.few.clone() };
            let task = Task { few, width, ..task.clone() };
            outcomes.push(
                one(bench, row, way, &task, (k, tasks.len())).map_err(|f| (verdict_of(&f), f.to_string()))?,
            );
        }
        let error = outcomes.iter().map(|o| o.error).sum::<f64>();
        if best.as_ref().is_none_or(|(least, _)| error < *least) {
            best = Some((error, outcomes));
        }
    }
    best.map(|(_, outcomes)| outcomes).ok_or_else(|| (Verdict::NotRun, "no draw".to_string()))
}

/// Values of λ and width: those of the protocol, or a grid unless λ is `fixed`.
fn grid(protocol: &Protocol, way: Way, fixed: bool) -> Vec<(Option<f64>, f64)> {
    let few = protocol.few.as_ref();
    let lambda = few.and_then(|f| f.lambda);
    if lambda != Some(0.0) {
        return vec![(lambda, 0.0)];
    }
    if few.is_some_and(|f| f.kappa.is_some()) {
        let others: &[f64] = match protocol.train > LARGE {
            _ if fixed || !way.has_lambda() => &[],
            true => &OF_LARGE,
            false => &OF_PEERS,
        };
        return std::iter::once(None).chain(others.iter().copied().map(Some)).map(|l| (l, 0.0)).collect();
    }
    let widths: &[f64] = if protocol.kernel == "linear" { &[0.0] } else { &WIDTHS };
    let lambdas: &[f64] = if way.is_supervised() { &LAMBDAS[..1] } else { &LAMBDAS };
    lambdas.iter().flat_map(|l| widths.iter().map(move |w| (Some(*l), *w))).collect()
}

fn one(bench: &Bench<'_>, row: &Row, way: Way, task: &Task, (k, all): (usize, usize)) -> Result<Outcome> {
    let key = format!(
        "few {} {} {:?} {:?} {:?} {} {} {} {}",
        row.data_set,
        bench.options.seed,
        task.set,
        Protocol { repetitions: 0, ..task.protocol.clone() },
        task.few,
        task.width,
        task.honest,
        task.draw,
        way.name()
    );
    bench.cached(&key, || {
        let outcome = ways::run(way, task)?;
        bench.say(&format!(
            "{}: {} {}/{all}: {:.2} % right, {:.2} s",
            row.name,
            way.name(),
            k + 1,
            100.0 * outcome.accuracy,
            outcome.seconds
        ));
        Ok(outcome)
    })
}

/// Draws of a row that count.
fn draws(bench: &Bench<'_>, row: &Row, honest: bool) -> Result<Vec<Task>> {
    let usual = if honest { Scaling::None } else { row.protocol.scaling };
    let scaling = bench.options.scaling.unwrap_or(usual);
    let row = &Row { protocol: Protocol { scaling, ..row.protocol.clone() }, ..row.clone() };
    let few =
        row.protocol.few.clone().ok_or_else(|| Failure::Unknown(format!("{} has no labels", row.name)))?;
    bench.say(&format!("reading {}", row.data_set));
    let all = Rows::open(&row.data_set, &bench.options.folder)?;
    let at_hand = row.protocol.train.min(all.labels.of.len());
    let large = if few.worst > 0 || honest { at_hand > LARGE_OF_WORST } else { row.protocol.train > LARGE };
    let wanted = bench.options.large.filter(|_| large).or(bench.options.repetitions);
    let count = if few.worst == 0 { wanted.unwrap_or(few.draws).max(1) } else { few.draws };
    let mut tasks = Vec::new();
    let mut shared: Option<Arc<Rows>> = None;
    for k in 0..count {
        let rng = &mut Pcg64::seed_from_u64(seed_of(bench.options.seed, k));
        let fixed = row.protocol.split == SplitRecipe::Fixed;
        let rows = match (&shared, row.protocol.split) {
            (Some(rows), SplitRecipe::Random | SplitRecipe::Fixed) => Arc::clone(rows),
            _ => Arc::new(all.draw(&row.protocol, rng)?),
        };
        shared.get_or_insert_with(|| Arc::clone(&rows));
        let labeled = match rows.splits.get(k) {
            Some(split) if fixed => split.clone(),
            None if fixed => break,
            _ => some_of_each(&rows, few.labeled, rng)?,
        };
        tasks.push(Task {
            rows,
            labeled,
            protocol: row.protocol.clone(),
            few: few.clone(),
            honest,
            set: bench.options.set.clone(),
            width: 0.0,
            draw: k,
        });
    }
    if few.worst > 0 && few.worst < tasks.len() {
        let mut scored = Vec::new();
        for (k, task) in tasks.iter().enumerate() {
            scored.push((ways::run(Way::Svm, task)?.accuracy, k));
        }
        scored.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let kept = spread(few.worst, wanted.unwrap_or(few.worst));
        tasks = kept.into_iter().map(|rank| tasks[scored[rank].1].clone()).collect();
    }
    Ok(tasks)
}

/// Selects `wanted` of `all` ranks, in the middles of equal parts, so that a few of the worst draws represent all of them.
fn spread(all: usize, wanted: usize) -> Vec<usize> {
    let wanted = wanted.clamp(1, all);
    (0..wanted).map(|k| (2 * k + 1) * all / (2 * wanted)).collect()
}

/// Selects `labeled` rows at random, with at least one per class.
fn some_of_each(rows: &Rows, labeled: usize, rng: &mut Pcg64) -> Result<Vec<usize>> {
    let classes = rows.labels.classes.len();
    let mut order: Vec<usize> = (0..rows.labels.of.len()).collect();
    for _ in 0..10_000 {
        order.shuffle(rng);
        let mut seen = vec![false; classes];
        order.iter().take(labeled).filter_map(|&i| rows.labels.of[i]).for_each(|c| seen[c as usize] = true);
        if seen.iter().all(|s| *s) {
            let mut found = order[..labeled.min(order.len())].to_vec();
            found.sort_unstable();
            return Ok(found);
        }
    }
    Err(Failure::Content(format!("no draw of {labeled} rows has all {classes} classes")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Options;
    use crate::tables::find;

    #[test]
    fn absent_data_gives_missing_cells() {
        let table = find("emara-III.2").unwrap();
        let options = Options { folder: "/nonexistent".into(), ..Options::default() };
        let bench = Bench::new(&options, &|_| ());
        let judged = bench.table(&table).unwrap();
        assert_eq!(judged.len(), 110);
        assert!(judged.iter().all(|j| j.verdict == Verdict::Missing));
    }

    #[test]
    fn selected_ranks_are_spread_over_all() {
        assert_eq!(spread(10, 1), [5]);
        assert_eq!(spread(10, 3), [1, 5, 8]);
        assert_eq!(spread(10, 10), (0..10).collect::<Vec<_>>());
        assert_eq!(spread(10, 40), (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn draws_contain_every_class() {
        let rows = ways::tests::blobs(60);
        let rng = &mut Pcg64::seed_from_u64(1);
        for _ in 0..50 {
            let labeled = some_of_each(&rows, 2, rng).unwrap();
            assert_ne!(rows.labels.of[labeled[0]], rows.labels.of[labeled[1]]);
        }
        assert!(some_of_each(&rows, 1, rng).is_err());
    }
}
