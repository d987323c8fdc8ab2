//! Training around the estimators: multiclass schemes, weights, scaling, calibration, cross-validation.

use evermargin::datasets::{GenerateParams, generate};
use evermargin::estimators::ClassWeight;
use evermargin::estimators::{ESTIMATORS, estimator};
use evermargin::model::{CalibrationKind, MulticlassScheme, ScalingName};
use evermargin::params::ParamValues;
use evermargin::pipeline::cross_validation::{PathTask, along_path, held_out, stratified_folds};
use evermargin::pipeline::preprocess::prepare;
use evermargin::pipeline::train::{Gamma, ScalingChoice, TrainOptions, Trained, train};
use evermargin::solver::{Exit, Progress, Watch};
use evermargin::{Labels, Matrix};
use std::sync::atomic::{AtomicUsize, Ordering};

fn data(name: &str, rows: usize, classes: Option<usize>) -> (Matrix, Labels) {
    let params = GenerateParams { rows, classes, seed: 3, ..GenerateParams::default() };
    generate(name, &params).unwrap()
}

fn accuracy(trained: &Trained, x: Matrix, labels: &Labels) -> f64 {
    let found = trained.classifier.predict(x).unwrap();
    let names = &trained.classifier.classes;
    let right = found
        .class
        .iter()
        .zip(&labels.of)
        .filter(|(p, t)| t.is_some_and(|t| labels.classes[t as usize] == names[**p as usize]));
    right.count() as f64 / labels.of.len() as f64
}

#[test]
fn every_estimator_learns_two_and_three_classes() {
    for l in ESTIMATORS.iter().filter(|l| !l.one_class) {
        let (x, labels) = data("g50c", 300, None);
        let plain = TrainOptions { compare: false, ..TrainOptions::new(l.name) };
        let trained = train(x.clone(), &labels, &plain, &()).unwrap();
        assert_eq!(trained.classifier.scheme, MulticlassScheme::Binary);
        assert!(accuracy(&trained, x, &labels) > 0.9, "{}", l.name);

        let (x, labels) = data("waveform", 300, None);
        for (multi, outputs) in
            [(Some(MulticlassScheme::OneVsOne), 3), (Some(MulticlassScheme::OneVsRest), 3), (None, 3)]
        {
            if l.uses_unlabeled && multi == Some(MulticlassScheme::OneVsOne) {
                continue; // refused: an unlabeled row would belong to every pair
            }
            let mut options = plain.clone();
            options.multi = multi;
            let trained = train(x.clone(), &labels, &options, &()).unwrap();
            trained.classifier.check().unwrap();
            assert_eq!(trained.reports.len(), outputs);
            assert!(accuracy(&trained, x.clone(), &labels) > 0.8, "{} {multi:?}", l.name);
        }
    }
}

#[test]
fn a_prepared_model_predicts_single_rows_like_the_whole_table() {
    for (learner, scale) in
        [("svc", ScalingChoice::NONE), ("lasvm", ScalingChoice::Divide(3.0)), ("linear", ScalingChoice::NONE)]
    {
        let (x, labels) = data("waveform", 120, None);
        let options = TrainOptions { scaling: Some(scale), ..TrainOptions::new(learner) };
        let classifier = train(x.clone(), &labels, &options, &()).unwrap().classifier;
        let (whole, ready) = (classifier.predict(x.clone()).unwrap(), classifier.model.ready());
        assert_eq!(classifier.predict_by(&ready, x.view()).unwrap(), whole);
        for i in 0..120 {
            let one = x.view().select(&[i]);
            let prediction = classifier.predict_by(&ready, one.view()).unwrap();
            assert_eq!(prediction, classifier.predict(one).unwrap(), "{learner} {i}");
        }
    }
    let (x, labels) = data("two-moons", 80, None);
    let one = train(x.clone(), &labels, &TrainOptions::new("svc"), &()).unwrap().classifier;
    let half =
        Labels { of: labels.of.iter().enumerate().map(|(i, c)| c.filter(|_| i < 30)).collect(), ..labels };
    let other = train(x.clone(), &half, &TrainOptions::new("svc"), &()).unwrap().classifier;
    assert!(one.predict_by(&other.model.ready(), x.view()).is_err(), "prepared for another model");
}

