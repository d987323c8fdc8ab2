//! Sparse manifold regularization against dense algebra implemented here from the definitions.

use evermargin::data::Label;
use evermargin::datasets::{GenerateParams, generate};
use evermargin::estimators::manifold::dictionary::{Atom, Dictionary};
use evermargin::estimators::manifold::lap::{LapParams, Loss, ObjectiveScaling};
use evermargin::estimators::manifold::penalty::{Penalty, PenaltyParams};
use evermargin::estimators::manifold::sparse::matching_pursuit::{
    Backfit, Candidates, Norm, Pursuit, PursuitCache,
};
use evermargin::estimators::manifold::sparse::objective::{LabeledTargets, SparseObjective, transduce};
use evermargin::estimators::manifold::sparse::restricted::Restricted;
use evermargin::estimators::manifold::sparse::sigmoid::Squashed;
use evermargin::estimators::manifold::sparse::{Method, SparseLapParams};
use evermargin::estimators::{Fit, Fitted, Targets, estimator};
use evermargin::solver::lars::l1_path;
use evermargin::solver::newton_cg::Objective;
use evermargin::solver::{Exit, Progress, Watch};
use evermargin::{Kernel, Labels, Matrix, Model};
use rand::{RngExt, SeedableRng};
use std::sync::atomic::{AtomicU64, Ordering};

const METHODS: [Method; 9] = [
    Method::Greedy,
    Method::Random,
    Method::Uniform,
    Method::Lasso,
    Method::Lars,
    Method::Decoupled,
    Method::Slack,
    Method::GreedySlack,
    Method::Sigmoid,
];

fn moons(rows: usize, noise: f64, seed: u64) -> (Matrix, Labels) {
    generate("two-moons", &GenerateParams { rows, noise: Some(noise), seed, ..Default::default() }).unwrap()
}

/// One problem per class, or a single one for two classes; only the rows in `known` are labeled.
fn problems(classes: &[u32], known: &[usize]) -> Vec<Targets> {
    let count = classes.iter().max().unwrap() + 1;
    let one = |k: u32| {
        let mut y = vec![Label::Unknown; classes.len()];
        known.iter().for_each(|&i| y[i] = if classes[i] == k { Label::Pos } else { Label::Neg });
        Targets { y, cost: vec![1.0; classes.len()] }
    };
    if count == 2 { vec![one(1)] } else { (0..count).map(one).collect() }
}

fn classes(labels: &Labels) -> Vec<u32> {
    labels.of.iter().map(|c| c.unwrap()).collect()
}

/// Three clouds, which give three problems, with labeled rows of unequal weight.
fn three_clouds(rows: usize, seed: u64) -> (Matrix, Vec<Targets>) {
    let mut rng = rand_pcg::Pcg64::seed_from_u64(seed);
    let class: Vec<u32> = (0..rows as u32).map(|i| i % 3).collect();
    let center = [[0.0, 0.0], [2.2, 0.2], [1.0, 2.0]];
    let at = |c: &u32| center[*c as usize].map(|v| v + rng.random_range(-1.3..1.3));
    let x = Matrix::dense(class.iter().flat_map(at).collect(), rows, 2).unwrap();
    let mut known: Vec<usize> =
        (0..3).flat_map(|c| (0..rows).filter(|&i| class[i] == c).take(3).collect::<Vec<_>>()).collect();
    known.sort_unstable();
    let mut problems = problems(&class, &known);
    for p in &mut problems {
        known.iter().enumerate().for_each(|(k, &i)| p.cost[i] = 0.5 + 0.25 * k as f64);
    }
    (x, problems)
}

// ---- dense algebra ----

type Dense = Vec<Vec<f64>>;

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn times(a: &Dense, v: &[f64]) -> Vec<f64> {
    a.iter().map(|row| dot(row, v)).collect()
}

fn product(a: &Dense, b: &Dense) -> Dense {
    a.iter()
        .map(|row| (0..b[0].len()).map(|j| row.iter().zip(b).map(|(v, b)| v * b[j]).sum()).collect())
        .collect()
}

/// Gaussian elimination with row pivoting.
fn solve(a: &Dense, b: &[f64]) -> Vec<f64> {
    let n = b.len();
    let mut m: Dense = a.iter().zip(b).map(|(row, b)| row.iter().copied().chain([*b]).collect()).collect();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| m[i][k].abs().total_cmp(&m[j][k].abs())).unwrap();
        m.swap(k, pivot);
        for i in k + 1..n {
            let f = m[i][k] / m[k][k];
            for j in k..=n {
                m[i][j] -= f * m[k][j];
            }
        }
    }
    let mut x = vec![0.0; n];
    for k in (0..n).rev() {
        x[k] = (m[k][n] - (k + 1..n).map(|j| m[k][j] * x[j]).sum::<f64>()) / m[k][k];
    }
    x
}

fn kernel_matrix(x: &Matrix, kernel: Kernel) -> Dense {
    let v = x.view();
    (0..v.rows()).map(|i| (0..v.rows()).map(|j| kernel.eval(v.row(i), v.row(j))).collect()).collect()
}

/// (I − D^(−½)WD^(−½))^p or (D − W)^p, from the edges of the graph.
fn laplacian(penalty: &Penalty, params: &PenaltyParams) -> Dense {
    let graph = penalty.graphs().next().unwrap();
    let n = graph.len();
    let d = graph.degrees();
    let mut l = vec![vec![0.0; n]; n];
    for i in 0..n {
        l[i][i] = if params.normalized { 1.0 } else { d[i] };
        for (j, w) in graph.row(i) {
            l[i][j] -= if params.normalized { w / (d[i] * d[j]).sqrt() } else { w };
        }
    }
    (1..params.power).fold(l.clone(), |m, _| product(&m, &l))
}

/// A small problem together with its dense kernel matrix `k` and penalty matrix `m`.
struct Case {
    x: Matrix,
    kernel: Kernel,
    penalty: Penalty,
    known: LabeledTargets,
    gamma: [f64; 2],
    k: Dense,
    m: Dense,
}

