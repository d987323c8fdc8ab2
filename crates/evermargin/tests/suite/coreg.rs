//! Multi-view estimators against dense algebra written from the formulas, in their limit cases, and on the toy data of the
//! source.

use evermargin::data::Label;
use evermargin::datasets::{GenerateParams, generate};
use evermargin::estimators::baselines::cotraining::{BaseLearner, CoTrainingParams};
use evermargin::estimators::manifold::landmark_space::LandmarkSpace;
use evermargin::estimators::manifold::lap::{LapParams, Loss, ObjectiveScaling};
use evermargin::estimators::manifold::penalty::PenaltyParams;
use evermargin::estimators::multiview::colap::{CoLapParams, Coupling};
use evermargin::estimators::multiview::coreg::{CoRlsParams, LossOf, solve};
use evermargin::estimators::multiview::coupled_views::{CoupledViews, Form, Sample};
use evermargin::estimators::multiview::views::{PerView, ViewList};
use evermargin::estimators::supervised::rls::RlsParams;
use evermargin::estimators::transductive::Ratio;
use evermargin::estimators::{Fit, Fitted, Targets};
use evermargin::graph::{Graph, GraphParams, Weights};
use evermargin::kernel::Kernel;
use evermargin::model::{Columns, Model, Part};
use evermargin::solver::{Exit, Progress, Watch};
use evermargin::{Labels, Matrix};
use rand::{RngExt, SeedableRng};
use std::slice::from_ref;

const RBF: Kernel = Kernel::Rbf { gamma: 0.8 };

/// `n` rows of `d` columns, the first `l` labeled.
fn sample(n: usize, d: usize, l: usize, seed: u64) -> (Matrix, Targets) {
    let mut rng = rand_pcg::Pcg64::seed_from_u64(seed);
    let values: Vec<f64> = (0..n * d).map(|_| rng.random_range(-1.0..1.0)).collect();
    let sign = |i: usize| if values[i * d] + values[i * d + d - 1] > 0.0 { Label::Pos } else { Label::Neg };
    let mut y: Vec<Label> = (0..n).map(|i| if i < l { sign(i) } else { Label::Unknown }).collect();
    (y[0], y[1]) = (Label::Pos, Label::Neg);
    (Matrix::dense(values, n, d).unwrap(), Targets { y, cost: vec![1.0; n] })
}

fn list(text: &str) -> ViewList {
    ViewList(text.into())
}

fn scores(fitted: &Fitted) -> &[f64] {
    &fitted.transduced.as_ref().unwrap().scores[0]
}

fn near(a: &[f64], b: &[f64], within: f64) {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).enumerate().for_each(|(i, (a, b))| assert!((a - b).abs() < within, "{i}: {a} {b}"));
}

/// A⁻¹B by Gaussian elimination with pivoting; a deliberately simple reference.
fn eliminate(mut a: Vec<Vec<f64>>, mut b: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let n = a.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in 0..n {
            if i != k {
                let factor = a[i][k] / a[k][k];
                let (row, right) = (a[k].clone(), b[k].clone());
                a[i].iter_mut().zip(&row).for_each(|(x, y)| *x -= factor * y);
                b[i].iter_mut().zip(&right).for_each(|(x, y)| *x -= factor * y);
            }
        }
    }
    (0..n).map(|k| b[k].iter().map(|v| v / a[k][k]).collect()).collect()
}

fn gram(x: &Matrix, kernel: Kernel) -> Vec<Vec<f64>> {
    let v = x.view();
    (0..v.rows()).map(|i| (0..v.rows()).map(|j| kernel.eval(v.row(i), v.row(j))).collect()).collect()
}

fn times(k: &[Vec<f64>], a: &[f64]) -> Vec<f64> {
    k.iter().map(|row| row.iter().zip(a).map(|(k, a)| k * a).sum()).collect()
}

/// α and β of the coupled system of section 4.2.
fn coupled_system(
    k: [&[Vec<f64>]; 2],
    targets: &Targets,
    gamma: [f64; 2],
    gamma_c: f64,
    mu: f64,
) -> [Vec<f64>; 2] {
    let n = targets.y.len();
    let l = targets.used().len() as f64;
    let known = |i: usize| f64::from(u8::from(targets.y[i] != Label::Unknown));
    let c = gamma_c / n as f64;
    let (mut a, mut b) = (vec![vec![0.0; 2 * n]; 2 * n], vec![vec![0.0]; 2 * n]);
    for i in 0..n {
        for j in 0..n {
            let one = f64::from(u8::from(i == j));
            a[i][j] = (known(i) / l + c) * k[0][i][j] + gamma[0] * one;
            a[i][n + j] = -c * k[1][i][j];
            a[n + i][n + j] = (mu * known(i) / l + c) * k[1][i][j] + gamma[1] * one;
            a[n + i][j] = -c * k[0][i][j];
        }
        b[i][0] = targets.y[i].sign() / l;
        b[n + i][0] = mu * targets.y[i].sign() / l;
    }
    let solution: Vec<f64> = eliminate(a, b).into_iter().map(|r| r[0]).collect();
    [solution[..n].to_vec(), solution[n..].to_vec()]
}

fn corls(views: &str, kernel: Kernel) -> CoRlsParams {
    CoRlsParams { views: list(views), kernel, center: false, gamma_c: 0.7, ..Default::default() }
}

