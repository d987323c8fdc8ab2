//! The container of models, states and summaries: any flipped bit and any missing byte is detected, and other versions
//! and CPU levels are refused.

use crate::samples::{Shape, checkpoint, classifier, clouds, online_options};
use evermargin::cpu::{CpuLevel, cpu_feature_level};
use evermargin::data::Matrix;
use evermargin::engine::{Engine, EngineParams, Event};
use evermargin::model::{Column, InputSpec, Scaling};
use evermargin::pipeline::sequential::{MedCheckpoint, MedStream};
use evermargin::pipeline::train::TrainOptions;
use evermargin::summary::{ExemplarParams, Summary};
use evermargin_io::artifacts::engine::{ENGINE, SEQUENTIAL, seal, unseal, unseal_with};
use evermargin_io::artifacts::summary::{self, SavedSummary};
use evermargin_io::artifacts::{container, model, state};
use evermargin_io::{Error, LoadOptions};

fn model() -> Vec<u8> {
    let shape = Shape {
        seed: 20,
        classes: 3,
        scheme: 0,
        kernel: 1,
        points: 4,
        cols: 4,
        sparse: true,
        scaling: 1,
        calibration: 2,
        narrow: false,
    };
    model::to_bytes(&classifier(shape)).unwrap()
}

pub fn summary(sparse: bool) -> SavedSummary {
    let rows = Matrix::dense(vec![1.0, 0.1, 0.0, 4.0, -2.5, 1e-9], 3, 2).unwrap();
    let rows = if sparse { rows.view().to_csr() } else { rows };
    SavedSummary {
        summary: Summary::of(ExemplarParams::default(), 5, rows, vec![2.0, 0.5, 4.0], 9).unwrap(),
        scaling: Scaling::Affine { name: "standard".into(), shift: vec![0.5, 1.0], factor: vec![0.1, 3.0] },
        input: InputSpec {
            columns: ["a", "b"].map(|name| Column::Number { name: name.into() }).to_vec(),
            ..InputSpec::default()
        },
        sources: vec!["a.csv".into()],
        origin: vec![(0, 7), (0, 1), (0, 2)],
    }
}

/// States of engines after 12 rows, dense and sparse.
pub fn engines() -> Vec<Vec<u8>> {
    let state = |sparse: bool| {
        let (x, labels) = clouds(4, 3, sparse, 12);
        let names = labels.of.iter().map(|c| c.map(|c| labels.classes[c as usize].clone())).collect();
        let mut engine = Engine::new(&EngineParams::default()).unwrap();
        engine.apply(Event::Batch { x, labels: names }).unwrap();
        seal(ENGINE, &engine).unwrap()
    };
    [false, true].map(state).into()
}

/// States of sequential learners after 6 rows.
pub fn sequentials() -> Vec<Vec<u8>> {
    let state = |learner: &str| {
        let (x, labels) = clouds(4, 3, false, 6);
        let options = TrainOptions { learner: learner.into(), ..online_options("lasvm") };
        let options = TrainOptions { params: TrainOptions::new(learner).params, ..options };
        let mut stream = MedStream::begin(&options, &labels.classes, x.view()).unwrap();
        stream.learn(x, &labels.of, None, &()).unwrap();
        seal(SEQUENTIAL, &stream.save()).unwrap()
    };
    ["seq-med", "seq-lapmed"].map(state).into()
}

/// Error message with which bytes are refused, if they are.
type Load = fn(&[u8]) -> Option<String>;

/// An artifact of each kind, and its loader.
fn artifacts() -> Vec<(&'static str, Vec<u8>, Load)> {
    fn refused<T>(result: evermargin_io::Result<T>) -> Option<String> {
        result.err().map(|e| e.to_string())
    }
    vec![
        ("model", model(), |b| refused(model::from_bytes("the file", b))),
        ("state", state::to_bytes(&checkpoint("lasvm", 2, false, 8)).unwrap(), |b| {
            refused(state::from_bytes("the file", b))
        }),
        ("summary", summary::to_bytes(&summary(true)).unwrap(), |b| {
            refused(summary::from_bytes("the file", b))
        }),
        ("engine", engines().remove(0), |b| refused(unseal::<Engine>(ENGINE, "the file", b))),
        ("sequential", sequentials().remove(0), |b| {
            refused(unseal::<MedCheckpoint>(SEQUENTIAL, "the file", b))
        }),
    ]
}

fn names_file_and_damage(message: &str) -> bool {
    message.starts_with("the file: ") && message.contains("damaged")
}

