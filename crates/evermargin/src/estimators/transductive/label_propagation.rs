//! `label-propagation`: propagation of labels along a neighborhood graph, the baseline of graph methods.
//!
//! Three methods on the graph of [`crate::graph`], all solved by truncated Newton ([`crate::solver::newton_cg`]; the
//! problems are quadratic, so it reduces to conjugate gradients). Each unlabeled row gets a share p of the positive
//! class:
//!
//! - `harmonic` (Zhu, Ghahramani & Lafferty 2003): given labels are fixed; f minimizes Σ Wᵢⱼ(fᵢ − fⱼ)², so an unlabeled
//!   row has the weighted mean of its neighbors, and p = (1 + f)/2.
//! - `spreading`, local and global consistency (Zhou et al. 2004): F = (1 − α)(I − αS)⁻¹Y, S = D^(−½)WD^(−½), minimizes
//!   α·FᵀL̃F + (1 − α)|F − Y|²; p is the share of the class in the sum over classes.
//! - `poisson` (Calder, Cook, Thorpe & Slepčev 2020): labels are sources and sinks of a flow, Lu = Σ (yᵢ − ȳ)δᵢ over
//!   the labeled rows. It is designed for very few labels, where harmonic functions are nearly constant with spikes.
//!   Departure: L + εD instead of L, so that components whose labels do not add up to 0 have a solution. With g = D^½u
//!   it is the problem of `spreading` with α = 1/(1 + ε) and another right-hand side. p = ½ + ½·tanh(u/|u|), with |u|
//!   the mean over unlabeled rows.
//!
//! With `mass`, except in Poisson learning with the ratio of the labels, shares are scaled so that the mass of each
//! class is its ratio (class mass normalization, Zhu et al.): pₖ·rₖ/mean pₖ, then divided by their sum. The number of
//! rows per class is then close to its ratio. For two classes it is made exact: the scaling multiplies all odds p/(1 −
//! p) by one number, and here that number puts ½ between the round(r·u) largest shares and the others. Scores are 2p −
//! 1, between −1 and 1.
//!
//! A row that no label can reach has no solution in any of the problems. It gets the ratio as its share, and is
//! counted. The same holds for all unlabeled rows if the neighbor search is stopped.
//!
//! None of the methods predicts new samples. The model is `svc` on all labels, given and inferred (the decoupled method
//! of Sindhwani 2007, section 5.5); unreachable rows do not take part.

use super::{FewLabels, Ratio, Transduced, largest, positives};
use crate::data::{Label, MatrixView};
use crate::error::{Error, Result};
use crate::estimators::manifold::penalty::check_radius;
use crate::estimators::registry::{EstimatorSpec, Parameters};
use crate::estimators::supervised::svc::SvcParams;
use crate::estimators::{Fit, Fitted, Targets};
use crate::graph::{Graph, GraphParams, Metric, Search, Weights};
use crate::kernel::Kernel;
use crate::math::blas1::dot;
use crate::params::shared::{
    C, COEF0, DEGREE, EDGE_WEIGHTS, GAMMA, KERNEL, METRIC, N_NEIGHBORS, RADIUS, RATIO, SEARCH, TOLERANCE,
    WIDTH,
};
use crate::params::{FloatRange, ParamSpec};
use crate::solver::newton_cg::{Objective, newton};
use crate::solver::{Exit, Report, Stop, Watch};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Method of propagation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Every unlabeled row is the mean of its neighbors.
    Harmonic,
    /// Local and global consistency.
    Spreading,
    /// Poisson learning.
    Poisson,
}

/// The specification of `label-propagation`.
pub static SPEC: EstimatorSpec = EstimatorSpec::semi_supervised(
    "label-propagation",
    "labels propagated along a neighborhood graph, and an svc trained on them",
    &[
        ParamSpec::choice(
            "method",
            &["harmonic", "spreading", "poisson"],
            "harmonic",
            "harmonic, spreading (local and global consistency) or poisson (for very few labels)",
        ),
        N_NEIGHBORS.default_of("10").help_of("number of nearest neighbors that each row is connected to"),
        RADIUS,
        SEARCH,
        METRIC,
        EDGE_WEIGHTS.default_of("local"),
        WIDTH,
        ParamSpec::float(
            "alpha",
            FloatRange::UNIT_OPEN,
            "0.99",
            "spreading: weight of the neighbors of a row relative to its own label",
        ),
        ParamSpec::flag(
            "mass",
            "true",
            "whether to scale the mass of each class to its ratio; poisson: only if ratio is not labels",
        ),
        RATIO,
        KERNEL,
        GAMMA,
        DEGREE,
        COEF0,
        C,
        TOLERANCE,
    ],
);

