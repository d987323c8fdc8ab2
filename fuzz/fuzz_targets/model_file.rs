//! A model file from arbitrary bytes: refused, or a classifier that saves and loads again.
#![no_main]

use evermargin_io::model_file;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(loaded) = model_file::from_bytes("fuzz", bytes) {
        let again = model_file::to_bytes(&loaded).expect("a loaded model can be saved");
        assert_eq!(model_file::from_bytes("fuzz", &again).expect("and loaded"), loaded);
    }
});
