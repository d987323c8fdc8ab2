//! Solutions of LIBSVM, stored in files, against ours: same data, same parameters, same optimum.
//!
//! Tolerance policy (reasons in `docs/tolerance.md`). ε is the tolerance given to both solvers, S = Σ|α|, D = max K(x, x),
//! u = 2⁻²² (a kernel value in single precision), C the largest bound.
//!
//! | compared                                              | at ε = 1e-6        | at ε = 1e-3        |
//! |-------------------------------------------------------|--------------------|--------------------|
//! | objective of our α in double precision, relative      | 5e-9               | 1e-6               |
//! | objective as we report it, relative                   | 1e-6 + ½CSDu/obj   | 5e-6 + ½CSDu/obj   |
//! | the function: ‖f − f'‖/‖f'‖ in the norm of the kernel | 3e-4               | 1e-2               |
//! | each α, as a fraction of its bound                    | 3e-4               | 3e-2, not RBF 1e-1 |
//! | α of a row that is clear of the margin                | exactly 0 or C     | exactly 0 or C     |
//! | each decision, and the constant b                     | 10ε√D + SDu        | 10ε√D + SDu        |
//! | labels of rows that are clear of 0                    | equal              | equal              |
//! | number of support vectors                             | 3 % and one        | 3 % and one        |
//! | Σα, relative to S                                     | 1e-12              | 1e-12              |
//!
//! "Clear" means by more than the limit for decisions. The same comparison must fail for a gamma, a C or a class weight
//! that is wrong by 0.1 % (1 % at ε = 1e-3), and for exchanged classes.
//!
//! The files are made by `golden/make_golden.py`, which documents the origin of each number.
use evermargin::data::{Labels, Matrix, MatrixView};
use evermargin::estimators::ClassWeight;
use evermargin::kernel::Kernel;
use evermargin::model::{Classifier, Model, MulticlassScheme};
use evermargin::pipeline::train::{Gamma, ScalingChoice, TrainOptions, Trained, train};
use evermargin::solver::Exit;
use evermargin_io::{Limits, ReadOptions, libsvm_model, read};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Relative accuracy of a kernel value in single precision.
const U: f64 = 1.0 / 4_194_304.0;

/// A problem as LIBSVM solved it.
#[derive(Debug, Clone, Deserialize)]
struct Case {
    name: String,
    #[serde(alias = "file")]
    data: String,
    epsilon: f64,
    params: Params,
    support_count: usize,
    /// Labels that `svm-predict` gives the training rows (generated sets).
    #[serde(default)]
    labels: Vec<String>,
    /// Number of wrong labels among them (real sets).
    training_errors: Option<usize>,
    pairs: Vec<Pair>,
}

#[derive(Debug, Clone, Deserialize)]
struct Params {
    kernel: String,
    c: f64,
    #[serde(default)]
    gamma: f64,
    #[serde(default)]
    coef0: f64,
    #[serde(default)]
    degree: u32,
    #[serde(default)]
    weights: BTreeMap<String, f64>,
}

/// One two-class problem in the orientation of LIBSVM: the class that occurs first is the positive one.
#[derive(Debug, Clone, Deserialize)]
struct Pair {
    positive: String,
    negative: String,
    objective_printed: f64,
    rho_printed: f64,
    objective: f64,
    rho: f64,
    /// Rows with a nonzero variable, and these variables (generated sets).
    #[serde(default)]
    support: Vec<usize>,
    #[serde(default)]
    alpha: Vec<f64>,
    /// Σ|α| (real sets).
    alpha_sum: Option<f64>,
    /// Decisions of the first rows; of all rows for generated sets.
    decision: Vec<f64>,
}

impl Params {
    fn kernel(&self) -> Kernel {
        let Self { gamma, coef0, degree, .. } = *self;
        match self.kernel.as_str() {
            "linear" => Kernel::Linear,
            "rbf" => Kernel::Rbf { gamma },
            "poly" => Kernel::Poly { gamma, coef0, degree },
            _ => Kernel::Sigmoid { gamma, coef0 },
        }
    }

