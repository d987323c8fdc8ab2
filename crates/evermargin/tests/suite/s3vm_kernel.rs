//! The semi-supervised support vector machines with a kernel: what must hold for each of them.

use evermargin::data::Label;
use evermargin::datasets::{GenerateParams, generate};
use evermargin::estimators::supervised::rls::RlsParams;
use evermargin::estimators::supervised::svc::SvcParams;
use evermargin::estimators::{Fit, Fitted, Targets, estimator};
use evermargin::params::{ParamValue, ParamValues};
use evermargin::solver::{Exit, Progress, Watch};
use evermargin::{Kernel, Labels, Matrix};
use std::slice::from_ref;

const FAMILY: [(&str, &str); 7] = [
    ("tsvm", "{}"),
    ("grad-tsvm", "{}"),
    ("da", r#"{"loss": "l2"}"#),
    ("da", r#"{"loss": "l1"}"#),
    ("da", r#"{"loss": "square"}"#),
    ("cccp-s3vm", "{}"),
    ("bnb-s3vm", "{}"),
];

fn made(name: &str, written: &str, more: &str) -> Box<dyn Fit> {
    let mut params: ParamValues = serde_json::from_str(written).unwrap();
    params.extend(serde_json::from_str::<ParamValues>(more).unwrap());
    Box::new(estimator(name).unwrap().make(&params).unwrap())
}

fn data(name: &str, rows: usize, seed: u64) -> (Matrix, Labels) {
    generate(name, &GenerateParams { rows, noise: Some(0.3), seed, ..Default::default() }).unwrap()
}

/// Rows before `known` keep their labels; the others are unlabeled.
fn few(labels: &Labels, known: usize) -> Targets {
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
fn exchanged_labels_exchange_the_signs() {
    let (x, labels) = data("two-moons", 30, 3);
    let targets = few(&labels, 10); // 20 rows are open: 0.3 and 0.7 of them are whole
    for (name, written) in FAMILY {
        let one = made(name, written, r#"{"ratio": 0.3, "lambda": 0.02, "tolerance": 1e-7}"#);
        let other = made(name, written, r#"{"ratio": 0.7, "lambda": 0.02, "tolerance": 1e-7}"#);
        let a = one.fit(x.view(), from_ref(&targets), &()).unwrap();
        let b = other.fit(x.view(), &[flipped(&targets)], &()).unwrap();
        for (a, b) in scores(&a).iter().zip(scores(&b)) {
            assert!((a + b).abs() < 1e-4, "{name} {written}: {a} {b}");
        }
    }
}

#[test]
fn no_weight_for_unlabeled_rows_is_learning_from_the_labels() {
    let (x, labels) = data("two-moons", 60, 1);
    let targets = few(&labels, 24);
    let known: Vec<usize> = (0..24).collect();
    let part = x.view().select(&known);
    for (name, written) in FAMILY {
        let semi = made(name, written, r#"{"lambda": 0.01, "tolerance": 1e-7}"#);
        let without = made(name, written, r#"{"lambda": 0.01, "tolerance": 1e-7, "lambda_u": 0}"#);
        let f = without.fit(x.view(), from_ref(&targets), &()).unwrap();
        let g = semi.fit(part.view(), &[targets.select(&known)], &()).unwrap();
        let h = semi.supervised().unwrap().fit(x.view(), from_ref(&targets), &()).unwrap();
        let f = f.model.decision(x.view()).unwrap();
        let g = g.model.decision(x.view()).unwrap();
        assert_eq!(f, h.model.decision(x.view()).unwrap(), "{name}");
        for (f, g) in f.iter().zip(&g) {
            assert!((f - g).abs() < 1e-5, "{name} {written}: {f} {g}");
        }
    }
}

#[test]
fn learning_from_the_labels_is_the_supervised_learner() {
    let (x, labels) = data("two-moons", 40, 2);
    let targets = few(&labels, 40);
    let kernel = Kernel::Rbf { gamma: 1.0 };
    let c = 1.0 / (0.01 * 40.0);
    let params = r#"{"lambda": 0.01, "tolerance": 1e-8}"#;
    let svc = SvcParams { kernel, c, tolerance: 1e-8, ..Default::default() };
    let compare = |a: Fitted, b: Vec<f64>, what: &str| {
        assert_eq!(a.reports[0].exit, Exit::Converged, "{what}");
        let a = a.model.decision(x.view()).unwrap();
        a.iter().zip(&b).for_each(|(a, b)| assert!((a - b).abs() < 1e-4, "{what}: {a} {b}"));
    };
    let ours = |name, written| made(name, written, params).fit(x.view(), from_ref(&targets), &()).unwrap();
    let plain = svc.fit(x.view(), from_ref(&targets), &()).unwrap().model.decision(x.view()).unwrap();
    compare(ours("tsvm", "{}"), plain.clone(), "tsvm");
    compare(ours("bnb-s3vm", "{}"), plain, "bnb-s3vm");
    // annealing has its constant in the kernel
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
    let linear = made("linear", "{}", &format!(r#"{{"c": {}, "tolerance": 1e-8}}"#, c / 2.0));
    let f = linear.fit(x.view(), from_ref(&targets), &()).unwrap().model.decision(x.view()).unwrap();
    compare(ours("da", r#"{"loss": "l2", "kernel": "linear"}"#), f, "da l2");
}

#[test]
fn a_linear_kernel_is_solved_for_weights_as_for_coefficients() {
    let (x, labels) = data("two-moons", 60, 4);
    let targets = few(&labels, 12);
    let k: Vec<f64> = (0..3600).map(|k| x.view().row(k / 60).dot(x.view().row(k % 60))).collect();
    let k = Matrix::dense(k, 60, 60).unwrap();
    for (name, written) in FAMILY.iter().filter(|f| f.0 != "bnb-s3vm") {
        let params = r#"{"lambda": 0.01, "ratio": 0.5, "tolerance": 1e-7"#;
        let linear = made(name, written, &format!(r#"{params}, "kernel": "linear"}}"#));
        let whole = made(name, written, &format!(r#"{params}, "kernel": "precomputed"}}"#));
        let f = linear.fit(x.view(), from_ref(&targets), &()).unwrap();
        let sparse = linear.fit(x.view().to_csr().view(), from_ref(&targets), &()).unwrap();
        let g = whole.fit(k.view(), from_ref(&targets), &()).unwrap();
        for ((f, g), h) in scores(&f).iter().zip(scores(&g)).zip(scores(&sparse)) {
            assert!((f - g).abs() < 1e-3, "{name} {written}: {f} {g}");
            assert!((f - h).abs() < 1e-3, "{name} {written}: {f} {h}");
        }
    }
}

#[test]
fn the_balance_is_kept() {
    let (x, labels) = data("g50c", 120, 5);
    let targets = few(&labels, 20);
    for name in ["grad-tsvm", "cccp-s3vm"] {
        for ratio in [0.3, 0.5] {
            let params = format!(r#"{{"gamma": 0.02, "ratio": {ratio}, "lambda": 0.01}}"#);
            let fitted = made(name, "{}", &params).fit(x.view(), from_ref(&targets), &()).unwrap();
            // the constraint is on the function; scores are moved to the labels by rank
            let mean = fitted.model.decision(x.view()).unwrap()[20..].iter().sum::<f64>() / 100.0;
            assert!((mean - (2.0 * ratio - 1.0)).abs() < 1e-4, "{name}: {mean}");
        }
    }
    for ratio in [0.3, 0.5] {
        let params = format!(r#"{{"gamma": 0.02, "ratio": {ratio}, "lambda": 0.01}}"#);
        let fitted = made("tsvm", "{}", &params).fit(x.view(), from_ref(&targets), &()).unwrap();
        let positives = scores(&fitted)[20..].iter().filter(|s| **s > 0.0).count();
        assert_eq!(positives, (100.0 * ratio) as usize);
    }
}

/// 5 of 10 labels are positive, a tenth of the other rows: all of them call exactly that many positive.
#[test]
fn the_share_asked_for_is_the_share_given() {
    let (x, labels) = data("g50c", 140, 5);
    let mut left = [5, 5];
    let mut targets = few(&labels, 0);
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
    for (name, written) in FAMILY.into_iter().chain(others.map(|n| (n, "{}"))).chain([spreading]) {
        let rows = if name == "bnb-s3vm" { small.clone() } else { (0..140).collect() };
        let (x, targets) = (x.view().select(&rows), targets.select(&rows));
        let more = if FAMILY.iter().any(|f| f.0 == name) {
            r#"{"ratio": 0.1, "gamma": 0.02}"#
        } else {
            r#"{"ratio": 0.1}"#
        };
        let fitted = made(name, written, more).fit(x.view(), from_ref(&targets), &()).unwrap();
        let open = (0..rows.len()).filter(|&i| targets.y[i] == Label::Unknown);
        let positives = open.filter(|&i| scores(&fitted)[i] > 0.0).count();
        assert_eq!(positives, (rows.len() - 10) / 10, "{name} {written}");
    }
}

#[test]
fn a_kernel_of_six_decimals_is_good_enough() {
    let (x, labels) = data("two-moons", 200, 4);
    let targets = few(&labels, 20);
    let kernel = Kernel::Rbf { gamma: 0.5 };
    let rounded = |digits: f64| {
        let k =
            |k: usize| (kernel.eval(x.view().row(k / 200), x.view().row(k % 200)) * digits).round() / digits;
        Matrix::dense((0..40_000).map(k).collect(), 200, 200).unwrap()
    };
    let (exact, six) = (rounded(1e15), rounded(1e6));
    for (name, written) in FAMILY.iter().filter(|f| f.0 == "da" || f.0 == "grad-tsvm") {
        let params = r#"{"kernel": "precomputed", "ratio": 0.5, "lambda": 0.1, "tolerance": 1e-6}"#;
        let fit = made(name, written, params);
        let f = fit.fit(exact.view(), from_ref(&targets), &()).unwrap();
        let g = fit.fit(six.view(), from_ref(&targets), &()).unwrap();
        for (f, g) in scores(&f).iter().zip(scores(&g)) {
            assert!((f - g).abs() < 1e-2, "{name} {written}: {f} {g}");
        }
    }
}

#[test]
fn several_classes_are_told_of_one_by_one_but_by_branch_and_bound() {
    let (x, labels) = data("waveform", 36, 4);
    let one = |k: u32| {
        let y = |i: usize| match labels.of[i] {
            Some(c) if i < 18 => [Label::Neg, Label::Pos][usize::from(c == k)],
            _ => Label::Unknown,
        };
        Targets { y: (0..36).map(y).collect(), cost: vec![1.0; 36] }
    };
    let problems: Vec<Targets> = (0..3).map(one).collect();
    for (name, written) in FAMILY {
        let more = if name == "bnb-s3vm" { r#"{"max_nodes": 5}"# } else { "{}" };
        let fitted = made(name, written, more).fit(x.view(), &problems, &()).unwrap();
        let facts = fitted.transduced.unwrap().facts;
        assert_eq!(facts["ratio_from"], "labels".into(), "{name}");
        if name == "bnb-s3vm" {
            assert!(
                facts["nodes"] == 5u32.into() && facts["lambda"].as_f64().unwrap() > 0.0,
                "searched together: {facts:?}"
            );
            continue;
        }
        let each = facts["problems"].as_list().unwrap();
        assert_eq!(each.len(), 3, "{name}: {facts:?}");
        assert!(each.iter().all(|f| f.get("lambda").and_then(ParamValue::as_f64).unwrap() > 0.0), "{name}");
    }
}

#[test]
fn unlabeled_rows_help_where_classes_are_clusters() {
    let (x, labels) = data("g50c", 300, 8);
    let targets = few(&labels, 10);
    let wrong = |s: &[f64]| (10..300).filter(|&i| (s[i] > 0.0) != (labels.of[i] == Some(1))).count();
    for (name, written) in FAMILY.iter().filter(|f| f.0 != "bnb-s3vm") {
        let semi = made(name, written, r#"{"gamma": 0.01, "lambda": 0.01, "ratio": 0.5}"#);
        let alone = semi.supervised().unwrap().fit(x.view(), from_ref(&targets), &()).unwrap();
        let alone = wrong(&alone.model.decision(x.view()).unwrap());
        let with = wrong(scores(&semi.fit(x.view(), from_ref(&targets), &()).unwrap()));
        assert!(with < 40 && 2 * with < alone + 20, "{name} {written}: {with} wrong, {alone} without");
    }
}

#[test]
fn odd_inputs_have_answers() {
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
    let mut two = few(&labels, 0);
    for c in 0..2 {
        let i = labels.of.iter().position(|l| *l == Some(c)).unwrap();
        two.y[i] = [Label::Neg, Label::Pos][c as usize];
    }
    let mut nothing = few(&labels, 12);
    (0..24).filter(|i| i % 5 == 4).for_each(|i| nothing.cost[i] = 0.0);
    for (name, written) in FAMILY.into_iter().chain([("label-propagation", "{}")]) {
        for (what, x, targets) in [
            ("no unlabeled row", &x, few(&labels, 24)),
            ("one unlabeled row", &x, few(&labels, 23)),
            ("two labels", &x, two.clone()),
            ("zero rows", &zeros, few(&labels, 12)),
            ("equal rows", &same, few(&labels, 12)),
            ("rows without weight", &x, nothing.clone()),
        ] {
            let fitted = made(name, written, "{}").fit(x.view(), &[targets], &()).unwrap();
            assert_eq!(scores(&fitted).len(), 24);
            assert!(scores(&fitted).iter().all(|s| s.is_finite()), "{name} {written}, {what}");
            fitted.model.check().unwrap();
            assert!(fitted.model.decision(x.view()).unwrap().iter().all(|f| f.is_finite()));
            assert!(
                matches!(fitted.reports[0].exit, Exit::Converged | Exit::Stalled),
                "{name} {written}, {what}: {:?}",
                fitted.reports
            );
        }
    }
}

#[test]
fn one_class_alone_is_refused() {
    let (x, labels) = data("two-moons", 24, 6);
    let mut targets = few(&labels, 24);
    targets.y.iter_mut().filter(|y| **y == Label::Pos).for_each(|y| *y = Label::Unknown);
    for (name, written) in FAMILY.into_iter().chain([("label-propagation", "{}")]) {
        let error = made(name, written, "{}").fit(x.view(), from_ref(&targets), &()).unwrap_err();
        assert!(error.to_string().contains("two classes"), "{name}: {error}");
    }
}

#[test]
fn threads_change_no_bit() {
    let (x, labels) = data("g50c", 150, 7);
    let targets = few(&labels, 20);
    for (name, written) in FAMILY.into_iter().chain([("label-propagation", "{}")]) {
        let more = match name {
            "bnb-s3vm" => r#"{"max_nodes": 200, "gamma": 0.02}"#,
            _ => r#"{"gamma": 0.02}"#,
        };
        let fit = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let fitted =
                pool.install(|| made(name, written, more).fit(x.view(), from_ref(&targets), &()).unwrap());
            (fitted.model.clone(), fitted.transduced.unwrap().scores)
        };
        let one = fit(1);
        assert!(one == fit(2) && one == fit(4), "{name} {written}");
    }
}

/// Stops after some calls.
struct After(std::sync::atomic::AtomicI64);

impl Watch for After {
    fn proceed(&self, _: &Progress) -> bool {
        self.0.fetch_sub(1, std::sync::atomic::Ordering::Relaxed) > 0
    }
}

#[test]
fn stopped_learners_give_valid_models() {
    let (x, labels) = data("two-moons", 80, 9);
    let targets = few(&labels, 20);
    for (name, written) in FAMILY.into_iter().chain([("label-propagation", "{}")]) {
        for calls in [0, 1, 7] {
            let watch = After(calls.into());
            let fitted = made(name, written, "{}").fit(x.view(), from_ref(&targets), &watch).unwrap();
            fitted.model.check().unwrap();
            assert!(scores(&fitted).iter().all(|s| s.is_finite()));
            assert_eq!(fitted.reports[0].exit, Exit::Interrupted, "{name} {written} {calls}");
        }
    }
}

#[test]
fn a_label_of_weight_two_is_two_labels() {
    let (x, labels) = data("two-moons", 60, 10);
    let mut targets = few(&labels, 16);
    let rows: Vec<usize> = [3, 5].into_iter().chain(0..60).collect();
    let copied = targets.select(&rows);
    targets.cost[3] = 2.0;
    targets.cost[5] = 2.0;
    for (name, written) in FAMILY.iter().filter(|f| f.0 != "bnb-s3vm") {
        let semi = made(name, written, r#"{"lambda": 0.02, "ratio": 0.5, "tolerance": 1e-7}"#);
        let f = semi.fit(x.view(), from_ref(&targets), &()).unwrap();
        let g = semi.fit(x.view().select(&rows).view(), from_ref(&copied), &()).unwrap();
        for (f, g) in scores(&f).iter().zip(&scores(&g)[2..]) {
            assert!((f - g).abs() < 1e-3, "{name} {written}: {f} {g}");
        }
    }
}

/// Two clouds far apart, a quarter positive but half of the labels: `auto` finds the quarter.
#[test]
fn an_estimated_share_is_used_by_every_family() {
    let place = |i: usize| if i.is_multiple_of(4) { 3.0 } else { -3.0 };
    let values = (0..80).flat_map(|i| [place(i) + (i * 7 % 11) as f64 / 11.0, (i * 5 % 13) as f64 / 13.0]);
    let x = Matrix::dense(values.collect(), 80, 2).unwrap();
    let of = (0..80usize).map(|i| Some(u32::from(i.is_multiple_of(4)))).collect();
    let labels = Labels { of, classes: vec!["a".into(), "b".into()] };
    let targets = few(&labels, 8);
    for name in ["da", "tsvm", "label-propagation", "linear-da", "parzen"] {
        let fitted = made(name, r#"{"ratio": "auto"}"#, "{}").fit(x.view(), from_ref(&targets), &()).unwrap();
        let ratio = fitted.transduced.as_ref().unwrap().ratio[0];
        assert_eq!(fitted.transduced.as_ref().unwrap().facts["ratio_from"], "estimate".into(), "{name}");
        assert!((ratio - 18.0 / 72.0).abs() < 0.03, "{name}: {ratio}");
        // the highest rows are positive, as many as the share gives
        let scores = scores(&fitted);
        let positive = |i: &usize| scores[*i] > 0.0;
        assert_eq!((8..80).filter(positive).count(), (72.0 * ratio).round() as usize, "{name}");
        assert!((8..80).filter(|i| i % 4 == 0).all(|i| positive(&i)), "{name}");
    }
}

/// The default of `lambda` goes with the length of rows: in other units of all columns the labels are the same.
#[test]
fn ten_times_the_columns_are_the_same_labels() {
    let (x, labels) = data("g50c", 120, 5);
    let targets = few(&labels, 20);
    let Matrix::Dense { values, rows, cols, .. } = &x else { unreachable!() };
    // off the origin, so that the constant counts
    let moved = |factor: f64| {
        let at = |(k, v): (usize, &f64)| factor * (v + if k % cols == 0 { 3.0 } else { 0.0 });
        Matrix::dense(values.iter().enumerate().map(at).collect(), *rows, *cols).unwrap()
    };
    let (one, ten) = (moved(1.0), moved(10.0));
    let kernel = r#"{"kernel": "linear", "ratio": 0.5, "tolerance": 1e-5}"#;
    let linear = r#"{"ratio": 0.5, "tolerance": 1e-5}"#;
    for (name, written, more) in [
        ("linear-tsvm", linear, "{}"),
        ("linear-tsvm", linear, r#"{"center": true}"#),
        ("linear-tsvm", linear, r#"{"fit_intercept": false}"#),
        ("linear-da", linear, "{}"),
        // without the constant, a feature 1 whose size does not go with that of the others
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
        let fit = made(name, written, more);
        let a = fit.fit(one.view(), from_ref(&targets), &()).unwrap();
        let b = fit.fit(ten.view(), from_ref(&targets), &()).unwrap();
        let differ = scores(&a).iter().zip(scores(&b)).filter(|(a, b)| (**a > 0.0) != (**b > 0.0)).count();
        assert_eq!(differ, 0, "{name} {more}");
        let lambda = |f: &Fitted| f.transduced.as_ref().unwrap().facts["lambda"].as_f64().unwrap();
        assert!((lambda(&b) / lambda(&a) - 100.0).abs() < 1e-9, "{name} {more}");
    }
}

#[test]
fn bad_parameters_are_refused_by_name() {
    let (x, labels) = data("two-moons", 24, 6);
    let targets = few(&labels, 12);
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
        let made = estimator(name).unwrap().make(&params);
        let error = made.and_then(|fit| fit.fit(x.view(), from_ref(&targets), &())).unwrap_err();
        assert_eq!(error.to_string(), text);
    }
}