#[test]
fn unlabeled_rows_do_not_change_a_supervised_model() {
    let (x, labels) = data("two-moons", 120, None);
    let keep: Vec<usize> = (0..120).filter(|i| i % 3 != 0).collect();
    let mut hidden = labels.clone();
    (0..120).filter(|i| i % 3 == 0).for_each(|i| hidden.of[i] = None);
    let part = Labels { of: keep.iter().map(|&i| labels.of[i]).collect(), ..labels.clone() };
    let options = TrainOptions::new("svc");
    let a = train(x.clone(), &hidden, &options, &()).unwrap();
    let b = train(x.view().select(&keep), &part, &options, &()).unwrap();
    assert_eq!(a.classifier, b.classifier);
    assert!(a.notes.iter().any(|n| n == "40 rows without a label are left out"), "{:?}", a.notes);
}

#[test]
fn weight_two_equals_two_copies() {
    let (x, labels) = data("g50c", 80, None);
    // one pass over a stream does not reach the optimum, and two copies are two samples of the stream
    for l in ESTIMATORS.iter().filter(|l| !l.takes("epochs")) {
        let mut options = TrainOptions { compare: false, ..TrainOptions::new(l.name) };
        options.scaling = Some(ScalingChoice::NONE);
        options.gamma = (l.name != "linear").then_some(Gamma::Value(0.02));
        if l.takes("tolerance") {
            options.params.insert("tolerance".into(), 1e-7.into());
        }
        let twice: Vec<usize> = (0..80).chain((0..80).filter(|i| i % 4 == 0)).collect();
        let copies = Labels { of: twice.iter().map(|&i| labels.of[i]).collect(), ..labels.clone() };
        let copied = train(x.view().select(&twice), &copies, &options, &()).unwrap();
        options.weights = Some((0..80).map(|i| if i % 4 == 0 { 2.0 } else { 1.0 }).collect());
        let weighted = train(x.clone(), &labels, &options, &()).unwrap();
        let f = copied.classifier.predict(x.clone()).unwrap().decision;
        let g = weighted.classifier.predict(x.clone()).unwrap().decision;
        for (f, g) in f.iter().zip(&g) {
            assert!((f - g).abs() < 1e-4, "{}: {f} {g}", l.name);
        }
    }
}

/// With default tolerance, kernel width and class weights: small problems are solved to the last digits, and all
/// quantities derived from the data are derived from the weights, too. Weight 0 equals removal.
#[test]
fn integer_weights_equal_copies_to_the_last_digits() {
    let (x, labels) = data("waveform", 45, None);
    let weight = |i: usize| (i * 7 + 3) % 4;
    let often: Vec<usize> = (0..45).flat_map(|i| std::iter::repeat_n(i, weight(i))).collect();
    let copies = Labels { of: often.iter().map(|&i| labels.of[i]).collect(), ..labels.clone() };
    for name in ["svc", "linear", "rls", "ramp-svc"] {
        for class_weight in [ClassWeight::None, ClassWeight::Balanced, ClassWeight::Ratio] {
            let mut options = TrainOptions { class_weight, ..TrainOptions::new(name) };
            options.scaling = Some(ScalingChoice::NONE);
            let copied = train(x.view().select(&often), &copies, &options, &()).unwrap();
            options.weights = Some((0..45).map(|i| weight(i) as f64).collect());
            let weighted = train(x.clone(), &labels, &options, &()).unwrap();
            let f = copied.classifier.predict(x.clone()).unwrap().decision;
            let g = weighted.classifier.predict(x.clone()).unwrap().decision;
            let apart = f.iter().zip(&g).map(|(f, g)| (f - g).abs()).fold(0.0, f64::max);
            assert!(apart < 1e-8, "{name}: {apart}");
        }
    }
}

