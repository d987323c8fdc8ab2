//! Classifiers of the engine: each equals its estimator trained on the same rows, resumes bit-identically, and respects
//! its limits.

use evermargin::data::{Label, Matrix};
use evermargin::engine::{
    Budget, ClassifierChoice, Engine, EngineParams, Event, Forgetting, KernelChoice, QueryStrategy,
};
use evermargin::estimators::med::{MedParams, Schedule, SeqMed};
use evermargin::estimators::online::lasvm::{Lasvm, LasvmParams, LasvmVariant};
use evermargin::estimators::supervised::svc::SvcParams;
use evermargin::estimators::{Fit, Targets};
use evermargin::kernel::Kernel;
use evermargin::model::{Model, ScalingName};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

const RBF: Kernel = Kernel::Rbf { gamma: 0.5 };

/// Two classes on rings, which no line separates.
fn rings(rows: usize, classes: u32, rng: &mut Pcg64) -> (Matrix, Vec<u32>) {
    let (mut values, mut of) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let class = rng.random_range(0..classes);
        let (angle, noise): (f64, f64) =
            (rng.random_range(0.0..std::f64::consts::TAU), rng.random_range(-0.5..0.5));
        let radius = 2.0 * f64::from(class) + noise;
        values.extend([radius * angle.cos(), radius * angle.sin()]);
        of.push(class);
    }
    (Matrix::dense(values, rows, 2).unwrap(), of)
}

fn params(classifier: ClassifierChoice) -> EngineParams {
    EngineParams {
        classifier,
        kernel: KernelChoice::Fixed(RBF),
        scale: Some(ScalingName::None),
        transduction: None,
        query_strategy: QueryStrategy::None,
        ..Default::default()
    }
}

/// Labels of the first `known` rows.
fn names(of: &[u32], known: usize) -> Vec<Option<String>> {
    of.iter().enumerate().map(|(i, c)| (i < known).then(|| c.to_string())).collect()
}

fn targets(of: &[u32], known: usize) -> Vec<Targets> {
    let sign = |(i, c): (usize, &u32)| match (i < known, c) {
        (false, _) => Label::Unknown,
        (true, 0) => Label::Neg,
        (true, _) => Label::Pos,
    };
    vec![Targets { y: of.iter().enumerate().map(sign).collect(), cost: vec![1.0; of.len()] }]
}

fn decisions(engine: &Engine, x: &Matrix) -> Vec<f64> {
    engine.classifier().unwrap().model.decision(x.view()).unwrap()
}

fn close(engine: &mut Engine) {
    let now = engine.now() + 1;
    engine.apply(Event::Tick { now }).unwrap();
}

#[test]
fn local_svc_equals_its_estimator_and_is_optimal_after_each_batch() {
    let rng = &mut Pcg64::seed_from_u64(3);
    let labels_alone = EngineParams { c_inferred: 0.0, ..params(ClassifierChoice::Local) };
    let mut engine = Engine::new(&labels_alone).unwrap();
    let machine = LasvmParams { variant: LasvmVariant::Local, kernel: RBF, c: 3.0, ..Default::default() };
    let (mut alone, mut all, mut of): (Option<Lasvm>, Matrix, Vec<u32>) =
        (None, Matrix::empty(2, false), vec![]);
    for _ in 0..6 {
        let (x, classes) = rings(40, 2, rng);
        engine.apply(Event::Batch { x: x.clone(), labels: names(&classes, 12) }).unwrap();
        for i in 0..12 {
            all.push(x.view().row(i));
            of.push(classes[i]);
        }
        let problems = targets(&of, of.len());
        let rows: Vec<usize> = (of.len() - 12..of.len()).collect();
        let first = alone.is_none();
        let alone = alone.get_or_insert_with(|| Lasvm::new(&machine, x.view(), 1).unwrap());
        alone.learn(all.view(), &rows, 0, &problems, &()).unwrap();
        if first {
            alone.finish(&()); // a classifier built from stored labels is optimized
        }
        let (a, b) = (decisions(&engine, &all), alone.model().decision(all.view()).unwrap());
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-9), "open batch");
        close(&mut engine);
        alone.finish(&());
        let (a, b) = (decisions(&engine, &all), alone.model().decision(all.view()).unwrap());
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-9), "closed batch");
        // an independent solver on all labels, and the optimality conditions
        let svc = SvcParams { kernel: RBF, c: 3.0, ..Default::default() };
        let whole = svc.fit(all.view(), &problems, &()).unwrap().model;
        let best = whole.decision(all.view()).unwrap();
        assert!(a.iter().zip(&best).all(|(a, b)| (a - b).abs() < 0.02), "{a:?} {best:?}");
        let Model::Expansion { points, coef, .. } = engine.classifier().unwrap().model else { panic!() };
        assert!(coef[0].iter().sum::<f64>().abs() < 1e-9 && coef[0].iter().all(|a| a.abs() <= 3.0));
        for (i, f) in a.iter().enumerate() {
            let y = if of[i] == 0 { -1.0 } else { 1.0 };
            let own = (0..points.rows()).find(|&p| points.view().select(&[p]) == all.view().select(&[i]));
            let alpha = own.map_or(0.0, |p| y * coef[0][p]);
            assert!(alpha >= 0.0);
            assert!(alpha >= 3.0 || y * f > 1.0 - 2e-3, "row {i}: {alpha} {f}");
            assert!(alpha <= 0.0 || y * f < 1.0 + 2e-3, "row {i}: {alpha} {f}");
        }
    }
}

