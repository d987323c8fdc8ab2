//! `svc` against independent references: exhaustive search on tiny problems, the optimality conditions computed from
//! scratch in double precision, and invariance under equivalent formulations of one problem.

use crate::common::eliminate;
use crate::common::svc::{
    KERNELS, Problem, check_optimality, close, clouds, decisions, fit, kernel_matrix, params, solve_dual,
    sparsify, uniform, without_bias,
};
use evermargin::estimators::{Fit, Targets};
use evermargin::kernel::gram::{Gram, KernelGram, MatrixGram, Packed};
use evermargin::solver::Stop;
use evermargin::solver::smo::Dual;
use evermargin::{Kernel, Label, Matrix, Model};
use proptest::prelude::*;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::SeedableRng;

/// Optimum of the dual, found by assigning each variable to its lower bound, its upper bound or the inside in every way.
fn exhaustive(k: &[Vec<f64>], y: &[f64], c: f64) -> f64 {
    let n = y.len();
    let mut best = 0.0f64;
    for code in 0..3usize.pow(n as u32) {
        let state: Vec<usize> = (0..n).map(|i| code / 3usize.pow(i as u32) % 3).collect();
        let inside: Vec<usize> = (0..n).filter(|&i| state[i] == 2).collect();
        let mut alpha: Vec<f64> = (0..n).map(|i| if state[i] == 1 { c * y[i] } else { 0.0 }).collect();
        let m = inside.len();
        let (mut a, mut b) = (vec![vec![0.0; m + 1]; m + 1], vec![0.0; m + 1]);
        for (r, &i) in inside.iter().enumerate() {
            for (s, &j) in inside.iter().enumerate() {
                a[r][s] = k[i][j];
            }
            (a[r][m], a[m][r]) = (1.0, 1.0);
            b[r] = y[i] - (0..n).map(|j| k[i][j] * alpha[j]).sum::<f64>();
        }
        b[m] = -alpha.iter().sum::<f64>();
        if m == 0 {
            if b[0].abs() > 1e-9 {
                continue;
            }
        } else {
            let Some(solution) = eliminate(a, b) else { continue };
            inside.iter().zip(&solution).for_each(|(&i, &v)| alpha[i] = v);
        }
        if (0..n).any(|i| alpha[i] * y[i] < -1e-9 || alpha[i] * y[i] > c + 1e-9) {
            continue;
        }
        let quad: f64 = (0..n).map(|i| (0..n).map(|j| alpha[i] * k[i][j] * alpha[j]).sum::<f64>()).sum();
        best = best.min(0.5 * quad - alpha.iter().zip(y).map(|(a, y)| a * y).sum::<f64>());
    }
    best
}

#[test]
fn tiny_problems_reach_the_optimum_of_exhaustive_search() {
    for seed in 0..40 {
        let kernel = KERNELS[seed as usize % KERNELS.len()];
        let c = [0.1, 1.0, 10.0][seed as usize % 3];
        let p = clouds(7, 2, seed);
        let y: Vec<f64> = p.targets.y.iter().map(|y| y.sign()).collect();
        let best = exhaustive(&kernel_matrix(&p.x, kernel), &y, c);
        let found = fit(&params(kernel, c), &p).reports[0].objective;
        assert!((found - best).abs() <= 1e-4 * best.abs(), "seed {seed}: {found} against {best}");
    }
}

#[test]
fn larger_problems_satisfy_the_optimality_conditions() {
    for (seed, kernel) in KERNELS.into_iter().enumerate() {
        for c in [0.05, 1.0, 20.0] {
            let p = clouds(700, 5, seed as u64);
            let (dual, _) = solve_dual(&p, kernel, c, 1e-3, 1 << 20);
            check_optimality(&p, kernel, c, dual.alpha(), dual.bias(), 2e-3);
            let relative = dual.duality_gap() / dual.objective().abs();
            assert!((-1e-6..2e-3).contains(&relative), "gap {relative}");
        }
    }
}

#[test]
fn a_small_kernel_cache_gives_the_same_decisions() {
    let p = clouds(900, 4, 3);
    let (large, _) = solve_dual(&p, KERNELS[1], 2.0, 1e-6, 1 << 30);
    let (small, gram) = solve_dual(&p, KERNELS[1], 2.0, 1e-6, 0);
    assert_eq!(gram.capacity(), 64);
    close(&small.decisions(), &large.decisions(), 1e-4);
}

