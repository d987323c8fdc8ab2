//! The exact incremental SVM: after any sequence of added, removed and relabeled samples it equals an SVM trained from
//! scratch. Numbers in brackets are those of the list of invariants for Emara's thesis.
use crate::common::eliminate;
use evermargin::data::{Label, Matrix};
use evermargin::estimators::online::incremental::{ExactParams, ExactSvm, Place};
use evermargin::estimators::supervised::svc::SvcParams;
use evermargin::estimators::{Fit, Targets};
use evermargin::kernel::Kernel;
use evermargin::model::Model;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

const RBF: Kernel = Kernel::Rbf { gamma: 2.0 };

fn params(kernel: Kernel, c: f64) -> ExactParams {
    ExactParams { kernel, c, ..Default::default() }
}

fn label(positive: bool) -> Label {
    if positive { Label::Pos } else { Label::Neg }
}

/// Samples uniform in a cube.
fn scattered(n: usize, d: usize, rng: &mut Pcg64) -> Matrix {
    Matrix::dense((0..n * d).map(|_| rng.random_range(-1.0..1.0)).collect(), n, d).unwrap()
}

/// Samples on a few grid points: copies, ties and, with random labels, contradictions.
fn grid(n: usize, d: usize, rng: &mut Pcg64) -> Matrix {
    Matrix::dense((0..n * d).map(|_| f64::from(rng.random_range(-1i32..=1))).collect(), n, d).unwrap()
}

/// [20] Checks the optimality conditions in double precision, from their definition. The ridge changes y·f by
/// 1e-10(1 + K)α.
fn check(machine: &ExactSvm, kernel: Kernel) {
    let (n, alpha, y, x) = (machine.len(), machine.alpha(), machine.labels(), machine.points().view());
    let most = machine.costs().iter().fold(1.0, |most: f64, c| most.max(*c));
    let balance: f64 = (0..n).map(|i| alpha[i] * y[i]).sum();
    assert!(balance.abs() <= 1e-9 * most * n as f64, "{balance}");
    let size: f64 = (0..n).map(|j| alpha[j] * kernel.eval(x.row(j), x.row(j)).abs()).sum();
    let near = 1e-8 * (1.0 + size);
    for i in 0..n {
        let f =
            (0..n).map(|j| alpha[j] * y[j] * kernel.eval(x.row(i), x.row(j))).sum::<f64>() + machine.bias();
        assert!((f - machine.decisions()[i]).abs() < near, "{f} {}", machine.decisions()[i]);
        let (g, cost) = (y[i] * f - 1.0, machine.costs()[i]);
        match machine.places()[i] {
            Place::Absent => panic!("absent"),
            Place::Margin => assert!(g.abs() < near && (0.0..=cost).contains(&alpha[i]), "{g} {}", alpha[i]),
            Place::Error => assert!(g < near && alpha[i] == cost, "{g}"),
            Place::Rest => assert!(g > -near && alpha[i] == 0.0, "{g}"),
        }
    }
}

/// [20] Checks that R times the bordered matrix is the identity, to 1e-11 of the product of their largest values. R is
/// large for margin samples that are nearly linearly dependent, and so is its rounding error.
fn check_inverse(machine: &ExactSvm) {
    let (margin, inverse) = machine.inverse();
    let (size, r) = (inverse.size(), inverse.values());
    let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(1.0, |most: f64, v| most.max(v.abs()));
    let near = 1e-11
        * largest(&mut r.iter().copied())
        * largest(&mut margin.iter().flat_map(|&a| margin.iter().map(move |&b| machine.q(a, b))));
    assert_eq!(size, if margin.is_empty() { 0 } else { margin.len() + 1 });
    let bordered = |i: usize, j: usize| match (i, j) {
        (0, 0) => 0.0,
        (0, s) | (s, 0) => machine.labels()[margin[s - 1]],
        (a, b) => machine.q(margin[a - 1], margin[b - 1]),
    };
    for i in 0..size {
        for j in 0..size {
            let product: f64 = (0..size).map(|t| r[i * size + t] * bordered(t, j)).sum();
            assert!((product - f64::from(u8::from(i == j))).abs() < near, "({i}, {j}) {product}");
        }
    }
}

