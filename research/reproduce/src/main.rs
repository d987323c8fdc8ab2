//! `evermargin-reproduce`: runs published tables and prints a verdict for each cell.

use clap::Parser;
use evermargin::active::StopRule;
use evermargin_reproduce::claims::CLAIMS;
use evermargin_reproduce::data::{Scaling, folder};
use evermargin_reproduce::judge::Counts;
use evermargin_reproduce::keep::{self, Keep};
use evermargin_reproduce::methods::{ProtocolChoices, stop_rule};
use evermargin_reproduce::run::{Bench, Options, Report};
use evermargin_reproduce::show::{Around, at_hand, embed, html, markdown, text};
use evermargin_reproduce::{Failure, Result, tables};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Reproduce published tables of the works that evermargin implements.
///
/// Example: evermargin-reproduce ertekin-6.3 --data-sets banana,usps --methods LIBSVM --report out.html
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    /// Tables, statements, works (emara, ertekin, hou-hero, sindhwani) or all; --list shows the names
    #[arg(required_unless_present_any = ["list", "quick", "data_sets_at_hand"])]
    tables: Vec<String>,
    /// List the tables and statements
    #[arg(long)]
    list: bool,
    /// Run only these rows, by the name of the row or of the data set
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    data_sets: Vec<String>,
    /// Run only these methods
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    methods: Vec<String>,
    /// Number of repetitions [default: that of the protocol]
    #[arg(long, value_name = "N")]
    repetitions: Option<NonZeroUsize>,
    /// Number of repetitions of rows with more than 10000 training rows (20000 with online methods, 100000 if the worst draws count)
    #[arg(long, value_name = "N")]
    large: Option<NonZeroUsize>,
    /// Include slow runs: FULL SVM above 50000 rows, ten digits of MNIST, Adult in ertekin-ramp-end, long streams
    #[arg(long)]
    slow: bool,
    /// Stopping rule of active learning: margin (no row inside it), plateau (constant number of support vectors) or never [default: that of the protocol]
    #[arg(long, value_name = "NAME")]
    stop: Option<String>,
    /// Write the results into this Markdown file, one section per table
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Run one repetition and skip rows with more than 10000 training rows; without names, of all tables
    #[arg(long)]
    quick: bool,
    /// List the data files that are present and complete, and the sources of the others
    #[arg(long)]
    data_sets_at_hand: bool,
    /// Write the results as one HTML page
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Update the tables between the markers of the Markdown pages in this folder
    #[arg(long, value_name = "DIR")]
    book: Option<PathBuf>,
    /// Folder of the cache of finished runs [default: EVERMARGIN_CACHE, or the cache folder of the user]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// Do not read or write the cache
    #[arg(long)]
    fresh: bool,
    /// Number of threads; results do not depend on it [default: all processors]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    threads: usize,
    /// Scaling of features: none, standard, minmax, sixteenth, pixels or unit [default: that of the protocol]
    #[arg(long, value_name = "NAME")]
    scaling: Option<String>,
    /// Cost of online learners [default: that of the protocol]
    #[arg(long, value_name = "NUMBER", value_parser = positive)]
    c: Option<f64>,
    /// Kernel width of online learners [default: that of the protocol]
    #[arg(long, value_name = "NUMBER", value_parser = positive)]
    gamma: Option<f64>,
    /// Set a parameter of semi-supervised learners, NAME=VALUE (repeatable)
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Number of support vectors from which LASVM-NC and LASVM-I use the ramp
    #[arg(long, value_name = "N")]
    warm_up: Option<usize>,
    /// Parameter s of LASVM-NC and LASVM-I: the end of the ramp
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true)]
    s: Option<f64>,
    /// Number of points without coefficient that are kept when points are removed
    #[arg(long, value_name = "N")]
    keep: Option<usize>,
    /// Number of labels of ertekin-auto-active
    #[arg(long, value_name = "N")]
    labels: Option<usize>,
    /// Learners without intercept that are finished: nc (LASVM-NC only), all or none
    #[arg(long, value_name = "WHICH", default_value = "nc")]
    finish: String,
    /// Number of passes of LASVM-G, LASVM-NC, LASVM-I and FULL SVM
    #[arg(long, value_name = "N", default_value_t = 1)]
    epochs: usize,
    /// Score on this held-out share of the training rows instead of the test rows
    #[arg(long, value_name = "SHARE", value_parser = share)]
    hold_out: Option<f64>,
    /// Split data with a fixed test part at random in each repetition, with the same sizes
    #[arg(long)]
    resplit: bool,
    /// Write the figure of emara-scaling into this SVG file
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Folder of the data files [default: EVERMARGIN_DATA, or ../shared/data beside the project]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Print the counts of verdicts as one line of JSON
    #[arg(long)]
    json: bool,
    /// Random seed of all draws
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

