//! Online learners: label budgets, curves, states, suspects.

use crate::shell::Shell;
use evermargin::Labels;
use evermargin::pipeline::partial_fit::{OnlineCheckpoint, PartialFitOptions, partial_fit};
use evermargin::pipeline::train::{TrainOptions, train};
use evermargin_io::artifacts::{model, state};
use evermargin_io::{ReadOptions, read};
use serde_json::Value;
use std::collections::BTreeSet;

const ONLINE: [&str; 6] = ["lasvm", "lasvm-g", "lasvm-nc", "lasvm-i", "full-svm", "local-svc"];

#[test]
fn json_of_online_learners_has_all_keys() {
    let shell = Shell::new();
    shell.ok("generate two-moons --rows 300 -o d.svm");
    for learner in ONLINE {
        let json = shell.ok(&format!("fit d.svm -o m.evm --learner {learner} --json")).json();
        for key in [
            "labels_used",
            "samples_seen",
            "process_steps",
            "reprocess_steps",
            "spare_evaluations",
            "support_negative",
            "support_positive",
            "virtual_points",
            "virtual_support",
        ] {
            assert!(json[key].is_u64(), "{learner} {key}: {json}");
        }
        assert_eq!((&json["labels_used"], &json["samples_seen"]), (&300.into(), &300.into()));
        assert_eq!(json["stopped"], "exhausted");
        for key in ["admitted", "dropped"] {
            assert!(["left", "slope", "right"].iter().all(|at| json[key][at].is_u64()), "{learner} {json}");
        }
    }
    let json = shell.ok("fit d.svm -o m.evm --json").json();
    assert_eq!(json["labels_used"], Value::Null, "svc is not an online learner");
    let output = shell.ok("fit d.svm -o m.evm --learner lasvm");
    assert!(output.out.contains("\nused 300 labels: every sample was used\n"), "{}", output.out);
}

#[test]
fn the_label_budget_is_never_exceeded() {
    let shell = Shell::new();
    shell.ok("generate two-moons --rows 2000 --noise 0.2 -o d.svm");
    shell.ok("generate waveform --rows 600 -o three.svm");
    for data in ["d.svm", "three.svm"] {
        for select in ["random", "active", "auto-active", "gradient"] {
            let line = format!("fit {data} -o m.evm --learner lasvm --select {select} --labels-budget 50");
            let json = shell.ok(&format!("{line} --stop never --json")).json();
            assert!(json["labels_used"].as_u64().unwrap() <= 50, "{select}: {json}");
            assert!(json["samples_seen"].as_u64().unwrap() <= 50, "{select}: {json}");
            assert_eq!(json["stopped"], "budget", "{select}");
        }
    }
    // at random the whole budget is used, because no rule stops earlier
    let json = shell.ok("fit d.svm -o m.evm --learner lasvm --labels-budget 700 --json").json();
    assert_eq!((&json["labels_used"], &json["stopped"]), (&700.into(), &"budget".into()));
    let output =
        shell.ok("fit d.svm -o m.evm --learner lasvm --select active --labels-budget 50 --stop never");
    assert!(output.out.contains("\nused 50 labels: the budget of labels is spent\n"), "{}", output.out);
    let json = shell.ok("fit d.svm -o m.evm --learner lasvm --select active --pool auto:0.05,0.05 --json");
    let plain = shell.ok("fit d.svm -o m.evm --learner lasvm --select active --pool 59 --json");
    assert_eq!(json.json()["objective"], plain.json()["objective"]);
    assert_eq!(json.json()["stopped"], "margin");
    assert!(json.json()["labels_used"].as_u64().unwrap() < 1000);
}

#[test]
fn more_epochs_see_more_samples() {
    let shell = Shell::new();
    shell.ok("generate two-moons --rows 200 --noise 0.3 -o d.svm");
    let seen = |options: &str| {
        let json = shell.ok(&format!("fit d.svm -o m.evm --learner lasvm {options} --json")).json();
        json["samples_seen"].as_u64().unwrap()
    };
    assert!(seen("--epochs 3") > seen("") && seen("") == 200);
}