impl Parameters for LabelPropagationParams {}

/// Parameters of [`label-propagation`](self).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LabelPropagationParams {
    /// Method of propagation.
    pub method: Method,
    /// Number of nearest neighbors that each row is connected to.
    pub n_neighbors: usize,
    /// Connects rows up to this distance instead of nearest neighbors; 0 disables this.
    pub radius: f64,
    /// Search method for nearest neighbors.
    pub search: Search,
    /// Distance.
    pub metric: Metric,
    /// Edge weights.
    pub edge_weights: Weights,
    /// Width of heat weights; 0 is the mean edge length.
    pub width: f64,
    /// For spreading: weight of the neighbors of a row relative to its own label.
    pub alpha: f64,
    /// Whether to scale the mass of each class to its ratio.
    pub mass: bool,
    /// Share of positives among the unlabeled rows.
    pub ratio: Ratio,
    /// Kernel of the model.
    pub kernel: Kernel,
    /// Cost of a margin violation in the model.
    pub c: f64,
    /// Largest violation of the model's optimality conditions.
    pub tolerance: f64,
    /// A given graph of the rows, instead of a neighborhood graph.
    #[serde(skip)]
    pub graph: Option<Arc<Graph>>,
}

impl Default for LabelPropagationParams {
    fn default() -> Self {
        Self {
            method: Method::Harmonic,
            n_neighbors: 10,
            radius: 0.0,
            search: Search::Exact,
            metric: Metric::Euclidean,
            edge_weights: Weights::Local,
            width: 0.0,
            alpha: 0.99,
            mass: true,
            ratio: Ratio::Labels,
            kernel: Kernel::Rbf { gamma: 1.0 },
            c: 1.0,
            tolerance: 1e-3,
            graph: None,
        }
    }
}

/// Relative gradient to which shares are solved: a step costs little, and rows far from labels need the precision.
const SOLVE_TOLERANCE: f64 = 1e-10;

/// ε of Poisson learning: fraction of the flow that leaves at each row.
const LEAK: f64 = 1e-2;

/// ½gᵀ(I − αS)g − rᵀg + constant over the free rows, g = D^½f.
struct Energy<'g> {
    graph: &'g Graph,
    alpha: f64,
    /// 1/√degree; 0 for rows that are not free.
    scale: Vec<f64>,
    right: Vec<f64>,
    /// Keeps the energy above 0, so that the relative gradient remains meaningful when the energy is nearly 0.
    constant: f64,
    modulus: f64,
    scaled: Vec<f64>,
}

impl<'g> Energy<'g> {
    /// Harmonic functions: the fixed rows act through their edges to free rows.
    fn harmonic(graph: &'g Graph, y: &[f64], free: &[bool]) -> Self {
        let mut energy = Self::of(graph, 1.0, free);
        let mut pull = 0.0;
        for i in (0..y.len()).filter(|&i| free[i]) {
            for (j, w) in graph.row(i).filter(|(j, _)| !free[*j]) {
                energy.right[i] += w * y[j] * energy.scale[i];
                pull += 0.5 * w * y[j] * y[j];
            }
        }
        energy.constant = pull + 0.5 * dot(&energy.right, &energy.right);
        // The modulus is unknown; with 1 the gap is a relative gradient.
        energy.modulus = 1.0;
        energy
    }

    fn spreading(graph: &'g Graph, y: &[f64], free: &[bool], alpha: f64) -> Self {
        let mut energy = Self::of(graph, alpha, free);
        for i in (0..y.len()).filter(|&i| free[i]) {
            energy.right[i] = (1.0 - alpha) * y[i];
        }
        energy.constant = 0.5 * (1.0 - alpha) * dot(y, y);
        energy.modulus = 1.0 - alpha;
        energy
    }

