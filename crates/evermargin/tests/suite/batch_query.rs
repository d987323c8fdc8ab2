//! Batches of queries against their definition, brute force and the convex relaxation.

use evermargin::active::{
    KnownLabels, Seek, SubmodParams, diverse_batch, diverse_batch_within, relaxed_batch, submod_batch,
    submod_batch_within,
};
use evermargin::data::Matrix;
use evermargin::kernel::Kernel;
use evermargin::solver::partition_matroid::GroupLimit;
use evermargin::solver::{Exit, Progress, Stop, Watch};
use evermargin::summary::{ExemplarParams, Lambda, Objective, Pool, choose_within, objective};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

const NARROW: Kernel = Kernel::Rbf { gamma: 2.0 };

fn matrix(values: &[f64], cols: usize) -> Matrix {
    Matrix::dense(values.to_vec(), values.len() / cols, cols).unwrap()
}

fn random(n: usize, d: usize, seed: u64) -> Matrix {
    let mut rng = Pcg64::seed_from_u64(seed);
    matrix(&(0..n * d).map(|_| rng.random_range(-1.0..1.0)).collect::<Vec<_>>(), d)
}

fn params(kernel: Kernel) -> SubmodParams {
    SubmodParams { kernel, ..Default::default() }
}

/// Similarity: the kernel value, or the cosine for the linear kernel.
fn similarity(kernel: Kernel, a: &Matrix, i: usize, b: &Matrix, j: usize) -> f64 {
    let (p, q) = (a.view().row(i), b.view().row(j));
    if kernel == Kernel::Linear { p.dot(q) / (p.norm2() * q.norm2()).sqrt() } else { kernel.eval(p, q) }
}

/// Jv from its definition.
fn batch_value(kernel: Kernel, x: &Matrix, l: &Matrix, y: &[f64], lambda: [f64; 3], set: &[usize]) -> f64 {
    let term = |m: usize| {
        let pairs: f64 = set.iter().map(|&j| similarity(kernel, x, m, x, j)).sum();
        let pull: f64 = y.iter().enumerate().map(|(i, y)| y * similarity(kernel, x, m, l, i)).sum();
        let crowd: f64 = (0..x.rows()).map(|j| similarity(kernel, x, m, x, j)).sum();
        -lambda[0] * pairs - lambda[1] * pull.abs() - lambda[2] * crowd
    };
    set.iter().map(|&m| term(m)).sum()
}

fn greedy(n: usize, count: usize, value: impl Fn(&[usize]) -> f64) -> Vec<usize> {
    let mut set: Vec<usize> = Vec::new();
    for _ in 0..count {
        let gain = |m: usize| value(&[set.as_slice(), &[m]].concat());
        let free = (0..n).filter(|m| !set.contains(m));
        let best = free.max_by(|&a, &b| gain(a).total_cmp(&gain(b)).then(b.cmp(&a))).unwrap();
        set.push(best);
    }
    set
}

fn sets_of(n: usize, count: u32) -> impl Iterator<Item = Vec<usize>> {
    let sets = (0..1u32 << n).filter(move |bits| bits.count_ones() == count);
    sets.map(move |bits| (0..n).filter(|m| bits >> m & 1 == 1).collect())
}

#[test]
fn queries_equal_the_golden_values() {
    let x = matrix(&[1.0, 0.0, 0.9, 0.1, 0.8, 0.3, 0.2, 0.9, 0.0, 1.0, 0.1, 0.7], 2);
    let l = matrix(&[1.0, 0.2, 0.1, 1.0], 2);
    let [diversity, labeled, density] = [1.0, 1.0, 0.1].map(Lambda::Value);
    let params = SubmodParams { diversity, labeled, density, ..params(NARROW) };
    let picks = submod_batch(x.view(), l.view(), &[1.0, -1.0], &params, 3, &()).unwrap();
    assert_eq!(picks.order, [5, 0, 4]);
    let gains = [-2.035809, -2.332826, -3.905203];
    // the golden values have six decimal digits; kernel values are single precision
    picks.gains.iter().zip(gains).for_each(|(a, b)| assert!((a - b).abs() < 3e-6, "{a} is not {b}"));
}

