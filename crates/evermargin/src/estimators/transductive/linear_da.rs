//! `linear-da`: deterministic annealing for sparse data and few labels.
//!
//! The label of an unlabeled row is a probability pⱼ, and its entropy is rewarded in proportion to a decreasing
//! temperature T:
//!
//!   J_T(w, p) = the objective of [`super::linear`] + T/(2u) Σ (pⱼ ln pⱼ + (1 − pⱼ) ln(1 − pⱼ)),   mean p = r
//!
//! (Sindhwani 2007, section 6.4). At each temperature p ([`super::annealing`]) and w are minimized in turn until p
//! converges (mean divergence below `settle`); J_T never increases. The temperature decreases from `temperature`·λᵤ by
//! the factor `rate` until the mean entropy is below `settle`. The weights with the lowest objective of all computed
//! on the way are taken, with the labels given by their outputs; from there pairs are switched and w is minimized
//! as in [`super::linear_tsvm`], until no pair reduces the objective.
//!
//! Departures. The objective of each candidate uses labels by rank: the ⌊ru + ½⌋ rows with the highest outputs are
//! positive (with row weights, the rows whose loss is reduced most by a positive label). The source labels by the sign
//! of the output; then a function that puts all rows on one side has a low objective when r is far from ½. For
//! comparison with its published results, `by` = `sign` follows the source: it labels by sign, considers only weights
//! computed during annealing, and switches no pairs. With `by` = `rank`, the weights trained on the labeled rows only,
//! and those that switching finds from there, are candidates, too: with a small λ, annealing can end far above them.
//! Because pairs are switched at the end, annealing need not continue until every row is decided. The share is that of
//! a whole number of rows; otherwise one row could never be decided. Identical rows are never decided, so annealing
//! also ends when the temperature has decreased by a factor of 10⁶. Logarithms are natural.

use super::annealing::{mean_divergence, mean_entropy, probabilities};
use super::linear::CENTER;
use super::linear::{
    Accuracy, LabelingSolution, LabelingStrategy, LinearProblem, Settings, check_rate, fit, fit_path,
};
use super::linear_tsvm::Labels;
use super::{FewLabels, Ratio, largest};
use crate::data::MatrixView;
use crate::error::{Error, Result};
use crate::estimators::registry::{EstimatorSpec, Parameters};
use crate::estimators::{Fit, Fitted, Targets};
use crate::model::Model;
use crate::params::ParamValues;
use crate::params::shared::{FIT_INTERCEPT, LAMBDA, LAMBDA_U, MAX_STEPS, RATE, RATIO, RELATIVE_TOLERANCE};
use crate::params::{End, FloatRange, ParamSpec};
use crate::solver::Watch;
use serde::{Deserialize, Serialize};

/// Rule that turns the outputs of the unlabeled rows into labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// The highest outputs are positive, as many as the share requires.
    #[default]
    Rank,
    /// Outputs above 0 are positive, whatever their number.
    Sign,
}

/// The specification of `linear-da`.
pub static SPEC: EstimatorSpec = EstimatorSpec::semi_supervised(
    "linear-da",
    "linear S3VM for many rows, by deterministic annealing of label probabilities",
    &[
        LAMBDA,
        LAMBDA_U.range_of(FloatRange::closed(0.0, 1e6)),
        RATIO,
        ParamSpec::float(
            "temperature",
            FloatRange::above(0.0, 1e6),
            "10",
            "initial temperature, in units of lambda_u",
        ),
        RATE,
        ParamSpec::float(
            "settle",
            FloatRange::new(End::Open(0.0), End::Open(0.5)),
            "0.0001",
            "mean change of label probabilities that ends a temperature, and mean entropy that ends annealing",
        ),
        ParamSpec::choice(
            "by",
            &["rank", "sign"],
            "rank",
            "labels from outputs: rank = the highest are positive, as many as ratio requires; sign = those above 0",
        ),
        FIT_INTERCEPT,
        CENTER,
        RELATIVE_TOLERANCE,
        MAX_STEPS.help_of("maximum number of Newton rounds in total; none = no limit"),
    ],
);

impl Parameters for LinearDaParams {}

/// Parameters of [`linear-da`](self).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LinearDaParams {
    /// Weight of |w|²/2; 0 means 0.01 times the mean squared length of the rows (centered ones, with `center`).
    pub lambda: f64,
    /// Total weight of the unlabeled rows, relative to 1 for the labeled rows.
    pub lambda_u: f64,
    /// Share of positives among the unlabeled rows.
    pub ratio: Ratio,
    /// Initial temperature, in units of lambda_u.
    pub temperature: f64,
    /// Factor by which the temperature decreases.
    pub rate: f64,
    /// Mean divergence between two rounds that ends a temperature, and mean entropy that ends annealing.
    pub settle: f64,
    /// Rule that turns outputs into labels.
    pub by: By,
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

