//! The engine: equal events give equal states, refused events change nothing, and limits hold.

use evermargin::data::Matrix;
use evermargin::engine::transduction::TransductionParams;
use evermargin::engine::{
    Budget, Effects, Engine, EngineParams, Event, Forgetting, KernelChoice, LabelChoice, LabelSource,
    QueryReason, QueryStrategy, RowSource, Source,
};
use evermargin::estimators::ClassWeight;
use evermargin::estimators::transductive::submod::Variant;
use evermargin::kernel::Kernel;
use evermargin::model::ScalingName;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// A batch of two clouds whose midpoint lies at `shift`; the classes are ham and spam.
fn clouds(rows: usize, cols: usize, shift: f64, rng: &mut Pcg64) -> (Matrix, Vec<String>) {
    let (mut values, mut names) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let spam = rng.random_bool(0.4);
        let side = if spam { 1.0 } else { -1.0 };
        values.extend((0..cols).map(|c| {
            let middle = if c == 0 { side + shift } else { 0.0 };
            middle + rng.random_range(-1.0..1.0)
        }));
        names.push(if spam { "spam" } else { "ham" }.to_string());
    }
    (Matrix::dense(values, rows, cols).unwrap(), names)
}

fn unlabeled(x: Matrix) -> Event {
    let labels = vec![None; x.rows()];
    Event::Batch { x, labels }
}

/// Runs a batch with an annotator who answers everything; returns the effects of its arrival and of its end, and the
/// events.
fn apply_answered_batch(engine: &mut Engine, x: Matrix, names: &[String]) -> (Effects, Effects, Vec<Event>) {
    let base = engine.rows();
    let mut events = vec![unlabeled(x)];
    let first = engine.apply(events[0].clone()).unwrap();
    let mut waiting = first.questions.clone();
    while let Some(q) = waiting.pop() {
        assert_eq!(q.sample, base + q.row as u64);
        let event = Event::Answer { sample: q.sample, label: names[q.row].clone() };
        events.push(event.clone());
        waiting.extend(engine.apply(event).unwrap().questions);
    }
    let tick = Event::Tick { now: engine.batches() };
    events.push(tick.clone());
    let last = engine.apply(tick).unwrap();
    (first, last, events)
}

fn accuracy(engine: &Engine, effects: &Effects, names: &[String]) -> f64 {
    let classes = engine.classes().names();
    let right = effects.labels.iter().zip(names);
    let right = right.filter(|(l, n)| l.class.is_some_and(|c| classes[c as usize] == **n)).count();
    right as f64 / names.len() as f64
}

fn small_params() -> EngineParams {
    EngineParams {
        budget: Budget { per_batch: 4, ..Default::default() },
        kernel: KernelChoice::Fixed(Kernel::Rbf { gamma: 0.5 }),
        scale: Some(ScalingName::None),
        ..Default::default()
    }
}

/// Transduction in which evicted rows keep a weight.
fn transduction_with_evicted_rows() -> TransductionParams {
    TransductionParams { variant: Variant::Swift, evicted_weight: 5.0, ..Default::default() }
}

/// Runs a stream of batches on a new engine; returns the engine, all events and the accuracy per batch.
fn events_of(params: &EngineParams, batches: usize) -> (Engine, Vec<Event>, Vec<f64>) {
    let mut engine = Engine::new(params).unwrap();
    let mut rng = Pcg64::seed_from_u64(7);
    let (mut events, mut right) = (Vec::new(), Vec::new());
    for _ in 0..batches {
        let (x, names) = clouds(60, 3, 0.0, &mut rng);
        let (first, _, more) = apply_answered_batch(&mut engine, x, &names);
        right.push(accuracy(&engine, &first, &names));
        events.extend(more);
    }
    (engine, events, right)
}

