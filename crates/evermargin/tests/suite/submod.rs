//! SUBMOD-S3VM against golden values, sums over pairs, brute force and its own symmetries.

use evermargin::data::{Label, Matrix};
use evermargin::estimators::transductive::Ratio;
use evermargin::estimators::transductive::qp::exhaustive;
use evermargin::estimators::transductive::submod::cut::{Cut, Seeds};
use evermargin::estimators::transductive::submod::polish::{exchange, polish};
use evermargin::estimators::transductive::submod::search::{GREEDY_ROWS, Search};
use evermargin::estimators::transductive::submod::space::{LinearSpace, Space};
use evermargin::estimators::transductive::submod::{CutParams, LabelWeights, SubmodParams, Variant};
use evermargin::estimators::{Fit, Targets, estimator};
use evermargin::kernel::Kernel;
use evermargin::params::ParamValues;
use evermargin::solver::lazy_greedy::{SetFunction, lazy, plain};
use evermargin::solver::{Exit, Progress, Watch};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// The two labeled rows first, then the six unlabeled rows of the golden example.
const GOLDEN: [f64; 16] = [1.0, 0.2, 0.1, 1.0, 1.0, 0.0, 0.9, 0.1, 0.8, 0.3, 0.2, 0.9, 0.0, 1.0, 0.1, 0.7];

fn golden() -> (Matrix, Seeds) {
    let x = Matrix::dense(GOLDEN.to_vec(), 8, 2).unwrap();
    let mut pull = vec![0.0; 8];
    (pull[0], pull[1]) = (1.0, -1.0);
    (x, Seeds { labeled: vec![0, 1], pull, unlabeled: (2..8).collect(), weight: vec![1.0; 8] })
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs())), "{a} {b}");
}

fn marks(n: usize, chosen: &[usize]) -> Vec<bool> {
    (0..n).map(|m| chosen.contains(&m)).collect()
}

#[test]
fn gains_and_objectives_equal_the_golden_values() {
    let (x, seeds) = golden();
    let mut space = Space::Linear(LinearSpace::new(x.view(), None));
    let mut cut = Cut::new(&mut space, &seeds, 0.5);
    for (m, a) in [0.9, 0.73, 0.48, -0.54, -0.8, -0.47].into_iter().enumerate() {
        close(cut.pull()[m], a);
    }
    for (m, d) in [1.0, 0.82, 0.73, 0.85, 1.0, 0.5].into_iter().enumerate() {
        close(cut.diagonal()[m], d);
    }
    // the golden gains are multiplied by C·C* = 0.5
    let steps: [(&[f64], usize); 3] = [
        (&[0.2, 0.0925, -0.08125, -0.57625, -0.65, -0.4725], 0),
        (&[f64::NAN, 0.3175, 0.11875, -0.52625, -0.65, -0.4475], 1),
        (&[f64::NAN, f64::NAN, 0.30625, -0.45875, -0.625, -0.4075], 2),
    ];
    for (gains, pick) in steps {
        for (m, gain) in gains.iter().enumerate().filter(|(_, g)| g.is_finite()) {
            close(0.5 * cut.gain(m), *gain);
        }
        cut.add(pick);
    }
    let mut scores = vec![0.0; 6];
    cut.scores(&mut scores);
    close(0.5 * cut.value(&scores), 0.82375);
    let mut of = |chosen: &[usize]| {
        cut.select(&marks(6, chosen));
        let mut scores = vec![0.0; 6];
        cut.scores(&mut scores);
        0.5 * cut.value(&scores)
    };
    close(of(&[0, 1, 5]), 0.11);
    close(of(&[0, 1, 2]), 0.82375);
    let best = exhaustive(&mut Cut::new(&mut space, &seeds, 0.5), 3).labeling;
    assert_eq!(best.positive, marks(6, &[0, 1, 2]));
}

