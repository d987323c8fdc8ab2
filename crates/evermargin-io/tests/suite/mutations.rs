//! A small fuzzer that runs with the other tests: valid samples of every format are damaged in thousands of reproducible
//! ways (flipped bits, cuts, splices, replaced numbers). Nothing may panic, hang or use much memory, and accepted input
//! must be valid. The coverage-guided fuzzers for the same entry points are in `fuzz/`.
use crate::containers;
use crate::samples::{Pcg, Shape, checkpoint, classifier, matrix};
use evermargin::data::Matrix;
use evermargin::engine::{Engine, Event};
use evermargin::estimators::online::lasvm::Lasvm;
use evermargin::pipeline::sequential::MedStream;
use evermargin_io::artifacts::engine::{ENGINE, SEQUENTIAL, unseal};
use evermargin_io::artifacts::{container, model, state, summary};
use evermargin_io::{Format, Limits, ReadOptions, json, libsvm_model, read_bytes};
use std::io::Write;
use std::time::{Duration, Instant};
use zip::write::SimpleFileOptions;

const ROUNDS: usize = 20_000;

/// Numbers that are difficult for parsers.
const NUMBERS: [&str; 16] = [
    "0",
    "-1",
    "1",
    "255",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "18446744073709551616",
    "1e308",
    "1e999",
    "nan",
    "-inf",
    "0.0000000000000000000001",
];

fn damaged(sample: &[u8], other: &[u8], rng: &mut Pcg) -> Vec<u8> {
    let mut bytes = sample.to_vec();
    for _ in 0..=rng.below(3) {
        let at = rng.below(bytes.len().max(1));
        match rng.below(8) {
            0 if !bytes.is_empty() => bytes[at] ^= 1 << rng.below(8),
            1 if !bytes.is_empty() => bytes[at] = rng.next() as u8,
            2 => bytes.truncate(at),
            3 => {
                let from = rng.below(other.len());
                let piece = &other[from..(from + 1 + rng.below(40)).min(other.len())];
                bytes.splice(at..at, piece.iter().copied());
            }
            4 => {
                let end = (at + 1 + rng.below(20)).min(bytes.len());
                bytes.drain(at.min(end)..end);
            }
            5 => number(&mut bytes, at, rng),
            6 => {
                let end = (at + 8).min(bytes.len());
                let value = [0, u64::MAX, 1 << 31, 1 << 40, f64::NAN.to_bits()][rng.below(5)].to_le_bytes();
                bytes[at.min(end)..end].iter_mut().zip(value).for_each(|(b, v)| *b = v);
            }
            _ => {
                let end = (at + 1 + rng.below(30)).min(bytes.len());
                let piece = bytes[at.min(end)..end].to_vec();
                bytes.splice(at.min(end)..at.min(end), piece);
            }
        }
    }
    bytes
}

/// Replaces the next run of digits by another number.
fn number(bytes: &mut Vec<u8>, at: usize, rng: &mut Pcg) {
    if let Some(start) = (at..bytes.len()).find(|i| bytes[*i].is_ascii_digit()) {
        let end = (start..bytes.len()).find(|i| !bytes[*i].is_ascii_digit()).unwrap_or(bytes.len());
        bytes.splice(start..end, NUMBERS[rng.below(NUMBERS.len())].bytes());
    }
}

/// Runs `f` on damaged samples and returns the number of accepted ones.
fn attack(samples: &[Vec<u8>], mut f: impl FnMut(Vec<u8>) -> bool) -> usize {
    let rng = &mut Pcg::new(2012);
    let start = Instant::now();
    let mut accepted = 0;
    for round in 0..ROUNDS {
        let sample = &samples[round % samples.len()];
        let other = &samples[rng.below(samples.len())];
        let bytes = damaged(sample, other, rng);
        let began = Instant::now();
        accepted += usize::from(f(bytes));
        assert!(began.elapsed() < Duration::from_secs(5), "round {round} took {:?}", began.elapsed());
    }
    assert!(start.elapsed() < Duration::from_secs(120));
    accepted
}

