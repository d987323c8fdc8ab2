//! Linear functions from few labels and many unlabeled rows: shared code of `linear-tsvm` and `linear-da`.
//!
//!   (λ/2)|w|² + 1/(2l) Σ cᵢh²(yᵢoᵢ) + λᵤ/(2u) Σ cⱼ(pⱼh²(oⱼ) + (1 − pⱼ)h²(−oⱼ)),   o = Xw, h(z) = max(0, 1 − z)
//!
//! with pⱼ the label (0 or 1) or its probability (Sindhwani 2007, chapter 6; the constant feature 1 is regularized with
//! w). l and u are the sums of the weights cᵢ and cⱼ, so that weight 2 equals two copies; without weights they are the
//! numbers of rows. (The share of positives counts rows.) Divided by λ it is the risk ½|w|² + Σ ℓᵢ(oᵢ) of
//! [`crate::estimators::supervised::risk`], minimized by [`crate::solver::newton_cg`]; objectives are reported as
//! above.
//!
//! A row is stored and multiplied once, whatever its p ([`TwoSided`]). Each minimization starts at the previous
//! minimum, and the outputs are kept: a change of labels or of λᵤ costs no product with the data. Intermediate minima
//! are computed to a tenth of the accuracy of the last one (`Accuracy`; the source solves all to 1e-6): labels converge
//! long before weights do, and the decrease of the objective does not depend on the accuracy.

use super::active_columns::{Used, other_columns};
use super::{FewLabels, Ratio, Transduced, center, default_lambda, facts_of};
use crate::data::MatrixView;
use crate::error::{Error, Result};
use crate::estimators::supervised::risk::{Risk, TwoSided};
use crate::estimators::{Fitted, Targets};
use crate::math::blas1::dot;
use crate::math::products::Design;
use crate::model::Model;
use crate::params::{ParamSpec, ParamValues};
use crate::solver::newton_cg::{Newton, Objective};
use crate::solver::{Exit, Progress, Report, Stop, Watch};
use rayon::prelude::*;

/// Whether the data is centered.
pub(crate) const CENTER: ParamSpec =
    ParamSpec::flag("center", "false", "whether to subtract the mean of every column");

/// Parameters shared by both estimators.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub lambda: f64,
    pub lambda_u: f64,
    pub ratio: Ratio,
    pub fit_intercept: bool,
    pub center: bool,
    pub tolerance: f64,
    pub max_steps: Option<u64>,
}

/// Labels found by a strategy.
pub(crate) struct LabelingSolution {
    /// Whether each unlabeled row is positive.
    pub positive: Vec<bool>,
    /// Objective with these labels.
    pub objective: f64,
    /// Facts for the training record.
    pub facts: ParamValues,
}

/// A method that labels the unlabeled rows of a [`LinearProblem`].
pub(crate) trait LabelingStrategy: Sync {
    /// Checked parameters.
    fn settings(&self) -> Result<Settings>;

    /// Finds labels and weights, starting from the weights of the labeled rows; there are unlabeled rows and λᵤ > 0.
    fn find_labels(&self, problem: &mut LinearProblem<'_>, few: &FewLabels) -> LabelingSolution;
}

/// Accuracy of a minimum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Accuracy {
    /// A relative gap of ten times the tolerance, but at most 0.03.
    OnTheWay,
    /// A relative gap of the tolerance.
    AtTheEnd,
}

/// Optimization state of one problem.
pub(crate) struct LinearProblem<'a> {
    settings: &'a Settings,
    watch: &'a dyn Watch,
    risk: Risk<'a, TwoSided>,
    newton: Newton,
    labeled: usize,
    /// cⱼ/(2uλ) of each unlabeled row.
    unit: Vec<f64>,
    report: Report,
    /// The weights, the constant last.
    pub w: Vec<f64>,
}

impl<'a> LinearProblem<'a> {
    /// Starts at `w`, with the labeled rows first in `design` and without cost for the others.
    fn new(
        settings: &'a Settings,
        watch: &'a dyn Watch,
        design: &'a Design<'a>,
        few: &FewLabels,
        targets: &Targets,
        report: Report,
        w: Vec<f64>,
    ) -> Self {
        let mut loss = labeled_loss(few, targets, settings.lambda);
        loss.up.resize(design.rows(), 0.0);
        loss.down.resize(design.rows(), 0.0);
        let cost = |j: &usize| targets.cost[*j];
        let u: f64 = few.unlabeled.iter().map(cost).sum();
        let unit = few.unlabeled.iter().map(|j| cost(j) / (2.0 * u * settings.lambda)).collect();
        let mut risk = Risk::new(design, loss);
        risk.value(&w);
        let newton = Newton::new(design.dim());
        Self { settings, watch, risk, newton, labeled: few.labeled.len(), unit, report, w }
    }

