//! Copies of the files of an open store, as a crash would leave them, and mixtures that no crash leaves.

use crate::common::{DATABASE, Files, LOG, SEAL, StoreContents, append, files, home, lay, open};
use evermargin_store::{Error, Open, Result, Store};
use std::path::Path;

fn image(directory: &Path) -> Files {
    files(directory)
}

/// Images after 0, 1, … writes, with what the store told then.
fn history(directory: &Path) -> Vec<(Files, StoreContents)> {
    let mut store = Store::open(directory, Open::Create).unwrap();
    let mut images = vec![(image(directory), StoreContents::of(&store).unwrap())];
    for write in 0..9_u8 {
        match write {
            3 | 5 => store.keep_snapshot(store.next_seq(), &[write; 70]).unwrap(),
            7 => assert_eq!(store.forget_bodies(&["batch"], store.covered()).unwrap(), 3),
            _ => assert_eq!(append(&mut store, "batch", &[write; 3000]), store.next_seq() - 1),
        }
        images.push((image(directory), StoreContents::of(&store).unwrap()));
    }
    images
}

fn told(directory: &Path) -> Result<StoreContents> {
    StoreContents::of(&open(directory)?)
}

/// Parts of one image with parts of another: what the database and its log say, and what the seal says.
#[test]
fn a_database_is_never_behind_its_seal() {
    let home = home();
    let images = history(&home.path().join("store"));
    let scratch = home.path().join("scratch");
    for (i, (data, then)) in images.iter().enumerate() {
        for (j, (sealed, _)) in images.iter().enumerate() {
            let mut mixed = data.clone();
            mixed.insert(SEAL.to_string(), sealed[SEAL].clone());
            lay(&scratch, &mixed);
            match told(&scratch) {
                Ok(told) => assert!((i == j || i == j + 1) && told == *then, "data {i}, seal {j}"),
                Err(Error::Damaged { .. }) => {
                    assert!(i != j && i != j + 1, "data {i}, seal {j}");
                    assert!(files(&scratch) == mixed, "data {i}, seal {j}");
                }
                Err(other) => panic!("{other}"),
            }
        }
    }
}

/// A commit without its seal is there, is sealed by the opening, and from then on must be there.
#[test]
fn an_unsealed_commit_is_sealed_on_opening() {
    let home = home();
    let images = history(&home.path().join("store"));
    let scratch = home.path().join("scratch");
    for i in 1..images.len() {
        let mut mixed = images[i].0.clone();
        mixed.insert(SEAL.to_string(), images[i - 1].0[SEAL].clone());
        lay(&scratch, &mixed);
        assert_eq!(told(&scratch).unwrap(), images[i].1);
        let sealed = files(&scratch).remove(SEAL).unwrap();
        let mut behind = images[i - 1].0.clone();
        behind.insert(SEAL.to_string(), sealed);
        lay(&scratch, &behind);
        assert!(matches!(told(&scratch), Err(Error::Damaged { .. })), "write {i}");
    }
}

/// The seal torn at every length while it was written: both halves are never lost.
#[test]
fn a_torn_seal_leaves_the_other_half() {
    let home = home();
    let images = history(&home.path().join("store"));
    let scratch = home.path().join("scratch");
    for i in 1..images.len() {
        let (before, after) = (&images[i - 1].0[SEAL], &images[i].0[SEAL]);
        let changed: Vec<usize> = (0..before.len()).filter(|&at| before[at] != after[at]).collect();
        for &cut in changed.iter().step_by(5) {
            let torn: Vec<u8> = [&after[..cut], &before[cut..]].concat();
            let mut mixed = images[i].0.clone();
            mixed.insert(SEAL.to_string(), torn);
            lay(&scratch, &mixed);
            assert_eq!(told(&scratch).unwrap(), images[i].1);
            // The next write goes over the half that was not torn; the torn one must have been mended before.
            let mut store = open(&scratch).unwrap();
            append(&mut store, "next", b"");
            drop(store);
            assert_eq!(open(&scratch).unwrap().next_seq(), images[i].1.next + 1);
        }
    }
}

#[test]
fn a_log_that_is_gone() {
    let home = home();
    let (mut files_now, _) = history(&home.path().join("store")).pop().unwrap();
    files_now.remove(LOG).unwrap();
    let scratch = home.path().join("scratch");
    lay(&scratch, &files_now);
    let said = open(&scratch).unwrap_err().to_string();
    assert!(
        said.contains("events.db, event 0: holds 0 events and 0 writes, but 6 events and 9 writes were"),
        "{said}"
    );
    assert!(files(&scratch) == files_now);
}

/// With a log from elsewhere SQLite would read pages of another database.
#[test]
fn a_log_of_another_store() {
    let home = home();
    let (one, _) = history(&home.path().join("one")).pop().unwrap();
    let (mut two, _) = history(&home.path().join("two")).pop().unwrap();
    two.insert(LOG.to_string(), one[LOG].clone());
    let scratch = home.path().join("scratch");
    lay(&scratch, &two);
    let said = open(&scratch).unwrap_err().to_string();
    assert!(said.contains(DATABASE), "{said}");
    assert!(files(&scratch) == two);
}

/// Two copies of a store that went on apart: the database of one is not what the seal of the other has seen.
#[test]
fn copies_that_went_apart() {
    let home = home();
    let [one, two] = ["one", "two"].map(|name| home.path().join(name));
    crate::common::sample(&one);
    lay(&two, &files(&one));
    for (directory, bodies) in [(&one, &[&b"1"[..]][..]), (&two, &[b"2", b"3"])] {
        let mut store = open(directory).unwrap();
        bodies.iter().for_each(|body| assert!(append(&mut store, "label", body) >= 8));
    }
    for (data, sealed) in [(&one, &two), (&two, &one)] {
        let mut mixed = files(data);
        mixed.insert(SEAL.to_string(), files(sealed)[SEAL].clone());
        let scratch = home.path().join("scratch");
        lay(&scratch, &mixed);
        let said = open(&scratch).unwrap_err().to_string();
        let expected = if data == &one {
            "event 9: holds 9 events"
        } else {
            "event 8: is not the event that was acknowledged"
        };
        assert!(said.contains(expected), "{said}");
        assert!(files(&scratch) == mixed);
    }
}

/// As before, but the events are the same: only what was kept beside them differs.
#[test]
fn copies_with_other_snapshots() {
    let home = home();
    let [one, two] = ["one", "two"].map(|name| home.path().join(name));
    crate::common::sample(&one);
    lay(&two, &files(&one));
    open(&one).unwrap().keep_snapshot(8, b"one").unwrap();
    open(&two).unwrap().keep_snapshot(8, b"two").unwrap();
    let mut mixed = files(&one);
    mixed.insert(SEAL.to_string(), files(&two)[SEAL].clone());
    lay(&one, &mixed);
    let said = open(&one).unwrap_err().to_string();
    assert!(said.contains("event 7: holds other events or snapshots than were acknowledged"), "{said}");
    assert!(files(&one) == mixed);
}
