//! Rows read in batches are the rows of the whole file, for any batch size, format and interruption.

use evermargin::model::{Classifier, Column, Model, MulticlassScheme, Scaling};
use evermargin_io::artifacts::model;
use evermargin_io::{
    Chunk, Dataset, LabelColumn, Limits, Position, ReadOptions, Schema, Source, Stream, StreamOptions, read,
};
use proptest::prelude::*;
use std::f64::consts::FRAC_1_SQRT_2;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

/// Rows in comparable form: values bit by bit, and class names.
type Plain = Vec<(Vec<u64>, Option<String>)>;

fn plain(x: &evermargin::data::Matrix, labels: impl Fn(usize) -> Option<String>) -> Plain {
    (0..x.rows())
        .map(|i| {
            let mut row = vec![0f64.to_bits(); x.cols()];
            x.view().row(i).for_each(|c, v| row[c] = (v + 0.0).to_bits());
            (row, labels(i))
        })
        .collect()
}

fn of_file(set: &Dataset) -> Plain {
    plain(&set.x, |i| set.labels.of[i].map(|c| set.labels.classes[c as usize].clone()))
}

fn of_chunks(chunks: &[Chunk]) -> Plain {
    chunks.iter().flat_map(|c| plain(&c.x, |i| c.labels[i].clone())).collect()
}

fn never() -> bool {
    panic!("nothing to wait for")
}

fn all(stream: &mut Stream, rows: usize) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    while let Some(chunk) = stream.next_batch(rows, &mut never).unwrap() {
        assert_eq!(chunk.labels.len(), chunk.x.rows());
        assert_eq!(chunk.shown.len(), chunk.x.rows());
        chunks.push(chunk);
    }
    let full = chunks.len().saturating_sub(1);
    assert!(chunks[..full].iter().all(|c| c.x.rows() == rows), "all but the last are full");
    chunks
}

fn files(path: &Path) -> Vec<Source> {
    vec![Source::File(path.to_path_buf())]
}

fn options_with(read: ReadOptions) -> StreamOptions {
    StreamOptions { read, poll: Duration::from_millis(20), ..StreamOptions::default() }
}

fn text_column(name: &str) -> ReadOptions {
    ReadOptions { text: vec![LabelColumn::Name(name.into())], buckets: Some(64), ..ReadOptions::default() }
}

#[test]
fn option_unlabeled_gives_rows_without_labels() {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in [("d.csv", "a,b\n1,2\n3,4\n5,6\n"), ("d.svm", "1 1:1 2:2\n-1 1:3 2:4\n1 1:5 2:6\n")] {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        let read = ReadOptions { unlabeled: true, ..ReadOptions::default() };
        let chunks = all(&mut Stream::open(files(&path), options_with(read)).unwrap(), 2);
        let rows: Plain =
            [[1.0f64, 2.0], [3.0, 4.0], [5.0, 6.0]].map(|row| (row.map(f64::to_bits).to_vec(), None)).into();
        assert_eq!(of_chunks(&chunks), rows, "{name}");
    }
}

/// A row of a random table: a number, a number that is often 0, a word, a text, a label.
type Row = (f64, i32, String, String, Option<u8>);

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let row =
        (-50i32..50, 0i32..4, "[a-c]{1,2}|x, \"y\"\nz", "[a-d ,;\"\\\\é\n]{0,12}", prop::option::of(0u8..3));
    let row = row.prop_map(|(a, b, word, text, label)| (f64::from(a) / 8.0, b / 3, word, text, label));
    prop::collection::vec(row, 1..40)
}

