//! From a table with class labels to a [`Classifier`]: scaling, multi-class, weights, calibration around any
//! learner of the registry.

use super::prepare::{Prepared, prepare};
use super::validate::{held_out, stratified_folds};
use super::{Fit, Learner, learner};
use crate::data::{Label, Labels, Matrix, MatrixView};
use crate::error::{Error, Result};
use crate::model::{Calibration, CalibrationKind, Classifier, Scaling, ScalingName};
use crate::solve::{Exit, Report, Watch};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// How many classes become two-class problems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Multi {
    /// What suits the learner.
    #[default]
    Auto,
    /// Each class against all others.
    OneVsRest,
    /// Each pair of classes.
    OneVsOne,
}

/// Weights of classes, multiplied into the cost of their examples.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum ClassWeight {
    /// All 1.
    #[default]
    None,
    /// n / (k·nᶜ): every class weighs the same in sum.
    Balanced,
    /// By class name; 1 for those not named.
    Explicit(BTreeMap<String, f64>),
}

/// The scaling asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ScalingChoice {
    /// One that is fitted on the training samples.
    Named(ScalingName),
    /// Every value divided by one number.
    Divide(f64),
}

/// How the width of a kernel is given.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Gamma {
    /// This number.
    Value(f64),
    /// 1/(d·Var X), the variance over all cells of the scaled samples, zeros included.
    #[default]
    Scale,
    /// 1/d.
    Auto,
}

/// Everything there is to say about a training.
#[derive(Debug, Clone)]
pub struct TrainOptions {
    /// Name in the registry.
    pub learner: String,
    /// Its parameters, without gamma.
    pub params: Map<String, Value>,
    /// Width of the kernel; `None` is [`Gamma::Scale`].
    pub gamma: Option<Gamma>,
    /// Multi-class scheme.
    pub multi: Multi,
    /// Weights of classes.
    pub class_weight: ClassWeight,
    /// One weight a row.
    pub weights: Option<Vec<f64>>,
    /// Scaling; `None` chooses one from the data and says so in the notes.
    pub scaling: Option<ScalingChoice>,
    /// Probabilities, from held-out decisions of `folds` folds.
    pub calibration: Option<CalibrationKind>,
    /// Folds for calibration.
    pub folds: usize,
    /// Seed of everything random.
    pub seed: u64,
}

impl TrainOptions {
    /// Defaults for a learner.
    pub fn new(learner: &str) -> Self {
        Self {
            learner: learner.into(),
            params: Map::new(),
            gamma: None,
            multi: Multi::Auto,
            class_weight: ClassWeight::None,
            weights: None,
            scaling: None,
            calibration: None,
            folds: 5,
            seed: 1,
        }
    }

    /// The name of the kernel the learner will use, if it has one.
    pub fn kernel(&self, learner: &Learner) -> Option<String> {
        let default = learner.parameters.iter().find(|p| p.name == "kernel")?.default;
        let given = self.params.get("kernel").and_then(Value::as_str);
        Some(given.unwrap_or(default).to_string())
    }
}

/// What training gives.
#[derive(Debug, Clone)]
pub struct Trained {
    /// The classifier.
    pub classifier: Classifier,
    /// One report an output.
    pub reports: Vec<Report>,
    /// What was chosen or left out, for people.
    pub notes: Vec<String>,
    /// Labelled rows of each class.
    pub counts: Vec<usize>,
}

/// Trains a classifier. Not converging is told by the reports, not an error.
pub fn train(x: Matrix, labels: &Labels, options: &TrainOptions, watch: &dyn Watch) -> Result<Trained> {
    let learner = learner(&options.learner)?;
    learner.make(&options.params)?; // what was written is refused before any work is done
    let prepared = prepare(x, labels, learner, options)?;
    fit_prepared(prepared, learner, options, watch)
}

/// The second half of [`train`]: data that is prepared already.
pub fn fit_prepared(
    prepared: Prepared,
    learner: &Learner,
    options: &TrainOptions,
    watch: &dyn Watch,
) -> Result<Trained> {
    let mut notes = prepared.notes.clone();
    let params = with_gamma(&prepared, learner, options, &mut notes)?;
    let fit = learner.make(&params)?;
    let fitted = fit.fit(prepared.x.view(), &prepared.problems, watch)?;
    let interrupted = fitted.reports.iter().any(|r| r.exit == Exit::Interrupted);
    let mut calibration = Vec::new();
    if let Some(kind) = options.calibration {
        if !interrupted {
            calibration = calibrate(fit.as_ref(), &prepared, kind, options, watch)?;
        }
        if calibration.is_empty() {
            notes.push("interrupted before the probabilities were fitted; the model gives none".into());
        }
    }
    let counts = prepared.labels.counts();
    let classifier = Classifier {
        learner: learner.name.into(),
        params: described(learner, &params, options),
        classes: prepared.labels.classes,
        scheme: prepared.scheme,
        model: fitted.model,
        scaling: prepared.scaling,
        columns: Vec::new(),
        calibration,
    };
    Ok(Trained { classifier, reports: fitted.reports, notes, counts })
}

