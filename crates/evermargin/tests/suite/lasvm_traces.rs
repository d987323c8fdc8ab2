//! Traces of the online SVM family, computed by hand in exact rational numbers.
use evermargin::data::{Label, Matrix};
use evermargin::estimators::Targets;
use evermargin::estimators::online::lasvm::{Lasvm, LasvmParams, LasvmVariant};
use evermargin::kernel::Kernel;

/// Tolerance for values that are exact rational numbers in the trace.
const EXACT: f64 = 1e-12;

fn problem(points: &[([f64; 2], f64)]) -> (Matrix, Vec<Targets>) {
    let values = points.iter().flat_map(|(x, _)| *x).collect();
    let y = points.iter().map(|(_, y)| if *y > 0.0 { Label::Pos } else { Label::Neg }).collect();
    let x = Matrix::dense(values, points.len(), 2).unwrap();
    (x, vec![Targets { y, cost: vec![1.0; points.len()] }])
}

fn params(loss: LasvmVariant) -> LasvmParams {
    LasvmParams { variant: loss, kernel: Kernel::Linear, warm_up: 2, clean_every: 0, ..Default::default() }
}

fn learn(state: &mut Lasvm, x: &Matrix, problems: &[Targets], row: usize) {
    assert!(state.learn(x.view(), &[row], 1, problems, &()).unwrap());
}

#[track_caller]
fn check(
    state: &Lasvm,
    ids: &[u64],
    alpha: &[f64],
    gradient: &[f64],
    expected_bias: f64,
    expected_violation: f64,
) {
    let live: Vec<(usize, u64)> = state.ids().collect();
    assert_eq!(live.iter().map(|(_, id)| *id).collect::<Vec<_>>(), ids, "points");
    let dual = state.output(0);
    for ((s, id), (a, g)) in live.iter().zip(alpha.iter().zip(gradient)) {
        assert!((dual.alpha()[*s] - a).abs() < EXACT, "alpha of {id}: {} not {a}", dual.alpha()[*s]);
        assert!((dual.gradient()[*s] - g).abs() < EXACT, "gradient of {id}: {} not {g}", dual.gradient()[*s]);
    }
    let e = state.gradient_bounds(0);
    if expected_bias.is_finite() {
        assert!((f64::midpoint(e.max_up, e.min_down) - expected_bias).abs() < EXACT, "b: {e:?}");
        assert!((e.max_up - e.min_down - expected_violation).abs() < EXACT, "delta: {e:?}");
    }
}

const TRACE: [([f64; 2], f64); 7] = [
    ([2.0, 1.0], 1.0),
    ([-1.0, 0.0], -1.0),
    ([0.0, 2.0], 1.0),
    ([1.0, -1.0], -1.0),
    ([1.0, 0.0], 1.0),
    ([0.0, 0.0], -1.0),
    ([-1.0, 1.0], 1.0),
];

#[test]
fn lasvm_with_bias_follows_the_exact_trace() {
    let (x, problems) = problem(&TRACE);
    let mut s = Lasvm::new(&params(LasvmVariant::Hinge), x.view(), 1).unwrap();
    learn(&mut s, &x, &problems, 0);
    check(&s, &[1], &[0.0], &[1.0], f64::NAN, 0.0);
    learn(&mut s, &x, &problems, 1);
    check(&s, &[1, 2], &[0.2, -0.2], &[-0.4, -0.4], -0.4, 0.0);
    learn(&mut s, &x, &problems, 2);
    check(&s, &[1, 2, 3], &[0.1, -0.3, 0.2], &[-0.5, -0.5, 0.0], -0.25, 0.5);
    learn(&mut s, &x, &problems, 3);
    check(&s, &[1, 2, 3, 4], &[0.1, -0.3, 0.3, -0.1], &[-0.6; 4], -0.6, 0.0);
    learn(&mut s, &x, &problems, 4);
    check(&s, &[2, 3, 4, 5], &[-0.65, 0.3, -0.1, 0.45], &[0.0, -0.4, -1.3, 0.0], -0.65, 1.3);
    learn(&mut s, &x, &problems, 5);
    check(&s, &[2, 3, 4, 5, 6], &[0.0, 0.3, -0.1, 0.8, -1.0], &[-0.3, -0.4, -1.0, 0.3, -1.0], -0.35, 1.3);
    learn(&mut s, &x, &problems, 6);
    let (alpha, gradient) = ([0.0, 0.1, -0.35, 1.0, -1.0, 0.25], [-0.6, -0.6, -0.6, 0.6, -1.0, 0.6]);
    check(&s, &[2, 3, 4, 5, 6, 7], &alpha, &gradient, 0.0, 1.2);
    s.finish(&());
    check(&s, &[2, 4, 5, 6, 7], &[-0.8, -0.2, 1.0, -1.0, 1.0], &[-0.4, -0.4, 0.4, -1.0, 0.4], -0.4, 0.0);
    assert!((s.output(0).objective() + 3.1).abs() < EXACT);
}

