//! Lists the tables and computes hashes of the code that results depend on: one hash of the shared source files, and one per
//! room, a file or folder with procedures that nothing else uses. Files that only compare and show numbers are excluded.

use std::fmt::Write;
use std::path::{Path, PathBuf};

fn files(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.filter_map(|e| e.ok().map(|e| e.path())).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            files(&path, ending, found);
        } else if path.extension().is_some_and(|e| e == ending) {
            found.push(path);
        }
    }
}

fn main() -> std::io::Result<()> {
    let here = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default());
    let out = PathBuf::from(std::env::var("OUT_DIR").unwrap_or_default());
    let mut tables = Vec::new();
    for work in ["ertekin", "emara", "emara-kantardzic", "sindhwani", "hou-hero"] {
        let folder = here.join("tables").join(work);
        println!("cargo::rerun-if-changed={}", folder.display());
        files(&folder, "json", &mut tables);
    }
    let mut list = String::from("&[\n");
    for path in &tables {
        let _ = writeln!(list, "    include_str!({:?}),", path.display().to_string());
    }
    list.push_str("]\n");
    std::fs::write(out.join("tables.rs"), list)?;

    let mut sources = Vec::new();
    for folder in ["../../crates/evermargin/src", "../../crates/evermargin-io/src", "src"] {
        let folder = here.join(folder);
        println!("cargo::rerun-if-changed={}", folder.display());
        for ending in ["rs", "json", "txt"] {
            files(&folder, ending, &mut sources);
        }
    }
    let within = |path: &Path, room: &str| path.starts_with(here.join(room));
    let apart = |path: &Path| ROOMS.iter().chain(&SHOWS).any(|room| within(path, room));
    let lock = here.join("../Cargo.lock");
    println!("cargo::rerun-if-changed={}", lock.display());
    let mut shared: Vec<&PathBuf> = sources.iter().filter(|path| !apart(path)).collect();
    shared.push(&lock);
    let built = ["PROFILE", "OPT_LEVEL", "TARGET"].map(|name| std::env::var(name).unwrap_or_default());
    println!("cargo::rustc-env=EVERMARGIN_CODE={} {}", hash(&here, &shared), built.join(" "));
    let mut rooms = String::from("&[\n");
    for room in ROOMS {
        let own: Vec<&PathBuf> = sources.iter().filter(|path| within(path, room)).collect();
        let _ = writeln!(rooms, "    ({room:?}, {:?}),", hash(&here, &own));
    }
    rooms.push_str("]\n");
    std::fs::write(out.join("rooms.rs"), rooms)
}

/// Files that only compare and show numbers.
const SHOWS: [&str; 4] = ["src/show", "src/main.rs", "src/judge.rs", "src/explain.rs"];

/// Rooms: procedures whose results nothing else uses, so that a change in one does not affect results of others.
const ROOMS: [&str; 5] =
    ["src/ertekin.rs", "src/local.rs", "src/sequential.rs", "src/sindhwani", "src/stream"];

/// Hash of names and contents of files, in 16 hexadecimal digits.
fn hash(here: &Path, paths: &[&PathBuf]) -> String {
    let mut code = blake3::Hasher::new();
    for path in paths {
        let name = path.strip_prefix(here).unwrap_or(path);
        code.update(name.to_string_lossy().as_bytes());
        code.update(&std::fs::read(path).unwrap_or_default());
    }
    code.finalize().to_hex()[..16].to_string()
}
