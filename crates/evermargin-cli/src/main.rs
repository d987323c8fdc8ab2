//! The `evermargin` program: its commands call the library and have one file each.

/// Prints a line on standard error. A failure to write is ignored, so that a run continues after the reader of its log has
/// ended.
macro_rules! status {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($text)*);
    }};
}

/// Prints text on standard error without an end of line.
macro_rules! status_part {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = write!(std::io::stderr(), $($text)*);
    }};
}

mod args;
pub mod commands;
mod failure;
mod input;
pub mod output;
mod remedy;

use args::{Cli, Verb};
use clap::FromArgMatches;
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    let parsed = args::command().try_get_matches().and_then(|found| Cli::from_arg_matches(&found));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(message) => {
            let code = if message.use_stderr() { 2 } else { 0 };
            let _ = message.print(); // a closed pipe is not an error of this program
            return ExitCode::from(code);
        }
    };
    match run(&cli) {
        Ok(()) | Err(Failure::BrokenPipe) => ExitCode::SUCCESS,
        Err(Failure::Usage(message)) => {
            status!("error: {message}\n\nfor more, try 'evermargin {} --help'", cli.verb.name());
            ExitCode::from(2)
        }
        Err(Failure::Failed(message)) => {
            status!("error: {message}");
            ExitCode::from(1)
        }
    }
}

fn run(cli: &Cli) -> Result<(), Failure> {
    let started = std::time::Instant::now();
    let common = &cli.common;
    if common.threads == Some(0) {
        return Err(Failure::Usage("--threads 0: must be 1 or more; leave it out to use every core".into()));
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(common.threads.unwrap_or(0))
        .build()
        .map_err(|e| Failure::Failed(format!("cannot start threads: {e}")))?;
    pool.install(|| match &cli.verb {
        Verb::Fit(args) => commands::fit::run(args, common, started),
        Verb::Predict(args) => commands::predict::run(args, common, started),
        Verb::Label(args) => commands::label::run(args, common, started),
        Verb::Ask(args) => commands::ask::run(args, common, started),
        Verb::Summarize(args) => commands::summarize::run(args, common, started),
        Verb::Merge(args) => commands::merge::run(args, common, started),
        Verb::Embed(args) => commands::embed::run(args, common, started),
        Verb::Tune(args) => commands::tune::run(args, common, started),
        Verb::Run(args) => commands::run::run(args, common, started),
        Verb::Convert(args) => commands::convert::run(args, common, started),
        Verb::Inspect(args) => commands::inspect::run(args, common),
        Verb::Generate(args) => commands::generate::run(args, common, started),
        Verb::Demo(args) => commands::demo::run(args, common, started),
        Verb::Learners(args) => commands::learners::run(args, common),
    })
}
