//! `evermargin fit`: train a classifier and write it to a model file.

use crate::args::help::examples;
use crate::args::online::OnlineArgs;
use crate::args::semi::SemiArgs;
use crate::args::{Common, DEFAULT_LEARNER, DataArgs, HideArgs, LearnArgs, set_gamma, set_once};
use crate::commands::{curve, label, predict, resume, suspects};
use crate::failure::Failure;
use crate::input;
use crate::input::Input;
use crate::input::views;
use crate::input::views::ViewArgs;
use crate::output::console::{self, count};
use crate::output::files::Files;
use crate::output::fit_summary::{Summary, Written};
use crate::output::progress::Watcher;
use evermargin::Labels;
use evermargin::data::Matrix;
use evermargin::estimators::EstimatorSpec;
use evermargin::metrics::Criterion;
use evermargin::model::CalibrationKind;
use evermargin::pipeline::partial_fit::{OnlineCheckpoint, PartialFitOptions, partial_fit};
use evermargin::pipeline::train::{Gamma, TrainOptions, Trained, train};
use evermargin::resampling::{flip_labels, thin};
use evermargin_io::artifacts::{model, state};
use evermargin_io::{Dataset, LoadOptions, ReadOptions, write_atomic};
use rand::SeedableRng;
use rand_pcg::Pcg64;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Train a classifier and write it to a model file
#[derive(Debug, clap::Args)]
#[command(after_help = examples(
    "",
    &["evermargin generate two-moons -o moons.csv"],
    [
        ("Train with the defaults; the model is moons.evm", "evermargin fit moons.csv"),
        ("Let the learner choose the 50 rows whose labels it uses", "evermargin fit moons.csv --learner lasvm --select active --labels-budget 50 -o active.evm"),
    ],
))]
pub struct FitArgs {
    /// Data with labels: LIBSVM text, CSV, TSV, JSON lines, .npy, .npz or IDX; - is standard input
    pub data: PathBuf,
    /// Write the model to this file; - is standard output [default: name of DATA with .evm, in the working directory]
    #[arg(long, short, value_name = "MODEL")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub learn: LearnArgs,
    /// Cost of a margin violation [default: 1]
    #[arg(long, value_name = "X", value_parser = crate::args::values::number, help_heading = "Learning")]
    pub c: Option<f64>,
    /// Kernel width: a number, scale = 1/(d·Var X) or auto = 1/d [default: scale]
    #[arg(long, value_name = "X", value_parser = crate::args::values::gamma, help_heading = "Learning")]
    pub gamma: Option<Gamma>,
    /// Calibrate probabilities on held-out rows: sigmoid or isotonic [default: none]
    #[arg(long, value_name = "KIND", value_parser = crate::args::values::word::<CalibrationKind>, help_heading = "Learning")]
    pub probability: Option<CalibrationKind>,
    /// Choose the threshold between two classes by a score on held-out rows, such as f1 or g-means [default: 0]
    ///
    /// The scores are g-means, f1, accuracy, mcc, break-even (as many predicted positives as there are positives) or rate=SHARE (this share of
    /// the rows is predicted positive).
    #[arg(long, value_name = "SCORE", value_parser = crate::args::values::threshold, help_heading = "Learning")]
    pub threshold: Option<Criterion>,
    #[command(flatten)]
    pub online: OnlineArgs,
    #[command(flatten)]
    pub semi: SemiArgs,
    #[command(flatten)]
    pub views: ViewArgs,
    #[command(flatten)]
    pub input: DataArgs,
    #[command(flatten)]
    pub hide: HideArgs,
    /// Give this share of the training rows a wrong label
    #[arg(long, value_name = "SHARE", value_parser = crate::args::values::number, hide_short_help = true, help_heading = "Experiments")]
    pub flip: Option<f64>,
    /// Delete rows of the smallest class until the largest class is this many times as large
    #[arg(long, value_name = "RATIO", value_parser = crate::args::values::number, hide_short_help = true, help_heading = "Experiments")]
    pub thin: Option<f64>,
}

