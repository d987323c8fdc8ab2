//! `local-svc`: invariants after every sample. [22] is a number in the list of invariants for Emara's thesis.
use crate::common::{clouds, learn, recompute, small_integers};
use evermargin::data::{Label, Matrix};
use evermargin::estimators::online::lasvm::{Lasvm, LasvmParams, LasvmVariant, Mode, Neighborhood};
use evermargin::estimators::supervised::svc::SvcParams;
use evermargin::estimators::{Fit, Targets, estimator};
use evermargin::kernel::Kernel;

const RBF: Kernel = Kernel::Rbf { gamma: 0.5 };

const MODES: [Mode; 6] =
    [Mode::Adaptive, Mode::Radius, Mode::Iterative, Mode::RadiusIterative, Mode::Nearest, Mode::Full];

fn params(mode: Mode, c: f64) -> LasvmParams {
    let local = Neighborhood { mode, nearest: 10, ..Default::default() };
    LasvmParams { variant: LasvmVariant::Local, kernel: RBF, c, local, finish: false, ..Default::default() }
}

/// From recomputed gradients: the largest that may increase minus the smallest that may decrease.
fn violation(state: &Lasvm, gradient: &[f64]) -> f64 {
    let dual = state.output(0);
    let (mut top, mut bottom) = (f64::NEG_INFINITY, f64::INFINITY);
    for (i, &g) in gradient.iter().enumerate() {
        let ((lo, hi), a) = (dual.bounds(i), dual.alpha()[i]);
        if a < hi {
            top = top.max(g);
        }
        if a > lo {
            bottom = bottom.min(g);
        }
    }
    top - bottom
}

/// Earlier rows by their distance from a row, the nearest first.
fn by_distance(x: &Matrix, row: usize) -> Vec<(f64, usize)> {
    let v = x.view();
    let distance = |i: usize| v.row(i).norm2() + v.row(row).norm2() - 2.0 * v.row(i).dot(v.row(row));
    let mut all: Vec<(f64, usize)> = (0..row).map(|i| (distance(i), i)).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all
}

#[test]
fn the_objective_never_decreases_and_only_the_neighborhood_changes() {
    // [22]
    for (seed, mode) in (0..12).map(|s| (s, MODES[s as usize % 6])) {
        let c = [0.3, 3.0, 30.0][seed as usize % 3];
        let (x, problems) = clouds(90, 2, seed);
        let mut state = Lasvm::new(&params(mode, c), x.view(), 1).unwrap();
        let (mut before, mut alpha) = (0.0, Vec::new());
        let mut moves = 0;
        for row in 0..90 {
            learn(&mut state, &x, &problems, row);
            let (dual, again) = (state.output(0), recompute(&state, RBF));
            assert_eq!(
                (dual.len(), state.ids().last()),
                (row + 1, Some((row, row as u64))),
                "all points are kept"
            );
            assert!(dual.alpha().iter().sum::<f64>().abs() <= 1e-9 * c * 90.0);
            for (g, exact) in dual.gradient().iter().zip(&again.gradient) {
                assert!((g - exact).abs() <= 3e-7 * again.l1_norm.max(1.0), "{g} {exact}");
            }
            assert!(again.dual >= before - 1e-6 * again.dual.max(1.0), "{mode:?} {} {before}", again.dual);
            before = again.dual;
            alpha.push(0.0);
            let moved: Vec<usize> = (0..=row).filter(|&i| alpha[i] != dual.alpha()[i]).collect();
            alpha = dual.alpha().to_vec();
            moves += moved.len();
            let near = by_distance(&x, row);
            // sigma = 1 for gamma = 1/2
            let inside: Vec<usize> = match mode {
                Mode::Radius => near.iter().filter(|(d, _)| *d <= 1.0 + 1e-5).map(|(_, i)| *i).collect(),
                Mode::Nearest => near.iter().take(10).map(|(_, i)| *i).collect(),
                _ => continue,
            };
            let outside = moved.iter().filter(|i| **i != row && !inside.contains(i)).count();
            assert!(outside <= 1, "only the partner may be far: {moved:?}");
        }
        assert!(moves > 90, "{mode:?}");
    }
}

