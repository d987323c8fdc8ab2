//! Exemplars against their definition, brute force and the convex relaxation; summaries of streams.

use evermargin::data::{Matrix, MatrixView};
use evermargin::kernel::Kernel;
use evermargin::solver::lazy_greedy::Picks;
use evermargin::solver::{Exit, Progress, Stop, Watch};
use evermargin::summary::{
    ExemplarParams, Lambda, Objective, Pool, Summary, carry_weights, choose, choose_and_score,
    choose_plainly, objective, relax,
};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

const GOLDEN: [f64; 12] = [1.0, 0.0, 0.9, 0.1, 0.8, 0.3, 0.2, 0.9, 0.0, 1.0, 0.1, 0.7];

/// RBF kernel of width 0.5, used for the golden values.
const NARROW: Kernel = Kernel::Rbf { gamma: 2.0 };

fn matrix(values: &[f64], cols: usize) -> Matrix {
    Matrix::dense(values.to_vec(), values.len() / cols, cols).unwrap()
}

fn random(n: usize, d: usize, low: f64, seed: u64) -> Matrix {
    let mut rng = Pcg64::seed_from_u64(seed);
    matrix(&(0..n * d).map(|_| rng.random_range(low..1.0)).collect::<Vec<_>>(), d)
}

/// Three clouds; the third has one row in fifty.
fn clouds(n: usize, seed: u64) -> Matrix {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut values = Vec::new();
    for i in 0..n {
        let center = if i % 50 == 0 { [4.0, 4.0] } else { [f64::from((i % 2) as u8) * 2.0, 0.0] };
        values.extend(center.map(|c| c + rng.random_range(-0.5..0.5)));
    }
    matrix(&values, 2)
}

fn facility(kernel: Kernel) -> ExemplarParams {
    ExemplarParams { kernel, objective: Objective::FacilityLocation, ..Default::default() }
}

fn weighted(kernel: Kernel, lambda: [f64; 3]) -> ExemplarParams {
    let [diversity, labeled, density] = lambda.map(Lambda::Value);
    ExemplarParams { kernel, diversity, labeled, density, ..Default::default() }
}

fn with(kernel: Kernel, diversity: Lambda) -> ExemplarParams {
    ExemplarParams { kernel, diversity, ..Default::default() }
}

fn k(kernel: Kernel, a: MatrixView<'_>, i: usize, b: MatrixView<'_>, j: usize) -> f64 {
    kernel.eval(a.row(i), b.row(j))
}

/// G from its definition, with all sums written out.
fn g(pool: &Pool<'_>, kernel: Kernel, lambda: [f64; 3], set: &[usize]) -> f64 {
    let x = pool.x;
    let weight = |j: usize| pool.weight.get(j).copied().unwrap_or(1.0);
    let mut value = 0.0;
    for &m in set {
        value -= lambda[0] * set.iter().map(|&j| k(kernel, x, m, x, j)).sum::<f64>();
        if let Some(l) = pool.labeled {
            value += lambda[1] * (0..l.rows()).map(|i| k(kernel, x, m, l, i)).sum::<f64>();
        }
        value += lambda[2] * (0..x.rows()).map(|j| weight(j) * k(kernel, x, m, x, j)).sum::<f64>();
        if let Some((b, eta)) = pool.next_batch_weight {
            value += lambda[2] * eta * (0..b.rows()).map(|j| k(kernel, x, m, b, j)).sum::<f64>();
        }
    }
    value
}

/// F from its definition.
fn f(pool: &Pool<'_>, kernel: Kernel, set: &[usize]) -> f64 {
    let x = pool.x;
    let best = |z: MatrixView<'_>, i: usize| set.iter().map(|&e| k(kernel, x, e, z, i)).fold(0.0, f64::max);
    let weight = |j: usize| pool.weight.get(j).copied().unwrap_or(1.0);
    let own: f64 = (0..x.rows()).map(|i| weight(i) * best(x, i)).sum();
    own + pool.next_batch_weight.map_or(0.0, |(b, eta)| (0..b.rows()).map(|i| eta * best(b, i)).sum())
}

