//! `evermargin learners`: lists the learners by kind of data, or the parameters of one learner.

use crate::args::help::examples;
use crate::args::{Common, DEFAULT_LEARNER};
use crate::failure::Failure;
use crate::output::console;
use evermargin::estimators::{ESTIMATORS, EstimatorSpec, estimator};
use evermargin::model::MulticlassScheme;
use evermargin::params::{ParamKind, ParamSpec};
use serde_json::{Value, json};
use std::fmt::Write;

/// List the learners, or print the parameters of one
#[derive(Debug, clap::Args)]
#[command(after_help = examples(
    "",
    &[],
    [
        ("List the learners by kind of data", "evermargin learners"),
        ("Print the parameters of one", "evermargin learners lasvm"),
    ],
))]
pub struct LearnersArgs {
    /// Learner whose parameters are printed [default: list all learners]
    pub name: Option<String>,
}

/// Learners for one kind of data.
struct Group {
    /// The data.
    title: &'static str,
    /// Learners to try first.
    recommended: &'static [&'static str],
    /// Other learners.
    others: &'static [&'static str],
}

/// All learners except those that serve only for comparison.
const GROUPS: [Group; 5] = [
    Group { title: "Labels for all rows", recommended: &["svc", "linear"], others: &["rls", "ramp-svc"] },
    Group {
        title: "Few labels, many rows without one",
        recommended: &["auto", "linear-da", "submod-s3vm", "lapsvm"],
        others: &[
            "label-propagation",
            "laprls",
            "sparse-lap",
            "da",
            "tsvm",
            "linear-tsvm",
            "grad-tsvm",
            "cccp-s3vm",
            "qp-s3vm",
            "bnb-s3vm",
        ],
    },
    Group {
        title: "A stream of rows",
        recommended: &["lasvm", "lasvm-nc"],
        others: &["local-svc", "seq-med", "seq-lapmed", "lasvm-g", "lasvm-i"],
    },
    Group {
        title: "Several views: groups of columns or files",
        recommended: &["corls"],
        others: &["colapsvm", "colaprls"],
    },
    Group { title: "Rows of one class", recommended: &["one-class"], others: &[] },
];

/// Pages of the documentation whose name is not that of the learner.
const PAGES: [(&str, &[&str]); 9] = [
    ("coregularization", &["corls", "colapsvm", "colaprls", "cotraining"]),
    ("linear-s3vm", &["linear-da", "linear-tsvm"]),
    ("local", &["local-svc"]),
    ("manifold", &["lapsvm", "laprls"]),
    ("med", &["seq-med", "seq-lapmed"]),
    ("robust", &["lasvm-g", "lasvm-nc", "lasvm-i", "full-svm", "ramp-svc"]),
    ("s3vm", &["tsvm", "da", "grad-tsvm", "cccp-s3vm"]),
    ("sparse-manifold", &["sparse-lap"]),
    ("submod-s3vm", &["submod-s3vm", "parzen"]),
];

/// Flags of parameters; all other parameters are set with `--set`.
const FLAGS: [(&str, &str); 15] = [
    ("kernel", "--kernel"),
    ("gamma", "--gamma"),
    ("degree", "--degree"),
    ("coef0", "--coef0"),
    ("c", "--c"),
    ("tolerance", "--tolerance"),
    ("max_steps", "--max-steps"),
    ("ratio", "--ratio"),
    ("variant", "--variant"),
    ("select", "--select"),
    ("pool", "--pool"),
    ("labels", "--labels-budget"),
    ("stop", "--stop"),
    ("epochs", "--epochs"),
    ("seed", "--seed"),
];

/// Runs the command.
pub fn run(args: &LearnersArgs, common: &Common) -> Result<(), Failure> {
    let Some(name) = &args.name else {
        let all: Vec<Value> = ESTIMATORS.iter().map(|spec| described(spec)).collect();
        return console::answer(common, &json!(all), &list());
    };
    let spec = estimator(name)?;
    let mut json = described(spec);
    let param = |p: &ParamSpec| json!({ "name": p.name, "default": p.default, "allowed": p.kind.to_string(), "help": p.help });
    json["params"] = spec.params.iter().map(param).collect();
    console::answer(common, &json, &details(spec))
}

/// The learner as an object of `--json`.
fn described(spec: &EstimatorSpec) -> Value {
    let group = GROUPS.iter().find(|g| g.recommended.contains(&spec.name) || g.others.contains(&spec.name));
    json!({
        "name": spec.name,
        "summary": spec.summary,
        "group": group.map(|g| g.title),
        "recommended": group.is_some_and(|g| g.recommended.contains(&spec.name)),
        "for_comparison": spec.baseline,
        "page": page(spec.name),
    })
}

