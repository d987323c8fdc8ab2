//! Options of learners that learn one sample at a time: choice of samples, state, learning curve.

use crate::args::set_once;
use crate::failure::Failure;
use evermargin::estimators::{ESTIMATORS, EstimatorSpec};
use evermargin::params::ParamValue;
use evermargin::pipeline::partial_fit::ONLINE;
use evermargin::pipeline::train::TrainOptions;
use std::path::PathBuf;

/// Options for learning one sample at a time.
#[derive(Debug, clap::Args, Default)]
#[command(next_help_heading = "One sample at a time")]
pub struct OnlineArgs {
    /// Choice of the next sample: random, active, auto-active or gradient [default: random]
    ///
    /// active takes the sample nearest to the boundary among --pool random ones; auto-active does the same with a pool that grows as
    /// needed; gradient takes the sample that violates its margin most; it reads the labels of all
    /// samples that it compares and serves as a reference in experiments.
    #[arg(long, value_name = "NAME", conflicts_with = "resume", value_parser = select)]
    pub select: Option<String>,
    /// Number of random samples among which active and gradient choose; 0 = all [default: 59]
    ///
    /// auto:P,ETA is the number that contains one of the best fraction P with probability 1 − ETA; 59 is auto:0.05,0.05.
    #[arg(long, value_name = "N", hide_short_help = true, conflicts_with = "resume", value_parser = crate::args::values::pool)]
    pub pool: Option<usize>,
    /// Maximum number of labels that the learner may use [default: no limit]
    #[arg(long, value_name = "N", conflicts_with = "resume", value_parser = crate::args::values::from_one)]
    pub labels_budget: Option<u64>,
    /// Stopping rule: margin, plateau, cross-validated or never [default: margin, with random samples never]
    ///
    /// margin stops when no sample is left inside the margin, plateau when the support vectors no longer change much.
    #[arg(long, value_name = "RULE", hide_short_help = true, conflicts_with = "resume", value_parser = stop)]
    pub stop: Option<String>,
    /// Number of passes over the data [default: 1]
    #[arg(long, value_name = "N", hide_short_help = true, value_parser = crate::args::values::from_one)]
    pub epochs: Option<u64>,
    /// Write the state of the learner to this file, for --resume
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Continue training from this state with the rows of DATA
    ///
    /// Learner, parameters, scaling and classes are those of the state.
    #[arg(long, value_name = "STATE", conflicts_with_all = ["probability", "threshold"])]
    pub resume: Option<PathBuf>,
    /// Resume a state from a CPU with other features; results may differ in their last bits
    #[arg(long, hide_short_help = true, requires = "resume")]
    pub force: bool,
    /// Write the learning curve to this file, tab separated
    ///
    /// Columns: labels, learned, support_count, accuracy, g_means.
    #[arg(long, value_name = "FILE", hide_short_help = true, conflicts_with = "resume")]
    pub curve: Option<PathBuf>,
    /// Score the learning curve on this data [default: all labeled rows of DATA]
    #[arg(long, value_name = "DATA", hide_short_help = true, requires = "curve")]
    pub test: Option<PathBuf>,
    /// Write the rows that are probably mislabeled to this file, the worst first (any learner)
    ///
    /// Tab separated: row, label, predicted, margin.
    #[arg(long, value_name = "FILE")]
    pub suspects: Option<PathBuf>,
}

fn one_of(text: &str, names: &[&str]) -> Result<String, String> {
    if names.contains(&text) { Ok(text.into()) } else { Err(format!("must be one of {}", names.join(", "))) }
}

fn select(text: &str) -> Result<String, String> {
    one_of(text, &["random", "active", "auto-active", "gradient"])
}

fn stop(text: &str) -> Result<String, String> {
    one_of(text, &["margin", "plateau", "cross-validated", "never"])
}

impl OnlineArgs {
    /// Sets the parameters of these options; refuses those that the learner does not have.
    pub fn apply(&self, learner: &EstimatorSpec, options: &mut TrainOptions) -> Result<(), Failure> {
        let named: [(&str, &str, Option<ParamValue>); 6] = [
            ("--select", "select", self.select.clone().map(Into::into)),
            ("--pool", "pool", self.pool.map(Into::into)),
            ("--labels-budget", "labels", self.labels_budget.map(Into::into)),
            ("--stop", "stop", self.stop.clone().map(Into::into)),
            ("--epochs", "epochs", self.epochs.map(Into::into)),
            ("--curve", "curve", self.curve.as_ref().map(|_| true.into())),
        ];
        for (option, name, value) in named {
            let Some(value) = value else { continue };
            if !learner.takes(name) {
                let able: Vec<&str> = ESTIMATORS.iter().filter(|l| l.takes(name)).map(|l| l.name).collect();
                return Err(Failure::Usage(format!(
                    "{option}: learner {} does not have this option; --learner {} does",
                    learner.name,
                    able.join(" or ")
                )));
            }
            set_once(options, option, name, value)?;
        }
        // The margin of a randomly chosen sample says little about the remaining samples.
        let random = options.params.get("select").is_none_or(|s| s.as_str() == Some("random"));
        if random && (self.labels_budget.is_some() || self.curve.is_some()) {
            options.params.entry("stop".into()).or_insert_with(|| "never".into());
        }
        if self.state.is_some() && !ONLINE.iter().any(|(name, _)| *name == learner.name) {
            let names: Vec<&str> = ONLINE.iter().map(|(name, _)| *name).collect();
            return Err(Failure::Usage(format!(
                "--state: learner {} cannot be resumed, so it has no state; {} can",
                learner.name,
                names.join(", ")
            )));
        }
        Ok(())
    }

    /// Whether the rows are needed again after training.
    pub fn needs_rows(&self) -> bool {
        self.suspects.is_some() || (self.curve.is_some() && self.test.is_none())
    }
}
