//! `evermargin summarize`: a few rows that represent all rows.

use crate::args::help::examples;
use crate::args::{Common, DataArgs};
use crate::commands::predict::cell;
use crate::failure::Failure;
use crate::input;
use crate::input::groups::GroupArgs;
use crate::output::console::{self, count, exact, short};
use crate::output::files::Files;
use crate::output::progress::Watcher;
use evermargin::Kernel;
use evermargin::model::Column;
use evermargin::pipeline::train::{Gamma, ScalingChoice};
use evermargin::solver::Exit;
use evermargin::summary::{
    ExemplarParams, Lambda, Objective, Pool, Summary, carry_weights, choose_and_score, choose_within,
};
use evermargin_io::artifacts::summary::{self, SavedSummary};
use evermargin_io::{ReadOptions, write_atomic};
use serde_json::json;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Choose a few rows that represent all rows
#[derive(Debug, clap::Args)]
#[command(after_help = examples(
    "",
    &["evermargin generate two-moons -o moons.csv"],
    [
        ("Choose 50 exemplars and write them as a table", "evermargin summarize moons.csv -k 50 -o exemplars.csv"),
        ("Choose at most 10 rows of each class", "evermargin summarize moons.csv -k 20 --group label --max-per-group 10"),
    ],
))]
pub struct SummarizeArgs {
    /// Data in any format of `fit`; labels are not used; - is standard input
    pub data: PathBuf,
    /// Maximum number of exemplars
    #[arg(short = 'k', long = "exemplars", value_name = "N", default_value_t = 100, value_parser = crate::args::values::from_one)]
    pub exemplars: u64,
    /// Objective: exemplars or facility
    ///
    /// exemplars: the mean of the exemplars in feature space approximates that of the data, so dense regions have more of them.
    /// facility: every row has a similar exemplar.
    #[arg(long, value_name = "NAME", default_value = "exemplars", value_parser = objective)]
    pub objective: Objective,
    /// Kernel that measures similarity: rbf, linear, poly or sigmoid
    #[arg(long, value_name = "NAME", default_value = "rbf")]
    pub kernel: String,
    /// Kernel width: a number, scale = 1/(d·Var X) or auto = 1/d
    #[arg(long, value_name = "X", default_value = "scale", value_parser = crate::args::values::gamma)]
    pub gamma: Gamma,
    /// Degree of the poly kernel
    #[arg(long, hide_short_help = true, value_name = "N", default_value_t = 3, value_parser = crate::args::values::whole::<u32>(0, u32::MAX.into()))]
    pub degree: u32,
    /// Constant of the poly and sigmoid kernels
    #[arg(long, hide_short_help = true, value_name = "X", default_value_t = 0.0, value_parser = crate::args::values::number)]
    pub coef0: f64,
    /// Weight of the differences between exemplars, for --objective exemplars: auto, static or a number
    #[arg(long, hide_short_help = true, value_name = "X", default_value = "auto", value_parser = lambda)]
    pub diversity: Lambda,
    /// Scaling: minmax, standard, range, unit, tfidf, divide=N or none
    ///
    /// Exemplars are written after scaling.
    #[arg(long, value_name = "NAME", default_value = "none", value_parser = crate::args::values::scaling)]
    pub scale: ScalingChoice,
    /// Memory for cached kernel values, in megabytes
    #[arg(long, hide_short_help = true, value_name = "MB", default_value_t = 512, value_parser = crate::args::values::whole::<usize>(0, u64::MAX))]
    pub cache_mb: usize,
    /// Write the summary to this file [default: row numbers and weights on standard output; none with --json]
    ///
    /// If the name ends in .csv, the summary is a table; otherwise it is a file that `merge` reads.
    #[arg(long, short, value_name = "SUMMARY")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub groups: GroupArgs,
    #[command(flatten)]
    pub input: DataArgs,
}

fn objective(text: &str) -> Result<Objective, String> {
    match text {
        "exemplars" => Ok(Objective::Exemplars),
        "facility" => Ok(Objective::FacilityLocation),
        _ => Err("must be exemplars or facility".into()),
    }
}

fn lambda(text: &str) -> Result<Lambda, String> {
    match text {
        "auto" => Ok(Lambda::Auto),
        "static" => Ok(Lambda::Static),
        _ => {
            let number = crate::args::values::number(text).ok().filter(|v| *v >= 0.0);
            number.map(Lambda::Value).ok_or_else(|| "must be auto, static or a number of 0 or more".into())
        }
    }
}

