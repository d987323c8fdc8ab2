//! `evermargin embed`: a few coordinates per row that follow the shape of the data, and two clusters.

use crate::args::help::examples;
use crate::args::{Common, DataArgs};
use crate::failure::Failure;
use crate::input::{self, Input};
use crate::output::console::{self, count, exact, short};
use crate::output::files::Files;
use crate::output::progress::Watcher;
use evermargin::Kernel;
use evermargin::data::Matrix;
use evermargin::estimators::manifold::spectral::{Embedding, SpectralParams, embed};
use evermargin::graph::GraphParams;
use evermargin::model::Scaling;
use evermargin::pipeline::train::{Gamma, ScalingChoice};
use evermargin_io::{LabelColumn, ReadOptions, write_atomic};
use serde_json::json;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Compute a few coordinates per row that follow the shape of the data, and two clusters
#[derive(Debug, clap::Args)]
#[command(after_help = examples(
    "",
    &["evermargin generate two-moons -o moons.csv"],
    [
        ("Compute two coordinates and two clusters", "evermargin embed moons.csv --dims 2 --clusters 2 -o map.tsv"),
        ("Learn the coordinates from some rows and apply them to others", "evermargin embed moons.csv --rows 1..500 --place moons.csv -o all.tsv"),
    ],
))]
pub struct EmbedArgs {
    /// Data in any format of `fit`; labels are not used; - is standard input
    pub data: PathBuf,
    /// Number of coordinates
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = crate::args::values::from_one)]
    pub dims: u64,
    /// Number of clusters, always 2: the signs of the first coordinate [default: no clusters]
    #[arg(long, value_name = "2", value_parser = two)]
    pub clusters: Option<u64>,
    /// Write coordinates of the rows of this file, computed by the functions learned from DATA [default: rows of DATA]
    #[arg(long, value_name = "FILE")]
    pub place: Option<PathBuf>,
    /// Width of the rbf kernel: a number, scale = 1/(d·Var X) or auto = 1/d
    #[arg(long, value_name = "X", default_value = "scale", value_parser = crate::args::values::gamma)]
    pub gamma: Gamma,
    /// Weight of the norm of a function relative to its variation along the graph
    #[arg(long, value_name = "X", default_value_t = 0.001, value_parser = crate::args::values::number)]
    pub smoothness: f64,
    /// Number of nearest neighbors per row in the graph
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = crate::args::values::from_one)]
    pub n_neighbors: u64,
    /// Weight each row by its degree in the graph
    #[arg(long)]
    pub by_degree: bool,
    /// Maximum number of rows that serve as centers of the kernel functions
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = crate::args::values::from_one)]
    pub landmarks: u64,
    /// Scaling: minmax, standard, range, unit, tfidf, divide=N or none [default: chosen from the data]
    #[arg(long, value_name = "NAME", value_parser = crate::args::values::scaling)]
    pub scale: Option<ScalingChoice>,
    /// Write the coordinates to this file, tab separated [default: standard output; none with --json]
    ///
    /// Columns: row, x1, x2, …, cluster.
    #[arg(long, short, value_name = "OUT")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub input: DataArgs,
}

fn two(text: &str) -> Result<u64, String> {
    text.parse().ok().filter(|k| *k == 2).ok_or_else(|| "must be 2, the only supported number".into())
}

/// Runs the command.
pub fn run(args: &EmbedArgs, common: &Common, started: Instant) -> Result<(), Failure> {
    let to_stdout = check(args, common)?;
    // Only a column with the name `label` is taken for the label.
    let known = ReadOptions {
        label: Some(LabelColumn::Name("label".into())),
        label_optional: args.input.label.is_none(),
        ..ReadOptions::default()
    };
    let source = input::load(&args.data, &args.input, None, known)?;
    console::note(common, &source.data.notes);
    let rows = source.data.x.rows();
    if size(args.dims) >= rows {
        let (dims, data) = (args.dims, args.data.display());
        let has = count(rows, "row");
        return Err(Failure::Usage(format!(
            "--dims {dims}: must be fewer than the rows, and {data} has {has}"
        )));
    }
    let about = |e| Failure::about(&args.data, e);
    let scaling = scaling(args, common, &source.data.x).map_err(about)?;
    let x = scaling.apply(source.data.x.clone()).map_err(about)?;
    let params = params(args, common, args.gamma.on(x.view()));
    params.kernel.check()?;
    let watch = Watcher::start(common, None)?;
    let found = embed(x.view(), size(args.dims), &params, &watch).map_err(about)?;
    let seconds = watch.seconds();
    watch.finish();
    let Some(found) = found else {
        return Err(Failure::Failed("stopped before the graph was complete; nothing was written".into()));
    };
    if found.components > 1 {
        console::note(common, &[format!("the graph has {} connected components", found.components)]);
    }
    let (coordinates, numbers) = match &args.place {
        None => (found.coordinates.clone(), source.numbers()),
        Some(path) => place(path, args, common, &found, &source, &scaling)?,
    };
    let output = if to_stdout { Some(Path::new("-")) } else { args.output.as_deref() };
    if let Some(output) = output {
        write_atomic(output, table(&coordinates, &numbers, args.clusters.is_some()).as_bytes())?;
    }
    print_result(args, common, &found, &coordinates, [seconds, started.elapsed().as_secs_f64()], to_stdout)
}

