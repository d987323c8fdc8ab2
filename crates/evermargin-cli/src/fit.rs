//! `evermargin fit`: train a classifier and write it to a model file.

use crate::args::{Common, DataArgs, HideArgs, LearnArgs};
use crate::console::{self, count, quoted, short};
use crate::failure::Failure;
use crate::input;
use crate::progress::Watcher;
use evermargin::Model;
use evermargin::balance::{flip_labels, thin};
use evermargin::learn::train::{Gamma, TrainOptions, Trained, train};
use evermargin::metrics::Criterion;
use evermargin::model::{CalibrationKind, Classifier, Scheme};
use evermargin::solve::{Exit, Report};
use evermargin_io::{Dataset, LabelAt, ReadOptions, model_file, write_atomic};
use rand::SeedableRng;
use rand_pcg::Pcg64;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Train a classifier and write it to a model file
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  evermargin fit train.csv --label species -o species.evm --kernel rbf --c 10"
)]
pub struct FitArgs {
    /// Data with labels: LIBSVM text, CSV, TSV, .npy, .npz or IDX, compressed or not; - is standard input
    pub data: PathBuf,
    /// Model file to write; - is standard output [default: the name of DATA with .evm, here]
    #[arg(long, short, value_name = "MODEL")]
    pub output: Option<PathBuf>,
    /// Cost of a margin violation [default: 1]
    #[arg(long, value_name = "X", value_parser = crate::spec::number, help_heading = "Learning", allow_negative_numbers = true)]
    pub c: Option<f64>,
    /// Width of the kernel: a number, scale = 1/(d·Var X) or auto = 1/d [default: scale]
    #[arg(long, value_name = "X", value_parser = crate::spec::gamma, help_heading = "Learning", allow_negative_numbers = true)]
    pub gamma: Option<Gamma>,
    /// Fit probabilities, from decisions of held-out rows: sigmoid or isotonic
    #[arg(long, value_name = "KIND", value_parser = probability, help_heading = "Learning")]
    pub probability: Option<CalibrationKind>,
    /// Move the boundary between two classes to where held-out rows score best: g-means, f1, accuracy, mcc,
    /// break-even (as many positives as there are) or rate=SHARE (this share positive) [default: where it is]
    #[arg(long, value_name = "GOAL", value_parser = crate::spec::threshold, help_heading = "Learning")]
    pub threshold: Option<Criterion>,
    #[command(flatten)]
    pub learn: LearnArgs,
    #[command(flatten)]
    pub input: DataArgs,
    #[command(flatten)]
    pub hide: HideArgs,
    /// For experiments: give this share of the training rows a wrong label
    #[arg(long, value_name = "SHARE", value_parser = crate::spec::number, hide_short_help = true, help_heading = "Damage")]
    pub flip: Option<f64>,
    /// For experiments: delete rows of the smallest class until the largest has this many for one
    #[arg(long, value_name = "RATIO", value_parser = crate::spec::number, hide_short_help = true, help_heading = "Damage")]
    pub thin: Option<f64>,
}

fn probability(text: &str) -> Result<CalibrationKind, String> {
    match text {
        "sigmoid" => Ok(CalibrationKind::Sigmoid),
        "isotonic" => Ok(CalibrationKind::Isotonic),
        _ => Err("must be sigmoid or isotonic".into()),
    }
}

/// Runs the verb.
pub fn run(args: &FitArgs, common: &Common, started: Instant) -> Result<(), Failure> {
    let (learner, mut options) = args.learn.options(common)?;
    if let Some(c) = args.c {
        options.params.insert("c".into(), c.into());
    }
    if args.gamma.is_some() {
        options.gamma = args.gamma;
    }
    if let Some(c) = args.c.filter(|c| learner.takes("c") && !(*c > 0.0 && *c <= 1e15)) {
        return Err(evermargin::Error::parameter("c", c, "a number above 0, at most 1e15").into());
    }
    if let (Some(Gamma::Value(gamma)), true) = (args.gamma, learner.takes("gamma"))
        && gamma <= 0.0
    {
        return Err(evermargin::Error::parameter("gamma", gamma, "a positive number").into());
    }
    options.calibration = args.probability;
    options.threshold = args.threshold;
    learner.make(&options.params).map_err(Failure::usage)?;
    let output = args.output.clone().unwrap_or_else(|| default_model(&args.data));
    let piped = output == Path::new("-");
    if piped && common.json {
        return Err(Failure::Usage(
            "-o - and --json both want standard output; give the model a file".into(),
        ));
    }

    check_output(&args.data, &output)?;
    let source = input::load(&args.data, &args.input, Some(&args.hide), ReadOptions::default())?;
    options.weights = source.weights(args.learn.weights.as_deref())?;
    let mut data = source.data;
    let precomputed = options.kernel(learner).as_deref() == Some("precomputed");
    let serial = precomputed && input::drop_serial(&mut data)?;
    damage(args, common.seed, precomputed, &mut data, &mut options.weights)?;
    console::note(common, &data.notes);
    let (rows, features) = (data.x.rows(), data.x.cols());
    let watch = Watcher::start(common, args.learn.max_seconds)?;
    let learning = Instant::now();
    let trained = train(data.x, &data.labels, &options, &watch).map_err(|e| Failure::about(&args.data, e))?;
    let seconds = learning.elapsed().as_secs_f64();
    watch.finish();
    console::note(common, &trained.notes);
    let Trained { mut classifier, reports, counts, .. } = trained;
    classifier.columns = data.columns;
    remember_input(&mut classifier, &args.input, data.index_base, data.label.as_ref(), serial);
    let bytes = model_file::to_bytes(&classifier)?;
    write_atomic(&output, &bytes)?;
    let size = bytes.len() as u64;

    let summary =
        Summary { args, options: &options, classifier: &classifier, reports: &reports, counts: &counts };
    let json = summary.json(rows, features, &output, size, seconds, started);
    let text = summary.text(rows, features, &output, size, seconds);
    if piped {
        if !common.quiet {
            eprintln!("{text}");
        }
        return Ok(());
    }
    console::answer(common, &json, &text)
}