fn label_of(row: &Row) -> String {
    row.4.map_or("?".to_string(), |l| format!("class {l}"))
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

fn csv(rows: &[Row], sign: &str, line_end: &str) -> String {
    let mut out = ["a", "b", "word", "text", "label"].join(sign) + line_end;
    for row in rows {
        let cells = [row.0.to_string(), row.1.to_string(), quoted(&row.2), quoted(&row.3), label_of(row)];
        out += &(cells.join(sign) + line_end);
    }
    out
}

fn jsonl(rows: &[Row]) -> String {
    let mut out = String::new();
    for row in rows {
        let mut object = serde_json::json!({ "a": row.0, "b": row.1, "word": row.2, "text": row.3 });
        if row.4.is_some() {
            object["label"] = label_of(row).into();
        }
        out += &format!("{object}\n");
    }
    out
}

fn libsvm(rows: &[Row]) -> String {
    let mut out = "# a comment\n\n".to_string();
    for row in rows {
        let label = row.4.map_or("?".to_string(), |l| format!("+{l}"));
        out += &format!("{label} 1:{} {}:1 # {}\n", row.0, row.1 + 2, row.3.replace('\n', " "));
    }
    out
}

fn spaced(rows: &[Row]) -> String {
    let mut out = String::new();
    for row in rows {
        out += &format!("{} {} {}\n", row.4.unwrap_or(7), row.0, row.1);
    }
    out
}

fn npy(rows: &[Row]) -> Vec<u8> {
    let shape = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, 2), }}", rows.len());
    let header = format!("{shape:<117}\n");
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((header.len() as u16).to_le_bytes());
    out.extend(header.as_bytes());
    rows.iter().for_each(|r| [r.0, f64::from(r.1)].iter().for_each(|v| out.extend(v.to_le_bytes())));
    out
}

fn compressed(how: u8, bytes: Vec<u8>) -> (Vec<u8>, &'static str) {
    match how {
        1 => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(&bytes).unwrap();
            (encoder.finish().unwrap(), ".gz")
        }
        2 => (zstd::encode_all(&bytes[..], 1).unwrap(), ".zst"),
        _ => (bytes, ""),
    }
}

