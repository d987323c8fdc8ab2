//! Transduction with evicted centroids, and the size of the summary.

use super::pool::problems;
use super::*;
use crate::estimators::transductive::submod::Variant;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Rows of two overlapping clouds; every third row is of class 1.
fn clouds(n: usize, cols: usize, seed: u64) -> (Matrix, Vec<u32>) {
    let mut rng = Pcg64::seed_from_u64(seed);
    let class: Vec<u32> = (0..n).map(|i| u32::from(i % 3 == 0)).collect();
    let mut values = Vec::new();
    for &c in &class {
        let side = if c == 1 { 0.4 } else { -0.4 };
        values.extend((0..cols).map(|j| rng.random_range(-1.0..1.0) + if j < 3 { side } else { 0.0 }));
    }
    (Matrix::dense(values, n, cols).unwrap(), class)
}

fn known<'a>(x: &'a Matrix, class: &'a [u32]) -> LabeledRows<'a> {
    LabeledRows { x: x.view(), class, classes: 2, shares: &[2.0 / 3.0, 1.0 / 3.0] }
}

/// The mean of evicted rows has the effect of these rows with their classes: the confidence of every row is the same,
/// for dense and sparse rows.
#[test]
fn a_mean_of_evicted_rows_has_the_effect_of_the_rows() {
    let (x, class) = clouds(60, 5, 1);
    let part = |rows: std::ops::Range<usize>| x.view().select(&rows.collect::<Vec<_>>());
    let (labeled, batch, left) = (part(0..6), part(6..30), part(30..60));
    let params = TransductionParams { variant: Variant::Swift, evicted_weight: 5.0, ..Default::default() };
    for sparse in [false, true] {
        let [labeled, batch, left] =
            [&labeled, &batch, &left].map(|m| if sparse { m.view().to_csr() } else { m.clone() });
        let memory = Transduction::new(&params, 5, sparse).unwrap();
        let leave: Vec<(usize, u32)> = (0..30).map(|i| (i, class[30 + i])).collect();
        let evicted = memory.evicted.joined(left.view(), &leave, 1e9);
        let by_mean =
            memory.label_among(known(&labeled, &class[..6]), batch.view(), &[], (&evicted, 1.0), &());
        // one problem in which the evicted rows have labels of weight κ/2
        let kappa = 2.0 * params.rho * 6.0 / 54.0;
        let all = Matrix::stacked(&[labeled.view(), batch.view(), left.view()]);
        let of = |i: usize| if (6..30).contains(&i) { None } else { Some(class[i]) };
        let weight: Vec<f64> = (0..60).map(|i| if i < 30 { 1.0 } else { 0.5 * kappa }).collect();
        let problem = problems(&(0..60).map(of).collect::<Vec<_>>(), &[0, 1], &weight);
        let scores =
            params.submod(vec![1.0 / 3.0], kappa).transduce(all.view(), &problem, &()).unwrap().scores;
        for (given, score) in by_mean.unwrap().unwrap().iter().zip(&scores[0][6..30]) {
            assert_eq!(given.class, u32::from(*score > 0.0));
            assert!((given.confidence - score.abs()).abs() < 1e-9, "{} {score}", given.confidence);
        }
    }
}

/// Batches of twelve rows in 40 columns show little structure: more labels are correct if evicted rows count.
#[test]
fn evicted_rows_improve_the_labels_of_small_batches() {
    let right = |evicted_weight: f64| -> usize {
        let params = TransductionParams { variant: Variant::Swift, evicted_weight, ..Default::default() };
        (0..10)
            .map(|seed| {
                let (x, class) = clouds(612, 40, seed);
                let labeled = x.view().select(&(0..12).collect::<Vec<_>>());
                let known = known(&labeled, &class[..12]);
                let mut memory = Transduction::new(&params, 40, false).unwrap();
                let mut right = 0;
                for t in 1..51 {
                    let batch = x.view().select(&(12 * t..12 * (t + 1)).collect::<Vec<_>>());
                    let given = memory.label(known, batch.view(), &()).unwrap().unwrap();
                    let truth = &class[12 * t..];
                    right += given.iter().zip(truth).filter(|(g, c)| t > 25 && g.class == **c).count();
                    memory.absorb(known, batch, Some(&given), 1, &()).unwrap();
                    let left: f64 = memory.evicted.classes().map(|(.., n)| n).sum();
                    assert!(memory.len() <= 24 && left <= 12.0 * evicted_weight + 1e-9);
                }
                right
            })
            .sum()
    };
    let (with, without) = (right(5.0), right(0.0));
    assert!(with > without + 100, "{with} of 3000 right, {without} without");
}

/// Centroids that were computed with exchanged labels are dropped when the labels are corrected.
#[test]
fn evicted_centroids_are_dropped_when_labels_contradict_them() {
    let (x, class) = clouds(612, 5, 3);
    let labeled = x.view().select(&(0..12).collect::<Vec<_>>());
    let wrong: Vec<u32> = class[..12].iter().map(|c| 1 - c).collect();
    let params = TransductionParams { variant: Variant::Swift, evicted_weight: 5.0, ..Default::default() };
    let mut memory = Transduction::new(&params, 5, false).unwrap();
    let mut last = 0;
    for t in 1..51 {
        let known = known(&labeled, if t < 25 { &wrong } else { &class[..12] });
        let batch = x.view().select(&(12 * t..12 * (t + 1)).collect::<Vec<_>>());
        let given = memory.label(known, batch.view(), &()).unwrap().unwrap();
        last = given.iter().zip(&class[12 * t..]).filter(|(g, c)| g.class == **c).count();
        assert!(t != 24 || last <= 4, "{last} of 12 right by exchanged labels");
        memory.absorb(known, batch, Some(&given), 1, &()).unwrap();
    }
    assert!(last >= 8, "{last} of 12 right");
}

/// A batch whose rows all have true labels has no inferred labels to compare against: the summary keeps its full size.
#[test]
fn a_fully_labeled_batch_keeps_the_full_summary() {
    let (x, class) = clouds(72, 5, 4);
    let part = |rows: std::ops::Range<usize>| x.view().select(&rows.collect::<Vec<_>>());
    let labeled = part(0..12);
    let known = known(&labeled, &class[..12]);
    let params = TransductionParams { exemplars: 20, ..Default::default() };
    let mut memory = Transduction::new(&params, 5, false).unwrap();
    for t in 1..5 {
        memory.absorb(known, part(12 * t..12 * (t + 1)), None, 1, &()).unwrap();
    }
    assert_eq!(memory.exemplars().rows(), 20);
    for _ in 0..3 {
        memory.absorb(known, part(0..0), Some(&[]), 1, &()).unwrap();
    }
    assert_eq!(memory.exemplars().rows(), 20);
}
