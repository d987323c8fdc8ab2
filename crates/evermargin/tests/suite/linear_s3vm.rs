//! `linear-tsvm` and `linear-da` against other solvers, exhaustive search over labelings, and their own symmetries.

use evermargin::data::{Label, Matrix, MatrixView};
use evermargin::estimators::supervised::linear::LinearParams;
use evermargin::estimators::supervised::svc::SvcParams;
use evermargin::estimators::transductive::Ratio;
use evermargin::estimators::transductive::linear_da::LinearDaParams;
use evermargin::estimators::transductive::linear_tsvm::LinearTsvmParams;
use evermargin::estimators::{Fit, Fitted, Targets, estimator};
use evermargin::kernel::Kernel;
use evermargin::model::Model;
use evermargin::solver::{Exit, Progress, Watch};
use rand::{RngExt, SeedableRng};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Two clouds, every other row positive; the first `labeled` rows have labels.
fn clouds(rows: usize, cols: usize, labeled: usize, apart: f64, seed: u64) -> (Matrix, Targets) {
    let mut rng = rand_pcg::Pcg64::seed_from_u64(seed);
    let (mut values, mut y) = (Vec::new(), Vec::new());
    for i in 0..rows {
        let sign = if i % 2 == 0 { 1.0 } else { -1.0 };
        // about a third of the values is 0, for sparse storage
        values
            .extend((0..cols).map(|_| {
                if rng.random_bool(0.3) { 0.0 } else { apart * sign + rng.random_range(-1.5..1.5) }
            }));
        let label = if sign > 0.0 { Label::Pos } else { Label::Neg };
        y.push(if i < labeled { label } else { Label::Unknown });
    }
    (Matrix::dense(values, rows, cols).unwrap(), Targets { y, cost: vec![1.0; rows] })
}

const HALF: f64 = 0.5;

fn tsvm() -> LinearTsvmParams {
    LinearTsvmParams {
        lambda: 0.02,
        ratio: Ratio::Given(vec![HALF]),
        tolerance: 1e-8,
        ..LinearTsvmParams::default()
    }
}

fn da() -> LinearDaParams {
    LinearDaParams {
        lambda: 0.02,
        ratio: Ratio::Given(vec![HALF]),
        tolerance: 1e-8,
        ..LinearDaParams::default()
    }
}

fn both_estimators() -> [Box<dyn Fit>; 2] {
    [Box::new(tsvm()), Box::new(da())]
}

fn fit(params: &dyn Fit, x: MatrixView<'_>, t: &Targets) -> Fitted {
    params.fit(x, std::slice::from_ref(t), &()).unwrap()
}

fn weights(fitted: &Fitted) -> Vec<f64> {
    let Model::Linear { weights, bias } = &fitted.model else { unreachable!() };
    weights[0].iter().chain(&bias[..1]).copied().collect()
}

fn labels(fitted: &Fitted) -> Vec<bool> {
    fitted.transduced.as_ref().unwrap().scores[0].iter().map(|s| *s > 0.0).collect()
}

fn close(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance)
}

/// Minimum over w for given labels, by dual coordinate descent, in the units of the estimators.
fn minimum(x: MatrixView<'_>, t: &Targets, labels: &[bool], lambda: f64, lambda_u: f64) -> (f64, Fitted) {
    let known = |i: usize| t.y[i] != Label::Unknown;
    let mass = |which: bool| -> f64 { (0..x.rows()).filter(|&i| known(i) == which).map(|i| t.cost[i]).sum() };
    let (l, u) = (mass(true), mass(false));
    let targets = Targets {
        y: (0..x.rows())
            .map(|i| match (t.y[i], labels[i]) {
                (Label::Unknown, true) => Label::Pos,
                (Label::Unknown, false) => Label::Neg,
                (given, _) => given,
            })
            .collect(),
        cost: (0..x.rows())
            .map(|i| t.cost[i] * if known(i) { 1.0 / l } else { lambda_u / u } / (2.0 * lambda))
            .collect(),
    };
    let fitted = fit(&LinearParams { tolerance: 1e-8, ..LinearParams::default() }, x, &targets);
    (lambda * fitted.reports[0].objective, fitted)
}

