//! LIBSVM models: models of `svm-train` are read as LIBSVM interprets them, and `svm-predict` reads our models as we
//! interpret them. The fixtures were made with the programs of LIBSVM; if these are installed, they are run again.
use crate::samples::{Pcg, Shape, classifier, decisions, matrix, voted};
use evermargin::data::Matrix;
use evermargin::model::{Calibration, Classifier, Model};
use evermargin_io::{Limits, ReadOptions, libsvm_model, read, write_libsvm};
use std::path::{Path, PathBuf};
use std::process::Command;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn load(name: &str) -> Classifier {
    libsvm_model::load(fixture(name), &Limits::default()).unwrap()
}

fn lines(path: &Path) -> Vec<String> {
    std::fs::read_to_string(path).unwrap().lines().map(|l| l.trim().to_string()).collect()
}

fn sigmoid(c: &Calibration, f: f64) -> f64 {
    let Calibration::Sigmoid { a, b } = c else { panic!("not a sigmoid") };
    1.0 / (1.0 + (a * f + b).exp())
}

#[test]
fn models_of_svm_train_give_the_labels_of_svm_predict() {
    for (model, data) in [
        ("two-rbf", "two.svm"),
        ("two-poly", "two.svm"),
        ("four-linear", "four.svm"),
        ("four-rbf", "four.svm"),
        ("four-sigmoid", "four.svm"),
    ] {
        let classifier = load(&format!("{model}.model"));
        let x = read(fixture(data), &ReadOptions::default()).unwrap().x.view().to_csr();
        let expected = lines(&fixture(&format!("{model}.labels")));
        assert_eq!(expected.len(), x.rows());
        let mut compared = 0;
        for (i, label) in expected.iter().enumerate() {
            if let Some(found) = voted(&classifier, &decisions(&classifier.model, x.view().row(i))) {
                assert_eq!(&found, label, "{model}, row {i}");
                compared += 1;
            }
        }
        assert!(compared * 10 >= expected.len() * 9, "{model}: too many ties");
    }
}

#[test]
fn precomputed_models_are_linear_in_the_kernel_row() {
    let classifier = load("kernel.model");
    let options = ReadOptions { index_base: Some(0), ..ReadOptions::default() };
    let x = read(fixture("kernel.svm"), &options).unwrap().x.view().to_csr();
    let Model::Linear { weights, bias } = &classifier.model else { panic!("not linear") };
    for (i, label) in lines(&fixture("kernel.labels")).iter().enumerate() {
        let mut f = bias[0];
        // Column 0 holds the number of the sample.
        x.view().row(i).for_each(|c, v| {
            f += if c == 0 { 0.0 } else { weights[0].get(c - 1).copied().unwrap_or(0.0) * v }
        });
        assert_eq!(&classifier.classes[usize::from(f > 0.0)], label);
    }
    let again = libsvm_model::from_text(
        "again",
        libsvm_model::to_text(&classifier).unwrap().as_bytes(),
        &Limits::default(),
    );
    assert_eq!(again.unwrap(), classifier);
}

#[test]
fn probabilities_equal_those_of_svm_predict() {
    let classifier = load("two-poly.model");
    let x = read(fixture("two.svm"), &ReadOptions::default()).unwrap().x.view().to_csr();
    let expected = lines(&fixture("two-poly.probabilities"));
    let header: Vec<&str> = expected[0].split(' ').collect();
    let column = header.iter().position(|l| *l == classifier.classes[1]).unwrap();
    for (i, line) in expected[1..].iter().enumerate() {
        let theirs: f64 = line.split(' ').nth(column).unwrap().parse().unwrap();
        let ours = sigmoid(&classifier.calibration[0], decisions(&classifier.model, x.view().row(i))[0]);
        assert!((ours - theirs).abs() < 2e-3, "row {i}: {ours} and {theirs}");
    }
}

fn shapes() -> Vec<Shape> {
    let mut shapes = Vec::new();
    for classes in [2, 3, 5] {
        for kernel in 0..5 {
            for seed in 0..4 {
                shapes.push(Shape {
                    seed: 1 + 2 * seed,
                    classes,
                    scheme: 0,
                    kernel,
                    points: 7,
                    cols: 4,
                    sparse: seed % 2 == 0,
                    scaling: if kernel == 4 || kernel == 0 { (seed % 3) as u8 } else { 0 },
                    calibration: (seed % 2) as u8,
                    narrow: false,
                });
            }
        }
    }
    shapes
}

/// Features as the exported model gets them: unscaled.
fn scaled(classifier: &Classifier, x: &Matrix) -> Matrix {
    let evermargin::model::Scaling::Affine { shift, factor, .. } = &classifier.scaling else {
        return x.clone();
    };
    let Matrix::Dense { values, rows, cols, .. } = x.view().to_dense() else { panic!("dense") };
    let value = |(i, v): (usize, &f64)| (v - shift.get(i % cols).unwrap_or(&0.0)) * factor[i % cols];
    Matrix::dense(values.iter().enumerate().map(value).collect(), rows, cols).unwrap()
}