#[test]
fn warm_starts_by_rescaling_and_by_set_alpha_reach_the_optimum() {
    let p = clouds(400, 3, 5);
    let (mut warm, mut gram) = solve_dual(&p, KERNELS[1], 0.5, 1e-7, 1 << 30);
    warm.rescale(8.0);
    let stop = Stop { tolerance: 1e-7, max_steps: Some(10_000_000) };
    let report = warm.run(gram.as_mut(), stop, &());
    let (cold, _) = solve_dual(&p, KERNELS[1], 4.0, 1e-7, 1 << 30);
    close(&warm.decisions(), &cold.decisions(), 1e-4);
    assert!((report.objective - cold.objective()).abs() < 1e-6 * cold.objective().abs());

    let mut moved = Dual::new(
        p.targets.y.iter().map(|y| y.sign()).collect(),
        p.targets.y.iter().map(|y| 4.0 * y.sign().min(0.0)).collect(),
        p.targets.y.iter().map(|y| 4.0 * y.sign().max(0.0)).collect(),
    );
    moved.set_alpha(gram.as_mut(), cold.alpha());
    assert!(moved.violation() < 1e-4, "the gradient was not updated: {}", moved.violation());
}

#[test]
fn changed_bounds_give_the_solution_of_a_fresh_problem() {
    let p = clouds(60, 2, 8);
    let (mut dual, mut gram) = solve_dual(&p, KERNELS[1], 1.0, 1e-8, 1 << 30);
    for i in 0..60 {
        let y = p.targets.y[i].sign();
        dual.set_bounds(i, (3.0 * y).min(0.0), (3.0 * y).max(0.0));
    }
    dual.run(gram.as_mut(), Stop { tolerance: 1e-8, max_steps: Some(1_000_000) }, &());
    let (fresh, _) = solve_dual(&p, KERNELS[1], 3.0, 1e-8, 1 << 30);
    close(&dual.decisions(), &fresh.decisions(), 1e-4);
}

#[test]
fn solves_a_dual_with_real_valued_targets() {
    let p = clouds(300, 3, 2);
    let (target, c): (Vec<f64>, f64) = ((0..300).map(|i| f64::from(i % 7) - 3.0).collect(), 1.5);
    let mut dual = Dual::new(target.clone(), vec![-c; 300], vec![c; 300]);
    let mut gram = KernelGram::new(Packed::new(p.x.view(), KERNELS[1]).unwrap(), 1 << 30).unwrap();
    dual.run(&mut gram, Stop { tolerance: 1e-6, max_steps: Some(1_000_000) }, &());
    let k = kernel_matrix(&p.x, KERNELS[1]);
    for i in 0..300 {
        let residual =
            target[i] - k[i].iter().zip(dual.alpha()).map(|(k, a)| k * a).sum::<f64>() - dual.bias();
        assert!(dual.alpha()[i] >= c || residual <= 1e-4);
        assert!(dual.alpha()[i] <= -c || residual >= -1e-4);
    }
}

#[test]
fn a_precomputed_kernel_gives_the_decisions_of_the_kernel_itself() {
    let (p, kernel) = (clouds(150, 3, 4), KERNELS[1]);
    let k = kernel_matrix(&p.x, kernel).concat();
    let given = Problem { x: Matrix::dense(k, 150, 150).unwrap(), targets: p.targets.clone() };
    let computed = fit(&params(kernel, 1.0), &p);
    let fitted = fit(&params(Kernel::Precomputed, 1.0), &given);
    assert!(matches!(fitted.model, Model::Linear { .. }));
    close(&decisions(&fitted, &given.x), &decisions(&computed, &p.x), 1e-4);
    let mut gram = MatrixGram::new(given.x.view()).unwrap();
    assert_eq!(gram.subset(&[3, 7]).unwrap().row(1), &[gram.row(7)[3], gram.row(7)[7]]);
}

