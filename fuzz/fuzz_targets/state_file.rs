//! States of online learners from arbitrary bytes: refused, or a checkpoint that can be saved, loaded and resumed.
#![no_main]

use evermargin::estimators::online::lasvm::Lasvm;
use evermargin_io::artifacts::{container, state};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    // A valid checksum, so that the checks after it are reached.
    let mut bytes = bytes.to_vec();
    container::reseal(&mut bytes);
    if let Ok(loaded) = state::from_bytes("fuzz", &bytes) {
        let again = state::to_bytes(&loaded).expect("a loaded state can be saved");
        assert_eq!(state::from_bytes("fuzz", &again).expect("a saved state can be loaded"), loaded);
        let _ = Lasvm::resume(&loaded.saved);
    }
});