/// Greedy selection from the definition: values of whole sets, without running sums. λ₁ may depend on the pick.
fn greedy(n: usize, count: usize, value: impl Fn(&[usize], usize) -> f64) -> Vec<usize> {
    let mut set: Vec<usize> = Vec::new();
    for pick in 1..=count {
        let now = value(&set, pick);
        let gain = |m: usize| {
            let more: Vec<usize> = set.iter().copied().chain([m]).collect();
            value(&more, pick) - now
        };
        let free = (0..n).filter(|m| !set.contains(m));
        let best = free.max_by(|&a, &b| gain(a).total_cmp(&gain(b)).then(b.cmp(&a))).unwrap();
        set.push(best);
    }
    set
}

fn subsets(n: usize) -> impl Iterator<Item = Vec<usize>> {
    (0..1u32 << n).map(move |bits| (0..n).filter(|m| bits >> m & 1 == 1).collect())
}

fn assert_close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs())), "{a} is not {b}");
}

#[test]
fn picks_and_gains_equal_the_golden_values() {
    let (x, l) = (matrix(&GOLDEN, 2), matrix(&[1.0, 0.2, 0.1, 1.0], 2));
    let pool = Pool { labeled: Some(l.view()), ..Pool::of(x.view()) };
    for (lambda, order, gains) in [
        ([1.0, 1.0, 1.0], [2, 3, 0], [3.335395, 2.797261, 1.177203]),
        ([1.0, 0.0, 1.0], [2, 3, 0], [2.289699, 1.732121, 0.227304]),
        ([3.0, 0.5, 1.0], [2, 4, 0], [0.812547, -0.231791, -4.381800]),
    ] {
        let picks = choose(&weighted(NARROW, lambda), &pool, 3, &()).unwrap();
        assert_eq!(picks.order, order);
        // the golden values have six decimal digits; kernel values are single precision
        picks.gains.iter().zip(gains).for_each(|(a, b)| assert!((a - b).abs() < 3e-6, "{a} is not {b}"));
    }
    let first = [2.829352, 3.160289, 3.335395, 3.271116, 2.903225, 3.161011];
    for (m, gain) in first.into_iter().enumerate() {
        let value = objective(&weighted(NARROW, [1.0; 3]), &pool, &[m]).unwrap();
        assert!((value - gain).abs() < 3e-6, "{value} is not {gain}");
    }
}

#[test]
fn picks_equal_greedy_selection_from_the_definition() {
    let kernels = [
        Kernel::Linear,
        Kernel::Rbf { gamma: 1.3 },
        Kernel::Poly { gamma: 0.7, coef0: 0.3, degree: 3 },
        Kernel::Sigmoid { gamma: 0.4, coef0: 0.1 },
    ];
    for seed in 0..12u64 {
        let kernel = kernels[seed as usize % 4];
        let low = if seed % 3 == 0 { 0.0 } else { -1.0 };
        let (x, l, b) =
            (random(24, 3, low, seed), random(3, 3, low, 90 + seed), random(9, 3, low, 50 + seed));
        let weight: Vec<f64> = (0..24).map(|i| f64::from(1 + (i * 5) % 4)).collect();
        let next_batch_weight = Some((b.view(), 0.5));
        let pool = Pool { x: x.view(), weight: &weight, labeled: Some(l.view()), next_batch_weight };
        let total = weight.iter().sum::<f64>() + 4.5;
        let near = 0.05 * total / 3.0;
        for (params, lambda) in [
            (with(kernel, Lambda::Auto), None),
            (with(kernel, Lambda::Static), Some([total / 20.0, near, 1.0])),
            (weighted(kernel, [2.0, 3.0, 0.7]), Some([2.0, 3.0, 0.7])),
        ] {
            let picks = choose(&params, &pool, 10, &()).unwrap();
            let slow = greedy(24, 10, |set, pick| {
                g(&pool, kernel, lambda.unwrap_or([total / (2.0 * pick as f64), near, 1.0]), set)
            });
            assert_eq!(picks.order, slow, "seed {seed}, {params:?}");
            if let Some(lambda) = lambda {
                assert_close(picks.gains.iter().sum(), g(&pool, kernel, lambda, &slow), 1e-5);
                assert_close(
                    objective(&params, &pool, &slow).unwrap(),
                    g(&pool, kernel, lambda, &slow),
                    1e-5,
                );
            }
        }
        if kernel == kernels[1] || low == 0.0 {
            let picks = choose(&facility(kernel), &pool, 10, &()).unwrap();
            assert_eq!(picks.order, greedy(24, 10, |set, _| f(&pool, kernel, set)), "seed {seed}");
            assert_close(picks.gains.iter().sum(), f(&pool, kernel, &picks.order), 1e-6);
        }
    }
}

