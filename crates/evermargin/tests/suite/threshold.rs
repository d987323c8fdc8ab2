//! Class weights by class ratio, and thresholds chosen on held-out decisions, for every estimator of the registry.

use evermargin::datasets::{GenerateParams, generate};
use evermargin::estimators::ClassWeight;
use evermargin::estimators::{ESTIMATORS, EstimatorSpec, estimator};
use evermargin::metrics::{Confusion, Criterion, best_threshold};
use evermargin::model::CalibrationKind;
use evermargin::pipeline::cross_validation::{held_out, stratified_folds};
use evermargin::pipeline::preprocess::prepare;
use evermargin::pipeline::train::{Gamma, ScalingChoice, TrainOptions, Trained, train};
use evermargin::solver::{Progress, Watch};
use evermargin::{Labels, Matrix, Model};
use std::sync::atomic::{AtomicUsize, Ordering};

const CRITERIA: [Criterion; 5] =
    [Criterion::GMeans, Criterion::F1, Criterion::Accuracy, Criterion::Mcc, Criterion::BreakEven];

/// Waveform data: the first class of Breiman against the rest, with one positive row for every `ratio` negative rows.
fn waves(rows: usize, ratio: f64, seed: u64) -> (Matrix, Labels) {
    let params =
        GenerateParams { rows, classes: Some(2), imbalance: Some(ratio), seed, ..GenerateParams::default() };
    generate("waveform", &params).unwrap()
}

fn g_means(trained: &Trained, (x, labels): &(Matrix, Labels)) -> f64 {
    let found = trained.classifier.predict(x.clone()).unwrap().class;
    let truth: Vec<u32> = labels.of.iter().map(|c| c.unwrap()).collect();
    Confusion::new(&truth, &found, &[], 2).unwrap().g_means().unwrap()
}

fn bias(model: &Model) -> f64 {
    model.bias()[0]
}

fn quick_options(learner: &str) -> TrainOptions {
    let mut options = TrainOptions::new(learner);
    options.scaling = Some(ScalingChoice::NONE);
    if learner != "linear" {
        options.gamma = Some(Gamma::Value(0.02));
    }
    options
}

#[test]
fn a_tuned_threshold_and_ratio_weights_beat_the_default_threshold() {
    let (x, labels) = waves(600, 16.0, 1);
    let test = waves(2000, 1.0, 2);
    let mut options = quick_options("svc");
    let raw = g_means(&train(x.clone(), &labels, &options, &()).unwrap(), &test);
    options.threshold = Some(Criterion::GMeans);
    let tuned = g_means(&train(x.clone(), &labels, &options, &()).unwrap(), &test);
    options.threshold = None;
    options.class_weight = ClassWeight::Ratio;
    let costly = g_means(&train(x, &labels, &options, &()).unwrap(), &test);
    // measured: 0.63, 0.90 and 0.83
    assert!(raw < 0.7 && tuned > raw + 0.1 && costly > raw + 0.1, "{raw} {tuned} {costly}");
}

/// Held-out decisions of all rows, with the parameters of [`quick_options`].
fn held_out_decisions(l: &EstimatorSpec, x: &Matrix, labels: &Labels, options: &TrainOptions) -> Vec<f64> {
    let prepared = prepare(x.clone(), labels, l, options).unwrap();
    let mut params = options.params.clone();
    if l.takes("gamma") {
        params.insert("gamma".into(), 0.02.into());
    }
    let fit = l.make(&params).unwrap();
    let folds = stratified_folds(labels, options.folds, options.seed).unwrap();
    held_out(&fit, x.view(), &prepared.problems, &folds, &()).unwrap().0
}

fn positive(labels: &Labels) -> Vec<bool> {
    labels.of.iter().map(|c| *c == Some(1)).collect()
}

#[test]
fn the_bias_is_shifted_by_the_threshold_found_on_held_out_rows() {
    let (x, labels) = waves(200, 6.0, 3);
    for l in ESTIMATORS.iter().filter(|l| !l.one_class) {
        let mut options = TrainOptions { compare: false, ..quick_options(l.name) };
        if l.takes("max_nodes") {
            // a fold hides many rows, and the search over their labels is expensive
            options.params.insert("max_nodes".into(), 5.into());
        }
        let raw = train(x.clone(), &labels, &options, &()).unwrap();
        let held_out_decisions = held_out_decisions(l, &x, &labels, &options);
        for criterion in CRITERIA {
            let found =
                best_threshold(&held_out_decisions, &positive(&labels), &[], criterion).unwrap().value;
            let options = TrainOptions { threshold: Some(criterion), ..options.clone() };
            let tuned = train(x.clone(), &labels, &options, &()).unwrap().classifier;
            let shift = bias(&raw.classifier.model) - bias(&tuned.model);
            assert!((shift - found).abs() < 1e-12, "{} {criterion:?}: {shift} {found}", l.name);
            assert_eq!(tuned.params["threshold"], criterion.name().into());
            assert_eq!(tuned.params["threshold_value"], found.into());
            tuned.check().unwrap();
        }
    }
}