#[test]
fn corls_solves_the_coupled_system() {
    let (x, targets) = sample(24, 5, 7, 1);
    let parts = [Columns(vec![(0, 2)]).of(x.view()), Columns(vec![(2, 5)]).of(x.view())];
    let k = [gram(&parts[0], Kernel::Linear), gram(&parts[1], Kernel::Linear)];
    let [alpha, beta] = coupled_system([&k[0], &k[1]], &targets, [0.05, 0.2], 0.7, 1.5);
    let (f, g) = (times(&k[0], &alpha), times(&k[1], &beta));
    let open = (7..24).map(|i| 0.05 * alpha[i] + 0.2 * beta[i]);
    assert!(open.into_iter().all(|v| v.abs() < 1e-12), "gamma_1 alpha = -gamma_2 beta on unlabeled rows");
    let params = CoRlsParams {
        gamma_a: PerView(vec![0.05, 0.2]),
        mu: PerView(vec![1.0, 1.5]),
        ..corls("1..2;3..5", Kernel::Linear)
    };
    for (view, wanted) in
        [(1, f.clone()), (2, g.clone()), (0, f.iter().zip(&g).map(|(f, g)| 0.5 * (f + g)).collect())]
    {
        let fitted = CoRlsParams { view, ..params.clone() }.fit(x.view(), from_ref(&targets), &()).unwrap();
        near(scores(&fitted), &wanted, 1e-9);
        near(&fitted.model.decision(x.view()).unwrap(), &wanted, 1e-9);
    }
}

/// With a nonlinear kernel the model is in single precision; otherwise the solution is the same.
#[test]
fn views_may_have_different_kernels() {
    let (x, targets) = sample(20, 5, 6, 2);
    let parts = [Columns(vec![(0, 2)]).of(x.view()), Columns(vec![(2, 5)]).of(x.view())];
    let k = [gram(&parts[0], RBF), gram(&parts[1], Kernel::Linear)];
    let [alpha, beta] = coupled_system([&k[0], &k[1]], &targets, [0.05, 0.05], 0.7, 1.0);
    let mean: Vec<f64> =
        times(&k[0], &alpha).iter().zip(times(&k[1], &beta)).map(|(f, g)| 0.5 * (f + g)).collect();
    let params = CoRlsParams {
        kernels: "rbf=0.8;linear".into(),
        gamma_a: PerView(vec![0.05]),
        ..corls("1..2;3..5", RBF)
    };
    let fitted = params.fit(x.view(), &[targets], &()).unwrap();
    assert!(matches!(fitted.model, Model::Views { .. }));
    near(scores(&fitted), &mean, 1e-5); // Σ|coefficients| is about 10
}

#[test]
fn without_coupling_each_view_is_a_separate_least_squares_fit() {
    let (x, targets) = sample(30, 5, 9, 3);
    let problems = [targets];
    let apart = CoRlsParams { gamma_c: 0.0, ..corls("1..2;3..5", Kernel::Linear) };
    let c = 1.0 / (0.01 * 9.0);
    for (view, columns) in [(1, Columns(vec![(0, 2)])), (2, Columns(vec![(2, 5)]))] {
        let fitted = CoRlsParams { view, ..apart.clone() }.fit(x.view(), &problems, &()).unwrap();
        let own = columns.of(x.view());
        let rls = RlsParams { kernel: Kernel::Linear, c, fit_intercept: false, ..Default::default() };
        let wanted = rls.fit(own.view(), &problems, &()).unwrap().model.decision(own.view()).unwrap();
        near(scores(&fitted), &wanted, 1e-9);
    }
}

#[test]
fn a_single_view_equals_the_single_view_estimator() {
    let (x, targets) = sample(40, 3, 8, 4);
    let problems = [targets];
    let c = 1.0 / (0.01 * 8.0);
    let rls = RlsParams { kernel: RBF, c, fit_intercept: false, ..Default::default() };
    let wanted = rls.fit(x.view(), &problems, &()).unwrap().model.decision(x.view()).unwrap();
    let fitted = corls("all", RBF).fit(x.view(), &problems, &()).unwrap();
    near(scores(&fitted), &wanted, 1e-4); // single precision, Σ|α| about 50

    for loss in [Loss::Hinge, Loss::Square] {
        for (coupling, scaling) in [
            (Coupling::Laplacian, ObjectiveScaling::Raw),
            (Coupling::Kernel, ObjectiveScaling::Raw),
            (Coupling::Kernel, ObjectiveScaling::Paper),
        ] {
            let co = CoLapParams {
                loss,
                coupling,
                objective_scaling: scaling,
                kernel: RBF,
                fit_intercept: true,
                ..Default::default()
            };
            let lap = LapParams {
                loss,
                objective_scaling: scaling,
                kernel: RBF,
                fit_intercept: true,
                ..Default::default()
            };
            let a = co.fit(x.view(), &problems, &()).unwrap();
            let b = lap.fit(x.view(), &problems, &()).unwrap();
            assert_eq!(a.model, b.model, "not bit-identical: {loss:?} {coupling:?}");
        }
    }
}

