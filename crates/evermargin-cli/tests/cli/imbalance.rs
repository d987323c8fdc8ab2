//! Classes of unequal size, wrong labels, thresholds and curves on the command line.

use crate::shell::Shell;
use serde_json::{Value, json};

/// Training data with one positive row per 16 negative rows, and balanced test data.
fn waves() -> Shell {
    let shell = Shell::new();
    shell.ok("generate waveform --classes 2 --rows 400 --imbalance 16 --seed 1 -o train.svm");
    shell.ok("generate waveform --classes 2 --rows 1000 --seed 2 -o test.svm");
    shell
}

fn g_means(shell: &Shell, fit: &str) -> f64 {
    shell.ok(&format!("fit train.svm -o m.evm --scale standard --gamma 0.05 {fit}"));
    shell.ok("predict m.evm test.svm --json").json()["g_means"].as_f64().unwrap()
}

#[test]
fn threshold_and_class_weights_improve_g_means() {
    let shell = waves();
    let raw = g_means(&shell, "");
    for remedy in ["--threshold g-means", "--class-weight ratio", "--class-weight balanced"] {
        let better = g_means(&shell, remedy);
        assert!(better > raw + 0.1, "{remedy}: {better} against {raw}");
    }
}

#[test]
fn class_weight_ratio_equals_the_explicit_weight() {
    let shell = waves();
    let json = shell.ok("fit train.svm -o a.evm --class-weight ratio --json").json();
    assert_eq!(json["class_counts"], json!([376, 24]));
    shell.ok("fit train.svm -o b.evm --class-weight 1=15.666666666666666");
    let output = |model: &str| shell.ok(&format!("predict {model} test.svm")).out;
    assert_eq!(output("a.evm"), output("b.evm"));
}

#[test]
fn a_threshold_is_reported_and_stored() {
    let shell = waves();
    let json = shell.ok("fit train.svm -o m.evm --threshold f1 --probability sigmoid --json").json();
    let threshold = json["threshold"].as_f64().unwrap();
    let page = shell.ok("inspect m.evm --json").json();
    assert_eq!(
        (&page["params"]["threshold"], page["params"]["threshold_value"].as_f64()),
        (&"f1".into(), Some(threshold))
    );
    let raw = shell.ok("fit train.svm -o raw.evm --json").json();
    assert_eq!(raw["threshold"], Value::Null);
    let bias = |model: &str| shell.ok(&format!("inspect {model} --json")).json()["bias"][0].as_f64().unwrap();
    assert!((bias("raw.evm") - bias("m.evm") - threshold).abs() < 1e-9);
    assert!(shell.ok("fit train.svm -o m.evm --threshold rate=0.3").out.contains(", threshold "));
    shell.ok("generate waveform --rows 60 -o three.svm");
    let output = shell.run("fit three.svm --threshold f1");
    assert_eq!(output.code, 2);
    assert!(output.err.contains("there are 3 classes, and it needs two"), "{}", output.err);
    let output = shell.run("fit train.svm --threshold best");
    assert!(output.code == 2 && output.err.contains("must be g-means, f1, accuracy"), "{}", output.err);
}

#[test]
fn thin_and_flip_change_the_training_data_only() {
    let shell = Shell::new();
    shell.ok("generate two-moons --rows 400 --noise 0.05 -o d.svm");
    let before = shell.read("d.svm");
    let output = shell.ok("fit d.svm -o m.evm --thin 10 --flip 0.1");
    assert!(output.err.contains("note: 180 rows of class 1 deleted\n"), "{}", output.err);
    assert!(output.err.contains("note: 22 labels flipped\n"), "{}", output.err);
    assert_eq!(shell.read("d.svm"), before);
    let json = shell.ok("fit d.svm -o m.evm --thin 10 --json").json();
    assert_eq!((&json["class_counts"], &json["rows"]), (&json!([200, 20]), &json!(220)));
    let first = shell.read("m.evm");
    shell.ok("fit d.svm -o m.evm --thin 10");
    assert_eq!(shell.read("m.evm"), first, "seeded");
    shell.ok("fit d.svm -o m.evm --thin 10 --seed 2");
    assert_ne!(shell.read("m.evm"), first);

    // weights follow their rows: weight 3 for each row of class 1 equals a class weight of 3
    let text = shell.text("d.svm");
    let weights: String = text.lines().map(|l| if l.starts_with("1 ") { "3\n" } else { "1\n" }).collect();
    shell.write("w", &weights);
    // (gamma is fixed, because its default depends on row weights but not on class weights)
    shell.ok("fit d.svm -o a.evm --thin 10 --gamma 1 --weights w");
    shell.ok("fit d.svm -o b.evm --thin 10 --gamma 1 --class-weight 1=3");
    let output = |model: &str| shell.ok(&format!("predict {model} d.svm")).out;
    assert_eq!(output("a.evm"), output("b.evm"));
    for (wrong, why) in
        [("--thin 0.5", "at least 1.0000"), ("--thin -1", "positive"), ("--flip 1.5", "share")]
    {
        let output = shell.run(&format!("fit d.svm -o m.evm {}", wrong.replace(' ', "=")));
        assert!(output.code == 2 && output.err.contains(why), "{wrong}: {} {}", output.code, output.err);
    }
    assert!(
        !shell.ok("fit --help").out.contains("--thin") && shell.ok("fit --help-all").out.contains("--thin")
    );
}