/// Thins the smallest class, then flips labels, as asked for. A deleted row of a kernel matrix, whose rows are its
/// columns, only loses its label.
fn damage(
    args: &FitArgs,
    seed: u64,
    precomputed: bool,
    data: &mut Dataset,
    weights: &mut Option<Vec<f64>>,
) -> Result<(), Failure> {
    let mut rng = Pcg64::seed_from_u64(seed);
    let counts = data.labels.counts();
    let present = (0..counts.len()).rev().filter(|&c| counts[c] > 0);
    if let (Some(ratio), Some(smallest)) = (args.thin, present.min_by_key(|&c| counts[c])) {
        let kept = thin(&data.labels, smallest as u32, ratio, &mut rng)?;
        data.notes.push(format!(
            "{} of class {} deleted",
            count(data.x.rows() - kept.len(), "row"),
            data.labels.classes[smallest]
        ));
        if precomputed {
            let mut of = vec![None; data.labels.of.len()];
            kept.iter().for_each(|&i| of[i] = data.labels.of[i]);
            data.labels.of = of;
        } else {
            data.x = data.x.view().select(&kept);
            data.labels.of = kept.iter().map(|&i| data.labels.of[i]).collect();
            *weights = weights.take().map(|w| kept.iter().map(|&i| w[i]).collect());
        }
    }
    if let Some(share) = args.flip {
        let flipped = flip_labels(&mut data.labels, share, &mut rng)?;
        data.notes.push(format!("{} made wrong", count(flipped.len(), "label")));
    }
    Ok(())
}

/// Keeps the facts about the data that prediction needs.
pub fn remember_input(
    classifier: &mut Classifier,
    input: &DataArgs,
    index_base: Option<u8>,
    label: Option<&LabelAt>,
    serial: bool,
) {
    if let Value::Object(params) = &mut classifier.params {
        if input.positive.is_some() {
            params.insert("positive".into(), classifier.classes[1].clone().into());
        }
        if let Some(base) = index_base {
            params.insert("index_base".into(), base.into());
        }
        if let Some(label) = label {
            params.insert("label".into(), json!(label));
        }
        if serial {
            params.insert("serial_column".into(), true.into());
        }
    }
}

/// `data/a9a.xz` becomes `a9a.evm`, in the folder one is in.
pub fn default_model(data: &Path) -> PathBuf {
    let name = data.file_name().map(|n| n.to_string_lossy().to_string()).unwrap_or_default();
    let name = [".gz", ".xz", ".zst"].iter().find_map(|s| name.strip_suffix(s)).unwrap_or(&name);
    let known = [".csv", ".tsv", ".txt", ".data", ".svm", ".libsvm", ".svmlight", ".npy", ".npz"];
    let stem = known.iter().find_map(|s| name.strip_suffix(s)).unwrap_or(name);
    if stem.is_empty() || stem == "-" { "model.evm".into() } else { format!("{stem}.evm").into() }
}

/// Refuses an output that cannot be written, before any work is done.
pub fn check_output(input: &Path, output: &Path) -> Result<(), Failure> {
    not_the_same(input, output)?;
    let folder = output.parent().filter(|p| !p.as_os_str().is_empty());
    match folder {
        _ if output.is_dir() => {
            Err(Failure::Failed(format!("{}: is a folder; name a file in it", output.display())))
        }
        Some(folder) if !folder.is_dir() => Err(Failure::Failed(format!(
            "{}: there is no folder {}; make it first",
            output.display(),
            folder.display()
        ))),
        _ => Ok(()),
    }
}

/// Refuses to write over the input.
fn not_the_same(data: &Path, output: &Path) -> Result<(), Failure> {
    match (data.canonicalize(), output.canonicalize()) {
        (Ok(a), Ok(b)) if a == b => Err(Failure::Usage(format!(
            "{}: that is the input itself; give the output another name",
            output.display()
        ))),
        _ => Ok(()),
    }
}

