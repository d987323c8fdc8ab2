//! Saved engines with changed bytes: each is refused, or resumes without a panic.

use evermargin::data::Matrix;
use evermargin::engine::transduction::TransductionParams;
use evermargin::engine::{ClassifierChoice, DriftMethod, Engine, EngineParams, Event, LabelSource};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::{Value, json};

use ClassifierChoice::{Lasvm, Local, SeqLapmed};
use LabelSource::{Auto, Model, Transduction};

fn rows(count: usize, sparse: bool, rng: &mut Pcg64) -> (Matrix, Vec<Option<String>>) {
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let class = rng.random_range(0..3);
        let middle = f64::from(class) * 2.0;
        values.extend([middle + rng.random_range(-1.0..1.0), rng.random_range(-40.0..40.0), 0.0]);
        labels.push(rng.random_bool(0.3).then(|| class.to_string()));
    }
    let x = Matrix::dense(values, count, 3).unwrap();
    (if sparse { x.view().to_csr() } else { x }, labels)
}

/// An engine in the middle of a batch, with pending queries, pairs, rejected rows and evicted rows.
fn engine(sparse: bool, classifier: ClassifierChoice, label_source: LabelSource) -> Engine {
    let rng = &mut Pcg64::seed_from_u64(1);
    let transduction = Some(TransductionParams { evicted_weight: 2.0, exemplars: 6, ..Default::default() });
    let budget = evermargin::engine::Budget { per_batch: 4, queries_per_round: 2, ..Default::default() };
    let drift = match classifier {
        Lasvm if sparse => DriftMethod::Adwin,
        Lasvm => DriftMethod::Windowed,
        Local => DriftMethod::Kswin,
        SeqLapmed => DriftMethod::PageHinkley,
    };
    let params = EngineParams {
        classifier,
        drift,
        label_source,
        transduction,
        budget,
        max_labels: 30,
        max_points: 30,
        cache_bytes: 1 << 16,
        ..Default::default()
    };
    let mut engine = Engine::new(&params).unwrap();
    for k in 0..4 {
        let (mut x, labels) = rows(16, sparse, rng);
        if k == 3 && !sparse {
            let Matrix::Dense { values, .. } = x else { unreachable!() };
            let mut values = values;
            values[7] = f64::NAN;
            x = Matrix::dense_with_any_values(values, 16, 3).unwrap();
        }
        engine.apply(Event::Batch { x, labels }).unwrap();
        let base = engine.rows() - 16;
        engine.apply(Event::Related { a: base, b: base + 1, same: true }).unwrap();
        if k < 3 {
            engine.apply(Event::Tick { now: k }).unwrap();
        }
    }
    let asked = engine.pending_queries()[0];
    engine.apply(Event::Compare { sample: asked }).unwrap();
    assert!(engine.reference_of(asked).is_some());
    assert!(!engine.pending_queries().is_empty() && engine.support_count() > 2);
    engine
}

/// Applies a few events, accepted or refused, to a loaded engine.
fn apply_some_events(mut engine: Engine) {
    let rng = &mut Pcg64::seed_from_u64(2);
    let open = engine.pending_queries().first().copied().unwrap_or(0);
    let labeled = engine.memory().and_then(|m| m.labeled().first().map(|t| t.sample)).unwrap_or(0);
    let asked = engine.pending_queries().get(1).copied().unwrap_or(0);
    if let Some(reference) = engine.reference_of(open) {
        let _ = engine.apply(Event::Related { a: open, b: reference.sample, same: false });
    }
    let _ = engine.apply(Event::Compare { sample: asked });
    let _ = engine.apply(Event::Answer { sample: open, label: "1".into() });
    let _ = engine.apply(Event::Correct { sample: labeled, label: "new".into() });
    let _ = engine.apply(Event::Tick { now: u64::MAX });
    let (x, labels) = rows(8, false, rng);
    let _ = engine.apply(Event::Batch { x, labels });
    let _ = engine.apply(Event::Withdraw { sample: labeled });
    let _ = engine.apply(Event::Ask { count: 3 });
    let _ = engine.apply(Event::Tick { now: u64::MAX });
    let _ = (engine.classifier(), engine.stored_samples(), engine.support_count());
    let bytes = rmp_serde::to_vec_named(&engine).unwrap();
    drop(rmp_serde::from_slice::<Engine>(&bytes));
}

/// JSON pointers of all values in a value, with at most four items per array.
fn pointers_of(value: &Value, path: &str, out: &mut Vec<String>) {
    out.push(path.to_string());
    match value {
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate().filter(|(i, _)| *i < 3 || i + 1 == items.len()) {
                pointers_of(item, &format!("{path}/{i}"), out);
            }
        }
        Value::Object(fields) => fields.iter().for_each(|(k, v)| pointers_of(v, &format!("{path}/{k}"), out)),
        _ => {}
    }
}