#[test]
fn lazy_and_plain_greedy_give_the_same_picks() {
    let kernels =
        [Kernel::Linear, Kernel::Rbf { gamma: 2.0 }, Kernel::Poly { gamma: 1.0, coef0: 0.0, degree: 3 }];
    for seed in 0..18u64 {
        let low = if seed % 2 == 0 { 0.0 } else { -1.0 };
        let mut x = random(150, 4, low, seed);
        for copy in [3, 3, 70, 12] {
            let row = x.view().select(&[copy]);
            x.push(row.view().row(0));
        }
        x.push(matrix(&[0.0; 4], 4).view().row(0));
        x.push(matrix(&[0.0; 4], 4).view().row(0));
        let x = if seed % 3 == 0 { x.view().to_csr() } else { x };
        let kernel = kernels[seed as usize % 3];
        let l = random(2, 4, low, 7);
        let pool = Pool { labeled: Some(l.view()), ..Pool::of(x.view()) };
        for params in [
            with(kernel, Lambda::Auto),
            with(kernel, Lambda::Static),
            with(kernel, Lambda::Value(20.0)),
            facility(Kernel::Rbf { gamma: 2.0 }),
        ] {
            for bytes in [0, 1 << 30] {
                let params = ExemplarParams { cache_bytes: bytes, ..params.clone() };
                let lazy = choose(&params, &pool, 60, &()).unwrap();
                let plain = choose_plainly(&params, &pool, 60, &()).unwrap();
                assert_eq!((&lazy.order, &lazy.gains), (&plain.order, &plain.gains), "{seed} {params:?}");
                assert_eq!(plain.evaluations, 60 * 156 - 60 * 59 / 2);
                assert!((156..=plain.evaluations).contains(&lazy.evaluations));
            }
        }
    }
}

#[test]
fn both_objectives_are_submodular_and_monotone() {
    for seed in 0..10 {
        let x = random(6, 3, 0.0, seed);
        let pool = Pool::of(x.view());
        for kernel in [Kernel::Linear, Kernel::Rbf { gamma: 1.0 }] {
            let params = weighted(kernel, [0.8, 0.0, 1.0]);
            let value = |set: &[usize]| objective(&params, &pool, set).unwrap();
            let cover = |set: &[usize]| objective(&facility(kernel), &pool, set).unwrap();
            let d = (0..6).map(|i| k(kernel, x.view(), i, x.view(), i)).fold(0.0, f64::max);
            for set in subsets(6) {
                let plus = |more: &[usize]| [set.as_slice(), more].concat();
                for m in (0..6).filter(|m| !set.contains(m)) {
                    // monotone after adding the constant λ₁d(2n + 1) of the source per element
                    assert!(value(&plus(&[m])) - value(&set) + 0.8 * d * 13.0 >= -1e-6);
                    assert!(cover(&plus(&[m])) - cover(&set) >= -1e-6);
                    for q in (0..6).filter(|q| *q != m && !set.contains(q)) {
                        let fall = |v: &dyn Fn(&[usize]) -> f64| {
                            v(&plus(&[m])) - v(&set) - v(&plus(&[q, m])) + v(&plus(&[q]))
                        };
                        assert_close(fall(&value), 2.0 * 0.8 * k(kernel, x.view(), q, x.view(), m), 2e-6);
                        assert!(fall(&cover) >= -1e-6);
                    }
                }
            }
        }
    }
}

