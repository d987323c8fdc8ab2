//! From a table with class labels to a [`Classifier`]: scaling, multi-class reduction, weights and calibration for any
//! learner of the registry.

pub use crate::pipeline::options::{Gamma, ScalingChoice, TrainOptions};

use crate::data::{Label, Labels, Matrix, MatrixView};
use crate::error::{Error, Result};
use crate::estimators::manifold::deformed_kernel::{DeformedKernelParams, DeformedSpace};
use crate::estimators::online::lasvm::Online;
use crate::estimators::registry::{OF_KERNEL, nest_kernel};
use crate::estimators::{EstimatorParams, EstimatorSpec, Fit, Targets, estimator};
use crate::kernel::Kernel;
use crate::metrics::{Criterion, best_threshold};
use crate::model::{Calibration, CalibrationKind, Classifier, InputSpec, MulticlassScheme};
use crate::params::ParamValues;
use crate::params::structs::{from_values, to_values};
use crate::pipeline::comparison::Semi;
use crate::pipeline::cross_validation::{PathTask, along_path, held_out, stratified_folds};
use crate::pipeline::preprocess::{Prepared, prepare};
use crate::solver::{Exit, Report, Watch};
use serde::Deserialize;

/// Result of a training.
#[derive(Debug, Clone)]
pub struct Trained {
    /// The classifier.
    pub classifier: Classifier,
    /// One report per output.
    pub reports: Vec<Report>,
    /// Additional results of an online learner.
    pub online: Option<Online>,
    /// The labels that a semi-supervised learner assigned to the rows, and the supervised baseline.
    pub semi: Option<Semi>,
    /// Messages about choices made and rows left out, for display.
    pub notes: Vec<String>,
    /// Number of labeled rows of each class.
    pub counts: Vec<usize>,
}

/// Trains a classifier. If the solver does not converge, the reports say so; this is not an error.
pub fn train(x: Matrix, labels: &Labels, options: &TrainOptions, watch: &dyn Watch) -> Result<Trained> {
    let learner = estimator(&options.learner)?;
    learner.make(&options.params)?; // invalid parameters are refused before any work is done
    let prepared = prepare(x, labels, learner, options)?;
    fit_prepared(prepared, learner, options, watch)
}

/// The second half of [`train`], for prepared data.
pub fn fit_prepared(
    mut prepared: Prepared,
    learner: &EstimatorSpec,
    options: &TrainOptions,
    watch: &dyn Watch,
) -> Result<Trained> {
    check_threshold(&prepared, options)?;
    let mut notes = prepared.notes.clone();
    let params = with_gamma(&prepared, learner, options, &mut notes)?;
    let warped = warp(&mut prepared, &params, learner, options, watch)?;
    let linear = warped.as_ref().map(|_| with_linear_kernel(&params));
    // a deformed space already uses the graph
    let graph = options.graph.as_ref().filter(|_| warped.is_none());
    let fit = learner.make_along(linear.as_ref().unwrap_or(&params), graph)?;
    let mut fitted = fit.fit(prepared.x.view(), &prepared.problems, watch)?;
    let mut described = described(&learner.make(&params)?, options)?;
    let positive = prepared.lone_class().filter(|_| learner.one_class);
    let mut calibration = Vec::new();
    if options.calibration.is_some() || options.threshold.is_some() {
        let interrupted = fitted.reports.iter().any(|r| r.exit == Exit::Interrupted);
        let held =
            if interrupted { None } else { held_out_decisions(fit.as_ref(), &prepared, options, watch)? };
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
            None => notes.extend(interruption_notes(options)),
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
        params: described,
        classes: prepared.labels.classes,
        scheme: prepared.scheme,
        model: fitted.model,
        scaling: prepared.scaling,
        input: InputSpec::default().with_positive(positive),
        calibration,
    };
    Ok(Trained { classifier, reports: fitted.reports, notes, counts, online: fitted.online, semi })
}

