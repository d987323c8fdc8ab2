//! Figures IV.13 to IV.16: number of exemplars that represent a batch when the next batch is labeled, and comparison of the relaxed
//! problem (QP-EXMP) with the greedy choice (SUBMOD-EXMP).
//!
//! The data are pairs of batches B1 and B2 and a few labels of other rows. B2 is labeled together with B1, with exemplars E1 of B1, with
//! random rows of B1, and alone. *Agreement* is the share of labels of B2 that are equal with E1 and with B1 (the formula is
//! missing in the source); *dissimilarity* is the share that differs between B2 alone and with B1. The source does not state the
//! number of labels and the width of its RBF kernel: here 20, and γ = 1 / mean squared distance of rows.

use super::curves::figure;
use super::data::Set;
use super::shelf::Shelf;
use super::{generator, mean, params, place, wanted};
use crate::clock::Clock;
use crate::failure::{Failure, Result};
use crate::findings::{Findings, Series};
use crate::run::Bench;
use evermargin::engine::transduction::{LabeledRows, Transduction, TransductionParams};
use evermargin::solver::Stop;
use evermargin::summary::{ExemplarParams, Pool, choose, relax};
use evermargin::{Kernel, Matrix};
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

const SETS: [&str; 6] = ["ssl:Text", "a9a", "w8a", "covtype", "news-comp-rec", "mnist-odd"];
const BATCH: usize = 500;
const LABELS: usize = 20;
/// Number of pairs with the linear kernel; the RBF kernel has a quarter of it.
const PAIRS: usize = 200;
/// Number of pairs per piece of work.
const PIECE: usize = 10;
/// Number of repetitions of a timed choice.
const TIMES: usize = 30;
/// Sizes of E1 relative to B1.
const SIZES: [f64; 5] = [0.005, 0.01, 0.02, 0.05, 0.1];

/// Results of a pair: dissimilarity; agreements with exemplars, with random rows and with the relaxed choice for each size; and the
/// seconds of the first and the last of these for the largest size.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Pair {
    unlike: f64,
    agree: [Vec<f64>; 3],
    seconds: [f64; 2],
}

/// Results of a data set with a kernel.
struct Block {
    set: &'static str,
    kernel: &'static str,
    pairs: Vec<Pair>,
}

/// Runs all pairs; data sets that are not available are added to `found`.
fn blocks(bench: &Bench<'_>, max: usize, relaxed: bool, found: &mut Findings) -> Result<Vec<Block>> {
    let pairs = bench.options.repetitions.unwrap_or(if bench.options.quick { 2 } else { max });
    let params = params(bench)?;
    let mut pieces = Vec::new();
    for set in SETS.into_iter().filter(|n| wanted(bench, n)) {
        for (kernel, count) in [("linear", pairs), ("rbf", (pairs / 4).max(1))] {
            pieces.extend(
                (0..count).step_by(PIECE).map(|first| (set, kernel, first..count.min(first + PIECE))),
            );
        }
    }
    let shelf = Shelf::default();
    let done = bench.each(&pieces, |(name, kernel, range)| -> Result<Vec<Pair>> {
        let key = format!("pairs {name} {kernel} {range:?} {relaxed} {} {params:?}", bench.options.seed);
        bench.cached(&key, || {
            let set = shelf.set(bench, name)?;
            let gamma = 1.0 / squared_distance(&set.x);
            let kernel = if *kernel == "rbf" { Kernel::Rbf { gamma } } else { Kernel::Linear };
            let params = TransductionParams { kernel, ..params.clone() };
            range.clone().map(|k| pair(&set, &params, relaxed, &mut generator(bench, k))).collect()
        })
    });
    let mut out: Vec<Block> = Vec::new();
    for ((set, kernel, _), pairs) in pieces.into_iter().zip(done) {
        match pairs {
            Err(missing @ Failure::Missing { .. }) => {
                found.missing(&format!("{set} {kernel}"), &missing.to_string());
            }
            pairs => match out.last_mut().filter(|b| b.set == set && b.kernel == kernel) {
                Some(block) => block.pairs.extend(pairs?),
                None => out.push(Block { set, kernel, pairs: pairs? }),
            },
        }
    }
    Ok(out)
}

impl Block {
    fn row(&self) -> String {
        format!("{} {}", self.set, self.kernel)
    }

    fn agreements(&self, way: usize, size: usize) -> Vec<f64> {
        self.pairs.iter().map(|p| p.agree[way][size]).collect()
    }

