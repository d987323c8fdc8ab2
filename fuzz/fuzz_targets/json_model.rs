//! JSON models from arbitrary bytes: refused, or a classifier that can be saved and loaded again.
#![no_main]

use evermargin_io::json;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(loaded) = json::from_json("fuzz", bytes) {
        let again = json::to_json(&loaded).expect("a loaded model can be saved");
        assert_eq!(json::from_json("fuzz", again.as_bytes()).expect("a saved model can be loaded"), loaded);
    }
});
