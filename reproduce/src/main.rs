//! `evermargin-reproduce`: runs a published table and says how each cell came out.

use clap::Parser;
use evermargin::query::StopRule;
use evermargin_reproduce::claims::{CLAIMS, Claim};
use evermargin_reproduce::data::{Scaling, folder};
use evermargin_reproduce::methods::Open;
use evermargin_reproduce::run::{Bench, Counts, Options};
use evermargin_reproduce::tables::Table;
use evermargin_reproduce::{Failure, Result, markdown, report, tables};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// Run the tables of the works evermargin builds on and compare with what was published.
///
/// Example: evermargin-reproduce ertekin-6.3 --data-sets banana,usps --methods LIBSVM
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    /// Names of tables and claims, or all; see --list
    #[arg(required_unless_present = "list")]
    tables: Vec<String>,
    /// List the tables and claims
    #[arg(long)]
    list: bool,
    /// Only these rows, by their name in the table or that of their data
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    data_sets: Vec<String>,
    /// Only these methods
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    methods: Vec<String>,
    /// Repetitions, instead of the protocol's
    #[arg(long, value_name = "N")]
    repetitions: Option<usize>,
    /// Repetitions of rows with more than 10000 training rows
    #[arg(long, value_name = "N")]
    large: Option<usize>,
    /// FULL SVM on rows with more than 50000 training rows too
    #[arg(long)]
    slow: bool,
    /// When active learning stops: margin (exhausted), plateau (support vectors settle), never
    #[arg(long, value_name = "NAME", default_value = "margin")]
    stop: String,
    /// Write what was found into a Markdown file too, a section a table
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// One repetition, and no row with more than 10000 training rows
    #[arg(long)]
    quick: bool,
    /// Scale features otherwise than the protocol says: none, standard, minmax, sixteenth, pixels, unit
    #[arg(long, value_name = "NAME")]
    scaling: Option<String>,
    /// Another cost than the protocol's
    #[arg(long, value_name = "NUMBER")]
    c: Option<f64>,
    /// Another kernel width than the protocol's
    #[arg(long, value_name = "NUMBER")]
    gamma: Option<f64>,
    /// Another parameter of the learners of tables about few labels, NAME=VALUE (repeatable)
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Support vectors before LASVM-NC and LASVM-I trust the ramp
    #[arg(long, value_name = "N")]
    warm_up: Option<usize>,
    /// Where the ramp of LASVM-NC and LASVM-I ends
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true)]
    s: Option<f64>,
    /// Points that are no support vectors and survive a cleaning
    #[arg(long, value_name = "N")]
    keep: Option<usize>,
    /// Labels that ertekin-auto-active looks at
    #[arg(long, value_name = "N")]
    labels: Option<usize>,
    /// With few labels: every draw of them counts, and the share of positives is that of the labels
    #[arg(long)]
    honest: bool,
    /// Which members without constant are finished: nc (LASVM-NC alone), all or none
    #[arg(long, value_name = "WHICH", default_value = "nc")]
    finish: String,
    /// Passes of LASVM-G, -NC, -I and FULL SVM
    #[arg(long, value_name = "N", default_value_t = 1)]
    epochs: usize,
    /// Score on this share of the training rows, left out of learning, and never look at the test rows
    #[arg(long, value_name = "SHARE")]
    hold_out: Option<f64>,
    /// Divide data that come divided anew each repetition, in the same sizes
    #[arg(long)]
    resplit: bool,
    /// Write the picture of emara-scaling into this SVG file
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Folder of the data files [default: EVERMARGIN_DATA, or ../shared/data beside the project]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// End each table with one line of JSON
    #[arg(long)]
    json: bool,
    /// Seed of every draw
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

fn main() -> ExitCode {
    match work(Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::from(if matches!(failure, Failure::Unknown(_)) { 2 } else { 1 })
        }
    }
}

