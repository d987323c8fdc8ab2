//! Regularized least squares against elimination on the normal equations, refits and its own symmetries.

use crate::common::eliminate;
use evermargin::data::{Label, Matrix, MatrixView};
use evermargin::estimators::supervised::rls::{MAX_ROWS, RlsParams};
use evermargin::estimators::{Fit, Targets};
use evermargin::kernel::Kernel;
use evermargin::model::Model;
use evermargin::solver::{Exit, Progress, Watch};
use proptest::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

fn problem() -> impl Strategy<Value = (Matrix, Targets)> {
    (3usize..12, 1usize..8).prop_flat_map(|(rows, cols)| {
        let value = prop_oneof![1 => Just(0.0), 3 => -2.0..2.0];
        let values = proptest::collection::vec(value, rows * cols);
        let labels = proptest::collection::vec(any::<bool>(), rows);
        let costs = proptest::collection::vec(0.2..3.0, rows);
        (values, labels, costs).prop_map(move |(values, labels, cost)| {
            let mut y: Vec<Label> = labels.iter().map(|p| if *p { Label::Pos } else { Label::Neg }).collect();
            (y[0], y[1], y[2]) = (Label::Pos, Label::Neg, Label::Pos);
            (Matrix::dense(values, rows, cols).unwrap(), Targets { y, cost })
        })
    })
}

fn kernels() -> impl Strategy<Value = Kernel> {
    prop_oneof![
        Just(Kernel::Linear),
        Just(Kernel::Rbf { gamma: 0.5 }),
        Just(Kernel::Poly { gamma: 0.5, coef0: 1.0, degree: 2 }),
    ]
}

/// f at the rows of `at`, from the bordered linear system.
fn by_elimination(p: &RlsParams, x: MatrixView<'_>, t: &Targets, at: MatrixView<'_>) -> Vec<f64> {
    let rows: Vec<usize> = (0..x.rows()).filter(|&i| t.y[i] != Label::Unknown && t.cost[i] > 0.0).collect();
    let n = rows.len();
    let mut a = vec![vec![0.0; n + 1]; n + 1];
    let mut b = vec![0.0; n + 1];
    for (r, &i) in rows.iter().enumerate() {
        for (s, &j) in rows.iter().enumerate() {
            a[r][s] = p.kernel.eval(x.row(i), x.row(j));
        }
        a[r][r] += 1.0 / (p.c * t.cost[i]);
        b[r] = t.y[i].sign();
        if p.fit_intercept {
            (a[r][n], a[n][r]) = (1.0, 1.0);
        }
    }
    if !p.fit_intercept {
        a[n][n] = 1.0;
    }
    let solution = eliminate(a, b).unwrap();
    let f = |i: usize| {
        let terms = rows.iter().zip(&solution).map(|(&j, alpha)| alpha * p.kernel.eval(x.row(j), at.row(i)));
        terms.sum::<f64>() + solution[n]
    };
    (0..at.rows()).map(f).collect()
}

fn decisions(model: &Model, at: MatrixView<'_>, output: usize) -> Vec<f64> {
    let one = |i: usize| match model {
        Model::Views { .. } => panic!("one kernel"),
        Model::Linear { weights, bias } => {
            let mut f = bias[output];
            at.row(i).for_each(|c, v| f += v * weights[output][c]);
            f
        }
        Model::Expansion { kernel, points, coef, bias } => {
            let k = |j: usize| coef[output][j] * kernel.eval(points.view().row(j), at.row(i));
            (0..points.rows()).map(k).sum::<f64>() + bias[output]
        }
    };
    (0..at.rows()).map(one).collect()
}

fn fit(p: &RlsParams, x: MatrixView<'_>, t: &Targets) -> Model {
    let fitted = p.fit(x, std::slice::from_ref(t), &()).unwrap();
    assert_eq!(fitted.reports[0].exit, Exit::Converged);
    fitted.model
}

