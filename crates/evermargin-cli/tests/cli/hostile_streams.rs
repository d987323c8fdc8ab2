//! `run` on streams with unusable rows, on failing disks, and with signals: no data is lost, and a run ends only when it
//! cannot continue.

use crate::shell::{Shell, installed};
use serde_json::Value;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Rows of two classes, every `bad`-th of them unusable, and the number of unusable rows.
fn hostile_csv(rows: u32, bad: u32) -> (String, u64) {
    let (mut text, mut count) = (String::from("a,b,class\n"), 0);
    for i in 0..rows {
        let (a, b) = (f64::from(i * 7 % 11), f64::from(i * 5 % 13));
        let class = if a > b { "x" } else { "y" };
        if i % bad == bad - 1 {
            count += 1;
            let line = match i / bad % 5 {
                0 => format!("{a},nan,{class}"),
                1 => format!("{a},{b}"),
                2 => format!(",{b},{class}"),
                3 => format!("{a},1e999,{class}"),
                _ => format!("{a},{b},{class},7"),
            };
            let _ = writeln!(text, "{line}");
        } else {
            let _ = writeln!(text, "{a},{b},{class}");
        }
    }
    (text, count)
}

fn start(shell: &Shell, line: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_evermargin"))
        .args(line.split_whitespace())
        .current_dir(shell.directory())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Replaces the label in the last column of a table by `?`, so that rows can be queried.
fn without_labels(table: &str) -> String {
    let mut lines = table.lines();
    let header = lines.next().unwrap().to_string() + "\n";
    let unlabeled = |line: &str| line.rsplit_once(',').map_or(String::new(), |(row, _)| format!("{row},?\n"));
    header + &lines.map(unlabeled).collect::<String>()
}

fn wait_for(mut done: impl FnMut() -> bool) {
    let began = Instant::now();
    while !done() {
        assert!(began.elapsed() < Duration::from_secs(60), "timeout");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

#[test]
fn bad_rows_are_rejected_and_the_others_are_learned() {
    let shell = Shell::new();
    let (text, bad) = hostile_csv(600, 9);
    shell.write("d.csv", &text);
    let run = "run d.csv --batch 50 --json --rejects r.tsv";
    let whole = shell.ok(&format!("{run} --state whole")).json();
    assert_eq!((&whole["rows"], &whole["rejected_rows"]), (&(600 - bad).into(), &bad.into()));
    assert!(whole["kappa"].is_number(), "{whole}");
    let rejects = shell.text("r.tsv");
    let lines: Vec<Vec<&str>> = rejects.lines().map(|l| l.split('\t').collect()).collect();
    assert_eq!(lines[0], ["row", "file", "line", "column", "value", "reason"]);
    assert_eq!(lines.len() as u64, bad + 1);
    assert_eq!(lines[1][..5], ["9", "d.csv", "10", "b", "nan"], "{rejects}");
    assert!(lines[1..].iter().all(|cells| cells.len() == 6 && !cells[5].is_empty()), "{rejects}");
    for batches in [1, 3, 1] {
        shell.ok(&format!(
            "run d.csv --batch 50 --json --rejects parts.tsv --state parts --batches {batches}"
        ));
    }
    let parts = shell.ok("run d.csv --batch 50 --json --rejects parts.tsv --state parts").json();
    assert_eq!((&parts["state_hash"], &parts["rejected_rows"]), (&whole["state_hash"], &bad.into()));
    assert_eq!(shell.text("parts.tsv"), rejects, "resumed runs neither lose nor repeat rejected rows");
    let result = shell.ok("run d.csv --batch 50");
    assert!(result.out.contains(&format!("{bad} rows rejected, the last one at d.csv:")), "{}", result.out);
}

/// A class name that is too long rejects the label, not the row; a resumed run lists it with its line.
#[test]
fn rejected_labels_are_listed_once() {
    let shell = Shell::new();
    let (text, _) = hostile_csv(200, 1000);
    let long = "n".repeat(300);
    let lines = text.lines().enumerate().map(|(i, line)| match i {
        20 | 150 => line.rsplit_once(',').map_or(String::new(), |(row, _)| format!("{row},{long}\n")),
        _ => line.to_string() + "\n",
    });
    shell.write("d.csv", &lines.collect::<String>());
    let run = "run d.csv --batch 50 --oracle none --json --rejects r.tsv --state s";
    shell.ok(&format!("{run} --batches 2"));
    let json = shell.ok(run).json();
    assert_eq!((&json["rows"], &json["rejected_rows"]), (&200.into(), &0.into()), "{json}");
    assert_eq!(json["rejected_labels"], 2, "{json}");
    let rejects = shell.text("r.tsv");
    let listed: Vec<&str> = rejects.lines().skip(1).filter_map(|l| l.split('\t').nth(2)).collect();
    assert_eq!(listed, ["21", "151"], "{rejects}");
}

/// All text formats with different kinds of bad lines.
#[test]
fn each_text_format_rejects_bad_rows() {
    let shell = Shell::new();
    let good = |make: fn(u32) -> String| (0..60).map(|i| make(i) + "\n").collect::<String>();
    let svm = good(|i| format!("{} 1:{} 2:{}", i % 2, i % 7, i % 2 * 3));
    shell.write("d.svm", &(svm.clone() + "1 1:nan\n0 2:1 2:2\n1 x\n" + &svm));
    let jsonl = good(|i| format!("{{\"a\": {}, \"b\": {}, \"label\": \"c{}\"}}", i % 7, i % 2 * 3, i % 2));
    shell.write("d.jsonl", &(jsonl.clone() + "{\"a\": 1, \"b\":\nnot json\n{\"a\": NaN}\n" + &jsonl));
    let csv = good(|i| format!("{},{},c{}", i % 7, i % 2 * 3, i % 2));
    let bad = "1,\"2,c0\n2,inf,c1\n1\n";
    shell.write("d.csv", &(String::from("a,b,label\n") + &csv + bad + &csv));
    for file in ["d.svm", "d.jsonl", "d.csv"] {
        for batch in [7, 50, 500] {
            let json = shell.ok(&format!("run {file} --batch {batch} --json")).json();
            assert_eq!(json["rejected_rows"], 3, "{file} in batches of {batch}: {json}");
            assert_eq!(json["rows"], 120, "{file} in batches of {batch}: {json}");
        }
    }
    let mut bytes = csv.clone().into_bytes();
    bytes.extend(b"1,\xff,c0\n1,\0,c1\n");
    bytes.extend(csv.bytes());
    std::fs::write(shell.path("e.csv"), [b"a,b,label\n", &bytes[..]].concat()).unwrap();
    let json = shell.ok("run e.csv --batch 50 --json").json();
    assert_eq!((&json["rows"], &json["rejected_rows"]), (&120.into(), &2.into()), "{json}");
}

#[test]
fn a_stream_without_a_usable_row_is_refused_with_its_first_line() {
    let shell = Shell::new();
    shell.write("nan.csv", "a,b,class\n1,nan,x\n1,nan,y\n");
    let result = shell.fails("run nan.csv --batch 10", 1);
    assert!(
        result.err.contains("no usable row among the first 2 rows; nan.csv:2: column 'b'"),
        "{}",
        result.err
    );
    shell.write("nan.svm", "1 1:nan\n");
    assert!(shell.fails("run nan.svm", 1).err.contains("nan.svm:1:"));
}

/// Regression: an extreme value, a column of two magnitudes and identical first rows each made a state permanently
/// unusable.
#[test]
fn extreme_values_never_make_a_state_unusable() {
    let shell = Shell::new();
    let rows = |value: &dyn Fn(u32) -> (String, String)| {
        let line = |i: u32| {
            let (a, b) = value(i);
            format!("{a},{b},{}\n", if i.is_multiple_of(3) { "x" } else { "y" })
        };
        String::from("a,b,class\n") + &(0..600).map(line).collect::<String>()
    };
    let number = |i: u32, k: u32| (f64::from(i * k % 17) / 4.0).to_string();
    let huge = rows(&|i| (if i == 350 { "3e15".into() } else { number(i, 7) }, number(i, 5)));
    let integer = rows(&|i| (if i == 350 { i64::MAX.to_string() } else { number(i, 7) }, number(i, 5)));
    let scales = rows(&|i| {
        let scale = if i < 100 { 1e-9 } else { 1e7 };
        ((f64::from(i * 7 % 17) * scale).to_string(), number(i, 5))
    });
    let identical = rows(&|i| if i < 100 { ("1".into(), "1".into()) } else { (number(i, 7), number(i, 5)) });
    for (name, text, rejected) in [
        ("huge", huge, None),
        ("integer", integer, None),
        ("scales", scales, Some(0)),
        ("identical", identical, Some(0)),
    ] {
        shell.write("d.csv", &text);
        let run = format!("run d.csv --state {name} --oracle none --batch 100 --json");
        shell.ok(&format!("{run} --batches 5"));
        let json = shell.ok(&run).json();
        let found = json["rejected_rows"].as_u64().unwrap();
        assert!(rejected.map_or(found <= 1, |expected| found == expected), "{name}: {json}");
        assert_eq!(json["rows"].as_u64().unwrap() + found, 600, "{name}: {json}");
        let again = shell.ok(&run).json();
        assert_eq!(again["state_hash"], json["state_hash"], "{name}");
        let whole = shell.ok("run d.csv --oracle none --batch 100 --json").json();
        assert_eq!(whole["state_hash"], json["state_hash"], "{name}");
    }
}

/// Rows rejected by the reader and by the engine are listed in the output with their numbers.
#[test]
fn every_row_of_a_file_is_in_the_output() {
    let shell = Shell::new();
    let (text, _) = hostile_csv(150, 1000);
    let lines = text.lines().enumerate().map(|(i, line)| match i {
        71 => "no,row,at,all\n".to_string(),
        75 => "nan,3,x\n".to_string(),
        80 => "3e15,3,x\n".to_string(),
        _ => line.to_string() + "\n",
    });
    shell.write("d.csv", &lines.collect::<String>());
    let run = "run d.csv --batch 50 --json";
    let json = shell.ok(&format!("{run} --state whole -o p.tsv --rejects r.tsv")).json();
    assert_eq!((&json["rows"], &json["rejected_rows"]), (&147.into(), &3.into()), "{json}");
    let first = |text: &str| -> Vec<String> {
        text.lines().skip(1).map(|l| l.split('\t').next().unwrap().to_string()).collect()
    };
    let whole = shell.text("p.tsv");
    assert_eq!(first(&whole), (1..=150).map(|n| n.to_string()).collect::<Vec<_>>());
    assert_eq!(first(&shell.text("r.tsv")), ["71", "75", "80"]);
    for row in [71, 75, 80] {
        assert_eq!(whole.lines().nth(row), Some(format!("{row}\t\t?\t\t").as_str()));
    }
    let unlabeled = whole.lines().skip(51).filter(|line| line.contains('?')).count();
    assert_eq!(unlabeled, 3, "{whole}");
    // Output files that are first given when a run is resumed begin after the last finished batch and are continued later.
    shell.ok(&format!("{run} --state parts --batches 2"));
    shell.ok(&format!("{run} --state parts --batches 0 -o late.tsv --rejects late-rejects.tsv"));
    let parts = shell.ok(&format!("{run} --state parts -o late.tsv --rejects late-rejects.tsv")).json();
    assert_eq!(parts["state_hash"], json["state_hash"]);
    let late = shell.text("late.tsv");
    assert!(late.lines().skip(1).eq(whole.lines().skip(51)), "{late}");
    assert_eq!(first(&shell.text("late-rejects.tsv")), ["71", "75", "80"]);
    shell.write("notes.txt", "do not touch\n");
    let result = shell.fails(&format!("{run} --state parts -o notes.txt"), 1);
    assert!(result.err.contains("notes.txt: does not belong to this run"), "{}", result.err);
    assert_eq!(shell.text("notes.txt"), "do not touch\n");
}

/// An unreadable file does not end a run that follows a folder.
#[cfg(unix)]
#[test]
fn an_unreadable_file_does_not_end_a_followed_folder() {
    let shell = Shell::new();
    let (text, _) = hostile_csv(100, 1000);
    std::fs::create_dir(shell.path("in")).unwrap();
    std::fs::write(shell.path("in/0.csv.gz"), b"\x1f\x8b\x08 no gzip").unwrap();
    let child = start(&shell, "run in --follow --batch 50 --state s --json -o p.tsv --rejects r.tsv");
    std::thread::sleep(Duration::from_millis(1500)); // until now there is only the unreadable file
    shell.write("in/1.csv", &text);
    let lines =
        |count: usize| std::fs::read_to_string(shell.path("p.tsv")).is_ok_and(|t| t.lines().count() == count);
    wait_for(|| lines(102));
    std::fs::write(shell.path("in/2.csv.zst"), b"\x28\xb5\x2f\xfd no zstd").unwrap();
    shell.write("in/3.csv", &text);
    wait_for(|| lines(203));
    signal(&child, "-TERM");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&json["rows"], &json["rejected_rows"]), (&200.into(), &2.into()), "{json}");
    let rejects = shell.text("r.tsv");
    assert!(
        rejects.contains("1\tin/0.csv.gz\t0\t") && rejects.contains("102\tin/2.csv.zst\t0\t"),
        "{rejects}"
    );
}

/// A signal ends a long batch at once; its results are discarded, and the next run reads it again.
#[cfg(unix)]
#[test]
fn a_signal_ends_a_long_batch() {
    let shell = Shell::new();
    shell.ok("generate waveform --rows 12000 --noise 2 -o d.csv");
    let run = "run d.csv --batch 6000 --oracle none --label-source transduction --model m.evm --json";
    let began = Instant::now();
    let whole = shell.ok(&format!("{run} --state whole -o whole.tsv")).json();
    let length = began.elapsed();
    for share in [0.15, 0.5, 0.8] {
        let child = start(&shell, &format!("{run} --state s -o p.tsv"));
        std::thread::sleep(length.mul_f64(share));
        signal(&child, "-TERM");
        let began = Instant::now();
        let output = child.wait_with_output().unwrap();
        assert!(began.elapsed() < Duration::from_secs(5), "{share}: {:?} of {length:?}", began.elapsed());
        assert_eq!(output.status.code(), Some(0), "{share}");
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(json["rows"].as_u64().unwrap().is_multiple_of(6000), "{json}");
    }
    let after = shell.ok(&format!("{run} --state s -o p.tsv")).json();
    assert_eq!(after["state_hash"], whole["state_hash"]);
    assert_eq!(shell.text("p.tsv"), shell.text("whole.tsv"));
}

/// A failing seal is not treated as an invalid answer: the run ends with exit code 1 and asks no further queries.
#[cfg(target_os = "linux")]
#[test]
fn a_failing_disk_ends_a_run_with_terminal_answers() {
    if !installed("strace")
        || !Command::new("strace")
            .args(["-qq", "-o", "/dev/null", "true"])
            .status()
            .is_ok_and(|s| s.success())
    {
        return println!("strace is missing or may not trace: not tested");
    }
    let shell = Shell::new();
    shell.ok("generate two-moons --rows 100 -o d.csv");
    shell.write("d.csv", &without_labels(&shell.text("d.csv")));
    let mut failures = 0;
    for when in 3..9 {
        let state = format!("s{when}");
        let mut child = Command::new("strace")
            .args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync"])
            .args(["-e", &format!("inject=fdatasync:error=EIO:when={when}+")])
            .arg(env!("CARGO_BIN_EXE_evermargin"))
            .args("run d.csv --batch 50 --queries-per-batch 20 --oracle terminal --state".split(' '))
            .arg(&state)
            .current_dir(shell.directory())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let began = Instant::now();
        let mut stdin = child.stdin.take().unwrap();
        let _ = stdin.write_all(b"red\nblue\n".repeat(40).as_slice()); // the program may end before it has read all
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        let result = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "sync {when}: {result}");
        assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
        assert!(result.contains("error: cannot write") && result.contains("seal"), "{result}");
        failures += usize::from(result.contains("query "));
        // The disk works again.
        let result = shell.ok_with(
            &format!("run d.csv --batch 50 --queries-per-batch 20 --oracle terminal --state {state} --json"),
            b"red\nblue\n".repeat(40).as_slice(),
        );
        assert_eq!(result.json()["rows"], 100);
    }
    assert!(failures > 0, "no sync failed while a person answered");
}

