//! States of online learners: they are read back as written, and learning continues as if they had not been saved.
use crate::samples::{checkpoint, clouds, online_options};
use evermargin::data::{Label, Labels};
use evermargin::estimators::Targets;
use evermargin::estimators::online::lasvm::Lasvm;
use evermargin::model::MulticlassScheme;
use evermargin::pipeline::partial_fit::{OnlineCheckpoint, PartialFitOptions, partial_fit};
use evermargin::pipeline::train::train;
use evermargin_io::artifacts::{model, state};

const LEARNERS: [&str; 6] = ["lasvm", "lasvm-g", "lasvm-nc", "lasvm-i", "full-svm", "local-svc"];

/// The problems that [`partial_fit`] derives from labels.
fn problems(labels: &Labels, scheme: MulticlassScheme) -> Vec<Targets> {
    let pose = |positive: u32| Targets {
        y: labels.of.iter().map(|c| if *c == Some(positive) { Label::Pos } else { Label::Neg }).collect(),
        cost: vec![1.0; labels.of.len()],
    };
    match scheme {
        MulticlassScheme::Binary => vec![pose(1)],
        _ => (0..labels.classes.len() as u32).map(pose).collect(),
    }
}

/// The state without its counts of kernel evaluations, which depend on the cache.
fn state_bytes(checkpoint: &OnlineCheckpoint) -> Vec<u8> {
    let mut plain = checkpoint.clone();
    (plain.saved.counts.evaluations, plain.saved.counts.spare) = (0, 0);
    state::to_bytes(&plain).unwrap()
}

#[test]
fn learning_continues_bit_identically_after_saving() {
    for learner in LEARNERS {
        for (classes, sparse) in [(2, false), (2, true), (3, false), (4, true)] {
            let case = format!("{learner} {classes} {sparse}");
            let first = checkpoint(learner, classes, sparse, 200);
            let (x, labels) = clouds(17, classes, sparse, 300);
            let x = first.head.scaling.apply(x).unwrap();
            let targets = problems(&labels, first.head.learner.scheme);
            let order: Vec<usize> = (0..300).map(|i| i * 7 % 300).collect();
            let mut whole = Lasvm::resume(&first.saved).unwrap();
            let mut kept = first.clone();
            for part in order.chunks(75) {
                let bytes = state::to_bytes(&kept).unwrap();
                kept = state::from_bytes("s", &bytes).unwrap();
                assert_eq!(state::to_bytes(&kept).unwrap(), bytes, "{case}");
                let mut piece = Lasvm::resume(&kept.saved).unwrap();
                piece.learn(x.view(), part, first.rows, &targets, &()).unwrap();
                whole.learn(x.view(), part, first.rows, &targets, &()).unwrap();
                kept = OnlineCheckpoint { rows: first.rows + 300, saved: piece.save(), ..kept };
                let never = OnlineCheckpoint { rows: first.rows + 300, saved: whole.save(), ..first.clone() };
                assert_eq!(state_bytes(&kept), state_bytes(&never), "{case}");
            }
            let mut end = Lasvm::resume(&kept.saved).unwrap();
            end.finish(&());
            whole.finish(&());
            assert_eq!(bits(&kept, &end), bits(&kept, &whole), "{case}");
        }
    }
}

fn bits(about: &OnlineCheckpoint, state: &Lasvm) -> Vec<u8> {
    model::to_bytes(&about.classifier(state.model())).unwrap()
}

