//! Streams with unusable rows: they are counted, listed and recorded in the log, and never end a run.

use crate::common::{ROWS, batch, batch_of_another_width, config, open, process, temporary_directory};
use evermargin_io::{Source, Stream, StreamOptions};
use evermargin_session::{Batch, Oracle, Session};
use evermargin_store::{Open, Store};
use std::fmt::Write;

/// A table of two numbers and a class, with bad rows at known lines.
fn table() -> (String, Vec<u64>) {
    let (mut text, mut bad) = (String::from("a,b,class\n"), Vec::new());
    for i in 0..90u64 {
        let (a, b) = (f64::from(i as u32 % 7), f64::from(i as u32 % 5));
        let line = match i {
            33 => format!("{a},nan,x"),
            34 => format!("{a},{b}"),
            57 => format!("{a},,y"),
            80 => format!("{a},{b},x,1"),
            _ => format!("{a},{b},{}", if a > b { "x" } else { "y" }),
        };
        if matches!(i, 33 | 34 | 57 | 80) {
            bad.push(i + 2);
        }
        let _ = writeln!(text, "{line}");
    }
    (text, bad)
}

fn ingest_file(session: &mut Session, stream: &mut Stream) {
    while let Some(chunk) = stream.next_batch(ROWS, &mut || false).unwrap() {
        let labels = vec![None; chunk.x.rows()];
        let (places, rejected, position) = (chunk.places, chunk.rejected, chunk.position);
        let batch = Batch { truth: chunk.labels, places, rejected, position, ..Batch::new(chunk.x, labels) };
        session.ingest(batch).unwrap();
        if !session.is_batch_closed() {
            session.answer_from_truth().unwrap();
            session.close_batch(0).unwrap();
        }
    }
}

#[test]
fn bad_rows_of_a_file_are_counted_and_recorded_with_their_lines() {
    let home = temporary_directory();
    let (text, bad) = table();
    let path = home.path().join("t.csv");
    std::fs::write(&path, text).unwrap();
    let directory = home.path().join("state");
    let mut session = open(&directory).unwrap();
    let options = StreamOptions { reject_bad_rows: true, ..Default::default() };
    let mut stream = Stream::open(vec![Source::File(path.clone())], options).unwrap();
    ingest_file(&mut session, &mut stream);
    assert_eq!(session.statistics().current.rejected_rows, bad.len() as u64);
    assert_eq!(session.engine().rows(), 90 - bad.len() as u64);
    assert_eq!(session.statistics().current.rows, 90 - bad.len() as u64);
    drop(session);
    let store = Store::open(&directory, Open::Existing).unwrap();
    let mut recorded = Vec::new();
    for event in store.events(0).map(Result::unwrap).filter(|e| e.kind == "rejected-rows") {
        let rows: Vec<evermargin_io::RejectedRow> = serde_json::from_slice(&event.body.unwrap()).unwrap();
        recorded.extend(rows);
    }
    assert_eq!(recorded.iter().map(|row| row.line).collect::<Vec<_>>(), bad);
    let numbers: Vec<u64> = bad.iter().map(|line| line - 1).collect(); // below the header
    assert_eq!(recorded.iter().map(|row| row.row).collect::<Vec<_>>(), numbers);
    assert!(recorded.iter().all(|row| row.file == path.display().to_string()));
    assert_eq!((recorded[0].column.as_deref(), recorded[0].value.as_deref()), (Some("b"), Some("nan")));
    drop(store);
    assert_eq!(open(&directory).unwrap().statistics().current.rejected_rows, bad.len() as u64);
}

