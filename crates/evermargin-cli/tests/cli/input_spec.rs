//! Models store how files become features, so models of `fit`, `label`, `tune` and `run` read further files in the same
//! way.

use crate::shell::Shell;
use std::fmt::Write;

/// Commands that write a model from `data`, each with the file name of its model.
fn writers(data: &str, options: &str) -> [(String, &'static str); 4] {
    [
        (format!("fit {data} -o fit.evm {options}"), "fit.evm"),
        (format!("tune {data} -o tune.evm --over c=1,10 --folds 3 {options}"), "tune.evm"),
        (
            format!("label {data} --learner linear-tsvm --model label.evm -o labels.tsv {options}"),
            "label.evm",
        ),
        (format!("run {data} --batch 60 --oracle none --model run.evm {options}"), "run.evm"),
    ]
}

/// Every command writes a model that predicts the file correctly without reading options. All models have the same
/// classes in the same order and the same sign on rows with large decisions.
fn check_models_of_all_commands(shell: &Shell, data: &str, new: &str, options: &str) {
    let models = writers(data, options).map(|(line, model)| {
        shell.ok(&line);
        let json = shell.ok(&format!("predict {model} {new} -o {model}.tsv --json")).json();
        let accuracy = json["accuracy"].as_f64().unwrap_or_else(|| panic!("{line}: no label found: {json}"));
        let scores = ["auc", "pr_auc"].map(|name| json[name].as_f64().unwrap_or(1.0));
        let classes = shell.ok(&format!("inspect {model} --json")).json()["class_names"].clone();
        let table = shell.text(&format!("{model}.tsv"));
        let decisions: Vec<f64> = table
            .lines()
            .skip(1)
            .map(|row| row.split('\t').nth(1).and_then(|f| f.parse().ok()).expect("a decision value"))
            .collect();
        (line, classes, decisions, accuracy, scores)
    });
    let [(_, classes, decisions, accuracy, scores), others @ ..] = &models;
    assert!(*accuracy > 0.95 && decisions.len() >= 100, "{accuracy} of {} rows right", decisions.len());
    for (line, other_classes, other_decisions, other_accuracy, other_scores) in others {
        assert_eq!(other_classes, classes, "{line}: the order of the classes differs from fit's");
        assert!((other_accuracy - accuracy).abs() < 0.04, "{line}: {other_accuracy}, fit {accuracy}");
        for (score, other) in scores.iter().zip(other_scores) {
            assert!((score - other).abs() < 0.04, "{line}: {other_scores:?}, fit {scores:?}");
        }
        let clear = decisions.iter().zip(other_decisions).filter(|(f, g)| f.abs() > 0.5 && g.abs() > 0.5);
        let signs: Vec<bool> = clear.map(|(f, g)| (*f > 0.0) == (*g > 0.0)).collect();
        let same = signs.iter().filter(|same| **same).count();
        assert!(signs.len() >= 50 && same == signs.len(), "{line}: {same} of {} signs as fit's", signs.len());
    }
}

/// Two clouds around ±1; rows with even numbers are of the second class.
fn cloud(i: usize) -> (bool, [f64; 2]) {
    let second = i.is_multiple_of(2);
    let wobble = |k: usize| ((i * 7919 + k * 104_729) % 1000) as f64 / 1000.0 - 0.5;
    let side = if second { 1.0 } else { -1.0 };
    (second, [side + wobble(1), side + wobble(2)])
}

#[test]
fn models_store_the_index_base_of_libsvm_text() {
    let shell = Shell::new();
    let mut text = String::new();
    for i in 0..240 {
        let (second, [a, b]) = cloud(i);
        let _ = writeln!(text, "{} 0:{a} 1:{b}", i32::from(second) * 2 - 1);
    }
    shell.write("d.svm", &text);
    // column 0 is missing here, so the index base cannot be detected from the file
    let mut new = String::new();
    for i in 240..340 {
        let (second, [_, b]) = cloud(i);
        let _ = writeln!(new, "{} 1:{b}", i32::from(second) * 2 - 1);
    }
    shell.write("new.svm", &new);
    check_models_of_all_commands(&shell, "d.svm", "new.svm", "");
}

#[test]
fn models_store_the_positive_class() {
    let shell = Shell::new();
    let mut text = "a,b,kind\n".to_string();
    for i in 0..240 {
        let (second, [a, b]) = cloud(i);
        let kind = if second { "cat" } else { ["dog", "owl"][i / 2 % 2] };
        let _ = writeln!(text, "{a},{b},{kind}");
    }
    shell.write("d.csv", &text);
    check_models_of_all_commands(&shell, "d.csv", "d.csv", "--positive cat");
}

/// In byte order "2" is before "not-2" and "zebra" after "not-zebra": name order must not determine the positive class.
#[test]
fn the_positive_class_is_second_for_any_name() {
    for name in ["2", "zebra", "a.b", "-1"] {
        let shell = Shell::new();
        let mut text = String::new();
        let mut table = "a,kind,b\n".to_string();
        for i in 0..240 {
            let (second, [a, b]) = cloud(i);
            let number = if second { name } else { ["1", "3"][i / 2 % 2] };
            let _ = writeln!(text, "{number} 0:{a} 1:{b}");
            let kind = if second { name } else { ["cat", "owl"][i / 2 % 2] };
            let _ = writeln!(table, "{a},{kind},{b}");
        }
        if name == "2" {
            shell.write("d.svm", &text);
            check_models_of_all_commands(&shell, "d.svm", "d.svm", "--positive 2");
        }
        shell.write("d.csv", &table);
        check_models_of_all_commands(&shell, "d.csv", "d.csv", &format!("--label kind --positive {name}"));
    }
}

#[test]
fn the_positive_class_is_second_in_models_of_text() {
    let shell = Shell::new();
    let mut text = "body,class\n".to_string();
    for i in 0..240_usize {
        let topics = ["invoice payment overdue", "holiday beach photos", "goal match league"];
        let k = if i.is_multiple_of(2) { 0 } else { 1 + i / 2 % 2 };
        let _ = writeln!(text, "w{} {} w{},{}", i * 31 % 40, topics[k], i * 17 % 40, ["a", "b", "c"][k]);
    }
    shell.write("d.csv", &text);
    check_models_of_all_commands(&shell, "d.csv", "d.csv", "--text body --label class --positive a");
}

#[test]
fn models_store_the_label_column() {
    let shell = Shell::new();
    let mut text = "a,answer,b\n".to_string();
    for i in 0..240 {
        let (second, [a, b]) = cloud(i);
        let _ = writeln!(text, "{a},{},{b}", if second { "yes" } else { "no" });
    }
    shell.write("d.csv", &text);
    check_models_of_all_commands(&shell, "d.csv", "d.csv", "--label answer");
}

#[test]
fn models_store_text_columns() {
    let shell = Shell::new();
    let mut text = "body,class\n".to_string();
    for i in 0..240 {
        let word = |k: usize| format!("w{}", (i * 31 + k * 17) % 40);
        let topic = if i.is_multiple_of(2) { "invoice payment overdue" } else { "holiday beach photos" };
        let _ = writeln!(
            text,
            "{} {topic} {},{}",
            word(1),
            word(2),
            if i.is_multiple_of(2) { "work" } else { "play" }
        );
    }
    shell.write("d.csv", &text);
    check_models_of_all_commands(&shell, "d.csv", "d.csv", "--text body --label class");
}

/// Only multi-view learners support views, so `run` and the default of `label` are left out.
#[test]
fn models_store_the_files_of_views() {
    let shell = Shell::new();
    let (mut first, mut second) = ("a,label\n".to_string(), "b\n".to_string());
    for i in 0..120 {
        let (positive, [a, b]) = cloud(i);
        let label = if i < 40 { if positive { "p" } else { "n" } } else { "?" };
        let _ = writeln!(first, "{a},{label}");
        let _ = writeln!(second, "{b}");
    }
    shell.write("a.csv", &first);
    shell.write("b.csv", &second);
    let options = "--learner corls --view b.csv";
    for (line, model) in [
        (format!("fit a.csv -o fit.evm {options}"), "fit.evm"),
        (format!("tune a.csv -o tune.evm --over gamma_c=0.1,1 --folds 3 {options}"), "tune.evm"),
        (format!("label a.csv --model label.evm -o labels.tsv {options}"), "label.evm"),
    ] {
        shell.ok(&line);
        let json = shell.ok(&format!("predict {model} a.csv --view b.csv --json")).json();
        assert!(json["accuracy"].as_f64().unwrap() > 0.95, "{line}: {json}");
        let output = shell.fails(&format!("predict {model} a.csv --view b.csv --view b.csv"), 2);
        assert!(output.err.contains("trained on 2 files"), "{}", output.err);
    }
}
