//! One sync fails, the k-th, for every k: nothing is acknowledged after it, and what was acknowledged before is kept. The
//! errors are injected with strace; if it is missing or may not trace, the test prints this.

use crate::common::{StoreContents, append, arguments, child_directory, open, temporary_directory};
use evermargin_store::{Error, Event, Open, Result, Store};
use std::process::Command;

fn write_some(store: &mut Store) -> Result<()> {
    let body = vec![0x80; 700_000];
    for round in 0..8 {
        let range = store.append(&[Event { kind: "batch", body: &body }])?;
        println!("\nacknowledged {}", range.end);
        if round % 2 == 0 {
            store.keep_snapshot(range.end, b"state")?;
        }
    }
    Ok(())
}

#[test]
#[ignore = "started by other tests"]
fn writes_some_events() {
    let Some(directory) = child_directory() else { return };
    let mut store = match Store::open(&directory, Open::Either) {
        Ok(store) => store,
        Err(error) => return println!("\nnot opened: {error}"),
    };
    let Err(error) = write_some(&mut store) else { return println!("\nwrote all") };
    println!("\nfailed: {error}");
    for _ in 0..3 {
        assert!(matches!(store.append(&[Event { kind: "tick", body: b"" }]), Err(Error::Failed { .. })));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn no_failed_sync_loses_acknowledged_events() {
    let works = Command::new("strace").args(["-qq", "-o", "/dev/null", "true"]).status();
    if !works.is_ok_and(|status| status.success()) {
        return println!("strace is missing or may not trace: not tested");
    }
    let home = temporary_directory();
    let mut failures = 0;
    for (call, times) in [("fsync", 24), ("fdatasync", 14)] {
        for time in 1..=times {
            let directory = home.path().join(format!("{call}-{time}"));
            let mut traced = Command::new("strace");
            traced.args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={call}")]);
            traced.args(["-e", &format!("inject={call}:error=EIO:when={time}")]);
            traced.arg(std::env::current_exe().unwrap());
            arguments(&mut traced, "sync_errors::writes_some_events", &directory);
            let output = traced.output().unwrap();
            let printed = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(output.status.success(), "{call} {time}: {printed}");
            failures += usize::from(printed.contains("\nfailed: "));
            let mut numbers = printed.lines().filter_map(|line| line.strip_prefix("acknowledged "));
            let acknowledged = numbers.next_back().map_or(0, |number| number.parse().unwrap());
            if !directory.exists() {
                assert!(printed.contains("\nnot opened: "), "{call} {time}: {printed}");
                continue;
            }
            let mut store = open(&directory).unwrap();
            assert!(
                (acknowledged..=acknowledged + 1).contains(&store.next_seq()),
                "{call} {time}: {printed}"
            );
            assert_eq!(StoreContents::of(&store).unwrap().records.len() as u64, store.next_seq());
            append(&mut store, "tick", b"");
        }
    }
    assert!(failures >= 20, "only {failures} of the syncs that failed were of a write");
}