#[test]
fn every_flipped_bit_is_detected() {
    for (kind, mut bytes, load) in artifacts() {
        assert_eq!(load(&bytes), None, "{kind}");
        for bit in 0..8 * bytes.len() {
            bytes[bit / 8] ^= 1 << (bit % 8);
            let message = load(&bytes).unwrap_or_default();
            assert!(names_file_and_damage(&message), "{kind}, bit {bit}: {message}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

#[test]
fn truncated_and_extended_files_are_detected() {
    for (kind, bytes, load) in artifacts() {
        assert!(load(&[]).is_some_and(|message| message.contains("an empty file")), "{kind}");
        for end in 1..bytes.len() {
            let message = load(&bytes[..end]).unwrap_or_default();
            assert!(names_file_and_damage(&message), "{kind}, {end} bytes: {message}");
        }
        for more in [&b"\0"[..], b"\n", &[0xff; 100]] {
            let message = load(&[&bytes, more].concat()).unwrap_or_default();
            assert!(names_file_and_damage(&message), "{kind}: {message}");
        }
    }
}

/// The artifact with a part of its header replaced and a correct checksum.
fn edited(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header = String::from_utf8(bytes[8..8 + length].to_vec()).unwrap();
    assert!(header.contains(from), "{from} is not in {header}");
    let header = header.replacen(from, to, 1);
    let mut out =
        [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &bytes[8 + length..]].concat();
    container::reseal(&mut out);
    out
}

#[test]
fn refuses_other_versions_and_kinds() {
    for (kind, bytes, load) in artifacts() {
        let older = edited(&bytes, "\"format_version\":\"4\"", "\"format_version\":\"3\"");
        let message = load(&older).unwrap_or_default();
        assert!(message.contains("written by an earlier evermargin in format '3'"), "{kind}: {message}");
        let newer = edited(&bytes, "\"format_version\":\"4\"", "\"format_version\":\"5\"");
        let message = load(&newer).unwrap_or_default();
        assert!(message.contains("format 5 is newer than this evermargin reads (4)"), "{kind}: {message}");
        for (other, bytes, _) in artifacts().iter().filter(|(other, ..)| *other != kind) {
            assert!(load(bytes).is_some_and(|message| message.contains(", not ")), "{other} as {kind}");
        }
    }
    // files of versions 1 and 2
    let header = r#"{"__metadata__":{"classifier":"{}","format":"evermargin","format_version":"1"}}"#;
    let model = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes()].concat();
    let message = model::from_bytes("m", &model).unwrap_err().to_string();
    assert!(message.contains("written by an earlier evermargin in format '1'"), "{message}");
    let message = unseal::<Engine>(ENGINE, "e", b"EVMENGN1\0\0\0\0\x80").unwrap_err().to_string();
    assert!(message.contains("written by an earlier evermargin in format '1'"), "{message}");
}

#[test]
fn refuses_a_state_of_another_cpu_level_unless_allowed() {
    let here = cpu_feature_level();
    let other = CpuLevel::ALL.into_iter().find(|level| *level != here).unwrap();
    let at_other = LoadOptions { cpu: other, ..LoadOptions::default() };
    let allowed = LoadOptions { allow_other_cpu: true, ..at_other.clone() };
    let kept = checkpoint("lasvm", 2, false, 8);
    let bytes = state::to_bytes(&kept).unwrap();
    let Err(Error::OtherCpu { file, made, here: found }) = state::from_bytes_with("s", &bytes, &at_other)
    else {
        panic!("loaded at another level");
    };
    assert_eq!((file.as_str(), made, found), ("s", here, other));
    assert_eq!(state::from_bytes_with("s", &bytes, &allowed).unwrap(), kept);
    for bytes in engines() {
        let load = |options| unseal_with::<Engine>(ENGINE, "e", &bytes, options);
        let message = load(&at_other).unwrap_err().to_string();
        let expected =
            format!("e: made at CPU level {here}, but this machine computes at level {other}: results");
        assert!(message.starts_with(&expected), "{message}");
        assert!(load(&allowed).is_ok());
        let foreign = edited(&bytes, &format!("\"cpu\":\"{here}\""), "\"cpu\":\"abacus\"");
        let error = unseal_with::<Engine>(ENGINE, "e", &foreign, &allowed).unwrap_err().to_string();
        assert_eq!(error, "e: CPU level 'abacus' is not known; update evermargin");
    }
    for bytes in sequentials() {
        assert!(matches!(
            unseal_with::<MedCheckpoint>(SEQUENTIAL, "m", &bytes, &at_other),
            Err(Error::OtherCpu { .. })
        ));
    }
}
