//! Deterministic annealing compared with other methods and with fixed temperatures: tables 3.6 and 3.7.
//!
//! Rows are split into labeled, unlabeled, validation and test rows, stratified by class, so that the labels have the true class
//! shares. All splits are learned together (file `many.rs`); validation and test rows are not used for training.

use super::many::{Draw, Pool, Scores, mean};
use super::{asked, asked_method, repetitions};
use crate::failure::{Failure, Result};
use crate::few::Rows;
use crate::findings::Findings;
use crate::run::{Bench, seed_of};
use evermargin::estimators::Fit;
use evermargin::estimators::supervised::svc::SvcParams;
use evermargin::estimators::transductive::da::{DaParams, Margin};
use evermargin::estimators::transductive::grad_tsvm::GradTsvmParams;
use evermargin::estimators::transductive::tsvm::TsvmParams;
use evermargin::{Kernel, Matrix};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

/// A data set: its name in the tables and on disk, the numbers of labeled, unlabeled, validation and test rows, and the number of
/// splits (10 in the source). The grid has λ and the kernel width in median distances (0: linear).
#[derive(Debug)]
struct Set {
    name: &'static str,
    rows: &'static str,
    parts: [usize; 4],
    divisions: usize,
    grid: &'static [(f64, f64)],
}

const SETS: [Set; 4] = [
    Set {
        name: "USPS2",
        rows: "ssl:USPS",
        parts: [93, 1000, 32, 375],
        divisions: 2,
        grid: &[(1e-3, 0.35), (1e-3, 0.5), (1e-3, 0.7), (1e-2, 0.5)],
    },
    Set {
        name: "COIL6",
        rows: "ssl:COIL",
        parts: [90, 1008, 30, 372],
        divisions: 4,
        grid: &[(1e-3, 0.35), (1e-3, 0.25), (1e-4, 0.35), (1e-4, 0.25), (1e-2, 0.35)],
    },
    Set {
        name: "PC-MAC",
        rows: "text1",
        parts: [37, 1410, 13, 486],
        divisions: 10,
        grid: &[(1e-3, 0.0), (1e-2, 0.0), (1e-4, 0.0), (0.1, 0.0), (1e-3, 2.0), (1e-3, 4.0), (1e-4, 4.0)],
    },
    Set {
        name: "ESET2",
        rows: "isolet-eset2",
        parts: [33, 1305, 12, 1350],
        divisions: 2,
        grid: &[(1e-3, 1.0), (1e-3, 0.5)],
    },
];

/// One split of the rows.
struct Division {
    draw: Draw,
    open: Vec<usize>,
    validation: Vec<usize>,
    test: Vec<usize>,
}

/// Splits rows in random order, with each class spread evenly, into parts.
fn division(pool: &Pool, parts: [usize; 4], seed: u64) -> Division {
    let rng = &mut Pcg64::seed_from_u64(seed);
    let mut order: Vec<usize> = (0..pool.class.len()).collect();
    order.shuffle(rng);
    let mut size = vec![0usize; pool.classes];
    pool.class.iter().for_each(|c| size[*c as usize] += 1);
    let mut seen = vec![0usize; pool.classes];
    let mut placed: Vec<(f64, usize)> = Vec::with_capacity(order.len());
    for i in order {
        let c = pool.class[i] as usize;
        placed.push(((seen[c] as f64 + 0.5) / size[c] as f64, i));
        seen[c] += 1;
    }
    placed.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut left = placed.into_iter().map(|(_, i)| i);
    let [known, open, validation, test] = parts.map(|n| left.by_ref().take(n).collect::<Vec<usize>>());
    let absent = validation.iter().chain(&test).copied().chain(left).collect();
    Division { draw: Draw { known, absent }, open, validation, test }
}

/// Kernel with γ = 1/(2σ²), where σ is a multiple of the median distance of about 500 rows.
fn kernel(x: &Matrix, width: f64) -> Kernel {
    if width == 0.0 {
        return Kernel::Linear;
    }
    Kernel::Rbf { gamma: 0.5 / (super::median_distance2(x) * width * width) }
}

