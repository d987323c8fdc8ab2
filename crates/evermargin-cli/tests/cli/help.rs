//! Help texts against stored snapshots. To update them after an intended change, run
//! `EVERMARGIN_UPDATE=1 cargo test -p evermargin-cli help`.

use crate::shell::Shell;
use std::path::PathBuf;

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cli/help").join(format!("{name}.txt"))
}

#[test]
fn help_texts_equal_their_snapshots() {
    let shell = Shell::new();
    let verbs = [
        "",
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
    ];
    for verb in verbs {
        let output = shell.ok(&format!("{verb} --help"));
        assert!(output.out.contains("Example:"), "{verb}");
        let path = golden(if verb.is_empty() { "evermargin" } else { verb });
        if std::env::var_os("EVERMARGIN_UPDATE").is_some() {
            std::fs::write(&path, &output.out).expect("written");
        }
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(output.out, expected, "{verb}: if this was meant, run with EVERMARGIN_UPDATE=1");
    }
}

#[test]
fn common_options_exist_in_all_commands() {
    let shell = Shell::new();
    for verb in [
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
    ] {
        let help = shell.ok(&format!("{verb} -h")).out;
        for option in ["--threads", "--seed", "--quiet", "--json"] {
            assert!(help.contains(option), "{verb} {option}");
        }
    }
}

#[test]
fn the_version_is_printed() {
    assert_eq!(Shell::new().ok("--version").out, format!("evermargin {}\n", env!("CARGO_PKG_VERSION")));
}