#[test]
fn the_learning_curve_is_written() {
    let shell = Shell::new();
    shell.ok("generate two-moons --rows 800 --noise 0.2 -o d.svm");
    shell.ok("generate two-moons --rows 500 --noise 0.2 --seed 9 -o t.svm");
    let fit = "fit d.svm -o m.evm --learner lasvm --select active --stop never --labels-budget 200";
    shell.ok(&format!("{fit} --curve c.tsv"));
    shell.ok(&format!("{fit} --curve t.tsv --test t.svm"));
    let rows = |name: &str| -> Vec<Vec<f64>> {
        let text = shell.text(name);
        assert!(text.starts_with("labels\tlearned\tsupport_count\taccuracy\tg_means\n"), "{text}");
        text.lines().skip(1).map(|l| l.split('\t').map(|c| c.parse().unwrap()).collect()).collect()
    };
    let (own, test) = (rows("c.tsv"), rows("t.tsv"));
    assert!(own.len() > 5 && own.len() == test.len());
    assert!(own.windows(2).all(|w| w[0][0] <= w[1][0]) && own.last().unwrap()[0] <= 200.0);
    let last = test.last().unwrap();
    assert!(own.iter().zip(&test).all(|(a, b)| a[..3] == b[..3]) && own != test);
    let json = shell.ok("predict m.evm t.svm --json").json();
    assert_eq!((last[3], last[4]), (json["accuracy"].as_f64().unwrap(), json["g_means"].as_f64().unwrap()));
    let output = shell.run("fit d.svm -o m.evm --curve c.tsv");
    assert_eq!(output.code, 2);
    assert!(
        output.err.contains("--curve: learner svc does not have this option; --learner lasvm"),
        "{}",
        output.err
    );
}

/// A data set in two files: the first rows and the others.
fn write_two_files(shell: &Shell) {
    shell.ok("generate waveform --rows 600 --seed 4 -o d.svm");
    let text = shell.text("d.svm");
    let lines: Vec<&str> = text.lines().collect();
    shell.write("monday.svm", &(lines[..300].join("\n") + "\n"));
    shell.write("tuesday.svm", &(lines[300..].join("\n") + "\n"));
}

#[test]
fn resume_is_bit_identical_to_partial_fit() {
    let shell = Shell::new();
    write_two_files(&shell);
    for learner in ONLINE {
        let fit =
            format!("fit monday.svm --learner {learner} --c 2 --gamma 0.05 --scale standard --state s.evs");
        shell.ok(&format!("{fit} -o a.evm"));
        let first = shell.read("s.evs");
        let line = "fit tuesday.svm --resume s.evs --state t.evs -o b.evm --seed 7 --threads";
        let json = shell.ok(&format!("{line} 1 --json")).json();
        assert_eq!((&json["samples_seen"], &json["labels_used"]), (&600.into(), &300.into()), "{learner}");
        assert_eq!(json["learner"], learner);
        let (model, state) = (shell.read("b.evm"), shell.read("t.evs"));
        shell.ok(&format!("{line} 2"));
        assert_eq!((shell.read("b.evm"), shell.read("t.evs")), (model.clone(), state.clone()), "{learner}");
        assert_eq!(shell.read("s.evs"), first, "the state that was read is as it was");

        let load = |name: &str| read(shell.path(name), &ReadOptions::default()).unwrap();
        let (monday, tuesday) = (load("monday.svm"), load("tuesday.svm"));
        let mut options = TrainOptions::new(learner);
        options.params.insert("c".into(), 2.0.into());
        options.gamma = Some(evermargin::pipeline::train::Gamma::Value(0.05));
        options.scaling =
            Some(evermargin::pipeline::train::ScalingChoice::Named(evermargin::model::ScalingName::Standard));
        let input = monday.input_spec();
        let mut trained = train(monday.x, &monday.labels, &options, &()).unwrap();
        trained.classifier.set_input(input);
        let online = trained.online.unwrap();
        let kept = OnlineCheckpoint::new(&trained.classifier, &online, &trained.counts);
        assert_eq!(state::to_bytes(&kept).unwrap(), first, "{learner}");
        let how = PartialFitOptions { seed: 7, ..PartialFitOptions::default() };
        let (trained, next) = partial_fit(&kept, tuesday.x, &tuesday.labels, how, &()).unwrap();
        assert_eq!(model::to_bytes(&trained.classifier).unwrap(), model, "{learner}");
        assert_eq!(state::to_bytes(&next).unwrap(), state, "{learner}");
    }
}