/// SIGTERM, SIGHUP and SIGINT end a run cleanly, also while it waits for rows or for an annotator.
#[cfg(unix)]
#[test]
fn signals_end_a_run_cleanly() {
    let shell = Shell::new();
    shell.ok("generate two-moons --rows 200 -o d.csv");
    let text = shell.text("d.csv");
    for (k, name) in ["-TERM", "-HUP", "-INT"].into_iter().enumerate() {
        let model = format!("m{k}.evm");
        let mut child = start(
            &shell,
            &format!("run - --format csv --batch 50 --state s{k} --model {model} -o p{k} --json"),
        );
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(text.as_bytes()).unwrap();
        stdin.write_all(b"0.1,0.").unwrap(); // an incomplete row
        stdin.flush().unwrap();
        wait_for(|| {
            std::fs::read_to_string(shell.path(&format!("p{k}"))).is_ok_and(|t| t.lines().count() == 201)
        });
        signal(&child, name);
        let began = Instant::now();
        let output = child.wait_with_output().unwrap();
        assert!(began.elapsed() < Duration::from_secs(5), "{name}: {:?}", began.elapsed());
        assert_eq!(output.status.code(), Some(0), "{name}");
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((&json["rows"], &json["rejected_rows"]), (&200.into(), &0.into()), "{name}: {json}");
        shell.ok(&format!("inspect {model}"));
        drop(stdin);
    }
    shell.write("u.csv", &without_labels(&text));
    let mut child = start(&shell, "run u.csv --oracle terminal --batch 50 --state p --json");
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"red\nblue\n").unwrap();
    wait_for(|| std::fs::metadata(shell.path("p/events.db-wal")).is_ok_and(|m| m.len() > 0));
    std::thread::sleep(Duration::from_millis(300)); // the run now waits for the third answer
    signal(&child, "-TERM");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["rows"], 50, "{json}");
    drop(stdin);
}

