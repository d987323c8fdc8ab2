//! QP-S3VM against brute force and its bound; the estimated ratio against the path of the exact incremental SVM.

use evermargin::data::{Label, Matrix};
use evermargin::estimators::online::incremental::{ExactParams, ExactSvm};
use evermargin::estimators::supervised::svc::SvcParams;
use evermargin::estimators::transductive::qp::{QpParams, exhaustive};
use evermargin::estimators::transductive::submod::cut::{Cut, Seeds};
use evermargin::estimators::transductive::submod::search::{Search, greedy};
use evermargin::estimators::transductive::submod::space::{LinearSpace, Space};
use evermargin::estimators::transductive::{FewLabels, Ratio, estimate_ratio};
use evermargin::estimators::{Fit, Targets};
use evermargin::kernel::Kernel;
use evermargin::kernel::gram::gram_matrix;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

fn random(rows: usize, cols: usize, rng: &mut Pcg64) -> Matrix {
    let values = (0..rows * cols).map(|_| rng.random_range(0.0..1.0)).collect();
    Matrix::dense(values, rows, cols).unwrap()
}

#[test]
fn multiple_starts_find_the_optimum_of_small_problems() {
    let mut rng = Pcg64::seed_from_u64(1);
    let (mut optimal, mut greedy_optimal) = (0, 0);
    for _ in 0..100 {
        let x = random(18, 3, &mut rng);
        let mut pull = vec![0.0; 18];
        (0..4).for_each(|i| pull[i] = if i % 2 == 0 { 1.0 } else { -1.0 });
        let seeds =
            Seeds { labeled: (0..4).collect(), pull, unlabeled: (4..18).collect(), weight: vec![1.0; 18] };
        let mut space = Space::Linear(LinearSpace::new(x.view(), None));
        let mut cut = Cut::new(&mut space, &seeds, rng.random_range(0.1..2.0));
        let best = exhaustive(&mut cut, 6).labeling.objective;
        let found =
            Search { sweeps: 60, greedy: true, exchanges: 60, random: 10, seed: 1 }.run(&mut cut, 6, &());
        assert!(found.labeling.objective <= best + 1e-9);
        assert!(found.objectives.len() == 13);
        optimal += usize::from(found.labeling.objective >= best - 1e-9);
        let alone = greedy(&mut cut, 6, false, false, &()).positive;
        cut.select(&alone);
        let mut scores = vec![0.0; 14];
        cut.scores(&mut scores);
        assert!(found.labeling.objective >= cut.value(&scores) - 1e-9);
        greedy_optimal += usize::from(cut.value(&scores) >= best - 1e-9);
    }
    assert!(optimal >= 98 && optimal >= greedy_optimal, "{optimal} {greedy_optimal}");
}

/// The dual of problem 2 for fixed p: z = (α, γ, β) in its box, Σz − ½|Σ s z φ|², solved by coordinate ascent.
fn dual(k: &[f64], n: usize, y: &[f64], p: &[f64], c: f64, star: f64) -> f64 {
    let l = y.len();
    let mut coordinates: Vec<(usize, f64, f64)> = y.iter().enumerate().map(|(i, y)| (i, *y, c)).collect();
    for (j, p) in p.iter().enumerate() {
        coordinates.push((l + j, 1.0, star * p));
        coordinates.push((l + j, -1.0, star * (1.0 - p)));
    }
    let (mut z, mut f) = (vec![0.0; coordinates.len()], vec![0.0; n]);
    for _ in 0..3000 {
        for (t, &(i, sign, top)) in coordinates.iter().enumerate() {
            let next = (z[t] + (1.0 - sign * f[i]) / k[i * n + i]).clamp(0.0, top);
            (0..n).for_each(|m| f[m] += (next - z[t]) * sign * k[m * n + i]);
            z[t] = next;
        }
    }
    let quadratic: f64 = coordinates.iter().zip(&z).map(|((i, sign, _), z)| z * sign * f[*i]).sum();
    z.iter().sum::<f64>() - 0.5 * quadratic
}

/// The bound as printed in the source, including the constants of its other terms, and the constant missing there.
fn bound(k: &[f64], n: usize, y: &[f64], p: &[f64], c: f64, star: f64) -> (f64, f64) {
    let l = y.len();
    let (mut printed, mut missing) = (c * l as f64 + star * p.len() as f64, 0.0);
    for (j, pj) in p.iter().enumerate() {
        for (i, y) in y.iter().enumerate() {
            let entry = c * star * k[i * n + l + j];
            printed += y * entry * (1.0 - pj);
            missing += if *y < 0.0 { entry } else { 0.0 };
        }
        for (i, pi) in p.iter().enumerate() {
            printed += 0.5 * star * star * (1.0 - pj) * k[(l + j) * n + l + i] * pi;
        }
    }
    (printed, missing)
}