#[test]
fn resuming_with_more_data_improves_accuracy() {
    let shell = Shell::new();
    write_two_files(&shell);
    shell.ok("generate waveform --rows 1000 --seed 5 -o t.svm");
    shell.ok("fit monday.svm --rows 1..40 --learner lasvm --state s.evs -o m.evm");
    let accuracy = || shell.ok("predict m.evm t.svm --json").json()["accuracy"].as_f64().unwrap();
    let before = accuracy();
    let output = shell.ok("fit tuesday.svm --resume s.evs --state s.evs -o m.evm --learner lasvm");
    assert!(
        output.out.contains("fit MORE_DATA --resume s.evs --state s.evs    continues training"),
        "{}",
        output.out
    );
    assert!(accuracy() > before + 0.01, "{before} then {}", accuracy());
    // the order of new rows depends on the seed
    let model = |seed: u32| {
        let output = shell.ok(&format!("fit monday.svm --resume s.evs -o x.evm --seed {seed}"));
        assert!(output.err.contains("note: no state was written"), "{}", output.err);
        shell.read("x.evm")
    };
    assert!(model(1) == model(1) && model(1) != model(2));
}

#[test]
fn interrupted_training_can_be_resumed() {
    let shell = Shell::new();
    write_two_files(&shell);
    for learner in ONLINE {
        shell.ok(&format!("fit monday.svm --learner {learner} --max-seconds 0 --state s.evs -o m.evm"));
        let json = shell.ok("fit tuesday.svm --resume s.evs --state s.evs -o m.evm --json").json();
        assert_eq!((&json["samples_seen"], &json["exit"]), (&300.into(), &"converged".into()), "{learner}");
        let line = "fit monday.svm --resume s.evs --state s.evs -o m.evm --max-seconds 0 --json";
        let json = shell.ok(line).json();
        assert_eq!((&json["labels_used"], &json["stopped"]), (&0.into(), &"interrupted".into()), "{learner}");
        assert!(shell.ok("predict m.evm d.svm --json").json()["accuracy"].as_f64().unwrap() > 0.75);
    }
}

#[test]
fn tables_and_single_class_files_can_resume_a_state() {
    let shell = Shell::new();
    let rows = |n: usize, seed: usize, classes: &[&str]| -> String {
        let row = |i: usize| {
            let kind = classes[i % classes.len()];
            let coat = ["long", "short"][(i * 7 + seed) % 2];
            let weight = if kind == "dog" { 20 } else { 4 } + (i * seed) % 5;
            format!("{weight},{coat},{kind}\n")
        };
        format!("weight,coat,kind\n{}", (0..n).map(row).collect::<String>())
    };
    shell.write("a.csv", &rows(60, 3, &["cat", "dog", "eel"]));
    shell.write("b.csv", &rows(20, 5, &["dog"]));
    shell.ok("fit a.csv --label kind --positive dog --learner lasvm-g --state s.evs -o a.evm");
    let json = shell.ok("fit b.csv --resume s.evs -o b.evm --json").json();
    assert_eq!((&json["samples_seen"], &json["class_names"][1]), (&80.into(), &"dog".into()));
    assert_eq!(shell.ok("predict b.evm a.csv --json").json()["accuracy"], 1.0);
    let output = shell.run("fit b.csv --resume s.evs -o b.evm --positive cat");
    assert!(output.code != 0, "{}", output.out);
}

