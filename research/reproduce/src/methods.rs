//! Methods by their names in the tables. [`run`] selects the function of a method; [`score`] evaluates any model as an
//! [`Outcome`].

use crate::clock::Clock;
use crate::data::Split;
use crate::failure::{Failure, Result};
use crate::online;
use crate::tables::Protocol;
use evermargin::active::StopRule;
use evermargin::estimators::online::lasvm::{LasvmParams, LasvmVariant};
use evermargin::estimators::supervised::svc::SvcParams;
use evermargin::estimators::{Fit, Targets};
use evermargin::metrics::{Confusion, auc, prbep};
use evermargin::{Kernel, Label, Model};
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;
use std::collections::BTreeMap;

/// A method of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// The exact solution with an intercept, as computed by LIBSVM.
    Libsvm,
    /// Training on all data; as in the thesis, the same as [`Method::Lasvm`].
    Batch,
    /// [`Method::Batch`] with costs per class: C for negatives, C · negatives / positives for positives.
    Dc,
    /// One pass of LASVM in random order, with finishing.
    Lasvm,
    /// LASVM with steps that follow the duality gap, without an intercept.
    LasvmG,
    /// LASVM-G with ramp loss.
    LasvmNc,
    /// LASVM-G that ignores examples outside the ramp.
    LasvmI,
    /// LASVM-G that keeps all points.
    FullSvm,
    /// Active learning from small pools, stopped early.
    Al,
    /// Active learning with the costs of [`Method::Dc`].
    AlDc,
    /// Synthetic positives added before learning.
    Smote,
    /// Synthetic positives added around support vectors during learning.
    Virtual,
    /// Random undersampling of negatives to the class ratio of the support vectors of [`Method::Al`], or to the ratio in the
    /// protocol if the work prints it.
    Us,
    /// Random undersampling of negatives to equal class sizes.
    UsEven,
    /// [`Method::Batch`] with the decision threshold of the best g-means in cross-validation on the training sample.
    BatchTuned,
}

/// All methods with their names in the tables.
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
    ("US 1:1", Method::UsEven),
    ("Batch+threshold", Method::BatchTuned),
];

impl Method {
    /// Finds a method by its name, ignoring case.
    pub fn by_name(name: &str) -> Result<Self> {
        let found = METHODS.iter().find(|(n, _)| n.eq_ignore_ascii_case(name));
        found.map(|(_, m)| *m).ok_or_else(|| {
            let known: Vec<&str> = METHODS.iter().map(|(n, _)| *n).collect();
            Failure::Unknown(format!("no method {name}; there are {}", known.join(", ")))
        })
    }

    /// Name of the method in the tables.
    pub fn name(self) -> &'static str {
        METHODS.iter().find(|(_, m)| *m == self).map_or("?", |(n, _)| n)
    }

    /// Whether the method is slow: run once on large rows, and on huge rows only with `--slow`.
    pub fn is_slow(self) -> bool {
        self == Self::FullSvm
    }

    /// Whether the result does not depend on the seed.
    pub fn is_deterministic(self) -> bool {
        self == Self::Libsvm
    }
}

/// Choices that the protocols leave open; they can be varied to find out what the authors did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProtocolChoices {
    /// Stopping rule of active learning; `None`: that of the protocol.
    pub stop: Option<StopRule>,
    /// Number of support vectors from which LASVM-NC and LASVM-I use the ramp.
    pub warm_up: usize,
    /// The end s of their ramp.
    pub s: f64,
    /// Number of points without coefficient that are kept when points are removed; 0: the rule of the library.
    pub keep: usize,
    /// Whether the learners without intercept are finished; `None`: only LASVM-NC.
    pub finish: Option<bool>,
    /// Number of passes of the learners without intercept.
    pub epochs: usize,
    /// Number of labels in the statement about choosing examples.
    pub labels: usize,
}

impl Default for ProtocolChoices {
    fn default() -> Self {
        let usual = LasvmParams::default();
        let (warm_up, s) = (usual.warm_up, usual.s);
        Self { stop: None, warm_up, s, keep: 0, finish: None, epochs: 1, labels: 4500 }
    }
}

/// Finds a stopping rule by its name.
pub fn stop_rule(name: &str) -> Result<StopRule> {
    match name {
        "margin" => Ok(StopRule::Margin),
        "plateau" => Ok(StopRule::Plateau),
        "never" => Ok(StopRule::Never),
        other => Err(Failure::Unknown(format!("no rule {other}; there are margin, plateau, never"))),
    }
}

