//! Sequential MED against dense algebra implemented here, against equivalent estimators, and its invariances. Numbers in
//! brackets are those of the list of property tests for Hou & Hero 2018.

use crate::common::eliminate;
use evermargin::data::Label;
use evermargin::estimators::manifold::deformed_kernel::DeformedKernel;
use evermargin::estimators::manifold::landmark_space::LandmarkSpace;
use evermargin::estimators::manifold::lap::{LapParams, ObjectiveScaling};
use evermargin::estimators::manifold::penalty::{Penalty, PenaltyParams};
use evermargin::estimators::med::recursion::{Deformed, roots};
use evermargin::estimators::med::spectral::{Averages, directions};
use evermargin::estimators::med::{Form, Intercept, Loss, MedParams, Posterior, Schedule, SeqMed, Space};
use evermargin::estimators::supervised::svc::SvcParams;
use evermargin::estimators::{Fit, Targets, estimator};
use evermargin::solver::{Exit, Progress, Report, Watch};
use evermargin::{Kernel, Matrix, Model};
use rand::{RngExt, SeedableRng};
use std::slice::from_ref;

const RBF: Kernel = Kernel::Rbf { gamma: 0.5 };

/// `n` rows of `d` columns. The first `labeled` rows have a label: the sign of a wavy function with a little noise.
fn batch(n: usize, d: usize, labeled: usize, seed: u64) -> (Matrix, Targets) {
    let mut rng = rand_pcg::Pcg64::seed_from_u64(seed);
    let values: Vec<f64> = (0..n * d).map(|_| rng.random_range(-1.5..1.5)).collect();
    let y = (0..n)
        .map(|i| {
            let v = values[i * d] + (2.0 * values[i * d + d - 1]).sin() + rng.random_range(-0.2..0.2);
            match (i < labeled, v > 0.0) {
                (false, _) => Label::Unknown,
                (true, true) => Label::Pos,
                (true, false) => Label::Neg,
            }
        })
        .collect();
    (Matrix::dense(values, n, d).unwrap(), Targets { y, cost: vec![1.0; n] })
}

/// A stream of batches of 30 rows, 10 of them labeled.
fn stream(batches: u64, d: usize) -> Vec<(Matrix, Targets)> {
    (0..batches).map(|t| batch(30, d, 10, 100 + t)).collect()
}

fn params() -> MedParams {
    MedParams {
        kernel: RBF,
        c: 5.0,
        beta: 0.4,
        tolerance: 1e-7,
        penalty: PenaltyParams { n_neighbors: 4, ..Default::default() },
        n_landmarks: 2000,
        ..Default::default()
    }
}

fn barrier() -> MedParams {
    MedParams { loss: Loss::Barrier, ..params() }
}

fn learn(params: &MedParams, stream: &[(Matrix, Targets)]) -> SeqMed {
    let mut state = SeqMed::new(params, stream[0].0.view(), 1).unwrap();
    for (x, t) in stream {
        learn_batch(&mut state, x, t);
    }
    state
}

fn learn_batch(state: &mut SeqMed, x: &Matrix, t: &Targets) -> Report {
    let report = state.learn(x.view(), from_ref(t), &()).unwrap()[0];
    assert_eq!(report.exit, Exit::Converged);
    report
}

fn near(a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len());
    let worst = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(worst <= tolerance, "differ by {worst}");
}

fn max_difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

type Dense = Vec<Vec<f64>>;

fn product(a: &Dense, b: &Dense) -> Dense {
    let entry = |row: &Vec<f64>, j: usize| row.iter().zip(b).map(|(v, b)| v * b[j]).sum();
    a.iter().map(|row| (0..b[0].len()).map(|j| entry(row, j)).collect()).collect()
}

fn transpose(a: &Dense) -> Dense {
    (0..a[0].len()).map(|j| a.iter().map(|r| r[j]).collect()).collect()
}

fn unit(n: usize) -> Dense {
    (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect()
}

/// A⁻¹B by elimination.
fn solve_all(a: &Dense, b: &Dense) -> Dense {
    transpose(&transpose(b).into_iter().map(|c| eliminate(a.clone(), c).unwrap()).collect())
}

fn rows(x: &Matrix) -> Dense {
    let Matrix::Dense { values, cols, .. } = x.view().to_dense() else { panic!() };
    values.chunks(cols).map(<[f64]>::to_vec).collect()
}

fn kernel_block(a: &Matrix, b: &Matrix, kernel: Kernel) -> Dense {
    let (a, b) = (a.view(), b.view());
    (0..a.rows()).map(|i| (0..b.rows()).map(|j| kernel.eval(a.row(i), b.row(j))).collect()).collect()
}

fn stacked<'a>(parts: impl Iterator<Item = &'a Matrix>) -> Matrix {
    let all: Vec<f64> = parts.flat_map(|x| rows(x).concat()).collect();
    Matrix::dense(all.clone(), all.len() / 2, 2).unwrap()
}

fn penalty(p: &MedParams, x: &Matrix) -> Penalty {
    p.penalty.penalty(x.view(), &()).unwrap().unwrap()
}

fn laplacian(p: &MedParams, x: &Matrix) -> Dense {
    let penalty = penalty(p, x);
    unit(x.rows()).iter().map(|e| penalty.apply(e)).collect()
}