/// Moves the rows into the deformed space if `options.warp` asks for one; returns the space and the original rows.
fn warp(
    prepared: &mut Prepared,
    params: &ParamValues,
    learner: &EstimatorSpec,
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

/// The space of the learner's kernel deformed along a graph of all rows; `None` if `watch` ends the neighbor search.
fn deformed(
    warp: &DeformedKernelParams,
    x: MatrixView<'_>,
    params: &ParamValues,
    learner: &EstimatorSpec,
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
    let kernel = kernel_of(params, learner)?;
    warp.warp(x, kernel, options.graph.as_deref(), options.seed, watch)
}

/// [`along_path`], in the deformed space if `options.warp` asks for one. The space is computed once for all folds and
/// values, or once per value if the path varies a kernel parameter.
pub fn along_warped_path(
    learner: &EstimatorSpec,
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
        let (x, params) = (warped.matrix()?, with_linear_kernel(&params));
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

/// The kernel in the parameters of an estimator.
fn kernel_of(params: &ParamValues, learner: &EstimatorSpec) -> Result<Kernel> {
    #[derive(Deserialize)]
    struct KernelOnly {
        kernel: Kernel,
    }
    let mut values = learner.complete(params)?;
    values.retain(|name, _| OF_KERNEL.contains(&name.as_str()));
    nest_kernel(&mut values);
    let read: KernelOnly = from_values(&values)
        .map_err(|e| Error::Data(format!("parameters of learner {}: {e}", learner.name)))?;
    Ok(read.kernel)
}

/// The same parameters with a linear kernel.
fn with_linear_kernel(params: &ParamValues) -> ParamValues {
    let others = params.iter().filter(|(name, _)| !OF_KERNEL.contains(&name.as_str()));
    let mut out: ParamValues = others.map(|(name, value)| (name.clone(), value.clone())).collect();
    out.insert("kernel".into(), "linear".into());
    out
}

/// Returns an error for thresholds with more than two classes and for rates outside (0, 1), before any work is done.
fn check_threshold(prepared: &Prepared, options: &TrainOptions) -> Result<()> {
    match options.threshold {
        Some(Criterion::Rate(share)) if !(share > 0.0 && share < 1.0) => Err(Error::parameter(
            "threshold",
            format!("rate={share}"),
            "a rate between 0 and 1 (both excluded)",
        )),
        Some(criterion) if prepared.scheme != MulticlassScheme::Binary => Err(Error::parameter(
            "threshold",
            criterion.name(),
            format!("left out: there are {} classes, and it needs two", prepared.labels.classes.len()),
        )),
        _ => Ok(()),
    }
}

/// Notes on the results that an interruption before the held-out decisions prevents.
fn interruption_notes(options: &TrainOptions) -> Vec<String> {
    let threshold = options.threshold.map(|_| "interrupted before the threshold was chosen; it stays at 0");
    let probability =
        options.calibration.map(|_| "interrupted before the probabilities were fitted; the model gives none");
    threshold.into_iter().chain(probability).map(String::from).collect()
}

/// The parameters with gamma as a number, if the kernel has one.
pub fn with_gamma(
    prepared: &Prepared,
    learner: &EstimatorSpec,
    options: &TrainOptions,
    notes: &mut Vec<String>,
) -> Result<ParamValues> {
    let mut params = options.params.clone();
    if learner.takes("seed") {
        params.entry("seed".into()).or_insert_with(|| options.seed.into());
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

/// Decision values of all rows by models trained without them (rows × problems); `None` if interrupted.
fn held_out_decisions(
    fit: &dyn Fit,
    prepared: &Prepared,
    options: &TrainOptions,
    watch: &dyn Watch,
) -> Result<Option<Vec<f64>>> {
    let folds = stratified_folds(&prepared.labels, options.folds, options.seed)?;
    let (decision, reports) = held_out(fit, prepared.x.view(), &prepared.problems, &folds, watch)?;
    Ok((!reports.iter().any(|r| r.exit == Exit::Interrupted)).then_some(decision))
}

/// The threshold on the decision values of the single problem. Class weights are ignored, because they only serve
/// training; row weights count.
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

/// One calibration per output, from decision values of held-out rows.
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

/// The parameters of a training for display: those of the estimator (given, chosen or default), the deformation and the
/// class weights. The cache size is omitted.
pub(crate) fn described(params: &EstimatorParams, options: &TrainOptions) -> Result<ParamValues> {
    let mut out = params.values()?;
    out.remove("cache_bytes");
    if let Some(warp) = &options.warp {
        let values =
            to_values(warp).map_err(|e| Error::Data(format!("parameters of the deformation: {e}")))?;
        out.insert("warp".into(), values.into());
    }
    if let Some(weight) = options.class_weight.value() {
        out.insert("class_weight".into(), weight);
    }
    Ok(out)
}