#[test]
fn swapping_the_views_swaps_the_solutions() {
    let (x, targets) = sample(24, 5, 7, 5);
    let problems = [targets];
    let fit = |views: &str, gamma: [f64; 2], mu: [f64; 2], view| {
        let (gamma_a, mu) = (PerView(gamma.into()), PerView(mu.into()));
        let params = CoRlsParams { gamma_a, mu, view, ..corls(views, Kernel::Linear) };
        scores(&params.fit(x.view(), &problems, &()).unwrap()).to_vec()
    };
    for (one, other) in [(1, 2), (2, 1), (0, 0)] {
        let a = fit("1..2;3..5", [0.1, 0.3], [1.0, 0.5], one);
        near(&a, &fit("3..5;1..2", [0.3, 0.1], [0.5, 1.0], other), 1e-9);
    }
}

/// 𝒦 = s − μdᵀ[I + μ(G¹ + G²/ν)]⁻¹d with s = K¹ + K²/ν, d = K¹ − K²/ν (equation 4.3).
fn coregularization_kernel(k: [&[Vec<f64>]; 2], nu: f64, mu: f64) -> Vec<Vec<f64>> {
    let n = k[0].len();
    let at = |i: usize, j: usize| (k[0][i][j] + k[1][i][j] / nu, k[0][i][j] - k[1][i][j] / nu);
    let s: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| at(i, j).0).collect()).collect();
    let d: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| at(i, j).1).collect()).collect();
    let mut inner: Vec<Vec<f64>> = s.iter().map(|r| r.iter().map(|v| mu * v).collect()).collect();
    (0..n).for_each(|i| inner[i][i] += 1.0);
    let solved = eliminate(inner, d.clone());
    let product = |i: usize, j: usize| (0..n).map(|t| d[t][i] * solved[t][j]).sum::<f64>();
    (0..n).map(|i| (0..n).map(|j| s[i][j] - mu * product(i, j)).collect()).collect()
}

#[test]
fn coupled_views_give_the_coregularization_kernel_of_the_source() {
    let (x, _) = sample(18, 5, 4, 6);
    let parts = [Columns(vec![(0, 2)]).of(x.view()), Columns(vec![(2, 5)]).of(x.view())];
    for (kernels, nu, mu) in
        [([RBF, Kernel::Linear], 2.5, 0.7), ([RBF, RBF], 1.0, 30.0), ([RBF, RBF], 0.3, 0.0)]
    {
        let k = [gram(&parts[0], kernels[0]), gram(&parts[1], kernels[1])];
        let wanted = coregularization_kernel([&k[0], &k[1]], nu, mu);
        let spans: Vec<LandmarkSpace> = parts
            .iter()
            .zip(kernels)
            .map(|(p, k)| LandmarkSpace::new(p.view(), k, 18, 1, &()).unwrap())
            .collect();
        let coupled_views = CoupledViews::new(&spans, None);
        let cost = vec![1.0; 18];
        let form = Form { ridge: vec![1.0, nu], along: vec![None, None], agreement: mu, cost: &cost };
        let samples: Vec<Sample> = (0..18).map(|row| Sample { row, view: None }).collect();
        let found = coupled_views.coupled(&form).unwrap().gram(&samples).unwrap();
        for (i, wanted) in wanted.iter().enumerate() {
            let mut row = vec![0.0; 18];
            found.view().row(i).for_each(|c, v| row[c] = v);
            near(&row, wanted, 1e-8); // the landmark space omits up to 1e-9 of K(x, x)
        }
    }
}

#[test]
fn growing_agreement_leads_from_the_sum_kernel_to_equal_views() {
    let (x, targets) = sample(20, 4, 6, 7);
    let parts = [Columns(vec![(0, 2)]).of(x.view()), Columns(vec![(2, 4)]).of(x.view())];
    let spans: Vec<LandmarkSpace> =
        parts.iter().map(|p| LandmarkSpace::new(p.view(), RBF, 20, 1, &()).unwrap()).collect();
    let coupled_views = CoupledViews::new(&spans, None);
    let machine =
        RlsParams { kernel: Kernel::Precomputed, c: 10.0, fit_intercept: false, ..Default::default() };
    let outputs = |mu: f64| {
        let form = Form { ridge: vec![1.0; 2], along: vec![None, None], agreement: mu, cost: &targets.cost };
        let solved = solve(&coupled_views, &form, &LossOf::Sum, from_ref(&targets), &machine, &()).unwrap();
        let w = solved.functions[0].concat();
        (coupled_views.outputs(0, &w), coupled_views.outputs(1, &w))
    };
    let apart =
        |(f, g): &(Vec<f64>, Vec<f64>)| f.iter().zip(g).map(|(f, g)| (f - g).abs()).fold(0.0, f64::max);
    // μ = 0: least squares with K¹ + K²
    let k = [gram(&parts[0], RBF), gram(&parts[1], RBF)];
    let sum: Vec<Vec<f64>> = (0..20).map(|i| (0..20).map(|j| k[0][i][j] + k[1][i][j]).collect()).collect();
    let system: Vec<Vec<f64>> =
        (0..6).map(|i| (0..6).map(|j| sum[i][j] + if i == j { 0.1 } else { 0.0 }).collect()).collect();
    let y = (0..6).map(|i| vec![targets.y[i].sign()]).collect();
    let mut alpha: Vec<f64> = eliminate(system, y).into_iter().map(|r| r[0]).collect();
    alpha.resize(20, 0.0);
    let (f, g) = outputs(0.0);
    let total: Vec<f64> = f.iter().zip(&g).map(|(f, g)| f + g).collect();
    near(&total, &times(&sum, &alpha), 1e-7);
    assert!(apart(&(f, g)) > 0.1);
    let far = [0.0, 1.0, 100.0, 1e4, 1e8].map(|mu| apart(&outputs(mu)));
    assert!(far.windows(2).all(|w| w[1] < w[0]), "{far:?}");
    assert!(far[4] < 1e-5, "{far:?}");
}