    /// Mean agreement in percent by size in percent.
    fn curve(&self, way: usize, name: String) -> Series {
        let point = |size: usize| [100.0 * SIZES[size], 100.0 * mean(&self.agreements(way, size))];
        Series { name, points: (0..SIZES.len()).map(point).collect() }
    }
}

/// Statement of figures IV.13 to IV.15.
pub(crate) fn agreement(bench: &Bench<'_>) -> Result<Findings> {
    let mut found = Findings::default();
    let blocks = blocks(bench, PAIRS, false, &mut found)?;
    for block in &blocks {
        let mut order: Vec<&Pair> = block.pairs.iter().collect();
        order.sort_by(|a, b| b.unlike.total_cmp(&a.unlike));
        order.truncate(order.len().div_ceil(4));
        for (way, method) in ["exemplars", "random rows"].into_iter().enumerate() {
            found.add(&block.row(), method, "agreement", block.agreements(way, 1));
            let hard = order.iter().map(|p| p.agree[way][1]).collect();
            found.add(&block.row(), method, "agreement_unlike", hard);
        }
        let alone = block.pairs.iter().map(|p| 1.0 - p.unlike).collect();
        found.add(&block.row(), "none", "agreement", alone);
    }
    for kernel in ["linear", "rbf"] {
        let mut series = Vec::new();
        for block in blocks.iter().filter(|b| b.kernel == kernel) {
            series.push(block.curve(0, block.set.to_string()));
            series.push(block.curve(1, format!("{}, random rows", block.set)));
        }
        let title = format!("Labels of the next batch that stay the same, {kernel} kernel");
        let mut drawn = figure(&title, ("rows kept %", "agreement %"), series);
        drawn.log_x = true;
        found.figures.push(drawn);
    }
    Ok(found)
}

/// Statement of figure IV.16.
pub(crate) fn relaxed(bench: &Bench<'_>) -> Result<Findings> {
    let mut found = Findings::default();
    let blocks = blocks(bench, 20, true, &mut found)?;
    for block in &blocks {
        let behind = block.pairs.iter().map(|p| mean(&p.agree[2]) - mean(&p.agree[0])).collect();
        found.add(&block.row(), "SUBMOD-EXMP", "behind", behind);
        let total = |k: usize| block.pairs.iter().map(|p| p.seconds[k]).sum::<f64>();
        found.add(&block.row(), "SUBMOD-EXMP", "times_faster", vec![total(1) / total(0).max(1e-9)]);
    }
    for kernel in ["linear", "rbf"] {
        let mut series = Vec::new();
        for block in blocks.iter().filter(|b| b.kernel == kernel) {
            series.push(block.curve(0, format!("{}, SUBMOD-EXMP", block.set)));
            series.push(block.curve(2, format!("{}, QP-EXMP", block.set)));
        }
        let title = format!("Greedy and relaxed exemplars, {kernel} kernel");
        let mut drawn = figure(&title, ("rows kept %", "agreement %"), series);
        drawn.log_x = true;
        found.figures.push(drawn);
    }
    Ok(found)
}

/// Mean of |x − z|² over pairs of rows, computed as twice the sum of the variances.
fn squared_distance(x: &Matrix) -> f64 {
    let (n, mut sum, mut squares) = (x.rows().max(1) as f64, vec![0.0; x.cols()], 0.0);
    for i in 0..x.rows() {
        x.view().row(i).for_each(|c, v| {
            sum[c] += v;
            squares += v * v;
        });
    }
    (2.0 * (squares / n - sum.iter().map(|s| (s / n).powi(2)).sum::<f64>())).max(1e-12)
}

/// Seconds of a short piece of work, measured over repetitions, because the CPU clock of a thread has a resolution of milliseconds.
fn often<T>(work: impl Fn() -> Result<T>) -> Result<f64> {
    let clock = Clock::start();
    for _ in 0..TIMES {
        work()?;
    }
    Ok(clock.seconds() / TIMES as f64)
}

