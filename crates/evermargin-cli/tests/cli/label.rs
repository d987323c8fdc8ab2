//! `label` with few labels, and `fit` with learners that use unlabeled rows.

use crate::shell::Shell;
use serde_json::Value;

/// Two Gaussians in 50 dimensions; the first 5 rows of each class are labeled.
fn gaussians() -> Shell {
    let shell = Shell::new();
    shell.ok("generate g50c --rows 300 --seed 3 -o all.svm");
    let text = shell.text("all.svm");
    let of = |class: &str| -> Vec<usize> {
        let rows = text.lines().enumerate().filter(|(_, l)| l.split(' ').next() == Some(class));
        rows.map(|(i, _)| i + 1).take(5).collect()
    };
    let classes: std::collections::BTreeSet<&str> =
        text.lines().filter_map(|l| l.split(' ').next()).collect();
    let rows: Vec<String> = classes.iter().flat_map(|c| of(c)).map(|r| r.to_string()).collect();
    shell.write("split.txt", &format!("1 2\n{}\n", rows.join(" ")));
    let shown: Vec<String> = text
        .lines()
        .enumerate()
        .map(|(i, line)| {
            let features = line.split_once(' ').map_or("", |(_, rest)| rest);
            if rows.contains(&(i + 1).to_string()) { line.to_string() } else { format!("? {features}") }
        })
        .collect();
    shell.write("few.svm", &(shown.join("\n") + "\n"));
    shell
}

const SPLIT: &str = "--labeled-rows split.txt --split 2";

#[test]
fn every_learner_labels_rows_in_their_order() {
    let shell = gaussians();
    let names = [
        "submod-s3vm",
        "qp-s3vm",
        "parzen",
        "linear-tsvm",
        "linear-da",
        "tsvm",
        "da",
        "grad-tsvm",
        "cccp-s3vm",
        "label-propagation",
    ];
    for name in names {
        let json =
            shell.ok(&format!("label all.svm {SPLIT} --learner {name} --ratio 0.5 -o l.tsv --json")).json();
        for key in [
            "rows",
            "labeled",
            "ratio",
            "seconds",
            "transductive_accuracy",
            "sensitivity",
            "specificity",
            "mcc",
        ] {
            assert!(!json[key].is_null(), "{name} {key}: {json}");
        }
        assert!(json["transductive_accuracy"].as_f64().unwrap() > 0.75, "{name}: {json}");
        let table = shell.text("l.tsv");
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!((lines[0], lines.len()), ("label\tscore\tconfidence\tgiven", 301), "{name}");
        assert_eq!(lines.iter().filter(|l| l.ends_with("\tyes")).count(), 10, "{name}");
        for line in &lines[1..] {
            let sure: f64 = line.split('\t').nth(2).unwrap().parse().unwrap();
            assert!((0.0..=1.0).contains(&sure), "{name} {line}");
        }
    }
}

#[test]
fn question_marks_are_unlabeled_rows() {
    let shell = gaussians();
    let hidden = shell.ok(&format!("label all.svm {SPLIT} -o a.tsv --json")).json();
    let marked = shell.ok("label few.svm -o b.tsv --json").json();
    assert_eq!(shell.text("a.tsv"), shell.text("b.tsv"));
    assert_eq!(marked["transductive_accuracy"], Value::Null);
    assert_eq!((&hidden["labeled"], &hidden["unlabeled"]), (&10.into(), &290.into()));
}

#[test]
fn label_reports_the_supervised_baseline() {
    let shell = gaussians();
    let result = shell.ok(&format!("label all.svm {SPLIT} -o l.tsv"));
    for part in
        ["right on 290 hidden labels", "labels alone:", "held-out labels right (5 folds)", "--model all.evm"]
    {
        assert!(result.out.contains(part), "{part}: {}", result.out);
    }
    let json = shell.ok(&format!("label all.svm {SPLIT} --json")).json();
    for key in ["baseline_accuracy", "cross_validated", "baseline_cross_validated", "agreement"] {
        assert!(json[key].is_number(), "{key}: {json}");
    }
    let json = shell.ok(&format!("label all.svm {SPLIT} --no-compare --json")).json();
    assert_eq!(json["baseline_accuracy"], Value::Null);
}