/// Rows of K' with few rows (stored) and many (not stored), requested repeatedly.
#[test]
fn kernel_rows_equal_inner_products_of_pairs() {
    for n in [40, 1100] {
        let mut rng = Pcg64::seed_from_u64(8);
        let x = Matrix::dense((0..2 * n).map(|_| rng.random_range(-1.0..1.0)).collect(), n, 2).unwrap();
        let weight: Vec<f64> = (0..n).map(|_| rng.random_range(0.5..2.0)).collect();
        let seeds = Seeds {
            labeled: vec![0],
            pull: vec![0.0; n],
            unlabeled: (1..n as u32).collect(),
            weight: weight.clone(),
        };
        let mut space = Space::Linear(LinearSpace::new(x.view(), None));
        let mut cut = Cut::new(&mut space, &seeds, 0.5);
        for i in [3, 30, 3] {
            let line = cut.line(i).to_vec();
            assert_eq!(line.len(), n - 1);
            for (j, k) in line.into_iter().enumerate() {
                let pair = x.view().row(i + 1).dot(x.view().row(j + 1));
                close(k, weight[i + 1] * weight[j + 1] * pair);
            }
        }
    }
}

#[test]
fn the_estimator_reports_the_golden_objectives() {
    let (x, _) = golden();
    let mut y = vec![Label::Unknown; 8];
    (y[0], y[1]) = (Label::Pos, Label::Neg);
    let params = SubmodParams {
        c_unlabeled: 0.5,
        center: false,
        variant: Variant::Thesis,
        ratio: Ratio::Given(vec![0.5]),
        ..Default::default()
    };
    let fitted = params.fit(x.view(), &[Targets { y, cost: vec![1.0; 8] }], &()).unwrap();
    let given = fitted.transduced.unwrap();
    close(given.facts["objective"].as_f64().unwrap(), 0.82375);
    close(given.facts["submodular_objective"].as_f64().unwrap(), 9.44875);
    let positive: Vec<usize> = (0..8).filter(|&i| given.scores[0][i] > 0.0).collect();
    assert_eq!(positive, [0, 2, 3, 4]);
}

/// Small problems: rows, labels, weights, κ, with or without centering.
#[derive(Debug, Clone)]
struct Small {
    x: Matrix,
    seeds: Seeds,
    kappa: f64,
    center: bool,
}

fn small() -> impl Strategy<Value = Small> {
    (1usize..10, 1usize..4, 2usize..4, any::<bool>(), prop_oneof![Just(0.0), 0.01..3.0]).prop_flat_map(
        |(n, cols, l, center, kappa)| {
            let rows = n + l;
            let value = prop_oneof![1 => Just(0.0), 1 => Just(1.0), 4 => -1.0..1.0];
            let values = proptest::collection::vec(value, rows * cols);
            let weights = proptest::collection::vec(prop_oneof![Just(1.0), 0.2..2.0], rows);
            (values, weights).prop_map(move |(values, weight)| {
                let sign = |i: usize| if i.is_multiple_of(2) { 1.0 } else { -1.0 };
                let pull = (0..rows).map(|i| if i < l { sign(i) * weight[i] } else { 0.0 }).collect();
                let (labeled, unlabeled) = ((0..l as u32).collect(), (l as u32..rows as u32).collect());
                let x = Matrix::dense(values, rows, cols).unwrap();
                Small { x, seeds: Seeds { labeled, pull, unlabeled, weight }, kappa, center }
            })
        },
    )
}

impl Small {
    fn space(&self) -> Space<'_> {
        Space::Linear(LinearSpace::new(self.x.view(), self.center.then_some(self.seeds.weight.as_slice())))
    }

    /// a and K' by sums over pairs of rows that are centered first.
    fn dense(&self) -> (Vec<f64>, Vec<Vec<f64>>) {
        let Matrix::Dense { values, rows, cols, .. } = self.x.view().to_dense() else { unreachable!() };
        let weight = &self.seeds.weight;
        let sum = |c: usize| (0..rows).map(|i| weight[i] * values[i * cols + c]).sum::<f64>();
        let mean = |c: usize| sum(c) / weight.iter().sum::<f64>();
        let shift: Vec<f64> = (0..cols).map(|c| if self.center { mean(c) } else { 0.0 }).collect();
        let at = |i: usize, c: usize| values[i * cols + c] - shift[c];
        let k = |i: usize, j: usize| (0..cols).map(|c| at(i, c) * at(j, c)).sum::<f64>();
        let (u, w) = (&self.seeds.unlabeled, &self.seeds.weight);
        let pull = |&m: &u32| {
            let pulls =
                self.seeds.labeled.iter().map(|&i| self.seeds.pull[i as usize] * k(i as usize, m as usize));
            w[m as usize] * pulls.sum::<f64>()
        };
        let entry = |&a: &u32, &b: &u32| w[a as usize] * w[b as usize] * k(a as usize, b as usize);
        (u.iter().map(pull).collect(), u.iter().map(|a| u.iter().map(|b| entry(a, b)).collect()).collect())
    }
}

