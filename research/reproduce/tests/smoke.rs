//! Tests of the program: `--quick` runs of all tables stay within loose bounds, results are reproducible, and finished work is read
//! from the cache. Generated data are always tested, data files if `EVERMARGIN_DATA` is set.

#![allow(clippy::expect_used, clippy::unwrap_used)]

use serde_json::Value;
use std::process::{Command, Output};

fn reproduce(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_evermargin-reproduce")).args(args).output().unwrap()
}

/// Folder of data files from `EVERMARGIN_DATA`; without it, tests run the same on every machine.
fn data() -> String {
    std::env::var("EVERMARGIN_DATA").unwrap_or_else(|_| "/nonexistent".into())
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Counts in the last line of the output.
fn counts(output: &Output) -> Value {
    let text = printed(output);
    let errors = String::from_utf8_lossy(&output.stderr);
    serde_json::from_str(text.lines().last().unwrap_or_default())
        .unwrap_or_else(|e| panic!("{e}: {text}{errors}"))
}

fn count(counts: &Value, name: &str) -> u64 {
    counts[name].as_u64().unwrap_or_else(|| panic!("no {name} in {counts}"))
}

/// A broken learner makes this test fail: too few cells run, or too many differ from published values.
#[test]
fn quick_run_of_all_tables_is_within_loose_bounds() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("out.html");
    let page_file = page.to_str().unwrap();
    let output = reproduce(&["--quick", "--fresh", "--json", "--data", &data(), "--report", page_file]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let counts = counts(&output);
    let [run, worse, rates, met] =
        ["cells_run", "cells_worse", "accuracy_cells", "accuracy_met"].map(|name| count(&counts, name));
    assert!(run >= if data() == "/nonexistent" { 60 } else { 600 }, "{counts}");
    assert!(worse * 4 <= run, "{counts}");
    assert!(met * 10 >= rates * 7, "{counts}");
    for name in ["cells_reproduced", "cells_better", "cells_missing"] {
        count(&counts, name);
    }
    assert!(counts["seconds"].as_f64().unwrap() > 0.0);
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("id=\"ertekin-waveform-imbalance\"") && page.ends_with("</html>\n"));
}

/// Without data files nothing fails, and missing cells are counted.
#[test]
fn cells_without_data_are_counted_as_missing() {
    let args = ["ertekin-6.3", "emara-III.2", "--data", "/nonexistent", "--fresh", "--json"];
    let output = reproduce(&args);
    assert!(output.status.success());
    let counts = counts(&output);
    assert_eq!((count(&counts, "cells_run"), count(&counts, "cells_missing")), (0, 200));
}

const TABLE: [&str; 6] =
    ["ertekin-waveform-imbalance", "--data-sets", "Waveform IR 8", "--repetitions", "2", "--json"];

/// Output without times.
fn numbers(output: &Output) -> String {
    let text = printed(output);
    text.lines().filter(|l| !l.starts_with('{') && !l.contains("seconds")).collect::<Vec<_>>().join("\n")
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let once = |threads| reproduce(&[&TABLE[..], &["--fresh", "--threads", threads]].concat());
    let (one, two) = (once("1"), once("2"));
    assert!(numbers(&one).contains("g_means"), "{}", printed(&one));
    assert_eq!(numbers(&one), numbers(&two));
}

#[test]
fn finished_work_is_read_from_the_cache() {
    let folder = tempfile::tempdir().unwrap();
    let cached = || reproduce(&[&TABLE[..], &["--cache", folder.path().to_str().unwrap()]].concat());
    let (first, second) = (cached(), cached());
    assert_eq!(numbers(&first), numbers(&second));
    let learned = |o: &Output| String::from_utf8_lossy(&o.stderr).matches(" error ").count();
    assert!(learned(&first) >= 10 && learned(&second) == 0, "{}", String::from_utf8_lossy(&second.stderr));
    let pieces: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().path()).collect();
    assert_eq!(pieces.len(), learned(&first), "one file per piece");
    std::fs::remove_file(&pieces[0]).unwrap();
    assert_eq!(learned(&cached()), 1, "only the missing piece is computed again");
}

/// Options that change samples are part of the key of a piece.
#[test]
fn options_that_change_samples_change_the_key() {
    let folder = tempfile::tempdir().unwrap();
    let cache = ["--cache", folder.path().to_str().unwrap()];
    let plain = reproduce(&[&TABLE[..], &cache].concat());
    for other in [["--hold-out", "0.3"], ["--c", "7"], ["--gamma", "0.5"], ["--scaling", "minmax"]] {
        let changed = reproduce(&[&TABLE[..], &cache, &other].concat());
        assert_ne!(numbers(&plain), numbers(&changed), "{other:?}");
    }
    assert_eq!(numbers(&plain), numbers(&reproduce(&[&TABLE[..], &cache].concat())));
}

/// Invalid options are reported before the work starts.
#[test]
fn invalid_options_are_errors_before_the_work() {
    let folder = tempfile::tempdir().unwrap();
    let (inside, file) = (folder.path().join("no/out.html"), folder.path().join("file"));
    std::fs::write(&file, "x").unwrap();
    let [folder, inside, file] = [folder.path(), &inside, &file].map(|p| p.to_str().unwrap());
    let bad: [&[&str]; 9] = [
        &["--report", folder],
        &["--report", inside],
        &["--cache", file],
        &["--hold-out", "2"],
        &["--hold-out", "nan"],
        &["--c", "-1"],
        &["--gamma", "nan"],
        &["--methods", "nowhere"],
        &["--book", folder],
    ];
    for args in bad {
        let output = reproduce(&[&TABLE[..], args].concat());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(1 | 2)), "{args:?}: {errors}");
        assert!(!errors.contains(" 1/2") && !errors.contains("panicked"), "{args:?}: {errors}");
    }
    assert_eq!(reproduce(&["emara-vi", "--data-sets", "nowhere"]).status.code(), Some(2));
}

#[test]
fn names_are_listed_and_unknown_names_are_errors() {
    let list = printed(&reproduce(&["--list"]));
    for name in ["emara-III.2", "ertekin-6.3", "sindhwani-6", "hou-hero-1"] {
        assert!(list.lines().any(|l| l.starts_with(name)), "{list}");
    }
    let refused = reproduce(&["ertekin-9.9"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("there are ertekin-3.2"));
    assert_eq!(reproduce(&["ertekin-6.3", "--data-sets", "nowhere"]).status.code(), Some(2));
    assert_eq!(reproduce(&[]).status.code(), Some(2));
    let files = printed(&reproduce(&["--data-sets-at-hand", "--data", "/nonexistent"]));
    assert!(files.contains("0 of 106 files complete"), "{files}");
}