impl Case {
    fn new(rows: usize, power: usize, normalized: bool, seed: u64) -> Self {
        let (x, problems) = three_clouds(rows, seed);
        let kernel = Kernel::Rbf { gamma: 0.4 };
        let params = PenaltyParams { n_neighbors: 5, power, normalized, ..Default::default() };
        let penalty = params.penalty(x.view(), &()).unwrap().unwrap();
        let (k, m) = (kernel_matrix(&x, kernel), laplacian(&penalty, &params));
        Self { known: LabeledTargets::of(&problems).unwrap(), x, kernel, penalty, gamma: [0.02, 0.3], k, m }
    }

    fn dictionary(&self) -> Dictionary<'_> {
        Dictionary::new(self.x.view(), vec![self.kernel]).unwrap()
    }

    fn plain(&self) -> SparseObjective<'_> {
        SparseObjective::plain(self.gamma, &self.known, Some(&self.penalty))
    }

    /// γ_I M + W + shift·I
    fn smooth(&self, shift: f64) -> Dense {
        let mut s: Dense = self.m.iter().map(|row| row.iter().map(|v| self.gamma[1] * v).collect()).collect();
        (0..s.len()).for_each(|i| s[i][i] += self.known.weight[i] + shift);
        s
    }

    /// Σ over problems of ½γ_A|f|² + ½γ_I oᵀMo + ½Σw(y − o)², |f|² = βᵀK_JJβ or scale·|β|².
    fn objective(&self, atoms: &[usize], beta: &[Vec<f64>], norm: Norm) -> f64 {
        let one = |(beta, y): (&Vec<f64>, &Vec<f64>)| {
            let o: Vec<f64> =
                self.k.iter().map(|row| atoms.iter().zip(beta).map(|(&j, b)| row[j] * b).sum()).collect();
            let size = match norm {
                Norm::Kernel => atoms.iter().zip(beta).map(|(&j, b)| b * o[j]).sum::<f64>(),
                Norm::Ridge(scale) => scale * dot(beta, beta),
            };
            let missed: f64 = (0..o.len()).map(|i| self.known.weight[i] * (y[i] - o[i]).powi(2)).sum();
            0.5 * (self.gamma[0] * size + self.gamma[1] * dot(&o, &times(&self.m, &o)) + missed)
        };
        beta.iter().zip(&self.known.y).map(one).sum()
    }

    /// H_JJ and K_JL Wy of the problem restricted to the given atoms.
    fn normal(&self, atoms: &[usize], norm: Norm) -> (Dense, Vec<Vec<f64>>) {
        let columns: Dense = atoms.iter().map(|&j| self.k[j].clone()).collect();
        let q = self.smooth(0.0);
        let images: Dense = columns.iter().map(|c| times(&q, c)).collect();
        let entry = |i: usize, j: usize| {
            let g = match norm {
                Norm::Kernel => self.k[atoms[i]][atoms[j]],
                Norm::Ridge(scale) => f64::from(u8::from(i == j)) * scale,
            };
            self.gamma[0] * g + dot(&columns[i], &images[j])
        };
        let h = (0..atoms.len()).map(|i| (0..atoms.len()).map(|j| entry(i, j)).collect()).collect();
        let right = |y: &Vec<f64>| {
            let wy: Vec<f64> = y.iter().zip(&self.known.weight).map(|(y, w)| y * w).collect();
            columns.iter().map(|c| dot(c, &wy)).collect()
        };
        (h, self.known.y.iter().map(right).collect())
    }

    /// Minimum of the objective over the span of the given atoms.
    fn best(&self, atoms: &[usize], norm: Norm) -> f64 {
        let (h, right) = self.normal(atoms, norm);
        let beta: Vec<Vec<f64>> = right.iter().map(|r| solve(&h, r)).collect();
        self.objective(atoms, &beta, norm)
    }
}

fn rows(atoms: &[Atom]) -> Vec<usize> {
    atoms.iter().map(|a| a.row).collect()
}

fn fit(params: &SparseLapParams, x: &Matrix, problems: &[Targets]) -> Fitted {
    params.fit(x.view(), problems, &()).unwrap()
}

fn scores(fitted: &Fitted) -> &[Vec<f64>] {
    &fitted.transduced.as_ref().unwrap().scores
}

fn points(model: &Model) -> usize {
    match model {
        Model::Expansion { points, .. } => points.rows(),
        Model::Linear { .. } | Model::Views { .. } => 0,
    }
}

/// Outputs on all rows, one vector per problem, in double precision (block prediction uses single precision inside).
fn exact(fitted: &Fitted, x: &Matrix) -> Vec<Vec<f64>> {
    let Model::Expansion { kernel, points, coef, .. } = &fitted.model else { panic!("an expansion") };
    let k: Dense = (0..x.rows())
        .map(|i| (0..points.rows()).map(|j| kernel.eval(x.view().row(i), points.view().row(j))).collect())
        .collect();
    coef.iter().map(|c| times(&k, c)).collect()
}

// ---- a basis of all rows ----

#[test]
fn a_basis_of_all_rows_equals_laprls() {
    let (x, many) = three_clouds(70, 3);
    for (scaling, power, gamma_i) in [
        (ObjectiveScaling::Raw, 1, 0.1),
        (ObjectiveScaling::Raw, 3, 2.0),
        (ObjectiveScaling::Paper, 2, 500.0),
    ] {
        let penalty = PenaltyParams { n_neighbors: 6, power, ..Default::default() };
        // narrow enough that no row lies in the span of the others, so both methods use the whole space
        let kernel = Kernel::Rbf { gamma: 20.0 };
        let full = LapParams {
            loss: Loss::Square,
            kernel,
            gamma_i,
            gamma_a: 0.01,
            objective_scaling: scaling,
            penalty: penalty.clone(),
            ..Default::default()
        };
        let expected = full.fit(x.view(), &many, &()).unwrap();
        for method in [Method::Greedy, Method::Random, Method::Uniform, Method::Lasso] {
            let params = SparseLapParams {
                kernel,
                gamma_i,
                gamma_a: 0.01,
                objective_scaling: scaling,
                penalty: penalty.clone(),
                n_landmarks: 70,
                method,
                ..Default::default()
            };
            let difference = max_difference(&exact(&fit(&params, &x, &many), &x), &exact(&expected, &x));
            assert!(difference < 1e-9, "{method:?} {scaling:?} {power}: {difference}");
        }
    }
}