#[test]
fn the_solution_is_the_minimum_for_its_labels() {
    for seed in 0..6 {
        let (x, mut t) = clouds(50, 4, 10, 0.5, seed);
        t.cost.iter_mut().enumerate().for_each(|(i, c)| *c = 1.0 + (i % 3) as f64);
        for params in both_estimators() {
            let fitted = fit(params.as_ref(), x.view(), &t);
            let (objective, other) = minimum(x.view(), &t, &labels(&fitted), 0.02, 1.0);
            let found = fitted.reports[0].objective;
            assert!(close(&weights(&fitted), &weights(&other), 1e-4), "{params:?}");
            assert!((found - objective).abs() < 1e-6 * objective, "{found} {objective} {params:?}");
            assert_eq!(fitted.reports[0].exit, Exit::Converged);
        }
    }
}

#[test]
fn the_supervised_form_equals_a_dual_squared_hinge_svm() {
    let (x, t) = clouds(40, 3, 16, 0.3, 5);
    let (lambda, l) = (0.05, 16);
    let supervised = LinearTsvmParams { lambda, ..tsvm() }.supervised().unwrap();
    let fitted = fit(supervised.as_ref(), x.view(), &t);
    // max Σα − ½ΣΣ αᵢαⱼyᵢyⱼ(xᵢ·xⱼ + 1 + δᵢⱼ/(2C)), α ≥ 0, 1/(2C) = λl
    let inner = |i: usize, j: usize| 1.0 + x.view().row(i).dot(x.view().row(j));
    let ridge = |i: usize, j: usize| if i == j { lambda * l as f64 } else { 0.0 };
    let cells = (0..l).flat_map(|i| (0..l).map(move |j| (i, j)));
    let k = Matrix::dense(cells.map(|(i, j)| inner(i, j) + ridge(i, j)).collect(), l, l).unwrap();
    let svc = SvcParams {
        kernel: Kernel::Precomputed,
        c: 1e6,
        tolerance: 1e-7,
        fit_intercept: false,
        ..SvcParams::default()
    };
    let dual = fit(&svc, k.view(), &t.select(&(0..l).collect::<Vec<_>>()));
    let Model::Linear { weights: alpha, .. } = &dual.model else { panic!("{:?}", dual.model) };
    let f = fitted.model.decision(x.view()).unwrap();
    for i in 0..40 {
        let g: f64 = (0..l).map(|j| alpha[0][j] * inner(i, j)).sum();
        assert!((f[i] - g).abs() < 1e-3, "{i}: {} {g}", f[i]);
    }
}

#[test]
fn without_unlabeled_weight_it_equals_the_supervised_solution() {
    let (x, t) = clouds(30, 4, 10, 0.4, 2);
    let rows: Vec<usize> = (0..10).collect();
    let alone = minimum(x.view().select(&rows).view(), &t.select(&rows), &[true; 10], 0.02, 1.0).1;
    for params in both_estimators() {
        let supervised = fit(params.supervised().unwrap().as_ref(), x.view(), &t);
        assert!(close(&weights(&supervised), &weights(&alone), 1e-5));
        let without = fit(params.as_ref(), x.view().select(&rows).view(), &t.select(&rows));
        assert!(close(&weights(&without), &weights(&alone), 1e-5));
        let semi = fit(params.as_ref(), x.view(), &t);
        assert!(!close(&weights(&semi), &weights(&alone), 1e-2));
        let mut absent = t.clone();
        absent.cost[10..].fill(0.0);
        let absent = fit(params.as_ref(), x.view(), &absent);
        assert!(close(&weights(&absent), &weights(&alone), 1e-5));
        assert!(absent.transduced.unwrap().scores[0].iter().all(|s| s.is_finite()));
    }
}

