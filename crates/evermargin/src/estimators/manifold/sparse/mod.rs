//! `sparse-lap`: manifold regularization with few basis functions (Sindhwani 2007, chapter 5).
//!
//! Problem: over functions f = Σⱼ βⱼK(xⱼ, ·) of at most `n_landmarks` rows j, min Σ wᵢ(yᵢ − f(xᵢ))² + γ_A|f|² +
//! γ_I·fᵀL^p f, the objective of `laprls` ([`super::lap`]) with its γ_A, γ_I and scalings; half of it is equation 5.1,
//! whose γ_A and γ_I are those of `scaling` = raw. With all rows in the basis the result is that of `laprls`.
//!
//! A method selects rows and fits an [objective](objective::SparseObjective) on them:
//!
//! | method | rows selected by | fitted to |
//! |---|---|---|
//! | `greedy` | [pursuit](matching_pursuit) of the objective | the objective |
//! | `random`, `uniform` | random draw; every ⌊n/d⌋-th row in the order of graph transduction | the objective |
//! | `lasso`, `lars` | the first functions on the [path of λ|β|₁](crate::solver::lars) | the objective |
//! | `decoupled` | pursuit of the result of graph transduction | graph transduction |
//! | `slack` | pursuit of the objective | the objective with slack ν between f and the values in the graph term |
//! | `greedy-slack` | pursuit of the objective with slack | the objective with slack |
//! | `sigmoid` | pursuit of the objective | [smooth signs](sigmoid) |
//!
//! One basis serves all problems. Prediction needs only the basis. Departures: see the files; `greedy-slack` scores a
//! candidate by the decrease with its coefficient and the free values both at their optimum, which the 50 conjugate
//! gradient steps of the source approximate; the basis of `lasso` and `lars` is fitted without |β|₁. There is no
//! constant (`balance` shifts the threshold). Without unlabeled rows, or with γ_I = 0, the fit is a pursuit of the
//! labels alone.

mod fit;
pub mod matching_pursuit;
pub mod objective;
pub mod restricted;
pub mod sigmoid;

use super::dictionary::Dictionary;
use super::lap::{self, ObjectiveScaling, check_weights};
use super::penalty::{Penalty, PenaltyParams};
use super::transduction::told_by_model;
use crate::data::MatrixView;
use crate::error::{Error, Result};
use crate::estimators::manifold::sparse::matching_pursuit::{Backfit, Norm};
use crate::estimators::registry::{EstimatorSpec, Parameters};
use crate::estimators::transductive::{FewLabels, Ratio};
use crate::estimators::{Fit, Fitted, Targets};
use crate::graph::Graph;
use crate::kernel::Kernel;
use crate::params::shared::{
    BALANCE, COEF0, DEGREE, EDGE_WEIGHTS, GAMMA, GAMMA_A, GAMMA_I, KERNEL, LANDMARK_SEED, METRIC,
    N_NEIGHBORS, NORMALIZED, OBJECTIVE_SCALING, POWER, RADIUS, RATIO, SEARCH, WIDTH,
};
use crate::params::{FloatRange, ParamSpec, ParamValues};
use crate::solver::{Exit, Report, Watch};
use fit::SparseFit;
use objective::LabeledTargets;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Method of selecting rows and fitting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Matching pursuit of the objective.
    Greedy,
    /// Rows drawn at random.
    Random,
    /// Rows spaced evenly in the order of the outputs of graph transduction.
    Uniform,
    /// The first functions on the path of λ|β|₁.
    Lasso,
    /// The same, without removals from the active set.
    Lars,
    /// Graph transduction, then matching pursuit of its result.
    #[default]
    Decoupled,
    /// The basis of `greedy`, fitted with slack.
    Slack,
    /// Matching pursuit of the objective with slack.
    GreedySlack,
    /// The basis of `greedy`, with signs that are smooth along the graph.
    Sigmoid,
}

