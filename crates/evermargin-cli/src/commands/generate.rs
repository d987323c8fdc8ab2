//! `evermargin generate`: a data set to play with.

use crate::args::Common;
use crate::failure::Failure;
use crate::output::console::{self, count, quoted};
use crate::output::files::Files;
use evermargin::datasets::{GenerateParams, generate, names};
use evermargin_io::{Table, write_data};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Make a data set to play with
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  evermargin generate two-moons --rows 1000 --noise 0.1 --seed 1 -o moons.csv"
)]
pub struct GenerateArgs {
    /// What to make; `list` names them all
    pub name: String,
    /// Number of rows
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = crate::args::values::whole::<usize>(0, u64::MAX))]
    pub rows: usize,
    /// Standard deviation of the noise
    #[arg(long, value_name = "X", value_parser = crate::args::values::number)]
    pub noise: Option<f64>,
    /// Number of features, where one may choose
    #[arg(long, value_name = "N", value_parser = crate::args::values::whole::<usize>(0, u64::MAX))]
    pub cols: Option<usize>,
    /// Number of classes, where one may choose
    #[arg(long, value_name = "N", value_parser = crate::args::values::whole::<usize>(0, u64::MAX))]
    pub classes: Option<usize>,
    /// Below 1 the share of the rows that belong to the last class; from 1 on the rows of each other class for one
    /// of the last
    #[arg(long, value_name = "SHARE|RATIO", value_parser = crate::args::values::number)]
    pub imbalance: Option<f64>,
    /// Share of the rows that get a wrong label
    #[arg(long, value_name = "SHARE", value_parser = crate::args::values::number)]
    pub flip: Option<f64>,
    /// File to write, in the format its name says: .svm, .libsvm or .txt (LIBSVM text), .csv, .tsv, .jsonl, .npy or .npz, also
    /// with .gz, .xz or .zst; - is LIBSVM text on standard output
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
}

/// Most values one may ask for.
const MAX_VALUES: usize = 1_000_000_000;

/// Refuses what no memory holds, before any is asked for.
fn check_size(args: &GenerateArgs) -> Result<(), Failure> {
    let values = match args.name.as_str() {
        "text" => 100, // most are zero and not kept
        "g50c" => args.cols.unwrap_or(50),
        "waveform" => 21,
        _ => args.cols.unwrap_or(3),
    };
    if args.rows.checked_mul(values).is_none_or(|n| n > MAX_VALUES) {
        return Err(Failure::Usage(format!(
            "--rows {}: with about {values} values a row that is over the cap of {MAX_VALUES} values; ask for {} rows \
             or fewer",
            args.rows,
            MAX_VALUES / values.max(1)
        )));
    }
    Ok(())
}

/// Runs the verb.
pub fn run(args: &GenerateArgs, common: &Common, started: Instant) -> Result<(), Failure> {
    if args.name == "list" {
        let text: Vec<String> = names().map(|(name, about)| format!("{name:<16} {about}")).collect();
        let json: Vec<&str> = names().map(|(name, _)| name).collect();
        return console::answer(common, &json!(json), &text.join("\n"));
    }
    let piped = args.output == Path::new("-");
    if piped && common.json {
        return Err(Failure::Usage("-o - and --json both want standard output; give the data a file".into()));
    }
    Files::default().writes_or_prints("--output", &args.output).check()?;
    check_size(args)?;
    let params = GenerateParams {
        rows: args.rows,
        cols: args.cols,
        noise: args.noise,
        classes: args.classes,
        seed: common.seed,
        imbalance: args.imbalance,
        flip: args.flip,
    };
    let (x, labels) = generate(&args.name, &params)?;
    let names: Vec<Option<&str>> =
        labels.of.iter().map(|c| c.map(|c| labels.classes[c as usize].as_str())).collect();
    let (rows, features, classes) = (x.rows(), x.cols(), labels.classes.len());
    let written = write_data(&args.output, &Table { x: x.view(), labels: &names, names: &[] })?;
    console::note(common, &written.notes);
    if piped {
        return Ok(());
    }
    let labels = written.labels.as_deref();
    let text = format!(
        "{}: {}, {}, {}\nnext: evermargin fit {}{}",
        args.output.display(),
        count(rows, "row"),
        count(features, "feature"),
        count(classes, "class"),
        quoted(&args.output),
        labels.map(|path| format!(" --labels {}", quoted(path))).unwrap_or_default(),
    );
    let json = json!({
        "name": args.name, "rows": rows, "features": features, "classes": classes,
        "output": args.output.display().to_string(), "format": written.format.name(),
        "labels": labels.map(|path| path.display().to_string()), "total_seconds": started.elapsed().as_secs_f64(),
    });
    console::answer(common, &json, &text)
}