/// Every field of a state is replaced by invalid values of every kind.
#[test]
fn states_with_invalid_values_do_not_panic() {
    let mut tried = [0, 0];
    let kinds = [
        (false, Lasvm, Model),
        (true, Lasvm, Transduction),
        (false, SeqLapmed, Model),
        (true, SeqLapmed, Model),
        (false, Local, Model),
        (false, Lasvm, Auto),
    ];
    for (sparse, classifier, label_source) in kinds {
        let state = serde_json::to_value(engine(sparse, classifier, label_source)).unwrap();
        assert!(serde_json::from_value::<Engine>(state.clone()).is_ok());
        let mut all = Vec::new();
        pointers_of(&state, "", &mut all);
        for place in all {
            // Comparing label sources is slow, and the other parts were changed above.
            if label_source == Auto && !place.contains("label_sources") {
                continue;
            }
            let Some(old) = state.pointer(&place) else { panic!("{place}") };
            for new in replacements_for(old) {
                let mut mutant = state.clone();
                *mutant.pointer_mut(&place).unwrap() = new;
                let loaded = serde_json::from_value::<Engine>(mutant);
                tried[usize::from(loaded.is_ok())] += 1;
                loaded.into_iter().for_each(apply_some_events);
            }
        }
    }
    assert!(tried[0] > 3000 && tried[1] > 300, "{tried:?} refused and loaded");
}

fn replacements_for(old: &Value) -> Vec<Value> {
    match old {
        Value::Number(n) => {
            let v = n.as_f64().unwrap_or(0.0);
            let mut out = vec![
                json!(0),
                json!(1),
                json!(-1),
                json!(v + 1.0),
                json!(1e308),
                json!(-1e90),
                json!(1e-320),
                Value::Null,
            ];
            out.extend([u64::MAX, u64::from(u32::MAX), 1 << 53, 1 << 40].map(Value::from));
            out.extend(n.as_u64().into_iter().flat_map(|n| [n.saturating_sub(1), n + 1]).map(Value::from));
            out
        }
        Value::Array(items) => {
            let mut out = vec![json!([]), json!([1.5]), Value::Null];
            if !items.is_empty() {
                out.push(items[1..].to_vec().into());
                out.push(items.iter().chain(&items[..1]).cloned().collect());
                out.push(items.iter().rev().cloned().collect());
            }
            out
        }
        Value::String(_) => vec![json!(""), json!("rbf"), json!("none"), json!("x".repeat(1000)), json!(3)],
        Value::Bool(b) => vec![json!(!b), json!(7)],
        Value::Null => vec![json!(0), json!(3), json!([]), json!("strategy")],
        Value::Object(_) => vec![json!({}), Value::Null, json!([])],
    }
}

/// Random bytes of a state are changed, also to NaN and infinity.
#[test]
fn states_with_changed_bytes_do_not_panic() {
    let rng = &mut Pcg64::seed_from_u64(3);
    let kinds = [
        (false, Lasvm, Model, 3000),
        (true, Lasvm, Transduction, 3000),
        (false, SeqLapmed, Model, 3000),
        (true, Local, Model, 3000),
        (true, Lasvm, Auto, 150),
    ];
    for (sparse, classifier, label_source, mutants) in kinds {
        let bytes = rmp_serde::to_vec_named(&engine(sparse, classifier, label_source)).unwrap();
        assert!(rmp_serde::from_slice::<Engine>(&bytes).is_ok());
        for _ in 0..mutants {
            let mut mutant = bytes.clone();
            let at = rng.random_range(0..mutant.len());
            match rng.random_range(0..4) {
                0 => mutant[at] ^= 1 << rng.random_range(0..8),
                1 => mutant[at] = rng.random(),
                2 => {
                    let end = (at + 8).min(mutant.len());
                    mutant[at..end].fill(if rng.random_bool(0.5) { 0xff } else { 0x7f });
                }
                _ => {
                    let float = [f64::NAN, f64::INFINITY, 1e300, -0.0][rng.random_range(0..4)].to_be_bytes();
                    if let Some(at) = (at..bytes.len() - 9).find(|&i| bytes[i] == 0xcb) {
                        mutant[at + 1..at + 9].copy_from_slice(&float);
                    }
                }
            }
            rmp_serde::from_slice::<Engine>(&mutant).into_iter().for_each(apply_some_events);
        }
    }
}