    /// Poisson learning: the sources are the labels minus their mean.
    fn poisson(graph: &'g Graph, y: &[f64], free: &[bool]) -> Self {
        let mut energy = Self::of(graph, 1.0 / (1.0 + LEAK), free);
        let labels = y.iter().filter(|y| **y != 0.0).count() as f64;
        let mean = y.iter().sum::<f64>() / labels;
        for i in (0..y.len()).filter(|&i| free[i] && y[i] != 0.0) {
            energy.right[i] = energy.scale[i] * (y[i] - mean);
        }
        // the minimum of the energy is at least −|right|²/2μ
        energy.modulus = LEAK / (1.0 + LEAK);
        energy.constant = 0.5 * dot(&energy.right, &energy.right) / energy.modulus;
        energy
    }

    fn of(graph: &'g Graph, alpha: f64, free: &[bool]) -> Self {
        let root = |(d, free): (&f64, &bool)| if *free && *d > 0.0 { d.sqrt().recip() } else { 0.0 };
        let scale = graph.degrees().iter().zip(free).map(root).collect();
        let n = free.len();
        Self { graph, alpha, scale, right: vec![0.0; n], constant: 0.0, modulus: 1.0, scaled: vec![0.0; n] }
    }

    /// out = (I − αS)g
    fn apply(&mut self, g: &[f64], out: &mut [f64]) {
        for ((t, s), g) in self.scaled.iter_mut().zip(&self.scale).zip(g) {
            *t = s * g;
        }
        self.graph.multiply(&self.scaled, out);
        for ((o, s), g) in out.iter_mut().zip(&self.scale).zip(g) {
            *o = g - self.alpha * s * *o;
        }
    }
}

impl Objective for Energy<'_> {
    fn dim(&self) -> usize {
        self.scale.len()
    }

    fn value(&mut self, g: &[f64]) -> f64 {
        let mut image = vec![0.0; g.len()];
        self.apply(g, &mut image);
        (0.5 * dot(g, &image) - dot(&self.right, g) + self.constant).max(f64::MIN_POSITIVE)
    }

    fn gradient(&mut self, g: &[f64], out: &mut [f64]) {
        self.apply(g, out);
        out.iter_mut().zip(&self.right).for_each(|(o, r)| *o -= r);
    }

    fn hess_vec(&mut self, v: &[f64], out: &mut [f64]) {
        self.apply(v, out);
    }

    fn modulus(&self) -> f64 {
        self.modulus
    }

    fn is_quadratic(&self) -> bool {
        true
    }
}

/// Shares of the positive class of all rows, and the report of their computation.
struct Spread {
    share: Vec<f64>,
    report: Report,
}

impl LabelPropagationParams {
    fn check(&self) -> Result<()> {
        if !(self.alpha > 0.0 && self.alpha < 1.0) {
            return Err(Error::parameter("alpha", self.alpha, "between 0 and 1 (both excluded)"));
        }
        check_radius(self.radius)?;
        if !(self.width >= 0.0 && self.width.is_finite()) {
            return Err(Error::parameter("width", self.width, "a positive number, or 0 for the mean edge"));
        }
        if self.kernel == Kernel::Precomputed {
            return Err(Error::parameter(
                "kernel",
                "precomputed",
                "a kernel of samples: neighbors are found from them",
            ));
        }
        Ok(())
    }

    /// Whether class shares are enforced. Poisson learning balances the classes through its sources; shares of few
    /// labels would only add their error.
    fn keeps_mass(&self) -> bool {
        self.mass && (self.method != Method::Poisson || self.ratio != Ratio::Labels)
    }

    fn svc(&self) -> SvcParams {
        SvcParams { kernel: self.kernel, c: self.c, tolerance: self.tolerance, ..Default::default() }
    }

    /// The given graph, or a neighborhood graph; `None` if `watch` ends the search.
    fn graph_of(&self, x: MatrixView<'_>, watch: &dyn Watch) -> Result<Option<Arc<Graph>>> {
        if let Some(graph) = &self.graph {
            graph.check_rows(x.rows())?;
            return Ok(Some(Arc::clone(graph)));
        }
        let params = GraphParams {
            n_neighbors: self.n_neighbors,
            metric: self.metric,
            weights: self.edge_weights,
            width: (self.width > 0.0).then_some(self.width),
            search: self.search,
            radius: (self.radius > 0.0).then_some(self.radius),
        };
        Ok(Graph::nearest(x, &params, watch)?.map(Arc::new))
    }

