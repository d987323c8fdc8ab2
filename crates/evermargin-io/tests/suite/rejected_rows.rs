//! Streams with bad lines: usable rows are those of the file without these lines, and every bad line is reported once.

use evermargin_io::{Chunk, Source, Stream, StreamOptions};
use proptest::prelude::*;
use std::fs;
use std::path::Path;

fn open(path: &Path, reject_bad_rows: bool) -> Stream {
    let options = StreamOptions { reject_bad_rows, features: None, ..StreamOptions::default() };
    Stream::open(vec![Source::File(path.to_path_buf())], options).unwrap()
}

/// Rows as text, and the lines of the rejected ones.
fn read_all(mut stream: Stream, rows: usize) -> (Vec<String>, Vec<u64>) {
    let (mut usable, mut rejected) = (Vec::new(), Vec::new());
    while let Some(chunk) = stream.next_batch(rows, &mut || false).unwrap() {
        assert!(chunk.x.rows() + chunk.rejected.len() <= rows);
        collect(&chunk, &mut usable, &mut rejected);
    }
    (usable, rejected)
}

fn collect(chunk: &Chunk, usable: &mut Vec<String>, rejected: &mut Vec<u64>) {
    for i in 0..chunk.x.rows() {
        let mut row = vec![0.0; chunk.x.cols()];
        chunk.x.view().row(i).for_each(|c, v| row[c] = v);
        usable.push(format!("{row:?} {:?} {}", chunk.labels[i], chunk.shown[i]));
    }
    rejected.extend(chunk.rejected.iter().map(|row| row.line));
}

/// A format, its header, a good line with a number in it, and bad lines.
type TextFormat = (&'static str, &'static str, fn(u32) -> String, &'static [&'static str]);

const FORMATS: [TextFormat; 3] = [
    (
        "d.csv",
        "a,b,label\n",
        |i| format!("{i},{},c{}", i % 3, i % 2),
        &["1,nan,c0", "1,2", "1,,c1", "1,2,nan"],
    ),
    (
        "d.jsonl",
        "",
        |i| format!("{{\"a\": {i}, \"b\": {}, \"label\": \"c{}\"}}", i % 3, i % 2),
        &["{", "[1]", "{\"a\": 1, \"a\": 2}", "{\"a\": \"1e999\", \"b\": 1}", "{\"b\": 2}"],
    ),
    (
        "d.svm",
        "",
        |i| format!("{} 1:{i} 3:{}", i % 2, i % 3 + 1),
        &["1 1:nan", "1 1:1 1:2", "nan 1:1", "1 2", "0 -1:3"],
    ),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn usable_rows_equal_the_file_without_bad_lines(
        format in 0..FORMATS.len(),
        bad in prop::collection::vec(prop::option::weighted(0.3, 0..10usize), 1..60),
        rows in 1..25usize,
        stop in 0..6usize,
    ) {
        let (name, header, good, bad_lines) = FORMATS[format];
        let folder = tempfile::tempdir().unwrap();
        let first = header.lines().count() as u64;
        let (mut text, mut clean, mut expected) = (header.to_string(), header.to_string(), Vec::new());
        // A first block of good lines determines the columns.
        let lines = (0..8).map(|_| None).chain(bad);
        for (i, kind) in lines.enumerate() {
            let line = kind.map_or_else(|| good(i as u32), |k| bad_lines[k % bad_lines.len()].to_string()) + "\n";
            if kind.is_some() {
                expected.push(first + i as u64 + 1);
            } else {
                clean += &line;
            }
            text += &line;
        }
        let (dirty, cleaned) = (folder.path().join(name), folder.path().join(format!("clean-{name}")));
        fs::write(&dirty, &text).unwrap();
        fs::write(&cleaned, &clean).unwrap();
        let (whole, none) = read_all(open(&cleaned, false), 1000);
        prop_assert!(none.is_empty());
        let (usable, rejected) = read_all(open(&dirty, true), rows);
        prop_assert_eq!(&usable, &whole);
        prop_assert_eq!(&rejected, &expected);
        // Stopped after some batches and resumed: no row is lost or repeated.
        let mut stream = open(&dirty, true);
        let (mut usable, mut rejected) = (Vec::new(), Vec::new());
        for _ in 0..=stop {
            let Some(chunk) = stream.next_batch(rows, &mut || false).unwrap() else { break };
            collect(&chunk, &mut usable, &mut rejected);
        }
        let options = StreamOptions { reject_bad_rows: true, ..StreamOptions::default() };
        let (schema, position) = (stream.schema().unwrap().clone(), stream.position().clone());
        let resumed = Stream::resume(vec![Source::File(dirty.clone())], options, schema, position).unwrap();
        let (rest, rest_rejected) = read_all(resumed, rows);
        usable.extend(rest);
        rejected.extend(rest_rejected);
        prop_assert_eq!(&usable, &whole);
        prop_assert_eq!(&rejected, &expected);
        // Strict reading refuses a bad line.
        if !expected.is_empty() {
            let mut strict = open(&dirty, false);
            let error = loop {
                match strict.next_batch(rows, &mut || false) {
                    Ok(Some(_)) => {}
                    Ok(None) => panic!("the bad line was read"),
                    Err(error) => break error.to_string(),
                }
            };
            prop_assert!(expected.iter().any(|line| error.contains(&format!(":{line}"))), "{}", error);
        }
    }
}