    fn options(&self, epsilon: f64) -> TrainOptions {
        let mut options = TrainOptions::new("svc");
        let params = &mut options.params;
        params.insert("kernel".into(), self.kernel.clone().into());
        params.insert("c".into(), self.c.into());
        params.insert("tolerance".into(), epsilon.into());
        params.insert("degree".into(), self.degree.max(1).into());
        params.insert("coef0".into(), self.coef0.into());
        options.gamma = (self.kernel != "linear").then_some(Gamma::Value(self.gamma));
        options.class_weight = ClassWeight::Explicit(self.weights.clone());
        options.scaling = Some(ScalingChoice::NONE);
        options
    }

    fn bound(&self, class: &str) -> f64 {
        self.c * self.weights.get(class).copied().unwrap_or(1.0)
    }

    fn largest_bound(&self) -> f64 {
        self.weights.values().fold(self.c, |most, w| most.max(self.c * w))
    }
}

impl Pair {
    fn sum(&self) -> f64 {
        self.alpha_sum.unwrap_or_else(|| self.alpha.iter().map(|a| a.abs()).sum())
    }
}

/// A data set and our solution of a case on it.
struct CaseSolution {
    x: Matrix,
    labels: Labels,
    ours: Trained,
    decisions: Vec<f64>,
    predicted: Vec<u32>,
    /// max K(x, x).
    diagonal: f64,
}

fn solve(case: &Case, params: &Params, file: &Path) -> CaseSolution {
    let set = read(file, &ReadOptions::default()).unwrap();
    let ours = train(set.x.clone(), &set.labels, &params.options(case.epsilon), &()).unwrap();
    let predictions = ours.classifier.predict(set.x.clone()).unwrap();
    let (view, kernel) = (set.x.view(), case.params.kernel());
    let diagonal = (0..view.rows()).map(|i| kernel.eval(view.row(i), view.row(i)).abs()).fold(0.0, f64::max);
    CaseSolution {
        labels: set.labels,
        ours,
        decisions: predictions.decision,
        predicted: predictions.class,
        diagonal,
        x: set.x,
    }
}

/// Our output for a pair of LIBSVM, and the sign that converts ours to theirs.
fn output_of(classifier: &Classifier, pair: &Pair) -> (usize, f64) {
    let number = |name: &str| classifier.classes.iter().position(|c| same(c, name)).unwrap();
    let (i, j) = (number(&pair.positive), number(&pair.negative));
    let (a, b, n) = (i.min(j), i.max(j), classifier.classes.len());
    (a * (2 * n - a - 1) / 2 + (b - a - 1), if i > j { 1.0 } else { -1.0 })
}

/// LIBSVM writes +1 as 1.
fn same(a: &str, b: &str) -> bool {
    a.parse::<f64>().unwrap() == b.parse::<f64>().unwrap()
}

/// The row of each support vector; no two rows are equal.
fn rows_of(points: MatrixView<'_>, x: MatrixView<'_>) -> Vec<usize> {
    let entries = |m: MatrixView<'_>, i: usize| {
        let mut out = Vec::new();
        m.row(i).for_each(|c, v| out.extend((v != 0.0).then_some((c, v))));
        out
    };
    let rows: Vec<_> = (0..x.rows()).map(|i| entries(x, i)).collect();
    (0..points.rows()).map(|p| rows.iter().position(|row| *row == entries(points, p)).unwrap()).collect()
}

/// Differences larger than the policy allows.
#[derive(Default)]
struct Breaches(Vec<String>);

impl Breaches {
    fn limit(&mut self, what: &str, found: f64, allowed: f64) {
        // A NaN is a breach.
        if found.is_nan() || found > allowed {
            self.0.push(format!("{what} apart by {found:.1e}, allowed {allowed:.1e}"));
        }
    }
}