impl Default for LinearDaParams {
    fn default() -> Self {
        Self {
            lambda: 0.0,
            lambda_u: 1.0,
            ratio: Ratio::Labels,
            temperature: 10.0,
            rate: 1.5,
            settle: 1e-4,
            by: By::Rank,
            fit_intercept: true,
            center: false,
            tolerance: 1e-3,
            max_steps: None,
        }
    }
}

/// Maximum number of rounds at one temperature.
const MAX_ROUNDS: usize = 100;
/// Lowest temperature relative to the first.
const MIN_TEMPERATURE: f64 = 1e-6;

impl Fit for LinearDaParams {
    fn fit(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        fit(self, x, problems, None, watch)
    }

    fn supervised(&self) -> Option<Box<dyn Fit>> {
        Some(Box::new(Self { lambda_u: 0.0, ..self.clone() }))
    }
}

impl LinearDaParams {
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

    /// Objective of the current weights with the labels given by their outputs, and these labels.
    fn labels(&self, problem: &LinearProblem<'_>, positives: usize) -> (f64, Vec<bool>) {
        let positive = match self.by {
            By::Rank => by_rank(problem, positives),
            By::Sign => by_sign(problem),
        };
        (problem.objective(self.lambda_u, |j| positive[j]), positive)
    }
}

impl LabelingStrategy for LinearDaParams {
    fn settings(&self) -> Result<Settings> {
        check_rate(self.rate)?;
        if !(self.temperature > 0.0 && self.temperature <= 1e6) {
            return Err(Error::parameter("temperature", self.temperature, "a number above 0, at most 1e6"));
        }
        if !(self.settle > 0.0 && self.settle < 0.5) {
            return Err(Error::parameter("settle", self.settle, "a number between 0 and 0.5"));
        }
        let Self { lambda, lambda_u, fit_intercept, center, tolerance, max_steps, .. } = *self;
        Settings { lambda, lambda_u, ratio: self.ratio.clone(), fit_intercept, center, tolerance, max_steps }
            .checked()
    }

    fn find_labels(&self, problem: &mut LinearProblem<'_>, few: &FewLabels) -> LabelingSolution {
        let u = few.unlabeled.len();
        let whole = few.positives > 0 && few.positives < u;
        let ratio = if whole { few.positives as f64 / u as f64 } else { few.ratio };
        let mut p = vec![ratio; u];
        let (mut q, mut g) = (p.clone(), vec![0.0; u]);
        let (mut temperatures, mut rounds) = (0, 0);
        let mut best = Best::of(self.labels(problem, few.positives), problem);
        let mut on = true;
        if self.by == By::Rank {
            let mut labels = Labels::new(best.positive.clone(), 0);
            on = labels.improve(problem, self.lambda_u, Accuracy::OnTheWay, [1.0, self.settle]);
            best.consider(self.labels(problem, few.positives), problem);
        }
        let mut t = self.temperature * self.lambda_u;
        let coldest = t * MIN_TEMPERATURE;
        let mut entropy = mean_entropy(&p);
        let minimize = |problem: &mut LinearProblem<'_>, p: &[f64], entropy| {
            problem.minimize(self.lambda_u, |j| p[j], Accuracy::OnTheWay, [entropy, self.settle])
        };
        on = on && minimize(problem, &p, entropy);
        if self.by == By::Sign {
            best = Best::of(self.labels(problem, few.positives), problem);
        }
        while on && entropy >= self.settle && t >= coldest {
            temperatures += 1;
            for _ in 0..MAX_ROUNDS {
                q.copy_from_slice(&p);
                problem.costs(self.lambda_u, &mut g);
                probabilities(&g, t, ratio, &mut p);
                entropy = mean_entropy(&p);
                rounds += 1;
                on = minimize(problem, &p, entropy);
                best.consider(self.labels(problem, few.positives), problem);
                if !on || mean_divergence(&p, &q) < self.settle {
                    break;
                }
            }
            t /= self.rate;
        }
        problem.move_to(&best.w);
        let mut labels = Labels::new(best.positive, 0);
        if self.by == By::Rank {
            for accuracy in [Accuracy::OnTheWay, Accuracy::AtTheEnd] {
                on = on && labels.improve(problem, self.lambda_u, accuracy, [self.settle; 2]);
            }
        }
        let Labels { positive, switched, .. } = labels;
        let objective = problem.objective(self.lambda_u, |j| positive[j]);
        let sign = by_sign(problem);
        let facts = ParamValues::from_iter([
            ("temperatures".to_string(), temperatures.into()),
            ("rounds".to_string(), rounds.into()),
            ("entropy".to_string(), entropy.into()),
            ("switched_pairs".to_string(), switched.into()),
            ("objective_by_sign".to_string(), problem.objective(self.lambda_u, |j| sign[j]).into()),
        ]);
        LabelingSolution { positive, objective, facts }
    }
}

/// Solution with the lowest objective so far.
struct Best {
    objective: f64,
    w: Vec<f64>,
    positive: Vec<bool>,
}

