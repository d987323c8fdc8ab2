//! `ask`: selection of rows to label.

use crate::shell::Shell;
use serde_json::json;

/// Rows of a query table: number, closeness, label.
fn questions(text: &str) -> Vec<(usize, f64, String)> {
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let [.., closeness, label] = cells.as_slice() else { panic!("{line}") };
        (cells[0].parse().unwrap(), closeness.parse().unwrap(), (*label).to_string())
    };
    text.lines().skip(1).map(row).collect()
}

/// A table in which every fifth row is labeled.
fn pets(shell: &Shell) {
    let row = |i: usize| {
        let weight = 3.0 + (i * 37 % 100) as f64 / 5.0;
        let kind = if !i.is_multiple_of(5) {
            ""
        } else if weight > 12.0 {
            "dog"
        } else {
            "cat"
        };
        format!("{weight},{},{kind}\n", i % 7)
    };
    shell.write("pets.csv", &format!("weight,age,kind\n{}", (0..200).map(row).collect::<String>()));
    shell.ok("fit pets.csv --label kind -o m.evm");
}

#[test]
fn only_rows_without_labels_are_queried() {
    let shell = Shell::new();
    pets(&shell);
    let result = shell.ok("ask pets.csv --model m.evm -n 12");
    assert!(result.err.contains("note: 40 rows have a label and are skipped\n"), "{}", result.err);
    assert!(result.err.contains("12 of 160 rows without a label by margin in "), "{}", result.err);
    assert!(result.out.starts_with("row\tdecision\tcloseness\tlabel\n"), "{}", result.out);
    let rows = questions(&result.out);
    assert_eq!(rows.len(), 12);
    assert!(rows.iter().all(|(row, _, label)| row % 5 != 1 && ["cat", "dog"].contains(&label.as_str())));
    assert!(rows.windows(2).all(|w| w[0].1 <= w[1].1));
    // the same decisions as those of predict
    shell.ok("predict m.evm pets.csv -o p.tsv");
    let predicted = shell.text("p.tsv");
    let lines: Vec<&str> = predicted.lines().skip(1).collect();
    for line in result.out.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let row: usize = cells[0].parse().unwrap();
        assert_eq!(lines[row - 1], format!("{}\t{}", cells[3], cells[1]));
    }
    let all = questions(&shell.ok("ask pets.csv --model m.evm -n 1000").out);
    assert_eq!(all.len(), 160);
    assert_eq!(all[..12], rows);
}