/// The specification of `sparse-lap`.
pub static SPEC: EstimatorSpec = EstimatorSpec::semi_supervised(
    "sparse-lap",
    "few basis functions that vary little along a graph of all rows (semi-supervised)",
    &[
        KERNEL,
        GAMMA,
        DEGREE,
        COEF0,
        ParamSpec::choice(
            "method",
            &[
                "decoupled",
                "greedy",
                "greedy-slack",
                "slack",
                "sigmoid",
                "lasso",
                "lars",
                "uniform",
                "random",
            ],
            "decoupled",
            "decoupled, greedy, greedy-slack, slack, sigmoid, lasso, lars, uniform or random",
        ),
        ParamSpec::count("n_landmarks", 1, "100", "maximum number of landmarks the model is expanded on"),
        GAMMA_A,
        GAMMA_I,
        OBJECTIVE_SCALING,
        ParamSpec::float(
            "slack_weight",
            FloatRange::above(0.0, 1e15),
            "1",
            "weight of the slack between f and the graph; decoupled: divides gamma_a",
        ),
        ParamSpec::count("candidates", 1, "50", "number of candidate points compared before one is added"),
        ParamSpec::float(
            "exchange",
            FloatRange::closed(0.0, 1.0),
            "0.2",
            "fraction of the candidates replaced after each step, lowest scores first",
        ),
        ParamSpec::choice(
            "backfit",
            &["post", "pre"],
            "post",
            "scores of candidates with the other coefficients fixed (post) or refitted (pre)",
        ),
        ParamSpec::flag("ridge", "false", "whether |f|² is the sum of squared coefficients"),
        N_NEIGHBORS,
        RADIUS,
        SEARCH,
        METRIC,
        EDGE_WEIGHTS,
        WIDTH,
        NORMALIZED,
        POWER,
        BALANCE,
        RATIO,
        LANDMARK_SEED.help_of("random seed for drawing candidate points"),
    ],
);

impl Parameters for SparseLapParams {}

/// Parameters of [`sparse-lap`](self).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SparseLapParams {
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
    /// Maximum number of basis functions.
    pub n_landmarks: usize,
    /// Method of selecting and fitting them.
    pub method: Method,
    /// Number of candidate atoms compared before one is added.
    pub candidates: usize,
    /// Fraction of the candidates that is replaced after each step, lowest scores first.
    pub exchange: f64,
    /// Coefficients that are refitted in the score of a candidate.
    pub backfit: Backfit,
    /// `slack`, `greedy-slack`: weight of (f − o)². `decoupled`: γ_A is divided by it.
    pub slack_weight: f64,
    /// Whether |f|² is K̄|β|², K̄ the mean of K(x, x), instead of the norm of the kernel space.
    pub ridge: bool,
    /// Whether to move the threshold to the share `ratio` of positives.
    pub balance: bool,
    /// Share of positives among the unlabeled rows.
    pub ratio: Ratio,
    /// Random seed for drawing candidates.
    pub seed: u64,
    /// A given graph of the rows, instead of a neighborhood graph.
    #[serde(skip)]
    pub graph: Option<Arc<Graph>>,
}

impl Default for SparseLapParams {
    fn default() -> Self {
        Self {
            kernel: Kernel::Rbf { gamma: 1.0 },
            gamma_a: 1e-3,
            gamma_i: 0.1,
            objective_scaling: ObjectiveScaling::Raw,
            penalty: PenaltyParams::default(),
            n_landmarks: 100,
            method: Method::default(),
            candidates: 50,
            exchange: 0.2,
            backfit: Backfit::default(),
            slack_weight: 1.0,
            ridge: false,
            balance: false,
            ratio: Ratio::Labels,
            seed: 1,
            graph: None,
        }
    }
}

impl SparseLapParams {
    fn check(&self) -> Result<()> {
        self.kernel.check()?;
        self.penalty.check()?;
        if self.kernel == Kernel::Precomputed && self.graph.is_none() {
            return Err(Error::parameter("kernel", "precomputed", lap::NEEDS_GRAPH));
        }
        check_weights(self.gamma_a, self.gamma_i)?;
        if self.penalty.class_wise {
            return Err(Error::parameter(
                "class_wise",
                true,
                "false: the graph also connects unlabeled rows",
            ));
        }
        for (name, value) in [("n_landmarks", self.n_landmarks), ("candidates", self.candidates)] {
            if value == 0 {
                return Err(Error::parameter(name, value, "1 or more"));
            }
        }
        if !(0.0..=1.0).contains(&self.exchange) {
            return Err(Error::parameter("exchange", self.exchange, "a share, from 0 to 1"));
        }
        if !(self.slack_weight > 0.0 && self.slack_weight <= 1e15) {
            return Err(Error::parameter(
                "slack_weight",
                self.slack_weight,
                "a number above 0, at most 1e15",
            ));
        }
        Ok(())
    }

    /// Refuses too many rows for a path, which needs the matrix of all pairs of rows.
    fn check_rows(&self, rows: usize) -> Result<()> {
        let name = match self.method {
            Method::Lasso => "lasso",
            Method::Lars => "lars",
            _ => return Ok(()),
        };
        if rows > crate::solver::lars::MAX_ROWS && rows > self.n_landmarks {
            let max = crate::solver::lars::MAX_ROWS;
            let allowed = format!("another one for {rows} rows: {name} allows at most {max}");
            return Err(Error::parameter("method", name, allowed));
        }
        Ok(())
    }

