//! Logs of older programs or with manual events, states of another CPU, and sessions resumed after any event.

use crate::common::{
    ROWS, batch, batch_of_another_width, config, open, process, temporary_directory, uninterrupted_session,
};
use evermargin::datasets::{GenerateParams, generate};
use evermargin::engine::{Event as EngineEvent, PairwiseQueries};
use evermargin_io::artifacts::engine::pack;
use evermargin_session::{Batch, LabelProtocol, Opened, Oracle, OtherCpu, Session, SessionError};
use evermargin_store::{Event, Open, Store};

type Attempt = Box<dyn Fn(&mut Session) -> Result<(), SessionError>>;

/// Events that cannot be applied: of an unknown sample, of another width, invalid, and of an unknown kind.
fn append_unusable_events(store: &mut Store) -> u64 {
    let answer = br#"{"Answer":{"sample":4711,"label":"x"}}"#;
    let width = pack(&batch_of_another_width()).unwrap();
    let bodies = [("answer", &answer[..]), ("batch", &width), ("answer", b"{}"), ("from-the-future", b"[1]")];
    for (kind, body) in bodies {
        store.append(&[Event { kind, body }]).unwrap();
    }
    bodies.len() as u64
}

#[test]
fn events_that_cannot_be_applied_are_skipped_and_listed() {
    let home = temporary_directory();
    let directory = home.path().join("state");
    let mut session = open(&directory).unwrap();
    process(&mut session, 0).unwrap();
    drop(session);
    let mut store = Store::open(&directory, Open::Existing).unwrap();
    let first = store.next_seq();
    let unusable = append_unusable_events(&mut store);
    drop(store);
    for start in 0..3 {
        let mut session = open(&directory).unwrap();
        assert_eq!(session.rejected_event_count(), unusable, "start {start}");
        let listed: Vec<(u64, &str)> =
            session.rejected_events().iter().map(|e| (e.seq, e.kind.as_str())).collect();
        assert_eq!(listed[..2], [(first, "answer"), (first + 1, "batch")]);
        assert!(session.rejected_events()[0].reason.contains("4711"));
        process(&mut session, start + 1).unwrap();
    }
    let session = open(&directory).unwrap();
    assert_eq!(session.engine().rows(), 4 * ROWS as u64);
    let mut expected = Session::new(config(Oracle::Truth), None).unwrap();
    (0..4).for_each(|k| process(&mut expected, k).unwrap());
    assert_eq!(
        pack(session.engine()).unwrap(),
        pack(expected.engine()).unwrap(),
        "the rejected events changed nothing"
    );
}

/// The store is closed and opened between any two steps.
#[test]
fn a_session_resumes_at_any_step_with_the_same_bytes() {
    let home = temporary_directory();
    for step in 0..8 {
        let directory = home.path().join(step.to_string());
        let mut session = open(&directory).unwrap();
        let mut count = 0;
        let mut between = |session: &mut Session| {
            if count == step {
                let rows = session.statistics().current.rows;
                // The store is locked as long as its owner exists.
                *session = Session::new(config(Oracle::Truth), None).unwrap();
                *session = open(&directory).unwrap();
                assert_eq!(session.statistics().current.rows, rows);
            }
            count += 1;
        };
        for k in 0..3 {
            session.ingest(batch(k)).unwrap();
            between(&mut session);
            session.answer_from_truth().unwrap();
            between(&mut session);
            // Answers from hidden labels are stored with the end of the batch, so their queries are pending again after a
            // stop.
            session.answer_from_truth().unwrap();
            session.close_batch(0).unwrap();
            between(&mut session);
            session.save_snapshot().unwrap();
        }
        assert_eq!(session.to_bytes().unwrap(), uninterrupted_session(3), "stopped at step {step}");
    }
}

