//! Tables of Sindhwani (2007), chapters 2 to 5, with one function per table.

pub(crate) mod annealing;
mod bayes;
pub(crate) mod benchmarks;
mod continuation;
mod ground;
mod many;
pub(crate) mod optima;
pub(crate) mod pages;
mod paths;
mod six_sets;
pub(crate) mod sparse;
mod transducer;
mod warped;
pub(crate) mod words;

use crate::failure::{Failure, Result};
use crate::run::{Bench, seed_of};
use many::Draw;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

/// Number of draws: that of the options, or the usual one, or two with `--quick`.
fn repetitions(bench: &Bench<'_>, usual: usize) -> usize {
    let quick = if bench.options.quick { usual.min(2) } else { usual };
    bench.options.repetitions.unwrap_or(quick).max(1)
}

/// Whether a data set is requested.
fn asked(bench: &Bench<'_>, name: &str) -> bool {
    let of = &bench.options.data_sets;
    of.is_empty() || of.iter().any(|n| n.eq_ignore_ascii_case(name))
}

/// Whether a method is requested.
fn asked_method(bench: &Bench<'_>, name: &str) -> bool {
    let of = &bench.options.methods;
    of.is_empty() || of.iter().any(|n| n.eq_ignore_ascii_case(name))
}

/// Element with the smallest cost, the first of equals.
fn best<T>(all: Vec<T>, cost: impl Fn(&T) -> f64) -> Result<T> {
    let least = all.into_iter().map(|one| (cost(&one), one)).reduce(|a, b| if b.0 < a.0 { b } else { a });
    least.map(|(_, one)| one).ok_or_else(|| Failure::Content("an empty grid".into()))
}

/// Draws labeled rows at random, with at least `each` per class.
fn draw(class: &[u32], classes: usize, labeled: usize, each: usize, rng: &mut Pcg64) -> Result<Vec<usize>> {
    let mut order: Vec<usize> = (0..class.len()).collect();
    for _ in 0..100_000 {
        order.shuffle(rng);
        let mut seen = vec![0; classes];
        order.iter().take(labeled).for_each(|&i| seen[class[i] as usize] += 1);
        let mut left = vec![if labeled == each * classes { each } else { labeled }; classes];
        if labeled == each * classes || seen.iter().all(|s| *s >= each) {
            return Ok(first(&order, class, &mut left, labeled));
        }
    }
    Err(Failure::Content(format!("no draw of {labeled} rows has {each} of all {classes} classes")))
}

/// The first rows of an order, with a maximum number per class.
fn first(order: &[usize], class: &[u32], left: &mut [usize], labeled: usize) -> Vec<usize> {
    let mut out = Vec::with_capacity(labeled);
    for &i in order {
        let left = &mut left[class[i] as usize];
        if *left > 0 && out.len() < labeled {
            *left -= 1;
            out.push(i);
        }
    }
    out.sort_unstable();
    out
}

/// Several draws.
fn draws_of(
    class: &[u32],
    classes: usize,
    labeled: usize,
    each: usize,
    seed: u64,
    count: usize,
) -> Result<Vec<Draw>> {
    let one = |k: usize| {
        let rng = &mut Pcg64::seed_from_u64(seed_of(seed, k));
        Ok(Draw::of(draw(class, classes, labeled, each, rng)?))
    };
    (0..count).map(one).collect()
}

/// Draws in which each part of the rows is unlabeled in turn.
fn folds(rows: usize, count: usize, seed: u64) -> Vec<Draw> {
    let mut order: Vec<usize> = (0..rows).collect();
    order.shuffle(&mut Pcg64::seed_from_u64(seed_of(seed, 77)));
    let one = |fold: usize| Draw::of((0..rows).filter(|k| k % count != fold).map(|k| order[k]).collect());
    (0..count).map(one).collect()
}

/// Median squared distance of about 500 rows.
fn median_distance2(x: &evermargin::Matrix) -> f64 {
    let x = x.view();
    let some: Vec<usize> = (0..x.rows()).step_by((x.rows() / 500).max(1)).collect();
    let mut distances = Vec::new();
    for (a, &i) in some.iter().enumerate() {
        for &j in &some[..a] {
            distances.push(x.row(i).norm2() + x.row(j).norm2() - 2.0 * x.row(i).dot(x.row(j)));
        }
    }
    distances.sort_by(f64::total_cmp);
    distances.get(distances.len() / 2).copied().unwrap_or(1.0).max(1e-12)
}

/// Threshold above which the given share of the unlabeled rows lies.
fn threshold(scores: &[f64], open: &[usize], share: f64) -> f64 {
    let mut sorted: Vec<f64> = open.iter().map(|&i| scores[i]).collect();
    sorted.sort_by(f64::total_cmp);
    let negatives = ((1.0 - share) * sorted.len() as f64).round() as usize;
    let at = |k: usize| sorted.get(k.min(sorted.len().saturating_sub(1))).copied().unwrap_or(0.0);
    0.5 * (at(negatives.saturating_sub(1)) + at(negatives))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn given_share_lies_above_the_threshold() {
        let scores = [5.0, 1.0, 2.0, 3.0, 4.0];
        assert_eq!(threshold(&scores, &[1, 2, 3, 4], 0.25), 3.5);
        assert_eq!(threshold(&scores, &[], 0.25), 0.0);
    }

    #[test]
    fn draws_have_the_minimum_per_class() {
        let class: Vec<u32> = (0..60).map(|i| u32::from(i % 10 == 0)).collect();
        let rng = &mut Pcg64::seed_from_u64(1);
        for _ in 0..20 {
            let some = draw(&class, 2, 12, 1, rng).unwrap();
            assert_eq!(some.len(), 12);
            assert!(some.iter().any(|&i| class[i] == 1) && some.iter().any(|&i| class[i] == 0));
            let even = draw(&class, 2, 6, 3, rng).unwrap();
            assert_eq!(even.iter().filter(|&&i| class[i] == 1).count(), 3);
        }
        assert!(draw(&class, 2, 3, 2, rng).is_err());
    }

    #[test]
    fn folds_leave_each_row_out_once() {
        let folds = folds(23, 10, 1);
        let left: usize = folds.iter().map(|d| 23 - d.known.len()).sum();
        assert_eq!(left, 23);
    }
}