#[test]
fn the_objective_is_not_below_exhaustive_search_and_reaches_it_on_clear_clusters() {
    for (seed, apart) in [(1, 0.4), (2, 0.4), (3, 2.5), (4, 2.5), (5, 2.5)] {
        let (x, t) = clouds(12, 4, 4, apart, seed);
        let mut best = f64::INFINITY;
        for code in 0u32..256 {
            if code.count_ones() == 4 {
                let labels: Vec<bool> = (0..12).map(|i| i >= 4 && code >> (i - 4) & 1 == 1).collect();
                best = best.min(minimum(x.view(), &t, &labels, 0.02, 1.0).0);
            }
        }
        for params in both_estimators() {
            let found = fit(params.as_ref(), x.view(), &t).reports[0].objective;
            assert!(found > best - 1e-7, "{found} {best}");
            assert!(apart < 1.0 || found < best + 1e-6, "{found} {best} {params:?}");
        }
    }
}

#[test]
fn single_and_multiple_switching_end_where_no_swap_gains() {
    for seed in 0..5 {
        let (x, t) = clouds(80, 5, 8, 0.35, seed);
        let mut objectives = Vec::new();
        for most in [1, 0] {
            let fitted = fit(&LinearTsvmParams { switch: most, ..tsvm() }, x.view(), &t);
            let f = fitted.model.decision(x.view()).unwrap();
            let positive = labels(&fitted);
            assert_eq!((8..80).filter(|&i| positive[i]).count(), 36);
            for i in (8..80).filter(|&i| positive[i] && f[i] < 1.0) {
                for j in (8..80).filter(|&j| !positive[j] && f[j] > -1.0) {
                    assert!(f[i] >= f[j] - 1e-9, "{i} {j}");
                }
            }
            objectives.push(fitted.reports[0].objective);
        }
        // the objectives of the two variants differ by less than 4 %
        assert!((objectives[0] / objectives[1] - 1.0).abs() < 0.04, "{objectives:?}");
    }
}

/// Loss of label + minus loss of label − at output o.
fn preference(o: f64) -> f64 {
    (1.0 - o).max(0.0).powi(2) - (1.0 + o).max(0.0).powi(2)
}

#[test]
fn annealing_ends_where_no_swap_gains_and_not_above_its_start() {
    for seed in 0..12 {
        let (x, mut t) = clouds(80, 20, 6, 0.35, seed);
        if seed % 2 == 1 {
            t.cost.iter_mut().enumerate().for_each(|(i, c)| *c = 1.0 + (i % 3) as f64);
        }
        // a small λ, with which annealing without swaps ends in a poor solution
        let params = LinearDaParams { lambda: 0.002, ..da() };
        let fitted = fit(&params, x.view(), &t);
        let (f, positive) = (fitted.model.decision(x.view()).unwrap(), labels(&fitted));
        let open = 6..80;
        assert_eq!(open.clone().filter(|&i| positive[i]).count(), 37);
        for i in open.clone().filter(|&i| positive[i]) {
            for j in open.clone().filter(|&j| !positive[j]) {
                let gain = t.cost[i] * preference(f[i]) - t.cost[j] * preference(f[j]);
                assert!(gain <= 1e-9, "{seed}: {i} {j} {gain}");
            }
        }

        let alone = fit(params.supervised().unwrap().as_ref(), x.view(), &t);
        let o = alone.model.decision(x.view()).unwrap();
        let mut rank: Vec<usize> = open.collect();
        rank.sort_by(|&i, &j| (t.cost[i] * preference(o[i])).total_cmp(&(t.cost[j] * preference(o[j]))));
        let mass = |rows: std::ops::Range<usize>| t.cost[rows].iter().sum::<f64>();
        let loss = |i: usize, y: f64| t.cost[i] * (1.0 - y * o[i]).max(0.0).powi(2);
        let known: f64 = (0..6).map(|i| loss(i, if t.y[i] == Label::Pos { 1.0 } else { -1.0 })).sum();
        let hidden: f64 =
            rank.iter().enumerate().map(|(k, &j)| loss(j, if k < 37 { 1.0 } else { -1.0 })).sum();
        let start = 0.002 / 2.0 * weights(&alone).iter().map(|w| w * w).sum::<f64>()
            + known / (2.0 * mass(0..6))
            + hidden / (2.0 * mass(6..80));
        let found = fitted.reports[0].objective;
        assert!(found <= start, "{seed}: {found} {start}");
        // nor above the minimum for the labels of that start
        let mut by_rank = vec![false; 80];
        rank[..37].iter().for_each(|&j| by_rank[j] = true);
        let (minimum, _) = minimum(x.view(), &t, &by_rank, 0.002, 1.0);
        assert!(found <= minimum * (1.0 + 1e-3), "{seed}: {found} {minimum}");
    }
}

