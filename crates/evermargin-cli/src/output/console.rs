//! Printing: results on standard output, everything else on standard error.

use crate::args::Common;
use crate::failure::Failure;
use crate::remedy::Worded;
use serde_json::Value;
use std::io::Write;
use std::path::Path;

/// Prints text on standard output.
pub fn print_line(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.write_all(b"\n"))
        .and_then(|()| out.flush())
        .map_err(|e| Failure::io("standard output", &e))
}

/// Prints the line of `--json`, or the text, or nothing with `--quiet`.
pub fn answer(common: &Common, json: &Value, text: &str) -> Result<(), Failure> {
    if common.json {
        print_line(&json.to_string())
    } else if common.quiet {
        Ok(())
    } else {
        print_line(text)
    }
}

/// Prints notes on standard error about choices, corrections and omissions.
pub fn note(common: &Common, notes: &[impl Worded]) {
    if !common.quiet {
        for note in notes {
            status!("note: {}", note.worded());
        }
    }
}

/// A path as an argument of a shell command.
pub fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+=:@%,~".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// A number with four significant digits and without trailing zeros.
pub fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let exponent = value.abs().log10().floor() as i32;
    if (-4..=6).contains(&exponent) {
        let places = (3 - exponent).max(0) as usize;
        let text = format!("{value:.places$}");
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
    } else {
        format!("{value:.3e}")
    }
}

/// A number in full, in its shortest form: `0.1`, `1e300`.
pub fn exact(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || (1e-5..1e16).contains(&size) { value.to_string() } else { format!("{value:e}") }
}

/// A number of things in words: "1 row", "2 rows".
pub fn count(n: usize, what: &str) -> String {
    let plural = if n == 1 { what.to_string() } else { format!("{}s", what.replace("class", "classe")) };
    format!("{n} {plural}")
}

/// A size in bytes, kB or MB.
pub fn bytes(n: u64) -> String {
    match n {
        0..1_000 => format!("{n} bytes"),
        1_000..1_000_000 => format!("{} kB", short(n as f64 / 1e3)),
        _ => format!("{} MB", short(n as f64 / 1e6)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_printed_without_trailing_zeros() {
        for (value, text) in
            [(0.0, "0"), (1.0, "1"), (0.12345, "0.1235"), (123_456.0, "123456"), (-2.5, "-2.5")]
        {
            assert_eq!(short(value), text);
        }
        assert_eq!(short(1e-9), "1.000e-9");
        for text in ["0", "0.1", "1e300", "-2.5e-9", "123456789"] {
            assert_eq!(exact(text.parse().unwrap()), text);
        }
        assert_eq!((count(1, "class"), count(3, "class")), ("1 class".into(), "3 classes".into()));
    }

    #[test]
    fn paths_with_blanks_are_quoted() {
        assert_eq!(quoted(Path::new("a/b.csv")), "a/b.csv");
        assert_eq!(quoted(Path::new("my data.csv")), "'my data.csv'");
    }
}