#[test]
fn a_few_answers_per_batch_give_high_accuracy() {
    for (query_strategy, label_source) in [
        (QueryStrategy::SmallPool, LabelSource::Auto),
        (QueryStrategy::Margin, LabelSource::Model),
        (QueryStrategy::Diverse, LabelSource::Transduction),
        (QueryStrategy::Submod, LabelSource::Auto),
        (QueryStrategy::Random, LabelSource::Auto),
    ] {
        let params = EngineParams { query_strategy, label_source, ..small_params() };
        let (engine, _, right) = events_of(&params, 12);
        let late = right[6..].iter().sum::<f64>() / 6.0;
        assert!(late > 0.93, "{query_strategy:?} {label_source:?}: {right:?}");
        assert_eq!(engine.budget_usage().total, engine.memory().unwrap().len() as u64);
        assert!(engine.budget_usage().total <= 48);
        assert_eq!(right[0], 0.0, "no predictions before the first label");
    }
}

/// Label sources are compared with the first labels. Later comparisons wait until enough other work was done, even when
/// due (here after four batches).
#[test]
fn comparisons_of_label_sources_wait_for_enough_other_work() {
    let params = EngineParams { query_strategy: QueryStrategy::None, ..small_params() };
    let mut engine = Engine::new(&params).unwrap();
    let mut rng = Pcg64::seed_from_u64(5);
    let mut last_comparison = |batches: u64| {
        while engine.batches() < batches {
            let (x, names) = clouds(200, 3, 0.0, &mut rng);
            let first = engine.batches() == 0;
            let labels = names.into_iter().enumerate().map(|(i, n)| (first && i < 8).then_some(n)).collect();
            engine.apply(Event::Batch { x, labels }).unwrap();
            engine.apply(Event::Tick { now: engine.batches() }).unwrap();
        }
        serde_json::to_value(&engine).unwrap()["label_sources"]["batch"].as_u64().unwrap()
    };
    assert_eq!([last_comparison(1), last_comparison(8)], [1, 1]);
    assert!(last_comparison(150) > 8);
}

/// Replay gives the live state, also when the engine is saved and restored at any event, and with any number of threads.
#[test]
fn replay_is_bit_identical_with_saves_and_any_number_of_threads() {
    let params = EngineParams { c_inferred: 0.5, ..small_params() };
    let (live, events, _) = events_of(&params, 8);
    let replay = |threads: usize, save_at: &(dyn Fn(usize) -> bool + Sync)| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut engine = Engine::new(&params).unwrap();
            let mut effects = Vec::new();
            for (k, event) in events.iter().enumerate() {
                effects.push(engine.apply(event.clone()).unwrap());
                if save_at(k) {
                    let bytes = rmp_serde::to_vec_named(&engine).unwrap();
                    engine = rmp_serde::from_slice(&bytes).unwrap();
                }
            }
            (engine, effects)
        })
    };
    let (state, effects) = replay(1, &|_| false);
    assert_eq!(state, live);
    assert_eq!((&state, &effects), (&replay(4, &|_| false).0, &replay(4, &|_| false).1));
    assert!((&state, &effects) == (&replay(2, &|_| true).0, &replay(2, &|_| true).1), "saved at every event");
    for at in [0, 1, 5, events.len() / 2, events.len() - 2] {
        assert_eq!(state, replay(1, &|k| k == at).0, "saved at {at}");
    }
}

/// Three clouds. The third appears in the sixth batch, and its name sorts first, so classes of evicted rows are
/// renumbered. A state saved by an older version, without evicted rows, can be resumed, too.
#[test]
fn evicted_rows_survive_new_classes_and_states_of_older_versions() {
    let params = EngineParams {
        label_source: LabelSource::Transduction,
        transduction: Some(transduction_with_evicted_rows()),
        query_strategy: QueryStrategy::Random,
        kernel: KernelChoice::Fixed(Kernel::Linear),
        ..small_params()
    };
    let run = |save: bool, old: bool| {
        let mut engine = Engine::new(&params).unwrap();
        let (mut rng, mut right) = (Pcg64::seed_from_u64(11), Vec::new());
        for batch in 0..16 {
            let (mut x, mut names) = clouds(40, 3, 0.0, &mut rng);
            if batch > 5 {
                let Matrix::Dense { values, .. } = &mut x else { panic!("dense") };
                for i in (0..40).step_by(3) {
                    values[3 * i + 1] += 4.0;
                    names[i] = "a third".into();
                }
            }
            let (_, last, _) = apply_answered_batch(&mut engine, x, &names);
            right.push(accuracy(&engine, &last, &names));
            if save {
                let mut state = serde_json::to_value(&engine).unwrap();
                if old {
                    let kept = state["state"]["transduction"].as_object_mut().unwrap();
                    assert!(kept.remove("evicted").is_some());
                }
                engine = serde_json::from_value(state).unwrap();
            }
        }
        (engine, right)
    };
    let (state, right) = run(false, false);
    let late = right[10..].iter().sum::<f64>() / 6.0;
    assert!(late > 0.75, "{right:?}: with wrongly numbered classes accuracy would be at most 1/3");
    assert_eq!(state, run(true, false).0);
    let (_, forgetful) = run(true, true);
    assert_ne!(right, forgetful, "evicted rows influence labels");
}

