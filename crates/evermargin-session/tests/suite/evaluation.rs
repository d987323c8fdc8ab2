//! Delayed and partial labels, late columns, and ids: the same after a resume.

use crate::common::{ROWS, batch, config, temporary_directory};
use evermargin::data::Matrix;
use evermargin::model::Column;
use evermargin_session::{Batch, LabelProtocol, Opened, Oracle, OtherCpu, Session, SessionConfig};
use evermargin_store::{Open, Store};
use std::path::Path;

fn resumed(directory: &Path) -> Session {
    match Session::open(directory, "generic", OtherCpu::Refuse).unwrap() {
        Opened::Session(session) => *session,
        Opened::Empty(_) => unreachable!(),
    }
}

fn with_labels(k: usize, oracle: Oracle) -> Batch {
    let batch = batch(k);
    match oracle {
        Oracle::Truth => batch,
        _ => Batch { labels: batch.truth, truth: Vec::new(), ..batch },
    }
}

fn process(session: &mut Session, batch: Batch) {
    session.ingest(batch).unwrap();
    if session.oracle() == Oracle::Truth {
        session.answer_from_truth().unwrap();
    }
    session.close_batch(0).unwrap();
}

#[test]
fn labels_arrive_late_and_a_resumed_session_is_bit_identical() {
    for oracle in [Oracle::Truth, Oracle::None] {
        for rate in [1.0, 0.5] {
            let home = temporary_directory();
            let directory = home.path().join("state");
            let label_protocol = LabelProtocol { delay: 2, rate };
            let random_baseline = oracle == Oracle::Truth;
            let config = SessionConfig { label_protocol, random_baseline, ..config(oracle) };
            let mut whole = Session::new(config.clone(), None).unwrap();
            let store = Store::open(&directory, Open::Create).unwrap();
            let mut session = Session::new(config, Some(store)).unwrap();
            let mut known = Vec::new();
            for k in 0..7 {
                process(&mut whole, with_labels(k, oracle));
                process(&mut session, with_labels(k, oracle));
                drop(session);
                session = resumed(&directory);
                known.push(session.engine().memory().map_or(0, evermargin::engine::LabelMemory::len));
            }
            assert_eq!(session.to_bytes().unwrap(), whole.to_bytes().unwrap(), "{oracle:?} {rate}");
            assert_eq!(known[..2], [0, 0], "nothing arrives before two more batches");
            assert!(known[2] > 0 && known[6] > known[2], "{known:?}");
            let (arrived, waiting) = session.delayed_labels();
            assert!(arrived > 0 && waiting > 0);
            if oracle == Oracle::None {
                let labels = (7 * ROWS) as f64 * rate;
                let all = arrived as f64 + waiting as f64;
                assert!((all - labels).abs() <= 0.15 * labels, "{all} of {labels}");
                assert!(session.engine().metrics().given.of > 0);
            } else {
                assert!(session.random_statistics().unwrap().accuracy().is_some());
            }
        }
    }
}

/// A label that is not available is given neither on arrival nor as an answer; scores use all labels.
#[test]
fn the_label_rate_limits_what_the_engine_is_given_and_not_what_is_scored() {
    let learned = |oracle: Oracle, rate: f64| {
        let label_protocol = LabelProtocol { delay: 0, rate };
        let mut session = Session::new(SessionConfig { label_protocol, ..config(oracle) }, None).unwrap();
        (0..6).for_each(|k| process(&mut session, with_labels(k, oracle)));
        let labels = session.engine().memory().map_or(0, evermargin::engine::LabelMemory::len);
        (labels, session.statistics().current.scored)
    };
    let (all, _) = learned(Oracle::None, 1.0);
    let (third, scored) = learned(Oracle::None, 0.3);
    assert_eq!(all, 6 * ROWS);
    assert!((third as f64 - 0.3 * all as f64).abs() < 0.12 * all as f64, "{third} of {all}");
    assert!(scored >= 4 * ROWS as u64, "{scored}");
    assert_eq!(learned(Oracle::None, 0.0), (0, 0));
    let (asked, _) = learned(Oracle::Truth, 1.0);
    let (some, _) = learned(Oracle::Truth, 0.4);
    assert!(some < asked && some > 0, "{some} of {asked}");
    let wrong = |delay, rate| {
        let label_protocol = LabelProtocol { delay, rate };
        Session::new(SessionConfig { label_protocol, ..config(Oracle::None) }, None).is_err()
    };
    assert!(wrong(0, 1.5) && wrong(0, f64::NAN) && wrong(u64::MAX, 1.0));
}

#[test]
fn new_columns_and_ids_are_part_of_the_state() {
    let home = temporary_directory();
    let directory = home.path().join("state");
    let number = |name: &str| Column::Number { name: name.into() };
    let mut config = config(Oracle::None);
    config.schema.columns = vec![number("a"), number("b")];
    let store = Store::open(&directory, Open::Create).unwrap();
    let mut session = Session::new(config.clone(), Some(store)).unwrap();
    let mut whole = Session::new(config, None).unwrap();
    for k in 0..4 {
        let plain = with_labels(k, Oracle::None);
        let ids: Vec<String> = (0..ROWS).map(|i| format!("{k}-{i}")).collect();
        let next = if k < 2 {
            Batch { ids, ..plain }
        } else {
            let third: Vec<f64> = (0..ROWS).map(|i| i as f64).collect();
            let third = Matrix::dense(third, ROWS, 1).unwrap();
            let x = Matrix::beside(&[plain.x.view(), third.view()]).unwrap();
            let new_columns = if k == 2 { vec![number("c")] } else { Vec::new() };
            Batch { x, ids, new_columns, ..plain }
        };
        process(&mut whole, next.clone());
        process(&mut session, next);
        drop(session);
        session = resumed(&directory);
        assert_eq!(session.row_ids()[1], format!("{k}-1"));
    }
    assert_eq!(session.to_bytes().unwrap(), whole.to_bytes().unwrap());
    assert_eq!((session.schema().features, session.schema().optional_columns), (3, 1));
    let input = session.classifier().unwrap().input;
    assert_eq!(input.columns, [number("a"), number("b"), number("c")]);
    assert_eq!(input.optional_columns, 1);
}