    /// Outputs of the unlabeled rows.
    pub fn unlabeled_outputs(&self) -> &[f64] {
        &self.risk.outputs()[self.labeled..]
    }

    /// Weight of an unlabeled row relative to their mean.
    pub fn weight(&self, j: usize) -> f64 {
        self.unit[j] * 2.0 * self.settings.lambda * self.unit.len() as f64
    }

    /// Difference of the losses of label + and label − for each unlabeled row, at unlabeled weight `lambda_u`.
    pub fn costs(&self, lambda_u: f64, out: &mut [f64]) {
        for (j, (g, &o)) in out.iter_mut().zip(self.unlabeled_outputs()).enumerate() {
            *g = lambda_u * self.weight(j) * preference(o);
        }
    }

    /// Sets the probability `p(j)` of being positive for every unlabeled row, at unlabeled weight `lambda_u`, and
    /// minimizes. `progress` is the current violation of the scheme and the value at which it ends. Returns false if
    /// the fit must stop.
    pub fn minimize(
        &mut self,
        lambda_u: f64,
        p: impl Fn(usize) -> f64,
        accuracy: Accuracy,
        progress: [f64; 2],
    ) -> bool {
        let (labeled, unit) = (self.labeled, &self.unit);
        let value = self.risk.change(&self.w, |loss, _| {
            for (j, unit) in unit.iter().enumerate() {
                let (cost, p) = (lambda_u * unit, p(j));
                loss.up[labeled + j] = cost * p;
                loss.down[labeled + j] = cost * (1.0 - p);
            }
        });
        let steps = self.report.steps;
        let watch =
            OuterProgress { watch: self.watch, steps, violation: progress[0], tolerance: progress[1] };
        let left = self.settings.max_steps.map(|max| max.saturating_sub(steps));
        if left == Some(0) {
            self.report.exit = Exit::Limit;
            return false;
        }
        let last = self.settings.tolerance;
        let tolerance = match accuracy {
            Accuracy::OnTheWay => (10.0 * last).min(0.03).max(last),
            Accuracy::AtTheEnd => last,
        };
        let stop = Stop { tolerance, max_steps: left };
        let report = self.newton.run(&mut self.risk, &mut self.w, value, stop, &watch);
        self.report = Report { steps: steps + report.steps, ..report };
        !matches!(report.exit, Exit::Interrupted | Exit::Limit)
    }

    /// Moves to the given weights.
    pub fn move_to(&mut self, w: &[f64]) {
        self.w.copy_from_slice(w);
        self.risk.value(w);
    }

    /// Objective of the current weights with these labels.
    pub fn objective(&self, lambda_u: f64, positive: impl Fn(usize) -> bool) -> f64 {
        let (known, open) = self.risk.outputs().split_at(self.labeled);
        let loss = self.risk.loss();
        let labeled: f64 = known
            .iter()
            .enumerate()
            .map(
                |(i, &o)| if loss.up[i] > 0.0 { loss.up[i] * squared(o) } else { loss.down[i] * squared(-o) },
            )
            .sum();
        let side = |(j, &o): (usize, &f64)| self.unit[j] * squared(if positive(j) { o } else { -o });
        let unlabeled: f64 = open.iter().enumerate().map(side).sum();
        self.settings.lambda * (0.5 * dot(&self.w, &self.w) + labeled + lambda_u * unlabeled)
    }
}

/// max(0, 1 − z)²
fn squared(z: f64) -> f64 {
    let h = (1.0 - z).max(0.0);
    h * h
}

/// Difference of the losses of label + and label − at output o: h²(o) − h²(−o), which decreases in o.
pub(crate) fn preference(o: f64) -> f64 {
    if o.abs() <= 1.0 { -4.0 * o } else { squared(o) - squared(-o) }
}

/// Reports the progress of an inner minimization in terms of the whole scheme.
struct OuterProgress<'a> {
    watch: &'a dyn Watch,
    steps: u64,
    violation: f64,
    tolerance: f64,
}

