//! `lapsvm` and `laprls`: manifold regularization (Sindhwani 2007, chapter 2).
//!
//! Problem: min Σ wᵢV(yᵢ, f(xᵢ)) + γ_A|f|² + γ_I·fᵀL^p f, with V the hinge or squared loss of labeled rows and L the
//! Laplacian of a graph of all rows. With `scaling` = paper it is equation 2.5, which divides the loss by the labeled
//! weight l and the last term by n²: γ_A·l and γ_I·l/n² replace γ_A and γ_I. With `scaling` = raw it is the objective
//! with which the source's tables 2.6 to 2.9 were computed. Divided by 2γ_A (hinge) or γ_A (square, with a ½) it has
//! the form of [`super`]: C = 1/(2γ_A) or 1/γ_A, M = (γ_I/γ_A)L^p.
//!
//! Method: the space is deformed by M ([`super::deformed_kernel`]); `svc` and `rls` solve the remaining problem on the
//! kernel matrix of the labeled rows, one problem per class on one graph, one space and one factorization. Departures:
//! functions are in the span of at most `n_landmarks` landmarks ([`super::landmark_space`]), which are all rows if
//! there are few; there is no constant by default (the penalty does not depend on it, and with a normalized Laplacian
//! and few labels its value is arbitrary), and `balance` shifts the threshold so that the share `ratio` of the
//! unlabeled rows is positive.
//!
//! Rows of weight 0 take no part. Weights of unlabeled rows do not enter the graph.

use super::deformed_kernel::{DeformedKernel, linear_weights};
use super::landmark_space::LandmarkSpace;
use super::penalty::{Penalty, PenaltyParams, class_wise};
use super::transduction::{absent, columns, merged, told_by_model, with_scores};
use crate::data::{Label, Matrix, MatrixView};
use crate::error::{Error, Result};
use crate::estimators::folds::{PathTask, without_folds};
use crate::estimators::registry::{EstimatorSpec, Parameters, read};
use crate::estimators::supervised::rls::RlsParams;
use crate::estimators::supervised::svc::SvcParams;
use crate::estimators::transductive::s3vm::{Function, model as expansion};
use crate::estimators::transductive::{FewLabels, Ratio};
use crate::estimators::{Fit, Fitted, Targets};
use crate::graph::Graph;
use crate::kernel::Kernel;
use crate::math::blas1::dot;
use crate::params::shared::{
    BALANCE, CACHE_BYTES, COEF0, DEGREE, EDGE_WEIGHTS, FIT_INTERCEPT, GAMMA, GAMMA_A, GAMMA_I, KERNEL,
    LANDMARK_SEED, MAX_STEPS, METRIC, N_LANDMARKS, N_NEIGHBORS, NORMALIZED, OBJECTIVE_SCALING, POWER, RADIUS,
    RATIO, RELATIVE_TOLERANCE, SEARCH, WIDTH,
};
use crate::params::{ParamSpec, ParamValues};
use crate::solver::kernel_cg::{Iterate, Products};
use crate::solver::{Exit, Progress, Report, Watch};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The loss of labeled rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Loss {
    /// max(0, 1 − yf): `lapsvm`.
    #[default]
    Hinge,
    /// (y − f)²: `laprls`.
    Square,
}

/// Scaling of the objective, which determines the meaning of γ_A and γ_I.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ObjectiveScaling {
    /// Sums over rows.
    #[default]
    Raw,
    /// The mean over labeled rows, and over all pairs of rows (equation 2.5).
    Paper,
}

/// Method of solution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Solver {
    /// Directly, except for a linear kernel with more than [`ALL`] rows and columns.
    #[default]
    Auto,
    /// In the span of landmarks, exactly.
    Direct,
    /// Over all rows, by conjugate gradients with early stopping (`solver/kernel_cg.rs`); the hinge is squared.
    Iterate,
}