#[test]
fn seq_lapmed_equals_its_estimator() {
    for graph_weight in [0.0, 0.5] {
        let rng = &mut Pcg64::seed_from_u64(4);
        let params = EngineParams { graph_weight, ..params(ClassifierChoice::SeqLapmed) };
        let mut engine = Engine::new(&params).unwrap();
        let machine = MedParams {
            kernel: RBF,
            c: 3.0,
            beta: graph_weight,
            schedule: Schedule::Inverse,
            ..Default::default()
        };
        let (x, of) = rings(60, 2, rng);
        engine.apply(Event::Batch { x: x.clone(), labels: names(&of, 8) }).unwrap();
        close(&mut engine);
        // the first labels build the classifier, then the rest of their batch is learned
        let known: Vec<usize> = (0..8).collect();
        let rest: Vec<usize> = (8..60).collect();
        let first = x.view().select(&known);
        let mut alone = SeqMed::new(&machine, first.view(), 1).unwrap();
        alone.learn_labels(first.view(), &targets(&of[..8], 8), &()).unwrap();
        alone.learn(x.view().select(&rest).view(), &targets(&of[8..], 0), &()).unwrap();
        for batch in 0..5 {
            let (x, of) = rings(60, 2, rng);
            let known = if batch == 2 { 0 } else { 5 };
            engine.apply(Event::Batch { x: x.clone(), labels: names(&of, known) }).unwrap();
            if known > 0 {
                let mut open = alone.clone();
                let rows = x.view().select(&(0..known).collect::<Vec<_>>());
                open.learn_labels(rows.view(), &targets(&of[..known], known), &()).unwrap();
                assert_eq!(engine.classifier().unwrap().model, open.model(), "open batch {batch}");
            }
            close(&mut engine);
            alone.learn(x.view(), &targets(&of, known), &()).unwrap();
            assert_eq!(engine.classifier().unwrap().model, alone.model(), "batch {batch}");
        }
    }
}

/// The recursion computed by hand: a linear kernel in one column, one label per batch, no graph.
#[test]
fn seq_lapmed_follows_a_trace_computed_by_hand() {
    let params = EngineParams {
        kernel: KernelChoice::Fixed(Kernel::Linear),
        graph_weight: 0.0,
        c: 1.0,
        ..params(ClassifierChoice::SeqLapmed)
    };
    let mut engine = Engine::new(&params).unwrap();
    let batch = |values: Vec<f64>, names: &[&str]| Event::Batch {
        x: Matrix::dense(values, names.len(), 1).unwrap(),
        labels: names.iter().map(|n| Some((*n).to_string())).collect(),
    };
    let weight_and_bias = |engine: &Engine| match engine.classifier().unwrap().model {
        Model::Linear { weights, bias } => (weights[0][0], bias[0]),
        _ => panic!("a linear kernel has weights"),
    };
    // x = ∓1, σ² = mean of x² = 1: K = [[2, 0], [0, 2]], t = y, α = ½ y; w = Σ α x = 1, b = Σ α = 0
    engine.apply(batch(vec![-1.0, 1.0], &["a", "b"])).unwrap();
    close(&mut engine);
    let near = |(w, b): (f64, f64), exact: (f64, f64)| {
        assert!((w - exact.0).abs() < 1e-3 && (b - exact.1).abs() < 1e-3, "{w} {b} {exact:?}");
    };
    near(weight_and_bias(&engine), (1.0, 0.0));
    // x = ½ of class a: t = −1 − ½ = −3/2, K = ¼ + 1: α = max(−1, −6/5) = −1; w = 1 − ½, b = −1
    engine.apply(batch(vec![0.5], &["a"])).unwrap();
    close(&mut engine);
    near(weight_and_bias(&engine), (0.5, -1.0));
    // x = 2 of class b: f = 0, t = 1, K = 5: α = 1/5; w = 0.9, b = −0.8
    engine.apply(batch(vec![2.0], &["b"])).unwrap();
    close(&mut engine);
    near(weight_and_bias(&engine), (0.9, -0.8));
}

