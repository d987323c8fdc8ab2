//! Random histories against a plain list in memory.

use crate::common::{StoreContents, open, temporary_directory};
use evermargin_store::{Event, Open, Record, Snapshot, Store};
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};

#[derive(Debug, Clone)]
enum Step {
    Append(Vec<(String, Vec<u8>)>),
    Snapshot(Vec<u8>),
    Forget(String, u8),
    Reopen,
}

#[derive(Default)]
struct ReferenceStore {
    records: Vec<Record>,
    snapshots: Vec<Snapshot>,
}

impl ReferenceStore {
    fn covered(&self) -> u64 {
        self.snapshots.iter().rev().nth(1).map_or(0, |snapshot| snapshot.seq)
    }

    fn forget(&mut self, kind: &str, before: u64) -> u64 {
        let old = self.records.iter_mut().filter(|record| record.kind == kind && record.seq < before);
        old.filter_map(|record| record.body.take()).count() as u64
    }

    fn check(&self, store: &Store) {
        let contents = StoreContents::of(store).unwrap();
        assert_eq!(contents.records, self.records);
        assert_eq!((contents.next, contents.covered), (self.records.len() as u64, self.covered()));
        assert_eq!(contents.newest.as_ref(), self.snapshots.last());
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let kind = || prop_oneof![Just("batch".to_string()), Just("label".to_string()), "\\PC{1,9}"];
    let body = prop_oneof![
        vec(any::<u8>(), 0..40),
        vec(any::<u8>(), 3000..9000),
        "\\PC{0,30}".prop_map(String::into_bytes)
    ];
    let append = vec((kind(), body.clone()), 0..6).prop_map(Step::Append);
    let forget = (kind(), any::<u8>()).prop_map(|(kind, part)| Step::Forget(kind, part));
    let step =
        prop_oneof![4 => append, 2 => body.prop_map(Step::Snapshot), 2 => forget, 1 => Just(Step::Reopen)];
    vec(step, 1..40)
}

fn apply(step: Step, store: &mut Store, plain: &mut ReferenceStore) {
    match step {
        Step::Append(events) => {
            let given: Vec<Event> = events.iter().map(|(kind, body)| Event { kind, body }).collect();
            let first = plain.records.len() as u64;
            assert_eq!(store.append(&given).unwrap(), first..first + events.len() as u64);
            let records =
                (first..).zip(events).map(|(seq, (kind, body))| Record { seq, kind, body: Some(body) });
            plain.records.extend(records);
        }
        Step::Snapshot(body) => {
            let seq = plain.records.len() as u64;
            let new = plain.snapshots.last().is_none_or(|last| last.seq < seq);
            let same = plain.snapshots.last().is_some_and(|last| last.seq == seq && last.body == body);
            assert_eq!(store.keep_snapshot(seq, &body).is_ok(), new || same);
            if new {
                plain.snapshots.push(Snapshot { seq, body });
            }
        }
        Step::Forget(kind, part) => {
            let before = plain.covered() * u64::from(part) / 255;
            assert_eq!(store.forget_bodies(&[&kind], before).unwrap(), plain.forget(&kind, before));
            assert!(store.forget_bodies(&[&kind], plain.covered() + 1).is_err());
        }
        Step::Reopen => {}
    }
}

proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(60))]
    #[test]
    fn a_store_equals_a_list_in_memory(steps in steps()) {
        let home = temporary_directory();
        let directory = home.path().join("store");
        let mut store = Store::open(&directory, Open::Create).unwrap();
        let mut plain = ReferenceStore::default();
        for step in steps {
            if matches!(step, Step::Reopen) {
                let head = store.head_hash();
                drop(store);
                store = open(&directory).unwrap();
                assert_eq!(store.head_hash(), head);
            }
            apply(step, &mut store, &mut plain);
            plain.check(&store);
        }
        drop(store);
        plain.check(&open(&directory).unwrap());
    }
}
