//! `evermargin ask`: the rows that a person should label next.

use crate::args::help::examples;
use crate::args::{Common, DataArgs, HideArgs};
use crate::commands::ask_batch::{self, Labeled};
use crate::commands::convert::read_model;
use crate::commands::predict::{cell, load_for};
use crate::failure::Failure;
use crate::input::Input;
use crate::input::groups::{GroupArgs, Groups};
use crate::input::views::{self, ViewArgs};
use crate::output::console::{self, count, exact, quoted, short};
use crate::output::files::Files;
use crate::output::progress::Watcher;
use evermargin::active::{Gate, POOL, closeness_of, take_nearest};
use evermargin::data::Matrix;
use evermargin::model::{Classifier, MulticlassScheme, Predictions};
use evermargin::solver::partition_matroid::GroupLimit;
use evermargin_io::write_atomic;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use serde_json::json;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Choose the rows that a person should label next
#[derive(Debug, clap::Args)]
#[command(after_help = examples(
    "",
    &["evermargin generate two-moons -o moons.csv", "echo 1 2 3 4 5 6 7 8 > few.txt", "evermargin fit moons.csv --labeled-rows few.txt -o few.evm"],
    [
        ("Choose the 5 unlabeled rows nearest to the boundary of a model", "evermargin ask moons.csv --labeled-rows few.txt --model few.evm -n 5"),
        ("Choose 20 rows at random, without a model", "evermargin ask moons.csv --labeled-rows few.txt --strategy random -n 20 -o rows.tsv"),
    ],
))]
pub struct AskArgs {
    /// Data in any format of `fit`; rows with a label are skipped; - is standard input
    pub data: PathBuf,
    /// Model whose most uncertain rows are chosen; not needed by the strategies submod and random
    #[arg(long, value_name = "MODEL")]
    pub model: Option<PathBuf>,
    /// Maximum number of rows to choose
    #[arg(short = 'n', long = "number", value_name = "N", default_value_t = 10, value_parser = crate::args::values::from_one)]
    pub number: u64,
    /// Strategy: margin, small-pool, gate, diverse, submod or random
    ///
    /// margin takes the rows nearest to the boundary; small-pool, for each choice, the nearest row of a new random pool, so that rows
    /// differ more; gate the first rows inside the margin, in the order of the file; diverse rows inside the margin that represent
    /// the others there; submod rows in dense regions where the labels disagree, unlike each other (needs no model; for
    /// comparison); random needs no model.
    #[arg(long, value_name = "NAME", default_value = "margin", value_parser = strategy)]
    pub strategy: Strategy,
    /// Number of random rows in a pool of small-pool; 0 = all [default: 59]
    ///
    /// auto:P,ETA is the number that contains one of the best fraction P with probability 1 − ETA; 59 is auto:0.05,0.05.
    #[arg(long, value_name = "N", hide_short_help = true, value_parser = crate::args::values::pool)]
    pub pool: Option<usize>,
    /// Write the rows to this file, tab separated; - is standard output [default: standard output; none with --json]
    #[arg(long, short, value_name = "OUT")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub groups: GroupArgs,
    #[command(flatten)]
    pub views: ViewArgs,
    #[command(flatten)]
    pub input: DataArgs,
    #[command(flatten)]
    pub hide: HideArgs,
}

/// Strategy for choosing rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    Margin,
    SmallPool,
    Gate,
    Diverse,
    Submod,
    Random,
}

impl Strategy {
    const ALL: [Self; 6] =
        [Self::Margin, Self::SmallPool, Self::Gate, Self::Diverse, Self::Submod, Self::Random];

    fn name(self) -> &'static str {
        match self {
            Self::Margin => "margin",
            Self::SmallPool => "small-pool",
            Self::Gate => "gate",
            Self::Diverse => "diverse",
            Self::Submod => "submod",
            Self::Random => "random",
        }
    }
}

impl std::fmt::Display for Strategy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

fn strategy(text: &str) -> Result<Strategy, String> {
    let names = Strategy::ALL.map(Strategy::name).join(", ");
    Strategy::ALL.into_iter().find(|s| s.name() == text).ok_or_else(|| format!("must be one of {names}"))
}

/// Predictions of a model for the candidates.
struct Scored {
    classifier: Classifier,
    predictions: Predictions,
    closeness: Vec<f64>,
}

