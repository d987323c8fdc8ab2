//! Manifold regularization against its own equations solved densely, its limit cases, and invariance under equivalent
//! formulations of one problem. Numbers in brackets are those of the list of invariants for Sindhwani 2007.

use crate::common::eliminate;
use evermargin::data::Label;
use evermargin::datasets::{GenerateParams, generate};
use evermargin::estimators::manifold::deformed_kernel::{DeformedKernel, DeformedKernelParams};
use evermargin::estimators::manifold::landmark_space::LandmarkSpace;
use evermargin::estimators::manifold::lap::{LapParams, Loss, ObjectiveScaling, Solver};
use evermargin::estimators::manifold::penalty::{Penalty, PenaltyParams, class_wise};
use evermargin::estimators::supervised::rls::RlsParams;
use evermargin::estimators::supervised::svc::SvcParams;
use evermargin::estimators::{Fit, Fitted, Targets, estimator};
use evermargin::graph::{Graph, Weights};
use evermargin::pipeline::cross_validation::{PathTask, along_path, held_out};
use evermargin::pipeline::train::{Gamma, ScalingChoice, TrainOptions, along_warped_path, train};
use evermargin::solver::{Exit, Progress, Watch};
use evermargin::{Kernel, Labels, Matrix, Model};
use std::slice::from_ref;

const RBF: Kernel = Kernel::Rbf { gamma: 2.0 };

fn moons(rows: usize, noise: f64, seed: u64) -> (Matrix, Vec<u32>) {
    let params = GenerateParams { rows, noise: Some(noise), seed, ..Default::default() };
    let (x, labels) = generate("two-moons", &params).unwrap();
    (x, labels.of.iter().map(|c| c.unwrap()).collect())
}

/// The first `each` rows of both classes are labeled.
fn label_first(class: &[u32], each: usize) -> Targets {
    let mut left = [each, each];
    let known = |c: &u32| {
        let take = left[*c as usize] > 0;
        left[*c as usize] = left[*c as usize].saturating_sub(1);
        match (take, c) {
            (false, _) => Label::Unknown,
            (true, 0) => Label::Neg,
            (true, _) => Label::Pos,
        }
    };
    Targets { y: class.iter().map(known).collect(), cost: vec![1.0; class.len()] }
}

fn params(loss: Loss) -> LapParams {
    LapParams { loss, kernel: RBF, gamma_a: 0.02, gamma_i: 0.3, tolerance: 1e-6, ..Default::default() }
}

/// Tolerance for two solutions of one problem: rounding, or the tolerance of the dual solver times the number of rows.
fn solution_tolerance(loss: Loss) -> f64 {
    if loss == Loss::Square { 1e-9 } else { 2e-5 }
}

fn scores(fitted: &Fitted) -> &[f64] {
    &fitted.transduced.as_ref().unwrap().scores[0]
}

fn fit(params: &LapParams, x: &Matrix, targets: &Targets) -> Vec<f64> {
    scores(&params.fit(x.view(), from_ref(targets), &()).unwrap()).to_vec()
}

fn kernel_matrix(x: &Matrix, kernel: Kernel) -> Vec<Vec<f64>> {
    let x = x.view();
    (0..x.rows()).map(|i| (0..x.rows()).map(|j| kernel.eval(x.row(i), x.row(j))).collect()).collect()
}

fn product(a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let entry = |row: &Vec<f64>, j: usize| row.iter().zip(b).map(|(v, b)| v * b[j]).sum();
    a.iter().map(|row| (0..b[0].len()).map(|j| entry(row, j)).collect()).collect()
}

/// L^p as a matrix.
fn dense(penalty: &Penalty) -> Vec<Vec<f64>> {
    let n = penalty.rows();
    let unit = |i: usize| (0..n).map(|j| f64::from(u8::from(i == j))).collect::<Vec<f64>>();
    (0..n).map(|i| penalty.apply(&unit(i))).collect()
}

fn penalty(p: &PenaltyParams, x: &Matrix) -> Penalty {
    p.penalty(x.view(), &()).unwrap().unwrap()
}

fn near(a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len());
    let worst = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(worst <= tolerance, "differ by {worst}");
}