#[test]
fn a_refused_batch_becomes_rejected_rows() {
    let home = temporary_directory();
    let directory = home.path().join("state");
    let mut session = open(&directory).unwrap();
    process(&mut session, 0).unwrap();
    let reason = session.ingest_or_reject(batch_of_another_width(), &()).unwrap();
    assert!(reason.unwrap().to_string().contains("columns"));
    assert!(session.is_batch_closed());
    assert_eq!(session.rejected_rows().len(), ROWS);
    let rows = session.numbered_predictions();
    assert!(rows.iter().all(|(_, prediction)| prediction.is_none()), "{rows:?}");
    assert!(rows.iter().map(|(row, _)| *row).eq(ROWS as u64 + 1..=2 * ROWS as u64), "{rows:?}");
    assert_eq!(session.statistics().current.rejected_rows, ROWS as u64);
    assert!(session.ingest_or_reject(batch(1), &()).unwrap().is_none());
    session.answer_from_truth().unwrap();
    session.close_batch(0).unwrap();
    let bytes = session.to_bytes().unwrap();
    drop(session);
    let session = open(&directory).unwrap();
    assert_eq!(session.to_bytes().unwrap(), bytes);
    assert_eq!(session.rejected_event_count(), 0, "a refused batch is not an event");
}

#[test]
fn the_random_baseline_resumes_with_the_session() {
    let home = temporary_directory();
    let directory = home.path().join("state");
    let config = evermargin_session::SessionConfig { random_baseline: true, ..config(Oracle::Truth) };
    let store = Store::open(&directory, Open::Create).unwrap();
    let mut session = Session::new(config.clone(), Some(store)).unwrap();
    let mut whole = Session::new(config, None).unwrap();
    for k in 0..4 {
        process(&mut whole, k).unwrap();
        process(&mut session, k).unwrap();
        drop(session);
        session = open(&directory).unwrap();
    }
    assert!(session.random_statistics().unwrap().accuracy().is_some());
    assert_eq!(session.to_bytes().unwrap(), whole.to_bytes().unwrap());
}

/// Rows rejected by the reader, rows rejected by the engine and all other rows are numbered in one sequence.
#[test]
fn all_rows_of_a_stream_are_numbered_in_one_sequence() {
    let home = temporary_directory();
    let path = home.path().join("t.csv");
    let mut text = String::from("a,b,class\n");
    for i in 0..60u32 {
        let (a, b) = (i % 7, i % 5);
        let _ = match i {
            25 => writeln!(text, "{a}"),
            27 => writeln!(text, "{a},nan,x"),
            30 | 31 => writeln!(text, "3e15,{b},x"),
            _ => writeln!(text, "{a},{b},{}", if a > b { "x" } else { "y" }),
        };
    }
    std::fs::write(&path, text).unwrap();
    let mut session = Session::new(config(Oracle::Truth), None).unwrap();
    let options = StreamOptions { reject_bad_rows: true, ..Default::default() };
    let mut stream = Stream::open(vec![Source::File(path)], options).unwrap();
    let (mut numbers, mut rejected) = (Vec::new(), Vec::new());
    while let Some(chunk) = stream.next_batch(ROWS, &mut || false).unwrap() {
        let labels = vec![None; chunk.x.rows()];
        let (places, position) = (chunk.places, chunk.position);
        let batch = Batch {
            truth: chunk.labels,
            places,
            rejected: chunk.rejected,
            position,
            ..Batch::new(chunk.x, labels)
        };
        session.ingest(batch).unwrap();
        assert!(session.numbered_predictions().is_empty(), "the batch is open");
        session.answer_from_truth().unwrap();
        session.close_batch(0).unwrap();
        numbers.extend(session.numbered_predictions());
        rejected.extend(session.rejected_rows().iter().map(|row| (row.row, row.line)));
    }
    assert_eq!(rejected, [(26, 27), (28, 29), (31, 32), (32, 33)]);
    assert!(numbers.iter().map(|(row, _)| *row).eq(1..=60), "{numbers:?}");
    let unlabeled = |(row, p): &(u64, Option<evermargin::engine::InferredLabel>)| {
        p.is_none_or(|p| p.class.is_none()).then_some(*row)
    };
    assert_eq!(numbers.iter().filter_map(unlabeled).collect::<Vec<_>>(), [26, 28, 31, 32]);
    assert_eq!((session.statistics().current.rows, session.statistics().current.rejected_rows), (56, 4));
}