/// The second trace: the points of the first with an problem_with_outlier in sixth place.
fn problem_with_outlier() -> (Matrix, Vec<Targets>) {
    let mut points = TRACE;
    points[5] = ([3.0, 2.0], -1.0);
    problem(&points)
}

#[test]
fn gap_variants_follow_the_exact_trace_with_an_outlier() {
    let (x, problems) = problem_with_outlier();
    let five = [0.2, -0.6, 0.15, -0.75, 0.75];
    for loss in [LasvmVariant::Gap, LasvmVariant::Ramp, LasvmVariant::Filter, LasvmVariant::Full] {
        let mut s = Lasvm::new(&params(loss), x.view(), 1).unwrap();
        let gaps = [0.0, 6.0 / 25.0, 0.3, 27.0 / 40.0, 69.0 / 80.0];
        let targets = [0.0, 0.0, 0.0, 0.0, 0.649_519];
        for row in 0..5 {
            assert!((s.output(0).gap_and_target().1 - targets[row]).abs() < 1e-6, "target {row}");
            learn(&mut s, &x, &problems, row);
            let (gap, _) = s.output(0).gap_and_target();
            assert!((gap - gaps[row]).abs() < EXACT, "gap after {}: {gap}", row + 1);
        }
        assert!(s.output(0).alpha().iter().zip(five).all(|(a, b)| (a - b).abs() < EXACT));
        assert!((s.output(0).gap_and_target().1 - 0.670_820).abs() < 1e-6);
        learn(&mut s, &x, &problems, 5);
        let (gap, target) = s.output(0).gap_and_target();
        match loss {
            LasvmVariant::Ramp => {
                assert_eq!(s.output(0).alpha()[5], 0.0);
                assert_eq!(s.output(0).bounds(5), (0.0, 1.0), "only the side away from its label is allowed");
                assert!((gap - 69.0 / 80.0).abs() < EXACT);
            }
            LasvmVariant::Filter => assert_eq!(s.len(), 5, "the point is not added"),
            _ => {
                let six = [1.0, -1.0, 0.15, -1.0, 1.0, -1.0];
                let close = |(a, b): (&f64, f64)| (a - b).abs() < 1e-9;
                assert!(s.output(0).alpha().iter().zip(six).all(close), "{:?}", s.output(0).alpha());
                assert!((gap - 0.34).abs() < 1e-9 && (target - 0.916_515).abs() < 1e-6);
                assert_eq!(s.counts().reprocess, 9);
            }
        }
        learn(&mut s, &x, &problems, 6);
        let (gap, _) = s.output(0).gap_and_target();
        let last = s.output(0).alpha()[s.output(0).len() - 1];
        if matches!(loss, LasvmVariant::Gap | LasvmVariant::Full) {
            assert!((last - 0.35).abs() < 1e-9 && (gap - 9.0 / 200.0).abs() < 1e-9);
            assert!((s.output(0).objective() + 2091.0 / 400.0).abs() < 1e-9);
        } else {
            assert!((last - 0.375).abs() < EXACT && (gap - 153.0 / 160.0).abs() < EXACT);
        }
    }
}