/// Outputs of laprls from its linear system (2.12), α = (JK + γ_A I + γ_I MK)⁻¹Y. J holds the weights of the labels.
fn laprls_by_elimination(p: &LapParams, x: &Matrix, t: &Targets, m: &[Vec<f64>]) -> Vec<f64> {
    let (n, k) = (x.rows(), kernel_matrix(x, p.kernel));
    let labeled = t.used();
    let l: f64 = labeled.iter().map(|&i| t.cost[i]).sum();
    let (a, i) = match p.objective_scaling {
        ObjectiveScaling::Raw => (p.gamma_a, p.gamma_i),
        ObjectiveScaling::Paper => (p.gamma_a * l, p.gamma_i * l / (n * n) as f64),
    };
    let mk = product(m, &k);
    let mut system = vec![vec![0.0; n]; n];
    let mut right = vec![0.0; n];
    for r in 0..n {
        let known = if labeled.contains(&r) { t.cost[r] } else { 0.0 };
        right[r] = known * t.y[r].sign();
        for c in 0..n {
            system[r][c] = known * k[r][c] + i * mk[r][c] + if r == c { a } else { 0.0 };
        }
    }
    let alpha = eliminate(system, right).unwrap();
    k.iter().map(|row| row.iter().zip(&alpha).map(|(k, a)| k * a).sum()).collect()
}

#[test]
fn laprls_solves_its_linear_system_for_all_scalings_and_powers() {
    let (x, class) = moons(70, 0.15, 3);
    let mut t = label_first(&class, 4);
    let first = t.used()[0];
    t.cost[first] = 2.5;
    for power in [1, 2, 3] {
        for (normalized, scaling) in
            [(true, ObjectiveScaling::Raw), (false, ObjectiveScaling::Raw), (true, ObjectiveScaling::Paper)]
        {
            let mut p = params(Loss::Square);
            p.penalty = PenaltyParams { power, normalized, n_neighbors: 5, ..Default::default() };
            p.objective_scaling = scaling;
            if scaling == ObjectiveScaling::Paper {
                p.gamma_i = 40.0;
            }
            let m = dense(&penalty(&p.penalty, &x));
            near(&fit(&p, &x, &t), &laprls_by_elimination(&p, &x, &t, &m), 1e-6);
        }
    }
}

#[test]
fn the_deformed_kernel_follows_its_formula_and_is_between_zero_and_the_kernel() {
    // [3] K̃ = K − K(I + MK)⁻¹MK by elimination, column by column
    let (x, _) = moons(50, 0.2, 5);
    let n = x.rows();
    let p = PenaltyParams { n_neighbors: 4, power: 2, ..Default::default() };
    let penalty = penalty(&p, &x);
    let (k, ratio) = (kernel_matrix(&x, RBF), 30.0);
    let m: Vec<Vec<f64>> =
        dense(&penalty).into_iter().map(|r| r.iter().map(|v| ratio * v).collect()).collect();
    let mk = product(&m, &k);
    let mut system = mk.clone();
    (0..n).for_each(|i| system[i][i] += 1.0);
    let span = LandmarkSpace::new(x.view(), RBF, n, 1, &()).unwrap();
    let quadratic = penalty.quadratic(&span);
    let all: Vec<usize> = (0..n).collect();
    let warped = DeformedKernel::new(&span, &quadratic, ratio).unwrap().gram(&all).unwrap();
    for j in 0..n {
        let inner = eliminate(system.clone(), mk.iter().map(|row| row[j]).collect()).unwrap();
        for i in 0..n {
            let formula = k[i][j] - k[i].iter().zip(&inner).map(|(a, b)| a * b).sum::<f64>();
            let mut found = 0.0;
            warped.view().row(i).for_each(|c, v| {
                if c == j {
                    found = v;
                }
            });
            assert!((found - formula).abs() < 1e-7, "{i} {j}: {found} {formula}");
        }
    }
    for seed in 0..20 {
        let z: Vec<f64> = (0..n).map(|i| ((i * i + 7 * seed) as f64).sin()).collect();
        let form = |row: &dyn Fn(usize, usize) -> f64| -> f64 {
            all.iter()
                .flat_map(|&i| all.iter().map(move |&j| (i, j)))
                .map(|(i, j)| z[i] * row(i, j) * z[j])
                .sum()
        };
        let inside = warped.view().to_dense();
        let Matrix::Dense { values, .. } = &inside else { panic!() };
        let (deformed_form, plain) = (form(&|i, j| values[i * n + j]), form(&|i, j| k[i][j]));
        assert!(deformed_form > -1e-9 && deformed_form <= plain + 1e-9, "{deformed_form} {plain}");
    }
    // M = 0 leaves K
    let same = DeformedKernel::new(&span, &quadratic, 0.0).unwrap().gram(&all).unwrap();
    for i in 0..n {
        same.view().row(i).for_each(|j, v| assert!((v - k[i][j]).abs() < 1e-8));
    }
}

