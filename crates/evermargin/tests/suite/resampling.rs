//! Neighbors, synthetic rows, sampling and label noise, against simple slow implementations and invariants.

use evermargin::data::Row;
use evermargin::estimators::ClassWeight;
use evermargin::resampling::{
    Neighbors, between, flip_labels, imbalance_ratio, neighbors, smote, thin, undersample,
};
use evermargin::{Kernel, Labels, Matrix};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

const RBF: Kernel = Kernel::Rbf { gamma: 0.7 };
const KERNELS: [Kernel; 4] = [
    Kernel::Linear,
    RBF,
    Kernel::Poly { gamma: 0.5, coef0: 1.0, degree: 3 },
    Kernel::Sigmoid { gamma: 0.1, coef0: 0.2 },
];

fn rng(seed: u64) -> Pcg64 {
    Pcg64::seed_from_u64(seed)
}

/// Values on a coarse grid, so that ties and duplicates occur.
fn matrix(rows: usize, cols: usize, seed: u64) -> Matrix {
    let mut rng = rng(seed);
    Matrix::dense(
        (0..rows * cols).map(|_| f64::from(rng.random_range(-2..3_i32)) / 2.0).collect(),
        rows,
        cols,
    )
    .unwrap()
}

fn labels(counts: &[usize], unlabeled: usize, seed: u64) -> Labels {
    let mut of: Vec<Option<u32>> =
        counts.iter().zip(0..).flat_map(|(&n, c)| vec![Some(c); n]).chain(vec![None; unlabeled]).collect();
    let mut rng = rng(seed);
    for i in (1..of.len()).rev() {
        of.swap(i, rng.random_range(0..=i));
    }
    Labels { classes: (0..counts.len()).map(|c| format!("c{c}")).collect(), of }
}

fn dense(x: &Matrix) -> Vec<Vec<f64>> {
    let mut out = vec![vec![0.0; x.cols()]; x.rows()];
    out.iter_mut().enumerate().for_each(|(i, row)| x.view().row(i).for_each(|c, v| row[c] = v));
    out
}