#[test]
fn queries_equal_greedy_selection_from_the_definition() {
    for seed in 0..16 {
        let (x, l) = (random(22, 3, seed), random(4, 3, 60 + seed));
        let y = [1.0, -1.0, -1.0, 1.0];
        let kernel = [Kernel::Linear, NARROW][seed as usize % 2];
        for (seek, sign) in [(Seek::Outliers, 1.0), (Seek::Dense, -1.0)] {
            let params = SubmodParams { seek, ..params(kernel) };
            let picks = submod_batch(x.view(), l.view(), &y, &params, 8, &()).unwrap();
            let lambda = [1.0 / 16.0, 0.25, sign / 22.0];
            let slow = greedy(22, 8, |set| batch_value(kernel, &x, &l, &y, lambda, set));
            assert_eq!(picks.order, slow, "seed {seed}");
            let (sum, exact): (f64, f64) =
                (picks.gains.iter().sum(), batch_value(kernel, &x, &l, &y, lambda, &slow));
            assert!((sum - exact).abs() < 1e-6 * exact.abs(), "{sum} is not {exact}");
        }
    }
}

#[test]
fn row_norms_do_not_matter_and_zero_rows_come_last() {
    let (x, l) = (random(40, 3, 1), random(4, 3, 2));
    let y = [1.0, -1.0, 1.0, -1.0];
    let mut rng = Pcg64::seed_from_u64(3);
    let stretched = |x: &Matrix, rng: &mut Pcg64| {
        let mut values = Vec::new();
        for i in 0..x.rows() {
            // powers of two leave the bits of directions unchanged
            let scale = 2f64.powi(rng.random_range(-30..30));
            x.view().row(i).for_each(|_, v| values.push(v * scale));
        }
        matrix(&values, 3)
    };
    let (long, far) = (stretched(&x, &mut rng), stretched(&l, &mut rng));
    let of = |x: &Matrix, l: &Matrix, count| {
        submod_batch(x.view(), l.view(), &y, &params(Kernel::Linear), count, &()).unwrap()
    };
    assert_eq!(of(&x, &l, 10), of(&long, &far, 10));
    let mut some = Matrix::empty(3, false);
    some.push(matrix(&[0.0; 3], 3).view().row(0));
    (0..40).for_each(|i| some.push(x.view().row(i)));
    some.push(matrix(&[0.0; 3], 3).view().row(0));
    for seek in [Seek::Outliers, Seek::Dense] {
        let params = SubmodParams { seek, ..params(Kernel::Linear) };
        let picks = submod_batch(some.view(), l.view(), &y, &params, 42, &()).unwrap();
        assert_eq!(picks.order[40..], [0, 41]);
    }
}

#[test]
fn the_relaxation_is_an_upper_bound_for_all_batches() {
    for seed in 0..12 {
        let (x, l) = (random(9, 2, seed), random(3, 2, 70 + seed));
        let (y, kernel) = ([1.0, -1.0, 1.0], [Kernel::Linear, NARROW][seed as usize % 2]);
        let stop = Stop { tolerance: 1e-7, max_steps: Some(1_000_000) };
        let relaxed = relaxed_batch(x.view(), l.view(), &y, &params(kernel), 3, stop, &()).unwrap();
        let lambda = [1.0 / 6.0, 1.0 / 3.0, 1.0 / 9.0];
        let value = |set: &[usize]| batch_value(kernel, &x, &l, &y, lambda, set);
        let best = sets_of(9, 3).map(|set| value(&set)).fold(f64::MIN, f64::max);
        assert!(relaxed.objective >= best - 1e-6, "{} < {best}", relaxed.objective);
        assert!((relaxed.share.iter().sum::<f64>() - 3.0).abs() < 1e-9);
        let picks = submod_batch(x.view(), l.view(), &y, &params(kernel), 3, &()).unwrap();
        assert!(value(&picks.order) <= best + 1e-9 && value(&relaxed.rows) <= best + 1e-9);
    }
}