// ---- matching pursuit ----

#[test]
fn matching_pursuit_decreases_the_defined_objective() {
    for (norm, backfit, power) in [
        (Norm::Kernel, Backfit::Post, 1),
        (Norm::Kernel, Backfit::Pre, 2),
        (Norm::Ridge(1.0), Backfit::Post, 2),
    ] {
        let case = Case::new(60, power, power == 1, 5);
        let (sparse_objective, dictionary) = (case.plain(), case.dictionary());
        let mut pursuit = Pursuit::new(&sparse_objective, &dictionary, norm, Candidates::of(12, backfit, 1));
        let mut last = case.objective(&[], &vec![vec![]; 3], norm);
        assert!((pursuit.value() - last).abs() < 1e-12);
        for size in 1..=14 {
            assert_eq!(pursuit.run(size, &()), Exit::Converged);
            assert_eq!(pursuit.atoms().len(), size);
            let basis = rows(pursuit.atoms());
            let now = case.objective(&basis, pursuit.coefficients(), norm);
            assert!((pursuit.value() - now).abs() < 1e-9, "{size}: {} {now}", pursuit.value());
            assert!((now - case.best(&basis, norm)).abs() < 1e-9, "the coefficients minimize the objective");
            assert!(now < last, "{size}: {now} {last}");
            last = now;
            let space = Restricted::of(&dictionary, pursuit.atoms(), norm).unwrap();
            let solved = space.solve(&sparse_objective, &()).unwrap().unwrap();
            assert!((solved.values.iter().sum::<f64>() - now).abs() < 1e-9);
        }
    }
}

#[test]
fn pursuit_scores_are_exact_decreases_and_the_best_atom_is_taken() {
    for (norm, backfit) in [
        (Norm::Kernel, Backfit::Post),
        (Norm::Kernel, Backfit::Pre),
        (Norm::Ridge(0.8), Backfit::Post),
        (Norm::Ridge(0.8), Backfit::Pre),
    ] {
        let case = Case::new(50, 2, true, 7);
        let (sparse_objective, dictionary) = (case.plain(), case.dictionary());
        let mut pursuit = Pursuit::new(&sparse_objective, &dictionary, norm, Candidates::of(15, backfit, 3));
        for size in 0..8 {
            assert!(pursuit.fill(&()));
            let found = pursuit.candidates();
            assert_eq!(found.len(), 15);
            let (basis, beta) = (rows(pursuit.atoms()), pursuit.coefficients().to_vec());
            let before = case.objective(&basis, &beta, norm);
            for (atom, score) in &found {
                let mut wider = basis.clone();
                wider.push(atom.row);
                let after = match backfit {
                    Backfit::Pre => case.best(&wider, norm),
                    Backfit::Post => {
                        // the decrease is a parabola in each single coefficient; its minimum follows from three values
                        let at = |k: usize, b: f64| {
                            let mut beta = beta.clone();
                            beta.iter_mut()
                                .enumerate()
                                .for_each(|(p, v)| v.push(if p == k { b } else { 0.0 }));
                            case.objective(&wider, &beta, norm)
                        };
                        let gain = |k: usize| {
                            let (down, middle, up) = (at(k, -1.0), at(k, 0.0), at(k, 1.0));
                            let (slope, curvature) = ((up - down) / 2.0, up + down - 2.0 * middle);
                            slope * slope / (2.0 * curvature)
                        };
                        before - (0..3).map(gain).sum::<f64>()
                    }
                };
                assert!(
                    (before - after - score).abs() < 1e-9,
                    "{norm:?} {backfit:?} {size}: {} {score}",
                    before - after
                );
            }
            let best = found.iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap().0;
            pursuit.run(size + 1, &());
            assert_eq!(*pursuit.atoms().last().unwrap(), best);
        }
    }
}

#[test]
fn a_pursuit_cache_does_not_change_the_result() {
    let case = Case::new(50, 3, true, 7);
    let other = Case::new(50, 1, true, 7).penalty;
    let wider = Dictionary::new(case.x.view(), vec![Kernel::Rbf { gamma: 0.01 }]).unwrap();
    let (sparse_objective, dictionary) = (case.plain(), case.dictionary());
    for (norm, backfit) in [(Norm::Kernel, Backfit::Post), (Norm::Ridge(0.8), Backfit::Pre)] {
        let candidates = Candidates { number: 12, exchanged: 12, backfit, seed: 4 };
        let pursued = |shared_cache: Option<&PursuitCache<'_>>| {
            let mut pursuit = Pursuit::new(&sparse_objective, &dictionary, norm, candidates);
            if let Some(shared_cache) = shared_cache {
                pursuit = pursuit.with(shared_cache);
            }
            pursuit.run(15, &());
            (rows(pursuit.atoms()), pursuit.coefficients().to_vec(), pursuit.value())
        };
        let (atoms, beta, value) = pursued(None);
        assert!((value - case.best(&atoms, norm)).abs() < 1e-9);
        // the cache is used for the graph of the objective only, not for another graph or kernel
        let uses = [
            (&dictionary, &case.penalty, true),
            (&dictionary, &other, false),
            (&wider, &case.penalty, false),
        ];
        for (of, penalty, used) in uses {
            let shared_cache = PursuitCache::new(of, penalty);
            assert_eq!(
                Pursuit::new(&sparse_objective, &dictionary, norm, candidates).with(&shared_cache).is_held(),
                used
            );
            let found = pursued(Some(&shared_cache));
            assert_eq!(found.0, atoms);
            assert!(max_difference(&found.1, &beta) < 1e-9 && (found.2 - value).abs() < 1e-12);
        }
    }
}

