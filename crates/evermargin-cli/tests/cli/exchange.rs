//! Conversion of models between formats, and comparison with the programs of LIBSVM if they are installed.

use crate::shell::{Shell, installed};
use std::process::Command;

fn column(text: &str, at: usize) -> Vec<String> {
    text.lines().skip(1).map(|l| l.split('\t').nth(at).expect("cell").to_string()).collect()
}

#[test]
fn models_survive_conversion_to_json_and_back() {
    for (data, options) in
        [("two-moons", ""), ("waveform", ""), ("waveform", "--learner linear --probability sigmoid")]
    {
        let shell = Shell::new();
        shell.ok(&format!("generate {data} --rows 150 -o d.svm"));
        shell.ok(&format!("fit d.svm -o m.evm {options}"));
        shell.ok("predict m.evm d.svm -o before.tsv");
        shell.ok("convert m.evm m.json --to json");
        shell.ok("convert m.json back.evm --to evermargin");
        assert_eq!(shell.read("m.evm"), shell.read("back.evm"));
        shell.ok("predict m.json d.svm -o after.tsv");
        assert_eq!(shell.read("before.tsv"), shell.read("after.tsv"));
    }
}

#[test]
fn models_in_libsvm_text_give_the_same_predictions() {
    for data in ["two-moons", "waveform"] {
        let shell = Shell::new();
        shell.ok(&format!("generate {data} --rows 200 -o d.svm"));
        shell.ok("fit d.svm -o m.evm --scale none --gamma 0.3 --c 3");
        shell.ok("convert m.evm m.model --to libsvm");
        shell.ok("predict m.evm d.svm -o a.tsv");
        shell.ok("predict m.model d.svm -o b.tsv");
        let (a, b) = (shell.text("a.tsv"), shell.text("b.tsv"));
        assert_eq!(column(&a, 0), column(&b, 0));
        if !installed("svm-predict") {
            println!("svm-predict is not installed; the outside check is skipped");
            continue;
        }
        let status = Command::new("svm-predict")
            .args(["-q", "d.svm", "m.model", "out"])
            .current_dir(shell.path(""))
            .status()
            .expect("svm-predict");
        assert!(status.success());
        let outside: Vec<String> = shell.text("out").lines().map(ToString::to_string).collect();
        assert_eq!(column(&a, 0), outside, "{data}");
    }
}

#[test]
fn convert_writes_onnx_and_notes_what_it_leaves_out() {
    let shell = Shell::new();
    shell.ok("generate waveform --rows 150 -o d.svm");
    for (options, notes) in [
        ("", 0),
        ("--probability sigmoid", 1),
        ("--probability sigmoid --multi one-vs-rest", 0),
        ("--probability isotonic --multi one-vs-rest", 1),
    ] {
        shell.ok(&format!("fit d.svm -o m.evm {options}"));
        let output = shell.ok("convert m.evm m.onnx --to onnx --json");
        assert_eq!(output.err.matches("note: probabilities were left out").count(), notes, "{options}");
        let bytes = shell.read("m.onnx");
        assert_eq!(output.json()["format"], "onnx");
        assert_eq!(output.json()["bytes"], bytes.len());
        assert!(bytes.starts_with(b"\x08\x07\x12\x0aevermargin"));
        let to = |out: &str| std::fs::read(shell.path(out)).expect("file");
        shell.ok("convert m.evm again.onnx --to onnx --threads 2 -q");
        assert_eq!(to("again.onnx"), bytes, "the same bytes every time");
    }
    let output = shell.run("predict m.onnx d.svm");
    assert_eq!(output.code, 1);
    assert!(output.err.contains("an ONNX model (which can be written but not read)"), "{}", output.err);
    shell
        .write("t.csv", "size,color,class\n1,red,a\n2,blue,b\n1.5,red,a\n2.5,green,b\n0.5,red,a\n3,blue,b\n");
    shell.ok("fit t.csv --label class -o t.evm");
    let output = shell.ok("convert t.evm t.onnx --to onnx");
    assert!(output.err.contains("note: X holds the 4 encoded features"), "{}", output.err);
}

#[test]
fn models_trained_by_libsvm_are_read() {
    if !installed("svm-train") {
        println!("svm-train is not installed; the check is skipped");
        return;
    }
    let shell = Shell::new();
    shell.ok("generate waveform --rows 200 -o d.svm");
    for (program, args) in
        [("svm-train", "-q -g 0.05 -c 2 d.svm l.model"), ("svm-predict", "-q d.svm l.model out")]
    {
        let status = Command::new(program).args(args.split(' ')).current_dir(shell.path("")).status();
        assert!(status.expect("libsvm").success());
    }
    shell.ok("predict l.model d.svm --as labels -o mine");
    assert_eq!(shell.text("mine"), shell.text("out"));
    // training with the same parameters gives the same number of support vectors, up to the tolerance
    let output = shell.ok("fit d.svm --scale none --gamma 0.05 --c 2 -o m.evm --json").json();
    let theirs = shell.ok("inspect l.model --json").json();
    let (a, b) = (output["support_count"].as_f64().unwrap(), theirs["support_count"].as_f64().unwrap());
    assert!((a - b).abs() <= 3.0, "{a} {b}");
}

