//! Schedule of comparisons, and selection of the sources to compute.

use super::*;
use crate::data::Matrix;
use crate::kernel::Kernel;

fn size(unlabeled: usize, labels: usize) -> PoolSize {
    PoolSize { rows: unlabeled + labels, labels, values: 2.0, outputs: 1, linear: false }
}

fn compared(losses: [f64; 3], size: PoolSize) -> LabelSources {
    let mut sources = LabelSources::default();
    let of = [Source::Model, Source::Tsvm, Source::Graph];
    let evidence: Vec<_> = of
        .into_iter()
        .zip(losses)
        .map(|(source, loss)| evidence::Evidence {
            source,
            accuracy: Some(0.9),
            held_out: 10,
            correct: 9,
            loss,
            slope: 2.0,
        })
        .collect();
    sources.set(&evidence, (20.0, 0), size, 1);
    sources.count_comparison(size);
    sources
}

#[test]
fn only_a_doubled_pool_is_compared_on_credit() {
    assert!(LabelSources::default().is_due(size(80, 10), 1, false), "first comparison");
    let mut sources = compared([0.5; 3], size(80, 10));
    assert!(!sources.is_due(size(159, 20), 400, true), "new labels, drift and time require credit");
    assert!(sources.is_due(size(160, 10), 2, false));
    sources.count_batch(1e10, &[], size(80, 10));
    assert!(sources.is_due(size(159, 20), 2, false));
    assert!(!sources.is_due(size(159, 10), 2, false), "nothing has changed");
    sources.interval = 64;
    sources.forget();
    assert!(
        sources.is_due(size(159, 10), 5, false),
        "a comparison after drift stays due until there is credit"
    );
}

#[test]
fn sources_of_low_weight_are_omitted_when_they_cost_too_much() {
    let mut sources = compared([0.6, 0.55, 0.3], size(200, 20));
    let active = |s: &LabelSources| s.active().iter().map(|a| a.0).collect::<Vec<_>>();
    let weight = |s: &LabelSources, source| s.weights().iter().find(|w| w.source == source).unwrap().weight;
    assert!((MIN_WEIGHT..CLEAR_WEIGHT).contains(&weight(&sources, Source::Tsvm)));
    assert!(weight(&sources, Source::Graph) > CLEAR_WEIGHT);
    assert_eq!(active(&sources), [Source::Model, Source::Tsvm, Source::Graph]);
    sources.count_batch(0.0, &[(Source::Tsvm, 0.2)], size(600, 20));
    assert_eq!(active(&sources), [Source::Model, Source::Graph]);
    sources.count_batch(1e9, &[], size(600, 20));
    assert_eq!(active(&sources), [Source::Model, Source::Tsvm, Source::Graph]);
}

#[test]
fn inferred_labels_are_learned_unless_most_labels_were_chosen_by_a_strategy() {
    let mut sources = compared([0.6, 0.55, 0.3], size(200, 20));
    assert_eq!([sources.teach(false, 20), sources.teach(true, 20)], [true; 2]);
    let before = sources.inferred_weight();
    sources.count_chosen(11);
    assert!(sources.inferred_weight() < before, "the classifier gains weight");
    assert_eq!([sources.teach(false, 20), sources.teach(true, 20)], [false; 2]);
    let weak = compared([0.3, 0.6, 0.6], size(200, 20));
    assert!((0.03..0.1).contains(&weak.inferred_weight()));
    assert_eq!([weak.teach(false, 20), weak.teach(true, 20)], [false; 2]);
    let between = compared([0.5, 0.6, 0.6], size(200, 20));
    assert!((0.1..0.3).contains(&between.inferred_weight()));
    assert_eq!([between.teach(false, 20), between.teach(true, 20)], [false, true]);
}

#[test]
fn shares_are_estimated_again_when_labels_or_the_stream_have_changed() {
    let mut sources = compared([0.5; 3], size(80, 10));
    assert!(sources.wants_shares(10, false), "none yet");
    sources.shares = vec![0.5; 2];
    assert_eq!([sources.wants_shares(10, false), sources.wants_shares(11, false)], [false, true]);
    assert!(sources.wants_shares(10, true));
    sources.forget_shares();
    assert!(sources.wants_shares(10, false), "a class is new");
}

#[test]
fn shared_kernel_values_barely_change_the_scores() {
    let x = |shift: f64, rows: usize| {
        let cell = |i: usize| if i.is_multiple_of(2) { shift } else { 0.1 * (i % 7) as f64 };
        Matrix::dense((0..2 * rows).map(cell).collect(), rows, 2).unwrap()
    };
    let labels = Matrix::stacked(&[x(0.0, 3).view(), x(1.0, 3).view()]);
    let batch = Matrix::stacked(&[x(0.1, 20).view(), x(0.8, 15).view()]);
    for kernel in [Kernel::Linear, Kernel::Rbf { gamma: 2.0 }] {
        let mut pool = Pool::new(PoolParts {
            labels: labels.view(),
            number: vec![0, 0, 0, 1, 1, 1],
            weight: vec![1.0; 6],
            unchosen: vec![true; 6],
            classes: 2,
            batch: batch.view(),
            transduction: None,
            kernel,
            c: 3.0,
            // shares among the batch and the hidden labels
            shares: vec![21.0 / 37.0, 16.0 / 37.0],
            exact: false,
            max_unlabeled: 100,
        })
        .unwrap();
        let scores = |pool: &Pool<'_>, source| pool.scores(source, &[1, 4], &()).unwrap().unwrap();
        let alone = [Source::Model, Source::Tsvm].map(|source| scores(&pool, source));
        pool.share_kernel_values();
        assert!(pool.kernel_values.is_some());
        for (source, alone) in [Source::Model, Source::Tsvm].into_iter().zip(alone) {
            let shared = scores(&pool, source);
            for (a, b) in alone.rows().zip(shared.rows()) {
                assert!((a[1] - b[1]).abs() < 0.02, "{kernel:?} {source:?}: {a:?} {b:?}");
            }
        }
    }
}
