//! `linear-tsvm`: the transductive support vector machine for sparse data, which switches the labels of many pairs at a
//! time.
//!
//! min over w and labels y' of the objective of [`super::linear`] with p = 1 where y' = + and 0 where −, the number of
//! positives among the unlabeled rows being given (Sindhwani 2007, section 6.3; Joachims 1999).
//!
//! 1. Train on the labels; the unlabeled rows with the highest outputs are labeled positive.
//! 2. Minimize over w with the unlabeled weight at a small value, `start`.
//! 3. Switch the labels of pairs whose swap decreases the objective, largest decrease first, at most `switch` pairs;
//!    minimize again; repeat until there is no such pair. The objective decreases strictly, so this ends.
//! 4. Multiply the unlabeled weight by `rate` and go to 3, until it is λᵤ.
//!
//! Departures. A pair (i positive, j negative) is switched when cᵢ(h²(oᵢ) − h²(−oᵢ)) > cⱼ(h²(oⱼ) − h²(−oⱼ)), that is,
//! when the sum of their losses decreases; with equal weights this means oᵢ < oⱼ. The source also requires that both
//! have a loss, which excludes some pairs that would decrease the objective. The first minimization with unlabeled rows
//! starts from the solution of the labeled rows instead of 0.

use super::linear::CENTER;
use super::linear::{
    Accuracy, LabelingSolution, LabelingStrategy, LinearProblem, Settings, check_rate, fit, fit_path,
    preference,
};
use super::{FewLabels, Ratio, largest};
use crate::data::MatrixView;
use crate::error::{Error, Result};
use crate::estimators::registry::{EstimatorSpec, Parameters};
use crate::estimators::{Fit, Fitted, Targets};
use crate::model::Model;
use crate::params::ParamValues;
use crate::params::shared::{FIT_INTERCEPT, LAMBDA, LAMBDA_U, MAX_STEPS, RATE, RATIO, RELATIVE_TOLERANCE};
use crate::params::{FloatRange, ParamSpec};
use crate::solver::Watch;
use serde::{Deserialize, Serialize};

/// The specification of `linear-tsvm`.
pub static SPEC: EstimatorSpec = EstimatorSpec::semi_supervised(
    "linear-tsvm",
    "linear S3VM for many rows, by switching pairs of inferred labels",
    &[
        LAMBDA,
        LAMBDA_U.range_of(FloatRange::closed(0.0, 1e6)),
        RATIO,
        ParamSpec::count("switch", 0, "0", "maximum number of pairs switched at a time; 0 = all"),
        ParamSpec::float(
            "start",
            FloatRange::above(0.0, 1e6),
            "0.00001",
            "initial weight of the unlabeled rows",
        ),
        RATE.help_of("factor by which the weight of the unlabeled rows grows per step"),
        FIT_INTERCEPT,
        CENTER,
        RELATIVE_TOLERANCE,
        MAX_STEPS.help_of("maximum number of Newton rounds in total; none = no limit"),
    ],
);

impl Parameters for LinearTsvmParams {}

/// Parameters of [`linear-tsvm`](self).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LinearTsvmParams {
    /// Weight of |w|²/2; 0 means 0.01 times the mean squared length of the rows (centered ones, with `center`).
    pub lambda: f64,
    /// Total weight of the unlabeled rows, relative to 1 for the labeled rows.
    pub lambda_u: f64,
    /// Share of positives among the unlabeled rows.
    pub ratio: Ratio,
    /// Maximum number of pairs whose labels are switched at a time; 0 means all.
    pub switch: usize,
    /// Initial weight of the unlabeled rows.
    pub start: f64,
    /// Factor by which the weight of the unlabeled rows grows per step.
    pub rate: f64,
    /// Whether to fit an intercept, as the weight of a constant feature 1.
    pub fit_intercept: bool,
    /// Whether to subtract the mean of every column, without storing the zeros that change.
    pub center: bool,
    /// The relative error of every minimum is at most the square of this value.
    pub tolerance: f64,
    /// Maximum number of Newton rounds in total; 0 means no limit.
    #[serde(with = "crate::params::step_limit")]
    pub max_steps: Option<u64>,
}

impl Default for LinearTsvmParams {
    fn default() -> Self {
        Self {
            lambda: 0.0,
            lambda_u: 1.0,
            ratio: Ratio::Labels,
            switch: 0,
            start: 1e-5,
            rate: 1.5,
            fit_intercept: true,
            center: false,
            tolerance: 1e-3,
            max_steps: None,
        }
    }
}

impl Fit for LinearTsvmParams {
    fn fit(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        fit(self, x, problems, None, watch)
    }