/// Predictions for a batch are made before its labels are read: other labels do not change them.
#[test]
fn predictions_do_not_depend_on_the_labels_of_their_batch() {
    for label_source in [LabelSource::Auto, LabelSource::Transduction, LabelSource::Model] {
        let params = EngineParams { label_source, ..small_params() };
        let (_, events, _) = events_of(&params, 5);
        let mut rng = Pcg64::seed_from_u64(99);
        let (x, names) = clouds(50, 3, 0.0, &mut rng);
        let predicted = |poisoned: bool| {
            let mut engine = Engine::new(&params).unwrap();
            events.iter().for_each(|e| drop(engine.apply(e.clone()).unwrap()));
            let flip = |n: &String| if (n == "spam") == poisoned { "ham" } else { "spam" }.to_string();
            let labels = names.iter().map(|n| Some(flip(n))).collect();
            engine.apply(Event::Batch { x: x.clone(), labels }).unwrap().labels
        };
        assert_eq!(predicted(false), predicted(true));
    }
}

#[test]
fn refused_events_do_not_change_the_engine() {
    let params = EngineParams { max_classes: 3, max_rows: 100, ..small_params() };
    let (mut engine, _, _) = events_of(&params, 3);
    let mut rng = Pcg64::seed_from_u64(1);
    let (x, names) = clouds(20, 3, 0.0, &mut rng);
    engine.apply(unlabeled(x)).unwrap();
    let before = engine.clone();
    let (narrow, _) = clouds(5, 2, 0.0, &mut rng);
    let (long, _) = clouds(101, 3, 0.0, &mut rng);
    let (some, _) = clouds(5, 3, 0.0, &mut rng);
    let hostile = [
        unlabeled(narrow),
        unlabeled(long),
        Event::Batch { x: some, labels: vec![None; 4] },
        Event::Answer { sample: 0, label: names[0].clone() },
        Event::Answer { sample: u64::MAX, label: names[0].clone() },
        Event::Answer { sample: engine.pending_queries()[0], label: String::new() },
        Event::Skip { sample: 5 },
        Event::Correct { sample: u64::MAX, label: "spam".into() },
        Event::Withdraw { sample: 12_345 },
        Event::Related { a: 1, b: 1, same: true },
        Event::Related { a: 190, b: 1 << 40, same: true },
        Event::Tick { now: 0 },
    ];
    for event in hostile {
        let error = engine.apply(event.clone()).unwrap_err().to_string();
        assert!(error.len() > 10, "{event:?}");
        assert_eq!(engine, before, "{event:?}");
    }
    let mut fresh = Engine::new(&params).unwrap();
    assert!(fresh.apply(unlabeled(Matrix::empty(3, false))).is_err());
    assert!(fresh.apply(Event::Answer { sample: 0, label: "a".into() }).is_err());
    assert!(fresh.apply(unlabeled(Matrix::empty(0, false))).is_err());
    fresh.apply(Event::Tick { now: 5 }).unwrap();
}

