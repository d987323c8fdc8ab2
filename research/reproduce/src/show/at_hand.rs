//! Lists the data files that are present and complete, and the sources of the others.

use crate::failure::{Failure, Result};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::path::Path;

/// Files that the tables read, with checksums, and data that are not available.
const KNOWN: &str = include_str!("../../data-sets.json");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DataCatalog {
    files: Vec<File>,
    nowhere: Vec<Absent>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    #[serde(rename = "file")]
    path: String,
    bytes: u64,
    sha256: String,
    sha256_uncompressed: String,
    origin: String,
    serves: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Absent {
    name: String,
    origin: String,
}

/// State of a data file.
#[derive(Debug, PartialEq)]
enum State {
    Whole,
    Other,
    Missing,
}

fn known() -> Result<DataCatalog> {
    serde_json::from_str(KNOWN).map_err(|e| Failure::Content(format!("data-sets.json: {e}")))
}

/// Names of all data files.
pub(crate) fn files() -> Vec<String> {
    known().map_or_else(|_| Vec::new(), |known| known.files.into_iter().map(|f| f.path).collect())
}

/// State of a file. It is complete if the packed file or its unpacked content has the checksum.
fn state(folder: &Path, file: &File) -> Result<State> {
    let path = folder.join(&file.path);
    if !path.is_file() {
        return Ok(State::Missing);
    }
    let fault = |e: std::io::Error| Failure::Content(format!("{}: {e}", path.display()));
    if hash(&std::fs::read(&path).map_err(fault)?) == file.sha256 {
        return Ok(State::Whole);
    }
    let content = evermargin_io::read_whole(&path, &evermargin_io::Limits::default());
    let same = content.is_ok_and(|content| hash(content.as_ref()) == file.sha256_uncompressed);
    Ok(if same { State::Whole } else { State::Other })
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// One line per file, with totals at the end.
pub fn list(folder: &Path) -> Result<String> {
    let known = known()?;
    let (mut out, mut sums) = (String::new(), [0; 3]);
    for file in &known.files {
        let state = state(folder, file)?;
        let word = match state {
            State::Whole => "whole",
            State::Other => "OTHER CONTENT",
            State::Missing => "MISSING",
        };
        let _ = writeln!(out, "{word:<13} {:>9}  {:<44} {}", size(file.bytes), file.path, file.name);
        if state != State::Whole {
            let _ = writeln!(out, "{:26}from {}; for {}", "", file.origin, file.serves);
        }
        sums[state as usize] += 1;
    }
    let _ = writeln!(
        out,
        "\n{} of {} files complete, {} with other content, {} missing, in {}\n\nNot available (their cells are missing):",
        sums[0],
        known.files.len(),
        sums[1],
        sums[2],
        folder.display()
    );
    for absent in &known.nowhere {
        let _ = writeln!(out, "  {}: from {}", absent.name, absent.origin);
    }
    Ok(out)
}

fn size(bytes: u64) -> String {
    match bytes {
        b if b < 10_000 => format!("{b} B"),
        b if b < 10_000_000 => format!("{} kB", b / 1000),
        b => format!("{} MB", b / 1_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_follows_from_the_checksums() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a"), "abc").unwrap();
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let file = |name: &str, sha256: &str, inner: &str| File {
            name: name.into(),
            path: name.into(),
            bytes: 3,
            sha256: sha256.into(),
            sha256_uncompressed: inner.into(),
            origin: String::new(),
            serves: String::new(),
        };
        assert_eq!(state(folder.path(), &file("a", abc, "")).unwrap(), State::Whole);
        assert_eq!(state(folder.path(), &file("a", "", abc)).unwrap(), State::Whole);
        assert_eq!(state(folder.path(), &file("a", "", "")).unwrap(), State::Other);
        assert_eq!(state(folder.path(), &file("b", abc, abc)).unwrap(), State::Missing);
    }

    #[test]
    fn all_files_of_an_empty_folder_are_missing() {
        let text = list(Path::new("/nonexistent")).unwrap();
        assert!(text.contains("MISSING") && text.contains("0 of 106 files complete"), "{text}");
        assert!(text.contains("from ") && text.contains("KDD Cup 99 full"));
    }
}
