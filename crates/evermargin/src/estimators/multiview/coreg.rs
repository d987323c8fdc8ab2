//! `corls`: co-regularized least squares (Sindhwani 2007, section 4.2), and code shared by all multi-view learners.
//!
//! Problem: one function per view, each with its own loss; the functions should agree on all rows, labeled or not:
//!
//! min (1/l) Σᵥ μᵥ Σ_labeled (yᵢ − fᵥ(xᵢ))² + Σᵥ γᵥ|fᵥ|² + (γ_C/n) Σ_{u<v} Σ_all (f_u(xᵢ) − fᵥ(xᵢ))².
//!
//! For two views the stationary point is the solution of the source's linear system (its printed objective lacks the 1/l).
//! Divided by γ₁ the problem is least squares with C = 1/(lγ₁) in spaces coupled by ρᵥ = γᵥ/γ₁, κ = γ_C/(nγ₁)
//! ([`crate::estimators::multiview::coupled_views`]). `rls` solves it on the kernel matrix of the labeled rows in each view,
//! all classes with one factorization. l and n are sums of weights; a row of weight w counts w times in the last term, too.
//! The result is the mean of the views' functions.
//!
//! A constant function agrees in all views and is hardly penalized, so all unlabeled rows could get the same label.
//! `center` removes it, as the source advises, by keeping the outputs of every view at mean 0. Without unlabeled rows the
//! views are not coupled: the result is the mean of one least-squares fit per view.

use crate::data::{Label, MatrixView};
use crate::error::{Error, Result};
use crate::estimators::manifold::lap::{landmarks, weight};
use crate::estimators::manifold::transduction::told_by_model;
use crate::estimators::multiview::coupled_views::{CoupledViews, Form, Sample};
use crate::estimators::multiview::views::{PerView, Spaces, View, ViewList, WithViews, kernels, speaking};
use crate::estimators::registry::{EstimatorSpec, Parameters};
use crate::estimators::supervised::rls::RlsParams;
use crate::estimators::transductive::{FewLabels, Ratio};
use crate::estimators::{Fit, Fitted, Targets};
use crate::kernel::Kernel;
use crate::model::Model;
use crate::params::shared::{
    BALANCE, COEF0, DEGREE, GAMMA, GAMMA_C, KERNEL, LANDMARK_SEED, N_LANDMARKS, RATIO, VIEW, VIEW_KERNELS,
    VIEWS,
};
use crate::params::{FloatRange, ParamKind, ParamSpec};
use crate::params::{ParamValue, ParamValues};
use crate::solver::{Exit, Progress, Report, Watch};
use serde::{Deserialize, Serialize};

/// The specification of `corls`.
pub static SPEC: EstimatorSpec = EstimatorSpec::semi_supervised(
    "corls",
    "least squares in several views whose outputs agree on all rows (semi-supervised)",
    &[
        VIEWS,
        KERNEL,
        GAMMA,
        DEGREE,
        COEF0,
        VIEW_KERNELS,
        ParamSpec::new(
            "gamma_a",
            ParamKind::PerView(FloatRange::above(0.0, 1e15)),
            "0.01",
            "weight of |f|² against the mean loss; a list has one per view",
        ),
        GAMMA_C,
        ParamSpec::new(
            "mu",
            ParamKind::PerView(FloatRange::closed(0.0, 1e15)),
            "1",
            "weight of the loss of each view; a list has one per view",
        ),
        ParamSpec::flag("center", "true", "whether the outputs of each view are kept at mean 0"),
        VIEW,
        N_LANDMARKS.help_of(
            "maximum number of landmarks per view; 0 = all rows if there are at most 2500, else 1000",
        ),
        BALANCE,
        RATIO,
        LANDMARK_SEED,
    ],
);

impl Parameters for CoRlsParams {}

/// Parameters of [`corls`](self).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CoRlsParams {
    /// The columns of each view.
    pub views: ViewList,
    /// The kernel of all views.
    pub kernel: Kernel,
    /// `same`, or the kernel of each view.
    pub kernels: String,
    /// Weight of |fᵥ|², one number or one per view.
    pub gamma_a: PerView,
    /// Weight of the mean squared disagreement of two views.
    pub gamma_c: f64,
    /// Weight of the loss of each view.
    pub mu: PerView,
    /// Whether the outputs of each view are kept at mean 0.
    pub center: bool,
    /// The view that the model uses; 0 means the mean of all views.
    pub view: usize,
    /// Maximum number of landmarks per view; 0 means all rows if there are at most 2500, else 1000.
    pub n_landmarks: usize,
    /// Whether to move the threshold so that the fraction `ratio` of the unlabeled rows is positive.
    pub balance: bool,
    /// Fraction of positives among the unlabeled rows.
    pub ratio: Ratio,
    /// Random seed for the choice of landmarks.
    pub seed: u64,
}

