//! Methods by the names they have in the tables. [`run`] is one match; [`score`] turns any model into an
//! [`Outcome`].

use crate::data::Split;
use crate::failure::{Failure, Result};
use crate::tables::Protocol;
use evermargin::learn::svc::SvcParams;
use evermargin::learn::{Fit, Targets};
use evermargin::metrics::{Confusion, auc, prbep};
use evermargin::{Kernel, Label, Model};
use std::collections::BTreeMap;
use std::time::Instant;

/// A method of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// The exact solution with constant, as LIBSVM finds it.
    Libsvm,
    /// All data at once; the exact solution stands in for one pass of LASVM.
    Batch,
    /// The exact solution with costs per class: C for negatives, C · negatives / positives for positives.
    Dc,
    /// One pass of LASVM in random order, with finishing.
    Lasvm,
    /// LASVM driven by the duality gap, without constant.
    LasvmG,
    /// LASVM-G with ramp loss.
    LasvmNc,
    /// LASVM-G that ignores examples outside the ramp.
    LasvmI,
    /// LASVM-G that removes nothing.
    FullSvm,
    /// Active learning from small pools, stopped early.
    Al,
    /// Active learning with the costs of [`Method::Dc`].
    AlDc,
    /// Synthetic positives before learning.
    Smote,
    /// Synthetic positives around support vectors while learning.
    Virtual,
    /// Random negatives left out.
    Us,
}

/// Every method with its name in the tables.
pub const METHODS: &[(&str, Method)] = &[
    ("LIBSVM", Method::Libsvm),
    ("Batch", Method::Batch),
    ("DC", Method::Dc),
    ("LASVM", Method::Lasvm),
    ("LASVM-G", Method::LasvmG),
    ("LASVM-NC", Method::LasvmNc),
    ("LASVM-I", Method::LasvmI),
    ("FULL SVM", Method::FullSvm),
    ("AL", Method::Al),
    ("AL+DC", Method::AlDc),
    ("SMOTE", Method::Smote),
    ("VIRTUAL", Method::Virtual),
    ("US", Method::Us),
];

impl Method {
    /// The method of that name, in upper or lower case.
    pub fn by_name(name: &str) -> Result<Self> {
        let found = METHODS.iter().find(|(n, _)| n.eq_ignore_ascii_case(name));
        found.map(|(_, m)| *m).ok_or_else(|| {
            let known: Vec<&str> = METHODS.iter().map(|(n, _)| *n).collect();
            Failure::Unknown(format!("no method {name}; there are {}", known.join(", ")))
        })
    }

    /// Its name in the tables.
    pub fn name(self) -> &'static str {
        METHODS.iter().find(|(_, m)| *m == self).map_or("?", |(n, _)| n)
    }

    /// Whether the seed plays no part.
    pub fn is_deterministic(self) -> bool {
        matches!(self, Self::Libsvm | Self::Batch | Self::Dc)
    }
}

/// One training and test sample with the parameters of the protocol.
#[derive(Debug, Clone)]
pub struct Task {
    /// What to learn from and what to score on.
    pub split: Split,
    /// The kernel, with its width.
    pub kernel: Kernel,
    /// Cost of a margin violation.
    pub c: f64,
    /// Tolerance of the solver.
    pub tolerance: f64,
}

impl Task {
    /// A task as the protocol says.
    pub fn new(split: Split, protocol: &Protocol) -> Result<Self> {
        if protocol.kernel != "rbf" {
            return Err(Failure::Unknown(format!("no kernel {}; there is rbf", protocol.kernel)));
        }
        let kernel = Kernel::Rbf { gamma: protocol.gamma };
        Ok(Self { split, kernel, c: protocol.c, tolerance: protocol.tolerance })
    }

    /// Negatives a positive in the training sample.
    pub fn imbalance_ratio(&self) -> f64 {
        let train = &self.split.train;
        (train.rows() - train.positives()) as f64 / train.positives().max(1) as f64
    }
}

/// What a method achieved. Rates are fractions.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// Share of test rows predicted right.
    pub accuracy: f64,
    /// Share of test rows predicted wrong.
    pub error: f64,
    /// Geometric mean of sensitivity and specificity.
    pub g_means: f64,
    /// Area under the ROC curve.
    pub auc: f64,
    /// Precision-recall break-even point.
    pub prbep: f64,
    /// Points with a coefficient.
    pub support_count: usize,
    /// Kernel values computed in learning.
    pub kernel_evaluations: u64,
    /// Time of learning.
    pub seconds: f64,
    /// Everything else, by name (`sv_ratio`, `data_efficiency`, `virtual_yield` …); rates are fractions.
    pub extra: BTreeMap<String, f64>,
}

impl Outcome {
    /// A measure by the name it has in the tables.
    pub fn get(&self, metric: &str) -> Option<f64> {
        match metric {
            "accuracy" => Some(self.accuracy),
            "error" => Some(self.error),
            "g_means" => Some(self.g_means),
            "auc" => Some(self.auc),
            "prbep" => Some(self.prbep),
            "support_count" => Some(self.support_count as f64),
            "kernel_evaluations" => Some(self.kernel_evaluations as f64),
            "seconds" => Some(self.seconds),
            other => self.extra.get(other).copied(),
        }
    }
}

