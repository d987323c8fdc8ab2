//! Columns that appear later, and labels that arrive later than their rows.

use evermargin::data::Matrix;
use evermargin::engine::{Engine, EngineParams, Event, KernelChoice, RowSource};
use evermargin::kernel::Kernel;
use evermargin::model::{Classifier, ScalingName};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Rows of two classes that differ in column `decisive`.
fn rows(count: usize, cols: usize, decisive: usize, rng: &mut Pcg64) -> (Matrix, Vec<Option<String>>) {
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let side = if rng.random_bool(0.5) { 1.5 } else { -1.5 };
        values.extend(
            (0..cols).map(|c| f64::from(u8::from(c == decisive)) * side + rng.random_range(-1.0..1.0)),
        );
        labels.push(Some(if side > 0.0 { "up" } else { "down" }.to_string()));
    }
    (Matrix::dense(values, count, cols).unwrap(), labels)
}

fn process_batch(engine: &mut Engine, x: Matrix, labels: Vec<Option<String>>) -> f64 {
    let truth = labels.clone();
    let effects = engine.apply(Event::Batch { x, labels }).unwrap();
    let names = engine.classes().names();
    let right = |(label, truth): (&evermargin::engine::InferredLabel, &Option<String>)| {
        label.class.map(|c| &names[c as usize]) == truth.as_ref()
    };
    let right = effects.labels.iter().zip(&truth).filter(|pair| right(*pair)).count();
    engine.apply(Event::Tick { now: 0 }).unwrap();
    right as f64 / truth.len() as f64
}

fn decisions(classifier: &Classifier, x: Matrix) -> Vec<f64> {
    classifier.model.decision(classifier.scaling.apply(x).unwrap().view()).unwrap()
}

fn params(kernel: KernelChoice) -> EngineParams {
    EngineParams { kernel, scale: Some(ScalingName::Standard), ..EngineParams::default() }
}

/// Rows that are 0 in a new column keep their decisions up to rounding: the classifier is extended, not retrained.
#[test]
fn decisions_of_rows_without_the_new_columns_do_not_change() {
    for kernel in [
        KernelChoice::Fixed(Kernel::Linear),
        KernelChoice::Fixed(Kernel::Rbf { gamma: 0.4 }),
        KernelChoice::Fixed(Kernel::Poly { gamma: 0.3, coef0: 1.0, degree: 2 }),
    ] {
        for sparse in [false, true] {
            let mut rng = Pcg64::seed_from_u64(5);
            let layout = |x: Matrix| if sparse { x.view().to_csr() } else { x };
            let mut engine = Engine::new(&params(kernel)).unwrap();
            for _ in 0..3 {
                let (x, labels) = rows(40, 3, 0, &mut rng);
                process_batch(&mut engine, layout(x), labels);
            }
            let (probe, _) = rows(50, 3, 0, &mut rng);
            let before = engine.classifier().unwrap();
            let expected = decisions(&before, layout(probe.clone()));
            let (wide, labels) = rows(10, 5, 4, &mut rng);
            let labels = vec![None; labels.len()];
            engine.apply(Event::Batch { x: layout(wide), labels }).unwrap();
            assert_eq!(engine.columns(), 5);
            let after = engine.classifier().unwrap();
            let found = decisions(&after, layout(probe.with_cols(5)));
            for (a, b) in expected.iter().zip(&found) {
                assert!((a - b).abs() < 1e-5 * (1.0 + a.abs()), "{kernel:?}: {a} {b}");
            }
        }
    }
}

#[test]
fn a_column_that_appears_later_is_learned() {
    for kernel in [KernelChoice::Auto, KernelChoice::Fixed(Kernel::Linear)] {
        let mut rng = Pcg64::seed_from_u64(9);
        let mut engine = Engine::new(&params(kernel)).unwrap();
        for _ in 0..4 {
            let (x, labels) = rows(60, 2, 0, &mut rng);
            process_batch(&mut engine, x, labels);
        }
        for _ in 0..2 {
            let (x, labels) = rows(60, 4, 3, &mut rng);
            process_batch(&mut engine, x, labels);
        }
        let (x, labels) = rows(200, 4, 3, &mut rng);
        let accuracy = process_batch(&mut engine, x, labels);
        assert!(accuracy > 0.9, "{kernel:?}: {accuracy}");
        engine.classifier().unwrap().check().unwrap();
    }
}