fn machine(method: &str, kernel: Kernel, lambda: f64, labeled: usize) -> Result<Box<dyn Fit>> {
    let da = |loss: Margin| DaParams { kernel, loss, lambda, ..DaParams::default() };
    Ok(match method {
        "SVM" => Box::new(SvcParams { kernel, c: 1.0 / (lambda * labeled as f64), ..SvcParams::default() }),
        "JTSVM" => Box::new(TsvmParams { kernel, lambda, ..TsvmParams::default() }),
        "gradTSVM" => Box::new(GradTsvmParams { kernel, lambda, ..GradTsvmParams::default() }),
        "DA l2" => Box::new(da(Margin::L2)),
        "DA square" => Box::new(da(Margin::Square)),
        fixed => {
            let temperature = fixed.strip_prefix("T = ").and_then(|t| t.parse().ok());
            let temperature = temperature.ok_or_else(|| Failure::Unknown(format!("no method {fixed}")))?;
            Box::new(DaParams { fixed: Some(temperature), ..da(Margin::L2) })
        }
    })
}

/// Errors on unlabeled, validation and test rows of each split.
type Errors = Vec<[f64; 3]>;

/// Errors by the sign of f and, with two classes, by the threshold at which the unlabeled rows have the known class share. (With the
/// sign, learners that label unlabeled rows keep these labels.)
fn errors(bench: &Bench<'_>, set: &Set, method: &str, point: (f64, f64), runs: usize) -> Result<Vec<Errors>> {
    let rows = Rows::open(set.rows, &bench.options.folder)?;
    let pool = Pool::new(rows.x, &rows.labels);
    let divisions: Vec<Division> =
        (0..runs).map(|k| division(&pool, set.parts, seed_of(bench.options.seed, k))).collect();
    let draws: Vec<Draw> = divisions.iter().map(|d| d.draw.clone()).collect();
    let (lambda, width) = point;
    let machine = machine(method, kernel(&pool.x, width), lambda, set.parts[0])?;
    let learned = pool.learn(machine.as_ref(), &draws)?;
    let mut outside = learned.outside(&pool.x)?;
    let read = |inside: &Scores, outside: &Scores| {
        let one = |(k, d): (usize, &Division)| {
            let error = |scores: &Scores, rows: &[usize]| scores.error(k, &pool.class, rows);
            [error(inside, &d.open), error(outside, &d.validation), error(outside, &d.test)]
        };
        divisions.iter().enumerate().map(one).collect::<Errors>()
    };
    let mut readings = vec![read(&learned.inside, &outside)];
    if pool.classes == 2 {
        for (k, d) in divisions.iter().enumerate() {
            let threshold = super::threshold(&outside.of[k], &d.open, pool.shares(&d.draw)[0]);
            outside.of[k].iter_mut().for_each(|s| *s -= threshold);
        }
        readings.push(read(&outside, &outside));
    }
    Ok(readings)
}

/// A value from `--set` that replaces the grid.
fn number(bench: &Bench<'_>, name: &str) -> Option<f64> {
    bench.options.set.get(name).and_then(serde_json::Value::as_f64)
}