fn compare(case: &Case, s: &CaseSolution) -> Vec<String> {
    let mut breaches = Breaches::default();
    let classifier = &s.ours.classifier;
    let Model::Expansion { points, coef, bias, .. } = &classifier.model else { panic!("not an expansion") };
    let tight = case.epsilon < 1e-5;
    let outputs = bias.len();
    for report in &s.ours.reports {
        breaches.limit("convergence", f64::from(u8::from(report.exit != Exit::Converged)), 0.0);
    }
    for pair in &case.pairs {
        let (p, sign) = output_of(classifier, pair);
        let decision_limit = decision_limit(case, pair, s);
        let rounding = 0.5 * case.params.largest_bound() * pair.sum() * s.diagonal * U / pair.objective.abs();
        let objective = (s.ours.reports[p].objective / pair.objective - 1.0).abs();
        breaches.limit("objective reported", objective, if tight { 1e-6 } else { 5e-6 } + rounding);
        breaches.limit("bias", (sign * bias[p] + pair.rho).abs(), decision_limit);
        let decisions = pair.decision.iter().enumerate();
        let decision = decisions.map(|(r, f)| (sign * s.decisions[r * outputs + p] - f).abs());
        breaches.limit("decision", decision.fold(0.0, f64::max), decision_limit);
        let sum: f64 = coef[p].iter().map(|a| a.abs()).sum();
        breaches.limit("sum of alphas from 0", coef[p].iter().sum::<f64>().abs() / sum, 1e-12);
        if !pair.support.is_empty() {
            compare_variables(case, pair, s, &mut breaches);
        }
    }
    let count = case.support_count as f64;
    let support = (points.rows() as f64 - count).abs();
    breaches.limit("number of support vectors", support, 1.0 + 0.03 * count);
    compare_labels(case, s, &mut breaches);
    breaches.0
}

/// Allowed difference of two decisions: tolerance ε of the solvers plus single precision.
fn decision_limit(case: &Case, pair: &Pair, s: &CaseSolution) -> f64 {
    10.0 * case.epsilon * s.diagonal.max(1.0).sqrt() + pair.sum() * s.diagonal * U
}

/// Compares the variables, and in double precision the objective and function that they give.
fn compare_variables(case: &Case, pair: &Pair, s: &CaseSolution, breaches: &mut Breaches) {
    let classifier = &s.ours.classifier;
    let Model::Expansion { points, coef, .. } = &classifier.model else { panic!("not an expansion") };
    let (p, sign) = output_of(classifier, pair);
    let (view, kernel) = (s.x.view(), case.params.kernel());
    let (mut ours, mut theirs) = (vec![0.0; view.rows()], vec![0.0; view.rows()]);
    rows_of(points.view(), view).iter().zip(&coef[p]).for_each(|(&r, a)| ours[r] = sign * a);
    pair.support.iter().zip(&pair.alpha).for_each(|(&r, a)| theirs[r] = *a);
    let (mut quadratic, mut norm, mut distance) = (0.0, 0.0, 0.0);
    let used: Vec<usize> = (0..view.rows()).filter(|&r| ours[r] != 0.0 || theirs[r] != 0.0).collect();
    for &r in &used {
        for &t in &used {
            let k = kernel.eval(view.row(r), view.row(t));
            quadratic += ours[r] * ours[t] * k;
            norm += theirs[r] * theirs[t] * k;
            distance += (ours[r] - theirs[r]) * (ours[t] - theirs[t]) * k;
        }
    }
    let tight = case.epsilon < 1e-5;
    let exact = 0.5 * quadratic - ours.iter().map(|a| a.abs()).sum::<f64>();
    breaches.limit("exact objective", (exact / pair.objective - 1.0).abs(), if tight { 5e-9 } else { 1e-6 });
    let function = (distance.abs() / norm.abs()).sqrt();
    breaches.limit("function", function, if tight { 3e-4 } else { 1e-2 });

    let free = match (tight, case.params.kernel.as_str()) {
        (true, _) => 3e-4,
        (false, "rbf") => 3e-2,
        (false, _) => 1e-1,
    };
    for r in 0..view.rows() {
        let class = &s.labels.classes[s.labels.of[r].unwrap() as usize];
        let (bound, positive) = (case.params.bound(class), same(class, &pair.positive));
        let y = if positive { 1.0 } else { -1.0 };
        breaches.limit("alpha", (ours[r] - theirs[r]).abs() / bound, free);
        breaches.limit("alpha outside its bounds", (-y * ours[r]).max(y * ours[r] - bound), 0.0);
        let margin = y * pair.decision[r] - 1.0;
        if (positive || same(class, &pair.negative)) && margin.abs() > decision_limit(case, pair, s) {
            let held = if margin < 0.0 { y * bound } else { 0.0 };
            breaches.limit("alpha of a row clear of the margin", (ours[r] - held).abs(), 0.0);
        }
    }
}

