//! `one-class` against exhaustive search, the optimality conditions computed from scratch, the properties of ν that the
//! paper proves, and invariance under equivalent formulations of one problem.

use crate::common::eliminate;
use crate::common::svc::{clouds, kernel_matrix};
use evermargin::datasets::{GenerateParams, generate};
use evermargin::estimators::ClassWeight;
use evermargin::estimators::manifold::deformed_kernel::DeformedKernelParams;
use evermargin::estimators::supervised::one_class::OneClassParams;
use evermargin::estimators::{Fit, Fitted, Targets};
use evermargin::model::CalibrationKind;
use evermargin::pipeline::train::{ScalingChoice, TrainOptions, Trained, train};
use evermargin::solver::{Exit, Progress, Watch};
use evermargin::{Kernel, Label, Labels, Matrix, Model};

const RBF: Kernel = Kernel::Rbf { gamma: 0.7 };
/// Kernels whose values are positive, so that no row lies across the origin.
const POSITIVE: [Kernel; 3] =
    [RBF, Kernel::Rbf { gamma: 0.05 }, Kernel::Poly { gamma: 0.2, coef0: 2.0, degree: 2 }];

fn params(kernel: Kernel, nu: f64) -> OneClassParams {
    OneClassParams { kernel, nu, tolerance: 1e-6, ..Default::default() }
}

fn inside(cost: Vec<f64>) -> Targets {
    Targets { y: vec![Label::Pos; cost.len()], cost }
}

fn fit(params: &OneClassParams, x: &Matrix, cost: &[f64]) -> Fitted {
    params.fit(x.view(), &[inside(cost.to_vec())], &()).unwrap()
}

fn cloud(rows: usize, cols: usize, seed: u64) -> Matrix {
    clouds(rows, cols, seed).x
}

fn weights(rows: usize) -> Vec<f64> {
    (0..rows).map(|i| [1.0, 0.5, 2.0][i % 3]).collect()
}

/// α of all rows and the bias, from the kernel matrix.
fn solve(k: &[Vec<f64>], nu: f64, cost: &[f64], tolerance: f64) -> (Vec<f64>, f64) {
    let matrix = Matrix::dense(k.concat(), k.len(), k.len()).unwrap();
    let params = OneClassParams { tolerance, ..params(Kernel::Precomputed, nu) };
    let Model::Linear { weights, bias } = fit(&params, &matrix, cost).model else { panic!("linear") };
    (weights[0].clone(), bias[0])
}

fn decisions(fitted: &Fitted, x: &Matrix) -> Vec<f64> {
    fitted.model.decision(x.view()).unwrap()
}

fn close(a: &[f64], b: &[f64], tolerance: f64) {
    let scale = b.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= tolerance * scale, "{a} {b}");
    }
}

/// Minimum of ½αᵀKα, found by assigning each variable to 0, to its bound or to the inside in every way.
fn exhaustive(k: &[Vec<f64>], nu: f64, cost: &[f64]) -> f64 {
    let n = cost.len();
    let mut best = f64::INFINITY;
    for code in 0..3usize.pow(n as u32) {
        let state = |i: usize| code / 3usize.pow(i as u32) % 3;
        let free: Vec<usize> = (0..n).filter(|&i| state(i) == 2).collect();
        let mut alpha: Vec<f64> = (0..n).map(|i| if state(i) == 1 { cost[i] } else { 0.0 }).collect();
        let m = free.len();
        let (mut a, mut b) = (vec![vec![0.0; m + 1]; m + 1], vec![0.0; m + 1]);
        for (r, &i) in free.iter().enumerate() {
            free.iter().enumerate().for_each(|(s, &j)| a[r][s] = k[i][j]);
            (a[r][m], a[m][r]) = (1.0, 1.0);
            b[r] = -(0..n).map(|j| k[i][j] * alpha[j]).sum::<f64>();
        }
        b[m] = nu * cost.iter().sum::<f64>() - alpha.iter().sum::<f64>();
        if m > 0 {
            let Some(solution) = eliminate(a, b) else { continue };
            free.iter().zip(&solution).for_each(|(&i, v)| alpha[i] = *v);
        } else if b[0].abs() > 1e-9 {
            continue;
        }
        if (0..n).all(|i| (-1e-9..=cost[i] + 1e-9).contains(&alpha[i])) {
            let quad = |i: usize| (0..n).map(|j| alpha[i] * k[i][j] * alpha[j]).sum::<f64>();
            best = best.min(0.5 * (0..n).map(quad).sum::<f64>());
        }
    }
    best
}