impl Watch for OuterProgress<'_> {
    fn proceed(&self, progress: &Progress) -> bool {
        let steps = self.steps + progress.steps;
        self.watch.proceed(&Progress { steps, violation: self.violation, tolerance: self.tolerance })
    }
}

/// Loss of the labeled rows: cᵢ/(2lλ) on the side of the label.
fn labeled_loss(few: &FewLabels, targets: &Targets, lambda: f64) -> TwoSided {
    let l: f64 = few.labeled.iter().map(|&i| targets.cost[i]).sum();
    let side = |sign: f64| {
        let cost =
            |(&i, &y): (&usize, &f64)| if y == sign { targets.cost[i] / (2.0 * l * lambda) } else { 0.0 };
        few.labeled.iter().zip(&few.y).map(cost).collect()
    };
    TwoSided { up: side(1.0), down: side(-1.0) }
}

/// Fits every problem, from the weights of `start` if given; columns that no row uses cost nothing.
pub(crate) fn fit(
    scheme: &impl LabelingStrategy,
    x: MatrixView<'_>,
    problems: &[Targets],
    start: Option<&Model>,
    watch: &dyn Watch,
) -> Result<Fitted> {
    let Some(used) = Used::of(x) else { return fit_columns(scheme, x, problems, start, watch) };
    let start = start.map(|model| used.gather(model)).transpose()?;
    let fitted = fit_columns(scheme, used.narrow(x), problems, start.as_ref(), watch)?;
    Ok(Fitted { model: used.spread(fitted.model), ..fitted })
}

fn fit_columns(
    scheme: &impl LabelingStrategy,
    x: MatrixView<'_>,
    problems: &[Targets],
    start: Option<&Model>,
    watch: &dyn Watch,
) -> Result<Fitted> {
    let mut settings = scheme.settings()?;
    let few = FewLabels::of(x, problems, &settings.ratio, watch)?;
    settings.lambda = default_lambda::linear(settings.lambda, x, problems, settings.center);
    let solved: Vec<NewtonSolution> = problems
        .par_iter()
        .zip(&few)
        .enumerate()
        .map(|(k, (targets, few))| {
            let seed = seed(start, k, x.cols(), problems.len())?;
            Ok(solve(scheme, &settings, x, targets, few, seed, watch))
        })
        .collect::<Result<_>>()?;
    let (mut weights, mut bias, mut reports) = (Vec::new(), Vec::new(), Vec::new());
    let mut transduced = Transduced { ratio: few.iter().map(|f| f.ratio).collect(), ..Transduced::default() };
    let mut facts: Vec<ParamValues> = Vec::new();
    for s in solved {
        weights.push(s.weights);
        bias.push(s.bias);
        reports.push(s.report);
        transduced.scores.push(s.scores);
        facts.push(s.facts);
    }
    transduced.facts = facts_of(facts);
    transduced.facts.extend(few.iter().flat_map(FewLabels::facts));
    let model = Model::Linear { weights, bias };
    Ok(Fitted { transduced: Some(transduced), ..Fitted::new(model, reports) })
}

/// Fits along a path of λ, each from the weights of the previous fit.
pub(crate) fn fit_path<S: LabelingStrategy>(
    at: impl Fn(f64) -> S,
    lambdas: &[f64],
    x: MatrixView<'_>,
    problems: &[Targets],
    watch: &dyn Watch,
) -> Result<Vec<Fitted>> {
    let mut path: Vec<Fitted> = Vec::with_capacity(lambdas.len());
    for &lambda in lambdas {
        let start = path.last().map(|f| &f.model);
        path.push(fit(&at(lambda), x, problems, start, watch)?);
    }
    Ok(path)
}

struct NewtonSolution {
    weights: Vec<f64>,
    bias: f64,
    report: Report,
    scores: Vec<f64>,
    facts: ParamValues,
}

/// Weights and constant to start from.
fn seed(start: Option<&Model>, k: usize, cols: usize, problems: usize) -> Result<(Vec<f64>, f64)> {
    match start {
        None => Ok((vec![0.0; cols], 0.0)),
        Some(Model::Linear { weights, bias }) if weights.len() == problems && weights[k].len() == cols => {
            Ok((weights[k].clone(), bias[k]))
        }
        Some(_) => Err(other_columns()),
    }
}

