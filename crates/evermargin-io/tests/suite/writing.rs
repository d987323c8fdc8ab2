//! Data sets written in the format of the file name read back to the same rows and labels.

use crate::samples::{Pcg, matrix};
use evermargin::data::Matrix;
use evermargin_io::{Format, LabelColumn, ReadOptions, Table, read, write_data};
use std::path::Path;

const FORMATS: [(&str, Format); 8] = [
    ("svm", Format::Libsvm),
    ("libsvm", Format::Libsvm),
    ("txt", Format::Libsvm),
    ("csv", Format::Csv),
    ("tsv", Format::Tsv),
    ("jsonl", Format::Jsonl),
    ("npy", Format::Npy),
    ("npz", Format::Npz),
];

fn bits(x: &Matrix) -> Vec<(usize, usize, u64)> {
    let mut bits = Vec::new();
    for i in 0..x.rows() {
        x.view().row(i).for_each(|c, v| {
            if v != 0.0 {
                bits.push((i, c, v.to_bits()));
            }
        });
    }
    bits
}

fn round_trip(path: &Path, format: Format, x: &Matrix, labels: &[Option<&str>]) {
    let written = write_data(path, &Table { x: x.view(), labels, names: &[] }).unwrap();
    assert_eq!((written.format, written.notes.len()), (format, 0), "{}", path.display());
    let mut options = ReadOptions { labels_file: written.labels, ..ReadOptions::default() };
    match format {
        Format::Libsvm => (options.cols, options.index_base) = (Some(x.cols()), Some(1)),
        Format::Csv | Format::Tsv | Format::Jsonl => options.label = Some(LabelColumn::Name("label".into())),
        _ => {}
    }
    let set = read(path, &options).unwrap();
    assert_eq!((set.x.rows(), set.x.cols()), (x.rows(), x.cols()), "{}", path.display());
    assert_eq!(bits(&set.x), bits(x), "{}", path.display());
    let names: Vec<Option<&str>> =
        set.labels.of.iter().map(|c| c.map(|c| set.labels.classes[c as usize].as_str())).collect();
    assert_eq!(names, labels, "{}", path.display());
}

#[test]
fn every_format_reads_back_to_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    for (ending, format) in FORMATS {
        for packing in ["", ".gz", ".xz", ".zst"] {
            for sparse in [false, true] {
                let path = folder.path().join(format!("x.{ending}{packing}"));
                let x = matrix(&mut Pcg::new(7), 9, 5, sparse, false);
                let plain: Vec<Option<&str>> =
                    (0..9).map(|i| [Some("cat"), None, Some("-3")][i % 3]).collect();
                round_trip(&path, format, &x, &plain);
                round_trip(&path, format, &x, &[None; 9]);
                if format != Format::Libsvm {
                    let odd = [Some("a, \"b\""), Some("it's: 5 #"), None, Some("ü\\n"), Some("x\u{1f600}")];
                    let labels: Vec<Option<&str>> = (0..9).map(|i| odd[i % 5]).collect();
                    round_trip(&path, format, &x, &labels);
                }
            }
        }
    }
}

#[test]
fn output_is_deterministic() {
    let folder = tempfile::tempdir().unwrap();
    let x = matrix(&mut Pcg::new(7), 9, 5, true, false);
    for (ending, _) in FORMATS {
        let [a, b] = ["a", "b"].map(|name| {
            let path = folder.path().join(format!("{name}.{ending}.gz"));
            write_data(&path, &Table { x: x.view(), labels: &[Some("1"); 9], names: &[] }).unwrap();
            std::fs::read(path).unwrap()
        });
        assert_eq!(a, b, "{ending}");
    }
}

#[test]
fn refuses_unknown_file_names_and_labels_that_do_not_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let x = Matrix::dense(vec![1.0, 2.0], 2, 1).unwrap();
    let write = |name: &str, labels: &[Option<&str>]| {
        write_data(folder.path().join(name), &Table { x: x.view(), labels, names: &[] })
    };
    for name in ["x.parquet", "x.xlsx", "x.evm", "x.json.gz", "x.foo", "x.data"] {
        let message = write(name, &[None; 2]).unwrap_err().to_string();
        assert!(message.contains("data is not written as ."), "{message}");
        assert!(message.contains(".svm, .libsvm, .txt, .csv, .tsv, .jsonl, .npy or .npz"), "{message}");
    }
    for label in ["", "?", "nan", " a", "3.0", "a\nb"] {
        assert!(write("x.csv", &[Some(label), None]).is_err(), "{label:?} does not read back");
    }
    assert!(write("x.npy", &[Some("0"), Some("-1")]).unwrap_err().to_string().contains("write .npz"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing was written");
    let written = write("x", &[Some("a"), None]).unwrap();
    assert_eq!((written.format, written.notes.len()), (Format::Libsvm, 1));
    assert_eq!(std::fs::read_to_string(folder.path().join("x")).unwrap(), "a 1:1\n? 1:2\n");
}
