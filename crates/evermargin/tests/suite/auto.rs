//! `auto`: at least as good as labels alone where structure helps, and not worse where it does not.

use evermargin::data::Label;
use evermargin::datasets::{GenerateParams, generate};
use evermargin::estimators::auto::AutoParams;
use evermargin::estimators::transductive::{Ratio, Transduced};
use evermargin::estimators::{Fit, Targets};
use evermargin::kernel::Kernel;
use evermargin::params::{ParamValue, ParamValues};
use evermargin::solver::{Progress, Watch};
use evermargin::{Labels, Matrix};
use std::sync::atomic::{AtomicU64, Ordering};

fn data(name: &str, rows: usize, noise: Option<f64>, seed: u64) -> (Matrix, Vec<u32>) {
    let (x, labels): (Matrix, Labels) =
        generate(name, &GenerateParams { rows, noise, seed, ..Default::default() }).unwrap();
    (x, labels.of.iter().map(|c| c.unwrap()).collect())
}

/// Problems in which the first `each` rows of every class are labeled.
fn problems(class: &[u32], each: usize) -> Vec<Targets> {
    let count = class.iter().max().unwrap() + 1;
    let mut seen = vec![0; count as usize];
    let known: Vec<bool> = class
        .iter()
        .map(|&c| {
            seen[c as usize] += 1;
            seen[c as usize] <= each
        })
        .collect();
    let one = |k: u32| {
        let label = |i: usize| match known[i] {
            true if class[i] == k => Label::Pos,
            true => Label::Neg,
            false => Label::Unknown,
        };
        Targets { y: (0..class.len()).map(label).collect(), cost: vec![1.0; class.len()] }
    };
    if count == 2 { vec![one(1)] } else { (0..count).map(one).collect() }
}

fn params(gamma: f64) -> AutoParams {
    AutoParams { kernel: Kernel::Rbf { gamma }, ..AutoParams::default() }
}

fn labeled_class(t: &Transduced, i: usize) -> u32 {
    match t.scores.as_slice() {
        [f] => u32::from(f[i] > 0.0),
        several => {
            (0..several.len()).fold(0, |b, k| if several[k][i] > several[b][i] { k } else { b }) as u32
        }
    }
}

fn accuracy(t: &Transduced, class: &[u32]) -> f64 {
    (0..class.len()).filter(|&i| labeled_class(t, i) == class[i]).count() as f64 / class.len() as f64
}

