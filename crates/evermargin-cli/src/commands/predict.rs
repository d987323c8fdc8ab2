//! `evermargin predict`: classes, decision values and probabilities, and scores if the labels are known.

use crate::args::help::examples;
use crate::args::{Common, DataArgs, HideArgs};
use crate::commands::convert::read_model;
use crate::failure::Failure;
use crate::input::views::{self, ViewArgs};
use crate::input::{self, Input};
use crate::output::console::{self, exact, quoted, short};
use crate::output::files::Files;
use evermargin::Labels;
use evermargin::metrics::{self, Confusion};
use evermargin::model::{Classifier, MulticlassScheme, Predictions};
use evermargin_io::{ReadOptions, write_atomic};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Predict the labels of a file with a model, and score them if the file has labels
#[derive(Debug, clap::Args)]
#[command(after_help = examples(
    "",
    &["evermargin generate two-moons -o moons.csv", "evermargin fit moons.csv"],
    [
        ("Write a label and a decision value per row", "evermargin predict moons.evm moons.csv -o labels.tsv"),
        ("Also write the ROC curve", "evermargin predict moons.evm moons.csv -o labels.tsv --roc roc.tsv"),
    ],
))]
pub struct PredictArgs {
    /// Model file, or a LIBSVM model
    pub model: PathBuf,
    /// Data in any format of `fit`; - is standard input
    pub data: PathBuf,
    /// Write the predictions to this file; - is standard output [default: standard output; none with --json]
    #[arg(long, short, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Format of OUT: tsv, csv or labels [default: csv if OUT ends in .csv, else tsv]
    ///
    /// tsv and csv have a label, decision values and, if the model is calibrated, probabilities; labels is one label per line.
    #[arg(long = "as", value_name = "KIND", value_parser = shape)]
    pub shape: Option<Shape>,
    /// Write the ROC curve of two classes to this file, tab separated
    ///
    /// Columns: threshold, false_positive_rate, true_positive_rate, precision.
    #[arg(long, value_name = "FILE")]
    pub roc: Option<PathBuf>,
    /// Predict without these views of the model, by number from 1: 2 or 1,3 [default: use all views]
    ///
    /// The columns of these views are ignored, whatever their values.
    #[arg(long, value_name = "VIEWS", hide_short_help = true, value_delimiter = ',', value_parser = crate::args::values::whole::<usize>(1, u64::MAX))]
    pub without: Vec<usize>,
    #[command(flatten)]
    pub views: ViewArgs,
    #[command(flatten)]
    pub input: DataArgs,
}

/// Format of written predictions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Tsv,
    Csv,
    Labels,
}

pub fn shape(text: &str) -> Result<Shape, String> {
    match text {
        "tsv" => Ok(Shape::Tsv),
        "csv" => Ok(Shape::Csv),
        "labels" => Ok(Shape::Labels),
        _ => Err("must be tsv, csv or labels".into()),
    }
}

/// Runs the command.
pub fn run(args: &PredictArgs, common: &Common, started: Instant) -> Result<(), Failure> {
    let to_stdout = args.output.as_deref().map_or(!common.json, |o| o == Path::new("-"));
    if to_stdout && common.json {
        return Err(Failure::Usage("-o - and --json both need standard output; write OUT to a file".into()));
    }
    let input = Path::new("-");
    if args.model == input && args.data == input {
        return Err(Failure::Usage(
            "MODEL and DATA cannot both be standard input; use a file for one of them".into(),
        ));
    }
    Files::default()
        .reads(&args.data)
        .reads(&args.model)
        .reads_all(&args.views.view)
        .reads_data(&args.input, None)
        .writes_or_prints("--output", args.output.as_ref())
        .writes("--roc", args.roc.as_ref())
        .check()?;
    let classifier = read_model(&args.model).map_err(|failure| {
        if args.data != input && args.model.is_file() && read_model(&args.data).is_ok() {
            let (first, second) = (args.model.display(), args.data.display());
            return Failure::Usage(format!(
                "{first} looks like data and {second} is a model; name the model first: evermargin predict {} {}",
                quoted(&args.data),
                quoted(&args.model)
            ));
        }
        failure
    })?;
    let without = views::without(&classifier, &args.without)?;
    let Input { data, mut absent, .. } = load_for(&classifier, &args.data, &args.views, &args.input, None)?;
    absent.extend(without);
    console::note(common, &data.notes);
    let truth = truth(&classifier, &data.labels);
    let rows = data.x.rows();
    let working = Instant::now();
    let predictions =
        classifier.predict_without(data.x, &absent).map_err(|e| Failure::about(&args.data, e))?;
    let seconds = working.elapsed().as_secs_f64();

    if let Some(path) = &args.roc {
        write_atomic(path, roc(&classifier, &predictions, &truth)?.as_bytes())?;
    }
    let output = if to_stdout { Some(PathBuf::from("-")) } else { args.output.clone() };
    if let Some(output) = &output {
        let csv = output.extension().is_some_and(|e| e.eq_ignore_ascii_case("csv"));
        let shape = args.shape.unwrap_or(if csv { Shape::Csv } else { Shape::Tsv });
        write_atomic(output, table(&classifier, &predictions, shape).as_bytes())?;
    }
    let scores = scores(&classifier, &predictions, &truth);
    let text = summary(rows, seconds, &scores, output.as_deref());
    if to_stdout {
        if !common.quiet {
            status!("{text}");
        }
        return Ok(());
    }
    let mut json = json!({ "rows": rows, "labeled": truth.iter().flatten().count() });
    if let (Value::Object(json), Value::Object(scores)) = (&mut json, scores) {
        json.extend(scores);
        json.insert("seconds".into(), seconds.into());
        json.insert("total_seconds".into(), started.elapsed().as_secs_f64().into());
    }
    console::answer(common, &json, &text)
}

