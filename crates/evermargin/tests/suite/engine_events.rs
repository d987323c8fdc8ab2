//! Random events, most of them invalid: a refused event changes no byte, and replay of committed events gives the live
//! state.

use evermargin::data::Matrix;
use evermargin::engine::transduction::TransductionParams;
use evermargin::engine::{
    Budget, ClassifierChoice, DriftMethod, Engine, EngineParams, Event, Forgetting, KernelChoice,
    LabelSource, PairwiseQueries, QueryStrategy,
};
use evermargin::estimators::ClassWeight;
use evermargin::estimators::online::lasvm::LasvmVariant;
use evermargin::estimators::transductive::submod::Variant;
use evermargin::kernel::Kernel;
use evermargin::model::ScalingName;
use evermargin::pipeline::train::Gamma;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

fn bytes(engine: &Engine) -> Vec<u8> {
    rmp_serde::to_vec_named(engine).unwrap()
}

fn pick<T: Clone>(rng: &mut Pcg64, of: &[T]) -> T {
    of[rng.random_range(0..of.len())].clone()
}

/// Random parameters with small limits.
fn params(rng: &mut Pcg64) -> EngineParams {
    use KernelChoice::{Auto, Fixed, Rbf};
    let kernels = [
        Auto,
        Auto,
        Rbf(Gamma::Scale),
        Fixed(Kernel::Linear),
        Fixed(Kernel::Rbf { gamma: 1e-3 }),
        Fixed(Kernel::Poly { gamma: 0.5, coef0: 1.0, degree: 3 }),
        Fixed(Kernel::Poly { gamma: 1e-3, coef0: 0.0, degree: 16 }),
        Fixed(Kernel::Sigmoid { gamma: 0.1, coef0: 0.0 }),
    ];
    let scales =
        [None, None, None, Some(ScalingName::Standard), Some(ScalingName::None), Some(ScalingName::Unit)];
    let transduction = TransductionParams {
        evicted_weight: pick(rng, &[0.0, 2.0]),
        variant: pick(rng, &[Variant::Swift, Variant::Polished]),
        kernel: pick(rng, &[Kernel::Linear, Kernel::Linear, Kernel::Rbf { gamma: 0.3 }]),
        ..Default::default()
    };
    let classifier = pick(rng, &ClassifierChoice::ALL);
    // One engine in sixteen compares its label sources, which is slow.
    let mut sources = vec![LabelSource::Model; 12];
    sources.extend([LabelSource::Auto, LabelSource::Transduction, LabelSource::Graph, LabelSource::Tsvm]);
    let losses: &[LasvmVariant] = match classifier {
        ClassifierChoice::Lasvm => &[LasvmVariant::Hinge, LasvmVariant::Hinge, LasvmVariant::Ramp],
        ClassifierChoice::Local | ClassifierChoice::SeqLapmed => &[LasvmVariant::Hinge],
    };
    EngineParams {
        classifier,
        kernel: pick(rng, &kernels),
        scale: pick(rng, &scales),
        loss: pick(rng, losses),
        c_inferred: pick(rng, &[0.0, 0.3]),
        class_weight: pick(rng, &[ClassWeight::None, ClassWeight::Balanced, ClassWeight::Ratio]),
        label_source: pick(rng, &sources),
        transduction: Some(transduction),
        query_strategy: pick(rng, &QueryStrategy::ALL),
        budget: Budget {
            per_batch: 4,
            queries_per_round: pick(rng, &[0, 1, 2]),
            rounds_on_request: rng.random_bool(0.1),
            ..Default::default()
        },
        pairwise_queries: pick(rng, &PairwiseQueries::ALL),
        forget: pick(
            rng,
            &[Forgetting::Nothing, Forgetting::Window(15), Forgetting::HalfLife(3), Forgetting::OnDrift(4)],
        ),
        drift: pick(rng, &DriftMethod::ALL),
        novelty: rng.random_bool(0.7),
        exploration_rate: 0.3,
        max_labels: 20,
        max_points: 25,
        max_rows: 12,
        max_open: 5,
        max_classes: 4,
        max_features: pick(rng, &[None, Some(4)]),
        cache_bytes: 1 << 16,
        seed: rng.random_range(0..9),
        ..Default::default()
    }
}

