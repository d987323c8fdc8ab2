//! `evermargin label`: labels for all rows of a file, from the few rows that have one.

use crate::args::help::examples;
use crate::args::semi::{self, SemiArgs};
use crate::args::{Common, DataArgs, HideArgs, LearnArgs, set_gamma, set_once};
use crate::commands::fit::default_model;
use crate::commands::predict::{Shape, cell, shape};
use crate::failure::Failure;
use crate::input::views::{self, ViewArgs};
use crate::input::{self, Input};
use crate::output::console::{self, exact, short};
use crate::output::files::Files;
use crate::output::fit_summary::{ended, total};
use crate::output::heatmap::{check_name, escaped, page};
use crate::output::picture::Picture;
use crate::output::progress::Watcher;
use evermargin::pipeline::comparison::Semi;
use evermargin::pipeline::train::{Gamma, train};
use evermargin_io::artifacts::model;
use evermargin_io::write_atomic;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Label all rows of a file from the few rows that have a label
#[derive(Debug, clap::Args)]
#[command(after_help = examples(
    "Rows without a label have ? or nothing in the label column.",
    &["evermargin generate two-moons -o moons.csv", "echo 1 2 3 4 5 6 7 8 > few.txt"],
    [
        ("Label all rows from eight labels; few.txt lists the labeled rows", "evermargin label moons.csv --labeled-rows few.txt -o labeled.tsv"),
        ("Use one learner instead of auto, and write its model", "evermargin label moons.csv --labeled-rows few.txt --learner lapsvm --model m.evm -o out.tsv"),
    ],
))]
pub struct LabelArgs {
    /// Data in which a few rows have a label, in any format of `fit`; - is standard input
    pub data: PathBuf,
    /// Write the labels to this file; - is standard output [default: standard output; none with --json]
    ///
    /// One line per row, in the order of the rows: label, score, confidence, given.
    #[arg(long, short, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Format of OUT: tsv, csv or labels (one label per line) [default: csv if OUT ends in .csv, else tsv]
    #[arg(long = "as", value_name = "KIND", value_parser = shape)]
    pub shape: Option<Shape>,
    /// Write a model for new rows to this file
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
    /// Draw the labels and the regions of the classes for data with two columns: an .svg or .html file
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Print why auto gave its candidates their weights
    #[arg(long)]
    pub explain: bool,
    #[command(flatten)]
    pub learn: LearnArgs,
    /// Cost of a margin violation, for learners with this parameter [default: 1]
    #[arg(long, value_name = "X", value_parser = crate::args::values::number, help_heading = "Learning")]
    pub c: Option<f64>,
    /// Kernel width: a number, scale = 1/(d·Var X) or auto = 1/d [default: scale]
    #[arg(long, value_name = "X", value_parser = crate::args::values::gamma, help_heading = "Learning")]
    pub gamma: Option<Gamma>,
    #[command(flatten)]
    pub semi: SemiArgs,
    #[command(flatten)]
    pub views: ViewArgs,
    #[command(flatten)]
    pub input: DataArgs,
    #[command(flatten)]
    pub hide: HideArgs,
}

/// The default learner of `label`.
pub const DEFAULT_LEARNER: &str = "auto";

