//! Model files from arbitrary bytes: refused, or a classifier that can be saved and loaded again.
#![no_main]

use evermargin_io::artifacts::{container, model};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    // A valid checksum, so that the checks after it are reached.
    let mut bytes = bytes.to_vec();
    container::reseal(&mut bytes);
    if let Ok(loaded) = model::from_bytes("fuzz", &bytes) {
        let again = model::to_bytes(&loaded).expect("a loaded model can be saved");
        assert_eq!(model::from_bytes("fuzz", &again).expect("a saved model can be loaded"), loaded);
    }
});
