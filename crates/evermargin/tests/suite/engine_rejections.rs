//! Unusable rows are rejected one by one, scaling adapts to the stream, and a plan does not change the engine.

use evermargin::Error;
use evermargin::data::Matrix;
use evermargin::engine::{
    Budget, Effects, Engine, EngineParams, Event, KernelChoice, LabelSource, QueryStrategy, RejectReason,
};
use evermargin::kernel::Kernel;
use evermargin::model::ScalingName;
use evermargin::solver::{Progress, Watch};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Two clouds in two columns; `change` modifies the values of a row.
fn rows(count: usize, rng: &mut Pcg64, change: impl Fn(usize, &mut [f64; 2])) -> (Vec<f64>, Vec<String>) {
    let (mut values, mut names) = (Vec::new(), Vec::new());
    for i in 0..count {
        let up = rng.random_bool(0.5);
        let middle = if up { 2.0 } else { -2.0 };
        let mut row = [middle + rng.random_range(-1.0..1.0), rng.random_range(-3.0..3.0)];
        change(i, &mut row);
        values.extend(row);
        names.push(if up { "up" } else { "down" }.to_string());
    }
    (values, names)
}

fn batch(values: Vec<f64>, labels: Vec<Option<String>>) -> Event {
    let rows = labels.len();
    let cols = values.len() / rows;
    Event::Batch { x: Matrix::dense_with_any_values(values, rows, cols).unwrap(), labels }
}

fn some_labels(names: &[String]) -> Vec<Option<String>> {
    names.iter().enumerate().map(|(i, n)| (i % 4 == 0).then(|| n.clone())).collect()
}

fn accuracy(engine: &Engine, effects: &Effects, names: &[String]) -> f64 {
    let classes = engine.classes().names();
    let accuracy = effects.labels.iter().zip(names);
    let accuracy = accuracy.filter(|(l, n)| l.class.is_some_and(|c| classes[c as usize] == **n)).count();
    accuracy as f64 / names.len() as f64
}

fn reload(engine: &Engine) -> Engine {
    rmp_serde::from_slice(&rmp_serde::to_vec_named(engine).unwrap()).unwrap()
}

/// Row 351 of 600 holds an extreme value: it is rejected, and the stream continues, also after a restart.
#[test]
fn an_extreme_value_rejects_only_its_row() {
    for (absurd, reason) in [
        (3e15, RejectReason::TooLarge),
        (9_223_372_036_854_775_807.0, RejectReason::TooLarge),
        (f64::MAX, RejectReason::TooLarge),
        (f64::NAN, RejectReason::NotANumber),
        (f64::NEG_INFINITY, RejectReason::Infinite),
    ] {
        let mut engine =
            Engine::new(&EngineParams { query_strategy: QueryStrategy::None, ..Default::default() }).unwrap();
        let mut rng = Pcg64::seed_from_u64(1);
        for k in 0..6 {
            let (values, names) = rows(100, &mut rng, |i, row| {
                if 100 * k + i == 350 {
                    row[1] = absurd;
                }
            });
            let effects = engine.apply(batch(values, some_labels(&names))).unwrap();
            assert_eq!(effects.labels.len(), 100);
            if k == 3 {
                assert_eq!(effects.rejected.len(), 1, "{absurd}");
                let found = effects.rejected[0];
                assert_eq!((found.row, found.reason, found.column), (50, reason, Some(1)));
                assert_eq!(found.value, Some(absurd).filter(|v| !v.is_nan()));
                assert_eq!(effects.labels[50].class, None);
                let related = Event::Related { a: 350, b: 351, same: true };
                assert!(engine.plan(related).is_err(), "a rejected row is not stored");
            } else {
                assert!(effects.rejected.is_empty());
            }
            if k > 0 && k != 3 {
                assert!(accuracy(&engine, &effects, &names) > 0.9, "batch {k}");
            }
            let closed = engine.apply(Event::Tick { now: k as u64 }).unwrap();
            assert_eq!(closed.labels.len(), 100);
            engine = reload(&engine);
        }
        assert_eq!((engine.rows(), engine.rejected_rows()), (600, 1));
        assert!(engine.memory().unwrap().labeled().iter().all(|t| t.sample != 350));
    }
}

