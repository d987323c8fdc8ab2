//! Tables whose header and label are in unusual places.

use crate::shell::Shell;
use std::fmt::Write;

/// Rows of a class and two numbers that determine it.
fn rows(line: impl Fn(&str, usize) -> String) -> String {
    (0..20).fold(String::new(), |mut text, i| {
        let _ = writeln!(text, "{}", line(if i % 2 == 0 { "cat" } else { "dog" }, i % 2 * 10 + i));
        text
    })
}

#[test]
fn predict_finds_the_label_column_of_training() {
    let shell = Shell::new();
    shell.write("t.csv", &rows(|class, x| format!("{class},{x},{}", 100 * (x % 2))));
    shell.ok("fit t.csv --label 1 -o t.evm");
    let output = shell.ok("predict t.evm t.csv --as labels -o out");
    assert!(output.err.contains("the label was taken from column 1, as in training"), "{}", output.err);
    assert_eq!(shell.ok("predict t.evm t.csv --json").json()["accuracy"], 1.0);
    let page = shell.ok("inspect t.evm").out;
    assert!(page.lines().any(|l| l.split_whitespace().eq(["label", "column", "1"])), "{page}");
    // with a header, the label column is found by name
    shell.write("h.csv", &format!("kind,a,b\n{}", rows(|class, x| format!("{class},{x},{}", 100 * (x % 2)))));
    shell.ok("fit h.csv --label kind -o h.evm");
    shell.write(
        "new.csv",
        &format!("a,kind,z,b\n{}", rows(|class, x| format!("{x},{class},7,{}", 100 * (x % 2)))),
    );
    assert_eq!(shell.ok("predict h.evm new.csv --json").json()["accuracy"], 1.0);
    shell.write("bare.csv", &rows(|class, x| format!("{class},{x},{}", 100 * (x % 2))));
    assert_eq!(shell.ok("predict h.evm bare.csv --json").json()["accuracy"], 1.0);
}

#[test]
fn a_column_without_known_classes_is_not_the_label() {
    let shell = Shell::new();
    shell.write(
        "t.csv",
        &format!("x1,x2,kind\n{}", rows(|class, x| format!("{x},{},{class}", 100 * (x % 2)))),
    );
    shell.ok("fit t.csv --label kind -o t.evm");
    shell.write("new.csv", "x1,x2,comment\n2,0,fine\n3,100,odd\n");
    let output = shell.ok("predict t.evm new.csv --json");
    assert_eq!(output.json()["labeled"], 0);
    assert!(
        output.err.contains("column 'comment' holds no class of the model and was left out"),
        "{}",
        output.err
    );
    shell.write("new.csv", "x1,x2,answer\n2,0,cat\n3,100,bird\n");
    let output = shell.ok("predict t.evm new.csv --json");
    assert_eq!(output.json()["labeled"], 2);
    assert!(output.err.contains("the label was taken from column 'answer'"), "{}", output.err);
    shell.write("new.csv", "2,0,fine\n3,100,odd\n");
    let output = shell.run("predict t.evm new.csv --json");
    assert_eq!(output.code, 1);
    assert!(
        output.err.contains("column 3 should be the label but holds no class of the model"),
        "{}",
        output.err
    );
}

#[test]
fn detects_a_header_above_text_columns() {
    let shell = Shell::new();
    let body = rows(|class, x| format!("{},{},{class}", ["a", "b", "c"][x % 3], ["foul", "none"][x % 2]));
    shell.write("t.csv", &format!("cap,odor,edible\n{body}"));
    let output = shell.ok("fit t.csv --json");
    assert_eq!((&output.json()["rows"], &output.json()["classes"]), (&20.into(), &2.into()));
    assert!(output.err.contains("the first row was taken for a header; if it is data, pass --header no"));
    let json = shell.ok("fit t.csv --header no --json").json();
    assert_eq!((&json["rows"], &json["classes"]), (&21.into(), &3.into()));
    shell.write("t.csv", &body);
    let output = shell.ok("fit t.csv --json");
    assert_eq!(output.json()["rows"], 20);
    assert!(output.err.contains("the first row was taken for data; if it is a header, pass --header yes"));
    assert_eq!(shell.ok("fit t.csv --header yes --json").json()["rows"], 19);
}

/// A model of arrays (from Python or LIBSVM text) has no column names: in a table of its width all columns are features.
#[test]
fn a_model_without_column_names_accepts_a_table_of_its_width() {
    let shell = Shell::new();
    shell.write("d.svm", "-1 1:0.5 2:1\n1 1:2 2:3\n-1 1:0.25 2:0.5\n1 1:3 2:2\n");
    shell.ok("fit d.svm -o m.evm --scale none");
    shell.write("bare.csv", "a,b\n0.5,1\n2,3\n0.25,0.5\n3,2\n");
    shell.write("labeled.csv", "a,b,label\n0.5,1,-1\n2,3,1\n0.25,0.5,-1\n3,2,1\n");
    let output = |data: &str| shell.ok(&format!("predict m.evm {data}")).out;
    assert_eq!(output("bare.csv"), output("d.svm"));
    assert_eq!(output("labeled.csv"), output("d.svm"));
}