#[test]
fn every_semi_supervised_estimator_is_compared_with_a_supervised_baseline() {
    let (x, labels) = data("two-moons", 60, None);
    let mut left = [4, 4];
    let mut few = labels.clone();
    for class in &mut few.of {
        let room = class.map_or(0, |c| left[c as usize]);
        match class {
            Some(c) if room > 0 => left[*c as usize] -= 1,
            _ => *class = None,
        }
    }
    for l in ESTIMATORS.iter().filter(|l| l.uses_unlabeled) {
        let mut options = TrainOptions::new(l.name);
        if l.takes("max_nodes") {
            options.params.insert("max_nodes".into(), 20.into());
        }
        let found = train(x.clone(), &few, &options, &()).unwrap_or_else(|e| panic!("{}: {e}", l.name));
        let Some(baseline) = found.semi.unwrap().baseline else {
            assert!(["parzen", "seq-lapmed"].contains(&l.name) || l.name.is_empty(), "{}", l.name);
            continue;
        };
        assert!(baseline.cross_validated.is_some(), "{}", l.name);
    }
}

/// The same for labeled rows among unlabeled ones. Estimators with neighbor graphs are left out, because a copy is another
/// neighbor.
#[test]
fn semi_supervised_weight_two_equals_two_copies() {
    let (x, labels) = data("g50c", 60, None);
    let kept = |i: usize| labels.of[i].filter(|_| i < 12);
    for l in ESTIMATORS.iter().filter(|l| l.uses_unlabeled && !l.takes("n_neighbors")) {
        let mut options = TrainOptions { compare: false, ..TrainOptions::new(l.name) };
        options.scaling = Some(ScalingChoice::NONE);
        options.gamma = l.takes("gamma").then_some(Gamma::Value(0.02));
        options.params.insert("ratio".into(), 0.5.into());
        if l.takes("tolerance") {
            options.params.insert("tolerance".into(), 1e-7.into());
        }
        if l.takes("max_nodes") {
            options.params.insert("max_nodes".into(), 20.into());
        }
        let twice: Vec<usize> = (0..60).chain([0, 4, 8]).collect();
        let copies = Labels { of: twice.iter().map(|&i| kept(i)).collect(), ..labels.clone() };
        let copied = train(x.view().select(&twice), &copies, &options, &()).unwrap();
        options.weights = Some((0..60).map(|i| if [0, 4, 8].contains(&i) { 2.0 } else { 1.0 }).collect());
        let few = Labels { of: (0..60).map(kept).collect(), ..labels.clone() };
        let weighted = train(x.clone(), &few, &options, &()).unwrap();
        let f = copied.classifier.predict(x.clone()).unwrap().decision;
        let g = weighted.classifier.predict(x.clone()).unwrap().decision;
        for (f, g) in f.iter().zip(&g) {
            assert!((f - g).abs() < 1e-4, "{}: {f} {g}", l.name);
        }
    }
}

#[test]
fn balanced_class_weights_equal_explicit_weights() {
    let params = GenerateParams { rows: 200, imbalance: Some(0.1), seed: 1, ..GenerateParams::default() };
    let (x, labels) = generate("g50c", &params).unwrap();
    let counts = labels.counts();
    let mut options = TrainOptions::new("svc");
    options.class_weight = ClassWeight::Balanced;
    let balanced = train(x.clone(), &labels, &options, &()).unwrap();
    let weights = labels.classes.iter().zip(&counts).map(|(c, n)| (c.clone(), 100.0 / *n as f64)).collect();
    options.class_weight = ClassWeight::Explicit(weights);
    let explicit = train(x, &labels, &options, &()).unwrap();
    assert_eq!(balanced.classifier.model, explicit.classifier.model);
}