/// A column of size 1e-9 in the first batch and 1e7 later: no row is rejected, and accuracy stays high.
#[test]
fn scaling_adapts_to_a_growing_column() {
    for sizes in [[1e-9, 1e7], [1e-9, 1e40]] {
        let mut engine =
            Engine::new(&EngineParams { query_strategy: QueryStrategy::None, ..Default::default() }).unwrap();
        let mut rng = Pcg64::seed_from_u64(2);
        let mut last = 0.0;
        for k in 0..8u64 {
            let size = sizes[usize::from(k > 0)];
            let (values, names) = rows(100, &mut rng, |_, row| row[1] = size * (1.0 + 0.1 * row[1]));
            let effects = engine.apply(batch(values, some_labels(&names))).unwrap();
            assert!(effects.rejected.is_empty(), "batch {k}: {:?}", effects.rejected);
            let is_noted = effects.notes.iter().any(|n| n.contains("estimated again"));
            assert_eq!(is_noted, k == 1, "batch {k}: {:?}", effects.notes);
            last = accuracy(&engine, &effects, &names);
            engine.apply(Event::Tick { now: k }).unwrap();
            engine = reload(&engine);
        }
        assert_eq!(engine.rejected_rows(), 0);
        assert!(last > 0.9, "{sizes:?}: {last}");
        engine.classifier().unwrap().check().unwrap();
    }
}

/// A first batch of identical rows causes no error, and varied rows are learned when they arrive.
#[test]
fn scaling_is_estimated_after_identical_first_rows() {
    for row in [[7.0, 1e6], [0.3, 0.1], [0.0, 0.0], [1e-300, 5e90]] {
        for sparse in [false, true] {
            let budget = Budget { per_batch: 3, ..Default::default() };
            let mut engine = Engine::new(&EngineParams { budget, ..Default::default() }).unwrap();
            let alike = Matrix::dense([row; 50].concat(), 50, 2).unwrap();
            let x = if sparse { alike.view().to_csr() } else { alike };
            let effects = engine.apply(Event::Batch { x, labels: vec![None; 50] }).unwrap();
            assert!(effects.rejected.is_empty());
            engine.apply(Event::Tick { now: 0 }).unwrap();
            let mut rng = Pcg64::seed_from_u64(3);
            let mut last = 0.0;
            for k in 1..7u64 {
                engine = reload(&engine);
                let (values, names) = rows(100, &mut rng, |_, r| {
                    *r = [row[0] + r[0], row[1] + r[1]];
                });
                let x = Matrix::dense(values, 100, 2).unwrap();
                let x = if sparse { x.view().to_csr() } else { x };
                let effects = engine.apply(Event::Batch { x, labels: some_labels(&names) }).unwrap();
                assert!(effects.rejected.is_empty(), "{row:?} {sparse}");
                assert_eq!(
                    effects.notes.iter().any(|n| n.contains("all alike")),
                    k == 1,
                    "{:?}",
                    effects.notes
                );
                last = accuracy(&engine, &effects, &names);
                engine.apply(Event::Tick { now: k }).unwrap();
            }
            assert!(last > 0.85 || row[1] > 1e80, "{row:?} {sparse}: {last}");
        }
    }
}

