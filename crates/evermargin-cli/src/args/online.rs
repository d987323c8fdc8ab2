//! Options of learners that learn one sample at a time: how samples are chosen, what is kept, what is told.

use crate::args::set_once;
use crate::failure::Failure;
use evermargin::estimators::{ESTIMATORS, EstimatorSpec};
use evermargin::params::ParamValue;
use evermargin::pipeline::partial_fit::ONLINE;
use evermargin::pipeline::train::TrainOptions;
use std::path::PathBuf;

/// Learning one sample at a time.
#[derive(Debug, clap::Args, Default)]
#[command(next_help_heading = "One sample at a time")]
pub struct OnlineArgs {
    /// How the next sample is chosen: random, active (nearest to the boundary), auto-active (the same, from a pool
    /// that grows as needed) or gradient (worst first; reads labels, for comparison) [default: random]
    #[arg(long, value_name = "NAME", conflicts_with = "resume", value_parser = select)]
    pub select: Option<String>,
    /// Samples among which active and gradient choose: a number, 0 = all, or auto:P,ETA = as many as it takes to hold
    /// one of the best share P with chance 1 − ETA [default: 59, which is auto:0.05,0.05]
    #[arg(long, value_name = "N", conflicts_with = "resume", value_parser = crate::args::values::pool)]
    pub pool: Option<usize>,
    /// Most labels to look at [default: no limit]
    #[arg(long, value_name = "N", conflicts_with = "resume", value_parser = crate::args::values::from_one)]
    pub labels_budget: Option<u64>,
    /// When to stop choosing: margin (no sample left inside it), plateau (support vectors settle), cross-validated or
    /// never [default: margin; never where samples come at random]
    #[arg(long, value_name = "RULE", conflicts_with = "resume", value_parser = stop)]
    pub stop: Option<String>,
    /// Passes over the data [default: 1]
    #[arg(long, value_name = "N", value_parser = crate::args::values::from_one)]
    pub epochs: Option<u64>,
    /// File for the state of the learner, from which it can go on
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Go on from a state with the rows of DATA; learner, parameters, scaling and classes are those of the state
    #[arg(long, value_name = "STATE", conflicts_with_all = ["probability", "threshold"])]
    pub resume: Option<PathBuf>,
    /// Resume a state that was made at another CPU level; results diverge from those of its machine in the last bits
    #[arg(long, requires = "resume")]
    pub force: bool,
    /// File for the learning curve, tab separated: labels, learned, support_count, accuracy, g_means
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    pub curve: Option<PathBuf>,
    /// Data on which the curve is scored [default: all labeled rows of DATA]
    #[arg(long, value_name = "DATA", requires = "curve")]
    pub test: Option<PathBuf>,
    /// File for rows whose label the model does not believe, tab separated, the worst first: row, label, predicted,
    /// margin (any learner)
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
    /// Sets the parameters these options stand for; refuses those the learner does not have.
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
                    "{option}: learner {} has no such choice; with --learner {} it works",
                    learner.name,
                    able.join(" or ")
                )));
            }
            set_once(options, option, name, value)?;
        }
        // a sample that came at random says little about those that are left
        let random = options.params.get("select").is_none_or(|s| s.as_str() == Some("random"));
        if random && (self.labels_budget.is_some() || self.curve.is_some()) {
            options.params.entry("stop".into()).or_insert_with(|| "never".into());
        }
        if self.state.is_some() && !ONLINE.iter().any(|(name, _)| *name == learner.name) {
            let names: Vec<&str> = ONLINE.iter().map(|(name, _)| *name).collect();
            return Err(Failure::Usage(format!(
                "--state: learner {} cannot go on, so it has no state; {} can",
                learner.name,
                names.join(", ")
            )));
        }
        Ok(())
    }

    /// Whether the rows are needed again after learning.
    pub fn needs_rows(&self) -> bool {
        self.suspects.is_some() || (self.curve.is_some() && self.test.is_none())
    }
}
