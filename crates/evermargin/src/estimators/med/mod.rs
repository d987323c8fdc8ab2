//! `seq-med` and `seq-lapmed`: sequential maximum entropy discrimination, which updates a Gaussian posterior over functions
//! batch by batch (Hou & Hero 2018).
//!
//! Problem: before a batch θ ~ N(G⁻¹h, G⁻¹); before the first batch θ ~ N(0, I). The batch has n rows, l of them labeled,
//! features Φ and a graph with the Laplacian L. After the batch the posterior has the precision G + 2βΦᵀLΦ and the
//! information vector h + Φ_lᵀα, where the signed α of the labeled rows solve
//!
//! ```text
//! max tᵀα − ½αᵀKα,   K = Φ_lG⁻¹Φ_lᵀ with the new G,   t = y − Φ_lG⁻¹h − b,   0 ≤ yα ≤ C
//! ```
//!
//! (theorem 2; the old scores use the new G, because unlabeled rows change the old function, too). α of past batches are
//! never changed. With β = 0, G stays I and this is a passive-aggressive learner of batches (theorem 1).
//!
//! With `gamma_a` and `gamma_i` of the Laplacian SVM, C = 1/(2lγ_A) and 2β = γ_I/(γ_An²) for each batch (section 3 of the
//! source).
//!
//! Departures:
//! - The hinge loss replaces the source's log barrier ([`Loss::Box`]; the barrier learns nothing if C ≤ 1).
//! - The intercept has its own prior, b ~ N(b, σ²): K + σ² replaces K, there is no condition Σα = 0, and b becomes b + σ²Σα.
//!   Batches of one class are therefore used, too, and no median of residuals is needed ([`Intercept`]).
//! - The inverse of the Laplacian, which does not exist, is never computed.
//! - Features ([`Space`]) are the columns of the data or kernel features of landmarks, so memory and prediction time are
//!   bounded. The source's recursion over all points ([`recursion`]) and a corrected form of its spectral approximation
//!   ([`spectral`]) are available for comparison.
//! - Forgetting, batches without labels, several classes and the variance of a prediction are additions.
mod checkpoint;
mod features;
mod fit;
pub mod recursion;
mod space;
pub mod spectral;
mod state;

pub use crate::solver::log_barrier::Loss;
pub use checkpoint::{Posterior, Saved};
pub use features::Features;
pub use fit::LabelsOnly;
pub(crate) use fit::joined;
pub use space::Space;
pub use state::SeqMed;

use super::manifold::penalty::PenaltyParams;
use crate::error::{Error, Result};
use crate::estimators::registry::{EstimatorSpec, Parameters};
use crate::kernel::Kernel;
use crate::params::shared::{
    C, COEF0, DEGREE, EDGE_WEIGHTS, GAMMA, GAMMA_A, GAMMA_I, KERNEL, LANDMARK_SEED, METRIC, N_NEIGHBORS,
    NORMALIZED, POWER, RADIUS, SEARCH, TOLERANCE, WIDTH,
};
use crate::params::{FloatRange, ParamKind, ParamSpec};
use serde::{Deserialize, Serialize};

/// Representation of the posterior.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// Over features: the columns of the data or kernel features of landmarks.
    #[default]
    Bounded,
    /// Over all rows seen so far, by the exact recursion.
    Exact,
    /// Over all rows, with the source's approximation of past batches by averages of singular vectors.
    Spectral,
}

/// Treatment of the intercept b.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Intercept {
    /// Updated by each batch, with the prior N(b, σ²) before it.
    #[default]
    Prior,
    /// Determined from scratch in each batch with two classes, as in the source.
    Free,
    /// No intercept: b = 0.
    None,
}

/// Weight of the graph along the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Schedule {
    /// The same for each batch.
    #[default]
    Constant,
    /// β/t for batch t.
    Inverse,
}

const MED_C: ParamSpec = C.range_of(FloatRange::closed(1e-15, 1e15));
const MED_GAMMA_A: ParamSpec = GAMMA_A
    .range_of(FloatRange::closed(0.0, 1e15))
    .default_of("0")
    .help_of("weight of |f|² as for lapsvm, C = 1/(2·labels·gamma_a); 0 = c and beta");
