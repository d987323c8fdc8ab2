//! Specifications of the LASVM family: six estimators with one parameter struct.

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
    ParamSpec::flag("finish", "false", "whether to solve the dual problem of the kept points at the end");
const CLEAN_EVERY: ParamSpec = ParamSpec::count(
    "clean_every",
    0,
    "300",
    "number of samples between cleanings, which evict points that are not support vectors; 0 = never",
);
const CLEAN_KEEP: ParamSpec = ParamSpec::count(
    "clean_keep",
    0,
    "0",
    "maximum number of points that are not support vectors after a cleaning; 0 = max(100, support vectors / 10)",
);

/// Specification of `lasvm`: one sample at a time, with an intercept.
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
            "repeat steps while the largest violation of the optimality conditions is above this; 0 = one step per sample",
        ),
        ParamSpec::choice(
            "select",
            &["random", "active", "auto-active", "gradient"],
            "random",
            "how samples are chosen: random, active, auto-active or gradient",
        ),
        ParamSpec::count(
            "pool",
            0,
            "59",
            "number of random samples among which active and gradient choose; 0 = all",
        ),
        ParamSpec::count("labels", 0, "0", "maximum number of labels to read; 0 = no limit"),
        ParamSpec::choice(
            "stop",
            &["margin", "plateau", "cross-validated", "never"],
            "margin",
            "when to stop choosing samples: margin, plateau, cross-validated or never",
        ),
        ParamSpec::flag("curve", "false", "whether to save intermediate models for a learning curve"),
        ParamSpec::flag(
            "retrain",
            "false",
            "whether to keep all points and solve their problem after every sample, for comparison",
        ),
        ParamSpec::new(
            "virtual",
            ParamKind::Integer { min: 0, max: super::MAX_VIRTUAL as i64 },
            "0",
            "number of virtual points for each positive that becomes a support vector",
        ),
        ParamSpec::new(
            "n_neighbors",
            ParamKind::Integer { min: 1, max: 1000 },
            "5",
            "number of nearest positives from which virtual points are interpolated",
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

/// Specification of `lasvm-g`: steps until the duality gap is below a threshold.
pub static LASVM_G: EstimatorSpec = EstimatorSpec::supervised(
    "lasvm-g",
    "online support vector machine with steps controlled by the duality gap (no intercept)",
    &GAP_FAMILY,
);

/// Specification of `lasvm-nc`: ramp loss.
pub static LASVM_NC: EstimatorSpec = EstimatorSpec::supervised(
    "lasvm-nc",
    "online support vector machine with ramp loss, robust to wrong labels (no intercept)",
    &ramp_family(FINISH.default_of("true")),
);

/// Specification of `lasvm-i`: skips samples outside the ramp.
pub static LASVM_I: EstimatorSpec = EstimatorSpec::supervised(
    "lasvm-i",
    "online support vector machine that skips samples outside s ≤ y·f ≤ 1 (no intercept)",
    &ramp_family(FINISH),
);

/// Specification of `full-svm`: never evicts a point, for comparison.
pub static FULL_SVM: EstimatorSpec =
    EstimatorSpec::supervised("full-svm", "lasvm-g that never evicts a point (no intercept)", &GAP_FAMILY)
        .baseline();

/// Specification of `local-svc`: a new sample changes only the coefficients of its neighbors.
pub static LOCAL_SVC: EstimatorSpec = EstimatorSpec::supervised(
    "local-svc",
    "online support vector machine that updates only the neighbors of a new sample (any kernel)",
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
            "adaptive: add neighbors while the violation among all samples is larger than this",
        ),
        ParamSpec::float(
            "radius_factor",
            FloatRange::POSITIVE,
            "1",
            "radius: radius of the neighborhood in widths of the rbf kernel",
        ),
        ParamSpec::float(
            "change",
            FloatRange::POSITIVE,
            "0.01",
            "iterative: add neighbors while a coefficient moves by more than this fraction of its cost",
        ),
        ParamSpec::count("nearest", 1, "50", "nearest: number of neighbors"),
        EPOCHS,
        FINISH,
        MAX_POINTS,
        CACHE_BYTES,
        SEED,
    ],
);

/// Parameters of `lasvm-nc` and `lasvm-i`.
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
            "end of the ramp: samples with y·f below it are treated as mislabeled",
        ),
        ParamSpec::count("warm_up", 0, "50", "minimum number of support vectors before the ramp is applied"),
        EPOCHS,
        finish,
        CLEAN_EVERY,
        CLEAN_KEEP,
        MAX_POINTS,
        CACHE_BYTES,
        SEED,
    ]
}

/// Parameters of the neighborhood of `local-svc`, which are fields of [`LasvmParams::local`].
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
