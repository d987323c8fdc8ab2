//! Files are read back as written, bit for bit.
use crate::samples::{Shape, classifier};
use evermargin::data::{Matrix, Row};
use evermargin::model::{Columns, Model, Part};
use evermargin_io::artifacts::model;
use evermargin_io::{
    LabelColumn, Limits, ReadOptions, json, libsvm_model, read, read_bytes, write_csv, write_libsvm,
};
use proptest::prelude::*;
use std::path::Path;

type Rows = Vec<(usize, Vec<(u32, f64)>)>;

fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        (-1000i32..1000).prop_map(f64::from),
        (-1000i32..1000).prop_map(|v| f64::from(v) / 100.0),
        (-1e3..1e3f64),
        any::<f64>().prop_filter("usable", |v| v.abs() <= 1e100),
        (-1e-300..1e-300f64),
    ]
    .prop_map(|v| v + 0.0)
}

fn rows(cols: u32) -> impl Strategy<Value = Rows> {
    let row = prop::collection::btree_map(0..cols, value(), 0..cols as usize)
        .prop_map(|r| r.into_iter().filter(|(_, v)| *v != 0.0).collect());
    prop::collection::vec((0..3usize, row), 1..30)
}

fn csr(rows: &Rows, cols: usize) -> Matrix {
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for (_, row) in rows {
        indices.extend(row.iter().map(|p| p.0));
        values.extend(row.iter().map(|p| p.1));
        indptr.push(values.len());
    }
    Matrix::csr(indptr, indices, values, cols).unwrap()
}

fn bits(x: &Matrix) -> Vec<(usize, usize, u64)> {
    let mut bits = Vec::new();
    for i in 0..x.rows() {
        x.view().row(i).for_each(|c, v| bits.push((i, c, v.to_bits())));
    }
    bits
}

const NAMES: [&str; 3] = ["cat", "dog", "mouse"];

fn tokens(rows: &Rows) -> Vec<Option<&'static str>> {
    rows.iter().map(|(label, _)| NAMES.get(*label).copied().filter(|n| *n != "mouse")).collect()
}

fn names_of(labels: &evermargin::data::Labels) -> Vec<Option<&str>> {
    labels.of.iter().map(|c| c.map(|c| labels.classes[c as usize].as_str())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn libsvm_text_is_read_back_bit_by_bit(rows in rows(12)) {
        let folder = tempfile::tempdir().unwrap();
        let (path, x) = (folder.path().join("x.svm"), csr(&rows, 12));
        let labels = tokens(&rows);
        write_libsvm(&path, x.view(), &labels).unwrap();
        let options = ReadOptions { cols: Some(12), index_base: Some(1), ..ReadOptions::default() };
        let set = read(&path, &options).unwrap();
        prop_assert_eq!(bits(&set.x), bits(&x));
        prop_assert_eq!(names_of(&set.labels), labels);
        prop_assert!(set.notes.is_empty());
    }

    #[test]
    fn csv_tables_are_read_back_bit_by_bit(rows in rows(6)) {
        let folder = tempfile::tempdir().unwrap();
        let (path, x) = (folder.path().join("x.csv"), csr(&rows, 6).view().to_dense());
        let labels = tokens(&rows);
        write_csv(&path, x.view(), &labels, &[]).unwrap();
        let options = ReadOptions { label: Some(LabelColumn::Name("label".into())), ..ReadOptions::default() };
        let set = read(&path, &options).unwrap();
        prop_assert_eq!(bits(&set.x), bits(&x));
        prop_assert_eq!(names_of(&set.labels), labels.clone());
        // Read again as for a model trained on the table: same columns, no label needed.
        let options = ReadOptions { columns: Some(set.columns), ..ReadOptions::default() };
        let again = read(&path, &options).unwrap();
        prop_assert_eq!(bits(&again.x), bits(&x));
    }

    #[test]
    fn pairs_of_a_row_may_be_in_any_order(rows in rows(12), seed in any::<u64>()) {
        let mut rng = crate::samples::Pcg::new(seed);
        let text = |rows: &Rows| {
            let line = |(label, row): &(usize, Vec<(u32, f64)>)| {
                row.iter().fold(label.to_string(), |t, (c, v)| t + &format!(" {}:{v:?}", c + 1)) + "\n"
            };
            rows.iter().map(line).collect::<String>().into_bytes()
        };
        let options = ReadOptions { cols: Some(12), ..ReadOptions::default() };
        let sorted = read_bytes("x.svm", text(&rows), &options).unwrap();
        let mut shuffled = rows;
        for (_, row) in &mut shuffled {
            for i in (1..row.len()).rev() {
                row.swap(i, rng.below(i + 1));
            }
        }
        let again = read_bytes("x.svm", text(&shuffled), &options).unwrap();
        prop_assert_eq!(sorted.x, again.x);
        prop_assert_eq!(sorted.labels, again.labels);
    }

    #[test]
    fn model_files_and_json_are_read_back_bit_by_bit(
        seed in any::<u64>(), classes in 2..6usize, scheme in 0..2u8, kernel in 0..5u8, points in 0..6usize,
        cols in 1..7usize, sparse: bool, scaling in 0..5u8, calibration in 0..3u8, narrow: bool,
    ) {
        let shape = Shape { seed, classes, scheme, kernel, points, cols, sparse, scaling, calibration, narrow };
        let original = classifier(shape);
        let bytes = model::to_bytes(&original).unwrap();
        let loaded = model::from_bytes("m", &bytes).unwrap();
        prop_assert_eq!(&loaded, &original);
        prop_assert_eq!(&model::to_bytes(&loaded).unwrap(), &bytes);
        prop_assert!(safetensors::SafeTensors::deserialize(&bytes).is_ok());
        let text = json::to_json(&original).unwrap();
        prop_assert_eq!(&json::from_json("m", text.as_bytes()).unwrap(), &original);
    }
}

/// A model file begins with the length of its header, which may look like the magic bytes of another format.
#[test]
fn model_files_with_headers_of_any_length_are_recognized() {
    let mut original = classifier(sample_shape());
    original.input = evermargin::model::InputSpec::default();
    let mut lengths = Vec::new();
    for padding in 0..1200 {
        original.params = [("note".to_string(), " ".repeat(padding).into())].into();
        let bytes = model::to_bytes(&original).unwrap();
        lengths.push(bytes[..2].to_vec());
        assert_eq!(model::from_bytes("m", &bytes).unwrap(), original);
    }
    assert!(lengths.contains(&vec![0x80, 5]), "a length that begins like a pickle was not tried");
}

#[test]
fn models_are_saved_loaded_and_imported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    std::fs::write(&path, "something old").unwrap();
    let original = classifier(sample_shape());
    model::save(&path, &original).unwrap();
    assert_eq!(model::load(&path).unwrap(), original);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "temporaries are left behind");
    let limits = Limits::default();
    assert_eq!(model::import(&path, &limits).unwrap(), original);
    std::fs::write(&path, json::to_json(&original).unwrap()).unwrap();
    assert_eq!(model::import(&path, &limits).unwrap(), original);
    let plain = classifier(Shape { scaling: 0, calibration: 0, ..sample_shape() });
    libsvm_model::save(&path, &plain).unwrap();
    assert_eq!(model::import(&path, &limits).unwrap().classes, plain.classes);
}

