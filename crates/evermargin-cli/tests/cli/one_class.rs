//! `one-class` from file to prediction: the meaning of labels, and refused options.

use crate::shell::Shell;

/// Two moons as `moons.csv`, and without their labels as `rows.csv`.
fn moons(shell: &Shell) {
    shell.ok("generate two-moons --rows 300 --noise 0.1 -o moons.csv");
    let unlabeled: Vec<String> =
        shell.text("moons.csv").lines().map(|l| l.rsplit_once(',').unwrap().0.to_string()).collect();
    shell.write("rows.csv", &(unlabeled.join("\n") + "\n"));
}

fn count_outside(table: &str) -> usize {
    table.lines().filter(|l| l.starts_with("outside\t")).count()
}

#[test]
fn learns_and_predicts_a_table_without_labels() {
    let shell = Shell::new();
    moons(&shell);
    let output =
        shell.ok("fit rows.csv --label none --learner one-class --set nu=0.1 -o m.evm --json").json();
    assert_eq!((output["features"].as_u64(), output["labeled"].as_u64()), (Some(2), Some(300)), "{output}");
    assert_eq!(output["class_names"], serde_json::json!(["outside", "inside"]));
    assert!(output["support_count"].as_u64().unwrap() >= 30 && output["exit"] == "converged", "{output}");
    shell.ok("predict m.evm rows.csv -o p.tsv");
    let count = count_outside(&shell.text("p.tsv"));
    assert!((10..=30).contains(&count), "{count}");
    // distant rows are outside, with or without a header
    shell.write("far.csv", "x1,x2\n90,90\n-5,80\n");
    shell.ok("predict m.evm far.csv -o far.tsv");
    assert_eq!(count_outside(&shell.text("far.tsv")), 2);
    let output = shell.ok("fit rows.csv --label none --learner one-class --set nu=0.1 -o m.evm");
    assert!(output.out.contains("one-class, rbf kernel") && output.out.contains("nu 0.1"), "{}", output.out);
    assert!(
        output.out.contains("evermargin predict m.evm rows.csv    lists the rows outside"),
        "{}",
        output.out
    );
    assert!(output.err.contains("no label: all 2 columns are features"), "{}", output.err);
}

#[test]
fn one_of_several_classes_is_scored_against_the_others() {
    let shell = Shell::new();
    moons(&shell);
    shell.ok("fit moons.csv --positive 1 --learner one-class --set nu=0.05 --gamma 5 -o m.evm");
    let scores = shell.ok("predict m.evm moons.csv --json").json();
    assert!(
        scores["auc"].as_f64().unwrap() > 0.95 && scores["accuracy"].as_f64().unwrap() > 0.85,
        "{scores}"
    );
    // a single class: the model stores its name, and other names count as outside
    let moons = shell.text("moons.csv");
    let one: Vec<&str> = moons.lines().filter(|l| !l.ends_with("-1")).collect();
    shell.write("one.csv", &(one.join("\n") + "\n"));
    shell.ok("fit one.csv --learner one-class --set nu=0.05 --gamma 5 -o one.evm --scale none");
    let again = shell.ok("predict one.evm moons.csv --json").json();
    assert!(again["auc"].as_f64().unwrap() > 0.95, "{again}");
    assert!(shell.ok("inspect one.evm").out.contains("not-1"));
}

#[test]
fn label_none_ignores_labels_of_the_data() {
    let shell = Shell::new();
    shell.ok("generate waveform --rows 100 -o d.svm");
    let output = shell.ok("fit d.svm --label none --learner one-class -o m.evm --json").json();
    assert_eq!(output["class_counts"], serde_json::json!([0, 100]));
    shell.write("d.jsonl", "{\"a\": 1, \"b\": 2}\n{\"a\": 1.5, \"b\": 2}\n{\"a\": 1, \"b\": 2.5}\n");
    let output = shell.ok("fit d.jsonl --label none --learner one-class -o j.evm --json").json();
    assert_eq!((output["features"].as_u64(), output["rows"].as_u64()), (Some(2), Some(3)), "{output}");
}

#[test]
fn refuses_unsupported_options_with_a_remedy() {
    let shell = Shell::new();
    moons(&shell);
    shell.ok("generate waveform --rows 60 -o waves.csv");
    shell.write("holes.csv", "a,b\n1,2\n,3\n4,5\n");
    for (words, code, text) in [
        (
            "fit rows.csv --learner one-class --label none --set nu=0",
            2,
            "parameter nu = 0: must be a number above 0, at most 1",
        ),
        ("fit rows.csv --learner one-class --label none --set nu=1.5", 2, "parameter nu = 1.5"),
        (
            "fit waves.csv --learner one-class",
            1,
            "waves.csv: 3 classes, but this learner learns one; name it with --positive (such as ",
        ),
        (
            "fit holes.csv --learner one-class --label none",
            1,
            "holes.csv:3: column 'a': the value is missing",
        ),
        (
            "fit rows.csv --learner one-class --label none --probability sigmoid",
            2,
            "one-class learns from one class",
        ),
        (
            "fit rows.csv --learner one-class --label none --kernel linear --scale standard",
            1,
            "use the rbf kernel",
        ),
        ("fit rows.csv --learner one-class --label none --c 3", 2, "learner one-class has no parameter c"),
        ("tune moons.csv --learner one-class", 2, "tune compares accuracies on held-out rows of two classes"),
        ("label moons.csv --learner one-class", 2, "it learns the region of one class and gives no labels"),
    ] {
        let output = shell.run(words);
        assert!(output.code == code && output.err.contains(text), "{words}: {} {}", output.code, output.err);
    }
}

#[test]
fn labels_files_are_used_and_unknown_classes_are_not_scored() {
    let shell = Shell::new();
    moons(&shell);
    let labels: Vec<String> =
        shell.text("moons.csv").lines().skip(1).map(|l| l.rsplit_once(',').unwrap().1.to_string()).collect();
    shell.write("labels.txt", &(labels.join("\n") + "\n"));
    let output = shell.ok("fit rows.csv --label none --labels labels.txt -o s.evm --json").json();
    assert_eq!((output["features"].as_u64(), output["labeled"].as_u64()), (Some(2), Some(300)), "{output}");
    shell.ok("fit rows.csv --label none --learner one-class -o m.evm");
    let output = shell.ok("predict m.evm moons.csv --json").json();
    assert!(output["accuracy"].is_null(), "{output}");
}