#[test]
fn lapsvm_equals_svc_on_the_deformed_kernel() {
    // [2] svc on the block of the labeled rows of K̃ = K(I + MK)⁻¹, α = a − Mf
    let (x, class) = moons(60, 0.2, 8);
    let t = label_first(&class, 6);
    for bias in [false, true] {
        let mut p = params(Loss::Hinge);
        p.fit_intercept = bias;
        let penalty = penalty(&p.penalty, &x);
        let ratio = p.gamma_i / p.gamma_a;
        let (n, k) = (x.rows(), kernel_matrix(&x, RBF));
        let m: Vec<Vec<f64>> =
            dense(&penalty).into_iter().map(|r| r.iter().map(|v| ratio * v).collect()).collect();
        let mut system = product(&m, &k);
        (0..n).for_each(|i| system[i][i] += 1.0);
        let labeled = t.used();
        let columns: Vec<Vec<f64>> = labeled
            .iter()
            .map(|&j| {
                let unit = (0..n).map(|i| f64::from(u8::from(i == j))).collect();
                let z = eliminate(system.clone(), unit).unwrap();
                k.iter().map(|row| row.iter().zip(&z).map(|(a, b)| a * b).sum()).collect()
            })
            .collect();
        let small: Vec<f64> =
            labeled.iter().flat_map(|&i| columns.iter().map(move |c: &Vec<f64>| c[i])).collect();
        let gram = Matrix::dense(small, labeled.len(), labeled.len()).unwrap();
        let svc = SvcParams {
            kernel: Kernel::Precomputed,
            c: 0.5 / p.gamma_a,
            fit_intercept: bias,
            tolerance: 1e-6,
            ..Default::default()
        };
        let Model::Linear { weights, bias } = svc.fit(gram.view(), &[t.select(&labeled)], &()).unwrap().model
        else {
            panic!()
        };
        let f: Vec<f64> = (0..n)
            .map(|i| bias[0] + columns.iter().zip(&weights[0]).map(|(c, a)| c[i] * a).sum::<f64>())
            .collect();
        near(&fit(&p, &x, &t), &f, 2e-5);
        // the representer theorem: over all rows, α = a − Mf (f without the bias)
        let without: Vec<f64> = f.iter().map(|f| f - bias[0]).collect();
        let mf = penalty.apply(&without);
        let mut alpha: Vec<f64> = mf.iter().map(|v| -ratio * v).collect();
        labeled.iter().zip(&weights[0]).for_each(|(&i, a)| alpha[i] += a);
        let back: Vec<f64> = k.iter().map(|row| row.iter().zip(&alpha).map(|(k, a)| k * a).sum()).collect();
        near(&back, &without, 1e-6);
    }
}

#[test]
fn without_a_graph_penalty_it_equals_the_supervised_estimator() {
    // [1]
    let (x, class) = moons(80, 0.2, 2);
    let t = label_first(&class, 10);
    for loss in [Loss::Hinge, Loss::Square] {
        let p = LapParams { gamma_i: 0.0, ..params(loss) };
        let fitted = p.fit(x.view(), from_ref(&t), &()).unwrap();
        let alone: Box<dyn Fit> = match loss {
            Loss::Hinge => Box::new(SvcParams {
                kernel: RBF,
                c: 25.0,
                fit_intercept: false,
                tolerance: 1e-6,
                ..Default::default()
            }),
            Loss::Square => {
                Box::new(RlsParams { kernel: RBF, c: 50.0, fit_intercept: false, ..Default::default() })
            }
        };
        let same = alone.fit(x.view(), from_ref(&t), &()).unwrap();
        assert_eq!(fitted.model, same.model);
        assert!(fitted.model.support_count() <= 20);
        assert_eq!(p.supervised().unwrap().fit(x.view(), from_ref(&t), &()).unwrap().model, same.model);
    }
}

#[test]
fn row_order_storage_and_label_signs_do_not_change_the_function() {
    // [5] [9] [21]
    let (x, class) = moons(120, 0.15, 4);
    let t = label_first(&class, 3);
    let order: Vec<usize> = (0..120).map(|i| (i * 77 + 13) % 120).collect();
    let moved = x.view().select(&order);
    let flipped = Targets {
        y: t.y
            .iter()
            .map(|y| match y {
                Label::Neg => Label::Pos,
                Label::Pos => Label::Neg,
                Label::Unknown => Label::Unknown,
            })
            .collect(),
        cost: t.cost.clone(),
    };
    for loss in [Loss::Hinge, Loss::Square] {
        let p = params(loss);
        let f = fit(&p, &x, &t);
        let g = fit(&p, &moved, &t.select(&order));
        near(&order.iter().map(|&i| f[i]).collect::<Vec<_>>(), &g, 1e-4);
        near(&f, &fit(&p, &x.view().to_csr(), &t), 1e-6);
        near(&f, &fit(&p, &x, &flipped).iter().map(|v| -v).collect::<Vec<_>>(), solution_tolerance(loss));
        // the decisions of the model equal the scores
        let fitted = p.fit(x.view(), from_ref(&t), &()).unwrap();
        near(&fitted.model.decision(x.view()).unwrap(), &f, 1e-3);
    }
}