#[test]
fn partial_fit_is_the_same_from_memory_and_from_a_file() {
    for learner in LEARNERS {
        for (classes, sparse) in [(2, true), (3, false)] {
            let mut memory = checkpoint(learner, classes, sparse, 150);
            let mut file = memory.clone();
            for seed in 20..23 {
                let (x, labels) = clouds(seed, classes, sparse, 100);
                let how = PartialFitOptions { seed: 5, ..PartialFitOptions::default() };
                file = state::from_bytes("s", &state::to_bytes(&file).unwrap()).unwrap();
                let (a, next) = partial_fit(&memory, x.clone(), &labels, how, &()).unwrap();
                memory = next;
                let (b, next) = partial_fit(&file, x, &labels, how, &()).unwrap();
                file = next;
                assert_eq!(state::to_bytes(&memory).unwrap(), state::to_bytes(&file).unwrap());
                let models = [&a, &b].map(|t| model::to_bytes(&t.classifier).unwrap());
                assert_eq!(models[0], models[1], "{learner} {classes}");
            }
            assert_eq!(memory.head.counts.iter().sum::<usize>(), 450);
            assert_eq!((memory.rows, memory.saved.counts.seen), (450, 450));
        }
    }
}

#[test]
fn more_rows_improve_accuracy() {
    let (x, truth) = clouds(99, 3, false, 600);
    let accuracy = |c: &evermargin::model::Classifier| {
        let class = c.predict(x.clone()).unwrap().class;
        class.iter().zip(&truth.of).filter(|(a, b)| Some(**a) == **b).count() as f64 / 600.0
    };
    for learner in LEARNERS {
        let (first, labels) = clouds(3, 3, false, 30);
        let trained = train(first, &labels, &online_options(learner), &()).unwrap();
        let before = accuracy(&trained.classifier);
        let kept =
            OnlineCheckpoint::new(&trained.classifier, trained.online.as_ref().unwrap(), &trained.counts);
        let (more, labels) = clouds(4, 3, false, 1500);
        let (trained, _) = partial_fit(&kept, more, &labels, PartialFitOptions::default(), &()).unwrap();
        let after = accuracy(&trained.classifier);
        assert!(after > before, "{learner}: {before} then {after}");
    }
}

#[test]
fn refuses_new_classes_and_other_columns() {
    let kept = checkpoint("lasvm", 2, false, 60);
    let (x, mut labels) = clouds(5, 2, false, 10);
    let go =
        |x, labels: &Labels| partial_fit(&kept, x, labels, PartialFitOptions::default(), &()).map(|_| ());
    labels.classes = vec!["ant".into(), "wasp".into()];
    let error = go(x.clone(), &labels).unwrap_err().to_string();
    assert!(error.starts_with("class wasp is new: the state has ant, bee;"), "{error}");
    let unknown = Labels { classes: vec![], of: vec![None; 10] };
    assert!(go(x.clone(), &unknown).unwrap_err().to_string().starts_with("no row has a label"));
    labels.classes[1] = "bee".into();
    let error = go(x.with_cols(5), &labels).unwrap_err().to_string();
    assert_eq!(error, "columns: expected 4, found 5");
    // a batch of a single class is accepted
    let (x, mut labels) = clouds(5, 2, false, 10);
    labels.of = vec![Some(0); 10];
    go(x, &labels).unwrap();
}

/// Class weights are computed from all rows so far, and weights stay with their rows.
#[test]
fn class_weights_use_all_rows_so_far() {
    let plain = checkpoint("lasvm", 2, false, 60);
    assert_eq!(plain.head.counts, [30, 30]);
    let mut ratio = plain.clone();
    ratio.head.learner.params.insert("class_weight".into(), "ratio".into());
    let (x, mut labels) = clouds(8, 2, false, 90);
    labels.of = (0..90).map(|i| if i % 10 == 9 { None } else { Some(u32::from(i % 10 == 0)) }).collect();
    // 30 and 30, then 72 and 9
    let cost = |c: Option<u32>| if c == Some(1) { 102.0 / 39.0 } else { 1.0 };
    let weights: Vec<f64> = labels.of.iter().map(|c| cost(*c)).collect();
    let (a, kept) = partial_fit(&ratio, x.clone(), &labels, PartialFitOptions::default(), &()).unwrap();
    assert_eq!((kept.head.counts, kept.rows), (vec![102, 39], 141));
    assert_eq!(a.notes, ["9 rows without a label are left out"]);
    let how = PartialFitOptions { weights: Some(&weights), ..PartialFitOptions::default() };
    let (b, _) = partial_fit(&plain, x.clone(), &labels, how, &()).unwrap();
    assert_eq!(a.classifier.model, b.classifier.model);
    let (c, _) = partial_fit(&plain, x, &labels, PartialFitOptions::default(), &()).unwrap();
    assert_ne!(a.classifier.model, c.classifier.model);
}