impl ObjectiveScaling {
    /// Converts γ_A and γ_I to weights of the sum over rows, for `labeled` weight among `rows` rows.
    pub(crate) fn raw(self, [a, i]: [f64; 2], labeled: f64, rows: usize) -> [f64; 2] {
        match self {
            Self::Raw => [a, i],
            Self::Paper => [a * labeled, i * labeled / (rows as f64 * rows as f64)],
        }
    }
}

/// Allowed kernels of an estimator that needs a neighborhood graph.
pub(crate) const NEEDS_GRAPH: &str =
    "one of samples, or a graph given: a kernel matrix has no rows to find neighbors of";

/// Refuses weights out of range.
pub(crate) fn check_weights(gamma_a: f64, gamma_i: f64) -> Result<()> {
    if !(1e-14..=1e15).contains(&gamma_a) {
        return Err(Error::parameter("gamma_a", gamma_a, "a number from 1e-14 to 1e15"));
    }
    if !(0.0..=1e15).contains(&gamma_i) {
        return Err(Error::parameter("gamma_i", gamma_i, "0 (labels alone) or a number up to 1e15"));
    }
    Ok(())
}

/// Parameters of `lapsvm` and `laprls`.
const PARAMS: [ParamSpec; 26] = [
    KERNEL,
    GAMMA,
    DEGREE,
    COEF0,
    GAMMA_A,
    GAMMA_I,
    OBJECTIVE_SCALING,
    N_NEIGHBORS,
    RADIUS,
    SEARCH,
    METRIC,
    EDGE_WEIGHTS,
    WIDTH,
    NORMALIZED,
    POWER,
    ParamSpec::flag("class_wise", "false", "whether the graph connects only labeled rows of the same class"),
    ParamSpec::choice(
        "solver",
        &["auto", "direct", "iterate"],
        "auto",
        "direct = in the span of landmarks, iterate = conjugate gradients on all rows, auto = by kernel and size",
    ),
    N_LANDMARKS,
    FIT_INTERCEPT.default_of("false"),
    BALANCE,
    RATIO,
    RELATIVE_TOLERANCE
        .default_of("0.0001")
        .help_of("largest violation of the optimality conditions, or relative residual"),
    MAX_STEPS.default_of("500").help_of("iterate: maximum number of steps; none = no limit"),
    ParamSpec::flag("early", "true", "iterate: whether to stop when no row changes its label"),
    CACHE_BYTES,
    LANDMARK_SEED,
];

/// The specification of `lapsvm`.
pub static LAPSVM: EstimatorSpec = EstimatorSpec::semi_supervised(
    "lapsvm",
    "support vector machine that varies little along a graph of all rows (semi-supervised)",
    &PARAMS,
)
.with_path(&["gamma_i", "gamma_a"], |task, watch| path(&LAPSVM, task, watch));

/// The specification of `laprls`.
pub static LAPRLS: EstimatorSpec = EstimatorSpec::semi_supervised(
    "laprls",
    "least squares that vary little along a graph of all rows (semi-supervised)",
    &PARAMS,
)
.with_path(&["gamma_i", "gamma_a"], |task, watch| path(&LAPRLS, task, watch));

impl Parameters for LapParams {
    fn for_estimator(self, name: &str) -> Self {
        let loss = if name == LAPRLS.name { Loss::Square } else { Loss::Hinge };
        Self { loss, ..self }
    }
}