#[test]
fn strategies_select_rows_as_documented() {
    let shell = Shell::new();
    shell.ok("generate two-moons --rows 1000 --noise 0.3 -o d.svm");
    shell.write("first", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20\n");
    shell.ok("fit d.svm --labeled-rows first -o m.evm");
    let ask = |options: &str| {
        questions(&shell.ok(&format!("ask d.svm --labeled-rows first --model m.evm {options}")).out)
    };
    let all = ask("-n 980");
    let median = all[490].1;
    let margin = ask("-n 20");
    assert_eq!(margin[..], all[..20]);
    let pool = ask("-n 20 --strategy small-pool");
    assert!(
        pool.iter().filter(|q| q.1 <= all[98].1).count() >= 15,
        "the best of 59 random rows is usually among the best tenth"
    );
    let mut rows: Vec<usize> = pool.iter().map(|q| q.0).collect();
    rows.sort_unstable();
    rows.dedup();
    assert!(rows.len() == 20 && pool != margin, "without replacement");
    assert_eq!(pool, ask("-n 20 --strategy small-pool --pool auto:0.05,0.05"));
    assert_ne!(pool, ask("-n 20 --strategy small-pool --seed 2"));
    assert_eq!(margin, ask("-n 20 --strategy small-pool --pool 0"), "a pool of all rows equals margin");
    let gate = ask("-n 20 --strategy gate");
    assert!(gate.len() <= 20 && gate.iter().all(|q| q.1 <= 1.0) && gate.windows(2).all(|w| w[0].0 < w[1].0));
    let inside: Vec<usize> = {
        let mut rows: Vec<usize> = all.iter().filter(|q| q.1 <= 1.0).map(|q| q.0).collect();
        rows.sort_unstable();
        rows
    };
    assert_eq!(gate.iter().map(|q| q.0).collect::<Vec<_>>(), inside[..20.min(inside.len())]);
    let random = ask("-n 100 --strategy random");
    let near = random.iter().filter(|q| q.1 < median).count();
    assert!((30..=70).contains(&near), "{near}");
    assert!(random.iter().all(|q| q.0 > 20));
}

#[test]
fn models_of_all_learners_can_select_queries() {
    let shell = Shell::new();
    shell.ok("generate waveform --rows 300 -o d.svm");
    let text = shell.text("d.svm");
    let bare: Vec<String> = text.lines().map(|l| format!("? {}", l.split_once(' ').unwrap().1)).collect();
    shell.write("bare.svm", &bare.join("\n"));
    for (fit, header) in [
        ("", "row\tdecision:2/1\tdecision:3/1\tdecision:3/2\tcloseness\tlabel"),
        ("--multi one-vs-rest", "row\tdecision:1\tdecision:2\tdecision:3\tcloseness\tlabel"),
        ("--learner linear", "row\tdecision:1\tdecision:2\tdecision:3\tcloseness\tlabel"),
        ("--learner lasvm --positive 2", "row\tdecision\tcloseness\tlabel"),
        ("--learner rls --probability sigmoid", "row\tdecision:1\tdecision:2\tdecision:3\tcloseness\tlabel"),
    ] {
        shell.ok(&format!("fit d.svm -o m.evm {fit}"));
        let result = shell.ok("ask bare.svm --model m.evm -n 30");
        assert_eq!(result.out.lines().next().unwrap(), header, "{fit}");
        let rows = questions(&result.out);
        assert!(rows.len() == 30 && rows.iter().all(|q| q.1 >= 0.0), "{fit}");
        assert!(rows.windows(2).all(|w| w[0].1 <= w[1].1), "{fit}");
        assert!(!result.err.contains("skipped"), "{}", result.err);
        // queried rows are more often misclassified than the others
        let asked: Vec<usize> = rows.iter().map(|q| q.0).collect();
        let lines: Vec<&str> = text.lines().collect();
        let part: Vec<&str> = asked.iter().map(|r| lines[r - 1]).collect();
        shell.write("part.svm", &part.join("\n"));
        let accuracy = |data: &str| {
            shell.ok(&format!("predict m.evm {data} --json")).json()["accuracy"].as_f64().unwrap()
        };
        assert!(accuracy("part.svm") < accuracy("d.svm"), "{fit}");
    }
}

#[test]
fn supports_json_output_files_and_row_ranges() {
    let shell = Shell::new();
    pets(&shell);
    let json = shell.ok("ask pets.csv --model m.evm -n 5 --json").json();
    assert_eq!(
        (&json["rows"], &json["candidates"], &json["asked"], &json["strategy"]),
        (&json!(200), &json!(160), &json!(5), &json!("margin"))
    );
    assert!(json["seconds"].is_f64() && json["total_seconds"].is_f64());
    assert_eq!(json["asked_rows"].as_array().unwrap().len(), 5);
    shell.ok("ask pets.csv --model m.evm -n 5 -o q.tsv");
    let rows: Vec<usize> = questions(&shell.text("q.tsv")).iter().map(|q| q.0).collect();
    assert_eq!(json!(rows), json["asked_rows"]);
    let rows = |options: &str| shell.ok(&format!("ask pets.csv --model m.evm {options} --json")).json();
    let part = rows("-n 500 --rows 101..200");
    assert_eq!(part["candidates"], 80);
    assert!(
        part["asked_rows"].as_array().unwrap().iter().all(|r| (101..=200).contains(&r.as_u64().unwrap()))
    );
    // without a model, only the random strategy is possible
    let result = shell.ok("ask pets.csv --label kind --strategy random -n 3");
    assert_eq!(result.out.lines().next(), Some("row"));
    assert_eq!(result.out.lines().count(), 4);
}

#[test]
fn refuses_invalid_options_and_data() {
    let shell = Shell::new();
    pets(&shell);
    shell.ok("generate two-moons --rows 50 -o d.svm");
    shell.ok("fit d.svm -o d.evm");
    for (line, code, why) in [
        ("ask pets.csv", 2, "strategy margin needs --model MODEL: label a few rows"),
        ("ask pets.csv", 2, "evermargin fit pets.csv --labeled-rows FILE -o MODEL"),
        ("ask d.svm --model d.evm", 1, "d.svm: every row has a label, so there is nothing to ask"),
        (
            "ask pets.csv --model m.evm --pool 5",
            2,
            "--pool: strategy margin has no pool; only small-pool has one",
        ),
        (
            "ask pets.csv --model m.evm --strategy best",
            2,
            "must be one of margin, small-pool, gate, diverse, submod, random",
        ),
        ("ask pets.csv --model m.evm -n 0", 2, "must be a whole number, 1 or more"),
        ("ask pets.csv --model m.evm -o m.evm", 2, "this is an input file"),
        ("ask pets.csv --model m.evm -o - --json", 2, "both need standard output"),
        ("ask - --model -", 2, "cannot both be standard input"),
        ("ask pets.csv --model no.evm", 1, "no.evm: cannot read"),
    ] {
        let result = shell.run(line);
        assert!(result.code == code && result.err.contains(why), "{line}: {} {}", result.code, result.err);
    }
}

/// A limit per group that leaves fewer rows than wanted is noted, and a missing column is reported as that of the flag.
#[test]
fn a_limit_per_group_is_noted_when_it_leaves_out_rows() {
    let shell = Shell::new();
    let cities = ["Lund", "Oslo", "Rome", ""];
    let line = |i: usize| {
        let label = if i < 20 { ["a", "b"][i % 2] } else { "" };
        format!("{},{},{},{label}\n", (i % 2) as f64 + 0.01 * i as f64, (i * 7) % 11, cities[i % 4])
    };
    shell.write("d.csv", &format!("x,y,city,kind\n{}", (0..60).map(line).collect::<String>()));
    shell.ok("fit d.csv --label kind -o m.evm");
    let few = shell.ok("ask d.csv --model m.evm -n 20 --group city --max-per-group 2");
    assert_eq!(few.out.lines().count(), 1 + 8);
    let note = "8 of 20 rows: --max-per-group 2 allows no more from 4 groups";
    assert!(few.err.contains(note), "{}", few.err);
    let enough = shell.ok("ask d.csv --model m.evm -n 8 --group city --max-per-group 2");
    assert!(!enough.err.contains("allows no more"), "{}", enough.err);
    let summary = shell.ok("summarize d.csv --label kind -k 5 --group city -o s.evs");
    assert!(summary.err.contains("4 of 5 rows: --max-per-group 1"), "{}", summary.err);
    let wrong = shell.fails("ask d.csv --model m.evm --group town", 1);
    assert!(wrong.err.contains("no column named 'town' for --group; the header has"), "{}", wrong.err);
}
