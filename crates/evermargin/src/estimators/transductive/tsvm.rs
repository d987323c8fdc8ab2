//! `tsvm`: the transductive support vector machine with any kernel, by switching labels.
//!
//! Problem: that of `transductive::s3vm` with the hinge loss and round(r·u) labels y' positive. Method (Joachims 1999;
//! Sindhwani 2007, sections 3.4.2 and 6.3, with the rule for several pairs): train on the labels; label the unlabeled
//! rows with the largest outputs positive; then increase λᵤ from 1e-5 to its value by factors of 1.5, and at each step,
//! while there are rows i labeled + with oᵢ < 1 and j labeled − with oⱼ > −1 and oᵢ < oⱼ, switch both labels of up to
//! `switch` such pairs, worst first, and train again from the current α.
//!
//! Every batch decreases the objective even before retraining: h(o) − h(−o) decreases strictly, so oᵢ < oⱼ gives
//! h(oᵢ) + h(−oⱼ) > h(−oᵢ) + h(oⱼ). Because each solution is exact only to the tolerance, and kernel values to single
//! precision, a batch that does not decrease the objective by more than that precision ends its step. Otherwise copies
//! of one row, whose outputs differ only by rounding, would switch labels endlessly.

use super::s3vm::{self, Function, KernelProblem, Problem, Problems};
use super::{Ratio, default_lambda, largest};
use crate::data::MatrixView;
use crate::error::Result;
use crate::estimators::registry::{EstimatorSpec, Parameters};
use crate::estimators::{Fit, Fitted, Targets};
use crate::kernel::Kernel;
use crate::kernel::gram::Gram;
use crate::params::shared::{
    CACHE_BYTES, COEF0, DEGREE, FIT_INTERCEPT, GAMMA, KERNEL, KERNEL_LAMBDA, LAMBDA_U, RATIO, TOLERANCE,
};
use crate::params::{FloatRange, ParamSpec};
use crate::solver::{Report, Watch};
use serde::{Deserialize, Serialize};

/// The specification of `tsvm`.
pub static SPEC: EstimatorSpec = EstimatorSpec::semi_supervised(
    "tsvm",
    "transductive support vector machine with any kernel, by switching labels",
    &[
        KERNEL,
        GAMMA,
        DEGREE,
        COEF0,
        KERNEL_LAMBDA,
        LAMBDA_U,
        RATIO,
        ParamSpec::count("switch", 0, "0", "maximum number of pairs of labels switched at a time; 0 = all"),
        TOLERANCE.range_of(FloatRange::UNIT_OPEN),
        FIT_INTERCEPT,
        CACHE_BYTES,
    ],
);

impl Parameters for TsvmParams {}

/// Parameters of [`tsvm`](self).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TsvmParams {
    /// The kernel.
    pub kernel: Kernel,
    /// Weight of |f|²; 0 means 0.01 times the mean of K(x, x).
    pub lambda: f64,
    /// Weight of the loss of the unlabeled rows relative to that of the labeled ones; 0 leaves them out.
    pub lambda_u: f64,
    /// Share of positives among the unlabeled rows.
    pub ratio: Ratio,
    /// Maximum number of pairs whose labels are switched at a time; 0 means all.
    pub switch: usize,
    /// Largest violation of the optimality conditions.
    pub tolerance: f64,
    /// Whether to fit an intercept, which is not regularized.
    pub fit_intercept: bool,
    /// Bytes for cached kernel rows.
    pub cache_bytes: usize,
    /// Maximum number of steps at each weight of the unlabeled rows; `None` is far more than scaled data needs.
    #[serde(skip)]
    pub max_steps: Option<u64>,
    /// Whether to increase the weight of the unlabeled rows in few steps.
    #[serde(skip)]
    pub fast: bool,
}

impl Default for TsvmParams {
    fn default() -> Self {
        Self {
            kernel: Kernel::Rbf { gamma: 1.0 },
            lambda: 0.0,
            lambda_u: 1.0,
            ratio: Ratio::Labels,
            switch: 0,
            tolerance: 1e-3,
            fit_intercept: true,
            cache_bytes: 1 << 30,
            max_steps: None,
            fast: false,
        }
    }
}

/// Initial λᵤ, and the factor by which it grows.
const ANNEALING: (f64, f64) = (1e-5, 1.5);
/// The same if speed matters more than the last switches.
const FAST_ANNEALING: (f64, f64) = (1e-3, 4.0);

/// Result of label switching for one problem.
pub(crate) struct Switched {
    pub function: Function,
    /// Label −1 or 1 of each unlabeled row.
    pub labels: Vec<f64>,
    pub report: Report,
    /// Number of pairs switched.
    pub switches: usize,
    /// Objective (divided by λ) before and after every batch, at one λᵤ.
    pub batches: Vec<[f64; 2]>,
}