/// k − k(·, X)(I + MK)⁻¹Mk(X, ·) by elimination, without recursion. M is block diagonal with the blocks 2βL of all
/// batches.
fn deformed_by_elimination(p: &MedParams, batches: &[&Matrix], a: &Matrix, b: &Matrix) -> Dense {
    let all = stacked(batches.iter().copied());
    let n = all.rows();
    let (mut m, mut first) = (vec![vec![0.0; n]; n], 0);
    for x in batches {
        for (i, row) in laplacian(p, x).iter().enumerate() {
            for (j, v) in row.iter().enumerate() {
                m[first + i][first + j] = 2.0 * p.beta * v;
            }
        }
        first += x.rows();
    }
    let mut system = product(&m, &kernel_block(&all, &all, p.kernel));
    (0..n).for_each(|i| system[i][i] += 1.0);
    let solved = solve_all(&system, &product(&m, &kernel_block(&all, b, p.kernel)));
    let lost = product(&kernel_block(a, &all, p.kernel), &solved);
    let plain = kernel_block(a, b, p.kernel);
    plain.iter().zip(&lost).map(|(k, l)| k.iter().zip(l).map(|(k, l)| k - l).collect()).collect()
}

fn deformed(p: &MedParams, batches: &[&Matrix]) -> Deformed {
    let mut kernel = Deformed::new(p.kernel, batches[0].view());
    for x in batches {
        kernel.deform(x.view(), &roots(&penalty(p, x), 2.0 * p.beta).unwrap()).unwrap();
    }
    kernel
}

/// A second implementation of the sequential learner: kernels by [`deformed_by_elimination`], each dual by projected
/// coordinate steps. Returns the decisions at `test`, and the multipliers of the last batch with their margins.
fn reference_med(
    p: &MedParams,
    stream: &[(Matrix, Targets)],
    test: &Matrix,
) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let (mut points, mut coef, mut b): (Vec<f64>, Vec<f64>, f64) = (Vec::new(), Vec::new(), 0.0);
    let (mut alpha, mut margins) = (Vec::new(), Vec::new());
    let sigma = if p.intercept == Intercept::Prior { 1.0 } else { 0.0 };
    let mut seen: Vec<&Matrix> = Vec::new();
    for (x, t) in stream {
        seen.push(x);
        let used = t.used();
        let labeled = x.view().select(&used);
        let y: Vec<f64> = used.iter().map(|&i| t.y[i].sign()).collect();
        let k = deformed_by_elimination(p, &seen, &labeled, &labeled);
        let known = Matrix::dense(points.clone(), coef.len(), 2).unwrap();
        let old: Vec<f64> = if coef.is_empty() {
            vec![0.0; used.len()]
        } else {
            let block = deformed_by_elimination(p, &seen, &labeled, &known);
            block.iter().map(|r| r.iter().zip(&coef).map(|(k, a)| k * a).sum()).collect()
        };
        let l = used.len();
        alpha = vec![0.0; l];
        for _ in 0..20_000 {
            for i in 0..l {
                let others: f64 =
                    (0..l).filter(|j| *j != i).map(|j| y[i] * y[j] * (k[i][j] + sigma) * alpha[j]).sum();
                let (d, curve) = (1.0 - y[i] * (old[i] + b) - others, k[i][i] + sigma);
                alpha[i] = match p.loss {
                    Loss::Box => (d / curve).clamp(0.0, p.c),
                    Loss::Barrier if p.c * d <= 1.0 => 0.0,
                    Loss::Barrier => {
                        let s = d + curve * p.c;
                        (s - (s * s - 4.0 * curve * (p.c * d - 1.0)).sqrt()) / (2.0 * curve)
                    }
                };
            }
        }
        b += sigma * y.iter().zip(&alpha).map(|(y, a)| y * a).sum::<f64>();
        let score = |i: usize| old[i] + (0..l).map(|j| k[i][j] * y[j] * alpha[j]).sum::<f64>() + b;
        margins = (0..l).map(|i| y[i] * score(i)).collect();
        points.extend(rows(&labeled).concat());
        coef.extend(y.iter().zip(&alpha).map(|(y, a)| y * a));
    }
    let known = Matrix::dense(points, coef.len(), 2).unwrap();
    let block = deformed_by_elimination(p, &seen, test, &known);
    let decisions = block.iter().map(|r| r.iter().zip(&coef).map(|(k, a)| k * a).sum::<f64>() + b).collect();
    (decisions, alpha, margins)
}

#[test]
fn three_batches_equal_the_reference_implementation() {
    // [6, 14] all rows as landmarks, and the recursion over points, with both losses
    let (stream, test) = (stream(3, 2), batch(25, 2, 0, 9).0);
    for loss in [Loss::Box, Loss::Barrier] {
        for form in [Form::Bounded, Form::Exact] {
            let p = MedParams { loss, form, ..params() };
            let state = learn(&p, &stream);
            let (expected, ..) = reference_med(&p, &stream, &test);
            // the tolerance is single precision of kernel values times the sum of the multipliers
            near(&state.decisions(test.view()).unwrap(), &expected, 2e-5);
            near(&state.model().decision(test.view()).unwrap(), &expected, 1e-4);
        }
    }
}