/// Parameters of [`lapsvm` and `laprls`](self).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LapParams {
    /// The loss; set by the name of the estimator.
    #[serde(skip)]
    pub loss: Loss,
    /// The kernel.
    pub kernel: Kernel,
    /// Weight of |f|².
    pub gamma_a: f64,
    /// Weight of the variation of f along the graph; 0 leaves the unlabeled rows out.
    pub gamma_i: f64,
    /// Scaling of the objective.
    pub objective_scaling: ObjectiveScaling,
    /// The graph and the power of its Laplacian.
    #[serde(flatten)]
    pub penalty: PenaltyParams,
    /// Method of solution.
    pub solver: Solver,
    /// Maximum number of landmarks; 0 means all rows if there are at most [`ALL`], otherwise [`SOME`].
    pub n_landmarks: usize,
    /// Whether to fit an intercept, which is not regularized.
    pub fit_intercept: bool,
    /// Whether to move the threshold to the share `ratio` of positives.
    pub balance: bool,
    /// Share of positives among the unlabeled rows.
    pub ratio: Ratio,
    /// Hinge loss: largest violation of the optimality conditions; iterations: relative residual.
    pub tolerance: f64,
    /// Maximum number of iterations.
    #[serde(with = "crate::params::step_limit")]
    pub max_steps: Option<u64>,
    /// Iterations: whether to stop when no row changes its label.
    pub early: bool,
    /// Iterations: bytes for cached kernel rows.
    pub cache_bytes: usize,
    /// Random seed for the selection of landmarks.
    pub seed: u64,
    /// A given graph of the rows, instead of a neighborhood graph.
    #[serde(skip)]
    pub graph: Option<Arc<Graph>>,
}

/// Maximum number of rows of which all are landmarks by default (except those explained by others).
pub const ALL: usize = 2_500;
/// Default number of landmarks of more rows.
pub const SOME: usize = 1_000;

impl Default for LapParams {
    fn default() -> Self {
        Self {
            loss: Loss::Hinge,
            kernel: Kernel::Rbf { gamma: 1.0 },
            gamma_a: 1e-3,
            gamma_i: 0.1,
            objective_scaling: ObjectiveScaling::Raw,
            penalty: PenaltyParams::default(),
            solver: Solver::Auto,
            n_landmarks: 0,
            fit_intercept: false,
            balance: false,
            ratio: Ratio::Labels,
            tolerance: 1e-4,
            max_steps: Some(500),
            early: true,
            cache_bytes: 1 << 30,
            seed: 1,
            graph: None,
        }
    }
}

/// Maximum number of landmarks for `n` rows.
pub(crate) fn landmarks(basis: usize, n: usize) -> usize {
    match basis {
        0 if n <= ALL => n,
        0 => SOME,
        max => max,
    }
}

impl LapParams {
    fn check(&self) -> Result<()> {
        self.kernel.check()?;
        self.penalty.check()?;
        check_weights(self.gamma_a, self.gamma_i)?;
        if !(self.tolerance > 0.0 && self.tolerance < 1.0) {
            return Err(Error::parameter("tolerance", self.tolerance, "a number between 0 and 1"));
        }
        if self.solver == Solver::Iterate && self.fit_intercept {
            return Err(Error::parameter("fit_intercept", true, "false with solver iterate"));
        }
        Ok(())
    }

    /// C of the supervised problem, and the ratio γ_I/γ_A of M, for `labeled` weight among `rows` rows.
    fn scaled(&self, labeled: f64, rows: usize) -> (f64, f64) {
        let [a, i] = self.objective_scaling.raw([self.gamma_a, self.gamma_i], labeled, rows);
        let c = match self.loss {
            Loss::Hinge => 0.5 / a,
            Loss::Square => 1.0 / a,
        };
        (c, i / a)
    }

    /// The supervised estimator with cost C on a kernel.
    fn machine(&self, kernel: Kernel, c: f64) -> Box<dyn Fit> {
        match self.loss {
            Loss::Hinge => Box::new(SvcParams {
                kernel,
                c,
                tolerance: self.tolerance,
                fit_intercept: self.fit_intercept,
                ..SvcParams::default()
            }),
            Loss::Square => {
                Box::new(RlsParams { kernel, c, fit_intercept: self.fit_intercept, ..RlsParams::default() })
            }
        }
    }

