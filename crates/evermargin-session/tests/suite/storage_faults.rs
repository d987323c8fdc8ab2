//! Full disks and failing syncs: the type of the error distinguishes them, the event is not applied, the session stays
//! readable, and it continues after the store is reopened.

use crate::common::{
    ROWS, arguments, batch, can_trace, child_directory, config, open, process, temporary_directory,
};
use evermargin::Matrix;
use evermargin_io::RejectedRow;
use evermargin_session::{Batch, Oracle, Session, SessionError};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const BATCHES: usize = 6;

/// The state after all applied events, without the log.
fn readable(session: &Session) -> (u64, usize, Vec<u8>) {
    (session.engine().rows(), session.queries().len(), session.to_bytes().unwrap())
}

/// Processes batches; after a storage error, checks the guarantees and continues as soon as the store can be opened.
#[test]
#[ignore = "started by other tests"]
fn processes_batches_and_recovers() {
    let Some(directory) = child_directory() else { return };
    let mut session = match open(&directory) {
        Ok(session) => session,
        Err(error) => return println!("\nnot opened: {error}"),
    };
    let first = session.statistics().current.batch as usize;
    for k in first..BATCHES {
        attempt(&mut session, |session| session.ingest(batch(k)).map(|_| ()));
        session.answer_from_truth().unwrap();
        attempt(&mut session, |session| session.close_batch(0));
        if session.statistics().current.rejected_rows <= k as u64 {
            attempt(&mut session, |session| session.ingest(rejected_batch(k)).map(|_| ()));
        }
    }
    attempt(&mut session, Session::save_snapshot);
    assert_eq!(session.to_bytes().unwrap(), uninterrupted_session_with_rejections(BATCHES));
    println!("\nfinished");
}

/// A batch without usable rows.
fn rejected_batch(k: usize) -> Batch {
    let row = RejectedRow {
        row: ((ROWS + 1) * (k + 1)) as u64,
        file: "t.csv".into(),
        line: k as u64 + 1,
        column: None,
        value: None,
        reason: "not a number".into(),
    };
    Batch { rejected: vec![row], ..Batch::new(Matrix::empty(2, false), Vec::new()) }
}

fn uninterrupted_session_with_rejections(batches: usize) -> Vec<u8> {
    let mut session = Session::new(config(Oracle::Truth), None).unwrap();
    for k in 0..batches {
        process(&mut session, k).unwrap();
        session.ingest(rejected_batch(k)).unwrap();
    }
    session.to_bytes().unwrap()
}

fn attempt(session: &mut Session, step: impl Fn(&mut Session) -> Result<(), SessionError>) {
    let before = readable(session);
    let error = match step(session) {
        Ok(()) => return,
        Err(error) => error,
    };
    let kind = match &error {
        SessionError::StorageFull(_) => "full",
        SessionError::Storage(_) => "failed",
        other => panic!("{other:?}"),
    };
    println!("\nstorage {kind}: {error}");
    assert_eq!(readable(session), before, "an event that was not stored was applied");
    // Until the store is reopened, nothing is written and nothing is applied.
    assert!(matches!(step(session), Err(SessionError::Storage(_) | SessionError::StorageFull(_))));
    assert_eq!(readable(session), before);
    let stored = session.reopen_store().unwrap();
    println!("\nreopened: {stored}");
    if !stored {
        step(session).unwrap();
    }
}

/// Runs the test above under strace, with an error injected into one system call.
fn traced(directory: &Path, call: &str, error: &str, when: u32) -> String {
    let mut traced = Command::new("strace");
    traced.args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={call}")]);
    traced.args(["-e", &format!("inject={call}:error={error}:when={when}")]);
    arguments(&mut traced, "storage_faults::processes_batches_and_recovers", directory);
    let output = traced.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{call} {error} {when}: {text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    text
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_has_its_own_error_type_and_the_session_continues() {
    if !can_trace() {
        return println!("strace is missing or may not trace: not tested");
    }
    let home = temporary_directory();
    let mut full = 0;
    for when in (1..80).step_by(4) {
        let directory = home.path().join(format!("full-{when}"));
        let text = traced(&directory, "pwrite64", "ENOSPC", when);
        full += usize::from(text.contains("\nstorage full: "));
        assert!(text.contains("\nfinished") || text.contains("\nnot opened: "), "{when}: {text}");
    }
    assert!(full >= 3, "only {full} writes failed within the session");
}

#[cfg(target_os = "linux")]
#[test]
fn a_failed_sync_or_seal_is_a_storage_error_and_the_session_continues() {
    if !can_trace() {
        return println!("strace is missing or may not trace: not tested");
    }
    let home = temporary_directory();
    let (mut failed, mut stored) = (0, 0);
    for (call, times) in [("fdatasync", 10), ("fsync", 12)] {
        for when in 1..=times {
            let directory = home.path().join(format!("{call}-{when}"));
            let text = traced(&directory, call, "EIO", when);
            failed += usize::from(text.contains("\nstorage failed: "));
            stored += usize::from(text.contains("\nreopened: true"));
            assert!(text.contains("\nfinished") || text.contains("\nnot opened: "), "{call} {when}: {text}");
        }
    }
    assert!(failed >= 8, "only {failed} syncs failed within the session");
    assert!(stored >= 1, "no write turned out to be stored after its seal failed");
}

/// A file size limit of the shell acts as a disk that stays full.
#[cfg(unix)]
#[test]
fn a_disk_that_stays_full_ends_at_once_and_loses_nothing() {
    let home = temporary_directory();
    let directory = home.path().join("limited");
    let mut limited = Command::new("sh");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 120; exec \"$0\" \"$@\""]);
    arguments(&mut limited, "storage_faults::fills_the_disk", &directory);
    let began = Instant::now();
    let output = limited.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && text.contains("\nended: "), "{text}");
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    let done = |word: &str| {
        let mut found = text.lines().filter_map(|line| line.strip_prefix(word));
        found.next_back().unwrap().parse::<u64>().unwrap()
    };
    let mut session = open(&directory).unwrap();
    let batches = session.statistics().current.batch;
    assert!((done("acknowledged ")..=done("acknowledged ") + 1).contains(&batches), "{batches}: {text}");
    assert_eq!(session.rejected_event_count(), 0);
    if !session.is_batch_closed() {
        session.answer_from_truth().unwrap();
        session.close_batch(0).unwrap();
    }
    process(&mut session, batches as usize).unwrap();
    let mut expected = Session::new(session.config().clone(), None).unwrap();
    (0..=batches as usize).for_each(|k| process(&mut expected, k).unwrap());
    assert_eq!(session.to_bytes().unwrap(), expected.to_bytes().unwrap());
}

#[test]
#[ignore = "started by other tests"]
fn fills_the_disk() {
    let Some(directory) = child_directory() else { return };
    let mut session = open(&directory).unwrap();
    for k in 0.. {
        let began = Instant::now();
        match process(&mut session, k) {
            Ok(()) => println!("\nacknowledged {}", k + 1),
            Err(SessionError::StorageFull(error) | SessionError::Storage(error)) => {
                assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
                assert!(session.engine().rows() >= (k * 20) as u64, "the session stays readable");
                return println!("\nended: {error}");
            }
            Err(other) => panic!("{other:?}"),
        }
    }
}