#[test]
fn greedy_reaches_its_guarantee_and_the_relaxation_is_an_upper_bound() {
    for seed in 0..20 {
        let x = random(10, 2, -1.0, 100 + seed);
        let pool = Pool::of(x.view());
        let sets: Vec<Vec<usize>> = subsets(10).filter(|s| s.len() == 4).collect();
        let params = facility(NARROW);
        let best = sets.iter().map(|s| f(&pool, NARROW, s)).fold(0.0, f64::max);
        let picks = choose(&params, &pool, 4, &()).unwrap();
        let reached = objective(&params, &pool, &picks.order).unwrap();
        assert!(reached >= (1.0 - (-1.0f64).exp()) * best && reached <= best + 1e-5);

        // the relaxation is an upper bound for all sets, and its solution is optimal: gradients of all shares strictly
        // between 0 and 1 are equal
        let params = with(NARROW, Lambda::Static);
        let lambda = 10.0 / 8.0;
        let best = sets.iter().map(|s| g(&pool, NARROW, [lambda, 0.0, 1.0], s)).fold(f64::MIN, f64::max);
        let relaxed =
            relax(&params, &pool, 4, Stop { tolerance: 1e-7, max_steps: Some(1_000_000) }, &()).unwrap();
        assert!(relaxed.objective >= best - 1e-5, "{} < {best}", relaxed.objective);
        assert!(objective(&params, &pool, &relaxed.rows).unwrap() <= best + 1e-5);
        let e = &relaxed.share;
        assert_close(e.iter().sum(), 4.0, 1e-9);
        let slope = |m: usize| {
            let row = |j: usize| k(NARROW, x.view(), m, x.view(), j);
            (0..10).map(|j| (1.0 - 2.0 * lambda * e[j]) * row(j)).sum::<f64>()
        };
        let rising = (0..10).filter(|&m| e[m] < 1.0).map(slope).fold(f64::MIN, f64::max);
        let falling = (0..10).filter(|&m| e[m] > 0.0).map(slope).fold(f64::MAX, f64::min);
        assert!(rising <= falling + 1e-5, "{rising} > {falling}");
    }
}

#[test]
fn the_objective_equals_the_negative_distance_of_kernel_means() {
    let x = random(40, 3, -1.0, 5);
    let pool = Pool::of(x.view());
    let mean = |rows: &[usize], others: &[usize]| {
        let sum = |i: usize| others.iter().map(|&j| k(NARROW, x.view(), i, x.view(), j)).sum::<f64>();
        rows.iter().map(|&i| sum(i)).sum::<f64>() / (rows.len() * others.len()) as f64
    };
    let all: Vec<usize> = (0..40).collect();
    for count in [1, 7, 40] {
        let picks = choose(&with(NARROW, Lambda::Static), &pool, count, &()).unwrap();
        let e = &picks.order;
        let apart = mean(e, e) - 2.0 * mean(e, &all) + mean(&all, &all);
        let constant = 0.5 * 40.0 * count as f64 * mean(&all, &all);
        let value: f64 = picks.gains.iter().sum();
        assert_close(value, constant - 0.5 * 40.0 * count as f64 * apart, 1e-5);
        assert!(count < 40 || apart.abs() < 1e-12);
        // for herding, the reported value equals the objective of its own picks
        let (picks, value) = choose_and_score(&with(NARROW, Lambda::Auto), &pool, count, &()).unwrap();
        assert_close(value, objective(&with(NARROW, Lambda::Static), &pool, &picks.order).unwrap(), 1e-9);
    }
}

#[test]
fn a_smaller_summary_is_a_prefix_of_a_larger_one() {
    let x = clouds(300, 1);
    for params in [with(NARROW, Lambda::Auto), with(Kernel::Linear, Lambda::Auto), facility(NARROW)] {
        let large = choose(&params, &Pool::of(x.view()), 80, &()).unwrap();
        for count in [1, 2, 13, 79] {
            let small = choose(&params, &Pool::of(x.view()), count, &()).unwrap();
            assert_eq!(small.order, large.order[..count]);
            assert_eq!(small.gains, large.gains[..count]);
        }
    }
}

