//! `run`: the loop over a stream, stopped and resumed, killed, and with terminal answers.

use crate::shell::Shell;
use serde_json::Value;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Instant;

const KEYS: [&str; 12] = [
    "rows",
    "batches",
    "labels_spent",
    "prequential_accuracy",
    "prequential_accuracy_last_half",
    "kappa",
    "rejected_rows",
    "exemplars",
    "support_count",
    "peak_memory_mb",
    "seconds",
    "total_seconds",
];

#[test]
fn inspect_shows_the_state_folder_of_a_run() {
    let shell = Shell::new();
    shell.ok("generate two-moons --rows 400 --noise 0.1 -o d.csv");
    let run = shell.ok("run d.csv --batch 100 --queries-per-batch 5 --state s --json").json();
    let json = shell.ok("inspect s --json").json();
    for (key, value) in [("rows", 400), ("batches", 4)] {
        assert_eq!(json[key], value, "{key}: {json}");
    }
    for key in ["labels_spent", "version", "support_count"] {
        assert_eq!(json[key], run[key], "{key}: {json}");
    }
    assert_eq!(json["class_names"], run["classes"]);
    let page = shell.ok("inspect s").out;
    assert!(page.starts_with("s: state of a run") && page.contains("rows            400"), "{page}");
    std::fs::create_dir(shell.path("other")).unwrap();
    let result = shell.fails("inspect other", 1);
    assert!(result.err.contains("is a folder, but not the state of a run"), "{}", result.err);
    assert_eq!(std::fs::read_dir(shell.path("other")).unwrap().count(), 0, "nothing is created there");
}

#[test]
fn a_stream_is_labeled_with_few_answers() {
    let shell = Shell::new();
    shell.ok("generate two-moons --rows 2000 --noise 0.1 -o d.csv");
    let json = shell.ok("run d.csv --batch 100 --queries-per-batch 5 --report r.html --json").json();
    for key in KEYS {
        assert!(json[key].is_number(), "{key}: {json}");
    }
    assert_eq!((&json["rows"], &json["batches"]), (&2000.into(), &20.into()));
    assert!(json["labels_spent"].as_u64().unwrap() <= 100);
    assert!(json["prequential_accuracy_last_half"].as_f64().unwrap() > 0.97, "{json}");
    assert!(json["random_prequential_accuracy"].as_f64().unwrap() > 0.8, "{json}");
    let history = json["label_source_history"].as_array().unwrap();
    assert!(!history.is_empty() && history.len() <= 64);
    assert_eq!(history.last().unwrap()["batch"], 20);
    for source in json["label_sources"].as_array().unwrap() {
        let last = &history.last().unwrap()[source["source"].as_str().unwrap()];
        assert_eq!(*last, source["weight"], "the series ends with the current weights");
    }
    let choice = json["label_choice"].as_str().unwrap();
    assert!(choice.contains(" this stream: ") && choice.contains("held-out labels right"), "{choice}");
    let page = shell.text("r.html");
    assert!(page.contains("weights of the label sources") && page.contains(choice), "{choice}");
    assert!(
        page.contains("<svg") && page.contains("random queries") && !page.contains("src="),
        "the page loads no other files"
    );
    let result =
        shell.ok("run d.csv --batch 100 --queries-per-batch 5 --budget 17 --model m.evm -o labels.tsv");
    assert!(result.out.contains("17 queries"), "{}", result.out);
    assert_eq!(shell.text("labels.tsv").lines().count(), 2001);
    let right = shell.ok("predict m.evm d.csv --json").json()["accuracy"].as_f64().unwrap();
    assert!(right > 0.9, "{right}");
}

/// A file, a folder of its parts and standard input with the same rows give the same result.
#[test]
fn files_folders_and_pipes_give_the_same_result() {
    let shell = Shell::new();
    shell.ok("generate two-moons --rows 600 -o d.svm");
    let text = shell.text("d.svm");
    let lines: Vec<&str> = text.lines().collect();
    std::fs::create_dir(shell.path("in")).unwrap();
    for (k, part) in lines.chunks(130).enumerate() {
        std::fs::write(shell.path(&format!("in/{k}.svm")), part.join("\n") + "\n").unwrap();
    }
    let keys = ["rows", "batches", "labels_spent", "prequential_accuracy", "support_count"];
    let of = |json: Value| keys.map(|k| json[k].clone());
    let file = of(shell.ok("run d.svm --batch 50 --json").json());
    assert_eq!(of(shell.ok("run in --batch 50 --json").json()), file);
    assert_eq!(of(shell.ok_with("run - --batch 50 --json", text.as_bytes()).json()), file);
    let stopped = shell.ok("run d.svm --batch 50 --batches 3 --json").json();
    assert_eq!(stopped["rows"], 150);
}