/// Σ_A a − (κ/2)·cut, by sums over pairs.
fn pairwise_objective(a: &[f64], k: &[Vec<f64>], kappa: f64, positive: &[bool]) -> f64 {
    let n = a.len();
    let mut sum = 0.0;
    for i in (0..n).filter(|&i| positive[i]) {
        sum += a[i];
        sum -= (0..n).filter(|&j| !positive[j]).map(|j| 0.5 * kappa * k[i][j]).sum::<f64>();
    }
    sum
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Invariants 1 to 4: implicit centering, incremental gains, telescoping, the cut identity.
    #[test]
    fn incremental_sums_equal_sums_over_pairs(p in small(), bits in any::<u32>()) {
        let (a, k) = p.dense();
        let n = a.len();
        let mut space = p.space();
        let mut cut = Cut::new(&mut space, &p.seeds, p.kappa);
        let positive: Vec<bool> = (0..n).map(|m| bits >> m & 1 == 1).collect();
        let (mut now, mut total) = (vec![false; n], 0.0);
        for m in (0..n).filter(|&m| positive[m]) {
            let before = pairwise_objective(&a, &k, p.kappa, &now);
            now[m] = true;
            let gain = pairwise_objective(&a, &k, p.kappa, &now) - before;
            close(cut.gain(m), gain);
            total += gain;
            cut.add(m);
        }
        let mut scores = vec![0.0; n];
        cut.scores(&mut scores);
        close(cut.value(&scores), total);
        let again = positive.iter().map(|p| !p).collect::<Vec<_>>();
        cut.select(&again);
        cut.select(&positive);
        cut.scores(&mut scores);
        close(cut.value(&scores), total);
        for i in 0..n {
            close(cut.pull()[i], a[i]);
            close(cut.line(i)[n - 1 - i], k[i][n - 1 - i]);
        }
        // complement symmetry: labels negated and the other class selected
        let minus: Vec<f64> = a.iter().map(|v| -v).collect();
        let other = pairwise_objective(&minus, &k, p.kappa, &again);
        close(total - other, a.iter().sum::<f64>());
    }

    /// Invariants 6, 7 and 14: the same picks in the same order, numbers of evaluations, nested chains.
    #[test]
    fn lazy_greedy_equals_plain_greedy(p in small(), share in 0.0..1.0f64) {
        let n = p.seeds.unlabeled.len();
        let count = (share * n as f64).round() as usize;
        let mut space = p.space();
        let full = plain(&mut Cut::new(&mut space, &p.seeds, p.kappa), count, &());
        let quick = lazy(&mut Cut::new(&mut space, &p.seeds, p.kappa), count, &());
        prop_assert_eq!(&full.order, &quick.order);
        prop_assert_eq!(&full.gains, &quick.gains);
        prop_assert_eq!(full.evaluations as usize, (count * n + count) - count * (count + 1) / 2);
        prop_assert!(quick.evaluations as usize >= n);
        prop_assert!(quick.evaluations <= full.evaluations.max(n as u64));
        let all = lazy(&mut Cut::new(&mut space, &p.seeds, p.kappa), n, &());
        prop_assert_eq!(&all.order[..count], &quick.order[..]);
        // each pick is the best of all candidates
        let (a, k) = p.dense();
        let mut now = vec![false; n];
        for (&m, gain) in full.order.iter().zip(&full.gains) {
            let before = pairwise_objective(&a, &k, p.kappa, &now);
            for j in (0..n).filter(|&j| !now[j]).collect::<Vec<_>>() {
                now[j] = true;
                let other = pairwise_objective(&a, &k, p.kappa, &now) - before;
                now[j] = false;
                prop_assert!(other <= gain + 1e-9 * (1.0 + gain.abs()));
            }
            now[m] = true;
        }
    }

    /// Invariants 12 and 13: polish and exchange never decrease D, brute force bounds all values, fixed points are
    /// optimal.
    #[test]
    fn polishing_never_decreases_the_objective_or_exceeds_brute_force(p in small(), share in 0.0..1.0f64, seed in any::<u64>()) {
        let n = p.seeds.unlabeled.len();
        let k = (share * n as f64).round() as usize;
        let mut space = p.space();
        let mut cut = Cut::new(&mut space, &p.seeds, p.kappa);
        let best = exhaustive(&mut cut, k).labeling.objective;
        let mut rng = Pcg64::seed_from_u64(seed);
        let mut order: Vec<usize> = (0..n).collect();
        (0..n).for_each(|i| order.swap(i, rng.random_range(i..n)));
        let start = marks(n, &order[..k]);
        let before = polish(&mut cut, start.clone(), 0, 0, &()).objective;
        let polished = polish(&mut cut, start, 60, 0, &());
        prop_assert!(polished.objective >= before - 1e-12 * (1.0 + before.abs()));
        let mut scores = vec![0.0; n];
        cut.scores(&mut scores);
        let least = (0..n).filter(|&m| polished.positive[m]).map(|m| scores[m]).fold(f64::INFINITY, f64::min);
        let most = (0..n).filter(|&m| !polished.positive[m]).map(|m| scores[m]).fold(f64::NEG_INFINITY, f64::max);
        prop_assert!(least >= most - 1e-9 * (1.0 + most.abs()));
        let exchanged = exchange(&mut cut, polished.clone(), 100, &());
        prop_assert!(exchanged.objective >= polished.objective);
        let search = Search { sweeps: 60, greedy: true, exchanges: 60, random: 0, seed: 0 };
        let found = search.run(&mut cut, k, &()).labeling;
        prop_assert_eq!(found.positive.iter().filter(|p| **p).count(), k);
        for value in [exchanged.objective, found.objective] {
            prop_assert!(value <= best + 1e-9 * (1.0 + best.abs()), "{value} {best}");
        }
        let (a, kernel) = p.dense();
        close(found.objective, pairwise_objective(&a, &kernel, p.kappa, &found.positive));
        // no exchange of two rows increases the objective
        for i in (0..n).filter(|&i| exchanged.positive[i]) {
            for j in (0..n).filter(|&j| !exchanged.positive[j]) {
                let mut other = exchanged.positive.clone();
                (other[i], other[j]) = (false, true);
                let value = pairwise_objective(&a, &kernel, p.kappa, &other);
                prop_assert!(value <= exchanged.objective + 1e-8 * (1.0 + value.abs()));
            }
        }
    }

    /// Invariant 5 and the guarantee: with the correction term of the source the function is monotone and submodular for
    /// 0 ≤ K ≤ d, and greedy reaches at least 1 − 1/e of its maximum.
    #[test]
    fn the_corrected_objective_is_monotone_and_submodular(values in proptest::collection::vec(0.0..1.0f64, 16), star in 0.01..2.0f64) {
        let mut pull = vec![0.0; 8];
        (pull[0], pull[1]) = (1.0, -1.0);
        let seeds = Seeds { labeled: vec![0, 1], pull, unlabeled: (2..8).collect(), weight: vec![1.0; 8] };
        let p = Small { x: Matrix::dense(values, 8, 2).unwrap(), seeds, kappa: star, center: false };
        let (a, k) = p.dense();
        let d = 2.0;
        let set = |bits: u32| (0..6).map(|m| bits >> m & 1 == 1).collect::<Vec<bool>>();
        let corrected = |bits: u32| {
            let size = f64::from(bits.count_ones());
            let extra = d * ((1.5 * star * star * 6.0 + star * 2.0) * size - 0.5 * star * star * size * size);
            star * pairwise_objective(&a, &k, star, &set(bits)) + extra
        };
        for bits in 0u32..64 {
            for m in (0..6).filter(|m| bits >> m & 1 == 0) {
                let gain = corrected(bits | 1 << m) - corrected(bits);
                prop_assert!(gain >= -1e-9);
                for q in (0..6).filter(|q| *q != m && bits >> q & 1 == 0) {
                    let later = corrected(bits | 1 << q | 1 << m) - corrected(bits | 1 << q);
                    close(gain - later, star * star * (d - k[q as usize][m as usize]));
                }
            }
        }
        let mut space = p.space();
        for count in 1..6usize {
            let picks = lazy(&mut Cut::new(&mut space, &p.seeds, star), count, &());
            let bits = picks.order.iter().fold(0u32, |b, m| b | 1 << m);
            let best = (0u32..64).filter(|b| b.count_ones() as usize == count).map(corrected).fold(0.0, f64::max);
            prop_assert!(corrected(bits) >= (1.0 - (-1.0f64).exp()) * best - 1e-9);
        }
    }

    /// Invariant 30, through the estimator: any data gives finite scores with the requested number of positives.
    #[test]
    fn small_problems_give_finite_scores_with_the_requested_ratio(p in small(), rbf in any::<bool>(), share in 0.05..0.95f64) {
        let (rows, l) = (p.x.rows(), p.seeds.labeled.len());
        let label = |i: usize| match (i < l, i % 2) { (false, _) => Label::Unknown, (_, 0) => Label::Pos, _ => Label::Neg };
        let t = Targets { y: (0..rows).map(label).collect(), cost: p.seeds.weight.clone() };
        let kernel = if rbf { Kernel::Rbf { gamma: 1.0 } } else { Kernel::Linear };
        for variant in [Variant::Polished, Variant::Thesis, Variant::Plain] {
            let params = SubmodParams { kernel, variant, center: p.center, ratio: Ratio::Given(vec![share]), ..Default::default() };
            let given = params.fit(p.x.view(), std::slice::from_ref(&t), &()).unwrap().transduced.unwrap();
            let n = rows - l;
            let k = (share * n as f64 + 0.5).floor() as usize;
            let k = if n >= 2 { k.clamp(1, n - 1) } else { k };
            prop_assert_eq!((l..rows).filter(|&i| given.scores[0][i] > 0.0).count(), k);
            prop_assert!(given.scores[0].iter().all(|s| s.is_finite()));
        }
    }
}