/// K_ss − 2K_sm + K_mm from kernel values.
fn feature_distance(kernel: Kernel, a: Row<'_>, b: Row<'_>) -> f64 {
    kernel.eval(a, a) - 2.0 * kernel.eval(a, b) + kernel.eval(b, b)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn neighbors_are_the_nearest_in_feature_space(n in 2..90_usize, k in 1..8_usize, seed in 0..1000_u64) {
        let x = matrix(n, 4, seed);
        let rows: Vec<usize> = (0..n).filter(|i| i % 3 != 1).collect();
        for kernel in KERNELS {
            let search = Neighbors::new(x.view(), &rows, kernel).unwrap();
            let sparse = x.view().to_csr().with_cols(if n % 2 == 0 { 4 } else { 5000 });
            let all = search.all(k);
            prop_assert_eq!(&all, &Neighbors::new(sparse.view(), &rows, kernel).unwrap().all(k));
            for (place, found) in all.iter().enumerate() {
                prop_assert_eq!(found.len(), k.min(rows.len() - 1));
                prop_assert_eq!(found, &search.of(place, k));
                prop_assert!(!found.contains(&place));
                let named: Vec<usize> = found.iter().map(|&p| rows[p]).collect();
                prop_assert_eq!(&named, &neighbors(x.view(), &rows, rows[place], kernel, k).unwrap());
                let far = |p: usize| {
                    feature_distance(kernel, x.view().row(rows[place]), x.view().row(rows[p]))
                };
                let farthest = found.iter().map(|&p| far(p)).fold(0.0, f64::max);
                for p in (0..rows.len()).filter(|p| *p != place && !found.contains(p)) {
                    prop_assert!(far(p) >= farthest - 1e-9);
                }
            }
        }
    }

    #[test]
    fn synthetic_rows_lie_between_two_neighbors(n in 1..40_usize, v in 0..4_usize, k in 1..7_usize, seed in 0..1000_u64) {
        let x = matrix(n + 5, 5, seed);
        let rows: Vec<usize> = (5..n + 5).collect();
        let made = smote(x.view(), &rows, RBF, k, v, &mut rng(seed)).unwrap();
        prop_assert_eq!((made.rows(), made.cols()), (v * n, 5));
        let sparse = x.view().to_csr();
        let thin = smote(sparse.view(), &rows, RBF, k, v, &mut rng(seed)).unwrap();
        let is_sparse = matches!(&thin, Matrix::Csr { .. });
        prop_assert!(is_sparse);
        prop_assert_eq!(dense(&thin), dense(&made));
        let (all, made) = (dense(&x), dense(&made));
        for (i, s) in made.iter().enumerate() {
            let a = &all[rows[i / v]];
            let near = neighbors(x.view(), &rows, rows[i / v], RBF, k).unwrap();
            let on_segment = |b: &[f64]| {
                // one λ in [0, 1] for all columns
                let wide = (0..5).max_by(|&p, &q| (a[p] - b[p]).abs().total_cmp(&(a[q] - b[q]).abs())).unwrap();
                let l = if a[wide] == b[wide] { 0.0 } else { (s[wide] - b[wide]) / (a[wide] - b[wide]) };
                (0.0..=1.0).contains(&l) && (0..5).all(|c| (l * a[c] + (1.0 - l) * b[c] - s[c]).abs() < 1e-12)
            };
            prop_assert!(near.iter().any(|&m| on_segment(&all[m])) || (n == 1 && s == a));
        }
    }

    #[test]
    fn undersampling_keeps_the_requested_ratio(
        counts in (1..40_usize, 1..200_usize), unlabeled in 0..5_usize, ratio in 0.1..5.0_f64, seed in 0..1000_u64,
    ) {
        let y = labels(&[counts.1, counts.0], unlabeled, seed);
        let kept = undersample(&y, 0, ratio, &mut rng(seed)).unwrap();
        prop_assert!(kept.windows(2).all(|w| w[0] < w[1]));
        let count = |class| kept.iter().filter(|&&i| y.of[i] == class).count();
        prop_assert_eq!((count(Some(1)), count(None)), (counts.0, unlabeled));
        let wanted = (ratio * counts.0 as f64).min(counts.1 as f64);
        prop_assert!((count(Some(0)) as f64 - wanted).abs() <= 0.5);
    }

    #[test]
    fn thinning_gives_the_requested_ratio(
        n in 1..300_usize, shares in (0.05..1.0_f64, 0.05..1.0_f64), seed in 0..1000_u64,
    ) {
        let small = ((n as f64 * shares.0) as usize).max(1);
        let wanted = ((small as f64 * shares.1) as usize).max(1);
        let y = labels(&[n, small], 2, seed);
        let ratio = n as f64 / wanted as f64;
        let kept = thin(&y, 1, ratio, &mut rng(seed)).unwrap();
        let count = |class| kept.iter().filter(|&&i| y.of[i] == class).count();
        prop_assert_eq!((count(Some(0)), count(Some(1)), count(None)), (n, wanted, 2));
    }

    #[test]
    fn flips_exactly_the_given_fraction_of_labels(
        counts in proptest::collection::vec(1..30_usize, 2..5), share in 0.0..=1.0_f64, seed in 0..1000_u64,
    ) {
        let clean = labels(&counts, 3, seed);
        let mut noisy = clean.clone();
        let rows = flip_labels(&mut noisy, share, &mut rng(seed)).unwrap();
        let changed: Vec<usize> = (0..clean.of.len()).filter(|&i| clean.of[i] != noisy.of[i]).collect();
        prop_assert_eq!(&changed, &rows);
        let n = counts.iter().sum::<usize>() as f64;
        prop_assert_eq!(rows.len() as f64, (share * n).round());
        prop_assert!(rows.iter().all(|&i| clean.of[i].is_some() && noisy.of[i].is_some_and(|c| (c as usize) < counts.len())));
        prop_assert_eq!(&clean.classes, &noisy.classes);
    }
}

