//! `corls`: co-regularized least squares (Sindhwani 2007, section 4.2), and what the learners of several views share.
//!
//! Problem: one function a view, each with a loss of its own, that shall agree on all rows, labeled or not:
//!
//! min (1/l) Σᵥ μᵥ Σ_labeled (yᵢ − fᵥ(xᵢ))² + Σᵥ γᵥ|fᵥ|² + (γ_C/n) Σ_{u<v} Σ_all (f_u(xᵢ) − fᵥ(xᵢ))².
//!
//! For two views this is the stationary point of the source's linear system (its printed objective lacks the 1/l). Divided by
//! γ₁ it is least squares with C = 1/(lγ₁) in spaces coupled by ρᵥ = γᵥ/γ₁, κ = γ_C/(nγ₁) ([`crate::estimators::multiview::coupled_views`]): `rls` solves it
//! on the kernel matrix of the labeled rows as each view sees them, all classes on one factorization. l, n are sums of
//! weights, and a row of weight w counts w times in the last term too. The answer is the mean of the views' functions.
//!
//! The constant function agrees with itself in every view and costs next to nothing, so that all unlabeled rows may get one
//! label; `center` takes it away as the source advises (outputs of mean 0 in every view). Without unlabeled rows the answer is that
//! of the labels alone: one least squares a view, the mean of their functions.

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
    "least squares in several views of the columns that agree on all rows (semi-supervised)",
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
        N_LANDMARKS
            .help_of("maximum number of landmarks of a view; 0 = all of up to 2500 rows, 1000 of more"),
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
    /// Weight of |fᵥ|², one or one a view.
    pub gamma_a: PerView,
    /// Weight of the mean squared disagreement of two views.
    pub gamma_c: f64,
    /// Weight of the loss of each view.
    pub mu: PerView,
    /// Whether the outputs of each view are kept at mean 0.
    pub center: bool,
    /// The view that speaks; 0 is the mean of all.
    pub view: usize,
    /// Most landmarks of a view; 0 means all of up to 2500 rows, 1000 of more.
    pub n_landmarks: usize,
    /// Whether to move the threshold to the share `ratio` of positives.
    pub balance: bool,
    /// Share of positives among the unlabeled rows.
    pub ratio: Ratio,
    /// Seed of the draw of landmarks.
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

/// Weights of |f|² that can be solved for.
pub(crate) const POSITIVE: &str = "a number above 0, at most 1e15, or a list of them, one a view";

pub(crate) fn positive(value: f64) -> bool {
    value > 0.0 && value <= 1e15
}

/// Refuses a weight of disagreement that is none.
pub(crate) fn check_agreement(gamma_c: f64) -> Result<()> {
    if (0.0..=1e15).contains(&gamma_c) {
        return Ok(());
    }
    Err(Error::parameter("gamma_c", gamma_c, "0 (views apart) or a number up to 1e15"))
}

impl WithViews for CoRlsParams {
    fn learn(
        &self,
        x: MatrixView<'_>,
        problems: &[Targets],
        alone: bool,
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
        let speaking = speaking(self.view, columns.len())?;
        let kernels = kernels(&self.kernels, self.kernel, &columns, x)?;
        let views =
            columns.into_iter().zip(kernels).map(|(columns, kernel)| View { columns, kernel }).collect();
        let few = FewLabels::of(x, problems, &self.ratio, watch)?;
        let alone = alone || few.iter().all(|f| f.unlabeled.is_empty());
        let rows = taking_part(problems, alone);
        let inside = x.select(&rows);
        let within: Vec<Targets> = problems.iter().map(|p| p.select(&rows)).collect();
        let cost = &within[0].cost;
        let most = landmarks(self.n_landmarks, rows.len());
        let spaces = Spaces::new(views, inside.view(), most, self.seed, watch)?;
        let stack = CoupledViews::new(&spaces.spans, self.center.then_some(cost));
        let agreement = if alone { 0.0 } else { self.gamma_c / cost.iter().sum::<f64>() / gamma[0] };
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
        let model = spaces.model(&speaking, &solved.functions, &solved.constants, 1.0, x.cols());
        told_by_model(Fitted::new(model, solved.reports), x, &few, self.balance, facts)
    }
}

/// The rows with a weight; of them, `alone`, those with a label.
pub(crate) fn taking_part(problems: &[Targets], alone: bool) -> Vec<usize> {
    let part = |p: &Targets, i: usize| p.cost[i] > 0.0 && !(alone && p.y[i] == Label::Unknown);
    let rows = problems.first().map_or(0, |p| p.y.len());
    (0..rows).filter(|&i| problems.iter().any(|p| part(p, i))).collect()
}

/// What a loss sees of a labeled row.
#[derive(Debug)]
pub enum LossOf {
    /// Each view by itself, with these weights.
    Views(Vec<f64>),
    /// The sum of the views.
    Sum,
}

/// Functions of all problems.
#[derive(Debug)]
pub struct CoRlsSolution {
    /// w of each problem and view.
    pub functions: Vec<Vec<Vec<f64>>>,
    /// The constant of each problem and view.
    pub constants: Vec<Vec<f64>>,
    /// One report a problem.
    pub reports: Vec<Report>,
}

/// Finds the functions of all problems: the machine on the kernel matrix of labeled rows as the losses see them.
pub fn solve(
    stack: &CoupledViews,
    form: &Form<'_>,
    loss: &LossOf,
    problems: &[Targets],
    machine: &dyn Fit,
    watch: &dyn Watch,
) -> Result<CoRlsSolution> {
    let rows = taking_part(problems, true);
    let looks: Vec<(Option<usize>, f64)> = match loss {
        LossOf::Views(weights) => weights.iter().enumerate().map(|(v, w)| (Some(v), *w)).collect(),
        LossOf::Sum => vec![(None, 1.0)],
    };
    let looks: Vec<_> = looks.into_iter().filter(|(_, w)| *w > 0.0).collect();
    let samples: Vec<Sample> =
        looks.iter().flat_map(|(view, _)| rows.iter().map(|&row| Sample { row, view: *view })).collect();
    let targets = |p: &Targets| {
        let own = p.select(&rows);
        let weighted = |(_, w): &(Option<usize>, f64)| own.cost.iter().map(|c| c * w).collect::<Vec<f64>>();
        Targets { y: own.y.repeat(looks.len()), cost: looks.iter().flat_map(weighted).collect() }
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
    /// Says so if the watch has had enough.
    pub fn mark_interrupted(&mut self, watch: &dyn Watch) {
        if !watch.proceed(&Progress { steps: 1, violation: 0.0, tolerance: 0.0 }) {
            self.reports.iter_mut().for_each(|r| r.exit = Exit::Interrupted);
        }
    }

    /// What there is to tell: landmarks of each view, and the share of rows on which the signs of all views agree.
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