/// Small limits, so that accepted input is small, too.
fn options(format: Format) -> ReadOptions {
    let limits = Limits { max_bytes: 1 << 22, max_columns: 1 << 20, max_cells: 1 << 22, ..Limits::default() };
    ReadOptions { format: Some(format), limits, ..ReadOptions::default() }
}

fn attack_data(format: Format, samples: &[Vec<u8>]) {
    let options = options(format);
    for sample in samples {
        read_bytes("sample", sample.clone(), &options).unwrap();
    }
    let accepted = attack(samples, |bytes| {
        let Ok(set) = read_bytes("sample", bytes, &options) else { return false };
        assert_eq!(set.x.rows(), set.labels.of.len());
        assert!(set.labels.of.iter().flatten().all(|c| (*c as usize) < set.labels.classes.len()));
        let mut finite = true;
        for i in 0..set.x.rows() {
            set.x.view().row(i).for_each(|c, v| finite &= v.is_finite() && c < set.x.cols());
        }
        assert!(finite);
        true
    });
    assert!(accepted < ROUNDS, "{format:?}: every damaged sample was accepted");
}

#[test]
fn damaged_libsvm_text_does_not_panic() {
    let mut long = String::new();
    for i in 0..60 {
        long += &format!("{} {}:{} {}:{}e-3 # c\r\n", i % 3, i + 1, i * 7, i + 9, i);
    }
    let samples = [
        &b"+1 1:0.5 3:-2e3\n-1 2:1 qid:3\n# c\n? 5:1\n1:2 4:.5\n"[..],
        b"a 0:1 2:3\nb 7:1 5:2\n",
        long.as_bytes(),
    ];
    attack_data(Format::Libsvm, &samples.map(<[u8]>::to_vec));
}

#[test]
fn damaged_tables_do_not_panic() {
    let samples = [
        &b"age,\"job, now\",label\n31,nurse,yes\n45,\"mill\"\"er\",no\n27,nurse,?\n"[..],
        b"1,2,3\n4,5,6\n7,8,9\n",
        b"a;b;class\n1;2;x\n3;4;y\n",
    ];
    attack_data(Format::Csv, &samples.map(<[u8]>::to_vec));
    attack_data(Format::Space, &[b"6 1.0 -0.5\n5 0.25 1\n".to_vec(), b"1 2\n3 4\n5 6\n".to_vec()]);
}

fn npy(descr: &str, order: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend_from_slice(&(header.len() as u16).to_le_bytes());
    out.extend_from_slice(header.as_bytes());
    out.extend_from_slice(data);
    out
}

#[test]
fn damaged_arrays_do_not_panic() {
    let reals: Vec<u8> = (0..6).flat_map(|i| f64::from(i).to_le_bytes()).collect();
    let samples = [
        npy("<f8", "False", "(2, 3)", &reals),
        npy(">i4", "True", "(4, 3)", &reals),
        npy("|u1", "False", "(6, 8)", &reals),
        npy("<f2", "True", "(3, 8)", &[0x3c; 48]),
    ];
    attack_data(Format::Npy, &samples);
    let idx = |kind: u8, sizes: &[u8]| {
        let mut out = vec![0, 0, kind, sizes.len() as u8];
        for size in sizes {
            out.extend_from_slice(&[0, 0, 0, *size]);
        }
        out.extend_from_slice(&reals);
        out
    };
    attack_data(Format::Idx, &[idx(8, &[3, 4, 4]), idx(0x0b, &[4, 6]), idx(0x0e, &[6, 1])]);
}

