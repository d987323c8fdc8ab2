//! ONNX export. The fixtures are models that were given to onnxruntime, with its results for ten samples; the exported
//! bytes must be unchanged, so these results remain valid. Random classifiers are checked with an independent reader,
//! which is itself compared with the results of onnxruntime.

mod reader;

use crate::samples::{Pcg, Shape, classifier, decisions, matrix};
use evermargin::data::{Matrix, Row};
use evermargin::kernel::Kernel;
use evermargin::model::{Calibration, Classifier, Columns, Model, MulticlassScheme, Part, Scaling};
use evermargin_io::artifacts::model;
use evermargin_io::json;
use evermargin_io::onnx::message::{DataType, GraphProto, ModelProto};
use evermargin_io::onnx::{holds_probabilities, is_onnx, to_onnx};
use prost::Message;
use reader::{attribute, run};
use serde_json::Value as Json;
use std::path::Path;

fn decoded(classifier: &Classifier) -> ModelProto {
    ModelProto::decode(to_onnx(classifier).unwrap().as_slice()).unwrap()
}

fn graph(classifier: &Classifier) -> GraphProto {
    decoded(classifier).graph.unwrap()
}

fn operators(graph: &GraphProto) -> Vec<&str> {
    graph.node.iter().map(|n| n.op_type.as_str()).collect()
}

/// Our decisions in the form of the output `scores`.
fn columns(scheme: MulticlassScheme, f: &[f64]) -> Vec<f64> {
    if scheme == MulticlassScheme::Binary { vec![-f[0], f[0]] } else { f.to_vec() }
}

fn numbers(json: &Json) -> Vec<Vec<f64>> {
    let row = |r: &Json| r.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
    json.as_array().unwrap().iter().map(row).collect()
}

/// Equality within single precision; in all fixtures the sum of |coefficients| is below 100.
fn near(a: &[Vec<f64>], b: &[Vec<f64>], tolerance: f64, what: &str) {
    assert_eq!((a.len(), a[0].len()), (b.len(), b[0].len()), "{what}");
    for (a, b) in a.iter().flatten().zip(b.iter().flatten()) {
        assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{what}: {a} {b}");
    }
}

#[test]
fn exported_models_give_the_results_of_onnxruntime() {
    let mut seen = 0;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/onnx");
    for shape in ["two", "pairs", "rest"] {
        for kind in ["linear", "rbf", "poly", "sigmoid"] {
            let name = format!("{kind}-{shape}");
            let results: Json =
                serde_json::from_slice(&std::fs::read(folder.join(format!("{name}.json"))).unwrap()).unwrap();
            let given = std::fs::read(folder.join(format!("{name}.onnx"))).unwrap();
            let c = json::from_json(&name, results["classifier"].to_string().as_bytes()).unwrap();
            let judged = ModelProto::decode(given.as_slice()).unwrap();
            let mut own = decoded(&c);
            own.producer_version.clone_from(&judged.producer_version);
            assert_eq!(own.encode_to_vec(), given, "{name}: not the bytes onnxruntime was given");

            let rows = numbers(&results["x"]);
            let x = Matrix::dense(rows.concat(), rows.len(), rows[0].len()).unwrap();
            let ours = c.predict(x).unwrap();
            let scores: Vec<Vec<f64>> =
                ours.decision.chunks(c.model.outputs()).map(|f| columns(c.scheme, f)).collect();
            let text = |l: &Json| l.as_str().map_or_else(|| l.to_string(), ToString::to_string);
            let labels: Vec<String> = results["label"].as_array().unwrap().iter().map(text).collect();
            let own_labels: Vec<String> = ours.class.iter().map(|l| c.classes[*l as usize].clone()).collect();
            assert_eq!(own_labels, labels, "{name}");
            near(&numbers(&results["scores"]), &scores, 4e-6, &name);

            let read = run(&judged, &rows);
            assert_eq!(read["label"].names(), labels, "{name}");
            near(read["scores"].numbers(), &numbers(&results["scores"]), 4e-6, &name);
            assert_eq!(holds_probabilities(&c), results["probabilities"].is_array(), "{name}");
            if let Some(p) = ours.probability.filter(|_| holds_probabilities(&c)) {
                let p: Vec<Vec<f64>> = p.chunks(c.classes.len()).map(<[f64]>::to_vec).collect();
                near(&numbers(&results["probabilities"]), &p, 4e-6, &name);
                near(read["probabilities"].numbers(), &p, 4e-6, &name);
                seen += 100;
            }
            seen += 1;
        }
    }
    assert_eq!(seen, 312, "twelve models, three of them with probabilities");
}

