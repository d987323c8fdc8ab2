//! LIBSVM models from arbitrary bytes: refused, or a classifier that can be written again.
#![no_main]

use evermargin_io::{Limits, libsvm_model};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits { max_columns: 1 << 20, max_cells: 1 << 22, ..Limits::default() };
    if let Ok(loaded) = libsvm_model::from_text("fuzz", bytes, &limits) {
        libsvm_model::to_text(&loaded).expect("a loaded model can be written");
    }
});
