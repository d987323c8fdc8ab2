//! `colapsvm` and `colaprls`: manifold regularization of several views (Sindhwani 2007, sections 4.3 and 4.4).
//!
//! Two ways to couple the views:
//!
//! `laplacian` (section 4.3): every view has its own problem, min Σ wᵢV(yᵢ, fᵥ(xᵢ)) + γ_A|fᵥ|² + γ_I·fᵥᵀL^p fᵥ, as in
//! [`crate::estimators::manifold::lap`], but all views share one L. It is the mean of the Laplacians of the views' graphs,
//! weighted by `shares` (a and 1 − a in the source), and is averaged before it is raised to the power p. The result is the
//! mean of the views' functions.
//!
//! `kernel` (section 4.4, equation 4.3): the loss applies to the sum f = Σᵥ fᵥ,
//! min Σ wᵢV(yᵢ, f(xᵢ)) + Σᵥ γᵥ|fᵥ|² + γ_I Σᵥ fᵥᵀLᵥ^p fᵥ + γ_C Σ_{u<v} Σ_all wᵢ(f_u(xᵢ) − fᵥ(xᵢ))².
//! With γ_I = 0 and two views this is a supervised problem with the source's kernel for ν = γ₂/γ₁, μ = γ_C/γ₁, and
//! C = 1/(2γ₁) for the hinge, 1/γ₁ for the square. With γ_I > 0 the kernel of each view is first deformed along its own
//! graph (manifold co-regularization, Sindhwani & Rosenberg 2008). The result is the sum of the views' functions.
//!
//! `objective_scaling` = paper: the loss is divided by the labeled weight l, the variation along graphs by n², the
//! disagreement by n. Both ways need one factorization ([`crate::estimators::multiview::coupled_views`]) and then call
//! `svc` or `rls`. Departures as in [`crate::estimators::manifold::lap`]. Without unlabeled rows the views are not coupled
//! (laplacian), or the kernel is the sum of theirs (kernel).

use crate::data::MatrixView;
use crate::error::{Error, Result};
use crate::estimators::manifold::lap::{Loss, ObjectiveScaling, landmarks, weight};
use crate::estimators::manifold::penalty::{Penalty, PenaltyParams};
use crate::estimators::manifold::transduction::told_by_model;
use crate::estimators::multiview::coreg::{
    CoRlsSolution, LossOf, POSITIVE, check_agreement, positive, solve, taking_part,
};
use crate::estimators::multiview::coupled_views::{CoupledViews, Form};
use crate::estimators::multiview::views::{PerView, Spaces, View, ViewList, WithViews, kernels, speaking};
use crate::estimators::registry::{EstimatorSpec, Parameters};
use crate::estimators::supervised::rls::RlsParams;
use crate::estimators::supervised::svc::SvcParams;
use crate::estimators::transductive::{FewLabels, Ratio};
use crate::estimators::{Fit, Fitted, Targets};
use crate::graph::Graph;
use crate::kernel::Kernel;
use crate::params::shared::{
    BALANCE, COEF0, DEGREE, EDGE_WEIGHTS, FIT_INTERCEPT, GAMMA, GAMMA_C, GAMMA_I, KERNEL, LANDMARK_SEED,
    METRIC, N_LANDMARKS, N_NEIGHBORS, NORMALIZED, OBJECTIVE_SCALING, POWER, RADIUS, RATIO,
    RELATIVE_TOLERANCE, SEARCH, VIEW, VIEW_KERNELS, VIEWS, WIDTH,
};
use crate::params::{FloatRange, ParamKind, ParamSpec};
use crate::solver::{Exit, Report, Watch};
use serde::{Deserialize, Serialize};

/// Coupling of the views.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Coupling {
    /// The views share one Laplacian.
    #[default]
    Laplacian,
    /// The outputs of the views on all rows should agree.
    Kernel,
}