/// Page of the documentation about a learner.
fn page(name: &str) -> String {
    let shared = PAGES.iter().find(|(_, names)| names.contains(&name));
    format!("docs/{}.md", shared.map_or(name, |(page, _)| *page))
}

/// All learners, grouped by kind of data.
fn list() -> String {
    let mut out = String::from("Learners by kind of data; * marks the ones to try first\n");
    for group in &GROUPS {
        let _ = write!(out, "\n{}:", group.title);
        for (mark, names) in [('*', group.recommended), (' ', group.others)] {
            for spec in names.iter().filter_map(|name| estimator(name).ok()) {
                out += &line(mark, spec);
            }
        }
        out.push('\n');
    }
    out.push_str("\nOnly for comparison:");
    ESTIMATORS.iter().filter(|spec| spec.baseline).for_each(|spec| out += &line(' ', spec));
    let _ = write!(
        out,
        "\n\n`evermargin learners NAME` prints the parameters of a learner, and `--set PARAMETER=VALUE` sets them.\n\
         Defaults: {DEFAULT_LEARNER} for fit and tune; auto for label, and for fit if few of many rows have a label."
    );
    out
}

/// Maximum width of the lines that this command prints.
const WIDTH: usize = 100;
/// Column at which summaries begin.
const SUMMARY: usize = 21;

/// A learner of the list.
fn line(mark: char, spec: &EstimatorSpec) -> String {
    let gap = SUMMARY - 4;
    format!("\n{mark} {:<gap$}  {}", spec.name, wrapped(spec.summary, SUMMARY))
}

/// The parameters of a learner.
fn details(spec: &EstimatorSpec) -> String {
    let mut out = format!("{}\n  {}\n\nParameters:", spec.name, wrapped(spec.summary, 2));
    for p in spec.params {
        let flag = FLAGS.iter().find(|(name, _)| *name == p.name).map(|(_, flag)| *flag);
        let flag = flag.map_or_else(|| format!("--set {}=VALUE", p.name), |flag| format!("{flag} VALUE"));
        let allowed = match p.kind {
            ParamKind::Choice(words) if words.iter().all(|word| p.help.contains(word)) => String::new(),
            kind => format!("; allowed: {kind}"),
        };
        let text = format!("{} [default: {}{allowed}]", sentence(p.help), p.default);
        let _ = write!(out, "\n  {flag}\n      {}", wrapped(&text, 6));
    }
    let scheme = if spec.multiclass == MulticlassScheme::OneVsOne { "one-vs-one" } else { "one-vs-rest" };
    let rows = match spec {
        EstimatorSpec { one_class: true, .. } => "rows of one class; needs no labels",
        EstimatorSpec { uses_unlabeled: true, .. } => "labeled and unlabeled rows",
        _ => "labeled rows",
    };
    let _ = write!(out, "\n\nLearns from: {rows}");
    if !spec.one_class {
        let _ = write!(out, "\nMore than two classes: {scheme} by default");
    }
    if spec.baseline {
        out.push_str("\nOnly for comparison");
    }
    let _ = write!(out, "\nDocumentation: {}", page(spec.name));
    out
}

/// A help text with a capital letter at its beginning.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Text broken into lines that begin at column `indent`, which is also the column of the first word.
fn wrapped(text: &str, indent: usize) -> String {
    let (mut out, mut used) = (String::new(), indent);
    for word in text.split_whitespace() {
        let letters = word.chars().count();
        if out.is_empty() {
            used += letters;
        } else if used + 1 + letters > WIDTH {
            let _ = write!(out, "\n{:indent$}", "");
            used = indent + letters;
        } else {
            out.push(' ');
            used += 1 + letters;
        }
        out.push_str(word);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_learner_is_in_one_group_or_only_for_comparison() {
        let mut grouped: Vec<&str> =
            GROUPS.iter().flat_map(|g| g.recommended.iter().chain(g.others)).copied().collect();
        grouped.extend(ESTIMATORS.iter().filter(|spec| spec.baseline).map(|spec| spec.name));
        grouped.sort_unstable();
        let mut all: Vec<&str> = ESTIMATORS.iter().map(|spec| spec.name).collect();
        all.sort_unstable();
        assert_eq!(grouped, all);
    }

    #[test]
    fn flags_are_options_of_fit_and_name_parameters() {
        let command = crate::args::command();
        let fit = command.find_subcommand("fit").unwrap();
        for (name, flag) in FLAGS {
            assert!(ESTIMATORS.iter().any(|spec| spec.takes(name)), "{name}");
            let long = flag.trim_start_matches('-');
            let options = fit.get_arguments().chain(command.get_arguments());
            assert!(options.into_iter().any(|arg| arg.get_long() == Some(long)), "{flag}");
        }
    }
}
