//! Options of learners that use rows without a label, and the report on such a training.

use crate::args::refuse_twice;
use crate::failure::Failure;
use crate::output::console::{count, short};
use evermargin::Labels;
use evermargin::estimators::manifold::deformed_kernel::DeformedKernelParams;
use evermargin::estimators::{ESTIMATORS, EstimatorSpec};
use evermargin::metrics::Confusion;
use evermargin::params::{ParamValue, ParamValues};
use evermargin::pipeline::comparison::Semi;
use evermargin::pipeline::train::TrainOptions;
use serde_json::{Map, Value, json};
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

/// Options for learning with few labels.
#[derive(Debug, clap::Args, Default)]
#[command(next_help_heading = "Few labels")]
pub struct SemiArgs {
    #[command(flatten)]
    pub unlabeled: UnlabeledArgs,
    /// Do not compare with training on the labeled rows alone, which takes several more trainings
    #[arg(long, hide_short_help = true)]
    pub no_compare: bool,
    /// Variant of submod-s3vm: polished, thesis or plain [default: polished]
    ///
    /// thesis is the lazy greedy algorithm as printed. The same as --set variant=NAME.
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub variant: Option<String>,
}

/// Options about rows without a label.
#[derive(Debug, clap::Args, Default)]
#[command(next_help_heading = "Few labels")]
pub struct UnlabeledArgs {
    /// Share of the second class among unlabeled rows: a number, labels or auto [default: auto for auto and submod-s3vm, else labels]
    ///
    /// labels is the share among the labeled rows; auto estimates it. For more than two classes, give one share per class in the
    /// order of the classes: 0.2,0.3,0.5
    #[arg(long, value_name = "SHARE", value_parser = crate::args::values::ratio, allow_hyphen_values = true)]
    pub ratio: Option<ParamValue>,
    /// Deform the kernel of any learner along a graph of all rows, with this weight [default: off]
    ///
    /// The functions of the deformed kernel vary little where rows are dense. Further parameters follow the weight:
    /// 100,n_neighbors=10,power=2,normalized=false,n_landmarks=500
    #[arg(long, value_name = "WEIGHT", hide_short_help = true, value_parser = crate::args::values::warp)]
    pub warp: Option<DeformedKernelParams>,
    /// Read the graph of the rows from this file [default: nearest neighbors]
    ///
    /// For auto, lapsvm, laprls, sparse-lap, label-propagation and --warp. A text file with one edge per line, as in `12 40 0.7`: two
    /// rows, counted from 1, and a weight, which is 1 if it is left out.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub graph: Option<PathBuf>,
}

impl SemiArgs {
    /// Sets the training options of these arguments.
    pub fn apply(&self, learner: &EstimatorSpec, options: &mut TrainOptions) -> Result<(), Failure> {
        options.compare = !self.no_compare;
        if let Some(variant) = &self.variant {
            if !learner.takes("variant") {
                return Err(Failure::Usage(format!("--variant: learner {} has no variants", learner.name)));
            }
            refuse_twice(options, "--variant", "variant")?;
            options.parse("variant", variant).map_err(Failure::usage)?;
        }
        self.unlabeled.apply(learner, options)
    }
}

impl UnlabeledArgs {
    /// Reads the graph of `rows` rows, if one was given.
    pub fn read_graph(&self, rows: usize, options: &mut TrainOptions) -> Result<(), Failure> {
        if let Some(path) = &self.graph {
            options.graph =
                Some(Arc::new(evermargin_io::read_edges(path, rows, &evermargin_io::Limits::default())?));
        }
        Ok(())
    }

    /// Sets the training options of these arguments; refuses a ratio for learners without one.
    pub fn apply(&self, learner: &EstimatorSpec, options: &mut TrainOptions) -> Result<(), Failure> {
        options.warp.clone_from(&self.warp);
        let Some(ratio) = &self.ratio else { return Ok(()) };
        if !learner.takes("ratio") {
            let names: Vec<&str> = ESTIMATORS.iter().filter(|l| l.takes("ratio")).map(|l| l.name).collect();
            return Err(Failure::Usage(format!(
                "--ratio: learner {} does not use rows without a label; those that do: {}",
                learner.name,
                names.join(", ")
            )));
        }
        refuse_twice(options, "--ratio", "ratio")?;
        options.params.insert("ratio".into(), ratio.clone());
        Ok(())
    }
}

/// Agreement of inferred labels with the true labels, on rows whose label the learner did not see.
#[derive(Debug, Clone, Copy, Default)]
pub struct TransductionSummary {
    /// Number of scored rows.
    pub rows: usize,
    /// Fraction of correct labels.
    pub accuracy: Option<f64>,
    /// Fraction of rows of the second of two classes that were assigned to it.
    pub sensitivity: Option<f64>,
    /// Fraction of rows of the first of two classes that were assigned to it.
    pub specificity: Option<f64>,
    /// Matthews correlation coefficient.
    pub mcc: Option<f64>,
}

