//! Contents of valid files as readers return them.
use evermargin::data::Matrix;
use evermargin::model::Column;
use evermargin_io::{Dataset, Format, LabelColumn, ReadOptions, read, read_bytes};

fn set(name: &str, text: impl AsRef<[u8]>) -> Dataset {
    with(name, text, &ReadOptions::default())
}

fn with(name: &str, text: impl AsRef<[u8]>, options: &ReadOptions) -> Dataset {
    read_bytes(name, text.as_ref().to_vec(), options).unwrap()
}

fn dense(x: &Matrix) -> Vec<Vec<f64>> {
    let Matrix::Dense { values, cols, .. } = x.view().to_dense() else { panic!("dense") };
    values.chunks(cols).map(<[f64]>::to_vec).collect()
}

fn labels(set: &Dataset) -> Vec<&str> {
    set.labels.of.iter().map(|c| c.map_or("?", |c| set.labels.classes[c as usize].as_str())).collect()
}

fn number(name: &str) -> Column {
    Column::Number { name: name.into() }
}

fn category(name: &str, values: &[&str]) -> Column {
    Column::Category { name: name.into(), values: values.iter().map(ToString::to_string).collect() }
}

#[test]
fn reads_libsvm_text_in_all_variants() {
    let set = set("x.svm", "+1 1:2 3:-1.5e1 # note\r\n\r\n  1.0\t2:.5  qid:7 3:0 \n? 1:1\n2:4\n-1");
    assert_eq!(labels(&set), ["1", "1", "?", "?", "-1"]);
    assert_eq!(
        dense(&set.x),
        [[2.0, 0.0, -15.0], [0.0, 0.5, 0.0], [1.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 0.0]]
    );
    assert_eq!(set.index_base, Some(1));
    assert!(set.notes.is_empty(), "{:?}", set.notes);
}

#[test]
fn index_zero_implies_zero_based_indices() {
    let zero = set("x.svm", "a 2:1 0:5\nb 1:1\n");
    assert_eq!(dense(&zero.x), [[5.0, 0.0, 1.0], [0.0, 1.0, 0.0]]);
    assert_eq!(
        zero.notes,
        [
            "indices were unsorted and have been sorted",
            "index 0 occurs, so indices were taken to count from 0"
        ]
    );
    let given_base = with("x.svm", "a 2:1\n", &ReadOptions { index_base: Some(0), ..ReadOptions::default() });
    assert_eq!(dense(&given_base.x), [[0.0, 0.0, 1.0]]);
}

#[test]
fn the_model_determines_the_width() {
    let wide = ReadOptions { cols: Some(4), ..ReadOptions::default() };
    assert_eq!(dense(&with("x.svm", "1 2:1\n", &wide).x), [[0.0, 1.0, 0.0, 0.0]]);
    let cut = with("x.svm", "1 2:1 9:3\n", &wide);
    assert_eq!(dense(&cut.x), [[0.0, 1.0, 0.0, 0.0]]);
    assert_eq!(cut.notes, ["columns past the 4 of the model were left out (up to 9)"]);
}

#[test]
fn explicit_zeros_widen_rows_but_are_not_stored() {
    let set = set("x.svm", "1 1:1 5:0\n2 2:-0\n");
    assert_eq!((set.x.cols(), set.x.view().nonzeros()), (5, 1));
}

#[test]
fn reads_tables_with_numbers_and_categories() {
    let set = set("x.csv", "age,job,label\n31,nurse,yes\n45,\"mill,\ner\",no\n27,nurse,?\n60,?,\n");
    assert_eq!(set.columns, [number("age"), category("job", &["?", "mill,\ner", "nurse"])]);
    assert_eq!(
        dense(&set.x),
        [[31.0, 0.0, 0.0, 1.0], [45.0, 0.0, 1.0, 0.0], [27.0, 0.0, 0.0, 1.0], [60.0, 1.0, 0.0, 0.0]]
    );
    assert_eq!(labels(&set), ["yes", "no", "?", "?"]);
    assert_eq!(set.notes, ["the label was taken from column 'label'"]);
}

#[test]
fn a_table_is_encoded_as_in_training() {
    let options = ReadOptions {
        columns: Some(vec![number("age"), category("job", &["miller", "nurse"])]),
        ..ReadOptions::default()
    };
    // Another order, an additional column, an unknown category, no label.
    let new = with("x.csv", "job,town,age\nnurse,Rome,5\nbaker,Bonn,6\n", &options);
    assert_eq!(dense(&new.x), [[5.0, 0.0, 1.0], [6.0, 0.0, 0.0]]);
    assert_eq!(new.labels.labeled(), 0);
    assert_eq!(new.notes, ["column 'job': 1 values never seen in training, such as 'baker', count as none"]);
    // By position, without a header, with and without a label.
    assert_eq!(dense(&with("x.csv", "5,nurse\n6,miller\n", &options).x), [[5.0, 0.0, 1.0], [6.0, 1.0, 0.0]]);
    let labeled = with("x.csv", "5,nurse,a\n6,miller,b\n", &options);
    assert_eq!(labels(&labeled), ["a", "b"]);
    // The only column unknown to the model is the label if it is the last one.
    assert_eq!(labels(&with("x.csv", "age,job,answer\n5,nurse,a\n", &options)), ["a"]);
}