#[test]
fn one_vs_one_pairs_share_kernel_rows_and_equal_separate_fits() {
    let p = clouds(240, 3, 6);
    let class: Vec<usize> = (0..240).map(|i| i % 4).collect();
    let problems: Vec<Targets> = (0..4)
        .flat_map(|a| (a + 1..4).map(move |b| (a, b)))
        .map(|(a, b)| {
            let label = |&k: &usize| match k {
                _ if k == a => Label::Neg,
                _ if k == b => Label::Pos,
                _ => Label::Unknown,
            };
            Targets { y: class.iter().map(label).collect(), cost: vec![1.0; 240] }
        })
        .collect();
    let together = params(KERNELS[1], 1.0).fit(p.x.view(), &problems, &()).unwrap();
    let f = decisions(&together, &p.x);
    let mut apart_evaluations = 0;
    for (k, targets) in problems.iter().enumerate() {
        let apart = params(KERNELS[1], 1.0).fit(p.x.view(), std::slice::from_ref(targets), &()).unwrap();
        apart_evaluations += apart.reports[0].kernel_evaluations;
        let alone = decisions(&apart, &p.x);
        let shared: Vec<f64> = f.iter().skip(k).step_by(6).copied().collect();
        close(&shared, &alone, 1e-4);
    }
    let evaluations: u64 = together.reports.iter().map(|r| r.kernel_evaluations).sum();
    assert!(evaluations < apart_evaluations * 3 / 4, "{evaluations} of {apart_evaluations}");
}

#[test]
fn one_vs_rest_problems_share_kernel_rows() {
    let p = clouds(200, 3, 7);
    let flipped = Targets {
        y: p.targets.y.iter().map(|y| if *y == Label::Pos { Label::Neg } else { Label::Pos }).collect(),
        cost: p.targets.cost.clone(),
    };
    let third = Targets {
        y: (0..200).map(|i| if i % 2 == 0 { Label::Neg } else { Label::Pos }).collect(),
        cost: p.targets.cost.clone(),
    };
    let all = [p.targets.clone(), third, flipped];
    let fitted = params(KERNELS[1], 1.0).fit(p.x.view(), &all, &()).unwrap();
    assert!(fitted.reports[2].kernel_evaluations < fitted.reports[0].kernel_evaluations / 2);
    let f = decisions(&fitted, &p.x);
    for f in f.chunks_exact(3) {
        assert!((f[0] + f[2]).abs() < 1e-4);
    }
}

#[test]
fn cross_validation_equals_fits_without_the_fold() {
    let p = clouds(240, 3, 9);
    let fold_of: Vec<usize> = (0..240).map(|i| i * 7 % 4).collect();
    let costs = [0.2, 1.0, 5.0];
    let base = params(KERNELS[1], 1.0);
    let paths =
        base.cross_validate(p.x.view(), std::slice::from_ref(&p.targets), &fold_of, &costs, &()).unwrap();
    for (path, &c) in paths.iter().zip(&costs) {
        for fold in 0..4 {
            let (out, held): (Vec<usize>, Vec<usize>) = (0..240).partition(|&i| fold_of[i] != fold);
            let part = Problem { x: p.x.view().select(&out), targets: p.targets.select(&out) };
            let fitted = fit(&params(KERNELS[1], c), &part);
            let expected = decisions(&fitted, &p.x.view().select(&held));
            let found: Vec<f64> = held.iter().map(|&i| path[i]).collect();
            close(&found, &expected, 1e-4);
        }
    }
}

