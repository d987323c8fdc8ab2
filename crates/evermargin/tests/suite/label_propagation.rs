//! Label propagation: against dense algebra and scikit-learn.

use evermargin::data::Label;
use evermargin::datasets::{GenerateParams, generate};
use evermargin::estimators::transductive::Ratio;
use evermargin::estimators::transductive::label_propagation::{LabelPropagationParams, Method};
use evermargin::estimators::{Fit, Targets};
use evermargin::graph::{Graph, GraphParams, Metric, Weights};
use evermargin::math::linalg::Cholesky;
use evermargin::params::ParamValue;
use evermargin::solver::{Exit, Progress, Watch};
use evermargin::{Labels, Matrix};

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

fn plain(method: Method) -> LabelPropagationParams {
    LabelPropagationParams { method, mass: false, ..Default::default() }
}

fn graph(x: &Matrix, params: &LabelPropagationParams) -> Graph {
    Graph::nearest(
        x.view(),
        &GraphParams {
            n_neighbors: params.n_neighbors,
            metric: params.metric,
            weights: params.edge_weights,
            width: None,
            ..GraphParams::default()
        },
        &(),
    )
    .unwrap()
    .unwrap()
}

#[test]
fn harmonic_equals_the_dense_solution_and_the_mean_of_neighbors() {
    let (x, labels) = moons(90, 0.2, 1);
    let class: Vec<u32> = labels.of.iter().map(|c| c.unwrap()).collect();
    let known: Vec<usize> = (0..8).collect();
    let params = LabelPropagationParams { n_neighbors: 6, ..plain(Method::Harmonic) };
    let graph = graph(&x, &params);
    assert!(graph.components().iter().all(|c| *c == 0), "one component");
    let fitted = params.fit(x.view(), &problems(&class, &known), &()).unwrap();
    let f = &fitted.transduced.unwrap().scores[0];
    for i in 8..90 {
        let mean: f64 = graph.row(i).map(|(j, w)| w * f[j]).sum::<f64>() / graph.degrees()[i];
        assert!((f[i] - mean).abs() < 1e-8, "{i}: {} {mean}", f[i]);
    }
    let open: Vec<usize> = (8..90).collect();
    let (mut matrix, mut right) = (vec![0.0; 82 * 82], vec![0.0; 82]);
    for (a, &i) in open.iter().enumerate() {
        matrix[a * 82 + a] = graph.degrees()[i];
        for (j, w) in graph.row(i) {
            if j < 8 {
                right[a] += w * if class[j] == 1 { 1.0 } else { -1.0 };
            } else {
                matrix[a * 82 + j - 8] -= w;
            }
        }
    }
    Cholesky::new(matrix, 82).unwrap().solve(&mut right);
    open.iter().zip(&right).for_each(|(&i, g)| assert!((f[i] - g).abs() < 1e-8, "{} {g}", f[i]));
    for (i, &c) in class.iter().enumerate().take(8) {
        assert_eq!(f[i], if c == 1 { 1.0 } else { -1.0 }, "given labels are kept");
    }
}

/// Class shares of scikit-learn 1.x: LabelSpreading(kernel = the graph below, alpha=0.9, tol=1e-14).
const SKLEARN: [[f64; 3]; 18] = [
    [0.600283384029, 0.372465458575, 0.027251157396],
    [0.233461070290, 0.737035027376, 0.029503902334],
    [0.372113340659, 0.080900216916, 0.546986442425],
    [0.395739288154, 0.572765933490, 0.031494778356],
    [0.566952009377, 0.080900216916, 0.352147773707],
    [0.284453353215, 0.548382085425, 0.167164561360],
    [0.296245918161, 0.673479916868, 0.030274164972],
    [0.265417410277, 0.603798601105, 0.130783988618],
    [0.348757494086, 0.620324113770, 0.030918392144],
    [0.212865291854, 0.715652393481, 0.071482314665],
    [0.391045386334, 0.289308361823, 0.319646251843],
    [0.382536272224, 0.565911519654, 0.051552208122],
    [0.320659415887, 0.502686395370, 0.176654188743],
    [0.348757494086, 0.620324113770, 0.030918392144],
    [0.299691334465, 0.630563886039, 0.069744779496],
    [0.452257302622, 0.126771699727, 0.420970997651],
    [0.389812493987, 0.569590532028, 0.040596973985],
    [0.452257302622, 0.126771699727, 0.420970997651],
];

