//! `run` on streams whose columns, categories or indices appear later, with ids, and with delayed or partial labels.

use crate::shell::Shell;
use serde_json::Value;
use std::fmt::Write as _;

/// A portable pseudorandom generator of numbers in [0, 1).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / f64::from(1u32 << 31)
    }
}

/// One row: the values of a, b, c and d, and its class. In the first rows, column a separates the classes, and c and d are
/// absent; later c and d separate them, and a is noise.
fn rows(count: usize, early: usize) -> Vec<([f64; 4], bool, &'static str)> {
    let mut numbers = Numbers(7);
    let row = |i: usize| {
        let side = if numbers.next() < 0.5 { 1.0 } else { -1.0 };
        let late = i >= early;
        let mut value =
            |decisive: bool| f64::from(u8::from(decisive)) * side * 1.5 + 2.0 * numbers.next() - 1.0;
        let values = [value(!late), value(false), value(late), value(late)];
        (values, late, if side > 0.0 { "x" } else { "y" })
    };
    (0..count).map(row).collect()
}

/// Prequential accuracy of the second half, in which late columns determine the class.
fn last_half(json: &Value) -> f64 {
    json["prequential_accuracy_last_half"].as_f64().unwrap()
}

fn csv_folder(shell: &Shell, rows: &[([f64; 4], bool, &str)]) {
    std::fs::create_dir(shell.path("in")).unwrap();
    let (mut first, mut second) = (String::from("a,b,name,class\n"), String::from("name,a,b,c,class,d\n"));
    for (i, ([a, b, c, d], late, class)) in rows.iter().enumerate() {
        if *late {
            let _ = writeln!(second, "r{i},{a:.4},{b:.4},{c:.4},{class},{d:.4}");
        } else {
            let _ = writeln!(first, "{a:.4},{b:.4},r{i},{class}");
        }
    }
    shell.write("in/1.csv", &first);
    shell.write("in/2.csv", &second);
}

/// Regression: half of the predictions were wrong, because columns of later files were silently dropped.
#[test]
fn columns_of_later_files_are_learned_and_stored_in_the_model() {
    let shell = Shell::new();
    let rows = rows(1500, 500);
    csv_folder(&shell, &rows);
    let run = "run in --label class --id name --batch 100 --json --model m.evm";
    let output = shell.ok(&format!("{run} --state whole -o whole.tsv"));
    let whole = output.json();
    assert!(last_half(&whole) > 0.95, "{whole}");
    assert_eq!((&whole["columns"], &whole["dropped_columns"]), (&4.into(), &0.into()));
    assert_eq!(output.err.matches("column 'c' is new").count(), 1, "{}", output.err);
    let predicted = shell.ok("predict m.evm in/2.csv --json").json();
    assert!(predicted["accuracy"].as_f64().unwrap() > 0.95, "{predicted}");
    shell.ok("predict m.evm in/1.csv --json"); // without the later columns
    let labels = shell.text("whole.tsv");
    let lines: Vec<Vec<&str>> = labels.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(lines[0], ["row", "id", "label", "confidence", "source"]);
    assert_eq!(lines.len(), 1501);
    assert!((1..=1500).all(|i| lines[i][0] == i.to_string() && lines[i][1] == format!("r{}", i - 1)));
    for line in &lines[1..] {
        match line[4] {
            "given" => assert_eq!(line[3], ""),
            "model" | "transduction" | "tsvm" | "graph" | "combined" => {
                assert!((0.0..=1.0).contains(&line[3].parse::<f64>().unwrap()));
            }
            other => panic!("{other}: {line:?}"),
        }
    }
    let given = lines.iter().filter(|line| line[4] == "given").count() as u64;
    assert_eq!(Value::from(given), whole["labels_spent"]);
    // A run that is stopped at any batch and resumed is the same.
    for batches in [1, 4, 1, 2] {
        shell.ok(&format!("{run} --state parts -o parts.tsv --batches {batches}"));
    }
    let parts = shell.ok(&format!("{run} --state parts -o parts.tsv")).json();
    assert_eq!(parts["state_hash"], whole["state_hash"]);
    assert_eq!(shell.text("parts.tsv"), labels);
}