#[test]
fn option_unlabeled_makes_every_column_a_feature() {
    let none = ReadOptions { unlabeled: true, ..ReadOptions::default() };
    let named = with("x.csv", "a,b\n1,2\n3,4\n", &none);
    assert_eq!((dense(&named.x), named.labels.labeled()), (vec![vec![1.0, 2.0], vec![3.0, 4.0]], 0));
    assert_eq!(named.notes, ["no label: all 2 columns are features"]);
    assert_eq!(dense(&with("x.csv", "1\n3\n", &none).x), [[1.0], [3.0]]);
    assert_eq!(dense(&with("x.jsonl", "{\"a\": 1}\n{\"a\": 2}\n", &none).x), [[1.0], [2.0]]);
    let pairs = with("x.svm", "1 1:5\n-1 1:6\n", &none);
    assert_eq!((dense(&pairs.x), pairs.labels.labeled()), (vec![vec![5.0], vec![6.0]], 0));
    // a model determines its columns, whatever else is in the file
    let known = ReadOptions { columns: Some(named.columns), ..none };
    let more = with("x.csv", "label,b,a\nu,2,1\n", &known);
    assert_eq!((dense(&more.x), more.labels.labeled()), (vec![vec![1.0, 2.0]], 0));
}

#[test]
fn detects_headers_and_label_columns() {
    assert_eq!(set("x.csv", "1,2,0\n3,4,1\n").columns, [number("column 1"), number("column 2")]);
    let first = ReadOptions { label: Some(LabelColumn::Index(1)), ..ReadOptions::default() };
    assert_eq!(labels(&with("x.csv", "1,2,0\n3,4,1\n", &first)), ["1", "3"]);
    let named = ReadOptions { label: Some(LabelColumn::Name("b".into())), ..ReadOptions::default() };
    assert_eq!(labels(&with("x.csv", "a;b;c\nx;u;1\ny;v;2\n", &named)), ["u", "v"]);
    assert_eq!(labels(&set("x.csv", "y,a\n1,5\n2,6\n")), ["1", "2"]);
    assert_eq!(
        set("x.csv", "a,b\n1,5\n2,6\n").notes,
        ["the label was taken from the last column, 'b'; if the label is in another column, name the column"]
    );
    // Only words, without a header (as in the mushroom data).
    let words = set("x.data", "p,x,y\ne,x,s\n");
    assert_eq!((words.x.rows(), words.x.cols()), (2, 3));
}

#[test]
fn an_optional_label_is_not_guessed() {
    let named = |name: Option<&str>| ReadOptions {
        label: name.map(|n| LabelColumn::Name(n.into())),
        label_optional: true,
        ..ReadOptions::default()
    };
    let text = "a,y\n1,5\n2,6\n";
    let plain = with("x.csv", text, &named(None));
    assert_eq!((dense(&plain.x), plain.label), (vec![vec![1.0, 5.0], vec![2.0, 6.0]], None));
    assert_eq!(with("x.csv", text, &named(Some("class"))).x, plain.x);
    assert_eq!(labels(&with("x.csv", text, &named(Some("a")))), ["1", "2"]);
    assert_eq!(dense(&with("x.csv", "a\n1\n2\n", &named(None)).x), [[1.0], [2.0]]);
    assert_eq!(dense(&with("x.jsonl", "{\"a\": 1}\n{\"a\": 2}\n", &named(None)).x), [[1.0], [2.0]]);
    // with the columns of a model, all other columns are left out, without a note about labels
    let known = ReadOptions { columns: Some(vec![number("y")]), cols: Some(1), ..named(None) };
    let again = with("x.csv", text, &known);
    assert_eq!((dense(&again.x), again.label, again.notes), (vec![vec![5.0], vec![6.0]], None, Vec::new()));
}

#[test]
fn notes_a_numeric_column_that_contains_words() {
    let set = set("x.csv", "a,b,label\n1,2,x\n3,12a,y\n");
    assert!(
        set.notes.contains(&"column 'b' holds text ('12a' in line 3) and was coded as 2 categories".into())
    );
}

#[test]
fn a_first_row_with_text_above_numbers_is_a_header() {
    let set = set("x.csv", "a,2,label\n1,2,x\n3,4,y\n");
    assert_eq!(set.x.rows(), 2);
    assert_eq!(set.notes[0], "the first row was taken for a header, though it holds numbers");
}

