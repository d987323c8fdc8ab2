//! Basic use of every command.

use crate::shell::Shell;
use serde_json::Value;

fn keys(json: &Value) -> Vec<&str> {
    json.as_object().expect("object").keys().map(String::as_str).collect()
}

#[test]
fn fit_needs_only_a_file_and_prints_its_choices() {
    let shell = Shell::new();
    shell.write("pets.csv", "weight,legs,kind\n3,4,cat\n4,4,cat\n20,4,dog\n30,4,dog\n5,4,cat\n25,4,dog\n");
    let result = shell.ok("fit pets.csv --label kind");
    assert!(
        result
            .out
            .starts_with("pets.csv: 6 rows, 2 features, 2 classes (cat 3, dog 3)\nsvc, rbf kernel, gamma ")
    );
    assert!(result.out.contains("\nmodel: pets.evm ("), "{}", result.out);
    assert!(result.out.contains("\nnext: evermargin predict pets.evm NEW_DATA\n"), "{}", result.out);
    assert!(result.err.contains("note: scaling: "), "{}", result.err);
    assert_eq!(shell.files(), ["pets.csv", "pets.evm"]);
    shell.write("new.csv", "weight,legs\n2,4\n40,4\n");
    let result = shell.ok("predict pets.evm new.csv --as labels");
    assert_eq!(result.out, "cat\ndog\n");
    assert!(result.err.contains("no labels, so no scores"), "{}", result.err);
}

#[test]
fn fit_json_has_all_keys() {
    let shell = Shell::new();
    shell.ok("generate waveform --rows 90 -o d.svm");
    let json = shell.ok("fit d.svm --json").json();
    for key in [
        "learner",
        "kernel",
        "rows",
        "features",
        "labeled",
        "classes",
        "support_count",
        "kernel_evaluations",
        "objective",
        "gap",
        "steps",
        "exit",
        "seconds",
        "total_seconds",
        "scaling",
        "gamma",
        "c",
        "threads",
    ] {
        assert!(keys(&json).contains(&key), "{key}");
    }
    assert_eq!(
        (&json["learner"], &json["kernel"], &json["exit"]),
        (&"svc".into(), &"rbf".into(), &"converged".into())
    );
    assert_eq!(
        (json["rows"].as_u64(), json["labeled"].as_u64(), json["classes"].as_u64()),
        (Some(90), Some(90), Some(3))
    );
    let seconds = json["seconds"].as_f64().unwrap();
    assert!(seconds > 0.0 && json["total_seconds"].as_f64().unwrap() >= seconds);
}

#[test]
fn predict_json_has_all_keys_with_and_without_labels() {
    let shell = Shell::new();
    shell.ok("generate two-moons --rows 200 -o d.svm");
    shell.ok("fit d.svm -o m.evm");
    let json = shell.ok("predict m.evm d.svm --json").json();
    let scores = ["accuracy", "error", "auc", "pr_auc", "g_means", "prbep", "mcc"];
    for key in scores {
        let score = json[key].as_f64().unwrap_or_else(|| panic!("{key}: {json}"));
        assert!((0.0..=1.0).contains(&score), "{key} {score}");
    }
    assert!(json["accuracy"].as_f64().unwrap() > 0.9);
    assert!((json["accuracy"].as_f64().unwrap() + json["error"].as_f64().unwrap() - 1.0).abs() < 1e-12);
    let bare: Vec<String> =
        shell.text("d.svm").lines().map(|l| format!("? {}", l.split_once(' ').unwrap().1)).collect();
    let bare = bare.join("\n");
    shell.write("bare.svm", &bare);
    let json = shell.ok("predict m.evm bare.svm --json").json();
    assert_eq!(json["rows"], 200);
    for key in scores {
        assert_eq!(json[key], Value::Null, "{key}");
    }
    assert!(json["seconds"].as_f64().is_some() && json["total_seconds"].as_f64().is_some());
    assert_eq!(shell.files(), ["bare.svm", "d.svm", "m.evm"], "no other files are written");
}