#[test]
fn flips_are_uniform_over_other_classes_and_follow_the_seed() {
    let clean = labels(&[3000, 0, 0, 0], 0, 1);
    let mut noisy = clean.clone();
    flip_labels(&mut noisy, 1.0, &mut rng(4)).unwrap();
    let counts = noisy.counts();
    assert_eq!(counts[0], 0);
    // expected 1000 each, standard deviation 26
    assert!(counts[1..].iter().all(|n| n.abs_diff(1000) < 130), "{counts:?}");
    let mut again = clean.clone();
    flip_labels(&mut again, 1.0, &mut rng(4)).unwrap();
    assert_eq!(noisy, again);
}

#[test]
fn undersampling_is_uniform() {
    let y = labels(&[10, 5], 0, 1);
    let mut kept = [0_usize; 15];
    for seed in 0..3000 {
        undersample(&y, 0, 1.0, &mut rng(seed)).unwrap().into_iter().for_each(|i| kept[i] += 1);
    }
    for (i, n) in kept.iter().enumerate() {
        // kept with probability 5/10, standard deviation 27
        assert!(if y.of[i] == Some(1) { *n == 3000 } else { n.abs_diff(1500) < 140 }, "{kept:?}");
    }
}

#[test]
fn class_weights_and_imbalance_ratio_equal_values_computed_by_hand() {
    assert_eq!(ClassWeight::Ratio.of_sizes(&[950.0, 50.0]), [1.0, 19.0]);
    assert_eq!(ClassWeight::Ratio.of_sizes(&[10.0, 0.0, 40.0]), [4.0, 1.0, 1.0]);
    assert_eq!(ClassWeight::Balanced.of_sizes(&[10.0, 0.0, 40.0, 30.0]), [2.0, 1.0, 0.5, 20.0 / 30.0]);
    assert_eq!(ClassWeight::Ratio.of_sizes(&[]), Vec::<f64>::new());
    assert_eq!(imbalance_ratio(&[950, 50, 0]), Some(19.0));
    assert_eq!((imbalance_ratio(&[]), imbalance_ratio(&[0, 0])), (None, None));
}

#[test]
fn results_do_not_depend_on_threads() {
    let mut noise = rng(1);
    let values = (0..700 * 6).map(|_| noise.random::<f64>()).collect();
    let narrow = Matrix::dense(values, 700, 6).unwrap();
    let wide = narrow.view().to_csr().with_cols(5000);
    let rows: Vec<usize> = (0..700).collect();
    for x in [&narrow, &wide] {
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| smote(x.view(), &rows, RBF, 5, 2, &mut rng(3)).unwrap())
        };
        assert_eq!(with(1), with(2));
        assert_eq!(with(1), with(4));
    }
}

#[test]
fn ties_prefer_the_earlier_row() {
    let x = Matrix::dense(vec![0.0, 1.0, -1.0, 1.0, 0.0, 2.0], 6, 1).unwrap();
    let rows = [0, 1, 2, 3, 4, 5];
    for kernel in [Kernel::Linear, RBF] {
        assert_eq!(neighbors(x.view(), &rows, 0, kernel, 9).unwrap(), [4, 1, 2, 3, 5]);
        assert_eq!(neighbors(x.view(), &rows, 0, kernel, 2).unwrap(), [4, 1]);
        assert_eq!(Neighbors::new(x.view(), &rows, kernel).unwrap().all(2)[0], [4, 1]);
    }
    // at a large distance the kernel is 0 for every pair, and the order is still right
    let x = Matrix::dense(vec![0.0, 900.0, 500.0, 700.0], 4, 1).unwrap();
    assert_eq!(neighbors(x.view(), &[0, 1, 2, 3], 0, RBF, 3).unwrap(), [2, 3, 1]);
    // a row outside of the searched rows
    assert_eq!(neighbors(x.view(), &[0, 1], 3, RBF, 3).unwrap(), [1, 0]);
}