/// Batches of one row: the scale is estimated when a second row differs, and again after several rows of another size have
/// arrived.
#[test]
fn scaling_adapts_to_batches_of_single_rows() {
    let mut engine =
        Engine::new(&EngineParams { query_strategy: QueryStrategy::None, ..Default::default() }).unwrap();
    let mut rng = Pcg64::seed_from_u64(4);
    let mut one = |size: f64| {
        let (values, names) = rows(1, &mut rng, |_, row| row[1] *= size);
        batch(values, names.into_iter().map(Some).collect())
    };
    for _ in 0..40 {
        assert!(engine.apply(one(1.0)).unwrap().rejected.is_empty());
    }
    let one_odd = engine.apply(one(1e30)).unwrap();
    assert_eq!(one_odd.rejected.len(), 1);
    assert!(engine.apply(one(1.0)).unwrap().rejected.is_empty());
    let many: Vec<usize> = (0..12).map(|_| engine.apply(one(1e30)).unwrap().rejected.len()).collect();
    assert_eq!(many, [1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0]);
}

/// Unusable labels are left out; their rows are kept.
#[test]
fn unusable_labels_are_rejected_without_their_rows() {
    let params = EngineParams { max_classes: 3, query_strategy: QueryStrategy::None, ..Default::default() };
    let mut engine = Engine::new(&params).unwrap();
    let (values, _) = rows(8, &mut Pcg64::seed_from_u64(5), |_, _| ());
    let long = "x".repeat(257);
    let names = ["b", "a", " ", "c", &long, "d", "a", "d"];
    let labels = names.iter().map(|n| Some((*n).to_string())).collect();
    let effects = engine.apply(batch(values, labels)).unwrap();
    let found: Vec<(usize, RejectReason)> = effects.rejected.iter().map(|r| (r.row, r.reason)).collect();
    let (empty, long, many) =
        (RejectReason::EmptyClassName, RejectReason::ClassNameTooLong, RejectReason::TooManyClasses);
    assert_eq!(found, [(2, empty), (4, long), (5, many), (7, many)]);
    assert_eq!(engine.classes().names(), ["a", "b", "c"]);
    assert_eq!(engine.memory().unwrap().len(), 4);
    assert_eq!((engine.rejected_rows(), engine.rejected_labels(), engine.rows()), (0, 4, 8));
    assert!(effects.labels.iter().all(|l| l.class.is_none()));
}

/// A first batch without a usable row is counted, and the stream begins with the next batch.
#[test]
fn a_batch_without_a_usable_row_is_skipped() {
    let mut engine = Engine::new(&EngineParams::default()).unwrap();
    let nothing = vec![f64::NAN; 6];
    let effects = engine.apply(batch(nothing.clone(), vec![Some("a".into()), None, None])).unwrap();
    assert_eq!((effects.rejected.len(), effects.labels.len()), (3, 3));
    engine.apply(Event::Tick { now: 1 }).unwrap();
    let mut engine = reload(&engine);
    let (values, names) = rows(40, &mut Pcg64::seed_from_u64(6), |_, _| ());
    let effects = engine.apply(batch(values, some_labels(&names))).unwrap();
    assert_eq!(effects.labels.len(), 40);
    assert!(
        engine.memory().unwrap().labeled().iter().all(|t| t.sample % 4 == 3),
        "sample numbers continue from 3"
    );
    let effects = engine.apply(batch(nothing, vec![None; 3])).unwrap();
    assert!(effects.labels.iter().all(|l| l.class.is_none()) && effects.questions.is_empty());
    assert_eq!((engine.rows(), engine.rejected_rows(), engine.batches()), (46, 6, 3));
}

struct StopAfter(AtomicUsize);

impl Watch for StopAfter {
    fn proceed(&self, _: &Progress) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_ok()
    }
}