/// The parameters with gamma as a number, where the kernel has one.
pub fn with_gamma(
    prepared: &Prepared,
    learner: &Learner,
    options: &TrainOptions,
    notes: &mut Vec<String>,
) -> Result<Map<String, Value>> {
    let mut params = options.params.clone();
    let kernel = options.kernel(learner);
    if matches!(kernel.as_deref(), Some("rbf" | "poly" | "sigmoid")) {
        let gamma = prepared.gamma(options.gamma.unwrap_or_default());
        if !(gamma > 0.0 && gamma.is_finite()) {
            return Err(Error::parameter("gamma", gamma, "a positive number"));
        }
        params.insert("gamma".into(), gamma.into());
    } else if options.gamma.is_some() {
        let who = kernel.map_or_else(|| format!("learner {}", learner.name), |k| format!("the {k} kernel"));
        notes.push(format!("gamma has no effect: {who} has none"));
    }
    Ok(params)
}

/// One calibration an output, from decisions of rows held out; none when interrupted.
fn calibrate(
    fit: &dyn Fit,
    prepared: &Prepared,
    kind: CalibrationKind,
    options: &TrainOptions,
    watch: &dyn Watch,
) -> Result<Vec<Calibration>> {
    let folds = stratified_folds(&prepared.labels, options.folds, options.seed)?;
    let (decision, reports) = held_out(fit, prepared.x.view(), &prepared.problems, &folds, watch)?;
    if reports.iter().any(|r| r.exit == Exit::Interrupted) {
        return Ok(Vec::new());
    }
    let width = prepared.problems.len();
    prepared
        .problems
        .iter()
        .enumerate()
        .map(|(j, problem)| {
            let (mut f, mut y, mut weights) = (Vec::new(), Vec::new(), Vec::new());
            for (i, label) in problem.y.iter().enumerate() {
                if *label != Label::Unknown && problem.cost[i] > 0.0 {
                    f.push(decision[i * width + j]);
                    y.push(*label == Label::Pos);
                    weights.push(problem.cost[i]);
                }
            }
            Calibration::fit(kind, &f, &y, &weights)
        })
        .collect()
}

/// Parameters for people: given, chosen, and the defaults that matter.
fn described(learner: &Learner, params: &Map<String, Value>, options: &TrainOptions) -> Value {
    let kernel = options.kernel(learner);
    let idle: &[&str] = match kernel.as_deref() {
        Some("linear" | "precomputed") => &["gamma", "degree", "coef0"],
        Some("rbf") => &["degree", "coef0"],
        Some("sigmoid") => &["degree"],
        _ => &[],
    };
    let mut out = Map::new();
    for p in learner.parameters.iter().filter(|p| !idle.contains(&p.name) && p.name != "cache_bytes") {
        let default = || serde_json::from_str(p.default).unwrap_or_else(|_| p.default.into());
        out.insert(p.name.into(), params.get(p.name).cloned().unwrap_or_else(default));
    }
    match &options.class_weight {
        ClassWeight::None => {}
        ClassWeight::Balanced => {
            out.insert("class_weight".into(), "balanced".into());
        }
        ClassWeight::Explicit(map) => {
            out.insert(
                "class_weight".into(),
                map.iter().map(|(k, v)| (k.clone(), Value::from(*v))).collect(),
            );
        }
    }
    Value::Object(out)
}

impl ScalingChoice {
    /// No scaling.
    pub const NONE: Self = Self::Named(ScalingName::None);

    /// The name a user writes.
    pub fn name(self) -> String {
        match self {
            Self::Named(name) => name.name().into(),
            Self::Divide(by) => format!("divide={by}"),
        }
    }

    /// Fits the scaling on training samples.
    pub fn fit(self, x: MatrixView<'_>) -> Result<Scaling> {
        match self {
            Self::Named(name) => Scaling::fit(name, x),
            Self::Divide(by) if by.is_normal() => {
                Ok(Scaling::Affine { name: self.name(), shift: Vec::new(), factor: vec![1.0 / by; x.cols()] })
            }
            Self::Divide(_) => {
                Err(Error::parameter("scale", self.name(), "divided by a number that is not 0"))
            }
        }
    }
}
