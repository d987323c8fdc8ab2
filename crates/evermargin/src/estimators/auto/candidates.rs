//! Candidates of `auto`: learners with parameters chosen from the data.

use super::GivenLabels;
use crate::data::MatrixView;
use crate::estimators::Fit;
use crate::estimators::manifold::lap::{LapParams, Loss};
use crate::estimators::supervised::linear::LinearParams;
use crate::estimators::supervised::svc::SvcParams;
use crate::estimators::transductive::Ratio;
use crate::estimators::transductive::label_propagation::{LabelPropagationParams, Method};
use crate::estimators::transductive::linear_da::LinearDaParams;
use crate::estimators::transductive::submod::SubmodParams;
use crate::estimators::transductive::tsvm::TsvmParams;
use crate::graph::Graph;
use crate::kernel::Kernel;
use std::sync::Arc;

/// Prior weight of a family with few labels per class and with many.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Prior {
    few: f64,
    many: f64,
}

impl Prior {
    /// Prior of candidates that use labels alone, which are hard to beat with many labels and weak with few.
    pub(super) const LABELS_ALONE: Self = Self { few: 0.3, many: 4.0 };
    const OTHER: Self = Self { few: 1.0, many: 1.0 };

    /// Prior interpolated between many labels (`fading` = 0) and few labels (`fading` = 1).
    pub(super) fn at(self, fading: f64) -> f64 {
        self.few.powf(fading) * self.many.powf(1.0 - fading)
    }
}

/// Class shares for the candidates that enforce shares.
#[derive(Debug, Clone)]
pub(super) struct Shares {
    /// Smoothed shares of the labels, for graph methods, which already follow the structure of the rows.
    pub(super) of_labels: Ratio,
    /// Shares estimated from the structure of the rows, if it is clear; for transductive candidates.
    pub(super) aimed_at: Ratio,
}

/// Maximum of rows × classes for the kernel TSVM, whose cost grows with the square of the rows.
const MAX_TSVM_WORK: usize = 10_000;

/// Maximum number of rows for LapRLS, which factorizes a matrix of all rows.
const MAX_LAP_ROWS: usize = 3_000;

/// Learner of a candidate.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// Linear SVM; the value is C times the mean squared deviation of the rows.
    Linear(f64),
    /// Kernel SVM; the value is C.
    Kernel(f64),
    Propagation(Method),
    LapRls,
    LinearDa,
    Submodular,
    Tsvm,
}

/// Learner in the combination.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) name: String,
    /// Family; its members share one prior.
    pub(super) family: &'static str,
    pub(super) prior: Prior,
    kind: Kind,
}

impl Candidate {
    fn new(name: impl Into<String>, family: &'static str, prior: Prior, kind: Kind) -> Self {
        Self { name: name.into(), family, prior, kind }
    }

    pub(super) fn labels_alone(&self) -> bool {
        matches!(self.kind, Kind::Linear(_) | Kind::Kernel(_))
    }

    /// Whether the decision function is linear in the columns.
    pub(super) fn is_linear(&self) -> bool {
        matches!(self.kind, Kind::Linear(_) | Kind::LinearDa | Kind::Submodular)
    }

    /// Whether the scores are 2p − 1 for a share p of each class.
    pub(super) fn gives_shares(&self) -> bool {
        matches!(self.kind, Kind::Propagation(Method::Harmonic | Method::Spreading))
    }

    /// Whether a fit costs far more than that of others, so that it is evaluated on fewer rows if there are several
    /// classes.
    pub(super) fn is_expensive(&self) -> bool {
        matches!(self.kind, Kind::LinearDa | Kind::Tsvm | Kind::Submodular)
    }

    /// Whether most of the work does not depend on the labels, so that folds are problems of one fit.
    pub(super) fn shares_work(&self) -> bool {
        self.kind == Kind::LapRls
    }

    /// The learner, if it uses labels alone.
    pub(super) fn without_unlabeled(&self, x: MatrixView<'_>, kernel: Kernel) -> Option<Box<dyn Fit>> {
        match self.kind {
            Kind::Linear(cost) => Some(Box::new(linear(cost / mean_squared_deviation(x)))),
            Kind::Kernel(c) => Some(Box::new(SvcParams { kernel, c, ..SvcParams::default() })),
            _ => None,
        }
    }

