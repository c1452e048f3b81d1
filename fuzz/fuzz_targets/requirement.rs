//! What is required of a result.
#![cfg_attr(fuzzing, no_main)]

use wiregauge_fuzz_support::{check_error, text, RUN};
use wiregauge_result::requirement::Requirements;

pub fn read(data: &[u8]) {
    let Some(requirements) = text(data).and_then(|text| check_error(text.parse::<Requirements>()))
    else {
        return;
    };
    let again: Requirements = requirements.to_string().parse().expect("what was written is read");
    assert_eq!(again, requirements);
    let run = serde_json::from_slice(RUN).expect("a result");
    assert!(!requirements.check(&run).is_empty());
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| read(data));