impl TransductionSummary {
    /// Scores `class` on rows whose `truth` is known and whose label was not `given`; `classes` are those of the learner.
    pub fn new(class: &[u32], given: &[bool], truth: &Labels, classes: &[String]) -> Self {
        let number = |c: u32| classes.iter().position(|k| *k == truth.classes[c as usize]);
        let known = |i: usize| truth.of[i].map(|c| number(c).map_or(u32::MAX, |at| at as u32));
        let rows = (0..class.len()).filter(|&i| !given[i]);
        let pairs: Vec<(u32, u32)> = rows.filter_map(|i| known(i).map(|t| (t, class[i]))).collect();
        if pairs.is_empty() {
            return Self::default();
        }
        let (known, found): (Vec<u32>, Vec<u32>) = pairs.into_iter().unzip();
        let right = known.iter().zip(&found).filter(|(t, f)| t == f).count();
        let share = |c: u32| {
            let of = known.iter().zip(&found).filter(|(t, _)| **t == c);
            let (all, right) = of.fold((0, 0), |(n, k), (t, f)| (n + 1, k + usize::from(t == f)));
            (classes.len() == 2 && all > 0).then(|| f64::from(right as u32) / f64::from(all))
        };
        Self {
            rows: known.len(),
            accuracy: Some(right as f64 / known.len() as f64),
            sensitivity: share(1),
            specificity: share(0),
            mcc: Confusion::new(&known, &found, &[], classes.len()).and_then(|c| c.mcc()),
        }
    }
}

