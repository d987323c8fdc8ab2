//! Figures IV.13 to IV.15: how many exemplars of one batch stand for it when the next is labelled?
//!
//! Pairs of batches B1 and B2 and a few labels from elsewhere. B2 is labelled together with B1, with exemplars E1 of B1, with
//! random rows of B1, and alone. *Agreement* is the share of B2's labels that are the same with E1 as with B1 (the formula is
//! lost in the source); *dissimilarity* the share that differs between B2 alone and with B1. The source does not say how many
//! labels there were, nor the width of its RBF kernel: here 20, and γ = 1 / mean squared distance of rows.

use super::data::Set;
use super::{generator, mean, params, place, wanted};
use crate::failure::{Failure, Result};
use crate::run::Bench;
use evermargin::engine::transduction::{Known, Transduction, TransductionParams};
use evermargin::summary::{ExemplarParams, Pool, choose};
use evermargin::{Kernel, Matrix};
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use std::fmt::Write;

const SETS: [&str; 6] = ["ssl:Text", "a9a", "w8a", "covtype", "news-comp-rec", "mnist-odd"];
const BATCH: usize = 500;
const LABELS: usize = 20;
const PAIRS: usize = 200;
/// |E1| in parts of |B1|.
const SIZES: [f64; 5] = [0.005, 0.01, 0.02, 0.05, 0.1];

/// What a pair gives: dissimilarity, and agreements with exemplars and with random rows of each size.
struct Pair {
    unlike: f64,
    agree: [[f64; SIZES.len()]; 2],
}

/// The claim.
pub(crate) fn agreement(bench: &Bench<'_>) -> Result<String> {
    let pairs = bench.options.repetitions.unwrap_or(if bench.options.quick { 5 } else { PAIRS });
    let sizes: Vec<String> = SIZES.iter().map(|s| format!("{} %", 100.0 * s)).collect();
    let mut out = format!(
        "Percent of the labels of B2 that are the same given E1 as given B1, mean of the pairs ({pairs} with the linear kernel, {} \
         with RBF); in brackets the share of pairs above 95 %. Batches of {BATCH}, {LABELS} labels, true share.\n\n| data | kernel | \
         unlike % | E1 | {} | 1 %, most unlike quarter |\n|---|---|--:|---|{}--:|\n",
        (pairs / 4).max(1),
        sizes.join(" | "),
        "--:|".repeat(SIZES.len())
    );
    for name in SETS.into_iter().filter(|n| wanted(bench, n)) {
        let set = match Set::open(name, &bench.options.folder) {
            Err(Failure::Missing { .. }) => {
                let _ = writeln!(out, "| {name} | missing |");
                continue;
            }
            set => set?,
        };
        let gamma = 1.0 / squared_distance(&set.x);
        for (kernel, count) in [(Kernel::Linear, pairs), (Kernel::Rbf { gamma }, (pairs / 4).max(1))] {
            let params = TransductionParams { kernel, ..params(bench)? };
            let mut rng = generator(bench, 0);
            let found = (0..count).map(|_| pair(&set, &params, &mut rng)).collect::<Result<Vec<_>>>()?;
            out.push_str(&lines(name, kernel, &found));
            bench.say(&format!("{name} {}: {:.1}", kernel.name(), mean(&column(&found, 0, 1))));
        }
    }
    Ok(out)
}

fn column(found: &[Pair], way: usize, size: usize) -> Vec<f64> {
    found.iter().map(|p| 100.0 * p.agree[way][size]).collect()
}