const HOSTILE: [f64; 16] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::MAX,
    f64::MIN,
    1e100,
    -1e99,
    1e60,
    3e15,
    9_223_372_036_854_775_807.0,
    1e14,
    1e-9,
    5e-324,
    -1e-310,
    f64::MIN_POSITIVE,
    0.0,
];

fn batch(rng: &mut Pcg64, cols: usize) -> Event {
    let count = pick(rng, &[0, 1, 2, 5, 8, 12, 13]);
    let cols = match rng.random_range(0..30) {
        0 => cols + 1,
        1 => cols + rng.random_range(1..5),
        2 if cols > 1 => cols - 1,
        _ => cols,
    };
    let size = pick(rng, &[1.0, 1.0, 1.0, 1.0, 1e-9, 1e7, 1e30, 1e-300]);
    let mut values: Vec<f64> = Vec::new();
    for i in 0..count {
        let side = if rng.random_bool(0.5) { 2.0 } else { -2.0 };
        match rng.random_range(0..12) {
            0 => values.extend(vec![0.0; cols]),
            1 if i > 0 => values.extend_from_within((i - 1) * cols..),
            _ => values
                .extend((0..cols).map(|c| size * (f64::from(c == 0) * side + rng.random_range(-1.0..1.0)))),
        }
    }
    if rng.random_bool(0.2) {
        values.iter_mut().skip(1).step_by(cols).for_each(|v| *v = 3.0);
    }
    let odd = if rng.random_bool(0.3) { rng.random_range(1..4) } else { 0 };
    for _ in 0..odd.min(values.len()) {
        let at = rng.random_range(0..values.len());
        values[at] = pick(rng, &HOSTILE);
    }
    let labels = rng.random_range(0.0..0.5);
    let labels = (0..count).map(|_| rng.random_bool(labels).then(|| name(rng)));
    let mut labels: Vec<Option<String>> = labels.collect();
    if rng.random_bool(0.02) {
        labels.push(None);
    }
    let x = Matrix::dense_with_any_values(values, count, cols).unwrap();
    let x = if rng.random_bool(0.2) { x.view().to_csr() } else { x };
    Event::Batch { x, labels }
}

fn name(rng: &mut Pcg64) -> String {
    let names = ["1", "2", "2.0", "+1", "spam", "ham", "", "  ", "third", "fourth", "fifth"];
    if rng.random_bool(0.05) {
        return "n".repeat(rng.random_range(250..260));
    }
    let some = if rng.random_bool(0.8) { 3 } else { names.len() };
    pick(rng, &names[..some]).to_string()
}

/// A sample that may be queried, labeled, recent, rejected, evicted or not yet seen.
fn sample(rng: &mut Pcg64, engine: &Engine) -> u64 {
    let open = engine.pending_queries();
    let labeled: Vec<u64> =
        engine.memory().map_or_else(Vec::new, |m| m.labeled().iter().map(|t| t.sample).collect());
    match rng.random_range(0..10) {
        0..5 if !open.is_empty() => pick(rng, &open),
        0..7 if !labeled.is_empty() => pick(rng, &labeled),
        7 => rng.random(),
        _ => engine.rows().saturating_sub(rng.random_range(0..14)),
    }
}

fn late_labels(rng: &mut Pcg64, engine: &Engine) -> Event {
    let last = engine.rows();
    let count = rng.random_range(0..6);
    let sample = |rng: &mut Pcg64| last.saturating_sub(rng.random_range(0..20));
    Event::Labels { labels: (0..count).map(|_| (sample(rng), name(rng))).collect() }
}