/// Keys that a semi-supervised training adds to `--json`.
pub fn keys(semi: &Semi, truth: Option<&Labels>, classes: &[String]) -> Map<String, Value> {
    let unlabeled = semi.given.iter().filter(|g| !**g).count();
    let score = |class: &[u32]| {
        truth.map(|t| TransductionSummary::new(class, &semi.given, t, classes)).unwrap_or_default()
    };
    let (found, alone) =
        (score(&semi.class), semi.baseline.as_ref().map(|b| score(&b.class)).unwrap_or_default());
    let held = semi.baseline.as_ref().and_then(|b| b.cross_validated);
    let ratio = if let [one] = semi.ratio.as_slice() { json!(one) } else { json!(semi.ratio) };
    let keys = json!({
        "unlabeled": unlabeled,
        "ratio": ratio,
        "transductive_accuracy": found.accuracy,
        "sensitivity": found.sensitivity,
        "specificity": found.specificity,
        "mcc": found.mcc,
        "baseline_accuracy": alone.accuracy,
        "baseline_mcc": alone.mcc,
        "agreement": semi.baseline.as_ref().map(|b| b.agreement),
        "cross_validated": held.map(|h| h[1]),
        "baseline_cross_validated": held.map(|h| h[0]),
        "facts": semi.facts,
    });
    match keys {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// Appends the table of the candidates of `auto`: held-out accuracy with its interval, seconds and weight.
fn candidate_table(out: &mut String, candidates: &[ParamValue], facts: &ParamValues) {
    let number = |row: &ParamValues, key: &str| row.get(key).and_then(ParamValue::as_f64);
    let _ = write!(
        out,
        "\n{:<30} {:>9} {:>14} {:>8} {:>7}",
        "candidate", "held-out", "90 % interval", "seconds", "weight"
    );
    for candidate in candidates {
        let ParamValue::Map(row) = candidate else { continue };
        let name = row.get("candidate").and_then(ParamValue::as_str).unwrap_or("");
        let share = |key: &str| number(row, key).map_or("-".to_string(), |v| format!("{:.1}", 100.0 * v));
        let interval = match number(row, "accuracy_low") {
            Some(_) => format!("{} to {}", share("accuracy_low"), share("accuracy_high")),
            None => "-".into(),
        };
        let seconds = number(row, "seconds").map_or("-".to_string(), |s| format!("{s:.2}"));
        let weight = number(row, "weight").unwrap_or(0.0);
        let _ =
            write!(out, "\n{name:<30} {:>9} {interval:>14} {seconds:>8} {weight:>7.2}", share("accuracy"));
    }
    if let Some(ParamValue::List(omitted)) = facts.get("omitted") {
        let names: Vec<&str> = omitted.iter().filter_map(ParamValue::as_str).collect();
        let _ = write!(out, "\nleft out: {}", names.join(", "));
    }
    if let (Some(model), Some(agreement)) =
        (facts.get("model").and_then(ParamValue::as_str), number(facts, "model_agreement"))
    {
        let _ = write!(
            out,
            "\nclassifier for new rows: {model}, agrees on {:.1} % of the rows",
            100.0 * agreement
        );
    }
}

/// Explanation of the weights of `auto` in sentences; none for other learners.
pub fn explanation(semi: &Semi) -> Option<String> {
    let Some(ParamValue::List(candidates)) = semi.facts.get("candidates") else { return None };
    let number = |row: &ParamValues, key: &str| row.get(key).and_then(ParamValue::as_f64);
    let mut rows: Vec<&ParamValues> = candidates
        .iter()
        .filter_map(|c| if let ParamValue::Map(row) = c { Some(row) } else { None })
        .collect();
    rows.sort_by(|a, b| number(b, "weight").unwrap_or(0.0).total_cmp(&number(a, "weight").unwrap_or(0.0)));
    let label_free = number(&semi.facts, "label_free_weight").unwrap_or(0.0);
    let held_out = if rows.iter().any(|row| row.contains_key("accuracy")) {
        "Each candidate was fitted without a part of the labels and then labeled that part."
    } else {
        "No label could be held out, because each class has only one."
    };
    let mut out = format!(
        "{held_out} The weight of a candidate is a prior times exp(-{1} l (log-loss + error)), where log-loss and error are those on the \
         held-out labels and l is the number of labels, at most 100. The prior is {0:.2} for each of the two families that use labels \
         alone and 1 for each other family; members of a family share it. With few labels per class, stability when labels are held \
         out, agreement with the other families and the cut of the graph also count, here with weight {2:.2}. The labels are the \
         weighted mean of the candidates' probabilities.",
        number(&semi.facts, "prior_of_labels_alone").unwrap_or(1.0),
        number(&semi.facts, "evidence_rate").unwrap_or(0.0),
        label_free,
    );
    for row in rows.iter().take(3) {
        let name = row.get("candidate").and_then(ParamValue::as_str).unwrap_or("");
        let _ = write!(out, "\n{name} has weight {:.2}", number(row, "weight").unwrap_or(0.0));
        match number(row, "accuracy") {
            Some(accuracy) => {
                let (low, high) = (number(row, "accuracy_low"), number(row, "accuracy_high"));
                let _ = write!(
                    out,
                    ": {:.1} % of the held-out labels right (90 % interval {2:.0} to {3:.0} %), log-loss {1:.3}.",
                    100.0 * accuracy,
                    number(row, "log_loss").unwrap_or(0.0),
                    100.0 * low.unwrap_or(0.0),
                    100.0 * high.unwrap_or(1.0)
                );
            }
            None => out.push_str(": no label could be held out."),
        }
        if label_free >= 0.01 {
            let known = [
                ("stability", " stability {} %"),
                ("agreement", " agreement {} %"),
                ("cut", " cut {} % of a random one"),
            ];
            let parts: Vec<String> = known
                .iter()
                .filter_map(|(key, text)| {
                    number(row, key).map(|v| text.replace("{}", &format!("{:.0}", 100.0 * v)))
                })
                .collect();
            if !parts.is_empty() {
                let _ = write!(out, " Without labels:{}.", parts.join(","));
            }
        }
    }
    Some(out)
}

/// Text about a semi-supervised training.
pub fn text(semi: &Semi, truth: Option<&Labels>, classes: &[String]) -> String {
    let unlabeled = semi.given.iter().filter(|g| !**g).count();
    let mut out = String::new();
    let count_of =
        |c: usize| (0..semi.class.len()).filter(|&i| !semi.given[i] && semi.class[i] as usize == c).count();
    let shares: Vec<String> =
        classes.iter().enumerate().take(12).map(|(c, name)| format!("{name} {}", count_of(c))).collect();
    let more = if classes.len() > 12 { ", …" } else { "" };
    let _ = write!(out, "labeled {}: {}{more}", count(unlabeled, "row"), shares.join(", "));
    let percent = |share: f64| format!("{:.2} %", 100.0 * share);
    let score = |class: &[u32]| {
        truth.map(|t| TransductionSummary::new(class, &semi.given, t, classes)).unwrap_or_default()
    };
    let found = score(&semi.class);
    if let Some(accuracy) = found.accuracy {
        let _ = write!(out, "\nright on {}: {}", count(found.rows, "hidden label"), percent(accuracy));
        if let Some(mcc) = found.mcc {
            let _ = write!(out, ", MCC {}", short(mcc));
        }
    }
    if let (Some(from), [share]) =
        (semi.facts.get("ratio_from").and_then(ParamValue::as_str), semi.ratio.as_slice())
    {
        let how = match from {
            "estimate" => "estimated",
            "labels" => "as among the labels",
            "smoothed labels" => "as among the labels, smoothed",
            _ => "given",
        };
        let _ = write!(
            out,
            "\nshare of {}: {} ({how})",
            classes.get(1).map_or("", String::as_str),
            short(*share)
        );
    }
    if let Some(ParamValue::List(candidates)) = semi.facts.get("candidates") {
        candidate_table(&mut out, candidates, &semi.facts);
    }
    let Some(alone) = &semi.baseline else { return out };
    if unlabeled == 0 {
        return out;
    }
    let _ = write!(out, "\nlabels alone: {} of the rows the same", percent(alone.agreement));
    if let Some(accuracy) = score(&alone.class).accuracy {
        let _ = write!(out, ", {} right", percent(accuracy));
    }
    match alone.cross_validated {
        Some([without, with]) => {
            let _ = write!(
                out,
                "\nheld-out labels right ({} folds): {} with the unlabeled rows, {} without{}",
                alone.folds,
                percent(with),
                percent(without),
                if alone.shows_harm() { ": unlabeled rows may reduce the accuracy here" } else { "" }
            );
        }
        None => out
            .push_str("\nheld-out labels: a class has too few of them to decide whether unlabeled rows help"),
    }
    out
}
