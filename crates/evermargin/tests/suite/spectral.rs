//! Spectral clustering in a kernel space against its own equations, its constraints, its limit, and on shapes that are not
//! linearly separable.

use evermargin::data::MatrixView;
use evermargin::datasets::{GenerateParams, generate};
use evermargin::estimators::manifold::spectral::{Embedding, SpectralParams, cluster, embed, plain};
use evermargin::graph::{Graph, GraphParams, Weights};
use evermargin::solver::{Progress, Watch};
use evermargin::{Kernel, Matrix, Model};

fn generate_set(name: &str, rows: usize, noise: f64, seed: u64) -> (Matrix, Vec<u32>) {
    let params = GenerateParams { rows, noise: Some(noise), seed, ..Default::default() };
    let (x, labels) = generate(name, &params).unwrap();
    (x, labels.of.iter().map(|c| c.unwrap()).collect())
}

fn params(gamma: f64, n_neighbors: usize) -> SpectralParams {
    let graph = GraphParams { n_neighbors, weights: Weights::Heat, ..Default::default() };
    SpectralParams { kernel: Kernel::Rbf { gamma: 2.0 }, gamma, graph, ..Default::default() }
}

fn run(x: &Matrix, count: usize, params: &SpectralParams) -> Embedding {
    embed(x.view(), count, params, &()).unwrap().unwrap()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Σ c K(p, x) in double precision.
fn exact_output(model: &Model, x: MatrixView<'_>, output: usize) -> Vec<f64> {
    let Model::Expansion { kernel, points, coef, bias } = model else { panic!("no expansion") };
    let value = |i: usize| {
        let terms = (0..points.rows()).map(|p| coef[output][p] * kernel.eval(points.view().row(p), x.row(i)));
        terms.sum::<f64>() + bias[output]
    };
    (0..x.rows()).map(value).collect()
}

/// |f|² of an output.
fn squared_norm(model: &Model, output: usize) -> f64 {
    let Model::Expansion { points, coef, .. } = model else { panic!("no expansion") };
    dot(&coef[output], &exact_output(model, points.view(), output))
}

/// Fraction of rows whose sign agrees with their class, for the better of the two assignments of signs.
fn agreement(f: &[f64], class: &[u32]) -> f64 {
    let right = f.iter().zip(class).filter(|(f, c)| (**f > 0.0) == (**c == 1)).count();
    right.max(f.len() - right) as f64 / f.len() as f64
}

#[test]
fn coordinates_are_centered_and_orthonormal() {
    // orthonormal coordinates (invariant 8), and the reported objective equals its definition
    let (x, _) = generate_set("two-moons", 150, 0.1, 1);
    for gamma in [1e-6, 1e-3, 1.0] {
        for by_degree in [false, true] {
            let p = SpectralParams { by_degree, ..params(gamma, 6) };
            let graph = Graph::nearest(x.view(), &p.graph, &()).unwrap().unwrap();
            let count = |i: usize| if by_degree { graph.degrees()[i] } else { 1.0 };
            let weighted = |f: &[f64]| f.iter().enumerate().map(|(i, f)| count(i) * f).collect::<Vec<_>>();
            let found = run(&x, 4, &p);
            for (a, f) in found.coordinates.iter().enumerate() {
                assert!(weighted(f).iter().sum::<f64>().abs() < 1e-8, "{gamma}");
                for (b, g) in found.coordinates.iter().enumerate() {
                    let product = dot(&weighted(f), g);
                    assert!(
                        (product - f64::from(u8::from(a == b))).abs() < 1e-8,
                        "{gamma} {a} {b} {product}"
                    );
                }
                let mut lf = vec![0.0; 150];
                graph.laplacian(f, false, &mut lf);
                let objective = gamma * squared_norm(&found.model, a) + dot(f, &lf);
                assert!((objective - found.objectives[a]).abs() < 1e-6 * objective, "{objective} {found:?}");
                let far = f.iter().fold(0.0f64, |m, v| if v.abs() > m.abs() { *v } else { m });
                assert!(far > 0.0);
            }
            assert!(found.objectives.is_sorted());
        }
    }
}

#[test]
fn coordinates_are_stationary_and_minimal() {
    // stationarity: K(γα + Lf − λf − μ1) = 0; minimality: random functions that satisfy the constraints have larger values
    let (x, _) = generate_set("two-moons", 60, 0.1, 2);
    let p = params(0.01, 5);
    let graph = Graph::nearest(x.view(), &p.graph, &()).unwrap().unwrap();
    let found = run(&x, 2, &p);
    let Model::Expansion { kernel, points, coef, .. } = &found.model else { panic!("no expansion") };
    let row_of = |p: usize| (0..60).find(|&i| x.view().select(&[i]) == points.view().select(&[p])).unwrap();
    let k = |i: usize, j: usize| kernel.eval(x.view().row(i), x.view().row(j));
    for (a, f) in found.coordinates.iter().enumerate() {
        let mut alpha = vec![0.0; 60];
        (0..points.rows()).for_each(|p| alpha[row_of(p)] = coef[a][p]);
        let mut h = vec![0.0; 60];
        graph.laplacian(f, false, &mut h);
        let lambda = found.objectives[a];
        (0..60).for_each(|i| h[i] += 0.01 * alpha[i] - lambda * f[i]);
        let times_k =
            |h: &[f64]| (0..60).map(|i| (0..60).map(|j| k(i, j) * h[j]).sum()).collect::<Vec<f64>>();
        let (kh, mut ones) = (times_k(&h), times_k(&[1.0; 60]));
        // the rest must be a multiple of K1, without components in the previous coordinates
        let mu = dot(&kh, &ones) / dot(&ones, &ones);
        ones.iter_mut().zip(&kh).for_each(|(o, h)| *o = h - mu * *o);
        let scale = lambda * dot(&times_k(f), &times_k(f)).sqrt();
        assert!(dot(&ones, &ones).sqrt() < 1e-5 * scale, "{} {scale}", dot(&ones, &ones).sqrt());
    }
    let quadratic = |alpha: &[f64]| {
        let f: Vec<f64> = (0..60).map(|i| (0..60).map(|j| k(i, j) * alpha[j]).sum()).collect();
        let mut lf = vec![0.0; 60];
        graph.laplacian(&f, false, &mut lf);
        (0.01 * dot(alpha, &f) + dot(&f, &lf), f)
    };
    let k1: Vec<f64> = (0..60).map(|i| (0..60).map(|j| k(i, j)).sum()).collect();
    for trial in 0..200 {
        let mut alpha: Vec<f64> =
            (0..60).map(|i| ((i * 7 + trial * 13 + i * i * trial) as f64).sin()).collect();
        let off = dot(&alpha, &k1) / dot(&k1, &k1);
        alpha.iter_mut().zip(&k1).for_each(|(a, k)| *a -= off * k);
        let (value, f) = quadratic(&alpha);
        assert!(f.iter().sum::<f64>().abs() < 1e-9);
        assert!(value / dot(&f, &f) >= found.objectives[0]);
    }
}

#[test]
fn separates_moons_and_spirals_including_new_points() {
    let sharp = SpectralParams { kernel: Kernel::Rbf { gamma: 60.0 }, ..params(1e-4, 6) };
    for (name, noise, p) in [("two-moons", 0.06, params(1e-4, 6)), ("spirals", 0.01, sharp)] {
        let (x, class) = generate_set(name, 500, noise, 3);
        let found = cluster(x.view(), &p, &()).unwrap().unwrap();
        assert_eq!(agreement(&found.coordinates[0], &class), 1.0, "{name}");
        let (new, class) = generate_set(name, 500, noise, 4);
        let share = agreement(&found.model.decision(new.view()).unwrap(), &class);
        assert!(share > 0.995, "{name} {share}");
        // a linear kernel does not separate them
        let straight = SpectralParams { kernel: Kernel::Linear, ..p };
        assert!(agreement(&run(&x, 1, &straight).coordinates[0], &class) < 0.95);
    }
}

#[test]
fn decisions_of_the_model_equal_the_coordinates() {
    let (x, _) = generate_set("two-moons", 200, 0.1, 5);
    let found = run(&x, 3, &params(1e-3, 6));
    let decisions = found.model.decision(x.view()).unwrap();
    let Model::Expansion { coef, .. } = &found.model else { panic!("no expansion") };
    for (a, f) in found.coordinates.iter().enumerate() {
        let exact = exact_output(&found.model, x.view(), a);
        assert!(f.iter().zip(&exact).all(|(f, e)| (f - e).abs() < 1e-8));
        // single precision; see tolerances in CONTRIBUTING
        let tolerance = 1e-5 * coef[a].iter().map(|c| c.abs()).sum::<f64>();
        assert!((0..200).all(|i| (f[i] - decisions[3 * i + a]).abs() < tolerance.max(1e-9)));
    }
}

#[test]
fn a_small_gamma_gives_the_eigenvectors_of_the_graph() {
    let (x, _) = generate_set("two-moons", 120, 0.1, 6);
    let p = SpectralParams { kernel: Kernel::Rbf { gamma: 200.0 }, ..params(1e-9, 8) };
    let graph = Graph::nearest(x.view(), &p.graph, &()).unwrap().unwrap();
    assert_eq!(graph.components().iter().max(), Some(&0));
    let (found, plain) = (run(&x, 2, &p), plain(&graph, 2, false).unwrap());
    assert_eq!(found.components, 1);
    for (f, g) in found.coordinates.iter().zip(&plain) {
        assert!(dot(f, g).abs() > 0.9999, "{}", dot(f, g));
    }
}

#[test]
fn plain_spectral_clustering_gives_eigenvectors_orthogonal_to_the_null_space() {
    let (x, class) = generate_set("two-moons", 300, 0.06, 7);
    // three components: the graph cannot tell which of them belong together, but the kernel can
    let pieces = run(&x, 1, &params(1e-4, 6));
    assert_eq!((pieces.components, agreement(&pieces.coordinates[0], &class)), (3, 1.0));
    let graph = Graph::nearest(x.view(), &params(1.0, 10).graph, &()).unwrap().unwrap();
    for normalized in [false, true] {
        let found = plain(&graph, 2, normalized).unwrap();
        assert_eq!(agreement(&found[0], &class), 1.0);
        let free = |i: usize| if normalized { graph.degrees()[i].sqrt() } else { 1.0 };
        assert!((0..300).map(|i| free(i) * found[0][i]).sum::<f64>().abs() < 1e-10);
        let mut lf = vec![0.0; 300];
        for f in &found {
            graph.laplacian(f, normalized, &mut lf);
            let lambda = dot(f, &lf);
            assert!(lf.iter().zip(f).all(|(l, f)| (l - lambda * f).abs() < 1e-10));
        }
    }
    assert!(plain(&graph, 300, false).is_err() && plain(&graph, 0, false).is_err());
    let error = plain(&Graph::without_edges(5001), 1, false).unwrap_err().to_string();
    assert_eq!(error, "5001 rows: plain spectral clustering is for at most 5000");
}

#[test]
fn coordinates_do_not_depend_on_row_order_storage_or_threads() {
    let (x, _) = generate_set("two-moons", 100, 0.1, 8);
    let p = params(0.01, 5);
    let found = run(&x, 2, &p);
    let order: Vec<usize> = (0..100).map(|i| (i * 37) % 100).collect();
    let turned = run(&x.view().select(&order), 2, &p);
    let sparse = run(&x.view().to_csr(), 2, &p);
    for a in 0..2 {
        let f = &found.coordinates[a];
        assert!(order.iter().zip(&turned.coordinates[a]).all(|(&i, t)| (f[i] - t).abs() < 1e-5));
        assert!(f.iter().zip(&sparse.coordinates[a]).all(|(f, s)| (f - s).abs() < 1e-7));
    }
    let threads = |count: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build().unwrap();
        pool.install(|| run(&x, 2, &p))
    };
    assert_eq!(threads(1), threads(4));
}