fn main() -> ExitCode {
    match work(&Args::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::from(if matches!(failure, Failure::Unknown(_)) { 2 } else { 1 })
        }
    }
}

/// Runs the requested tables; false if one of them failed.
fn work(args: &Args) -> Result<bool> {
    if args.list {
        print!("{}", text::list(&tables::all()?, &tables::descriptions()?));
        return Ok(true);
    }
    let ids = ids(&args.tables, args.quick)?;
    let options = Options { several: ids.len() > 1, ..options(args)? };
    if args.data_sets_at_hand {
        print!("{}", at_hand::list(&options.folder)?);
        return Ok(true);
    }
    options.cache.as_deref().map_or(Ok(()), Keep::check)?;
    args.report.as_deref().map_or(Ok(()), html::check)?;
    let run_options = options_given(&args.tables, std::env::args().skip(1));
    if let (Some(_), Some(other)) = (&args.book, run_options.iter().find(|word| !allowed_in_book(word))) {
        return Err(Failure::Unknown(format!(
            "--book needs the protocols of the tables, which {other} changes; only --large and --slow are allowed"
        )));
    }
    let say = |line: &str| eprintln!("{line}");
    let bench = Bench::new(&options, &say);
    let around = Around {
        tables: args.tables.clone(),
        options: run_options,
        seed: options.seed,
        day: markdown::today(),
    };
    let (mut reports, mut whole) = (Vec::new(), true);
    for (k, id) in ids.iter().enumerate() {
        if ids.len() > 1 {
            eprintln!("{id}, {} of {}", k + 1, ids.len());
        }
        match bench.report(id) {
            Ok(report) => {
                show(&report, &bench, &around, args.markdown.as_deref())?;
                reports.push(report);
            }
            Err(unknown @ Failure::Unknown(_)) if ids.len() == 1 => return Err(unknown),
            Err(Failure::Unknown(why)) => eprintln!("skipped: {why}"),
            Err(failure) => {
                eprintln!("error: {id}: {failure}");
                whole = false;
            }
        }
    }
    if reports.is_empty() && whole {
        return Err(Failure::Unknown("no table matches the request".into()));
    }
    let sum = reports.iter().map(|r| r.counts).fold(Counts::default(), Counts::plus);
    if let Some(file) = &args.report {
        html::write(file, &reports, &sum, &around)?;
    }
    if let Some(folder) = &args.book {
        embed::write(folder, &reports, &around)?;
    }
    if args.json {
        println!("{}", serde_json::to_string(&sum).map_err(|e| Failure::Content(e.to_string()))?);
    } else {
        println!("{}; {:.1} s", text::tally(&sum), sum.seconds);
    }
    Ok(whole)
}

fn options(args: &Args) -> Result<Options> {
    let usual = ProtocolChoices::default();
    Ok(Options {
        data_sets: args.data_sets.clone(),
        methods: args.methods.clone(),
        repetitions: args.repetitions.map(NonZeroUsize::get),
        large: args.large.map(NonZeroUsize::get),
        quick: args.quick,
        slow: args.slow,
        scaling: args.scaling.as_deref().map(Scaling::by_name).transpose()?,
        c: args.c,
        gamma: args.gamma,
        set: args.set.iter().map(|text| assignment(text)).collect::<Result<_>>()?,
        plot: args.plot.clone(),
        folder: args.data.clone().unwrap_or_else(folder),
        seed: args.seed,
        open: ProtocolChoices {
            stop: args.stop.as_deref().map(stop_rule).transpose()?,
            warm_up: args.warm_up.unwrap_or(usual.warm_up),
            s: args.s.unwrap_or(usual.s),
            keep: args.keep.unwrap_or(usual.keep),
            finish: finish(&args.finish)?,
            epochs: args.epochs,
            labels: args.labels.unwrap_or(usual.labels),
        },
        hold_out: args.hold_out,
        resplit: args.resplit,
        several: false,
        threads: args.threads,
        cache: if args.fresh { None } else { args.cache.clone().or_else(keep::usual_folder) },
    })
}