    fn penalty(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Option<Penalty>> {
        if let Some(graph) = &self.graph {
            if self.penalty.class_wise {
                return Err(Error::parameter("class_wise", true, "false with a graph given"));
            }
            return self.penalty.given(graph, x.rows()).map(Some);
        }
        if self.kernel == Kernel::Precomputed {
            return Err(Error::parameter("kernel", "precomputed", NEEDS_GRAPH));
        }
        match problems {
            [problem] if self.penalty.class_wise => class_wise(&self.penalty, x, problem, watch),
            _ if self.penalty.class_wise => Err(Error::parameter(
                "class_wise",
                true,
                "false for more than two classes: the problems share one graph",
            )),
            _ => self.penalty.penalty(x, watch),
        }
    }
}

/// The supervised estimator on the labeled rows of each problem.
#[derive(Debug)]
struct LabelsOnly(LapParams);

impl Fit for LabelsOnly {
    fn fit(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        self.0.check()?;
        problems.iter().try_for_each(|p| p.check(x.rows()))?;
        let (c, _) = self.0.scaled(weight(&problems[0]), x.rows());
        let machine = self.0.machine(self.0.kernel, c);
        let start = Progress { steps: 0, violation: 1.0, tolerance: 0.0 };
        if self.0.loss == Loss::Hinge || problems[0].used().len() > ALL || watch.proceed(&start) {
            return machine.fit(x, problems, watch);
        }
        // least squares have no partial solution, and the exact one of few rows takes no time
        let mut fitted = machine.fit(x, problems, &())?;
        fitted.reports.iter_mut().for_each(|r| r.exit = Exit::Interrupted);
        Ok(fitted)
    }
}

/// Total weight of the labeled rows.
pub(crate) fn weight(problem: &Targets) -> f64 {
    problem.used().iter().map(|&i| problem.cost[i]).sum()
}

impl Fit for LapParams {
    fn fit(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        self.check()?;
        let few = FewLabels::of(x, problems, &self.ratio, watch)?;
        let open = few.iter().any(|f| !f.unlabeled.is_empty());
        if self.gamma_i == 0.0 || !(open || self.penalty.class_wise) {
            return self.fit_labels_only(x, problems, &few, watch);
        }
        let rows: Vec<usize> = (0..x.rows()).filter(|&i| problems.iter().any(|p| p.cost[i] > 0.0)).collect();
        let part = (rows.len() < x.rows()).then(|| x.select(&rows));
        if self.kernel == Kernel::Precomputed && part.is_some() {
            return Err(Error::parameter(
                "kernel",
                "precomputed",
                "a kernel of samples if some rows have weight 0",
            ));
        }
        let inside = part.as_ref().map_or(x, |p| p.view());
        let within: Vec<Targets> = problems.iter().map(|p| p.select(&rows)).collect();
        let Some(penalty) = self.penalty(inside, &within, watch)? else {
            let mut fitted = self.fit_labels_only(x, problems, &few, &())?;
            fitted.reports.iter_mut().for_each(|r| r.exit = Exit::Interrupted);
            return Ok(fitted);
        };
        let mut facts = graph_facts(&penalty);
        if self.graph.is_none() && self.penalty.radius == 0.0 {
            facts.insert("n_neighbors".into(), self.penalty.neighbors_of(x).into());
        }
        let (fitted, outputs) = if self.iterates(inside) {
            self.iterate(inside, &within, &penalty, watch)?
        } else {
            let max = landmarks(self.n_landmarks, inside.rows());
            let span = LandmarkSpace::new(inside, self.kernel, max, self.seed, watch)?;
            facts.insert("landmarks".into(), span.dim().into());
            self.direct(inside, &within, &span, &penalty, watch)?
        };
        let mut scores =
            columns(&fitted.model.decision(x.select(&absent(x.rows(), &rows)).view())?, few.len());
        for (scores, outputs) in scores.iter_mut().zip(outputs) {
            *scores = merged(x.rows(), &rows, &outputs, scores);
        }
        Ok(with_scores(fitted, scores, &few, self.balance, facts))
    }