#[test]
fn a_diverse_batch_represents_all_uncertain_rows() {
    for seed in 0..12 {
        let x = random(10, 2, seed);
        let mut rng = Pcg64::seed_from_u64(seed);
        let near: Vec<f64> = (0..10).map(|_| rng.random_range(0.0..1.3)).collect();
        let kernel = [Kernel::Linear, NARROW][seed as usize % 2];
        let s = |i: usize, e: usize| match kernel {
            Kernel::Linear => 0.5 * (1.0 + similarity(kernel, &x, i, &x, e)),
            _ => similarity(kernel, &x, i, &x, e),
        };
        let value = |set: &[usize]| -> f64 {
            let doubts = near.iter().map(|c| (1.0 - c).max(0.0)).enumerate();
            doubts.map(|(i, u)| u * set.iter().map(|&e| s(i, e)).fold(0.0, f64::max)).sum()
        };
        let inside = near.iter().filter(|c| **c < 1.0).count();
        let picks = diverse_batch(x.view(), &near, kernel, 3, &()).unwrap();
        assert_eq!(picks.order.len(), 3);
        assert!(inside < 3 || picks.order.iter().all(|&i| near[i] < 1.0));
        if inside >= 3 {
            let within = |set: &Vec<usize>| set.iter().all(|&i| near[i] < 1.0);
            let best = sets_of(10, 3).filter(within).map(|set| value(&set)).fold(0.0, f64::max);
            let reached = value(&picks.order);
            assert!(reached >= (1.0 - (-1.0f64).exp()) * best && reached <= best + 1e-6);
            assert!((picks.gains.iter().sum::<f64>() - reached).abs() < 1e-5);
        }
    }
}

#[test]
fn copies_are_queried_once() {
    // four copies on the boundary, and two less uncertain rows elsewhere
    let x = matrix(&[0.0, 0.0, 0.0, 0.0, 3.0, -3.0, 9.0], 1);
    let near = [0.0, 0.0, 0.0, 0.0, 0.5, 0.6, 2.0];
    let picks = diverse_batch(x.view(), &near, NARROW, 3, &()).unwrap();
    assert_eq!(picks.order, [0, 4, 5]);
    // more queries than uncertain rows: the remaining ones in order of closeness
    let all = diverse_batch(x.view(), &near, NARROW, 7, &()).unwrap();
    assert_eq!((all.order.len(), all.gains.len(), all.order[6]), (7, 7, 6));
    let certain = diverse_batch(x.view(), &[3.0, 2.0, 4.0, 9.0, 9.0, 9.0, 1.0], NARROW, 3, &()).unwrap();
    assert_eq!(certain.order, [6, 1, 0]);
}

struct StopImmediately;

impl Watch for StopImmediately {
    fn proceed(&self, _: &Progress) -> bool {
        false
    }
}

#[test]
fn handles_empty_input_and_refuses_invalid_parameters() {
    let (x, none) = (random(5, 2, 1), Matrix::empty(2, false));
    for kernel in [Kernel::Linear, NARROW] {
        let p = params(kernel);
        let ask = |x: &Matrix, count| submod_batch(x.view(), none.view(), &[], &p, count, &()).unwrap();
        assert_eq!(ask(&x, 0).order, [0; 0]);
        assert_eq!(ask(&none, 4).order, [0; 0]);
        assert_eq!(ask(&random(1, 2, 3), 4).order, [0]);
        let mut all = ask(&x, 9).order;
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3, 4]);
        let stopped = submod_batch(x.view(), none.view(), &[], &p, 2, &StopImmediately).unwrap();
        assert_eq!((stopped.order.len(), stopped.exit), (0, Exit::Interrupted));
        let stopped = diverse_batch(x.view(), &[0.0; 5], kernel, 2, &StopImmediately).unwrap();
        assert_eq!((stopped.order.len(), stopped.exit), (0, Exit::Interrupted));
        assert_eq!(diverse_batch(none.view(), &[], kernel, 3, &()).unwrap().order, [0; 0]);
    }
    let p = params(NARROW);
    let text = |e: evermargin::Error| e.to_string();
    let short = submod_batch(x.view(), x.view(), &[1.0], &p, 2, &()).unwrap_err();
    assert_eq!(text(short), "signs of labeled rows: expected 5, found 1");
    let wide = random(1, 3, 1);
    let wide = submod_batch(x.view(), wide.view(), &[1.0], &p, 2, &()).unwrap_err();
    assert_eq!(text(wide), "columns of labeled rows: expected 2, found 3");
    let sign = submod_batch(x.view(), x.view(), &[f64::NAN; 5], &p, 2, &()).unwrap_err();
    assert_eq!(text(sign), "parameter sign = NaN: must be a number");
    let lambda = SubmodParams { labeled: Lambda::Value(-2.0), ..params(NARROW) };
    let lambda = submod_batch(x.view(), x.view(), &[1.0; 5], &lambda, 2, &()).unwrap_err();
    assert_eq!(text(lambda), "parameter labeled = -2: must be auto, static or a number from 0");
    let near = diverse_batch(x.view(), &[0.0], NARROW, 2, &()).unwrap_err();
    assert_eq!(text(near), "closeness of rows: expected 5, found 1");
    let near = diverse_batch(x.view(), &[0.0, 0.0, f64::NAN, 0.0, 0.0], NARROW, 2, &()).unwrap_err();
    assert_eq!(text(near), "row 3: its closeness is not a number");
    let kernel = diverse_batch(x.view(), &[0.0; 5], Kernel::Precomputed, 2, &()).unwrap_err();
    assert_eq!(text(kernel), "parameter kernel = precomputed: must be a kernel of samples");
}