#[test]
fn the_requested_number_of_candidates_is_exchanged() {
    let case = Case::new(60, 1, true, 3);
    let (sparse_objective, dictionary) = (case.plain(), case.dictionary());
    for (exchanged, stay) in [(0, 9), (4, 5), (9, 0), (10, 0)] {
        let candidates = Candidates { number: 10, exchanged, backfit: Backfit::Post, seed: 1 };
        let mut pursuit = Pursuit::new(&sparse_objective, &dictionary, Norm::Kernel, candidates);
        pursuit.fill(&());
        let mut before = pursuit.candidates();
        pursuit.run(1, &());
        pursuit.fill(&());
        let after = rows(&pursuit.candidates().iter().map(|(a, _)| *a).collect::<Vec<_>>());
        assert_eq!(after.len(), 10);
        before.sort_by(|a, b| b.1.total_cmp(&a.1));
        // the best candidate was taken; the next best stay
        for (rank, (atom, _)) in before.iter().enumerate() {
            assert_eq!(after.contains(&atom.row), (1..=stay).contains(&rank), "{exchanged}: {rank}");
        }
    }
}

#[test]
fn a_multi_scale_dictionary_has_one_atom_per_row_and_width() {
    let case = Case::new(40, 1, true, 2);
    let dictionary = Dictionary::multi_scale(case.x.view(), case.kernel).unwrap();
    assert_eq!(dictionary.len(), 280);
    let atoms = [Atom { row: 3, scale: 0 }, Atom { row: 3, scale: 6 }, Atom { row: 9, scale: 3 }];
    let block = dictionary.block(&atoms);
    for (k, gamma) in [(0, 0.4 * 64.0), (1, 0.4 / 64.0), (2, 0.4)] {
        let kernel = Kernel::Rbf { gamma };
        let plain = kernel.eval(case.x.view().row(17), case.x.view().row(atoms[k].row));
        assert!((block[17 * 3 + k] - plain).abs() < 1e-14);
    }
    let sparse_objective = case.plain();
    let mut pursuit =
        Pursuit::new(&sparse_objective, &dictionary, Norm::Ridge(1.0), Candidates::of(40, Backfit::Post, 1));
    pursuit.run(12, &());
    assert!(pursuit.atoms().iter().any(|a| a.scale != pursuit.atoms()[0].scale));
    let space = Restricted::of(&dictionary, pursuit.atoms(), Norm::Ridge(1.0)).unwrap();
    let solved = space.solve(&sparse_objective, &()).unwrap().unwrap();
    assert!((solved.values.iter().sum::<f64>() - pursuit.value()).abs() < 1e-9);
    assert!(space.model(&solved.functions).is_err());
    assert!(Dictionary::multi_scale(case.x.view(), Kernel::Linear).is_err());
}

#[test]
fn kernel_blocks_of_wide_sparse_rows_equal_single_evaluations() {
    let (x, _) = three_clouds(30, 1);
    let wide = x.view().to_csr().with_cols(6000);
    for kernel in [Kernel::Linear, Kernel::Rbf { gamma: 0.2 }] {
        let dictionary = Dictionary::new(wide.view(), vec![kernel]).unwrap();
        let atoms: Vec<Atom> = (0..30).rev().map(|row| Atom { row, scale: 0 }).collect();
        let block = dictionary.block(&atoms);
        for i in 0..30 {
            for (k, atom) in atoms.iter().enumerate() {
                let plain = kernel.eval(x.view().row(i), x.view().row(atom.row));
                assert!((block[i * 30 + k] - plain).abs() < 1e-12);
            }
        }
    }
}

// ---- the l1 regularization path ----

#[test]
fn every_knot_of_the_l1_path_is_optimal_and_its_end_is_the_full_solution() {
    let mut left = 0;
    for seed in 0..6 {
        let case = Case::new(32, 1, true, seed);
        let all: Vec<usize> = (0..32).collect();
        // narrow kernel: no column lies in the span of the others
        let case = Case { kernel: Kernel::Rbf { gamma: 8.0 }, ..case };
        let case = Case { k: kernel_matrix(&case.x, case.kernel), ..case };
        let (h, right) = case.normal(&all, Norm::Kernel);
        let flat: Vec<f64> = h.iter().flatten().copied().collect();
        for c in &right {
            let largest = c.iter().fold(0.0, |a: f64, v| a.max(v.abs()));
            for drops in [true, false] {
                let (knots, exit) = l1_path(&flat, c, 33, drops, &());
                assert_eq!(exit, Exit::Converged);
                assert!(knots.len() > 20);
                assert_eq!((knots[0].lambda, knots[0].active.len()), (largest, 0));
                let mut lambda = f64::INFINITY;
                for knot in &knots {
                    assert!(knot.lambda <= lambda);
                    lambda = knot.lambda;
                    let mut beta = vec![0.0; 32];
                    knot.active.iter().for_each(|(j, b)| beta[*j] = *b);
                    left += usize::from(drops && knot.active.iter().any(|(_, b)| *b == 0.0) && lambda > 0.0);
                    let image = times(&h, &beta);
                    for j in 0..32 {
                        let rho = c[j] - image[j];
                        assert!(rho.abs() <= lambda + 1e-9 * largest, "{seed} {j}: {rho} {lambda}");
                        if beta[j] != 0.0 {
                            let sign = if drops { beta[j].signum() } else { rho.signum() };
                            assert!(
                                (rho - lambda * sign).abs() < 1e-9 * largest,
                                "{seed} {j}: {rho} {lambda}"
                            );
                        }
                    }
                }
                let end = knots.last().unwrap();
                assert_eq!(end.lambda, 0.0);
                let full = solve(&h, c);
                for (j, b) in &end.active {
                    assert!((b - full[*j]).abs() < 1e-7, "{b} {}", full[*j]);
                }
                assert_eq!(end.active.len(), 32);
            }
        }
    }
    assert!(left > 0, "no variable left the active set");
    let (knots, _) = l1_path(&[1.0, 0.0, 0.0, 1.0], &[3.0, 1.0], 1, true, &());
    assert_eq!((knots.len(), knots[1].lambda, knots[1].active.clone()), (2, 1.0, vec![(0, 2.0)]));
}