#[test]
fn barrier_solutions_satisfy_the_optimality_conditions() {
    // [7, 8] barrier: αᵢ > 0 ⇒ margin 1 − 1/(C − αᵢ); αᵢ = 0 ⇒ margin at least 1 − 1/C; for each kind of intercept
    let (x, t) = batch(40, 2, 40, 3);
    for bias in [Intercept::Prior, Intercept::Free, Intercept::None] {
        let p = MedParams { intercept: bias, form: Form::Exact, tolerance: 1e-9, ..barrier().labels_alone() };
        let mut state = SeqMed::new(&p, x.view(), 1).unwrap();
        let report = learn_batch(&mut state, &x, &t);
        assert!(report.gap.abs() < 1e-6, "{bias:?}: {}", report.gap);
        let Model::Expansion { points, coef, .. } = state.model() else { panic!() };
        let f = state.decisions(x.view()).unwrap();
        let mut zero = 0;
        for i in 0..40 {
            let at = (0..points.rows()).find(|&j| rows(&points)[j] == rows(&x)[i]);
            let (y, a) = (t.y[i].sign(), at.map_or(0.0, |j| coef[0][j].abs()));
            assert!((0.0..p.c).contains(&a));
            if a > 0.0 {
                let expected = 1.0 - 1.0 / (p.c - a);
                assert!((y * f[i] - expected).abs() < 1e-6 * (1.0 + expected.abs()), "{bias:?}");
            } else {
                zero += 1;
                assert!(y * f[i] >= 1.0 - 1.0 / p.c - 1e-7);
            }
        }
        assert!(zero > 0 && zero < 40);
        let sum: f64 = coef[0].iter().sum();
        match bias {
            Intercept::Free => assert!(sum.abs() < 1e-6, "{sum}"),
            Intercept::Prior => assert!((state.bias()[0] - sum).abs() < 1e-9),
            Intercept::None => assert_eq!(state.bias(), [0.0]),
        }
    }
    // the multipliers of the second implementation satisfy the same condition
    let stream = stream(2, 2);
    let (_, alpha, margins) = reference_med(&barrier(), &stream, &stream[0].0);
    for (a, m) in alpha.iter().zip(&margins).filter(|(a, _)| **a > 0.0) {
        assert!((m - (1.0 - 1.0 / (5.0 - a))).abs() < 1e-8);
    }
}

#[test]
fn one_batch_equals_a_support_vector_machine() {
    // [1] box loss directly; barrier loss for a large C and separable data
    let (x, t) = batch(60, 2, 60, 5);
    for (bias, machine) in [(Intercept::Free, true), (Intercept::None, false)] {
        let p = MedParams { intercept: bias, ..params().labels_alone() };
        let svc =
            SvcParams { kernel: RBF, c: 5.0, tolerance: 1e-7, fit_intercept: machine, ..Default::default() };
        let expected = svc.fit(x.view(), from_ref(&t), &()).unwrap().model.decision(x.view()).unwrap();
        near(&learn(&p, &[(x.clone(), t.clone())]).decisions(x.view()).unwrap(), &expected, 2e-4);
    }
    let line: Vec<f64> =
        (0..20).map(|i| if i < 10 { -1.0 - f64::from(i) } else { f64::from(i) - 9.0 }).collect();
    let x = Matrix::dense(line, 20, 1).unwrap();
    let y = (0..20).map(|i| if i < 10 { Label::Neg } else { Label::Pos }).collect();
    let t = Targets { y, cost: vec![1.0; 20] };
    let p =
        MedParams { kernel: Kernel::Linear, c: 1e4, intercept: Intercept::Free, ..barrier().labels_alone() };
    let svc = SvcParams { kernel: Kernel::Linear, c: 1e4, tolerance: 1e-7, ..Default::default() };
    let expected = svc.fit(x.view(), from_ref(&t), &()).unwrap().model.decision(x.view()).unwrap();
    // the barrier reduces the margin by 1/(C − α), about 1e-4, and by ten times that at distance 10
    near(&learn(&p, &[(x.clone(), t)]).decisions(x.view()).unwrap(), &expected, 2e-3);
}

#[test]
fn with_beta_zero_it_is_bit_identical_to_the_supervised_learner() {
    // [2]
    let stream = stream(3, 2);
    for form in [Form::Bounded, Form::Exact] {
        let p = MedParams { form, ..params() };
        let none = learn(&MedParams { beta: 0.0, ..p.clone() }, &stream);
        let mut alone = SeqMed::new(&p.labels_alone(), stream[0].0.view(), 1).unwrap();
        for (x, t) in &stream {
            let rows = t.used();
            learn_batch(&mut alone, &x.view().select(&rows), &t.select(&rows));
        }
        let test = &stream[2].0;
        assert_eq!(none.decisions(test.view()).unwrap(), alone.decisions(test.view()).unwrap());
        assert_ne!(none.decisions(test.view()).unwrap(), learn(&p, &stream).decisions(test.view()).unwrap());
    }
}

#[test]
fn one_batch_with_its_graph_equals_lapsvm() {
    // [3] C = 1/(2lγ_A), M = γ_I/(γ_A n²) L
    let (x, t) = batch(60, 2, 12, 6);
    let (gamma_a, gamma_i) = (0.01, 3.0);
    for (bias, constant) in [(Intercept::None, false), (Intercept::Free, true)] {
        let p = MedParams { gamma_a, gamma_i, intercept: bias, ..params() };
        let lap = LapParams {
            kernel: RBF,
            gamma_a,
            gamma_i,
            objective_scaling: ObjectiveScaling::Paper,
            penalty: p.penalty.clone(),
            fit_intercept: constant,
            tolerance: 1e-7,
            ..Default::default()
        };
        let expected = lap.fit(x.view(), from_ref(&t), &()).unwrap().model.decision(x.view()).unwrap();
        let state = learn(&p, &[(x.clone(), t.clone())]);
        near(&state.decisions(x.view()).unwrap(), &expected, 2e-4);
        let plain = learn(&MedParams { gamma_i: 0.0, ..p }, &[(x.clone(), t.clone())]);
        assert!(max_difference(&plain.decisions(x.view()).unwrap(), &expected) > 0.01);
    }
}

