//! Full disk: the write and every later one are refused, and acknowledged events are kept.

use crate::common::{StoreContents, append, arguments, child_directory, open, temporary_directory};
use evermargin_store::{Error, Event, Open, Store};
use std::process::Command;

#[test]
#[ignore = "started by other tests"]
fn writes_until_it_fails() {
    let Some(directory) = child_directory() else { return };
    let mut store = Store::open(&directory, Open::Create).unwrap();
    let event = Event { kind: "batch", body: &[0x80; 16_000] };
    let error = loop {
        match store.append(&[event]) {
            Ok(range) => println!("\nacknowledged {}", range.end),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, Error::Database { .. }), "{error}");
    for _ in 0..2 {
        let again = store.append(&[Event { kind: "tick", body: b"" }]).unwrap_err();
        assert!(matches!(again, Error::Failed { .. }), "{again}");
    }
    assert!(matches!(store.keep_snapshot(1, b""), Err(Error::Failed { .. })));
    assert!(matches!(store.forget_bodies(&["batch"], 0), Err(Error::Failed { .. })));
    assert_eq!(
        StoreContents::of(&store).unwrap().records.len() as u64,
        store.next_seq(),
        "reading still works"
    );
    println!("\nfailed: {error}");
}

/// The shell limits the size of files and ignores the signal that would end the process.
#[cfg(unix)]
#[test]
fn a_file_size_limit_loses_no_acknowledged_event() {
    let home = temporary_directory();
    for blocks in [200, 611, 1503] {
        let directory = home.path().join(format!("store-{blocks}"));
        let mut limited = Command::new("sh");
        limited.args(["-c", &format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"")]);
        limited.arg(std::env::current_exe().unwrap());
        arguments(&mut limited, "full_disk::writes_until_it_fails", &directory);
        let output = limited.output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && printed.contains("\nfailed: cannot write to"), "{printed}");
        let mut numbers = printed.lines().filter_map(|line| line.strip_prefix("acknowledged "));
        let acknowledged = numbers.next_back().unwrap().parse::<u64>().unwrap();
        let mut store = open(&directory).unwrap();
        assert!((acknowledged..=acknowledged + 1).contains(&store.next_seq()));
        assert!(store.events(0).all(|record| record.unwrap().body == Some(vec![0x80; 16_000])));
        append(&mut store, "tick", b"there is space again");
    }
}