/// What `fit` tells about a training.
struct Summary<'a> {
    args: &'a FitArgs,
    options: &'a TrainOptions,
    classifier: &'a Classifier,
    reports: &'a [Report],
    counts: &'a [usize],
}

impl Summary<'_> {
    fn json(
        &self,
        rows: usize,
        features: usize,
        output: &Path,
        size: u64,
        seconds: f64,
        started: Instant,
    ) -> Value {
        let c = self.classifier;
        let total = total(self.reports);
        json!({
            "learner": c.learner,
            "kernel": kernel(c),
            "rows": rows,
            "features": features,
            "labeled": self.counts.iter().sum::<usize>(),
            "classes": c.classes.len(),
            "class_names": c.classes,
            "class_counts": self.counts,
            "scheme": c.scheme,
            "scaling": c.scaling.name(),
            "gamma": c.params.get("gamma"),
            "c": c.params.get("c"),
            "support_count": c.model.support_count(),
            "kernel_evaluations": total.kernel_evaluations,
            "objective": total.objective,
            "gap": total.gap,
            "steps": total.steps,
            "exit": total.exit,
            "threshold": c.params.get("threshold_value"),
            "probability": !c.calibration.is_empty(),
            "model": output.display().to_string(),
            "model_bytes": size,
            "threads": rayon::current_num_threads(),
            "seconds": seconds,
            "total_seconds": started.elapsed().as_secs_f64(),
        })
    }

    fn text(&self, rows: usize, features: usize, output: &Path, size: u64, seconds: f64) -> String {
        let c = self.classifier;
        let total = total(self.reports);
        let classes: Vec<String> =
            c.classes.iter().zip(self.counts).map(|(c, n)| format!("{c} {n}")).collect();
        let shown = if classes.len() > 12 {
            format!("{}, …", classes[..12].join(", "))
        } else {
            classes.join(", ")
        };
        let ended = match total.exit {
            Exit::Converged => "converged",
            Exit::Limit => "step limit reached, not converged,",
            Exit::Interrupted => "interrupted, not converged,",
            Exit::Stalled => "stalled at the limits of floating point",
        };
        let support = match &c.model {
            Model::Expansion { .. } => count(c.model.support_count(), "support vector"),
            Model::Linear { .. } => count(c.model.support_count(), "weight"),
        };
        let from = self.args.data.display();
        format!(
            "{from}: {}, {}, {} ({shown})\n{}\n{ended} after {} in {} s: {support}, objective {}, gap {}\nmodel: {} ({})\n\
             next: evermargin predict {} NEW_DATA\n      evermargin tune {}    looks for better parameters",
            count(rows, "row"),
            count(features, "feature"),
            count(c.classes.len(), "class"),
            self.choices(),
            count(total.steps as usize, "step"),
            short(seconds),
            short(total.objective),
            short(total.gap),
            output.display(),
            console::bytes(size),
            quoted(output),
            quoted(&self.args.data),
        )
    }

    fn choices(&self) -> String {
        let c = self.classifier;
        let mut words = vec![c.learner.clone(), format!("{} kernel", kernel(c))];
        if let Some(gamma) = c.params.get("gamma").and_then(Value::as_f64) {
            let how = match self.options.gamma {
                Some(Gamma::Value(_)) => "",
                Some(Gamma::Auto) => " (auto)",
                _ => " (scale)",
            };
            words.push(format!("gamma {}{how}", short(gamma)));
        }
        if let Some(cost) = c.params.get("c").and_then(Value::as_f64) {
            words.push(format!("C {}", short(cost)));
        }
        if c.scheme != Scheme::Binary {
            words.push(if c.scheme == Scheme::OneVsOne { "one-vs-one" } else { "one-vs-rest" }.into());
        }
        words.push(format!("scaling {}", c.scaling.name()));
        if let Some(threshold) = c.params.get("threshold_value").and_then(Value::as_f64) {
            words.push(format!("threshold {}", short(threshold)));
        }
        if !c.calibration.is_empty() {
            words.push("probabilities".into());
        }
        words.join(", ")
    }
}

/// The name of the kernel of a model.
pub fn kernel(c: &Classifier) -> String {
    match &c.model {
        Model::Expansion { kernel, .. } => kernel.name().into(),
        Model::Linear { .. } => c.params.get("kernel").and_then(Value::as_str).unwrap_or("linear").into(),
    }
}

/// The reports of all problems as one: sums, the largest gap, the worst exit.
pub fn total(reports: &[Report]) -> Report {
    let rank = |e: Exit| match e {
        Exit::Converged => 0,
        Exit::Stalled => 1,
        Exit::Limit => 2,
        Exit::Interrupted => 3,
    };
    let mut out = Report { steps: 0, objective: 0.0, gap: 0.0, kernel_evaluations: 0, exit: Exit::Converged };
    for r in reports {
        out.steps += r.steps;
        out.objective += r.objective;
        out.gap = out.gap.max(r.gap);
        out.kernel_evaluations += r.kernel_evaluations;
        if rank(r.exit) > rank(out.exit) {
            out.exit = r.exit;
        }
    }
    out
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
