//! Files of labels from arbitrary bytes (text, `.npy`, IDX): refused, or one label per row.
#![no_main]

use evermargin_io::{Limits, ReadOptions, read_bytes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let file = std::env::temp_dir().join(format!("evermargin-fuzz-labels-{}", std::process::id()));
    std::fs::write(&file, bytes).expect("the file can be written");
    let limits = Limits { max_bytes: 1 << 24, max_rows: 1 << 16, ..Limits::default() };
    for rows in [1, 2, 3] {
        let options =
            ReadOptions { labels_file: Some(file.clone()), limits: limits.clone(), ..ReadOptions::default() };
        if let Ok(set) = read_bytes("fuzz.svm", b"1:1\n".repeat(rows), &options) {
            assert_eq!(set.labels.of.len(), rows);
            assert!(set.labels.of.iter().flatten().all(|c| (*c as usize) < set.labels.classes.len()));
        }
    }
});