    /// The learner for these rows; `None` if it needs a graph and there is none.
    pub(super) fn make(
        &self,
        x: MatrixView<'_>,
        kernel: Kernel,
        shares: &Shares,
        graph: Option<&Arc<Graph>>,
    ) -> Option<Box<dyn Fit>> {
        let ratio = shares.aimed_at.clone();
        Some(match self.kind {
            Kind::Linear(_) | Kind::Kernel(_) => self.without_unlabeled(x, kernel)?,
            Kind::Propagation(method) => Box::new(LabelPropagationParams {
                method,
                alpha: 0.9,
                mass: method == Method::Harmonic,
                ratio: shares.of_labels.clone(),
                graph: Some(Arc::clone(graph?)),
                ..LabelPropagationParams::default()
            }),
            Kind::LapRls => Box::new(LapParams {
                loss: Loss::Square,
                kernel,
                gamma_a: 0.03,
                gamma_i: 1.0,
                graph: Some(Arc::clone(graph?)),
                ..LapParams::default()
            }),
            // a coarse tolerance is enough for one of many averaged candidates
            Kind::LinearDa => Box::new(LinearDaParams {
                ratio,
                rate: 3.0,
                settle: 1e-3,
                tolerance: 1e-2,
                ..LinearDaParams::default()
            }),
            Kind::Submodular => Box::new(SubmodParams { ratio, ..SubmodParams::default() }),
            Kind::Tsvm => Box::new(TsvmParams { kernel, ratio, ..TsvmParams::default() }),
        })
    }
}

/// Candidates that are omitted for data of this size, with the reason.
pub(super) fn omitted(x: MatrixView<'_>, given: &GivenLabels) -> Vec<String> {
    let mut out = Vec::new();
    if given.unlabeled.is_empty() {
        return out;
    }
    if x.rows() > MAX_LAP_ROWS {
        out.push(format!("laprls (more than {MAX_LAP_ROWS} rows)"));
    }
    if x.rows() * given.classes > MAX_TSVM_WORK {
        out.push(format!("tsvm (rows times classes above {MAX_TSVM_WORK})"));
    }
    out
}

/// Candidates for data of this size, cheap ones first.
pub(super) fn list(x: MatrixView<'_>, given: &GivenLabels) -> Vec<Candidate> {
    let mut list = vec![
        Candidate::new("linear, strong regularization", "linear", Prior::LABELS_ALONE, Kind::Linear(1.0)),
        Candidate::new("linear", "linear", Prior::LABELS_ALONE, Kind::Linear(10.0)),
        Candidate::new("linear, weak regularization", "linear", Prior::LABELS_ALONE, Kind::Linear(100.0)),
        Candidate::new("svc", "kernel", Prior::LABELS_ALONE, Kind::Kernel(1.0)),
        Candidate::new("svc, weak regularization", "kernel", Prior::LABELS_ALONE, Kind::Kernel(10.0)),
    ];
    if given.unlabeled.is_empty() {
        return list;
    }
    list.extend([
        Candidate::new("label spreading", "graph", Prior::OTHER, Kind::Propagation(Method::Spreading)),
        Candidate::new("label propagation", "graph", Prior::OTHER, Kind::Propagation(Method::Harmonic)),
        Candidate::new("poisson", "poisson", Prior::OTHER, Kind::Propagation(Method::Poisson)),
        Candidate::new("submod-s3vm", "submodular", Prior::OTHER, Kind::Submodular),
        Candidate::new("linear-da", "annealing", Prior::OTHER, Kind::LinearDa),
    ]);
    if x.rows() <= MAX_LAP_ROWS {
        list.push(Candidate::new("laprls", "manifold", Prior::OTHER, Kind::LapRls));
    }
    if x.rows() * given.classes <= MAX_TSVM_WORK {
        list.push(Candidate::new("tsvm", "tsvm", Prior::OTHER, Kind::Tsvm));
    }
    list
}

/// Linear SVM with cost `c`.
pub(super) fn linear(c: f64) -> LinearParams {
    LinearParams { c, ..LinearParams::default() }
}

/// Mean squared distance of the rows from their mean; 1 where all rows are equal.
pub(super) fn mean_squared_deviation(x: MatrixView<'_>) -> f64 {
    let mut mean = vec![0.0; x.cols()];
    let mut squares = 0.0;
    for i in 0..x.rows() {
        x.row(i).for_each(|c, v| mean[c] += v);
        squares += x.row(i).norm2();
    }
    let n = x.rows() as f64;
    let spread = squares / n - mean.iter().map(|m| (m / n) * (m / n)).sum::<f64>();
    if spread > 0.0 && spread.is_finite() { spread } else { 1.0 }
}