/// All formats of the rows, with the options to read them.
fn written(rows: &[Row]) -> Vec<(&'static str, Vec<u8>, ReadOptions)> {
    let table = || text_column("text");
    let none = ReadOptions::default;
    vec![
        ("x.csv", csv(rows, ",", "\n").into(), table()),
        ("crlf.csv", csv(rows, ";", "\r\n").into(), table()),
        ("x.tsv", csv(rows, "\t", "\n\n").into(), table()),
        ("x.jsonl", jsonl(rows).into(), table()),
        ("x.svm", libsvm(rows).into(), none()),
        ("x.txt", spaced(rows).into(), none()),
        ("x.npy", npy(rows), none()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn batches_contain_the_rows_of_the_file(rows in rows(), how in 0u8..3, size in 1usize..12) {
        let dir = tempfile::tempdir().unwrap();
        for (name, bytes, options) in written(&rows) {
            let (bytes, suffix) = compressed(how, bytes);
            let path = dir.path().join(format!("{name}{suffix}"));
            fs::write(&path, bytes).unwrap();
            let set = read(&path, &options).unwrap();
            let whole = of_file(&set);
            prop_assert_eq!(whole.len(), rows.len(), "{}", name);
            for batch in [size, 1, 7, 1000] {
                let mut stream = Stream::open(files(&path), options_with(options.clone())).unwrap();
                let chunks = all(&mut stream, batch);
                prop_assert_eq!(&of_chunks(&chunks), &whole, "{} in batches of {}", name, batch);
                let schema = stream.schema().unwrap();
                prop_assert_eq!(&schema.columns, &set.columns);
                prop_assert_eq!(schema.label.clone(), set.label.clone());
            }
        }
    }

    #[test]
    fn a_stream_resumes_at_its_position(rows in rows(), how in 0u8..3, size in 1usize..9) {
        let dir = tempfile::tempdir().unwrap();
        for (name, bytes, options) in written(&rows) {
            // Three files of a folder, each with the same rows.
            let folder = dir.path().join(name);
            fs::create_dir(&folder).unwrap();
            let (bytes, suffix) = compressed(how, bytes);
            let copy = |part: &str| fs::write(folder.join(format!("{part}-{name}{suffix}")), &bytes).unwrap();
            copy("1");
            copy("2");
            copy("3");
            let sources = vec![Source::Folder(folder.clone())];
            let mut stream = Stream::open(sources.clone(), options_with(options.clone())).unwrap();
            let chunks = all(&mut stream, size);
            let whole = of_chunks(&chunks);
            prop_assert_eq!(whole.len(), 3 * rows.len());
            prop_assert_eq!(&whole[..rows.len()], &whole[rows.len()..2 * rows.len()], "{}", name);
            // A file is added between two runs.
            copy("4");
            let more: Plain = whole.iter().chain(&whole[..rows.len()]).cloned().collect();
            let schema = serde_json::to_string(stream.schema().unwrap()).unwrap();
            for (i, chunk) in chunks.iter().enumerate() {
                let schema: Schema = serde_json::from_str(&schema).unwrap();
                let kept = serde_json::to_string(&chunk.position).unwrap();
                let position: Position = serde_json::from_str(&kept).unwrap();
                let had = ((i + 1) * size).min(3 * rows.len());
                prop_assert_eq!(position.total, had as u64);
                let mut rest = Stream::resume(sources.clone(), options_with(options.clone()), schema, position).unwrap();
                prop_assert_eq!(&of_chunks(&all(&mut rest, 5)), &more[had..], "{} after {}", name, had);
            }
        }
    }
}

#[test]
fn files_added_to_a_followed_folder_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
    write("a.csv", "x,label\n1,p\n2,q\n");
    let options = StreamOptions { follow: true, ..options_with(ReadOptions::default()) };
    let mut stream = Stream::open(vec![Source::Folder(dir.path().into())], options).unwrap();
    let mut looks = 0;
    let mut idle = || {
        looks += 1;
        match looks {
            3 => write("b.csv.part", "x,label\n3,"),
            4 => {
                write("b.csv.part", "x,label\n3,p\n");
                fs::rename(dir.path().join("b.csv.part"), dir.path().join("b.csv")).unwrap();
            }
            // A file whose name sorts first, with columns in another order.
            8 => write("0.csv", "label,x\n?,4\n"),
            _ => {}
        }
        looks < 14
    };
    let mut got = Vec::new();
    while let Some(chunk) = stream.next_batch(10, &mut idle).unwrap() {
        got.extend(of_chunks(&[chunk]));
    }
    let row = |v: f64, label: Option<&str>| (vec![v.to_bits()], label.map(String::from));
    assert_eq!(got, [row(1.0, Some("p")), row(2.0, Some("q")), row(3.0, Some("p")), row(4.0, None)]);
    assert_eq!(stream.position().done.keys().collect::<Vec<_>>(), ["0.csv", "a.csv", "b.csv"]);
}

fn error_of_stream(name: &str, bytes: &[u8], options: ReadOptions, rows: usize) -> (usize, String) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    fs::write(&path, bytes).unwrap();
    let mut stream = Stream::open(files(&path), options_with(options)).unwrap();
    let mut before = 0;
    loop {
        match stream.next_batch(rows, &mut never) {
            Ok(Some(chunk)) => before += chunk.x.rows(),
            Ok(None) => panic!("{name} was read"),
            Err(e) => {
                return (before, e.to_string().replace(&format!("{}/", dir.path().display()), ""));
            }
        }
    }
}

