//! `evermargin fit`: train a classifier and write it to a model file.

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
#[command(
    after_help = "Example:\n  evermargin fit train.csv --label species -o species.evm --kernel rbf --c 10\n\n\
    With 200 labels, chosen by the learner:\n  \
    evermargin fit train.csv --learner lasvm --select active --labels-budget 200 --curve curve.tsv\n\n\
    A little more every day:\n  \
    evermargin fit monday.csv --learner lasvm --state s.evs -o m.evm\n  \
    evermargin fit tuesday.csv --resume s.evs --state s.evs -o m.evm\n\n\
    Labels that may be wrong:\n  evermargin fit train.csv --learner lasvm-nc --suspects suspects.tsv"
)]
pub struct FitArgs {
    /// Data with labels: LIBSVM text, CSV, TSV, .npy, .npz or IDX, compressed or not; - is standard input
    pub data: PathBuf,
    /// Model file to write; - is standard output [default: the name of DATA with .evm, here]
    #[arg(long, short, value_name = "MODEL")]
    pub output: Option<PathBuf>,
    /// Cost of a margin violation [default: 1]
    #[arg(long, value_name = "X", value_parser = crate::args::values::number, help_heading = "Learning")]
    pub c: Option<f64>,
    /// Width of the kernel: a number, scale = 1/(d·Var X) or auto = 1/d [default: scale]
    #[arg(long, value_name = "X", value_parser = crate::args::values::gamma, help_heading = "Learning")]
    pub gamma: Option<Gamma>,
    /// Fit probabilities, from decisions of held-out rows: sigmoid or isotonic
    #[arg(long, value_name = "KIND", value_parser = crate::args::values::word::<CalibrationKind>, help_heading = "Learning")]
    pub probability: Option<CalibrationKind>,
    /// Move the boundary between two classes to where held-out rows score best: g-means, f1, accuracy, mcc,
    /// break-even (as many positives as there are) or rate=SHARE (this share positive) [default: where it is]
    #[arg(long, value_name = "GOAL", value_parser = crate::args::values::threshold, help_heading = "Learning")]
    pub threshold: Option<Criterion>,
    #[command(flatten)]
    pub learn: LearnArgs,
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
    /// For experiments: give this share of the training rows a wrong label
    #[arg(long, value_name = "SHARE", value_parser = crate::args::values::number, hide_short_help = true, help_heading = "Damage")]
    pub flip: Option<f64>,
    /// For experiments: delete rows of the smallest class until the largest has this many for one
    #[arg(long, value_name = "RATIO", value_parser = crate::args::values::number, hide_short_help = true, help_heading = "Damage")]
    pub thin: Option<f64>,
}

/// What is to be done.
enum Work {
    Begin(&'static EstimatorSpec, Box<TrainOptions>),
    PartialFitOptions(Box<OnlineCheckpoint>, PartialFitOptions<'static>),
}

/// Rows to learn from, and what is known about them.
struct Rows {
    data: Dataset,
    weights: Option<Vec<f64>>,
    /// All labels there are, where some were hidden.
    truth: Option<Labels>,
    /// The number in the file of each row, counted from 1.
    numbers: Vec<usize>,
}

/// Runs the verb.
pub fn run(args: &FitArgs, common: &Common, started: Instant) -> Result<(), Failure> {
    let mut work = match &args.online.resume {
        None => begin(args, common, DEFAULT_LEARNER)?,
        Some(path) => {
            if !args.views.view.is_empty() {
                return Err(Failure::Usage(
                    "--view and --resume do not go together: no state has views".into(),
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
            "-o - and --json both want standard output; give the model a file".into(),
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
    let suspects = write_beside(args, &trained, &rows, kept)?;
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

/// Without `--learner`, up to this many labels beside unlabeled rows are few: `auto` uses both.
const FEW_LABELS: usize = 1000;

/// Changes the learner to `auto` where none is named, few rows have a label and the options given suit it.
fn use_unlabeled_rows(args: &FitArgs, common: &Common, rows: &Rows, work: &mut Work) {
    let (labeled, all) = (rows.data.labels.labeled(), rows.data.x.rows());
    let online = &args.online;
    let named = args.learn.learner.is_some() || online.resume.is_some() || online.state.is_some();
    if named || labeled == 0 || labeled == all || labeled > FEW_LABELS || !args.views.view.is_empty() {
        return;
    }
    if let Ok(auto) = begin(args, common, label::DEFAULT_LEARNER) {
        let note = format!(
            "{} have no label: learner auto uses them; --learner svc uses the labels alone",
            count(all - labeled, "row")
        );
        console::note(common, &[note]);
        *work = auto;
    }
}

/// The learner and how to train it; what it does not take is refused before any file is read.
fn begin(args: &FitArgs, common: &Common, default: &str) -> Result<Work, Failure> {
    let (learner, mut options) =
        args.learn.options_for(args.learn.learner.as_deref().unwrap_or(default), common)?;
    args.online.apply(learner, &mut options)?;
    args.semi.apply(learner, &mut options)?;
    args.views.check(learner)?;
    if options.warp.is_some() && (args.online.state.is_some() || args.online.resume.is_some()) {
        return Err(Failure::Usage(
            "--warp and --state do not go together: the graph is of the rows at hand, and later rows would not be in it"
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

/// Reads the data, as a state knows it where there is one, and damages it where that was asked for.
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
    damage(args, common.seed, precomputed, &mut rows)?;
    Ok(rows)
}

/// Learns from the rows, which are used up; gives the state too where it is wanted.
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
                let kept = "what was learned is in the model alone; --state FILE keeps it to go on from";
                trained.notes.push(kept.into());
            }
            Ok((trained, Some(next)))
        }
    }
}

/// Writes the curve and the suspects where asked for; says how many suspects there are.
fn write_beside(
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

/// Writes the state where asked for; gives its bytes.
fn write_state(args: &FitArgs, state: Option<&OnlineCheckpoint>) -> Result<Option<u64>, Failure> {
    let (Some(path), Some(state)) = (&args.online.state, state) else { return Ok(None) };
    let bytes = state::to_bytes(state)?;
    write_atomic(path, &bytes)?;
    Ok(Some(bytes.len() as u64))
}

/// Thins the smallest class, then flips labels, as asked for. A deleted row of a kernel matrix, whose rows are its
/// columns, only loses its label.
fn damage(args: &FitArgs, seed: u64, precomputed: bool, rows: &mut Rows) -> Result<(), Failure> {
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
        data.notes.push(format!("{} made wrong", count(flipped.len(), "label")).into());
    }
    Ok(())
}

/// `data/a9a.xz` becomes `a9a.evm`, in the folder one is in.
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
