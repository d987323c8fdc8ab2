//! `evermargin-reproduce`: runs a published table and says how each cell came out.

use clap::Parser;
use evermargin_reproduce::data::{Scaling, folder};
use evermargin_reproduce::run::{Counts, Options, run};
use evermargin_reproduce::{Failure, Result, report, tables};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// Run the tables of the works evermargin builds on and compare with what was published.
///
/// Example: evermargin-reproduce ertekin-6.3 --data-sets banana,usps --methods LIBSVM
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    /// Name of a table; see --list
    #[arg(required_unless_present = "list")]
    table: Option<String>,
    /// List the tables
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
    /// Folder of the data files [default: EVERMARGIN_DATA, or ../shared/data beside the project]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// End with one line of JSON
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
    let start = Instant::now();
    let Some(id) = args.table.filter(|_| !args.list) else {
        print!("{}", report::list(&tables::all()?));
        return Ok(());
    };
    let table = tables::find(&id)?;
    let options = Options {
        data_sets: args.data_sets,
        methods: args.methods,
        repetitions: args.repetitions,
        quick: args.quick,
        scaling: args.scaling.as_deref().map(Scaling::by_name).transpose()?,
        c: args.c,
        gamma: args.gamma,
        folder: args.data.unwrap_or_else(folder),
        seed: args.seed,
    };
    let judged = run(&table, &options, &|line| eprintln!("{line}"))?;
    print!("{}", report::cells(&table, &judged));
    let counts = Counts::of(&judged, start);
    if args.json {
        println!("{}", serde_json::to_string(&counts).map_err(|e| Failure::Content(e.to_string()))?);
    } else {
        println!(
            "{} cells run: {} reproduced, {} better, {} worse, {} not judged; {} missing, {} not run; {:.1} s",
            counts.cells_run,
            counts.cells_reproduced,
            counts.cells_better,
            counts.cells_worse,
            counts.cells_not_judged,
            counts.cells_missing,
            counts.cells_not_run,
            counts.seconds
        );
    }
    Ok(())
}