#[test]
fn a_run_resumes_bit_identically_and_only_with_the_same_options() {
    let shell = Shell::new();
    shell.ok("generate drift --rows 1200 -o d.csv");
    let run = "run d.csv --batch 60 --queries-per-batch 3 --json";
    let whole = shell.ok(&format!("{run} --state whole -o whole.tsv")).json();
    for batches in [1, 4, 7] {
        shell.ok(&format!("{run} --state parts -o parts.tsv --batches {batches}"));
    }
    let parts = shell.ok(&format!("{run} --state parts -o parts.tsv")).json();
    for key in ["rows", "labels_spent", "prequential_accuracy", "state_hash"] {
        assert_eq!(whole[key], parts[key], "{key}");
    }
    assert_eq!(shell.text("whole.tsv"), shell.text("parts.tsv"));
    let again = shell.ok(&format!("{run} --state parts -o parts.tsv")).json();
    assert_eq!((&again["rows"], &again["state_hash"]), (&whole["rows"], &whole["state_hash"]));
    for other in [
        "--batch 61 --queries-per-batch 3",
        "--batch 60 --queries-per-batch 3 --strategy random",
        "--batch 60 --queries-per-batch 3 --seed 2",
        "--batch 60 --queries-per-batch 3 --oracle none",
        "--batch 60 --queries-per-batch 3 --c 7",
        "--batch 60 --queries-per-batch 3 --positive 1",
        "d.csv --batch 60 --queries-per-batch 3",
    ] {
        let result = shell.fails(&format!("run d.csv {other} --state parts"), 2);
        assert!(result.err.contains("resume it with the same options"), "{other}: {}", result.err);
    }
    assert!(shell.fails("run d.csv --state d.csv", 2).err.contains("d.csv"));
}

/// The change of the budget is an event of the log, so it is kept when the state is reopened.
#[test]
fn the_budget_may_change_when_a_state_is_resumed() {
    let shell = Shell::new();
    shell.ok("generate drift --rows 600 -o d.csv");
    let run = "run d.csv --batch 60 --state s --json";
    let spent = |result: &Value| result["labels_spent"].as_u64().unwrap();
    let few = shell.ok(&format!("{run} --queries-per-batch 3 --budget 6 --batches 4")).json();
    assert_eq!(spent(&few), 6);
    let more = shell.ok(&format!("{run} --queries-per-batch 5 --budget 16 --batches 4")).json();
    assert_eq!(spent(&more), 16);
    let same = shell.ok(&format!("{run} --queries-per-batch 5 --budget 16 --batches 0")).json();
    assert_eq!(same["state_hash"], more["state_hash"]);
    let less = shell.ok(&format!("{run} --queries-per-batch 5 --budget 2")).json();
    assert_eq!(spent(&less), 16);
}

/// SIGKILL at random times, repeatedly, does not change the final result. EVERMARGIN_KILLS sets the number of kills.
#[test]
fn kills_do_not_change_the_result() {
    let kills: u32 = std::env::var("EVERMARGIN_KILLS").ok().and_then(|k| k.parse().ok()).unwrap_or(12);
    let shell = Shell::new();
    shell.ok("generate drift --rows 2000 -o d.csv");
    let run = "run d.csv --batch 40 --queries-per-batch 3 --json --report r.html -o labels.tsv";
    let whole = shell.ok(&format!("{run} --state whole")).json();
    let began = Instant::now();
    shell.ok(&format!("{run} --state timed"));
    let labels = shell.text("labels.tsv");
    let length = began.elapsed();
    let (mut done, mut round, mut seed) = (0, 0, 12_345u64);
    while done < kills {
        let state = format!("killed{round}");
        round += 1;
        loop {
            let mut child = Command::new(env!("CARGO_BIN_EXE_evermargin"))
                .current_dir(shell.directory())
                .args(run.split(' '))
                .args(["--state", &state])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // at most a third of the whole duration, so that a run takes several attempts
            let share = (seed >> 33) as f64 / (1u64 << 31) as f64;
            let wait = length.mul_f64(share / 3.0);
            std::thread::sleep(wait);
            if child.try_wait().unwrap().is_some() {
                break;
            }
            child.kill().unwrap();
            child.wait().unwrap();
            done += 1;
            if done >= kills {
                break;
            }
        }
        let after = shell.ok(&format!("{run} --state {state}")).json();
        for key in
            ["rows", "labels_spent", "prequential_accuracy", "random_prequential_accuracy", "state_hash"]
        {
            assert_eq!(whole[key], after[key], "{key} after {done} kills");
        }
        assert!(shell.text("labels.tsv") == labels, "labels after {done} kills");
    }
}