#[test]
fn gamma_scale_and_auto_follow_their_formulas() {
    let x = Matrix::dense(vec![0.0, 1.0, 0.5, 0.25, 1.0, 0.0], 3, 2).unwrap();
    let labels = Labels::from_tokens(["a", "b", "a"].into_iter().map(Some));
    let svc = estimator("svc").unwrap();
    let mut options = TrainOptions::new("svc");
    options.scaling = Some(ScalingChoice::NONE);
    let dense = prepare(x.clone(), &labels, svc, &options).unwrap();
    let sparse = prepare(x.view().to_csr(), &labels, svc, &options).unwrap();
    let values = [0.0, 1.0, 0.5, 0.25, 1.0, 0.0f64];
    let mean = values.iter().sum::<f64>() / 6.0;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 6.0;
    for p in [&dense, &sparse] {
        assert!((p.gamma(Gamma::Scale) - 1.0 / (2.0 * variance)).abs() < 1e-12);
        assert_eq!(p.gamma(Gamma::Auto), 0.5);
        assert_eq!(p.gamma(Gamma::Value(7.0)), 7.0);
    }
}

#[test]
fn held_out_decisions_equal_models_trained_without_the_fold() {
    let (x, labels) = data("two-moons", 60, None);
    let svc = estimator("svc").unwrap();
    let mut options = TrainOptions::new("svc");
    options.scaling = Some(ScalingChoice::NONE);
    options.gamma = Some(Gamma::Value(2.0));
    options.params.insert("tolerance".into(), 1e-8.into());
    let prepared = prepare(x.clone(), &labels, svc, &options).unwrap();
    let folds = stratified_folds(&labels, 3, 1).unwrap();
    let mut params = options.params.clone();
    params.insert("gamma".into(), 2.0.into());
    let fit = svc.make(&params).unwrap();
    let (decision, _) = held_out(&fit, x.view(), &prepared.problems, &folds, &()).unwrap();
    for fold in 0..3 {
        let inside: Vec<usize> = (0..60).filter(|&i| folds[i] != Some(fold)).collect();
        let part = Labels { of: inside.iter().map(|&i| labels.of[i]).collect(), ..labels.clone() };
        let trained = train(x.view().select(&inside), &part, &options, &()).unwrap();
        let all = trained.classifier.predict(x.clone()).unwrap().decision;
        for i in (0..60).filter(|&i| folds[i] == Some(fold)) {
            assert!((all[i] - decision[i]).abs() < 1e-4, "{} {}", all[i], decision[i]);
        }
    }
    let task = PathTask {
        params: &params,
        name: "c",
        values: &[1.0, 10.0],
        x: x.view(),
        problems: &prepared.problems,
        folds: &folds,
        graph: None,
    };
    let path = along_path(svc, &task, &()).unwrap();
    assert_eq!(path.len(), 2);
    for (a, b) in path[0].iter().zip(&decision) {
        assert!((a - b).abs() < 1e-4, "{a} {b}");
    }
}

#[test]
fn probabilities_are_monotone_in_the_decision_and_sum_to_one() {
    for (name, kind) in [("g50c", CalibrationKind::Sigmoid), ("waveform", CalibrationKind::Isotonic)] {
        let (x, labels) = data(name, 300, None);
        let mut options = TrainOptions::new("svc");
        options.calibration = Some(kind);
        let trained = train(x.clone(), &labels, &options, &()).unwrap();
        let p = trained.classifier.predict(x).unwrap();
        let probability = p.probability.unwrap();
        let k = labels.classes.len();
        for (row, class) in probability.chunks(k).zip(&p.class) {
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            assert!(row.iter().all(|p| (0.0..=1.0).contains(p)));
            let _ = class;
        }
        if k == 2 {
            let mut order: Vec<usize> = (0..300).collect();
            order.sort_by(|a, b| p.decision[*a].total_cmp(&p.decision[*b]));
            assert!(order.windows(2).all(|w| probability[2 * w[0] + 1] <= probability[2 * w[1] + 1] + 1e-12));
        }
    }
}

