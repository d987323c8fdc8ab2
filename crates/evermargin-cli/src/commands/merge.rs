//! `evermargin merge`: one summary of all rows from summaries of parts.

use crate::args::Common;
use crate::args::help::examples;
use crate::commands::summarize::{check_output, objective_name, print_result};
use crate::failure::Failure;
use crate::output::console::{self, count, short};
use crate::output::files::Files;
use crate::output::progress::Watcher;
use evermargin::summary::{Pool, Summary, objective};
use evermargin_io::Limits;
use evermargin_io::artifacts::summary::{self, SavedSummary};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Merge several summaries into one
#[derive(Debug, clap::Args)]
#[command(after_help = examples(
    "The summaries must have the same kernel, objective, columns and scaling. Pass `summarize` a number as --gamma, because other values depend on the data.",
    &["evermargin generate two-moons -o moons.csv", "evermargin summarize moons.csv --rows 1..500 --gamma 0.5 -o a.evx", "evermargin summarize moons.csv --rows 501.. --gamma 0.5 -o b.evx"],
    [
        ("Merge two summaries into one of 100 exemplars", "evermargin merge a.evx b.evx -k 100 -o both.evx"),
        ("Write the merged summary as a table", "evermargin merge a.evx b.evx -k 20 -o both.csv"),
    ],
))]
pub struct MergeArgs {
    /// Summaries written by `summarize -o` or `merge -o`
    #[arg(required = true, num_args = 1..)]
    pub summaries: Vec<PathBuf>,
    /// Maximum number of exemplars [default: the largest limit of the summaries]
    #[arg(short = 'k', long = "exemplars", value_name = "N", value_parser = crate::args::values::from_one)]
    pub exemplars: Option<u64>,
    /// Write the summary to this file [default: row numbers and weights on standard output; none with --json]
    ///
    /// If the name ends in .csv, the summary is a table; otherwise it is a file that `merge` reads.
    #[arg(long, short, value_name = "SUMMARY")]
    pub output: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &MergeArgs, common: &Common, started: Instant) -> Result<(), Failure> {
    let files = Files::default().reads_all(&args.summaries);
    let to_stdout = check_output(files, args.output.as_ref(), common)?;
    let parts: Vec<SavedSummary> = args
        .summaries
        .iter()
        .map(|path| summary::load(path, &Limits::default()))
        .collect::<Result<_, _>>()?;
    let asked = args.exemplars.map(|k| usize::try_from(k).unwrap_or(usize::MAX));
    let largest = parts.iter().map(|p| p.summary.cap()).max().unwrap_or(1);
    let watch = Watcher::start(common, None)?;
    let mut merged = empty_like(&parts[0], asked.unwrap_or(largest))?;
    for (part, path) in parts.iter().zip(&args.summaries) {
        agree(&parts[0], part, &args.summaries[0], path)?;
        let before: Vec<(u32, usize)> = merged.origin.clone();
        let kept = merged.summary.merge(&part.summary, &watch).map_err(|e| Failure::about(path, e))?;
        let Some(kept) = kept else {
            return Err(Failure::Failed(
                "stopped before the summaries were merged; nothing was written".into(),
            ));
        };
        let first = merged.sources.len() as u32;
        merged.sources.extend(part.sources.iter().cloned());
        let came = part.origin.iter().map(|(source, row)| (first + source, *row));
        let all: Vec<(u32, usize)> = before.into_iter().chain(came).collect();
        merged.origin = kept.iter().map(|&k| all[k]).collect();
        drop_unused_sources(&mut merged);
    }
    let value = objective_on_parts(&merged, &parts).map_err(|e| Failure::about(&args.summaries[0], e))?;
    let seconds = watch.seconds();
    watch.finish();
    let params = merged.summary.params();
    let text = format!(
        "{} of {} ({}) by {} in {} s",
        count(merged.origin.len(), "exemplar"),
        count(usize::try_from(merged.summary.seen()).unwrap_or(usize::MAX), "row"),
        count(parts.len(), "part"),
        objective_name(params.objective),
        short(seconds),
    );
    let json = json!({
        "rows": merged.summary.seen(), "parts": parts.len(), "exemplars": merged.origin.len(),
        "objective_name": objective_name(params.objective), "objective": value,
        "weights": merged.summary.weights(),
        "seconds": seconds, "total_seconds": started.elapsed().as_secs_f64(),
    });
    if merged.origin.is_empty() {
        console::note(common, &["the summaries are empty".to_string()]);
    }
    print_result(&merged, args.output.as_deref(), to_stdout, common, &text, &json)
}

/// An empty summary with the parameters of another.
fn empty_like(part: &SavedSummary, cap: usize) -> Result<SavedSummary, Failure> {
    let rows = part.summary.exemplars();
    let sparse = matches!(rows, evermargin::Matrix::Csr { .. });
    Ok(SavedSummary {
        summary: Summary::new(part.summary.params().clone(), cap, rows.cols(), sparse)?,
        scaling: part.scaling.clone(),
        input: part.input.clone(),
        sources: Vec::new(),
        origin: Vec::new(),
    })
}

/// Refuses summaries with different columns, scalings, kernels or objectives.
fn agree(a: &SavedSummary, b: &SavedSummary, first: &Path, other: &Path) -> Result<(), Failure> {
    let (p, q) = (a.summary.params(), b.summary.params());
    let differ = [
        (
            "columns",
            a.summary.exemplars().cols() != b.summary.exemplars().cols()
                || a.input.columns != b.input.columns,
        ),
        ("scalings", a.scaling != b.scaling),
        ("kernels", p.kernel != q.kernel),
        ("objectives", p.objective != q.objective),
    ];
    match differ.iter().find(|(_, differ)| *differ) {
        None => Ok(()),
        Some((what, _)) => {
            let remedy = match *what {
                "columns" => "summarize files with the same columns",
                _ => {
                    "summarize both with the same --kernel, --gamma, --objective and --scale divide=N or none"
                }
            };
            let (first, other) = (first.display(), other.display());
            Err(Failure::Failed(format!(
                "{first} and {other} have different {what}, so their exemplars cannot be compared; {remedy}"
            )))
        }
    }
}

/// Removes files none of whose rows are left, so that the list is never longer than the summary.
fn drop_unused_sources(kept: &mut SavedSummary) {
    let mut used: Vec<u32> = kept.origin.iter().map(|o| o.0).collect();
    used.sort_unstable();
    used.dedup();
    for (source, _) in &mut kept.origin {
        *source = used.partition_point(|u| u < source) as u32;
    }
    kept.sources = used.iter().map(|&u| std::mem::take(&mut kept.sources[u as usize])).collect();
}

/// Objective of the merged exemplars on all exemplars of the parts, with their weights.
fn objective_on_parts(merged: &SavedSummary, parts: &[SavedSummary]) -> evermargin::Result<f64> {
    let mut rows = merged.summary.exemplars().clone();
    let chosen: Vec<usize> = (0..rows.rows()).collect();
    let mut weight = vec![0.0; rows.rows()];
    for part in parts {
        let view = part.summary.exemplars().view();
        (0..view.rows()).for_each(|i| rows.push(view.row(i)));
        weight.extend(part.summary.weights());
    }
    objective(merged.summary.params(), &Pool { weight: &weight, ..Pool::of(rows.view()) }, &chosen)
}