fn size(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Refuses invalid options before any file is read; returns whether rows go to standard output.
fn check(args: &EmbedArgs, common: &Common) -> Result<bool, Failure> {
    let to_stdout = args.output.as_deref().map_or(!common.json, |o| o == Path::new("-"));
    if to_stdout && common.json {
        return Err(Failure::Usage("-o - and --json both need standard output; write OUT to a file".into()));
    }
    if !(args.smoothness > 0.0 && args.smoothness <= 1e15) {
        let given = exact(args.smoothness);
        return Err(Failure::Usage(format!("--smoothness {given}: must be a number above 0, at most 1e15")));
    }
    if let Gamma::Value(gamma) = args.gamma {
        Kernel::Rbf { gamma }.check()?;
    }
    if args.place.as_deref() == Some(Path::new("-")) && args.data == Path::new("-") {
        return Err(Failure::Usage(
            "DATA and --place cannot both be standard input; use a file for one of them".into(),
        ));
    }
    Files::default()
        .reads(&args.data)
        .reads(args.place.as_ref())
        .reads_data(&args.input, None)
        .writes_or_prints("--output", args.output.as_ref())
        .check()?;
    Ok(to_stdout)
}

/// The requested scaling, or one that is chosen from the data and named in a note.
fn scaling(args: &EmbedArgs, common: &Common, x: &Matrix) -> evermargin::Result<Scaling> {
    let choice = args.scale.unwrap_or_else(|| {
        let (name, why) = Scaling::choose(x.view());
        console::note(common, &[format!("scaling: {} ({why})", name.name())]);
        ScalingChoice::Named(name)
    });
    choice.fit(x.view())
}

fn params(args: &EmbedArgs, common: &Common, gamma: f64) -> SpectralParams {
    let default = SpectralParams::default();
    SpectralParams {
        kernel: Kernel::Rbf { gamma },
        gamma: args.smoothness,
        graph: GraphParams { n_neighbors: size(args.n_neighbors), ..default.graph },
        by_degree: args.by_degree,
        landmarks: size(args.landmarks),
        seed: common.seed,
    }
}

/// Coordinates of the rows of another file, one vector per coordinate, and the numbers of the rows.
fn place(
    path: &Path,
    args: &EmbedArgs,
    common: &Common,
    found: &Embedding,
    like: &Input,
    scaling: &Scaling,
) -> Result<(Vec<Vec<f64>>, Vec<usize>), Failure> {
    let known = ReadOptions {
        columns: (!like.data.columns.is_empty()).then(|| like.data.columns.clone()),
        trained_label: like.data.label.clone(),
        cols: Some(like.data.x.cols()),
        index_base: like.data.index_base,
        ..ReadOptions::default()
    };
    let new = input::load(path, &args.input.for_another(), None, known)?;
    console::note(common, &new.data.notes);
    let numbers = new.numbers();
    let about = |e| Failure::about(path, e);
    let x = scaling.apply(new.data.x).map_err(about)?;
    let decision = found.model.decision(x.view()).map_err(about)?;
    let width = found.model.outputs();
    let coordinate = |j: usize| decision.iter().skip(j).step_by(width).copied().collect();
    Ok(((0..width).map(coordinate).collect(), numbers))
}

/// One line per row: its number, its coordinates and, if requested, its cluster.
fn table(coordinates: &[Vec<f64>], numbers: &[usize], clusters: bool) -> String {
    let mut out = String::from("row");
    (1..=coordinates.len()).for_each(|j| {
        let _ = write!(out, "\tx{j}");
    });
    out.push_str(if clusters { "\tcluster\n" } else { "\n" });
    for (i, number) in numbers.iter().enumerate() {
        let _ = write!(out, "{number}");
        for values in coordinates {
            let _ = write!(out, "\t{}", exact(values[i]));
        }
        if clusters {
            let _ = write!(out, "\t{}", cluster(coordinates[0][i]));
        }
        out.push('\n');
    }
    out
}

/// Cluster 1 or 2, by the sign of the first coordinate.
fn cluster(first: f64) -> usize {
    if first > 0.0 { 2 } else { 1 }
}

fn print_result(
    args: &EmbedArgs,
    common: &Common,
    found: &Embedding,
    coordinates: &[Vec<f64>],
    [seconds, total_seconds]: [f64; 2],
    to_stdout: bool,
) -> Result<(), Failure> {
    let rows = coordinates[0].len();
    let second = coordinates[0].iter().filter(|f| cluster(**f) == 2).count();
    let sizes = args.clusters.map(|_| [rows - second, second]);
    let mut text =
        format!("{}, {} in {} s", count(rows, "row"), count(coordinates.len(), "coordinate"), short(seconds));
    if let Some([first, second]) = sizes {
        let _ = write!(text, "; clusters of {first} and {second}");
    }
    if to_stdout {
        if !common.quiet {
            status!("{text}");
        }
        return Ok(());
    }
    if let Some(path) = &args.output {
        let _ = write!(text, "\ncoordinates: {}", path.display());
    }
    let json = json!({
        "rows": rows, "dims": coordinates.len(), "objectives": found.objectives, "pieces": found.components,
        "cluster_sizes": sizes, "seconds": seconds, "total_seconds": total_seconds,
    });
    console::answer(common, &json, &text)
}
