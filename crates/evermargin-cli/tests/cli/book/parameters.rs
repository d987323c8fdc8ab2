//! Tables of parameters, between `<!-- begin parameters NAME -->` and `<!-- end parameters NAME -->`, equal the registry.
//! `EVERMARGIN_UPDATE=1 cargo test -p evermargin-cli book` updates them.

use super::markdown::{Page, between, book};
use evermargin::estimators::{ESTIMATORS, EstimatorSpec, estimator};
use std::fmt::Write;

/// Whether tables are written instead of compared.
pub fn updating() -> bool {
    std::env::var_os("EVERMARGIN_UPDATE").is_some()
}

fn marks(name: &str) -> [String; 2] {
    ["begin", "end"].map(|side| format!("<!-- {side} parameters {name} -->"))
}

/// The only page with the parameters of a learner.
pub fn page_of(name: &str) -> Page {
    let [begin, _] = marks(name);
    let mut pages: Vec<Page> = book().into_iter().filter(|p| p.text.contains(&begin)).collect();
    assert_eq!(pages.len(), 1, "pages with the parameters of {name}");
    pages.remove(0)
}

fn table(of: &EstimatorSpec) -> String {
    let mut out = String::from("\n\n| name | default | meaning |\n|---|---|---|\n");
    for p in of.params {
        writeln!(out, "| `{}` | {} | {} |", p.name, readable(p.default), p.help.replace('|', "\\|"))
            .expect("a string");
    }
    out.push('\n');
    out
}

/// Numbers of bytes in readable units, all other values unchanged.
fn readable(default: &str) -> String {
    match default.parse::<u64>() {
        Ok(n) if n >= 1 << 30 && n.is_multiple_of(1 << 30) => format!("{default} ({} GiB)", n >> 30),
        Ok(n) if n >= 1 << 20 && n.is_multiple_of(1 << 20) => format!("{default} ({} MiB)", n >> 20),
        _ => default.to_string(),
    }
}

#[test]
fn tables_of_parameters_equal_the_registry() {
    let mut wrong = Vec::new();
    for of in ESTIMATORS {
        let page = page_of(of.name);
        let [begin, end] = marks(of.name);
        let there = between(&page.text, &begin, &end).unwrap_or_else(|| panic!("{}: no {end}", page.name));
        let table = table(of);
        if there == table {
            continue;
        }
        if updating() {
            let new = page.text.replace(&format!("{begin}{there}{end}"), &format!("{begin}{table}{end}"));
            std::fs::write(&page.path, new).expect("written");
        } else {
            wrong.push(format!("{}: {}\n{there}\nshould be\n{table}", page.name, of.name));
        }
    }
    assert!(wrong.is_empty(), "set EVERMARGIN_UPDATE=1 to update the tables\n{}", wrong.join("\n"));
}

#[test]
fn every_table_belongs_to_a_registered_learner() {
    for page in book() {
        for rest in page.text.split("<!-- begin parameters ").skip(1) {
            let name = rest.split(' ').next().unwrap_or("");
            assert!(estimator(name).is_ok(), "{}: no learner {name}", page.name);
        }
    }
}

/// Values of flags that look like parameters, such as `--scale divide=255` or `--forget window=1000`.
const FLAG_VALUES: [&str; 6] = ["divide", "half-life", "on-drift", "rate", "rbf", "window"];

/// Checks parameters in sentences and tables; commands in the pages are run by other tests. Pages about Python are left
/// out, because they have other keyword arguments.
#[test]
fn every_assignment_in_a_sentence_names_a_parameter() {
    let known = |name: &str| ESTIMATORS.iter().any(|e| e.params.iter().any(|p| p.name == name));
    let mut wrong = Vec::new();
    let mut seen = 0;
    for page in book().into_iter().filter(|p| !p.file().starts_with("python")) {
        for (line, text) in page.text.lines().enumerate() {
            let spans = text.split('`').skip(1).step_by(2).filter(|s| !s.contains(' '));
            let set = text.split("--set ").skip(1).map(|rest| rest.trim_start_matches('"'));
            for assigned in spans.chain(set) {
                let Some((name, value)) = assigned.split_once('=') else { continue };
                let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c);
                if name.is_empty() || name == "name" || !name.chars().all(plain) || value.starts_with('=') {
                    continue;
                }
                seen += 1;
                if name.starts_with("--") || known(&name.replace('-', "_")) || FLAG_VALUES.contains(&name) {
                    continue;
                }
                wrong.push(format!("{}:{}: {name} is no parameter", page.name, line + 1));
            }
        }
    }
    assert!(seen > 40, "{seen} assignments");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
