//! Only the owner has access to the directory and the files of a store, for any umask.

#![cfg(unix)]

use crate::common::{append, arguments, child_directory, open, temporary_directory};
use evermargin_store::{Open, Store};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
#[ignore = "started by other tests"]
fn creates_and_checks() {
    let Some(directory) = child_directory() else { return };
    let mut store = Store::open(&directory, Open::Create).unwrap();
    append(&mut store, "batch", &[1; 9000]);
    drop(store);
    let mut store = open(&directory).unwrap();
    append(&mut store, "batch", &[2; 9000]);
    assert_eq!(mode(&directory), 0o700);
    let names: Vec<_> = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(names.iter().any(|path| path.ends_with("events.db-wal")), "{names:?}");
    assert!(names.iter().any(|path| path.ends_with("events.db-shm")), "{names:?}");
    for path in names {
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
    println!("\nchecked");
}

#[test]
fn only_the_owner_can_read_a_store() {
    let home = temporary_directory();
    for umask in ["000", "022", "077"] {
        let mut child = Command::new("sh");
        child.args(["-c", &format!("umask {umask}; exec \"$0\" \"$@\"")]);
        child.arg(std::env::current_exe().unwrap());
        arguments(&mut child, "permissions::creates_and_checks", &home.path().join(umask));
        let output = child.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("\nchecked"), "umask {umask}: {text}");
    }
}

#[test]
fn opening_removes_access_of_others() {
    let home = temporary_directory();
    let directory = home.path().join("store");
    append(&mut Store::open(&directory, Open::Create).unwrap(), "batch", &[1; 9]);
    let paths: Vec<_> = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    for path in paths.iter().chain([&directory]) {
        fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
    }
    let _store = open(&directory).unwrap();
    assert_eq!(mode(&directory), 0o700);
    for path in paths.iter().filter(|path| path.exists()) {
        assert_eq!(mode(path), 0o600, "{}", path.display());
    }
}
