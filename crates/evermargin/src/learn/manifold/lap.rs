//! `lapsvm` and `laprls`: manifold regularization (Sindhwani 2007, chapter 2).
//!
//! Problem: min Σ wᵢV(yᵢ, f(xᵢ)) + γ_A|f|² + γ_I·fᵀL^p f, V the hinge or the square of labelled rows, L the Laplacian of a
//! graph of all rows. With `scaling` = paper it is equation 2.5, which divides the loss by the labelled weight l and the last
//! term by n²: γ_A·l and γ_I·l/n² take the place of γ_A and γ_I. Without (raw), it is what the source's tables 2.6 to 2.9
//! were made with (section 0.3 of the digest). Divided by 2γ_A (hinge) or γ_A (square, with a ½) it is the form of
//! [`super`]: C = 1/(2γ_A) or 1/γ_A, M = (γ_I/γ_A)L^p.
//!
//! Method: the space is deformed by M ([`super::warp`]); `svc` and `rls` solve what remains on the kernel matrix of the
//! labelled rows, one problem a class on one graph, one space and one factorisation. Departures: functions live in the span
//! of at most `basis` landmarks ([`super::span`]), all rows where those are few; there is no constant unless asked for
//! (the penalty does not see it, and with a normalised Laplacian and few labels it lands anywhere: section 3.3 of the
//! digest), and `balance` moves the threshold so that the share `ratio` of the unlabelled rows is positive.
//!
//! Rows without weight take no part. Weights of unlabelled rows do not enter the graph.

use super::super::rls::RlsParams;
use super::super::semi::{FewLabels, Ratio, Transduced, largest};
use super::super::svc::SvcParams;
use super::super::{Fit, Fitted, Targets};
use super::penalty::{Penalty, PenaltyParams, class_wise};
use super::span::Span;
use super::warp::Warp;
use crate::data::{Label, MatrixView};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::model::Model;
use crate::solve::{Exit, Report, Watch};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The loss of labelled rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Loss {
    /// max(0, 1 − yf): `lapsvm`.
    #[default]
    Hinge,
    /// (y − f)²: `laprls`.
    Square,
}

/// What γ_A and γ_I multiply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scaling {
    /// The sum over rows.
    #[default]
    Raw,
    /// The mean over labelled rows, and over all pairs of rows (equation 2.5).
    Paper,
}

impl Scaling {
    /// γ_A and γ_I of the sum over rows, for `labeled` weight among `rows` rows.
    pub(super) fn raw(self, [a, i]: [f64; 2], labeled: f64, rows: usize) -> [f64; 2] {
        match self {
            Self::Raw => [a, i],
            Self::Paper => [a * labeled, i * labeled / (rows as f64 * rows as f64)],
        }
    }
}

/// Refuses weights no objective has.
pub(super) fn check_weights(gamma_a: f64, gamma_i: f64) -> Result<()> {
    if !(gamma_a > 0.0 && gamma_a <= 1e15) {
        return Err(Error::parameter("gamma_a", gamma_a, "a number above 0, at most 1e15"));
    }
    if !(0.0..=1e15).contains(&gamma_i) {
        return Err(Error::parameter("gamma_i", gamma_i, "0 (labels alone) or a number up to 1e15"));
    }
    Ok(())
}

/// Parameters of [`lapsvm` and `laprls`](self).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LapParams {
    /// The loss; set by the name of the learner.
    #[serde(skip)]
    pub loss: Loss,
    /// The kernel.
    pub kernel: Kernel,
    /// Weight of |f|².
    pub gamma_a: f64,
    /// Weight of the variation of f along the graph; 0 leaves the unlabelled rows out.
    pub gamma_i: f64,
    /// What the two weights multiply.
    pub scaling: Scaling,
    /// The graph and the power of its Laplacian.
    #[serde(flatten)]
    pub penalty: PenaltyParams,
    /// Most landmarks; 0 means all of up to [`ALL`] rows, [`SOME`] of more.
    pub basis: usize,
    /// Whether to learn a constant, not regularised.
    pub bias: bool,
    /// Whether to move the threshold to the share `ratio` of positives.
    pub balance: bool,
    /// Share of positives among the unlabelled rows.
    pub ratio: Ratio,
    /// For the hinge: largest violation of the optimality conditions.
    pub tolerance: f64,
    /// Seed of the draw of landmarks.
    pub seed: u64,
}