fn pair(set: &Set, params: &TransductionParams, relaxed: bool, rng: &mut Pcg64) -> Result<Pair> {
    let mut order: Vec<usize> = (0..set.truth.len()).collect();
    let wanted = 3 * BATCH.min(order.len() / 3);
    let (drawn, _) = order.partial_shuffle(rng, wanted);
    let (first, rest) = drawn.split_at(wanted / 3);
    let (second, third) = rest.split_at(wanted / 3);
    let truth: Vec<u32> = third.iter().map(|&i| set.truth[i]).collect();
    let is_known = place(&truth, LABELS, rng)?;
    let known: Vec<usize> = third.iter().zip(&is_known).filter(|(_, t)| **t).map(|(i, _)| *i).collect();
    let (labeled, class) =
        (set.x.view().select(&known), known.iter().map(|&i| set.truth[i]).collect::<Vec<_>>());
    let positive = set.truth.iter().map(|c| f64::from(*c)).sum::<f64>() / set.truth.len() as f64;
    let shares = [1.0 - positive, positive];
    let known = LabeledRows { x: labeled.view(), class: &class, classes: 2, shares: &shares };
    let (b1, b2) = (set.x.view().select(first), set.x.view().select(second));
    let given = |past: Matrix| -> Result<Vec<u32>> {
        let mut memory = Transduction::new(params, set.x.cols(), matches!(set.x, Matrix::Csr { .. }))?;
        memory.absorb(known, past, None, 0, &())?;
        let labels = memory.label(known, b2.view(), &())?.unwrap_or_default();
        Ok(labels.iter().map(|g| g.class).collect())
    };
    let with = given(b1.clone())?;
    let same = |other: &[u32]| {
        with.iter().zip(other).filter(|(a, b)| a == b).count() as f64 / with.len().max(1) as f64
    };
    let unlike = 1.0 - same(&given(b1.view().select(&[]))?);
    let how = ExemplarParams { kernel: params.kernel, ..ExemplarParams::default() };
    let pool = Pool { labeled: Some(labeled.view()), ..Pool::of(b1.view()) };
    let counts = SIZES.map(|size| ((size * b1.rows() as f64).ceil() as usize).min(b1.rows()));
    let max = counts[SIZES.len() - 1];
    let exemplars = choose(&how, &pool, max, &())?.order;
    let mut random: Vec<usize> = (0..b1.rows()).collect();
    random.shuffle(rng);
    let agreement = |rows: &[usize]| Ok::<_, Failure>(same(&given(b1.view().select(rows))?));
    let stop = Stop { tolerance: 1e-3, max_steps: Some(1_000_000) };
    let mut agree = [const { Vec::new() }; 3];
    for count in counts {
        agree[0].push(agreement(&exemplars[..count.min(exemplars.len())])?);
        agree[1].push(agreement(&random[..count])?);
        if relaxed {
            // each size is a separate problem
            let rows = relax(&how, &pool, count, stop, &())?.rows;
            agree[2].push(agreement(&rows)?);
        }
    }
    let mut seconds = [0.0; 2];
    if relaxed {
        seconds[0] = often(|| Ok(choose(&how, &pool, max, &())?))?;
        seconds[1] = often(|| Ok(relax(&how, &pool, max, stop, &())?))?;
    }
    Ok(Pair { unlike, agree, seconds })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn mean_squared_distance_equals_that_of_all_pairs() {
        let mut rng = Pcg64::seed_from_u64(5);
        let x = Matrix::dense((0..60).map(|_| rng.random_range(-1.0..2.0)).collect(), 20, 3).unwrap();
        let mut sum = 0.0;
        for i in 0..20 {
            for j in 0..20 {
                let (a, b) = (x.view().row(i), x.view().row(j));
                sum += a.norm2() + b.norm2() - 2.0 * a.dot(b);
            }
        }
        assert!((squared_distance(&x) - sum / 400.0).abs() < 1e-9);
    }

    /// With two distant compact clouds, any summary with at least one row gives full agreement.
    #[test]
    fn summaries_do_not_change_labels_of_separated_classes() {
        let mut rng = Pcg64::seed_from_u64(6);
        let (mut values, mut truth) = (Vec::new(), Vec::new());
        for i in 0..900u32 {
            let side = if i % 2 == 0 { 3.0 } else { -3.0 };
            values.extend([side + rng.random_range(-0.1..0.1), rng.random_range(-0.1..0.1)]);
            truth.push(u32::from(i % 2 == 0));
        }
        let set = Set { x: Matrix::dense(values, 900, 2).unwrap(), truth };
        let found = pair(&set, &TransductionParams::default(), true, &mut rng).unwrap();
        // the share of positives of a batch of 300 is not exactly one half, which forces some labels
        assert_eq!(found.agree[2].len(), SIZES.len());
        assert!(found.agree.iter().flatten().all(|a| *a > 0.85), "{:?}", found.agree);
    }
}