#[test]
fn larger_indices_new_keys_and_new_categories_of_standard_input_are_learned() {
    let shell = Shell::new();
    let rows = rows(1500, 500);
    let (mut pairs, mut objects, mut table) = (String::new(), String::new(), String::from("k,b,class\n"));
    let mut numbers = Numbers(3);
    for ([a, b, c, d], late, class) in &rows {
        let sign = if *class == "x" { "+1" } else { "-1" };
        let _ = write!(pairs, "{sign} 1:{a:.4} 2:{b:.4}");
        let _ = write!(objects, "{{\"a\":{a:.4},\"b\":{b:.4},\"class\":\"{class}\"");
        if *late {
            let _ = write!(pairs, " 3:{c:.4} 4:{d:.4}");
            let _ = write!(objects, ",\"c\":{c:.4},\"d\":{d:.4}");
        }
        pairs.push('\n');
        objects.push_str("}\n");
        let value = [["p", "q"], ["r", "s"]][usize::from(*class == "x")][usize::from(numbers.next() < 0.5)];
        let _ = writeln!(table, "{}-{value},{b:.4},{class}", if *late { "late" } else { "early" });
    }
    for (format, text, columns) in
        [("libsvm", &pairs, 4), ("jsonl --label class", &objects, 4), ("csv --label class", &table, 9)]
    {
        let output = shell.run_with(&format!("run - --format {format} --batch 100 --json"), text.as_bytes());
        let json = output.json();
        assert!(last_half(&json) > 0.95, "{format}: {json}");
        assert_eq!(json["columns"], columns, "{format}");
    }
}

#[test]
fn delayed_and_partial_labels_are_resumed_with_the_state() {
    let shell = Shell::new();
    shell.ok("generate two-moons --rows 1200 --noise 0.1 -o d.csv");
    for oracle in ["truth", "none"] {
        let run = format!("run d.csv --batch 50 --oracle {oracle} --json");
        let at_once = shell.ok(&run).json();
        let late = format!("{run} --label-delay 3 --label-rate 0.5");
        let whole = shell.ok(&format!("{late} --state {oracle}-whole")).json();
        assert_eq!((&whole["label_delay"], &whole["label_rate"]), (&3.into(), &0.5.into()));
        assert!(whole["late_labels"].as_u64().unwrap() > 20, "{whole}");
        assert!(whole["prequential_accuracy"].as_f64() <= at_once["prequential_accuracy"].as_f64());
        assert!(whole["prequential_accuracy_last_half"].as_f64().unwrap() > 0.8, "{whole}");
        for batches in [1, 3, 5] {
            shell.ok(&format!("{late} --state {oracle}-parts --batches {batches}"));
        }
        let parts = shell.ok(&format!("{late} --state {oracle}-parts")).json();
        assert_eq!(parts["state_hash"], whole["state_hash"], "{oracle}");
        let output = shell.fails(&format!("{run} --label-delay 2 --state {oracle}-parts"), 2);
        assert!(output.err.contains("label-delay = 3"), "{}", output.err);
    }
    for wrong in
        ["--label-rate 1.5", "--label-rate -0.1", "--label-delay 99999", "--label-delay 1 --oracle terminal"]
    {
        shell.fails(&format!("run d.csv {wrong}"), 2);
    }
}

#[test]
fn scores_of_a_stream_are_reported() {
    let shell = Shell::new();
    shell.ok("generate two-moons --rows 900 --noise 0.1 -o d.csv");
    let json = shell.ok("run d.csv --batch 100 --json --report r.html").json();
    for name in ["kappa", "kappa_t", "kappa_m", "windowed_accuracy", "fading_accuracy"] {
        assert!(json[name].as_f64().is_some_and(|value| value <= 1.0), "{name}: {json}");
    }
    let classes = json["per_class"].as_object().unwrap();
    assert_eq!(classes.len(), 2, "{json}");
    let accuracy = json["prequential_accuracy"].as_f64().unwrap();
    let number = |class: &Value, name: &str| class[name].as_f64().unwrap();
    let all: f64 = classes.values().map(|class| number(class, "rows")).sum();
    let right: f64 = classes.values().map(|class| number(class, "rows") * number(class, "recall")).sum();
    assert!((right / all - accuracy).abs() < 1e-9, "{json}");
    // Fewer rows than a window were scored.
    assert!((json["windowed_accuracy"].as_f64().unwrap() - accuracy).abs() < 1e-9, "{json}");
    let page = shell.text("r.html");
    for word in ["kappa-T", "kappa-M", "windowed accuracy", "<th>precision</th>"] {
        assert!(page.contains(word), "{word}");
    }
}
