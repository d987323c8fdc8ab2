//! From a table with class labels to a [`Classifier`]: scaling, multi-class, weights, calibration around any
//! learner of the registry.

use crate::data::{Label, Labels, Matrix, MatrixView};
use crate::error::{Error, Result};
use crate::estimators::manifold::deformed_kernel::{DeformedKernelParams, DeformedSpace};
use crate::estimators::online::lasvm::Online;
use crate::estimators::registry::{KernelOnly, read, with_kernel};
use crate::estimators::transductive::Semi;
use crate::estimators::{Fit, Learner, Targets, learner};
use crate::graph::Graph;
use crate::metrics::{Criterion, best_threshold};
use crate::model::{Calibration, CalibrationKind, Classifier, Scaling, ScalingName, Scheme};
use crate::pipeline::cross_validation::{PathTask, along_path, held_out, stratified_folds};
use crate::pipeline::preprocess::{Prepared, prepare};
use crate::solver::{Exit, Report, Watch};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

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
    /// No classes to tell apart: one function, learned from rows of one class alone. For learners of that kind; of others it is
    /// [`Multi::Auto`].
    OneClass,
}

/// Weights of classes, multiplied into the cost of their examples.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum ClassWeight {
    /// All 1.
    #[default]
    None,
    /// n / (k·nᶜ): every class weighs the same in sum.
    Balanced,
    /// n₁ / nᶜ, n₁ being the rows of the largest class: it keeps 1, and of two classes the smaller has the ratio.
    Ratio,
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
    /// Where to cut the decisions of two classes, from the same held-out decisions; `None` leaves it at 0.
    pub threshold: Option<Criterion>,
    /// Folds for calibration and threshold.
    pub folds: usize,
    /// Seed of everything random.
    pub seed: u64,
    /// Whether a semi-supervised learner is held against the labels alone, by cross-validation where they allow it.
    pub compare: bool,
    /// Deforms the kernel along a graph of all rows, labeled or not; for learners with a kernel.
    pub warp: Option<DeformedKernelParams>,
    /// A graph of the rows, for learners along one.
    pub graph: Option<Arc<Graph>>,
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
            threshold: None,
            folds: 5,
            seed: 1,
            compare: true,
            warp: None,
            graph: None,
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
    /// What an online learner tells beside it.
    pub online: Option<Online>,
    /// The labels a semi-supervised learner gave to the rows, and what the labels alone would give.
    pub semi: Option<Semi>,
    /// What was chosen or left out, for people.
    pub notes: Vec<String>,
    /// Labeled rows of each class.
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
    mut prepared: Prepared,
    learner: &Learner,
    options: &TrainOptions,
    watch: &dyn Watch,
) -> Result<Trained> {
    check_threshold(&prepared, options)?;
    let mut notes = prepared.notes.clone();
    let params = with_gamma(&prepared, learner, options, &mut notes)?;
    let warped = warp(&mut prepared, &params, learner, options, watch)?;
    let linear = warped.as_ref().map(|_| linear(&params));
    // a deformed space is along the graph already
    let graph = options.graph.as_ref().filter(|_| warped.is_none());
    let fit = learner.make_along(linear.as_ref().unwrap_or(&params), graph)?;
    let mut fitted = fit.fit(prepared.x.view(), &prepared.problems, watch)?;
    let mut described = described(learner, &params, options);
    if let Some(inside) = prepared.lone_class().filter(|_| learner.one_class()) {
        described.insert("positive".into(), inside.into());
    }
    let mut calibration = Vec::new();
    if options.calibration.is_some() || options.threshold.is_some() {
        let interrupted = fitted.reports.iter().any(|r| r.exit == Exit::Interrupted);
        let held = if interrupted { None } else { held(fit.as_ref(), &prepared, options, watch)? };
        match held {
            Some(mut held) => {
                if let Some(criterion) = options.threshold {
                    let threshold = threshold(&prepared, &held, criterion)?;
                    fitted.model.shift(-threshold);
                    held.iter_mut().for_each(|f| *f -= threshold);
                    described.insert("threshold".into(), criterion.name().into());
                    described.insert("threshold_value".into(), threshold.into());
                }
                if let Some(kind) = options.calibration {
                    calibration = calibrate(&prepared, &held, kind)?;
                }
            }
            None => notes.extend(missing(options)),
        }
    }
    let semi = match fitted.transduced.take() {
        Some(transduced) => Some(Semi::new(transduced, fit.as_ref(), &prepared, options, watch)?),
        None => None,
    };
    if let Some((warped, x)) = &warped {
        fitted.model = warped.unfold(x.view(), &fitted.model)?;
    }
    let counts = prepared.labels.counts();
    let classifier = Classifier {
        learner: learner.name.into(),
        params: Value::Object(described),
        classes: prepared.labels.classes,
        scheme: prepared.scheme,
        model: fitted.model,
        scaling: prepared.scaling,
        columns: Vec::new(),
        calibration,
    };
    Ok(Trained { classifier, reports: fitted.reports, notes, counts, online: fitted.online, semi })
}

