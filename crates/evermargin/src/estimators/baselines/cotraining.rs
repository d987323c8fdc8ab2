//! `cotraining`: co-training, a greedy baseline with several views (Blum & Mitchell 1998; Sindhwani 2007, sections 4.1 and
//! 4.5).
//!
//! In each round every view fits a model to the current labels. The `grow` rows on which it is most confident, divided into
//! positives and negatives by `ratio`, get their predicted label in all views. Labels are never revised, so early errors
//! persist. The result is the mean of the views' functions after the last round; several classes are trained separately.
//! With one view this is self-training. Departures: the views choose rows one after the other, so no row gets two labels;
//! the pool contains all unlabeled rows.

use crate::data::{Label, Matrix, MatrixView};
use crate::error::{Error, Result};
use crate::estimators::manifold::transduction::told_by_model;
use crate::estimators::multiview::views::{ViewList, WithViews, kernels, speaking};
use crate::estimators::registry::{EstimatorSpec, Parameters};
use crate::estimators::supervised::rls::RlsParams;
use crate::estimators::supervised::svc::SvcParams;
use crate::estimators::transductive::{FewLabels, Ratio};
use crate::estimators::{Fit, Fitted, Targets};
use crate::kernel::Kernel;
use crate::model::{Columns, Model, Part};
use crate::params::ParamSpec;
use crate::params::shared::{
    C, COEF0, DEGREE, FIT_INTERCEPT, GAMMA, KERNEL, RATIO, TOLERANCE, VIEW, VIEW_KERNELS, VIEWS,
};
use crate::params::{ParamValue, ParamValues};
use crate::solver::{Exit, Progress, Report, Watch};
use serde::{Deserialize, Serialize};

/// Base learner of each view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BaseLearner {
    /// A support vector machine.
    #[default]
    Svc,
    /// Least squares.
    Rls,
}

/// The specification of `cotraining`.
pub static SPEC: EstimatorSpec = EstimatorSpec::semi_supervised(
    "cotraining",
    "co-training: views that label their most confident rows for each other, a baseline (semi-supervised)",
    &[
        VIEWS,
        KERNEL,
        GAMMA,
        DEGREE,
        COEF0,
        VIEW_KERNELS,
        ParamSpec::choice("machine", &["svc", "rls"], "svc", "base learner of each view: svc or rls"),
        C,
        FIT_INTERCEPT,
        ParamSpec::count("grow", 2, "4", "number of rows that each view labels per round, at least 2"),
        ParamSpec::count("rounds", 0, "0", "maximum number of rounds; 0 = until all rows have a label"),
        RATIO,
        VIEW,
        TOLERANCE,
    ],
)
.baseline();

impl Parameters for CoTrainingParams {}

/// Parameters of [`cotraining`](self).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CoTrainingParams {
    /// The columns of each view.
    pub views: ViewList,
    /// The kernel of all views.
    pub kernel: Kernel,
    /// `same`, or the kernel of each view.
    pub kernels: String,
    /// Base learner of each view.
    pub machine: BaseLearner,
    /// C of the base learner.
    pub c: f64,
    /// Whether the base learner has an intercept.
    pub fit_intercept: bool,
    /// Number of rows that each view labels per round, at least 2.
    pub grow: usize,
    /// Maximum number of rounds; 0 means until all rows have a label.
    pub rounds: usize,
    /// Fraction of positives among the rows that are labeled.
    pub ratio: Ratio,
    /// The view that the model uses; 0 means the mean of all views.
    pub view: usize,
    /// Largest violation of the optimality conditions.
    pub tolerance: f64,
}

impl Default for CoTrainingParams {
    fn default() -> Self {
        Self {
            views: ViewList::default(),
            kernel: Kernel::Rbf { gamma: 1.0 },
            kernels: "same".into(),
            machine: BaseLearner::Svc,
            c: 1.0,
            fit_intercept: true,
            grow: 4,
            rounds: 0,
            ratio: Ratio::Labels,
            view: 0,
            tolerance: 1e-3,
        }
    }
}

/// A view with its data and base learner.
struct ViewLearner {
    columns: Columns,
    data: Matrix,
    fit: Box<dyn Fit>,
}

impl CoTrainingParams {
    /// The base learner of a view with this kernel.
    fn base_learner(&self, kernel: Kernel) -> Box<dyn Fit> {
        match self.machine {
            BaseLearner::Svc => Box::new(SvcParams {
                kernel,
                c: self.c,
                fit_intercept: self.fit_intercept,
                tolerance: self.tolerance,
                ..SvcParams::default()
            }),
            BaseLearner::Rls => Box::new(RlsParams {
                kernel,
                c: self.c,
                fit_intercept: self.fit_intercept,
                ..RlsParams::default()
            }),
        }
    }
}

