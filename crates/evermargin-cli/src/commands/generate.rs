//! `evermargin generate`: generated data sets.

use crate::args::Common;
use crate::args::help::examples;
use crate::failure::Failure;
use crate::output::console::{self, count, quoted};
use crate::output::files::Files;
use evermargin::datasets::{GenerateParams, generate, names};
use evermargin_io::{Table, write_data};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Generate a data set for experiments
#[derive(Debug, clap::Args)]
#[command(after_help = examples(
    "",
    &[],
    [
        ("Generate 1,000 rows of two classes", "evermargin generate two-moons --rows 1000 --noise 0.1 -o moons.csv"),
        ("List the generators", "evermargin generate list"),
    ],
))]
pub struct GenerateArgs {
    /// Generator; `list` prints the names
    pub name: String,
    /// Number of rows
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = crate::args::values::whole::<usize>(0, u64::MAX))]
    pub rows: usize,
    /// Standard deviation of the noise [default: depends on the generator]
    #[arg(long, value_name = "X", value_parser = crate::args::values::number)]
    pub noise: Option<f64>,
    /// Number of features, if the generator has a choice [default: depends on the generator]
    #[arg(long, value_name = "N", value_parser = crate::args::values::whole::<usize>(0, u64::MAX))]
    pub cols: Option<usize>,
    /// Number of classes, if the generator has a choice [default: depends on the generator]
    #[arg(long, value_name = "N", value_parser = crate::args::values::whole::<usize>(0, u64::MAX))]
    pub classes: Option<usize>,
    /// Class imbalance [default: equal classes]
    ///
    /// Below 1: the share of rows in the last class. From 1 on: the number of rows in each other class per row of the last class.
    #[arg(long, value_name = "SHARE|RATIO", value_parser = crate::args::values::number)]
    pub imbalance: Option<f64>,
    /// Share of rows with a wrong label [default: 0]
    #[arg(long, value_name = "SHARE", value_parser = crate::args::values::number)]
    pub flip: Option<f64>,
    /// Write the data to this file, in the format of its ending; - is LIBSVM text on standard output
    ///
    /// .svm, .libsvm and .txt are LIBSVM text; further formats are .csv, .tsv, .jsonl, .npy and .npz. An additional .gz, .xz or .zst
    /// compresses the file.
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
}

/// Maximum number of values of a generated data set.
const MAX_VALUES: usize = 1_000_000_000;

/// Refuses data sets that are too large, before memory is allocated.
fn check_size(args: &GenerateArgs) -> Result<(), Failure> {
    let values = match args.name.as_str() {
        "text" => 100, // stored values; most are zero
        "g50c" => args.cols.unwrap_or(50),
        "waveform" => 21,
        _ => args.cols.unwrap_or(3),
    };
    if args.rows.checked_mul(values).is_none_or(|n| n > MAX_VALUES) {
        return Err(Failure::Usage(format!(
            "--rows {}: with about {values} values per row, that exceeds the limit of {MAX_VALUES} values; request {} rows \
             or fewer",
            args.rows,
            MAX_VALUES / values.max(1)
        )));
    }
    Ok(())
}

/// Runs the command.
pub fn run(args: &GenerateArgs, common: &Common, started: Instant) -> Result<(), Failure> {
    if args.name == "list" {
        let text: Vec<String> = names().map(|(name, about)| format!("{name:<16} {about}")).collect();
        let json: Vec<&str> = names().map(|(name, _)| name).collect();
        return console::answer(common, &json!(json), &text.join("\n"));
    }
    let piped = args.output == Path::new("-");
    if piped && common.json {
        return Err(Failure::Usage(
            "-o - and --json both need standard output; write the data to a file".into(),
        ));
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