/// Puts the rows into the deformed space, if one is asked for; gives back what leads out of it, and the rows.
fn warp(
    prepared: &mut Prepared,
    params: &Map<String, Value>,
    learner: &Learner,
    options: &TrainOptions,
    watch: &dyn Watch,
) -> Result<Option<(DeformedSpace, Matrix)>> {
    let Some(warp) = &options.warp else { return Ok(None) };
    let Some(warped) = deformed(warp, prepared.x.view(), params, learner, options, watch)? else {
        return Err(Error::Data("interrupted before the graph was made; there is no partial answer".into()));
    };
    let x = std::mem::replace(&mut prepared.x, warped.matrix()?);
    Ok(Some((warped, x)))
}

/// The space of the learner's kernel deformed along a graph of all rows; none if `watch` ends the search for neighbors.
fn deformed(
    warp: &DeformedKernelParams,
    x: MatrixView<'_>,
    params: &Map<String, Value>,
    learner: &Learner,
    options: &TrainOptions,
    watch: &dyn Watch,
) -> Result<Option<DeformedSpace>> {
    if !learner.takes("kernel") || learner.takes("gamma_i") || learner.takes("views") {
        let who = if learner.takes("kernel") { "has its own geometry" } else { "has no kernel" };
        return Err(Error::parameter(
            "warp",
            warp.ratio,
            format!("left out: learner {} {who}", learner.name),
        ));
    }
    let kernel =
        read::<KernelOnly>(learner.name, &with_kernel(&kernel_of(params, learner, options))?)?.kernel;
    warp.warp(x, kernel, options.graph.as_deref(), options.seed, watch)
}

/// [`along_path`] in the space that `options.warp` deforms, if it is asked for: made once for all folds and values, or
/// for each value of a parameter of the kernel.
pub fn along_warped_path(
    learner: &Learner,
    task: &PathTask<'_>,
    options: &TrainOptions,
    watch: &dyn Watch,
) -> Result<Vec<Vec<f64>>> {
    let Some(warp) = &options.warp else { return along_path(learner, task, watch) };
    let together = if OF_KERNEL.contains(&task.name) { 1 } else { task.values.len().max(1) };
    let mut out = Vec::with_capacity(task.values.len());
    for values in task.values.chunks(together) {
        let params = task.at(values[0]);
        let Some(warped) = deformed(warp, task.x, &params, learner, options, watch)? else { break };
        let (x, params) = (warped.matrix()?, linear(&params));
        let inside = PathTask { params: &params, values, x: x.view(), graph: None, ..*task };
        let found = along_path(learner, &inside, watch)?;
        let interrupted = found.len() < values.len();
        out.extend(found);
        if interrupted {
            break;
        }
    }
    Ok(out)
}

const OF_KERNEL: [&str; 4] = ["kernel", "gamma", "degree", "coef0"];

/// The parameters of the kernel alone, the kernel by name.
fn kernel_of(params: &Map<String, Value>, learner: &Learner, options: &TrainOptions) -> Map<String, Value> {
    let given = params.iter().filter(|(name, _)| OF_KERNEL.contains(&name.as_str()));
    let mut out: Map<String, Value> = given.map(|(name, value)| (name.clone(), value.clone())).collect();
    if let Some(kernel) = options.kernel(learner) {
        out.insert("kernel".into(), kernel.into());
    }
    out
}

/// The same parameters with a linear kernel.
fn linear(params: &Map<String, Value>) -> Map<String, Value> {
    let others = params.iter().filter(|(name, _)| !OF_KERNEL.contains(&name.as_str()));
    let mut out: Map<String, Value> = others.map(|(name, value)| (name.clone(), value.clone())).collect();
    out.insert("kernel".into(), "linear".into());
    out
}