/// One training and test sample with the parameters of the protocol.
#[derive(Debug, Clone)]
pub struct Task {
    /// Training and test rows.
    pub split: Split,
    /// The kernel, with its width.
    pub kernel: Kernel,
    /// Cost of a margin violation.
    pub c: f64,
    /// Tolerance of the solver.
    pub tolerance: f64,
    /// Choices that the protocol leaves open.
    pub open: ProtocolChoices,
    /// Negatives per positive among the support vectors of active learning: from the protocol, or set after its run.
    active_ratio: OnceCell<f64>,
}

impl Task {
    /// Creates a task according to the protocol.
    pub fn new(split: Split, protocol: &Protocol, open: ProtocolChoices) -> Result<Self> {
        if protocol.kernel != "rbf" {
            return Err(Failure::Unknown(format!("no kernel {}; there is rbf", protocol.kernel)));
        }
        let kernel = Kernel::Rbf { gamma: protocol.gamma };
        let active_ratio = protocol.undersampling.map_or_else(OnceCell::new, OnceCell::from);
        let protocol_rule = protocol.stop.as_deref().map(stop_rule).transpose()?;
        let open = ProtocolChoices { stop: open.stop.or(protocol_rule), ..open };
        Ok(Self { split, kernel, c: protocol.c, tolerance: protocol.tolerance, open, active_ratio })
    }

    /// Number of negatives per positive in the training sample.
    pub fn imbalance_ratio(&self) -> f64 {
        let train = &self.split.train;
        (train.rows() - train.positives()) as f64 / train.positives().max(1) as f64
    }
}

/// Scores of a method. Rates are fractions.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Outcome {
    /// Share of correctly predicted test rows.
    pub accuracy: f64,
    /// Share of wrongly predicted test rows.
    pub error: f64,
    /// Geometric mean of sensitivity and specificity.
    pub g_means: f64,
    /// Area under the ROC curve.
    pub auc: f64,
    /// Precision-recall break-even point.
    pub prbep: f64,
    /// Number of points with a nonzero coefficient.
    pub support_count: usize,
    /// Number of kernel values computed in training.
    pub kernel_evaluations: u64,
    /// Training time in seconds.
    pub seconds: f64,
    /// Further values by name (`sv_ratio`, `data_efficiency`, `virtual_yield` …); rates are fractions.
    pub extra: BTreeMap<String, f64>,
}

impl Outcome {
    /// Finds a measure by its name in the tables.
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

/// Runs a method on samples that are already drawn; `seed` is for draws within the method. Use one seed per task, because
/// undersampling reuses the ratio that active learning found.
pub fn run(method: Method, task: &Task, seed: u64) -> Result<Outcome> {
    match method {
        Method::Libsvm => exact(task),
        Method::Lasvm | Method::Batch => online::lasvm(task, 1.0, seed),
        Method::Dc => online::lasvm(task, task.imbalance_ratio(), seed),
        Method::LasvmG => online::gap(task, LasvmVariant::Gap, seed),
        Method::LasvmNc => online::gap(task, LasvmVariant::Ramp, seed),
        Method::LasvmI => online::gap(task, LasvmVariant::Filter, seed),
        Method::FullSvm => online::gap(task, LasvmVariant::Full, seed),
        Method::Al => {
            let outcome = online::active(task, 1.0, 0, seed)?;
            let _ = task.active_ratio.set(online::ratio_of(&outcome)?);
            Ok(outcome)
        }
        Method::AlDc => online::active(task, task.imbalance_ratio(), 0, seed),
        Method::Smote => online::synthetic(task, seed),
        Method::Virtual => online::active(task, 1.0, 1, seed),
        Method::Us => {
            let ratio = match task.active_ratio.get() {
                Some(ratio) => *ratio,
                None => online::ratio_of(&online::active(task, 1.0, 0, seed)?)?,
            };
            online::undersampled(task, ratio, seed)
        }
        Method::UsEven => online::undersampled(task, 1.0, seed),
        Method::BatchTuned => online::tuned(task, seed),
    }
}

/// The exact solution.
fn exact(task: &Task) -> Result<Outcome> {
    let params =
        SvcParams { kernel: task.kernel, c: task.c, tolerance: task.tolerance, ..SvcParams::default() };
    let y = task.split.train.y.clone();
    let cost = vec![1.0; y.len()];
    let start = Clock::start();
    let fitted = params.fit(task.split.train.x.view(), &[Targets { y, cost }], &())?;
    let seconds = start.seconds();
    let evaluations = fitted.reports.iter().map(|r| r.kernel_evaluations).sum();
    score(&fitted.model, task, evaluations, seconds)
}

/// Scores a model with one decision function on the test sample.
pub fn score(model: &Model, task: &Task, kernel_evaluations: u64, seconds: f64) -> Result<Outcome> {
    let test = &task.split.test;
    let start = Clock::start();
    let decision = model.decision(test.x.view())?;
    let predicting = start.seconds();
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
        extra: ratios(model, task)
            .into_iter()
            .chain([("prediction_seconds".to_string(), predicting)])
            .collect(),
    })
}

