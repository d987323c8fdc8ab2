//! Models across formats, and with LIBSVM's own programs where they are installed.

use crate::shell::{Shell, installed};
use std::process::Command;

fn column(text: &str, at: usize) -> Vec<String> {
    text.lines().skip(1).map(|l| l.split('\t').nth(at).expect("cell").to_string()).collect()
}

#[test]
fn a_model_survives_every_format() {
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
fn libsvm_text_gives_the_same_answers() {
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
fn onnx_is_written_and_what_it_lacks_is_said() {
    let shell = Shell::new();
    shell.ok("generate waveform --rows 150 -o d.svm");
    for (options, notes) in [
        ("", 0),
        ("--probability sigmoid", 1),
        ("--probability sigmoid --multi one-vs-rest", 0),
        ("--probability isotonic --multi one-vs-rest", 1),
    ] {
        shell.ok(&format!("fit d.svm -o m.evm {options}"));
        let said = shell.ok("convert m.evm m.onnx --to onnx --json");
        assert_eq!(said.err.matches("note: probabilities were left out").count(), notes, "{options}");
        let bytes = shell.read("m.onnx");
        assert_eq!(said.json()["format"], "onnx");
        assert_eq!(said.json()["bytes"], bytes.len());
        assert!(bytes.starts_with(b"\x08\x07\x12\x0aevermargin"));
        let to = |out: &str| std::fs::read(shell.path(out)).expect("file");
        shell.ok("convert m.evm again.onnx --to onnx --threads 2 -q");
        assert_eq!(to("again.onnx"), bytes, "the same bytes every time");
    }
    let said = shell.run("predict m.onnx d.svm");
    assert_eq!(said.code, 1);
    assert!(said.err.contains("an ONNX model (which can be written but not read)"), "{}", said.err);
    shell
        .write("t.csv", "size,color,class\n1,red,a\n2,blue,b\n1.5,red,a\n2.5,green,b\n0.5,red,a\n3,blue,b\n");
    shell.ok("fit t.csv --label class -o t.evm");
    let said = shell.ok("convert t.evm t.onnx --to onnx");
    assert!(said.err.contains("note: X is the 4 features that the columns become"), "{}", said.err);
}

#[test]
fn a_model_trained_by_libsvm_is_read() {
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
    // the same problem solved here ends at the same number of support vectors, give or take the tolerance
    let said = shell.ok("fit d.svm --scale none --gamma 0.05 --c 2 -o m.evm --json").json();
    let theirs = shell.ok("inspect l.model --json").json();
    let (a, b) = (said["support_count"].as_f64().unwrap(), theirs["support_count"].as_f64().unwrap());
    assert!((a - b).abs() <= 3.0, "{a} {b}");
}

#[test]
fn kernel_matrices_with_row_numbers_are_read_as_libsvm_does() {
    let shell = Shell::new();
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../evermargin-io/tests/fixtures");
    let said = shell.ok(&format!("fit {fixtures}/kernel.svm --kernel precomputed -o k.evm --json"));
    assert_eq!(said.json()["rows"], said.json()["features"]);
    assert!(said.err.contains("column 0, the numbers of the rows, was left out"), "{}", said.err);
    let accuracy =
        shell.ok(&format!("predict k.evm {fixtures}/kernel.svm --json")).json()["accuracy"].clone();
    assert!(accuracy.as_f64().unwrap() > 0.8, "{accuracy}");
    // other rows against the same columns: their numbers mean nothing, fewer rows do no harm
    let text = std::fs::read_to_string(format!("{fixtures}/kernel.svm")).unwrap();
    let some: Vec<&str> = text.lines().skip(30).collect();
    shell.write("some.svm", &some.join("\n"));
    let part = shell.ok("predict k.evm some.svm --as labels -q").out;
    let whole = shell.ok(&format!("predict k.evm {fixtures}/kernel.svm --as labels -q")).out;
    assert!(part.lines().eq(whole.lines().skip(30)));
    // a model of svm-train on the same matrix
    let labels =
        shell.ok(&format!("predict {fixtures}/kernel.model {fixtures}/kernel.svm --as labels -q")).out;
    let theirs = std::fs::read_to_string(format!("{fixtures}/kernel.labels")).unwrap();
    assert!(labels.lines().eq(theirs.lines().map(str::trim)));
}

/// `generate` and `convert` write what the name of the file says.
#[test]
fn the_name_of_a_file_says_its_format() {
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
        let said = shell.run(line);
        assert!(said.code == 1 && said.err.contains("data is not written as ."), "{line}: {}", said.err);
    }
    shell.ok("fit a.csv -o m.evm");
    shell.ok("convert m.evm m.json");
    assert!(shell.text("m.json").starts_with('{'));
}

#[test]
fn a_small_file_that_expands_to_much_is_refused() {
    let shell = Shell::new();
    shell.write("t.svm", &"1 1:1\n-1 1:2\n".repeat(200_000));
    shell.ok("convert t.svm t.svm.zst");
    let said = shell.run("fit t.svm.zst -o m.evm --max-memory 1000000");
    assert!(said.code == 1 && said.err.contains("expand to more than the memory limit"), "{}", said.err);
    assert!(said.err.contains("t.svm.zst: ") && said.err.contains("--max-memory"), "{}", said.err);
}