/// Refuses thresholds of many classes and shares that are none, before any work is done.
fn check_threshold(prepared: &Prepared, options: &TrainOptions) -> Result<()> {
    match options.threshold {
        Some(Criterion::Rate(share)) if !(share > 0.0 && share < 1.0) => Err(Error::parameter(
            "threshold",
            format!("rate={share}"),
            "a rate between 0 and 1 (both excluded)",
        )),
        Some(criterion) if prepared.scheme != Scheme::Binary => Err(Error::parameter(
            "threshold",
            criterion.name(),
            format!("left out: there are {} classes, and it needs two", prepared.labels.classes.len()),
        )),
        _ => Ok(()),
    }
}

/// What an interruption before the held-out decisions takes away.
fn missing(options: &TrainOptions) -> Vec<String> {
    let threshold = options.threshold.map(|_| "interrupted before the threshold was chosen; it stays at 0");
    let probability =
        options.calibration.map(|_| "interrupted before the probabilities were fitted; the model gives none");
    threshold.into_iter().chain(probability).map(String::from).collect()
}

/// The parameters with gamma as a number, where the kernel has one.
pub fn with_gamma(
    prepared: &Prepared,
    learner: &Learner,
    options: &TrainOptions,
    notes: &mut Vec<String>,
) -> Result<Map<String, Value>> {
    let mut params = options.params.clone();
    if learner.takes("seed") {
        params.entry("seed").or_insert_with(|| options.seed.into());
    }
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

/// Decisions of all rows by models that did not see them (rows × problems); none when interrupted.
fn held(
    fit: &dyn Fit,
    prepared: &Prepared,
    options: &TrainOptions,
    watch: &dyn Watch,
) -> Result<Option<Vec<f64>>> {
    let folds = stratified_folds(&prepared.labels, options.folds, options.seed)?;
    let (decision, reports) = held_out(fit, prepared.x.view(), &prepared.problems, &folds, watch)?;
    Ok((!reports.iter().any(|r| r.exit == Exit::Interrupted)).then_some(decision))
}

/// Where to cut the decisions of the one problem. Class weights are a means of training and do not count here;
/// weights of rows do.
fn threshold(prepared: &Prepared, held: &[f64], criterion: Criterion) -> Result<f64> {
    let (mut f, mut y, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    for problem in &prepared.problems {
        for i in problem.used() {
            let positive = problem.y[i] == Label::Pos;
            f.push(held[i]);
            y.push(positive);
            weights.push(problem.cost[i] / prepared.class_weight.get(usize::from(positive)).unwrap_or(&1.0));
        }
    }
    best_threshold(&f, &y, &weights, criterion)
        .map(|best| best.value)
        .ok_or_else(|| Error::Data("a threshold needs held-out rows of both classes".into()))
}

/// One calibration an output, from decisions of rows held out.
fn calibrate(prepared: &Prepared, held: &[f64], kind: CalibrationKind) -> Result<Vec<Calibration>> {
    let width = prepared.problems.len();
    let one = |(j, problem): (usize, &Targets)| {
        let used = problem.used();
        let f: Vec<f64> = used.iter().map(|i| held[i * width + j]).collect();
        let y: Vec<bool> = used.iter().map(|&i| problem.y[i] == Label::Pos).collect();
        let weights: Vec<f64> = used.iter().map(|&i| problem.cost[i]).collect();
        Calibration::fit(kind, &f, &y, &weights)
    };
    prepared.problems.iter().enumerate().map(one).collect()
}

/// Parameters for people: given, chosen, and the defaults that matter.
pub(crate) fn described(
    learner: &Learner,
    params: &Map<String, Value>,
    options: &TrainOptions,
) -> Map<String, Value> {
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
    if let Some(warp) = &options.warp {
        out.insert("warp".into(), serde_json::to_value(warp).unwrap_or_default());
    }
    match &options.class_weight {
        ClassWeight::None => {}
        ClassWeight::Balanced => {
            out.insert("class_weight".into(), "balanced".into());
        }
        ClassWeight::Ratio => {
            out.insert("class_weight".into(), "ratio".into());
        }
        ClassWeight::Explicit(map) => {
            out.insert(
                "class_weight".into(),
                map.iter().map(|(k, v)| (k.clone(), Value::from(*v))).collect(),
            );
        }
    }
    out
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