/// Training from scratch: the objective, α per sample, and b.
fn train_from_scratch(machine: &ExactSvm, kernel: Kernel, c: f64) -> (f64, Vec<f64>, f64) {
    let svc = SvcParams { kernel, c, tolerance: 1e-8, ..Default::default() };
    let t = Targets {
        y: machine.labels().iter().map(|y| label(*y > 0.0)).collect(),
        cost: machine.costs().iter().map(|cost| cost / c).collect(),
    };
    let fitted = svc.fit(machine.points().view(), &[t], &()).unwrap();
    let objective = fitted.reports[0].objective;
    let Model::Expansion { points, coef, bias, .. } = fitted.model else { panic!() };
    let mut alpha = vec![0.0; machine.len()];
    let all = machine.points().view();
    let mut at = 0;
    for (i, alpha) in alpha.iter_mut().enumerate() {
        // support vectors are in the order of the samples
        let same = at < points.rows() && {
            let apart = |a: f64, b: f64| (a - b).abs() == 0.0;
            let (mut p, mut q) = (Vec::new(), Vec::new());
            points.view().row(at).for_each(|_, v| p.push(v));
            all.row(i).for_each(|_, v| q.push(v));
            p.iter().zip(&q).all(|(a, b)| apart(*a, *b))
        };
        if same {
            *alpha = coef[0][at].abs();
            at += 1;
        }
    }
    (objective, alpha, bias[0])
}

/// ½αᵀQα − Σα of the incremental SVM.
fn objective(machine: &ExactSvm, kernel: Kernel) -> f64 {
    let (n, a, y, x) = (machine.len(), machine.alpha(), machine.labels(), machine.points().view());
    let k = |i: usize, j: usize| y[i] * y[j] * kernel.eval(x.row(i), x.row(j));
    let square: f64 = (0..n).map(|i| (0..n).map(|j| a[i] * a[j] * k(i, j)).sum::<f64>()).sum();
    0.5 * square - a.iter().sum::<f64>()
}

/// Makes random changes, and calls `then` after each.
fn apply_random_changes(
    machine: &mut ExactSvm,
    x: &Matrix,
    steps: usize,
    rng: &mut Pcg64,
    mut then: impl FnMut(&ExactSvm),
) {
    for _ in 0..steps {
        let id = rng.random_range(0..x.rows());
        let (key, positive) = (1000 - id as u64, rng.random_bool(0.5));
        let there = machine.ids().contains(&key);
        match rng.random_range(0..3) {
            _ if !there => {
                let weight = [0.5, 1.0, 2.0][id % 3];
                machine.add(x.view(), id, label(positive), weight, key).unwrap();
            }
            0 => machine.remove(key).unwrap(),
            _ => machine.relabel(key, label(positive)).unwrap(),
        }
        then(machine);
    }
}

#[test]
fn random_changes_keep_the_svm_optimal_and_equal_to_training_from_scratch() {
    for seed in 0..24 {
        let rng = &mut Pcg64::seed_from_u64(seed);
        let c = [0.3, 3.0, 30.0][seed as usize % 3];
        let kernel =
            [RBF, Kernel::Linear, Kernel::Poly { gamma: 0.5, coef0: 1.0, degree: 2 }][seed as usize / 3 % 3];
        let x = scattered(30, 3, rng);
        let mut machine = ExactSvm::new(&params(kernel, c), 3, false).unwrap();
        apply_random_changes(&mut machine, &x, 120, rng, |m| {
            check(m, kernel);
            check_inverse(m);
        });
        let (value, alpha, bias) = train_from_scratch(&machine, kernel, c);
        let exact = objective(&machine, kernel);
        assert!((exact - value).abs() < 1e-5 * (1.0 + value.abs()), "{exact} {value}");
        if kernel == RBF && machine.places().contains(&Place::Margin) {
            // the kernel of `svc` is single precision, so the error of its α is that precision times the condition number
            // of Q
            assert!(machine.alpha().iter().zip(&alpha).all(|(a, b)| (a - b).abs() < 1e-3 * c), "{seed}");
            assert!((machine.bias() - bias).abs() < 1e-3, "{} {bias}", machine.bias());
        }
    }
}