/// A label that is withdrawn, or changed repeatedly, leaves the model that never had it.
#[test]
fn corrected_and_withdrawn_labels_leave_no_trace() {
    let params = EngineParams { exploration_rate: 0.0, ..small_params() };
    let (mut engine, _, _) = events_of(&params, 4);
    let labeled = engine.memory().unwrap().labeled().to_vec();
    let first = engine.classifier().unwrap();
    let sample = labeled[3].sample;
    let name = engine.classes().names()[labeled[3].class as usize].clone();
    let other = if name == "ham" { "spam" } else { "ham" };
    engine.apply(Event::Correct { sample, label: other.into() }).unwrap();
    let corrected = engine.classifier().unwrap();
    assert_ne!(first.model, corrected.model);
    engine.apply(Event::Correct { sample, label: name }).unwrap();
    let back = engine.classifier().unwrap().model;
    engine.apply(Event::Withdraw { sample }).unwrap();
    assert_eq!(engine.memory().unwrap().len(), labeled.len() - 1);
    assert!(engine.apply(Event::Withdraw { sample }).is_err(), "withdrawn twice");
    let without = engine.classifier().unwrap().model;
    // rebuilt from the same labels: the same model, whatever happened in between
    let (mut again, _, _) = events_of(&params, 4);
    again.apply(Event::Withdraw { sample }).unwrap();
    assert_eq!(again.classifier().unwrap().model, without);
    assert_ne!(back, without);
    let version = engine.version();
    let effects = engine.apply(Event::Withdraw { sample: labeled[0].sample }).unwrap();
    assert_eq!(effects.published, Some(version + 1));
}

#[test]
fn new_classes_may_appear_in_later_batches() {
    let params = EngineParams { query_strategy: QueryStrategy::None, ..small_params() };
    let mut engine = Engine::new(&params).unwrap();
    let mut rng = Pcg64::seed_from_u64(2);
    let mut batch = |engine: &mut Engine, names: &[&str]| {
        let (mut values, mut labels) = (Vec::new(), Vec::new());
        for i in 0..60 {
            let name = names[i % names.len()];
            let place = name.bytes().map(f64::from).sum::<f64>() % 7.0;
            values.extend([place + rng.random_range(-0.3..0.3), rng.random_range(-0.3..0.3)]);
            labels.push(Some(name.to_string()));
        }
        let truth: Vec<String> = labels.iter().flatten().cloned().collect();
        let x = Matrix::dense(values, 60, 2).unwrap();
        let effects = engine.apply(Event::Batch { x, labels }).unwrap();
        (accuracy(engine, &effects, &truth), effects)
    };
    assert_eq!(batch(&mut engine, &["m"]).0, 0.0);
    assert!(engine.classifier().is_none(), "one class is not enough for a classifier");
    batch(&mut engine, &["m", "q"]);
    assert!(batch(&mut engine, &["m", "q"]).0 > 0.95);
    let (_, effects) = batch(&mut engine, &["m", "q", "a"]);
    assert!(effects.notes.iter().any(|n| n.contains("class a is new")), "{:?}", effects.notes);
    let (right, _) = batch(&mut engine, &["m", "q", "a"]);
    assert!(right > 0.95, "{right}");
    assert_eq!(engine.classes().names(), ["a", "m", "q"]);
    assert_eq!(engine.classifier().unwrap().classes, ["a", "m", "q"]);
    engine.classifier().unwrap().check().unwrap();
}

/// Answers about pairs label samples; with two classes, "different" does so, too.
#[test]
fn pairwise_constraints_propagate_labels() {
    let params = EngineParams { exploration_rate: 0.0, ..small_params() };
    let (mut engine, _, _) = events_of(&params, 3);
    let mut rng = Pcg64::seed_from_u64(3);
    let (x, _) = clouds(20, 3, 0.0, &mut rng);
    let base = engine.rows();
    engine.apply(unlabeled(x)).unwrap();
    let known = engine.memory().unwrap().labeled()[0];
    let class = |engine: &Engine, sample: u64| {
        let memory = engine.memory().unwrap();
        memory.find(sample).map(|at| memory.labeled()[at].class)
    };
    // a chain of pairs that gets labels when one end is labeled
    engine.apply(Event::Related { a: base + 1, b: base + 2, same: true }).unwrap();
    engine.apply(Event::Related { a: base + 2, b: base + 3, same: false }).unwrap();
    assert_eq!([1, 2, 3].map(|k| class(&engine, base + k)), [None; 3]);
    engine.apply(Event::Related { a: known.sample, b: base + 1, same: false }).unwrap();
    let other = 1 - known.class;
    assert_eq!([1, 2, 3].map(|k| class(&engine, base + k)), [Some(other), Some(other), Some(known.class)]);
    // implied labels are withdrawn or changed together with their label
    let name = |c: u32| ["ham", "spam"][c as usize].to_string();
    engine.apply(Event::Correct { sample: base + 1, label: name(known.class) }).unwrap();
    assert_eq!(
        [1, 2, 3].map(|k| class(&engine, base + k)),
        [Some(known.class), Some(known.class), Some(other)]
    );
    engine.apply(Event::Withdraw { sample: base + 1 }).unwrap();
    assert_eq!([1, 2, 3].map(|k| class(&engine, base + k)), [None; 3]);
}