/// Without `basis`: up to this many rows all are landmarks (as far as one is not explained by others) …
pub const ALL: usize = 2_000;
/// … and this many of more.
pub const SOME: usize = 1_000;

impl Default for LapParams {
    fn default() -> Self {
        Self {
            loss: Loss::Hinge,
            kernel: Kernel::Rbf { gamma: 1.0 },
            gamma_a: 1e-3,
            gamma_i: 0.1,
            scaling: Scaling::Raw,
            penalty: PenaltyParams::default(),
            basis: 0,
            bias: false,
            balance: false,
            ratio: Ratio::Labels,
            tolerance: 1e-4,
            seed: 1,
        }
    }
}

/// The most landmarks of `n` rows.
pub(super) fn landmarks(basis: usize, n: usize) -> usize {
    match basis {
        0 if n <= ALL => n,
        0 => SOME,
        most => most,
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
        Ok(())
    }

    /// C of the supervised machine, and the ratio γ_I/γ_A of M, for `labeled` weight among `rows` rows.
    fn scaled(&self, labeled: f64, rows: usize) -> (f64, f64) {
        let [a, i] = self.scaling.raw([self.gamma_a, self.gamma_i], labeled, rows);
        let c = match self.loss {
            Loss::Hinge => 0.5 / a,
            Loss::Square => 1.0 / a,
        };
        (c, i / a)
    }

    /// The supervised machine with cost C on a kernel.
    fn machine(&self, kernel: Kernel, c: f64) -> Box<dyn Fit> {
        match self.loss {
            Loss::Hinge => Box::new(SvcParams {
                kernel,
                c,
                tolerance: self.tolerance,
                bias: self.bias,
                ..SvcParams::default()
            }),
            Loss::Square => Box::new(RlsParams { kernel, c, bias: self.bias, ..RlsParams::default() }),
        }
    }

    fn penalty(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Option<Penalty>> {
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

/// The labels alone: the supervised machine on the rows of each problem that have one.
#[derive(Debug)]
struct Alone(LapParams);

impl Fit for Alone {
    fn fit(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        self.0.check()?;
        problems.iter().try_for_each(|p| p.check(x.rows()))?;
        let labeled = weight(&problems[0]);
        let (c, _) = self.0.scaled(labeled, x.rows());
        self.0.machine(self.0.kernel, c).fit(x, problems, watch)
    }
}

/// The weight of the labelled rows.
pub(super) fn weight(problem: &Targets) -> f64 {
    problem.used().iter().map(|&i| problem.cost[i]).sum()
}

impl Fit for LapParams {
    fn fit(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        self.check()?;
        let few = FewLabels::of(x, problems, &self.ratio, watch)?;
        let rows: Vec<usize> = (0..x.rows()).filter(|&i| problems.iter().any(|p| p.cost[i] > 0.0)).collect();
        let open = few.iter().any(|f| !f.unlabeled.is_empty());
        if self.gamma_i == 0.0 || !(open || self.penalty.class_wise) {
            let fitted = Alone(self.clone()).fit(x, problems, watch)?;
            return told(self.balance, fitted, x, &few, Map::new());
        }
        let part = (rows.len() < x.rows()).then(|| x.select(&rows));
        let inside = part.as_ref().map_or(x, |p| p.view());
        let within: Vec<Targets> = problems.iter().map(|p| p.select(&rows)).collect();
        let inside_kernel = self.kernel;
        if inside_kernel == Kernel::Precomputed && part.is_some() {
            return Err(Error::parameter("kernel", "precomputed", "used with all rows in the problem"));
        }
        let Some(penalty) = self.penalty(inside, &within, watch)? else {
            let mut fitted = Alone(self.clone()).fit(x, problems, &())?;
            fitted.reports.iter_mut().for_each(|r| r.exit = Exit::Interrupted);
            return told(self.balance, fitted, x, &few, Map::new());
        };
        let span = Span::new(inside, inside_kernel, landmarks(self.basis, inside.rows()), self.seed, watch)?;
        let quadratic = penalty.quadratic(&span);
        let (model, reports) = self.solve(inside, &within, &span, &quadratic, watch)?;
        let mut facts = Map::new();
        facts.insert("landmarks".into(), span.dim().into());
        facts.insert("neighbours".into(), self.penalty.neighbours_of(inside).into());
        facts.extend(graph_facts(&penalty));
        told(self.balance, Fitted::new(model, reports), x, &few, facts)
    }

    fn supervised(&self) -> Option<Box<dyn Fit>> {
        Some(Box::new(Alone(self.clone())))
    }
}

impl LapParams {
    /// The functions of all problems in the deformed space.
    fn solve(
        &self,
        x: MatrixView<'_>,
        problems: &[Targets],
        span: &Span,
        quadratic: &[f64],
        watch: &dyn Watch,
    ) -> Result<(Model, Vec<Report>)> {
        let rows: Vec<usize> = (0..x.rows())
            .filter(|&i| problems.iter().any(|p| p.y[i] != Label::Unknown && p.cost[i] > 0.0))
            .collect();
        let (c, ratio) = self.scaled(weight(&problems[0]), x.rows());
        let warp = Warp::new(span, quadratic, ratio)?;
        let gram = warp.gram(&rows)?;
        let labelled: Vec<Targets> = problems.iter().map(|p| p.select(&rows)).collect();
        let fitted = self.machine(Kernel::Precomputed, c).fit(gram.view(), &labelled, watch)?;
        let Model::Linear { weights, bias } = fitted.model else {
            return Err(Error::Model("a machine on a kernel matrix is linear in its rows".into()));
        };
        let functions: Vec<Vec<f64>> = weights.iter().map(|a| warp.function(&rows, a)).collect();
        Ok((span.model(x, &functions, bias), fitted.reports))
    }
}

/// Adds the scores of all rows; with `balance`, moves the constants first.
pub(super) fn told(
    balance: bool,
    mut fitted: Fitted,
    x: MatrixView<'_>,
    few: &[FewLabels],
    mut facts: Map<String, Value>,
) -> Result<Fitted> {
    let width = few.len();
    let decisions = fitted.model.decision(x)?;
    let mut scores: Vec<Vec<f64>> =
        (0..width).map(|j| decisions.iter().skip(j).step_by(width).copied().collect()).collect();
    if balance {
        let shifts: Vec<f64> = scores.iter().zip(few).map(|(s, f)| threshold(s, f)).collect();
        let (Model::Linear { bias, .. } | Model::Expansion { bias, .. }) = &mut fitted.model;
        for (j, t) in shifts.iter().enumerate() {
            bias[j] -= t;
            scores[j].iter_mut().for_each(|s| *s -= t);
        }
        facts.extend(few.iter().flat_map(FewLabels::facts));
    }
    let ratio = few.iter().zip(&scores).map(|(f, s)| if balance { f.ratio } else { share(s, f) }).collect();
    fitted.transduced = Some(Transduced { scores, ratio, facts });
    Ok(fitted)
}

/// The middle between the lowest of the outputs wanted positive among the unlabelled rows and the highest of the others.
fn threshold(scores: &[f64], few: &FewLabels) -> f64 {
    let open: Vec<f64> = few.unlabeled.iter().map(|&i| scores[i]).collect();
    if open.is_empty() {
        return 0.0;
    }
    super::super::semi::middle(open.iter().copied(), &largest(&open, few.positives))
}

/// The share of the unlabelled rows that came out positive.
fn share(scores: &[f64], few: &FewLabels) -> f64 {
    let positive = few.unlabeled.iter().filter(|&&i| scores[i] > 0.0).count();
    if few.unlabeled.is_empty() { few.ratio } else { positive as f64 / few.unlabeled.len() as f64 }
}

pub(super) fn graph_facts(penalty: &Penalty) -> Map<String, Value> {
    let mut facts = Map::new();
    for graph in penalty.graphs().take(1) {
        let pieces = graph.components().into_iter().max().map_or(0, |c| c + 1);
        let alone = graph.degrees().iter().filter(|d| **d == 0.0).count();
        facts.insert("edges".into(), graph.edges().into());
        facts.insert("components".into(), pieces.into());
        facts.insert("isolated".into(), alone.into());
    }
    facts
}