/// Runs the command.
pub fn run(args: &LabelArgs, common: &Common, started: Instant) -> Result<(), Failure> {
    let to_stdout = args.output.as_deref().map_or(!common.json, |o| o == Path::new("-"));
    if to_stdout && common.json {
        return Err(Failure::Usage("-o - and --json both need standard output; write OUT to a file".into()));
    }
    args.plot.as_deref().map_or(Ok(()), check_name)?;
    Files::default()
        .reads(&args.data)
        .reads_all(&args.views.view)
        .reads_data(&args.input, Some(&args.hide))
        .reads(args.learn.weights.as_ref())
        .reads(args.semi.unlabeled.graph.as_ref())
        .writes_or_prints("--output", args.output.as_ref())
        .writes("--model", args.model.as_ref())
        .writes("--plot", args.plot.as_ref())
        .check()?;
    let name = args.learn.learner.as_deref().unwrap_or(DEFAULT_LEARNER);
    let (learner, mut options) = args.learn.options_for(name, common)?;
    if learner.one_class {
        return Err(Failure::Usage(format!(
            "--learner {}: it learns the region of one class and gives no labels; use fit and predict",
            learner.name
        )));
    }
    if !learner.uses_unlabeled {
        return Err(Failure::Usage(format!(
            "--learner {}: it uses labeled rows only; use fit and predict, or a learner that also uses unlabeled rows",
            learner.name
        )));
    }
    args.semi.apply(learner, &mut options)?;
    args.views.check(learner)?;
    if let Some(c) = args.c {
        set_once(&mut options, "--c", "c", c)?;
    }
    set_gamma(&mut options, args.gamma)?;
    learner.make(&options.params).map_err(Failure::usage)?;
    let precomputed = options.kernel(learner).as_deref() == Some("precomputed");

    let mut source = views::load(&args.data, &args.views, &args.input, Some(&args.hide), Vec::new())?;
    if precomputed {
        input::drop_serial(&mut source.data)?;
    }
    options.weights = source.weights(args.learn.weights.as_deref())?;
    console::note(common, &source.data.notes);
    let Input { data, truth, .. } = source;
    views::number_views(&mut options, &data, &args.data)?;
    let (rows, labeled) = (data.x.rows(), data.labels.labeled());
    if let Some(plot) = &args.plot
        && data.x.cols() != 2
    {
        return Err(Failure::Usage(format!(
            "--plot {}: a picture needs data with two columns, and {} has {}",
            plot.display(),
            args.data.display(),
            data.x.cols()
        )));
    }
    args.semi.unlabeled.read_graph(rows, &mut options)?;
    let input_spec = data.input_spec();
    let drawn = args.plot.as_ref().map(|_| data.x.clone());
    let watch = Watcher::start(common, args.learn.max_seconds)?;
    let mut trained =
        train(data.x, &data.labels, &options, &watch).map_err(|e| Failure::about(&args.data, e))?;
    let seconds = watch.seconds();
    watch.finish();
    console::note(common, &trained.notes);
    let Some(found) = trained.semi.take() else {
        return Err(Failure::Failed(format!("learner {} returned no labels", learner.name)));
    };

    let classes = trained.classifier.classes.clone();
    let output = if to_stdout { Some(PathBuf::from("-")) } else { args.output.clone() };
    if let Some(output) = &output {
        let csv = output.extension().is_some_and(|e| e.eq_ignore_ascii_case("csv"));
        let shape = args.shape.unwrap_or(if csv { Shape::Csv } else { Shape::Tsv });
        write_atomic(output, table(&found, &classes, shape).as_bytes())?;
    }
    if let (Some(plot), Some(x)) = (&args.plot, &drawn) {
        let title = format!("{}: {}", args.data.display(), learner.name);
        let svg = Picture::of_labels(&trained.classifier, x, &found.class, &found.given)
            .svg(&escaped(&title), 500)?;
        let html = plot.extension().is_some_and(|e| e == "html");
        write_atomic(plot, (if html { page(&title, &svg) } else { svg }).as_bytes())?;
    }
    if let Some(path) = &args.model {
        trained.classifier.set_input(input_spec);
        write_atomic(path, &model::to_bytes(&trained.classifier)?)?;
    }
    let total = total(&trained.reports);
    let mut text = format!(
        "{}: {}, {labeled} with a label\n{} {} in {} s\n{}",
        args.data.display(),
        console::count(rows, "row"),
        learner.name,
        ended(total.exit),
        short(seconds),
        semi::text(&found, truth.as_ref(), &classes)
    );
    if args.explain {
        let explained = semi::explanation(&found);
        let missing = || format!("--explain: only learner auto has candidates, not {}", learner.name);
        let _ = write!(text, "\n{}", explained.unwrap_or_else(missing));
    }
    if let Some(path) = output.as_deref().filter(|p| *p != Path::new("-")) {
        let _ = write!(text, "\nlabels: {}", path.display());
    }
    if let Some(plot) = &args.plot {
        let _ = write!(text, "\nplot: {}", plot.display());
    }
    match &args.model {
        Some(path) => {
            let _ = write!(text, "\nmodel: {}", path.display());
        }
        None => {
            let _ = write!(text, "\nto label new rows, add --model {}", default_model(&args.data).display());
        }
    }
    if to_stdout {
        if !common.quiet {
            status!("{text}");
        }
        return Ok(());
    }
    let mut json = json!({
        "learner": learner.name, "rows": rows, "labeled": labeled, "classes": classes.len(), "class_names": classes,
        "objective": total.objective, "steps": total.steps, "exit": total.exit,
        "kernel_evaluations": total.kernel_evaluations,
    });
    if let Value::Object(json) = &mut json {
        json.extend(semi::keys(&found, truth.as_ref(), &classes));
        json.insert("seconds".into(), seconds.into());
        json.insert("total_seconds".into(), started.elapsed().as_secs_f64().into());
    }
    console::answer(common, &json, &text)
}

/// The labels as text, one line per row.
fn table(semi: &Semi, classes: &[String], shape: Shape) -> String {
    let mut out = String::new();
    let name = |i: usize| &classes[semi.class[i] as usize];
    if shape == Shape::Labels {
        (0..semi.class.len()).for_each(|i| out = std::mem::take(&mut out) + name(i) + "\n");
        return out;
    }
    let comma = if shape == Shape::Csv { ',' } else { '\t' };
    let _ = writeln!(out, "label{comma}score{comma}confidence{comma}given");
    for i in 0..semi.class.len() {
        let (score, sure) = (exact(semi.score[i]), exact(semi.confidence[i]));
        let given = if semi.given[i] { "yes" } else { "no" };
        let _ = writeln!(out, "{}{comma}{score}{comma}{sure}{comma}{given}", cell(name(i), comma));
    }
    out
}