/// Parameters of `colapsvm` and `colaprls`.
const PARAMS: [ParamSpec; 27] = [
    VIEWS,
    KERNEL,
    GAMMA,
    DEGREE,
    COEF0,
    VIEW_KERNELS,
    ParamSpec::choice(
        "coupling",
        &["laplacian", "kernel"],
        "laplacian",
        "coupling of the views: laplacian = one joint graph, or kernel = outputs that agree",
    ),
    ParamSpec::new(
        "gamma_a",
        ParamKind::PerView(FloatRange::above(0.0, 1e15)),
        "0.001",
        "weight of |f|² against the sum of losses; a list has one per view",
    ),
    GAMMA_I.help_of("weight of the variation of f along the graph"),
    GAMMA_C.default_of("0.1"),
    ParamSpec::new(
        "shares",
        ParamKind::PerView(FloatRange::closed(0.0, 1e15)),
        "1",
        "weight of each view's graph in the joint one; a list has one per view",
    ),
    OBJECTIVE_SCALING
        .help_of("scale of the terms: raw, or paper = mean loss, disagreement / n, variation / n²"),
    N_NEIGHBORS,
    RADIUS,
    SEARCH,
    METRIC,
    EDGE_WEIGHTS,
    WIDTH,
    NORMALIZED,
    POWER,
    VIEW,
    N_LANDMARKS
        .help_of("maximum number of landmarks per view; 0 = all rows if there are at most 2500, else 1000"),
    FIT_INTERCEPT.default_of("false"),
    BALANCE,
    RATIO,
    RELATIVE_TOLERANCE
        .default_of("0.0001")
        .help_of("colapsvm: largest violation of the optimality conditions"),
    LANDMARK_SEED,
];

/// The specification of `colapsvm`.
pub static COLAPSVM: EstimatorSpec = EstimatorSpec::semi_supervised(
    "colapsvm",
    "support vector machines in several views with a joint graph or outputs that agree (semi-supervised)",
    &PARAMS,
);

/// The specification of `colaprls`.
pub static COLAPRLS: EstimatorSpec = EstimatorSpec::semi_supervised(
    "colaprls",
    "least squares in several views with a joint graph or outputs that agree (semi-supervised)",
    &PARAMS,
);

impl Parameters for CoLapParams {
    fn for_estimator(self, name: &str) -> Self {
        let loss = if name == COLAPRLS.name { Loss::Square } else { Loss::Hinge };
        Self { loss, ..self }
    }
}

/// Parameters of [`colapsvm` and `colaprls`](self).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CoLapParams {
    /// The loss, determined by the name of the learner.
    #[serde(skip)]
    pub loss: Loss,
    /// The columns of each view.
    pub views: ViewList,
    /// The kernel of all views.
    pub kernel: Kernel,
    /// `same`, or the kernel of each view.
    pub kernels: String,
    /// Coupling of the views.
    pub coupling: Coupling,
    /// Weight of |fᵥ|², one number or one per view.
    pub gamma_a: PerView,
    /// Weight of the variation along the graph.
    pub gamma_i: f64,
    /// Weight of the disagreement, for [`Coupling::Kernel`].
    pub gamma_c: f64,
    /// Weight of each view's Laplacian in the joint one.
    pub shares: PerView,
    /// Scale of the terms that the weights multiply.
    pub objective_scaling: ObjectiveScaling,
    /// The graphs and the power of the Laplacian.
    #[serde(flatten)]
    pub penalty: PenaltyParams,
    /// The view that the model uses; 0 means all views.
    pub view: usize,
    /// Maximum number of landmarks per view; 0 means all rows if there are at most 2500, else 1000.
    pub n_landmarks: usize,
    /// Whether to learn an intercept, which is not regularized.
    pub fit_intercept: bool,
    /// Whether to move the threshold so that the fraction `ratio` of the unlabeled rows is positive.
    pub balance: bool,
    /// Fraction of positives among the unlabeled rows.
    pub ratio: Ratio,
    /// For the hinge: largest violation of the optimality conditions.
    pub tolerance: f64,
    /// Random seed for the choice of landmarks.
    pub seed: u64,
}

impl Default for CoLapParams {
    fn default() -> Self {
        Self {
            loss: Loss::Hinge,
            views: ViewList::default(),
            kernel: Kernel::Rbf { gamma: 1.0 },
            kernels: "same".into(),
            coupling: Coupling::Laplacian,
            gamma_a: PerView(vec![1e-3]),
            gamma_i: 0.1,
            gamma_c: 0.1,
            shares: PerView(vec![1.0]),
            objective_scaling: ObjectiveScaling::Raw,
            penalty: PenaltyParams::default(),
            view: 0,
            n_landmarks: 0,
            fit_intercept: false,
            balance: false,
            ratio: Ratio::Labels,
            tolerance: 1e-4,
            seed: 1,
        }
    }
}

/// Weights of the terms of the objective.
struct Weights {
    /// γᵥ, the weight of |fᵥ|².
    norm: Vec<f64>,
    /// γ_I.
    along: f64,
    /// γ_C.
    agreement: f64,
    /// Weight of each view's Laplacian; they sum to 1.
    shares: Vec<f64>,
}