#[test]
fn errors_name_file_and_line() {
    for (name, bad, what) in [
        ("x.csv", "nan,n,q", "x.csv:8: column 'a': value nan is not a finite number; replace missing values"),
        ("x.csv", "inf,n,q", "x.csv:8: column 'a': value inf is not a finite number; replace missing values"),
        (
            "x.csv",
            "1e999,n,q",
            "x.csv:8: column 'a': value 1e999 is not a finite number; replace missing values",
        ),
        ("x.csv", ",n,q", "x.csv:8: column 'a': the value is missing; fill it in or leave the row out"),
        ("x.csv", "7", "x.csv:8: 1 cells, but the first row has 3"),
        ("x.csv", "7,n,\"q", "x.csv:8: a quote opens in this line and never closes"),
        (
            "x.csv",
            "7,n,q\0",
            "x.csv:8: a NUL byte; this is not a text file, or it is UTF-16: save it as UTF-8",
        ),
        ("x.csv", "7,n,nan", "x.csv:8: label nan names no class; write ? for a row without label"),
    ] {
        // The header, a quoted line break, and rows in batches before the bad one.
        let text = format!("a,note,label\n1,n,p\n2,\"n\nn\",q\n3,n,p\n4,n,p\n5,n,p\n{bad}\n");
        for rows in [1, 2] {
            let numbers = ReadOptions {
                columns: Some(vec![Column::Number { name: "a".into() }]),
                ..ReadOptions::default()
            };
            let (before, error) = error_of_stream(name, text.as_bytes(), numbers, rows);
            assert_eq!(error, what);
            // An invalid table is detected when the file is opened, a bad value when its row is read.
            let at_opening = ["cells", "quote", "NUL"].iter().any(|w| what.contains(w));
            assert!(
                if at_opening { before == 0 } else { (4..=5).contains(&before) },
                "{before} rows before {error}"
            );
        }
    }
    for (bad, what) in [
        (
            r#"{"a": NaN, "label": "q"}"#,
            "x.jsonl:4: key 'a': NaN is no value in JSON; write null for a missing one",
        ),
        (
            r#"{"a": 1e999}"#,
            "x.jsonl:4: column 'a': value 1e999 is not a finite number; replace missing values",
        ),
        (
            r#"{"a": [1]}"#,
            "x.jsonl:4: key 'a': an object or a list inside; only numbers, strings, true, false and null are read",
        ),
        (r#"{"a": 1, "a": 1}"#, "x.jsonl:4: key 'a' appears twice; keep one of them"),
        (r#"{"b": 1}"#, "x.jsonl:4: column 'a': the value is missing; fill it in or leave the row out"),
    ] {
        let text = format!("{{\"a\": 1, \"label\": \"p\"}}\n\n{{\"a\": 2}}\n{bad}\n");
        let numbers = ReadOptions {
            columns: Some(vec![Column::Number { name: "a".into() }]),
            ..ReadOptions::default()
        };
        let before = if what.contains("key '") { 0 } else { 2 };
        assert_eq!(error_of_stream("x.jsonl", text.as_bytes(), numbers, 1), (before, what.to_string()));
    }
    let svm = "1 1:1\n# note\n2 2:1\n\n1 1:nan\n";
    let what = "x.svm:5:5: value nan is not a finite number; replace missing values";
    assert_eq!(error_of_stream("x.svm", svm.as_bytes(), ReadOptions::default(), 1), (2, what.to_string()));
}

#[test]
fn truncated_compressed_files_are_refused() {
    let mut text = String::new();
    for i in 0..60_000 {
        text += &format!("{i},{},{}\n", (i * 7919) % 1013, i % 2);
    }
    let (mut bytes, _) = compressed(1, text.into_bytes());
    bytes.truncate(bytes.len() / 2);
    let (before, error) = error_of_stream("x.csv.gz", &bytes, ReadOptions::default(), 1000);
    assert_eq!(error, "x.csv.gz: the compressed file ends too early; fetch or compress it again");
    // The schema is determined from the first 4 MiB, which are incomplete.
    assert_eq!(before, 0);
}

#[test]
fn refuses_a_line_that_is_too_long() {
    let limits = Limits { max_line: 10_000, ..Limits::default() };
    let text = format!("1 1:1\n2 2:{}\n", "1".repeat(20_000));
    let options = ReadOptions { limits, ..ReadOptions::default() };
    let features = StreamOptions { features: Some(2), ..options_with(options) };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.svm");
    fs::write(&path, text).unwrap();
    let mut stream = Stream::open(files(&path), features).unwrap();
    assert_eq!(stream.next_batch(5, &mut never).unwrap().unwrap().x.rows(), 1);
    let error = stream.next_batch(5, &mut never).unwrap_err().to_string();
    assert!(
        error.ends_with("x.svm:2: the line is over the cap of 10000 bytes; if it is right, raise max_line")
    );
}

#[test]
fn the_width_of_sparse_rows_is_that_of_all_files_or_as_given() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        fs::write(dir.path().join(name), text).unwrap();
        Source::File(dir.path().join(name))
    };
    let sources = vec![write("1.svm", "1 1:1\n"), write("2.svm", "2 5:1\n1 3:1\n")];
    let mut stream = Stream::open(sources.clone(), StreamOptions::default()).unwrap();
    assert_eq!(all(&mut stream, 1).iter().map(|c| c.x.cols()).collect::<Vec<_>>(), [5, 5, 5]);
    let fixed_width = StreamOptions { features: Some(3), ..StreamOptions::default() };
    let mut stream = Stream::open(sources, fixed_width).unwrap();
    let chunks = all(&mut stream, 2);
    assert_eq!(of_chunks(&chunks)[1].0, [0; 3]);
    assert_eq!(stream.take_notes(), ["columns past the 3 of the stream are left out"]);
    assert!(stream.take_notes().is_empty());
}