impl Default for CoRlsParams {
    fn default() -> Self {
        Self {
            views: ViewList::default(),
            kernel: Kernel::Rbf { gamma: 1.0 },
            kernels: "same".into(),
            gamma_a: PerView(vec![0.01]),
            gamma_c: 1.0,
            mu: PerView(vec![1.0]),
            center: true,
            view: 0,
            n_landmarks: 0,
            balance: false,
            ratio: Ratio::Labels,
            seed: 1,
        }
    }
}

/// Allowed weights of |f|², for error messages.
pub(crate) const POSITIVE: &str = "a number above 0, at most 1e15, or a list of them, one per view";

/// Whether a weight of |f|² is allowed.
pub(crate) fn positive(value: f64) -> bool {
    value > 0.0 && value <= 1e15
}

/// Checks the range of the weight of disagreement.
pub(crate) fn check_agreement(gamma_c: f64) -> Result<()> {
    if (0.0..=1e15).contains(&gamma_c) {
        return Ok(());
    }
    Err(Error::parameter("gamma_c", gamma_c, "0 (views not coupled) or a number up to 1e15"))
}

impl WithViews for CoRlsParams {
    fn learn(
        &self,
        x: MatrixView<'_>,
        problems: &[Targets],
        labels_only: bool,
        watch: &dyn Watch,
    ) -> Result<Fitted> {
        check_agreement(self.gamma_c)?;
        let columns = self.views.columns(x.cols())?;
        let gamma = self.gamma_a.of("gamma_a", columns.len(), POSITIVE, positive)?;
        let mu = self
            .mu
            .of("mu", columns.len(), "numbers from 0 to 1e15, not all 0", |m| (0.0..=1e15).contains(&m))?;
        if mu.iter().all(|m| *m == 0.0) {
            return Err(Error::parameter("mu", 0, "numbers from 0 to 1e15, not all 0"));
        }
        let selected = speaking(self.view, columns.len())?;
        let kernels = kernels(&self.kernels, self.kernel, &columns, x)?;
        let views =
            columns.into_iter().zip(kernels).map(|(columns, kernel)| View { columns, kernel }).collect();
        let few = FewLabels::of(x, problems, &self.ratio, watch)?;
        let labels_only = labels_only || few.iter().all(|f| f.unlabeled.is_empty());
        let rows = taking_part(problems, labels_only);
        let inside = x.select(&rows);
        let within: Vec<Targets> = problems.iter().map(|p| p.select(&rows)).collect();
        let cost = &within[0].cost;
        let max_landmarks = landmarks(self.n_landmarks, rows.len());
        let spaces = Spaces::new(views, inside.view(), max_landmarks, self.seed, watch)?;
        let stack = CoupledViews::new(&spaces.spans, self.center.then_some(cost));
        let agreement = if labels_only { 0.0 } else { self.gamma_c / cost.iter().sum::<f64>() / gamma[0] };
        let form = Form {
            ridge: gamma.iter().map(|g| g / gamma[0]).collect(),
            along: vec![None; gamma.len()],
            agreement,
            cost,
        };
        let c = 1.0 / (weight(&within[0]) * gamma[0]);
        let machine =
            RlsParams { kernel: Kernel::Precomputed, c, fit_intercept: false, ..RlsParams::default() };
        let mut solved = solve(&stack, &form, &LossOf::Views(mu), &within, &machine, &())?;
        solved.mark_interrupted(watch);
        let facts = solved.facts(&spaces);
        let model = spaces.model(&selected, &solved.functions, &solved.constants, 1.0, x.cols());
        told_by_model(Fitted::new(model, solved.reports), x, &few, self.balance, facts)
    }
}

/// Rows with positive weight in at least one problem; with `labels_only` only those that have a label there.
pub(crate) fn taking_part(problems: &[Targets], labels_only: bool) -> Vec<usize> {
    let part = |p: &Targets, i: usize| p.cost[i] > 0.0 && !(labels_only && p.y[i] == Label::Unknown);
    let rows = problems.first().map_or(0, |p| p.y.len());
    (0..rows).filter(|&i| problems.iter().any(|p| part(p, i))).collect()
}

