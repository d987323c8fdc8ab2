//! Properties that all semi-supervised support vector machines with a kernel have.

use evermargin::data::Label;
use evermargin::datasets::{GenerateParams, generate};
use evermargin::estimators::supervised::rls::RlsParams;
use evermargin::estimators::supervised::svc::SvcParams;
use evermargin::estimators::{Fit, Fitted, Targets, estimator};
use evermargin::params::{ParamValue, ParamValues};
use evermargin::solver::{Exit, Progress, Watch};
use evermargin::{Kernel, Labels, Matrix};
use std::slice::from_ref;

const VARIANTS: [(&str, &str); 7] = [
    ("tsvm", "{}"),
    ("grad-tsvm", "{}"),
    ("da", r#"{"loss": "l2"}"#),
    ("da", r#"{"loss": "l1"}"#),
    ("da", r#"{"loss": "square"}"#),
    ("cccp-s3vm", "{}"),
    ("bnb-s3vm", "{}"),
];

fn make_estimator(name: &str, base_params: &str, extra_params: &str) -> Box<dyn Fit> {
    let mut params: ParamValues = serde_json::from_str(base_params).unwrap();
    params.extend(serde_json::from_str::<ParamValues>(extra_params).unwrap());
    Box::new(estimator(name).unwrap().make(&params).unwrap())
}

fn data(name: &str, rows: usize, seed: u64) -> (Matrix, Labels) {
    generate(name, &GenerateParams { rows, noise: Some(0.3), seed, ..Default::default() }).unwrap()
}

/// The first `known` rows are labeled, the others unlabeled.
fn label_first(labels: &Labels, known: usize) -> Targets {
    let y = |i: usize| match labels.of[i] {
        Some(c) if i < known => [Label::Neg, Label::Pos][c as usize],
        _ => Label::Unknown,
    };
    Targets { y: (0..labels.of.len()).map(y).collect(), cost: vec![1.0; labels.of.len()] }
}

fn flipped(targets: &Targets) -> Targets {
    let y = targets.y.iter().map(|y| match y {
        Label::Pos => Label::Neg,
        Label::Neg => Label::Pos,
        Label::Unknown => Label::Unknown,
    });
    Targets { y: y.collect(), cost: targets.cost.clone() }
}

fn scores(fitted: &Fitted) -> &[f64] {
    &fitted.transduced.as_ref().unwrap().scores[0]
}

#[test]
fn flipped_labels_and_ratio_negate_the_scores() {
    let (x, labels) = data("two-moons", 30, 3);
    let targets = label_first(&labels, 10); // of the 20 unlabeled rows, 0.3 and 0.7 are whole numbers
    for (name, base_params) in VARIANTS {
        let one = make_estimator(name, base_params, r#"{"ratio": 0.3, "lambda": 0.02, "tolerance": 1e-7}"#);
        let other = make_estimator(name, base_params, r#"{"ratio": 0.7, "lambda": 0.02, "tolerance": 1e-7}"#);
        let a = one.fit(x.view(), from_ref(&targets), &()).unwrap();
        let b = other.fit(x.view(), &[flipped(&targets)], &()).unwrap();
        for (a, b) in scores(&a).iter().zip(scores(&b)) {
            assert!((a + b).abs() < 1e-4, "{name} {base_params}: {a} {b}");
        }
    }
}

#[test]
fn lambda_u_zero_equals_training_on_the_labels_only() {
    let (x, labels) = data("two-moons", 60, 1);
    let targets = label_first(&labels, 24);
    let known: Vec<usize> = (0..24).collect();
    let part = x.view().select(&known);
    for (name, base_params) in VARIANTS {
        let semi = make_estimator(name, base_params, r#"{"lambda": 0.01, "tolerance": 1e-7}"#);
        let without =
            make_estimator(name, base_params, r#"{"lambda": 0.01, "tolerance": 1e-7, "lambda_u": 0}"#);
        let f = without.fit(x.view(), from_ref(&targets), &()).unwrap();
        let g = semi.fit(part.view(), &[targets.select(&known)], &()).unwrap();
        let h = semi.supervised().unwrap().fit(x.view(), from_ref(&targets), &()).unwrap();
        let f = f.model.decision(x.view()).unwrap();
        let g = g.model.decision(x.view()).unwrap();
        assert_eq!(f, h.model.decision(x.view()).unwrap(), "{name}");
        for (f, g) in f.iter().zip(&g) {
            assert!((f - g).abs() < 1e-5, "{name} {base_params}: {f} {g}");
        }
    }
}

#[test]
fn with_all_labels_it_equals_the_supervised_estimator() {
    let (x, labels) = data("two-moons", 40, 2);
    let targets = label_first(&labels, 40);
    let kernel = Kernel::Rbf { gamma: 1.0 };
    let c = 1.0 / (0.01 * 40.0);
    let params = r#"{"lambda": 0.01, "tolerance": 1e-8}"#;
    let svc = SvcParams { kernel, c, tolerance: 1e-8, ..Default::default() };
    let compare = |a: Fitted, b: Vec<f64>, what: &str| {
        assert_eq!(a.reports[0].exit, Exit::Converged, "{what}");
        let a = a.model.decision(x.view()).unwrap();
        a.iter().zip(&b).for_each(|(a, b)| assert!((a - b).abs() < 1e-4, "{what}: {a} {b}"));
    };
    let ours = |name, base_params| {
        make_estimator(name, base_params, params).fit(x.view(), from_ref(&targets), &()).unwrap()
    };
    let plain = svc.fit(x.view(), from_ref(&targets), &()).unwrap().model.decision(x.view()).unwrap();
    compare(ours("tsvm", "{}"), plain.clone(), "tsvm");
    compare(ours("bnb-s3vm", "{}"), plain, "bnb-s3vm");
    // annealing represents its intercept by a constant 1 added to the kernel
    let k: Vec<f64> =
        (0..1600).map(|k| kernel.eval(x.view().row(k / 40), x.view().row(k % 40)) + 1.0).collect();
    let k = Matrix::dense(k, 40, 40).unwrap();
    let whole = SvcParams { kernel: Kernel::Precomputed, fit_intercept: false, ..svc };
    let f = whole.fit(k.view(), from_ref(&targets), &()).unwrap().model.decision(k.view()).unwrap();
    compare(ours("da", r#"{"loss": "l1"}"#), f, "da l1");
    let rls = RlsParams { kernel: Kernel::Precomputed, c, fit_intercept: false, ..Default::default() };
    let f = rls.fit(k.view(), from_ref(&targets), &()).unwrap().model.decision(k.view()).unwrap();
    compare(ours("da", r#"{"loss": "square"}"#), f, "da square");
    // ½c·h² is the squared hinge of `linear` with half the cost
    let linear = make_estimator("linear", "{}", &format!(r#"{{"c": {}, "tolerance": 1e-8}}"#, c / 2.0));
    let f = linear.fit(x.view(), from_ref(&targets), &()).unwrap().model.decision(x.view()).unwrap();
    compare(ours("da", r#"{"loss": "l2", "kernel": "linear"}"#), f, "da l2");
}

#[test]
fn the_linear_kernel_in_the_primal_equals_the_precomputed_kernel() {
    let (x, labels) = data("two-moons", 60, 4);
    let targets = label_first(&labels, 12);
    let k: Vec<f64> = (0..3600).map(|k| x.view().row(k / 60).dot(x.view().row(k % 60))).collect();
    let k = Matrix::dense(k, 60, 60).unwrap();
    for (name, base_params) in VARIANTS.iter().filter(|f| f.0 != "bnb-s3vm") {
        let params = r#"{"lambda": 0.01, "ratio": 0.5, "tolerance": 1e-7"#;
        let linear = make_estimator(name, base_params, &format!(r#"{params}, "kernel": "linear"}}"#));
        let whole = make_estimator(name, base_params, &format!(r#"{params}, "kernel": "precomputed"}}"#));
        let f = linear.fit(x.view(), from_ref(&targets), &()).unwrap();
        let sparse = linear.fit(x.view().to_csr().view(), from_ref(&targets), &()).unwrap();
        let g = whole.fit(k.view(), from_ref(&targets), &()).unwrap();
        for ((f, g), h) in scores(&f).iter().zip(scores(&g)).zip(scores(&sparse)) {
            assert!((f - g).abs() < 1e-3, "{name} {base_params}: {f} {g}");
            assert!((f - h).abs() < 1e-3, "{name} {base_params}: {f} {h}");
        }
    }
}

#[test]
fn the_balance_constraint_holds() {
    let (x, labels) = data("g50c", 120, 5);
    let targets = label_first(&labels, 20);
    for name in ["grad-tsvm", "cccp-s3vm"] {
        for ratio in [0.3, 0.5] {
            let params = format!(r#"{{"gamma": 0.02, "ratio": {ratio}, "lambda": 0.01}}"#);
            let fitted = make_estimator(name, "{}", &params).fit(x.view(), from_ref(&targets), &()).unwrap();
            // the constraint is on the function; scores are shifted to the labels by rank
            let mean = fitted.model.decision(x.view()).unwrap()[20..].iter().sum::<f64>() / 100.0;
            assert!((mean - (2.0 * ratio - 1.0)).abs() < 1e-4, "{name}: {mean}");
        }
    }
    for ratio in [0.3, 0.5] {
        let params = format!(r#"{{"gamma": 0.02, "ratio": {ratio}, "lambda": 0.01}}"#);
        let fitted = make_estimator("tsvm", "{}", &params).fit(x.view(), from_ref(&targets), &()).unwrap();
        let positives = scores(&fitted)[20..].iter().filter(|s| **s > 0.0).count();
        assert_eq!(positives, (100.0 * ratio) as usize);
    }
}

/// Half of the 10 labels are positive, and a ratio of 0.1 is given: all estimators return exactly that fraction of
/// positives.
#[test]
fn a_given_ratio_is_met_exactly() {
    let (x, labels) = data("g50c", 140, 5);
    let mut left = [5, 5];
    let mut targets = label_first(&labels, 0);
    for (y, of) in targets.y.iter_mut().zip(&labels.of) {
        let c = of.unwrap() as usize;
        if left[c] > 0 {
            left[c] -= 1;
            *y = [Label::Neg, Label::Pos][c];
        }
    }
    let small: Vec<usize> = (0..140)
        .filter(|&i| targets.y[i] != Label::Unknown)
        .chain((0..140).filter(|&i| targets.y[i] == Label::Unknown).take(20))
        .collect();
    let others = ["submod-s3vm", "qp-s3vm", "parzen", "linear-tsvm", "linear-da", "label-propagation"];
    let spreading = ("label-propagation", r#"{"method": "spreading"}"#);
    for (name, base_params) in VARIANTS.into_iter().chain(others.map(|n| (n, "{}"))).chain([spreading]) {
        let rows = if name == "bnb-s3vm" { small.clone() } else { (0..140).collect() };
        let (x, targets) = (x.view().select(&rows), targets.select(&rows));
        let extra_params = if VARIANTS.iter().any(|f| f.0 == name) {
            r#"{"ratio": 0.1, "gamma": 0.02}"#
        } else {
            r#"{"ratio": 0.1}"#
        };
        let fitted =
            make_estimator(name, base_params, extra_params).fit(x.view(), from_ref(&targets), &()).unwrap();
        let open = (0..rows.len()).filter(|&i| targets.y[i] == Label::Unknown);
        let positives = open.filter(|&i| scores(&fitted)[i] > 0.0).count();
        assert_eq!(positives, (rows.len() - 10) / 10, "{name} {base_params}");
    }
}

#[test]
fn a_kernel_rounded_to_six_decimals_changes_scores_little() {
    let (x, labels) = data("two-moons", 200, 4);
    let targets = label_first(&labels, 20);
    let kernel = Kernel::Rbf { gamma: 0.5 };
    let rounded = |digits: f64| {
        let k =
            |k: usize| (kernel.eval(x.view().row(k / 200), x.view().row(k % 200)) * digits).round() / digits;
        Matrix::dense((0..40_000).map(k).collect(), 200, 200).unwrap()
    };
    let (exact, six) = (rounded(1e15), rounded(1e6));
    for (name, base_params) in VARIANTS.iter().filter(|f| f.0 == "da" || f.0 == "grad-tsvm") {
        let params = r#"{"kernel": "precomputed", "ratio": 0.5, "lambda": 0.1, "tolerance": 1e-6}"#;
        let fit = make_estimator(name, base_params, params);
        let f = fit.fit(exact.view(), from_ref(&targets), &()).unwrap();
        let g = fit.fit(six.view(), from_ref(&targets), &()).unwrap();
        for (f, g) in scores(&f).iter().zip(scores(&g)) {
            assert!((f - g).abs() < 1e-2, "{name} {base_params}: {f} {g}");
        }
    }
}

#[test]
fn several_classes_are_separate_problems_except_for_branch_and_bound() {
    let (x, labels) = data("waveform", 36, 4);
    let one = |k: u32| {
        let y = |i: usize| match labels.of[i] {
            Some(c) if i < 18 => [Label::Neg, Label::Pos][usize::from(c == k)],
            _ => Label::Unknown,
        };
        Targets { y: (0..36).map(y).collect(), cost: vec![1.0; 36] }
    };
    let problems: Vec<Targets> = (0..3).map(one).collect();
    for (name, base_params) in VARIANTS {
        let extra_params = if name == "bnb-s3vm" { r#"{"max_nodes": 5}"# } else { "{}" };
        let fitted = make_estimator(name, base_params, extra_params).fit(x.view(), &problems, &()).unwrap();
        let facts = fitted.transduced.unwrap().facts;
        assert_eq!(facts["ratio_from"], "labels".into(), "{name}");
        if name == "bnb-s3vm" {
            assert!(
                facts["nodes"] == 5u32.into() && facts["lambda"].as_f64().unwrap() > 0.0,
                "one search for all classes: {facts:?}"
            );
            continue;
        }
        let each = facts["problems"].as_list().unwrap();
        assert_eq!(each.len(), 3, "{name}: {facts:?}");
        assert!(each.iter().all(|f| f.get("lambda").and_then(ParamValue::as_f64).unwrap() > 0.0), "{name}");
    }
}

#[test]
fn unlabeled_rows_reduce_errors_when_classes_are_clusters() {
    let (x, labels) = data("g50c", 300, 8);
    let targets = label_first(&labels, 10);
    let wrong = |s: &[f64]| (10..300).filter(|&i| (s[i] > 0.0) != (labels.of[i] == Some(1))).count();
    for (name, base_params) in VARIANTS.iter().filter(|f| f.0 != "bnb-s3vm") {
        let semi = make_estimator(name, base_params, r#"{"gamma": 0.01, "lambda": 0.01, "ratio": 0.5}"#);
        let alone = semi.supervised().unwrap().fit(x.view(), from_ref(&targets), &()).unwrap();
        let alone = wrong(&alone.model.decision(x.view()).unwrap());
        let with = wrong(scores(&semi.fit(x.view(), from_ref(&targets), &()).unwrap()));
        assert!(with < 40 && 2 * with < alone + 20, "{name} {base_params}: {with} wrong, {alone} without");
    }
}

#[test]
fn degenerate_data_gives_finite_scores() {
    let (x, labels) = data("two-moons", 24, 6);
    let Matrix::Dense { values, .. } = x.view().to_dense() else { panic!() };
    let mut zeros = values.clone();
    zeros[10..].fill(0.0);
    let mut same = values.clone();
    (5..24).for_each(|i| {
        same[2 * i] = values[0];
        same[2 * i + 1] = values[1];
    });
    let zeros = Matrix::dense(zeros, 24, 2).unwrap();
    let same = Matrix::dense(same, 24, 2).unwrap();
    let mut two = label_first(&labels, 0);
    for c in 0..2 {
        let i = labels.of.iter().position(|l| *l == Some(c)).unwrap();
        two.y[i] = [Label::Neg, Label::Pos][c as usize];
    }
    let mut nothing = label_first(&labels, 12);
    (0..24).filter(|i| i % 5 == 4).for_each(|i| nothing.cost[i] = 0.0);
    for (name, base_params) in VARIANTS.into_iter().chain([("label-propagation", "{}")]) {
        for (what, x, targets) in [
            ("no unlabeled row", &x, label_first(&labels, 24)),
            ("one unlabeled row", &x, label_first(&labels, 23)),
            ("two labels", &x, two.clone()),
            ("zero rows", &zeros, label_first(&labels, 12)),
            ("equal rows", &same, label_first(&labels, 12)),
            ("rows without weight", &x, nothing.clone()),
        ] {
            let fitted = make_estimator(name, base_params, "{}").fit(x.view(), &[targets], &()).unwrap();
            assert_eq!(scores(&fitted).len(), 24);
            assert!(scores(&fitted).iter().all(|s| s.is_finite()), "{name} {base_params}, {what}");
            fitted.model.check().unwrap();
            assert!(fitted.model.decision(x.view()).unwrap().iter().all(|f| f.is_finite()));
            assert!(
                matches!(fitted.reports[0].exit, Exit::Converged | Exit::Stalled),
                "{name} {base_params}, {what}: {:?}",
                fitted.reports
            );
        }
    }
}

#[test]
fn refuses_labels_of_one_class() {
    let (x, labels) = data("two-moons", 24, 6);
    let mut targets = label_first(&labels, 24);
    targets.y.iter_mut().filter(|y| **y == Label::Pos).for_each(|y| *y = Label::Unknown);
    for (name, base_params) in VARIANTS.into_iter().chain([("label-propagation", "{}")]) {
        let error =
            make_estimator(name, base_params, "{}").fit(x.view(), from_ref(&targets), &()).unwrap_err();
        assert!(error.to_string().contains("two classes"), "{name}: {error}");
    }
}

#[test]
fn results_are_bit_identical_for_any_number_of_threads() {
    let (x, labels) = data("g50c", 150, 7);
    let targets = label_first(&labels, 20);
    for (name, base_params) in VARIANTS.into_iter().chain([("label-propagation", "{}")]) {
        let extra_params = match name {
            "bnb-s3vm" => r#"{"max_nodes": 200, "gamma": 0.02}"#,
            _ => r#"{"gamma": 0.02}"#,
        };
        let fit = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let fitted = pool.install(|| {
                make_estimator(name, base_params, extra_params)
                    .fit(x.view(), from_ref(&targets), &())
                    .unwrap()
            });
            (fitted.model.clone(), fitted.transduced.unwrap().scores)
        };
        let one = fit(1);
        assert!(one == fit(2) && one == fit(4), "{name} {base_params}");
    }
}

/// Stops training after a number of calls.
struct StopAfter(std::sync::atomic::AtomicI64);

impl Watch for StopAfter {
    fn proceed(&self, _: &Progress) -> bool {
        self.0.fetch_sub(1, std::sync::atomic::Ordering::Relaxed) > 0
    }
}

#[test]
fn an_interrupt_leaves_a_valid_model() {
    let (x, labels) = data("two-moons", 80, 9);
    let targets = label_first(&labels, 20);
    for (name, base_params) in VARIANTS.into_iter().chain([("label-propagation", "{}")]) {
        for calls in [0, 1, 7] {
            let watch = StopAfter(calls.into());
            let fitted =
                make_estimator(name, base_params, "{}").fit(x.view(), from_ref(&targets), &watch).unwrap();
            fitted.model.check().unwrap();
            assert!(scores(&fitted).iter().all(|s| s.is_finite()));
            assert_eq!(fitted.reports[0].exit, Exit::Interrupted, "{name} {base_params} {calls}");
        }
    }
}

#[test]
fn label_weight_two_equals_two_copies() {
    let (x, labels) = data("two-moons", 60, 10);
    let mut targets = label_first(&labels, 16);
    let rows: Vec<usize> = [3, 5].into_iter().chain(0..60).collect();
    let copied = targets.select(&rows);
    targets.cost[3] = 2.0;
    targets.cost[5] = 2.0;
    for (name, base_params) in VARIANTS.iter().filter(|f| f.0 != "bnb-s3vm") {
        let semi = make_estimator(name, base_params, r#"{"lambda": 0.02, "ratio": 0.5, "tolerance": 1e-7}"#);
        let f = semi.fit(x.view(), from_ref(&targets), &()).unwrap();
        let g = semi.fit(x.view().select(&rows).view(), from_ref(&copied), &()).unwrap();
        for (f, g) in scores(&f).iter().zip(&scores(&g)[2..]) {
            assert!((f - g).abs() < 1e-3, "{name} {base_params}: {f} {g}");
        }
    }
}

/// Two distant clouds; a quarter of the rows is positive, but half of the labels. `auto` finds the quarter.
#[test]
fn ratio_auto_is_estimated_and_used_by_all_families() {
    let place = |i: usize| if i.is_multiple_of(4) { 3.0 } else { -3.0 };
    let values = (0..80).flat_map(|i| [place(i) + (i * 7 % 11) as f64 / 11.0, (i * 5 % 13) as f64 / 13.0]);
    let x = Matrix::dense(values.collect(), 80, 2).unwrap();
    let of = (0..80usize).map(|i| Some(u32::from(i.is_multiple_of(4)))).collect();
    let labels = Labels { of, classes: vec!["a".into(), "b".into()] };
    let targets = label_first(&labels, 8);
    for name in ["da", "tsvm", "label-propagation", "linear-da", "parzen"] {
        let fitted = make_estimator(name, r#"{"ratio": "auto"}"#, "{}")
            .fit(x.view(), from_ref(&targets), &())
            .unwrap();
        let ratio = fitted.transduced.as_ref().unwrap().ratio[0];
        assert_eq!(fitted.transduced.as_ref().unwrap().facts["ratio_from"], "estimate".into(), "{name}");
        assert!((ratio - 18.0 / 72.0).abs() < 0.03, "{name}: {ratio}");
        // the rows with the highest scores are positive, as many as the ratio gives
        let scores = scores(&fitted);
        let positive = |i: &usize| scores[*i] > 0.0;
        assert_eq!((8..80).filter(positive).count(), (72.0 * ratio).round() as usize, "{name}");
        assert!((8..80).filter(|i| i % 4 == 0).all(|i| positive(&i)), "{name}");
    }
}

/// The default of `lambda` depends on the norm of rows, so a common unit of all columns does not change the labels.
#[test]
fn labels_do_not_depend_on_the_unit_of_the_columns() {
    let (x, labels) = data("g50c", 120, 5);
    let targets = label_first(&labels, 20);
    let Matrix::Dense { values, rows, cols, .. } = &x else { unreachable!() };
    // away from the origin, so that the intercept matters
    let moved = |factor: f64| {
        let at = |(k, v): (usize, &f64)| factor * (v + if k % cols == 0 { 3.0 } else { 0.0 });
        Matrix::dense(values.iter().enumerate().map(at).collect(), *rows, *cols).unwrap()
    };
    let (one, ten) = (moved(1.0), moved(10.0));
    let kernel = r#"{"kernel": "linear", "ratio": 0.5, "tolerance": 1e-5}"#;
    let linear = r#"{"ratio": 0.5, "tolerance": 1e-5}"#;
    for (name, base_params, extra_params) in [
        ("linear-tsvm", linear, "{}"),
        ("linear-tsvm", linear, r#"{"center": true}"#),
        ("linear-tsvm", linear, r#"{"fit_intercept": false}"#),
        ("linear-da", linear, "{}"),
        // without an intercept; otherwise it is a feature 1 that does not scale with the others
        ("linear-da", linear, r#"{"center": true, "fit_intercept": false}"#),
        ("linear-da", linear, r#"{"fit_intercept": false}"#),
        ("tsvm", kernel, "{}"),
        ("grad-tsvm", kernel, "{}"),
        ("cccp-s3vm", kernel, "{}"),
        ("bnb-s3vm", kernel, r#"{"max_nodes": 10}"#),
        ("da", kernel, r#"{"loss": "l2"}"#),
        ("da", kernel, r#"{"loss": "l1"}"#),
        ("da", kernel, r#"{"loss": "square"}"#),
        ("da", kernel, r#"{"fit_intercept": false}"#),
    ] {
        let fit = make_estimator(name, base_params, extra_params);
        let a = fit.fit(one.view(), from_ref(&targets), &()).unwrap();
        let b = fit.fit(ten.view(), from_ref(&targets), &()).unwrap();
        let differ = scores(&a).iter().zip(scores(&b)).filter(|(a, b)| (**a > 0.0) != (**b > 0.0)).count();
        assert_eq!(differ, 0, "{name} {extra_params}");
        let lambda = |f: &Fitted| f.transduced.as_ref().unwrap().facts["lambda"].as_f64().unwrap();
        assert!((lambda(&b) / lambda(&a) - 100.0).abs() < 1e-9, "{name} {extra_params}");
    }
}

#[test]
fn refuses_invalid_parameters_by_name() {
    let (x, labels) = data("two-moons", 24, 6);
    let targets = label_first(&labels, 12);
    for (name, params, text) in [
        ("tsvm", r#"{"lambda": -1}"#, "parameter lambda = -1: must be 0 or a number from 1e-15 to 1e15"),
        ("da", r#"{"lambda_u": -1}"#, "parameter lambda_u = -1: must be a number from 0 to 1e15"),
        ("da", r#"{"rate": 1}"#, "parameter rate = 1: must be a number above 1"),
        (
            "grad-tsvm",
            r#"{"ratio": 1.5}"#,
            "parameter ratio = 1.5: must be labels, auto, or shares between 0 and 1 (both excluded)",
        ),
        ("cccp-s3vm", r#"{"s": 0.5}"#, "parameter s = 0.5: must be a number above -1, at most 0"),
        ("bnb-s3vm", r#"{"epsilon": 1}"#, "parameter epsilon = 1: must be a number from 0 on, below 1"),
        (
            "label-propagation",
            r#"{"alpha": 1}"#,
            "parameter alpha = 1: must be a number between 0 and 1 (both excluded)",
        ),
        ("label-propagation", r#"{"n_neighbors": 0}"#, "parameter n_neighbors = 0: must be 1 or more"),
    ] {
        let params = serde_json::from_str(params).unwrap();
        let make_estimator = estimator(name).unwrap().make(&params);
        let error = make_estimator.and_then(|fit| fit.fit(x.view(), from_ref(&targets), &())).unwrap_err();
        assert_eq!(error.to_string(), text);
    }
}
