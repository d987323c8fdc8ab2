//! Pages of methods have the same headings, and every learner has a page.

use super::markdown::{Page, between, root};
use super::parameters::{page_of, updating};
use evermargin::estimators::ESTIMATORS;
use std::fmt::Write;

/// Headings that every page of a method has.
const HEADINGS: [&str; 4] = ["The problem", "When it fails", "Parameters", "Cost"];

/// Pages of the part "Methods" of the summary, except the first, which is the table of all methods.
fn method_pages() -> Vec<Page> {
    let summary = Page::read("docs/SUMMARY.md");
    let part = between(&summary.text, "\n# Methods\n", "\n# ").expect("a part called Methods");
    let names = part.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let pages: Vec<Page> =
        names.filter(|n| !n.is_empty()).map(|n| Page::read(&format!("docs/{n}"))).collect();
    assert_eq!(pages[0].file(), "methods.md");
    pages.into_iter().skip(1).collect()
}

#[test]
fn every_method_page_has_the_common_headings() {
    let pages = method_pages();
    let mut wrong = Vec::new();
    for page in &pages {
        let found: Vec<String> =
            page.headings().into_iter().filter(|(d, _)| *d == 2).map(|(_, h)| h).collect();
        for needed in HEADINGS {
            if !found.iter().any(|h| h == needed) {
                wrong.push(format!("{}: no heading '## {needed}'", page.name));
            }
        }
        let learners = page.text.contains("<!-- begin parameters ");
        let problem = between(&page.text, "## The problem\n", "## Parameters\n").unwrap_or("");
        if learners && !problem.contains("```text\n") {
            wrong.push(format!("{}: no equation between the problem and the parameters", page.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for learner in ESTIMATORS {
        let page = page_of(learner.name);
        assert!(pages.iter().any(|p| p.name == page.name), "{} is not a page of a method", page.name);
    }
}

#[test]
fn the_table_of_learners_equals_the_registry() {
    let mut table = String::from("\n\n| learner | one line |\n|---|---|\n");
    for learner in ESTIMATORS {
        let page = page_of(learner.name);
        writeln!(
            table,
            "| [`{}`]({}) | {} |",
            learner.name,
            page.file(),
            learner.summary.replace('|', "\\|")
        )
        .expect("a string");
    }
    table.push('\n');
    let (begin, end) = ("<!-- begin learners -->", "<!-- end learners -->");
    let page = Page::read("docs/methods.md");
    let there = between(&page.text, begin, end).expect("marks of the table");
    if there != table && updating() {
        let new = page.text.replace(&format!("{begin}{there}{end}"), &format!("{begin}{table}{end}"));
        std::fs::write(root().join("docs/methods.md"), new).expect("written");
    } else {
        assert_eq!(there, table, "docs/methods.md: set EVERMARGIN_UPDATE=1 to update the table");
    }
}

#[test]
fn begin_and_end_marks_are_paired() {
    for page in super::markdown::book() {
        let marks: Vec<&str> = page
            .text
            .lines()
            .filter(|l| l.starts_with("<!-- begin ") || l.starts_with("<!-- end "))
            .collect();
        for pair in marks.chunks(2) {
            let [begin, end] = pair else { panic!("{}: {pair:?} has no end", page.name) };
            assert_eq!(begin.replace("begin ", "end "), *end, "{}", page.name);
        }
    }
}