fn colap(coupling: Coupling, loss: Loss, kernel: Kernel) -> CoLapParams {
    let penalty = PenaltyParams { n_neighbors: 4, ..Default::default() };
    CoLapParams { views: list("1..2;3..5"), coupling, loss, kernel, penalty, ..Default::default() }
}

/// The Laplacian of a view's graph, dense.
fn laplacian(x: &Matrix) -> Vec<Vec<f64>> {
    let params = GraphParams { n_neighbors: 4, weights: Weights::Heat, ..Default::default() };
    let graph = Graph::nearest(x.view(), &params, &()).unwrap().unwrap();
    let (n, degree) = (graph.len(), graph.degrees());
    let mut l = vec![vec![0.0; n]; n];
    for (i, row) in l.iter_mut().enumerate() {
        row[i] = 1.0;
        graph.row(i).for_each(|(j, w)| row[j] -= w / (degree[i] * degree[j]).sqrt());
    }
    l
}

/// (K⁻¹ + M)⁻¹ = (I + KM)⁻¹K.
fn deformed_kernel(k: &[Vec<f64>], l: &[Vec<f64>], ratio: f64) -> Vec<Vec<f64>> {
    let n = k.len();
    let product = |i: usize, j: usize| (0..n).map(|t| k[i][t] * l[t][j]).sum::<f64>();
    let entry = |i: usize, j: usize| ratio * product(i, j) + f64::from(u8::from(i == j));
    eliminate((0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect(), k.to_vec())
}

/// Outputs of least squares with cost C on the first l rows.
fn least_squares(k: &[Vec<f64>], targets: &Targets, c: f64) -> Vec<f64> {
    let l = targets.used().len();
    let entry = |i: usize, j: usize| k[i][j] + if i == j { 1.0 / c } else { 0.0 };
    let system = (0..l).map(|i| (0..l).map(|j| entry(i, j)).collect()).collect();
    let y = (0..l).map(|i| vec![targets.y[i].sign()]).collect();
    let mut alpha: Vec<f64> = eliminate(system, y).into_iter().map(|r| r[0]).collect();
    alpha.resize(k.len(), 0.0);
    times(k, &alpha)
}

#[test]
fn a_joint_laplacian_is_the_weighted_mean_of_the_view_laplacians() {
    let (x, targets) = sample(24, 5, 7, 8);
    let parts = [Columns(vec![(0, 2)]).of(x.view()), Columns(vec![(2, 5)]).of(x.view())];
    let l = [laplacian(&parts[0]), laplacian(&parts[1])];
    let joint: Vec<Vec<f64>> =
        (0..24).map(|i| (0..24).map(|j| 0.25 * l[0][i][j] + 0.75 * l[1][i][j]).collect()).collect();
    let params = CoLapParams {
        shares: PerView(vec![1.0, 3.0]),
        gamma_a: PerView(vec![0.1, 0.2]),
        gamma_i: 0.3,
        ..colap(Coupling::Laplacian, Loss::Square, Kernel::Linear)
    };
    let mut mean = vec![0.0; 24];
    for (v, gamma) in [(0, 0.1), (1, 0.2)] {
        let k = deformed_kernel(&gram(&parts[v], Kernel::Linear), &joint, 0.3 / gamma);
        let wanted = least_squares(&k, &targets, 1.0 / gamma);
        let one = CoLapParams { view: v + 1, ..params.clone() };
        near(scores(&one.fit(x.view(), from_ref(&targets), &()).unwrap()), &wanted, 1e-9);
        mean.iter_mut().zip(&wanted).for_each(|(m, f)| *m += 0.5 * f);
    }
    near(scores(&params.fit(x.view(), &[targets], &()).unwrap()), &mean, 1e-9);
}

/// Manifold co-regularization: the co-regularization kernel (equation 4.3) of deformed kernels.
#[test]
fn manifold_coregularization_uses_the_kernel_of_deformed_kernels() {
    let (x, targets) = sample(24, 5, 7, 9);
    let parts = [Columns(vec![(0, 2)]).of(x.view()), Columns(vec![(2, 5)]).of(x.view())];
    for gamma_i in [0.0, 0.3] {
        let params = CoLapParams {
            gamma_a: PerView(vec![0.1, 0.2]),
            gamma_i,
            gamma_c: 0.4,
            ..colap(Coupling::Kernel, Loss::Square, Kernel::Linear)
        };
        // in units of 0.1: |f₁|² + 10γ_I f₁ᵀL₁f₁ + 2(|f₂|² + 5γ_I f₂ᵀL₂f₂) + 4Σ(f₁ − f₂)²
        let k = [
            deformed_kernel(&gram(&parts[0], Kernel::Linear), &laplacian(&parts[0]), gamma_i / 0.1),
            deformed_kernel(&gram(&parts[1], Kernel::Linear), &laplacian(&parts[1]), gamma_i / 0.2),
        ];
        let kernel = coregularization_kernel([&k[0], &k[1]], 2.0, 4.0);
        let wanted = least_squares(&kernel, &targets, 10.0);
        let fitted = params.fit(x.view(), from_ref(&targets), &()).unwrap();
        near(scores(&fitted), &wanted, 1e-8);
        // f¹ + f² = f; the output of a single view is doubled, to be on the scale of the sum
        let alone = |view| {
            let fitted =
                CoLapParams { view, ..params.clone() }.fit(x.view(), from_ref(&targets), &()).unwrap();
            scores(&fitted).iter().map(|f| 0.5 * f).collect::<Vec<f64>>()
        };
        let sum: Vec<f64> = alone(1).iter().zip(alone(2)).map(|(f, g)| f + g).collect();
        near(&sum, &wanted, 1e-8);
    }
}

/// All multi-view estimators with two views, by name.
fn all_estimators(kernel: Kernel) -> Vec<(&'static str, Box<dyn Fit>)> {
    let views = list("1..2;3..5");
    let mut found: Vec<(&'static str, Box<dyn Fit>)> =
        vec![("corls", Box::new(CoRlsParams { center: true, ..corls("1..2;3..5", kernel) }))];
    for coupling in [Coupling::Laplacian, Coupling::Kernel] {
        for loss in [Loss::Hinge, Loss::Square] {
            found.push(("colap", Box::new(CoLapParams { tolerance: 1e-8, ..colap(coupling, loss, kernel) })));
        }
    }
    for machine in [BaseLearner::Svc, BaseLearner::Rls] {
        let params = CoTrainingParams { views: views.clone(), kernel, machine, ..Default::default() };
        found.push(("cotraining", Box::new(CoTrainingParams { tolerance: 1e-8, rounds: 2, ..params })));
    }
    found
}

#[test]
fn flipped_labels_negate_the_scores() {
    let (x, mut targets) = sample(40, 5, 8, 10);
    (0..8).for_each(|i| targets.y[i] = if i % 2 == 0 { Label::Pos } else { Label::Neg });
    let mut flipped = targets.clone();
    flipped.y.iter_mut().for_each(|y| {
        *y = match y {
            Label::Pos => Label::Neg,
            Label::Neg => Label::Pos,
            Label::Unknown => Label::Unknown,
        }
    });
    for (name, fit) in all_estimators(Kernel::Linear) {
        let a = fit.fit(x.view(), from_ref(&targets), &()).unwrap();
        let b = fit.fit(x.view(), from_ref(&flipped), &()).unwrap();
        let negative: Vec<f64> = scores(&b).iter().map(|f| -f).collect();
        near(scores(&a), &negative, if name == "cotraining" { 1e-4 } else { 1e-6 });
    }
}

/// Σ|coefficients|, at least 1: single-precision decisions are accurate to about 1e-7 of it.
fn coefficient_sum(model: &Model) -> f64 {
    let own = match model {
        Model::Linear { .. } => 0.0,
        Model::Expansion { coef, .. } => coef.iter().flatten().map(|c| c.abs()).sum(),
        Model::Views { parts, .. } => parts.iter().map(|p| coefficient_sum(&p.model)).sum(),
    };
    own.max(1.0)
}

#[test]
fn results_do_not_depend_on_storage_or_number_of_threads() {
    let (x, targets) = sample(150, 5, 20, 11);
    let sparse = x.view().to_csr();
    for kernel in [Kernel::Linear, RBF] {
        for (name, fit) in all_estimators(kernel) {
            let problems = [targets.clone()];
            let run = |x: &Matrix, threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| fit.fit(x.view(), &problems, &()).unwrap())
            };
            let one = run(&x, 1);
            for threads in [2, 4] {
                assert_eq!(one.model, run(&x, threads).model, "{name}");
            }
            let other = run(&sparse, 1);
            near(scores(&one), scores(&other), 1e-6 * coefficient_sum(&one.model));
        }
    }
}