fn solve(
    scheme: &impl LabelingStrategy,
    settings: &Settings,
    x: MatrixView<'_>,
    targets: &Targets,
    few: &FewLabels,
    seed: (Vec<f64>, f64),
    watch: &dyn Watch,
) -> NewtonSolution {
    let mean = settings.center.then(|| mean(x, few, targets));
    let shift = |w: &[f64]| mean.as_ref().map_or(0.0, |m| dot(m, &w[..m.len()]));
    let design = |rows: &mut dyn Iterator<Item = usize>| {
        Design::new(x, rows.map(|i| i as u32).collect(), settings.fit_intercept).centered(mean.clone())
    };
    let (mut w, constant) = seed;
    if settings.fit_intercept {
        let constant = constant + shift(&w);
        w.push(constant);
    }

    let labeled = design(&mut few.labeled.iter().copied());
    let mut risk = Risk::new(&labeled, labeled_loss(few, targets, settings.lambda));
    let value = risk.value(&w);
    let stop = Stop { tolerance: settings.tolerance, max_steps: settings.max_steps };
    let mut report = Newton::new(labeled.dim()).run(&mut risk, &mut w, value, stop, watch);
    report.objective *= settings.lambda;

    let mut settled = None;
    if !few.unlabeled.is_empty() && settings.lambda_u > 0.0 {
        let both = design(&mut few.labeled.iter().chain(&few.unlabeled).copied());
        let mut problem = LinearProblem::new(settings, watch, &both, few, targets, report, w);
        let found = scheme.find_labels(&mut problem, few);
        (report, w) = (problem.report, problem.w);
        report.objective = found.objective;
        settled = Some(found);
    }

    let mut scores = vec![0.0; x.rows()];
    design(&mut (0..x.rows())).mul(&w, &mut scores);
    let mut facts = ParamValues::new();
    if let Some(found) = settled {
        let mut open: Vec<f64> = few.unlabeled.iter().map(|&j| scores[j]).collect();
        center(&mut open, &found.positive);
        few.unlabeled.iter().zip(open).for_each(|(&j, s)| scores[j] = s);
        facts = found.facts;
    }
    facts.insert("lambda".into(), settings.lambda.into());
    let bias = if settings.fit_intercept { w.pop().unwrap_or(0.0) } else { 0.0 } - shift(&w);
    NewtonSolution { weights: w, bias, report, scores, facts }
}

/// Weighted mean of the rows that take part.
fn mean(x: MatrixView<'_>, few: &FewLabels, targets: &Targets) -> Vec<f64> {
    let (mut sum, mut total) = (vec![0.0; x.cols()], 0.0);
    for &i in few.labeled.iter().chain(&few.unlabeled) {
        let c = targets.cost[i];
        x.row(i).for_each(|k, v| sum[k] += c * v);
        total += c;
    }
    sum.iter_mut().for_each(|s| *s /= total);
    sum
}

impl Settings {
    /// Refuses values out of range.
    pub fn checked(self) -> Result<Self> {
        if self.lambda != 0.0 && !(self.lambda >= 1e-12 && self.lambda <= 1e12) {
            let range = "0 (scaled to the length of the rows) or a number from 1e-12 to 1e12";
            return Err(Error::parameter("lambda", self.lambda, range));
        }
        if !(self.lambda_u >= 0.0 && self.lambda_u <= 1e6) {
            return Err(Error::parameter("lambda_u", self.lambda_u, "a number from 0 to 1e6"));
        }
        if !(self.tolerance > 0.0 && self.tolerance < 1.0) {
            return Err(Error::parameter("tolerance", self.tolerance, "a number between 0 and 1"));
        }
        Ok(self)
    }
}