/// An evicted label still implies others, and is not learned again.
#[test]
fn evicted_labels_imply_others_and_can_be_withdrawn() {
    let params = EngineParams {
        max_labels: 10,
        forget: Forgetting::Window(1),
        query_strategy: QueryStrategy::None,
        ..small_params()
    };
    let mut engine = Engine::new(&params).unwrap();
    let (x, _) = clouds(6, 3, 0.0, &mut Pcg64::seed_from_u64(3));
    let labels = [Some("ham"), None, None, None, None, None].map(|n| n.map(String::from)).to_vec();
    engine.apply(Event::Batch { x, labels }).unwrap();
    engine.apply(Event::Related { a: 0, b: 1, same: true }).unwrap();
    assert_eq!(engine.memory().unwrap().len(), 2);
    // the older label is evicted; sample 0 remains in the batch
    engine.apply(Event::Tick { now: 1 }).unwrap();
    assert_eq!(engine.memory().unwrap().labeled()[0].sample, 1);
    engine.apply(Event::Related { a: 1, b: 2, same: true }).unwrap();
    let follows: Vec<_> = engine.memory().unwrap().labeled().iter().map(|t| (t.sample, t.follows)).collect();
    assert_eq!(follows, [(1, Some(0)), (2, Some(0))]);
    engine.apply(Event::Withdraw { sample: 1 }).unwrap();
    assert!(engine.memory().unwrap().is_empty());
}

#[test]
fn query_budgets_are_respected() {
    let params = EngineParams {
        budget: Budget {
            per_batch: 5,
            total: Some(17),
            per_time: Some((3, 10)),
            queries_per_round: 2,
            ..Default::default()
        },
        ..small_params()
    };
    let mut engine = Engine::new(&params).unwrap();
    let mut rng = Pcg64::seed_from_u64(4);
    let (mut asked, mut random_checks) = (0, 0);
    for batch in 0..30u64 {
        let (x, names) = clouds(40, 3, 0.0, &mut rng);
        let base = engine.rows();
        let mut questions = engine.apply(unlabeled(x)).unwrap().questions;
        let mut of_batch = 0;
        while let Some(q) = questions.pop() {
            assert!(questions.len() < 2, "at most one round of queries is open");
            of_batch += 1;
            random_checks += usize::from(q.why == QueryReason::RandomCheck);
            let label = names[(q.sample - base) as usize].clone();
            let event = if of_batch == 2 {
                Event::Skip { sample: q.sample }
            } else {
                Event::Answer { sample: q.sample, label }
            };
            questions.extend(engine.apply(event).unwrap().questions);
        }
        assert!(of_batch <= 3, "at most three in ten seconds: {of_batch}");
        asked += of_batch;
        engine.apply(Event::Tick { now: (batch + 1) * 5 }).unwrap();
    }
    assert_eq!((asked, engine.budget_usage().total), (17, 17));
    assert!(random_checks < 17);
}

/// With `queries_per_round` 0, queries are made only on request: the requested number, within the budget.
#[test]
fn queries_on_request_stay_within_the_budget() {
    let budget = Budget { per_batch: 6, total: Some(20), queries_per_round: 0, ..Default::default() };
    let mut engine = Engine::new(&EngineParams { budget, exploration_rate: 0.3, ..small_params() }).unwrap();
    assert!(engine.apply(Event::Ask { count: 3 }).unwrap().questions.is_empty(), "there is no batch");
    let mut rng = Pcg64::seed_from_u64(8);
    let mut spent = 0;
    for _ in 0..5 {
        let (x, names) = clouds(60, 3, 0.0, &mut rng);
        let base = engine.rows();
        assert!(engine.apply(unlabeled(x)).unwrap().questions.is_empty());
        let mut of_batch = 0;
        for count in [2, 0, 3, 9] {
            let questions = engine.apply(Event::Ask { count }).unwrap().questions;
            let left = (6 - of_batch).min(20 - spent);
            assert!(questions.len() <= count.min(left));
            if engine.support_count() == 0 {
                assert_eq!(
                    questions.len(),
                    count.min(left),
                    "without a classifier, every sample is worth a query"
                );
            }
            (of_batch, spent) = (of_batch + questions.len(), spent + questions.len());
            for q in questions {
                let label = names[(q.sample - base) as usize].clone();
                let effects = engine.apply(Event::Answer { sample: q.sample, label }).unwrap();
                assert!(effects.questions.is_empty(), "an answer causes no query");
            }
        }
    }
    assert_eq!(engine.budget_usage().total, spent as u64);
    assert!(spent > 12);
}