#[test]
fn damaged_archives_do_not_panic() {
    let archive = |arrays: &[(&str, Vec<u8>)]| {
        let mut npz = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for (name, bytes) in arrays {
            npz.start_file(format!("{name}.npy"), SimpleFileOptions::default()).unwrap();
            npz.write_all(bytes).unwrap();
        }
        npz.finish().unwrap().into_inner()
    };
    let reals: Vec<u8> = (1..7).flat_map(|i| f64::from(i).to_le_bytes()).collect();
    let whole = |v: &[i32]| v.iter().flat_map(|i| i.to_le_bytes()).collect::<Vec<u8>>();
    let dense = archive(&[
        ("X", npy("<f8", "False", "(2, 3)", &reals)),
        ("y", npy("<i4", "False", "(2,)", &whole(&[5, -1]))),
    ]);
    let sparse = archive(&[
        ("indices", npy("<i4", "False", "(6,)", &whole(&[4, 0, 2, 1, 3, 2]))),
        ("indptr", npy("<i4", "False", "(4,)", &whole(&[0, 3, 3, 6]))),
        ("format", npy("|S3", "False", "()", b"csr")),
        ("shape", npy("<i4", "False", "(2,)", &whole(&[3, 5]))),
        ("data", npy("<f8", "False", "(6,)", &reals)),
    ]);
    let set = read_bytes("s.npz", sparse.clone(), &ReadOptions::default()).unwrap();
    let mut found = Vec::new();
    (0..3).for_each(|i| set.x.view().row(i).for_each(|c, v| found.push((i, c, v))));
    assert_eq!(found, [(0, 0, 2.0), (0, 2, 3.0), (0, 4, 1.0), (2, 1, 4.0), (2, 2, 6.0), (2, 3, 5.0)]);
    let set = read_bytes("d.npz", dense.clone(), &ReadOptions::default()).unwrap();
    assert_eq!(
        (set.labels.classes, set.labels.of),
        (vec!["-1".to_string(), "5".into()], vec![Some(1), Some(0)])
    );
    attack_data(Format::Npz, &[dense, sparse]);
}

#[test]
fn damaged_compressed_files_do_not_panic() {
    let text = b"1 1:1 2:2\n-1 3:1\n".repeat(50);
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gz.write_all(&text).unwrap();
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 6);
    xz.write_all(&text).unwrap();
    let zst = zstd::encode_all(&text[..], 3).unwrap();
    attack_data(Format::Libsvm, &[gz.finish().unwrap(), xz.finish().unwrap(), zst]);
}

fn shapes() -> Vec<Shape> {
    let shape = |seed: u64, classes, kernel| Shape {
        seed,
        classes,
        scheme: 0,
        kernel,
        points: 3,
        cols: 4,
        sparse: seed.is_multiple_of(2),
        scaling: (seed % 5) as u8,
        calibration: (seed % 3) as u8,
        narrow: seed.is_multiple_of(3),
    };
    vec![shape(0, 2, 1), shape(1, 3, 2), shape(2, 3, 4), shape(3, 4, 0), shape(8, 2, 3)]
}

#[test]
fn damaged_model_files_are_refused_or_valid() {
    let samples: Vec<Vec<u8>> = shapes().iter().map(|s| model::to_bytes(&classifier(*s)).unwrap()).collect();
    let passed =
        attack(&samples, |bytes| !samples.contains(&bytes) && model::from_bytes("m", &bytes).is_ok());
    assert_eq!(passed, 0, "the checksum must detect all damage");
    attack_with_valid_checksum(&samples, |bytes| match model::from_bytes("m", &bytes) {
        Ok(loaded) => {
            evermargin_io::check(&loaded).unwrap();
            if let Some(x) = rows_for(loaded.features()) {
                let _ = loaded.predict(x);
            }
            assert_eq!(model::from_bytes("m", &model::to_bytes(&loaded).unwrap()).unwrap(), loaded);
            true
        }
        Err(_) => false,
    });
    let samples: Vec<Vec<u8>> =
        shapes().iter().map(|s| json::to_json(&classifier(*s)).unwrap().into_bytes()).collect();
    attack(&samples, |bytes| json::from_json("m", &bytes).is_ok_and(|c| evermargin_io::check(&c).is_ok()));
}