#[test]
fn label_writes_a_model_for_new_rows() {
    let shell = gaussians();
    shell.ok("generate g50c --rows 400 --seed 3 -o more.svm");
    for name in ["submod-s3vm", "linear-da", "da"] {
        let learner = format!("--learner {name} --ratio 0.5");
        shell.ok(&format!("label all.svm {SPLIT} {learner} -o l.tsv --model m.evm"));
        let json = shell.ok("predict m.evm more.svm --json").json();
        assert!(json["accuracy"].as_f64().unwrap() > 0.75, "{name}: {json}");
        let fit = shell.ok(&format!("fit all.svm {SPLIT} {learner} -o f.evm --json")).json();
        assert!(fit["transductive_accuracy"].is_number() && fit["baseline_accuracy"].is_number(), "{fit}");
        assert_eq!(shell.read("m.evm"), shell.read("f.evm"), "{name}");
    }
}

#[test]
fn several_classes_are_labeled() {
    let shell = Shell::new();
    let centers = [(0.0, 0.0), (4.0, 0.0), (0.0, 4.0), (4.0, 4.0)];
    let row = |i: usize| {
        let (a, b) = centers[i % 4];
        let noise = |k: f64| (i as f64 * k).sin();
        format!("{},{},c{}", a + noise(1.3), b + noise(2.1), i % 4)
    };
    let rows: Vec<String> = (0..200).map(row).collect();
    shell.write("b.csv", &format!("a,b,label\n{}\n", rows.join("\n")));
    shell.write("s.txt", "1 2 3 4 5 6 7 8 9 10 11 12");
    for name in ["submod-s3vm", "linear-da", "label-propagation", "tsvm"] {
        let json = shell
            .ok(&format!("label b.csv --label label --labeled-rows s.txt --learner {name} --json"))
            .json();
        assert!(json["transductive_accuracy"].as_f64().unwrap() > 0.85, "{name}: {json}");
        assert_eq!(json["classes"], 4);
    }
    let result = shell.run("label b.csv --label label --labeled-rows s.txt --ratio 0.5 --json");
    assert!(result.code != 0 && result.err.contains("ratio"), "{}", result.err);
    let result = shell.run("label b.csv --label label --labeled-rows s.txt --multi one-vs-one --json");
    assert!(result.code != 0 && result.err.contains("one-vs-rest"), "{}", result.err);
}

#[test]
fn refuses_invalid_options_and_data() {
    let shell = gaussians();
    for (line, code, part) in [
        (format!("label all.svm {SPLIT} --ratio 1"), 2, "between 0 and 1"),
        (format!("label all.svm {SPLIT} --ratio 0"), 2, "between 0 and 1"),
        (format!("label all.svm {SPLIT} --ratio half"), 2, "labels, auto"),
        (format!("label all.svm {SPLIT} --learner svc"), 2, "labeled rows only"),
        (format!("fit all.svm {SPLIT} --learner svc --ratio 0.5"), 2, "does not use rows without a label"),
        (format!("label all.svm {SPLIT} -o - --json"), 2, "standard output"),
        ("label all.svm --labeled-rows split.txt --split 9".into(), 2, "has 2 splits"),
        ("label nothing.svm".into(), 1, "nothing.svm"),
    ] {
        let result = shell.run(&line);
        assert_eq!(result.code, code, "{line}: {}", result.err);
        assert!(result.err.contains(part), "{line}: {}", result.err);
    }
    shell.write("one.csv", "a,b,label\n1,2,x\n2,1,\n3,3,\n");
    let result = shell.run("label one.csv --label label");
    assert!(result.code == 1 && result.err.contains("two classes"), "{}", result.err);
}