#[test]
fn the_deformed_kernel_does_not_depend_on_the_order_of_batches() {
    // [4] against elimination, and against the deformed kernel of the manifold estimators
    let p = params();
    let batches: Vec<Matrix> = stream(3, 2).into_iter().map(|(x, _)| x).collect();
    let (a, b) = (batch(11, 2, 0, 20).0, batch(7, 2, 0, 21).0);
    let forth: Vec<&Matrix> = batches.iter().collect();
    let back: Vec<&Matrix> = batches.iter().rev().collect();
    let found = deformed(&p, &forth).block(a.view(), b.view());
    near(&found, &deformed_by_elimination(&p, &forth, &a, &b).concat(), 1e-11);
    near(&found, &deformed(&p, &back).block(a.view(), b.view()), 1e-11);
    let one = &batches[0];
    let span = LandmarkSpace::new(one.view(), RBF, 30, 1, &()).unwrap();
    let pen = penalty(&p, one);
    let warp = DeformedKernel::new(&span, &pen.quadratic(&span), 2.0 * p.beta).unwrap();
    let all: Vec<usize> = (0..30).collect();
    let Matrix::Dense { values, .. } = warp.gram(&all).unwrap() else { panic!() };
    near(&deformed(&p, &[one]).block(one.view(), one.view()), &values, 1e-8);
}

#[test]
fn kernels_stay_positive_semidefinite_and_variance_never_grows() {
    // [5]
    let (stream, test) = (stream(4, 2), batch(12, 2, 0, 30).0);
    for form in [Form::Bounded, Form::Exact, Form::Spectral] {
        let p = MedParams { form, ..params() };
        let mut state = SeqMed::new(&p, test.view(), 1).unwrap();
        let mut before = vec![1.0 + 1e-12; 12];
        for (t, (x, targets)) in stream.iter().enumerate() {
            learn_batch(&mut state, x, targets);
            let now = state.variance(test.view()).unwrap();
            assert!(now.iter().all(|v| (0.0..=1.0 + 1e-12).contains(v)));
            // the spectral approximation replaces the past, so its variance may grow
            if form != Form::Spectral {
                assert!(now.iter().zip(&before).all(|(n, b)| n <= &(b + 1e-9)), "{form:?} {t}");
                assert!(now.iter().sum::<f64>() < before.iter().sum::<f64>() - 1e-3);
            }
            before = now;
        }
    }
    let p = params();
    let batches: Vec<&Matrix> = stream.iter().map(|(x, _)| x).collect();
    for t in 1..=4 {
        let (k, n) = (deformed(&p, &batches[..t]).block(test.view(), test.view()), 12);
        for i in 0..n {
            for j in 0..n {
                assert!((k[i * n + j] - k[j * n + i]).abs() < 1e-12);
            }
        }
        let lost: Vec<f64> = if t == 1 {
            kernel_block(&test, &test, RBF).concat()
        } else {
            deformed(&p, &batches[..t - 1]).block(test.view(), test.view())
        };
        // vᵀk'v in [0, vᵀkv] for many v
        for seed in 0..20 {
            let mut rng = rand_pcg::Pcg64::seed_from_u64(seed);
            let v: Vec<f64> = (0..n).map(|_| rng.random_range(-1.0..1.0)).collect();
            let form = |m: &[f64]| -> f64 { (0..n * n).map(|e| v[e / n] * m[e] * v[e % n]).sum() };
            assert!(form(&k) >= -1e-12 && form(&k) <= form(&lost) + 1e-12);
        }
    }
}

#[test]
fn the_linear_form_equals_the_recursion_with_a_linear_kernel() {
    // [6] and Gμ = h
    let (stream, test) = (stream(4, 3), batch(20, 3, 0, 31).0);
    let p = MedParams { kernel: Kernel::Linear, ..params() };
    let (columns, exact) =
        (learn(&p, &stream), learn(&MedParams { form: Form::Exact, ..p.clone() }, &stream));
    near(&columns.decisions(test.view()).unwrap(), &exact.decisions(test.view()).unwrap(), 2e-5);
    near(&columns.variance(test.view()).unwrap(), &exact.variance(test.view()).unwrap(), 1e-10);
    let Posterior::Features(f) = columns.known() else { panic!() };
    assert_eq!(f.space(), &Space::Columns { cols: 3 });
    let (g, h, mean) = (f.precision().unwrap(), &f.information()[0], &f.means()[0]);
    let image: Vec<f64> = (0..3).map(|i| (0..3).map(|j| g[i * 3 + j] * mean[j]).sum()).collect();
    near(&image, h, 1e-10);
    // G from its definition
    let mut expected = unit(3);
    for (x, _) in &stream {
        let phi = rows(x);
        let term = product(&transpose(&phi), &product(&laplacian(&p, x), &phi));
        for (e, t) in expected.iter_mut().flatten().zip(term.concat()) {
            *e += 2.0 * p.beta * t;
        }
    }
    near(g, &expected.concat(), 1e-10);
}

#[test]
fn barrier_loss_learns_nothing_for_c_up_to_one_and_box_loss_does() {
    // [9]
    let (x, t) = batch(30, 2, 30, 40);
    for c in [0.3, 1.0] {
        let p = MedParams { c, ..barrier().labels_alone() };
        let silent = learn(&p, &[(x.clone(), t.clone())]);
        assert!(silent.decisions(x.view()).unwrap().iter().all(|f| *f == 0.0));
        let with_box_loss = learn(&MedParams { loss: Loss::Box, ..p }, &[(x.clone(), t.clone())]);
        assert!(with_box_loss.decisions(x.view()).unwrap().iter().any(|f| f.abs() > 0.1));
    }
}