#[test]
fn a_row_without_edges_does_not_change_the_function() {
    // [5] with a given graph in which the last row has no edge
    let (x, class) = moons(60, 0.15, 6);
    let t = label_first(&class, 3);
    let params = PenaltyParams::default();
    let graph = params.graph(x.view(), &()).unwrap().unwrap();
    let mut edges = Vec::new();
    for i in 0..60 {
        edges.extend(graph.row(i).filter(|(j, _)| i < *j).map(|(j, w)| (i, j, w)));
    }
    let Matrix::Dense { mut values, .. } = x.clone() else { panic!() };
    values.extend([0.3, 0.2]);
    let more = Matrix::dense(values, 61, 2).unwrap();
    let outputs = |x: &Matrix| {
        let graph = Graph::from_edges(x.rows(), &edges).unwrap();
        let penalty = params.of_graphs(vec![(1.0, graph)]);
        let span = LandmarkSpace::new(x.view(), RBF, x.rows(), 1, &()).unwrap();
        let quadratic = penalty.quadratic(&span);
        let warp = DeformedKernel::new(&span, &quadratic, 15.0).unwrap();
        let rows = t.used();
        let gram = warp.gram(&rows).unwrap();
        let rls =
            RlsParams { kernel: Kernel::Precomputed, c: 50.0, fit_intercept: false, ..Default::default() };
        let Model::Linear { weights, .. } = rls.fit(gram.view(), &[t.select(&rows)], &()).unwrap().model
        else {
            panic!()
        };
        span.outputs(&warp.function(&rows, &weights[0]))
    };
    near(&outputs(&x), &outputs(&more)[..60], 1e-7);
}

#[test]
fn a_large_gamma_i_gives_constants_per_component_and_a_small_gamma_a_harmonic_functions() {
    // [6] two distant clouds, each a component of the graph
    let (x, class) = moons(40, 0.02, 7);
    let Matrix::Dense { mut values, .. } = x.clone() else { panic!() };
    for (i, c) in class.iter().enumerate() {
        values[2 * i] += 6.0 * f64::from(*c);
    }
    let x = Matrix::dense(values, 40, 2).unwrap();
    let mut p = params(Loss::Square);
    p.penalty.normalized = false;
    p.penalty.n_neighbors = 8;
    p.gamma_i = 1e7;
    let f = fit(&p, &x, &label_first(&class, 2));
    for c in 0..2 {
        let of: Vec<f64> = (0..40).filter(|&i| class[i] == c).map(|i| f[i]).collect();
        let spread = of.iter().fold(0.0, |a: f64, v| a.max((v - of[0]).abs()));
        assert!(of[0].abs() > 0.5 && spread < 1e-3, "{spread} around {}", of[0]);
    }
    // [7] γ_A → 0: (γ_I M + J)f = Y, solved densely; the kernel is narrow, so its space contains every f
    let (x, class) = moons(50, 0.1, 9);
    let t = label_first(&class, 4);
    let mut p = params(Loss::Square);
    p.kernel = Kernel::Rbf { gamma: 60.0 };
    p.gamma_a = 1e-9;
    p.gamma_i = 0.05;
    let mut system = dense(&penalty(&p.penalty, &x));
    let mut right = vec![0.0; 50];
    for i in 0..50 {
        system[i].iter_mut().for_each(|v| *v *= p.gamma_i);
        if t.y[i] != Label::Unknown {
            system[i][i] += 1.0;
            right[i] = t.y[i].sign();
        }
    }
    near(&fit(&p, &x, &t), &eliminate(system, right).unwrap(), 1e-4);
}

#[test]
fn classifies_two_moons_from_one_label_per_class_without_error() {
    for seed in 1..=5 {
        let (x, class) = moons(200, 0.05, seed);
        for loss in [Loss::Hinge, Loss::Square] {
            let mut p = params(loss);
            p.kernel = Kernel::Rbf { gamma: 4.0 };
            (p.gamma_a, p.gamma_i) = (0.01, 10.0);
            p.penalty.edge_weights = Weights::Binary;
            let f = fit(&p, &x, &label_first(&class, 1));
            let wrong = f.iter().zip(&class).filter(|(f, c)| (**f > 0.0) != (**c == 1)).count();
            assert_eq!(wrong, 0, "seed {seed}");
        }
    }
}