#[test]
fn labels_separated_clouds_without_error() {
    for seed in 0..10 {
        let (x, t) = clouds(200, 20, 6, 1.5, seed);
        for lambda in [0.0, 0.001, 0.1] {
            for params in [
                Box::new(LinearDaParams { lambda, tolerance: 1e-3, ..da() }) as Box<dyn Fit>,
                Box::new(LinearTsvmParams { lambda, tolerance: 1e-3, ..tsvm() }),
            ] {
                let found = labels(&fit(params.as_ref(), x.view(), &t));
                let right = (6..200).filter(|i| found[*i] == (i % 2 == 0)).count();
                assert_eq!(right, 194, "{seed} {lambda} {params:?}");
            }
        }
    }
}

#[test]
fn flipped_labels_and_ratio_negate_the_function() {
    let (x, t) = clouds(65, 4, 9, 0.5, 8);
    let flipped = Targets {
        y: t.y
            .iter()
            .map(|y| match y {
                Label::Pos => Label::Neg,
                Label::Neg => Label::Pos,
                Label::Unknown => Label::Unknown,
            })
            .collect(),
        ..t.clone()
    };
    let pair = |ratio: f64| -> [Box<dyn Fit>; 2] {
        let ratio = Ratio::Given(vec![ratio]);
        [
            Box::new(LinearTsvmParams { ratio: ratio.clone(), ..tsvm() }),
            Box::new(LinearDaParams { ratio, ..da() }),
        ]
    };
    for (a, b) in pair(0.375).iter().zip(pair(0.625)) {
        let (f, g) = (fit(a.as_ref(), x.view(), &t), fit(b.as_ref(), x.view(), &flipped));
        let minus: Vec<f64> = weights(&g).iter().map(|w| -w).collect();
        assert!(close(&weights(&f), &minus, 1e-4), "{a:?}");
        let (f, g) = (labels(&f), labels(&g));
        assert!((9..65).all(|i| f[i] != g[i]));
    }
}

#[test]
fn dense_and_sparse_rows_give_the_same_model() {
    let (x, t) = clouds(70, 6, 10, 0.4, 4);
    for params in both_estimators() {
        let (a, b) = (fit(params.as_ref(), x.view(), &t), fit(params.as_ref(), x.view().to_csr().view(), &t));
        assert!(close(&weights(&a), &weights(&b), 1e-6));
        assert_eq!(labels(&a), labels(&b));
    }
}

#[test]
fn empty_columns_do_not_change_a_bit() {
    let (x, t) = clouds(70, 6, 10, 0.4, 4);
    let narrow = x.view().to_csr();
    let Matrix::Csr { indptr, indices, values, .. } = &narrow else { unreachable!() };
    let place = |c: u32| 1000 * c + 7;
    let spread = indices.iter().map(|&c| place(c)).collect();
    let wide = Matrix::csr(indptr.clone(), spread, values.clone(), 9000).unwrap();
    for center in [false, true] {
        let tsvm = LinearTsvmParams { center, ..tsvm() };
        let da = LinearDaParams { center, ..da() };
        let same = |a: &Fitted, b: &Fitted| {
            let (a_model, b_model) = (weights(a), weights(b));
            let mut expected = vec![0.0; 9001];
            (0..6).for_each(|c| expected[place(c as u32) as usize] = a_model[c]);
            expected[9000] = a_model[6];
            assert_eq!(expected, b_model);
            assert_eq!(a.transduced.as_ref().unwrap().scores, b.transduced.as_ref().unwrap().scores);
        };
        let one = std::slice::from_ref(&t);
        let (a, b) = (fit(&tsvm, narrow.view(), &t), fit(&tsvm, wide.view(), &t));
        same(&a, &b);
        same(&fit(&da, narrow.view(), &t), &fit(&da, wide.view(), &t));
        let from = |x: MatrixView<'_>, start: &Fitted| da.fit_from(x, one, &start.model, &()).unwrap();
        same(&from(narrow.view(), &a), &from(wide.view(), &b));
        assert!(da.fit_from(wide.view(), one, &a.model, &()).is_err());
    }
}