/// A program started with nohup survives its terminal.
#[cfg(target_os = "linux")]
#[test]
fn an_ignored_hangup_stays_ignored() {
    let shell = Shell::new();
    shell.ok("generate two-moons --rows 100 -o d.csv");
    let text = shell.text("d.csv");
    let mut child = Command::new("sh")
        .args(["-c", "trap '' HUP; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_evermargin")])
        .args("run - --format csv --batch 50 --json".split(' '))
        .current_dir(shell.directory())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let (first, rest) = text.as_bytes().split_at(text.len() / 2);
    stdin.write_all(first).unwrap();
    std::thread::sleep(Duration::from_millis(500));
    signal(&child, "-HUP");
    std::thread::sleep(Duration::from_millis(300));
    stdin.write_all(rest).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["rows"], 100, "{json}");
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_access_a_state() {
    use std::os::unix::fs::PermissionsExt;
    let shell = Shell::new();
    shell.ok("generate two-moons --rows 100 -o d.csv");
    let open = format!("umask 000; exec {} run d.csv --batch 50 --state s", env!("CARGO_BIN_EXE_evermargin"));
    let done = Command::new("sh").args(["-c", &open]).current_dir(shell.directory()).output().unwrap();
    assert!(done.status.success());
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&shell.path("s")), 0o700);
    for entry in std::fs::read_dir(shell.path("s")).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