const LOSS: ParamSpec = ParamSpec::choice(
    "loss",
    &["box", "barrier"],
    "box",
    "loss of labeled rows: box = hinge, or barrier = log barrier of the source, which needs c above 1",
);
const FORM: ParamSpec = ParamSpec::choice(
    "form",
    &["bounded", "exact", "spectral"],
    "bounded",
    "representation of the model: bounded = columns or landmarks; exact and spectral keep all rows, for comparison",
);
const INTERCEPT: ParamSpec = ParamSpec::choice(
    "intercept",
    &["prior", "free", "none"],
    "prior",
    "intercept: prior = updated by each batch, free = determined from scratch in each batch, or none",
);
const INTERCEPT_VARIANCE: ParamSpec = ParamSpec::float(
    "intercept_variance",
    FloatRange::closed(0.0, 1e15),
    "0",
    "prior variance of the intercept in each batch; 0 = mean of K(x,x)",
);
const RETENTION: ParamSpec = ParamSpec::float(
    "retention",
    FloatRange::above(0.0, 1.0),
    "1",
    "factor that multiplies the weight of all earlier batches before each batch; 1 disables forgetting",
);
const MED_N_LANDMARKS: ParamSpec = ParamSpec::new(
    "n_landmarks",
    ParamKind::Integer { min: 1, max: MAX_FEATURES as i64 },
    "300",
    "maximum number of landmarks on which the model is expanded",
);
const BATCH: ParamSpec =
    ParamSpec::count("batch", 1, "100", "number of rows per batch, in the order of the table");
const MED_TOLERANCE: ParamSpec = TOLERANCE
    .range_of(FloatRange::closed(1e-12, 0.999))
    .default_of("0.0001")
    .help_of("largest violation of the optimality conditions of a batch");

/// The specification of `seq-med`.
pub static SEQ_MED: EstimatorSpec = EstimatorSpec::supervised(
    "seq-med",
    "maximum entropy discrimination that learns batch by batch in bounded memory",
    &[
        KERNEL,
        GAMMA,
        DEGREE,
        COEF0,
        MED_C,
        MED_GAMMA_A,
        LOSS,
        FORM,
        INTERCEPT,
        INTERCEPT_VARIANCE,
        RETENTION,
        MED_N_LANDMARKS,
        BATCH,
        MED_TOLERANCE,
        LANDMARK_SEED,
    ],
);

/// The specification of `seq-lapmed`.
pub static SEQ_LAPMED: EstimatorSpec = EstimatorSpec::semi_supervised(
    "seq-lapmed",
    "maximum entropy discrimination with a graph of each batch, batch by batch in bounded memory (semi-supervised)",
    &[
        KERNEL,
        GAMMA,
        DEGREE,
        COEF0,
        MED_C,
        ParamSpec::float(
            "beta",
            FloatRange::closed(0.0, 1e15),
            "0.5",
            "weight of the variation along the graph of a batch; 0 = labels alone",
        ),
        MED_GAMMA_A,
        GAMMA_I.default_of("0").help_of("with gamma_a: weight of the variation as for lapsvm"),
        ParamSpec::choice(
            "schedule",
            &["constant", "inverse"],
            "constant",
            "weight of the graphs: constant, or inverse = beta/t for batch t",
        ),
        LOSS,
        FORM,
        INTERCEPT,
        INTERCEPT_VARIANCE,
        RETENTION,
        N_NEIGHBORS,
        RADIUS,
        SEARCH,
        METRIC,
        EDGE_WEIGHTS,
        WIDTH,
        NORMALIZED,
        POWER,
        MED_N_LANDMARKS,
        BATCH,
        MED_TOLERANCE,
        LANDMARK_SEED,
    ],
);

impl Parameters for MedParams {}

impl Parameters for LabelsOnly {
    fn for_estimator(self, _name: &str) -> Self {
        Self(self.0.labels_alone())
    }
}

/// Parameters of [`seq-med` and `seq-lapmed`](self).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MedParams {
    /// The kernel.
    pub kernel: Kernel,
    /// Cost of a margin violation, times the weight of the example; without `gamma_a`.
    pub c: f64,
    /// Weight β of the variation along the graph of a batch, θᵀΦᵀLΦθ; without `gamma_a`. 0 leaves unlabeled rows out.
    pub beta: f64,
    /// γ_A of `lapsvm`, from which C and β follow; 0 means that `c` and `beta` are given.
    pub gamma_a: f64,
    /// γ_I of `lapsvm`, used with `gamma_a`.
    pub gamma_i: f64,
    /// Loss of labeled rows.
    pub loss: Loss,
    /// Representation of the posterior.
    pub form: Form,
    /// Treatment of the intercept.
    pub intercept: Intercept,
    /// Prior variance σ² of the intercept; 0 means the mean of K(x, x) in the first batch.
    pub intercept_variance: f64,
    /// Forgetting factor ρ: before each batch G becomes ρG + (1 − ρ)I and h becomes ρh; 1 disables forgetting.
    pub retention: f64,
    /// Weight β of the graph along the stream.
    pub schedule: Schedule,
    /// The graph of a batch.
    #[serde(flatten)]
    pub penalty: PenaltyParams,
    /// Maximum number of landmarks.
    pub n_landmarks: usize,
    /// Number of rows per batch when a whole table is learned.
    pub batch: usize,
    /// Largest violation of the optimality conditions of a batch.
    pub tolerance: f64,
    /// Random seed for the choice of landmarks.
    pub seed: u64,
}