/// Two well separated clouds with few labels.
fn clouds(n: usize, seed: u64) -> (Matrix, Targets, Vec<bool>) {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut values = Vec::new();
    let truth: Vec<bool> = (0..n).map(|i| i % 3 == 0).collect();
    for &t in &truth {
        let center = if t { 1.0 } else { -0.5 };
        (0..4).for_each(|_| values.push(5.0 + center + rng.random_range(-1.0..1.0)));
    }
    let label = |i: usize| match (i < 6, truth[i]) {
        (false, _) => Label::Unknown,
        (_, true) => Label::Pos,
        _ => Label::Neg,
    };
    let y = (0..n).map(label).collect();
    (Matrix::dense(values, n, 4).unwrap(), Targets { y, cost: vec![1.0; n] }, truth)
}

fn scores(params: &SubmodParams, x: &Matrix, t: &Targets) -> Vec<f64> {
    params.fit(x.view(), std::slice::from_ref(t), &()).unwrap().transduced.unwrap().scores.remove(0)
}

#[test]
fn linear_kernel_and_sparse_forms_agree_and_separate_the_clouds() {
    let (x, t, truth) = clouds(300, 1);
    let params = SubmodParams { ratio: Ratio::Given(vec![1.0 / 3.0]), ..Default::default() };
    let with = scores(&params, &x, &t);
    let right = (6..300).filter(|&i| (with[i] > 0.0) == truth[i]).count();
    assert!(right >= 285, "{right}");
    let raw = SubmodParams { center: false, ..params.clone() };
    let poly = Kernel::Poly { gamma: 1.0, coef0: 0.0, degree: 1 };
    let (a, b) = (scores(&raw, &x, &t), scores(&SubmodParams { kernel: poly, ..raw.clone() }, &x, &t));
    // kernel rows are single precision: relative error 1e-7 of sums of several hundred values around 100
    a.iter().zip(&b).for_each(|(a, b)| assert!((a - b).abs() < 1e-3, "{a} {b}"));
    let sparse = x.view().to_csr();
    let c = scores(&params, &sparse, &t);
    with.iter().zip(&c).for_each(|(a, b)| assert!((a - b).abs() < 1e-9, "{a} {b}"));
}