#[test]
fn copies_contradictions_and_ties_keep_the_svm_optimal() {
    for seed in 0..60 {
        let rng = &mut Pcg64::seed_from_u64(100 + seed);
        let c = [0.5, 2.0, 20.0][seed as usize % 3];
        let kernel = [RBF, Kernel::Linear][seed as usize % 2];
        // 9 grid points for 40 samples
        let x = grid(40, 2, rng);
        let mut machine = ExactSvm::new(&params(kernel, c), 2, false).unwrap();
        apply_random_changes(&mut machine, &x, 160, rng, |m| check(m, kernel));
        assert!(machine.len() > 15);
        let (value, ..) = train_from_scratch(&machine, kernel, c);
        let exact = objective(&machine, kernel);
        assert!((exact - value).abs() < 1e-5 * (1.0 + value.abs()), "{exact} {value}");
        assert!(machine.optimize().unwrap() < 1e-7);
        check(&machine, kernel);
        check_inverse(&machine);
    }
}

#[test]
fn an_added_and_removed_sample_leaves_no_trace() {
    for seed in 0..20 {
        let rng = &mut Pcg64::seed_from_u64(200 + seed);
        let x = scattered(41, 2, rng);
        let mut machine = ExactSvm::new(&params(RBF, 2.0), 2, false).unwrap();
        apply_random_changes(&mut machine, &x.view().select(&(0..40).collect::<Vec<_>>()), 100, rng, |_| {});
        machine.optimize().unwrap();
        let before = machine.clone();
        for y in [Label::Pos, Label::Neg] {
            machine.add(x.view(), 40, y, 1.0, 7).unwrap();
            machine.relabel(7, label(y == Label::Neg)).unwrap();
            machine.remove(7).unwrap();
            for (a, b) in machine.alpha().iter().zip(before.alpha()) {
                assert!((a - b).abs() < 1e-9, "{a} {b}");
            }
            machine.optimize().unwrap();
            assert!(machine == before, "not bit-identical, seed {seed}");
        }
    }
}

#[test]
fn optimized_states_of_the_same_samples_are_bit_identical() {
    let bits = |m: &ExactSvm| -> Vec<u64> {
        m.alpha().iter().chain(m.g()).chain([&m.bias()]).map(|v| v.to_bits()).collect()
    };
    for seed in 0..30 {
        let rng = &mut Pcg64::seed_from_u64(300 + seed);
        let kernel = [RBF, Kernel::Linear][seed as usize % 2];
        let x = scattered(60, 3, rng);
        let mut machine = ExactSvm::new(&params(kernel, 1.0), 3, false).unwrap();
        apply_random_changes(&mut machine, &x, 200, rng, |_| {});
        let mut order: Vec<usize> = (0..machine.len()).collect();
        order.sort_by_key(|&i| machine.ids()[i]);
        let mut fresh = ExactSvm::new(&params(kernel, 1.0), 3, false).unwrap();
        for i in order {
            let (y, weight) = (label(machine.labels()[i] > 0.0), machine.costs()[i]);
            fresh.add(machine.points().view(), i, y, weight, machine.ids()[i]).unwrap();
        }
        let (unoptimized, ids) = (machine.decisions(), machine.ids().to_vec());
        machine.optimize().unwrap();
        fresh.optimize().unwrap();
        assert_eq!(machine.places(), fresh.places(), "{seed}");
        assert_eq!(bits(&machine), bits(&fresh), "{seed}");
        assert!(machine == fresh && machine.model() == fresh.model());
        // `optimize` changes decisions by rounding only
        for (f, id) in unoptimized.iter().zip(&ids) {
            let at = machine.ids().iter().position(|i| i == id).unwrap();
            assert!((f - machine.decisions()[at]).abs() < 1e-8, "{f} {}", machine.decisions()[at]);
        }
    }
}