/// Label switching on one problem.
pub(crate) struct Switching {
    pub fit_intercept: bool,
    pub tolerance: f64,
    pub switch: usize,
    pub lambda: f64,
    pub lambda_u: f64,
    pub max_steps: Option<u64>,
    pub fast: bool,
}

impl Switching {
    pub fn solve(&self, gram: &mut dyn Gram, problem: &Problem, watch: &dyn Watch) -> Switched {
        let mut machine = KernelProblem::new(
            gram,
            problem.y.clone(),
            problem.cost.clone(),
            self.fit_intercept,
            self.tolerance,
        )
        .with_max_steps(self.max_steps);
        let mut going = machine.run(watch);
        let f = machine.dual.decisions();
        let ranked = largest(&problem.open.iter().map(|&i| f[i]).collect::<Vec<_>>(), problem.positives);
        let mut y = problem.y.clone();
        for (&i, positive) in problem.open.iter().zip(ranked) {
            y[i] = if positive { 1.0 } else { -1.0 };
        }
        let (mut switches, mut batches) = (0, Vec::new());
        let (first, growth) = if self.fast { FAST_ANNEALING } else { ANNEALING };
        let mut weight = first.min(self.lambda_u);
        while going && !problem.open.is_empty() {
            let mut cost = problem.cost.clone();
            problem.open.iter().for_each(|&i| cost[i] *= weight / self.lambda_u);
            machine.set_targets(&y, &cost);
            going = machine.run(watch);
            while going {
                let pairs = self.pairs(&machine.dual.decisions(), &y, &problem.open);
                if pairs.is_empty() {
                    break;
                }
                let before = machine.primal();
                for &(i, j) in &pairs {
                    (y[i], y[j]) = (-1.0, 1.0);
                }
                machine.set_targets(&y, &cost);
                going = machine.run(watch);
                switches += pairs.len();
                batches.push([before, machine.primal()]);
                if machine.primal() >= before * (1.0 - f64::from(f32::EPSILON)) {
                    break;
                }
            }
            if weight >= self.lambda_u {
                break;
            }
            weight = (growth * weight).min(self.lambda_u);
        }
        let mut report = machine.report;
        report.objective = self.lambda * machine.primal();
        report.gap *= self.lambda;
        let labels = problem.open.iter().map(|&i| y[i]).collect();
        Switched { function: machine.function(), labels, report, switches, batches }
    }

    /// Pairs in the order of their violation: the worst positive with the worst negative, the second with the second,
    /// while a switch reduces the objective.
    fn pairs(&self, f: &[f64], y: &[f64], open: &[usize]) -> Vec<(usize, usize)> {
        let mut plus: Vec<usize> = open.iter().copied().filter(|&i| y[i] > 0.0 && f[i] < 1.0).collect();
        let mut minus: Vec<usize> = open.iter().copied().filter(|&i| y[i] < 0.0 && f[i] > -1.0).collect();
        plus.sort_unstable_by(|&a, &b| f[a].total_cmp(&f[b]).then(a.cmp(&b)));
        minus.sort_unstable_by(|&a, &b| f[b].total_cmp(&f[a]).then(a.cmp(&b)));
        let max_pairs = if self.switch == 0 { usize::MAX } else { self.switch };
        plus.into_iter().zip(minus).take(max_pairs).take_while(|&(i, j)| f[i] < f[j]).collect()
    }
}

impl Fit for TsvmParams {
    fn fit(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        s3vm::check(x, self.kernel, self.lambda, self.lambda_u, self.tolerance)?;
        let this =
            Self { lambda: default_lambda::kernel(self.lambda, x, problems, self.kernel), ..self.clone() };
        let problems = Problems::new(x, problems, &this.ratio, this.lambda, this.lambda_u, watch)?;
        let mut gram = problems.gram(x, this.kernel, this.cache_bytes)?;
        let switching = Switching {
            fit_intercept: this.fit_intercept,
            tolerance: this.tolerance,
            switch: this.switch,
            lambda: this.lambda,
            lambda_u: this.lambda_u,
            max_steps: this.max_steps,
            fast: this.fast,
        };
        let solved: Vec<Switched> =
            problems.each.iter().map(|p| switching.solve(gram.as_mut(), p, watch)).collect();
        let record = |s: &Switched| {
            s3vm::facts(this.lambda, [("switches", s.switches.into()), ("batches", s.batches.len().into())])
        };
        let facts = solved.iter().map(record).collect();
        let (mut functions, mut labels, mut reports) = (Vec::new(), Vec::new(), Vec::new());
        for s in solved {
            functions.push(s.function);
            labels.push(s.labels);
            reports.push(s.report);
        }
        s3vm::fitted(x, this.kernel, &problems, &functions, Some(&labels), (facts, reports))
    }

