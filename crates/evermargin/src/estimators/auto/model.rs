//! One classifier for new rows, trained on given and inferred labels.

use super::budget::Completing;
use super::candidates::{linear, mean_squared_deviation};
use super::{AutoParams, GivenLabels, Judged, Scores};
use crate::data::{Label, MatrixView};
use crate::error::Result;
use crate::estimators::supervised::svc::SvcParams;
use crate::estimators::{Fit, Fitted, Targets};
use crate::solver::{Exit, Watch};

/// Name of the classifier where training on inferred labels was interrupted.
const GIVEN_LABELS_ALONE: &str = "given labels alone, because time ran out";

/// Trains the classifier: linear if linear candidates have most of the weight, else with the kernel. If training is
/// interrupted, the best candidate that uses labels alone replaces it, because a solver that ends early on thousands of
/// inferred labels can be worse than chance. Returns the classifier, its name, and the share of unlabeled rows on which
/// it agrees with the combination.
pub(super) fn fit(
    params: &AutoParams,
    judged: &[Judged],
    combined: &Scores,
    x: MatrixView<'_>,
    problems: &[Targets],
    given: &GivenLabels,
    watch: &dyn Watch,
) -> Result<(Fitted, &'static str, f64)> {
    let linear_weight: f64 = judged.iter().filter(|j| j.candidate.is_linear()).map(|j| j.weight).sum();
    let is_linear = linear_weight > 0.5;
    let learner: Box<dyn Fit> = if is_linear {
        Box::new(linear(10.0 / mean_squared_deviation(x)))
    } else {
        Box::new(SvcParams { kernel: params.kernel, c: 10.0, ..SvcParams::default() })
    };
    let targets = inferred(params.inferred_weight, combined, problems, given);
    let mut name = if is_linear { "linear" } else { "svc" };
    let mut fitted = learner.fit(x, &targets, watch)?;
    if fitted.reports.iter().any(|r| r.exit == Exit::Interrupted) {
        let alone = judged.iter().filter(|j| j.candidate.labels_alone());
        let best = alone.reduce(|best, next| if next.weight > best.weight { next } else { best });
        if let Some(learner) = best.and_then(|j| j.candidate.without_unlabeled(x, params.kernel)) {
            name = GIVEN_LABELS_ALONE;
            fitted = learner.fit(x, problems, &Completing(watch))?;
        }
    }
    let decisions = fitted.model.decision(x)?;
    let width = problems.len();
    let class = |i: usize| match &decisions[i * width..(i + 1) * width] {
        [f] => usize::from(*f > 0.0),
        several => super::largest(several),
    };
    let same = given.unlabeled.iter().filter(|&&i| class(i) == combined.class(i)).count();
    let agreement = if given.unlabeled.is_empty() { 1.0 } else { same as f64 / given.unlabeled.len() as f64 };
    Ok((fitted, name, agreement))
}

/// Problems with the inferred labels of the unlabeled rows; the cost of each is proportional to its confidence.
fn inferred(weight: f64, combined: &Scores, problems: &[Targets], given: &GivenLabels) -> Vec<Targets> {
    let mut out = problems.to_vec();
    let chance = 1.0 / given.classes as f64;
    for &i in &given.unlabeled {
        let class = combined.class(i);
        let confidence = ((combined.row(i)[class] - chance) / (1.0 - chance)).clamp(0.0, 1.0);
        for (j, problem) in out.iter_mut().enumerate() {
            let positive = if problems.len() == 1 { class == 1 } else { class == j };
            problem.y[i] = if positive { Label::Pos } else { Label::Neg };
            problem.cost[i] *= weight * confidence;
        }
    }
    out
}
