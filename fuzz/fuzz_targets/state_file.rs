//! The state of an online learner from arbitrary bytes: refused, or a checkpoint that saves, loads and goes on.
#![no_main]

use evermargin::learn::lasvm::Lasvm;
use evermargin_io::state_file;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    // with the checksum it should have, so that what lies behind is reached
    let mut bytes = bytes.to_vec();
    state_file::reseal(&mut bytes);
    if let Ok(loaded) = state_file::from_bytes("fuzz", &bytes) {
        let again = state_file::to_bytes(&loaded).expect("a loaded state can be saved");
        assert_eq!(state_file::from_bytes("fuzz", &again).expect("and loaded"), loaded);
        let _ = Lasvm::resume(&loaded.saved);
    }
});