#[test]
fn word_weights_equal_an_independent_implementation() {
    // Hashes, counts and weights from an independent Python program.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.jsonl");
    let lines = ["The cat sat on the mat", "the dog ate the cat", "Über-Katzen!"]
        .map(|text| serde_json::json!({ "text": text }).to_string());
    fs::write(&path, lines.join("\n")).unwrap();
    let options = ReadOptions { text: vec![LabelColumn::Name("text".into())], ..ReadOptions::default() };
    let set = read(&path, &options).unwrap();
    let counts = [
        (64, 1),
        (126509, 1),
        (148980, 1),
        (167927, 1),
        (188446, 2),
        (225670, 1),
        (230500, 2),
        (232997, 1),
        (244930, 1),
    ];
    let column =
        Column::Text { name: "text".into(), buckets: 1 << 18, documents: 3, frequency: counts.to_vec() };
    assert_eq!(set.columns, [column]);
    assert_eq!(set.notes, ["no row has a label; give it under the key 'label', or name the label column"]);
    let expected: [&[(usize, f64)]; 3] = [
        &[
            (188446, 0.3323474604583788),
            (225670, 0.4369969712865081),
            (230500, 0.5627131656413621),
            (232997, 0.4369969712865081),
            (244930, 0.4369969712865081),
        ],
        &[
            (64, 0.48584208848594757),
            (148980, 0.48584208848594757),
            (188446, 0.36949543109358585),
            (230500, 0.6256101473858865),
        ],
        &[(126509, FRAC_1_SQRT_2), (167927, FRAC_1_SQRT_2)],
    ];
    let near = |x: &evermargin::data::Matrix, i: usize, expected: &[(usize, f64)]| {
        let mut got = Vec::new();
        x.view().row(i).for_each(|c, v| got.push((c, v)));
        assert_eq!(got.len(), expected.len());
        // The logarithm may differ between machines in its last digit.
        assert!(got.iter().zip(expected).all(|(g, e)| g.0 == e.0 && (g.1 - e.1).abs() < 1e-15), "{got:?}");
    };
    expected.iter().enumerate().for_each(|(i, e)| near(&set.x, i, e));
    // A new document with unknown words, encoded with the statistics of the model.
    fs::write(&path, r#"{"other": 3, "text": "a NEW dog"}"#).unwrap();
    let known = ReadOptions { columns: Some(set.columns), ..ReadOptions::default() };
    let new = [(148980, 0.4484383430387477), (183564, 0.6320217767184382), (261741, 0.6320217767184382)];
    near(&read(&path, &known).unwrap().x, 0, &new);
}

#[test]
fn a_text_model_gives_the_same_decisions_from_file_and_stream() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.csv");
    let mut text = "n,text,label\n".to_string();
    for i in 0..50 {
        text += &format!("{i},\"{} mail {}\",{}\n", ["free", "dear"][i % 2], i % 7, ["s", "h"][i % 2]);
    }
    fs::write(&path, &text).unwrap();
    let set = read(&path, &text_column("text")).unwrap();
    assert_eq!(set.x.cols(), 65);
    let weights = vec![(0..65).map(|c| f64::from(c * 37 % 11) - 5.0).collect()];
    let classifier = Classifier {
        learner: "linear".into(),
        params: Default::default(),
        classes: vec!["h".into(), "s".into()],
        scheme: MulticlassScheme::Binary,
        model: Model::Linear { weights, bias: vec![0.5] },
        scaling: Scaling::None,
        input: set.input_spec(),
        calibration: Vec::new(),
    };
    let kept = model::from_bytes("m", &model::to_bytes(&classifier).unwrap()).unwrap();
    assert_eq!(kept, classifier);
    let known =
        ReadOptions { columns: Some(kept.input.columns.clone()), cols: Some(65), ..ReadOptions::default() };
    let whole = kept.predict(read(&path, &known).unwrap().x).unwrap();
    let mut stream = Stream::open(files(&path), options_with(known)).unwrap();
    let mut decisions = Vec::new();
    for chunk in all(&mut stream, 7) {
        decisions.extend(kept.predict(chunk.x).unwrap().decision);
    }
    assert_eq!(whole.decision, decisions);
    assert_eq!(whole.decision.len(), 50);
}

