//! Sealed states: what is read is what was written, and damage is found.

use crate::samples::{clouds, online_options};
use evermargin::engine::{Engine, EngineParams, EngineState, Event};
use evermargin::estimators::med::{MedCheckpoint, MedStream};
use evermargin::pipeline::train::TrainOptions;
use evermargin_io::artifacts::engine::{ENGINE, SEQUENTIAL, seal, unseal};

fn engine() -> EngineState {
    let (x, labels) = clouds(4, 3, false, 60);
    let names = labels.of.iter().map(|c| c.map(|c| labels.classes[c as usize].clone())).collect();
    let mut engine = Engine::new(&EngineParams::default()).unwrap();
    engine.apply(Event::Batch { x, labels: names }).unwrap();
    engine.save()
}

#[test]
fn states_come_back_bit_by_bit() {
    let state = engine();
    let bytes = seal(ENGINE, &state).unwrap();
    assert_eq!(unseal::<EngineState>(ENGINE, "e", &bytes).unwrap(), state);
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
fn damage_another_kind_and_another_version_are_told() {
    let bytes = seal(ENGINE, &engine()).unwrap();
    let error = |bytes: &[u8]| unseal::<EngineState>(ENGINE, "e", bytes).unwrap_err().to_string();
    for cut in [0, 5, 11, 12, 40, bytes.len() - 1] {
        assert!(!error(&bytes[..cut]).is_empty());
    }
    for at in (0..bytes.len()).step_by(37) {
        let mut bad = bytes.clone();
        bad[at] ^= 1;
        assert!(!error(&bad).is_empty(), "byte {at}");
    }
    assert!(error(&[&bytes[..7], b"2", &bytes[8..]].concat()).contains("another version"));
    assert!(error(&seal(SEQUENTIAL, &engine()).unwrap()).contains("not a state of this kind"));
    assert!(error(b"short").contains("too short"));
}
