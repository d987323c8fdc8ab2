//! The linear SVM against gradient descent, finite differences and its own symmetries.

use evermargin::data::{Label, Matrix, MatrixView};
use evermargin::estimators::supervised::linear::LinearParams;
use evermargin::estimators::supervised::risk::{Loss, Risk, SquaredHinge};
use evermargin::estimators::{Fit, Fitted, Targets};
use evermargin::math::products::Design;
use evermargin::model::Model;
use evermargin::solver::newton_cg::{Objective, increasing_root, newton};
use evermargin::solver::{Exit, Progress, Stop, Watch};
use proptest::prelude::*;

const STRICT: LinearParams = LinearParams { c: 1.0, fit_intercept: true, tolerance: 1e-8, max_steps: None };

/// Rows of small numbers, many of them zero, with labels of both classes and positive costs.
fn problem() -> impl Strategy<Value = (Matrix, Targets)> {
    (2usize..14, 1usize..6).prop_flat_map(|(rows, cols)| {
        let value = prop_oneof![2 => Just(0.0), 3 => -2.0..2.0];
        let values = proptest::collection::vec(value, rows * cols);
        let labels = proptest::collection::vec(any::<bool>(), rows);
        let costs = proptest::collection::vec(0.1..3.0, rows);
        (values, labels, costs).prop_map(move |(values, labels, cost)| {
            let mut y: Vec<Label> = labels.iter().map(|p| if *p { Label::Pos } else { Label::Neg }).collect();
            (y[0], y[1]) = (Label::Pos, Label::Neg);
            (Matrix::dense(values, rows, cols).unwrap(), Targets { y, cost })
        })
    })
}

fn fit(params: &LinearParams, x: MatrixView<'_>, t: &Targets) -> Fitted {
    params.fit(x, std::slice::from_ref(t), &()).unwrap()
}

fn weights(fitted: &Fitted) -> Vec<f64> {
    let Model::Linear { weights, bias } = &fitted.model else { unreachable!() };
    weights[0].iter().chain(&bias[..1]).copied().collect()
}

fn objective(c: f64, x: MatrixView<'_>, t: &Targets, w: &[f64]) -> f64 {
    let loss = |i: usize| {
        let mut o = w[x.cols()];
        x.row(i).for_each(|j, v| o += v * w[j]);
        c * t.cost[i] * (1.0 - t.y[i].sign() * o).max(0.0).powi(2)
    };
    let labeled = (0..x.rows()).filter(|&i| t.y[i] != Label::Unknown);
    0.5 * w.iter().map(|v| v * v).sum::<f64>() + labeled.map(loss).sum::<f64>()
}

/// Nesterov's method with a safe step: a slow, simple and independent reference.
fn minimize_by_nesterov(c: f64, x: MatrixView<'_>, t: &Targets) -> Vec<f64> {
    let d = x.cols() + 1;
    let row = |i: usize| {
        let mut r = vec![0.0; d];
        x.row(i).for_each(|j, v| r[j] = v);
        r[d - 1] = 1.0;
        r
    };
    let rows: Vec<Vec<f64>> = (0..x.rows()).map(row).collect();
    let lipschitz: f64 = 1.0
        + rows
            .iter()
            .zip(&t.cost)
            .map(|(r, k)| 2.0 * c * k * r.iter().map(|v| v * v).sum::<f64>())
            .sum::<f64>();
    let momentum = (lipschitz.sqrt() - 1.0) / (lipschitz.sqrt() + 1.0);
    let (mut w, mut v) = (vec![0.0; d], vec![0.0; d]);
    for _ in 0..6000 {
        let mut g = v.clone();
        for (i, r) in rows.iter().enumerate() {
            let y = t.y[i].sign();
            let slack = 1.0 - y * r.iter().zip(&v).map(|(a, b)| a * b).sum::<f64>();
            if slack > 0.0 {
                r.iter().zip(&mut g).for_each(|(a, g)| *g -= 2.0 * c * t.cost[i] * y * slack * a);
            }
        }
        let next: Vec<f64> = v.iter().zip(&g).map(|(v, g)| v - g / lipschitz).collect();
        v = next.iter().zip(&w).map(|(n, o)| n + momentum * (n - o)).collect();
        w = next;
    }
    w
}

fn close(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    a.iter().zip(b).all(|(p, q)| (p - q).abs() <= tolerance * (1.0 + p.abs().max(q.abs())))
}