#[test]
fn the_adaptive_mode_ends_with_a_small_violation() {
    // [22]
    let mut open = 0;
    for seed in 0..6 {
        let (c, gap) = ([0.3, 3.0, 30.0][seed as usize % 3], [0.05, 0.5][seed as usize % 2]);
        let ((x, problems), kernel) = if seed < 3 {
            (clouds(120, 3, seed), RBF)
        } else {
            (small_integers(120, 3, seed), Kernel::Linear)
        };
        let mut p = LasvmParams { kernel, ..params(Mode::Adaptive, c) };
        p.local.gap = gap;
        let mut state = Lasvm::new(&p, x.view(), 1).unwrap();
        for row in 0..120 {
            learn(&mut state, &x, &problems, row);
            let again = recompute(&state, kernel);
            let found = violation(&state, &again.gradient);
            assert!(found <= gap + 1e-6 * again.l1_norm.max(1.0), "{found} after {row}");
            open += usize::from(found > p.tolerance);
        }
    }
    assert!(open > 0, "the neighborhood was always the whole set");
}

#[test]
fn with_all_samples_as_neighbors_it_equals_batch_training() {
    // [22]
    for seed in 0..4 {
        let (x, problems) = clouds(150, 3, seed);
        let svc = SvcParams { kernel: RBF, c: 2.0, tolerance: 1e-6, ..Default::default() };
        let batch = svc.fit(x.view(), &problems, &()).unwrap();
        let f = batch.model.decision(x.view()).unwrap();
        for mode in [Mode::Full, Mode::Nearest] {
            let mut p = LasvmParams { tolerance: 1e-6, ..params(mode, 2.0) };
            p.local.nearest = 1000;
            let online = p.fit(x.view(), &problems, &()).unwrap();
            assert!((online.reports[0].objective - batch.reports[0].objective).abs() < 1e-4);
            for (a, b) in online.model.decision(x.view()).unwrap().iter().zip(&f) {
                assert!((a - b).abs() < 1e-4, "{mode:?}: {a} {b}");
            }
        }
    }
}

#[test]
fn wider_neighborhoods_are_closer_to_the_optimum() {
    let (x, problems) = clouds(400, 2, 5);
    let svc = SvcParams { kernel: RBF, c: 3.0, tolerance: 1e-6, ..Default::default() };
    let best = svc.fit(x.view(), &problems, &()).unwrap().reports[0].objective;
    let share = |near: Neighborhood| {
        let p = LasvmParams { local: near, ..params(Mode::Full, 3.0) };
        p.fit(x.view(), &problems, &()).unwrap().reports[0].objective / best
    };
    let radius =
        |nu: f64| share(Neighborhood { mode: Mode::Radius, radius_factor: nu, ..Default::default() });
    let gap = |gap: f64| share(Neighborhood { gap, ..Default::default() });
    assert!(radius(0.1) < radius(1.0) && radius(1.0) < 1.0 + 1e-6);
    assert!(gap(0.02) > 0.999 && gap(0.02) < 1.0 + 1e-6 && gap(1.0) < gap(0.02));
    let change = |change: f64| share(Neighborhood { mode: Mode::Iterative, change, ..Default::default() });
    assert!(change(1e-4) > change(0.5), "{} {}", change(1e-4), change(0.5));
}

