//! Methods of the tables about few labels, which are learners of the library with parameters.

use super::Task;
use crate::clock::Clock;
use crate::failure::{Failure, Result};
use crate::methods::Outcome;
use crate::tables::Few;
use crate::values::typed;
use evermargin::Labels;
use evermargin::metrics::Confusion;
use evermargin::params::{ParamValue, ParamValues};
use evermargin::pipeline::train::{Gamma, ScalingChoice, TrainOptions, train};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A method of a table about few labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// Supervised learning from the labels.
    Svm,
    /// Label switching: the linear learner, or with the hinge loss and a kernel.
    Tsvm,
    /// Label switching with the hinge loss.
    Jtsvm,
    /// Deterministic annealing.
    Da,
    /// Deterministic annealing with a kernel and the squared hinge loss.
    DaHinge2,
    /// Deterministic annealing with a kernel and the square loss.
    DaSquare,
    /// Gradient descent on the nonconvex objective.
    GradTsvm,
    /// The relaxed problem (QP-S3VM).
    Qp,
    /// Greedy maximization as in the thesis.
    Submod,
    /// Greedy maximization from both classes and Parzen windows, with a local search.
    Polished,
    /// The rows most similar to the positives.
    Parzen,
    /// Harmonic functions on a graph.
    Propagation,
}

/// All methods with their names in the tables.
pub const WAYS: &[(&str, Way)] = &[
    ("SVM", Way::Svm),
    ("TSVM", Way::Tsvm),
    ("JTSVM", Way::Jtsvm),
    ("DA", Way::Da),
    ("DA l2", Way::DaHinge2),
    ("DA square", Way::DaSquare),
    ("gradTSVM", Way::GradTsvm),
    ("QP-S3VM", Way::Qp),
    ("SUBMOD-S3VM", Way::Submod),
    ("SUBMOD-S3VM polished", Way::Polished),
    ("Parzen", Way::Parzen),
    ("label-propagation", Way::Propagation),
];

impl Way {
    /// Finds a method by its name, ignoring case.
    pub fn by_name(name: &str) -> Result<Self> {
        let found = WAYS.iter().find(|(n, _)| n.eq_ignore_ascii_case(name));
        found.map(|(_, w)| *w).ok_or_else(|| {
            let known: Vec<&str> = WAYS.iter().map(|(n, _)| *n).collect();
            Failure::Unknown(format!("no method {name}; there are {}", known.join(", ")))
        })
    }

    /// Name of the method in the tables.
    pub fn name(self) -> &'static str {
        WAYS.iter().find(|(_, w)| *w == self).map_or("?", |(n, _)| n)
    }

    /// Whether the method uses only labeled rows.
    pub fn is_supervised(self) -> bool {
        self == Self::Svm
    }

    /// Whether the method cuts the graph of the kernel.
    fn cuts(self) -> bool {
        matches!(self, Self::Qp | Self::Submod | Self::Polished | Self::Parzen)
    }

    /// Whether λ is a parameter of its learner.
    pub fn has_lambda(self) -> bool {
        !self.is_supervised() && !self.cuts() && self != Self::Propagation
    }

    /// Whether labels are the signs of the decision values, independent of the share of positives. DA of Emara is linear, like that of
    /// SVMlin, which writes signs. By its sensitivity and specificity, it labels 0.02 % of W8A, 73 % of Diabetes and 86 % of
    /// Cov-Type as positive.
    fn takes_the_sign(self, task: &Task) -> bool {
        self == Self::Da && task.protocol.kernel == "linear" && task.few.kappa.is_some() && !task.honest
    }

    /// The learner and its parameters.
    fn learner(self, task: &Task) -> (&'static str, Value) {
        let (p, few) = (&task.protocol, &task.few);
        let linear = p.kernel == "linear";
        let family = match few.lambda {
            Some(lambda) => json!({ "lambda": lambda, "lambda_u": few.lambda_u }),
            None => json!({}),
        };
        let with = |more: Value| {
            let mut all = family.clone();
            if let (Value::Object(all), Value::Object(more)) = (&mut all, more) {
                all.extend(more);
            }
            all
        };
        let kernel = json!({ "kernel": p.kernel });
        match self {
            Self::Svm if task.honest => ("svc", kernel),
            Self::Qp if task.honest => ("qp-s3vm", kernel),
            Self::Submod if task.honest => {
                ("submod-s3vm", json!({ "kernel": p.kernel, "variant": "thesis" }))
            }
            Self::Polished if task.honest => ("submod-s3vm", kernel),
            Self::Svm => ("svc", json!({ "kernel": p.kernel, "c": Self::cost(task) })),
            Self::Tsvm if linear && few.kappa.is_none() => ("linear-tsvm", family),
            Self::Da if self.takes_the_sign(task) => ("linear-da", with(json!({ "by": "sign" }))),
            Self::Da if linear => ("linear-da", family),
            Self::Tsvm | Self::Jtsvm => ("tsvm", with(kernel)),
            Self::Da | Self::DaHinge2 => ("da", with(json!({ "kernel": p.kernel, "loss": "l2" }))),
            Self::DaSquare => ("da", with(json!({ "kernel": p.kernel, "loss": "square" }))),
            Self::GradTsvm => ("grad-tsvm", with(kernel)),
            Self::Qp => {
                ("qp-s3vm", json!({ "kernel": p.kernel, "kappa": few.kappa.unwrap_or(0.0), "c": p.c }))
            }
            Self::Submod => (
                "submod-s3vm",
                json!({ "kernel": p.kernel, "kappa": few.kappa.unwrap_or(0.0), "c": p.c, "variant": "thesis" }),
            ),
            Self::Polished => ("submod-s3vm", polished(p.kernel.as_str(), p.c, few)),
            Self::Parzen => ("parzen", kernel),
            Self::Propagation => ("label-propagation", json!({})),
        }
    }

    /// Cost of the protocol, or the cost that corresponds to λ.
    fn cost(task: &Task) -> f64 {
        match task.few.kappa {
            Some(_) => task.protocol.c,
            None => 1.0 / (task.few.lambda.unwrap_or(0.01) * task.labeled.len() as f64),
        }
    }
}

