//! Queries that compare a sample with a labeled one: which are made, what their answers imply, and that saved states keep
//! them.

use evermargin::data::Matrix;
use evermargin::engine::{
    Budget, Effects, Engine, EngineParams, Event, ImpliedLabel, PairwiseQueries, QueryReason, Question,
};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::collections::{BTreeMap, BTreeSet};

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// Rows of the first `classes` of four clouds at the corners of a square.
fn clouds(rows: usize, classes: usize, spread: f64, rng: &mut Pcg64) -> (Matrix, Vec<String>) {
    let corners = [[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [4.0, 4.0]];
    let of: Vec<usize> = (0..rows).map(|_| rng.random_range(0..classes)).collect();
    let value = |v: f64, rng: &mut Pcg64| v + rng.random_range(-spread..spread);
    let values = of.iter().flat_map(|&c| corners[c]).map(|v| value(v, rng)).collect();
    (Matrix::dense(values, rows, 2).unwrap(), of.iter().map(|&c| NAMES[c].to_string()).collect())
}

fn params(pairwise_queries: PairwiseQueries) -> EngineParams {
    EngineParams {
        budget: Budget { per_batch: 12, ..Default::default() },
        exploration_rate: 0.0,
        max_margin_distance: 1e6,
        pairwise_queries,
        ..Default::default()
    }
}

/// An engine with labels of each class, after a batch without labels; returns its class names and first queries.
fn engine_with_queries(params: &EngineParams, classes: usize, spread: f64) -> (Engine, Vec<String>, Effects) {
    let rng = &mut Pcg64::seed_from_u64(5);
    let mut engine = Engine::new(params).unwrap();
    let (x, names) = clouds(40, classes, 0.5, rng);
    let first = Event::Batch { x, labels: names.iter().map(|n| Some(n.clone())).collect() };
    engine.apply(first).unwrap();
    let (x, later) = clouds(30, classes, spread, rng);
    let effects = engine.apply(Event::Batch { x, labels: vec![None; 30] }).unwrap();
    (engine, [names, later].concat(), effects)
}

fn label(engine: &Engine, sample: u64) -> Option<String> {
    let memory = engine.memory()?;
    let class = memory.labeled()[memory.find(sample)?].class;
    Some(engine.classes().names()[class as usize].clone())
}

fn reference(question: &Question) -> (u64, &str) {
    let reference = question.reference.as_ref().unwrap();
    (reference.sample, &reference.class)
}

/// An annotator who compares but does not name: classes are excluded one by one, until the last one is implied.
#[test]
fn differences_exclude_classes_until_the_last_one_follows() {
    let (mut engine, names, first) = engine_with_queries(&params(PairwiseQueries::OnRequest), 4, 0.5);
    let question = &first.questions[0];
    let (sample, guess) = (question.sample, question.guess.clone().unwrap());
    assert!(question.reference.is_none() && engine.reference_of(sample).is_none());
    assert!(engine.apply(Event::Related { a: sample, b: sample, same: true }).is_err());
    let spent = engine.budget_usage().total;
    let effects = engine.apply(Event::Compare { sample }).unwrap();
    assert!(engine.apply(Event::Compare { sample }).is_err(), "the query is already a comparison");
    assert_eq!(engine.budget_usage().total, spent, "the query was not answered yet");
    let mut question = effects.questions[0].clone();
    let mut excluded = BTreeSet::new();
    for round in 0..3 {
        let (other, class) = (reference(&question).0, reference(&question).1.to_string());
        assert_eq!(engine.reference_of(sample), question.reference);
        assert_eq!(names[other as usize], class, "the reference must have this label");
        assert!(round > 0 || class == guess, "the predicted class is compared first");
        assert!(excluded.insert(class), "a class is excluded only once");
        let effects = engine.apply(Event::Related { a: other, b: sample, same: false }).unwrap();
        assert_eq!(engine.excluded_classes(sample), excluded.iter().collect::<Vec<_>>());
        if round == 2 {
            let last = NAMES.iter().find(|n| !excluded.contains(**n)).unwrap().to_string();
            assert_eq!(effects.implied, [ImpliedLabel { sample, label: Some(last.clone()) }]);
            assert_eq!(label(&engine, sample), Some(last));
            assert!(!engine.pending_queries().contains(&sample));
            assert_ne!(effects.questions[0].sample, sample, "the next round");
        } else {
            question = effects.questions[0].clone();
            assert_eq!((question.sample, effects.questions.len()), (sample, 1));
            assert_eq!(engine.budget_usage().total, spent + round + 1);
            assert_eq!(label(&engine, sample), None);
        }
    }
}

#[test]
fn a_same_class_answer_is_learned_corrected_and_withdrawn() {
    let (mut engine, names, first) = engine_with_queries(&params(PairwiseQueries::OnRequest), 3, 0.5);
    let sample = first.questions[0].sample;
    let effects = engine.apply(Event::Compare { sample }).unwrap();
    let (other, class) = reference(&effects.questions[0]);
    let effects = engine.apply(Event::Related { a: sample, b: other, same: true }).unwrap();
    assert_eq!(effects.implied, [ImpliedLabel { sample, label: Some(class.to_string()) }]);
    let memory = engine.memory().unwrap();
    assert_eq!(memory.labeled()[memory.find(sample).unwrap()].follows, Some(other));
    // The label changes with that of its reference.
    let new = NAMES.iter().find(|n| **n != names[other as usize]).unwrap().to_string();
    let corrected = engine.apply(Event::Correct { sample: other, label: new.clone() }).unwrap();
    assert_eq!(corrected.implied, [ImpliedLabel { sample, label: Some(new.clone()) }]);
    assert_eq!(label(&engine, sample), Some(new));
    let withdrawn = engine.apply(Event::Withdraw { sample: other }).unwrap();
    assert_eq!(withdrawn.implied, [ImpliedLabel { sample, label: None }]);
    assert_eq!((label(&engine, sample), label(&engine, other)), (None, None));
}

/// A comparison is replaced when the label of its reference is changed or withdrawn.
#[test]
fn comparisons_follow_the_label_of_their_reference() {
    for withdraw in [false, true] {
        let (mut engine, _, first) = engine_with_queries(&params(PairwiseQueries::OnRequest), 3, 0.5);
        let sample = first.questions[0].sample;
        let effects = engine.apply(Event::Compare { sample }).unwrap();
        let (other, class) =
            (reference(&effects.questions[0]).0, reference(&effects.questions[0]).1.to_string());
        let new = NAMES[..3].iter().find(|n| **n != class).unwrap().to_string();
        let event = if withdraw {
            Event::Withdraw { sample: other }
        } else {
            Event::Correct { sample: other, label: new }
        };
        let effects = engine.apply(event).unwrap();
        let (another, same_class) = reference(&effects.questions[0]);
        assert_eq!((effects.questions[0].sample, same_class), (sample, class.as_str()));
        assert_ne!(another, other);
        let memory = engine.memory().unwrap();
        assert!(memory.find(another).is_some(), "the reference has a label");
    }
}

#[test]
fn a_skip_leads_to_a_comparison_only_in_mode_after_skip() {
    for (mode, compares) in [(PairwiseQueries::OnRequest, false), (PairwiseQueries::AfterSkip, true)] {
        let (mut engine, _, first) = engine_with_queries(&params(mode), 3, 0.5);
        let sample = first.questions[0].sample;
        let effects = engine.apply(Event::Skip { sample }).unwrap();
        let next = &effects.questions[0];
        assert_eq!((next.sample == sample, next.reference.is_some()), (compares, compares));
        if compares {
            let effects = engine.apply(Event::Skip { sample }).unwrap();
            assert_ne!(effects.questions[0].sample, sample, "a skipped comparison is not repeated");
        }
        assert!(!engine.pending_queries().contains(&sample));
    }
}

/// A class name can answer a comparison, and a pair that was not queried can answer a query.
#[test]
fn names_answer_comparisons_and_pairs_answer_queries() {
    let (mut engine, _, first) = engine_with_queries(&params(PairwiseQueries::AfterSkip), 3, 0.5);
    let sample = first.questions[0].sample;
    engine.apply(Event::Skip { sample }).unwrap();
    let effects = engine.apply(Event::Answer { sample, label: "new".into() }).unwrap();
    assert_eq!(label(&engine, sample).as_deref(), Some("new"));
    let next = effects.questions[0].sample;
    let effects = engine.apply(Event::Related { a: sample, b: next, same: true }).unwrap();
    assert_eq!(effects.implied, [ImpliedLabel { sample: next, label: Some("new".into()) }]);
    assert!(!engine.pending_queries().contains(&next));
}

/// With two classes, a difference implies a label. When a third class appears, the label is withdrawn, and the exclusion
/// is kept.
#[test]
fn a_new_class_withdraws_labels_implied_by_elimination() {
    let (mut engine, _, first) = engine_with_queries(&params(PairwiseQueries::OnRequest), 2, 0.5);
    let sample = first.questions[0].sample;
    let effects = engine.apply(Event::Compare { sample }).unwrap();
    let (other, class) = (reference(&effects.questions[0]).0, reference(&effects.questions[0]).1.to_string());
    let effects = engine.apply(Event::Related { a: sample, b: other, same: false }).unwrap();
    let implied = effects.implied[0].label.clone().unwrap();
    assert_ne!(implied, class);
    let next = effects.questions[0].sample;
    let effects = engine.apply(Event::Answer { sample: next, label: "c".into() }).unwrap();
    assert_eq!(effects.implied, [ImpliedLabel { sample, label: None }]);
    assert_eq!(engine.excluded_classes(sample), [class]);
}

/// A row is never labeled with an excluded class when its batch is closed.
#[test]
fn labels_of_a_closed_batch_respect_exclusions() {
    for source in ["model", "auto", "graph"] {
        let params =
            EngineParams { label_source: source.parse().unwrap(), ..params(PairwiseQueries::OnRequest) };
        let (mut engine, names, first) = engine_with_queries(&params, 4, 0.5);
        let base = engine.rows() - 30;
        let class_of = |effects: &Effects, row: usize| effects.labels[row].class.unwrap();
        // The classes predicted on arrival are excluded, whether right or wrong.
        let mut excluded = BTreeMap::new();
        for row in 5..12 {
            let class = class_of(&first, row);
            let with = names.iter().position(|n| *n == NAMES[class as usize]).unwrap();
            engine.apply(Event::Related { a: with as u64, b: base + row as u64, same: false }).unwrap();
            excluded.insert(row, class);
        }
        let closed = engine.apply(Event::Tick { now: 1 }).unwrap();
        for (row, class) in excluded {
            assert_ne!(class_of(&closed, row), class, "{source}, row {row}");
            assert!((0.0..=1.0).contains(&closed.labels[row].confidence));
        }
        let free = (15..30).filter(|&row| class_of(&closed, row) == class_of(&first, row)).count();
        assert!(free > 12, "{source}: {free}");
    }
}

/// A simulated annotator only answers comparisons: all labels are right, no class is compared twice, and a state saved
/// between any two events resumes bit-identically.
#[test]
fn mode_always_compares_and_saved_states_resume_bit_identically() {
    let rng = &mut Pcg64::seed_from_u64(9);
    let params = EngineParams { exploration_rate: 0.2, ..params(PairwiseQueries::Always) };
    let mut engine = Engine::new(&params).unwrap();
    let (mut comparisons, mut differences, mut by_name) = (0, 0, 0);
    let mut truth: Vec<String> = Vec::new();
    let mut compared: BTreeSet<(u64, String)> = BTreeSet::new();
    for k in 0..6 {
        let (x, names) = clouds(40, 4, 3.0, rng);
        truth.extend(names);
        let mut effects = engine.apply(Event::Batch { x, labels: vec![None; 40] }).unwrap();
        let mut spent = 0;
        while let Some(question) = effects.questions.first() {
            spent += 1;
            let (sample, name) = (question.sample, truth[question.sample as usize].clone());
            let event = if let Some(r) = &question.reference {
                assert_ne!(question.why, QueryReason::RandomCheck, "random checks are asked by name");
                assert!(compared.insert((sample, r.class.clone())), "compared with {} twice", r.class);
                comparisons += 1;
                differences += usize::from(name != r.class);
                Event::Related { a: sample, b: r.sample, same: name == r.class }
            } else {
                by_name += 1;
                Event::Answer { sample, label: name }
            };
            effects = engine.apply(event).unwrap();
            let bytes = rmp_serde::to_vec_named(&engine).unwrap();
            engine = rmp_serde::from_slice(&bytes).unwrap();
            assert_eq!(rmp_serde::to_vec_named(&engine).unwrap(), bytes);
        }
        assert_eq!(spent, engine.budget_usage().batch, "every query counts");
        assert!(spent <= 12);
        engine.apply(Event::Tick { now: k }).unwrap();
    }
    for labeled in engine.memory().unwrap().labeled() {
        assert_eq!(engine.classes().names()[labeled.class as usize], truth[labeled.sample as usize]);
    }
    assert!(comparisons > 20 && differences > 5 && by_name > 5, "{comparisons} {differences} {by_name}");
}

/// Contradictory pairs imply no label and cause a note; pairs that exclude every class cause another note.
#[test]
fn contradictory_pairs_are_noted() {
    let (mut engine, names, first) = engine_with_queries(&params(PairwiseQueries::OnRequest), 3, 0.5);
    let sample = first.questions[0].sample;
    let of = |class: &str| names[..40].iter().position(|n| n == class).unwrap() as u64;
    let mut relate =
        |class: &str, same| engine.apply(Event::Related { a: sample, b: of(class), same }).unwrap();
    let effects = relate("a", true);
    assert_eq!(effects.implied, [ImpliedLabel { sample, label: Some("a".into()) }]);
    assert_eq!(effects.notes, [""; 0]);
    let effects = relate("b", true);
    assert_eq!(effects.implied, [ImpliedLabel { sample, label: None }]);
    assert_eq!(effects.notes.len(), 1);
    assert!(effects.notes[0].contains("contradict each other"), "{:?}", effects.notes);
    assert_eq!(relate("a", false).notes, [""; 0], "the other statement is not contradicted");
    assert_eq!(relate("b", false).notes, [""; 0], "class c is not excluded");
    let effects = relate("c", false);
    assert_eq!(effects.implied, [ImpliedLabel { sample, label: None }]);
    assert_eq!(effects.notes.len(), 1);
    assert!(effects.notes[0].contains("exclude every class"), "{:?}", effects.notes);
}

/// Without labels there is no class to compare with; with labels of a single class, that class may be excluded.
#[test]
fn refuses_a_comparison_without_labels() {
    let mut engine = Engine::new(&params(PairwiseQueries::OnRequest)).unwrap();
    let (x, _) = clouds(30, 2, 0.5, &mut Pcg64::seed_from_u64(5));
    let effects = engine.apply(Event::Batch { x, labels: vec![None; 30] }).unwrap();
    let refused = engine.apply(Event::Compare { sample: effects.questions[0].sample }).unwrap_err();
    assert!(refused.to_string().ends_with("cannot be compared: no class has a labeled sample"), "{refused}");
}

/// A ratio with more or fewer values than classes is not used, which is noted once.
#[test]
fn a_ratio_that_does_not_fit_the_classes_is_noted_once() {
    use evermargin::estimators::transductive::Ratio;
    let notes = |ratio: Vec<f64>| {
        let mut engine =
            Engine::new(&EngineParams { ratio: Ratio::Given(ratio), ..params(PairwiseQueries::OnRequest) })
                .unwrap();
        let rng = &mut Pcg64::seed_from_u64(5);
        let mut notes = Vec::new();
        for classes in [2, 2, 3, 3, 4] {
            let (x, names) = clouds(40, classes, 0.5, rng);
            let labels = names.into_iter().map(Some).collect();
            notes.extend(engine.apply(Event::Batch { x, labels }).unwrap().notes);
            notes.extend(engine.apply(Event::Tick { now: 0 }).unwrap().notes);
        }
        notes.retain(|note| note.contains("ratio"));
        notes
    };
    let many =
        |classes, now| format!("the ratio is for {classes} classes, and there are {now}: it is not used");
    let few = |classes| {
        format!(
            "the ratio is for {classes} classes, and there are 2 so far: it is not used until there are {classes}"
        )
    };
    assert_eq!(notes(vec![0.3]), [many(2, 3)]);
    assert_eq!(notes(vec![0.2, 0.3, 0.5]), [few(3), many(3, 4)]);
    assert_eq!(notes(vec![0.1, 0.2, 0.3, 0.4]), [few(4)]);
}