#[test]
fn learns_from_a_column_of_small_scale() {
    // Noise in [−1, 1], and a column of size 1e-4 whose sign is the class.
    let noise = |i: usize| ((i * 7919) % 1000) as f64 / 500.0 - 1.0;
    let class = |i: usize| (i * 31 % 7) % 2;
    let values = (0..300).flat_map(|i| [noise(i), 1e-4 * (class(i) as f64 - 0.5)]).collect();
    let x = Matrix::dense(values, 300, 2).unwrap();
    let labels = Labels::from_tokens((0..300).map(|i| Some(["a", "b"][class(i)])));
    for x in [x.clone(), x.view().to_csr()] {
        let trained = train(x.clone(), &labels, &TrainOptions::new("svc"), &()).unwrap();
        assert!(accuracy(&trained, x, &labels) > 0.98, "{:?}", trained.notes);
    }
}

/// Stops training at once.
struct StopImmediately;

impl Watch for StopImmediately {
    fn proceed(&self, _: &Progress) -> bool {
        false
    }
}

/// Counts calls, and stops training after a number of them.
struct StopAfter {
    asked: AtomicUsize,
    most: usize,
}

impl StopAfter {
    fn new(most: usize) -> Self {
        Self { asked: AtomicUsize::new(0), most }
    }
}

impl Watch for StopAfter {
    fn proceed(&self, _: &Progress) -> bool {
        self.asked.fetch_add(1, Ordering::SeqCst) < self.most
    }
}

#[test]
fn an_interrupted_path_returns_the_finished_values() {
    let (x, labels) = data("waveform", 150, None);
    let folds = stratified_folds(&labels, 3, 1).unwrap();
    for (l, cache) in ESTIMATORS.iter().filter(|l| l.takes("c")).flat_map(|l| [(l, 1 << 30), (l, 40_000)]) {
        let prepared = prepare(x.clone(), &labels, l, &TrainOptions::new(l.name)).unwrap();
        let mut params = ParamValues::new();
        if l.takes("cache_bytes") {
            params.insert("cache_bytes".into(), cache.into());
        }
        if l.takes("gamma") {
            params.insert("gamma".into(), 0.05.into());
        }
        let task = PathTask {
            params: &params,
            name: "c",
            values: &[0.1, 1.0, 10.0, 100.0],
            x: prepared.x.view(),
            problems: &prepared.problems,
            folds: &folds,
            graph: None,
        };
        let all = StopAfter::new(usize::MAX);
        let whole = along_path(l, &task, &all).unwrap();
        assert_eq!(whole.len(), 4);
        let asked = all.asked.into_inner();
        let mut finished = Vec::new();
        for share in 0..4 {
            let part = along_path(l, &task, &StopAfter::new(asked * share / 4)).unwrap();
            assert_eq!(part, whole[..part.len()], "{}", l.name);
            finished.push(part.len());
        }
        assert!(finished[0] == 0 && finished[3] > 0 && finished[3] < 4, "{} {finished:?}", l.name);
    }
}

#[test]
fn the_linear_path_uses_warm_starts_and_equals_separate_fits() {
    let linear = estimator("linear").unwrap();
    // Fewer than ten rows per column (coordinate descent), and more (Newton only).
    for (name, rows) in [("g50c", 200), ("waveform", 600)] {
        let (x, labels) = data(name, rows, None);
        let prepared = prepare(x, &labels, linear, &TrainOptions::new("linear")).unwrap();
        let folds = stratified_folds(&labels, 3, 1).unwrap();
        let params = ParamValues::from_iter([("tolerance".to_string(), 1e-6.into())]);
        let values = [0.1, 0.2, 0.4, 0.8, 1.6];
        let task = PathTask {
            params: &params,
            name: "c",
            values: &values,
            x: prepared.x.view(),
            problems: &prepared.problems,
            folds: &folds,
            graph: None,
        };
        let (warm, cold) = (StopAfter::new(usize::MAX), StopAfter::new(usize::MAX));
        let path = along_path(linear, &task, &warm).unwrap();
        assert_eq!(path.len(), 5);
        for (c, found) in values.iter().zip(&path) {
            let mut params = params.clone();
            params.insert("c".into(), (*c).into());
            let fit = linear.make(&params).unwrap();
            let (expected, _) = held_out(&fit, prepared.x.view(), &prepared.problems, &folds, &cold).unwrap();
            assert!(found.iter().zip(&expected).all(|(f, g)| (f - g).abs() < 1e-3), "{name} {c}");
        }
        let (warm, cold) = (warm.asked.into_inner(), cold.asked.into_inner());
        assert!(warm < cold, "{name}: {warm} {cold}");
    }
}