#[test]
fn tiny_problems_reach_the_optimum_of_exhaustive_search() {
    for seed in 0..30 {
        let (kernel, nu) = (POSITIVE[seed as usize % 3], [0.15, 0.5, 0.8, 1.0][seed as usize % 4]);
        let (x, cost) = (cloud(7, 2, seed), weights(7));
        let best = exhaustive(&kernel_matrix(&x, kernel), nu, &cost);
        let found = fit(&params(kernel, nu), &x, &cost).reports[0].objective;
        assert!((found - best).abs() <= 1e-6 * best, "seed {seed}: {found} against {best}");
    }
}

/// Recomputes all quantities from the kernel matrix in double precision; `slack` covers the tolerance and single
/// precision.
#[test]
fn larger_problems_satisfy_the_optimality_conditions() {
    for kernel in POSITIVE {
        for nu in [0.02, 0.3, 0.9] {
            let (x, cost) = (cloud(500, 5, 4), weights(500));
            let k = kernel_matrix(&x, kernel);
            let (alpha, bias) = solve(&k, nu, &cost, 1e-3);
            let total = nu * cost.iter().sum::<f64>();
            assert!((alpha.iter().sum::<f64>() - total).abs() < 1e-9 * total);
            let f: Vec<f64> =
                k.iter().map(|k| k.iter().zip(&alpha).map(|(k, a)| k * a).sum::<f64>() + bias).collect();
            let slack = 2e-3 * nu * k[0][0].max(1.0) + 3e-6 * bias.abs();
            for i in 0..500 {
                assert!((0.0..=cost[i]).contains(&alpha[i]), "{}", alpha[i]);
                assert!(alpha[i] == cost[i] || f[i] >= -slack, "row {i}: {} at {}", f[i], alpha[i]);
                assert!(alpha[i] == 0.0 || f[i] <= slack, "row {i}: {} at {}", f[i], alpha[i]);
            }
        }
    }
}

#[test]
fn converges_with_a_small_duality_gap() {
    let x = cloud(300, 4, 9);
    for nu in [0.1, 0.6] {
        let report = fit(&params(RBF, nu), &x, &[1.0; 300]).reports[0];
        assert_eq!(report.exit, Exit::Converged);
        assert!(report.gap.abs() < 1e-4 * report.objective, "{report:?}");
    }
}

/// Proposition 3 of the paper, which bounds both fractions by ν.
#[test]
fn nu_lies_between_the_fractions_of_outliers_and_of_support_vectors() {
    for (kernel, tolerance) in [(RBF, 1e-3), (Kernel::Rbf { gamma: 20.0 }, 1e-3), (POSITIVE[1], 0.5)] {
        for nu in [0.001, 0.05, 0.2, 0.5, 0.95, 1.0] {
            let x = cloud(400, 3, 11);
            let fitted = fit(&OneClassParams { tolerance, ..params(kernel, nu) }, &x, &[1.0; 400]);
            let outside = decisions(&fitted, &x).iter().filter(|f| **f <= 0.0).count() as f64;
            let support = fitted.model.support_count() as f64;
            assert!(outside <= nu * 400.0 + 1e-9, "{kernel:?} {nu}: {outside} outside");
            assert!(support >= nu * 400.0 - 1e-9, "{kernel:?} {nu}: {support} support vectors");
            if tolerance < 0.1 && kernel == RBF && (0.05..1.0).contains(&nu) {
                assert!(outside > nu * 400.0 - 20.0, "{nu}: {outside} outside");
            }
        }
    }
}