// ---- slack ----

/// (5.6): alternates between f and β until convergence.
fn alternating_slack(case: &Case, atoms: &[usize], nu: f64, y: &[f64]) -> Vec<f64> {
    let n = case.k.len();
    let a = case.smooth(nu);
    let columns: Dense = atoms.iter().map(|&j| case.k[j].clone()).collect();
    let normal: Dense = (0..atoms.len())
        .map(|i| {
            (0..atoms.len())
                .map(|j| case.gamma[0] * case.k[atoms[i]][atoms[j]] + nu * dot(&columns[i], &columns[j]))
                .collect()
        })
        .collect();
    let mut o = vec![0.0; n];
    loop {
        let right: Vec<f64> = (0..n).map(|i| case.known.weight[i] * y[i] + nu * o[i]).collect();
        let f = solve(&a, &right);
        let beta = solve(&normal, &columns.iter().map(|c| nu * dot(c, &f)).collect::<Vec<_>>());
        let next: Vec<f64> = (0..n).map(|i| columns.iter().zip(&beta).map(|(c, b)| c[i] * b).sum()).collect();
        let moved = o.iter().zip(&next).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        o = next;
        if moved < 1e-12 {
            return o;
        }
    }
}

fn outputs(case: &Case, sparse_objective: &SparseObjective<'_>, atoms: &[Atom]) -> Vec<Vec<f64>> {
    let dictionary = case.dictionary();
    let space = Restricted::of(&dictionary, atoms, Norm::Kernel).unwrap();
    let solved = space.solve(sparse_objective, &()).unwrap().unwrap();
    solved.functions.iter().map(|v| space.outputs(v)).collect()
}

fn some_atoms() -> Vec<Atom> {
    [4, 11, 19, 23, 30, 38].map(|row| Atom { row, scale: 0 }).to_vec()
}