/// Name of the objective on the command line.
pub fn objective_name(objective: Objective) -> &'static str {
    match objective {
        Objective::Exemplars => "exemplars",
        Objective::FacilityLocation => "facility",
    }
}

fn kernel(args: &SummarizeArgs, gamma: f64) -> Result<Kernel, Failure> {
    let (coef0, degree) = (args.coef0, args.degree);
    let kernel = match args.kernel.as_str() {
        "rbf" => Kernel::Rbf { gamma },
        "linear" => Kernel::Linear,
        "poly" => Kernel::Poly { gamma, coef0, degree },
        "sigmoid" => Kernel::Sigmoid { gamma, coef0 },
        other => {
            return Err(Failure::Usage(format!("--kernel {other}: must be rbf, linear, poly or sigmoid")));
        }
    };
    kernel.check()?;
    Ok(kernel)
}

/// Runs the command.
pub fn run(args: &SummarizeArgs, common: &Common, started: Instant) -> Result<(), Failure> {
    kernel(args, if let Gamma::Value(gamma) = args.gamma { gamma } else { 1.0 })?;
    let files = Files::default().reads(&args.data).reads_data(&args.input, None);
    let to_stdout = check_output(files, args.output.as_ref(), common)?;
    let source = input::load(&args.data, &args.input, None, ReadOptions::default())?;
    console::note(common, &source.data.notes);
    let numbers = source.numbers();
    let groups = args.groups.read(&args.data, &args.input, &source)?;
    let about = |e| Failure::about(&args.data, e);
    if source.data.x.rows() == 0 || source.data.x.cols() == 0 {
        return Err(Failure::Failed(format!("{}: there is nothing to summarize", args.data.display())));
    }
    let input = source.data.input_spec();
    let scaling = args.scale.fit(source.data.x.view()).map_err(about)?;
    let x = scaling.apply(source.data.x).map_err(about)?;
    let params = ExemplarParams {
        kernel: kernel(args, args.gamma.on(x.view()))?,
        objective: args.objective,
        diversity: args.diversity,
        cache_bytes: args.cache_mb.saturating_mul(1 << 20),
        ..ExemplarParams::default()
    };
    let limit = usize::try_from(args.exemplars).unwrap_or(usize::MAX);
    let watch = Watcher::start(common, None)?;
    let pool = Pool::of(x.view());
    let (picks, value) = match &groups {
        Some(groups) => choose_within(&params, &pool, limit, &groups.limit()?, &watch),
        None => choose_and_score(&params, &pool, limit, &watch),
    }
    .map_err(about)?;
    if picks.order.is_empty() {
        return Err(Failure::Failed("stopped before a row was chosen; nothing was written".into()));
    }
    let weights = carry_weights(x.view(), &[], &picks.order, params.kernel).map_err(about)?;
    let seconds = watch.seconds();
    watch.finish();
    let shortfall = groups.as_ref().and_then(|groups| groups.shortfall(picks.order.len(), limit));
    console::note(common, shortfall.as_slice());
    if picks.exit == Exit::Interrupted {
        console::note(common, &[format!("stopped early, after {} exemplars", picks.order.len())]);
    }
    let (rows, exemplars) = (x.rows(), x.view().select(&picks.order));
    let kept = SavedSummary {
        summary: Summary::of(params, limit, exemplars, weights, rows as u64).map_err(about)?,
        scaling,
        input,
        sources: vec![args.data.display().to_string()],
        origin: picks.order.iter().map(|&i| (0, numbers[i])).collect(),
    };
    let text = format!(
        "{} of {} by {} in {} s, objective {}",
        count(kept.origin.len(), "exemplar"),
        count(rows, "row"),
        objective_name(args.objective),
        short(seconds),
        short(value),
    );
    let json = json!({
        "rows": rows, "exemplars": kept.origin.len(), "objective_name": objective_name(args.objective),
        "objective": value, "evaluations": picks.evaluations,
        "chosen_rows": kept.origin.iter().map(|o| o.1).collect::<Vec<_>>(), "weights": kept.summary.weights(),
        "seconds": seconds, "total_seconds": started.elapsed().as_secs_f64(),
    });
    print_result(&kept, args.output.as_deref(), to_stdout, common, &text, &json)
}

