//! `seq-med` and `seq-lapmed`: a Gaussian belief about a function, carried from batch to batch (Hou & Hero 2018, sequential
//! maximum entropy discrimination).
//!
//! Problem: before a batch θ ~ N(G⁻¹h, G⁻¹), at the beginning N(0, I). The batch has n rows, l of them labeled, features Φ
//! and a graph with the Laplacian L. Its belief has the precision G + 2βΦᵀLΦ and the information h + Φ_lᵀα; the signed α of the
//! labeled rows solve
//!
//! ```text
//! max tᵀα − ½αᵀKα,   K = Φ_lG⁻¹Φ_lᵀ with the new G,   t = y − Φ_lG⁻¹h − b,   0 ≤ yα ≤ C
//! ```
//!
//! (theorem 2; the old scores are those in the new G, for unlabeled rows change the old function too). α of past batches are
//! never touched again. Without β it is a passive-aggressive learner of batches (theorem 1): G stays I.
//!
//! What `gamma_a`, `gamma_i` of the Laplacian machine make of C and β (section 3 of the source): C = 1/(2lγ_A), 2β =
//! γ_I/(γ_An²) for each batch.
//!
//! Departures. The hinge in place of the source's log barrier ([`Loss::Box`]; the barrier learns nothing from C ≤ 1). The constant
//! has a prior of its own, b ~ N(b, σ²): K + σ² in place of K, no condition Σα = 0, then b + σ²Σα; so batches of one class teach
//! too, and no median of residuals is needed ([`Intercept`]). The inverse of the Laplacian, which does not exist, is never taken.
//! Features ([`Space`]) are the columns of the data or those of landmarks, so that memory and prediction stay bounded; the
//! source's recursion over all points ([`recursion`]) and its spectral approximation, mended ([`spectral`]), are there to
//! compare with. Forgetting, unlabeled batches, several classes and the variance of a prediction are additions.
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

/// How the belief is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// Over the columns of the data or over landmarks.
    #[default]
    Bounded,
    /// The recursion over all rows ever seen.
    Exact,
    /// The source's approximation of the past by averages of singular vectors.
    Spectral,
}

/// The constant b.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Intercept {
    /// Carried on, N(b, σ²) before each batch.
    #[default]
    Prior,
    /// Found anew in each batch of two classes, as in the source.
    Free,
    /// 0.
    None,
}

/// How the weight of the graph changes along the stream.
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
    "box = hinge, or barrier = the source's, which needs c above 1",
);
const FORM: ParamSpec = ParamSpec::choice(
    "form",
    &["bounded", "exact", "spectral"],
    "bounded",
    "bounded = columns or landmarks; exact and spectral keep all rows, to compare",
);
const INTERCEPT: ParamSpec = ParamSpec::choice(
    "intercept",
    &["prior", "free", "none"],
    "prior",
    "the constant: prior = carried on, free = found anew in each batch, none",
);
const INTERCEPT_VARIANCE: ParamSpec = ParamSpec::float(
    "intercept_variance",
    FloatRange::closed(0.0, 1e15),
    "0",
    "how far a batch may move the constant; 0 = mean of K(x,x)",
);
const RETENTION: ParamSpec = ParamSpec::float(
    "retention",
    FloatRange::above(0.0, 1.0),
    "1",
    "share of the earlier batches that is kept before each batch; 1 = all of it",
);
const MED_N_LANDMARKS: ParamSpec = ParamSpec::new(
    "n_landmarks",
    ParamKind::Integer { min: 1, max: MAX_FEATURES as i64 },
    "300",
    "maximum number of landmarks the model is expanded on",
);
const BATCH: ParamSpec =
    ParamSpec::count("batch", 1, "100", "rows learned together, in the order of the table");
const MED_TOLERANCE: ParamSpec = TOLERANCE
    .range_of(FloatRange::closed(1e-12, 0.999))
    .default_of("0.0001")
    .help_of("largest violation of the optimality conditions of a batch");

/// The specification of `seq-med`.
pub static SEQ_MED: EstimatorSpec = EstimatorSpec::supervised(
    "seq-med",
    "maximum entropy discrimination, batch after batch in bounded memory",
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
    "the same along graphs of the batches (semi-supervised)",
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
    /// γ_A of the Laplacian machine; 0 means `c` and `beta` are given.
    pub gamma_a: f64,
    /// γ_I of the Laplacian machine.
    pub gamma_i: f64,
    /// What a violated margin costs.
    pub loss: Loss,
    /// How the belief is held.
    pub form: Form,
    /// The constant.
    pub intercept: Intercept,
    /// σ² of its prior; 0 is the mean of K(x, x) in the first batch.
    pub intercept_variance: f64,
    /// ρ: before a batch G becomes ρG + (1 − ρ)I and h becomes ρh; 1 forgets nothing.
    pub retention: f64,
    /// How β changes along the stream.
    pub schedule: Schedule,
    /// The graph of a batch.
    #[serde(flatten)]
    pub penalty: PenaltyParams,
    /// Most landmarks.
    pub n_landmarks: usize,
    /// Rows of a batch where a whole table is learned.
    pub batch: usize,
    /// Largest violation of the optimality conditions of a batch.
    pub tolerance: f64,
    /// Seed of the draw of landmarks.
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

/// Most landmarks, and most columns of a precision.
const MAX_FEATURES: usize = 5_000;

impl MedParams {
    /// Refuses what makes no sense.
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

    /// The same without the graph: `seq-med`.
    #[must_use]
    pub fn labels_alone(&self) -> Self {
        Self { beta: 0.0, gamma_i: 0.0, ..self.clone() }
    }

    /// Whether unlabeled rows count.
    pub fn uses_graph(&self) -> bool {
        if self.gamma_a > 0.0 { self.gamma_i > 0.0 } else { self.beta > 0.0 }
    }

    /// C of a batch with `labeled` weight.
    fn cost(&self, labeled: f64) -> f64 {
        if self.gamma_a > 0.0 { 0.5 / (labeled * self.gamma_a) } else { self.c }
    }

    /// 2β of the batch after `batches` others, of `rows` rows.
    fn smoothness(&self, rows: usize, batches: u64) -> f64 {
        let n = rows as f64;
        let weight = if self.gamma_a > 0.0 { self.gamma_i / (self.gamma_a * n * n) } else { 2.0 * self.beta };
        match self.schedule {
            Schedule::Constant => weight,
            Schedule::Inverse => weight / (batches + 1) as f64,
        }
    }
}