#[test]
fn models_survive_a_round_trip_through_libsvm_text() {
    for shape in shapes() {
        let original = classifier(shape);
        let text = libsvm_model::to_text(&original).unwrap();
        let again = libsvm_model::from_text("again", text.as_bytes(), &Limits::default()).unwrap();
        assert_eq!(again.classes, original.classes);
        assert_eq!(again.calibration, original.calibration);
        assert_eq!(libsvm_model::to_text(&again).unwrap(), text, "{shape:?}");
        let x = matrix(&mut Pcg::new(shape.seed), 20, 4, false, false);
        let theirs = scaled(&original, &x);
        for i in 0..20 {
            let (x, theirs) = (x.view().to_csr(), theirs.view().to_csr());
            let f = decisions(&original.model, theirs.view().row(i));
            let g = decisions(&again.model, x.view().row(i));
            for (f, g) in f.iter().zip(&g) {
                assert!((f - g).abs() <= 1e-11 * (1.0 + f.abs()), "{shape:?}: {f} and {g}");
            }
        }
    }
}

#[test]
fn svm_predict_reads_our_models() {
    if Command::new("svm-predict").output().is_err() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (data, model, out) =
        (folder.path().join("data"), folder.path().join("model"), folder.path().join("out"));
    let mut tied = 0;
    for shape in shapes() {
        let original = classifier(shape);
        libsvm_model::save(&model, &original).unwrap();
        let x = matrix(&mut Pcg::new(shape.seed + 100), 60, 4, false, false);
        write_libsvm(&data, x.view(), &vec![Some("1"); 60]).unwrap();
        let inner = scaled(&original, &x).view().to_csr();
        let ran = Command::new("svm-predict").args([&data, &model, &out]).output().unwrap();
        assert!(ran.status.success(), "{shape:?}: {}", String::from_utf8_lossy(&ran.stderr));
        let labels = lines(&out);
        assert_eq!(labels.len(), 60);
        for (i, label) in labels.iter().enumerate() {
            let f = decisions(&original.model, inner.view().row(i));
            if f.iter().any(|f| f.abs() < 1e-9) {
                continue;
            }
            let ours = original.scheme.vote(original.classes.len(), &f);
            assert_eq!(&original.classes[ours as usize], label, "{shape:?}, row {i}");
            tied += usize::from(voted(&original, &f).is_none());
        }
        if shape.classes == 2 && shape.calibration == 1 {
            let ran =
                Command::new("svm-predict").args(["-b", "1"]).args([&data, &model, &out]).output().unwrap();
            assert!(ran.status.success());
            let labels = lines(&out);
            let header: Vec<&str> = labels[0].split(' ').collect();
            let column = header.iter().position(|l| *l == original.classes[1]).unwrap();
            for (i, line) in labels[1..].iter().enumerate() {
                let theirs: f64 = line.split(' ').nth(column).unwrap().parse().unwrap();
                let ours =
                    sigmoid(&original.calibration[0], decisions(&original.model, inner.view().row(i))[0]);
                assert!((ours - theirs).abs() < 5e-3, "{shape:?}, row {i}: {ours} and {theirs}");
            }
        }
    }
    assert!(tied > 0, "no tie occurred");
}

#[test]
fn all_zero_decisions_give_the_label_of_svm_predict() {
    if Command::new("svm-predict").output().is_err() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (data, model, out) =
        (folder.path().join("data"), folder.path().join("model"), folder.path().join("out"));
    std::fs::write(&data, "1 1:1\n").unwrap();
    for shape in shapes().into_iter().filter(|s| s.kernel == 4 && s.scaling == 0) {
        let mut zero = classifier(shape);
        zero.model = Model::Linear {
            weights: vec![vec![0.0; zero.features()]; zero.model.outputs()],
            bias: vec![0.0; zero.model.outputs()],
        };
        libsvm_model::save(&model, &zero).unwrap();
        assert!(Command::new("svm-predict").args([&data, &model, &out]).output().unwrap().status.success());
        let ours = zero.scheme.vote(zero.classes.len(), &vec![0.0; zero.model.outputs()]);
        assert_eq!(lines(&out), [zero.classes[ours as usize].clone()], "{shape:?}");
    }
}

#[test]
fn refuses_models_that_libsvm_cannot_represent() {
    let shape = Shape {
        seed: 1,
        classes: 3,
        scheme: 1,
        kernel: 1,
        points: 4,
        cols: 3,
        sparse: false,
        scaling: 0,
        calibration: 0,
        narrow: false,
    };
    let refused = |c: &Classifier| libsvm_model::to_text(c).unwrap_err().to_string();
    assert_eq!(
        refused(&classifier(shape)),
        "LIBSVM models have one decision function per pair of classes; train with multi = one-vs-one"
    );
    assert_eq!(
        refused(&classifier(Shape { scheme: 0, scaling: 1, ..shape })),
        "LIBSVM models cannot contain the standard scaling of this model; train with scale = none, or scale the file first"
    );
    assert_eq!(
        refused(&classifier(Shape { kernel: 4, scheme: 0, scaling: 3, ..shape })),
        "LIBSVM models cannot contain the unit scaling of this model; train with scale = none, or scale the file first"
    );
    let mut named = classifier(Shape { scheme: 0, ..shape });
    named.classes[1] = "cat".into();
    assert_eq!(
        refused(&named),
        "class 'cat' is not a whole number, and LIBSVM models allow no other names; rename the classes in the data"
    );
    let isotonic = Calibration::Isotonic { at: vec![0.0], probability: vec![0.5] };
    let mut calibrated = classifier(Shape { scheme: 0, ..shape });
    calibrated.calibration = vec![isotonic; 3];
    assert_eq!(
        refused(&calibrated),
        "LIBSVM models support only sigmoid calibrations; calibrate with a sigmoid or not at all"
    );
}