/// Corrected and withdrawn labels leave no trace; a class may appear later and sort before the others.
#[test]
fn withdrawn_labels_leave_no_trace_in_any_classifier() {
    for classifier in ClassifierChoice::ALL {
        let rng = &mut Pcg64::seed_from_u64(5);
        let mut engine = Engine::new(&params(classifier)).unwrap();
        let (x, of) = rings(60, 2, rng);
        engine.apply(Event::Batch { x, labels: names(&of, 20) }).unwrap();
        close(&mut engine);
        let mut other = engine.clone();
        let wrong = (1 - of[3]).to_string();
        engine.apply(Event::Correct { sample: 3, label: wrong }).unwrap();
        engine.apply(Event::Withdraw { sample: 3 }).unwrap();
        other.apply(Event::Withdraw { sample: 3 }).unwrap();
        assert_eq!(engine.classifier().unwrap().model, other.classifier().unwrap().model, "{classifier:?}");
        engine.apply(Event::Correct { sample: 4, label: "!".into() }).unwrap();
        let published = engine.classifier().unwrap();
        published.check().unwrap();
        assert_eq!(published.classes, ["!", "0", "1"]);
        assert_eq!(published.model.outputs(), 3);
        assert_eq!(published.learner, ["lasvm", "local-svc", "seq-lapmed"][classifier as usize]);
    }
}

/// Bit-identical results live, replayed with other numbers of threads, and saved after every event.
#[test]
fn each_classifier_resumes_bit_identically() {
    for classifier in ClassifierChoice::ALL {
        for classes in [2, 4] {
            let rng = &mut Pcg64::seed_from_u64(6);
            let params = EngineParams {
                query_strategy: QueryStrategy::Margin,
                budget: Budget { per_batch: 5, ..Default::default() },
                c_inferred: 0.3,
                ..params(classifier)
            };
            let mut live = Engine::new(&params).unwrap();
            let mut events = Vec::new();
            let (mut right, mut seen) = (0, 0);
            for batch in 0..10 {
                let (x, of) = rings(80, classes, rng);
                let base = live.rows();
                let mut waiting =
                    vec![Event::Batch { x, labels: names(&of, if batch == 0 { 8 } else { 0 }) }];
                while let Some(event) = waiting.pop() {
                    let effects = live.apply(event.clone()).unwrap();
                    if batch >= 6 && matches!(event, Event::Batch { .. }) {
                        let name = |c: u32| live.classes().names()[c as usize].clone();
                        let hit = |(l, c): (&evermargin::engine::InferredLabel, &u32)| {
                            l.class.is_some_and(|l| name(l) == c.to_string())
                        };
                        right += effects.labels.iter().zip(&of).filter(|p| hit(*p)).count();
                        seen += of.len();
                    }
                    events.push(event);
                    waiting.extend(effects.questions.iter().map(|q| Event::Answer {
                        sample: q.sample,
                        label: of[(q.sample - base) as usize].to_string(),
                    }));
                }
            }
            // seq-lapmed never changes the multipliers of earlier batches
            let least = if classifier == ClassifierChoice::SeqLapmed { 80 } else { 90 };
            assert!(right * 100 > seen * least, "{classifier:?} {classes}: {right} of {seen}");
            for (threads, save) in [(1, false), (3, false), (2, true)] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let again = pool.install(|| {
                    let mut engine = Engine::new(&params).unwrap();
                    for event in &events {
                        engine.apply(event.clone()).unwrap();
                        if save {
                            let bytes = rmp_serde::to_vec_named(&engine).unwrap();
                            engine = rmp_serde::from_slice(&bytes).unwrap();
                        }
                    }
                    engine
                });
                assert!(again == live, "{classifier:?}, {threads} threads, saved {save}");
            }
        }
    }
}

/// With all rows labeled, the limits of labels and points hold for each classifier, with and without forgetting.
#[test]
fn limits_hold_for_each_classifier() {
    for classifier in ClassifierChoice::ALL {
        for forget in [Forgetting::Nothing, Forgetting::HalfLife(3)] {
            let rng = &mut Pcg64::seed_from_u64(7);
            let params = EngineParams { max_labels: 40, max_points: 30, forget, ..params(classifier) };
            let mut engine = Engine::new(&params).unwrap();
            for _ in 0..8 {
                let (x, of) = rings(100, 3, rng);
                engine.apply(Event::Batch { x, labels: names(&of, 100) }).unwrap();
                let points = engine.stored_samples() - engine.memory().unwrap().len() - 100;
                assert!(points <= 30, "{classifier:?}: {points}");
                close(&mut engine);
            }
            assert!(engine.support_count() > 2);
        }
    }
}

#[test]
fn refuses_a_ramp_loss_for_other_classifiers_than_lasvm() {
    for classifier in [ClassifierChoice::Local, ClassifierChoice::SeqLapmed] {
        let params = EngineParams { loss: LasvmVariant::Ramp, ..params(classifier) };
        assert!(Engine::new(&params).unwrap_err().to_string().contains(classifier.name()));
    }
    assert!("seq-lapmed".parse::<ClassifierChoice>().is_ok());
    assert!("svm".parse::<ClassifierChoice>().unwrap_err().to_string().contains("lasvm, local, seq-lapmed"));
}
