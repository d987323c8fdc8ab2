//! What a user can write: the verbs, and the options they share.

pub(crate) mod online;
pub(crate) mod semi;
pub(crate) mod values;
use crate::failure::Failure;
use clap::{Args, CommandFactory, Parser, Subcommand};
use evermargin::estimators::{ESTIMATORS, EstimatorSpec, estimator};
use evermargin::params::ParamValue;
use evermargin::pipeline::train::{Gamma, TrainOptions};
use std::fmt::Write;
use std::path::PathBuf;

/// Large-margin learning that never ends.
#[derive(Debug, Parser)]
#[command(name = "evermargin", version, max_term_width = 100, disable_help_subcommand = true)]
#[command(after_help = "Example:\n  evermargin demo\n\nEvery verb has its own --help with an example.")]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
    /// For every verb.
    #[command(flatten)]
    pub common: Common,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Train a classifier and write it to a model file
    Fit(Box<crate::commands::fit::FitArgs>),
    /// Label data with a model; score it when the labels are known
    Predict(crate::commands::predict::PredictArgs),
    /// Label the rows of a file from the few that have a label
    Label(Box<crate::commands::label::LabelArgs>),
    /// Name the rows that are worth a label
    Ask(crate::commands::ask::AskArgs),
    /// Choose the rows that stand for all of them
    Summarize(crate::commands::summarize::SummarizeArgs),
    /// Make one summary of several
    Merge(crate::commands::merge::MergeArgs),
    /// Give rows coordinates, and clusters, along the shape of the data
    Embed(crate::commands::embed::EmbedArgs),
    /// Find good parameters by cross-validation
    Tune(Box<crate::commands::tune::TuneArgs>),
    /// Learn from a stream that need not end: label, ask, remember, keep a model current
    Run(Box<crate::commands::run::RunArgs>),
    /// Write a model or a data set in another format
    Convert(crate::commands::convert::ConvertArgs),
    /// Show what a model or a state holds
    Inspect(crate::commands::inspect::InspectArgs),
    /// Make a data set to play with
    Generate(crate::commands::generate::GenerateArgs),
    /// See a stream being learned, in seconds
    Demo(crate::commands::demo::DemoArgs),
}

impl Verb {
    /// The word a user writes.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Fit(_) => "fit",
            Self::Predict(_) => "predict",
            Self::Label(_) => "label",
            Self::Ask(_) => "ask",
            Self::Summarize(_) => "summarize",
            Self::Merge(_) => "merge",
            Self::Embed(_) => "embed",
            Self::Tune(_) => "tune",
            Self::Run(_) => "run",
            Self::Convert(_) => "convert",
            Self::Inspect(_) => "inspect",
            Self::Generate(_) => "generate",
            Self::Demo(_) => "demo",
        }
    }
}

/// Options of every verb.
#[derive(Debug, Args)]
#[command(next_help_heading = "Everywhere")]
pub struct Common {
    /// Threads to use [default: every core]; the answer does not depend on it
    #[arg(long, value_name = "N", global = true, value_parser = crate::args::values::whole::<usize>(0, u64::MAX))]
    pub threads: Option<usize>,
    /// Seed of everything random
    #[arg(long, value_name = "N", global = true, default_value_t = 1, value_parser = crate::args::values::whole::<u64>(0, u64::MAX))]
    pub seed: u64,
    /// Say nothing but errors
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Print one line of JSON on standard output, and nothing else there
    #[arg(long, global = true)]
    pub json: bool,
}