/// The requested tables and statements: by name, by work (`emara`), by chapter (`emara-III`), or all of them.
fn ids(asked: &[String], quick: bool) -> Result<Vec<String>> {
    // --quick without names leaves out the tables with the defaults of a user
    let mut tables = tables::all()?;
    tables.retain(|t| !(t.honest && quick && asked.is_empty()));
    let mut known: Vec<String> = tables.into_iter().map(|t| t.id).collect();
    let claims = CLAIMS.iter().map(|c| c.id.to_string()).filter(|id| !known.contains(id));
    known.extend(claims.collect::<Vec<_>>());
    if asked.is_empty() && quick {
        return Ok(known);
    }
    let mut found: Vec<String> = Vec::new();
    for name in asked {
        let fits = |id: &&String| {
            name == "all"
                || *id == name
                || id.strip_prefix(name.as_str()).is_some_and(|r| r.starts_with(['-', '.']))
        };
        let fitting: Vec<&String> = match known.iter().find(|id| *id == name) {
            Some(exact) => vec![exact],
            None => known.iter().filter(fits).collect(),
        };
        if fitting.is_empty() {
            tables::find(name)?;
        }
        for id in fitting {
            if !found.contains(id) {
                found.push(id.clone());
            }
        }
    }
    Ok(found)
}

/// Prints a report, and writes it into the Markdown file if one is given.
fn show(report: &Report, bench: &Bench<'_>, around: &Around, file: Option<&Path>) -> Result<()> {
    match &report.table {
        Some(table) => println!("{}{}", text::cells(table, &report.cells), text::tally(&report.counts)),
        None => println!("{}: {}", report.id, report.title),
    }
    if !report.notes.is_empty() {
        println!("\n{}", report.notes);
    }
    let Some(file) = file else { return Ok(()) };
    let name = section(&report.id, bench);
    let section = markdown::section(&name, report, around);
    markdown::write(file, &name, &section)
}

/// Name of the section of a table or statement; runs with another stopping rule have their own section.
fn section(id: &str, bench: &Bench<'_>) -> String {
    match bench.options.open.stop {
        Some(StopRule::Plateau) => format!("{id} plateau"),
        Some(StopRule::Never) => format!("{id} never"),
        Some(StopRule::Margin | StopRule::CrossValidated) | None => id.to_string(),
    }
}

fn share(text: &str) -> std::result::Result<f64, String> {
    let number: f64 = text.parse().map_err(|e| format!("{e}"))?;
    if number > 0.0 && number < 1.0 { Ok(number) } else { Err("a share between 0 and 1".into()) }
}

fn positive(text: &str) -> std::result::Result<f64, String> {
    let number: f64 = text.parse().map_err(|e| format!("{e}"))?;
    if number > 0.0 && number.is_finite() { Ok(number) } else { Err("a number above 0".into()) }
}

/// NAME=VALUE, the value as JSON or as text.
fn assignment(text: &str) -> Result<(String, serde_json::Value)> {
    let (name, value) =
        text.split_once('=').ok_or_else(|| Failure::Unknown(format!("--set {text}: write NAME=VALUE")))?;
    Ok((name.to_string(), serde_json::from_str(value).unwrap_or_else(|_| value.into())))
}

fn finish(name: &str) -> Result<Option<bool>> {
    match name {
        "nc" => Ok(None),
        "all" => Ok(Some(true)),
        "none" => Ok(Some(false)),
        other => Err(Failure::Unknown(format!("--finish {other}; there are nc, all, none"))),
    }
}

/// Whether numbers of runs with this option may be written into the book.
fn allowed_in_book(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or_default();
    !name.starts_with("--") || matches!(name, "--large" | "--slow")
}

/// The options of a command line that can change the numbers: without tables, files and folders.
fn options_given(tables: &[String], mut args: impl Iterator<Item = String>) -> Vec<String> {
    const WITHOUT_EFFECT: [&str; 7] =
        ["--data", "--markdown", "--plot", "--report", "--cache", "--book", "--threads"];
    const FLAGS: [&str; 4] = ["--quick", "--slow", "--resplit", "--list"];
    let quoted = |word: String| if word.contains(' ') { format!("\"{word}\"") } else { word };
    let mut words = Vec::new();
    while let Some(arg) = args.next() {
        let name = arg.split('=').next().unwrap_or_default().to_string();
        if tables.contains(&arg) || arg == "--json" || arg == "--fresh" {
            continue;
        }
        let value = if arg.contains('=') || FLAGS.contains(&name.as_str()) { None } else { args.next() };
        if !WITHOUT_EFFECT.contains(&name.as_str()) {
            words.extend([arg].into_iter().chain(value).map(quoted));
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn given_options_are_those_that_change_numbers() {
        let words = |line: &str| line.split(' ').map(str::to_string).collect::<Vec<_>>();
        let line =
            "all --finish all --data /d --large 1 --cache=/c --slow --threads 2 emara --json --set a=b";
        let found = options_given(&words("all emara"), words(line).into_iter());
        assert_eq!(found.join(" "), "--finish all --large 1 --slow --set a=b");
        let refused: Vec<_> = found.iter().filter(|word| !allowed_in_book(word)).collect();
        assert_eq!(refused, ["--finish", "--set"]);
    }
}