fn loss_of(c: f64, t: &Targets) -> SquaredHinge {
    SquaredHinge {
        target: t.y.iter().map(|y| y.sign()).collect(),
        cost: t.cost.iter().map(|k| c * k).collect(),
    }
}

fn all_rows(x: MatrixView<'_>) -> Vec<u32> {
    (0..x.rows() as u32).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn coordinate_descent_and_newton_find_the_optimum((x, t) in problem(), c in prop_oneof![Just(0.01), Just(1.0), Just(30.0)]) {
        let plain = minimize_by_nesterov(c, x.view(), &t);
        let fitted = fit(&LinearParams { c, ..STRICT }, x.view(), &t);
        prop_assert_eq!(fitted.reports[0].exit, Exit::Converged);
        prop_assert!(close(&weights(&fitted), &plain, 1e-5));
        let f = objective(c, x.view(), &t, &weights(&fitted));
        prop_assert!((fitted.reports[0].objective - f).abs() <= 1e-10 * f);

        let (design, loss) = (Design::new(x.view(), all_rows(x.view()), true), loss_of(c, &t));
        let mut w = vec![0.0; x.cols() + 1];
        let stop = Stop { tolerance: 1e-9, max_steps: None };
        let report = newton(&mut Risk::new(&design, &loss), &mut w, stop, &());
        prop_assert!(matches!(report.exit, Exit::Converged | Exit::Stalled) && report.gap < 1e-7);
        prop_assert!(close(&w, &plain, 1e-5));
    }

    #[test]
    fn the_reported_gap_bounds_the_error((x, t) in problem(), tolerance in prop_oneof![Just(0.3), Just(0.03), Just(1e-3)]) {
        let rough = fit(&LinearParams { tolerance, ..STRICT }, x.view(), &t).reports[0];
        let best = fit(&STRICT, x.view(), &t).reports[0].objective;
        prop_assert!(rough.gap <= tolerance);
        prop_assert!((rough.objective - best) / rough.objective <= rough.gap.powi(2) + 1e-12);
    }

    #[test]
    fn gradient_and_hessian_equal_finite_differences((x, t) in problem(), seed in 0u32..1000) {
        let (design, loss) = (Design::new(x.view(), all_rows(x.view()), true), loss_of(2.0, &t));
        let mut risk = Risk::new(&design, &loss);
        let w: Vec<f64> = (0..risk.dim()).map(|j| (f64::from(seed) + 1.7 * j as f64).sin()).collect();
        let (mut g, mut image, mut up, mut down) = (w.clone(), w.clone(), w.clone(), w.clone());
        risk.value(&w);
        risk.gradient(&w, &mut g);
        let v: Vec<f64> = (0..risk.dim()).map(|j| (f64::from(seed) - 0.9 * j as f64).cos()).collect();
        risk.hess_vec(&v, &mut image);
        let h = 1e-6;
        let moved = |s: f64| -> Vec<f64> { w.iter().zip(&v).map(|(w, v)| w + s * h * v).collect() };
        let slope = (risk.value(&moved(1.0)) - risk.value(&moved(-1.0))) / (2.0 * h);
        let expected: f64 = g.iter().zip(&v).map(|(g, v)| g * v).sum();
        prop_assert!((slope - expected).abs() < 1e-5 * (1.0 + expected.abs()));
        // Apart from kinks (outputs within h of the margin), the gradient changes by H·v.
        let smooth = design_outputs(&design, &w).iter().zip(&loss.target).all(|(o, y)| (1.0 - y * o).abs() > 1e-4);
        if smooth {
            risk.value(&moved(1.0));
            risk.gradient(&moved(1.0), &mut up);
            risk.value(&moved(-1.0));
            risk.gradient(&moved(-1.0), &mut down);
            let difference: Vec<f64> = up.iter().zip(&down).map(|(a, b)| (a - b) / (2.0 * h)).collect();
            prop_assert!(close(&difference, &image, 1e-5));
        }
    }

    #[test]
    fn line_search_is_exact((x, t) in problem(), seed in 0u32..1000) {
        let (design, loss) = (Design::new(x.view(), all_rows(x.view()), true), loss_of(1.0, &t));
        let mut risk = Risk::new(&design, &loss);
        let from: Vec<f64> = (0..risk.dim()).map(|j| 2.0 * (f64::from(seed) + 1.3 * j as f64).sin()).collect();
        let mut g = from.clone();
        let start = risk.value(&from);
        risk.gradient(&from, &mut g);
        let direction: Vec<f64> = g.iter().map(|g| -g).collect();
        let slope: f64 = -g.iter().map(|g| g * g).sum::<f64>();
        prop_assume!(slope < -1e-9);
        let mut w = from.clone();
        let found = risk.line_search(&mut w, &direction, start, slope).unwrap();
        risk.gradient(&w, &mut g);
        let across: f64 = g.iter().zip(&direction).map(|(g, d)| g * d).sum();
        prop_assert!(across.abs() < 1e-9 * slope.abs(), "phi' = {across}");
        let mut at = |s: f64| risk.value(&from.iter().zip(&direction).map(|(w, d)| w + s * d).collect::<Vec<_>>());
        let (mut low, mut high) = (0.0, 1.0);
        while at(high * 2.0) < at(high) { high *= 2.0; }
        high *= 2.0;
        let golden = (5f64.sqrt() - 1.0) / 2.0;
        for _ in 0..120 {
            let (a, b) = (high - golden * (high - low), low + golden * (high - low));
            if at(a) < at(b) { high = b } else { low = a }
        }
        prop_assert!(found <= at(low) * (1.0 + 1e-9) && found <= start);
    }

    #[test]
    fn storage_row_order_and_unused_rows_do_not_change_the_solution((x, t) in problem(), turn in 1usize..13) {
        let w = weights(&fit(&STRICT, x.view(), &t));
        prop_assert!(close(&w, &weights(&fit(&STRICT, x.view().to_csr().view(), &t)), 1e-6));
        let n = x.rows();
        let order: Vec<usize> = (0..n).map(|i| (i + turn) % n).collect();
        let turned = Targets {
            y: order.iter().map(|&i| t.y[i]).collect(),
            cost: order.iter().map(|&i| t.cost[i]).collect(),
        };
        prop_assert!(close(&w, &weights(&fit(&STRICT, x.view().select(&order).view(), &turned)), 1e-6));
        let rows: Vec<usize> = (0..n).chain([0, 1, 0]).collect();
        let mut more = Targets {
            y: rows.iter().map(|&i| t.y[i]).collect(),
            cost: rows.iter().map(|&i| t.cost[i]).collect(),
        };
        more.y[n] = Label::Unknown;
        more.cost[n + 1] = 0.0;
        more.y[n + 2] = Label::Unknown;
        prop_assert!(close(&w, &weights(&fit(&STRICT, x.view().select(&rows).view(), &more)), 1e-6));
    }

    #[test]
    fn a_cost_of_three_equals_three_copies_and_costs_scale_with_c((x, t) in problem()) {
        let n = x.rows();
        let mut heavy = t.clone();
        heavy.cost.fill(1.0);
        let mut copies = heavy.clone();
        heavy.cost[0] = 3.0;
        let rows: Vec<usize> = (0..n).chain([0, 0]).collect();
        copies.y = rows.iter().map(|&i| t.y[i]).collect();
        copies.cost = vec![1.0; n + 2];
        let w = weights(&fit(&STRICT, x.view(), &heavy));
        prop_assert!(close(&w, &weights(&fit(&STRICT, x.view().select(&rows).view(), &copies)), 1e-6));
        heavy.cost.iter_mut().for_each(|c| *c *= 4.0);
        let quarter = LinearParams { c: 0.25, ..STRICT };
        prop_assert!(close(&w, &weights(&fit(&quarter, x.view(), &heavy)), 1e-6));
    }

    #[test]
    fn flipped_labels_negate_the_solution_and_a_warm_start_converges_at_once((x, t) in problem()) {
        let fitted = fit(&STRICT, x.view(), &t);
        let flip = |y: &Label| if *y == Label::Pos { Label::Neg } else { Label::Pos };
        let flipped = Targets { y: t.y.iter().map(flip).collect(), cost: t.cost.clone() };
        let w: Vec<f64> = weights(&fit(&STRICT, x.view(), &flipped)).iter().map(|v| -v).collect();
        prop_assert!(close(&w, &weights(&fitted), 1e-6));
        let loose = LinearParams { tolerance: 1e-4, ..STRICT };
        let again = loose.fit_from(x.view(), std::slice::from_ref(&t), Some(&fitted.model), &()).unwrap();
        prop_assert!(again.reports[0].steps <= 2, "{:?}", again.reports[0]);
        prop_assert!(close(&weights(&again), &weights(&fitted), 1e-3));
    }
}

