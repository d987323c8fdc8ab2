//! Specifications of the LASVM family: one struct of parameters, six estimators.

use super::{LasvmParams, LasvmVariant};
use crate::estimators::registry::{EstimatorSpec, Parameters};
use crate::params::shared::{C, CACHE_BYTES, COEF0, DEGREE, EPOCHS, GAMMA, KERNEL, SEED, TOLERANCE};
use crate::params::{End, FloatRange, ParamKind, ParamSpec, ParamValue, ParamValues};

const MAX_POINTS: ParamSpec = ParamSpec::new(
    "max_points",
    ParamKind::Integer { min: 2, max: 1 << 24 },
    "100000",
    "maximum number of points kept, support vectors or not",
);
const FINISH: ParamSpec =
    ParamSpec::flag("finish", "false", "whether to solve the problem of the points at the end");
const CLEAN_EVERY: ParamSpec =
    ParamSpec::count("clean_every", 0, "300", "samples between cleanings; 0 = none");
const CLEAN_KEEP: ParamSpec = ParamSpec::count(
    "clean_keep",
    0,
    "0",
    "idle points a cleaning leaves; 0 = 100 or a tenth of the support vectors",
);

/// The estimator that learns one sample at a time, with an intercept.
pub static LASVM: EstimatorSpec = EstimatorSpec::supervised(
    "lasvm",
    "support vector machine that learns one sample at a time (any kernel)",
    &[
        KERNEL,
        GAMMA,
        DEGREE,
        COEF0,
        C,
        TOLERANCE,
        EPOCHS,
        FINISH.default_of("true"),
        ParamSpec::float(
            "delta_max",
            FloatRange::NOT_NEGATIVE,
            "0",
            "step on while the extremes are further apart; 0 = one step per sample",
        ),
        ParamSpec::choice(
            "select",
            &["random", "active", "auto-active", "gradient"],
            "random",
            "how samples are chosen: random, active, auto-active or gradient",
        ),
        ParamSpec::count("pool", 0, "59", "samples among which active and gradient choose; 0 = all"),
        ParamSpec::count("labels", 0, "0", "maximum number of labels to read; 0 = no limit"),
        ParamSpec::choice(
            "stop",
            &["margin", "plateau", "cross-validated", "never"],
            "margin",
            "when to stop choosing: margin, plateau, cross-validated or never",
        ),
        ParamSpec::flag("curve", "false", "whether to keep models along the way"),
        ParamSpec::flag("retrain", "false", "whether to solve anew after every sample, to compare with"),
        ParamSpec::new(
            "virtual",
            ParamKind::Integer { min: 0, max: super::MAX_VIRTUAL as i64 },
            "0",
            "virtual points for each positive that becomes a support vector",
        ),
        ParamSpec::new(
            "n_neighbors",
            ParamKind::Integer { min: 1, max: 1000 },
            "5",
            "nearest positives among which virtual points are made",
        ),
        MAX_POINTS,
        CACHE_BYTES,
        SEED,
    ],
);

const GAP_FAMILY: [ParamSpec; 13] = [
    KERNEL,
    GAMMA,
    DEGREE,
    COEF0,
    C,
    TOLERANCE,
    EPOCHS,
    FINISH,
    CLEAN_EVERY,
    CLEAN_KEEP,
    MAX_POINTS,
    CACHE_BYTES,
    SEED,
];

/// The estimator whose steps follow the duality gap.
pub static LASVM_G: EstimatorSpec = EstimatorSpec::supervised(
    "lasvm-g",
    "online support vector machine whose steps follow the duality gap (no intercept)",
    &GAP_FAMILY,
);

/// The estimator with ramp loss.
pub static LASVM_NC: EstimatorSpec = EstimatorSpec::supervised(
    "lasvm-nc",
    "online support vector machine with ramp loss: wrong labels do not pull (no intercept)",
    &ramp_family(FINISH.default_of("true")),
);

/// The estimator that skips samples outside the ramp.
pub static LASVM_I: EstimatorSpec = EstimatorSpec::supervised(
    "lasvm-i",
    "online support vector machine that passes over samples outside the margin (no intercept)",
    &ramp_family(FINISH),
);

/// The estimator that never drops a point, for comparison.
pub static FULL_SVM: EstimatorSpec =
    EstimatorSpec::supervised("full-svm", "lasvm-g that never drops a point (no intercept)", &GAP_FAMILY)
        .baseline();

/// The estimator that learns each sample among its neighbors.
pub static LOCAL_SVC: EstimatorSpec = EstimatorSpec::supervised(
    "local-svc",
    "support vector machine that learns each sample among its neighbors (any kernel)",
    &[
        KERNEL,
        GAMMA,
        DEGREE,
        COEF0,
        C,
        TOLERANCE,
        ParamSpec::choice(
            "mode",
            &["adaptive", "radius", "iterative", "radius-iterative", "nearest", "full"],
            "adaptive",
            "which samples are updated: adaptive, radius, iterative, radius-iterative, nearest or full (all samples)",
        ),
        ParamSpec::float(
            "gap",
            FloatRange::POSITIVE,
            "0.2",
            "adaptive: neighbors are added while the violation among all samples is larger",
        ),
        ParamSpec::float(
            "radius_factor",
            FloatRange::POSITIVE,
            "1",
            "radius: length of the radius in widths of the rbf kernel",
        ),
        ParamSpec::float(
            "change",
            FloatRange::POSITIVE,
            "0.01",
            "iterative: neighbors are added while a coefficient moves more, a share of its cost",
        ),
        ParamSpec::count("nearest", 1, "50", "nearest: number of neighbors"),
        EPOCHS,
        FINISH,
        MAX_POINTS,
        CACHE_BYTES,
        SEED,
    ],
);

const fn ramp_family(finish: ParamSpec) -> [ParamSpec; 15] {
    [
        KERNEL,
        GAMMA,
        DEGREE,
        COEF0,
        C,
        TOLERANCE,
        ParamSpec::float(
            "s",
            FloatRange::new(End::Unbounded, End::Open(1.0)),
            "-1",
            "end of the ramp: samples with y·f below it are taken for mislabeled",
        ),
        ParamSpec::count("warm_up", 0, "50", "support vectors before the ramp is trusted"),
        EPOCHS,
        finish,
        CLEAN_EVERY,
        CLEAN_KEEP,
        MAX_POINTS,
        CACHE_BYTES,
        SEED,
    ]
}

/// Parameters of the neighborhood of `local-svc`, which the struct has in a field of their own.
const LOCAL: [&str; 5] = ["mode", "gap", "radius_factor", "change", "nearest"];

impl Parameters for LasvmParams {
    fn nest(values: &mut ParamValues) {
        let local: ParamValues = LOCAL.iter().filter_map(|name| values.remove_entry(*name)).collect();
        values.insert("local".into(), local.into());
    }

    fn flatten(values: &mut ParamValues) {
        if let Some(ParamValue::Map(local)) = values.remove("local") {
            values.extend(local);
        }
    }

    fn for_estimator(self, name: &str) -> Self {
        let variant = LasvmVariant::of(name).unwrap_or(self.variant);
        Self { variant, ..self }
    }
}