/// A sum over views in all its representations; LIBSVM cannot represent it.
#[test]
fn models_of_views_survive_round_trips() {
    let plain = Shape { scaling: 0, calibration: 0, ..sample_shape() };
    let part = |shape: Shape, first: usize| {
        let columns = Columns(vec![(first, first + shape.cols)]);
        Part { columns, model: classifier(shape).model }
    };
    for sparse in [true, false] {
        let mut original = classifier(plain);
        let parts = vec![
            part(Shape { sparse, ..plain }, 0),
            part(Shape { kernel: 4, cols: 3, seed: 21, ..plain }, 6),
        ];
        original.input.columns = Vec::new();
        original.model = Model::Views { parts, cols: 9, bias: vec![0.5, -0.25, 1e-300] };
        let bytes = model::to_bytes(&original).unwrap();
        assert_eq!(model::from_bytes("m", &bytes).unwrap(), original);
        assert_eq!(bytes, model::to_bytes(&original).unwrap());
        let text = json::to_json(&original).unwrap();
        assert_eq!(json::from_json("m", text.as_bytes()).unwrap(), original);
        let error = libsvm_model::to_text(&original).unwrap_err().to_string();
        assert!(error.contains("this model is a sum over views"), "{error}");
        let Model::Views { parts, .. } = &mut original.model else { panic!("views") };
        parts[1].columns = Columns(vec![(7, 10)]);
        assert!(model::to_bytes(&original).is_err(), "columns past the end");
    }
    // a file may contain anything, such as an invalid matrix of points inside a view
    let mut broken = classifier(plain);
    broken.model =
        Model::Views { parts: vec![part(Shape { sparse: false, ..plain }, 0)], cols: 6, bias: vec![0.0; 3] };
    let text = json::to_json(&broken).unwrap().replacen("\"rows\": 5", "\"rows\": 500", 1);
    assert!(json::from_json("m", text.as_bytes()).is_err());
}

/// A file of the current format version. Set `EVERMARGIN_UPDATE` when the version changes.
#[test]
fn golden_model_of_version_4_loads() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/golden-v4.model");
    let original = classifier(sample_shape());
    if std::env::var_os("EVERMARGIN_UPDATE").is_some() {
        model::save(&path, &original).unwrap();
    }
    let loaded = model::load(&path).unwrap();
    assert_eq!(loaded, original);
    assert_eq!(loaded.classes, ["-4", "-1", "2"]);
    for version in [1, 3] {
        let old = path.with_file_name(format!("golden-v{version}.model"));
        let message = model::load(old).unwrap_err().to_string();
        let expected = format!("written by an earlier evermargin in format '{version}'");
        assert!(message.contains(&expected), "{message}");
    }
    let Row::Sparse(..) = points(&loaded).view().row(0) else { panic!("sparse points") };
}

fn points(classifier: &evermargin::model::Classifier) -> &Matrix {
    let Model::Expansion { points, .. } = &classifier.model else { panic!("an expansion") };
    points
}

fn sample_shape() -> Shape {
    Shape {
        seed: 20,
        classes: 3,
        scheme: 0,
        kernel: 2,
        points: 5,
        cols: 6,
        sparse: true,
        scaling: 1,
        calibration: 2,
        narrow: true,
    }
}