#[test]
fn criterion_rate_sets_the_fraction_of_positive_predictions() {
    let (x, labels) = waves(800, 3.0, 5);
    for rate in [0.1, 0.25, 0.6] {
        let options = TrainOptions { threshold: Some(Criterion::Rate(rate)), ..quick_options("linear") };
        let model = train(x.clone(), &labels, &options, &()).unwrap().classifier;
        let predicted = model.predict(x.clone()).unwrap().class.iter().filter(|c| **c == 1).count();
        assert!((predicted as f64 / 800.0 - rate).abs() < 0.05, "{rate} {predicted}");
    }
}

/// Probabilities are a function of the row and do not change with the threshold.
#[test]
fn a_threshold_shift_does_not_change_calibrated_probabilities() {
    let (x, labels) = waves(300, 5.0, 7);
    let mut options = quick_options("svc");
    options.calibration = Some(CalibrationKind::Sigmoid);
    let raw = train(x.clone(), &labels, &options, &()).unwrap().classifier;
    options.threshold = Some(Criterion::GMeans);
    let tuned = train(x.clone(), &labels, &options, &()).unwrap().classifier;
    let (a, b) = (raw.predict(x.clone()).unwrap(), tuned.predict(x).unwrap());
    let moved = a.decision.iter().zip(&b.decision).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(moved > 0.01, "{moved}");
    for (p, q) in a.probability.unwrap().iter().zip(&b.probability.unwrap()) {
        assert!((p - q).abs() < 1e-6, "{p} {q}");
    }
}

#[test]
fn threshold_choice_uses_row_weights_and_ignores_class_weights() {
    let (x, labels) = waves(300, 5.0, 7);
    let rls = estimator("rls").unwrap();
    let rows: Vec<f64> = (0..300).map(|i| if i % 4 == 0 { 5.0 } else { 1.0 }).collect();
    for class_weight in [ClassWeight::None, ClassWeight::Ratio] {
        let mut options = TrainOptions { class_weight, weights: Some(rows.clone()), ..quick_options("rls") };
        let held_out_decisions = held_out_decisions(rls, &x, &labels, &options);
        let criterion = Criterion::Rate(0.2);
        let expected =
            best_threshold(&held_out_decisions, &positive(&labels), &rows, criterion).unwrap().value;
        let unweighted =
            best_threshold(&held_out_decisions, &positive(&labels), &[], criterion).unwrap().value;
        options.threshold = Some(criterion);
        let tuned = train(x.clone(), &labels, &options, &()).unwrap().classifier;
        assert_eq!(tuned.params["threshold_value"], expected.into());
        assert_ne!(expected, unweighted);
    }
}

#[test]
fn ratio_weights_equal_explicit_weights_and_are_one_for_equal_classes() {
    let (x, labels) = waves(200, 9.0, 1);
    let mut options = quick_options("svc");
    options.class_weight = ClassWeight::Ratio;
    let ratio = train(x.clone(), &labels, &options, &()).unwrap().classifier;
    assert_eq!(ratio.params["class_weight"], "ratio".into());
    options.class_weight = ClassWeight::Explicit([("1".to_string(), 9.0)].into());
    assert_eq!(ratio.model, train(x, &labels, &options, &()).unwrap().classifier.model);
    let (x, labels) = waves(200, 1.0, 1);
    options.class_weight = ClassWeight::Ratio;
    let even = train(x.clone(), &labels, &options, &()).unwrap().classifier;
    options.class_weight = ClassWeight::None;
    assert_eq!(even.model, train(x, &labels, &options, &()).unwrap().classifier.model);
}

#[test]
fn refuses_a_threshold_for_three_classes_and_rates_outside_zero_and_one() {
    let params = GenerateParams { rows: 60, ..GenerateParams::default() };
    let (x, labels) = generate("waveform", &params).unwrap();
    let mut options = quick_options("svc");
    options.threshold = Some(Criterion::F1);
    let error = train(x, &labels, &options, &()).unwrap_err().to_string();
    assert_eq!(error, "parameter threshold = f1: must be left out: there are 3 classes, and it needs two");
    let (x, labels) = waves(60, 2.0, 1);
    for share in [0.0, 1.0, -1.0, f64::NAN] {
        options.threshold = Some(Criterion::Rate(share));
        assert!(train(x.clone(), &labels, &options, &()).is_err(), "{share}");
    }
}

/// Stops training from the n-th call on.
struct StopAfter(AtomicUsize);

impl Watch for StopAfter {
    fn proceed(&self, _: &Progress) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_ok()
    }
}

#[test]
fn an_interrupt_leaves_the_threshold_at_zero_with_a_note() {
    let (x, labels) = waves(300, 5.0, 7);
    let options = TrainOptions { threshold: Some(Criterion::GMeans), ..quick_options("svc") };
    let trained = train(x, &labels, &options, &StopAfter(AtomicUsize::new(0))).unwrap();
    let note = "interrupted before the threshold was chosen; it stays at 0";
    assert!(trained.notes.iter().any(|n| n == note), "{:?}", trained.notes);
    assert!(!trained.classifier.params.contains_key("threshold"));
}