/// Runs the command.
pub fn run(args: &AskArgs, common: &Common, started: Instant) -> Result<(), Failure> {
    let to_stdout = check(args, common)?;
    let classifier = args.model.as_deref().map(read_model).transpose()?;
    let hide = Some(&args.hide);
    let source = match &classifier {
        Some(c) => load_for(c, &args.data, &args.views, &args.input, hide)?,
        None => views::load(&args.data, &args.views, &args.input, hide, Vec::new())?,
    };
    if !source.absent.is_empty() {
        return Err(Failure::Usage(
            "ask needs every view that the model was trained on; name them with --view".into(),
        ));
    }
    console::note(common, &source.data.notes);
    let rows = source.data.x.rows();
    let labeled = match args.strategy {
        Strategy::Submod => Some(Labeled::of(&source.data.x, &source.data.labels)),
        _ => None,
    };
    let groups = args.groups.read(&args.data, &args.input, &source)?;
    let (numbers, x, groups) = candidates(args, common, source, groups)?;
    let about = |e| Failure::about(&args.data, e);
    let together = matches!(args.strategy, Strategy::Diverse | Strategy::Submod).then(|| x.clone());
    let watch = Watcher::start(common, None)?;
    let scored = classifier.map(|c| score(c, x)).transpose().map_err(about)?;
    let number = usize::try_from(args.number).unwrap_or(usize::MAX);
    let limit = groups.as_ref().map(Groups::limit).transpose()?;
    let chosen = match (&together, &labeled, &scored) {
        (Some(x), Some(labeled), o) => {
            let model = o.as_ref().map(|o| &o.classifier);
            ask_batch::submod(model, x, labeled, number, limit.as_ref(), &watch).map_err(about)?
        }
        (Some(x), None, Some(o)) => {
            ask_batch::diverse(&o.classifier, x, &o.closeness, number, limit.as_ref(), &watch)
                .map_err(about)?
        }
        _ => choose(args, common.seed, numbers.len(), scored.as_ref(), limit.as_ref()),
    };
    let seconds = watch.seconds();
    watch.finish();
    let shortfall = groups.as_ref().and_then(|groups| groups.shortfall(chosen.len(), number));
    console::note(common, shortfall.as_slice());

    let output = if to_stdout { Some(PathBuf::from("-")) } else { args.output.clone() };
    if let Some(output) = &output {
        write_atomic(output, table(&chosen, &numbers, scored.as_ref()).as_bytes())?;
    }
    let text = summary(args, &chosen, numbers.len(), seconds);
    if to_stdout {
        if !common.quiet {
            status!("{text}");
        }
        return Ok(());
    }
    let json = json!({
        "rows": rows, "candidates": numbers.len(), "asked": chosen.len(), "strategy": args.strategy.name(),
        "asked_rows": chosen.iter().map(|&i| numbers[i]).collect::<Vec<_>>(),
        "seconds": seconds, "total_seconds": started.elapsed().as_secs_f64(),
    });
    console::answer(common, &json, &text)
}

/// Refuses contradictory options before any file is read; returns whether rows go to standard output.
fn check(args: &AskArgs, common: &Common) -> Result<bool, Failure> {
    let to_stdout = args.output.as_deref().map_or(!common.json, |o| o == Path::new("-"));
    if to_stdout && common.json {
        return Err(Failure::Usage("-o - and --json both need standard output; write OUT to a file".into()));
    }
    let strategy = args.strategy.name();
    if args.pool.is_some() && args.strategy != Strategy::SmallPool {
        return Err(Failure::Usage(format!(
            "--pool: strategy {strategy} has no pool; only small-pool has one"
        )));
    }
    if args.model.is_none() && !matches!(args.strategy, Strategy::Random | Strategy::Submod) {
        let data = quoted(&args.data);
        return Err(Failure::Usage(format!(
            "strategy {strategy} needs --model MODEL: label a few rows (--strategy random chooses some), write their \
             numbers into a file and train on them: evermargin fit {data} --labeled-rows FILE -o MODEL"
        )));
    }
    let stdin = Path::new("-");
    if args.data == stdin && args.model.as_deref() == Some(stdin) {
        return Err(Failure::Usage(
            "MODEL and DATA cannot both be standard input; use a file for one of them".into(),
        ));
    }
    Files::default()
        .reads(&args.data)
        .reads(args.model.as_ref())
        .reads_all(&args.views.view)
        .reads_data(&args.input, Some(&args.hide))
        .writes_or_prints("--output", args.output.as_ref())
        .check()?;
    Ok(to_stdout)
}

/// Numbers in the file of the rows without a label, their samples and their groups.
type Candidates = (Vec<usize>, Matrix, Option<Groups>);