/// Parameters of the cut from the protocol of the row: ρ, or C*/C of the thesis.
fn polished(kernel: &str, c: f64, few: &Few) -> Value {
    match few.rho {
        Some(rho) => json!({ "kernel": kernel, "c": c, "rho": rho }),
        None => json!({ "kernel": kernel, "c": c, "kappa": few.kappa.unwrap_or(0.0) }),
    }
}

/// Runs a method on a draw and scores the inferred labels.
pub fn run(way: Way, task: &Task) -> Result<Outcome> {
    let truth = &task.rows.labels;
    let mut known = Labels { classes: truth.classes.clone(), of: vec![None; truth.of.len()] };
    task.labeled.iter().for_each(|&i| known.of[i] = truth.of[i]);
    let (name, params) = way.learner(task);
    let mut options = TrainOptions::new(name);
    options.params = typed(&params)?;
    if let (Some(center), true) = (task.few.center, way.cuts() && !task.honest) {
        options.params.insert("center".into(), center.into());
    }
    if !way.is_supervised() {
        options.params.extend(typed(&Value::Object(task.set.clone()))?);
    }
    options.scaling = (!task.honest).then_some(ScalingChoice::NONE);
    options.compare = false;
    options.gamma = gamma(task);
    if !way.is_supervised() && !task.honest {
        options.params.insert("ratio".into(), true_ratio(task));
    }
    let start = Clock::start();
    let trained = train(task.rows.x.clone(), &known, &options, &())?;
    let seconds = start.seconds();
    let (class, facts) = match trained.semi {
        Some(semi) => (semi.class, semi.facts),
        None => (trained.classifier.predict(task.rows.x.clone())?.class, ParamValues::new()),
    };
    let objective = trained.reports.first().map(|r| r.objective);
    score(task, &known, &class, (objective, &facts), seconds)
}

/// True share of each class among the unlabeled rows; with two classes that of the second.
fn true_ratio(task: &Task) -> ParamValue {
    let truth = &task.rows.labels;
    let mut open = vec![true; truth.of.len()];
    task.labeled.iter().for_each(|&i| open[i] = false);
    let classes = truth.classes.len();
    let mut counts = vec![0usize; classes];
    (0..open.len()).filter(|&i| open[i]).filter_map(|i| truth.of[i]).for_each(|c| counts[c as usize] += 1);
    let total = counts.iter().sum::<usize>().max(1) as f64;
    let inside = |n: usize| (n as f64 / total).clamp(1e-9, 1.0 - 1e-9);
    if classes == 2 {
        inside(counts[1]).into()
    } else {
        counts.into_iter().map(inside).collect::<Vec<_>>().into()
    }
}