#[test]
fn weight_two_equals_two_copies_and_weight_zero_equals_removal() {
    // binary graphs count copies as neighbors, so this uses corls, and kernel coupling without a graph
    let (x, targets) = sample(30, 5, 8, 12);
    let twice: Vec<usize> = (0..30).chain([0, 3, 20]).collect();
    let copies = targets.select(&twice);
    let doubled = x.view().select(&twice);
    let mut weighted = targets;
    [0, 3, 20].into_iter().for_each(|i| weighted.cost[i] = 2.0);
    let ratio = Ratio::Given(vec![0.4]);
    let learners: [Box<dyn Fit>; 3] = [
        Box::new(CoRlsParams { center: true, balance: false, ratio, ..corls("1..2;3..5", Kernel::Linear) }),
        Box::new(CoLapParams { gamma_i: 0.0, ..colap(Coupling::Kernel, Loss::Square, Kernel::Linear) }),
        Box::new(CoLapParams {
            gamma_i: 0.0,
            tolerance: 1e-9,
            ..colap(Coupling::Kernel, Loss::Hinge, Kernel::Linear)
        }),
    ];
    for fit in learners {
        let a = fit.fit(x.view(), from_ref(&weighted), &()).unwrap();
        let b = fit.fit(doubled.view(), from_ref(&copies), &()).unwrap();
        near(scores(&a), &scores(&b)[..30], 1e-5);
    }
    // a row of weight 0 does not influence the fit, but is scored
    let mut absent = weighted.clone();
    absent.cost[25] = 0.0;
    let kept: Vec<usize> = (0..30).filter(|i| *i != 25).collect();
    let fit = corls("1..2;3..5", Kernel::Linear);
    let a = fit.fit(x.view(), &[absent], &()).unwrap();
    let b = fit.fit(x.view().select(&kept).view(), &[weighted.select(&kept)], &()).unwrap();
    let seen: Vec<f64> = kept.iter().map(|&i| scores(&a)[i]).collect();
    near(&seen, scores(&b), 1e-9);
}