/// A damaged store is refused with the name of its file, and nothing in it is changed.
#[test]
fn a_damaged_state_is_refused() {
    let shell = Shell::new();
    shell.ok("generate two-moons --rows 300 -o d.csv");
    shell.ok("run d.csv --batch 50 --state s");
    let file = shell.path("s/events.db");
    let whole = std::fs::read(&file).unwrap();
    let mut refused = 0;
    for at in (100..whole.len()).step_by(whole.len() / 40) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        std::fs::write(&file, &bytes).unwrap();
        let result = shell.run("run d.csv --batch 50 --state s --json");
        if result.code == 0 {
            // damage without effect: the same events give the same result
            std::fs::write(&file, &whole).unwrap();
            let right = shell.ok("run d.csv --batch 50 --state s --json").json();
            assert_eq!(result.json()["state_hash"], right["state_hash"], "byte {at}");
        } else {
            refused += 1;
            assert!(result.err.contains("events.db"), "{}", result.err);
            assert_eq!(std::fs::read(&file).unwrap(), bytes, "byte {at}");
        }
    }
    assert!(refused > 10, "{refused}");
}

/// An annotator answers with class names, undoes an answer, skips, quits, and resumes later.
#[test]
fn terminal_answers_are_learned_undone_skipped_and_resumed() {
    let shell = Shell::new();
    let line = |k: u32| {
        let words = if k.is_multiple_of(2) { "pills cheap offer" } else { "meeting monday agenda" };
        format!("{words} {k},\n")
    };
    let text = String::from("words,class\n") + &(0..40).map(line).collect::<String>();
    std::fs::write(shell.path("mail.csv"), text).unwrap();
    let run = "run mail.csv --text words --label class --oracle terminal --batch 20 --queries-per-batch 4 --state s --json";
    let result = shell.ok_with(run, b"spam\nham\nu\nspam\ns\nu\nq\n");
    assert!(result.err.contains("pills") || result.err.contains("meeting"), "{}", result.err);
    assert!(result.err.contains("again: sample"), "{}", result.err);
    let json = result.json();
    assert_eq!((&json["rows"], &json["batches"]), (&20.into(), &1.into()));
    // pending queries are asked again
    let result = shell.ok_with(run, b"ham\n".repeat(10).as_slice());
    assert!(result.err.contains("resuming after 20 rows"), "{}", result.err);
    assert_eq!(result.json()["rows"], 40);
}

/// Sixty texts of three kinds, without labels.
fn write_texts(shell: &Shell) {
    let kinds = ["pills cheap offer", "meeting monday agenda", "football goal match"];
    let lines: Vec<String> = (0..60).map(|k| format!("{} {k},\n", kinds[k % 3])).collect();
    let lines = lines.concat();
    std::fs::write(shell.path("mail.csv"), format!("words,class\n{lines}")).unwrap();
}

/// Digits follow the order of the first labels, also after a resume, and not the alphabet.
#[test]
fn digits_keep_their_classes_when_a_run_is_resumed() {
    let shell = Shell::new();
    write_texts(&shell);
    let run = "run mail.csv --text words --label class --oracle terminal --batch 30 --queries-per-batch 8 --state s";
    for answers in ["pills\nmeet\nq\n", "q\n"] {
        let shown = shell.ok_with(run, answers.as_bytes()).err;
        assert!(shown.contains("1=pills 2=meet"), "{shown}");
    }
}

const RUN_WITH_COMPARISONS: &str = "run mail.csv --text words --label class --oracle terminal --batch 30 --queries-per-batch 8 --state s --json";