    /// Propagates labels `y` (−1, 1 or 0); `reached` marks the rows in a component with a label.
    fn spread(&self, graph: &Graph, y: &[f64], reached: &[bool], watch: &dyn Watch) -> Spread {
        let stop = Stop { tolerance: SOLVE_TOLERANCE, max_steps: None };
        let mut g = vec![0.0; y.len()];
        let share = |f: f64| (0.5 * (1.0 + f)).clamp(0.0, 1.0);
        if self.method == Method::Harmonic {
            let free: Vec<bool> = y.iter().zip(reached).map(|(y, r)| *y == 0.0 && *r).collect();
            let mut energy = Energy::harmonic(graph, y, &free);
            let report = newton(&mut energy, &mut g, stop, watch);
            let f = |i: usize| if free[i] { share(g[i] * energy.scale[i]) } else { share(y[i]) };
            return Spread { share: (0..y.len()).map(f).collect(), report };
        }
        if self.method == Method::Poisson {
            let mut energy = Energy::poisson(graph, y, reached);
            let report = newton(&mut energy, &mut g, stop, watch);
            let u: Vec<f64> = g.iter().zip(&energy.scale).map(|(g, s)| g * s).collect();
            let open = || {
                u.iter()
                    .zip(y)
                    .zip(reached)
                    .filter(|((_, y), r)| **y == 0.0 && **r)
                    .map(|((u, _), _)| u.abs())
            };
            let mean = open().sum::<f64>() / open().count().max(1) as f64;
            let f = |u: &f64| if mean > 0.0 { share((u / mean).tanh()) } else { 0.5 };
            return Spread { share: u.iter().map(f).collect(), report };
        }
        let report = newton(&mut Energy::spreading(graph, y, reached, self.alpha), &mut g, stop, watch);
        let all: Vec<f64> = y.iter().map(|y| y.abs()).collect();
        let mut total = vec![0.0; y.len()];
        let second =
            newton(&mut Energy::spreading(graph, &all, reached, self.alpha), &mut total, stop, watch);
        let f = |(g, t): (&f64, &f64)| if *t > 0.0 { share(g / t) } else { 0.5 };
        let exit = if second.exit == Exit::Converged { report.exit } else { second.exit };
        let report = Report { steps: report.steps + second.steps, exit, ..report };
        Spread { share: g.iter().zip(&total).map(f).collect(), report }
    }
}

/// Class mass normalization over the rows `open`, for the shares of several classes that add up to 1.
fn normalize(spread: &mut [Spread], ratio: &[f64], open: &[usize]) {
    let mean = |share: &[f64]| open.iter().map(|&i| share[i]).sum::<f64>() / open.len() as f64;
    let factor = |ratio: f64, mean: f64| if mean > 0.0 { ratio / mean } else { 1.0 };
    let means: Vec<f64> = spread.iter().map(|s| mean(&s.share)).collect();
    for &i in open {
        let scaled = |k: usize| spread[k].share[i] * factor(ratio[k], means[k]);
        let total: f64 = (0..spread.len()).map(scaled).sum();
        for k in 0..spread.len() {
            let share = spread[k].share[i] * factor(ratio[k], means[k]);
            spread[k].share[i] = if total > 0.0 { share / total } else { ratio[k] };
        }
    }
}

/// Scales the odds of the rows `open` so that as many shares as `ratio` requires are above ½; ties go to the lower row.
fn keep_share(share: &mut [f64], ratio: f64, open: &[usize]) {
    let shares: Vec<f64> = open.iter().map(|&i| share[i]).collect();
    let positive = largest(&shares, positives(ratio, open.len()));
    let marked = |mark: bool| shares.iter().zip(&positive).filter(move |(_, p)| **p == mark).map(|(s, _)| *s);
    let lowest = marked(true).fold(1.0, f64::min);
    let highest = marked(false).fold(0.0, f64::max);
    let middle = (0.5 * (lowest + highest)).clamp(f64::EPSILON, 1.0 - f64::EPSILON);
    for ((&i, p), positive) in open.iter().zip(&shares).zip(positive) {
        let (a, b) = (p * (1.0 - middle), (1.0 - p) * middle);
        let scaled = a / (a + b);
        share[i] = if positive { scaled.max(0.5 + f64::EPSILON) } else { scaled.min(0.5) };
    }
}

/// Result of the propagation.
struct Propagated {
    few: Vec<FewLabels>,
    reached: Vec<bool>,
    reports: Vec<Report>,
    transduced: Transduced,
}

