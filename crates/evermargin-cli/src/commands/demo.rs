//! `evermargin demo`: a stream that turns, labeled with a few answers a batch, in seconds.

use crate::args::Common;
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

/// See a stream being learned, in seconds
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  evermargin demo -o demo.html")]
pub struct DemoArgs {
    /// Page to write, with pictures; the pictures alone when it ends in .svg
    #[arg(long, short, value_name = "FILE", default_value = "evermargin-demo.html")]
    pub output: PathBuf,
}

/// Rows, and rows of a batch.
const ROWS: usize = 30_000;
const BATCH: usize = 200;

/// Runs the verb.
pub fn run(args: &DemoArgs, common: &Common, started: Instant) -> Result<(), Failure> {
    Files::default().writes("--output", Some(&args.output)).check()?;
    let watch = Watcher::start(common, None)?;
    let (x, labels) =
        generate("drift", &GenerateParams { rows: ROWS, seed: common.seed, ..Default::default() })?;
    let mut session = Session::new(config(common), None)?;
    let mut live = ProgressLine::new(&watch, common);
    for start in (0..ROWS).step_by(BATCH).take_while(|_| !watch.stopped()) {
        let began = Instant::now();
        let rows: Vec<usize> = (start..start + BATCH).collect();
        let name = |&i: &usize| labels.of[i].map(|c| labels.classes[c as usize].clone());
        let truth = rows.iter().map(name).collect();
        session.ingest(Batch { truth, ..Batch::new(x.view().select(&rows), vec![None; BATCH]) })?;
        session.answer_from_truth()?;
        session.close_batch(0)?;
        session.take_notices().iter().for_each(|effects| live.show_effects(effects));
        live.batch(&session, began);
    }
    watch.finish();
    let seconds = started.elapsed().as_secs_f64();
    let scene = DemoView::of(&session, &x)?;
    let picture = scene.picture().svg("what is known at the end", 420)?;
    let alone = args.output.extension().is_some_and(|e| e == "svg");
    let text = if alone {
        side_by_side(&picture, &report::accuracy(&session))
    } else {
        report::page_of(&session, &live, &format!("<p>{}</p>\n{picture}\n", escaped(ABOUT)))
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
    console::answer(common, &json, &terminal(&session, &scene, args, seconds)?)
}

const ABOUT: &str = "Two classes whose centers turn once around the middle while 30,000 samples arrive. The engine may ask \
    for three labels in a batch of 200; a label counts half after six batches. Rings: the labels it remembers.";

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

/// The last samples, what they are taken for, and the labels that are remembered.
struct DemoView {
    classifier: evermargin::model::Classifier,
    x: Matrix,
    class: Vec<u32>,
    known: Vec<bool>,
}

impl DemoView {
    fn of(session: &Session, x: &Matrix) -> Result<Self, Failure> {
        let missing = || Failure::Failed("interrupted before anything was learned".into());
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

/// The picture, and what it shows.
fn terminal(session: &Session, scene: &DemoView, args: &DemoArgs, seconds: f64) -> Result<String, Failure> {
    let color = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let mut out = String::from("\n");
    for line in scene.picture().lines(48, color)? {
        let _ = writeln!(out, "  {line}");
    }
    let percent = |share: Option<f64>| share.map_or("?".into(), |s| format!("{} %", short(100.0 * s)));
    let _ = write!(
        out,
        "\n  {} samples of two classes that turn once around each other; {} labels asked for, {} remembered\n  \
         right on arrival: {} (asking at random, with the same budget: {})\n  {} s in all; curves: {}\n  next: evermargin generate \
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