/// Options about a data file.
#[derive(Debug, Clone, Args, Default)]
#[command(next_help_heading = "Data")]
pub struct DataArgs {
    /// Format, instead of guessing: libsvm, csv, tsv, space, jsonl, npy, npz or idx (.gz, .xz and .zst are opened)
    #[arg(long, value_name = "NAME", value_parser = crate::args::values::format)]
    pub format: Option<evermargin_io::Format>,
    /// Label column of a table, by name or by number counted from 1, or none
    #[arg(long, value_name = "NAME|INDEX|none")]
    pub label: Option<String>,
    /// Column of raw text, by name or number: its words become features (hashed tf-idf); may be given again
    #[arg(long, value_name = "NAME|INDEX")]
    pub text: Vec<String>,
    /// The columns of a table to use beside label and text, by name or number [default: all]
    #[arg(long, value_name = "A,B,...", value_delimiter = ',')]
    pub columns: Option<Vec<String>>,
    /// Whether the first row of a table is a header: yes or no [default: told by its look]
    #[arg(long, value_name = "yes|no", value_parser = crate::args::values::yes_or_no)]
    pub header: Option<bool>,
    /// Labels in a file of their own, one a line, or .npy, or IDX; DATA then needs none (the two files of SVMlin)
    #[arg(long, value_name = "FILE")]
    pub labels: Option<PathBuf>,
    /// Use this part of the rows, counted from 1, both ends included: 1..1000, ..500 or 501..
    #[arg(long, value_name = "A..B", value_parser = crate::args::values::rows)]
    pub rows: Option<values::Rows>,
    /// This class against all others
    #[arg(long, value_name = "CLASS", allow_hyphen_values = true)]
    pub positive: Option<String>,
    /// Number of the first column in LIBSVM text: 0 or 1 [default: 1, or 0 where index 0 occurs]
    #[arg(long, value_name = "0|1", value_parser = crate::args::values::whole::<u8>(0, 1))]
    pub index_base: Option<u8>,
    /// Largest size of the file after decompression
    #[arg(long, value_name = "N", hide_short_help = true, value_parser = crate::args::values::whole::<u64>(0, u64::MAX))]
    pub max_bytes: Option<u64>,
    /// Longest line
    #[arg(long, value_name = "BYTES", hide_short_help = true, value_parser = crate::args::values::whole::<usize>(0, u64::MAX))]
    pub max_line: Option<usize>,
    /// Most columns
    #[arg(long, value_name = "N", hide_short_help = true, value_parser = crate::args::values::whole::<usize>(0, u64::MAX))]
    pub max_columns: Option<usize>,
    /// Most rows
    #[arg(long, value_name = "N", hide_short_help = true, value_parser = crate::args::values::whole::<usize>(0, u64::MAX))]
    pub max_rows: Option<usize>,
    /// Most values of a dense array or table
    #[arg(long, value_name = "N", hide_short_help = true, value_parser = crate::args::values::whole::<usize>(0, u64::MAX))]
    pub max_cells: Option<usize>,
    /// Maximum memory in bytes for a file that is read as a whole [default: three quarters of what is free, and at most 256 MiB
    /// or 200 bytes per byte of the file, whichever is more]
    #[arg(long, value_name = "BYTES", hide_short_help = true, value_parser = crate::args::values::whole::<u64>(0, u64::MAX))]
    pub max_memory: Option<u64>,
}

impl DataArgs {
    /// The same for another file of the kind: all of its rows, its own labels.
    pub fn for_another(&self) -> Self {
        Self { labels: None, rows: None, positive: None, ..self.clone() }
    }
}

/// Which labels a learner may see.
#[derive(Debug, Args, Default)]
#[command(next_help_heading = "Data")]
pub struct HideArgs {
    /// Text file, one split a line, of the numbers of the rows (from 1) whose labels may be used
    #[arg(long, value_name = "FILE")]
    pub labeled_rows: Option<PathBuf>,
    /// Line of that file [default: 1]
    #[arg(long, value_name = "K", requires = "labeled_rows", value_parser = crate::args::values::from_one)]
    pub split: Option<u64>,
}

/// A learner and how to train it.
#[derive(Debug, Args)]
#[command(next_help_heading = "Learning")]
pub struct LearnArgs {
    #[arg(long, value_name = "NAME", help = learner_names(|_| true, DEFAULT_LEARNER), long_help = learner_list(|_| true, DEFAULT_LEARNER))]
    pub learner: Option<String>,
    /// Kernel: rbf, linear, poly, sigmoid or precomputed [default: rbf]
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,
    /// Power of the poly kernel [default: 3]
    #[arg(long, value_name = "N", value_parser = crate::args::values::whole::<u32>(0, u32::MAX.into()))]
    pub degree: Option<u32>,
    /// Constant of the poly and sigmoid kernels [default: 0]
    #[arg(long, value_name = "X", value_parser = crate::args::values::number)]
    pub coef0: Option<f64>,
    /// Largest violation of the optimality conditions that counts as solved [default: 0.001]
    #[arg(long, value_name = "X", value_parser = crate::args::values::number)]
    pub tolerance: Option<f64>,
    /// Memory for kernel rows, in megabytes [default: 1000]
    #[arg(long, value_name = "MB", value_parser = crate::args::values::whole::<usize>(0, u64::MAX))]
    pub cache_mb: Option<usize>,
    /// Scaling: minmax, standard, range, unit, tfidf, divide=N or none [default: chosen from the data, and said]
    #[arg(long, value_name = "NAME", value_parser = crate::args::values::scaling)]
    pub scale: Option<evermargin::pipeline::train::ScalingChoice>,
    /// Many classes: one-vs-one or one-vs-rest [default: what suits the learner]
    #[arg(long, value_name = "SCHEME", value_parser = crate::args::values::multi)]
    pub multi: Option<evermargin::model::MulticlassScheme>,
    /// Class weights: none, balanced (equal total weight per class), ratio (n_largest / n_class), or CLASS=WEIGHT,…
    /// [default: none]
    #[arg(long, value_name = "WEIGHTS", value_parser = crate::args::values::class_weight)]
    pub class_weight: Option<evermargin::estimators::ClassWeight>,
    /// Weights of rows, one a line
    #[arg(long, value_name = "FILE")]
    pub weights: Option<PathBuf>,
    /// Any other parameter of the learner (repeatable)
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = crate::args::values::assignment)]
    pub set: Vec<(String, String)>,
    /// Stop training after this time, with the model so far
    #[arg(long, value_name = "S", value_parser = crate::args::values::number)]
    pub max_seconds: Option<f64>,
    /// Stop each solver after this many steps, with the model so far; none = no limit
    #[arg(long, value_name = "N", value_parser = crate::args::values::limit)]
    pub max_steps: Option<ParamValue>,
}

