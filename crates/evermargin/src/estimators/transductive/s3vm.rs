//! Shared code of the semi-supervised support vector machines with a kernel.
//!
//! Problem (Sindhwani 2007, equation 3.7; V contains the ½ of quadratic losses):
//!
//! min over f and labels y' of (λ/2)|f|² + (1/l) Σ wᵢV(yᵢf(xᵢ)) + (λᵤ/u) Σ wⱼV(y'ⱼf(xⱼ)), with a share r of the y'
//! positive,
//!
//! where l and u are the total weights of the labeled and of the unlabeled rows, so that weight 2 equals two copies.
//! Divided by λ it is ½|f|² + Σ cᵢV(yᵢfᵢ), the form that the solvers use; objectives are reported in the form above.

use super::{FewLabels, Ratio, Transduced, center, facts_of, largest};
use crate::data::MatrixView;
use crate::error::{Error, Result};
use crate::estimators::{Fitted, Targets};
use crate::kernel::Kernel;
use crate::kernel::gram::{Gram, KernelGram, MatrixGram, Packed};
use crate::model::Model;
use crate::params::{ParamValue, ParamValues};
use crate::solver::smo::Dual;
use crate::solver::{Exit, Report, Stop, Watch};

/// Refuses parameters and matrices that none of these estimators can use.
pub(crate) fn check(
    x: MatrixView<'_>,
    kernel: Kernel,
    lambda: f64,
    lambda_u: f64,
    tolerance: f64,
) -> Result<()> {
    kernel.check()?;
    if lambda != 0.0 && !(1e-15..=1e15).contains(&lambda) {
        return Err(Error::parameter(
            "lambda",
            lambda,
            "0 (scaled to the kernel) or a number from 1e-15 to 1e15",
        ));
    }
    if !(0.0..=1e15).contains(&lambda_u) {
        return Err(Error::parameter("lambda_u", lambda_u, "0 (labels alone) or a number up to 1e15"));
    }
    if !(tolerance > 0.0 && tolerance < 1.0) {
        return Err(Error::parameter("tolerance", tolerance, "a number between 0 and 1"));
    }
    if kernel == Kernel::Precomputed && x.rows() != x.cols() {
        return Err(Error::Shape {
            what: "columns of a precomputed kernel matrix",
            expected: x.rows(),
            found: x.cols(),
        });
    }
    Ok(())
}

/// The rows that take part, and all problems on them.
#[derive(Debug)]
pub(crate) struct Problems {
    /// Rows of the data, ascending.
    pub rows: Vec<usize>,
    pub each: Vec<Problem>,
    /// Origin of the share of positives.
    pub facts: ParamValues,
}

/// One problem on the rows of [`Problems`].
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    /// Label −1 or 1; 0 without a label.
    pub y: Vec<f64>,
    /// c of each row; 0 if the row does not take part in this problem.
    pub cost: Vec<f64>,
    /// Positions of the unlabeled rows.
    pub open: Vec<usize>,
    /// Share and number of positives among them; 0 if there are none.
    pub ratio: f64,
    pub positives: usize,
}

impl Problem {
    /// Mean output required by a balance constraint: 2r − 1, or the mean label if there are no unlabeled rows.
    pub fn mean_output(&self) -> f64 {
        if !self.open.is_empty() {
            return 2.0 * self.ratio - 1.0;
        }
        let sum: f64 = self.y.iter().zip(&self.cost).map(|(y, c)| y * c).sum();
        sum / self.cost.iter().sum::<f64>()
    }
}

impl Problems {
    /// Builds the problems. If λᵤ = 0, the unlabeled rows take no part.
    pub fn new(
        x: MatrixView<'_>,
        problems: &[Targets],
        ratio: &Ratio,
        lambda: f64,
        lambda_u: f64,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let few = FewLabels::of(x, problems, ratio, watch)?;
        let mut taken = vec![false; x.rows()];
        for f in &few {
            f.labeled.iter().for_each(|&i| taken[i] = true);
            if lambda_u > 0.0 {
                f.unlabeled.iter().for_each(|&i| taken[i] = true);
            }
        }
        let rows: Vec<usize> = (0..x.rows()).filter(|&i| taken[i]).collect();
        let mut place = vec![usize::MAX; x.rows()];
        rows.iter().enumerate().for_each(|(k, &i)| place[i] = k);
        let one = |(few, targets): (&FewLabels, &Targets)| {
            let total = |rows: &[usize]| rows.iter().map(|&i| targets.cost[i]).sum::<f64>();
            let (mut y, mut cost) = (vec![0.0; rows.len()], vec![0.0; rows.len()]);
            let weight = 1.0 / (lambda * total(&few.labeled));
            for (&i, sign) in few.labeled.iter().zip(&few.y) {
                y[place[i]] = *sign;
                cost[place[i]] = weight * targets.cost[i];
            }
            let mut open = Vec::new();
            if lambda_u > 0.0 {
                let weight = lambda_u / (lambda * total(&few.unlabeled));
                for &i in &few.unlabeled {
                    cost[place[i]] = weight * targets.cost[i];
                    open.push(place[i]);
                }
            }
            let positives = if open.is_empty() { 0 } else { few.positives };
            Problem { y, cost, open, ratio: few.ratio, positives }
        };
        let each = few.iter().zip(problems).map(one).collect();
        Ok(Self { rows, each, facts: few.iter().flat_map(FewLabels::facts).collect() })
    }

