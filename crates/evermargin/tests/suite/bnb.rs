//! Branch and bound against exhaustive search over all labelings.

use evermargin::data::{Label, MatrixView};
use evermargin::datasets::{GenerateParams, generate};
use evermargin::estimators::supervised::svc::SvcParams;
use evermargin::estimators::transductive::Ratio;
use evermargin::estimators::transductive::bnb::BnbParams;
use evermargin::estimators::{Fit, Targets, estimator};
use evermargin::params::ParamValues;
use evermargin::solver::Exit;
use evermargin::{Kernel, Labels, Matrix};
use proptest::prelude::*;
use std::slice::from_ref;

const KERNEL: Kernel = Kernel::Rbf { gamma: 1.0 };

fn data(rows: usize, noise: f64, seed: u64) -> (Matrix, Labels) {
    generate("two-moons", &GenerateParams { rows, noise: Some(noise), seed, ..Default::default() }).unwrap()
}

/// The first row of each class and the first `others` rows are labeled.
fn label_first(labels: &Labels, others: usize) -> Targets {
    let first = |c: u32| labels.of.iter().position(|l| *l == Some(c)).unwrap();
    let kept = [first(0), first(1)];
    let y = (0..labels.of.len())
        .map(|i| match labels.of[i] {
            Some(c) if kept.contains(&i) || i < others => {
                if c == 1 {
                    Label::Pos
                } else {
                    Label::Neg
                }
            }
            _ => Label::Unknown,
        })
        .collect();
    Targets { y, cost: vec![1.0; labels.of.len()] }
}

/// min over f of (λ/2)|f|² + (1/l) Σ h + (λᵤ/u) Σ h for a full labeling.
fn objective(x: MatrixView<'_>, partly: &Targets, full: &[Label], lambda: f64, lambda_u: f64) -> f64 {
    let known = partly.y.iter().filter(|y| **y != Label::Unknown).count() as f64;
    let open = partly.y.len() as f64 - known;
    let cost = |y: &Label| {
        if *y == Label::Unknown { lambda_u / (lambda * open) } else { 1.0 / (lambda * known) }
    };
    let targets = Targets { y: full.to_vec(), cost: partly.y.iter().map(cost).collect() };
    let svc = SvcParams { kernel: KERNEL, tolerance: 1e-6, ..Default::default() };
    let report = svc.fit(x, &[targets], &()).unwrap().reports[0];
    lambda * (report.gap - report.objective)
}

/// Minimum of the objective over all labelings with the given number of positives.
fn exhaustive(x: MatrixView<'_>, partly: &Targets, positives: u32, lambda: f64, lambda_u: f64) -> f64 {
    let open: Vec<usize> = (0..partly.y.len()).filter(|&i| partly.y[i] == Label::Unknown).collect();
    let mut best = f64::INFINITY;
    for bits in 0u32..1 << open.len() {
        if bits.count_ones() == positives {
            let mut full = partly.y.clone();
            for (k, &i) in open.iter().enumerate() {
                full[i] = if bits >> k & 1 == 1 { Label::Pos } else { Label::Neg };
            }
            best = best.min(objective(x, partly, &full, lambda, lambda_u));
        }
    }
    best
}