fn candidates(t: &Transduced) -> Vec<ParamValues> {
    let Some(ParamValue::List(rows)) = t.facts.get("candidates") else { panic!("no table of candidates") };
    rows.iter()
        .map(|row| match row {
            ParamValue::Map(row) => row.clone(),
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn two_moons_from_six_labels_are_better_than_labels_alone() {
    let (mut with, mut without) = (0.0, 0.0);
    for seed in 1..=5 {
        let (x, class) = data("two-moons", 300, Some(0.12), seed);
        let fitted = params(1.0).fit(x.view(), &problems(&class, 3), &()).unwrap();
        let t = fitted.transduced.unwrap();
        let alone = t.alone.clone().unwrap();
        let alone = Transduced { scores: alone.scores, ..Transduced::default() };
        with += accuracy(&t, &class) / 5.0;
        without += accuracy(&alone, &class) / 5.0;
    }
    assert!(with > 0.9 && with > without + 0.03, "{with} with unlabeled rows, {without} without");
}

#[test]
fn weights_are_a_distribution_and_every_candidate_is_listed() {
    let (x, class) = data("two-moons", 120, Some(0.1), 3);
    let fitted = params(1.0).fit(x.view(), &problems(&class, 4), &()).unwrap();
    let table = candidates(&fitted.transduced.unwrap());
    assert!(table.len() >= 10, "{} candidates", table.len());
    let weight = |row: &ParamValues| row.get("weight").and_then(ParamValue::as_f64).unwrap();
    assert!((table.iter().map(weight).sum::<f64>() - 1.0).abs() < 1e-12);
    for row in &table {
        let share = |key: &str| row.get(key).and_then(ParamValue::as_f64).unwrap();
        assert!((0.0..=1.0).contains(&weight(row)));
        assert!(share("accuracy_low") <= share("accuracy") && share("accuracy") <= share("accuracy_high"));
    }
}

#[test]
fn accepts_one_label_per_class() {
    let (x, class) = data("spheres", 200, None, 2);
    let problems = problems(&class, 1);
    let t = params(0.1).fit(x.view(), &problems, &()).unwrap().transduced.unwrap();
    assert!(candidates(&t).iter().all(|row| !row.contains_key("accuracy")), "nothing could be held out");
    assert!(t.scores.iter().flatten().all(|f| f.is_finite()));
    // given labels are kept
    for i in 0..class.len() {
        if problems[0].y[i] != Label::Unknown {
            assert_eq!(labeled_class(&t, i), class[i]);
        }
    }
}

#[test]
fn results_are_bit_identical_for_any_number_of_threads() {
    let (x, class) = data("two-moons", 150, Some(0.2), 5);
    let problems = problems(&class, 5);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| params(1.0).fit(x.view(), &problems, &()).unwrap())
    };
    let (one, four) = (run(1), run(4));
    assert_eq!(one.transduced.unwrap().scores, four.transduced.unwrap().scores);
    assert_eq!(one.model, four.model);
}

#[test]
fn a_given_ratio_is_respected() {
    let (x, class) = data("two-moons", 200, Some(0.3), 7);
    let params = AutoParams { ratio: Ratio::Given(vec![0.3]), ..params(1.0) };
    let problems = problems(&class, 5);
    let t = params.fit(x.view(), &problems, &()).unwrap().transduced.unwrap();
    assert!((t.ratio[0] - 0.3).abs() < 0.06, "{}", t.ratio[0]);
}

#[test]
fn without_unlabeled_rows_only_supervised_candidates_are_combined() {
    let (x, class) = data("two-moons", 60, Some(0.1), 1);
    let t = params(1.0).fit(x.view(), &problems(&class, 60), &()).unwrap().transduced.unwrap();
    assert!(candidates(&t).iter().all(|row| {
        let name = row.get("candidate").and_then(ParamValue::as_str).unwrap();
        name.starts_with("linear") || name.starts_with("svc")
    }));
}

#[test]
fn identical_rows_give_finite_scores() {
    let x = Matrix::dense(vec![1.0; 80], 40, 2).unwrap();
    let class: Vec<u32> = (0..40).map(|i| i % 2).collect();
    let fitted = params(1.0).fit(x.view(), &problems(&class, 3), &()).unwrap();
    assert!(fitted.transduced.unwrap().scores.iter().flatten().all(|f| f.is_finite()));
}

#[test]
fn empty_documents_do_not_connect_classes() {
    // two topics of ten words each, and documents without words
    let rows = 120;
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..rows {
        if i % 6 != 5 {
            for k in 0..3 {
                indices.push(((i % 2) * 10 + (i * 7 + k * 3) % 10) as u32);
                values.push(1.0 / 3f64.sqrt());
            }
            let at = indptr[i];
            indices[at..].sort_unstable();
        }
        indptr.push(indices.len());
    }
    let x = Matrix::csr(indptr, indices, values, 20).unwrap();
    let class: Vec<u32> = (0..rows).map(|i| (i % 2) as u32).collect();
    let t = params(1.0).fit(x.view(), &problems(&class, 2), &()).unwrap().transduced.unwrap();
    let filled: Vec<usize> = (0..rows).filter(|i| i % 6 != 5).collect();
    let right = filled.iter().filter(|&&i| labeled_class(&t, i) == class[i]).count();
    assert!(right as f64 > 0.95 * filled.len() as f64, "{right} of {}", filled.len());
}

/// Stops training after a number of calls.
struct StopAfter(AtomicU64);

impl Watch for StopAfter {
    fn proceed(&self, _: &Progress) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
    }
}

#[test]
fn an_interrupted_fit_returns_a_usable_classifier_or_an_error() {
    let (x, class) = data("two-moons", 100, Some(0.1), 2);
    let mut fits = 0;
    for steps in [0, 1, 10, 100, 1000] {
        let watch = StopAfter(AtomicU64::new(steps));
        if let Ok(fitted) = params(1.0).fit(x.view(), &problems(&class, 3), &watch) {
            assert!(fitted.transduced.unwrap().scores.iter().flatten().all(|f| f.is_finite()), "{steps}");
            let decisions = fitted.model.decision(x.view()).unwrap();
            let correct = decisions.iter().zip(&class).filter(|(f, c)| (**f > 0.0) == (**c == 1)).count();
            assert!(correct >= 70, "{steps} steps: {correct} of 100 rows");
            fits += 1;
        }
    }
    assert!(fits > 0, "no fit was interrupted in a way that leaves a classifier");
}
