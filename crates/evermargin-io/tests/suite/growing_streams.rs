//! Columns that appear later in a stream are appended: features keep their positions, in every format.

use evermargin::data::Matrix;
use evermargin::model::Column;
use evermargin_io::{Chunk, ColumnCap, LabelColumn, ReadOptions, Source, Stream, StreamOptions, read};
use std::fs;
use std::path::Path;

const CAP: ColumnCap = ColumnCap { sparse: 100, dense: 100 };

fn options(growth: ColumnCap) -> StreamOptions {
    let label = Some(LabelColumn::Name("class".into()));
    let read = ReadOptions { label, ..ReadOptions::default() };
    StreamOptions { read, growth: Some(growth), reject_bad_rows: true, ..StreamOptions::default() }
}

fn all(stream: &mut Stream, rows: usize) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    while let Some(chunk) = stream.next_batch(rows, &mut || false).unwrap() {
        chunks.push(chunk);
    }
    chunks
}

fn values(x: &Matrix) -> Vec<Vec<f64>> {
    let row = |i: usize| {
        let mut row = vec![0.0; x.cols()];
        x.view().row(i).for_each(|c, v| row[c] = v);
        row
    };
    (0..x.rows()).map(row).collect()
}

fn folder(dir: &Path) -> Vec<Source> {
    vec![Source::Folder(dir.to_path_buf())]
}

/// Three files: the second has more columns in another order, the third lacks them.
fn growing_folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
    write("1.csv", "a,b,class\n1,2,x\n3,4,y\n");
    write("2.csv", "d,c,a,class,b\nred,7,5,x,6\nblue,8,9,y,1\nred,,2,x,2\n");
    write("3.csv", "b,a,class\n20,10,x\n40,30,y\n");
    dir
}

#[test]
fn columns_of_later_files_are_appended() {
    let dir = growing_folder();
    let mut stream = Stream::open(folder(dir.path()), options(CAP)).unwrap();
    let chunks = all(&mut stream, 2);
    let rows: Vec<Vec<f64>> = chunks.iter().flat_map(|c| values(&c.x.clone().with_cols(5))).collect();
    assert_eq!(
        rows,
        [
            // a, b, d=blue, d=red, c
            [1.0, 2.0, 0.0, 0.0, 0.0],
            [3.0, 4.0, 0.0, 0.0, 0.0],
            [5.0, 6.0, 0.0, 1.0, 7.0],
            [9.0, 1.0, 1.0, 0.0, 8.0],
            [2.0, 2.0, 0.0, 1.0, 0.0],
            [10.0, 20.0, 0.0, 0.0, 0.0],
            [30.0, 40.0, 0.0, 0.0, 0.0],
        ]
    );
    assert!(chunks.windows(2).all(|pair| pair[0].x.cols() <= pair[1].x.cols()));
    let new: Vec<Vec<&str>> =
        chunks.iter().map(|c| c.new_columns.iter().map(Column::name).collect()).collect();
    assert_eq!(new, [vec![], vec!["d", "c"], vec![], vec![]]);
    let notes: Vec<String> = stream.take_notes().iter().map(ToString::to_string).collect();
    assert_eq!(notes.iter().filter(|n| n.starts_with("column 'd' is new")).count(), 1, "{notes:?}");
    assert!(chunks.iter().all(|c| c.rejected.is_empty()));
}

/// A stream resumed after any batch, with the columns known so far, continues with the same rows.
#[test]
fn a_resumed_stream_reads_the_same_rows() {
    let dir = growing_folder();
    let jsonl = tempfile::tempdir().unwrap();
    let text = "{\"a\":1,\"class\":\"x\"}\n{\"a\":2,\"class\":\"y\"}\n{\"a\":3,\"k\":\"p\",\"class\":\"x\"}\n\
                {\"k\":\"q\",\"a\":4,\"z\":5,\"class\":\"x\"}\n{\"a\":6,\"k\":\"r\",\"class\":\"y\"}\n{\"a\":7,\"class\":\"y\"}\n";
    fs::write(jsonl.path().join("0.jsonl"), "{\"a\":0,\"class\":\"x\"}\n").unwrap();
    fs::write(jsonl.path().join("1.jsonl"), text).unwrap();
    for dir in [dir.path(), jsonl.path()] {
        let mut stream = Stream::open(folder(dir), options(CAP)).unwrap();
        let first = stream.next_batch(1, &mut || false).unwrap().unwrap();
        let mut schema = stream.schema().unwrap().clone();
        let (mut position, expected) = (first.position, all(&mut stream, 1));
        for chunk in &expected {
            let mut resumed = Stream::resume(folder(dir), options(CAP), schema.clone(), position).unwrap();
            let found = resumed.next_batch(1, &mut || false).unwrap().unwrap();
            assert_eq!(&found, chunk);
            schema.extend(&chunk.new_columns, chunk.x.cols());
            position = chunk.position.clone();
        }
        assert_eq!(&schema, stream.schema().unwrap());
    }
}

