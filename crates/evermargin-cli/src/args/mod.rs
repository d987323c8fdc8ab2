//! The command line: commands, the options they share, and their conversion to training options.

pub(crate) mod help;
pub(crate) mod online;
pub(crate) mod semi;
pub(crate) mod values;
use crate::failure::Failure;
use clap::{Args, CommandFactory, Parser, Subcommand};
use evermargin::estimators::{ESTIMATORS, EstimatorSpec, estimator};
use evermargin::params::ParamValue;
use evermargin::pipeline::train::{Gamma, TrainOptions};
use std::path::PathBuf;

/// Train, label and stream with large-margin learners: supervised, semi-supervised, online and active.
#[derive(Debug, Parser)]
#[command(
    name = "evermargin",
    version,
    max_term_width = 100,
    disable_help_subcommand = true,
    subcommand_value_name = "COMMAND"
)]
#[command(after_help = help::examples(
    "`evermargin COMMAND --help` describes a command.",
    &["evermargin generate two-moons -o moons.csv"],
    [
        ("Train a classifier; the model is moons.evm", "evermargin fit moons.csv"),
        ("Score it on a file with labels", "evermargin predict moons.evm moons.csv -o labels.tsv"),
    ],
))]
pub struct Cli {
    /// The command and its options.
    #[command(subcommand)]
    pub verb: Verb,
    /// Options of every command.
    #[command(flatten)]
    pub common: Common,
}

/// The commands of the program.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Train a classifier and write it to a model file
    Fit(Box<crate::commands::fit::FitArgs>),
    /// Predict the labels of a file with a model, and score them if the file has labels
    Predict(crate::commands::predict::PredictArgs),
    /// Label all rows of a file from the few rows that have a label
    Label(Box<crate::commands::label::LabelArgs>),
    /// Choose the rows that a person should label next
    Ask(crate::commands::ask::AskArgs),
    /// Choose a few rows that represent all rows
    Summarize(crate::commands::summarize::SummarizeArgs),
    /// Merge several summaries into one
    Merge(crate::commands::merge::MergeArgs),
    /// Compute a few coordinates per row that follow the shape of the data, and two clusters
    Embed(crate::commands::embed::EmbedArgs),
    /// Search for good parameters by cross-validation
    Tune(Box<crate::commands::tune::TuneArgs>),
    /// Learn from a stream: label its rows, query an annotator, keep a model up to date
    Run(Box<crate::commands::run::RunArgs>),
    /// Convert a model or a data set to another format
    Convert(crate::commands::convert::ConvertArgs),
    /// Show the contents of a model or a state
    Inspect(crate::commands::inspect::InspectArgs),
    /// Generate a data set for experiments
    Generate(crate::commands::generate::GenerateArgs),
    /// Learn a generated stream in seconds and write a page about it
    Demo(crate::commands::demo::DemoArgs),
    /// List the learners, or print the parameters of one
    Learners(crate::commands::learners::LearnersArgs),
}

impl Verb {
    /// Name of the command on the command line.
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
            Self::Learners(_) => "learners",
        }
    }
}

/// Options of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = help::GLOBAL)]
pub struct Common {
    /// Number of threads; the result does not depend on it [default: all cores]
    #[arg(long, value_name = "N", global = true, value_parser = crate::args::values::whole::<usize>(0, u64::MAX))]
    pub threads: Option<usize>,
    /// Random seed
    #[arg(long, value_name = "N", global = true, default_value_t = 1, value_parser = crate::args::values::whole::<u64>(0, u64::MAX))]
    pub seed: u64,
    /// Print errors only
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Print one line of JSON on standard output instead of text
    #[arg(long, global = true)]
    pub json: bool,
}