#[test]
fn an_interrupt_leaves_a_valid_model() {
    let (x, labels) = data("waveform", 200, None);
    for l in ESTIMATORS.iter().filter(|l| l.name != "rls" && !l.one_class) {
        let mut options = TrainOptions::new(l.name);
        options.calibration = Some(CalibrationKind::Sigmoid);
        let trained = train(x.clone(), &labels, &options, &StopImmediately).unwrap();
        trained.classifier.check().unwrap();
        assert!(trained.reports.iter().any(|r| r.exit == Exit::Interrupted), "{}", l.name);
        assert!(trained.classifier.calibration.is_empty());
        assert!(trained.notes.iter().any(|n| n.starts_with("interrupted before")), "{:?}", trained.notes);
        let p = trained.classifier.predict(x.clone()).unwrap();
        assert!(p.decision.iter().all(|f| f.is_finite()));
    }
}

#[test]
fn refuses_unusable_labels_weights_and_parameters() {
    let (x, labels) = data("two-moons", 20, None);
    let error_of = |x: Matrix, labels: &Labels, options: &TrainOptions| {
        train(x, labels, options, &()).unwrap_err().to_string()
    };
    let options = TrainOptions::new("svc");
    let none = Labels { of: vec![None; 20], ..labels.clone() };
    assert!(error_of(x.clone(), &none, &options).starts_with("no row has a label"));
    let one = Labels { of: vec![Some(1); 20], ..labels.clone() };
    assert_eq!(
        error_of(x.clone(), &one, &options),
        "training needs two classes or more; all 20 labeled rows are of class 1"
    );
    let mut wrong = options.clone();
    wrong.weights = Some(vec![1.0; 3]);
    assert_eq!(error_of(x.clone(), &labels, &wrong), "weights: expected 20, found 3");
    let mut wrong = options.clone();
    wrong.class_weight = ClassWeight::Explicit([("yes".to_string(), 2.0)].into());
    assert_eq!(error_of(x.clone(), &labels, &wrong), "parameter class_weight = yes: must be one of -1, 1");
    let mut wrong = options.clone();
    wrong.params.insert("kernel".into(), "precomputed".into());
    wrong.scaling = Some(ScalingChoice::Named(ScalingName::Minmax));
    assert_eq!(error_of(x.clone(), &labels, &wrong), "columns of a precomputed kernel: expected 20, found 2");
    let mut wrong = options;
    wrong.gamma = Some(Gamma::Value(-1.0));
    assert_eq!(error_of(x, &labels, &wrong), "parameter gamma = -1: must be a positive number");
}

/// `rows` rows of one feature, with `classes` classes in turn.
fn classes_in_turn(rows: usize, classes: usize) -> (Matrix, Labels) {
    let names: Vec<String> = (0..rows).map(|i| format!("{}", i % classes)).collect();
    let labels = Labels::from_tokens(names.iter().map(|n| Some(n.as_str())));
    (Matrix::dense((0..rows).map(|i| (i % classes) as f64).collect(), rows, 1).unwrap(), labels)
}