/// An interrupt at any stage of planning leaves the engine unchanged; without an interrupt, the effects equal those of
/// `apply`.
#[test]
fn an_interrupted_plan_does_not_change_the_engine() {
    let mut engine = Engine::new(&EngineParams { c_inferred: 0.5, ..Default::default() }).unwrap();
    let mut rng = Pcg64::seed_from_u64(7);
    let mut next = |count: usize| {
        let (values, names) = rows(count, &mut rng, |_, _| ());
        batch(values, some_labels(&names))
    };
    for _ in 0..3 {
        engine.apply(next(300)).unwrap();
    }
    let event = next(300);
    let before = rmp_serde::to_vec_named(&engine).unwrap();
    let (mut interrupted, mut allowed) = (0, 0);
    loop {
        match engine.plan_watched(event.clone(), &StopAfter(AtomicUsize::new(allowed))) {
            Err(e) => assert_eq!(e, Error::Interrupted),
            Ok(plan) => {
                assert_eq!(
                    rmp_serde::to_vec_named(&engine).unwrap(),
                    before,
                    "a plan changed the engine before commit"
                );
                let mut plain = reload(&engine);
                let effects = engine.commit(plan);
                assert_eq!(effects, plain.apply(event).unwrap());
                assert_eq!(engine, plain);
                break;
            }
        }
        assert_eq!(rmp_serde::to_vec_named(&engine).unwrap(), before, "after {allowed}");
        (interrupted, allowed) = (interrupted + 1, allowed * 2 + 1);
    }
    assert!(interrupted > 3, "{interrupted}");
}

/// Runs six batches of two clouds with an outlier in row `at`; returns the accuracy after the first batch and the number
/// of rejected rows.
fn accuracy_with(outlier: f64, at: Option<usize>, params: &EngineParams, sparse: bool) -> (f64, u64) {
    let mut engine = Engine::new(params).unwrap();
    let mut rng = Pcg64::seed_from_u64(5);
    let mut sum = 0.0;
    for k in 0..6 {
        let (values, names) = rows(100, &mut rng, |i, row| {
            if Some(100 * k + i) == at {
                row[0] = outlier;
            }
        });
        let Event::Batch { x, labels } = batch(values, some_labels(&names)) else { unreachable!() };
        let x = if sparse { x.view().to_csr() } else { x };
        let effects = engine.apply(Event::Batch { x, labels }).unwrap();
        if k > 0 {
            sum += accuracy(&engine, &effects, &names) / 5.0;
        }
        engine.apply(Event::Tick { now: 0 }).unwrap();
    }
    (sum, engine.rejected_rows())
}

#[test]
fn accuracy_does_not_depend_on_the_row_of_an_outlier() {
    let auto = EngineParams { query_strategy: QueryStrategy::None, ..Default::default() };
    let unscaled = EngineParams { scale: Some(ScalingName::None), ..auto.clone() };
    for (params, sparse) in [(&auto, false), (&unscaled, false), (&auto, true)] {
        let (clean, none) = accuracy_with(0.0, None, params, sparse);
        assert!(clean > 0.95 && none == 0, "{clean}, {none} rejected");
        for outlier in [1e4, 1e6, -3e15, 1e99] {
            let later = accuracy_with(outlier, Some(350), params, sparse);
            for row in [0, 51, 52, 99] {
                let first = accuracy_with(outlier, Some(row), params, sparse);
                assert!(first.0 > clean - 0.02, "{outlier} in row {row}: {} instead of {clean}", first.0);
                assert_eq!(first.1, later.1, "{outlier} in row {row}");
            }
        }
    }
}