#[test]
fn refuses_options_that_contradict_a_state() {
    let shell = Shell::new();
    write_two_files(&shell);
    shell.ok("fit monday.svm --learner lasvm --c 2 --scale standard --state s.evs -o m.evm");
    let before = shell.files();
    for (options, why) in [
        ("--learner lasvm-g", "--learner lasvm-g: the state has lasvm;"),
        ("--c 3", "c 3: the state has 2;"),
        ("--gamma scale", "--gamma scale: the state has "),
        ("--kernel linear", "kernel linear: the state has rbf;"),
        ("--scale minmax", "--scale minmax: the state has standard;"),
        ("--class-weight balanced", "--class-weight balanced: the state has none;"),
        ("--multi one-vs-one", "--multi one-vs-one: the state has one-vs-rest;"),
        ("--epochs 2", "epochs 2: the state has 1;"),
        ("--set fit_intercept=true", "learner lasvm has no parameter fit_intercept"),
        ("--select active", "cannot be used with"),
        ("--pool 20", "cannot be used with"),
        ("--labels-budget 20", "cannot be used with"),
        (
            "--set select=active",
            "select: --resume learns every labeled row of DATA and does not choose rows;",
        ),
        ("--set virtual=1", "virtual: --resume learns every labeled row of DATA and does not choose rows;"),
        ("--probability sigmoid", "cannot be used with"),
        ("--threshold f1", "cannot be used with"),
        ("--curve c.tsv", "cannot be used with"),
        ("--state tuesday.svm", "this is an input file"),
        ("--suspects x.evm", "--suspects: x.evm is already the output of --output"),
    ] {
        let output = shell.run(&format!("fit tuesday.svm --resume s.evs -o x.evm {options}"));
        assert!(output.code == 2 && output.err.contains(why), "{options}: {} {}", output.code, output.err);
    }
    // options that agree with the state may be repeated
    shell.ok("fit tuesday.svm --resume s.evs -o m.evm --learner lasvm --c 2 --scale standard --cache-mb 50");
    let text = shell.text("tuesday.svm").replacen("\n3 ", "\n4 ", 1);
    shell.write("new.svm", &text);
    let output = shell.run("fit new.svm --resume s.evs -o x.evm");
    assert_eq!(output.code, 1);
    assert!(output.err.contains("error: new.svm: class 4 is new: the state has 1, 2, 3;"), "{}", output.err);
    std::fs::remove_file(shell.path("new.svm")).unwrap();
    assert_eq!(shell.files(), before, "no partial files");

    let output = shell.run("fit monday.svm -o x.evm --state s2.evs");
    let text = "--state: learner svc cannot be resumed, so it has no state; lasvm, lasvm-g, lasvm-nc, lasvm-i, full-svm, ";
    assert!(output.code == 2 && output.err.contains(text), "{}", output.err);
    let output = shell.run("fit monday.svm -o x.evm --resume m.evm");
    assert!(
        output.code == 1
            && output.err.contains("m.evm: an evermargin model, not the state of an online learner"),
        "{}",
        output.err
    );
    let output = shell.run("predict s.evs monday.svm");
    assert!(
        output.code == 1 && output.err.contains("the state of an online learner, not an evermargin model"),
        "{}",
        output.err
    );
    let whole = shell.read("s.evs");
    std::fs::write(shell.path("cut.evs"), &whole[..whole.len() / 2]).unwrap();
    let output = shell.run("fit monday.svm -o x.evm --resume cut.evs");
    assert!(output.code == 1 && output.err.contains("cut.evs: the file is damaged"), "{}", output.err);
}

/// A state begun with sample selection continues with all rows, which is noted.
#[test]
fn a_state_begun_with_selection_resumes_with_all_rows() {
    let shell = Shell::new();
    write_two_files(&shell);
    shell.ok("fit monday.svm --learner lasvm --select active --labels-budget 40 --state s.evs -o m.evm");
    let output = shell.ok("fit tuesday.svm --resume s.evs -o m.evm");
    assert!(
        output
            .err
            .contains("note: the saved learner selected its samples; this update uses every labeled row"),
        "{}",
        output.err
    );
    let output = shell.run("fit tuesday.svm --resume s.evs -o m.evm --set select=active");
    assert!(output.code == 2 && output.err.contains("does not choose rows"), "{}", output.err);
}