/// Kills at random times on a stream with bad rows do not change the final state, predictions and rejected rows.
/// EVERMARGIN_KILLS sets the number of kills.
#[test]
#[ignore = "long: ./test --long runs it"]
fn long_kills_on_a_hostile_stream_change_nothing() {
    let kills: u32 = std::env::var("EVERMARGIN_KILLS").ok().and_then(|k| k.parse().ok()).unwrap_or(300);
    let shell = Shell::new();
    let (text, bad) = hostile_csv(360, 9);
    shell.write("d.csv", &text);
    let run = "run d.csv --batch 30 --queries-per-batch 2 --json -o p.tsv --rejects r.tsv --state";
    let began = Instant::now();
    let whole = shell.ok(&format!("{run} whole")).json();
    let length = began.elapsed();
    assert_eq!(whole["rejected_rows"], bad);
    let (predictions, rejects) = (shell.text("p.tsv"), shell.text("r.tsv"));
    let (mut done, mut round, mut seed) = (0, 0, 1u64);
    while done < kills {
        round += 1;
        let state = format!("s{round}");
        for file in ["p.tsv", "r.tsv"] {
            let _ = std::fs::remove_file(shell.path(file));
        }
        while done < kills {
            let mut child = start(&shell, &format!("{run} {state}"));
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            std::thread::sleep(length.mul_f64((seed >> 40) as f64 / f64::from(1 << 24) / 2.0));
            if child.try_wait().unwrap().is_some() {
                break;
            }
            child.kill().unwrap();
            child.wait().unwrap();
            done += 1;
        }
        let after = shell.ok(&format!("{run} {state}")).json();
        for key in ["rows", "labels_spent", "rejected_rows", "rejected_events", "state_hash"] {
            assert_eq!(after[key], whole[key], "{key} after {done} kills");
        }
        assert_eq!(shell.text("p.tsv"), predictions, "after {done} kills");
        assert_eq!(shell.text("r.tsv"), rejects, "after {done} kills");
    }
}