#[test]
fn the_linear_kernel_without_a_kernel_matrix_gives_the_same_picks() {
    let mut rng = Pcg64::seed_from_u64(9);
    // integers, exact in single precision
    let values: Vec<f64> = (0..120 * 5).map(|_| f64::from(rng.random_range(-3..=3))).collect();
    let x = matrix(&values, 5);
    let l = x.view().select(&[1, 2, 3]);
    let same = Kernel::Poly { gamma: 1.0, coef0: 0.0, degree: 1 };
    for sparse in [x.view().to_csr(), x.clone()] {
        let next_batch_weight = Some((x.view(), 0.5));
        let pool = Pool { labeled: Some(l.view()), next_batch_weight, ..Pool::of(sparse.view()) };
        for lambda in [Lambda::Auto, Lambda::Static, Lambda::Value(8.0)] {
            let linear = choose(&with(Kernel::Linear, lambda), &pool, 50, &()).unwrap();
            let kernel = choose(&with(same, lambda), &pool, 50, &()).unwrap();
            assert_eq!((linear.order, linear.gains), (kernel.order, kernel.gains), "{lambda:?}");
        }
    }
}

#[test]
fn picks_do_not_depend_on_row_order_or_a_common_factor() {
    let x = random(60, 3, -1.0, 3);
    let order: Vec<usize> = (0..60).map(|i| (i * 23 + 5) % 60).collect();
    let moved = x.view().select(&order);
    for params in [with(NARROW, Lambda::Auto), with(Kernel::Linear, Lambda::Static), facility(NARROW)] {
        let picks = choose(&params, &Pool::of(x.view()), 12, &()).unwrap();
        let again = choose(&params, &Pool::of(moved.view()), 12, &()).unwrap();
        assert_eq!(picks.order, again.order.iter().map(|&i| order[i]).collect::<Vec<_>>());
    }
    let of = |scale: f64| {
        choose(&weighted(NARROW, [2.0, 1.0, 1.0].map(|l| l * scale)), &Pool::of(x.view()), 12, &())
    };
    assert_eq!(of(1.0).unwrap().order, of(1024.0).unwrap().order);
}

#[test]
fn results_are_bit_identical_for_any_cache_size() {
    let (dense, sparse) = (random(400, 6, -1.0, 4), {
        let mut x = random(400, 40, -1.0, 4);
        if let Matrix::Dense { values, .. } = &mut x {
            values.iter_mut().enumerate().filter(|(k, _)| k % 7 != 0).for_each(|(_, v)| *v = 0.0);
        }
        x
    });
    for x in [dense, sparse] {
        for params in [with(NARROW, Lambda::Auto), facility(Kernel::Rbf { gamma: 0.3 })] {
            let of = |cache_bytes| {
                choose(&ExemplarParams { cache_bytes, ..params.clone() }, &Pool::of(x.view()), 70, &())
                    .unwrap()
            };
            let (none, some, all) = (of(0), of(400 * 4 * 100), of(1 << 30));
            assert_eq!((&none.order, &none.gains), (&all.order, &all.gains));
            assert_eq!((&some.order, &some.gains), (&all.order, &all.gains));
        }
    }
}

#[test]
fn results_are_bit_identical_for_any_number_of_threads() {
    let x = random(900, 6, -1.0, 4);
    let run = |threads: usize| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            let kernels = [with(NARROW, Lambda::Auto), with(Kernel::Linear, Lambda::Auto), facility(NARROW)];
            let picks = kernels.map(|params| choose(&params, &Pool::of(x.view()), 40, &()).unwrap());
            let mut summary = Summary::new(facility(NARROW), 30, 6, false).unwrap();
            assert!(summary.absorb(x.view(), &()).unwrap());
            (picks, summary)
        })
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(4));
}