#[test]
fn resumed_states_are_bit_identical_and_corrupt_states_are_refused() {
    let rng = &mut Pcg64::seed_from_u64(1);
    let x = scattered(50, 3, rng);
    for x in [x.view().to_csr(), x] {
        let sparse = matches!(x, Matrix::Csr { .. });
        let mut machine = ExactSvm::new(&params(RBF, 1.0), 3, sparse).unwrap();
        let mut other = machine.clone();
        for round in 0..5 {
            let (a, b) = (&mut Pcg64::seed_from_u64(round), &mut Pcg64::seed_from_u64(round));
            apply_random_changes(&mut machine, &x, 60, a, |_| {});
            apply_random_changes(&mut other, &x, 60, b, |_| {});
            other = serde_json::from_value(serde_json::to_value(&other).unwrap()).unwrap();
            assert!(machine == other, "{round}");
        }
    }
    let rng = &mut Pcg64::seed_from_u64(2);
    let mut machine = ExactSvm::new(&params(RBF, 1.0), 2, false).unwrap();
    apply_random_changes(&mut machine, &scattered(20, 2, rng), 60, rng, |_| {});
    let good = serde_json::to_value(&machine).unwrap();
    let assert_error = |path: &[&str], value: serde_json::Value| {
        let mut bad = good.clone();
        let at = path.iter().fold(&mut bad, |at, key| &mut at[*key]);
        *at = value;
        serde_json::from_value::<ExactSvm>(bad).unwrap_err().to_string()
    };
    let damaged = "the state is damaged: ";
    let wrong = "its samples and their coefficients differ in number";
    assert_eq!(assert_error(&["ids"], serde_json::json!([1, 2])), format!("{damaged}{wrong}"));
    let ids = vec![3; machine.len()];
    assert_eq!(
        assert_error(&["ids"], serde_json::json!(ids)),
        format!("{damaged}two samples have the same id")
    );
    let wrong = format!("{damaged}its coefficients do not fit its samples");
    assert_eq!(assert_error(&["y"], serde_json::json!(vec![0.5; machine.len()])), wrong);
    assert_eq!(assert_error(&["standing", "alpha"], serde_json::json!(vec![9.0; machine.len()])), wrong);
    let wrong = format!("{damaged}its margin and the inverse of its matrix differ");
    assert_eq!(assert_error(&["standing", "margin"], serde_json::json!([])), wrong);
    assert_eq!(assert_error(&["standing", "inverse", "values"], serde_json::json!([1.0])), wrong);
    assert!(assert_error(&["params", "c"], serde_json::json!(-1.0)).contains("parameter c = -1"));
}

#[test]
fn sensitivities_equal_golden_values_and_the_closed_form_of_two_support_vectors() {
    // the golden vector, with sigma = 1
    let x = Matrix::dense(vec![0.0, 0.0, 2.0, 0.0, 0.5, 0.0], 3, 2).unwrap();
    let kernel = Kernel::Rbf { gamma: 0.5 };
    let mut machine = ExactSvm::new(&params(kernel, 100.0), 2, false).unwrap();
    machine.add(x.view(), 0, Label::Pos, 1.0, 1).unwrap();
    machine.add(x.view(), 1, Label::Neg, 1.0, 2).unwrap();
    assert_eq!(machine.inverse().0.len(), 2);
    let of = |beta: &[f64], s: usize| beta[1 + machine.inverse().0.iter().position(|&m| m == s).unwrap()];
    let beta = machine.sensitivities(x.view(), 2, Label::Pos).unwrap();
    for (value, expected) in [(beta[0], -0.035_907), (of(&beta, 0), -0.822_578), (of(&beta, 1), 0.177_422)] {
        assert!((value - expected).abs() < 1e-6, "{value} {expected}"); // the golden values have six decimal digits
    }
    // [21] lemma 1, at random points
    let rng = &mut Pcg64::seed_from_u64(4);
    let (k12, y) = (kernel.eval(x.view().row(0), x.view().row(1)), [1.0, -1.0]);
    for _ in 0..50 {
        let z = scattered(1, 2, rng);
        let (k1, k2) =
            (kernel.eval(x.view().row(0), z.view().row(0)), kernel.eval(x.view().row(1), z.view().row(0)));
        let ratio = (k1 - k2) / (1.0 - k12);
        for (label, yc) in [(Label::Pos, 1.0), (Label::Neg, -1.0)] {
            let beta = machine.sensitivities(z.view(), 0, label).unwrap();
            for (s, sign) in [(0, 1.0), (1, -1.0)] {
                let closed = -(y[s] * yc / 2.0) * (1.0 + sign * ratio);
                assert!((of(&beta, s) - closed).abs() < 1e-8, "{} {closed}", of(&beta, s));
            }
        }
    }
}