#[test]
fn without_unlabeled_rows_the_model_equals_the_supervised_one() {
    let (x, targets) = sample(25, 5, 25, 13);
    for kernel in [Kernel::Linear, RBF] {
        for (name, fit) in all_estimators(kernel) {
            let a = fit.fit(x.view(), from_ref(&targets), &()).unwrap();
            let b = fit.supervised().unwrap().fit(x.view(), from_ref(&targets), &()).unwrap();
            assert_eq!(a.model, b.model, "{name}");
        }
    }
}

#[test]
fn centered_outputs_have_mean_zero_in_every_view() {
    let (x, targets) = sample(40, 5, 6, 14);
    for kernel in [Kernel::Linear, RBF] {
        for view in [0, 1, 2] {
            let params = CoRlsParams { center: true, view, ..corls("1..2;3..5", kernel) };
            let fitted = params.fit(x.view(), from_ref(&targets), &()).unwrap();
            let mean = scores(&fitted).iter().sum::<f64>() / 40.0;
            assert!(mean.abs() < 1e-5, "{mean}");
            assert!(scores(&fitted).iter().any(|f| f.abs() > 0.01));
        }
    }
}

#[test]
fn balance_gives_the_requested_fraction_of_positives() {
    let (x, targets) = sample(50, 5, 10, 15);
    let ratio = Ratio::Given(vec![0.3]);
    let learners: [Box<dyn Fit>; 2] = [
        Box::new(CoRlsParams { balance: true, ratio: ratio.clone(), ..corls("1..2;3..5", RBF) }),
        Box::new(CoLapParams { balance: true, ratio, ..colap(Coupling::Kernel, Loss::Hinge, RBF) }),
    ];
    for fit in learners {
        let fitted = fit.fit(x.view(), from_ref(&targets), &()).unwrap();
        assert_eq!(scores(&fitted)[10..].iter().filter(|f| **f > 0.0).count(), 12);
        let model = fitted.model.decision(x.view()).unwrap();
        assert_eq!(model[10..].iter().filter(|f| **f > 0.0).count(), 12);
    }
}

#[test]
fn decisions_without_a_view_are_the_mean_of_the_other_views() {
    let (x, targets) = sample(30, 5, 10, 16);
    let params = CoRlsParams { center: true, ..corls("1..2;3..4;5", RBF) };
    let views = |view| CoRlsParams { view, ..params.clone() }.fit(x.view(), from_ref(&targets), &()).unwrap();
    let mut values = vec![0.0; 30 * 5];
    (0..30).for_each(|i| x.view().row(i).for_each(|c, v| values[i * 5 + c] = v));
    let without = |columns: &[usize]| {
        let mut part = values.clone();
        part.iter_mut().enumerate().filter(|(k, _)| columns.contains(&(k % 5))).for_each(|(_, v)| *v = 0.0);
        Matrix::dense(part, 30, 5).unwrap()
    };
    let model = views(0).model;
    let alone: Vec<Vec<f64>> = (1..=3).map(|v| views(v).model.decision(x.view()).unwrap()).collect();
    let mean = |of: &[usize]| -> Vec<f64> {
        (0..30).map(|i| of.iter().map(|&v| alone[v][i]).sum::<f64>() / of.len() as f64).collect()
    };
    for (missing, left) in
        [(vec![], vec![0, 1, 2]), (vec![0, 1], vec![1, 2]), (vec![4], vec![0, 1]), (vec![2, 3, 4], vec![0])]
    {
        for x in [without(&missing), without(&missing).view().to_csr()] {
            near(&model.decision(x.view()).unwrap(), &mean(&left), 1e-5);
        }
    }
    assert!(model.decision(without(&[0, 1, 2, 3, 4]).view()).unwrap().iter().all(|f| f.is_finite()));
}