#[test]
fn predictions_are_a_table_with_a_header() {
    let shell = Shell::new();
    shell.ok("generate waveform --rows 60 -o d.svm");
    shell.ok("fit d.svm -o m.evm --probability sigmoid");
    shell.ok("predict m.evm d.svm -o p.csv");
    let table = shell.text("p.csv");
    let header = table.lines().next().unwrap();
    assert_eq!(
        header,
        "label,decision:2/1,decision:3/1,decision:3/2,probability:1,probability:2,probability:3"
    );
    assert_eq!(table.lines().count(), 61);
    for line in table.lines().skip(1) {
        let cells: Vec<f64> = line.split(',').map(|c| c.parse().unwrap()).collect();
        assert!((cells[4..7].iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }
    shell.ok("predict m.evm d.svm -o p.tsv");
    assert!(shell.text("p.tsv").starts_with("label\tdecision:2/1\t"));
}

#[test]
fn data_and_models_can_be_piped() {
    let shell = Shell::new();
    let data = shell.ok("generate two-moons --rows 100").out;
    assert_eq!(data.lines().count(), 100);
    let result = shell.run_with("fit - --json", data.as_bytes());
    assert_eq!(result.json()["model"], "model.evm");
    let from_pipe = shell.run_with("predict model.evm - --as labels", data.as_bytes());
    assert_eq!(from_pipe.code, 0, "{}", from_pipe.err);
    shell.write("d.svm", &data);
    assert_eq!(shell.ok("predict model.evm d.svm --as labels").out, from_pipe.out);
    let piped = shell.ok("convert model.evm - --to json").out;
    assert!(piped.starts_with('{'));
    let result = shell.run_with("inspect - --json", piped.as_bytes());
    assert_eq!(result.json()["learner"], "svc");
}

#[test]
fn a_closed_output_pipe_is_not_an_error() {
    use std::process::{Command, Stdio};
    let shell = Shell::new();
    let mut child = Command::new(env!("CARGO_BIN_EXE_evermargin"))
        .args(["generate", "two-moons", "--rows", "100000"])
        .current_dir(shell.path(""))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn tune_finds_plots_and_refits() {
    let shell = Shell::new();
    shell.ok("generate two-moons --rows 150 --noise 0.2 -o d.csv");
    let result = shell.ok("tune --c 0.1..10 d.csv --gamma=0.1,1,10 --class-weight 1=2 --grid 3 --rows 1..120 --plot t.svg -o m.evm");
    assert!(result.out.contains("accuracy in %, C down, gamma across"), "{}", result.out);
    assert!(
        result.out.contains("\nthe same by hand: evermargin fit d.csv --class-weight 1=2 --rows 1..120 --c "),
        "{}",
        result.out
    );
    assert!(shell.text("t.svg").starts_with("<svg"));
    let command = result.out.lines().last().unwrap().strip_prefix("the same by hand: evermargin ").unwrap();
    let model = shell.read("m.evm");
    shell.ok(command);
    assert_eq!(shell.read("m.evm"), model, "the printed command gives the same model");

    let json = shell.ok("tune d.csv --c 0.1..10 --gamma 0.1,1,10 --grid 3 --plot t.html --json").json();
    assert_eq!(json["grid"].as_array().unwrap().len(), 9);
    let best = json["best"]["accuracy"].as_f64().unwrap();
    let grid = json["grid"].as_array().unwrap();
    assert!(grid.iter().all(|p| p["accuracy"].as_f64().unwrap() <= best + 1e-12));
    assert!(json["best"]["standard_error"].as_f64().unwrap() >= 0.0);
    assert!(shell.text("t.html").starts_with("<!doctype html>"));
    for learner in ["linear", "rls --kernel linear"] {
        let json = shell.ok(&format!("tune d.csv --learner {learner} --c 1,10 --json")).json();
        assert_eq!(json["grid"].as_array().unwrap().len(), 2);
        assert_eq!(json["best"]["gamma"], Value::Null);
    }
}

#[test]
fn positive_makes_one_class_against_the_rest() {
    let shell = Shell::new();
    shell.ok("generate waveform --rows 150 -o d.svm");
    let json = shell.ok("fit d.svm --positive 2 -o m.evm --json").json();
    assert_eq!(json["class_names"], serde_json::json!(["not-2", "2"]));
    // the labels of the data are still 1, 2 and 3
    let json = shell.ok("predict m.evm d.svm --json").json();
    assert!(json["accuracy"].as_f64().unwrap() > 0.8 && json["auc"].as_f64().unwrap() > 0.8, "{json}");
}

#[test]
fn splits_row_ranges_and_weights_select_rows() {
    let shell = Shell::new();
    shell.ok("generate two-moons --rows 50 -o d.svm");
    shell.write("splits", "1 2 3 4 5 6 7 8 9 10\n11,12,13,14,15,16,17,18,19,20,21,22\n");
    let json = shell.ok("fit d.svm -o m.evm --labeled-rows splits --split 2 --json").json();
    assert_eq!((json["rows"].as_u64(), json["labeled"].as_u64()), (Some(50), Some(12)));
    let json = shell.ok("fit d.svm -o m.evm --rows 11..40 --json").json();
    assert_eq!(json["rows"], 30);
    let weights: String = (0..50).map(|i| if i < 10 { "0\n" } else { "1\n" }).collect();
    shell.write("w", &weights);
    shell.ok("fit d.svm -o a.evm --weights w --scale none --gamma 1");
    shell.ok("fit d.svm -o b.evm --rows 11.. --scale none --gamma 1");
    shell.ok("predict a.evm d.svm -o a.tsv");
    shell.ok("predict b.evm d.svm -o b.tsv");
    // weight 0 equals a missing row, up to the tolerance of the solver
    let decisions = |name: &str| -> Vec<f64> {
        shell.text(name).lines().skip(1).map(|l| l.split('\t').nth(1).unwrap().parse().unwrap()).collect()
    };
    let (a, b) = (decisions("a.tsv"), decisions("b.tsv"));
    assert!(a.len() == 50 && a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-3));
}

#[test]
fn narrower_and_wider_sparse_files_are_accepted() {
    let shell = Shell::new();
    shell.write("train.svm", "1 1:1 3:1\n-1 2:1 3:1\n1 1:0.9 3:1\n-1 2:0.9 3:1\n");
    shell.ok("fit train.svm -o m.evm --kernel linear");
    shell.write("test.svm", "1 1:1\n-1 2:1 7:5\n");
    let result = shell.ok("predict m.evm test.svm --as labels");
    assert_eq!(result.out, "1\n-1\n");
    assert!(result.err.contains("note: columns past the 3 of the model were left out"), "{}", result.err);
}

#[test]
fn inspect_describes_a_model() {
    let shell = Shell::new();
    shell.ok("generate two-moons --rows 80 -o d.csv");
    shell.ok("fit d.csv -o m.evm --probability isotonic --gamma 0.5 --c 2");
    let page = shell.ok("inspect m.evm").out;
    for part in
        ["learner         svc", "gamma 0.5", "f > 0 means 1", "rbf: exp(-0.5·|x - z|²)", "isotonic", "x1, x2"]
    {
        assert!(page.contains(part), "{part}\n{page}");
    }
    let json = shell.ok("inspect m.evm --json").json();
    assert_eq!(json["calibration"], "isotonic");
    assert_eq!(json["features"], 2);
}

#[test]
fn generate_lists_generators_and_follows_the_seed() {
    let shell = Shell::new();
    assert!(shell.ok("generate list").out.contains("two-moons"));
    let a = shell.ok("generate two-moons --rows 20 --seed 5").out;
    assert_eq!(a, shell.ok("generate two-moons --rows 20 --seed 5").out);
    assert_ne!(a, shell.ok("generate two-moons --rows 20 --seed 6").out);
    let json = shell.ok("generate two-moons --rows 20 -o x.csv --json").json();
    assert_eq!((json["rows"].as_u64(), json["features"].as_u64()), (Some(20), Some(2)));
}

#[test]
fn demo_writes_plots() {
    let shell = Shell::new();
    let result = shell.ok("demo");
    assert!(result.out.contains("labels queried"), "{}", result.out);
    let page = shell.text("evermargin-demo.html");
    assert!(page.matches("<svg").count() >= 7 && page.contains("random queries"));
    let json = shell.ok("demo --json -o d.svg").json();
    assert!(shell.text("d.svg").starts_with("<svg"));
    assert_eq!(json["rows"], 30_000);
    assert!(json["prequential_accuracy"].as_f64().unwrap() > 0.9, "{json}");
}

#[test]
fn quiet_prints_nothing() {
    let shell = Shell::new();
    shell.ok("generate two-moons --rows 30 -o d.svm --quiet");
    let result = shell.ok("fit d.svm --quiet");
    assert_eq!((result.out.as_str(), result.err.as_str()), ("", ""));
}

#[test]
fn the_printed_tune_command_keeps_a_leading_seed() {
    let shell = Shell::new();
    shell.ok("generate two-moons --rows 40 -o d.svm");
    let json = shell.ok("--seed 7 tune d.svm --c 1,2 --gamma 1 --json").json();
    let command = json["command"].as_str().unwrap();
    assert!(command.starts_with("evermargin fit --seed 7 d.svm "), "{command}");
}