fn max_difference(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    a.iter().flatten().zip(b.iter().flatten()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn the_slack_solution_equals_alternating_minimization() {
    let case = Case::new(45, 2, true, 4);
    for nu in [0.01, 0.3, 3.0] {
        let sparse_objective =
            SparseObjective::slack(case.gamma, nu, &case.known, &case.penalty, &()).unwrap();
        let found = outputs(&case, &sparse_objective, &some_atoms());
        let alternating: Vec<Vec<f64>> =
            case.known.y.iter().map(|y| alternating_slack(&case, &rows(&some_atoms()), nu, y)).collect();
        assert!(
            max_difference(&found, &alternating) < 1e-7,
            "{nu}: {}",
            max_difference(&found, &alternating)
        );
    }
}

#[test]
fn slack_tends_to_the_restricted_and_to_the_decoupled_solution() {
    let case = Case::new(45, 2, true, 4);
    let slack = |nu: f64, gamma: [f64; 2]| {
        outputs(
            &case,
            &SparseObjective::slack(gamma, nu, &case.known, &case.penalty, &()).unwrap(),
            &some_atoms(),
        )
    };
    let restricted = outputs(&case, &case.plain(), &some_atoms());
    let far: Vec<f64> =
        [1e2, 1e4, 1e6].iter().map(|nu| max_difference(&slack(*nu, case.gamma), &restricted)).collect();
    assert!(far[0] > 20.0 * far[1] && far[1] > 20.0 * far[2] && far[2] < 1e-4, "{far:?}");
    let fields = transduce(case.gamma[1], &case.known, &case.penalty, &()).unwrap();
    let s = case.smooth(0.0);
    for (field, y) in fields.iter().zip(&case.known.y) {
        let wy: Vec<f64> = y.iter().zip(&case.known.weight).map(|(y, w)| y * w).collect();
        assert!(field.iter().zip(&solve(&s, &wy)).all(|(a, b)| (a - b).abs() < 1e-7));
    }
    let decoupled = outputs(&case, &SparseObjective::decoupled(0.05, fields), &some_atoms());
    let near: Vec<f64> = [1e-2, 1e-4, 1e-6]
        .iter()
        .map(|nu| max_difference(&slack(*nu, [0.05 * nu, case.gamma[1]]), &decoupled))
        .collect();
    assert!(near[0] > 20.0 * near[1] && near[1] > 20.0 * near[2] && near[2] < 1e-4, "{near:?}");
}

#[test]
fn slack_scores_are_exact_decreases_and_not_below_the_scores_of_the_source() {
    let case = Case::new(40, 1, true, 9);
    let nu = 0.7;
    let sparse_objective = SparseObjective::slack(case.gamma, nu, &case.known, &case.penalty, &()).unwrap();
    let dictionary = case.dictionary();
    let (a, n) = (case.smooth(nu), 40);
    // ½γ_A|β|² + ½fᵀSf − fᵀWy + ½yᵀWy + ½ν|f − o|²; without a given f, f is the minimizer, found by elimination
    let value = |atoms: &[usize], beta: &[f64], y: &[f64], f: Option<&[f64]>| {
        let o: Vec<f64> =
            (0..n).map(|i| atoms.iter().zip(beta).map(|(&j, b)| case.k[i][j] * b).sum()).collect();
        let right: Vec<f64> = (0..n).map(|i| case.known.weight[i] * y[i] + nu * o[i]).collect();
        let f = f.map_or_else(|| solve(&a, &right), <[f64]>::to_vec);
        let size: f64 = atoms.iter().zip(beta).map(|(&j, b)| b * o[j]).sum();
        let missed: f64 = (0..n).map(|i| case.known.weight[i] * (y[i] - f[i]).powi(2)).sum();
        let slack: f64 = (0..n).map(|i| (f[i] - o[i]).powi(2)).sum();
        0.5 * (case.gamma[0] * size + case.gamma[1] * dot(&f, &times(&case.m, &f)) + missed + nu * slack)
    };
    let mut pursuit =
        Pursuit::new(&sparse_objective, &dictionary, Norm::Kernel, Candidates::of(10, Backfit::Post, 2));
    for size in 0..5 {
        pursuit.fill(&());
        let (basis, beta) = (rows(pursuit.atoms()), pursuit.coefficients().to_vec());
        let before: f64 = case.known.y.iter().zip(&beta).map(|(y, b)| value(&basis, b, y, None)).sum();
        assert!((before - pursuit.value()).abs() < 1e-8, "{before} {}", pursuit.value());
        for (atom, score) in pursuit.candidates() {
            let mut wider = basis.clone();
            wider.push(atom.row);
            let gain = |(y, beta): (&Vec<f64>, &Vec<f64>)| {
                let at = |b: f64| value(&wider, &[beta.as_slice(), &[b]].concat(), y, None);
                let (down, middle, up) = (at(-1.0), at(0.0), at(1.0));
                ((up - down) / 2.0).powi(2) / (2.0 * (up + down - 2.0 * middle))
            };
            let true_decrease: f64 = case.known.y.iter().zip(&beta).map(gain).sum();
            assert!((true_decrease - score).abs() < 1e-8, "{size}: {true_decrease} {score}");
            // the score of the source: β_j with f fixed, then f with β_j fixed; it is never larger
            let source = |(y, beta): (&Vec<f64>, &Vec<f64>)| {
                let o: Vec<f64> =
                    (0..n).map(|i| basis.iter().zip(beta).map(|(&j, b)| case.k[i][j] * b).sum()).collect();
                let right: Vec<f64> = (0..n).map(|i| case.known.weight[i] * y[i] + nu * o[i]).collect();
                let f = solve(&a, &right);
                let at = |b: f64| value(&wider, &[beta.as_slice(), &[b]].concat(), y, Some(&f));
                let (down, middle, up) = (at(-1.0), at(0.0), at(1.0));
                let b = -(up - down) / 2.0 / (up + down - 2.0 * middle);
                value(&basis, beta, y, None) - value(&wider, &[beta.as_slice(), &[b]].concat(), y, None)
            };
            let source_score: f64 = case.known.y.iter().zip(&beta).map(source).sum();
            assert!(source_score <= score + 1e-8 && source_score > 0.0, "{source_score} {score}");
        }
        pursuit.run(size + 1, &());
    }
}

// ---- squashed outputs (method `sigmoid`) ----

#[test]
fn the_gradient_of_squashed_outputs_equals_finite_differences() {
    let case = Case::new(40, 2, true, 1);
    let dictionary = case.dictionary();
    let space = Restricted::of(&dictionary, &some_atoms(), Norm::Kernel).unwrap();
    let mut f = Squashed::new(case.gamma, &space, &case.penalty, &case.known.weight, &case.known.y[0]);
    let v: Vec<f64> = (0..6).map(|k| (k as f64 * 1.7).sin()).collect();
    let (mut gradient, mut curved) = (vec![0.0; 6], vec![0.0; 6]);
    let o = space.outputs(&v);
    let t: Vec<f64> = o.iter().map(|o| (2.0 * o).tanh()).collect();
    let missed: f64 = (0..40).map(|i| case.known.weight[i] * (case.known.y[0][i] - o[i]).powi(2)).sum();
    let plainly = 0.5 * (case.gamma[0] * dot(&v, &v) + case.gamma[1] * dot(&t, &times(&case.m, &t)) + missed);
    assert!((f.value(&v) - plainly).abs() < 1e-12);
    f.gradient(&v, &mut gradient);
    for k in 0..6 {
        let h = 1e-5;
        let at = |f: &mut Squashed<'_>, by: f64| {
            let mut w = v.clone();
            w[k] += by;
            f.value(&w)
        };
        let slope = (at(&mut f, h) - at(&mut f, -h)) / (2.0 * h);
        assert!((slope - gradient[k]).abs() < 1e-8, "{slope} {}", gradient[k]);
    }
    f.value(&v);
    f.hess_vec(&v, &mut curved);
    assert!(dot(&v, &curved) >= case.gamma[0] * dot(&v, &v));
}

#[test]
fn squashed_outputs_end_with_a_lower_objective_than_they_start() {
    let (x, labels) = moons(200, 0.1, 3);
    let problem = problems(&classes(&labels), &[0, 1, 2, 3]);
    let params = SparseLapParams { n_landmarks: 12, balance: false, ..moon_params(Method::Greedy) };
    let greedy = fit(&params, &x, &problem);
    let squashed = fit(&SparseLapParams { method: Method::Sigmoid, ..params.clone() }, &x, &problem);
    assert_eq!(points(&greedy.model), points(&squashed.model));
    let penalty = params.penalty.penalty(x.view(), &()).unwrap().unwrap();
    let known = LabeledTargets::of(&problem).unwrap();
    let value = |fitted: &Fitted| {
        let Model::Expansion { points, coef, .. } = &fitted.model else { panic!("an expansion") };
        let o = &scores(fitted)[0];
        let size: f64 =
            fitted.model.decision(points.view()).unwrap().iter().zip(&coef[0]).map(|(f, a)| f * a).sum();
        let t: Vec<f64> = o.iter().map(|o| (2.0 * o).tanh()).collect();
        let missed: f64 = (0..200).map(|i| known.weight[i] * (known.y[0][i] - o[i]).powi(2)).sum();
        0.5 * (params.gamma_a * size + params.gamma_i * dot(&t, &penalty.apply(&t)) + missed)
    };
    assert!(value(&squashed) < value(&greedy), "{} {}", value(&squashed), value(&greedy));
    assert!((value(&squashed) - squashed.reports[0].objective).abs() < 1e-6);
}

// ---- the estimator ----

/// One label per class says little about the threshold, so `balance` makes the classes equally large.
fn moon_params(method: Method) -> SparseLapParams {
    SparseLapParams {
        kernel: Kernel::Rbf { gamma: 4.0 },
        gamma_a: 1e-4,
        gamma_i: 0.1,
        n_landmarks: 15,
        slack_weight: if method == Method::Decoupled { 1.0 } else { 0.01 },
        balance: true,
        method,
        ..Default::default()
    }
}

#[test]
fn learns_two_moons_from_one_label_per_class() {
    for seed in 1..=5 {
        let (x, labels) = moons(450, 0.1, seed);
        let class = classes(&labels);
        let known: Vec<usize> = (0..2).map(|c| (0..450).find(|&i| class[i] == c).unwrap()).collect();
        for method in [Method::Decoupled, Method::GreedySlack] {
            let fitted = fit(&moon_params(method), &x, &problems(&class, &known));
            assert!(points(&fitted.model) <= 15);
            let wrong =
                scores(&fitted)[0].iter().zip(&class).filter(|(s, c)| (**s > 0.0) != (**c == 1)).count();
            assert!(wrong < 9, "{method:?}, seed {seed}: {wrong} of 450");
        }
    }
}

#[test]
fn the_basis_is_never_larger_than_n_landmarks() {
    let (x, many) = three_clouds(80, 2);
    for method in METHODS {
        for basis in [1, 2, 7, 79] {
            let params = SparseLapParams { n_landmarks: basis, method, candidates: 9, ..Default::default() };
            let fitted = fit(&params, &x, &many);
            assert!(
                (1..=basis).contains(&points(&fitted.model)),
                "{method:?} {basis}: {}",
                points(&fitted.model)
            );
            assert!(scores(&fitted).iter().flatten().all(|s| s.is_finite()));
            assert_eq!(fitted.reports.len(), 3);
        }
    }
}

#[test]
fn without_unlabeled_rows_it_equals_least_squares_on_the_labels() {
    let (x, labels) = moons(90, 0.2, 2);
    let all: Vec<usize> = (0..90).collect();
    let problem = problems(&classes(&labels), &all);
    let params = SparseLapParams { kernel: Kernel::Rbf { gamma: 2.0 }, gamma_a: 0.1, ..Default::default() };
    // narrow enough that no row lies in the span of the others
    let narrow = SparseLapParams { kernel: Kernel::Rbf { gamma: 500.0 }, ..params.clone() };
    let laprls = LapParams { loss: Loss::Square, kernel: narrow.kernel, gamma_a: 0.1, ..Default::default() };
    let expected = laprls.fit(x.view(), &problem, &()).unwrap();
    assert!(max_difference(&exact(&fit(&narrow, &x, &problem), &x), &exact(&expected, &x)) < 1e-9);
    let found = fit(&params, &x, &problem);
    // fewer functions than labels: with a third of them the pursuit is nearly as good
    let few = fit(&SparseLapParams { n_landmarks: 30, ..params.clone() }, &x, &problem);
    assert_eq!(points(&few.model), 30);
    assert!(few.reports[0].objective >= found.reports[0].objective);
    assert!(few.reports[0].objective < 1.05 * found.reports[0].objective);
    // with γ_I = 0, unlabeled rows are ignored
    let half = problems(&classes(&labels), &(0..45).collect::<Vec<_>>());
    let blind = fit(&SparseLapParams { gamma_i: 0.0, ..params.clone() }, &x, &half);
    let alone = params.supervised().unwrap().fit(x.view(), &half, &()).unwrap();
    assert_eq!(blind.model, alone.model);
    assert!(points(&blind.model) <= 45);
}

#[test]
fn weight_two_equals_two_copies_and_weight_zero_equals_removal() {
    let (x, labels) = moons(60, 0.2, 4);
    let class = classes(&labels);
    let twice: Vec<usize> = (0..60).chain([0, 7, 20]).collect();
    let copied = problems(&twice.iter().map(|&i| class[i]).collect::<Vec<_>>(), &(0..63).collect::<Vec<_>>());
    let mut weighted = problems(&class, &(0..60).collect::<Vec<_>>());
    [0, 7, 20].iter().for_each(|&i| weighted[0].cost[i] = 2.0);
    let params = SparseLapParams { kernel: Kernel::Rbf { gamma: 1.0 }, gamma_a: 0.05, ..Default::default() };
    let a = fit(&params, &x.view().select(&twice), &copied).model.decision(x.view()).unwrap();
    let b = fit(&params, &x, &weighted).model.decision(x.view()).unwrap();
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-7));
    // rows of cost 0 take no part
    let (x, many) = three_clouds(50, 6);
    let mut absent = many.clone();
    absent.iter_mut().for_each(|p| (40..50).for_each(|i| p.cost[i] = 0.0));
    let kept: Vec<usize> = (0..40).collect();
    let part: Vec<Targets> = many.iter().map(|p| p.select(&kept)).collect();
    if part.iter().all(|p| p.check(40).is_ok()) {
        let params = SparseLapParams { n_landmarks: 10, method: Method::Greedy, ..Default::default() };
        let (a, b) = (fit(&params, &x, &absent), fit(&params, &x.view().select(&kept), &part));
        assert_eq!(a.model, b.model);
        assert_eq!(scores(&a)[0].len(), 50);
    }
}

