//! `evermargin fit --resume`: refuses options that contradict the state.

use crate::args::{Common, set_gamma, set_once};
use crate::commands::fit::FitArgs;
use crate::failure::Failure;
use evermargin::model::MulticlassScheme;
use evermargin::params::ParamValue;
use evermargin::pipeline::partial_fit::{OnlineCheckpoint, PartialFitOptions};
use evermargin::pipeline::train::{Gamma, TrainOptions};

/// Parameters for the choice of samples.
const CHOOSING: [&str; 5] = ["select", "pool", "labels", "stop", "virtual"];

/// Refuses options that differ from the state; options that agree with it may be repeated. Returns the options for
/// continuing.
pub fn agree(
    args: &FitArgs,
    common: &Common,
    state: &OnlineCheckpoint,
) -> Result<PartialFitOptions<'static>, Failure> {
    if let Some(name) = args.learn.learner.as_ref().filter(|name| **name != state.head.learner.name) {
        return Err(contradiction("--learner", name, &state.head.learner.name));
    }
    let (learner, mut options) = args.learn.options_for(&state.head.learner.name, common)?;
    args.online.apply(learner, &mut options)?;
    if let Some(c) = args.c {
        set_once(&mut options, "--c", "c", c)?;
    }
    set_gamma(&mut options, args.gamma)?;
    learner.make(&options.params).map_err(Failure::usage)?;
    let finish = options.params.remove("finish").and_then(|v| v.as_bool());
    let cache = options.params.remove("cache_bytes").and_then(|v| v.as_u64()).map(|b| b as usize);
    if let Some(name) = CHOOSING.iter().find(|name| options.params.contains_key(**name)) {
        return Err(Failure::Usage(format!(
            "{name}: --resume learns every labeled row of DATA and does not choose rows; choose them with `evermargin ask` and \
             resume with those"
        )));
    }
    for (name, value) in &options.params {
        let stored = state.head.learner.params.get(name);
        if stored != Some(value) {
            let stored = stored.map_or_else(|| "none".into(), ParamValue::to_string);
            return Err(contradiction(name, &value.to_string(), &stored));
        }
    }
    others(args, &options, state)?;
    Ok(PartialFitOptions { weights: None, seed: common.seed, finish, cache_bytes: cache })
}

/// Gamma, scaling, scheme, class weights, the class asked for.
fn others(args: &FitArgs, options: &TrainOptions, state: &OnlineCheckpoint) -> Result<(), Failure> {
    let stored =
        |name: &str| state.head.learner.params.get(name).map_or_else(|| "none".into(), ParamValue::to_string);
    let gamma = state.saved.params.kernel.gamma();
    match options.gamma {
        Some(Gamma::Value(value)) if gamma != Some(value) => {
            return Err(contradiction("--gamma", &value.to_string(), &stored("gamma")));
        }
        Some(Gamma::Scale) => return Err(contradiction("--gamma", "scale", &stored("gamma"))),
        Some(Gamma::Auto) => return Err(contradiction("--gamma", "auto", &stored("gamma"))),
        _ => {}
    }
    if let Some(scale) = options.scaling.filter(|s| s.name() != state.head.scaling.name()) {
        return Err(contradiction("--scale", &scale.name(), state.head.scaling.name()));
    }
    if options.multi == Some(MulticlassScheme::OneVsOne)
        && state.head.learner.scheme == MulticlassScheme::OneVsRest
    {
        return Err(contradiction("--multi", "one-vs-one", "one-vs-rest"));
    }
    if options.multi == Some(MulticlassScheme::OneVsRest)
        && state.head.learner.scheme == MulticlassScheme::OneVsOne
    {
        return Err(contradiction("--multi", "one-vs-rest", "one-vs-one"));
    }
    let weight = options.class_weight.value();
    if let Some(weight) = weight.filter(|w| state.head.learner.params.get("class_weight") != Some(w)) {
        return Err(contradiction("--class-weight", &weight.to_string(), &stored("class_weight")));
    }
    let positive = state.head.input.positive.as_deref();
    match &args.input.positive {
        Some(class) if positive != Some(class.as_str()) => {
            Err(contradiction("--positive", class, positive.unwrap_or("all classes")))
        }
        _ => Ok(()),
    }
}

fn contradiction(name: &str, given: &str, stored: &str) -> Failure {
    Failure::Usage(format!(
        "{name} {given}: the state has {stored}; leave the option out, or train a new model without --resume"
    ))
}