#[test]
fn refuses_invalid_view_models_and_merges_linear_views() {
    let (x, targets) = sample(20, 5, 6, 17);
    let linear = corls("4..5,1;2..3", Kernel::Linear).fit(x.view(), from_ref(&targets), &()).unwrap();
    assert!(matches!(linear.model, Model::Linear { .. }));
    let fitted = corls("4..5,1;2..3", RBF).fit(x.view(), &[targets], &()).unwrap();
    fitted.model.check().unwrap();
    let Model::Views { parts, cols, bias } = fitted.model else { panic!("views") };
    assert_eq!((parts[0].columns.clone(), cols, bias.len()), (Columns(vec![(3, 5), (0, 1)]), 5, 1));
    let broken = |parts: Vec<Part>, cols: usize, bias: Vec<f64>| {
        Model::Views { parts, cols, bias }.check().unwrap_err().to_string()
    };
    assert_eq!(
        broken(parts.clone(), 4, bias.clone()),
        "model: a view has 3 of 4 columns, but its model has 3 columns"
    );
    assert_eq!(broken(Vec::new(), 5, bias.clone()), "model: the list of views is empty");
    assert_eq!(broken(parts.clone(), 5, vec![0.0; 2]), "model: a view with 1 outputs but 2 intercepts");
    let nested = Part { columns: Columns::all(5), model: Model::Views { parts: parts.clone(), cols, bias } };
    assert_eq!(broken(vec![nested], 5, vec![0.0]), "model: a view must not contain views");
    let mut wide = parts;
    wide[0].columns = Columns(vec![(0, usize::MAX), (3, usize::MAX)]);
    assert!(broken(wide, 5, vec![0.0]).starts_with("model: a view has"));
}

#[test]
fn refuses_invalid_parameters_and_data() {
    let (x, targets) = sample(20, 5, 6, 18);
    let error_of = |fit: &dyn Fit| fit.fit(x.view(), from_ref(&targets), &()).unwrap_err().to_string();
    for text in ["", "1..6", "0..2;3..5", "3..2", "1..2;", "1-2", "a..b", "1..2;3..99999999999999999999999"] {
        assert_eq!(
            error_of(&corls(text, RBF)),
            format!(
                "parameter views = {text}: must be all, or the columns of each view from 1 on, like \
                 1..3000;3001..4840, among the 5 columns of the data"
            )
        );
    }
    let base = corls("1..2;3..5", RBF);
    let kernels = |kernels: &str| CoRlsParams { kernels: kernels.into(), ..base.clone() };
    for text in ["rbf", "rbf;rbf;rbf", "rbf;poly", "rbf=x;linear", "linear=2;rbf"] {
        assert_eq!(
            error_of(&kernels(text)),
            format!(
                "parameter kernels = {text}: must be same, or for each view linear, rbf or rbf=GAMMA, like \
                 rbf;linear (2 views)"
            )
        );
    }
    assert_eq!(error_of(&kernels("rbf=-1;linear")), "parameter gamma = -1: must be a positive number");
    for (params, text) in [
        (
            CoRlsParams { gamma_c: -1.0, ..base.clone() },
            "gamma_c = -1: must be 0 (views not coupled) or a number up to 1e15",
        ),
        (
            CoRlsParams { gamma_c: f64::NAN, ..base.clone() },
            "gamma_c = NaN: must be 0 (views not coupled) or a number up to 1e15",
        ),
        (
            CoRlsParams { gamma_a: PerView(vec![1.0, 0.0]), ..base.clone() },
            "gamma_a = 1,0: must be a number above 0, at most 1e15, or a list of them, one per view",
        ),
        (
            CoRlsParams { gamma_a: PerView(vec![1.0; 3]), ..base.clone() },
            "gamma_a = 1,1,1: must be one number, or a list of 2, one per view",
        ),
        (
            CoRlsParams { gamma_a: PerView(vec![]), ..base.clone() },
            "gamma_a = : must be one number, or a list of 2, one per view",
        ),
        (
            CoRlsParams { mu: PerView(vec![0.0]), ..base.clone() },
            "mu = 0: must be numbers from 0 to 1e15, not all 0",
        ),
        (
            CoRlsParams { view: 3, ..base.clone() },
            "view = 3: must be 0 (all) or the number of a view, at most 2",
        ),
        (
            CoRlsParams { kernel: Kernel::Precomputed, ..base.clone() },
            "kernel = precomputed: must be a kernel of samples: views have columns",
        ),
    ] {
        assert_eq!(error_of(&params), format!("parameter {text}"));
    }
    let co = colap(Coupling::Laplacian, Loss::Hinge, RBF);
    for (params, text) in [
        (
            CoLapParams { gamma_i: -1.0, ..co.clone() },
            "gamma_i = -1: must be 0 (labels alone) or a number up to 1e15",
        ),
        (
            CoLapParams { shares: PerView(vec![0.0, 0.0]), ..co.clone() },
            "shares = 0: must be numbers from 0 to 1e15, not all 0",
        ),
        (CoLapParams { tolerance: 0.0, ..co.clone() }, "tolerance = 0: must be a number between 0 and 1"),
    ] {
        assert_eq!(error_of(&params), format!("parameter {text}"));
    }
    let grow = CoTrainingParams { grow: 1, ..Default::default() };
    assert_eq!(error_of(&grow), "parameter grow = 1: must be 2 or more: one of each class");
    let one = Targets { y: vec![Label::Pos; 20], cost: vec![1.0; 20] };
    for (_, fit) in all_estimators(RBF) {
        let error = fit.fit(x.view(), from_ref(&one), &()).unwrap_err().to_string();
        assert_eq!(error, "training needs labeled rows of two classes; only one class (or none) has any");
        let mut bad = targets.clone();
        bad.cost[3] = f64::NAN;
        let error = fit.fit(x.view(), &[bad], &()).unwrap_err().to_string();
        assert_eq!(error, "weight NaN of row 4: must be a finite number, 0 or more");
    }
}

