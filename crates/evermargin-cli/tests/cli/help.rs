//! Help texts against stored snapshots, and the examples at their end. To update the snapshots after an intended change, run
//! `EVERMARGIN_UPDATE=1 cargo test -p evermargin-cli help`.

use crate::shell::Shell;
use std::path::PathBuf;

const VERBS: [&str; 14] = [
    "fit",
    "predict",
    "label",
    "ask",
    "summarize",
    "merge",
    "embed",
    "tune",
    "run",
    "convert",
    "inspect",
    "generate",
    "demo",
    "learners",
];

/// Verbs without options that the short help hides.
const SHORT: [&str; 5] = ["merge", "inspect", "generate", "demo", "learners"];

/// Compares a text with its snapshot, or writes the snapshot.
fn check(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cli/help").join(format!("{name}.txt"));
    if std::env::var_os("EVERMARGIN_UPDATE").is_some() {
        std::fs::write(&path, text).expect("written");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expected, "{name}: if this was meant, run with EVERMARGIN_UPDATE=1");
}

#[test]
fn help_texts_equal_their_snapshots() {
    let shell = Shell::new();
    check("evermargin", &shell.ok("--help").out);
    for verb in VERBS {
        check(verb, &shell.ok(&format!("{verb} --help")).out);
        if SHORT.contains(&verb) {
            shell.fails(&format!("{verb} --help-all"), 2);
        } else {
            check(&format!("{verb}-all"), &shell.ok(&format!("{verb} --help-all")).out);
        }
    }
    check("learners-list", &shell.ok("learners").out);
    check("learners-lasvm", &shell.ok("learners lasvm").out);
}

#[test]
fn help_of_fit_has_at_most_80_lines() {
    let lines = Shell::new().ok("fit --help").out.lines().count();
    assert!(lines <= 80, "{lines} lines");
}

#[test]
fn common_options_exist_in_all_commands() {
    let shell = Shell::new();
    for verb in VERBS {
        let help = shell.ok(&format!("{verb} -h")).out;
        for option in ["--threads", "--seed", "--quiet", "--json"] {
            assert!(help.contains(option), "{verb} {option}");
        }
    }
}

/// Commands of the examples at the end of a help text: those that make the data, and the two examples.
fn examples(verb: &str) -> (Vec<String>, Vec<String>) {
    let help = Shell::new().ok(&format!("{verb} --help")).out;
    let (_, block) = help.rsplit_once("\nExamples:\n").unwrap_or_else(|| panic!("{verb}: no examples"));
    let (mut data, mut commands) = (Vec::new(), Vec::new());
    let mut is_example = false;
    for line in block.lines().filter(|line| !line.is_empty()) {
        let command = line.strip_prefix("  ").unwrap_or_else(|| panic!("{verb}: '{line}' is not indented"));
        match command.strip_prefix("# ") {
            Some(description) => {
                assert!(!description.is_empty() && !is_example, "{verb}: {line}");
                is_example = true;
            }
            None if is_example => {
                commands.push(command.to_string());
                is_example = false;
            }
            None => data.push(command.to_string()),
        }
    }
    (data, commands)
}

#[test]
fn every_help_text_ends_with_two_examples() {
    for verb in VERBS.into_iter().chain([""]) {
        let (data, commands) = examples(verb);
        assert_eq!(commands.len(), 2, "{verb}: {commands:?}");
        let expected = if verb.is_empty() { "evermargin ".to_string() } else { format!("evermargin {verb}") };
        assert!(commands.iter().all(|command| command.starts_with(&expected)), "{verb}: {commands:?}");
        if let Some(first) = data.first() {
            assert!(first.starts_with("evermargin generate "), "{verb}: {first}");
        }
    }
}

#[cfg(unix)]
#[test]
fn examples_run() {
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_evermargin"));
    let mut path = program.parent().expect("a folder").as_os_str().to_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    for verb in VERBS.into_iter().chain([""]) {
        let shell = Shell::new();
        let (data, commands) = examples(verb);
        for command in data.iter().chain(&commands) {
            let output = std::process::Command::new("sh")
                .args(["-eu", "-c", command])
                .current_dir(shell.directory())
                .env("PATH", &path)
                .stdin(std::process::Stdio::null())
                .output()
                .expect("started");
            assert!(output.status.success(), "{command}\n{}", String::from_utf8_lossy(&output.stderr));
        }
    }
}

#[test]
fn every_learner_has_a_list_entry_parameters_and_a_page() {
    let shell = Shell::new();
    let list = shell.ok("learners").out;
    for learner in evermargin::estimators::ESTIMATORS {
        let name = learner.name;
        let entry = |line: &&str| line.get(2..).is_some_and(|rest| rest.starts_with(&format!("{name} ")));
        assert_eq!(list.lines().filter(entry).count(), 1, "{name}");
        let json = shell.ok(&format!("learners {name} --json")).json();
        assert_eq!(json["params"].as_array().map(Vec::len), Some(learner.params.len()), "{name}");
        assert_eq!(json["page"], crate::book::parameters::page_of(name).name, "{name}");
    }
    let wrong = shell.fails("learners svm", 2).err;
    assert!(wrong.contains("did you mean svc?"), "{wrong}");
}

#[test]
fn the_version_is_printed() {
    assert_eq!(Shell::new().ok("--version").out, format!("evermargin {}\n", env!("CARGO_PKG_VERSION")));
}