#[test]
fn spreading_agrees_with_scikit_learn() {
    let values: Vec<f64> = (0..18u32)
        .flat_map(|i| {
            let t = f64::from(i);
            [
                f64::from(i * 7 % 18) / 3.0 + (0.37 * t * t) % 1.0,
                f64::from((i * 5) % 11) / 2.0 + (0.61 * t) % 1.0,
            ]
        })
        .collect();
    let x = Matrix::dense(values, 18, 2).unwrap();
    let mut class = vec![0; 18];
    (class[1], class[9], class[2]) = (1, 1, 2);
    let params = LabelPropagationParams {
        n_neighbors: 3,
        edge_weights: Weights::Binary,
        alpha: 0.9,
        ..plain(Method::Spreading)
    };
    let fitted = params.fit(x.view(), &problems(&class, &[0, 4, 1, 9, 2]), &()).unwrap();
    let transduction = fitted.transduced.unwrap();
    for (i, row) in SKLEARN.iter().enumerate() {
        for (k, share) in row.iter().enumerate() {
            let ours = 0.5 * (1.0 + transduction.scores[k][i]);
            assert!((ours - share).abs() < 1e-9, "row {i} class {k}: {ours} {share}");
        }
    }
}

#[test]
fn both_methods_separate_two_moons_from_two_labels() {
    let (x, labels) = moons(400, 0.08, 2);
    let class: Vec<u32> = labels.of.iter().map(|c| c.unwrap()).collect();
    let known: Vec<usize> = (0..2).map(|c| class.iter().position(|k| *k == c).unwrap()).collect();
    for method in [Method::Harmonic, Method::Spreading] {
        let params = LabelPropagationParams { method, ..Default::default() };
        let fitted = params.fit(x.view(), &problems(&class, &known), &()).unwrap();
        let transduction = fitted.transduced.unwrap();
        let wrong = (0..400).filter(|&i| (transduction.scores[0][i] > 0.0) != (class[i] == 1)).count();
        assert_eq!(wrong, 0, "{method:?}");
        let model = fitted.model.decision(x.view()).unwrap();
        let wrong = (0..400).filter(|&i| (model[i] > 0.0) != (class[i] == 1)).count();
        assert!(wrong <= 2, "errors of the model: {wrong}");
    }
}

#[test]
fn rows_not_connected_to_labels_get_the_ratio() {
    // three distant groups with labels in two of them: 14 and 29 rows without a label
    let group = |i: usize| [0, 1, 1, 2][i % 4];
    let mut values = Vec::new();
    for i in 0..60 {
        let t = i as f64;
        values.extend([f64::from(group(i)) * 1000.0 + t.sin(), t.cos()]);
    }
    let x = Matrix::dense(values, 60, 2).unwrap();
    let class: Vec<u32> = (0..60).map(|i| u32::from(group(i) == 1)).collect();
    let share = 29.0 / 43.0;
    for method in [Method::Harmonic, Method::Spreading] {
        for mass in [false, true] {
            let ratio = Ratio::Given(vec![share]);
            let params = LabelPropagationParams { method, mass, ratio, n_neighbors: 4, ..Default::default() };
            let fitted = params.fit(x.view(), &problems(&class, &[0, 1]), &()).unwrap();
            let transduction = fitted.transduced.unwrap();
            assert_eq!(transduction.facts["unreachable"], ParamValue::Integer(15));
            for i in 0..60 {
                let score = transduction.scores[0][i];
                match group(i) {
                    0 => assert!((score + 1.0).abs() < 1e-6, "{score}"),
                    1 => assert!((score - 1.0).abs() < 1e-6, "{score}"),
                    _ => assert!((score - (2.0 * share - 1.0)).abs() < 1e-12, "{score}"),
                }
            }
        }
    }
}

#[test]
fn odds_are_scaled_to_the_given_ratio() {
    let (x, labels) = moons(120, 0.5, 3);
    let class: Vec<u32> = labels.of.iter().map(|c| c.unwrap()).collect();
    let shares = |mass: bool, ratio: f64| {
        let params = LabelPropagationParams {
            mass,
            ratio: Ratio::Given(vec![ratio]),
            metric: Metric::Euclidean,
            ..plain(Method::Harmonic)
        };
        let known: Vec<usize> = (0..10).collect();
        let fitted = params.fit(x.view(), &problems(&class, &known), &()).unwrap();
        let scores = fitted.transduced.unwrap().scores.remove(0);
        scores[10..].iter().map(|s| 0.5 * (1.0 + s)).collect::<Vec<f64>>()
    };
    let before = shares(false, 0.3);
    let after = shares(true, 0.3);
    let odds = |p: f64| p / (1.0 - p);
    let inside = |p: &f64| *p > 1e-3 && *p < 1.0 - 1e-3;
    let factor =
        before.iter().zip(&after).find(|(p, _)| inside(p)).map(|(p, q)| odds(*q) / odds(*p)).unwrap();
    for (p, q) in before.iter().zip(&after).filter(|(p, _)| inside(p)) {
        assert!((odds(*q) / odds(*p) / factor - 1.0).abs() < 1e-9, "{p} {q}");
    }
    let count = |shares: &[f64]| shares.iter().filter(|p| **p > 0.5).count();
    assert_eq!([count(&shares(true, 0.1)), count(&after), count(&shares(true, 0.8))], [11, 33, 88]);
}