fn design_outputs(design: &Design<'_>, w: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; design.rows()];
    design.mul(w, &mut out);
    out
}

fn text(rows: usize) -> (Matrix, Targets) {
    use evermargin::datasets::{GenerateParams, generate};
    let params = GenerateParams { rows, cols: Some(400), seed: 5, ..GenerateParams::default() };
    let (x, labels) = generate("text", &params).unwrap();
    let y = labels.of.iter().map(|c| if *c == Some(1) { Label::Pos } else { Label::Neg }).collect();
    (x, Targets { y, cost: vec![1.0; rows] })
}

#[test]
fn results_are_bit_identical_for_any_number_of_threads() {
    let (x, t) = text(3000);
    let flip = Targets { y: t.y.iter().rev().copied().collect(), cost: t.cost.clone() };
    let (design, loss) = (Design::new(x.view(), all_rows(x.view()), true), loss_of(10.0, &t));
    let run = |threads: usize| {
        rayon_pool(threads).install(|| {
            let model = STRICT.fit(x.view(), &[t.clone(), flip.clone()], &()).unwrap().model;
            let mut w = vec![0.0; x.cols() + 1];
            let report = newton(
                &mut Risk::new(&design, &loss),
                &mut w,
                Stop { tolerance: 1e-6, max_steps: None },
                &(),
            );
            assert_eq!(report.exit, Exit::Converged);
            (model, w)
        })
    };
    let one = run(1);
    assert!(one == run(2) && one == run(4));
}