#[test]
fn degenerate_data_is_labeled() {
    let shell = Shell::new();
    shell.write("all.csv", "a,b,label\n1,2,x\n2,1,y\n3,3,x\n4,0,y\n");
    shell.write("same.csv", "a,b,label\n1,2,x\n1,2,y\n1,2,\n1,2,\n1,2,\n");
    shell.write("zero.csv", "a,b,label\n0,0,x\n1,1,y\n0,0,\n0,0,\n1,1,\n");
    for name in [
        "submod-s3vm",
        "qp-s3vm",
        "parzen",
        "linear-tsvm",
        "linear-da",
        "tsvm",
        "da",
        "grad-tsvm",
        "cccp-s3vm",
        "bnb-s3vm",
        "label-propagation",
    ] {
        for file in ["all.csv", "same.csv", "zero.csv"] {
            let result = shell.ok(&format!("label {file} --label label --learner {name} -o l.csv --json"));
            let json = result.json();
            let lines = shell.text("l.csv").lines().count();
            assert_eq!(lines, 1 + json["rows"].as_u64().unwrap() as usize, "{name} {file}");
            assert!(!shell.text("l.csv").contains("NaN"), "{name} {file}");
        }
    }
}

#[test]
fn labels_do_not_depend_on_threads() {
    let shell = gaussians();
    for name in ["submod-s3vm", "linear-da", "linear-tsvm", "da", "tsvm", "label-propagation"] {
        for threads in [1, 2, 4] {
            shell.ok(&format!(
                "label all.svm {SPLIT} --learner {name} --no-compare --threads {threads} -o {threads}.tsv"
            ));
        }
        let one = shell.read("1.tsv");
        assert!(one == shell.read("2.tsv") && one == shell.read("4.tsv"), "{name}");
    }
}

#[test]
fn graph_learners_label_plot_and_tune_two_moons() {
    let shell = Shell::new();
    shell.ok("generate two-moons --rows 120 --noise 0.05 --seed 3 -o d.csv");
    let rows = shell.text("d.csv");
    let class = |name: &str| {
        let of = rows.lines().skip(1).enumerate().filter(|(_, line)| line.ends_with(name));
        of.map(|(i, _)| (i + 1).to_string()).take(6).collect::<Vec<_>>()
    };
    let (minus, plus) = (class(",-1"), class(",1"));
    std::fs::write(shell.path("one"), format!("{} {}\n", minus[0], plus[0])).unwrap();
    std::fs::write(shell.path("six"), format!("{} {}\n", minus.join(" "), plus.join(" "))).unwrap();
    let result = shell.ok(
        "label d.csv --labeled-rows one --learner lapsvm --gamma 4 --set gamma_a=0.01 --set gamma_i=10 --plot d.svg --model m.evm",
    );
    assert!(result.err.contains("right on 118 hidden labels: 100.00 %"), "{}", result.err);
    assert!(shell.text("d.svg").starts_with("<svg"));
    let json = shell.ok("predict m.evm d.csv --json").json();
    assert_eq!(json["accuracy"], 1.0);
    // a learner on the deformed kernel, and graphs from files
    shell.ok("fit d.csv --labeled-rows one --learner svc --c 100 --warp 1000,n_neighbors=8 -o w.evm");
    assert!(shell.ok("predict w.evm d.csv --json").json()["accuracy"].as_f64().unwrap() > 0.95);
    std::fs::write(shell.path("edges"), "1 2\n2 3 0.5\n").unwrap();
    shell.ok("label d.csv --labeled-rows six --learner laprls --graph edges");
    std::fs::write(shell.path("far"), "1 121\n").unwrap();
    let result = shell.run("label d.csv --labeled-rows six --learner laprls --graph far");
    assert!(result.code == 1 && result.err.contains("far:1"), "{}", result.err);
    let result = shell.run("label d.csv --labeled-rows six --learner tsvm --graph edges");
    assert!(result.err.contains("learner tsvm uses no graph"), "{}", result.err);
    let json = shell
        .ok("tune d.csv --labeled-rows six --learner lapsvm --folds 3 --over gamma_i=0,1 --over n_neighbors=4,8 --json")
        .json();
    assert_eq!(json["grid"].as_array().unwrap().len(), 4);
    assert!(json["best"]["n_neighbors"].is_number() && json["best"]["gamma_i"].is_number());
    let result = shell.run("tune d.csv --learner lapsvm --over gama_i=1");
    assert!(result.code == 2 && result.err.contains("has no parameter gama_i"), "{}", result.err);
}