#[test]
fn rows_beyond_the_margin_do_not_change_decisions() {
    // [10]
    let stream = stream(2, 2);
    for p in [params().labels_alone(), barrier().labels_alone()] {
        let mut state = learn(&p, &stream);
        let test = batch(200, 2, 0, 50).0;
        let f = state.decisions(test.view()).unwrap();
        let confident: Vec<usize> = (0..200).filter(|&i| f[i].abs() >= 1.0).collect();
        assert!(confident.len() > 5);
        let y = confident.iter().map(|&i| if f[i] > 0.0 { Label::Pos } else { Label::Neg }).collect();
        let targets = Targets { y, cost: vec![1.0; confident.len()] };
        learn_batch(&mut state, &test.view().select(&confident), &targets);
        near(&state.decisions(test.view()).unwrap(), &f, 1e-12);
    }
}

#[test]
fn a_batch_of_one_class_changes_decisions_unless_the_intercept_is_free() {
    // [11]
    let (first, test) = (batch(30, 2, 30, 60), batch(20, 2, 0, 61).0);
    let (x, mut t) = batch(30, 2, 30, 62);
    t.y.fill(Label::Pos);
    for loss in [Loss::Box, Loss::Barrier] {
        for (bias, moves) in [(Intercept::Free, false), (Intercept::Prior, true)] {
            let p = MedParams { loss, intercept: bias, ..params().labels_alone() };
            let mut state = learn(&p, from_ref(&first));
            let before = state.decisions(test.view()).unwrap();
            learn_batch(&mut state, &x, &t);
            let moved = max_difference(&state.decisions(test.view()).unwrap(), &before);
            if moves { assert!(moved > 0.1, "{moved}") } else { near(&[moved], &[0.0], 1e-9) }
        }
    }
}

#[test]
fn a_batch_without_labels_smooths_the_decisions() {
    // [12] h is unchanged; fᵀLf on the batch decreases
    let first = batch(30, 2, 30, 70);
    let (x, t) = batch(60, 2, 0, 71);
    let p = params();
    let mut state = learn(&p, from_ref(&first));
    let Posterior::Features(f) = state.known().clone() else { panic!() };
    let roughness = |s: &SeqMed| {
        let f: Vec<f64> = s.decisions(x.view()).unwrap().iter().map(|v| v - s.bias()[0]).collect();
        penalty(&p, &x).of(&f)
    };
    let (before, bias) = (roughness(&state), state.bias().to_vec());
    let report = learn_batch(&mut state, &x, &t);
    assert_eq!(report.steps, 0);
    assert!(roughness(&state) < 0.9 * before);
    assert_eq!(state.bias(), bias);
    let Posterior::Features(g) = state.known() else { panic!() };
    let (old, new) = (&f.information()[0], &g.information()[0]);
    assert_eq!(&new[..old.len()], old.as_slice());
    assert!(new[old.len()..].iter().all(|v| *v == 0.0));
}

#[test]
fn a_distant_graph_component_does_not_change_decisions() {
    // [13]
    let (x, t) = batch(30, 2, 10, 80);
    let mut values = rows(&x).concat();
    values.extend((0..16).map(|i| 500.0 + f64::from(i % 5)));
    let with = Matrix::dense(values, 38, 2).unwrap();
    let mut more = t.clone();
    more.y.resize(38, Label::Unknown);
    more.cost.resize(38, 1.0);
    let fixed = PenaltyParams { n_neighbors: 4, width: 0.5, ..Default::default() };
    for form in [Form::Bounded, Form::Exact] {
        let p = MedParams { form, penalty: fixed.clone(), ..params() };
        let (a, b) = (learn(&p, &[(x.clone(), t.clone())]), learn(&p, &[(with.clone(), more.clone())]));
        near(&a.decisions(x.view()).unwrap(), &b.decisions(x.view()).unwrap(), 1e-6);
        near(&a.variance(x.view()).unwrap(), &b.variance(x.view()).unwrap(), 1e-9);
    }
}

#[test]
fn decisions_do_not_depend_on_the_order_of_landmarks() {
    // [14]
    let (stream, test) = (stream(3, 2), batch(20, 2, 0, 90).0);
    let seeds = [1, 2, 3].map(|seed| learn(&MedParams { seed, ..params() }, &stream));
    let expected = seeds[0].decisions(test.view()).unwrap();
    for other in &seeds[1..] {
        near(&other.decisions(test.view()).unwrap(), &expected, 2e-5);
        near(&other.variance(test.view()).unwrap(), &seeds[0].variance(test.view()).unwrap(), 1e-7);
        assert_ne!(other.save().known, seeds[0].save().known);
    }
    // with fewer landmarks the decisions are close, and the dimension is at most their number
    let few = learn(&MedParams { n_landmarks: 40, ..params() }, &stream);
    let Posterior::Features(f) = few.known() else { panic!() };
    assert!(f.space().dim() <= 40 && f.space().dim() > 30);
    assert!(max_difference(&few.decisions(test.view()).unwrap(), &expected) < 0.2);
}

#[test]
fn the_spectral_kernel_does_not_depend_on_signs_of_singular_vectors() {
    // [15]
    let batches: Vec<Matrix> = stream(5, 3).into_iter().map(|(x, _)| x).collect();
    let test = batch(9, 3, 0, 95).0;
    for kernel in [Kernel::Linear, RBF] {
        let p = MedParams { kernel, ..params() };
        let found = [0u32, 0b10110, 0b01101].map(|flips| {
            let mut averages = Averages::default();
            for (t, x) in batches.iter().enumerate() {
                let mut along = directions(x.view()).unwrap();
                for (k, v) in along.iter_mut().enumerate() {
                    *v *= if flips >> ((k / 3 + t) % 5) & 1 == 1 { -1.0 } else { 1.0 };
                }
                averages.absorb_along(x.view(), along, &penalty(&p, x), 0.8).unwrap();
            }
            averages.kernel(kernel, test.view()).unwrap().block(test.view(), test.view())
        });
        near(&found[0], &found[1], 1e-10);
        near(&found[0], &found[2], 1e-10);
        if kernel == Kernel::Linear {
            // for a linear kernel the approximation is close to the exact kernel (section 4.2: 0.02 to 0.05)
            let exact = deformed(&p, &batches.iter().collect::<Vec<_>>()).block(test.view(), test.view());
            let size: f64 = exact.iter().map(|v| v * v).sum::<f64>().sqrt();
            let off = found[0].iter().zip(&exact).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
            assert!(off / size < 0.1, "{}", off / size);
        }
    }
}