    fn supervised(&self) -> Option<Box<dyn Fit>> {
        Some(Box::new(Self { lambda_u: 0.0, ..self.clone() }))
    }
}

impl LinearTsvmParams {
    /// Fits from the weights of `start`, a linear model with as many columns and outputs.
    pub fn fit_from(
        &self,
        x: MatrixView<'_>,
        problems: &[Targets],
        start: &Model,
        watch: &dyn Watch,
    ) -> Result<Fitted> {
        fit(self, x, problems, Some(start), watch)
    }

    /// One fit for each of `lambdas`, each from the weights of the previous fit.
    pub fn fit_path(
        &self,
        lambdas: &[f64],
        x: MatrixView<'_>,
        problems: &[Targets],
        watch: &dyn Watch,
    ) -> Result<Vec<Fitted>> {
        fit_path(|lambda| Self { lambda, ..self.clone() }, lambdas, x, problems, watch)
    }
}

impl LabelingStrategy for LinearTsvmParams {
    fn settings(&self) -> Result<Settings> {
        check_rate(self.rate)?;
        if !(self.start > 0.0 && self.start <= 1e6) {
            return Err(Error::parameter("start", self.start, "a number above 0, at most 1e6"));
        }
        let Self { lambda, lambda_u, fit_intercept, center, tolerance, max_steps, .. } = *self;
        Settings { lambda, lambda_u, ratio: self.ratio.clone(), fit_intercept, center, tolerance, max_steps }
            .checked()
    }

    fn find_labels(&self, problem: &mut LinearProblem<'_>, few: &FewLabels) -> LabelingSolution {
        let mut labels = Labels::new(largest(problem.unlabeled_outputs(), few.positives), self.switch);
        let mut level = self.start.min(self.lambda_u);
        let progress = |level: f64| [self.lambda_u / level, 1.0];
        let mut on = labels.improve(problem, level, Accuracy::OnTheWay, progress(level));
        while on && level < self.lambda_u {
            level = (level * self.rate).min(self.lambda_u);
            on = labels.improve(problem, level, Accuracy::OnTheWay, progress(level));
        }
        if on {
            labels.improve(problem, level, Accuracy::AtTheEnd, progress(level));
        }
        let Labels { positive, switched, batches, .. } = labels;
        let objective = problem.objective(self.lambda_u, |j| positive[j]);
        let facts = ParamValues::from_iter([
            ("switched_pairs".to_string(), switched.into()),
            ("switch_batches".to_string(), batches.into()),
        ]);
        LabelingSolution { positive, objective, facts }
    }
}

/// Labels of the unlabeled rows while pairs are switched.
pub(crate) struct Labels {
    pub positive: Vec<bool>,
    /// Maximum number of pairs switched at a time; 0 means all.
    max_pairs: usize,
    pub switched: usize,
    pub batches: usize,
}

impl Labels {
    pub fn new(positive: Vec<bool>, max_pairs: usize) -> Self {
        Self { positive, max_pairs, switched: 0, batches: 0 }
    }

    /// Alternates minimizing at unlabeled weight `level` and switching, until no pair reduces the objective; neither
    /// step increases it. Returns false if the fit must stop.
    pub fn improve(
        &mut self,
        problem: &mut LinearProblem<'_>,
        level: f64,
        accuracy: Accuracy,
        progress: [f64; 2],
    ) -> bool {
        loop {
            let label = |j: usize| f64::from(u8::from(self.positive[j]));
            if !problem.minimize(level, label, accuracy, progress) {
                return false;
            }
            let cost = |j, o| problem.weight(j) * preference(o);
            let pairs = switch(problem.unlabeled_outputs(), cost, &mut self.positive, self.max_pairs);
            if pairs == 0 {
                return true;
            }
            self.switched += pairs;
            self.batches += 1;
        }
    }
}

