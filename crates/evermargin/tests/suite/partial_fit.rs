//! Online learners that begin with declared classes.

use evermargin::datasets::{GenerateParams, generate};
use evermargin::estimators::online::lasvm::Lasvm;
use evermargin::metrics::Criterion;
use evermargin::model::{Model, MulticlassScheme, ScalingName};
use evermargin::pipeline::partial_fit::{ONLINE, OnlineCheckpoint, PartialFitOptions, partial_fit};
use evermargin::pipeline::train::{ScalingChoice, TrainOptions, train};
use evermargin::{Labels, Matrix};
use serde_json::json;

fn waveform(rows: usize) -> (Matrix, Labels) {
    generate("waveform", &GenerateParams { rows, seed: 5, ..GenerateParams::default() }).unwrap()
}

fn options(learner: &str, params: serde_json::Value) -> TrainOptions {
    let params = serde_json::from_value(params).unwrap();
    TrainOptions {
        params,
        scaling: Some(ScalingChoice::Named(ScalingName::Standard)),
        ..TrainOptions::new(learner)
    }
}

/// The rows of the given classes, in their order.
fn rows_of(x: &Matrix, labels: &Labels, classes: &[u32]) -> (Matrix, Labels) {
    let keep: Vec<usize> =
        (0..x.rows()).filter(|&i| labels.of[i].is_some_and(|c| classes.contains(&c))).collect();
    let of = keep.iter().map(|&i| labels.of[i]).collect();
    (x.view().select(&keep), Labels { classes: labels.classes.clone(), of })
}

fn default_options() -> PartialFitOptions<'static> {
    PartialFitOptions { seed: 1, ..PartialFitOptions::default() }
}

#[test]
fn beginning_a_checkpoint_and_learning_equals_training() {
    let (waves, three) = waveform(200);
    let (moons, two) =
        generate("two-moons", &GenerateParams { rows: 150, seed: 2, ..Default::default() }).unwrap();
    for (learner, _) in ONLINE {
        for (x, labels) in [(&waves, &three), (&moons, &two)] {
            for multi in [Some(MulticlassScheme::OneVsRest), Some(MulticlassScheme::OneVsOne)] {
                for x in [x.clone(), x.view().to_csr()] {
                    let options = TrainOptions { multi, ..options(learner, json!({ "epochs": 2, "c": 2 })) };
                    let whole = train(x.clone(), labels, &options, &()).unwrap();
                    let initial = OnlineCheckpoint::begin(&options, &labels.classes, x.view()).unwrap();
                    initial.check().unwrap();
                    let (trained, next) = partial_fit(&initial, x, labels, default_options(), &()).unwrap();
                    assert_eq!(trained.classifier, whole.classifier, "{learner} {multi:?}");
                    let saved = &whole.online.as_ref().unwrap().saved;
                    let kept = OnlineCheckpoint::new(
                        &whole.classifier,
                        whole.online.as_ref().unwrap(),
                        &whole.counts,
                    );
                    assert_eq!(next.saved.outputs, saved.outputs, "{learner}");
                    assert_eq!(next, OnlineCheckpoint { saved: next.saved.clone(), ..kept }, "{learner}");
                }
            }
        }
    }
}

/// A class that appears late costs nothing in the end: learners that keep all points reach the optimum of all rows.
/// Checked without and with a bias, with tolerance 1e-7, where sums of coefficients are several tens.
#[test]
fn late_classes_reach_the_solution_of_training_on_all_rows() {
    let (x, labels) = waveform(150);
    for learner in ["full-svm", "local-svc"] {
        for multi in [Some(MulticlassScheme::OneVsRest), Some(MulticlassScheme::OneVsOne)] {
            let params = json!({ "finish": true, "tolerance": 1e-7, "gamma": 0.05 });
            let mut options = TrainOptions { multi, ..options(learner, params) };
            options.params.remove("gamma");
            options.gamma = Some(evermargin::pipeline::train::Gamma::Value(0.05));
            options.scaling = Some(ScalingChoice::NONE);
            let whole =
                train(x.clone(), &labels, &options, &()).unwrap().classifier.predict(x.clone()).unwrap();
            let initial = OnlineCheckpoint::begin(&options, &labels.classes, x.view()).unwrap();
            let (early, few) = rows_of(&x, &labels, &[0]);
            let (_, next) = partial_fit(&initial, early, &few, default_options(), &()).unwrap();
            let (more, some) = rows_of(&x, &labels, &[2]);
            let (_, next) = partial_fit(&next, more, &some, default_options(), &()).unwrap();
            let (late, rest) = rows_of(&x, &labels, &[1]);
            let (trained, next) = partial_fit(&next, late, &rest, default_options(), &()).unwrap();
            assert_eq!(next.head.counts, labels.counts());
            let prediction = trained.classifier.predict(x.clone()).unwrap();
            for (a, b) in prediction.decision.iter().zip(&whole.decision) {
                assert!((a - b).abs() < 1e-3, "{learner} {multi:?}: {a} {b}");
            }
        }
    }
}