/// The rows without a label.
fn candidates(
    args: &AskArgs,
    common: &Common,
    source: Input,
    groups: Option<Groups>,
) -> Result<Candidates, Failure> {
    let (numbers, data) = (source.numbers(), source.data);
    let open: Vec<usize> = (0..data.labels.of.len()).filter(|&i| data.labels.of[i].is_none()).collect();
    let known = data.labels.of.len() - open.len();
    if open.is_empty() {
        return Err(Failure::Failed(format!(
            "{}: every row has a label, so there is nothing to ask; a row without one has ? or an empty label \
             cell (--labeled-rows hides labels)",
            args.data.display()
        )));
    }
    if known == 0 {
        return Ok((numbers, data.x, groups));
    }
    let verb = if known == 1 { "has a label and is" } else { "have a label and are" };
    console::note(common, &[format!("{} {verb} skipped", count(known, "row"))]);
    let groups = groups.map(|groups| groups.select(&open));
    Ok((open.iter().map(|&i| numbers[i]).collect(), data.x.view().select(&open), groups))
}

fn score(classifier: Classifier, x: Matrix) -> evermargin::error::Result<Scored> {
    let predictions = classifier.predict(x)?;
    let closeness = closeness_of(classifier.scheme, classifier.classes.len(), &predictions);
    Ok(Scored { classifier, predictions, closeness })
}

/// Indices of the chosen rows among the candidates, in the order of the queries.
fn choose(
    args: &AskArgs,
    seed: u64,
    candidates: usize,
    scored: Option<&Scored>,
    limit: Option<&GroupLimit<'_>>,
) -> Vec<usize> {
    let number = usize::try_from(args.number).unwrap_or(usize::MAX).min(candidates);
    let mut counter = limit.map(GroupLimit::counter);
    let mut room = |row: usize| counter.as_mut().is_none_or(|counter| counter.take(row));
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut left: Vec<usize> = (0..candidates).collect();
    match scored.map(|o| &o.closeness) {
        Some(near) if args.strategy == Strategy::Margin => {
            left.sort_by(|&a, &b| near[a].total_cmp(&near[b]).then(a.cmp(&b)));
        }
        Some(near) if args.strategy == Strategy::SmallPool => {
            let pool = args.pool.unwrap_or(POOL);
            return std::iter::from_fn(|| take_nearest(&mut left, pool, near, &mut rng))
                .filter(|&row| room(row))
                .take(number)
                .collect();
        }
        Some(near) if args.strategy == Strategy::Gate => {
            let mut gate = Gate::new(args.number);
            left.retain(|&i| near[i] <= gate.width && room(i) && gate.ask(&[near[i]]));
            return left;
        }
        _ => left.shuffle(&mut rng),
    }
    left.into_iter().filter(|&row| room(row)).take(number).collect()
}

/// The rows as text, one line per row.
fn table(chosen: &[usize], numbers: &[usize], scored: Option<&Scored>) -> String {
    let mut out = String::from("row");
    if let Some(Scored { classifier: c, .. }) = scored {
        if c.scheme == MulticlassScheme::Binary {
            out.push_str("\tdecision");
        } else {
            for name in c.scheme.output_names(&c.classes) {
                let _ = write!(out, "\t{}", cell(&format!("decision:{name}"), '\t'));
            }
        }
        out.push_str("\tcloseness\tlabel");
    }
    out.push('\n');
    for &i in chosen {
        let _ = write!(out, "{}", numbers[i]);
        if let Some(Scored { classifier: c, predictions: p, closeness }) = scored {
            let outputs = c.model.outputs();
            for f in &p.decision[i * outputs..(i + 1) * outputs] {
                let _ = write!(out, "\t{}", exact(*f));
            }
            let label = cell(&c.classes[p.class[i] as usize], '\t');
            let _ = write!(out, "\t{}\t{label}", exact(closeness[i]));
        }
        out.push('\n');
    }
    out
}

fn summary(args: &AskArgs, chosen: &[usize], candidates: usize, seconds: f64) -> String {
    let mut text = format!(
        "{} of {} without a label by {} in {} s",
        chosen.len(),
        count(candidates, "row"),
        args.strategy.name(),
        short(seconds)
    );
    if args.strategy == Strategy::Gate && (chosen.len() as u64) < args.number {
        text.push_str("; no more lie within the margin");
    }
    if let Some(path) = args.output.as_deref().filter(|p| *p != Path::new("-")) {
        let _ = write!(text, "\nrows: {}", path.display());
    }
    text
}