#[test]
fn a_single_example_gives_the_closed_form_solution() {
    // [16] PA-I, and the root of the quadratic equation
    let x = Matrix::dense(vec![0.6, -0.8, 1.0], 1, 3).unwrap();
    let t = Targets { y: vec![Label::Neg], cost: vec![1.0] };
    for (c, loss, expected) in [
        (0.3, Loss::Box, 0.3),
        (9.0, Loss::Box, 0.5),
        // κ = 2, d = 1, C = 4: (9 − √(81 − 24))/4
        (4.0, Loss::Barrier, (9.0 - 57f64.sqrt()) / 4.0),
    ] {
        let p = MedParams {
            kernel: Kernel::Linear,
            c,
            loss,
            intercept: Intercept::None,
            ..params().labels_alone()
        };
        let Model::Linear { weights, .. } = learn(&p, &[(x.clone(), t.clone())]).model() else { panic!() };
        near(&weights[0], &[-0.6 * expected, 0.8 * expected, -expected], 1e-12);
    }
}

#[test]
fn flipped_labels_negate_the_decisions() {
    // [17]
    let stream = stream(3, 2);
    let flipped: Vec<(Matrix, Targets)> = stream
        .iter()
        .map(|(x, t)| {
            let flip = |y: &Label| match y {
                Label::Pos => Label::Neg,
                Label::Neg => Label::Pos,
                Label::Unknown => Label::Unknown,
            };
            (x.clone(), Targets { y: t.y.iter().map(flip).collect(), cost: t.cost.clone() })
        })
        .collect();
    for p in [params(), barrier(), MedParams { intercept: Intercept::Free, ..barrier() }] {
        let test = &stream[0].0;
        let f = learn(&p, &stream).decisions(test.view()).unwrap();
        let g: Vec<f64> = learn(&p, &flipped).decisions(test.view()).unwrap().iter().map(|g| -g).collect();
        near(&f, &g, 1e-5);
    }
}

#[test]
fn retention_and_the_inverse_schedule_follow_their_formulas() {
    let stream = stream(3, 2);
    let p = MedParams { kernel: Kernel::Linear, retention: 0.7, intercept: Intercept::None, ..params() };
    let state = learn(&p, &stream);
    let mut g = unit(2);
    for (x, _) in &stream {
        let phi = rows(x);
        let term = product(&transpose(&phi), &product(&laplacian(&p, x), &phi));
        for i in 0..2 {
            for j in 0..2 {
                g[i][j] = 0.7 * g[i][j] + if i == j { 0.3 } else { 0.0 } + 0.8 * term[i][j];
            }
        }
    }
    let Posterior::Features(f) = state.known() else { panic!() };
    near(f.precision().unwrap(), &g.concat(), 1e-10);
    // a batch without labels multiplies h by ρ
    let h = f.information()[0].clone();
    let mut next = state.clone();
    learn_batch(&mut next, &stream[0].0, &Targets { y: vec![Label::Unknown; 30], cost: vec![1.0; 30] });
    let Posterior::Features(f) = next.known() else { panic!() };
    near(&f.information()[0], &[0.7 * h[0], 0.7 * h[1]], 1e-12);
    // schedule β/t
    let p = MedParams { schedule: Schedule::Inverse, retention: 1.0, ..p };
    let Posterior::Features(f) = learn(&p, &stream).known().clone() else { panic!() };
    let mut g = unit(2);
    for (t, (x, _)) in stream.iter().enumerate() {
        let phi = rows(x);
        let term = product(&transpose(&phi), &product(&laplacian(&p, x), &phi));
        for (g, v) in g.iter_mut().flatten().zip(term.concat()) {
            *g += 0.8 / (t + 1) as f64 * v;
        }
    }
    near(f.precision().unwrap(), &g.concat(), 1e-10);
}

#[test]
fn resumed_states_are_bit_identical_at_any_batch_and_number_of_threads() {
    let stream = stream(5, 2);
    for form in [Form::Bounded, Form::Exact, Form::Spectral] {
        let p = MedParams { form, n_landmarks: 50, ..params() };
        let run = |stop: usize, threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut state = learn(&p, &stream[..stop]);
                // not through JSON text, which may change the last bit of a number
                let value = serde_json::to_value(state.save()).unwrap();
                state = SeqMed::resume(&serde_json::from_value(value).unwrap()).unwrap();
                stream[stop..].iter().for_each(|(x, t)| {
                    learn_batch(&mut state, x, t);
                });
                serde_json::to_string(&state.save()).unwrap()
            })
        };
        let expected = run(5, 1);
        for stop in 1..5 {
            assert_eq!(run(stop, 1), expected);
        }
        assert_eq!(run(3, 4), expected);
    }
}

#[test]
fn dense_sparse_and_wide_rows_give_the_same_decisions() {
    let stream = stream(3, 2);
    let test = batch(20, 2, 0, 33).0;
    for (kernel, cols) in [(Kernel::Linear, 2), (RBF, 2), (Kernel::Linear, 6000), (RBF, 6000)] {
        for beta in [0.0, 0.4] {
            let p = MedParams { kernel, beta, ..params() };
            let wide: Vec<(Matrix, Targets)> =
                stream.iter().map(|(x, t)| (x.view().to_csr().with_cols(cols), t.clone())).collect();
            let (a, b) = (learn(&p, &stream), learn(&p, &wide));
            let far = test.view().to_csr().with_cols(cols);
            near(&a.decisions(test.view()).unwrap(), &b.decisions(far.view()).unwrap(), 2e-5);
            near(&a.variance(test.view()).unwrap(), &b.variance(far.view()).unwrap(), 1e-7);
        }
    }
}

