//! Events whose planning is interrupted by the caller's watch: nothing changes, and the stream continues to the same
//! bytes.

use crate::common::{batch, config, open, temporary_directory, uninterrupted_session};
use evermargin::solver::{Progress, Watch};
use evermargin_session::{Oracle, Session, SessionConfig, SessionError};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Stops work after a number of calls.
struct StopAfter(AtomicUsize);

impl Watch for StopAfter {
    fn proceed(&self, _: &Progress) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_ok()
    }
}

/// Repeats a step, interrupted later each time, until it succeeds; returns the number of interruptions.
fn retry_until_done(
    session: &mut Session,
    step: impl Fn(&mut Session, &dyn Watch) -> Result<(), SessionError>,
) -> usize {
    let before = session.to_bytes().unwrap();
    for (interruptions, allowed) in (0..).map(|k| (k, (1 << k) - 1)) {
        match step(session, &StopAfter(AtomicUsize::new(allowed))) {
            Ok(()) => return interruptions,
            Err(SessionError::Interrupted) => assert_eq!(session.to_bytes().unwrap(), before),
            Err(other) => panic!("{other:?}"),
        }
    }
    unreachable!()
}

fn process_interrupted(session: &mut Session, k: usize) -> usize {
    let arrivals =
        retry_until_done(session, |session, watch| session.ingest_watched(batch(k), watch).map(|_| ()));
    session.answer_from_truth().unwrap();
    arrivals + retry_until_done(session, |session, watch| session.close_batch_watched(0, watch))
}

#[test]
fn an_interrupted_event_leaves_the_state_as_it_was() {
    let mut session = Session::new(config(Oracle::Truth), None).unwrap();
    let interruptions: usize = (0..4).map(|k| process_interrupted(&mut session, k)).sum();
    assert!(interruptions >= 8, "{interruptions}");
    assert_eq!(session.to_bytes().unwrap(), uninterrupted_session(4));
}

#[test]
fn a_session_that_was_interrupted_resumes_with_the_same_bytes() {
    let home = temporary_directory();
    let directory = home.path().join("state");
    for k in 0..4 {
        let mut session = open(&directory).unwrap();
        let stopped = session.ingest_watched(batch(k), &StopAfter(AtomicUsize::new(0)));
        // The first batch may be too little work to be interrupted.
        if let Err(error) = stopped {
            assert!(matches!(error, SessionError::Interrupted), "{error:?}");
            drop(session);
            session = open(&directory).unwrap();
            assert_eq!(session.statistics().current.batch, k as u64, "an interrupted batch is not stored");
            session.ingest(batch(k)).unwrap();
        }
        let stopped = session.answer_from_truth_watched(&StopAfter(AtomicUsize::new(1)));
        assert!(matches!(stopped, Err(SessionError::Interrupted)), "{stopped:?}");
        session.store_answers().unwrap();
        let open_queries = session.queries().to_vec();
        drop(session);
        let mut session = open(&directory).unwrap();
        assert_eq!(session.queries(), open_queries, "stored answers are kept");
        session.answer_from_truth().unwrap();
        let _ = session.close_batch_watched(0, &StopAfter(AtomicUsize::new(0)));
        drop(session);
        let mut session = open(&directory).unwrap();
        if !session.is_batch_closed() {
            session.answer_from_truth().unwrap();
            session.close_batch(0).unwrap();
        }
    }
    assert_eq!(open(&directory).unwrap().to_bytes().unwrap(), uninterrupted_session(4));
}

#[test]
fn the_random_baseline_is_interrupted_with_its_batch() {
    let config = SessionConfig { random_baseline: true, ..config(Oracle::Truth) };
    let (mut one, mut other) =
        (Session::new(config.clone(), None).unwrap(), Session::new(config, None).unwrap());
    for k in 0..3 {
        process_interrupted(&mut one, k);
        crate::common::process(&mut other, k).unwrap();
    }
    assert_eq!(one.to_bytes().unwrap(), other.to_bytes().unwrap());
}