fn exact(lambda: f64, lambda_u: f64, ratio: f64) -> BnbParams {
    BnbParams {
        kernel: KERNEL,
        lambda,
        lambda_u,
        ratio: Ratio::Given(vec![ratio]),
        epsilon: 0.0,
        tolerance: 1e-6,
        ..Default::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..Default::default() })]
    #[test]
    fn the_optimum_equals_exhaustive_search(
        seed in 0u64..1000,
        rows in 6usize..11,
        noise in 0.1f64..0.8,
        lambda in prop::sample::select(vec![0.01, 0.1, 0.5]),
        lambda_u in prop::sample::select(vec![0.2, 1.0, 5.0]),
        ratio in prop::sample::select(vec![0.25, 0.5, 0.7]),
    ) {
        let (x, labels) = data(rows, noise, seed);
        prop_assume!(labels.classes.len() == 2);
        let targets = label_first(&labels, 0);
        let open = rows - 2;
        let positives = ((ratio * open as f64 + 0.5).floor() as u32).clamp(1, open as u32 - 1);
        let fitted = exact(lambda, lambda_u, ratio).fit(x.view(), from_ref(&targets), &()).unwrap();
        let best = exhaustive(x.view(), &targets, positives, lambda, lambda_u);
        let report = fitted.reports[0];
        prop_assert_eq!(report.exit, Exit::Converged);
        // both problems are solved to 1e-6
        prop_assert!((report.objective - best).abs() < 1e-4 * best, "{} {}", report.objective, best);
        let transduction = fitted.transduced.unwrap();
        let found: Vec<Label> = (0..rows)
            .map(|i| match targets.y[i] {
                Label::Unknown => if transduction.scores[0][i] > 0.0 { Label::Pos } else { Label::Neg },
                known => known,
            })
            .collect();
        let given = (0..rows).filter(|&i| targets.y[i] == Label::Unknown && found[i] == Label::Pos).count();
        prop_assert_eq!(given, positives as usize);
        let own = objective(x.view(), &targets, &found, lambda, lambda_u);
        prop_assert!((own - best).abs() < 1e-4 * best, "the returned labels are the optimum: {} {}", own, best);
        let bound = transduction.facts["lower_bound"].as_f64().unwrap();
        prop_assert!(bound <= best * (1.0 + 1e-6), "{} {}", bound, best);
        prop_assert!(transduction.facts["upper_bound"].as_f64().unwrap() - bound < 1e-4 * best);
    }
}

#[test]
fn the_optimum_of_twelve_rows_equals_exhaustive_search() {
    let (x, labels) = data(14, 0.3, 11);
    let targets = label_first(&labels, 0);
    let fitted = exact(0.1, 1.0, 0.5).fit(x.view(), from_ref(&targets), &()).unwrap();
    let best = exhaustive(x.view(), &targets, 6, 0.1, 1.0);
    assert!((fitted.reports[0].objective - best).abs() < 1e-4 * best);
    let nodes = fitted.transduced.unwrap().facts["nodes"].as_u64().unwrap();
    assert!(nodes < 924, "fewer nodes than labelings: {nodes}");
}

/// Blobs of three classes in turn, two of which overlap; the first row of each is labeled.
fn three(rows: usize, seed: u64) -> (Matrix, Vec<u32>, Vec<Targets>) {
    let wanted = GenerateParams { rows, noise: Some(0.6), seed, ..Default::default() };
    let (noise, _) = generate("two-moons", &wanted).unwrap();
    let class: Vec<u32> = (0..rows as u32).map(|i| i % 3).collect();
    let center = [[0.0, 0.0], [1.2, 0.0], [0.0, 2.0]];
    let value = |i: usize, c: usize| {
        let mut at = 0.0;
        noise.view().row(i).for_each(|k, v| at += if k == c { v } else { 0.0 });
        center[class[i] as usize][c] + at
    };
    let values = (0..rows).flat_map(|i| [value(i, 0), value(i, 1)]).collect();
    let one = |c: u32| {
        let label = |i: usize| match i {
            0..3 if class[i] == c => Label::Pos,
            0..3 => Label::Neg,
            _ => Label::Unknown,
        };
        Targets { y: (0..rows).map(label).collect(), cost: vec![1.0; rows] }
    };
    (Matrix::dense(values, rows, 2).unwrap(), class.clone(), (0..3).map(one).collect())
}

/// Sum of the objectives of the three one-vs-rest problems for a full labeling.
fn sum(x: MatrixView<'_>, targets: &[Targets], class: &[u32], lambda: f64) -> f64 {
    let of = |(c, partly): (u32, &Targets)| {
        let full: Vec<Label> = class.iter().map(|k| if *k == c { Label::Pos } else { Label::Neg }).collect();
        objective(x, partly, &full, lambda, 1.0)
    };
    (0..).zip(targets).map(of).sum()
}