#[test]
fn weight_two_equals_two_copies_and_a_common_factor_has_no_effect() {
    let (x, t) = clouds(60, 4, 10, 0.6, 6);
    let labeled: Vec<usize> = (0..60).chain((0..10).filter(|i| i % 4 < 2)).collect();
    let weighted =
        Targets { cost: (0..60).map(|i| if i % 4 < 2 && i < 10 { 2.0 } else { 1.0 }).collect(), ..t.clone() };
    for params in both_estimators() {
        let copied = fit(params.as_ref(), x.view().select(&labeled).view(), &t.select(&labeled));
        let weighted = fit(params.as_ref(), x.view(), &weighted);
        assert!(close(&weights(&copied), &weights(&weighted), 1e-4), "{params:?}");
    }
    for params in both_estimators() {
        let tripled = Targets { cost: vec![3.0; 60], ..t.clone() };
        let (a, b) = (fit(params.as_ref(), x.view(), &t), fit(params.as_ref(), x.view(), &tripled));
        assert!(close(&weights(&a), &weights(&b), 1e-6));
    }
}

#[test]
fn implicit_centering_equals_explicit_centering() {
    let (x, mut t) = clouds(60, 5, 10, 0.5, 9);
    t.cost.iter_mut().enumerate().for_each(|(i, c)| *c = 1.0 + (i % 2) as f64);
    t.cost[59] = 0.0;
    let Matrix::Dense { values, .. } = &x else { unreachable!() };
    let total: f64 = t.cost.iter().sum();
    let mean = |c: usize| (0..60).map(|i| t.cost[i] * values[i * 5 + c]).sum::<f64>() / total;
    let mean: Vec<f64> = (0..5).map(mean).collect();
    assert!(mean.iter().any(|m| m.abs() > 0.05));
    let centered =
        Matrix::dense(values.iter().enumerate().map(|(i, v)| v - mean[i % 5]).collect(), 60, 5).unwrap();
    for bias in [true, false] {
        let pair = |center: bool| -> [Box<dyn Fit>; 2] {
            [
                Box::new(LinearTsvmParams { center, fit_intercept: bias, ..tsvm() }),
                Box::new(LinearDaParams { center, fit_intercept: bias, ..da() }),
            ]
        };
        for (implicit, explicit) in pair(true).iter().zip(pair(false)) {
            let a = fit(implicit.as_ref(), x.view().to_csr().view(), &t);
            let b = fit(explicit.as_ref(), centered.view(), &t);
            let f = a.model.decision(x.view()).unwrap();
            let g = b.model.decision(centered.view()).unwrap();
            assert!(close(&f, &g, 1e-5), "{implicit:?}");
            let c = fit(explicit.as_ref(), x.view(), &t);
            assert!(!close(&f, &c.model.decision(x.view()).unwrap(), 1e-3));
        }
    }
}

#[test]
fn results_are_bit_identical_for_any_number_of_threads() {
    let (x, t) = clouds(3000, 40, 20, 0.1, 3);
    let sparse = x.view().to_csr();
    for params in [
        Box::new(LinearTsvmParams { tolerance: 1e-3, center: true, ..tsvm() }) as Box<dyn Fit>,
        Box::new(LinearDaParams { tolerance: 1e-3, ..da() }),
    ] {
        let run = |threads: usize| {
            let pool = rayon_pool(threads);
            pool.install(|| fit(params.as_ref(), sparse.view(), &t))
        };
        let one = run(1);
        for threads in [2, 4] {
            let other = run(threads);
            assert_eq!(one.model, other.model);
            assert_eq!(one.transduced.as_ref().unwrap().scores, other.transduced.unwrap().scores);
        }
    }
}

