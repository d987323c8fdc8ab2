//! Archives of NumPy arrays from arbitrary bytes: refused or valid, never a panic.
#![no_main]

use evermargin_io::{Format, Limits, ReadOptions, read_bytes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits { max_bytes: 1 << 24, max_columns: 1 << 20, max_cells: 1 << 22, ..Limits::default() };
    let options = ReadOptions { format: Some(Format::Npz), limits, ..ReadOptions::default() };
    if let Ok(set) = read_bytes("fuzz", bytes.to_vec(), &options) {
        assert_eq!(set.x.rows(), set.labels.of.len());
        for i in 0..set.x.rows() {
            set.x.view().row(i).for_each(|c, v| assert!(c < set.x.cols() && v.is_finite()));
        }
    }
});