#[test]
fn predicts_only_classes_seen_so_far() {
    let (x, labels) = waveform(240);
    let far = Matrix::dense(vec![1e6; 21], 1, 21).unwrap();
    for (learner, _) in ONLINE {
        for multi in [Some(MulticlassScheme::OneVsRest), Some(MulticlassScheme::OneVsOne)] {
            let case = format!("{learner} {multi:?}");
            let options = TrainOptions { multi, ..options(learner, json!({})) };
            for one in 0..3u32 {
                let initial = OnlineCheckpoint::begin(&options, &labels.classes, x.view()).unwrap();
                let (early, few) = rows_of(&x, &labels, &[one]);
                let (trained, next) = partial_fit(&initial, early, &few, default_options(), &()).unwrap();
                trained.classifier.check().unwrap();
                for rows in [&x, &far] {
                    let prediction = trained.classifier.predict(rows.clone()).unwrap();
                    assert!(prediction.class.iter().all(|c| *c == one), "{case}");
                    assert!(prediction.decision.iter().all(|f| f.is_finite()), "{case}");
                }
                let other = (one + 1) % 3;
                let (more, some) = rows_of(&x, &labels, &[other]);
                let (trained, next) = partial_fit(&next, more, &some, default_options(), &()).unwrap();
                let prediction = trained.classifier.predict(x.clone()).unwrap();
                assert!(prediction.class.iter().all(|c| [one, other].contains(c)), "{case}");
                assert!(trained.classifier.predict(far.clone()).unwrap().class[0] != (one + 2) % 3, "{case}");
                let (late, rest) = rows_of(&x, &labels, &[(one + 2) % 3]);
                let (trained, _) = partial_fit(&next, late, &rest, default_options(), &()).unwrap();
                let prediction = trained.classifier.predict(x.clone()).unwrap();
                let right = prediction.class.iter().zip(&labels.of).filter(|(a, b)| Some(**a) == **b).count();
                // rows sorted by class are the worst order for a single pass
                assert!(right > 240 * 7 / 10, "{case}: {right} of 240");
            }
        }
    }
}

#[test]
fn a_declared_class_without_rows_needs_few_extra_points() {
    let (x, labels) = waveform(900);
    let (x, labels) = rows_of(&x, &labels, &[0, 1]);
    let mut declared = labels.classes.clone();
    let options = options("lasvm", json!({}));
    let points = |classes: &[String]| {
        let initial = OnlineCheckpoint::begin(&options, classes, x.view()).unwrap();
        let labels = Labels { classes: classes.to_vec(), ..labels.clone() };
        let (_, next) = partial_fit(&initial, x.clone(), &labels, default_options(), &()).unwrap();
        Lasvm::resume(&next.saved).unwrap().len()
    };
    let alone = points(&declared[..2]);
    declared.push("9".into());
    let with = points(&declared);
    assert!(
        with <= 2 * alone && with < x.rows() * 3 / 4,
        "{with} points, {alone} without, {} rows",
        x.rows()
    );
}

#[test]
fn an_output_activated_late_keeps_the_invariants_of_the_dual() {
    let (x, labels) = waveform(120);
    let options = options("lasvm-g", json!({ "c": 3 }));
    let initial = OnlineCheckpoint::begin(&options, &labels.classes, x.view()).unwrap();
    let (early, few) = rows_of(&x, &labels, &[0, 2]);
    let weights: Vec<f64> = (0..early.rows()).map(|i| 1.0 + (i % 3) as f64).collect();
    let weighted = PartialFitOptions { weights: Some(&weights), ..default_options() };
    let (_, next) = partial_fit(&initial, early, &few, weighted, &()).unwrap();
    let (late, rest) = rows_of(&x, &labels, &[1]);
    let (_, next) = partial_fit(&next, late, &rest, default_options(), &()).unwrap();
    let state = Lasvm::resume(&next.saved).unwrap();
    let points = state.points().view();
    let kernel = state.params().kernel;
    for j in 0..3 {
        let dual = state.output(j);
        for i in 0..dual.len() {
            let f: f64 =
                (0..dual.len()).map(|k| dual.alpha()[k] * kernel.eval(points.row(i), points.row(k))).sum();
            // kernel values are single precision
            assert!((dual.gradient()[i] - (dual.target()[i] - f)).abs() < 1e-3, "output {j}, point {i}");
            let width = |j: usize| state.output(j).bounds(i).1 - state.output(j).bounds(i).0;
            assert_eq!(width(j), width(0), "a point has the same cost in every output");
        }
    }
}

#[test]
fn refuses_invalid_initial_options() {
    let (x, labels) = waveform(30);
    let names = labels.classes.clone();
    let refused = |options: &TrainOptions, classes: &[String]| {
        OnlineCheckpoint::begin(options, classes, x.view()).unwrap_err().to_string()
    };
    let plain = options("lasvm", json!({}));
    assert!(
        refused(&options("svc", json!({})), &names)
            .starts_with("parameter learner = svc: must be an online learner: ")
    );
    assert!(refused(&plain, &names[..1]).contains("from 2 to 10000"));
    assert!(refused(&plain, &[names[0].clone(), names[0].clone()]).contains("named once each"));
    let cut = TrainOptions { threshold: Some(Criterion::Rate(0.5)), ..plain.clone() };
    assert!(refused(&cut, &names).starts_with("parameter threshold = given: must be omitted"));
    assert!(refused(&options("lasvm", json!({ "c": -1 })), &names).contains("parameter c = -1"));
    let none = Matrix::empty(21, false);
    assert!(OnlineCheckpoint::begin(&plain, &names, none.view()).is_err());
    let initial = OnlineCheckpoint::begin(&plain, &names, x.view()).unwrap();
    let other = Labels { classes: vec!["new".into()], of: vec![Some(0); 30] };
    let error = partial_fit(&initial, x.clone(), &other, default_options(), &()).unwrap_err().to_string();
    assert!(error.starts_with("class new is new: the state has 1, 2, 3;"), "{error}");
    let model = Lasvm::resume(&initial.saved).unwrap().model();
    assert!(
        matches!(initial.classifier(model).model, Model::Linear { .. }),
        "an untrained state gives a model"
    );
}