fn work(args: Args) -> Result<()> {
    if args.list {
        print!("{}", report::list(&tables::all()?));
        return Ok(());
    }
    let usual = Open::default();
    let options = Options {
        data_sets: args.data_sets,
        methods: args.methods,
        repetitions: args.repetitions,
        large: args.large,
        quick: args.quick,
        slow: args.slow,
        scaling: args.scaling.as_deref().map(Scaling::by_name).transpose()?,
        c: args.c,
        gamma: args.gamma,
        set: args.set.iter().map(|text| assignment(text)).collect::<Result<_>>()?,
        plot: args.plot,
        folder: args.data.unwrap_or_else(folder),
        seed: args.seed,
        open: Open {
            stop: stop_rule(&args.stop)?,
            warm_up: args.warm_up.unwrap_or(usual.warm_up),
            s: args.s.unwrap_or(usual.s),
            keep: args.keep.unwrap_or(usual.keep),
            finish: finish(&args.finish)?,
            epochs: args.epochs,
            labels: args.labels.unwrap_or(usual.labels),
            honest: args.honest,
        },
        hold_out: args.hold_out,
        resplit: args.resplit,
    };
    let say = |line: &str| eprintln!("{line}");
    let bench = Bench::new(&options, &say);
    for id in ids(&args.tables)? {
        let markdown = args.markdown.as_deref();
        if let Some(claim) = CLAIMS.iter().find(|c| c.id == id) {
            claimed(claim, &bench, markdown)?;
        } else {
            tabled(&tables::find(&id)?, &bench, markdown, args.json)?;
        }
    }
    Ok(())
}

/// What was asked for; `all` is every table and claim.
fn ids(asked: &[String]) -> Result<Vec<String>> {
    if asked.iter().any(|id| id == "all") {
        let tables = tables::all()?.into_iter().map(|t| t.id);
        return Ok(tables.chain(CLAIMS.iter().map(|c| c.id.to_string())).collect());
    }
    Ok(asked.to_vec())
}

fn claimed(claim: &Claim, bench: &Bench<'_>, file: Option<&Path>) -> Result<()> {
    let start = Instant::now();
    let found = (claim.check)(bench)?;
    let (seed, day) = (bench.options.seed, markdown::today());
    let seconds = start.elapsed().as_secs_f64();
    let head = format!("`{}`, seed {seed}, {day}, {seconds:.0} s.", command());
    let name = section(claim.id, bench);
    let text = format!("## {name}\n\n{}.\n\n{head}\n\n{found}", claim.title);
    print!("{text}");
    file.map_or(Ok(()), |file| markdown::write(file, &name, &text))
}

/// The name of the section about a table or claim: runs that stop by another rule have their own.
fn section(id: &str, bench: &Bench<'_>) -> String {
    match bench.options.open.stop {
        _ if bench.options.open.honest => format!("{id} honest"),
        StopRule::Plateau => format!("{id} plateau"),
        StopRule::Never => format!("{id} never"),
        StopRule::Margin | StopRule::CrossValidated => id.to_string(),
    }
}

/// NAME=VALUE, the value as JSON or as text.
fn assignment(text: &str) -> Result<(String, serde_json::Value)> {
    let (name, value) =
        text.split_once('=').ok_or_else(|| Failure::Unknown(format!("--set {text}: write NAME=VALUE")))?;
    Ok((name.to_string(), serde_json::from_str(value).unwrap_or_else(|_| value.into())))
}

fn stop_rule(name: &str) -> Result<StopRule> {
    match name {
        "margin" => Ok(StopRule::Margin),
        "plateau" => Ok(StopRule::Plateau),
        "never" => Ok(StopRule::Never),
        other => Err(Failure::Unknown(format!("no rule {other}; there are margin, plateau, never"))),
    }
}

fn finish(name: &str) -> Result<Option<bool>> {
    match name {
        "nc" => Ok(None),
        "all" => Ok(Some(true)),
        "none" => Ok(Some(false)),
        other => Err(Failure::Unknown(format!("--finish {other}; there are nc, all, none"))),
    }
}

fn tabled(table: &Table, bench: &Bench<'_>, file: Option<&Path>, json: bool) -> Result<()> {
    let start = Instant::now();
    let judged = bench.table(table)?;
    let counts = Counts::of(&judged, start);
    print!("{}", report::cells(table, &judged));
    if json {
        println!("{}", serde_json::to_string(&counts).map_err(|e| Failure::Content(e.to_string()))?);
    } else {
        println!("{}; {:.1} s", markdown::tally(&counts), counts.seconds);
    }
    let Some(file) = file else { return Ok(()) };
    let name = section(&table.id, bench);
    let text = markdown::table(&name, table, &judged, &counts, &command(), bench.options.seed);
    markdown::write(file, &name, &text)
}

/// The command line, without the folders of this machine.
fn command() -> String {
    let mut words = vec!["evermargin-reproduce".to_string()];
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        if arg == "--data" || arg == "--markdown" || arg == "--plot" {
            let _ = args.next();
        } else if !arg.starts_with("--data=") && !arg.starts_with("--markdown=") {
            words.push(if arg.contains(' ') { format!("\"{arg}\"") } else { arg });
        }
    }
    words.join(" ")
}