#[test]
fn balance_keeps_the_given_ratio_and_problems_share_one_space() {
    let (x, class) = moons(150, 0.25, 11);
    let mut p = params(Loss::Square);
    p.balance = true;
    p.ratio = evermargin::estimators::transductive::Ratio::Given(vec![0.3]);
    let t = label_first(&class, 5);
    let fitted = p.fit(x.view(), from_ref(&t), &()).unwrap();
    let open = (0..150).filter(|&i| t.y[i] == Label::Unknown);
    assert_eq!(open.filter(|&i| scores(&fitted)[i] > 0.0).count(), 42);
    // problems fitted together give what each gives alone
    let flip = Targets {
        y: t.y
            .iter()
            .map(|y| {
                if *y == Label::Pos {
                    Label::Neg
                } else if *y == Label::Neg {
                    Label::Pos
                } else {
                    *y
                }
            })
            .collect(),
        cost: t.cost.clone(),
    };
    let p = params(Loss::Hinge);
    let both = p.fit(x.view(), &[t.clone(), flip], &()).unwrap();
    let alone = p.fit(x.view(), &[t], &()).unwrap();
    near(scores(&both), scores(&alone), solution_tolerance(Loss::Hinge));
    assert_eq!((both.reports.len(), both.model.outputs()), (2, 2));
}

#[test]
fn n_landmarks_bounds_the_support_and_60_landmarks_are_close_to_all() {
    let (x, class) = moons(400, 0.1, 12);
    let t = label_first(&class, 5);
    let whole = fit(&params(Loss::Square), &x, &t);
    for basis in [1, 20, 60] {
        let p = LapParams { n_landmarks: basis, ..params(Loss::Square) };
        let fitted = p.fit(x.view(), from_ref(&t), &()).unwrap();
        assert!(fitted.model.support_count() <= basis);
        if basis == 60 {
            near(scores(&fitted), &whole, 1e-2);
        }
    }
}

#[test]
fn more_labels_than_landmarks_are_solved_in_landmark_space() {
    // v minimizes ½vᵀ(I + ratio·RᵀLR)v + ½c Σ(yᵢ − rᵢ·v)², by elimination over the 12 landmarks; 120 of 140 rows are
    // labeled
    let (x, class) = moons(140, 0.2, 31);
    let t = label_first(&class, 60);
    let p = LapParams { n_landmarks: 12, ..params(Loss::Square) };
    let span = LandmarkSpace::new(x.view(), RBF, 12, p.seed, &()).unwrap();
    let (m, c, ratio) = (span.dim(), 1.0 / p.gamma_a, p.gamma_i / p.gamma_a);
    let q = penalty(&p.penalty, &x).quadratic(&span);
    let mut system: Vec<Vec<f64>> =
        (0..m).map(|i| q[i * m..(i + 1) * m].iter().map(|v| ratio * v).collect()).collect();
    let mut right = vec![0.0; m];
    for k in t.used() {
        for i in 0..m {
            right[i] += c * span.row(k)[i] * t.y[k].sign();
            (0..m).for_each(|j| system[i][j] += c * span.row(k)[i] * span.row(k)[j]);
        }
    }
    (0..m).for_each(|i| system[i][i] += 1.0);
    near(&fit(&p, &x, &t), &span.outputs(&eliminate(system, right).unwrap()), 1e-6);
    // hinge loss in the same space, with the kernel matrix of the labeled rows
    let hinge = LapParams { n_landmarks: 12, ..params(Loss::Hinge) };
    let warp = DeformedKernel::new(&span, &q, ratio).unwrap();
    let all = t.used();
    let svc = SvcParams {
        kernel: Kernel::Precomputed,
        c: 0.5 / p.gamma_a,
        fit_intercept: false,
        tolerance: 1e-6,
        ..Default::default()
    };
    let fitted = svc.fit(warp.gram(&all).unwrap().view(), &[t.select(&all)], &()).unwrap();
    let Model::Linear { weights, .. } = fitted.model else { panic!() };
    near(&fit(&hinge, &x, &t), &span.outputs(&warp.function(&all, &weights[0])), 1e-3);
}