    /// Kernel rows of the rows that take part, for the dual solver.
    pub fn gram(&self, x: MatrixView<'_>, kernel: Kernel, bytes: usize) -> Result<Box<dyn Gram>> {
        let mut gram: Box<dyn Gram> = match kernel {
            Kernel::Precomputed => Box::new(MatrixGram::new(x)?),
            kernel if self.rows.len() == x.rows() => {
                Box::new(KernelGram::new(Packed::new(x, kernel)?, bytes)?)
            }
            kernel => {
                return Ok(Box::new(KernelGram::new(
                    Packed::new(x.select(&self.rows).view(), kernel)?,
                    bytes,
                )?));
            }
        };
        if self.rows.len() < x.rows() { gram.subset(&self.rows) } else { Ok(gram) }
    }
}

/// f = Σ αᵢK(xᵢ, ·) + b over the rows that take part.
#[derive(Debug, Clone)]
pub(crate) struct Function {
    pub alpha: Vec<f64>,
    pub bias: f64,
}

/// Model with one function per problem: weights for a linear kernel (and for a precomputed one, in terms of its rows).
pub(crate) fn model(x: MatrixView<'_>, kernel: Kernel, rows: &[usize], functions: &[Function]) -> Model {
    let bias = functions.iter().map(|f| f.bias).collect();
    if matches!(kernel, Kernel::Linear | Kernel::Precomputed) {
        let weights = functions.iter().map(|f| {
            let mut w = vec![0.0; x.cols()];
            for (&i, a) in rows.iter().zip(&f.alpha).filter(|(_, a)| **a != 0.0) {
                if kernel == Kernel::Linear {
                    x.row(i).for_each(|c, v| w[c] += a * v);
                } else {
                    w[i] = *a;
                }
            }
            w
        });
        return Model::Linear { weights: weights.collect(), bias };
    }
    let used = |k: &usize| functions.iter().any(|f| f.alpha[*k] != 0.0);
    let support: Vec<usize> = (0..rows.len()).filter(used).collect();
    let points = x.select(&support.iter().map(|&k| rows[k]).collect::<Vec<_>>());
    let coef = functions.iter().map(|f| support.iter().map(|&k| f.alpha[k]).collect()).collect();
    Model::Expansion { kernel, points, coef, bias }
}

/// Builds the result of an estimator: the model of its functions and the scores of all rows. If `labels` is given, it
/// holds the labels of the unlabeled rows; otherwise these rows are labeled by rank. `facts` and `reports` have one
/// entry per problem.
pub(crate) fn fitted(
    x: MatrixView<'_>,
    kernel: Kernel,
    problems: &Problems,
    functions: &[Function],
    labels: Option<&[Vec<f64>]>,
    (facts, reports): (Vec<ParamValues>, Vec<Report>),
) -> Result<Fitted> {
    let model = model(x, kernel, &problems.rows, functions);
    let transduced = transduced(&model, x, problems, labels, facts)?;
    Ok(Fitted { transduced: Some(transduced), ..Fitted::new(model, reports) })
}

/// Scores of all rows by the model, with unlabeled rows on the side of their labels. `labels` are −1 and 1 for the
/// unlabeled rows of each problem; where the function contradicts one, the score is close to 0. Without `labels`, the
/// rows with the largest outputs are positive, as many as required, and the scores of unlabeled rows are shifted to
/// have these signs. `facts` holds the facts of each problem.
fn transduced(
    model: &Model,
    x: MatrixView<'_>,
    problems: &Problems,
    labels: Option<&[Vec<f64>]>,
    facts: Vec<ParamValues>,
) -> Result<Transduced> {
    let decisions = model.decision(x)?;
    let width = problems.each.len();
    let mut scores: Vec<Vec<f64>> =
        (0..width).map(|j| decisions.iter().skip(j).step_by(width).copied().collect()).collect();
    for (j, (scores, problem)) in scores.iter_mut().zip(&problems.each).enumerate() {
        let rows = problem.open.iter().map(|&k| problems.rows[k]);
        let mut open: Vec<f64> = rows.clone().map(|i| scores[i]).collect();
        if let Some(labels) = labels {
            enforce_labels(&mut open, &labels[j]);
        } else {
            let positive = largest(&open, problem.positives);
            center(&mut open, &positive);
        }
        rows.zip(open).for_each(|(i, score)| scores[i] = score);
    }
    let ratio = problems.each.iter().map(|p| p.ratio).collect();
    let mut facts = facts_of(facts);
    facts.extend(problems.facts.clone());
    Ok(Transduced { scores, ratio, facts, alone: None })
}