#[test]
fn refuses_labels_with_too_many_distinct_values() {
    for (rows, classes) in [(2000, 2000), (2000, 1001)] {
        let (x, labels) = classes_in_turn(rows, classes);
        let error = train(x, &labels, &TrainOptions::new("svc"), &()).unwrap_err().to_string();
        let start = format!("{classes} different labels in {rows} labeled rows ");
        assert!(error.starts_with(&start) && error.contains("name that column"), "{error}");
    }
    let numbers: Vec<String> = (0..21).map(|i| format!("{}.5", i % 11)).collect();
    let labels = Labels::from_tokens(numbers.iter().map(|n| Some(n.as_str())));
    let error =
        train(classes_in_turn(21, 11).0, &labels, &TrainOptions::new("svc"), &()).unwrap_err().to_string();
    assert!(error.starts_with("11 different labels in 21 labeled rows "), "{error}");
}

#[test]
fn accepts_one_label_per_class() {
    for (rows, classes) in [(5, 3), (20, 20)] {
        let (x, labels) = classes_in_turn(rows, classes);
        for learner in ["svc", "linear"] {
            assert!(train(x.clone(), &labels, &TrainOptions::new(learner), &()).is_ok(), "{learner} {rows}");
        }
    }
}

#[test]
fn the_number_of_multiclass_problems_is_limited_by_memory() {
    let svc = estimator("svc").unwrap();
    let mut options = TrainOptions::new("svc");
    let (x, labels) = classes_in_turn(90, 30);
    let pairs = prepare(x, &labels, svc, &options).unwrap();
    assert_eq!((pairs.scheme, pairs.problems.len()), (MulticlassScheme::OneVsOne, 435));
    let (x, labels) = classes_in_turn(93, 31);
    let rest = prepare(x.clone(), &labels, svc, &options).unwrap();
    assert_eq!((rest.scheme, rest.problems.len()), (MulticlassScheme::OneVsRest, 31));
    assert!(rest.notes.iter().any(|n| n.starts_with("31 classes: one-vs-rest is used")), "{:?}", rest.notes);
    options.multi = Some(MulticlassScheme::OneVsOne);
    assert_eq!(prepare(x, &labels, svc, &options).unwrap().problems.len(), 465);

    // 499 500 pairs of 2000 rows; 11 000 classes; 9000 classes of 70 000 rows
    let error_of = |rows: usize, classes: usize, options: &TrainOptions| {
        let (x, labels) = classes_in_turn(rows, classes);
        prepare(x, &labels, svc, options).unwrap_err().to_string()
    };
    let error = error_of(2000, 1000, &options);
    assert!(error.contains("499500 problems of 9.0 GB") && error.ends_with("(one-vs-rest)"), "{error}");
    options.multi = None;
    for (rows, classes) in [(22_000, 11_000), (70_000, 9000)] {
        let error = error_of(rows, classes, &options);
        assert!(error.ends_with("use fewer classes or rows"), "{error}");
    }
}

#[test]
fn a_precomputed_kernel_gives_the_decisions_of_the_kernel() {
    let (x, labels) = data("two-moons", 60, None);
    let mut options = TrainOptions::new("svc");
    options.scaling = Some(ScalingChoice::NONE);
    options.params.insert("tolerance".into(), 1e-7.into());
    options.gamma = Some(Gamma::Value(1.5));
    let plain = train(x.clone(), &labels, &options, &()).unwrap();
    let kernel = evermargin::Kernel::Rbf { gamma: 1.5 };
    let gram: Vec<f64> = (0..3600).map(|k| kernel.eval(x.view().row(k / 60), x.view().row(k % 60))).collect();
    let gram = Matrix::dense(gram, 60, 60).unwrap();
    options.params.insert("kernel".into(), "precomputed".into());
    options.gamma = None;
    options.scaling = None;
    let given = train(gram.clone(), &labels, &options, &()).unwrap();
    let f = plain.classifier.predict(x).unwrap().decision;
    let g = given.classifier.predict(gram).unwrap().decision;
    assert!(f.iter().zip(&g).all(|(f, g)| (f - g).abs() < 1e-4));
}
