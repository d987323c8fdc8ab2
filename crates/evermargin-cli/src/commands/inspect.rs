//! `evermargin inspect`: contents of a model or a state, on one page.

use crate::args::Common;
use crate::args::help::examples;
use crate::commands::run::cpu_level;
use crate::failure::Failure;
use crate::output::console::{self, count, short};
use crate::output::fit_summary;
use evermargin::engine::LabelMemory;
use evermargin::estimators::online::lasvm::Lasvm;
use evermargin::model::{Calibration, Classifier, Column, MulticlassScheme};
use evermargin::params::ParamValue;
use evermargin::pipeline::partial_fit::OnlineCheckpoint;
use evermargin::{Kernel, Matrix, Model};
use evermargin_io::{Artifact, Limits, read_kept};
use evermargin_session::{Opened, OtherCpu, Session};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Show the contents of a model or a state
#[derive(Debug, clap::Args)]
#[command(after_help = examples(
    "",
    &["evermargin generate two-moons -o moons.csv", "evermargin fit moons.csv --learner lasvm --state moons.evs"],
    [
        ("Show a model", "evermargin inspect moons.evm"),
        ("Show the state of a learner", "evermargin inspect moons.evs"),
    ],
))]
pub struct InspectArgs {
    /// Model or state: a model file, a LIBSVM model, JSON, a state file or the state folder of a run; - is standard input
    pub model: PathBuf,
}

/// Runs the command.
pub fn run(args: &InspectArgs, common: &Common) -> Result<(), Failure> {
    if args.model.is_dir() {
        return session(&args.model, common);
    }
    let (classifier, state) = match read_kept(&args.model, &Limits::default())? {
        Artifact::Model(classifier) => (*classifier, None),
        Artifact::State(state) => {
            let model = Lasvm::resume(&state.saved).map_err(|e| Failure::about(&args.model, e))?.model();
            (state.classifier(model), Some(state))
        }
    };
    let size = std::fs::metadata(&args.model).map(|m| m.len()).ok();
    let mut json = describe(&classifier, size);
    let mut page = page(&args.model.display().to_string(), &classifier, size);
    if let Some(state) = state {
        json["state"] = progress(&state);
        page.push_str(&progress_lines(&state));
    }
    console::answer(common, &json, &page)
}

/// Prints the contents of the state folder of a run, which is verified and locked while it is read.
fn session(directory: &Path, common: &Common) -> Result<(), Failure> {
    let name = directory.display();
    let none =
        || Failure::Failed(format!("{name}: is a folder, but not the state of a run; name a file in it"));
    if !directory.join(DATABASE).is_file() {
        return Err(none());
    }
    let Opened::Session(session) = Session::open(directory, &cpu_level(), OtherCpu::Refuse)? else {
        return Err(none());
    };
    let (engine, config) = (session.engine(), session.config());
    let (classes, labels) = (engine.classes().names(), engine.memory().map_or(0, LabelMemory::len));
    let json = json!({
        "rows": engine.rows(),
        "batches": engine.batches(),
        "class_names": classes,
        "labels": labels,
        "labels_spent": engine.budget_usage().total,
        "version": engine.version(),
        "support_count": engine.support_count(),
        "pending_queries": engine.pending_queries().len(),
        "rejected_rows": engine.rejected_rows(),
        "rejected_events": session.rejected_event_count(),
        "oracle": config.oracle,
        "input": config.input,
        "positive": config.positive,
        "cpu_level": config.cpu_level,
    });
    let mut page = format!("{name}: state of a run, which the same `evermargin run` command resumes");
    for (title, value) in [
        ("input", config.input.join(" ")),
        ("rows", format!("{}; batches {}", engine.rows(), engine.batches())),
        ("classes", list(classes)),
        ("labels", format!("{labels} remembered, {} answered", engine.budget_usage().total)),
        ("model", format!("version {}, {}", engine.version(), count(engine.support_count(), "point"))),
        ("open questions", engine.pending_queries().len().to_string()),
        ("CPU level", config.cpu_level.clone()),
    ] {
        let _ = write!(page, "\n  {title:<16}{value}");
    }
    console::answer(common, &json, &page)
}

/// Name of the database in a state folder.
const DATABASE: &str = "events.db";

/// Counts of a learner that can be resumed.
fn progress(state: &OnlineCheckpoint) -> Value {
    let counts = &state.saved.counts;
    json!({
        "rows": state.rows,
        "class_counts": state.head.counts,
        "samples_seen": counts.seen,
        "points": state.saved.dead.iter().filter(|dead| !**dead).count(),
        "kernel_evaluations": counts.evaluations,
        "process_steps": counts.process,
        "reprocess_steps": counts.reprocess,
        "finish": state.saved.params.finish,
    })
}

fn progress_lines(state: &OnlineCheckpoint) -> String {
    let counts = &state.saved.counts;
    let points = state.saved.dead.iter().filter(|dead| !**dead).count();
    let ending = if state.saved.params.finish { ", not finished yet" } else { "" };
    let of =
        state.head.learner.classes.iter().zip(&state.head.counts).map(|(class, n)| format!("{class} {n}"));
    let of: Vec<String> = of.collect();
    format!(
        "\n  {:<16}{}{ending}; `evermargin fit MORE_DATA --resume` continues\n  {:<16}{} seen, of {}\n  {:<16}{}",
        "state",
        count(points, "point"),
        "samples",
        counts.seen,
        list(&of),
        "kernel values",
        counts.evaluations,
    )
}

