//! A model file from arbitrary bytes: refused, or a classifier that saves and loads again.
#![no_main]

use evermargin_io::artifacts::{container, model};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    // With a valid checksum, so that the checks behind it are reached.
    let mut bytes = bytes.to_vec();
    container::reseal(&mut bytes);
    if let Ok(loaded) = model::from_bytes("fuzz", &bytes) {
        let again = model::to_bytes(&loaded).expect("a loaded model can be saved");
        assert_eq!(model::from_bytes("fuzz", &again).expect("and loaded"), loaded);
    }
});