#[test]
fn results_are_bit_identical_for_any_number_of_threads_and_close_for_sparse_rows() {
    let (x, many) = three_clouds(300, 8);
    let csr = x.view().to_csr();
    for method in METHODS {
        let params = SparseLapParams { n_landmarks: 20, method, ..Default::default() };
        let on = |x: &Matrix, threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let fitted = pool.install(|| fit(&params, x, &many));
            (exact(&fitted, x), fitted.reports)
        };
        let one = on(&x, 1);
        assert_eq!(one, on(&x, 2), "{method:?}");
        assert_eq!(one, on(&x, 4), "{method:?}");
        let sparse = on(&csr, 2).0;
        // sparse rows compute edge lengths from inner products, and squashed outputs are solved to 1e-5
        let near = if method == Method::Sigmoid { 1e-4 } else { 1e-7 };
        assert!(max_difference(&one.0, &sparse) < near, "{method:?}: {}", max_difference(&one.0, &sparse));
    }
}

/// Stops training after a number of calls.
struct StopAfter(AtomicU64);

impl Watch for StopAfter {
    fn proceed(&self, _: &Progress) -> bool {
        self.0.fetch_sub(1, Ordering::Relaxed) > 1_000_000
    }
}

#[test]
fn an_interrupt_leaves_a_valid_model() {
    let (x, many) = three_clouds(150, 5);
    for method in METHODS {
        let params = SparseLapParams { n_landmarks: 30, method, ..Default::default() };
        let mut ended = 0;
        for n_calls in [0, 1, 2, 4, 6, 10, 20, 60] {
            let stop = StopAfter(AtomicU64::new(1_000_000 + n_calls));
            let fitted = params.fit(x.view(), &many, &stop).unwrap();
            assert!(scores(&fitted).iter().flatten().all(|s| s.is_finite()));
            assert!((1..=30).contains(&points(&fitted.model)), "{method:?} {n_calls}");
            let stopped = fitted.reports.iter().all(|r| r.exit == Exit::Interrupted);
            ended += usize::from(stopped);
            assert!(stopped || n_calls > 2, "{method:?} {n_calls}");
        }
        assert!(ended >= 3, "{method:?} {ended}");
    }
}