#[test]
fn row_order_sparse_rows_and_precomputed_kernels_give_the_same_decisions() {
    let x = cloud(120, 3, 2);
    let order: Vec<usize> = (0..120).map(|i| (i * 77 + 5) % 120).collect();
    let f = decisions(&fit(&params(RBF, 0.2), &x, &[1.0; 120]), &x);
    let other = x.view().select(&order);
    close(&decisions(&fit(&params(RBF, 0.2), &other, &[1.0; 120]), &x), &f, 1e-7);
    close(&decisions(&fit(&params(RBF, 0.2), &x.view().to_csr(), &[1.0; 120]), &x), &f, 1e-6);
    let k = Matrix::dense(kernel_matrix(&x, RBF).concat(), 120, 120).unwrap();
    close(&decisions(&fit(&params(Kernel::Precomputed, 0.2), &k, &[1.0; 120]), &k), &f, 1e-5);
}

#[test]
fn integer_weights_equal_copies_and_weight_zero_equals_removal() {
    let x = cloud(40, 2, 6);
    let weight = |i: usize| (i * 7 + 3) % 4;
    let often: Vec<usize> = (0..40).flat_map(|i| std::iter::repeat_n(i, weight(i))).collect();
    let copies = x.view().select(&often);
    let cost: Vec<f64> = (0..40).map(|i| weight(i) as f64).collect();
    for nu in [0.1, 0.4, 1.0] {
        let f = decisions(&fit(&params(RBF, nu), &copies, &vec![1.0; often.len()]), &x);
        close(&decisions(&fit(&params(RBF, nu), &x, &cost), &x), &f, 1e-6);
    }
}

#[test]
fn negative_and_unlabeled_rows_are_ignored() {
    let x = cloud(60, 2, 8);
    let mut targets = inside(vec![1.0; 60]);
    (0..60).filter(|i| i % 3 == 0).for_each(|i| targets.y[i] = [Label::Neg, Label::Unknown][i % 2]);
    let keep: Vec<usize> = (0..60).filter(|i| i % 3 != 0).collect();
    let part = params(RBF, 0.3).fit(x.view(), &[targets], &()).unwrap();
    let alone = fit(&params(RBF, 0.3), &x.view().select(&keep), &[1.0; 40]);
    close(&decisions(&part, &x), &decisions(&alone, &x), 1e-7);
}

#[test]
fn a_single_row_and_identical_rows_are_inside() {
    for rows in [1, 2, 30] {
        let x = Matrix::dense([0.3, -2.0].repeat(rows), rows, 2).unwrap();
        let probe = Matrix::dense(vec![0.3, -2.0, 9.0, 9.0], 2, 2).unwrap();
        for nu in [1e-4, 0.5, 1.0] {
            let f = decisions(&fit(&params(RBF, nu), &x, &vec![1.0; rows]), &probe);
            assert!(f[0] > 0.0 && f[1] < 0.0, "{rows} {nu}: {f:?}");
        }
    }
}

/// With the absolute tolerance of LIBSVM, any starting point would pass as converged here.
#[test]
fn a_small_nu_is_solved_to_the_tolerance() {
    let x = cloud(300, 2, 3);
    let coarse = OneClassParams { tolerance: 1e-3, ..params(RBF, 1e-5) };
    let f = decisions(&fit(&coarse, &x, &[1.0; 300]), &x);
    let g = decisions(&fit(&params(RBF, 1e-5), &x, &[1.0; 300]), &x);
    close(&f, &g, 2e-3);
}