#[test]
fn kernel_matrices_with_row_numbers_are_read_as_libsvm_does() {
    let shell = Shell::new();
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../evermargin-io/tests/fixtures");
    let output = shell.ok(&format!("fit {fixtures}/kernel.svm --kernel precomputed -o k.evm --json"));
    assert_eq!(output.json()["rows"], output.json()["features"]);
    assert!(output.err.contains("column 0, which holds the row numbers, was left out"), "{}", output.err);
    let accuracy =
        shell.ok(&format!("predict k.evm {fixtures}/kernel.svm --json")).json()["accuracy"].clone();
    assert!(accuracy.as_f64().unwrap() > 0.8, "{accuracy}");
    // other rows of the same columns: row numbers are ignored, and fewer rows are accepted
    let text = std::fs::read_to_string(format!("{fixtures}/kernel.svm")).unwrap();
    let some: Vec<&str> = text.lines().skip(30).collect();
    shell.write("some.svm", &some.join("\n"));
    let part = shell.ok("predict k.evm some.svm --as labels -q").out;
    let whole = shell.ok(&format!("predict k.evm {fixtures}/kernel.svm --as labels -q")).out;
    assert!(part.lines().eq(whole.lines().skip(30)));
    // a model of svm-train for the same matrix
    let labels =
        shell.ok(&format!("predict {fixtures}/kernel.model {fixtures}/kernel.svm --as labels -q")).out;
    let theirs = std::fs::read_to_string(format!("{fixtures}/kernel.labels")).unwrap();
    assert!(labels.lines().eq(theirs.lines().map(str::trim)));
}

/// `generate` and `convert` choose the format by the file name.
#[test]
fn the_file_name_determines_the_output_format() {
    let shell = Shell::new();
    let beginnings: [(&str, &[u8]); 9] = [
        ("a.svm", b"1 1:"),
        ("a.txt", b"1 1:"),
        ("a.csv", b"x1,x2,label\n"),
        ("a.tsv", b"x1\tx2\tlabel\n"),
        ("a.jsonl", b"{\"x1\":"),
        ("a.npy", b"\x93NUMPY"),
        ("a.npz", b"PK\x03\x04"),
        ("a.csv.gz", b"\x1f\x8b"),
        ("a.npz.zst", b"\x28\xb5\x2f\xfd"),
    ];
    for (name, beginning) in beginnings {
        let next = shell.ok(&format!("generate two-moons --rows 40 --seed 2 -o {name}")).out;
        let start = &shell.read(name)[..beginning.len()];
        assert!(start == beginning || (start[0] == b'-' && beginning[0] == b'1'), "{name}: {start:?}");
        let fit = next.lines().find_map(|line| line.strip_prefix("next: evermargin ")).unwrap();
        shell.ok(&format!("{fit} -o m.evm"));
        let labels = if name == "a.npy" { "--labels a.labels.txt" } else { "" };
        shell.ok(&format!("convert {name} b.npz {labels}"));
        shell.ok("convert b.npz b.csv");
        shell.ok("convert a.svm c.npz");
        assert_eq!(shell.read("b.npz"), shell.read("c.npz"), "{name}");
    }
    let csv = shell.text("b.csv");
    assert_eq!(csv, shell.text("a.csv"));
    for line in ["generate two-moons -o x.parquet", "generate two-moons -o x.foo", "convert a.csv x.xlsx"] {
        let output = shell.run(line);
        assert!(
            output.code == 1 && output.err.contains("data is not written as ."),
            "{line}: {}",
            output.err
        );
    }
    shell.ok("fit a.csv -o m.evm");
    shell.ok("convert m.evm m.json");
    assert!(shell.text("m.json").starts_with('{'));
}

#[test]
fn refuses_a_small_file_that_expands_beyond_the_memory_limit() {
    let shell = Shell::new();
    shell.write("t.svm", &"1 1:1\n-1 1:2\n".repeat(200_000));
    shell.ok("convert t.svm t.svm.zst");
    let output = shell.run("fit t.svm.zst -o m.evm --max-memory 1000000");
    assert!(
        output.code == 1 && output.err.contains("expand to more than the memory limit"),
        "{}",
        output.err
    );
    assert!(output.err.contains("t.svm.zst: ") && output.err.contains("--max-memory"), "{}", output.err);
}
