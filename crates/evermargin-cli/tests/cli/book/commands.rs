//! Code blocks of the book: each has a language, commands run as printed, and shown output equals their output.
//!
//! Blocks of one page run in order in one folder, including those in `<!-- setup sh … -->`. A `text` block right after
//! commands shows lines of their output, in order; lines may be left out. Words must be equal; seconds are ignored, and
//! other numbers may differ by a quarter, because rounding differs between processors and changes the number of steps.

use super::markdown::{Block, Page, book_and_readme, root};
use std::path::Path;
use std::process::Command;

const LANGUAGES: [&str; 7] = ["sh", "sh ignore", "python", "rust", "text", "json", "toml"];

#[test]
fn every_block_has_a_language() {
    let mut wrong = Vec::new();
    for page in book_and_readme() {
        let (blocks, prose) = page.parts();
        for block in blocks {
            let place = format!("{}:{}", page.name, block.line);
            if !LANGUAGES.contains(&block.language.as_str()) {
                wrong.push(format!("{place}: '{}' is none of {LANGUAGES:?}", block.language));
            }
            let reasoned = block.above.starts_with("<!-- ") && block.above.len() > "<!--  -->".len();
            if block.language == "sh ignore" && !reasoned {
                wrong.push(format!("{place}: a comment right above must say why it is not run"));
            }
        }
        for pair in prose.windows(2) {
            let ((_, before), (line, text)) = (pair[0], pair[1]);
            if before.trim().is_empty() && (text.starts_with("    ") || text.starts_with('\t')) {
                wrong
                    .push(format!("{}:{line}: an indented block; fence it and name its language", page.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// At most a fifth of the command blocks may be skipped.
#[test]
fn at_most_a_fifth_of_command_blocks_is_skipped() {
    let count = |language: &str| -> usize {
        book_and_readme().iter().flat_map(Page::blocks).filter(|b| b.language == language).count()
    };
    let (run, left) = (count("sh"), count("sh ignore"));
    assert!(left * 4 <= run, "{left} blocks of commands are not run, {run} are");
}

#[test]
fn every_page_with_rust_is_a_doctest() {
    let libraries = ["evermargin-io", "evermargin-store"].map(|name| {
        let path = root().join("crates").join(name).join("src/lib.rs");
        std::fs::read_to_string(path).expect("a library")
    });
    for page in book_and_readme() {
        if page.blocks().iter().any(|b| b.language == "rust") {
            let line = format!("include_str!(\"../../../{}\")", page.name);
            assert!(libraries.iter().any(|l| l.contains(&line)), "no doctest: {line}");
        }
    }
}

#[cfg(unix)]
#[test]
fn commands_run_and_print_what_the_page_shows() {
    let mut wrong = Vec::new();
    for page in book_and_readme() {
        let begun = std::time::Instant::now();
        let folder = tempfile::tempdir().expect("a folder");
        let mut printed = None;
        for block in page.blocks() {
            let result = match block.language.as_str() {
                "sh" => run(&block.text, folder.path()).map(|out| printed = Some(out)),
                "text" if block.follows => printed.take().map_or(Ok(()), |out| compare(&block, &out)),
                _ => Ok(()),
            };
            if let Err(what) = result {
                wrong.push(format!("{}:{}: {what}", page.name, block.line));
            }
        }
        println!("{}: {:.1} s", page.name, begun.elapsed().as_secs_f64());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Output of a script on both streams; the script ends with the first command that fails.
fn run(script: &str, folder: &Path) -> Result<String, String> {
    let program = Path::new(env!("CARGO_BIN_EXE_evermargin"));
    let mut path = program.parent().expect("a folder").as_os_str().to_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let output = Command::new("sh")
        .args(["-eu", "-c", &format!("exec 2>&1\n{script}")])
        .current_dir(folder)
        .env("PATH", path)
        .env("NO_COLOR", "1")
        .env("RAYON_NUM_THREADS", "1")
        .env_remove("COLUMNS")
        .output()
        .map_err(|e| e.to_string())?;
    let printed = String::from_utf8_lossy(&output.stdout).to_string();
    if output.status.success() { Ok(printed) } else { Err(format!("{}\n{script}{printed}", output.status)) }
}

/// Checks that every line shown is among the printed lines, in order.
fn compare(block: &Block, printed: &str) -> Result<(), String> {
    let mut lines = printed.lines();
    for shown in block.text.lines().filter(|l| !l.trim().is_empty()) {
        if !lines.any(|line| lines_match(shown, line)) {
            return Err(format!("'{shown}' is not what is said:\n{printed}"));
        }
    }
    Ok(())
}

/// Equality except for seconds and small differences of other numbers.
fn lines_match(shown: &str, printed: &str) -> bool {
    let (shown, printed): (Vec<&str>, Vec<&str>) =
        (shown.split_whitespace().collect(), printed.split_whitespace().collect());
    let unit = |i: usize| shown.get(i + 1).copied().unwrap_or("");
    shown.len() == printed.len()
        && (0..shown.len()).all(|i| shown[i] == printed[i] || numbers_match(shown[i], printed[i], unit(i)))
}

fn numbers_match(shown: &str, printed: &str, unit: &str) -> bool {
    let number = |word: &str| {
        word.trim_matches(|c: char| !c.is_ascii_digit() && c != '-').replace(',', "").parse::<f64>()
    };
    let (Ok(a), Ok(b)) = (number(shown), number(printed)) else { return false };
    let seconds = unit.trim_matches(|c: char| !c.is_alphanumeric()) == "s";
    seconds || (a - b).abs() <= 0.25 * a.abs().max(b.abs())
}

#[test]
fn lines_match_up_to_seconds_and_small_differences() {
    assert!(lines_match("right on 198 labels: 99.00 %", "right on 198 labels: 98.48 %"));
    assert!(lines_match("done in 0.02 s: 83 vectors", "done in 1.7 s: 84 vectors"));
    assert!(!lines_match("83 support vectors", "83 vectors") && !lines_match("83 vectors", "120 vectors"));
    assert!(
        !lines_match("accuracy 0.97", "accuracy none")
            && !lines_match("svc, rbf kernel", "svc, linear kernel")
    );
}
