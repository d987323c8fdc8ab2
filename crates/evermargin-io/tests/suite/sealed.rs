//! Sealed states are read back as written, and damage is detected.

use crate::samples::{clouds, online_options};
use evermargin::engine::{Engine, EngineParams, Event};
use evermargin::pipeline::sequential::{MedCheckpoint, MedStream};
use evermargin::pipeline::train::TrainOptions;
use evermargin_io::artifacts::engine::{ENGINE, SEQUENTIAL, seal, unseal};

fn engine() -> Engine {
    let (x, labels) = clouds(4, 3, false, 60);
    let names = labels.of.iter().map(|c| c.map(|c| labels.classes[c as usize].clone())).collect();
    let mut engine = Engine::new(&EngineParams::default()).unwrap();
    engine.apply(Event::Batch { x, labels: names }).unwrap();
    engine
}

#[test]
fn sealed_states_are_read_back_bit_by_bit() {
    let state = engine();
    let bytes = seal(ENGINE, &state).unwrap();
    assert_eq!(unseal::<Engine>(ENGINE, "e", &bytes).unwrap(), state);
    let (x, labels) = clouds(4, 3, true, 60);
    for learner in ["seq-med", "seq-lapmed"] {
        let options = TrainOptions { learner: learner.into(), ..online_options("lasvm") };
        let options = TrainOptions { params: TrainOptions::new(learner).params, ..options };
        let mut stream = MedStream::begin(&options, &labels.classes, x.view()).unwrap();
        stream.learn(x.clone(), &labels.of, None, &()).unwrap();
        let bytes = seal(SEQUENTIAL, &stream.save()).unwrap();
        let back = MedStream::resume(unseal::<MedCheckpoint>(SEQUENTIAL, "m", &bytes).unwrap()).unwrap();
        assert_eq!(back, stream, "{learner}");
    }
}

#[test]
fn refuses_states_of_another_kind_and_short_files() {
    let error = |bytes: &[u8]| unseal::<Engine>(ENGINE, "e", bytes).unwrap_err().to_string();
    let error = (error(&seal(SEQUENTIAL, &engine()).unwrap()), error(b"short"));
    assert!(error.0.contains("the state of a sequential learner, not the state of an engine"), "{}", error.0);
    assert!(error.1.contains("not the state of an engine, or a damaged one"), "{}", error.1);
}
