//! Invalid snapshots with a correct checksum: refused with an error, without a panic.

use crate::common::{open, process, temporary_directory};
use evermargin_io::artifacts::engine::{pack, unpack};
use evermargin_session::SessionError;
use evermargin_store::{Open, Store};
use serde_json::{Value, json};

/// Opens a session whose snapshot was changed at one place.
fn opened_with(pointer: &str, value: Value) -> Result<(), SessionError> {
    let home = temporary_directory();
    let directory = home.path().join("state");
    let mut session = open(&directory).unwrap();
    (0..3).for_each(|k| process(&mut session, k).unwrap());
    let mut snapshot: Value = unpack("snapshot", &session.to_bytes().unwrap()).unwrap();
    drop(session);
    *snapshot.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}")) = value;
    let mut store = Store::open(&directory, Open::Existing).unwrap();
    store.keep_snapshot(store.next_seq(), &pack(&snapshot).unwrap()).unwrap();
    drop(store);
    let mut session = open(&directory)?;
    let rows = session.statistics().current.rows as usize;
    process(&mut session, rows / crate::common::ROWS)
}

#[test]
fn refuses_snapshots_with_inconsistent_values() {
    opened_with("/statistics/current/drifts", json!(0)).unwrap();
    let hostile = [
        ("/statistics/current/batch", json!(u64::MAX)),
        ("/statistics/current/correct", json!(61)),
        ("/statistics/current/rows", json!(59)),
        ("/statistics/current/summary_cost", json!(-1.0)),
        ("/statistics/history/0/scored", json!(u64::MAX)),
        ("/statistics/history/1/rows", json!(1)),
        ("/statistics/stride", json!(u64::MAX)),
        ("/statistics/classes/0/actual", json!(u64::MAX)),
        ("/statistics/source_weights/stride", json!(0)),
        ("/statistics/source_weights/stride", json!(1u64 << 40)),
        ("/statistics/source_weights/last", Value::Null),
        ("/statistics/source_weights/last/batch", json!(4)),
        ("/statistics/source_weights/last/weights/0", json!(2.0)),
        ("/statistics/source_weights/points/0/batch", json!(0)),
        ("/statistics/source_weights/points/0/weights/3", json!(-0.5)),
        ("/first_row", json!(u64::MAX)),
        ("/unread_rows", json!([5, 4])),
        ("/labeled_texts", json!({"99": "of no row"})),
        ("/engine/state/constraints/pairs", json!([[5, 4, true]])),
        ("/engine/state/constraints/known", json!([[5, 0]])),
        ("/engine/state/constraints/classes", json!(9)),
    ];
    for (pointer, value) in hostile {
        let error = opened_with(pointer, value).unwrap_err();
        assert!(matches!(error, SessionError::Corrupt { .. }), "{pointer}: {error:?}");
        assert!(error.to_string().contains("snapshot before event"), "{error}");
    }
}