/// Two classes given as signs or as classes give the same queries; three classes give those of the definition.
#[test]
fn multiclass_queries_equal_greedy_selection_from_the_definition() {
    for seed in 0..16 {
        let (x, l) = (random(20, 3, seed), random(6, 3, 60 + seed));
        let kernel = [Kernel::Linear, NARROW][seed as usize % 2];
        let params = SubmodParams { seek: Seek::Dense, ..params(kernel) };
        let of = |known| submod_batch_within(x.view(), l.view(), known, &params, 6, None, &()).unwrap();
        let signs = [1.0, -1.0, -1.0, 1.0, 1.0, -1.0];
        let two = of(KnownLabels::Classes(&[4, 2, 2, 4, 4, 2]));
        let same = of(KnownLabels::Signs(&signs));
        assert_eq!(two.order, same.order, "seed {seed}");
        let classes = [0, 1, 2, 0, 1, 2];
        let margin_of_pulls = |m: usize| {
            let mut pulls: Vec<f64> = (0..3)
                .map(|c| (0..6).filter(|i| classes[*i] == c).map(|i| similarity(kernel, &x, m, &l, i)).sum())
                .collect();
            pulls.sort_by(|a, b| b.total_cmp(a));
            pulls[0] - pulls[1]
        };
        let value = |set: &[usize]| -> f64 {
            let term = |&m: &usize| {
                let pairs: f64 = set.iter().map(|&j| similarity(kernel, &x, m, &x, j)).sum();
                let crowd: f64 = (0..20).map(|j| similarity(kernel, &x, m, &x, j)).sum();
                -pairs / 12.0 - margin_of_pulls(m) / 6.0 + crowd / 20.0
            };
            set.iter().map(term).sum()
        };
        let three = of(KnownLabels::Classes(&classes));
        assert_eq!(three.order, greedy(20, 6, value), "seed {seed}");
        let sum: f64 = three.gains.iter().sum();
        assert!((sum - value(&three.order)).abs() < 1e-5, "{sum}");
    }
}

/// Group limits hold for all ways to select rows.
#[test]
fn no_group_exceeds_its_limit() {
    for seed in 0..8 {
        let (x, l) = (random(18, 2, seed), random(4, 2, 60 + seed));
        let mut rng = Pcg64::seed_from_u64(seed);
        let group: Vec<u32> = (0..18).map(|_| rng.random_range(0..4)).collect();
        let near: Vec<f64> = (0..18).map(|_| rng.random_range(0.0..1.6)).collect();
        for (max, count) in [(1, 9), (2, 5)] {
            let limit = GroupLimit::new(&group, max).unwrap();
            let held = |order: &[usize]| {
                let counts = (0..4).map(|g| order.iter().filter(|m| group[**m] == g).count());
                assert!(counts.clone().all(|n| n <= max), "{order:?}");
                let room: usize = (0..4).map(|g| group.iter().filter(|h| **h == g).count().min(max)).sum();
                assert_eq!(order.len(), room.min(count));
            };
            let y = KnownLabels::Signs(&[1.0, -1.0, -1.0, 1.0]);
            let how = params(NARROW);
            held(&submod_batch_within(x.view(), l.view(), y, &how, count, Some(&limit), &()).unwrap().order);
            held(&diverse_batch_within(x.view(), &near, NARROW, count, Some(&limit), &()).unwrap().order);
            for goal in [Objective::Exemplars, Objective::FacilityLocation] {
                let params = ExemplarParams { kernel: NARROW, objective: goal, ..Default::default() };
                let pool = Pool::of(x.view());
                let (picks, value) = choose_within(&params, &pool, count, &limit, &()).unwrap();
                held(&picks.order);
                let again = objective(&params, &pool, &picks.order).unwrap();
                assert!((value - again).abs() < 1e-6 * again.abs().max(1.0), "{value} {again}");
            }
        }
        assert!(
            diverse_batch_within(x.view(), &near, NARROW, 3, Some(&GroupLimit::new(&[0], 1).unwrap()), &())
                .is_err()
        );
    }
}