#[test]
fn small_clusters_and_clusters_of_the_next_batch_are_represented() {
    // ten of five hundred rows: herding includes them in proportion, facility location within the first few picks
    let x = clouds(500, 2);
    for (params, count, most) in [(with(NARROW, Lambda::Auto), 100, 4), (facility(NARROW), 12, 3)] {
        let picks = choose(&params, &Pool::of(x.view()), count, &()).unwrap();
        let far = picks.order.iter().filter(|i| *i % 50 == 0).count();
        assert!((1..=most).contains(&far), "{far} of the thin cloud by {:?}", params.objective);
    }
    // a single row here that is a cluster in the next batch
    let here = matrix(&[0.0, 0.1, 0.05, 0.12, 5.0], 1);
    let next = matrix(&[5.0, 5.1, 4.9, 5.0, 5.05, 4.95, 5.1, 5.0], 1);
    let next_batch_weight = Some((next.view(), 1.0));
    for params in [with(NARROW, Lambda::Auto), facility(NARROW)] {
        let alone = choose(&params, &Pool::of(here.view()), 1, &()).unwrap();
        let ahead = choose(&params, &Pool { next_batch_weight, ..Pool::of(here.view()) }, 1, &()).unwrap();
        assert_ne!(alone.order, [4]);
        assert_eq!(ahead.order, [4]);
    }
}

#[test]
fn weights_are_added_to_the_nearest_exemplar() {
    let x = random(200, 3, -1.0, 8);
    let weight: Vec<f64> = (0..200).map(|i| f64::from(i % 5)).collect();
    let picks = [17, 3, 150, 99, 42, 8];
    for kernel in [Kernel::Linear, NARROW, Kernel::Poly { gamma: 1.0, coef0: 1.0, degree: 2 }] {
        let apart = |i: usize, e: usize| {
            let at = |a: usize, b: usize| k(kernel, x.view(), a, x.view(), b);
            at(i, i) + at(e, e) - 2.0 * at(i, e)
        };
        let mut expected = [0.0; 6];
        for i in 0..200 {
            let nearest = (0..6).min_by(|&a, &b| apart(i, picks[a]).total_cmp(&apart(i, picks[b]))).unwrap();
            expected[nearest] += weight[i];
        }
        assert_eq!(carry_weights(x.view(), &weight, &picks, kernel).unwrap(), expected);
    }
    // each copy keeps its own weight
    let copies = matrix(&[1.0, 1.0, 1.0, 2.0], 1);
    assert_eq!(carry_weights(copies.view(), &[], &[1, 0], NARROW).unwrap(), [3.0, 1.0]);
    assert_eq!(carry_weights(copies.view(), &[], &[], NARROW).unwrap(), [0.0; 0]);
}

#[test]
fn a_stream_summary_keeps_its_cap_and_the_total_weight() {
    let mut rng = Pcg64::seed_from_u64(6);
    for params in [with(NARROW, Lambda::Auto), with(Kernel::Linear, Lambda::Auto), facility(NARROW)] {
        let mut summary = Summary::new(params, 20, 2, false).unwrap();
        let mut seen = 0;
        while seen < 100_000 {
            let n = rng.random_range(1..9_000usize).min(100_000 - seen);
            let values: Vec<f64> = (0..2 * n).map(|_| rng.random_range(-2.0..2.0)).collect();
            assert!(summary.absorb(matrix(&values, 2).view(), &()).unwrap());
            seen += n;
            assert_eq!(summary.exemplars().rows(), 20.min(seen));
            assert_eq!(summary.weights().iter().sum::<f64>(), seen as f64);
            assert_eq!(summary.seen(), seen as u64);
        }
    }
}