fn rayon_pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

/// Counts calls, and stops training after a number of them.
struct StopAfter(std::sync::atomic::AtomicU64, u64);

impl Watch for StopAfter {
    fn proceed(&self, _: &Progress) -> bool {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed) < self.1
    }
}

#[test]
fn newton_rounds_never_increase_the_objective_and_limits_are_reported() {
    let (x, t) = text(1000);
    let (design, loss) = (Design::new(x.view(), all_rows(x.view()), true), loss_of(100.0, &t));
    let mut last = f64::INFINITY;
    for max_steps in 1..30 {
        let mut w = vec![0.0; x.cols() + 1];
        let report = newton(
            &mut Risk::new(&design, &loss),
            &mut w,
            Stop { tolerance: 1e-6, max_steps: Some(max_steps) },
            &(),
        );
        assert!(report.objective <= last);
        last = report.objective;
        if report.exit == Exit::Converged {
            assert!(max_steps > 2 && report.steps < max_steps + 1);
            let watch = StopAfter(0.into(), 3);
            let stopped = STRICT.fit(x.view(), std::slice::from_ref(&t), &watch).unwrap();
            assert_eq!(stopped.reports[0].exit, Exit::Interrupted);
            assert!(stopped.model.check().is_ok());
            return;
        }
        assert_eq!(report.exit, Exit::Limit);
    }
    panic!("thirty rounds were not enough");
}

#[test]
fn newton_takes_over_when_coordinate_descent_is_slow() {
    use evermargin::datasets::{GenerateParams, generate};
    let params = GenerateParams { rows: 120, seed: 3, flip: Some(0.1), ..GenerateParams::default() };
    let (x, labels) = generate("g50c", &params).unwrap();
    let mut values = Vec::new();
    for i in 0..x.rows() {
        x.view().row(i).for_each(|c, v| values.push(v * 10f64.powi((c % 5) as i32 - 2)));
    }
    let x = Matrix::dense(values, 120, 50).unwrap();
    let y = labels.of.iter().map(|c| if *c == Some(1) { Label::Pos } else { Label::Neg }).collect();
    let t = Targets { y, cost: vec![1.0; 120] };
    let fitted = fit(&LinearParams { c: 1e4, tolerance: 1e-6, ..STRICT }, x.view(), &t).reports[0];
    assert_eq!(fitted.exit, Exit::Converged);
    let (design, loss) = (Design::new(x.view(), all_rows(x.view()), true), loss_of(1e4, &t));
    let stop = Stop { tolerance: 1e-6, max_steps: None };
    let alone = newton(&mut Risk::new(&design, &loss), &mut vec![0.0; 51], stop, &());
    assert!((fitted.objective - alone.objective).abs() <= 1e-9 * alone.objective);
    let limited = LinearParams { c: 1e4, tolerance: 1e-12, max_steps: Some(1), ..STRICT };
    assert_eq!(
        fit(&limited, x.view(), &t).reports[0].exit,
        Exit::Limit,
        "coordinate descent converged in one step"
    );
}