/// A first batch of rejected rows is skipped, and its rows are listed.
#[test]
fn a_first_batch_without_a_usable_row_is_skipped() {
    let shell = Shell::new();
    let line = |i: u32| {
        let a = if i < 100 { "1e300".into() } else { (f64::from(i * 7 % 17) / 4.0).to_string() };
        format!("{a},{},{}\n", i % 5, if i.is_multiple_of(3) { "x" } else { "y" })
    };
    let text = String::from("a,b,class\n") + &(0..600).map(line).collect::<String>();
    shell.write("s.csv", &text);
    for options in ["", " --state s", " --state s"] {
        let json =
            shell.ok(&format!("run s.csv --oracle none --batch 50 --json --rejects r.tsv{options}")).json();
        assert_eq!((&json["rows"], &json["rejected_rows"]), (&500.into(), &100.into()), "{json}");
        assert_eq!(json["rows_without_label"], 50, "the first batch has no prediction: {json}");
        assert_eq!(shell.text("r.tsv").lines().count(), 101);
    }
    let bad: String = text.split_inclusive('\n').take(101).collect();
    shell.write("bad.csv", &bad);
    let result = shell.fails("run bad.csv --batch 50 --rejects bad.tsv", 1);
    assert!(
        result.err.contains("no usable row among the first 100 rows; bad.csv:2: column 'a'"),
        "{}",
        result.err
    );
    assert_eq!(shell.text("bad.tsv").lines().count(), 101);
}