#[test]
fn sensitivities_solve_their_linear_system() {
    // [21], against elimination
    for seed in 0..10 {
        let rng = &mut Pcg64::seed_from_u64(500 + seed);
        let (x, z) = (scattered(40, 2, rng), scattered(1, 2, rng));
        let mut machine = ExactSvm::new(&params(RBF, 1.0), 2, false).unwrap();
        apply_random_changes(&mut machine, &x, 100, rng, |_| {});
        let (margin, y) = (machine.inverse().0.to_vec(), machine.labels().to_vec());
        let beta = machine.sensitivities(z.view(), 0, Label::Neg).unwrap();
        let balance: f64 = margin.iter().zip(&beta[1..]).map(|(&s, b)| y[s] * b).sum();
        assert!((balance - 1.0).abs() < 1e-9, "{balance}");
        let size = margin.len() + 1;
        let entry = |i: usize, j: usize| match (i, j) {
            (0, 0) => 0.0,
            (0, s) | (s, 0) => y[margin[s - 1]],
            (a, b) => machine.q(margin[a - 1], margin[b - 1]),
        };
        let a = (0..size).map(|i| (0..size).map(|j| entry(i, j)).collect()).collect();
        let q = |&s: &usize| y[s] * RBF.eval(machine.points().view().row(s), z.view().row(0));
        let rhs: Vec<f64> = std::iter::once(1.0).chain(margin.iter().map(q)).collect();
        let expected = eliminate(a, rhs).unwrap();
        for (b, e) in beta.iter().zip(&expected) {
            assert!((b - e).abs() < 1e-7 * (1.0 + e.abs()), "{b} {e}");
        }
    }
}

#[test]
fn relabeling_all_samples_negates_the_decisions() {
    let rng = &mut Pcg64::seed_from_u64(9);
    let x = scattered(40, 2, rng);
    let mut machine = ExactSvm::new(&params(RBF, 2.0), 2, false).unwrap();
    for i in 0..40 {
        machine.add(x.view(), i, label(rng.random_bool(0.5)), 1.0, i as u64).unwrap();
    }
    let (f, y) = (machine.decisions(), machine.labels().to_vec());
    for i in 0..40 {
        machine.relabel(i as u64, label(y[i] < 0.0)).unwrap();
        check(&machine, RBF);
    }
    assert!(machine.decisions().iter().zip(&f).all(|(a, b)| (a + b).abs() < 1e-8));
}

#[test]
fn one_class_gives_no_model() {
    let rng = &mut Pcg64::seed_from_u64(10);
    let x = scattered(30, 2, rng);
    let mut machine = ExactSvm::new(&params(RBF, 1.0), 2, false).unwrap();
    assert!(machine.model().is_none() && machine.is_empty() && machine.optimize().unwrap() == 0.0);
    for i in 0..20 {
        machine.add(x.view(), i, Label::Neg, 1.0, i as u64).unwrap();
        assert!(machine.model().is_none() && machine.decisions().iter().all(|f| *f == -1.0));
    }
    machine.add(x.view(), 20, Label::Pos, 1.0, 20).unwrap();
    check(&machine, RBF);
    assert!(machine.model().is_some());
    let two = machine.clone();
    machine.remove(20).unwrap();
    assert!(machine.model().is_none() && machine.alpha().iter().all(|a| *a == 0.0));
    machine.add(x.view(), 20, Label::Pos, 1.0, 20).unwrap();
    assert_eq!(machine.alpha(), two.alpha());
    // removes the last samples of both classes, one after the other
    (0..20).for_each(|i| machine.remove(i).unwrap());
    assert_eq!((machine.len(), machine.bias()), (1, 1.0));
    machine.relabel(20, Label::Neg).unwrap();
    assert_eq!(machine.bias(), -1.0);
    machine.remove(20).unwrap();
    assert_eq!((machine.len(), machine.bias()), (0, 0.0));
}