/// An annotator compares samples instead of naming classes, undoes an answer, quits in between, and later compares with
/// samples of earlier batches.
#[test]
fn terminal_comparisons_are_answered_and_resumed() {
    let shell = Shell::new();
    write_texts(&shell);
    let result = shell.ok_with(RUN_WITH_COMPARISONS, b"pills\nmeet\n?\nn\nu\ny\n?\nq\n");
    let err = &result.err;
    assert!(err.contains("1=pills 2=meet ?=compare s=skip"), "{err}");
    assert_eq!(
        err.matches("does it have the same class as sample").count(),
        3,
        "a query, its repetition, and another query: {err}"
    );
    assert!(err.contains("y=same n=different s=skip"), "{err}");
    let labels: Vec<&str> = err.lines().filter_map(|line| Some(line.rsplit_once("  sample ")?.1)).collect();
    assert_eq!(labels.len(), 2, "{err}");
    assert_ne!(labels[0], labels[1], "the difference was undone");
    // The comparison is still pending, and a name answers it, too. The next batch is compared with samples of this one.
    let result = shell.ok_with(RUN_WITH_COMPARISONS, b"goal\ns\ns\ns\ns\n?\nq\n");
    let lines: Vec<&str> = result.err.lines().collect();
    let places = |text: &str| (0..lines.len()).filter(|&i| lines[i].contains(text)).collect::<Vec<_>>();
    let (asked, compared) = (places("query "), places("does it have the same class as sample"));
    assert_eq!((compared.len(), compared[0]), (2, asked[0] + 2), "{}", result.err);
    let number = |at: usize| {
        let (_, rest) = lines[at].split_once("sample ").unwrap();
        rest.split(' ').next().unwrap().trim_end_matches(':').parse::<usize>().unwrap()
    };
    let kind = |k: usize| ["pills", "meeting", "football"][(k - 1) % 3];
    let (new, old) = (compared[1] - 2, compared[1]);
    assert!(number(new) > 30 && number(old) <= 30, "{}", result.err);
    assert!(lines[new + 1].contains(kind(number(new))), "{}", result.err);
    assert!(lines[old + 1].contains(kind(number(old))), "the text of an earlier batch: {}", result.err);
}

/// Each undo goes back by one answer; the undone answers are asked again in their order.
#[test]
fn terminal_answers_are_undone_one_by_one() {
    let shell = Shell::new();
    write_texts(&shell);
    let result = shell.ok_with(RUN_WITH_COMPARISONS, b"pills\nmeet\n?\nn\nu\nu\nagenda\n?\ny\nu\ns\nq\n");
    let err = &result.err;
    let again: Vec<&str> = err.lines().filter(|line| line.contains("again: sample")).collect();
    assert_eq!(again.len(), 4, "the pair, the name before it, and the pair twice: {err}");
    assert!(again[0].contains("answered different (sample ") && again[0] == again[2], "{err}");
    assert!(again[1].contains("answered meet:") || again[1].contains("answered pills:"), "{err}");
    assert!(again[3].contains("answered same (sample "), "{err}");
    let undone: Vec<&str> = err.lines().filter(|line| line.contains("undone: sample")).collect();
    assert_eq!(undone.len(), 3, "{err}");
    assert!(undone[0].ends_with("; now agenda"), "{err}");
    assert!(undone[1].contains("different (sample ") && undone[1].contains("; now same (sample "), "{err}");
    assert!(undone[2].contains("its label and its comparisons are withdrawn"), "{err}");
}

/// Classes may have the names of commands.
#[test]
fn class_names_take_precedence_over_commands() {
    let shell = Shell::new();
    write_texts(&shell);
    let err = shell.ok_with(RUN_WITH_COMPARISONS, b"n\ny\n?\nno\nq\n").err;
    assert!(
        err.contains("  same different s=skip u=undo q=quit, or the name of its class (1=n 2=y)> "),
        "{err}"
    );
    assert!(
        err.contains(" is n\n") || err.contains(" is y\n"),
        "with two classes, a difference implies a label: {err}"
    );
}