/// An outlier in the first batch reduces accuracy no more than one in a later batch.
#[test]
fn an_outlier_in_the_first_batch_does_not_ruin_the_stream() {
    let shell = Shell::new();
    shell.ok("generate two-moons --rows 600 -o clean.csv");
    let clean = shell.text("clean.csv");
    let accuracy = |name: &str| {
        let json = shell.ok(&format!("run {name} --oracle none --batch 100 --json")).json();
        json["prequential_accuracy"].as_f64().unwrap()
    };
    let usual = accuracy("clean.csv");
    for value in ["1e6", "3e15", "1e99"] {
        for at in [1, 51, 350] {
            let changed = |(i, line): (usize, &str)| match line.split_once(',') {
                Some((_, rest)) if i == at => format!("{value},{rest}\n"),
                _ => format!("{line}\n"),
            };
            shell.write("o.csv", &clean.lines().enumerate().map(changed).collect::<String>());
            let found = accuracy("o.csv");
            assert!(found > usual - 0.03, "{value} in row {at}: {found} instead of {usual}");
        }
    }
}

/// Rows appended to a finished file or to a finished file of a folder are read by the next run.
#[test]
fn rows_appended_to_a_finished_file_are_read() {
    let shell = Shell::new();
    shell.ok("generate two-moons --rows 600 -o clean.csv");
    let clean = shell.text("clean.csv");
    let lines: Vec<&str> = clean.split_inclusive('\n').collect();
    std::fs::create_dir(shell.path("in")).unwrap();
    for (stream, file) in [("a.csv", "a.csv"), ("in", "in/b.csv")] {
        let run = format!("run {stream} --oracle none --batch 100 --state state-{stream}");
        shell.write(file, &lines[..400].concat());
        assert_eq!(shell.ok(&format!("{run} --json")).json()["rows"], 399);
        shell.write(file, &clean);
        let result = shell.ok(&run);
        assert!(result.err.contains("resuming after 399 rows"), "{}", result.err);
        assert!(result.out.contains("600 rows in"), "{}", result.out);
        let again = shell.ok(&run);
        assert!(again.err.contains("resuming after 600 rows"), "{}", again.err);
        assert!(again.out.contains("600 rows in"), "{}", again.out);
    }
}