#[test]
fn thinning_keeps_the_columns_of_a_kernel_matrix() {
    let shell = Shell::new();
    // for any two of 10 … 15, the midpoint between them and −10 separates all rows
    let x: Vec<i32> = (-15..-9).chain(10..16).collect();
    let row = |a: &i32| {
        let kernel: Vec<String> = x.iter().zip(1..).map(|(b, j)| format!("{j}:{}", a * b)).collect();
        format!("{} {}", a.signum(), kernel.join(" "))
    };
    shell.write("k.svm", &x.iter().map(row).collect::<Vec<_>>().join("\n"));
    let json = shell.ok("fit k.svm -o m.evm --kernel precomputed --thin 3 --json").json();
    assert_eq!((&json["class_counts"], &json["features"]), (&json!([6, 2]), &json!(12)));
    assert_eq!(shell.ok("predict m.evm k.svm --json").json()["accuracy"], 1.0);
    shell.write("bare.svm", "? 1:1\n? 1:2\n");
    let output = shell.run("fit bare.svm --thin 3");
    assert!(output.code == 1 && output.err.contains("no row has a label"), "{}", output.err);
}

#[test]
fn generate_takes_an_imbalance_and_flips_exactly() {
    let shell = Shell::new();
    for (name, counts) in [("two-moons", [160, 40]), ("g50c", [160, 40]), ("text --cols 100", [160, 40])] {
        let text = shell.ok(&format!("generate {name} --rows 200 --imbalance 4")).out;
        let positives = text.lines().filter(|l| l.starts_with("1 ")).count();
        assert_eq!([200 - positives, positives], counts, "{name}");
    }
    let labels = |flip: &str| -> Vec<String> {
        let text = shell.ok(&format!("generate spirals --classes 4 --rows 100 {flip}")).out;
        text.lines().map(|l| l.split(' ').next().unwrap().to_string()).collect()
    };
    let changed = labels("").iter().zip(&labels("--flip 0.13")).filter(|(a, b)| a != b).count();
    assert_eq!(changed, 13);
}

#[test]
fn the_roc_curve_agrees_with_the_scores() {
    let shell = waves();
    shell.ok("fit train.svm -o m.evm");
    let json = shell.ok("predict m.evm test.svm --roc roc.tsv --json").json();
    let table = shell.text("roc.tsv");
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("threshold\tfalse_positive_rate\ttrue_positive_rate\tprecision"));
    assert_eq!(lines.clone().next(), Some("inf\t0\t0\t"));
    let rows: Vec<Vec<f64>> =
        lines.map(|l| l.split('\t').map(|v| v.parse().unwrap_or(f64::NAN)).collect()).collect();
    assert_eq!(&rows.last().unwrap()[1..], [1.0, 1.0, 0.5]);
    assert!(rows.windows(2).all(|w| w[0][0] > w[1][0] && w[0][1] <= w[1][1] && w[0][2] <= w[1][2]));
    let area: f64 = rows.windows(2).map(|w| (w[1][1] - w[0][1]) * 0.5 * (w[1][2] + w[0][2])).sum();
    assert!((area - json["auc"].as_f64().unwrap()).abs() < 1e-9);
    let precision: f64 = rows.windows(2).map(|w| (w[1][2] - w[0][2]) * w[1][3]).sum();
    assert!((precision - json["pr_auc"].as_f64().unwrap()).abs() < 1e-9);

    for (line, why) in [
        ("predict m.evm test.svm --roc - --json", "must be a file"),
        ("predict m.evm test.svm --roc x -o x", "is already the output of"),
        ("predict m.evm test.svm --roc test.svm", "this is an input file"),
    ] {
        let output = shell.run(line);
        assert!(output.code == 2 && output.err.contains(why), "{line}: {}", output.err);
    }
    shell.ok("generate waveform --rows 60 -o three.svm");
    shell.ok("fit three.svm -o three.evm");
    let output = shell.run("predict three.evm three.svm --roc x");
    assert!(output.code == 2 && output.err.contains("3 classes"), "{}", output.err);
    assert_eq!(output.out, "", "nothing is written before all checks pass");
    shell.write("bare.svm", "? 1:1\n");
    let output = shell.run("predict m.evm bare.svm --roc x");
    assert!(output.code == 1 && output.err.contains("both classes"), "{}", output.err);
    assert!(!shell.files().contains(&"x".to_string()));
}
