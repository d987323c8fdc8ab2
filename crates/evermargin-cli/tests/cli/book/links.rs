//! Every page is in the summary, and every link has a valid target.

use super::markdown::{Page, anchor, book, book_and_readme, root};
use std::collections::BTreeMap;

const SUMMARY: &str = "SUMMARY.md";

#[test]
fn every_page_is_in_the_summary_once() {
    let mut count: BTreeMap<String, usize> =
        book().iter().map(|p| p.file().to_string()).filter(|n| n != SUMMARY).map(|n| (n, 0)).collect();
    for (line, target) in Page::read("docs/SUMMARY.md").links() {
        if target.is_empty() {
            continue; // a title without a page
        }
        let seen = count.get_mut(&target).unwrap_or_else(|| panic!("SUMMARY.md:{line}: no page {target}"));
        *seen += 1;
    }
    let wrong: Vec<_> = count.iter().filter(|(_, n)| **n != 1).collect();
    assert!(wrong.is_empty(), "pages that are not in SUMMARY.md exactly once: {wrong:?}");
}

#[test]
fn every_link_has_a_valid_target() {
    let mut wrong = Vec::new();
    for page in book_and_readme() {
        for (line, target) in page.links() {
            if let Err(what) = check_target(&page, &target) {
                wrong.push(format!("{}:{line}: {target}: {what}", page.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Checks the target of a link; addresses of other hosts are not requested.
fn check_target(page: &Page, target: &str) -> Result<(), String> {
    if target.starts_with("https://") || (target.is_empty() && page.file() == SUMMARY) {
        return Ok(());
    }
    let (path, heading) = target.split_once('#').map_or((target, None), |(p, h)| (p, Some(h)));
    let full = match path {
        "" => page.path.clone(),
        path => page.path.parent().ok_or("no folder")?.join(path),
    };
    if !full.exists() {
        return Err("no such file".into());
    }
    let Some(heading) = heading else { return Ok(()) };
    let text = std::fs::read_to_string(&full).map_err(|e| e.to_string())?;
    let there = Page { path: full, name: path.to_string(), text };
    let known: Vec<String> = there.headings().iter().map(|(_, h)| anchor(h)).collect();
    if known.iter().any(|k| k == heading) { Ok(()) } else { Err(format!("no such heading among {known:?}")) }
}

/// Files of the project that a page names without a link exist; `NAME` stands for any name.
#[test]
fn every_file_that_a_page_names_exists() {
    let folders = ["crates/", "benches/", "python/", "docs/", "research/"];
    let mut wrong = Vec::new();
    for page in book_and_readme() {
        for (line, text) in page.prose() {
            for word in text.split('`').skip(1).step_by(2).flat_map(str::split_whitespace) {
                let named = folders.iter().any(|f| word.starts_with(f)) && !word.contains(['*', '…']);
                if named && !word.contains("NAME") && !root().join(word).exists() {
                    wrong.push(format!("{}:{line}: {word}", page.name));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "no such file:\n{}", wrong.join("\n"));
}

#[test]
fn links_without_a_target_are_detected() {
    let page = Page::read("docs/SUMMARY.md");
    assert!(check_target(&page, "svc.md").is_ok() && check_target(&page, "svc.md#cost").is_ok());
    assert!(
        check_target(&page, "no-such-page.md").is_err()
            && check_target(&page, "svc.md#no-such-heading").is_err()
    );
}

/// Paths of the architecture page exist in the repository; `<group>` stands for any name.
#[test]
fn every_path_of_the_architecture_page_exists() {
    let page = Page::read("ARCHITECTURE.md");
    let (mut seen, mut wrong) = (0, Vec::new());
    for (number, text) in page.prose() {
        for path in text.split('`').skip(1).step_by(2) {
            let source = std::path::Path::new(path).extension().is_some_and(|ending| ending == "rs");
            let is_path = (path.contains('/') || source) && !path.contains(' ');
            let known = path.split('<').next().unwrap_or(path);
            if is_path {
                seen += 1;
                if !root().join(known).exists() {
                    wrong.push(format!("ARCHITECTURE.md:{number}: {path}"));
                }
            }
        }
    }
    assert!(seen > 30, "{seen} paths");
    assert!(wrong.is_empty(), "no such path from the root of the repository:\n{}", wrong.join("\n"));
}
