//! Opening of stores: what is refused, with which message, and that a refusal changes nothing.

use crate::common::{
    DATABASE, Files, SEAL, StoreContents, child, child_directory, files, open, sample, temporary_directory,
    write_files,
};
use evermargin_store::{Error, Open, Store};
use rusqlite::Connection;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

fn refused(directory: &Path, how: Open) -> String {
    Store::open(directory, how).unwrap_err().to_string()
}

#[test]
fn open_modes_require_or_refuse_an_existing_store() {
    let home = temporary_directory();
    let directory = home.path().join("store");
    assert!(
        refused(&directory, Open::Existing)
            .ends_with("there is no store here; check the name, or make a new one")
    );
    assert!(!directory.exists());
    fs::create_dir(&directory).unwrap();
    assert_eq!(
        Store::open(&directory, Open::Create).unwrap().next_seq(),
        0,
        "an empty directory is accepted"
    );
    assert!(
        refused(&directory, Open::Create)
            .ends_with("there is a store already; open it or name another directory")
    );
    assert_eq!(Store::open(&directory, Open::Either).unwrap().next_seq(), 0);
    let full = home.path().join("full");
    fs::create_dir(&full).unwrap();
    fs::write(full.join("letter.txt"), "dear").unwrap();
    for how in [Open::Create, Open::Either] {
        assert!(
            refused(&full, how).ends_with("holds other files and no store; name a new or an empty directory")
        );
    }
    assert_eq!(files(&full).len(), 1);
    assert!(refused(&full.join("letter.txt/store"), Open::Create).contains("letter.txt"));
}

#[test]
fn names_a_missing_file() {
    let home = temporary_directory();
    let directory = home.path().join("store");
    sample(&directory);
    let whole = files(&directory);
    for name in [DATABASE, SEAL] {
        let mut rest = whole.clone();
        rest.remove(name);
        for how in [Open::Existing, Open::Either] {
            write_files(&directory, &rest);
            let message = refused(&directory, how);
            assert!(
                message.contains(&format!("{name}: missing, although the rest of the store exists")),
                "{message}"
            );
            assert!(files(&directory) == rest);
        }
    }
}

#[test]
fn refuses_files_of_another_store() {
    let home = temporary_directory();
    let (one, two) = (home.path().join("one"), home.path().join("two"));
    sample(&one);
    sample(&two);
    for name in [DATABASE, SEAL] {
        let mut mixed = files(&one);
        mixed.insert(name.to_string(), files(&two)[name].clone());
        let scratch = home.path().join("scratch");
        write_files(&scratch, &mixed);
        let message = refused(&scratch, Open::Existing);
        assert!(
            message.contains("events.db: belongs to another store than the seal next to it"),
            "{message}"
        );
        assert!(files(&scratch) == mixed);
    }
}

#[test]
fn refuses_a_newer_format() {
    let home = temporary_directory();
    let directory = home.path().join("store");
    sample(&directory);
    let mut future = files(&directory);
    future.get_mut(DATABASE).unwrap()[63] = 2;
    write_files(&directory, &future);
    let message = refused(&directory, Open::Either);
    assert!(
        message
            .ends_with("format 2, but this program knows format 1; nothing was changed: use a newer program"),
        "{message}"
    );
    assert!(files(&directory) == future);
}

#[test]
fn foreign_files_are_not_touched() {
    let home = temporary_directory();
    let directory = home.path().join("store");
    let contents = sample(&directory);
    let foreign = ["seal.bak", "events.db~", ".events.db.swp", "core", "events.db-shm"];
    for name in foreign {
        fs::write(directory.join(name), name).unwrap();
    }
    assert_eq!(StoreContents::of(&open(&directory).unwrap()).unwrap(), contents);
    let left: Files = files(&directory);
    for name in &foreign[..4] {
        assert_eq!(left[*name], name.as_bytes());
    }
    fs::write(directory.join("events.db-journal"), "not ours").unwrap();
    let message = refused(&directory, Open::Existing);
    assert!(message.contains("events.db-journal: a rollback journal"), "{message}");
    assert_eq!(files(&directory)["events.db-journal"], b"not ours");
}