#[test]
fn refuses_invalid_input_with_the_allowed_values() {
    let x = cloud(20, 2, 1);
    let error_of = |params: &OneClassParams, cost: Vec<f64>| {
        params.fit(x.view(), &[inside(cost)], &()).unwrap_err().to_string()
    };
    for nu in [0.0, -0.1, 1.01, f64::NAN, f64::INFINITY] {
        let error = error_of(&params(RBF, nu), vec![1.0; 20]);
        assert_eq!(error, format!("parameter nu = {nu}: must be a share above 0, at most 1"));
    }
    let error = error_of(&OneClassParams { tolerance: 0.0, ..params(RBF, 0.5) }, vec![1.0; 20]);
    assert_eq!(error, "parameter tolerance = 0: must be a positive number");
    let error = error_of(&params(RBF, 0.5), vec![f64::NAN; 20]);
    assert_eq!(error, "weight NaN of row 1: must be a finite number, 0 or more");
    let no_rows = "no row to learn from: every row is labeled as an outlier or has weight 0";
    assert_eq!(error_of(&params(RBF, 0.5), vec![0.0; 20]), no_rows);
    assert_eq!(
        params(RBF, 0.5).fit(Matrix::empty(2, false).view(), &[inside(vec![])], &()).unwrap_err().to_string(),
        no_rows
    );
    assert!(error_of(&params(RBF, 0.5), vec![1.0; 19]).contains("labels: expected 20, found 19"));
    assert!(error_of(&params(Kernel::Precomputed, 0.5), vec![1.0; 20]).contains("precomputed"));
}

#[test]
fn refuses_rows_on_all_sides_of_the_kernel_origin() {
    let around = Matrix::dense(vec![1.0, 0.0, -1.0, 0.0, 0.0, 1.0, 0.0, -1.0], 4, 2).unwrap();
    for (x, kernel) in
        [(&around, Kernel::Linear), (&Matrix::dense(vec![0.0; 8], 4, 2).unwrap(), Kernel::Linear)]
    {
        let error = params(kernel, 1.0).fit(x.view(), &[inside(vec![1.0; 4])], &()).unwrap_err().to_string();
        assert_eq!(
            error,
            "the rows lie on all sides of the origin of the linear kernel, so inside and outside cannot be separated; use \
             the rbf kernel or another scaling"
        );
    }
    // away from the origin the solution is a half-space
    let away = Matrix::dense(vec![3.0, 1.0, 4.0, 1.0, 3.0, 2.0, 5.0, 1.0], 4, 2).unwrap();
    let f = decisions(&fit(&params(Kernel::Linear, 0.1), &away, &[1.0; 4]), &away);
    assert!(f.iter().all(|f| *f > 0.0), "{f:?}");
}

struct StopImmediately;

impl Watch for StopImmediately {
    fn proceed(&self, _: &Progress) -> bool {
        false
    }
}

#[test]
fn an_interrupt_or_a_step_limit_leaves_a_valid_model() {
    let x = cloud(200, 3, 5);
    let cut = params(RBF, 0.3).fit(x.view(), &[inside(vec![1.0; 200])], &StopImmediately).unwrap();
    assert_eq!(cut.reports[0].exit, Exit::Interrupted);
    let limited = fit(&OneClassParams { max_steps: Some(3), ..params(RBF, 0.3) }, &x, &[1.0; 200]);
    assert_eq!(limited.reports[0].exit, Exit::Limit);
    for fitted in [cut, limited] {
        let f = decisions(&fitted, &x);
        assert!(f.iter().filter(|f| **f <= 0.0).count() <= 60 && f.iter().all(|f| f.is_finite()));
    }
}

fn moons(rows: usize) -> (Matrix, Labels) {
    let params = GenerateParams { rows, seed: 3, ..GenerateParams::default() };
    generate("two-moons", &params).unwrap()
}

fn trained(labels: &[Option<&str>], change: impl Fn(&mut TrainOptions)) -> Result<Trained, String> {
    let x = cloud(labels.len(), 2, 12);
    let mut options = TrainOptions::new("one-class");
    change(&mut options);
    let labels = Labels::from_tokens(labels.iter().copied());
    train(x, &labels, &options, &()).map_err(|e| e.to_string())
}