/// Class ratios of the training sample and of the support vectors, by the sign of their coefficients, and the number of
/// coefficients of at least a thousandth of the largest, which is what the authors of LASVM count.
fn ratios(model: &Model, task: &Task) -> BTreeMap<String, f64> {
    let mut extra = BTreeMap::from([("imbalance_ratio".to_string(), task.imbalance_ratio())]);
    if let Model::Expansion { coef, .. } = model
        && let Some(coef) = coef.first()
    {
        let positives = coef.iter().filter(|c| **c > 0.0).count();
        let negatives = coef.iter().filter(|c| **c < 0.0).count();
        let largest = coef.iter().fold(0.0, |m: f64, c| m.max(c.abs()));
        let large = coef.iter().filter(|c| c.abs() >= largest / 1000.0).count();
        extra.insert("sv_ratio".into(), negatives as f64 / positives.max(1) as f64);
        extra.insert("support_large".into(), large as f64);
    }
    extra
}

/// Number of negatives per positive among the support vectors, if there are any negatives.
pub fn support_ratio(outcome: &Outcome) -> Option<f64> {
    outcome.get("sv_ratio").filter(|r| *r > 0.0)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::data::Sample;
    use evermargin::Matrix;

    /// Points on a line; the last quarter is positive.
    pub(crate) fn task() -> Task {
        let line = |n: usize| {
            let x = Matrix::dense((0..n).map(|i| i as f64 / n as f64).collect(), n, 1).unwrap();
            let y = (0..n).map(|i| if 4 * i >= 3 * n { Label::Pos } else { Label::Neg }).collect();
            Sample::new(x, y).unwrap()
        };
        let split = Split { train: line(40), test: line(100) };
        Task {
            split,
            kernel: Kernel::Rbf { gamma: 1.0 },
            c: 10.0,
            tolerance: 1e-3,
            open: ProtocolChoices::default(),
            active_ratio: OnceCell::new(),
        }
    }

    #[test]
    fn exact_solution_is_scored() {
        let plain = run(Method::Libsvm, &task(), 1).unwrap();
        assert!(plain.accuracy > 0.9 && plain.auc > 0.99 && plain.support_count > 1);
        assert_eq!(plain.get("imbalance_ratio"), Some(3.0));
        assert!(plain.get("sv_ratio").is_some() && plain.get("virtual_yield").is_none());
        assert!((plain.accuracy + plain.error - 1.0).abs() < 1e-12);
        assert!(plain.kernel_evaluations > 0);
    }

    #[test]
    fn every_method_runs_reproducibly() {
        for (name, method) in METHODS {
            let outcome = run(*method, &task(), 1).unwrap();
            assert!(outcome.accuracy > 0.8 && outcome.support_count > 1, "{name}: {outcome:?}");
            let again = run(*method, &task(), 1).unwrap();
            assert_eq!(Outcome { seconds: 0.0, ..outcome.clone() }.accuracy, again.accuracy, "{name}");
            assert_eq!(outcome.support_count, again.support_count, "{name}");
        }
    }

    #[test]
    fn methods_have_all_measures_of_their_tables() {
        let claimed = |id: &str| crate::claims::CLAIMS.iter().any(|c| c.id == id);
        let ours = |t: &&crate::tables::Table| !t.has_few_labels() && !claimed(&t.id);
        for table in crate::tables::all().unwrap().iter().filter(ours) {
            for column in &table.columns {
                let outcome = run(Method::by_name(&column.method).unwrap(), &task(), 1).unwrap();
                assert!(outcome.get(&column.metric).is_some(), "{} {}", column.method, column.metric);
            }
        }
    }

    #[test]
    fn methods_are_found_by_name() {
        for (name, method) in METHODS {
            assert_eq!(Method::by_name(&name.to_lowercase()).unwrap(), *method);
            assert_eq!(method.name(), *name);
        }
        assert!(Method::by_name("magic").is_err());
    }
}
