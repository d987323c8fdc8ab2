//! The folders of the crate form layers: code in a folder uses its own folder and those before it in [`LAYERS`].
//!
//! Documentation links and `#[cfg(test)] mod tests` blocks may name any folder and are not checked.

use std::fs;
use std::path::Path;

/// The top-level modules of the crate, lowest first.
const LAYERS: &str = "error watch data math kernel graph solver params metrics cpu model resampling datasets summary active estimators pipeline engine";

/// The position of a folder among the layers.
fn layer(name: &str) -> Option<usize> {
    LAYERS.split(' ').position(|layer| layer == name)
}

/// The source with comments and test modules blanked; line breaks are kept.
fn code(source: &str) -> String {
    let mut out = String::new();
    let mut lines = source.lines().peekable();
    while let Some(line) = lines.next() {
        let test = line == "#[cfg(test)]" && lines.peek().is_some_and(|next| next.starts_with("mod "));
        if test && lines.peek().is_some_and(|next| next.ends_with('{')) {
            out.push('\n');
            for inside in lines.by_ref() {
                out.push('\n');
                if inside == "}" {
                    break;
                }
            }
            continue;
        }
        out.push_str(line.split("//").next().unwrap_or_default());
        out.push('\n');
    }
    out
}

/// First names of a path: a single name, or all names of a group in braces.
fn first_names(path: &str) -> Vec<String> {
    let name = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let Some(group) = path.strip_prefix('{') else { return vec![name(path)] };
    let (mut depth, mut found, mut start) = (1, Vec::new(), 0);
    for (at, c) in group.char_indices() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        if depth == 0 || (depth == 1 && c == ',') {
            found.push(name(group[start..at].trim_start()));
            start = at + 1;
        }
        if depth == 0 {
            break;
        }
    }
    found.retain(|name| !name.is_empty());
    found
}

/// Modules of the crate root that a source uses, with line numbers: through `crate::`, or through as many `super::` as
/// the file is deep in the module tree.
fn root_uses(source: &str, depth: usize) -> Vec<(usize, String)> {
    let code = code(source);
    let climb = "super::".repeat(depth);
    let mut found = Vec::new();
    for (prefix, strict) in [("crate::", true), (climb.as_str(), false)] {
        for (at, _) in code.match_indices(prefix) {
            let before = code[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
                continue;
            }
            let line = code[..at].matches('\n').count() + 1;
            let names = first_names(&code[at + prefix.len()..]).into_iter();
            found.extend(names.filter(|n| strict || layer(n).is_some()).map(|n| (line, n)));
        }
    }
    found
}

/// The uses in one file that break the layers. `path` is relative to `src`.
fn back_edges(path: &str, source: &str) -> Vec<String> {
    let module = path.trim_end_matches(".rs").trim_end_matches("/mod");
    let folder = module.split('/').next().unwrap_or_default();
    let Some(own) = layer(folder) else { return vec![format!("{path}: {folder} has no place in LAYERS")] };
    let above = |(line, name): (usize, String)| match layer(&name) {
        Some(at) if at <= own => None,
        Some(_) => Some(format!("{path}:{line}: {folder} uses {name}, which is above it")),
        None => Some(format!("{path}:{line}: crate::{name} is no folder; name it by the path of its folder")),
    };
    root_uses(source, module.split('/').count()).into_iter().filter_map(above).collect()
}

/// Checks all files under a directory and returns their number.
fn check(root: &Path, directory: &Path, found: &mut Vec<String>) -> usize {
    let mut entries: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let mut files = 0;
    for path in entries {
        if path.is_dir() {
            files += check(root, &path, found);
        } else if path.extension().is_some_and(|e| e == "rs") && path != root.join("lib.rs") {
            let name = path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/");
            found.extend(back_edges(&name, &fs::read_to_string(&path).unwrap()));
            files += 1;
        }
    }
    files
}

#[test]
fn folders_use_only_lower_layers() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    let files = check(&root, &root, &mut found);
    assert!(files > 100, "only {files} files found under {}", root.display());
    assert!(found.is_empty(), "{} uses break the layers:\n{}", found.len(), found.join("\n"));
}

#[test]
fn layers_list_all_top_level_modules() {
    let lib = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap();
    let module = |line: &str| line.strip_prefix("pub mod ")?.strip_suffix(';').map(String::from);
    let mut declared: Vec<String> = lib.lines().filter_map(module).collect();
    let mut layers: Vec<&str> = LAYERS.split(' ').collect();
    declared.sort();
    layers.sort_unstable();
    assert_eq!(declared, layers);
}

#[test]
fn scanner_finds_uses_of_higher_layers() {
    assert_eq!(
        back_edges("graph/tree.rs", "use crate::data::Matrix;\n\nuse crate::solver::Watch;\n"),
        ["graph/tree.rs:3: graph uses solver, which is above it"]
    );
    for source in [
        "use crate::{\n    error::Result,\n    solver::{Exit, Report},\n};\n",
        "fn f() -> crate::solver::Exit {}\n",
        "use super::super::solver::Exit;\n",
        "pub use crate::Model;\n",
    ] {
        assert_eq!(back_edges("graph/tree.rs", source).len(), 1, "{source}");
    }
    assert_eq!(back_edges("graph/mod.rs", "use super::solver::Exit;\n").len(), 1);
    assert_eq!(back_edges("cpu.rs", "use super::engine::Engine;\n").len(), 1);
    assert_eq!(back_edges("newcomer.rs", "").len(), 1);
    for source in [
        "//! See [`crate::solver`].\nuse crate::graph::Graph; // not crate::engine\n",
        "use super::kernel::Kernel;\n", // a module of graph
        "use evermargin_crate::solver::Exit;\n",
        "#[cfg(test)]\nmod tests {\n    use crate::datasets::generate;\n}\n",
        "pub(crate) fn f() {}\npub(in crate::graph) fn g() {}\n",
    ] {
        assert_eq!(back_edges("graph/tree.rs", source), [""; 0], "{source}");
    }
    let after =
        "#[cfg(test)]\nmod tests {\n    use crate::engine::Engine;\n}\n\nuse crate::engine::Engine;\n";
    assert_eq!(back_edges("graph/tree.rs", after), ["graph/tree.rs:6: graph uses engine, which is above it"]);
}