/// Reads data with the columns, the label and the classes of the model.
pub fn load_for(
    classifier: &Classifier,
    path: &Path,
    views: &ViewArgs,
    args: &DataArgs,
    hide: Option<&HideArgs>,
) -> Result<Input, Failure> {
    if let Some(known) = views::known(classifier, views)? {
        return views::load_some(path, views, args, hide, known);
    }
    let serial = classifier.input.serial_column;
    let known = ReadOptions::like(&classifier.input, &classifier.classes, classifier.features());
    let options = if serial { ReadOptions { cols: None, index_base: Some(0), ..known } } else { known };
    let mut input = input::load(path, args, hide, options)?;
    if serial && input.data.index_base.is_some() {
        input.data.x = input::without_first(&input.data.x)?.with_cols(classifier.features());
    }
    Ok(input)
}

/// The class of each row in the numbering of the model. A class that the model does not have is `Some(u32::MAX)`, which
/// makes every prediction wrong.
pub fn truth(c: &Classifier, labels: &Labels) -> Vec<Option<u32>> {
    let labels = match &c.input.positive {
        Some(class) => &input::one_against_rest(labels, class),
        None => labels,
    };
    let number = |text: &str| text.parse::<f64>().ok();
    let same = |a: &str, b: &str| a == b || number(a).is_some_and(|v| number(b) == Some(v));
    let known: Vec<u32> = labels
        .classes
        .iter()
        .map(|name| c.classes.iter().position(|k| same(k, name)).map_or(u32::MAX, |at| at as u32))
        .collect();
    // A one-class model has the classes inside and outside; other names of classes cannot be scored.
    if c.learner == "one-class" && known.iter().all(|k| *k == u32::MAX) {
        return vec![None; labels.of.len()];
    }
    labels.of.iter().map(|l| l.map(|l| known[l as usize])).collect()
}

/// The predictions as text, one line per row.
fn table(c: &Classifier, p: &Predictions, shape: Shape) -> String {
    let mut out = String::new();
    if shape == Shape::Labels {
        for class in &p.class {
            out.push_str(&c.classes[*class as usize]);
            out.push('\n');
        }
        return out;
    }
    let comma = if shape == Shape::Csv { ',' } else { '\t' };
    let outputs = c.model.outputs();
    out.push_str("label");
    if c.scheme == MulticlassScheme::Binary {
        let _ = write!(out, "{comma}decision");
    } else {
        for name in c.scheme.output_names(&c.classes) {
            let _ = write!(out, "{comma}{}", cell(&format!("decision:{name}"), comma));
        }
    }
    if p.probability.is_some() {
        for name in &c.classes {
            let _ = write!(out, "{comma}{}", cell(&format!("probability:{name}"), comma));
        }
    }
    out.push('\n');
    for (i, class) in p.class.iter().enumerate() {
        out.push_str(&cell(&c.classes[*class as usize], comma));
        for f in &p.decision[i * outputs..(i + 1) * outputs] {
            let _ = write!(out, "{comma}{}", exact(*f));
        }
        if let Some(probability) = &p.probability {
            for q in &probability[i * c.classes.len()..(i + 1) * c.classes.len()] {
                let _ = write!(out, "{comma}{}", exact(*q));
            }
        }
        out.push('\n');
    }
    out
}

