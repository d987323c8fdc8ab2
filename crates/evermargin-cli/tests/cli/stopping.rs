//! Training with limits and interrupts, and results that do not depend on threads.

use crate::shell::Shell;

#[test]
fn a_step_limit_gives_a_valid_model() {
    let shell = Shell::new();
    shell.ok("generate two-moons --rows 300 --noise 0.4 -o d.csv");
    let result = shell.ok("fit d.csv -o m.evm --max-steps 3 --json").json();
    assert_eq!(result["exit"], "limit");
    assert!(result["steps"].as_u64().unwrap() <= 3);
    assert_eq!(shell.ok("predict m.evm d.csv --json").json()["rows"], 300);
}

#[test]
fn a_time_limit_gives_a_valid_model() {
    let shell = Shell::new();
    shell.ok("generate two-moons --rows 500 --noise 0.5 -o d.csv");
    for learner in ["svc", "linear"] {
        let result =
            shell.ok(&format!("fit d.csv -o m.evm --learner {learner} --max-seconds 0 --json")).json();
        assert_eq!(result["exit"], "interrupted", "{learner}");
        assert_eq!(shell.ok("predict m.evm d.csv --json").json()["rows"], 500);
    }
    // a factorization has no partial result
    let before = shell.read("m.evm");
    let result = shell.run("fit d.csv -o m.evm --learner rls --max-seconds 0 -q");
    let text = "error: d.csv: interrupted before the factorization; there is no partial answer\n";
    assert_eq!((result.err.as_str(), result.code), (text, 1));
    assert_eq!(shell.read("m.evm"), before);
}

#[test]
fn tune_without_time_fails_with_a_message() {
    let shell = Shell::new();
    shell.ok("generate two-moons --rows 300 --noise 0.5 -o d.csv");
    let result = shell.run("tune d.csv --max-seconds 0");
    assert_eq!(result.code, 1);
    assert!(
        result.err.ends_with("error: stopped before any parameters were tried; allow more time\n"),
        "{}",
        result.err
    );
}

#[test]
fn files_are_bit_identical_for_any_number_of_threads() {
    for (data, options) in [
        ("two-moons", "--probability sigmoid"),
        ("waveform", "--cache-mb 1"),
        ("text", "--learner linear"),
        ("waveform", "--learner one-class --set nu=0.2 --label none"),
        ("waveform", "--learner rls"),
    ] {
        let shell = Shell::new();
        shell.ok(&format!("generate {data} --rows 400 -o d.svm"));
        let mut seen = Vec::new();
        for threads in [1, 2, 4] {
            shell.ok(&format!("fit d.svm -o m.evm {options} --threads {threads}"));
            shell.ok(&format!("predict m.evm d.svm -o p.tsv --threads {threads}"));
            seen.push((shell.read("m.evm"), shell.read("p.tsv")));
        }
        assert!(seen.windows(2).all(|w| w[0] == w[1]), "{data} {options}");
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_training_with_a_model() {
    use std::process::{Command, Stdio};
    let shell = Shell::new();
    // noisy data and a cost that make training slow
    shell.ok("generate two-moons --rows 6000 --noise 2 -o d.svm");
    let child = Command::new(env!("CARGO_BIN_EXE_evermargin"))
        .args("fit d.svm -o m.evm --c 1e6 --gamma 10 --tolerance 1e-12 --json".split(' '))
        .current_dir(shell.path(""))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("started");
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(status.success());
    let output = child.wait_with_output().expect("ended");
    assert!(output.status.success());
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(json["exit"], "interrupted");
    shell.ok("inspect m.evm");
}