#[test]
fn several_outputs_share_the_kernel_only() {
    let stream = stream(3, 2);
    let mut both = SeqMed::new(&params(), stream[0].0.view(), 2).unwrap();
    for (x, t) in &stream {
        let mut other = t.clone();
        other.y.iter_mut().step_by(3).for_each(|y| *y = Label::Unknown);
        both.learn(x.view(), &[t.clone(), other], &()).unwrap();
    }
    let test = &stream[1].0;
    let one = learn(&params(), &stream).decisions(test.view()).unwrap();
    let two = both.decisions(test.view()).unwrap();
    near(&two.iter().step_by(2).copied().collect::<Vec<_>>(), &one, 2e-5);
    assert!(max_difference(&two.iter().skip(1).step_by(2).copied().collect::<Vec<_>>(), &one) > 0.01);
    let model = both.model().decision(test.view()).unwrap();
    near(&model, &two, 1e-4);
}

#[test]
fn memory_is_bounded_by_n_landmarks_for_100_000_rows() {
    let p = MedParams { n_landmarks: 20, tolerance: 1e-3, ..params() };
    let mut state = SeqMed::new(&p, batch(1, 3, 0, 0).0.view(), 1).unwrap();
    let mut sizes = Vec::new();
    for t in 0..100 {
        let (x, targets) = batch(1000, 3, 20, t);
        state.learn(x.view(), from_ref(&targets), &()).unwrap();
        if t >= 49 {
            let Posterior::Features(f) = state.known() else { panic!() };
            let Space::Landmarks { points, .. } = f.space() else { panic!() };
            sizes.push((points.rows(), f.precision().unwrap().len(), f.information()[0].len()));
        }
    }
    assert_eq!(state.save().rows, 100_000);
    assert!(sizes.iter().all(|s| *s == (20, 400, 20)), "{:?}", sizes.last());
    let (test, truth) = batch(500, 3, 500, 1000);
    let f = state.decisions(test.view()).unwrap();
    let right = f.iter().zip(&truth.y).filter(|(f, y)| (**f > 0.0) == (**y == Label::Pos)).count();
    assert!(right > 440, "{right}");
}

struct StopAfter(std::sync::atomic::AtomicUsize);

impl Watch for StopAfter {
    fn proceed(&self, _: &Progress) -> bool {
        self.0
            .fetch_update(std::sync::atomic::Ordering::SeqCst, std::sync::atomic::Ordering::SeqCst, |n| {
                n.checked_sub(1)
            })
            .is_ok()
    }
}