#[test]
fn labels_determine_class_names_and_the_rows_to_learn_from() {
    let as_is = |_: &mut TrainOptions| {};
    let none = trained(&[None; 30], as_is).unwrap();
    assert_eq!(none.classifier.classes, ["outside", "inside"]);
    assert_eq!(none.counts, [0, 30]);
    none.classifier.check().unwrap();

    let mut one = [Some("fine"); 30];
    one[4] = None;
    let one = trained(&one, as_is).unwrap();
    assert_eq!(one.classifier.classes, ["not-fine", "fine"]);
    assert_eq!((one.classifier.input.positive.as_deref(), one.counts), (Some("fine"), vec![0, 30]));
    assert_eq!(one.classifier.model, none.classifier.model);

    let mut two = [Some("1"); 30];
    two[..10].fill(Some("-1"));
    let two = trained(&two, as_is).unwrap();
    assert_eq!((two.classifier.classes, two.counts), (vec!["-1".to_string(), "1".into()], vec![0, 20]));
    assert!(
        two.notes.iter().any(|n| n == "1 is inside; the 10 rows of class -1 are not used for training"),
        "{:?}",
        two.notes
    );

    let mut three = [Some("a"); 30];
    (three[0], three[1]) = (Some("b"), Some("c"));
    assert_eq!(
        trained(&three, as_is).unwrap_err(),
        "3 classes, but this learner learns one; name it as the positive class (such as a), or leave the labels out"
    );
}

#[test]
fn refuses_options_that_need_two_classes() {
    type Change = fn(&mut TrainOptions);
    let changes: [(&str, Change); 3] = [
        ("class_weight", |o| o.class_weight = ClassWeight::Balanced),
        ("probability", |o| o.calibration = Some(CalibrationKind::Sigmoid)),
        ("threshold", |o| o.threshold = Some(evermargin::metrics::Criterion::F1)),
    ];
    for (name, change) in changes {
        let error = trained(&[None; 30], change).unwrap_err();
        let expected = format!(
            "parameter {name} = given: must be left out: one-class learns from one class, and it needs two"
        );
        assert_eq!(error, expected);
    }
    let mut weights = vec![0.0; 30];
    assert!(
        trained(&[None; 30], |o| o.weights = Some(weights.clone()))
            .unwrap_err()
            .starts_with("no row to learn")
    );
    weights[3] = 1.0;
    assert!(trained(&[None; 30], |o| o.weights = Some(weights.clone())).is_ok());
}

/// With a deformed kernel, too, ν bounds the fraction outside, and points far from all rows are outside.
#[test]
fn a_deformed_kernel_keeps_the_fraction_of_outliers() {
    let (x, labels) = moons(300);
    let unlabeled = Labels { classes: Vec::new(), of: vec![None; labels.of.len()] };
    let mut options = TrainOptions::new("one-class");
    options.scaling = Some(ScalingChoice::NONE);
    options.params.insert("nu".into(), 0.1.into());
    let plain = train(x.clone(), &unlabeled, &options, &()).unwrap();
    options.warp = Some(DeformedKernelParams::default());
    let warped = train(x.clone(), &unlabeled, &options, &()).unwrap();
    assert_eq!(warped.classifier.classes, ["outside", "inside"]);
    let share = |t: &Trained| {
        let class = t.classifier.predict(x.clone()).unwrap().class;
        class.iter().filter(|c| **c == 0).count() as f64 / 300.0
    };
    for found in [&plain, &warped] {
        assert!((0.05..=0.1).contains(&share(found)), "{}", share(found));
    }
    assert!(plain.classifier.model != warped.classifier.model);
    let far = Matrix::dense(vec![30.0, 30.0], 1, 2).unwrap();
    assert_eq!(warped.classifier.predict(far).unwrap().class, [0]);
}