/// Log-normal columns, and sparse word counts with a few high values: no row is rejected, and accuracy is high.
#[test]
fn rows_with_heavy_tails_are_not_rejected() {
    let mut rng = Pcg64::seed_from_u64(9);
    let mut normal = move || (0..12).map(|_| rng.random_range(-0.5..0.5)).sum::<f64>();
    let params = EngineParams { query_strategy: QueryStrategy::None, ..Default::default() };
    for words in [false, true] {
        let cols = if words { 1200 } else { 2 };
        let mut engine = Engine::new(&params).unwrap();
        for k in 0..4 {
            let (mut values, mut names) = (vec![0.0; 100 * cols], Vec::new());
            for i in 0..100 {
                let up = normal() > 0.0;
                names.push(if up { "up" } else { "down" }.to_string());
                let row = &mut values[cols * i..cols * (i + 1)];
                if words {
                    let from = if up { 0 } else { 20 };
                    for w in 0..40 {
                        row[(from + 7 * w * (i + 1)) % 40 + usize::from(w > 20) * ((29 * i + w) % 900)] +=
                            1.0;
                    }
                    row[from] += 5.0;
                    row[from + 1] += 5.0;
                    row[1000] = if i % 4 == 3 { 5000.0 } else { 0.0 };
                    row[1001] = if i % 50 == 7 { 5000.0 } else { 1.0 };
                } else {
                    row[0] = (normal() + if up { 3.0 } else { -3.0 }).exp();
                    row[1] = (2.5 * normal()).exp();
                }
            }
            let Event::Batch { x, labels } = batch(values, some_labels(&names)) else { unreachable!() };
            let x = if words { x.view().to_csr() } else { x };
            let effects = engine.apply(Event::Batch { x, labels }).unwrap();
            assert!(effects.rejected.is_empty());
            let accuracy = accuracy(&engine, &effects, &names);
            assert!(k < 2 || accuracy > 0.75, "words: {words}, batch {k}: {accuracy}");
        }
    }
}

#[test]
fn plans_of_other_engines_and_outdated_plans_are_not_applied() {
    let params = EngineParams { query_strategy: QueryStrategy::None, ..Default::default() };
    let mut rng = Pcg64::seed_from_u64(4);
    let mut engines = [0, 1].map(|_| Engine::new(&params).unwrap());
    let mut event = || {
        let (values, names) = rows(20, &mut rng, |_, _| {});
        batch(values, some_labels(&names))
    };
    for engine in &mut engines {
        engine.apply(event()).unwrap();
    }
    let [mut a, b] = engines;
    let mut copy = a.clone();
    for (k, mut other) in [b, reload(&a), a.clone()].into_iter().enumerate() {
        for plan in [other.plan(event()).unwrap(), other.plan_watched(event(), &()).unwrap()] {
            let effects = a.commit(plan);
            assert!(effects.notes[0].contains("nothing was changed"), "{k}: {:?}", effects.notes);
            assert!(effects.labels.is_empty() && a == copy, "{k}");
        }
    }
    // nor is a plan of the same engine after another event was committed
    let (outdated, next) = (a.plan(event()).unwrap(), a.plan(event()).unwrap());
    assert_eq!(a.commit(next).labels.len(), 20);
    copy = a.clone();
    assert!(a.commit(outdated).notes[0].contains("nothing was changed") && a == copy);
    let next = a.plan_watched(event(), &()).unwrap();
    assert_eq!(a.commit(next).labels.len(), 20);
    let next = a.plan(event()).unwrap();
    assert_eq!(a.commit(next).labels.len(), 20, "an engine keeps its identity");
}

/// Rows on which the kernel overflows are rejected, and the others are used.
#[test]
fn rows_whose_kernel_overflows_are_rejected() {
    let params = EngineParams {
        kernel: KernelChoice::Fixed(Kernel::Poly { gamma: 1.0, coef0: 1.0, degree: 20 }),
        query_strategy: QueryStrategy::None,
        scale: Some(ScalingName::None),
        label_source: LabelSource::Transduction,
        ..Default::default()
    };
    let mut engine = Engine::new(&params).unwrap();
    let mut rng = Pcg64::seed_from_u64(6);
    for number in 1..=4 {
        let (values, names) = rows(40, &mut rng, |i, row| {
            if i >= 30 {
                *row = row.map(|v| 1e6 * v);
            }
        });
        let mut effects = engine.apply(batch(values, some_labels(&names))).unwrap();
        effects.notes.extend(engine.apply(Event::Tick { now: 0 }).unwrap().notes);
        assert_eq!(engine.rejected_rows(), 10 * number, "{:?}", effects.notes);
        assert!(effects.notes.iter().all(|note| !note.contains("further failures")), "{:?}", effects.notes);
        assert!(engine.classifier().is_some());
        engine = reload(&engine);
    }
}