fn close(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|(p, q)| (p - q).abs() <= tolerance * (1.0 + p.abs().max(q.abs())))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn solves_the_normal_equations((x, t) in problem(), kernel in kernels(), bias: bool, c in 0.05..20.0) {
        let p = RlsParams { kernel, c, fit_intercept: bias, ..RlsParams::default() };
        let expected = by_elimination(&p, x.view(), &t, x.view());
        prop_assert!(close(&decisions(&fit(&p, x.view(), &t), x.view(), 0), &expected, 1e-8));
        let sparse = fit(&p, x.view().to_csr().view(), &t);
        prop_assert!(close(&decisions(&sparse, x.view(), 0), &expected, 1e-8));
    }

    #[test]
    fn leave_one_out_equals_refits((x, t) in problem(), kernel in kernels(), bias: bool) {
        let p = RlsParams { kernel, c: 2.0, fit_intercept: bias, ..RlsParams::default() };
        let residuals = p.leave_one_out(x.view(), &t).unwrap();
        for i in 0..x.rows() {
            let mut without = t.clone();
            without.cost[i] = 0.0;
            let f = by_elimination(&p, x.view(), &without, x.view())[i];
            let expected = t.y[i].sign() - f;
            prop_assert!((residuals[i].unwrap() - expected).abs() < 1e-7 * (1.0 + expected.abs()));
        }
    }

    #[test]
    fn weight_three_equals_three_copies_and_unlabeled_rows_are_ignored((x, t) in problem(), kernel in kernels()) {
        let p = RlsParams { kernel, ..RlsParams::default() };
        let n = x.rows();
        let rows: Vec<usize> = (0..n).chain([0, 0, 1]).collect();
        let mut copies = Targets { y: rows.iter().map(|&i| t.y[i]).collect(), cost: vec![1.0; n + 3] };
        copies.y[n + 2] = Label::Unknown;
        let mut heavy = Targets { y: t.y.clone(), cost: vec![1.0; n] };
        heavy.cost[0] = 3.0;
        let a = decisions(&fit(&p, x.view(), &heavy), x.view(), 0);
        let b = decisions(&fit(&p, x.view().select(&rows).view(), &copies), x.view(), 0);
        prop_assert!(close(&a, &b, 1e-7));
    }

    #[test]
    fn a_precomputed_kernel_equals_the_kernel((x, mut t) in problem(), drop: bool) {
        let kernel = Kernel::Rbf { gamma: 0.3 };
        let n = x.rows();
        let values = (0..n * n).map(|e| kernel.eval(x.view().row(e / n), x.view().row(e % n))).collect();
        let gram = Matrix::dense(values, n, n).unwrap();
        if drop && n > 3 {
            t.y[n - 1] = Label::Unknown;
        }
        let given = RlsParams { kernel: Kernel::Precomputed, ..RlsParams::default() };
        let a = decisions(&fit(&given, gram.view(), &t), gram.view(), 0);
        let b = decisions(&fit(&RlsParams { kernel, ..RlsParams::default() }, x.view(), &t), x.view(), 0);
        prop_assert!(close(&a, &b, 1e-9));
    }
}

/// More columns than are factored and more rows than columns, so that conjugate gradients are used.
fn wide(rows: usize) -> (Matrix, Targets) {
    use evermargin::datasets::{GenerateParams, generate};
    let params = GenerateParams { rows, cols: Some(300), seed: 2, ..GenerateParams::default() };
    let (x, labels) = generate("text", &params).unwrap();
    let y = labels.of.iter().map(|c| if *c == Some(1) { Label::Pos } else { Label::Neg }).collect();
    (x, Targets { y, cost: (0..rows).map(|i| 1.0 + (i % 3) as f64).collect() })
}

#[test]
fn conjugate_gradients_and_factorization_agree() {
    let (x, t) = wide(400);
    for bias in [true, false] {
        let p = RlsParams { kernel: Kernel::Linear, c: 5.0, fit_intercept: bias, tolerance: 1e-10 };
        let iterated = decisions(&fit(&p, x.view(), &t), x.view(), 0);
        let narrow = x.clone().with_cols(250);
        let factored = fit(&p, narrow.view(), &t);
        // The polynomial kernel of degree 1 is the linear kernel, solved in the dual.
        let poly = RlsParams { kernel: Kernel::Poly { gamma: 1.0, coef0: 0.0, degree: 1 }, ..p };
        assert!(close(&iterated, &decisions(&fit(&poly, x.view(), &t), x.view(), 0), 1e-7));
        let dual = decisions(&fit(&poly, narrow.view(), &t), narrow.view(), 0);
        assert!(close(&decisions(&factored, narrow.view(), 0), &dual, 1e-7));
    }
}

#[test]
fn problems_fitted_together_equal_separate_fits() {
    let (x, t) = wide(60);
    let turn = |k: usize| Targets { y: (0..60).map(|i| t.y[(i + k) % 60]).collect(), cost: t.cost.clone() };
    let mut other_costs = turn(5);
    other_costs.cost[3] = 9.0;
    let problems = [t.clone(), turn(1), other_costs];
    for kernel in [Kernel::Linear, Kernel::Rbf { gamma: 1.0 }] {
        let p = RlsParams { kernel, ..RlsParams::default() };
        let all = p.fit(x.view(), &problems, &()).unwrap().model;
        for (k, one) in problems.iter().enumerate() {
            let alone = fit(&p, x.view(), one);
            assert!(close(&decisions(&all, x.view(), k), &decisions(&alone, x.view(), 0), 1e-12));
        }
    }
}

