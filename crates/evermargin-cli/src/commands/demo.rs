//! `evermargin demo`: learns a stream of rotating classes with a few queries per batch, in seconds.

use crate::args::Common;
use crate::args::help::examples;
use crate::commands::run::{ProgressLine, report};
use crate::failure::Failure;
use crate::output::console::{self, short};
use crate::output::files::Files;
use crate::output::heatmap::escaped;
use crate::output::picture::Picture;
use crate::output::progress::Watcher;
use evermargin::Matrix;
use evermargin::datasets::{GenerateParams, generate};
use evermargin::engine::{Budget, EngineParams, Forgetting};
use evermargin::model::ScalingName;
use evermargin_io::{Format, Schema, write_atomic};
use evermargin_session::{Batch, LabelProtocol, Oracle, Session, SessionConfig, StreamStatistics};
use serde_json::json;
use std::fmt::Write;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Instant;

/// Learn a generated stream in seconds and write a page about it
#[derive(Debug, clap::Args)]
#[command(after_help = examples(
    "",
    &[],
    [
        ("Print a summary and write evermargin-demo.html", "evermargin demo"),
        ("Write the pictures alone", "evermargin demo --seed 2 -o demo.svg"),
    ],
))]
pub struct DemoArgs {
    /// Write the page to this file; only its pictures if it ends in .svg
    #[arg(long, short, value_name = "FILE", default_value = "evermargin-demo.html")]
    pub output: PathBuf,
}

/// Number of rows of the stream.
const ROWS: usize = 30_000;
/// Number of rows per batch.
const BATCH: usize = 200;

/// Runs the command.
pub fn run(args: &DemoArgs, common: &Common, started: Instant) -> Result<(), Failure> {
    Files::default().writes("--output", Some(&args.output)).check()?;
    let watch = Watcher::start(common, None)?;
    let (x, labels) =
        generate("drift", &GenerateParams { rows: ROWS, seed: common.seed, ..Default::default() })?;
    let mut session = Session::new(config(common), None)?;
    let mut line = ProgressLine::new(&watch, common);
    for start in (0..ROWS).step_by(BATCH).take_while(|_| !watch.stopped()) {
        let began = Instant::now();
        let rows: Vec<usize> = (start..start + BATCH).collect();
        let name = |&i: &usize| labels.of[i].map(|c| labels.classes[c as usize].clone());
        let truth = rows.iter().map(name).collect();
        session.ingest(Batch { truth, ..Batch::new(x.view().select(&rows), vec![None; BATCH]) })?;
        session.answer_from_truth()?;
        session.close_batch(0)?;
        session.take_notices().iter().for_each(|effects| line.show_effects(effects));
        line.batch(&session, began);
    }
    watch.finish();
    let seconds = started.elapsed().as_secs_f64();
    let view = DemoView::of(&session, &x)?;
    let picture = view.picture().svg("the classifier at the end", 420)?;
    let alone = args.output.extension().is_some_and(|e| e == "svg");
    let text = if alone {
        side_by_side(&picture, &report::accuracy(&session))
    } else {
        report::page_of(&session, &line, &format!("<p>{}</p>\n{picture}\n", escaped(ABOUT)))
    };
    write_atomic(&args.output, text.as_bytes())?;
    let json = json!({
        "rows": session.engine().rows(),
        "batches": session.engine().batches(),
        "labels_spent": session.engine().budget_usage().total,
        "prequential_accuracy": session.statistics().accuracy(),
        "random_prequential_accuracy": session.random_statistics().and_then(StreamStatistics::accuracy),
        "output": args.output.display().to_string(),
        "seconds": seconds,
        "total_seconds": started.elapsed().as_secs_f64(),
    });
    console::answer(common, &json, &terminal(&session, &view, args, seconds)?)
}

const ABOUT: &str = "Two classes whose centers turn once around the middle while 30,000 samples arrive. The engine may query \
    three labels per batch of 200; the weight of a label halves every six batches. Rings mark the remembered labels.";

fn config(common: &Common) -> SessionConfig {
    let params = EngineParams {
        budget: Budget { per_batch: 3, ..Default::default() },
        forget: Forgetting::HalfLife(6),
        scale: Some(ScalingName::None),
        max_labels: 100,
        seed: common.seed,
        ..Default::default()
    };
    SessionConfig {
        params,
        random_baseline: true,
        oracle: Oracle::Truth,
        batch_rows: BATCH,
        input: Vec::new(),
        schema: Schema { sparse: Some(false), ..Schema::new(Format::Csv, 2) },
        label_protocol: LabelProtocol::default(),
        positive: None,
        cpu_level: crate::commands::run::cpu_level(),
    }
}

/// The last samples with their predicted classes, and the remembered labels.
struct DemoView {
    classifier: evermargin::model::Classifier,
    x: Matrix,
    class: Vec<u32>,
    known: Vec<bool>,
}

impl DemoView {
    fn of(session: &Session, x: &Matrix) -> Result<Self, Failure> {
        let missing = || Failure::Failed("interrupted before the first model".into());
        let classifier = session.engine().classifier().ok_or_else(missing)?;
        let memory = session.engine().memory().ok_or_else(missing)?;
        let seen = session.engine().rows() as usize;
        let mut shown = x.view().select(&(seen.saturating_sub(2 * BATCH)..seen).collect::<Vec<_>>());
        let mut known = vec![false; shown.rows()];
        for i in 0..memory.len() {
            shown.push(memory.rows().row(i));
            known.push(true);
        }
        let class = classifier.predict(shown.clone())?.class;
        Ok(Self { classifier, x: shown, class, known })
    }

    fn picture(&self) -> Picture<'_> {
        Picture::of_labels(&self.classifier, &self.x, &self.class, &self.known)
    }
}

fn side_by_side(picture: &str, chart: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 960 420\" width=\"960\" height=\"420\">\n{picture}\n\
         <g transform=\"translate(430 60)\">{chart}</g>\n</svg>\n"
    )
}

/// The picture for the terminal and its explanation.
fn terminal(session: &Session, view: &DemoView, args: &DemoArgs, seconds: f64) -> Result<String, Failure> {
    let color = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let mut out = String::from("\n");
    for line in view.picture().lines(48, color)? {
        let _ = writeln!(out, "  {line}");
    }
    let percent = |share: Option<f64>| share.map_or("?".into(), |s| format!("{} %", short(100.0 * s)));
    let _ = write!(
        out,
        "\n  {} samples of two classes that turn once around each other; {} labels queried, {} remembered\n  \
         accuracy on arrival: {} (random queries, same budget: {})\n  {} s in total; curves: {}\n  next: evermargin generate \
         drift --rows 30000 -o drift.csv && evermargin run drift.csv --report drift.html",
        session.engine().rows(),
        session.engine().budget_usage().total,
        session.engine().memory().map_or(0, evermargin::engine::LabelMemory::len),
        percent(session.statistics().accuracy()),
        percent(session.random_statistics().and_then(StreamStatistics::accuracy)),
        short(seconds),
        args.output.display()
    );
    Ok(out)
}