    fn supervised(&self) -> Option<Box<dyn Fit>> {
        Some(Box::new(LabelsOnly(self.clone())))
    }

    fn along(&self, graph: &Arc<Graph>) -> Option<Box<dyn Fit>> {
        Some(Box::new(Self { graph: Some(Arc::clone(graph)), ..self.clone() }))
    }
}

/// Functions v of a space with their constants.
struct LapSolution {
    functions: Vec<Vec<f64>>,
    bias: Vec<f64>,
    reports: Vec<Report>,
}

impl LapParams {
    fn iterates(&self, x: MatrixView<'_>) -> bool {
        match self.solver {
            Solver::Auto => {
                self.kernel == Kernel::Linear && x.rows() > ALL && x.cols() > ALL && !self.fit_intercept
            }
            solver => solver == Solver::Iterate,
        }
    }

    /// Fits in the span of landmarks; also returns the outputs of all rows.
    fn direct(
        &self,
        x: MatrixView<'_>,
        problems: &[Targets],
        span: &LandmarkSpace,
        penalty: &Penalty,
        watch: &dyn Watch,
    ) -> Result<(Fitted, Vec<Vec<f64>>)> {
        let solved = self.solve(problems, span, &penalty.quadratic(span), watch)?;
        let functions = solved.functions.iter().zip(&solved.bias);
        let outputs = functions.map(|(v, b)| span.outputs(v).iter().map(|f| f + b).collect()).collect();
        let model = span.model(x, &solved.functions, solved.bias);
        Ok((Fitted::new(model, solved.reports), outputs))
    }

    /// Fits over all rows; also returns their outputs.
    fn iterate(
        &self,
        x: MatrixView<'_>,
        problems: &[Targets],
        penalty: &Penalty,
        watch: &dyn Watch,
    ) -> Result<(Fitted, Vec<Vec<f64>>)> {
        let mut products = Products::new(x, self.kernel, self.cache_bytes)?;
        let (mut functions, mut outputs, mut reports) = (Vec::new(), Vec::new(), Vec::new());
        for problem in problems {
            let (c, ratio) = Self { loss: Loss::Square, ..self.clone() }.scaled(weight(problem), x.rows());
            let y: Vec<f64> = problem.y.iter().map(|y| y.sign()).collect();
            let cost: Vec<f64> = problem.cost.iter().map(|w| c * w).collect();
            let found = Iterate {
                products: &mut products,
                penalty,
                ratio,
                y: &y,
                cost: &cost,
                hinge: self.loss == Loss::Hinge,
                tolerance: self.tolerance,
                max_steps: self.max_steps,
                early: self.early,
            }
            .run(watch);
            functions.push(Function { alpha: found.alpha, bias: 0.0 });
            outputs.push(found.outputs);
            reports.push(found.report);
        }
        let all: Vec<usize> = (0..x.rows()).collect();
        Ok((Fitted::new(expansion(x, self.kernel, &all, &functions), reports), outputs))
    }

    /// Solves for the functions of all problems in the deformed space.
    fn solve(
        &self,
        problems: &[Targets],
        span: &LandmarkSpace,
        quadratic: &[f64],
        watch: &dyn Watch,
    ) -> Result<LapSolution> {
        let known = |i: &usize| problems.iter().any(|p| p.y[*i] != Label::Unknown && p.cost[*i] > 0.0);
        let rows: Vec<usize> = (0..span.rows()).filter(known).collect();
        let (c, ratio) = self.scaled(weight(&problems[0]), span.rows());
        let warp = DeformedKernel::new(span, quadratic, ratio)?;
        let labeled: Vec<Targets> = problems.iter().map(|p| p.select(&rows)).collect();
        // few labels are solved for despite an interruption, because there is no useful model before the first step
        let in_time = watch.proceed(&Progress { steps: 0, violation: 1.0, tolerance: 0.0 });
        let watch = if rows.len() <= ALL { &() } else { watch };
        // with more labels than dimensions, the matrix of the rows themselves is smaller
        let (mut fitted, functions) = if rows.len() > span.dim() {
            let x = Matrix::dense(warp.features(rows.iter().copied()), rows.len(), span.dim())?;
            let fitted = self.machine(Kernel::Linear, c).fit(x.view(), &labeled, watch)?;
            let functions = linear_weights(&fitted.model)?.iter().map(|w| warp.unfold(w)).collect();
            (fitted, functions)
        } else {
            let gram = warp.gram(&rows)?;
            let fitted = self.machine(Kernel::Precomputed, c).fit(gram.view(), &labeled, watch)?;
            let alphas = linear_weights(&fitted.model)?;
            let functions = alphas.iter().map(|a| warp.function(&rows, a)).collect();
            (fitted, functions)
        };
        if !in_time {
            fitted.reports.iter_mut().for_each(|r| r.exit = Exit::Interrupted);
        }
        Ok(LapSolution { functions, bias: fitted.model.bias().to_vec(), reports: fitted.reports })
    }