/// Two moons with 15 labels per class, and a graph that joins the rows of each class in a chain.
fn moons_and_chains() -> Shell {
    let shell = Shell::new();
    shell.ok("generate two-moons --rows 120 --noise 0.4 --seed 3 -o d.csv");
    let (mut known, mut edges) = (Vec::new(), Vec::new());
    for class in [",-1", ",1"] {
        let text = shell.text("d.csv");
        let rows = text.lines().skip(1).enumerate().filter(|(_, line)| line.ends_with(class));
        let rows: Vec<usize> = rows.map(|(i, _)| i + 1).collect();
        known.extend(rows[..15].iter().map(usize::to_string));
        edges.extend(rows.windows(2).map(|pair| format!("{} {}", pair[0], pair[1])));
    }
    shell.write("known", &known.join(" "));
    shell.write("edges", &edges.join("\n"));
    shell
}

#[test]
fn tune_scores_equal_cross_validation_of_fit_with_graph_warp_and_ratio() {
    let shell = moons_and_chains();
    // five folds of six labels each, so the mean over folds is the fraction over all labels
    let both = |how: &str, tuned: &str| {
        let how = format!("d.csv --labeled-rows known --gamma 1 {how}");
        let found = shell.ok(&format!("tune {how} --over {tuned} --json")).json();
        let fitted = shell.ok(&format!("fit {how} --set {tuned} --json")).json();
        let [a, b] = [&found["best"]["accuracy"], &fitted["cross_validated"]].map(|v| v.as_f64().unwrap());
        assert!((a - b).abs() < 1e-12, "{how} {tuned}: {a} and {b}");
        a
    };
    for learner in ["lapsvm", "laprls"] {
        // both the path of the learner along gamma_i and refitting
        for how in ["", "--set balance=true"] {
            let plain = both(&format!("--learner {learner} {how}"), "gamma_i=10");
            let chained = both(&format!("--learner {learner} --graph edges {how}"), "gamma_i=10");
            assert!(
                chained > plain + 0.05,
                "{learner} {how}: {chained} with the true graph, {plain} without"
            );
        }
    }
    for learner in ["tsvm", "da"] {
        let plain = both(&format!("--learner {learner}"), "lambda=0.01");
        let warped = both(&format!("--learner {learner} --warp 1000,n_neighbors=4"), "lambda=0.01");
        assert!(warped > plain + 0.05, "{learner}: {plain}, warped {warped}");
    }
    assert!(both("--learner da --ratio 0.05", "lambda=0.01") < both("--learner da", "lambda=0.01"));
}

#[test]
fn tune_refits_with_graph_warp_and_ratio() {
    let shell = moons_and_chains();
    let tune = "tune d.csv --labeled-rows known --learner laprls --gamma 1 --over gamma_i=1,10 --graph edges --ratio 0.4";
    let json = shell.ok(&format!("{tune} -o m.evm --json")).json();
    let command = json["command"].as_str().unwrap().strip_prefix("evermargin ").unwrap();
    shell.ok(&command.replace("m.evm", "again.evm"));
    let decisions = ["m.evm", "again.evm"].map(|model| shell.ok(&format!("predict {model} d.csv")).out);
    assert_eq!(decisions[0], decisions[1]);
    shell.ok("tune d.csv --labeled-rows known --c 10,100 --gamma 0.5,1 --warp 100,n_neighbors=6 -o w.evm");
    assert!(shell.ok("inspect w.evm").out.contains("n_neighbors=6"));
    shell.write("far", "1 121\n");
    for (line, code, result) in [
        (
            "tune d.csv --graph edges",
            2,
            "parameter graph = given: must be left out: learner svc uses no graph",
        ),
        ("tune d.csv --learner tsvm --graph edges", 2, "learner tsvm uses no graph"),
        ("tune d.csv --learner lapsvm --graph far", 1, "far:1"),
        ("tune d.csv --learner lapsvm --warp 100", 2, "learner lapsvm has its own geometry"),
        ("tune d.csv --learner linear --warp 100", 2, "learner linear has no kernel"),
        ("tune d.csv --ratio 0.3", 2, "--ratio: learner svc does not use rows without a label"),
        ("tune d.csv --learner lapsvm --ratio 0.3 --over ratio=0.1,0.2", 2, "--over ratio: given twice"),
    ] {
        let found = shell.fails(line, code);
        assert!(found.err.contains(result), "{line}: {}", found.err);
    }
}

