//! The flags of `run` that set engine parameters, made from the specification of the engine.

use crate::failure::Failure;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};
use evermargin::engine::{ENGINE_PARAMS, EngineParams, QueryStrategy, engine_param_specs};
use evermargin::params::{ParamKind, ParamSpec, ParamValue, ParamValues};

/// Parameters whose flag all commands have.
const GLOBAL: [&str; 1] = ["seed"];

/// Engine parameters that were given as flags.
#[derive(Debug, Clone, Default)]
pub struct EngineArgs(ParamValues);

impl EngineArgs {
    /// The engine parameters: given values and defaults.
    pub fn params(&self, seed: u64) -> Result<EngineParams, Failure> {
        let mut values = self.0.clone();
        values.insert("seed".into(), seed.into());
        EngineParams::from_values(&values).map_err(Failure::usage)
    }
}

/// Parameters in the short help.
const COMMON: [&str; 10] = [
    "budget",
    "queries_per_batch",
    "strategy",
    "exploration_rate",
    "classifier",
    "kernel",
    "c",
    "class_weight",
    "forget",
    "max_labels",
];

impl EngineArgs {
    /// Notes about flags without an effect in this combination.
    pub fn notes(&self, params: &EngineParams) -> Vec<String> {
        let strategy = params.query_strategy;
        let is_unused = self.0.contains_key("submod_weights") && strategy != QueryStrategy::Submod;
        let note = || format!("--submod-weights has no effect with --strategy {}", strategy.name());
        is_unused.then(note).into_iter().collect()
    }
}

/// Specifications of the parameters that have a flag only in `run`.
fn flags() -> impl Iterator<Item = &'static ParamSpec> {
    engine_param_specs().filter(|spec| !GLOBAL.contains(&spec.name))
}

impl clap::Args for EngineArgs {
    fn augment_args(mut command: Command) -> Command {
        for group in &ENGINE_PARAMS {
            for spec in group.params.iter().filter(|spec| !GLOBAL.contains(&spec.name)) {
                command = command.arg(flag(spec).help_heading(group.title));
            }
        }
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for EngineArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut args = Self::default();
        args.update_from_arg_matches(matches)?;
        Ok(args)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for spec in flags().filter(|s| matches.value_source(s.name) == Some(ValueSource::CommandLine)) {
            if let Some(value) = matches.get_one::<ParamValue>(spec.name) {
                self.0.insert(spec.name.into(), value.clone());
            }
        }
        Ok(())
    }
}

fn flag(spec: &'static ParamSpec) -> Arg {
    Arg::new(spec.name)
        .long(spec.name.replace('_', "-"))
        .value_name(value_name(spec.kind))
        .default_value(spec.default)
        .help(capitalized(spec.help))
        .hide_short_help(!COMMON.contains(&spec.name))
        .value_parser(move |text: &str| parse(spec, text))
}

/// Parses the value of a flag. The error has no parameter name, because clap prints the flag before it.
fn parse(spec: &ParamSpec, text: &str) -> Result<ParamValue, String> {
    spec.parse(text).map_err(|error| match error {
        evermargin::Error::Parameter { allowed, .. } => format!("must be {allowed}"),
        other => other.to_string(),
    })
}

fn value_name(kind: ParamKind) -> &'static str {
    match kind {
        ParamKind::Integer { .. } | ParamKind::Limit | ParamKind::OptionalCount => "N",
        ParamKind::Bool => "true|false",
        ParamKind::Choice(_) => "NAME",
        ParamKind::Quota => "N/S",
        ParamKind::ClassWeights => "WEIGHTS",
        ParamKind::Rule { .. } => "RULE",
        _ => "X",
    }
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