#[test]
fn a_merged_summary_is_close_to_the_whole_and_not_below_its_parts() {
    for (params, seed) in [(with(NARROW, Lambda::Auto), 1), (facility(NARROW), 2), (facility(NARROW), 3)] {
        let x = clouds(600, seed);
        let part = |rows: std::ops::Range<usize>| {
            let part = x.view().select(&rows.collect::<Vec<_>>());
            let picks = choose(&params, &Pool::of(part.view()), 15, &()).unwrap();
            let weights = carry_weights(part.view(), &[], &picks.order, NARROW).unwrap();
            let rows = part.view().select(&picks.order);
            Summary::of(params.clone(), 15, rows, weights, part.rows() as u64).unwrap()
        };
        let (a, b) = (part(0..200), part(200..600));
        let mut merged = a.clone();
        let kept = merged.merge(&b, &()).unwrap().unwrap();
        let mut both = a.exemplars().clone();
        (0..15).for_each(|i| both.push(b.exemplars().view().row(i)));
        assert_eq!(merged.exemplars(), &both.view().select(&kept));
        assert_eq!((merged.exemplars().rows(), merged.seen()), (15, 600));
        assert_eq!(merged.weights().iter().sum::<f64>(), 600.0);
        // values on the data itself; the exemplars are appended as rows of weight 0
        let value = |e: &Matrix| {
            let mut all = x.clone();
            (0..e.rows()).for_each(|i| all.push(e.view().row(i)));
            let mut weight = vec![1.0; 600];
            weight.resize(all.rows(), 0.0);
            let rows: Vec<usize> = (600..all.rows()).collect();
            objective(&params, &Pool { weight: &weight, ..Pool::of(all.view()) }, &rows).unwrap()
        };
        let single = choose(&params, &Pool::of(x.view()), 15, &()).unwrap();
        let single = value(&x.view().select(&single.order));
        let merged = value(merged.exemplars());
        assert!(merged >= value(a.exemplars()).max(value(b.exemplars())));
        assert!(merged >= 0.5 * (1.0 - (-1.0f64).exp()) * single, "{merged} of {single}");
    }
}

#[test]
fn merging_keeps_a_part_that_is_better_than_greedy_on_the_union() {
    // greedy takes the middle first, which excludes the set of both ends
    let (a, b) = (matrix(&[-1.0, 1.0], 1), matrix(&[0.0], 1));
    let params = facility(Kernel::Rbf { gamma: 0.6 });
    let of = |x: &Matrix, w: Vec<f64>| Summary::of(params.clone(), 2, x.clone(), w, 3).unwrap();
    let (mut first, second) = (of(&a, vec![2.0, 2.0]), of(&b, vec![1.5]));
    let union = matrix(&[-1.0, 1.0, 0.0], 1);
    let pool = Pool { weight: &[2.0, 2.0, 1.5], ..Pool::of(union.view()) };
    let picks = choose(&params, &pool, 2, &()).unwrap();
    let (greedy, own) =
        (objective(&params, &pool, &picks.order).unwrap(), objective(&params, &pool, &[0, 1]).unwrap());
    assert!(own > greedy, "{own} {greedy}");
    assert_eq!(first.merge(&second, &()).unwrap(), Some(vec![0, 1]));
    assert_eq!(first.exemplars(), &a);
    assert_eq!(first.weights(), [3.5, 2.0]);
}

#[test]
fn a_summary_survives_a_serialization_round_trip() {
    let mut summary = Summary::new(with(NARROW, Lambda::Auto), 9, 2, false).unwrap();
    summary.absorb(clouds(300, 4).view(), &()).unwrap();
    let mut again: Summary = serde_json::from_value(serde_json::to_value(&summary).unwrap()).unwrap();
    assert_eq!(again, summary);
    for s in [&mut again, &mut summary] {
        s.absorb(clouds(300, 5).view(), &()).unwrap();
    }
    assert_eq!(again, summary);
}

struct StopImmediately;

impl Watch for StopImmediately {
    fn proceed(&self, _: &Progress) -> bool {
        false
    }
}

#[test]
fn handles_empty_input_single_rows_zeros_and_interrupts() {
    let empty = Matrix::empty(3, false);
    let one = random(1, 3, 0.0, 1);
    let zeros = matrix(&[0.0; 12], 3);
    for params in [
        with(NARROW, Lambda::Auto),
        with(Kernel::Linear, Lambda::Auto),
        with(Kernel::Linear, Lambda::Static),
        facility(NARROW),
        facility(Kernel::Linear),
    ] {
        let order = |x: &Matrix, count| choose(&params, &Pool::of(x.view()), count, &()).unwrap().order;
        assert_eq!(order(&empty, 5), [0; 0]);
        assert_eq!(order(&one, 0), [0; 0]);
        assert_eq!(order(&one, 3), [0]);
        assert_eq!(order(&zeros, 4), [0, 1, 2, 3]);
        let mut all = order(&random(30, 3, 0.0, 2), usize::MAX);
        all.sort_unstable();
        assert_eq!(all, (0..30).collect::<Vec<_>>());
        let picks = choose(&params, &Pool::of(one.view()), 1, &StopImmediately).unwrap();
        assert_eq!((picks.order, picks.exit), (vec![], Exit::Interrupted));
        let mut summary = Summary::new(params.clone(), 2, 3, false).unwrap();
        assert!(!summary.absorb(one.view(), &StopImmediately).unwrap());
        assert!(summary.absorb(empty.view(), &()).unwrap());
        assert_eq!((summary.seen(), summary.exemplars().rows()), (0, 0));
    }
}

