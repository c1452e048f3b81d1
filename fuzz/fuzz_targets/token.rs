//! What a stranger says at a port that wants the run's token.
#![cfg_attr(fuzzing, no_main)]

use wiregauge_participant::token::is_said;

const TOKEN: &str = "0123456789abcdef";

pub fn read(data: &[u8]) {
    let (visitor, came) = wiregauge_fuzzed::visitor(data);
    assert_eq!(is_said(&came, TOKEN), data.starts_with(TOKEN.as_bytes()));
    drop(visitor);
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| read(data));