#[test]
fn with_many_rows_the_sampled_start_is_not_worse_than_greedy() {
    let n = GREEDY_ROWS + 500;
    let (x, t, truth) = clouds(n, 2);
    let params = SubmodParams { ratio: Ratio::Given(vec![1.0 / 3.0]), ..Default::default() };
    let objective = |params: &SubmodParams| {
        let given = params.fit(x.view(), std::slice::from_ref(&t), &()).unwrap().transduced.unwrap();
        let right = (6..n).filter(|&i| (given.scores[0][i] > 0.0) == truth[i]).count();
        (given.facts["objective"].as_f64().unwrap(), right as f64 / n as f64)
    };
    let (polished, right) = objective(&params);
    let (thesis, _) = objective(&SubmodParams { variant: Variant::Thesis, ..params });
    // the same set is summed in another order: rounding of several thousand terms
    assert!(polished >= thesis * (1.0 - 1e-12) && right > 0.95, "{polished} {thesis} {right}");
}

#[test]
fn labels_do_not_depend_on_row_order_or_threads() {
    let (x, t, _) = clouds(200, 3);
    let order: Vec<usize> = (0..200).map(|i| (i * 77 + 13) % 200).collect();
    let params = SubmodParams::default();
    let one = scores(&params, &x, &t);
    let other = scores(&params, &x.view().select(&order), &t.select(&order));
    order.iter().zip(&other).for_each(|(&i, s)| assert_eq!(one[i] > 0.0, *s > 0.0));
    let (x, t, _) = clouds(20_000, 4);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| scores(&params, &x, &t))
    };
    assert_eq!(run(1), run(4));
}