/// Stops training after a number of calls.
struct StopAfter(std::sync::atomic::AtomicI64);

impl Watch for StopAfter {
    fn proceed(&self, _: &Progress) -> bool {
        self.0.fetch_sub(1, std::sync::atomic::Ordering::Relaxed) > 0
    }
}

#[test]
fn an_interrupt_leaves_a_valid_model() {
    let (x, targets) = sample(300, 5, 20, 19);
    for kernel in [Kernel::Linear, RBF] {
        for (name, fit) in all_estimators(kernel) {
            for times in [0, 1, 2, 5] {
                let fitted = fit.fit(x.view(), from_ref(&targets), &StopAfter(times.into())).unwrap();
                fitted.model.check().unwrap();
                assert_eq!(scores(&fitted).len(), 300);
                assert!(scores(&fitted).iter().all(|f| f.is_finite()));
                if times == 0 {
                    assert_eq!(fitted.reports[0].exit, Exit::Interrupted, "{name} {kernel:?}");
                    let known = sample(300, 5, 300, 19).1;
                    let fitted = fit.fit(x.view(), &[known], &StopAfter(0.into())).unwrap();
                    assert_eq!(fitted.reports[0].exit, Exit::Interrupted, "all labeled: {name} {kernel:?}");
                }
            }
        }
    }
}

#[test]
fn problems_fitted_together_equal_separate_fits() {
    let params = GenerateParams { rows: 240, seed: 4, ..Default::default() };
    let (x, labels) = generate("waveform", &params).unwrap();
    let class: Vec<u32> = labels.of.iter().map(|c| c.unwrap()).collect();
    let one = |k: u32| {
        let sign = |c: u32| if c == k { Label::Pos } else { Label::Neg };
        let y = class.iter().enumerate().map(|(i, c)| if i < 60 { sign(*c) } else { Label::Unknown });
        Targets { y: y.collect(), cost: vec![1.0; 240] }
    };
    let problems: Vec<Targets> = (0..3).map(one).collect();
    let views = list("1..11;12..21");
    let kernel = Kernel::Rbf { gamma: 0.02 };
    let learners: [Box<dyn Fit>; 3] = [
        Box::new(CoRlsParams { views: views.clone(), kernel, ..Default::default() }),
        Box::new(CoLapParams { views: views.clone(), kernel, ..Default::default() }),
        Box::new(CoTrainingParams { views, kernel, ..Default::default() }),
    ];
    for fit in learners {
        let together = fit.fit(x.view(), &problems, &()).unwrap();
        assert_eq!((together.reports.len(), together.model.outputs()), (3, 3));
        let transduction = together.transduced.unwrap();
        for (k, problem) in problems.iter().enumerate() {
            let alone = fit.fit(x.view(), from_ref(problem), &()).unwrap();
            near(&transduction.scores[k], scores(&alone), 1e-5);
        }
        let best = |i: usize| {
            (0..3).max_by(|&a, &b| transduction.scores[a][i].total_cmp(&transduction.scores[b][i])).unwrap()
        };
        let right = (60..240).filter(|&i| best(i) as u32 == class[i]).count();
        assert!(right > 130, "{right} of 180");
    }
}

/// The toy data of figure 4.2 with one label per class: in how many of 20 draws at most 1 % of the rows are wrong.
#[test]
fn corls_solves_two_moons_two_lines_and_single_views_do_not() {
    let mut solved = [0; 5];
    for seed in 0..20 {
        let params = GenerateParams { rows: 200, seed, ..Default::default() };
        let (x, labels): (Matrix, Labels) = generate("two-moons-two-lines", &params).unwrap();
        let class: Vec<u32> = labels.of.iter().map(|c| c.unwrap()).collect();
        let mut y = vec![Label::Unknown; 200];
        for (c, label) in [(0, Label::Neg), (1, Label::Pos)] {
            y[class.iter().position(|k| *k == c).unwrap()] = label;
        }
        let problems = [Targets { y, cost: vec![1.0; 200] }];
        let (views, kernels) = (list("1..2;3..4"), String::from("rbf=2;linear"));
        let corls = CoRlsParams { views: views.clone(), kernels: kernels.clone(), ..Default::default() };
        // one round, as figure 4.2 shows
        let greedy = CoTrainingParams {
            views,
            kernels,
            machine: BaseLearner::Rls,
            grow: 2,
            rounds: 1,
            ..Default::default()
        };
        let alone = |view| CoRlsParams { view, ..corls.clone() }.supervised().unwrap();
        let fits = [
            corls.fit(x.view(), &problems, &()).unwrap(),
            greedy.fit(x.view(), &problems, &()).unwrap(),
            alone(0).fit(x.view(), &problems, &()).unwrap(),
            alone(1).fit(x.view(), &problems, &()).unwrap(),
            alone(2).fit(x.view(), &problems, &()).unwrap(),
        ];
        for (solved, fitted) in solved.iter_mut().zip(&fits) {
            let good = (0..200).filter(|&i| (scores(fitted)[i] > 0.0) == (class[i] == 1)).count();
            *solved += usize::from(good >= 198);
        }
    }
    let [corls, cotraining, both, moons, lines] = solved;
    assert_eq!(corls, 20, "{solved:?}");
    assert!(moons <= 2 && lines <= 3 && both <= 3 && cotraining <= 3, "{solved:?}");
}