#[test]
fn a_run_that_writes_no_model_reports_it() {
    let shell = Shell::new();
    shell.write("one.csv", "a,b,class\n1,2,x\n2,1,x\n3,1,x\n");
    let result = shell.ok("run one.csv --oracle none --model m.evm --json");
    assert!(result.err.contains("no model was written: "), "{}", result.err);
    assert!(result.json()["model"].is_null());
    shell.write("two.csv", "a,b,class\n1,2,x\n2,1,y\n3,1,x\n");
    let result = shell.ok("run two.csv --oracle none --model m.evm --json");
    assert!(!result.err.contains("no model"), "{}", result.err);
    assert_eq!(result.json()["model"], "m.evm");
}

/// Rejected rows are counted neither as rows of a resumed run nor as rows without a label.
#[test]
fn rejected_rows_are_counted_consistently() {
    let shell = Shell::new();
    let value = |i: u32| if i == 350 { "1e20".into() } else { (f64::from(i * 7 % 17) / 4.0).to_string() };
    let line = |i: u32| format!("{},{},{}\n", value(i), i % 5, if i.is_multiple_of(3) { "x" } else { "y" });
    shell.write("s.csv", &(String::from("a,b,class\n") + &(0..600).map(line).collect::<String>()));
    let json = shell.ok("run s.csv --oracle none --batch 100 --state s --json").json();
    assert_eq!((&json["rows"], &json["rows_without_label"]), (&599.into(), &100.into()), "{json}");
    let result = shell.ok("run s.csv --oracle none --batch 100 --state s");
    assert!(
        result.err.contains("resuming after 599 rows") && result.out.contains("599 rows in 6"),
        "{}",
        result.err
    );
}