#[test]
fn max_steps_limits_passes_and_newton_rounds_together() {
    use evermargin::datasets::{GenerateParams, generate};
    let (x, labels) =
        generate("g50c", &GenerateParams { rows: 120, seed: 3, ..GenerateParams::default() }).unwrap();
    let y = labels.of.iter().map(|c| if *c == Some(1) { Label::Pos } else { Label::Neg }).collect();
    let t = Targets { y, cost: vec![1.0; 120] };
    let free = fit(&STRICT, x.view(), &t).reports[0];
    assert!(free.exit == Exit::Converged && free.steps > 10, "{free:?}");
    let mut converged = 0; // small problems are solved beyond the tolerance
    for max_steps in 1..=free.steps {
        let fitted = fit(&LinearParams { max_steps: Some(max_steps), ..STRICT }, x.view(), &t);
        let report = fitted.reports[0];
        assert!(report.steps <= max_steps);
        match report.exit {
            Exit::Limit => assert!(report.steps == max_steps && converged == 0),
            exit => assert_eq!((exit, converged += 1), (Exit::Converged, ())),
        }
        let value = objective(1.0, x.view(), &t, &weights(&fitted));
        assert!((report.objective - value).abs() <= 1e-9 * value, "the report describes the returned model");
        assert!(value <= 120.0 && value - free.objective <= (report.gap.powi(2) + 1e-12) * value);
    }
    assert!((1..10).contains(&converged));
}

#[test]
fn handles_degenerate_data_and_refuses_invalid_parameters() {
    let two = Targets { y: vec![Label::Pos, Label::Neg], cost: vec![1.0; 2] };
    for (values, cols) in [(vec![], 0), (vec![0.0, 0.0], 1), (vec![1.0, 1.0], 1), (vec![1e90, -1e90], 1)] {
        let x = Matrix::dense(values, 2, cols).unwrap();
        for c in [1e-12, 1.0, 1e15] {
            let fitted = fit(&LinearParams { c, ..LinearParams::default() }, x.view(), &two);
            assert!(fitted.model.check().is_ok(), "finite for c = {c}");
            let bare = LinearParams { c, fit_intercept: false, ..LinearParams::default() };
            assert!(fit(&bare, x.view(), &two).model.check().is_ok());
        }
    }
    let x = Matrix::dense(vec![1.0, -1.0], 2, 1).unwrap();
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = LinearParams { c: bad, ..LinearParams::default() }
            .fit(x.view(), std::slice::from_ref(&two), &())
            .unwrap_err();
        assert!(error.to_string().contains("parameter c"));
        assert!(
            LinearParams { tolerance: bad, ..LinearParams::default() }
                .fit(x.view(), std::slice::from_ref(&two), &())
                .is_err()
        );
    }
    let one = Targets { y: vec![Label::Pos; 2], cost: vec![1.0; 2] };
    assert!(
        LinearParams::default().fit(x.view(), &[one], &()).unwrap_err().to_string().contains("two classes")
    );
}

#[test]
fn newton_minimizes_other_losses() {
    /// ln(1 + exp(−y·o))
    struct Logistic(Vec<f64>);
    impl Loss for Logistic {
        fn at(&self, i: usize, output: f64) -> [f64; 3] {
            let y = self.0[i];
            let p = 1.0 / (1.0 + (y * output).exp());
            [(-y * output).exp().ln_1p(), -y * p, p * (1.0 - p)]
        }
    }
    let (x, t) = text(300);
    let design = Design::new(x.view(), all_rows(x.view()), true);
    let loss = Logistic(t.y.iter().map(|y| y.sign()).collect());
    let mut w = vec![0.0; x.cols() + 1];
    let report =
        newton(&mut Risk::new(&design, &loss), &mut w, Stop { tolerance: 1e-9, max_steps: Some(100) }, &());
    assert_eq!(report.exit, Exit::Converged);
}

#[test]
fn finds_the_root_of_a_piecewise_linear_function() {
    let f = |t: f64| if t < 3.0 { (t - 3.5, 1.0) } else { (-0.5 + 10.0 * (t - 3.0), 10.0) };
    assert!((increasing_root(f) - 3.05).abs() < 1e-14);
    assert_eq!(increasing_root(|t| (t - 1.0, 1.0)), 1.0);
    assert!((increasing_root(|t| (t - 1e-9, 1.0)) - 1e-9).abs() < 1e-22);
}