#[test]
fn the_multiclass_optimum_equals_exhaustive_search() {
    for seed in 0..4 {
        let rows = 9;
        let (x, _, targets) = three(rows, seed);
        let params = BnbParams { ratio: Ratio::Given(vec![1.0 / 3.0; 3]), ..exact(0.1, 1.0, 0.5) };
        let fitted = params.fit(x.view(), &targets, &()).unwrap();
        let mut best = f64::INFINITY;
        for code in 0..3u32.pow(6) {
            let given: Vec<u32> = (0..6).map(|k| code / 3u32.pow(k) % 3).collect();
            if (0..3).all(|c| given.iter().filter(|g| **g == c).count() == 2) {
                let class = [vec![0, 1, 2], given].concat();
                best = best.min(sum(x.view(), &targets, &class, 0.1));
            }
        }
        let found: f64 = fitted.reports.iter().map(|r| r.objective).sum();
        assert!((found - best).abs() < 1e-4 * best, "seed {seed}: {found} {best}");
        assert!(fitted.reports.iter().all(|r| r.exit == Exit::Converged && r.gap < 1e-4 * best));
        let transduction = fitted.transduced.unwrap();
        let positive =
            |i: usize| (0..3u32).filter(|c| transduction.scores[*c as usize][i] > 0.0).collect::<Vec<_>>();
        let class: Vec<u32> = (0..rows).map(|i| if i < 3 { i as u32 } else { positive(i)[0] }).collect();
        assert!((3..rows).all(|i| positive(i).len() == 1), "each row must have exactly one class");
        assert!(
            (sum(x.view(), &targets, &class, 0.1) - best).abs() < 1e-4 * best,
            "the returned labels are the optimum"
        );
        assert!(transduction.facts["lower_bound"].as_f64().unwrap() <= best * (1.0 + 1e-6));
        assert!(transduction.facts["nodes"].as_u64().unwrap() > 0, "one search for all classes");
    }
}

/// Number of unlabeled rows that are assigned to each class for the given class ratios.
fn counts(rows: usize, shares: &[f64; 3], params: &BnbParams) -> [usize; 3] {
    let (x, _, targets) = three(rows, 7);
    let params = BnbParams { ratio: Ratio::Given(shares.to_vec()), ..params.clone() };
    let transduction = params.fit(x.view(), &targets, &()).unwrap().transduced.unwrap();
    let classes = |i: usize| (0..3).filter(|c| transduction.scores[*c][i] > 0.0).collect::<Vec<_>>();
    assert!((3..rows).all(|i| classes(i).len() == 1), "each row must have exactly one class");
    [0, 1, 2].map(|c| (3..rows).filter(|&i| classes(i) == [c]).count())
}

#[test]
fn class_ratios_are_rounded_to_whole_rows_that_add_up() {
    let params = exact(0.1, 1.0, 0.5);
    assert_eq!(counts(12, &[1.0 / 3.0; 3], &params), [3, 3, 3]);
    assert_eq!(counts(11, &[0.5, 0.25, 0.25], &params), [4, 2, 2]);
    // 10 rows: 5.6, 2.2, 2.2
    assert_eq!(counts(13, &[0.56, 0.22, 0.22], &params), [6, 2, 2]);
    assert_eq!(
        counts(4, &[0.3, 0.4, 0.3], &params),
        [0, 1, 0],
        "a single row goes to the class of the largest ratio"
    );
    let equal = counts(11, &[1.0 / 3.0; 3], &params);
    assert_eq!(equal.iter().sum::<usize>(), 8);
    assert!(equal.iter().all(|n| (2..=3).contains(n)), "{equal:?}");
}

#[test]
fn a_node_limit_leaves_a_valid_gap_for_several_classes() {
    let (x, _, targets) = three(15, 3);
    let wanted = |max_nodes: u64| BnbParams {
        ratio: Ratio::Given(vec![1.0 / 3.0; 3]),
        max_nodes,
        ..exact(0.1, 1.0, 0.5)
    };
    let total = |nodes: u64| {
        let fitted = wanted(nodes).fit(x.view(), &targets, &()).unwrap();
        let facts = fitted.transduced.unwrap().facts;
        let [lower, upper] = ["lower_bound", "upper_bound"].map(|name| facts[name].as_f64().unwrap());
        let sum: f64 = fitted.reports.iter().map(|r| r.objective).sum();
        assert!((sum - upper).abs() < 1e-9 * upper, "objectives add up to the upper bound");
        for report in &fitted.reports {
            assert!(
                (report.gap - (upper - lower)).abs() < 1e-9 * upper,
                "the gap is that of the whole search"
            );
        }
        (lower, upper, fitted.reports[0].exit)
    };
    let (least, most, exit) = total(0);
    assert_eq!(exit, Exit::Converged);
    for nodes in [1, 3, 10] {
        let (lower, upper, exit) = total(nodes);
        assert_eq!(exit, Exit::Limit);
        assert!(lower <= most * (1.0 + 1e-6) && upper >= least * (1.0 - 1e-6), "{nodes}: {lower} {upper}");
    }
}