#[test]
fn the_bound_holds_with_the_constant_missing_in_the_source() {
    let mut rng = Pcg64::seed_from_u64(2);
    let mut violated = 0;
    for round in 0..60 {
        let x = random(7, 2, &mut rng);
        let k = gram_matrix(x.view(), Kernel::Rbf { gamma: 2.0 });
        let negative = round % 3 == 0;
        let y: Vec<f64> = (0..3).map(|i| if negative || i == 1 { -1.0 } else { 1.0 }).collect();
        let p: Vec<f64> = (0..4).map(|_| rng.random_range(0.0..1.0)).collect();
        let (c, star) = (rng.random_range(0.5..5.0), rng.random_range(0.5..5.0));
        let best = dual(&k, 7, &y, &p, c, star);
        let (printed, missing) = bound(&k, 7, &y, &p, c, star);
        assert!(best <= printed + missing + 1e-9, "{best} {printed} {missing}");
        violated += usize::from(best > printed + 1e-9);
    }
    assert!(violated > 0, "the printed bound was never violated");
}

/// With p in {0, 1}, the dual is that of an SVM without bias with costs C and C*.
#[test]
fn the_dual_with_binary_p_equals_an_svm() {
    let mut rng = Pcg64::seed_from_u64(3);
    let x = random(9, 2, &mut rng);
    let kernel = Kernel::Rbf { gamma: 3.0 };
    let (y, p, star) = ([1.0, -1.0, 1.0], [1.0, 0.0, 0.0, 1.0, 1.0, 0.0], 0.3);
    let best = dual(&gram_matrix(x.view(), kernel), 9, &y, &p, 1.0, star);
    let sign = |v: f64| if v > 0.0 { Label::Pos } else { Label::Neg };
    let labels = y.iter().map(|y| sign(*y)).chain(p.iter().map(|p| sign(p - 0.5))).collect();
    let cost = (0..9).map(|i| if i < 3 { 1.0 } else { star }).collect();
    let svc = SvcParams { kernel, fit_intercept: false, tolerance: 1e-7, ..Default::default() };
    let fitted = svc.fit(x.view(), &[Targets { y: labels, cost }], &()).unwrap();
    // kernel rows are single precision
    assert!((best + fitted.reports[0].objective).abs() < 1e-5 * best, "{best} {:?}", fitted.reports[0]);
}

#[test]
fn tiny_problems_are_solved_exhaustively_with_the_requested_ratio() {
    let mut rng = Pcg64::seed_from_u64(4);
    for n in [1usize, 2, 5, 12, 40] {
        let x = random(n + 4, 3, &mut rng);
        let label = |i: usize| [Label::Pos, Label::Neg, Label::Pos, Label::Neg, Label::Unknown][i.min(4)];
        let t = Targets { y: (0..n + 4).map(label).collect(), cost: vec![1.0; n + 4] };
        let params = QpParams { ratio: Ratio::Given(vec![0.4]), ..Default::default() };
        let fitted = params.fit(x.view(), std::slice::from_ref(&t), &()).unwrap();
        let given = fitted.transduced.unwrap();
        let k = (0.4 * n as f64 + 0.5).floor() as usize;
        let k = if n > 1 { k.clamp(1, n - 1) } else { k };
        assert_eq!((4..n + 4).filter(|&i| given.scores[0][i] > 0.0).count(), k);
        assert_eq!(given.facts["start"] == "exhaustive".into(), n <= 12);
    }
}

#[test]
fn the_ratio_of_two_clouds_is_estimated() {
    for share in [0.25, 0.5, 0.7] {
        let mut rng = Pcg64::seed_from_u64(5);
        let n = 400;
        let truth: Vec<bool> = (0..n).map(|i| (i as f64 * 0.618_034).fract() < share).collect();
        let mut values = Vec::new();
        for &t in &truth {
            let center = if t { 1.0 } else { -1.0 };
            (0..5).for_each(|_| values.push(center + rng.random_range(-1.5..1.5)));
        }
        let x = Matrix::dense(values, n, 5).unwrap();
        let first = |mark: bool| truth.iter().position(|t| *t == mark).unwrap();
        let mut y = vec![Label::Unknown; n];
        (y[first(true)], y[first(false)]) = (Label::Pos, Label::Neg);
        let found = estimate_ratio(x.view(), &Targets { y, cost: vec![1.0; n] }, &()).unwrap();
        let share = truth.iter().filter(|t| **t).count() as f64 / n as f64;
        assert!((found.share.unwrap() - share).abs() <= 0.03, "{found:?} {share}");
    }
}

/// Two clouds with one label each, and the fraction of positive rows.
fn clouds(n: usize, share: f64, order: &[usize]) -> (Matrix, Targets, f64) {
    let mut rng = Pcg64::seed_from_u64(5);
    let truth: Vec<bool> = (0..n).map(|i| (i as f64 * 0.618_034).fract() < share).collect();
    let mut points: Vec<Vec<f64>> = Vec::new();
    for &t in &truth {
        let center = if t { 1.0 } else { -1.0 };
        points.push((0..5).map(|_| center + rng.random_range(-1.5..1.5)).collect());
    }
    let mut y = vec![Label::Unknown; n];
    let first = |mark: bool| truth.iter().position(|t| *t == mark).unwrap();
    (y[first(true)], y[first(false)]) = (Label::Pos, Label::Neg);
    let values = order.iter().flat_map(|&i| points[i].clone()).collect();
    let y = order.iter().map(|&i| y[i]).collect();
    let share = truth.iter().filter(|t| **t).count() as f64 / n as f64;
    (Matrix::dense(values, n, 5).unwrap(), Targets { y, cost: vec![1.0; n] }, share)
}