/// Three classes; the labels of the data answer comparisons, which come first, after a skip, or late.
#[test]
fn comparisons_are_answered_and_replayed() {
    let mut implied = [0; 4];
    for (k, (mode, delay, rate)) in [
        (PairwiseQueries::Always, 0, 1.0),
        (PairwiseQueries::AfterSkip, 0, 0.5),
        (PairwiseQueries::Always, 1, 1.0),
        (PairwiseQueries::OnRequest, 0, 0.5),
    ]
    .into_iter()
    .enumerate()
    {
        let config = || {
            let mut config = config(Oracle::Truth);
            config.params.budget.per_batch = 8;
            config.params.pairwise_queries = mode;
            config.random_baseline = true;
            config.label_protocol = LabelProtocol { delay, rate };
            config.schema.features = 21;
            config
        };
        let batch = |k: usize| {
            let params = GenerateParams { rows: 40, seed: k as u64 + 1, ..Default::default() };
            let (x, labels) = generate("waveform", &params).unwrap();
            let truth = labels.of.iter().map(|c| c.map(|c| labels.classes[c as usize].clone())).collect();
            Batch { truth, ..Batch::new(x, vec![None; 40]) }
        };
        let home = temporary_directory();
        let directory = home.path().join("state");
        let mut whole = Session::new(config(), None).unwrap();
        let store = Store::open(&directory, Open::Either).unwrap();
        let mut parts = Session::new(config(), Some(store)).unwrap();
        for number in 0..9 {
            for session in [&mut whole, &mut parts] {
                session.ingest(batch(number)).unwrap();
                session.answer_from_truth().unwrap();
                session.close_batch(0).unwrap();
            }
            if number == 3 {
                parts.save_snapshot().unwrap();
            }
            drop(std::mem::replace(&mut parts, Session::new(config(), None).unwrap()));
            parts = open(&directory).unwrap();
            assert_eq!(parts.to_bytes().unwrap(), whole.to_bytes().unwrap(), "{mode:?}, batch {number}");
            assert_eq!(parts.rejected_event_count(), 0);
        }
        let memory = whole.engine().memory().unwrap();
        implied[k] = memory.labeled().iter().filter(|l| l.follows.is_some()).count();
        for label in memory.labeled() {
            let (number, row) = (label.sample as usize / 40, label.sample as usize % 40);
            let name = &whole.engine().classes().names()[label.class as usize];
            assert_eq!(batch(number).truth[row].as_ref(), Some(name), "{mode:?}");
        }
    }
    assert!(implied[..3].iter().all(|n| *n > 5) && implied[3] == 0, "{implied:?} labels by comparison");
}

/// Pairs that were not queried answer queries, too.
#[test]
fn queries_answered_by_pairs_are_closed() {
    let mut session = Session::new(config(Oracle::Truth), None).unwrap();
    process(&mut session, 0).unwrap();
    session.ingest(batch(1)).unwrap();
    let known = session.engine().memory().unwrap().labeled()[0].sample;
    let sample = session.queries()[0].sample;
    let effects = session.submit(EngineEvent::Related { a: known, b: sample, same: true }).unwrap();
    assert_eq!(effects.implied.len(), 1);
    assert!(session.queries().iter().all(|q| q.sample != sample));
    session.answer_from_truth().unwrap();
}

#[test]
fn refused_events_change_nothing_and_are_not_stored() {
    let home = temporary_directory();
    let directory = home.path().join("state");
    let mut session = open(&directory).unwrap();
    process(&mut session, 0).unwrap();
    let before = session.to_bytes().unwrap();
    let refused: [Attempt; 4] = [
        Box::new(|s| s.ingest(batch_of_another_width()).map(|_| ())),
        Box::new(|s| s.submit(EngineEvent::Skip { sample: 4711 }).map(|_| ())),
        Box::new(|s| s.submit(EngineEvent::Correct { sample: 4711, label: "x".into() }).map(|_| ())),
        Box::new(|s| s.submit(EngineEvent::Related { a: 1, b: 1, same: true }).map(|_| ())),
    ];
    for refuse in &refused {
        assert!(matches!(refuse(&mut session), Err(SessionError::Rejected(_))));
        assert_eq!(session.to_bytes().unwrap(), before);
    }
    drop(session);
    let session = open(&directory).unwrap();
    assert_eq!(session.to_bytes().unwrap(), before);
    assert_eq!(session.rejected_event_count(), 0);
}

#[test]
fn a_state_of_another_cpu_continues_only_if_asked_to() {
    let home = temporary_directory();
    let directory = home.path().join("state");
    process(&mut open(&directory).unwrap(), 0).unwrap();
    let refused = Session::open(&directory, "other", OtherCpu::Refuse);
    let Err(SessionError::OtherCpu { stored, current, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!((stored.as_str(), current.as_str()), ("generic", "other"));
    let forced = Session::open(&directory, "other", OtherCpu::Continue).unwrap();
    let Opened::Session(mut session) = forced else { panic!() };
    process(&mut session, 1).unwrap();
    drop(session);
    assert!(
        matches!(open(&directory), Err(SessionError::OtherCpu { .. })),
        "the state now belongs to the other CPU"
    );
    assert!(matches!(Session::open(&directory, "other", OtherCpu::Refuse), Ok(Opened::Session(_))));
}

#[test]
fn a_state_of_another_format_is_refused() {
    let home = temporary_directory();
    let directory = home.path().join("state");
    let mut store = Store::open(&directory, Open::Create).unwrap();
    store.append(&[Event { kind: "begin", body: br#"{"form":1,"params":{}}"# }]).unwrap();
    drop(store);
    let error = open(&directory).unwrap_err();
    assert!(matches!(error, SessionError::Corrupt { .. }), "{error:?}");
    assert!(error.to_string().contains("session format 1; this program reads format 6"), "{error}");
}