#[test]
fn interpolates_the_ends_and_the_middle_of_a_segment() {
    let (a, b) = ([1.0, 0.0, 4.0], [3.0, 2.0, 0.0]);
    let mix = |l| dense(&between(Row::Dense(&a), Row::Dense(&b), l, 3).unwrap()).remove(0);
    assert_eq!((mix(1.0), mix(0.0), mix(0.5)), (a.to_vec(), b.to_vec(), vec![2.0, 1.0, 2.0]));
    let sparse =
        between(Row::Sparse(&[0, 2], &[1.0, 4.0]), Row::Sparse(&[0, 1], &[3.0, 2.0]), 0.5, 5).unwrap();
    assert_eq!(dense(&sparse), [[2.0, 1.0, 2.0, 0.0, 0.0]]);
    let gone = between(Row::Sparse(&[1], &[-1.0]), Row::Sparse(&[1], &[1.0]), 0.5, 2).unwrap();
    assert_eq!(gone.view().nonzeros(), 0);
    assert!(between(Row::Dense(&a), Row::Dense(&b), 1.5, 3).is_err());
    assert!(between(Row::Dense(&a), Row::Dense(&b), f64::NAN, 3).is_err());
    assert!(between(Row::Dense(&a), Row::Dense(&b), 0.5, 2).is_err());
    let edge = between(Row::Dense(&[1e100]), Row::Dense(&[-1e100]), 1.0, 1).unwrap();
    assert_eq!(dense(&edge), [[1e100]]);
}

#[test]
fn handles_or_refuses_degenerate_input() {
    let x = matrix(4, 3, 1);
    let lone = smote(x.view(), &[2], RBF, 5, 2, &mut rng(1)).unwrap();
    assert_eq!(dense(&lone), vec![dense(&x)[2].clone(); 2], "a lone row is copied");
    assert_eq!(smote(x.view(), &[0, 1], RBF, 50, 1, &mut rng(1)).unwrap().rows(), 2);
    assert_eq!(smote(x.view(), &[0, 1], RBF, 5, 0, &mut rng(1)).unwrap().rows(), 0);
    let refused =
        |rows: &[usize], kernel, k| smote(x.view(), rows, kernel, k, 1, &mut rng(1)).unwrap_err().to_string();
    assert_eq!(refused(&[0], RBF, 0), "parameter n_neighbors = 0: must be 1 or more");
    assert!(refused(&[], RBF, 5).contains("rows of the class"));
    assert_eq!(refused(&[4], RBF, 5), "parameter row = 4: must be below 4");
    assert!(refused(&[0], Kernel::Precomputed, 5).contains("precomputed"));
    assert!(refused(&[0], Kernel::Rbf { gamma: -1.0 }, 5).contains("gamma"));

    let mut y = labels(&[10, 5], 0, 1);
    assert_eq!(
        thin(&y, 1, 1.0, &mut rng(1)).unwrap_err().to_string(),
        "parameter thin = 1: must be at least 2.0000, the current ratio"
    );
    assert_eq!(thin(&y, 1, 1e9, &mut rng(1)).unwrap().len(), 11);
    for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(thin(&y, 1, wrong, &mut rng(1)).is_err() && undersample(&y, 0, wrong, &mut rng(1)).is_err());
    }
    assert!(thin(&y, 2, 3.0, &mut rng(1)).is_err() && undersample(&y, 7, 1.0, &mut rng(1)).is_err());
    for wrong in [-0.1, 1.1, f64::NAN] {
        assert!(flip_labels(&mut y, wrong, &mut rng(1)).is_err());
    }
    let mut one = labels(&[3], 0, 1);
    assert!(flip_labels(&mut one, 0.5, &mut rng(1)).is_err());
    assert!(flip_labels(&mut one, 0.0, &mut rng(1)).unwrap().is_empty());
}