#[test]
fn the_estimated_ratio_does_not_depend_on_row_order() {
    let n = 3000;
    let (_, _, share) = clouds(n, 0.25, &(0..n).collect::<Vec<_>>());
    // positive and negative rows alternate while positives last, which an estimate from every n-th row would follow
    let truth = |i: &usize| (*i as f64 * 0.618_034).fract() < 0.25;
    let (mut positive, mut negative): (Vec<usize>, Vec<usize>) = (0..n).partition(truth);
    let mut alternating = Vec::new();
    while let Some(p) = positive.pop() {
        alternating.push(p);
        alternating.extend(negative.pop());
    }
    alternating.extend(negative);
    let blocks: Vec<usize> = (0..n).filter(truth).chain((0..n).filter(|i| !truth(i))).collect();
    for order in [(0..n).collect(), alternating, blocks] {
        let (x, t, _) = clouds(n, 0.25, &order);
        let found = estimate_ratio(x.view(), &t, &()).unwrap();
        assert!((found.share.unwrap() - share).abs() < 0.03, "{:?} {share}", found.share);
    }
}

/// The exact path uses the hinge loss and the warm-started path the squared hinge: different curves with their minima at
/// the same place.
#[test]
fn exact_and_warm_started_paths_choose_the_same_ratio() {
    let n = 200;
    for share in [0.3, 0.5] {
        let (x, t, _) = clouds(n, share, &(0..n).collect::<Vec<_>>());
        let found = estimate_ratio(x.view(), &t, &()).unwrap().share.unwrap();
        let params = ExactParams { kernel: Kernel::Linear, ..Default::default() };
        let mut path = ExactSvm::new(&params, 5, false).unwrap();
        t.used().iter().for_each(|&i| path.add(x.view(), i, t.y[i], 1.0, i as u64).unwrap());
        // the order of relabeling: along the line through both centers
        let mut chain: Vec<usize> = (0..n).filter(|i| t.y[*i] == Label::Unknown).collect();
        let sum = |i: usize| {
            let mut s = 0.0;
            x.view().row(i).for_each(|_, v| s += v);
            s
        };
        chain.sort_by(|&a, &b| sum(b).total_cmp(&sum(a)));
        chain.iter().for_each(|&i| path.add(x.view(), i, Label::Neg, 1.0, i as u64).unwrap());
        let open = chain.len();
        let mut curve = Vec::new();
        for &i in &chain {
            path.relabel(i as u64, Label::Pos).unwrap();
            // ½|w|² + Σ max(0, −g) = Σα − ½αᵀQα at the optimum
            curve.push(0.5 * path.alpha().iter().zip(path.g()).map(|(a, g)| a * (1.0 - g)).sum::<f64>());
        }
        let inside = open / 10..open - open / 10;
        let best = inside.min_by(|&a, &b| curve[a].total_cmp(&curve[b])).unwrap() + 1;
        assert!((best as f64 / open as f64 - found).abs() <= 0.03, "{best} of {open}, {found}");
    }
}

/// Stops training after a number of calls.
struct StopAfter(std::sync::atomic::AtomicUsize);

impl evermargin::solver::Watch for StopAfter {
    fn proceed(&self, _: &evermargin::solver::Progress) -> bool {
        use std::sync::atomic::Ordering::Relaxed;
        self.0.fetch_update(Relaxed, Relaxed, |left| Some(left.saturating_sub(1))).is_ok_and(|left| left > 0)
    }
}

#[test]
fn an_interrupted_estimate_uses_the_ratio_of_the_labels_and_reports_it() {
    let n = 600;
    let (x, t, _) = clouds(n, 0.25, &(0..n).collect::<Vec<_>>());
    let few = |ratio: &Ratio, asked: usize| {
        let watch = StopAfter(asked.into());
        FewLabels::of(x.view(), std::slice::from_ref(&t), ratio, &watch).unwrap().remove(0)
    };
    for asked in [0, 1, 10] {
        let stopped = few(&Ratio::Auto, asked);
        assert_eq!((stopped.ratio, stopped.ratio_from), (0.5, "smoothed labels"), "{asked}");
    }
    let found = few(&Ratio::Auto, usize::MAX);
    assert_eq!(found.facts()["ratio_from"], "estimate".into());
    assert!(found.facts()["ratio_confidence"].as_f64().unwrap() > 0.5);
    assert_eq!(few(&Ratio::Given(vec![0.3]), 0).facts()["ratio_from"], "given".into());
    assert_eq!(few(&Ratio::Labels, 0).facts().get("ratio_confidence"), None);
    // one-vs-rest problems: no estimate
    let three = [t.clone(), t.clone(), t.clone()];
    let of = FewLabels::of(x.view(), &three, &Ratio::Auto, &()).unwrap();
    assert!(of.iter().all(|f| f.ratio_from == "smoothed labels" && f.ratio == 0.5));
}