#[test]
fn new_keys_and_values_of_objects_become_features() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    // Columns are determined by the beginning of a file; later lines are in a second file.
    fs::write(
        dir.path().join("r.jsonl"),
        "{\"a\":1,\"k\":\"p\",\"class\":\"x\"}\n{\"a\":2,\"k\":\"p\",\"class\":\"y\"}\n",
    )
    .unwrap();
    fs::write(
        &path,
        "{\"a\":3,\"k\":\"q\",\"class\":\"x\"}\n{\"a\":4,\"z\":9,\"k\":\"p\",\"class\":\"x\"}\n{\"a\":5,\"k\":\"s\",\"class\":\"x\"}\n",
    )
    .unwrap();
    let mut stream = Stream::open(folder(dir.path()), options(CAP)).unwrap();
    let rows: Vec<Vec<f64>> =
        all(&mut stream, 1).iter().flat_map(|c| values(&c.x.clone().with_cols(5))).collect();
    assert_eq!(rows[2], [3.0, 0.0, 1.0, 0.0, 0.0], "a, k=p, k=q, z, k=s");
    assert_eq!(rows[3], [4.0, 1.0, 0.0, 9.0, 0.0]);
    assert_eq!(rows[4], [5.0, 0.0, 0.0, 0.0, 1.0]);
    // The input specification encodes a file with any of these rows in the same way.
    let schema = stream.schema().unwrap();
    let known = ReadOptions::like(&schema.input_spec(), &["x".into(), "y".into()], schema.features);
    let found = read(&path, &known).unwrap();
    assert_eq!(values(&found.x), rows[2..]);
    assert!(found.notes.is_empty(), "{:?}", found.notes);
}

#[test]
fn growth_ends_at_the_limit_with_a_note() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
    write("1.csv", "k,class\np,x\nq,y\n");
    write("2.csv", "k,n,class\nr,1,x\ns,2,y\nt,3,x\n");
    let cap = ColumnCap { sparse: 4, dense: 4 };
    let mut stream = Stream::open(folder(dir.path()), options(cap)).unwrap();
    let chunks = all(&mut stream, 2);
    assert!(chunks.iter().all(|c| c.x.cols() <= 4));
    assert_eq!(stream.schema().unwrap().features, 4);
    let notes: Vec<String> = stream.take_notes().iter().map(ToString::to_string).collect();
    assert!(notes.iter().any(|n| n.contains("columns past the 4 of the stream are left out")), "{notes:?}");
}

#[test]
fn larger_indices_widen_a_stream_unless_its_width_is_fixed() {
    let dir = tempfile::tempdir().unwrap();
    let sources = |names: [&str; 2]| names.map(|n| Source::File(dir.path().join(n))).to_vec();
    fs::write(dir.path().join("1.svm"), "1 1:1 2:1\n-1 1:2 2:2\n").unwrap();
    fs::write(dir.path().join("2.svm"), "1 1:1\n-1 2:2\n").unwrap();
    let mut stream = Stream::open(sources(["1.svm", "2.svm"]), options(CAP)).unwrap();
    stream.next_batch(2, &mut || false).unwrap();
    fs::write(dir.path().join("2.svm"), "1 1:1 7:3\n-1 5:2 900:1\n").unwrap();
    let rest = all(&mut stream, 2);
    assert_eq!(rest[0].x.cols(), 100);
    assert_eq!(stream.schema().unwrap().features, 100);
    let fixed = StreamOptions { features: Some(3), ..options(CAP) };
    let mut stream = Stream::open(sources(["1.svm", "2.svm"]), fixed).unwrap();
    assert!(all(&mut stream, 2).iter().all(|c| c.x.cols() == 3), "the user fixed the width");
}

#[test]
fn selected_columns_do_not_grow_and_ids_are_no_features() {
    let dir = growing_folder();
    let mut only = options(CAP);
    only.read.only = Some(vec![LabelColumn::Name("a".into())]);
    let mut stream = Stream::open(folder(dir.path()), only).unwrap();
    assert!(all(&mut stream, 2).iter().all(|c| c.x.cols() == 1));
    let mut named = options(CAP);
    named.read.id = Some(LabelColumn::Name("b".into()));
    let mut stream = Stream::open(folder(dir.path()), named).unwrap();
    let chunks = all(&mut stream, 3);
    let ids: Vec<&str> = chunks.iter().flat_map(|c| c.ids.iter().map(String::as_str)).collect();
    assert_eq!(ids, ["2", "4", "6", "1", "2", "20", "40"]);
    let names: Vec<&str> = stream.schema().unwrap().columns.iter().map(Column::name).collect();
    assert_eq!(names, ["a", "d", "c"]);
}