    /// Fits the labels alone, with the same results as a fit with a graph.
    fn fit_labels_only(
        &self,
        x: MatrixView<'_>,
        problems: &[Targets],
        few: &[FewLabels],
        watch: &dyn Watch,
    ) -> Result<Fitted> {
        let fitted = LabelsOnly(self.clone()).fit(x, problems, watch)?;
        told_by_model(fitted, x, few, self.balance, ParamValues::new())
    }
}

/// Held-out decisions along γ_A or γ_I: all folds and values share the graph, the space and RᵀL^pR. Held-out rows are
/// unlabeled rows in the same graph, and only labeled rows are held out.
fn path(spec: &EstimatorSpec, task: &PathTask<'_>, watch: &dyn Watch) -> Result<Option<Vec<Vec<f64>>>> {
    let base = LapParams { graph: task.graph.cloned(), ..read(spec, task.params)? };
    base.check()?;
    let (x, width) = (task.x, task.problems.len());
    // a class-wise graph would depend on the held-out labels
    let absent = task.problems.iter().any(|p| p.cost.contains(&0.0));
    if base.penalty.class_wise || base.balance || base.iterates(x) || absent {
        return Ok(None);
    }
    let Some(penalty) = base.penalty(x, task.problems, watch)? else { return Ok(Some(Vec::new())) };
    let span = LandmarkSpace::new(x, base.kernel, landmarks(base.n_landmarks, x.rows()), base.seed, watch)?;
    let quadratic = penalty.quadratic(&span);
    let problems = without_folds(task.problems, task.folds);
    let mut out = Vec::with_capacity(task.values.len());
    for &value in task.values {
        let params: LapParams = read(spec, &task.at(value))?;
        params.check()?;
        let mut decisions = vec![0.0; x.rows() * width];
        for (fold, group) in problems.chunks(width).enumerate() {
            if !watch.proceed(&Progress { steps: out.len() as u64, violation: 1.0, tolerance: 0.0 }) {
                return Ok(Some(out));
            }
            let solved = params.solve(group, &span, &quadratic, watch)?;
            for i in (0..x.rows()).filter(|&i| task.folds[i] == Some(fold as u32)) {
                for (j, v) in solved.functions.iter().enumerate() {
                    decisions[i * width + j] = dot(span.row(i), v) + solved.bias[j];
                }
            }
        }
        out.push(decisions);
    }
    Ok(Some(out))
}

pub(crate) fn graph_facts(penalty: &Penalty) -> ParamValues {
    let mut facts = ParamValues::new();
    for graph in penalty.graphs().take(1) {
        let pieces = graph.components().into_iter().max().map_or(0, |c| c + 1);
        let isolated = graph.degrees().iter().filter(|d| **d == 0.0).count();
        facts.insert("edges".into(), graph.edges().into());
        facts.insert("components".into(), pieces.into());
        facts.insert("isolated".into(), isolated.into());
    }
    facts
}