fn compare_labels(case: &Case, s: &CaseSolution, breaches: &mut Breaches) {
    let classifier = &s.ours.classifier;
    let outputs = case.pairs.len();
    let limits: Vec<f64> = case.pairs.iter().map(|pair| decision_limit(case, pair, s)).collect();
    let limit = limits.iter().copied().fold(0.0, f64::max);
    let clear = |row: usize| {
        let f = &s.decisions[row * outputs..(row + 1) * outputs];
        f.iter().all(|f| f.abs() > limit)
    };
    let class = |row: usize| match tied(classifier, &s.decisions[row * outputs..(row + 1) * outputs]) {
        tied if tied.len() > 1 => first_in_libsvm_order(case, classifier, &tied),
        _ => s.predicted[row],
    };
    for (row, label) in case.labels.iter().enumerate().filter(|(row, _)| clear(*row)) {
        let found = &classifier.classes[class(row) as usize];
        breaches.limit("label", f64::from(u8::from(!same(found, label))), 0.0);
    }
    if let Some(expected) = case.training_errors {
        let wrong = (0..s.x.rows()).filter(|&r| Some(class(r)) != s.labels.of[r]).count();
        let unclear = (0..s.x.rows()).filter(|&r| !clear(r)).count();
        breaches.limit("training errors", wrong.abs_diff(expected) as f64, unclear as f64);
    }
}

/// Classes with the maximum number of votes. In a tie, LIBSVM takes the one that occurs first, we the first in sorted
/// order.
fn tied(classifier: &Classifier, f: &[f64]) -> Vec<u32> {
    if classifier.scheme != MulticlassScheme::OneVsOne {
        return Vec::new();
    }
    let n = classifier.classes.len();
    let mut votes = vec![0; n];
    let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
    pairs.zip(f).for_each(|((a, b), f)| votes[if *f < 0.0 { a } else { b }] += 1);
    let most = *votes.iter().max().unwrap();
    (0..n as u32).filter(|c| votes[*c as usize] == most).collect()
}

/// The first of these classes in the order of LIBSVM, which is the order of its pairs.
fn first_in_libsvm_order(case: &Case, classifier: &Classifier, among: &[u32]) -> u32 {
    let met = case.pairs.iter().flat_map(|pair| [&pair.positive, &pair.negative]);
    let mut numbers = met.map(|name| classifier.classes.iter().position(|c| same(c, name)).unwrap() as u32);
    numbers.find(|c| among.contains(c)).unwrap()
}

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn cases(file: &str) -> Vec<Case> {
    serde_json::from_slice(&std::fs::read(golden().join(file)).unwrap()).unwrap()
}

