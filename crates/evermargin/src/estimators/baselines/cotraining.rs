//! `cotraining`: the greedy baseline of two views (Blum & Mitchell 1998; Sindhwani 2007, sections 4.1 and 4.5).
//!
//! In rounds: each view learns from the labels there are; the `grow` rows it is most sure about, in the share `ratio` of
//! positives and negatives, get their label for all views. What was given is never taken back: that is how it fails. The
//! answer is the mean of the views' functions of the last round, the classes of several apart. One view alone is
//! self-training. Departures: views choose one after the other from what is left, so no row is given two labels; all unlabeled rows are
//! the pool.

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

/// What learns in each view.
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
    "views that label each other's surest rows and never revise: a baseline (semi-supervised)",
    &[
        VIEWS,
        KERNEL,
        GAMMA,
        DEGREE,
        COEF0,
        VIEW_KERNELS,
        ParamSpec::choice("machine", &["svc", "rls"], "svc", "what learns in each view: svc or rls"),
        C,
        FIT_INTERCEPT,
        ParamSpec::count("grow", 2, "4", "rows that a view labels in a round, two at least"),
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
    /// What learns in each view.
    pub machine: BaseLearner,
    /// Its cost.
    pub c: f64,
    /// Whether it learns a constant.
    pub fit_intercept: bool,
    /// Rows a view labels in a round, at least two.
    pub grow: usize,
    /// Most rounds; 0 goes on until all rows have a label.
    pub rounds: usize,
    /// Share of positives among the rows labeled.
    pub ratio: Ratio,
    /// The view that speaks; 0 is the mean of all.
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

/// A view with its data and its learner.
struct Teacher {
    columns: Columns,
    data: Matrix,
    fit: Box<dyn Fit>,
}

impl CoTrainingParams {
    fn machine(&self, kernel: Kernel) -> Box<dyn Fit> {
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
        alone: bool,
        watch: &dyn Watch,
    ) -> Result<Fitted> {
        if self.grow < 2 {
            return Err(Error::parameter("grow", self.grow, "2 or more: one of each class"));
        }
        let columns = self.views.columns(x.cols())?;
        let speaking = speaking(self.view, columns.len())?;
        let kernels = kernels(&self.kernels, self.kernel, &columns, x)?;
        let few = FewLabels::of(x, problems, &self.ratio, watch)?;
        let teachers: Vec<Teacher> = columns
            .into_iter()
            .zip(kernels)
            .map(|(columns, kernel)| Teacher { data: columns.of(x), columns, fit: self.machine(kernel) })
            .collect();
        let mut grown = Vec::new();
        let mut rounds = Vec::new();
        let mut stopped = false;
        for (problem, few) in problems.iter().zip(&few) {
            let max = if alone { Some(0) } else { (self.rounds > 0).then_some(self.rounds) };
            let (targets, count, went_on) = self.grow(&teachers, problem.clone(), few, max, watch)?;
            stopped |= !went_on;
            grown.push(targets);
            rounds.push(count);
        }
        let (model, mut reports) = mean(&teachers, &speaking, &grown, x.cols())?;
        if stopped || !watch.proceed(&Progress { steps: 1, violation: 0.0, tolerance: 0.0 }) {
            reports.iter_mut().for_each(|r| r.exit = Exit::Interrupted);
        }
        let facts = ParamValues::from_iter([
            ("views".to_string(), ParamValue::from(teachers.len())),
            ("rounds".to_string(), ParamValue::from(rounds)),
        ]);
        told_by_model(Fitted::new(model, reports), x, &few, false, facts)
    }
}

impl CoTrainingParams {
    /// Rounds of one problem: the labels at the end, how many rounds, and whether it was let to its end.
    fn grow(
        &self,
        teachers: &[Teacher],
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
            for teacher in teachers {
                let model = teacher.fit.fit(teacher.data.view(), std::slice::from_ref(&before), &())?.model;
                let scores = model.decision(teacher.data.view().select(&open).view())?;
                let surest = surest(&scores, positives, self.grow - positives);
                for &(k, label) in &surest {
                    targets.y[open[k]] = label;
                }
                open.retain(|&i| targets.y[i] == Label::Unknown);
            }
            round += 1;
        }
        Ok((targets, round, true))
    }
}

/// The places with the largest and the smallest scores, and the labels they stand for. If there are fewer than asked for,
/// the rest goes by its sign.
fn surest(scores: &[f64], positives: usize, negatives: usize) -> Vec<(usize, Label)> {
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

/// The mean of what the views that speak learn from these labels.
fn mean(
    teachers: &[Teacher],
    speaking: &[usize],
    problems: &[Targets],
    cols: usize,
) -> Result<(Model, Vec<Report>)> {
    let weight = 1.0 / speaking.len() as f64;
    let (mut parts, mut reports) = (Vec::new(), Vec::new());
    for &v in speaking {
        let teacher = &teachers[v];
        let fitted = teacher.fit.fit(teacher.data.view(), problems, &())?;
        let mut model = fitted.model;
        if let Model::Linear { weights: vectors, bias } | Model::Expansion { coef: vectors, bias, .. } =
            &mut model
        {
            vectors.iter_mut().flatten().chain(bias).for_each(|c| *c *= weight);
        }
        parts.push(Part { columns: teacher.columns.clone(), model });
        reports = fitted.reports;
    }
    Ok((Model::of_views(parts, cols, vec![0.0; problems.len()]), reports))
}