/// Manual edits that leave a valid SQLite database.
#[test]
fn manual_edits_are_detected() {
    let edits = [
        (
            "UPDATE events SET body = '{\"row\":1,\"class\":\"kleiner\"}' WHERE seq = 2",
            "event 2: its body is not what was written",
        ),
        (
            "UPDATE events SET body = NULL WHERE seq = 2",
            "event 2: its body is missing, or is there although it was forgotten",
        ),
        ("UPDATE events SET kind = 'batch' WHERE seq = 2", "event 2: its hash does not follow"),
        (
            "UPDATE events SET body = zeroblob(900) WHERE seq = 1",
            "event 1: its body is missing, or is there although it was forgotten",
        ),
        ("DELETE FROM events WHERE seq = 3", "event 3: missing, though later events are there"),
        ("DELETE FROM events WHERE seq = 7", "event 6: the digest of the store does not match its contents"),
        ("UPDATE events SET seq = -1 WHERE seq = 0", "event 0: missing, though later events are there"),
        (
            "UPDATE pieces SET body = zeroblob(600) WHERE snapshot = 4",
            "event 4: the snapshot before this event is not what was written",
        ),
        ("UPDATE pieces SET body = x'00'", "event 4: the snapshot before this event is not what was written"),
        ("DELETE FROM snapshots WHERE seq = 4", "has pieces that belong to no snapshot"),
        ("DELETE FROM snapshots; DELETE FROM pieces", "the digest of the store"),
        ("DELETE FROM forgotten", "event 1: its body is missing, or is there although it was forgotten"),
        ("UPDATE store SET generation = generation - 1", "the digest of the store"),
        ("DELETE FROM store", "the row that describes the store"),
        ("INSERT INTO store VALUES (2, x'00', 1, x'00')", "the row that describes the store"),
        ("CREATE TABLE more (x)", "the tables are not those of a store"),
        (
            "CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM events; END",
            "the tables are not those of a store",
        ),
        ("CREATE VIEW labels AS SELECT 1", "the tables are not those of a store"),
        ("PRAGMA journal_mode = DELETE", "does not begin like the database of a store"),
    ];
    let home = temporary_directory();
    let directory = home.path().join("store");
    sample(&directory);
    let whole = files(&directory);
    for (edit, expected) in edits {
        write_files(&directory, &whole);
        Connection::open(directory.join(DATABASE)).unwrap().execute_batch(edit).unwrap();
        let message = refused(&directory, Open::Existing);
        assert!(message.contains(expected) && message.contains(DATABASE), "{edit}: {message}");
    }
}

#[test]
fn another_program_may_read_at_the_same_time() {
    let home = temporary_directory();
    let directory = home.path().join("store");
    let contents = sample(&directory);
    let reader = Connection::open(directory.join(DATABASE)).unwrap();
    let count =
        || reader.query_row("SELECT count(*) FROM events", [], |row| row.get::<_, i64>(0)).unwrap() as u64;
    assert_eq!(count(), contents.next);
    let mut store = open(&directory).unwrap();
    crate::common::append(&mut store, "label", b"{}");
    assert_eq!(count(), contents.next + 1);
    drop(store);
    assert_eq!(open(&directory).unwrap().next_seq(), contents.next + 1);
}

#[test]
fn writes_of_another_program_are_detected() {
    let home = temporary_directory();
    let directory = home.path().join("store");
    sample(&directory);
    let mut store = open(&directory).unwrap();
    Connection::open(directory.join(DATABASE))
        .unwrap()
        .execute_batch("UPDATE store SET generation = 99")
        .unwrap();
    let message = store.append(&[]).and_then(|_| store.keep_snapshot(8, b"")).unwrap_err().to_string();
    assert!(message.contains("another program wrote into the database"), "{message}");
    assert!(matches!(store.keep_snapshot(8, b""), Err(Error::Failed { .. })));
}

#[test]
fn a_second_process_is_refused_at_once() {
    let home = temporary_directory();
    let directory = home.path().join("store");
    sample(&directory);
    let store = open(&directory).unwrap();
    let start = Instant::now();
    assert!(matches!(open(&directory), Err(Error::InUse { .. })));
    let other = child("opening::opens_the_given_store", &directory).stdout(Stdio::piped()).output().unwrap();
    assert!(start.elapsed() < Duration::from_secs(1));
    let message = String::from_utf8_lossy(&other.stdout).into_owned();
    assert!(
        message.contains("store: in use by another process; stop it first, or name another directory"),
        "{message}"
    );
    drop(store);
    open(&directory).unwrap();
}

#[test]
#[ignore = "started by other tests"]
fn opens_the_given_store() {
    let Some(directory) = child_directory() else { return };
    match open(&directory) {
        Ok(store) => println!("opened {}", store.next_seq()),
        Err(error) => println!("refused {error}"),
    }
}

/// Root may write everywhere, so the test runs as another user.
#[cfg(unix)]
#[test]
fn refuses_a_directory_without_write_permission() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;
    let home = temporary_directory();
    let directory = home.path().join("store");
    sample(&directory);
    let readable =
        |path: &Path, mode: u32| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    readable(home.path(), 0o755);
    for name in [DATABASE, SEAL] {
        readable(&directory.join(name), 0o444);
    }
    readable(&directory, 0o555);
    let before = files(&directory);
    let binary = home.path().join("suite");
    fs::copy(std::env::current_exe().unwrap(), &binary).unwrap();
    let mut other = std::process::Command::new(&binary);
    crate::common::arguments(&mut other, "opening::opens_the_given_store", &directory);
    if fs::metadata(&directory).unwrap().uid() == 0 {
        other.uid(65_534).gid(65_534);
    }
    let message = String::from_utf8_lossy(&other.current_dir("/").output().unwrap().stdout).into_owned();
    readable(&directory, 0o755);
    assert!(
        message.contains("refused cannot open for writing") && message.contains("seal: Permission denied"),
        "{message}"
    );
    assert!(files(&directory) == before);
}