fn rayon_pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

struct StopAfter(AtomicUsize, usize);

impl Watch for StopAfter {
    fn proceed(&self, progress: &Progress) -> bool {
        assert!(progress.violation.is_finite() && progress.tolerance > 0.0);
        self.0.fetch_add(1, Ordering::Relaxed) < self.1
    }
}

#[test]
fn an_interrupt_leaves_a_valid_model() {
    let (x, t) = clouds(80, 5, 8, 0.3, 1);
    for params in both_estimators() {
        let counted = StopAfter(AtomicUsize::new(0), usize::MAX);
        params.fit(x.view(), std::slice::from_ref(&t), &counted).unwrap();
        let calls = counted.0.into_inner();
        assert!(calls > 20);
        for most in [0, 1, 2, 5, calls / 2, calls - 1] {
            let watch = StopAfter(AtomicUsize::new(0), most);
            let fitted = params.fit(x.view(), std::slice::from_ref(&t), &watch).unwrap();
            assert_eq!(fitted.reports[0].exit, Exit::Interrupted, "{most} of {calls}");
            fitted.model.check().unwrap();
            assert!(fitted.reports[0].objective.is_finite());
            let semi = fitted.transduced.as_ref().unwrap();
            assert_eq!(semi.scores[0].len(), 80);
            assert!(semi.scores[0].iter().all(|s| s.is_finite()));
            // the number of positives is kept whenever unlabeled rows take part
            assert_eq!(labels(&fitted)[8..].iter().filter(|p| **p).count(), 36);
        }
    }
}

#[test]
fn step_limits_are_respected_and_reported() {
    let (x, t) = clouds(80, 5, 8, 0.3, 1);
    for max in [1, 3, 10] {
        for params in [
            Box::new(LinearTsvmParams { max_steps: Some(max), ..tsvm() }) as Box<dyn Fit>,
            Box::new(LinearDaParams { max_steps: Some(max), ..da() }),
        ] {
            let report = fit(params.as_ref(), x.view(), &t).reports[0];
            assert_eq!(report.exit, Exit::Limit);
            assert!(report.steps <= max, "{} {max}", report.steps);
        }
    }
}

#[test]
fn a_path_equals_separate_fits() {
    let (x, t) = clouds(90, 5, 10, 0.8, 11);
    let lambdas = [1.0, 0.1, 0.01];
    let one = std::slice::from_ref(&t);
    let check = |path: Vec<Fitted>, alone: &dyn Fn(f64) -> Fitted| {
        assert_eq!(path.len(), 3);
        for (fitted, lambda) in path.iter().zip(lambdas) {
            let alone = alone(lambda);
            assert_eq!(labels(fitted), labels(&alone));
            assert!(close(&weights(fitted), &weights(&alone), 1e-4));
        }
    };
    check(tsvm().fit_path(&lambdas, x.view(), one, &()).unwrap(), &|lambda| {
        fit(&LinearTsvmParams { lambda, ..tsvm() }, x.view(), &t)
    });
    check(da().fit_path(&lambdas, x.view(), one, &()).unwrap(), &|lambda| {
        fit(&LinearDaParams { lambda, ..da() }, x.view(), &t)
    });
    let (narrow, _) = clouds(90, 4, 10, 0.8, 11);
    let start = fit(&tsvm(), x.view(), &t).model;
    let error = tsvm().fit_from(narrow.view(), one, &start, &()).unwrap_err().to_string();
    assert!(error.contains("the model to start from has other columns or outputs"), "{error}");
}