/// Runs a method. `seed` is for its own draws; the samples are drawn already.
pub fn run(method: Method, task: &Task, seed: u64) -> Result<Outcome> {
    let _ = seed;
    match method {
        Method::Libsvm | Method::Batch => exact(task, 1.0),
        Method::Dc => exact(task, task.imbalance_ratio()),
        Method::Lasvm
        | Method::LasvmG
        | Method::LasvmNc
        | Method::LasvmI
        | Method::FullSvm
        | Method::Al
        | Method::AlDc
        | Method::Smote
        | Method::Virtual
        | Method::Us => Err(Failure::NotYet(method.name().into())),
    }
}

/// The exact solution; positives cost `weight` times as much as negatives.
fn exact(task: &Task, weight: f64) -> Result<Outcome> {
    let params =
        SvcParams { kernel: task.kernel, c: task.c, tolerance: task.tolerance, ..SvcParams::default() };
    let y = task.split.train.y.clone();
    let cost = y.iter().map(|y| if *y == Label::Pos { weight } else { 1.0 }).collect();
    let start = Instant::now();
    let fitted = params.fit(task.split.train.x.view(), &[Targets { y, cost }], &())?;
    let seconds = start.elapsed().as_secs_f64();
    let evaluations = fitted.reports.iter().map(|r| r.kernel_evaluations).sum();
    score(&fitted.model, task, evaluations, seconds)
}

/// Scores a model with one decision function on the test sample.
pub fn score(model: &Model, task: &Task, kernel_evaluations: u64, seconds: f64) -> Result<Outcome> {
    let test = &task.split.test;
    let decision = model.decision(test.x.view())?;
    let positive: Vec<bool> = test.y.iter().map(|y| *y == Label::Pos).collect();
    let truth: Vec<u32> = positive.iter().map(|p| u32::from(*p)).collect();
    let predicted: Vec<u32> = decision.iter().map(|f| u32::from(*f > 0.0)).collect();
    let undefined = || Failure::Content("the test sample needs rows of both classes".into());
    let confusion = Confusion::new(&truth, &predicted, &[], 2).ok_or_else(undefined)?;
    let accuracy = confusion.accuracy().ok_or_else(undefined)?;
    Ok(Outcome {
        accuracy,
        error: 1.0 - accuracy,
        g_means: confusion.g_means().ok_or_else(undefined)?,
        auc: auc(&decision, &positive, &[]).ok_or_else(undefined)?,
        prbep: prbep(&decision, &positive).ok_or_else(undefined)?,
        support_count: model.support_count(),
        kernel_evaluations,
        seconds,
        extra: ratios(model, task),
    })
}

/// The class ratio of the training sample and that of the support vectors.
fn ratios(model: &Model, task: &Task) -> BTreeMap<String, f64> {
    let mut extra = BTreeMap::from([("imbalance_ratio".to_string(), task.imbalance_ratio())]);
    if let Model::Expansion { coef, .. } = model
        && let Some(coef) = coef.first()
    {
        let positives = coef.iter().filter(|c| **c > 0.0).count();
        let negatives = coef.iter().filter(|c| **c < 0.0).count();
        extra.insert("sv_ratio".into(), negatives as f64 / positives.max(1) as f64);
    }
    extra
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Sample;
    use evermargin::Matrix;

    fn task() -> Task {
        let line = |n: usize| {
            let x = Matrix::dense((0..n).map(|i| i as f64 / n as f64).collect(), n, 1).unwrap();
            let y = (0..n).map(|i| if 4 * i >= 3 * n { Label::Pos } else { Label::Neg }).collect();
            Sample::new(x, y).unwrap()
        };
        let split = Split { train: line(40), test: line(100) };
        Task { split, kernel: Kernel::Rbf { gamma: 1.0 }, c: 10.0, tolerance: 1e-3 }
    }

    #[test]
    fn exact_methods_are_scored() {
        let plain = run(Method::Libsvm, &task(), 1).unwrap();
        assert!(plain.accuracy > 0.9 && plain.auc > 0.99 && plain.support_count > 1);
        assert_eq!(plain.get("imbalance_ratio"), Some(3.0));
        assert!(plain.get("sv_ratio").is_some() && plain.get("virtual_yield").is_none());
        assert!((plain.accuracy + plain.error - 1.0).abs() < 1e-12);
        let weighted = run(Method::Dc, &task(), 1).unwrap();
        assert_ne!(plain.get("accuracy"), None);
        assert!(weighted.kernel_evaluations > 0);
    }

    #[test]
    fn names_lead_to_methods() {
        for (name, method) in METHODS {
            assert_eq!(Method::by_name(&name.to_lowercase()).unwrap(), *method);
            assert_eq!(method.name(), *name);
        }
        assert!(Method::by_name("magic").is_err());
        assert!(matches!(run(Method::Virtual, &task(), 1), Err(Failure::NotYet(_))));
    }
}