/// Options for reading a data file.
#[derive(Debug, Clone, Args, Default)]
#[command(next_help_heading = "Data")]
pub struct DataArgs {
    /// Format: libsvm, csv, tsv, space, jsonl, npy, npz or idx [default: detected]
    ///
    /// Files that end in .gz, .xz or .zst are decompressed.
    #[arg(long, value_name = "NAME", value_parser = crate::args::values::format)]
    pub format: Option<evermargin_io::Format>,
    /// Label column: name, number from 1, or none [default: label, else the last column]
    ///
    /// With none, all columns are features. `predict` and `ask` look for the label column of the model.
    #[arg(long, value_name = "NAME|INDEX|none")]
    pub label: Option<String>,
    /// Column of text, by name or number, whose words become features (repeatable)
    ///
    /// Words are hashed and weighted by tf-idf.
    #[arg(long, value_name = "NAME|INDEX")]
    pub text: Vec<String>,
    /// Columns to use in addition to label and text, by name or number [default: all]
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub columns: Option<Vec<String>>,
    /// Whether the first row of a table is a header: yes or no [default: detected]
    #[arg(long, value_name = "yes|no", hide_short_help = true, value_parser = crate::args::values::yes_or_no)]
    pub header: Option<bool>,
    /// Read the labels of DATA from this file: text with one label per line, .npy or IDX
    ///
    /// SVMlin keeps features and labels in two such files.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub labels: Option<PathBuf>,
    /// Use only these rows, counted from 1, both ends included: 1..1000, ..500 or 501.. [default: all]
    #[arg(long, value_name = "A..B", value_parser = crate::args::values::rows)]
    pub rows: Option<values::Rows>,
    /// Learn this class against all others [default: all classes]
    #[arg(long, value_name = "CLASS", hide_short_help = true, allow_hyphen_values = true)]
    pub positive: Option<String>,
    /// Number of the first column in LIBSVM text: 0 or 1 [default: 0 if index 0 occurs, else 1]
    #[arg(long, value_name = "0|1", hide_short_help = true, value_parser = crate::args::values::whole::<u8>(0, 1))]
    pub index_base: Option<u8>,
    /// Maximum size of the file in bytes after decompression
    #[arg(long, value_name = "N", hide_short_help = true, value_parser = crate::args::values::whole::<u64>(0, u64::MAX))]
    pub max_bytes: Option<u64>,
    /// Maximum length of a line in bytes
    #[arg(long, value_name = "BYTES", hide_short_help = true, value_parser = crate::args::values::whole::<usize>(0, u64::MAX))]
    pub max_line: Option<usize>,
    /// Maximum number of columns
    #[arg(long, value_name = "N", hide_short_help = true, value_parser = crate::args::values::whole::<usize>(0, u64::MAX))]
    pub max_columns: Option<usize>,
    /// Maximum number of rows
    #[arg(long, value_name = "N", hide_short_help = true, value_parser = crate::args::values::whole::<usize>(0, u64::MAX))]
    pub max_rows: Option<usize>,
    /// Maximum number of values of a dense array or table
    #[arg(long, value_name = "N", hide_short_help = true, value_parser = crate::args::values::whole::<usize>(0, u64::MAX))]
    pub max_cells: Option<usize>,
    /// Maximum memory in bytes for a file that is read as a whole
    ///
    /// The default is the smaller of two values: three quarters of the free memory; and 256 MiB or 200 bytes per byte of the
    /// file, whichever is more.
    #[arg(long, value_name = "BYTES", hide_short_help = true, value_parser = crate::args::values::whole::<u64>(0, u64::MAX))]
    pub max_memory: Option<u64>,
}

impl DataArgs {
    /// The same options for another file of the same form, with all of its rows and its own labels.
    pub fn for_another(&self) -> Self {
        Self { labels: None, rows: None, positive: None, ..self.clone() }
    }
}

/// Options that hide labels from the learner.
#[derive(Debug, Args, Default)]
#[command(next_help_heading = "Data")]
pub struct HideArgs {
    /// Use only the labels of the rows listed in this file, and score with the others
    ///
    /// Each line of the file is one split: the numbers of its rows, counted from 1.
    #[arg(long, value_name = "FILE")]
    pub labeled_rows: Option<PathBuf>,
    /// Line of the file of --labeled-rows to use [default: 1]
    #[arg(long, value_name = "K", hide_short_help = true, requires = "labeled_rows", value_parser = crate::args::values::from_one)]
    pub split: Option<u64>,
}

/// Options that choose a learner and its training.
#[derive(Debug, Args)]
#[command(next_help_heading = "Learning")]
pub struct LearnArgs {
    #[arg(long, value_name = "NAME", help = learner_help(DEFAULT_LEARNER), long_help = learner_long_help(|_| true, DEFAULT_LEARNER))]
    pub learner: Option<String>,
    /// Kernel: rbf, linear, poly, sigmoid or precomputed [default: rbf]
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,
    /// Degree of the poly kernel [default: 3]
    #[arg(long, value_name = "N", hide_short_help = true, value_parser = crate::args::values::whole::<u32>(0, u32::MAX.into()))]
    pub degree: Option<u32>,
    /// Constant of the poly and sigmoid kernels [default: 0]
    #[arg(long, value_name = "X", hide_short_help = true, value_parser = crate::args::values::number)]
    pub coef0: Option<f64>,
    /// Stop when no optimality condition is violated by more than this [default: 0.001]
    #[arg(long, value_name = "X", hide_short_help = true, value_parser = crate::args::values::number)]
    pub tolerance: Option<f64>,
    /// Memory for cached kernel rows, in megabytes [default: 1000]
    #[arg(long, value_name = "MB", hide_short_help = true, value_parser = crate::args::values::whole::<usize>(0, u64::MAX))]
    pub cache_mb: Option<usize>,
    /// Scaling: minmax, standard, range, unit, tfidf, divide=N or none [default: chosen from the data]
    ///
    /// minmax and standard scale each column, range scales all columns by one factor, unit scales each row to length 1. A note names
    /// the scaling that was chosen.
    #[arg(long, value_name = "NAME", value_parser = crate::args::values::scaling)]
    pub scale: Option<evermargin::pipeline::train::ScalingChoice>,
    /// Reduction of more than two classes: one-vs-one or one-vs-rest [default: depends on the learner]
    #[arg(long, value_name = "SCHEME", hide_short_help = true, value_parser = crate::args::values::multi)]
    pub multi: Option<evermargin::model::MulticlassScheme>,
    /// Class weights: none, balanced, ratio or CLASS=WEIGHT,… [default: none]
    ///
    /// balanced gives all classes the same total weight; ratio weights each class by n_largest / n_class.
    #[arg(long, value_name = "WEIGHTS", value_parser = crate::args::values::class_weight)]
    pub class_weight: Option<evermargin::estimators::ClassWeight>,
    /// Read row weights from this file, one weight per line [default: weight 1 for all rows]
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub weights: Option<PathBuf>,
    /// Set any other parameter of the learner (repeatable)
    ///
    /// `evermargin learners NAME` prints the parameters.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = crate::args::values::assignment)]
    pub set: Vec<(String, String)>,
    /// Stop training after this time and keep the model reached so far [default: no limit]
    #[arg(long, value_name = "SECONDS", value_parser = crate::args::values::number)]
    pub max_seconds: Option<f64>,
    /// Stop each solver after this number of steps and keep the model reached so far; none = no limit
    #[arg(long, value_name = "N", hide_short_help = true, value_parser = crate::args::values::limit)]
    pub max_steps: Option<ParamValue>,
}