/// Facts of a problem: λ and those of the estimator.
pub(crate) fn facts<const N: usize>(lambda: f64, more: [(&str, ParamValue); N]) -> ParamValues {
    let lambda = std::iter::once(("lambda", ParamValue::from(lambda)));
    lambda.chain(more).map(|(name, value)| (name.to_string(), value)).collect()
}

/// Sets scores that contradict their labels to almost 0, with the sign of the label.
fn enforce_labels(scores: &mut [f64], labels: &[f64]) {
    for (score, &y) in scores.iter_mut().zip(labels) {
        if *score * y <= 0.0 {
            *score = if y > 0.0 { f64::MIN_POSITIVE } else { 0.0 };
        }
    }
}

/// Support vector machine with hinge loss on the dual solver, whose labels and costs may change: min ½|f|² + Σ
/// cᵢh(yᵢ(fᵢ + b)). A row with label 0 or cost 0 takes no part.
pub(crate) struct KernelProblem<'g> {
    pub gram: &'g mut dyn Gram,
    pub dual: Dual,
    pub y: Vec<f64>,
    pub cost: Vec<f64>,
    stop: Stop,
    pub report: Report,
}

impl<'g> KernelProblem<'g> {
    /// Starts at f = 0.
    pub fn new(gram: &'g mut dyn Gram, y: Vec<f64>, cost: Vec<f64>, bias: bool, tolerance: f64) -> Self {
        let bounds = bounds(&y, &cost);
        let (lo, hi) = bounds.into_iter().unzip();
        let dual = Dual::new(y.clone(), lo, hi);
        let dual = if bias { dual } else { dual.without_bias() };
        let max_steps = Some((100 * y.len() as u64).max(10_000_000));
        let report =
            Report { steps: 0, objective: 0.0, gap: 0.0, kernel_evaluations: 0, exit: Exit::Converged };
        Self { gram, dual, y, cost, stop: Stop { tolerance, max_steps }, report }
    }

    /// Sets another maximum number of steps per run, if one is given.
    pub fn with_max_steps(mut self, max_steps: Option<u64>) -> Self {
        self.stop.max_steps = max_steps.or(self.stop.max_steps);
        self
    }

    /// Sets other labels and costs; α changes only as far as the new bounds require.
    pub fn set_targets(&mut self, y: &[f64], cost: &[f64]) {
        self.y.copy_from_slice(y);
        self.cost.copy_from_slice(cost);
        self.dual.retarget(y);
        self.dual.move_bounds(self.gram, &bounds(y, cost));
    }

    /// Continues from the current solution; false if interrupted.
    pub fn run(&mut self, watch: &dyn Watch) -> bool {
        let round = self.dual.run(self.gram, self.stop, watch);
        self.report.steps += round.steps;
        self.report.kernel_evaluations += round.kernel_evaluations;
        self.report.gap = round.gap;
        self.report.exit = round.exit;
        round.exit != Exit::Interrupted
    }

    /// ½|f|² + Σ cᵢh(yᵢfᵢ) at the current f.
    pub fn primal(&self) -> f64 {
        let (f, b) = (self.dual.decisions(), self.dual.bias());
        let norm: f64 = self.dual.alpha().iter().zip(&f).map(|(a, f)| a * (f - b)).sum();
        0.5 * norm + self.loss(&f)
    }

    /// Σ cᵢh(yᵢfᵢ) for the outputs f.
    fn loss(&self, f: &[f64]) -> f64 {
        let hinge = |i: usize| if self.y[i] == 0.0 { 0.0 } else { (1.0 - self.y[i] * f[i]).max(0.0) };
        (0..f.len()).map(|i| self.cost[i] * hinge(i)).sum()
    }

    /// Lower bound of the minimum: the dual value of a feasible α, minus the largest error from kernel values in single
    /// precision, ½ε(Σ|αᵢ|√Kᵢᵢ)².
    pub fn lower_bound(&self) -> f64 {
        let size = |(i, a): (usize, &f64)| a.abs() * self.gram.diag(i).max(0.0).sqrt();
        let size: f64 = self.dual.alpha().iter().enumerate().map(size).sum();
        -self.dual.objective() - 0.5 * f64::from(f32::EPSILON) * size * size
    }

    /// The current function.
    pub fn function(&self) -> Function {
        Function { alpha: self.dual.alpha().to_vec(), bias: self.dual.bias() }
    }
}

/// Bounds of the dual variables: [0, c] for a positive row, [−c, 0] for a negative one.
fn bounds(y: &[f64], cost: &[f64]) -> Vec<(f64, f64)> {
    y.iter().zip(cost).map(|(y, c)| ((y * c).min(0.0), (y * c).max(0.0))).collect()
}