/// Refuses invalid outputs before any file is read; returns whether rows go to standard output.
pub fn check_output<'a>(
    files: Files<'a>,
    output: Option<&'a PathBuf>,
    common: &Common,
) -> Result<bool, Failure> {
    let to_stdout = output.map_or(!common.json, |o| o == Path::new("-"));
    if to_stdout && common.json {
        return Err(Failure::Usage(
            "-o - and --json both need standard output; write the summary to a file".into(),
        ));
    }
    files.writes_or_prints("--output", output).check()?;
    Ok(to_stdout)
}

/// Writes a summary to its output and prints the result.
pub fn print_result(
    kept: &SavedSummary,
    output: Option<&Path>,
    to_stdout: bool,
    common: &Common,
    text: &str,
    json: &serde_json::Value,
) -> Result<(), Failure> {
    if to_stdout {
        write_atomic("-", rows_and_weights(kept).as_bytes())?;
        if !common.quiet {
            status!("{text}");
        }
        return Ok(());
    }
    let mut text = text.to_string();
    if let Some(path) = output {
        if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("csv")) {
            write_atomic(path, table(kept)?.as_bytes())?;
        } else {
            summary::save(path, kept)?;
        }
        let _ = write!(text, "\nsummary: {}", path.display());
    }
    console::answer(common, json, &text)
}

/// Whether exemplars come from several files, so that the names of the files must be written.
fn is_mixed(kept: &SavedSummary) -> bool {
    kept.origin.iter().any(|o| Some(o.0) != kept.origin.first().map(|first| first.0))
}

/// Origin and weight of exemplar `k`, with a separator between them.
fn origin(kept: &SavedSummary, k: usize, comma: char) -> String {
    let (source, row) = kept.origin[k];
    let weight = exact(kept.summary.weights()[k]);
    if is_mixed(kept) {
        format!("{}{comma}{row}{comma}{weight}", cell(&kept.sources[source as usize], comma))
    } else {
        format!("{row}{comma}{weight}")
    }
}

fn heading(kept: &SavedSummary, comma: char) -> String {
    let file = if is_mixed(kept) { format!("file{comma}") } else { String::new() };
    format!("{file}row{comma}weight")
}

fn rows_and_weights(kept: &SavedSummary) -> String {
    let mut out = heading(kept, '\t') + "\n";
    (0..kept.origin.len()).for_each(|k| {
        let _ = writeln!(out, "{}", origin(kept, k, '\t'));
    });
    out
}

/// Maximum number of values of a table.
const MAX_VALUES: usize = 100_000_000;

/// One line per exemplar: its origin, weight and values.
fn table(kept: &SavedSummary) -> Result<String, Failure> {
    let x = kept.summary.exemplars().view();
    if x.rows().saturating_mul(x.cols()) > MAX_VALUES {
        return Err(Failure::Failed(format!(
            "{} with {} columns are too many values for a table; give the summary a name that does not end in .csv",
            count(x.rows(), "exemplar"),
            x.cols()
        )));
    }
    let mut out = heading(kept, ',');
    for name in column_names(&kept.input.columns, x.cols()) {
        let _ = write!(out, ",{}", cell(&name, ','));
    }
    out.push('\n');
    let mut values = vec![0.0; x.cols()];
    for k in 0..x.rows() {
        values.fill(0.0);
        x.row(k).for_each(|c, v| values[c] = v);
        out.push_str(&origin(kept, k, ','));
        values.iter().for_each(|v| {
            let _ = write!(out, ",{}", exact(*v));
        });
        out.push('\n');
    }
    Ok(out)
}

/// Names of the features: those of the header, `name=value` for categories; x1, x2, … without names.
fn column_names(columns: &[Column], cols: usize) -> Vec<String> {
    let of = |column: &Column| match column {
        Column::Number { name } => vec![name.clone()],
        Column::Category { name, values } => values.iter().map(|v| format!("{name}={v}")).collect(),
        Column::Text { name, buckets, .. } => (0..*buckets).map(|b| format!("{name}#{b}")).collect(),
    };
    let named: Vec<String> = columns.iter().flat_map(of).collect();
    (0..cols).map(|c| named.get(c).cloned().unwrap_or_else(|| format!("x{}", c + 1))).collect()
}
