//! `embed`: coordinates and clusters of training rows and new rows.

use crate::shell::Shell;

fn moons(shell: &Shell) {
    shell.ok("generate two-moons --rows 300 --noise 0.08 --seed 1 -o a.csv");
    shell.ok("generate two-moons --rows 100 --noise 0.08 --seed 2 -o b.csv");
}

/// Cells of a table below its header.
fn cells(table: &str) -> Vec<Vec<f64>> {
    table.lines().skip(1).map(|l| l.split('\t').map(|c| c.parse().unwrap()).collect()).collect()
}

/// Fraction of rows whose cluster agrees with their label, for the better of the two assignments.
fn agreement(table: &str, data: &str) -> f64 {
    let labels = data.lines().skip(1).map(|l| !l.ends_with(",-1"));
    let found = cells(table);
    let same = found.iter().zip(labels).filter(|(row, label)| (row.last() == Some(&2.0)) == *label).count();
    let share = same as f64 / found.len() as f64;
    share.max(1.0 - share)
}

#[test]
fn separates_two_moons_and_places_new_rows() {
    let shell = Shell::new();
    moons(&shell);
    let how = "--dims 2 --clusters 2 --scale none --gamma 2";
    let json = shell.ok(&format!("embed a.csv {how} -o a.tsv --json")).json();
    assert_eq!((json["rows"].as_u64(), json["dims"].as_u64()), (Some(300), Some(2)), "{json}");
    let table = shell.text("a.tsv");
    assert!(table.starts_with("row\tx1\tx2\tcluster\n1\t"), "{table}");
    assert!(agreement(&table, &shell.text("a.csv")) > 0.97);
    // constraints on coordinates: mean 0, length 1, orthogonal
    let rows = cells(&table);
    let sum = |f: &dyn Fn(&[f64]) -> f64| rows.iter().map(|r| f(r)).sum::<f64>();
    for (value, expected) in [
        (sum(&|r| r[1]), 0.0),
        (sum(&|r| r[2]), 0.0),
        (sum(&|r| r[1] * r[1]), 1.0),
        (sum(&|r| r[2] * r[2]), 1.0),
        (sum(&|r| r[1] * r[2]), 0.0),
    ] {
        assert!((value - expected).abs() < 1e-6, "{value} {expected}");
    }
    assert!(json["objectives"][0].as_f64() < json["objectives"][1].as_f64(), "{json}");
    let sizes: Vec<u64> =
        json["cluster_sizes"].as_array().unwrap().iter().map(|v| v.as_u64().unwrap()).collect();
    assert_eq!(sizes.iter().sum::<u64>(), 300);

    shell.ok(&format!("embed a.csv {how} --place b.csv -o b.tsv"));
    assert_eq!(cells(&shell.text("b.tsv")).len(), 100);
    assert!(agreement(&shell.text("b.tsv"), &shell.text("b.csv")) > 0.97);
    // training rows keep their coordinates, up to single precision
    shell.ok(&format!("embed a.csv {how} --place a.csv -o again.tsv"));
    for (a, b) in rows.iter().flatten().zip(cells(&shell.text("again.tsv")).iter().flatten()) {
        assert!((a - b).abs() < 1e-3, "{a} {b}");
    }
}

#[test]
fn writes_to_the_given_output_and_is_deterministic() {
    let shell = Shell::new();
    moons(&shell);
    let result = shell.ok("embed a.csv --rows 11..60");
    assert!(
        result.out.starts_with("row\tx1\tx2\n11\t") && result.out.lines().count() == 51,
        "{}",
        result.out
    );
    assert!(result.err.contains("50 rows, 2 coordinates in "), "{}", result.err);
    let seen: Vec<Vec<u8>> = [1, 2, 4]
        .map(|threads| {
            shell.ok(&format!("embed a.csv --dims 3 -o t.tsv --threads {threads}"));
            shell.read("t.tsv")
        })
        .into();
    assert!(seen.windows(2).all(|w| w[0] == w[1]));
}

#[test]
fn refuses_invalid_options_and_data() {
    let shell = Shell::new();
    moons(&shell);
    shell.write("one.csv", "a,b,label\n1,2,x\n");
    shell.write("other.csv", "a,b,c,label\n1,2,3,1\n2,3,4,1\n");
    for (words, code, text) in [
        ("embed a.csv --dims 0", 2, "must be a whole number, 1 or more"),
        ("embed a.csv --dims 300", 2, "--dims 300: must be fewer than the rows, and a.csv has 300 rows"),
        ("embed a.csv --clusters 3", 2, "must be 2, the only supported number"),
        ("embed a.csv --smoothness 0", 2, "--smoothness 0: must be a number above 0"),
        ("embed a.csv --gamma -1", 2, "gamma = -1"),
        ("embed a.csv --scale big", 2, "one of none"),
        ("embed a.csv -o a.csv", 2, "this is an input file"),
        ("embed a.csv --place b.csv -o b.csv", 2, "this is an input file"),
        ("embed a.csv -o - --json", 2, "both need standard output"),
        ("embed - --place -", 2, "cannot both be standard input"),
        ("embed one.csv", 2, "--dims 2: must be fewer than the rows, and one.csv has 1 row"),
        ("embed a.csv --place other.csv", 1, "other.csv"),
        ("embed missing.csv", 1, "missing.csv"),
    ] {
        let result = shell.run(words);
        assert!(result.code == code && result.err.contains(text), "{words}: {} {}", result.code, result.err);
    }
}

#[test]
fn without_a_label_column_all_columns_are_features() {
    let shell = Shell::new();
    moons(&shell);
    let rows: Vec<String> =
        shell.text("a.csv").lines().map(|l| l.rsplit_once(',').unwrap().0.to_string()).collect();
    shell.write("rows.csv", &(rows.join("\n") + "\n"));
    let how = "--scale none --gamma 2 -o";
    shell.ok(&format!("embed rows.csv {how} rows.tsv"));
    shell.ok(&format!("embed a.csv {how} a.tsv"));
    assert_eq!(shell.text("rows.tsv"), shell.text("a.tsv"));
}