/// Class weights are costs of labels: weight 1 has no effect, a large one moves the decision boundary away from the class.
#[test]
fn class_weights_apply_by_class_name() {
    let share = |weights: &[(&str, f64)]| {
        let weights = weights.iter().map(|(n, w)| ((*n).to_string(), *w)).collect();
        let class_weight = ClassWeight::Explicit(weights);
        let mut engine = Engine::new(&EngineParams { class_weight, c: 0.1, ..small_params() }).unwrap();
        let (x, names) = clouds(200, 3, 0.0, &mut Pcg64::seed_from_u64(11));
        engine.apply(Event::Batch { x: x.clone(), labels: names.into_iter().map(Some).collect() }).unwrap();
        let classifier = engine.classifier().unwrap();
        let predicted = classifier.predict(x).unwrap();
        (predicted.class.iter().filter(|c| **c == 1).count(), classifier)
    };
    let (plain, a) = share(&[]);
    assert_eq!(a, share(&[("ham", 1.0), ("other", 7.0)]).1);
    let (more, _) = share(&[("spam", 1000.0), ("ham", 0.001)]);
    let (fewer, _) = share(&[("ham", 1000.0), ("spam", 0.001)]);
    assert!(fewer < plain && plain < more, "{fewer} {plain} {more}");
    assert!(
        Engine::new(&EngineParams {
            class_weight: ClassWeight::Explicit([("a".to_string(), 0.0)].into()),
            ..small_params()
        })
        .is_err()
    );
}

/// 10⁶ samples: stored samples stay within the limits of the parameters, and state and model stay small.
#[test]
fn memory_is_bounded_for_a_million_samples() {
    let params = EngineParams {
        max_labels: 60,
        max_points: 50,
        max_open: 7,
        kernel: KernelChoice::Fixed(Kernel::Linear),
        label_source: LabelSource::Transduction,
        transduction: Some(TransductionParams { exemplars: 100, ..transduction_with_evicted_rows() }),
        budget: Budget { per_batch: 3, queries_per_round: 2, ..Default::default() },
        ..small_params()
    };
    let mut engine = Engine::new(&params).unwrap();
    let mut rng = Pcg64::seed_from_u64(5);
    let rows = 5000;
    let (mut max_stored, mut bytes) = (0, Vec::new());
    for batch in 0..200 {
        let (x, names) = clouds(rows, 2, 0.0, &mut rng);
        let base = engine.rows();
        // every tenth batch has labels of its own; every third query stays open
        let labels = (0..rows).map(|i| (batch % 10 == 0 && i % 50 == 0).then(|| names[i].clone())).collect();
        let mut questions = engine.apply(Event::Batch { x, labels }).unwrap().questions;
        while let Some(q) = questions.pop() {
            if q.sample % 3 > 0 && q.sample >= base {
                let label = names[(q.sample - base) as usize].clone();
                questions.extend(engine.apply(Event::Answer { sample: q.sample, label }).unwrap().questions);
            }
        }
        engine.apply(Event::Tick { now: batch }).unwrap();
        max_stored = max_stored.max(engine.stored_samples());
        assert!(engine.memory().unwrap().len() <= 60);
        assert!(engine.pending_queries().len() <= 7);
        assert!(engine.transduction().unwrap().exemplars().rows() <= 100);
        if batch % 50 == 49 {
            bytes.push(rmp_serde::to_vec_named(&engine).unwrap().len());
        }
    }
    assert_eq!(engine.rows(), 1_000_000);
    assert!(max_stored <= 3 * rows + 60 + 50 + 7, "{max_stored}");
    assert!(bytes[3] < bytes[0] * 5 / 4, "{bytes:?}");
}