fn lines(name: &str, kernel: Kernel, found: &[Pair]) -> String {
    let mut order: Vec<&Pair> = found.iter().collect();
    order.sort_by(|a, b| b.unlike.total_cmp(&a.unlike));
    let most = &order[..order.len().div_ceil(4)];
    let mut out = String::new();
    for (way, title) in ["exemplars", "random"].into_iter().enumerate() {
        let cell = |size: usize| {
            let rates = column(found, way, size);
            let above = rates.iter().filter(|r| **r > 95.0).count() as f64 / rates.len() as f64;
            format!("{:.1} ({:.2})", mean(&rates), above)
        };
        let cells: Vec<String> = (0..SIZES.len()).map(cell).collect();
        let hard = mean(&most.iter().map(|p| 100.0 * p.agree[way][1]).collect::<Vec<_>>());
        let unlike = mean(&found.iter().map(|p| 100.0 * p.unlike).collect::<Vec<_>>());
        let _ = writeln!(
            out,
            "| {name} | {} | {unlike:.1} | {title} | {} | {hard:.1} |",
            kernel.name(),
            cells.join(" | ")
        );
    }
    out
}

/// Mean of |x − z|² over pairs of rows: twice the sum of the variances.
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

fn pair(set: &Set, params: &TransductionParams, rng: &mut Pcg64) -> Result<Pair> {
    let mut order: Vec<usize> = (0..set.truth.len()).collect();
    let wanted = 3 * BATCH.min(order.len() / 3);
    let (drawn, _) = order.partial_shuffle(rng, wanted);
    let (first, rest) = drawn.split_at(wanted / 3);
    let (second, third) = rest.split_at(wanted / 3);
    let truth: Vec<u32> = third.iter().map(|&i| set.truth[i]).collect();
    let told = place(&truth, LABELS, rng)?;
    let known: Vec<usize> = third.iter().zip(&told).filter(|(_, t)| **t).map(|(i, _)| *i).collect();
    let (labelled, class) =
        (set.x.view().select(&known), known.iter().map(|&i| set.truth[i]).collect::<Vec<_>>());
    let positive = set.truth.iter().map(|c| f64::from(*c)).sum::<f64>() / set.truth.len() as f64;
    let shares = [1.0 - positive, positive];
    let known = Known { x: labelled.view(), class: &class, classes: 2, shares: &shares };
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
    let most = (SIZES[SIZES.len() - 1] * b1.rows() as f64).ceil() as usize;
    let how = ExemplarParams { kernel: params.kernel, ..ExemplarParams::default() };
    let pool = Pool { labelled: Some(labelled.view()), ..Pool::of(b1.view()) };
    let exemplars = choose(&how, &pool, most, &())?.order;
    let mut random: Vec<usize> = (0..b1.rows()).collect();
    random.shuffle(rng);
    let mut agree = [[0.0; SIZES.len()]; 2];
    for (agree, order) in agree.iter_mut().zip([exemplars, random]) {
        for (agree, size) in agree.iter_mut().zip(SIZES) {
            let size = ((size * b1.rows() as f64).ceil() as usize).min(order.len());
            *agree = same(&given(b1.view().select(&order[..size]))?);
        }
    }
    Ok(Pair { unlike, agree })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn the_mean_squared_distance_is_that_of_all_pairs() {
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

    /// Two tight clouds far apart: any summary that has a row will do, and agreement is full.
    #[test]
    fn where_labels_are_plain_summaries_change_nothing() {
        let mut rng = Pcg64::seed_from_u64(6);
        let (mut values, mut truth) = (Vec::new(), Vec::new());
        for i in 0..900u32 {
            let side = if i % 2 == 0 { 3.0 } else { -3.0 };
            values.extend([side + rng.random_range(-0.1..0.1), rng.random_range(-0.1..0.1)]);
            truth.push(u32::from(i % 2 == 0));
        }
        let set = Set { x: Matrix::dense(values, 900, 2).unwrap(), truth };
        let found = pair(&set, &TransductionParams::default(), &mut rng).unwrap();
        // the share of positives of a batch of 300 is not exactly a half: that many labels are forced
        assert!(found.agree.iter().flatten().all(|a| *a > 0.85), "{:?}", found.agree);
    }
}
