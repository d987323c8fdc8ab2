//! Sequential learners with named classes: learning a table in one call equals training on it, and classes may appear
//! late.

use evermargin::datasets::{GenerateParams, generate};
use evermargin::estimators::ClassWeight;
use evermargin::pipeline::sequential::MedStream;
use evermargin::pipeline::train::{TrainOptions, train};
use evermargin::solver::{Progress, Watch};
use evermargin::{Labels, Matrix};
use serde_json::json;

fn options(learner: &str) -> TrainOptions {
    let params = serde_json::from_value(json!({ "c": 5, "batch": 40, "n_landmarks": 60 })).unwrap();
    TrainOptions { params, compare: false, ..TrainOptions::new(learner) }
}

fn data(name: &str, rows: usize) -> (Matrix, Labels) {
    generate(name, &GenerateParams { rows, seed: 9, ..GenerateParams::default() }).unwrap()
}

#[test]
fn learning_a_table_equals_training_on_it() {
    for (learner, hide) in [("seq-med", 1), ("seq-lapmed", 3)] {
        for name in ["two-moons", "waveform"] {
            for weight in [ClassWeight::None, ClassWeight::Balanced] {
                let (x, mut labels) = data(name, 150);
                labels.of.iter_mut().enumerate().filter(|(i, _)| i % hide != 0).for_each(|(_, c)| *c = None);
                let options = TrainOptions { class_weight: weight, ..options(learner) };
                let whole = train(x.clone(), &labels, &options, &()).unwrap();
                let mut stream = MedStream::begin(&options, &labels.classes, x.view()).unwrap();
                stream.learn(x.clone(), &labels.of, None, &()).unwrap();
                let (a, b) = (stream.classifier().predict(x.clone()), whole.classifier.predict(x));
                assert_eq!(a.unwrap(), b.unwrap(), "{learner} {name}");
            }
        }
    }
}

#[test]
fn resumed_states_are_bit_identical() {
    for learner in ["seq-med", "seq-lapmed"] {
        let (x, labels) = data("waveform", 200);
        let mut whole = MedStream::begin(&options(learner), &labels.classes, x.view()).unwrap();
        let mut saved = whole.clone();
        for part in (0..200).collect::<Vec<usize>>().chunks(50) {
            let rows = x.view().select(part);
            let of: Vec<Option<u32>> = part.iter().map(|&i| labels.of[i].filter(|_| i % 2 == 0)).collect();
            whole.learn(rows.clone(), &of, None, &()).unwrap();
            saved = MedStream::resume(saved.save()).unwrap();
            saved.learn(rows, &of, None, &()).unwrap();
            assert_eq!(saved, whole, "{learner}");
            assert_eq!(whole.variance(x.view()).unwrap(), saved.variance(x.view()).unwrap());
        }
    }
}

#[test]
fn predicts_only_classes_seen_so_far() {
    let (x, labels) = data("waveform", 240);
    let far = Matrix::dense(vec![1e6; 21], 1, 21).unwrap();
    for learner in ["seq-med", "seq-lapmed"] {
        let mut stream = MedStream::begin(&options(learner), &labels.classes, x.view()).unwrap();
        let mut seen = Vec::new();
        for class in [2u32, 0, 1] {
            seen.push(class);
            let of: Vec<Option<u32>> = labels.of.iter().map(|c| c.filter(|c| *c == class)).collect();
            stream.learn(x.clone(), &of, None, &()).unwrap();
            let classifier = stream.classifier();
            classifier.check().unwrap();
            for rows in [&x, &far] {
                let prediction = classifier.predict(rows.clone()).unwrap();
                assert!(prediction.class.iter().all(|c| seen.contains(c)), "{learner} {seen:?}");
            }
        }
        assert_eq!(stream.counts(), labels.counts());
    }
}

struct StopImmediately;

impl Watch for StopImmediately {
    fn proceed(&self, _: &Progress) -> bool {
        false
    }
}

#[test]
fn refused_or_interrupted_batches_do_not_change_the_state() {
    let (x, labels) = data("two-moons", 60);
    let mut stream = MedStream::begin(&options("seq-med"), &labels.classes, x.view()).unwrap();
    stream.learn(x.clone(), &labels.of, None, &()).unwrap();
    let before = stream.clone();
    assert!(stream.learn(x.clone(), &labels.of[1..], None, &()).is_err());
    assert!(stream.learn(x.clone(), &vec![Some(2); 60], None, &()).is_err());
    assert!(stream.learn(x.clone(), &labels.of, Some(&[-1.0; 60]), &()).is_err());
    assert!(stream.learn(x.clone(), &labels.of, Some(&[f64::NAN; 60]), &()).is_err());
    assert!(stream.learn(Matrix::empty(3, false), &[], None, &()).is_err());
    assert_eq!(stream.learn(x.clone(), &labels.of, None, &StopImmediately).unwrap(), None);
    assert_eq!(stream, before);
    assert!(MedStream::begin(&options("lasvm"), &labels.classes, x.view()).is_err());
    let mut saved = before.save();
    saved.head.counts.pop();
    assert!(MedStream::resume(saved).is_err());
    let mut saved = before.save();
    saved.head.learner.classes.push("more".into());
    saved.head.counts.push(0);
    assert!(MedStream::resume(saved).is_err());
}
