//! Real files, if they exist (in `EVERMARGIN_DATA`, or in the folder `shared/data` beside the repository): rows, columns,
//! nonzero values and classes.
use evermargin_io::{ReadOptions, read};
use std::path::PathBuf;

fn data() -> Option<PathBuf> {
    let folder = std::env::var_os("EVERMARGIN_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    folder.is_dir().then_some(folder)
}

struct Expected<'a> {
    file: &'a str,
    labels: Option<&'a str>,
    rows: usize,
    cols: usize,
    nonzeros: Option<usize>,
    classes: &'a [(&'a str, usize)],
}

#[test]
fn sizes_of_real_data_sets_equal_the_manifest() {
    let Some(folder) = data() else { return };
    let expected = [
        Expected {
            file: "libsvm/a9a.xz",
            labels: None,
            rows: 32561,
            cols: 123,
            nonzeros: Some(451_592),
            classes: &[("-1", 24720), ("1", 7841)],
        },
        Expected {
            file: "images/zip.train.xz",
            labels: None,
            rows: 7291,
            cols: 256,
            nonzeros: None,
            classes: &[
                ("0", 1194),
                ("1", 1005),
                ("2", 731),
                ("3", 658),
                ("4", 652),
                ("5", 556),
                ("6", 664),
                ("7", 645),
                ("8", 542),
                ("9", 644),
            ],
        },
        Expected {
            file: "images/train-images-idx3-ubyte.xz",
            labels: None,
            rows: 60000,
            cols: 784,
            nonzeros: None,
            classes: &[
                ("0", 5923),
                ("1", 6742),
                ("2", 5958),
                ("3", 6131),
                ("4", 5842),
                ("5", 5421),
                ("6", 5918),
                ("7", 6265),
                ("8", 5851),
                ("9", 5949),
            ],
        },
        Expected {
            file: "uci/covtype-sample92962.csv.xz",
            labels: None,
            rows: 92962,
            cols: 54,
            nonzeros: None,
            classes: &[
                ("1", 33894),
                ("2", 45328),
                ("3", 5721),
                ("4", 439),
                ("5", 1519),
                ("6", 2779),
                ("7", 3282),
            ],
        },
        Expected {
            file: "svmlin-pcmac/training_examples.xz",
            labels: Some("svmlin-pcmac/training_labels.xz"),
            rows: 1460,
            cols: 7510,
            nonzeros: None,
            classes: &[("-1", 29), ("1", 21)],
        },
        Expected {
            file: "isolet/isolet5.data.xz",
            labels: None,
            rows: 1559,
            cols: 617,
            nonzeros: None,
            classes: &[],
        },
    ];
    for e in expected {
        if !folder.join(e.file).exists() {
            continue;
        }
        let options = ReadOptions { labels_file: e.labels.map(|l| folder.join(l)), ..ReadOptions::default() };
        let set = read(folder.join(e.file), &options).unwrap();
        assert_eq!((set.x.rows(), set.x.cols()), (e.rows, e.cols), "{}", e.file);
        if let Some(nonzeros) = e.nonzeros {
            assert_eq!(set.x.view().nonzeros(), nonzeros, "{}", e.file);
        }
        if !e.classes.is_empty() {
            let counts = set.labels.counts();
            let found: Vec<(&str, usize)> =
                set.labels.classes.iter().map(String::as_str).zip(counts).collect();
            assert_eq!(found, e.classes, "{}", e.file);
        }
    }
}