#[test]
fn columns_past_the_maximum_are_counted_and_left_out() {
    let mut rng = Pcg64::seed_from_u64(2);
    let limited = EngineParams { max_features: Some(4), ..params(KernelChoice::Auto) };
    let mut engine = Engine::new(&limited).unwrap();
    let mut notes = Vec::new();
    for cols in [3, 3, 4, 9, 10, 30] {
        let (x, labels) = rows(20, cols, 0, &mut rng);
        notes.extend(engine.apply(Event::Batch { x, labels }).unwrap().notes);
        assert!(engine.columns() <= 4);
    }
    assert_eq!((engine.columns(), engine.dropped_columns()), (4, 26));
    assert_eq!(notes.iter().filter(|n| n.contains("past the maximum of 4")).count(), 2, "{notes:?}");
    // A first batch may have more columns, and then none is added.
    let mut wide = Engine::new(&limited).unwrap();
    for cols in [6, 8] {
        let (x, labels) = rows(20, cols, 0, &mut rng);
        wide.apply(Event::Batch { x, labels }).unwrap();
    }
    assert_eq!((wide.columns(), wide.dropped_columns()), (6, 2));
    // Dense rows have a lower maximum.
    let mut dense = Engine::new(&params(KernelChoice::Auto)).unwrap();
    for cols in [2, 5000] {
        let (x, labels) = rows(5, cols, 0, &mut rng);
        dense.apply(Event::Batch { x, labels }).unwrap();
    }
    assert_eq!(dense.columns(), 4096);
}

#[test]
fn sparse_rows_may_leave_out_trailing_columns_and_dense_rows_may_not() {
    let mut rng = Pcg64::seed_from_u64(2);
    let mut engine = Engine::new(&params(KernelChoice::Auto)).unwrap();
    let (x, labels) = rows(20, 4, 0, &mut rng);
    engine.apply(Event::Batch { x, labels }).unwrap();
    let (x, labels) = rows(20, 3, 0, &mut rng);
    assert!(engine.plan(Event::Batch { x: x.clone(), labels: labels.clone() }).is_err());
    engine.apply(Event::Batch { x: x.view().to_csr(), labels }).unwrap();
    assert_eq!((engine.columns(), engine.rejected_rows()), (4, 0));
}

/// A vocabulary that grows with every batch is noted when it doubles, not with every batch.
#[test]
fn a_growing_vocabulary_is_noted_when_it_doubles() {
    let mut engine = Engine::new(&EngineParams::default()).unwrap();
    let mut notes = 0;
    for batch in 0..40usize {
        let (mut indptr, mut indices) = (vec![0], Vec::new());
        for row in 0..20usize {
            indices.extend([(row % 2) as u32, (2 + batch * 20 + row) as u32]);
            indptr.push(indices.len());
        }
        let x = Matrix::csr(indptr, indices, vec![1.0; 40], 2 + (batch + 1) * 20).unwrap();
        let labels = (0..20).map(|row| Some(if row % 2 == 0 { "a" } else { "b" }.to_string())).collect();
        let effects = engine.apply(Event::Batch { x, labels }).unwrap();
        notes += effects.notes.iter().filter(|note| note.contains("new")).count();
        engine.apply(Event::Tick { now: 0 }).unwrap();
    }
    assert_eq!(engine.columns(), 802);
    assert!((1..=7).contains(&notes), "{notes}");
}

#[test]
fn labels_report_their_source() {
    let mut rng = Pcg64::seed_from_u64(4);
    let mut engine = Engine::new(&params(KernelChoice::Auto)).unwrap();
    let (x, labels) = rows(40, 2, 0, &mut rng);
    let first = engine.apply(Event::Batch { x, labels }).unwrap();
    assert!(first.labels.iter().all(|l| l.source.is_none() && l.class.is_none()), "no classifier yet");
    engine.apply(Event::Tick { now: 0 }).unwrap();
    let (x, mut labels) = rows(10, 2, 0, &mut rng);
    labels[1..].fill(None);
    let arrived = engine.apply(Event::Batch { x, labels }).unwrap();
    assert!(arrived.labels.iter().all(|l| l.source.is_some_and(|s| s != RowSource::Given)));
    let closed = engine.apply(Event::Tick { now: 0 }).unwrap();
    assert_eq!(closed.labels[0].source, Some(RowSource::Given));
    assert!(closed.labels[1..].iter().all(|l| l.source != Some(RowSource::Given)));
}