impl LabelPropagationParams {
    fn propagate(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Propagated> {
        self.check()?;
        let few = FewLabels::of(x, problems, &self.ratio, watch)?;
        let found = self.graph_of(x, watch)?;
        let stopped = found.is_none();
        let graph = found.unwrap_or_else(|| Arc::new(Graph::without_edges(x.rows())));
        let component = graph.components();
        // A row of weight 0 passes labels on; only its own label is ignored.
        let mut labeled = vec![false; x.rows()];
        few.iter().for_each(|f| f.labeled.iter().for_each(|&i| labeled[component[i] as usize] = true));
        let reached: Vec<bool> = component.iter().map(|&c| labeled[c as usize]).collect();
        let mut spread: Vec<Spread> = few
            .iter()
            .map(|few| {
                let mut y = vec![0.0; x.rows()];
                few.labeled.iter().zip(&few.y).for_each(|(&i, sign)| y[i] = *sign);
                self.spread(&graph, &y, &reached, watch)
            })
            .collect();
        let ratio: Vec<f64> = few.iter().map(|f| f.ratio).collect();
        let open: Vec<usize> = few[0].unlabeled.iter().copied().filter(|&i| reached[i]).collect();
        if self.keeps_mass() && !open.is_empty() {
            match spread.as_mut_slice() {
                [one] => keep_share(&mut one.share, ratio[0], &open),
                several => normalize(several, &ratio, &open),
            }
        }
        for (spread, ratio) in spread.iter_mut().zip(&ratio) {
            (0..x.rows()).filter(|&i| !reached[i]).for_each(|i| spread.share[i] = *ratio);
        }
        let scores = spread.iter().map(|s| s.share.iter().map(|p| 2.0 * p - 1.0).collect()).collect();
        let mut facts = few[0].facts();
        let unreachable = few[0].unlabeled.iter().filter(|&&i| !reached[i]).count();
        facts.insert("unreachable".into(), unreachable.into());
        facts.insert("edges".into(), graph.edges().into());
        facts.insert("width".into(), graph.width().into());
        let mut reports: Vec<Report> = spread.iter().map(|s| s.report).collect();
        if stopped {
            reports.iter_mut().for_each(|r| r.exit = Exit::Interrupted);
        }
        Ok(Propagated { few, reached, reports, transduced: Transduced { scores, ratio, facts, alone: None } })
    }
}

impl Fit for LabelPropagationParams {
    fn fit(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        self.svc().check(x)?;
        let Propagated { few, reached, reports, transduced } = self.propagate(x, problems, watch)?;
        let inferred = inferred(problems, &few, &transduced.scores, &reached);
        let fitted = self.svc().fit(x, &inferred, watch)?;
        let reports = reports.iter().zip(&fitted.reports).map(|(spread, model)| {
            let exit = if spread.exit == Exit::Converged { model.exit } else { spread.exit };
            Report { kernel_evaluations: model.kernel_evaluations, exit, ..*spread }
        });
        Ok(Fitted { transduced: Some(transduced), ..Fitted::new(fitted.model, reports.collect()) })
    }

    fn transduce(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Transduced> {
        Ok(self.propagate(x, problems, watch)?.transduced)
    }

    fn along(&self, graph: &Arc<Graph>) -> Option<Box<dyn Fit>> {
        Some(Box::new(Self { graph: Some(Arc::clone(graph)), ..self.clone() }))
    }

    fn supervised(&self) -> Option<Box<dyn Fit>> {
        Some(Box::new(self.svc()))
    }
}

/// The problems with the inferred labels; with several problems the class with the largest score, the first in ties.
fn inferred(problems: &[Targets], few: &[FewLabels], scores: &[Vec<f64>], reached: &[bool]) -> Vec<Targets> {
    let mut all = problems.to_vec();
    for &i in few[0].unlabeled.iter().filter(|&&i| reached[i]) {
        let mut best = 0;
        for k in 1..scores.len() {
            if scores[k][i] > scores[best][i] {
                best = k;
            }
        }
        for (k, targets) in all.iter_mut().enumerate() {
            let positive = if scores.len() == 1 { scores[0][i] > 0.0 } else { k == best };
            targets.y[i] = if positive { Label::Pos } else { Label::Neg };
        }
    }
    all
}