#[test]
fn refuses_invalid_parameters() {
    let (x, many) = three_clouds(40, 1);
    let ok = SparseLapParams::default;
    for (params, message) in [
        (
            SparseLapParams { gamma_a: 0.0, ..ok() },
            "parameter gamma_a = 0: must be a number from 1e-14 to 1e15",
        ),
        (
            SparseLapParams { gamma_i: -1.0, ..ok() },
            "parameter gamma_i = -1: must be 0 (labels alone) or a number up to 1e15",
        ),
        (SparseLapParams { n_landmarks: 0, ..ok() }, "parameter n_landmarks = 0: must be 1 or more"),
        (SparseLapParams { candidates: 0, ..ok() }, "parameter candidates = 0: must be 1 or more"),
        (SparseLapParams { exchange: 1.5, ..ok() }, "parameter exchange = 1.5: must be a share, from 0 to 1"),
        (
            SparseLapParams { exchange: f64::NAN, ..ok() },
            "parameter exchange = NaN: must be a share, from 0 to 1",
        ),
        (
            SparseLapParams { slack_weight: f64::NAN, ..ok() },
            "parameter slack_weight = NaN: must be a number above 0, at most 1e15",
        ),
        (
            SparseLapParams { penalty: PenaltyParams { class_wise: true, ..Default::default() }, ..ok() },
            "parameter class_wise = true: must be false: the graph also connects unlabeled rows",
        ),
        (
            SparseLapParams { penalty: PenaltyParams { power: 0, ..Default::default() }, ..ok() },
            "parameter power = 0: must be a whole number from 1 to 16",
        ),
    ] {
        assert_eq!(params.fit(x.view(), &many, &()).unwrap_err().to_string(), message);
    }
    let large = Matrix::dense(vec![0.0; 5001], 5001, 1).unwrap();
    let mut y = vec![Label::Unknown; 5001];
    (y[0], y[1]) = (Label::Neg, Label::Pos);
    let problem = [Targets { y, cost: vec![1.0; 5001] }];
    let error =
        SparseLapParams { method: Method::Lasso, ..ok() }.fit(large.view(), &problem, &()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "parameter method = lasso: must be another one for 5001 rows: lasso allows at most 5000"
    );
    let mut unlike = many.clone();
    let i = unlike[0].used()[0];
    unlike[0].cost[i] = 9.0;
    assert_eq!(
        ok().fit(x.view(), &unlike, &()).unwrap_err().to_string(),
        "problems that share a basis must have the same labeled rows with the same weights"
    );
    let made =
        estimator("sparse-lap").unwrap().make(&serde_json::from_str(r#"{"method": "gredy"}"#).unwrap());
    let error = made.unwrap_err().to_string();
    assert!(error.starts_with("parameter method = gredy: must be one of decoupled,"), "{error}");
}

#[test]
fn handles_identical_rows_and_linear_and_precomputed_kernels() {
    let x = Matrix::dense(vec![0.5; 60], 30, 2).unwrap();
    let problem = problems(&[0, 1].repeat(15), &[0, 1]);
    for method in METHODS {
        let params = SparseLapParams { n_landmarks: 5, method, ..Default::default() };
        let fitted = fit(&params, &x, &problem);
        assert!(scores(&fitted)[0].iter().all(|s| s.is_finite()), "{method:?}");
    }
    let (x, labels) = moons(60, 0.1, 1);
    let problem = problems(&classes(&labels), &[0, 1, 2, 3, 4, 5]);
    for method in METHODS {
        let params = SparseLapParams {
            kernel: Kernel::Linear,
            n_landmarks: 8,
            method,
            ridge: true,
            ..Default::default()
        };
        assert!(matches!(fit(&params, &x, &problem).model, Model::Linear { .. }));
    }
    let k = kernel_matrix(&x, Kernel::Rbf { gamma: 3.0 });
    let k = Matrix::dense(k.concat(), 60, 60).unwrap();
    let params = SparseLapParams { n_landmarks: 60, kernel: Kernel::Precomputed, ..Default::default() };
    let error = params.fit(k.view(), &problem, &()).unwrap_err().to_string();
    assert!(error.contains("a kernel matrix has no rows to find neighbors of"), "{error}");
    // with a given graph, laprls on the kernel matrix equals laprls with the kernel
    let plain = LapParams { loss: Loss::Square, kernel: Kernel::Rbf { gamma: 3.0 }, ..Default::default() };
    let graph = plain.penalty.graph(x.view(), &()).unwrap().unwrap();
    let given = LapParams { kernel: Kernel::Precomputed, ..plain.clone() }.along(&graph.into()).unwrap();
    let found = given.fit(k.view(), &problem, &()).unwrap();
    assert!(max_difference(scores(&found), scores(&plain.fit(x.view(), &problem, &()).unwrap())) < 1e-7);
    let mut asymmetric = kernel_matrix(&x, Kernel::Rbf { gamma: 3.0 });
    asymmetric[3][5] += 0.1;
    let asymmetric = Matrix::dense(asymmetric.concat(), 60, 60).unwrap();
    let error = given.fit(asymmetric.view(), &problem, &()).unwrap_err().to_string();
    assert!(error.contains("it must be symmetric"), "{error}");
}
