//! Selection of queries by the engine: the bandit, SUBMOD-ACTV and its learned weights, and prices.

use evermargin::active::Stopped;
use evermargin::data::Matrix;
use evermargin::engine::{
    Budget, Engine, EngineParams, Event, KernelChoice, LabelSource, QueryStrategy, SubmodWeights,
};
use evermargin::kernel::Kernel;
use evermargin::model::ScalingName;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// A batch of Gaussian-like clouds, one per class, on a circle; `noise` of the labels is wrong.
fn clouds(rows: usize, classes: u32, noise: f64, rng: &mut Pcg64) -> (Matrix, Vec<String>) {
    let (mut values, mut names) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let class = rng.random_range(0..classes);
        let angle = std::f64::consts::TAU * f64::from(class) / f64::from(classes);
        for center in [angle.cos(), angle.sin()] {
            let spread: f64 = (0..4).map(|_| rng.random_range(-0.5..0.5)).sum();
            values.push(1.2 * center + spread);
        }
        let class = if rng.random::<f64>() < noise { (class + 1) % classes } else { class };
        names.push(format!("class {class}"));
    }
    (Matrix::dense(values, rows, 2).unwrap(), names)
}

fn params(query_strategy: QueryStrategy) -> EngineParams {
    EngineParams {
        query_strategy,
        budget: Budget { per_batch: 4, ..Default::default() },
        kernel: KernelChoice::Fixed(Kernel::Rbf { gamma: 0.5 }),
        scale: Some(ScalingName::None),
        label_source: LabelSource::Model,
        ..Default::default()
    }
}

/// Result of a stream of batches with an annotator who answers everything.
struct Outcome {
    engine: Engine,
    events: Vec<Event>,
    /// Rows whose first label was wrong or missing.
    errors: usize,
    advice: Vec<Stopped>,
}

fn stream(params: &EngineParams, batches: usize, rows: usize, classes: u32, noise: f64) -> Outcome {
    let mut rng = Pcg64::seed_from_u64(5);
    let engine = Engine::new(params).unwrap();
    let mut out = Outcome { engine, events: Vec::new(), errors: 0, advice: Vec::new() };
    for batch in 0..batches {
        let (x, names) = clouds(rows, classes, noise, &mut rng);
        let labels = vec![None; rows];
        let mut waiting = vec![Event::Batch { x, labels }];
        let mut first = true;
        while let Some(event) = waiting.pop() {
            let effects = out.engine.apply(event.clone()).unwrap();
            out.events.push(event);
            out.advice.extend(effects.advice);
            if std::mem::take(&mut first) {
                let known = out.engine.classes().names();
                let right = effects.labels.iter().zip(&names);
                let right = right.filter(|(l, n)| l.class.is_some_and(|c| known[c as usize] == **n));
                out.errors += rows - right.count();
            }
            let answers = effects.questions.iter();
            waiting.extend(answers.map(|q| Event::Answer { sample: q.sample, label: names[q.row].clone() }));
        }
        let tick = Event::Tick { now: batch as u64 };
        out.engine.apply(tick.clone()).unwrap();
        out.events.push(tick);
    }
    out
}

#[test]
fn adaptive_strategies_resume_bit_identically_for_any_number_of_threads() {
    let learned = EngineParams { submod_weights: SubmodWeights::Learned, ..params(QueryStrategy::Submod) };
    let priced =
        EngineParams { label_price: Some(1.0), error_price: Some(1.0), ..params(QueryStrategy::SmallPool) };
    for params in [params(QueryStrategy::Bandit), learned, priced] {
        let live = stream(&params, 14, 40, 3, 0.05);
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let replayed = pool.install(|| {
                let mut engine = Engine::new(&params).unwrap();
                for event in &live.events {
                    engine.apply(event.clone()).unwrap();
                    let bytes = rmp_serde::to_vec_named(&engine).unwrap();
                    engine = rmp_serde::from_slice(&bytes).unwrap();
                }
                engine
            });
            assert!(replayed == live.engine, "{:?}, {threads} threads", params.query_strategy);
        }
    }
}

#[test]
fn the_bandit_counts_every_answer_and_prefers_queries_near_the_boundary() {
    let out = stream(&params(QueryStrategy::Bandit), 60, 40, 2, 0.0);
    let arms = out.engine.query_arms();
    let answers: u64 = arms.iter().map(|a| a.2).sum();
    let total = out.engine.budget_usage().total;
    // the first queries have no classifier to contradict
    assert!(answers <= total && answers + 8 >= total, "{answers} of {total}");
    let near = arms.iter().filter(|a| matches!(a.0, QueryStrategy::SmallPool | QueryStrategy::Diverse));
    let near: u64 = near.map(|a| a.2).sum();
    assert!(near * 2 > answers, "{arms:?}");
    assert!(stream(&params(QueryStrategy::SmallPool), 2, 40, 2, 0.0).engine.query_arms().is_empty());
}

#[test]
fn submod_queries_find_all_of_several_classes() {
    for submod_weights in SubmodWeights::ALL {
        let params = EngineParams { submod_weights, ..params(QueryStrategy::Submod) };
        let out = stream(&params, 15, 60, 3, 0.0);
        assert_eq!(out.engine.classes().len(), 3, "{submod_weights:?}");
        assert!(out.errors < 15 * 60 / 3, "{submod_weights:?}: {}", out.errors);
    }
}

/// Total cost of a run: labels and errors.
fn cost(out: &Outcome, label: f64, error: f64) -> f64 {
    label * out.engine.budget_usage().total as f64 + error * out.errors as f64
}

#[test]
fn prices_make_a_stream_cheaper_than_always_or_never_querying() {
    let unpriced = |per_batch: usize| EngineParams {
        budget: Budget { per_batch, ..Default::default() },
        exploration_rate: 0.3,
        max_margin_distance: f64::MAX,
        ..params(QueryStrategy::SmallPool)
    };
    let always = stream(&unpriced(10), 60, 50, 2, 0.1);
    let never = stream(&EngineParams { query_strategy: QueryStrategy::None, ..unpriced(10) }, 60, 50, 2, 0.1);
    let mut spent = Vec::new();
    for label in [1.0, 3.0, 10.0, 40.0] {
        let priced = EngineParams { label_price: Some(label), error_price: Some(1.0), ..unpriced(10) };
        let out = stream(&priced, 60, 50, 2, 0.1);
        let costs = [&out, &always, &never].map(|o| cost(o, label, 1.0));
        assert!(costs[0] < costs[1] && costs[0] < costs[2], "label {label}: {costs:?}");
        assert!(out.advice.contains(&Stopped::Price), "label {label}");
        spent.push(out.engine.budget_usage().total);
    }
    assert!(spent.is_sorted_by(|a, b| a >= b) && spent[0] > spent[3], "{spent:?}");
    // a label that costs more than it can save is not queried
    let expensive = EngineParams { label_price: Some(1e9), error_price: Some(1.0), ..unpriced(10) };
    assert_eq!(stream(&expensive, 5, 50, 2, 0.1).engine.budget_usage().total, 0);
}

#[test]
fn refuses_a_price_without_its_counterpart() {
    let base = params(QueryStrategy::SmallPool);
    for (label_price, error_price) in [(Some(1.0), None), (None, Some(1.0)), (Some(-1.0), Some(1.0))] {
        assert!(Engine::new(&EngineParams { label_price, error_price, ..base.clone() }).is_err());
    }
}