/// The folder of real sets, if it exists.
fn real() -> Option<PathBuf> {
    let folder = std::env::var_os("EVERMARGIN_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    folder.is_dir().then_some(folder)
}

/// The parameters of a case with one at a time changed by 0.1 % at ε = 1e-6 or 1 % at 1e-3 (coef0, which has less
/// influence: ten times as much).
fn perturbed_params(case: &Case) -> Vec<(&'static str, Params)> {
    let (params, share) = (&case.params, if case.epsilon < 1e-5 { 0.001 } else { 0.01 });
    let wrong = 1.0 + share;
    let mut out = vec![("C", Params { c: params.c * wrong, ..params.clone() })];
    if params.kernel != "linear" {
        out.push(("gamma", Params { gamma: params.gamma * wrong, ..params.clone() }));
    }
    if params.coef0 != 0.0 {
        out.push(("coef0", Params { coef0: params.coef0 * (1.0 + 10.0 * share), ..params.clone() }));
    }
    for class in params.weights.keys() {
        let mut weights = params.weights.clone();
        weights.entry(class.clone()).and_modify(|w| *w *= wrong);
        out.push(("a class weight", Params { weights, ..params.clone() }));
    }
    out
}

#[test]
fn solutions_of_generated_sets_equal_libsvm() {
    let mut failed = Vec::new();
    for case in cases("generated.json") {
        let solved = solve(&case, &case.params, &golden().join(&case.data));
        for breach in compare(&case, &solved) {
            failed.push(format!("{} at {:.0e}: {breach}", case.name, case.epsilon));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn a_slightly_wrong_parameter_is_detected() {
    for case in cases("generated.json") {
        for (what, params) in perturbed_params(&case) {
            let solved = solve(&case, &params, &golden().join(&case.data));
            let breaches = compare(&case, &solved);
            assert!(!breaches.is_empty(), "{} at {:.0e}: {what}", case.name, case.epsilon);
        }
    }
}

#[test]
fn exchanged_classes_are_detected() {
    for mut case in cases("generated.json") {
        for pair in &mut case.pairs {
            std::mem::swap(&mut pair.positive, &mut pair.negative);
        }
        let solved = solve(&case, &case.params, &golden().join(&case.data));
        let breaches = compare(&case, &solved).join("\n");
        for what in ["bias", "decision", "function", "alpha"] {
            assert!(breaches.contains(what), "{}: {what}", case.name);
        }
    }
}

#[test]
fn solutions_of_real_sets_equal_libsvm() {
    let Some(folder) = real() else { return };
    let mut failed = Vec::new();
    for case in cases("real.json") {
        let file = folder.join(&case.data);
        if !file.exists() {
            continue;
        }
        for breach in compare(&case, &solve(&case, &case.params, &file)) {
            failed.push(format!("{} at {:.0e}: {breach}", case.name, case.epsilon));
        }
        for (what, params) in perturbed_params(&case) {
            if compare(&case, &solve(&case, &params, &file)).is_empty() {
                failed.push(format!("{} at {:.0e}: {what} not noticed", case.name, case.epsilon));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// The golden files are consistent: model files, output of `svm-train`, decisions.
#[test]
fn models_of_libsvm_give_the_golden_decisions() {
    for case in cases("generated.json") {
        let digits = if case.epsilon < 1e-5 { "1e-6" } else { "1e-3" };
        let model = golden().join(format!("{}.{digits}.model", case.name));
        let classifier = libsvm_model::load(model, &Limits::default()).unwrap();
        let options = ReadOptions { cols: Some(classifier.features()), ..ReadOptions::default() };
        let x = read(golden().join(&case.data), &options).unwrap().x;
        let decisions = classifier.model.decision(x.view()).unwrap();
        for pair in &case.pairs {
            let (p, sign) = output_of(&classifier, pair);
            let rows = pair.decision.iter().enumerate();
            let apart = rows.map(|(r, f)| (sign * decisions[r * case.pairs.len() + p] - f).abs());
            let (apart, kernel) = (apart.fold(0.0, f64::max), case.params.kernel());
            let diagonal =
                (0..x.rows()).map(|i| kernel.eval(x.view().row(i), x.view().row(i))).fold(0.0, f64::max);
            assert!(apart <= pair.sum() * diagonal * U, "{}: decisions apart by {apart:.1e}", case.name);
            assert!((pair.rho - pair.rho_printed).abs() < 1e-6, "{}", case.name);
            let printed = (pair.objective_printed / pair.objective - 1.0).abs();
            let rounding = 0.5 * case.params.largest_bound() * pair.sum() * diagonal * U;
            assert!(printed * pair.objective.abs() <= 1e-6 + rounding, "{}: {printed:.1e}", case.name);
        }
    }
}