#[test]
fn results_are_bit_identical_for_any_number_of_threads() {
    let (x, t) = wide(1500);
    let narrow = x.clone().with_cols(100);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let linear = RlsParams { kernel: Kernel::Linear, ..RlsParams::default() };
        pool.install(|| (fit(&linear, x.view(), &t), fit(&linear, narrow.view(), &t)))
    };
    let one = run(1);
    assert!(one == run(2) && one == run(4));
}

struct StopImmediately;

impl Watch for StopImmediately {
    fn proceed(&self, _: &Progress) -> bool {
        false
    }
}

/// Stops training at the call after the given number of calls.
struct StopAfter(AtomicUsize, usize);

impl Watch for StopAfter {
    fn proceed(&self, _: &Progress) -> bool {
        self.0.fetch_add(1, Ordering::SeqCst) < self.1
    }
}

#[test]
fn can_be_interrupted_before_each_long_step() {
    let (x, t) = wide(30);
    let narrow = Matrix::dense((0..30).map(f64::from).collect(), 30, 1).unwrap();
    let rbf = RlsParams::default();
    let linear = RlsParams { kernel: Kernel::Linear, ..rbf.clone() };
    for (params, x, pieces) in [(&rbf, &x, 2), (&linear, &x, 2), (&linear, &narrow, 1)] {
        for most in 0..pieces {
            let watch = StopAfter(AtomicUsize::new(0), most);
            let error = params.fit(x.view(), std::slice::from_ref(&t), &watch).unwrap_err().to_string();
            assert!(error.starts_with("interrupted") && error.contains("no partial answer"), "{error}");
        }
        let watch = StopAfter(AtomicUsize::new(0), pieces);
        assert!(params.fit(x.view(), std::slice::from_ref(&t), &watch).is_ok());
    }
}

#[test]
fn refuses_unsolvable_problems() {
    let x = Matrix::dense(vec![1.0, 1.0, -1.0], 3, 1).unwrap();
    let t = Targets { y: vec![Label::Pos, Label::Neg, Label::Neg], cost: vec![1.0; 3] };
    let error = |p: RlsParams, x: &Matrix, t: &Targets| {
        p.fit(x.view(), std::slice::from_ref(t), &()).unwrap_err().to_string()
    };
    let d = RlsParams::default();
    assert!(error(RlsParams { c: 0.0, ..d.clone() }, &x, &t).contains("parameter c"));
    assert!(error(RlsParams { kernel: Kernel::Precomputed, ..d.clone() }, &x, &t).contains("expected 3"));
    let sigmoid = Kernel::Sigmoid { gamma: 1.0, coef0: -5.0 };
    assert!(error(RlsParams { kernel: sigmoid, c: 1e6, ..d.clone() }, &x, &t).contains("positive definite"));
    let skew = Matrix::dense(vec![1.0, 0.5, 0.0, 0.2, 1.0, 0.0, 0.0, 0.0, 1.0], 3, 3).unwrap();
    assert!(error(RlsParams { kernel: Kernel::Precomputed, ..d.clone() }, &skew, &t).contains("symmetric"));
    let n = MAX_ROWS + 1;
    let many = Matrix::dense(vec![0.0; n], n, 1).unwrap();
    let mut labels = Targets { y: vec![Label::Pos; n], cost: vec![1.0; n] };
    labels.y[0] = Label::Neg;
    assert!(error(d.clone(), &many, &labels).contains("GB"));
    assert!(d.fit(x.view(), &[t], &StopImmediately).is_err());
}

#[test]
fn degenerate_data_stays_finite() {
    let t = Targets { y: vec![Label::Pos, Label::Neg, Label::Neg], cost: vec![1.0; 3] };
    for values in [vec![0.0; 3], vec![1.0; 3], vec![1e6, 1e6 + 1e-3, -1e6]] {
        let x = Matrix::dense(values, 3, 1).unwrap();
        for kernel in [Kernel::Linear, Kernel::Rbf { gamma: 1.0 }] {
            for c in [1e-9, 1.0, 1e6] {
                let p = RlsParams { kernel, c, ..RlsParams::default() };
                assert!(
                    p.fit(x.view(), std::slice::from_ref(&t), &()).unwrap().model.check().is_ok(),
                    "{p:?}"
                );
            }
        }
    }
}