#[test]
fn results_are_bit_identical_for_any_number_of_threads() {
    let p = clouds(1500, 20, 11);
    let sparse = Problem { x: sparsify(&p.x, 0.85), targets: p.targets.clone() };
    for p in [&p, &sparse] {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let fitted = fit(&params(KERNELS[1], 1.0), p);
                let f = decisions(&fitted, &p.x);
                (fitted.model, f)
            })
        };
        let one = run(1);
        assert_eq!(one, run(2));
        assert_eq!(one, run(4));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn weight_k_equals_k_copies_and_weight_zero_equals_removal(seed in 0u64..1000, k in 1usize..4) {
        let p = clouds(40, 2, seed);
        let mut weighted = Problem { x: p.x.clone(), targets: p.targets.clone() };
        let mut copies: Vec<usize> = Vec::new();
        for i in 0..40 {
            let times = if i % 5 == 4 { 0 } else { 1 + (i + k) % (k + 1) };
            weighted.targets.cost[i] = times as f64;
            copies.extend(std::iter::repeat_n(i, times));
        }
        let copied = Problem { x: p.x.view().select(&copies), targets: p.targets.select(&copies) };
        for kernel in [KERNELS[0], KERNELS[1]] {
            let (a, b) = (fit(&params(kernel, 1.0), &weighted), fit(&params(kernel, 1.0), &copied));
            close(&without_bias(&a, &p.x), &without_bias(&b, &p.x), 1e-3);
            prop_assert!((a.reports[0].objective - b.reports[0].objective).abs()
                < 1e-5 * b.reports[0].objective.abs());
        }
    }

    #[test]
    fn optimality_conditions_hold_and_the_duality_gap_is_small(
        seed in any::<u64>(), rows in 4usize..150, kernel in 0usize..4, c in -6i32..6,
    ) {
        let (p, c) = (clouds(rows, 3, seed), f64::from(c).exp2());
        let (dual, _) = solve_dual(&p, KERNELS[kernel], c, 1e-3, 1 << 20);
        check_optimality(&p, KERNELS[kernel], c, dual.alpha(), dual.bias(), 2e-3);
        let bound = 1.1e-3 * c * rows as f64 + 1e-6;
        prop_assert!((-1e-6 * bound..=bound).contains(&dual.duality_gap()), "gap {}", dual.duality_gap());
    }

    #[test]
    fn warm_starts_reach_the_solution_of_cold_starts(seed in any::<u64>(), from in -4i32..4, to in -4i32..4) {
        let (p, from, to) = (clouds(80, 3, seed), f64::from(from).exp2(), f64::from(to).exp2());
        let (mut warm, mut gram) = solve_dual(&p, KERNELS[1], from, 1e-6, 1 << 20);
        warm.rescale(to / from);
        warm.run(gram.as_mut(), Stop { tolerance: 1e-6, max_steps: Some(1_000_000) }, &());
        let (cold, _) = solve_dual(&p, KERNELS[1], to, 1e-6, 1 << 20);
        prop_assert!((warm.objective() - cold.objective()).abs() < 1e-5 * cold.objective().abs());
        let bare = |d: &Dual| d.decisions().iter().map(|f| f - d.bias()).collect::<Vec<f64>>();
        close(&bare(&warm), &bare(&cold), 2e-3);
    }

    #[test]
    fn sparse_dense_and_shuffled_rows_give_the_same_decisions(
        seed in 0u64..1000, zeros in 0.0f64..0.95, order in Just((0..60).collect::<Vec<usize>>()).prop_shuffle(),
    ) {
        let p = clouds(60, 6, seed);
        let sparse = Problem { x: sparsify(&p.x, zeros), targets: p.targets.clone() };
        let dense = Problem { x: sparse.x.view().to_dense(), targets: p.targets.clone() };
        let shuffled = Problem { x: dense.x.view().select(&order), targets: dense.targets.select(&order) };
        for kernel in KERNELS {
            let a = without_bias(&fit(&params(kernel, 1.0), &sparse), &p.x);
            close(&a, &without_bias(&fit(&params(kernel, 1.0), &dense), &p.x), 2e-3);
            close(&a, &without_bias(&fit(&params(kernel, 1.0), &shuffled), &p.x), 2e-3);
        }
    }

    #[test]
    fn decisions_equal_the_kernel_sum_from_its_definition(seed in 0u64..1000, sparse in any::<bool>()) {
        let p = clouds(80, 9, seed);
        let x = if sparse { sparsify(&p.x, 0.8) } else { p.x.clone() };
        for kernel in KERNELS.into_iter().chain([Kernel::Sigmoid { gamma: 0.1, coef0: 0.2 }]) {
            let mut rng = Pcg64::seed_from_u64(seed);
            let coef: Vec<Vec<f64>> = (0..3).map(|_| (0..80).map(|_| uniform(&mut rng) - 0.5).collect()).collect();
            let bias = vec![0.5, -1.0, 2.0];
            let model = Model::Expansion { kernel, points: x.clone(), coef: coef.clone(), bias: bias.clone() };
            let other = clouds(37, 9, seed + 1).x;
            let found = model.decision(other.view()).unwrap();
            for i in 0..37 {
                for k in 0..3 {
                    let plain: f64 = bias[k] + (0..80)
                        .map(|j| coef[k][j] * kernel.eval(x.view().row(j), other.view().row(i)))
                        .sum::<f64>();
                    prop_assert!((found[i * 3 + k] - plain).abs() < 2e-5 * (1.0 + plain.abs()));
                }
            }
        }
    }
}