impl WithViews for CoTrainingParams {
    fn learn(
        &self,
        x: MatrixView<'_>,
        problems: &[Targets],
        labels_only: bool,
        watch: &dyn Watch,
    ) -> Result<Fitted> {
        if self.grow < 2 {
            return Err(Error::parameter("grow", self.grow, "2 or more: one of each class"));
        }
        let columns = self.views.columns(x.cols())?;
        let selected = speaking(self.view, columns.len())?;
        let kernels = kernels(&self.kernels, self.kernel, &columns, x)?;
        let few = FewLabels::of(x, problems, &self.ratio, watch)?;
        let views: Vec<ViewLearner> = columns
            .into_iter()
            .zip(kernels)
            .map(|(columns, kernel)| ViewLearner {
                data: columns.of(x),
                columns,
                fit: self.base_learner(kernel),
            })
            .collect();
        let mut labeled = Vec::new();
        let mut rounds = Vec::new();
        let mut stopped = false;
        for (problem, few) in problems.iter().zip(&few) {
            let max = if labels_only { Some(0) } else { (self.rounds > 0).then_some(self.rounds) };
            let (targets, count, completed) = self.grow(&views, problem.clone(), few, max, watch)?;
            stopped |= !completed;
            labeled.push(targets);
            rounds.push(count);
        }
        let (model, mut reports) = mean(&views, &selected, &labeled, x.cols())?;
        if stopped || !watch.proceed(&Progress { steps: 1, violation: 0.0, tolerance: 0.0 }) {
            reports.iter_mut().for_each(|r| r.exit = Exit::Interrupted);
        }
        let facts = ParamValues::from_iter([
            ("views".to_string(), ParamValue::from(views.len())),
            ("rounds".to_string(), ParamValue::from(rounds)),
        ]);
        told_by_model(Fitted::new(model, reports), x, &few, false, facts)
    }
}

impl CoTrainingParams {
    /// Runs the rounds of one problem. Returns the final labels, the number of rounds, and whether it was not interrupted.
    fn grow(
        &self,
        views: &[ViewLearner],
        mut targets: Targets,
        few: &FewLabels,
        max: Option<usize>,
        watch: &dyn Watch,
    ) -> Result<(Targets, usize, bool)> {
        let positives = ((few.ratio * self.grow as f64).round() as usize).clamp(1, self.grow - 1);
        let mut open = few.unlabeled.clone();
        let mut round = 0;
        while !open.is_empty() && max.is_none_or(|max| round < max) {
            let left = open.len() as f64 / few.unlabeled.len() as f64;
            if !watch.proceed(&Progress { steps: round as u64, violation: left, tolerance: 0.0 }) {
                return Ok((targets, round, false));
            }
            let before = targets.clone();
            for view in views {
                let model = view.fit.fit(view.data.view(), std::slice::from_ref(&before), &())?.model;
                let scores = model.decision(view.data.view().select(&open).view())?;
                let extreme_scores = extreme_scores(&scores, positives, self.grow - positives);
                for &(k, label) in &extreme_scores {
                    targets.y[open[k]] = label;
                }
                open.retain(|&i| targets.y[i] == Label::Unknown);
            }
            round += 1;
        }
        Ok((targets, round, true))
    }
}

/// Indices of the largest and the smallest scores, with positive and negative labels. If there are no more scores than
/// requested, all indices with the label of their sign.
fn extreme_scores(scores: &[f64], positives: usize, negatives: usize) -> Vec<(usize, Label)> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
    if scores.len() <= positives + negatives {
        let label = |k: usize| if scores[k] > 0.0 { Label::Pos } else { Label::Neg };
        return order.into_iter().map(|k| (k, label(k))).collect();
    }
    let top = order[..positives].iter().map(|&k| (k, Label::Pos));
    let bottom = order[order.len() - negatives..].iter().map(|&k| (k, Label::Neg));
    top.chain(bottom).collect()
}

/// The mean of the models that the selected views learn from these labels.
fn mean(
    views: &[ViewLearner],
    selected: &[usize],
    problems: &[Targets],
    cols: usize,
) -> Result<(Model, Vec<Report>)> {
    let weight = 1.0 / selected.len() as f64;
    let (mut parts, mut reports) = (Vec::new(), Vec::new());
    for &v in selected {
        let view = &views[v];
        let fitted = view.fit.fit(view.data.view(), problems, &())?;
        let mut model = fitted.model;
        if let Model::Linear { weights: vectors, bias } | Model::Expansion { coef: vectors, bias, .. } =
            &mut model
        {
            vectors.iter_mut().flatten().chain(bias).for_each(|c| *c *= weight);
        }
        parts.push(Part { columns: view.columns.clone(), model });
        reports = fitted.reports;
    }
    Ok((Model::of_views(parts, cols, vec![0.0; problems.len()]), reports))
}
