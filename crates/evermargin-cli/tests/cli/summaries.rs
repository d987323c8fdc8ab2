//! Summaries of files and of summaries, and batches of queries.

use crate::shell::Shell;
use serde_json::json;

/// Two moons in two files.
fn moons(shell: &Shell) {
    shell.ok("generate two-moons --rows 300 --noise 0.1 --seed 1 -o a.csv");
    shell.ok("generate two-moons --rows 200 --noise 0.1 --seed 2 -o b.csv");
}

#[test]
fn a_summary_lists_rows_with_their_weights() {
    let shell = Shell::new();
    moons(&shell);
    let result = shell.ok("summarize a.csv -k 12");
    let lines: Vec<Vec<f64>> =
        result.out.lines().skip(1).map(|l| l.split('\t').map(|c| c.parse().unwrap()).collect()).collect();
    assert!(result.out.starts_with("row\tweight\n") && lines.len() == 12, "{}", result.out);
    assert_eq!(lines.iter().map(|l| l[1]).sum::<f64>(), 300.0);
    assert!(result.err.contains("12 exemplars of 300 rows by exemplars in "), "{}", result.err);

    let json = shell.ok("summarize a.csv -k 12 --json").json();
    for key in ["rows", "exemplars", "objective", "evaluations", "seconds", "total_seconds"] {
        assert!(json[key].is_number(), "{key} in {json}");
    }
    let rows: Vec<f64> = lines.iter().map(|l| l[0]).collect();
    let chosen: Vec<f64> =
        json["chosen_rows"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
    assert_eq!(chosen, rows);
    // a smaller summary is a prefix of a larger one
    let small = shell.ok("summarize a.csv -k 5 --json").json();
    assert_eq!(small["chosen_rows"].as_array().unwrap()[..], json["chosen_rows"].as_array().unwrap()[..5]);

    // the table holds the selected rows
    shell.ok("summarize a.csv -k 3 --objective facility --gamma 2 -o typical.csv");
    let (table, data) = (shell.text("typical.csv"), shell.text("a.csv"));
    assert!(table.starts_with("row,weight,x1,x2\n"), "{table}");
    for line in table.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let row = data.lines().nth(cells[0].parse().unwrap()).unwrap();
        assert!(row.starts_with(&format!("{},{},", cells[2], cells[3])), "{row} {line}");
    }
}

#[test]
fn merged_summaries_keep_weights_and_file_names() {
    let shell = Shell::new();
    moons(&shell);
    shell.ok("summarize a.csv -k 20 --gamma 5 -o a.evx");
    shell.ok("summarize b.csv -k 20 --gamma 5 -o b.evx");
    let json = shell.ok("merge a.evx b.evx -k 15 -o both.evx --json").json();
    assert_eq!((&json["rows"], &json["exemplars"], &json["parts"]), (&json!(500), &json!(15), &json!(2)));
    let weights = json["weights"].as_array().unwrap();
    assert_eq!(weights.iter().map(|w| w.as_f64().unwrap()).sum::<f64>(), 500.0);
    let result = shell.ok("merge both.evx");
    assert!(result.out.starts_with("file\trow\tweight\n"), "{}", result.out);
    assert!(result.out.contains("a.csv\t") && result.out.contains("b.csv\t"), "{}", result.out);
    // the same bytes again, for any number of threads
    shell.ok("merge a.evx b.evx -k 15 -o again.evx --threads 1");
    assert_eq!(shell.read("both.evx"), shell.read("again.evx"));
}

#[test]
fn refuses_invalid_summaries_and_merges() {
    let shell = Shell::new();
    moons(&shell);
    shell.ok("summarize a.csv -k 5 --gamma 5 -o a.evx");
    for (line, code, text) in [
        ("summarize a.csv --kernel tanh", 2, "--kernel tanh: must be rbf, linear, poly or sigmoid"),
        ("summarize a.csv --gamma -1", 2, "parameter gamma = -1: must be a positive number"),
        ("summarize a.csv -k 0", 2, "must be a whole number, 1 or more"),
        ("summarize a.csv --objective best", 2, "must be exemplars or facility"),
        ("summarize a.csv --diversity -3", 2, "must be auto, static or a number of 0 or more"),
        ("summarize a.csv -o a.csv", 2, "this is an input file"),
        ("summarize a.csv -o - --json", 2, "both need standard output"),
        ("summarize a.csv --objective facility --kernel linear", 1, "can be negative"),
        ("summarize none.csv", 1, "none.csv"),
        ("merge a.csv", 1, "not an evermargin summary"),
        ("merge", 2, "required"),
    ] {
        let result = shell.run(line);
        assert_eq!(result.code, code, "{line}: {}", result.err);
        assert!(result.err.contains(text), "{line}: {}", result.err);
    }
    for (options, what) in [
        ("--gamma 4", "kernels"),
        ("--gamma 5 --objective facility", "objectives"),
        ("--gamma 5 --scale divide=2", "scalings"),
    ] {
        shell.ok(&format!("summarize b.csv -k 5 {options} -o b.evx"));
        let result = shell.run("merge a.evx b.evx -o both.evx");
        assert_eq!(result.code, 1);
        assert!(result.err.contains(&format!("a.evx and b.evx have different {what}")), "{}", result.err);
        assert!(!shell.path("both.evx").exists());
    }
}

#[test]
fn batch_strategies_select_distinct_queries() {
    let shell = Shell::new();
    shell.ok("generate two-moons --rows 400 --noise 0.2 -o d.csv");
    shell.write("first", "1 2 3 4 5 6 7 8 9 10\n");
    shell.ok("fit d.csv --labeled-rows first -o m.evm");
    let rows = |line: &str| {
        let json = shell.ok(&format!("ask d.csv --labeled-rows first -n 15 --json {line}")).json();
        let rows: Vec<u64> =
            json["asked_rows"].as_array().unwrap().iter().map(|v| v.as_u64().unwrap()).collect();
        let mut distinct = rows.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert!(distinct.len() == 15 && distinct[0] > 10, "{rows:?}");
        rows
    };
    let (margin, diverse) = (rows("--model m.evm"), rows("--model m.evm --strategy diverse"));
    let (submod, alone) = (rows("--model m.evm --strategy submod"), rows("--strategy submod"));
    assert!(margin != diverse && diverse != submod && submod != alone);
    let result = shell.run("ask d.csv --labeled-rows first --strategy diverse");
    assert_eq!(result.code, 2);
    assert!(result.err.contains("strategy diverse needs --model MODEL"), "{}", result.err);
    shell.write("three.csv", "x,label\n1,a\n2,b\n3,c\n4,\n");
    let result = shell.ok("ask three.csv --label label --strategy submod --number 1");
    assert!(result.out.contains('4'), "{}", result.out);
}