/// Runs methods on all data sets with all settings of their grids.
fn grid(bench: &Bench<'_>, methods: &[&'static str]) -> Result<Findings> {
    let points = |set: &Set| match (number(bench, "lambda"), number(bench, "width")) {
        (Some(lambda), Some(width)) => vec![(lambda, width)],
        _ if bench.options.quick => set.grid[..2].to_vec(),
        _ => set.grid.to_vec(),
    };
    let mut cells = Vec::new();
    for set in SETS.iter().filter(|s| asked(bench, s.name) && !(bench.options.quick && s.name != "PC-MAC")) {
        cells.extend(methods.iter().filter(|m| asked_method(bench, m)).map(|m| (set, *m)));
    }
    let items: Vec<(&Set, &str, (f64, f64))> =
        cells.iter().flat_map(|(set, m)| points(set).into_iter().map(move |p| (*set, *m, p))).collect();
    let work = |&(set, method, point): &(&Set, &str, (f64, f64))| {
        let runs = repetitions(bench, set.divisions);
        let key = format!("sindhwani 3.6 {} {method} {point:?} {} {runs}", set.name, bench.options.seed);
        let found = bench.cached(&key, || errors(bench, set, method, point, runs))?;
        for of in &found {
            let part = |k: usize| mean(&of.iter().map(|e| e[k]).collect::<Vec<_>>());
            let shares = format!("{:.3} {:.3} {:.3}", part(0), part(1), part(2));
            bench.say(&format!("{} {method} {point:?}: {shares}", set.name));
        }
        Ok(found)
    };
    let mut all = bench.each(&items, work).into_iter();
    let mut found = Findings::default();
    for (set, method) in cells {
        let of: Result<Vec<Vec<Errors>>> = all.by_ref().take(points(set).len()).collect();
        match of {
            Err(missing @ Failure::Missing { .. }) => found.missing(set.name, &missing.to_string()),
            of => record(&mut found, set.name, method, &of?.concat()),
        }
    }
    Ok(found)
}

/// Records errors with a setting chosen by validation for each split, and with the setting of the smallest mean for each column. The
/// reading of classes from f is a part of the setting.
fn record(found: &mut Findings, set: &str, method: &str, grid: &[Errors]) {
    let runs = grid.first().map_or(0, Vec::len);
    let least = |k: usize| (1..grid.len()).fold(0, |b, p| if grid[p][k][1] < grid[b][k][1] { p } else { b });
    for (column, name) in [(0, "error"), (2, "error_test")] {
        let by_validation = (0..runs).map(|k| grid[least(k)][k][column]).collect();
        found.add(set, method, &format!("{name}_val"), by_validation);
        let of = |p: &Vec<[f64; 3]>| p.iter().map(|e| e[column]).collect::<Vec<_>>();
        let best = grid.iter().map(of).min_by(|a, b| mean(a).total_cmp(&mean(b)));
        found.add(set, method, &format!("{name}_best"), best.unwrap_or_default());
    }
}

/// Table 3.6.
pub(crate) fn rivals(bench: &Bench<'_>) -> Result<Findings> {
    grid(bench, &["SVM", "JTSVM", "gradTSVM", "DA l2", "DA square"])
}

/// Table 3.7.
pub(crate) fn temperatures(bench: &Bench<'_>) -> Result<Findings> {
    grid(bench, &["DA l2", "T = 0.1", "T = 0.01", "T = 0.001"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_are_stratified() {
        let class: Vec<u32> = (0..200).map(|i| u32::from(i % 5 == 0)).collect();
        let pool = Pool { x: Matrix::dense(vec![0.0; 200], 200, 1).unwrap(), class, classes: 2 };
        let d = division(&pool, [20, 100, 10, 60], 3);
        let share = |rows: &[usize]| rows.iter().filter(|&&i| pool.class[i] == 1).count();
        let found = [&d.draw.known, &d.open, &d.validation, &d.test].map(|r| share(r));
        assert_eq!(found, [4, 20, 2, 12]);
        assert_eq!(pool.open(&d.draw).len(), 100);
        assert_eq!(d.draw.absent.len(), 80);
    }

    #[test]
    fn settings_are_chosen_by_validation_or_by_the_smallest_mean() {
        let grid = vec![vec![[0.4, 0.0, 0.5], [0.2, 0.5, 0.1]], vec![[0.1, 0.3, 0.2], [0.3, 0.1, 0.9]]];
        let mut found = Findings::default();
        record(&mut found, "s", "m", &grid);
        let of = |metric: &str| found.of("s", "m", metric).unwrap().runs.clone().unwrap();
        assert_eq!(of("error_val"), [0.4, 0.3]);
        assert_eq!(of("error_best"), [0.1, 0.3]);
        assert_eq!(of("error_test_best"), [0.5, 0.1]);
    }
}
