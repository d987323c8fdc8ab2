//! Invalid, truncated and excessive files: each is refused with the exact message below, fast and in little memory.
use crate::samples::{Shape, classifier};
use evermargin::kernel::Kernel;
use evermargin::model::{Calibration, Classifier, Column, Model};
use evermargin_io::artifacts::{container, model};
use evermargin_io::{Format, LabelColumn, Limits, ReadOptions, json, libsvm_model, read, read_bytes};
use std::io::Write;
use std::time::{Duration, Instant};

struct Case {
    name: &'static str,
    got: String,
    want: &'static str,
}

fn data(name: &str, bytes: impl AsRef<[u8]>) -> String {
    with(name, bytes, &ReadOptions::default())
}

fn with(name: &str, bytes: impl AsRef<[u8]>, options: &ReadOptions) -> String {
    match read_bytes(name, bytes.as_ref().to_vec(), options) {
        Ok(set) => format!("accepted: {} x {}", set.x.rows(), set.x.cols()),
        Err(e) => e.to_string(),
    }
}

fn limited(limits: Limits) -> ReadOptions {
    ReadOptions { limits, ..ReadOptions::default() }
}

fn run(cases: &[Case]) {
    let mut wrong = Vec::new();
    for case in cases {
        if case.got != case.want {
            wrong.push(format!("{}\n   got {:?}\n  want {:?}", case.name, case.got, case.want));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

macro_rules! cases {
    ($($name:literal: $got:expr => $want:literal,)*) => {
        run(&[$(Case { name: $name, got: $got, want: $want }),*])
    };
}

#[test]
fn refuses_invalid_libsvm_text() {
    let tight = Limits { max_line: 20, max_columns: 100, max_rows: 2, ..Limits::default() };
    let one_based = ReadOptions { index_base: Some(1), ..ReadOptions::default() };
    cases! {
        "index bomb": data("t.svm", "1 1:1\n1 4294967295:1\n") => "t.svm:2:3: index 4294967295 is over the cap of 10000000; if it is right, raise max_columns",
        "index past 64 bits": data("t.svm", "1 99999999999999999999:1\n") => "t.svm:1:3: index 99999999999999999999 is over the cap of 10000000; if it is right, raise max_columns",
        "index over a small cap": with("t.svm", "1 101:1\n", &limited(tight.clone())) => "t.svm:1:3: index 101 is over the cap of 100; if it is right, raise max_columns",
        "descending is sorted": data("t.svm", "1 3:1 2:1 1:5\n") => "accepted: 1 x 3",
        "duplicate": data("t.svm", "1 1:1\n1 2:3 2:4\n") => "t.svm:2: index 2 appears twice; keep one of them",
        "duplicate far apart": data("t.svm", "1 2:0 5:1 2:4\n") => "t.svm:1: index 2 appears twice; keep one of them",
        "negative index": data("t.svm", "1 -1:5\n") => "t.svm:1:3: index -1 is negative; indices are whole numbers from 1",
        "index zero where counted from one": with("t.svm", "1 0:5\n", &one_based) => "t.svm:1:3: index 0, but indices are counted from 1 here; if they are counted from 0, set index_base = 0",
        "index not whole": data("t.svm", "1 1.5:5\n") => "t.svm:1:3: index '1.5' is not a whole number",
        "NaN": data("t.svm", "1 1:nan\n") => "t.svm:1:5: value nan is not a finite number; replace missing values",
        "infinity": data("t.svm", "1 1:-inf\n") => "t.svm:1:5: value -inf is not a finite number; replace missing values",
        "1e999": data("t.svm", "-1 1:0\n1 1:1e999\n") => "t.svm:2:5: value 1e999 is not a finite number; replace missing values",
        "1e200": data("t.svm", "1 1:1e200\n") => "t.svm:1:5: value 1e200 is larger than 1e100; rescale the data",
        "missing colon": data("t.svm", "1 1:1 7 2:3\n") => "t.svm:1:7: expected index:value, found '7'",
        "missing value": data("t.svm", "1 1:\n") => "t.svm:1:5: a value is missing after the colon",
        "value missing before another": data("t.svm", "1 1: 2:3\n") => "t.svm:1:5: a value is missing after the colon",
        "garbage value": data("t.svm", "1 1:1x\n") => "t.svm:1:5: value '1x' is not a number",
        "two colons": data("t.svm", "1 1:1:1\n") => "t.svm:1:5: value '1:1' is not a number",
        "hexadecimal": data("t.svm", "1 1:0x10\n") => "t.svm:1:5: value '0x10' is not a number",
        "label nan": data("t.svm", "nan 1:1\n") => "t.svm:1:1: label nan names no class; write ? for a row without label",
        "control character in a label": data("t.svm", b"\x07 1:1\n") => "t.svm:1:1: label '\\u{7}' holds a control character; is this a text file?",
        "label that is not UTF-8": data("t.svm", b"\xff\xfe 1:1\n") => "t.svm:1:1: label '��' is not UTF-8; save the file as UTF-8",
        "NUL byte": data("t.svm", b"1 1:1\n1 1\0:1\n") => "t.svm:2: a NUL byte; this is not a text file, or it is UTF-16: save it as UTF-8",
        "line too long": with("t.svm", "1 1:1\n1 1:1 2:22222222222222\n", &limited(tight.clone())) => "t.svm:2: the line is over the cap of 20 bytes; if it is right, raise max_line",
        "too many rows": with("t.svm", "# c\n1 1:1\n\n1 1:1\n1 1:2\n", &limited(tight.clone())) => "t.svm:5: more than 2 rows; if it is right, raise max_rows",
        "empty file": data("t.svm", "") => "t.svm: the file is empty",
        "comments alone": data("t.svm", "# nothing\n\n \t\r\n") => "t.svm: no rows; every line is blank or a comment",
        "labels alone": data("t.svm", "1\n-1\n") => "t.svm: no index:value pair in any row; is it LIBSVM text?",
        "error far down, after CRLF lines": data("t.svm", "1 1:1\r\n".repeat(500_000) + "1 x\r\n") => "t.svm:500001:3: expected index:value, found 'x'",
        "byte order mark is accepted": data("t.svm", "\u{feff}1 1:1\n") => "accepted: 1 x 1",
        "over the cap of bytes": with("t.svm", "1 1:1\n1 1:1\n", &limited(Limits { max_bytes: 10, ..Limits::default() })) => "t.svm: over the cap of 10 bytes; if it is right, raise max_bytes",
    }
}

#[test]
fn refuses_invalid_tables() {
    let named = ReadOptions { label: Some(LabelColumn::Name("kind".into())), ..ReadOptions::default() };
    let tenth = ReadOptions { label: Some(LabelColumn::Index(10)), ..ReadOptions::default() };
    let numbers = vec![Column::Number { name: "a".into() }, Column::Number { name: "b".into() }];
    let trained = ReadOptions { columns: Some(numbers), ..ReadOptions::default() };
    let tight = limited(Limits { max_line: 30, max_columns: 3, max_cells: 5, ..Limits::default() });
    cases! {
        "empty": data("t.csv", "") => "t.csv: no rows; the table is empty",
        "header only": data("t.csv", "a,class\n") => "t.csv: no rows below the header",
        "ragged": data("t.csv", "a,b,label\n1,2,x\n1,2\n") => "t.csv:3: 2 cells, but the first row has 3",
        "unclosed quote": data("t.csv", "a,b,label\n1,\"2,x\n1,2,y\n") => "t.csv:2: a quote opens in this line and never closes",
        "invalid UTF-8": data("t.csv", b"a,b,label\n1,2,x\n1,\xff,y\n") => "t.csv:3: bytes that are not UTF-8; save the file as UTF-8",
        "NUL byte": data("t.csv", b"a,b,label\n1,\x00,x\n") => "t.csv:2: a NUL byte; this is not a text file, or it is UTF-16: save it as UTF-8",
        "UTF-16": data("t.csv", b"\xff\xfea\x00,\x00b\x00\n\x00") => "t.csv:1: a NUL byte; this is not a text file, or it is UTF-16: save it as UTF-8",
        "missing number": data("t.csv", "a,b,label\n1,2,x\n1,,y\n") => "t.csv:3: column 'b': the value is missing; fill it in or leave the row out",
        "question mark for a number": data("t.csv", "a,b,label\n1,2,x\n?,4,y\n") => "t.csv:3: column 'a': the value is missing; fill it in or leave the row out",
        "NaN": data("t.csv", "a,b,label\n1,2,x\n1,NaN,y\n") => "t.csv:3: column 'b': value NaN is not a finite number; replace missing values",
        "1e999": data("t.csv", "a,b,label\n1,2,x\n1,1e999,y\n") => "t.csv:3: column 'b': value 1e999 is not a finite number; replace missing values",
        "one column": data("t.csv", "label\n1\n2\n") => "t.csv: one column only; a table needs a label and at least one feature",
        "label column not there": with("t.csv", "a,b,label\n1,2,x\n", &named) => "t.csv:1: no column named 'kind' for the label; the header has: a, b, label",
        "label column by name, no header": with("t.csv", "1,2\n3,4\n", &named) => "t.csv:1: no header, so no column named 'kind' for the label; give its position instead",
        "label position not there": with("t.csv", "a,b,label\n1,2,x\n", &tenth) => "t.csv: no column 10 for the label; columns are 1 to 3",
        "column of the model missing": with("t.csv", "a,c,label\n1,2,x\n", &trained) => "t.csv:1: column 'b', which the model was trained on, is missing",
        "text where the model has numbers": with("t.csv", "a,b,label\n1,2,x\n1,red,y\n", &trained) => "t.csv:3: column 'b': value 'red' is not a number",
        "no header, wrong width": with("t.csv", "1,2,3,4\n", &trained) => "t.csv: 4 columns without a header, but the model was trained on 2, from 'a' to 'b'",
        "line too long": with("t.csv", "a,b\n1,22222222222222222222222222222222\n", &tight) => "t.csv:2: the line is over the cap of 30 bytes; if it is right, raise max_line",
        "too many categories": with("t.csv", "a,label\nr,1\ng,1\nb,2\nk,2\n", &tight) => "t.csv:5: 4 categories are over the cap of 3; if it is right, raise max_columns",
        "too many cells": with("t.csv", "a,b,label\n1,2,x\n1,2,x\n1,2,x\n", &tight) => "t.csv: 3 rows of 2 columns are over the cap of 5 values; if it is right, raise max_cells",
        "byte order mark is accepted": data("t.csv", "\u{feff}label,a\nx,1\ny,2\n") => "accepted: 2 x 1",
        "blanks, ragged": data("zip.train", "6 1 2 3\n5 1 2\n") => "zip.train:2: 3 cells, but the first row has 4",
        "label nan": data("t.csv", "a,label\n1,x\n2,nan\n") => "t.csv:3: label nan names no class; write ? for a row without label",
    }
}

fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend_from_slice(&(header.len() as u16).to_le_bytes());
    out.extend_from_slice(header.as_bytes());
    out.extend_from_slice(data);
    out
}

fn idx(kind: u8, sizes: &[u32], data: &[u8]) -> Vec<u8> {
    let mut out = vec![0, 0, kind, sizes.len() as u8];
    for size in sizes {
        out.extend_from_slice(&size.to_be_bytes());
    }
    out.extend_from_slice(data);
    out
}

#[test]
fn refuses_invalid_arrays() {
    let two = [1.0f64.to_le_bytes(), f64::NAN.to_le_bytes()].concat();
    let tight = limited(Limits { max_cells: 3, ..Limits::default() });
    let wide = ReadOptions { cols: Some(3), ..ReadOptions::default() };
    let format = |f| ReadOptions { format: Some(f), ..ReadOptions::default() };
    let mut newer = npy("'<f8'", "(1, 1)", &two);
    newer[6] = 9;
    cases! {
        "a trillion rows": data("x.npy", npy("'<f8'", "(1000000000000, 100)", &two)) => "x.npy: the header declares an array of shape (1000000000000, 100) but only 16 bytes follow; the file is cut short or damaged",
        "a shape past 64 bits": data("x.npy", npy("'<f8'", "(4294967296, 4294967296, 4)", &two)) => "x.npy: the header declares an array of shape (4294967296, 4294967296, 4) but only 16 bytes follow; the file is cut short or damaged",
        "no rows but many columns": data("x.npy", npy("'<f8'", "(0, 18446744073709551615)", b"")) => "x.npy: 18446744073709551615 columns are over the cap of 10000000; if it is right, raise max_columns",
        "a billion rows of nothing": data("x.npy", npy("'<f8'", "(1999999999, 0)", b"")) => "x.npy: 1999999999 rows without columns",
        "a billion IDX rows of nothing": data("x", idx(8, &[1_999_999_999, 0], &[])) => "x: 1999999999 rows without columns",
        "one dimension": data("x.npy", npy("'<f8'", "(2,)", &two)) => "x.npy: the array has shape (2); two dimensions are needed, one row per sample (reshape it with numpy)",
        "three dimensions": data("x.npy", npy("'<f8'", "(1, 1, 2)", &two)) => "x.npy: the array has shape (1, 1, 2); two dimensions are needed, one row per sample (reshape it with numpy)",
        "no rows": data("x.npy", npy("'<f8'", "(0, 3)", b"")) => "x.npy: no rows",
        "NaN": data("x.npy", npy("'<f8'", "(1, 2)", &two)) => "x.npy: row 1, column 2: value NaN is not usable; replace missing values and keep magnitudes below 1e100",
        "pickled objects": data("x.npy", npy("'|O'", "(1, 2)", &two)) => "x.npy: values of type pickled objects are not supported; convert them with numpy's astype('float64')",
        "complex numbers": data("x.npy", npy("'<c16'", "(1, 1)", &two)) => "x.npy: values of type <c16 are not supported; convert them with numpy's astype('float64')",
        "a record": data("x.npy", npy("[('a', '<f8'), ('b', '<f8')]", "(1,)", &two)) => "x.npy: values of type a record are not supported; convert them with numpy's astype('float64')",
        "text where numbers are due": data("x.npy", npy("'<U2'", "(1, 2)", &two)) => "x.npy: the array holds text; numbers are needed",
        "no shape": data("x.npy", npy("'<f8'", "None", &two)) => "x.npy: the .npy header does not give a shape",
        "negative shape": data("x.npy", npy("'<f8'", "(-1, 2)", &two)) => "x.npy: the .npy header does not give a shape",
        "cut in the header": data("x.npy", &npy("'<f8'", "(1, 2)", &two)[..20]) => "x.npy: the .npy header ends too early",
        "unknown version": data("x.npy", newer) => "x.npy: .npy version 9 is not known; save it again with numpy.save",
        "over the cap of cells": with("x.npy", npy("'|u1'", "(2, 2)", &[1, 2, 3, 4]), &tight) => "x.npy: 2 rows of 2 columns are over the cap of 3 values; if it is right, raise max_cells",
        "another width than the model": with("x.npy", npy("'|u1'", "(2, 2)", &[1, 2, 3, 4]), &wide) => "x.npy: 2 columns, but the model has 3",
        "archive that is none": with("x.npz", b"PK\x03\x04 and nothing more", &format(Format::Npz)) => "x.npz: the .npz archive is damaged (invalid Zip archive: Could not find EOCD)",
        "IDX cut short": data("x", idx(8, &[2, 2, 2], &[1, 2, 3])) => "x: the header declares 2 x 2 x 2 values but 3 bytes follow; the file is cut short or damaged",
        "IDX of labels": data("x", idx(8, &[2], &[1, 2])) => "x: the IDX array has one dimension: these are labels, name the images",
        "IDX of a shape past 64 bits": data("x", idx(8, &[u32::MAX, u32::MAX, u32::MAX], &[1])) => "x: the header declares 4294967295 x 4294967295 x 4294967295 values but 1 bytes follow; the file is cut short or damaged",
        "IDX with empty dimensions": data("x", idx(8, &[0, u32::MAX, u32::MAX, u32::MAX], &[])) => "x: 18446744073709551615 columns are over the cap of 10000000; if it is right, raise max_columns",
        "IDX cut in the header": with("x", [0, 0, 8, 3, 0, 0], &format(Format::Idx)) => "x: the IDX header ends too early",
        "IDX of unknown type": with("x", [0, 0, 7, 1, 0, 0, 0, 0], &format(Format::Idx)) => "x: values of IDX type 0x07 are not known",
        "pickle as data": data("x", b"\x80\x04\x95more") => "x: a Python pickle file, which is not read here; save it as CSV, LIBSVM text or .npy",
        "parquet as data": data("x", b"PAR1more") => "x: a Parquet file, which is not read here; save it as CSV, LIBSVM text or .npy",
    }
}

#[test]
fn refuses_invalid_label_files() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    write("x.svm", b"1:1\n1:2\n2:1\n");
    write("two", b"1\n-1\n");
    write("nan", b"1\nnan\n-1\n");
    let tight =
        ReadOptions { limits: Limits { max_bytes: 10, ..Limits::default() }, ..ReadOptions::default() };
    let big = read(folder.path().join("x.svm"), &tight).unwrap_err().to_string();
    let big = big.replace(&format!("{}/", folder.path().display()), "");
    write("square.npy", &npy("'|u1'", "(2, 2)", &[1, 2, 3, 4]));
    let got = |labels: &str| {
        let options = ReadOptions { labels_file: Some(folder.path().join(labels)), ..ReadOptions::default() };
        let error = read(folder.path().join("x.svm"), &options).unwrap_err().to_string();
        error.replace(&format!("{}/", folder.path().display()), "")
    };
    cases! {
        "fewer labels than rows": got("two") => "two: 2 labels for the 3 rows of x.svm; there must be one per row",
        "label nan": got("nan") => "nan:2: label nan names no class; write ? for a row without label",
        "labels of two dimensions": got("square.npy") => "square.npy: labels: the array has shape (2, 2); one dimension is needed",
        "a file over the cap": big => "x.svm: over the cap of 10 bytes; if it is right, raise max_bytes",
        "labels not there": got("none") => "none: cannot read: No such file or directory (os error 2)",
        "a folder": read(folder.path(), &ReadOptions::default()).unwrap_err().to_string().replace(&folder.path().display().to_string(), "folder") => "folder: is a folder; name a file in it",
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 3);
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn refuses_damaged_compressed_files() {
    let mut text = String::new();
    for i in 0..2000 {
        text += &format!("{} {}:{}\n", i % 2, i % 50 + 1, f64::from(i).sin());
    }
    let (gz, xz, zst) =
        (gzip(text.as_bytes()), xz(text.as_bytes()), zstd::encode_all(text.as_bytes(), 3).unwrap());
    let cut = |b: &[u8]| b[..b.len() / 2].to_vec();
    let mut flipped = gz.clone();
    let end = flipped.len() - 6;
    flipped[end] ^= 1;
    let bomb = gzip(&vec![b'\n'; 50 << 20]);
    let tight = limited(Limits { max_bytes: 1 << 20, ..Limits::default() });
    assert!(bomb.len() < 100_000);
    cases! {
        "gzip is read": data("t", &gz) => "accepted: 2000 x 50",
        "xz is read": data("t", &xz) => "accepted: 2000 x 50",
        "zstd is read": data("t", &zst) => "accepted: 2000 x 50",
        "two gzip members are read": data("t", [gz.clone(), gz.clone()].concat()) => "accepted: 4000 x 50",
        "gzip cut short": data("t.gz", cut(&gz)) => "t.gz: the compressed file ends too early; fetch or compress it again",
        "xz cut short": data("t.xz", cut(&xz)) => "t.xz: the compressed file ends too early; fetch or compress it again",
        "zstd cut short": data("t.zst", cut(&zst)) => "t.zst: the compressed file ends too early; fetch or compress it again",
        "gzip with a wrong sum": data("t.gz", flipped) => "t.gz: the compressed file is damaged (corrupt gzip stream does not have a matching checksum); fetch it again",
        "gzip bomb": with("t.gz", bomb, &tight) => "t.gz: over the cap of 1048576 bytes; if it is right, raise max_bytes",
        "gzip magic alone": data("t.gz", [0x1f, 0x8b]) => "t.gz: the compressed file ends too early; fetch or compress it again",
    }
}

fn sample() -> Classifier {
    classifier(Shape {
        seed: 20,
        classes: 3,
        scheme: 0,
        kernel: 1,
        points: 4,
        cols: 4,
        sparse: true,
        scaling: 1,
        calibration: 1,
        narrow: false,
    })
}

fn model(bytes: impl AsRef<[u8]>) -> String {
    model::from_bytes("m", bytes.as_ref()).map_or_else(|e| e.to_string(), |_| "accepted".into())
}

/// The file of the sample with a part of its header replaced by a part of any length.
fn edited(from: &str, to: &str) -> Vec<u8> {
    let bytes = model::to_bytes(&sample()).unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header = String::from_utf8(bytes[8..8 + length].to_vec()).unwrap();
    assert!(header.contains(from), "{from} is not in {header}");
    let header = header.replacen(from, to, 1);
    let mut out = (header.len() as u64).to_le_bytes().to_vec();
    out.extend_from_slice(header.as_bytes());
    out.extend_from_slice(&bytes[8 + length..]);
    container::reseal(&mut out);
    out
}

/// The file of the sample with the bytes of one value replaced.
fn patched(from: f64, to: f64) -> Vec<u8> {
    let mut bytes = model::to_bytes(&sample()).unwrap();
    let at = bytes.windows(8).position(|w| w == from.to_le_bytes()).unwrap();
    bytes[at..at + 8].copy_from_slice(&to.to_le_bytes());
    container::reseal(&mut bytes);
    bytes
}

#[test]
fn refuses_invalid_model_files() {
    let good = model::to_bytes(&sample()).unwrap();
    let Model::Expansion { coef, bias, points, .. } = sample().model else { panic!("an expansion") };
    let mut huge = u64::MAX.to_le_bytes().to_vec();
    huge.extend_from_slice(b"{}");
    let mut trailing = good.clone();
    trailing.push(0);
    let first_point = {
        let mut v = 0.0;
        points.view().row(0).for_each(|_, x| v = x);
        v
    };
    cases! {
        "the sample is accepted": model(&good) => "accepted",
        "empty": model(b"") => "m: an empty file, not an evermargin model",
        "pickle": model(b"\x80\x04\x95abc") => "m: a Python pickle (which could run code), not an evermargin model",
        "zip": model(b"PK\x03\x04abc") => "m: a zip archive, not an evermargin model",
        "gzip": model(gzip(&good)) => "m: a gzip file (decompress it first), not an evermargin model",
        "LIBSVM text": model("svm_type c_svc\n") => "m: a LIBSVM model in text form (import it with `evermargin convert`), not an evermargin model",
        "JSON": model("{\"learner\": 1}") => "m: a JSON text (import it with `evermargin convert`), not an evermargin model",
        "noise": model([0xab; 100]) => "m: not an evermargin model, or a damaged one (header too large)",
        "header length past the file": model(huge) => "m: not an evermargin model, or a damaged one (header too large)",
        "truncated": model(&good[..good.len() - 10]) => "m: the file is damaged: its checksum does not match its contents; fetch it again or restore a copy",
        "truncated in the header": model(&good[..100]) => "m: the file is damaged: its checksum does not match its contents; fetch it again or restore a copy",
        "trailing bytes": model(trailing) => "m: the file is damaged: its checksum does not match its contents; fetch it again or restore a copy",
        "newer version": model(edited("\"format_version\":\"4\"", "\"format_version\":\"5\"")) => "m: format 5 is newer than this evermargin reads (4); update evermargin",
        "no version": model(edited("\"format_version\":\"4\"", "\"format_versio\":\"4\"")) => "m: written by an earlier evermargin in format ''; this version reads format 4: make the file again",
        "other format": model(edited("\"format\":\"evermargin\"", "\"format\":\"pt\"")) => "m: a file of 'pt', not of evermargin (or a damaged one)",
        "no format": model(edited("\"format\":\"evermargin\"", "\"forma\":\"evermargin\"")) => "m: a safetensors file, but not of evermargin (or a damaged one)",
        "overlapping tensors": model(edited("\"data_offsets\":[24,120]", "\"data_offsets\":[16,112]")) => "m: not an evermargin model, or a damaged one (invalid offset for tensor `coef`)",
        "shape past 64 bits": model(edited("\"shape\":[3,4]", "\"shape\":[4294967296,4294967296]")) => "m: not an evermargin model, or a damaged one (overflow computing buffer size from shape and/or element type)",
        "tensor of another type": model(edited("\"dtype\":\"F64\"", "\"dtype\":\"I64\"")) => "m: tensor bias has values of type I64 instead of F64",
        "tensor of another rank": model(edited("\"shape\":[3,4]", "\"shape\":[3,2,2]")) => "m: tensor coef has 3 dimensions instead of 2",
        "tensor missing": model(edited("\"coef\"", "\"cofe\"")) => "m: tensor coef is missing",
        "tensors exchanged in size": model(edited("\"shape\":[3,4]", "\"shape\":[4,3]")) => "m: 3 coefficients for 4 points",
        "NaN coefficient": model(patched(coef[0][0], f64::NAN)) => "m: model: coefficients and intercepts must be finite",
        "infinite constant": model(patched(bias[1], f64::INFINITY)) => "m: model: coefficients and intercepts must be finite",
        "infinite point": model(patched(first_point, f64::INFINITY)) => "m: points: row 1, column 3: value inf is not usable; replace missing values and keep magnitudes below 1e100",
        "gamma 0": model(edited(&format!("\\\"gamma\\\":{}", gamma()), "\\\"gamma\\\":0")) => "m: parameter gamma = 0: must be a positive number",
        "gamma null": model(edited(&format!("\\\"gamma\\\":{}", gamma()), "\\\"gamma\\\":null")) => "m: the description of the model is damaged: invalid type: null, expected f64 at line 1 column 530",
        "classes missing": model(edited("\\\"classes\\\":[\\\"-4\\\",\\\"-1\\\",\\\"2\\\"]", "\\\"classes\\\":[]")) => "m: 0 classes; a classifier has at least two",
        "one class too few": model(edited("[\\\"-4\\\",\\\"-1\\\",\\\"2\\\"]", "[\\\"-4\\\",\\\"-1\\\"]")) => "m: one-vs-one over 2 classes needs 1 decision functions, found 3",
        "a class twice": model(edited("[\\\"-4\\\",\\\"-1\\\",\\\"2\\\"]", "[\\\"-4\\\",\\\"2\\\",\\\"2\\\"]")) => "m: class '2' is listed twice",
        "another scheme": model(edited("one-vs-one", "binary")) => "m: 3 classes; a binary classifier has two",
        "unknown field": model(edited("\\\"scaling\\\"", "\\\"scalene\\\"")) => "m: the description of the model is damaged: unknown field `scalene`, expected one of `evermargin`, `input`, `scaling`, `body` at line 1 column 242",
        "narrower points": model(edited("\\\"cols\\\":4", "\\\"cols\\\":1")) => "m: points: sparse matrix, row 1: column past the end",
        "wider points": model(edited("\\\"cols\\\":4", "\\\"cols\\\":5")) => "m: scaling: shift has 4 values for 5 columns",
        "columns that do not fit": model(edited("\\\"n3\\\"}", "\\\"n3\\\"},{\\\"kind\\\":\\\"number\\\",\\\"name\\\":\\\"n4\\\"}")) => "m: the columns make 5 features, but the model has 4",
        "calibration turned round": model(edited("\\\"a\\\":-", "\\\"a\\\":")) => "m: calibration: a must be finite and at most 0, b finite",
        "deep nesting": model(edited("\\\"params\\\":{", &("\\\"params\\\":".to_string() + &"[".repeat(100_000)))) => "m: the description of the model is damaged: invalid type: sequence, expected a map at line 1 column 335",
    }
}

fn gamma() -> String {
    let Model::Expansion { kernel: Kernel::Rbf { gamma }, .. } = sample().model else { panic!("rbf") };
    serde_json::to_string(&gamma).unwrap()
}

#[test]
fn refuses_invalid_libsvm_models() {
    let text = |header: &str, body: &str| {
        let text = format!("svm_type c_svc\n{header}SV\n{body}");
        libsvm_model::from_text("m", text.as_bytes(), &Limits::default())
            .map_or_else(|e| e.to_string(), |_| "accepted".into())
    };
    let raw = |text: &str| {
        libsvm_model::from_text("m", text.as_bytes(), &Limits::default())
            .map_or_else(|e| e.to_string(), |_| "accepted".into())
    };
    let two = "kernel_type linear\nnr_class 2\ntotal_sv 2\nrho 0.5\nlabel 1 -1\nnr_sv 1 1\n";
    let body = "1 1:1 \n-1 2:1 \n";
    let swap = |from: &str, to: &str| text(&two.replace(from, to), body);
    cases! {
        "the sample is accepted": text(two, body) => "accepted",
        "empty": raw("") => "m:1: not a LIBSVM model: the first line must be svm_type c_svc",
        "another text": raw("hello\nworld\n") => "m:1: not a LIBSVM model: the first line must be svm_type c_svc",
        "regression": raw("svm_type epsilon_svr\n") => "m:1: svm_type epsilon_svr is not supported; only c_svc is",
        "unknown kernel": swap("linear", "laplace") => "m:8: kernel_type 'laplace' is not known",
        "unknown line": swap("rho 0.5", "rhoo 0.5") => "m:5: 'rhoo 0.5' is not a line of a LIBSVM model",
        "total_sv huge": swap("total_sv 2", "total_sv 2147483647") => "m:8: nr_sv must list 2 counts that sum to total_sv, 2147483647",
        "total_sv huge with counts to match": text(&two.replace("total_sv 2", "total_sv 2147483647").replace("nr_sv 1 1", "nr_sv 2147483646 1"), body) => "m:10: the model ends after 2 of 2147483647 support vectors",
        "nr_class a billion": swap("nr_class 2", "nr_class 1000000000") => "m:8: nr_class is 1000000000 but there are 2 labels; there must be two or more, one per class",
        "nr_class 1": text("kernel_type linear\nnr_class 1\ntotal_sv 0\nrho\nlabel 1\nnr_sv 0\n", "") => "m:8: nr_class is 1 but there are 1 labels; there must be two or more, one per class",
        "counts past 64 bits": swap("nr_sv 1 1", "nr_sv 18446744073709551615 3") => "m:8: nr_sv must list 2 counts that sum to total_sv, 2",
        "negative count": swap("total_sv 2", "total_sv -2") => "m:4: total_sv: '-2' is not a count",
        "too few rho": swap("rho 0.5", "rho") => "m:8: 2 classes need 1 values of rho, found 0",
        "rho NaN": swap("rho 0.5", "rho nan") => "m:5: rho: 'nan' is not a finite number",
        "a label twice": swap("label 1 -1", "label 1 1") => "m:8: label 1 is listed twice",
        "label not whole": swap("label 1 -1", "label 1 cat") => "m:6: label 'cat' is not a whole number",
        "gamma missing": swap("linear", "rbf") => "m:8: kernel rbf needs a line gamma",
        "gamma 0": swap("linear\n", "rbf\ngamma 0\n") => "m:9: parameter gamma = 0: must be a positive number",
        "degree a billion": swap("linear\n", "polynomial\ndegree 1000000000\ngamma 1\ncoef0 0\n") => "m:11: degree 1000000000 is not a whole number from 1 to 32",
        "probA without probB": swap("nr_sv", "probA -1\nnr_sv") => "m:9: 2 classes need 1 values of probA and probB, found 1 and 0",
        "fewer vectors": text(two, "1 1:1\n") => "m:9: the model ends after 1 of 2 support vectors",
        "more vectors": text(two, "1 1:1\n-1 2:1\n-1 3:1\n") => "m:11: more support vectors than total_sv, 2",
        "coefficient missing": text(two, "1:1\n-1 2:1\n") => "m:9: a line begins with one coefficient per other class (1), found '1:1'",
        "coefficient infinite": text(two, "1e999 1:1\n-1 2:1\n") => "m:9: a line begins with one coefficient per other class (1), found '1e999'",
        "index 0": text(two, "1 0:1\n-1 2:1\n") => "m:9: index 0, but the indices of a LIBSVM model are counted from 1; train on data counted from 1",
        "index bomb": text(two, "1 4294967295:1\n-1 2:1\n") => "m:9: index 4294967295 is over the cap of 10000000; if it is right, raise max_columns",
        "descending": text(two, "1 3:1 2:1\n-1 2:1\n") => "m:9: index 2 does not ascend",
        "value NaN": text(two, "1 3:nan\n-1 2:1\n") => "m:9: expected index:value, found '3:nan'",
        "ends before SV": raw("svm_type c_svc\nkernel_type linear\n") => "m:3: the model ends before its support vectors",
        "precomputed without numbers": text(&two.replace("linear", "precomputed"), "1 1:1\n-1 2:1\n") => "m:9: expected index:value, found '1:1'",
    }
}

#[test]
fn refuses_invalid_json_models() {
    let good = json::to_json(&sample()).unwrap();
    let swap = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        json::from_json("m", good.replacen(from, to, 1).as_bytes())
            .map_or_else(|e| e.to_string(), |_| "accepted".into())
    };
    cases! {
        "the sample is accepted": swap("svc", "svc") => "accepted",
        "not JSON": json::from_json("m", b"{\"learner\": }").unwrap_err().to_string() => "m:1:13: not a classifier: expected value at line 1 column 13",
        "a column past the end": swap("\"cols\": 4", "\"cols\": 0") => "m: sparse matrix, row 1: column past the end",
        "one class": swap("\"-4\",", "") => "m: one-vs-one over 2 classes needs 1 decision functions, found 3",
        "depth": json::from_json("m", format!("{{\"params\": {}", "[".repeat(100_000)).as_bytes()).unwrap_err().to_string() => "m:1:11: not a classifier: invalid type: sequence, expected a map at line 1 column 11",
    }
}

#[test]
fn refuses_long_files_fast() {
    let start = Instant::now();
    let lines = "1 1:1 2:2 3:3\n".repeat(200_000) + "1 1:1 1:1\n";
    assert_eq!(data("t.svm", lines), "t.svm:200001: index 1 appears twice; keep one of them");
    assert!(start.elapsed() < Duration::from_secs(5));
    let isotonic = Calibration::Isotonic { at: vec![1.0, 0.0], probability: vec![0.0, 1.0] };
    let bad = Classifier { calibration: vec![isotonic; 3], ..sample() };
    assert_eq!(
        model::to_bytes(&bad).unwrap_err().to_string(),
        "calibration: knots must rise, one probability from 0 to 1 each"
    );
}