/// A cell of a table, quoted if necessary.
pub fn cell(text: &str, comma: char) -> String {
    if text.contains([comma, '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_string()
    }
}

/// Scores against the true labels; null if they are unknown or the score is not defined. A class that the model does not
/// have counts as an error and leaves the other scores undefined. With one-vs-rest outputs, AUC is the mean over classes of
/// each class against the rest.
pub fn scores(c: &Classifier, p: &Predictions, truth: &[Option<u32>]) -> Value {
    let rows: Vec<usize> = (0..truth.len()).filter(|&i| truth[i].is_some()).collect();
    let known: Vec<u32> = rows.iter().filter_map(|&i| truth[i]).collect();
    let found: Vec<u32> = rows.iter().map(|&i| p.class[i]).collect();
    let right = known.iter().zip(&found).filter(|(t, f)| t == f).count();
    let accuracy = (!rows.is_empty()).then(|| right as f64 / rows.len() as f64);
    let (mut auc, mut pr_auc, mut prbep, mut g_means, mut mcc) = (None, None, None, None, None);
    if let Some(confusion) = Confusion::new(&known, &found, &[], c.classes.len()).filter(|_| !rows.is_empty())
    {
        (g_means, mcc) = (confusion.g_means(), confusion.mcc());
        let outputs = c.model.outputs();
        let decision: Vec<f64> =
            rows.iter().flat_map(|&i| &p.decision[i * outputs..(i + 1) * outputs]).copied().collect();
        match c.scheme {
            MulticlassScheme::Binary => {
                let positive: Vec<bool> = known.iter().map(|t| *t == 1).collect();
                auc = metrics::auc(&decision, &positive, &[]);
                pr_auc = metrics::average_precision(&decision, &positive, &[]);
                prbep = metrics::prbep(&decision, &positive);
            }
            MulticlassScheme::OneVsRest => auc = metrics::auc_macro(&decision, &known, c.classes.len(), &[]),
            MulticlassScheme::OneVsOne => {}
        }
    }
    json!({
        "accuracy": accuracy, "error": accuracy.map(|a| 1.0 - a), "auc": auc, "pr_auc": pr_auc,
        "g_means": g_means, "prbep": prbep, "mcc": mcc,
    })
}

/// The ROC curve as text, with the precision at each threshold (empty if no row is predicted positive).
fn roc(c: &Classifier, p: &Predictions, truth: &[Option<u32>]) -> Result<String, Failure> {
    if c.scheme != MulticlassScheme::Binary {
        return Err(Failure::Usage(format!(
            "--roc: the model has {} classes; a curve needs two",
            c.classes.len()
        )));
    }
    let rows = p.decision.iter().zip(truth).filter_map(|(f, t)| t.filter(|t| *t < 2).map(|t| (*f, t == 1)));
    let (decision, positive): (Vec<f64>, Vec<bool>) = rows.unzip();
    let Some(cuts) = metrics::curve(&decision, &positive, &[]) else {
        return Err(Failure::Failed(
            "--roc: the curve needs labeled rows of both classes of the model".into(),
        ));
    };
    let mut out = String::from("threshold\tfalse_positive_rate\ttrue_positive_rate\tprecision\n");
    for cut in &cuts {
        let (x, y) = (cut.false_positive_rate(), cut.true_positive_rate());
        let precision = cut.precision().map(exact).unwrap_or_default();
        let _ = writeln!(out, "{}\t{}\t{}\t{precision}", exact(cut.threshold), exact(x), exact(y));
    }
    Ok(out)
}

fn summary(rows: usize, seconds: f64, scores: &Value, output: Option<&Path>) -> String {
    let mut text = format!("{} in {} s", console::count(rows, "row"), short(seconds));
    for (name, key) in
        [("accuracy", "accuracy"), ("AUC", "auc"), ("g-means", "g_means"), ("PRBEP", "prbep"), ("MCC", "mcc")]
    {
        if let Some(value) = scores[key].as_f64() {
            let _ = write!(text, ", {name} {}", short(value));
        }
    }
    if scores["accuracy"].is_null() {
        text.push_str("; no labels, so no scores");
    }
    match output {
        Some(path) if path != Path::new("-") => {
            let _ = write!(text, "\npredictions: {}", path.display());
        }
        _ => {}
    }
    text
}