/// A sudden change of the decision boundary is detected, and with forgetting the accuracy recovers faster.
#[test]
fn drift_is_detected_and_forgetting_recovers_accuracy() {
    let run = |forget: Forgetting| {
        let budget = Budget { per_batch: 8, ..Default::default() };
        let label_source = LabelSource::Model; // transductive sources recover without forgetting
        let params = EngineParams { forget, exploration_rate: 0.5, budget, label_source, ..small_params() };
        let mut engine = Engine::new(&params).unwrap();
        let mut rng = Pcg64::seed_from_u64(6);
        let (mut right, mut noticed) = (Vec::new(), None);
        for batch in 0..120 {
            // in the second half of the stream the classes are exchanged
            let (x, mut names) = clouds(60, 2, 0.0, &mut rng);
            if batch >= 60 {
                names.iter_mut().for_each(|n| *n = if n == "ham" { "spam" } else { "ham" }.into());
            }
            let base = engine.rows();
            let first = engine.apply(unlabeled(x)).unwrap();
            right.push(accuracy(&engine, &first, &names));
            let mut questions = first.questions;
            while let Some(q) = questions.pop() {
                let label = names[(q.sample - base) as usize].clone();
                let effects = engine.apply(Event::Answer { sample: q.sample, label }).unwrap();
                if effects.drift.is_some() && noticed.is_none() {
                    noticed = Some(batch);
                }
                questions.extend(effects.questions);
            }
            engine.apply(Event::Tick { now: 0 }).unwrap();
        }
        (right[110..].iter().sum::<f64>() / 10.0, noticed)
    };
    let (kept, noticed) = run(Forgetting::Nothing);
    assert!(noticed.is_some_and(|b| (60..100).contains(&b)), "{noticed:?}");
    for forget in [Forgetting::Window(40), Forgetting::HalfLife(8), Forgetting::OnDrift(10)] {
        let (late, _) = run(forget);
        assert!(late > 0.9 && late > kept, "{forget:?}: {late} against {kept}");
    }
}

/// After a change of the features that no label confirms, the newest labels stay, whatever their age.
#[test]
fn a_change_does_not_leave_the_classifier_without_labels() {
    let params = EngineParams { forget: Forgetting::OnDrift(1), ..small_params() };
    let mut engine = Engine::new(&params).unwrap();
    let mut rng = Pcg64::seed_from_u64(8);
    let mut drifts = 0;
    for batch in 0..40 {
        let (mut x, names) = clouds(60, 2, 0.0, &mut rng);
        if batch >= 20 {
            let Matrix::Dense { values, .. } = &mut x else { panic!("dense rows") };
            values.iter_mut().for_each(|v| *v *= 0.1); // all rows move towards the boundary
        }
        let labels = if batch == 0 { names.into_iter().map(Some).collect() } else { vec![None; 60] };
        drifts += usize::from(engine.apply(Event::Batch { x, labels }).unwrap().drift.is_some());
        engine.apply(Event::Tick { now: batch }).unwrap();
    }
    assert!(drifts > 0, "the change was not detected");
    assert_eq!(engine.memory().unwrap().len(), 50);
}

/// A source that the parameters name labels the stream however many labels are known.
#[test]
fn a_named_label_source_is_used_with_many_labels() {
    let params = EngineParams { label_source: LabelSource::Transduction, ..small_params() };
    let mut engine = Engine::new(&params).unwrap();
    let mut rng = Pcg64::seed_from_u64(9);
    let (x, names) = clouds(600, 2, 0.0, &mut rng);
    engine.apply(Event::Batch { x, labels: names.into_iter().map(Some).collect() }).unwrap();
    engine.apply(Event::Tick { now: 0 }).unwrap();
    let (x, _) = clouds(60, 2, 0.0, &mut rng);
    let effects = engine.apply(unlabeled(x)).unwrap();
    assert!(effects.labels.iter().all(|label| label.source == Some(RowSource::Transduction)));
    assert_eq!(engine.label_choice(), LabelChoice::Named(Source::Transduction));
}