fn event(rng: &mut Pcg64, engine: &Engine, cols: usize) -> Event {
    match rng.random_range(0..23) {
        20 => Event::Await { rows: (0..rng.random_range(0..9)).collect() },
        21 | 22 => late_labels(rng, engine),
        0..5 => batch(rng, cols.max(engine.columns())),
        5..11 => Event::Answer { sample: sample(rng, engine), label: name(rng) },
        11 => Event::Skip { sample: sample(rng, engine) },
        12 => Event::Correct { sample: sample(rng, engine), label: name(rng) },
        13 => Event::Withdraw { sample: sample(rng, engine) },
        14 if rng.random_bool(0.5) => Event::Compare { sample: sample(rng, engine) },
        14 if rng.random_bool(0.5) => {
            // An answer to a comparison.
            let a = sample(rng, engine);
            let b = engine.reference_of(a).map_or(0, |reference| reference.sample);
            Event::Related { a, b, same: rng.random_bool(0.3) }
        }
        14..16 => {
            Event::Related { a: sample(rng, engine), b: sample(rng, engine), same: rng.random_bool(0.5) }
        }
        16..18 => Event::Ask { count: pick(rng, &[0, 1, 3, usize::MAX]) },
        _ => Event::Tick {
            now: pick(rng, &[engine.now(), engine.now() + 1, engine.now().saturating_sub(1), 0]),
        },
    }
}

fn check_caps(engine: &Engine) {
    let params = engine.params();
    if let Some(memory) = engine.memory() {
        assert!(memory.len() <= params.max_labels);
        assert_eq!(memory.rows().rows(), memory.len());
    }
    assert!(engine.pending_queries().len() <= params.max_open);
    assert!(engine.classes().len() <= params.max_classes);
    assert!(
        engine.stored_samples()
            <= 4 * params.max_rows + params.max_labels + params.max_points + params.max_open
    );
    assert!(engine.rejected_rows() <= engine.rows());
    // A first batch may have up to seven columns.
    assert!(engine.columns() <= 7 || params.max_features.is_none());
}

/// One stream of random events in three ways: live, saved and loaded at random times, and replayed from the beginning.
fn stream(seed: u64, count: usize) -> [usize; 2] {
    let rng = &mut Pcg64::seed_from_u64(seed);
    let params = params(rng);
    let cols = rng.random_range(1..4);
    let mut live = Engine::new(&params).unwrap();
    let mut loaded = live.clone();
    let (mut accepted, mut effects, mut refused) = (Vec::new(), Vec::new(), 0);
    let mut before = bytes(&live);
    for k in 0..count {
        let event = event(rng, &live, cols);
        match live.plan(event.clone()) {
            Err(error) => {
                assert!(error.to_string().len() > 5);
                assert!(live.apply(event.clone()).is_err());
                assert_eq!(
                    bytes(&live),
                    before,
                    "seed {seed}, event {k}: refused, but the state has changed"
                );
                refused += 1;
            }
            Ok(plan) => {
                if rng.random_bool(0.1) {
                    assert_eq!(bytes(&live), before, "seed {seed}, event {k}: a plan has changed the state");
                }
                effects.push(live.commit(plan));
                before = bytes(&live);
                let plan = loaded.plan_watched(event.clone(), &()).unwrap();
                assert_eq!(loaded.commit(plan), effects[effects.len() - 1], "seed {seed}, event {k}");
                if rng.random_bool(0.1) {
                    loaded = rmp_serde::from_slice(&bytes(&loaded))
                        .unwrap_or_else(|e| panic!("seed {seed}, event {k}: {e}"));
                }
                accepted.push(event);
                check_caps(&live);
            }
        }
    }
    assert_eq!(bytes(&loaded), before, "seed {seed}: saved and loaded");
    let mut replayed = Engine::new(&params).unwrap();
    for (k, (event, live)) in accepted.iter().zip(&effects).enumerate() {
        assert_eq!(replayed.apply(event.clone()).unwrap(), *live, "seed {seed}, accepted event {k}");
    }
    assert_eq!(bytes(&replayed), before, "seed {seed}: replayed");
    if let Some(classifier) = live.classifier() {
        classifier.check().unwrap();
    }
    [accepted.len(), refused]
}

#[test]
fn random_events_are_refused_or_applied_as_a_whole() {
    let counts: Vec<[usize; 2]> = (0..100).map(|seed| stream(seed, 110)).collect();
    let [accepted, refused] = counts.iter().fold([0, 0], |sum, count| [sum[0] + count[0], sum[1] + count[1]]);
    assert!(accepted + refused >= 10_000 && accepted > 5_000 && refused > 1_000, "{accepted} {refused}");
}