#[test]
fn blank_separated_tables_have_the_label_first() {
    let set = set("zip.train", " 6.0000 -1.0000 0.5000 \n5.0000 1 0\n");
    assert_eq!(labels(&set), ["6", "5"]);
    assert_eq!(dense(&set.x), [[-1.0, 0.5], [1.0, 0.0]]);
}

#[test]
fn reads_numpy_arrays() {
    let npy = |descr: &str, order: &str, shape: &str, data: &[u8]| {
        let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
        let mut out = b"\x93NUMPY\x02\x00".to_vec();
        out.extend_from_slice(&(header.len() as u32).to_le_bytes());
        out.extend_from_slice(header.as_bytes());
        out.extend_from_slice(data);
        out
    };
    let whole: Vec<u8> = (1..=6i16).flat_map(i16::to_be_bytes).collect();
    assert_eq!(dense(&set("x", npy(">i2", "False", "(2, 3)", &whole)).x), [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    assert_eq!(dense(&set("x", npy(">i2", "True", "(2, 3)", &whole)).x), [[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]]);
    let folder = tempfile::tempdir().unwrap();
    let words: Vec<u8> = "ab".chars().chain("c\0".chars()).flat_map(|c| (c as u32).to_le_bytes()).collect();
    std::fs::write(folder.path().join("y.npy"), npy("<U2", "False", "(2,)", &words)).unwrap();
    std::fs::write(folder.path().join("x.npy"), npy("|b1", "False", "(2, 1)", &[1, 0])).unwrap();
    let options = ReadOptions { labels_file: Some(folder.path().join("y.npy")), ..ReadOptions::default() };
    let set = read(folder.path().join("x.npy"), &options).unwrap();
    assert_eq!((labels(&set), dense(&set.x)), (vec!["ab", "c"], vec![vec![1.0], vec![0.0]]));
}

#[test]
fn finds_the_label_file_of_idx_images() {
    let folder = tempfile::tempdir().unwrap();
    let images = folder.path().join("t-images-idx3-ubyte");
    std::fs::write(&images, [0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 1, 2, 0, 255]).unwrap();
    assert_eq!(read(&images, &ReadOptions::default()).unwrap().labels.labeled(), 0);
    std::fs::write(folder.path().join("t-labels-idx1-ubyte"), [0, 0, 8, 1, 0, 0, 0, 2, 7, 3]).unwrap();
    let set = read(&images, &ReadOptions::default()).unwrap();
    assert_eq!((labels(&set), dense(&set.x)), (vec!["7", "3"], vec![vec![1.0, 2.0], vec![0.0, 255.0]]));
    assert_eq!(set.notes.len(), 1);
}

#[test]
fn reads_example_and_label_files_of_svmlin() {
    let folder = tempfile::tempdir().unwrap();
    let (examples, answers) = (folder.path().join("examples"), folder.path().join("labels"));
    std::fs::write(&examples, "1:1 2:1\n2:3\n1:4\n").unwrap();
    let options = ReadOptions { labels_file: Some(answers.clone()), ..ReadOptions::default() };
    std::fs::write(&answers, "1\n0\n-1\n").unwrap();
    let set = read(&examples, &options).unwrap();
    assert_eq!((labels(&set), set.labels.classes.len()), (vec!["1", "?", "-1"], 2));
    // Unless both −1 and +1 occur, 0 is an ordinary class.
    std::fs::write(&answers, "1\n0\n1").unwrap();
    assert_eq!(labels(&read(&examples, &options).unwrap()), ["1", "0", "1"]);
    std::fs::write(&answers, "2\n0\n-1\n").unwrap();
    assert_eq!(labels(&read(&examples, &options).unwrap()), ["2", "0", "-1"]);
}

#[test]
fn results_do_not_depend_on_threads() {
    let mut text = String::new();
    for i in 0..120_000u32 {
        let (a, b) = (i % 97 + 1, i % 89 + 200);
        text += &format!("{} {a}:{}.25 {b}:{}\n", i % 7, i % 1000, i);
    }
    assert!(text.len() > 2 << 20);
    let mut broken = text.clone();
    broken.insert_str(text.len() / 2, "\n1 1:bad\n");
    broken += "1 2:worse\n";
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let options = ReadOptions { index_base: Some(1), ..ReadOptions::default() };
            let good = read_bytes("x.svm", text.clone().into_bytes(), &options).unwrap();
            let bad = read_bytes("x.svm", broken.clone().into_bytes(), &options).unwrap_err().to_string();
            (good, bad)
        })
    };
    let (one, four) = (on(1), on(4));
    assert!(one.1.ends_with("value 'bad' is not a number"), "{}", one.1);
    assert_eq!(one, four);
}

#[test]
fn format_names_are_parsed_back() {
    for format in Format::ALL {
        assert_eq!(Format::from_name(format.name()), Some(format));
    }
}
