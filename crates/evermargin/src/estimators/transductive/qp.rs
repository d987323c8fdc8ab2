//! `qp-s3vm`: the relaxed problem of Emara 2012 (problem 3), solved by a local method from several starts.
//!
//! min over 0 ≤ p ≤ 1, Σp = k of UB(p) = ½C*²(1 − p)ᵀKp + C·C*·yᵀK(1 − p), the source's bound on the S3VM objective.
//! The problem is concave for a kernel without negative eigenvalues: some optimum is a vertex, and the vertices are 0/1
//! if k is an integer, so no rounding is needed, and UB(p) = const − D(A) with the D of [`submod`](super::submod). It
//! is also NP-hard: a quadratic programming package, as used in the source, also gives only a local optimum.
//!
//! Method: Frank–Wolfe with unit steps, that is, iterated top-k, from greedy, reverse greedy, Parzen and `starts`
//! random sets; then exchanges of two rows while one increases D. On problems of up to 12 unlabeled rows all sets are
//! tried instead.
//!
//! The printed bound (theorem 3) lacks the constant C·C* Σ_{y=−1} Σⱼ Kᵢⱼ; with it the bound holds, and the minimizer is
//! the same.

use super::submod::cut::Cut;
use super::submod::polish::Labeling;
use super::submod::search::{Search, SearchResult};
use super::submod::spec::{C_UNLABELED, CENTER, KAPPA, LABEL_WEIGHTS, MODEL_TOLERANCE, RHO, SMALL_CACHE};
use super::submod::{LabelWeights, SWEEPS, SubmodParams};
use super::{FewLabels, Ratio};
use crate::data::MatrixView;
use crate::error::Result;
use crate::estimators::registry::{EstimatorSpec, Parameters};
use crate::estimators::{Fit, Fitted, Targets};
use crate::kernel::Kernel;
use crate::params::ParamSpec;
use crate::params::shared::{C, COEF0, DEGREE, GAMMA, LINEAR_KERNEL, RATIO, SEED};
use crate::solver::Watch;
use serde::{Deserialize, Serialize};

/// The specification of `qp-s3vm`.
pub static SPEC: EstimatorSpec = EstimatorSpec::semi_supervised(
    "qp-s3vm",
    "the objective of submod-s3vm from many starts, each to a local optimum (semi-supervised)",
    &[
        LINEAR_KERNEL,
        GAMMA,
        DEGREE,
        COEF0,
        RATIO,
        RHO,
        KAPPA,
        C_UNLABELED,
        C,
        ParamSpec::count("starts", 0, "10", "random starts in addition to greedy, reverse greedy and Parzen"),
        ParamSpec::count("exchanges", 0, "100", "maximum number of exchanges of two rows after each start"),
        CENTER,
        LABEL_WEIGHTS,
        MODEL_TOLERANCE,
        SMALL_CACHE,
        SEED.help_of("seed of the random starts"),
    ],
);

impl Parameters for QpParams {}

/// Parameters of [`qp-s3vm`](self).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct QpParams {
    /// The kernel.
    pub kernel: Kernel,
    /// Share of positives among the unlabeled rows.
    pub ratio: Ratio,
    /// Weight of the cut relative to that of the labels, κn/2l.
    pub rho: f64,
    /// κ = C*/C; 0 means computed from `rho`.
    pub kappa: f64,
    /// C*, the cost of an inferred label; 0 means κC.
    pub c_unlabeled: f64,
    /// Cost of a margin violation of a labeled row in the model.
    pub c: f64,
    /// Number of random starts in addition to the three others.
    pub starts: usize,
    /// Maximum number of exchanges of two rows after each start.
    pub exchanges: u64,
    /// Whether to center the rows for the linear kernel.
    pub center: bool,
    /// Weights of the labels.
    pub label_weights: LabelWeights,
    /// Tolerance of the model, as in `linear` or `svc`.
    pub tolerance: f64,
    /// Bytes for cached kernel rows.
    pub cache_bytes: usize,
    /// Seed of the random starts.
    pub seed: u64,
}

impl Default for QpParams {
    fn default() -> Self {
        Self {
            kernel: Kernel::Linear,
            ratio: Ratio::Labels,
            rho: 10.0,
            kappa: 0.0,
            c_unlabeled: 0.0,
            c: 1.0,
            starts: 10,
            exchanges: 100,
            center: true,
            label_weights: LabelWeights::None,
            tolerance: 1e-2,
            cache_bytes: 1 << 28,
            seed: 1,
        }
    }
}

impl QpParams {
    /// Parameters shared with `submod-s3vm`.
    fn shared(&self) -> SubmodParams {
        SubmodParams {
            kernel: self.kernel,
            rho: self.rho,
            kappa: self.kappa,
            c_unlabeled: self.c_unlabeled,
            c: self.c,
            center: self.center,
            label_weights: self.label_weights,
            tolerance: self.tolerance,
            cache_bytes: self.cache_bytes,
            ..Default::default()
        }
    }
}

impl Fit for QpParams {
    fn fit(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        let (cut, inductive) = (self.shared().cut(), self.shared().inductive());
        cut.check(x)?;
        inductive.check()?;
        let few = FewLabels::of(x, problems, &self.ratio, watch)?;
        if few.iter().all(|f| f.unlabeled.is_empty()) {
            return inductive.fit_without_unlabeled(x, problems, &few, watch);
        }
        let search = Search {
            sweeps: SWEEPS,
            greedy: true,
            exchanges: self.exchanges,
            random: self.starts,
            seed: self.seed,
        };
        let choose = |cut: &mut Cut<'_, '_>, k: usize, watch: &dyn Watch| match cut.pull().len() {
            n if n <= EXHAUSTIVE_ROWS => exhaustive(cut, k),
            _ => search.run(cut, k, watch),
        };
        let given = cut.transduce(x, problems, &few, &choose, watch)?;
        inductive.fit(x, problems, &few, given, watch)
    }

    fn supervised(&self) -> Option<Box<dyn Fit>> {
        Some(self.shared().inductive().supervised())
    }
}

/// Maximum number of rows for which all sets are tried: 924 sets of 6 in 12.
const EXHAUSTIVE_ROWS: usize = 12;

/// The best of all sets of k rows; ties go to the first one in the order of their bits.
pub fn exhaustive(cut: &mut Cut<'_, '_>, k: usize) -> SearchResult {
    let n = cut.pull().len();
    let mut scores = vec![0.0; n];
    let mut best = Labeling {
        positive: (0..n).map(|m| m < k).collect(),
        objective: f64::NEG_INFINITY,
        sweeps: 0,
        interrupted: false,
    };
    for bits in (0u32..1 << n).filter(|b| b.count_ones() as usize == k) {
        let marks: Vec<bool> = (0..n).map(|m| bits >> m & 1 == 1).collect();
        cut.select(&marks);
        cut.scores(&mut scores);
        let value = cut.value(&scores);
        if value > best.objective {
            (best.positive, best.objective) = (marks, value);
        }
    }
    cut.select(&best.positive);
    let objectives = vec![("exhaustive", best.objective)];
    SearchResult { labeling: best, start: "exhaustive", objectives, sweeps: 0, evaluations: 0, full: 0 }
}