impl Best {
    /// The current weights, with labels and their objective.
    fn of((objective, positive): (f64, Vec<bool>), problem: &LinearProblem<'_>) -> Self {
        Self { objective, w: problem.w.clone(), positive }
    }

    fn consider(&mut self, (objective, positive): (f64, Vec<bool>), problem: &LinearProblem<'_>) {
        if objective < self.objective {
            self.w.copy_from_slice(&problem.w);
            (self.objective, self.positive) = (objective, positive);
        }
    }
}

/// Labels by rank: positive are the rows whose loss is reduced most by a positive label, at the current weights.
fn by_rank(problem: &LinearProblem<'_>, positives: usize) -> Vec<bool> {
    let mut savings = vec![0.0; problem.unlabeled_outputs().len()];
    problem.costs(-1.0, &mut savings);
    largest(&savings, positives)
}

fn by_sign(problem: &LinearProblem<'_>) -> Vec<bool> {
    problem.unlabeled_outputs().iter().map(|o| *o > 0.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimators::transductive::linear::tests::few_labels;

    /// Alternates at one temperature and checks that J_T never increases.
    struct Checked(LinearDaParams, f64);

    impl LabelingStrategy for Checked {
        fn settings(&self) -> Result<Settings> {
            self.0.settings()
        }

        fn find_labels(&self, problem: &mut LinearProblem<'_>, few: &FewLabels) -> LabelingSolution {
            let (lambda_u, t) = (self.0.lambda_u, self.1);
            let mut p = vec![few.ratio; few.unlabeled.len()];
            let mut g = p.clone();
            // J_T: both labels weighed by their probability, and the entropy
            let free_energy = |problem: &LinearProblem<'_>, p: &[f64]| {
                let known = problem.objective(0.0, |_| true);
                let u = p.len() as f64;
                let term = |(j, (&p, &o)): (usize, (&f64, &f64))| {
                    let h2 = |z: f64| (1.0 - z).max(0.0).powi(2);
                    let entropy = |p: f64| if p > 0.0 { p * p.ln() } else { 0.0 };
                    let loss = lambda_u * (p * h2(o) + (1.0 - p) * h2(-o));
                    (problem.weight(j) * loss + t * (entropy(p) + entropy(1.0 - p))) / (2.0 * u)
                };
                known + p.iter().zip(problem.unlabeled_outputs()).enumerate().map(term).sum::<f64>()
            };
            let minimize = |problem: &mut LinearProblem<'_>, p: &[f64]| {
                assert!(problem.minimize(lambda_u, |j| p[j], Accuracy::AtTheEnd, [1.0, 1.0]));
            };
            minimize(problem, &p);
            let (start, mut last) = (free_energy(problem, &p), free_energy(problem, &p));
            for _ in 0..20 {
                problem.costs(lambda_u, &mut g);
                let nu = probabilities(&g, t, few.ratio, &mut p);
                let labeled = free_energy(problem, &p);
                // mean p is r to 1e-11, and J_T changes by ν/2 times that
                assert!(labeled <= last + 1e-11 * (0.1 + nu.abs()), "{labeled} {last}");
                minimize(problem, &p);
                last = free_energy(problem, &p);
                assert!(last <= labeled + 1e-12 * labeled.abs(), "{last} {labeled}");
            }
            assert!(last < start - 1e-6, "{last} {start}");
            let positive = largest(problem.unlabeled_outputs(), few.positives);
            LabelingSolution { positive, objective: last, facts: ParamValues::new() }
        }
    }

    #[test]
    fn labels_by_sign_ignore_the_ratio() {
        let (x, targets) = few_labels(60, 4, 8, 5);
        let fitted = |by| {
            let ratio = Ratio::Given(vec![0.2]);
            let params = LinearDaParams { lambda: 1.0, by, ratio, ..LinearDaParams::default() };
            fit(&params, x.view(), std::slice::from_ref(&targets), None, &()).unwrap()
        };
        let positives = |fitted: &Fitted| {
            let scores = &fitted.transduced.as_ref().unwrap().scores[0];
            scores[8..].iter().filter(|s| **s > 0.0).count()
        };
        assert_eq!(positives(&fitted(By::Rank)), 10);
        let sign = fitted(By::Sign);
        let above = sign.model.decision(x.view()).unwrap()[8..].iter().filter(|o| **o > 0.0).count();
        assert_eq!(positives(&sign), above);
        assert_ne!(above, 10);
    }

    #[test]
    fn alternating_never_increases_the_free_energy() {
        for (seed, t) in [(1, 2.0), (2, 0.3), (3, 0.02), (4, 0.3)] {
            let (x, mut targets) = few_labels(60, 4, 8, seed);
            if seed > 3 {
                targets.cost.iter_mut().enumerate().for_each(|(i, c)| *c = 0.5 + (i % 4) as f64);
            }
            let params = LinearDaParams { lambda: 0.02, ..LinearDaParams::default() };
            fit(&Checked(params, t), x.view(), &[targets], None, &()).unwrap();
        }
    }
}
