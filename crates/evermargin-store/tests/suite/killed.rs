//! A process killed repeatedly during its writes: acknowledged events are kept.

use crate::common::{Draw, append, child, child_directory, open, temporary_directory};
use evermargin_store::{Event, Open, Store};
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Duration;

/// The body that event `seq` must have.
fn body(seq: u64) -> Vec<u8> {
    let mut draw = Draw(seq + 1);
    let length = if seq % 9 == 1 { 400_000 } else { draw.below(300) };
    (0..length).map(|_| draw.below(256) as u8).collect()
}

fn kind(seq: u64) -> &'static str {
    if seq.is_multiple_of(3) { "label" } else { "batch" }
}

#[test]
#[ignore = "started by other tests"]
fn writes_until_killed() {
    let Some(directory) = child_directory() else { return };
    let mut store = Store::open(&directory, Open::Either).unwrap();
    let mut draw = Draw(store.next_seq());
    loop {
        let first = store.next_seq();
        let bodies: Vec<(u64, Vec<u8>)> =
            (first..=first + draw.below(4)).map(|seq| (seq, body(seq))).collect();
        let events: Vec<Event> = bodies.iter().map(|(seq, body)| Event { kind: kind(*seq), body }).collect();
        let range = store.append(&events).unwrap();
        println!("\nacknowledged {}", range.end);
        if draw.below(5) == 0 {
            store.keep_snapshot(range.end, &body(range.end)).unwrap();
            println!("\nkept {}", range.end);
            store.forget_bodies(&["batch"], store.covered()).unwrap();
        }
    }
}

#[test]
fn fifty_kills_lose_no_acknowledged_event() {
    let home = temporary_directory();
    let directory = home.path().join("store");
    let (mut acknowledged, mut kept, mut draw) = (0, 0, Draw(3));
    for round in 0..50 {
        let mut process =
            child("killed::writes_until_killed", &directory).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut left = draw.below(40);
        if round % 5 == 0 {
            // Some kills hit the opening of the store.
            std::thread::sleep(Duration::from_micros(draw.below(8000)));
            process.kill().unwrap();
        }
        for line in lines.map_while(Result::ok) {
            let number = |word: &str| line.strip_prefix(word).and_then(|rest| rest.parse::<u64>().ok());
            acknowledged = number("acknowledged ").unwrap_or(acknowledged);
            kept = number("kept ").unwrap_or(kept);
            if left == 0 {
                process.kill().unwrap();
            }
            left = left.saturating_sub(1);
        }
        let _ = process.wait().unwrap();
        if !directory.exists() {
            assert_eq!(acknowledged, 0);
            continue;
        }
        let store = open(&directory).unwrap();
        assert!(store.next_seq() >= acknowledged, "round {round}: {} of {acknowledged}", store.next_seq());
        for (seq, record) in store.events(0).enumerate() {
            let record = record.unwrap();
            assert_eq!((record.seq, record.kind.as_str()), (seq as u64, kind(seq as u64)));
            assert!(record.body.is_none_or(|found| found == body(seq as u64)), "round {round}, event {seq}");
        }
        let snapshot = store.newest_snapshot().unwrap();
        assert!(snapshot.as_ref().map_or(0, |snapshot| snapshot.seq) >= kept);
        assert!(snapshot.is_none_or(|snapshot| snapshot.body == body(snapshot.seq)));
    }
    assert!(acknowledged > 500 && kept > 50, "{acknowledged} {kept}");
    let mut store = open(&directory).unwrap();
    let next = store.next_seq();
    assert_eq!(append(&mut store, "tick", b""), next);
}
