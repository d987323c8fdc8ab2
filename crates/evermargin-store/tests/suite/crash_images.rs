//! Copies of the files of an open store, as a crash would leave them, and combinations that no crash leaves.

use crate::common::{
    DATABASE, Files, LOG, SEAL, StoreContents, append, files, open, temporary_directory, write_files,
};
use evermargin_store::{Error, Open, Result, Store};
use std::path::Path;

fn image(directory: &Path) -> Files {
    files(directory)
}

/// Images after 0, 1, … writes, with the contents of the store at that time.
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

fn contents_of(directory: &Path) -> Result<StoreContents> {
    StoreContents::of(&open(directory)?)
}

/// Combines the database and log of one image with the seal of another.
#[test]
fn a_database_is_never_behind_its_seal() {
    let home = temporary_directory();
    let images = history(&home.path().join("store"));
    let scratch = home.path().join("scratch");
    for (i, (data, then)) in images.iter().enumerate() {
        for (j, (sealed, _)) in images.iter().enumerate() {
            let mut mixed = data.clone();
            mixed.insert(SEAL.to_string(), sealed[SEAL].clone());
            write_files(&scratch, &mixed);
            match contents_of(&scratch) {
                Ok(contents) => {
                    assert!((i == j || i == j + 1) && contents == *then, "data {i}, seal {j}");
                }
                Err(Error::Damaged { .. }) => {
                    assert!(i != j && i != j + 1, "data {i}, seal {j}");
                    assert!(files(&scratch) == mixed, "data {i}, seal {j}");
                }
                Err(other) => panic!("{other}"),
            }
        }
    }
}

/// A commit without its seal is present, is sealed when the store is opened, and must be present from then on.
#[test]
fn an_unsealed_commit_is_sealed_on_opening() {
    let home = temporary_directory();
    let images = history(&home.path().join("store"));
    let scratch = home.path().join("scratch");
    for i in 1..images.len() {
        let mut mixed = images[i].0.clone();
        mixed.insert(SEAL.to_string(), images[i - 1].0[SEAL].clone());
        write_files(&scratch, &mixed);
        assert_eq!(contents_of(&scratch).unwrap(), images[i].1);
        let sealed = files(&scratch).remove(SEAL).unwrap();
        let mut behind = images[i - 1].0.clone();
        behind.insert(SEAL.to_string(), sealed);
        write_files(&scratch, &behind);
        assert!(matches!(contents_of(&scratch), Err(Error::Damaged { .. })), "write {i}");
    }
}

/// The seal torn at any length while it was written: at least one half is always intact.
#[test]
fn a_torn_seal_is_repaired_from_its_other_half() {
    let home = temporary_directory();
    let images = history(&home.path().join("store"));
    let scratch = home.path().join("scratch");
    for i in 1..images.len() {
        let (before, after) = (&images[i - 1].0[SEAL], &images[i].0[SEAL]);
        let changed: Vec<usize> = (0..before.len()).filter(|&at| before[at] != after[at]).collect();
        for &cut in changed.iter().step_by(5) {
            let torn: Vec<u8> = [&after[..cut], &before[cut..]].concat();
            let mut mixed = images[i].0.clone();
            mixed.insert(SEAL.to_string(), torn);
            write_files(&scratch, &mixed);
            assert_eq!(contents_of(&scratch).unwrap(), images[i].1);
            // The next write replaces the intact half, so the torn half must have been repaired before.
            let mut store = open(&scratch).unwrap();
            append(&mut store, "next", b"");
            drop(store);
            assert_eq!(open(&scratch).unwrap().next_seq(), images[i].1.next + 1);
        }
    }
}

#[test]
fn refuses_a_store_whose_log_is_missing() {
    let home = temporary_directory();
    let (mut files_now, _) = history(&home.path().join("store")).pop().unwrap();
    files_now.remove(LOG).unwrap();
    let scratch = home.path().join("scratch");
    write_files(&scratch, &files_now);
    let message = open(&scratch).unwrap_err().to_string();
    assert!(
        message.contains("events.db, event 0: holds 0 events and 0 writes, but 6 events and 9 writes were"),
        "{message}"
    );
    assert!(files(&scratch) == files_now);
}

/// With the log of another database, SQLite would read foreign pages.
#[test]
fn refuses_the_log_of_another_store() {
    let home = temporary_directory();
    let (one, _) = history(&home.path().join("one")).pop().unwrap();
    let (mut two, _) = history(&home.path().join("two")).pop().unwrap();
    two.insert(LOG.to_string(), one[LOG].clone());
    let scratch = home.path().join("scratch");
    write_files(&scratch, &two);
    let message = open(&scratch).unwrap_err().to_string();
    assert!(message.contains(DATABASE), "{message}");
    assert!(files(&scratch) == two);
}

/// Two copies of a store with different later events: the database of one does not fit the seal of the other.
#[test]
fn refuses_the_seal_of_a_diverged_copy() {
    let home = temporary_directory();
    let [one, two] = ["one", "two"].map(|name| home.path().join(name));
    crate::common::sample(&one);
    write_files(&two, &files(&one));
    for (directory, bodies) in [(&one, &[&b"1"[..]][..]), (&two, &[b"2", b"3"])] {
        let mut store = open(directory).unwrap();
        bodies.iter().for_each(|body| assert!(append(&mut store, "label", body) >= 8));
    }
    for (data, sealed) in [(&one, &two), (&two, &one)] {
        let mut mixed = files(data);
        mixed.insert(SEAL.to_string(), files(sealed)[SEAL].clone());
        let scratch = home.path().join("scratch");
        write_files(&scratch, &mixed);
        let message = open(&scratch).unwrap_err().to_string();
        let expected = if data == &one {
            "event 9: holds 9 events"
        } else {
            "event 8: is not the event that was acknowledged"
        };
        assert!(message.contains(expected), "{message}");
        assert!(files(&scratch) == mixed);
    }
}

/// As before, but with equal events and different snapshots.
#[test]
fn refuses_the_seal_of_a_copy_with_other_snapshots() {
    let home = temporary_directory();
    let [one, two] = ["one", "two"].map(|name| home.path().join(name));
    crate::common::sample(&one);
    write_files(&two, &files(&one));
    open(&one).unwrap().keep_snapshot(8, b"one").unwrap();
    open(&two).unwrap().keep_snapshot(8, b"two").unwrap();
    let mut mixed = files(&one);
    mixed.insert(SEAL.to_string(), files(&two)[SEAL].clone());
    write_files(&one, &mixed);
    let message = open(&one).unwrap_err().to_string();
    assert!(message.contains("event 7: holds other events or snapshots than were acknowledged"), "{message}");
    assert!(files(&one) == mixed);
}