#[test]
fn refuses_invalid_samples_and_parameters_without_changes() {
    let x = Matrix::dense(vec![0.0, 1.0, 2.0, 3.0], 4, 1).unwrap();
    let mut machine = ExactSvm::new(&ExactParams { max_points: 3, ..params(RBF, 1.0) }, 1, false).unwrap();
    (0..3).for_each(|i| machine.add(x.view(), i, label(i > 0), 1.0, i as u64).unwrap());
    let before = machine.clone();
    let assert_error = |result: evermargin::error::Result<()>, text: &str| {
        assert_eq!(result.unwrap_err().to_string(), text);
    };
    let wide = Matrix::dense(vec![0.0, 1.0], 1, 2).unwrap();
    assert_error(machine.add(wide.view(), 0, Label::Pos, 1.0, 9), "columns: expected 1, found 2");
    assert_error(machine.add(x.view(), 4, Label::Pos, 1.0, 9), "rows: expected 5, found 4");
    assert_error(machine.add(x.view(), 3, Label::Unknown, 1.0, 9), "sample 9 has no label");
    assert_error(machine.add(x.view(), 3, Label::Pos, 0.0, 9), "sample 9: weight 0 must be above 0");
    assert_error(machine.add(x.view(), 3, Label::Pos, f64::NAN, 9), "sample 9: weight NaN must be above 0");
    assert_error(
        machine.add(x.view(), 3, Label::Pos, 1.0, 2),
        "sample 2 is there already; relabel it, or remove it first",
    );
    assert_error(machine.remove(5), "sample 5 is not there");
    assert_error(machine.relabel(5, Label::Pos), "sample 5 is not there");
    assert_error(
        machine.relabel(1, Label::Unknown),
        "sample 1: a label cannot become unknown; remove the sample",
    );
    assert_error(
        machine.add(x.view(), 3, Label::Pos, 1.0, 9),
        "the machine holds 3 samples, as many as max_points allows: remove some, raise max_points (time and memory grow \
         with the samples times those on the margin), or use local-svc, which evicts samples",
    );
    assert!(machine == before);
    let large = Matrix::dense(vec![1e60, 1.0, 2.0], 3, 1).unwrap();
    let mut linear = ExactSvm::new(&params(Kernel::Linear, 1.0), 1, false).unwrap();
    assert_error(
        linear.add(large.view(), 0, Label::Pos, 1.0, 4),
        "sample 4: its kernel value with itself is 1e120, too large to be exact with; scale the samples",
    );
    assert!(linear.is_empty());
    for (bad, text) in [
        (
            params(Kernel::Poly { gamma: 1.0, coef0: -1.0, degree: 3 }, 1.0),
            "parameter coef0 = -1: must be 0 or more, for a positive semi-definite kernel",
        ),
        (
            ExactParams { c: 0.0, ..Default::default() },
            "parameter c = 0: must be a number above 0, at most 1e15",
        ),
        (
            ExactParams { max_points: 1, ..Default::default() },
            "parameter max_points = 1: must be from 2 to 1048576",
        ),
        (
            params(Kernel::Sigmoid { gamma: 1.0, coef0: 0.0 }, 1.0),
            "parameter kernel = sigmoid: must be linear, rbf or poly: positive semi-definite",
        ),
    ] {
        assert_eq!(ExactSvm::new(&bad, 1, false).unwrap_err().to_string(), text);
    }
}

#[test]
fn changes_by_distance_equal_the_sensitivities_while_sets_are_unchanged() {
    use evermargin::estimators::online::incremental::locality::{Change, changes, radius};
    // two samples far from their bounds stay on the margin when the third is added: Δα = β·α_c
    let x = Matrix::dense(vec![0.0, 0.0, 2.0, 0.0, 0.8, 0.6], 3, 2).unwrap();
    let mut machine = ExactSvm::new(&params(Kernel::Rbf { gamma: 0.5 }, 100.0), 2, false).unwrap();
    machine.add(x.view(), 0, Label::Pos, 1.0, 1).unwrap();
    machine.add(x.view(), 1, Label::Neg, 1.0, 2).unwrap();
    let before = machine.clone();
    let found = changes(&machine, x.view(), 2, Label::Pos).unwrap();
    assert!(machine == before);
    machine.add(x.view(), 2, Label::Pos, 1.0, 3).unwrap();
    let moved = machine.alpha()[2];
    assert!(moved > 0.1 && machine.places() == [Place::Margin; 3]);
    let beta = before.sensitivities(x.view(), 2, Label::Pos).unwrap();
    for (i, distance) in [(0, 1.0), (1, 1.8f64.sqrt())] {
        let at = before.inverse().0.iter().position(|&s| s == i).unwrap();
        assert!((found[i].distance - distance).abs() < 1e-12, "{:?}", found[i]);
        assert!((found[i].change - beta[at + 1].abs() * moved / 100.0).abs() < 1e-9, "{:?}", found[i]);
    }
    let curve = [(0.5, 0.3), (2.0, 0.2), (1.0, 0.25), (3.0, 0.05)];
    let curve = curve.map(|(distance, change)| Change { distance, change });
    let radii = [0.0, 0.1, 0.2, 0.27, 0.5].map(|threshold| radius(&curve, threshold));
    assert_eq!(radii, [3.0, 2.0, 1.0, 0.5, 0.0]);
    let linear = ExactSvm::new(&params(Kernel::Linear, 1.0), 2, false).unwrap();
    let text = "parameter kernel = linear: must be rbf, which has a width";
    assert_eq!(changes(&linear, x.view(), 2, Label::Pos).unwrap_err().to_string(), text);
}