/// Decisions from the definition, and the sum of the magnitudes of their terms, to which rounding errors are relative.
fn by_definition(c: &Classifier, x: Row<'_>) -> (Vec<f64>, f64) {
    let mut sizes = c.model.clone();
    sizes.bias_mut().iter_mut().for_each(|b| *b = b.abs());
    let size = match &mut sizes {
        Model::Linear { weights, bias } => {
            let Row::Dense(x) = x else { unreachable!() };
            let all = weights.iter().flat_map(|w| w.iter().zip(x).map(|(w, x)| (w * x).abs()));
            all.sum::<f64>() + bias.iter().sum::<f64>()
        }
        Model::Expansion { kernel, points, coef, bias } => {
            let k: Vec<f64> =
                (0..points.rows()).map(|i| kernel_size(kernel, points.view().row(i), x)).collect();
            let all = coef.iter().flat_map(|c| c.iter().zip(&k).map(|(c, k)| (c * k).abs()));
            all.sum::<f64>() + bias.iter().sum::<f64>()
        }
        Model::Views { .. } => unreachable!(),
    };
    (decisions(&c.model, x), size)
}

/// Magnitude of the terms of a kernel value.
fn kernel_size(kernel: &Kernel, a: Row<'_>, b: Row<'_>) -> f64 {
    let product = (a.norm2() * b.norm2()).sqrt();
    match *kernel {
        Kernel::Poly { gamma, coef0, degree } => (gamma * product + coef0.abs()).powi(degree as i32),
        Kernel::Sigmoid { gamma, coef0 } => 1.0 + gamma * product + coef0.abs(),
        Kernel::Rbf { gamma } => 1.0 + gamma * (a.norm2() + b.norm2()),
        Kernel::Linear | Kernel::Precomputed => product,
    }
}

#[test]
fn exported_random_classifiers_give_our_decisions() {
    let (mut compared, mut rows) = (0, 0);
    for seed in 0..600u64 {
        let rng = &mut Pcg::new(seed);
        let shape = Shape {
            seed,
            classes: 2 + rng.below(4),
            scheme: (seed % 2) as u8,
            kernel: rng.below(5) as u8,
            points: rng.below(8),
            cols: 1 + rng.below(5),
            sparse: rng.below(2) == 0,
            scaling: rng.below(5) as u8,
            calibration: rng.below(2) as u8,
            narrow: false,
        };
        let c = classifier(shape);
        let x = matrix(rng, 6, shape.cols, false, true);
        let given: Vec<Vec<f64>> = (0..6)
            .map(|i| {
                let Row::Dense(row) = x.view().row(i) else { unreachable!() };
                row.to_vec()
            })
            .collect();
        let results = run(&decoded(&c), &given);
        let scaled = c.scaling.apply(x.clone()).unwrap();
        for i in 0..6 {
            let (f, size) = by_definition(&c, scaled.view().row(i));
            // Every number is rounded once: relative error 2^-24 per factor of each term.
            let tolerance = 1e-6 * (1.0 + size);
            let scores = &results["scores"].numbers()[i];
            for (ours, theirs) in columns(c.scheme, &f).iter().zip(scores) {
                assert!((ours - theirs).abs() <= tolerance, "{shape:?}: {ours} {theirs}");
            }
            let sorted = |v: &[f64]| {
                let mut v = v.to_vec();
                v.sort_by(f64::total_cmp);
                v
            };
            let clear = match c.scheme {
                MulticlassScheme::OneVsRest => {
                    sorted(&f).windows(2).last().is_some_and(|w| w[1] - w[0] > 2.0 * tolerance)
                }
                _ => f.iter().all(|v| v.abs() > tolerance),
            };
            rows += 1;
            if clear {
                let label = &c.classes[c.scheme.vote(c.classes.len(), &f) as usize];
                assert_eq!(&results["label"].names()[i], label, "{shape:?}");
                compared += 1;
            }
        }
        assert_eq!(results.contains_key("probabilities"), holds_probabilities(&c), "{shape:?}");
        if holds_probabilities(&c) {
            let ours = c.predict(x).unwrap().probability.unwrap();
            let theirs: Vec<f64> = results["probabilities"].numbers().concat();
            let size = (0..6).map(|i| by_definition(&c, scaled.view().row(i)).1).fold(1.0, f64::max);
            // Our probabilities come from single-precision kernels, accurate to about 1e-5 of the terms.
            for (ours, theirs) in ours.iter().zip(theirs) {
                assert!((ours - theirs).abs() <= 1e-5 * (1.0 + size), "{shape:?}: {ours} {theirs}");
            }
        }
    }
    assert!(compared * 100 >= rows * 97, "too many labels at a border: {compared} of {rows}");
}