/// Accepted states are valid: they can be written again, and learning can continue from them.
#[test]
fn damaged_state_files_are_refused_or_valid() {
    let samples: Vec<Vec<u8>> = [("lasvm", 2, false), ("lasvm-nc", 3, true), ("full-svm", 2, true)]
        .iter()
        .map(|(learner, classes, sparse)| {
            state::to_bytes(&checkpoint(learner, *classes, *sparse, 24)).unwrap()
        })
        .collect();
    // the checksum detects almost all damage; with a corrected checksum, every part must be validated on its own
    let passed =
        attack(&samples, |bytes| !samples.contains(&bytes) && state::from_bytes("s", &bytes).is_ok());
    assert_eq!(passed, 0);
    let accepted = attack_with_valid_checksum(&samples, |bytes| match state::from_bytes("s", &bytes) {
        Ok(loaded) => {
            let again = state::to_bytes(&loaded).unwrap();
            assert_eq!(state::to_bytes(&state::from_bytes("s", &again).unwrap()).unwrap(), again);
            let Ok(mut state) = Lasvm::resume(&loaded.saved) else { return true };
            let x = matrix(&mut Pcg::new(1), 2, loaded.features().min(1000), false, false);
            let targets = evermargin::estimators::Targets {
                y: vec![evermargin::data::Label::Neg, evermargin::data::Label::Pos],
                cost: vec![1.0; 2],
            };
            if x.cols() == loaded.features() {
                let problems = vec![targets; state.outputs()];
                let _ = state.learn(x.view(), &[0, 1], loaded.rows, &problems, &());
            }
            true
        }
        Err(_) => false,
    });
    assert!(accepted < ROUNDS);
}

/// Some rows with `features` columns; `None` if these are too many for a test.
fn rows_for(features: usize) -> Option<Matrix> {
    (1..=1000).contains(&features).then(|| matrix(&mut Pcg::new(1), 3, features, false, false))
}

/// As [`attack`], but every damaged artifact gets a correct checksum, so that the checks behind it are reached.
fn attack_with_valid_checksum(samples: &[Vec<u8>], mut f: impl FnMut(Vec<u8>) -> bool) -> usize {
    attack(samples, |mut bytes| {
        container::reseal(&mut bytes);
        f(bytes)
    })
}

#[test]
fn damaged_summary_files_are_refused_or_valid() {
    let samples: Vec<Vec<u8>> =
        [false, true].map(|sparse| summary::to_bytes(&containers::summary(sparse)).unwrap()).into();
    let accepted = attack_with_valid_checksum(&samples, |bytes| match summary::from_bytes("s", &bytes) {
        Ok(loaded) => {
            let again = summary::to_bytes(&loaded).unwrap();
            assert_eq!(summary::from_bytes("s", &again).unwrap(), loaded);
            true
        }
        Err(_) => false,
    });
    assert!(accepted < ROUNDS);
}

/// Accepted states can be used: a batch is labeled or refused.
#[test]
fn damaged_engine_states_are_refused_or_usable() {
    let samples = containers::engines();
    let accepted = attack_with_valid_checksum(&samples, |bytes| {
        let Ok(mut engine) = unseal::<Engine>(ENGINE, "e", &bytes) else { return false };
        let x = matrix(&mut Pcg::new(1), 4, 4, false, false);
        let labels = vec![Some("ant".to_string()), None, Some("bee".to_string()), None];
        let _ = engine.apply(Event::Batch { x, labels });
        let _ = engine.apply(Event::Tick { now: 5 });
        true
    });
    assert!(accepted < ROUNDS);
}

#[test]
fn damaged_sequential_states_are_refused_or_usable() {
    let samples = containers::sequentials();
    let accepted = attack_with_valid_checksum(&samples, |bytes| {
        let Ok(state) = unseal(SEQUENTIAL, "m", &bytes) else { return false };
        let Ok(stream) = MedStream::resume(state) else { return false };
        let classifier = stream.classifier();
        if let Some(x) = rows_for(classifier.features()) {
            let _ = classifier.predict(x);
        }
        true
    });
    assert!(accepted < ROUNDS);
}

#[test]
fn damaged_libsvm_models_are_refused_or_valid() {
    let plain = shapes().into_iter().map(|s| Shape { scaling: 0, calibration: s.calibration.min(1), ..s });
    let samples: Vec<Vec<u8>> =
        plain.map(|s| libsvm_model::to_text(&classifier(s)).unwrap().into_bytes()).collect();
    let limits = options(Format::Libsvm).limits;
    let accepted = attack(&samples, |bytes| match libsvm_model::from_text("m", &bytes, &limits) {
        Ok(loaded) => {
            evermargin_io::check(&loaded).unwrap();
            libsvm_model::to_text(&loaded).unwrap();
            true
        }
        Err(_) => false,
    });
    assert!(accepted < ROUNDS);
}