#[test]
fn balanced_label_weights_and_row_weights_are_applied() {
    let (x, mut t, _) = clouds(60, 5);
    let params = CutParams {
        kernel: Kernel::Linear,
        center: false,
        label_weights: LabelWeights::Balanced,
        c: 1.0,
        c_unlabeled: 0.0,
        kappa: 0.0,
        rho: 0.0,
        cache_bytes: 1 << 20,
    };
    let few = evermargin::estimators::transductive::FewLabels::of(
        x.view(),
        std::slice::from_ref(&t),
        &Ratio::Labels,
        &(),
    )
    .unwrap();
    let seeds = params.seeds(&few[0], &t);
    let sum = |sign: f64| seeds.pull.iter().filter(|p| **p * sign > 0.0).sum::<f64>();
    close(sum(1.0), 3.0);
    close(sum(-1.0), -3.0);
    // a labeled row of weight 2 equals two copies of it
    let copied: Vec<usize> = (0..60).chain([0]).collect();
    let twice = t.select(&copied);
    t.cost[0] = 2.0;
    let submod =
        SubmodParams { center: false, kappa: 0.1, ratio: Ratio::Given(vec![0.3]), ..Default::default() };
    let (a, b) = (scores(&submod, &x, &t), scores(&submod, &x.view().select(&copied), &twice));
    a.iter().zip(&b).for_each(|(a, b)| close(*a, *b));
}

#[test]
fn with_rho_zero_the_labels_equal_those_of_parzen() {
    let (x, t, _) = clouds(90, 6);
    let params = serde_json::json!({ "ratio": 0.4 });
    let parzen = estimator("parzen").unwrap().make(&serde_json::from_value(params).unwrap()).unwrap();
    let fitted = parzen.fit(x.view(), std::slice::from_ref(&t), &()).unwrap();
    let other = &fitted.transduced.as_ref().unwrap().scores[0];
    let submod = SubmodParams { rho: 0.0, ratio: Ratio::Given(vec![0.4]), ..Default::default() };
    let one = scores(&submod, &x, &t);
    for i in 6..90 {
        assert_eq!(one[i] > 0.0, other[i] > 0.0);
    }
    // the decisions of the model equal the scores
    let decision = fitted.model.decision(x.view()).unwrap();
    for i in (0..90).filter(|&i| other[i] != 0.0 && other[i] != f64::MIN_POSITIVE) {
        assert!((decision[i] - other[i]).abs() < 1e-9, "{} {}", decision[i], other[i]);
    }
}

#[test]
fn without_unlabeled_rows_the_model_equals_the_supervised_one() {
    let (x, t, truth) = clouds(40, 7);
    let y = truth.iter().map(|t| if *t { Label::Pos } else { Label::Neg }).collect();
    let t = Targets { y, cost: t.cost };
    for name in ["submod-s3vm", "qp-s3vm", "parzen"] {
        let fit = estimator(name).unwrap().make(&ParamValues::new()).unwrap();
        let fitted = fit.fit(x.view(), std::slice::from_ref(&t), &()).unwrap();
        let alone = fit.supervised().unwrap().fit(x.view(), std::slice::from_ref(&t), &()).unwrap();
        assert_eq!(fitted.model, alone.model, "{name}");
        assert_eq!(fitted.transduced.unwrap().scores[0].len(), 40);
    }
}