    /// Fits the functions of these rows, all of which take part; with a penalty, along it. Also returns the size of the
    /// basis.
    fn learn(
        &self,
        x: MatrixView<'_>,
        problems: &[Targets],
        penalty: Option<&Penalty>,
        watch: &dyn Watch,
    ) -> Result<(Fitted, usize)> {
        let known = LabeledTargets::of(problems)?;
        let dictionary = Dictionary::new(x, vec![self.kernel])?;
        let gamma =
            self.objective_scaling.raw([self.gamma_a, self.gamma_i], lap::weight(&problems[0]), x.rows());
        let ridge = Norm::Ridge(dictionary.mean_own().max(f64::MIN_POSITIVE));
        let norm = if self.ridge { ridge } else { Norm::Kernel };
        let fit = SparseFit { params: self, dictionary, known, penalty, gamma, norm };
        let (space, solved, done) = match fit.solve(watch)? {
            Some(found) => found,
            None => fit.first_rows()?,
        };
        let report = |objective: &f64| Report {
            steps: done.steps,
            objective: *objective,
            gap: 0.0,
            kernel_evaluations: (done.columns * x.rows()) as u64,
            exit: done.exit,
        };
        let reports = solved.values.iter().map(report).collect();
        Ok((Fitted::new(space.model(&solved.functions)?, reports), space.dim()))
    }
}

/// The estimator for labels alone: a pursuit on the labeled rows.
#[derive(Debug)]
struct LabelsOnly(SparseLapParams);

impl Fit for LabelsOnly {
    fn fit(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        self.0.check()?;
        problems.iter().try_for_each(|p| p.check(x.rows()))?;
        if self.0.kernel == Kernel::Precomputed {
            return Ok(self.0.learn(x, problems, None, watch)?.0);
        }
        let rows = problems[0].used();
        let within: Vec<Targets> = problems.iter().map(|p| p.select(&rows)).collect();
        Ok(self.0.learn(x.select(&rows).view(), &within, None, watch)?.0)
    }
}

impl Fit for SparseLapParams {
    fn fit(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        self.check()?;
        let few = FewLabels::of(x, problems, &self.ratio, watch)?;
        let alone = LabelsOnly(self.clone());
        if self.gamma_i == 0.0 || few.iter().all(|f| f.unlabeled.is_empty()) {
            return told_by_model(alone.fit(x, problems, watch)?, x, &few, self.balance, ParamValues::new());
        }
        let rows: Vec<usize> = (0..x.rows()).filter(|&i| problems.iter().any(|p| p.cost[i] > 0.0)).collect();
        let part = (rows.len() < x.rows()).then(|| x.select(&rows));
        if self.kernel == Kernel::Precomputed && part.is_some() {
            return Err(Error::parameter("kernel", "precomputed", "used without rows of weight 0"));
        }
        let inside = part.as_ref().map_or(x, |p| p.view());
        let within: Vec<Targets> = problems.iter().map(|p| p.select(&rows)).collect();
        self.check_rows(inside.rows())?;
        let penalty = match &self.graph {
            Some(_) if part.is_some() => {
                return Err(Error::parameter("graph", "given", "used without rows of weight 0"));
            }
            Some(graph) => Some(self.penalty.given(graph, x.rows())?),
            None => self.penalty.penalty(inside, watch)?,
        };
        let Some(penalty) = penalty else {
            let mut fitted = alone.fit(x, problems, &())?;
            fitted.reports.iter_mut().for_each(|r| r.exit = Exit::Interrupted);
            return told_by_model(fitted, x, &few, self.balance, ParamValues::new());
        };
        let (fitted, size) = self.learn(inside, &within, Some(&penalty), watch)?;
        let mut facts = ParamValues::new();
        facts.insert("n_landmarks".into(), size.into());
        facts.insert("n_neighbors".into(), self.penalty.neighbors_of(inside).into());
        facts.extend(lap::graph_facts(&penalty));
        told_by_model(fitted, x, &few, self.balance, facts)
    }

    fn along(&self, graph: &Arc<Graph>) -> Option<Box<dyn Fit>> {
        Some(Box::new(Self { graph: Some(Arc::clone(graph)), ..self.clone() }))
    }

    fn supervised(&self) -> Option<Box<dyn Fit>> {
        Some(Box::new(LabelsOnly(self.clone())))
    }
}