fn classifier_of(scheme: MulticlassScheme, classes: &[&str], model: Model) -> Classifier {
    Classifier {
        learner: "svc".into(),
        params: Default::default(),
        classes: classes.iter().map(ToString::to_string).collect(),
        scheme,
        model,
        scaling: Scaling::None,
        input: Default::default(),
        calibration: Vec::new(),
    }
}

fn plane(weights: &[[f64; 2]]) -> Model {
    Model::Linear { weights: weights.iter().map(|w| w.to_vec()).collect(), bias: vec![0.0; weights.len()] }
}

/// The same decisions as an expansion over the two unit vectors.
fn spanned(weights: &[[f64; 2]]) -> Model {
    let Model::Linear { weights: coef, bias } = plane(weights) else { unreachable!() };
    let points = Matrix::dense(vec![1.0, 0.0, 0.0, 1.0], 2, 2).unwrap();
    Model::Expansion { kernel: Kernel::Linear, points, coef, bias }
}

#[test]
fn ties_and_zeros_are_resolved_as_in_our_models() {
    let grid: Vec<Vec<f64>> = (0..25).map(|i| vec![f64::from(i / 5 - 2), f64::from(i % 5 - 2)]).collect();
    let names = ["ant", "bee", "cat"];
    let three = [[1.0, 0.0], [0.0, 1.0], [-1.0, 1.0]];
    let ring = [[1.0, 0.0], [-1.0, 0.0], [1.0, 0.0]];
    let mut tied = 0;
    for (scheme, classes, weights) in [
        (MulticlassScheme::Binary, &names[..2], &three[..1]),
        (MulticlassScheme::Binary, &names[..2], &three[2..]),
        (MulticlassScheme::OneVsOne, &names[..], &three[..]),
        (MulticlassScheme::OneVsOne, &names[..], &ring[..]),
        (MulticlassScheme::OneVsRest, &names[..], &three[..]),
        (MulticlassScheme::OneVsRest, &names[..], &ring[..]),
        (MulticlassScheme::OneVsRest, &names[..2], &three[..2]),
    ] {
        for model in [plane(weights), spanned(weights)] {
            let c = classifier_of(scheme, classes, model);
            let results = run(&decoded(&c), &grid);
            for (i, x) in grid.iter().enumerate() {
                let f = decisions(&c.model, Row::Dense(x));
                assert_eq!(results["scores"].numbers()[i], columns(scheme, &f), "{c:?}");
                assert_eq!(
                    results["label"].names()[i],
                    classes[scheme.vote(classes.len(), &f) as usize],
                    "{c:?}"
                );
                tied += usize::from(f.contains(&0.0));
            }
        }
    }
    assert!(tied > 100, "{tied}");
}