impl CoLapParams {
    fn check(&self, views: usize) -> Result<Weights> {
        check_agreement(self.gamma_c)?;
        self.penalty.check()?;
        if self.penalty.class_wise {
            return Err(Error::parameter("class_wise", true, "false: views have graphs of all rows"));
        }
        if !(0.0..=1e15).contains(&self.gamma_i) {
            return Err(Error::parameter("gamma_i", self.gamma_i, "0 (labels alone) or a number up to 1e15"));
        }
        if !(self.tolerance > 0.0 && self.tolerance < 1.0) {
            return Err(Error::parameter("tolerance", self.tolerance, "a number between 0 and 1"));
        }
        let allowed = "numbers from 0 to 1e15, not all 0";
        let shares = self.shares.of("shares", views, allowed, |s| (0.0..=1e15).contains(&s))?;
        let total: f64 = shares.iter().sum();
        if total == 0.0 {
            return Err(Error::parameter("shares", 0, allowed));
        }
        Ok(Weights {
            norm: self.gamma_a.of("gamma_a", views, POSITIVE, positive)?,
            along: self.gamma_i,
            agreement: self.gamma_c,
            shares: shares.iter().map(|s| s / total).collect(),
        })
    }

    /// The weights that multiply sums over rows, after `objective_scaling`.
    fn scaled(&self, weights: Weights, labeled: f64, rows: usize) -> Weights {
        let n = rows as f64;
        match self.objective_scaling {
            ObjectiveScaling::Raw => weights,
            ObjectiveScaling::Paper => Weights {
                norm: weights.norm.iter().map(|g| g * labeled).collect(),
                along: weights.along * labeled / (n * n),
                agreement: weights.agreement * labeled / n,
                shares: weights.shares,
            },
        }
    }

    /// The supervised learner for a precomputed kernel matrix, if |f|² has the weight `norm`.
    fn base_learner(&self, norm: f64) -> Box<dyn Fit> {
        let kernel = Kernel::Precomputed;
        match self.loss {
            Loss::Hinge => Box::new(SvcParams {
                kernel,
                c: 0.5 / norm,
                tolerance: self.tolerance,
                fit_intercept: self.fit_intercept,
                ..SvcParams::default()
            }),
            Loss::Square => Box::new(RlsParams {
                kernel,
                c: 1.0 / norm,
                fit_intercept: self.fit_intercept,
                ..RlsParams::default()
            }),
        }
    }
}

impl WithViews for CoLapParams {
    fn learn(
        &self,
        x: MatrixView<'_>,
        problems: &[Targets],
        labels_only: bool,
        watch: &dyn Watch,
    ) -> Result<Fitted> {
        let columns = self.views.columns(x.cols())?;
        let count = columns.len();
        let weights = self.check(count)?;
        let selected = speaking(self.view, count)?;
        let kernels = kernels(&self.kernels, self.kernel, &columns, x)?;
        let views =
            columns.into_iter().zip(kernels).map(|(columns, kernel)| View { columns, kernel }).collect();
        let few = FewLabels::of(x, problems, &self.ratio, watch)?;
        let separate = self.coupling == Coupling::Laplacian;
        let labels_only = labels_only
            || few.iter().all(|f| f.unlabeled.is_empty())
            || self.gamma_i == 0.0 && (separate || self.gamma_c == 0.0);
        let rows = taking_part(problems, labels_only);
        let inside = x.select(&rows);
        let within: Vec<Targets> = problems.iter().map(|p| p.select(&rows)).collect();
        let max_landmarks = landmarks(self.n_landmarks, rows.len());
        let spaces = Spaces::new(views, inside.view(), max_landmarks, self.seed, watch)?;
        let mut weights = self.scaled(weights, weight(&within[0]), rows.len());
        if labels_only {
            (weights.along, weights.agreement) = (0.0, 0.0);
        }
        let graphs =
            if weights.along > 0.0 { self.graphs(&spaces, &weights, watch)? } else { Some(Vec::new()) };
        let Some(graphs) = graphs else {
            let mut fitted = self.learn(x, problems, true, &())?;
            fitted.reports.iter_mut().for_each(|r| r.exit = Exit::Interrupted);
            return Ok(fitted);
        };
        let mut solved = if separate {
            self.fit_separately(&spaces, &graphs, &weights, &within, watch)?
        } else {
            self.fit_jointly(&spaces, &graphs, &weights, &within, watch)?
        };
        if self.loss == Loss::Square {
            solved.mark_interrupted(watch);
        }
        let facts = solved.facts(&spaces);
        let factor = if separate { 1.0 } else { count as f64 };
        let model = spaces.model(&selected, &solved.functions, &solved.constants, factor, x.cols());
        told_by_model(Fitted::new(model, solved.reports), x, &few, self.balance, facts)
    }
}