/// Stops the neighbor search after a number of blocks.
struct StopAfter(std::sync::atomic::AtomicI64);

impl Watch for StopAfter {
    fn proceed(&self, _: &Progress) -> bool {
        self.0.fetch_sub(1, std::sync::atomic::Ordering::Relaxed) > 0
    }
}

#[test]
fn an_interrupted_neighbor_search_gives_the_ratio() {
    let (x, labels) = moons(1000, 0.1, 3); // 16 blocks
    let class: Vec<u32> = labels.of.iter().map(|c| c.unwrap()).collect();
    let known: Vec<usize> = (0..10).collect();
    let params = LabelPropagationParams { ratio: Ratio::Given(vec![0.3]), ..Default::default() };
    for blocks in [0, 3, 15] {
        let watch = StopAfter(blocks.into());
        let fitted = params.fit(x.view(), &problems(&class, &known), &watch).unwrap();
        let asked = blocks - watch.0.into_inner();
        assert!(asked < 40, "few calls follow the one that stops: {asked}");
        assert_eq!(fitted.reports[0].exit, Exit::Interrupted);
        fitted.model.check().unwrap();
        let transduction = fitted.transduced.unwrap();
        assert_eq!(transduction.facts["unreachable"], ParamValue::Integer(990));
        for (i, score) in transduction.scores[0].iter().enumerate() {
            let wanted = if i >= 10 { -0.4 } else { 2.0 * f64::from(class[i]) - 1.0 };
            assert!((score - wanted).abs() < 1e-12, "{blocks}: {score} {wanted}");
        }
    }
}

#[test]
fn class_shares_of_a_row_add_up_to_one() {
    let (x, labels) =
        generate("waveform", &GenerateParams { rows: 300, seed: 4, ..Default::default() }).unwrap();
    let class: Vec<u32> = labels.of.iter().map(|c| c.unwrap()).collect();
    let known: Vec<usize> = (0..30).collect();
    for (method, mass) in [(Method::Harmonic, false), (Method::Harmonic, true), (Method::Spreading, true)] {
        let params = LabelPropagationParams { method, mass, ..Default::default() };
        let fitted = params.fit(x.view(), &problems(&class, &known), &()).unwrap();
        let transduction = fitted.transduced.unwrap();
        let mut right = 0;
        for i in 30..300 {
            let total: f64 = (0..3).map(|k| 0.5 * (1.0 + transduction.scores[k][i])).sum();
            assert!((total - 1.0).abs() < 1e-5, "shares of a row add up to 1: {total}");
            let best = (0..3)
                .max_by(|&a, &b| transduction.scores[a][i].total_cmp(&transduction.scores[b][i]))
                .unwrap();
            right += usize::from(best as u32 == class[i]);
        }
        // twice chance level; spreading with mass reaches 163 from these labels
        assert!(right > 180 || method == Method::Spreading, "{method:?} {mass}: {right} of 270");
    }
}

#[test]
fn poisson_equals_the_dense_solution_of_its_equation() {
    let (x, labels) = moons(90, 0.2, 1);
    let class: Vec<u32> = labels.of.iter().map(|c| c.unwrap()).collect();
    let known = [0, 1, 2];
    let params = LabelPropagationParams { n_neighbors: 6, ..plain(Method::Poisson) };
    let graph = graph(&x, &params);
    let f = params.transduce(x.view(), &problems(&class, &known), &()).unwrap().scores.remove(0);
    // (L + εD)u = Σ (y − ȳ)δ over the labeled rows
    let n = 90;
    let mut a = vec![0.0; n * n];
    for i in 0..n {
        a[i * n + i] = graph.degrees()[i] * (1.0 + 1e-2);
        graph.row(i).for_each(|(j, w)| a[i * n + j] -= w);
    }
    let y = |i: usize| if class[i] == 1 { 1.0 } else { -1.0 };
    let mean = known.iter().map(|&i| y(i)).sum::<f64>() / 3.0;
    let mut u = vec![0.0; n];
    known.iter().for_each(|&i| u[i] = y(i) - mean);
    Cholesky::new(a, n).unwrap().solve(&mut u);
    let size = (3..n).map(|i| u[i].abs()).sum::<f64>() / (n - 3) as f64;
    for i in 0..n {
        assert!((f[i] - (u[i] / size).tanh()).abs() < 1e-5, "row {i}: {} {}", f[i], (u[i] / size).tanh());
    }
}