#[test]
fn inspect_shows_states() {
    let shell = Shell::new();
    write_two_files(&shell);
    let fitted = shell.ok("fit monday.svm --learner lasvm --state s.evs -o m.evm --json").json();
    let page = shell.ok("inspect s.evs").out;
    for part in [
        "learner         lasvm",
        "not finished yet; `evermargin fit MORE_DATA --resume` continues",
        " seen, of 1 ",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    let json = shell.ok("inspect s.evs --json").json();
    assert_eq!(json["state"]["samples_seen"], fitted["samples_seen"]);
    assert_eq!(json["class_names"], shell.ok("inspect m.evm --json").json()["class_names"]);
    assert!(shell.ok("inspect m.evm --json").json().get("state").is_none());
    // damage is detected, and the message names a state
    let mut bytes = shell.read("s.evs");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(shell.path("d.evs"), &bytes).unwrap();
    for line in ["inspect d.evs", "fit tuesday.svm --resume d.evs -o x.evm"] {
        let output = shell.run(line);
        let text = "d.evs: the file is damaged: its checksum does not match its contents";
        assert!(output.code == 1 && output.err.contains(text), "{line}: {}", output.err);
    }
}

/// A state of another CPU level is refused, unless forced.
#[test]
fn a_state_of_another_cpu_level_needs_force() {
    use evermargin::cpu::{CpuLevel, cpu_feature_level};
    let shell = Shell::new();
    shell.ok("generate two-moons --rows 60 -o a.svm");
    shell.ok("fit a.svm --learner lasvm --state s.evs -o m.evm");
    let (bytes, here) = (shell.read("s.evs"), cpu_feature_level());
    let other = CpuLevel::ALL.into_iter().find(|level| *level != here).unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header = std::str::from_utf8(&bytes[8..8 + length]).unwrap();
    let header = header.replace(&format!("\"cpu\":\"{here}\""), &format!("\"cpu\":\"{other}\""));
    let mut moved =
        [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &bytes[8 + length..]].concat();
    evermargin_io::artifacts::container::reseal(&mut moved);
    std::fs::write(shell.path("moved.evs"), &moved).unwrap();
    let output = shell.run("fit a.svm --resume moved.evs -o x.evm");
    let text = format!("moved.evs: made at CPU level {other}, but this machine computes at level {here}");
    assert!(
        output.code == 1 && output.err.contains(&text) && output.err.contains("--force"),
        "{}",
        output.err
    );
    shell.ok("fit a.svm --resume moved.evs --force -o x.evm");
    shell.ok("fit a.svm --resume s.evs -o y.evm");
    assert_eq!(shell.read("x.evm"), shell.read("y.evm"));
    shell.ok("inspect moved.evs");
}

fn names(labels: &Labels) -> Vec<&str> {
    labels.of.iter().map(|c| c.map_or("?", |c| labels.classes[c as usize].as_str())).collect()
}

/// Precision and recall of the suspects among rows whose label was flipped.
fn precision_and_recall_of_suspects(shell: &Shell, make: &str, fit: &str) -> (f64, f64) {
    shell.ok(&format!("generate {make} -o right.svm"));
    shell.ok(&format!("generate {make} --flip 0.1 -o wrong.svm"));
    let load = |name: &str| read(shell.path(name), &ReadOptions::default()).unwrap();
    let (right, wrong) = (load("right.svm"), load("wrong.svm"));
    assert_eq!(right.x, wrong.x);
    let pairs = names(&right.labels).into_iter().zip(names(&wrong.labels)).enumerate();
    let flipped: BTreeSet<usize> = pairs.filter(|(_, (a, b))| a != b).map(|(i, _)| i + 1).collect();
    let json = shell.ok(&format!("fit wrong.svm -o m.evm {fit} --suspects s.tsv --json")).json();
    let text = shell.text("s.tsv");
    assert!(text.starts_with("row\tlabel\tpredicted\tmargin\n"), "{text}");
    let lines: Vec<Vec<&str>> = text.lines().skip(1).map(|l| l.split('\t').collect()).collect();
    assert_eq!(json["suspects"].as_u64().unwrap() as usize, lines.len());
    let margins: Vec<f64> = lines.iter().map(|l| l[3].parse().unwrap()).collect();
    assert!(margins.windows(2).all(|w| w[0] <= w[1]) && margins.iter().all(|z| *z < -1.0));
    assert!(lines.iter().all(|l| l[1] != l[2]), "a suspect is predicted otherwise");
    let found: BTreeSet<usize> = lines.iter().map(|l| l[0].parse().unwrap()).collect();
    let hits = found.intersection(&flipped).count() as f64;
    (hits / found.len().max(1) as f64, hits / flipped.len() as f64)
}

#[test]
fn suspects_are_mostly_flipped_labels() {
    let shell = Shell::new();
    for (make, fit) in [
        ("two-moons --rows 2000 --noise 0.1 --seed 3", "--learner lasvm-nc --c 1 --gamma 2"),
        ("two-moons --rows 2000 --noise 0.1 --seed 3", "--learner lasvm-nc --c 10 --gamma 5"),
    ] {
        let (precision, recall) = precision_and_recall_of_suspects(&shell, make, fit);
        eprintln!("{make} {fit}: precision {precision:.3}, recall {recall:.3}");
        assert!(precision > 0.8 && recall > 0.8, "{make}: {precision} {recall}");
    }
}

#[test]
fn suspects_work_for_any_learner_and_part_of_the_rows() {
    let shell = Shell::new();
    shell.ok("generate waveform --rows 300 -o d.svm");
    for options in ["", "--multi one-vs-rest", "--learner linear", "--learner lasvm"] {
        shell.ok(&format!("fit d.svm -o m.evm --rows 101..300 --flip 0.1 --suspects s.tsv {options}"));
        for line in shell.text("s.tsv").lines().skip(1) {
            let row: usize = line.split('\t').next().unwrap().parse().unwrap();
            assert!((101..=300).contains(&row), "{line}");
        }
    }
    shell.ok("generate two-moons --rows 100 --noise 0.01 -o easy.svm");
    shell.ok("fit easy.svm -o m.evm --suspects s.tsv");
    assert_eq!(shell.text("s.tsv"), "row\tlabel\tpredicted\tmargin\n");
}