struct StopImmediately;

impl Watch for StopImmediately {
    fn proceed(&self, _: &Progress) -> bool {
        false
    }
}

#[test]
fn an_interrupt_leaves_a_model_and_invalid_parameters_are_refused() {
    let (x, t, _) = clouds(500, 8);
    for name in ["submod-s3vm", "qp-s3vm", "parzen"] {
        let fit = estimator(name).unwrap().make(&ParamValues::new()).unwrap();
        let fitted = fit.fit(x.view(), std::slice::from_ref(&t), &StopImmediately).unwrap();
        assert_eq!(fitted.reports[0].exit, Exit::Interrupted, "{name}");
        fitted.model.check().unwrap();
    }
    for (params, said) in [
        (r#"{"rho": -1}"#, "parameter rho = -1: must be a number from 0 to 1e15"),
        (r#"{"c": 0}"#, "parameter c = 0: must be a number above 0, at most 1e15"),
        (
            r#"{"ratio": 1}"#,
            "parameter ratio = 1: must be labels, auto, or shares between 0 and 1 (both excluded)",
        ),
        (r#"{"tolerance": 0}"#, "parameter tolerance = 0: must be a number between 0 and 1 (both excluded)"),
    ] {
        let params: ParamValues = serde_json::from_str(params).unwrap();
        let made = estimator("submod-s3vm").unwrap().make(&params);
        let fitted = made.and_then(|fit| fit.fit(x.view(), std::slice::from_ref(&t), &()));
        assert_eq!(fitted.unwrap_err().to_string(), said);
    }
}

#[test]
fn several_classes_get_their_expected_sizes() {
    let (n, k) = (240, 4);
    let mut rng = Pcg64::seed_from_u64(9);
    let mut values = Vec::new();
    for i in 0..n {
        let angle = std::f64::consts::TAU * (i % k) as f64 / k as f64;
        values.extend([3.0 * angle.cos(), 3.0 * angle.sin()].map(|v| v + rng.random_range(-1.0..1.0)));
    }
    let x = Matrix::dense(values, n, 2).unwrap();
    let labeled = |i: usize| i < 8;
    let problems: Vec<Targets> = (0..k)
        .map(|c| {
            let label = |i: usize| match (labeled(i), i % k == c) {
                (false, _) => Label::Unknown,
                (_, true) => Label::Pos,
                _ => Label::Neg,
            };
            Targets { y: (0..n).map(label).collect(), cost: vec![1.0; n] }
        })
        .collect();
    let fitted = SubmodParams::default().fit(x.view(), &problems, &()).unwrap();
    let given = fitted.transduced.unwrap();
    assert_eq!(given.facts["classes"], 4u32.into());
    let mut counts = [0; 4];
    let mut right = 0;
    for i in 8..n {
        let above: Vec<usize> = (0..k).filter(|&c| given.scores[c][i] > 0.0).collect();
        assert_eq!(above.len(), 1, "row {i}");
        counts[above[0]] += 1;
        right += usize::from(above[0] == i % k);
    }
    assert_eq!(counts, [58; 4]);
    assert!(right >= 225, "{right}");
    let ratios = evermargin::estimators::transductive::submod::welfare::sizes(&[0.5, 0.25, 0.25], 7);
    assert_eq!(ratios, [3, 2, 2]);
}

/// Counts calls, and stops training after a number of them.
struct StopAfter(std::sync::atomic::AtomicU64, u64);

impl Watch for StopAfter {
    fn proceed(&self, _: &Progress) -> bool {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed) < self.1
    }
}

#[test]
fn interrupted_kernel_sums_leave_the_labels_of_parzen() {
    let n = 2000;
    let (x, t, _) = clouds(n, 8);
    let kernel = Kernel::Rbf { gamma: 0.5 };
    let parzen = evermargin::estimators::baselines::parzen::ParzenParams { kernel, ..Default::default() };
    let expected = parzen.fit(x.view(), std::slice::from_ref(&t), &()).unwrap().transduced.unwrap();
    for most in 0..7 {
        let watch = StopAfter(0.into(), most);
        let params = SubmodParams { kernel, ratio: Ratio::Labels, ..Default::default() };
        let fitted = params.fit(x.view(), std::slice::from_ref(&t), &watch).unwrap();
        assert_eq!(fitted.reports[0].exit, Exit::Interrupted, "{most}");
        let given = fitted.transduced.unwrap();
        let same = (6..n).filter(|&i| (given.scores[0][i] > 0.0) == (expected.scores[0][i] > 0.0)).count();
        assert_eq!(same, n - 6, "{most}");
        // one call per block of the 1994 rows, not one for all
        assert!(watch.0.into_inner() <= most + 8);
    }
}

proptest! {
    /// A symmetric matrix with negative eigenvalues: off-diagonal entries exceed the diagonal.
    #[test]
    fn lazy_greedy_equals_plain_greedy_for_indefinite_matrices(
        values in proptest::collection::vec(-1.0..1.0f64, 100),
        share in 0.0..1.0f64,
        kappa in 0.01..3.0f64,
        small in 0.0..1.0f64,
    ) {
        let at = |i: usize, j: usize| values[10 * i.min(j) + i.max(j)] * if i == j { small } else { 1.0 };
        let matrix = Matrix::dense((0..100).map(|e| at(e / 10, e % 10)).collect(), 10, 10).unwrap();
        let pull = (0..10).map(|i| [1.0, -1.0, 0.0][i.min(2)]).collect();
        let seeds = Seeds { labeled: vec![0, 1], pull, unlabeled: (2..10).collect(), weight: vec![1.0; 10] };
        let gram = evermargin::kernel::gram::MatrixGram::new(matrix.view()).unwrap();
        let mut space = Space::Kernel(Box::new(gram));
        let count = (share * 8.0).round() as usize;
        let full = plain(&mut Cut::new(&mut space, &seeds, kappa), count, &());
        let quick = lazy(&mut Cut::new(&mut space, &seeds, kappa), count, &());
        prop_assert_eq!(&full.order, &quick.order);
        let entries = (2..10).flat_map(|i| (2..10).map(move |j| (i, j)));
        let largest = entries.map(|(i, j)| at(i, j).abs()).fold(0.0, f64::max);
        prop_assert!((Cut::new(&mut space, &seeds, kappa).largest_entry() - largest).abs() < 1e-6);
    }
}

#[test]
fn polished_objective_is_not_below_thesis() {
    check_polished_is_not_below_thesis(0..16, |seed| 100 + 150 * seed);
}

/// Fails for some seeds: greedy of `thesis` sees all rows, and on data without clusters its optimum was better by 7e-6 of
/// D (6096 rows).
#[test]
#[ignore = "with more than 4096 rows, greedy of polished sees a sample only, so the order of the two local optima is not determined"]
fn polished_objective_is_not_below_thesis_on_many_rows() {
    check_polished_is_not_below_thesis(16..20, |seed| GREEDY_ROWS + 1000 * (seed - 15));
}

fn check_polished_is_not_below_thesis(seeds: std::ops::Range<u64>, rows: impl Fn(usize) -> usize) {
    for seed in seeds {
        let n = rows(seed as usize);
        let mut rng = Pcg64::seed_from_u64(seed);
        // data without clusters: many local optima
        let values = (0..n * 6).map(|_| rng.random_range(-1.0..1.0)).collect();
        let x = Matrix::dense(values, n, 6).unwrap();
        let label = |i: usize| [Label::Pos, Label::Neg].get(if i < 8 { i % 2 } else { 2 }).copied();
        let y = (0..n).map(|i| label(i).unwrap_or(Label::Unknown)).collect();
        let t = Targets { y, cost: vec![1.0; n] };
        let kappa = 20.0 * 8.0 / n as f64;
        let objective = |variant: Variant| {
            let params =
                SubmodParams { variant, kappa, ratio: Ratio::Given(vec![0.3]), ..Default::default() };
            let fitted = params.fit(x.view(), std::slice::from_ref(&t), &()).unwrap();
            fitted.transduced.unwrap().facts["objective"].as_f64().unwrap()
        };
        let (polished, thesis) = (objective(Variant::Polished), objective(Variant::Thesis));
        // the same set is summed in another order: rounding of several thousand terms
        assert!(polished >= thesis - 1e-12 * thesis.abs(), "{seed}: {polished} {thesis}");
    }
}