#[test]
fn refuses_models_truncated_files_and_corrupt_states() {
    let kept = checkpoint("lasvm", 2, false, 60);
    let bytes = state::to_bytes(&kept).unwrap();
    let error = model::from_bytes("m", &bytes).unwrap_err().to_string();
    assert!(error.contains("the state of an online learner, not an evermargin model"), "{error}");
    let model = Lasvm::resume(&kept.saved).unwrap().model();
    let model = model::to_bytes(&kept.classifier(model)).unwrap();
    let error = state::from_bytes("s", &model).unwrap_err().to_string();
    assert!(error.contains("an evermargin model, not the state of an online learner; predict with it; it cannot continue learning"), "{error}");
    for cut in [0, 7, 100, bytes.len() - 1] {
        assert!(state::from_bytes("s", &bytes[..cut]).is_err(), "{cut}");
    }
    let mut damaged = kept.clone();
    damaged.saved.ids[0] = kept.rows;
    let error = state::to_bytes(&damaged).unwrap_err().to_string();
    assert!(error.contains("row ids or counts are out of range"), "{error}");
    let mut damaged = kept.clone();
    damaged.saved.counts.seen = u64::MAX;
    assert!(state::to_bytes(&damaged).is_err());
    let mut infinite = kept.clone();
    infinite.saved.params.s = f64::NEG_INFINITY;
    assert!(state::to_bytes(&infinite).is_err(), "JSON has no infinity");
}

/// A change of any byte is detected, and the message refers to a state.
#[test]
fn every_changed_byte_is_detected() {
    let bytes = state::to_bytes(&checkpoint("lasvm", 2, false, 60)).unwrap();
    for at in 0..bytes.len() {
        for bit in [0, 3, 7] {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            let error = state::from_bytes("s", &damaged).unwrap_err().to_string();
            assert!(!error.contains("model"), "{at}: {error}");
        }
    }
    let mut damaged = bytes.clone();
    *damaged.last_mut().unwrap() ^= 1;
    let error = state::from_bytes("s", &damaged).unwrap_err().to_string();
    assert_eq!(
        error,
        "s: the file is damaged: its checksum does not match its contents; fetch it again or restore a copy"
    );
    let error = state::from_bytes("s", &[0xab; 100]).unwrap_err().to_string();
    assert_eq!(error, "s: not the state of an online learner, or a damaged one (header too large)");
}

#[test]
fn states_are_saved_and_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    std::fs::write(&path, "something old").unwrap();
    let kept = checkpoint("lasvm-nc", 3, true, 90);
    state::save(&path, &kept).unwrap();
    assert_eq!(state::load(&path).unwrap(), kept);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "temporaries are left behind");
}

#[test]
fn states_without_rows_survive_a_round_trip() {
    for learner in LEARNERS {
        for (classes, sparse) in [(2, false), (4, true)] {
            let (x, labels) = clouds(3, classes, sparse, 60);
            let begun = OnlineCheckpoint::begin(&online_options(learner), &labels.classes, x.view()).unwrap();
            let bytes = state::to_bytes(&begun).unwrap();
            let back = state::from_bytes("s", &bytes).unwrap();
            assert_eq!(back, begun, "{learner}");
            let (a, _) = partial_fit(&begun, x.clone(), &labels, PartialFitOptions::default(), &()).unwrap();
            let (b, _) = partial_fit(&back, x, &labels, PartialFitOptions::default(), &()).unwrap();
            assert_eq!(a.classifier, b.classifier, "{learner}");
        }
    }
}