/// Sets a parameter that has a flag of its own; refuses one that has a value already.
pub fn set_once(
    options: &mut TrainOptions,
    flag: &str,
    name: &str,
    value: impl Into<ParamValue>,
) -> Result<(), Failure> {
    refuse_twice(options, flag, name)?;
    options.set(name, value).map_err(Failure::usage)
}

/// Sets the width of the kernel where its flag is given. It need not be a parameter of the learner: training takes it from
/// the options.
pub fn set_gamma(options: &mut TrainOptions, gamma: Option<Gamma>) -> Result<(), Failure> {
    let Some(gamma) = gamma else { return Ok(()) };
    refuse_twice(options, "--gamma", "gamma")?;
    if let (Gamma::Value(value), Ok(param)) = (gamma, estimator(&options.learner)?.param("gamma")) {
        param.accept(&value.into())?;
    }
    options.gamma = Some(gamma);
    Ok(())
}

/// Refuses a second value for a parameter. Parameters come from `--set` first, then from flags.
pub fn refuse_twice(options: &TrainOptions, flag: &str, name: &str) -> Result<(), Failure> {
    let given = options.params.contains_key(name) || (name == "gamma" && options.gamma.is_some());
    if !given {
        return Ok(());
    }
    let how = if flag == "--set" { "by --set".into() } else { format!("by {flag} and by --set") };
    Err(Failure::Usage(format!("parameter {name} is given twice, {how}; give it once")))
}

/// The learner when none is named.
pub const DEFAULT_LEARNER: &str = "svc";

/// The command line, with the help of `label` about the learners it takes.
pub fn command() -> clap::Command {
    let kernel = "Kernel: rbf, linear, poly, sigmoid or precomputed [default: linear for submod-s3vm, qp-s3vm and parzen, \
                  rbf for the others that take one]";
    // a negative number is a value, which its parser refuses with what is allowed, and no option of its own
    let negative = |arg: clap::Arg| {
        let takes_value = arg.get_action().takes_values() && !arg.is_positional();
        if takes_value { arg.allow_negative_numbers(true) } else { arg }
    };
    let all = Cli::command().mut_args(negative).mut_subcommands(|verb| verb.mut_args(negative));
    all.mut_subcommand("label", |verb| {
        verb.mut_arg("learner", |arg| {
            let default = crate::commands::label::DEFAULT_LEARNER;
            arg.help(learner_names(|l| l.uses_unlabeled, default))
                .long_help(learner_list(|l| l.uses_unlabeled, default))
        })
        .mut_arg("kernel", |arg| arg.help(kernel))
    })
}

/// The learners of the registry, in a line.
fn learner_names(which: fn(&EstimatorSpec) -> bool, default: &str) -> String {
    let usual = ESTIMATORS.iter().filter(|e| which(e) && !e.baseline);
    let names: Vec<&str> = usual.map(|e| e.name).collect();
    let (last, others) = names.split_last().unwrap_or((&DEFAULT_LEARNER, &[]));
    format!("Learner: {} or {last} [default: {default}]", others.join(", "))
}

/// The learners of the registry, a line each.
fn learner_list(which: fn(&EstimatorSpec) -> bool, default: &str) -> String {
    let mut out = format!("Learner [default: {default}]:");
    for learner in ESTIMATORS.iter().filter(|e| which(e) && !e.baseline) {
        let _ = write!(out, "\n{}", learner_line(learner));
    }
    let baselines: Vec<_> = ESTIMATORS.iter().filter(|e| which(e) && e.baseline).collect();
    if !baselines.is_empty() {
        out.push_str("\nFor comparison:");
    }
    for learner in baselines {
        let _ = write!(out, "\n{}", learner_line(learner));
    }
    out
}