/// Outputs that the loss of a labeled row applies to.
#[derive(Debug)]
pub enum LossOf {
    /// The output of each view separately; the losses have these weights.
    Views(Vec<f64>),
    /// The sum of the views' outputs.
    Sum,
}

/// Functions of all problems and views.
#[derive(Debug)]
pub struct CoRlsSolution {
    /// Weights w of each problem and view.
    pub functions: Vec<Vec<Vec<f64>>>,
    /// Intercept of each problem and view.
    pub constants: Vec<Vec<f64>>,
    /// One report per problem.
    pub reports: Vec<Report>,
}

/// Solves all problems: fits `machine` on the kernel matrix of the labeled rows, with one sample per row and loss.
pub fn solve(
    stack: &CoupledViews,
    form: &Form<'_>,
    loss: &LossOf,
    problems: &[Targets],
    machine: &dyn Fit,
    watch: &dyn Watch,
) -> Result<CoRlsSolution> {
    let rows = taking_part(problems, true);
    let losses: Vec<(Option<usize>, f64)> = match loss {
        LossOf::Views(weights) => weights.iter().enumerate().map(|(v, w)| (Some(v), *w)).collect(),
        LossOf::Sum => vec![(None, 1.0)],
    };
    let losses: Vec<_> = losses.into_iter().filter(|(_, w)| *w > 0.0).collect();
    let samples: Vec<Sample> =
        losses.iter().flat_map(|(view, _)| rows.iter().map(|&row| Sample { row, view: *view })).collect();
    let targets = |p: &Targets| {
        let own = p.select(&rows);
        let weighted = |(_, w): &(Option<usize>, f64)| own.cost.iter().map(|c| c * w).collect::<Vec<f64>>();
        Targets { y: own.y.repeat(losses.len()), cost: losses.iter().flat_map(weighted).collect() }
    };
    let coupled = stack.coupled(form)?;
    let targets: Vec<Targets> = problems.iter().map(targets).collect();
    let fitted = machine.fit(coupled.gram(&samples)?.view(), &targets, watch)?;
    let Model::Linear { weights, bias } = fitted.model else {
        return Err(Error::Model("a machine on a kernel matrix is linear in its rows".into()));
    };
    let share = if matches!(loss, LossOf::Sum) { 1.0 / stack.views() as f64 } else { 1.0 };
    let (mut functions, mut constants) = (Vec::new(), Vec::new());
    for (a, b) in weights.iter().zip(bias) {
        let (own, center) = stack.parts(&coupled.function(&samples, a));
        functions.push(own);
        constants.push(center.into_iter().map(|c| c + share * b).collect());
    }
    Ok(CoRlsSolution { functions, constants, reports: fitted.reports })
}

impl CoRlsSolution {
    /// Marks the reports as interrupted if the watch stopped the fit.
    pub fn mark_interrupted(&mut self, watch: &dyn Watch) {
        if !watch.proceed(&Progress { steps: 1, violation: 0.0, tolerance: 0.0 }) {
            self.reports.iter_mut().for_each(|r| r.exit = Exit::Interrupted);
        }
    }

    /// Facts for the report: number of views, landmarks per view, and the fraction of rows on which the signs of all views
    /// agree.
    pub(crate) fn facts(&self, spaces: &Spaces) -> ParamValues {
        let dims: Vec<usize> = spaces
            .spans
            .iter()
            .map(crate::estimators::manifold::landmark_space::LandmarkSpace::dim)
            .collect();
        let mut facts = ParamValues::from_iter([
            ("views".to_string(), ParamValue::from(dims.len())),
            ("landmarks".to_string(), ParamValue::from(dims)),
        ]);
        let (mut agree, mut count) = (0, 0);
        for (functions, constants) in self.functions.iter().zip(&self.constants) {
            let outputs: Vec<Vec<f64>> =
                spaces.spans.iter().zip(functions).map(|(span, w)| span.outputs(w)).collect();
            let sign = |v: usize, i: usize| outputs[v].get(i).unwrap_or(&0.0) + constants[v] > 0.0;
            let rows = spaces
                .spans
                .first()
                .map_or(0, crate::estimators::manifold::landmark_space::LandmarkSpace::rows);
            agree += (0..rows).filter(|&i| (1..outputs.len()).all(|v| sign(v, i) == sign(0, i))).count();
            count += rows;
        }
        facts.insert("agreement_of_views".into(), (agree as f64 / count.max(1) as f64).into());
        facts
    }
}