#[test]
fn max_points_holds_and_gradients_stay_exact() {
    let (x, problems) = clouds(400, 2, 6);
    for cap in [2, 20, 150] {
        let p = LasvmParams { max_points: cap, ..params(Mode::Adaptive, 1.0) };
        let mut state = Lasvm::new(&p, x.view(), 1).unwrap();
        for row in 0..400 {
            learn(&mut state, &x, &problems, row);
            assert!(state.len() <= cap);
        }
        assert!(state.output(0).alpha().iter().sum::<f64>().abs() < 1e-6);
        // two points may be of one class
        assert!((cap == 2 || state.support_count() > 0) && state.counts().over_cap > 0);
        let again = recompute(&state, RBF);
        for (g, exact) in state.output(0).gradient().iter().zip(&again.gradient) {
            assert!((g - exact).abs() < 1e-5 * again.l1_norm.max(1.0), "{g} {exact}");
        }
    }
}

#[test]
fn chunks_checkpoints_and_threads_do_not_change_the_result() {
    let (x, problems) = clouds(200, 3, 7);
    let all: Vec<usize> = (0..200).collect();
    for mode in MODES {
        let p = LasvmParams { max_points: 120, ..params(mode, 1.0) };
        let mut whole = Lasvm::new(&p, x.view(), 1).unwrap();
        whole.learn(x.view(), &all, 0, &problems, &()).unwrap();
        let mut parts = Lasvm::new(&p, x.view(), 1).unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        for rows in all.chunks(37) {
            pool.install(|| parts.learn(x.view(), rows, 0, &problems, &())).unwrap();
            let saved = serde_json::to_value(parts.save()).unwrap();
            parts = Lasvm::resume(&serde_json::from_value(saved).unwrap()).unwrap();
        }
        let (a, b) = (whole.save(), parts.save());
        assert!((a.outputs, a.ids, a.points) == (b.outputs, b.ids, b.points), "{mode:?}");
    }
}

#[test]
fn a_late_class_is_learned() {
    let (x, problems) = clouds(60, 2, 8);
    let mut order: Vec<usize> = (0..60).collect();
    order.sort_by_key(|&i| problems[0].y[i] == Label::Pos);
    for mode in MODES {
        let mut state = Lasvm::new(&params(mode, 1.0), x.view(), 1).unwrap();
        let first = problems[0].y.iter().filter(|y| **y == Label::Neg).count();
        state.learn(x.view(), &order[..first], 0, &problems, &()).unwrap();
        assert_eq!(state.support_count(), 0, "{mode:?}");
        state.learn(x.view(), &order[first..], 0, &problems, &()).unwrap();
        assert!(state.support_count() > 10, "{mode:?}");
    }
}

#[test]
fn refuses_invalid_parameters() {
    let (x, problems) = clouds(20, 2, 1);
    let error_of = |text: &str| {
        let params = serde_json::from_str(text).unwrap();
        let made = estimator("local-svc").unwrap().make(&params);
        made.and_then(|l| l.fit(x.view(), &problems, &())).unwrap_err().to_string()
    };
    assert_eq!(error_of(r#"{"gap": 0}"#), "parameter gap = 0: must be a number above 0");
    assert_eq!(
        error_of(r#"{"radius_factor": -1}"#),
        "parameter radius_factor = -1: must be a number above 0"
    );
    assert_eq!(error_of(r#"{"change": 0}"#), "parameter change = 0: must be a number above 0");
    assert_eq!(error_of(r#"{"nearest": 0}"#), "parameter nearest = 0: must be a whole number from 1 on");
    assert_eq!(
        error_of(r#"{"mode": "radius", "kernel": "linear"}"#),
        "parameter kernel = linear: must be rbf for a radius in widths of the kernel"
    );
    assert!(
        error_of(r#"{"mode": "near"}"#).contains("parameter mode = near: must be one of adaptive, radius")
    );
    assert!(
        error_of(r#"{"k": 5}"#).starts_with("learner local-svc has no parameter k: must be one of kernel,")
    );
    let unlabeled = [Targets { y: vec![Label::Unknown; 20], cost: vec![1.0; 20] }];
    assert!(params(Mode::Adaptive, 1.0).fit(x.view(), &unlabeled, &()).is_err());
}