/// The name and the summary of a learner, wrapped.
fn learner_line(learner: &EstimatorSpec) -> String {
    let width = ESTIMATORS.iter().map(|e| e.name.len()).max().unwrap_or(0) + 4;
    let mut line = format!("  {:1$}", learner.name, width - 2);
    let mut used = width;
    for word in learner.summary.split(' ') {
        let letters = word.chars().count() + 1;
        if used + letters > HELP_WIDTH {
            let _ = write!(line, "\n{:width$}", "");
            used = width;
        }
        line = line + word + " ";
        used += letters;
    }
    line.trim_end().to_string()
}

/// Letters in a line of help that clap leaves as they are.
const HELP_WIDTH: usize = 88;

impl LearnArgs {
    /// The learner, and how to train it. What it does not take is refused here, before any file is read.
    pub fn options(&self, common: &Common) -> Result<(&'static EstimatorSpec, TrainOptions), Failure> {
        self.options_for(self.learner.as_deref().unwrap_or(DEFAULT_LEARNER), common)
    }

    /// The same for a learner that is known otherwise.
    pub fn options_for(
        &self,
        name: &str,
        common: &Common,
    ) -> Result<(&'static EstimatorSpec, TrainOptions), Failure> {
        let learner = estimator(name)?;
        let mut options = TrainOptions::new(learner.name);
        for (name, value) in &self.set {
            refuse_twice(&options, "--set", name)?;
            options.parse(name, value).map_err(Failure::usage)?;
        }
        let named: [(&str, &str, Option<ParamValue>); 6] = [
            ("--kernel", "kernel", self.kernel.clone().map(Into::into)),
            ("--degree", "degree", self.degree.map(Into::into)),
            ("--coef0", "coef0", self.coef0.map(Into::into)),
            ("--tolerance", "tolerance", self.tolerance.map(Into::into)),
            ("--cache-mb", "cache_bytes", self.cache_mb.map(|mb| mb.saturating_mul(1_000_000).into())),
            ("--max-steps", "max_steps", self.max_steps.clone()),
        ];
        for (flag, name, value) in named {
            if let Some(value) = value {
                set_once(&mut options, flag, name, value)?;
            }
        }
        options.multi = self.multi;
        options.class_weight = self.class_weight.clone().unwrap_or_default();
        options.scaling = self.scale;
        options.seed = common.seed;
        if let Some(s) = self.max_seconds.filter(|s| *s < 0.0) {
            return Err(Failure::Usage(format!(
                "--max-seconds {}: must be 0 or more",
                crate::output::console::exact(s)
            )));
        }
        learner.make(&options.params).map_err(Failure::usage)?;
        Ok((learner, options))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::error::ErrorKind;

    /// The words of a command line that is complete but for the option.
    fn line(verb: &clap::Command, option: &str, value: &str) -> Vec<String> {
        let positionals = verb.get_positionals().filter(|p| p.is_required_set()).map(|_| "x".to_string());
        let verb = ["evermargin".to_string(), verb.get_name().to_string()];
        verb.into_iter().chain(positionals).chain([option.to_string(), value.to_string()]).collect()
    }

    fn refusal(words: Vec<String>) -> Option<clap::Error> {
        let error = command().try_get_matches_from(words).err()?;
        // a value that was read, of an option that requires another one
        (error.kind() != ErrorKind::MissingRequiredArgument).then_some(error)
    }

    #[test]
    fn every_numeric_option_says_what_it_allows() {
        let mut all = command();
        all.build();
        let mut numeric = 0;
        for verb in all.get_subcommands() {
            let options =
                verb.get_arguments().filter(|a| !a.is_positional() && a.get_action().takes_values());
            for option in options.filter_map(|a| a.get_long()).map(|name| format!("--{name}")) {
                let number = ["1", "2", "0.5"].iter().any(|v| refusal(line(verb, &option, v)).is_none())
                    && refusal(line(verb, &option, "abc")).is_some();
                numeric += usize::from(number);
                for value in ["-1", "2.5", "abc", "99999999999999999999"] {
                    let Some(error) = refusal(line(verb, &option, value)) else { continue };
                    let text = error.to_string();
                    let told = text.contains(&format!("invalid value '{value}' for '{option} <"));
                    assert!(
                        told && text.contains("must be "),
                        "{} {option} {value}: {text}",
                        verb.get_name()
                    );
                }
            }
        }
        assert!(numeric > 150, "{numeric} numeric options, counted for each verb");
    }
}
