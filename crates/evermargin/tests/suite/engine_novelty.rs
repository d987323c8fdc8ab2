//! Rows unlike all earlier ones: a new class is detected and queried in its first batch, and stationary streams raise no
//! alarm.

use evermargin::data::Matrix;
use evermargin::engine::{Effects, Engine, EngineParams, Event, KernelChoice, QueryReason, QueryStrategy};
use evermargin::kernel::Kernel;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

const ROWS: usize = 100;

/// A batch of Gaussian-like clouds, one per class. The third lies behind the second, as seen from the first, and so far
/// from a linear boundary between these two.
fn clouds(classes: usize, sparse: bool, rng: &mut Pcg64) -> (Matrix, Vec<usize>) {
    const CENTERS: [[f64; 3]; 3] = [[0.0, 0.0, 0.0], [3.0, 0.0, 0.0], [12.0, 0.0, 0.0]];
    let (mut values, mut truth) = (Vec::new(), Vec::new());
    for _ in 0..ROWS {
        let class = rng.random_range(0..classes);
        truth.push(class);
        for center in CENTERS[class] {
            values.push(center + (0..4).map(|_| rng.random_range(-0.8..0.8)).sum::<f64>());
        }
    }
    let x = Matrix::dense(values, ROWS, 3).unwrap();
    (if sparse { x.view().to_csr() } else { x }, truth)
}

fn has_alarm(effects: &Effects) -> bool {
    effects.notes.iter().any(|note| note.contains("unlike all before"))
}

/// Result of a stream whose third class appears in batch `new` (from 0).
#[derive(Debug, Default)]
struct Outcome {
    /// Batches with an alarm.
    alarms: Vec<usize>,
    /// Queries with reason `Novel`, as batch and true class.
    novel: Vec<(usize, usize)>,
    /// Number of labels of the third class in its first two batches.
    third_class_labels: usize,
    questions: usize,
    state: Vec<u8>,
}

fn stream(
    params: &EngineParams,
    batches: usize,
    new: usize,
    sparse: bool,
    is_saved: bool,
    seed: u64,
) -> Outcome {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut engine = Engine::new(params).unwrap();
    let mut out = Outcome::default();
    for batch in 0..batches {
        let (x, truth) = clouds(if batch >= new { 3 } else { 2 }, sparse, &mut rng);
        let mut effects = engine.apply(Event::Batch { x, labels: vec![None; ROWS] }).unwrap();
        if has_alarm(&effects) {
            out.alarms.push(batch);
        }
        while let Some(question) = effects.questions.pop() {
            let class = truth[question.row];
            out.questions += 1;
            out.third_class_labels += usize::from(class == 2 && batch < new + 2);
            if question.why == QueryReason::Novel {
                out.novel.push((batch, class));
            }
            if is_saved {
                engine = rmp_serde::from_slice(&rmp_serde::to_vec_named(&engine).unwrap()).unwrap();
            }
            let answer = Event::Answer { sample: question.sample, label: class.to_string() };
            effects = engine.apply(answer).unwrap();
        }
    }
    out.state = rmp_serde::to_vec_named(&engine).unwrap();
    out
}

fn params(novelty: bool, seed: u64) -> EngineParams {
    EngineParams { novelty, seed, kernel: KernelChoice::Fixed(Kernel::Linear), ..Default::default() }
}

#[test]
fn a_new_class_is_detected_and_queried_in_its_first_batch() {
    for sparse in [false, true] {
        let (mut with, mut without) = (0, 0);
        for seed in 0..5 {
            let out = stream(&params(true, seed), 12, 10, sparse, false, seed);
            assert_eq!(out.alarms.first(), Some(&10), "seed {seed}: {:?}", out.alarms);
            let asked = out.novel.iter().filter(|(batch, class)| *batch == 10 && *class == 2).count();
            assert!(asked >= 1, "seed {seed}: {:?}", out.novel);
            assert!(
                out.novel.iter().filter(|(batch, _)| *batch == 10).count() <= 2,
                "at most a fifth of ten"
            );
            let plain = stream(&params(false, seed), 12, 10, sparse, false, seed);
            assert!(plain.alarms.is_empty() && plain.novel.is_empty());
            assert!(out.questions <= 120 && plain.questions <= 120);
            (with, without) = (with + out.third_class_labels, without + plain.third_class_labels);
        }
        assert!(with > without, "labels of the new class: {with} with the alarm, {without} without");
    }
}

#[test]
fn stationary_streams_raise_no_alarm() {
    let alarms: Vec<usize> = (0..5)
        .map(|seed| {
            let params = EngineParams { query_strategy: QueryStrategy::Margin, ..params(true, seed) };
            stream(&params, 50, usize::MAX, false, false, seed).alarms.len()
        })
        .collect();
    // 250 batches at a level of 1/1000; more than two have a probability of 0.2 %
    assert!(alarms.iter().sum::<usize>() <= 2, "{alarms:?}");
}

#[test]
fn an_engine_with_an_alarm_resumes_bit_identically() {
    let (live, saved) =
        (stream(&params(true, 3), 12, 10, false, false, 3), stream(&params(true, 3), 12, 10, false, true, 3));
    assert!(!live.novel.is_empty());
    assert_eq!((live.state, live.novel), (saved.state, saved.novel));
}

#[test]
fn without_informative_queries_novelty_causes_no_queries() {
    for (strategy, per_batch) in
        [(QueryStrategy::None, 10), (QueryStrategy::Random, 10), (QueryStrategy::Margin, 0)]
    {
        let mut params = EngineParams { query_strategy: strategy, ..params(true, 1) };
        params.budget.per_batch = per_batch;
        let out = stream(&params, 12, 10, false, false, 1);
        assert!(out.novel.is_empty() && out.alarms.contains(&10), "{}: {:?}", strategy.name(), out.alarms);
    }
}