/// A followed folder continues after a file with bad lines; each row is reported with its own file.
#[test]
fn rows_are_reported_with_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("1.csv"), "a,b,label\n1,2,x\n3,nan,y\n5,6,x\n").unwrap();
    fs::write(folder.path().join("2.csv"), "a,b,label\n7,8\n9,1,y\n").unwrap();
    let options = StreamOptions { reject_bad_rows: true, ..StreamOptions::default() };
    let mut stream = Stream::open(vec![Source::Folder(folder.path().to_path_buf())], options).unwrap();
    let chunk = stream.next_batch(100, &mut || false).unwrap().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let places: Vec<(&str, u64)> = (0..3).map(|row| chunk.places.of(row)).collect();
    assert_eq!(
        places,
        [(file("1.csv").as_str(), 2), (file("1.csv").as_str(), 4), (file("2.csv").as_str(), 3)]
    );
    let rejected: Vec<(&str, u64)> = chunk.rejected.iter().map(|row| (row.file.as_str(), row.line)).collect();
    assert_eq!(rejected, [(file("1.csv").as_str(), 3), (file("2.csv").as_str(), 2)]);
    let row = &chunk.rejected[0];
    assert_eq!((row.column.as_deref(), row.value.as_deref()), (Some("b"), Some("nan")));
}

/// An unreadable file of a folder counts as one rejected row; the files after it are read.
#[test]
fn an_unreadable_file_of_a_folder_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &[u8]| fs::write(folder.path().join(name), text).unwrap();
    let rows = |k: u32| {
        let lines: Vec<String> = (0..4).map(|i| format!("{},{},c{}", i + k, i % 3, i % 2)).collect();
        lines.join("\n") + "\n"
    };
    write("a.csv", format!("a,b,label\n{}", rows(0)).as_bytes());
    write("b.csv.gz", b"\x1f\x8b\x08 this is no gzip");
    write("c.csv", format!("a,z,label\n{}", rows(1)).as_bytes());
    write("d.csv", format!("a,b,label\n{}", rows(2)).as_bytes());
    let read = |reject_bad_rows| {
        let options = StreamOptions { reject_bad_rows, ..StreamOptions::default() };
        let mut stream = Stream::open(vec![Source::Folder(folder.path().into())], options).unwrap();
        let mut chunks = Vec::new();
        while let Some(chunk) = stream.next_batch(3, &mut || false)? {
            chunks.push(chunk);
        }
        Ok::<_, evermargin_io::Error>((chunks, stream.take_notes(), stream.position().total))
    };
    assert!(read(false).is_err());
    let (chunks, notes, total) = read(true).unwrap();
    assert_eq!(chunks.iter().map(|c| c.x.rows()).sum::<usize>(), 8);
    let rejected: Vec<_> = chunks.iter().flat_map(|c| &c.rejected).collect();
    assert_eq!(
        rejected.iter().map(|r| (r.row, r.line)).collect::<Vec<_>>(),
        [(5, 0), (6, 1)],
        "{rejected:?}"
    );
    assert!(rejected[0].file.ends_with("b.csv.gz") && rejected[1].file.ends_with("c.csv"));
    assert!(rejected[1].reason.contains("column 'b'"), "{rejected:?}");
    assert_eq!(total, 10);
    assert_eq!(notes.iter().filter(|note| note.what.contains("was left out")).count(), 2, "{notes:?}");
}

/// Some words do not turn a numeric column into categories: their rows are rejected.
#[test]
fn a_few_words_in_a_column_of_numbers_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    let table = |bad: &[u32]| {
        let cell = |i: u32| if bad.contains(&i) { format!("word{i}") } else { i.to_string() };
        let lines: Vec<String> = (0..40).map(|i| format!("{},c{}", cell(i), i % 2)).collect();
        format!("a,label\n{}\n", lines.join("\n"))
    };
    let read = |text: String, reject: bool| {
        fs::write(&path, text).unwrap();
        let mut stream = open(&path, reject);
        let chunk = stream.next_batch(100, &mut || false).unwrap().unwrap();
        (chunk.x.cols(), chunk.rejected.iter().map(|r| r.row).collect::<Vec<_>>(), stream.take_notes())
    };
    let (columns, rejected, notes) = read(table(&[3, 30]), true);
    assert_eq!((columns, rejected), (1, vec![4, 31]));
    assert!(
        notes.iter().any(|n| n.what.contains("'a' holds numbers") && n.what.contains("'word3' in line 5")),
        "{notes:?}"
    );
    let (columns, rejected, notes) = read(table(&[3, 20, 30]), true);
    assert_eq!((columns, rejected), (40, vec![]), "less than 95 % are numbers");
    assert!(notes.iter().any(|n| n.what.contains("40 categories")), "{notes:?}");
    assert_eq!(read(table(&[3]), false).0, 40, "strict reading keeps every row");
}