#[test]
fn the_exported_graph_has_the_documented_structure() {
    let c = classifier_of(
        MulticlassScheme::OneVsRest,
        &["-7", "2", "10"],
        spanned(&[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]),
    );
    let model = decoded(&c);
    assert_eq!((model.ir_version, model.producer_name.as_str()), (7, "evermargin"));
    let sets: Vec<(&str, i64)> = model.opset_import.iter().map(|o| (o.domain.as_str(), o.version)).collect();
    assert_eq!(sets, [("", 13), ("ai.onnx.ml", 1)]);
    let g = graph(&c);
    assert_eq!(operators(&g), ["SVMClassifier", "Gather", "ArgMax", "Gather"]);
    let shape = |v: &evermargin_io::onnx::message::ValueInfoProto| {
        let tensor = v.r#type.clone().unwrap().tensor_type.unwrap();
        let dims: Vec<Option<i64>> = tensor.shape.as_ref().unwrap().dim.iter().map(|d| d.dim_value).collect();
        (v.name.clone(), tensor.elem_type(), dims)
    };
    let values: Vec<_> = g.input.iter().chain(&g.output).map(shape).collect();
    assert_eq!(
        values,
        [
            ("X".to_string(), DataType::Float, vec![None, Some(2)]),
            ("label".to_string(), DataType::Int64, vec![None]),
            ("scores".to_string(), DataType::Float, vec![None, Some(3)]),
        ]
    );
    assert_eq!(g.output[1].doc_string, "positive for -7, 2, 10");
    // the points are stored once for any number of classes; one row of coefficients per class
    assert_eq!(attribute(&g.node[0], "support_vectors").floats, [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(attribute(&g.node[0], "coefficients").floats, [1.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
    assert_eq!(attribute(&g.node[0], "vectors_per_class").ints, [0, 0, 0, 2]);

    let mut c = classifier_of(MulticlassScheme::Binary, &["01", "1"], plane(&[[1.0, 2.0]]));
    let g = graph(&c);
    assert_eq!(operators(&g), ["LinearClassifier"]);
    assert_eq!(shape(&g.output[0]).1, DataType::String, "01 is not how one writes 1");
    assert_eq!(g.output[1].doc_string, "-f, f; f is positive for 1");
    c.scaling = Scaling::Affine { name: "divide".into(), shift: Vec::new(), factor: vec![0.5, 0.5] };
    c.calibration = vec![Calibration::Sigmoid { a: -2.0, b: 0.5 }];
    let steps = ["Cast", "Mul", "Cast", "LinearClassifier", "Cast", "Mul", "Add", "Cast", "Sigmoid"];
    assert_eq!(operators(&graph(&c)), steps);
    c.calibration = vec![Calibration::Isotonic { at: vec![0.0], probability: vec![0.5] }];
    assert!(!holds_probabilities(&c) && graph(&c).output.len() == 2);
    assert_eq!(to_onnx(&c).unwrap(), to_onnx(&c).unwrap());
}

#[test]
fn refuses_models_that_onnx_cannot_represent() {
    let part =
        |first: usize| Part { columns: Columns(vec![(first, first + 2)]), model: spanned(&[[1.0, 1.0]]) };
    let views = Model::Views { parts: vec![part(0), part(2)], cols: 4, bias: vec![0.0] };
    let with_kernel = |kernel: Kernel| {
        let Model::Expansion { points, coef, bias, .. } = spanned(&[[1.0, 1.0]]) else { unreachable!() };
        Model::Expansion { kernel, points, coef, bias }
    };
    // 3,000 points with one nonzero value in a million columns are 36 kB sparse and 12 GB dense
    let sparse = |m: usize| {
        let points = Matrix::csr((0..=m).collect(), vec![7; m], vec![1.0; m], 1_000_000).unwrap();
        Model::Expansion { kernel: Kernel::Linear, points, coef: vec![vec![1.0; m]; 3], bias: vec![0.0; 3] }
    };
    let two = |model: Model| classifier_of(MulticlassScheme::Binary, &["a", "b"], model);
    let three = |scheme, model: Model| classifier_of(scheme, &["a", "b", "c"], model);
    let large = |size: &str| {
        format!(
            "the model would take {size} GB as ONNX, which stores points dense, but ONNX files are limited to 2.1 GB; train \
             a linear model or one with fewer points"
        )
    };
    // with coefficients positive in every pair, each point is stored for two classes
    let (in_pairs, in_rest) = (large("24.0"), large("12.0"));
    for (c, text) in [
        (two(views), "an ONNX classifier has one kernel over all columns; this model is a sum over views"),
        (
            two(with_kernel(Kernel::Precomputed)),
            "a precomputed kernel has no points to write, but this model has points",
        ),
        (two(with_kernel(Kernel::Rbf { gamma: 1e-60 })), "gamma 1e-60 is too small for single precision"),
        (
            two(plane(&[[1e60, 1.0]])),
            "weights: -1e60 is too large for single precision, which ONNX classifiers require; scale the data",
        ),
        (
            classifier_of(MulticlassScheme::OneVsOne, &["a", "b"], plane(&[[1.0, 1.0]])),
            "one-vs-one over two classes has one score, but an ONNX classifier of two classes has two; train it again",
        ),
        (three(MulticlassScheme::OneVsOne, sparse(3000)), in_pairs.as_str()),
        (three(MulticlassScheme::OneVsRest, sparse(3000)), &in_rest),
        (two(plane(&[])), "model: 0 vectors of weights but 0 intercepts"),
        (
            two(Model::Linear { weights: vec![Vec::new()], bias: vec![1.0] }),
            "the model has no columns; an ONNX classifier has at least one",
        ),
        (three(MulticlassScheme::Binary, plane(&[[1.0, 1.0]])), "3 classes; a binary classifier has two"),
    ] {
        assert_eq!(to_onnx(&c).unwrap_err().to_string(), text);
    }
}

#[test]
fn weights_of_many_pairs_are_stored_compactly() {
    // 120 classes: 7,140 pairs, whose identity matrix would take 0.4 GB
    let n = 120;
    let names: Vec<String> = (0..n).map(|c| format!("c{c:03}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let rng = &mut Pcg::new(7);
    let weights: Vec<[f64; 2]> = (0..n * (n - 1) / 2).map(|_| [rng.real(), rng.real()]).collect();
    let c = classifier_of(MulticlassScheme::OneVsOne, &names, plane(&weights));
    let bytes = to_onnx(&c).unwrap();
    // per pair two weights, 119 coefficients and a constant in single precision, and the names
    assert!(bytes.len() < 7140 * 4 * (2 + 119 + 1) + 200_000, "{}", bytes.len());
    let x = vec![vec![0.25, -0.5]];
    let results = run(&ModelProto::decode(bytes.as_slice()).unwrap(), &x);
    let f = decisions(&c.model, Row::Dense(&x[0]));
    near(results["scores"].numbers(), std::slice::from_ref(&f), 1e-6, "pairs");
    assert_eq!(results["label"].names()[0], names[MulticlassScheme::OneVsOne.vote(n, &f) as usize]);
}

#[test]
fn model_readers_recognize_onnx_files() {
    let bytes = to_onnx(&classifier_of(MulticlassScheme::Binary, &["a", "b"], plane(&[[1.0, 2.0]]))).unwrap();
    assert!(is_onnx(&bytes) && !is_onnx(b"svm_type c_svc") && !is_onnx(&[]));
    let error = model::from_bytes("m.onnx", &bytes).unwrap_err().to_string();
    assert_eq!(error, "m.onnx: an ONNX model (which can be written but not read), not an evermargin model");
}