#[test]
fn refuses_invalid_parameters_and_data() {
    struct StopImmediately;
    impl Watch for StopImmediately {
        fn proceed(&self, _: &Progress) -> bool {
            false
        }
    }
    let (x, _) = generate_set("two-moons", 40, 0.1, 9);
    let error = |count, p: SpectralParams| embed(x.view(), count, &p, &()).unwrap_err().to_string();
    let p = params(0.01, 5);
    assert_eq!(error(0, p), "parameter coordinates = 0: must be 1 or more, and fewer than the 40 rows");
    assert!(error(40, p).contains("fewer than the 40 rows"));
    for gamma in [0.0, -1.0, f64::NAN, 1e16] {
        assert!(error(1, SpectralParams { gamma, ..p }).contains("parameter gamma"));
    }
    assert!(error(1, SpectralParams { landmarks: 0, ..p }).contains("parameter landmarks"));
    assert_eq!(
        error(3, SpectralParams { kernel: Kernel::Linear, ..p }),
        "parameter coordinates = 3: must be at most 1, the dimension of the function space (identical rows, few landmarks, or a very wide or narrow kernel reduce it)"
    );
    assert!(embed(x.view(), 1, &p, &StopImmediately).unwrap().is_none());
    let same = Matrix::dense(vec![1.0; 20], 10, 2).unwrap();
    assert!(embed(same.view(), 1, &p, &()).unwrap_err().to_string().contains("coordinates"));
}