impl CoLapParams {
    /// The graph of each view that needs one; `None` if the watch stopped the neighbor search.
    fn graphs(
        &self,
        spaces: &Spaces,
        weights: &Weights,
        watch: &dyn Watch,
    ) -> Result<Option<Vec<Option<Graph>>>> {
        let mut graphs = Vec::new();
        for (data, share) in spaces.data.iter().zip(&weights.shares) {
            let wanted = self.coupling == Coupling::Kernel || *share > 0.0;
            let graph = if wanted { self.penalty.graph(data.view(), watch)? } else { None };
            if wanted && graph.is_none() {
                return Ok(None);
            }
            graphs.push(graph);
        }
        Ok(Some(graphs))
    }

    /// The watch for the supervised learner. Least squares has no partial result, so it is not interrupted.
    fn within<'w>(&self, watch: &'w dyn Watch) -> &'w dyn Watch {
        if self.loss == Loss::Square { &() } else { watch }
    }

    /// Fits each view separately, with the joint Laplacian.
    fn fit_separately(
        &self,
        spaces: &Spaces,
        graphs: &[Option<Graph>],
        weights: &Weights,
        problems: &[Targets],
        watch: &dyn Watch,
    ) -> Result<CoRlsSolution> {
        let known = graphs.iter().zip(&weights.shares);
        let joint = known.filter_map(|(g, s)| g.clone().map(|g| (*s, g))).collect();
        let joint = self.penalty.of_graphs(joint);
        let mut all: Option<CoRlsSolution> = None;
        for (span, norm) in spaces.spans.iter().zip(&weights.norm) {
            let along = (weights.along > 0.0).then(|| (weights.along / norm, joint.quadratic(span)));
            let form = Form { ridge: vec![1.0], along: vec![along], agreement: 0.0, cost: &[] };
            let stack = CoupledViews::new(std::slice::from_ref(span), None);
            let one = LossOf::Views(vec![1.0]);
            let solved =
                solve(&stack, &form, &one, problems, self.base_learner(*norm).as_ref(), self.within(watch))?;
            all = Some(match all {
                Some(before) => concatenate(before, solved),
                None => solved,
            });
        }
        all.ok_or_else(|| Error::Data("there is no view".into()))
    }

    /// Fits all views together, with the loss on their sum.
    fn fit_jointly(
        &self,
        spaces: &Spaces,
        graphs: &[Option<Graph>],
        weights: &Weights,
        problems: &[Targets],
        watch: &dyn Watch,
    ) -> Result<CoRlsSolution> {
        let unit = weights.norm[0];
        let along = |(v, span)| {
            let penalty: Option<Penalty> =
                graphs.get(v).cloned().flatten().map(|g| self.penalty.of_graphs(vec![(1.0, g)]));
            penalty.map(|p| (weights.along / unit, p.quadratic(span)))
        };
        let form = Form {
            ridge: weights.norm.iter().map(|g| g / unit).collect(),
            along: spaces.spans.iter().enumerate().map(along).collect(),
            agreement: weights.agreement / unit,
            cost: &problems[0].cost,
        };
        let stack = CoupledViews::new(&spaces.spans, None);
        solve(&stack, &form, &LossOf::Sum, problems, self.base_learner(unit).as_ref(), self.within(watch))
    }
}

/// The solution with the views of both and the sums of their reports.
fn concatenate(mut a: CoRlsSolution, b: CoRlsSolution) -> CoRlsSolution {
    a.functions.iter_mut().zip(b.functions).for_each(|(f, g)| f.extend(g));
    a.constants.iter_mut().zip(b.constants).for_each(|(f, g)| f.extend(g));
    for (r, s) in a.reports.iter_mut().zip(b.reports) {
        *r = Report {
            steps: r.steps + s.steps,
            objective: r.objective + s.objective,
            gap: r.gap.max(s.gap),
            kernel_evaluations: r.kernel_evaluations + s.kernel_evaluations,
            exit: if r.exit == Exit::Converged { s.exit } else { r.exit },
        };
    }
    a
}