impl Default for MedParams {
    fn default() -> Self {
        Self {
            kernel: Kernel::Rbf { gamma: 1.0 },
            c: 1.0,
            beta: 0.5,
            gamma_a: 0.0,
            gamma_i: 0.0,
            loss: Loss::Box,
            form: Form::Bounded,
            intercept: Intercept::Prior,
            intercept_variance: 0.0,
            retention: 1.0,
            schedule: Schedule::Constant,
            penalty: PenaltyParams::default(),
            n_landmarks: 300,
            batch: 100,
            tolerance: 1e-4,
            seed: 1,
        }
    }
}

/// Maximum number of features (landmarks or columns) with a precision matrix.
const MAX_FEATURES: usize = 5_000;

impl MedParams {
    /// Checks that all parameters are in range and consistent.
    pub fn check(&self) -> Result<()> {
        self.kernel.check_of_samples()?;
        self.penalty.check()?;
        let within = |name, value: f64, low: f64, high: f64, allowed: &str| {
            if (low..=high).contains(&value) { Ok(()) } else { Err(Error::parameter(name, value, allowed)) }
        };
        within("c", self.c, 1e-15, 1e15, "a number from 1e-15 to 1e15")?;
        within("beta", self.beta, 0.0, 1e15, "0 (labels alone) or a number up to 1e15")?;
        within("gamma_a", self.gamma_a, 0.0, 1e15, "0 (c and beta are given) or a number up to 1e15")?;
        within("gamma_i", self.gamma_i, 0.0, 1e15, "0 (labels alone) or a number up to 1e15")?;
        within(
            "intercept_variance",
            self.intercept_variance,
            0.0,
            1e15,
            "0 (mean of K(x, x)) or a number up to 1e15",
        )?;
        within("tolerance", self.tolerance, 1e-12, 0.999, "a number from 1e-12 to 0.999")?;
        if !(self.retention > 0.0 && self.retention <= 1.0) {
            return Err(Error::parameter(
                "retention",
                self.retention,
                "above 0, at most 1 (nothing is forgotten)",
            ));
        }
        if self.retention < 1.0 && self.form != Form::Bounded {
            return Err(Error::parameter("retention", self.retention, "1 unless form is bounded"));
        }
        if self.penalty.class_wise {
            return Err(Error::parameter("class_wise", true, "false for sequential learners"));
        }
        if self.gamma_a == 0.0 && self.gamma_i > 0.0 {
            return Err(Error::parameter("gamma_i", self.gamma_i, "0 without gamma_a"));
        }
        if !(1..=MAX_FEATURES).contains(&self.n_landmarks) {
            let allowed = format!("a whole number from 1 to {MAX_FEATURES}");
            return Err(Error::parameter("n_landmarks", self.n_landmarks, allowed));
        }
        if self.batch == 0 {
            return Err(Error::parameter("batch", self.batch, "a whole number from 1 on"));
        }
        Ok(())
    }

    /// The same parameters without the graph, as for `seq-med`.
    #[must_use]
    pub fn labels_alone(&self) -> Self {
        Self { beta: 0.0, gamma_i: 0.0, ..self.clone() }
    }

    /// Whether unlabeled rows are used.
    pub fn uses_graph(&self) -> bool {
        if self.gamma_a > 0.0 { self.gamma_i > 0.0 } else { self.beta > 0.0 }
    }

    /// C of a batch in which the labeled rows have the total weight `labeled`.
    fn cost(&self, labeled: f64) -> f64 {
        if self.gamma_a > 0.0 { 0.5 / (labeled * self.gamma_a) } else { self.c }
    }

    /// 2β of a batch of `rows` rows that follows `batches` others.
    fn smoothness(&self, rows: usize, batches: u64) -> f64 {
        let n = rows as f64;
        let weight = if self.gamma_a > 0.0 { self.gamma_i / (self.gamma_a * n * n) } else { 2.0 * self.beta };
        match self.schedule {
            Schedule::Constant => weight,
            Schedule::Inverse => weight / (batches + 1) as f64,
        }
    }
}