/// Refuses an annealing factor of 1 or below.
pub(crate) fn check_rate(rate: f64) -> Result<()> {
    if rate > 1.0 && rate <= 1e6 {
        return Ok(());
    }
    Err(Error::parameter("rate", rate, "a number above 1, at most 1e6"))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::data::{Label, Matrix};
    use crate::estimators::supervised::risk::{Loss, SquaredHinge};
    use crate::solver::newton_cg::newton;
    use rand::{RngExt, SeedableRng};

    /// Two clouds that overlap a little; the first `labeled` rows have a label, and both classes are among them.
    pub(crate) fn few_labels(rows: usize, cols: usize, labeled: usize, seed: u64) -> (Matrix, Targets) {
        let mut rng = rand_pcg::Pcg64::seed_from_u64(seed);
        let (mut values, mut y) = (Vec::new(), Vec::new());
        for i in 0..rows {
            let sign = if i % 2 == 0 { 1.0 } else { -1.0 };
            values.extend((0..cols).map(|_| 0.5 * sign + rng.random_range(-1.5..1.5)));
            let label = if sign > 0.0 { Label::Pos } else { Label::Neg };
            y.push(if i < labeled { label } else { Label::Unknown });
        }
        (Matrix::dense(values, rows, cols).unwrap(), Targets { y, cost: vec![1.0; rows] })
    }

    #[test]
    fn row_with_two_costs_equals_two_rows() {
        let (x, _) = few_labels(30, 5, 0, 7);
        let cost = |i: usize| [0.3 + (i % 5) as f64, 0.1 + (i % 3) as f64];
        let twice: Vec<usize> = (0..60).map(|i| i / 2).collect();
        let copied = x.view().select(&twice);
        let loss = TwoSided {
            up: (0..30).map(|i| cost(i)[0]).collect(),
            down: (0..30).map(|i| cost(i)[1]).collect(),
        };
        let pairs = SquaredHinge {
            target: (0..60).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect(),
            cost: (0..60).map(|i| cost(i / 2)[i % 2]).collect(),
        };
        let stop = Stop { tolerance: 1e-9, max_steps: None };
        let (mut v, mut w) = (vec![0.0; 6], vec![0.0; 6]);
        let one = Design::new(x.view(), (0..30).collect(), true);
        let two = Design::new(copied.view(), (0..60).collect(), true);
        let a = newton(&mut Risk::new(&one, &loss), &mut v, stop, &());
        let b = newton(&mut Risk::new(&two, &pairs), &mut w, stop, &());
        assert!((a.objective - b.objective).abs() < 1e-10 * b.objective);
        assert!(v.iter().zip(&w).all(|(v, w)| (v - w).abs() < 1e-7), "{v:?} {w:?}");
    }

    #[test]
    fn slopes_and_curvatures_equal_finite_differences() {
        let loss = TwoSided { up: vec![0.7, 0.0, 2.0], down: vec![0.2, 1.5, 0.0] };
        for i in 0..3 {
            for k in -30..=30 {
                let o = 0.1 * f64::from(k) + 0.037;
                let e = 1e-6;
                let [_, slope, curvature] = loss.at(i, o);
                let [low, high] = [loss.at(i, o - e), loss.at(i, o + e)];
                assert!((slope - (high[0] - low[0]) / (2.0 * e)).abs() < 1e-7);
                assert!((curvature - (high[1] - low[1]) / (2.0 * e)).abs() < 1e-7);
            }
        }
    }

    #[test]
    fn cached_outputs_equal_those_of_the_weights() {
        struct Moves;
        impl LabelingStrategy for Moves {
            fn settings(&self) -> Result<Settings> {
                Settings {
                    lambda: 0.01,
                    lambda_u: 1.0,
                    ratio: Ratio::Labels,
                    fit_intercept: true,
                    center: true,
                    tolerance: 1e-3,
                    max_steps: None,
                }
                .checked()
            }
            fn find_labels(&self, problem: &mut LinearProblem<'_>, few: &FewLabels) -> LabelingSolution {
                for k in 0..50 {
                    let p = |j: usize| ((j * 31 + k * 17) % 11) as f64 / 10.0;
                    assert!(problem.minimize(1.0, p, Accuracy::OnTheWay, [1.0, 1.0]));
                }
                let kept = problem.risk.outputs().to_vec();
                let w = problem.w.clone();
                problem.move_to(&w);
                for (a, b) in kept.iter().zip(problem.risk.outputs()) {
                    assert!((a - b).abs() < 1e-11, "{a} {b}");
                }
                LabelingSolution {
                    positive: vec![true; few.unlabeled.len()],
                    objective: 0.0,
                    facts: ParamValues::new(),
                }
            }
        }
        let (x, targets) = few_labels(40, 6, 10, 3);
        fit(&Moves, x.view(), &[targets], None, &()).unwrap();
    }

    #[test]
    fn preference_decreases_and_is_odd() {
        let mut last = f64::INFINITY;
        for k in -50..=50 {
            let o = f64::from(k) / 20.0;
            assert!(preference(o) < last);
            assert!((preference(o) + preference(-o)).abs() < 1e-12);
            assert!((preference(o) - (squared(o) - squared(-o))).abs() < 1e-12);
            last = preference(o);
        }
    }
}