/// Sets a parameter from its own flag; refuses a parameter that already has a value.
pub fn set_once(
    options: &mut TrainOptions,
    flag: &str,
    name: &str,
    value: impl Into<ParamValue>,
) -> Result<(), Failure> {
    refuse_twice(options, flag, name)?;
    options.set(name, value).map_err(Failure::usage)
}

/// Sets the width of the kernel if its flag is given. The learner need not have this parameter, because training takes it
/// from the options.
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

/// The default learner of `fit` and `tune`.
pub const DEFAULT_LEARNER: &str = "svc";

/// The command line, with the help texts that depend on the command.
pub fn command() -> clap::Command {
    // A negative number is a value, which its parser refuses with what is allowed, and no option of its own.
    let negative = |arg: clap::Arg| {
        let takes_value = arg.get_action().takes_values() && !arg.is_positional();
        if takes_value { arg.allow_negative_numbers(true) } else { arg }
    };
    let all = Cli::command().mut_args(negative).mut_subcommands(|verb| verb.mut_args(negative));
    let all = all.mut_subcommand("label", |verb| {
        verb.mut_arg("learner", |arg| {
            let default = crate::commands::label::DEFAULT_LEARNER;
            arg.help(learner_help(default)).long_help(learner_long_help(|l| l.uses_unlabeled, default))
        })
        .mut_arg("kernel", |arg| {
            arg.help(
                "Kernel: rbf, linear, poly, sigmoid or precomputed [default: linear for submod-s3vm, qp-s3vm and \
                 parzen, else rbf]",
            )
        })
    });
    let all = all.mut_subcommands(help::with_help_flags);
    let template = help::template(&all);
    all.help_template(template)
}

/// Short help of `--learner`.
fn learner_help(default: &str) -> String {
    format!("Learner; `evermargin learners` lists them [default: {default}]")
}

/// Long help of `--learner`, with the names of the learners of the registry.
fn learner_long_help(which: fn(&EstimatorSpec) -> bool, default: &str) -> String {
    let names = |baseline: bool| {
        let names = ESTIMATORS.iter().filter(|e| which(e) && e.baseline == baseline).map(|e| e.name);
        names.collect::<Vec<_>>().join(", ")
    };
    format!(
        "{}\n\n{}; only for comparison: {}. `evermargin learners NAME` prints the parameters of one.",
        learner_help(default),
        names(false),
        names(true)
    )
}

impl LearnArgs {
    /// The learner and its training options. Parameters that the learner does not have are refused before any file is read.
    pub fn options(&self, common: &Common) -> Result<(&'static EstimatorSpec, TrainOptions), Failure> {
        self.options_for(self.learner.as_deref().unwrap_or(DEFAULT_LEARNER), common)
    }

    /// The same for the learner with this name, regardless of `--learner`.
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

    /// The words of a command line with all required arguments and one option.
    fn line(verb: &clap::Command, option: &str, value: &str) -> Vec<String> {
        let positionals = verb.get_positionals().filter(|p| p.is_required_set()).map(|_| "x".to_string());
        let verb = ["evermargin".to_string(), verb.get_name().to_string()];
        verb.into_iter().chain(positionals).chain([option.to_string(), value.to_string()]).collect()
    }

    fn refusal(words: Vec<String>) -> Option<clap::Error> {
        let error = command().try_get_matches_from(words).err()?;
        // The value of an option that requires another option was accepted.
        (error.kind() != ErrorKind::MissingRequiredArgument).then_some(error)
    }

    #[test]
    fn refused_numbers_name_the_allowed_values() {
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
                    let named = text.contains(&format!("invalid value '{value}' for '{option} <"));
                    assert!(
                        named && text.contains("must be "),
                        "{} {option} {value}: {text}",
                        verb.get_name()
                    );
                }
            }
        }
        assert!(numeric > 150, "{numeric} numeric options, counted for each command");
    }
}