#[test]
fn refuses_invalid_parameters_and_data() {
    let x = random(5, 2, -1.0, 1);
    let text = |result: evermargin::Result<Picks>| result.unwrap_err().to_string();
    let of = |params: &ExemplarParams| text(choose(params, &Pool::of(x.view()), 2, &()));
    assert_eq!(
        of(&with(Kernel::Linear, Lambda::Value(-1.0))),
        "parameter diversity = -1: must be auto, static or a number from 0"
    );
    assert_eq!(
        of(&ExemplarParams { density: Lambda::Value(f64::NAN), ..Default::default() }),
        "parameter density = NaN: must be auto, static or a number from 0"
    );
    assert_eq!(
        of(&with(Kernel::Precomputed, Lambda::Auto)),
        "parameter kernel = precomputed: must be a kernel of samples"
    );
    assert_eq!(
        of(&with(Kernel::Rbf { gamma: 0.0 }, Lambda::Auto)),
        "parameter gamma = 0: must be a positive number"
    );
    assert_eq!(
        of(&facility(Kernel::Linear)),
        "facility location needs similarities from 0 on, and the linear kernel of this data can be negative: use the \
         rbf kernel, or the exemplars objective"
    );
    let pool = |weight, labeled, next_batch_weight| Pool { x: x.view(), weight, labeled, next_batch_weight };
    let of = |pool: &Pool<'_>| text(choose(&ExemplarParams::default(), pool, 2, &()));
    assert_eq!(of(&pool(&[1.0], None, None)), "weights of rows: expected 5, found 1");
    assert_eq!(
        of(&pool(&[1.0, 1.0, f64::NAN, 1.0, 1.0], None, None)),
        "parameter weight = NaN: must be a number from 0 to 1e100"
    );
    let wide = random(2, 3, 0.0, 1);
    assert_eq!(of(&pool(&[], Some(wide.view()), None)), "columns: expected 2, found 3");
    assert_eq!(of(&pool(&[], None, Some((wide.view(), 1.0)))), "columns: expected 2, found 3");
    assert_eq!(
        of(&pool(&[], None, Some((x.view(), -1.0)))),
        "parameter eta = -1: must be a number from 0 to 1e100"
    );
    let outside = carry_weights(x.view(), &[], &[7], NARROW).unwrap_err().to_string();
    assert_eq!(outside, "rows chosen from: expected 8, found 5");
    let mut narrow = Summary::new(ExemplarParams::default(), 2, 2, false).unwrap();
    assert_eq!(narrow.absorb(wide.view(), &()).unwrap_err().to_string(), "columns: expected 2, found 3");
    let other = Summary::new(with(NARROW, Lambda::Auto), 2, 2, false).unwrap();
    assert!(narrow.merge(&other, &()).unwrap_err().to_string().contains("different kernels"));
    let cap = Summary::new(ExemplarParams::default(), 0, 2, false).unwrap_err().to_string();
    assert_eq!(cap, "parameter cap = 0: must be at least 1");
    let flat = with(Kernel::Linear, Lambda::Value(0.0));
    let stop = Stop { tolerance: 1e-6, max_steps: Some(100) };
    let flat = relax(&flat, &Pool::of(x.view()), 2, stop, &()).unwrap_err().to_string();
    assert_eq!(flat, "parameter diversity = 0: must be above 0 for the relaxation");
}