    fn supervised(&self) -> Option<Box<dyn Fit>> {
        Some(Box::new(Self { lambda_u: 0.0, ..self.clone() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Label;
    use crate::datasets::{GenerateParams, generate};
    use crate::kernel::gram::{KernelGram, Packed};

    #[test]
    fn ends_on_copies_of_few_rows() {
        // 400 rows of 7 kinds, six labels, several shares of positives
        let kinds = [
            [0.3018, 0.1833, -0.0275],
            [-0.0825, 0.3246, 0.3805],
            [3.5694, 2.8065, 1.0626],
            [3.1112, 3.7218, 0.2811],
            [0.6221, 0.1493, 0.2369],
            [0.3327, -0.1378, 0.1550],
            [-0.5410, -0.5806, 0.7369],
        ];
        let values: Vec<f64> = (0..400).flat_map(|i| kinds[i % 7]).collect();
        let x = crate::data::Matrix::dense(values, 400, 3).unwrap();
        for known in [[2, 3, 9], [2, 3, 3], [3, 10, 2]] {
            let mut y = vec![Label::Unknown; 400];
            known.iter().for_each(|&i| y[i] = Label::Pos);
            [4, 5, 6].iter().for_each(|&i| y[i] = Label::Neg);
            let targets = Targets { y, cost: vec![1.0; 400] };
            for share in [0.1, 0.25, 0.284, 0.3, 0.37, 0.5, 0.7] {
                let params = TsvmParams {
                    kernel: Kernel::Rbf { gamma: 1.0 / 3.0 },
                    ratio: Ratio::Given(vec![share]),
                    ..TsvmParams::default()
                };
                let fitted = params.fit(x.view(), std::slice::from_ref(&targets), &()).unwrap();
                let steps = fitted.reports[0].steps;
                assert!(steps < 100_000, "share {share}: {steps} steps");
            }
        }
    }

    #[test]
    fn every_batch_decreases_the_objective_and_keeps_the_number_of_positives() {
        let mut switched = 0;
        for seed in 0..6 {
            let params = GenerateParams { rows: 90, noise: Some(0.4), seed, ..Default::default() };
            let (x, labels) = generate("two-moons", &params).unwrap();
            let y: Vec<Label> = (0..90)
                .map(|i| match (i < 8, labels.of[i]) {
                    (true, Some(1)) => Label::Pos,
                    (true, _) => Label::Neg,
                    _ => Label::Unknown,
                })
                .collect();
            let targets = Targets { y, cost: vec![1.0; 90] };
            for (switch, lambda) in [(1, 0.01), (3, 0.001), (0, 0.01), (0, 0.1)] {
                let problems = Problems::new(
                    x.view(),
                    std::slice::from_ref(&targets),
                    &Ratio::Given(vec![0.4]),
                    lambda,
                    1.0,
                    &(),
                )
                .unwrap();
                let kernel = Kernel::Rbf { gamma: 1.0 };
                let mut gram = KernelGram::new(Packed::new(x.view(), kernel).unwrap(), 1 << 24).unwrap();
                let switching = Switching {
                    fit_intercept: true,
                    tolerance: 1e-7,
                    switch,
                    lambda,
                    lambda_u: 1.0,
                    max_steps: None,
                    fast: false,
                };
                let found = switching.solve(&mut gram, &problems.each[0], &());
                let positives = found.labels.iter().filter(|y| **y > 0.0).count();
                assert_eq!(positives, problems.each[0].positives);
                assert_eq!(positives, 33);
                for [before, after] in &found.batches {
                    assert!(after < before, "seed {seed}: {before} -> {after}");
                }
                switched += found.switches;
                // a local optimum: no pair is left whose switch reduces the objective
                let y = |f: &[f64]| {
                    let mut y = problems.each[0].y.clone();
                    problems.each[0].open.iter().zip(f).for_each(|(&i, l)| y[i] = *l);
                    y
                };
                let f: Vec<f64> = (0..90)
                    .map(|i| {
                        let k = |j: usize| kernel.eval(x.view().row(i), x.view().row(j));
                        let sum: f64 = (0..90).map(|j| found.function.alpha[j] * k(j)).sum();
                        sum + found.function.bias
                    })
                    .collect();
                let left = switching.pairs(&f, &y(&found.labels), &problems.each[0].open);
                // outputs have the single precision of the kernel
                assert!(left.iter().all(|&(i, j)| f[j] - f[i] < 1e-4), "{left:?}");
            }
        }
        assert!(switched > 20, "only {switched} pairs were switched");
    }
}
