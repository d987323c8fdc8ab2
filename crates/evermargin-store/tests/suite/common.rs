//! Directories for stores, the readable contents of a store, and the bytes of a directory.

use evermargin_store::{Event, Open, Record, Result, Snapshot, Store};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

pub const DATABASE: &str = "events.db";
pub const LOG: &str = "events.db-wal";
pub const SEAL: &str = "seal";

/// A directory that is removed at the end; in memory if the system has such a place, because syncs are free there.
pub fn temporary_directory() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// All that can be read from a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreContents {
    pub next: u64,
    pub head: [u8; 32],
    pub covered: u64,
    pub records: Vec<Record>,
    pub newest: Option<Snapshot>,
}

impl StoreContents {
    pub fn of(store: &Store) -> Result<Self> {
        Ok(Self {
            next: store.next_seq(),
            head: store.head_hash(),
            covered: store.covered(),
            records: store.events(0).collect::<Result<_>>()?,
            newest: store.newest_snapshot()?,
        })
    }
}

pub fn open(directory: &Path) -> Result<Store> {
    Store::open(directory, Open::Existing)
}

pub fn append(store: &mut Store, kind: &str, body: &[u8]) -> u64 {
    store.append(&[Event { kind, body }]).unwrap().start
}

pub type Files = BTreeMap<String, Vec<u8>>;

/// Names and bytes of all files of a directory.
pub fn files(directory: &Path) -> Files {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_string(), fs::read(&path).unwrap()))
        .collect()
}

/// Makes a new directory with exactly these files.
pub fn write_files(directory: &Path, files: &Files) {
    if directory.exists() {
        fs::remove_dir_all(directory).unwrap();
    }
    fs::create_dir(directory).unwrap();
    for (name, bytes) in files {
        fs::write(directory.join(name), bytes).unwrap();
    }
}

/// Reproducible pseudorandom numbers from a seed.
pub struct Draw(pub u64);

impl Draw {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// A store with all kinds of contents: two snapshots, and forgotten, empty, readable and large bodies.
pub fn sample(directory: &Path) -> StoreContents {
    let mut store = Store::open(directory, Open::Create).unwrap();
    fill(&mut store);
    StoreContents::of(&store).unwrap()
}

pub fn fill(store: &mut Store) {
    append(store, "begin", br#"{"seed":1}"#);
    append(store, "batch", &[7; 900]);
    append(store, "label", "{\"row\":1,\"class\":\"größer\"}".as_bytes());
    append(store, "leer", b"");
    store.keep_snapshot(3, &[1, 2, 3]).unwrap();
    append(store, "batch", &[0xff; 5000]);
    store.keep_snapshot(4, &[9; 600]).unwrap();
    store.forget_bodies(&["batch"], 3).unwrap();
    let more = [Event { kind: "label", body: b"{}" }, Event { kind: "ärger ☂", body: b"\0\x01" }];
    store.append(&more).unwrap();
    store.keep_snapshot(7, b"state").unwrap();
    append(store, "tick", b"last");
}

/// Runs one ignored test of this binary in its own process, with a directory for a store.
pub fn child(test: &str, directory: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    arguments(&mut command, test, directory);
    command
}

pub fn arguments(command: &mut Command, test: &str, directory: &Path) {
    command.args(["--exact", test, "--ignored", "--nocapture", "--test-threads=1"]).env(CHILD, directory);
}

const CHILD: &str = "EVERMARGIN_STORE_CHILD";

/// The directory that a child process was given; `None` if the test was started by hand.
pub fn child_directory() -> Option<PathBuf> {
    std::env::var_os(CHILD).map(PathBuf::from)
}