/// Kernel width of the protocol, or a multiple of the median distance of at most 500 rows: γ = 1/(2σ²).
fn gamma(task: &Task) -> Option<Gamma> {
    if task.protocol.kernel == "linear" {
        return None;
    }
    if task.protocol.gamma > 0.0 {
        return Some(Gamma::Value(task.protocol.gamma));
    }
    let x = task.rows.x.view();
    let step = (x.rows() / 500).max(1);
    let some: Vec<usize> = (0..x.rows()).step_by(step).collect();
    let mut distances = Vec::new();
    for (a, &i) in some.iter().enumerate() {
        for &j in &some[..a] {
            distances.push(x.row(i).norm2() + x.row(j).norm2() - 2.0 * x.row(i).dot(x.row(j)));
        }
    }
    distances.sort_by(f64::total_cmp);
    let median = distances.get(distances.len() / 2).copied().unwrap_or(1.0).max(1e-12);
    Some(Gamma::Value(1.0 / (2.0 * median * task.width * task.width)))
}

fn score(
    task: &Task,
    known: &Labels,
    class: &[u32],
    (objective, facts): (Option<f64>, &ParamValues),
    seconds: f64,
) -> Result<Outcome> {
    let truth = &task.rows.labels;
    let open = (0..class.len()).filter(|&i| known.of[i].is_none());
    let (truth, found): (Vec<u32>, Vec<u32>) =
        open.filter_map(|i| truth.of[i].map(|t| (t, class[i]))).unzip();
    let undefined = || Failure::Content("no row is left to score".into());
    let classes = known.classes.len();
    let confusion = Confusion::new(&truth, &found, &[], classes).ok_or_else(undefined)?;
    let accuracy = confusion.accuracy().ok_or_else(undefined)?;
    let share = |c: u32| {
        let of: Vec<bool> = truth.iter().zip(&found).filter(|(t, _)| **t == c).map(|(t, f)| t == f).collect();
        of.iter().filter(|r| **r).count() as f64 / of.len().max(1) as f64
    };
    let mut extra = BTreeMap::new();
    if classes == 2 {
        extra.insert("sensitivity".to_string(), share(1));
        extra.insert("specificity".to_string(), share(0));
        extra.extend(confusion.mcc().map(|m| ("mcc".to_string(), m)));
    }
    extra.extend(objective.map(|o| ("objective".to_string(), o)));
    for (name, key) in [("evaluations", "evaluations"), ("full_evaluations", "full_greedy_evaluations")] {
        extra.extend(facts.get(key).and_then(ParamValue::as_f64).map(|v| (name.to_string(), v)));
    }
    Ok(Outcome { accuracy, error: 1.0 - accuracy, seconds, extra, ..Outcome::default() })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::Rows;
    use super::*;
    use evermargin::Matrix;

    /// Two groups of points along a line; other coordinates vary less than the distance of the groups, because a cut would follow
    /// them otherwise.
    pub(crate) fn blobs(n: usize) -> Rows {
        let side = |i: usize| (i % 2) as f64;
        let x =
            (0..n).flat_map(|i| [side(i) + 0.3 * (i as f64 * 0.7).sin(), 0.1 * (i as f64).cos()]).collect();
        let of = (0..n).map(|i| Some((i % 2) as u32)).collect();
        let labels = Labels { classes: vec!["-".into(), "+".into()], of };
        Rows { x: Matrix::dense(x, n, 2).unwrap(), labels, splits: Vec::new() }
    }

    #[test]
    fn every_method_runs_and_has_the_measures_of_its_tables() {
        for table in crate::tables::all().unwrap().iter().filter(|t| t.has_few_labels()) {
            let protocol = table.rows[0].protocol.clone();
            let mut few = protocol.few.clone().unwrap();
            few.lambda = Some(0.01);
            (few.center, few.kappa) = (None, few.kappa.map(|_| 0.01)); // the settings of Sonar do not fit other data
            let labeled = vec![0, 1, 2, 3];
            let task = Task {
                rows: blobs(60).into(),
                labeled,
                protocol,
                few,
                honest: false,
                set: serde_json::Map::new(),
                width: 1.0,
                draw: 0,
            };
            for column in &table.columns {
                let outcome = run(Way::by_name(&column.method).unwrap(), &task).unwrap();
                assert!(outcome.get(&column.metric).is_some(), "{} {}", column.method, column.metric);
                assert!(outcome.accuracy > 0.8, "{} {}", column.method, outcome.accuracy);
            }
        }
    }
}
