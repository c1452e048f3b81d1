//! What a stranger says at a port that wants the run's token.
#![cfg_attr(fuzzing, no_main)]

use wiregauge_participant::token::receives_token;

const TOKEN: &str = "0123456789abcdef";

pub fn read(data: &[u8]) {
    let (connection, came) = wiregauge_fuzz_support::connection(data);
    assert_eq!(receives_token(&came, TOKEN), data.starts_with(TOKEN.as_bytes()));
    drop(connection);
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| read(data));