#[test]
fn registered_estimators_learn_in_batches_and_can_be_interrupted() {
    let (x, t) = batch(250, 2, 250, 7);
    let made =
        |name: &str, text: &str| estimator(name).unwrap().make(&serde_json::from_str(text).unwrap()).unwrap();
    let fit = made("seq-med", r#"{"gamma": 0.5, "c": 5, "tolerance": 1e-7, "n_landmarks": 2000}"#);
    let fitted = fit.fit(x.view(), from_ref(&t), &()).unwrap();
    let cut = |from: usize, to: usize| {
        let rows: Vec<usize> = (from..to).collect();
        (x.view().select(&rows), t.select(&rows))
    };
    let stream = [cut(0, 100), cut(100, 200), cut(200, 250)];
    let p = MedParams { penalty: PenaltyParams::default(), ..params().labels_alone() };
    assert_eq!(fitted.model, learn(&p, &stream).model());
    let stopped = fit.fit(x.view(), from_ref(&t), &StopAfter(1.into())).unwrap();
    assert_eq!(stopped.reports[0].exit, Exit::Interrupted);
    assert_eq!(stopped.model, learn(&p, &stream[..1]).model());

    let mut few = t.clone();
    (0..250).filter(|i| i % 5 > 0).for_each(|i| few.y[i] = Label::Unknown);
    let semi = made("seq-lapmed", r#"{"gamma": 0.5}"#);
    let fitted = semi.fit(x.view(), from_ref(&few), &()).unwrap();
    let transduction = fitted.transduced.unwrap();
    assert_eq!(transduction.scores[0].len(), 250);
    assert_eq!(transduction.facts["batches"], 3u32.into());
    near(&transduction.scores[0], &fitted.model.decision(x.view()).unwrap(), 0.0);
    let alone = semi.supervised().unwrap().fit(x.view(), from_ref(&few), &()).unwrap();
    let rows = few.used();
    let plain = made("seq-med", r#"{"gamma": 0.5}"#);
    let expected = plain.fit(x.view().select(&rows).view(), &[few.select(&rows)], &()).unwrap();
    assert_eq!(alone.model, expected.model);
    assert_ne!(alone.model, fitted.model);
}

#[test]
fn refuses_invalid_input_without_changing_the_state() {
    let assert_error = |p: MedParams, text: &str| assert_eq!(p.check().unwrap_err().to_string(), text);
    assert_error(MedParams { c: 0.0, ..params() }, "parameter c = 0: must be a number from 1e-15 to 1e15");
    assert_error(
        MedParams { c: f64::NAN, ..params() },
        "parameter c = NaN: must be a number from 1e-15 to 1e15",
    );
    assert_error(
        MedParams { beta: -1.0, ..params() },
        "parameter beta = -1: must be 0 (labels alone) or a number up to 1e15",
    );
    assert_error(
        MedParams { retention: 0.0, ..params() },
        "parameter retention = 0: must be above 0, at most 1 (nothing is forgotten)",
    );
    assert_error(
        MedParams { retention: 0.5, form: Form::Exact, ..params() },
        "parameter retention = 0.5: must be 1 unless form is bounded",
    );
    assert_error(
        MedParams { n_landmarks: 0, ..params() },
        "parameter n_landmarks = 0: must be a whole number from 1 to 5000",
    );
    assert_error(MedParams { batch: 0, ..params() }, "parameter batch = 0: must be a whole number from 1 on");
    assert_error(MedParams { gamma_i: 1.0, ..params() }, "parameter gamma_i = 1: must be 0 without gamma_a");
    assert_error(
        MedParams { kernel: Kernel::Precomputed, ..params() },
        "parameter kernel = precomputed: must be a kernel of samples for an online learner",
    );
    let (x, t) = batch(20, 2, 10, 1);
    let mut state = learn(&params(), &[(x.clone(), t.clone())]);
    let before = state.clone();
    let three = batch(20, 3, 10, 1).0;
    let short = Targets { y: t.y[..5].to_vec(), cost: vec![1.0; 20] };
    let heavy = Targets { y: t.y.clone(), cost: vec![f64::NAN; 20] };
    for (x, problems, text) in [
        (&three, vec![t.clone()], "columns: expected 2, found 3"),
        (&x, vec![], "problems: expected 1, found 0"),
        (&x, vec![short], "labels: expected 20, found 5"),
        (&x, vec![heavy], "weight NaN of row 1: must be a finite number, 0 or more"),
    ] {
        let error = state.learn(x.view(), &problems, &()).unwrap_err().to_string();
        assert_eq!(error, text);
    }
    assert!(state.decisions(three.view()).is_err() && state.variance(three.view()).is_err());
    assert!(SeqMed::new(&params(), x.view(), 0).is_err());
    // empty batches, rows of weight 0, single rows and copies are accepted; without data the state does not change
    let none = Matrix::dense(vec![], 0, 2).unwrap();
    state.learn(none.view(), &[Targets { y: vec![], cost: vec![] }], &()).unwrap();
    state.learn(x.view(), &[Targets { cost: vec![0.0; 20], ..t.clone() }], &()).unwrap();
    assert_eq!(state, before);
    let interrupted = state.learn(x.view(), from_ref(&t), &StopAfter(0.into())).unwrap();
    assert_eq!(interrupted[0].exit, Exit::Interrupted);
    assert!(state.model().check().is_ok());
    for form in [Form::Bounded, Form::Exact, Form::Spectral] {
        let p = MedParams { form, ..params() };
        let mut state = SeqMed::new(&p, x.view(), 1).unwrap();
        assert!(state.model().check().is_ok());
        let one = x.view().select(&[0]);
        let same = x.view().select(&[3; 9]);
        let zeros = Matrix::dense(vec![0.0; 12], 6, 2).unwrap();
        let huge = Matrix::dense(vec![1e99; 6], 3, 2).unwrap();
        for x in [one, same, zeros, huge] {
            let n = x.rows();
            let t = Targets {
                y: (0..n).map(|i| if i % 2 == 0 { Label::Pos } else { Label::Unknown }).collect(),
                cost: vec![1.0; n],
            };
            if state.learn(x.view(), &[t], &()).is_ok() {
                assert!(state.decisions(x.view()).unwrap().iter().all(|f| f.is_finite()));
                assert!(state.model().check().is_ok());
            }
        }
    }
    let linear = MedParams { kernel: Kernel::Linear, ..params() };
    let mut state = SeqMed::new(&linear, x.view(), 1).unwrap();
    let huge = Matrix::dense(vec![1e99; 6], 3, 2).unwrap();
    let t = Targets { y: vec![Label::Pos; 3], cost: vec![1.0; 3] };
    let error = state.learn(huge.view(), &[t], &()).unwrap_err().to_string();
    assert!(error.contains("scale the data") || error.contains("positive definite"), "{error}");
}

#[test]
fn refuses_corrupt_states() {
    let stream = stream(2, 2);
    for form in [Form::Bounded, Form::Exact, Form::Spectral] {
        let good = learn(&MedParams { form, n_landmarks: 40, ..params() }, &stream).save();
        assert!(SeqMed::resume(&good).is_ok());
        let text = serde_json::to_string(&good).unwrap();
        let is_refused_with = |from: &str, to: &str| {
            assert!(text.contains(from), "{form:?} {from}");
            let bad = serde_json::from_str(&text.replacen(from, to, 1));
            bad.map_or(true, |saved| SeqMed::resume(&saved).is_err())
        };
        assert!(is_refused_with("\"cols\":2", "\"cols\":3"));
        assert!(is_refused_with(
            "\"intercept_variance\":1.0,\"bias\":[",
            "\"intercept_variance\":1.0,\"bias\":[0.5,"
        ));
        assert!(is_refused_with("\"rows\":", "\"rows\":-1,\"x\":"));
        if form == Form::Bounded {
            assert!(is_refused_with("\"precision\":[", "\"precision\":[0.0,"));
            assert!(is_refused_with("\"n\":", "\"n\":7"));
            assert!(is_refused_with("\"form\":\"bounded\"", "\"form\":\"exact\""));
        } else {
            assert!(is_refused_with("\"inner\":[", "\"inner\":[0.0,"));
            assert!(is_refused_with("\"coef\":[[", "\"coef\":[[0.0,"));
            assert!(is_refused_with("\"gamma\":0.5", "\"gamma\":0.25"));
        }
    }
}