#[test]
fn unequal_classes_are_not_all_put_on_one_side() {
    // one row in five is positive, also among the labeled rows
    let mut rng = rand_pcg::Pcg64::seed_from_u64(2);
    let rows = 400;
    let positive = |i: usize| i.is_multiple_of(5);
    let values: Vec<f64> = (0..rows * 6)
        .map(|k| (if positive(k / 6) { 0.8 } else { -0.8 }) + rng.random_range(-1.5..1.5))
        .collect();
    let x = Matrix::dense(values, rows, 6).unwrap();
    let label = |i: usize| if positive(i) { Label::Pos } else { Label::Neg };
    let y = (0..rows).map(|i| if i < 20 { label(i) } else { Label::Unknown }).collect();
    let t = Targets { y, cost: vec![1.0; rows] };
    for params in [
        Box::new(LinearDaParams { ratio: Ratio::Given(vec![0.2]), ..da() }) as Box<dyn Fit>,
        Box::new(LinearTsvmParams { ratio: Ratio::Given(vec![0.2]), ..tsvm() }),
    ] {
        let fitted = fit(params.as_ref(), x.view(), &t);
        let f = fitted.model.decision(x.view()).unwrap();
        let right = (0..rows).filter(|&i| (f[i] > 0.0) == positive(i)).count();
        assert!(right > 380, "{right} {params:?}");
    }
}

#[test]
fn refuses_invalid_parameters_and_single_class_labels() {
    let refused = |name: &str, json: &str| {
        let (x, t) = clouds(20, 2, 6, 0.5, 1);
        let params = serde_json::from_str(json).unwrap();
        let made = estimator(name).unwrap().make(&params);
        made.and_then(|l| l.fit(x.view(), &[t], &())).unwrap_err().to_string()
    };
    for name in ["linear-tsvm", "linear-da"] {
        for (json, text) in [
            (r#"{"lambda": -1}"#, "parameter lambda = -1: must be 0 or a number from 1e-12 to 1e12"),
            (r#"{"lambda_u": -1}"#, "parameter lambda_u = -1: must be a number from 0 to 1e6"),
            (
                r#"{"tolerance": 1}"#,
                "parameter tolerance = 1: must be a number between 0 and 1 (both excluded)",
            ),
            (r#"{"rate": 1}"#, "parameter rate = 1: must be a number above 1, at most 1e6"),
            (
                r#"{"ratio": 1}"#,
                "parameter ratio = 1: must be labels, auto, or shares between 0 and 1 (both excluded)",
            ),
        ] {
            assert_eq!(refused(name, json), text, "{name}");
        }
    }
    assert_eq!(
        refused("linear-tsvm", r#"{"start": 0}"#),
        "parameter start = 0: must be a number above 0, at most 1e6"
    );
    assert_eq!(
        refused("linear-da", r#"{"temperature": 0}"#),
        "parameter temperature = 0: must be a number above 0, at most 1e6"
    );
    assert_eq!(
        refused("linear-da", r#"{"settle": 0.5}"#),
        "parameter settle = 0.5: must be a number between 0 and 0.5 (both excluded)"
    );
    let (x, mut t) = clouds(20, 2, 6, 0.5, 1);
    t.y[..6].fill(Label::Pos);
    for params in both_estimators() {
        let error = params.fit(x.view(), std::slice::from_ref(&t), &()).unwrap_err().to_string();
        assert!(error.contains("two classes"), "{error}");
    }
}

#[test]
fn degenerate_data_gives_finite_scores() {
    let (x, t) = clouds(20, 3, 6, 0.5, 1);
    let finite = |fitted: &Fitted| {
        fitted.model.check().unwrap();
        assert!(fitted.transduced.as_ref().unwrap().scores[0].iter().all(|s| s.is_finite()));
    };
    for params in both_estimators() {
        // one unlabeled row; rows of zeros; identical rows; no columns
        let rows: Vec<usize> = (0..7).collect();
        finite(&fit(params.as_ref(), x.view().select(&rows).view(), &t.select(&rows)));
        finite(&fit(params.as_ref(), Matrix::dense(vec![0.0; 60], 20, 3).unwrap().view(), &t));
        finite(&fit(params.as_ref(), x.view().select(&[3; 20]).view(), &t));
        finite(&fit(params.as_ref(), Matrix::dense(vec![], 20, 0).unwrap().view(), &t));
        let huge = Matrix::dense(vec![1e100; 60], 20, 3).unwrap();
        if let Ok(fitted) = params.fit(huge.view(), std::slice::from_ref(&t), &()) {
            finite(&fitted);
        }
    }
}
