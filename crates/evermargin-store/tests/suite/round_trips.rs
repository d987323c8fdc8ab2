//! Written contents are read back, in the same process and in the next.

use crate::common::{StoreContents, append, fill, open, sample, temporary_directory};
use evermargin_store::{BODY_LIMIT, Error, Event, Open, Record, Store};

#[test]
fn events_of_all_kinds_are_read_back() {
    let home = temporary_directory();
    let directory = home.path().join("a place/with #odd? 100% näme");
    let long = "k".repeat(255);
    let large: Vec<u8> = (0..300_000_u64).map(|i| ((i * i) >> 7) as u8).collect();
    let shapes: Vec<(&str, &[u8])> = vec![
        ("begin", b"{}"),
        ("leer", b""),
        ("ñ☂ 'x'", b"\0"),
        (&long, b"text"),
        ("large", &large),
        ("nul", b"a\0b"),
    ];
    let mut store = Store::open(&directory, Open::Create).unwrap();
    let events: Vec<Event> = shapes.iter().map(|&(kind, body)| Event { kind, body }).collect();
    assert_eq!(store.append(&events[..4]).unwrap(), 0..4);
    assert_eq!(store.append(&[]).unwrap(), 4..4);
    assert_eq!(store.append(&events[4..]).unwrap(), 4..6);
    let contents = StoreContents::of(&store).unwrap();
    drop(store);
    let store = open(&directory).unwrap();
    assert_eq!(StoreContents::of(&store).unwrap(), contents);
    for (seq, &(kind, body)) in shapes.iter().enumerate() {
        let expected = Record { seq: seq as u64, kind: kind.to_string(), body: Some(body.to_vec()) };
        assert_eq!(contents.records[seq], expected);
        assert_eq!(store.events(seq as u64).next().unwrap().unwrap(), expected);
    }
    assert_eq!(store.events(6).count(), 0);
    assert_eq!(store.events(u64::MAX).count(), 0);
}

#[test]
fn a_closed_store_has_two_files() {
    let home = temporary_directory();
    let directory = home.path().join("store");
    let contents = sample(&directory);
    let names: Vec<String> = crate::common::files(&directory).into_keys().collect();
    assert_eq!(names, ["events.db", "seal"]);
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 1, "the temporary directory is removed");
    let store = open(&directory).unwrap();
    assert_eq!(StoreContents::of(&store).unwrap(), contents);
}

#[test]
fn the_two_newest_snapshots_are_kept_and_bound_forgetting() {
    let home = temporary_directory();
    let directory = home.path().join("store");
    let mut store = Store::open(&directory, Open::Create).unwrap();
    fill(&mut store);
    assert_eq!((store.next_seq(), store.covered()), (8, 4));
    let newest = store.newest_snapshot().unwrap().unwrap();
    assert_eq!((newest.seq, &newest.body[..]), (7, &b"state"[..]));
    let bodies: Vec<bool> = store.events(0).map(|record| record.unwrap().body.is_some()).collect();
    assert_eq!(bodies, [true, false, true, true, true, true, true, true]);
    let refused = store.forget_bodies(&["batch"], 5).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "bodies before event 5 cannot be forgotten: the older of two snapshots reaches to 4"
    );
    assert_eq!(store.forget_bodies(&["batch", "leer", "batch"], 4).unwrap(), 1);
    assert_eq!(store.forget_bodies(&["batch", "leer"], 4).unwrap(), 0);
    store.keep_snapshot(7, b"state").unwrap();
    for (seq, body) in [(7, &b"other"[..]), (6, b""), (9, b"")] {
        let refused = store.keep_snapshot(seq, body).unwrap_err();
        assert_eq!(refused.to_string(), format!("snapshot before event {seq}: must be at one of 8 to 8"));
    }
    append(&mut store, "tick", b"refusals do not make it fail");
    let contents = StoreContents::of(&store).unwrap();
    drop(store);
    assert_eq!(StoreContents::of(&open(&directory).unwrap()).unwrap(), contents);
}

#[test]
fn a_large_snapshot_is_read_back() {
    let home = temporary_directory();
    let directory = home.path().join("store");
    let mut store = Store::open(&directory, Open::Create).unwrap();
    let body: Vec<u8> = (0..(130_u32 << 20)).map(|i| (i >> 11) as u8).collect();
    store.keep_snapshot(0, &body).unwrap();
    drop(store);
    let store = open(&directory).unwrap();
    assert!(store.newest_snapshot().unwrap().unwrap().body == body);
}

#[test]
fn refuses_invalid_events_without_changes() {
    let home = temporary_directory();
    let mut store = Store::open(&home.path().join("store"), Open::Either).unwrap();
    let (long, large) = ("k".repeat(256), vec![0; BODY_LIMIT + 1]);
    for (kind, body) in [("", &b""[..]), (&long, b""), ("a\0", b""), ("large", &large)] {
        let refused = store.append(&[Event { kind: "fine", body: b"" }, Event { kind, body }]).unwrap_err();
        assert!(matches!(refused, Error::Argument { .. }), "{refused}");
    }
    assert_eq!(store.next_seq(), 0);
    assert_eq!(append(&mut store, "fine", b""), 0);
}

#[test]
fn forgetting_bodies_bounds_the_file_size() {
    let home = temporary_directory();
    let directory = home.path().join("store");
    let mut store = Store::open(&directory, Open::Create).unwrap();
    let batch = vec![0xaa; 200_000];
    for round in 1..=100 {
        append(&mut store, "batch", &batch);
        append(&mut store, "label", b"{\"class\":1}");
        store.keep_snapshot(2 * round, &batch).unwrap();
        store.forget_bodies(&["batch"], store.covered()).unwrap();
    }
    drop(store);
    let bytes: u64 =
        std::fs::read_dir(&directory).unwrap().map(|e| e.unwrap().metadata().unwrap().len()).sum();
    assert!(bytes < 2_000_000, "{bytes} bytes after 20 MB of batches");
    let store = open(&directory).unwrap();
    assert_eq!(store.events(0).filter(|record| record.as_ref().unwrap().body.is_some()).count(), 101);
}