fn describe(c: &Classifier, size: Option<u64>) -> Value {
    json!({
        "learner": c.learner,
        "params": c.params,
        "classes": c.classes.len(),
        "class_names": c.classes,
        "scheme": c.scheme,
        "kernel": fit_summary::kernel(c),
        "kernel_params": match &c.model {
            Model::Expansion { kernel, .. } => json!(kernel),
            Model::Views { parts, .. } => parts.iter().map(|p| kernel_of(&p.model)).collect(),
            Model::Linear { .. } => Value::Null,
        },
        "features": c.features(),
        "outputs": c.model.outputs(),
        "support_count": c.model.support_count(),
        "bias": c.model.bias(),
        "scaling": c.scaling.name(),
        "calibration": calibration(c),
        "input": c.input,
        "bytes": size,
    })
}

fn kernel_of(model: &Model) -> Value {
    match model {
        Model::Expansion { kernel, .. } => json!(kernel),
        _ => json!(Kernel::Linear),
    }
}

fn calibration(c: &Classifier) -> Option<&'static str> {
    c.calibration.first().map(|c| match c {
        Calibration::Sigmoid { .. } => "sigmoid",
        Calibration::Isotonic { .. } => "isotonic",
    })
}

fn page(name: &str, c: &Classifier, size: Option<u64>) -> String {
    let mut out = name.to_string();
    if let Some(size) = size {
        let _ = write!(out, " ({})", console::bytes(size));
    }
    let mut line = |key: &str, value: &str| {
        let _ = write!(out, "\n  {key:<16}{value}");
    };
    line("learner", &c.learner);
    let params = &c.params;
    let words = params.iter().map(|(k, v)| format!("{k} {}", word(v)));
    line("parameters", &words.collect::<Vec<_>>().join(", "));
    let files = &c.input.files;
    if !files.is_empty() {
        let features: Vec<String> = files.iter().map(|f| f.features.to_string()).collect();
        line("files", &format!("{} side by side, of {} features", files.len(), features.join(", ")));
    }
    if let Some(class) = &c.input.positive {
        line("positive", class);
    }
    if let Some(label) = &c.input.label {
        let name = label.name.as_ref().map_or(String::new(), |name| format!(" ({name})"));
        line("label", &format!("column {}{name}", label.index));
    }
    if let Some(base) = c.input.index_base {
        line("index base", &base.to_string());
    }
    line("classes", &list(&c.classes));
    if c.scheme == MulticlassScheme::Binary {
        line("decision", &format!("f > 0 means {}", c.classes.last().map_or("", String::as_str)));
    } else {
        let scheme = if c.scheme == MulticlassScheme::OneVsOne { "one-vs-one" } else { "one-vs-rest" };
        line("decision", &format!("{scheme}, {} functions", c.model.outputs()));
    }
    match &c.model {
        Model::Expansion { kernel, points, .. } => {
            line("kernel", &formula(kernel));
            let layout = if matches!(points, Matrix::Dense { .. }) { "dense" } else { "sparse" };
            let points = count(points.rows(), "support vector");
            line("support", &format!("{points} of {}, {layout}", count(c.features(), "feature")));
        }
        Model::Views { parts, .. } => {
            for part in parts {
                let kernel = match &part.model {
                    Model::Expansion { kernel, .. } => formula(kernel),
                    _ => formula(&Kernel::Linear),
                };
                let columns: Vec<String> =
                    part.columns.0.iter().map(|(first, end)| format!("{}..{end}", first + 1)).collect();
                let size = part.model.support_count();
                line("view", &format!("columns {}, {kernel}, {size} points or weights", columns.join(",")));
            }
        }
        Model::Linear { .. } => {
            line("kernel", &fit_summary::kernel(c));
            let used = c.model.support_count();
            line("weights", &format!("{used} of {} not zero", count(c.features(), "feature")));
        }
    }
    let constants: Vec<String> = c.model.bias().iter().map(|b| short(*b)).collect();
    line("constant", &list(&constants));
    line("scaling", c.scaling.name());
    line("probabilities", calibration(c).unwrap_or("none; fit with --probability sigmoid"));
    if !c.input.columns.is_empty() {
        let columns: Vec<String> = c
            .input
            .columns
            .iter()
            .map(|column| match column {
                Column::Number { name } => name.clone(),
                Column::Category { name, values } => format!("{name} ({})", count(values.len(), "value")),
                Column::Text { name, documents, .. } => {
                    format!("{name} (text, {})", count(*documents as usize, "document"))
                }
            })
            .collect();
        line("columns", &list(&columns));
    }
    out
}

fn word(value: &ParamValue) -> String {
    match value {
        ParamValue::Map(label) if label.contains_key("index") => match label.get("name") {
            Some(ParamValue::Text(name)) => name.clone(),
            _ => format!("column {}", of(value, "index")),
        },
        number => number.as_f64().map_or_else(|| number.to_string(), short),
    }
}

/// Text of the value with this name in a map.
fn of(value: &ParamValue, name: &str) -> String {
    value.get(name).map(ParamValue::to_string).unwrap_or_default()
}

fn list(words: &[String]) -> String {
    let shown = words[..words.len().min(12)].join(", ");
    if words.len() > 12 { format!("{shown}, … ({} in all)", words.len()) } else { shown }
}

fn formula(kernel: &Kernel) -> String {
    match *kernel {
        Kernel::Linear => "linear: x·z".into(),
        Kernel::Rbf { gamma } => format!("rbf: exp(-{}·|x - z|²)", short(gamma)),
        Kernel::Poly { gamma, coef0, degree } => {
            format!("poly: ({}·x·z + {})^{degree}", short(gamma), short(coef0))
        }
        Kernel::Sigmoid { gamma, coef0 } => format!("sigmoid: tanh({}·x·z + {})", short(gamma), short(coef0)),
        Kernel::Precomputed => "precomputed".into(),
    }
}