#[test]
fn shown_rows_are_the_text_or_the_line() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.csv");
    fs::write(&path, format!("n,text,label\n1,\"two\nlines\",p\n2,{},q\n", "é".repeat(3000))).unwrap();
    let mut stream = Stream::open(files(&path), options_with(text_column("text"))).unwrap();
    let shown = &all(&mut stream, 5)[0].shown;
    assert_eq!((shown[0].as_str(), shown[1].len()), ("two\nlines", 2048));
    let mut stream = Stream::open(files(&path), options_with(ReadOptions::default())).unwrap();
    assert_eq!(all(&mut stream, 5)[0].shown[0], "1,\"two\nlines\",p");
}

#[test]
fn columns_can_be_selected() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.csv");
    fs::write(&path, "1,a,5,p\n2,b,6,q\n").unwrap();
    let only = ReadOptions { only: Some(vec![LabelColumn::Index(3)]), ..ReadOptions::default() };
    let set = read(&path, &only).unwrap();
    assert_eq!(of_file(&set)[1], (vec![6f64.to_bits()], Some("q".to_string())));
    // Without a header, the columns of the model are found by position.
    let known =
        ReadOptions { columns: Some(set.columns), trained_label: set.label, ..ReadOptions::default() };
    let mut stream = Stream::open(files(&path), options_with(known)).unwrap();
    assert_eq!(of_chunks(&all(&mut stream, 1))[1], (vec![6f64.to_bits()], Some("q".to_string())));
    let wrong = ReadOptions { text: vec![LabelColumn::Index(4)], ..ReadOptions::default() };
    let error = read(&path, &wrong).unwrap_err().to_string();
    assert!(error.ends_with("column 'column 4' is the label, not for text"), "{error}");
}

#[test]
fn refuses_incompatible_sources() {
    let refused = |sources: Vec<Source>, options: StreamOptions| {
        Stream::open(sources, options).err().map(|e| e.to_string()).unwrap_or_default()
    };
    assert!(refused(Vec::new(), StreamOptions::default()).contains("no sources"));
    let follow = StreamOptions { follow: true, ..StreamOptions::default() };
    assert!(refused(vec![Source::Folder("a".into()), Source::Stdin], follow).contains("never read"));
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("1.csv"), "a,label\n1,p\n").unwrap();
    fs::write(dir.path().join("2.svm"), "1 1:1\n").unwrap();
    let mut stream = Stream::open(vec![Source::Folder(dir.path().into())], StreamOptions::default()).unwrap();
    assert_eq!(stream.next_batch(5, &mut never).unwrap().unwrap().x.rows(), 1);
    let error = stream.next_batch(5, &mut never).unwrap_err().to_string();
    assert!(error.ends_with("2.svm: libsvm, but the stream began as csv"), "{error}");
}