/// Training from the beginning or from a state.
enum Work {
    Begin(&'static EstimatorSpec, Box<TrainOptions>),
    PartialFitOptions(Box<OnlineCheckpoint>, PartialFitOptions<'static>),
}

/// Training rows with their labels, weights and numbers.
struct Rows {
    data: Dataset,
    weights: Option<Vec<f64>>,
    /// All labels of the file, if some were hidden.
    truth: Option<Labels>,
    /// The number in the file of each row, counted from 1.
    numbers: Vec<usize>,
}

/// Runs the command.
pub fn run(args: &FitArgs, common: &Common, started: Instant) -> Result<(), Failure> {
    let mut work = match &args.online.resume {
        None => new_training(args, common, DEFAULT_LEARNER)?,
        Some(path) => {
            if !args.views.view.is_empty() {
                return Err(Failure::Usage(
                    "--view and --resume cannot be combined: no state has views".into(),
                ));
            }
            let options = LoadOptions { allow_other_cpu: args.online.force, ..LoadOptions::default() };
            let state = state::load_with(path, &options)?;
            let how = resume::agree(args, common, &state)?;
            Work::PartialFitOptions(Box::new(state), how)
        }
    };
    let output = args.output.clone().unwrap_or_else(|| default_model(&args.data));
    let piped = output == Path::new("-");
    if piped && common.json {
        return Err(Failure::Usage(
            "-o - and --json both need standard output; write the model to a file".into(),
        ));
    }
    Files::default()
        .reads(&args.data)
        .reads_all(&args.views.view)
        .reads_data(&args.input, Some(&args.hide))
        .reads(args.learn.weights.as_ref())
        .reads(args.semi.unlabeled.graph.as_ref())
        .reads(args.online.test.as_ref())
        .reads_then_replaces(args.online.resume.as_ref(), "--state")
        .writes_or_prints("--output", &output)
        .writes("--state", args.online.state.as_ref())
        .writes("--curve", args.online.curve.as_ref())
        .writes("--suspects", args.online.suspects.as_ref())
        .check()?;
    let mut rows = read(args, common, &work)?;
    console::note(common, &rows.data.notes);
    use_unlabeled_rows(args, common, &rows, &mut work);
    let (count, features) = (rows.data.x.rows(), rows.data.x.cols());
    let kept = args.online.needs_rows().then(|| rows.data.x.clone());
    let watch = Watcher::start(common, args.learn.max_seconds)?;
    let (trained, state) = learn(args, &mut work, &mut rows, &watch)?;
    let seconds = watch.seconds();
    watch.finish();
    console::note(common, &trained.notes);

    let bytes = model::to_bytes(&trained.classifier)?;
    write_atomic(&output, &bytes)?;
    let suspects = write_curve_and_suspects(args, &trained, &rows, kept)?;
    let state_size = write_state(args, state.as_ref())?;
    let written = |path, size| Written { path, size };
    let summary = Summary {
        data: &args.data,
        gamma: match &work {
            Work::Begin(_, options) => options.gamma,
            Work::PartialFitOptions(state, _) => state.saved.params.kernel.gamma().map(Gamma::Value),
        },
        trained: &trained,
        truth: rows.truth.as_ref(),
        rows: count,
        features,
        model: written(&output, bytes.len() as u64),
        state: args.online.state.as_deref().zip(state_size).map(|(path, size)| written(path, size)),
        suspects,
        seconds,
    };
    if piped {
        if !common.quiet {
            status!("{}", summary.text());
        }
        return Ok(());
    }
    console::answer(common, &summary.json(started), &summary.text())
}

/// Without `--learner`, `auto` is used if some rows have no label and at most this many have one.
const FEW_LABELS: usize = 1000;

/// Changes the learner to `auto` if none is named, few rows have a label, and `auto` accepts the given options.
fn use_unlabeled_rows(args: &FitArgs, common: &Common, rows: &Rows, work: &mut Work) {
    let (labeled, all) = (rows.data.labels.labeled(), rows.data.x.rows());
    let online = &args.online;
    let named = args.learn.learner.is_some() || online.resume.is_some() || online.state.is_some();
    if named || labeled == 0 || labeled == all || labeled > FEW_LABELS || !args.views.view.is_empty() {
        return;
    }
    if let Ok(auto) = new_training(args, common, label::DEFAULT_LEARNER) {
        let note = format!(
            "{} have no label: learner auto uses them; --learner svc uses the labels alone",
            count(all - labeled, "row")
        );
        console::note(common, &[note]);
        *work = auto;
    }
}

/// The learner and its training options; options that it does not have are refused before any file is read.
fn new_training(args: &FitArgs, common: &Common, default: &str) -> Result<Work, Failure> {
    let (learner, mut options) =
        args.learn.options_for(args.learn.learner.as_deref().unwrap_or(default), common)?;
    args.online.apply(learner, &mut options)?;
    args.semi.apply(learner, &mut options)?;
    args.views.check(learner)?;
    if options.warp.is_some() && (args.online.state.is_some() || args.online.resume.is_some()) {
        return Err(Failure::Usage(
            "--warp and --state cannot be combined: later rows would not be in the graph of the kernel"
                .into(),
        ));
    }
    if let Some(c) = args.c {
        set_once(&mut options, "--c", "c", c)?;
    }
    set_gamma(&mut options, args.gamma)?;
    options.calibration = args.probability;
    options.threshold = args.threshold;
    learner.make(&options.params).map_err(Failure::usage)?;
    Ok(Work::Begin(learner, Box::new(options)))
}

/// Reads the data, in the columns and classes of the state if there is one, and applies `--thin` and `--flip`.
fn read(args: &FitArgs, common: &Common, work: &Work) -> Result<Rows, Failure> {
    let (known, precomputed) = match work {
        Work::Begin(learner, options) => {
            (ReadOptions::default(), options.kernel(learner).as_deref() == Some("precomputed"))
        }
        Work::PartialFitOptions(s, _) => {
            (ReadOptions::like(&s.head.input, &s.head.learner.classes, s.features()), false)
        }
    };
    let source = views::load(&args.data, &args.views, &args.input, Some(&args.hide), vec![known])?;
    let weights = source.weights(args.learn.weights.as_deref())?;
    let numbers = source.numbers();
    let Input { data, truth, .. } = source;
    let mut rows = Rows { data, weights, truth, numbers };
    if precomputed {
        input::drop_serial(&mut rows.data)?;
    }
    if let Work::PartialFitOptions(state, _) = work
        && let Some(class) = &state.head.input.positive
    {
        rows.data.labels = input::one_against_rest(&rows.data.labels, class);
    }
    thin_and_flip(args, common.seed, precomputed, &mut rows)?;
    Ok(rows)
}

/// Trains on the rows, which it takes. Returns the state as well if the learner has one and it is to be saved.
fn learn(
    args: &FitArgs,
    work: &mut Work,
    rows: &mut Rows,
    watch: &Watcher,
) -> Result<(Trained, Option<OnlineCheckpoint>), Failure> {
    let about = |e| Failure::about(&args.data, e);
    let x = std::mem::replace(&mut rows.data.x, Matrix::empty(0, false));
    match work {
        Work::Begin(_, options) => {
            options.weights = rows.weights.take();
            args.semi.unlabeled.read_graph(x.rows(), options)?;
            views::number_views(options, &rows.data, &args.data)?;
            let mut trained = train(x, &rows.data.labels, options, watch).map_err(about)?;
            trained.classifier.set_input(rows.data.input_spec());
            let online = trained.online.as_ref().filter(|_| args.online.state.is_some());
            let state = online.map(|o| OnlineCheckpoint::new(&trained.classifier, o, &trained.counts));
            Ok((trained, state))
        }
        Work::PartialFitOptions(state, how) => {
            let how = PartialFitOptions { weights: rows.weights.as_deref(), ..*how };
            let (mut trained, next) = partial_fit(state, x, &rows.data.labels, how, watch).map_err(about)?;
            if args.online.state.is_none() {
                let kept =
                    "no state was written, so training cannot be resumed from here; --state FILE writes one";
                trained.notes.push(kept.into());
            }
            Ok((trained, Some(next)))
        }
    }
}

/// Writes the learning curve and the suspects if requested; returns the number of suspects.
fn write_curve_and_suspects(
    args: &FitArgs,
    trained: &Trained,
    rows: &Rows,
    kept: Option<Matrix>,
) -> Result<Option<usize>, Failure> {
    let (c, labels) = (&trained.classifier, &rows.data.labels);
    if let Some(path) = &args.online.curve {
        let points = trained.online.as_ref().map_or(&[][..], |o| &o.curve);
        let table = match (&args.online.test, &kept) {
            (Some(test), _) => {
                let test =
                    predict::load_for(c, test, &ViewArgs::default(), &args.input.for_another(), None)?.data;
                curve::table(c, points, &test.x, &test.labels)?
            }
            (None, Some(x)) => curve::table(c, points, x, labels)?,
            (None, None) => String::new(),
        };
        write_atomic(path, table.as_bytes())?;
    }
    let (Some(path), Some(x)) = (&args.online.suspects, kept) else { return Ok(None) };
    let (table, count) = suspects::table(c, x, labels, &rows.numbers)?;
    write_atomic(path, table.as_bytes())?;
    Ok(Some(count))
}

/// Writes the state if requested; returns its size in bytes.
fn write_state(args: &FitArgs, state: Option<&OnlineCheckpoint>) -> Result<Option<u64>, Failure> {
    let (Some(path), Some(state)) = (&args.online.state, state) else { return Ok(None) };
    let bytes = state::to_bytes(state)?;
    write_atomic(path, &bytes)?;
    Ok(Some(bytes.len() as u64))
}

/// Thins the smallest class, then flips labels, as requested. In a kernel matrix, whose rows are also its columns, a deleted
/// row stays and loses its label.
fn thin_and_flip(args: &FitArgs, seed: u64, precomputed: bool, rows: &mut Rows) -> Result<(), Failure> {
    let Rows { data, weights, truth, numbers, .. } = rows;
    let mut rng = Pcg64::seed_from_u64(seed);
    let counts = data.labels.counts();
    let present = (0..counts.len()).rev().filter(|&c| counts[c] > 0);
    if let (Some(ratio), Some(smallest)) = (args.thin, present.min_by_key(|&c| counts[c])) {
        let kept = thin(&data.labels, smallest as u32, ratio, &mut rng)?;
        data.notes.push(
            format!(
                "{} of class {} deleted",
                count(data.x.rows() - kept.len(), "row"),
                data.labels.classes[smallest]
            )
            .into(),
        );
        if precomputed {
            let mut of = vec![None; data.labels.of.len()];
            kept.iter().for_each(|&i| of[i] = data.labels.of[i]);
            data.labels.of = of;
        } else {
            data.x = data.x.view().select(&kept);
            for labels in truth.iter_mut().chain([&mut data.labels]) {
                labels.of = kept.iter().map(|&i| labels.of[i]).collect();
            }
            *weights = weights.take().map(|w| kept.iter().map(|&i| w[i]).collect());
            *numbers = kept.iter().map(|&i| numbers[i]).collect();
        }
    }
    if let Some(share) = args.flip {
        let flipped = flip_labels(&mut data.labels, share, &mut rng)?;
        data.notes.push(format!("{} flipped", count(flipped.len(), "label")).into());
    }
    Ok(())
}

/// Default model file for a data file: `data/a9a.xz` becomes `a9a.evm` in the working directory.
pub fn default_model(data: &Path) -> PathBuf {
    let name = data.file_name().map(|n| n.to_string_lossy().to_string()).unwrap_or_default();
    let name = [".gz", ".xz", ".zst"].iter().find_map(|s| name.strip_suffix(s)).unwrap_or(&name);
    let known = [".csv", ".tsv", ".txt", ".data", ".svm", ".libsvm", ".svmlight", ".npy", ".npz"];
    let stem = known.iter().find_map(|s| name.strip_suffix(s)).unwrap_or(name);
    if stem.is_empty() || stem == "-" { "model.evm".into() } else { format!("{stem}.evm").into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_named_after_its_data() {
        for (data, model) in [
            ("data/a9a.xz", "a9a.evm"),
            ("iris.csv", "iris.evm"),
            ("w8a.t", "w8a.t.evm"),
            ("-", "model.evm"),
            ("x/letter.scale.tr", "letter.scale.tr.evm"),
        ] {
            assert_eq!(default_model(Path::new(data)), Path::new(model));
        }
    }
}
