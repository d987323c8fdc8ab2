//! A model keeps how its file became features: models of `fit`, `label`, `tune` and `run` read further files alike.

use crate::shell::Shell;
use std::fmt::Write;

/// The commands that write a model from `data`, each with the model's name.
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

/// Every command writes a model that is right about the file, without being told again how to read it.
fn every_model_reads_alike(shell: &Shell, data: &str, new: &str, options: &str) {
    for (line, model) in writers(data, options) {
        shell.ok(&line);
        let json = shell.ok(&format!("predict {model} {new} --json")).json();
        let accuracy = json["accuracy"].as_f64().unwrap_or_else(|| panic!("{line}: no label found: {json}"));
        assert!(accuracy > 0.95, "{line}: {accuracy} of the rows of {new} right");
    }
}

/// Two clouds around ±1; even rows are of the second class.
fn cloud(i: usize) -> (bool, [f64; 2]) {
    let second = i.is_multiple_of(2);
    let wobble = |k: usize| ((i * 7919 + k * 104_729) % 1000) as f64 / 1000.0 - 0.5;
    let side = if second { 1.0 } else { -1.0 };
    (second, [side + wobble(1), side + wobble(2)])
}

#[test]
fn models_keep_that_libsvm_columns_count_from_zero() {
    let shell = Shell::new();
    let mut text = String::new();
    for i in 0..240 {
        let (second, [a, b]) = cloud(i);
        let _ = writeln!(text, "{} 0:{a} 1:{b}", i32::from(second) * 2 - 1);
    }
    shell.write("d.svm", &text);
    // column 0 is missing here, so that the base cannot be told from the file
    let mut new = String::new();
    for i in 240..340 {
        let (second, [_, b]) = cloud(i);
        let _ = writeln!(new, "{} 1:{b}", i32::from(second) * 2 - 1);
    }
    shell.write("new.svm", &new);
    every_model_reads_alike(&shell, "d.svm", "new.svm", "");
}

#[test]
fn models_keep_the_positive_class() {
    let shell = Shell::new();
    let mut text = "a,b,kind\n".to_string();
    for i in 0..240 {
        let (second, [a, b]) = cloud(i);
        let kind = if second { "cat" } else { ["dog", "owl"][i / 2 % 2] };
        let _ = writeln!(text, "{a},{b},{kind}");
    }
    shell.write("d.csv", &text);
    every_model_reads_alike(&shell, "d.csv", "d.csv", "--positive cat");
}

#[test]
fn models_keep_a_label_column_in_the_middle() {
    let shell = Shell::new();
    let mut text = "a,answer,b\n".to_string();
    for i in 0..240 {
        let (second, [a, b]) = cloud(i);
        let _ = writeln!(text, "{a},{},{b}", if second { "yes" } else { "no" });
    }
    shell.write("d.csv", &text);
    every_model_reads_alike(&shell, "d.csv", "d.csv", "--label answer");
}

#[test]
fn models_keep_text_columns() {
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
    every_model_reads_alike(&shell, "d.csv", "d.csv", "--text body --label class");
}

/// Views are for learners of their own, which `run` and `label`'s default are not.
#[test]
fn models_keep_the_files_of_views() {
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
        let said = shell.fails(&format!("predict {model} a.csv --view b.csv --view b.csv"), 2);
        assert!(said.err.contains("trained on 2 files"), "{}", said.err);
    }
}