/// Rows are appended to a file that was read to its end within a batch, and to finished files of a folder.
#[test]
fn appended_rows_are_read_when_a_stream_is_resumed() {
    type Text = fn(usize, usize) -> Vec<u8>;
    fn comma(from: usize, to: usize) -> Vec<u8> {
        let header = if from == 0 { "x,label\n" } else { "" };
        let lines = (from..to).flat_map(|i| format!("{i},p\n").into_bytes());
        header.bytes().chain(lines).collect()
    }
    fn pairs(from: usize, to: usize) -> Vec<u8> {
        (from..to).flat_map(|i| format!("1 1:{i}\n").into_bytes()).collect()
    }
    fn zipped(from: usize, to: usize) -> Vec<u8> {
        compressed(1, comma(from, to)).0
    }
    let zip = compressed(1, Vec::new()).1;
    let kinds: [(String, Text); 3] =
        [("x.csv".into(), comma), ("x.svm".into(), pairs), (format!("x.csv{zip}"), zipped)];
    for (name, text) in kinds {
        for folder in [false, true] {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join(&name);
            fs::write(&path, text(0, 7)).unwrap();
            let source = if folder { Source::Folder(dir.path().into()) } else { Source::File(path.clone()) };
            let options = || StreamOptions { features: Some(1), ..options_with(ReadOptions::default()) };
            let mut stream = Stream::open(vec![source.clone()], options()).unwrap();
            let mut read = of_chunks(&all(&mut stream, 5));
            assert!(stream.next_batch(5, &mut never).unwrap().is_none());
            for (from, to) in [(7, 7), (7, 12), (12, 14), (14, 14)] {
                let mut bytes = fs::read(&path).unwrap();
                if to > from {
                    bytes.extend(text(from, to));
                }
                fs::write(&path, bytes).unwrap();
                let (schema, position) = (stream.schema().unwrap().clone(), stream.position().clone());
                stream = Stream::resume(vec![source.clone()], options(), schema, position).unwrap();
                read.extend(of_chunks(&all(&mut stream, 5)));
                let expected: Vec<u64> = (0..to).map(|i| (i as f64).to_bits()).collect();
                let found: Vec<u64> = read.iter().flat_map(|row| row.0.clone()).collect();
                assert_eq!(found, expected, "{name}, in a folder: {folder}");
                assert_eq!(stream.position().total, to as u64);
            }
        }
    }
}

#[test]
fn a_source_that_grew_before_the_last_one_is_noted() {
    let dir = tempfile::tempdir().unwrap();
    let [a, b] = ["a.csv", "b.csv"].map(|name| dir.path().join(name));
    fs::write(&a, "x,label\n1,p\n").unwrap();
    fs::write(&b, "x,label\n2,q\n").unwrap();
    let sources = || vec![Source::File(a.clone()), Source::File(b.clone())];
    let mut stream = Stream::open(sources(), options_with(ReadOptions::default())).unwrap();
    assert_eq!(all(&mut stream, 5).len(), 1);
    for (text, notes) in [("x,label\n1,p\n", 0), ("x,label\n1,p\n3,p\n", 1)] {
        fs::write(&a, text).unwrap();
        let (schema, position) = (stream.schema().unwrap().clone(), stream.position().clone());
        let mut again =
            Stream::resume(sources(), options_with(ReadOptions::default()), schema, position).unwrap();
        let notes_found: Vec<String> = again.take_notes().iter().map(ToString::to_string).collect();
        assert_eq!(notes_found.len(), notes, "{notes_found:?}");
        assert!(
            notes_found
                .iter()
                .all(|note| note.contains("a.csv has grown") && note.contains("4 bytes are not read"))
        );
        assert!(all(&mut again, 5).is_empty());
    }
}