#[test]
fn tuning_does_not_leak_held_out_labels_into_a_class_wise_graph() {
    let (x, _) = moons(120, 0.3, 32);
    let class: Vec<u32> = (0..120).map(|i| ((i * 7919 + 13) / 31 % 2) as u32).collect();
    let t = label_first(&class, 120);
    let folds: Vec<Option<u32>> = (0..120).map(|i| Some((i % 4) as u32)).collect();
    let params = serde_json::from_str(r#"{"gamma": 0.1, "class_wise": true, "n_neighbors": 20}"#).unwrap();
    let (x, problems) = (x.view(), from_ref(&t));
    let task = PathTask {
        params: &params,
        name: "gamma_i",
        values: &[1.0, 100.0],
        x,
        problems,
        folds: &folds,
        graph: None,
    };
    for held in along_path(estimator("laprls").unwrap(), &task, &()).unwrap() {
        let right = (0..120).filter(|&i| (held[i] > 0.0) == (class[i] == 1)).count();
        assert!((30..90).contains(&right), "{right} of 120 random labels");
    }
}

#[test]
fn an_interrupt_at_any_stage_leaves_a_useful_model() {
    let (x, class) = moons(300, 0.1, 33);
    let t = label_first(&class, 10);
    for loss in [Loss::Hinge, Loss::Square] {
        for asked in [1, 2, 3, 4, 6, 8] {
            let fitted = params(loss).fit(x.view(), from_ref(&t), &StopAfter(asked.into())).unwrap();
            let f = scores(&fitted);
            let right = (0..300).filter(|&i| (f[i] > 0.0) == (class[i] == 1)).count();
            assert!(right > 220, "{loss:?} after {asked}: {right} of 300");
            let done = fitted.reports[0].exit == Exit::Converged;
            assert!(done || fitted.reports[0].exit == Exit::Interrupted);
        }
    }
}

#[test]
fn linear_kernels_give_weights_and_class_wise_graphs_stay_within_classes() {
    let (x, class) = moons(90, 0.2, 13);
    let mut p = params(Loss::Square);
    p.kernel = Kernel::Linear;
    let t = label_first(&class, 8);
    let fitted = p.fit(x.view(), from_ref(&t), &()).unwrap();
    assert!(matches!(fitted.model, Model::Linear { .. }));
    let m = dense(&penalty(&p.penalty, &x));
    near(scores(&fitted), &laprls_by_elimination(&p, &x, &t, &m), 1e-8);
    near(&fitted.model.decision(x.view()).unwrap(), scores(&fitted), 1e-9);
    // all rows labeled: edges only within classes, and the linear system with that Laplacian
    let all = label_first(&class, 90);
    let mut p = params(Loss::Square);
    p.penalty.class_wise = true;
    let inside = class_wise(&p.penalty, x.view(), &all, &()).unwrap().unwrap();
    let graph = inside.graphs().next().unwrap();
    assert!(graph.edges() > 90);
    assert!((0..90).all(|i| graph.row(i).all(|(j, _)| class[i] == class[j])));
    near(&fit(&p, &x, &all), &laprls_by_elimination(&p, &x, &all, &dense(&inside)), 1e-6);
}

/// Stops training after a number of calls.
struct StopAfter(std::sync::atomic::AtomicI64);

impl Watch for StopAfter {
    fn proceed(&self, _: &Progress) -> bool {
        self.0.fetch_sub(1, std::sync::atomic::Ordering::Relaxed) > 0
    }
}

#[test]
fn an_interrupt_leaves_a_model_and_results_do_not_depend_on_threads() {
    let (x, class) = moons(300, 0.1, 14);
    let t = label_first(&class, 5);
    let stopped = params(Loss::Hinge).fit(x.view(), from_ref(&t), &StopAfter(0.into())).unwrap();
    assert_eq!(stopped.reports[0].exit, Exit::Interrupted);
    assert!(stopped.model.check().is_ok());
    for loss in [Loss::Hinge, Loss::Square] {
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| params(loss).fit(x.view(), from_ref(&t), &()).unwrap().model)
        };
        assert_eq!(on(1), on(3));
    }
}

#[test]
fn refuses_invalid_parameters_and_data() {
    let (x, class) = moons(20, 0.1, 1);
    let t = label_first(&class, 2);
    let refused = |p: LapParams| p.fit(x.view(), from_ref(&t), &()).unwrap_err().to_string();
    let p = || params(Loss::Hinge);
    assert_eq!(
        refused(LapParams { gamma_a: 0.0, ..p() }),
        "parameter gamma_a = 0: must be a number from 1e-14 to 1e15"
    );
    assert_eq!(
        refused(LapParams { gamma_i: f64::NAN, ..p() }),
        "parameter gamma_i = NaN: must be 0 (labels alone) or a number up to 1e15"
    );
    let mut bad = p();
    bad.penalty.power = 0;
    assert_eq!(refused(bad), "parameter power = 0: must be a whole number from 1 to 16");
    let mut bad = p();
    bad.penalty.width = -1.0;
    assert_eq!(refused(bad), "parameter width = -1: must be 0 (mean length of an edge) or a positive number");
    assert!(
        refused(LapParams { kernel: Kernel::Sigmoid { gamma: 1.0, coef0: -9.0 }, ..p() })
            .contains("positive definite")
    );
    let mut one = t.clone();
    one.y.iter_mut().for_each(|y| {
        if *y == Label::Neg {
            *y = Label::Unknown;
        }
    });
    assert!(p().fit(x.view(), &[one], &()).unwrap_err().to_string().contains("two classes"));
}