/// Late labels are compared with the prediction on arrival and learned. Without other events in between, the model equals
/// the one that labels on arrival give.
#[test]
fn late_labels_are_compared_with_the_prediction_on_arrival_and_learned() {
    let mut rng = Pcg64::seed_from_u64(7);
    let mut engine = Engine::new(&params(KernelChoice::Auto)).unwrap();
    let (x, labels) = rows(60, 2, 0, &mut rng);
    process_batch(&mut engine, x, labels);
    let judged = engine.metrics().given.of;
    let remembered = engine.memory().unwrap().len();
    let (x, labels) = rows(30, 2, 0, &mut rng);
    let base = engine.rows();
    let arrived = engine.apply(Event::Batch { x, labels: vec![None; 30] }).unwrap();
    let names = engine.classes().names().to_vec();
    let right = arrived.labels.iter().zip(&labels);
    let right = right.filter(|(l, t)| l.class.map(|c| &names[c as usize]) == t.as_ref()).count() as u64;
    engine.apply(Event::Await { rows: (0..30).collect() }).unwrap();
    engine.apply(Event::Tick { now: 0 }).unwrap();
    let (later, _) = rows(20, 3, 0, &mut rng); // a new column appears meanwhile
    engine.apply(Event::Batch { x: later, labels: vec![None; 20] }).unwrap();
    engine.apply(Event::Tick { now: 0 }).unwrap();
    let correct = engine.metrics().given.yes;
    let saved = rmp_serde::to_vec_named(&engine).unwrap();
    let mut resumed: Engine = rmp_serde::from_slice(&saved).unwrap();
    let late =
        Event::Labels { labels: (0..30).map(|i| (base + i, labels[i as usize].clone().unwrap())).collect() };
    engine.apply(late.clone()).unwrap();
    resumed.apply(late.clone()).unwrap();
    assert_eq!(engine, resumed);
    assert_eq!(engine.metrics().given.of, judged + 30);
    assert_eq!(engine.metrics().given.yes, correct + right);
    assert_eq!(engine.memory().unwrap().len(), remembered + 30);
    let before = engine.memory().unwrap().len();
    engine.apply(late).unwrap(); // no row waits for a label any more
    assert_eq!((engine.memory().unwrap().len(), engine.metrics().given.of), (before, judged + 30));
}

#[test]
fn the_number_of_rows_waiting_for_labels_is_bounded() {
    let mut rng = Pcg64::seed_from_u64(8);
    let mut engine = Engine::new(&EngineParams { max_rows: 50, ..params(KernelChoice::Auto) }).unwrap();
    let mut stored = Vec::new();
    for _ in 0..8 {
        let (x, _) = rows(50, 2, 0, &mut rng);
        engine.apply(Event::Batch { x, labels: vec![None; 50] }).unwrap();
        engine.apply(Event::Await { rows: (0..50).collect() }).unwrap();
        engine.apply(Event::Tick { now: 0 }).unwrap();
        stored.push(engine.stored_samples());
    }
    assert!(stored[4..].iter().all(|n| *n <= stored[3] + 60), "{stored:?}");
    assert!(engine.plan(Event::Await { rows: vec![50] }).is_err());
    let label = |sample: u64| Event::Labels { labels: vec![(sample, "a".to_string())] };
    engine.apply(label(0)).unwrap();
    assert_eq!(engine.memory().unwrap().len(), 0, "the row was dropped");
    engine.apply(label(399)).unwrap();
    assert_eq!(engine.memory().unwrap().len(), 1);
    assert!(engine.plan(Event::Labels { labels: vec![(398, String::new())] }).is_err());
}