#[test]
fn a_radius_equals_the_graph_of_all_pairs_within_it() {
    let shell = Shell::new();
    shell.ok("generate two-moons --rows 120 --noise 0.1 --seed 3 -o d.csv");
    let text = shell.text("d.csv");
    let points: Vec<[f64; 2]> = text
        .lines()
        .skip(1)
        .map(|line| {
            let mut cells = line.split(',').map(|cell| cell.parse().unwrap());
            [cells.next().unwrap(), cells.next().unwrap()]
        })
        .collect();
    let mut edges = Vec::new();
    for i in 0..120 {
        for j in (0..i).filter(|&j| (0..2).map(|c| (points[i][c] - points[j][c]).powi(2)).sum::<f64>() < 0.09)
        {
            edges.push(format!("{} {}", i + 1, j + 1));
        }
    }
    shell.write("edges", &edges.join("\n"));
    shell.write("known", &(1..=12).map(|i| i.to_string()).collect::<Vec<_>>().join(" "));
    let label =
        |how: &str| shell.ok(&format!("label d.csv --labeled-rows known --scale none --gamma 4 {how}")).out;
    for learner in ["lapsvm", "laprls", "label-propagation", "sparse-lap"] {
        let near = label(&format!("--learner {learner} --set edge_weights=binary --set radius=0.3"));
        assert_eq!(near, label(&format!("--learner {learner} --graph edges")), "{learner}");
        assert_ne!(near, label(&format!("--learner {learner} --set edge_weights=binary")), "{learner}");
    }
    // the other learners with graphs and the deformed kernel accept a radius, too
    let other = ["colapsvm", "colaprls"].map(|l| format!("--learner {l}"));
    for how in &other {
        assert_ne!(label(how), label(&format!("{how} --set radius=0.2")), "{how}");
    }
    let warped = |how: &str| label(&format!("--learner da --warp 100{how}"));
    assert_ne!(warped(""), warped(",radius=0.2"));
    assert_ne!(warped(""), warped(" --graph edges"));
    for (set, result) in [
        ("radius=-1", "parameter radius = -1: must be a number from 0 on"),
        (
            "radius=0.2 --set search=approximate",
            "parameter search = approximate: must be exact with a radius",
        ),
        ("search=fast", "parameter search = fast: must be one of exact, approximate"),
    ] {
        for learner in ["lapsvm", "label-propagation"] {
            let found =
                shell.run(&format!("label d.csv --labeled-rows known --learner {learner} --set {set}"));
            assert!(found.code != 0 && found.err.contains(result), "{learner} {set}: {}", found.err);
        }
    }
}

#[test]
fn approximate_search_is_close_to_exact_and_independent_of_threads() {
    let shell = Shell::new();
    // smaller data is searched exactly
    shell.ok("generate g50c --rows 4200 --seed 3 -o d.svm");
    shell.write("known", &(1..=20).map(|i| i.to_string()).collect::<Vec<_>>().join(" "));
    let right = |how: &str| {
        let line = format!("label d.svm --labeled-rows known --learner label-propagation --no-compare {how}");
        shell.ok(&format!("{line} -o l.tsv --json")).json()["transductive_accuracy"].as_f64().unwrap()
    };
    let exact = right("");
    let all = shell.text("l.tsv");
    let found = right("--set search=approximate --threads 1");
    let one = shell.text("l.tsv");
    assert!((exact - found).abs() < 0.02 && one != all, "{exact} and {found}");
    right("--set search=approximate --threads 2");
    assert_eq!(one, shell.text("l.tsv"));
}