/// Decisions of all rows after training on two moons with three labels per class.
fn train_decisions(learner: &str, params: &str, warp: Option<DeformedKernelParams>) -> Vec<f64> {
    let (x, class) = moons(100, 0.12, 21);
    let t = label_first(&class, 3);
    let tokens = t.y.iter().map(|y| match y {
        Label::Unknown => None,
        Label::Neg => Some("a"),
        Label::Pos => Some("b"),
    });
    let labels = Labels::from_tokens(tokens);
    let mut options = TrainOptions::new(learner);
    options.params = serde_json::from_str(params).unwrap();
    options.gamma = Some(Gamma::Value(2.0));
    options.scaling = Some(ScalingChoice::NONE);
    options.compare = false;
    options.warp = warp;
    let trained = train(x.clone(), &labels, &options, &()).unwrap();
    assert!(matches!(trained.classifier.model, Model::Expansion { kernel: Kernel::Rbf { gamma: 2.0 }, .. }));
    trained.classifier.model.decision(x.view()).unwrap()
}

#[test]
fn the_deformed_kernel_turns_svc_and_rls_into_lapsvm_and_laprls_and_helps_others() {
    // [2]
    let warp = || Some(DeformedKernelParams { ratio: 50.0, ..Default::default() });
    let lap = r#"{"gamma_a": 0.02, "gamma_i": 1.0, "tolerance": 1e-6}"#;
    let svc = r#"{"c": 25, "fit_intercept": false, "tolerance": 1e-6}"#;
    near(&train_decisions("svc", svc, warp()), &train_decisions("lapsvm", lap, None), 1e-3);
    let rls = r#"{"c": 50, "fit_intercept": false}"#;
    near(&train_decisions("rls", rls, warp()), &train_decisions("laprls", lap, None), 1e-3);
    let (_, class) = moons(100, 0.12, 21);
    let wrong = |f: &[f64]| f.iter().zip(&class).filter(|(f, c)| (**f > 0.0) != (**c == 1)).count();
    // values of the deformed kernel are small, so costs must be large
    let costly = r#"{"c": 100, "finish": true}"#;
    for (learner, params) in [("lasvm", costly), ("tsvm", "{}"), ("da", "{}"), ("perceptron", "{}")] {
        let (plain, warped) =
            (train_decisions(learner, params, None), train_decisions(learner, params, warp()));
        assert!(wrong(&warped) < wrong(&plain), "{learner}: {} against {}", wrong(&warped), wrong(&plain));
    }
    let mut options = TrainOptions::new("linear");
    options.warp = warp();
    let labels = Labels::from_tokens(["a", "b"].into_iter().map(Some));
    let x = Matrix::dense(vec![0.0, 1.0], 2, 1).unwrap();
    let error = train(x, &labels, &options, &()).unwrap_err().to_string();
    assert_eq!(error, "parameter warp = 50: must be left out: learner linear has no kernel");
}