#[test]
fn problems_with_different_labeled_rows_are_searched_separately() {
    let (x, _, mut targets) = three(11, 7);
    targets[0].y[3] = Label::Pos;
    let params = BnbParams { ratio: Ratio::Given(vec![0.4, 0.3, 0.3]), ..exact(0.1, 1.0, 0.5) };
    let all = params.fit(x.view(), &targets, &()).unwrap();
    assert_eq!(all.transduced.unwrap().facts["problems"].as_list().unwrap().len(), 3);
    for (one, share) in [0.4, 0.3, 0.3].into_iter().enumerate() {
        let alone = exact(0.1, 1.0, share).fit(x.view(), from_ref(&targets[one]), &()).unwrap();
        assert_eq!(alone.reports[0].objective, all.reports[one].objective);
    }
}

#[test]
fn no_heuristic_has_a_lower_objective() {
    let params: ParamValues = serde_json::from_str(r#"{"gamma": 1.0, "lambda": 0.1, "ratio": 0.5}"#).unwrap();
    for seed in 0..4 {
        let (x, labels) = data(20, 0.35, seed);
        let targets = label_first(&labels, 0);
        let fitted = exact(0.1, 1.0, 0.5).fit(x.view(), from_ref(&targets), &()).unwrap();
        assert_eq!(fitted.reports[0].exit, Exit::Converged);
        for name in ["tsvm", "da", "grad-tsvm", "cccp-s3vm", "label-propagation"] {
            let mut params = params.clone();
            if name == "label-propagation" {
                params.remove("lambda");
                params.insert("n_neighbors".into(), 4.into());
            }
            let other = estimator(name).unwrap().make(&params).unwrap();
            let transduction = other.fit(x.view(), from_ref(&targets), &()).unwrap().transduced.unwrap();
            // the labels of the other method, adjusted to the ratio by ranking its scores
            let open: Vec<usize> = (0..20).filter(|&i| targets.y[i] == Label::Unknown).collect();
            let scores: Vec<f64> = open.iter().map(|&i| transduction.scores[0][i]).collect();
            let marks = evermargin::estimators::transductive::largest(&scores, 9);
            let mut full = targets.y.clone();
            open.iter().zip(marks).for_each(|(&i, m)| full[i] = if m { Label::Pos } else { Label::Neg });
            let theirs = objective(x.view(), &targets, &full, 0.1, 1.0);
            let ours = fitted.reports[0].objective;
            assert!(ours <= theirs + 1e-5 * theirs, "{name} seed {seed}: {ours} {theirs}");
        }
    }
}

#[test]
fn separates_two_moons_from_two_labels() {
    // Table 3.1: 0 % error for the optimum, 34 % to 66 % for local descent methods
    // (for draw 2 of so few samples, the proven optimum is not the truth)
    for seed in 0..2 {
        let (x, labels) = data(42, 0.05, seed);
        let targets = label_first(&labels, 0);
        let positives = labels.of.iter().filter(|l| **l == Some(1)).count() - 1;
        let params = BnbParams {
            kernel: Kernel::Rbf { gamma: 2.0 },
            lambda: 0.1,
            lambda_u: 20.0,
            ratio: Ratio::Given(vec![positives as f64 / 40.0]),
            ..Default::default()
        };
        let fitted = params.fit(x.view(), &[targets], &()).unwrap();
        let transduction = fitted.transduced.unwrap();
        assert_eq!(fitted.reports[0].exit, Exit::Converged, "{:?}", transduction.facts);
        let wrong =
            (0..42).filter(|&i| (transduction.scores[0][i] > 0.0) != (labels.of[i] == Some(1))).count();
        assert_eq!(wrong, 0, "seed {seed}: {:?}", transduction.facts);
    }
}

#[test]
fn a_node_limit_leaves_a_valid_gap() {
    let (x, labels) = data(13, 0.8, 5);
    let targets = label_first(&labels, 0);
    let best = exhaustive(x.view(), &targets, 6, 0.5, 1.0);
    for max_nodes in [1, 3, 20] {
        let params = BnbParams { max_nodes, ..exact(0.5, 1.0, 0.5) };
        let fitted = params.fit(x.view(), from_ref(&targets), &()).unwrap();
        let facts = fitted.transduced.unwrap().facts;
        let (low, high) = (facts["lower_bound"].as_f64().unwrap(), facts["upper_bound"].as_f64().unwrap());
        assert!(low <= best * (1.0 + 1e-6) && best <= high * (1.0 + 1e-4), "{low} {best} {high}");
        assert!(facts["nodes"].as_u64().unwrap() <= max_nodes);
        assert_eq!(fitted.reports[0].exit, Exit::Limit);
        assert!((fitted.reports[0].gap - (high - low)).abs() < 1e-12);
    }
    let params = BnbParams { epsilon: 0.5, ..exact(0.5, 1.0, 0.5) };
    let facts = params.fit(x.view(), &[targets], &()).unwrap().transduced.unwrap().facts;
    let (low, high) = (facts["lower_bound"].as_f64().unwrap(), facts["upper_bound"].as_f64().unwrap());
    let high = high * (1.0 + 1e-6); // the tolerance of the solver
    assert!(low <= best && best <= high && low >= 0.5 * high * (1.0 - 1e-9), "{low} {best} {high}");
}

#[test]
fn refuses_too_many_unlabeled_rows() {
    let (x, labels) = data(310, 0.1, 1);
    let error = BnbParams::default().fit(x.view(), &[label_first(&labels, 0)], &()).unwrap_err().to_string();
    assert_eq!(
        error,
        "bnb-s3vm searches the labels of at most 300 unlabeled rows, and there are 308; use tsvm or da"
    );
}

#[test]
fn symmetric_labelings_of_equal_rows_are_not_searched() {
    // 20 copies of one row between two labeled rows, and four other rows
    let mut values = vec![-1.0, 0.0, 1.0, 0.0];
    (0..20).for_each(|_| values.extend([0.1, 0.0]));
    values.extend([-0.8, 0.3, -0.7, -0.2, 0.9, 0.4, 0.6, -0.3]);
    let x = Matrix::dense(values, 26, 2).unwrap();
    let mut y = vec![Label::Unknown; 26];
    (y[0], y[1]) = (Label::Neg, Label::Pos);
    let targets = Targets { y, cost: vec![1.0; 26] };
    let fitted = exact(0.1, 1.0, 0.5).fit(x.view(), from_ref(&targets), &()).unwrap();
    let transduction = fitted.transduced.unwrap();
    assert_eq!(fitted.reports[0].exit, Exit::Converged);
    assert!(transduction.facts["nodes"].as_u64().unwrap() < 2000, "{:?}", transduction.facts);
    // the labels of the four others, and as many positive copies as make 12 positives
    let mut best = f64::INFINITY;
    for bits in 0..16usize {
        let mut full = targets.y.clone();
        let mark = |positive: bool| if positive { Label::Pos } else { Label::Neg };
        (0..4).for_each(|k| full[22 + k] = mark(bits >> k & 1 == 1));
        let equal = 12 - bits.count_ones() as usize;
        (0..20).for_each(|k| full[2 + k] = mark(k < equal));
        best = best.min(objective(x.view(), &targets, &full, 0.1, 1.0));
    }
    let found = fitted.reports[0].objective;
    assert!((found - best).abs() < 1e-4 * best, "{found} {best}");
}

/// Labels spread between neighbors, so the first descent in the tree already finds both moons, although so few nodes
/// would not suffice for a search.
#[test]
fn the_first_descent_follows_neighbors() {
    for seed in [1, 2, 3] {
        let (x, labels) = data(100, 0.05, seed);
        let params = BnbParams { max_nodes: 100, ..exact(1e-3, 1.0, 0.5) };
        let transduction = params.fit(x.view(), &[label_first(&labels, 0)], &()).unwrap().transduced.unwrap();
        let wrong =
            transduction.scores[0].iter().zip(&labels.of).filter(|(s, l)| u32::from(**s > 0.0) != l.unwrap());
        assert_eq!(wrong.count(), 0, "seed {seed}");
    }
}