/// Switches the labels of the pairs (a positive, a negative) that reduce the objective, largest reduction first, at
/// most `max_pairs` (0: all); `cost(j, oⱼ)` is the additional loss of label + over label − for row j. Returns the
/// number of pairs.
fn switch(
    outputs: &[f64],
    cost: impl Fn(usize, f64) -> f64,
    positive: &mut [bool],
    max_pairs: usize,
) -> usize {
    let g = |j: usize| cost(j, outputs[j]);
    let (mut worst, mut best) = (f64::NEG_INFINITY, f64::INFINITY);
    for (j, &p) in positive.iter().enumerate() {
        if p {
            worst = worst.max(g(j));
        } else {
            best = best.min(g(j));
        }
    }
    if worst <= best {
        return 0;
    }
    let (mut up, mut down) = (Vec::new(), Vec::new());
    for (j, &p) in positive.iter().enumerate() {
        let g = g(j);
        if p && g > best {
            down.push((-g, j));
        } else if !p && g < worst {
            up.push((g, j));
        }
    }
    let ascending = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    up.sort_unstable_by(ascending);
    down.sort_unstable_by(ascending);
    let max_pairs = if max_pairs == 0 { usize::MAX } else { max_pairs };
    let gaining = up.iter().zip(&down).take(max_pairs).take_while(|(n, p)| -p.0 > n.0);
    gaining
        .map(|(n, p)| {
            positive[n.1] = true;
            positive[p.1] = false;
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimators::transductive::linear::tests::few_labels;

    /// Switches and minimizes at one weight of the unlabeled rows, and checks every batch.
    struct Checked(LinearTsvmParams);

    impl LabelingStrategy for Checked {
        fn settings(&self) -> Result<Settings> {
            self.0.settings()
        }

        fn find_labels(&self, problem: &mut LinearProblem<'_>, few: &FewLabels) -> LabelingSolution {
            let level = self.0.lambda_u;
            // the worst possible labels, so that many pairs are switched
            let mut positive: Vec<bool> =
                largest(problem.unlabeled_outputs(), few.unlabeled.len() - few.positives)
                    .iter()
                    .map(|p| !p)
                    .collect();
            let minimize = |problem: &mut LinearProblem<'_>, positive: &[bool]| {
                let label = |j: usize| f64::from(u8::from(positive[j]));
                assert!(problem.minimize(level, label, Accuracy::OnTheWay, [1.0, 1.0]));
                problem.objective(level, |j| positive[j])
            };
            let mut before = minimize(problem, &positive);
            let mut batches = 0;
            loop {
                let cost = |j, o| problem.weight(j) * preference(o);
                let was = positive.clone();
                let pairs = switch(problem.unlabeled_outputs(), cost, &mut positive, self.0.switch);
                let changed = was.iter().zip(&positive).filter(|(a, b)| a != b).count();
                assert_eq!(changed, 2 * pairs);
                assert_eq!(positive.iter().filter(|p| **p).count(), few.positives);
                assert!(self.0.switch == 0 || pairs <= self.0.switch);
                if pairs == 0 {
                    break;
                }
                batches += 1;
                let switched = problem.objective(level, |j| positive[j]);
                assert!(switched < before, "{switched} {before}");
                before = minimize(problem, &positive);
                assert!(before <= switched);
            }
            assert!(batches > 0);
            for (i, &oi) in problem.unlabeled_outputs().iter().enumerate().filter(|(i, _)| positive[*i]) {
                for (j, &oj) in problem.unlabeled_outputs().iter().enumerate().filter(|(j, _)| !positive[*j])
                {
                    assert!(problem.weight(i) * preference(oi) <= problem.weight(j) * preference(oj));
                }
            }
            LabelingSolution { positive, objective: before, facts: ParamValues::new() }
        }
    }

    #[test]
    fn every_batch_decreases_the_objective_and_keeps_the_number_of_positives() {
        for (seed, max_pairs) in [(1, 1), (2, 3), (3, 0), (4, 1), (5, 0)] {
            let (x, mut targets) = few_labels(60, 4, 8, seed);
            if seed > 3 {
                targets.cost.iter_mut().enumerate().for_each(|(i, c)| *c = 0.5 + (i % 4) as f64);
            }
            let params = LinearTsvmParams { lambda: 0.02, switch: max_pairs, ..LinearTsvmParams::default() };
            fit(&Checked(params), x.view(), &[targets], None, &()).unwrap();
        }
    }

    #[test]
    fn switches_the_pairs_with_the_largest_reduction() {
        let cost = |_: usize, o: f64| preference(o);
        let outputs = [-0.5, 0.9, 0.2, 0.7, -0.1, 2.0];
        let labels = [true, false, true, false, false, true];
        let mut one = labels;
        assert_eq!(switch(&outputs, cost, &mut one, 1), 1);
        assert_eq!(one, [false, true, true, false, false, true]);
        let mut all = labels;
        assert_eq!(switch(&outputs, cost, &mut all, 0), 2);
        assert_eq!(all, [false, true, false, true, false, true]);
        assert_eq!(switch(&outputs, cost, &mut all, 0), 0);
        assert_eq!(switch(&[0.3; 4], cost, &mut [true, false, true, false], 0), 0);
        assert_eq!(switch(&[], cost, &mut [], 0), 0);
    }
}