/// On a terminal, a single key answers a query, but not a comparison.
#[test]
#[cfg(target_os = "linux")]
fn a_comparison_on_a_terminal_is_answered_with_a_line() {
    let has_script = Command::new("script").arg("--version").output().is_ok_and(|o| o.status.success());
    if !has_script {
        return println!("script is missing: not tested");
    }
    let shell = Shell::new();
    write_texts(&shell);
    let command = format!("{} {RUN_WITH_COMPARISONS}", env!("CARGO_BIN_EXE_evermargin"));
    let mut child = Command::new("script")
        .args(["-qefc", &command, "/dev/null"])
        .current_dir(shell.path("."))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut keys = child.stdin.take().unwrap();
    let mut screen = child.stdout.take().unwrap();
    let mut seen = String::new();
    // Each answer is typed when its query is on the screen.
    for (question, answer) in [
        ("or a new name> ", "pills\r"),
        ("or a new name> ", "meet\r"),
        ("or a new name> ", "?"),
        ("(1=pills 2=meet)> ", "?\r"),
        ("2=meet)> ", "dfferent\r"),
        ("dfferent is a new class: create it? y=yes, anything else asks again> ", "\r"),
        ("2=meet)> ", "No\r"),
        ("or a new name> ", "q"),
    ] {
        let begin = seen.len();
        while !seen[begin..].contains(question) {
            let mut bytes = [0; 4096];
            let count = std::io::Read::read(&mut screen, &mut bytes).unwrap();
            assert!(count > 0, "{seen}");
            seen.push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
        keys.write_all(answer.as_bytes()).unwrap();
        keys.flush().unwrap();
    }
    std::io::Read::read_to_string(&mut screen, &mut seen).unwrap();
    assert!(child.wait().unwrap().success(), "{seen}");
    assert!(seen.contains("does it have the same class as sample"), "{seen}");
    assert!(!seen.contains("1=?"), "{seen}");
    assert!(seen.contains("\"labels_spent\":4"), "{seen}");
}

/// Labels of the data answer comparisons, also for rows whose class they do not name, and a resumed run gives the result
/// of an uninterrupted one.
#[test]
fn labels_of_the_data_answer_comparisons() {
    let shell = Shell::new();
    shell.ok("generate waveform --rows 600 --seed 3 -o d.csv");
    for options in ["--pairwise-queries always", "--pairwise-queries after-skip --label-rate 0.3"] {
        let run = format!("run d.csv --batch 100 --json {options}");
        let name = options.replace([' ', '.'], "");
        let whole = shell.ok(&format!("{run} --state whole{name}")).json();
        for batches in [2, 1] {
            shell.ok(&format!("{run} --state parts{name} --batches {batches}"));
        }
        let parts = shell.ok(&format!("{run} --state parts{name}")).json();
        assert_eq!(parts["state_hash"], whole["state_hash"], "{options}");
        let events = std::fs::read(shell.path(&format!("whole{name}/events.db"))).unwrap();
        let related = events.windows(7).filter(|bytes| *bytes == b"related").count();
        assert!(related >= 10, "{options}: {related} answers to comparisons in the state");
        assert!(whole["prequential_accuracy"].as_f64().unwrap() > 0.5, "{options}: {whole}");
    }
}

/// The reader of standard error may close it, as `2>&1 | head` does.
#[test]
#[cfg(unix)]
fn a_run_continues_when_standard_error_is_closed() {
    let shell = Shell::new();
    shell.ok("generate two-moons --rows 300 -o d.csv");
    let mut run = Command::new(env!("CARGO_BIN_EXE_evermargin"));
    run.args(["run", "d.csv", "--batch", "50", "--oracle", "terminal", "--json"])
        .current_dir(shell.path("."));
    let (log, unread) = std::io::pipe().unwrap();
    run.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(unread);
    drop(log);
    let done = run.output().unwrap();
    assert!(done.status.success(), "{:?}", done.status);
    let result: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert!(result["rows"].as_u64().unwrap() > 0, "{result}");
}

#[test]
fn without_queries_the_labels_of_the_data_are_learned() {
    let shell = Shell::new();
    shell.ok("generate waveform --rows 1500 -o d.csv");
    let json = shell.ok("run d.csv --oracle none --strategy none --batch 100 --json").json();
    assert_eq!(json["labels_spent"], 0);
    assert_eq!(json["classes"].as_array().unwrap().len(), 3);
    assert!(json["prequential_accuracy_last_half"].as_f64().unwrap() > 0.8, "{json}");
}

#[test]
fn refuses_invalid_streams_and_options() {
    let shell = Shell::new();
    std::fs::write(shell.path("empty.csv"), "").unwrap();
    shell.ok("generate two-moons --rows 50 -o d.csv");
    for (line, word) in [
        ("run missing.csv", "missing.csv"),
        ("run empty.csv", "empty"),
        ("run d.csv --report /nowhere/r.html", "nowhere"),
    ] {
        let result = shell.fails(line, 1);
        assert!(result.err.contains(word), "{line}: {}", result.err);
    }
    for line in [
        "run d.csv --batch 0",
        "run d.csv --strategy best",
        "run d.csv --forget much",
        "run d.csv --per-time 3",
        "run d.csv --kernel odd",
        "run d.csv --exploration-rate 2",
        "run d.csv --c -1",
        "run d.csv --rows 1..5",
        "run d.csv -o d.csv",
        "run d.csv --model d.csv",
        "run d.csv -o -",
        "run d.csv --queries-per-round 2000 --queries-per-batch 2000",
        "run",
    ] {
        shell.fails(line, 2);
    }
}

#[test]
fn submod_weights_without_effect_are_noted() {
    let shell = Shell::new();
    shell.ok("generate two-moons --rows 200 --noise 0.1 -o d.csv");
    let note = "--submod-weights has no effect with --strategy small-pool";
    let run = "run d.csv --batch 100 --submod-weights learned";
    assert!(shell.ok(run).err.contains(note));
    assert!(!shell.ok(&format!("{run} --strategy submod")).err.contains("no effect"));
}