#[test]
fn paths_of_gamma_equal_separate_held_out_fits() {
    let (x, class) = moons(80, 0.2, 22);
    let t = label_first(&class, 10);
    let folds: Vec<Option<u32>> =
        (0..80).map(|i| (t.y[i] != Label::Unknown).then_some((i % 4) as u32)).collect();
    for name in ["lapsvm", "laprls"] {
        let learner = estimator(name).unwrap();
        let params = serde_json::from_str(r#"{"gamma": 2.0, "tolerance": 1e-6}"#).unwrap();
        for (tuned, values) in [("gamma_i", [0.0, 0.1, 10.0]), ("gamma_a", [0.001, 0.01, 1.0])] {
            let (x, problems) = (x.view(), from_ref(&t));
            let task = PathTask {
                params: &params,
                name: tuned,
                values: &values,
                x,
                problems,
                folds: &folds,
                graph: None,
            };
            let path = along_path(learner, &task, &()).unwrap();
            for (value, found) in values.iter().zip(&path) {
                let fit = learner.make(&task.at(*value)).unwrap();
                let (held, _) = held_out(&fit, x, problems, &folds, &()).unwrap();
                near(found, &held, 1e-3);
                assert!((0..80).all(|i| folds[i].is_some() || found[i] == 0.0));
            }
        }
    }
}

#[test]
fn a_path_of_kernel_parameters_deforms_the_kernel_for_each_value() {
    let (x, class) = moons(60, 0.2, 23);
    let t = label_first(&class, 10);
    let folds: Vec<Option<u32>> =
        (0..60).map(|i| (t.y[i] != Label::Unknown).then_some((i % 4) as u32)).collect();
    let (rls, mut options) = (estimator("rls").unwrap(), TrainOptions::new("rls"));
    options.warp = Some(DeformedKernelParams { ratio: 10.0, ..Default::default() });
    let mut held = |params: &str, name: &str, values: &[f64]| {
        let params = serde_json::from_str(params).unwrap();
        let (x, problems) = (x.view(), from_ref(&t));
        let task = PathTask { params: &params, name, values, x, problems, folds: &folds, graph: None };
        options.params.clone_from(&params);
        along_warped_path(rls, &task, &options, &()).unwrap()
    };
    let path = held(r#"{"kernel": "poly", "gamma": 1, "c": 1}"#, "degree", &[1.0, 3.0]);
    let one = held(r#"{"kernel": "poly", "gamma": 1, "degree": 1}"#, "c", &[1.0]);
    let three = held(r#"{"kernel": "poly", "gamma": 1, "degree": 3}"#, "c", &[1.0]);
    assert!(path[0] == one[0] && path[1] == three[0] && path[0] != path[1]);
}

fn iterative(loss: Loss) -> LapParams {
    LapParams {
        solver: Solver::Iterate,
        tolerance: 1e-9,
        early: false,
        max_steps: Some(5000),
        ..params(loss)
    }
}

#[test]
fn the_iterative_solver_converges_to_the_solution() {
    // the primal solution equals the dual one: the linear system of laprls, for dense, sparse and linear kernels
    let (x, class) = moons(70, 0.15, 23);
    let t = label_first(&class, 4);
    for kernel in [RBF, Kernel::Linear] {
        let p = LapParams { kernel, ..iterative(Loss::Square) };
        let m = dense(&penalty(&p.penalty, &x));
        let solution = laprls_by_elimination(&p, &x, &t, &m);
        near(&fit(&p, &x, &t), &solution, 1e-5);
        near(&fit(&p, &x.view().to_csr(), &t), &solution, 1e-5);
        // almost no cache: rows are computed again
        near(&fit(&LapParams { cache_bytes: 1, ..p }, &x, &t), &solution, 1e-5);
    }
    // squared hinge: α + Mf + C(f − y) = 0 with C on violating rows only; both kinds of rows occur
    for kernel in [RBF, Kernel::Linear] {
        let p = LapParams { kernel, gamma_a: 0.001, gamma_i: 0.01, ..iterative(Loss::Hinge) };
        let t = label_first(&class, 12);
        let fitted = p.fit(x.view(), from_ref(&t), &()).unwrap();
        let f = scores(&fitted);
        let mf = penalty(&p.penalty, &x).apply(f);
        let k = kernel_matrix(&x, kernel);
        let mut alpha: Vec<f64> = mf.iter().map(|v| -10.0 * v).collect();
        let mut violating = 0;
        for i in t.used() {
            if t.y[i].sign() * f[i] < 1.0 {
                alpha[i] -= 1000.0 * (f[i] - t.y[i].sign());
                violating += 1;
            }
        }
        assert!(violating > 0 && violating < 24, "{violating}");
        let back: Vec<f64> = k.iter().map(|row| row.iter().zip(&alpha).map(|(k, a)| k * a).sum()).collect();
        near(&back, f, 1e-3);
    }
}

#[test]
fn the_iterative_solver_stops_early_when_labels_are_stable() {
    let (x, class) = moons(300, 0.1, 24);
    let t = label_first(&class, 5);
    for loss in [Loss::Hinge, Loss::Square] {
        let long = iterative(loss).fit(x.view(), from_ref(&t), &()).unwrap();
        let early = LapParams { early: true, ..iterative(loss) }.fit(x.view(), from_ref(&t), &()).unwrap();
        assert!(early.reports[0].steps < long.reports[0].steps);
        let other = scores(&early).iter().zip(scores(&long)).filter(|(a, b)| (**a > 0.0) != (**b > 0.0));
        assert!(other.count() <= 3);
        let capped =
            LapParams { max_steps: Some(2), ..iterative(loss) }.fit(x.view(), from_ref(&t), &()).unwrap();
        assert_eq!((capped.reports[0].steps, capped.reports[0].exit), (2, Exit::Limit));
        let stopped = iterative(loss).fit(x.view(), from_ref(&t), &StopAfter(20.into())).unwrap();
        assert_eq!(stopped.reports[0].exit, Exit::Interrupted);
        assert!(stopped.model.check().is_ok());
    }
    let error =
        LapParams { fit_intercept: true, ..iterative(Loss::Hinge) }.fit(x.view(), &[t], &()).unwrap_err();
    assert_eq!(error.to_string(), "parameter fit_intercept = true: must be false with solver iterate");
}
